"""Locks from the command line: --lock, and --lock-from with --lock-player or --lock-line.

They are added to those of the spot file, --lock-from before --lock, and later locks win: `--lock-from a.rgl
--lock-player oop --lock 'check, bet 50: fold'` plays like a.rgl except at one decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from regretless.cli.arguments.options import SPOTS, option, read_player
from regretless.errors import InvalidFile, InvalidOption

if TYPE_CHECKING:
    from regretless.holdem.spots.locks import AnyLock
    from regretless.holdem.spots.spot import Spot

__all__ = [
    "LockFromOption",
    "LockLineOption",
    "LockOption",
    "LockPlayerOption",
    "add_locks",
    "loss_sentences",
    "read_locks",
]

LockOption = Annotated[
    list[str] | None,
    option(
        "Lock a decision, given as line, hands (all if left out) and actions: "
        "[cyan]'check: AA, KK = bet 50 70%, check'[/cyan]; or, with --lock-from, a frequency of the range, hands that "
        "lose least first: [cyan]'check: bets 60%'[/cyan]. May be repeated.",
        SPOTS,
        metavar="LOCK",
    ),
]
LockFromOption = Annotated[
    Path | None,
    option("Lock decisions to another solution's strategy, with --lock-player or --lock-line.", SPOTS, metavar="FILE"),
]
LockPlayerOption = Annotated[
    str | None, option("With --lock-from, lock every decision of this player.", SPOTS, metavar="oop|ip")
]
LockLineOption = Annotated[
    list[str] | None,
    option(
        "With --lock-from, lock this node, for all hands or for these. May be repeated.", SPOTS, metavar="LINE[: HANDS]"
    ),
]


def read_locks(
    texts: Sequence[str], source: Path | None, player: str | None, lines: Sequence[str]
) -> tuple[AnyLock, ...]:
    """The locks given on the command line."""
    from regretless.cards.ranges import Range
    from regretless.holdem.spots.lines import parse_line
    from regretless.holdem.spots.locks import LockFrom, parse_lock, split_line

    given = [("lock-player", player)] * (player is not None) + [("lock-line", line) for line in lines]
    if source is None and given:
        raise InvalidOption(*given[0], "takes its strategy from another solution: name it with --lock-from")
    typed = [parse_lock(text, "lock", None if source is None else str(source)) for text in texts]
    locks: list[AnyLock] = []
    if source is not None:
        if not given and not any(isinstance(lock, LockFrom) for lock in typed):
            reason = "is named by --lock-from, but nothing is locked: add --lock-player, --lock-line or a frequency"
            raise InvalidFile(source, reason)
        whose = read_player(player, "lock-player")
        if whose is not None:
            locks.append(LockFrom(str(source), player=whose))
        for text in lines:
            node, hands = split_line(text)
            parse_line(node, "lock-line")
            Range.parse(hands, "lock-line")
            locks.append(LockFrom(str(source), node=node, hands=hands))
    return (*locks, *typed)


def add_locks(spot: Spot, locks: Sequence[AnyLock]) -> Spot:
    """The spot with these locks added, checked before anything large is built."""
    from regretless.holdem.form.betting import betting_tree
    from regretless.holdem.spots.locks import LockFrom, check_lock

    if not locks:
        return spot
    tree = betting_tree(spot)
    for lock in locks:
        typed = not isinstance(lock, LockFrom) or bool(lock.frequencies)
        check_lock(tree, lock, "lock" if typed else "lock-line")
    return replace(spot, locks=(*spot.locks, *locks))


def loss_sentences(locks: Sequence[AnyLock]) -> list[str]:
    """What each lock to a frequency costs where it applies; a lock on several runouts has no single number."""
    from regretless.errors import RegretlessError
    from regretless.holdem.locking import lock_effect
    from regretless.holdem.solution import SpotSolution
    from regretless.holdem.spots.locks import LockFrom, frequency_text

    sentences = []
    for lock in locks:
        if not isinstance(lock, LockFrom) or not lock.frequencies:
            continue
        solution = SpotSolution.load(lock.source)
        try:
            node = solution.reader.find(lock.node or "")
        except RegretlessError:
            continue
        lost = lock_effect(solution.reader, lock, node).ev_lost
        share = 100 * lost / solution.spot.pot
        sentences.append(f"{frequency_text(lock)}: loses {lost:.3g} chips there ({share:.2g} % of the pot)")
    return sentences
