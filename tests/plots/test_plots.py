"""Plots contain what they should, touch no global state, and say what is missing."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib.text import Text

from regretless import solve
from regretless.errors import InvalidOption, MissingExtra
from regretless.holdem.problem import solve_spot
from regretless.holdem.spots.spot import Spot
from regretless.plots import convergence, scatter, strategy_bars
from regretless.solving.game_solution import GameSolution


@pytest.fixture(scope="module")
def solutions() -> list[GameSolution]:
    return [solve("kuhn", variant=name, iterations=40, engine="reference") for name in ("vanilla", "plus")]


def test_convergence_draws_every_measurement_twice(solutions: list[GameSolution]) -> None:
    figure = convergence(solutions)
    iterations, seconds = figure.axes
    for axes in figure.axes:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    for solution, by_iteration, by_second in zip(solutions, iterations.lines, seconds.lines, strict=True):
        assert list(by_iteration.get_xdata()) == [point.iteration for point in solution.history]
        assert list(by_second.get_xdata()) == [point.seconds for point in solution.history]
        assert list(by_second.get_ydata()) == [point.exploitability for point in solution.history]
    assert sorted(text.get_text() for text in figure.legends[0].get_texts()) == ["plus", "vanilla"]
    assert "exploitability" in iterations.get_ylabel()


def test_lines_are_labelled_by_what_differs(solutions: list[GameSolution]) -> None:
    other = solve("kuhn(players=3)", variant="plus", iterations=5, engine="reference")
    names = [text.get_text() for text in convergence([solutions[1], other]).legends[0].get_texts()]
    assert sorted(names) == ["kuhn", "kuhn(players=3)"]
    named = convergence(solutions, labels=["one", "two"], title="Mine")
    assert sorted(text.get_text() for text in named.legends[0].get_texts()) == ["one", "two"]


def test_one_curve_needs_no_legend(solutions: list[GameSolution]) -> None:
    figure = convergence(solutions[:1])
    assert figure.legends == []
    assert figure.get_suptitle() == "Exploitability of kuhn by vanilla"


def test_an_exact_solution_is_a_point_in_time() -> None:
    iterations, seconds = convergence([solve("leduc(ranks=2)", variant="lp")]).axes
    assert len(iterations.lines[0].get_xdata()) == 0
    assert len(seconds.lines[0].get_xdata()) <= 1  # none where it is exact to the last bit


def test_bars_show_the_strategy_and_both_values(solutions: list[GameSolution]) -> None:
    strategy = solutions[1].strategy
    figure = strategy_bars(strategy, ["0:", "1:pb"], value=-0.0512, theoretical=-1 / 18, names={"p": "pass"})
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0:", "1:pb"]
    heights = [[bar.get_height() for bar in group] for group in axes.containers]
    assert heights == [[strategy[key][action] for key in ("0:", "1:pb")] for action in ("p", "b")]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["pass", "b"]
    assert axes.get_title(loc="left") == "value to player 0: −0.05120 measured, −0.05556 in theory"


def test_bars_of_sets_with_different_actions() -> None:
    strategy = solve("leduc", iterations=3).strategy
    (axes,) = strategy_bars(strategy, ["Ks:", "Ks:r"]).axes
    assert [len(group) for group in axes.containers] == [2, 2, 1]


def test_wrong_requests(solutions: list[GameSolution]) -> None:
    with pytest.raises(InvalidOption, match="at least one solution"):
        convergence([])
    with pytest.raises(InvalidOption, match="one label for each of the 2"):
        convergence(solutions, labels=["one"])
    with pytest.raises(InvalidOption, match="'9:' is not one of 0:"):
        strategy_bars(solutions[0].strategy, ["9:"])
    with pytest.raises(InvalidOption, match="information_sets: 0 must be from 1 to 400"):
        strategy_bars(solutions[0].strategy, [])


def test_figures_are_saved_without_pyplot(solutions: list[GameSolution]) -> None:
    had = "matplotlib.pyplot" in sys.modules
    for name in ("png", "svg"):
        buffer = io.BytesIO()
        convergence(solutions).savefig(buffer, format=name)
        assert len(buffer.getvalue()) > 1000
    assert ("matplotlib.pyplot" in sys.modules) == had


def test_notebooks_display_figures(solutions: list[GameSolution]) -> None:
    figure: Any = convergence(solutions)
    assert figure._repr_png_().startswith(b"\x89PNG")  # what IPython asks an object for


SHOW = """
import sys
import regretless as rl
from regretless.plots import strategy_bars

strategy_bars(rl.solve("kuhn", iterations=5, engine="reference").strategy).show()
from matplotlib import pyplot
print(sys.modules["windows"].shown, pyplot.get_fignums())
"""
WINDOWS = """
from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

shown = []

class Manager(FigureManagerBase):
    @classmethod
    def pyplot_show(cls, *, block=None):
        shown.extend(manager.canvas.figure.get_suptitle() for manager in Gcf.get_all_fig_managers())

class FigureCanvas(FigureCanvasAgg):
    manager_class = Manager
"""


def run_with_backend(code: str, backend: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MPLBACKEND": backend, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


def test_show_opens_a_window_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "windows.py").write_text(WINDOWS, encoding="utf-8")
    result = run_with_backend(SHOW, "module://windows", tmp_path)
    assert result.stdout.strip() == "['Average strategy'] []", result.stderr


def test_show_without_a_screen_is_one_sentence(tmp_path: Path) -> None:
    result = run_with_backend(SHOW, "agg", tmp_path)
    sentence = "no window can be opened with matplotlib's backend agg: save the plot instead"
    assert result.stderr.strip().splitlines()[-1] == f"regretless.errors.RegretlessError: {sentence}"
    command = "from regretless.cli import main; raise SystemExit(main(['train-kuhn', '--show', '--iterations', '10']))"
    refused = run_with_backend(command, "agg", tmp_path)
    assert refused.returncode == 1
    assert refused.stderr == f"error: {sentence}\n"
    assert refused.stdout == ""  # before anything is trained


def test_without_matplotlib_the_answer_is_how_to_get_it(
    solutions: list[GameSolution], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[plot\]"):
        convergence(solutions)


def test_spots_are_drawn_in_percent_of_the_pot(solutions: list[GameSolution]) -> None:
    spot = Spot.from_mapping(
        {
            "board": "Kh Qs Js 2c 3d",
            "pot": 50,
            "stack": 200,
            "oop": {"range": "AK"},
            "ip": {"range": "QQ"},
            "bets": {"bet": "50%"},
        }
    )
    solution = solve_spot(spot, iterations=20)
    figure = convergence([solution])
    drawn = figure.axes[0].lines[0].get_ydata()
    assert drawn[-1] == pytest.approx(solution.exploitability_pct_pot)
    assert "% of the pot" in figure.axes[0].get_ylabel()
    with pytest.raises(InvalidOption, match="plot games and spots separately"):
        convergence([solution, *solutions])


def test_solves_on_drawn_boards_are_compared_by_boards() -> None:
    ranges = {"oop": {"range": "AKs, 99"}, "ip": {"range": "AA, 55"}}
    fields = {"board": "Kh Qs Js 2c", "pot": 100, "stack": 100, "bets": {"bet": "a"}}
    spot = Spot.from_mapping(fields | ranges)
    drawn = [
        solve(spot, buckets="river=lossless", sample_runouts=count, iterations=4, measure_every=2, threads=1)
        for count in (2, 8)
    ]
    boards, seconds = convergence(drawn, labels=["two", "eight"]).axes
    assert boards.get_xlabel() == "boards drawn"
    assert [list(line.get_xdata()) for line in boards.lines] == [[4, 8], [16, 32]]
    assert seconds.get_xlabel() == "seconds of solving"
    exact = solve(spot, iterations=4, threads=1)
    assert convergence([exact, drawn[0]]).axes[0].get_xlabel() == "iterations"


def test_names_from_users_are_drawn_as_they_are() -> None:
    figure = strategy_bars({"$x^$": {"_call": 0.5, "to $20": 0.5}}, title="$a_$")
    figure.savefig(io.BytesIO(), format="svg")
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == [r"\$x^\$"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [" _call", r"to \$20"]


def test_dollars_are_drawn_without_backslashes(solutions: list[GameSolution]) -> None:
    """Matplotlib removes the backslash before an escaped dollar only from text in which it looks for formulas."""
    curves = convergence(solutions, labels=["$1/$2", "$5"], title="$1/$2 and $5")
    points = scatter([0.0, 1.0], [0.0, 1.0], sizes=[1, 1], names=["$1/$2", "$5"], across="x", up="y", title="$1/$2")
    for figure in (curves, points):
        figure.draw_without_rendering()
        texts = [text for text in figure.findobj(Text) if r"\$" in text.get_text()]
        assert len(texts) == 3
        assert all(text.get_parse_math() for text in texts)


def test_too_many_bars_are_refused() -> None:
    with pytest.raises(InvalidOption, match="information_sets: 401 must be from 1 to 400"):
        strategy_bars({str(number): {"call": 1.0} for number in range(401)})
