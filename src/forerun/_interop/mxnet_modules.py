"""MXNet's module paths: forerun's module for each of them, or the replacement to recommend."""

from __future__ import annotations

__all__ = ["MODULES", "ABSENT"]


def _all(source: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), source)


_SAME = (
    "np np.random np.linalg np.fft npx npx.image npx.random "
    "autograd init kvstore optimizer lr_scheduler metric image nd nd.random gluon gluon.nn "
    "gluon.rnn gluon.loss gluon.data gluon.data.dataset gluon.data.sampler gluon.data.batchify gluon.data.vision "
    "gluon.data.vision.datasets gluon.data.vision.transforms gluon.utils gluon.parameter gluon.block gluon.trainer "
    "gluon.contrib gluon.contrib.cnn gluon.contrib.nn gluon.contrib.rnn gluon.contrib.data "
    "gluon.contrib.data.vision gluon.model_zoo gluon.model_zoo.vision optimizer.sgd optimizer.adam"
)
_NETWORKS = ("alexnet", "densenet", "inception", "mobilenet", "resnet", "squeezenet", "vgg")

MODULES: dict[str, str] = {
    **{name: name for name in _SAME.split()},
    **{f"gluon.model_zoo.vision.{name}": f"gluon.model_zoo.vision.{name}" for name in _NETWORKS},
    **_all("np", "numpy numpy.multiarray numpy.function_base numpy.fallback numpy.utils numpy.set_functions numpy.io"),
    **_all("np.random", "numpy.random"),
    **_all("np.linalg", "numpy.linalg"),
    **_all("np.fft", "numpy.fft"),
    **_all("npx", "numpy_extension"),
    **_all("npx.random", "numpy_extension.random"),
    **_all("npx.image", "numpy_extension.image"),
    **_all("init", "initializer"),
    **_all("nd", "ndarray ndarray.ndarray ndarray.utils"),
    **_all("nd.random", "ndarray.random"),
    **_all("image", "img image.image"),
    **_all("kvstore", "kv"),
    **_all("metric", "gluon.metric"),
    **_all(
        "optimizer",
        "optimizer.optimizer optimizer.adamW optimizer.adagrad optimizer.adadelta optimizer.adamax "
        " optimizer.rmsprop optimizer.nag optimizer.ftrl optimizer.signum optimizer.lamb",
    ),
    **_all("gluon.data.loader", "gluon.data.dataloader"),
    **_all("gluon.nn", "gluon.nn.basic_layers gluon.nn.conv_layers gluon.nn.activations"),
    **_all("gluon.rnn", "gluon.rnn.rnn_cell gluon.rnn.rnn_layer"),
    **_all("gluon.model_zoo", "gluon.model_zoo.model_store"),
    **_all("gluon.contrib.cnn", "gluon.contrib.cnn.conv_layers"),
    **_all("gluon.contrib.nn", "gluon.contrib.nn.basic_layers"),
    **_all("gluon.contrib.rnn", "gluon.contrib.rnn.rnn_cell gluon.contrib.rnn.conv_rnn_cell"),
}

_SYMBOLS = "is not provided: symbols are built by tracing here; use gluon.HybridBlock with hybridize() and export()"
_MODULE_API = "is not provided: write the training loop with gluon.Trainer and autograd.record()"
_LOADERS = "is not provided; use gluon.data.DataLoader"
_PICTURES = "is not provided; use forerun.graph(result) for a picture of the pending operations, or net.summary(x)"
_CUSTOM = "is not provided; use autograd.Function, or npx.host for a function over NumPy arrays"

ABSENT: dict[str, str] = {
    **_all(_SYMBOLS, "sym symbol executor attribute name subgraph cached_op"),
    **_all(_MODULE_API, "mod module model callback monitor mon rnn"),
    **_all(_LOADERS, "io"),
    "kvstore_server": 'is not provided: there are no servers; kvstore.create("dist_sync") sums over ranks',
    **_all(_PICTURES, "viz visualization"),
    **_all(_CUSTOM, "operator rtc library tvmop"),
    "recordio": "is not provided; use gluon.data.RecordFileDataset to read record files",
    "profiler": "is not provided; use forerun.profiler, or the command `forerun trace`",
    "engine": "is not provided: operations are put together without being asked to; see forerun.configure",
    "test_utils": "is not provided; use numpy.testing with x.asnumpy()",
    "runtime": "is not provided; use the command `forerun info`",
    "onnx": "is not provided; use forerun.onnx.export(net, x, path) and forerun.onnx.import_model(path)",
    "amp": "is not provided; use net.cast() and dtypes in programs",
    "base": "is not provided; errors are Python's own, such as ValueError",
    "error": "is not provided; errors are Python's own, such as ValueError",
    "log": "is not provided; use Python's logging",
    "dlpack": "is not provided; use np.from_dlpack and x.__dlpack__()",
    "contrib": "is not provided; its available functions are in npx, np and gluon.contrib",
    "ndarray.sparse": "is not provided: arrays are dense; use ndarrays of np, or scipy.sparse",
    "nd.sparse": "is not provided: arrays are dense; use ndarrays of np, or scipy.sparse",
    "ndarray": "is not provided; use the functions of mxnet.np and mxnet.npx",
    "nd": "is not provided; use the functions of mxnet.np and mxnet.npx",
    "gluon.probability": "is not provided; use np.random, and densities written with np",
    "gluon.contrib.estimator": "is not provided: write the training loop with gluon.Trainer and autograd.record()",
    "numpy": "is not provided; use the functions of mxnet.np",
    "numpy_extension": "is not provided; use the functions of mxnet.npx",
}
