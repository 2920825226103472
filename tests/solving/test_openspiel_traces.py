"""Exploitability matches OpenSpiel's at several iterations.

Both update players alternately, player 0 first, and weight the average by own reach. OpenSpiel's CFR+ weights iteration
t by t, as our `plus` does; its LCFRSolver and DCFRSolver are `linear` and `discounted` with the paper's parameters. The
settings do not differ in anything.

OpenSpiel's discounted solvers are slow, so its numbers are stored in `golden/`, and the slow tests recompute them. Our
reference is slow as well: on Leduc, the quick tests follow OpenSpiel for 10 iterations. A wrong variant differs before
the tenth, and `test_golden.py` compares the other engines with the reference's own answer after 1,000.
"""

import json
from pathlib import Path

import pytest
from tests.solving.golden.make_golden import OPENSPIEL_NAMES, openspiel_trace, reference, snapshots

FOLDER = Path(__file__).parent / "golden"
GOLDEN = json.loads((FOLDER / "openspiel_traces.json").read_text(encoding="utf-8"))
RULES = json.loads((FOLDER / "rules.json").read_text(encoding="utf-8"))["games"]
ITERATIONS = GOLDEN["iterations"]
VARIANTS = list(GOLDEN["traces"]["kuhn"])
QUICKLY = {"kuhn": ITERATIONS.index(100) + 1, "leduc": ITERATIONS.index(10) + 1}
EXACTLY = ITERATIONS.index(100) + 1  # how many points must be equal; rounding moves later ones apart


def exploitabilities(engine, variant: str, iterations: list[int]) -> list[float]:
    return [answer["exploitability"] for answer in snapshots(engine, variant, iterations)]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("game", OPENSPIEL_NAMES)
def test_the_reference_follows_openspiel(game: str, variant: str) -> None:
    points = QUICKLY[game]
    ours = exploitabilities(reference(game), variant, ITERATIONS[:points])
    assert ours == pytest.approx(GOLDEN["traces"][game][variant][:points], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_reference_follows_openspiel_for_long(variant: str) -> None:
    ours = exploitabilities(reference("leduc"), variant, ITERATIONS[:EXACTLY])
    assert ours == pytest.approx(GOLDEN["traces"]["leduc"][variant][:EXACTLY], abs=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("game", OPENSPIEL_NAMES)
def test_a_thousand_iterations_are_close_to_openspiel(game: str, variant: str) -> None:
    """The reference's own answers are stored too: `test_golden.py` computes them again."""
    ours = RULES[game][variant][-1]
    assert ours["iteration"] == 1000
    assert ours["exploitability"] == pytest.approx(GOLDEN["traces"][game][variant][ITERATIONS.index(1000)], rel=1e-6)


@pytest.mark.parametrize("variant", ["vanilla", "plus"])
def test_golden_traces_are_openspiels(variant: str) -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    for game, points in QUICKLY.items():
        theirs = openspiel_trace(game, variant, ITERATIONS[:points])
        assert theirs == pytest.approx(GOLDEN["traces"][game][variant][:points], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_long_golden_traces_are_openspiels(variant: str) -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    for game in OPENSPIEL_NAMES:
        assert openspiel_trace(game, variant, ITERATIONS) == pytest.approx(GOLDEN["traces"][game][variant], abs=1e-12)
