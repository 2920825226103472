"""The records that host and kernels share, written once: NumPy types, and the same as C structs.

| record   | one for each                                                                         |
|----------|--------------------------------------------------------------------------------------|
| JOB      | spot and updating player: where everything is                                        |
| STREET   | street of a job                                                                      |
| RUNOUT   | runout of a spot                                                                     |
| TERM     | deal that follows a runout, copies included                                          |
| LINE     | way to enter a street                                                                |
| DECISION | decision, as a walk of one player sees it                                            |
| LEAF     | fold or chance node before the last street                                           |
| TERMINAL | showdown of the last street, with the fold beside it if there is one, or a fold alone |
| MIXTURE  | decision of the last street where a fold's reach is stored mixed with that of a call |
| PIECE    | some terminals that a block evaluates together                                       |
| STAKE    | the same terminal as TERMINAL, in matrix products                                    |
| PANEL    | some terminals whose rows of reach a block multiplies together                       |
| ITEM     | piece of work of a launch: a line, a leaf or some terminals on one runout            |
| STEP     | iteration: a variant's numbers, then what 16-bit storage adds                        |
| UNIT     | part of a showdown's additions: a segment of the order of strength, or a card        |
| OWN_HAND | own hand on a final runout: which sums it needs                                      |
| ROOMS    | launch over terminals: how wide tiles are, and where they are in shared memory       |
"""

from __future__ import annotations

import numpy as np

from regretless.variants.variant import Weights

__all__ = [
    "DECISION",
    "ITEM",
    "JOB",
    "LEAF",
    "LINE",
    "MIXTURE",
    "NOTHING",
    "PANEL",
    "PAYS",
    "PIECE",
    "POINTERS",
    "ROOMS",
    "RUNOUT",
    "SEGMENTS",
    "STAKE",
    "STEP",
    "STREET",
    "STRIP",
    "TERM",
    "TERMINAL",
    "TILE",
    "UNIT",
    "records_source",
]

SEGMENTS = 8  # into which the order of strength is cut, so that several warps can sum it
STRIP = 32  # own hands that a warp multiplies together
TILE = 16  # rows of reach in a matrix product, and the opponent's hands in each of its steps
NOTHING = -(1 << 31)  # in place of a row of values: included in that of another child

# What terminals pay: the reach of weaker hands, of weaker or equal ones, and of all, or of a mixture; the own fold.
PAYS = ("WEAKER", "EQUAL", "ALL", "OWN_FOLD")

C_TYPES = {"int": np.int32, "long long": np.int64, "float": np.float32, "double": np.float64}


# Bytes: these are read whole.
ALIGNED = dict.fromkeys(
    ("Decision", "Item", "Line", "Mixture", "OwnHand", "Panel", "Piece", "Runout", "Stake", "Terminal", "Unit"), 16
)


def _record(*fields: tuple[str, str]) -> np.dtype[np.void]:
    return np.dtype([(name, C_TYPES.get(kind, np.uint64)) for kind, name in fields], align=True)


_FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    "Step": (
        *(("float", name) for name in Weights._fields),
        ("float", "reach_share"),  # share of own reach in averages; the rest counts every reach as 1
        ("long long", "salt"),  #     makes 16-bit rounding differ from iteration to iteration
    ),
    "Unit": (
        ("int", "first"),  #  its first operation; the last is before the next unit's first
        ("int", "row"),  #    where its first sum goes, among those of groups or of pairs
        ("int", "fold_row"),  # where the sum of all its hands goes, for folds
        ("int", "unused"),
    ),
    "OwnHand": (
        ("int", "lower"),  #  rows of its pairs, the lower card's first; 0 for a missing card
        ("int", "higher"),
        ("int", "group"),  #  row of its group,
        ("int", "same"),  #   of the opponent's same hand, or of zeros if there is none
    ),
    "Item": (
        ("int", "job"),
        ("int", "runout"),
        ("int", "piece"),  # a line, a leaf or a piece of terminals; none where a runout is walked whole
        ("int", "slot"),  #  which rows of the street it uses: the runout's own, or a turn with those of the last street
    ),
    "Rooms": (
        *(("int", name) for name in ("reach", "parts", "base", "partial", "mixed", "folds", "operations", "units")),
        *(("int", name) for name in ("width", "reach_stride", "stride", "mixed_stride", "fold_stride")),
        ("int", "bytes"),
        ("long long", "block_bytes"),  # of device memory, for the tiles of a block that do not fit in shared memory
    ),
    "Runout": (
        ("int", "parent"),  #      runout of the street before, counted in its street; -1 on the first
        ("int", "symmetry"),
        ("int", "first_term"),  #  what the next street adds up to
        ("int", "last_term"),
    ),
    "Term": (
        ("int", "child"),  #       runout of the next street, counted there
        ("int", "permutation"),  # of hands that gives one of its copies, itself included
        ("double", "probability"),
    ),
    "Street": (
        ("int", "first_runout"),  # among those of all streets
        ("int", "first_line"),
        ("int", "lines"),
        ("int", "decided"),  #       of them that have decisions; they come first
        ("int", "walked"),  #        of them on the way down; the others, showdowns alone, come last
        ("int", "opponent_rows"),  # on a runout
        ("int", "own_rows"),
        ("int", "value_rows"),
        ("long long", "own_at"),  #      where the own player's numbers begin, and how many a runout has
        ("long long", "own_size"),
        ("long long", "other_at"),
        ("long long", "other_size"),
        ("long long", "opponent_at"),  # where the rows of the street begin
        ("long long", "own_at_rows"),
        ("long long", "value_at"),
        ("long long", "line_at"),  #     where the values of its lines begin, [runouts, lines, own hands]
    ),
    "Line": (
        ("int", "above_opponent"),  # rows of the chance node above
        ("int", "above_own"),
        ("int", "opponent_row"),  # rows of the first node
        ("int", "own_row"),
        ("int", "root"),  #         where its value is, as in `children`
        ("int", "first_decision"),
        ("int", "last_decision"),
        ("int", "levels"),  #       the longest chain of decisions in it
    ),
    "Decision": (
        ("int", "block"),  #   where its numbers begin within those of its runout and player
        ("int", "actions"),
        ("int", "mine"),  #    whether the own player acts
        ("int", "source"),  #  row of the actor's reach
        ("int", "to"),  #      row of the first child's reach, the others follow
        ("int", "first"),  #   into children
        ("int", "place"),  #   row of its value, or -1 if only the thread itself reads it
        ("int", "node"),  #    in the betting tree
        ("int", "needed"),  #  own: a bit per action, whether anything reads the reach below; else a mixture, or -1
        ("int", "kept"),  #    where the thread keeps its value, or -1
        *(("int", f"child_{name}") for name in "abcd"),  # the first four of its children
        ("int", "depth"),  #   decisions of the same player above it in its line
        ("int", "height"),  #  the longest chain of decisions below it in its line
    ),
    "Terminal": (
        ("int", "opponent_row"),  # reach; below 0: ~row of the chance node above
        ("int", "value_row"),
        ("int", "mixture"),  #      row of the mixture that includes the opponent's fold, or -1
        ("int", "fold_value"),  #   row of the own fold with the same reach, or -1
    ),
    "Mixture": (
        ("int", "fold"),  # actions
        ("int", "call"),
        ("float", "fold_share"),
        ("float", "call_share"),
        ("float", "stake_share"),  # of the fold in matrix products: what it is worth, less a tie, per stake
        *(("int", f"unused_{name}") for name in "abc"),
    ),
    "Piece": (
        ("int", "first"),  #      its first terminal
        ("int", "columns"),  #    how many it has; the numbers below are even
        ("int", "mixed"),  #      how many of the first may include an opponent's fold
        ("int", "fold_first"),  # which of them may have an own fold beside them
        ("int", "fold_last"),
        *(("int", f"unused_{name}") for name in "abc"),
    ),
    "Stake": (
        ("int", "opponent_row"),  # as in Terminal
        ("int", "fold_row"),  #     row of the reach of the opponent's fold beside it, or -1
        ("int", "value_row"),
        ("int", "fold_value"),  #   row of the own fold with the same reach, or of a fold alone
        ("float", "stake"),  #      what a win is worth, less a tie
        ("float", "fold_pay"),  #   what the own fold, or a fold alone, is worth, less a tie
        ("int", "line"),  #         the line that it alone is, whose value it gives; or -1
        ("int", "unused"),
    ),
    "Panel": (
        ("int", "first"),  #     its first terminal
        ("int", "rows"),  #      how many it has,
        ("int", "mixed"),  #     of which the first have an opponent's fold beside them
        ("int", "plain"),  #     from here on, they have an own fold beside them or are folds
        ("int", "showdowns"),  # up to here, they are showdowns
        ("int", "direct_first"),  # from here to there, they are lines of their own
        ("int", "direct_last"),
        ("int", "unused"),
    ),
    "Leaf": (
        ("int", "opponent_row"),
        ("int", "value_row"),
        ("int", "line"),  # that a chance node leads to; -1 at a fold
        ("float", "pay"),
    ),
    "Job": (
        ("void*", "regret"),  # stored numbers
        ("void*", "matched"),
        ("void*", "average"),
        ("const void*", "other_matched"),
        ("const void*", "other_average"),
        ("const Runout*", "runouts"),  # hands and runouts
        ("const Term*", "terms"),
        ("const short*", "permutations"),
        ("const short*", "alike_hands"),
        ("const unsigned*", "roundings"),
        ("const unsigned char*", "alike_cards"),
        ("const unsigned char*", "own_alive"),
        ("const unsigned char*", "other_alive"),
        ("const unsigned char*", "own_cards"),
        ("const unsigned char*", "other_cards"),
        ("const short*", "same"),
        ("const short*", "own_strength"),
        ("const short*", "other_strength"),
        ("const short*", "held_first"),
        ("const short*", "held_hands"),
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
        ("const double*", "own_weight"),
        ("double*", "result"),  # what the own player wins
        ("const int*", "lock_rows"),  # locks: in a best response, and what replaces learned numbers
        ("const unsigned char*", "locked"),
        ("const long long*", "lock_at"),
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
        ("int", "most_operations"),  # of a final runout
        ("int", "piece_count"),
        ("int", "best"),  # whether an evaluation finds a best response, not the value of the average strategy
    ),
}

(
    STEP,
    ITEM,
    ROOMS,
    RUNOUT,
    TERM,
    STREET,
    LINE,
    DECISION,
    TERMINAL,
    MIXTURE,
    PIECE,
    STAKE,
    PANEL,
    LEAF,
    JOB,
    UNIT,
    OWN_HAND,
) = (
    _record(*_FIELDS[name])
    for name in (
        "Step",
        "Item",
        "Rooms",
        "Runout",
        "Term",
        "Street",
        "Line",
        "Decision",
        "Terminal",
        "Mixture",
        "Piece",
        "Stake",
        "Panel",
        "Leaf",
        "Job",
        "Unit",
        "OwnHand",
    )
)

POINTERS = {name: word for word, (kind, name) in enumerate(_FIELDS["Job"]) if kind.endswith("*")}  # they come first


def records_source() -> str:
    """The records as C structs, and the constants of programs."""
    structs = [
        f"struct __align__({ALIGNED.get(name, _record(*fields).alignment)}) {name} {{\n"
        + "".join(f"    {kind} {field};\n" for kind, field in fields)
        + "};"
        for name, fields in _FIELDS.items()
    ]
    pays = ", ".join([*PAYS, "PAYS"])
    constants = {"SEGMENTS": SEGMENTS, "STRIP": STRIP, "TILE": TILE, "NOTHING": f"{NOTHING + 1} - 1"}
    named = ", ".join(f"{name} = {value}" for name, value in constants.items())
    return "\n".join([*structs, f"const int {named};", f"enum {{ {pays} }};"])
