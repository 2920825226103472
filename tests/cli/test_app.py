"""The command as a whole: version, help and warnings."""

from __future__ import annotations

import re

import pytest
from typer.main import get_command

from regretless.cli.app import app

COMMANDS = ["solve", "train", "show", "plot", "games", "train-kuhn", "range", "equity"]


def test_a_warning_is_one_line_on_stderr(run) -> None:
    result = run("range", "AKs, AhKh:0.5", "--json")
    assert result.code == 0
    assert result.json["combos"] == 3.5
    assert result.err == "warning: range: several terms give AhKh different weights; the later term wins\n"


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


@pytest.mark.parametrize("columns", ["80", "120"])
def test_the_help_groups_commands_by_what_a_person_wants(columns: str, run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = run("--help").out.splitlines()
    assert max(map(len, lines)) <= int(columns)
    panels: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("╭─ "):
            commands = panels.setdefault(line.strip("╭─╮ "), [])
        elif match := re.match(r"│ ([a-z-]+) {2,}", line):
            commands.append(match[1])
    assert list(panels) == ["Options", "Solve", "Look", "Compare and check", "Study", "Play", "Connect"]
    listed = [command for name, commands in panels.items() if name != "Options" for command in commands]
    assert sorted(listed) == sorted(get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", [(), ("show",), ("serve",), ("study",), ("study", "run")])
def test_help_gives_flags_no_type(command: tuple[str, ...], run) -> None:
    shown = run(*command, "--help").out
    assert "--help" in shown
    assert "<bool>" not in shown


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
