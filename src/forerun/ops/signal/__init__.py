"""Sampled functions: `apply_along`, `sliding` windows, `convolve`, `windows`, `polynomials`, `fourier`."""
