"""Arguments of a kernel in memory, the way compiled code passes them.

Walks need over a hundred arrays. Handing them over from Python takes 20 µs, longer than an iteration of a small spot,
and threads would do it one after another. So they are written to memory once, by `write_arguments`, and read by the
kernel with `read_arguments`. Compiled code has to know their types: they follow from the types of two arrays, which
`read_arguments` is given.

Nothing here keeps the arrays alive; whoever calls `write_arguments` does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import typeof as _typeof
from numba import types
from numpy.typing import NDArray

from regretless.compiling import fast_kernel, intrinsic
from regretless.engines.numba.public.jobs import KernelArguments

__all__ = ["ARGUMENT_BYTES", "read_arguments", "write_arguments"]

ARGUMENT_BYTES = 16_384  # of one player

typeof: Any = _typeof
_kinds: dict[tuple[Any, Any], Any] = {}  # types of `KernelArguments`, by those of two of its arrays


def write_arguments(memory: NDArray[np.uint8], first: KernelArguments, second: KernelArguments) -> None:
    """Write both players' arguments to memory, replacing those in it."""
    for number, arguments in enumerate((first, second)):
        kind = typeof(arguments)
        key = typeof(arguments.job.learned.regret), typeof(arguments.scratch.tile.reach)
        if _kinds.setdefault(key, kind) != kind:
            raise TypeError(f"arguments of an unexpected type: {kind}")
        _write(memory[number * ARGUMENT_BYTES :], arguments)


@intrinsic
def _store(typing_context: Any, memory: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        if context.get_abi_sizeof(arguments[1].type) > ARGUMENT_BYTES:
            raise ValueError("ARGUMENT_BYTES is too small")
        builder.store(arguments[1], builder.bitcast(data, arguments[1].type.as_pointer()))
        return context.get_dummy_value()

    return types.void(memory, value), generate


@fast_kernel
def _write(memory: NDArray[np.uint8], arguments: KernelArguments) -> None:
    _store(memory, arguments)


@intrinsic
def read_arguments(typing_context: Any, memory: Any, player: Any, regret: Any, reach: Any) -> Any:
    """A player's arguments in `memory`; `regret` and `reach` are any arrays of their types of regrets and tiles."""
    kind = _kinds[regret, reach]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        data = builder.gep(data, [builder.mul(arguments[1], arguments[1].type(ARGUMENT_BYTES))])
        return builder.load(builder.bitcast(data, context.get_value_type(kind).as_pointer()))

    return kind(memory, types.int64, regret, reach), generate
