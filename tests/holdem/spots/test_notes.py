"""What a spot carries for people: positions, the big blind, and ranges as they were typed."""

from __future__ import annotations

from typing import Any

import pytest

from regretless.errors import RegretlessError
from regretless.holdem import Spot
from regretless.holdem.studies.plan import StudyPlan

FIELDS: dict[str, Any] = {
    "board": "Ks 7d 2c",
    "pot": 55,
    "stack": 975,
    "big_blind": 10,
    "raiser": "ip",
    "oop": {"range": "22,33,44+, A2s, A3s", "name": "BB"},
    "ip": {"range": " AKs,AQs, KK+", "name": "BTN"},
    "bets": {"bet": "33"},
}


def test_notes_are_read_and_written() -> None:
    spot = Spot.from_mapping(FIELDS)
    assert (spot.position_of("oop"), spot.position_of("ip"), spot.big_blind, spot.raiser) == ("BB", "BTN", 10, "ip")
    text = spot.to_toml()
    assert 'range = "22,33,44+, A2s, A3s"\nname = "BB"' in text
    assert 'range = "AKs,AQs, KK+"\nname = "BTN"' in text
    again = Spot.parse(text)
    assert again.to_toml() == text
    assert (again.positions, again.big_blind, again.raiser) == (("BTN", "BB"), 10, "ip")


def test_a_spot_without_notes_says_oop_and_ip() -> None:
    bare = {name: value for name, value in FIELDS.items() if name not in ("big_blind", "raiser")}
    spot = Spot.from_mapping(bare | {"oop": {"range": "QQ"}, "ip": {"range": "JJ"}})
    assert (spot.position_of("oop"), spot.position_of("ip"), spot.big_blind) == ("OOP", "IP", None)
    assert "name" not in spot.to_toml()


def test_notes_make_no_other_spot() -> None:
    spot = Spot.from_mapping(FIELDS)
    plain = FIELDS | {
        "oop": {"range": "22+, A3s-A2s"},
        "ip": {"range": "AKs-AQs, KK+"},
        "big_blind": 5,
        "raiser": "oop",
    }
    other = Spot.from_mapping(plain)
    assert spot == other
    assert spot.unannotated().to_toml() == other.unannotated().to_toml()


def test_positions_are_given_in_python_too() -> None:
    spot = Spot(board="Ks 7d 2c", pot=55, stack=975, oop=FIELDS["oop"], ip="JJ", bets={"bet": "33"})
    assert spot.positions == ("", "BB")


def test_studies_that_differ_only_in_notes_have_the_same_digest() -> None:
    def study(notes: str, hands: str) -> StudyPlan:
        lines = ['flops = ["Ks7d2c"]', notes, "pot = 55", "stack = 100", f'oop.range = "{hands}"', 'ip.range = "JJ"']
        return StudyPlan.parse("\n".join([*lines, 'bets.bet = "50%"']))

    assert study("", "22, 33").digest == study("big_blind = 10\nraiser = 'ip'", "33-22").digest
    assert study("", "22, 33").digest != study("", "22, 44").digest


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"big_blind": 0}, "big_blind: 0 must be above 0"),
        ({"big_blind": "1"}, "big_blind: '1' must be a number"),
        ({"raiser": "BTN"}, "raiser: 'BTN' is neither oop nor ip"),
        ({"oop": {"range": "QQ", "name": "B" * 21}}, "oop.name: .* at most 20 printable characters"),
        ({"oop": {"range": "QQ", "nam": "BB"}}, "oop.nam: is not a field of .oop.; did you mean name"),
        ({"rules": {"rake": "5"}}, "rules.rake: '5' must be a number"),
        ({"rules": {"rake": "120%"}}, "rules.rake: 1.2 must be from 0 to 1"),
    ],
)
def test_a_wrong_note_is_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(RegretlessError, match=message):
        Spot.from_mapping(FIELDS | changed)


def test_rake_is_a_share_or_a_percentage() -> None:
    assert Spot.from_mapping(FIELDS | {"rules": {"rake": "5%"}}).rules.rake == 0.05
    assert Spot.from_mapping(FIELDS | {"rules": {"rake": " 4.75 %"}}).rules.rake == 0.0475


def test_a_spot_without_a_board_is_not_taken_for_a_game() -> None:
    with pytest.raises(RegretlessError, match="board: is missing from the spot"):
        Spot.from_mapping({name: value for name, value in FIELDS.items() if name != "board"})
