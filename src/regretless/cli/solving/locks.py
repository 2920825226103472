"""The locks that a command line adds to a spot, from their options to the spot with its locks.

Locks come from --lock, and from --lock-from with --lock-player or --lock-line. They are added to those of the spot
file, --lock-from before --lock, and later locks win: `--lock-from a.rgl --lock-player oop --lock 'check, bet 50: fold'`
plays like a.rgl except at one decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from regretless.cli.arguments.options import SPOTS, option
from regretless.cli.arguments.values import read_player
from regretless.cli.terminal.consoles import note
from regretless.errors import InvalidFile, InvalidOption, RegretlessError

if TYPE_CHECKING:
    from regretless.holdem.spots.locks import AnyLock
    from regretless.holdem.spots.spot import Spot

__all__ = [
    "LockFromOption", "LockLineOption", "LockOption", "LockPlayerOption", "add_locks", "lock_arguments", "print_losses",
    "read_locks",
]  # fmt: skip

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
    """The locks that --lock (`texts`), --lock-from (`source`), --lock-player and --lock-line add, in that order."""
    from regretless.holdem.spots.locks import LockFrom, parse_lock

    if source is None:
        _refuse_without_source(player, lines)
        return tuple(parse_lock(text, "lock") for text in texts)
    typed = [parse_lock(text, "lock", str(source)) for text in texts]
    if player is None and not lines and not any(isinstance(lock, LockFrom) for lock in typed):
        reason = "is named by --lock-from, but nothing is locked: add --lock-player, --lock-line or a frequency"
        raise InvalidFile(source, reason)
    return (*_copied_locks(str(source), player, lines), *typed)


def _refuse_without_source(player: str | None, lines: Sequence[str]) -> None:
    """Refuse the options that need --lock-from."""
    reason = "takes its strategy from another solution: name it with --lock-from"
    if player is not None:
        raise InvalidOption("lock-player", player, reason)
    if lines:
        raise InvalidOption("lock-line", lines[0], reason)


def _copied_locks(source: str, player: str | None, lines: Sequence[str]) -> list[AnyLock]:
    """The locks of --lock-player and --lock-line, which copy the strategy of another solution."""
    from regretless.cards.ranges import Range
    from regretless.holdem.spots.lines import parse_line
    from regretless.holdem.spots.locks import LockFrom, split_line

    locks: list[AnyLock] = []
    locked_player = read_player(player, "lock-player")
    if locked_player is not None:
        locks.append(LockFrom(source, player=locked_player))
    for text in lines:
        node, hands = split_line(text)
        parse_line(node, "lock-line")
        Range.parse(hands, "lock-line")
        locks.append(LockFrom(source, node=node, hands=hands))
    return locks


def add_locks(spot: Spot, locks: Sequence[AnyLock]) -> Spot:
    """The spot with these locks after its own, checked against its betting tree before anything large is built."""
    if not locks:
        return spot
    from regretless.holdem.form.betting import betting_tree
    from regretless.holdem.spots.locks import LockFrom, check_lock

    tree = betting_tree(spot)
    for lock in locks:
        is_copy = isinstance(lock, LockFrom) and not lock.frequencies
        check_lock(tree, lock, "lock-line" if is_copy else "lock")
    return replace(spot, locks=(*spot.locks, *locks))


def lock_arguments(locks: Sequence[AnyLock]) -> list[str]:
    """These locks as command-line arguments."""
    from regretless.holdem.spots.locks import LockFrom, frequency_text, lock_text

    words: list[str] = []
    named_sources: set[str] = set()
    for lock in locks:
        if not isinstance(lock, LockFrom):
            words += ["--lock", lock_text(lock)]
            continue
        if lock.source not in named_sources:
            named_sources.add(lock.source)
            words += ["--lock-from", lock.source]
        if lock.frequencies:
            words += ["--lock", frequency_text(lock)]
        elif lock.player is not None:
            words += ["--lock-player", lock.player]
        else:
            words += ["--lock-line", f"{lock.node}: {lock.hands}" if lock.hands else lock.node or ""]
    return words


def print_losses(locks: Sequence[AnyLock]) -> None:
    """Print what each lock to a frequency costs at its node; a lock on several runouts has no single number."""
    from regretless.holdem.locking import lock_effect
    from regretless.holdem.solution import SpotSolution
    from regretless.holdem.spots.locks import LockFrom, frequency_text

    for lock in locks:
        if not isinstance(lock, LockFrom) or not lock.frequencies:
            continue
        solution = SpotSolution.load(lock.source)
        try:
            node = solution.reader.find(lock.node or "")
        except RegretlessError:  # a line on several runouts
            continue
        loss = lock_effect(solution.reader, lock, node).ev_lost
        percent = 100 * loss / solution.spot.pot
        note(f"{frequency_text(lock)}: loses {loss:.3g} chips there ({percent:.2g} % of the pot)")
