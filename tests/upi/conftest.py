"""A client in this process, and a process to talk to."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from regretless.upi.serve import Client

RIVER = """
set_board KhQsJs2c3d
set_range OOP AK,KQs,QJs,T9s,99-77,22
set_range IP AA-QQ,AK,KQ,JTs,T9s,55
set_pot 0 0 100
set_eff_stack 200
clear_lines
add_line 37 120
add_line 0 75 200
build_tree
"""
COMMAND = [sys.executable, "-P", "-m", "regretless", "upi"]


class Talk:
    """Sends lines to a client in this process and returns what it prints."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.client = Client(self.stream)

    def __call__(self, line: str) -> str:
        begin = self.stream.tell()
        self.client.read(line)
        return self.stream.getvalue()[begin:].removesuffix("\n")

    def all(self, lines: str) -> None:
        """Lines that are all answered with `ok!`."""
        for line in filter(None, lines.splitlines()):
            assert self(line) == f"{line.split()[0]} ok!"


@pytest.fixture
def talk() -> Iterator[Talk]:
    talk = Talk()
    yield talk
    talk.client.close()


@pytest.fixture
def river(talk: Talk) -> Talk:
    talk.all(RIVER)
    return talk


@pytest.fixture
def start() -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts `regretless upi`; what still runs after the test is ended."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
        pipe = subprocess.PIPE
        process = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8", env=environment)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
