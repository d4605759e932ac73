"""Each name that Dive into Deep Learning's MXNet programs use: its behaviour under `import mxnet`.

mxnet_names.tsv has a line per name, with an expression over what these programs import, and the functions below.
"""

import csv
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest
from PIL import Image

import forerun
from forerun import autograd, gluon, image, init, np, npx
from forerun.compat import install_as_mxnet, uninstall_as_mxnet
from forerun.gluon import download, nn
from tests.support.gluon.gluon_samples import initialized
from tests.support.paths import DATA

with (DATA / "mxnet" / "mxnet_names.tsv").open() as file:
    HOLDS = {row["name"]: row["holds"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
METHODS = {
    gluon.Block: "initialize collect_params params name apply hybridize load_parameters save_parameters forward",
    nn.Sequential: "add",
    gluon.HybridBlock: "export",
    gluon.Trainer: "step learning_rate set_learning_rate",
    gluon.Parameter: "data list_ctx set_data",
    gluon.ParameterDict: "reset_ctx setattr",
}


@pytest.fixture
def mxnet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """The package, where there is neither a network nor a file."""
    monkeypatch.setenv("MXNET_GLUON_REPO", "http://127.0.0.1:9")
    monkeypatch.setattr(download, "_PAUSE", 0.0)
    monkeypatch.chdir(tmp_path)
    install_as_mxnet()
    import mxnet

    npx.set_np()
    yield mxnet
    npx.reset_np()
    uninstall_as_mxnet()


def object_of_name(mxnet: Any, name: str) -> Any:
    """Return the object of a name; methods of several classes, and of objects, are those of METHODS."""
    first, _, rest = name.partition(".")
    if first == "method":
        owners = [owner for owner, methods in METHODS.items() if rest in methods.split()]
        return getattr(owners[0], rest) if owners else HOLDS[name]
    at = mxnet.np.ndarray if first == "ndarray" else mxnet
    for part in (rest if first in ("ndarray", "mxnet") else name).split("."):
        at = getattr(at, part)
    return at


# --- names of the expressions ---------------------------------------------------------------------


def dense_layer(rule: Any = "ones") -> Any:
    layer = nn.Dense(1, in_units=2)
    layer.initialize(rule, ctx=npx.cpu())
    layer.weight.set_data(array_by_rule(init.create(rule), 1, 2))
    return layer


def with_two_layers(container: Any) -> Any:
    container.add(nn.Dense(3, activation="relu"), nn.Dense(1))
    return container


def initialized_net() -> Any:
    return initialized(with_two_layers(nn.Sequential()))


def hybrid() -> Any:
    return with_two_layers(nn.HybridSequential())


def array_by_rule(rule: Any, *shape: int) -> Any:
    array = np.zeros(shape)
    rule(array)
    return array


def slope_at(function: Any, at: float) -> float:
    x = np.array(at)
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward()
    return x.grad.item()


def recorded_call(layer: Any, x: Any) -> Any:
    with autograd.record():
        return layer(x)


def predicting(x: Any) -> bool:
    with autograd.predict_mode():
        return autograd.is_training()


def trainer(layer: Any = None) -> Any:
    return gluon.Trainer((layer or dense_layer()).collect_params(), "sgd", {"learning_rate": 0.5})


def weights_after_step(name: str, settings: dict[str, Any], batch: int = 1) -> list[Any]:
    layer = dense_layer()
    with autograd.record():
        y = layer(np.ones((1, 2)))
    y.backward()
    gluon.Trainer(layer.collect_params(), name, settings).step(batch)
    return layer.weight.data().tolist()


def loaded(into: Any, source: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        source.save_parameters(f"{folder}/net.params")
        into.load_parameters(f"{folder}/net.params", ctx=npx.cpu())
        forerun.waitall()
    return into


def imported_block(block: Any) -> Any:
    """Return the import of an exported block."""
    block.hybridize()
    block(np.ones((1, 2)))
    with tempfile.TemporaryDirectory() as folder:
        block.export(f"{folder}/net")
        return gluon.SymbolBlock.imports(f"{folder}/net-symbol.json", ["data"], f"{folder}/net-0000.params")


def kept(arrays: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        npx.save(f"{folder}/x-files", arrays)
        found = npx.load(f"{folder}/x-files")
        forerun.waitall()
        return found


def near(x: Any, expected: Any, tolerance: float = 1e-6) -> bool:
    return bool(numpy.allclose(x.asnumpy(), expected, rtol=tolerance, atol=tolerance))


def raised_name(function: Any) -> str | None:
    try:
        function()
    except Exception as error:
        return type(error).__name__
    return None


def ramp(h: int, w: int) -> Any:
    return np.arange(h * w * 3).reshape(h, w, 3).astype("uint8")


def ratio(transform: Any) -> float:
    return transform(np.full((1, 1, 3), 2.0)).mean().item()


def picture_from_file() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        Image.new("RGB", (4, 2), "red").save(f"{folder}/x.png")
        return image.imread(f"{folder}/x.png")


def image_folders() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("dog/2.png", "dog/1.png", "cat/3.png", "dog/notes.txt"):
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            Image.new("RGB", (4, 2), "red").save(path, "png")
        found = gluon.data.vision.ImageFolderDataset(folder)
        return found.synsets, [found[i][1] for i in range(len(found)) if found[i][0].shape == (2, 4, 3)]


# --- the tests ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(HOLDS))
def test_each_name_behaves_as_in_mxnet(name: str, mxnet: Any) -> None:
    assert object_of_name(mxnet, name) is not None
    helpers = {name: value for name, value in globals().items() if callable(value)}
    names = {"mx": mxnet, "numpy": numpy, "io": io, **helpers}
    exec("from mxnet import autograd, gluon, init, np, npx, image\nfrom mxnet.gluon import nn, rnn", names)
    exec("from mxnet.gluon.data.vision import transforms", names)
    assert eval(HOLDS[name], names) is True


def test_all_names_exist() -> None:
    assert len(HOLDS) == 226
    assert all(HOLDS.values())
