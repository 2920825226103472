"""Processor instructions for kernels: prefetch, atomic operations, waiting, flushing denormals to 0."""

from __future__ import annotations

import os
import platform
from typing import Any

from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba import config, types

from regretless.compiling import intrinsic
from regretless.compiling.numba_internals import cgutils

__all__ = [
    "atomic_add",
    "atomic_load",
    "atomic_store",
    "converts_halves",
    "flush_tiny",
    "give_way",
    "nap",
    "pause",
    "prefetch",
    "restore_tiny",
]

_INT = ir.IntType(32)
_MACHINE = platform.machine().lower()
_X86 = _MACHINE in ("x86_64", "amd64", "i686")
_ARM = _MACHINE in ("aarch64", "arm64")
# Functions of the operating system, and the argument of the second.
_GIVE_WAY, _SLEEP, _NAP = ("SwitchToThread", "Sleep", 1) if os.name == "nt" else ("sched_yield", "usleep", 50)


def converts_halves() -> bool:
    """Whether the processor converts half-precision floats. Some virtual machines hide that theirs does."""
    if not _X86 or config.CPU_FEATURES is not None:  # type: ignore[attr-defined]
        return True
    return bool(binding.get_host_cpu_features().get("f16c", False))


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The address of an element, given an array of 64-bit integers and an index."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


@intrinsic
def atomic_load(typing_context: Any, numbers: Any, index: Any) -> Any:
    """numbers[index]; later reads see everything written before it was stored."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, signature, arguments), "seq_cst", 8)

    return types.int64(numbers, types.int64), generate


@intrinsic
def atomic_store(typing_context: Any, numbers: Any, index: Any, value: Any) -> Any:
    """numbers[index] = value; who loads it sees everything written before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[2], _pointer(context, builder, signature, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(numbers, types.int64, types.int64), generate


@intrinsic
def atomic_add(typing_context: Any, numbers: Any, index: Any, amount: Any) -> Any:
    """Adds to numbers[index] and returns what it was before; no two threads get the same number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(context, builder, signature, arguments), arguments[2], "seq_cst")

    return types.int64(numbers, types.int64, types.int64), generate


def _call(builder: Any, name: str, *arguments: Any) -> None:
    kind = ir.FunctionType(ir.VoidType(), [each.type for each in arguments])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@intrinsic
def pause(typing_context: Any) -> Any:
    """Wait for a few dozen cycles, leaving the core to its other hardware thread."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _X86:
            _call(builder, "llvm.x86.sse2.pause")
        elif _ARM:
            _call(builder, "llvm.aarch64.hint", _INT(1))
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def give_way(typing_context: Any) -> Any:
    """Let another thread run on this core, if one is ready."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _call(builder, _GIVE_WAY)
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def nap(typing_context: Any) -> Any:
    """Sleep for the shortest time that is worth it: 50 µs, 1 ms on Windows."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _call(builder, _SLEEP, _INT(_NAP))
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Start loading array[index : index + 16] into the L2 cache; an index out of bounds is harmless."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte_pointer = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte_pointer)
        kind = ir.FunctionType(ir.VoidType(), [byte_pointer, _INT, _INT, _INT])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [address, _INT(0), _INT(2), _INT(1)])  # for reading, L2 cache, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _control_register(builder: Any, name: str, memory: Any) -> None:
    pointer = builder.bitcast(memory, ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [pointer.type])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.sse.{name}"), [pointer])


@intrinsic
def flush_tiny(typing_context: Any) -> Any:
    """Treat denormal numbers (below 1e-38) as 0 from here on: x86 processors are a hundred times slower on them.

    Returns the previous setting for `restore_tiny`. Does nothing on other processors.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not _X86:
            return _INT(0)
        memory = cgutils.alloca_once(builder, _INT)
        _control_register(builder, "stmxcsr", memory)
        before = builder.load(memory)
        builder.store(builder.or_(before, _INT(0x8040)), memory)  # flush to zero, denormals are zero
        _control_register(builder, "ldmxcsr", memory)
        return before

    return types.uint32(), generate


@intrinsic
def restore_tiny(typing_context: Any, before: Any) -> Any:
    """Undo `flush_tiny`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _X86:
            memory = cgutils.alloca_once(builder, _INT)
            builder.store(arguments[0], memory)
            _control_register(builder, "ldmxcsr", memory)
        return context.get_dummy_value()

    return types.void(types.uint32), generate
