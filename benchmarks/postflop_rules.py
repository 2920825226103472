"""Which rule reaches 0.5, 0.3 and 0.1 % of the pot soonest on hold'em, spot by spot, and how the average should weigh.

python benchmarks/postflop_rules.py --spots river_wide,turn_example --threads 2 --out rivers_and_turns.json
python benchmarks/postflop_rules.py --spots flop_3bet --rules postflop,discounted --threads 16 --out flop.json
python benchmarks/postflop_rules.py --table rivers_and_turns.json flop.json

Every rule runs twice: with strategies weighed by the player's own reach in the average, and with all weighed alike.
Exploitability is measured every iteration on rivers and turns and every 5 on flops; a target counts as met when it is
first measured. Iterations do not depend on what else a machine does; seconds are iterations × the time of one, which is
timed for each spot apart from the measuring: the median of rounds in which four kinds of rule run in turn, those that
predict and those that do not (a third array moves through memory), by own reach and alike. Rules are ranked by the
seconds of all spots together to the last target. Results are written after every run, so what a time limit leaves is of
use.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from regretless.engines import benchmark
from regretless.engines.public_engine import PublicEngine
from regretless.forms.public import PublicForm
from regretless.postflop import Spot, compile_spot
from regretless.rules import (
    Discounted,
    Plus,
    PredictiveDiscountedPlus,
    PredictivePlus,
    Resetting,
    Rule,
    Scheduled,
    preset,
    schedule,
)

DATA = Path(__file__).parent.parent / "tests" / "data"
TARGETS = (0.5, 0.3, 0.1)  # percent of the pot
SPOTS = ("river_narrow", "river_wide", "river_rake", "turn_example", "turn_paired_donk", "flop_3bet")
LIMIT = 400  # iterations at most
MEASURE_EVERY = {5: 1, 4: 1, 3: 5}  # iterations, by cards on the board
BATCH = {5: 200, 4: 10, 3: 1}  # iterations in one timing
ROUNDS = 7

RULES: dict[str, Rule] = {
    "postflop": preset("postflop"),
    "river": preset("river"),
    "discounted": Discounted(),
    "discounted-3": Discounted(gamma=3),
    "discounted-4": Discounted(gamma=4),
    "discounted-5": Discounted(gamma=5),
    "late-quarter": Discounted(alpha=1.4, beta=0.25, gamma=4, delay=1),
    "resetting": Resetting(),
    "linear": Discounted(alpha=1, beta=1, gamma=1),
    "scheduled-100": Scheduled(horizon=100),
    "scheduled-200": Scheduled(horizon=200),
    "scheduled-400": Scheduled(horizon=400),
    "plus": Plus(),
    "plus-quadratic": Plus(power=2),
    "predictive-plus": PredictivePlus(),
    "predictive-discounted-plus": PredictiveDiscountedPlus(),
}
LABELS = {  # as the table says it
    "postflop": "**`postflop`**: α = 1.3, β = 0.5, γ = 4, a step late",
    "river": "**`river`**: `discounted` with γ = 4, a step late",
    "discounted": "`discounted` (1.5, 0, 2)",
    "discounted-3": "`discounted` with γ = 3",
    "discounted-4": "`discounted` with γ = 4",
    "discounted-5": "`discounted` with γ = 5",
    "late-quarter": "α = 1.4, β = 0.25, γ = 4, a step late",
    "resetting": "γ = 3, average reset at powers of 4",
    "linear": "`linear`",
    "scheduled-100": "HS-DCFR(30), n = 100",
    "scheduled-200": "HS-DCFR(30), n = 200",
    "scheduled-400": "HS-DCFR(30), n = 400",
    "plus": "`plus`",
    "plus-quadratic": "CFR+, quadratic average",
    "predictive-plus": "`predictive-plus` (PCFR+)",
    "predictive-discounted-plus": "`predictive-discounted-plus` (PDCFR+)",
}

Kind = tuple[bool, bool]  # whether a rule predicts, whether the average weighs by own reach
Row = tuple[str, bool]  # a rule's name, whether the average weighs by own reach
BASE: Row = ("discounted", True)  # what others are compared with


@dataclass(frozen=True)
class Run:
    """One rule on one spot."""

    spot: str
    rule: str
    own_reach: bool
    threads: int
    limit: int
    measure_every: int
    seconds_per_iteration: float
    percents: list[float]  # exploitability in percent of the pot, measure by measure until the last target is met

    @property
    def row(self) -> Row:
        return self.rule, self.own_reach

    @property
    def kind(self) -> Kind:
        return predicts(RULES[self.rule]), self.own_reach

    def iterations(self, target: float) -> int | None:
        """Until a target is met; None where it is not."""
        met = (number for number, percent in enumerate(self.percents, 1) if percent <= target)
        first = next(met, None)
        return None if first is None else min(first * self.measure_every, self.limit)

    def meets_all(self) -> bool:
        return all(self.iterations(target) is not None for target in TARGETS)

    def seconds(self, target: float) -> float | None:
        met = self.iterations(target)
        return None if met is None else met * self.seconds_per_iteration


def predicts(rule: Rule) -> bool:
    return rule.weights(2).prediction != 0


def time_kinds(form: PublicForm, threads: int, batch: int, kinds: Iterable[Kind]) -> dict[Kind, float]:
    """The median seconds of an iteration, by kind of rule."""
    engines = {kind: PublicEngine(form, threads=threads, own_reach=kind[1]) for kind in kinds}
    taken: dict[Kind, list[float]] = {kind: [] for kind in engines}
    for _ in range(ROUNDS + 1):  # the first compiles, and fills caches
        for kind, engine in engines.items():
            rule = PredictivePlus() if kind[0] else Discounted()
            rows = schedule(rule, engine.iteration + 1, batch)
            began = time.perf_counter()
            engine.advance(rows)
            taken[kind].append((time.perf_counter() - began) / batch)
    return {kind: statistics.median(seconds[1:]) for kind, seconds in taken.items()}


def trace(engine: PublicEngine, pot: float, rule: Rule, limit: int, measure_every: int) -> list[float]:
    """Exploitability in percent of the pot until the last target is met, or the limit."""
    percents = [math.inf]
    while engine.iteration < limit and percents[-1] > min(TARGETS):
        count = min(measure_every, limit - engine.iteration)
        engine.advance(schedule(rule, engine.iteration + 1, count))
        percents.append(float(f"{engine.evaluate().exploitability / pot * 100:.5g}"))
    return percents[1:]


def measure(options: argparse.Namespace) -> list[Run]:
    """Every rule on every spot, written as they come."""
    runs: list[Run] = []
    for name in options.spots:
        spot = Spot.read(DATA / f"{name}.toml")
        form = compile_spot(spot)
        cards = len(spot.board)
        rows = [(rule, own_reach) for rule in options.rules for own_reach in (True, False)]
        kinds = dict.fromkeys((predicts(RULES[rule]), own_reach) for rule, own_reach in rows)
        seconds = time_kinds(form, options.threads, BATCH[cards], kinds)
        measure_every = options.measure_every or MEASURE_EVERY[cards]
        for rule, own_reach in rows:
            engine = PublicEngine(form, threads=options.threads, own_reach=own_reach)
            run = Run(
                spot=name,
                rule=rule,
                own_reach=own_reach,
                threads=options.threads,
                limit=options.limit,
                measure_every=measure_every,
                seconds_per_iteration=float(f"{seconds[predicts(RULES[rule]), own_reach]:.4g}"),
                percents=trace(engine, spot.pot, RULES[rule], options.limit, measure_every),
            )
            runs.append(run)
            print(f"{name:16} {rule:26} {weighing(own_reach):9} {iterations_cell(run)}", flush=True)
            if options.out:
                write(options.out, runs)
    return runs


def write(path: Path, runs: list[Run]) -> None:
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes")
    lines = ",\n".join(json.dumps(asdict(run)) for run in runs)  # a run a line
    path.write_text(f'{{"hardware": {json.dumps(benchmark.hardware())},\n"date": "{date}",\n"runs": [\n{lines}\n]}}\n')


def read(paths: list[Path]) -> list[Run]:
    """The runs of several files, of equal ones the last counts; says where and when they were measured."""
    runs = []
    for path in paths:
        results = json.loads(path.read_text())
        found = [Run(**run) for run in results["runs"]]
        hardware = results["hardware"]
        threads = ", ".join(map(str, sorted({run.threads for run in found})))
        machine = f"{hardware['processor']}, {hardware['cores']} cores, Python {hardware['python']}"
        print(f"{path.name}: {threads} thread(s), {machine}, {results['date']}")
        runs += found
    return runs


def ratio(run: Run, base: Run) -> float:
    """Geometric mean over the targets of seconds against those of another run; a missed target counts as the limit."""
    taken = [
        [each.seconds_per_iteration * (each.iterations(target) or each.limit) for target in TARGETS]
        for each in (run, base)
    ]
    return statistics.geometric_mean(mine / other for mine, other in zip(*taken))


def weighing(own_reach: bool) -> str:
    return "own reach" if own_reach else "alike"


def iterations_cell(run: Run) -> str:
    return " / ".join(str(run.iterations(target) or f"> {run.limit}") for target in TARGETS)


def seconds_cell(run: Run) -> str:
    missed = f"> {run.limit * run.seconds_per_iteration:.3g}"
    met = [run.seconds(target) for target in TARGETS]
    return " / ".join(missed if seconds is None else f"{seconds:.3g}" for seconds in met)


def show(runs: list[Run]) -> None:
    """Three Markdown tables: iterations with the ratio of seconds, seconds, and the time of an iteration.

    Ratios and sums are over the spots that every row was run on and where the base met every target; where a row missed
    one, they are lower bounds.
    """
    found = {(run.spot, run.row): run for run in runs}
    spots = [spot for spot in SPOTS if any(run.spot == spot for run in runs)]
    rows = [row for rule in RULES for row in ((rule, True), (rule, False)) if any(run.row == row for run in runs)]
    shared = [
        spot for spot in spots if all((spot, row) in found for row in (BASE, *rows)) and found[spot, BASE].meets_all()
    ]

    def bound(row: Row) -> str:
        return "" if all(found[spot, row].meets_all() for spot in shared) else "> "

    def mean_cell(row: Row) -> str:
        ratios = [ratio(found[spot, row], found[spot, BASE]) for spot in shared]
        return f"{bound(row)}{statistics.geometric_mean(ratios):.2f}" if shared else "–"

    def total(row: Row) -> float:
        last = [found[spot, row] for spot in shared]
        return sum((run.iterations(TARGETS[-1]) or run.limit) * run.seconds_per_iteration for run in last)

    def total_cell(row: Row) -> str:
        return f"{bound(row)}{total(row):.2f}" if shared else "–"

    def cells(row: Row, cell: Callable[[Run], str]) -> list[str]:
        measured = [cell(found[spot, row]) if (spot, row) in found else "–" for spot in spots]
        return [LABELS[row[0]], weighing(row[1]), *measured]

    rows.sort(key=total)
    targets = " / ".join(map(str, TARGETS))
    print(f"\nIterations to {targets} % of the pot. On {', '.join(shared) or 'none'}: seconds of all to the last")
    print("target, and the geometric mean of seconds against the base.\n")
    print_table(
        ["rule", "average", *spots, "seconds", "ratio"],
        [[*cells(row, iterations_cell), total_cell(row), mean_cell(row)] for row in rows],
    )
    print(f"\nSeconds to {targets} % of the pot.\n")
    print_table(["rule", "average", *spots], [cells(row, seconds_cell) for row in rows])
    print("\nMilliseconds an iteration.\n")
    times = {(run.kind, run.spot): f"{run.seconds_per_iteration * 1e3:.3g}" for run in runs}
    kinds = sorted({run.kind for run in runs})
    print_table(
        ["rules", "average", *spots],
        [
            [
                "predict" if predicting else "do not predict",
                weighing(own_reach),
                *(times.get(((predicting, own_reach), spot), "–") for spot in spots),
            ]
            for predicting, own_reach in kinds
        ],
    )


def print_table(titles: list[str], rows: list[list[str]]) -> None:
    """Markdown, the first two columns to the left."""
    lines = [titles, ["---", "---"] + ["--:"] * (len(titles) - 2), *rows]
    print("\n".join(f"| {' | '.join(line)} |" for line in lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spots", type=lambda text: text.split(","), default=list(SPOTS))
    parser.add_argument("--rules", type=lambda text: text.split(","), default=list(RULES))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=int, default=LIMIT, help="iterations at most")
    parser.add_argument("--measure-every", type=int, help="iterations; 1 on rivers and turns, 5 on flops")
    parser.add_argument("--out", type=Path, help="a JSON file of raw results")
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="show raw results; nothing is run")
    options = parser.parse_args()
    for option, chosen, known in (("--spots", options.spots, SPOTS), ("--rules", options.rules, RULES)):
        for name in chosen:
            if name not in known:
                parser.error(f"{option}: {name!r} is not one of {', '.join(known)}")
    runs = read(options.table) if options.table else measure(options)
    show([run for run in runs if run.spot in options.spots and run.rule in options.rules])


if __name__ == "__main__":
    main()
