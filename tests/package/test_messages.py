"""Mistakes that newcomers make: messages name the mistake in the caller's terms, and the remedy."""

from __future__ import annotations

import pytest

import forerun
from forerun import autograd, gluon, np, optimizer
from forerun.gluon import nn
from tests.support.processes.subprocesses import execute


def twice():
    x = np.ones(2)
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    y.backward()


def leaf_in_place():
    x = np.ones(2)
    x.attach_grad()
    with autograd.record():
        x += 1


def wrong_width():
    layer = nn.Dense(3, in_units=4)
    layer.initialize()
    layer(np.ones((3, 5)))


def wrong_labels(**settings):
    gluon.loss.SoftmaxCrossEntropyLoss(**settings)(np.ones((2, 3)), np.ones(3))


MISTAKES = [
    (wrong_width, ValueError, r"Dense: the input must have in_units = 4 features, got 5: shape \(3, 5\)"),
    (wrong_labels, ValueError,
     r"SoftmaxCrossEntropyLoss: label must have pred's shape without axis -1, got label \(3,\)"),
    (lambda: wrong_labels(from_logits=True), ValueError, "label must have pred's shape"),
    (lambda: np.concatenate([np.ones((2, 3)), np.ones((3, 4))]), ValueError,
     r"concatenate: arrays must have equal extents along axis 1, got \(2, 3\) and \(3, 4\)"),
    (lambda: np.concatenate([np.ones((2, 3)), np.ones(3)]), ValueError,
     r"concatenate: arrays must have as many axes as each other, got \(2, 3\) and \(3,\)"),
    (lambda: np.ones(3) & 1, TypeError,
     "bitwise_and: no loop for dtype, got float32; it is defined for bools, integers$"),
    (lambda: np.ones(3, bool) - np.ones(3, bool), TypeError, "defined for integers, floats, complex numbers"),
    (lambda: bool(np.ones(3)), ValueError, r"exactly one element, got shape \(3,\); any\(\) and all\(\) give one"),
    (lambda: float(np.ones(3)), TypeError, r"exactly one element, got shape \(3,\)$"),
    (leaf_in_place, RuntimeError, r"while recording; write x = x \+ 1 in place of x \+= 1"),
    (twice, RuntimeError, "graph of .* must not have been freed: .* pass retain_graph=True"),
    (lambda: np.zeros((10**7, 10**6)), MemoryError, r"^zeros: array must fit into memory, asked for 36.4 TiB with"),
    (lambda: np.zeros((10**7, 10**6), order="F"), MemoryError, r"^zeros: .* 36.4 TiB"),
    (lambda: np.ones((10**7, 10**6)), MemoryError, "^ones: array must fit into memory"),
    (lambda: np.full((10**7, 10**6), 2), MemoryError, "^full: array must fit into memory"),
    (lambda: np.zeros(3.0), TypeError, "zeros: shape must be an integer or a sequence of integers, got 3.0"),
    (lambda: np.full(3.0, 1), TypeError, "full: shape must be an integer or a sequence of integers, got 3.0"),
    (lambda: np.ma, AttributeError, "numpy.ma exists, and takes forerun's arrays"),
    (lambda: np.onse, AttributeError, "module 'forerun.np' has no attribute 'onse'; did you mean 'ones'\\?$"),
    (lambda: np.errstate(all="raise"), NotImplementedError, r"got 'raise': .* np.isfinite\(x\).all\(\) finds"),
    (lambda: np.sum(i for i in range(3)), TypeError, r"values must be .*, got an iterator: pass list\(values\)"),
    (lambda: forerun.torch.compile, AttributeError, "operations are fused as they are issued"),
    (lambda: forerun.torch.hypot2, AttributeError, "module 'forerun.torch' has no attribute 'hypot2'$"),
    (lambda: optimizer.create("sgd", lr=0.1), TypeError, "SGD: .* 'lr'; it is called learning_rate here"),
    (lambda: optimizer.Adam(learnin_rate=1), TypeError, "'learnin_rate'; did you mean 'learning_rate'[?]$"),
    (lambda: optimizer.Adam(beta_1=0.5), TypeError, "Adam: got an unknown option 'beta_1'; did you mean 'beta1'[?]$"),
    (lambda: optimizer.Adam(speed=1), TypeError, "Adam: got an unknown option 'speed'$"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "error", "message"), MISTAKES)
def test_a_message_names_the_remedy(mistake, error, message):
    with pytest.raises(error, match=message):
        mistake()


def test_a_view_of_other_extents_is_a_reshape():
    done = execute("np.ones(12).view(4, 3)\n")
    assert "view: must be given a dtype, as in NumPy, got 4, 3: write x.reshape(4, 3)" in done.stderr
    assert "NumpyMethods" not in done.stderr


@pytest.mark.parametrize("program", ["np.linspac", "forerun.waital", "forerun.torch.sigmod"])
def test_a_misspelt_name_has_a_suggestion(program):
    assert "Did you mean: '" in execute(program + "\n").stderr


class TestEnvironment:
    @pytest.mark.parametrize(
        ("text", "size"), [("20GiB", 20 << 30), ("64 MB", 64 << 20), ("2k", 2048), ("512B", 512), ("7", 7)]
    )
    def test_sizes_as_they_are_printed(self, text, size):
        done = execute("print(forerun.config()['memory_budget'])\n", FORERUN_MEMORY_BUDGET=text)
        assert done.stdout == f"{size}\n"

    def test_no_size(self):
        done = execute("", FORERUN_MEMORY_BUDGET="much")
        assert "FORERUN_MEMORY_BUDGET: must be a size such as 512M or 2GiB, got 'much'" in done.stderr

    def test_a_misspelt_setting(self):
        done = execute("print('done')\n", FORERUN_WORKRS="2", FORERUN_PLUGIN_OF_MINE="1")
        assert "FORERUN_WORKRS in the environment is not a setting: did you mean FORERUN_WORKERS?" in done.stderr
        assert "MINE" not in done.stderr
