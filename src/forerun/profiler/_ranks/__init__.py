"""Recordings of several ranks in one trace.

`clocks`: which rank a recording is of, and how far its clock is from the others'; `merge`: traces of ranks as one, on
one clock; `files`: one file for the recordings of all ranks; `late`: which rank the others waited for.
"""
