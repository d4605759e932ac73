"""From a loop's description to the address of a function, by LLVM through llvmlite."""

from __future__ import annotations

from functools import cache
from typing import Any

from .._runtime.logging import say
from .description import parse
from .emit import NAME, Target, emit

__all__ = ["compile_loop", "engine_of", "processor"]

_kept: list[Any] = []  # engines of LLVM, which own the functions


@cache
def processor() -> Target:
    """Return this processor."""
    features = _llvm().get_host_cpu_features()
    if all(features.get(name) for name in ("avx512f", "avx512bw", "avx512dq", "avx512vl")):
        return Target(64, True)
    return Target(32 if features.get("avx2") else 16, False)


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def engine_of(code: str) -> Any:
    """Return an engine of LLVM that has compiled code, and owns its functions."""
    llvm = _llvm()
    machine = llvm.Target.from_default_triple().create_target_machine(  # the engine's: one cannot be shared
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(code), machine)
    engine.finalize_object()
    return engine


def compile_loop(text: str) -> int:
    """Return the address of the function that a description describes; 0 if it cannot be compiled.

    Parameters
    ----------
    text : str
        The description, as `core/cpu/kernels/fusion/segments.h` says.
    """
    try:
        engine = engine_of(emit(parse(text), processor()))
        address = int(engine.get_function_address(NAME))
    except Exception as error:  # any error of the other library: the program continues without the compiled loop
        say("warning", "compile: a loop could not be compiled, and runs as it is: %s", error)
        return 0
    _kept.append(engine)
    return address
