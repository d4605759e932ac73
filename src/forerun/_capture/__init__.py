"""Calls of functions as programs. From the bottom up: `structures`, arguments and results that are tuples, lists and
dicts; `participants`, numbers and objects on which a call depends; `tape_template`, the nodes of a program's gradients;
`captured`, functions and their calls; `core`, the core's own functions for other folders.
"""
