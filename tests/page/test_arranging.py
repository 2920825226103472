"""Renaming, moving, notes, and deleting with undo: through the API, and in folders that somebody else has prepared."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API, FOREVER, RIVER, is_over, wait_for

from regretless.errors import RegretlessError
from regretless.holdem.spots.formations import formations
from regretless.page import arranging
from regretless.page.app import make_app
from regretless.page.library import Library


def listed(client: TestClient) -> dict[str, dict[str, Any]]:
    return {each["file"]: each for each in client.get(f"{API}/files").json()["files"]}


def post(client: TestClient, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{API}/files/{path}", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def refused(client: TestClient, path: str, **body: Any) -> tuple[int, str]:
    answer = client.post(f"{API}/files/{path}", json=body)
    return answer.status_code, answer.json()["error"]["message"]


def test_a_file_is_renamed_and_moved_with_its_note(client: TestClient, folder: Path) -> None:
    content = (folder / "river.rgl").read_bytes()
    post(client, "notes", file="river.rgl", notes="  bluff more  ")
    assert listed(client)["river.rgl"]["notes"] == "bluff more"
    assert post(client, "rename", file="river.rgl", to="3-bet/a river") == {"file": "3-bet/a river.rgl"}
    files = listed(client)
    assert "river.rgl" not in files
    assert files["3-bet/a river.rgl"]["notes"] == "bluff more"
    assert (folder / "3-bet" / "a river.rgl").read_bytes() == content
    assert client.get(f"{API}/node", params={"file": "3-bet/a river.rgl", "line": ""}).status_code == 200
    post(client, "notes", file="3-bet/a river.rgl", notes="")
    assert listed(client)["3-bet/a river.rgl"]["notes"] == ""


@pytest.mark.parametrize(
    ("to", "status", "sentence"),
    [
        ("turn", 422, "turn.rgl: exists already"),
        ("../out", 403, "file: '../out.rgl' is not the name of a file in the served folder"),
        (".hidden", 403, "file: '.hidden.rgl' is not the name of a file in the served folder"),
        ("a/b/c/d/e/river", 403, "file: 'a/b/c/d/e/river.rgl' is more than 4 folders deep"),
        ("study/river", 403, "file: 'study/river.rgl' is in the folder of a study"),
        ("river.toml/x", 422, "river.toml: is not a folder"),
    ],
)
def test_names_that_are_refused(client: TestClient, folder: Path, to: str, status: int, sentence: str) -> None:
    assert refused(client, "rename", file="river.rgl", to=to) == (status, sentence)
    assert (folder / "river.rgl").exists()


def test_a_deleted_file_comes_back_for_a_while(client: TestClient, folder: Path) -> None:
    content = (folder / "river.rgl").read_bytes()
    post(client, "notes", file="river.rgl", notes="keep")
    answer = post(client, "delete", file="river.rgl")
    assert answer["seconds"] == 10
    assert "river.rgl" not in listed(client)
    assert post(client, "restore", id=answer["id"]) == {"file": "river.rgl"}
    assert (folder / "river.rgl").read_bytes() == content
    assert listed(client)["river.rgl"]["notes"] == "keep"
    assert refused(client, "restore", id=answer["id"])[0] == 404


def test_a_deleted_file_does_not_replace_one_that_took_its_name(client: TestClient, folder: Path) -> None:
    answer = post(client, "delete", file="river.rgl")
    post(client, "rename", file="turn.rgl", to="river")
    turn = (folder / "river.rgl").read_bytes()
    assert refused(client, "restore", id=answer["id"]) == (422, "river.rgl: exists already")
    assert (folder / "river.rgl").read_bytes() == turn
    post(client, "rename", file="river.rgl", to="turn")
    assert post(client, "restore", id=answer["id"]) == {"file": "river.rgl"}


def test_a_deleted_file_is_gone_when_the_time_is_over(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arranging, "UNDO_SECONDS", 0)
    monkeypatch.setattr(arranging, "GRACE_SECONDS", 0.05)
    answer = post(client, "delete", file="river.rgl")
    deleted = folder / ".regretless" / "deleted"
    ends = time.monotonic() + 20
    while any(deleted.iterdir()) and time.monotonic() < ends:
        time.sleep(0.02)
    assert list(deleted.iterdir()) == []
    assert refused(client, "restore", id=answer["id"])[0] == 404


def test_what_an_earlier_server_left_is_removed_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "precious.rgl"
    outside.write_text("precious")
    deleted = folder / ".regretless" / "deleted"
    deleted.mkdir(parents=True)
    (deleted / "0123456789abcdef.rgl").write_text("left")
    (deleted / "notes of mine.txt").write_text("not ours")
    (deleted / "1123456789abcdef.rgl").symlink_to(outside)
    with TestClient(make_app(folder, token=None), base_url="http://127.0.0.1:8040"):
        assert not (deleted / "0123456789abcdef.rgl").exists()
    assert outside.read_text() == "precious"
    assert (deleted / "notes of mine.txt").exists()


def test_links_are_neither_renamed_nor_deleted_nor_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    os.symlink(folder / "river.rgl", folder / "link.rgl")
    os.symlink(outside, folder / "way out")
    (folder / ".regretless").mkdir(exist_ok=True)
    (tmp_path / "notes.json").write_text('{"notes": {"river.rgl": "not ours"}}')
    os.symlink(tmp_path / "notes.json", folder / ".regretless" / "notes.json")
    with TestClient(make_app(folder, token=None), base_url="http://127.0.0.1:8040") as client:
        assert "is a link" in refused(client, "rename", file="link.rgl", to="other")[1]
        assert "is a link" in refused(client, "delete", file="link.rgl")[1]
        assert refused(client, "rename", file="river.rgl", to="way out/river")[0] == 403
        assert listed(client)["river.rgl"]["notes"] == ""
        assert "is a link" in refused(client, "notes", file="river.rgl", notes="x")[1]
    assert (tmp_path / "notes.json").read_text() == '{"notes": {"river.rgl": "not ours"}}'
    assert list(outside.iterdir()) == []


def test_a_folder_of_deleted_files_behind_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / ".regretless").mkdir(exist_ok=True)
    os.symlink(tmp_path, folder / ".regretless" / "deleted")
    with pytest.raises(Exception, match="is a link"):
        make_app(folder, token=None)


def test_a_file_that_is_being_solved_stays_where_it_is(client: TestClient) -> None:
    solve = client.post(f"{API}/solves", json=FOREVER | {"name": "long"}).json()["solve"]
    try:
        wait_for(client, solve["id"], lambda each: each["readable"])
        for path, more in (("rename", {"to": "other"}), ("delete", {})):
            status, sentence = refused(client, path, file="long.rgl", **more)
            assert status == 409
            assert sentence == "file: 'long.rgl' is being solved: stop it first"
    finally:
        client.post(f"{API}/solves/{solve['id']}/stop", json={})
        wait_for(client, solve["id"], is_over)
    post(client, "rename", file="long.rgl", to="short")
    moved = client.get(f"{API}/solves/{solve['id']}").json()["solve"]
    assert (moved["file"], moved["readable"], moved["resumable"]) == ("short.rgl", True, True)


def test_solutions_are_named_after_formation_and_board(client: TestClient) -> None:
    formation = formations()[0]
    spot = RIVER | {"oop": {"range": formation.oop.range}, "ip": {"range": formation.ip.range}}
    for more, expected in (
        ({}, "BTN opens, BB calls Ks9h4h2c7d.rgl"),
        ({"name": "BTN opens, BB calls"}, "BTN opens, BB calls Ks9h4h2c7d-2.rgl"),
        ({"name": "mine"}, "mine.rgl"),
    ):
        solve = client.post(f"{API}/solves", json={"spot": spot, "iterations": 1} | more).json()["solve"]
        assert solve["file"] == expected
        wait_for(client, solve["id"], is_over)
    file = listed(client)["mine.rgl"]
    assert file["formation"] == "BTN opens, BB calls"
    assert file["ranges"] == {"oop": "BB", "ip": "BTN"}
    assert listed(client)["river.rgl"]["ranges"] == {"oop": "11 %", "ip": "9 %"}


def test_notes_are_refused_before_they_are_too_many_to_read_back(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arranging, "MAX_NOTES_BYTES", 5_000)
    post(client, "notes", file="turn.rgl", notes="first")
    status, sentence = refused(client, "notes", file="river.rgl", notes="ü" * 1_000)
    assert (status, sentence) == (409, "the notes of all files together have at most 5,000 bytes")
    assert listed(client)["turn.rgl"]["notes"] == "first"


def test_notes_that_cannot_be_read_are_not_overwritten(client: TestClient, folder: Path) -> None:
    post(client, "notes", file="turn.rgl", notes="first")
    kept = folder / ".regretless" / "notes.json"
    damaged = kept.read_text() + "}"
    kept.write_text(damaged)
    status, sentence = refused(client, "notes", file="river.rgl", notes="second")
    assert (status, sentence) == (422, ".regretless/notes.json: is damaged: it is not JSON")
    assert kept.read_text() == damaged
    post(client, "rename", file="turn.rgl", to="moved")
    answer = post(client, "delete", file="river.rgl")
    assert post(client, "restore", id=answer["id"]) == {"file": "river.rgl"}


def test_a_file_is_where_it_was_if_its_note_cannot_be_written(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: arranging.FileNotes, changes: dict[str, str]) -> None:
        raise RegretlessError("the disk is full")

    post(client, "notes", file="river.rgl", notes="first")
    with monkeypatch.context() as patch:
        patch.setattr(arranging.FileNotes, "change", fail)
        assert refused(client, "delete", file="river.rgl")[1] == "the disk is full"
        assert refused(client, "rename", file="river.rgl", to="other")[1] == "the disk is full"
    assert listed(client)["river.rgl"]["notes"] == "first"


def test_a_note_has_both_names_while_its_file_moves(folder: Path) -> None:
    """So a server that is killed meanwhile leaves the note under the name that the file has."""
    notes = arranging.FileNotes(Library(folder))
    notes.change({"river.rgl": "first"})
    with notes.following("river.rgl", "other.rgl"):
        assert notes.read() == {"river.rgl": "first", "other.rgl": "first"}
    assert notes.read() == {"other.rgl": "first"}


def test_the_files_of_a_study_stay_in_its_folder(client: TestClient, folder: Path) -> None:
    solutions = folder / "study" / "solutions"
    solutions.mkdir(exist_ok=True)
    (solutions / "QsJh2h.rgl").write_bytes((folder / "river.rgl").read_bytes())
    refusal = (403, "file: 'study/solutions/QsJh2h.rgl' is in the folder of a study")
    assert refused(client, "rename", file="study/solutions/QsJh2h.rgl", to="mine") == refusal
    assert refused(client, "delete", file="study/solutions/QsJh2h.rgl") == refusal
    assert (solutions / "QsJh2h.rgl").exists()
