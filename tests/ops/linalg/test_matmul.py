"""Matrix products: values for all tiles and strides, with the same bits for any number of workers."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import autograd, np
from tests.support.comparison.outcomes import values_or_error
from tests.support.comparison.random_arrays import normal_array
from tests.support.engine.settings import configured

# Products that are cut: into nothing, in two, in four, along one side, by vectors' memory, in groups of a batch.
SHAPES = [
    ((64, 64), (64, 64)),
    ((245, 247), (247, 251)),
    ((249, 245), (245, 251)),
    ((256, 256), (256, 256)),
    ((257, 255), (255, 259)),
    ((600, 601), (601, 602)),
    ((8, 900), (900, 3000)),
    ((3000, 900), (900, 8)),
    ((20_000, 4), (4, 300)),
    ((1, 2000), (2000, 700)),
    ((700, 2000), (2000, 1)),
    ((37, 20, 30), (37, 30, 40)),
    ((64, 64, 64), (64, 64, 64)),
    ((3, 300, 300), (300, 300)),
    ((2, 1, 64, 64), (3, 64, 64)),
    ((5, 1, 300), (5, 300, 7)),
]


def operand_pair(a: tuple[int, ...], b: tuple[int, ...], dtype: str) -> list[numpy.ndarray]:
    return [normal_array(a, 7, dtype), normal_array(b, 8, dtype)]


def assert_close_product(product: Any, a: numpy.ndarray, b: numpy.ndarray) -> None:
    """Within the rounding errors of k steps."""
    exact = a.astype("complex128") @ b.astype("complex128")
    scale = numpy.abs(a).astype("float64") @ numpy.abs(b).astype("float64")
    error = numpy.abs(product.asnumpy() - exact) / scale
    assert product.dtype == a.dtype
    assert error.max() < 4 * numpy.finfo(a.dtype).eps * a.shape[-1] ** 0.5


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_are_correct_for_all_tile_sizes(a, b, dtype):
    x, y = operand_pair(a, b, dtype)
    assert_close_product(np.array(x) @ np.array(y), x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_number_of_workers_does_not_show_in_products(dtype):
    pairs = [operand_pair(a, b, dtype) for a, b in SHAPES]

    def bits(**settings: Any) -> list[bytes]:
        with configured(**settings):
            products = [np.array(x) @ np.array(y) for x, y in pairs]
            return [p.asnumpy().tobytes() for p in products]

    expected = bits(engine="sync")
    for workers in (1, 2, 4):
        assert bits(engine="async", workers=workers) == expected


VIEWS = {
    "transposed": lambda x: np.array(x.swapaxes(-1, -2)).swapaxes(-1, -2),
    "every second row": lambda x: np.array(numpy.repeat(x, 2, -2))[..., ::2, :],
    "every second column": lambda x: np.array(numpy.repeat(x, 2, -1))[..., ::2],
    "backwards": lambda x: np.array(x[..., ::-1, :])[..., ::-1, :],
    "within wider rows": lambda x: np.array(numpy.concatenate([x, x], -1))[..., : x.shape[-1]],
}


@pytest.mark.parametrize("first", VIEWS)
@pytest.mark.parametrize("second", VIEWS)
@pytest.mark.parametrize("shapes", [((300, 200), (200, 310)), ((9, 30, 20), (9, 20, 10)), ((5, 7, 1), (5, 1, 9))])
def test_products_of_views(shapes, first, second):
    x, y = operand_pair(*shapes, "float32")
    assert_close_product(VIEWS[first](x) @ VIEWS[second](y), x, y)


def test_broadcast_batches_share_an_operand():
    x, y = operand_pair((4, 30, 20), (1, 20, 30), "float32")
    shared = np.broadcast_to(np.array(y), (4, 20, 30))
    assert_close_product(np.array(x) @ shared, x, numpy.broadcast_to(y, (4, 20, 30)))


# --- keywords of NumPy's generalised ufuncs ---------------------------------------------------------------------

M, N = (2, 3), (3, 2)
KEYWORDS: list[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ("matmul", (2, 3, 4), (5, 4, 3), {"axes": [(0, 2), (1, 0), (1, 0)]}),
    ("matmul", M, (2,), {"axes": [(1, 0), 0, 0]}),
    ("matmul", (2,), M, {"axes": [(0,), (-2, -1), 0]}),
    ("matmul", (4,), (4,), {"axes": [0, 0, ()]}),
    ("matmul", (4,), (4,), {"axes": [0, 0]}),
    ("matmul", M, N, {"axes": [(0, 1), (0, 1)]}),
    ("matmul", M, N, {"axes": [(0,), (0, 1), (0, 1)]}),
    ("matmul", M, N, {"axes": [0, (0, 1), (0, 1)]}),
    ("matmul", M, N, {"axes": [(0, 0), (0, 1), (0, 1)]}),
    ("matmul", M, N, {"axes": [(0, 7), (0, 1), (0, 1)]}),
    ("matmul", M, N, {"axes": ((0, 1), (0, 1), (0, 1))}),
    ("matmul", M, N, {"axis": 0}),
    ("matmul", M, N, {"keepdims": True}),
    ("matmul", M, N, {"where": True}),
    ("matmul", M, N, {"subok": 1}),
    ("matmul", M, N, {"order": "Q"}),
    ("matmul", M, N, {"casting": "any"}),
    ("matmul", M, N, {"dtype": "float64"}),
    ("matmul", M, N, {"dtype": "int32"}),
    ("matmul", M, N, {"dtype": "float16", "casting": "safe"}),
    ("matmul", M, N, {"dtype": "int32", "casting": "unsafe"}),
    ("matmul", M, N, {"dtype": "float64", "signature": "dd->d"}),
    ("matmul", M, N, {"signature": "dd->d"}),
    ("matmul", M, N, {"signature": (None, None, "float64")}),
    ("matmul", M, N, {"signature": "fd->d"}),
    ("matmul", M, N, {"signature": "f4"}),
    ("vecdot", (2, 3), (3, 2), {"axes": [0, 1]}),
    ("vecdot", (2, 3), (3, 2), {"axes": [0, 1, 0], "keepdims": True}),
    ("vecdot", (4, 2, 3), (4, 2, 3), {"axes": [0, 0, 2], "keepdims": True}),
    ("vecdot", (4, 2, 3), (4, 2, 3), {"axis": 0, "keepdims": True}),
    ("vecdot", (4, 2, 3), (3,), {"axis": -1, "keepdims": True}),
    ("vecdot", (4, 2, 3), (3,), {"axis": 0, "axes": [0, 0]}),
    ("vecdot", (4, 2, 3), (3,), {"axis": (0,)}),
    ("vecdot", (4, 2, 3), (3,), {"axis": 1}),
    ("vecdot", (4, 2, 3), (3,), {"axes": ["a", 0]}),
    ("vecdot", (3,), (3,), {"dtype": "float64"}),
    ("matvec", (2, 3, 4), (3, 5), {"axes": [(0, 1), 0, 1]}),
    ("matvec", M, (3,), {"axes": [(0, 1), 0]}),
    ("matvec", M, (3,), {"axis": 0}),
    ("vecmat", (3, 4), (2, 3, 4), {"axes": [0, (1, 0), 0]}),
    ("vecmat", (3,), (3, 4), {"keepdims": True}),
]


@pytest.mark.parametrize(("name", "a", "b", "keywords"), KEYWORDS, ids=str)
def test_keywords_are_numpys(name, a, b, keywords):
    x, y = (numpy.arange(1, 1 + numpy.prod(s)).reshape(s).astype("float32") for s in (a, b))
    got, want = (
        values_or_error(lambda m=m: getattr(m, name)(m.asarray(x), m.asarray(y), **keywords)) for m in (np, numpy)
    )
    if isinstance(want, type):
        assert isinstance(got, type)
        assert issubclass(want, got)  # NumPy's may be a finer one
    else:
        assert got == want
    if not isinstance(got, type):  # the same through NumPy's own function
        assert getattr(numpy, name)(np.array(x), np.array(y), **keywords).tolist() == got[0]


@pytest.mark.parametrize("name", ["matmul", "vecdot", "matvec", "vecmat"])
@pytest.mark.parametrize("dtype", ["complex64", "float64", "int8"])
def test_out_may_be_wider(name, dtype):
    x, y = numpy.arange(9).reshape(3, 3).astype(dtype), numpy.arange(3).astype(dtype)
    a, b = {"matmul": (x, x), "vecdot": (x, y), "matvec": (x, y), "vecmat": (y, x)}[name]
    want = getattr(numpy, name)(a, b)
    for shape, to in ((want.shape, dtype), ((2, *want.shape), dtype), ((2, *want.shape), "complex128")):
        out = np.zeros(shape, to)
        assert getattr(np, name)(np.array(a), np.array(b), out=out) is out
        assert out.tolist() == numpy.broadcast_to(want, shape).tolist()
        assert getattr(np, name)(np.array(a), np.array(b), (out,)) is out
    wrong = np.zeros(shape, "bool")
    with pytest.raises(TypeError, match="out must be of a dtype"):
        getattr(np, name)(np.array(a), np.array(b), out=wrong)
    with pytest.raises(TypeError, match="casting must be possible by rule 'no'"):
        getattr(np, name)(np.array(a), np.array(b), out=wrong, casting="no")
    getattr(np, name)(np.array(a), np.array(b), out=wrong, casting="unsafe")
    assert wrong.tolist() == numpy.broadcast_to(want.astype(bool), shape).tolist()
    with pytest.raises(ValueError, match="shape"):
        getattr(np, name)(np.array(a), np.array(b), out=np.zeros((7, 8), dtype))


def test_gradients_come_through_moved_axes():
    a, b = np.array(numpy.arange(6.0).reshape(2, 3)), np.array(numpy.arange(8.0).reshape(2, 4))
    a.attach_grad()
    with autograd.record():
        y = np.matmul(a, b, axes=[(1, 0), (0, 1), (1, 0)])
    y.backward()
    want = numpy.repeat(b.numpy().sum(1)[:, None], 3, 1)
    assert a.grad.tolist() == want.tolist()


@pytest.mark.parametrize("columns", [250, 1300])  # in one part, and in two
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_packed_operands_are_not_reused_across_products(dtype, columns):
    rng = numpy.random.default_rng(7)
    x = np.array(rng.standard_normal((1200, 300)), dtype=dtype)
    factors = [np.array(rng.standard_normal((300, columns)), dtype=dtype) for _ in range(3)]
    factors += [factors[0], np.array(rng.standard_normal((columns, 300)), dtype=dtype).T, factors[1][:, ::-1]]
    with configured(engine="async", workers=1):
        products = [x @ w for w in factors]
        pieces = [np.concatenate([x[i : i + 100] @ w for i in range(0, 1200, 100)]) for w in factors]
        for product, piece in zip(products, pieces, strict=True):
            assert product.asnumpy().tobytes() == piece.asnumpy().tobytes()
