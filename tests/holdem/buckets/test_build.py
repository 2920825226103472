"""Building a table: the same file whatever the threads, the device and the interrupts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.holdem.buckets.plans import MONOTONE, PLAN

from regretless.cards.deck import parse_board
from regretless.cards.hands import HAND_CARDS, HAND_CLASS
from regretless.cards.isomorphism import CARD_MAPS, hand_maps
from regretless.errors import InvalidFile
from regretless.holdem.buckets import NO_BUCKET, BucketPlan, Buckets, build_buckets
from regretless.holdem.buckets import build as building
from regretless.holdem.buckets.build import BuildProgress, BuildStopped
from regretless.holdem.buckets.table import read_unfinished


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_do_not_change_the_file(path, folder, threads):
    build_buckets(PLAN, folder / "threads.rgl", threads=threads)
    assert (folder / "threads.rgl").read_bytes() == path.read_bytes()


def test_pytorch_does_not_change_the_file(path, folder, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(building, "check_device", lambda device, plan: "cpu:0")  # to PyTorch, a CPU is a device
    build_buckets(PLAN, folder / "torch.rgl", threads=2)
    assert (folder / "torch.rgl").read_bytes() == path.read_bytes()


@pytest.mark.gpu
def test_a_gpu_does_not_change_the_file(path, folder):
    build_buckets(PLAN, folder / "gpu.rgl", threads=2, device="cuda")
    assert (folder / "gpu.rgl").read_bytes() == path.read_bytes()


def test_another_seed_gives_another_table(table):
    other = build_buckets(BucketPlan(turn=20, board=MONOTONE, sample=2000, seed=4), threads=1)
    assert not np.array_equal(other.table("turn"), table.table("turn"))


@pytest.mark.parametrize("stop_at", [0.05, 0.2, 0.35, 0.6, 0.95])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_build_continues_to_the_same_file(path, tmp_path, stop_at, threads):
    share = 0.0

    def report(progress: BuildProgress) -> None:
        nonlocal share
        share = progress.share

    with pytest.raises(BuildStopped) as stopped:
        build_buckets(PLAN, tmp_path / "t.rgl", threads=threads, report=report, interrupted=lambda: share >= stop_at)
    assert stopped.value.saved == (tmp_path / "t.rgl").exists()
    assert stopped.value.saved or stop_at < 0.1
    if stopped.value.saved:
        with pytest.raises(InvalidFile, match="contains an unfinished table of card buckets, not a table of card"):
            Buckets.load(tmp_path / "t.rgl")
    shares: list[float] = []
    build_buckets(PLAN, tmp_path / "t.rgl", threads=threads, report=lambda progress: shares.append(progress.share))
    assert (tmp_path / "t.rgl").read_bytes() == path.read_bytes()
    assert shares == sorted(shares)
    if stop_at > 0.5:
        assert shares[0] > 0.3  # it did not begin again


def test_an_interrupt_after_the_last_board_changes_nothing(path, tmp_path):
    share = 0.0

    def report(progress: BuildProgress) -> None:
        nonlocal share
        share = progress.share

    build_buckets(PLAN, tmp_path / "t.rgl", threads=1, report=report, interrupted=lambda: share == 1)
    assert share == 1
    assert (tmp_path / "t.rgl").read_bytes() == path.read_bytes()


def test_checkpoints_between_pieces_continue_to_the_same_file(path, tmp_path, monkeypatch):
    """As after SIGKILL: only what a checkpoint holds is left."""
    copies = []

    def keep(file, plan, tables, write=building.write_tables):
        write(file, plan, tables)
        copies.append(Path(file).read_bytes())

    monkeypatch.setattr(building, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(building, "write_tables", keep)
    build_buckets(PLAN, tmp_path / "t.rgl", threads=2)
    assert len(copies) > 5
    for copy in (copies[0], copies[len(copies) // 2], copies[-2]):
        (tmp_path / "left.rgl").write_bytes(copy)
        build_buckets(PLAN, tmp_path / "left.rgl", threads=2)
        assert (tmp_path / "left.rgl").read_bytes() == path.read_bytes()


def test_an_unfinished_file_of_another_plan_is_not_touched(tmp_path):
    with pytest.raises(BuildStopped):
        interrupt_late(tmp_path / "t.rgl")
    before = (tmp_path / "t.rgl").read_bytes()
    with pytest.raises(InvalidFile, match="holds an unfinished table with other settings"):
        build_buckets(BucketPlan(turn=21, board=MONOTONE, sample=2000), tmp_path / "t.rgl")
    assert (tmp_path / "t.rgl").read_bytes() == before
    assert read_unfinished(tmp_path / "t.rgl")[0] == PLAN


def interrupt_late(path: Path) -> None:
    share = 0.0

    def report(progress: BuildProgress) -> None:
        nonlocal share
        share = progress.share

    build_buckets(PLAN, path, threads=1, report=report, interrupted=lambda: share > 0.8)


@pytest.mark.slow
def test_every_flop():
    """The whole street: isomorphic hands on random flops, and no bucket empty."""
    table = build_buckets(BucketPlan(flop=200))
    assert len(np.unique(table.table("flop"))) == 200
    random = np.random.default_rng(0)
    for _ in range(200):
        board = random.choice(52, 3, replace=False)
        renaming = random.integers(24)
        renamed = table.of("flop", CARD_MAPS[renaming, board])[hand_maps()[renaming]]
        np.testing.assert_array_equal(renamed, table.of("flop", board))
    aces, seven_deuce = (HAND_CLASS == 0), (HAND_CARDS // 4 == [0, 5]).all(axis=1)
    dry = table.of("flop", parse_board("Kc 9d 4h")).astype(int)
    assert dry[aces & (dry != NO_BUCKET)].min() > dry[seven_deuce & (dry != NO_BUCKET)].max()
