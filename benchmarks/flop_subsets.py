"""Flop subsets: a few flops with weights whose weighted means come close to those of all 1,755 classes.

    python benchmarks/flop_subsets.py solve CACHE       a one-street game on every flop, for each formation
    python benchmarks/flop_subsets.py choose CACHE      choose the subsets; writes holdem/subsets.json
    python benchmarks/flop_subsets.py measure CACHE     their error on formations that were not used to choose them;
                                                        writes benchmarks/results/flop_subsets.json

`solve` and `measure` can be limited to some formations (`solve CACHE 4bet-btn-bb`). Games already in CACHE are not
solved again, and the errors on other formations stay in the file.

The method:

1. Describe every flop by features: indicators of its texture (pairing, suits, connectedness, ranks, and pairs of
   them); the equity of each of the 169 classes of hands against any two cards, of which every range's equity is a
   mean; and, for each formation in `CHOSEN_ON`, the frequencies and EVs of a one-street game. Its bets are a third of
   the pot and the pot, with one raise, and a hand that is not folded is checked down. It is solved by CFR+ over the
   exact equities of all pairs of hands, which takes a few tenths of a second per flop.
2. Scale each feature by its standard deviation over all flops, and weigh the three kinds by `KINDS`.
3. Share out the flops of the subset among the textures (rainbow, paired two-tone, …) in proportion, divide each
   texture into so many clusters (k-means, each flop weighing as many as it stands for), and take the flop nearest to
   the centre of each. So the subset is spread like all flops, which helps every mean, and a flop's weight is
   the share of its cluster.
4. Correct the weights until weighted means of the features match those of all flops, above all the shares of the
   simple properties: least squares, pulled towards the shares of the clusters, each weight being at least `FLOOR` of
   its share.
5. Improve by exchanges: replace a flop by another near the centre of its cluster while that reduces the distance.

The error that counts is measured on formations whose games take no part in the choice. The method itself was adjusted
with the errors on `MEASURED_ON` in view. The games of `FRESH` were first solved when method, flops and weights were
final. A change to the method needs other formations, or a note that these are no longer fresh.
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

from regretless.cards.equity import add_pairs, hand_equities
from regretless.cards.evaluator import hand_strengths
from regretless.cards.hands import HAND_CARDS, HAND_CLASS
from regretless.cards.ranges import Range
from regretless.holdem.flops import ALL_FLOPS, CONNECTEDNESS, PAIRINGS, SUIT_KINDS, Flop, all_flops, texture_of
from regretless.holdem.spots.formations import formations

SIZES = (25, 49, 95, 184)
BETS = (0.33, 1.0)  # of the pot
ITERATIONS = 60
CHOSEN_ON = ("3bet-utg-bb", "3bet-co-btn")
MEASURED_ON = ("3bet-btn-bb", "srp-utg-bb")
FRESH = ("srp-btn-bb", "srp-btn-sb", "4bet-btn-bb")
RESULTS = ("oop checks", "oop bets 33%", "oop bets 100%", "ip checks", "ip bets 33%", "ip bets 100%", "EV oop")
KINDS = {"textures": 0.5, "classes": 1.0, "games": 1.0}  # weight of each kind of feature
SIMPLE = (*PAIRINGS[:2], *SUIT_KINDS, *CONNECTEDNESS, "A-high", "K-high", "Q-high")
STRONG = 1.5  # weight of the simple properties when weights are corrected
PULL = 0.5  # towards the shares of the clusters
FLOOR = 0.2  # smallest weight, in shares of its cluster
STARTS, ROUNDS = 8, 25  # of k-means
CANDIDATES = 4  # flops of a cluster that may stand for it
EXCHANGES = 2  # tries per flop
TRIES = 3  # whole choices, of which the closest is kept
DATA = Path(__file__).parent.parent / "src" / "regretless" / "holdem" / "subsets.json"
ERRORS = Path(__file__).parent / "results" / "flop_subsets.json"

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


def class_equities(cache: Path) -> Array:
    """[flops, 169] equity of each class of hands against any two cards; NaN where the flop blocks all of them."""
    file = cache / "classes.npy"
    if file.exists():
        found: Array = np.load(file)
        return found
    anything, rows = Range.parse("100%"), []
    for flop in all_flops():
        equity = hand_equities(anything, anything, flop.cards)
        held = np.flatnonzero(~np.isnan(equity))
        counts = np.bincount(HAND_CLASS[held], minlength=169)
        total = np.bincount(HAND_CLASS[held], weights=equity[held], minlength=169)
        rows.append(np.divide(total, counts, out=np.full(169, np.nan), where=counts > 0))
    np.save(file, np.array(rows))
    return np.array(rows)


def solve(cache: Path, keys: list[str]) -> None:
    """The games of formations on every flop, saved after each formation."""
    cache.mkdir(parents=True, exist_ok=True)
    for formation in formations():
        file = cache / f"{formation.key}.npy"
        if formation.key not in (keys or CHOSEN_ON + MEASURED_ON + FRESH) or file.exists():
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


@dataclass(frozen=True)
class Features:
    """What is known of all flops; the tables have mean 0 over them."""

    flops: list[Flop]
    share: Array  # [flops] of all 22,100
    table: Array  # [flops, features]
    simple: Array  # [flops, properties] that the weights must match above all
    texture: list[str]  # of each flop; trips, of which there are few, count as paired


def features(cache: Path) -> Features:
    """The features of all flops."""
    flops = all_flops()
    share = np.array([flop.multiplicity for flop in flops]) / ALL_FLOPS
    classes = class_equities(cache)
    tables = {
        "textures": texture_features(flops),
        "classes": np.where(np.isnan(classes), np.nanmean(classes, axis=0), classes),
        "games": np.hstack([np.load(cache / f"{key}.npy") for key in CHOSEN_ON]),
    }
    scaled = {kind: _scaled(table, share) for kind, table in tables.items()}
    total = sum(table.shape[1] for table in scaled.values())
    parts = [KINDS[kind] * np.sqrt(total / table.shape[1]) * table for kind, table in scaled.items()]
    simple = np.array(
        [[name in words for name in SIMPLE] for words in (texture_of(each.cards).words() for each in flops)]
    )
    textures = [texture_of(flop.cards).texture.replace("trips", "paired rainbow") for flop in flops]
    strong = STRONG * np.sqrt(total) * _scaled(simple.astype(float), share)
    return Features(flops, share, np.hstack(parts), strong, textures)


def _scaled(table: Array, share: Array) -> Array:
    centred = table - share @ table
    spread = np.sqrt(share @ centred**2)
    kept = spread > 1e-9
    scaled: Array = centred[:, kept] / spread[kept]
    return scaled


def fit(table: Array, mass: Array) -> tuple[Array, float]:
    """Weights of the rows, summing to 1 and close to `mass`, whose weighted mean is closest to 0; and the distance."""
    count, size = table.shape
    heavy = 1e3 * np.sqrt(size)  # makes the weights sum to 1
    pull = PULL * np.sqrt(size / count / mass)
    left = np.vstack([table.T, np.full(count, heavy), np.diag(pull)])
    right = np.concatenate([np.zeros(size), [heavy], pull * mass])
    least = FLOOR * mass
    above, distance = nnls(left, right - left @ least)
    weights = least + above
    return weights / weights.sum(), distance


def clusters(table: Array, share: Array, size: int, random: np.random.Generator) -> NDArray[np.int64]:
    """[flops] the cluster of each flop, by weighted k-means; the best of several starts."""
    best, found = np.inf, np.zeros(len(table), dtype=np.int64)
    squares = (table**2).sum(axis=1)
    for _ in range(STARTS):
        centres = table[random.choice(len(table), size, replace=False, p=share)]
        for _ in range(ROUNDS):
            distance = squares[:, None] - 2 * table @ centres.T + (centres**2).sum(axis=1)
            nearest = distance.argmin(axis=1)
            mass = np.bincount(nearest, weights=share, minlength=size)
            sums = np.zeros_like(centres)
            np.add.at(sums, nearest, share[:, None] * table)
            centres = np.where(mass[:, None] > 0, sums / np.maximum(mass, 1e-12)[:, None], centres)
        spread = float(share @ distance.min(axis=1))
        if spread < best and (mass > 0).all():
            best, found = spread, nearest
    return found


def strata(known: Features, size: int, random: np.random.Generator) -> NDArray[np.int64]:
    """[flops] the cluster of each flop, where no cluster mixes textures."""
    names = sorted(set(known.texture))
    mass = np.array([sum(known.share[row] for row, name in enumerate(known.texture) if name == each) for each in names])
    counts = np.maximum(1, np.floor(size * mass).astype(int))
    while counts.sum() < size:
        counts[int((size * mass / counts).argmax())] += 1
    while counts.sum() > size:
        counts[int(np.where(counts > 1, counts / (size * mass), 0).argmax())] -= 1
    found = np.zeros(len(known.flops), dtype=np.int64)
    begun = 0
    for name, count in zip(names, counts.tolist(), strict=True):
        rows = np.array([row for row, each in enumerate(known.texture) if each == name])
        part = known.share[rows] / known.share[rows].sum()
        found[rows] = begun + clusters(known.table[rows], part, count, random)
        begun += count
    return found


def choose(known: Features, size: int, random: np.random.Generator) -> tuple[list[int], Array, float]:
    """Rows of a subset, their weights and the distance: one flop of each cluster, improved by exchanges."""
    share, table = known.share, np.hstack([known.table, known.simple])
    cluster = strata(known, size, random)
    mass = np.bincount(cluster, weights=share, minlength=size)
    near: list[list[int]] = []  # of each cluster, the flops closest to its centre
    for number in range(size):
        members = np.flatnonzero(cluster == number)
        centre = share[members] @ known.table[members] / mass[number]
        apart = ((known.table[members] - centre) ** 2).sum(axis=1)
        near.append(members[np.argsort(apart)][:CANDIDATES].tolist())
    chosen = [members[0] for members in near]
    weights, best = fit(table[chosen], mass)
    for _ in range(EXCHANGES * size):
        number = int(random.integers(size))
        for row in near[number]:
            if row != chosen[number]:
                tried = [*chosen[:number], row, *chosen[number + 1 :]]
                found, distance = fit(table[tried], mass)
                if distance < best:
                    chosen, weights, best = tried, found, distance
    return chosen, weights, best


def choose_all(cache: Path) -> None:
    """Choose every subset and write the data file."""
    known = features(cache)
    random = np.random.default_rng(7)
    answer = {}
    for size in SIZES:
        began = time.monotonic()
        tries = [choose(known, size, random) for _ in range(TRIES)]
        chosen, weights, distance = min(tries, key=lambda found: found[2])
        order = sorted(zip(chosen, weights, strict=True), key=lambda each: -each[1])
        answer[str(size)] = {known.flops[row].text: round(ALL_FLOPS * float(weight), 2) for row, weight in order}
        print(f"{size}: distance {distance:.3f}, {time.monotonic() - began:.0f} s", flush=True)
    lines = [f'"{size}": {json.dumps(each)}' for size, each in answer.items()]
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


# --- the error -------------------------------------------------------------------------------------------------------


def measure(cache: Path, keys: list[str]) -> None:
    """Print and save how far the weighted means of each subset are from those of all flops."""
    flops = all_flops()
    share = np.array([flop.multiplicity for flop in flops]) / ALL_FLOPS
    place = {flop.text: row for row, flop in enumerate(flops)}
    random = np.random.default_rng(1)
    found: dict[str, list[dict[str, object]]] = {}  # by formation, in the order of the file
    for row in json.loads(ERRORS.read_text(encoding="utf-8")) if ERRORS.exists() else []:
        found.setdefault(row["formation"], []).append(row)
    print("formation      flops   frequencies, points (largest)   EV, % of the pot   random flops: points, EV")
    for key in keys or MEASURED_ON + FRESH:
        table = np.load(cache / f"{key}.npy")
        truth = share @ table
        found[key] = []
        for size, chosen in json.loads(DATA.read_text(encoding="utf-8")).items():
            rows = [place[name] for name in chosen]
            weights = np.array(list(chosen.values())) / sum(chosen.values())
            error = 100 * np.abs(weights @ table[rows] - truth)
            draws = [random.choice(len(flops), int(size), replace=False, p=share) for _ in range(200)]
            drawn = 100 * np.array([np.abs(table[each].mean(axis=0) - truth) for each in draws])
            usual = {
                "largest frequency": float(np.median(drawn[:, :-1].max(axis=1))),
                "EV oop": float(np.median(drawn[:, -1])),
            }
            points = " ".join(f"{each:.2f}" for each in error[:-1])
            print(f"{key:<14} {size:>5}   {points} ({error[:-1].max():.2f})   {error[-1]:.3f}   "
                  f"{usual['largest frequency']:.2f}, {usual['EV oop']:.3f}")  # fmt: skip
            found[key].append(
                {
                    "formation": key,
                    "flops": int(size),
                    "all_flops": dict(zip(RESULTS, truth.round(5).tolist(), strict=True)),
                    "error_percent": dict(zip(RESULTS, error.round(3).tolist(), strict=True)),
                    "random_error_percent": {name: round(each, 3) for name, each in usual.items()},
                }
            )
    lines = [json.dumps(row) for rows in found.values() for row in rows]
    ERRORS.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("solve", "choose", "measure"))
    parser.add_argument("cache", type=Path)
    parser.add_argument("formations", nargs="*", metavar="KEY")
    given = parser.parse_args()
    if unknown := set(given.formations) - {each.key for each in formations()}:
        parser.error(f"{min(unknown)}: is not a formation")
    if given.what == "choose":
        choose_all(given.cache)
    else:
        {"solve": solve, "measure": measure}[given.what](given.cache, given.formations)
