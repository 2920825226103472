"""A table of commands: what each takes and answers, and how arguments are read.

A handler is given the session and its arguments, and returns the text of the answer; most change something and answer
`COMMAND ok!`. What is wrong raises a `RegretlessError`, which is answered as `ERROR: ` and its sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from regretless.cards.hands import HAND_COUNT
from regretless.errors import RegretlessError
from regretless.forms.history import FloatArray
from regretless.holdem.spots.sizes import exact
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.upi.formatting import from_row
from regretless.upi.session import Amounts, Session

__all__ = [
    "Command", "CommandTable", "read_amounts", "read_number", "read_player", "read_row", "read_solution_file",
    "read_whole",
]  # fmt: skip

CLOSED = "the .cfr format of PioSOLVER is closed: solutions are saved to and read from .rgl files"
POSITIONS: dict[str, PlayerName] = {"OOP": "oop", "IP": "ip"}
Handler = Callable[[Session, list[str]], str | None]


@dataclass(frozen=True)
class Command:
    """One command."""

    name: str
    usage: str  # its arguments
    handler: Handler  # its answer; None is "COMMAND ok!"
    least: int  # arguments
    most: float

    def answer(self, session: Session, arguments: list[str]) -> str:
        if not self.least <= len(arguments) <= self.most:
            raise RegretlessError(f"the usage is: {self.name} {self.usage}".rstrip())
        text = self.handler(session, arguments)
        return f"{self.name} ok!" if text is None else text


class CommandTable(dict[str, Command]):
    """Commands by name."""

    def enter(self, usage: str = "", *names: str) -> Callable[[Handler], Handler]:
        """Enter a handler: `[ARGUMENT]` may be omitted, and of `ARGUMENT…` there may be any number."""

        def enter(handler: Handler) -> Handler:
            words = usage.split()
            most = math.inf if usage.endswith("…") else len(words)
            for name in names or (handler.__name__,):
                self[name] = Command(name, usage, handler, sum(word[0] != "[" for word in words), most)
            return handler

        return enter


def read_number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RegretlessError(f"{what}: {text[:40]!r} is not a number")
    return value


def read_whole(text: str, what: str) -> int:
    value = read_number(text, what)
    if value != int(value) or value < 0:
        raise RegretlessError(f"{what}: {text[:40]!r} is not a whole number of at least 0")
    return int(value)


def read_player(text: str) -> PlayerName:
    if text.upper() not in POSITIONS:
        raise RegretlessError(f"{text[:40]!r} is neither OOP nor IP")
    return POSITIONS[text.upper()]


def read_row(texts: Sequence[str], what: str) -> FloatArray:
    """A number for each of our hands."""
    if len(texts) != HAND_COUNT:
        raise RegretlessError(f"{what}: {len(texts):,} numbers, where {HAND_COUNT:,} are needed")
    return from_row([read_number(text, what) for text in texts])


def read_amounts(texts: Sequence[str]) -> Amounts:
    amounts = tuple(exact(read_number(word, "amount")) for text in texts for word in text.split())
    if any(amount < 0 for amount in amounts):
        raise RegretlessError("amount: is below 0")
    return amounts


def read_solution_file(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".rgl":
        raise RegretlessError(CLOSED if path.suffix.lower() == ".cfr" else f"{text}: give a file that ends in .rgl")
    return path
