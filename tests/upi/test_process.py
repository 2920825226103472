"""`regretless upi` as a process: how it starts, and how it ends."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from tests.upi.conftest import RIVER

Start = Callable[[], "subprocess.Popen[str]"]


def test_it_says_at_once_that_it_is_ready(start: Start) -> None:
    seconds = []
    for _ in range(3):
        began = time.monotonic()
        process = start()
        out, errors = process.communicate("is_ready\nexit\nis_ready\n", timeout=60)
        seconds.append(time.monotonic() - began)
        assert out.splitlines()[4:] == ["is_ready ok!"]
        assert (process.returncode, errors) == (0, "")
    assert min(seconds) < 3  # usually half a second; other processes may keep the cores busy


def test_a_banner_of_four_lines_comes_first(start: Start) -> None:
    out, _ = start().communicate("", timeout=60)
    assert out.startswith("Regretless ")
    assert len(out.splitlines()) == 4


def test_the_end_of_the_input_ends_it_even_while_it_solves(start: Start) -> None:
    process = start()
    out, errors = process.communicate(f"{RIVER}set_accuracy 0\ngo\n", timeout=120)
    assert "go ok!\n" in out
    assert out.rstrip().splitlines()[-1].startswith("SOLVER: stopped (")
    assert (process.returncode, errors) == (0, "")


def test_a_script_on_stdin_waits_for_its_results(start: Start) -> None:
    process = start()
    out, _ = process.communicate(f"{RIVER}set_accuracy 0.5\ngo\nwait_for_solver\ncalc_results\n", timeout=120)
    assert out.index("SOLVER: stopped (required accuracy reached)") < out.rindex("Exploitable for: ")


def test_a_broken_pipe_is_silent(start: Start) -> None:
    process = start()
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(f"{RIVER}set_accuracy 0\n")
    process.stdin.flush()
    while "set_accuracy ok!" not in process.stdout.readline():
        pass
    process.stdout.close()
    try:
        process.stdin.write("go\nwait_for_solver\n" * 5)
        process.stdin.close()
    except BrokenPipeError:  # it has already left
        pass
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == ""


def test_go_and_stop_at_once(start: Start) -> None:
    process = start()
    out, errors = process.communicate(
        f"{RIVER}set_accuracy 0\n" + "go\nstop\n" * 10 + "calc_results\nexit\n", timeout=120
    )
    assert out.count("SOLVER: stopped (requested)") == out.count("stop ok!") == out.count("go ok!") == 10
    assert "Exploitable for: " in out
    assert errors == ""
