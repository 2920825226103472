"""Random and half-valid lines: every one is answered, in time, and none ends the process."""

from __future__ import annotations

import random
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.upi.conftest import RIVER, Talk

from regretless.upi.serve import LOOP_COMMANDS, commands

LINES = 5_000
NODES = (
    "r",
    "r:0",
    "r:0:c",
    "r:0:b37",
    "r:0:b37:c",
    "r:0:c:b75:b200",
    "r:0:f",
    "r:0:b37:f:c",
    "r:9",
    "r:0:8h",
    ":::",
    "0",
)
TEXTS = (
    "OOP", "IP", "oop", "AA,KK", "AKs:0.5", "22+", "100%", "KhQsJs", "KhQsJs2c3d", "Kh Qs", "0", "1", "-1", "37",
    "0 0", "37 120 200", "1e308", "nan", "inf", "1e-300", "0.5", "chips", "fraction", "seconds", "steps", "global",
    "local", "river", "flop", "END", '"', '""', '"a b"', "#", "x.rgl", "x.cfr", "full", "\\", "\x00", "\x7f", "é",
    "r:0:c:c:c", "ok!", "1" * 400,
)  # fmt: skip
QUIET = ("echo", "stdoutredi", "stdoutredi_append", "exit", "set_end_string")  # answered by no line of a known form
SLOW = ("bench",)


def line_of(source: random.Random) -> str:
    """A line that may be a command, or nearly."""
    kind = source.random()
    if kind < 0.05:
        return "".join(source.choice("abcr:0 \t\"'#\\/éß\x00\x1b🂡-1.") for _ in range(source.randint(0, 60)))
    names = sorted({*commands(), *LOOP_COMMANDS} - {*QUIET, *SLOW})
    name = source.choice(names)
    if kind < 0.1:
        name = name[: source.randint(0, len(name))] + source.choice("_xs ")
    if kind < 0.15 and name == "set_strategy":
        return f"set_strategy {source.choice(NODES)} {' '.join(source.choice('01') for _ in range(2 * 1326))}"
    if kind < 0.2 and name == "combo_lock_node":
        return f"combo_lock_node {source.choice(NODES)} {' '.join(source.choice('01') for _ in range(1326))}"
    pool = NODES + TEXTS if source.random() < 0.6 else NODES
    return " ".join([name, *(source.choice(pool) for _ in range(source.choice([0, 1, 1, 2, 2, 3, 4])))])


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Files are written to a folder of the test, and no solve is long."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("regretless.upi.session.MAX_ITERATIONS", 50)


def test_every_line_is_answered(talk: Talk, limited: None) -> None:
    source = random.Random(7)
    talk.all(RIVER)
    began = time.monotonic()
    answered = wrong = 0
    for number in range(LINES):
        line = line_of(source)
        sent = time.monotonic()
        answer = talk(line)
        assert time.monotonic() - sent < 60, line
        if line.split()[:1] not in ([], ["load_script"]) and not line.lstrip().startswith("#"):
            assert answer.strip("\n") or line.split()[0] in ("show_tree_info", "show_children", "echo"), line
            errors = [row for row in answer.splitlines() if row.startswith("ERROR")]
            assert all(re.fullmatch(r"ERROR: .{5,1100}", row) for row in errors), answer
            answered, wrong = answered + 1, wrong + bool(errors)
        if number % 100 == 99:  # so that there is usually a tree
            talk("stop")
            talk.all(RIVER)
    assert answered > 0.9 * LINES
    assert 0.3 < wrong / answered < 0.95  # both kinds of lines are tried
    assert time.monotonic() - began < 300
    assert talk("is_ready") == "is_ready ok!"


def test_the_process_survives_them(start: Callable[[], subprocess.Popen[str]], limited: None) -> None:
    source = random.Random(11)
    lines = [line for line in (line_of(source) for _ in range(300)) if not line.startswith(("go", "solve", "set_mes"))]
    process = start()
    out, errors = process.communicate(
        "\n".join([*lines, "stdoutback", "reset_end_string", "is_ready"]) + "\n", timeout=300
    )
    assert process.returncode == 0
    assert errors == ""
    assert out.endswith("is_ready ok!\n")
