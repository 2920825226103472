"""Many spots in one command: which files, what they are saved as, and what happens when one of them fails."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from pathlib import Path

import pytest
from tests.cli.spot_texts import SMALL

from regretless.cli.arguments.outputs import solution_files
from regretless.cli.solving.request import SolveRequest
from regretless.errors import RegretlessError
from regretless.holdem.many import SpotsFailed, solve_many
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import LockFrom, lock_text, parse_lock
from regretless.holdem.spots.spot import Spot
from regretless.solving import interrupt
from regretless.solving.options import SolveOptions

QUICK = ["--iterations", "20", "--threads", "1"]


@pytest.fixture
def spots(tmp_path: Path) -> Path:
    for name in ("a/x", "b/x", "b/y"):
        path = tmp_path / f"{name}.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(SMALL.replace("100", str(100 + len(list(tmp_path.rglob("*.toml"))))), encoding="utf-8")
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_spots_with_the_same_name_get_separate_files_in_a_new_folder(run, spots: Path) -> None:
    result = run("solve", "a/x.toml", "b/x.toml", "b/y.toml", "--out", "new/solved", *QUICK, "--json")
    assert result.code == 0, result.err
    assert names(spots / "new/solved") == ["a-x.rgl", "b-x.rgl", "y.rgl"]
    for name, pot in (("a-x", 100), ("b-x", 101), ("y", 102)):
        assert run("show", f"new/solved/{name}.rgl", "--json").json["pot"] == pot
    assert [each["file"] for each in result.json["spots"]] == ["a/x.toml", "b/x.toml", "b/y.toml"]
    assert result.json["errors"] == []


@pytest.mark.parametrize("given", [["b"], ["b/"], ["b/*.toml"], ["**/*.toml"], ["b/*.toml", "b/x.toml", "b"]], ids=str)
def test_folders_and_patterns_name_each_file_once(given: list[str], run, spots: Path) -> None:
    files = ["b/x.toml", "b/y.toml"] if "**/*.toml" not in given else ["a/x.toml", "b/x.toml", "b/y.toml"]
    result = run("solve", *given, *QUICK, "--json")
    assert result.code == 0, result.err
    assert [each["file"] for each in result.json["spots"]] == files
    table = run("solve", *given, *QUICK).out
    assert [line.split()[0] for line in table.splitlines()[1:]] == [
        file if files.count("a/x.toml") and file.endswith("x.toml") else Path(file).stem for file in files
    ]
    assert [each["spot"] for each in run("estimate", *given, "--json").json["spots"]] == files


def test_a_pattern_that_matches_one_file_is_still_a_batch(run, spots: Path) -> None:
    result = run("solve", "a", "--out", "solved", *QUICK, "--json")
    assert result.code == 0, result.err
    assert len(result.json["spots"]) == 1
    assert names(spots / "solved") == ["x.rgl"]


def test_a_game_name_is_not_taken_for_a_folder(run, spots: Path) -> None:
    (spots / "kuhn").mkdir()
    (spots / "kuhn/z.toml").write_text(SMALL, encoding="utf-8")
    assert run("solve", "kuhn", "--iterations", "5", "--json").json["game"] == "kuhn"
    assert run("solve", "kuhn/", *QUICK, "--json").json["spots"][0]["file"] == "kuhn/z.toml"


def test_an_empty_folder_is_refused(run, spots: Path) -> None:
    (spots / "empty").mkdir()
    for command in ("solve", "estimate"):
        assert run(command, "empty").err == "error: empty: contains no .toml file\n"


def test_a_bad_spot_is_named_and_does_not_stop_the_others(run, spots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (spots / "b/bad.toml").write_text(SMALL.replace("100%", "100y"), encoding="utf-8")
    (spots / "b/line.toml").write_text(SMALL + "[lines]\nremove = ['check, bet 7']\n", encoding="utf-8")
    result = run("solve", "b", "--out", "solved", *QUICK, "--json")
    assert result.code == 1
    assert [each["file"] for each in result.json["spots"]] == ["b/x.toml", "b/y.toml"]
    assert [each["file"] for each in result.json["errors"]] == ["b/bad.toml", "b/line.toml"]
    assert names(spots / "solved") == ["x.rgl", "y.rgl"]
    errors = [line for line in result.err.splitlines() if line.startswith("error: ")]
    assert errors[0].startswith("error: b/bad.toml: bets.bet: '100y' at position 1")
    assert errors[1].startswith("error: b/line.toml: ")
    assert len(errors) == 2
    estimates = run("estimate", "b", "--json")
    assert estimates.code == 1
    assert [each["spot"] for each in estimates.json["spots"]] == ["b/x.toml", "b/y.toml"]
    assert "error: b/bad.toml: bets.bet" in estimates.err


def test_interrupted_spots_are_saved_unfinished_and_finished_ones_stay(
    run, spots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def interrupted() -> bool:
        nonlocal asked
        asked += (spots / "solved/a-x.rgl").exists()  # the first spot is done, the second is starting
        return asked > 10

    locks = ["--lock", "check: AA = check"]
    whole = run("solve", "b/x.toml", *QUICK, *locks, "--json").json
    with monkeypatch.context() as patch:
        patch.setattr(interrupt, "catch_interrupts", lambda: nullcontext(interrupted))
        result = run("solve", "a/x.toml", "b/x.toml", "b/y.toml", "--out", "solved", *QUICK, *locks, "--json")
    assert result.code == 130, result.err
    assert [each["iterations"] == 20 for each in result.json["spots"]] == [True, False]
    assert names(spots / "solved") == ["a-x.rgl", "b-x.rgl"]
    assert run("show", "solved/a-x.rgl", "--json").json["iterations"] == 20
    assert "regretless solve --resume solved/b-x.rgl" in result.err
    rest = next(line for line in result.err.splitlines() if "regretless solve b/y.toml" in line)
    again = run(*shlex.split(rest)[1:], "--json")
    assert again.code == 0, (rest, again.err)
    assert again.json["iterations"] == 20
    assert names(spots / "solved") == ["a-x.rgl", "b-x.rgl", "y.rgl"]
    for words in ("--iterations 20", "--lock 'check: AA = check"):
        assert words in rest
    resumed = run("solve", "--resume", "solved/b-x.rgl", "--json")
    assert (resumed.json["iterations"], resumed.json["values"]) == (20, whole["values"])


def test_a_request_is_written_back_as_options() -> None:
    locks = (LockFrom("a.rgl", player="ip"), LockFrom("a.rgl", node="check", hands="KQ"), parse_lock("check: bet 50"))
    request = SolveRequest(
        options=SolveOptions(target=0.5, keep_regrets=True),
        as_json=True,
        print_strategy=False,
        out=Path("o"),
        resume=None,
        plot=None,
        locks=locks,
    )
    words = request.solving_arguments()
    assert words[:8] == [
        "--target",
        "0.5",
        "--keep-regrets",
        "--lock-from",
        "a.rgl",
        "--lock-player",
        "ip",
        "--lock-line",
    ]
    assert words[8:] == ["check: KQ", "--lock", lock_text(locks[2]), "--out", "o"]
    assert parse_lock(lock_text(locks[2])) == locks[2]


def test_without_a_folder_interrupted_spots_are_saved_under_unused_names(
    run, spots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (spots / "x.rgl").write_text("somebody else's")
    calls = iter(range(100))
    with monkeypatch.context() as patch:
        patch.setattr(interrupt, "catch_interrupts", lambda: nullcontext(lambda: next(calls) > 2))
        result = run("solve", "a", "b", *QUICK)
    assert result.code == 130
    assert "regretless solve --resume x-2.rgl" in result.err
    assert (spots / "x.rgl").read_text() == "somebody else's"
    assert run("solve", "--resume", "x-2.rgl", "--json").json["iterations"] == 20


def test_spots_of_a_batch_save_checkpoints(run, spots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Path] = []
    save = SpotSolution.checkpoint

    def note(solution: SpotSolution, path: Path) -> None:
        kept.append(Path(path))
        save(solution, path)

    monkeypatch.setattr(SpotSolution, "checkpoint", note)
    assert run("solve", "b", "--out", "solved", "--save-every", "1e-9", *QUICK).code == 0
    assert set(kept) == {Path("solved/x.rgl"), Path("solved/y.rgl")}
    assert run("show", "solved/x.rgl", "--json").json["iterations"] == 20  # the finished one is there in the end


def test_pictures_and_hands_of_a_batch(run, spots: Path) -> None:
    result = run("solve", "b", "--plot", "both.svg", "--strategy", *QUICK)
    assert result.code == 0, result.err
    assert (spots / "both.svg").read_text().startswith("<?xml")
    assert result.out.count("AhKc") >= 2


@pytest.mark.parametrize("name", ["/x/y", "3bet/4bet", "../up", "..", "C:\\x", "a\nb", "-rf"])
def test_the_name_of_a_spot_is_not_used_as_a_path(name: str, run, spots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"name = {name!r}\n" if "\n" not in name else 'name = "a\\nb"\n'
    (spots / "named.toml").write_text(text + SMALL, encoding="utf-8")
    before = set(spots.rglob("*"))
    with monkeypatch.context() as patch:
        patch.setattr(interrupt, "catch_interrupts", lambda: nullcontext(lambda: True))
        result = run("solve", "named.toml", *QUICK)
    assert result.code == 130, result.err
    (saved,) = set(spots.rglob("*")) - before
    assert saved.parent == spots
    assert saved.suffix == ".rgl"
    assert not saved.name.startswith(("-", "."))
    assert run("solve", "--resume", saved.name, "--json").json["iterations"] == 20


def test_files_with_the_same_name_are_numbered() -> None:
    paths = [Path("/x.toml"), Path("/X.toml"), Path("/a-x.toml"), Path("/a/x.toml")]
    files = solution_files(paths, Path("out"))
    assert len({str(file).casefold() for file in files}) == 4
    assert {file.parent for file in files} == {Path("out")}


def test_many_spots_in_python(spots: Path) -> None:
    good = Spot.read(spots / "a/x.toml")
    bad = Spot.parse(SMALL + "[lines]\nremove = ['check, bet 7']\nadd = []\n")
    with pytest.raises(SpotsFailed, match=r"^spot 1: ") as caught:
        solve_many([good, bad, good], iterations=10)
    assert [solution.iterations for solution in caught.value.solutions] == [10, 10]
    assert list(caught.value.errors) == [1]
    told: dict[int, RegretlessError] = {}
    assert len(solve_many([good, bad], iterations=10, failed=told.__setitem__)) == 1
    assert list(told) == [1]
