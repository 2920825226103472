"""Two solutions of a game from the deal against each other: exact values over some flops, each in both seats.

1. On a flop, each plays its own strategy: per bucket or, if it was solved on the flop, per hand. A solution without a
   strategy there solves the flop first, with the ranges that arrive by its own strategy (`resolving_pricer`): as in
   play, it does not know what the other does before the flop.
2. Player 0 follows one solution and player 1 the other, on every turn and river; then they change seats. The values
   where the flop's betting begins are kept, as in `flop_pricer`.
3. Before the flop, the values of all flops together go up the betting tree.

No best response is needed, so the flops, if they are all that can be dealt, bias nothing: over a subset, values are
those of a game with only these flops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Protocol

import numpy as np

from regretless.engines import BucketEvaluators, BucketStrategy, StoredStrategies, bucket_evaluators, thread_limit
from regretless.errors import Advice, InvalidOption, WouldNotFit
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import Payoffs, PublicForm
from regretless.holdem.flops import ALL_FLOPS, Flop, read_flops
from regretless.holdem.form.betting import betting_of
from regretless.holdem.games.flop_pricer import (
    CLASSES,
    FLOP_FORM_BYTES,
    FlopTree,
    choose_device,
    evaluate_game,
    flop_form,
    flop_tree,
    lossless_strategy,
    refuse_all,
    values_by_class,
    widest_flop,
)
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.reader import DealtReader
from regretless.holdem.games.resolving_pricer import Resolving, ResolvingPricer
from regretless.solving.head_to_head import Seats
from regretless.solving.record import Settings

__all__ = ["Contestant", "FlopPlayer", "SolvedFlops", "seats_on_flops"]

RESOLVE = Advice("resolve", None, "solves it with the ranges that arrive there", keyword="resolve=True")


class FlopPlayer(Protocol):
    """Plays flops, one after another."""

    @property
    def probabilities(self) -> int:
        """An upper bound on the numbers in the strategy of a flop."""

    def played(self, form: PublicForm, flop: tuple[int, ...], hands: IntArray) -> BucketStrategy:
        """What it does on a flop and before it; `form` and `hands` are those of `flop_form`."""


class Contestant(Protocol):
    """A solution of a game from the deal."""

    @property
    def where(self) -> str: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def reader(self) -> DealtReader: ...

    def covers(self, flop: Sequence[int]) -> bool: ...

    def flop_player(self, betting: FlopTree, threads: int) -> FlopPlayer: ...


class SolvedFlops:
    """What a solution with real cards plays on the flops that it was solved on."""

    def __init__(self, betting: FlopTree, strategies: StoredStrategies) -> None:
        self.betting, self.strategies = betting, strategies

    @property
    def probabilities(self) -> int:
        return widest_flop(self.betting.tree).entries

    def played(self, form: PublicForm, flop: tuple[int, ...], hands: IntArray) -> BucketStrategy:
        _, flops, turns, _ = self.strategies.form.streets
        number = int(np.flatnonzero((np.sort(flops.cards, axis=1) == np.sort(flop)).all(axis=1))[0])
        on_flop = slice(number, number + 1)
        on_turn = slice(int(flops.first_child[number]), int(flops.first_child[number + 1]))
        on_river = slice(int(turns.first_child[on_turn.start]), int(turns.first_child[on_turn.stop]))

        def stacked(node: int) -> FloatArray:
            street = int(form.tree.street[node])
            runouts = (on_flop, on_turn, on_river)[street]
            if street == 0 and node not in self.betting.on_flop:
                runouts = slice(0, 1)  # before the flop, which the form has on its first street
            return self.strategies.stacked(int(self.betting.node[node]), runouts)[:, :, hands]

        return lossless_strategy(form, stacked)


def seats_on_flops(
    game: HoldemGame,
    both: tuple[Contestant, Contestant],
    flops: str | int | Sequence[str] | None,
    *,
    resolving: Resolving | None,
    threads: int | None,
    device: str,
    report: Callable[[int, int], None],
) -> tuple[Seats, int]:
    """The values of two solutions of a game against each other, and on how many flops."""
    if resolving is not None and resolving.safe:
        reason = "cannot be safe against another solution: on a flop that was not solved, no hand has a value"
        raise InvalidOption("resolve", resolving, reason)
    betting = betting_of(game)
    after_flop, strategies = flop_tree(betting.tree), [cache(each.reader.class_strategy) for each in both]
    chosen: list[Flop] = []
    if after_flop.begins:
        chosen = _choose_flops(both, flops, resolve=resolving is not None)
        cores, solving_device = thread_limit(threads), choose_device(device, threads)
        resolves = any(not each.covers(flop.cards) for each in both for flop in chosen)
        evaluating_device = "cpu" if any(each.settings.flops for each in both) else solving_device
        if device == "cuda" and evaluating_device == "cpu" and not resolves:
            raise InvalidOption("device", device, "evaluates strategies per bucket, and one of these is per hand")
        resolvers = [
            ResolvingPricer(
                after_flop, betting.payoffs, strategy, resolving or Resolving(),
                big_blind=game.big_blind, device=solving_device, threads=cores,
            )
            for strategy in strategies
        ]  # fmt: skip
        total = _values_on_flops(
            after_flop, after_flop.payoffs(betting.payoffs), both, chosen, resolvers if resolves else None,
            device=evaluating_device, threads=cores, report=report,
        )  # fmt: skip
    else:
        total = np.zeros((2, 2, 0, CLASSES))
        named_device = None if device == "auto" else device
        options = {"flops": flops, "threads": threads, "resolve": resolving, "device": named_device}
        refuse_all(game.name or "hold'em", options)

    def seat_values(seating: int) -> tuple[float, ...]:
        def strategy(node: int) -> FloatArray:
            first_acts = int(betting.tree.player[node]) == seating
            return strategies[0 if first_acts else 1](node)

        lines = {node: total[:, [seating, seating], line] for line, node in enumerate(after_flop.chance)}
        return evaluate_game(betting.tree, betting.payoffs, strategy, lines, game.big_blind).values

    first, second = seat_values(0)
    second_swapped, first_swapped = seat_values(1)
    return ((first, second), (first_swapped, second_swapped)), len(chosen)


def _values_on_flops(
    after_flop: FlopTree,
    payoffs: Payoffs,
    both: tuple[Contestant, Contestant],
    flops: list[Flop],
    resolvers: list[ResolvingPricer] | None,
    *,
    device: str,
    threads: int,
    report: Callable[[int, int], None],
) -> FloatArray:
    """[players, seatings, lines, classes] values where the flop's betting begins, summed over weighted flops.

    In seating 0 the first solution is player 0, in seating 1 it is player 1. `resolvers` play the flops that a solution
    was not solved on; None if there are no such flops. `device` evaluates.
    """
    evaluators = bucket_evaluators(device, threads=threads)
    players = [each.flop_player(after_flop, threads) for each in both]
    _check_fits(evaluators, after_flop, players, resolvers)
    total = np.zeros((2, 2, len(after_flop.begins), CLASSES))
    report(0, len(flops))
    for done, flop in enumerate(flops, start=1):
        form, hands = flop_form(flop.cards, after_flop.tree, payoffs)
        played = []
        for number, each in enumerate(both):
            player = players[number] if resolvers is None or each.covers(flop.cards) else resolvers[number]
            played.append(player.played(form, flop.cards, hands))
        evaluator = evaluators.create(form)
        for seating in range(2):
            profile = played[seating].against(played[1 - seating], form.tree)
            at_flop = evaluator.first_street_values(profile)[:, 0, after_flop.begin_rows]
            total[:, seating] += flop.weight * values_by_class(at_flop, hands)
        report(done, len(flops))
    return total


def _check_fits(
    evaluators: BucketEvaluators,
    after_flop: FlopTree,
    players: Sequence[FlopPlayer],
    resolvers: Sequence[ResolvingPricer] | None,
) -> None:
    probabilities = sum(player.probabilities for player in players)
    needed = evaluators.needed_bytes(widest_flop(after_flop.tree), probabilities=probabilities)
    if evaluators.device == "cpu":
        needed += FLOP_FORM_BYTES
    if resolvers is not None and resolvers[0].device == "cpu":
        needed += resolvers[0].evaluation_bytes
    free = evaluators.free_bytes()
    if needed > free:
        memory = "memory" if evaluators.device == "cpu" else "GPU memory"
        raise WouldNotFit("the values of a flop", needed=needed, available=free, memory=memory)


def _choose_flops(
    both: tuple[Contestant, Contestant], flops: str | int | Sequence[str] | None, *, resolve: bool
) -> list[Flop]:
    """The flops to play on, with weights that sum to those of all."""
    chosen = read_flops(flops) if flops is not None else _solved_by_both(both)
    if not resolve:
        for flop in chosen:
            for each in both:
                if not each.covers(flop.cards):
                    raise InvalidOption("flops", flop.text, f"was not solved by {each.where}", (RESOLVE,))
    return chosen


def _solved_by_both(both: tuple[Contestant, Contestant]) -> list[Flop]:
    """The flops that both were solved on, with the mean of their weights in both; all flops if both have buckets."""
    solved = [read_flops(each.settings.flops) for each in both if each.settings.flops]
    if not solved:
        return read_flops("all")
    weights: dict[tuple[int, ...], float] = defaultdict(float)
    for flop in chain.from_iterable(solved):
        weights[flop.cards] += flop.weight
    shared = [flop for flop in solved[0] if all(flop.cards in {each.cards for each in flops} for flops in solved)]
    if not shared:
        first, second = (each.settings.flops for each in both)
        raise InvalidOption("flops", None, f"must be chosen: {first} and {second} have none in common")
    factor = ALL_FLOPS / sum(weights[flop.cards] for flop in shared)
    return [replace(flop, weight=weights[flop.cards] * factor) for flop in shared]
