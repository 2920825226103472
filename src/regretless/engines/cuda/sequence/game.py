"""A two-player game as the arrays that the files of `kernels/` read, built on the host with NumPy alone.

No CUDA library is needed here: an engine uploads the arrays, and tests run the source of the kernels on a CPU over the
same arrays. Three choices are made on the way:

- *packed entries*. Payoffs of most games take few values, so an entry of the payoff matrix becomes 32 bits: the column
  in the low bits, the number of its value in the high bits. That halves the memory traffic, which bounds the speed of a
  large game. If there are too many values, columns and values are stored separately.
- *lanes*. How many threads share a row of the matrix, and an information set: enough to keep the device busy, no more
  than there is work for. Much longer rows are given to whole warps.
- *order of rows*. A block multiplies the rows of the subtrees it owns; rows of the top go to the block with the least
  work.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from regretless.engines.cuda.device import Array, kernel_text
from regretless.engines.sequence_layout import Terms, TreeLayout, lay_out, slices
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.sequence import SequenceTree
from regretless.variants.variant import Weights

__all__ = [
    "FIELDS", "LEVELS", "SIZES", "STATE", "TOGETHER", "CudaGame", "CudaPlayer", "count_games", "kernel_source",
    "prepare", "weights_source",
]  # fmt: skip

# Members of `struct Player`, in order: arrays of the game, arrays that change, sizes.
FIELDS = ("first", "parent", "children", "top_child", "level", "part_levels", "row_bounds", "row", "entry", "value")
STATE = ("regret", "average", "strategy", "plan", "q", "product", "set_value", "other_strategy", "other_plan")
SIZES = (
    "sequences", "sets", "top_sequences", "top_sets", "levels", "values",
    "sequence_stride", "product_stride", "set_stride", "column_bits",
)  # fmt: skip

MAX_VALUES = 4096  # distinct payoffs allowed in packed entries: the table must fit in shared memory
VALUES_PER_PASS = 1 << 16  # values that are sorted at a time to find distinct ones
WARP = 32
MAX_LEVELS = 64  # as in the kernels: levels of a part that a block keeps in shared memory


@dataclass(frozen=True)
class CudaPlayer:
    """One player's arrays, and the lanes chosen for them."""

    layout: TreeLayout
    arrays: dict[str, Array]  # by the names of FIELDS
    sizes: dict[str, int]  # by the names of SIZES
    lanes: int
    row_lanes: int
    packed: bool

    def spread(self, array: FloatArray) -> FloatArray:
        """An array over sequences, [..., S], followed by the copies of its top for blocks 1, 2, …"""
        top = array[..., : self.layout.top_sequences]
        return np.concatenate([array] + [top] * (self.layout.blocks - 1), axis=-1)

    def realize(self, strategy: FloatArray) -> FloatArray:
        """The realization plan of a strategy; both are [..., S]."""
        layout = self.layout
        plan = np.ones_like(strategy)
        for part in layout.level:  # the top first, and parents before children in each part
            for begin, end in pairwise(layout.first[part].tolist()):
                plan[..., begin:end] = plan[..., layout.parent[begin:end]] * strategy[..., begin:end]
        return plan


@dataclass(frozen=True)
class CudaGame:
    """Both players, for a number of blocks."""

    players: tuple[CudaPlayer, CudaPlayer]
    blocks: int
    games: int
    dtype: str

    @property
    def packed(self) -> bool:
        return self.players[0].packed

    @property
    def deepest(self) -> int:
        """Number of levels in the deepest part."""
        return max(int(player.arrays["part_levels"].max()) for player in self.players)

    @cached_property
    def options(self) -> tuple[str, ...]:
        """Compiler options of the kernels."""
        first, second = self.players
        return (
            f"-DREAL={'float' if self.dtype == 'float32' else 'double'}",
            f"-DPACKED={int(self.packed)}",
            f"-DLANES_0={first.lanes}",
            f"-DLANES_1={second.lanes}",
            f"-DROW_LANES_0={first.row_lanes}",
            f"-DROW_LANES_1={second.row_lanes}",
            f"-DMAX_LEVELS={MAX_LEVELS}",
        )

    @property
    def real_bytes(self) -> int:
        return 4 if self.dtype == "float32" else 8

    @property
    def table_bytes(self) -> int:
        """Shared memory for the tables of values."""
        return sum(player.sizes["values"] for player in self.players) * self.real_bytes if self.packed else 0

    @property
    def carried_bytes(self) -> int:
        """Shared memory for everything that changes, if a single block holds the game."""
        return sum(5 * player.layout.sequences + player.layout.sets for player in self.players) * self.real_bytes

    def starting_state(self, player: int) -> dict[str, FloatArray]:
        """The arrays of STATE before the first iteration, [games, …]."""
        me = self.players[player]
        layout = me.layout
        strategy = np.ones(layout.sequences)
        strategy[1:] = (1.0 / np.diff(layout.first))[layout.set_of[1:]]
        plan = me.spread(me.realize(strategy))
        zero = np.zeros(len(plan))
        sets = layout.sets + (layout.blocks - 1) * layout.top_sets
        state = dict.fromkeys(STATE, zero)
        state |= {"strategy": me.spread(strategy), "plan": plan, "other_plan": plan, "other_strategy": plan}
        state |= {"product": np.zeros(layout.sequences), "set_value": np.zeros(max(sets, 1))}
        real = np.dtype(self.dtype)
        return {name: np.repeat(array[None].astype(real), self.games, axis=0) for name, array in state.items()}


def count_games(terms: tuple[Terms, ...]) -> int:
    """Number of games whose payoffs these terms have, one in each column."""
    return terms[0].value.shape[1] if terms[0].value.ndim == 2 else 1


def prepare(
    trees: tuple[SequenceTree, ...],
    terms: tuple[Terms, ...],
    *,
    blocks: int = 1,
    dtype: str = "float32",
    threads: int = 132 * 1024,
    share: float = 0.5,
) -> CudaGame:
    """Lay out a two-player game for `blocks` blocks; `threads` is how many threads one game keeps busy."""
    games = count_games(terms)
    layouts = [lay_out(tree, np.diff(term.start), blocks=blocks, share=share) for tree, term in zip(trees, terms)]
    column_bits = [max(int(layouts[1 - p].sequences - 1).bit_length(), 1) for p in range(2)]  # of the other player
    values = [np.asarray(term.value, dtype=np.float64).reshape(-1, games).astype(dtype) for term in terms]
    codes = [_encode(values[p], column_bits[p]) for p in range(2)]
    packed = codes[0] is not None and codes[1] is not None
    first, second = (
        _player(layouts[p], layouts[1 - p], terms[p], values[p], codes[p] if packed else None, column_bits[p], threads)
        for p in range(2)
    )
    return CudaGame((first, second), blocks, games, dtype)


class _Codes(NamedTuple):
    """The number of each entry's value, and the table of values [games, values]."""

    numbers: IntArray
    table: Array


def _encode(value: Array, column_bits: int) -> _Codes | None:
    """Number the values [entries, games]; None if there are too many different ones."""
    limit = min(1 << (32 - column_bits), MAX_VALUES)
    if len(value) == 0:
        return _Codes(np.zeros(0, dtype=np.int64), np.zeros((value.shape[1], 1), value.dtype))
    if value.shape[1] > 1:
        rows, number = np.unique(value, axis=0, return_inverse=True)
        return _Codes(number.ravel(), np.ascontiguousarray(rows.T)) if len(rows) <= limit else None
    flat = value[:, 0]
    table = np.unique(flat[:VALUES_PER_PASS])
    while len(table) <= limit:  # sorting all entries of a large game would take longer than solving it
        number = np.minimum(np.searchsorted(table, flat), len(table) - 1)
        missing = flat[table[number] != flat]
        if len(missing) == 0:
            return _Codes(number, table[None])
        table = np.union1d(table, missing[:VALUES_PER_PASS])
    return None


def _power_of_two(number: float) -> int:
    """The smallest power of two at or above `number`, between 1 and a warp."""
    return min(1 << max(int(np.ceil(number)) - 1, 0).bit_length(), WARP)


def _player(
    layout: TreeLayout,
    other: TreeLayout,
    terms: Terms,
    values: Array,  # [entries, games] of the terms
    codes: _Codes | None,
    column_bits: int,
    threads: int,
) -> CudaPlayer:
    counts = np.diff(terms.start)[layout.sequence].astype(np.int64)
    rows = np.flatnonzero(counts)
    row_lanes = _row_lanes(counts, len(rows), threads)
    ordered, bounds = _order_rows(layout, counts, rows, long=max(8 * row_lanes, WARP))
    lengths = counts[ordered]
    starts = slices(lengths)
    entry = np.repeat(np.asarray(terms.start)[:-1][layout.sequence[ordered]] - starts[:-1], lengths)
    entry += np.arange(starts[-1])
    packed_entry = other.number[np.asarray(terms.columns[0])[entry]].astype(np.uint32)
    if codes is None:
        value = values[entry].T
    else:
        value = codes.table
        packed_entry |= codes.numbers[entry].astype(np.uint32) << np.uint32(column_bits)
    row = np.zeros((len(ordered) + 1, 2), dtype=np.int32)
    row[:, 0], row[:-1, 1] = starts, ordered

    level = layout.level
    arrays: dict[str, Array] = {
        "first": layout.first.astype(np.int32),
        "parent": layout.parent.astype(np.int32),
        "children": layout.children.astype(np.int32),
        "top_child": layout.top_child.astype(np.int32),
        "level": level.astype(np.int32),
        "part_levels": (np.diff(level, axis=1) > 0).sum(axis=1).astype(np.int32),
        "row_bounds": bounds.astype(np.int32),
        "row": row,
        "entry": packed_entry,
        "value": np.ascontiguousarray(value),
    }
    copies = layout.blocks - 1
    sizes = {
        "sequences": layout.sequences,
        "sets": layout.sets,
        "top_sequences": layout.top_sequences,
        "top_sets": layout.top_sets,
        "levels": level.shape[1] - 1,
        "values": value.shape[1],
        "sequence_stride": layout.sequences + copies * layout.top_sequences,
        "product_stride": layout.sequences,
        "set_stride": max(layout.sets + copies * layout.top_sets, 1),
        "column_bits": column_bits,
    }
    return CudaPlayer(layout, arrays, sizes, _set_lanes(layout, threads), row_lanes, codes is not None)


def _row_lanes(counts: IntArray, rows: int, threads: int) -> int:
    """Lanes per row of the matrix: no more than an average row has entries, and enough for all threads."""
    mean = counts.sum() / max(rows, 1)
    return min(_power_of_two(mean), max(_power_of_two(threads / max(rows, 1)), _power_of_two(mean / 8)))


def _set_lanes(layout: TreeLayout, threads: int) -> int:
    """Lanes per information set: one for every action or, in large games, for the actions of most sets."""
    actions = np.diff(layout.first)
    lanes = _power_of_two(actions.max(initial=1))
    if layout.sets * lanes > 4 * threads:
        lanes = _power_of_two(float(np.quantile(actions, 0.9)))
    return lanes


def _order_rows(layout: TreeLayout, counts: IntArray, rows: IntArray, long: int) -> tuple[IntArray, IntArray]:
    """Rows by block, long ones first, and the bounds [blocks, 3] of each block's long and short ones."""
    block = layout.block_of[rows] - 1
    loads = np.bincount(np.maximum(block, 0), weights=np.where(block >= 0, counts[rows], 0), minlength=layout.blocks)
    heap = [(float(load), number) for number, load in enumerate(loads)]
    heapq.heapify(heap)
    top = np.flatnonzero(block < 0)
    for k in top[np.argsort(-counts[rows[top]], kind="stable")]:
        load, number = heap[0]
        block[k] = number
        heapq.heapreplace(heap, (load + float(counts[rows[k]]), number))
    short = counts[rows] <= long
    # Rows of similar length side by side, so that the threads of a warp finish together.
    length = np.ceil(np.log2(counts[rows]))
    order = np.lexsort((rows, -length, short, block))
    per_class = np.bincount(block * 2 + short, minlength=2 * layout.blocks)
    ends = slices(per_class)
    bounds = np.stack([ends[0:-1:2], ends[1::2], ends[2::2]], axis=1)
    return rows[order], bounds


# --- the source of the kernels ----------------------------------------------------------------------------------------

COMMON = ("groups", "steps")
TOGETHER = "together"  # a whole schedule in one launch
LEVELS = "levels"  # one launch for each step and level


def kernel_source(*ways: str) -> str:
    """The source shared by both ways of running plus those requested; compiling only one takes half as long."""
    others = (f"sequence/kernels/{name}.cu" for name in (*COMMON, *ways))
    return "\n".join([kernel_text("sequence/kernels/player.cu"), weights_source(), kernel_text("update.cu", *others)])


def weights_source() -> str:
    """A row of a schedule and the same in the engine's number format, with the fields of `Weights`."""
    fields = Weights._fields
    return f"""
struct Row {{ double {", ".join(fields)}; }};
struct Weights {{ real {", ".join(fields)}; }};
const int COLUMNS = {len(fields)};

__device__ __forceinline__ Weights weights_of(const Row& row) {{
    return {{{", ".join(f"(real)row.{field}" for field in fields)}}};
}}
"""
