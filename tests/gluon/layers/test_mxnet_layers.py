"""Layers and cells that only MXNet has: names, errors, and other layers as their special cases."""

import math
from typing import Any

import numpy
import pytest

from forerun import autograd, gluon, np, npx
from forerun.gluon import nn, rnn
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import initialized, random_leaf

RNG = numpy.random.default_rng(5)


def test_gamma_of_a_batch_norm_without_scale_counts_as_one() -> None:
    x = np.array(RNG.normal(size=(3, 2)))
    layer = initialized(nn.BatchNorm(scale=False, gamma_initializer="zeros"))
    assert (layer(x) == initialized(nn.BatchNorm())(x)).all()
    assert layer.gamma.grad_req == "null"


def test_batch_norm_and_relu() -> None:
    x = random_leaf(4, 3, 2)
    one, two = initialized(nn.BatchNormReLU()), initialized(nn.BatchNorm())
    with autograd.record():
        assert (one(x) == npx.relu(two(x))).all()
    assert one.collect_params().keys() == two.collect_params().keys()


def test_norms_over_devices_are_refused() -> None:
    x = random_leaf(4, 3)
    assert (initialized(nn.SyncBatchNorm(3, num_devices=1))(x) == initialized(nn.BatchNorm())(x)).all()
    with pytest.raises(NotImplementedError, match="SyncBatchNorm: num_devices must be 1, got 2"):
        nn.SyncBatchNorm(num_devices=2)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_pixels_are_where_they_belong(axes: int) -> None:
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
def test_convolutions_that_are_not_bent_yet_are_plain(kind: Any) -> None:
    """Offsets start as zeros, and all places with the weight 1, as in MXNet, whose names the parameters have."""
    layer, plain = kind(4, 3, 2, 1, groups=2, num_deformable_group=2), nn.Conv2D(4, 3, 2, 1, groups=2)
    x = random_leaf(2, 4, 6, 5).astype("float32")
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


def test_convolutions_that_cannot_be_bent() -> None:
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
    x = random_leaf(8, 3).astype("float32")
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


def test_cells_around_cells_refuse_shares_that_are_none() -> None:
    with pytest.raises(ValueError, match=r"ZoneoutCell: zoneout_states must be in \[0, 1\), got 1"):
        rnn.ZoneoutCell(rnn.GRUCell(2), 0, 1)
    with pytest.raises(ValueError, match=r"VariationalDropoutCell: drop_states must be in \[0, 1\), got -0.5"):
        rnn.VariationalDropoutCell(rnn.GRUCell(2), drop_states=-0.5)
    assert isinstance(rnn.ZoneoutCell(rnn.GRUCell(2)), rnn.ModifierCell)
