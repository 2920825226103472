"""No-limit hold'em from the deal: how fast boards are sampled, and how exploitability falls during a solve.

    python benchmarks/no_limit.py speed GAME.toml --buckets TABLE.rgl --device cuda --sample-runouts 16,64
    python benchmarks/no_limit.py train GAME.toml --buckets TABLE.rgl --device cuda --until 5s,25s,120s --out FOLDER
    python benchmarks/no_limit.py price FOLDER --flops 'subset(25)' --device cuda
    python benchmarks/no_limit.py plot FOLDER/results.json … --out PICTURE.png

speed: boards per second, and the time against that of a large copy of the bytes that an engine that works per hand must
move: the updating player's regrets and averages read and written and the opponent's regrets read; and, in each of the
two walks of a board, the reach of both players and the values at every betting node, written and read for 1,326 hands.
An engine that works per bucket moves less.

train: saves the solution after the given seconds of solving (5s,25s) or iterations (1,4,16), as FOLDER/1.rgl,
FOLDER/2.rgl, …, of which the last one can be resumed, and writes iterations, boards and seconds to FOLDER/results.json.

price: adds the exploitability with real cards of each saved solution, the last one first. It is exact for a game with
only these flops, weighted, and so an estimate for the whole game, too high on average.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from machine import copy_bandwidth, hardware

import regretless as rl
from regretless import engines
from regretless.cards.hands import HAND_COUNT
from regretless.engines.bucket_tables import TableLayout
from regretless.errors import Advice, RegretlessError
from regretless.forms.public import BettingTree, NodeKind
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.whole_game import NoLimitProblem
from regretless.solving.options import SolveOptions
from regretless.variants import PRESETS, schedule

RESULTS = "results.json"
FLOPS = "subset(25)"
ROUNDS = 5
ROWS = 2 * 3 * 2  # per node, hand and board: walks × (reach of both players, values) × (written, read)
TABLES = 5  # numbers moved per entry: regret and average read and written, the regret read for the opponent's walk
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "train", "price", "plot"))
    parser.add_argument("paths", type=Path, nargs="+", metavar="GAME.toml|FOLDER|RESULTS.json")
    parser.add_argument("--buckets", default="", help="a file from regretless buckets")
    parser.add_argument("--sample-runouts", default="16", help="boards per iteration; several for `speed`")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--until", default="5s,25s,120s", help="seconds or iterations at which `train` saves")
    parser.add_argument("--flops", help="for `price`; subset(25) by default")
    parser.add_argument("--out", type=Path, help="results of `speed`, folder of `train`, picture of `plot`")
    given = parser.parse_args()
    try:
        {"speed": speed, "train": train, "price": price, "plot": plot}[given.what](given)
    except RegretlessError as error:
        sys.exit(f"error: {error.worded(Advice.as_option)}")


def speed(given: argparse.Namespace) -> None:
    """Boards per second for several sizes of batches."""
    (game,) = given.paths
    rows = []
    for count in map(int, given.sample_runouts.split(",")):
        problem = NoLimitProblem(
            HoldemGame.read(game), SolveOptions(buckets=given.buckets or None, sample_runouts=count, seed=0)
        )
        form = problem.form()
        engine = engines.create("auto", form, device=given.device, threads=given.threads)
        engine.advance(schedule(PRESETS["linear"], 1, 2))
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            engine.advance(schedule(PRESETS["linear"], engine.iteration + 1, 2))
            engine.strategy(0)  # waits for a GPU
            times.append((time.perf_counter() - began) / 2)
        seconds = statistics.median(times)
        tables = TABLES * 4 * sum(TableLayout(form).entries)
        nodes = np.where(form.tree.street > 0, count, 1).sum()
        moved = tables + ROWS * 4 * HAND_COUNT * int(nodes)
        rows.append(
            {
                "runouts": count,
                "engine": engine.name,
                "device": engine.device,
                "threads": engine.threads,
                "ms_per_iteration": 1e3 * seconds,
                "boards_per_second": count / seconds,
                "MB_of_tables": tables / 1e6,
                "MB_moved": moved / 1e6,
                "times_floor": seconds / (moved / copy_bandwidth(engine.device, threads=engine.threads)),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    if given.out is not None:
        write(given.out, about(given.device) | {"game": game.stem, "slots": slots_of(form.tree), "rows": rows})


def train(given: argparse.Namespace) -> None:
    """Solve, and save at several times."""
    (game,) = given.paths
    given.out.mkdir(parents=True, exist_ok=True)
    points: list[dict[str, Any]] = []
    solution: Any = None
    solved = 0.0  # seconds
    limits = given.until.split(",")
    for number, limit in enumerate(limits, start=1):
        options: dict[str, Any] = {"iterations": int(limit)} if limit.isdecimal() else {"iterations": 10**6}
        if limit.endswith("s"):
            options["interrupted"] = _after(time.monotonic() + float(limit[:-1]) - solved)
            solved = float(limit[:-1])
        if solution is None:
            options |= {"buckets": given.buckets, "sample_runouts": int(given.sample_runouts), "device": given.device}
            options |= {} if given.threads is None else {"threads": given.threads}
        else:
            options["resume"] = solution
        solution = rl.solve(game if number == 1 else None, **options)
        solution.save(given.out / f"{number}.rgl", resumable=number == len(limits))
        record = solution.record
        points.append(
            {
                "file": f"{number}.rgl",
                "iterations": record.iterations,
                "boards": solution.boards,
                "seconds": record.seconds,
                "boards_per_second": solution.boards / record.seconds,
            }
        )
        print(json.dumps(points[-1]), flush=True)
        tree = solution.reader.tree
        kept = {"engine": solution.engine, "device": solution.device, "runouts": int(given.sample_runouts)}
        write(
            given.out / RESULTS,
            about(given.device) | {"game": game.stem, "slots": slots_of(tree)} | kept | {"points": points},
        )


def _after(deadline: float) -> Callable[[], bool]:
    return lambda: time.monotonic() > deadline


def price(given: argparse.Namespace) -> None:
    """Price what was saved, and add that to the results."""
    for folder in given.paths:
        results = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
        points = results["points"]
        for point in (points[-1], *points[:-1]):
            solution = rl.load(folder / point["file"])
            found = solution.price(
                FLOPS if given.flops is None and solution.has_flops else given.flops,
                folder=(folder / point["file"]).with_suffix(".price"),
                threads=given.threads,
                device=given.device,
            )
            point["price"] = found.as_json()
            print(point["file"], json.dumps(point["price"]), flush=True)
            write(folder / RESULTS, results)


def plot(given: argparse.Namespace) -> None:
    """Exploitability against boards, with the seconds of solving that they took."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.2), dpi=160, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for path, color in zip(given.paths, COLORS, strict=False):
        results = json.loads(path.read_text(encoding="utf-8"))
        points = [point for point in results["points"] if "price" in point]
        across = [point["boards"] for point in points]
        up = [point["price"]["exploitability_mbb"] for point in points]
        name = f"{results['game'].replace('_', ' ')}, {results['slots']:,} action slots"
        axes.plot(across, up, color=color, marker="o", linewidth=1.8, label=name)
        for point, height in zip(points, up, strict=True):
            text = f"{height:,.0f}\n{point['seconds']:.0f} s"
            where = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
            axes.annotate(text, (point["boards"], height), fontsize=8, **where)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(x=0.06, y=0.15)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    axes.grid(True, which="both", color="#e3e7eb")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel("boards sampled")
    axes.set_ylabel("exploitability with real cards, mbb/g")
    axes.set_title("Heads-up no-limit hold'em from the deal", loc="left", fontweight="bold")
    axes.legend(frameon=False)
    figure.savefig(given.out)


def slots_of(tree: BettingTree) -> int:
    """Actions of all decisions of the betting tree."""
    return int(np.diff(tree.first_child)[tree.kind == NodeKind.DECISION].sum())


def about(device: str) -> dict[str, Any]:
    found = {"date": datetime.date.today().isoformat(), "hardware": hardware()}
    if device.startswith("cuda"):
        import torch

        found["hardware"]["gpu"] = torch.cuda.get_device_name()
    return found


def write(path: Path, results: dict[str, Any]) -> None:
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
