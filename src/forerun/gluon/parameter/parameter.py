"""Parameters: named arrays that training changes, one copy per device.

A parameter may be initialised before its shape is known; it is then made when its block first sees data.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy

from ... import autograd, np
from ..._capture import changes
from ..._capture import core as _capture
from ..._capture.participants import depend_on
from ..._runtime.device import Device, resolve
from ...init import Constant, Initializer, create
from ...ops._base.convert import as_dtype
from .._training.collectives import collective_scope
from .deferred import DeferredInitializationError, Shape, UninitializedError, completes, known

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike

__all__ = ["Parameter"]

Devices = Device | str | Sequence[Device | str] | None
Rule = str | Initializer | None
_GRAD_REQS = ("write", "add", "null")
_taking = threading.Lock()  # held by a thread that gives a parameter the arrays that it has made; that takes no time


class Parameter:
    """A named array that training changes.

    Parameters
    ----------
    name : str, optional
        The name.
    grad_req : {"write", "add", "null"}, optional
        "write": backward replaces the gradient; "add": it adds to it; "null": the parameter has no gradient.
    shape : int or sequence of ints, optional
        The extents. Those that are not known yet are 0, -1 or None; None alone means that nothing is known.
    dtype : dtype, optional
        The dtype.
    lr_mult : float, optional
        The factor that an optimizer applies to its learning rate.
    wd_mult : float, optional
        The factor that an optimizer applies to its weight decay.
    init : str or Initializer, optional
        The initializer, which wins over the one that a block is initialised with.
    allow_deferred_init : bool, optional
        Whether `initialize` may be called before the shape is known.
    differentiable : bool, optional
        False for a parameter without a gradient.

    Examples
    --------
    >>> w = Parameter("weight", shape=(2, 3), init="ones")
    >>> w.initialize()
    >>> w.data().sum().item()
    6.0
    >>> w
    Parameter weight (shape=(2, 3), dtype=float32)
    """

    # Of a parameter that is trained over ranks: gives all of them the first values of rank 0.
    over_ranks: Callable[[Array], Array] | None = None

    def __init__(
        self,
        name: str = "weight",
        grad_req: str = "write",
        shape: Shape = None,
        dtype: DTypeLike = "float32",
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Rule = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
    ) -> None:
        self.name = name
        self.dtype = as_dtype("Parameter", dtype)
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self.allow_deferred_init = allow_deferred_init
        self.differentiable = differentiable
        self._shape = known(shape)
        self._copies: list[Array] = []
        self._deferred: tuple[Initializer, list[Device]] | None = None
        self.grad_req = grad_req

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        changes.note(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})"

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape, with -1 for unknown extents. May be set to one that completes it, else ValueError."""
        return self._shape

    @shape.setter
    def shape(self, shape: Shape) -> None:
        new = known(shape)
        if self._shape is not None and not completes(new, self._shape):
            raise ValueError(f"Parameter {self.name}: shape must complete {self._shape}, got {new}")
        self._shape = new

    @property
    def grad_req(self) -> str:
        """How the backward pass treats the gradient: "write", "add" or "null"."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, grad_req: str) -> None:
        if grad_req not in _GRAD_REQS:
            raise ValueError(f"Parameter {self.name}: grad_req must be one of {_GRAD_REQS}, got {grad_req!r}")
        before = getattr(self, "_grad_req", None)
        self._grad_req = grad_req if self.differentiable else "null"
        if before not in (None, self._grad_req):
            self._copies = [self._attached(array.detach()) for array in self._copies]

    @property
    def is_initialized(self) -> bool:
        """Whether it has values."""
        return bool(self._copies)

    @property
    def is_deferred(self) -> bool:
        """Whether `initialize` was called and the shape is still awaited."""
        return self._deferred is not None

    def initialize(
        self,
        init: Rule = None,
        ctx: Devices = None,
        default_init: Rule = None,
        force_reinit: bool = False,
        *,
        device: Devices = None,
    ) -> None:
        """Initialise the array on one device or several, with equal values on all.

        The rule is `init`, else the parameter's own, else `default_init`, else Uniform(0.07).

        Parameters
        ----------
        init : str or Initializer, optional
            The rule.
        ctx, device : device or list of devices, optional
            The device or devices; None for the current one. Both names mean the same.
        default_init : str or Initializer, optional
            The rule where neither `init` nor the parameter has one.
        force_reinit : bool, optional
            Whether a parameter that is initialised gets new values; otherwise it is unchanged.

        Raises
        ------
        ValueError
            If the shape is not known and may not be deferred.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> p.data().tolist()
        [1.0, 1.0]
        """
        if (self._copies or self._deferred is not None) and not force_reinit:
            return
        self._copies = []
        self._deferred = (
            _rule(init, self.init, default_init),
            _devices(device if device is not None else ctx),
        )
        if self._shape is not None and -1 not in self._shape:
            self.finish_deferred_init()
        elif not self.allow_deferred_init:
            self._deferred = None
            raise ValueError(f"Parameter {self.name}: shape must be known to initialise, got {self._shape}")

    def finish_deferred_init(self) -> None:
        """Make the arrays of a deferred initialisation; an error while the shape is not known.

        Examples
        --------
        >>> p = Parameter("p", shape=(2, -1), allow_deferred_init=True)
        >>> p.initialize("ones")
        >>> p.shape = (2, 3)
        >>> p.finish_deferred_init()
        >>> p.data().shape
        (2, 3)
        """
        deferred = self._deferred
        if deferred is None:
            return
        if self._shape is None or -1 in self._shape:
            raise DeferredInitializationError(f"Parameter {self.name}: shape must be known, got {self._shape}")
        rule, devices = deferred
        with autograd.pause():
            first = np.zeros(self._shape, dtype=self.dtype, device=devices[0])
            rule(first, self.name)
            first = first if self.over_ranks is None else self.over_ranks(first)
            copies = self._spread(first, devices)
        with _taking:  # never while operations are issued, which may wait for a task that needs the parameter, too
            if self._deferred is deferred:  # else another thread has been faster: its arrays are the parameter's
                self._copies = copies  # these first: a parameter has them, or awaits them, at any moment
                self._deferred = None

    def _spread(self, first: Array, devices: list[Device]) -> list[Array]:
        """Return the copies, with gradients: `first` is that of the first device."""
        others = [first.as_in_ctx(device) for device in devices[1:]]
        return [self._attached(array) for array in (first, *others)]

    def _attached(self, array: Array) -> Array:
        if self._grad_req != "null":
            array.attach_grad(self._grad_req)
        return array

    def data(self, ctx: DeviceLike = None, *, device: DeviceLike = None) -> Array:
        """Return the array on a device.

        Parameters
        ----------
        ctx, device : device, optional
            The device; None for the first one on which the parameter was initialised. Both names mean the same.

        Returns
        -------
        array
            The parameter's array itself, not a copy.

        Raises
        ------
        UninitializedError
            Before initialisation. It is a RuntimeError.
        DeferredInitializationError
            While the shape is awaited. It is an UninitializedError.
        RuntimeError
            For a device on which the parameter has no array.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("zeros")
        >>> p.data().shape
        (2,)
        """
        if _capture.capturing():
            depend_on(self)
        where = ctx if ctx is not None else device
        if where is None and self._copies:
            return self._copies[0]
        for array in self._copies:
            if array.device is where:
                return array
        self._check_ready()
        wanted = resolve(where)
        for array in self._copies:
            if array.device == wanted:
                return array
        have = [array.device for array in self._copies]
        raise RuntimeError(f"Parameter {self.name}: device must be one of {have}, got {wanted}")

    def list_data(self) -> list[Array]:
        """Return the copies, in the order of the devices. Raises as `data` does.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> [x.tolist() for x in p.list_data()]
        [[1.0, 1.0]]
        """
        if _capture.capturing():
            depend_on(self)
        self._check_ready()
        return list(self._copies)

    def grad(self, ctx: DeviceLike = None, *, device: DeviceLike = None) -> Array:
        """Return the gradient on a device.

        Parameters
        ----------
        ctx, device : device, optional
            The device, as for `data`.

        Returns
        -------
        array
            The gradient's array, of the parameter's shape.

        Raises
        ------
        RuntimeError
            If `grad_req` is "null", and as `data` does.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> p.grad().tolist()
        [0.0, 0.0]
        """
        self._check_grad()
        gradient: Array = self.data(ctx, device=device).grad
        return gradient

    def list_grad(self) -> list[Array]:
        """Return the gradients, in the order of the devices. Raises as `grad` does.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> [x.tolist() for x in p.list_grad()]
        [[0.0, 0.0]]
        """
        self._check_grad()
        return [array.grad for array in self.list_data()]

    def list_ctx(self) -> list[Device]:
        """Return the devices: of the copies, or those that a deferred initialisation will use.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> len(p.list_ctx())
        1
        """
        if (deferred := self._deferred) is not None:
            return list(deferred[1])
        return [array.device for array in self.list_data()]

    list_device = list_ctx

    def mean_data(self) -> Array:
        """Return the mean over the devices' copies, which is written to files; devices differ in running statistics.

        If the values are equal on all devices, that is the result, to the bit; a parameter that is not of floats is the
        first device's. Raises as `data`.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> p.mean_data().tolist()
        [1.0, 1.0]
        """
        first, *others = self.list_data()
        if first.dtype.kind != "f" or not others:
            return first
        with collective_scope():
            apart = [np.where(x == first, 0, x - first) for x in others]
            return first + sum(apart[1:], apart[0]) / len(self._copies)

    def var(self) -> Array:
        """Return the array that stands for the parameter: the copy of the first device.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> p.var() is p.data()
        True
        """
        return self.data()

    def set_data(self, data: ArrayLike) -> None:
        """Copy values into all devices, in place; complete a deferred initialisation.

        Raises ValueError for values of another shape, RuntimeError before initialisation.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> p.set_data([2.0, 3.0])
        >>> p.data().tolist()
        [2.0, 3.0]
        """
        self.shape = data.shape if hasattr(data, "shape") else numpy.shape(data)  # type: ignore[arg-type]
        if self._deferred is not None:
            self._deferred = (Constant(data), self._deferred[1])
            self.finish_deferred_init()
            return
        self._check_ready()
        with autograd.pause():
            for array in self._copies:
                array[...] = data

    def zero_grad(self) -> None:
        """Set the gradients to zero on all devices; nothing to do without gradients.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> p.zero_grad()
        >>> p.grad().tolist()
        [0.0, 0.0]
        """
        with autograd.pause():
            for array in self._copies if self._grad_req != "null" else ():
                array.grad[...] = 0

    def reset_ctx(self, ctx: Devices = None, *, device: Devices = None) -> None:
        """Move the parameter to one device or several. Gradients start anew.

        Parameters
        ----------
        ctx, device : device or list of devices, optional
            The device or devices; None for the current one. Both names mean the same.

        Raises
        ------
        RuntimeError
            Before initialisation.

        Examples
        --------
        >>> import forerun
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> p.reset_ctx([forerun.cpu(0), forerun.cpu(1)])
        >>> [x.tolist() for x in p.list_data()]
        [[1.0, 1.0], [1.0, 1.0]]
        """
        devices = _devices(device if device is not None else ctx)
        if self._deferred is not None:
            self._deferred = (self._deferred[0], devices)
            return
        self._check_ready()
        with autograd.pause():
            self._copies = self._spread(self._copies[0].detach().as_in_ctx(devices[0]), devices)

    reset_device = reset_ctx

    def cast(self, dtype: DTypeLike) -> None:
        """Convert data and gradients to a dtype. Raises TypeError for a dtype that arrays cannot have.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> p.initialize("ones")
        >>> p.cast("float16")
        >>> p.data().dtype
        dtype('float16')
        """
        self.dtype = as_dtype("Parameter", dtype)
        with autograd.pause():
            self._copies = [self._attached(array.detach().astype(self.dtype)) for array in self._copies]

    def _check_ready(self) -> None:
        if self._deferred is not None:
            text = f"the block must have seen data, got deferred shape {self._shape}"
            raise self._unready(DeferredInitializationError, text)
        if not self._copies:
            raise self._unready(UninitializedError, "initialize() must be called first, got no data")

    def _unready(self, kind: type[UninitializedError], text: str) -> UninitializedError:
        error = kind(f"Parameter {self.name}: {text}")
        error.parameter, error.text = self, text
        return error

    def _check_grad(self) -> None:
        if self._grad_req == "null":
            raise RuntimeError(f'Parameter {self.name}: grad_req must not be "null" for a gradient, got "null"')


def _devices(given: Devices) -> list[Device]:
    if isinstance(given, (list, tuple)):
        if not given:
            raise ValueError(f"device: must be one device, or several in a list, got {given!r}")
        return [resolve(d) for d in given]
    return [resolve(given)]  # type: ignore[arg-type]


def _rule(*choices: Rule) -> Initializer:
    return create(next((choice for choice in choices if choice is not None), None))
