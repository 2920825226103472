"""The answers of a solved spot as arrays in a file, written and read row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.engines import decode_shares, encode_shares
from regretless.errors import InvalidFile
from regretless.files.container import Container, Streamed
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.holdem.reading.evaluation import places
from regretless.holdem.reading.places import Place
from regretless.holdem.reading.probabilities import layout, probability_bits, streamed
from regretless.holdem.reading.reading import SpotReader

__all__ = ["FileAnswers", "packed_answers"]

ONE = 65535  # a probability of 1 in files from version 0.1.0, which have `strategy.S`


class FileAnswers:
    """Answers of a file."""

    def __init__(self, file: Container, form: PublicForm) -> None:
        self.file = file
        self.form = form
        self.begin, self.shapes = layout(form)
        self.place = places(form.tree)
        self.name = "probabilities" if "probabilities.0" in file else "strategy"
        self._last_row: dict[int, tuple[int, NDArray[Any]]] = {}  # by street: nodes of a runout are read in turn
        self._check_shapes()

    def strategy(self, node: int, runout: int) -> FloatArray:
        tree = self.form.tree
        actions = int(tree.first_child[node + 1] - tree.first_child[node])
        hands = len(self.form.hands[int(tree.player[node])].weight)
        row = self._row(int(tree.street[node]), runout)
        stored = row[self.begin[node] : self.begin[node] + (actions - 1) * hands].reshape(actions - 1, hands)
        if self.name == "probabilities":
            self._check(stored.dtype != np.float32 or bool((np.abs(stored) <= 0.5).all()))  # false for NaN too
            return decode_shares(stored)
        strategy = np.empty((actions, hands))
        strategy[:-1] = stored / ONE
        left = 1.0 - strategy[:-1].sum(axis=0)
        self._check(bool((left >= -actions / ONE).all()))
        strategy[-1] = np.maximum(left, 0.0)
        return strategy

    def _row(self, street: int, runout: int) -> NDArray[Any]:
        """The decisions of a street on a runout."""
        last = self._last_row.get(street)
        if last is None or last[0] != runout:
            last = self._last_row[street] = runout, self.file.row(f"{self.name}.{street}", runout)
        return last[1]

    @property
    def probability_bits(self) -> int:
        return self.file.bits(f"{self.name}.0")

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        row = self.file.row(f"values.{player}.{int(self.form.tree.street[node])}", runout)
        found: FloatArray = row[self.place[node]].astype(np.float64)
        self._check(bool(np.isfinite(found).all()))
        return found

    @property
    def threads(self) -> int:
        return 1  # reading takes longer than encoding

    def encoder(self, street: int, runouts: slice, rows: NDArray[Any]) -> Callable[[], None]:
        tree = self.form.tree
        nodes = np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == street)).tolist()

        def encode_rows() -> None:
            for row, runout in zip(rows, range(runouts.start, runouts.stop), strict=True):
                for node in nodes:
                    kept = encode_shares(self.strategy(node, runout), 8 * rows.itemsize).ravel()
                    row[self.begin[node] : self.begin[node] + len(kept)] = kept

        return encode_rows

    def all_values(self, player: int, street: int) -> NDArray[np.float32]:
        values = self.file.array(f"values.{player}.{street}")
        self._check(bool(np.isfinite(values).all()))
        return values

    def equities(self, player: int, node: int) -> FloatArray | None:
        name = f"equity.{player}"
        if name not in self.file:
            return None
        found: FloatArray = self.file.row(name, int(self.place[node])).astype(np.float64)
        self._check(not ((found < -0.001) | (found > 1.001)).any())  # NaN where no opposing hand is possible
        return found

    def _check(self, sound: bool) -> None:
        if not sound:
            raise InvalidFile(self.file.path, "is damaged: it contains numbers that no solve produces")

    def _check_shapes(self) -> None:
        """Check that every array has the type and shape that the spot requires."""
        form = self.form
        wide = [len(hands.weight) for hands in form.hands]
        allowed = (np.float32, np.uint16) if self.name == "probabilities" else (np.uint16,)
        for street, (runouts, size) in enumerate(self.shapes):
            self.file.check(f"{self.name}.{street}", (runouts, size), allowed)
            nodes = int(np.count_nonzero(form.tree.street == street))
            for player in range(2):
                if street < len(form.streets) - 1:
                    self.file.check(f"values.{player}.{street}", (runouts, nodes, wide[player]), (np.float32,))
                if street == 0 and f"equity.{player}" in self.file:
                    self.file.check(f"equity.{player}", (nodes, wide[player]), (np.float32,))


def packed_answers(reader: SpotReader) -> dict[str, NDArray[Any] | Streamed]:
    """Strategies of all streets, values of those before the last, equities of a flop."""
    form, answers = reader.form, reader.answers
    _, shapes = layout(form)
    bits = probability_bits(sum(runouts * size for runouts, size in shapes))
    arrays: dict[str, NDArray[Any] | Streamed] = {
        f"probabilities.{street}": streamed(answers, street, shape, bits) for street, shape in enumerate(shapes)
    }
    for street in range(len(form.streets) - 1):
        for player in range(2):
            arrays[f"values.{player}.{street}"] = answers.all_values(player, street)
    if len(form.streets) == 3:
        arrays |= _equities(reader)
    return arrays


def _equities(reader: SpotReader) -> dict[str, NDArray[Any]]:
    """Equities of both players at every node of the first street."""
    form = reader.form
    row = places(form.tree)
    found: list[Place] = []
    waiting: list[Place] = [reader.root]
    while waiting:
        found.append(here := waiting.pop())
        if form.tree.kind[here.node] == NodeKind.DECISION:
            waiting += list(reader.children(here))
    reader.find_equities(found)
    nodes = np.count_nonzero(form.tree.street == 0)
    arrays = [np.full((nodes, len(hands.weight)), np.nan, np.float32) for hands in form.hands]
    for here in found:
        for player in range(2):
            arrays[player][row[here.node]] = reader.equity(player, here)
    return {f"equity.{player}": array for player, array in enumerate(arrays)}
