"""Whether two versions of the source give the same answers, bit for bit.

git worktree add --detach ../before COMMIT
python benchmarks/same_answers.py ../before/src [src] [--only leduc,river] [--keep FOLDER] [--out FILE]

Each version solves the same problems in its own process, writes its answers as plain arrays and saves every solution.
Then each reads the other's files and resumes its unfinished solves. These are compared bit for bit:

    the strategy, values, best responses and history of exploitability of every solve; for spots also the decisions
    along a few lines: strategy, EV of each action, and weight, EV and equity of each hand; with buckets too, and for
    a whole game what is played before the flop
    a policy that networks learned, and its exploitability
    the arrays in both files that have the same name
    what the new version reads from an old file, and the old one from a new file, if it can open it

It exits with 1 if anything differs. All calls that depend on the version are in `Package`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"
Arrays = dict[str, NDArray[Any]]

VARIANTS = (
    "vanilla", "plus", "linear", "discounted", "predictive-plus", "predictive-discounted-plus", "postflop", "turn",
    "river",
)  # fmt: skip
TIMED = ("history",)  # arrays of a file that hold seconds
LARGE = 200e6  # bytes; larger solves are saved without regrets, to save disk space
LINES = 6  # walks from the root of a spot to an end


@dataclass(frozen=True)
class Case:
    """One solve or training: a game by name, a spot by its file in tests/data, or a whole game by its TOML."""

    name: str
    what: str
    options: dict[str, Any] = field(default_factory=dict)
    half: int = 0  # iterations after which the solve is saved and resumed from its file
    trains: bool = False

    @property
    def is_spot(self) -> bool:
        return self.what.endswith(".toml")

    @property
    def is_whole_game(self) -> bool:
        return "big_blind" in self.what


def game_cases() -> Iterator[Case]:
    def case(game: str, iterations: int, half: int = 0, **options: Any) -> Case:
        words = [game, *(str(value) for value in options.values()), str(iterations)] + ["resumed"] * (half > 0)
        return Case(" ".join(words), game, {"iterations": iterations, **options}, half)

    for variant in VARIANTS:
        for iterations in (1, 10, 1000):
            yield case("kuhn", iterations, variant=variant)
        for iterations in (1, 30, 300):
            yield case("leduc", iterations, variant=variant)
        yield case("liars_dice(sides=4)", 50, variant=variant)
    yield case("liars_dice", 40, variant="discounted")
    yield case("kuhn(players=3)", 200, variant="plus")
    yield case("leduc", 200, variant="plus", threads=2)
    yield case("goofspiel(cards=4)", 50, variant="plus")
    for engine in ("numba", "numpy", "torch", "matrix", "reference"):
        for updates in ("alternating", "simultaneous"):
            yield case("kuhn", 100, variant="predictive-plus", engine=engine, updates=updates)
            yield case("leduc", 12, variant="discounted", engine=engine, updates=updates)
        if engine != "reference":
            yield case("liars_dice(sides=4)", 20, variant="plus", engine=engine)
    for sampling in ("chance", "external", "outcome"):
        yield case("kuhn", 300, variant="plus", sampling=sampling, seed=7)
        yield case("leduc", 300, variant="linear", sampling=sampling, seed=3)
        yield case("leduc", 200, 80, variant="vanilla", sampling=sampling, seed=5)
        yield case("liars_dice(sides=4)", 200, variant="plus", sampling=sampling, seed=11)
    yield case("kuhn", 300, variant="plus", sampling="chance", engine="reference", seed=7)
    yield case("leduc", 40, variant="plus", sampling="chance", seed=3, batch_size=16)
    yield case("kuhn", 500, 123, variant="predictive-discounted-plus")
    yield case("leduc", 100, 41, variant="discounted")
    yield case("leduc", 30, 10, variant="plus", engine="torch")
    for game in ("kuhn", "leduc"):
        yield Case(f"{game} lp", game, {"variant": "lp"})


def spot_cases() -> Iterator[Case]:
    counts = {
        "river_narrow": (1, 20, 200), "river_rake": (1, 20, 200), "river_wide": (1, 20, 100),
        "turn_example": (1, 12), "turn_paired_donk": (1, 20), "flop_3bet": (1, 3),
    }  # fmt: skip
    for spot, iterations in counts.items():
        file = f"{spot}.toml"
        for count in iterations:
            for storage in (32, 16):
                for threads in (1, 2):
                    name = f"{spot} {storage} bits, {threads} thread{'s' * (threads > 1)}, {count}"
                    yield Case(name, file, {"iterations": count, "storage": storage, "threads": threads})
    for storage in (32, 16):
        for variant in VARIANTS:
            options = {"iterations": 25, "variant": variant, "storage": storage}
            yield Case(f"river_wide {storage} bits, {variant}, 25", "river_wide.toml", options)
        for spot, count, half in (("river_rake", 60, 23), ("turn_paired_donk", 12, 5)):
            name = f"{spot} {storage} bits, {count} resumed"
            yield Case(name, f"{spot}.toml", {"iterations": count, "storage": storage}, half)
    yield Case("river_narrow to 0.1 %", "river_narrow.toml", {"target": 0.1})
    yield Case("turn_paired_donk to 1 %", "turn_paired_donk.toml", {"target": 1.0})


WHOLE_GAME = """
name = "ten big blinds"
stack = 20
small_blind = 1
big_blind = 2
preflop.open = "2x, a"
preflop.3bet = "a"
bets.bet = "50%, a"
bets.raise = "a"
rules.chip = 1
"""


def other_cases() -> Iterator[Case]:
    for storage in (32, 16):
        yield Case(f"leduc public, {storage} bits", "leduc", {"iterations": 60, "form": "public", "storage": storage})
    yield Case("push-fold", "push-fold(stack=10)", {"iterations": 300})
    buckets = {"buckets": "river=20,method=percentile", "sample_runouts": 8, "seed": 3}
    for threads in (1, 2):
        options = {"iterations": 30, "threads": threads, **buckets}
        yield Case(f"turn_paired_donk buckets, {threads} threads", "turn_paired_donk.toml", options)
    yield Case("turn_paired_donk buckets, 20 resumed", "turn_paired_donk.toml", {"iterations": 20, **buckets}, half=8)
    whole = {"buckets": "flop=10,turn=10,river=10,method=percentile", "sample_runouts": 4, "seed": 3, "threads": 1}
    yield Case("whole game", WHOLE_GAME, {"iterations": 20, **whole})
    small = {"traversals": 200, "value_steps": 40, "policy_steps": 100, "seed": 7, "device": "cpu", "threads": 1}
    for algorithm in ("deep", "single"):
        yield Case(
            f"training kuhn {algorithm}", "kuhn", {"iterations": 4, "algorithm": algorithm, **small}, trains=True
        )


CASES = [*game_cases(), *spot_cases(), *other_cases()]


def chosen(only: str) -> list[Case]:
    return [case for case in CASES if any(word in case.name for word in only.split(","))]


def number_of(case: Case) -> int:
    """What its files are called."""
    return CASES.index(case)


# --- in the process of one version -----------------------------------------------------------------------------------


class Package:
    """The version that this process imports."""

    def __init__(self) -> None:
        self.rl = importlib.import_module("regretless")
        self.holdem = importlib.import_module("regretless.holdem")

    def problem(self, case: Case) -> Any:
        if case.is_whole_game:
            return self.holdem.HoldemGame.parse(case.what)
        return self.rl.Spot.read(str(DATA / case.what)) if case.is_spot else case.what

    def solve(self, case: Case, path: Path) -> Any:
        options = dict(case.options)
        if case.trains:
            return self.rl.train(self.problem(case), **options)
        if options.get("variant") != "lp" and "target" not in options and not case.is_whole_game:
            options["measure_every"] = max(options["iterations"] // 4, 1)
        if not case.half:
            return self.rl.solve(self.problem(case), **options)
        self.save(self.rl.solve(self.problem(case), **options | {"iterations": case.half}), path)
        return self.resume(case, path)

    def resume(self, case: Case, path: Path) -> Any:
        return self.rl.solve(resume=str(path), iterations=case.options["iterations"])

    def save(self, solution: Any, path: Path) -> None:
        solution.save(path, resumable=solution.record.memory_bytes < LARGE)

    def load(self, path: Path) -> Any:
        return self.rl.load(path)

    def answers(self, case: Case, solution: Any) -> Arrays:
        """Everything a solution reports, as arrays."""
        found: Arrays = {
            "iterations": np.array(solution.iterations),
            "reason": np.array(solution.reason),
            "history": np.array([(point.iteration, point.exploitability) for point in solution.history]),
        }
        if solution.is_measured:
            found["values"] = np.array(solution.values)
            found["best responses"] = np.array(solution.evaluation.best_response_values)
            found["nash_conv"] = np.array(solution.nash_conv)
        if case.is_spot:
            found |= self.node_answers(solution)
        else:
            strategy = solution.strategy
            found["keys"] = np.array(list(strategy))
            found["actions"] = np.array([action for row in strategy.values() for action in row])
            found["strategy"] = np.array([share for row in strategy.values() for share in row.values()])
        return found

    def node_answers(self, solution: Any) -> Arrays:
        """The decisions along a few lines from the root to an end."""
        found: Arrays = {}
        for seed in range(LINES):
            draw, line = random.Random(seed), ""
            view = solution.node("")
            while view.kind in ("decision", "chance"):
                if view.kind == "chance":
                    line += ", " + draw.choice([card for card in deck() if card not in texts(view.board)])
                    view = solution.node(line)
                    continue
                found |= {
                    f"node '{line}' actions": np.array(view.actions),
                    f"node '{line}' strategy": view.strategy,
                    f"node '{line}' action EV": view.action_ev,
                }
                for player, table in view.hands.items():
                    for part in ("hand", "weight", "ev", "equity"):
                        found[f"node '{line}' {player} {part}"] = getattr(table, part)
                action = draw.choice(view.actions)
                line = f"{line}, {action}" if line else action
                view = solution.node(line)
        return found


def deck() -> list[str]:
    return [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]


def texts(board: tuple[int, ...]) -> set[str]:
    return {deck()[card] for card in board}


def work(task: str, only: str, own: Path, other: Path) -> None:
    """`solve` every case into `own`, or `read` the other version's files."""
    package = Package()
    for case in chosen(only):
        number = number_of(case)
        target = own / f"{number}.{task}.npz"
        try:
            if task == "solve":
                solution = package.solve(case, own / f"{number}.half.rgl")
                package.save(solution, own / f"{number}.rgl")
                found = package.answers(case, solution)
                found |= reread(package, case, own / f"{number}.rgl", "own file")
            else:
                found = reread(package, case, other / f"{number}.rgl", "file")
                if case.half:
                    resumed = package.answers(case, package.resume(case, other / f"{number}.half.rgl"))
                    found |= {f"resumed {name}": array for name, array in resumed.items()}
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            found = {"error": np.array(f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}: {error}")}
        np.savez(target, **found)


def reread(package: Package, case: Case, path: Path, prefix: str) -> Arrays:
    read = package.answers(case, package.load(path))
    return {f"{prefix} {name}": array for name, array in read.items()}


# --- comparing ------------------------------------------------------------------------------------------------------


def same(first: NDArray[Any], second: NDArray[Any]) -> bool:
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()


def differences(first: Arrays, second: Arrays) -> list[str]:
    """Names of arrays that differ, or that only one has."""
    shared = first.keys() & second.keys()
    return [name for name in first | second if name not in shared or not same(first[name], second[name])]


def loaded(path: Path) -> Arrays:
    with np.load(path) as file:
        return dict(file)


def file_arrays(path: Path) -> Arrays:
    from safetensors.numpy import load_file

    return {name: array for name, array in load_file(path).items() if name not in TIMED} if path.exists() else {}


def judge(case: Case, number: int, before: Path, after: Path) -> tuple[str, bool]:
    """The verdict on a case, and whether it passes."""
    old, new = (loaded(folder / f"{number}.solve.npz") for folder in (before, after))
    for side, found in (("before", old), ("after", new)):
        if "error" in found:
            return f"FAILED {side}: {found['error']}", False
    wrong = differences(old, new)
    notes = []
    stored, restored = (file_arrays(folder / f"{number}.rgl") for folder in (before, after))
    shared = stored.keys() & restored.keys()
    wrong += [f"array {name}" for name in sorted(shared) if not same(stored[name], restored[name])]
    if alone := sorted(stored.keys() ^ restored.keys()):
        notes.append(f"only in one file: {', '.join(alone)}")
    for side, reader, own in (("old", after, old), ("new", before, new)):
        read = loaded(reader / f"{number}.read.npz")
        if "error" in read:
            if side == "old":
                wrong.append(f"old file: {read['error']}")
            else:
                notes.append("the version before does not open the new file")
            continue
        expected = {name.removeprefix("own "): array for name, array in own.items() if name.startswith("own file")}
        if case.half:
            expected |= {f"resumed {name}": array for name, array in own.items() if not name.startswith("own file")}
        wrong += [f"{side} {name}" for name in differences(expected, read)]
    said = f"{len(old)} answers, {len(shared)} arrays"
    if wrong:
        return f"{said}: DIFFERENT: {len(wrong)}: {'; '.join(wrong[:4])}", False
    return f"{said}: same" + (f" ({'; '.join(notes)})" if notes else ""), True


def run(task: str, only: str, source: Path, own: Path, other: Path) -> None:
    command = [sys.executable, __file__, "--work", task, "--only", only, str(own), str(other)]
    environment = os.environ | {"PYTHONPATH": str(source.resolve()), "PYTHONWARNINGS": "ignore"}
    subprocess.run(command, check=True, env=environment, cwd=own)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path, nargs="?", default=ROOT / "src")
    parser.add_argument("--only", default="", help="cases whose names contain one of these, separated by commas")
    parser.add_argument("--keep", type=Path, help="keep what the version before finds here, and use it the next time")
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    parser.add_argument("--work", choices=["solve", "read"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.only, options.before, options.after)
        return
    with tempfile.TemporaryDirectory() as folder:
        before, after = (Path(folder) / side for side in ("before", "after"))
        if options.keep is not None:
            before = options.keep.resolve()
        before.mkdir(exist_ok=True)
        after.mkdir()
        if not all((before / f"{number_of(case)}.solve.npz").exists() for case in chosen(options.only)):
            run("solve", options.only, options.before, before, after)
        run("solve", options.only, options.after, after, before)
        run("read", options.only, options.before, before, after)
        run("read", options.only, options.after, after, before)
        cases = chosen(options.only)
        verdicts = [judge(case, number_of(case), before, after) for case in cases]
    lines = [f"{case.name:60} {said}" for case, (said, _) in zip(cases, verdicts, strict=True)]
    failed = sum(not passed for _, passed in verdicts)
    lines.append(
        f"{len(cases)} solves: {failed} differ" if failed else f"{len(cases)} solves: all the same, bit for bit"
    )
    print("\n".join(lines))
    if options.out is not None:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
