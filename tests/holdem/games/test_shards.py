"""Games on flops in shards: the numbers of one process, whichever processes are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import regretless as rl
from regretless import engines
from regretless.engines import devices
from regretless.errors import InvalidFile, InvalidOption, RegretlessError, WouldNotFit, bytes_text
from regretless.forms.parts import part_of
from regretless.holdem.flops import read_flops
from regretless.holdem.games import dealt_form, shards
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.real_cards import (
    CONTEXT_BYTES,
    RealCardsSolution,
    compile_game,
    estimate_flops,
    part_bytes,
)
from regretless.holdem.games.shards import ShardProcess, ShardTask
from regretless.solving.loop import Progress

FLOPS = "8c 8d 8h, 7c 7d 7h"  # the fewest turns and rivers; not in the order of the form
TOML = """
name = "shards"
stack = 8
small_blind = 0.5
big_blind = 1
preflop.open = "2x"
preflop.raise_limp = ""
preflop.3bet = ""
bets.flop.bet = "50%"
rules.add_allin = 0
rules.force_allin = 0
"""
GAME = HoldemGame.parse(TOML)
OPTIONS = {"flops": FLOPS, "storage": 16, "device": "cpu", "threads": 2}
Whole = tuple[dict[str, object], RealCardsSolution]


def solved(iterations: int = 6, **options: object) -> RealCardsSolution:
    solution = rl.solve(GAME, iterations=iterations, **{**OPTIONS, **options})
    assert isinstance(solution, RealCardsSolution)
    return solution


@pytest.fixture(
    scope="module",
    params=[("cpu", 16), *(pytest.param(("cuda", storage), marks=pytest.mark.gpu) for storage in (16, 32))],
    ids=str,
)
def whole(request: pytest.FixtureRequest) -> Whole:
    """Where and in how many bits, and the solution without shards."""
    device, storage = request.param
    if device == "cuda":
        pytest.importorskip("cupy")
    options: dict[str, object] = {"device": device, "storage": storage, "threads": 2 if device == "cpu" else None}
    return options, solved(**options)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[ShardProcess]:
    """The processes of shards that are started, in that order."""
    started: list[ShardProcess] = []

    class Recorded(ShardProcess):
        def __init__(self, task: ShardTask) -> None:
            super().__init__(task)
            started.append(self)

    monkeypatch.setattr(shards, "ShardProcess", Recorded)
    return started


def assert_same(one: RealCardsSolution, other: RealCardsSolution) -> None:
    first, second = (
        [(point.iteration, point.exploitability) for point in solution.record.history] for solution in (one, other)
    )
    assert (one.evaluation, first) == (other.evaluation, second)
    assert one.record.tree_hash == other.record.tree_hash
    assert_same_learned(one, other)


def assert_same_learned(one: RealCardsSolution, other: RealCardsSolution) -> None:
    assert one.evaluation == other.evaluation
    assert one.snapshot is not None
    assert other.snapshot is not None
    for name in ("average.0", "average.1", *one.snapshot.arrays):
        np.testing.assert_array_equal(one.snapshot.arrays[name], other.snapshot.arrays[name], err_msg=name)


def is_running(process: ShardProcess) -> bool:
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_shards_change_no_bit(whole: Whole, processes: list[ShardProcess], tmp_path: Path) -> None:
    (options, expected), checkpoint = whole, tmp_path / "checkpoint.rgl"
    solution = solved(**options, shards=2, checkpoint=checkpoint, save_every=1e-9)
    assert_same(solution, expected)
    assert solution.device == expected.device
    line = "raise 2, call, 8c 8d 8h"
    np.testing.assert_array_equal(solution.node(line).strategy, expected.node(line).strategy)
    assert len(processes) == 2
    assert not any(map(is_running, processes))
    solution.save(tmp_path / "game.rgl", resumable=True)
    assert_same(RealCardsSolution.load(tmp_path / "game.rgl"), expected)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint.rgl", "game.rgl"]  # no folder of the shards is left


def test_a_solve_is_resumed_in_more_or_no_shards(whole: Whole, tmp_path: Path) -> None:
    options, expected = whole
    solved(2, **options).save(tmp_path / "game.rgl", resumable=True)
    for count in (2, 1, None):
        to_resume = tmp_path / "game.rgl"
        iterations = 4 if count == 2 else 5 if count else 6
        solution = rl.solve(resume=to_resume, iterations=iterations, shards=count, device=str(options["device"]))
        solution.save(to_resume, resumable=True)
    assert isinstance(solution, RealCardsSolution)
    assert_same_learned(solution, expected)


def test_shards_that_are_killed_are_replaced(whole: Whole, processes: list[ShardProcess], tmp_path: Path) -> None:
    (options, expected), killed = whole, 0

    def kill(progress: Progress) -> None:
        nonlocal killed
        if progress.iteration in (1, 3, 5) and killed < 3:
            os.kill(processes[-1 if killed else 0].pid, signal.SIGKILL)
            killed += 1

    solution = solved(**options, shards=2, report=kill, checkpoint=tmp_path / "game.rgl", save_every=1e-9)
    assert (killed, len(processes)) == (3, 5)
    assert_same(solution, expected)


def test_a_part_is_compiled_without_the_rest() -> None:
    flops = read_flops("Qs Jh 2h, 8c 8d 8h, Ks 7d 2c, 7c 7d 7h")
    whole = compile_game(GAME, flops)
    for ends in ((0, 1), (1, 3), (2, 4)):
        expected, compiled = part_of(whole, *ends), compile_game(GAME, flops, part=ends)
        assert (compiled.part, compiled.unit) == (expected.part, expected.unit)
        np.testing.assert_array_equal(compiled.strength[1], expected.strength[1])
        for one, other in zip(compiled.streets, expected.streets, strict=True):
            for name in ("cards", "parent", "first_child", "probability", "first_copy", "copies"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
            np.testing.assert_array_equal(one.dead[0], other.dead[0])
            for first, second in zip(
                (compiled.symmetry.cards, compiled.symmetry.hands[1]),
                (expected.symmetry.cards, expected.symmetry.hands[1]),
                strict=True,
            ):
                np.testing.assert_array_equal(first[one.symmetry], second[other.symmetry])


def test_a_shard_says_what_is_wrong(tmp_path: Path) -> None:
    task = ShardTask(
        game="stack = -1",
        flops=FLOPS,
        folder=str(tmp_path),
        engine="numba",
        threads=1,
        storage=16,
        predicts=False,
    )
    process = ShardProcess(task)
    with pytest.raises(RegretlessError, match=r"^small_blind: is missing from the game$"):
        process.memory_bytes()()
    process.close()
    assert not is_running(process)


def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ShardTask, "arriving", property(lambda task: tmp_path / "missing" / "arriving.0"))
    with pytest.raises(InvalidFile, match=r"arriving\.0: cannot be written: no such file or directory"):
        rl.solve(GAME, shards=2, iterations=2, **OPTIONS)


def test_what_cannot_be_shared_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for options, message in (
        ({"shards": 3}, "shards: 3 is more than the 2 parts that the game has"),
        (
            {"shards": 2, "engine": "numba", "device": "cuda"},
            "device: 'cuda' is not for the numba engine on the public form, which runs on cpu",
        ),
        ({"shards": 0}, "shards: 0 must be at least 1"),
    ):
        with pytest.raises(InvalidOption, match=f"^{message}$"):
            solved(**options)
    monkeypatch.setattr(dealt_form, "available_bytes", lambda: 1_000_000)
    with pytest.raises(WouldNotFit, match="in 16 bits"):
        solved(shards=2)


def test_shards_on_several_gpus_must_fit_on_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cuda_devices", lambda: 2)
    monkeypatch.setattr(engines, "cuda_devices", lambda: 2)
    monkeypatch.setattr(devices, "cuda_free_bytes", lambda device: 10**12 if device == "cuda:0" else 10**8)
    assert shards.shard_devices("cuda", 3) == ["cuda:0", "cuda:1", "cuda:0"]
    sizes = part_bytes(GAME, read_flops(FLOPS), 2, threads=1, storage=16, predicts=False, device="cuda")
    needed = bytes_text(sizes[2] + CONTEXT_BYTES)
    with pytest.raises(
        WouldNotFit, match=f"^shards in 16 bits needs {needed} of memory of GPU 1, but only 100 MB are free$"
    ):
        solved(shards=2, device="cuda", threads=None, engine="cuda")
    with pytest.raises(InvalidOption, match="device: 'cuda:2' is not available: the last CUDA device is cuda:1"):
        solved(shards=2, device="cuda:2", threads=None, engine="cuda")


def test_estimates_say_what_each_shard_takes(whole: Whole) -> None:
    options, expected = whole
    device, storage = str(options["device"]), int(str(options["storage"]))
    estimate = estimate_flops(GAME, read_flops(FLOPS), threads=2, shards=2, device=device)
    assert [len(each) for each in estimate.shard_bytes.values()] == [2, 2]
    assert estimate_flops(GAME, read_flops(FLOPS)).shard_bytes == {}
    # On flops of one suit, estimates are too large; those of shards must be so to the same degree.
    sizes = part_bytes(GAME, read_flops(FLOPS), 2, threads=2, storage=storage, predicts=False, device=device)
    ratio = sum(sizes) / estimate.memory_bytes[storage]
    needed = solved(1, **options, shards=2).record.memory_bytes
    assert needed / expected.record.memory_bytes == pytest.approx(ratio, rel=0.02)


def children(process: subprocess.Popen[bytes]) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    with suppress(OSError):  # it has ended
        for thread in Path(f"/proc/{process.pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, "the solve ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of shards in /proc")
@pytest.mark.parametrize(
    ("device", "iterations", "rounds"),
    [pytest.param("cpu", 150, 5, marks=pytest.mark.slow), pytest.param("cuda", 3000, 1, marks=pytest.mark.gpu)],
)
def test_kills_of_shards_and_trunk_change_no_bit(device: str, iterations: int, rounds: int, tmp_path: Path) -> None:
    draws, threads = random.Random(29), ("--threads", "2") if device == "cpu" else ()
    (tmp_path / "game.toml").write_text(TOML, encoding="utf-8")
    out = tmp_path / "game.rgl"
    command = [sys.executable, "-m", "regretless", "solve"]
    machine = ["--shards", "2", "--device", device, *threads, "--save-every", "0.3", "--out", str(out)]
    words = [str(tmp_path / "game.toml"), "--flops", FLOPS, "--storage", "16", "--iterations", str(iterations)]
    killed = 0
    for _ in range(rounds):
        process = subprocess.Popen([*command, *words, *machine], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = out.stat().st_mtime_ns if out.exists() else 0
        for _ in range(3):
            wait_for(lambda: len(children(process)) == 2, process)  # noqa: B023
            time.sleep(draws.uniform(0.0, 4.0))  # while it starts, iterates, saves or repeats
            wait_for(lambda: bool(children(process)), process)  # noqa: B023  both may have just been killed
            os.kill(draws.choice(children(process)), signal.SIGKILL)
            killed += 1
        wait_for(lambda: out.exists() and out.stat().st_mtime_ns > before, process)  # noqa: B023
        left = children(process)
        process.kill()
        process.wait()
        killed += 1
        deadline = time.monotonic() + 60
        while any(Path(f"/proc/{child}").exists() for child in left):  # they end with the trunk
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert not list(tmp_path.glob(".shards.*"))  # and take their folder along
        words = ["--resume", str(out)]
    assert killed == 4 * rounds
    assert subprocess.run([*command, *words, *machine], capture_output=True).returncode == 0
    whole = solved(iterations, device=device, threads=2 if threads else None)
    assert_same_learned(RealCardsSolution.load(out), whole)
    assert sorted(os.listdir(tmp_path)) == ["game.rgl", "game.toml"]
