"""Deep CFR on small games: ablations, OpenSpiel's own Deep CFR, and the speed of batched traversals.

    python benchmarks/deep.py ablations [--game leduc] [--iterations 40] [--seeds 1]
    python benchmarks/deep.py openspiel [--iterations 20] [--traversals 1000]
    python benchmarks/deep.py speed [--game leduc] [--device cpu]

`ablations` trains the `small` preset, then the same with one setting changed at a time, and prints exact exploitability
(NashConv / 2) over iterations. Memories hold 20,000 samples here and iterations draw 1,000 traversals per player, so
that a window spans two to four iterations: with room for everything, reservoir and window are the same.

`openspiel` trains both on Leduc with equally many traversals and prints samples seen, CPU seconds and
exploitability. OpenSpiel's PyTorch solver gets the parameters that its own example recommends (three layers of 64,
batches of 2,048, 750 and 5,000 steps, learning rate 0.001, memories of a million), ours are those of `small`.

`speed` compares batched with plain traversals, in samples per second.

PyTorch runs on one thread unless --threads says otherwise.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import sys
import time
import types
from collections.abc import Sequence
from typing import Any

import torch

from regretless.deep.deep_cfr import DeepCfr
from regretless.deep.policies import ExactEvaluator
from regretless.deep.settings import preset_settings
from regretless.deep.traversal import traverse, traverse_one_by_one
from regretless.deep.worlds import HistoryWorld
from regretless.games import load

SMALL_MEMORY = {"advantage_capacity": 20_000, "strategy_capacity": 20_000, "traversals": 1_000}
ABLATIONS: dict[str, dict[str, Any]] = {
    "small": {},
    "sliding window": {"replacement": "window"},
    "uniform weights": {"weighting": "uniform"},
    "warm start": {"from_scratch": False},
    "drawn batches": {"merge_equal": False, "batch": 256},
    "Single Deep CFR": {"algorithm": "single"},
}


def ablations(game: str, iterations: int, seeds: int, names: Sequence[str]) -> None:
    world = HistoryWorld(load(game))
    measured = sorted({iterations // 4, iterations // 2, iterations} - {0})
    print(f"{game}, mean of {seeds} seed(s); exploitability after {', '.join(map(str, measured))} iterations")
    for name in names or ABLATIONS:
        chosen = preset_settings("small", iterations=iterations, **{**SMALL_MEMORY, **ABLATIONS[name]})
        curves, began = [], time.process_time()
        for seed in range(seeds):
            training = DeepCfr(world, chosen, seed=seed)
            curve = []
            for iteration in range(1, iterations + 1):
                training.iterate()
                if iteration in measured:
                    curve.append(ExactEvaluator(world).evaluate(training.policy()).exploitability)
            curves.append(curve)
        means = [sum(column) / seeds for column in zip(*curves, strict=True)]
        seconds = time.process_time() - began
        print(f"{name:28}{''.join(f'{mean:10.4f}' for mean in means)}{seconds:10.0f} s", flush=True)


def openspiel(iterations: int, traversals: int) -> None:
    began = time.process_time()
    world = HistoryWorld(load("leduc"))
    training = DeepCfr(world, preset_settings("small", iterations=iterations, traversals=traversals), seed=0)
    seen = sum(training.iterate().samples for _ in range(iterations))
    result = ExactEvaluator(world).evaluate(training.policy()).exploitability
    print_row("Regretless", seen, time.process_time() - began, result)

    stand_in_for_tree()
    import pyspiel
    from open_spiel.python import policy
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.pytorch import deep_cfr

    game = pyspiel.load_game("leduc_poker")
    began = time.process_time()
    solver = deep_cfr.DeepCFRSolver(
        game,
        policy_network_layers=(64, 64, 64),
        advantage_network_layers=(64, 64, 64),
        num_iterations=iterations,
        num_traversals=traversals,
        learning_rate=1e-3,
        batch_size_advantage=min(2048, 2 * traversals),  # it does not train with less than a batch
        batch_size_strategy=min(2048, 2 * traversals),
        memory_capacity=1_000_000,
        policy_network_train_steps=5_000,
        advantage_network_train_steps=750,
        seed=0,
    )
    solver.solve()
    seen = sum(int(buffer.add_calls) for buffer in [*solver.advantage_buffers, solver.strategy_buffer])
    seconds = time.process_time() - began
    table = policy.tabular_policy_from_callable(game, solver.action_probabilities)
    print_row("OpenSpiel", seen, seconds, exploitability.nash_conv(game, table) / 2)


def print_row(name: str, samples: int, seconds: float, result: float) -> None:
    print(f"{name:12}{samples:>12,} samples{seconds:10.0f} s   exploitability {result:.4f}", flush=True)


def stand_in_for_tree() -> None:
    """OpenSpiel's solver imports dm-tree for one function; where that is missing, this one does the same."""
    if importlib.util.find_spec("tree") is None:
        tree = types.ModuleType("tree")
        tree.map_structure = lambda function, first, *others: type(first)(  # type: ignore[attr-defined]
            *(function(*fields) for fields in zip(first, *others, strict=True))
        )
        tree.__spec__ = importlib.machinery.ModuleSpec("tree", None)
        sys.modules["tree"] = tree


def speed(game: str, device: str, count: int, alone: int) -> None:
    world = HistoryWorld(load(game), device=device)
    training = DeepCfr(world, preset_settings("small", traversals=1_000, value_steps=50), seed=0)
    training.iterate()  # trained networks: strategies are neither uniform nor pure
    figures = {}
    for name, way, number in (("batched", traverse, count), ("one by one", traverse_one_by_one, alone)):
        way(world, training.networks, 0, 10, torch.Generator(world.device).manual_seed(1))
        rates = []
        for turn in range(3):
            began = time.perf_counter()
            found = way(world, training.networks, turn % 2, number, torch.Generator(world.device).manual_seed(turn))
            samples = len(found.advantages.targets) + len(found.strategies.targets)
            rates.append(samples / (time.perf_counter() - began))
        figures[name] = sorted(rates)[1]
        print(f"{game}, {device}, {name}: {figures[name]:,.0f} samples per second", flush=True)
    print(f"ratio {figures['batched'] / figures['one by one']:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ablations", "openspiel", "speed"))
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], choices=tuple(ABLATIONS), help="some of the ablations")
    parser.add_argument("--traversals", type=int, default=1_000, help="per player and iteration, for openspiel")
    parser.add_argument("--count", type=int, default=5_000, help="traversals at once, for speed")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.what == "ablations":
        ablations(given.game, given.iterations or 40, given.seeds, given.only)
    elif given.what == "openspiel":
        openspiel(given.iterations or 20, given.traversals)
    else:
        speed(given.game, given.device, given.count, alone=30)


if __name__ == "__main__":
    main()
