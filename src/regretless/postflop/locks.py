"""Locks: decisions that are given, and what the rest becomes around them.

A lock holds a node at a strategy, for all hands or for chosen ones; both players then play their best knowing it, and
exploitability counts only what can be gained elsewhere. A line that leaves a card out holds on every runout.

>>> Lock(node="check", strategy={"check": 1.0})  # in position always checks behind
Lock(node='check', strategy={'check': 1.0}, hands='')

A spot with locks is solved with less symmetry where a lock tells suits apart: the renamings that are left change
neither the chosen hands nor the cards in the line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, InvalidText
from regretless.forms.history import FloatArray
from regretless.forms.public import Kind, PublicForm
from regretless.postflop.lines import Step, find_action, no_such_action, parse_line

__all__ = ["Held", "Lock", "LockedHands", "held_nodes"]

CLOSE_TO_ONE = 1e-6


@dataclass(frozen=True)
class Lock:
    """One node held at a strategy."""

    node: str  # line of play that leads there; "" is the first decision
    strategy: Mapping[str, float]  # probability of each action; those left out are never taken
    hands: str = ""  # the hands it holds, as a range; "": all of them. Weights do not matter

    def __hash__(self) -> int:
        return hash((self.node, tuple(self.strategy.items()), self.hands))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return parse_line(self.node, "locks.node")

    @property
    def cards(self) -> tuple[int, ...]:
        """Cards that the line names."""
        return tuple(step.card for step in self.steps if step.card is not None)

    @property
    def range(self) -> Range:
        return Range.parse(self.hands or "100%", "locks.hands")


@dataclass(frozen=True)
class Held:
    """A lock at one betting node and runout of a form."""

    node: int
    runout: int
    strategy: FloatArray  # [actions, H]
    hands: NDArray[np.bool_]  # [H] of the player who acts


def held_nodes(form: PublicForm, locks: Sequence[Lock], held: tuple[NDArray[np.int64], ...]) -> list[Held]:
    """Where locks hold, later ones over earlier ones; `held`: which of the 1,326 hands each hand of the form is."""
    found: dict[tuple[int, int], Held] = {}
    for place, lock in enumerate(locks):
        field = f"locks[{place}]"
        node, runouts = _find(form, lock, field)
        labels = form.tree.labels[int(form.tree.first_child[node]) : int(form.tree.first_child[node + 1])]
        strategy = _strategy(lock, labels, field)
        chosen = lock.range.weights[held[int(form.tree.player[node])]] > 0
        if not chosen.any():
            raise InvalidText(f"{field}.hands", lock.hands, None, "holds no hand of the player who acts there")
        for runout in runouts:
            before = found.get((node, runout))
            played = np.where(chosen, strategy[:, None], 0.0 if before is None else before.strategy)
            hands = chosen if before is None else chosen | before.hands
            found[node, runout] = Held(node, runout, played, hands)
    return list(found.values())


class LockedHands:
    """Which hands locks hold at each betting node and runout of a form; needs no strategies, so a file suffices."""

    def __init__(self, form: PublicForm, locks: Sequence[Lock], held: tuple[NDArray[np.int64], ...]) -> None:
        self.form = form
        self.places = [_find(form, lock, f"locks[{place}]") for place, lock in enumerate(locks)]
        self.chosen = [
            lock.range.weights[held[int(form.tree.player[node])]] > 0
            for lock, (node, _) in zip(locks, self.places, strict=True)
        ]

    def hands(self, node: int, runout: int) -> NDArray[np.bool_]:
        """[H] of the player who acts there: whether a lock holds the hand."""
        found = np.zeros(len(self.form.hands[int(self.form.tree.player[node])].weight), dtype=np.bool_)
        for (locked, runouts), chosen in zip(self.places, self.chosen, strict=True):
            if locked == node and runout in runouts:
                found |= chosen
        return found


def _find(form: PublicForm, lock: Lock, field: str) -> tuple[int, list[int]]:
    """The betting node that a line leads to, and the runouts of its street that the line allows."""
    tree = form.tree
    node, street, runouts = 0, 0, [0]

    def deal(card: int | None) -> None:
        nonlocal node, street, runouts
        here, following = form.streets[street], form.streets[street + 1]
        below = [child for runout in runouts for child in range(here.first_child[runout], here.first_child[runout + 1])]
        runouts = [child for child in below if card is None or following.cards[child, 0] == card]
        node, street = int(tree.first_child[node]), street + 1

    for step in lock.steps:
        if step.card is not None:
            if tree.kind[node] != Kind.CHANCE:
                raise InvalidText(f"{field}.node", lock.node, step.position, "no card is dealt here")
            deal(step.card)
            if not runouts:
                raise InvalidText(f"{field}.node", lock.node, step.position, f"{step} cannot be dealt here")
            continue
        while tree.kind[node] == Kind.CHANCE:
            deal(None)
        labels = tree.labels[int(tree.first_child[node]) : int(tree.first_child[node + 1])]
        action = find_action(step, labels)
        if action is None:
            raise no_such_action(f"{field}.node", lock.node, step, labels)
        node = int(tree.first_child[node]) + action
    while tree.kind[node] == Kind.CHANCE:
        deal(None)
    if tree.kind[node] != Kind.DECISION:
        raise InvalidText(f"{field}.node", lock.node, None, "nobody acts there")
    return node, runouts


def _strategy(lock: Lock, labels: Sequence[str], field: str) -> FloatArray:
    strategy = np.zeros(len(labels))
    for name, probability in lock.strategy.items():
        steps = parse_line(name, f"{field}.strategy")
        action = find_action(steps[0], labels) if len(steps) == 1 else None
        if action is None:
            raise InvalidText(f"{field}.strategy", name, None, f"is no action there; there is {', '.join(labels)}")
        if not 0 <= probability <= 1:
            raise InvalidOption(f"{field}.strategy", probability, f"(of {name}) must be from 0 to 1")
        strategy[action] += probability
    if abs(strategy.sum() - 1) > CLOSE_TO_ONE:
        raise InvalidOption(
            f"{field}.strategy", float(strategy.sum()), "is the sum of the probabilities, which must be 1"
        )
    return np.asarray(strategy / strategy.sum())
