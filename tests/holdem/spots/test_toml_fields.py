"""Spot files crafted to break the reader: refused quickly, with one sentence."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from regretless.errors import InvalidFile, RegretlessError
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.toml_fields import MAX_FILE, parse_toml

SPOT = """
board = "Qs Jh 2h"
pot = 180
stack = 910
oop.range = "AA"
ip.range = "KK"
[bets]
bet = "50%"
"""


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "spot.toml"
    path.write_bytes(content)
    return path


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    assert Spot.read(written(tmp_path, b"\xef\xbb\xbf" + SPOT.encode())) == Spot.parse(SPOT)
    assert Spot.parse("\ufeff" + SPOT) == Spot.parse(SPOT)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(InvalidFile, match="is not an ordinary file"):
        Spot.read(tmp_path / "pipe.toml")


def test_a_device_without_end_is_not_read() -> None:
    with pytest.raises(InvalidFile, match="is not an ordinary file"):
        Spot.read("/dev/zero")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.toml"
    with open(path, "wb") as file:
        file.truncate(2**30)  # takes no room on the disk
    with pytest.raises(InvalidFile, match="is larger than 2,097,152 bytes"):
        Spot.read(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfeb\x00o\x00", "is not text in UTF-8"),
        (b"\x00" * 100, "is not TOML"),
        (b"pot = " + b"[" * 2000, "is nested more than 20 deep"),
        (b"pot = " + b"{a=" * 2000, "is nested more than 20 deep"),
        (b"a" + b".a" * 100_000 + b" = 1", "is nested more than 20 deep"),
        (b"[a" + b".a" * 100_000 + b"]", "is nested more than 20 deep"),
        (b"pot = " + b"9" * 10_000, "is not TOML: Exceeds the limit"),
        (b"pot = ", "is not TOML"),
    ],
)
def test_files_that_are_not_spots(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(InvalidFile, match=reason):
        Spot.read(written(tmp_path, content))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [("folder", "is a folder"), ("none.toml", "does not exist"), ("nul\0.toml", "cannot be read")],
)
def test_paths_that_are_not_files(tmp_path: Path, bad: str, reason: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidFile, match=reason):
        Spot.read(tmp_path / bad)


def test_brackets_and_dots_in_strings_and_remarks_mean_nothing() -> None:
    text = f'''# {"[" * 100} {"." * 100}
name = "{"[{" * 50} \\" {".a" * 50}"
other = \'{"[" * 100}{"." * 100}\'
long = """
{"[" * 100} "" {".a" * 100}
"""
number = {{ a = [0.5, 1.5] }}
'''
    assert parse_toml(text, "spot")["number"] == {"a": [0.5, 1.5]}


@pytest.mark.parametrize(
    "unit",
    ["a=[1]\n", "[[a]]\n", "'", '"', '"""', "a.b.c=1\n", "[a.b]\n", "#", "\\", "{", "a={b=1}\n", '"\\"', "\r\n", "="],
)
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    text = (unit * (MAX_FILE // len(unit)))[:MAX_FILE]
    began = time.process_time()
    with suppress(RegretlessError):
        parse_toml(text, "spot")
    assert time.process_time() - began < 30  # at most two; grown with its square, it would be hours


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("pot = 180", "pot = 1" + "0" * 400, "pot: a number of 400 digits is too large"),
        ("pot = 180", "pot = 0x" + "f" * 10_000, "pot: a number of 12,041 digits is too large"),
        ("pot = 180", "pot = 1e300", "pot: 1e+300 must be at most 1e+12"),
        ("pot = 180", "pot = inf", "pot: inf must be a number"),
        ("pot = 180", "pot = 1e-300", "pot: 1e-300 must be at least 1e-06"),
        ("stack = 910", "stack = 1e13", "stack: .* must be at most 1e+12"),
        ("[bets]", "rules.chip = 1e-300\n[bets]", "rules.chip: 1e-300 must be at least 1e-06"),
        ("[bets]", "rules.chip = 1e308\n[bets]", "rules.chip: 1e+308 must be at most 1e+12"),
        ("[bets]", "rules.add_allin = 1e308\n[bets]", "rules.add_allin: 1e+308 must be at most 1e+06"),
        ("[bets]", "rules.force_allin = 1e308\n[bets]", "rules.force_allin: 1e+308 must be at most"),
        ("[bets]", "rules.merge = 1e308\n[bets]", "rules.merge: 1e+308 must be at most"),
        ("[bets]", f"name = '{'x' * 10_000}'\n[bets]", "name: .* is longer than 255 characters"),
        ("[bets]", f"lines.add = [{'0,' * 5000}]\n[bets]", "lines.add: has 5,000 entries; at most 1,000 are allowed"),
        ("[bets]", f"lines.add = ['check'{',' + chr(39) + 'check' + chr(39)}]\n[bets]", None),
        ('bet = "50%"', f'bet = "{"9" * 400}%"', "bets.bet: .* is more than 1,000,000,000,000"),
        (
            'bet = "50%"',
            f'bet = "{", ".join(f"{size}%" for size in range(1, 1001))}"',
            "has 1,000 sizes; at most",
        ),
        ('bet = "50%"', f'bet = "{"1%," * 50_000}"', "bets.bet: .* characters"),
        ("[bets]", "[[locks]]\nnode=''\nstrategy={}\n" * 10_001 + "[bets]", "locks: has 10,001 entries"),
    ],
)
def test_numbers_and_counts_have_limits(field: str, value: str, reason: str | None) -> None:
    text = SPOT.replace(field, value)
    assert text != SPOT
    if reason is None:
        Spot.parse(text)
        return
    began = time.process_time()
    with pytest.raises(RegretlessError, match=reason.replace("+", r"\+")) as caught:
        Spot.parse(text)
    assert len(str(caught.value)) < 1100
    assert time.process_time() - began < 20


def test_a_thousand_lines_take_a_moment() -> None:
    from regretless.holdem.form.betting import betting_tree

    lines = [f"bet {amount}" for amount in range(2, 900)]
    text = SPOT.replace("[bets]", f"lines.add = {lines}\nrules.add_allin = 0\nrules.force_allin = 0\n[bets]")
    began = time.process_time()
    assert len(betting_tree(Spot.parse(text)).kind) > 900
    assert time.process_time() - began < 60
