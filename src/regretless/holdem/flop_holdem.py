"""Flop hold'em solved from the deal on: every hand of both players, every flop."""

from __future__ import annotations

import numpy as np

from regretless.cards.hands import HAND_COUNT, hand_text
from regretless.cards.isomorphism import SUIT_PERMUTATIONS
from regretless.forms.history import IntArray
from regretless.forms.public import Kind
from regretless.holdem.reading.places import LineReader

__all__ = ["FlopHoldemReader"]


class FlopHoldemReader(LineReader):
    """Finds nodes of flop hold'em. Both players may hold any hand, and renaming suits changes nothing."""

    @property
    def group(self) -> IntArray:
        return np.arange(len(SUIT_PERMUTATIONS))

    @property
    def held(self) -> tuple[IntArray, IntArray]:
        return np.arange(HAND_COUNT), np.arange(HAND_COUNT)

    def first_round(self) -> dict[str, dict[str, float]]:
        """Information set -> action -> probability before the flop, named as the rules of the game name them."""
        found = {}
        waiting = [self.root]
        for place in waiting:  # grows while it is read
            if self.form.tree.kind[place.node] == Kind.DECISION:
                played = self.played(place)
                for hand, row in zip(played.hand, played.strategy.T, strict=True):
                    key = f"{hand_text(int(hand))}:{played.line}"
                    found[key] = dict(zip(played.actions, row.tolist(), strict=True))
                waiting += [self.act(place, action) for action in range(len(played.actions))]
        return found
