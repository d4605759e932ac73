"""Blocks whose calls can be recorded and issued as one program; may be written over a namespace `F`, as in MXNet."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ... import nd, np, npx
from ..._runtime.device import Device
from .block import Block
from .captured_calls import CaptureCache

__all__ = ["HybridBlock"]

Spec = tuple[tuple[int, ...], Any, Device]
"""Shape, dtype and device of an argument."""
Call = tuple[Any, Sequence[Spec]]
"""The structure of the arguments of a call, and the specs of the arrays in it."""


class _Functions(type):
    def __getattr__(cls, name: str) -> Any:
        return getattr(nd, name)


class HybridBlock(Block):
    """A block that `hybridize` makes faster. It may define `hybrid_forward(F, x, **params)` instead of `forward`.

    After `hybridize()`, the first call with arrays of some shapes, dtypes and devices runs `forward` as it is
    written, and the operations that it issues are recorded. Further such calls issue these operations as one program,
    which costs a few microseconds of Python for any number of operations; results and gradients are the same. Training
    and predicting, recording and not, have programs of their own. Blocks inside belong to the outermost one's program.

    So `forward` must issue the same operations for all values. Side effects other than operations happen only when it
    is captured; `print(x)` shows a placeholder with name, shape and dtype then. A `forward` that reads values (`if
    x.sum() > 0`, `item`, `np.unique`) runs as written each time, with one warning that names the line; so does one that
    sets attributes of blocks, draws random numbers on the host (permutations, choices), or uses an `autograd.Function`,
    without a warning: `hybridized` says so. Setting an attribute of a block makes it record anew.

    Parameters
    ----------
    prefix : str, optional
        The name, with or without "_" at its end, as in MXNet 1.x; None for one made of the class.
    params : ParameterDict, optional
        The parameters of another block, such as `other.params`, which are shared where names are the same.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import nn
    >>> net = nn.HybridSequential()
    >>> net.add(nn.Dense(4, activation="relu", in_units=2), nn.Dense(1, in_units=4))
    >>> net.initialize()
    >>> net.hybridize()
    >>> [net(np.ones((3, 2))).shape for _ in range(2)]
    [(3, 1), (3, 1)]
    >>> net.hybridized
    '1 program: matmul, add, maximum, matmul, add'

    >>> class Twice(HybridBlock):
    ...     def hybrid_forward(self, F, x):
    ...         return F.np.add(x, x)
    >>> Twice()(np.ones(2)).tolist()
    [2.0, 2.0]
    """

    class F(metaclass=_Functions):
        """The first argument of `hybrid_forward`: `np`, `npx`, and functions of `nd`, such as `F.relu`."""

        np = np
        npx = npx

    # Of `_export.symbol`, which sets it: a file that is written is read again as a block, and compared.
    _export: ClassVar[Callable[[HybridBlock, str, int, Call], tuple[str, str]]]

    def forward(self, *args: Any) -> Any:
        """Call `hybrid_forward` with the block's parameters by name."""
        function = getattr(self, "hybrid_forward", None)
        if function is None:
            return super().forward(*args)
        device = getattr(args[0], "device", None) if args else None
        params = {name: parameter.data(device) for name, parameter in self._params.items()}
        return function(self.F, *args, **params)

    def hybridize(self, active: bool = True, *, strict: bool = False, **settings: Any) -> None:
        """Capture calls from now on, and submit them as programs.

        Parameters
        ----------
        active : bool, optional
            Whether calls are captured; False ends it and drops the programs.
        strict : bool, optional
            Whether reading a value raises RuntimeError while a call is captured. Otherwise calls of the block, and
            those of blocks around it, run as they are written from then on, with one warning; blocks inside that do not
            read values have programs of their own.
        **settings : object
            MXNet's settings, such as `static_alloc`; they make no difference.

        Raises
        ------
        TypeError
            For settings that MXNet lacks, too.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon import nn
        >>> net = nn.Dense(2, in_units=3)
        >>> net.initialize(init="ones")
        >>> net.hybridize()
        >>> net(np.ones((1, 3))).tolist()
        [[3.0, 3.0]]
        """
        super().hybridize(active, strict=strict, **settings)
        self._recorded = CaptureCache(self, strict) if active else None

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> tuple[str, str]:
        """Write the block's computation when predicting, and its parameters.

        `SymbolBlock.imports` reads them, without the block's code, for arrays of the shapes of the first call since
        `hybridize()`, and any number of examples if that makes no difference. The operations are those that `forward`
        issues; they are compared with the block on values of their own before anything is written. The formats are
        forerun's (npz for the parameters, with "arg:" and "aux:" before the names). Waits.

        Parameters
        ----------
        path : str or path
            The common beginning of the names of both files.
        epoch : int, optional
            The number in the name of the file of parameters, written with four digits.
        remove_amp_cast : bool, optional
            Has no effect.

        Returns
        -------
        tuple of str
            The names of both files: path-symbol.json and path-0000.params.

        Raises
        ------
        RuntimeError
            Before `hybridize()` and a call.
        ValueError
            If `forward` reads values, or uses anything but forerun's operations on its arguments and parameters, such
            as host tasks, random numbers or `autograd.Function`.

        Examples
        --------
        >>> import tempfile
        >>> from forerun import np
        >>> from forerun.gluon import nn
        >>> net = nn.Dense(2, in_units=3)
        >>> net.initialize(); net.hybridize()
        >>> y = net(np.ones((1, 3)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = net.export(f"{folder}/net")
        >>> [name[-15:] for name in files]
        ['net-symbol.json', 'net-0000.params']
        """
        del remove_amp_cast
        if self._recorded is None or self._recorded.automatic or self._recorded.called is None:
            raise RuntimeError(f"export: {self.name} must be hybridized and called first, got no call")
        return HybridBlock._export(self, os.fspath(path), epoch, self._recorded.called)

    @property
    def hybridized(self) -> str:
        """Return the result of `hybridize`: the last program's operations, or why calls run as they are written."""
        return self._recorded.state() if self._recorded is not None else "not hybridized"


_Block = _CaptureCache = CaptureCache  # pickles of hybridized blocks know it by these names
