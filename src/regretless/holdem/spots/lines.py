"""Lines of play as text: "check, bet 94, call, Th, check": actions with amounts, and the cards that begin streets.

An amount is the player's total on this street after the action: `raise 300` raises to 300; `bet 33% (30)`, as the
command names actions, is `bet 30`. Short forms are `x` check, `c` check or call, `f` fold, `b94`, `r300` and `a`.
Cards dealt together may be written together: `Qs Jh 2h`. A line that leads to a node names every card; the line of a
lock may omit cards and then applies on every runout.

>>> [str(step) for step in parse_line("x, b94, r 300, a, c, Th 2c, bet 33% (30)")]
['check', 'bet 94', 'raise 300', 'all-in', 'call', 'Th', '2c', 'bet 30']
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from regretless.cards.deck import CARD_PATTERN, card_text, parse_card
from regretless.errors import InvalidOption, InvalidText
from regretless.holdem.spots.sizes import exact, number_text
from regretless.spelling import did_you_mean

__all__ = ["LineStep", "find_action", "no_such_action", "parse_line"]

CLOSE = 0.005  # chips; amounts closer than this are equal, so that a rounded label finds its action

_ACTION = re.compile(
    r"(?P<verb>check|call|fold|bet|raise|all-?in|x|c|f|b|r|a)"
    r"(?: *(?:to )? *(?P<share>[\d.]+% *\()?(?P<amount>\d+(?:\.\d*)?|\.\d+)(?(share)\)) *)?"
)
_CARD = re.compile(CARD_PATTERN)
_CARDS = re.compile(rf"{CARD_PATTERN}(?: *{CARD_PATTERN}){{1,2}}")  # a flop, or two streets after an all-in
_VERBS = {"x": "check", "c": "call", "f": "fold", "b": "bet", "r": "raise", "a": "all-in", "allin": "all-in"}
_NAMES = ("check", "call", "fold", "bet", "raise", "all-in")
_WITH_AMOUNT = ("bet", "raise")


class LineStep(NamedTuple):
    """One action of a line, or one card. A named tuple, because a large betting tree creates hundreds of thousands."""

    verb: str  # "check", "call", "fold", "bet", "raise", "all-in"; "deal" for a card
    amount: float | None = None  # chips on this street; None if there is none or none was given
    card: int | None = None
    position: int = 1  # in the text it was read from, from 1
    either: bool = False  # `c`: check or call, whichever is possible

    def __str__(self) -> str:
        if self.card is not None:
            return card_text(self.card)
        return self.verb if self.amount is None else f"{self.verb} {number_text(exact(self.amount))}"

    @property
    def as_typed(self) -> str:
        """The step as it may be typed in a line: "c" may be a check or a call."""
        return "c" if self.either else str(self)

    def means(self, other: LineStep) -> bool:
        """Whether this step, as typed, means that action of the tree.

        >>> all_in = LineStep("all-in", 200.0)
        >>> LineStep("bet", 200.0).means(all_in), LineStep("all-in").means(all_in), LineStep("bet", 100.0).means(all_in)
        (True, True, False)
        """
        if self.card is not None or other.card is not None:
            return self.card == other.card
        if self.either:
            return other.verb in ("check", "call")
        wagers = ("bet", "raise", "all-in")
        if self.verb in wagers and other.verb in wagers:
            if self.amount is None or other.amount is None:
                return self.verb == other.verb
            same_verb = self.verb == other.verb or "all-in" in (self.verb, other.verb)
            return same_verb and abs(self.amount - other.amount) < CLOSE
        return self.verb == other.verb


def parse_line(text: str, field: str = "line") -> tuple[LineStep, ...]:
    """Read a line; `field` names the text in errors. Empty text is the root.

    >>> parse_line("check, jump")
    Traceback (most recent call last):
    regretless.errors.InvalidText: line: 'check, jump' at position 8: 'jump' is neither an action nor a card
    """
    if not isinstance(text, str):
        raise InvalidOption(field, text, "must be text, such as 'check, bet 50'")
    if not text.strip():
        return ()
    steps = []
    start = 0
    for part in text.split(","):
        position = start + len(part) - len(part.lstrip()) + 1
        if _CARDS.fullmatch(part.strip()):
            steps += [_read(card, text, field, position) for card in _CARD.findall(part)]
        else:
            steps.append(_read(part.strip(), text, field, position))
        start += len(part) + 1
    return tuple(steps)


def find_action(step: LineStep, labels: Sequence[str]) -> int | None:
    """Which of a node's actions a step means, if any.

    >>> find_action(parse_line("b94")[0], ["check", "bet 94", "all-in 910"])
    1
    """
    for index, label in enumerate(labels):
        if step.means(_read(label, label, "label", 1)):
            return index
    return None


def no_such_action(field: str, text: str, step: LineStep, labels: Sequence[str]) -> InvalidText:
    """The error for a step that a node does not have."""
    advice = f"choose from {', '.join(labels)}" if labels else "the hand is over"
    return InvalidText(field, text, step.position, f"no {str(step)!r} here; {advice}")


def _hint(part: str) -> str:
    """What an unreadable part of a line probably means.

    >>> _hint("chek"), _hint("check/bet 20"), _hint("10h"), _hint("bet 50%"), _hint("jump")
    ('; did you mean check?', '; steps are separated by commas', '; ten is T', '; an amount is in chips: bet 30', '')
    """
    words = re.findall(r"[^\s/>;-]+", part.lower().replace("all-in", "allin"))
    if part.endswith("%") and _ACTION.fullmatch(part.lower().removesuffix("%")):
        return "; an amount is in chips: bet 30"
    if part.startswith("10") and _CARD.fullmatch(f"T{part[2:]}"):
        return "; ten is T"
    if len(words) > 1 and all(_ACTION.fullmatch(word) or _CARD.fullmatch(word) or word.isdecimal() for word in words):
        return "; steps are separated by commas"
    return did_you_mean(words[0], _NAMES) if words and words[0] not in _NAMES else ""


def _read(part: str, text: str, field: str, position: int) -> LineStep:
    if _CARD.fullmatch(part):
        return LineStep("deal", card=parse_card(part), position=position)
    match = _ACTION.fullmatch(part.lower())
    if match is None:
        raise InvalidText(field, text, position, f"{part!r} is neither an action nor a card{_hint(part)}")
    verb = _VERBS.get(match["verb"], match["verb"])
    amount = float(match["amount"]) if match["amount"] else None
    if (verb in _WITH_AMOUNT) != (amount is not None) and verb != "all-in":
        raise InvalidText(field, text, position, f"{part!r} {'needs an' if amount is None else 'has no'} amount")
    return LineStep(verb, amount, position=position, either=match["verb"] == "c")
