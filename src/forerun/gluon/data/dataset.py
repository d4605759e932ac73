"""Data sets: examples by number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .sampler import FilterSampler, Sampler, SequentialSampler

if TYPE_CHECKING:
    from ...typing import ArrayLike
    from .sampler import Examples


__all__ = ["Dataset", "SimpleDataset", "ArrayDataset"]

Plan = tuple[Callable[[Any], Any], list[Callable[[Any], Any]]]


class Dataset:
    """Examples by number: subclasses define `__getitem__` and `__len__`.

    Examples
    --------
    >>> from forerun.gluon import data
    >>> numbers = data.SimpleDataset(list(range(10)))
    >>> odd = numbers.filter(lambda n: n % 2)
    >>> list(odd), list(odd.take(2)), list(odd.shard(2, 1)), list(odd.transform(lambda n: -n))
    ([1, 3, 5, 7, 9], [1, 3], [7, 9], [-1, -3, -5, -7, -9])
    """

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: __getitem__ must be defined, got none")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__}: __len__ must be defined, got none")

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def filter(self, fn: Callable[[Any], Any]) -> Dataset:
        """Return the data set of those examples for which a function is true.

        All are evaluated now, and made anew later.

        Examples
        --------
        >>> list(SimpleDataset([1, 2, 3]).filter(lambda n: n % 2))
        [1, 3]
        """
        return _Sampled(self, FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Return one of several parts that follow each other; the first ones may have one example more.

        Parameters
        ----------
        num_shards : int
            The number of parts.
        index : int
            The number of the part, from 0.

        Returns
        -------
        Dataset
            The part.

        Raises
        ------
        ValueError
            Unless 0 <= index < num_shards.

        Examples
        --------
        >>> list(SimpleDataset(list(range(5))).shard(2, 0))
        [0, 1, 2]
        """
        if not 0 <= index < num_shards:
            raise ValueError(f"shard: index must be in [0, {num_shards}), got {index}")
        size, rest = divmod(len(self), num_shards)
        start = size * index + min(index, rest)
        return _Sampled(self, SequentialSampler(size + (index < rest), start))

    def take(self, count: int | None) -> Dataset:
        """Return the first examples, at most `count` of them; None: all.

        Examples
        --------
        >>> list(SimpleDataset([1, 2, 3]).take(2))
        [1, 2]
        """
        n = len(self)
        return _Sampled(self, SequentialSampler(n if count is None else min(count, n)))

    def sample(self, sampler: Sampler) -> Dataset:
        """Return the data set of the examples whose numbers a sampler gives now. TypeError if it is not a Sampler.

        Examples
        --------
        >>> list(SimpleDataset("abcd").sample(SequentialSampler(2, 1)))
        ['b', 'c']
        """
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sample: sampler must be a Sampler, got {type(sampler).__name__}")
        return _Sampled(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Return the data set of the results of a function.

        Parameters
        ----------
        fn : callable
            Called with the parts of an example as its arguments.
        lazy : bool, optional
            Whether the function is called each time an example is read; otherwise it is called once, now.

        Returns
        -------
        Dataset
            The data set of the results.

        Examples
        --------
        >>> list(SimpleDataset([1, 2, 3]).transform(lambda n: -n))
        [-1, -2, -3]
        """
        made = _Transformed(self, fn)
        return made if lazy else SimpleDataset(list(made))

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> Dataset:
        """Return the data set of examples of which a function has changed the first part.

        Parameters
        ----------
        fn : callable
            Called with the first part of an example.
        lazy : bool, optional
            Whether the function is called each time an example is read; otherwise it is called once, now.

        Returns
        -------
        Dataset
            The data set of the results.

        Examples
        --------
        >>> list(SimpleDataset([(1, "a"), (2, "b")]).transform_first(lambda n: -n))
        [(-1, 'a'), (-2, 'b')]
        """
        return self.transform(First(fn), lazy)


def planned(dataset: Examples, late: bool) -> Plan:
    """Return the plan of an example, for functions that accept NumPy's arrays, if the data set has these.

    late: whether transforms may be deferred to the stacked batch. Also returns the deferred transforms.
    """
    return dataset._planned(late) if isinstance(dataset, Hosting) else (dataset.__getitem__, [])


class Hosting(Dataset):
    """A data set whose examples are also available as NumPy's arrays, which is faster: `_planned`.

    A subclass that defines `__getitem__` but not `_planned` has no examples as NumPy's arrays.
    """

    def __init_subclass__(cls) -> None:
        if "__getitem__" in cls.__dict__ and "_planned" not in cls.__dict__:
            cls._planned = Hosting._planned  # type: ignore[method-assign]

    def _planned(self, late: bool) -> Plan:
        return self.__getitem__, []


class SimpleDataset(Dataset):
    """A list, an array, or anything else with a length and items, as a data set.

    Parameters
    ----------
    data : sequence
        The examples: a list, an array, or any object with a length and items.

    Examples
    --------
    >>> from forerun.gluon import data
    >>> squares = data.SimpleDataset([0, 1, 4, 9])
    >>> len(squares), squares[3]
    (4, 9)
    """

    def __init__(self, data: Examples) -> None:
        self._data = data

    def __getitem__(self, index: int) -> Any:
        return self._data[index]

    def __len__(self) -> int:
        return len(self._data)


class First:
    """Applies a function to the first part of an example. A class, for it to be pickled."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, first: ArrayLike, *rest: Any) -> Any:
        made = self.function(first)
        return (made, *rest) if rest else made


class _Transformed(Hosting):
    """Examples of another data set, passed through a function."""

    def __init__(self, dataset: Any, function: Callable[..., Any]) -> None:
        self._dataset, self._function = dataset, function

    def _through(self, example: Any) -> Any:
        return self._function(*example) if isinstance(example, tuple) else self._function(example)

    def __getitem__(self, index: int) -> Any:
        return self._through(self._dataset[index])

    def _planned(self, late: bool) -> Plan:
        function: Any = self._function.function if isinstance(self._function, First) else self._function
        if not getattr(function, "takes_numpy", False):
            return self.__getitem__, []
        example, _ = planned(self._dataset, False)
        steps = function.steps()
        if steps is None:
            return lambda index: self._through(example(index)), []
        n = len(steps)
        while late and n and steps[n - 1].late is not None:
            n -= 1
        calls = [step.transformed for step in steps[:n]] + [step.early for step in steps[n:] if step.early is not None]

        def made(index: int) -> Any:
            x, rest = example(index), ()
            if isinstance(x, tuple):
                x, *rest = x  # type: ignore[assignment]
            for call in calls:
                x = call(x)
            return (x, *rest) if rest else x

        return made, [step.late for step in steps[n:]]

    def __len__(self) -> int:
        return len(self._dataset)


class _Sampled(Hosting):
    """Some examples of another data set."""

    def __init__(self, dataset: Any, sampler: Sampler) -> None:
        self._dataset, self._indices = dataset, list(sampler)

    def __getitem__(self, index: int) -> Any:
        return self._dataset[self._indices[index]]

    def _planned(self, late: bool) -> Plan:
        example, left = planned(self._dataset, late)
        indices = self._indices
        return lambda index: example(indices[index]), left

    def __len__(self) -> int:
        return len(self._indices)


class ArrayDataset(Dataset):
    """Entries of arrays or lists along their first axis as examples; tuples if there are several arrays.

    Parameters
    ----------
    *arrays : array or sequence
        Arrays of forerun or NumPy, or lists, of one length.

    Raises
    ------
    ValueError
        Without an array, or if their lengths differ.

    Examples
    --------
    >>> from forerun import np
    >>> data = ArrayDataset(np.ones((3, 2)), [0, 1, 2])
    >>> len(data), data[1][1]
    (3, 1)
    """

    def __init__(self, *arrays: Any) -> None:
        lengths = [len(array) for array in arrays]
        if not arrays or len(set(lengths)) != 1:
            raise ValueError(f"ArrayDataset: arrays must have one length, got {lengths}")
        self.arrays = arrays

    def __getitem__(self, index: int) -> Any:
        parts = tuple(array[index] for array in self.arrays)
        return parts if len(parts) > 1 else parts[0]

    def __len__(self) -> int:
        return len(self.arrays[0])
