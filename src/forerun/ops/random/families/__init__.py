"""Families of distributions.

In closed form of exponential or normal numbers, which the workers fill: `exponential` and its powers, `location_scale`.
Drawn by NumPy, as `host_draws` says: `gamma`, `continuous`, `counts`, `multivariate`.
"""
