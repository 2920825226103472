"""Random spots, small enough to solve quickly: the same seed gives the same spot.

Boards with interchangeable suits (one suit, two, pairs, three of a kind) are more frequent than in real deals, and most
ranges preserve the symmetry. Ranges are narrow or wide, with weights down to 1e-5; some spots pay rake, and sizes and
thresholds are unusual.
"""

from __future__ import annotations

import random
from typing import Any

from regretless.cards.hands import CLASS_NAMES
from regretless.errors import InvalidOption
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.spots.spot import Spot

RANKS = "23456789TJQKA"
LARGEST = {3: 400_000, 4: 40_000, 5: 40_000}  # entries, by the cards of the board
BETS = ("33%", "50%", "75%", "100%", "17.3%", "211%", "40%, 130%", "e", "a", "60%, a")
RAISES = ("", "2.5x", "50%", "a", "3x, a")
WEIGHTS = (1.0, 0.5, 0.25, 0.75, 0.1, 1e-3, 1e-5)


def random_spot(seed: int, cards: int) -> Spot:
    """A spot whose board has that many cards."""
    source = random.Random(1000 * seed + cards)
    while True:
        try:
            spot = Spot.from_mapping(_fields(source, cards))
        except InvalidOption:  # the board blocks a whole range, or the ranges always share a card
            continue
        if estimate_spot(spot).entries <= LARGEST[cards]:
            return spot


def narrow_flop(seed: int) -> Spot:
    """A flop with one to twelve combos in each range, so that few turn cards matter."""
    source = random.Random(seed)
    deck = [rank + suit for rank in RANKS for suit in "cdhs"]
    while True:
        board, left = _board(source, 3), deck.copy()
        for card in board.split():
            left.remove(card)
        ranges = []
        for _ in range(2):
            combos = ["".join(source.sample(left, 2)) for _ in range(source.randint(1, 12))]
            ranges.append(", ".join(f"{combo}:{source.choice(WEIGHTS):.5f}" for combo in combos))
        fields = {
            "board": board,
            "pot": 10,
            "stack": source.choice([5, 20, 60]),
            "oop": {"range": ranges[0]},
            "ip": {"range": ranges[1]},
            "bets": {"bet": source.choice(["a", "50%", "120%"])},
            "rules": _rules(source, 10),
        }
        try:
            spot = Spot.from_mapping(fields)
        except InvalidOption:  # the ranges always share a card
            continue
        if estimate_spot(spot).entries <= LARGEST[3]:
            return spot


def _fields(source: random.Random, cards: int) -> dict[str, Any]:
    pot = source.choice([10, 55, 100, 168, 1000])
    bets: dict[str, Any] = {"bet": source.choice(BETS), "raise": source.choice(RAISES)}
    if cards == 3:
        bets = {"bet": source.choice(["a", "75%", "120%"])}
    first, second = _range(source, cards), _range(source, cards)
    return {
        "board": _board(source, cards),
        "pot": pot,
        "stack": round(pot * source.choice([0.3, 0.8, 1.5, 3, 6, 9.7]), 1),
        "oop": {"range": first},
        "ip": {"range": first if source.random() < 0.25 else second},
        "bets": bets,
        "rules": _rules(source, pot),
    }


def _board(source: random.Random, cards: int) -> str:
    kind = source.choice(["one suit", "one suit", "two suits", "pair", "pair", "three", "two pairs", "any"])
    while True:
        if kind in ("one suit", "two suits"):
            suits = source.sample("cdhs", 1 if kind == "one suit" else 2)
            board = [rank + source.choice(suits) for rank in source.sample(RANKS, cards)]
        elif kind == "any":
            board = source.sample([rank + suit for rank in RANKS for suit in "cdhs"], cards)
        else:
            repeats = {"pair": [2], "three": [3], "two pairs": [2, 2]}[kind]
            ranks = source.sample(RANKS, cards)
            board = [rank + suit for rank, count in zip(ranks, repeats) for suit in source.sample("cdhs", count)]
            board += [rank + source.choice("cdhs") for rank in ranks[len(repeats) :]]
            board = board[:cards]
        if len(set(board)) == cards:
            return " ".join(board)


def _range(source: random.Random, cards: int) -> str:
    most = {3: 3, 4: 14, 5: 60}[cards]
    count = source.choice([1, 2, source.randint(1, most), most]) if cards > 3 else source.randint(1, most)
    terms = []
    for name in source.sample(CLASS_NAMES, count):
        weight = source.choice(WEIGHTS) if source.random() < 0.4 else 1.0
        if source.random() < 0.05:  # one combo, which breaks the symmetry of suits
            suits = source.sample("cdhs", 2)
            name = name[0] + suits[0] + name[1] + (suits[0] if name.endswith("s") else suits[1])
        terms.append(name if weight == 1 else f"{name}:{weight:.5f}".rstrip("0"))
    return ", ".join(terms)


def _rules(source: random.Random, pot: float) -> dict[str, Any]:
    rules: dict[str, Any] = {
        "add_allin": source.choice([0, 0, 1.5]),
        "force_allin": source.choice([0, 0.15]),
        "merge": source.choice([0, 0.1]),
        "chip": 0.1,
        "min_bet": 0.1,
    }
    if source.random() < 0.3:
        rules |= {"rake": source.choice([0.02, 0.05, 0.1]), "rake_cap": source.choice([pot / 50, pot, 1e9])}
    return rules
