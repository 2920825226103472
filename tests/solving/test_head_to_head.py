"""Two solutions of a game against each other, compared with a walk over the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

import regretless as rl
from regretless.errors import InvalidFile, InvalidGame, InvalidOption
from regretless.forms.history import Strategy
from regretless.games import Kuhn, Leduc
from regretless.games.game import CHANCE, AnyGame
from regretless.solving.head_to_head import HeadToHead


class Mine(Kuhn):
    """Rules that are not registered."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "mine"


def played_out(rules: AnyGame, players: tuple[Strategy, Strategy]) -> tuple[float, float]:
    """The values if each player follows a strategy of their own, history by history."""

    def values(state: object) -> tuple[float, float]:
        if rules.is_terminal(state):
            first, second = rules.utilities(state)
            return first, second
        player = rules.player(state)
        moves = rules.chance_outcomes(state) if player == CHANCE else None
        if moves is None:
            moves = players[player][rules.info_set_key(state)].items()
        below = [(share, values(rules.next_state(state, action))) for action, share in moves]
        return sum(share * pair[0] for share, pair in below), sum(share * pair[1] for share, pair in below)

    return values(rules.initial_state())


@pytest.mark.parametrize(("name", "rules"), [("kuhn", Kuhn()), ("leduc", Leduc())], ids=str)
def test_values_are_those_of_the_rules_in_both_seats(name: str, rules: AnyGame) -> None:
    first, second = (rl.solve(name, iterations=count, engine="numpy") for count in (3, 40))
    result = first.against(second)
    assert result.seats[0] == pytest.approx(played_out(rules, (first.strategy, second.strategy)), abs=1e-12)
    assert result.seats[1][::-1] == pytest.approx(played_out(rules, (second.strategy, first.strategy)), abs=1e-12)
    assert result.edge == pytest.approx((result.seats[0][0] + result.seats[1][0]) / 2, abs=1e-12)  # zero-sum
    assert result.edge < -1e-3
    assert second.against(first).edge == -result.edge
    assert result.as_json() == {"game": name, "seats": [list(pair) for pair in result.seats], "edge": result.edge}


def test_a_solution_wins_nothing_from_itself() -> None:
    solution = rl.solve("leduc", iterations=5, engine="numpy")
    result = solution.against(solution)
    assert result.edge == 0
    assert result.seats[0] == pytest.approx(solution.values, abs=1e-12)


def test_a_solution_in_the_public_form_plays_one_in_the_history_form() -> None:
    public, history = rl.solve("leduc", iterations=9, form="public"), rl.solve("leduc", iterations=9, engine="numpy")
    own, other = played_out(Leduc(), (public.strategy, history.strategy))
    assert public.against(history).seats[0] == pytest.approx((own, other), abs=1e-9)


def test_push_or_fold_is_quoted_in_mbb() -> None:
    better, worse = rl.solve("push-fold(stack=10)"), rl.solve("push-fold(stack=10)", iterations=2)
    result = better.against(worse)
    assert result.as_json()["edge_mbb"] == 1000 * result.edge > 0


def test_what_one_wins_where_payoffs_do_not_sum_to_zero() -> None:
    """A pot of 100 of which 5 are raked: 60 against 35, then 50 against 45."""
    assert HeadToHead(game="raked", seats=((60, 35), (50, 45))).edge == 7.5


def test_rules_that_are_not_registered_are_those_that_were_solved(tmp_path: Path) -> None:
    first, second = (rl.solve(Mine(), iterations=count, engine="numpy") for count in (1, 20))
    edge = first.against(second).edge
    first.save(tmp_path / "first.rgl")
    second.save(tmp_path / "second.rgl")
    loaded = [rl.load(tmp_path / f"{name}.rgl") for name in ("first", "second")]
    with pytest.raises(InvalidOption, match="pass its rules as game="):
        loaded[0].against(loaded[1])
    assert loaded[0].against(loaded[1], game=Mine()).edge == edge
    assert loaded[0].against(second).edge == edge


def test_what_cannot_be_played_is_refused() -> None:
    kuhn, leduc = (rl.solve(name, iterations=1, engine="numpy") for name in ("kuhn", "leduc"))
    three = rl.solve("kuhn(players=3)", iterations=1, engine="numpy")
    with pytest.raises(InvalidFile, match="the solution of leduc: belongs to a different tree from that of kuhn"):
        kuhn.against(leduc)
    with pytest.raises(InvalidGame, match="has 3 players: only in a game of two"):
        three.against(three)
    with pytest.raises(InvalidOption, match="flops: 3 is for hold'em"):
        kuhn.against(kuhn, flops=3)
