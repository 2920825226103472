"""A folder that somebody else has prepared: links, pipes, oversized files and jobs, before it is served."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API, RIVER

import regretless as rl
from regretless.cli import main
from regretless.errors import UnreadableSolve
from regretless.holdem import Spot
from regretless.page import flop_solves, serve
from regretless.page.app import make_app
from regretless.workers.solve import SolveTask

EFG = """EFG 2 R "pennies" { "Even" "Odd" }
p "" 1 1 "even" { "heads" "tails" } 0
p "" 2 1 "odd" { "heads" "tails" } 0
t "" 1 "" { 1, -1 }
t "" 2 "" { -1, 1 }
p "" 2 1 0
t "" 2
t "" 1
"""


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """A test that waits for a pipe fails."""

    def fail(number: int, frame: object) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder outside the served one, with a file."""
    path = tmp_path / "outside"
    path.mkdir()
    (path / "p.txt").write_text("precious")
    return path


@pytest.fixture
def served(tmp_path: Path) -> Path:
    path = tmp_path / "served"
    (path / ".regretless" / "solves").mkdir(parents=True)
    return path


def open_app(folder: Path) -> TestClient:
    return TestClient(make_app(folder, token=None), base_url="http://127.0.0.1:8040")


def write_job(folder: Path, id_: str = "job", *, request: dict[str, Any], **state: Any) -> None:
    fields = {"id": id_, "created": 1.0, "state": "stopped", "request": {"name": "x", "file": "x.rgl"} | request}
    (folder / ".regretless" / "solves" / f"{id_}.json").write_text(json.dumps(fields | state))


def refusal(client: TestClient, path: str, body: dict[str, Any]) -> str:
    answer = client.post(f"{API}{path}", json=body)
    assert 400 <= answer.status_code < 500, answer.text
    message: str = answer.json()["error"]["message"]
    return message


@pytest.mark.parametrize("name", [".regretless", ".regretless/solves", ".regretless/server.lock"])
@pytest.mark.parametrize("target", ["p.txt", "absent", ""])
def test_serving_refuses_a_linked_state_file_in_one_sentence(
    name: str, target: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(serve._Server, "run", lambda self, sockets: None)
    folder = tmp_path / "stranger"
    link = folder / name
    link.parent.mkdir(parents=True)
    link.symlink_to(home / target)
    assert main(["serve", str(folder), "--port", "0", "--no-browser"]) == 1
    assert capsys.readouterr().err == (
        f"error: {link}: is a link, which Regretless does not follow where it keeps its own files\n"
    )
    assert os.listdir(home) == ["p.txt"]
    assert (home / "p.txt").read_text() == "precious"


def test_the_log_and_the_lock_of_a_solve_are_no_links(served: Path, home: Path, monkeypatch: Any) -> None:
    spot = Spot.from_mapping(RIVER).to_toml()
    write_job(served, request={"toml": spot, "options": {"iterations": 2}})
    (served / ".regretless" / "solves" / "job.log").symlink_to(home / "p.txt")
    with open_app(served) as client:
        assert client.post(f"{API}/solves/job/resume", json={}).status_code == 200
        solve = client.get(f"{API}/solves/job").json()["solve"]
        assert solve["state"] == "failed"
        assert "job.log: is a link" in solve["message"]
        (served / ".regretless" / "solves" / "job.log").unlink()
        locks: list[Path] = []
        line = SolveTask.line

        def link_the_lock(task: SolveTask) -> str:
            locks.append(Path(task.lock))
            locks[0].unlink(missing_ok=True)
            locks[0].symlink_to(home / "p.txt")
            return line(task)

        monkeypatch.setattr(SolveTask, "line", link_the_lock)
        assert client.post(f"{API}/solves/job/resume", json={}).status_code == 200
        while (solve := client.get(f"{API}/solves/job").json()["solve"])["state"] != "failed":
            assert solve["state"] in ("starting", "queued")
        assert f"{locks[0].name}: is a link" in solve["message"]
    assert (home / "p.txt").read_text() == "precious"


def test_kept_jobs_are_ordinary_files_of_a_limited_size(served: Path) -> None:
    kept = served / ".regretless" / "solves"
    write_job(served, "sound", request={})
    (kept / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(kept / "pipe.json")
    with open(kept / "large.json", "wb") as large:
        large.truncate(2**40)
    with (
        pytest.warns(UnreadableSolve, match=r"solves/zero.json: is a link, .*, and 2 more"),
        open_app(served) as client,
    ):
        assert [solve["id"] for solve in client.get(f"{API}/solves").json()["solves"]] == ["sound"]


@pytest.mark.filterwarnings("ignore::regretless.errors.UnreadableSolve")
def test_no_value_of_a_kept_job_fails_the_server(served: Path) -> None:
    sound = {"id": "", "request": {"name": "x", "file": "x.rgl"}, "created": 1.0}
    spoiled = [sound | {name: value} for name in ("created", "state", "share", "saved") for value in ([], {}, "x", -1)]
    for name in ("name", "file", "options", "needed_bytes", "toml", "game", "resume", "again", "unit", "locks"):
        values: tuple[Any, ...] = ([], 10**400, 1e300, "\ud800" * 5000, True, {"device": []})
        spoiled += [sound | {"request": {"name": "x", "file": "x.rgl", name: value}} for value in values]
    for number, job in enumerate(spoiled):
        text = json.dumps(job | {"id": f"j{number}"})
        (served / ".regretless" / "solves" / f"j{number}.json").write_text(text)
    with open_app(served) as client:
        for solve in client.get(f"{API}/solves").json()["solves"]:
            assert client.get(f"{API}/solves/{solve['id']}").status_code == 200
            assert refusal(client, f"/solves/{solve['id']}/resume", {})


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"game": "{home}/secret.efg"}, "secret.efg' is not one of kuhn"),
        ({"game": "openspiel:kuhn_poker"}, "is not one of kuhn"),
        ({"game": "kuhn(/../../outside/secret.efg"}, "is not one of kuhn"),
        ({"toml": "{lock}"}, "is not the name of a file in the served folder"),
        ({"resume": "../outside/secret.rgl"}, "is not the name of a file in the served folder"),
        ({"resume": "linked.rgl"}, "is not in the served folder"),
        ({"toml": "{spot}", "options": {"device": "/dev/zero"}}, "device: is not one of auto"),
        ({"toml": "{spot}", "options": {"checkpoint": "{home}/p.txt"}}, "checkpoint: is not known here"),
        ({}, "give exactly one of spot, toml, game"),
    ],
)
def test_a_kept_job_is_checked_like_a_request(request_: Any, words: str, served: Path, home: Path) -> None:
    (home / "secret.efg").write_text(EFG)
    (served / "kuhn(").mkdir()
    rl.solve(Spot.from_mapping(RIVER), iterations=2, threads=1).save(home / "secret.rgl", resumable=True)
    (served / "linked.rgl").symlink_to(home / "secret.rgl")
    lock = {"source": str(home / "secret.rgl"), "player": "oop"}
    texts = {
        "{spot}": Spot.from_mapping(RIVER).to_toml(),
        "{lock}": Spot.from_mapping(RIVER | {"locks": [lock]}).to_toml(),
    }

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(each) for name, each in value.items()}
        return texts.get(value, value.replace("{home}", str(home)))

    write_job(served, request=filled(request_))
    with open_app(served) as client:
        assert words in refusal(client, "/solves/job/resume", {"iterations": 3})
        assert client.get(f"{API}/solves/job").json()["solve"]["state"] == "stopped"


def test_a_file_of_a_game_elsewhere_is_not_resumed(served: Path, home: Path) -> None:
    (home / "secret.efg").write_text(EFG)
    rl.solve(str(home / "secret.efg"), iterations=2).save(served / "x.rgl", resumable=True)
    write_job(served, request={}, saved=True)
    with open_app(served) as client:
        for path, body in (("/solves/job/resume", {"iterations": 9}), ("/solves", {"resume": "x.rgl"})):
            assert "secret.efg' is not one of kuhn" in refusal(client, path, body)


def test_the_flops_of_a_strangers_folder_delete_nothing_elsewhere(served: Path, home: Path) -> None:
    own = served / ".regretless" / "play"
    (own / "large").mkdir(parents=True)
    (home / "mine.rgl").write_bytes(b"precious")
    (own / "a").symlink_to(home)
    (own / "large" / "b.rgl").symlink_to(home / "mine.rgl")
    (own / "large" / "folder.rgl").mkdir()
    for name in ("one.rgl", "two.rgl"):
        with open(own / "large" / name, "wb") as large:
            large.truncate(2**32)
    os.utime(own / "large" / "one.rgl", (2**33, 2**33))
    flop_solves._delete_oldest(own, served, set())
    assert (home / "mine.rgl").read_bytes() == b"precious"
    assert sorted(os.listdir(own / "large")) == ["b.rgl", "folder.rgl", "one.rgl"]
    own.rename(served / "play")
    own.symlink_to(served / "play")
    (served / "play" / "large" / "two.rgl").write_bytes(b"1")
    flop_solves._delete_oldest(own, served, set())
    assert (served / "play" / "large" / "two.rgl").exists()


def test_a_job_that_saved_nothing_overwrites_nothing(served: Path) -> None:
    (served / "x.rgl").write_bytes(b"somebody's")
    write_job(served, request={"game": "kuhn", "options": {"iterations": 2}})
    with open_app(served) as client:
        assert client.post(f"{API}/solves/job/resume", json={}).json()["solve"]["file"] == "x-2.rgl"
    assert (served / "x.rgl").read_bytes() == b"somebody's"
