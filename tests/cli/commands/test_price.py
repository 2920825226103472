"""`regretless price`: what it prints, how it fails, and that a killed run is resumed to the same bits."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest

import regretless as rl
from regretless.engines.numba.public.bucket_evaluator import NumbaBucketEvaluators
from regretless.holdem.buckets import BucketPlan, Buckets
from regretless.holdem.buckets.division import Percentiles
from regretless.holdem.games import flop_pricer, pricing
from regretless.holdem.games import whole_game as problem
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.pricing import PriceProgress
from regretless.holdem.games.whole_game import NoLimitSolution

GAME = HoldemGame.from_mapping(
    {
        "name": "small",
        "stack": 6,
        "small_blind": 0.5,
        "big_blind": 1,
        "preflop": {"limp": True, "open": "a"},
        "bets": {"bet": "a"},
    }
)
FLOPS = "AcAdAh, 7s6s5s, QsQh2h"


def two_buckets(plan: BucketPlan, threads: int | None = None) -> Buckets:
    """Weak hands and strong ones, without looking at every situation: solving is not what is tested here."""
    half = Percentiles(np.array([1], dtype=np.int32))
    return Buckets(plan, lambda street: np.zeros(plan.situations(street), np.uint8), lambda street: half)


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("solved") / "game.rgl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problem, "build_buckets", two_buckets)
        spec = "flop=2,turn=2,river=2,method=percentile"
        rl.solve(GAME, buckets=spec, sample_runouts=4, iterations=30, threads=1).save(path)
    return path


@pytest.fixture
def game(solved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(solved, tmp_path / "game.rgl"))


def test_the_answer_says_what_it_is(run, game: Path) -> None:
    found = run("price", "game.rgl", "--flops", FLOPS, "--json").json
    assert found["meaning"] == (
        "exploitability with real cards in this betting tree, over 3 of 1,755 flops (weighted subset): an estimate"
    )
    assert (found["flops_priced"], found["is_exact"], found["game"]) == (3, False, "small")
    assert found["exploitability_mbb"] == 1000 * found["exploitability"] > 1
    assert found["nash_conv"] == pytest.approx(sum(found["best_response_values"]) - sum(found["values"]))
    assert sum(found["values"]) == pytest.approx(0, abs=1e-6)
    assert json.loads(Path("game.price/price.json").read_text())["answer"] == found
    shown = run("price", "game.rgl", "--flops", FLOPS)  # from what is stored
    assert f"{found['exploitability_mbb']:.6g} mbb/g" in shown.out
    assert "3 of 1,755 flops" in shown.out
    assert shown.out.splitlines()[2].startswith("estimate ")


# The command, which waits for a file when the first flop is stored.
GATED = """
import sys, time
from pathlib import Path
from regretless.cli import main
from regretless.holdem.games.price_folder import PriceFolder

write = PriceFolder.write

def gated(self, flop, stored):
    write(self, flop, stored)
    Path("waiting").touch()
    while not Path("go").exists():
        time.sleep(0.01)

PriceFolder.write = gated
sys.exit(main())
"""


def wait_until(process: subprocess.Popen[bytes], happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 600
    while not happened():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_is_resumed_to_the_same_bits(run, game: Path, sent: signal.Signals) -> None:
    whole = run("price", "game.rgl", "--flops", FLOPS, "--threads", "2", "--out", "whole", "--json").json
    command = ["price", "game.rgl", "--flops", FLOPS, "--threads", "1", "--out", "part", "--json"]
    log = Path("log")
    with log.open("wb") as stderr:
        process = subprocess.Popen([sys.executable, "-c", GATED, *command], stderr=stderr)
    wait_until(process, Path("waiting").exists)
    process.send_signal(sent)
    if sent == signal.SIGINT:
        wait_until(process, lambda: "stopping: " in log.read_text())
        Path("go").touch()
    process.wait(timeout=600)
    said = log.read_text()
    (done,) = Path("part/flops").glob("*.rgl")
    written = done.stat().st_mtime_ns
    if sent == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted: 1 of 3 flops are in part; resume it with" in said
        assert "Traceback" not in said
    resumed = run(*command).json
    assert done.stat().st_mtime_ns == written
    for key in ("values", "best_response_values", "exploitability", "nash_conv"):
        assert resumed[key] == whole[key]


def test_wrong_requests_are_refused(run, game: Path) -> None:
    for arguments, said in (
        (("game.rgl", "--flops", "26"), "is not one of the subsets: 25, 49, 95, 184"),
        (("game.rgl", "--flops", "blue"), "is not a property of flops"),
        (("game.rgl", "--flops", "Qs Jh"), "flops[0]: 'Qs Jh': has 2 cards; a flop has 3"),
        (("game.rgl", "--flops", "QsJh2h, 10h9h8h"), "flops[1]: '10h9h8h' at position 1: '1' is not a rank"),
        (("game.rgl", "--threads", "0"), "threads: 0 must be at least 1"),
        (("game.rgl", "--device", "mps"), "device: 'mps' is not one of auto, cpu, cuda"),
        (("",), ".: is a folder, not a file"),
        (("none.rgl",), "none.rgl: does not exist"),
    ):
        result = run("price", *arguments)
        assert result.code == 1
        assert said in result.err
    rl.solve("kuhn", iterations=3).save("kuhn.rgl")
    assert "is not a no-limit game from the deal" in run("price", "kuhn.rgl").err
    Path("full").mkdir()
    Path("full/other.txt").write_text("mine")
    assert "is neither empty nor the folder of a price" in run("price", "game.rgl", "--out", "full").err


def test_a_folder_of_another_strategy_is_refused_and_a_damaged_flop_is_computed_again(run, game: Path) -> None:
    one = run("price", "game.rgl", "--flops", "AcAdAh", "--json").json
    flop = Path("game.price/flops/AsAhAd.rgl")
    content = bytearray(flop.read_bytes())
    content[-1] ^= 1
    flop.write_bytes(content)
    assert run("price", "game.rgl", "--flops", "AcAdAh", "--json").json["values"] == one["values"]
    solution = rl.load("game.rgl")
    assert isinstance(solution, NoLimitSolution)
    assert solution.snapshot is not None
    arrays = {name: array.copy() for name, array in solution.snapshot.arrays.items()}
    arrays["average.0"][0] += 1
    changed = solution.strategy_digest()
    object.__setattr__(solution.snapshot, "arrays", arrays)
    assert solution.strategy_digest() != changed
    solution.save("game.rgl")
    refused = run("price", "game.rgl", "--flops", "AcAdAh")
    assert refused.code == 1
    assert "holds the price of another strategy" in refused.err


@pytest.mark.parametrize("name", ["price.json", "flops", "flops/AsAhAd.rgl", ""])
@pytest.mark.parametrize("kind", ["a file", "a folder", "nothing", "a pipe", "a device"])
def test_a_file_of_the_price_that_is_a_link_or_a_pipe_is_refused(run, game: Path, name: str, kind: str) -> None:
    home, path = Path("home"), Path("game.price") / name
    home.mkdir()
    (home / "p.txt").write_text("precious")
    (home / "empty").mkdir()
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.startswith("flops"):
        digest = rl.load("game.rgl").strategy_digest()  # type: ignore[attr-defined]
        answer = {"version": 1, "game": "small", "digest": digest, "answer": None}
        Path("game.price/price.json").write_text(json.dumps(answer))
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a device":
        path.symlink_to("/dev/zero")
    else:
        path.symlink_to(home.resolve() / {"a file": "p.txt", "a folder": "empty", "nothing": "absent"}[kind])
    refused = run("price", "game.rgl", "--flops", "AcAdAh")
    assert refused.code == 1
    assert re.fullmatch(f"error: {path}: is (a link, .*|not an ordinary file|not a folder)\n", refused.err), refused.err
    assert (sorted(os.listdir(home)), os.listdir(home / "empty")) == (["empty", "p.txt"], [])
    assert (home / "p.txt").read_text() == "precious"


def test_progress_has_an_estimate_and_an_interrupt_ends_it(game: Path) -> None:
    solution = rl.load(game)
    assert isinstance(solution, NoLimitSolution)
    seen: list[PriceProgress] = []
    assert solution.price(FLOPS, threads=1, report=seen.append, interrupted=lambda: len(seen) == 2) is None
    assert [(each.done, each.total) for each in seen] == [(0, 3), (1, 3)]
    first, second = seen
    assert (first.estimate, first.seconds_left) == (None, None)
    assert second.estimate is not None
    assert second.estimate.exploitability > 0
    assert (second.seconds_left or 0) > 0


class SmallGpu(NumbaBucketEvaluators):
    """Stands in for a GPU that has less memory than a flop takes."""

    device = "cuda"
    free = 2**20

    def free_bytes(self) -> int:
        return self.free


def test_a_price_that_was_begun_on_a_cpu_is_resumed_on_a_gpu_if_that_is_large_enough(
    run, game: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run("price", "game.rgl", "--flops", FLOPS, "--out", "whole", "--device", "cpu", "--json").json
    assert whole["device"] == "cpu"
    one = run("price", "game.rgl", "--flops", "AcAdAh", "--device", "cpu", "--json").json

    def evaluators(device: str, **options: object) -> NumbaBucketEvaluators:
        return (SmallGpu if device == "cuda" else NumbaBucketEvaluators)(**options)

    monkeypatch.setattr(pricing, "bucket_evaluators", evaluators)
    refused = run("price", "game.rgl", "--flops", FLOPS, "--device", "cuda")
    assert refused.code == 3
    assert "the price of a flop needs " in refused.err
    assert "of GPU memory, but only 1.0 MB are free: --device cpu takes none of it" in refused.err
    monkeypatch.setattr(SmallGpu, "free", 2**40)
    found = run("price", "game.rgl", "--flops", FLOPS, "--device", "cuda", "--json").json
    assert found["device"] == "cuda"
    assert found["seconds"] > one["seconds"]
    assert found["best_response_values"] == whole["best_response_values"]
    shown = run("price", "game.rgl", "--flops", FLOPS, "--device", "cuda")
    assert shown.out.splitlines()[-1].rstrip().endswith(", cuda")
    with pytest.MonkeyPatch.context() as patch:  # without --device, a GPU that is too small is not used
        patch.setattr(flop_pricer, "cuda_devices", lambda: 1)
        patch.setattr(flop_pricer, "available", lambda: ("cuda",))
        patch.setattr(SmallGpu, "free", 2**20)
        assert run("price", "game.rgl", "--flops", "QsJh2h", "--json").json["device"] == "cpu"


def test_a_price_leaves_nothing_on_its_device(game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even until garbage is collected: the next solution that is priced needs the memory."""
    monkeypatch.setattr(SmallGpu, "free", 2**40)
    made: list[ref[SmallGpu]] = []

    def evaluators(device: str, **options: Any) -> SmallGpu:
        made.append(ref(found := SmallGpu(**options)))
        return found

    monkeypatch.setattr(pricing, "bucket_evaluators", evaluators)
    solution = rl.load(game)
    assert isinstance(solution, NoLimitSolution)
    gc.disable()
    try:
        assert solution.price("AcAdAh", threads=1, device="cuda") is not None
        assert [each() for each in made] == [None]
        assert solution.price("AcAdAh", threads=1, device="cuda", interrupted=lambda: True) is None
        assert [each() for each in made] == [None, None]
    finally:
        gc.enable()


def test_a_game_without_flops_is_not_priced_by_them(run) -> None:
    table = {"stack": 10, "small_blind": 0.5, "big_blind": 1, "preflop": {"limp": False, "open": "a"}}
    rl.solve(HoldemGame.from_mapping(table | {"name": "push or fold"}), iterations=50).save("game.rgl")
    shown = run("price", "game.rgl")
    assert "exact: nobody acts after the flop" in shown.out
    names = [line.split("  ")[0] for line in shown.out.splitlines()[2:]]
    assert names == ["exploitability", "small blind", "big blind"]
    assert shown.err.splitlines()[-1] == "the answer is in game.price/price.json"
    assert "each flop" not in shown.err
    found = run("price", "game.rgl", "--json").json
    assert (found["flops"], found["threads"], found["device"]) == (None, 1, "cpu")
    for option, value, shown_as in (
        *(("flops", flops, repr(flops)) for flops in ("all", "49", "QsJh2h")),
        *(("device", device, repr(device)) for device in ("cpu", "cuda", "mps")),
        *(("threads", threads, threads) for threads in ("1", "2")),
    ):
        refused = run("price", "game.rgl", f"--{option}", value, "--out", "refused")
        assert refused.code == 1
        said = "does not apply to push or fold, which has no flops to price: nobody acts after the flop"
        assert refused.err == f"error: {option}: {shown_as} {said}\n"
    assert not Path("refused").exists()
