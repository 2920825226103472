"""The pipe between a supervisor and its worker, and how the end of a worker is explained."""

from __future__ import annotations

import queue
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from regretless.supervision import Message, WorkerProcess

Reports = queue.Queue[Message | str]
Start = Callable[[str], tuple[WorkerProcess, Reports]]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Starts a worker that runs this code, and a queue of what it reports."""

    def started(code: str) -> tuple[WorkerProcess, Reports]:
        program = tmp_path / "worker"
        program.write_text(f"#!{sys.executable}\n{code}\n")
        program.chmod(0o755)
        monkeypatch.setattr("regretless.supervision.sys.executable", str(program))
        reports: Reports = queue.Queue()
        log = tempfile.TemporaryFile()  # noqa: SIM115  closed when the process has ended
        return WorkerProcess("any", log, reports.put, reports.put), reports

    return started


ECHO = """
import os
from regretless.supervision import Channel
channel = Channel()
print("printed by a library", flush=True)
channel.listen(lambda line: channel.send({"line": line}), lambda: os._exit(7))
import threading; threading.Event().wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_the_limit_of_memory_does_not_count_what_a_process_has(start: Start) -> None:
    _, reports = start("""
import resource
from regretless.supervision import Channel, limit_memory
channel, block = Channel(), bytearray(2**28)
limit_memory(0.0)
channel.send({"bytes": resource.getrlimit(resource.RLIMIT_DATA)[0]})
""")
    message = reports.get(timeout=60)
    assert isinstance(message, dict), message
    assert 2**28 < message["bytes"] < 2**28 + 2**32


def test_lines_are_answered_and_prints_go_to_the_log(start: Start) -> None:
    process, reports = start(ECHO)
    for text in ("one", "two"):
        process.send(text)
        assert reports.get(timeout=60) == {"line": f"{text}\n"}
    process.hang_up()
    process.send("three")  # which nobody hears
    assert reports.get(timeout=60) == "ended with code 7: printed by a library"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os._exit(9)", "ended with code 9"),
        ("raise ValueError('no luck')", "ended with code 1: ValueError: no luck"),
        ("import sys; print('x' * 10_000 + '\\nlast ' + 'y' * 300, file=sys.stderr); sys.exit(2)",
         f"ended with code 2: last {'y' * 195}"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by SIGKILL, perhaps because memory ran out"),
        ("import os; os.kill(os.getpid(), 15)", "was ended by SIGTERM"),
    ],
)  # fmt: skip
def test_an_end_is_explained(start: Start, code: str, reason: str) -> None:
    assert start(code)[1].get(timeout=60) == reason


def test_a_message_cut_off_by_a_death_is_left_out(start: Start) -> None:
    _, reports = start("""
import os
os.write(1, b'{"event": "whole"}\\n{"event": "ha')
os._exit(1)
""")
    assert reports.get(timeout=60) == {"event": "whole"}
    assert reports.get(timeout=60) == "ended with code 1"


def test_a_worker_that_does_not_end_is_killed(start: Start) -> None:
    process, reports = start("import time; time.sleep(600)")
    process.hang_up()
    process.wait(0.1)
    assert reports.get(timeout=60) == "was ended by SIGKILL, perhaps because memory ran out"
