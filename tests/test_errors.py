"""Messages are always one line of bounded length, whatever they quote."""

from __future__ import annotations

import pytest

from regretless.errors import InvalidFile, InvalidGame, InvalidOption, InvalidText, RegretlessError


@pytest.mark.parametrize(
    "error",
    [
        RegretlessError("x" * 10**6),
        InvalidGame("bad \x1b[31m\n" * 1000),
        InvalidFile("a" * 5000, "b" * 5000),
        InvalidOption("pot", 10**5000, "must be a number"),
        InvalidOption("pot", -(10**5000), "must be a number"),
        InvalidOption("pot", list(range(10**5)), "must be a number"),
        InvalidOption("pot", {"a": {"b": ["x" * 10**5] * 1000}}, "must be a number"),
        InvalidOption("pot", "y" * 10**6, "must be a number"),
        InvalidText("bet", "5" * 10**6, 10**5, "'" + "5" * 10**6 + "' is too large"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_messages_are_bounded(error: RegretlessError) -> None:
    message = str(error)
    assert 0 < len(message) < 2000
    assert message.isprintable()


def test_short_messages_are_as_written() -> None:
    assert str(InvalidOption("pot", -5, "must be above 0")) == "pot: -5 must be above 0"
    assert str(InvalidOption("oop", [1, 2], "must be a table")) == "oop: [1, 2] must be a table"
