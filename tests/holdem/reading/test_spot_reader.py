"""Any node of a solved spot is consistent with its children, with equivalent cards, and with a full walk."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from regretless.cards.deck import parse_card
from regretless.cards.equity import equity
from regretless.cards.hands import HAND_COUNT
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption
from regretless.forms.public import PublicForm
from regretless.holdem.reading.evaluation import Evaluator, Strategies
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.solution import SpotSolution


class RecordingEvaluator(Evaluator):
    """Keeps the values of every street and runout that a walk passes."""

    def __init__(self, form: PublicForm, strategies: Strategies) -> None:
        super().__init__(form, strategies)
        self.walked: dict[tuple[int, int], dict[int, np.ndarray]] = {}

    def _walk(self, player: int, street: int, runout: int, reach: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        values = self.walked[street, runout] = super()._walk(player, street, runout, reach)
        return values


def as_range(view: NodeView, player: str) -> Range:
    weights = np.zeros(HAND_COUNT)
    weights[view.hands[player].hand] = view.hands[player].weight
    return Range(weights)


def test_the_root_agrees_with_the_engine(river: SpotSolution, turn: SpotSolution, flop: SpotSolution) -> None:
    for solution in (river, turn, flop):
        root = solution.node()
        for player in ("oop", "ip"):
            assert root.ev(player) == pytest.approx(solution.ev[player], abs=5e-5)
        assert sum(root.frequencies) == pytest.approx(1)
        exact = equity(solution.spot.oop, solution.spot.ip, solution.spot.board)
        assert root.equity("oop") == pytest.approx(exact.first, abs=1e-12)
        assert root.equity("ip") == pytest.approx(exact.second, abs=1e-12)


@pytest.mark.parametrize("name", ["river", "turn", "flop"])
def test_values_before_the_last_street_equal_a_plain_walk(name: str, request: pytest.FixtureRequest) -> None:
    solution: SpotSolution = request.getfixturevalue(name)
    reader = solution.reader
    tree, streets = reader.form.tree, reader.form.streets
    for player in range(2):
        plain = RecordingEvaluator(reader.form, reader.results)
        plain.values(player, 0, 0, reader.form.hands[1 - player].weight)
        for street in range(len(streets) - 1):
            nodes = np.flatnonzero(tree.street == street)
            rows = [
                [plain.walked[street, runout][node] for node in nodes] for runout in range(len(streets[street].parent))
            ]
            found = reader.results.all_values(player, street)
            np.testing.assert_allclose(found, rows, atol=3e-6 * np.abs(rows).max())


@pytest.mark.parametrize("line", ["", "check", "bet 50", "check, bet 100", "bet 50, raise 125"])
def test_a_decision_is_the_mean_of_its_actions(river: SpotSolution, line: str) -> None:
    view = river.node(line)
    table = view.acting
    np.testing.assert_allclose((view.strategy * view.action_ev).sum(axis=0), table.ev, atol=1e-9)
    np.testing.assert_allclose(view.strategy.sum(axis=0), 1, atol=1e-6)
    if "fold" in view.actions:
        np.testing.assert_allclose(view.action_ev[view.actions.index("fold")], 0, atol=1e-9)


def test_chips_are_conserved_at_every_node(turn: SpotSolution) -> None:
    reader = turn.reader
    waiting = [reader.root]
    seen = 0
    while waiting and seen < 60:
        place = waiting.pop()
        view = reader.view(place)
        if min(table.weight @ table.matchups for table in view.hands.values()) > 1e-9:
            assert view.ev("oop") + view.ev("ip") == pytest.approx(view.pot, abs=3e-4)
            assert view.equity("oop") + view.equity("ip") == pytest.approx(1, abs=1e-12)
            seen += 1
        children = list(reader.children(place))
        waiting += children[::7] if view.kind == "chance" else children
    assert seen == 60


def test_equity_at_a_later_node_is_that_of_the_ranges_there(turn: SpotSolution, flop: SpotSolution) -> None:
    for solution, line in ((turn, "check"), (turn, "check, check, 5s"), (flop, "check, check, 3s"), (flop, "check")):
        view = solution.node(line)
        exact = equity(as_range(view, "oop"), as_range(view, "ip"), view.board)
        assert view.equity("oop") == pytest.approx(exact.first, abs=1e-9)


def test_a_report_of_runouts_averages_to_the_node(turn: SpotSolution) -> None:
    report = turn.runouts("check, check")
    before = turn.node("check, check")
    assert len(report.runouts) == 48
    weight = [turn.node(f"check, check, {board_text([each.card])}") for each in report.runouts]
    pairs = [view.hands["oop"].weight @ view.hands["oop"].matchups for view in weight]
    mean = np.average([each.ev["oop"] for each in report.runouts], weights=pairs)
    assert mean == pytest.approx(before.ev("oop"), abs=2e-5)


def test_equivalent_cards_give_equal_answers(flop: SpotSolution) -> None:
    """On Qs Jh 2h, clubs and diamonds are interchangeable, so every hand must match its mirror image.

    They match to the last bit; swapping the wrong cards would move numbers by a tenth or more.
    """
    exchanged = str.maketrans("cd", "dc")
    for turn, river in [("3c", "9c"), ("3c", "9d"), ("5d", "5c"), ("8h", "Ac"), ("Td", "Kh")]:
        line = f"check, check, {turn}, check, check, {river}"
        first, second = (
            flop.node(line),
            flop.node(line.translate(exchanged).replace("dhedk", "check").replace("dheck", "check")),
        )
        for player in ("oop", "ip"):
            rows = {row["hand"]: row for row in second.rows(player)}
            assert len(rows) == len(first.rows(player)) > 0
            for row in first.rows(player):
                name = row["hand"].translate(exchanged)
                other = rows.get(name) or rows[name[2:] + name[:2]]
                assert other["weight"] == row["weight"]
                assert other["equity"] == row["equity"]
                assert other["ev"] == row["ev"]


def test_hands_on_the_board_are_left_out(turn: SpotSolution) -> None:
    view = turn.node("check, check, Ac")
    assert all("Ac" not in name for player in ("oop", "ip") for name in view.hands[player].texts())
    assert view.board[-1] == parse_card("Ac")
    assert turn.node("check, check").hands["oop"].texts() != view.hands["oop"].texts()


@pytest.mark.parametrize(
    "read",
    [
        lambda node: node.rows("hero"),
        lambda node: node.ev("hero"),
        lambda node: node.equity("hero"),
        lambda node: node.wide_rows("hero"),
        lambda node: node.only("hero", Range.parse("AA")),
    ],
)
def test_an_unknown_player_is_named(river: SpotSolution, read: Callable[[NodeView], object]) -> None:
    with pytest.raises(InvalidOption, match="player: 'hero' is neither oop nor ip"):
        read(river.node("check"))


def test_the_json_of_a_node(river: SpotSolution) -> None:
    answer = river.node("check").as_json()
    assert answer["player"] == "ip"
    assert answer["actions"] == ["check", "bet 50", "bet 100"]
    alike = {"hand", "weight", "matchups", "ev", "equity", "eqr"}
    assert alike | {"strategy", "action_ev", "locked"} == set(answer["hands"]["ip"][0])
    assert alike == set(answer["hands"]["oop"][0])
