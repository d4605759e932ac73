"""The model zoo beside MXNet's: names and shapes of all parameters, and scores; generate_zoo.py has asked it."""

import csv
import gc
import math
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, init, np
from forerun.compat import install_as_mxnet, uninstall_as_mxnet
from forerun.gluon.model_zoo import store, vision
from forerun.testing import closed_gate
from tests.data.mxnet import generate_zoo
from tests.support.comparison.bits import assert_same_bits
from tests.support.paths import DATA

with (DATA / "mxnet" / "zoo.tsv").open() as file:
    ROWS = list(csv.DictReader(file, delimiter="\t"))
SPOKEN = [row["name"] for row in ROWS if row["scores"]]


class Nothing(forerun.init.Initializer):
    """Leaves zeros."""

    def _init_weight(self, name: str, data: Any) -> None:
        pass


def test_every_network_of_mxnet_exists() -> None:
    with pytest.raises(ValueError, match=r"get_model: name must be one of alexnet, .*, got 'vgg'") as raised:
        vision.get_model("vgg")
    known = str(raised.value).split("one of ")[1].split(", got")[0].split(", ")
    assert known == sorted(row["name"] for row in ROWS)
    assert len(known) == 34


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_parameters(row: dict[str, str]) -> None:
    """All names and shapes. The engine is held meanwhile, so that nothing is computed, as nothing is read."""
    size = 299 if row["name"] == "inceptionv3" else 224
    with closed_gate():
        net = vision.get_model(row["name"])
        net.setattr("grad_req", "null")
        net.initialize(Nothing())
        assert net(np.zeros((1, 3, size, size))).shape == (1, 1000)
        shapes = {name: p.shape for name, p in net.collect_params().items()}
        del net
        gc.collect()  # blocks refer to each other; gigabytes of zeros that nothing can read are not written
    forerun.waitall()
    assert len(shapes) == int(row["parameters"])
    assert sum(math.prod(shape) for shape in shapes.values()) == int(row["elements"])
    assert generate_zoo.digest(shapes) == row["digest"]


@pytest.mark.parametrize("row", [row for row in ROWS if row["scores"]], ids=lambda row: row["name"])
def test_scores(row: dict[str, str]) -> None:
    """With the same parameters, the scores are MXNet's for the same image: strides, padding, norms, and sums."""
    net, size = vision.get_model(row["name"], classes=10), int(row["size"])
    net.initialize("zeros")
    image = np.array(generate_zoo.one_image(size))
    net(image)
    for name, p in net.collect_params().items():
        p.set_data(generate_zoo.parameter_value(name, p.shape))
    expected = numpy.array(row["scores"].split(), "float32")
    found = net(image).asnumpy()[0]
    numpy.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3 * abs(expected).max())


def test_forward_of_one_network_of_each_kind() -> None:
    """Of each class, and of each kind of block that its networks are made of."""
    kinds = lambda names: {(type(net), type(net.features[5][0])) for net in map(vision.get_model, names)}
    residual = [name for name in SPOKEN if name.startswith("resnet")]
    assert kinds(residual) == kinds([row["name"] for row in ROWS if row["name"].startswith("resnet")])
    assert {type(vision.get_model(name)) for name in SPOKEN} == {type(vision.get_model(r["name"])) for r in ROWS}


def test_thumbnails() -> None:
    for version in (1, 2):
        net = vision.get_resnet(version, 18, classes=3, thumbnail=True)
        net.initialize()
        assert net(np.ones((1, 3, 32, 32))).shape == (1, 3)
        assert net.collect_params()[f"features.{version - 1}.weight"].shape == (64, 3, 3, 3)


def small(**settings: Any) -> Any:
    return vision.get_model("mobilenet0.25", classes=4, **settings)


def test_all_parameters_get_gradients() -> None:
    net = vision.ResNetV2(vision.BottleneckV2, [1, 1], [8, 8, 16], classes=4, thumbnail=True)
    net.initialize("xavier")
    with autograd.record():
        loss = net(np.array(generate_zoo.one_image(8))).sum()
    loss.backward()
    fixed = {"features.0.gamma", "features.0.beta"}
    for name, p in net.collect_params().items():
        assert (p.grad_req == "null") is (name in fixed or "running" in name)


def test_pretrained_reads_an_existing_file(tmp_path: Path) -> None:
    net = small()
    net.initialize()
    x = np.array(generate_zoo.one_image(32))
    expected = net(x).asnumpy()
    net.save_parameters(tmp_path / "mobilenet0.25-0123abcd.params")
    forerun.waitall()
    assert (small(pretrained=True, root=tmp_path, ctx=forerun.cpu())(x).asnumpy() == expected).all()
    assert (small(pretrained=True, root=tmp_path, device=forerun.cpu())(x).asnumpy() == expected).all()


def test_pretrained_without_a_file_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    place = tmp_path / "models"
    message = f"resnet18_v2: pretrained=True must find resnet18_v2.params or resnet18_v2.safetensors in {place}, got no"
    with pytest.raises(FileNotFoundError, match=message):
        gluon.model_zoo.vision.resnet18_v2(pretrained=True)


def test_unknown_models_raise() -> None:
    with pytest.raises(ValueError, match=r"get_resnet: version must be 1 or 2, and layers one of .*, got 3 and 18"):
        vision.get_resnet(3, 18)
    with pytest.raises(ValueError, match=r"get_vgg: layers must be one of \[11, 13, 16, 19\], got 12"):
        vision.get_vgg(12)
    with pytest.raises(ValueError, match=r"SqueezeNet: version must be one of \['1.0', '1.1'\], got '2'"):
        vision.SqueezeNet("2")
    with pytest.raises(ValueError, match="ResNet: channels must be one more than layers, got 2 and 2"):
        vision.ResNetV1(vision.BasicBlockV1, [1, 1], [8, 8])


def test_a_network_is_tuned_to_other_classes() -> None:
    """Features of one, with their trained parameters, and another output that learns ten times as fast."""
    first = vision.get_resnet(2, 18, classes=7, thumbnail=True)
    first.initialize("xavier")
    x, y = np.array(generate_zoo.uniform("images", (4, 3, 8, 8))), np.array([0, 1, 2, 2])
    expected = first.features(x).asnumpy()
    net = vision.resnet18_v2(classes=3, thumbnail=True)
    net.features = first.features
    net.output.initialize(init.Xavier())
    assert (net.features(x).asnumpy() == expected).all()
    net.output.collect_params().setattr("lr_mult", 10)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    cross_entropy, losses = gluon.loss.SoftmaxCrossEntropyLoss(), []
    for _ in range(5):
        with autograd.record():
            loss = cross_entropy(net(x), y)
        loss.backward()
        trainer.step(4)
        losses.append(loss.mean())
    assert losses[-1].item() < losses[0].item()
    assert (first.features(x).asnumpy() != expected).any()


@pytest.mark.parametrize("name", ["resnet18_v1", "mobilenetv2_0.25", "squeezenet1.1"])
def test_hybridized_networks_are_the_same(name: str) -> None:
    size = 224 if name.startswith("squeeze") else 32
    net, x = vision.get_model(name, classes=4), np.array(generate_zoo.one_image(size))
    net.initialize("xavier")
    expected = net(x).asnumpy()
    net.hybridize()
    assert_same_bits(net(x), expected)
    assert_same_bits(net(x), expected)
    assert net.hybridized.startswith("1 program")


def test_model_zoo_is_importable_from_mxnet() -> None:
    install_as_mxnet()
    try:
        from mxnet.gluon.model_zoo.vision import resnet18_v2  # type: ignore[import-not-found]

        assert resnet18_v2 is vision.resnet18_v2
    finally:
        uninstall_as_mxnet()


def test_every_model_accepts_ctx_and_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The file's parameters go to the device that is named, whichever word names it."""
    loaded: list[Any] = []
    monkeypatch.setattr(store, "load", lambda file: {"output.weight": None})
    monkeypatch.setattr(store, "set_values", lambda params, values, devices, **more: loaded.append(devices))
    for name in sorted(gluon.model_zoo.vision._MODELS):
        (tmp_path / f"{name}.params").touch()
        for word in ("ctx", "device"):
            gluon.model_zoo.vision.get_model(name, pretrained=True, root=tmp_path, **{word: forerun.cpu(0)})
    assert len(loaded) == 2 * len(gluon.model_zoo.vision._MODELS)
    assert set(loaded) == {forerun.cpu(0)}
