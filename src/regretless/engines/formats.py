"""How regrets and averages are stored: one `NumberFormat` per width. Kernels always compute in 32 bits.

32 bits     floats, in chips.
16 bits     regrets are half-precision floats (eleven significant bits, from 6e-5 to 65504). Each player has a unit in
            which a hand can win or lose at most 8 to 16 per iteration, so that sums over thousands of iterations fit.
            Averages are integers: with W the total weight of all iterations, S / W is at most 1 and counted in steps of
            1 / 65535, so S ← S · decay + gain · reach · σ becomes

                s ← s · decay · (W before / W) + 65535 · gain / W · reach · σ

            where 1/256 of the reach counts as if the player always got there, so that strategies off the path of play
            do not round to 0.

Another width is one more object here, plus its conversion to and from vectors in
`numba/public/kernels/lane_formats.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InvalidOption
from regretless.forms.blockers import met
from regretless.forms.history import AnyArray, FloatArray
from regretless.forms.public import Hands, Part, PublicForm

__all__ = [
    "GOLDEN",
    "NUMBER_FORMATS",
    "SALT",
    "NumberFormat",
    "Stored",
    "can_be_cut",
    "largest_value",
    "met_weights",
    "needs_wide_sums",
    "needs_wide_tiles",
    "number_format",
]

MAX_CANCELLATION = 8  # ratio of sums to what remains of them, over all pairs of hands, that still allows 32 bits
MAX_CANCELLATION_OF_A_HAND = 1000  # the same for a single hand, since only its own strategy would suffer
MAX_TIED_SHARE = 7 / 8  # share of the opposing range that ties with a hand
MAX_TIED_HANDS = 1 / 16  # share of a range, over all runouts, that may tie with more than that
FEW_RUNOUTS = 64  # with more, as on a flop, boards that play are rare

SALT = 0x9E3779  # makes 16-bit rounding differ from iteration to iteration
GOLDEN = 0x9E3779B1  # and from hand to hand: 2³² over the golden ratio, whose multiples spread evenly

Stored = AnyArray  # regrets, averages or predictions of one player, in a format's types


@dataclass(frozen=True, kw_only=True)
class NumberFormat:
    """The types and units of stored numbers."""

    bits: int
    regret: np.dtype[np.generic]  # of regrets, and of the predictions that strategies are matched to
    average: np.dtype[np.generic]
    regret_in_kernels: np.dtype[np.generic]  # numba has no half precision on a CPU: kernels see the bits
    one: int = 1  # the average that represents a probability of 1 in every iteration
    reach_share: float = 1.0  # share of own reach in averages; the rest counts every reach as 1
    largest: float = 0.0  # largest regret of one iteration, up to a factor of 2; 0: regrets are in chips

    @property
    def entry_bytes(self) -> int:
        """Bytes of a regret and an average."""
        return self.regret.itemsize + self.average.itemsize

    def unit(self, largest_value: float) -> float:
        """The power of two by which values are multiplied, given the largest value of a hand in chips."""
        if not self.largest or largest_value <= 0:
            return 1.0
        return float(self.largest / 2.0 ** np.ceil(np.log2(largest_value)))

    def in_steps(self, decay: FloatArray, gain: FloatArray, weight: float) -> tuple[FloatArray, FloatArray, float]:
        """Decays and gains [iterations] for averages in this format, and the total weight after them.

        `weight` is the total weight before, if averages are shares of it.
        """
        if self.one == 1:
            return decay, gain, weight
        decays, gains = np.zeros(len(decay)), np.zeros(len(gain))
        for row, (factor, added) in enumerate(zip(decay.tolist(), gain.tolist(), strict=True)):
            before, weight = weight * factor, weight * factor + added
            if weight > 0:
                decays[row], gains[row] = before / weight, self.one * added / weight
        return decays, gains, weight

    def stored(self, probabilities: NDArray[np.floating], kind: np.dtype[np.generic]) -> NDArray[np.floating]:
        """Probabilities as numbers of type `kind` (`regret` or `average`) that a strategy is matched to."""
        if kind == self.average and self.one > 1:
            return np.asarray(np.rint(probabilities * self.one))
        return probabilities

    def as_kept(self, strategy: FloatArray) -> FloatArray:
        """Probabilities after being stored as averages and read back."""
        if self.one == 1:
            return np.asarray(strategy.astype(self.average), dtype=np.float64)
        return np.asarray(np.rint(strategy * self.one) / self.one)

    def in_kernels(self, numbers: Stored) -> Stored:
        """Regrets, predictions or averages as kernels see them."""
        return numbers.view(self.regret_in_kernels) if numbers.dtype == self.regret else numbers


NUMBER_FORMATS = {
    32: NumberFormat(
        bits=32, regret=np.dtype(np.float32), average=np.dtype(np.float32), regret_in_kernels=np.dtype(np.float32)
    ),
    16: NumberFormat(
        bits=16,
        regret=np.dtype(np.float16),
        average=np.dtype(np.uint16),
        regret_in_kernels=np.dtype(np.int16),
        one=2**16 - 1,
        reach_share=1 - 1 / 256,
        largest=16.0,
    ),
}


def number_format(storage: int) -> NumberFormat:
    """The format of a width in bits."""
    if storage not in NUMBER_FORMATS:
        raise InvalidOption("storage", storage, f"is not one of {', '.join(map(str, NUMBER_FORMATS))} bits")
    return NUMBER_FORMATS[storage]


def met_weights(hands: tuple[Hands, Hands], deck: int) -> tuple[FloatArray, FloatArray]:
    """[H] per player: weight of the other range that shares no card with each hand."""
    first = met(hands[0], hands[1], hands[1].weight[None], deck)[0]
    return first, first if hands[1] is hands[0] else met(hands[1], hands[0], hands[0].weight[None], deck)[0]


def largest_value(form: PublicForm, met: FloatArray, own: int) -> float:
    """The most that a player's hand can win or lose in one iteration; `met` [H] is the opposing weight it faces.

    One player's values are proportional to the other's weights, so each player has their own unit: with a common one,
    the values of the player who faces the lighter range could be too small for half precision.
    """
    return float(np.abs([form.payoffs.win[:, own], form.payoffs.lose[:, own]]).max() * met.max())


def needs_wide_tiles(hands: tuple[Hands, Hands], met: tuple[FloatArray, FloatArray]) -> bool:
    """Whether sums over the range minus sums over blockers would leave too few of 24 bits.

    `met` [H] per player is the opposing weight that each hand faces. The ratio of sums to what remains of them is
    measured over all pairs of hands, which determine exploitability, and for the worst hand.
    """
    players = range(1 if hands[1] is hands[0] else 2)
    weights = [float(hands[own].weight.sum()) for own in players]
    pairs = float(hands[0].weight @ met[0])
    smallest = [
        float(np.min(met[own], where=(met[own] > 0) & (hands[own].weight > 0), initial=weights[own - 1]))
        for own in players
    ]
    worst = max(weights[own - 1] / smallest[own] if smallest[own] > 0 else 1.0 for own in players)
    return weights[0] * weights[-1] > MAX_CANCELLATION * pairs or worst > MAX_CANCELLATION_OF_A_HAND


def needs_wide_sums(form: PublicForm, met: tuple[FloatArray, FloatArray]) -> bool:
    """Whether terminals need 64 bits in an engine that sums in 32 bits what a hand wins, loses and ties.

    A part of a form needs what the whole does, which it cannot know if that has few runouts (`can_be_cut`).
    """
    return needs_wide_tiles(form.hands, met) or (form.part is None and _ties_with_nearly_all(form))


def can_be_cut(part: Part) -> bool:
    """Whether a part of a form knows if terminals of the whole need 64 bits."""
    return part.runouts[-1] > FEW_RUNOUTS


def _ties_with_nearly_all(form: PublicForm) -> bool:
    """Whether a good part of a range ties with nearly all of the other, as where the board is a straight.

    Wins and losses then cancel, however large the bet is, and what rounding leaves of them decides what a best response
    bets. If most of a range ties with a hand, that hand is as strong as the median of the range.
    """
    if len(form.strength[0]) > FEW_RUNOUTS:
        return False
    weights = [np.where(form.strength[player] >= 0, form.hands[player].weight, 0.0) for player in range(2)]
    for own in range(2):
        strength, weight = form.strength[1 - own], weights[1 - own]
        order = np.argsort(strength, axis=1, kind="stable")
        running = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1)
        total = running[:, -1:]
        median = np.take_along_axis(order, np.argmax(running >= total / 2, axis=1)[:, None], axis=1)
        median_strength = np.take_along_axis(strength, median, axis=1)
        tied = (np.where(strength == median_strength, weight, 0.0)).sum(axis=1) > MAX_TIED_SHARE * total[:, 0]
        hands_that_tie = np.where(form.strength[own] == median_strength, weights[own], 0.0)[tied].sum()
        if hands_that_tie > MAX_TIED_HANDS * weights[own].sum():
            return True
    return False
