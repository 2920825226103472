"""Every wrong field of a spot at once, each in the words of its own error."""

from __future__ import annotations

from typing import Any

from regretless.holdem.field_errors import MAX_ERRORS, FieldError, check_fields

FIELDS: dict[str, Any] = {
    "board": "Ks 9h 4h",
    "pot": 60,
    "stack": 240,
    "oop": {"range": "AK"},
    "ip": {"range": "QQ"},
    "bets": {"bet": "50%"},
}


def errors(**fields: object) -> list[FieldError]:
    return list(check_fields(FIELDS | fields).errors)


def test_a_correct_spot_is_read_once() -> None:
    checked = check_fields(FIELDS)
    assert checked.spot is not None
    assert (checked.spot.pot, checked.errors, checked.warnings) == (60.0, (), ())


def test_all_fields_are_named_at_once() -> None:
    bets = {"bet": "half", "river": {"raise": "2y"}}
    locks = [{"node": "jump", "strategy": {"check": 1}}]
    found = errors(board="Ks Kx", stack=-1, ip={}, bets=bets, locks=locks)
    fields = [error.field for error in found]
    assert sorted(fields) == ["bets.bet", "bets.river.raise", "board", "ip.range", "locks[0].node", "stack"]
    by_field = {error.field: error for error in found}
    assert by_field["board"].position == 5
    assert by_field["stack"].message == "-1 must be above 0"


def test_what_a_wrong_board_causes_is_not_shown_beside_it() -> None:
    """The board that stands in for it blocks the range, which is no mistake of the user's."""
    assert [error.field for error in errors(board="Ks Kx", oop={"range": "7d2c"})] == ["board"]
    (error,) = errors(oop={"range": "Ks9h"})
    assert (error.field, "blocked by the board" in error.message) == ("oop.range", True)


def test_the_line_of_a_lock_is_followed_in_the_tree() -> None:
    locks = [{"node": "", "strategy": {"check": 1}}, {"node": "check, raise 30", "strategy": {"check": 1}}]
    (error,) = errors(locks=locks)
    assert error.field == "locks[1].node"


def test_warnings_are_shown_only_of_a_spot_without_errors() -> None:
    rules = {"min_bet": 50}
    assert len(check_fields(FIELDS | {"rules": rules}).warnings) == 1
    assert check_fields(FIELDS | {"rules": rules, "pot": "x"}).warnings == ()


def test_a_field_that_cannot_be_replaced_ends_the_search() -> None:
    found = errors(**{f"unknown{number}": 1 for number in range(MAX_ERRORS + 5)})
    assert 1 <= len(found) <= MAX_ERRORS
