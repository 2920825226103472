"""Two solutions of the same game against each other: exact values, each in both seats, without sampling.

A sits as player 0 and B as player 1, both play their own strategy, and the values of both are computed exactly; then
they change seats. The edge of A is

    ½ · mean over both seats of (value of A − value of B)

which in a zero-sum game is what A wins per game. Where payoffs sum to something else, such as a pot less rake, it is
what A gets above half of that. It is 0 between equal strategies, and changes its sign if A and B are exchanged. A
strategy may win against another and still be the more exploitable one: an edge says who wins, not who is closer to
equilibrium.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regretless import engines
from regretless.errors import InvalidGame
from regretless.forms.compile import strategy_array
from regretless.forms.history import HistoryForm, Strategy

__all__ = ["HeadToHead", "Seats", "seats_of_game"]

# (value of the first, value of the second), where the first is player 0, and where it is player 1
Seats = tuple[tuple[float, float], tuple[float, float]]

EDGES = {"in mbb/g": "edge_mbb", "in % of the pot": "edge_pct_pot"}  # the key of an edge in a unit


@dataclass(frozen=True, kw_only=True)
class HeadToHead:
    """The values of two strategies against each other, in the game's units."""

    game: str
    seats: Seats
    scale: float = 1.0  # factor to `unit`, as of `Solution`
    unit: str = "in the game's units"
    flops: int | None = None  # over how many; None if they were no choice

    @property
    def edge(self) -> float:
        """What the first wins per game, on average over both seats, in the game's units."""
        return sum(first - second for first, second in self.seats) / 4

    def as_json(self) -> dict[str, object]:
        """What `regretless compare --ev --json` prints besides the names of the files."""
        table: dict[str, object] = {"game": self.game, "seats": [list(pair) for pair in self.seats], "edge": self.edge}
        if self.unit in EDGES:
            table[EDGES[self.unit]] = self.scale * self.edge
        return table if self.flops is None else table | {"flops": self.flops}


def seats_of_game(form: HistoryForm, first: Strategy, second: Strategy) -> Seats:
    """Two strategies of a general game against each other, in 64 bits."""
    if form.players != 2:
        raise InvalidGame(f"{form.name} has {form.players} players: only in a game of two does each sit in both seats")
    engine = engines.create("numpy", form)
    is_first = np.repeat(form.information_set_player == 0, np.diff(form.first_pair))  # [pairs] of player 0
    played = [strategy_array(form, each) for each in (first, second)]
    own, other = engine.evaluate(np.where(is_first, played[0], played[1])).values
    others, owns = engine.evaluate(np.where(is_first, played[1], played[0])).values
    return (own, other), (owns, others)
