"""Functions on arrays in MXNet's spelling.

`selections`; `slices`; `shapes`; `depth_to_space`; `positions`; `arithmetic`; `checks`; `casts`.
"""
