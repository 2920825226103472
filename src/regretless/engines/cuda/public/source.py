"""The kernels of the public form: their source, their names, and what is compiled into them for a form.

The source is the records shared with the host, then one file per subject. `choose_rooms` decides what a block that
evaluates terminals has in shared memory, which the host knows and the kernels are compiled for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from regretless.engines.cuda.device import Device, Records, kernel_text
from regretless.engines.cuda.public.records import ROOMS, SEGMENTS, UNIT, records_source
from regretless.engines.cuda.public.spot import SpotWalks

__all__ = [
    "BLOCK_SHARED", "HANDS", "KERNELS", "LEVEL_THREADS", "PANEL_BLOCKS", "PANEL_THREADS", "PROCESSOR_SHARED", "WARP",
    "KernelOptions", "choose_rooms", "kernel_source",
]  # fmt: skip

WARP = 32  # lanes; half of them sum two columns each
PROCESSOR_SHARED = 228 * 1024  # bytes of shared memory of a multiprocessor
BLOCK_SHARED = 1024  # bytes of shared memory that CUDA reserves for every block
# Bytes of shared memory that the kernel of terminals declares, rounded up; by whether it computes in 64 bits.
STATIC_SHARED = {False: 4096, True: 5632}
# Threads per block and blocks per multiprocessor, best first: of two blocks, one computes while the other waits.
SHARINGS = ((512, 2), (1024, 1))
HANDS = 4  # adjacent hands per thread that walks decisions
UP_BLOCKS = 6  # per multiprocessor on the way up the last street: more would leave too few registers
LEVEL_THREADS = 256  # at most, per block that walks a line level by level
LEVEL_BLOCKS = 2  # such blocks per multiprocessor
PANEL_THREADS, PANEL_BLOCKS = 256, 2  # per block that multiplies, and such blocks per multiprocessor
KERNELS = (
    "make_lists", "make_codes", "levels_learn_down", "levels_last_down", "levels_mean_down", "levels_learn_up",
    "levels_last_up", "levels_value_up", "levels_relay", "levels_last_relay", "learn_down", "last_down", "mean_down",
    "learn_up", "last_up", "value_up", "terminals", "products", "leaves", "block_sums", "sums", "hold",
)  # fmt: skip
FILES = ("numbers", "decisions", "lines", "terminals", "lists", "products", "levels", "streets")


@dataclass(frozen=True, kw_only=True)
class KernelOptions:
    """What is compiled into the kernels."""

    storage: int = 32
    wide: bool = False  # terminals in 64 bits
    predicts: bool = False
    products: bool = False  # terminals as matrix products while a player learns
    places: bool = False  # final runouts may have only live hands (`live.py`)
    bucketed: bool = False  # evaluations look averages up in tables per bucket
    reach_shared: bool = True  # which tiles lie in shared memory
    parts_shared: bool = True
    threads: int = 512  # per block that evaluates terminals
    blocks: int = 2  # such blocks per multiprocessor

    def flags(self) -> tuple[str, ...]:
        """As arguments of a compiler."""
        named = {
            "STORAGE": self.storage,
            "Real": "double" if self.wide else "float",
            "PREDICTS": int(self.predicts),
            "PRODUCTS": int(self.products),
            "BUCKETED": int(self.bucketed),
            "PLACES": int(self.places),
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


def choose_rooms(device: Device, spots: Sequence[SpotWalks], options: KernelOptions) -> tuple[KernelOptions, Records]:
    """Choose the width of tiles of terminals, which parts lie in shared memory, and how many threads share it.

    Returns the options for that, and ROOMS for both players.
    """
    fitting = _fitting_rooms(device, spots, options)
    if not options.places:
        return next(fitting)
    # In games from the deal, 1,088 hands leave room only for narrow tiles if both lie inside, and so for more of them.
    return max(fitting, key=lambda each: (each[0].reach_shared, int(each[1]["width"].min())))


def _fitting_rooms(
    device: Device, spots: Sequence[SpotWalks], options: KernelOptions
) -> Iterator[tuple[KernelOptions, Records]]:
    """For each choice of what lies in shared memory, the widest tiles that fit; most in shared memory first."""
    for inside in (("reach", "parts"), ("reach",), ()):
        for threads, blocks in SHARINGS:
            chosen = replace(
                options,
                reach_shared="reach" in inside,
                parts_shared="parts" in inside,
                threads=threads,
                blocks=blocks,
            )
            share = min(PROCESSOR_SHARED // blocks - BLOCK_SHARED, device.shared_bytes) - STATIC_SHARED[options.wide]
            fitting = [_widest_room(spots, own, chosen, share) for own in range(2)]
            if all(map(len, fitting)):
                rooms = np.concatenate(fitting)
                # Alike for both players, whose blocks may be launched together, or tiles would overlap.
                rooms["block_bytes"] = rooms["block_bytes"].max()
                yield chosen, rooms
                break


def _widest_room(spots: Sequence[SpotWalks], own: int, options: KernelOptions, share: int) -> Records:
    """Room for the widest tiles that fit; nothing if none do."""
    terminals = max(max(len(spot.plans[own].terminals.records) for spot in spots), 1)
    for width in _widths(terminals):
        rooms = _room(spots, own, options, width)
        if int(rooms["bytes"][0]) <= share:
            return rooms
    return np.zeros(0, dtype=ROOMS)


def _room(spots: Sequence[SpotWalks], own: int, options: KernelOptions, width: int) -> Records:
    """Where everything lies in the shared memory of a block that evaluates terminals, or outside it."""
    real, deck = 8 if options.wide else 4, max(spot.layout.form.deck for spot in spots)
    other_hands = max(int(spot.plans[own].streets[-1]["other_hands"]) for spot in spots)
    cuts = [plan.cut(width)[0] for plan in {spot.plans[own] for spot in spots}]
    strides = {
        "reach_stride": _stride(max(cut.tiled for cut in cuts)),
        "stride": _stride(width),
        "mixed_stride": _stride(max(cut.mixed for cut in cuts)),
        "fold_stride": _stride(max(cut.folds for cut in cuts)),
    }
    groups, pairs, operations = (max(counts) for counts in zip(*(spot.sums[own] for spot in spots)))
    sizes = {
        "reach": (other_hands + 1) * strides["reach_stride"] * 4,
        "parts": (1 + pairs) * strides["stride"] * real,
        "base": groups * strides["stride"] * real,
        "partial": SEGMENTS * strides["stride"] * real,
        "mixed": SEGMENTS * strides["mixed_stride"] * real,
        "folds": (1 + deck) * strides["fold_stride"] * real,
        "operations": operations * 4,
        "units": (SEGMENTS + deck + 1) * UNIT.itemsize,
    }
    shared = {"reach": options.reach_shared, "parts": options.parts_shared}
    rooms = np.zeros(1, dtype=ROOMS)
    inside_bytes = outside_bytes = 0
    for name, size in sizes.items():
        padded = -(-size // 16) * 16
        if shared.get(name, True):
            rooms[name] = inside_bytes
            inside_bytes += padded
        else:
            rooms[name] = outside_bytes
            outside_bytes += padded
    for name, stride in strides.items():
        rooms[name] = stride
    rooms["width"], rooms["bytes"], rooms["block_bytes"] = width, inside_bytes, -(-outside_bytes // 128) * 128
    return rooms


def _widths(terminals: int) -> list[int]:
    """Widths of tiles that cut terminals into equal pieces, widest first, unless too few lanes would work."""
    widths = (-(-terminals // count) for count in range(-(-terminals // WARP), terminals + 1))
    return [width for width in widths if width >= min(terminals, WARP // 2)]


def _stride(width: int) -> int:
    """Numbers from one row of a tile to the next: an odd number of pairs, so that rows begin in different banks."""
    return width + (2 - width) % 4
