"""Where stored numbers are on the device: on the last street, only for the hands that a runout leaves.

A river leaves 1,081 of 1,326 hands, and nearly all numbers of a game from the deal are on rivers. There every row of a
runout, stored or working, has only these hands: *place* i of a runout has its i-th live hand. Rounding, and everything
before the last street, know hands by their numbers in the form, so answers do not depend on places. Snapshots have the
layout of all engines; numbers are moved when they are saved or read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import kernel
from regretless.engines.formats import Stored
from regretless.engines.layout import LANES, Layout, padded
from regretless.engines.threads import in_order
from regretless.forms.public import PublicForm
from regretless.forms.public_size import count_live

__all__ = ["LiveHands", "StoredLayout", "make_stored_layout", "saves_hands"]

WORTHWHILE = 0.9  # of all hands, padded: if a runout leaves at most so many
NO_HAND = -1
THREADS = 8  # that move numbers
MOVED_RUNOUTS = 512  # by a thread at a time

Int16 = NDArray[np.int16]
Int64 = NDArray[np.int64]


class LiveHands(NamedTuple):
    """The hands of one player that F runouts of the last street leave; -1 stands for none."""

    places: Int16  # [F, L]  the hand at each place, L places padded
    positions: Int16  # [F, H, padded]  the place of each hand


class StoredLayout:
    """As `Layout`, of what is on the device."""

    def __init__(self, layout: Layout, live: tuple[LiveHands, LiveHands] | None) -> None:
        self.layout, self.live = layout, live
        tree, last = layout.form.tree, len(layout.runouts) - 1
        self.hands = np.repeat(layout.hands[:, None], last + 1, axis=1)  # [2, S] on each street, padded
        if live is not None:
            self.hands[:, last] = [each.places.shape[1] for each in live]
        self.before = layout.block // layout.hands[tree.player]  # [N] actions of the player before a decision
        self.block = self.before * self.hands[tree.player, tree.street]
        self.runout_size = layout.runout_size // layout.hands[:, None] * self.hands
        ends = np.cumsum(self.runout_size * layout.runouts, axis=1)
        self.street_at, self.entries = ends - self.runout_size * layout.runouts, ends[:, -1]

    def street_rows(self, numbers: Stored, player: int, street: int) -> Stored:
        """[runouts, numbers per runout] a view of a player's numbers on a street."""
        size, begin = int(self.runout_size[player, street]), int(self.street_at[player, street])
        runouts = int(self.layout.runouts[street])
        return numbers[begin : begin + runouts * size].reshape(runouts, size)

    def node_rows(self, numbers: Stored, node: int, runouts: slice = slice(None)) -> Stored:
        """[runouts, hands / 16, actions, 16] a writable view of a decision's numbers in its player's array."""
        tree = self.layout.form.tree
        player, street = int(tree.player[node]), int(tree.street[node])
        actions = int(tree.first_child[node + 1] - tree.first_child[node])
        begin = int(self.block[node])
        rows = self.street_rows(numbers, player, street)[runouts]
        return rows[:, begin : begin + actions * int(self.hands[player, street])].reshape(len(rows), -1, actions, LANES)

    def has_places(self, street: int) -> bool:
        """Whether the rows of a street have only live hands."""
        return self.live is not None and street == len(self.layout.runouts) - 1

    def read(self, rows: Stored, node: int, runouts: slice) -> Stored:
        """[runouts, actions, H] a copy of what `node_rows` returns."""
        tree = self.layout.form.tree
        if not self.has_places(int(tree.street[node])):
            return self.layout.by_action(rows, node)
        assert self.live is not None
        player = int(tree.player[node])
        by_place = rows.transpose(0, 2, 1, 3).reshape(len(rows), rows.shape[2], -1)
        result = np.zeros((*by_place.shape[:2], len(self.layout.form.hands[player].weight)), dtype=rows.dtype)
        for each, places, target in zip(by_place, self.live[player].places[runouts], result, strict=True):
            target[:, places[places >= 0]] = each[:, places >= 0]
        return result

    def hands_at(self, node: int, runout: int, hands: NDArray[np.bool_]) -> tuple[Int64, Int64]:
        """Of some hands, those that have numbers at a decision on a runout, and where they are among its hands."""
        tree = self.layout.form.tree
        chosen = np.flatnonzero(hands)
        if not self.has_places(int(tree.street[node])):
            return chosen, chosen
        assert self.live is not None
        positions = self.live[int(tree.player[node])].positions[runout, chosen].astype(np.int64)
        return chosen[positions >= 0], positions[positions >= 0]

    # --- whole arrays ------------------------------------------------------------------------------------------------

    def from_snapshot(self, stored: Stored, player: int) -> Stored:
        """A player's numbers as they are on the device, from those of a snapshot."""
        return stored if self.live is None else self._moved(stored, player, to_places=True)

    def to_snapshot(self, stored: Stored, player: int) -> Stored:
        """The opposite; hands that a runout blocks have zeros."""
        return stored if self.live is None else self._moved(stored, player, to_places=False)

    def _moved(self, stored: Stored, player: int, *, to_places: bool) -> Stored:
        assert self.live is not None
        layout, last = self.layout, len(self.layout.runouts) - 1
        moved = np.zeros(int((self if to_places else layout).entries[player]), dtype=stored.dtype)
        whole, live = (stored, moved) if to_places else (moved, stored)
        for street in range(last):
            one, two = layout.street_rows(whole, player, street), self.street_rows(live, player, street)
            (two if to_places else one)[:] = one if to_places else two
        bits = np.dtype(f"u{stored.dtype.itemsize}")
        rows = (each.street_rows(numbers.view(bits), player, last) for each, numbers in ((layout, whole), (self, live)))
        whole_rows, live_rows = rows
        nodes = np.array(layout.decisions(player, last), dtype=np.int64)
        nodes = nodes[np.argsort(self.before[nodes])]
        actions, places = np.diff(layout.form.tree.first_child)[nodes].astype(np.int64), self.live[player].places

        def move(first: int) -> None:
            part = slice(first, first + MOVED_RUNOUTS)
            _move(whole_rows[part], live_rows[part], places[part], actions, int(layout.hands[player]), to_places)

        for _ in in_order(move, range(0, len(places), MOVED_RUNOUTS), THREADS):
            pass
        return moved


@kernel
def _move(whole: Stored, live: Stored, places: Int16, actions: Int64, hands: int, to_places: bool) -> None:
    """Move numbers of all decisions on some runouts [runouts, numbers] to places, or back."""
    count = places.shape[1]
    for runout in range(len(places)):
        before = 0
        for each in range(len(actions)):
            width = actions[each]
            for place in range(count):
                hand = places[runout, place]
                if hand < 0:
                    continue
                one = before * hands + hand // LANES * LANES * width + hand % LANES
                two = before * count + place // LANES * LANES * width + place % LANES
                for action in range(width):
                    if to_places:
                        live[runout, two + action * LANES] = whole[runout, one + action * LANES]
                    else:
                        whole[runout, one + action * LANES] = live[runout, two + action * LANES]
            before += width


def make_stored_layout(layout: Layout, *, products: bool) -> StoredLayout:
    """The layout on the device; products of matrices are for forms with few hands, which keep all of them."""
    form, runouts = layout.form, layout.runouts.tolist()
    live = count_live(form, 0), count_live(form, 1)
    if not saves_hands((len(form.hands[0].weight), len(form.hands[1].weight)), live, runouts, products=products):
        return StoredLayout(layout, None)
    first = _live_hands(form, 0, live[0])
    same = form.streets[-1].dead[1] is form.streets[-1].dead[0] and form.hands[1] is form.hands[0]
    return StoredLayout(layout, (first, first if same else _live_hands(form, 1, live[1])))


def saves_hands(
    hands: tuple[int, int], live: tuple[int, int] | None, runouts: Sequence[int], *, products: bool
) -> bool:
    """Whether rows of the last street have only live hands, of which there are at most so many."""
    if products or live is None or len(runouts) < 2 or runouts[-1] == 0:
        return False
    return padded(max(live)) <= WORTHWHILE * padded(min(hands))


def _live_hands(form: PublicForm, player: int, most: int) -> LiveHands:
    dead = form.streets[-1].dead[player]
    places = np.full((len(dead), padded(most)), NO_HAND, dtype=np.int16)
    positions = np.full((len(dead), padded(dead.shape[1])), NO_HAND, dtype=np.int16)
    runout, hand = np.nonzero(~dead)
    first = np.cumsum(np.count_nonzero(~dead, axis=1))
    place = np.arange(len(hand)) - (first - np.count_nonzero(~dead, axis=1))[runout]
    places[runout, place], positions[runout, hand] = hand, place
    return LiveHands(places, positions)
