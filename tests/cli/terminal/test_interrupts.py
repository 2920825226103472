"""Signals at any moment: answered at once, with one line or a resumable file, no traceback and no leftover files."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from regretless import load
from regretless.errors import InvalidFile
from regretless.holdem.solution import SpotSolution

SOURCE = str(Path(__file__).parents[3] / "src")
SPOT = """
board = "Kh Qs Js 2c"
pot = 100
stack = 200
[oop]
range = "AK, KQs, QJs, T9s, 99-77, 22"
[ip]
range = "AA-QQ, AK, KQ, JTs, T9s, 55"
[bets]
bet = "75%"
raise = "a"
"""
# Saving waits here for the file `open`, and says by the file `waiting` that it does. Signals that come less than `same`
# seconds apart are one.
GATED_DISK = """
import os, sys, time
from pathlib import Path
from regretless.cli.terminal import interrupts

def fsync(descriptor, fsync=os.fsync):
    while not Path("open").exists():
        Path("waiting").touch()
        time.sleep(0.01)
    fsync(descriptor)

os.fsync = fsync
interrupts.SAME_SECONDS = {same}
from regretless.cli import main
sys.exit(main())
"""
# Checkpoints take long here, so that signals at random moments often meet one.
SLOW_DISK = """
import os, sys, time
os.fsync = lambda descriptor, fsync=os.fsync: (time.sleep(0.1), fsync(descriptor))
from regretless.cli import main
sys.exit(main())
"""
SIGNALS = [signal.SIGINT, signal.SIGTERM]
MOSTLY_ONE = [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]  # where both take the same way


class Solve:
    """The command as a process, with stderr in a file so that it can be watched."""

    def __init__(self, folder: Path, *arguments: str, code: str | None = None) -> None:
        self.folder = folder
        self.log = folder / "stderr.txt"
        command = [sys.executable, *(["-m", "regretless"] if code is None else ["-c", code])]
        self.process = subprocess.Popen(
            [*command, "solve", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": SOURCE, "FORCE_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=self.log.open("wb"),
        )

    @property
    def said(self) -> str:
        """Without colours and cursor movements."""
        text = self.log.read_text(encoding="utf-8")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)

    def wait_until(self, happened: Callable[[], bool], seconds: float = 600) -> None:
        deadline = time.monotonic() + seconds
        while not happened():
            assert self.process.poll() is None, self.said
            assert time.monotonic() < deadline, self.said
            time.sleep(0.01)

    def wait_for(self, words: str) -> None:
        self.wait_until(lambda: words in self.said)

    def wait_for_file(self, name: str) -> None:
        self.wait_until((self.folder / name).exists)

    def open_gate(self) -> None:
        (self.folder / "open").touch()

    def close_gate(self) -> None:
        """From here on saving waits; returns once it does."""
        (self.folder / "open").unlink()
        self.wait_for_file("waiting")

    def end(self, seconds: float = 600) -> str:
        """What it said, once it has ended."""
        self.out, _ = self.process.communicate(timeout=seconds)
        said = self.said
        assert "Traceback" not in said
        assert "Exception ignored" not in said
        return said

    def wait_until_heard(self) -> None:
        """Until the command catches signals, which is the first thing it does; elsewhere than on Linux, a while."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            time.sleep(0.3)
            return
        while self.process.poll() is None:
            caught = re.search(r"SigCgt:\s*(\w+)", status.read_text())
            if caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1:
                return
            time.sleep(0.001)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "turn.toml").write_text(SPOT, encoding="utf-8")
    return tmp_path


def leftovers(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"turn.toml", "turn.rgl", "stderr.txt", "open", "waiting"}


LONG = ["turn.toml", "--iterations", "1000000", "--threads", "1"]


@pytest.mark.parametrize("number", SIGNALS, ids=str)
def test_the_first_signal_is_acknowledged_with_what_happens_and_how_long_it_takes(
    number: signal.Signals, folder: Path
) -> None:
    solve = Solve(folder, *LONG, "--out", "turn.rgl", code=GATED_DISK.format(same=3600))
    solve.wait_for(" iterations")
    solve.process.send_signal(number)
    solve.wait_for("stopping after this iteration, then saving to turn.rgl: about ")
    solve.wait_for_file("waiting")
    assert not (folder / "turn.rgl").exists()
    solve.open_gate()
    said = solve.end()
    assert solve.process.returncode == 130
    assert "Ctrl-C again stops at once: " in said
    assert "regretless solve --resume turn.rgl" in said
    assert load(folder / "turn.rgl").iterations > 0
    assert leftovers(folder) == set()


def test_a_second_signal_says_what_is_lost_and_stops_at_once(folder: Path) -> None:
    """Saving never ends here."""
    solve = Solve(folder, *LONG, "--out", "turn.rgl", code=GATED_DISK.format(same=0))
    solve.wait_for(" iterations")
    solve.process.send_signal(signal.SIGINT)
    solve.wait_for("stopping after this iteration")
    solve.wait_for_file("waiting")
    solve.process.send_signal(signal.SIGINT)
    said = solve.end()
    assert solve.process.returncode == 130
    assert re.search(r"stopped at once: .+ of solving are lost", said)
    assert leftovers(folder) == set()
    assert not (folder / "turn.rgl").exists()


def test_a_second_signal_leaves_the_last_checkpoint(folder: Path) -> None:
    (folder / "open").touch()
    solve = Solve(folder, *LONG, "--out", "turn.rgl", "--save-every", "0.01", code=GATED_DISK.format(same=0))
    solve.wait_for_file("turn.rgl")
    first = (folder / "turn.rgl").stat().st_ino
    solve.wait_until(lambda: (folder / "turn.rgl").stat().st_ino != first)  # the first is then wholly on the disk
    solve.close_gate()
    before = (folder / "turn.rgl").read_bytes()
    solve.process.send_signal(signal.SIGTERM)
    solve.wait_for("stopping after this iteration")
    solve.process.send_signal(signal.SIGTERM)
    said = solve.end()
    assert solve.process.returncode == 130
    assert (folder / "turn.rgl").read_bytes() == before
    assert load(folder / "turn.rgl").iterations > 0
    assert "regretless solve --resume turn.rgl" in said
    assert leftovers(folder) == set()


def test_a_signal_that_a_wrapper_repeats_counts_once(folder: Path) -> None:
    solve = Solve(folder, *LONG, "--out", "turn.rgl", code=GATED_DISK.format(same=3600))
    solve.wait_for(" iterations")
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
        solve.process.send_signal(number)
        solve.wait_for("stopping after this iteration")
    solve.open_gate()
    assert "stopped at once" not in solve.end()
    assert load(folder / "turn.rgl").iterations > 0


@pytest.mark.parametrize("number", MOSTLY_ONE, ids=str)
def test_a_save_in_progress_is_completed(number: signal.Signals, folder: Path) -> None:
    line = ["turn.toml", "--iterations", "50", "--out", "turn.rgl"]
    solve = Solve(folder, *line, code=GATED_DISK.format(same=3600))
    solve.wait_for_file("waiting")
    solve.process.send_signal(number)
    solve.wait_for("the solve is done and is being saved to turn.rgl: about ")
    solve.open_gate()
    solve.end()
    assert solve.process.returncode == 0
    assert SpotSolution.load(folder / "turn.rgl").iterations == 50
    assert leftovers(folder) == set()


# A signal arrives when a module is first imported.
AT_IMPORT = """
import os, sys
from regretless.cli import main

def strike(event, arguments):
    if event == "import" and arguments[0] == {module!r}:
        os.kill(os.getpid(), {number})

sys.addaudithook(strike)
sys.exit(main())
"""


STARTING = [
    (signal.SIGINT, "typer"), (signal.SIGTERM, "rich.console"), (signal.SIGINT, "numpy"), (signal.SIGTERM, "numba"),
]  # fmt: skip
OTHERS = [(number, module) for number in SIGNALS for _, module in STARTING if (number, module) not in STARTING]


@pytest.mark.parametrize(
    ("number", "module"), [*STARTING, *(pytest.param(*each, marks=pytest.mark.slow) for each in OTHERS)], ids=str
)
def test_a_signal_during_startup_gives_one_line(number: signal.Signals, module: str, folder: Path) -> None:
    solve = Solve(folder, *LONG, code=AT_IMPORT.format(module=module, number=int(number)))
    said = solve.end()
    assert solve.process.returncode == 130
    assert said.strip().splitlines()[-1].startswith(("interrupted", "error: interrupted"))
    assert leftovers(folder) == set()


WAITING = """
import sys, time
from regretless.games import registry
registry.catalogue = lambda: (sys.stderr.write("waiting\\n"), time.sleep(3600))
from regretless.cli import main
sys.argv[1:] = ["games"]
sys.exit(main())
"""


@pytest.mark.parametrize("number", SIGNALS, ids=str)
def test_a_signal_in_any_other_command_gives_one_line(number: signal.Signals, folder: Path) -> None:
    solve = Solve(folder, code=WAITING)
    solve.wait_for("waiting")
    solve.process.send_signal(number)
    assert solve.end() == "waiting\nerror: interrupted\n"
    assert solve.process.returncode == 130


def outcome(folder: Path) -> int:
    """Iterations in the file, solution or checkpoint; -1 if there is none."""
    path = folder / "turn.rgl"
    if not path.exists():
        return -1
    try:
        return load(path).iterations
    except InvalidFile:
        return SpotSolution.load(path).iterations


def strike(folder: Path, number: signal.Signals, chance: random.Random) -> None:
    """Send a signal at a random moment of a solve, and check what must hold afterwards."""
    for path in folder.glob("*turn.rgl*"):
        path.unlink()
    # About three seconds, a third of them spent saving checkpoints and the result.
    line = ["turn.toml", "--iterations", "400", "--threads", "1", "--out", "turn.rgl", "--save-every", "0.1"]
    solve = Solve(folder, *line, code=SLOW_DISK)
    solve.wait_until_heard()
    moment = time.monotonic() + chance.uniform(0, 4)
    while time.monotonic() < moment and solve.process.poll() is None:
        time.sleep(0.02)
    known = outcome(folder)
    solve.process.send_signal(number)
    said = solve.end()
    kept = outcome(folder)
    assert kept >= known, "what was on disk when the signal came must still be there"
    if number == signal.SIGKILL:
        subprocess.run(  # the next process that writes there cleans up
            [
                sys.executable,
                "-c",
                f"from regretless.files import check_writable; check_writable({str(folder / 'x')!r})",
            ],
            env={**os.environ, "PYTHONPATH": SOURCE},
            check=True,
        )
    else:
        assert solve.process.returncode in (0, 130), said
        if solve.process.returncode == 0:
            assert kept == 400, said
        elif kept < 0:
            assert "interrupted" in said
        else:
            assert f"interrupted after {kept:,} of 400 iterations" in said
    assert leftovers(folder) == set()
    if 0 < kept < 400:
        resumed = Solve(folder, "--resume", "turn.rgl", "--threads", "1", "--json")
        resumed.end()
        assert resumed.process.returncode == 0
        assert outcome(folder) == 400


ALL = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM]


def test_signals_at_random_moments(folder: Path) -> None:
    chance = random.Random(8)
    for number in ALL:
        strike(folder, number, chance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(67))
@pytest.mark.parametrize("number", ALL, ids=str)
def test_two_hundred_signals_at_random_moments(number: signal.Signals, seed: int, folder: Path) -> None:
    strike(folder, number, random.Random(f"{number} {seed}"))


@pytest.mark.parametrize("number", MOSTLY_ONE, ids=str)
def test_a_game_is_saved_too(number: signal.Signals, folder: Path) -> None:
    solve = Solve(folder, "leduc", "--engine", "reference", "--iterations", "100000", "--out", "turn.rgl")
    solve.wait_for(" iterations")
    solve.process.send_signal(number)
    said = solve.end()
    assert solve.process.returncode == 130
    assert "then saving to turn.rgl: about" in said
    assert load(folder / "turn.rgl").reason == "interrupted"


def test_ctrl_c_in_python_returns_the_solution(folder: Path) -> None:
    code = """
import os, signal, threading
import regretless as rl
for what, options in (("leduc", {"engine": "reference"}), (rl.Spot.read("turn.toml"), {})):
    reports = []
    def report(progress):
        reports.append(progress)
        if len(reports) == 3:
            os.kill(os.getpid(), signal.SIGINT)
    solution = rl.solve(what, iterations=100_000, report=report, **options)
    print(solution.reason, 0 < solution.iterations < 100_000, solution.exploitability > 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    more = rl.solve(resume=solution, iterations=solution.iterations + 5)
    print(more.reason, more.iterations - solution.iterations)
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "interrupted True True\niterations 5\n" * 2
    assert result.stderr.count("the solution so far is returned") == 2
