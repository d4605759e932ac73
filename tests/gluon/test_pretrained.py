"""Parameters of the model zoo from files of torchvision and from the Hugging Face Hub, and checksums of files."""

from __future__ import annotations

import csv
import hashlib
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import pytest

from forerun import np, safetensors
from forerun.gluon.model_zoo import torchvision_names, vision
from tests.data.mxnet.generate_zoo import one_image
from tests.data.torchvision import generate_networks
from tests.support.paths import DATA

FOLDER = DATA / "torchvision"
OURS = {"resnet18": "resnet18_v1", "squeezenet1_1": "squeezenet1.1"}  # where the name is another


def table_rows(file: str) -> list[dict[str, str]]:
    with (FOLDER / file).open() as opened:
        return list(csv.DictReader(opened, delimiter="\t"))


SCORES = table_rows("scores.tsv")


def torchvision_shapes(network: str) -> dict[str, tuple[int, ...]]:
    """torchvision's parameters, in the order of names, as in a file in the format safetensors."""
    found = {
        r["name"]: tuple(map(int, filter(None, r["shape"].split("x"))))
        for r in table_rows("parameters.tsv")
        if r["network"] == network
    }
    return dict(sorted(found.items()))


def write_network(file: Path, network: str = "squeezenet1_1", **more: Any) -> Path:
    """Write the parameters that `generate_networks` has given to the network."""
    values: Mapping[str, Any] = {n: generate_networks.named_value(n, s) for n, s in torchvision_shapes(network).items()}
    safetensors.save_file({**values, **more}, file).wait()
    return file


@pytest.fixture(scope="module")
def squeezenet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_network(tmp_path_factory.mktemp("files") / "some.safetensors")


@pytest.mark.parametrize("row", SCORES, ids=lambda row: row["network"])
def test_scores_are_those_of_torchvision(row: dict[str, str], tmp_path: Path) -> None:
    file = write_network(tmp_path / "some.safetensors", row["network"])
    net = vision.get_model(OURS.get(row["network"], row["network"]), classes=10, pretrained=file)
    found = net(np.array(one_image(int(row["size"])))).asnumpy()[0]
    expected = numpy.array(row["scores"].split(), "float32")
    numpy.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * abs(expected).max())


def test_dense_layers_of_large_networks() -> None:
    """Names alone: the files have hundreds of megabytes."""
    for network, first in {"alexnet": "features.9", "vgg11_bn": "features.29"}.items():
        shapes = torchvision_shapes(network)
        params = vision.get_model(network).collect_params()
        found = torchvision_names.renamed(
            network,
            {n: numpy.broadcast_to(0, s) for n, s in shapes.items()},
            {n: len(p.shape) for n, p in params.items()},
        )
        assert found.keys() == params.keys()
        assert found["output.bias"].shape == (10,)
        assert found[f"{first}.weight"].shape[0] == 4096
        assert found["features.0.weight"].shape[1] == 3


@pytest.mark.parametrize("name", ["squeezenet1.1.safetensors", "squeezenet1.1-mine.safetensors"])
def test_true_finds_the_file_in_the_folder(name: str, squeezenet: Path, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to(squeezenet)
    net = vision.squeezenet1_1(classes=10, pretrained=True, root=tmp_path)
    expected = generate_networks.named_value("classifier.1.bias", (10,))
    assert (net.collect_params()["output.0.bias"].data().asnumpy() == expected).all()


def test_files_with_the_names_of_this_library(tmp_path: Path) -> None:
    net = vision.get_model("mobilenet0.25", classes=4)
    net.initialize("xavier")
    net(np.ones((1, 3, 32, 32)))
    net.save_parameters(tmp_path / "own.safetensors")
    other = vision.get_model("mobilenet0.25", classes=4, pretrained=str(tmp_path / "own.safetensors"))
    x = np.array(one_image(32))
    assert (net(x) == other(x)).all()


def test_the_checksum_in_a_name(squeezenet: Path, tmp_path: Path) -> None:
    digits = hashlib.sha256(squeezenet.read_bytes()).hexdigest()
    right = tmp_path / f"squeezenet1_1-{digits[:8]}.safetensors"
    right.write_bytes(squeezenet.read_bytes())
    vision.squeezenet1_1(classes=10, pretrained=right)
    wrong = right.rename(tmp_path / "squeezenet1_1-01234567.safetensors")
    with pytest.raises(ValueError, match=f"SHA-256 must begin with 01234567, as the name says, got {digits}"):
        vision.squeezenet1_1(classes=10, pretrained=wrong)


class TestHub:
    """A stand-in for huggingface_hub: nothing is fetched."""

    def hub(self, monkeypatch: pytest.MonkeyPatch, download: Any) -> None:
        module: Any = types.ModuleType("huggingface_hub")
        module.hf_hub_download = download
        monkeypatch.setitem(sys.modules, "huggingface_hub", module)

    def test_a_repository(self, squeezenet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []
        digits = hashlib.sha256(squeezenet.read_bytes()).hexdigest()
        blob, link = tmp_path / digits, tmp_path / "model.safetensors"
        blob.write_bytes(squeezenet.read_bytes())
        link.symlink_to(blob)  # as in the cache of huggingface_hub

        def download(*words: Any, **more: Any) -> str:
            asked.append((*words, more))
            return str(link)

        self.hub(monkeypatch, download)
        vision.squeezenet1_1(classes=10, pretrained="some/squeezenet.tv@0a1b")
        vision.squeezenet1_1(classes=10, pretrained="some/squeezenet.tv")
        repository = ("some/squeezenet.tv", "model.safetensors")
        assert asked == [(*repository, {"revision": "0a1b"}), (*repository, {"revision": None})]
        blob.write_bytes(squeezenet.read_bytes()[:-1] + b"x")
        with pytest.raises(ValueError, match=f"SHA-256 must begin with {digits}, as the name says"):
            vision.squeezenet1_1(classes=10, pretrained="some/squeezenet.tv")

    def test_without_a_network(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def download(*_: Any, **__: Any) -> str:
            raise ConnectionError("no route")

        self.hub(monkeypatch, download)
        message = (
            r"resnet18_v1: model.safetensors of timm/resnet18.tv_in1k could not be fetched: no route. Without a "
            r"network, fetch https://huggingface.co/timm/resnet18.tv_in1k/resolve/main/model.safetensors elsewhere"
        )
        with pytest.raises(FileNotFoundError, match=message):
            vision.resnet18_v1(pretrained="timm/resnet18.tv_in1k")

    def test_without_the_library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "huggingface_hub", None)
        with pytest.raises(ImportError, match=r"pip install huggingface_hub, or give the path of a file"):
            vision.resnet18_v1(pretrained="timm/resnet18.tv_in1k")


class TestMistakes:
    def test_a_file_that_does_not_exist(self) -> None:
        for given in ("missing.safetensors", "folder/missing.params", Path("a/b/c")):
            with pytest.raises(FileNotFoundError, match=r"pretrained must be True, a file, or a repository such as"):
                vision.get_model("alexnet", pretrained=given)

    def test_a_network_that_torchvision_builds_differently(self, squeezenet: Path) -> None:
        message = (
            r"resnet50_v1: parameters must have MXNet's names, got 'classifier.1.bias'; torchvision's are read for Alex"
        )
        with pytest.raises(ValueError, match=message):
            vision.resnet50_v1(pretrained=squeezenet)

    def test_the_file_of_another_network(self, squeezenet: Path) -> None:
        with pytest.raises(ValueError, match="resnet18_v1: file must have 20 layers of kind 'convolution', got 26"):
            vision.resnet18_v1(pretrained=squeezenet)

    def test_another_number_of_classes(self, squeezenet: Path) -> None:
        with pytest.raises(
            ValueError, match=r"squeezenet1.1: output.0.weight must be of shape .*, got \(10, 512, 1, 1\)"
        ):
            vision.squeezenet1_1(pretrained=squeezenet)
