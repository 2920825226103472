"""Deep CFR on flop hold'em: speed, and exact exploitability over the iterations of a training.

    python benchmarks/deep_holdem.py speed --device cuda --out benchmarks/results/deep_holdem_speed.json
    python benchmarks/deep_holdem.py train --device cuda --minutes 9 --out benchmarks/results/deep_holdem.json \\
        --checkpoint deep_holdem.safetensors
    …the same again: it resumes from the checkpoint, which holds the memories too, and continues the results
    python benchmarks/deep_holdem.py plot --results benchmarks/results/h200_deep_holdem.json --out PICTURE.png

`train` writes its results after every measurement, and stops in time to measure and save once more within --minutes
(which do not count the imports). Two averages are measured: the policy network of the paper, fitted to the strategy
memory for the occasion, and the exact average of all value networks (Single Deep CFR). Both as NashConv in mbb/g, the
players' gains summed, as the paper reports it: 37 for Deep CFR, 47 for NFSP. The tabular solution of the same game is
in `results/flop_holdem.json`: 314 after 10 iterations, 6.8 after 100, 1.8 after 200. `plot` draws it beside the two.

How the preset `fhp-ten-minutes` was chosen, and how far it gets:

1. What limits trainings on few samples is their noise: an advantage has a standard deviation of about 4 big blinds, so
   a fit with some thousand free parameters to 200,000 samples is wrong by about half a big blind, and 40 iterations of
   that stay near 1,000 mbb/g, measured on two cores. Traversals are batched, so 300,000 per player and iteration cost
   little more than 10,000. They add 7 million samples; memories hold 100 million (3.2 GB each).
2. A step on a network of 53,000 parameters is bound by launches, so it is recorded as a CUDA graph, and a batch of
   32,768 takes 0.96 ms on an H200, one of 10,000 takes 0.65 (`speed`). 1,500 steps per fit leave room for 134
   iterations in nine minutes.
3. Linear weighting makes early iterations, when strategies are poor, count little: the last half of the iterations
   weighs three times as much as the first.
4. It reaches 78 mbb/g, and hardly improves after iteration 80. The network's curve is as low as the mixture's, so the
   policy fit is not the limit; the value fits are. To try next: --set value_steps=4000, --set width=128.

On a CPU, --flops 20 measures on a sample of flops: values are estimates then, and best responses worth more than
in the whole game. --tiny tries a whole training with small memories.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import datetime
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
import torch
from machine import hardware

from regretless import engines
from regretless.deep.deep_cfr import DeepCfr, IterationReport
from regretless.deep.holdem_evaluation import HoldemEvaluation, NetworkAverage, TabulatedStrategy
from regretless.deep.holdem_world import HoldemWorld
from regretless.deep.networks import Network
from regretless.deep.policies import AdvantagePolicy
from regretless.deep.settings import PRESETS, TrainingSettings, preset_settings
from regretless.deep.traversal import TraversalSamples, traverse, traverse_one_by_one
from regretless.engines import Evaluation
from regretless.games import FlopHoldem, LimitHoldem
from regretless.holdem.flops import all_flops
from regretless.holdem.games.flop_holdem import compile_flop_holdem

MILLIS = 1000  # thousandths of a big blind
MEASURED = "1,10,20,40,80,120,160,240,320,480,640"  # iterations; the first shows early that all works
TABULAR = Path(__file__).parent / "results" / "flop_holdem.json"
PAPER = 37  # NashConv in mbb/g
AVERAGE = "average"  # prefix of the average's arrays in a checkpoint

SCALED = PRESETS["fhp-ten-minutes"]
TINY = preset_settings("small", merge_equal=False, traversals=200, value_steps=20, policy_steps=20, batch=256)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    speed = commands.add_parser("speed", help="samples per second, seconds per step and per evaluation")
    train = commands.add_parser("train", help="a curve of exact exploitability")
    for each, run in ((speed, measure_speed), (train, train_and_measure)):
        each.set_defaults(run=run)
        each.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
        each.add_argument("--tiny", action="store_true", help="small memories and few traversals, to try it out")
        each.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a field of the settings")
        each.add_argument("--flops", type=int, help="measure on a sample of this many flops; all by default")
        each.add_argument("--engine", help="for best responses, such as numba; by default one for the device")
        each.add_argument("--seed", type=int, default=1)
        each.add_argument("--out", type=Path, help="JSON file for the results")
    train.add_argument("--minutes", type=float, default=9.0, help="time limit of this run")
    train.add_argument("--iterations", type=int, default=10**6, help="in total, including those of the checkpoint")
    train.add_argument("--measure", default=MEASURED, help="iterations after which to measure, besides the last")
    train.add_argument("--checkpoint", type=Path, help="file to resume from, if it exists, and to save to")
    plot = commands.add_parser("plot", help="a picture of the curves, beside the tabular solution")
    plot.set_defaults(run=draw)
    plot.add_argument("--results", type=Path, required=True, help="a file that `train` wrote")
    plot.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.run(options)


def chosen_settings(options: argparse.Namespace) -> TrainingSettings:
    changes = dict(text.split("=", 1) for text in options.set)
    return dataclasses.replace(
        TINY if options.tiny else SCALED, **{name: _value(text) for name, text in changes.items()}
    )


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def new_evaluation(world: HoldemWorld, options: argparse.Namespace) -> HoldemEvaluation:
    flops = None
    if options.flops is not None:
        every = all_flops()
        rows = np.random.default_rng(0).choice(len(every), options.flops, replace=False)
        flops = {every[row].cards: every[row].weight for row in rows.tolist()}
    form = compile_flop_holdem(FlopHoldem(), flops)
    return HoldemEvaluation(world, form, engine=engines.create(options.engine, form) if options.engine else None)


class Stopwatch:
    """Seconds on a device, which is waited for."""

    def __init__(self, device: torch.device) -> None:
        self.device, self.seconds = device, 0.0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        began = self._now()
        yield
        self.seconds = self._now() - began

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()


def in_mbb(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "nash_conv_mbb": MILLIS * evaluation.nash_conv,
        "exploitability_mbb": MILLIS * evaluation.exploitability,
        "values_mbb": [MILLIS * value for value in evaluation.values],
    }


def about(options: argparse.Namespace, chosen: TrainingSettings) -> dict[str, Any]:
    on_gpu = options.device.startswith("cuda")
    return {
        "hardware": hardware() | {"gpu": torch.cuda.get_device_name() if on_gpu else None},
        "torch": torch.__version__,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes"),
        "settings": dataclasses.asdict(chosen),
        "seed": options.seed,
        "flops": options.flops or "all",
    }


def write(results: dict[str, Any], path: Path | None) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


# --- speed -----------------------------------------------------------------------------------------------------------


def measure_speed(options: argparse.Namespace) -> None:
    chosen = chosen_settings(options)
    results = about(options, chosen) | {"traversals": [], "steps": []}
    timed = Stopwatch(torch.device(options.device))
    for game in (FlopHoldem(), LimitHoldem()):
        world = HoldemWorld(game, options.device)
        networks = DeepCfr(world, dataclasses.replace(TINY, width=chosen.width), seed=options.seed).networks
        drawing = torch.Generator(world.device).manual_seed(options.seed)
        plain = _samples_per_second(traverse_one_by_one, world, networks, 5 if options.tiny else 50, drawing, timed)
        results["traversals"].append(plain | {"one_by_one": True})
        print(f"{game.name}: one by one, {plain['samples_per_second']:,.0f} samples per second", flush=True)
        for count in (100, 1_000) if options.tiny else (1_000, 10_000, 100_000, 300_000):
            if game.name == "limit-holdem" and count > 10_000:
                break  # a traversal has hundreds of samples
            traverse(world, networks, 0, count, drawing)  # loads kernels
            found = _samples_per_second(traverse, world, networks, count, drawing, timed)
            times = found["samples_per_second"] / plain["samples_per_second"]
            results["traversals"].append(found | {"times_as_fast": times})
            print(
                f"{game.name}: {count:,} together, {found['samples_per_second']:,.0f} samples per second, "
                f"{times:.0f} times as many",
                flush=True,
            )
            write(results, options.out)
    world = HoldemWorld(FlopHoldem(), options.device)
    for batch in (256,) if options.tiny else (10_000, 16_384, 32_768, 65_536):
        for precision in ("float32",) if options.tiny else ("float32", "tf32", "bfloat16"):
            steps = 20 if options.tiny else 500
            changed = dataclasses.replace(chosen, batch=batch, precision=precision, value_steps=steps, traversals=1_000)
            small = {"advantage_capacity": 10**5, "strategy_capacity": 10**5}
            training = DeepCfr(world, dataclasses.replace(changed, **small), seed=options.seed)
            training.iterate()
            with timed():
                training.iterate()
            seconds = timed.seconds / 2 / steps
            results["steps"].append({"batch": batch, "precision": precision, "seconds_per_step": seconds})
            print(f"batch {batch:,} in {precision}: {1e3 * seconds:.3f} ms per step", flush=True)
            write(results, options.out)
    evaluation = new_evaluation(world, options)
    policy = AdvantagePolicy(training.networks[0])
    for key in ("first_evaluation", "evaluation"):  # the first compiles kernels
        with timed():
            strategy = evaluation.strategy(policy)
        asked = timed.seconds
        with timed():
            found = evaluation.engine.evaluate(strategy)
        results[key] = {"policy_seconds": asked, "engine_seconds": timed.seconds, "engine": evaluation.engine.name}
        print(f"{key}: {asked:.2f} s for the policy, {timed.seconds:.2f} s for the engine", in_mbb(found), flush=True)
        write(results, options.out)


def _samples_per_second(
    walk: Callable[..., TraversalSamples],
    world: HoldemWorld,
    networks: Sequence[Network],
    count: int,
    drawing: torch.Generator,
    timed: Stopwatch,
) -> dict[str, Any]:
    with timed():
        found = walk(world, networks, 0, count, drawing)
    samples = len(found.advantages.targets) + len(found.strategies.targets)
    rate = samples / timed.seconds
    return {"game": world.name, "traversals": count, "seconds": timed.seconds, "samples_per_second": rate}


# --- a curve ---------------------------------------------------------------------------------------------------------


def train_and_measure(options: argparse.Namespace) -> None:
    began = time.perf_counter()
    deadline = began + 60 * options.minutes
    chosen = chosen_settings(options)
    world = HoldemWorld(FlopHoldem(), options.device)
    timed = Stopwatch(world.device)
    training = DeepCfr(world, chosen, seed=options.seed)
    evaluation = new_evaluation(world, options)
    average = NetworkAverage(evaluation)
    results = about(options, chosen) | {"training_seconds": 0.0, "iterations": [], "points": []}
    if options.checkpoint is not None and options.checkpoint.exists():
        results = resume(training, average, options.checkpoint)
        print(f"resumed after iteration {training.iteration}", flush=True)
    measured = set(map(int, options.measure.split(",")))
    ending = 0.0  # seconds that the last measurement and the checkpoint take

    def measure() -> None:
        nonlocal ending
        with timed():
            policy = training.policy()
        point: dict[str, Any] = {
            "iteration": training.iteration,
            "training_seconds": results["training_seconds"],
            "policy_fit_seconds": timed.seconds,
        }
        taken = timed.seconds
        strategies: dict[str, Callable[[], TabulatedStrategy]] = {
            "network": lambda: evaluation.strategy(policy),
            "mixture": average.strategy,
        }
        for name, strategy in strategies.items():
            with timed():
                found = evaluation.engine.evaluate(strategy())
            taken += timed.seconds
            point[name] = in_mbb(found) | {"seconds": timed.seconds}
        ending = taken
        results["points"].append(point)
        write(results, options.out)
        print(
            f"{training.iteration:5} {results['training_seconds']:8.1f} s   NashConv in mbb/g: "
            f"network {point['network']['nash_conv_mbb']:8.1f}   mixture {point['mixture']['nash_conv_mbb']:8.1f}",
            flush=True,
        )

    longest = 0.0
    save_seconds = 2e-9 * training.memory_bytes if options.checkpoint else 0.0  # at 0.5 GB/s
    while training.iteration < options.iterations:
        if time.perf_counter() + 1.2 * (longest + ending) + save_seconds > deadline and training.iteration:
            break
        with timed():
            report = training.iterate()
        results["training_seconds"] += timed.seconds
        longest = max(longest, timed.seconds)
        with timed():
            for player, network in enumerate(training.networks):
                average.add(player, AdvantagePolicy(network), float(training.iteration))
        results["iterations"].append(_row(report, average_seconds=timed.seconds))
        if training.iteration in measured:
            measure()
    if not results["points"] or results["points"][-1]["iteration"] != training.iteration:
        measure()
    if options.checkpoint is not None:
        with timed():
            save(training, average, results, options.checkpoint)
        print(f"saved {options.checkpoint} in {timed.seconds:.1f} s", flush=True)
    per_iteration = results["training_seconds"] / training.iteration
    print(f"{per_iteration:.2f} s per iteration; {time.perf_counter() - began:.0f} s in all", flush=True)


def draw(options: argparse.Namespace) -> None:
    """NashConv by iteration: the policy network, the mixture of value networks, and CFR on a table."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    points = json.loads(options.results.read_text(encoding="utf-8"))["points"]
    table = json.loads(TABULAR.read_text(encoding="utf-8"))["history"]
    curves = {
        "policy network": [(point["iteration"], point["network"]["nash_conv_mbb"]) for point in points],
        "mixture of value networks": [(point["iteration"], point["mixture"]["nash_conv_mbb"]) for point in points],
        "CFR on a table": [(iteration, 2 * MILLIS * exploitability) for iteration, _, exploitability in table],
    }
    figure = Figure(figsize=(7.2, 4.2), dpi=160, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for (name, curve), color in zip(curves.items(), ("#D55E00", "#0072B2", "#009E73"), strict=True):
        axes.plot(*zip(*curve, strict=True), color=color, marker="o", markersize=3.5, linewidth=1.8, label=name)
    axes.axhline(PAPER, color="#7a8793", linewidth=1.2, linestyle="--", label="Deep CFR in the paper, 450 iterations")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(True, color="#e3e7eb")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel("iterations")
    axes.set_ylabel("NashConv, mbb/g")
    axes.set_title("Flop hold'em", loc="left", fontweight="bold")
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(options.out)


def _row(report: IterationReport, **more: float) -> dict[str, Any]:
    return dataclasses.asdict(report) | more


def save(training: DeepCfr, average: NetworkAverage, results: dict[str, Any], path: Path) -> None:
    sums = {f"{AVERAGE}.{node}": table.cpu().numpy() for node, table in average.sums.items()}
    partial = path.with_suffix(".partial")
    safetensors.numpy.save_file({**training.snapshot(), **sums}, partial, {"results": json.dumps(results)})
    partial.replace(path)


def resume(training: DeepCfr, average: NetworkAverage, path: Path) -> dict[str, Any]:
    """Continue from a checkpoint; returns the results so far."""
    with safetensors.safe_open(path, framework="numpy") as file:
        for node, table in average.sums.items():
            table.copy_(torch.from_numpy(file.get_tensor(f"{AVERAGE}.{node}")))
        names = [name for name in file.keys() if not name.startswith(AVERAGE)]  # noqa: SIM118  (not a dict)
        training.restore({name: file.get_tensor(name) for name in names})
        results: dict[str, Any] = json.loads(file.metadata()["results"])
    return results


if __name__ == "__main__":
    main()
