"""The class `Solver` prints what it measures."""

from __future__ import annotations

import pytest

from regretless import Solver, solve
from regretless.errors import InvalidOption
from regretless.games import Kuhn
from regretless.variants import Plus, Vanilla


@pytest.mark.parametrize("batch_size", [1, 1024])
def test_each_line_is_the_exploitability_of_its_own_iteration(
    batch_size: int, capsys: pytest.CaptureFixture[str]
) -> None:
    solver = Solver(Kuhn(), batch_size=batch_size)
    solver.solve(iterations=70, log_interval=30)
    solver.solve(iterations=30, log_interval=30)
    printed = capsys.readouterr().out.splitlines()
    expected = [
        f"Iteration {done}: exploitability = {solve(Kuhn(), variant='vanilla', iterations=done).exploitability:.6f}"
        for done in (30, 60, 70, 90, 100)
    ]
    assert printed == expected


def test_silent(capsys: pytest.CaptureFixture[str]) -> None:
    Solver(Kuhn()).solve(iterations=10, verbose=False)
    assert not capsys.readouterr().out


def test_a_game_by_name_and_wrong_options() -> None:
    assert Solver("kuhn").solve(iterations=10, verbose=False).keys() == Solver(Kuhn()).get_strategy().keys()
    with pytest.raises(InvalidOption, match="log_interval"):
        Solver("kuhn").solve(iterations=10, log_interval=0)
    for iterations in ("ten", 10.5):
        with pytest.raises(InvalidOption, match=r"iterations: .* must be a whole number"):
            Solver("kuhn").solve(iterations)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="device"):
        Solver("kuhn", device="cuda", batch_size=1)


def test_variants_and_devices_are_those_of_every_solve() -> None:
    solver = Solver("kuhn", variant="mccfr")
    assert (solver.rule, solver.engine.name) == (Vanilla(), "numba")
    solver.solve(iterations=200, verbose=False)
    assert 0 < solver.exploitability() < 0.5
    assert Solver("kuhn", variant="cfr+").rule == Solver("kuhn", variant=Plus()).rule
    with pytest.raises(InvalidOption, match=r"^device: 'abacus' is not one of auto, cpu, cuda, mps"):
        Solver("kuhn", device="abacus")
