"""Spots on a CUDA device, emulated: one at a time and in batches, from Python and from the shell."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engines.cuda_host_device import HostDevice

import regretless as rl
from regretless import engines
from regretless.cli import main
from regretless.engines import devices, registry
from regretless.engines.cuda import device as cuda_device
from regretless.engines.cuda.buckets import engine as bucketed_engine
from regretless.engines.cuda.public import batch as shared
from regretless.engines.cuda.public import bucket_evaluator, hands
from regretless.engines.cuda.public import engine as cuda_engine
from regretless.engines.cuda.public import spot as cuda_spot
from regretless.engines.cuda.public.hands import has_equal_players
from regretless.engines.numba.public.bucket_evaluator import NumbaBucketEvaluator
from regretless.errors import DeviceFailed, InvalidOption, MissingExtra, WouldNotFit
from regretless.holdem import compile_spot, many

needs_gcc = pytest.mark.skipif(
    shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers"
)

SPOT = """
name = "{name}"
board = "{board}"
pot = 100
stack = {stack}
[oop]
range = "{oop}"
[ip]
range = "QQ, KJs"
[bets]
bet = "{bet}"
"""


def spot_of(name: str, board: str, *, oop: str = "AK", stack: int = 100, bet: str = "a") -> rl.Spot:
    return rl.Spot.parse(SPOT.format(name=name, board=board, stack=stack, oop=oop, bet=bet))


SPOTS = [
    spot_of("dry", "Kh Qs 7s 2c 3d"),
    spot_of("paired", "8h 8s Js 2c 3d", oop="AA, T9s:0.5"),
    spot_of("monotone", "Kh Qh 7h 2h 3h", oop="AK, T9s", stack=150),
]
ASKED = {"variant": "discounted", "iterations": 3}


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> HostDevice:
    """A machine with a CUDA device and CuPy."""
    emulated = HostDevice()
    found = registry.find_spec
    monkeypatch.setattr(registry, "find_spec", lambda name: name if name == "cupy" else found(name))
    monkeypatch.setattr(devices, "cuda_devices", lambda: 1)
    monkeypatch.setattr(devices, "cuda_free_bytes", lambda *_: 1 << 33)
    for module in (cuda_engine, shared):
        monkeypatch.setattr(module, "open_device", lambda name="cuda", **_: emulated)
    return emulated


def assert_equal(one: rl.holdem.SpotSolution, two: rl.holdem.SpotSolution) -> None:
    """Every bit of what was learned, and the same history but for its times."""
    assert one.record.evaluation == two.record.evaluation
    assert [(point.iteration, point.exploitability) for point in one.history] == [
        (point.iteration, point.exploitability) for point in two.history
    ]
    assert one.snapshot is not None
    assert two.snapshot is not None
    for name, numbers in one.snapshot.arrays.items():
        np.testing.assert_array_equal(two.snapshot.arrays[name], numbers)


@pytest.mark.parametrize(("oop", "ip"), [("AcAd", "QQ"), ("QQ", "AcAd"), ("AcAd", "QcQd")])
def test_a_range_may_be_a_single_hand(oop: str, ip: str) -> None:
    """Then NumPy orders its strengths on all rivers as it does not order those of more hands."""
    fields = {"board": "Kh 7s Js 2c", "pot": 100, "stack": 100, "oop": {"range": oop}, "ip": {"range": ip}}
    form = compile_spot(rl.Spot.from_mapping(fields | {"bets": {"bet": "a"}}))
    sums = cuda_engine.CudaPublicEngine(form, device=HostDevice()).spot.sums
    assert all(each.groups >= 1 and each.pairs >= 1 for each in sums)


@needs_gcc
@pytest.mark.parametrize(
    ("board", "oop", "wide"),
    [
        ("As Ks Qs Js Ts", "100%", True),  # every hand plays the board
        ("Qd 8h 9s Jc Th", "100%", False),  # a king beats it
        ("8c 8d 8h 8s", "100%", True),  # an ace or a king plays with it, other hands mostly tie
        ("Kh Qs 7s 2c", "100%", False),
    ],
)
def test_terminals_take_64_bits_where_nearly_all_hands_tie(board: str, oop: str, wide: bool) -> None:
    form = compile_spot(spot_of("", board, oop=oop))
    assert cuda_engine.CudaPublicEngine(form, device=HostDevice()).wide == wide


@needs_gcc
def test_a_spot_is_solved_read_saved_and_resumed_on_either_device(device: HostDevice, tmp_path: Path) -> None:
    solution = rl.solve(SPOTS[0], device="cuda", **ASKED)
    assert (solution.engine, solution.device, solution.iterations) == ("cuda", "cuda", 3)
    usual = rl.solve(SPOTS[0], device="cpu", **ASKED)
    assert solution.exploitability == pytest.approx(usual.exploitability, abs=1e-3)
    np.testing.assert_allclose(solution.root.strategy, usual.root.strategy, atol=1e-3)
    solution.save(tmp_path / "spot.rgl", resumable=True)
    on_gpu = rl.solve(resume=tmp_path / "spot.rgl", iterations=4)
    assert on_gpu.device == "cuda"
    assert_equal(on_gpu, rl.solve(SPOTS[0], device="cuda", **ASKED | {"iterations": 4}))
    on_cpu = rl.solve(resume=tmp_path / "spot.rgl", device="cpu", iterations=4)
    assert on_cpu.device == "cpu"
    assert on_cpu.exploitability == pytest.approx(on_gpu.exploitability, abs=1e-3)


@needs_gcc
@pytest.mark.parametrize(("board", "storage", "iterations"), [("Kh Qs Js 2c", 32, 1), ("Kh Qs Js 2c 3d", 16, 3)])
def test_players_with_equal_ranges_share_tables(
    board: str, storage: int, iterations: int, device: HostDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ASKED | {"device": "cuda", "storage": storage, "iterations": iterations}
    equal = spot_of("equal", board, oop="QQ, KJs", stack=150)
    assert has_equal_players(compile_spot(equal))
    assert not has_equal_players(compile_spot(SPOTS[0]))
    shared_tables = rl.solve(equal, **asked)
    for module in (hands, cuda_spot):
        monkeypatch.setattr(module, "has_equal_players", lambda form: False)
    own_tables = rl.solve(equal, **asked)
    assert_equal(shared_tables, own_tables)
    assert shared_tables.record.memory_bytes < own_tables.record.memory_bytes


@needs_gcc
def test_a_spot_with_buckets_is_measured_on_the_device_that_solves_it(
    device: HostDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or, if the device lacks the memory, on every core."""
    monkeypatch.setattr(bucketed_engine, "open_device", lambda *_, **__: HostDevice(host="bucketed_on_host.cpp"))
    monkeypatch.setattr(bucket_evaluator, "open_device", lambda *_, **__: device)
    monkeypatch.setattr(devices, "available_cores", lambda: 3)
    measured: list[tuple[str, int]] = []
    for evaluator_type in (NumbaBucketEvaluator, bucket_evaluator.CudaBucketEvaluator):

        def evaluate(self: Any, strategy: Any, evaluate: Any = evaluator_type.evaluate) -> Any:
            measured.append((self.device, getattr(self, "threads", 1)))
            return evaluate(self, strategy)

        monkeypatch.setattr(evaluator_type, "evaluate", evaluate)

    def solved_on(device: str) -> rl.SpotSolution:
        measured.clear()
        spot = spot_of("turn", "Kh Qs 7s 2c")
        return rl.solve(
            spot, buckets="river=3,method=percentile", sample_runouts=4, iterations=4, measure_every=2, device=device
        )

    usual = solved_on("cpu")
    assert measured == 2 * [("cpu", 3)]
    on_device = solved_on("cuda")
    assert measured == 2 * [("cuda", 1)]
    assert on_device.exploitability == pytest.approx(usual.exploitability, abs=1e-3)
    monkeypatch.setattr(bucket_evaluator.CudaBucketEvaluators, "free_bytes", lambda self: 1000)
    without_memory = solved_on("cuda")
    assert measured == 2 * [("cpu", 3)]
    assert without_memory.exploitability == pytest.approx(on_device.exploitability, abs=1e-6)


@needs_gcc
def test_a_batch_equals_its_spots_alone(device: HostDevice, tmp_path: Path) -> None:
    """With a target that the spots reach at different iterations, and checkpoints."""
    asked: dict[str, Any] = {"variant": "discounted", "iterations": 6, "target": 20, "device": "cuda"}
    reported: set[int] = set()
    together = rl.solve_many(SPOTS, report=lambda place, progress: reported.add(place), **asked)
    assert reported == {0, 1, 2}
    assert len({solution.iterations for solution in together}) > 1
    for spot, solution in zip(SPOTS, together, strict=True):
        assert (solution.game, solution.device, solution.engine) == (spot.name, "cuda", "cuda")
        assert_equal(solution, rl.solve(spot, **asked))
        solution.save(tmp_path / f"{spot.name}.rgl")
        loaded: Any = rl.load(tmp_path / f"{spot.name}.rgl")
        assert loaded.ev == pytest.approx(solution.ev, abs=0.05)


@needs_gcc
def test_a_batch_larger_than_the_memory_of_the_gpu(device: HostDevice, monkeypatch: Any) -> None:
    """One spot at a time fits; solutions of earlier ones stay readable."""
    monkeypatch.setattr(device, "free_bytes", lambda: 1000)
    together = rl.solve_many(SPOTS[:2], device="cuda", **ASKED)
    for spot, solution in zip(SPOTS, together, strict=False):
        alone = rl.solve(spot, device="cuda", **ASKED)
        assert_equal(solution, alone)
        assert solution.ev == alone.ev


@needs_gcc
def test_a_spot_too_large_for_the_gpu_does_not_stop_the_others(device: HostDevice, monkeypatch: Any) -> None:
    large = spot_of("large", "Kh Qs 7s 2c", oop="AK, QQ, JJ, TT, 99, 88", stack=900, bet="50%")
    needed = [
        engines.estimate("cuda", registry.FormKind.PUBLIC, many.SpotProblem(spot).public_size())
        for spot in (large, *SPOTS[:2])
    ]
    assert sum(needed[1:]) < needed[0]
    monkeypatch.setattr(device, "free_bytes", lambda: needed[0])  # of which some stays free
    monkeypatch.setattr(devices, "cuda_free_bytes", lambda *_: needed[0] - 1)
    built: list[int] = []
    make = shared.CudaBatch
    monkeypatch.setattr(shared, "CudaBatch", lambda engines, arena: built.append(len(engines)) or make(engines, arena))
    with pytest.raises(many.SpotsFailed, match=r"^spot 0 \(large\): large in the cuda engine needs") as error:
        rl.solve_many([large, *SPOTS[:2]], device="cuda", **ASKED)
    assert [solution.game for solution in error.value.solutions] == ["dry", "paired"]
    assert built == [2]


@needs_gcc
def test_an_interrupted_batch_saves_what_it_has(device: HostDevice, tmp_path: Path) -> None:
    stops = iter([False] * 20 + [True] * 10_000)
    files = [tmp_path / f"{number}.rgl" for number in range(2)]
    found = rl.solve_many(
        SPOTS[:2],
        checkpoints=files,
        interrupted=lambda: next(stops),
        variant="discounted",
        iterations=9,
        device="cuda",
    )
    assert [solution.reason for solution in found] == ["interrupted"] * 2
    for spot, file in zip(SPOTS, files, strict=False):
        resumed = rl.solve(resume=file)
        assert_equal(resumed, rl.solve(spot, variant="discounted", iterations=9, device="cuda"))


@needs_gcc
def test_batches_from_the_shell(device: HostDevice, tmp_path: Path, capsys: Any) -> None:
    for spot in SPOTS[:2]:
        (tmp_path / f"{spot.name}.toml").write_text(spot.to_toml(), encoding="utf-8")
    files = [str(tmp_path / f"{spot.name}.toml") for spot in SPOTS[:2]]
    words = ["--device", "cuda", "--iterations", "2", "--variant", "discounted", "--json"]
    assert main(["solve", *files, *words, "--out", str(tmp_path / "solved")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [(spot["device"], spot["engine"]) for spot in answer["spots"]] == [("cuda", "cuda")] * 2
    assert sorted(path.name for path in (tmp_path / "solved").iterdir()) == ["dry.rgl", "paired.rgl"]


def test_only_an_engine_with_a_shared_device_solves_spots_together(device: HostDevice, monkeypatch: Any) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: name)
    for name, where in (("cuda", "auto"), ("cupy", "cuda"), ("auto", "cuda")):
        found = engines.share(name, where)
        assert found is not None
        assert found.engine == "cuda"
        assert found.free_bytes() == device.free_bytes()
    assert engines.share("numba", "cuda") is None


def test_a_small_spot_stays_on_the_cpu_and_says_why(device: HostDevice, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "spot.toml").write_text(SPOTS[0].to_toml(), encoding="utf-8")
    assert main(["solve", str(tmp_path / "spot.toml"), "--iterations", "2", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["device"] == "cpu"
    assert "on the CPU: " in printed.err
    assert "fewer than the 10 million from which a GPU pays off" in printed.err


@needs_gcc
def test_a_large_spot_goes_to_the_gpu_and_says_why(device: HostDevice, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(devices, "PUBLIC_GPU_FROM", {"cuda": 10})
    assert rl.solve(SPOTS[0], **ASKED).device == "cuda"
    assert rl.solve(SPOTS[0], threads=1, **ASKED).device == "cpu"
    assert rl.solve(SPOTS[0], engine="numba", **ASKED).device == "cpu"
    assert [solution.device for solution in rl.solve_many(SPOTS[:1], **ASKED)] == ["cuda"]


def test_a_gpu_with_too_little_memory(device: HostDevice, monkeypatch: Any, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.setattr(devices, "PUBLIC_GPU_FROM", {"cuda": 10})
    monkeypatch.setattr(devices, "cuda_free_bytes", lambda *_: 1000)
    (tmp_path / "spot.toml").write_text(SPOTS[0].to_toml(), encoding="utf-8")
    assert main(["solve", str(tmp_path / "spot.toml"), "--iterations", "2", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["device"] == "cpu"
    assert "on the CPU: the GPU has 1.0 KB free" in printed.err
    with pytest.raises(WouldNotFit, match=r"^dry in the cuda engine needs [\d.]+ KB of GPU .*device='cpu'") as error:
        rl.solve(SPOTS[0], device="cuda", **ASKED)
    assert error.value.exit_code == 3


@needs_gcc
def test_predictions_are_counted_before_they_are_stored(device: HostDevice, monkeypatch: Any) -> None:
    monkeypatch.setattr(devices, "PUBLIC_GPU_FROM", {"cuda": 10})
    size = many.SpotProblem(SPOTS[0]).public_size()
    needed = engines.estimate("cuda", registry.FormKind.PUBLIC, size, predicts=True)
    asked = ASKED | {"variant": "predictive-plus"}
    monkeypatch.setattr(devices, "cuda_free_bytes", lambda *_: needed)
    solution = rl.solve(SPOTS[0], **asked)
    assert solution.device == "cuda"
    assert solution.record.memory_bytes <= needed
    monkeypatch.setattr(devices, "cuda_free_bytes", lambda *_: needed - 1)
    monkeypatch.setattr(device, "free_bytes", lambda: needed - 1)
    assert rl.solve(SPOTS[0], device="cuda", **ASKED).device == "cuda"
    assert rl.solve(SPOTS[0], **asked).device == "cpu"
    assert [each.device for each in rl.solve_many(SPOTS[:1], **asked)] == ["cpu"]
    with pytest.raises(WouldNotFit, match=r"^dry in the cuda engine needs"):
        rl.solve(SPOTS[0], device="cuda", **asked)
    with pytest.raises(many.SpotsFailed, match=r"^spot 0 \(dry\): dry in the cuda engine needs"):
        rl.solve_many(SPOTS[:1], device="cuda", **asked)


@needs_gcc
def test_a_failing_gpu_gives_one_sentence_and_keeps_the_checkpoint(
    device: HostDevice, monkeypatch: Any, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "spot.toml").write_text(SPOTS[0].to_toml(), encoding="utf-8")
    file, asked = tmp_path / "spot.rgl", ["--variant", "discounted", "--device", "cuda"]
    waits = iter(range(1000))

    def wait() -> None:
        if next(waits) == 1:  # in the second iteration
            raise DeviceFailed("the GPU failed: cudaErrorIllegalAddress")

    monkeypatch.setattr(device, "wait", wait)
    saved = [*asked, "--out", str(file), "--save-every", "1e-9"]
    assert main(["solve", str(tmp_path / "spot.toml"), "--iterations", "9", *saved]) == 4
    words = f"the GPU failed: cudaErrorIllegalAddress; resume the last checkpoint with regretless solve --resume {file}"
    assert f"error: {words}" in capsys.readouterr().err
    assert rl.load(file).iterations == 1
    waits = iter(range(1000))
    with pytest.raises(many.SpotsFailed, match=r"^spot 0 \(dry\): the GPU failed.*and 1 more of 2 spots"):
        rl.solve_many(SPOTS[:2], device="cuda", **ASKED | {"iterations": 9})


def test_without_a_device_or_without_cupy(monkeypatch: Any) -> None:
    monkeypatch.setattr(devices, "cuda_devices", lambda: 0)
    for solve in (rl.solve, lambda spot, **options: rl.solve_many([spot], **options)):
        with pytest.raises(InvalidOption, match=r"^device: 'cuda' is not available: the NVIDIA driver finds no device"):
            solve(SPOTS[0], device="cuda", **ASKED)
    monkeypatch.setattr(devices, "cuda_devices", lambda: 1)
    monkeypatch.setattr(devices, "cuda_free_bytes", lambda *_: 1 << 33)
    monkeypatch.setattr(registry, "find_spec", lambda name: None if name == "cupy" else name)
    monkeypatch.setattr(cuda_device, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"^cupy is not installed: pip install .*\[gpu\]"):
        rl.solve(SPOTS[0], engine="cuda", **ASKED)
    with pytest.raises(MissingExtra, match=r"^cupy is not installed"):
        rl.solve_many(SPOTS, engine="cuda", **ASKED)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "torch"}, "engine: 'torch' cannot solve a spot: use one of auto, numba, numpy, cuda"),
        ({"device": "mps"}, "device: 'mps' cannot solve a spot: use one of auto, cpu, cuda"),
    ],
)
def test_what_cannot_solve_a_spot_is_refused_by_name(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        rl.solve(SPOTS[0], **options, **ASKED)
    with pytest.raises(InvalidOption, match=message):
        rl.solve_many(SPOTS, **options, **ASKED)
