"""games, plot, range, equity, train-kuhn, show, help and version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from regretless.cli.app import app

COMMANDS = ["solve", "train", "show", "plot", "games", "train-kuhn", "range", "equity"]


def test_games(run) -> None:
    result = run("games")
    assert result.code == 0
    for words in ("kuhn", "leduc", "liars_dice", "ranks=3", "openspiel:NAME", "FILE.efg"):
        assert words in result.out
    listed = run("games", "--json").json
    assert [entry["name"] for entry in listed][:2] == ["kuhn", "leduc"]
    assert listed[0] == {
        "name": "kuhn",
        "description": listed[0]["description"],
        "players": "2 to 10",
        "parameters": {"players": 2},
    }


def test_plot_games_and_files(run, tmp_path: Path) -> None:
    run("solve", "kuhn", "--variant", "linear", "--iterations", "20", "--out", "kuhn.rgl")
    result = run("plot", "kuhn", "kuhn.rgl", "--variants", "plus,lp", "--iterations", "20", "--out", "both.svg")
    assert result.code == 0
    assert result.out == ""
    assert "drew both.svg" in result.err
    assert "<svg" in (tmp_path / "both.svg").read_text()
    assert run("plot", "kuhn", "--variants", "plus", "--iterations", "5").code == 0
    assert (tmp_path / "kuhn.png").exists()


def test_range(run) -> None:
    result = run("range", "AKs,AKo,", "AA,KK,QQ,", "76s:0.5")
    assert result.code == 0
    assert "QQ+,AK,76s:0.5" in result.out
    assert "36 combos, 2.7% of all hands" in result.out
    assert "50%" in result.out
    answer = run("range", "76s+", "--json").json
    assert (answer["combos"], answer["range"]) == (32, "76s+")
    assert len(answer["grid"]) == len(answer["grid"][0]) == 13
    assert run("range", "100%", "--json").json["combos"] == 1326
    assert run("range", "").out.startswith("(no hand)")


def test_range_in_the_formats_of_other_programs(run) -> None:
    written = run("range", "QQ+, AKs:0.5", "--format", "gto+")
    assert written.out == "AA-QQ,[50.0]AKs[/50.0]\n"
    weights = run("range", written.out, "--format", "weights").out
    assert len(weights.split()) == 1326
    assert run("range", weights, "--format", "short").out == "QQ+,AKs:0.5\n"
    assert run("range", "A♠K♠", "--format", "weights", "--json").json["range"].count("1") == 1


def test_a_warning_is_one_line_on_stderr(run) -> None:
    result = run("range", "AKs, AhKh:0.5", "--json")
    assert result.code == 0
    assert result.json["combos"] == 3.5
    assert result.err == "warning: range: several terms give AhKh different weights; the later term wins\n"


def test_equity(run) -> None:
    answer = run("equity", "AA", "KK", "--json").json
    assert answer["equity"][0] == pytest.approx(0.8195, abs=1e-4)
    assert sum(answer["equity"]) == pytest.approx(1)
    assert (answer["method"], answer["standard_error"]) == ("exact", 0)
    result = run("equity", "AhKh", "QcQd", "--board", "Qs Jh 2h")
    assert "32.93%" in result.out
    assert "Q♠ J♥ 2♥" in result.out
    sampled = run("equity", "AA", "KK", "--samples", "2000", "--seed", "3", "--json")
    assert sampled.json == run("equity", "AA", "KK", "--samples", "2000", "--seed", "3", "--json").json
    assert abs(sampled.json["equity"][0] - 0.8195) < 5 * sampled.json["standard_error"]


def test_train_kuhn(run, tmp_path: Path) -> None:
    line = ["train-kuhn", "--iterations", "3000", "--seed", "1"]
    result = run(*line, "--plot", "kuhn.png", "--information-sets", "J,Q,K")
    assert result.code == 0
    for words in ("trained on 3,000 hands", "mean value so far", "−0.05556", "(−1/18)", "exploitability", "Jpb"):
        assert words in result.out
    assert (tmp_path / "kuhn.png").read_bytes().startswith(b"\x89PNG")
    answer = run(*line, "--json").json
    assert answer == {**run(*line, "--json").json, "seconds": answer["seconds"]}
    assert len(answer["strategy"]) == 12
    assert answer["exploitability"] < 0.05


def test_show_chosen_information_sets(run) -> None:
    run("solve", "leduc", "--iterations", "5", "--out", "leduc.rgl")
    result = run("show", "leduc.rgl", "--information-sets", "Ks:,Ks:r")
    assert result.code == 0
    assert "\nKs:r " in result.out
    assert "Js:" not in result.out
    assert list(run("show", "leduc.rgl", "--information-sets", "Ks:", "--json").json["strategy"]) == ["Ks:"]
    assert "'Xs:' is not an information set" in run("show", "leduc.rgl", "--information-sets", "Xs:").err


def test_version_and_help(run) -> None:
    from regretless import __version__

    assert run("--version").out == f"regretless {__version__}\n"
    assert run().code == 0
    for line in ([], ["--help"], ["-h"]):
        result = run(*line)
        assert result.code == 0
        assert all(command in result.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_shows_an_example_and_explains_every_option(command: str, run) -> None:
    result = run(command, "--help")
    assert result.code == 0
    shown = result.out.split("Usage:")[1].split("\n", 1)[1]
    assert re.search(rf"^ *regretless {command}\b", shown, re.MULTILINE)  # at the start of a line of its own
    assert "\\b" not in shown
    for line in result.out.splitlines():
        if line.startswith("│ --"):
            assert len(line.strip("│ ").split()) > 3, line


@pytest.mark.parametrize("command", COMMANDS)
def test_help_mentions_only_options_that_the_command_has(command: str, run) -> None:
    parameters = get_command(app).commands[command].params  # type: ignore[attr-defined]
    has = {name for parameter in parameters for name in parameter.opts} | {"--help"}
    assert set(re.findall(r"(?<![\w-])--[a-z-]+", run(command, "--help").out)) <= has


def test_help_of_plot_mentions_no_target(run) -> None:
    assert "target" not in run("plot", "--help").out


def test_help_names_every_variant(run) -> None:
    shown = " ".join(run("solve", "--help").out.replace("│", " ").split())
    allowed = run("solve", "kuhn", "--variant", "foo").err.strip().partition("'foo' is not one of ")[2]
    assert f"{allowed}, each also with parameters" in shown
    assert "or lp: an exact linear program" in shown


@pytest.mark.parametrize(
    ("command", "start"), [(("export",), " A single node is"), (("study", "run"), " Each spot is saved")]
)
def test_paragraphs_of_help_fill_their_lines(command: tuple[str, ...], start: str, run) -> None:
    lines = run(*command, "--help").out.splitlines()
    [begin] = [place for place, line in enumerate(lines) if line.startswith(start)]
    first, after = lines[begin].rstrip(), lines[begin + 1].split()[0]
    assert len(f"{first} {after}") > 79  # no word more would fit
