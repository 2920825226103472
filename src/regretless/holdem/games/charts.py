"""Charts that ship with the package: what both players do before the flop, heads-up, with 10 to 100 big blinds.

Each is the first round of a whole game that was solved with real cards on some flops (`benchmarks/charts.py` writes
`charts.toml`). A chart says in which game, how exploitable it was there, and its price: what best responses gain
against these ranges on flops that were not solved, when every flop is solved again with the ranges that arrive.

    [[chart]]
    key = "20bb"
    flops                     how many were solved, weighted so that their means come close to those of all
    exploitability_mbb        on these flops, in mbb/g
    priced_flops, price_mbb   how many others were priced, and their price in mbb/g
    price_all_mbb             the price extrapolated to all 1,755 flops; may be absent
    game                      its game file
    [chart.decisions."line"]  action -> the hands that take it; the first action takes what remains
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.cards.hands import HAND_COUNT
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, InvalidText
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.normalise import normalise_columns
from regretless.forms.public import NodeKind
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import hands_of
from regretless.holdem.form.suits import Deal
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.reader import DealtReader
from regretless.holdem.reading.line_reader import LineNode, NodeStrategy
from regretless.holdem.spots.formations import Formation, Seat
from regretless.holdem.spots.sizes import exact
from regretless.holdem.spots.spot_fields import PLAYERS, PlayerName
from regretless.reprs import brief

__all__ = ["PreflopChart", "chart", "chart_formations", "charts", "formation_after"]

SEATS = {"ip": "SB", "oop": "BB"}
MIN_WEIGHT = 0.005  # share of a hand below which it is left out of a range
WEIGHT_DECIMALS = 3  # of the weights in a range
CLOSE = 1e-9  # big blinds
MIN_COMBOS = 40  # of a player's range in a formation


@dataclass(frozen=True, kw_only=True)
class PreflopChart:
    """What both players do before the flop in one game.

    >>> chart("20bb").game.big_blinds
    20.0
    >>> chart("20bb").node("raise 2").actions
    ('fold', 'call', 'all-in 20')
    """

    key: str
    game: HoldemGame
    flops: int
    exploitability_mbb: float
    priced_flops: int
    price_mbb: float
    price_all_mbb: float | None = None
    decisions: Mapping[str, Mapping[str, str]]

    __repr__ = brief

    @cached_property
    def reader(self) -> DealtReader:
        """Finds the nodes before the flop."""
        return _ChartReader(self.game, self.decisions)

    def node(self, line: str = "") -> NodeStrategy:
        """What the acting player does with each hand after a line, such as "raise 2"."""
        node = self.reader.find(line)
        if self.reader.tree.kind[node.index] != NodeKind.DECISION:
            raise InvalidText("line", line, None, "nobody acts there before the flop")
        return self.reader.played(node)

    def ranges(self, line: str = "") -> dict[str, Range]:
        """The hands that take each action after a line, or those of both players where it ends before the flop.

        >>> [(name, f"{hands.combos:.0f} combos") for name, hands in chart("20bb").ranges("raise 2, call").items()]
        [('SB', '223 combos'), ('BB', '748 combos')]
        """
        node = self.reader.find(line)
        if self.reader.tree.kind[node.index] == NodeKind.DECISION:
            player, strategy = int(self.reader.tree.player[node.index]), self.reader.strategy(node)
            seat = SEATS[PLAYERS[player]]
            return {
                f"{seat}: {action}": _range(node.reach[player] * row)
                for action, row in zip(self.reader.actions(node.index), strategy, strict=True)
            }
        return {SEATS[player]: _range(reach) for player, reach in zip(PLAYERS, node.reach, strict=True)}

    def formations(self) -> tuple[Formation, ...]:
        """One for every line that leads to a flop on which somebody can bet, unless it is hardly ever played."""
        reader = self.reader
        ends = (
            reader.act(node, action)
            for node in reader.before_cards()
            for action in range(len(reader.actions(node.index)))
        )
        formations = (formation_after(self.game, reader, node, MIN_COMBOS) for node in ends)
        return tuple(formation for formation in formations if formation is not None)


class _ChartReader(DealtReader):
    """Reads charts: nothing is known after the flop."""

    def __init__(self, game: HoldemGame, decisions: Mapping[str, Mapping[str, str]]) -> None:
        betting, everything = betting_of(game), Range.parse("100%")
        self.tree, self.payoffs = betting.tree, betting.payoffs
        self.hands = hands_of(self.hand_numbers, everything, everything)
        self._decisions = decisions
        self._strategies: dict[int, FloatArray] = {}

    def strategy(self, node: LineNode) -> FloatArray:
        if node.index not in self._strategies:
            texts, actions = self._decisions[", ".join(node.steps)], self.actions(node.index)
            later = [Range.parse(texts[action]).weights for action in actions[1:]]
            self._strategies[node.index] = normalise_columns(np.array([1.0 - sum(later), *later]).clip(0.0))
        return self._strategies[node.index]

    def dead(self, player: int, deal: Deal) -> NDArray[np.bool_]:
        return np.zeros(HAND_COUNT, dtype=np.bool_)

    def count(self, node: LineNode) -> int:
        return 0

    def deal(self, node: LineNode, *cards: int) -> LineNode:
        raise InvalidText("line", ", ".join(node.steps), None, "a chart ends where the flop is dealt")


def formation_after(game: HoldemGame, reader: DealtReader, node: LineNode, more_than: float = 0) -> Formation | None:
    """The ranges that arrive on the flop at a node, pot and stack, in big blinds.

    None if no flop is dealt there, nobody can bet on it, or a player does not get there with more than so many combos.
    """
    tree, stack = reader.tree, game.big_blinds
    paid = [float(chips) / game.big_blind for chips in tree.paid[node.index]]
    if tree.kind[node.index] != NodeKind.CHANCE or min(paid) >= stack - CLOSE:
        return None
    ip, oop = (_range(reach, numbers) for reach, numbers in zip(node.reach, reader.hand_numbers, strict=True))
    if min(ip.combos, oop.combos) <= more_than:
        return None
    line = ", ".join(node.steps)
    return Formation(
        key="-".join(["hu", f"{stack:g}bb", *line.replace(",", "").split()]),
        group=f"Heads-up, {stack:g} bb",
        label=f"SB against BB, {stack:g} bb: {line}",
        pot=exact(sum(paid)),
        stack=exact(stack - max(paid)),
        raiser=_raiser(node.steps),
        oop=Seat(SEATS["oop"], str(oop)),
        ip=Seat(SEATS["ip"], str(ip)),
        tree="small",  # ranges from the blinds are wide
    )


def _range(reach: FloatArray, numbers: IntArray | None = None) -> Range:
    """The range of hands that arrive with this reach: those with these numbers, or all 1,326."""
    weights = np.zeros(HAND_COUNT)
    weights[slice(None) if numbers is None else numbers] = np.where(
        reach < MIN_WEIGHT, 0.0, reach.round(WEIGHT_DECIMALS)
    )
    return Range(weights.clip(0.0, 1.0))


def _raiser(steps: Sequence[str]) -> PlayerName | None:
    """Who raised last before the flop: the small blind, who is ip, acts first, and the players take turns.

    >>> _raiser(["raise 2", "raise 6", "call"]), _raiser(["call", "check"])
    ('oop', None)
    """
    raisers = [PLAYERS[index % 2] for index, step in enumerate(steps) if step.startswith(("raise", "all-in"))]
    return raisers[-1] if raisers else None


@cache
def charts() -> Mapping[str, PreflopChart]:
    """All charts by their names, those of the smallest stacks first.

    >>> list(charts())
    ['10bb', '15bb', '20bb', '30bb', '50bb', '100bb']
    """
    text = files("regretless.holdem.games").joinpath("charts.toml").read_text(encoding="utf-8")
    return MappingProxyType({entry["key"]: _chart(entry) for entry in tomllib.loads(text)["chart"]})


def _chart(entry: dict[str, Any]) -> PreflopChart:
    return PreflopChart(**(entry | {"game": HoldemGame.parse(entry["game"])}))


def chart(key: str) -> PreflopChart:
    """The chart of this name."""
    if key not in charts():
        raise InvalidOption("chart", key, f"is not one of {', '.join(charts())}")
    return charts()[key]


@cache
def chart_formations() -> tuple[Formation, ...]:
    """The formations of all charts."""
    return tuple(formation for each in charts().values() for formation in each.formations())
