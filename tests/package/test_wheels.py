"""The names, tags and versions of tools/wheels.py and tools/release.py; `make wheels` builds wheels."""

from __future__ import annotations

import hashlib
import re
import sys
import tarfile
import tomllib
from types import SimpleNamespace

import pytest

import forerun
from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import newcomer
import portability
import pythons
import release
import wheels

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


class TestMatrix:
    def test_each_promised_python_on_each_processor(self):
        found = wheels.matrix()
        assert len(found) == len(set(found)) == 2 * len(wheels.versions())
        assert (
            {version for version, _ in found} == {"3.11", "3.12", "3.13", "3.14", "3.14t"} == set(wheels.OLDEST_NUMPY)
        )

    def test_processor_of_this_machine_comes_first(self):
        """Wheels for another processor take over the stub of one for this."""
        assert [machine for _, machine in wheels.matrix()] == ["x86_64"] * 5 + ["aarch64"] * 5

    def test_names_choose(self):
        assert wheels.matrix(["cp313-aarch64"]) == [("3.13", "aarch64")]
        with pytest.raises(SystemExit, match="got cp310-x86_64"):
            wheels.matrix(["cp310-x86_64"])

    def test_tag(self):
        assert wheels.tag("3.14", "aarch64") == "cp314-cp314-manylinux_2_28_aarch64"
        assert wheels.tag("3.14t", "x86_64") == "cp314-cp314t-manylinux_2_28_x86_64"

    def test_an_interpreter_with_its_lock_is_no_free_threaded_one(self, monkeypatch):
        number = "{}.{}".format(*sys.version_info[:2])
        monkeypatch.setattr(wheels.shutil, "which", lambda name: sys.executable)
        monkeypatch.setattr(wheels.Path, "home", lambda: wheels.Path("/nowhere"))
        monkeypatch.setattr(pythons, "provide", lambda version, architecture, python: None)
        assert wheels.interpreter(number) == wheels.Path(sys.executable)
        assert wheels.interpreter(f"{number}t") is None

    def test_a_missing_interpreter_is_built(self, monkeypatch, tmp_path):
        monkeypatch.setattr(wheels.shutil, "which", lambda name: None)
        monkeypatch.setattr(wheels.Path, "home", lambda: tmp_path)
        monkeypatch.setattr(pythons, "PLACE", tmp_path)
        monkeypatch.setattr(pythons, "build", lambda version, architecture, python: tmp_path / version)
        assert wheels.interpreter("3.14t") == tmp_path / "3.14t/usr/bin/python3.14t"
        assert wheels.interpreter("3.12") == tmp_path / "3.12/usr/bin/python3.12"
        assert wheels.interpreter("3.99") is None
        root = pythons.folder("3.99", wheels.HERE)
        root.mkdir()
        (root / "complete").touch()  # a user has put one there
        assert wheels.interpreter("3.99") == root / "usr/bin/python3.99"

    def test_a_free_threaded_interpreter_is_built_of_its_source_once(self, monkeypatch, tmp_path):
        monkeypatch.setattr(pythons, "PLACE", tmp_path)
        configure = tmp_path / "3.14-source/configure"
        configure.parent.mkdir()
        (configure.parent / "complete").touch()
        makefile = "all:\\n\\ninstall:\\n\\ttouch $(DESTDIR)/python\\n"
        configure.write_text(f"#!/bin/sh\necho \"$@\" >> options\nprintf '{makefile}' > Makefile\n")
        configure.chmod(0o755)
        (tmp_path / "3.14t-x86_64").mkdir()
        monkeypatch.setattr(pythons.os, "uname", lambda: SimpleNamespace(machine="x86_64"))
        for _ in range(2):
            assert pythons.provide("3.14t", "x86_64", "none") == tmp_path / "3.14t-x86_64"
        assert (tmp_path / "3.14t-x86_64/python").exists()
        (options,) = (tmp_path / "3.14t-x86_64.build/options").read_text().splitlines()
        assert "--disable-gil" in options
        assert "--host" not in options

    def test_an_interpreter_that_cannot_be_fetched_is_none(self, monkeypatch, tmp_path, capsys):
        monkeypatch.setattr(pythons, "PLACE", tmp_path)
        monkeypatch.setattr(pythons.os, "uname", lambda: SimpleNamespace(machine="x86_64"))
        monkeypatch.setenv("PATH", str(tmp_path))  # no apt-get
        assert pythons.provide("3.14t", "aarch64", "python3.14") is None
        assert "CPython 3.14t for aarch64: " in capsys.readouterr().err

    def test_a_source_must_have_its_checksum(self, monkeypatch, tmp_path):
        (content := tmp_path / "configure").touch()
        with tarfile.open(tmp_path / "3.99.tar.xz", "w:xz") as archive:
            archive.add(content, "Python-3.99.0/configure")
        checksum = hashlib.sha256((tmp_path / "3.99.tar.xz").read_bytes()).hexdigest()
        address = (tmp_path / "3.99.tar.xz").as_uri()
        monkeypatch.setattr(pythons, "PLACE", tmp_path / "pythons")
        monkeypatch.setattr(pythons, "SOURCES", {"3.99": (address, "0" * 64)})
        with pytest.raises(OSError, match=f"must have the SHA-256 {'0' * 64}, got {checksum}"):
            pythons.source("3.99")
        monkeypatch.setattr(pythons, "SOURCES", {"3.99": (address, checksum)})
        for _ in range(2):
            assert (pythons.source("3.99") / "configure").exists()
            (tmp_path / "3.99.tar.xz").unlink(missing_ok=True)  # it is fetched once

    def test_each_version_has_an_interpreter_or_a_source(self):
        """One that Debian has no interpreter of is built, and `make portability` needs headers."""
        assert set(wheels.versions()) == {*pythons.SUITES, *pythons.BUILT}
        assert {version.rstrip("t") for version in pythons.BUILT} | {portability.PYTHON} == set(pythons.SOURCES)

    def test_cibuildwheel_builds_the_same(self):
        settings = PROJECT["tool"]["cibuildwheel"]
        assert settings["build"] == [f"cp{version.replace('.', '')}-*" for version in wheels.versions()]
        images = {settings[f"manylinux-{machine}-image"] for machine in wheels.MACHINES}
        assert images == {f"manylinux_{wheels.GLIBC.replace('.', '_')}"}

    def test_oldest_python_is_the_first(self):
        assert PROJECT["project"]["requires-python"] == f">={wheels.versions()[0]}"


class TestBuild:
    def test_the_core_is_compiled_once_for_each_processor(self, monkeypatch, tmp_path):
        built, settings = [], []

        def run(*command, env=None):
            if "--build" in command:
                built.append(command[-1])
            elif "wheel" in command:
                settings.append(env["CMAKE_ARGS"].split())

        (tmp_path / "any.whl").touch()
        monkeypatch.setattr(wheels, "WORK", tmp_path)
        monkeypatch.setattr(wheels, "DIST", tmp_path / "dist")
        monkeypatch.setattr(wheels, "HERE", "x86_64")
        monkeypatch.setattr(wheels, "environment", lambda version, name, requirements: tmp_path / name / "bin/python")
        monkeypatch.setattr(wheels, "c_library", lambda machine: tmp_path)
        monkeypatch.setattr(wheels, "pip", lambda python: ["pip"])
        monkeypatch.setattr(wheels, "run", run)
        monkeypatch.setattr(wheels, "unversioned", lambda folder, machine: [])
        monkeypatch.setattr(wheels, "repair", lambda raw, name, machine: tmp_path / "any.whl")
        monkeypatch.setattr(wheels.shutil, "rmtree", lambda *_, **__: None)
        for version in ("3.12", "3.13"):
            (tmp_path / f"cmake-{version}-x86_64").mkdir()
            (tmp_path / f"cmake-{version}-x86_64/_core.pyi").touch()
        cores: dict[str, wheels.Path] = {}
        for machine in ("x86_64", "aarch64"):
            for version in ("3.12", "3.13"):
                wheels.build(tmp_path, version, machine, cores)
        assert built == [tmp_path / "core-x86_64", tmp_path / "core-aarch64"]
        x86, arm = (f"-DFORERUN_CORE={folder}/libforerun_core.a" for folder in built)
        assert [x86 in found for found in settings] == [True, True, False, False]
        assert [arm in found for found in settings] == [False, False, True, True]
        assert ["-DCMAKE_SYSTEM_PROCESSOR=aarch64" in found for found in settings] == [False, False, True, True]

    def test_a_wheel_that_does_not_work_ends_the_program(self, monkeypatch, tmp_path, capsys):
        (sdist := tmp_path / "forerun-1.tar.gz").touch()
        built = []

        def build(source, version, machine, cores):
            built.append(version)
            (wheel := tmp_path / f"{version}.whl").touch()
            return None if version == "3.12" else wheel

        def try_wheel(wheel, version, machine, numpy):
            if version == "3.13":
                raise SystemExit("it does not work")
            return f"works with NumPy {numpy}"

        for name, value in {"DIST": tmp_path, "WORK": tmp_path, "build": build, "try_wheel": try_wheel}.items():
            monkeypatch.setattr(wheels, name, value)
        monkeypatch.setattr(wheels, "build_sdist", lambda: sdist)
        monkeypatch.setattr(wheels, "unpacked", lambda sdist: tmp_path)
        with pytest.raises(SystemExit, match="it does not work"):
            wheels.main([])
        assert built == ["3.11", "3.12", "3.13", "3.14"]  # the wheel of 3.13 is tried while that of 3.14 is built
        printed = capsys.readouterr().out
        assert "3.11.whl  0.0 MB\n  works with NumPy ==2.0.0\n  works with NumPy >=2,<3\n" in printed
        assert "cp312-cp312-manylinux_2_28_x86_64  not built: no CPython 3.12 with headers\n" in printed


class TestChecks:
    @pytest.mark.parametrize(("minor", "fits"), [(17, True), (27, True), (28, True), (29, False), (35, False)])
    def test_compatible_platform_tags(self, minor, fits):
        shown = f'is consistent with the following platform tag:\n"manylinux_2_{minor}_x86_64".'
        assert wheels.compatible(shown) == fits

    def test_symbols_without_a_version(self, tmp_path, monkeypatch):
        (tmp_path / "_core.cpython-311-aarch64-linux-gnu.so").touch()
        lines = "U PyList_New\nU fstat64\nU malloc@GLIBC_2.17\nw __gmon_start__\n"
        monkeypatch.setattr(wheels, "run", lambda *command: lines)
        assert wheels.unversioned(tmp_path, "aarch64") == ["fstat64"]

    def test_a_failing_command_stops_the_build(self):
        with pytest.raises(SystemExit, match="no such thing"):
            wheels.run(sys.executable, "-c", "raise SystemExit('no such thing')")


class TestPortability:
    @pytest.mark.parametrize("system", portability.TARGETS)
    def test_files_are_those_of_the_core(self, system):
        files = portability.sources(system)
        assert "core/engine/engine.cpp" in files
        assert ("core/python/module.cpp" in files) == (system in ("macos", "windows"))
        assert not [file for file in files if file.startswith("core/tests")]

    def test_errors_are_counted(self, monkeypatch, capsys, tmp_path):
        monkeypatch.setattr(portability, "CACHE", tmp_path)
        monkeypatch.setattr(portability, "sources", lambda system: ["a", "b"])
        monkeypatch.setattr(portability, "python_flags", lambda system: [])
        monkeypatch.setattr(portability, "compiled", lambda target, file, flags: "no such call\n" * (file == "b"))
        assert portability.check("macos") == 1
        assert capsys.readouterr().out == "no such call\naarch64-macos: 1 of 2 files compile\n"

    def test_unknown_system(self):
        with pytest.raises(SystemExit, match="got beos"):
            portability.main(["beos"])


class TestNewcomer:
    def test_first_program_is_readmes(self):
        program = newcomer.first_program()
        compile(program, "program.py", "exec")
        assert "from forerun import np" in program

    def test_needs_wheels(self, monkeypatch, tmp_path):
        monkeypatch.setattr(wheels, "DIST", tmp_path)
        monkeypatch.setattr(newcomer, "PLACE", tmp_path / "newcomer")
        monkeypatch.setattr(wheels, "interpreter", lambda version: sys.executable)
        with pytest.raises(SystemExit, match="run `make wheels` first"):
            newcomer.main(["3.13"])

    def test_a_missing_python_needs_no_wheel(self, monkeypatch, tmp_path, capsys):
        monkeypatch.setattr(wheels, "DIST", tmp_path)
        monkeypatch.setattr(newcomer, "PLACE", tmp_path / "newcomer")
        monkeypatch.setattr(wheels, "interpreter", lambda version: None)
        newcomer.main(["3.14t"])
        assert capsys.readouterr().out == "Python 3.14t: not tried, not installed here\n"


class TestRelease:
    def test_the_version_is_written_once(self):
        assert release.version() == forerun.__version__
        assert PROJECT["project"]["dynamic"] == ["version"]
        assert PROJECT["tool"]["scikit-build"]["metadata"]["version"]["input"] == "src/forerun/__init__.py"

    def test_changelog_begins_with_this_version(self):
        heading = next(iter(release.sections()))
        assert re.fullmatch(re.escape(forerun.__version__) + r" \((unreleased|\d{4}-\d\d-\d\d)\)", heading)

    def test_notes(self, tmp_path, monkeypatch):
        (tmp_path / "src/forerun").mkdir(parents=True)
        (tmp_path / "src/forerun/__init__.py").write_text('__version__ = "0.2.0"\n')
        (tmp_path / "CHANGELOG.md").write_text(
            "# Changelog\n\n## 0.2.0 (2027-01-31)\n\n- New.\n\n## 0.1.0 (2026)\n\n- Old.\n"
        )
        monkeypatch.setattr(release, "ROOT", tmp_path)
        assert release.notes("v0.2.0") == "- New."
        with pytest.raises(SystemExit, match=r"must be v0\.2\.0"):
            release.notes("v0.1.0")
        (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (unreleased)\n\n- New.\n")
        with pytest.raises(SystemExit, match=r"must have a heading `## 0\.2\.0"):
            release.notes("v0.2.0")
