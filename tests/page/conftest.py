"""A folder of solved spots, games and a study, an application for it, and real servers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.cluster.studies import solve_here, study_text
from tests.page.play_games import save_games
from tests.page.serving import RIVER, TURN, Server

import regretless as rl
from regretless.holdem import Spot
from regretless.page.app import make_app

STUDY = """
name = "Formation"
keep.solutions = true
vary.rules.rake = [0, 0.05]
"""


@pytest.fixture(scope="session")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with river.rgl, turn.rgl, kuhn.rgl, leduc.rgl, push-fold.rgl, river.toml and a study; not to be changed.

    The study has six flops and two rakes; its solutions are kept, except that of 9s8s7s.
    """
    folder = tmp_path_factory.mktemp("solved")
    for name, fields, target in (("river", RIVER, 0.1), ("turn", TURN, 0.5)):
        rl.solve(Spot.from_mapping(fields), target=target, threads=1).save(folder / f"{name}.rgl", resumable=True)
    rl.solve("kuhn", iterations=200).save(folder / "kuhn.rgl")
    rl.solve("leduc", iterations=5).save(folder / "leduc.rgl")
    rl.solve("push-fold(stack=10)", iterations=100).save(folder / "push-fold.rgl")
    (folder / "river.toml").write_text(Spot.from_mapping(RIVER).to_toml(), encoding="utf-8")
    if find_spec("pyarrow") and find_spec("duckdb"):
        solve_here(study_text(iterations=5, more=STUDY), folder / "study")
        (folder / "study" / "solutions" / "9s8s7s-1.rgl").unlink()
    return folder


@pytest.fixture(scope="session")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with flops.rgl, buckets.rgl and all-in.rgl, whole games; not to be changed."""
    folder = tmp_path_factory.mktemp("games")
    save_games(folder)
    return folder


@pytest.fixture
def folder(solved: Path, tmp_path: Path) -> Path:
    """A copy of the folder that a test may change."""
    copied = tmp_path / "served"
    shutil.copytree(solved, copied)
    return copied


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(make_app(folder, token=None), base_url="http://127.0.0.1:8040") as found:
        yield found


@pytest.fixture(scope="session")
def reading(solved: Path) -> Iterator[TestClient]:
    """A client for tests that only read."""
    with TestClient(make_app(solved, token=None), base_url="http://127.0.0.1:8040") as found:
        yield found


@pytest.fixture
def start_server(folder: Path) -> Iterator[Callable[[], Server]]:
    started: list[Server] = []

    def start() -> Server:
        started.append(Server(folder))
        return started[-1]

    yield start
    for server in started:
        server.close()
