"""The table of equities before the flop, recomputed entry by entry along slower routes."""

from itertools import combinations

import numpy as np
import pytest

from regretless.cards.equity import equity
from regretless.cards.evaluator import evaluate, hand_strengths
from regretless.cards.hands import CLASS_NAMES, HAND_CARDS, HAND_CLASS, HAND_COUNT
from regretless.cards.isomorphism import CanonicalBoards, canonical_boards, hand_maps
from regretless.cards.preflop_equities import BOARDS, CLASS_SIZES, class_equities, count_deals, pairs_of_hands
from regretless.cards.ranges import Range

APART = ~(HAND_CARDS[:, None, :, None] == HAND_CARDS[None, :, None, :]).any(axis=(2, 3))  # [1326, 1326]


def place(name: str) -> int:
    return CLASS_NAMES.index(name)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("AA", "KK", 0.8194605), ("AKs", "22", 0.4989332), ("AKo", "AKo", 0.5)],
)
def test_known_equities(first: str, second: str, expected: float) -> None:
    digits = len(str(expected)) - 2
    assert round(float(class_equities().equity[place(first), place(second)]), digits) == expected


def test_every_deal_is_won_lost_or_tied() -> None:
    table = class_equities()
    assert np.array_equal(table.wins + table.wins.T + table.ties, table.pairs * BOARDS)
    assert np.array_equal(table.ties, table.ties.T)
    assert np.array_equal(np.diag(table.wins) * 2 + np.diag(table.ties), np.diag(table.pairs) * BOARDS)
    assert (table.wins >= 0).all()
    assert (table.ties >= 0).all()
    assert table.pairs.sum() == HAND_COUNT * 1225
    assert np.array_equal(table.pairs.sum(axis=1), CLASS_SIZES * 1225)


def test_pairs_of_hands() -> None:
    pairs = pairs_of_hands()
    member = np.eye(169)[HAND_CLASS]
    assert np.array_equal(member.T @ APART @ member, pairs)
    counted = {("AA", "AA"): 6, ("AA", "KK"): 36, ("AA", "AKs"): 12, ("AKs", "AKs"): 12, ("AKo", "AKs"): 24}
    assert {names: pairs[place(names[0]), place(names[1])] for names in counted} == counted


@pytest.mark.parametrize("seed", range(4))
def test_random_entries_equal_the_equity_of_two_ranges(seed: int) -> None:
    table = class_equities()
    first, second = np.random.default_rng(seed).integers(169, size=2)
    found = equity(Range.parse(CLASS_NAMES[first]), Range.parse(CLASS_NAMES[second]))
    deals = int(table.pairs[first, second]) * BOARDS
    assert found.win * deals == pytest.approx(table.wins[first, second], abs=1e-3)
    assert found.tie * deals == pytest.approx(table.ties[first, second], abs=1e-3)


def test_an_entry_by_brute_force_over_every_board() -> None:
    """Each pair of hands of two classes that no renaming of suits turns into another, on all 1,712,304 boards."""
    table, first, second = class_equities(), place("87s"), place("96o")
    maps = hand_maps()
    seen: dict[tuple[int, int], int] = {}  # how many pairs of hands each distinct one represents
    for one in np.flatnonzero(first == HAND_CLASS):
        for other in np.flatnonzero(second == HAND_CLASS):
            if len({*HAND_CARDS[one], *HAND_CARDS[other]}) == 4:
                key = min(zip(maps[:, one].tolist(), maps[:, other].tolist(), strict=True))
                seen[key] = seen.get(key, 0) + 1
    assert 1 < len(seen) < sum(seen.values()) == table.pairs[first, second]
    wins = ties = 0
    for (one, other), times in seen.items():
        held = [*HAND_CARDS[one].tolist(), *HAND_CARDS[other].tolist()]
        left = [card for card in range(52) if card not in held]
        boards = np.array(list(combinations(left, 5)), dtype=np.uint8)
        assert len(boards) == BOARDS
        strength = [evaluate(np.hstack([np.tile(HAND_CARDS[hand], (BOARDS, 1)), boards])) for hand in (one, other)]
        wins += times * int((strength[0] > strength[1]).sum())
        ties += times * int((strength[0] == strength[1]).sum())
    assert (wins, ties) == (table.wins[first, second], table.ties[first, second])


def test_counting_deals_equals_comparing_all_pairs_of_hands() -> None:
    random = np.random.default_rng(7)
    every = canonical_boards(5)
    chosen = random.choice(len(every.cards), 5, replace=False)
    boards = CanonicalBoards(every.cards[chosen], every.multiplicity[chosen])
    wins, ties = np.zeros((2, 169, 169))
    member = np.eye(169)[HAND_CLASS]
    for board, times in zip(boards.cards, boards.multiplicity, strict=True):
        strength = hand_strengths(board.tolist()).astype(np.int64)
        live = strength >= 0
        met = APART & live[:, None] & live
        wins += times * (member.T @ (met & (strength[:, None] > strength)) @ member)
        ties += times * (member.T @ (met & (strength[:, None] == strength)) @ member)
    found = count_deals(boards)
    assert np.array_equal(found[0], wins)
    assert np.array_equal(found[1], ties)
