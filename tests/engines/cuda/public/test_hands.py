"""Tables of hands, and the sums that showdowns need."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from tests.engines.cuda.public.solves import many_actions, needs_gcc, with_tree
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.cuda.public.hands import max_distinct
from regretless.engines.cuda.public.records import SEGMENTS
from regretless.forms.public import DEAD, Hands, NodeKind, PublicForm


def count_distinct(
    mine: np.ndarray, my_cards: np.ndarray, theirs: np.ndarray, their_cards: np.ndarray, deck: int
) -> tuple[int, int]:
    """The most sets of hands, or of hands with a card, that own hands beat and tie."""
    groups, pairs = [0], [0]
    for own, other in zip(mine.tolist(), theirs.tolist(), strict=True):
        living = [(level, set(held)) for level, held in zip(other, their_cards.tolist(), strict=True) if level >= 0]
        found: set[tuple[int, ...]] = set()
        for strength, held in zip(own, my_cards.tolist(), strict=True):
            for card in (deck, *held) if strength >= 0 else ():
                met = [level for level, cards in living if card == deck or card in cards]
                found.add((card, sum(level < strength for level in met), sum(level <= strength for level in met)))
        groups.append(sum(card == deck for card, *_ in found))
        pairs.append(sum(card < deck for card, *_ in found))
    return max(groups), max(pairs)


@pytest.mark.parametrize("deck", [1, 2, 7, 52, 63, 64, 65, 70])
def test_different_sums_are_counted(deck: int) -> None:
    random = np.random.default_rng(deck)
    for hands, levels, dead in ((0, 5, 0.5), (1, 1, 0.0), (9, 3, 0.3), (80, 200, 0.1), (80, 5, 1.0), (120, 7000, 0.5)):
        arrays: list[Any] = []
        for count in (hands, int(random.integers(hands + 1))):
            cards = np.sort(random.integers(0, deck + 1, size=(count, 2)), axis=1).astype(np.int16)
            strength = random.integers(0, levels, size=(4, count)).astype(np.int16)
            strength[random.random(strength.shape) < dead] = DEAD
            arrays += [strength, cards]
        assert max_distinct(*arrays, deck) == count_distinct(*arrays, deck=deck)
    nothing = np.zeros((0, 3), dtype=np.int16), np.zeros((3, 2), dtype=np.int16)
    assert max_distinct(*nothing, *nothing, deck) == (0, 0)


def showdown_form(seed: int, deck: int, levels: int, counts: tuple[int, int]) -> PublicForm:
    """One street; a bet, or a showdown at once. Strengths below `levels`, some hands dead."""
    random = np.random.default_rng(seed)
    form = random_form(seed, deck=deck, streets=1, most_hands=2)
    every = np.array(list(combinations(range(deck), 2)))
    cards = [every[np.sort(random.choice(len(every), size=count, replace=False))] for count in counts]
    table = random.integers(0, levels, size=(deck, deck))
    blocked = random.random((deck, deck)) < 0.2
    dead = [blocked[held[:, 0], held[:, 1]][None] for held in cards]
    hands = []
    for own in range(2):
        place = {tuple(held): number for number, held in enumerate(cards[1 - own].tolist())}
        same = np.array([place.get(tuple(held), -1) for held in cards[own].tolist()], dtype=np.int16)
        hands.append(Hands(random.uniform(0.1, 1.0, counts[own]), cards[own].astype(np.int16), same))
    strong = [np.where(gone, DEAD, table[held[:, 0], held[:, 1]][None]) for held, gone in zip(cards, dead, strict=True)]
    alike = [np.arange(count, dtype=np.int16)[None] for count in counts]
    form = replace(
        form,
        hands=(hands[0], hands[1]),
        streets=(replace(form.streets[0], dead=(dead[0], dead[1])),),
        strength=(strong[0].astype(np.int16), strong[1].astype(np.int16)),
        permutations=(alike[0], alike[1]),
        symmetry=replace(form.symmetry, hands=(alike[0], alike[1])),
    )
    return with_tree(form, many_actions(1, 2, 1))


def slow_values(form: PublicForm, player: int) -> np.ndarray:
    """[H] what each hand wins by checking down, pair by pair."""
    mine, theirs = form.hands[player], form.hands[1 - player]
    node = int(np.flatnonzero(form.tree.kind == NodeKind.SHOWDOWN)[0])
    win, lose, tie = (each[node, player] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie))
    values = np.zeros(len(mine.weight))
    for hand, (held, strong) in enumerate(zip(mine.cards.tolist(), form.strength[player][0].tolist(), strict=True)):
        for other, (cards, strength) in enumerate(
            zip(theirs.cards.tolist(), form.strength[1 - player][0].tolist(), strict=True)
        ):
            if strong >= 0 and strength >= 0 and not set(held) & set(cards):
                pay = win if strong > strength else lose if strong < strength else tie
                values[hand] += pay * theirs.weight[other]
    return values


@needs_gcc
@pytest.mark.parametrize(
    ("seed", "deck", "levels", "counts"),
    [(1, 13, 500, (78, 70)), (2, 13, 60, (78, 78)), (3, 12, 3, (60, 5)), (4, 12, 1, (3, 66)), (5, 11, 9, (1, 55))],
)
def test_showdowns_equal_a_double_loop(seed: int, deck: int, levels: int, counts: tuple[int, int]) -> None:
    form = showdown_form(seed, deck, levels, counts)
    groups = max(len(np.unique(strong[strong >= 0])) for strong in form.strength)
    assert (groups > SEGMENTS) == (levels > SEGMENTS)
    engine = CudaPublicEngine(form, device=HostDevice())
    taken = engine.snapshot()
    for node in np.flatnonzero(form.tree.kind == NodeKind.DECISION).tolist():
        player = int(form.tree.player[node])
        children = range(*form.tree.first_child[node : node + 2])
        passive = next(k for k, child in enumerate(children) if form.tree.labels[child] in ("check", "call"))
        chosen = np.zeros((len(children), len(form.hands[player].weight)))
        chosen[passive] = 1.0
        engine.layout.write(taken.arrays[f"average.{player}"], node, 0, chosen)
    engine.restore(taken)
    for player in range(2):
        values = engine.root_values(player) * engine._met[player]
        np.testing.assert_allclose(values, slow_values(form, player), atol=2e-4)
