# Additions to the generated stub: the types whose slots are filled by hand, and the results of functions on arrays.
# Every array that the core makes is of the class that wire() registers, `forerun.np.ndarray`.
# Format: https://nanobind.readthedocs.io/en/latest/typing.html#pattern-files

_core.__prefix__:
    \from collections.abc import Callable, Iterator, Sequence
    \from typing import Any, Self
    import numpy as _numpy
    from forerun._array.ndarray import ndarray as _ndarray
    from forerun._runtime.device import Device as _Device
    from forerun.typing import DTypeLike as _DTypeLike
    from forerun.typing import Shape as _Shape

    class Array:
        """An array: a storage, and the layout of its elements. Base of the class that users see."""
        shape: tuple[int, ...]
        strides: tuple[int, ...]
        ndim: int
        size: int
        itemsize: int
        nbytes: int
        dtype: _numpy.dtype[Any]
        device: _Device
        @property
        def T(self) -> Self: ...
        flat: Any
        ready: bool
        grad: Any
        node: Any
        index: int
        def wait(self) -> None: ...
        def wait_to_read(self) -> None: ...
        def numpy(self) -> _numpy.ndarray[Any, Any]: ...
        def asnumpy(self) -> _numpy.ndarray[Any, Any]: ...
        def item(self, *index: int) -> Any: ...
        def tolist(self) -> Any: ...
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> _numpy.ndarray[Any, Any]: ...
        def __bool__(self) -> bool: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __complex__(self) -> complex: ...
        def __index__(self) -> int: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Self]: ...
        def __getitem__(self, index: Any, /) -> Self: ...
        def __setitem__(self, index: Any, value: Any, /) -> None: ...
        def __eq__(self, other: Any, /) -> Any: ...
        def __ne__(self, other: Any, /) -> Any: ...
        def __lt__(self, other: Any, /) -> Self: ...
        def __le__(self, other: Any, /) -> Self: ...
        def __gt__(self, other: Any, /) -> Self: ...
        def __ge__(self, other: Any, /) -> Self: ...
        def __neg__(self) -> Self: ...
        def __pos__(self) -> Self: ...
        def __abs__(self) -> Self: ...
        def __invert__(self) -> Self: ...
        def __add__(self, other: Any, /) -> Self: ...
        def __radd__(self, other: Any, /) -> Self: ...
        def __iadd__(self, other: Any, /) -> Self: ...
        def __sub__(self, other: Any, /) -> Self: ...
        def __rsub__(self, other: Any, /) -> Self: ...
        def __isub__(self, other: Any, /) -> Self: ...
        def __mul__(self, other: Any, /) -> Self: ...
        def __rmul__(self, other: Any, /) -> Self: ...
        def __imul__(self, other: Any, /) -> Self: ...
        def __truediv__(self, other: Any, /) -> Self: ...
        def __rtruediv__(self, other: Any, /) -> Self: ...
        def __itruediv__(self, other: Any, /) -> Self: ...
        def __floordiv__(self, other: Any, /) -> Self: ...
        def __rfloordiv__(self, other: Any, /) -> Self: ...
        def __ifloordiv__(self, other: Any, /) -> Self: ...
        def __mod__(self, other: Any, /) -> Self: ...
        def __rmod__(self, other: Any, /) -> Self: ...
        def __imod__(self, other: Any, /) -> Self: ...
        def __pow__(self, other: Any, /) -> Self: ...
        def __rpow__(self, other: Any, /) -> Self: ...
        def __ipow__(self, other: Any, /) -> Self: ...
        def __matmul__(self, other: Any, /) -> Self: ...
        def __rmatmul__(self, other: Any, /) -> Self: ...
        def __and__(self, other: Any, /) -> Self: ...
        def __rand__(self, other: Any, /) -> Self: ...
        def __iand__(self, other: Any, /) -> Self: ...
        def __or__(self, other: Any, /) -> Self: ...
        def __ror__(self, other: Any, /) -> Self: ...
        def __ior__(self, other: Any, /) -> Self: ...
        def __xor__(self, other: Any, /) -> Self: ...
        def __rxor__(self, other: Any, /) -> Self: ...
        def __ixor__(self, other: Any, /) -> Self: ...
        def __lshift__(self, other: Any, /) -> Self: ...
        def __rlshift__(self, other: Any, /) -> Self: ...
        def __ilshift__(self, other: Any, /) -> Self: ...
        def __rshift__(self, other: Any, /) -> Self: ...
        def __rrshift__(self, other: Any, /) -> Self: ...
        def __irshift__(self, other: Any, /) -> Self: ...

    class Ufunc:
        """An element-wise op: NumPy's inner loops, issued to the engine."""
        ufunc: Any
        name: str
        grads: Any
        nin: int
        nout: int
        save: int
        def __init__(self, ufunc: Any, name: str, grads: Any = None, save: int = 0, **facts: Any) -> None: ...
        def __call__(self, *inputs: Any, out: Any = None, dtype: Any = None, loop: Any = None, **options: Any) -> Any: ...

    class Function:
        """A function whose plain calls the core handles itself."""
        def __init__(self, entry: str, function: Any, data: Any = None, /) -> None: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    class Flat:
        """The elements of an array in C order."""
        base: Any
        index: int
        def __init__(self, base: Any) -> None: ...
        def __iter__(self) -> Any: ...
        def __next__(self) -> Any: ...
        def __len__(self) -> int: ...
        def __getitem__(self, index: Any, /) -> Any: ...
        def __setitem__(self, index: Any, value: Any, /) -> None: ...

    class Fallback:
        """Calls a function, and another one if the first rejects its arguments; `few` for NumPy's small arrays.

        delegates: the arguments for which the first is not tried: "none", "dtypes" or "classes".
        """
        def __init__(self, function: Any, otherwise: Any, few: Any = None, delegates: str = "none", /) -> None: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    class Primitive:
        """A Python function that is recorded as one op."""
        forward: Any
        name: str
        parameters: tuple[str, ...]
        grads: Any
        arrays: int
        save: int
        kept: int
        def __init__(
            self,
            forward: Any,
            name: str,
            parameters: tuple[str, ...],
            defaults: tuple[Any, ...],
            arrays: int,
            grads: Any,
            save: int,
            kept: int,
        ) -> None: ...
        def __call__(self, *args: Any, **attrs: Any) -> Any: ...

    class Variable:
        """A leaf of the tape."""
        grad: Any
        grad_req: str
        def __init__(self, grad: Any, grad_req: str) -> None: ...

    class Node:
        """A recorded op: the inputs of the arrays that it computed."""
        op: Any
        attrs: Any
        seq: int
        site: tuple[str, int] | None
        inputs: tuple[Any, ...]
        outputs: tuple[Any, ...]

    class Program:
        """A recorded sequence of ops: a call issues it for a tuple of arrays; None if it does not fit them."""
        steps: tuple[str, ...]
        whole: bool
        def __call__(self, inputs: tuple[Any, ...], /) -> Any: ...

_core\.from_numpy$:
    def from_numpy(values: _numpy.ndarray[Any, Any] | _numpy.generic, device: _Device | None = None) -> _ndarray:
        \doc

_core\.numpy_alias$:
    def numpy_alias(a: _ndarray) -> _numpy.ndarray[Any, Any]:
        \doc

_core\.shared_with_numpy$:
    def shared_with_numpy(values: _numpy.ndarray[Any, Any]) -> _ndarray | None:
        \doc

_core\.taken$:
    def taken(values: _numpy.ndarray[Any, Any], device: _Device | None = None) -> _ndarray:
        \doc

_core\.scalars$:
    def scalars(values: Sequence[float], dtype: _DTypeLike, device: _Device) -> _ndarray:
        \doc

_core\.empty$:
    def empty(shape: _Shape, dtype: _DTypeLike, device: _Device | None = None) -> _ndarray: ...

_core\.full$:
    def full(shape: _Shape, value: object, dtype: _DTypeLike, device: _Device | None = None) -> _ndarray: ...

_core\.cast$:
    def cast(a: Array, dtype: _DTypeLike, /) -> _ndarray: ...

_core\.clock$:
    def clock(after: Sequence[Array]) -> _ndarray:
        \doc

_core\.copy$:
    def copy(a: Array, device: _Device | None = None, queue: bool = False) -> _ndarray:
        \doc

_core\.view$:
    def view(a: Array, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> _ndarray: ...

_core\.reinterpret$:
    def reinterpret(a: Array, dtype: _DTypeLike) -> _ndarray:
        \doc

_core\.part$:
    def part(a: Array, imaginary: bool) -> _ndarray:
        \doc

_core\.reshape$:
    def reshape(a: Array, shape: _Shape, /) -> _ndarray: ...

_core\.transpose$:
    def transpose(a: Array, axes: Sequence[int], /) -> _ndarray: ...

_core\.broadcast_to$:
    def broadcast_to(a: Array, shape: _Shape, /) -> _ndarray: ...

_core\.read_only$:
    def read_only(a: Array, on: bool = True) -> _ndarray:
        \doc

_core\.getitem$:
    def getitem(a: Array, index: object) -> _ndarray:
        \doc

_core\.read$:
    def read(a: Array, index: object) -> _ndarray:
        \doc

_core\.as_scalar$:
    def as_scalar(a: Array) -> _ndarray:
        \doc

_core\.as_array$:
    def as_array(a: Array) -> _ndarray:
        \doc

_core\.from_dlpack$:
    def from_dlpack(capsule: object, device: _Device | None, copy: int) -> _ndarray:
        \doc

_core\.reduce$:
    def reduce(
        op: Ufunc, a: Array, axes: Sequence[int], dtype: _DTypeLike = None, keepdims: bool = False, name: str = "",
    ) -> _ndarray: ...

_core\.sum_to$:
    def sum_to(a: Array, shape: Sequence[int], /) -> _ndarray: ...

_core\.repeat$:
    def repeat(a: Array, counts: Array, before: Sequence[int], piece: int) -> _ndarray: ...

_core\.reduceat$:
    def reduceat(op: Ufunc, a: Array, indices: Array, axis: int = 0, name: str = "") -> _ndarray: ...

_core\.scan$:
    def scan(op: Ufunc, a: Array, axis: int, dtype: _DTypeLike = None, name: str = "") -> _ndarray: ...

_core\.matmul$:
    def matmul(a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False) -> _ndarray: ...

_core\.concatenate$:
    def concatenate(arrays: Sequence[Array], axis: int = 0) -> _ndarray: ...

_core\.random$:
    def random(
        kind: str, shape: _Shape, dtype: _DTypeLike, device: _Device | None, lo: object, hi: object,
        stream: object = None,
    ) -> _ndarray: ...

_core\.host$:
    def host(
        fn: Callable[..., object], inputs: Sequence[Array],
        outs: Sequence[Array | tuple[Sequence[int], _DTypeLike]], device: _Device | None = None, name: str = "host",
        queue: str = "compute", trusted: bool = False, fills: bool = False, pieces: int = 1, axis: int = 0,
        at_once: int = 0,
    ) -> list[_ndarray]: ...

_core\.gather$:
    def gather(a: Array, indices: Sequence[Array], axis: int = 0, op_name: str = "take") -> _ndarray: ...

_core\.gather_along$:
    def gather_along(a: Array, indices: Array, axis: int, op_name: str = "take", from_end: bool = True) -> _ndarray: ...

_core\.neighbours$:
    def neighbours(a: Array, weights: Array, first: int, length: int) -> _ndarray | None:
        \doc

_core\.conv$:
    def conv(
        x: Array,
        w: Array,
        settings: tuple[Sequence[int], Sequence[int], Sequence[int], int, Sequence[int]],
    ) -> _ndarray:
        \doc

_core\.conv_back$:
    def conv_back(
        y: Array,
        w: Array,
        settings: tuple[Sequence[int], Sequence[int], Sequence[int], int, Sequence[int]],
    ) -> _ndarray:
        \doc

_core\.conv_weight$:
    def conv_weight(
        y: Array,
        x: Array,
        settings: tuple[Sequence[int], Sequence[int], Sequence[int], int, Sequence[int]],
        shape: Sequence[int],
    ) -> _ndarray:
        \doc

_core\.pool$:
    def pool(x: Array, kernel: Sequence[int], stride: Sequence[int], largest: bool) -> _ndarray:
        \doc

_core\.pool_back$:
    def pool_back(
        g: Array, x: Array | None, y: Array | None, shape: Sequence[int], kernel: Sequence[int],
        stride: Sequence[int],
    ) -> _ndarray:
        \doc

_core\.rnn$:
    def rnn(
        rule: str, reversed: bool, x: Array, h: Array | None, c: Array | None, w: Array, b: Array,
    ) -> tuple[_ndarray, _ndarray | None, _ndarray | None]:
        \doc

_core\.rnn_back$:
    def rnn_back(
        rule: str, reversed: bool, gy: Array, gc: Array | None, h: Array | None, c: Array | None, w: Array,
        y: Array, cells: Array | None, kept: Array | None,
    ) -> tuple[_ndarray, _ndarray | None, _ndarray | None, _ndarray]:
        \doc

_core\.transform$:
    def transform(
        ufunc: _numpy.ufunc, op: str, x: Array, axis: int, m: int, factor: object, per_line: int,
    ) -> _ndarray:
        \doc

_core\.current_site$:
    def current_site() -> tuple[str, int] | None: ...

_core\.record$:
    def record(op: object, inputs: tuple[Array, ...], outputs: tuple[Array, ...], attrs: object, save: int) -> None: ...

_core\.detach$:
    def detach(a: Array, /) -> _ndarray: ...

_core\.run_backward$:
    def run_backward(
        op: str, heads: Sequence[Array], head_grads: Sequence[Array | None] | None,
        variables: Sequence[Array] | None, keep_graph: bool, create_graph: bool, train_mode: bool,
        zeros: bool = True,
    ) -> list[Any]:
        \doc

_core\.capture_end$:
    def capture_end(
        inputs: Sequence[Array], free: int, results: Sequence[Array], saved: Sequence[Array], about: object,
        graded: Sequence[int], leaves: Sequence[Any], name: str, apart: bool,
    ) -> Program:
        \doc

_core\.as_base_array$:
    def as_base_array(a: Array, /) -> _ndarray:
        \doc

_core\.(stats|in_use)$:
    def \1() -> dict[str, int]: ...

_core\.memory$:
    def memory(device: int = 0) -> dict[str, int]: ...

_core\.bfloat16$:
    def bfloat16() -> _numpy.dtype[Any]: ...

_core\.gradient_versions$:
    def gradient_versions(arrays: Sequence[Any], /) -> list[int]: ...
