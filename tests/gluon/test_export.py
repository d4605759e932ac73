"""Blocks as files: their results without their code, for other numbers of examples; and invalid files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, np, npx
from forerun.extend import primitive
from forerun.gluon import SymbolBlock, nn, rnn
from forerun.gluon._export.format_1 import of_format_1
from forerun.ops._base.registry import operations, tuples
from tests.support.comparison.bits import assert_same_bits
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import RNG
from tests.support.paths import DATA


def convolutional() -> gluon.HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(3, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(), nn.AvgPool2D(), nn.Flatten())
    net.add(nn.Dropout(0.5), nn.LayerNorm(), nn.Dense(4, "sigmoid"), nn.GELU())
    return net


def word_network() -> gluon.HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Embedding(5, 4), rnn.LSTM(3, layout="NTC", bidirectional=True), nn.Dense(2, flatten=False))
    return net


def joined() -> gluon.HybridBlock:
    net = nn.HybridConcatenate(axis=1)
    net.add(nn.Dense(2), nn.Dense(3))
    return net


class Several(gluon.HybridBlock):
    """Several results, a constant, numbers of several kinds, a mask from values."""

    def __init__(self) -> None:
        super().__init__()
        self.table = gluon.Constant([[1.0], [2.0], [3.0]])

    def forward(self, x: Any, y: Any) -> Any:
        mask = (x > 0).astype("float32")
        return [np.where(x > y, x, -y) * mask, (x @ self.table.data(x.device)).reshape(-1), (y[:, 1:] ** 2).sum(axis=1)]


def floats(*shape: int) -> numpy.ndarray:
    return RNG.normal(size=shape).astype("float32")


NETS: dict[str, tuple[Callable[[], Any], Callable[[int], tuple[Any, ...]]]] = {
    "convolutions": (convolutional, lambda n: (floats(n, 1, 12, 12),)),
    "words": (word_network, lambda n: (RNG.integers(0, 5, size=(n, 4)),)),
    "joined": (joined, lambda n: (floats(n, 4),)),
    "several": (Several, lambda n: (floats(n, 3), floats(n, 3))),
}


def exported(net: Any, inputs: Any, folder: Path, **settings: Any) -> tuple[str, str]:
    net.initialize("xavier")
    net.hybridize()
    net(*map(np.array, inputs))
    return net.export(folder / "net", **settings)


def listed_results(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize("name", NETS)
def test_a_block_computes_the_same_without_its_code(name: str, tmp_path: Path) -> None:
    make, inputs = NETS[name]
    net = make()
    files = exported(net, inputs(2), tmp_path, epoch=7)
    assert files == (f"{tmp_path}/net-symbol.json", f"{tmp_path}/net-0007.params")
    again = SymbolBlock.imports(files[0], [f"data{i}" for i in range(len(inputs(1)))], files[1])
    for n, hybrid in ((2, False), (5, False), (5, True), (5, True)):
        given = [np.array(x) for x in inputs(n)]
        again.hybridize(hybrid)
        for found, expected in zip(listed_results(again(*given)), listed_results(net(*given)), strict=True):
            assert_same_bits(found, expected)


def test_gradients_flow_through_imported_blocks(tmp_path: Path) -> None:
    make, inputs = NETS["joined"]
    net, x = make(), np.array(inputs(3)[0])
    again = SymbolBlock.imports(*(lambda files: (files[0], "data", files[1]))(exported(net, inputs(3), tmp_path)))
    for block in (net, again):
        with autograd.record():
            y = (block(x) ** 2).sum()
        y.backward()
        gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.1}).step(1)
    for name, p in net.collect_params().items():
        assert_close(again.collect_params()[name].data(), p.data().asnumpy())


def test_grad_req_survives_export(tmp_path: Path) -> None:
    files = exported(convolutional(), (floats(2, 1, 12, 12),), tmp_path)
    assert {name[:4] for name in npx.load(files[1]) if "running" in name} == {"aux:"}
    params = SymbolBlock.imports(files[0], "data", files[1]).collect_params()
    assert {name for name, p in params.items() if p.grad_req == "null"} == {"1.running_mean", "1.running_var"}


def test_states_are_arguments_like_others(tmp_path: Path) -> None:
    net, x = rnn.LSTM(3, input_size=2), floats(4, 2, 2)
    net.initialize()
    net.hybridize()
    state = net.begin_state(batch_size=2)
    y, (h, c) = net(np.array(x), state)
    files = net.export(tmp_path / "net")
    again, (h2, c2) = SymbolBlock.imports(files[0], ["data", "h", "c"], files[1])(np.array(x), state)
    for found, expected in ((again, y), (h2, h), (c2, c)):
        assert (found == expected).all()
    with pytest.raises(ValueError, match=r"input must be float32 of \(4, 2, 2\), got float32 of \(3, 2, 2\)"):
        SymbolBlock.imports(files[0], ["data", "h", "c"], files[1])(np.array(x[1:]), state)


def test_parameters_may_be_made_anew_and_moved(two_devices: list[forerun.Device], tmp_path: Path) -> None:
    files = exported(joined(), (floats(2, 4),), tmp_path)
    again = SymbolBlock.imports(files[0], ["data"])
    with pytest.raises(RuntimeError, match=r"Parameter 0.weight: initialize\(\) must be called first"):
        again(np.ones((1, 4)))
    again.initialize("ones", ctx=two_devices)
    assert again(np.ones((1, 4), device=two_devices[1])).device == two_devices[1]
    again = SymbolBlock.imports(files[0], ["data"], files[1], ctx=two_devices[1])
    assert again.collect_params()["0.weight"].list_ctx() == [two_devices[1]]


class Square(gluon.HybridBlock):
    def forward(self, x: Any) -> Any:
        return x * x.shape[0] ** 2


def test_import_with_a_fixed_batch_size(tmp_path: Path) -> None:
    files = exported(Square(), (floats(2, 3),), tmp_path)
    again = SymbolBlock.imports(files[0], "data", files[1])
    assert again(np.ones((2, 3))).tolist() == [[4] * 3] * 2
    with pytest.raises(ValueError, match=r"input must be float32 of \(2, 3\), got float32 of \(3, 3\)"):
        again(np.ones((3, 3)))


class Drawn(gluon.HybridBlock):
    def forward(self, x: Any) -> Any:
        return x + np.random.normal(size=x.shape)


class Tasked(gluon.HybridBlock):
    def forward(self, x: Any) -> Any:
        return npx.host(numpy.sort, [x], [(x.shape, x.dtype)])[0]


class Own(gluon.HybridBlock):
    def forward(self, x: Any) -> Any:
        class Twice(autograd.Function):
            def forward(self, x: Any) -> Any:
                return 2 * x

        return Twice()(x)


class Lost(gluon.HybridBlock):
    def forward(self, x: Any) -> Any:
        return x * x.argmax()


REFUSED = {
    Drawn: "drawn.* must compute with its inputs and parameters alone, .* got another result again",
    Tasked: "operations must be forerun's own, got host, in tasked",
    Own: "operations must be forerun's own, got Twice, in own",
    Lost: "lost.* must compute with its inputs and parameters alone",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_export_of_unsupported_blocks_raises(kind: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"export: {REFUSED[kind]}"):
        exported(kind(), (floats(2, 3),), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_block_must_have_been_called(tmp_path: Path) -> None:
    net = nn.Dense(2, in_units=3)
    net.initialize()
    for prepare in (lambda: None, net.hybridize):
        prepare()
        with pytest.raises(RuntimeError, match=r"export: dense\d+ must be hybridized and called first, got no call"):
            net.export(tmp_path / "net")


def test_export_does_not_change_the_block(tmp_path: Path) -> None:
    net = convolutional()
    exported(net, (floats(2, 1, 12, 12),), tmp_path)
    assert all(p.data().node is None for p in net.collect_params().values() if p.grad_req == "null")
    net(np.array(floats(2, 1, 12, 12)))
    assert net.hybridized.startswith("1 program")


# --- files of the format before ---------------------------------------------------------------------------------------

FORMAT_1 = DATA / "exported_format_1"


@pytest.mark.parametrize("name", sorted(path.stem for path in FORMAT_1.glob("*.npz")))
def test_files_that_name_operations_by_their_modules_are_read(name: str) -> None:
    with numpy.load(FORMAT_1 / f"{name}.npz") as values:
        inputs = [values[key] for key in values if key.startswith("input")]
        expected = [values[key] for key in values if key.startswith("result")]
    names = [f"data{i}" for i in range(len(inputs))]
    block = SymbolBlock.imports(FORMAT_1 / f"{name}-symbol.json", names, FORMAT_1 / f"{name}.params")
    found = [x for r in listed_results(block(*map(np.array, inputs))) for x in listed_results(r)]
    assert [x.shape for x in found] == [x.shape for x in expected]
    for x, y in zip(found, expected, strict=True):
        assert_close(x, y)


def test_all_names_of_the_old_format_are_known() -> None:
    rows = (FORMAT_1 / "names.tsv").read_text().splitlines()
    pairs = dict(row.split("\t") for row in rows)
    assert {old: of_format_1(old) for old in pairs} == pairs
    assert [new for new in pairs.values() if new not in operations and new not in tuples] == []


def test_operation_names_in_files_do_not_depend_on_modules(tmp_path: Path) -> None:
    make, inputs = NETS["several"]
    file, _ = exported(make(), inputs(2), tmp_path)
    text = json.loads(Path(file).read_text())
    assert text["format"] == "forerun operations 2"
    assert [one[0] for one in text["operations"]] == [
        "greater", "cast", "greater", "negative", "where", "multiply", "matmul", "reshape", "getitem", "square", "sum",
    ]  # fmt: skip


# --- invalid files ---------------------------------------------------------------------------------------------------


def exported_text(**changes: Any) -> str:
    good = {
        "format": "forerun operations 2",
        "inputs": [[[2, 3], "float32"]],
        "examples": True,
        "parameters": {"w": [[3], "float32", True]},
        "operations": [["multiply", [{"input": 0}, {"parameter": "w"}], None]],
        "result": {"result": [0, 0]},
    }
    return json.dumps(good | changes)


INVALID_FILES = {
    "no JSON": ("{", "file must be in JSON"),
    "nested": ("[" * 100_000, "file must be in JSON"),
    "another format": (exported_text(format="mxnet"), "file must be in the format 'forerun operations 2', got mxnet"),
    "no object": ("[]", "file must be in the format 'forerun operations 2', got another"),
    "inputs": (exported_text(inputs=3), "inputs must be a list"),
    "a shape": (exported_text(inputs=[[[-2], "float32"]]), "arrays must have shape and dtype"),
    "a huge shape": (exported_text(inputs=[[[1 << 60], "float32"]]), "arrays must have shape and dtype"),
    "a dtype": (exported_text(inputs=[[[2], "object"]]), "dtype must be one of numbers, got 'object'"),
    "parameters": (exported_text(parameters=[]), "parameters must be named"),
    "no operations": (exported_text(operations={}), "operations must be a list, got dict"),
    "an operation": (exported_text(operations=[1]), "operation must be a name, inputs and the rest, got 1"),
    "an operation of the old format": (
        exported_text(operations=[["ops.arithmetic.multiply", [], None]]),
        "operation must be one that this version has, got ops.arithmetic.multiply",
    ),
    "another's operation in the old format": (
        exported_text(format="forerun operations 1", operations=[["os.add", [], None]]),
        "operation must be one that this version has, got os.add",
    ),
    "a tuple as an operation": (
        exported_text(operations=[["linalg.SVDResult", [], None]]),
        "operation must be one that this version has, got linalg.SVDResult",
    ),
    "another's operation": (
        exported_text(operations=[["os.system", [], None]]),
        "operation must be one that this version has",
    ),
    "an input": (exported_text(result={"input": 1}), r"values must be of the known kinds, got \{'input': 1\}"),
    "a later result": (exported_text(result={"result": [1, 0]}), "values must be of the known kinds"),
    "a parameter": (exported_text(result={"parameter": "v"}), "values must be of the known kinds"),
    "a word": (exported_text(result={"call": "exit"}), "values must be of the known kinds"),
    "no word": (exported_text(result={}), "values must be of the known kinds"),
    "a class": (exported_text(result={"record": ["os.stat_result", 1]}), "values must be of the known kinds"),
    "depth": (exported_text(result=json.loads("[" * 40 + "]" * 40)), "values must not be nested deeper"),
}


@pytest.mark.parametrize("case", INVALID_FILES)
def test_invalid_files_are_refused(case: str, tmp_path: Path) -> None:
    text, words = INVALID_FILES[case]
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError, match=f"imports: {words}"):
        SymbolBlock.imports(tmp_path / "x.json", ["data"])


def test_the_file_without_changes_is_valid(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(exported_text())
    block = SymbolBlock.imports(tmp_path / "x.json", "data")
    block.load_dict({"w": np.array([1.0, 2.0, 3.0])})
    assert block(np.ones((1, 3))).tolist() == [[1, 2, 3]]
    with pytest.raises(ValueError, match=r"imports: input_names must be 1 names, got \['a', 'b'\]"):
        SymbolBlock.imports(tmp_path / "x.json", ["a", "b"])
    with pytest.raises(ValueError, match=r"input must be float32 of \('any', 3\), got float32 of \(1, 4\)"):
        block(np.ones((1, 4)))
    npx.save(tmp_path / "other", {"v": np.ones(3)})
    with pytest.raises(ValueError, match="imports: file must have all parameters, got none for"):
        SymbolBlock.imports(tmp_path / "x.json", "data", tmp_path / "other")


def test_operations_that_do_not_fit_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(exported_text(operations=[["multiply", [{"input": 0}], None]]))
    block = SymbolBlock.imports(tmp_path / "x.json", "data")
    block.initialize()
    with pytest.raises(ValueError, match="SymbolBlock: operation 0, multiply, must fit its inputs"):
        block(np.ones((1, 3)))


# --- operations of a program's own ------------------------------------------------------------------------------------


def test_a_custom_operation_is_exported_by_its_name(tmp_path: Path) -> None:
    cube = primitive(lambda g, x: 3 * g * x * x, op="mine.cube")(lambda x: x**3)

    class Cubed(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return cube(x) + 1

    files = exported(Cubed(), (floats(2, 3),), tmp_path)
    assert [one[0] for one in json.loads(Path(files[0]).read_text())["operations"]] == ["mine.cube", "add"]
    again, x = SymbolBlock.imports(files[0], "data"), np.array([[1.0, 2.0, 3.0]])
    x.attach_grad()
    with autograd.record():
        y = again(x)
    y.backward()
    assert (y.tolist(), x.grad.tolist()) == ([[2, 9, 28]], [[3, 12, 27]])
