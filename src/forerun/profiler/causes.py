"""Kinds of waits: a word for each function that waits, and the change that avoids the wait."""

from __future__ import annotations

from .. import np

__all__ = ["ADVICE", "advice", "cause_of", "shown"]

# Functions that wait, by kind. Any other function of NumPy's names waits for the shape of its result.
_CALLS = {
    "wait": ("wait", "wait_to_read"),
    "barrier": ("waitall", "pace", "_paced", "synchronize", "configure", "quiesce", "stop", "__exit__", "empty_cache"),
    "item": ("item", "tolist", "int", "float", "complex", "__int__", "__float__", "asscalar", "accuracy"),
    "bool": ("bool", "__bool__", "__contains__", "min", "max"),
    "index": ("index", "__index__"),
    "print": ("__repr__", "__str__", "__format__", "array_repr", "array_str", "array2string", "_repr_html_"),
    "asnumpy": (
        "asnumpy", "numpy", "__array__", "memoryview", "tobytes", "__dlpack__", "to_dlpack", "from_dlpack", "data",
        "array_function", "array_ufunc",
    ),
    "keep": (
        "__reduce__", "__reduce_ex__", "dumps", "save", "savez", "savez_compressed", "savetxt", "dump", "tofile",
        "export", "save_file", "save_parameters", "save_states",
    ),
    "files": ("load_parameters", "load_states", "loadtxt", "genfromtxt", "load", "fromfile"),
    "batch": ("next batch",),
    "window full": ("window full",),
    "bytes full": ("bytes full",),
    "at rest": ("at rest",),
    "end": ("end of the recording",),
    "synchronous": ("synchronous",),
    "shared": ("memory shared with NumPy",),
}  # fmt: skip
_CAUSE = {call: cause for cause, calls in _CALLS.items() for call in calls}

ADVICE = {
    "wait": "leave it out if nothing outside needs the values yet; later operations keep their order",
    "barrier": "wait for the array that is needed, x.wait(), or bound run-ahead by forerun.pace(batches)",
    "item": "keep the number as an array (append it to a list), and read np.stack(list) once at the end",
    "bool": "decide inside: np.where(condition, a, b), np.clip, x[mask] = value; or look a round later",
    "index": "take by an operation: np.take(x, i, axis=0)",
    "print": "print after the loop, or the result of the previous round",
    "asnumpy": "stay in forerun.np; where only NumPy has the function, issue it: npx.host(function, ...)",
    "keep": "np.save(path, x, wait=False), with a path, returns at once; so does any save",
    "files": "read files by path: np.load(path) returns at once",
    "batch": "more workers for the loader, or a larger prefetch",
    "values": "the function reads values itself: call it less often, or after the loop",
    "shape": "a form whose shape is known: np.where(mask, x, 0), x * mask, mask.sum()",
    "window full": "the front end is far ahead and work is queued: nothing is lost; pace() bounds it by batches",
    "bytes full": "memory is at its budget: smaller batches, keep fewer arrays, or configure(memory_budget=)",
    "at rest": "configure and fork before there is work",
    "end": "",
    "synchronous": "FORERUN_ENGINE=sync runs each operation at once: unset it",
    "shared": "operate on a copy: np.array(x); NumPy may write to this array's memory at any time",
}

# For a line that waited once: there is no loop to leave.
_ONCE = {
    "item": "read it when all is issued that does not need it, or keep the number as an array",
    "bool": "decide inside: np.where(condition, a, b), np.clip, x[mask] = value; or look when all else is issued",
    "print": "print when all is issued that does not need it",
    "values": "the function reads values itself: call it when all is issued that does not need it",
    "batch": "a larger prefetch",
}


def advice(cause: str, waits: int) -> str:
    """Return a change that avoids the waits of a line.

    >>> advice("print", 1)
    'print when all is issued that does not need it'
    >>> advice("print", 10)
    'print after the loop, or the result of the previous round'
    """
    return (_ONCE.get(cause) if waits <= 1 else None) or ADVICE[cause]


def _in_numpy(call: str) -> bool:
    spaces = np, np.ndarray, np.linalg, np.random, np.emath
    return call in ("getitem", "setitem") or any(hasattr(space, call) for space in spaces)


def cause_of(call: str) -> str:
    """Return the kind of a wait, from the call in the program.

    >>> cause_of("asnumpy"), cause_of("__repr__"), cause_of("nonzero"), cause_of("evaluate")
    ('asnumpy', 'print', 'shape', 'values')
    """
    return _CAUSE.get(call) or ("shape" if _in_numpy(call) else "values")


_SHOWN = {
    "__array__": "asarray", "__dlpack__": "from_dlpack", "__str__": "str", "__repr__": "repr", "__format__": "format",
    "__contains__": "in", "getitem": "x[...]", "_paced": "pace",
}  # fmt: skip


def shown(call: str) -> str:
    """Return a call in the spelling of a program.

    >>> shown("__array__"), shown("item")
    ('asarray', 'item')
    """
    return _SHOWN.get(call, call)
