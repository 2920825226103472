"""Options of `solve` that contradict each other, a file or the problem; test_option_table.py tries every one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.cli.spot_texts import RIVER, SMALL

import regretless as rl
from regretless.engines.devices import available_cores
from regretless.errors import InvalidFile, InvalidOption
from regretless.solving.kinds import Kind
from regretless.solving.options import RULES

OTHER = SMALL.replace("pot = 100", "pot = 120")
FIRST = ["--iterations", "3"]


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three iterations of a game and of a spot, as files that can be resumed."""
    folder = tmp_path_factory.mktemp("solved")
    rl.solve("kuhn", iterations=3).save(folder / "kuhn.rgl")
    (folder / "spot.toml").write_text(SMALL, encoding="utf-8")
    rl.solve(str(folder / "spot.toml"), iterations=3).save(folder / "spot.rgl", resumable=True)
    return folder


@pytest.fixture
def problems(run, solved: Path, tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    for file in ("spot.toml", "folder/spot.toml"):
        (tmp_path / file).write_text(SMALL, encoding="utf-8")
    (tmp_path / "other.toml").write_text(OTHER, encoding="utf-8")
    for file in ("kuhn.rgl", "spot.rgl"):
        shutil.copy(solved / file, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            ["spot.toml", "--sampling", "external"],
            "sampling: 'external' is for games: a hold'em spot has sample_runouts",
        ),
        (["spot.toml", "--updates", "simultaneous"], "updates: 'simultaneous' is for games"),
        (["kuhn", "--storage", "16"], "storage: 16 is for hold'em spots"),
        (["kuhn", "--seed", "1"], "seed: 1 decides what is sampled: choose a sampling other than full"),
        (["--resume", "spot.rgl", "other.toml"], "resume: 'spot.rgl' is a solve of a different spot from other"),
        (
            ["--resume", "spot.rgl", "--variant", "plus"],
            "variant: 'plus' cannot resume spot.rgl, which was started with",
        ),
        (
            ["--resume", "spot.rgl", "--engine", "matrix"],
            "engine: 'matrix' cannot solve a spot: use one of auto, numba",
        ),
        (
            ["spot.toml", "--engine", "numba", "--device", "cuda"],
            "device: 'cuda' is not for the numba engine",
        ),
        (["--resume", "spot.rgl", "--storage", "16"], "storage: 16 cannot resume spot.rgl, which was started with 32"),
        (["--resume", "kuhn.rgl", "leduc", "--iterations", "9"], "belongs to a different tree from that of leduc"),
        (["--resume", "kuhn.rgl", "--sampling", "chance"], "sampling: 'chance' cannot resume kuhn.rgl, which was"),
        (["--resume", "kuhn.rgl", "--seed", "4"], "seed: 4 "),
        (["spot.toml", "--out", "x.rgl", "--save-every", "nan"], "save-every: nan must be above 0 seconds"),
        (["spot.toml", "--out", "x.rgl", "--save-every", "-1"], "save-every: -1.0 must be above 0 seconds"),
        (["spot.toml", "--out", "x.rgl", "--save-every", "0"], "save-every: 0.0 must be above 0 seconds"),
        (["kuhn", "--out", "x.rgl", "--save-every", "nan"], "save-every: nan must be above 0 seconds"),
        (["spot.toml", "--save-every", "5"], "save-every: 5.0 needs a file to save to: add --out"),
        (["spot.toml", "--keep-regrets"], "keep-regrets: True needs a file to save to: add --out"),
        (["spot.toml", "--out", "spot.toml"], "out: 'spot.toml' is the input"),
        (["spot.toml", "--out", "./folder/../spot.toml"], "is the input"),
        (["spot.toml", "--out", "new.toml"], "out: 'new.toml' is named like a spot or a game"),
        (["spot.toml", "--out", "x.svg", "--plot", "x.svg"], "out: 'x.svg' is also the file for the plot"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_contradictions_give_one_sentence(line: list[str], words: str, run, problems: Path) -> None:
    before = {path: path.read_bytes() for path in problems.rglob("*") if path.is_file()}
    result = run("solve", *line)
    assert (result.code, result.out) == (1, "")
    assert words in result.err
    assert result.err.count("\n") == 1
    assert {path: path.read_bytes() for path in problems.rglob("*") if path.is_file()} == before


def test_a_resume_accepts_options_that_match_the_file(run, problems: Path) -> None:
    told = ["--variant", "river", "--storage", "32", "--engine", "numba", "--device", "cpu", "--sampling", "full"]
    assert run("solve", "spot.toml", "--resume", "spot.rgl", *told, "--iterations", "5").code == 0
    told = ["--variant", "plus", "--updates", "alternating", "--sampling", "full"]
    assert run("solve", "kuhn", "--resume", "kuhn.rgl", *told, "--iterations", "5").code == 0


def test_python_refuses_the_same(problems: Path) -> None:
    spot = rl.Spot.read(problems / "spot.toml")
    values: dict[str, object] = {
        "updates": "simultaneous", "sampling": "chance", "batch_size": 4, "seed": 3, "engine": "numpy",
        "device": "cuda", "storage": 16, "locks": (), "keep_regrets": True, "checkpoint": "x.rgl",
        "save_every": float("nan"), "resume": "x.rgl",
    }  # fmt: skip
    for problem, what in ((Kind.GAME, "kuhn"), (Kind.EXACT, "kuhn"), (Kind.SPOT, spot)):
        exact = {"variant": "lp"} if problem is Kind.EXACT else {}
        for name, value in values.items():
            if problem in RULES[name].refused and not (problem is Kind.SPOT and name == "storage"):
                with pytest.raises(InvalidOption, match=rf"^{name}: "):
                    rl.solve(what, **{**exact, name: value})
    for what in ("kuhn", spot):
        with pytest.raises(InvalidOption, match=r"^save_every: nan must be above 0 seconds"):
            rl.solve(what, checkpoint="x.rgl", save_every=float("nan"))
        with pytest.raises(InvalidOption, match=r"^save_every: 5 needs a file to save to"):
            rl.solve(what, save_every=5)
        with pytest.raises(InvalidOption, match=r"^itertions: 5 is not an option of solve; did you mean iterations"):
            rl.solve(what, itertions=5)
    with pytest.raises(InvalidOption, match=r"^resume: "):
        rl.solve(rl.Spot.read(problems / "other.toml"), resume=problems / "spot.rgl")


def test_python_resumes_files_and_solutions_of_both_kinds(problems: Path) -> None:
    for name in ("kuhn", "spot"):
        assert rl.solve(resume=problems / f"{name}.rgl", iterations=9).iterations == 9
    spot = rl.Spot.read(problems / "spot.toml")
    for what in ("kuhn", spot):
        half = rl.solve(what, iterations=20)
        resumed = rl.solve(resume=half, iterations=40)
        assert resumed.values == rl.solve(what, iterations=40).values
        assert [point.iteration for point in resumed.history] == sorted({point.iteration for point in resumed.history})
    loaded = rl.SpotSolution.load(problems / "spot.rgl")
    assert rl.solve(resume=loaded, iterations=9).iterations == 9
    with pytest.raises(InvalidOption, match=r"^what: is missing"):
        rl.solve(iterations=9)


def test_a_solution_that_locks_are_taken_from_is_not_overwritten(run, problems: Path) -> None:
    lock = '\n[[locks]]\nsource = "spot.rgl"\nplayer = "oop"\n'
    (problems / "locked.toml").write_text(SMALL + lock, encoding="utf-8")
    before = (problems / "spot.rgl").read_bytes()
    result = run("solve", "locked.toml", "--out", "spot.rgl", *FIRST)
    assert result.code == 1
    assert result.err == "error: out: 'spot.rgl' is a solution that locks are taken from: save under another name\n"
    assert (problems / "spot.rgl").read_bytes() == before
    assert run("solve", "locked.toml", "--out", "locked.rgl", *FIRST).code == 0


def test_python_does_not_overwrite_its_input(problems: Path) -> None:
    path = str(problems / "spot.toml")
    with pytest.raises(InvalidOption, match=r"^checkpoint: .* is the input"):
        rl.solve(path, checkpoint=path, iterations=3)
    assert (problems / "spot.toml").read_text(encoding="utf-8") == SMALL


def test_a_game_saves_checkpoints(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[tuple[int, str]] = []
    save = rl.GameSolution.save

    def note(solution: rl.GameSolution, path: Path, *, resumable: bool = True) -> None:
        kept.append((solution.iterations, solution.reason))
        save(solution, path, resumable=resumable)

    monkeypatch.setattr(rl.GameSolution, "save", note)
    line = ["solve", "kuhn", "--engine", "reference", "--iterations", "60", "--out", "kuhn.rgl", "--json"]
    assert run(*line, "--save-every", "1e-9").code == 0
    assert kept[-1] == (60, "iterations")
    assert len(kept) > 5
    assert {reason for _, reason in kept[:-1]} == {"interrupted"}
    assert json.loads(run("show", "kuhn.rgl", "--json").out)["iterations"] == 60


def test_resuming_a_finished_solve_adds_nothing(run, problems: Path) -> None:
    assert run("solve", "spot.toml", "--target", "1", "--keep-regrets", "--out", "done.rgl", "--json").code == 0
    before = run("show", "done.rgl", "--json").json
    after = run("solve", "--resume", "done.rgl", "--json").json
    for key in ("iterations", "exploitability", "values"):
        assert after[key] == before[key]
    assert [point[0] for point in after["history"]] == [point[0] for point in before["history"]]
    again = run("solve", "--resume", "done.rgl", "--iterations", str(before["iterations"]), "--json")
    assert again.code == 1
    assert "is already reached" in again.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"iterations": "5"}, "iterations: '5' must be a whole number"),
        ({"threads": 2.5}, "threads: 2.5 must be a whole number"),
        ({"target": "abc"}, "target: 'abc' must be a number"),
        ({"save_every": "soon"}, "save_every: 'soon' must be a number"),
        ({"checkpoint": 3}, "checkpoint: 3 is not the path of a file"),
        ({"checkpoint": "a.rgl", "checkpointed": 3}, "checkpointed: 3 must be a function"),
        ({"report": 3}, "report: 3 must be a function"),
        ({"interrupted": 3}, "interrupted: 3 must be a function"),
        ({"progress": "no"}, "progress: 'no' must be True or False"),
        ({"variant": rl.variants.Discounted}, "Discounted'> must be a name"),
    ],
)
def test_values_of_the_wrong_type_are_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        rl.solve("kuhn", **options)


@pytest.mark.parametrize("locks", [3, "check", [3]])
def test_locks_of_the_wrong_type_are_refused(solved: Path, locks: object) -> None:
    with pytest.raises(InvalidOption, match="is not a list of locks"):
        rl.solve(str(solved / "spot.toml"), locks=locks)


def test_a_path_or_name_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(InvalidOption, match="path: 3 is not the path of a file"):
        rl.load(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="game: 3 is not the name of a game"):
        rl.game(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="path: 3 is not the path of a file"):
        rl.solve("kuhn", iterations=1).save(3)
    with pytest.raises(InvalidOption, match="game: 3 is neither a game"):
        rl.Solver(3)  # type: ignore[arg-type]
    for spots in (3, [3], "spot.toml"):
        with pytest.raises(InvalidOption, match=r"is not a list of spots, such as \[Spot.read"):
            rl.solve_many(spots)  # type: ignore[arg-type]
    with pytest.raises(InvalidFile, match="the folder nodir does not exist"):
        rl.solve("kuhn", checkpoint="nodir/kuhn.rgl")


def test_a_parameter_is_set_once(run) -> None:
    answer = run("solve", "kuhn", "--variant", "discounted(alpha=2)", "--alpha", "3")
    assert answer.code == 1
    assert "alpha: 3.0 is also set by --variant discounted(alpha=2): set it once" in answer.err


def test_a_spot_refuses_the_linear_program(run, problems: Path) -> None:
    answer = run("solve", "spot.toml", "--variant", "lp")
    assert answer.code == 1
    assert "variant: 'lp' cannot solve spot" in answer.err


def test_a_spot_solved_in_64_bits_resumes_on_its_engine(solved: Path) -> None:
    spot = rl.Spot.read(solved / "spot.toml")
    begun = rl.solve(spot, engine="numpy", iterations=3)
    resumed = rl.solve(resume=begun, iterations=6)
    assert (resumed.engine, resumed.iterations) == ("numpy", 6)
    assert resumed.exploitability == rl.solve(spot, engine="numpy", iterations=6).exploitability


@pytest.mark.parametrize(
    "command",
    [
        ("solve", "kuhn", "--iterations", "1"),
        ("solve", "kuhn", "--iterations", "1", "--engine", "numpy"),
        ("solve", "kuhn", "--iterations", "1", "--sampling", "external"),
        ("solve", "kuhn", "--variant", "lp"),
        ("solve", "leduc", "--iterations", "1", "--form", "public"),
        ("solve", "river.toml", "--iterations", "1"),
    ],
    ids=" ".join,
)
def test_threads_are_a_maximum(run, command: tuple[str, ...]) -> None:
    """Nothing refuses more than it can use; more than the machine has cores are never started."""
    if "lp" in command:
        pytest.importorskip("scipy")
    Path("river.toml").write_text(RIVER, encoding="utf-8")
    answer = run(*command, "--threads", "9999", "--json").json
    assert 1 <= answer["threads"] <= available_cores()
    assert (
        run("estimate", "river.toml", "--threads", "9999", "--json").json
        == run("estimate", "river.toml", "--json").json
    )
    assert run(*command, "--threads", "0").code == 1
