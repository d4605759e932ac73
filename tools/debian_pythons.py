"""Unpack Debian's CPython below build/pythons: `python tools/debian_pythons.py 3.14 aarch64`.

For `make wheels`, which runs foreign wheels by an emulator and needs interpreters that the system lacks. Nothing is
installed: apt-get and dpkg-deb only fetch and unpack, into one folder for each interpreter, with its own C library.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SUITES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "sid"}
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


def fetch(version: str, architecture: str) -> Path:
    """Fetch the interpreter with all that it needs, once, and unpack it."""
    root = folder(version, architecture)
    if (root / "complete").exists():
        return root
    state = PLACE / f"{root.name}.apt"
    state.mkdir(parents=True, exist_ok=True)
    (state / "apt.conf").write_text(settings(state, version, architecture))
    apt = ["env", f"APT_CONFIG={state}/apt.conf", "apt-get", "-qq"]
    subprocess.run([*apt, "update"], check=True)
    wanted = [f"python{version}", f"python{version}-venv", f"python{version}-dev", "libstdc++6"]
    subprocess.run([*apt, "install", "--download-only", "-y", "--no-install-recommends", *wanted], check=True)
    for package in sorted((state / "archives").glob("*.deb")):
        unpack(package, root)
    (root / "complete").touch()
    return root


def unpack(package: Path, root: Path) -> None:
    """Unpack one package; /lib and the like are links into /usr, as on an installed system."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        if not (root / name).exists():
            (root / name).symlink_to(f"usr/{name}")
    content = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "--keep-directory-symlink", "-C", root], stdin=content.stdout, check=True)
    if content.wait():
        raise SystemExit(f"{package}: dpkg-deb must be able to read it")


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


if __name__ == "__main__":
    print(fetch(*sys.argv[1:3]))
