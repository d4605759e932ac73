"""Errors: at the call if they can be known there, otherwise at every read of a result that depends on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, np, npx
from forerun.np.linalg import LinAlgError
from tests.support.engine.settings import running
from tests.support.many_cases import for_each

X = numpy.ones((2, 3), "float32")
V = numpy.ones(3, "float32")

DEVICES = "cpu(0) to cpu(63)"
NO_GPU = (
    f"device: must be one of {DEVICES}, got gpu(0), and there is no GPU: no plugin of a GPU is installed; a GPU needs "
    'its driver and the plugin of its vendor: `pip install "forerun[cuda]"`, or [rocm], [oneapi], [tpu]; FORERUN_PJRT '
    "can name a plugin's file"
)

Broken = Callable[[Any, Any], Any]

# A call with an array of shape (2, 3) and one of shape (3,); the error; the whole message.
AT_THE_CALL: list[tuple[Broken, type[Exception], str]] = [
    # shapes
    (lambda x, v: x + np.ones((2, 4)), ValueError, "add: shapes must broadcast together, got (2, 3) and (2, 4)"),
    (lambda x, v: np.where(x > 0, x, np.ones(4)), ValueError,
     "where: shapes must broadcast together, got (2, 3) and (4,)"),
    (lambda x, v: np.clip(x, np.ones(5)), ValueError, "maximum: shapes must broadcast together, got (2, 3) and (5,)"),
    (lambda x, v: x @ x, ValueError, "matmul: inner dimensions must match, got (2, 3) @ (2, 3)"),
    (lambda x, v: np.matmul(v, 2.0), ValueError, "matmul: operands must have at least one dimension, got (3,) @ ()"),
    (lambda x, v: np.tensordot(x, x, 1), ValueError,
     "tensordot: summed axes must have one extent, got (2, 3) and (2, 3) over 1"),
    (lambda x, v: np.tensordot(x, x, 5), ValueError, "tensordot: axes must be between 0 and 2, got 5"),
    (lambda x, v: np.einsum("ij,jk", x, x), ValueError,
     "einsum: axes of one label must have one extent, got 3 and 2 for 'j'"),
    (lambda x, v: np.einsum("ij", x, x), ValueError, "einsum: subscripts must name 2 operands, got 'ij'"),
    (lambda x, v: np.einsum("ijk", x), ValueError,
     "einsum: subscripts must name each axis, got 'ijk' for shape (2, 3)"),
    (lambda x, v: np.einsum("ij->k", x), ValueError,
     "einsum: labels of the result must be those of operands, once each, got 'ij->k'"),
    (lambda x, v: np.einsum("ii", x), ValueError,
     "einsum: axes of one label must have one extent, got (2, 3) for 'ii'"),
    (lambda x, v: x.reshape(4), ValueError, "reshape: new shape must hold 6 elements, got (2, 3) -> (4,)"),
    (lambda x, v: x.reshape(4, -1), ValueError, "reshape: new shape must hold 6 elements, got (2, 3) -> (4, -1)"),
    (lambda x, v: x.reshape(-1, -1), ValueError, "reshape: at most one extent must be -1, got (-1, -1)"),
    (lambda x, v: x.reshape(-2, 3), ValueError,
     "reshape: extents must not be negative but for one -1, got (-2, 3)"),
    (lambda x, v: np.broadcast_to(x, (2, 4)), ValueError,
     "broadcast_to: shape must broadcast to (2, 4), got (2, 3)"),
    (lambda x, v: np.squeeze(x, 0), ValueError, "squeeze: axes must have extent 1, got axis 0 of shape (2, 3)"),
    (lambda x, v: np.concatenate([x, v]), ValueError,
     "concatenate: arrays must have as many axes as each other, got (2, 3) and (3,)"),
    (lambda x, v: np.concatenate([]), ValueError, "concatenate: there must be at least one array, got none"),
    (lambda x, v: np.stack([]), ValueError, "stack: there must be at least one array, got none"),
    (lambda x, v: np.hstack([]), ValueError, "hstack: there must be at least one array, got none"),
    (lambda x, v: np.vstack([]), ValueError, "vstack: there must be at least one array, got none"),
    (lambda x, v: np.dstack([]), ValueError, "dstack: there must be at least one array, got none"),
    (lambda x, v: np.column_stack([]), ValueError, "column_stack: there must be at least one array, got none"),
    (lambda x, v: np.broadcast_arrays(x, np.ones(4)), ValueError,
     "broadcast_arrays: shapes must broadcast together, got (2, 3) and (4,)"),
    (lambda x, v: np.tile(x, -1), ValueError, "tile: reps must not be negative, got -1"),
    (lambda x, v: np.tile(x, 1.5), TypeError, "tile: reps must be integers, got 1.5"),
    (lambda x, v: np.repeat(x, -1), ValueError, "repeat: repeats must not be negative, got -1"),
    (lambda x, v: np.repeat(x, 1.5), TypeError, "repeat: repeats must be integers, got 1.5"),
    (lambda x, v: np.repeat(x, [1, 2], 1), ValueError, "repeat: repeats must broadcast to (3,), got [1, 2]"),
    (lambda x, v: np.pad(x, -1), ValueError, "pad: widths must not be negative, got -1"),
    (lambda x, v: np.pad(x, ((1, 2, 3), (1, 2, 3))), ValueError,
     "pad: widths must broadcast to (2, 2), got ((1, 2, 3), (1, 2, 3))"),
    (lambda x, v: np.roll(x, (1, 2, 3), (0, 1)), ValueError,
     "roll: shift and axis must be of one length, got (1, 2, 3) and (0, 1)"),
    (lambda x, v: np.vander(x), ValueError, "vander: array must have one axis, got shape (2, 3)"),
    (lambda x, v: np.tril(np.ones(())), ValueError, "tril: array must have at least one axis, got shape ()"),
    (lambda x, v: np.nonzero(np.ones(())), ValueError,
     "nonzero: array must have at least one axis, got shape ()"),
    (lambda x, v: np.searchsorted(x, v), ValueError, "searchsorted: array must have one axis, got shape (2, 3)"),
    (lambda x, v: np.bincount(x.astype("int8")), ValueError, "bincount: array must have one axis, got shape (2, 3)"),
    (lambda x, v: np.bincount(v.astype("int8"), x), ValueError, "bincount: weights must have shape (3,), got (2, 3)"),
    (lambda x, v: np.quantile(np.ones((0, 3)), 0.5, 0), IndexError,
     "quantile: reduced axes must not be empty, got shape (0, 3)"),
    (lambda x, v: np.average(x, 0, v), ValueError,
     "average: weights must have its shape or that of axes, got (3,) for (2, 3) along 0"),
    (lambda x, v: np.array([[1], [2, 3]]), ValueError,
     "array: lists at one depth must have one length, got [[1], [2, 3]]"),
    (lambda x, v: npx.host(numpy.copy, [x], [((-1,), "float32")]), ValueError,
     "host: extents must not be negative, got (-1,)"),
    (lambda x, v: np.random.normal(size=-1), ValueError, "normal: size must not be negative, got (-1,)"),
    (lambda x, v: np.random.shuffle(np.ones(())), ValueError,
     "shuffle: array must have at least one axis, got shape ()"),
    (lambda x, v: np.random.permutation(np.ones(())), ValueError,
     "permutation: array must have at least one axis, got shape ()"),
    (lambda x, v: np.random.choice(np.ones(())), ValueError,
     "choice: array must have at least one axis, got shape ()"),
    (lambda x, v: np.random.choice(3, 2, p=[0.5, 0.5]), ValueError, "choice: p must have shape (3,), got (2,)"),
    (lambda x, v: np.random.multivariate_normal(v, x), ValueError,
     "multivariate_normal: mean must be a vector and cov its matrix, got (3,) and (2, 3)"),
    (lambda x, v: np.stack([x, v]), ValueError, "stack: arrays must have one shape, got [(2, 3), (3,)]"),
    (lambda x, v: np.split(v, 2), ValueError, "split: axis must divide into equal parts, got extent 3 into 2"),
    (lambda x, v: np.array_split(v, 0), ValueError, "split: number of sections must be positive, got 0"),
    (lambda x, v: np.max(np.zeros((0, 3)), 0), ValueError, "max: reduced axes must not be empty, got shape (0, 3)"),
    (lambda x, v: np.argmin(np.zeros(0)), ValueError, "argmin: reduced axes must not be empty, got shape (0,)"),
    (lambda x, v: np.take_along_axis(x, np.arange(3), 0), ValueError,
     "take_along_axis: indices must have 2 axes, got shape (3,)"),
    (lambda x, v: np.take_along_axis(x, np.zeros((3, 1), "int64"), 1), IndexError,
     "take_along_axis: shapes must fit but along the axis, got (2, 3) and (3, 1)"),
    (lambda x, v: np.ones((-1,)), ValueError, "full: extents must not be negative, got (-1,)"),
    (lambda x, v: np.add(x, x, out=np.ones(3)), ValueError, "add: out must have shape (2, 3), got (3,)"),
    (lambda x, v: np.linalg.inv(x), LinAlgError, "inv: array must be of square matrices, got shape (2, 3)"),
    (lambda x, v: np.linalg.svd(v), LinAlgError, "svd: array must be of matrices, got shape (3,)"),
    (lambda x, v: np.linalg.solve(np.eye(3), np.ones(2)), ValueError,
     "solve: right side must have 3 rows, got shape (2,)"),
    (lambda x, v: np.linalg.lstsq(x, v), LinAlgError,
     "lstsq: both sides must have the same rows, got (2, 3) and (3,)"),
    (lambda x, v: npx.pick(x, v), ValueError, "pick: index must have x's shape without axis 1, got (3,) for (2, 3)"),
    (lambda x, v: npx.fully_connected(x, np.ones((4, 3)), num_hidden=5), ValueError,
     "fully_connected: weight must have 5 rows, got shape (4, 3)"),
    (lambda x, v: len(np.ones(())), TypeError, "len: array must have at least one dimension, got shape ()"),
    (lambda x, v: float(x), TypeError, "float: array must have exactly one element, got shape (2, 3)"),
    (lambda x, v: bool(x), ValueError,
     "bool: array must have exactly one element, got shape (2, 3); any() and all() give one"),
    # dtypes
    (lambda x, v: ~x, TypeError, "invert: no loop for dtype, got float32; it is defined for bools, integers"),
    (lambda x, v: x << 1, TypeError, "left_shift: no loop for dtype, got float32; it is defined for integers"),
    (lambda x, v: np.floor(x * 1j), TypeError,
     "floor: no loop for dtype, got complex64; it is defined for bools, integers, floats"),
    (lambda x, v: npx.softmax(x * 1j), TypeError, "softmax: array must be real, got complex64"),
    (lambda x, v: npx.sigmoid(x * 1j), TypeError, "sigmoid: array must be real, got complex64"),
    (lambda x, v: npx.erf(x * 1j), TypeError, "erf: array must be real, got complex64"),
    (lambda x, v: npx.gamma(x * 1j), TypeError, "gamma: array must be real, got complex64"),
    (lambda x, v: (x > 0) - (x > 0), TypeError,
     "subtract: no loop for dtype, got bool; it is defined for integers, floats, complex numbers"),
    (lambda x, v: np.add(x, x, out=np.ones((2, 3), "int32")), TypeError,
     "add: result of dtype float32 must fit out's kind, got int32"),
    (lambda x, v: np.ones(3, "S4"), TypeError,
     "ones: dtype must be bool, integer, float16/32/64, bfloat16 or complex64/128, got |S4"),
    (lambda x, v: np.array(["a"]), TypeError,
     "array: values must be bool, integer, float16/32/64, bfloat16 or complex64/128, got dtype <U1"),
    (lambda x, v: x.astype("int8", casting="safe"), TypeError,
     "astype: casting must be possible by rule 'safe', got float32 to int8"),
    (lambda x, v: np.ones(3, "int8") + 300, OverflowError, "add: Python integer must fit into int8, got 300"),
    (lambda x, v: 300 - np.ones(3, "uint8"), OverflowError, "subtract: Python integer must fit into uint8, got 300"),
    (lambda x, v: np.bincount(v), TypeError, "bincount: array must be of integers, got float32"),
    (lambda x, v: np.linalg.matrix_power(np.eye(2), 1.5), TypeError,
     "matrix_power: n must be an integer, got 1.5"),
    (lambda x, v: np.random.uniform(dtype="int32"), TypeError, "uniform: dtype must be a float, got int32"),
    (lambda x, v: [1][v[0]], TypeError, "index: array must be of integers, got float32"),
    # axes
    (lambda x, v: np.transpose(x, (0, 0)), ValueError, "transpose: axes must be different, got (0, 0)"),
    (lambda x, v: np.transpose(x, (0,)), ValueError, "transpose: axes must name each of 2 axes, got (0,)"),
    (lambda x, v: np.transpose(x, (0, 2)), IndexError, "transpose: axis must be in [-2, 2), got 2"),
    (lambda x, v: np.expand_dims(x, 5), IndexError, "expand_dims: axis must be in [-3, 3), got 5"),
    (lambda x, v: np.swapaxes(x, 0, 2), IndexError, "swapaxes: axis must be in [-2, 2), got 2"),
    (lambda x, v: np.moveaxis(x, (0, 1), 0), ValueError,
     "moveaxis: source and destination must be of one length, got (0, 1) and 0"),
    (lambda x, v: np.concatenate([x, x], 2), IndexError, "concatenate: axis must be in [-2, 2), got 2"),
    (lambda x, v: np.transpose(x, 1), ValueError, "transpose: axes must name each of 2 axes, got 1"),
    (lambda x, v: x.sum(1.5), TypeError, "sum: axis must be an integer, got 1.5"),
    (lambda x, v: x.sum(2), IndexError, "sum: axis must be in [-2, 2), got 2"),
    (lambda x, v: x.sum((0, -2)), ValueError, "sum: axes must be different, got (0, -2)"),
    (lambda x, v: np.cumsum(x, -3), IndexError, "cumsum: axis must be in [-2, 2), got -3"),
    (lambda x, v: np.sort(x, 3), IndexError, "sort: axis must be in [-2, 2), got 3"),
    (lambda x, v: npx.softmax(x, 2), IndexError, "softmax: axis must be in [-2, 2), got 2"),
    (lambda x, v: np.diagonal(v), IndexError, "diagonal: axis must be in [-1, 1), got 1"),
    (lambda x, v: npx.sequence_mask(x, v, True, axis=2), ValueError, "sequence_mask: axis must be 0 or 1, got 2"),
    # devices
    (lambda x, v: np.ones(3, device="gpu"), ValueError, NO_GPU),
    (lambda x, v: np.ones(3, device=forerun.cpu(64)), ValueError, f"device: must be one of {DEVICES}, got cpu(64)"),
    (lambda x, v: np.ones(3, device=3), TypeError, "device: must be a Device, a string or None, got int"),
    (lambda x, v: x.as_in_ctx(npx.gpu()), ValueError, NO_GPU),
    # indices
    (lambda x, v: x[5], IndexError, "getitem: index must be in [-2, 2), got 5"),
    (lambda x, v: x[0, 0, 0], IndexError, "getitem: an index must have at most 2 entries for shape (2, 3), got 3"),
    (lambda x, v: v[[0], [0]], IndexError, "getitem: an index must have at most 1 entries for shape (3,), got 2"),
    (lambda x, v: x[..., ...], IndexError, "getitem: an index must have at most one Ellipsis, got 2"),
    (lambda x, v: x["a"], IndexError, "getitem: indices must be integers or bools, got <U1"),
    (lambda x, v: x[1.5], IndexError, "getitem: indices must be integers or bools, got float64"),
    (lambda x, v: x[np.ones(3, bool)], IndexError,
     "getitem: mask must have the array's leading shape, got (3,) for (2, 3)"),
    (lambda x, v: x[numpy.ones(3, bool)], IndexError,
     "getitem: mask must have the array's leading shape, got (3,) for (2, 3)"),
    (lambda x, v: x[np.ones(3, bool), :], IndexError,
     "getitem: mask must have the array's leading shape, got (3,) for (2, 3)"),
    (lambda x, v: x[:, np.ones(2, bool)], IndexError,
     "getitem: mask must have the shape of axes from 1 on, got (2,) for (2, 3)"),
    (lambda x, v: x[..., np.ones((2, 2), bool)], IndexError,
     "getitem: mask must have the array's leading shape, got (2, 2) for (2, 3)"),
    (lambda x, v: x[None, np.ones((2, 3), bool), 0], IndexError,
     "getitem: an index must have at most 2 entries for shape (2, 3), got 3"),
    (lambda x, v: x.__setitem__((slice(None), np.ones(2, bool)), 0), IndexError,
     "setitem: mask must have the shape of axes from 1 on, got (2,) for (2, 3)"),
    (lambda x, v: x[np.arange(2), np.arange(3)], IndexError,
     "getitem: arrays in an index must broadcast together, got (2,) and (3,)"),
    (lambda x, v: x.__setitem__(0, np.ones(4)), ValueError, "assign: shape must broadcast to (3,), got (4,)"),
    (lambda x, v: x.__setitem__(7, 1), IndexError, "getitem: index must be in [-2, 2), got 7"),
    (lambda x, v: x.__setitem__([0, 1], np.ones((2, 4))), ValueError,
     "put: shape must broadcast to (2, 3), got (2, 4)"),
    (lambda x, v: x.__delitem__(0), TypeError, "delitem: array elements cannot be deleted"),
    # values
    (lambda x, v: np.take(x, [0], mode="x"), ValueError,
     "take: mode must be one of raise, clip, wrap, got 'x'"),
    (lambda x, v: np.arange(0, 3, 0), ZeroDivisionError, "arange: step must not be zero, got 0"),
    (lambda x, v: np.linspace(0, 1, num=-1), ValueError, "linspace: num must not be negative, got -1"),
    (lambda x, v: np.linspace(0, 1, num=1.5), TypeError, "linspace: num must be an integer, got 1.5"),
    (lambda x, v: np.geomspace(0, 1), ValueError, "geomspace: start and stop must not be zero, got 0 and 1"),
    (lambda x, v: np.diff(x, -1), ValueError, "diff: n must not be negative, got -1"),
    (lambda x, v: np.split(v, 1.5), TypeError, "split: sections must be an integer or positions, got 1.5"),
    (lambda x, v: np.pad(x, 1, "q"), ValueError,
     "pad: mode must be one of constant, edge, empty, linear_ramp, maximum, mean, median, minimum, reflect, "
     "symmetric, wrap, got 'q'"),
    (lambda x, v: np.searchsorted(v, v, "mid"), ValueError,
     "searchsorted: side must be one of left, right, got 'mid'"),
    (lambda x, v: np.quantile(v, 1.5), ValueError, "quantile: q must be in [0, 1], got 1.5"),
    (lambda x, v: np.percentile(v, [50, -1]), ValueError, "percentile: q must be in [0, 100], got [50. -1.]"),
    (lambda x, v: np.quantile(v, 0.5, method="q"), ValueError,
     "quantile: method must be one of inverted_cdf, averaged_inverted_cdf, closest_observation, "
     "interpolated_inverted_cdf, hazen, weibull, linear, median_unbiased, normal_unbiased, lower, higher, midpoint, "
     "nearest, got 'q'"),
    (lambda x, v: np.bincount(np.array([1, -2])), ValueError, "bincount: numbers must not be negative, got -2"),
    (lambda x, v: np.bincount(np.array([1]), minlength=-1), ValueError,
     "bincount: minlength must not be negative, got -1"),
    (lambda x, v: np.random.multinomial(-1, v / 3), ValueError, "multinomial: n must not be negative, got -1"),
    (lambda x, v: np.meshgrid(v, v, indexing="x"), ValueError, 'meshgrid: indexing must be "xy" or "ij", got \'x\''),
    (lambda x, v: np.where(x, x), ValueError, "where: both x and y must be given, or none"),
    (lambda x, v: np.linalg.norm(x, "q", (0, 1)), ValueError,
     'norm: ord of matrices must be "fro", "nuc", 1, 2 or inf or these negative, got \'q\''),
    (lambda x, v: x.reshape(6, order="Q"), ValueError, "reshape: order must be one of C, F, A, got 'Q'"),
    (lambda x, v: npx.topk(x, 9), ValueError, "topk: k must be between 1 and 3, got 9"),
    (lambda x, v: npx.topk(x, 1, ret_typ="q"), ValueError,
     'topk: ret_typ must be "indices", "value" or "both", got \'q\''),
    (lambda x, v: npx.dropout(x, 1.5), ValueError, "dropout: p must be in [0, 1), got 1.5"),
    (lambda x, v: np.random.randint(3, 3), ValueError, "integers: low must be below high, got 3 and 3"),
    (lambda x, v: np.random.choice(3, 5, False), ValueError,
     "choice: size must be at most 3 without replacement, got (5,)"),
    (lambda x, v: x.attach_grad("q"), ValueError,
     'attach_grad: grad_req must be "write", "add" or "null", got \'q\''),
    (lambda x, v: v.backward(), RuntimeError,
     "backward: head must have been computed under autograd.record(), got one that was not"),
    (lambda x, v: np.add(x), TypeError, "add: takes 2 operands, got 1"),
]  # fmt: skip


@for_each("broken, kind, message", AT_THE_CALL, ids=lambda case: case[2])
def test_at_the_call(broken: Broken, kind: type[Exception], message: str) -> None:
    x, v = np.array(X), np.array(V)
    with pytest.raises(kind) as caught:
        broken(x, v)
    assert str(caught.value) == message
    assert not hasattr(caught.value, "__notes__")
    assert x.tolist() == X.tolist()  # nothing was written
    forerun.waitall()


@pytest.mark.parametrize("lists", [[[1], [2, 3]], [[[1.0]], [[1, 2]]]], ids=repr)
def test_invalid_lists_raise_with_the_name_of_the_function(lists: Any) -> None:
    for function in (np.array, np.asarray):
        with pytest.raises(ValueError, match=f"^{function.__name__}: lists at one depth must have one length, got"):
            function(lists)


def test_an_unknown_activation_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"activation: act_type must be one of elu, .*, tanh, got 'q'$"):
        npx.activation(np.ones(3), "q")


# --- errors that only the computation knows -------------------------------------------------------


class Unheard(Exception):
    """An error class of this file alone."""


def fail(*_: Any) -> Any:
    raise Unheard("not today")


LATE: dict[str, tuple[Broken, type[Exception], str]] = {
    "a singular matrix": (lambda x, v: np.linalg.inv(x[:, :2] * 0), LinAlgError, "Singular matrix"),
    "a system of equations": (lambda x, v: np.linalg.solve(x[:, :2], x[:, 0]), LinAlgError, "Singular matrix"),
    "no positive matrix": (lambda x, v: np.linalg.cholesky(-x[:, :2]), LinAlgError, "Matrix is not positive"),
    "an index": (lambda x, v: v[np.array([0, 3])], IndexError, "take: index must be in [-3, 3), got 3"),
    "a negative index": (lambda x, v: np.take(x, np.array([-3]), 0), IndexError,
                         "take: index must be in [-2, 2), got -3"),
    "an embedding": (lambda x, v: npx.embedding(np.array([9]), x), IndexError,
                     "embedding: index must be in [-2, 2), got 9"),
    "a host task": (lambda x, v: npx.host(fail, [x], [((3,), "float32")])[0], Unheard, "not today"),
    "a host task's shape": (lambda x, v: npx.host(numpy.copy, [x], [((3,), "float32")])[0], ValueError,
                            "host: must return shape (3,), got (2, 3)"),
    "a negative power": (lambda x, v: np.arange(3) ** (np.arange(3) - 1), ValueError,
                         "power: integers must not be raised to negative integer powers"),
}  # fmt: skip
WORKERS = pytest.mark.parametrize("mode", ["1 worker", "4 workers"])

READS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda y: y.numpy(),
    "asnumpy": lambda y: y.asnumpy(),
    "tolist": lambda y: y.tolist(),
    "wait": lambda y: y.wait(),
    "wait_to_read": lambda y: y.wait_to_read(),
    "repr": repr,
    "str": str,
    "item": lambda y: y.ravel()[0].item(),
    "numpy.asarray": numpy.asarray,
    "mask": lambda y: y[y > 0],
}


def assert_late_error(read: Callable[[Any], Any], y: Any, late: tuple[Broken, type[Exception], str]) -> None:
    broken, kind, message = late
    code = broken.__code__
    with pytest.raises(kind) as caught:
        read(y)
    assert type(caught.value) is kind
    assert str(caught.value).startswith(message)
    assert caught.value.__notes__ == [f"issued at {code.co_filename}:{code.co_firstlineno}"]


@WORKERS
@pytest.mark.parametrize("name", LATE)
def test_every_read_raises(name: str, mode: str) -> None:
    with running(mode):
        y = LATE[name][0](np.array(X), np.array(V))
        for read in READS.values():
            assert_late_error(read, y, LATE[name])
            assert_late_error(read, y, LATE[name])
        forerun.waitall()  # it has been seen
        assert _core.unseen_failures() == []


@WORKERS
@pytest.mark.parametrize("name", LATE)
def test_dependent_operations_raise(name: str, mode: str) -> None:
    with running(mode):
        x = np.array(X)
        y = LATE[name][0](x, np.array(V))
        target = np.zeros(())
        target += y.sum().astype("float32")
        for z in (y + 1, y.sum(), y.T[..., :1], np.concatenate([y.ravel(), np.ones(1)]), np.sort(y), target):
            assert_late_error(READS["numpy"], z, LATE[name])
            assert_late_error(READS["repr"], z, LATE[name])
        assert _core.unseen_failures() == []


@WORKERS
@pytest.mark.parametrize("name", LATE)
def test_independent_operations_are_unaffected(name: str, mode: str) -> None:
    with running(mode):
        x, v = np.array(X), np.array(V)
        before = x * 2
        y = LATE[name][0](x, v)
        after = x * 3 + v
        zeros = y * 0  # of the same size: memory of the failed op is not handed out as if it were computed
        assert before.tolist() == (X * 2).tolist()
        assert after.tolist() == (X * 3 + V).tolist()
        assert x.tolist() == X.tolist()
        assert_late_error(READS["numpy"], zeros, LATE[name])
        y = np.ones(3)
        assert y.tolist() == [1, 1, 1]


@WORKERS
def test_waitall_raises_unread_failures(mode: str) -> None:
    with running(mode):
        late = LATE["a host task"]
        y = late[0](np.array(X), np.array(V))
        assert_late_error(lambda _: forerun.waitall(), None, late)
        forerun.waitall()  # once is enough
        assert_late_error(READS["numpy"], y, late)


@WORKERS
def test_overwriting_heals(mode: str) -> None:
    with running(mode):
        late = LATE["an index"]
        y = late[0](np.array(X), np.array(V))
        z = y + 1
        y[...] = 5
        assert y.tolist() == [5, 5]
        assert_late_error(READS["numpy"], z, late)


@WORKERS
def test_a_failed_write_poisons_its_target(mode: str) -> None:
    with running(mode):
        v = np.array(V)
        before = v + 1
        v[np.array([5])] = 2
        for _ in range(2):
            with pytest.raises(IndexError, match=r"put: index must be in \[-3, 3\), got 5"):
                v.numpy()
        assert before.tolist() == [2, 2, 2]


@WORKERS
def test_gradients_of_failed_operations_raise(mode: str) -> None:
    with running(mode):
        x = np.array(X)
        x.attach_grad()
        with autograd.record():
            y = x[np.array([4])] * x
        y.backward()
        for _ in range(2):
            with pytest.raises(IndexError, match="index must be in"):
                x.grad.numpy()
        _core.unseen_failures()  # gathering and scattering failed, one of them unread


@pytest.mark.parametrize("name", LATE)
def test_the_synchronous_engine_raises_at_the_call(name: str) -> None:
    with running("sync"):
        assert_late_error(lambda _: LATE[name][0](np.array(X), np.array(V)), None, LATE[name])
        assert _core.unseen_failures() == []
