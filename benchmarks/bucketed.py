"""Buckets and sampled runouts: how fast, and how exploitable with real cards.

python benchmarks/bucketed.py speed [--buckets 200] [--sample-runouts 16] [--engine numba] [--device cpu] [--threads 2]
python benchmarks/bucketed.py price [--buckets 50,200,1000,lossless] [--methods kmeans,percentile] [--iterations 1000]
python benchmarks/bucketed.py flop-holdem [--buckets 200] [--methods kmeans,percentile] [--sample-runouts 64] [--exact]
python benchmarks/bucketed.py plot --results FILE… --out FILE.png

speed and price take --spot FILE, by default flop_3bet: 416 and 273 hands, 450 actions in the betting tree.

speed: boards per second are runouts of a batch, over the time of an iteration that updates both players. An iteration
moves at least five numbers per action and bucket: the updating player's regret and average are read and written, and
the regret is read once more when the other player is updated. At the bandwidth of a large copy, that takes the floor.

price: each row gets the same number of iterations. Exploitability is that of the average strategy with real cards over
every runout, in % of the pot, half of NashConv; --exact adds the solve without buckets or samples, with a fiftieth of
the iterations. Memory is that of regrets and averages.

flop-holdem: hold'em that ends with the flop, from the deal, with so many buckets on the flop and 169 before it. Hands
are compared on the flop, so buckets compare the strength there: percentiles of the share of all hands that a hand
beats, or k-means of that share against each of eight kinds of opposing hands. Exploitability is that with real cards on
all 1,755 flops, in thousandths of a big blind per game (mbb/g). --exact adds the solve without buckets or samples, with
a tenth of the iterations.

--buckets none leaves only the exact solve.

plot: the results of price or flop-holdem, from files that --out wrote: exploitability against memory.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import copy_bandwidth, hardware
from numpy.typing import NDArray

from regretless import engines
from regretless.cards.features import CLUSTERS, OPPONENT_CLUSTERS, OPPONENT_LEVELS
from regretless.cards.hands import HAND_CLASS
from regretless.engines import CentroidLookup, PricedEngine, find_centroids
from regretless.engines.bucket_tables import TableLayout
from regretless.forms.bucketed import bucketed_form
from regretless.forms.public import DEAD, PublicForm
from regretless.games.flop_holdem import FlopHoldem
from regretless.holdem.buckets.plan import BucketChoice
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.games.bucketed_spot import spot_buckets
from regretless.holdem.games.flop_holdem import compile_flop_holdem
from regretless.holdem.spots.spot import Spot
from regretless.variants import PRESETS, schedule

FLOP_3BET = Path(__file__).parents[1] / "tests" / "data" / "flop_3bet.toml"
ROUNDS = 5
SAMPLE = 200_000  # hands on flops from which centroids are computed
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
NAMES = {
    "kmeans": "k-means",
    "percentile": "percentiles of strength",
    "lossless": "lossless, sampled",
    "exact": "exact",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("speed", "price", "flop-holdem", "plot"))
    parser.add_argument("--spot", type=Path, default=FLOP_3BET)
    parser.add_argument("--buckets", default="", help="per street, separated by commas")
    parser.add_argument("--methods", default="kmeans,percentile")
    parser.add_argument("--sample-runouts", type=int, help="per iteration; 16, or 64 of flop hold'em")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--variant", default="linear")
    parser.add_argument("--iterations", type=int, default=1000, help="per row of `price` and `flop-holdem`")
    parser.add_argument("--exact", action="store_true", help="also without buckets or samples")
    parser.add_argument("--storage", type=int, default=32, help="bits of a number of the exact solve")
    parser.add_argument("--results", type=Path, nargs="+", help="JSON files to plot")
    parser.add_argument("--out", type=Path, help="JSON file for the results; picture of `plot`")
    given = parser.parse_args()
    if given.what == "plot":
        draw([json.loads(path.read_text(encoding="utf-8")) for path in given.results], given.out)
        return
    of_flop_holdem = given.what == "flop-holdem"
    given.sample_runouts = given.sample_runouts or (64 if of_flop_holdem else 16)
    rows = speeds(given) if given.what == "speed" else flop_holdem_prices(given) if of_flop_holdem else prices(given)
    answer = {
        "date": datetime.date.today().isoformat(),
        "hardware": hardware(),
        "spot": "flop-holdem" if of_flop_holdem else given.spot.stem,
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
    bucketed = bucketed_form(form, maps, buckets=counts, count=given.sample_runouts)
    engine = engines.create(given.engine, bucketed, device=given.device, threads=given.threads)
    return PricedEngine(engine, engines.bucket_evaluator_beside(engine, form), maps), seconds


def wanted(given: argparse.Namespace, default: str) -> list[str]:
    """The numbers of buckets that were asked for."""
    return [] if given.buckets == "none" else (given.buckets or default).split(",")


def text_of(count: str, method: str) -> str:
    return f"turn={count},river={count},method={method}"


def speeds(given: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for count in wanted(given, "200"):
        engine = make_engine(given, text_of(count, "percentile"))[0].engine
        engine.advance(schedule(PRESETS[given.variant], 1, 2))
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            engine.advance(schedule(PRESETS[given.variant], engine.iteration + 1, 4))
            times.append((time.perf_counter() - began) / 4)
        seconds = statistics.median(times)
        moved = 5 * 4 * sum(TableLayout(engine.form).entries)
        bandwidth = copy_bandwidth(engine.device, threads=engine.threads)
        rows.append(
            {
                "buckets": count,
                "engine": engine.name,
                "device": engine.device,
                "threads": engine.threads,
                "runouts": given.sample_runouts,
                "ms_per_iteration": 1e3 * seconds,
                "boards_per_second": given.sample_runouts / seconds,
                "MB_moved": moved / 1e6,
                "times_floor": seconds / (moved / bandwidth),
            }
        )
    return rows


def prices(given: argparse.Namespace) -> list[dict[str, Any]]:
    pot = Spot.read(given.spot).pot
    rows: list[dict[str, Any]] = [exact_price(given, pot)] if given.exact else []
    for count in wanted(given, "50,200,1000,lossless"):
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


# --- flop hold'em ----------------------------------------------------------------------------------------------------


def flop_holdem_prices(given: argparse.Namespace) -> list[dict[str, Any]]:
    form = compile_flop_holdem(FlopHoldem())
    rows: list[dict[str, Any]] = [exact_flop_holdem(given, form)] if given.exact else []
    for count in map(int, wanted(given, "200")):
        for method in given.methods.split(","):
            began = time.perf_counter()
            on_flop = flop_buckets(form, count, method)
            building = time.perf_counter() - began
            maps = HAND_CLASS[None].astype(np.int32), on_flop
            bucketed = bucketed_form(form, (maps, maps), buckets=[[169, count]] * 2, count=given.sample_runouts)
            engine = engines.create(given.engine, bucketed, device=given.device, threads=given.threads)
            priced = PricedEngine(engine, engines.bucket_evaluator_beside(engine, form), (maps, maps))
            solving = run(priced, given.variant, given.iterations)
            rows.append(flop_holdem_row(priced, str(count), method, solving) | {"bucket_seconds": building})
            print(json.dumps(rows[-1]), flush=True)
    return rows


def exact_flop_holdem(given: argparse.Namespace, form: PublicForm) -> dict[str, Any]:
    engine = engines.create("auto", form, threads=given.threads, storage=given.storage)
    solving = run(engine, "discounted", given.iterations // 10)
    return flop_holdem_row(engine, "exact", "-", solving) | {"bucket_seconds": 0.0}


def flop_holdem_row(engine: Any, buckets: str, method: str, solving: float) -> dict[str, Any]:
    began = time.perf_counter()
    found = engine.evaluate()
    return {
        "buckets": buckets,
        "method": method,
        "iterations": engine.iteration,
        "mbb_per_game": 1000 * found.exploitability,
        "nash_conv_mbb": 1000 * found.nash_conv,
        "value_mbb": 1000 * found.values[0],
        "MB": engine.kept_bytes / 1e6,
        "seconds": solving,
        "price_seconds": time.perf_counter() - began,
    }


def flop_buckets(form: PublicForm, count: int, method: str) -> NDArray[np.int32]:
    """[1755, 1326] buckets by strength on the flop; those of blocked hands are never read."""
    strength, street = form.strength[0], form.streets[1]
    copies = np.diff(street.first_copy)
    live = strength != DEAD
    weights = np.repeat(copies, live.sum(axis=1)).astype(np.int64)
    found = np.zeros(strength.shape, dtype=np.int32)
    if method == "percentile":
        share = beaten(strength, np.ones(strength.shape[1], dtype=np.bool_))[live]
        order = np.argsort(share, kind="stable")
        below = (np.cumsum(weights[order]) - weights[order]) / weights.sum()
        limits = share[order][np.searchsorted(below, np.arange(1, count) / count)]
        found[live] = np.searchsorted(limits, share, side="right")
        return found
    cluster = OPPONENT_CLUSTERS[HAND_CLASS]
    columns = [beaten(strength, cluster == each)[live] for each in range(CLUSTERS)]
    features = np.ascontiguousarray(np.rint(OPPONENT_LEVELS * np.array(columns).T).astype(np.uint16))
    drawn = np.random.default_rng(0).choice(len(features), size=SAMPLE, replace=False)
    centroids = find_centroids(features[drawn], weights[drawn], count, seed=0)
    found[live] = CentroidLookup(centroids).labels(features)
    return found


def beaten(strength: NDArray[Any], opposing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[flops, H] the share of the opposing hands on each flop that a hand beats, ties counting half."""
    found = np.zeros(strength.shape)
    for flop, row in enumerate(strength):
        there = np.sort(row[opposing & (row != DEAD)])
        below, up_to = (np.searchsorted(there, row, side=side) for side in ("left", "right"))
        found[flop] = (below + up_to) / (2 * len(there))
    return found


# --- output ----------------------------------------------------------------------------------------------------------


def draw(answers: list[dict[str, Any]], path: Path) -> None:
    """Exploitability against memory: a curve for each method, points for solves without buckets."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    first = answers[0]
    column, unit = ("mbb_per_game", "mbb/g") if first["what"] == "flop-holdem" else ("pct_pot", "% of the pot")
    figure = Figure(figsize=(7.2, 4.4), dpi=160, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    curves: dict[str, list[dict[str, Any]]] = {}
    for row in (row for answer in answers for row in answer["rows"]):
        curves.setdefault(row["buckets"] if row["method"] == "-" else row["method"], []).append(row)
    for (name, rows), color in zip(curves.items(), COLORS, strict=False):
        across, up = [row["MB"] for row in rows], [row[column] for row in rows]
        axes.plot(across, up, color=color, marker="o", linewidth=1.8, label=NAMES.get(name, name))
        for row in rows:
            text = f"{row['buckets']}: {row[column]:.3g}"
            place = (-4, -13) if name == "kmeans" else (5, 5)  # the lower curve's labels below it
            axes.annotate(text, (row["MB"], row[column]), xytext=place, textcoords="offset points", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.15, y=0.12)
    axes.grid(True, color="#e3e7eb")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel("regrets and averages, MB")
    axes.set_ylabel(f"exploitability with real cards, {unit}")
    axes.set_title(f"{first['spot']}: what buckets cost", loc="left", fontweight="bold")
    axes.legend(frameon=False)
    figure.savefig(path)


def print_table(rows: list[dict[str, Any]]) -> None:
    cells = [list(rows[0])] + [
        [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


if __name__ == "__main__":
    main()
