"""Loops that are compiled while a program runs, by LLVM through llvmlite, where that is installed.

`description`: the loop that the core asks for, parsed from its text; `emit`: LLVM's code for it; `compiler`: from that
to a function's address.
"""
