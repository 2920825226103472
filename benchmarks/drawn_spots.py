"""Random spots for benchmarks: a seed gives the same spot on every machine.

Half are *realistic*: ranges of a common formation, thinned or not, with its pot, stacks and usual sizes. Half are
*random*: any hands, any depth, any sizes. Small trees come as often as large ones.
"""

from __future__ import annotations

import random
from typing import Any

from regretless.cards.hands import CLASS_NAMES
from regretless.errors import RegretlessError
from regretless.holdem import Spot, estimate_spot

DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
MAX_ENTRIES = {3: 24_000_000, 4: 2_500_000, 5: 200_000}  # by cards on the board
FORMATIONS = {  # name: (oop, ip, pot, stack) with oop first to act
    "big blind against button, raised": (
        "77-22, A9s-A2s, K9s-K4s, Q9s-Q6s, J9s-J7s, T9s-T7s, 98s-96s, 87s-85s, 76s-74s, 65s-64s, 54s-53s, 43s, "
        "AJo-A8o, KJo-K9o, QJo-QTo, JTo, T9o, ATs:0.5, KTs:0.7, QTs:0.6, JTs:0.5, 88:0.7, 99:0.4",
        "22+, A2s+, K5s+, Q7s+, J7s+, T7s+, 96s+, 86s+, 75s+, 64s+, 54s, A4o+, K9o+, QTo+, JTo:0.8, T9o:0.3",
        55,
        975,
    ),
    "big blind against button, three-bet": (
        "88+, ATs+, A5s-A2s:0.6, KTs+, QTs+, JTs, T9s:0.5, 76s:0.4, AQo+, KQo:0.6, AJo:0.4",
        "QQ-22, AQs-A8s, A5s-A3s, K9s+, QTs+, J9s+, T8s+, 97s+, 87s, 76s, 65s, AQo-AJo, KQo",
        225,
        890,
    ),
    "button against cutoff, called": (
        "66+, A4s+, K9s+, QTs+, JTs, T9s, 98s, ATo+, KQo, KJo:0.5",
        "JJ-44, AQs-A7s, A5s, K9s+, Q9s+, J9s+, T9s, 98s, 87s, 76s, AQo-AJo, KQo",
        75,
        960,
    ),
    "blind against blind, limped": (
        "22+, A2s+, K2s+, Q4s+, J6s+, T6s+, 95s+, 85s+, 74s+, 64s+, 53s+, A2o+, K7o+, Q8o+, J8o+, T8o+, 98o",
        "99-22, A9s-A2s, KJs-K2s, QJs-Q2s, J2s+, T4s+, 95s+, 84s+, 74s+, 63s+, 53s+, 43s, A9o-A2o, K2o+, Q5o+, J7o+",
        20,
        990,
    ),
    "four-bet": ("QQ+, AK, A5s-A4s:0.7, JJ:0.3", "JJ-99, AQs-AJs, KQs, AKo:0.6, QQ:0.5, AKs:0.5, T9s:0.3", 480, 760),
}
SIZES = ("33%", "50%", "75%", "100%", "33%, 75%", "50%, 120%", "e", "25%, 60%, 130%")
RAISES = ("", "2.5x", "3x", "60%", "a")


def draw_spot(seed: int, cards: int) -> Spot:
    """The spot for a seed, on a board of 3, 4 or 5 cards."""
    source = random.Random(10 * seed + cards)
    while True:
        fields = _realistic(source, cards) if seed % 2 else _random(source, cards)
        try:
            spot = Spot.from_mapping(fields | {"name": f"drawn-{cards}-{seed}"})
            if estimate_spot(spot).entries <= MAX_ENTRIES[cards]:
                return spot
        except RegretlessError:  # the board blocks a whole range, or the tree is too large
            continue


def _realistic(source: random.Random, cards: int) -> dict[str, Any]:
    oop, ip, pot, stack = source.choice(list(FORMATIONS.values()))
    for _ in range(cards - 3):  # some money went in on earlier streets
        bet = source.choice([0.0, 0.33, 0.66]) * pot
        if bet < stack:
            pot, stack = pot + 2 * bet, stack - bet
    return {
        "board": " ".join(source.sample(DECK, cards)),
        "pot": round(pot),
        "stack": round(min(stack, pot * source.choice([3, 6, 100]))),
        "oop": {"range": oop},
        "ip": {"range": ip},
        "bets": _sizes(source, cards),
    }


def _random(source: random.Random, cards: int) -> dict[str, Any]:
    def hands() -> str:
        chosen = source.sample(CLASS_NAMES, source.randint(5, 60))
        return ", ".join(name if source.random() < 0.6 else f"{name}:{source.uniform(0.05, 1):.2f}" for name in chosen)

    return {
        "board": " ".join(source.sample(DECK, cards)),
        "pot": 100,
        "stack": round(100 * source.uniform(0.5, 10)),
        "oop": {"range": hands()},
        "ip": {"range": hands()},
        "bets": _sizes(source, cards),
    }


def _sizes(source: random.Random, cards: int) -> dict[str, Any]:
    bets: dict[str, Any] = {"bet": source.choice(SIZES if cards > 3 else SIZES[:4]), "raise": source.choice(RAISES)}
    if cards < 5 and source.random() < 0.5:
        bets["river"] = {"bet": source.choice(SIZES), "raise": source.choice(RAISES)}
    return bets
