"""Blocks: layers and whole networks, as trees that own parameters."""

from __future__ import annotations

import itertools
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from ... import np
from ..._capture import core as _core
from ..._display.notebook import show
from ...init import Initializer
from ..parameter.deferred import DeferredInitializationError, UninitializedError, placed
from ..parameter.dictionary import ParameterDict
from ..parameter.loading import set_values
from ..parameter.parameter import Devices, Parameter
from ..parameter.sharing import share, taking_params
from .automatic import AutomaticCapture
from .hooks import Hook, Hooks, monitor
from .summary import summary as summary_of
from .watched import depend_on_tree, note_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...typing import Array, DTypeLike
    from .captured_calls import CaptureCache

__all__ = ["Block", "Hook"]

_numbers: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)


_HYBRID_SETTINGS = {  # MXNet's: how its programs are run and put into memory; results are the same
    "static_alloc", "static_shape", "inline_limit", "forward_bulk_size", "backward_bulk_size", "partition_if_dynamic",
    "flags", "backend", "backend_opts", "clear", "strict",
}  # fmt: skip


def check_hybrid_settings(settings: dict[str, Any]) -> None:
    """Raise TypeError, which lists the valid ones, for settings of `hybridize` that MXNet does not have.

    >>> check_hybrid_settings({"static_alloc": True})
    """
    if wrong := set(settings) - _HYBRID_SETTINGS:
        known = ", ".join(sorted(_HYBRID_SETTINGS))
        raise TypeError(f"hybridize: settings must be among {known}, got {', '.join(sorted(wrong))}")


class Block:
    """A layer or a network. `forward` defines its computation; blocks and parameters set as attributes belong to it.

    Parameters
    ----------
    prefix : str, optional
        The name, with or without "_" at its end, as in MXNet 1.x; None for one made of the class.
    params : ParameterDict, optional
        The parameters of another block, such as `other.params`, which are shared where names are the same.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import Block, Parameter
    >>> class Scale(Block):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = Parameter("factor", shape=(), init="ones")
    ...     def forward(self, x):
    ...         return x * self.factor.data()
    >>> net = Scale()
    >>> net.initialize()
    >>> net(np.ones(2)).tolist()
    [1.0, 1.0]
    >>> list(net.collect_params())
    ['factor']
    """

    _recorded: CaptureCache | None = None
    _automatic = False  # whether small calls are captured without `hybridize`

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        kind = type(self).__name__.lower()
        self._name = (prefix or "").rstrip("_") or f"{kind}{next(_numbers[kind])}"
        self._children: dict[str, Block] = {}
        self._params = ParameterDict()
        self._before: dict[int, Callable[..., Any]] = {}
        self._after: dict[int, Callable[..., Any]] = {}
        if self._automatic:
            self.__dict__["_recorded"] = AutomaticCapture(self)
        if params is not None:
            self.__dict__["_to_share"] = params  # once the block has its own: see sharing.py
            if type(self).__init__ is Block.__init__:
                share(self, self.__dict__.pop("_to_share"))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = taking_params(cls.__init__)  # type: ignore[method-assign]

    def __copy__(self) -> Block:
        """Return a block with the same parts, and with programs of its own."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if self._recorded is not None:
            twin.__dict__["_recorded"] = self._recorded.for_another(twin)
        return twin

    def __setattr__(self, name: str, value: object) -> None:
        try:
            if isinstance(value, (Block, Parameter)):
                self._register(name, value)
            super().__setattr__(name, value)
        finally:
            self._changed(name)

    def _changed(self, what: str) -> None:
        """Note a change, after which captured programs of the block may be out of date."""
        note_change(self)
        _core.capture_refuse(f"its forward sets {type(self).__name__}.{what}")

    def _register(self, name: str, value: Block | Parameter) -> None:
        if "_params" not in self.__dict__:
            raise RuntimeError(f"{type(self).__name__}: super().__init__() must come before {name!r} is set")
        members, other = self._children, self._params
        if isinstance(value, Parameter):
            members, other = other, members  # type: ignore[assignment]
        other.pop(name, None)
        members[name] = value  # type: ignore[assignment]

    @property
    def name(self) -> str:
        """A name that no other block of the process has, such as "dense0"."""
        return self._name

    @property
    def params(self) -> ParameterDict:
        """The block's own parameters, without its children's."""
        return self._params

    def name_scope(self) -> AbstractContextManager[None]:
        """Return a context manager that does nothing: MXNet 1.x's programs make the children of a block in it."""
        return nullcontext()

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make a block a child.

        Parameters
        ----------
        block : Block
            The child.
        name : str, optional
            Its name in the tree; None for its number among the children.

        Examples
        --------
        >>> from forerun.gluon import Block, nn
        >>> net = Block()
        >>> net.register_child(nn.Dense(1), "head")
        >>> list(net.collect_params())
        ['head.weight', 'head.bias']
        """
        self._children[name if name is not None else str(len(self._children))] = block
        self._changed("children")

    def forward(self, *args: Any) -> Any:
        """Compute the result of the block; subclasses define this."""
        raise NotImplementedError(f"{type(self).__name__}: forward must be defined, got none")

    def infer_shape(self, *args: Any) -> None:
        """Set the shapes of parameters that depend on the data; layers with deferred parameters define this."""
        waiting = [name for name, parameter in self._params.items() if parameter.is_deferred]
        raise DeferredInitializationError(
            f"{type(self).__name__}: infer_shape must be defined for deferred shapes, got none for {waiting}"
        )

    def _finish_deferred(self, args: tuple[Any, ...]) -> None:
        if any(p.is_deferred and -1 in (p.shape or (-1,)) for p in self._params.values()):
            self.infer_shape(*args)
        for parameter in self._params.values():
            parameter.finish_deferred_init()

    def __call__(self, *args: Any) -> Any:
        """Run `forward`, or the program captured of it, with the hooks before and after.

        Parameters whose shape depends on `args` are made first.
        """
        recorded = self._recorded
        if recorded is None:
            return self._hooked(self._plain, args)
        if _core.capturing():
            return recorded.recorded.inside(self._as_written, args)
        if self._before or self._after:
            return self._hooked(lambda *_: recorded.call(args), args)
        return recorded.call(args)

    def _as_written(self, *args: Any) -> Any:
        return self._hooked(self._plain, args)

    def _hooked(self, run: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        for hook in list(self._before.values()):
            hook(self, args)
        result = run(*args)
        for hook in list(self._after.values()):
            hook(self, args, result)
        return result

    def _plain(self, *args: Any) -> Any:
        for parameter in self._params.values():
            if parameter.is_deferred:
                _core.capture_paused(lambda: self._finish_deferred(args))
                break
        if _core.capturing():
            depend_on_tree(self)
        try:
            return self.forward(*args)
        except UninitializedError as error:
            self._locate(error)
            raise

    def _locate(self, error: UninitializedError) -> None:
        """Add to an error the place of its parameter in this block."""
        inside: Any = error.parameter if error.inside is None else error.inside
        members: Mapping[str, Any] = self._params if error.inside is None else self._children
        name = next((name for name, member in members.items() if member is inside), None)
        if name is not None:
            placed(error, name)
            error.inside = self

    def register_forward_pre_hook(self, hook: Callable[[Block, Any], Any]) -> Hook:
        """Call `hook(block, inputs)` before each run."""
        return Hook(self, self._before, hook)

    def register_forward_hook(self, hook: Callable[[Block, Any, Any], Any]) -> Hook:
        """Call `hook(block, inputs, output)` after each run."""
        return Hook(self, self._after, hook)

    def summary(self, *inputs: Array | Sequence[Array]) -> None:
        """Print a table of the layers for these inputs: shapes of results, and numbers of parameters.

        Parameters that are there twice count once in the last line. The block may be hybridized. Waits for nothing.

        >>> from forerun import np
        >>> from forerun.gluon import nn
        >>> net = nn.Dense(2)
        >>> net.initialize()
        >>> net.summary(np.ones((4, 3)))  # doctest: +ELLIPSIS
        ------------------------------------------------------------------------------
                        Layer (type)                      Output Shape         Param #
        ==============================================================================
                               Input                            (4, 3)               0
                             Dense-1                            (4, 2)               8
        ==============================================================================
        ...
        """
        show(summary_of(self, inputs))

    def register_op_hook(self, callback: Callable[[str, str, Any], Any], monitor_all: bool = False) -> Hooks:
        """Call a function for each array that a layer returns, in the whole tree. Layers are blocks without children.

        Parameters
        ----------
        callback : callable
            Called as `callback(name, kind, array)`. The name tells the place of the layer and which result it is, such
            as "0.output" or "0.output1"; the kind is the layer's class.
        monitor_all : bool, optional
            Whether it is also called for inputs and parameters of layers, such as "0.data" and "0.weight".

        Returns
        -------
        Hooks
            An object whose `detach` ends the calls.
        """
        places: dict[Block, str] = {}
        for place, block in self._by_place():
            if not block._children:
                places.setdefault(block, place)  # once, even if it occurs again

        def tell(place: str) -> Callable[..., None]:
            return monitor(place, callback, monitor_all)

        return Hooks([block.register_forward_hook(tell(place)) for block, place in places.items()])

    def _by_place(self, prefix: str = "") -> Iterator[tuple[str, Block]]:
        yield prefix, self
        for name, child in self._children.items():
            yield from child._by_place(f"{prefix}{name}.")

    def _tree(self) -> Iterator[Block]:
        yield self
        for child in self._children.values():
            yield from child._tree()

    def _named(self, prefix: str = "") -> Iterable[tuple[str, Parameter]]:
        for name, parameter in self._params.items():
            yield prefix + name, parameter
        for name, child in self._children.items():
            yield from child._named(f"{prefix}{name}.")

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """Return the parameters of the tree by their place, such as "0.weight"; `select`: names matching a regex."""
        wanted = re.compile(select or "")
        return ParameterDict({name: p for name, p in self._named() if wanted.match(name)})

    def share_parameters(self, shared: ParameterDict) -> Block:
        """Use the parameters of another block of the same structure, where names are the same; return self."""
        for name in self.collect_params().keys() & shared.keys():
            *path, last = name.split(".")
            block = self
            for step in path:
                block = block._children[step]
            setattr(block, last, shared[name])
        return self

    def initialize(
        self,
        init: str | Initializer | None = None,
        ctx: Devices = None,
        verbose: bool = False,
        force_reinit: bool = False,
        *,
        device: Devices = None,
    ) -> None:
        """Initialise all parameters: each by its own rule, else by `init`, else by Uniform(0.07).

        Parameters
        ----------
        init : str or Initializer, optional
            The rule of parameters without one.
        ctx, device : device or list of devices, optional
            The device, or several with equal values; None for the current one.
        verbose : bool, optional
            Whether each parameter is logged.
        force_reinit : bool, optional
            Whether parameters that are initialised get new values.

        Examples
        --------
        >>> from forerun.gluon import nn
        >>> net = nn.Dense(1, in_units=2)
        >>> net.initialize("ones")
        >>> net.weight.data().tolist()
        [[1.0, 1.0]]
        """
        self.collect_params().initialize(init, ctx, verbose, force_reinit, device=device)

    def save_parameters(
        self, filename: str | os.PathLike[str], deduplicate: bool = False, *, wait: bool = True
    ) -> Array:
        """Write all parameters to a file: safetensors if its name ends in ".safetensors", else npz.

        Parameters
        ----------
        filename : str or path
            The name of the file.
        deduplicate : bool, optional
            Whether a parameter that has several names is written once.
        wait : bool, optional
            Whether the call returns when the file is written; with False it returns at once, as `np.save` does.

        Returns
        -------
        array
            The size of the file.

        Raises
        ------
        RuntimeError
            Before initialisation.
        """
        return self.collect_params().save(filename, deduplicate=deduplicate, wait=wait)

    def load_parameters(
        self,
        filename: str | os.PathLike[str],
        ctx: Devices = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        *,
        device: Devices = None,
    ) -> None:
        """Set all parameters from a file (npz, safetensors, MXNet's own): all or none.

        Parameters
        ----------
        filename : str or path
            The name of the file.
        ctx, device, allow_missing, ignore_extra, cast_dtype, dtype_source
            As for `ParameterDict.load`, which also lists the errors.
        """
        where = device if device is not None else ctx
        self.collect_params().load(filename, where, allow_missing, ignore_extra, "", cast_dtype, dtype_source)

    def load_dict(
        self,
        param_dict: Mapping[str, Any],
        ctx: Devices = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        *,
        device: Devices = None,
    ) -> None:
        """Set all parameters from arrays by name, as `load_parameters` does from a file. Does not wait.

        Parameters
        ----------
        param_dict : mapping of str to array
            The values.
        ctx, device, allow_missing, ignore_extra, cast_dtype, dtype_source
            As for `ParameterDict.load`, which also lists the errors.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon import nn
        >>> net = nn.Dense(1, in_units=2)
        >>> net.load_dict({"weight": np.ones((1, 2)), "bias": np.zeros(1)})
        >>> net(np.ones((1, 2))).tolist()
        [[2.0]]
        """
        where, params = device if device is not None else ctx, self.collect_params()
        values = {n: v if hasattr(v, "dtype") else np.array(v) for n, v in param_dict.items()}
        set_values(params, values, where, allow_missing, ignore_extra, cast_dtype, dtype_source, "load_dict")

    def apply(self, function: Callable[[Block], Any]) -> Block:
        """Call a function with every block of the tree, children first; return self."""
        for child in self._children.values():
            child.apply(function)
        function(self)
        return self

    def cast(self, dtype: DTypeLike) -> None:
        """Convert all parameters to a dtype."""
        for parameter in self.collect_params().distinct():
            parameter.cast(dtype)

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        self.collect_params().zero_grad()

    def setattr(self, name: str, value: Array) -> None:
        """Set an attribute of all parameters.

        Parameters
        ----------
        name : str
            The attribute, such as "grad_req" or "lr_mult".
        value : object
            Its value.
        """
        self.collect_params().setattr(name, value)

    def reset_ctx(self, ctx: Devices = None, *, device: Devices = None) -> None:
        """Move all parameters to one device or several.

        Parameters
        ----------
        ctx, device : device or list of devices, optional
            The device or devices; None for the current one.
        """
        self.collect_params().reset_ctx(ctx, device=device)

    reset_device = reset_ctx

    def hybridize(self, active: bool = True, **settings: Any) -> None:
        """Capture hybrid blocks in the tree on their first call, and submit them as one program afterwards.

        Parameters
        ----------
        active : bool, optional
            Whether calls are captured; False ends it.
        **settings : object
            `strict`, as for `HybridBlock.hybridize`; `static_alloc` and others of MXNet's make no difference.

        Raises
        ------
        TypeError
            For other settings.
        """
        check_hybrid_settings(settings)
        if self._automatic:
            self._recorded = AutomaticCapture(self) if active else None
        for child in self._children.values():
            child.hybridize(active, **settings)

    def __repr__(self) -> str:
        if not self._children:
            return f"{type(self).__name__}()"
        lines = (f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._children.items())
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)"
