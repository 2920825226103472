"""Crafted `.rgl` files: every checksum is right, but the contents are not."""

from __future__ import annotations

import json
import math
import random
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.test_spots import damaged

from regretless import Solution, load, solve
from regretless.cli import main
from regretless.files import container
from regretless.holdem import Spot, SpotSolution, solve_spot

OTHER: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 1e308, -1e-300, 0.5, "", "x", "x" * 5000, [], [1], [[]], {},
    {"a": 1}, [None, None], [1, 2, 3], [[1, 2, 3]], [["a", "b", "c"]], "alternating", "chance", "plus", "\x1b[31m[/b]",
]  # fmt: skip
TYPES = ["F64", "F32", "F16", "I64", "I32", "I16", "I8", "U16", "U8", "BOOL", "BF16", "x", 5, None]
COMMANDS = [["show", "--json"], ["show", "--tree"], ["show"], ["export"], ["solve", "--resume"], ["verify"]]

SPOT = Spot.from_mapping(
    {
        "board": "Kh Qs Js 2c",
        "pot": 100,
        "stack": 100,
        "oop": {"range": "AA,KK:0.5"},
        "ip": {"range": "QQ,AK"},
        "bets": {"bet": "50%", "raise": "a"},
    }
)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """A solved game, one that was sampled, a solved spot with its regrets in either storage, and a checkpoint."""
    folder = tmp_path_factory.mktemp("originals")
    solve("kuhn", iterations=5, engine="numba").save(folder / "game.rgl")
    solve("kuhn", iterations=5, sampling="external", engine="numba").save(folder / "sampled.rgl")
    for storage in (32, 16):
        solution = solve_spot(SPOT, iterations=3, threads=1, storage=storage)
        solution.save(folder / f"spot{storage}.rgl", resumable=True)
    solution.checkpoint(folder / "checkpoint.rgl")
    return [path.read_bytes() for path in sorted(folder.iterdir())]


class Crafted:
    """The parts of a file, to be changed and reassembled with correct checksums."""

    def __init__(self, content: bytes) -> None:
        length = int.from_bytes(content[:8], "little")
        self.table: dict[str, Any] = json.loads(content[8 : 8 + length])
        self.metadata = self.table.pop("__metadata__")
        self.header: dict[str, Any] = json.loads(self.metadata["regretless"])
        data = content[8 + length :]
        self.arrays = {name: bytearray(data[slice(*entry["data_offsets"])]) for name, entry in self.table.items()}
        self.piece_size: Any = json.loads(self.metadata["checks"])["size"]
        self.exact = True  # whether offsets follow the arrays

    def write(self, path: Path) -> None:
        place, data = 0, b""
        for name, content in self.arrays.items():
            if self.exact and isinstance(self.table.get(name), dict):
                self.table[name]["data_offsets"] = [place, place + len(content)]
            data += content
            place += len(content)
        text = json.dumps(self.header, sort_keys=True)
        size = self.piece_size if isinstance(self.piece_size, int) and self.piece_size > 0 else 10**6
        pieces = {
            name: [zlib.crc32(content[at : at + size]) for at in range(0, len(content), size)]
            for name, content in self.arrays.items()
        }
        checks = json.dumps({"size": self.piece_size, "pieces": pieces})
        checksum = container._checksum(text, checks, self.table)
        metadata = {**self.metadata, "regretless": text, "checks": checks, "checksum": checksum}
        beginning = json.dumps({"__metadata__": metadata, **self.table}).encode()
        path.write_bytes(struct.pack("<Q", len(beginning)) + beginning + data)


def change(draw: random.Random, crafted: Crafted) -> None:
    """Make one thing wrong."""
    kind = draw.randrange(9)
    name = draw.choice(list(crafted.arrays)) if crafted.arrays else ""
    entry = crafted.table.get(name)
    if kind <= 2:  # a key of the header, or of a table inside it
        table = draw.choice([crafted.header, crafted.header, crafted.header.get("settings")])
        if not isinstance(table, dict) or not table:
            return
        key = draw.choice(list(table))
        if draw.random() < 0.3:
            del table[key]
        else:
            table[key] = draw.choice(OTHER)
    elif kind == 3 and isinstance(crafted.header.get("spot"), str):  # the spot
        crafted.header["spot"] = damaged(draw, crafted.header["spot"])
    elif kind == 4 and isinstance(entry, dict):  # an array's description
        key = draw.choice(["dtype", "shape", "data_offsets"])
        if key == "dtype":
            entry["dtype"] = draw.choice(TYPES)
        elif key == "shape":
            entry["shape"] = draw.choice([[], [0], [-1], [2**40, 2**40], [1] * 20, [1.5], "x", entry["shape"][::-1]])
        else:
            crafted.exact = False
            entry["data_offsets"] = draw.choice([[-1, 5], [5, 1], [0, 10**15], [0], ["a", "b"], None, [0, 0]])
    elif kind == 5:  # an array that is missing, or one more
        if draw.random() < 0.7:
            crafted.table.pop(name, None)
            crafted.arrays.pop(name, None)
        else:
            crafted.table["more"] = {"dtype": "U8", "shape": [3], "data_offsets": [0, 0]}
            crafted.arrays["more"] = bytearray(3)
    elif kind == 6:
        crafted.piece_size = draw.choice([0, -1, 1, 7, 2**40, 1.5, None, "x", []])
    elif name:  # numbers
        content = crafted.arrays[name]
        filler = draw.choice([math.nan, math.inf, -math.inf, -1.0, 1e300, 2.0])
        width = {"F64": "<d", "F32": "<f", "F16": "<e"}.get(entry.get("dtype") if isinstance(entry, dict) else "", "")
        if (width and draw.random() < 0.7 and abs(filler) in (math.inf, 1.0, 2.0)) or (math.isnan(filler) and width):
            packed = struct.pack(width, filler)
            crafted.arrays[name] = bytearray(packed * (len(content) // len(packed)))
        else:
            for _ in range(draw.randrange(1, 20)):
                if content:
                    content[draw.randrange(len(content))] = draw.randrange(256)


def look(draw: random.Random, path: Path, kind: str) -> None:
    """Everything a user can do with a file."""
    if kind == "solution":
        solution: Solution = load(path)
        json.dumps(solution.as_json(strategy=True), allow_nan=False)
        if solution.iterations < 100 and solution.game == "kuhn":
            options = {"resume": solution, "variant": solution.variant, "sampling": solution.settings.sampling}
            solve("kuhn", iterations=solution.iterations + 2, **options)
        return
    if kind == "spot-checkpoint" or draw.random() < 0.4:
        resumed = solve_spot(resume=path, iterations=6, threads=1)
        assert math.isfinite(resumed.exploitability)
        return
    spot = SpotSolution.load(path)
    spot.as_json(strategy=True)
    for line in ("", "check, check, 5h", "bet 50, call, Ah, check"):
        spot.node(line).as_json(hands=True)
    spot.runouts("check, check")


def fuzz(case, originals: list[bytes], path: Path, count: int, seed: int = 0) -> None:
    draw = random.Random(seed)
    for content in originals:  # compile kernels before any case is timed
        path.write_bytes(content)
        for _ in range(2):
            look(draw, path, Crafted(content).header["kind"])
    for number in range(count):
        crafted = Crafted(draw.choice(originals))
        kind = crafted.header["kind"]
        for _ in range(draw.choice([1, 1, 1, 2, 4])):
            change(draw, crafted)
        crafted.write(path)
        with case((number, seed)):
            if number % 20 == 0:
                assert main([*draw.choice(COMMANDS), str(path)]) in (0, 1, 2, 3)
            else:
                look(draw, path, kind)
    assert case.refused > count // 3
    assert case.passed > count // 20


def test_crafted_files(case, originals: list[bytes], tmp_path: Path) -> None:
    fuzz(case, originals, tmp_path / "crafted.rgl", 150)


@pytest.mark.slow
def test_2000_crafted_files(case, originals: list[bytes], tmp_path: Path) -> None:
    fuzz(case, originals, tmp_path / "crafted.rgl", 2000, seed=1)
