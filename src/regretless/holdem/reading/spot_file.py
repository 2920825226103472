"""A solved spot as arrays in a file: its form, so that opening a file need not compile it, and its results row by row.

Nothing in a file is trusted: shapes are checked against the spot, and indices against the arrays they point into.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK
from regretless.engines import decode_shares
from regretless.errors import InvalidFile
from regretless.files.container import Container, Streamed
from regretless.forms.history import AnyArray, FloatArray, IntArray
from regretless.forms.public import DEAD, BettingTree, NodeKind, PublicForm, Street, no_symmetry
from regretless.forms.walking import children
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import hands_of, spot_hands
from regretless.holdem.form.suits import count_runouts
from regretless.holdem.reading.encoded_strategies import encode_rows, layout, probability_bits, streamed
from regretless.holdem.reading.evaluation import street_rows
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.spot import Spot

__all__ = ["FileResults", "packed_form", "packed_results", "unpacked_form"]

_MAX_PERMUTATIONS = 24  # of four suits
_STREET_ARRAYS = ("cards", "parent", "first_child", "first_copy", "copies")


def packed_form(form: PublicForm) -> dict[str, NDArray[np.generic]]:
    """The parts that take long to derive from the spot: runouts, dead hands, strengths."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for number, street in enumerate(form.streets):
        for name in _STREET_ARRAYS:
            arrays[f"form.{name}.{number}"] = getattr(street, name)
        arrays[f"form.probability.{number}"] = street.probability[:1]  # all deals of a spot are equally likely
        for player in range(2):
            arrays[f"form.dead.{player}.{number}"] = street.dead[player]
    for player in range(2):
        arrays[f"form.permutations.{player}"] = form.permutations[player]
        arrays[f"form.strength.{player}"] = form.strength[player]
    return arrays


def unpacked_form(file: Container, spot: Spot, tree: BettingTree) -> PublicForm:
    """The form of a file; hands and payoffs come from the spot itself."""
    hand_numbers = spot_hands(spot)
    hands = hands_of(hand_numbers, spot.ip, spot.oop)
    reader = _FormReader(file, tuple(count_runouts(spot)), (len(hand_numbers[0]), len(hand_numbers[1])))
    return PublicForm(
        name=spot.name or "spot",
        deck=DECK,
        tree=tree,
        streets=tuple(reader.street(number) for number in range(len(spot.streets))),
        hands=hands,
        payoffs=betting_of(spot).payoffs,
        permutations=(reader.permutations(0), reader.permutations(1)),
        symmetry=no_symmetry(DECK, hands),  # results are read, not solved
        strength=(reader.strength(0), reader.strength(1)),
    )


class _FormReader:
    """Arrays of the form, each checked."""

    def __init__(self, file: Container, runouts: tuple[int, ...], hands: tuple[int, int]) -> None:
        self.file = file
        self.runouts = runouts  # of each street
        self.hands = hands  # of each player
        self.group = file.entry("form.permutations.0").shape[:1]  # number of permutations
        self._check(self.group and 1 <= self.group[0] <= _MAX_PERMUTATIONS, "permutations.0")

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
            probability=np.full(runouts, float(probability[0])),
            first_copy=first_copy,
            copies=copies,
            symmetry=np.zeros(runouts, dtype=np.int32),
            dead=(self._dead(0, number), self._dead(1, number)),
        )

    def permutations(self, player: int) -> IntArray:
        array = self._indices(f"permutations.{player}", (self.group[0], self.hands[player]), self.hands[player])
        self._check(bool((np.sort(array, axis=1) == np.arange(self.hands[player])).all()), f"permutations.{player}")
        return array

    def strength(self, player: int) -> IntArray:
        shape = self.runouts[-1], self.hands[player]
        array: IntArray = self._array(f"strength.{player}", shape, np.int8, np.int16, np.int32)
        self._check(bool((array >= DEAD).all()), f"strength.{player}")
        return array

    def _dead(self, player: int, number: int) -> NDArray[np.bool_]:
        array = self._array(f"dead.{player}.{number}", (self.runouts[number], self.hands[player]), np.bool_)
        self._check(bool((array.view(np.uint8) <= 1).all()), f"dead.{player}.{number}")
        return array

    def _rising(self, name: str, count: int, end: int | None = None) -> IntArray:
        """[count + 1] bounds of slices: rising from 0, to `end` if it is known."""
        array: IntArray = self._array(name, (count + 1,), np.int8, np.int16, np.int32, np.int64)
        rises = int(array[0]) == 0 and bool((np.diff(array) >= 0).all())
        self._check(rises and (end is None or int(array[-1]) == end), name)
        return array

    def _indices(self, name: str, shape: tuple[int, ...], below: int) -> IntArray:
        array: IntArray = self._array(name, shape, np.int8, np.int16, np.int32, np.int64)
        self._check(bool(((array >= 0) & (array < below)).all()), name)
        return array

    def _array(self, name: str, shape: tuple[int, ...], *dtypes: type[np.generic]) -> AnyArray:
        self.file.check(f"form.{name}", shape, dtypes)
        return self.file.array(f"form.{name}")

    def _check(self, sound: object, name: str) -> None:
        if not sound:
            raise InvalidFile(self.file.path, f"is damaged: form.{name} does not fit its spot")


class FileResults:
    """Strategies, values and equities as a file has them, read row by row."""

    def __init__(self, file: Container, form: PublicForm) -> None:
        self.file = file
        self.form = form
        self.begin, self.shapes = layout(form)
        self.street_row = street_rows(form.tree)
        self._last_row: dict[int, tuple[int, AnyArray]] = {}  # by street: nodes of a runout are read in turn
        self._check_shapes()

    def strategy(self, node: int, runout: int) -> FloatArray:
        tree = self.form.tree
        actions = len(children(tree, node))
        hands = len(self.form.hands[int(tree.player[node])].weight)
        row = self._row(int(tree.street[node]), runout)
        stored = row[self.begin[node] : self.begin[node] + (actions - 1) * hands].reshape(actions - 1, hands)
        self._check(stored.dtype != np.float32 or bool((np.abs(stored) <= 0.5).all()))  # false for NaN too
        return decode_shares(stored)

    def _row(self, street: int, runout: int) -> AnyArray:
        """The decisions of a street on a runout."""
        last = self._last_row.get(street)
        if last is None or last[0] != runout:
            last = self._last_row[street] = runout, self.file.row(f"probabilities.{street}", runout)
        return last[1]

    @property
    def probability_bits(self) -> int:
        return self.file.bits("probabilities.0")

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        row = self.file.row(f"values.{player}.{int(self.form.tree.street[node])}", runout)
        values: FloatArray = row[self.street_row[node]].astype(np.float64)
        self._check(bool(np.isfinite(values).all()))
        return values

    @property
    def threads(self) -> int:
        return 1  # reading takes longer than encoding

    def encoder(self, street: int, runouts: slice, rows: NDArray[np.generic]) -> Callable[[], None]:
        return partial(encode_rows, self.form, self.strategy, street, runouts, rows)

    def all_values(self, player: int, street: int) -> NDArray[np.float32]:
        values = self.file.array(f"values.{player}.{street}")
        self._check(bool(np.isfinite(values).all()))
        return values

    def equities(self, player: int, node: int) -> FloatArray | None:
        name = f"equity.{player}"
        if name not in self.file:
            return None
        equities: FloatArray = self.file.row(name, int(self.street_row[node])).astype(np.float64)
        self._check(not ((equities < -0.001) | (equities > 1.001)).any())  # NaN where no opposing hand is possible
        return equities

    def _check(self, sound: bool) -> None:
        if not sound:
            raise InvalidFile(self.file.path, "is damaged: it contains numbers that no solve produces")

    def _check_shapes(self) -> None:
        """Check that every array has the type and shape that the spot requires."""
        form = self.form
        wide = [len(hands.weight) for hands in form.hands]
        for street, (runouts, size) in enumerate(self.shapes):
            self.file.check(f"probabilities.{street}", (runouts, size), (np.float32, np.uint16))
            nodes = int(np.count_nonzero(form.tree.street == street))
            for player in range(2):
                if street < len(form.streets) - 1:
                    self.file.check(f"values.{player}.{street}", (runouts, nodes, wide[player]), (np.float32,))
                if street == 0 and f"equity.{player}" in self.file:
                    self.file.check(f"equity.{player}", (nodes, wide[player]), (np.float32,))


def packed_results(reader: SpotReader) -> dict[str, NDArray[np.generic] | Streamed]:
    """Strategies of all streets, values of those before the last, equities of a flop."""
    form, results = reader.form, reader.results
    _, shapes = layout(form)
    bits = probability_bits(sum(runouts * size for runouts, size in shapes))
    arrays: dict[str, NDArray[np.generic] | Streamed] = {
        f"probabilities.{street}": streamed(results, street, shape, bits) for street, shape in enumerate(shapes)
    }
    for street in range(len(form.streets) - 1):
        for player in range(2):
            arrays[f"values.{player}.{street}"] = results.all_values(player, street)
    if len(form.streets) == 3:
        arrays |= _equities(reader)
    return arrays


def _equities(reader: SpotReader) -> dict[str, NDArray[np.generic]]:
    """Equities of both players at every node of the first street."""
    form = reader.form
    row = street_rows(form.tree)
    line_nodes: list[LineNode] = []
    waiting: list[LineNode] = [reader.root]
    while waiting:
        line_nodes.append(node := waiting.pop())
        if form.tree.kind[node.index] == NodeKind.DECISION:
            waiting += list(reader.children(node))
    reader.find_equities(line_nodes)
    count = np.count_nonzero(form.tree.street == 0)
    arrays = [np.full((count, len(hands.weight)), np.nan, np.float32) for hands in form.hands]
    for node in line_nodes:
        for player in range(2):
            arrays[player][row[node.index]] = reader.equity(player, node)
    return {f"equity.{player}": array for player, array in enumerate(arrays)}
