"""Games in the public form take the same path as in the history form, to the same answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import regretless as rl
from regretless.errors import InvalidFile, InvalidOption
from regretless.games import FlopHoldem
from regretless.holdem.games.flop_holdem import FlopHoldemProblem
from regretless.solving.game_problem import GameProblem
from regretless.solving.public_problem import PublicGameProblem

LEDUC = -0.0856064240780


@pytest.mark.parametrize(
    ("game", "variant"),
    [
        ("kuhn", "plus"),  # without a floor, Kuhn's regrets tie at 0, and rounding decides
        *(("leduc", variant) for variant in ("vanilla", "plus", "linear", "discounted", "predictive-plus")),
    ],
)
def test_both_forms_take_the_same_steps(game: str, variant: str) -> None:
    """Ten iterations: later, rounding to 32 bits makes the two drift apart."""
    public, history = (rl.solve(game, form=form, variant=variant, iterations=10) for form in ("public", "history"))
    assert public.strategy.keys() == history.strategy.keys()
    for key, played in history.strategy.items():
        assert public.strategy[key] == pytest.approx(played, abs=2e-4)
    assert public.exploitability == pytest.approx(history.exploitability, abs=2e-5)
    assert public.record.information_sets == history.record.information_sets
    assert (public.settings.form, history.settings.form) == ("public", "history")


def test_both_forms_find_the_value_of_leduc() -> None:
    public = rl.solve("leduc", form="public", variant="discounted", target=1e-3)
    assert public.reason == "target"
    assert public.values[0] == pytest.approx(LEDUC, abs=1e-3)
    found = public.verify()  # by the rules of the game
    assert found.agrees
    assert found.exploitability == pytest.approx(public.exploitability, abs=1e-6)
    assert rl.solve("leduc", form="public", iterations=5).exploitability > 100 * public.exploitability


@pytest.mark.parametrize(
    "game", ["kuhn", "leduc(ranks=4,suits=1,bets=(1,3))", "leduc(ranks=2,suits=4,raises=3,ante=0.5)"]
)
def test_the_rules_confirm_what_is_reported(game: str) -> None:
    assert rl.solve(game, form="public", iterations=30).verify().agrees


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("variant", ["plus", "predictive-plus"])
def test_a_resumed_solve_ends_with_the_same_numbers(storage: int, variant: str, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"form": "public", "variant": variant, "storage": storage}
    whole = rl.solve("leduc", iterations=20, **asked)
    rl.solve("leduc", iterations=8, **asked).save(tmp_path / "leduc.rgl")
    for game in (None, "leduc"):  # the form is that of the solve that is resumed
        resumed = rl.solve(game, resume=tmp_path / "leduc.rgl", iterations=20)
        assert resumed.strategy == whole.strategy
        assert resumed.evaluation == whole.evaluation
        assert resumed.settings.form == "public"
    loaded = rl.load(tmp_path / "leduc.rgl")
    assert loaded.settings.storage == storage


def test_a_solve_in_one_form_cannot_be_resumed_in_the_other(tmp_path: Path) -> None:
    for form, other in (("history", "public"), ("public", "history")):
        solution = rl.solve("leduc", form=form, iterations=5)
        solution.save(tmp_path / "leduc.rgl")
        with pytest.raises(InvalidOption, match=f"^form: '{other}' cannot resume .*, which was started with '{form}'"):
            rl.solve("leduc", form=other, resume=tmp_path / "leduc.rgl", iterations=10)
    with pytest.raises(InvalidFile, match="different tree"):
        rl.solve("leduc(ranks=2,suits=3)", form="public", resume=tmp_path / "leduc.rgl", iterations=10)


@pytest.mark.parametrize(
    ("game", "form", "problem"),
    [
        ("leduc", None, GameProblem),
        ("leduc", "history", GameProblem),
        ("leduc", "public", PublicGameProblem),
        ("flop-holdem", None, FlopHoldemProblem),
        ("Flop Holdem", "public", FlopHoldemProblem),
        (FlopHoldem(), None, FlopHoldemProblem),
    ],
)
def test_the_form_decides_the_problem(game: Any, form: str | None, problem: type) -> None:
    from regretless.api import problem_of
    from regretless.solving.options import SolveOptions

    assert type(problem_of(game, SolveOptions(form=form))) is problem
