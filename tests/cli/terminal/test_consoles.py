"""Output: user-supplied names printed literally, in any encoding, at any width, and for readers who leave early."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.spot_texts import RIVER

import regretless.cli
from regretless import load
from regretless.cli.arguments.figures import save_figure
from regretless.holdem.problem import solve_spot
from regretless.holdem.spots.spot import Spot
from regretless.plots.convergence import convergence

COMMAND = [sys.executable, "-m", "regretless"]
DEEP = """
board = "Kh Qs Js"
pot = 50
stack = 10000
[oop]
range = "AK"
[ip]
range = "QQ"
[bets]
bet = "100%"
raise = "2.5x"
[rules]
add_allin = 0
force_allin = 0
"""
NAMES = ["a [/b] c", "[bold]x[/bold]", "[link=file:///etc]y[/]", ":smile: [red]", "red \x1b[31m\x07", "one\ntwo\rthree",
         "\x9b31m \u202eabc", "𝒂♠ <&\"'>", "$x_{y"]  # fmt: skip
EXECUTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")  # what a terminal acts on


def spot_file(folder: Path, name: str, file: str = "spot.toml") -> str:
    (folder / file).write_text(f"name = {json.dumps(name, ensure_ascii=False)}\n{RIVER}", encoding="utf-8")
    return file


def start(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, capture_output=True, env={**os.environ, **environment}, timeout=600
    )


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_is_printed_literally(name: str, run, tmp_path: Path) -> None:
    file = spot_file(tmp_path, name)
    solved = run("solve", file, "--iterations", "3", "--out", "spot.rgl")
    shown = run("show", "spot.rgl")
    batch = run("solve", file, spot_file(tmp_path, name + "2", "two.toml"), "--iterations", "3")
    verified = run("verify", "spot.rgl")
    for result in (solved, shown, batch, verified):
        assert result.code == 0, result.err
        assert not EXECUTED.search(result.out + result.err)
    escaped = re.sub("[\n\x00-\x1f\x7f-\x9f\u202e]", lambda found: ascii(found.group())[1:-1], name)
    assert shown.out.startswith(f"{escaped} ")
    assert verified.out.startswith(f"{escaped} ")
    assert escaped in batch.out


def test_labels_of_a_game_are_printed_literally_and_saved_as_they_are(run, tmp_path: Path) -> None:
    label, action = "in\x1b]0;title\x07fo", "\x1b[31mred"
    game = f'EFG 2 R "x" {{ "A" "B" }}\np "" 1 1 "{label}" {{ "{action}" "\u202eback" }} 0\n'
    ends = 't "" 1 "" { 1, -1 }\nt "" 2 "" { -1, 1 }\n'
    (tmp_path / "game.efg").write_text(game + ends, encoding="utf-8")
    results = [
        run("solve", "game.efg", "--iterations", "3", "--out", "game.rgl"),
        run("show", "game.rgl"),
        run("export", "game.rgl"),
        run("export", "game.rgl", "--format", "json"),
        run("export", "game.rgl", "--out", "game.csv"),
    ]
    for result in results:
        assert result.code == 0, result.err
        assert not EXECUTED.search(result.out.replace("\r\n", "\n") + result.err)
    for printed in (results[1].out, results[2].out):
        assert r"in\x1b]0;title\x07fo" in printed
        assert r"\x1b[31mred" in printed
    assert label in json.loads(results[3].out)
    saved = (tmp_path / "game.csv").read_text(encoding="utf-8")
    assert f"{label},{action}," in saved


@pytest.mark.parametrize("name", ["x[bold]y", "spot[1]", "a*b?", "[]"])
def test_files_named_with_brackets(name: str, run, tmp_path: Path) -> None:
    file = spot_file(tmp_path, "spot", f"{name}.toml")
    result = run("solve", file, "--iterations", "3", "--out", f"{name}.rgl")
    assert (result.code, result.err) == (0, f"saved {name}.rgl\n")
    assert (tmp_path / f"{name}.rgl").exists()
    assert run("estimate", file).out.startswith(f"{name}.toml\n")
    assert run("show", f"{name}.rgl", "--svg", f"{name}.svg").err == f"saved {name}.svg\n"
    assert run("show", f"no{name}.rgl").err == f"error: no{name}.rgl: does not exist\n"


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_picture_is_well_formed(name: str, run, tmp_path: Path) -> None:
    run("solve", spot_file(tmp_path, name), "--iterations", "3", "--out", "spot.rgl")
    assert run("show", "spot.rgl", "--svg", "spot.svg").code == 0
    ET.parse(tmp_path / "spot.svg")


def test_a_picture_of_curves_is_well_formed_whatever_their_names(tmp_path: Path) -> None:
    spot = Spot.read(tmp_path / spot_file(tmp_path, "spot"))
    solutions = [solve_spot(replace(spot, name=name), iterations=3) for name in NAMES]
    save_figure(convergence(solutions), tmp_path / "curves.svg")
    ET.parse(tmp_path / "curves.svg")


def test_a_file_named_with_a_line_break_is_one_line(run, tmp_path: Path) -> None:
    result = run("solve", "kuhn", "--iterations", "5", "--out", "a\nb.rgl")
    assert (result.code, result.err) == (0, "saved a\\nb.rgl\n")
    assert (tmp_path / "a\nb.rgl").exists()


def test_a_file_whose_name_is_not_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"k\xff\x1b[31m.rgl")
    result = start("solve", "kuhn", "--iterations", "5", "--out", name, folder=tmp_path)
    assert result.returncode == 0
    assert result.stderr == b"saved k\\udcff\\x1b[31m.rgl\n"
    assert (tmp_path / name).exists()


COMMANDS: list[tuple[str, ...]] = [
    ("--help",), ("solve", "--help"), ("games",), ("range", "22+, A2s+:0.5"),
    ("equity", "AhKh", "QQ", "--board", "Qs Jh 2h"), ("solve", "kuhn", "--iterations", "20"), ("show", "spot.rgl"),
    ("show", "spot.rgl", "--hands"), ("show", "spot.toml", "--tree"), ("estimate", "spot.toml"), ("solve", "ku♠n"),
]  # fmt: skip


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("solved")
    solve_spot(Spot.read(folder / spot_file(folder, "𝒂♠ spot")), iterations=3).save(folder / "spot.rgl")
    (folder / "deep.toml").write_text(DEEP, encoding="utf-8")
    return folder


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("line", COMMANDS, ids=" ".join)
def test_every_command_works_in_any_encoding(
    line: tuple[str, ...], encoding: str, solved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(solved)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))  # strict, as Python opens them
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    code = regretless.cli.main(line)
    out.flush(), err.flush()
    said = (out.buffer.getvalue() + err.buffer.getvalue()).decode(encoding)  # type: ignore[attr-defined]
    assert code == (1 if line[-1] == "ku♠n" else 0), said
    assert said
    if "--board" in line:
        assert "board Qs Jh 2h" in said


def test_an_ascii_terminal_from_the_first_byte_to_the_last(solved: Path) -> None:
    result = start("show", "spot.rgl", folder=solved, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(b"\\U0001d482s spot")
    assert b"Kh Qs Js 2c 3d" in result.stdout


@pytest.mark.parametrize("line", [("games",), ("export", "spot.rgl"), ("solve", "--help")], ids=" ".join)
def test_a_closed_stdout_is_not_an_error(line: tuple[str, ...], solved: Path) -> None:
    shell = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *COMMAND, *line], cwd=solved, capture_output=True, timeout=600
    )
    assert (shell.returncode, shell.stdout, shell.stderr) == (0, b"", b"")


def test_everything_closed(solved: Path, tmp_path: Path) -> None:
    """No file gets the descriptor of a closed stream, which something else might write to."""
    line = ["solve", "kuhn", "--iterations", "5", "--out", str(tmp_path / "kuhn.rgl")]
    shell = subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *COMMAND, *line], cwd=solved, timeout=600)
    assert shell.returncode == 0
    assert load(tmp_path / "kuhn.rgl").iterations == 5


@pytest.mark.parametrize(
    "line",
    [("games",), ("export", "spot.rgl", "--all"), ("show", "spot.rgl", "--json", "--hands"), ("solve", "--help")],
    ids=" ".join,
)
def test_a_reader_that_leaves_early_is_not_an_error(line: tuple[str, ...], solved: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run([*COMMAND, *line], cwd=solved, stdout=writing, stderr=subprocess.PIPE, timeout=600)
    os.close(writing)
    assert result.returncode == 0
    assert b"rror" not in result.stderr


def test_the_request_is_completed_after_the_reader_left(solved: Path, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    line = ["solve", str(solved / "spot.toml"), "--iterations", "3", "--out", "a.rgl", "--plot", "a.svg"]
    result = subprocess.run([*COMMAND, *line], cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, timeout=600)
    os.close(writing)
    assert (result.returncode, result.stderr) == (0, b"saved a.rgl\nsaved a.svg\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.rgl", "a.svg"]


def test_a_truncated_file_is_not_an_interrupt(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends() -> None:
        raise EOFError

    monkeypatch.setattr("regretless.games.registry.catalogue", ends)
    result = run("games")
    assert (result.code, result.err.strip()) == (1, "error: a file ended before all of it was read")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_stdout_gives_one_sentence(solved: Path) -> None:
    with open("/dev/full", "w") as full:
        for line in (("games",), ("show", "spot.rgl", "--json")):
            result = subprocess.run([*COMMAND, *line], cwd=solved, stdout=full, stderr=subprocess.PIPE, timeout=600)
            assert result.returncode == 1
            assert result.stderr.startswith(b"error: ")
            assert result.stderr.count(b"\n") == 1


@pytest.fixture(scope="module")
def showdowns(solved: Path) -> list[str]:
    """The pots of the showdowns of a deep tree."""
    nested = json.loads(start("show", "deep.toml", "--tree", "--json", folder=solved).stdout)
    showdowns: list[str] = []

    def collect(node: dict[str, object]) -> None:
        if node["kind"] == "showdown":
            showdowns.append(f"{50 + sum(node['paid'].values()):g}")  # type: ignore[attr-defined]
        for child in node.get("actions", {}).values():  # type: ignore[attr-defined]
            collect(child)

    collect(nested)
    assert "20050" in showdowns
    return showdowns


@pytest.mark.parametrize("environment", [{}, {"COLUMNS": "80"}, {"FORCE_COLOR": "1", "COLUMNS": "80"}], ids=str)
def test_redirected_output_is_never_cropped(environment: dict[str, str], solved: Path, showdowns: list[str]) -> None:
    result = start("show", "deep.toml", "--tree", folder=solved, **environment)
    text = re.sub("\x1b\\[[0-9;]*m", "", result.stdout.decode())
    assert re.findall(r"showdown, pot (\d+)$", text, re.MULTILINE) == showdowns
    assert max(map(len, text.splitlines())) > 80


def test_a_long_range_is_not_cropped_when_redirected(run) -> None:
    shown = run("equity", "AhKh", "QQ+,AQs,KJs,22-55,A2s-A9s,KTo+,QTo+,98s,87s,76s", "--board", "QsJh2hTd9c")
    assert "98s-76s" in shown.out
    assert "…" not in shown.out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_shows_every_number_of_the_tree(columns: int, solved: Path, terminal) -> None:
    shown = terminal(columns, "show", "deep.toml", "--tree", folder=solved)
    assert "pot 20050\n" in shown
    assert "pot 2005\n" not in shown


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_breaks_what_is_said_of_a_solve_between_words(solved: Path, terminal) -> None:
    shown = terminal(40, "show", "spot.rgl", folder=solved).splitlines()
    heading = shown[: shown.index("")]
    assert max(map(len, heading)) <= 40
    assert "probabilities in 32 bits" in " ".join(line.strip() for line in heading)


@pytest.fixture
def terminal() -> Callable[..., str]:
    """The command on a terminal of a given width, with escape sequences removed."""

    def run_there(columns: int, *arguments: str, folder: Path) -> str:
        import fcntl
        import pty
        import struct
        import termios

        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        process = subprocess.Popen(
            [*COMMAND, *arguments], cwd=folder, stdout=follower, stderr=follower, env={**environment, "TERM": "xterm"}
        )
        os.close(follower)
        said = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # how Linux signals that the other side is closed
                break
            if not piece:
                break
            said += piece
        os.close(leader)
        assert process.wait(timeout=600) == 0
        text = re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", said.decode())
        return text.replace("\r\n", "\n")

    return run_there


def test_no_command_prints_markup() -> None:
    """Consoles print strings literally, so a tag would show; only help texts, printed by Typer, may contain markup."""
    tag = re.compile(r"\[/?(bold|dim|cyan|red|green|yellow|blue|italic)[^\]]*\]")
    found = []
    calls = 0
    for source in sorted(Path(regretless.cli.__file__).parent.rglob("*.py")):
        tree = ast.parse(source.read_text(encoding="utf-8"))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in ("print", "add_row", "add_column", "append", "Text", "assemble", "add"):
                calls += 1
                texts = [each.value for each in ast.walk(call) if isinstance(each, ast.Constant)]
                found += [(source.name, text) for text in texts if isinstance(text, str) and tag.search(text)]
    assert found == []
    assert calls > 50
