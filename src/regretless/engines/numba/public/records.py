"""The records and units by which kernels address nodes, lines, chunks, streets, runouts and lists of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InvalidGame
from regretless.forms.public import PublicForm

__all__ = ["CHUNK", "EXTENT", "FOUR", "LINE", "NODE", "RECORD", "ROW", "RUNOUT", "SCALE", "STREET", "check_limits"]

Int8 = NDArray[np.int8]
Int16 = NDArray[np.int16]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Records = NDArray[np.void]

SCALE = 8  # rows are counted in eighths, which x86 addressing modes scale for free,
ROW = -SCALE  # and which leave the low bits of a number free: the lowest marks the end of a class
FOUR = 4  # lists to be summed come in fours, padded with the row of zeros
RECORD = 3  # numbers of an own hand: row of its group, rows of its two pairs

NODE = np.dtype(
    [
        ("node", np.int32),  #         the node of the form's betting tree
        ("kind", np.int32),  #         a `forms.public.NodeKind`
        ("mine", np.int32),  #         1 where the own player acts
        ("actions", np.int32),
        ("first_child", np.int32),  #  children are child[first_child : first_child + actions]
        ("line", np.int32),  #         the line of the next street that a chance node leads to; -1 elsewhere
        ("block", np.int64),  #        where its regrets begin within those of its street, runout and player
        ("opponent_at", np.int32),  #  row of the opponent's reach
        ("own_at", np.int32),  #       row of the own reach
        ("value_at", np.int32),  #     row of values, in the same array
    ],
    align=True,
)
LINE = np.dtype(
    [
        ("node", np.int32),  #         first node of the line
        ("opponent_at", np.int32),  #  rows of reach of the chance node that leads into it; 0 at the root
        ("own_at", np.int32),
        ("value_at", np.int32),  #     row among the values of lines, summed over runouts
    ]
)
CHUNK = np.dtype(
    [(f"{end}_{what}", np.int32) for what in ("node", "line", "fold", "showdown") for end in ("first", "last")]
    + [
        ("own_block", np.int64),  #   where the own player's regrets of the chunk begin within those of a runout
        ("own_size", np.int64),  #    how many there are
        ("other_block", np.int64),
        ("other_size", np.int64),
    ]
)
STREET = np.dtype(
    [(f"{end}_{what}", np.int32) for what in ("chunk", "line") for end in ("first", "last")]
    + [
        ("own_at", np.int64),  #       where the own player's regrets of the street begin
        ("own_size", np.int64),  #     numbers of one runout there
        ("other_at", np.int64),
        ("other_size", np.int64),
        ("own_shift", np.int64),  #    of a part of a form: by how much later the whole has its regrets
    ]
)
RUNOUT = np.dtype(
    [
        ("street", np.int32),
        ("number", np.int32),  #      counted among those of all streets
        ("local", np.int32),  #       counted among those of its street
        ("parent", np.int32),  #      runout of the street before; -1 on the first
        ("first_child", np.int32),  # the first runout of the next street that follows
        ("first_copy", np.int32),  #  not counting the identity
        ("last_copy", np.int32),
        ("symmetry", np.int32),  #    a row of the tables below that have K
        ("step", np.int32),  #        the row of its weights, after that of the iteration; 0 if all runouts are walked
        ("probability", np.float64),
    ]
)
EXTENT = np.dtype(
    [
        ("first_sum", np.int32),  # where the lists of a final runout begin and end
        ("last_sum", np.int32),
        ("first_event", np.int32),
        ("first_pair", np.int32),
        ("first_group", np.int32),
        ("last_group", np.int32),
    ]
)


def check_limits(form: PublicForm) -> None:
    """Refuse a form with more of something than these records and lists can count."""
    int8, int16, int32 = (np.iinfo(kind).max for kind in (np.int8, np.int16, np.int32))
    hands = max(len(each.weight) for each in form.hands)
    cards = [each.cards[each.cards >= 0] for each in form.hands]
    finals = len(form.strength[0])
    for count, most, what in (
        (form.deck, int8, "cards in the deck"),
        (hands, int16 // SCALE // 2 - 1, "hands of a player"),  # a hand has two rows of sums at most
        (max(int(np.bincount(each).max(initial=0)) for each in cards), int8, "hands that hold the same card"),
        (len(form.permutations[0]), int16, "suit permutations"),
        (max(int(each.max(initial=0)) for each in form.strength), int16 - 1, "strengths of hands"),
        (len(form.tree.kind) * hands, int32 // 2, "betting nodes × hands"),
        (finals * (2 * hands + FOUR * form.deck), int32, "final runouts × hands"),
    ):
        if count > most:
            raise InvalidGame(f"{form.name} has {count:,} {what}: the numba engine can count {most:,}")
