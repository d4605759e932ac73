"""Functions that only MXNet has, where the table of cases does not reach: ends, masks, errors, other layers."""

import math
from typing import Any

import numpy
import pytest
import scipy.special

from forerun import autograd, gluon, np, npx
from forerun.gluon import nn, rnn
from forerun.testing import check_grads
from tests.support.gluon.gluon_samples import assert_close, initialized

RNG = numpy.random.default_rng(5)


def normal(*shape: int) -> Any:
    x = np.array(RNG.normal(size=shape), dtype="float64")
    x.attach_grad()
    return x


# --- functions ------------------------------------------------------------------------------------


def test_gamma_at_its_ends() -> None:
    x = np.array([0.0, -1.0, -2.0, math.inf, 171.5, 172.0, math.nan, -0.5, 1e-300], dtype="float64")
    nan, inf = math.nan, math.inf
    assert_close(npx.gamma(x), [inf, nan, nan, inf, math.gamma(171.5), inf, nan, math.gamma(-0.5), 1e300], 1e-12)
    assert_close(npx.gammaln(x)[:5], [inf, inf, inf, inf, math.lgamma(171.5)], 1e-14)
    assert npx.gamma([3]).dtype == "float32"
    assert npx.gamma(np.array([3.0], dtype="float16")).tolist() == [2.0]


def test_gamma_of_integers() -> None:
    x = np.arange(1, 20, dtype="float64")
    expected = [math.factorial(n - 1) for n in range(1, 20)]
    numpy.testing.assert_allclose(npx.gamma(x).asnumpy(), expected, rtol=1e-13)


def test_erfinv_at_its_ends() -> None:
    x = np.array([-1.0, 1.0, 1.5, 0.0, 1 - 1e-15, -1e-200], dtype="float64")
    found = npx.erfinv(x).asnumpy()
    assert found[:2].tolist() == [-math.inf, math.inf]
    assert math.isnan(found[2])
    assert_close(found[3:], [0, scipy.special.erfinv(1 - 1e-15), -math.sqrt(math.pi) / 2 * 1e-200], 1e-9)
    inside = np.array(RNG.uniform(-0.999, 0.999, 50), dtype="float64")
    assert_close(npx.erf(npx.erfinv(inside)), inside, 1e-14)


def test_masked_elements_are_excluded() -> None:
    x, mask = normal(3, 4), RNG.random((3, 4)) < 0.6
    mask[:, 1] = True
    y = npx.masked_log_softmax(x, np.array(mask))
    assert (y.asnumpy()[~mask] == -math.inf).all()
    assert_close(np.exp(y), npx.masked_softmax(x, np.array(mask)), 1e-12)
    check_grads(lambda x: np.where(np.array(mask), npx.masked_log_softmax(x, np.array(mask)), 0), x)
    numbers = np.where(np.array(mask), -2, 0)
    assert_close(npx.masked_softmax(x, numbers), npx.masked_softmax(x, np.array(mask)), 0)
    nowhere = npx.masked_log_softmax(x, np.zeros((3, 4)))
    assert (nowhere.asnumpy() == -math.inf).all()


def test_multi_head_attention_equals_single_heads() -> None:
    """Self-attention that does not look ahead, as products for all heads at once and as sums for each."""
    steps, batch, heads, width = 5, 2, 3, 4
    x = normal(steps, batch, heads * 3 * width)
    mask = numpy.tril(numpy.ones((steps, steps)))
    weights = npx.masked_softmax(npx.interleaved_matmul_selfatt_qk(x, heads), np.array(mask))
    found = npx.interleaved_matmul_selfatt_valatt(x, weights, heads).asnumpy()
    apart = x.asnumpy().reshape(steps, batch, heads, 3, width)
    for b in range(batch):
        for h in range(heads):
            q, k, v = (apart[:, b, h, i] for i in range(3))
            for t in range(steps):
                e = numpy.exp(k[: t + 1] @ q[t] / 2)
                assert_close(found[t, b, h * width : (h + 1) * width], e @ v[: t + 1] / e.sum(), 1e-12)


@pytest.mark.parametrize(
    ("codes", "reverse", "expected"),
    [
        ((-2, -5), False, (2, 24)),
        ((-2, -2, -6, 2, -1), False, (2, 3, 2, 4)),
        ((-1, -4), False, (2, 3, 8)),
        ((-1, -2), True, (6, 8)),
        ((-5, -2), True, (6, 8)),
        ((-6, 1, 2, -4), False, (1, 2, 3, 8)),
        ((-4, -6, -1, 4), True, (2, 3, 2, 4)),
        ((-2, -1), False, (2, 24)),
        ((-1, 4), False, (12, 4)),
        ((-4, 1), False, (2, 3, 8, 1)),
        (48, False, (48,)),
    ],
)  # fmt: skip
def test_codes_of_reshape_are_those_of_mxnet(codes: Any, reverse: bool, expected: tuple[int, ...]) -> None:
    assert npx.reshape(np.zeros((2, 3, 8)), codes, reverse).shape == expected


@pytest.mark.parametrize("codes", [(-2, -2, -2, -2), (-3, -4), (-6, 3, 2, -4), (5, -4), (-6,)])
def test_codes_that_do_not_fit(codes: Any) -> None:
    with pytest.raises(ValueError, match="reshape"):
        npx.reshape(np.zeros((2, 3, 8)), codes)


def test_of_several_values_for_a_place_the_last_stays() -> None:
    at = np.array([[1, 1, 0]])
    assert npx.index_update(np.zeros(3), at, np.array([5.0, 6.0, 7.0])).tolist() == [7, 6, 0]
    assert npx.index_update(np.ones(2), np.zeros((1, 0)).astype("int64"), np.zeros(0)).tolist() == [1, 1]
    assert npx.index_add(np.zeros((2, 2)), np.array([[1, 1]]), 2).tolist() == [[0, 0], [4, 4]]


def test_loops_over_several_arrays() -> None:
    x, y = normal(4, 2), normal(4, 3)
    body = lambda parts, states: ([parts[0] * 2, parts[1].sum()], [states[0] + parts[0]])
    (doubled, sums), (total,) = npx.foreach(body, [x, y], [np.zeros(2, dtype="float64")])
    assert_close(doubled, 2 * x.asnumpy())
    assert_close(sums, y.asnumpy().sum(1))
    assert_close(total, x.asnumpy().sum(0))


def test_invalid_arguments_raise() -> None:
    x = np.zeros((3, 2, 12))
    for call, message in [
        (lambda: npx.interleaved_matmul_selfatt_qk(x, 5), r"selfatt_qk: array must have 3 axes, .*, got shape"),
        (lambda: npx.sequence_last(x, axis=2), "sequence_last: axis must be 0 or 1"),
        (lambda: npx.sequence_reverse(x, np.ones(3), True), r"sequence_length must have shape \(2,\), got \(3,\)"),
        (lambda: npx.broadcast_like(x, x, (0,)), "broadcast_like: both axes must be given, or none"),
        (lambda: npx.group_norm(x, x, x, 3), "group_norm: array must have a multiple of 3 channels"),
        (lambda: npx.instance_norm(x[0], x, x), "instance_norm: array must have 3 axes or more"),
        (lambda: npx.batch_norm(x, x, x, x, x, axis=3), "batch_norm: array must have axis 3"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()


# --- layers ---------------------------------------------------------------------------------------


def test_gamma_of_a_batch_norm_without_scale_counts_as_one() -> None:
    x = np.array(RNG.normal(size=(3, 2)))
    layer = initialized(nn.BatchNorm(scale=False, gamma_initializer="zeros"))
    assert (layer(x) == initialized(nn.BatchNorm())(x)).all()
    assert layer.gamma.grad_req == "null"


def test_batch_norm_and_relu() -> None:
    x = normal(4, 3, 2)
    one, two = initialized(nn.BatchNormReLU()), initialized(nn.BatchNorm())
    with autograd.record():
        assert (one(x) == npx.relu(two(x))).all()
    assert one.collect_params().keys() == two.collect_params().keys()


def test_norms_over_devices_are_refused() -> None:
    x = normal(4, 3)
    assert (initialized(nn.SyncBatchNorm(3, num_devices=1))(x) == initialized(nn.BatchNorm())(x)).all()
    with pytest.raises(NotImplementedError, match="SyncBatchNorm: num_devices must be 1, got 2"):
        nn.SyncBatchNorm(num_devices=2)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_pixel_shuffle_positions(axes: int) -> None:
    factors, extents = (2, 3, 1)[:axes], (2, 1, 3)[:axes]
    f, channels = math.prod(factors), 2
    x = RNG.normal(size=(2, f * channels, *extents))
    layer = [nn.PixelShuffle1D, nn.PixelShuffle2D, nn.PixelShuffle3D][axes - 1](factors)
    found = layer(np.array(x, dtype="float64")).asnumpy()
    assert found.shape == (2, channels, *[e * n for e, n in zip(extents, factors)])
    for place in numpy.ndindex(*found.shape):
        b, c, *at = place
        inside = numpy.ravel_multi_index([i % n for i, n in zip(at, factors)], factors)
        assert found[place] == x[(b, c * f + inside, *[i // n for i, n in zip(at, factors)])]


@pytest.mark.parametrize("kind", [nn.DeformableConvolution, nn.ModulatedDeformableConvolution])
def test_deformable_convolution_with_zero_offsets_is_convolution(kind: Any) -> None:
    """Offsets start as zeros, and all places with the weight 1, as in MXNet, whose names the parameters have."""
    layer, plain = kind(4, 3, 2, 1, groups=2, num_deformable_group=2), nn.Conv2D(4, 3, 2, 1, groups=2)
    x = normal(2, 4, 6, 5).astype("float32")
    for one in (layer, plain):
        one.initialize()
        one(x)
    numbers = 36 if kind is nn.DeformableConvolution else 54
    shapes = {name: p.shape for name, p in layer.collect_params().items()}
    assert shapes == {
        "deformable_conv_weight": (4, 2, 3, 3), "deformable_conv_bias": (4,),
        "offset_weight": (numbers, 4, 3, 3), "offset_bias": (numbers,),
    }  # fmt: skip
    plain.weight.set_data(layer.deformable_conv_weight.data())
    assert_close(layer(x), plain(x), 1e-5)
    with autograd.record():
        loss = (layer(x) ** 2).sum()
    loss.backward()
    assert all(np.abs(p.grad()).max() > 0 for p in layer.collect_params().values())


def test_invalid_deformable_convolutions_raise() -> None:
    x, w = np.zeros((1, 4, 5, 5)), np.zeros((2, 4, 3, 3))
    with pytest.raises(ValueError, match=r"deformable_convolution: offset must have shape \(1, 18, 3, 3\), got"):
        npx.deformable_convolution(x, np.zeros((1, 9, 3, 3)), w)
    with pytest.raises(ValueError, match=r"modulated_deformable_convolution: mask must have shape \(1, 9, 3, 3\), got"):
        npx.modulated_deformable_convolution(x, np.zeros((1, 18, 3, 3)), np.zeros((1, 3, 3, 3)), w)
    for more, message in [
        ({"num_group": 2}, "channels must fit 2 groups and 1 of offsets, got"),
        ({"num_deformable_group": 3}, "channels must fit 1 groups and 3 of offsets, got"),
        ({"num_filter": 3}, "weight must have kernel None and 3 filters, got"),
        ({"dilate": 3}, "kernel must fit into the padded data, got"),
    ]:
        with pytest.raises(ValueError, match=message):
            npx.deformable_convolution(x, np.zeros((1, 18, 3, 3)), w, **more)
    with pytest.raises(ValueError, match="DeformableConvolution: channels must be a positive multiple of groups"):
        nn.DeformableConvolution(3, groups=2)


def test_pixels_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"PixelShuffle2D: factor must be 2 positive numbers, got \(1, 2, 3\)"):
        nn.PixelShuffle2D((1, 2, 3))
    with pytest.raises(ValueError, match=r"PixelShuffle2D: data must have a multiple of \(2, 2\) channels, got shape"):
        nn.PixelShuffle2D(2)(np.zeros((1, 6, 2, 2)))
    with pytest.raises(ValueError, match=r"PixelShuffle1D: data must have 3 axes \(batch, channels, ...\), got shape"):
        nn.PixelShuffle1D(2)(np.zeros((4, 2)))


def test_layers_by_their_old_names() -> None:
    assert gluon.contrib.nn.HybridConcurrent is nn.HybridConcatenate
    assert gluon.contrib.nn.PixelShuffle2D is nn.PixelShuffle2D
    assert gluon.contrib.cnn.DeformableConvolution is nn.DeformableConvolution
    assert gluon.contrib.rnn.VariationalDropoutCell is rnn.VariationalDropoutCell


# --- cells around cells ---------------------------------------------------------------------------


def test_zoneout_keeps_elements_of_the_step_before() -> None:
    cell = initialized(rnn.ZoneoutCell(rnn.RNNCell(50, input_size=3), zoneout_outputs=0.5, zoneout_states=0.25))
    x = normal(8, 3).astype("float32")
    states = [np.ones((8, 50))]
    with autograd.train_mode():
        y, (h,) = cell(x, states)
        again, _ = cell(x, states)
    new = cell.base_cell(x, states)[0].asnumpy()
    for found, old, share in ((y, 0, 0.5), (h, 1, 0.25)):
        kept = found.asnumpy() == old
        assert (kept | (found.asnumpy() == new)).all()
        assert abs(kept.mean() - share) < 0.15
    assert ((again == np.array(new)) | (again == y)).all()  # the output before, not 0
    cell.reset()
    assert (cell(x, states)[0] == np.array(new)).all()  # not while predicting


def test_variational_dropout_drops_the_same_in_all_steps() -> None:
    cell = rnn.VariationalDropoutCell(rnn.RNNCell(4, input_size=3), 0.5, 0.5, 0.5)
    cell.initialize()
    with autograd.train_mode():
        ys, _ = cell.unroll(6, np.ones((2, 6, 3)))
        first = cell._masks
        cell(np.ones((2, 3)), [np.ones((2, 4))])
        assert cell._masks is first
        cell.reset()
        cell(np.ones((2, 3)), [np.ones((2, 4))])
        assert cell._masks is not first
    dropped = (ys == 0).asnumpy()
    assert (dropped == dropped[:, :1]).all()
    assert set(first) == {"inputs", "states", "outputs"}


def test_modifier_cells_refuse_invalid_rates() -> None:
    with pytest.raises(ValueError, match=r"ZoneoutCell: zoneout_states must be in \[0, 1\), got 1"):
        rnn.ZoneoutCell(rnn.GRUCell(2), 0, 1)
    with pytest.raises(ValueError, match=r"VariationalDropoutCell: drop_states must be in \[0, 1\), got -0.5"):
        rnn.VariationalDropoutCell(rnn.GRUCell(2), drop_states=-0.5)
    assert isinstance(rnn.ZoneoutCell(rnn.GRUCell(2)), rnn.ModifierCell)
