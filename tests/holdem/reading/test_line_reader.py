"""Lines of play: short forms, cards that a line leaves out, and what is wrong with a line that leads nowhere."""

from __future__ import annotations

import pytest

from regretless.cards.deck import parse_board
from regretless.errors import InvalidText
from regretless.holdem.solution import SpotSolution


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check, check, check", "a river card is expected before 'check', such as 2c"),
        ("check, check, bet 30", "a river card is expected before 'bet 30'"),
        ("check, bet 30, call, x, x", "a river card is expected before 'check'"),
    ],
)
def test_a_card_that_a_line_leaves_out_is_asked_for(turn: SpotSolution, line: str, message: str) -> None:
    with pytest.raises(InvalidText, match=message):
        turn.node(line)
    with pytest.raises(InvalidText, match=message):
        turn.runouts(line)
    assert turn.node("check, check, check", parse_board("Ac")).line == "check, check, Ac, check"
    assert turn.node("check, check").kind == "chance"


def test_short_forms(turn: SpotSolution) -> None:
    assert turn.node("x, c").kind == "chance"
    assert turn.node("x, x, 2c, x").line == "check, check, 2c, check"
    assert turn.node("all-in").player == "ip" if "all-in 60" in turn.root.actions else turn.root.actions


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("bet 33", "no 'bet 33' here; choose from check, bet 30"),
        ("Ac", "no card is dealt here"),
        ("check, check, Kh", "already on the board"),
        ("check, check, zz", "neither an action nor a card"),
        ("chek", "neither an action nor a card; did you mean check?"),
        ("check check", "neither an action nor a card; steps are separated by commas"),
        ("check, check, 10h", "neither an action nor a card; ten is T"),
        ("bet 30, fold, check", "the hand is over"),
    ],
)
def test_an_invalid_line_says_where_it_fails(turn: SpotSolution, line: str, reason: str) -> None:
    with pytest.raises(InvalidText, match="line: ") as caught:
        turn.node(line)
    assert reason in str(caught.value)
