"""The base of metrics, and their creation by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

import numpy

from .. import autograd
from .._runtime.registry import known_by, look_up
from ..ops._base.convert import asarray

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["EvalMetric", "CompositeEvalMetric", "CustomMetric", "Loss", "alias", "create", "register", "sized"]

Pair = tuple[Any, Any]
Kind = TypeVar("Kind", bound="type[EvalMetric]")


class Names(TypedDict, total=False):
    """Names of arrays, for `update_dict`: those of outputs, and those of labels. None: all."""

    output_names: Sequence[str] | None
    label_names: Sequence[str] | None


class EvalMetric:
    """The base of metrics: a name, and sums over batches. Subclasses define `batch`, and perhaps `value`.

    Labels and predictions of `update` are arrays, or lists of them, one per device. The sums are float64 arrays on the
    device of the predictions.

    Parameters
    ----------
    name : str
        The name that `get` returns.
    output_names : sequence of str, optional
        The predictions that `update_dict` takes; None for all.
    label_names : sequence of str, optional
        The labels that `update_dict` takes; None for all.

    Raises
    ------
    ValueError
        In `update`, if labels and predictions differ in number, or in length.

    Examples
    --------
    >>> from forerun import np
    >>> class Largest(EvalMetric):
    ...     def batch(self, label, pred):
    ...         return [np.abs(label - pred).max()], 1
    >>> largest = Largest("largest")
    >>> largest.update(np.zeros(2), np.array([1.0, -3.0]))
    >>> largest.get()
    ('largest', 3.0)
    """

    extra = False  # whether there may be more labels than preds, or the other way round

    def __init__(
        self, name: str, output_names: Sequence[str] | None = None, label_names: Sequence[str] | None = None
    ) -> None:
        self.name = name
        self.output_names, self.label_names = output_names, label_names
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self.num_inst: Any = 0
        self.sums: list[Any] = []

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the sums of one batch. Subclasses define this.

        Parameters
        ----------
        label : array
            The labels of the batch.
        pred : array
            The predictions of the batch.

        Returns
        -------
        tuple of a list of arrays and a number
            The sums, and the number by which they are divided.

        Raises
        ------
        NotImplementedError
            If the class does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__}: batch must be defined, got none")

    def value(self, sums: list[Any], n: float) -> float | numpy.ndarray:
        """Return the metric from the sums over all batches.

        Parameters
        ----------
        sums : list
            The sums over all batches: numbers, or NumPy arrays.
        n : float
            The number by which they are divided.

        Returns
        -------
        float or NumPy array
            The metric; by default the first sum divided by `n`.
        """
        found: float | numpy.ndarray = sums[0] / n
        return found

    def added(self, before: Array, new: Array) -> Array:
        """Return the sum over batches with that of one more.

        Parameters
        ----------
        before, new : array
            The sum so far, and that of the batch.

        Returns
        -------
        array
            The sum of both.
        """
        return before + new

    def update(self, labels: Array | Sequence[Array], preds: Array | Sequence[Array]) -> None:
        """Take a batch into account. Does not wait.

        Parameters
        ----------
        labels : array or sequence of arrays
            The labels; of several devices, a list.
        preds : array or sequence of arrays
            The predictions, as many.

        Raises
        ------
        ValueError
            If labels and predictions differ in number.

        Examples
        --------
        >>> from forerun import np
        >>> mae = create("mae")
        >>> mae.update(np.zeros(2), np.array([1.0, -3.0]))
        >>> mae.get()
        ('mae', 2.0)
        """
        with autograd.pause():
            for label, pred in _pairs(type(self).__name__, labels, preds, self.extra):
                sums, n = self.batch(label, pred)
                device = self.sums[0].device if self.sums else pred.device
                wide = [asarray(s).astype("float64").as_in_ctx(device) for s in sums]
                self.sums = [self.added(a, b) for a, b in zip(self.sums, wide)] if self.sums else wide
                self.num_inst = self.num_inst + (n.as_in_ctx(device) if hasattr(n, "as_in_ctx") else n)

    def get(self) -> tuple[Any, Any]:
        """Return the name and the value so far; NaN before the first batch. Waits."""
        n = float(self.num_inst)
        return self.name, (self.value([_read(s) for s in self.sums], n) if n else math.nan)

    def get_name_value(self) -> list[tuple[str, float]]:
        """`get` as a list of pairs. Waits."""
        name, value = self.get()
        return list(zip(name, value)) if isinstance(name, list) else [(name, value)]

    def update_dict(self, label: dict[str, Any], pred: dict[str, Any]) -> None:
        """Take a batch into account whose arrays have names. Does not wait.

        Parameters
        ----------
        label : dict of str to array
            The labels; those in `label_names` count, or all of them.
        pred : dict of str to array
            The predictions; those in `output_names` count, or all of them.

        Raises
        ------
        KeyError
            If one of the names is missing.

        Examples
        --------
        >>> from forerun import np
        >>> mae = create("mae", output_names=["y"])
        >>> mae.update_dict({"label": np.zeros(2)}, {"y": np.ones(2), "other": np.zeros(2)})
        >>> mae.get()
        ('mae', 1.0)
        """
        labels = [label[name] for name in self.label_names] if self.label_names else list(label.values())
        preds = [pred[name] for name in self.output_names] if self.output_names else list(pred.values())
        self.update(labels, preds)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self.get_name_value())})"


def _read(total: Array) -> Any:
    """Return a sum as a number, or as an array of NumPy's."""
    return total.asnumpy() if total.ndim else total.item()


def _pairs(
    name: str, labels: Array | Sequence[Array], preds: Array | Sequence[Array], more: bool = False
) -> list[Pair]:
    several = [x if isinstance(x, (list, tuple)) else [x] for x in (labels, preds)]
    if len(several[0]) != len(several[1]) and not more:
        raise ValueError(f"{name}: labels and preds must be as many, got {len(several[0])} and {len(several[1])}")
    pairs = [(asarray(label), asarray(pred)) for label, pred in zip(*several)]
    return [(label.as_in_ctx(pred.device), pred) for label, pred in pairs]


def sized(name: str, label: Array, pred: Array) -> Array:
    """Return the label in pred's shape; ValueError if it has another number of elements."""
    if label.size != pred.size:
        raise ValueError(f"{name}: label must have as many elements as pred, got {label.shape} for {pred.shape}")
    return label.reshape(pred.shape)


class Loss(EvalMetric):
    """The mean of the predictions themselves, which are losses; labels do not matter.

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> loss = Loss()
    >>> loss.update(None, np.array([1.0, 2.0]))
    >>> loss.get()
    ('loss', 1.5)
    """

    def __init__(self, name: str = "loss", **names: Unpack[Names]) -> None:
        super().__init__(name, **names)

    def update(self, labels: Array | Sequence[Array] | None, preds: Array | Sequence[Array]) -> None:
        """Take a batch into account. Does not wait.

        Parameters
        ----------
        labels : object
            Has no effect.
        preds : array or sequence of arrays
            The losses.
        """
        super().update(preds, preds)

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the sum.

        Parameters
        ----------
        label : array
            Has no effect.
        pred : array
            The losses.

        Returns
        -------
        tuple of a list of arrays and an int
            The sum, and the number of losses.
        """
        return [pred.astype("float64").sum()], pred.size


class CustomMetric(EvalMetric):
    """The mean over batches of a function of labels and predictions, which gets NumPy arrays: `update` waits here.

    Parameters
    ----------
    feval : callable
        Called with the labels and the predictions of a batch. It returns a number, or a sum and the number that it is
        divided by.
    name : str, optional
        The name that `get` returns; None for one made of the function's.
    allow_extra_outputs : bool, optional
        Whether labels and predictions may differ in number: those without a partner do not count.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Raises
    ------
    ValueError
        In `update`, if labels and predictions differ in number and must not.

    Examples
    --------
    >>> from forerun import np
    >>> most = CustomMetric(lambda label, pred: abs(label - pred).max(), name="most")
    >>> most.update(np.zeros(2), np.array([1.0, -3.0]))
    >>> most.get()
    ('most', 3.0)
    """

    def __init__(
        self,
        feval: Callable[[Any, Any], Any],
        name: str | None = None,
        allow_extra_outputs: bool = False,
        **names: Unpack[Names],
    ) -> None:
        super().__init__(name if name is not None else f"custom({feval.__name__})", **names)
        self._feval, self.extra = feval, allow_extra_outputs

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the result of the function.

        Parameters
        ----------
        label : array
            The labels of the batch.
        pred : array
            The predictions of the batch.

        Returns
        -------
        tuple of a list and a number
            The sum, and the number by which it is divided.
        """
        found = self._feval(label.asnumpy(), pred.asnumpy())
        total, n = found if isinstance(found, tuple) else (found, 1)
        return [numpy.float64(total)], n


class CompositeEvalMetric(EvalMetric):
    """Several metrics of the same labels and predictions.

    Parameters
    ----------
    metrics : sequence, optional
        Metrics, or their names.
    name : str, optional
        The name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> both = CompositeEvalMetric(["mae", "rmse"])
    >>> both.update(np.zeros(2), np.array([3.0, -3.0]))
    >>> both.get()
    (['mae', 'rmse'], [3.0, 3.0])
    """

    def __init__(self, metrics: Sequence[Any] | None = None, name: str = "composite", **names: Unpack[Names]) -> None:
        self.metrics = [create(metric) for metric in metrics or ()]
        super().__init__(name, **names)

    def add(self, metric: object) -> None:
        """Add a metric, or one that is given by its name."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """Return the metric of that number. IndexError if it does not exist."""
        return self.metrics[index]

    def reset(self) -> None:
        """Forget all batches."""
        for metric in self.metrics:
            metric.reset()

    def update(self, labels: Array | Sequence[Array], preds: Array | Sequence[Array]) -> None:
        """Take a batch into account. Does not wait.

        Parameters
        ----------
        labels : array or sequence of arrays
            The labels; of several devices, a list.
        preds : array or sequence of arrays
            The predictions, as many.
        """
        for metric in self.metrics:
            metric.update(labels, preds)

    def get(self) -> tuple[Any, Any]:
        """Return the names and the values. Waits."""
        pairs = [pair for metric in self.metrics for pair in metric.get_name_value()]
        return [name for name, _ in pairs], [value for _, value in pairs]


_by_name: dict[str, Callable[..., EvalMetric]] = {}


def alias(*names: str) -> Callable[[Kind], Kind]:
    """Return a decorator that makes a class known to `create` by further names.

    Parameters
    ----------
    *names : str
        The names, in any letters.

    Returns
    -------
    callable
        The decorator, which returns the class.

    Examples
    --------
    >>> @alias("none", "nothing")
    ... class Nothing(EvalMetric):
    ...     def batch(self, label, pred):
    ...         return [0], label.size
    >>> type(create("nothing", "x")).__name__
    'Nothing'
    """
    return known_by(_by_name, *names)


def register(klass: Kind) -> Kind:
    """Make a class known to `create` by its name. It is used as a decorator.

    Parameters
    ----------
    klass : type
        A subclass of `EvalMetric`.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> @register
    ... class Nothing(EvalMetric):
    ...     def update(self, labels, preds):
    ...         self.num_inst += 1
    >>> type(create("nothing", "nothing")).__name__
    'Nothing'
    """
    return alias(klass.__name__)(klass)


def create(metric: object, *args: Any, **settings: Any) -> EvalMetric:
    """Return the metric meant by a name, an object, a function of NumPy arrays, or a list of them.

    Parameters
    ----------
    metric : str, EvalMetric, callable or sequence
        A name, or one of these objects.
    *args : object
        Passed on to the class of that name.
    **settings : object
        Passed on as well.

    Returns
    -------
    EvalMetric
        The metric.

    Raises
    ------
    ValueError
        For an unknown name.
    TypeError
        For anything else.

    Examples
    --------
    >>> create("rmse")
    RMSE({'rmse': nan})
    """
    if isinstance(metric, EvalMetric):
        return metric
    if isinstance(metric, (list, tuple)):
        return CompositeEvalMetric(metric)
    if isinstance(metric, str):
        return look_up("metric", _by_name, metric)(*args, **settings)
    if callable(metric):
        return CustomMetric(metric, *args, **settings)
    raise TypeError(f"metric: must be a name, a metric, a function or a list, got {type(metric).__name__}")
