"""The 13 × 13 grid of a node: one number per class of hands, `AKs`, `AKo`, `77`.

A class's number is the mean over its hands, each weighted by its weight and the opposing hands it can face, like every
mean at a node. The grid of weights shows the share of a class's hands that are in the range here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from regretless.cards.hands import CLASS_NAMES, HAND_CLASS
from regretless.cards.preflop_equities import CLASS_SIZES
from regretless.errors import InvalidOption
from regretless.forms.history import FloatArray
from regretless.holdem.reading.line_reader import NodeStrategy, class_shares
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.reprs import brief

__all__ = ["GRIDS", "Grid", "GridKind", "make_chart", "make_grid"]

GridKind = Literal["strategy", "ev", "equity", "eqr", "weight"]

GRIDS: tuple[GridKind, ...] = get_args(GridKind)
CLASSES = len(CLASS_NAMES)

UNITS: dict[GridKind, str] = {
    "strategy": "probability of each action, 0 to 1",
    "ev": "chips, from this node on",
    "equity": "share of the pot at showdown, 0 to 1",
    "eqr": "EV / (equity × pot)",
    "weight": "share of the class's combos that is in the range here, 0 to 1",
}


@dataclass(frozen=True)
class Grid:
    """Classes of one player's hands at a node, in the order of `CLASS_NAMES`."""

    kind: GridKind
    player: PlayerName
    actions: tuple[str, ...]  # if the kind is "strategy"
    values: FloatArray  # [169], or [169, actions] of a strategy; NaN where no hand of the class is in the range
    weight: FloatArray  # [169] share of the class's combos that is in the range here
    locked: NDArray[np.bool_]  # [169] whether some hand of the class is locked here

    __repr__ = brief

    def as_json(self) -> dict[str, object]:
        """Class -> number (of a strategy: action -> number); classes with no hand in the range are left out."""
        cells: dict[str, object] = {}
        for name, value in zip(CLASS_NAMES, self.values, strict=True):
            if not np.isnan(value).any():
                cells[name] = (
                    dict(zip(self.actions, value.tolist(), strict=True)) if self.kind == "strategy" else float(value)
                )
        return {"kind": self.kind, "player": self.player, "unit": UNITS[self.kind], "classes": cells}


def make_grid(view: NodeView, player: PlayerName, kind: GridKind) -> Grid:
    """The grid of a node for one player."""
    acts = view.kind == "decision" and view.player == player
    if kind == "strategy" and not acts:
        raise InvalidOption("grid", kind, f"cannot be shown: {player} does not act here")
    table = view.hands[player]
    cells = HAND_CLASS[table.hand]
    weight = np.bincount(cells, weights=table.weight, minlength=CLASSES) / CLASS_SIZES
    if kind == "strategy":
        values = view.grid()
    elif kind == "weight":
        values = np.where(weight > 0, weight, np.nan)
    else:
        values = _means(view, player, {"ev": table.ev, "equity": table.equity, "eqr": table.ev}[kind])
        if kind == "eqr":  # computed from the means, so that hands without equity do not make their class NaN
            expected = _means(view, player, table.equity) * view.pot
            values = np.divide(values, expected, out=np.full(CLASSES, np.nan), where=expected > 0)
    locked = np.bincount(cells[view.locked], minlength=CLASSES) > 0 if acts else np.zeros(CLASSES, dtype=np.bool_)
    return Grid(kind, player, view.actions if kind == "strategy" else (), values, weight, locked)


def make_chart(played: NodeStrategy) -> Grid:
    """The strategy of a line of play as a grid; the weight is that of the class's combos, 1 for the heaviest."""
    weight = np.bincount(HAND_CLASS[played.hand], weights=played.weight, minlength=CLASSES) / CLASS_SIZES
    share = weight / (weight.max() or 1.0)
    return Grid("strategy", played.player, played.actions, played.grid(), share, np.zeros(CLASSES, dtype=np.bool_))


def _means(view: NodeView, player: PlayerName, values: FloatArray) -> FloatArray:
    """[169] means of numbers per hand; NaN where no hand of a class faces any."""
    table = view.hands[player]
    weight = table.weight * table.matchups
    counts = (weight > 0) & ~np.isnan(values)
    return class_shares(table.hand[counts], weight[counts], values[None, counts])[:, 0]
