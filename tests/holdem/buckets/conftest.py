"""A small table of buckets, built once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.holdem.buckets.plans import PLAN

from regretless.holdem.buckets import Buckets, build_buckets


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("buckets")


@pytest.fixture(scope="session")
def path(folder: Path) -> Path:
    build_buckets(PLAN, folder / "table.rgl", threads=1)
    return folder / "table.rgl"


@pytest.fixture(scope="session")
def table(path: Path) -> Buckets:
    return Buckets.load(path)
