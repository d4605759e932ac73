"""MXNet's module paths, and features of 1.x's programs: nd, F, parameters that are shared by `params`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import forerun
from forerun import autograd, gluon, np
from forerun._interop.mxnet_modules import ABSENT, MODULES
from forerun.compat import install_as_mxnet, uninstall_as_mxnet
from forerun.gluon import nn


@pytest.fixture
def mxnet() -> Iterator[ModuleType]:
    before = set(sys.modules)
    install_as_mxnet()
    import mxnet

    yield mxnet
    uninstall_as_mxnet()
    assert not [name for name in sys.modules if name.partition(".")[0] == "mxnet"]
    copies = [name for name in set(sys.modules) - before if getattr(sys.modules[name], "__name__", name) != name]
    assert not copies


# --- modules ---------------------------------------------------------------------------------------------


def test_modules_are_forerun_s_own(mxnet: ModuleType) -> None:
    for name, source in MODULES.items():
        module = importlib.import_module(f"mxnet.{name}")
        assert module is importlib.import_module(f"forerun.{source}"), name
        assert module.__spec__ is not None
        assert module.__name__ == module.__spec__.name == f"forerun.{source}", name
        names: dict[str, Any] = {}
        exec(f"import mxnet.{name} as module\nimport mxnet.{name}\ninside = mxnet.{name}", names)
        bound = gluon.model_zoo.vision.alexnet if name.endswith(".alexnet") else module  # as in MXNet
        assert names["module"] is names["inside"] is bound, name


def test_functions_named_like_their_modules_stay_functions(mxnet: ModuleType) -> None:
    assert isinstance(importlib.import_module("mxnet.gluon.model_zoo.vision.alexnet"), ModuleType)
    assert isinstance(mxnet.gluon.model_zoo.vision.alexnet(classes=10), gluon.HybridBlock)
    before = {name: dict(vars(sys.modules[f"forerun.{name}"])) for name in set(MODULES.values())}
    uninstall_as_mxnet()
    install_as_mxnet()
    for name, names in before.items():
        assert dict(vars(sys.modules[f"forerun.{name}"])) == names


def test_nothing_is_imported_twice(mxnet: ModuleType) -> None:
    for name in MODULES:
        importlib.import_module(f"mxnet.{name}")
    files: dict[str, str] = {}
    package = str(Path(forerun.__file__).parent)
    for name, module in list(sys.modules.items()):
        if (file := getattr(module, "__file__", None)) and file.startswith(package):
            assert files.setdefault(file, module.__name__) == module.__name__, name


def test_all_spellings_of_an_import(mxnet: ModuleType) -> None:
    program = """
from mxnet.numpy.random import multinomial
import mxnet.gluon.data.vision
import mxnet as mx
import mxnet.numpy_extension as ext
from mxnet.gluon import metric
from mxnet.gluon.metric import Accuracy
from mxnet.gluon.data.vision.transforms import ToTensor
from mxnet.gluon.nn.basic_layers import Dense
from mxnet.gluon.model_zoo.vision.resnet import resnet18_v1
from mxnet.optimizer.optimizer import SGD
from mxnet.util import set_np
from mxnet.context import Context, cpu
from mxnet.numpy_extension.random import seed
from mxnet.ndarray import NDArray
from mxnet.image import imread
"""
    names: dict[str, Any] = {}
    exec(program, names)
    mx = names["mx"]
    assert names["multinomial"] is mx.np.random.multinomial is np.random.multinomial
    assert mx.gluon.data.vision is gluon.data.vision
    assert names["Dense"] is nn.Dense
    assert names["metric"] is forerun.metric
    assert names["Context"] is forerun.Device
    assert names["NDArray"] is np.ndarray
    assert names["ext"] is forerun.npx
    assert isinstance(nn.Dense(1), mx.gluon.Block)


def test_import_of_absent_modules_raises(mxnet: ModuleType) -> None:
    for name in sorted({*ABSENT} - {*MODULES} - {"numpy", "numpy_extension", "ndarray", "nd"}):
        for inside in (name, f"{name}.x"):
            with pytest.raises(ModuleNotFoundError, match=f"import: mxnet.{name} is not provided"):
                importlib.import_module(f"mxnet.{inside}")
        if "." not in name:
            with pytest.raises(ImportError, match=f"mxnet.{name} is not provided"):
                exec(f"from mxnet import {name}", {})
            with pytest.raises(AttributeError, match=f"mxnet.{name} is not provided"):
                getattr(mxnet, name)
            assert not hasattr(mxnet, name)


def test_names_that_mxnet_does_not_have(mxnet: ModuleType) -> None:
    for name in ("foo", "gluon.foo", "gluon.nn.foo"):
        with pytest.raises(ModuleNotFoundError, match=f"mxnet.{name} is not a module that forerun provides"):
            importlib.import_module(f"mxnet.{name}")
    with pytest.raises(ModuleNotFoundError, match=r"mxnet.numpy.foo is not provided; use the functions of mxnet.np"):
        importlib.import_module("mxnet.numpy.foo")
    with pytest.raises(AttributeError, match="module 'mxnet' has no attribute 'foo'"):
        getattr(mxnet, "foo")  # noqa: B009


def test_uninstalling_leaves_no_names_behind() -> None:
    install_as_mxnet()
    importlib.import_module("mxnet.gluon.nn.basic_layers")
    uninstall_as_mxnet()
    assert not hasattr(nn, "basic_layers")
    assert not hasattr(forerun.optimizer, "optimizer")
    assert hasattr(gluon.data, "vision")
    assert gluon.metric is forerun.metric
    uninstall_as_mxnet()  # again: nothing happens


# --- nd and F --------------------------------------------------------------------------------------------


def test_nd_has_the_functions_of_the_same_meaning(mxnet: Any) -> None:
    nd = mxnet.nd
    assert nd.zeros((2,), mxnet.cpu()).tolist() == [0, 0]
    assert nd.full((2,), 3).dtype == nd.array([1, 2]).dtype == nd.arange(3).dtype == "float32"
    assert nd.empty((2, 3)).shape == nd.random.uniform(shape=(2, 3)).shape == nd.random.randn(2, 3).shape == (2, 3)
    assert nd.array(np.array([1, 2])).dtype == "int64"
    assert nd.arange(1, 3).tolist() == [1, 2]
    assert nd.concat(nd.ones((1, 1)), nd.zeros((1, 1))).tolist() == [[1, 0]]
    assert nd.stack(nd.ones(1), nd.zeros(1), axis=1).tolist() == [[1, 0]]
    assert nd.dot(nd.ones((2, 3)), nd.ones((3,))).tolist() == [3, 3]
    assert nd.norm(nd.array([3, 4])).tolist() == [5]
    assert nd.relu(nd.array([-1, 1])).tolist() == [0, 1]
    assert nd.sum(nd.ones((2, 3)), axis=1).tolist() == [3, 3]
    assert nd.transpose(nd.ones((2, 3))).shape == (3, 2)
    assert sorted(nd.random.shuffle(nd.arange(4)).tolist()) == [0, 1, 2, 3]
    assert {"relu", "zeros", "exp"} <= set(dir(nd))
    assert nd.random.randint(0, 5, shape=3).dtype == "int32"
    with pytest.raises(AttributeError, match=r"nd.FullyConnected is not provided: use np.FullyConnected or npx"):
        getattr(nd, "FullyConnected")  # noqa: B009
    with pytest.raises(ValueError, match=r"nd.dot: arrays must have one or two axes, got \(1, 1, 1\)"):
        nd.dot(nd.ones((1, 1, 1)), nd.ones((1,)))


class Old(gluon.HybridBlock):
    """A network as MXNet 1.x's programs write it."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(units, in_units=3)
            self.second = nn.Dense(2, in_units=units, prefix="out_")

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.second(F.relu(self.first(x)))


def test_networks_of_1_x(mxnet: Any) -> None:
    net = Old(4, prefix="model_")
    assert (net.name, net.second.name) == ("model", "out")
    assert not Old(4).name.startswith("model")
    net.initialize("ones")
    expected = net(np.ones((1, 3))).tolist()
    assert expected == [[12.0, 12.0]]
    net.hybridize()
    assert [net(np.ones((1, 3))).tolist() for _ in range(2)] == [expected] * 2
    assert net.hybridized.startswith("1 program")


# --- parameters of another block -------------------------------------------------------------------------


class Explicit(gluon.Block):
    """Names the arguments in its own."""

    def __init__(self, units: int, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.layer = nn.Dense(units)


def test_layers_share_parameters_by_params() -> None:
    shared = nn.Dense(8)
    net = nn.HybridSequential()
    net.add(nn.Dense(8), shared, nn.Dense(8, activation="relu", params=shared.params), nn.Dense(1))
    net.initialize()
    x = np.ones((2, 8))
    net(x)
    assert net[2].weight is shared.weight
    assert net[2].bias is shared.bias
    assert net[1].weight.data() is net[2].weight.data()
    assert len(net.collect_params().distinct()) == 6
    with autograd.record():
        y = net(x).sum()
    y.backward()
    both = shared.weight.grad().asnumpy()
    other = nn.Dense(8)
    other.share_parameters(shared.params)
    assert other.weight is shared.weight
    assert abs(both).sum() > 0


def test_blocks_share_parameters_by_params() -> None:
    for make in (Old, Explicit):
        first = make(3)
        second = make(3, params=first.collect_params())
        assert [*second.collect_params().values()] == [*first.collect_params().values()]
        assert make(3, params=None).collect_params().keys() == first.collect_params().keys()
    assert Explicit(3, prefix="x_").name == "x"
    assert nn.Dense(3, use_bias=False, params=nn.Dense(3).params).bias is None


def test_params_that_do_not_fit() -> None:
    given = nn.Dense(8, in_units=3).params
    with pytest.raises(ValueError, match=r"Dense: params must fit, got weight of \(8, 3\) for \(7, -1\)"):
        nn.Dense(7, params=given)
    for make in (lambda: nn.HybridSequential(params=given), lambda: nn.Embedding(2, 2, params=nn.BatchNorm().params)):
        with pytest.raises(ValueError, match="params must have names of the block's parameters"):
            make()
    with pytest.raises(TypeError, match="unexpected keyword argument 'parameters'"):
        nn.Dense(7, parameters=given)  # type: ignore[call-arg]


# --- gradients of integers, and small ones ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "bool"])
@pytest.mark.parametrize("request_", ["write", "add", "null"])
def test_gradients_of_integers_are_zeros(dtype: str, request_: str) -> None:
    functions = [
        lambda x: x * 2.0, lambda x: x.sum(), lambda x: x + 1, lambda x: x[1:] * 1.5, lambda x: np.sqrt(x),
        lambda x: x.astype("float32") * 3, lambda x: np.concatenate([x, np.ones(3)]), lambda x: x[0] * 2.0 + x[0],
        forerun.hybrid(lambda x: x * 2.0 + x[1]),
    ]  # fmt: skip
    for function in functions:
        for _ in range(2):
            x = np.array([1, 0, 2]).astype(dtype)
            x.attach_grad(request_)
            with autograd.record():
                y = function(x)
            if request_ == "null":
                assert x.grad is None
                continue
            assert (x.grad.dtype, x.grad.tolist()) == (dtype, [0, 0, 0])
            y.backward(retain_graph=True)
            assert (x.grad.dtype, x.grad.tolist()) == (dtype, [0, 0, 0])
            (g,) = autograd.grad(y, [x])
            assert (g.dtype, g.tolist()) == (dtype, [0, 0, 0])


def test_gradients_of_operations_with_integers() -> None:
    w, i = np.ones(3), np.arange(3)
    w.attach_grad(), i.attach_grad()
    with autograd.record():
        y = (w * i).sum()
        z = (w * 2.5).astype("int32") * 2.0  # a cast between floats passes them on
    autograd.backward([y, z])
    assert w.grad.tolist() == [5, 6, 7]
    assert i.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("given", [{"ctx": []}, {"device": ()}])
def test_an_empty_list_of_devices_is_named(given: Any) -> None:
    message = r"device: must be one device, or several in a list, got [\[(][\])]"
    with pytest.raises(ValueError, match=message):
        nn.Dense(2).initialize(**given)
    net = nn.Dense(2, in_units=1)
    net.initialize()
    with pytest.raises(ValueError, match=message):
        net.reset_ctx(**given)


def test_slices_of_vision_data_sets_are_arrays() -> None:
    import numpy

    class Digits(gluon.data.vision.datasets._Images):
        def _load(self) -> Any:
            return numpy.zeros((5, 2, 2, 1), "uint8"), numpy.arange(5)

    images, labels = Digits(".", None)[1:4]
    assert type(images) is type(labels) is np.ndarray
    assert (images.shape, labels.tolist(), str(labels.dtype)) == ((3, 2, 2, 1), [1, 2, 3], "int32")
    doubled = Digits(".", lambda image, label: (image, label * 2))
    assert doubled[2:4][1].tolist() == [4, 6]
    assert int(Digits(".", None)[3][1]) == 3
