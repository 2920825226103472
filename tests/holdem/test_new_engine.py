"""A new engine of the public form takes one class and one entry in the registry; everything else finds it there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regretless as rl
from regretless import engines
from regretless.cli import main
from regretless.engines.numpy.public import PublicReference
from regretless.errors import InvalidOption
from regretless.forms.public import PublicForm
from regretless.variants.variant import Schedule

SPOT = """
board = "Kh Qs Js 2c"
pot = 100
stack = 100
[oop]
range = "AK, T9s"
[ip]
range = "QQ, KJs"
[bets]
bet = "50%"
"""


class ToyEngine(PublicReference):
    """The plain reference under another name, which counts the iterations requested."""

    name = "toy"
    asked = 0

    def __init__(self, form: PublicForm, *, device: str = "cpu") -> None:
        super().__init__(form)
        self.device = device

    def advance(self, schedule: Schedule) -> None:
        ToyEngine.asked += len(schedule)
        super().advance(schedule)


@pytest.fixture
def toy() -> Iterator[type[ToyEngine]]:
    build = engines.Build(
        path=f"{__name__}:ToyEngine",
        devices=("cpu", "cuda"),
        storages=(64,),
        updates=(engines.Updates.ALTERNATING,),
    )
    engines.register("toy", engines.EngineEntry(classes={engines.FormKind.PUBLIC: build}))
    ToyEngine.asked = 0
    yield ToyEngine
    del engines.ENGINES["toy"]


def test_it_solves_reads_saves_and_resumes_spots(toy: type[ToyEngine], tmp_path: Path) -> None:
    spot = rl.Spot.parse(SPOT)
    asked = {"variant": "discounted"}  # with the default, rounding decides ties
    solution = rl.solve(spot, engine="toy", iterations=4, **asked)
    usual = rl.solve(spot, iterations=4, **asked)
    assert (solution.engine, toy.asked) == ("toy", 4)
    assert solution.exploitability == pytest.approx(usual.exploitability, rel=1e-4)
    for line in ("", "check, check, 5h", "bet 50, call, Ah, check"):
        np.testing.assert_allclose(solution.node(line).strategy, usual.node(line).strategy, atol=1e-3)
        np.testing.assert_allclose(solution.node(line).ev("oop"), usual.node(line).ev("oop"), atol=0.05)
    assert solution.verify().agrees
    solution.save(tmp_path / "toy.rgl", resumable=True)
    resumed = rl.solve(resume=tmp_path / "toy.rgl", engine="toy", iterations=6)
    assert toy.asked == 6
    assert resumed.exploitability == pytest.approx(rl.solve(spot, iterations=6, **asked).exploitability, rel=1e-4)


def test_locks_apply_to_it(toy: type[ToyEngine]) -> None:
    locks = [rl.holdem.Lock("", {"check": 1})]
    solution = rl.solve(rl.Spot.parse(SPOT), engine="toy", iterations=2, locks=locks)
    assert solution.root.frequencies[0] == pytest.approx(1)


def test_the_command_finds_it(toy: type[ToyEngine], tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "spot.toml").write_text(SPOT, encoding="utf-8")
    assert main(["solve", str(tmp_path / "spot.toml"), "--engine", "toy", "--iterations", "3", "--json"]) == 0
    assert '"engine": "toy"' in capsys.readouterr().out


def test_unsupported_options_are_refused_by_name(toy: type[ToyEngine]) -> None:
    spot = rl.Spot.parse(SPOT)
    with pytest.raises(InvalidOption, match=r"^storage: 16 "):
        rl.solve(spot, engine="toy", iterations=3, storage=16)
    with pytest.raises(InvalidOption, match=r"^engine: 'toy' cannot solve a game"):
        rl.solve("kuhn", engine="toy")


def test_it_is_gone_afterwards() -> None:
    with pytest.raises(InvalidOption, match=r"^engine: 'toy' is not one of auto, numba"):
        rl.solve(rl.Spot.parse(SPOT), engine="toy")
