"""Lines of play as text: what a step means, and errors that say where."""

from __future__ import annotations

import pytest

from regretless.errors import InvalidText
from regretless.holdem.spots.lines import LineStep, find_action, parse_line


def test_long_and_short_forms_are_the_same_steps() -> None:
    long = parse_line("check, bet 94, raise to 300, all-in, fold, Qs Jh 2h")
    short = parse_line("x,b94,R300, allin,f,QsJh2h")
    assert [(step.verb, step.amount, step.card) for step in long] == [(s.verb, s.amount, s.card) for s in short]
    assert [step.position for step in long[:3]] == [1, 8, 16]
    assert [str(step) for step in long[-3:]] == ["Qs", "Jh", "2h"]
    assert parse_line("  ") == ()


@pytest.mark.parametrize(
    ("step", "action"),
    [
        ("c", 0),
        ("bet 93.996", 1),
        ("bet 93.99", None),
        ("b 910", 2),
        ("all-in", 2),
        ("raise 94", None),
        ("fold", None),
        ("bet 52% (94)", 1),
        ("raise 52% (94)", None),
    ],
)
def test_a_step_finds_its_action(step: str, action: int | None) -> None:
    assert find_action(parse_line(step)[0], ["check", "bet 94", "all-in 910"]) == action


def test_a_card_is_no_action() -> None:
    card = parse_line("Th")[0]
    assert card.means(parse_line("Th")[0])
    assert not card.means(parse_line("Tc")[0])
    assert not card.means(LineStep("check"))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "check, chek",
            "line: 'check, chek' at position 8: 'chek' is neither an action nor a card; did you mean check?",
        ),
        ("bet", "'bet' needs an amount"),
        ("check 5", "'check 5' has no amount"),
        ("check, bet 50%", "an amount is in chips"),
        ("check, bet 50% (20", "is neither an action nor a card"),
        ("check, bet 20)", "is neither an action nor a card"),
        ("check/bet 20", "steps are separated by commas"),
    ],
)
def test_what_is_wrong_with_a_line(line: str, says: str) -> None:
    with pytest.raises(InvalidText) as raised:
        parse_line(line)
    assert says in str(raised.value)
