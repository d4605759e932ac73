"""The base of optimizers: states, factors that change from step to step, captured steps, master weights.

Subclasses state a rule for one weight; see `Optimizer`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Never, Protocol, TypedDict

from .. import np
from .._capture import core as _core
from .._capture.participants import current
from .._runtime.registry import known_by, look_up
from .captured_step import MASTER, Advanced, CapturedStep, Item, State, factor_views, same_kind
from .options import unknown_option
from .step_programs import StepPrograms

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["Optimizer", "State", "Item", "Advanced", "create", "register"]

_NARROW = ("float16", "bfloat16")


class Multiplied(Protocol):
    """An object with factors of its own for learning rate and weight decay, as a Parameter."""

    lr_mult: float
    wd_mult: float


class Settings(TypedDict, total=False):
    """Settings that all rules take beside their own; see `Optimizer`."""

    wd: float
    rescale_grad: float
    clip_gradient: float | None
    lr_scheduler: Callable[[int], float] | None
    param_dict: Mapping[int, Multiplied] | None
    multi_precision: bool
    aggregate_num: int | None
    use_fused_step: bool
    begin_num_update: int
    param_idx2name: Mapping[int, str] | None
    lazy_update: bool


class Optimizer:
    """The base class of optimizers. Subclasses name their arrays in `slots`, and define `step`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate, positive by custom.
    wd : float, optional
        The weight decay, added to the gradient as wd * weight.
    rescale_grad : float, optional
        The factor of gradients before anything else.
    clip_gradient : float, optional
        The bound of their absolute values.
    lr_scheduler : callable, optional
        Called with the number of steps so far, it returns the learning rate.
    param_dict : mapping, optional
        By index, objects with `lr_mult` and `wd_mult`, such as parameters.
    multi_precision : bool, optional
        Whether the state of a weight of float16 or bfloat16 keeps a float32 copy, "master", that all is computed with:
        the weight is its rounded value after each step.
    aggregate_num : int, optional
        How many weights one program updates at most; None for all.
    use_fused_step : bool, optional
        False issues the operations of a step one by one: the same bits.
    begin_num_update : int, optional
        The number of steps that count as done.
    param_idx2name : mapping, optional
        The names of weights by index, for `set_lr_mult` and `set_wd_mult`; weights whose name ends in neither "weight"
        nor "gamma" then have no decay.
    lazy_update : bool, optional
        Has no effect: it is about gradients of sparse storage, which no array here has.
    **unknown : object
        Refused.

    Raises
    ------
    ValueError
        For an `aggregate_num` below 0.
    TypeError
        For an unknown setting.

    Examples
    --------
    >>> from forerun import np
    >>> class Signs(Optimizer):
    ...     def step(self, weight, g, state, lr):
    ...         weight -= lr * np.sign(g)
    >>> w = np.zeros(2)
    >>> optimizer = Signs(learning_rate=1.0)
    >>> optimizer.update(0, w, np.array([3.0, -2.0]), optimizer.create_state(0, w))
    >>> w.tolist()
    [-1.0, 1.0]
    """

    slots: tuple[str, ...] = ()
    draws = False  # random numbers: of copies on several devices one is updated, and the others get its values
    # Names of attributes on which a step depends besides arrays and factors(): they allow steps to be issued as
    # programs. Must be of the class itself: one derived from it may compute something else.
    constants: tuple[str, ...]
    _has_constants = False
    _settings_of: Callable[[Optimizer], tuple[object, ...]]  # the attributes on which the program of a step depends
    _scale_is_input = True  # of programs: `rescale_grad`, which rules of other packages may read in a step
    _scale: Array | None = None  # the input of a program that is being captured, in place of `rescale_grad`

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._has_constants = "constants" in cls.__dict__
        constants = getattr(cls, "constants", ())
        cls._settings_of = operator.attrgetter("rescale_grad", "clip_gradient", *constants)  # no method: not bound
        cls._scale_is_input = cls.__module__.startswith(__package__)

    def __init__(
        self,
        learning_rate: float = 0.01,
        wd: float = 0.0,
        rescale_grad: float = 1.0,
        clip_gradient: float | None = None,
        lr_scheduler: Callable[[int], float] | None = None,
        param_dict: Mapping[int, Multiplied] | None = None,
        multi_precision: bool = False,
        aggregate_num: int | None = None,
        use_fused_step: bool = True,
        begin_num_update: int = 0,
        param_idx2name: Mapping[int, str] | None = None,
        lazy_update: bool = False,
        **unknown: Never,
    ) -> None:
        if unknown:
            raise TypeError(unknown_option(type(self), next(iter(unknown))))
        if aggregate_num is not None and aggregate_num < 0:
            raise ValueError(f"{type(self).__name__}: aggregate_num must not be negative, got {aggregate_num}")
        self.multi_precision, self.lazy_update = multi_precision, lazy_update
        self.aggregate_num, self.use_fused_step = aggregate_num, use_fused_step
        self.begin_num_update = begin_num_update
        self.idx2name = dict(param_idx2name or {})
        self.lr_mult: dict[Any, float] = {}
        self.set_wd_mult({})
        self.wd = wd
        self.rescale_grad = rescale_grad
        self.clip_gradient = clip_gradient
        self.lr_scheduler = lr_scheduler
        self.param_dict: Mapping[int, Multiplied] = param_dict if param_dict is not None else {}
        self.num_update = begin_num_update
        self._lr = learning_rate
        self._programs = StepPrograms()

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step, without the parameters' own factors."""
        return self.lr_scheduler(self.num_update) if self.lr_scheduler is not None else self._lr

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate. Raises ValueError if a scheduler decides it."""
        if self.lr_scheduler is not None:
            raise ValueError(f"set_learning_rate: there must be no lr_scheduler, got {self.lr_scheduler!r}")
        _core.capture_refuse("it sets a learning rate, which captured calls would not repeat")
        self._lr = lr

    @staticmethod
    def register(klass: type[Optimizer]) -> type[Optimizer]:
        """`register`, as a method."""
        return register(klass)

    @staticmethod
    def create_optimizer(name: str | Optimizer, **kwargs: Any) -> Optimizer:
        """Return an optimizer by its name, as `create` does.

        Parameters
        ----------
        name : str or Optimizer
            The name of a rule, or an optimizer.
        **kwargs : object
            Arguments of the rule.

        Returns
        -------
        Optimizer
            The optimizer.
        """
        return create(name, **kwargs)

    @property
    def lr(self) -> float:
        """`learning_rate` by its short name."""
        return self.learning_rate

    def set_lr_mult(self, args_lr_mult: Mapping[Any, float]) -> None:
        """Set factors of the learning rate by index or name, for weights that are not in `param_dict`."""
        self.lr_mult = dict(args_lr_mult)

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """Set factors of the weight decay by index or name, for weights that are not in `param_dict`.

        >>> made = create("sgd", wd=0.1, param_idx2name={0: "dense_weight", 1: "dense_bias"})
        >>> made.set_wd_mult({"dense_weight": 0.5}); made.wd_mult
        {'dense_bias': 0.0, 'dense_weight': 0.5}
        """
        plain = [name for name in self.idx2name.values() if not name.endswith(("weight", "gamma"))]
        self.wd_mult: dict[Any, float] = {**dict.fromkeys(plain, 0.0), **args_wd_mult}

    def _multiples(self, index: int) -> tuple[float, float]:
        """Return the factors of the learning rate and the weight decay of a weight that is not in `param_dict`."""
        if not self.lr_mult and not self.wd_mult:
            return 1.0, 1.0
        name = self.idx2name.get(index)
        lr, wd = (known.get(index, known.get(name, 1.0)) for known in (self.lr_mult, self.wd_mult))
        return lr, wd

    def create_state(self, index: int, weight: Array) -> State:
        """Return a new state for a weight: zeros in its shape, dtype and device.

        Parameters
        ----------
        index, weight : int, array
            The number of the weight, and the weight.

        Returns
        -------
        dict
            The count of steps, "t", and an array for each name in `slots`.
        """
        return {
            "t": self.begin_num_update,
            **{name: np.zeros(weight.shape, weight.dtype, device=weight.device) for name in self.slots},
        }

    def create_state_multi_precision(self, index: int, weight: Array) -> State:
        """Return a new state for a weight, with a float32 copy of it where `multi_precision` asks for one.

        Parameters
        ----------
        index, weight : int, array
            The number of the weight, and the weight.

        Returns
        -------
        dict
            The state, of the copy if there is one, which is "master".

        Examples
        --------
        >>> from forerun import np
        >>> made = create("sgd", momentum=0.9, multi_precision=True)
        >>> state = made.create_state_multi_precision(0, np.ones(2, dtype="float16"))
        >>> state["master"].dtype, state["velocity"].dtype
        (dtype('float32'), dtype('float32'))
        """
        if not self.multi_precision or weight.dtype.name not in _NARROW:
            return self.create_state(index, weight)
        master = weight.astype("float32")
        return {**self.create_state(index, master), MASTER: master}

    def update(self, index: Any, weight: Array, grad: Array, state: Any) -> None:
        """Update a weight and its state in place, by one step; of lists, each. Never recorded, never waits.

        Parameters
        ----------
        index : int, or a list
            The number of the weight, by which it finds its factors of learning rate and weight decay.
        weight, grad : array, or a list
            The weight, which is changed, and its gradient.
        state : dict, or a list
            Its state, which is changed. `create_state_multi_precision` has made it.

        Examples
        --------
        >>> from forerun import np
        >>> sgd, w = create("sgd", learning_rate=0.25), np.ones(2)
        >>> sgd.update(0, w, np.ones(2), sgd.create_state(0, w)); w.tolist()
        [0.75, 0.75]
        """
        if isinstance(index, (list, tuple)):
            return self.update_all(list(zip(index, weight, grad, state, strict=True)))
        item = index, weight, grad, state
        if _core.capturing():
            return self._update_in_capture([item])
        return self._update_each([item], self._advance([item]))

    update_multi_precision = update

    def update_all(self, items: Sequence[Item]) -> None:
        """`update` for several weights at once: (index, weight, gradient, state) of each.

        If nothing but arrays and factors changes from step to step, steps are recorded and issued as one program.

        >>> from forerun import np
        >>> sgd, w = create("sgd", learning_rate=0.25), np.ones(2)
        >>> state = sgd.create_state(0, w)
        >>> for _ in range(2):
        ...     sgd.update_all([(0, w, np.ones(2), state)])
        >>> w.tolist()
        [0.5, 0.5]
        """
        if _core.capturing():
            return self._update_in_capture(items)
        advanced = self._advance(items)
        if not items or not self._repeats or not self.use_fused_step or _core.recording():
            return self._update_each(items, advanced)
        n = len(items) if self.aggregate_num is None else max(self.aggregate_num, 1)
        for i in range(0, len(items), n):
            self._programs.update(self, items[i : i + n], advanced[i : i + n])
        return None

    def _constants(self, advanced: Sequence[Advanced]) -> tuple[object, ...]:
        """Return the constants of a step's program besides its inputs."""
        scale, *settings = self._settings_of(self)
        return scale == 1 if self._scale_is_input else scale, *settings, *[wd for _, wd in advanced]

    def _update_in_capture(self, items: Sequence[Item]) -> None:
        """Take a step as a part of a function that is being captured: the factors are an input of its program."""
        capture, advanced = current(), self._advance(items)
        if not items:
            return None
        if capture is None or not self._repeats or not same_kind(items):
            _core.capture_refuse(f"a step of {type(self).__name__} depends on more than arrays and factors")
            return self._update_each(items, advanced)
        steps = CapturedStep(self, items, self._constants(advanced))
        factors = capture.add_input(lambda: steps.factors(advanced))
        capture.participants.append(steps)
        return self._update_each(items, *factor_views(self, factors, advanced))

    def _update_each(self, items: Sequence[Item], advanced: Sequence[Advanced], scale: Array | None = None) -> None:
        """Update the weights. scale: an input of a program, in place of `rescale_grad`."""
        recording = _core.set_recording(False)
        self._scale = scale
        try:
            for (_, weight, grad, state), (factors, wd) in zip(items, advanced):
                master = state.get(MASTER)
                if master is None:
                    self.apply(weight, grad, state, factors, wd)
                else:
                    self.apply(master, grad.astype(master.dtype), state, factors, wd)
                    weight[...] = master
        finally:
            self._scale = None
            _core.set_recording(recording)

    @property
    def _repeats(self) -> bool:
        return self._has_constants and not self._programs.refused

    def _advance(self, items: Sequence[Item]) -> list[Advanced]:
        """Count a step of each weight; return its factors and its weight decay."""
        found: list[Advanced] = []
        rate: float | None = None
        last = lr_last = wd_last = None  # the step and the multiples of the weight before: its factors follow from them
        for index, _, _, state in items:
            t = state["t"] = state["t"] + 1
            if t > self.num_update:
                self.num_update, rate = t, None
            if rate is None:
                rate, last = self.learning_rate, None
            own = self.param_dict.get(index)
            lr_mult, wd_mult = (own.lr_mult, own.wd_mult) if own is not None else self._multiples(index)
            if t != last or lr_mult != lr_last or wd_mult != wd_last:
                last, lr_last, wd_last = t, lr_mult, wd_mult
                wd = self.wd * wd_mult
                one = self.factors(t, rate * lr_mult, wd), wd
            found.append(one)
        return found

    def _progress(self) -> Any:
        """Return the attributes that `_advance` changes, besides the states."""
        return self.num_update

    def _resume(self, progress: Any) -> None:
        """Take back changes of `_advance`."""
        self.num_update = progress

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return the numbers that a step depends on and that may differ from one to the next; `step` gets them.

        Parameters
        ----------
        t : int
            The number of the step of this weight, from 1.
        lr, wd : float
            The learning rate and the weight decay, with the weight's own factors.

        Returns
        -------
        tuple of float
            The numbers; by default the learning rate alone.
        """
        return (lr,)

    def apply(self, weight: Array, grad: Array, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """Rescale and clip the gradient, add the weight decay, and step.

        Parameters
        ----------
        weight, grad : array
            The weight, which is changed in place, and its gradient.
        state : dict
            Its state, which is changed in place.
        factors, wd : tuple, float
            The numbers that `factors` returns, each of which `step` gets as an argument, and the weight decay.
        """
        g = self.prepared(grad)
        self.step(weight, g + wd * weight if wd else g, state, *factors)

    def prepared(self, grad: Array) -> Array:
        """Return the gradient, rescaled and clipped."""
        g = grad if self.rescale_grad == 1 else grad * (self.rescale_grad if self._scale is None else self._scale)
        bound = self.clip_gradient
        return g if bound is None else np.clip(g, -bound, bound)

    def step(self, weight: Array, g: Array, state: State, lr: float | Array) -> None:
        """Change weight and state in place, as the rule says. state["t"] counts this step already.

        Parameters
        ----------
        weight, g : array
            The weight, which is changed in place, and its prepared gradient.
        state : dict
            Its state, which is changed in place.
        lr : float or array
            The learning rate, or the numbers that `factors` returns.
        """
        raise NotImplementedError(f"{type(self).__name__}: step must be defined, got none")


_by_name: dict[str, type[Optimizer]] = {}


def register(klass: type[Optimizer]) -> type[Optimizer]:
    """Make a class known to `create` by its name. It is used as a decorator.

    Parameters
    ----------
    klass : type
        A subclass of `Optimizer`.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> @register
    ... class Still(Optimizer):
    ...     def step(self, weight, g, state, lr):
    ...         pass
    >>> type(create("still")).__name__
    'Still'
    """
    return known_by(_by_name, klass.__name__)(klass)


def create(name: str | Optimizer, **settings: Any) -> Optimizer:
    """Return the optimizer of that name with these settings; an optimizer itself is returned as it is.

    Parameters
    ----------
    name : str or Optimizer
        The name of a rule, such as "adam", or an optimizer.
    **settings : object
        Arguments of the rule.

    Returns
    -------
    Optimizer
        The optimizer.

    Raises
    ------
    ValueError
        For an unknown name, or for settings beside an object.

    Examples
    --------
    >>> create("adam", learning_rate=0.01).learning_rate
    0.01
    """
    if isinstance(name, Optimizer):
        if settings:
            raise ValueError(f"optimizer: settings must be in the object already, got {settings}")
        return name
    return look_up("optimizer", _by_name, name)(**settings)
