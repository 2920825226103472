"""Files that are mapped: the same container, checked piece by piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from regretless.errors import InvalidFile
from regretless.storage import mapped
from regretless.storage.mapped import file_kind, open_mapped, write_mapped


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(mapped, "PIECE", 64)
    monkeypatch.setattr(mapped, "MOST_PIECES", 10**6)
    arrays = {"rows": np.arange(1000, dtype=np.uint16).reshape(20, 50), "none": np.zeros((0, 3), np.float32)}
    write_mapped(tmp_path / "a.rgl", "example", {"answer": 42}, arrays)
    return tmp_path / "a.rgl"


def test_rows_and_arrays(path: Path) -> None:
    opened = open_mapped(path, "example")
    assert opened.header["answer"] == 42
    assert opened.row("rows", 7).tolist() == list(range(350, 400))
    assert opened.array("rows").shape == (20, 50)
    assert opened.array("none").shape == (0, 3)
    assert "rows" in opened
    assert "other" not in opened
    with pytest.raises(InvalidFile, match="holds no 'other'"):
        opened.array("other")
    assert file_kind(path) == "example"


def test_it_is_safetensors(path: Path) -> None:
    assert load_file(path)["rows"][19, 49] == 999


def test_a_flipped_bit_is_noticed_by_who_looks_at_it(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1  # in the last row
    path.write_bytes(content)
    opened = open_mapped(path, "example")
    assert opened.row("rows", 0)[0] == 0
    with pytest.raises(InvalidFile, match="rows is not what was written"):
        opened.row("rows", 19)


def test_every_bit_of_the_header_is_checked(path: Path) -> None:
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    used = len(content[8 : 8 + length].rstrip()) + 8
    for place in range(0, used, 3):
        damaged = bytearray(content)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(InvalidFile):
            open_mapped(path, "example").array("rows")


def test_another_kind_and_a_cut_file(path: Path) -> None:
    with pytest.raises(InvalidFile, match="holds a example, not a other"):
        open_mapped(path, "other")
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(InvalidFile, match="is cut short"):
        open_mapped(path, "example")
