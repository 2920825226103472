"""A study on a real Ray cluster of two nodes on this machine: the same tables as without it, whatever is killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.studies import FLOPS, solve_here, start_command, study_text, tables

import regretless as rl

pytest.importorskip("ray")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.slow

KILLS = 20
NODE = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80 * 2**20, "memory": 2 * 2**30}
WORKERS = (b"ray::_task", b"ray::IDLE")  # not the agents of a node, without which it ends
MORE = ("Ad4c4h", "3c3d3h", "KsTh5h", "8s4h3h")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head and another node; a node that a test kills is replaced by the test."""
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args=NODE)
    found.add_node(**NODE)
    yield found
    found.shutdown()


def start(cluster: Any, study: Path, folder: Path, **options: object) -> subprocess.Popen[str]:
    return start_command("study", "run", study, "--out", folder, "--ray", cluster.address, "--json", **options)


def test_a_cluster_finds_what_one_machine_finds(cluster: Any, tmp_path: Path) -> None:
    study, text = tmp_path / "six.toml", study_text()
    study.write_text(text)
    process = start(cluster, study, tmp_path / "ray")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert json.loads(out)["solved"] == len(FLOPS)
    solve_here(text, tmp_path / "local")
    assert tables(tmp_path / "ray") == tables(tmp_path / "local")


@pytest.mark.parametrize("module", ["pyarrow", "regretless"])
def test_modules_of_the_current_folder_are_not_imported(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    (tmp_path / f"{module}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    study = tmp_path / "one.toml"
    study.write_text(study_text(("QsJh2h",)))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # of the driver, as when it is started as `regretless`
    process = start(cluster, study, tmp_path / "ray", cwd=tmp_path)
    out, err = process.communicate(timeout=300)
    assert not (tmp_path / "imported").exists()
    assert process.returncode == 0, err
    assert json.loads(out)["solved"] == 1


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """The address of a cluster that asks for a token, and the token."""
    with tempfile.TemporaryDirectory(prefix="ray") as folder, socket.create_server(("", 0)) as free:
        token, port = secrets.token_hex(32), free.getsockname()[1]
        monkeypatch.setenv("HOME", folder)
        free.close()
        words = ["--head", "--block", f"--port={port}", "--num-cpus=1", "--include-dashboard=false"]
        words += ["--object-store-memory=80000000", f"--temp-dir={folder}/session", "--disable-usage-stats"]
        code = "import sys; from ray.scripts.scripts import main; sys.exit(main())"
        head = subprocess.Popen(
            [sys.executable, "-c", code, "start", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token},
        )
        assert head.stdout is not None
        lines = []
        for line in head.stdout:
            lines.append(line)
            if "Ray runtime started" in line:
                break
        else:
            raise AssertionError("".join(lines))
        yield f"127.0.0.1:{port}", token
        head.terminate()  # it ends what it has started
        head.communicate(timeout=60)


def test_a_cluster_with_a_token(guarded: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address, token = guarded
    study = tmp_path / "one.toml"
    study.write_text(study_text(("QsJh2h",)))
    command = ("study", "run", study, "--out", tmp_path / "ray", "--ray", address)
    for mode, sent, sentence in (
        ("", "", f"error: ray: {address!r} asks for a token: set RAY_AUTH_MODE=token; the cluster's token"),
        ("token", "", f"error: ray: {address!r} needs a token, as RAY_AUTH_MODE=token says, and none exists: the"),
        ("token", "0" * 64, f"error: ray: {address!r} does not accept the token that was sent: the cluster's token"),
    ):
        for name, value in (("RAY_AUTH_MODE", mode), ("RAY_AUTH_TOKEN", sent)):
            monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
        refused = start_command(*command)
        out, err = refused.communicate(timeout=120)
        assert (refused.returncode, out, err.count("\n")) == (1, "", 1), err
        assert err.startswith(sentence)
    monkeypatch.setenv("RAY_AUTH_TOKEN", token)
    process = start_command(*command)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "1 of 1 spots" in err


def test_a_spot_that_no_node_has_memory_for_is_refused(cluster: Any, tmp_path: Path) -> None:
    study = tmp_path / "large.toml"
    wide = study_text(("QsJh2h",), more="").replace("QQ, AKs, 76s", "100%").replace("JJ, KQs, 98s", "100%")
    study.write_text(wide.replace('bets.flop.bet = "50%"', 'bets.bet = "33%, 75%"\nbets.raise = "3x"'))
    process = start(cluster, study, tmp_path / "ray")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 3, err
    assert "QsJh2h needs" in err
    assert "GB of memory on one machine, but only 1.8 GB are free" in err


def test_no_cluster_is_one_sentence(tmp_path: Path) -> None:
    study = tmp_path / "six.toml"
    study.write_text(study_text())
    process = start_command("study", "run", study, "--out", tmp_path / "ray", "--ray", "127.0.0.1:1")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "ray: '127.0.0.1:1' is not a running cluster: ray start --head" in err
    assert err.count("\n") == 1


def test_nothing_is_lost_whatever_is_killed(cluster: Any, tmp_path: Path) -> None:
    """Workers, nodes and drivers are killed at random moments, and the study is resumed until it is done."""
    chance = random.Random(14)
    study, text = tmp_path / "study.toml", study_text(FLOPS + MORE, iterations=40)
    study.write_text(text)
    solve_here(text, tmp_path / "local")
    folder = tmp_path / "ray"
    kills: Counter[str] = Counter()
    while kills.total() < KILLS:
        process = start(cluster, study, folder)
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=chance.uniform(1, 6))
            if process.poll() is None and kills.total() < KILLS + 5:
                kills[kill_something(chance, cluster, process)] += 1
        process.communicate()
        check_whole(folder, tmp_path / "local")
        if process.returncode == 0:
            shutil.rmtree(folder)  # done: start again, until enough has been killed
    process = start(cluster, study, folder)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    answer = json.loads(out)
    assert (answer["done"], answer["errors"]) == (len(FLOPS + MORE), [])
    assert tables(folder) == tables(tmp_path / "local")
    counted = rl.Study(folder).query("SELECT count(*) AS n, count(DISTINCT spot) AS spots FROM runs").to_pylist()
    assert counted == [{"n": 10, "spots": 10}]
    assert not list(folder.rglob("*.part"))
    print(f"killed: {dict(kills)}")
    assert min(kills[kind] for kind in ("worker", "node", "driver")) >= 2


def check_whole(folder: Path, reference: Path) -> None:
    """Every spot that counts as done has the rows that it should have."""
    for part in (folder / "runs").glob("[!.]*.parquet"):
        for table in ("summary", "hands"):
            assert (folder / table / part.name).read_bytes() == (reference / table / part.name).read_bytes()


def kill_something(chance: random.Random, cluster: Any, driver: subprocess.Popen[str]) -> str:
    kind = chance.choice(["worker", "worker", "node", "driver"])
    workers = ray_workers()
    if kind == "worker" and workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(workers), signal.SIGKILL)
        return kind
    if kind == "node":
        (other,) = cluster.worker_nodes
        cluster.remove_node(other, allow_graceful=False)
        cluster.add_node(**NODE)
        return kind
    driver.kill()
    driver.wait()
    time.sleep(0.5)
    return "driver"


def ray_workers() -> list[int]:
    """Workers of the clusters that this process started."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                pid = int(entry.name)
                parents[pid] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                names[pid] = (entry / "cmdline").read_bytes()

    def is_ours(pid: int) -> bool:
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()

    return [pid for pid, name in names.items() if name.startswith(WORKERS) and is_ours(pid)]
