"""The records that host and kernels share, written once: as NumPy types, and from the same fields as C structs.

| record   | one for each                                                                         |
|----------|--------------------------------------------------------------------------------------|
| JOB      | spot and updating player: where everything is                                        |
| STREET   | street of a job                                                                      |
| RUNOUT   | runout of a spot                                                                     |
| TERM     | deal that follows a runout, copies included                                          |
| LINE     | way to enter a street                                                                |
| DECISION | decision, as the walk of one player reads it                                         |
| LEAF     | fold or chance node before the last street                                           |
| TERMINAL | showdown of the last street, together with a fold of the same decision; or a fold    |
| MIXTURE  | opponent's decision whose fold and call into a showdown are evaluated together       |
| PIECE    | some terminals that a block evaluates together                                       |
| STAKE    | terminal as TERMINAL, for matrix products                                            |
| PANEL    | some terminals whose rows of reach a block multiplies together                       |
| ITEM     | piece of work of a launch: a line, a leaf or some terminals on one runout            |
| STEP     | iteration: a variant's numbers, then what 16-bit storage adds                        |
| UNIT     | part of a showdown's additions: a segment of the order of strength, or a card        |
| OWN_HAND | own hand on a final runout: which sums it needs                                      |
| ROOMS    | launch over terminals: how wide tiles are, and where they are in shared memory       |

Tables of them are packed into blocks (`pack`), and jobs point to each table (`Pointers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.cuda.device import Array
from regretless.reprs import brief
from regretless.variants.variant import Weights

__all__ = [
    "ALIGNMENT", "DECISION", "ITEM", "JOB", "LEAF", "LINE", "MIXTURE", "NOTHING", "PANEL", "PAYS", "PIECE",
    "POINTERS", "ROOMS", "RUNOUT", "SEGMENTS", "STAKE", "STEP", "STREET", "STRIP", "TERM", "TERMINAL", "TILE", "UNIT",
    "Field", "Packed", "Pointers", "TableOffsets", "offsets_of", "pack", "records_source",
]  # fmt: skip

SEGMENTS = 8  # into which the order of strength is cut, so that several warps can sum it
STRIP = 32  # own hands that a warp multiplies together
TILE = 16  # rows of reach in a matrix product, and the opponent's hands in each of its steps
NOTHING = -(1 << 31)  # instead of a row of values: the value of this child is part of another child's

# What a terminal pays per reach of weaker hands, of weaker or equal ones, of all (or its mixture), and at its own fold.
PAYS = ("WEAKER", "EQUAL", "ALL", "OWN_FOLD")

C_TYPES = {"short": np.int16, "int": np.int32, "long long": np.int64, "float": np.float32, "double": np.float64}

# In bytes: kernels read these records with loads of 16 bytes.
ALIGNED = dict.fromkeys(
    ("Decision", "Item", "Line", "Mixture", "OwnHand", "Panel", "Piece", "Runout", "Stake", "Terminal", "Unit"), 16
)


_STRUCTS: dict[str, tuple[tuple[str, str], ...]] = {}  # the fields of every record, (C type, name)


def _record(fields: tuple[tuple[str, str], ...]) -> np.dtype[np.void]:
    return np.dtype([(name, C_TYPES.get(kind, np.uint64)) for kind, name in fields], align=True)


def _struct(name: str, *fields: tuple[str, str]) -> np.dtype[np.void]:
    """A record, also declared to the kernels; a type that is not in `C_TYPES` is a pointer."""
    _STRUCTS[name] = fields
    return _record(fields)


STEP = _struct(
    "Step",
    *(("float", name) for name in Weights._fields),
    ("float", "reach_share"),  # share of own reach in averages; the rest counts every reach as 1
    ("long long", "salt"),  #     makes 16-bit rounding differ from iteration to iteration
)
UNIT = _struct(
    "Unit",
    ("int", "first"),  #  its first operation; the last is before the next unit's first
    ("int", "row"),  #    where its first sum goes, among those of groups or of pairs
    ("int", "fold_row"),  # where the sum of all its hands goes, for folds
    ("int", "unused"),
)
OWN_HAND = _struct(
    "OwnHand",
    ("int", "lower"),  #  rows of its pairs, the lower card's first; 0 for a missing card
    ("int", "higher"),
    ("int", "group"),  #  row of its group,
    ("int", "same"),  #   of the opponent's same hand, or of zeros if there is none
)
ITEM = _struct(
    "Item",
    ("int", "job"),
    ("int", "runout"),
    ("int", "piece"),  # a line, a leaf or a piece of terminals; none where a runout is walked whole
    # Which rows of the street it uses: the runout's own, or a turn with those of the last street. For a leaf: the
    # runout of the next street to which the first rows belong.
    ("int", "slot"),
)
ROOMS = _struct(
    "Rooms",
    *(("int", name) for name in ("reach", "parts", "base", "partial", "mixed", "folds", "operations", "units")),
    *(("int", name) for name in ("width", "reach_stride", "stride", "mixed_stride", "fold_stride")),
    ("int", "bytes"),
    ("long long", "block_bytes"),  # of device memory, for the tiles of a block that do not fit in shared memory
)
RUNOUT = _struct(
    "Runout",
    ("int", "parent"),  #      runout of the street before, counted in its street; -1 on the first
    ("int", "symmetry"),
    ("int", "first_term"),  #  what the next street adds up to
    ("int", "last_term"),
)
TERM = _struct(
    "Term",
    ("int", "child"),  #       runout of the next street, counted there
    ("short", "permutation"),  # of hands that gives one of its copies, itself included
    ("short", "ends_block"),  #  whether what is added up by itself ends here (`layout.block_ends`)
    ("double", "probability"),
)
STREET = _struct(
    "Street",
    ("int", "first_runout"),  # among those of all streets
    ("int", "first_line"),
    ("int", "lines"),
    ("int", "decided"),  #       of them that have decisions; they come first
    ("int", "walked"),  #        of them on the way down; the others, showdowns alone, come last
    ("int", "opponent_rows"),  # on a runout
    ("int", "own_rows"),
    ("int", "value_rows"),
    ("int", "own_hands"),  #     in rows and among stored numbers, padded
    ("int", "other_hands"),
    ("int", "has_places"),  #    whether these are only the hands that a runout leaves, at the places of `live.py`
    ("int", "unused"),
    ("long long", "own_begin"),  #      where the own player's numbers begin, and how many a runout has
    ("long long", "own_size"),
    ("long long", "rounding_begin"),  # the same in snapshots of the whole, which decides how they are rounded
    ("long long", "rounding_size"),
    ("long long", "other_begin"),
    ("long long", "other_size"),
    ("long long", "opponent_begin"),  # where the rows of the street begin
    ("long long", "own_rows_begin"),
    ("long long", "value_begin"),
    ("long long", "line_begin"),  #     where the values of its lines begin, [runouts or slots, lines, own hands]
)
LINE = _struct(
    "Line",
    ("int", "above_opponent"),  # rows of the chance node above
    ("int", "above_own"),
    ("int", "opponent_row"),  # rows of the first node
    ("int", "own_row"),
    ("int", "root"),  #         where its value is, as in `children`
    ("int", "first_decision"),
    ("int", "last_decision"),
    ("int", "levels"),  #       the longest chain of decisions in it
)
DECISION = _struct(
    "Decision",
    ("int", "block"),  #   where its numbers begin within those of its runout and player
    ("int", "actions"),
    ("int", "mine"),  #    whether the own player acts
    ("int", "reach_row"),  #  row of the actor's reach
    ("int", "child_reach_row"),  #      row of the first child's reach, the others follow
    ("int", "first_child"),  #   into children
    ("int", "value_row"),  #   row of its value; -1 if that is only cached
    ("int", "node"),  #    in the betting tree
    ("int", "needed"),  #  own: a bit per action, whether anything reads the reach below; else a mixture, or -1
    ("int", "cached_row"),  #    where the thread keeps its value, or -1
    *(("int", f"child_{name}") for name in "abcd"),  # the first four of its children
    ("short", "depth"),  #   decisions of the same player above it in its line
    ("short", "height"),  #  the longest chain of decisions below it in its line
    ("int", "before"),  #  actions of the same player before it on its street
)
TERMINAL = _struct(
    "Terminal",
    ("int", "opponent_row"),  # reach; below 0: ~row of the chance node above
    ("int", "value_row"),
    ("int", "mixture"),  #      row of the mixture that includes the opponent's fold, or -1
    ("int", "fold_value"),  #   row of the own fold with the same reach, or -1
)
MIXTURE = _struct(
    "Mixture",
    ("int", "fold"),  # actions
    ("int", "call"),
    ("float", "fold_share"),
    ("float", "call_share"),
    ("float", "stake_share"),  # of the fold in matrix products: what it pays more than a tie, per stake
    *(("int", f"unused_{name}") for name in "abc"),
)
PIECE = _struct(
    "Piece",
    ("int", "first"),  #      its first terminal
    ("int", "columns"),  #    how many it has; the numbers below are even
    ("int", "mixed"),  #      the first `mixed` may include an opponent's fold
    ("int", "fold_first"),  # those from here to `fold_last` may include an own fold
    ("int", "fold_last"),
    *(("int", f"unused_{name}") for name in "abc"),
)
STAKE = _struct(
    "Stake",
    ("int", "opponent_row"),  # as in Terminal
    ("int", "fold_row"),  #     row of the reach of the opponent's fold beside it, or -1
    ("int", "value_row"),
    ("int", "fold_value"),  #   row of the own fold with the same reach, or of a fold alone
    ("float", "stake"),  #      what a win pays more than a tie
    ("float", "fold_pay"),  #   what the own fold, or this fold, pays more than a tie
    ("int", "line"),  #         the line that it alone is, whose value it gives; or -1
    ("int", "unused"),
)
PANEL = _struct(
    "Panel",
    ("int", "first"),  #     its first terminal
    ("int", "rows"),  #      how many terminals it has, ordered as in `LastTerminals.panels`
    ("int", "mixed"),  #     the first `mixed` include an opponent's fold
    ("int", "plain"),  #     those from here on include an own fold, or are folds themselves
    ("int", "showdowns"),  # the first `showdowns` are showdowns, the others folds
    ("int", "direct_first"),  # those from here to `direct_last` are lines of their own
    ("int", "direct_last"),
    ("int", "unused"),
)
LEAF = _struct(
    "Leaf",
    ("int", "opponent_row"),
    ("int", "value_row"),
    ("int", "line"),  # that a chance node leads to; -1 at a fold
    ("float", "pay"),
)
JOB = _struct(
    "Job",
    ("void*", "regret"),  # stored numbers
    ("void*", "matched"),
    ("void*", "average"),
    ("const void*", "other_matched"),
    ("const void*", "other_average"),
    ("const Runout*", "runouts"),  # hands and runouts
    ("const Term*", "terms"),
    ("const short*", "permutations"),
    ("const short*", "alike_hands"),
    ("const short*", "own_places"),  # of the hands that final runouts leave
    ("const short*", "other_places"),
    ("const short*", "own_positions"),
    ("const short*", "other_positions"),
    ("const unsigned*", "roundings"),
    ("const unsigned char*", "alike_cards"),
    ("const unsigned char*", "own_alive"),
    ("const unsigned char*", "other_alive"),
    ("const unsigned char*", "own_cards"),
    ("const unsigned char*", "other_cards"),
    ("const short*", "same"),
    ("const short*", "own_strength"),
    ("const short*", "other_strength"),
    ("const short*", "card_first"),
    ("const short*", "card_hands"),
    ("const float*", "other_reach"),
    ("unsigned*", "operations"),  # lists of final runouts
    ("Unit*", "units"),
    ("OwnHand*", "own_list"),
    ("OwnHand*", "fold_list"),
    ("unsigned*", "codes"),
    ("const Street*", "streets"),  # the betting tree
    ("const Line*", "lines"),
    ("const Decision*", "decisions"),
    ("const int*", "line_order"),  # lines of each street, in the order in which threads take them
    ("const Mixture*", "mixtures"),
    ("const int*", "children"),  # where values of children are: a row, or ~where the thread keeps it
    ("const Leaf*", "leaves"),
    ("const Piece*", "pieces"),
    ("const Terminal*", "terminals"),
    ("const double*", "pays"),  # of every piece, as in `PAYS`
    ("const Panel*", "panels"),
    ("const Stake*", "stakes"),
    ("float*", "opponent_rows"),  # working rows
    ("float*", "own_rows"),
    ("float*", "value_rows"),  # of the last street,
    ("float*", "earlier_values"),  # of the others
    ("float*", "line_values"),
    ("double*", "block_sums"),  # of a part of a form
    ("const double*", "own_weight"),
    ("double*", "result"),  # what the own player wins
    ("const int*", "lock_rows"),  # locks: in a best response, and what replaces learned numbers
    ("const unsigned char*", "locked"),
    ("const long long*", "lock_index"),
    ("const void*", "lock_regret"),
    ("const void*", "lock_average"),
    ("const float* const*", "tables"),  # strategies per bucket, by node,
    ("const unsigned short*", "own_buckets"),  # and the bucket of every hand on every runout
    ("const unsigned short*", "other_buckets"),
    ("long long", "lock_count"),
    ("float", "reach_scale"),  # of the opponent's reach in half precision, a power of two
    ("float", "middle"),  # what is subtracted from all payoffs while the own player learns
    ("int", "own_hands"),
    ("int", "other_hands"),
    ("int", "deck"),
    ("int", "nodes"),
    ("int", "last_street"),
    ("int", "max_operations"),  # of a final runout
    ("int", "piece_count"),
    ("int", "best"),  # whether an evaluation finds a best response, not the value of the average strategy
)
POINTERS = {name: word for word, (kind, name) in enumerate(_STRUCTS["Job"]) if kind.endswith("*")}  # they come first


def records_source() -> str:
    """The records as C structs, and the constants that host and kernels share."""
    structs = [
        f"struct __align__({ALIGNED.get(name, _record(fields).alignment)}) {name} {{\n"
        + "".join(f"    {kind} {field};\n" for kind, field in fields)
        + "};"
        for name, fields in _STRUCTS.items()
    ]
    pays = ", ".join([*PAYS, "PAYS"])
    constants = {"SEGMENTS": SEGMENTS, "STRIP": STRIP, "TILE": TILE, "NOTHING": f"{NOTHING + 1} - 1"}
    named = ", ".join(f"{name} = {value}" for name, value in constants.items())
    return "\n".join([*structs, f"const int {named};", f"enum {{ {pays} }};"])


# --- tables of records in one block of bytes: every upload and every buffer costs more than filling it ---------------

ALIGNMENT = 64
WORDS = JOB.itemsize // 8  # of a job

Field = tuple[int, str]  # a player's job, and the name of a pointer in it; no job if below 0


class Pointers(NamedTuple):
    """Pointers of both players' jobs into a block; there are none to empty tables."""

    words: NDArray[np.int64]  # of the jobs, which are overwritten
    begins: NDArray[np.uint64]

    def point(self, jobs: NDArray[np.void], base: int) -> None:
        """Let the jobs point into the block that begins at `base`."""
        jobs.view(np.uint64)[self.words] = self.begins + np.uint64(base)


class TableOffsets(NamedTuple):
    """Where tables are in a block."""

    begins: tuple[int, ...]  # -1 for an empty table
    size: int
    pointers: Pointers


@dataclass(frozen=True)
class Packed:
    """Tables one after another."""

    block: NDArray[np.uint8]
    offsets: TableOffsets

    __repr__ = brief

    def get_block(self) -> NDArray[np.uint8]:
        """The tables."""
        return self.block


def pack(tables: Iterable[tuple[Array, Sequence[Field]]]) -> Packed:
    """Pack tables, each with the fields that point to it."""
    pairs = list(tables)
    offsets = offsets_of(tuple(table.nbytes for table, _ in pairs), tuple(tuple(fields) for _, fields in pairs))
    block = np.zeros(offsets.size, dtype=np.uint8)
    for (table, _), begin in zip(pairs, offsets.begins, strict=True):
        if table.nbytes:
            block[begin : begin + table.nbytes] = np.ascontiguousarray(table).reshape(-1).view(np.uint8)
    return Packed(block, offsets)


@lru_cache(maxsize=256)  # spots of a batch mostly have tables of the same sizes
def offsets_of(sizes: tuple[int, ...], fields: tuple[tuple[Field, ...], ...]) -> TableOffsets:
    """Where tables of these sizes begin, and what points to each; pointers of jobs below 0 are left to the caller."""
    begins: list[int] = []
    pointed: list[tuple[int, int]] = []  # word of the jobs, where the table begins
    size = 0
    for count, each in zip(sizes, fields, strict=True):
        begins.append(size if count else -1)
        if count:
            pointed += [(own * WORDS + POINTERS[name], size) for own, name in each if own >= 0]
        size += -(-count // ALIGNMENT) * ALIGNMENT
    words = np.array([word for word, _ in pointed], dtype=np.int64)
    pointers = Pointers(words, np.array([begin for _, begin in pointed], dtype=np.uint64))
    return TableOffsets(tuple(begins), size, pointers)
