"""Solves in their own processes: started, followed, stopped, resumed, killed."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API, FOREVER, RIVER, SLOW, Server, is_over, wait_for

import regretless as rl
from regretless.holdem import Spot, estimate, fitting
from regretless.page import queue
from regretless.page.app import make_app
from regretless.page.solves import OPTIONS
from regretless.solving.options import SolveOptions


def start(client: Any, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{API}/solves", json=body)
    assert answer.status_code == 201, answer.text
    solve: dict[str, Any] = answer.json()["solve"]
    return solve


def events(client: Any, id_: str) -> list[tuple[str, Any]]:
    """All events of a solve until it is over."""
    found, name = [], ""
    with client.stream("GET", f"{API}/solves/{id_}/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_spot_is_solved_followed_and_read(client: TestClient, folder: Path) -> None:
    solve = start(client, spot=SLOW, target=1, name="my turn", threads=1)
    assert solve["file"] == "my turn.rgl"
    seen = events(client, solve["id"])
    assert seen[0][0] == seen[-1][0] == "solve"
    last = seen[-1][1]
    assert last["state"] == "done", last
    assert last["exploitability"] <= 1
    points = [value for name, value in seen if name == "point"]
    assert points
    assert all(point in last["curve"] for point in points)
    assert last["readable"]
    solution = rl.load(folder / "my turn.rgl")
    alone = rl.solve(Spot.from_mapping(SLOW), target=1, threads=1)
    assert solution.exploitability == alone.exploitability  # saving on the way changes nothing
    assert [point.exploitability for point in solution.history] == [point.exploitability for point in alone.history]
    assert client.get(f"{API}/node", params={"file": "my turn.rgl"}).json()["actions"]


def test_a_finished_solve_continues_to_a_finer_target(client: TestClient) -> None:
    id_ = start(client, spot=RIVER, target=2, threads=1)["id"]
    first = wait_for(client, id_, is_over)
    answer = client.post(f"{API}/solves/{id_}/resume", json={"target": 0.2})
    assert answer.status_code == 200, answer.text
    second = wait_for(client, id_, is_over)
    assert second["state"] == "done", second
    assert second["exploitability"] <= 0.2 < first["exploitability"]
    assert second["iteration"] > first["iteration"]
    curves = [[(iteration, found) for iteration, _, found in solve["curve"]] for solve in (first, second)]
    assert curves[1][: len(curves[0])] == curves[0]
    assert second["file"] == first["file"]


def test_solves_wait_their_turn_and_a_running_one_stops_readable(client: TestClient) -> None:
    running = start(client, **FOREVER)
    waiting = start(client, spot=RIVER, target=1, threads=1)
    assert (waiting["state"], waiting["place"]) == ("queued", 1)
    wait_for(client, running["id"], lambda solve: solve["iteration"] > 2)
    assert client.delete(f"{API}/solves/{running['id']}").status_code == 409
    assert client.post(f"{API}/solves/{running['id']}/stop", json={}).status_code == 200
    stopped = wait_for(client, running["id"], is_over)
    assert stopped["state"] == "stopped", stopped
    assert stopped["readable"]
    assert stopped["resumable"]
    node = client.get(f"{API}/node", params={"file": stopped["file"], "line": "check"})
    assert node.status_code == 200, node.text
    assert wait_for(client, waiting["id"], is_over)["state"] == "done"
    assert client.post(f"{API}/solves/{running['id']}/stop", json={}).status_code == 409
    client.post(f"{API}/solves/{running['id']}/resume", json={"iterations": stopped["iteration"] + 1})
    resumed = wait_for(client, running["id"], is_over)
    assert resumed["iteration"] == stopped["iteration"] + 1, resumed
    assert client.delete(f"{API}/solves/{running['id']}").status_code == 200
    assert client.get(f"{API}/solves/{running['id']}").status_code == 404
    assert client.get(f"{API}/file", params={"file": stopped["file"]}).status_code == 200


def test_a_killed_process_is_reported_and_what_it_saved_is_kept(client: TestClient) -> None:
    id_ = start(client, **FOREVER)["id"]
    saved = wait_for(client, id_, lambda solve: solve["readable"])
    os.kill(saved["pid"], signal.SIGKILL)
    failed = wait_for(client, id_, is_over)
    assert failed["state"] == "failed"
    assert failed["message"].startswith("the process was ended by SIGKILL")
    assert "can be resumed" in failed["message"]
    assert client.get(f"{API}/node", params={"file": failed["file"]}).status_code == 200
    kept = client.get(f"{API}/file", params={"file": failed["file"]}).json()["iterations"]
    client.post(f"{API}/solves/{id_}/resume", json={"iterations": kept + 2})
    resumed = wait_for(client, id_, is_over)
    assert (resumed["state"], resumed["iteration"]) == ("done", kept + 2), resumed


def test_a_killed_server_loses_nothing_that_was_saved(start_server: Callable[[], Server], folder: Path) -> None:
    server = start_server()
    started = start(server.client, **FOREVER)
    saved = wait_for(server.client, started["id"], lambda solve: solve["readable"])
    waiting = start(server.client, spot=RIVER, target=1, threads=1)
    server.kill()
    ends = time.monotonic() + 300
    while not is_gone(saved["pid"]):  # the solve notices, saves and ends
        assert time.monotonic() < ends
        time.sleep(0.05)
    again = start_server()
    listed = {solve["id"]: solve for solve in again.client.get(f"{API}/solves").json()["solves"]}
    assert listed[started["id"]]["state"] == listed[waiting["id"]]["state"] == "stopped"
    assert listed[started["id"]]["readable"]
    found = again.client.get(f"{API}/solves/{started['id']}").json()["solve"]
    assert len(found["curve"]) >= len(saved["curve"])
    iterations = rl.load(folder / found["file"]).iterations
    assert iterations >= saved["iteration"]
    again.client.post(f"{API}/solves/{started['id']}/resume", json={"iterations": iterations + 1})
    again.client.post(f"{API}/solves/{waiting['id']}/resume", json={})
    assert wait_for(again.client, started["id"], is_over)["iteration"] == iterations + 1
    assert wait_for(again.client, waiting["id"], is_over)["state"] == "done"


def keep(folder: Path, name: str, file: str, state: str, saved: bool, **ends: Any) -> None:
    """A solve on the list of a server that died."""
    kept = folder / ".regretless" / "solves"
    kept.mkdir(parents=True, exist_ok=True)
    request = {"name": name, "file": file, "pot": RIVER["pot"], "options": ends}
    job = {"id": name, "request": request, "created": 1.0, "started": 2.0, "state": state, "saved": saved}
    (kept / f"{name}.json").write_text(json.dumps(job | ends), encoding="utf-8")


def test_a_solve_that_had_finished_when_its_server_died_is_done(folder: Path) -> None:
    keep(folder, "finished", "river.rgl", "running", True, target=0.1)
    keep(folder, "unheard", "river.rgl", "running", False, target=0.1)
    keep(folder, "stopping", "kuhn.rgl", "stopping", True, iterations=200)
    keep(folder, "finer", "river.rgl", "running", True, target=0.05)
    keep(folder, "longer", "kuhn.rgl", "starting", True, iterations=300)
    keep(folder, "absent", "absent.rgl", "running", True, target=0.1)
    keep(folder, "default", "river.rgl", "queued", False)
    with TestClient(make_app(folder, token=None), base_url="http://127.0.0.1:8040") as client:
        solves = {each["id"]: each for each in client.get(f"{API}/solves").json()["solves"]}
        for name in ("finished", "unheard", "stopping", "default"):
            assert (solves[name]["state"], solves[name]["readable"], solves[name]["message"]) == ("done", True, None)
        river = rl.load(folder / "river.rgl")
        assert solves["finished"]["iteration"] == river.iterations
        assert solves["finished"]["exploitability"] == pytest.approx(river.scale * river.exploitability)
        for name in ("finer", "longer", "absent"):
            assert solves[name]["state"] == "stopped"
            assert "resume it" in solves[name]["message"]


def test_a_solve_that_outlives_its_server_may_finish_after_the_next_has_started(folder: Path) -> None:
    keep(folder, "late", "late.rgl", "running", True, target=0.1)
    rl.solve(Spot.from_mapping(RIVER), target=0.1, threads=1, checkpoint=folder / "late.rgl", interrupted=lambda: True)
    with TestClient(make_app(folder, token=None), base_url="http://127.0.0.1:8040") as client:
        assert client.get(f"{API}/solves/late").json()["solve"]["state"] == "stopped"
        (folder / "late.rgl").write_bytes((folder / "river.rgl").read_bytes())
        assert client.get(f"{API}/solves/late").json()["solve"]["state"] == "done"


def test_locks_give_a_new_file_to_compare(client: TestClient) -> None:
    lock = {"node": "check", "hands": "", "strategy": {"check": 1.0}}
    kept = {"node": "", "hands": "AA", "source": "river.rgl"}
    solve = start(client, again="river.rgl", locks=[lock, kept], target=1, threads=1)
    done = wait_for(client, solve["id"], is_over)
    assert done["state"] == "done", done
    assert done["again"] == "river.rgl"
    node = client.get(f"{API}/node", params={"file": done["file"], "line": "check"}).json()
    assert node["locks"] == [0]
    assert all(node["locked"])
    assert node["actions"][0]["frequency"] == 1.0
    compared = client.get(f"{API}/compare", params={"first": "river.rgl", "second": done["file"]}).json()
    assert compared["changed"] == ["locks"]
    assert "check" in {each["line"] for each in compared["nodes"]}
    params = {"first": "river.rgl", "second": done["file"], "line": "check", "player": "ip"}
    hands = client.get(f"{API}/compare/node", params=params).json()["hands"]
    assert hands[0]["moved"] >= hands[-1]["moved"]


def test_an_interrupted_solve_of_the_command_is_resumed(client: TestClient, folder: Path) -> None:
    path = folder / "interrupted.rgl"
    rl.solve(Spot.from_mapping(RIVER), target=0.1, threads=1, checkpoint=path, interrupted=lambda: True)
    (found,) = [each for each in client.get(f"{API}/files").json()["files"] if each["file"] == path.name]
    assert (found["kind"], found["resumable"]) == ("checkpoint", True)
    assert "resume it" in client.get(f"{API}/node", params={"file": path.name}).json()["error"]["message"]
    solve = start(client, resume=path.name)
    assert client.post(f"{API}/solves", json={"resume": path.name}).status_code == 409
    done = wait_for(client, solve["id"], is_over)
    assert (done["state"], done["file"]) == ("done", path.name), done
    assert done["exploitability"] <= 0.1
    assert client.get(f"{API}/node", params={"file": path.name}).status_code == 200


def test_a_solve_waits_until_its_memory_is_free(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(make_app(folder, token=None, solves=2), base_url="http://127.0.0.1:8040") as client:
        first = start(client, **FOREVER)
        monkeypatch.setattr(queue, "available_bytes", lambda: 1000)
        second = start(client, spot=RIVER, target=1, threads=1)
        assert second["state"] == "queued"
        assert re.fullmatch(r"waits for memory: it needs [\d.]+ KB, \d{1,4} bytes are free", second["message"])
        client.post(f"{API}/solves/{first['id']}/stop", json={})
        assert wait_for(client, second["id"], is_over)["state"] == "done"


def test_what_would_not_fit_is_refused_and_what_would_is_advised_without_options(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = estimate.estimate_spot(Spot.from_mapping(SLOW)).memory_bytes
    monkeypatch.setattr(fitting, "available_bytes", lambda: (needed[16] + needed[32]) // 2)
    answer = client.post(f"{API}/solves", json={"spot": SLOW, "threads": 1})
    assert answer.status_code == 422
    said = answer.json()["error"]["message"]
    assert "storage 16 needs" in said
    assert "--" not in said


def test_the_queue_has_an_end(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MAX_QUEUED", 2)
    solves = [start(client, **FOREVER), *(start(client, spot=RIVER) for _ in range(2))]
    full = client.post(f"{API}/solves", json={"spot": RIVER})
    assert (full.status_code, full.json()["error"]["code"]) == (429, "busy")
    assert [solve["file"] for solve in solves] == [f"spot Ks9h4h2c{end}.rgl" for end in ("", "7d", "7d-2")]
    for solve in reversed(solves):
        assert client.post(f"{API}/solves/{solve['id']}/stop", json={}).status_code == 200
    assert wait_for(client, solves[1]["id"], is_over)["state"] == "stopped"


def test_a_list_of_solves_from_somebody_else_does_no_harm(folder: Path) -> None:
    kept = folder / ".regretless" / "solves"
    kept.mkdir(parents=True)
    request = {"name": "x", "file": "river.rgl"}
    sound = {"id": "sound", "request": request, "created": 1.0, "state": "done", "saved": True}
    for name, content in {
        "sound": sound,
        "outside": sound | {"request": request | {"file": "../../secret.rgl"}},
        "wrong": sound | {"created": "yesterday"},
        "unknown": sound | {"more": 1},
        "number": 5,
    }.items():
        fields = content | {"id": name} if isinstance(content, dict) else content
        (kept / f"{name}.json").write_text(json.dumps(fields), encoding="utf-8")
    (kept / "broken.json").write_bytes(b"\xff{")
    with TestClient(make_app(folder, token=None), base_url="http://127.0.0.1:8040") as client:
        assert [solve["id"] for solve in client.get(f"{API}/solves").json()["solves"]] == ["sound"]
        assert client.get(f"{API}/solves/sound").json()["solve"]["curve"]


def test_the_options_of_the_page_are_those_of_every_solve() -> None:
    record = {each.name for each in fields(SolveOptions)}
    assert set(OPTIONS) <= record
    defaults = {name: schema["default"] for name, schema in OPTIONS.items()}
    assert SolveOptions.read(defaults) == SolveOptions(device="auto")


def test_small_games_are_solved_too(client: TestClient) -> None:
    done = wait_for(client, start(client, game="kuhn", iterations=500)["id"], is_over)
    assert done["state"] == "done", done
    table = client.get(f"{API}/game", params={"file": done["file"]}).json()
    assert table["information_sets"] == len(table["sets"]) == 12
    assert abs(table["values"][0] + 1 / 18) < 0.01


def test_what_cannot_be_solved_is_refused_before_it_waits(client: TestClient) -> None:
    large = SLOW | {
        "board": "Ks 9h 4h",
        "oop": {"range": "100%"},
        "ip": {"range": "100%"},
        "bets": {"bet": "25%, 50%, 75%, a", "raise": "3x, a"},
    }
    for body, words in (
        ({"spot": large | {"stack": 5000}}, ""),
        ({"spot": RIVER, "toml": "x"}, "exactly one"),
        ({}, "exactly one"),
        ({"spot": RIVER | {"board": "Ks"}}, "board"),
        ({"game": "../../etc/passwd.efg"}, "is not one of"),
        ({"game": "openspiel:chess"}, "is not one of"),
        ({"resume": "kuhn.rgl", "iterations": 5}, "already reached"),
        ({"resume": "absent.rgl"}, "not in the served folder"),
        ({"again": "kuhn.rgl"}, "not a solved spot"),
        ({"again": "river.rgl", "locks": [{"node": "bet 7", "strategy": {"fold": 1}}]}, "locks[0].node"),
        ({"again": "river.rgl", "locks": [{"node": "", "hands": "AKx", "source": "river.rgl"}]}, "locks.hands: 'AKx'"),
        ({"spot": RIVER, "device": "cuda"}, ""),
    ):
        answer = client.post(f"{API}/solves", json=body)
        assert 400 <= answer.status_code < 500, (body, answer.text)
        assert words in answer.json()["error"]["message"], answer.text
    assert client.get(f"{API}/solves").json()["solves"] == []


def test_a_solve_that_has_not_begun_stops_at_once(client: TestClient) -> None:
    large = start(client, game="liars_dice(dice=3)")  # enumerating it would take minutes and gigabytes
    wait_for(client, large["id"], lambda solve: solve["pid"] is not None)
    stopped = client.post(f"{API}/solves/{large['id']}/stop", json={}).json()["solve"]
    assert stopped["state"] == "stopping"
    assert wait_for(client, large["id"], is_over, seconds=60)["state"] == "stopped"
