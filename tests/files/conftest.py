from __future__ import annotations

from pathlib import Path

import pytest

from regretless import Solution, solve


@pytest.fixture(scope="session")
def kuhn() -> Solution:
    return solve("kuhn", variant="discounted", iterations=60, engine="reference")


@pytest.fixture
def kuhn_file(kuhn: Solution, tmp_path: Path) -> Path:
    path = tmp_path / "kuhn.rgl"
    kuhn.save(path)
    return path
