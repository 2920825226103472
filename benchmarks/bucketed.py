"""Spots with buckets and sampled runouts: how fast, and how exploitable with real cards.

python benchmarks/bucketed.py speed [--buckets 200] [--runouts 16] [--engine numba] [--device cpu] [--threads 2]
python benchmarks/bucketed.py price [--buckets 50,200,1000,lossless] [--methods kmeans,percentile] [--iterations 1000]

Both take --spot FILE, by default flop_3bet: 416 and 273 hands, 450 actions in the betting tree.

speed: boards per second are runouts of a batch, over the time of an iteration that updates both players. An iteration
moves at least five numbers per action and bucket: the updating player's regret and average are read and written, and
the regret is read once more when the other player is updated. At the bandwidth of a large copy, that takes the floor.

price: each row gets the same number of iterations. Exploitability is that of the average strategy with real cards over
every runout, in % of the pot, half of NashConv; --exact adds the solve without buckets or samples, with a fiftieth of
the iterations. Memory is that of regrets and averages.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import time
from pathlib import Path
from typing import Any

from regretless import benchmark, engines
from regretless.engines.bandwidth import copy_bandwidth
from regretless.engines.bucketed.priced import PricedEngine
from regretless.engines.bucketed.tables import table_numbers
from regretless.forms.drawn_runouts import bucketed_form
from regretless.holdem.bucketed.maps import spot_buckets
from regretless.holdem.buckets.choice import BucketChoice
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.spots.spot import Spot
from regretless.variants import PRESETS, schedule

FLOP_3BET = Path(__file__).parents[1] / "tests" / "data" / "flop_3bet.toml"
ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("speed", "price"))
    parser.add_argument("--spot", type=Path, default=FLOP_3BET)
    parser.add_argument("--buckets", default="", help="per street, separated by commas")
    parser.add_argument("--methods", default="kmeans,percentile")
    parser.add_argument("--runouts", type=int, default=16, help="per iteration")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--variant", default="linear")
    parser.add_argument("--iterations", type=int, default=1000, help="per row of `price`")
    parser.add_argument("--exact", action="store_true", help="with `price`: also without buckets or samples")
    parser.add_argument("--out", type=Path, help="JSON file for the results")
    given = parser.parse_args()
    rows = speeds(given) if given.what == "speed" else prices(given)
    answer = {
        "date": datetime.date.today().isoformat(),
        "hardware": benchmark.hardware(),
        "spot": given.spot.stem,
        "what": given.what,
        "rows": rows,
    }
    print_table(rows)
    if given.out is not None:
        given.out.write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")


def make_engine(given: argparse.Namespace, text: str) -> tuple[PricedEngine, float]:
    """An engine for a spot with these buckets, and the seconds that the buckets took."""
    spot = Spot.read(given.spot)
    form = compile_spot(spot)
    began = time.perf_counter()
    maps, counts = spot_buckets(spot, form, BucketChoice.parse(text), threads=given.threads)
    seconds = time.perf_counter() - began
    bucketed = bucketed_form(form, maps, buckets=counts, count=given.runouts)
    engine = engines.create(given.engine, bucketed, device=given.device, threads=given.threads)
    return PricedEngine(engine, form, maps), seconds


def text_of(count: str, method: str) -> str:
    return f"turn={count},river={count},method={method}"


def speeds(given: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for count in (given.buckets or "200").split(","):
        engine = make_engine(given, text_of(count, "percentile"))[0].engine
        engine.advance(schedule(PRESETS[given.variant], 1, 2))
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            engine.advance(schedule(PRESETS[given.variant], engine.iteration + 1, 4))
            times.append((time.perf_counter() - began) / 4)
        seconds = statistics.median(times)
        moved = 5 * 4 * table_numbers(engine.form)
        bandwidth = copy_bandwidth(engine.device, threads=engine.threads)
        rows.append(
            {
                "buckets": count,
                "engine": engine.name,
                "device": engine.device,
                "threads": engine.threads,
                "runouts": given.runouts,
                "ms_per_iteration": 1e3 * seconds,
                "boards_per_second": given.runouts / seconds,
                "MB_moved": moved / 1e6,
                "times_floor": seconds / (moved / bandwidth),
            }
        )
    return rows


def prices(given: argparse.Namespace) -> list[dict[str, Any]]:
    pot = Spot.read(given.spot).pot
    rows: list[dict[str, Any]] = [exact_price(given, pot)] if given.exact else []
    for count in (given.buckets or "50,200,1000,lossless").split(","):
        for method in ("",) if count == "lossless" else given.methods.split(","):
            engine, building = make_engine(given, text_of(count, method or "kmeans"))
            solving = run(engine, given.variant, given.iterations)
            began = time.perf_counter()
            found = engine.evaluate()
            row = {"buckets": count, "method": method or "-", "iterations": engine.iteration}
            row |= {"pct_pot": 100 * found.exploitability / pot, "MB": engine.kept_bytes / 1e6, "seconds": solving}
            rows.append(row | {"bucket_seconds": building, "price_seconds": time.perf_counter() - began})
            print(json.dumps(rows[-1]), flush=True)
    return rows


def run(engine: Any, variant: str, iterations: int) -> float:
    """Iterate; returns the seconds that it took."""
    began = time.perf_counter()
    engine.advance(schedule(PRESETS[variant], 1, iterations))
    return time.perf_counter() - began


def exact_price(given: argparse.Namespace, pot: float) -> dict[str, Any]:
    engine = engines.create("auto", compile_spot(Spot.read(given.spot)), threads=given.threads)
    solving = run(engine, "postflop", given.iterations // 50)
    began = time.perf_counter()
    found = engine.evaluate()
    row = {"buckets": "exact", "method": "-", "iterations": engine.iteration}
    row |= {"pct_pot": 100 * found.exploitability / pot, "MB": engine.kept_bytes / 1e6, "seconds": solving}
    return row | {"bucket_seconds": 0.0, "price_seconds": time.perf_counter() - began}


def print_table(rows: list[dict[str, Any]]) -> None:
    cells = [list(rows[0])] + [
        [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


if __name__ == "__main__":
    main()
