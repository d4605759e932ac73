"""Along axes: `reduction`, `scan`, `product`, `mean_variance`, `nan`, `queries`, `closeness`.

Products come after scans, which their gradients are made of.
"""
