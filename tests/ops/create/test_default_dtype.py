"""The default dtype of a new array: by forerun's rule, by MXNet's, by NumPy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

from forerun import np, npx
from tests.support.many_cases import for_each

Make = Any
F, D, I, B, C, Z = "float32", "float64", "int64", "bool", "complex64", "complex128"

# The function; its dtype by default; after npx.set_np(). After npx.set_np(dtype=True) it is NumPy's.
TABLE: dict[str, tuple[Make, str, str]] = {
    "array of an int": (lambda n: n.array(1), I, F),
    "array of ints": (lambda n: n.array([1, 2]), I, F),
    "array of a range": (lambda n: n.array(range(3)), I, F),
    "array of floats": (lambda n: n.array([1.5]), F, F),
    "array of both": (lambda n: n.array([1, 2.5]), F, F),
    "array of complex numbers": (lambda n: n.array([1j]), C, C),
    "array of bools": (lambda n: n.array([True]), B, B),
    "array of nothing": (lambda n: n.array([]), F, F),
    "array as int": (lambda n: n.array([1, 2], int), I, I),
    "array as float": (lambda n: n.array([1, 2], float), F, F),
    "asarray of ints": (lambda n: n.asarray([1, 2]), I, F),
    "asarray of a float": (lambda n: n.asarray(1.5), F, F),
    "NumPy's ints": (lambda n: n.array(numpy.arange(2)), I, I),
    "NumPy's floats": (lambda n: n.array(numpy.ones(2)), D, F),
    "NumPy's small floats": (lambda n: n.array(numpy.ones(2, "f2")), "float16", "float16"),
    "NumPy's scalar": (lambda n: n.array(numpy.float64(1)), D, F),
    "a list of NumPy's scalars": (lambda n: n.array([numpy.float32(1)]), F, F),
    "zeros": (lambda n: n.zeros(2), F, F),
    "ones": (lambda n: n.ones(2), F, F),
    "empty": (lambda n: n.empty(2), F, F),
    "zeros of float": (lambda n: n.zeros(2, float), F, F),
    "zeros of complex": (lambda n: n.zeros(2, complex), C, C),
    "zeros of int": (lambda n: n.zeros(2, int), I, I),
    "zeros of bool": (lambda n: n.zeros(2, bool), B, B),
    "zeros of float64": (lambda n: n.zeros(2, n.float64), D, D),
    "full of an int": (lambda n: n.full(2, 7), I, F),
    "full of a float": (lambda n: n.full(2, 1.5), F, F),
    "full of a bool": (lambda n: n.full(2, True), B, B),
    "full of a complex number": (lambda n: n.full(2, 1j), C, C),
    "full of a list": (lambda n: n.full(2, [1, 2]), I, F),
    "full of NumPy's scalar": (lambda n: n.full(2, numpy.float64(1.5)), D, F),
    "zeros_like": (lambda n: n.zeros_like([1, 2]), I, F),
    "ones_like": (lambda n: n.ones_like([1.5]), F, F),
    "full_like": (lambda n: n.full_like([1, 2], 3), I, F),
    "arange of ints": (lambda n: n.arange(3), I, F),
    "arange of floats": (lambda n: n.arange(0, 1, 0.5), F, F),
    "arange as float": (lambda n: n.arange(3, dtype=float), F, F),
    "arange as int": (lambda n: n.arange(3, dtype=int), I, I),
    "linspace": (lambda n: n.linspace(0, 1, 3), F, F),
    "logspace": (lambda n: n.logspace(0, 1, 3), F, F),
    "geomspace": (lambda n: n.geomspace(1, 2, 3), F, F),
    "eye": (lambda n: n.eye(2), F, F),
    "identity": (lambda n: n.identity(2), F, F),
    "tri": (lambda n: n.tri(2), F, F),
    "indices": (lambda n: n.indices((2,)), I, I),
    "fromfunction": (lambda n: n.fromfunction(lambda i: i, (2,)), F, F),
    "vander": (lambda n: n.vander([1, 2]), I, F),
    "meshgrid": (lambda n: n.meshgrid([1, 2])[0], I, F),
    "diag": (lambda n: n.diag([1, 2]), I, F),
    "tril": (lambda n: n.tril([[1.5]]), F, F),
    "triu_indices": (lambda n: n.triu_indices(3)[0], I, I),
    "unravel_index": (lambda n: n.array(n.unravel_index(n.array([1], int), (2, 2))[0]), I, I),
    "bincount": (lambda n: n.bincount([1, 2]), I, I),
    "histogram": (lambda n: n.histogram([1.0, 2.0])[0], I, I),
    "fftfreq": (lambda n: n.fft.fftfreq(4), F, F),
    "fft": (lambda n: n.fft.fft([1.5]), C, C),
    "inv": (lambda n: n.linalg.inv([[1.5]]), F, F),
    "quotient of ints": (lambda n: n.array([1], int) / n.array([2], int), F, F),
    "mean of ints": (lambda n: n.array([1, 2], int).mean(), F, F),
    "root of ints": (lambda n: n.sqrt(n.array([1, 4], int)), F, F),
    "ints and a float": (lambda n: n.array([1, 2], int) * 1.5, F, F),
    "ints and a complex number": (lambda n: n.array([1, 2], int) + 1j, C, C),
    "where of an int and a float": (lambda n: n.where([True], 1, 2.5), F, F),
    "sum of bools": (lambda n: n.sum([True]), I, I),
    "median": (lambda n: n.median(n.array([1, 2], int)), F, F),
    "random.rand": (lambda n: n.random.rand(2), F, F),
    "random.randn": (lambda n: n.random.randn(2), F, F),
    "random.random": (lambda n: n.random.random(2), F, F),
    "random.uniform": (lambda n: n.random.uniform(size=2), F, F),
    "random.normal": (lambda n: n.random.normal(size=2), F, F),
    "random.standard_normal": (lambda n: n.random.standard_normal(2), F, F),
    "random.exponential": (lambda n: n.random.exponential(size=2), F, F),
    "random.gamma": (lambda n: n.random.gamma(2, size=2), F, F),
    "random.beta": (lambda n: n.random.beta(1, 2, 2), F, F),
    "random.laplace": (lambda n: n.random.laplace(size=2), F, F),
    "random.randint": (lambda n: n.random.randint(0, 5, 2), I, I),
    "random.permutation": (lambda n: n.random.permutation(3), I, I),
    "random.choice": (lambda n: n.random.choice(3, 2), I, I),
    "random.poisson": (lambda n: n.random.poisson(3, 2), I, I),
    "random.binomial": (lambda n: n.random.binomial(3, 0.5, 2), I, I),
    "random.multinomial": (lambda n: n.random.multinomial(3, [0.5, 0.5]), I, I),
}  # fmt: skip
MODES = {"forerun": None, "MXNet": {}, "NumPy": {"dtype": True}}


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    if (options := MODES[request.param]) is not None:
        npx.set_np(**options)
    yield request.param
    npx.reset_np()


@for_each("what", TABLE)
def test_dtypes_of_new_arrays(mode: str, what: str) -> None:
    make, default, mxnets = TABLE[what]
    made = make(np)
    made.wait()
    want = {"forerun": default, "MXNet": mxnets}.get(mode) or str(make(numpy).dtype)
    assert made.dtype == want


@pytest.mark.parametrize("name", ["float", "complex"])
def test_python_types_mean_the_default(mode: str, name: str) -> None:
    wide = mode == "NumPy"
    want = {"float": D if wide else F, "complex": Z if wide else C}[name]
    meant = {"float": float, "complex": complex}[name]
    assert np.ones(2, meant).dtype == np.ones(2, int).astype(meant).dtype == np.result_type(meant) == want
    assert np.finfo(meant).dtype == (D if wide else F)
    assert np.promote_types("int8", meant) == want


@pytest.mark.parametrize("dtype", [None, float, "float32", numpy.float32, numpy.dtype("float32")])
def test_asarray_returns_an_array_of_the_dtype_itself(dtype: Any) -> None:
    x = np.ones(2, "float32")
    assert np.asarray(x, dtype) is np.asarray(x, dtype=dtype) is x
    assert np.asarray(x, dtype, copy=True) is not x
    npx.set_np(dtype=True)
    found = np.asarray(x, dtype)
    npx.reset_np()
    assert found.dtype == ("float64" if dtype is float else "float32")
