"""Milliseconds per iteration of hold'em spots, bytes moved, and how far that is from the memory bandwidth.

    python benchmarks/floor.py                                    a river, a turn and a flop on all cores
    python benchmarks/floor.py --device cuda --storage 16
    python benchmarks/floor.py flop.toml --threads 4 [--engine torch] [--out FILE] [--json]

An iteration must move at least five numbers per entry: the updating player's regret and average are read and written,
and the regret is read once more when the other player is updated. At the bandwidth of a large copy, that takes the
*floor*. Spots that fit in a cache can be faster than their floor.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from machine import copy_bandwidth, hardware

from regretless import engines
from regretless.engines import number_format
from regretless.errors import RegretlessError
from regretless.files.atomic import check_writable
from regretless.forms.public_size import size_of_form
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.spots.spot import Spot
from regretless.variants.presets import PRESETS
from regretless.variants.variant import schedule

__all__ = ["SPOTS", "SpotTiming", "time_spots", "timing_table"]

ROUNDS, ROUND_SECONDS = 10, 0.1
VARIANT = "postflop"

_RANGES = {
    "oop": {"range": "22+, A2s+, K9s+, QTs+, JTs, T9s, ATo+, KJo+"},
    "ip": {"range": "22-JJ, A2s-AJs, KTs+, QJs"},
}
_FIELDS: dict[str, Any] = _RANGES | {"pot": 180, "stack": 910, "bets": {"bet": "50%, a", "raise": "2.5x"}}
SPOTS = {
    name: Spot.from_mapping(_FIELDS | {"name": name, "board": board})
    for name, board in (("river", "Qs Jh 2h 8d 3c"), ("turn", "Qs Jh 2h 8d"), ("flop", "Qs Jh 2h"))
}


@dataclass(frozen=True)
class SpotTiming:
    """One spot on one engine."""

    spot: str
    engine: str
    device: str
    threads: int
    storage: int
    entries: int
    seconds: float  # per iteration, median over rounds
    moved: int  # bytes that an iteration moves at least
    bandwidth: float  # bytes per second of a large copy on the device

    @property
    def floor(self) -> float:
        """Seconds that moving those bytes takes."""
        return self.moved / self.bandwidth

    def as_json(self) -> dict[str, Any]:
        """The figures, those that follow from others included."""
        achieved = self.moved / self.seconds
        return asdict(self) | {"achieved": achieved, "floor": self.floor, "times_floor": self.seconds / self.floor}


def time_spots(
    spots: Iterable[Spot],
    *,
    engine: str = "auto",
    device: str = "auto",
    threads: int | None = None,
    storage: int = 32,
) -> Iterator[SpotTiming]:
    """Time spots one after another."""
    bandwidths: dict[tuple[str, int], float] = {}
    for spot in spots:
        form = compile_spot(spot)
        built = engines.create(engine, form, device=device, threads=threads, storage=storage)
        where = built.device, built.threads
        if where not in bandwidths:
            bandwidths[where] = copy_bandwidth(built.device, threads=built.threads)
        number, entries = number_format(storage), size_of_form(form).entries
        yield SpotTiming(
            spot=spot.name or "spot",
            engine=built.name,
            device=built.device,
            threads=built.threads,
            storage=storage,
            entries=entries,
            seconds=_seconds(built),
            moved=entries * (3 * number.regret.itemsize + 2 * number.average.itemsize),
            bandwidth=bandwidths[where],
        )


def _seconds(engine: Any) -> float:
    """Median seconds per iteration, after a warm-up."""

    def run(iterations: int) -> float:
        rows = schedule(PRESETS[VARIANT], engine.iteration + 1, iterations)
        began = time.perf_counter()
        engine.advance(rows)
        return (time.perf_counter() - began) / iterations

    run(2)
    count = max(1, int(ROUND_SECONDS / run(2)))
    return statistics.median(run(count) for _ in range(ROUNDS))


def timing_table(timings: Iterable[SpotTiming]) -> str:
    """The timings as text."""
    header = "spot engine device threads bits entries ms_per_iteration MB_moved GB/s copy_GB/s times_the_floor"
    rows = [[word.replace("_", " ") for word in header.split()]]
    for each in timings:
        achieved = each.moved / each.seconds
        rows.append(
            [each.spot, each.engine, each.device, str(each.threads), str(each.storage), str(each.entries)]
            + [f"{1e3 * each.seconds:.3f}", f"{each.moved / 1e6:.1f}", f"{achieved / 1e9:.1f}"]
            + [f"{each.bandwidth / 1e9:.1f}", f"{each.seconds / each.floor:.2f}"]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="SPOT.toml", help="spots; by default a river, a turn and a flop")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--storage", type=int, default=32, help="bits per stored number: 32 or 16")
    parser.add_argument("--out", type=Path, help="write times and hardware to this JSON file")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)
    engine_options = {name: getattr(options, name) for name in ("engine", "device", "threads", "storage")}
    try:
        if options.out is not None:
            check_writable(options.out)
        timings = []
        for timing in time_spots(map(Spot.read, options.files) if options.files else SPOTS.values(), **engine_options):
            timings.append(timing)
            print(f"{timing.spot} done", file=sys.stderr)
    except RegretlessError as error:
        sys.exit(f"error: {error}")
    report = {
        "what": "seconds per iteration of alternating CFR on hold'em spots, medians of rounds",
        "hardware": hardware(),
        "spots": [timing.as_json() for timing in timings],
    }
    if options.out is not None:
        options.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(report) if options.json else timing_table(timings))


if __name__ == "__main__":
    main()
