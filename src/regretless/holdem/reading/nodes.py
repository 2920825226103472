"""A node of a solved spot, ready to be shown: who acts, frequencies, and the strategy and value of every hand.

In a notebook it is a 13 × 13 grid in plain HTML, which loads nothing: cells split by action, frequencies on hover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import board_text
from regretless.cards.hands import CLASS_NAMES, HAND_CLASS, hand_text
from regretless.cards.ranges import Range
from regretless.colors import spot_action_colors
from regretless.errors import InvalidOption
from regretless.forms.history import FloatArray, IntArray
from regretless.holdem.reading.columns import arrow_table, pandas_table
from regretless.holdem.reading.line_reader import class_shares
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.holdem.spots.toml_fields import player_in
from regretless.reprs import brief
from regretless.solving.solution_html import facts_html

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyarrow import Table

__all__ = ["HandTable", "KindName", "NodeView", "Runout", "RunoutReport", "grid_html", "legend_html"]

CELL_PIXELS = 34  # pixels
EMPTY_COLOR = "#e3e7eb"

KindName = Literal["decision", "chance", "fold", "showdown"]


def legend_html(actions: Sequence[str], frequencies: Sequence[float]) -> str:
    """Each action with its colour and frequency."""
    parts = [
        f'<span style="background:{color};color:#14181c;padding:1px 6px;margin-right:6px">'
        f"{escape(action)} {'–' if np.isnan(share) else f'{share:.1%}'}</span>"
        for (action, color), share in zip(spot_action_colors(actions).items(), frequencies, strict=True)
    ]
    return f"<p>{''.join(parts)}</p>"


def grid_html(actions: Sequence[str], shares: FloatArray, weight: FloatArray) -> str:
    """The grid: `shares` [169, actions], NaN where no hand is left; `weight` [169], from 0 to 1, fills the cells."""
    colors = list(spot_action_colors(actions).values())
    rows = []
    for row in range(13):
        cells = "".join(_cell(13 * row + column, actions, colors, shares, weight) for column in range(13))
        rows.append(f"<tr>{cells}</tr>")
    return f'<table style="border-collapse:separate;border-spacing:1px">{"".join(rows)}</table>'


def _cell(cell: int, actions: Sequence[str], colors: Sequence[str], shares: FloatArray, weight: FloatArray) -> str:
    name, played = CLASS_NAMES[cell], shares[cell]
    box = f"width:{CELL_PIXELS}px;height:{CELL_PIXELS - 8}px;padding:0;text-align:center;font-size:11px"
    if np.isnan(played).any():
        return f'<td style="{box};background:{EMPTY_COLOR};color:#8a939c">{name}</td>'
    ends = np.cumsum(100 * played)
    begins = np.concatenate([[0.0], ends[:-1]])
    bands = ",".join(f"{color} {begin:.1f}% {end:.1f}%" for color, begin, end in zip(colors, begins, ends, strict=True))
    words = ", ".join(f"{action} {share:.1%}" for action, share in zip(actions, played, strict=True))
    filled = f"linear-gradient(90deg,{bands}) 0 100%/100% {100 * min(1.0, float(weight[cell])):.0f}% no-repeat"
    return (
        f'<td title="{escape(f"{name}: {words}")}" style="{box};background:{filled},{EMPTY_COLOR};'
        f'background-color:{EMPTY_COLOR};color:#14181c">{name}</td>'
    )


@dataclass(frozen=True)
class HandTable:
    """The hands of one player at a node. Arrays are [H]; hands that the board blocks are left out."""

    hand: IntArray  # number among the 1,326
    weight: FloatArray  # how likely the player is to have it here: weight in the range × own actions so far
    ev: FloatArray  # chips won minus chips put in from here on: a fold is 0; NaN where no opposing hand is possible
    equity: FloatArray  # share of the pot at showdown with no more betting; NaN where no opposing hand is possible
    matchups: FloatArray  # weight of the opposing hands that it can face

    def __repr__(self) -> str:
        return brief(self, hand=self.texts())

    def eqr(self, pot: float) -> FloatArray:
        """[H] equity realised: EV / (equity × pot); NaN where there is no equity."""
        expected = self.equity * pot
        realised: FloatArray = np.divide(self.ev, expected, out=np.full(len(self.ev), np.nan), where=expected > 1e-9)
        return realised

    def mean(self, values: FloatArray) -> float:
        """Mean over the whole range, weighting each hand by its weight times that of the opposing hands it can face.

        A hand with no possible opposing hand has no weight. NaN if no hand has any.
        """
        weight = self.weight * self.matchups
        present = weight > 0
        total = float(weight[present].sum())
        return float(weight[present] @ values[present]) / total if total > 0 else float("nan")

    def only(self, selected: NDArray[np.bool_]) -> HandTable:
        """The table of some of its hands."""
        return HandTable(
            self.hand[selected],
            self.weight[selected],
            self.ev[selected],
            self.equity[selected],
            self.matchups[selected],
        )

    def texts(self) -> list[str]:
        return [hand_text(int(hand)) for hand in self.hand]


@dataclass(frozen=True)
class NodeView:
    """Everything known at a node of a solved spot."""

    line: str  # text that leads here, including cards
    board: tuple[int, ...]
    kind: KindName
    player: PlayerName | None  # who acts, or who folded; None elsewhere
    pot: float  # chips in the pot, including this street's bets
    stacks: dict[PlayerName, float]  # chips behind
    actions: tuple[str, ...]
    strategy: FloatArray  # [actions, H of the acting player]
    action_ev: FloatArray  # [actions, H] EV of each action for each hand
    locked: NDArray[np.bool_]  # [H] of the acting player: hands that are locked here
    hands: dict[PlayerName, HandTable]

    def __repr__(self) -> str:
        return brief(self, board=board_text(self.board))

    @property
    def acting(self) -> HandTable:
        """The table of the acting player."""
        if self.kind != "decision" or self.player is None:
            raise InvalidOption("line", self.line, "leads to no decision: nobody acts there")
        return self.hands[self.player]

    @property
    def reached(self) -> bool:
        """Whether both players get here with any hand; if not, means over hands are NaN."""
        return all(bool((table.weight * table.matchups).any()) for table in self.hands.values())

    @property
    def frequencies(self) -> tuple[float, ...]:
        """How often each action is taken, over the whole range.

        Each hand counts by its weight times that of the opposing hands it can face.
        """
        return tuple(self.acting.mean(row) for row in self.strategy)

    @property
    def action_means(self) -> tuple[float, ...]:
        """EV of each action over the hands that take it, NaN if none; weighted by frequency, they sum to the EV."""
        means = []
        for shares, chips in zip(self.strategy, self.action_ev, strict=True):
            table = self.acting
            weight = table.weight * table.matchups * shares
            takes = weight > 0
            means.append(float(weight[takes] @ chips[takes] / weight[takes].sum()) if takes.any() else float("nan"))
        return tuple(means)

    @property
    def action_combos(self) -> tuple[float, ...]:
        """Combos that take each action: the weights of the hands, times how often each takes it."""
        return tuple(float(self.acting.weight @ shares) for shares in self.strategy)

    def _table(self, player: PlayerName) -> HandTable:
        return self.hands[player_in(player, "player")]

    def only(self, player: PlayerName, hands: Range) -> NodeView:
        """The same node with only some of a player's hands, to average over; the opponent keeps all."""
        table = self._table(player)
        selected = hands.weights[table.hand] > 0
        tables = {**self.hands, player: table.only(selected)}
        if self.kind != "decision" or player != self.player:
            return replace(self, hands=tables)
        return replace(
            self,
            hands=tables,
            strategy=self.strategy[:, selected],
            action_ev=self.action_ev[:, selected],
            locked=self.locked[selected],
        )

    def ev(self, player: PlayerName) -> float:
        table = self._table(player)
        return table.mean(table.ev)

    def equity(self, player: PlayerName) -> float:
        table = self._table(player)
        return table.mean(table.equity)

    def grid(self) -> FloatArray:
        """[169, actions] how often each class takes each action, weighting its hands; NaN where no hand is left."""
        table = self.acting
        return class_shares(table.hand, table.weight * table.matchups, self.strategy)

    def as_json(self, *, hands: bool = True, player: PlayerName | None = None) -> dict[str, Any]:
        """One object: the node, its frequencies and, with `hands`, every hand of both players or of one."""
        result: dict[str, object] = {
            "line": self.line,
            "board": board_text(self.board),
            "kind": self.kind,
            "player": self.player,
            "pot": self.pot,
            "stacks": dict(self.stacks),
            "actions": list(self.actions),
            "frequencies": [_number(each) for each in self.frequencies] if self.kind == "decision" else [],
            "action_ev": [_number(each) for each in self.action_means] if self.kind == "decision" else [],
            "combos": list(self.action_combos) if self.kind == "decision" else [],
            "locked": bool(self.locked.any()),
            "ev": {player: _number(self.ev(player)) for player in ("oop", "ip")},
            "equity": {player: _number(self.equity(player)) for player in ("oop", "ip")},
        }
        if hands:
            players: tuple[PlayerName, ...] = ("oop", "ip") if player is None else (player,)
            result["hands"] = {each: list(self.rows(each)) for each in players}
        return result

    def wide_rows(self, player: PlayerName | None = None) -> list[dict[str, Any]]:
        """A row per hand of one player or both; the acting player has columns for each action and its EV."""
        rows = []
        players: tuple[PlayerName, ...] = ("oop", "ip") if player is None else (player,)
        for each in players:
            for row in self.rows(each):
                played, action_ev, locked = row.pop("strategy", {}), row.pop("action_ev", {}), row.pop("locked", None)
                row = {"player": each, **row}
                if self.actions:
                    row["locked"] = locked
                for action in self.actions:
                    row[action] = played.get(action)
                    row[f"ev of {action}"] = action_ev.get(action)
                rows.append(row)
        return rows

    def to_arrow(self, player: PlayerName | None = None) -> Table:
        """A `pyarrow.Table` with a row per hand of one player or both; its schema says what each column means."""
        return arrow_table(self.wide_rows(player))

    def to_pandas(self, player: PlayerName | None = None) -> DataFrame:
        """A `pandas.DataFrame` with a row per hand of one player or both."""
        return pandas_table(self.wide_rows(player))

    def _repr_html_(self) -> str:
        """The node in a notebook: who acts, frequencies, EV and equity, and the grid with frequencies on hover."""
        facts = [("board", board_text(self.board)), ("line", self.line or "the first decision")]
        facts.append(("pot", f"{self.pot:g}"))
        facts += [(player, f"EV {self.ev(player):.2f}, equity {self.equity(player):.1%}") for player in self.hands]
        title = f"{self.player} acts" if self.kind == "decision" else self.kind
        html = facts_html(title, facts)
        if self.kind != "decision":
            return html
        classes = np.bincount(HAND_CLASS, minlength=169)
        weight = np.bincount(HAND_CLASS[self.acting.hand], weights=self.acting.weight, minlength=169) / classes
        return html + legend_html(self.actions, self.frequencies) + grid_html(self.actions, self.grid(), weight)

    def rows(self, player: PlayerName) -> list[dict[str, Any]]:
        """One mapping per hand: weight, matchups, EV, equity and EQR; for the acting player also the strategy, the EV
        of each action and whether the hand is locked.
        """
        table = self._table(player)
        eqr = table.eqr(self.pot)
        rows = []
        for hand, name in enumerate(table.texts()):
            row: dict[str, Any] = {
                "hand": name,
                "weight": float(table.weight[hand]),
                "matchups": float(table.matchups[hand]),
                "ev": _number(table.ev[hand]),
                "equity": _number(table.equity[hand]),
                "eqr": _number(eqr[hand]),
            }
            if self.kind == "decision" and player == self.player:
                row["strategy"] = {
                    action: float(self.strategy[index, hand]) for index, action in enumerate(self.actions)
                }
                row["action_ev"] = {
                    action: _number(self.action_ev[index, hand]) for index, action in enumerate(self.actions)
                }
                row["locked"] = bool(self.locked[hand])
            rows.append(row)
        return rows


@dataclass(frozen=True)
class Runout:
    """The node after one card and the report's actions."""

    card: int
    player: PlayerName | None  # who acts there; None if nobody does
    reached: float  # how often the card is followed by `then`
    frequencies: dict[str, float]  # by action
    pot: float  # chips in the pot there
    ev: dict[PlayerName, float]
    equity: dict[PlayerName, float]

    def __repr__(self) -> str:
        return brief(self, card=board_text([self.card]))

    def eqr(self, player: PlayerName) -> float:
        """Equity realised: EV over equity × pot; NaN where there is no equity."""
        expected = self.equity[player] * self.pot
        return self.ev[player] / expected if expected > 0 else float("nan")


@dataclass(frozen=True)
class RunoutReport:
    """Frequencies and EV by the card that comes next."""

    line: str
    then: str  # actions after the card that lead to the reported nodes; "" is right after the card
    runouts: tuple[Runout, ...]  # one per card that can be dealt

    __repr__ = brief

    def as_json(self) -> dict[str, object]:
        return {
            "line": self.line,
            "then": self.then,
            "runouts": [
                {
                    "card": board_text([each.card]),
                    "player": each.player,
                    "reached": _number(each.reached),
                    "frequencies": {action: _number(share) for action, share in each.frequencies.items()},
                    "ev": {player: _number(chips) for player, chips in each.ev.items()},
                    "equity": {player: _number(share) for player, share in each.equity.items()},
                    "eqr": {player: _number(each.eqr(player)) for player in each.ev},
                }
                for each in self.runouts
            ],
        }


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return None if np.isnan(value) else float(value)
