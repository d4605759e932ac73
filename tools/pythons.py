"""Unpack or build CPython below build/pythons: `python tools/pythons.py 3.14 aarch64`.

For `make wheels`, which runs foreign wheels by an emulator and needs interpreters that the system lacks. Nothing is
installed: apt-get and dpkg-deb only fetch and unpack, into one folder for each interpreter, with its own C library.
Debian has neither 3.12 nor a free-threaded one (3.14t): they are built from source, which takes some minutes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

SUITES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "sid"}
BUILT = ("3.12", "3.14t")
# The releases of CPython's authors and their SHA-256. Each is in a stable distribution, which keeps it for years.
SOURCES = {
    "3.12": (
        "http://archive.ubuntu.com/ubuntu/pool/main/p/python3.12/python3.12_3.12.3.orig.tar.xz",
        "56bfef1fdfc1221ce6720e43a661e3eb41785dd914ce99698d8c7896af4bdaa1",
    ),
    "3.13": (
        "http://deb.debian.org/debian/pool/main/p/python3.13/python3.13_3.13.5.orig.tar.xz",
        "93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640",
    ),
    "3.14": (
        "http://archive.ubuntu.com/ubuntu/pool/main/p/python3.14/python3.14_3.14.4.orig.tar.xz",
        "d923c51303e38e249136fc1bdf3568d56ecb03214efdef48516176d3d7faaef8",
    ),
}
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
LOADERS = {"x86_64": "lib64/ld-linux-x86-64.so.2", "aarch64": "lib/ld-linux-aarch64.so.1"}
PLACE = Path(__file__).resolve().parents[1] / "build" / "pythons"


def folder(version: str, architecture: str) -> Path:
    """Where an interpreter is, or will be."""
    return PLACE / f"{version}-{architecture}"


def settings(state: Path, version: str, architecture: str) -> str:
    """Write apt's configuration: a state of its own, in which nothing is installed."""
    key = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (state / "lists/partial").mkdir(parents=True, exist_ok=True)
    (state / "archives/partial").mkdir(parents=True, exist_ok=True)
    debian = ARCHITECTURES[architecture]
    sources = f"deb [signed-by={key}] http://deb.debian.org/debian {SUITES[version]} main\n"
    (state / "sources.list").write_text(sources)
    return (
        f'Dir::Etc::sourcelist "{state}/sources.list";\nDir::Etc::sourceparts "-";\nDir::State "{state}";\n'
        f'Dir::State::status "/dev/null";\nDir::Cache "{state}";\nDir::Cache::archives "{state}/archives";\n'
        f'APT::Architecture "{debian}";\nAPT::Architectures {{ "{debian}"; }};\n'
        'APT::Sandbox::User "root";\nDebug::NoLocking "1";\n'
    )


def apt(name: str, version: str, architecture: str, *command: str) -> Path:
    """Run a command of apt-get; return the folder that has its downloads."""
    state = PLACE / f"{name}.apt"
    state.mkdir(parents=True, exist_ok=True)
    (state / "apt.conf").write_text(settings(state, version, architecture))
    environment = {**os.environ, "APT_CONFIG": str(state / "apt.conf")}
    for call in (["update"], [*command]):
        subprocess.run(["apt-get", "-qq", *call], check=True, cwd=state, env=environment)
    return state


def fetch(version: str, architecture: str) -> Path:
    """Fetch the interpreter with all that it needs, once, and unpack it."""
    root = folder(version, architecture)
    if (root / "complete").exists():
        return root
    wanted = [f"python{version}", f"python{version}-venv", f"python{version}-dev", "libstdc++6"]
    unpack(root, version, architecture, wanted)
    (root / "complete").touch()
    return root


def source(version: str) -> Path:
    """Fetch the source of an interpreter, once, and unpack it."""
    root = folder(version, "source")
    if not (root / "complete").exists():
        address, expected = SOURCES[version]
        with urllib.request.urlopen(address, timeout=60) as answer:
            archive = answer.read()
        if (found := hashlib.sha256(archive).hexdigest()) != expected:
            raise OSError(f"{address}: must have the SHA-256 {expected}, got {found}")
        root.mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "-xJ", "-C", root, "--strip-components=1"], input=archive, check=True)
        (root / "complete").touch()
    return root


def build(version: str, architecture: str, python: str) -> Path:
    """Build an interpreter that Debian lacks; `python` is one of that version for this machine."""
    root = folder(version, architecture)
    if (root / "complete").exists():
        return root
    work, triplet = PLACE / f"{root.name}.build", f"{architecture}-linux-gnu"
    work.mkdir(parents=True, exist_ok=True)
    options = ["--prefix=/usr", "--without-ensurepip", "--disable-test-modules", "OPT=-DNDEBUG -fwrapv -O1"]
    if version.endswith("t"):
        options.append("--disable-gil")
    environment = dict(os.environ)
    if architecture != os.uname().machine:
        unpack(root, min(SUITES), architecture, ["libc6-dev", "libstdc++6", "libffi-dev", "zlib1g-dev"])
        options += [f"--host={triplet}", f"--build={os.uname().machine}-linux-gnu", f"--with-build-python={python}"]
        options += [f"CC={triplet}-gcc --sysroot={root}", "ac_cv_buggy_getaddrinfo=no", "py_cv_module_nis=n/a"]
        options += ["ac_cv_file__dev_ptmx=yes", "ac_cv_file__dev_ptc=no"]
        packages = root / f"usr/lib/{triplet}/pkgconfig"
        environment |= {"PKG_CONFIG_SYSROOT_DIR": str(root), "PKG_CONFIG_LIBDIR": str(packages)}
    calls = (
        [source(version.rstrip("t")) / "configure", "-q", *options],
        ["make", "-s", f"-j{os.cpu_count()}"],
        ["make", "-s", "install", f"DESTDIR={root}"],
    )
    with (work / "log").open("w") as log:
        for call in calls:
            subprocess.run(call, check=True, cwd=work, env=environment, stdout=log, stderr=log)
    (root / "complete").touch()
    return root


def unpack(root: Path, version: str, architecture: str, packages: Sequence[str]) -> None:
    """Unpack packages of an interpreter's suite, and all that they need."""
    install = ["install", "--download-only", "-y", "--no-install-recommends"]
    state = apt(root.name, version, architecture, *install, *packages)
    for name in ("bin", "sbin", "lib", "lib64"):  # links into /usr, as on an installed system
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        if not (root / name).exists():
            (root / name).symlink_to(f"usr/{name}")
    for package in sorted((state / "archives").glob("*.deb")):
        content = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "--keep-directory-symlink", "-C", root], stdin=content.stdout, check=True)
        if content.wait():
            raise SystemExit(f"{package}: dpkg-deb must be able to read it")


def provide(version: str, architecture: str, python: str) -> Path | None:
    """Fetch or build an interpreter, once; None where that fails."""
    root = folder(version, architecture)
    if (root / "complete").exists():
        return root
    try:
        if version in SUITES:
            return fetch(version, architecture)
        if version in BUILT:
            return build(version, architecture, python)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"CPython {version} for {architecture}: {error}", file=sys.stderr)
    return None


def run_here(version: str, architecture: str, patchelf: str) -> Path:
    """Make an interpreter of this machine's processor run with the C library that came with it."""
    root = fetch(version, architecture)
    program = root / f"usr/bin/python{version}"
    libraries = root / f"usr/lib/{architecture}-linux-gnu"
    loader = ["--set-interpreter", root / LOADERS[architecture]]
    subprocess.run([patchelf, *loader, "--force-rpath", "--set-rpath", libraries, program], check=True)
    headers = root / f"usr/include/python{version}"
    for name in LOADERS:  # its pyconfig.h includes one per processor, from a folder that no compiler looks into
        part = headers / f"{name}-linux-gnu/python{version}"
        part.parent.mkdir(exist_ok=True)
        if not part.exists():
            part.symlink_to(f"../../{architecture}-linux-gnu/python{version}")
    return program


def main(version: str, architecture: str) -> None:
    """Print the folder of an interpreter."""
    found = provide(version, architecture, f"python{version.rstrip('t')}")
    if found is None:
        raise SystemExit(1)
    print(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
