"""Functions and parameters that only MXNet has, where rows of the table do not reach: errors, draws, sharing, loops."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from scipy import stats

import forerun
from forerun import autograd, np, npx
from tests.support.comparison.tolerances import assert_close

RNG = numpy.random.default_rng(8)


@pytest.fixture(autouse=True)
def seeded() -> None:
    npx.random.seed(5)


# --- random numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 20_000), (20_000, 3)])
def test_classes_are_drawn_by_their_probabilities(shape: tuple[int, int]) -> None:
    """Many draws for few rows, and few draws for many rows, are two ways to do it."""
    weights = numpy.array([[0.0, 2.0, 1.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.0, 0.0, 0.0, 7.0]])
    rows, draws = shape
    prob = weights[numpy.arange(rows) % 3]
    found = npx.random.categorical(np.array(prob), draws)
    assert found.dtype == "int32"
    values = found.asnumpy()
    assert values.shape == shape
    for kind in range(3):
        counts = numpy.bincount(values[kind::3].ravel(), minlength=4)
        expected = weights[kind] / weights[kind].sum() * counts.sum()
        assert (counts[expected == 0] == 0).all()
        if kind < 2:
            assert stats.chisquare(counts[expected > 0], expected[expected > 0]).pvalue > 1e-3


def test_logarithms_of_probabilities_have_gradients() -> None:
    p = np.array([[0.2, 0.8], [0.5, 0.5]], dtype="float64")
    p.attach_grad()
    with autograd.record():
        found, logs = npx.random.multinomial(p, (2, 2), get_prob=True)
        loss = logs.sum()
    loss.backward()
    values, picked = found.asnumpy(), p.asnumpy()
    assert values.shape == logs.shape == (2, 2, 2)
    wanted = numpy.zeros((2, 2))
    for i, classes in enumerate(values.reshape(2, -1)):
        assert_close(logs.asnumpy()[i].ravel(), numpy.log(picked[i, classes]), 1e-12)
        numpy.add.at(wanted[i], classes, 1 / picked[i, classes])
    assert_close(p.grad, wanted, 1e-12)


def test_categorical_of_empty_and_other_shapes() -> None:
    assert npx.random.categorical([0.0, 1.0]).shape == ()
    assert npx.random.categorical(np.ones((0, 3)), 2).asnumpy().shape == (0, 2)
    assert npx.random.categorical(np.ones((2, 3)), 0).asnumpy().shape == (2, 0)
    found, logs = npx.random.categorical(np.ones((0, 3)), 2, get_prob=True)
    assert found.asnumpy().shape == logs.asnumpy().shape == (0, 2)
    assert npx.random.categorical(np.ones((2, 3)), size=(4, 1), dtype="int64").shape == (2, 4, 1)


@pytest.mark.parametrize("logit", [-1.5, 0.0, 2.0])
def test_bernoulli_from_logits(logit: float) -> None:
    share = 1 / (1 + numpy.exp(-logit))
    for given in (logit, np.full(40_000, logit)):
        x = npx.random.bernoulli(logit=given, size=40_000, dtype="int8")
        assert x.dtype == "int8"
        assert abs(x.asnumpy().mean() - share) < 4 * (share * (1 - share) / 40_000) ** 0.5


def test_batches_of_numbers() -> None:
    x = npx.random.normal_n(np.array([0.0, 100.0]), 1.0, batch_shape=(50, 3)).asnumpy()
    assert x.shape == (50, 3, 2)
    assert abs(x[..., 0]).max() < 10
    assert abs(x[..., 1] - 100).max() < 10
    y = npx.random.uniform_n([0.0, 5.0], [[1.0], [6.0]], batch_shape=7, dtype="float64")
    assert (y.shape, y.dtype) == ((7, 2, 2), "float64")
    assert npx.random.normal_n().shape == ()


def test_names_of_parameters_that_mxnet_has() -> None:
    assert np.random.rand(2, dtype="float64").dtype == np.random.randn(2, dtype="float64").dtype == "float64"
    out = np.zeros((2, 3), dtype="int64")
    assert np.random.randint(5, 6, out=out) is out
    assert out.tolist() == [[5] * 3] * 2
    into = np.zeros(4)
    assert npx.random.bernoulli(1.0, out=into) is into
    assert into.tolist() == [1] * 4


# --- norms ----------------------------------------------------------------------------------------


def test_statistics_that_norms_have_used() -> None:
    x, n = np.array(RNG.normal(size=(4, 6, 5)), dtype="float64"), numpy.ones(6)
    values, eps = x.asnumpy(), 1e-3
    running = np.array(n * 3, dtype="float64"), np.array(n * 2, dtype="float64")
    with autograd.train_mode():
        y, mean, rate = npx.batch_norm(x, np.array(n), np.array(n), *running, output_mean_var=True)
    assert_close(mean, values.mean((0, 2)), 1e-12)
    assert_close(rate, 1 / numpy.sqrt(values.var((0, 2)) + eps), 1e-12)
    assert_close(y, (values - values.mean((0, 2), keepdims=True)) * rate.asnumpy()[:, None] + 1, 1e-12)
    y, mean, rate = npx.batch_norm(x, np.array(n), np.array(n), *running, output_mean_var=True)
    assert_close(mean, running[0], 1e-12)
    assert_close(rate, 1 / numpy.sqrt(running[1].asnumpy() + eps), 1e-12)
    mean += 1
    assert not np.shares_memory(mean, running[0])
    y, mean, root = npx.layer_norm(x, np.ones(6), np.zeros(6), axis=1, output_mean_var=True)
    assert_close(mean, values.mean(1, keepdims=True), 1e-12)
    assert_close(root, numpy.sqrt(values.var(1, keepdims=True) + 1e-5), 1e-12)
    assert_close(y, (values - mean.asnumpy()) / root.asnumpy(), 1e-12)
    y, mean, root = npx.group_norm(x, np.ones(6), np.zeros(6), 3, output_mean_var=True)
    assert_close(mean, values.reshape(4, 3, -1).mean(2), 1e-12)
    assert_close(root, numpy.sqrt(values.reshape(4, 3, -1).var(2) + eps), 1e-12)


def test_softmax_of_scalars_and_empty_arrays() -> None:
    assert npx.softmax(np.array(3.0)).item() == 1
    assert npx.log_softmax(np.array(3.0)).item() == 0
    for shape, axis in (((3, 0, 4), 1), ((3, 0, 4), -1), ((0,), 0)):
        x = np.zeros(shape)
        x.attach_grad()
        with autograd.record():
            y = npx.softmax(x, axis)
        y.backward()
        assert y.shape == x.grad.shape == shape
    halves = npx.softmax(np.zeros(2), dtype="float16")
    assert halves.dtype == "float16"
    lengths = np.array([1, 3])
    found = npx.log_softmax(np.zeros((2, 3)), length=lengths, use_length=True).asnumpy()
    assert_close(found, numpy.log([[1, 1e-300, 1e-300], [1 / 3] * 3]) * [[1, numpy.inf, numpy.inf], [1] * 3], rtol=1e-6)


def test_random_slopes_of_rrelu() -> None:
    x = -np.ones(1000)
    with autograd.train_mode():
        drawn = -npx.leaky_relu(x, act_type="rrelu", lower_bound=0.2, upper_bound=0.4).asnumpy()
    assert stats.kstest(drawn, "uniform", (0.2, 0.2)).pvalue > 1e-3
    assert npx.leaky_relu(x, act_type="rrelu", lower_bound=0.25, upper_bound=0.75)[0].item() == -0.5


# --- sharing, loops, boxes ------------------------------------------------------------------------


def test_arrays_of_numpy_are_shared_or_copied() -> None:
    values = numpy.arange(4.0)
    shared = npx.from_numpy(values)
    assert not values.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 9
    shared += 1
    assert (shared.tolist(), values.tolist()) == ([1, 2, 3, 4], [0, 1, 2, 3])
    values = numpy.arange(4.0)
    copied = npx.from_numpy(values, zero_copy=False)
    values[0] = 9
    assert (copied.tolist(), copied.dtype) == ([0, 1, 2, 3], "float64")
    with pytest.raises(TypeError, match="from_numpy: ndarray must be a NumPy array, got list"):
        npx.from_numpy([1])


def test_capsules_keep_their_values() -> None:
    x = np.arange(3)
    capsule = npx.to_dlpack_for_read(x)
    x += 1
    assert npx.from_dlpack(capsule).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="an unused capsule"):
        npx.from_dlpack(capsule)
    assert npx.from_dlpack(numpy.ones(2)).tolist() == [1, 1]


def test_files_of_several_arrays(tmp_path: Path) -> None:
    npx.savez(tmp_path / "x.npz", np.ones(2), b=np.zeros(1))
    forerun.waitall()
    found = npx.load(tmp_path / "x.npz")
    assert {name: a.tolist() for name, a in found.items()} == {"arr_0": [1, 1], "b": [0]}


def test_an_empty_list_is_read_as_an_empty_dict(tmp_path: Path) -> None:
    npx.save(tmp_path / "x.npz", [])
    assert npx.load(tmp_path / "x.npz") == {}  # as its docstring says: there is no name that could tell


def test_gradients_go_through_loops() -> None:
    x = np.array([2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        seen, (_, y) = npx.while_loop(lambda i, y: i < 2, lambda i, y: (y, (i + 1, y * x)), [np.array(0), x], 5)
        (seen.sum() + y.sum()).backward()
    assert seen.shape == (5, 2)
    assert_close(x.grad, 1 + 2 * x.asnumpy() + 3 * x.asnumpy() ** 2, 1e-12)
    assert npx.while_loop(lambda x: x < 0, lambda x: (x, x), np.array(1), 3)[0] == []
    last = npx.while_loop(lambda x: x < 5, lambda x: ([x, -x], x + 1), np.array(3), 2)
    assert [a.tolist() for a in last[0]] == [[3, 4], [-3, -4]]
    assert last[1].item() == 5
    assert npx.cond(lambda x: x.sum() > 9, lambda x: x, lambda x: -x, x).tolist() == [-2, -3]


def test_hard_negatives_alone_are_learnt() -> None:
    anchors = np.array([[[0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0], [0.5, 0.0, 1.0, 0.5], [0.0, 0.5, 0.5, 1.0]]])
    labels = np.array([[[0, 0.0, 0.0, 0.5, 0.5]]])
    scores = np.array([[[0.0, 0.0, 3.0, -3.0], [0.0, 0.0, 0.0, 0.0]]])
    find = lambda **options: npx.multibox_target(anchors, labels, scores, **options)[2].tolist()
    assert find() == [[1, 0, 0, 0]]
    assert find(negative_mining_ratio=1.0) == [[1, -1, -1, 0]]
    assert find(negative_mining_ratio=2.0, ignore_label=-7.0) == [[1, 0, -7, 0]]
    assert find(negative_mining_ratio=0.1, minimum_negative_samples=3) == [[1, 0, 0, 0]]


def test_failed_constraints_raise_at_the_read() -> None:
    x = np.array([1.0, -1.0])
    held = npx.constraint_check(x > 0, "x must be positive")
    with pytest.raises(ValueError, match="constraint_check: x must be positive"):
        held.item()
    assert npx.constraint_check(x < 2).item() is True


def test_old_names_are_aliases() -> None:
    assert (np.NaN != np.NAN, np.PINF, np.NINF) == (True, numpy.inf, -numpy.inf)
    assert np.round_ is np.round
    assert np.alltrue is np.all
    assert np.sometrue is np.any
    assert np.product is np.prod
    assert np.trapz is np.trapezoid


def test_methods_that_only_mxnet_has() -> None:
    x = np.arange(6).reshape(2, 3)
    view = x.reshape_view(3, 2)
    view[0, 0] = 9
    assert x[0].tolist() == [9, 1, 2]
    with pytest.raises(ValueError, match="reshape_view: memory must allow a view"):
        x.T.reshape_view(6)
    assert x.slice_assign(np.zeros((2, 1)), (None, 1), (None, 2)) is x
    assert x.slice_assign_scalar(7, (0, None), (1, None), (None, 2)).tolist() == [[7, 0, 7], [3, 0, 5]]


WRONG: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: npx.add_n(x, x[0]), ValueError, r"add_n: arrays must have one shape, got \(2, 3\), \(3,\)"),
    (lambda x: npx.add_n(), ValueError, "add_n: arrays must have one shape, got none"),
    (lambda x: npx.slice_like(x, x[0]), ValueError, "slice_like: arrays must have as many axes"),
    (lambda x: npx.slice_like(x[:1], x), ValueError, "slice_like: shape_like must not be larger"),
    (lambda x: npx.batch_take(x, [0]), ValueError, "batch_take: there must be one position for each row"),
    (lambda x: npx.depth_to_space(x, 2), ValueError, "depth_to_space: shape must have 4 axes"),
    (lambda x: npx.space_to_depth(x, 2), ValueError, "space_to_depth: shape must have 4 axes"),
    (lambda x: npx.khatri_rao(x, x.T), ValueError, "khatri_rao: matrices must have as many columns"),
    (lambda x: npx.multi_all_finite(x, num_arrays=2), ValueError, "multi_all_finite: there must be 2 arrays, got 1"),
    (lambda x: npx.all_finite(x, init_output=False), NotImplementedError, "init_output must be True"),
    (lambda x: npx.amp_multicast(x, num_outputs=2), ValueError, "num_outputs must be the number of arrays"),
    (lambda x: npx.box_iou(x, x), ValueError, r"box_iou: boxes must be of 4 numbers, got shape \(2, 3\)"),
    (lambda x: npx.box_encode(x, x, x, x), ValueError, "box_encode: boxes must be of 4 numbers"),
    (lambda x: npx.box_nms(x), ValueError, "box_nms: boxes must have score and coordinates"),
    (lambda x: npx.box_nms(x, in_format="x"), ValueError, "box_nms: in_format must be one of corner, center, got 'x'"),
    (lambda x: npx.bipartite_matching(x), ValueError, "bipartite_matching: there must be matrices and a threshold"),
    (lambda x: npx.multibox_target(x, x, x), ValueError, "multibox_target: shapes must be"),
    (lambda x: npx.multibox_detection(x, x, x), ValueError, "multibox_detection: shapes must be"),
    (lambda x: npx.roi_align(x, x, 2, 1.0), ValueError, "roi_align: shapes must be"),
    (lambda x: npx.roi_align(x[None, None], [[1, 0, 0, 1, 1]], 2, 1.0).tolist(), IndexError, "one of 1 images, got 1"),
    (lambda x: npx.roi_align(x, x, 2, 1.0, 2, True), NotImplementedError, "position_sensitive must be False"),
    (lambda x: npx.while_loop(bool, lambda x: (x, x), x), ValueError, "max_iterations must not be negative, got None"),
    (lambda x: npx.while_loop(bool, abs, [], 3), ValueError, "while_loop: loop_vars must not be empty"),
    (lambda x: npx.while_loop(lambda x: True, lambda x: (x, []), [x], 3), ValueError, "func must give 1 loop_vars"),
    (lambda x: npx.random.categorical(x, 2, size=2), ValueError, "shape and size must not both be given"),
    (lambda x: npx.random.categorical(np.zeros((2, 0))), ValueError, "prob must have classes along its last axis"),
    (lambda x: npx.random.categorical(-abs(x)).tolist(), ValueError, "categorical: prob must not be negative, got -"),
    (lambda x: npx.random.categorical(0 * x).tolist(), ValueError, "prob must have positive sums, got 0.0"),
    (lambda x: npx.random.bernoulli(0.5, 0.5), ValueError, "prob and logit must not both be given"),
    (lambda x: npx.random.seed(1, "cpu"), ValueError, 'seed: device must be "all"'),
    (lambda x: npx.leaky_relu(x, act_type="x"), ValueError, "leaky_relu: act_type must be one of elu, gelu"),
    (lambda x: npx.leaky_relu(x, act_type="prelu"), ValueError, "leaky_relu: gamma must be given for prelu"),
    (lambda x: npx.softmax(x, length=[1, 1]), ValueError, "softmax: use_length must be True with length"),
    (lambda x: npx.softmax(x, use_length=True), ValueError, "softmax: use_length must be True with length"),
    (lambda x: npx.softmax(x, length=[1], use_length=True), ValueError, "length must have x's shape without axis 1"),
    (lambda x: npx.l2_normalization(x, mode="x"), ValueError, "l2_normalization: mode must be one of"),
    (lambda x: npx.l2_normalization(x[0], mode="channel"), ValueError, "array must have more axes for 'channel'"),
    (lambda x: npx.broadcast_like(x, x, (0, 1), 1), ValueError, "broadcast_like: axes must be as many"),
    (lambda x: npx.image.to_tensor(x), ValueError, "to_tensor: image must have 3 axes, or 4 as a batch"),
    (lambda x: npx.image.normalize(x[None], [1, 2]), ValueError, "mean and std must have 1 elements, or one, got"),
    (lambda x: npx.image.normalize(x[None].astype("int8")), TypeError, "normalize: image must be of floats, got int8"),
    (lambda x: npx.image.crop(x[None], 1, 0, 2, 2), ValueError, "crop: crop must be inside"),
    (lambda x: npx.image.random_crop(x[None]), ValueError, "random_crop: width and height must be positive"),
    (lambda x: npx.image.random_hue(x, 0, 1), ValueError, "random_hue: image must have 3 axes"),
    (lambda x: npx.image.random_hue(x[None, ..., None], 0, 1), ValueError, "random_hue: image must have 3 channels"),
    (lambda x: npx.image.random_contrast(x[None], 2, 1), ValueError, "min_factor must be at most max_factor"),
    (lambda x: npx.image.random_color_jitter(x[None], -1), ValueError, "amounts must not be negative"),
    (lambda x: npx.image.adjust_lighting(x[None], 1.0), ValueError, "adjust_lighting: alpha must be three numbers"),
    (lambda x: npx.image.resize(x[None], 0), ValueError, "resize: image and sizes must not be empty"),
    (lambda x: np.broadcast_to(x, (-2, 2, 3)), ValueError, "broadcast_to: an extent of -2 must stand for an axis"),
    (lambda x: np.linalg.norm(x[0], "nan"), ValueError, "norm: ord of vectors must be a number, got 'nan'"),
    (lambda x: np.linalg.matrix_norm(x, axis=(0,)), ValueError, "matrix_norm: there must be two axes"),
    (lambda x: np.full((2,), 1, out=x), ValueError, "full: out must have shape"),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG, ids=lambda v: v if isinstance(v, str) else "")
def test_invalid_arguments_raise(call: Callable[[Any], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(np.array(RNG.normal(size=(2, 3)), dtype="float64"))
