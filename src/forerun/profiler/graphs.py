"""The dependency graph: which op reads the results of which; of a trace, of pending ops, of the tape."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._runtime import core as _core
from .._runtime.device import used_devices
from ._picture.boxes import Boxes, of_pending, of_tape, of_trace
from ._picture.dot import dot
from ._picture.graph_svg import picture
from .events import Trace

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["Graph", "graph"]


class Graph:
    """A graph of operations: boxes, with arrows to those whose results they read. Made by `graph`.

    A notebook shows it as a picture; as text it is in the DOT language.

    Parameters
    ----------
    boxes : dict
        The boxes by their numbers.
    title : str
        The heading of the picture.
    names : dict of int to str
        The names of devices by their numbers.
    left_out : int, optional
        The number of operations that are not drawn.

    Examples
    --------
    >>> import forerun
    >>> from forerun import autograd, np
    >>> w = np.ones(2)
    >>> w.attach_grad()
    >>> with autograd.record():
    ...     found = forerun.graph(w * 3)
    >>> found, found.svg[:4]
    (<graph 'Recorded', 2 boxes>, '<svg')
    """

    def __init__(self, boxes: Boxes, title: str, names: Mapping[int, str], left_out: int = 0) -> None:
        self.boxes = boxes
        self.title = title
        self._names, self._left_out = names, left_out

    def __len__(self) -> int:
        return len(self.boxes)

    def __repr__(self) -> str:
        return f"<graph {self.title!r}, {len(self)} boxes>"

    def __str__(self) -> str:
        return self.dot

    @property
    def dot(self) -> str:
        """Text for Graphviz: `dot -Tsvg` draws it."""
        return dot(self.boxes)

    @property
    def svg(self) -> str:
        """A picture, as SVG text: it reads from top to bottom; the colour of a box is its device."""
        return picture(self.boxes, self.title, self._names, self._left_out)

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture, or the text for a path in `.dot`. ValueError for another suffix."""
        ending = Path(path).suffix.lower()
        if ending not in (".svg", ".dot"):
            raise ValueError(f"graph: path must end in .svg or .dot, got {os.fspath(path)!r}")
        Path(path).write_text(self.svg if ending == ".svg" else self.dot, encoding="utf-8")


def graph(
    values: object,
    path: str | os.PathLike[str] | None = None,
    title: str | None = None,
    limit: int = 400,
    *,
    recorded: bool | None = None,
) -> Graph:
    """Return the graph of operations: a box for each, with an arrow from each operation whose result it reads.

    Fused operations are in one frame. The call does not wait and changes nothing.

    Parameters
    ----------
    values : array, nested sequences and dicts of arrays, or Trace
        A trace: all operations that ran in it. Arrays that are recorded for gradients: their operations back to the
        leaves. Other arrays: the operations that they wait for.
    path : path, optional
        Where to write the picture (`.svg`) or text (`.dot`), too.
    title : str, optional
        The heading of the picture.
    limit : int
        How many operations are drawn: the first of a trace, the latest that arrays need.
    recorded : bool, optional
        True for the tape alone, False for pending operations, although they are recorded.

    Returns
    -------
    Graph
        Text in the DOT language; a notebook shows it as a picture.

    Raises
    ------
    TypeError
        For other values.
    ValueError
        For another ending of the path.

    Examples
    --------
    >>> import forerun
    >>> from forerun import autograd, np
    >>> w = np.ones((2, 2))
    >>> w.attach_grad()
    >>> with autograd.record():
    ...     loss = (w * 3).sum()
    >>> print(forerun.graph(loss))
    digraph forerun {
      node [shape=box, style=rounded, fontname="Helvetica"];
      -1 [label="leaf\\nfloat32 (2, 2)"];
      ... [label="multiply\\nline 2\\nfloat32 (2, 2)"];
      ... [label="sum\\nline 2\\nfloat32 ()"];
      -1 -> ...;
      ... -> ...;
    }
    """
    made = _of(values, title, limit, recorded)
    if path is not None:
        made.save(path)
    return made


def _of(values: Any, title: str | None, limit: int, recorded: bool | None) -> Graph:
    if isinstance(values, Trace):
        boxes = of_trace(values, limit)
        return Graph(boxes, title or "Dependencies", values.devices, len(values.ops) - len(boxes))
    arrays = list(_arrays(values))
    if recorded is None:
        recorded = any(isinstance(a.node, _core.Node) for a in arrays)
    boxes = (of_tape if recorded else of_pending)(arrays, limit)
    names = {device.index: repr(device) for device in used_devices()}
    return Graph(boxes, title or ("Recorded" if recorded else "Not there yet"), names)


def _arrays(values: Array) -> Iterable[_core.Array]:
    if isinstance(values, _core.Array):
        return [values]
    if isinstance(values, Mapping):
        values = values.values()
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes)):
        return [a for value in values for a in _arrays(value)]
    raise TypeError(f"graph: values must be arrays or a trace, got {type(values).__name__}")
