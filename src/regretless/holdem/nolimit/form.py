"""From a game from the deal and its buckets to the bucketed form: every hand of both players, boards drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from regretless.cards.deck import DECK
from regretless.cards.hands import HAND_COUNT
from regretless.cards.ranges import Range
from regretless.engines import Snapshot, TableLayout
from regretless.errors import InvalidOption
from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import FloatArray
from regretless.forms.public import BettingTree, NodeKind
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import hands_of
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.nolimit.boards import DrawnBoards, GameBuckets, Lookup
from regretless.holdem.spots.question import STREETS, StreetName

__all__ = ["acting_streets", "game_buckets", "make_form", "snapshot_strategy"]

AVERAGES = ("average.0", "average.1")


def acting_streets(tree: BettingTree) -> dict[StreetName, bool]:
    """Whether anybody acts on each street after the deal."""
    acts = tree.street[tree.kind == NodeKind.DECISION]
    return {street: bool((acts == number).any()) for number, street in enumerate(STREETS, start=1)}


def game_buckets(
    game: HoldemGame, abstraction: Lookup | None, known: tuple[StreetName, ...], given: str = ""
) -> GameBuckets:
    """The buckets of a game; `known` are the streets that the abstraction covers. Refuses one that lacks a street.

    `given` is the abstraction as it was asked for, by default its streets.
    """
    acting = acting_streets(betting_of(game).tree)
    for street in STREETS:
        if acting[street] and street not in known:
            given = given or ", ".join(known) or "none"
            raise InvalidOption("buckets", given, f"has no buckets for the {street}, on which the players act")
    return GameBuckets(abstraction, acting)


def make_form(game: HoldemGame, buckets: GameBuckets, *, count: int, seed: int) -> BucketedForm:
    """The form of a game, with `count` boards per iteration; payoffs in chips, values in big blinds."""
    betting, everything = betting_of(game), Range.parse("100%")
    hands = np.arange(HAND_COUNT)
    return BucketedForm(
        name=game.name or "hold'em",
        deck=DECK,
        tree=betting.tree,
        hands=hands_of((hands, hands), everything, everything),
        payoffs=betting.payoffs,
        buckets=(buckets.counts, buckets.counts),
        runouts=DrawnBoards(buckets, count=count, seed=seed),
        unit=game.big_blind,
    )


def snapshot_strategy(layout: TableLayout, snapshot: Snapshot) -> Callable[[int], FloatArray]:
    """[actions, K] the average strategy at a node, from a snapshot; uniform where nothing was accumulated."""
    tree = layout.form.tree
    averages = cache(lambda player: snapshot.arrays[AVERAGES[player]])  # a file is read whole at each access

    def strategy(node: int) -> FloatArray:
        sums = layout.rows(averages(int(tree.player[node])), node).astype(np.float64)
        total = sums.sum(axis=0)
        return np.where(total > 0, sums / np.where(total > 0, total, 1.0), 1.0 / len(sums))

    return strategy
