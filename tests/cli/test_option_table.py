"""Every option of `solve` on every kind of problem: honoured, which shows in the answer, or refused by name.

The table has a row per option and a column per kind of problem; an option or a kind without an entry fails.
`honoured` is called with the answers with and without the option. Python is tested against the same table.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import regretless as rl
from regretless.cards.deck import parse_board
from regretless.cards.ranges import Range
from regretless.cli.commands.solve import solve as command
from regretless.errors import InvalidOption
from regretless.forms.betting import flatten, limit_branches
from regretless.forms.public import PublicForm
from regretless.games import FlopHoldem
from regretless.holdem.form.runouts import compile_holdem, holdem_hands
from regretless.holdem.games import dealt_form, flop_holdem
from regretless.holdem.spots.locks import Lock
from regretless.solving.options import RULES

SPOT = """
board = "{board}"
pot = 100
stack = {stack}
[oop]
range = "AKs, QJs, T9s, 99"
[ip]
range = "AA, KQs, JTs, 55"
[bets]
bet = "100%"
"""
GAME = """
stack = 2
small_blind = 0.5
big_blind = 1
preflop.open = ""
bets.river.bet = "a"
rules.add_allin = 0
"""
FLOP = "7c 7d 7h"  # of all flops, the one with the fewest turns and rivers
# A flop has a thousand runouts: with few chips, only checks lead there.
STACKS = {"flop": 100, "turn": 200, "river": 200}
BOARDS = {"flop": "Kh Qs Js", "turn": "Kh Qs Js 2c", "river": "Kh Qs Js 2c 3d"}
Answer = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of problem: its command-line arguments, and its arguments in Python."""

    words: tuple[str, ...]
    python: dict[str, Any]
    what: str | None = None


KINDS = {
    "game": Kind(("kuhn",), {}, "kuhn"),
    "sampled game": Kind(("kuhn", "--sampling", "chance"), {"sampling": "chance"}, "kuhn"),
    "exact": Kind(("kuhn", "--variant", "lp"), {"variant": "lp"}, "kuhn"),
    "public game": Kind(("kuhn", "--form", "public"), {"form": "public"}, "kuhn"),
    "flop-holdem": Kind(("flop-holdem",), {}, "flop-holdem"),
    "river": Kind(("river.toml",), {}, "river.toml"),
    "turn": Kind(("turn.toml",), {}, "turn.toml"),
    "flop": Kind(("flop.toml",), {}, "flop.toml"),
    "sampled turn": Kind(("turn.toml", "--sample-runouts", "8"), {"sample_runouts": 8}, "turn.toml"),
    "bucketed": Kind(
        ("turn.toml", "--buckets", "river=lossless", "--variant", "plus"),
        {"buckets": "river=lossless", "variant": "plus"},
        "turn.toml",
    ),
    "whole game": Kind(("game.toml", "--flops", FLOP), {"flops": FLOP}, "game.toml"),
    "batch": Kind(("folder",), {}),  # a command only: Python has `solve_many`
    "resumed game": Kind(("--resume", "kuhn.rgl"), {"resume": "kuhn.rgl"}),
    "resumed sampled game": Kind(("--resume", "sampled.rgl"), {"resume": "sampled.rgl"}),
    "resumed public game": Kind(("--resume", "public.rgl"), {"resume": "public.rgl"}),
    "resumed flop-holdem": Kind(("--resume", "flop-holdem.rgl"), {"resume": "flop-holdem.rgl"}),
    "resumed river": Kind(("--resume", "river.rgl"), {"resume": "river.rgl"}),
    "resumed turn": Kind(("--resume", "turn.rgl"), {"resume": "turn.rgl"}),
    "resumed whole game": Kind(("--resume", "game.rgl"), {"resume": "game.rgl"}),
    "resumed bucketed": Kind(("--resume", "bucketed.rgl"), {"resume": "bucketed.rgl"}),
}
GAMES = {"game", "sampled game"}
PUBLIC = {"public game", "flop-holdem", "whole game"}
SPOTS = {"river", "turn", "flop", "sampled turn", "batch"}
RESUMED_GAMES = {"resumed game", "resumed sampled game"}
RESUMED_PUBLIC = {"resumed public game", "resumed flop-holdem"}
RESUMED_SPOTS = {"resumed river", "resumed turn", "resumed bucketed"}
WHOLE_GAMES = {"whole game", "resumed whole game"}
ONE_SPOT = {"river", "turn", "flop", "sampled turn", "bucketed"}
ALL = frozenset(KINDS)
ITERATIONS = 12  # of every solve here; a resumed one had 3


@dataclass(frozen=True)
class Row:
    """An option with a value: where it is honoured, and how that shows. Everywhere else it is refused."""

    option: str  # the parameter of the command
    value: Any  # True: a flag
    kinds: frozenset[str] | set[str]
    shows: Callable[[Answer, Answer], bool]
    base: dict[str, Any] = field(default_factory=dict)  # options given with it and without it
    also: dict[str, Any] = field(default_factory=dict)  # options given with it only
    named: str | None = None  # a pattern for its name in a refusal, if different
    by: dict[str, str] = field(default_factory=dict)  # kinds where another option is refused beside it
    shell: bool = True  # whether the command has it
    python: bool = True  # whether `rl.solve` has it

    def __str__(self) -> str:
        return f"{self.option}={getattr(self.value, '__name__', self.value)}"


def differs(*keys: str) -> Callable[[Answer, Answer], bool]:
    return lambda answer, without: all(answer[key] != without[key] for key in keys)


def is_now(key: str, value: Any) -> Callable[[Answer, Answer], bool]:
    return lambda answer, without: answer[key] == value


def has_form(form: str) -> Callable[[Answer, Answer], bool]:
    nodes = {"kuhn": {"public": 9, "history": 58}, "flop-holdem": {"public": 3697}}
    return lambda answer, without: answer["nodes"] == nodes[answer["game"]][form]


def reached(answer: Answer, without: Answer) -> bool:
    return answer["iterations"] < without["iterations"]


def measured(answer: Answer, without: Answer) -> bool:
    """Every fifth iteration, and at the end; a resumed solve had measured before."""
    return [point[0] for point in answer["history"]][-3:] == [5, 10, 12] != [p[0] for p in without["history"]][-3:]


def locked(answer: Answer, without: Answer) -> bool:
    return len(answer["locks"]) == 1 and not without["locks"]


def saved_more_often(answer: Answer, without: Answer) -> bool:
    return answer["writes"] > without["writes"]


def larger(answer: Answer, without: Answer) -> bool:
    return answer["files"]["out"] > without["files"]["out"]


def wrote(name: str) -> Callable[[Answer, Answer], bool]:
    return lambda answer, without: name in answer["files"] and name not in without["files"]


def solved(kind: str) -> str:
    """A finished solution with the problem's tree, if the problem is a spot."""
    street = kind.removeprefix("sampled ")
    return f"{street if street in BOARDS else 'river'}-solved.rgl"


OUT = {"out": "out.rgl"}
DISCOUNTED = {"game", "exact", "bucketed"} | PUBLIC | SPOTS  # sampling discounts all regrets equally
PARAMETER: dict[str, Any] = {"base": {"variant": "discounted"}, "python": False}
ROWS = [
    Row("variant", "linear", GAMES | PUBLIC | SPOTS | {"exact", "bucketed"}, differs("variant", "exploitability")),
    Row("variant", "no-such", set(), differs("variant")),
    Row(
        "variant",
        "linear(gamma=3)",
        GAMES | PUBLIC | SPOTS | {"exact", "bucketed"},
        is_now("variant", "linear(gamma=3)"),
    ),
    Row("alpha", 1.0, DISCOUNTED, differs("variant", "exploitability"), **PARAMETER, named="alpha|variant"),
    Row("beta", 1.0, DISCOUNTED, differs("variant", "exploitability"), **PARAMETER, named="beta|variant"),
    Row("gamma", 1.0, DISCOUNTED, differs("variant", "exploitability"), **PARAMETER, named="gamma|variant"),
    Row("delay", 1, DISCOUNTED, differs("variant", "exploitability"), **PARAMETER, named="delay|variant"),
    Row("gamma", 3.0, set(), differs("variant"), python=False, named="gamma|variant"),  # of which variant?
    Row("iterations", 7, ALL - {"exact"}, is_now("iterations", 7)),
    Row("iterations", 0, set(), differs("iterations")),
    Row("target", 300.0, ALL - {"exact"}, reached),
    Row("target", -1.0, set(), reached),
    Row("measure_every", 5, ALL - {"exact"}, measured),
    Row("updates", "simultaneous", {"game"}, differs("exploitability")),
    Row("sampling", "external", GAMES, differs("exploitability")),
    Row("batch_size", 8, {"sampled game"}, differs("exploitability")),
    Row("seed", 5, {"sampled game", "sampled turn", "bucketed"}, differs("exploitability")),
    # Every street after the first must be named, and none before it.
    Row("buckets", "river=lossless", ONE_SPOT - {"flop"} | {"resumed bucketed"}, is_now("buckets", "river=lossless")),
    Row(
        "buckets",
        "turn=lossless,river=lossless",
        ONE_SPOT - {"river"},
        is_now("buckets", "turn=lossless,river=lossless"),
    ),
    Row("flops", FLOP, {"resumed whole game", "whole game"}, is_now("flops", 1)),
    Row("flops", "2c 2d 2h", {"whole game"}, differs("exploitability")),
    Row("flops", "subset(26)", set(), is_now("flops", 1)),
    Row("shards", 1, WHOLE_GAMES, differs("memory_bytes")),
    Row("ray", "127.0.0.1:1", set(), differs("memory_bytes"), python=False),  # without shards
    Row("shards", 2, set(), differs("memory_bytes")),  # there is only one flop
    Row("sample_runouts", 4, ONE_SPOT - {"river"} | {"whole game"}, differs("exploitability")),
    Row("engine", "reference", GAMES | RESUMED_GAMES, is_now("engine", "reference")),
    Row("engine", "no-such", set(), is_now("engine", "no-such")),
    Row("device", "cpu", ALL, is_now("device", "cpu")),
    Row("device", "no-such", set(), is_now("device", "no-such")),
    Row("threads", 1, ALL, is_now("threads", 1)),
    Row("threads", 0, set(), is_now("threads", 0)),
    Row(
        "form",
        "public",
        {"game"} | (PUBLIC - {"whole game"}) | RESUMED_PUBLIC,
        has_form("public"),
        by={"sampled game": "sampling"},
    ),
    Row("form", "history", GAMES | RESUMED_GAMES | {"exact", "public game"}, has_form("history")),
    Row("form", "no-such", set(), has_form("no-such")),
    Row("storage", 16, PUBLIC | SPOTS, differs("memory_bytes")),
    Row("storage", 8, set(), differs("memory_bytes")),
    Row("save_every", 1e-9, ALL - {"exact"}, saved_more_often, base=OUT, python=False),
    Row("checkpoint", "out.rgl", ALL - {"exact"}, wrote("out"), also={"save_every": 1e-9}, shell=False),
    Row("keep_regrets", True, SPOTS | RESUMED_SPOTS | WHOLE_GAMES | {"bucketed"}, larger, base=OUT, python=False),
    Row("lock", "check: AA = bet 100", SPOTS, locked, python=False),
    Row("lock_from", solved, SPOTS, locked, also={"lock_player": "ip"}, named="lock", python=False),
    Row("lock_player", "ip", SPOTS, locked, also={"lock_from": solved}, named="lock", python=False),
    Row("lock_line", "check", SPOTS, locked, also={"lock_from": solved}, named="lock", python=False),
    Row("locks", (Lock("check", {"bet 100": 1.0}, "AA"),), SPOTS, locked, shell=False),
    Row("out", "out.rgl", ALL, wrote("out"), python=False),
    Row("plot", "plot.svg", ALL, wrote("plot.svg"), python=False),
    Row("strategy", True, ALL, lambda answer, without: len(str(answer)) > len(str(without)), python=False),
]
NAMING = {"context", "arguments", "json_", "resume"}  # how a problem is named, and how the answer is read here


def test_every_option_has_a_row() -> None:
    assert {row.option for row in ROWS if row.shell} == set(inspect.signature(command).parameters) - NAMING
    told_by_callers = {"checkpointed", "progress", "report", "interrupted", "resume"}
    assert set(RULES) - told_by_callers <= {row.option for row in ROWS}


@pytest.fixture(scope="module", autouse=True)
def small_flop_holdem() -> Iterator[None]:
    """Flop hold'em with few hands and two cards of the flop known: the whole game takes 3 GB and minutes."""
    flop, ranges = parse_board("2c 2d"), (Range.parse("AA, T9s"), Range.parse("KQs, 77"))

    @cache
    def compiled(game: FlopHoldem) -> PublicForm:
        tree = flatten(limit_branches(game.betting, game.move_name))
        return replace(compile_holdem(flop, *ranges, tree, deals=(1,), name=game.name), unit=game.big_blind)

    hands = tuple(holdem_hands(flop, each) for each in ranges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flop_holdem, "compile_flop_holdem", compiled)
        patch.setattr(dealt_form, "available_bytes", lambda: 10**12)
        patch.setattr(flop_holdem.FlopHoldemReader, "hand_numbers", hands)
        yield


@pytest.fixture(scope="module", autouse=True)
def empty_pictures() -> Iterator[None]:
    """Pictures without content: a row asks whether one was written. `test_plot_files.py` looks at them."""
    figure = pytest.importorskip("matplotlib.figure").Figure
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figure, "savefig", lambda self, path, **options: Path(path).write_text("<svg/>"))
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The spots, solutions of them, and solves that were interrupted after 3 iterations."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "folder").mkdir()
    (folder / "game.toml").write_text(GAME, encoding="utf-8")
    for street, board in BOARDS.items():
        (folder / f"{street}.toml").write_text(SPOT.format(board=board, stack=STACKS[street]), encoding="utf-8")
        rl.solve(str(folder / f"{street}.toml"), iterations=3).save(folder / f"{street}-solved.rgl")
    shutil.copy(folder / "river.toml", folder / "folder")
    stopped = {"kuhn.rgl": ("kuhn", {}), "sampled.rgl": ("kuhn", {"sampling": "chance"})}
    stopped |= {"public.rgl": ("kuhn", {"form": "public"}), "flop-holdem.rgl": ("flop-holdem", {})}
    stopped |= {f"{street}.rgl": (str(folder / f"{street}.toml"), {}) for street in ("river", "turn")}
    stopped["game.rgl"] = (str(folder / "game.toml"), {"flops": FLOP})
    stopped["bucketed.rgl"] = (str(folder / "turn.toml"), {"buckets": "river=lossless"})
    for name, (what, options) in stopped.items():
        done = [0]
        solution = rl.solve(
            what,
            iterations=ITERATIONS,
            checkpoint=folder / name,
            report=lambda progress, done=done: done.append(progress.iteration),
            interrupted=lambda done=done: done[-1] >= 3,
            **options,
        )
        assert (solution.reason, solution.iterations) == ("interrupted", 3)
    return folder


@pytest.fixture
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def without() -> dict[Any, Answer]:
    """Answers without the option of a row: many rows have them in common, so each is computed once."""
    return {}


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files that were written: each appears under its own name once it is complete."""
    names: list[str] = []
    replace = os.replace

    def note(source: Any, target: Any, **options: Any) -> None:
        names.append(str(target))
        replace(source, target, **options)

    monkeypatch.setattr(os, "replace", note)
    return names


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def restore(folder: Path, before: dict[str, bytes]) -> None:
    now = content(folder)
    for name in now.keys() - before:
        (folder / name).unlink()
    for name, written in before.items():
        if now.get(name) != written:
            (folder / name).write_bytes(written)


def observed(answer: Answer, folder: Path, before: dict[str, bytes], writes: list[str]) -> Answer:
    """The answer, and the files written."""
    sizes: dict[str, int] = {}
    for name in content(folder).keys() - before:
        key = name if name.startswith("plot") else Path(name).parts[0].removesuffix(".rgl")
        sizes[key] = (folder / name).stat().st_size
    return answer | {"files": sizes, "writes": len(writes)}


def chosen(kind: str, row: Row, *, given: bool) -> dict[str, Any]:
    """Options of one solve: those of the kind's baseline, and with `given` the row's own."""
    options = {**row.base, **({row.option: row.value, **row.also} if given else {})}
    if kind != "exact" or options.get("variant") not in (None, "no-such"):
        options = {"iterations": ITERATIONS} | options
    return {name: value(kind) if callable(value) else value for name, value in options.items()}


def words(kind: str, options: dict[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        yield f"--{name.replace('_', '-')}"
        if value is not True:
            yield str(value).replace("out.rgl", "out") if kind == "batch" else str(value)


@pytest.mark.parametrize("row", [row for row in ROWS if row.shell], ids=str)
def test_the_command_honours_or_refuses(
    row: Row, run, folder: Path, writes: list[str], without: dict[Any, Answer]
) -> None:
    before = content(folder)
    for kind, problem in KINDS.items():
        writes.clear()
        result = run("solve", *problem.words, *words(kind, chosen(kind, row, given=True)), "--json")
        if kind not in row.kinds:
            assert (result.code, result.out) == (1, ""), (kind, result)
            name = row.by.get(kind, row.named or row.option.replace("_", "-"))
            assert re.match(rf"error: ({name}): ", result.err), (kind, result.err)
            assert result.err.count("\n") == 1
            assert content(folder) == before
            continue
        assert result.code == 0, (kind, result.err)
        answer = observed(first(result.json), folder, before, writes)
        restore(folder, before)
        base = chosen(kind, row, given=False)
        if (key := ("command", kind, *base.items())) not in without:
            writes.clear()
            result = run("solve", *problem.words, *words(kind, base), "--json")
            assert result.code == 0, (kind, result.err)
            without[key] = observed(first(result.json), folder, before, writes)
            restore(folder, before)
        assert row.shows(answer, without[key]), (kind, answer, without[key])


def first(answer: Answer) -> Answer:
    """The answer, or the first of a batch."""
    return dict(answer["spots"][0]) if "spots" in answer else answer


@pytest.mark.parametrize("row", [row for row in ROWS if row.python], ids=str)
def test_python_honours_or_refuses(row: Row, folder: Path, writes: list[str], without: dict[Any, Answer]) -> None:
    before = content(folder)
    for kind, problem in KINDS.items():
        if kind == "batch":
            continue
        given, base = (problem.python | chosen(kind, row, given=each) for each in (True, False))
        if kind not in row.kinds:
            with pytest.raises(InvalidOption, match=rf"^{re.escape(row.by.get(kind, row.option))}: "):
                rl.solve(problem.what, **given)
            assert content(folder) == before
            continue
        answer = observed(rl.solve(problem.what, **given).as_json(), folder, before, writes)
        restore(folder, before)
        if (key := ("Python", kind, *base.items())) not in without:
            writes.clear()
            without[key] = observed(rl.solve(problem.what, **base).as_json(), folder, before, writes)
            restore(folder, before)
        assert row.shows(answer, without[key]), (kind, answer, without[key])
