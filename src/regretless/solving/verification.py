"""Independent check of a solution with the readable best response, a recursion over the rules of the game.

Engines evaluate a strategy on arrays, most of them in compiled kernels. Here the strategy is read by the names of
information sets and actions, and `best_response` computes its value and exploitability.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from regretless.errors import InvalidFile, InvalidGame, InvalidOption, InvalidText, WouldNotFit
from regretless.forms.compile import compile_history
from regretless.forms.history import HistoryForm, Strategy
from regretless.forms.memory import available_bytes
from regretless.forms.public_poker import compile_public
from regretless.forms.tree_hash import tree_hash
from regretless.games.game import AnyGame
from regretless.games.registry import load
from regretless.solving.readable.best_response import evaluate
from regretless.solving.record import Record

__all__ = ["Verification", "rules_and_form", "verify_game"]

TOLERANCE = 1e-5  # of the largest value, at least 1: 32-bit engines are no more precise
VALUE_TOLERANCES = 100.0  # values are means over all hands and may be off where gains, which are differences, are not
HISTORY_BYTES = 1_000  # of Python objects per history: its state, its value, its entry in an information set


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The result of an independent evaluation, with what the solve reported."""

    game: str
    exploitability: float  # recomputed
    reported: float  # exploitability that the solve reported
    values: tuple[float, ...]  # recomputed; of each player
    reported_values: tuple[float, ...]
    seconds: float

    @property
    def tolerance(self) -> float:
        """How far apart rounding alone may put the two exploitabilities; values, `VALUE_TOLERANCES` times as far."""
        return TOLERANCE * max(1.0, *map(abs, self.values))

    @property
    def agrees(self) -> bool | None:
        """Whether exploitability and values are as reported, apart from rounding; None if that was not decided."""
        errors = (abs(value - reported) for value, reported in zip(self.values, self.reported_values, strict=True))
        return self.exploitability_agrees and max(errors) <= VALUE_TOLERANCES * self.tolerance

    @property
    def exploitability_agrees(self) -> bool:
        """Whether the two exploitabilities are equal within `tolerance`."""
        return abs(self.exploitability - self.reported) <= self.tolerance

    def as_json(self) -> dict[str, object]:
        """The object that `regretless verify --json` prints."""
        return {
            "game": self.game,
            "exploitability": self.exploitability,
            "reported": self.reported,
            "values": list(self.values),
            "reported_values": list(self.reported_values),
            "agrees": self.agrees,
            "seconds": self.seconds,
        }


def rules_and_form(record: Record, game: AnyGame | None = None) -> tuple[AnyGame, HistoryForm]:
    """The rules of a solved game, by default those registered under its name; a different tree is refused."""
    try:
        rules = load(record.game) if game is None else game
    except InvalidText:
        why = "is not a registered game: pass its rules as game=…"
        raise InvalidOption("game", record.game, why) from None
    form = compile_history(rules)
    solved = compile_public(rules) if record.settings.form == "public" else form
    if tree_hash(solved) != record.tree_hash:
        raise InvalidFile(f"the solution of {record.game}", f"belongs to a different tree from that of {rules.name}")
    return rules, form


def verify_game(
    record: Record,
    strategy: Strategy,
    *,
    game: AnyGame | None = None,
    available: int | None = None,
    **unknown: object,
) -> Verification:
    """Recompute the values and exploitability of a solved game's strategy from the rules.

    `game` gives the rules of a game that is not registered, such as your own.

    >>> from regretless import solve
    >>> result = solve("kuhn", iterations=100).verify()
    >>> abs(result.exploitability - result.reported) < 1e-12
    True
    """
    for option, value in unknown.items():
        raise InvalidOption(option, value, "is for hold'em spots: a game is always evaluated in full")
    needed = record.nodes * HISTORY_BYTES
    free = available_bytes() if available is None else available
    if needed > free:
        raise WouldNotFit(f"verifying {record.game}", needed=needed, available=free)
    began = time.perf_counter()
    rules, form = rules_and_form(record, game)
    try:
        result = evaluate(rules, strategy)
    except (InvalidGame, InvalidOption) as error:  # a strategy whose names or numbers were changed
        raise InvalidFile(f"the solution of {record.game}", f"does not fit the game: {error}") from None
    except RecursionError:
        moves = len(form.level) - 2
        raise InvalidGame(
            f"{rules.name} is {moves:,} moves deep, too deep for the recursion of the readable best response"
        ) from None
    return Verification(
        game=record.game,
        exploitability=result.exploitability,
        reported=record.measured.exploitability,
        values=result.values,
        reported_values=record.measured.values,
        seconds=time.perf_counter() - began,
    )
