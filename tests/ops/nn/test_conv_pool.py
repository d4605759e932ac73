"""Convolution and pooling: cases beyond the table of cases."""

import ctypes
import itertools
import mmap
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

from forerun import _core, autograd, np, npx
from forerun.ops.nn import conv as convolution
from forerun.ops.nn import pool as pooling
from forerun.ops.nn.conv_windows import Windows
from tests.ops.cases.table import to_forerun
from tests.support.comparison import conv_pool_reference
from tests.support.comparison.gradients import leaves

RNG = numpy.random.default_rng(5)


def normal(*shape: int) -> numpy.ndarray:
    return RNG.normal(size=shape)


def result_and_gradients(function: Any, *values: numpy.ndarray) -> list[numpy.ndarray]:
    """The result, and the gradients of its sum times fixed numbers."""
    made = leaves(values)
    with autograd.record():
        y = function(*made)
        loss = (y * np.arange(y.size, dtype="float64").reshape(y.shape)).sum()
    loss.backward()
    return [y.asnumpy(), *(x.grad.asnumpy() for x in made)]


@pytest.mark.parametrize("room", [1, 700])
def test_examples_in_parts_give_the_same(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolution, "native", lambda x: False)
    values = normal(5, 4, 6, 5), normal(2, 2, 3, 2)

    def function(x: Any, w: Any) -> Any:
        return npx.convolution(x, w, stride=(2, 1), pad=1, num_group=2)

    whole = result_and_gradients(function, *values)
    monkeypatch.setattr(convolution, "_ROOM", room)
    for part, expected in zip(result_and_gradients(function, *values), whole):
        numpy.testing.assert_allclose(part, expected, rtol=1e-12, atol=1e-12)
    numpy.testing.assert_allclose(whole[0], conv_pool_reference.convolution(*values, stride=(2, 1), pad=1, num_group=2))


# Shapes for each choice of the kernels: (examples, groups, in, out, extents, kernel, stride, dilation, padding).
SHAPES = {
    "plain": (3, 1, 5, 9, (9, 8), (3, 3), (1, 1), (1, 1), (1, 1)),
    "many small examples": (70, 1, 2, 6, (7, 7), (3, 2), (1, 1), (1, 1), (0, 1)),
    "bands of lines": (1, 1, 40, 9, (70, 66), (3, 3), (1, 1), (1, 1), (1, 1)),
    "bands of a long line": (2, 1, 8, 9, (20_000,), (5,), (1,), (2,), (3,)),
    "cut rows": (1, 1, 16, 70, (20, 20), (3, 3), (1, 1), (1, 1), (1, 1)),
    "few windows": (9, 1, 20, 40, (4, 4), (3, 3), (1, 1), (1, 1), (1, 1)),
    "few windows, apart": (7, 1, 20, 40, (7, 5), (3, 3), (2, 2), (1, 1), (1, 1)),
    "few windows in a line": (40, 1, 30, 40, (30, 2), (3, 2), (1, 1), (1, 1), (1, 0)),
    "phases": (4, 1, 6, 11, (15, 14), (3, 4), (3, 2), (1, 1), (2, 0)),
    "some phases": (4, 1, 6, 11, (15, 14), (2, 1), (4, 3), (2, 1), (1, 0)),
    "dilated": (4, 1, 6, 11, (15, 14), (3, 2), (2, 1), (3, 2), (2, 1)),
    "groups": (4, 3, 5, 6, (9, 9), (3, 3), (1, 1), (1, 1), (1, 1)),
    "each channel alone": (4, 12, 1, 1, (9, 9), (3, 3), (2, 2), (1, 1), (1, 1)),
    "three axes": (3, 1, 4, 9, (6, 7, 8), (2, 3, 3), (1, 2, 1), (1, 1, 2), (1, 1, 2)),
    "one axis": (5, 2, 3, 4, (40,), (7,), (2,), (1,), (3,)),
    "three by three": (4, 1, 16, 17, (14, 15), (3, 3), (1, 1), (1, 1), (1, 1)),
    "three by three in groups": (9, 2, 17, 16, (8, 7), (3, 3), (1, 1), (1, 1), (2, 0)),
    "three by three, few lines": (9, 1, 16, 16, (2, 700), (3, 3), (1, 1), (1, 1), (1, 3)),
    "three by three, many channels": (16, 1, 180, 30, (4, 4), (3, 3), (1, 1), (1, 1), (1, 1)),
    "wide padding": (2, 1, 3, 4, (3, 3), (3, 3), (1, 1), (1, 1), (5, 4)),
    "large kernel": (2, 1, 3, 4, (16, 16), (16, 16), (1, 1), (1, 1), (0, 0)),
}


@pytest.mark.parametrize("turned", [False, True], ids=["dense", "turned"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_kernels_agree_with_products_over_windows(
    shape: Any, dtype: str, turned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples, groups, channels, filters, extents, kernel, stride, dilate, pad = shape
    plan = convolution._Plan(Windows(kernel, stride, dilate), pad, groups, extents)

    def values(*shape: int) -> Any:
        made = normal(*(shape[::-1] if turned else shape)).astype(dtype)
        return to_forerun(made).transpose() if turned else to_forerun(made)

    x, w = values(examples, groups * channels, *extents), values(groups * filters, channels, *kernel)
    y = values(examples, groups * filters, *plan.counts())

    def all_three() -> list[numpy.ndarray]:
        pairs = (convolution._convolve, x, w), (convolution._spread, y, w), (convolution._weigh, y, x)
        return [function(a, b, plan).asnumpy() for function, a, b in pairs]

    found = all_three()
    assert all(map(numpy.array_equal, found, all_three()))
    monkeypatch.setattr(convolution, "native", lambda x: False)
    for a, b in zip(found, all_three(), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        error = abs(a - b).max() / abs(b).max()
        assert error < (1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("value", [numpy.inf, numpy.nan, 1e38])
def test_nonfinite_input_affects_only_its_windows(value: float) -> None:
    """Winograd's method adds elements of neighbouring windows and takes them away again."""
    x, w = (normal(*shape).astype("float32") for shape in ((4, 16, 9, 10), (16, 16, 3, 3)))
    plain = npx.convolution(to_forerun(x), to_forerun(w), pad=1).asnumpy()
    x[1, 2, 4, 5] = x[2, 0, 0, 0] = x[3, 1, 8, 9] = value
    with numpy.errstate(over="ignore", invalid="ignore"):
        exact = (
            npx.convolution(to_forerun(x.astype("float64")), to_forerun(w.astype("float64")), pad=1)
            .asnumpy()
            .astype("float32")
        )
    found = npx.convolution(to_forerun(x), to_forerun(w), pad=1).asnumpy()
    touched = numpy.zeros(x.shape, bool)
    touched[1, :, 3:6, 4:7] = touched[2, :, :2, :2] = touched[3, :, 7:, 8:] = True
    assert numpy.array_equal(numpy.isfinite(found), numpy.isfinite(exact))
    far = ~touched
    far[1:] &= value != 1e38  # whose rounding reaches its neighbours
    numpy.testing.assert_allclose(found[far], plain[far], rtol=1e-4, atol=1e-5)


def test_an_infinite_gradient_affects_only_its_weights() -> None:
    """One channel of the result has an infinite gradient at a corner, where padding covers half of a window."""
    x, w, g = (normal(*shape).astype("float32") for shape in ((4, 16, 9, 10), (16, 16, 3, 3), (4, 16, 9, 10)))
    g[1, 5, 0, 0] = numpy.inf
    weight = to_forerun(w)
    weight.attach_grad()
    with autograd.record():
        y = npx.convolution(to_forerun(x), weight, pad=1)
    y.backward(to_forerun(g))
    endless = ~numpy.isfinite(weight.grad.asnumpy())
    assert endless[5, :, 1:, 1:].all()
    assert endless.sum() == 16 * 4


POOLS = {
    "apart": ((3, 4, 8, 6), (2, 2), (2, 2)),
    "meeting": ((3, 4, 9, 8), (3, 3), (2, 1)),
    "gaps": ((2, 2, 11), (2,), (4,)),
    "three axes": ((2, 5, 4, 6), (2, 2, 3), (1, 2, 3)),
    "many planes": ((40, 50, 8, 8), (2, 2), (2, 2)),
}


@pytest.mark.parametrize("turned", [False, True], ids=["dense", "turned"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", POOLS.values(), ids=POOLS)
def test_pooling_kernels_agree_with_strided_views(
    case: Any, dtype: str, turned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape, kernel, stride = case
    made = RNG.integers(-3, 3, shape[::-1] if turned else shape).astype(dtype)  # with equal ones
    made.flat[5] = numpy.nan
    x = to_forerun(made).transpose() if turned else to_forerun(made)
    windows = Windows(kernel, stride, (1,) * len(kernel))
    g = to_forerun(normal(*shape[: -len(kernel)], *windows.counts(shape[-len(kernel) :])).astype(dtype))

    def all_four() -> list[numpy.ndarray]:
        y = pooling._largest(x, windows)
        found = [y, pooling._to_first(g, x, y, windows), pooling._total(x, windows)]
        return [a.asnumpy() for a in (*found, pooling._to_all(g, shape[-len(kernel) :], windows))]

    found = all_four()
    monkeypatch.setattr(pooling, "native", lambda x: False)
    for a, b in zip(found, all_four(), strict=True):
        numpy.testing.assert_allclose(a, b, rtol=1e-5 if dtype == "float32" else 1e-13, atol=1e-6)


def some_pools() -> Iterator[tuple[Any, Any, Any]]:
    """Shapes, kernels, strides: one tile or two, one to three axes, rows shorter than a vector and longer than some."""
    yield (90, 28, 28), (2, 2), (2, 2)
    yield (20, 2, 9), (2, 3), (2**60, 2**60)
    for _ in range(60):
        n = int(RNG.integers(1, 4))
        kernel, stride = (tuple(RNG.integers(1, 5, n).tolist()) for _ in range(2))
        extents = numpy.add(kernel, RNG.integers(0, (90, 40, 9)[n - 1], n))
        yield (int(RNG.integers(1, 9)), *extents.tolist()), kernel, kernel if RNG.random() < 0.4 else stride


def filled(shape: Any, dtype: str, *others: float) -> numpy.ndarray:
    """Random numbers, or few different ones, and zeros of both signs and others in between."""
    values = normal(*shape) if RNG.random() < 0.5 else RNG.integers(-2, 2, shape)
    return numpy.where(RNG.random(shape) < 0.3, RNG.choice([0.0, -0.0, *others], shape), values).astype(dtype)


@pytest.fixture(params=[0, 2], ids=["best vectors", "plain vectors"])
def vectors(request: pytest.FixtureRequest) -> Iterator[None]:
    _core.waitall()
    _core.set_tile_version(request.param)
    yield
    _core.waitall()
    _core.set_tile_version()


@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("others", [(), (numpy.inf, -numpy.inf, numpy.nan, -numpy.nan)], ids=["numbers", "others"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pooling_kernels_have_the_bits_of_plain_loops(dtype: str, others: tuple[float, ...]) -> None:
    def bits(a: Any) -> bytes:
        return numpy.where(numpy.isnan(a), numpy.nan, a).tobytes()

    for shape, kernel, stride in some_pools():
        windows = Windows(kernel, stride, (1,) * len(kernel))
        made = filled(shape, dtype, *others)
        x = to_forerun(made[..., ::-1].copy())[..., ::-1]
        y = pooling._largest(x, windows)
        total = pooling._total(x, windows)
        g, other = filled(y.shape, dtype, *others[:1]), filled(y.shape, dtype, *others)
        first, of_other = (pooling._to_first(to_forerun(g), x, v, windows) for v in (y, to_forerun(other)))
        everywhere = pooling._to_all(to_forerun(g), shape[-len(kernel) :], windows)
        with numpy.errstate(invalid="ignore"):
            expected = conv_pool_reference.pool_results_and_gradients(made, g, y.asnumpy(), kernel, stride)
            expected.append(conv_pool_reference.pool_results_and_gradients(made, g, other, kernel, stride)[1])
        found = [a.asnumpy() for a in (y, first, total, everywhere, of_other)]
        case = shape, kernel, stride
        assert found[0].tobytes() == expected[0].tobytes(), case  # of several NaN the first
        assert [bits(a) for a in found] == [bits(a) for a in expected], case


def before_a_guard(values: numpy.ndarray) -> numpy.ndarray:
    """A copy; to read behind its end is a fault."""
    page = mmap.PAGESIZE
    size = -(-values.nbytes // page) * page
    room = mmap.mmap(-1, size + page)
    guard = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(room)) + size)
    assert ctypes.CDLL(None).mprotect(guard, ctypes.c_size_t(page), 0) == 0
    copy = numpy.frombuffer(room, values.dtype, values.size, size - values.nbytes).reshape(values.shape)
    copy[...] = values
    return copy


@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", [(2,), (3,), (1, 2), (2, 2), (3, 3)], ids=str)
def test_pooling_kernels_read_no_further_than_their_arrays(kernel: Any, dtype: str) -> None:
    for stride, extent in itertools.product((1, 2, 3), range(4, 37)):
        windows = Windows(kernel, (stride,) * len(kernel), (1,) * len(kernel))
        x = normal(40, *(5,) * (len(kernel) - 1), extent).astype(dtype)
        y = pooling._largest(to_forerun(x), windows).asnumpy()
        found = []
        for make in (to_forerun, lambda a: np.from_dlpack(before_a_guard(a))):
            g, data, largest = map(make, (y, x, y))
            results = pooling._largest(data, windows), pooling._to_first(g, data, largest, windows)
            found.append([a.tolist() for a in results])
        assert found[0] == found[1]


def test_deconvolution_is_the_gradient_of_convolution() -> None:
    x, w, g = normal(2, 3, 7, 6), normal(4, 3, 3, 2), normal(2, 4, 4, 5)
    data = to_forerun(x)
    data.attach_grad()
    with autograd.record():
        y = npx.convolution(data, to_forerun(w), stride=(2, 1), pad=(1, 0))
    y.backward(to_forerun(g))
    back = npx.deconvolution(to_forerun(g), to_forerun(w), stride=(2, 1), pad=(1, 0))
    numpy.testing.assert_allclose(back.asnumpy(), data.grad.asnumpy())
    larger = npx.deconvolution(to_forerun(g), to_forerun(w), stride=(2, 1), pad=(1, 0), adj=(1, 0))
    assert (back.shape, larger.shape) == ((2, 3, 7, 6), (2, 3, 8, 6))


@pytest.mark.parametrize("target", [(7, 6), (8, 6), (9, 4)], ids=str)
def test_deconvolution_to_a_target(target: tuple[int, ...]) -> None:
    x, w = normal(1, 2, 4, 5), normal(2, 1, 3, 2)
    whole = conv_pool_reference.deconvolution(x, w, stride=(2, 1))
    cut = [-(-(n - t) // 2) for n, t in zip(whole.shape[2:], target)]
    wide = numpy.pad(whole, [(0, 0), (0, 0), (0, 1), (0, 1)])
    expected = wide[(..., *(slice(c, c + t) for c, t in zip(cut, target)))]
    found = npx.deconvolution(to_forerun(x), to_forerun(w), stride=(2, 1), target_shape=target)
    numpy.testing.assert_allclose(found.asnumpy(), expected)


def test_the_first_of_equal_elements_gets_the_gradient_of_max() -> None:
    x = np.array([[[2.0, 2.0, 2.0, 1.0, 2.0]]])
    x.attach_grad()
    for settings, expected in [
        ({"kernel": 2}, [1, 1, 1, 0, 1]),
        ({"kernel": 2, "stride": 2, "pooling_convention": "full"}, [1, 0, 1, 0, 1]),
        ({"kernel": 3, "stride": 2, "pad": 1}, [1, 1, 0, 0, 1]),
        ({"kernel": 3}, [1, 1, 1, 0, 0]),
        ({"global_pool": True}, [1, 0, 0, 0, 0]),
    ]:
        with autograd.record():
            y = npx.pooling(x, **settings)
        y.backward()
        assert x.grad.tolist() == [[expected]], settings


def test_nan_is_the_largest() -> None:
    x = np.array([[[1.0, numpy.nan, 3.0, 4.0]]])
    numpy.testing.assert_array_equal(npx.pooling(x, 2, stride=2).asnumpy(), [[[numpy.nan, 4]]])
    numpy.testing.assert_array_equal(npx.pooling(x, global_pool=True).asnumpy(), [[[numpy.nan]]])
    x.attach_grad()
    with autograd.record():
        y = npx.pooling(x, 2, stride=2)
    y.backward()
    assert x.grad.tolist() == [[[1, 0, 0, 1]]]  # none is lost


def test_integers() -> None:
    x = numpy.arange(-8, 8).reshape(1, 1, 4, 4)
    largest = npx.pooling(to_forerun(x), 3, stride=2, pad=1)
    assert largest.dtype == x.dtype
    assert largest.tolist() == conv_pool_reference.pooling(x, 3, stride=2, pad=1).tolist()
    assert npx.pooling(to_forerun(x), 2, "avg", stride=2).tolist() == [[[[-5.5, -3.5], [2.5, 4.5]]]]
    w = numpy.arange(4).reshape(1, 1, 2, 2)
    assert npx.convolution(to_forerun(x), to_forerun(w)).tolist() == conv_pool_reference.convolution(x, w).tolist()


@pytest.mark.parametrize("kind", ["max", "avg", "sum", "lp"])
def test_windows_of_a_view(kind: str) -> None:
    x = normal(4, 3, 6, 5)
    view = to_forerun(x).transpose((3, 0, 2, 1))[:, 1:, ::-1]
    rows = x.transpose(3, 0, 2, 1)[:, 1:, ::-1]
    for settings in ({"kernel": (3, 2), "stride": 2, "pad": 1}, {"global_pool": True}):
        found = npx.pooling(view, pool_type=kind, **settings)
        numpy.testing.assert_allclose(found.asnumpy(), conv_pool_reference.pooling(rows, pool_type=kind, **settings))
    w = normal(2, 3, 2, 2)
    numpy.testing.assert_allclose(
        npx.convolution(view, to_forerun(w)).asnumpy(), conv_pool_reference.convolution(rows, w)
    )


def test_no_examples() -> None:
    x, w = np.zeros((0, 2, 4, 4)), np.ones((3, 2, 2, 2))
    for a in (x, w):
        a.attach_grad()
    with autograd.record():
        y = npx.pooling(npx.convolution(x, w), 2)
    y.backward()
    assert (y.shape, x.grad.shape, w.grad.sum().item()) == ((0, 3, 2, 2), (0, 2, 4, 4), 0)


X, W = (1, 2, 4, 4), (3, 2, 2, 2)


@pytest.mark.parametrize(
    ("shapes", "settings", "message"),
    [
        ((X, (3, 1, 2, 2)), {}, r"weight must be \(filters, channels / groups, \*kernel\), got \(3, 1, 2, 2\) for"),
        ((X, W), {"num_filter": 4}, r"weight must be \(4, channels"),
        ((X, W), {"kernel": (3, 3)}, r"kernel must be the weight's, got \(3, 3\)"),
        ((X, (3, 2, 5, 2)), {}, r"kernel must fit into the padded data, got \(5, 2\) for \(4, 4\)"),
        ((X, W), {"dilate": 4}, r"kernel must fit into the padded data, got \(5, 5\)"),
        ((X, W), {"stride": 0}, "stride must be 2 integers from 1, got 0"),
        ((X, W), {"pad": (1, 1, 1)}, "pad must be 2 integers from 0"),
        ((X, W), {"num_group": 0}, "num_group must be positive, got 0"),
        ((X, (3, 2, 2)), {}, "data and weight must both have 1 to 3 axes after the first two"),
        (((4, 4), (2, 2)), {}, "data and weight must both have 1 to 3 axes after the first two"),
        ((X, W, (2,)), {}, r"bias must have shape \(3,\), got \(2,\)"),
    ],
)
def test_convolution_refuses(shapes: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^convolution: {message}"):
        npx.convolution(*map(np.ones, shapes), **settings)


@pytest.mark.parametrize(
    ("shapes", "settings", "message"),
    [
        ((X, W), {}, r"weight must be \(channels, filters / groups, \*kernel\), got \(3, 2, 2, 2\)"),
        ((X, (2, 3, 2, 2)), {"adj": 1}, r"adj must be less than the stride, .* got \(1, 1\) for \(1, 1\)"),
        ((X, (2, 3, 2, 2)), {"pad": 3}, r"adj must be less .* extents \(-1, -1\)"),
        ((X, (2, 3, 2, 2)), {"target_shape": 9}, r"target_shape must be at most \(5, 5\), got \(9, 9\)"),
        ((X, (2, 3, 2, 2), (2,)), {"no_bias": False}, r"bias must have shape \(3,\), got \(2,\)"),
    ],
)
def test_deconvolution_refuses(shapes: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^deconvolution: {message}"):
        npx.deconvolution(*map(np.ones, shapes), **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": 5}, r"kernel must fit into the padded data .* got \(5, 5\) for \(4, 4\)"),
        ({"kernel": 2, "pad": 2}, "kernel must fit .* and be larger than the padding"),
        ({}, "kernel must be 2 integers from 1"),
        ({"kernel": 2, "pool_type": "min"}, "pool_type must be one of max, avg, sum, lp, got 'min'"),
        ({"kernel": 2, "pooling_convention": "same"}, "pooling_convention must be one of valid, full, got 'same'"),
        ({"kernel": 2, "pool_type": "lp", "p_value": 4}, "p_value must be 1, 2 or 3, got 4"),
    ],
)
def test_pooling_refuses(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^pooling: {message}"):
        npx.pooling(np.ones(X), **settings)


def test_other_layouts_are_refused() -> None:
    for call in (
        lambda: npx.convolution(np.ones(X), np.ones(W), layout="NWHC"),
        lambda: npx.pooling(np.ones(X), 2, layout="NWHC"),
    ):
        with pytest.raises(ValueError, match="layout must be NCHW or NHWC, got 'NWHC'"):
            call()
