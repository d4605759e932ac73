"""A figure of curves, points and a picture, drawn to memory; its size is looked at."""

import io

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SIZES = {"tiny": 20, "small": 100, "medium": 2_000}


def main(n):
    x = np.linspace(0, 10, n)
    figure, (left, right) = plt.subplots(1, 2, figsize=(4, 2), dpi=50)
    (line,) = left.plot(x, np.sin(x) * np.exp(-x / 5), label="decay")
    left.fill_between(x, np.zeros_like(x), np.cos(x), where=np.cos(x) > 0, alpha=0.3)
    left.scatter(x[::5], np.cos(x[::5]), c=x[::5], s=4)
    left.set_xlim(x.min(), x.max())
    right.imshow(np.outer(np.sin(x[:20]), np.cos(x[:20])), cmap="viridis")
    right.contour(np.hypot(*np.meshgrid(np.linspace(-1, 1, 20), np.linspace(-1, 1, 20))), levels=3)
    out = io.BytesIO()
    figure.savefig(out, format="raw")
    pixels = np.frombuffer(out.getvalue(), dtype=np.uint8).reshape(100, 200, 4)
    plt.close(figure)
    print("pixels", pixels.shape, "mean %.4f" % pixels.mean())
    print("line", np.round(line.get_ydata()[:3], 6), len(line.get_xdata()))
    print("limits", tuple(float(v) for v in left.get_xlim()))
