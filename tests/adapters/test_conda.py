"""The recipe of the conda package as rattler-build reads and renders it. Nothing is fetched or built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

rattler_build: Any = pytest.importorskip("rattler_build", reason="needs py-rattler-build: run `make adapters`")

FOLDER = ROOT / "packaging" / "conda"


def rendered(platform: str, file: Path = FOLDER / "recipe.yaml") -> list[dict[str, Any]]:
    settings = rattler_build.VariantConfig.from_file(str(FOLDER / "conda_build_config.yaml")).to_dict()
    settings |= {"python": ["3.13.* *_cp313"], "c_stdlib": ["sysroot"], "cxx_compiler": ["gxx"]}  # as conda-forge has
    variants = rattler_build.VariantConfig(settings)
    where = rattler_build.PlatformConfig(target_platform=platform, build_platform="linux-64", host_platform=platform)
    recipe = rattler_build.Stage0Recipe.from_file(str(file))
    found = recipe.render(variants, rattler_build.RenderConfig(platform=where))
    return [variant.recipe.to_dict() for variant in found]


@pytest.mark.parametrize("platform", ["linux-64", "linux-aarch64"])
def test_the_recipe_is_rendered(platform: str) -> None:
    (recipe,) = rendered(platform)
    assert recipe["requirements"]["build"][:2] == [f"gxx_{platform}", f"sysroot_{platform} 2.28.*"]
    (_, openblas) = recipe["source"]
    processor = {"linux-64": "x86_64", "linux-aarch64": "aarch64"}[platform]
    assert openblas["url"].endswith(f"manylinux_2_28_{processor}.whl")
    assert not recipe["build"].get("skip")


def test_a_misspelt_key_is_found(tmp_path: Path) -> None:
    file = tmp_path / "recipe.yaml"
    file.write_text((FOLDER / "recipe.yaml").read_text().replace("requirements:", "requirement:"))
    with pytest.raises(rattler_build.RattlerBuildError, match="requirement"):
        rendered("linux-64", file=file)


def test_files_of_the_recipe_exist() -> None:
    (recipe,) = rendered("linux-64")
    named = [*recipe["about"]["license_file"], *recipe["tests"][1]["files"]["source"]]
    assert all((ROOT / name).is_file() for name in named)
