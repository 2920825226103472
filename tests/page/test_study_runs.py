"""Studies that are started from the page: checked, run in a process, stopped, resumed, and what a stranger prepared."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API

import regretless as rl
from regretless.cli import main
from regretless.holdem.studies.plan import StudyPlan
from regretless.page.app import make_app
from regretless.page.studies import STUDY

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

SPOT = {
    "pot": 60,
    "stack": 100,
    "oop": {"range": "QQ, AKs, 76s", "name": "BB"},
    "ip": {"range": "JJ, KQs, 98s"},
    "bets": {"flop": {"bet": "50%"}},
    "rules": {"add_allin": 0},
}
FLOPS = "QsJh2h, As7h2d, 9s8s7s"
BODY = {"spot": SPOT, "flops": FLOPS, "target": 5}


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    path = tmp_path / "served"
    path.mkdir()
    return path


@pytest.fixture
def shelf(empty: Path) -> Any:
    with TestClient(make_app(empty, token=None), base_url="http://127.0.0.1:8040") as client:
        yield client


def wait_for(client: TestClient, study: str, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    ends = time.monotonic() + 300
    while True:
        answer: dict[str, Any] = client.get(f"{API}/study", params={"study": study}).json()
        if done(answer["run"]):
            return answer
        assert time.monotonic() < ends, answer
        time.sleep(0.05)


def is_over(run: dict[str, Any]) -> bool:
    return run["state"] in ("done", "stopped", "failed")


def test_a_study_is_estimated_before_it_is_started(shelf: TestClient) -> None:
    answer = shelf.post(f"{API}/studies/check", json=BODY).json()
    assert answer["valid"]
    estimate = answer["estimate"]
    assert (estimate["spots"], estimate["impossible"], estimate["fits"]) == (3, 0, True)
    assert estimate["memory_bytes"] > 10**5
    assert StudyPlan.parse(answer["toml"]).options.target == 5.0


@pytest.mark.parametrize(
    ("changed", "field", "sentence"),
    [
        (
            {"spot": SPOT | {"oop": {"range": "AKx"}}},
            "oop.range",
            "'AKx' at position 3: 'x' is neither s, o nor a suit",
        ),
        ({"spot": SPOT | {"pot": ""}}, "pot", "must be a number"),
        ({"flops": "twotone"}, "flops", "did you mean two-tone?"),
        ({"flops": "QsJh2h, QsJh2h"}, "flops[1]", "is in the list already"),
        ({"flops": "QsJsQs"}, "flops", "Qs appears twice"),
    ],
)
def test_what_is_wrong_is_named(shelf: TestClient, changed: dict[str, Any], field: str, sentence: str) -> None:
    answer = shelf.post(f"{API}/studies/check", json=BODY | changed).json()
    (error,) = answer["errors"]
    assert not answer["valid"]
    assert error["field"] == field
    assert sentence in error["message"]
    assert shelf.post(f"{API}/studies", json=BODY | changed).status_code == 422


def test_a_study_runs_to_its_end_and_is_what_the_command_would_write(shelf: TestClient, empty: Path) -> None:
    answer = shelf.post(f"{API}/studies", json=BODY | {"name": "Mine"})
    assert answer.status_code == 201
    assert answer.json()["study"] == "studies/Mine"
    second = shelf.post(f"{API}/studies", json=BODY | {"name": "Mine"}).json()
    assert second["study"] == "studies/Mine-2"
    assert second["run"]["state"] == "queued", "one at a time"
    known = {each["study"]: each for each in shelf.get(f"{API}/studies").json()["studies"]}
    assert known["studies/Mine-2"]["spots"] == 0
    waiting = shelf.get(f"{API}/study", params={"study": "studies/Mine-2"}).json()
    assert set(waiting) == set(STUDY["required"]), "what a study with a folder has"
    assert (waiting["seats"], waiting["variations"]) == ({"oop": "BB", "ip": "IP"}, [[]])
    first = wait_for(shelf, "studies/Mine", is_over)
    assert (first["run"]["state"], first["done"], first["spots"], first["name"]) == ("done", 3, 3, "Mine")
    assert len(rl.Study(empty / "studies" / "Mine")) == 3
    assert wait_for(shelf, "studies/Mine-2", is_over)["done"] == 3
    rows = [
        shelf.get(f"{API}/study/flops", params={"study": f"studies/{name}"}).json()["frequencies"]
        for name in ("Mine", "Mine-2")
    ]
    assert rows[0] == rows[1]
    toml = shelf.post(f"{API}/studies/check", json=BODY).json()["toml"]
    (empty / "study.toml").write_text(toml)
    assert main(["study", "run", str(empty / "study.toml"), "--out", str(empty / "by command"), "--json"]) == 0
    page, command = (rl.Study(empty / name).to_arrow().to_pylist() for name in ("studies/Mine", "by command"))
    assert len(page) == len(command) > 3
    for row, other in zip(page, command, strict=True):
        assert {name for name, value in row.items() if value != other[name]} <= {"name"}


def test_a_study_is_stopped_and_resumed(shelf: TestClient) -> None:
    shelf.post(f"{API}/studies", json=BODY | {"flops": "subset(184)", "target": 0.01, "name": "Long"})
    wait_for(shelf, "studies/Long", lambda run: run["state"] == "running")
    twice = shelf.post(f"{API}/study/resume", json={"study": "studies/Long"})
    assert twice.status_code in (404, 409), "it has no folder yet, or is running"
    assert shelf.post(f"{API}/study/stop", json={"study": "studies/Long"}).json()["run"]["state"] == "stopping"
    stopped = wait_for(shelf, "studies/Long", is_over)
    assert stopped["run"]["state"] == "stopped"
    assert stopped["done"] < stopped["spots"] == 184
    again = shelf.post(f"{API}/study/stop", json={"study": "studies/Long"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "conflict")
    resumed = shelf.post(f"{API}/study/resume", json={"study": "studies/Long"})
    assert resumed.status_code == 200
    shelf.post(f"{API}/study/stop", json={"study": "studies/Long"})
    assert wait_for(shelf, "studies/Long", is_over)["run"]["state"] == "stopped"


def test_a_folder_of_studies_behind_a_link_is_refused(empty: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    os.symlink(outside, empty / "studies")
    with TestClient(make_app(empty, token=None), base_url="http://127.0.0.1:8040") as client:
        answer = client.post(f"{API}/studies", json=BODY)
        assert answer.status_code == 422
        assert "is a link" in answer.json()["error"]["message"]
    assert list(outside.iterdir()) == []
