"""Contrast of an 8-bit picture, and its thresholds by Otsu's rule."""

import numpy as np

SIZES = {"tiny": 24, "small": 100, "medium": 1500}


def otsu(image):
    counts = np.bincount(image.ravel(), minlength=256)
    share = counts / counts.sum()
    below = np.cumsum(share)
    mean = np.cumsum(share * np.arange(256))
    total = mean[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (total * below - mean) ** 2 / (below * (1 - below))
    return int(np.nanargmax(np.where(np.isfinite(between), between, np.nan)))


def main(n):
    rng = np.random.default_rng(11)
    image = np.clip(rng.normal(90, 20, (n, n)) + 60 * (np.arange(n) > n / 2), 0, 255).astype(np.uint8)
    counts, edges = np.histogram(image, bins=256, range=(0, 256))
    cdf = counts.cumsum()
    table = np.round((cdf - cdf.min()) / (cdf.max() - cdf.min()) * 255).astype(np.uint8)
    flat = table[image]
    print(image.dtype, flat.dtype, flat.min(), flat.max())
    print("means %.4f %.4f" % (image.mean(), flat.mean()))
    print("threshold", otsu(image))
    print(np.bincount(flat.ravel() // 32, minlength=8))
