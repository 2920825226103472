"""Hands that a suit permutation exchanges stay bit-identical, however long a solve runs, in 32 and 16 bits."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.cards.hands import HAND_CARDS
from regretless.engines.layout import LANES, make_layout
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.errors import InvalidOption, InvalidText
from regretless.forms.public import NodeKind, PublicForm
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.form.runouts import compile_holdem, holdem_hands
from regretless.holdem.problem import compile_spot, solve_spot
from regretless.holdem.spots.spot import Spot
from regretless.variants import schedule
from regretless.variants.presets import PRESETS

DATA = Path(__file__).parent.parent / "data"
NO_THRESHOLDS = {"add_allin": 0, "force_allin": 0, "merge": 0}


def spot(board: str, oop: str, ip: str, **rest: Any) -> Spot:
    given = {"pot": 100, "stack": 300, "bets": {"bet": "100%"}, "rules": NO_THRESHOLDS} | rest
    return Spot.from_mapping({"board": board, "oop": {"range": oop}, "ip": {"range": ip}, **given})


DRIFTING_TURN = spot("7c 7s 4d 7h", "JTs-J3s", "JTs-J3s", stack=600)
BLOCKED_RIVER = spot("9d Qs Qd As Ad", "Ah4d", "AhJs, AhKh, 7c5c:0.0001")
MERGED = {
    "river": spot("7c 7s 4d 7h 7d", "JTs-J3s, AK", "JTs-J3s, QQ"),
    "turn": DRIFTING_TURN,
    "rainbow turn": spot("7c 7s 4d 7h", "JTs-J3s, AKo", "QQ, A9, JTo"),
    "monotone flop": spot("Kh 8h 3h", "QQ, A5s", "JJ, A4s", stack=100, bets={"bet": "a"}),
    "paired flop": spot("8s 8h 3h", "AK", "QQ, 76s", stack=100, bets={"bet": "a"}),
}


def runout_boards(form: PublicForm, board: tuple[int, ...], street: int) -> list[tuple[int, ...]]:
    """The board of every runout of a street."""
    tables = [board]
    for number in range(1, street + 1):
        here = form.streets[number]
        tables = [(*tables[parent], *cards) for parent, cards in zip(here.parent, here.cards.tolist(), strict=True)]
    return tables


@cache
def suit_maps() -> list[tuple[np.ndarray, np.ndarray]]:
    """The image of every card and hand under each renaming of suits."""
    lookup = {tuple(cards): hand for hand, cards in enumerate(HAND_CARDS.tolist())}
    found = []
    for suits in permutations(range(4)):
        card_map = np.array([card // 4 * 4 + suits[card % 4] for card in range(52)])
        hands = [lookup[tuple(sorted(card_map[list(cards)]))] for cards in HAND_CARDS.tolist()]
        found.append((card_map, np.array(hands)))
    return found


def suit_maps_that_keep(board: tuple[int, ...], start: int, weights: list[np.ndarray]) -> list[np.ndarray]:
    """Hand maps that preserve the set of starting cards, each later card, and both ranges, by exhaustive search."""
    return [
        hand_map
        for card_map, hand_map in suit_maps()
        if set(card_map[list(board[:start])]) == set(board[:start])
        and all(card_map[card] == card for card in board[start:])
        and all(np.array_equal(each[hand_map], each) for each in weights)
    ]


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("name", MERGED)
def test_numbers_stay_equal_to_the_last_bit(name: str, storage: int) -> None:
    given = MERGED[name]
    form = compile_spot(given)
    engine = NumbaPublicEngine(form, storage=storage)
    engine.advance(schedule(PRESETS["postflop"], 1, 300 if len(given.board) > 3 else 30))
    snapshot, layout = engine.snapshot(), make_layout(form)
    held = [holdem_hands(given.board, given.ip), holdem_hands(given.board, given.oop)]
    weights = [given.ip.remove(given.board).weights, given.oop.remove(given.board).weights]
    compared = 0
    for street in range(len(form.streets)):
        nodes = np.flatnonzero((form.tree.kind == NodeKind.DECISION) & (form.tree.street == street))
        boards = runout_boards(form, given.board, street)
        chosen = range(len(boards)) if len(boards) < 60 else range(0, len(boards), 29)
        for runout in chosen:
            for hand_map in suit_maps_that_keep(boards[runout], len(given.board), weights)[1:]:
                for node in nodes.tolist():
                    mine = held[int(form.tree.player[node])]
                    image = np.searchsorted(mine, hand_map[mine])
                    for name in ("regret", "average"):
                        numbers = snapshot.arrays[f"{name}.{form.tree.player[node]}"]
                        rows = layout.read(numbers, node, slice(runout, runout + 1))[0]
                        np.testing.assert_array_equal(rows[:, image], rows)
                        compared += 1
    assert compared > 0


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("iterations", [200, 1000, pytest.param(5000, marks=pytest.mark.slow)])
def test_the_turn_that_drifted(iterations: int, storage: int) -> None:
    solution = solve_spot(DRIFTING_TURN, iterations=iterations, storage=storage)
    assert sum(solution.ev.values()) == pytest.approx(100, abs=1e-4)
    assert solution.ev["oop"] == pytest.approx(46.3437, abs=0.002 if iterations > 200 else 0.02)
    assert solution.exploitability_pct_pot < (0.005 if iterations > 200 else 0.06)


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("iterations", [200, 1000, 5000])
def test_a_river_whose_blockers_leave_next_to_nothing(iterations: int, storage: int) -> None:
    """oop always faces 7c5c and always wins: 100 chips, 0 for ip."""
    solution = solve_spot(BLOCKED_RIVER, iterations=iterations, storage=storage)
    assert solution.ev["oop"] == pytest.approx(100, abs=1e-4)
    assert solution.ev["ip"] == pytest.approx(0, abs=1e-4)
    # In 16 bits, averages of 2e-6 come and go.
    assert 0 <= solution.exploitability_pct_pot < {32: 1e-4, 16: 1e-3}[storage]
    assert solution.exploitability == pytest.approx(solution.verify().exploitability, abs=1e-5)


def test_weights_that_would_vanish_are_refused() -> None:
    lightest = solve_spot(spot("9d Qs Qd As Ad", "Ah4d", "AhJs, AhKh, 7c5c:0.000000001"), iterations=100)
    assert lightest.ev["oop"] == pytest.approx(100, abs=1e-4)
    with pytest.raises(InvalidText, match=r"^ip\.range: '7c5c': has weight 1e-10; the smallest allowed is 1e-09"):
        spot("9d Qs Qd As Ad", "Ah4d", "AhJs, AhKh, 7c5c:0.0000000001")


def test_stacks_too_deep_for_the_arithmetic_are_refused() -> None:
    spot("9d Qs Qd As Ad", "KK", "JJ", stack=100_000)
    with pytest.raises(InvalidOption, match=r"^stack: 100001\.0 is more than 1,000 times the pot"):
        spot("9d Qs Qd As Ad", "KK", "JJ", stack=100_001)


def test_merging_suits_changes_no_answer() -> None:
    """The same turn with and without merged suits, run far beyond the point where rounding used to separate them."""
    tree = betting_tree(DRIFTING_TURN)
    ranges = DRIFTING_TURN.ip, DRIFTING_TURN.oop
    merged = compile_holdem(DRIFTING_TURN.board, *ranges, tree)
    apart = compile_holdem(DRIFTING_TURN.board, *ranges, tree, group=np.array([0]))
    assert len(merged.streets[1].parent) < len(apart.streets[1].parent) == 48
    found = []
    for form in (merged, apart):
        engine = NumbaPublicEngine(form)
        engine.advance(schedule(PRESETS["discounted"], 1, 1500))
        found.append(engine.evaluate())
    np.testing.assert_allclose(found[0].values, found[1].values, atol=1e-4)
    assert max(each.exploitability for each in found) < 5e-3


def test_a_state_that_drifted_is_made_equal_when_it_is_restored() -> None:
    form = compile_spot(DRIFTING_TURN)
    clean, drifted = NumbaPublicEngine(form), NumbaPublicEngine(form)
    clean.advance(schedule(PRESETS["postflop"], 1, 50))
    snapshot, layout = clean.snapshot(), make_layout(form)
    random = np.random.default_rng(0)
    for player in range(2):
        alike = form.symmetry.hands[player]
        for node in np.flatnonzero((form.tree.kind == NodeKind.DECISION) & (form.tree.player == player)).tolist():
            street = form.streets[form.tree.street[node]]
            for runout, symmetry in enumerate(street.symmetry):
                others = np.flatnonzero(alike[symmetry] != np.arange(alike.shape[1]))
                for hand in others.tolist():
                    rows = layout.node_rows(snapshot.arrays[f"regret.{player}"], node)[runout]
                    rows[hand // LANES, :, hand % LANES] *= 1 + 0.01 * random.random()
    drifted.restore(snapshot)
    for name, numbers in clean.snapshot().arrays.items():
        np.testing.assert_array_equal(drifted.snapshot().arrays[name], numbers)
