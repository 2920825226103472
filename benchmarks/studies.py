"""Studies: how fast their tables answer, and what handing out spots costs.

    python benchmarks/studies.py query      a grouped query over 1,755 flops × 20 lines of made-up rows
    python benchmarks/studies.py overhead   seconds per spot that are not spent on solving, with one worker and with two

`overhead` solves small spots. With two workers on two idle cores, the sum of the spots' own seconds divided by twice
the wall time is the share of the ideal speed-up; on a busy machine it says nothing.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import regretless as rl
from regretless.cluster import LocalExecutor, run_study
from regretless.holdem.studies.folder import StudyFolder
from regretless.holdem.studies.plan import StudyPlan, StudySpot
from regretless.holdem.studies.schema import TABLES
from regretless.holdem.studies.sizes import study_size
from regretless.holdem.studies.textures import texture_of

FIELDS = """
flops = "{flops}"
iterations = {iterations}
pot = 60
stack = 100
oop.range = "QQ, AKs, 76s, T9s"
ip.range = "JJ, KQs, 98s, A5s"
bets.flop.bet = "50%"
rules.add_allin = 0
"""
LINES = 20
ACTIONS = ("check", "bet 20", "bet 60")
QUERIES = {
    "report by texture": lambda study: study.report("line 3", by="texture", sort="bet"),
    "report by flop": lambda study: study.report("line 3", by="flop"),
    "SQL over all lines": lambda study: study.query(
        "SELECT line, texture, action, sum(weight * frequency) / sum(weight) FROM summary GROUP BY ALL"
    ),
}


def made_up(spot: StudySpot, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Rows of `summary` with every column filled."""
    numbers = [name for name, (kind, _) in TABLES["summary"].items() if kind == "number"]
    for line in range(LINES):
        for place, action in enumerate(ACTIONS):
            yield {
                "spot": spot.id,
                "flop": spot.flop.text,
                "variation": 1,
                "flops": spot.flop.flops,
                **asdict(texture_of(spot.flop.cards)),
                "line": f"line {line}",
                "pattern": f"line {line}",
                "street": "flop",
                "player": "oop",
                "place": place,
                "action": action,
                "kind": action.split()[0],
                **{name: chance.random() for name in numbers},
                "weight": spot.flop.weight,
            }


def query() -> None:
    """Median seconds of grouped queries, opening the study included."""
    plan = StudyPlan.parse(FIELDS.format(flops="all", iterations=1))
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = StudyFolder.prepare(Path(name) / "study", plan)
        for spot in plan.spots:
            folder._write("summary", spot.id, list(made_up(spot, chance)))
            folder._write("runs", spot.id, [{"spot": spot.id}])
        folder.merge()
        # reports parse lines of play, which these are not
        import regretless.holdem.studies.reports as reports

        reports._line = lambda text: text
        print(f"{len(plan.spots):,} flops × {LINES} lines × {len(ACTIONS)} actions")
        for what, ask in QUERIES.items():
            times = []
            for _ in range(7):
                began = time.perf_counter()
                ask(rl.Study(folder.path))
                times.append(time.perf_counter() - began)
            print(f"{what:<20} {statistics.median(times):.3f} s (slowest {max(times):.3f})", flush=True)


def overhead() -> None:
    """Wall time against the spots' own seconds."""
    plan = StudyPlan.parse(FIELDS.format(flops="trips or monotone, A-high or K-high or Q-high", iterations=40))
    size = study_size(plan)
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as name:
            executor = LocalExecutor(size, workers=workers, threads=1)
            first: list[float] = []

            def note(progress: Any, first: list[float] = first) -> None:
                if progress.done and not first:
                    first.append(progress.seconds)

            run = run_study(plan, Path(name) / "study", executor, size, report=note)
            rows = rl.Study(Path(name) / "study").query("SELECT total_seconds FROM runs ORDER BY finished").to_pylist()
            own = [row["total_seconds"] for row in rows][workers:]  # the first of each worker loads kernels
            wall = run.seconds - first[0]
            print(
                f"{workers} worker(s): {len(own)} spots of {statistics.median(own):.2f} s, "
                f"{1e3 * (workers * wall - sum(own)) / len(own):.0f} ms per spot besides solving, "
                f"{sum(own) / wall / workers:.0%} of the ideal speed"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("query", "overhead"))
    {"query": query, "overhead": overhead}[parser.parse_args().what]()
