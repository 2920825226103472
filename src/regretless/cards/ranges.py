"""A range: how likely each of the 1,326 hands is to be held, as a weight from 0 to 1.

`range_reader` describes the text of a range, `range_writer` how it is written back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regretless.cards.hands import HAND_CARDS, HAND_CLASS, HAND_COUNT, blocked_by, hand_text
from regretless.cards.range_reader import read_range
from regretless.cards.range_writer import write_gto_plus, write_range, write_weights
from regretless.errors import InvalidOption
from regretless.reprs import shortened

__all__ = ["FORMATS", "Range"]

MAX_REPR_LENGTH = 250  # characters
FORMATS = {"short": write_range, "gto+": write_gto_plus, "weights": write_weights}


@dataclass(frozen=True, eq=False)
class Range:
    """Weights of the 1,326 hands, in the order of `HAND_CARDS`; immutable.

    >>> opening = Range.parse("22+, A2s+, KQ, QJs-76s:0.5")
    >>> opening.combos
    154.0
    >>> str(opening)
    '22+,A2s+,KQ,QJs-76s:0.5'
    """

    weights: NDArray[np.float64]  # [1326]
    typed: str = ""  # the text it was read from, if any: what people get to see and edit

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=np.float64)  # a copy that no caller can change
        if weights.shape != (HAND_COUNT,):
            raise InvalidOption("weights", f"array of shape {weights.shape}", f"must have shape [{HAND_COUNT}]")
        wrong = np.flatnonzero(~((weights >= 0) & (weights <= 1)))
        if len(wrong):
            hand = int(wrong[0])
            raise InvalidOption("weights", float(weights[hand]), f"(of {hand_text(hand)}) must be from 0 to 1")
        weights += 0.0  # turns -0 into 0, so that equal ranges have equal bytes
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    @classmethod
    def parse(cls, text: str, field: str = "range", source: str = "", *, warn: bool = True) -> Range:
        """Read a range; errors name `field` and the position. Empty text is the empty range.

        Where terms overlap, the later one wins; an `OverlappingTerms` warning names the hands whose weight that
        changes, and the `source` of the text, such as a file; not without `warn`.
        """
        return cls(read_range(text, field, source, warn=warn), text.strip())

    def __str__(self) -> str:
        """The shortest text that `parse` reads back to this range."""
        return self._shortest

    @cached_property
    def _shortest(self) -> str:  # finding it takes milliseconds
        return write_range(self.weights)

    def to_text(self, format: str = "short") -> str:
        """The range as text: "short", "gto+" or "weights" (1,326 numbers in PioSOLVER's order). `parse` reads each.

        >>> Range.parse("QQ+, AKs:0.5").to_text("gto+")
        'AA-QQ,[50.0]AKs[/50.0]'
        """
        if format not in FORMATS:
            raise InvalidOption("format", format, f"is not one of {', '.join(FORMATS)}")
        return FORMATS[format](self.weights)

    def __repr__(self) -> str:
        text = str(self)
        if len(text) <= MAX_REPR_LENGTH:
            return f"Range.parse({text!r})"
        return f"<Range of {self.combos:g} combos: {shortened(text, MAX_REPR_LENGTH)}>"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Range) and np.array_equal(self.weights, other.weights))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.weights.tobytes())

    @property
    def combos(self) -> float:
        """Sum of the weights: the number of hands, where a hand with weight 0.5 counts half."""
        return float(self.weights.sum())

    def grid(self) -> NDArray[np.float64]:
        """Mean weight of each class, [13, 13] from aces down: suited hands above the diagonal, offsuit below."""
        totals = np.bincount(HAND_CLASS, weights=self.weights, minlength=169)
        return (totals / np.bincount(HAND_CLASS, minlength=169)).reshape(13, 13)

    def remove(self, dead: Iterable[int]) -> Range:
        """The range without the hands that contain any of these cards.

        >>> Range.parse("AA").remove([51]).combos
        3.0
        """
        return Range(np.where(blocked_by(dead), 0.0, self.weights))

    def meets(self, other: Range) -> bool:
        """Whether some hand of each can be dealt at once; counted in whole hands, so nothing is rounded."""
        own_hands, other_hands = self.weights > 0, other.weights > 0
        own_cards, other_cards = (
            np.bincount(HAND_CARDS[hands].ravel(), minlength=52) for hands in (own_hands, other_hands)
        )
        # pairs that share a card; a pair of equal hands shares two and was counted twice
        blocked = int(own_cards @ other_cards) - int(np.count_nonzero(own_hands & other_hands))
        return int(np.count_nonzero(own_hands)) * int(np.count_nonzero(other_hands)) > blocked
