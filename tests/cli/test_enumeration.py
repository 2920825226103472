"""Enumerating a game: counted while it goes on, shown, interruptible, and refused once it does not fit in memory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regretless.cli.terminal import progress
from regretless.forms import compile, memory

MIB = 2**20
ROOM = 90  # MiB, most of which is left for libraries


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory in /proc")
@pytest.mark.parametrize(
    "command",
    [
        ("solve", "liars_dice(dice=5,sides=6)"),
        ("solve", "goofspiel(cards=8)"),
        ("estimate", "goofspiel(cards=8)"),
        ("train", "openspiel:chess"),
        ("solve", "openspiel:bargaining"),
    ],
    ids=" ".join,
)
def test_a_game_that_is_too_large_is_refused_while_it_is_enumerated(
    run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, str]
) -> None:
    if "openspiel" in command[1]:
        pytest.importorskip("pyspiel")
    if command[0] == "train":
        pytest.importorskip("torch")
    run(command[0], "--help")  # loads what the command needs, which takes memory too
    run("solve", "kuhn", "--iterations", "1", "--json")
    before = memory.resident_bytes()
    monkeypatch.setenv("REGRETLESS_MEMORY", f"{before // MIB + ROOM} MiB")
    began = time.monotonic()
    result = run(*command)
    assert result.code == 3
    name = command[1].replace(",sides=6", "")  # the default
    sentence = (
        rf"error: {re.escape(name)} \(more than [\d,]+ nodes, [\d,]+ moves deep\) needs at least [\d.]+ MB of memory, "
    )
    assert re.fullmatch(sentence + r"but only [\d.]+ MB are free\n", result.err)
    assert memory.resident_bytes() - before < ROOM * MIB
    assert time.monotonic() - began < 30  # a second or two, on a machine that does nothing else


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory in /proc")
def test_memory_stays_below_the_limit(tmp_path: Path) -> None:
    """The peak of a process of its own; without a limit, the same game takes gigabytes."""
    code = (
        "import sys; from pathlib import Path; from regretless.cli import main; "
        "code = main(['estimate', 'liars_dice(dice=5,sides=6)']); print(Path('/proc/self/status').read_text()); "
        "sys.exit(code)"
    )
    environment = os.environ | {"REGRETLESS_MEMORY": "180 MiB"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 3
    assert "needs at least" in done.stderr
    peak = re.search(r"VmHWM:\s+(\d+) kB", done.stdout)
    assert peak is not None
    assert int(peak[1]) < 180 * 1024


def test_a_deep_game_takes_memory_in_proportion_to_its_nodes_in_the_matrix_engine(run) -> None:
    pytest.importorskip("scipy")
    moves = 1000
    lines = ['EFG 2 R "chain" { "a" "b" }']
    for move in range(moves):
        lines.append(f'p "" {move % 2 + 1} {move // 2 + 1} "" {{ "stop" "go" }} 0')
        lines.append(f't "" {move + 1} "" {{ {move % 7}, {-(move % 7)} }}')
    lines.append(f't "" {moves + 1} "" {{ 1, -1 }}')
    Path("chain.efg").write_text("\n".join(lines), encoding="utf-8")
    answers = [
        run("solve", "chain.efg", "--engine", engine, "--iterations", "3", "--json").json
        for engine in ("matrix", "numpy")
    ]
    assert answers[0]["memory_bytes"] < 2000 * answers[0]["nodes"]
    assert answers[0]["values"] == pytest.approx(answers[1]["values"])
    assert answers[0]["exploitability"] == pytest.approx(answers[1]["exploitability"])


# --- progress --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("solve", "leduc", "--iterations", "1"), ("estimate", "leduc")], ids=" ".join)
def test_nodes_are_counted_on_a_terminal_and_now_and_then_in_a_log(
    run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(compile, "CHECK_SECONDS", 0.002)
    monkeypatch.setattr(memory, "_group_available", lambda: None)  # reading many files takes long
    monkeypatch.setattr(progress, "FIRST_LINE", 1e9)
    monkeypatch.setattr(compile, "REPORT_AFTER", 0.0)
    assert "nodes ·" not in run(*command).err  # no terminal
    monkeypatch.setattr(progress, "FIRST_LINE", 1e-9)
    lines = [line for line in run(*command).err.splitlines() if line.startswith("leduc: ")]
    assert 1 < len(lines) < 60  # each after twice the time
    assert all(re.fullmatch(r"leduc: [\d,]+ nodes · \d.* · .* so far", line) for line in lines)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(progress.Bar, "refresh", lambda bar: print(bar.tasks[0].fields["message"], file=sys.stderr))
    update = progress.Bar.update
    monkeypatch.setattr(progress.Bar, "update", lambda bar, *rest, **fields: update(bar, *rest, refresh=True, **fields))
    assert re.search(r"[\d,]+ nodes · \d.* · ", run(*command).err)


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal of POSIX")
def test_ctrl_c_ends_an_enumeration_that_a_terminal_shows(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "regretless", "solve", "liars_dice(dice=5,sides=6)"]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    while " nodes · ".encode() not in shown:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    while process.poll() is None or b"interrupted" not in shown:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert process.wait(10) == 130
    assert b"interrupted" in shown
    assert b"Traceback" not in shown
    assert process.stdout is not None
    assert process.stdout.read() == b""
    process.stdout.close()
    assert list(tmp_path.iterdir()) == []
