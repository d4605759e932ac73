"""Plugins are found by their files, and described by `forerun info`."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from forerun._pjrt import plugins
from forerun._pjrt.plugins import accelerators, client_options, platform_of, plugin_files
from tests.support.device_plugins.plugins import plugin_file


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that Python imports from."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delenv("FORERUN_PJRT", raising=False)
    return tmp_path


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return path


def test_packages_are_found_without_being_imported(site: Path) -> None:
    cuda = touch(site / "jax_plugins" / "xla_cuda13" / "xla_cuda_plugin.so")
    (cuda.parent / "__init__.py").write_text("raise RuntimeError")
    tpu = touch(site / "libtpu" / "libtpu.so")
    touch(cuda.parent / "_solver.so")
    touch(site / "xla_plugins" / "xla_cpu_pjrt" / "xla_cpu_pjrt.so")  # a processor is not an accelerator
    assert plugin_files() == [cuda, tpu]
    assert plugin_files("off") == []
    assert not any(name.startswith("jax_plugins") for name in sys.modules)


def test_packages_of_entry_points_are_found(site: Path) -> None:
    rocm = touch(site / "elsewhere" / "xla_rocm_plugin.so")
    facts = site / "some_rocm-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: some-rocm\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[jax_plugins]\nrocm = elsewhere\n")
    (facts / "RECORD").write_text("elsewhere/xla_rocm_plugin.so,,\n")
    assert plugin_files() == [rocm]


def test_files_may_be_named(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = touch(site / "a_cpu.so"), touch(site / "b.so")
    monkeypatch.setenv("FORERUN_PJRT", f"{one}, {two}")
    assert plugin_files() == [one, two]
    with pytest.raises(
        ValueError, match=r'FORERUN_PJRT: must be "auto", "off" or the files of plugins, got .*none\.so'
    ):
        plugin_files(str(site / "none.so"))


def test_options_are_those_of_the_platform() -> None:
    assert client_options(Path("xla_cuda_plugin.so"), allocator="cuda_async") == {
        "preallocate": False,
        "allocator": "cuda_async",
    }
    assert client_options(Path("libpjrt_cpu.so"), devices=3) == {"cpu_device_count": 3}
    assert client_options(Path("libtpu.so")) == {}
    assert platform_of(Path("plugin.so")) == "other"


def test_plugins_describe_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    path = plugin_file("fastatomstruct-xla-cpu")
    monkeypatch.setenv("FORERUN_PJRT", str(path))
    (found,) = accelerators().values()
    assert (found["platform"], found["interface"], found["devices"]) == ("cpu", "0.106", ["cpu", "cpu"])


def test_a_plugin_that_finds_no_device_has_advice() -> None:
    assert plugins.no_device(Path("xla_cuda_plugin.so")).startswith("none found: `nvidia-smi` shows which GPUs")
    assert "CUDA_VISIBLE_DEVICES" in plugins.no_device(Path("xla_cuda_plugin.so"))
    assert "/dev/kfd" in plugins.no_device(Path("xla_rocm_plugin.so"))
    assert plugins.missing_driver(Path("libtpu.so")) is None


def test_an_invalid_library_file_is_reported(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert accelerators() == {}
    path = touch(site / "none.so")
    monkeypatch.setenv("FORERUN_PJRT", str(path))
    assert "must be a shared library" in accelerators()[str(path)]["error"]
    monkeypatch.setenv("FORERUN_PJRT", "/no/such.so")
    assert "got '/no/such.so'" in accelerators()["FORERUN_PJRT"]["error"]


def test_versions_of_nvidias_libraries_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"nvidia-cudnn-cu13": "9.2", "nvidia-cublas": "13.1", "another": "1.0"}
    installed = [SimpleNamespace(name=name, version=version) for name, version in versions.items()]
    monkeypatch.setattr("importlib.metadata.distributions", lambda: installed)
    assert plugins._libraries(Path("xla_cuda_plugin.so")) == {"libraries": "nvidia-cublas 13.1, nvidia-cudnn-cu13 9.2"}
    assert plugins._libraries(Path("libpjrt_cpu.so")) == {}
