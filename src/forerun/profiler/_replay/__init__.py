"""Replays of a recorded program on machines that are not there.

`recorded`: from a trace to operations with typical durations and what the program's threads did; `machine`: devices,
ranks and links; `program`: the recorded program as it would be on that machine; `simulate`: when all of it would run;
`critical`: what a step's time was spent on; `prediction`: a step's time, its error, and the line to change;
`scaling_svg`: the picture.
"""
