"""Along axes: `reduction`, `scan`, `product`, `mean_variance`, `nan`, `queries`.

Products come after scans, which their gradients are made of.
"""
