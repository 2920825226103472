"""The files of the served folder: their names, and how often they are opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API

from regretless.files import container
from regretless.page.library import Library
from regretless.page.summaries import FileSummary


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/node", {"file": "turn.rgl", "line": "check"}),
        ("/cards", {"file": "turn.rgl", "line": "check, check"}),
        ("/file", {"file": "turn.rgl"}),
        ("/file", {"file": "kuhn.rgl"}),
        ("/game", {"file": "leduc.rgl"}),
    ],
)
def test_a_file_is_opened_once(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, path: str, params: dict[str, str]
) -> None:
    opened: list[str] = []

    class Counted(container.TensorFile):
        def __init__(self, path: str | Path) -> None:
            opened.append(Path(path).name)
            super().__init__(path)

    monkeypatch.setattr(container, "TensorFile", Counted)
    assert client.get(API + path, params=params).status_code == 200
    assert opened == [params["file"]]
    assert client.get(API + path, params=params).status_code == 200
    assert opened == [params["file"]], "it stays open"


def test_a_new_solution_never_gets_a_strange_name(folder: Path) -> None:
    library = Library(folder)
    for name in ("../../x", "/etc/passwd", ".hidden", "a/b", "\\\\x", "", "é" * 200, "con:", "x\0y", "..", "🂡"):
        free = library.free_name(name, set())
        assert library.path(free, ".rgl").parent == folder.resolve()
    assert library.free_name("river", set()) == "river-2.rgl"
    assert library.free_name("river", {"river-2.rgl"}) == "river-3.rgl"


def test_the_newest_files_are_listed_however_many_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        path = tmp_path / f"{number}.rgl"
        path.write_bytes(b"")
        os.utime(path, (number, number))
    monkeypatch.setattr("regretless.page.library.MAX_FILES", 4)
    files, more = Library(tmp_path).files()
    assert ([each.file for each in files], more) == (["5.rgl", "4.rgl", "3.rgl", "2.rgl"], True)


def test_a_file_that_goes_while_the_folder_is_listed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gone.rgl", "kept.rgl"):
        (tmp_path / name).write_bytes(b"")
    library = Library(tmp_path)
    summarise = library._summarise

    def remove_first(path: Path, file: str, revision: str) -> FileSummary:
        (tmp_path / "gone.rgl").unlink(missing_ok=True)
        return summarise(path, file, revision)

    monkeypatch.setattr(library, "_summarise", remove_first)
    assert [each.file for each in library.files()[0]] == ["kept.rgl"]
