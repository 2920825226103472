"""Flop subsets: a few flops with weights whose weighted means come close to those of all 1,755 classes.

    python benchmarks/flop_subsets.py solve CACHE       a one-street game on every flop, for each formation
    python benchmarks/flop_subsets.py choose CACHE      choose the subsets; writes holdem/studies/subsets.json
    python benchmarks/flop_subsets.py measure CACHE     their error on formations that were not used to choose them

The method:

1. Describe every flop by features: indicators of its texture (pairing, suits, connectedness, ranks, and pairs of
   them) and, for each formation in `CHOSEN_ON`, the frequencies and EVs of a one-street game. Its bets are a third of
   the pot and the pot, with one raise, and a hand that is not folded is checked down. It is solved by CFR+ over the
   exact equities of all pairs of hands, which takes a few tenths of a second per flop.
2. Scale each feature by its standard deviation over all flops, and weigh the results of games above textures.
3. Choose flops greedily: add the one that most reduces the squared distance between the weighted means of the subset
   and those of all flops, the weights being refitted: least squares with a lower bound, pulled towards equal weights,
   since what no feature describes is averaged best by many flops of similar weight.
4. Improve by exchanges: replace one flop of the subset by one outside it while that reduces the distance.

The error that counts is measured on the formations in `MEASURED_ON`, whose games played no part in the choice.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from regretless.cards.equity import add_pairs
from regretless.cards.evaluator import hand_strengths
from regretless.cards.hands import HAND_CARDS
from regretless.cards.ranges import Range
from regretless.holdem.spots.formations import formations
from regretless.holdem.studies.flops import ALL_FLOPS, Flop, all_flops
from regretless.holdem.studies.textures import texture_of

SIZES = (25, 49, 95, 184)
BETS = (0.33, 1.0)  # of the pot
ITERATIONS = 60
CHOSEN_ON = ("3bet-utg-bb", "3bet-co-btn")
MEASURED_ON = ("3bet-btn-bb", "srp-utg-bb")
RESULTS = ("oop checks", "oop bets 33%", "oop bets 100%", "ip checks", "ip bets 33%", "ip bets 100%", "EV oop")
GAME_WEIGHT = 3.0  # of a feature from a game, against 1 for an indicator of texture
PULL = 0.5  # towards equal weights: its square is the share of a result's variance that no feature explains
FLOOR = 0.2  # smallest weight, of the mean weight
CANDIDATES = 60  # flops outside the subset tried per exchange
DATA = Path(__file__).parent.parent / "src" / "regretless" / "holdem" / "studies" / "subsets.json"

Array = NDArray[np.float64]


# --- a game on one street --------------------------------------------------------------------------------------------


def equities(flop: tuple[int, ...], oop: NDArray[np.int64], ip: NDArray[np.int64]) -> tuple[Array, Array]:
    """[H, H'] OOP's equity for each pair of hands over all runouts, and whether the pair shares no card."""
    cards = HAND_CARDS[oop], HAND_CARDS[ip]
    together = ~(cards[0][:, None, :, None] == cards[1][None, :, None, :]).any(axis=(2, 3))
    rest = [card for card in range(52) if card not in flop]
    boards = np.array([(*flop, *runout) for runout in combinations(rest, 2)], dtype=np.uint8)
    strengths = hand_strengths(boards)
    shares, total = np.zeros(together.shape, np.float32), np.zeros(together.shape, np.float32)
    for row in strengths:
        add_pairs(row[oop], row[ip], together, shares, total)
    return np.where(together, shares / np.maximum(total, 1), 0.0).astype(np.float64), together.astype(np.float64)


@dataclass(frozen=True)
class Node:
    """A node of the game on one street, in pots; the players are 0 (OOP) and 1 (IP)."""

    player: int  # who acts, or who folded; -1 at a showdown
    paid: tuple[float, float]
    children: tuple[Node, ...] = ()


def betting(player: int, paid: tuple[float, float], *, checked: bool = False, raises: int = 0) -> Node:
    """The tree from a decision on: two sizes of bets, one raise to three times the bet, then call or fold."""

    def after(amount: float) -> tuple[float, float]:
        return (amount, paid[1]) if player == 0 else (paid[0], amount)

    faced = paid[1 - player]
    if faced == 0:
        through = Node(-1, paid) if checked else betting(1 - player, paid, checked=True)
        bets = tuple(betting(1 - player, after(bet)) for bet in BETS)
        return Node(player, paid, (through, *bets))
    answers = (Node(player, paid), Node(-1, after(faced)))
    if raises == 0:
        answers = (*answers, betting(1 - player, after(3 * faced), raises=1))
    return Node(player, paid, answers)


def one_street(equity: Array, together: Array, oop: Array, ip: Array) -> list[float]:
    """Frequencies of the first decisions and OOP's EV in pots, in the order of `RESULTS`."""
    root, ranges = betting(0, (0.0, 0.0)), (oop, ip)
    shares, frees = (equity, together.T - equity.T), (together, together.T)
    regrets: dict[int, Array] = {}
    sums: dict[int, Array] = {}
    decisions = _decisions(root)
    for node in decisions:
        regrets[id(node)] = np.zeros((len(node.children), len(ranges[node.player])))
        sums[id(node)] = np.zeros_like(regrets[id(node)])

    def reaches(node: Node, of: int, reach: Array, strategies: dict[int, Array], into: list[Array]) -> None:
        """The reach of one player at every terminal, in the order of a walk."""
        if node.children:
            for action, child in enumerate(node.children):
                mine = node.player == of
                reaches(child, of, reach * strategies[id(node)][action] if mine else reach, strategies, into)
        else:
            into.append(reach)

    def values(mine: int, strategies: dict[int, Array], learn: Callable[[Node, Array, Array], None]) -> Array:
        """[H] values of the root for a player; `learn` is called with the values of each action at each decision."""
        found: list[Array] = []
        reaches(root, 1 - mine, ranges[1 - mine], strategies, found)
        stacked = np.stack(found, axis=1)
        won, met, place = shares[mine] @ stacked, frees[mine] @ stacked, iter(range(len(found)))

        def value(node: Node) -> Array:
            if not node.children:
                column, own = next(place), node.paid[mine]
                if node.player < 0:
                    return won[:, column] * (1 + 2 * own) - own * met[:, column]
                return met[:, column] * (-own if node.player == mine else 1 + node.paid[1 - mine])
            worth = np.array([value(child) for child in node.children])
            if node.player != mine:
                return np.asarray(worth.sum(axis=0))
            mean = (strategies[id(node)] * worth).sum(axis=0)
            learn(node, worth, mean)
            return np.asarray(mean)

        return value(root)

    def gain(node: Node, worth: Array, mean: Array) -> None:
        regrets[id(node)] = np.maximum(regrets[id(node)] + worth - mean, 0.0)

    for iteration in range(1, ITERATIONS + 1):
        for mine in range(2):
            now = {name: matched(table) for name, table in regrets.items()}
            values(mine, now, gain)
            _accumulate(root, mine, np.ones(len(ranges[mine])), now, sums, iteration)
    average = {name: table / np.maximum(table.sum(axis=0), 1e-12) for name, table in sums.items()}
    ev = values(0, average, lambda node, worth, mean: None)
    met = oop * (together @ ip)
    checked = ip * (together.T @ (oop * average[id(root)][0]))
    first, second = average[id(root)] @ met / met.sum(), average[id(root.children[0])] @ checked / checked.sum()
    return [*first, *second, float(oop @ ev / met.sum())]


def matched(regrets: Array) -> Array:
    """[actions, H] regret matching."""
    total = regrets.sum(axis=0)
    return np.where(total > 0, regrets / np.where(total > 0, total, 1.0), 1 / len(regrets))


def _decisions(node: Node) -> list[Node]:
    return [node, *(each for child in node.children for each in _decisions(child))] if node.children else []


def _accumulate(
    node: Node, mine: int, reach: Array, now: dict[int, Array], sums: dict[int, Array], weight: float
) -> None:
    """Add a player's strategies to the averages, weighted by own reach."""
    for action, child in enumerate(node.children):
        played = reach * now[id(node)][action] if node.player == mine else reach
        if node.player == mine:
            sums[id(node)][action] += weight * played
        _accumulate(child, mine, played, now, sums, weight)


def solve(cache: Path) -> None:
    """The games of every formation on every flop, kept after each formation."""
    cache.mkdir(parents=True, exist_ok=True)
    for formation in formations():
        file = cache / f"{formation.key}.npy"
        if formation.key not in CHOSEN_ON + MEASURED_ON or file.exists():
            continue
        ranges = Range.parse(formation.oop.range), Range.parse(formation.ip.range)
        began, rows = time.monotonic(), []
        for flop in all_flops():
            left = [each.remove(flop.cards).weights for each in ranges]
            held = [np.flatnonzero(weights) for weights in left]
            equity, together = equities(flop.cards, *held)
            rows.append(one_street(equity, together, left[0][held[0]], left[1][held[1]]))
        np.save(file, np.array(rows))
        print(f"{formation.key}: {time.monotonic() - began:.0f} s for {len(rows):,} flops", flush=True)


# --- the choice ------------------------------------------------------------------------------------------------------


def texture_features(flops: list[Flop]) -> Array:
    """[flops, indicators] of textures: each property, and each pair of properties."""
    words: list[set[str]] = []
    for flop in flops:
        found = texture_of(flop.cards)
        single = [found.pairing, found.suits, found.connectedness, f"{found.high}-high", f"{found.broadways} broadways"]
        ranks = [f"has {rank}" for rank in sorted(set(found.ranks))]
        words.append({*single, *ranks, *(f"{one}, {two}" for one, two in combinations(single, 2))})
    names = sorted(set.union(*words))
    return np.array([[float(name in each) for name in names] for each in words])


def features(cache: Path) -> tuple[list[Flop], Array, Array]:
    """Flops, their shares of all flops, and [flops, features] with mean 0 over all flops."""
    flops = all_flops()
    share = np.array([flop.flops for flop in flops]) / ALL_FLOPS
    textures = _scaled(texture_features(flops), share)
    games = _scaled(np.hstack([np.load(cache / f"{key}.npy") for key in CHOSEN_ON]), share)
    scale = GAME_WEIGHT * np.sqrt(textures.shape[1] / games.shape[1])
    return flops, share, np.hstack([textures, scale * games])


def _scaled(table: Array, share: Array) -> Array:
    centred = table - share @ table
    spread = np.sqrt(share @ centred**2)
    kept = spread > 1e-9
    scaled: Array = centred[:, kept] / spread[kept]
    return scaled


def fit(table: Array) -> tuple[Array, float]:
    """Weights of the rows, summing to 1, whose weighted mean is closest to 0, and the distance."""
    count = len(table)
    heavy = 1e3 * np.sqrt(table.shape[1])  # makes the weights sum to 1
    pull = PULL * np.sqrt(table.shape[1]) * np.eye(count)
    left = np.vstack([table.T, heavy * np.ones(count), pull])
    right = np.concatenate([np.zeros(table.shape[1]), [heavy], pull.sum(axis=1) / count])
    least = np.full(count, FLOOR / count)
    above, distance = nnls(left, right - left @ least)
    weights = least + above
    return weights / weights.sum(), distance


def choose(table: Array, share: Array, size: int, start: list[int], random: np.random.Generator) -> list[int]:
    """Rows of a subset: greedy, then exchanges."""
    chosen = list(start)
    while len(chosen) < size:
        mean = fit(table[chosen])[0] @ table[chosen] if chosen else np.zeros(table.shape[1])
        step = 1 / (len(chosen) + 1)
        moved = mean * (1 - step) + table * step  # the mean with each flop added at an equal weight
        distance = (moved**2).sum(axis=1)
        distance[chosen] = np.inf
        chosen.append(int(distance.argmin()))
    best = fit(table[chosen])[1]
    for _ in range(6 * size):
        weights, _ = fit(table[chosen])
        out = int(random.choice(len(chosen), p=_least(weights)))
        rest = chosen[:out] + chosen[out + 1 :]
        mean = weights @ table[chosen] - weights[out] * table[chosen[out]]
        distance = ((mean + weights[out] * table) ** 2).sum(axis=1)
        distance[chosen] = np.inf
        found = min(
            (fit(table[[*rest, row]])[1], row) for row in np.argsort(distance)[: max(3, CANDIDATES // size)].tolist()
        )
        if found[0] < best:
            best, chosen = found[0], [*rest, found[1]]
    return chosen


def _least(weights: Array) -> Array:
    """Chances of leaving the subset: light flops first."""
    chances = 1 / (weights + 1 / len(weights))
    return np.asarray(chances / chances.sum())


def choose_all(cache: Path) -> None:
    """Choose every subset and write the data file."""
    flops, share, table = features(cache)
    random = np.random.default_rng(7)
    answer = {}
    for size in SIZES:
        began = time.monotonic()
        chosen = choose(table, share, size, [], random)
        weights, distance = fit(table[chosen])
        order = sorted(zip(chosen, weights, strict=True), key=lambda each: -each[1])
        answer[str(size)] = {flops[row].text: round(ALL_FLOPS * float(weight), 2) for row, weight in order}
        print(f"{size}: distance {distance:.3f}, {time.monotonic() - began:.0f} s", flush=True)
    lines = [f'"{size}": {json.dumps(each)}' for size, each in answer.items()]
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


# --- the error -------------------------------------------------------------------------------------------------------


def measure(cache: Path) -> None:
    """Print how far the weighted means of each subset are from those of all flops."""
    flops = all_flops()
    share = np.array([flop.flops for flop in flops]) / ALL_FLOPS
    place = {flop.text: row for row, flop in enumerate(flops)}
    random = np.random.default_rng(1)
    print("formation      flops   frequencies, points (largest)   EV, % of the pot   random flops: points, EV")
    for key in MEASURED_ON:
        table = np.load(cache / f"{key}.npy")
        truth = share @ table
        for size, chosen in json.loads(DATA.read_text(encoding="utf-8")).items():
            rows = [place[name] for name in chosen]
            weights = np.array(list(chosen.values())) / sum(chosen.values())
            error = np.abs(weights @ table[rows] - truth)
            draws = [random.choice(len(flops), int(size), replace=False, p=share) for _ in range(200)]
            drawn = np.array([np.abs(table[each].mean(axis=0) - truth) for each in draws])
            usual = 100 * np.median(drawn[:, :-1].max(axis=1)), 100 * np.median(drawn[:, -1])
            points = " ".join(f"{100 * each:.2f}" for each in error[:-1])
            print(f"{key:<14} {size:>5}   {points} ({100 * error[:-1].max():.2f})   {100 * error[-1]:.3f}   "
                  f"{usual[0]:.2f}, {usual[1]:.3f}")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("solve", "choose", "measure"))
    parser.add_argument("cache", type=Path)
    given = parser.parse_args()
    {"solve": solve, "choose": choose_all, "measure": measure}[given.what](given.cache)
