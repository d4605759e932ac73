"""Linear algebra.

`tensordot`, on the op that multiplies matrices; `matmul`, `einsum`, `cross`; `lapack`, functions that calls of LAPACK
share; `solve`; `eig`; `svd_qr`; `lstsq`; `norm`; `array_api`, functions in that standard's spelling.
"""
