"""Seconds per iteration of alternating CFR+ on one thread, compared with OpenSpiel and LiteEFG.

    python benchmarks/games.py                                          a few minutes
    python benchmarks/games.py kuhn leduc --contenders numba,openspiel [--dtype float32] [--out FILE] [--json]

1. Every contender gets the same game: the same tree, alternating updates, linear averaging, one thread.
2. Contenders take turns in rounds of about a tenth of a second each, so that a machine that slows down slows them
   all.
3. A time is the median over rounds; a ratio compares medians of the same run.

OpenSpiel's Leduc has three ranks; for more, its `universal_poker` plays the same game.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from machine import hardware

from regretless.engines import create
from regretless.errors import InvalidOption, RegretlessError
from regretless.files.atomic import check_writable
from regretless.forms.compile import compile_history
from regretless.forms.sequence import compile_sequence
from regretless.games.registry import load
from regretless.variants.plus import Plus
from regretless.variants.variant import schedule

__all__ = ["CONTENDERS", "GAMES", "Timing", "compare", "ratio_table", "record"]

Run = Callable[[int], None]  # runs this many more iterations

LIBRARIES = ("numpy", "numba", "scipy", "open_spiel", "LiteEFG")
ROUNDS = 7
ROUND_SECONDS = 0.1
SLOWEST_PYTHON = 60_000  # nodes; beyond this, OpenSpiel's Python solver takes seconds per iteration


@dataclass(frozen=True)
class Peers:
    """What OpenSpiel calls a game."""

    openspiel: str
    parameters: dict[str, Any]


GAMES: dict[str, Peers] = {
    "kuhn": Peers("kuhn_poker", {}),
    "leduc": Peers("leduc_poker", {}),
    "liars_dice": Peers("liars_dice", {"numdice": 1, "dice_sides": 6}),
    "goofspiel(cards=5)": Peers("goofspiel", {"num_cards": 5, "imp_info": True, "points_order": "descending"}),
    "goofspiel(cards=6)": Peers("goofspiel", {"num_cards": 6, "imp_info": True, "points_order": "descending"}),
    "leduc(ranks=13)": Peers(
        "universal_poker",
        {
            "betting": "limit", "numPlayers": 2, "numRounds": 2, "blind": "1 1", "raiseSize": "2 4",
            "firstPlayer": "1 1", "maxRaises": "2 2", "numSuits": 2, "numRanks": 13, "numHoleCards": 1,
            "numBoardCards": "0 1", "bettingAbstraction": "fcpa",
        },
    ),
}  # fmt: skip

OURS = ("numba", "numpy", "matrix")
THEIRS = ("openspiel", "openspiel-python", "liteefg")
CONTENDERS = (*OURS, *THEIRS)
DEFAULT_CONTENDERS = ("numba", "numpy", "openspiel", "openspiel-python", "liteefg")
DTYPES = ("float64", "float32")  # of the numba engine


@dataclass(frozen=True)
class Timing:
    """One game: seconds per iteration by contender, and why others are missing."""

    game: str
    nodes: int
    information_sets: int
    seconds: dict[str, float]
    missing: dict[str, str]


def compare(
    names: Iterable[str] = tuple(GAMES),
    contenders: Iterable[str] = DEFAULT_CONTENDERS,
    *,
    dtype: str | None = None,
) -> Iterator[Timing]:
    """Time the contenders on one game after another; `dtype` is for the numba engine."""
    names, contenders = tuple(names), tuple(contenders)
    for contender in contenders:
        if contender not in CONTENDERS:
            raise InvalidOption("contenders", contender, f"is not one of {', '.join(CONTENDERS)}")
    for name in names:
        if name not in GAMES:
            raise InvalidOption("games", name, f"is not one of {', '.join(GAMES)}")
    if dtype not in (None, *DTYPES):
        raise InvalidOption("dtype", dtype, f"is not one of {', '.join(DTYPES)}")
    for name in names:
        yield _compare_one(name, contenders, dtype)


def _compare_one(name: str, contenders: tuple[str, ...], dtype: str | None) -> Timing:
    history = compile_history(load(name))
    sequence = compile_sequence(history)
    runs: dict[str, Run] = {}
    missing: dict[str, str] = {}
    for contender in contenders:
        try:
            if contender in OURS:
                form = history if contender == "matrix" else sequence
                runs[contender] = _ours(
                    create(contender, form, threads=1, dtype=dtype if contender == "numba" else None)
                )
            elif contender == "openspiel-python" and len(history.parent) > SLOWEST_PYTHON:
                missing[contender] = "skipped: takes seconds per iteration"
            else:
                with contextlib.redirect_stdout(io.StringIO()):
                    runs[contender] = _THEIRS[contender](GAMES[name])
        except Exception as error:  # a peer that is not installed or cannot load the game
            missing[contender] = f"{type(error).__name__}: {error}".splitlines()[0]
    return Timing(name, len(history.parent), len(history.keys), _time_in_turn(runs), missing)


def _time_in_turn(runs: dict[str, Run]) -> dict[str, float]:
    """Median seconds per iteration of each contender, measured in rounds."""
    count = {}
    for contender, run in runs.items():
        run(2)  # compile, and warm the caches
        began, done = time.perf_counter(), 0
        while (elapsed := time.perf_counter() - began) < ROUND_SECONDS / 4:
            run(max(1, done))
            done += max(1, done)
        count[contender] = max(1, round(ROUND_SECONDS * done / elapsed))
    seconds: dict[str, list[float]] = {contender: [] for contender in runs}
    for _ in range(ROUNDS):
        for contender, run in runs.items():
            began = time.perf_counter()
            run(count[contender])
            seconds[contender].append((time.perf_counter() - began) / count[contender])
    return {contender: statistics.median(times) for contender, times in seconds.items()}


def _ours(engine: Any) -> Run:
    rows = schedule(Plus(), first=1, count=200_000)

    def run(iterations: int) -> None:
        first = engine.iteration % 100_000
        engine.advance(rows[first : first + iterations])

    return run


def _openspiel_game(peers: Peers) -> Any:
    import pyspiel

    game = pyspiel.load_game(peers.openspiel, peers.parameters)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    return game


def _openspiel(peers: Peers) -> Run:
    import pyspiel

    return _repeated(pyspiel.CFRPlusSolver(_openspiel_game(peers)).evaluate_and_update_policy)


def _openspiel_python(peers: Peers) -> Run:
    from open_spiel.python.algorithms.cfr import CFRPlusSolver

    return _repeated(CFRPlusSolver(_openspiel_game(peers)).evaluate_and_update_policy)


def _liteefg(peers: Peers) -> Run:
    import LiteEFG
    from LiteEFG.baselines import CFRplus

    LiteEFG.set_threads(1)
    baseline: Any = CFRplus
    graph = baseline.graph()
    environment = LiteEFG.OpenSpielEnv(_openspiel_game(peers), traverse_type="Enumerate", regenerate=False)
    environment.set_graph(graph)

    def step() -> None:
        graph.update_graph(environment)
        environment.update_strategy(graph.current_strategy(), update_best=False)

    return _repeated(step)


_THEIRS: dict[str, Callable[[Peers], Run]] = {
    "openspiel": _openspiel,
    "openspiel-python": _openspiel_python,
    "liteefg": _liteefg,
}


def _repeated(step: Callable[[], None]) -> Run:
    def run(iterations: int) -> None:
        for _ in range(iterations):
            step()

    return run


def ratio_table(timings: Iterable[Timing], base: str = "numba") -> str:
    """Times in milliseconds, with the speedup of `base` in brackets."""
    timings = list(timings)
    contenders = list(dict.fromkeys(name for timing in timings for name in timing.seconds))
    rows = [["game", "nodes", *contenders]]
    for timing in timings:
        cells = [timing.game, f"{timing.nodes:,}"]
        for contender in contenders:
            seconds = timing.seconds.get(contender)
            ratio = (
                ""
                if contender == base or base not in timing.seconds
                else f" ({(seconds or 0) / timing.seconds[base]:,.0f}×)"
            )
            cells.append("–" if seconds is None else f"{_three_digits(seconds * 1e3)} ms{ratio}")
        rows.append(cells)
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _three_digits(number: float) -> str:
    return f"{number:#.3g}".rstrip(".") if number < 1000 else f"{number:,.0f}"


def record(timings: Iterable[Timing], dtype: str | None) -> dict[str, Any]:
    """The times, the machine and the library versions, to be written as JSON."""
    return {
        "what": "seconds per iteration, alternating CFR+, one thread, medians of alternating rounds",
        "date": time.strftime("%Y-%m-%d"),
        "hardware": hardware(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "dtype": dtype or "float64",
        "games": [asdict(timing) for timing in timings],
    }


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", help="games to time; all of them by default")
    parser.add_argument(
        "--contenders",
        default=",".join(DEFAULT_CONTENDERS),
        help="solvers to time, separated by commas; those not installed are skipped",
    )
    parser.add_argument("--dtype", help="number format of the numba engine: float64 or float32")
    parser.add_argument("--out", type=Path, help="write times and hardware to this JSON file")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)
    try:
        if options.out is not None:
            check_writable(options.out)
        timings = []
        for timing in compare(options.games or tuple(GAMES), options.contenders.split(","), dtype=options.dtype):
            timings.append(timing)
            print(f"{timing.game} done", file=sys.stderr)
            for contender, reason in timing.missing.items():
                print(f"  {contender}: {reason}", file=sys.stderr)
    except RegretlessError as error:
        sys.exit(f"error: {error}")
    report = record(timings, options.dtype)
    if options.out is not None:
        options.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(report) if options.json else ratio_table(timings))


if __name__ == "__main__":
    main()
