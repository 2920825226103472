"""The command as a process: what goes where, and what a signal leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from regretless import load

COMMAND = [sys.executable, "-c", "import sys; from regretless.cli import main; sys.exit(main())"]
SOLVE = ["solve", "kuhn", "--engine", "reference", "--variant", "discounted", "--measure-every", "100000"]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "80", **more}


def wait_for(process: subprocess.Popen[str], words: bytes) -> None:
    """Until the process has written some words to stderr."""
    assert process.stderr is not None
    said = b""
    while words not in said:
        piece = os.read(process.stderr.fileno(), 4096)
        assert piece, said  # it has ended
        said += piece


def test_progress_goes_only_to_stderr(tmp_path: Path) -> None:
    """Even with a terminal forced on both, stdout contains only the JSON object."""
    line = [*COMMAND, "solve", "kuhn", "--json", "--iterations", "2000"]
    result = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env=environment(FORCE_COLOR="1"))
    assert result.returncode == 0
    assert json.loads(result.stdout)["iterations"] == 2000
    assert "exploitability" in result.stderr
    assert "of 2,000" in result.stderr


def test_without_a_terminal_stderr_is_empty(tmp_path: Path) -> None:
    line = [*COMMAND, "solve", "kuhn", "--json", "--iterations", "200", "--engine", "numpy"]
    result = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert (result.returncode, result.stderr) == (0, "")


def test_a_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    line = [*COMMAND, "games"]
    process = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_saves_and_the_printed_command_resumes_bit_identically(number: signal.Signals, tmp_path: Path) -> None:
    from regretless import solve

    process = subprocess.Popen(
        [*COMMAND, *SOLVE, "--iterations", "9000000"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(FORCE_COLOR="1"),
    )  # fmt: skip
    wait_for(process, b" of 9,000,000")  # the first iteration is done
    process.send_signal(number)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "regretless solve --resume kuhn.rgl" in err
    assert "Traceback" not in err
    assert "kuhn" in out
    saved = load(tmp_path / "kuhn.rgl")
    assert saved.reason == "interrupted"
    end = saved.iterations + 30
    line = [*COMMAND, "solve", "--resume", "kuhn.rgl", "--iterations", str(end), "--json", "--strategy"]
    resumed = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert resumed.returncode == 0, resumed.stderr
    whole = solve("kuhn", engine="reference", variant="discounted", iterations=end, measure_every=100_000)
    answer = json.loads(resumed.stdout)
    assert answer["strategy"] == whole.strategy
    assert answer["exploitability"] == whole.exploitability
    assert not list(tmp_path.glob(".*"))


def test_a_signal_before_the_first_iteration_ends_at_once(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "solve", "goofspiel(cards=7)"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(FORCE_COLOR="1"),
    )  # fmt: skip
    wait_for(process, b"goofspiel")  # the bar is there, the game is being compiled
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)  # compiling takes minutes
    assert process.returncode == 130, err
    assert "interrupted: nothing was saved" in err
    assert "Traceback" not in err
    assert not out
    assert not list(tmp_path.iterdir())


def test_the_package_runs_as_a_module() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "regretless", "solve", "nosuch"], capture_output=True, text=True, env=environment()
    )
    assert answer.returncode == 1
    assert answer.stderr.startswith("error: game: 'nosuch'")
