"""Encode the average strategies of many decisions for a file, in compiled code.

For each decision and hand, with S_a the sums of strategies that an engine holds and n actions:

1. p_a = S_a / Σ S, or 1 / n if the sum is 0.
2. From the last action to the first, encode p_a / (p_a + the probabilities of the later actions) as `shares.py`
   does, in the same 32-bit arithmetic, so that both give the same bits.

The arrays hold sixteen hands side by side (`layout.py`), and so does every step here, which lets LLVM use vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import unaliased
from regretless.engines.formats import Stored
from regretless.engines.layout import LANES, Layout, make_layout
from regretless.engines.shares import SIDE, STEPS
from regretless.forms.history import AnyArray, IntArray
from regretless.forms.public import PublicForm

__all__ = ["StrategyEncoder"]

Floats = NDArray[np.float32]

_SCALE, _SIDE = np.float32(STEPS), np.uint16(SIDE)
_ZERO, _HALF, _TWO = np.float32(0.0), np.float32(0.5), np.float32(2.0)


class StrategyEncoder:
    """Encodes the strategies of a form; `begin` [N] is where each decision begins in a row of its street."""

    def __init__(self, form: PublicForm, begin: IntArray) -> None:
        layout = make_layout(form)
        self._decisions = [
            [_decisions(layout, player, street, begin) for player in range(2)] for street in range(len(form.streets))
        ]

    def encode(self, street: int, averages: Sequence[Stored], rows: AnyArray) -> None:
        """Fill `rows` [runouts, …] of 32-bit floats or 16-bit integers from both players' averages on the street."""
        scratch = [np.empty(LANES, dtype=kind) for kind in (np.float32, np.float32, np.float32, np.uint16)]
        for player in range(2):
            _encode(averages[player], *self._decisions[street][player], rows, *scratch)


class _Decisions(NamedTuple):
    """The decisions of a player on a street."""

    hands: int  # of the player
    actions: IntArray  # [decisions]
    block: IntArray  # [decisions]  where the sums of a decision begin in a row of averages
    begin: IntArray  # [decisions]  where its encoding begins in a row of the result


def _decisions(layout: Layout, player: int, street: int, begin: IntArray) -> _Decisions:
    tree = layout.form.tree
    nodes = np.array(layout.decisions(player, street), dtype=np.int64)
    actions = (tree.first_child[nodes + 1] - tree.first_child[nodes]).astype(np.int64)
    return _Decisions(len(layout.form.hands[player].weight), actions, layout.block[nodes], begin[nodes])


@unaliased
def _encode(
    averages: Stored,  # [runouts, numbers]
    hands: int,
    actions: IntArray,
    block: IntArray,
    begin: IntArray,
    rows: AnyArray,  # [runouts, encoded numbers]
    total: Floats,  # [16] scratch, as are the following
    others: Floats,
    smaller: Floats,
    side: NDArray[np.uint16],
) -> None:
    in_16_bits = rows.itemsize == 2
    for runout in range(len(rows)):
        for decision in range(len(actions)):
            count = actions[decision]
            uniform = np.float32(1.0 / count)
            for first in range(0, hands, LANES):
                sums_begin = block[decision] + first * count
                for lane in range(LANES):
                    total[lane] = np.float32(averages[runout, sums_begin + lane])
                    others[lane] = _ZERO
                for action in range(1, count):
                    for lane in range(LANES):
                        total[lane] += np.float32(averages[runout, sums_begin + action * LANES + lane])
                for action in range(count - 1, -1, -1):
                    for lane in range(LANES):
                        is_played = total[lane] > _ZERO
                        summed = np.float32(averages[runout, sums_begin + action * LANES + lane])
                        chosen = (summed if is_played else uniform) / (total[lane] if is_played else np.float32(1.0))
                        left = others[lane] + chosen
                        smaller_share = min(chosen, others[lane])
                        smaller[lane] = (smaller_share if left > _ZERO else _ZERO) / (
                            left if left > _ZERO else np.float32(1.0)
                        )
                        side[lane] = _SIDE if chosen > others[lane] else np.uint16(0)
                        others[lane] = left
                    if action == count - 1:  # its probability is the rest
                        continue
                    row_begin = begin[decision] + action * hands + first
                    for lane in range(min(LANES, hands - first)):
                        if in_16_bits:
                            steps = np.uint16(np.int32(np.rint(_SCALE * np.sqrt(np.sqrt(_TWO * smaller[lane])))))
                            rows[runout, row_begin + lane] = steps | side[lane] if steps < STEPS else steps
                        else:
                            mostly = side[lane] != 0 and smaller[lane] < _HALF
                            rows[runout, row_begin + lane] = -smaller[lane] if mostly else smaller[lane]
