"""Poisson's equation on a torus by Fourier transforms."""

import numpy as np
from numpy.fft import fft2, fftfreq, ifft2

SIZES = {"tiny": 16, "small": 64, "medium": 512}


def main(n):
    x = 2 * np.pi * np.arange(n) / n
    X, Y = np.meshgrid(x, x)
    exact = np.sin(X) * np.cos(2 * Y) + 0.5 * np.cos(3 * X)
    right = -5 * np.sin(X) * np.cos(2 * Y) - 4.5 * np.cos(3 * X)
    k = fftfreq(n, 1 / n)
    k2 = k[:, None] ** 2 + k[None, :] ** 2
    k2[0, 0] = 1.0
    found = np.real(ifft2(-fft2(right) / k2))
    found -= found.mean()
    print("error below 1e-12:", bool(np.abs(found - exact).max() < 1e-12))
    spectrum = np.abs(fft2(found)) ** 2
    strong = np.argwhere(spectrum > 1e-3 * spectrum.max())
    print("modes", len(strong), strong[:3].tolist())
    print("energy %.8f" % (spectrum.sum() / n**4))
