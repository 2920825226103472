"""A training as an engine: the memory that it needs, and what watchers are told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import regretless as rl
from regretless.deep import engine as engines
from regretless.errors import WouldNotFit

Options = dict[str, Any]


def refusal(**settings: Any) -> str:
    with pytest.raises(WouldNotFit) as caught:
        rl.train("kuhn", **settings)
    assert caught.value.needed > caught.value.available
    return str(caught.value)


def test_memory_is_counted_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "available_bytes", lambda: 2**30)
    said = refusal(preset="fhp")
    assert "training kuhn needs 1.9 GB of memory, but only 1.1 GB are free" in said
    assert "advantage_capacity=20000000, strategy_capacity=20000000 needs 966 MB, which fits" in said


def test_only_the_memories_that_are_too_large_are_to_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "available_bytes", lambda: 2**30)
    assert "free: strategy_capacity=60000000 needs 994 MB, which fits" in refusal(strategy_capacity=10**9)
    single = refusal(algorithm="single", advantage_capacity=10**9, strategy_capacity=10**12)
    assert "free: advantage_capacity=30000000 needs 985 MB, which fits" in single


def test_a_batch_that_does_not_fit_is_refused() -> None:
    said = refusal(batch=10**12)
    assert re.search(r"free: networks, batches and measuring need [\d.]+ TB, even without memories$", said)
    assert "capacity" not in said


class Seen:
    def __init__(self) -> None:
        self.iterations: list[int] = []
        self.measured_at: list[int] = []

    def iterated(self, report: Any) -> None:
        self.iterations.append(report.iteration)

    def measured(self, iteration: int, evaluation: Any) -> None:
        self.measured_at.append(iteration)


def test_watchers_are_told(quick: Options, tmp_path: Path) -> None:
    seen = Seen()
    rl.train("kuhn", watchers=[seen], tensorboard=tmp_path / "runs", **quick)
    assert (seen.iterations, seen.measured_at) == ([1, 2, 3, 4], [2, 4])
    (file,) = (tmp_path / "runs").iterdir()
    content = file.read_bytes()
    assert content.count(b"loss/player 0") == 4
    assert content.count(b"exploitability") == 2
