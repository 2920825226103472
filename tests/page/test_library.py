"""The files of the served folder: their names, and how often they are opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API

from regretless.files import container
from regretless.page.library import Library


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
