"""Terminals of the last street as kernels evaluate them: in pieces, by sums, or in panels, by matrix products."""

from __future__ import annotations

from enum import IntEnum
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.cuda.device import Records
from regretless.engines.cuda.public.records import PANEL, PAYS, PIECE, STAKE
from regretless.engines.layout import padded
from regretless.forms.public import PublicForm
from regretless.forms.walking import has_even_ties

__all__ = ["Cut", "LastTerminals", "Panels", "are_few", "can_multiply"]

Int32 = NDArray[np.int32]

MAX_PAIRS = 1 << 18  # of hands that products multiply: for more, sums are faster
HALF = 2  # bytes
ROW_PADDING = 8  # halves between rows of reach in shared memory


class Cut(NamedTuple):
    """T terminals, cut into P pieces."""

    pieces: Records  # [P]  PIECE
    order: Int32  # [T]  which terminals they have, one piece after another
    pays: NDArray[np.float64]  # [P, PAYS, width]

    @property
    def mixed(self) -> int:
        """The most mixtures of a piece."""
        return int(self.pieces["mixed"].max(initial=0))

    @property
    def tiled(self) -> int:
        """The most columns of a piece, mixtures included."""
        columns = self.pieces["columns"]
        return int((columns + columns % 2 + self.pieces["mixed"]).max(initial=0))

    @property
    def folds(self) -> int:
        """The most own folds of a piece."""
        return int((self.pieces["fold_last"] - self.pieces["fold_first"]).max(initial=0))


class Panels(NamedTuple):
    """T terminals in P panels, each of which fits in the shared memory of a block."""

    panels: Records  # [P]  PANEL
    stakes: Records  # [T]  STAKE, one panel after another
    bytes: int  # of the largest


class _StakeKind(IntEnum):
    """The kinds of terminals, in the order in which a panel has them."""

    WITH_OTHER_FOLD = 0  # a showdown, together with a fold of the opponent
    LINE = 1  # a showdown that is a line of its own
    SHOWDOWN = 2
    WITH_OWN_FOLD = 3  # a showdown, together with an own fold
    FOLD = 4


class LastTerminals(NamedTuple):
    """The T terminals of the last street."""

    records: Records  # [T]  TERMINAL
    pays: NDArray[np.float64]  # [PAYS, T]
    stakes: Records  # [T]  STAKE

    def cut(self, width: int) -> Cut:
        """Pieces of at most `width`; each begins with terminals that include an opponent's fold, then an own fold."""
        first = _parts(len(self.records), -(-len(self.records) // width))
        pieces, pays = np.zeros(len(first) - 1, dtype=PIECE), np.zeros((len(first) - 1, len(PAYS), width))
        orders = []
        for number, (start, end) in enumerate(pairwise(first)):
            mixed, folds = (self.records[name][start:end] >= 0 for name in ("mixture", "fold_value"))
            order = start + np.argsort(np.where(mixed, 0, np.where(folds, 1, 2)), kind="stable")
            before, last = int(mixed.sum()), int(mixed.sum() + folds.sum())
            piece = pieces[number]
            piece["first"], piece["columns"] = start, end - start
            piece["mixed"] = before + before % 2
            piece["fold_first"], piece["fold_last"] = before - before % 2, last + last % 2
            pays[number, :, : end - start] = self.pays[:, order]
            orders.append(order)
        return Cut(pieces, np.concatenate([*orders, np.zeros(0)]).astype(np.int32), pays)

    def panels(self, hands: int, max_bytes: int) -> Panels:
        """As few panels as possible of at most `max_bytes`; the opponent has `hands` hands."""
        stakes = self.stakes
        kinds = np.select(
            [stakes["value_row"] < 0, stakes["fold_value"] >= 0, stakes["fold_row"] >= 0, stakes["opponent_row"] < 0],
            [_StakeKind.FOLD, _StakeKind.WITH_OWN_FOLD, _StakeKind.WITH_OTHER_FOLD, _StakeKind.LINE],
            default=_StakeKind.SHOWDOWN,
        )
        order = np.argsort(kinds, kind="stable")  # kinds together, so that few tiles of rows are not full
        row_bytes = HALF * (hands + ROW_PADDING)
        for parts in count(1 if len(kinds) else 0):
            panels = np.zeros(parts, dtype=PANEL)
            for number, (start, end) in enumerate(pairwise(_parts(len(kinds), parts))):
                ends = np.cumsum(np.bincount(kinds[order[start:end]], minlength=len(_StakeKind))).tolist()
                panel = panels[number]
                panel["first"], panel["rows"] = start, ends[_StakeKind.FOLD]
                panel["mixed"] = panel["direct_first"] = ends[_StakeKind.WITH_OTHER_FOLD]
                panel["direct_last"] = ends[_StakeKind.LINE]
                panel["plain"], panel["showdowns"] = ends[_StakeKind.SHOWDOWN], ends[_StakeKind.WITH_OWN_FOLD]
            sizes = panels["rows"] * STAKE.itemsize + (panels["rows"] + panels["mixed"] + 1) * row_bytes
            if parts == len(kinds) or sizes.max() <= max_bytes:
                return Panels(panels, stakes[order], int(sizes.max(initial=0)))
        raise AssertionError("a panel of one terminal always ends the search")


def _parts(whole: int, parts: int) -> list[int]:
    """Where equal parts begin, and the end."""
    return [int(each) for each in np.linspace(0, whole, parts + 1)]


def are_few(hands: tuple[int, int]) -> bool:
    """Whether products are fast for these numbers of hands."""
    return padded(hands[0]) * padded(hands[1]) <= MAX_PAIRS


def can_multiply(form: PublicForm) -> bool:
    """Whether terminals can be matrix products, and whether this is fast."""
    return are_few((len(form.hands[0].weight), len(form.hands[1].weight))) and has_even_ties(form)
