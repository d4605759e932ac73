"""Every parameter of a function has an effect: ignored ones are listed here, with the reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest

from tests.support.paths import ROOT

PACKAGE = ROOT / "src" / "forerun"

# "file:function.parameter", or a pattern of them; functions of classes and functions have the names around them before.
IGNORED = {
    "*Elementwise.__call__.*": "for type checkers; the core takes the call",
    "kvstore.py:KVStore.*.key": "MXNet's stores are called with names; operations here are in the program's order",
    "kvstore.py:KVStore.*.priority": "MXNet's stores are called with priorities; the engine has its own order",
    "torch/distributed/*": "PyTorch's programs say how ranks meet and wait; the launcher decides here",
    "torch/nn/parallel.py:DistributedDataParallel.__init__.*": "PyTorch's settings of its own buckets and devices",
    "*.__exit__.*": "Python calls it with three arguments, used or not",
    "*.__get__.*": "Python calls descriptors with the instance and its class",
    # arguments of all functions of a family, which only some of them need
    "autograd/function.py:Function.gradients.attrs": "the tape calls all operations alike",
    "ops/_base/host_task.py:_NoGradient.gradients.*": "the tape calls all operations alike",
    "ops/shape/split.py:_Split.gradients.inputs": "the tape calls all operations alike",
    "_capture/captured.py:_Passes.gradients.*": "the tape calls all operations alike",
    "ops/_base/primitive.py:nondifferentiable.g": "the tape calls all gradients alike",
    "ops/reduce/product.py:_prod_grad.y": "asks for the output to be kept, which it uses by another way",
    "ops/reduce/scan.py:_cumprod_grad.y": "asks for the output to be kept, which it uses by another way",
    "_array/ufunc_protocol.py:_at.outs": "methods of ufuncs are called alike; `at` has no results",
    "_array/ufunc_calls.py:_found.loops": "part of the cache key: the number of loops of the ufunc",
    "_array/ufunc_calls.py:_found.default": "part of the cache key: the default float",
    "_array/ufunc_calls.py:_has_loop.loops": "part of the cache key: the number of loops of the ufunc",
    "_pjrt/kinds/elementwise/*.b": "lowerings of all functions are called alike",
    "onnx/operations.py:*._": "the dtype, which the result has as well",
    "onnx/nodes/*": "readers and writers of all kinds of nodes are called alike",
    "cli/__init__.py:_Formatter._fill_text.indent": "argparse calls it so",
    "_runtime/asyncio.py:_SelectPoll.register._events": "epoll is called so, always for the same events",
    "tour/experiments/libraries.py:*": "measured programs are called alike",
    "_launch/launcher.py:_signals.pass_on._": "Python calls handlers of signals with a frame",
    "_runtime/lifecycle.py:_finalize._": "the interpreter calls it so",
    "_display/notebook.py:Shown._repr_pretty_.cycle": "IPython calls it so",
    "_interop/import_hooks.py:_Arrival.find_spec.*": "Python's import system calls it so",
    "compat.py:_Finder.find_spec.*": "Python's import system calls it so",
    "as_numpy/__init__.py:*load_ipython_extension.shell": "IPython calls it so",
    "as_numpy/arrays.py:_resize.refcheck": "NumPy's check that nothing else refers to the array",
    "profiler/_hooks/metrics.py:metrics.pending._": "OpenTelemetry calls it so",
    "as_numpy/arrays.py:_methods_of_ops.otherwise.kwargs": "ways out are called alike; an op's options are one of args",
    "gluon/block/automatic.py:_SmallCalls.warn.look": "capture that no program has asked for warns of nothing",
    "gluon/block/block.py:Block.infer_shape.args": "a block without deferred shapes has nothing to infer",
    "gluon/data/dataset.py:Hosting._planned.late": "plans of all data sets are asked for alike",
    "gluon/data/vision/*:*._planned.late": "plans of all data sets are asked for alike",
    "gluon/rnn/cell.py:RecurrentCell._take.x": "a cell without weights has no width to take from an input",
    "gluon/rnn/*.infer_shape.states": "states have the shapes that the layer says",
    "gluon/rnn/combined.py:DropoutCell.state_info.batch_size": "the cell has no states",
    "gluon/block/summary.py:summary.note.args": "hooks are called with the arguments and the result",
    "init/*:*._init_weight.name": "rules are called with the name, which those that go by it need",
    "metric/*:*.value.n": "metrics are asked alike; these go by their sums alone",
    "metric/base.py:Loss.*.label*": "a mean of losses has no labels, in MXNet neither",
    "optimizer*:*.create_state.index": "MXNet's signature, which optimizers of users define anew",
    "optimizer*:*.factors.*": "rules are called alike; not all need the step's number or the weight decay",
    "optimizer*:*.step.weight": "rules are called alike; not all need the weight",
    "optimizer/sgd.py:SGLD.step.state": "rules are called alike; this one has no state",
    # parameters for programs of other libraries: results are correct for every value
    "ops/_base/primitive.py:Elementwise.__call__.*": "said for type checkers; calls are the core's",
    "torch/nn/layers.py:Identity.__init__.*": "PyTorch's takes anything, too: the layer can replace any other",
    "_runtime/device.py:cpu_pinned.device_id": "which GPU copies from it; the memory is the host's",
    "*.cudnn_off": "which library computes; there is one here",
    "*.subok": "there is one class of arrays",
    "ops/signal/sliding.py:as_strided.check_bounds": "bounds are checked in any case",
    "typing.py:Nested.*": "a protocol: its methods are those of others",
    "gluon/data/sampler.py:Examples.*": "a protocol: its methods are those of others",
    "ops/elementwise/erf.py:Ring.*": "a protocol: its methods are those of others",
    "_io/numpy_files.py:*.allow_pickle": "arrays hold numbers, and pickles are always refused",
    "_io/numpy_files.py:load.fix_imports": "a word about pickles, which are always refused",
    "_io/numpy_files.py:load.encoding": "a word about pickles, which are always refused",
    "_io/numpy_files.py:load.max_header_size": "headers are not evaluated; they have a limit of their own",
    "ops/statistics/quantile.py:*.overwrite_input": "a permission, which is not used",
    "ops/sort/unique.py:unique.sorted": "a permission to give values in any order; they are sorted",
    "*get_state.legacy": "another form of the same state; forerun's has one form, which `set_state` takes",
    "gluon/data/batchify.py:*.__init__.use_shared_mem": "where memory lies; the values are the same",
    "gluon/data/loader.py:DataLoader.__init__.pin_*": "where memory lies; the values are the same",
    "torch/utils/data.py:DataLoader.__init__.pin_memory": "where memory lies; the values are the same",
    "gluon/data/loader.py:DataLoader.__init__.try_nopython": "how functions are run; the values are the same",
    "gluon/data/vision/transform.py:Transform.hybridize.active": "transforms are not recorded, as they draw anew",
    "_io/npz.py:Source.read.name": "a protocol, which has no body",
    "gluon/block/hybrid.py:HybridBlock.export.remove_amp_cast": "there are no casts of that kind to be left out",
}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def refuses(statement: ast.stmt) -> bool:
    """Whether all that it does is to say that a subclass must define the function, or to be a docstring."""
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return docstring or isinstance(statement, ast.Raise)


def unread(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The parameters that the body does not read. A method for subclasses to define counts as reading all."""
    if any(ast.unparse(decorator).startswith(("overload", "delegate(")) for decorator in function.decorator_list):
        return []  # for type checkers; made of another function
    if any(isinstance(s, ast.Raise) for s in function.body) and all(map(refuses, function.body)):
        return []
    given = function.args
    several = [a for a in (given.vararg, given.kwarg) if a is not None]
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs, *several)]
    inside = [node for statement in function.body for node in ast.walk(statement)]
    read = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return [] if "locals" in read else [n for n in names if n not in read | {"self", "cls"}]


def functions_of(tree: ast.AST, around: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions, with the names of the classes and functions around them."""
    for node in ast.iter_child_nodes(tree):
        named = isinstance(node, (*FUNCTIONS, ast.ClassDef))
        name = f"{around}{node.name}" if named else ""
        if isinstance(node, FUNCTIONS):
            yield name, node
        yield from functions_of(node, f"{name}." if named else around)


def ignored(source: str, file: str) -> list[str]:
    """The parameters that functions of a file accept and ignore."""
    return [f"{file}:{name}.{p}" for name, f in functions_of(ast.parse(source)) for p in unread(f)]


@pytest.fixture(scope="module")
def found() -> list[str]:
    files = sorted(PACKAGE.rglob("*.py"))
    return [p for f in files for p in ignored(f.read_text(), f.relative_to(PACKAGE).as_posix())]


def test_no_parameter_is_accepted_and_ignored(found: list[str]) -> None:
    assert [p for p in found if not any(fnmatchcase(p, known) for known in IGNORED)] == []


def test_the_list_of_ignored_parameters_is_today_s(found: list[str]) -> None:
    assert [known for known in IGNORED if not any(fnmatchcase(p, known) for p in found)] == []


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("def f(a, b): return a", ["x:f.b"]),
        ("def f(a, **more): del more; return a", ["x:f.more"]),
        ("class C:\n def f(self, *a): pass", ["x:C.f.a"]),
        ("def f(a):\n def g(b): return 1\n return g(a)", ["x:f.g.b"]),
        ("def f(a):\n 'To be defined.'\n raise NotImplementedError", []),
        ("def f(a): return lambda: a", []),
    ],
)
def test_detection_of_unused_parameters(source: str, wanted: list[str]) -> None:
    assert ignored(source, "x") == wanted
