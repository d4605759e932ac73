"""Modules: layers and whole networks, as trees that own parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from ..._capture import core as _core
from ..._capture.changes import Snapshot, note, watch
from ..._capture.participants import depend_on
from ...autograd.leaf import Variable
from ...ops._base.convert import is_array
from ..grad import begin, no_grad
from ..methods import make_leaf, to

if TYPE_CHECKING:
    from ...typing import Array


__all__ = ["Parameter", "Module"]


class _ParameterLeaf(Variable):
    """The leaf of an array that is a parameter: arrays have one class, so that the leaf marks parameters."""

    __slots__ = ()


def Parameter(data: Array, requires_grad: bool = True) -> Array:
    """Return a tensor as a parameter: set as a module's attribute it is trained with the module.

    Parameters
    ----------
    data : Tensor
        The values, whose memory the parameter shares.
    requires_grad : bool, optional
        Whether it has a gradient.

    Returns
    -------
    Tensor
        The parameter.

    Examples
    --------
    >>> from forerun import torch
    >>> w = Parameter(torch.ones(2))
    >>> w.requires_grad
    True
    """
    begin()
    return make_leaf(data.detach(), _ParameterLeaf, requires_grad)


def is_parameter(x: object) -> TypeGuard[Array]:
    """Return whether x was made by `Parameter`."""
    return is_array(x) and isinstance(x.node, _ParameterLeaf)


class Module:
    """A layer or a network: `forward` computes its result.

    Modules and parameters that are set as attributes belong to it: `parameters()`, `state_dict()`, `train()` and `to()`
    are of the whole tree.

    Raises
    ------
    RuntimeError
        If a module or parameter is set before `super().__init__()`.

    Examples
    --------
    >>> from forerun import torch
    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.ones(1))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(torch.ones(2)).tolist()
    [1.0, 1.0]
    >>> list(Scale().state_dict())
    ['factor']
    """

    training: bool = True

    def __init__(self) -> None:
        self._modules: dict[str, Module] = {}
        self._parameters: dict[str, Any] = {}
        self._buffers: dict[str, Any] = {}

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, Module) or is_parameter(value):
            if "_modules" not in self.__dict__:
                raise RuntimeError(f"{type(self).__name__}: super().__init__() must come before {name!r} is set")
            members: dict[str, Any] = self._modules if isinstance(value, Module) else self._parameters
            members[name] = value
        elif "_buffers" in self.__dict__ and name in self._buffers:
            self._buffers[name] = value
        super().__setattr__(name, value)
        self._changed(name)

    def _changed(self, what: str) -> None:
        """Let captured calls that use the module be captured anew."""
        note(self)
        if _core.capturing():
            _core.capture_refuse(f"its forward sets {type(self).__name__}.{what}")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result of the module; subclasses define it.

        Parameters
        ----------
        *args, **kwargs : object
            The arguments of the call.

        Returns
        -------
        object
            The result: tensors.

        Raises
        ------
        NotImplementedError
            If the class does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__}: forward must be defined, got none")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`."""
        begin(leaf=False)
        if _core.capturing():
            _depend_on_tree(self)
        return self.forward(*args, **kwargs)

    def add_module(self, name: str, module: Module) -> None:
        """Make a module a child under a name.

        Parameters
        ----------
        name : str
            The name.
        module : Module
            The child.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Module()
        >>> net.add_module("head", torch.nn.Linear(2, 1))
        >>> [name for name, _ in net.named_parameters()]
        ['head.weight', 'head.bias']
        """
        self._modules[name] = module
        object.__setattr__(self, name, module)
        self._changed(name)

    register_module = add_module

    def register_buffer(self, name: str, tensor: Array | None) -> None:
        """Add a tensor that belongs to the module's state and is not trained.

        Parameters
        ----------
        name : str
            The name.
        tensor : Tensor or None
            The tensor.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Module()
        >>> net.register_buffer("mean", torch.zeros(2))
        >>> list(net.state_dict())
        ['mean']
        """
        self._buffers[name] = tensor
        object.__setattr__(self, name, tensor)
        self._changed(name)

    def children(self) -> Iterator[Module]:
        """Yield the modules that belong to this one directly.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> len(list(net.children()))
        2
        """
        yield from self._modules.values()

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, by their place in the tree.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> [name for name, _ in net.named_modules()]
        ['', '0', '1']
        """
        yield prefix, self
        for name, child in self._modules.items():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Module]:
        """This module and all below it.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> len(list(net.modules()))
        3
        """
        yield from (module for _, module in self.named_modules())

    def _named(self, kind: str) -> Iterator[tuple[str, Any]]:
        for place, module in self.named_modules():
            for name, tensor in getattr(module, kind).items():
                yield (f"{place}.{name}" if place else name), tensor

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """Yield parameters of the whole tree by their place in it, such as "0.weight"; shared ones once.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> [name for name, _ in net.named_parameters()]
        ['0.weight', '0.bias']
        """
        seen: set[int] = set()
        for name, parameter in self._named("_parameters"):
            if id(parameter) not in seen:
                seen.add(id(parameter))
                yield name, parameter

    def parameters(self) -> Iterator[Any]:
        """Yield parameters of the whole tree.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> len(list(net.parameters()))
        2
        """
        yield from (parameter for _, parameter in self.named_parameters())

    def state_dict(self) -> dict[str, Any]:
        """Return parameters and buffers by their place in the tree, detached from the tape.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> list(net.state_dict())
        ['0.weight', '0.bias']
        """
        return {name: x.detach() for kind in ("_parameters", "_buffers") for name, x in self._named(kind)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Copy values into parameters and buffers, in place. KeyError if names are missing or too many.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> net.load_state_dict({"0.weight": torch.ones(1, 2), "0.bias": torch.zeros(1)})
        >>> net[0].weight.tolist()
        [[1.0, 1.0]]
        """
        own = dict(self._named("_parameters")) | dict(self._named("_buffers"))
        if own.keys() != state.keys():
            raise KeyError(f"load_state_dict: names must be {sorted(own)}, got {sorted(state)}")
        with no_grad():
            for name, tensor in own.items():
                tensor[...] = state[name]

    def apply(self, function: Callable[[Module], Any]) -> Module:
        """Call a function with every module of the tree, children first; return self.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> names = []
        >>> net = net.apply(lambda module: names.append(type(module).__name__))
        >>> names
        ['Linear', 'Dropout', 'Sequential']
        """
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def train(self, mode: bool = True) -> Module:
        """Set training mode for the tree: dropout drops; return self.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> net.eval().train()[1].training
        True
        """
        for module in self.modules():
            if module.training != mode:
                module.training = mode
        return self

    def eval(self) -> Module:
        """Set evaluation mode for the tree; return self.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> net.eval()[1].training
        False
        """
        return self.train(False)

    def zero_grad(self) -> None:
        """Set all gradients to zero.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Linear(2, 1)
        >>> net(torch.ones(1, 2)).sum().backward()
        >>> net.zero_grad()
        >>> net.weight.grad.tolist()
        [[0.0, 0.0]]
        """
        for parameter in self.parameters():
            parameter.zero_grad()

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Make all parameters leaves of the tape, or not; return self."""
        for module in self.modules():
            for name, p in list(module._parameters.items()):
                setattr(module, name, Parameter(p, requires_grad))
        return self

    def to(self, *args: Any, **kwargs: Any) -> Module:
        """Move parameters and buffers to a device or dtype.

        Those that change are new tensors: make the optimizer afterwards.

        Parameters
        ----------
        *args, **kwargs : object
            A device, a dtype, or both, as for `Tensor.to`.

        Returns
        -------
        Module
            The module itself.

        Examples
        --------
        >>> from forerun import torch
        >>> torch.nn.Linear(2, 1).to(torch.float64).weight.dtype
        dtype('float64')
        """
        for module in self.modules():
            for name, p in list(module._parameters.items()):
                moved = to(p.detach(), *args, **kwargs)
                if moved.device != p.device or moved.dtype != p.dtype:
                    setattr(module, name, Parameter(moved, p.node.grad_req != "null"))
            for name, b in list(module._buffers.items()):
                setattr(module, name, to(b, *args, **kwargs))
        return self

    def cpu(self) -> Module:
        """Move the tree to the first CPU device.

        Examples
        --------
        >>> from forerun import torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
        >>> net.cpu() is net
        True
        """
        return self.to("cpu")

    def __repr__(self) -> str:
        own = self.extra_repr()
        if not self._modules:
            return f"{type(self).__name__}({own})"
        lines = (f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules.items())
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)"

    def extra_repr(self) -> str:
        """Return the text between the brackets of `repr`.

        Examples
        --------
        >>> from forerun import torch
        >>> torch.nn.Linear(2, 1).extra_repr()
        'in_features=2, out_features=1, bias=True'
        """
        return ""


class _SameLeaves:
    """A condition of captured calls: the same parameters have gradients as in the captured one."""

    def __init__(self, parameters: Sequence[Any]) -> None:
        self._nodes = [(p, p.node) for p in parameters]

    @property
    def stale(self) -> bool:
        """Whether `requires_grad` of a parameter has been set since."""
        return any(p.node is not node for p, node in self._nodes)


def _depend_on_tree(module: Module) -> None:
    """Let the function that this thread captures depend on a module, those inside it, and their parameters."""

    def parts(snapshot: Snapshot) -> Iterator[Module]:
        for each in module.modules():
            watch(each, snapshot)
            yield each

    capture = depend_on(module, parts)
    if capture is not None:
        capture.guards.append(_SameLeaves([*module.parameters()]))
