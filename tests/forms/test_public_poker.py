"""Two routes, one answer: Kuhn and Leduc by their rules and by the public form."""

from __future__ import annotations

from typing import Any

import pytest

from regretless.engines.public.reference import PublicReference
from regretless.forms.public import PublicForm
from regretless.forms.public_poker import kuhn_public, leduc_public
from regretless.games import Kuhn, Leduc
from regretless.games.game import Game
from regretless.solvers import CFR
from regretless.variants import schedule
from regretless.variants.presets import PRESETS


@pytest.mark.parametrize("variant", PRESETS)
@pytest.mark.parametrize(
    ("game", "form", "iterations"),
    [(Kuhn(), kuhn_public(), 100), (Leduc(), leduc_public(), 8)],
    ids=["kuhn", "leduc"],
)
def test_the_public_form_gives_the_answer_of_the_rules(
    game: Game[Any], form: PublicForm, iterations: int, variant: str
) -> None:
    by_rules, by_form = CFR(game), PublicReference(form)
    for solver in (by_rules, by_form):
        solver.advance(schedule(PRESETS[variant], 1, iterations))
    expected, found = by_rules.evaluate(), by_form.evaluate()
    assert found.exploitability == pytest.approx(expected.exploitability, abs=1e-6)
    assert found.values == pytest.approx(expected.values, abs=1e-6)
