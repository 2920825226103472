import sys
from itertools import combinations

import numpy as np
import pytest
from phevaluator import evaluate_cards

from regretless.cards.deck import parse_board
from regretless.cards.equity import add_pairs, equity, hand_equities, hand_equities_together
from regretless.cards.hands import HAND_CARDS, hand_index
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption


def brute_force(first, second, board):
    """Every pair of hands on every board, with another evaluator: shares, and the equity of each hand."""
    cards = [set(pair) for pair in HAND_CARDS.tolist()]
    held = np.flatnonzero(first.weights + second.weights).tolist()
    pairs = [
        (one, two, first.weights[one] * second.weights[two])
        for one in np.flatnonzero(first.weights).tolist()
        for two in np.flatnonzero(second.weights).tolist()
        if not cards[one] & cards[two]
    ]
    by_hand = {}
    for runout in combinations(sorted(set(range(52)) - set(board)), 5 - len(board)):
        table = [*board, *runout]
        ranks = {hand: evaluate_cards(*cards[hand], *table) for hand in held if cards[hand].isdisjoint(table)}
        for one, two, weight in pairs:
            if one in ranks and two in ranks:
                result = 0 if ranks[one] < ranks[two] else 1 if ranks[one] == ranks[two] else 2  # 1 is the best rank
                by_hand.setdefault(one, [0.0, 0.0, 0.0])[result] += weight
    totals = np.sum(list(by_hand.values()), axis=0)
    return totals / totals.sum(), {hand: (found[0] + found[1] / 2) / sum(found) for hand, found in by_hand.items()}


def random_range(random, count):
    weights = np.zeros(1326)
    weights[random.choice(1326, size=count, replace=False)] = random.random(count)
    return Range(weights)


def symmetric_range(random, count):
    """Whole classes, so that suits are interchangeable."""
    names = ["AA", "77", "22", "AKs", "KQo", "76s", "T9o", "A5s"]
    return Range.parse(",".join(random.choice(names, size=count, replace=False)))


@pytest.mark.parametrize("make_range", [random_range, symmetric_range])
@pytest.mark.parametrize(("street", "hands"), [(5, 80), (4, 20), (3, 3)])
@pytest.mark.parametrize("seed", [1, 2])
def test_exact_equity_matches_counting_every_deal(make_range, street, hands, seed):
    random = np.random.default_rng([street, seed])
    board = random.choice(52, size=street, replace=False).tolist()
    hands = min(hands, 2 if street == 3 else 4) if make_range is symmetric_range else hands
    first, second = make_range(random, hands), make_range(random, hands)
    if street < 5:
        second = Range(np.maximum(second.weights, 0.5 * (first.weights > 0)))  # so that the ranges overlap
    shares, by_hand = brute_force(first, second, board)
    result = equity(first, second, board)
    np.testing.assert_allclose([result.win, result.tie, result.lose], shares, atol=1e-12)
    assert result.first + result.second == pytest.approx(1)
    assert (result.method, result.standard_error) == ("exact", 0)
    equities = hand_equities(first, second, board)
    assert set(np.flatnonzero(~np.isnan(equities)).tolist()) == set(by_hand)
    np.testing.assert_allclose([equities[hand] for hand in by_hand], list(by_hand.values()), atol=1e-9)


def test_known_equities_before_the_flop():
    assert equity(Range.parse("AA"), Range.parse("KK")).first == pytest.approx(0.8195, abs=1e-4)
    assert equity(Range.parse("AsAh"), Range.parse("KdKc")).first == pytest.approx(0.8126, abs=1e-4)  # no shared suit


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [("AsAh", "KdKc"), ("AhKh", "QsQh")])
def test_two_hands_before_the_flop_match_all_boards(first, second):
    shares, _ = brute_force(Range.parse(first), Range.parse(second), [])
    result = equity(Range.parse(first), Range.parse(second))
    np.testing.assert_allclose([result.win, result.tie, result.lose], shares, atol=1e-12)


def test_a_range_against_itself_is_even():
    for board in ("Qs Jh 2h", "Qs Jh 2h 7c"):
        held = Range.parse("22+,A2s+,KQ:0.3,76s+")
        assert equity(held, held, parse_board(board)).first == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("board", ["", "Qs Jh 2h", "Qs Jh 2h 7c", "Qs Jh 2h 7c 7d"])
def test_samples_agree_with_the_exact_answer(board):
    first, second = Range.parse("AA,KQs:0.5,AhKh"), Range.parse("QQ,AKs,T9s:0.25")
    cards = parse_board(board)
    exact, sampled = equity(first, second, cards), equity(first, second, cards, samples=200_000, seed=3)
    assert sampled.method == "sampled"
    variance = exact.win + exact.tie / 4 - exact.first**2  # of the result of one deal
    assert sampled.standard_error == pytest.approx((variance / 200_000) ** 0.5, rel=0.02)
    assert abs(sampled.first - exact.first) < 4 * sampled.standard_error
    assert sampled == equity(first, second, cards, samples=200_000, seed=3)


def test_blockers_count():
    """Hero's ace of hearts leaves villain three of the six combos of aces."""
    equities = hand_equities(Range.parse("AhKd"), Range.parse("AA,QQ"), parse_board("2c 3c 4d 8h 9s"))
    assert np.flatnonzero(~np.isnan(equities)).tolist() == [hand_index(50, 45)]
    assert equities[hand_index(50, 45)] == 0


@pytest.mark.parametrize(
    ("first", "second", "board", "reason"),
    [
        ("", "AA", "", "first range: '' is empty"),
        ("AA", "AhKh", "Ah 2c 3d", "second range: 'AhKh' is entirely blocked by the board Ah 2c 3d"),
        ("AhKh", "AhQh", "", "first range: 'AhKh' always shares a card with 'AhQh'"),
        ("AA", "KK", "Ah 2c", "must be 0, 3, 4 or 5 different cards"),
    ],
)
def test_nothing_to_deal_is_refused(first, second, board, reason):
    with pytest.raises(InvalidOption) as error:
        equity(Range.parse(first), Range.parse(second), parse_board(board))
    assert reason in str(error.value)


def test_too_few_samples_are_refused():
    with pytest.raises(InvalidOption, match="samples: 1 must be at least 2"):
        equity(Range.parse("AA"), Range.parse("KK"), samples=1)


def test_too_much_work_is_counted_and_refused(monkeypatch):
    monkeypatch.setattr(sys.modules["regretless.cards.equity"], "EXACT_LIMIT", 1_000_000)
    with pytest.raises(InvalidOption, match=r"134,459 boards x 12 hands, above the limit of 1,000,000: give a number"):
        equity(Range.parse("AA"), Range.parse("KK"))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"samples": 1}, "samples: 1 must be at least 2"),
        ({"samples": 10**20}, "samples: 100000000000000000000 must be at most 1,000,000,000"),
        ({"samples": 5, "seed": -1}, "seed: -1 must be from 0 to"),
        ({"samples": 5, "seed": 2**63}, "seed: 9223372036854775808 must be from 0 to"),
    ],
)
def test_samples_and_seeds_have_limits(options: dict[str, int], reason: str) -> None:
    with pytest.raises(InvalidOption, match=reason):
        equity(Range.parse("AA"), Range.parse("KK"), **options)


def test_samples_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["regretless.cards.equity"], "_PAIRS_AT_ONCE", 1000)
    result = equity(Range.parse("AA"), Range.parse("KK"), samples=10_500)
    assert result.boards == 10_500
    assert result.first == pytest.approx(0.8195, abs=0.012)  # three standard errors


@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_hands_are_added_up(seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = (random.integers(-1, 5, size).astype(np.int16) for size in (13, 9))
    together = random.random((13, 9)) < 0.7
    shares, total = random.integers(0, 9, (2, 13, 9)).astype(np.float32)
    expected = shares.copy(), total.copy()
    for i, j in np.ndindex(13, 9):
        if first[i] >= 0 and second[j] >= 0 and together[i, j]:
            expected[0][i, j] += 1.0 if first[i] > second[j] else 0.5 if first[i] == second[j] else 0.0
            expected[1][i, j] += 1
    add_pairs(first, second, together, shares, total)
    np.testing.assert_array_equal(shares, expected[0])
    np.testing.assert_array_equal(total, expected[1])


def test_equities_computed_together_equal_those_computed_alone() -> None:
    board = parse_board("Qs Jh 2h")
    texts = ["22+, A2s+", "AA, KQs:0.3", "76s, AhKh", "100%"]  # with different symmetries
    pairs = [(Range.parse(hero), Range.parse(villain)) for hero in texts for villain in texts]
    for (hero, villain), found in zip(pairs, hand_equities_together(pairs, board), strict=True):
        assert np.array_equal(found, hand_equities(hero, villain, board), equal_nan=True)
