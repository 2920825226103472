"""Locks as a line of text: "LINE: HANDS = ACTION PROBABILITY, ACTION PROBABILITY, …".

    check: bet 50                          after a check, always bet 50, with every hand
    check: AA, KK = bet 50                 only with these hands
    check: AA, KK = bet 50 70%, check 0.3  probabilities in percent or from 0 to 1
    check: bet 50 70%, check               one action without a number takes the rest
    : check                                the first decision

HANDS is a range; without it, a lock applies to every hand. Spot files use the same text in `locks = ["…"]`.
"""

from __future__ import annotations

import re

from regretless.errors import InvalidText, RegretlessError
from regretless.holdem.spots.lines import parse_line
from regretless.holdem.spots.locks import CLOSE_TO_ONE, AnyLock, Lock, LockFrom
from regretless.holdem.spots.sizes import number_text

__all__ = ["lock_text", "parse_lock", "parse_strategy", "split_line"]

_NUMBER = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(%?)")


def parse_lock(text: str, field: str = "lock") -> Lock:
    """Read a lock; `field` names the text in errors.

    >>> parse_lock("check: AA, KK = bet 50 70%, check")
    Lock(node='check', strategy={'bet 50': 0.7, 'check': 0.3}, hands='AA, KK')
    >>> parse_lock("check bet 50")
    Traceback (most recent call last):
    regretless.errors.InvalidText: lock: 'check bet 50': has no ':' after the line; ': check' is the first decision
    """
    if ":" not in text:
        raise InvalidText(field, text, None, "has no ':' after the line; ': check' is the first decision")
    node, rest = split_line(text)
    hands, equals, played = rest.rpartition("=")
    if equals and not hands.strip():
        raise InvalidText(field, text, text.index("=") + 1, "no hands before '='")
    lock = Lock(node, parse_strategy(played, field, whole=text), hands.strip())
    _ = lock.steps, lock.range
    return lock


def split_line(text: str) -> tuple[str, str]:
    """The line of a lock, and the text after its colon.

    >>> split_line("check, bet 50: AA"), split_line("check")
    (('check, bet 50', 'AA'), ('check', ''))
    """
    node, _, rest = text.partition(":")
    return node.strip(), rest.strip()


def parse_strategy(text: str, field: str, whole: str | None = None) -> dict[str, float]:
    """Probabilities of actions; `whole` is the text shown in errors."""
    shown = text if whole is None else whole
    found: dict[str, float] = {}
    without: list[str] = []
    for part in text.split(","):
        action, share = _action(part.strip(), shown, field)
        if action in found or action in without:
            raise InvalidText(field, shown, None, f"names {action!r} twice")
        if share is None:
            without.append(action)
        else:
            found[action] = share
    total = sum(found.values())
    if len(without) > 1 or total > 1 + CLOSE_TO_ONE:
        reason = (
            f"{' and '.join(map(repr, without))} need probabilities" if len(without) > 1 else "adds up to more than 1"
        )
        raise InvalidText(field, shown, None, reason)
    return found | {action: round(1.0 - total, 12) for action in without}


def _action(part: str, text: str, field: str) -> tuple[str, float | None]:
    """An action and its probability, if it has one: `bet 50` is only an action, `bet 50 0.7` has a probability."""
    head, _, last = part.rpartition(" ")
    number = _NUMBER.fullmatch(last)
    if head.strip() and number is not None and _is_action(head):
        share = float(number[1]) / (100 if number[2] else 1)
        if share <= 1:
            return head.strip(), share
        if not _is_action(part):
            raise InvalidText(field, text, None, f"{last!r} is not a probability such as 0.7 or 70%")
    if not part or not _is_action(part):
        raise InvalidText(field, text, None, f"{part!r} is not an action with a probability, such as 'bet 50 70%'")
    return part, None


def _is_action(text: str) -> bool:
    try:
        steps = parse_line(text)
    except RegretlessError:
        return False
    return len(steps) == 1 and steps[0].card is None


def lock_text(lock: AnyLock) -> str:
    """A lock as text; unless it comes from another solution, `parse_lock` reads it back.

    >>> lock_text(Lock("check", {"bet 50": 0.7, "check": 0.3}, "AA")), lock_text(LockFrom("other.rgl", player="oop"))
    ('check: AA = bet 50 0.7, check 0.3', 'every decision of oop as in other.rgl')
    """
    if isinstance(lock, LockFrom):
        held = (
            f"{lock.node}: {lock.hands or 'every hand'}" if lock.player is None else f"every decision of {lock.player}"
        )
        return f"{held} as in {lock.source}"
    played = ", ".join(f"{action} {number_text(share)}" for action, share in lock.strategy.items())
    return f"{lock.node}: {lock.hands} = {played}" if lock.hands else f"{lock.node}: {played}"
