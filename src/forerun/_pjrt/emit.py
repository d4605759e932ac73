"""From the description of an operation to a module of StableHLO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import views
from .builder import Builder
from .kinds.call import Call, Kind
from .kinds.conv import conv, conv_back, conv_weight
from .kinds.copy import concatenate, copy, fill, zeros
from .kinds.elementwise.loops import elementwise, masked
from .kinds.fft import fft
from .kinds.index import gather, gather_along, put, scatter, scatter_along
from .kinds.masks import compress, place
from .kinds.matmul import matmul
from .kinds.pool import pool, pool_back
from .kinds.random import random
from .kinds.reduce import argreduce, count_nonzero, reduce, scan
from .kinds.rnn import rnn, rnn_back
from .kinds.sort import argsort, sort
from .spec import Spec
from .values import Value

__all__ = ["KINDS", "emit", "lower"]

# How each kind of operations is written.
KINDS: dict[str, Kind] = {
    "elementwise": elementwise,
    "masked": masked,
    "copy": copy,
    "fill": fill,
    "zeros": zeros,
    "concatenate": concatenate,
    "reduce": reduce,
    "scan": scan,
    "cumulative": scan,
    "count_nonzero": count_nonzero,
    "argreduce": argreduce,
    "matmul": matmul,
    "gather": gather,
    "gather_along": gather_along,
    "scatter": scatter,
    "scatter_along": scatter_along,
    "put": put,
    "place": place,
    "compress": compress,
    "random": random,
    "sort": sort,
    "argsort": argsort,
    "conv": conv,
    "conv_back": conv_back,
    "conv_weight": conv_weight,
    "pool": pool,
    "pool_back": pool_back,
    "rnn": rnn,
    "rnn_back": rnn_back,
    "fft": fft,
}


def emit(spec: Spec) -> str | None:
    """The module that computes an operation; None if the operation has no module: it then runs on the host.

    >>> from forerun._pjrt.spec import Operand, Output
    >>> x = Operand.dense("float32", (2,))
    >>> spec = Spec("copy", "", (x,), (Output.dense("int8", (2,)),))
    >>> (emit(spec) or "").splitlines()[1].strip()
    'func.func public @main(%a0: tensor<2xf32>) -> (tensor<2xi8>) {'
    >>> emit(Spec("no such kind", "", (x,), ())) is None
    True
    """
    b = Builder()
    storages = [b.argument(views.flat_type(x)) for x in spec.inputs]
    olds = [b.argument(views.flat_type(o), i) if o.mode == "update" else None for i, o in enumerate(spec.outputs)]
    results = lower(b, spec, storages, olds)
    return None if results is None else b.module(results)


def lower(b: Builder, spec: Spec, storages: Sequence[Value], olds: Sequence[Value | None]) -> list[Value] | None:
    """Writes an operation into a module. storages: of the inputs; olds: of the outputs of mode "update".

    Returns the new storages of the outputs, and `bad` behind them where the spec asks for it.
    """
    kind = KINDS.get(spec.kind)
    if kind is None:
        return None
    spec, starts = _without_starts(spec, storages)
    at = starts[len(spec.inputs) :]
    try:
        inputs = [views.read(b, flat, x, start) for flat, x, start in zip(storages, spec.inputs, starts)]
        call = Call(b, spec, inputs, lambda i: views.read(b, _there(olds[i]), spec.outputs[i], at[i]))
        values = kind(call)
        if values is None:
            return None
        results = [
            views.write(b, old, o, b.reshape(v, o.shape), start)
            for old, o, v, start in zip(olds, spec.outputs, values, at)
        ]
    except views.Unwritable:
        return None
    if spec.attributes.get("check"):
        results.append(b.scalar(0, "bool") if call.bad is None else call.bad)
    return results


def _without_starts(spec: Spec, arguments: Sequence[Value]) -> tuple[Spec, list[Value | None]]:
    """The spec without the inputs that say where operands start; and these, or None, for each input and output."""
    count = sum(x.offset is None for x in (*spec.inputs, *spec.outputs))
    own = len(spec.inputs) - count
    given = iter(arguments[own:])
    spec = replace(spec, inputs=spec.inputs[:own])
    return spec, [next(given) if x.offset is None else None for x in (*spec.inputs, *spec.outputs)]


def _there(old: Value | None) -> Value:
    assert old is not None, "the output must be of mode update"
    return old
