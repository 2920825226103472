"""A whole game with real cards on a set of flops, and what its strategy before the flop is worth on others.

python benchmarks/whole_game.py [examples/heads_up_20bb.toml] [--flops "subset(25)"] [--others 50] [--storage 16]
                                [--target 3] [--iterations 400] [--play 30] [--out FILE.json]

1. The game is solved on the flops until a best response gains at most `--target` mbb/g there; printed are
   exploitability, iterations, seconds and memory.
2. Other flops are drawn, each as often as it is dealt, without those that were solved. Each is solved again with the
   ranges that arrive there, and best responses choose before the flop and after it, knowing which flops may come.
   Printed is what they gain on 10, 25, 50, … flops: the fewer, the more is gained from that knowledge alone.
3. With `--play N`, step 2 is left out. N hands are played against the solution, any flop, by somebody who never folds
   and otherwise acts at random: how long did he wait for the solution on each street? Flops are solved to
   `--play-target` percent of the pot, and saved, as the page saves them. The game may then be a solved file, GAME.rgl.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from dataclasses import asdict
from pathlib import Path
from random import Random
from shutil import rmtree
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import regretless as rl
from regretless.holdem.flops import all_flops, read_flops
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.pricing import PricedSolution, price_game
from regretless.holdem.games.real_cards import RealCardsSolution
from regretless.holdem.games.resolving_pricer import Resolving
from regretless.holdem.reading.playing import Duel, draw_hands
from regretless.holdem.spots.spot_fields import STREETS
from regretless.solving.loop import Progress

COUNTS = (10, 25, 50, 100, 200)  # of other flops


def other_flops(solved: str, count: int, seed: int) -> list[str]:
    """Flops that were not solved, drawn without replacement, each as likely as it is dealt."""
    excluded = {flop.cards for flop in read_flops(solved)}
    flops = [flop for flop in all_flops() if flop.cards not in excluded]
    weight = np.array([flop.multiplicity for flop in flops], dtype=np.float64)
    rows = np.random.default_rng(seed).choice(len(flops), count, replace=False, p=weight / weight.sum())
    return [flops[row].text for row in rows.tolist()]


def play_hands(
    solution: PricedSolution, hands: int, target: float, storage: int, device: str, seed: int
) -> dict[str, Any]:
    """How long a player waits for each street, in seconds: from an action to the next decision or the end."""
    random = Random(seed)
    waits: dict[str, list[float]] = {street: [] for street in ("preflop", *STREETS)}
    with TemporaryDirectory() as folder:
        reader = solution.resolving_reader(folder=Path(folder) / "flops", target=target, storage=storage, device=device)
        for number in range(hands):
            duel = Duel(reader, draw_hands(reader, reader.root, random), number % 2, random)
            node = reader.root
            while True:
                street, began = node.deal.street, time.perf_counter()
                nodes = duel.play_on(node)
                waited = time.perf_counter() - began
                dealt = min(street + 1, nodes[-1].deal.street)  # the first new street, if there is one
                waits[("preflop", *STREETS)[dealt]].append(waited)
                if dealt > street == 0:
                    print(f"  hand {number + 1}: {waited:.2f} s for {', '.join(nodes[-1].steps)}", flush=True)
                if not duel.is_persons_turn(nodes[-1]):
                    break
                actions = reader.actions(nodes[-1].index)
                node = reader.act(nodes[-1], random.randrange(int(actions[0] == "fold"), len(actions)))
            rmtree(Path(folder) / "flops", ignore_errors=True)  # a disk may be small
    results: dict[str, Any] = {"hands": hands, "target": target, "streets": {}}
    for street, seconds in waits.items():
        if seconds:
            longest, middle = max(seconds), median(seconds)
            results["streets"][street] = {"waits": len(seconds), "median": middle, "longest": longest}
            print(f"{street}: {len(seconds)} waits, median {middle:.3f} s, longest {longest:.3f} s", flush=True)
    return results


class PreflopTable:
    """What each class of hands does before the flop: all that the price of a re-solved game needs."""

    def __init__(self, solution: RealCardsSolution) -> None:
        self.rows = {
            node.index: solution.reader.class_strategy(node.index).copy() for node in solution.reader.before_cards()
        }

    def class_strategy(self, node: int) -> np.ndarray:
        return self.rows[node]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="?", type=Path, default=Path("examples/heads_up_20bb.toml"))
    parser.add_argument("--flops", default="subset(25)")
    parser.add_argument("--others", type=int, default=50)
    parser.add_argument("--storage", type=int, default=16)
    parser.add_argument("--target", type=float, default=3.0, help="mbb/g on the flops that are solved")
    parser.add_argument("--iterations", type=int, default=400, help="at most")
    parser.add_argument("--resolve-target", type=float, default=5.0, help="mbb/g after the flop, on the others")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seed", type=int, default=0, help="of the other flops")
    parser.add_argument("--seconds", type=float, default=np.inf, help="for the price, at most")
    parser.add_argument("--play", type=int, default=0, help="hands to play instead of pricing")
    parser.add_argument("--play-target", type=float, default=0.5, help="percent of the pot, of flops in play")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()

    if options.play and options.game.suffix == ".rgl":
        loaded = rl.load(options.game)
        assert isinstance(loaded, PricedSolution)
        write_results(options.out, {"play": play_hands(loaded, *playing(options))})
        return
    game, began = HoldemGame.read(options.game), time.perf_counter()

    measured: set[float] = set()

    def report(progress: Progress) -> None:
        if progress.exploitability is not None and progress.exploitability not in measured:
            measured.add(progress.exploitability)
            mbb = 1000 * progress.exploitability
            print(f"  {progress.iteration:5d}  {mbb:8.2f} mbb/g  {progress.seconds:6.1f} s", flush=True)

    limits = {"target": options.target, "iterations": options.iterations}
    solution = rl.solve(
        game, flops=options.flops, storage=options.storage, device=options.device, report=report, **limits
    )
    assert isinstance(solution, RealCardsSolution)
    answer = solution.as_json() | {"wall_seconds": time.perf_counter() - began}
    record = solution.record
    print(
        f"{game.name or options.game.stem} on {len(solution.flops)} flops: {solution.exploitability_mbb:.2f} mbb/g "
        f"after {solution.iterations} iterations, {solution.seconds:.1f} s solving, {record.setup_seconds:.1f} s "
        f"setting up, {1000 * record.seconds_per_iteration:.0f} ms per iteration, {record.memory_bytes / 1e9:.1f} GB, "
        f"small blind {1000 * solution.values[0]:+.1f} mbb",
        flush=True,
    )
    strategy, root = solution.strategy, solution.node()
    print(", ".join(f"{action} {share:.1%}" for action, share in zip(root.actions, root.frequencies, strict=True)))
    if options.play:
        write_results(options.out, {"solve": answer, "play": play_hands(solution, *playing(options))})
        return
    others = other_flops(options.flops, options.others, options.seed)
    resolving = Resolving(target=options.resolve_target, storage=options.storage)
    path = Path("whole_game.price") if options.out is None else options.out.with_suffix(".price")
    prices, began = [], time.perf_counter()
    preflop = PreflopTable(solution)
    del solution  # its engine fills the device
    gc.collect()
    for count in (*(count for count in COUNTS if count < len(others)), len(others)):
        if count == 0:
            continue

        def late() -> bool:
            return time.perf_counter() - began > options.seconds

        price = price_game(
            game, preflop, others[:count], resolving=resolving, folder=path, device=options.device, interrupted=late
        )
        if price is None:
            print(f"stopped after {time.perf_counter() - began:.0f} s")
            break
        prices.append(price.as_json())
        print(
            f"priced on {count} other flops: {price.exploitability_mbb:.1f} mbb/g, best responses "
            f"{[round(1000 * value, 1) for value in price.evaluation.best_response_values]}, values "
            f"{[round(1000 * value, 1) for value in price.evaluation.values]}, {price.seconds:.0f} s",
            flush=True,
        )
    results = {"solve": answer, "prices": prices, "resolving": asdict(resolving), "preflop": strategy}
    write_results(options.out, results)


def playing(options: argparse.Namespace) -> tuple[int, float, int, str, int]:
    return options.play, options.play_target, options.storage, options.device, options.seed


def write_results(path: Path | None, results: dict[str, Any]) -> None:
    if path is not None:
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
