"""Which features make the best buckets, by the exploitability with real cards of what is solved with them.

    python benchmarks/bucket_features.py GAME.toml [--flops 'Qs Jh 2h, 7c 7d 7h, …'] [--features equity,regret,…]
        [--buckets '50,50,50 30,60,60'] [--warm-up 10] [--iterations 400] [--seeds 0,1] [--threads 2] [--out FILE.json]

The game is dealt on a few flops only, each for all those that differ from it by the names of the suits. For each way
to divide their situations, buckets are found, the game is solved with them, and the average strategy is priced on the
same flops, which is exact for this game. All rows have the same iterations and boards.

| features   | buckets                                                                                           |
|------------|---------------------------------------------------------------------------------------------------|
| equity     | k-means of what `regretless buckets` compares: histograms, or strength against kinds of hands     |
| percentile | equal shares by expected strength                                                                 |
| value      | k-means of the values of both players at every decision of the street (WEVA, arXiv 2605.10900)    |
| regret     | k-means of the regrets of every action of the street, of both players                             |
| root       | k-means of the square roots of these regrets, with their signs: hands that want the same are near |
| reached    | k-means of these regrets times how often the hand gets there itself                               |
| policy     | k-means of the hand's average strategies, times how often it gets there itself                    |

Values, regrets and strategies are those of `--warm-up` iterations with real cards (linear CFR) on each flop by itself,
whole ranges included; a situation that comes up on several runouts or flops has their mean. Their hundreds of columns
are reduced to 32 principal components. `0` buckets leave every situation of a street in a bucket of its own.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from machine import hardware
from numpy.typing import NDArray

from regretless import engines
from regretless.cards.features import situation_batch, strength_points
from regretless.cards.isomorphism import CARD_MAPS
from regretless.cards.situations import board_rows, first_situations, hand_situations
from regretless.engines import CentroidLookup, find_centroids
from regretless.forms.blockers import compatible
from regretless.forms.public import NodeKind, PublicForm
from regretless.holdem.buckets.division import kmeans_features
from regretless.holdem.buckets.table import NO_BUCKET
from regretless.holdem.flops import Flop, read_flops
from regretless.holdem.form.betting import Betting, betting_of
from regretless.holdem.form.runouts import runout_boards
from regretless.holdem.games.boards import SIZES, DrawnBoards, GameBuckets, acting_streets, make_form
from regretless.holdem.games.flop_pricer import FlopPricer, evaluate_game, flop_form, flop_tree
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.spots.spot_fields import STREETS, StreetName
from regretless.variants import PRESETS, schedule

FLOPS = "Qs Jh 2h, 7c 7d 4s, Ah 8d 3c, 9c 6c 5c"
COMPONENTS = 32
SAMPLE = 100_000  # situations from which centroids are computed
LEVELS = 500  # of a component
EQUITIES = ("equity", "percentile")
LEARNED = ("value", "regret", "root", "reached", "policy")  # features of a warm-up
CHUNK = 16  # runouts at a time
BATCH = 16  # boards per iteration

Float32 = NDArray[np.float32]
Features = list[Float32]  # per street, [situations, columns]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", type=Path)
    parser.add_argument("--flops", default=FLOPS)
    parser.add_argument("--features", default="equity,percentile,value,regret")
    parser.add_argument("--buckets", default="50,50,50", help="on flop, turn and river; several in one text")
    parser.add_argument("--warm-up", type=int, default=10, help="iterations with real cards")
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file for the results")
    given = parser.parse_args()
    game, flops, names = HoldemGame.read(given.game), read_flops(given.flops), given.features.split(",")
    if unknown := set(names) - {*EQUITIES, *LEARNED}:
        sys.exit(f"error: --features: {', '.join(sorted(unknown))} is not one of {', '.join((*EQUITIES, *LEARNED))}")
    covered = [Situations.on(flops, size) for size in SIZES]
    began = time.perf_counter()
    solved = [name for name in names if name in LEARNED]
    learned = learned_features(game, flops, covered, solved, given) if solved else {}
    print(f"warm-up: {time.perf_counter() - began:.0f} s", flush=True)
    rows = []
    for counts in given.buckets.split():
        for name in names:
            for seed in map(int, given.seeds.split(",")):
                buckets = SomeBuckets(covered, list(map(int, counts.split(","))), name, learned.get(name), seed, given)
                row = {"features": name, "buckets": counts, "seed": seed, "bucket_seconds": buckets.seconds}
                rows.append(row | price(game, flops, buckets, given, seed))
                print(json.dumps(rows[-1]), flush=True)
    results = {"date": datetime.date.today().isoformat(), "hardware": hardware(), "game": given.game.stem}
    results |= {name: getattr(given, name) for name in ("flops", "warm_up", "iterations", "threads")} | {"rows": rows}
    if given.out is not None:
        given.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


# --- situations and their buckets ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Situations:
    """The situations of one street on some flops, as `BoardRows` has those of one flop."""

    size: int  # cards on the board
    rows: NDArray[np.int64]  # [boards] of `canonical_boards`
    starts: NDArray[np.int64]  # [boards + 1]

    @classmethod
    def on(cls, flops: list[Flop], size: int) -> Situations:
        boards = [np.array([flop.cards], dtype=np.uint8) for flop in flops]
        for _ in range(size - 3):
            boards = [np.concatenate([with_each_card(board) for board in each]) for each in boards]
        rows = np.unique(board_rows(np.concatenate(boards))).astype(np.int64)
        first = first_situations(size).astype(np.int64)
        return cls(size, rows, np.concatenate([[0], np.cumsum(first[rows + 1] - first[rows])]))

    def of(self, boards: NDArray[np.uint8]) -> NDArray[np.int64]:
        """[n, 1326] the situation of every hand; −1 where the board blocks it."""
        rows, indices = board_rows(boards), hand_situations(boards).astype(np.int64)
        shift = self.starts[np.searchsorted(self.rows, rows)] - first_situations(self.size)[rows]
        return np.where(indices < 0, -1, indices + shift[:, None])


def with_each_card(board: NDArray[np.uint8]) -> NDArray[np.uint8]:
    left = np.setdiff1d(np.arange(52, dtype=np.uint8), board)
    return np.hstack([np.tile(board, (len(left), 1)), left[:, None]])


class SomeBuckets:
    """A card abstraction of the situations on some flops."""

    def __init__(
        self,
        covered: list[Situations],
        counts: list[int],
        name: str,
        features: Features | None,
        seed: int,
        given: argparse.Namespace,
    ) -> None:
        began = time.perf_counter()
        self._covered, self._buckets, self._counts = covered, [], []
        for street, (situations, count) in enumerate(zip(covered, counts, strict=True)):
            if count == 0:
                buckets = np.arange(situations.starts[-1])
            elif name == "percentile":
                points = batched(situations, strength_points)
                buckets = np.argsort(np.argsort(points, kind="stable")) * count // len(points)
            else:
                rows = batched(situations, kmeans_features) if features is None else whole(features[street])
                drawn = np.random.default_rng(seed).permutation(len(rows))[:SAMPLE]
                weights = np.ones(len(drawn), dtype=np.int64)
                centroids = find_centroids(rows[drawn], weights, count, seed=seed, threads=given.threads)
                buckets = CentroidLookup(centroids).labels(rows)
            if len(buckets) > NO_BUCKET and count == 0:
                sys.exit(
                    f"error: --buckets: 0 on the {STREETS[street]} would be {len(buckets):,}, more than {NO_BUCKET:,}"
                )
            self._counts.append(count or len(buckets))
            self._buckets.append(np.append(buckets, NO_BUCKET).astype(np.uint16))  # the last of blocked hands
        self.seconds = time.perf_counter() - began

    def count(self, street: StreetName) -> int:
        return self._counts[STREETS.index(street)]

    def lookup(self, boards: NDArray[np.uint8]) -> NDArray[np.uint16]:
        street = SIZES.index(boards.shape[1])
        return self._buckets[street][self._covered[street].of(boards)]


def batched(situations: Situations, features: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    """Features of all situations of a street, some boards at a time."""
    pieces = np.array_split(situations.rows, -(-len(situations.rows) // 64))
    return np.concatenate([features(situation_batch(situations.size, piece)) for piece in pieces])


def whole(rows: Float32) -> NDArray[np.uint16]:
    """Components as whole numbers, of one scale; outliers are cut off."""
    low, high = np.quantile(rows, [0.001, 0.999], axis=0)
    middle, scale = (low + high) / 2, LEVELS / (high - low).max()
    return np.clip(np.rint((rows - middle) * scale) + LEVELS // 2, 0, LEVELS).astype(np.uint16)


# --- features of a solve with real cards -----------------------------------------------------------------------------


def learned_features(
    game: HoldemGame, flops: list[Flop], covered: list[Situations], names: list[str], given: argparse.Namespace
) -> dict[str, Features]:
    """By name and street, [situations, 32] components of the means over runouts and flops."""
    sums = {(name, street): zeros(each, COMPONENTS) for name in names for street, each in enumerate(covered)}
    times = [zeros(each, 1) for each in covered]
    bases: dict[tuple[str, int], Float32] = {}  # from the first flop
    for flop in flops:
        warm_up = WarmUp.on(game, flop, given.warm_up, given.threads)
        for street, situations in enumerate(covered):
            situation = situations.of(runout_boards(warm_up.form, flop.cards)[street])[:, warm_up.hands]
            chunks = [slice(first, first + CHUNK) for first in range(0, len(situation), CHUNK)]
            for name in names:
                if (name, street) not in bases:
                    some = [warm_up.rows(name, street, chunk, situation) for chunk in chunks[::CHUNK]]
                    bases[name, street] = components(np.concatenate(some))
                for chunk in chunks:
                    rows = warm_up.rows(name, street, chunk, situation) @ bases[name, street]
                    add(sums[name, street], situation[chunk], rows)
            for chunk in chunks:
                add(times[street], situation[chunk], np.ones(((situation[chunk] >= 0).sum(), 1), dtype=np.float32))
        print(f"warm-up on {flop.text}", flush=True)
    return {
        name: [sums[name, street] / np.maximum(times[street], 1) for street in range(len(covered))] for name in names
    }


def zeros(situations: Situations, columns: int) -> Float32:
    return np.zeros((int(situations.starts[-1]), columns), dtype=np.float32)


def add(sums: Float32, situation: NDArray[np.int64], rows: Float32) -> None:
    """Add a row to each situation that is not dead; some come up more than once."""
    live = situation[situation >= 0]
    order = np.argsort(live, kind="stable")
    distinct, start = np.unique(live[order], return_index=True)
    sums[distinct] += np.add.reduceat(rows[order], start, axis=0)


def components(columns: Float32) -> Float32:
    """[columns, 32] the principal components, orthonormal; zeros if there are fewer."""
    centred = (columns - columns.mean(axis=0)).astype(np.float64)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    largest = vectors[:, ::-1][:, :COMPONENTS]
    share = values[::-1][:COMPONENTS].sum() / values.sum()
    print(f"{columns.shape[1]} columns: the components have {share:.1%} of the variance", flush=True)
    return np.pad(largest, ((0, 0), (0, COMPONENTS - largest.shape[1]))).astype(np.float32)


@dataclass(frozen=True)
class WarmUp:
    """A few iterations with real cards on one flop."""

    engine: Any
    hands: NDArray[np.integer]  # [H] of the 1,326
    decisions: list[list[int]]  # per street

    @classmethod
    def on(cls, game: HoldemGame, flop: Flop, iterations: int, threads: int) -> WarmUp:
        betting = betting_of(game)
        after_flop = flop_tree(betting.tree)
        tree = after_flop.tree
        form, hands = flop_form(flop.cards, tree, after_flop.payoffs(betting.payoffs))
        engine = engines.create("numba", form, threads=threads)
        engine.advance(schedule(PRESETS["linear"], 1, iterations))
        acts = (tree.kind == NodeKind.DECISION) & np.isin(np.arange(len(tree.kind)), list(after_flop.on_flop))
        acts |= (tree.kind == NodeKind.DECISION) & (tree.street > 0)
        return cls(engine, hands, [np.flatnonzero(acts & (tree.street == street)).tolist() for street in range(3)])

    @property
    def form(self) -> PublicForm:
        form: PublicForm = self.engine.form
        return form

    def rows(self, name: str, street: int, chunk: slice, situation: NDArray[np.int64]) -> Float32:
        """[live hands of all runouts chosen, columns] what the features of a hand are computed from."""
        columns = np.concatenate(list(self._columns(name, street, chunk)))
        return columns[:, situation[chunk] >= 0].T

    def _columns(self, name: str, street: int, chunk: slice) -> Iterator[Float32]:
        """[columns, runouts, H] of one decision after another."""
        if name == "value":
            yield from self._river_values(chunk) if street == 2 else self._early_values(street, chunk)
            return
        for node in self.decisions[street]:
            if name == "policy":
                yield self._learned("average", node, chunk)
                continue
            regrets = self._learned("regret", node, chunk)
            if name == "reached":
                regrets = regrets * self._learned("average", node, chunk).sum(axis=0)
            yield np.sign(regrets) * np.sqrt(np.abs(regrets)) if name == "root" else regrets

    def _learned(self, name: str, node: int, chunk: slice) -> Float32:
        """[actions, runouts, H] at a decision."""
        numbers = self.engine.snapshot(copy=False).arrays[f"{name}.{self.form.tree.player[node]}"]
        rows: Float32 = self.engine.layout.read(numbers, node, chunk).swapaxes(0, 1)
        return rows

    @cached_property
    def _values(self) -> list[list[Float32]]:
        return [self.engine.values_before_last(player) for player in range(2)]

    def _early_values(self, street: int, chunk: slice) -> Iterator[Float32]:
        row = np.cumsum(self.form.tree.street == street) - 1  # of each node among those of the street
        for values in self._values:
            yield values[street][chunk][:, row[self.decisions[street]]].swapaxes(0, 1)

    # Engines give no values on the last street: everything below computes those of the average strategies there.

    def _river_values(self, chunk: slice) -> Iterator[Float32]:
        """[decisions, runouts, H] each player's values times the opposing reach."""
        tree, payoffs = self.form.tree, self.form.payoffs
        strategies = {node: self._strategy(node, chunk) for node in np.flatnonzero(tree.kind == NodeKind.DECISION)}
        reach = self._reach(strategies, chunk)
        last = np.flatnonzero(tree.street == 2).tolist()
        met, won = self._against([each for node in last for each in reach[node]], chunk)
        for own in range(2):
            values: dict[int, Float32] = {}
            for node in reversed(last):
                if tree.kind[node] == NodeKind.DECISION:
                    below = [values[child] for child in range(tree.first_child[node], tree.first_child[node + 1])]
                    plays = strategies[node] if tree.player[node] == own else np.ones_like(strategies[node])
                    values[node] = (plays * np.array(below)).sum(axis=0)
                    continue
                win, lose, tie = (np.float32(each[node, own]) for each in (payoffs.win, payoffs.lose, payoffs.tie))
                of_reach = id(reach[node][1 - own])
                if tree.kind[node] == NodeKind.FOLD:
                    values[node] = (lose if tree.player[node] == own else win) * met[of_reach]
                else:  # without rake, a tie is half-way between
                    values[node] = tie * met[of_reach] + (win - tie) * won[of_reach]
            yield np.array([values[node] for node in self.decisions[2]])

    def _strategy(self, node: int, chunk: slice) -> Float32:
        """[actions, runouts of the last street, H] the average strategy."""
        turn = self.form.streets[2].parent[chunk]
        runout = (np.zeros_like(turn), turn, np.arange(len(self.form.streets[2].parent))[chunk])
        of_runout = runout[int(self.form.tree.street[node])]
        first = int(of_runout[0])  # they rise
        sums = self._learned("average", node, slice(first, int(of_runout[-1]) + 1))[:, of_runout - first]
        total = sums.sum(axis=0)
        return np.where(total > 0, sums / np.where(total > 0, total, 1), np.float32(1 / len(sums)))

    def _reach(self, strategies: dict[int, Float32], chunk: slice) -> list[tuple[Float32, Float32]]:
        """[runouts, H] of both players at every node; a node's rows are its parent's where they are equal."""
        tree, shape = self.form.tree, (len(self.form.streets[2].parent[chunk]), len(self.hands))
        everything = np.ones(shape, dtype=np.float32)
        reach = [(everything, everything)]
        for node in range(len(tree.kind)):  # breadth first
            for number in range(tree.first_child[node + 1] - tree.first_child[node]):
                both = list(reach[node])
                if node in strategies:
                    both[tree.player[node]] = both[tree.player[node]] * strategies[node][number]
                reach.append((both[0], both[1]))
        return reach

    def _against(self, reach: list[Float32], chunk: slice) -> tuple[dict[int, Float32], dict[int, Float32]]:
        """Two sums by the id of each [runouts, H] of opposing reach, both [runouts, H].

        The first is over the hands that a hand can face; in the second, hands that it loses to count −1 and ties 0.
        """
        distinct = {id(each): each for each in reach}
        opposing = np.stack(list(distinct.values()), axis=1)  # [runouts, rows, H]
        met, won = np.empty_like(opposing), np.empty_like(opposing)
        for row, strength in enumerate(self.form.strength[0][chunk].astype(np.float32)):
            alive = strength >= 0
            met[row] = (opposing[row] * alive) @ self._compatible * alive
            won[row] = (opposing[row] * alive) @ (self._compatible * np.sign(strength - strength[:, None])) * alive
        first, second = (dict(zip(distinct, each.swapaxes(0, 1), strict=True)) for each in (met, won))
        return first, second

    @cached_property
    def _compatible(self) -> Float32:
        """[H, H] 1 for hands that share no card."""
        return compatible(*self.form.hands).astype(np.float32)


# --- solving and pricing ---------------------------------------------------------------------------------------------


class SomeBoards(DrawnBoards):
    """Boards on a few flops, each drawn in proportion to its weight."""

    def __init__(self, buckets: GameBuckets, flops: list[Flop], *, count: int, seed: int) -> None:
        super().__init__(buckets, count=count, seed=seed)
        self._flops = flops

    def boards(self, iteration: int) -> NDArray[np.uint8]:
        """[B, 5] the boards of an iteration: a flop with its suits renamed at random, and two of the cards left."""
        random = np.random.default_rng((self.seed, iteration))
        weights = np.array([flop.weight for flop in self._flops])
        points = (np.arange(self.count) + random.random(self.count)) / self.count
        chosen = np.searchsorted(np.cumsum(weights) / weights.sum(), points)
        boards = np.empty((self.count, 5), dtype=np.uint8)
        for row, flop in enumerate(chosen.tolist()):
            cards = CARD_MAPS[random.integers(len(CARD_MAPS))][list(self._flops[flop].cards)]
            left = np.setdiff1d(np.arange(52), cards)
            boards[row] = [*cards, *random.choice(left, 2, replace=False)]
        return boards


def price(
    game: HoldemGame, flops: list[Flop], abstraction: SomeBuckets, given: argparse.Namespace, seed: int
) -> dict[str, Any]:
    """Solve with buckets, and price the average strategy."""
    betting = betting_of(game)
    buckets = GameBuckets(abstraction, acting_streets(betting.tree))
    form = replace(
        make_form(game, buckets, count=BATCH, seed=seed),
        runouts=SomeBoards(buckets, flops, count=BATCH, seed=seed),
    )
    engine = engines.create("auto", form, device="cpu", threads=given.threads)
    began = time.perf_counter()
    engine.advance(schedule(PRESETS["linear"], 1, given.iterations))
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "mbb": exploitability(betting, game, flops, buckets, engine, given.threads)}


def exploitability(
    betting: Betting, game: HoldemGame, flops: list[Flop], buckets: GameBuckets, engine: Any, threads: int
) -> float:
    """In mbb/g, as `regretless price`."""
    after_flop = flop_tree(betting.tree)
    pricer = FlopPricer(after_flop, betting.payoffs, buckets, engine.strategy, threads=threads)
    values = list(pricer.each(flop.cards for flop in flops))
    total = sum(flop.weight * each for flop, each in zip(flops, values, strict=True))
    lines = {node: total[:, :, line] for line, node in enumerate(after_flop.chance)}
    return 1000 * evaluate_game(betting.tree, betting.payoffs, engine.strategy, lines, game.big_blind).exploitability


if __name__ == "__main__":
    main()
