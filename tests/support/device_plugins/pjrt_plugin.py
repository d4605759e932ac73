"""A PJRT plugin by its C API, through ctypes: compiles modules of StableHLO and runs them. Without the package.

The structures of the API have fields of 8 bytes, or of 4 with 4 behind them: here they are lists of 64-bit numbers,
which start with their size, and a pointer to extensions.
"""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy

from forerun._pjrt.plugins import client_options, load_vendor_libraries
from tests.support.paths import ROOT

# Positions in the table of functions, which have not changed since version 0.54.
_FUNCTIONS = {
    "Error_Destroy": 0, "Error_Message": 1, "Plugin_Initialize": 3, "Event_Destroy": 5, "Event_Await": 8,
    "Client_Create": 10, "Client_AddressableDevices": 16, "Client_Compile": 20, "Client_BufferFromHostBuffer": 22,
    "Executable_NumOutputs": 44, "LoadedExecutable_Destroy": 50, "LoadedExecutable_GetExecutable": 51,
    "LoadedExecutable_Execute": 55, "Buffer_Destroy": 58, "Buffer_ElementType": 59, "Buffer_Dimensions": 60,
    "Buffer_ToHostBuffer": 70,
}  # fmt: skip
_TABLE = 5  # 64-bit numbers in front of the functions
_DTYPES = (
    "", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "bfloat16", "complex64", "complex128",
)  # fmt: skip
# Of a compilation, as messages of protocol buffers: one replica, one partition; and XLA's own level of optimisation,
# which `make test` lowers, since most of its time would be that of compilers.
_OPTIONS = bytes([0x1A, 4, 0x20, 1, 0x28, 1])
_LEVEL = b"xla_backend_optimization_level"
_OPTIMISED = bytes([0x3A, len(_LEVEL) + 6, 0x0A, len(_LEVEL)]) + _LEVEL + bytes([0x12, 2, 0x18, 3])


def dtype_of(name: str) -> numpy.dtype[Any]:
    """NumPy's dtype of a name."""
    return numpy.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def paths() -> list[Path]:
    """The libraries of plugins: FORERUN_PJRT_TEST_PLUGINS, between colons; else the files in build/plugins."""
    given = os.environ.get("FORERUN_PJRT_TEST_PLUGINS")
    if given is not None:
        return [Path(path) for path in given.split(":") if path]
    found = sorted(ROOT.glob("build/plugins/*/**/*.so"))
    return [path for path in found if "pjrt" in path.name]


_BOOLEAN = 4  # the type of a named value


def _address(text: bytes) -> int:
    """Where the bytes are."""
    return ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value or 0


class Plugin:
    """A plugin with its client and first device."""

    def __init__(self, path: Path) -> None:
        load_vendor_libraries(path)
        get = ctypes.CDLL(str(path)).GetPjrtApi
        get.restype = ctypes.POINTER(ctypes.c_uint64)
        self._api = get()
        self._call("Plugin_Initialize")
        flags = [(name.encode(), value) for name, value in client_options(path).items() if isinstance(value, bool)]
        named = (ctypes.c_uint64 * (7 * len(flags)))()
        for i, (name, value) in enumerate(flags):
            named[7 * i : 7 * i + 7] = [56, 0, _address(name), len(name), _BOOLEAN, value, 1]
        self._client = self._call("Client_Create", ctypes.addressof(named), len(flags), *[0] * 7)[6]
        self._device = ctypes.c_uint64.from_address(
            self._call("Client_AddressableDevices", self._client, 0, 0)[1]
        ).value

    def _call(self, name: str, *fields: int) -> list[int]:
        """Calls a function with the fields of its structure; returns them as they are afterwards."""
        arguments = (ctypes.c_uint64 * (2 + len(fields)))(8 * (2 + len(fields)), 0, *fields)
        function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(self._api[_TABLE + _FUNCTIONS[name]])
        error = function(ctypes.addressof(arguments))
        if error and not name.startswith("Error"):
            at, size = self._call("Error_Message", error, 0, 0)[1:]
            text = ctypes.string_at(at, size).decode()
            self._call("Error_Destroy", error)
            raise RuntimeError(f"{name}: {text}")
        return list(arguments[2:])

    def _await(self, event: int) -> None:
        self._call("Event_Await", event)
        self._call("Event_Destroy", event)

    def _put(self, array: Any) -> int:
        array = numpy.ascontiguousarray(array).reshape(array.shape)
        dims = (ctypes.c_int64 * array.ndim)(*array.shape)
        kind = _DTYPES.index(array.dtype.name)
        shape = ctypes.addressof(dims), array.ndim
        *_, done, buffer = self._call(
            "Client_BufferFromHostBuffer",
            self._client,
            array.ctypes.data,
            kind,
            *shape,
            0,
            0,
            0,
            self._device,
            0,
            0,
            0,
            0,
        )
        self._await(done)
        return buffer

    def _get(self, buffer: int) -> Any:
        kind = self._call("Buffer_ElementType", buffer, 0)[1] & 0xFFFFFFFF
        _, dims, rank = self._call("Buffer_Dimensions", buffer, 0, 0)
        shape = tuple((ctypes.c_int64 * rank).from_address(dims)) if rank else ()
        array = numpy.empty(shape, dtype_of(_DTYPES[kind]))
        self._await(self._call("Buffer_ToHostBuffer", buffer, 0, array.ctypes.data, array.nbytes, 0)[4])
        self._call("Buffer_Destroy", buffer)
        return array

    @functools.lru_cache(maxsize=64)  # noqa: B019 - plugins stay
    def _compiled(self, text: str, optimised: bool) -> tuple[int, int]:
        """A loaded executable, and how many results it has."""
        wanted = _OPTIONS + (_OPTIMISED if optimised else b"")
        code, form, options = (ctypes.create_string_buffer(t) for t in (text.encode(), b"mlir", wanted))
        program = (ctypes.c_uint64 * 6)(48, 0, ctypes.addressof(code), len(text.encode()), ctypes.addressof(form), 4)
        fields = self._client, ctypes.addressof(program), ctypes.addressof(options), len(wanted), 0
        loaded = self._call("Client_Compile", *fields)[4]
        executable = self._call("LoadedExecutable_GetExecutable", loaded, 0)[1]
        return loaded, self._call("Executable_NumOutputs", executable, 0)[1]

    def run(self, text: str, *arrays: Any, optimised: bool = False) -> list[Any]:
        """The results of a module. optimised: also where XLA_FLAGS has another level."""
        loaded, count = self._compiled(text, optimised)
        buffers = [self._put(array) for array in arrays]
        given, results = (ctypes.c_uint64 * len(buffers))(*buffers), (ctypes.c_uint64 * count)()
        lists = (ctypes.c_uint64 * 1)(ctypes.addressof(given)), (ctypes.c_uint64 * 1)(ctypes.addressof(results))
        events = (ctypes.c_uint64 * 1)()
        options = (ctypes.c_uint64 * 14)(112)
        self._call(
            "LoadedExecutable_Execute", loaded, ctypes.addressof(options), ctypes.addressof(lists[0]), 1, len(buffers),
            ctypes.addressof(lists[1]), ctypes.addressof(events), 0,
        )  # fmt: skip
        self._await(events[0])
        for buffer in buffers:
            self._call("Buffer_Destroy", buffer)
        return [self._get(buffer) for buffer in results]


@functools.cache
def plugin_of(path: Path) -> Plugin:
    """The plugin of a file, loaded once."""
    return Plugin(path)
