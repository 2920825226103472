"""A recorded exchange with a viewer replays: `exchange.txt` has what it sends (`>`) and what it is answered (`<`).

The viewer describes a tree as viewers do: notes, ranges as 1,326 numbers, lines of amounts; then it solves, and shows
the first decisions. `…` stands for a number that depends on the machine; other numbers may differ in their last digits.

    python -m tests.upi.test_exchange < COMMANDS > exchange.txt      records a new one
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tests.upi.conftest import Talk

FILE = Path(__file__).parent / "exchange.txt"
NUMBER = re.compile(r"(?<![\w:.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w:]|\.\d)")
CLOSE = 2e-3  # chips, or shares


def exchange() -> list[tuple[str, list[str]]]:
    """Each command, and the lines of its answer."""
    rows: list[tuple[str, list[str]]] = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("> "):
            rows.append((line[2:], []))
        else:
            rows[-1][1].append(line[2:])
    return rows


def assert_alike(actual: str, expected: str) -> None:
    """Both say the same, and their numbers are close."""
    if expected.endswith("…"):
        assert actual.startswith(expected[:-1])
        return
    assert NUMBER.sub("0", actual) == NUMBER.sub("0", expected)
    ours, theirs = ([float(each) for each in NUMBER.findall(text)] for text in (actual, expected))
    assert ours == pytest.approx(theirs, abs=CLOSE)


def test_the_exchange_with_a_viewer_replays(talk: Talk) -> None:
    recorded = exchange()
    assert len(recorded) > 50
    for command, expected in recorded:
        actual = talk(command).splitlines()
        if command.startswith("go"):  # the solver speaks when it likes: after this answer, before the next
            actual = actual[:2]
        if command == "wait_for_solver":
            actual = actual[-2:]
        assert len(actual) == len(expected), command
        for ours, theirs in zip(actual, expected, strict=True):
            assert_alike(ours, theirs)


def record() -> None:
    talk = Talk()
    for command in sys.stdin.read().splitlines():
        answer = talk(command).splitlines()
        if command.startswith("go"):
            answer = answer[:2]
        if command == "wait_for_solver":
            answer = answer[-2:]
        print(f"> {command}")
        for line in answer:
            line = re.sub(r"(time|memory): .*", r"\1: …", line)
            print("< " + NUMBER.sub(lambda number: f"{float(number[0]):.6g}", line))
    talk.client.close()


if __name__ == "__main__":
    record()
