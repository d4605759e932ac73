"""Replays of a recorded program on machines that are not there.

`recorded`: from a trace to operations with typical durations and the actions of the program's threads; `machine`:
devices, ranks and links; `program`: the recorded program as it would be on that machine; `simulate`: when all of it
would run; `critical`: the causes of a step's time; `prediction`: a step's time, its error, and the line to change;
`scaling_svg`: the picture.
"""
