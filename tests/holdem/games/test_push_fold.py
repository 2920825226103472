"""Push or fold: published values, independent computations of them, files, charts."""

from pathlib import Path

import numpy as np
import pytest

import regretless as rl
from regretless.cards.hands import CLASS_NAMES, HAND_CARDS, HAND_CLASS
from regretless.cards.preflop_equities import CLASS_SIZES, class_equities
from regretless.errors import InvalidOption, InvalidText
from regretless.games import PushFold
from regretless.holdem.games.push_fold import PushFoldSolution


@pytest.fixture(scope="module")
def ten() -> PushFoldSolution:
    solution = rl.solve("push-fold(stack=10)")
    assert isinstance(solution, PushFoldSolution)
    return solution


def chart(solution: PushFoldSolution, line: str) -> np.ndarray:
    """How often each class does not fold."""
    return np.array([list(solution.strategy[f"{name}:{line}"].values())[1] for name in CLASS_NAMES])


@pytest.mark.parametrize(
    ("stack", "value", "pushed", "called"), [(5, 56.2007, 0.7148, 0.6207), (10, -45.3708, 0.5828, 0.3738)]
)
def test_published_values(stack: float, value: float, pushed: float, called: float) -> None:
    for options in ({}, {"variant": "lp"}):
        if options:
            pytest.importorskip("scipy")
        solution = rl.solve(f"push-fold(stack={stack})", **options)
        assert 1000 * solution.values[0] == pytest.approx(value, abs=1e-3)
        assert solution.values[1] == pytest.approx(-solution.values[0], abs=1e-12)
        assert solution.exploitability_mbb < 1e-4
        assert (round(solution.pushed, 4), round(solution.called, 4)) == (pushed, called)


@pytest.mark.parametrize(("stack", "ante"), [(1.2, 0), (3.75, 0), (12.5, 0.125), (40, 1), (200, 0)])
def test_cfr_finds_the_value_of_a_linear_program_over_matrices(stack: float, ante: float) -> None:
    """A program written for this game alone: maximise what the small blind gets against the best calls."""
    optimize = pytest.importorskip("scipy.optimize")
    table = class_equities()
    pairs = table.pairs / table.pairs.sum()
    own = pairs.sum(axis=1)
    # Variables: push [169], worth of the big blind's best answer [169]. An answer is worth at most a fold or a call.
    folds = pairs * (1 + ante)
    calls = pairs * stack * (2 * table.equity - 1)
    rows = np.vstack([np.hstack([-folds.T, np.eye(169)]), np.hstack([-calls.T, np.eye(169)])])
    cost = np.concatenate([-own * (0.5 + ante), -np.ones(169)])
    bounds = [(0, 1)] * 169 + [(None, None)] * 169
    found = optimize.linprog(cost, A_ub=rows, b_ub=np.zeros(338), bounds=bounds)
    value = -found.fun - (0.5 + ante)
    solution = rl.solve(PushFold(stack, ante))
    assert solution.values[0] == pytest.approx(value, abs=1e-6)
    assert solution.exploitability < 1e-6


def test_the_value_of_two_charts_hand_by_hand(ten: PushFoldSolution) -> None:
    """All pairs of the 1,326 hands, each blocked by the other's cards, instead of weighted classes."""
    apart = ~(HAND_CARDS[:, None, :, None] == HAND_CARDS[None, :, None, :]).any(axis=(2, 3))
    push, call = chart(ten, "")[HAND_CLASS], chart(ten, "push")[HAND_CLASS]
    called = 10 * (2 * class_equities().equity[np.ix_(HAND_CLASS, HAND_CLASS)] - 1)
    answer = call * called + (1 - call)
    value = (apart * (push[:, None] * answer - (1 - push[:, None]) / 2)).sum() / apart.sum()
    assert ten.values[0] == pytest.approx(value, abs=1e-12)
    frequency = (apart * push[:, None] * call).sum() / (apart * push[:, None]).sum()
    assert ten.node("push").frequencies[1] == pytest.approx(frequency, abs=1e-12)
    assert ten.node().frequencies[1] == pytest.approx(push.mean(), abs=1e-12)


def test_charts(ten: PushFoldSolution) -> None:
    root, answer = ten.node(), ten.node(" Push ")
    assert (root.player, root.actions, root.line) == ("ip", ("fold", "push"), "")
    assert (answer.player, answer.actions, answer.line) == ("oop", ("fold", "call"), "push")
    assert np.allclose(root.grid()[:, 1], chart(ten, ""))
    assert np.allclose(answer.grid()[:, 1], chart(ten, "push"))
    assert chart(ten, "")[CLASS_NAMES.index("AA")] > 1 - 1e-12
    assert chart(ten, "push")[CLASS_NAMES.index("32o")] < 1e-12
    assert float(chart(ten, "push") @ CLASS_SIZES) / 1326 == ten.called
    answer_json = ten.as_json()
    assert (answer_json["stack"], answer_json["ante"]) == (10, 0)
    assert answer_json["ranges"] == {"push": ten.pushed, "call": ten.called}
    assert answer_json["root"]["frequencies"] == list(root.frequencies)


@pytest.mark.parametrize(("line", "says"), [("fold", "nobody acts there"), ("limp", "is not a line")])
def test_lines_where_nobody_acts(ten: PushFoldSolution, line: str, says: str) -> None:
    with pytest.raises(InvalidText, match=f"line: '{line}': {says}"):
        ten.node(line)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("push-fold(stack=1)", "stack: 1 must be more than the big blind and the ante, 1, and at most 1,000,000"),
        ("push-fold(stack=2,ante=1)", "stack: 2 must be more than the big blind and the ante, 2"),
        ("push-fold(ante=-1)", "ante: -1 must be a number of big blinds, at least 0"),
        ("push-fold(stack=ten)", "stack: 'ten' must be a number of big blinds"),
        ("push-fold(stack=True)", "stack: True must be a number of big blinds"),
    ],
)
def test_stacks_that_make_no_game(text: str, says: str) -> None:
    with pytest.raises(InvalidOption) as raised:
        rl.solve(text)
    assert str(raised.value).startswith(says)


def test_it_has_no_public_form(tmp_path: Path) -> None:
    rl.solve("push-fold", iterations=3).save(tmp_path / "push.rgl")
    for given in ({"what": "push-fold"}, {"resume": tmp_path / "push.rgl", "iterations": 5}):
        with pytest.raises(
            InvalidOption, match=r"^form: 'public' is not for push-fold, which is solved in the history"
        ):
            rl.solve(form="public", **given)


def test_sampling_uses_a_variant_that_allows_it() -> None:
    sampled = rl.solve("push-fold", sampling="external", iterations=50)
    assert sampled.variant == "plus"
    assert rl.solve("push-fold", sampling="full", iterations=5).variant == "predictive-discounted-plus"


def test_targets_are_in_mbb() -> None:
    solution = rl.solve("push-fold", target=5)
    assert isinstance(solution, PushFoldSolution)
    assert solution.reason == "target"
    assert 1 < solution.exploitability_mbb <= 5


def test_files(tmp_path: Path, ten: PushFoldSolution) -> None:
    path = tmp_path / "ten.rgl"
    ten.save(path)
    loaded = rl.load(path)
    assert isinstance(loaded, PushFoldSolution)
    assert loaded.strategy == ten.strategy
    assert loaded.as_json() == ten.as_json()
    found = loaded.verify()
    assert found.agrees
    assert found.values == pytest.approx(ten.values, abs=1e-12)


def test_resumed_solves_are_identical(tmp_path: Path) -> None:
    whole = rl.solve("push-fold(stack=6.5)", iterations=60)
    rl.solve("push-fold(stack=6.5)", iterations=25).save(tmp_path / "half.rgl")
    resumed = rl.solve(resume=tmp_path / "half.rgl", iterations=60)
    assert resumed.strategy == whole.strategy
    with pytest.raises(InvalidOption, match="is not a solve of kuhn"):
        rl.solve("kuhn", resume=tmp_path / "half.rgl")
