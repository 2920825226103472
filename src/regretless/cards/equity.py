"""Equity: the share of the pot that one range wins against another when all cards are dealt and nobody folds.

A deal is a hand from each range and the rest of the board, with no card repeated; its weight is the product of the two
hands' weights. A tie gives each player half.

Exact: visit every board. On each, one sweep over the hands in order of strength gives the weight in the other range
that each hand beats and ties, excluding hands that share a card with it. Boards that are the same up to a renaming of
suits that preserves both ranges and the known cards are visited once and counted with their multiplicity.

Sampled: draw pairs of hands that share no card in proportion to their weights, then the missing cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import board_text
from regretless.cards.hands import HAND_CARDS, HAND_COUNT
from regretless.cards.isomorphism import CanonicalBoards, distinct_boards, hand_maps, unchanged_by
from regretless.cards.ranges import Range
from regretless.cards.strength_tables import strength_tables
from regretless.errors import InvalidOption
from regretless.seeds import check_seed

__all__ = ["EXACT_LIMIT", "Equity", "add_pairs", "equity", "hand_equities", "hand_equities_together"]

# Hands to evaluate at most for an exact answer (about half a minute). Any two cards against any two before the flop
# takes 178 million, thanks to suit symmetry.
EXACT_LIMIT: Final = 500_000_000

MAXIMUM_SAMPLES: Final = 10**9  # takes minutes and gives a standard error of 0.002 %
_PAIRS_AT_ONCE: Final = 4_000_000  # pairs of hands drawn at a time; they take 64 MB
_BOARDS_AT_ONCE: Final = 100_000  # boards dealt at a time


@dataclass(frozen=True)
class Equity:
    """How the first range fares against the second; win, tie and lose are shares of all deals and sum to 1."""

    win: float  # share of deals the first range wins
    tie: float
    lose: float
    method: Literal["exact", "sampled"]
    boards: int  # boards visited, or deals sampled
    standard_error: float  # of either equity; 0 when exact

    @property
    def first(self) -> float:
        """Equity of the first range, 0 to 1: wins and half the ties."""
        return self.win + self.tie / 2

    @property
    def second(self) -> float:
        """Equity of the second range."""
        return self.lose + self.tie / 2


def equity(
    first: Range, second: Range, board: Sequence[int] = (), *, samples: int | None = None, seed: int = 0
) -> Equity:
    """Equity of two ranges on a board of 0, 3, 4 or 5 cards; exact unless `samples` is given.

    >>> from regretless.cards.deck import parse_board
    >>> result = equity(Range.parse("AhKh"), Range.parse("QcQd"), parse_board("Qs Jh 2h"))
    >>> round(result.first, 4), round(result.second, 4), result.method
    (0.3293, 0.6707, 'exact')
    """
    first, second = _live(first, second, board)
    if samples is not None:
        return _sampled(first, second, board, samples, seed)
    (shares,), boards = _exact_shares([(first, second)], board)
    win, tie, lose = (first.weights @ shares).tolist()
    total = win + tie + lose
    return Equity(win / total, tie / total, lose / total, method="exact", boards=boards, standard_error=0.0)


def hand_equities(hero: Range, villain: Range, board: Sequence[int] = ()) -> NDArray[np.float64]:
    """Exact equity [1326] of each hero hand against villain's range; NaN where blockers leave nothing to face.

    >>> from regretless.cards.deck import parse_board
    >>> from regretless.cards.hands import hand_index
    >>> equities = hand_equities(Range.parse("AA,KK"), Range.parse("QQ"), parse_board("Qs 7h 2c 2d 9s"))
    >>> float(equities[hand_index(50, 51)]), bool(np.isnan(equities[0]))
    (0.0, True)
    """
    (equities,) = hand_equities_together([(hero, villain)], board)
    return equities


def hand_equities_together(
    pairs: Sequence[tuple[Range, Range]], board: Sequence[int] = ()
) -> list[NDArray[np.float64]]:
    """`hand_equities` of several pairs of ranges on the same board, bit for bit, much faster than one by one."""
    live = [_live(hero, villain, board) for hero, villain in pairs]
    equities: list[NDArray[np.float64]] = [np.full(HAND_COUNT, np.nan) for _ in pairs]
    alike: dict[bytes, list[int]] = {}
    for number, pair in enumerate(live):
        alike.setdefault(_group(pair, board).tobytes(), []).append(number)
    for numbers in alike.values():
        shares, _ = _exact_shares([live[number] for number in numbers], board)
        for number, share in zip(numbers, shares, strict=True):
            hero, villain = live[number]
            faced = (hero.weights > 0) & (_met_hands(villain) > 0)  # not `share`: rounding may leave tiny nonzeros
            equities[number][faced] = (share[faced, 0] + share[faced, 1] / 2) / share[faced].sum(axis=1)
    return equities


def _live(first: Range, second: Range, board: Sequence[int]) -> tuple[Range, Range]:
    """The ranges without the hands the board blocks; refuses boards and ranges that leave nothing to deal."""
    if len(board) not in (0, 3, 4, 5) or len(set(board) & set(range(52))) != len(board):
        shown = board_text(board) if all(0 <= card < 52 for card in board) else list(board)
        raise InvalidOption("board", shown, "must be 0, 3, 4 or 5 different cards")
    live = first.remove(board), second.remove(board)
    for name, whole, remaining in zip(("first range", "second range"), (first, second), live, strict=True):
        if not remaining.weights.any():
            reason = f"is entirely blocked by the board {board_text(board)}" if board else "is empty"
            raise InvalidOption(name, str(whole), reason)
    if not live[0].meets(live[1]):
        raise InvalidOption("first range", str(first), f"always shares a card with {str(second)!r}")
    return live


def _met_hands(villain: Range) -> NDArray[np.int64]:
    """[1326] how many of villain's hands share no card with each hand."""
    in_range = villain.weights > 0
    by_card = np.bincount(HAND_CARDS[in_range].ravel(), minlength=52)
    return np.asarray(np.count_nonzero(in_range) - by_card[HAND_CARDS].sum(axis=1) + in_range)


def _met_weights(villain: Range) -> NDArray[np.float64]:
    """[1326] villain's weight that shares no card with each hand; exactly 0 where there is none."""
    overlaps = (HAND_CARDS[:, None, :, None] == HAND_CARDS[:, None]).any(axis=(2, 3))
    met: NDArray[np.float64] = np.where(overlaps, 0.0, villain.weights).sum(axis=1)
    return met


def _group(pair: tuple[Range, Range], board: Sequence[int]) -> NDArray[np.int64]:
    """Renamings of suits that leave the board and both ranges unchanged."""
    maps, group = hand_maps(), unchanged_by(board)
    for each in pair:
        group = group[(each.weights[maps[group]] == each.weights).all(axis=1)]
    return group


def _exact_shares(pairs: Sequence[tuple[Range, Range]], board: Sequence[int]) -> tuple[list[NDArray[np.float64]], int]:
    """For each pair of ranges with the same group, [1326, 3] villain's weight, over all boards, that each hero hand
    beats, ties and loses to; and boards visited.
    """
    group = _group(pairs[0], board)
    runouts = distinct_boards(5 - len(board), dead=board, group=group)
    hands = np.flatnonzero(np.any([(hero.weights > 0) | (villain.weights > 0) for hero, villain in pairs], axis=0))
    _refuse_above_limit(len(runouts.cards), len(hands))
    from regretless.cards._equity_kernels import sweep_boards, sweep_boards_together

    boards = _with_known_cards(runouts, board)
    arguments = (boards, runouts.multiplicity, HAND_CARDS[hands])
    shares_of_hands = np.zeros((len(hands), 3, len(pairs)))
    if len(pairs) == 1:
        ((hero, villain),) = pairs
        sweep_boards(
            *arguments, hero.weights[hands] > 0, villain.weights[hands], strength_tables(), shares_of_hands[:, :, 0]
        )
    else:
        weights = np.ascontiguousarray(np.stack([villain.weights[hands] for _, villain in pairs], axis=1))
        sweep_boards_together(*arguments, weights, strength_tables(), shares_of_hands)
    shares = np.zeros((len(pairs), HAND_COUNT, 3))
    shares[:, hands] = shares_of_hands.transpose(2, 0, 1)
    # One board stands for several, so equivalent hands are averaged.
    return [np.maximum(share[hand_maps()[group]].mean(axis=0), 0.0) for share in shares], len(boards)


def _refuse_above_limit(boards: int, hands: int) -> None:
    if boards * hands > EXACT_LIMIT:
        raise InvalidOption(
            "samples",
            None,
            f"would visit {boards:,} boards x {hands:,} hands, above the limit of {EXACT_LIMIT:,}: "
            "give a number of samples, such as 1000000",
        )


def _with_known_cards(runouts: CanonicalBoards, board: Sequence[int]) -> NDArray[np.uint8]:
    boards = np.broadcast_to(np.array(board, dtype=np.uint8), (len(runouts.cards), len(board)))
    return np.ascontiguousarray(np.hstack([boards, runouts.cards]))


def _sampled(first: Range, second: Range, board: Sequence[int], samples: int, seed: int) -> Equity:
    if samples < 2:
        raise InvalidOption("samples", samples, "must be at least 2")
    if samples > MAXIMUM_SAMPLES:
        raise InvalidOption("samples", samples, f"must be at most {MAXIMUM_SAMPLES:,}")
    random = np.random.default_rng(check_seed(seed, bits=63))
    wins = ties = 0
    for start in range(0, samples, _PAIRS_AT_ONCE):
        hands = _draw_hand_pairs(first, second, min(_PAIRS_AT_ONCE, samples - start), random)
        won, tied = _deal(hands, board, random)
        wins, ties = wins + won, ties + tied
    win, tie = wins / samples, ties / samples
    variance = win + tie / 4 - (win + tie / 2) ** 2  # of the result of one deal: 1, ½ or 0
    error = float(np.sqrt(variance / (samples - 1)))
    return Equity(win, tie, 1 - win - tie, method="sampled", boards=samples, standard_error=error)


def _deal(hands: NDArray[np.int64], board: Sequence[int], random: np.random.Generator) -> tuple[int, int]:
    """In how many pairs the first hand wins, and in how many it ties, each on a random board."""
    from regretless.cards._equity_kernels import sample_deals

    wins = ties = 0
    for start in range(0, len(hands), _BOARDS_AT_ONCE):
        pairs = hands[start : start + _BOARDS_AT_ONCE]
        boards = np.broadcast_to(np.array(board, dtype=np.uint8), (len(pairs), len(board)))
        dealt = np.ascontiguousarray(np.hstack([HAND_CARDS[pairs].reshape(-1, 4), boards]))
        won, tied = sample_deals(dealt, random.random((len(pairs), 5 - len(board))), strength_tables())
        wins, ties = wins + won, ties + tied
    return wins, ties


def _draw_hand_pairs(first: Range, second: Range, samples: int, random: np.random.Generator) -> NDArray[np.int64]:
    """[samples, 2] pairs of hands that share no card, drawn in proportion to the product of their weights."""
    marginal = first.weights * _met_weights(second)
    counts = random.multinomial(samples, marginal / marginal.sum())
    pairs = np.empty((samples, 2), dtype=np.int64)
    start = 0
    for hand in np.flatnonzero(counts):
        opposing = second.remove(HAND_CARDS[hand].tolist()).weights
        end = start + counts[hand]
        pairs[start:end, 0] = hand
        pairs[start:end, 1] = random.choice(HAND_COUNT, size=counts[hand], p=opposing / opposing.sum())
        start = end
    return pairs


def add_pairs(
    first: NDArray[np.int16],
    second: NDArray[np.int16],
    together: NDArray[np.bool_],
    shares: NDArray[np.float32],
    total: NDArray[np.float32],
) -> None:
    """Add one board to what every pair of hands shares: half a pot for a tie, nothing where a hand is not possible.

    `first` [H0] and `second` [H1] are strengths, below 0 for a hand that the board blocks; `together` [H0, H1] says
    which hands share no card. `shares` are the first player's, `total` counts boards.
    """
    from regretless.cards._equity_kernels import add_board

    add_board(first, second, together, shares, total)
