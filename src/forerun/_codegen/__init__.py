"""Loops that are compiled while a program runs, by LLVM through llvmlite, where that is installed.

`description`: what the core asks for, read from its text; `emit`: LLVM's code for it; `compiler`: from that to a
function's address.
"""
