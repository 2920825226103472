"""The kernels of the public form: their source, their names, and what is compiled into them for a form.

The source is the records shared with the host, then one file per subject.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from regretless.engines.cuda.device import kernel_text
from regretless.engines.cuda.public.records import records_source

__all__ = ["HANDS", "KERNELS", "LEVEL_THREADS", "PANEL_BLOCKS", "PANEL_THREADS", "KernelOptions", "kernel_source"]

HANDS = 4  # adjacent hands per thread that walks decisions
UP_BLOCKS = 6  # per multiprocessor on the way up the last street: more would leave too few registers
LEVEL_THREADS = 256  # at most, of a block that walks a line level by level
LEVEL_BLOCKS = 2  # of those, per multiprocessor
PANEL_THREADS, PANEL_BLOCKS = 256, 2  # per block that multiplies, and such blocks per multiprocessor
KERNELS = (
    "make_lists", "make_codes", "levels_learn_down", "levels_last_down", "levels_mean_down", "levels_learn_up",
    "levels_last_up", "levels_value_up", "levels_relay", "levels_last_relay", "learn_down", "last_down", "mean_down",
    "learn_up", "last_up", "value_up", "terminals", "products", "leaves", "sums", "hold",
)  # fmt: skip
FILES = ("numbers", "decisions", "lines", "terminals", "lists", "products", "levels", "streets")


@dataclass(frozen=True, kw_only=True)
class KernelOptions:
    """What is compiled into the kernels."""

    storage: int = 32
    wide: bool = False  # terminals in 64 bits
    predicts: bool = False
    products: bool = False  # terminals as matrix products while a player learns
    bucketed: bool = False  # evaluations look averages up in tables per bucket
    reach_shared: bool = True  # which tiles lie in shared memory
    parts_shared: bool = True
    threads: int = 512  # per block that evaluates terminals
    blocks: int = 2  # of those, per multiprocessor

    def flags(self) -> tuple[str, ...]:
        """As arguments of a compiler."""
        named = {
            "STORAGE": self.storage,
            "Real": "double" if self.wide else "float",
            "PREDICTS": int(self.predicts),
            "PRODUCTS": int(self.products),
            "BUCKETED": int(self.bucketed),
            "PARTS_SHARED": int(self.parts_shared),
            "REACH_SHARED": int(self.reach_shared),
            "THREADS": self.threads,
            "BLOCKS": self.blocks,
            "UP_BLOCKS": UP_BLOCKS,
            "LEVEL_THREADS": LEVEL_THREADS,
            "LEVEL_BLOCKS": LEVEL_BLOCKS,
            "PANEL_THREADS": PANEL_THREADS,
            "PANEL_BLOCKS": PANEL_BLOCKS,
        }
        return tuple(f"-D{name}={value}" for name, value in named.items())


@cache
def kernel_source() -> str:
    """All kernels; `KernelOptions` compile them for a form."""
    return "\n".join([records_source(), kernel_text(*(f"public/kernels/{name}.cu" for name in FILES))])
