"""matplotlib: pictures of forerun arrays, on the backend without a screen."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy

matplotlib.use("Agg")

import matplotlib.pyplot as plt

VERSIONS = ["matplotlib"]


def drawn(draw: Any) -> numpy.ndarray:
    """The pixels of a picture."""
    figure, axes = plt.subplots(figsize=(2, 1.5), dpi=50)
    draw(axes)
    figure.canvas.draw()
    pixels = numpy.array(figure.canvas.buffer_rgba())
    plt.close(figure)
    return pixels


def names(asarray: Any) -> dict[str, Any]:
    """Two vectors, a matrix and a picture in colours."""
    table = numpy.arange(24.0).reshape(4, 6) % 7
    return {
        "drawn": drawn, "x": asarray([1.0, 2.0, 3.0, 4.0]), "y": asarray([4.0, 2.0, 3.0, 1.0]), "table": asarray(table),
        "colours": asarray(numpy.stack([table / 7, table / 14, 1 - table / 7], -1)), "plt": plt,
    }  # fmt: skip


ROWS = {
    "lines and points": """
        drawn(lambda axes: axes.plot(y))
        drawn(lambda axes: axes.plot(x, y, x, 2 * y))
        drawn(lambda axes: axes.plot(table))
        drawn(lambda axes: axes.scatter(x, y, c=y, s=10 * x))
        drawn(lambda axes: axes.errorbar(x, y, yerr=y / 4))
        drawn(lambda axes: axes.fill_between(x, y, y + 1))
        drawn(lambda axes: axes.step(x, y))
        drawn(lambda axes: axes.stem(y))
        drawn(lambda axes: axes.quiver(x, y))
        drawn(lambda axes: axes.loglog(x, y))
    """,
    "bars and distributions": """
        drawn(lambda axes: axes.hist(y, bins=3))
        drawn(lambda axes: axes.bar(x, y))
        drawn(lambda axes: axes.barh(x, y))
        drawn(lambda axes: axes.boxplot(y))
        drawn(lambda axes: axes.violinplot(y))
        drawn(lambda axes: axes.pie(y))
        drawn(lambda axes: axes.hist2d(x, y, bins=2))
    """,
    "pictures": """
        drawn(lambda axes: axes.imshow(table))
        drawn(lambda axes: axes.imshow(colours))
        drawn(lambda axes: axes.pcolormesh(table))
        drawn(lambda axes: axes.contour(table))
        drawn(lambda axes: axes.contourf(table))
        plt.get_cmap('viridis')(y / 4)
    """,
    "axes": """
        drawn(lambda axes: axes.set_xlim(x[0], x[3]))
        drawn(lambda axes: axes.set_xticks(x))
        drawn(lambda axes: axes.axhline(y[2]))
        drawn(lambda axes: axes.text(x[0] / 9, x[0] / 9, 'here'))
    """,
}
