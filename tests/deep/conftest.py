from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import regretless as rl

QUICK: dict[str, Any] = {
    "iterations": 4, "traversals": 40, "value_steps": 5, "policy_steps": 10, "width": 8, "seed": 3, "measure_every": 2,
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small matrices gain nothing from threads, and test processes share the cores."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def quick() -> dict[str, Any]:
    """Options of a training that takes a moment and learns next to nothing."""
    return dict(QUICK)


@pytest.fixture(scope="session", params=["deep", "single"])
def trained(request: pytest.FixtureRequest) -> rl.TrainedPolicy:
    """Such a training of Kuhn poker."""
    pytest.importorskip("torch")
    return rl.train("kuhn", algorithm=request.param, **QUICK)
