"""GPUs as the program names them: how they are found, and where arrays are."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

import forerun
from forerun import np, npx
from forerun._runtime import device
from tests.support.device_plugins.devices import NAME, execute_on_plugin, gpus, words_of
from tests.support.device_plugins.plugins import plugin_file
from tests.support.processes.subprocesses import execute, output


class TestFinding:
    def test_plugins_are_loaded_on_first_use_of_a_gpu(self) -> None:
        program = f"""
import sys; from pathlib import Path
x = (np.ones(3) + 1).numpy()
def loaded():
    return any("_pjrt" in m for m in sys.modules), {plugin_file(NAME).name!r} in Path("/proc/self/maps").read_text()
print(*loaded(), forerun.gpu(0)); forerun.num_gpus(); print(*loaded())
"""
        assert words_of(program) == ["False", "False", "gpu(0)", "True", "True"]

    def test_number_of_gpus(self) -> None:
        assert words_of("print(forerun.num_gpus(), forerun.npx.num_gpus())") == ["2", "2"]

    def test_num_gpus_without_plugins_is_zero(self) -> None:
        assert output("print(forerun.num_gpus())", FORERUN_PJRT="off") == ["0"]
        done = execute("np.ones(3, device='gpu:0')", FORERUN_PJRT="off")
        assert "got gpu(0), and there is no GPU: plugins are turned off" in done.stderr

    @pytest.mark.parametrize(
        ("files", "advice"),
        [
            (
                [],
                'no plugin of a GPU is installed; a GPU needs its driver and the plugin of its vendor: `pip install "',
            ),
            (["/dev/kfd"], 'the driver has made /dev/kfd, so `pip install "forerun[rocm]"` installs the plugin of'),
            (["/dev/kfd", "/dev/nvidiactl"], 'the driver has made /dev/nvidiactl, so `pip install "forerun[cuda]"`'),
        ],
    )
    def test_a_gpu_without_a_plugin_raises_and_names_the_plugin(
        self, files: list[str], advice: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(device, "_gpus", list)
        monkeypatch.setattr(device._found, "reasons", [])
        monkeypatch.setattr("os.path.exists", files.__contains__)
        with pytest.raises(ValueError, match=r"must be one of cpu\(0\) to cpu\(63\), got gpu\(64\), and") as raised:
            _ = device.Device("gpu", 64).index
        assert advice in str(raised.value)

    def test_a_plugin_without_a_driver_raises(self, tmp_path: Path) -> None:
        file = tmp_path / "xla_cuda_plugin.so"
        file.touch()
        program = """
import ctypes
from forerun._pjrt import plugins
def missing(name, **how):
    raise OSError(name)
plugins.ctypes.CDLL = missing
print(forerun.num_gpus(), plugins.accelerators()[FILE]["devices"])
np.ones(3, device="gpu:0")
"""
        done = execute(program.replace("FILE", repr(str(file))), FORERUN_PJRT=str(file))
        reason = "none found: NVIDIA's driver must be installed, got no libcuda.so.1"
        assert done.stdout.strip() == f"0 {reason}"
        assert f"and there is no GPU: the devices of the plugin {file}: {reason}" in done.stderr

    def test_gpus_of_two_plugins_are_numbered_through(self) -> None:
        both = f"{plugin_file(NAME)},{plugin_file('xla-cpu-pjrt')}"
        program = "x = np.ones(3, device='gpu:3'); print(forerun.num_gpus(), x.device, x.copyto(forerun.gpu(0)).sum())"
        done = execute(program, FORERUN_PJRT=both, FORERUN_MODULE_CACHE="")
        assert done.stdout.split() == ["4", "gpu(3)", "3.0"], done.stderr

    def test_invalid_plugin_file_raises(self, tmp_path: Path) -> None:
        file = tmp_path / "plugin.so"
        file.write_text("text")
        done = execute("forerun.num_gpus()", FORERUN_PJRT=str(file))
        assert done.returncode == 1
        assert f"the plugin {file} must be a shared library that can be loaded" in done.stderr

    def test_a_file_that_does_not_exist(self) -> None:
        done = execute("np.ones(3, device='gpu:0')", FORERUN_PJRT="/no/such.so")
        assert """must be "auto", "off" or the files of plugins, got '/no/such.so'""" in done.stderr

    def test_plugin_settings_cannot_change_after_opening(self) -> None:
        gpus()
        with pytest.raises(RuntimeError, match="pjrt must be set before the first use of a GPU, got 'off'"):
            forerun.configure(pjrt="off")
        forerun.configure(gpu_memory=forerun.config()["gpu_memory"])

    @pytest.mark.parametrize(
        "setting", [{"gpu_memory": 0.0}, {"gpu_memory": 1.5}, {"gpu_preallocate": 1}, {"pjrt": 3}, {"module_cache": 3}]
    )
    def test_settings_out_of_range(self, setting: dict[str, object]) -> None:
        with pytest.raises((ValueError, TypeError, RuntimeError), match=f"configure: {next(iter(setting))} must be"):
            forerun.configure(**setting)  # type: ignore[arg-type]

    def test_modules_are_kept_in_the_users_cache(self, tmp_path: Path) -> None:
        program = "print((np.ones(3, device='gpu:0') * 2).sum())"
        done = execute(program, FORERUN_PJRT=str(plugin_file(NAME)), XDG_CACHE_HOME=str(tmp_path))
        assert done.stdout.split() == ["6.0"], done.stderr
        assert any(path.is_file() for path in (tmp_path / "forerun" / "modules").rglob("*"))


class TestPlace:
    def test_arrays_are_on_the_named_device(self) -> None:
        one, two = gpus()
        assert (np.ones(3, device="gpu:0").device, np.ones(3, device="cuda:1").device) == (one, two)
        assert npx.gpu(1).index == npx.gpu(0).index + 1
        assert repr(np.zeros(2, ctx=two).device) == "gpu(1)"

    def test_the_current_device(self) -> None:
        one, two = gpus()
        with one:
            x = np.arange(3.0)
            with two:
                y = np.array([1.0, 2.0])
            assert npx.current_device() == one
        assert (x.device, y.device, np.ones(1).device) == (one, two, npx.cpu(0))
        numpy.testing.assert_array_equal(x.numpy(), [0, 1, 2])
        numpy.testing.assert_array_equal(y.numpy(), [1, 2])

    def test_gpus_that_do_not_exist(self) -> None:
        n = len(gpus())
        for bad in (npx.gpu(n), npx.gpu(-1), "gpu:64"):
            with pytest.raises(ValueError, match=rf"device: must be one of cpu\(0\) .* or gpu\(0\) to gpu\({n - 1}\)"):
                np.ones(2, device=bad)
        with pytest.raises(ValueError, match=r"device: must be one of .*, got xpu"):
            np.ones(2, device="xpu:0")
        with pytest.raises(ValueError, match=r"device: must be .* got 'gpu:x'"):
            np.ones(2, device="gpu:x")

    def test_arrays_of_two_devices_in_one_operation(self) -> None:
        one, two = gpus()
        x = np.ones(3, device=one)
        with pytest.raises(ValueError, match=r"add: arrays must be on one device, got gpu\(0\) and gpu\(1\)"):
            x + np.ones(3, device=two)
        with pytest.raises(ValueError, match=r"add: arrays must be on one device, got cpu\(0\) and gpu\(0\)"):
            np.ones(3) + x
        assert (x + numpy.ones(3, "float32")).device == one


def test_a_program_with_gpus_exits_without_messages() -> None:
    done = execute_on_plugin("x = np.ones((50, 50), device='gpu:1')\nfor _ in range(50): x = x @ x * 0.01\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
