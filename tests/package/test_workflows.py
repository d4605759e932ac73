"""Workflows and settings in .github are valid by the schemas that check-jsonschema brings; nothing is downloaded."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

pytest.importorskip("check_jsonschema")

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
SCHEMAS = dict.fromkeys(WORKFLOWS, "vendor.github-workflows") | {GITHUB / "dependabot.yml": "vendor.dependabot"}


def check_schema(file: Path, schema: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_jsonschema", "--no-cache", "--builtin-schema", schema, str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda path: path.name)
def test_a_file_is_valid(file):
    done = check_schema(file, SCHEMAS[file])
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_misspelt_key_is_found(tmp_path):
    file = tmp_path / "tests.yml"
    text = (GITHUB / "workflows" / "tests.yml").read_text()
    file.write_text(text.replace("timeout-minutes", "timeout_minutes"))
    done = check_schema(file, "vendor.github-workflows")
    assert done.returncode == 1
    assert "timeout_minutes" in done.stdout


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda path: path.name)
def test_targets_of_make_exist(file):
    targets = re.findall(r"^([a-z -]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    known = {name for line in targets for name in line.split()}
    assert set(re.findall(r"\bmake ([a-z-]+)", file.read_text())) <= known


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda path: path.name)
def test_rights_and_times_are_bounded(file):
    """Each workflow begins with reading rights alone, and each job that runs steps ends by itself."""
    text = file.read_text()
    assert "permissions:\n  contents: read\n" in text
    assert text.count("runs-on:") == text.count("timeout-minutes:")
