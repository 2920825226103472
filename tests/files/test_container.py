"""Files read on demand: the same container, checked piece by piece."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from regretless.errors import DeviceFailed, InvalidFile
from regretless.files import container
from regretless.files.container import StoredArrays, Streamed, open_container, write_container
from regretless.solving.kinds import open_file

RoomFor = Callable[[int], AbstractContextManager[None]]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(container, "PIECE", 64)
    monkeypatch.setattr(container, "MAX_PIECES", 10**6)
    arrays = {"rows": np.arange(1000, dtype=np.uint16).reshape(20, 50), "none": np.zeros((0, 3), np.float32)}
    write_container(tmp_path / "a.rgl", "example", {"answer": 42}, arrays)
    return tmp_path / "a.rgl"


def test_streamed_blocks_are_written_as_the_array_would_be(path: Path) -> None:
    """Each while the next one is computed: blocks of any size, and pieces across their borders."""
    rows, computing = np.arange(1000, dtype=np.uint16).reshape(20, 50), []

    def blocks() -> Iterator[NDArray[Any]]:
        for first, end in ((0, 7), (7, 8), (8, 8), (8, 20)):
            computing.append(threading.current_thread())
            yield rows[first:end]

    arrays = {"rows": Streamed(rows.shape, rows.dtype, blocks), "none": np.zeros((0, 3), np.float32)}
    write_container(path.with_name("b.rgl"), "example", {"answer": 42}, arrays)
    assert path.with_name("b.rgl").read_bytes() == path.read_bytes()
    assert set(computing) == {threading.current_thread()}


def test_blocks_that_cannot_be_computed_or_written_leave_nothing(path: Path, room_for: RoomFor) -> None:
    def failing() -> Iterator[NDArray[Any]]:
        yield np.zeros(5)
        raise DeviceFailed("the GPU is gone")

    def endless() -> Iterator[NDArray[Any]]:
        while True:
            yield np.zeros(10_000)

    folder, double = path.parent, np.dtype(np.float64)
    with pytest.raises(DeviceFailed, match="the GPU is gone"):
        write_container(folder / "b.rgl", "example", {}, {"rows": Streamed((10,), double, failing)})
    with room_for(50_000), pytest.raises(InvalidFile, match="cannot be written: file too large"):
        write_container(folder / "b.rgl", "example", {}, {"rows": Streamed((10**6,), double, endless)})
    with pytest.raises(ValueError, match="an array of 48 bytes was given 40"):
        write_container(folder / "b.rgl", "example", {}, {"rows": Streamed((6,), double, lambda: iter([np.zeros(5)]))})
    assert list(folder.iterdir()) == [path]


def test_rows_and_arrays(path: Path) -> None:
    opened = open_container(path)
    assert opened.header["answer"] == 42
    assert opened.row("rows", 7).tolist() == list(range(350, 400))
    assert opened.array("rows").shape == (20, 50)
    assert opened.array("none").shape == (0, 3)
    assert "rows" in opened
    assert "other" not in opened
    with pytest.raises(InvalidFile, match="has no 'other'"):
        opened.array("other")
    assert open_container(path).kind == "example"


def test_it_is_safetensors(path: Path) -> None:
    assert load_file(path)["rows"][19, 49] == 999


def test_a_flipped_bit_is_noticed_by_who_looks_at_it(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1  # in the last row
    path.write_bytes(content)
    opened = open_container(path)
    assert opened.row("rows", 0)[0] == 0
    with pytest.raises(InvalidFile, match="rows does not match its checksum"):
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
            open_container(path).array("rows")


def test_another_kind_and_a_cut_file(path: Path) -> None:
    with pytest.raises(InvalidFile, match="contains a example, not a other"):
        open_file(path, "other")
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(InvalidFile, match="is truncated: it has"):
        open_container(path)


def test_a_file_cut_short_while_open_is_an_error_and_not_a_signal(path: Path) -> None:
    opened = open_container(path)
    assert opened.row("rows", 0)[0] == 0
    with open(path, "rb+") as file:
        file.truncate(600)
    for look in (lambda: opened.row("rows", 19), lambda: opened.array("rows")):
        with pytest.raises(InvalidFile, match="was truncated while it was open"):
            look()


def test_a_file_replaced_while_open_still_reads_the_same(path: Path) -> None:
    opened = open_container(path)
    write_container(path, "example", {}, {"rows": np.zeros((20, 50), np.uint16)})
    assert opened.row("rows", 19)[49] == 999


def forge(path: Path, change: Callable[[dict[str, Any], dict[str, str]], None]) -> None:
    """Rewrite table and metadata with a correct checksum, as an attacker could."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    table = json.loads(content[8 : 8 + length])
    metadata = table.pop("__metadata__")
    change(table, metadata)
    metadata["checksum"] = container._checksum(metadata["regretless"], metadata["checks"], table)
    beginning = json.dumps({"__metadata__": metadata, **table}).encode()
    path.write_bytes(struct.pack("<Q", len(beginning)) + beginning + content[8 + length :])


FORGED: dict[str, Callable[[dict[str, Any], dict[str, str]], Any]] = {
    "no piece size": lambda table, metadata: metadata.update(
        checks=metadata["checks"].replace('"size": 64', '"size": 0')
    ),
    "a negative piece size": lambda table, metadata: metadata.update(checks='{"size": -5, "pieces": {}}'),
    "checks that are a list": lambda table, metadata: metadata.update(checks="[]"),
    "checks nested deep": lambda table, metadata: metadata.update(checks="[" * 100_000),
    "too few checks": lambda table, metadata: metadata.update(checks='{"size": 64, "pieces": {"rows": [1]}}'),
    "a header that is a list": lambda table, metadata: metadata.update(regretless="[]"),
    "NaN in a header": lambda table, metadata: metadata.update(regretless='{"format": 1, "kind": "example", "a": NaN}'),
    "an offset below 0": lambda table, metadata: table["rows"].update(data_offsets=[-2000, 0]),
    "an offset past the end": lambda table, metadata: table["rows"].update(data_offsets=[10**9, 10**9 + 2000]),
    "offsets the wrong way round": lambda table, metadata: table["rows"].update(data_offsets=[2000, 0]),
    "an offset that is a text": lambda table, metadata: table["rows"].update(data_offsets=["0", "2000"]),
    "a huge shape": lambda table, metadata: table["rows"].update(shape=[2**40, 2**40]),
    "a negative shape": lambda table, metadata: table["rows"].update(shape=[-20, -50]),
    "a shape that is a number": lambda table, metadata: table["rows"].update(shape=1000),
    "an unknown type": lambda table, metadata: table["rows"].update(dtype="C128"),
    "a type that is a list": lambda table, metadata: table["rows"].update(dtype=["U16"]),
    "an array that is a number": lambda table, metadata: table.update(rows=5),
    "overlapping arrays": lambda table, metadata: table.update(again=dict(table["rows"])),
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED.keys())
def test_a_forged_layout_is_refused_when_the_file_is_opened(path: Path, change: Any) -> None:
    forge(path, change)
    with pytest.raises(InvalidFile):
        open_container(path)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_regrets_that_are_not_numbers_are_refused(wrong: float, tmp_path: Path) -> None:
    path = tmp_path / "a.rgl"
    arrays = {"regret": np.array([1.0, wrong, 2.0]), "average": np.ones(3), "other": np.zeros(3)}
    write_container(path, "example", {}, arrays)
    stored = StoredArrays(open_container(path), ("regret", "average", "sampler"))
    assert list(stored) == ["regret", "average"]
    assert stored["average"].tolist() == [1, 1, 1]
    for read in (lambda: stored["regret"], lambda: stored.read_into("regret", np.empty(3))):
        with pytest.raises(InvalidFile, match="regrets or averages that are not numbers"):
            read()


def test_a_row_reads_only_the_pieces_that_hold_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_container(path)
    read: list[int] = []
    whole = container.TensorFile.read

    def noted(file: container.TensorFile, begin: int, count: int) -> bytearray:
        read.append((begin - opened.entry("rows").begin) // 64)
        return whole(file, begin, count)

    monkeypatch.setattr(container.TensorFile, "read", noted)
    opened.row("rows", 7)  # bytes 700 to 799
    assert read == [10, 11, 12]
    opened.row("rows", 7)
    assert read == [10, 11, 12], "the pieces are kept"
    monkeypatch.setattr(container, "MAX_CACHED_PIECES", 2)
    opened.row("rows", 15)  # bytes 1500 to 1599
    opened.row("rows", 7)
    assert read == [10, 11, 12, 23, 24, 10, 11, 12], "but only the last few"


def test_a_mapped_array_is_checked_and_shared(path: Path) -> None:
    mapped = open_container(path).mapped("rows")
    np.testing.assert_array_equal(mapped, np.arange(1000).reshape(20, 50))
    assert not mapped.flags.writeable
    assert not mapped.flags.owndata
    assert open_container(path).mapped("none").shape == (0, 3)
    with pytest.raises(InvalidFile, match="it has no 'other'"):
        open_container(path).mapped("other")
    content = bytearray(path.read_bytes())
    content[-7] ^= 4
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match="rows does not match its checksum"):
        open_container(path).mapped("rows")


def test_a_mapped_file_can_be_replaced_and_a_cut_one_is_an_error(path: Path) -> None:
    mapped = open_container(path).mapped("rows")
    write_container(path, "example", {}, {"rows": np.zeros(3, dtype=np.uint16)})
    assert mapped[19, 49] == 999  # the old file lives as long as its reader
    opened = open_container(path)
    with open(path, "rb+") as file:
        file.truncate(path.stat().st_size - 2)
    with pytest.raises(InvalidFile, match="was truncated while it was open"):
        opened.mapped("rows")
