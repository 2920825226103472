"""The form of a solved spot as arrays in a file, so that opening a file need not compile it.

Nothing in a file is trusted: shapes are checked against the spot, and indices against the arrays they point into.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK
from regretless.errors import InvalidFile
from regretless.files.container import Container
from regretless.forms.betting import poker_payoffs
from regretless.forms.history import IntArray
from regretless.forms.public import DEAD, BettingTree, PublicForm, Street, no_symmetry
from regretless.holdem.form.runouts import hands_of, spot_hands
from regretless.holdem.form.suits import count_runouts
from regretless.holdem.spots.spot import Spot

__all__ = ["packed_form", "unpacked_form"]

_MOST_PERMUTATIONS = 24  # of four suits
_STREET_ARRAYS = ("cards", "parent", "first_child", "first_copy", "copies")


def packed_form(form: PublicForm) -> dict[str, NDArray[Any]]:
    """The parts that take long to derive from the spot: runouts, dead hands, strengths."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, street in enumerate(form.streets):
        for name in _STREET_ARRAYS:
            arrays[f"form.{name}.{number}"] = getattr(street, name)
        arrays[f"form.probability.{number}"] = np.array([street.probability])
        for player in range(2):
            arrays[f"form.dead.{player}.{number}"] = street.dead[player]
    for player in range(2):
        arrays[f"form.permutations.{player}"] = form.permutations[player]
        arrays[f"form.strength.{player}"] = form.strength[player]
    return arrays


def unpacked_form(file: Container, spot: Spot, tree: BettingTree) -> PublicForm:
    """The form of a file; hands and payoffs come from the spot itself."""
    held = spot_hands(spot)
    hands = hands_of(held, spot.ip, spot.oop)
    reader = _FormReader(file, tuple(count_runouts(spot)), (len(held[0]), len(held[1])))
    return PublicForm(
        name=spot.name or "spot",
        deck=DECK,
        tree=tree,
        streets=tuple(reader.street(number) for number in range(len(spot.streets))),
        hands=hands,
        payoffs=poker_payoffs(tree, rake=spot.rules.rake, rake_cap=spot.rules.rake_cap),
        permutations=(reader.permutations(0), reader.permutations(1)),
        symmetry=no_symmetry(DECK, hands),  # answers are read, not solved
        strength=(reader.strength(0), reader.strength(1)),
    )


class _FormReader:
    """Arrays of the form, each checked."""

    def __init__(self, file: Container, runouts: tuple[int, ...], hands: tuple[int, int]) -> None:
        self.file = file
        self.runouts = runouts  # of each street
        self.hands = hands  # of each player
        self.group = file.entry("form.permutations.0").shape[:1]  # number of permutations
        self._check(self.group and 1 <= self.group[0] <= _MOST_PERMUTATIONS, "permutations.0")

    def street(self, number: int) -> Street:
        runouts = self.runouts[number]
        above = self.runouts[number - 1] if number else 1
        below = self.runouts[number + 1] if number + 1 < len(self.runouts) else 0
        first_copy = self._rising(f"first_copy.{number}", runouts)
        copies = self._indices(f"copies.{number}", (int(first_copy[-1]),), self.group[0])
        cards = self.file.entry(f"form.cards.{number}").shape
        self._check(len(cards) == 2 and cards[1] == (1 if number else 0), f"cards.{number}")
        probability = self._array(f"probability.{number}", (1,), np.float64)
        self._check(0 < float(probability[0]) <= 1, f"probability.{number}")
        return Street(
            cards=self._indices(f"cards.{number}", (runouts, cards[1]), DECK),
            parent=self._indices(f"parent.{number}", (runouts,), above),
            first_child=self._rising(f"first_child.{number}", runouts, end=below),
            probability=float(probability[0]),
            first_copy=first_copy,
            copies=copies,
            symmetry=np.zeros(runouts, dtype=np.int32),
            dead=(self._dead(0, number), self._dead(1, number)),
        )

    def permutations(self, player: int) -> IntArray:
        found = self._indices(f"permutations.{player}", (self.group[0], self.hands[player]), self.hands[player])
        self._check(bool((np.sort(found, axis=1) == np.arange(self.hands[player])).all()), f"permutations.{player}")
        return found

    def strength(self, player: int) -> IntArray:
        shape = self.runouts[-1], self.hands[player]
        found: IntArray = self._array(f"strength.{player}", shape, np.int8, np.int16, np.int32)
        self._check(bool((found >= DEAD).all()), f"strength.{player}")
        return found

    def _dead(self, player: int, number: int) -> NDArray[np.bool_]:
        found = self._array(f"dead.{player}.{number}", (self.runouts[number], self.hands[player]), np.bool_)
        self._check(bool((found.view(np.uint8) <= 1).all()), f"dead.{player}.{number}")
        return found

    def _rising(self, name: str, count: int, end: int | None = None) -> IntArray:
        """[count + 1] bounds of slices: rising from 0, to `end` if it is known."""
        found: IntArray = self._array(name, (count + 1,), np.int8, np.int16, np.int32, np.int64)
        rises = int(found[0]) == 0 and bool((np.diff(found) >= 0).all())
        self._check(rises and (end is None or int(found[-1]) == end), name)
        return found

    def _indices(self, name: str, shape: tuple[int, ...], below: int) -> IntArray:
        found: IntArray = self._array(name, shape, np.int8, np.int16, np.int32, np.int64)
        self._check(bool(((found >= 0) & (found < below)).all()), name)
        return found

    def _array(self, name: str, shape: tuple[int, ...], *dtypes: type[np.generic]) -> NDArray[Any]:
        self.file.check(f"form.{name}", shape, dtypes)
        return self.file.array(f"form.{name}")

    def _check(self, sound: object, name: str) -> None:
        if not sound:
            raise InvalidFile(self.file.path, f"is damaged: form.{name} does not fit its spot")
