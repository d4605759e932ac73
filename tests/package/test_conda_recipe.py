"""The recipe of the conda package agrees with pyproject.toml; `tests/adapters/test_conda.py` renders it."""

from __future__ import annotations

import re
import tomllib

import pytest

import forerun
from tests.support.paths import ROOT

yaml = pytest.importorskip("yaml")

RECIPE = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements(lines: list[str]) -> dict[str, str]:
    """Split requirements into names and versions, whichever of the two forms they have."""
    return dict(re.findall(r"^([\w-]+) *(.*)$", "\n".join(lines), re.MULTILINE))


def test_the_version_is_that_of_the_package() -> None:
    assert RECIPE["context"]["version"] == forerun.__version__


def test_requirements_are_those_of_pyproject() -> None:
    build = requirements(PROJECT["build-system"]["requires"])
    host = requirements(RECIPE["requirements"]["host"])
    assert {name: host[name] for name in build if name in host} == {
        name: versions for name, versions in build.items() if name != "scipy-openblas32"
    }
    assert host.keys() - build.keys() == {"python", "pip"}
    run = requirements(RECIPE["requirements"]["run"])
    assert run == requirements(PROJECT["project"]["dependencies"]) | {"python": ""}
    assert f'match(python, "<{PROJECT["project"]["requires-python"].removeprefix(">=")}")' in RECIPE["build"]["skip"]


def test_openblas_is_in_the_range_of_the_build() -> None:
    """And each source but the tree has a checksum."""
    (lowest, end) = re.findall(r"[\d.]+", requirements(PROJECT["build-system"]["requires"])["scipy-openblas32"])
    found = re.search(r"-(\d[\d.]+)-", RECIPE["context"]["openblas_wheel"])
    assert found is not None
    number = lambda text: tuple(map(int, text.split(".")))
    assert number(lowest) <= number(found[1]) < number(end)
    assert all(re.fullmatch("[0-9a-f]{64}", one["then"]["sha256"]) for one in RECIPE["source"][1:])


def test_the_description_is_that_of_pyproject() -> None:
    assert RECIPE["about"]["summary"] == PROJECT["project"]["description"]
    assert RECIPE["about"]["license"] == PROJECT["project"]["license"]
    assert RECIPE["about"]["license_file"] == PROJECT["project"]["license-files"]
