"""A game in shards on a real Ray cluster of two nodes on this machine: the same numbers, whatever is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.studies import start_command
from tests.cluster.test_on_ray import NODE
from tests.holdem.games.test_shards import FLOPS, TOML, assert_same_learned, solved

from regretless.holdem.games.real_cards import RealCardsSolution

pytest.importorskip("ray")
pytestmark = pytest.mark.slow

ITERATIONS = 200
ROUNDS, KILLS = 4, 4  # of shards before the trunk is killed too


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args=NODE)
    found.add_node(**NODE)
    yield found
    found.shutdown()


def actors() -> list[int]:
    """The processes of shards."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdecimal() and (folder / "cmdline").read_bytes().startswith(b"ray::_Actor"):
                found.append(int(folder.name))
    return found


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def start(cluster: Any, out: Path, *words: object) -> subprocess.Popen[str]:
    return start_command(
        "solve", *words, "--shards", 2, "--ray", cluster.address, "--save-every", 0.5, "--out", out, "--json"
    )


def test_twenty_kills_of_shards_and_trunk_change_no_bit(cluster: Any, tmp_path: Path) -> None:
    draws, killed, out = random.Random(29), 0, tmp_path / "game.rgl"
    (tmp_path / "game.toml").write_text(TOML, encoding="utf-8")
    words = [tmp_path / "game.toml", "--flops", FLOPS, "--storage", 16, "--iterations", ITERATIONS]
    for _ in range(ROUNDS):
        process = start(cluster, out, *words)
        before = out.stat().st_mtime_ns if out.exists() else 0
        for _ in range(KILLS):
            wait_for(lambda: len(actors()) == 2, process)
            time.sleep(draws.uniform(0.0, 3.0))  # while they start, iterate, save or repeat
            wait_for(lambda: len(actors()) > 0, process)  # or says how the solve ended
            os.kill(draws.choice(actors()), signal.SIGKILL)
            killed += 1
        wait_for(lambda: out.exists() and out.stat().st_mtime_ns > before, process)  # noqa: B023
        process.kill()
        process.communicate()
        killed += 1
        words = ["--resume", out]
    assert killed == 20
    process = start(cluster, out, *words)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert_same_learned(RealCardsSolution.load(out), solved(ITERATIONS))
