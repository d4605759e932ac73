"""Blur, edges and sharpening of a picture, by hand-written convolutions."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

SIZES = {"tiny": 20, "small": 64, "medium": 512}


def convolve(image, kernel):
    h, w = kernel.shape
    padded = np.pad(image, ((h // 2, h // 2), (w // 2, w // 2)), mode="edge")
    out = np.zeros_like(image)
    for i in range(h):
        for j in range(w):
            out += kernel[i, j] * padded[i : i + image.shape[0], j : j + image.shape[1]]
    return out


def main(n):
    y, x = np.mgrid[0:n, 0:n]
    image = (np.hypot(x - n / 2, y - n / 3) < n / 4).astype(float) + 0.2 * np.sin(x / 3.0)
    g = np.exp(-np.linspace(-2, 2, 5) ** 2)
    gauss = np.outer(g, g) / np.outer(g, g).sum()
    blurred = convolve(image, gauss)
    sobel = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]])
    edges = np.hypot(convolve(blurred, sobel), convolve(blurred, sobel.T))
    sharp = np.clip(image + 1.5 * (image - blurred), 0, 1)
    median = np.median(sliding_window_view(image, (3, 3)), axis=(2, 3))
    print("blurred mean %.6f std %.6f" % (blurred.mean(), blurred.std()))
    print("edges", np.round(np.percentile(edges, [50, 90, 99]), 5))
    print("sharp", sharp.min(), round(float(sharp.max()), 6), "median %.6f" % median.mean())
    print((edges > 0.5).astype(int).sum(), edges.argmax())
