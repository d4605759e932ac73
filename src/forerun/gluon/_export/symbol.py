"""Blocks as files: their computation and their parameters, for programs that do not have the block's code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ... import autograd, np
from ..._capture import core as _core
from ..._capture.structures import flatten, unflatten
from ..._io.atomic_write import place, replacing
from ..._io.named_arrays import save_named
from ...ops._base.programs import ProgramCapture
from ..block.captured_calls import written
from ..block.hybrid import Call, HybridBlock, Spec
from ..parameter.dictionary import load
from ..parameter.loading import set_values
from ..parameter.parameter import Devices, Parameter
from .exported import FORMAT, FORMATS, NotExportable, Reader, computed, fitted, operations_of

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["SymbolBlock", "described", "export"]

_LONGEST = 100_000_000  # bytes of a symbol file


class SymbolBlock(HybridBlock):
    """An exported block, read by `imports`. It computes the same as the exported block does when predicting.

    Parameters
    ----------
    saved : dict
        The contents of an exported file: `imports` reads it.

    Examples
    --------
    >>> import tempfile
    >>> from forerun import np
    >>> from forerun.gluon import SymbolBlock, nn
    >>> net = nn.Dense(2, in_units=3)
    >>> net.initialize(); net.hybridize()
    >>> y = net(np.ones((1, 3)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = net.export(f"{folder}/net")
    ...     again = SymbolBlock.imports(files[0], ["data"], files[1])
    >>> bool((again(np.ones((1, 3))) == y).all())
    True
    """

    def __init__(self, saved: dict[str, Any]) -> None:
        super().__init__()
        self._inputs = _specs_of(saved)
        for name, (shape, dtype, trained) in _parameters_of(saved).items():
            self._params[name] = Parameter(name, "write" if trained else "null", shape, dtype, differentiable=trained)
        self._any_number = saved.get("examples") is True
        self._reader = Reader(saved, len(self._inputs), list(self._params))

    @staticmethod
    def imports(
        symbol_file: str | os.PathLike[str],
        input_names: str | Sequence[str],
        param_file: str | os.PathLike[str] | None = None,
        ctx: Devices = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        *,
        device: Devices = None,
    ) -> SymbolBlock:
        """Read a block that `export` wrote.

        Nothing in the files is executed but registered operations, on arrays: forerun's, and those that the program has
        registered itself.

        Parameters
        ----------
        symbol_file : str or path
            The file of the computation.
        input_names : str or sequence of str
            A name for each array that the block takes.
        param_file : str or path, optional
            The file of the parameters; None if they wait for `initialize`.
        ctx, device : device or list of devices, optional
            Where the parameters are made; None for the current device. Both names mean the same.
        allow_missing : bool, optional
            Whether the file may lack parameters.
        ignore_extra : bool, optional
            Whether the file may have further arrays.

        Returns
        -------
        SymbolBlock
            The block.

        Raises
        ------
        ValueError
            For files in another format or with impossible contents, or another number of names.

        Examples
        --------
        >>> import tempfile
        >>> from forerun import np
        >>> from forerun.gluon import SymbolBlock, nn
        >>> net = nn.Dense(2, in_units=3)
        >>> net.initialize(); net.hybridize()
        >>> y = net(np.ones((1, 3)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = SymbolBlock.imports(*net.export(f"{folder}/net")[:1], "data")
        >>> sorted(again.collect_params())
        ['bias', 'weight']
        """
        block = SymbolBlock(_read(symbol_file))
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        if len(names) != len(block._inputs):
            raise ValueError(f"imports: input_names must be {len(block._inputs)} names, got {names}")
        if param_file is not None:
            where = device if device is not None else ctx
            set_values(block.params, load(param_file), where, allow_missing, ignore_extra, op="imports")
        return block

    def forward(self, *args: Array | Sequence[Array]) -> Any:
        """Return the results.

        Raises ValueError for inputs of other shapes or dtypes than the block was exported for.
        """
        arrays, _ = flatten(args)
        if len(arrays) != len(self._inputs):
            raise ValueError(f"SymbolBlock: inputs must be {len(self._inputs)} arrays, got {len(arrays)}")
        n = self._any_number
        for x, (shape, dtype) in zip(arrays, self._inputs):
            if x.shape[n:] != shape[n:] or x.ndim != len(shape) or x.dtype != dtype:
                wanted = ("any", *shape[1:]) if n else shape
                raise ValueError(f"SymbolBlock: input must be {dtype} of {wanted}, got {x.dtype} of {x.shape}")
        if n and len({x.shape[0] for x in arrays}) != 1:
            raise ValueError(f"SymbolBlock: inputs must have as many examples, got {[x.shape[0] for x in arrays]}")
        parameters = {name: p.data(arrays[0].device) for name, p in self._params.items()}
        return computed(self._reader, arrays, parameters)


def export(block: HybridBlock, path: str, epoch: int, called: Call) -> tuple[str, str]:
    """Write path-symbol.json and path-0000.params; see `HybridBlock.export`."""
    saved, values = described(block, called)
    files = f"{path}-symbol.json", f"{path}-{epoch:04d}.params"
    with replacing(place(files[0])) as out:
        out.write(json.dumps(saved, allow_nan=True).encode())

    def kind(name: str) -> str:
        return "arg:" if saved["parameters"][name][2] else "aux:"

    save_named("export", files[1], {kind(name) + name: x for name, x in values.items()})
    return files


HybridBlock._export = export


def described(block: HybridBlock, called: Call) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return a block's computation, in words of JSON, and the parameters and constants by their names there.

    called: the structure of its arguments, and the specs of the arrays in it. The description is compared with
    the block on values of its own. ValueError if it cannot be described.
    """
    form, specs = called

    def run(*arrays: Array) -> Any:
        return written(block)(*unflatten(form, iter(arrays)))

    params = dict(block.collect_params())
    arrays = {name: p.data() for name, p in params.items()}
    saved: dict[str, Any] = {"format": FORMAT, "inputs": [[list(shape), dtype.name] for shape, dtype, _ in specs]}
    try:
        operations, result, constants, any_number = _described(lambda *arrays: _unseen(run, arrays), arrays, specs)
    except NotExportable as why:
        raise ValueError(f"export: {why}, in {block.name}") from None
    saved |= {"examples": any_number, "operations": operations, "result": result}
    kept = {f"constant{i}": x for i, x in enumerate(constants)}
    saved["parameters"] = {
        name: [list(x.shape), x.dtype.name, name in params and params[name].grad_req != "null"]
        for name, x in {**arrays, **kept}.items()
    }
    read = SymbolBlock(json.loads(json.dumps(saved, allow_nan=True)))
    read.load_dict({**arrays, **kept}, device=specs[0][2] if specs else None)
    if not _alike(run, read, specs, any_number):
        text = "compute with its inputs and parameters alone, in operations that the tape knows"
        raise ValueError(f"export: {block.name} must {text}; got another result again")
    return saved, {name: p.mean_data() for name, p in params.items()} | kept


def _unseen(run: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """Return the results. NotExportable if the code reads values."""
    with ProgramCapture(()) as capture:
        result = run(*arrays)
        if capture.first_read is not None:
            raise NotExportable(capture.refused)
        return result


def _described(function: Callable[..., Any], arrays: Any, specs: Sequence[Spec]) -> tuple[Any, Any, list[Any], bool]:
    """Operations, results, constants, and whether they hold for any number of examples."""

    def run(more: int) -> Any:
        return operations_of(function, [_made(spec, more) for spec in specs], arrays)

    operations, result, constants = run(0)
    if all(shape for shape, _, _ in specs) and len({shape[0] for shape, _, _ in specs}) == 1 and specs:
        try:
            others = [run(1), run(2)]
            if any(not _equal(constants, other[2]) for other in others):
                raise NotExportable("other constants")
            both = [[one[0], one[1]] for one in ((operations, result), *others)]
            fit = fitted(both[0], both[1], both[2], specs[0][0][0])
            return fit[0], fit[1], constants, True
        except (NotExportable, ValueError, IndexError):  # then it is for this number of examples alone
            pass
    return operations, result, constants, False


def _equal(a: Sequence[Any], b: Sequence[Any]) -> bool:
    values = ((x.asnumpy(), y.asnumpy()) for x, y in zip(a, b))
    return len(a) == len(b) and all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in values)


def _made(spec: Spec, more: int = 0, rng: Any = None) -> Array:
    """Return an array as the block was called with; with other examples, and with values."""
    shape, dtype, device = spec
    shape = (shape[0] + more, *shape[1:]) if shape else shape
    if rng is None:
        return np.zeros(shape, dtype, device=device)
    values = rng.normal(size=shape) if dtype.kind in "fc" else rng.integers(0, 2, size=shape)
    return np.array(values, dtype=dtype, device=device)


def _alike(run: Callable[..., Any], read: SymbolBlock, specs: Sequence[Spec], any_number: bool) -> bool:
    """Return whether both give the same results for values that neither has seen."""
    rng = numpy.random.default_rng(1)
    with autograd.pause():
        for more in (0, 3 * any_number):
            inputs = [_made(spec, more, rng) for spec in specs]
            if not _same(run(*inputs), read._plain(*inputs)):
                return False
    return True


def _same(a: Array, b: Array) -> bool:
    if isinstance(a, _core.Array) and isinstance(b, _core.Array):
        return a.dtype == b.dtype and bool(numpy.array_equal(a.asnumpy(), b.asnumpy(), equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


# --- contents of a file ----------------------------------------------------------------------------------------------


def _read(file: str | os.PathLike[str]) -> dict[str, Any]:
    if os.path.getsize(file) > _LONGEST:
        raise ValueError(f"imports: file must have at most {_LONGEST} bytes, got {os.path.getsize(file)}")
    with open(file, encoding="utf-8", errors="replace") as found:
        try:
            saved = json.load(found)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"imports: file must be in JSON, got {str(error)[:200]}") from None
    if not isinstance(saved, dict) or saved.get("format") not in tuple(FORMATS):
        text = str(saved.get("format", "another") if isinstance(saved, dict) else "another")[:100]
        raise ValueError(f"imports: file must be in the format {FORMAT!r}, got {text}")
    return saved


def _shape_and_dtype(one: Any, n: int) -> tuple[tuple[int, ...], numpy.dtype[Any]]:
    good = isinstance(one, list) and len(one) == n and isinstance(one[0], list) and isinstance(one[1], str)
    if not good or len(one[0]) > 64 or not all(type(x) is int and 0 <= x < 1 << 59 for x in one[0]):
        raise ValueError(f"imports: arrays must have shape and dtype, got {str(one)[:100]}")
    try:
        dtype = numpy.dtype(one[1])
    except TypeError:
        dtype = numpy.dtype(object)
    if dtype.kind not in "biufc":
        raise ValueError(f"imports: dtype must be one of numbers, got {one[1][:50]!r}")
    return tuple(one[0]), dtype


def _specs_of(saved: dict[str, Any]) -> list[tuple[tuple[int, ...], numpy.dtype[Any]]]:
    if not isinstance(saved.get("inputs"), list):
        raise ValueError("imports: inputs must be a list, got none")
    return [_shape_and_dtype(one, 2) for one in saved["inputs"]]


def _parameters_of(saved: dict[str, Any]) -> dict[str, tuple[tuple[int, ...], Any, bool]]:
    if not isinstance(saved.get("parameters"), dict):
        raise ValueError("imports: parameters must be named, got none")
    return {name: (*_shape_and_dtype(one, 3), one[2] is True) for name, one in saved["parameters"].items()}
