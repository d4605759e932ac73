"""The walk back over the tape: from heads to leaves, later ops first.

Nodes are numbered as they were recorded, and an op's inputs were there before it. So the node with the
largest number among those reached has all its gradients, and goes next: a heap, no recursion, whatever the
length of the tape.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

from .. import _core
from ..ops.convert import cast
from ..ops.reduction import sum as sum_
from ..ops.shape import real, reshape
from ..ops.tape import Variable, set_walk

__all__ = ["backward", "grad"]

Key = tuple[int, int]  # id of a node or leaf, number of its output


def _fitted(g: Any, like: Any) -> Any:
    """A gradient with the shape and dtype of the input: summed where that was broadcast."""
    if g.shape != like.shape:
        lead = g.ndim - like.ndim
        axes = tuple(range(lead)) + tuple(
            lead + i for i, n in enumerate(like.shape) if n == 1 and g.shape[lead + i] != 1
        )
        if axes:
            g = sum_(g, axes, dtype=g.dtype, keepdims=True)
        g = reshape(g, like.shape)
    if g.dtype != like.dtype:
        if g.dtype.kind == "c" and like.dtype.kind != "c":
            g = real(g)
        g = g if g.dtype == like.dtype else cast(g, like.dtype)
    return g


class Walk:
    """One walk: the gradients that have arrived where, and the nodes still to visit."""

    def __init__(self, wanted: dict[Key, int] | None, keep_graph: bool, create_graph: bool) -> None:
        self.wanted = wanted
        self.found: dict[int, Any] = {}
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.gradients: dict[int, dict[int, Any]] = {}
        self.leaves: set[int] = set()
        self.heap: list[tuple[int, int, Any]] = []

    def arrive(self, array: Any, g: Any) -> None:
        """Adds `g` to the gradient of `array`, an input of an op or a head."""
        node = array.node
        g = _fitted(g, array)
        if isinstance(node, Variable):
            self.reach(node, g)
            return
        waiting = self.gradients.get(id(node))
        if waiting is None:
            waiting = self.gradients[id(node)] = {}
            heapq.heappush(self.heap, (-node.seq, id(node), node))
        before = waiting.get(array.index)
        waiting[array.index] = g if before is None else before + g

    def reach(self, leaf: Variable, g: Any) -> None:
        """Hands a leaf a part of its gradient, at once: who needs the gradient need not wait for the rest
        of the walk."""
        if self.wanted is None:
            leaf.receive(g, id(leaf) not in self.leaves)
            self.leaves.add(id(leaf))
        elif (place := self.wanted.get((id(leaf), 0))) is not None:
            self.found[place] = self.found[place] + g if place in self.found else g

    def run(self) -> None:
        """Visits nodes until none is left."""
        while self.heap:
            node = heapq.heappop(self.heap)[2]
            self.visit(node, self.gradients.pop(id(node)))
            if not (self.keep_graph or self.create_graph):
                node.release()

    def visit(self, node: Any, waiting: dict[int, Any]) -> None:
        """Passes the gradients of a node's outputs on to its inputs."""
        if self.wanted is not None:
            for index, g in waiting.items():
                if (id(node), index) in self.wanted:
                    self.found[self.wanted[id(node), index]] = g
        if node.inputs is None:
            raise RuntimeError(
                f"backward: {node.op.name} must not have been walked before, got a second walk; "
                "say retain_graph=True in the first one"
            )
        node.check_versions()
        if (whole := getattr(node.op, "walk_back", None)) is not None:
            whole(self, node, waiting)
            return
        outputs = tuple(self.placed(node, i, y) for i, y in enumerate(node.outputs))
        one = len(outputs) == 1
        g = waiting[0] if one else tuple(waiting.get(i, _zeros(y)) for i, y in enumerate(outputs))
        several = getattr(node.op, "gradients", None)
        together = several(g, node.inputs, node.attrs) if several else None
        for i, x in enumerate(node.inputs):
            if not isinstance(x, _core.Array) or x.node is None:
                continue
            if together is not None:
                back = together[i]
            else:
                back = node.op.gradient(i, g, node.inputs, outputs[0] if one else outputs, node.attrs)
            if back is not None:
                self.arrive(x, back)

    def placed(self, node: Any, index: int, y: Any) -> Any:
        """An output as the gradient may use it: on the tape, if gradients are to be differentiated."""
        if self.create_graph and _has_value(node, index):
            y = _core.detach(y)
            y.node, y.index = node, index
        return y


def _has_value(node: Any, index: int) -> bool:
    return bool(getattr(node.op, "save", 0) >> 7 & 1)


def _zeros(like: Any) -> Any:
    return _core.full(like.shape, 0, like.dtype, like.device)


def _ones(like: Any) -> Any:
    return _core.full(like.shape, 1, like.dtype, like.device)


def _walked(
    op: str, heads: Sequence[Any], head_grads: Sequence[Any] | None, walk: Walk, train_mode: bool
) -> None:
    if head_grads is not None and len(head_grads) != len(heads):
        raise ValueError(
            f"{op}: head gradients must be as many as heads, got {len(head_grads)} for {len(heads)}"
        )
    recording, training = _core.set_recording(walk.create_graph), _core.set_training(train_mode)
    try:
        for i, head in enumerate(heads):
            if head.node is None:
                raise RuntimeError(
                    f"{op}: head must have been computed under autograd.record(), got one that was not"
                )
            g = head_grads[i] if head_grads is not None else None
            if g is not None and g.shape != head.shape:
                raise ValueError(
                    f"{op}: head gradient must have the head's shape {head.shape}, got {g.shape}"
                )
            walk.arrive(head, _ones(head) if g is None else g)
        walk.run()
    finally:
        _core.set_recording(recording)
        _core.set_training(training)


def backward(
    heads: Any,
    head_grads: Any = None,
    retain_graph: bool = False,
    train_mode: bool = True,
    create_graph: bool = False,
) -> None:
    """Computes the gradients of heads (an array or several) and puts them where leaves have them (`x.grad`).

    head_grads: gradients of the heads, ones by default. retain_graph: the tape stays for another walk.
    Returns at once: the gradients are ops like any other. RuntimeError if a head is not on the tape, was
    walked before, or if a value that a gradient needs was overwritten.
    """
    several = isinstance(heads, (list, tuple))
    all_heads = list(heads) if several else [heads]
    grads = (
        None
        if head_grads is None
        else list(head_grads)
        if isinstance(head_grads, (list, tuple))
        else [head_grads]
    )
    _walked("backward", all_heads, grads, Walk(None, retain_graph, create_graph), train_mode)


def grad(
    heads: Any, variables: Any, head_grads: Any = None, retain_graph: bool | None = None, create_graph: bool
    = False,
    train_mode: bool = True,
) -> Any:  # fmt: skip
    """The gradients of heads with respect to variables, as new arrays; `x.grad` stays as it is.

    create_graph: the gradients are recorded, so that they can be differentiated again.

    >>> from forerun import autograd, np
    >>> x = np.array([2.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = x * x * x
    ...     dy = autograd.grad(y, x, create_graph=True)
    >>> dy.backward()
    >>> dy.item(), x.grad.item()
    (12.0, 12.0)
    """
    single = not isinstance(variables, (list, tuple))
    wanted_arrays = [variables] if single else list(variables)
    for x in wanted_arrays:
        if x.node is None:
            raise ValueError("grad: variables must be on the tape (attach_grad), got one that is not")
    wanted = {(id(x.node), x.index): i for i, x in enumerate(wanted_arrays)}
    all_heads = list(heads) if isinstance(heads, (list, tuple)) else [heads]
    grads = (
        None
        if head_grads is None
        else list(head_grads)
        if isinstance(head_grads, (list, tuple))
        else [head_grads]
    )
    walk = Walk(wanted, create_graph if retain_graph is None else retain_graph, create_graph)
    _walked("grad", all_heads, grads, walk, train_mode)
    results = [walk.found.get(wanted[id(x.node), x.index]) for x in wanted_arrays]
    results = [_zeros(x) if r is None else r for x, r in zip(wanted_arrays, results)]
    return results[0] if single else results


set_walk(backward)
