"""Arrays on GPUs as values: how they get there and back, into files, to other libraries, and on to another device."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, d2l, np, npx, safetensors, torch
from forerun._pjrt.plugins import platform_of
from tests.support.device_plugins.devices import NAME, gpus, words_of
from tests.support.device_plugins.plugins import FILES, plugin_file


@pytest.fixture
def one() -> forerun.Device:
    return gpus()[0]


@pytest.fixture
def two() -> forerun.Device:
    return gpus()[1]


@pytest.fixture
def x(one: forerun.Device) -> Any:
    return np.arange(12.0, device=one).reshape(3, 4)


VALUES = numpy.arange(12.0, dtype="float32").reshape(3, 4)


class TestReading:
    def test_as_numpy(self, x: Any) -> None:
        numpy.testing.assert_array_equal(x.numpy(), VALUES)
        numpy.testing.assert_array_equal(x.asnumpy()[1:, ::2], x[1:, ::2].numpy())
        numpy.testing.assert_array_equal(numpy.asarray(x.T), VALUES.T)

    def test_as_text(self, x: Any) -> None:
        assert str(x[0]) == "[0. 1. 2. 3.]"
        assert repr(x[0]) == "array([0., 1., 2., 3.], device=gpu(0))"

    def test_as_numbers(self, x: Any) -> None:
        assert (x[1, 1].item(), float(x[0, 1]), int(x[2, 3]), bool(x[0, 0] > 0), len(x)) == (5.0, 1.0, 11, False, 3)
        assert [v.item() for v in x[0]] == x[0].tolist() == [0.0, 1.0, 2.0, 3.0]
        assert [row.device for row in x] == [x.device] * 3

    def test_data_dependent_shapes(self, x: Any, one: forerun.Device) -> None:
        assert x[x > 8].tolist() == [9.0, 10.0, 11.0]
        assert [i.tolist() for i in np.nonzero(x > 9)] == [[2, 2], [2, 3]]
        assert x[x > 8].device == one


class TestCopies:
    def test_to_another_device(self, x: Any, one: forerun.Device, two: forerun.Device) -> None:
        for there in (npx.cpu(0), npx.cpu(1), two):
            y = x.as_in_ctx(there)
            assert y.device == there
            numpy.testing.assert_array_equal(y.numpy(), VALUES)
            numpy.testing.assert_array_equal(y.to_device(one).numpy(), VALUES)
        assert x.as_in_ctx(one) is x
        assert x.to_device("gpu:1").device == two

    def test_into_an_array(self, x: Any, two: forerun.Device) -> None:
        for there in (npx.cpu(0), two, x.device):
            y = np.zeros((3, 4), device=there)
            assert x.copyto(y) is y
            y[1] = x[0]
            y[2, ::2] = np.array([7.0, 8.0])  # of the host
            numpy.testing.assert_array_equal(y.numpy(), [[0, 1, 2, 3], [0, 1, 2, 3], [7, 9, 8, 11]])
            x.T.copyto(z := np.zeros((4, 3), device=there))
            numpy.testing.assert_array_equal(z.numpy(), VALUES.T)

    def test_copies_stay_on_their_device(self, x: Any) -> None:
        for y in (x.copy(), copy.copy(x), copy.deepcopy(x), np.array(x)):
            assert y.device == x.device
            y += 1
            numpy.testing.assert_array_equal(y.numpy(), VALUES + 1)
        numpy.testing.assert_array_equal(x.numpy(), VALUES)
        assert np.array(x, device="cpu").device == npx.cpu(0)


class TestFiles:
    def test_pickle(self, x: Any) -> None:
        y = pickle.loads(pickle.dumps(x))
        assert y.device == x.device
        numpy.testing.assert_array_equal(y.numpy(), VALUES)

    def test_pickle_for_a_process_without_gpus(self, x: Any, tmp_path: Path) -> None:
        (tmp_path / "x.pickle").write_bytes(pickle.dumps(x))
        program = f"import pickle, pathlib; y = pickle.loads(pathlib.Path({str(tmp_path / 'x.pickle')!r}).read_bytes())"
        assert words_of(f"{program}; print(y.device, y.sum())") == ["cpu(0)", "66.0"]

    @pytest.mark.parametrize("save", [np.save, lambda f, x: np.savez(f, x=x), lambda f, x: npx.save(f, {"x": x})])
    def test_numpys_files(self, save: Callable[..., Any], x: Any, tmp_path: Path) -> None:
        name = str(tmp_path / "x.npy") if save is np.save else str(tmp_path / "x.npz")
        save(name, x)
        for there in (npx.cpu(0), x.device):
            with there:
                found: Any = np.load(name)
                y = found if save is np.save else found["x"]
                assert y.device == there
                numpy.testing.assert_array_equal(y.numpy(), VALUES)

    def test_safetensors(self, x: Any, tmp_path: Path) -> None:
        safetensors.save_file({"x": x}, tmp_path / "x.safetensors")
        y = safetensors.load_file(tmp_path / "x.safetensors", device="gpu:1")["x"]
        assert y.device == gpus()[1]
        numpy.testing.assert_array_equal(y.numpy(), VALUES)


class TestDlpack:
    def test_device(self, x: Any, two: forerun.Device) -> None:
        kind = {"cuda": 2, "rocm": 10}.get(platform_of(plugin_file(NAME)), 12)  # 12: DLPack has no number for it
        assert x.__dlpack_device__() == (kind, 0)
        assert np.ones(2, device=two).__dlpack_device__() == (kind, 1)
        assert np.ones(2).__dlpack_device__() == (1, 0)

    def test_memory_is_not_shared(self, x: Any) -> None:
        for asked in ({}, {"stream": 1}, {"copy": False}, {"dl_device": (1, 0), "copy": False}):
            with pytest.raises(BufferError, match=r"__dlpack__: the memory of gpu\(0\) cannot be shared"):
                x.__dlpack__(**asked)

    def test_a_copy_on_the_host(self, x: Any) -> None:
        y = numpy.from_dlpack(x, device="cpu", copy=None)
        numpy.testing.assert_array_equal(y, VALUES)
        numpy.testing.assert_array_equal(np.from_dlpack(x).numpy(), VALUES)
        assert np.from_dlpack(x, device="cpu").device == npx.cpu(0)

    def test_import_to_a_gpu_copies(self, one: forerun.Device) -> None:
        y = np.from_dlpack(VALUES, device=one)
        assert y.device == one
        numpy.testing.assert_array_equal(y.numpy(), VALUES)


class TestRandom:
    @pytest.mark.parametrize(
        "draw",
        [
            lambda: np.random.uniform(size=1000), lambda: np.random.normal(size=(10, 11)),
            lambda: np.random.randint(0, 1000, size=100), lambda: np.random.permutation(100),
            lambda: np.random.choice(10, size=20), lambda: np.random.gamma(2.0, size=10),
        ],
    )  # fmt: skip
    def test_the_numbers_of_the_cpu(self, draw: Callable[[], Any], one: forerun.Device) -> None:
        npx.random.seed(3)
        here = draw()
        npx.random.seed(3)
        with one:
            there = draw()
        assert there.device == one
        numpy.testing.assert_array_equal(here.numpy(), there.numpy())


class TestNames:
    def test_of_torch(self, one: forerun.Device, two: forerun.Device) -> None:
        assert (torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.current_device()) == (True, 2, 0)
        with two:
            assert torch.cuda.current_device() == 1
        x: Any = torch.ones(3, device="cuda:1")
        assert (x.device, x.is_cuda, x.cpu().is_cuda, x.cpu().cuda().device) == (two, True, False, one)
        assert (x.to("cpu").device, torch.ones(2).to("cuda:1").device, x.cuda(0).device) == (npx.cpu(0), two, one)
        assert torch.cuda.get_device_name(0) == "cpu" or NAME not in FILES
        torch.cuda.synchronize()
        torch.cuda.synchronize("cuda:1")
        before = torch.cuda.memory_allocated(0)
        kept: Any = torch.ones(1000, device="cuda")
        torch.cuda.synchronize()
        assert torch.cuda.memory_allocated() == before + 4000 == torch.cuda.memory_allocated("cuda:0")
        assert torch.cuda.max_memory_allocated() >= kept.nbytes
        if NAME in FILES:
            with pytest.raises(RuntimeError, match=r"cuda.mem_get_info: the plugin must count the memory of gpu\(1\)"):
                torch.cuda.mem_get_info(1)
        else:
            free, whole = torch.cuda.mem_get_info(1)
            assert 0 < free <= whole

    def test_of_mxnet_and_the_book(self, one: forerun.Device, two: forerun.Device) -> None:
        program = """
forerun.install_as_mxnet()
import mxnet as mx
print(mx.gpu(1), mx.context.num_gpus(), mx.np.ones(3, ctx=mx.gpu(1)).ctx)
"""
        assert words_of(program) == ["gpu(1)", "2", "gpu(1)"]
        assert (d2l.try_gpu(), d2l.try_gpu(1), d2l.try_gpu(2)) == (one, two, npx.cpu(0))
        assert d2l.try_all_gpus() == [one, two]


def test_memory_of_each_device(one: forerun.Device, two: forerun.Device) -> None:
    before = [forerun.memory(device)["live"] for device in (one, two, npx.cpu(0))]
    x = np.ones((100, 100), device=two)
    x.wait()
    after = [forerun.memory(device)["live"] for device in (one, two, npx.cpu(0))]
    assert [b - a for a, b in zip(before, after)] == [0, 40000, 0]


def test_indices_of_uint64_are_taken_for_int64() -> None:
    one = gpus(1)[0]
    x = np.arange(4, device=one)
    last = np.array(numpy.array([2**64 - 1], "uint64"), device=one)
    assert x[last].tolist() == np.take(x, last).tolist() == [3]
    x[last] = 7
    assert x.tolist() == [0, 1, 2, 7]


def test_one_window_of_a_pool_may_have_any_step() -> None:
    """A step beyond the array must not spread the gradient past the window."""
    for pool in ("avg", "max"):
        x = np.arange(18.0, device=gpus(1)[0]).reshape(1, 1, 2, 9)
        x.attach_grad()
        with autograd.record():
            y = npx.pooling(x, (2, 3), stride=2**40, pool_type=pool)
        y.backward()
        assert y.shape == (1, 1, 1, 1)
        assert x.grad.sum().item() == 1
        assert (x.grad[..., 3:] == 0).all().item()


def test_writing_a_bool_keeps_neighbouring_bytes() -> None:
    x = np.array([0, 2, 0], "uint8", device=gpus(1)[0])
    x.view("bool")[0] = True
    assert x.tolist() == [1, 2, 0]
