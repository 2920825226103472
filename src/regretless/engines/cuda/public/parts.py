"""A form in parts on a device (`contract.PartEngine`): what a trunk and a shard exchange.

1. The trunk walks down the first street. The reach at its chance nodes is downloaded.
2. A shard has the same rows for the first street, though it never walks there: the reach is uploaded into them. The
   shard walks what is below. Its sums over each block of runouts of the second street are downloaded.
3. The sums are added up on the host, as `deals_sum` in `kernels/streets.cu` adds them up for a whole form, and become
   the values of the trunk's chance nodes. The trunk walks up.

An evaluation of a whole form goes up in two ways at once. In parts each way is a walk of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import Arriving, Mode
from regretless.engines.cuda.device import Array, Records
from regretless.engines.cuda.public.records import ITEM
from regretless.engines.cuda.public.spot import SpotWalks
from regretless.engines.cuda.public.walks import Walks
from regretless.engines.cuda.public.work import FIRST_WAY, SECOND_WAY, Items, Upload
from regretless.engines.layout import block_ends
from regretless.forms.history import FloatArray

__all__ = ["PartWalks"]

PLAYERS = range(2)


class PartWalks:
    """The walks of one part of a form, which `walks` have as their only spot."""

    def __init__(self, walks: Walks) -> None:
        self.walks = walks
        self._spot: SpotWalks = walks.spots[0]
        self._device, plans = walks.device, self._spot.plans
        form = self._spot.layout.form
        self._blocks = np.array(block_ends(form))
        leaves = [plan.leaves[: plan.leaf_first[1]] for plan in plans]
        self._chances = [np.flatnonzero(each["line"] >= 0) for each in leaves]  # leaves of the first street
        self._leaves = leaves
        first_term = form.streets[1].first_copy[self._blocks[:-1]]
        upload = Upload()
        self._block_items: list[dict[int, Items]] = []
        self._folds: list[dict[int, Items]] = []
        self._roots: list[dict[int, Items]] = []
        for own in PLAYERS:
            blocks = np.zeros((len(first_term), len(self._chances[own])), dtype=ITEM)
            blocks["runout"], blocks["slot"] = np.arange(len(first_term))[:, None], first_term[:, None]
            blocks["piece"] = self._chances[own]
            folds = np.zeros(len(leaves[own]) - len(self._chances[own]), dtype=ITEM)
            folds["piece"] = np.flatnonzero(leaves[own]["line"] < 0)
            for lists, items in (
                (self._block_items, blocks.reshape(-1)),
                (self._folds, folds),
                (self._roots, np.zeros(1, dtype=ITEM)),
            ):
                lists.append({ways: upload.add(_of_job(items, own, ways)) for ways in (FIRST_WAY, SECOND_WAY)})
        upload.start(self._device)

    def begin(self, steps: Records) -> None:
        """Begin the iteration of these weights."""
        self.walks.set_step(steps)

    def down(self, own: int, mode: Mode) -> Arriving:
        """Reach at the chance nodes of the first street, after a walk down it."""
        self.walks.go_down(own, learns=mode is Mode.LEARN)
        opponent, mine = (
            self._device.download(buffer).view(np.float32).reshape(-1, hands)[rows]
            for buffer, hands, rows in self._entries(own)
        )
        return Arriving(opponent, mine)

    def below(self, own: int, mode: Mode, arriving: Arriving) -> FloatArray:
        """[blocks, lines, hands] sums over the runouts of each block."""
        for (buffer, hands, rows), reach in zip(self._entries(own), (arriving.opponent, arriving.own), strict=True):
            all_rows = np.zeros((buffer.size // (4 * hands), hands), dtype=np.float32)
            all_rows[rows] = reach
            self._device.assign(buffer, all_rows.reshape(-1).view(np.uint8))
        ways = _ways(mode)
        self.walks.go_below(own, ways, self._block_items[own][ways], learns=mode is Mode.LEARN)
        shape = len(self._blocks) - 1, len(self._chances[own]), int(self._spot.layout.hands[own])
        sums = self._device.download(self._spot.filled(own, "block_sums", 0, 8 * int(np.prod(shape))))
        return np.asarray(sums.view(np.float64).reshape(shape))

    def up(self, own: int, mode: Mode, sums: FloatArray) -> float:
        """What the own player wins, after a walk up the first street."""
        ways, total = _ways(mode), np.zeros(sums.shape[1:])
        for block in sums:
            total += block
        plan, hands = self._spot.plans[own], int(self._spot.layout.hands[own])
        begin = int(self._spot.way_rows["earlier_values"][int(ways == SECOND_WAY), own])
        begin += 4 * int(plan.streets[0]["value_begin"])
        for leaf in self._leaves[own][self._chances[own]]:
            row = total[int(leaf["line"])].astype(np.float32)
            self._spot.fill(begin + 4 * hands * int(leaf["value_row"]), row)
        return self.walks.go_up(own, ways, self._folds[own][ways], self._roots[own][ways], learns=mode is Mode.LEARN)

    def _entries(self, own: int) -> list[tuple[Array, int, NDArray[np.int64]]]:
        """Rows of the opponent's and of the own reach on the first street: their bytes, their hands, those that enter.

        Own reach is read only by a player who learns; in other walks its rows keep what they had.
        """
        plan, layout = self._spot.plans[own], self._spot.layout
        first, second = plan.streets[:2]
        lines = plan.lines[int(second["first_line"]) : int(second["first_line"]) + int(second["lines"])]
        entries = []
        for name, rows, entering, player in (
            ("opponent_rows", "opponent_rows", "above_opponent", 1 - own),
            ("own_rows", "own_rows", "above_own", own),
        ):
            hands = int(layout.hands[player])
            begin = 4 * int(first["opponent_begin" if player != own else "own_rows_begin"])
            buffer = self._spot.filled(own, name, begin, 4 * hands * int(first[rows]))
            entries.append((buffer, hands, lines[entering].astype(np.int64)))
        return entries


def _ways(mode: Mode) -> int:
    return SECOND_WAY if mode is Mode.BEST else FIRST_WAY


def _of_job(items: Records, own: int, ways: int) -> Records:
    """The items for a player's job of one way up."""
    chosen = items.copy()
    chosen["job"] = own + (len(PLAYERS) if ways == SECOND_WAY else 0)
    return chosen
