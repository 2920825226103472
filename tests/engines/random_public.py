"""Random games in the public form: few cards, uneven ranges, ties, rake, trees of any shape."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np

from regretless.forms.betting import Branch, flatten, poker_payoffs
from regretless.forms.public import DEAD, Hands, NodeKind, PublicForm, Street, no_symmetry


def random_form(
    seed: int, *, deck: int = 9, streets: int = 2, most_hands: int = 30, rake: float = 0.0, weighted: bool = False
) -> PublicForm:
    """A game; if `weighted`, its deals are not equally likely."""
    random = np.random.default_rng(seed)
    tree = flatten(
        _branch(random, (1.0, 1.0), int(random.integers(2)), 0, streets, 0), starting_pot=float(random.integers(5))
    )
    cards = [_cards(random, deck, most_hands) for _ in range(2)]
    hands = tuple(_hands(random, cards[player], cards[1 - player]) for player in range(2))
    dealt = _streets(deck, streets, cards)
    if weighted:
        weights = [random.uniform(0.1, 1.0, len(street.parent)) for street in dealt[1:]]
        later = [replace(street, probability=street.probability * each) for street, each in zip(dealt[1:], weights)]
        dealt = (dealt[0], *later)
    runouts = len(dealt[-1].parent)
    strength = []
    for player in range(2):
        # Strength by cards, so that the same two cards are equally strong for both players.
        table = np.random.default_rng(seed + 1).integers(0, 6, size=(runouts, deck, deck))
        strong = table[:, cards[player][:, 0], cards[player][:, 1]]
        strength.append(np.where(dealt[-1].dead[player], DEAD, strong).astype(np.int16))
    identity = [np.arange(len(each), dtype=np.int16)[None, :] for each in cards]
    return PublicForm(
        name="random",
        deck=deck,
        tree=tree,
        streets=dealt,
        hands=(hands[0], hands[1]),
        payoffs=poker_payoffs(tree, rake=rake, rake_cap=1.5),
        permutations=(identity[0], identity[1]),
        symmetry=no_symmetry(deck, (hands[0], hands[1])),
        strength=(strength[0], strength[1]),
    )


def _branch(
    random: np.random.Generator, paid: tuple[float, float], player: int, street: int, streets: int, depth: int
) -> Branch:
    level = (max(paid), max(paid))
    children: dict[str, Branch] = {}
    if paid[player] < paid[1 - player]:
        children["fold"] = Branch(NodeKind.FOLD, paid, player)
    if depth == 0 and paid[0] == paid[1] and random.random() < 0.8:
        children["check"] = _branch(random, paid, 1 - player, street, streets, 1)
    elif street + 1 == streets:
        children["call"] = Branch(NodeKind.SHOWDOWN, level)
    else:
        children["call"] = Branch(
            NodeKind.CHANCE,
            level,
            children={"": _branch(random, level, int(random.integers(2)), street + 1, streets, 0)},
        )
    for size in range(int(random.integers(0, 3)) if depth < 3 else 0):
        owed = max(paid) + float(random.uniform(0.5, 3.0)) + size
        after = (owed, paid[1]) if player == 0 else (paid[0], owed)
        children[f"bet {size}"] = _branch(random, after, 1 - player, street, streets, depth + 1)
    return Branch(NodeKind.DECISION, paid, player, children)


def _cards(random: np.random.Generator, deck: int, most: int) -> np.ndarray:
    pairs = np.array(list(combinations(range(deck), 2)))
    chosen = np.sort(random.choice(len(pairs), size=int(random.integers(2, min(most, len(pairs)) + 1)), replace=False))
    return pairs[chosen]


def _hands(random: np.random.Generator, mine: np.ndarray, theirs: np.ndarray) -> Hands:
    index = {tuple(cards): number for number, cards in enumerate(theirs.tolist())}
    same = np.array([index.get(tuple(cards), -1) for cards in mine.tolist()], dtype=np.int16)
    return Hands(weight=random.uniform(0.1, 1.0, len(mine)), cards=mine.astype(np.int16), same=same)


def _streets(deck: int, count: int, cards: list[np.ndarray]) -> tuple[Street, ...]:
    tables: list[tuple[int, ...]] = [()]
    result = []
    for street in range(count):
        if street:
            parents = [
                (parent, card) for parent, table in enumerate(tables) for card in range(deck) if card not in table
            ]
            new_tables = [(*tables[parent], card) for parent, card in parents]
            parent_of = [parent for parent, _ in parents]
        else:
            new_tables, parent_of = tables, [0]
        dead = [np.array([np.isin(each, table).any(axis=1) for table in new_tables]) for each in cards]
        result.append(
            Street(
                cards=np.array([table[-1:] for table in new_tables], dtype=np.int8).reshape(len(new_tables), -1),
                parent=np.array(parent_of, dtype=np.int32),
                first_child=np.zeros(len(new_tables) + 1, dtype=np.int32),
                probability=np.full(len(new_tables), 1.0 / (deck - 4 - street + 1) if street else 1.0),
                first_copy=np.arange(len(new_tables) + 1, dtype=np.int32),
                copies=np.zeros(len(new_tables), dtype=np.int16),
                symmetry=np.zeros(len(new_tables), dtype=np.int32),
                dead=(dead[0], dead[1]),
            )
        )
        tables = new_tables
    for here, following in pairwise(result):
        here.first_child[:] = np.searchsorted(following.parent, np.arange(len(here.first_child)))
    return tuple(result)
