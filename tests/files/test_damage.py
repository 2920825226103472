"""A damaged or forged file gives one sentence, never a wrong answer."""

from __future__ import annotations

import json
import os
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from regretless import Solution, load
from regretless.errors import InvalidFile
from regretless.files import container, open_container, write_container


def refusal(path: Path) -> str:
    with pytest.raises(InvalidFile) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_a_missing_file(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "none.rgl")


def test_a_folder(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.rgl")
    assert "is not an ordinary file" in refusal(tmp_path / "pipe.rgl")


@pytest.mark.parametrize("content", [b"x", b"hello, I am a text file", b"\x89PNG\r\n\x1a\n" + bytes(100), bytes(64)])
def test_something_else(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.rgl"
    path.write_bytes(content)
    assert "is not a Regretless file" in refusal(path)


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty.rgl").touch()
    assert "is empty" in refusal(tmp_path / "empty.rgl")


def test_safetensors_of_somebody_else(tmp_path: Path) -> None:
    save_file({"weights": np.zeros(3)}, tmp_path / "model.rgl")
    assert "is not a Regretless file, although it is a safetensors file" in refusal(tmp_path / "model.rgl")


def test_a_header_that_claims_too_much(tmp_path: Path) -> None:
    path = tmp_path / "large.rgl"
    path.write_bytes(struct.pack("<Q", 2**40) + b"{" + bytes(100))
    assert "claims 1,099,511,627,776 bytes" in refusal(path)


def test_every_truncation_is_noticed(kuhn_file: Path) -> None:
    content = kuhn_file.read_bytes()
    for length in [*range(64), *range(64, len(content), 97), len(content) - 1]:
        kuhn_file.write_bytes(content[:length])
        refusal(kuhn_file)


def test_a_flipped_bit_is_noticed_or_changes_nothing(kuhn: Solution, kuhn_file: Path) -> None:
    content = kuhn_file.read_bytes()
    noticed = 0
    for place in random.Random(1).sample(range(8 * len(content)), 600):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << (place % 8)
        kuhn_file.write_bytes(damaged)
        try:
            loaded = load(kuhn_file)
        except InvalidFile:
            noticed += 1
        else:  # insignificant white space in the table
            assert loaded.as_json(strategy=True) == kuhn.as_json(strategy=True)
    assert noticed > 590


def test_a_newer_format(kuhn: Solution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "FORMAT_VERSION", 7)
    kuhn.save(tmp_path / "new.rgl")
    monkeypatch.undo()
    assert "a newer Regretless: its format is 7, and this version reads 2" in refusal(tmp_path / "new.rgl")


def test_a_format_before_the_first_release(kuhn: Solution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "FORMAT_VERSION", 1)
    kuhn.save(tmp_path / "old.rgl")
    monkeypatch.undo()
    message = "a version before the first release: its format is 1, and this version reads 2"
    assert message in refusal(tmp_path / "old.rgl")


def test_another_kind(tmp_path: Path) -> None:
    write_container(tmp_path / "spot.rgl", "spot", {}, {"numbers": np.zeros(2)})
    assert "contains a spot, not a solved game" in refusal(tmp_path / "spot.rgl")


def forge(path: Path, header: dict[str, Any] | None = None, arrays: dict[str, Any] | None = None) -> None:
    """Rewrite a file with wrong contents and a correct checksum, as an attacker could."""
    file = open_container(path)
    was, held = file.header, {name: file.array(name) for name in file.names}
    kept = {name: value for name, value in {**was, **(header or {})}.items() if name not in ("format", "kind")}
    held |= arrays or {}
    write_container(path, "solution", kept, {name: array for name, array in held.items() if array is not None})


@pytest.mark.parametrize(
    "header",
    [
        {"iterations": "many"},
        {"threads": True},
        {"seconds": None},
        {"values": 3},
        {"values": [0.1]},
        {"values": []},
        {"reason": "magic"},
        {"settings": None},
        {"settings": {"iterations": 1}},
        {"information_sets": 13},
        {"game": ["kuhn"]},
    ],
    ids=str,
)
def test_a_header_that_contradicts_itself(header: dict[str, Any], kuhn_file: Path) -> None:
    forge(kuhn_file, header=header)
    assert "is damaged" in refusal(kuhn_file)


@pytest.mark.parametrize(
    "arrays",
    [
        {"solution": None},
        {"solution": np.zeros(24, np.float32)},
        {"solution": np.full(24, 2.0)},
        {"regret": np.zeros(23)},
        {"regret": np.full(24, np.nan)},
        {"average": None},
        {"history": np.zeros(3)},
        {"history": np.full((1, 3), np.inf)},
        {"first_pair": np.arange(13) * 3},
        {"key_ends": np.arange(12)[::-1].copy()},
        {"keys": np.full(24, 255, np.uint8)},
        {"keys": np.zeros((2, 12), np.uint8)},
        {"first_pair": np.array(5)},
    ],
    ids=lambda arrays: "-".join(arrays),
)
def test_arrays_that_contradict_each_other(arrays: dict[str, Any], kuhn_file: Path) -> None:
    forge(kuhn_file, arrays=arrays)
    assert "is damaged" in refusal(kuhn_file)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[]", "3", '{"format": 1}', '{"format": "1"}', '{"format": true, "kind": 1}', "{"]
)
def test_header_text_that_is_not_a_header(text: str, kuhn_file: Path) -> None:
    save_file(load_file(kuhn_file), kuhn_file, {"regretless": text, "checksum": ""})
    refusal(kuhn_file)


def test_nothing_in_a_file_is_run(kuhn_file: Path) -> None:
    """The header is JSON and the arrays are plain numbers: there is nothing to unpickle."""
    content = kuhn_file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    table = json.loads(content[8 : 8 + length])
    assert {entry["dtype"] for name, entry in table.items() if name != "__metadata__"} <= {"F64", "I64", "U8"}
