"""Which variant solves hold'em soonest on many random spots: iterations and seconds to 0.5, 0.3 and 0.1 % of the pot.

python benchmarks/holdem_variants.py --rivers 0:100 --turns 0:60 --flops 0:12 --processes 16 --out chosen_on.json
python benchmarks/holdem_variants.py --rivers 100:200 … --variants rival,1.3/0.4/5/late --out held_out.json
python benchmarks/holdem_variants.py --files tests/data/flop_3bet.toml --variants rival,1.3/0.4/5/late
python benchmarks/holdem_variants.py --table chosen_on.json

Spots come from `drawn_spots`, by seed, so a choice made on some can be tested on others. Each solve runs in one process
on one thread. Exploitability is measured every iteration on rivers, every 2 on turns and every 5 on flops; a target
counts as met the first time, and a missed one counts as the limit. `rival` is postflop-solver's variant in our engine:
its average weights all strategies equally.
"""

from __future__ import annotations

import argparse
import datetime
import json
import multiprocessing
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from drawn_spots import draw_spot
from machine import hardware

from regretless.engines.layout import make_layout
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.holdem import Spot, compile_spot
from regretless.variants import Discounted, PredictiveDiscountedPlus, Resetting, Scheduled, Variant, schedule

TARGETS = (0.5, 0.3, 0.1)  # percent of the pot
LIMIT = 600  # iterations
MEASURE_EVERY = {5: 1, 4: 2, 3: 5}  # iterations, by cards on the board
STREETS = {"rivers": 5, "turns": 4, "flops": 3}
RIVAL = "rival"

# α/β/γ of discounted CFR, `late` if the discounting of regrets is delayed by one iteration; and whether the average is
# weighted by own reach. The presets `postflop`, `turn`, `river` are 1.3/0.4/5/late, 1.3/0.25/5/late, 1.3/0/5/late.
VARIANTS: dict[str, tuple[Variant, bool]] = {
    RIVAL: (Resetting(), False),
    "discounted": (Discounted(), True),
} | {
    f"{alpha}/{beta}/{gamma}{'/late' * late}": (Discounted(alpha=alpha, beta=beta, gamma=gamma, delay=late), True)
    for alpha, beta, gamma, late in (
        (1.5, 0, 4, 0), (1.5, 0, 4, 1), (1.5, 0, 5, 1), (1.3, 0.5, 4, 1), (1.3, 0, 4, 1), (1.3, 0, 5, 1),
        (1.2, 0, 5, 1), (1.1, 0, 5, 1),
        (1.2, 0.125, 5, 1), (1.3, 0.25, 4, 1), (1.3, 0.25, 5, 1), (1.2, 0.25, 5, 1), (1.1, 0.25, 5, 1),
        (1.0, 0.25, 5, 1), (1.2, 0.4, 5, 1), (1.4, 0.25, 5, 1), (1.3, 0.35, 5, 1), (1.4, 0.125, 5, 1),
        (1.3, 0.3, 5, 1), (1.4, 0.3, 5, 1), (1.3, 0.4, 5, 1),
    )
} | {
    "resetting, own reach": (Resetting(), True),
    "scheduled(150)": (Scheduled(horizon=150), True),
    "predictive": (PredictiveDiscountedPlus(), True),
}  # fmt: skip


@dataclass(frozen=True)
class Run:
    """One variant on one spot."""

    spot: str
    cards: int
    entries: int
    variant: str
    iterations: list[int | None]  # to each target
    seconds_per_iteration: float
    processor: str = ""  # filled in when results are read


def solve(task: tuple[int | str, int, str]) -> Run:
    """One variant on one spot: a random spot, given by seed and number of board cards, or a file."""
    seed, cards, name = task
    spot = draw_spot(seed, cards) if isinstance(seed, int) else Spot.read(seed)
    variant, own_reach = VARIANTS[name]
    engine = NumbaPublicEngine(compile_spot(spot), own_reach=own_reach)
    met: list[int | None] = [None] * len(TARGETS)
    seconds = 0.0
    while engine.iteration < LIMIT and met[-1] is None:
        rows = schedule(variant, engine.iteration + 1, MEASURE_EVERY[cards])
        began = time.perf_counter()
        engine.advance(rows)
        seconds += time.perf_counter() - began
        percent = engine.evaluate().exploitability / spot.pot * 100
        met = [
            engine.iteration if done is None and percent <= target else done
            for done, target in zip(met, TARGETS, strict=True)
        ]
    entries = int(make_layout(engine.form).entries.sum())
    return Run(spot.name, cards, entries, name, met, float(f"{seconds / engine.iteration:.4g}"))


def measure(options: argparse.Namespace) -> list[Run]:
    """All variants on all spots, flops first, so that none is left running at the end; saved as they finish."""
    spots: list[tuple[int | str, int]] = [(path, len(Spot.read(path).board)) for path in options.files]
    for street, cards in sorted(STREETS.items(), key=lambda pair: pair[1]):
        spots += [(seed, cards) for seed in range(*getattr(options, street))]
    tasks = [(*spot, name) for spot in spots for name in options.variants]
    runs: list[Run] = []
    solve((0, 5, RIVAL))  # compile once for all processes
    deadline = time.monotonic() + options.seconds
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        found = pool.imap_unordered(solve, tasks)
        for _ in tasks:
            try:
                runs.append(found.next(timeout=max(deadline - time.monotonic(), 0.1)))
            except multiprocessing.TimeoutError:
                print("out of time: the remaining runs are skipped")
                pool.terminate()
                break
    if options.out:
        write(options.out, runs)
    return runs


def write(path: Path, runs: list[Run]) -> None:
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes")
    lines = ",\n".join(json.dumps(asdict(run)) for run in runs)
    path.write_text(f'{{"hardware": {json.dumps(hardware())},\n"date": "{date}",\n"runs": [\n{lines}\n]}}\n')


def read(path: Path) -> list[Run]:
    results = json.loads(path.read_text())
    return [Run(**run | {"processor": results["hardware"]["processor"]}) for run in results["runs"]]


def show(runs: list[Run]) -> None:
    """A Markdown table: geometric means over spots of iterations and seconds relative to the rival; spots missed."""
    found = {(run.spot, run.variant): run for run in runs}
    names = [name for name in VARIANTS if any(run.variant == name for run in runs)]
    spots = {
        street: sorted({run.spot for run in runs if run.cards == cards and run.spot.startswith("drawn-")})
        for street, cards in STREETS.items()
    }
    for run in runs:
        if not run.spot.startswith("drawn-"):
            print(f"{run.spot:14} {run.variant:20} {' / '.join(str(met or f'> {LIMIT}') for met in run.iterations)}")

    def ratio(street: str, name: str, target: int, *, seconds: bool = False) -> float:
        ratios = []
        for spot in spots[street]:
            if (spot, name) not in found or (spot, RIVAL) not in found:  # out of time
                continue
            mine, other = found[spot, name], found[spot, RIVAL]
            taken = (mine.iterations[target] or LIMIT) / (other.iterations[target] or LIMIT)
            if seconds and mine.processor != other.processor:  # iterations can be compared, seconds cannot
                continue
            ratios.append(taken * mine.seconds_per_iteration / other.seconds_per_iteration if seconds else taken)
        return statistics.geometric_mean(ratios) if ratios else float("nan")

    def row(name: str) -> str:
        cells = [name]
        for street in STREETS:
            cells += [f"{ratio(street, name, target):.3f}" for target in range(len(TARGETS))]
            cells.append(f"{ratio(street, name, len(TARGETS) - 1, seconds=True):.3f}")
            missed = sum(found[spot, name].iterations[-1] is None for spot in spots[street] if (spot, name) in found)
            cells.append(str(missed))
        return f"| {' | '.join(cells)} |"

    counts = ", ".join(f"{len(spots[street])} {street}" for street in STREETS)
    print(f"\n{counts}; relative to the rival's iterations (last column of each street: spots not solved in {LIMIT})\n")
    titles = [f"{street} {what}" for street in STREETS for what in (*TARGETS, "seconds", "missed")]
    print(f"| variant | {' | '.join(titles)} |")
    print(f"|---|{'--:|' * len(titles)}")
    for name in names:
        print(row(name))


def span(text: str) -> tuple[int, int]:
    """Seeds first:last, excluding the last."""
    first, last = text.split(":")
    return int(first), int(last)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for street in STREETS:
        parser.add_argument(f"--{street}", type=span, default=(0, 0), metavar="FIRST:LAST", help="seeds")
    parser.add_argument("--variants", type=lambda text: text.split(","), default=list(VARIANTS))
    parser.add_argument("--files", nargs="*", default=[], metavar="SPOT", help="also solve these spot files")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600.0, help="at most")
    parser.add_argument("--out", type=Path, help="JSON file for the raw results")
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="only show these raw results")
    options = parser.parse_args()
    for name in options.variants:
        if name not in VARIANTS:
            parser.error(f"--variants: {name!r} is not one of {', '.join(VARIANTS)}")
    show([run for path in options.table for run in read(path)] if options.table else measure(options))


if __name__ == "__main__":
    main()
