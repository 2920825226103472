"""What `regretless solve` was asked: the options, the same for games, spots and batches of spots, and the locks.

Locks come from --lock, and from --lock-from with --lock-player or --lock-line. They are added to those of the spot
file, --lock-from before --lock, and later locks win: `--lock-from a.rgl --lock-player oop --lock 'check, bet 50: fold'`
plays like a.rgl except at one decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from regretless.cli.arguments.options import SPOTS, option, read_player
from regretless.cli.arguments.outputs import check_figure, check_out, save_figure
from regretless.errors import InvalidFile, InvalidOption

if TYPE_CHECKING:
    from regretless.holdem.spots.locks import AnyLock
    from regretless.holdem.spots.spot import Spot
    from regretless.solving.options import SolveOptions
    from regretless.solving.solution import Solution

__all__ = [
    "LockFromOption", "LockLineOption", "LockOption", "LockPlayerOption", "SolveRequest", "loss_sentences",
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


@dataclass(frozen=True, kw_only=True)
class SolveRequest:
    """The options on the command line; those not given are absent."""

    options: SolveOptions
    keeps: str | None = None  # the flag that keeps what a finished run needs to be resumed, if it is given
    as_json: bool
    strategy: bool
    out: Path | None
    resume: Path | None
    plot: Path | None
    ray: str | None = None  # the cluster that has the shards
    locks: tuple[AnyLock, ...] = ()  # added to each spot's own

    @property
    def destination(self) -> Path | None:
        """The file that the command line names for the solution."""
        return self.out or self.resume

    @property
    def sharing(self) -> dict[str, object]:
        """The options that share a solve among processes or machines, which a resume needs again."""
        return {"shards": self.options.shards, "ray": self.ray}

    def check_files(self, inputs: Iterable[Path]) -> None:
        """Refuse files that cannot be written, and options about saving where nothing is saved."""
        if self.destination is None:
            if self.options.save_every is not None:
                raise InvalidOption("save_every", self.options.save_every, "needs a file to save to: add --out")
            if self.keeps is not None:
                raise InvalidOption(self.keeps, True, "needs a file to save to: add --out")
        check_out(self.out, inputs, self.plot)
        if self.plot is not None:
            check_figure("plot", self.plot)

    def locked(self, spot: Spot) -> Spot:
        """The spot with the locks of the command line added, checked before anything large is built."""
        if not self.locks:
            return spot
        from regretless.holdem.form.betting import betting_tree
        from regretless.holdem.spots.locks import LockFrom, check_lock

        tree = betting_tree(spot)
        for lock in self.locks:
            typed = not isinstance(lock, LockFrom) or bool(lock.frequencies)
            check_lock(tree, lock, "lock" if typed else "lock-line")
        return replace(spot, locks=(*spot.locks, *self.locks))

    def solving_arguments(self) -> list[str]:
        """The options for solving and saving, as command-line arguments."""
        from regretless.holdem.spots.locks import LockFrom, frequency_text, lock_text

        words: list[str] = []
        sources: set[str] = set()
        for name, value in self.options.given():
            flag = f"--{name.replace('_', '-')}"
            words += [flag] if value is True else [flag, str(value)]
        for lock in self.locks:
            if not isinstance(lock, LockFrom):
                words += ["--lock", lock_text(lock)]
                continue
            if lock.source not in sources:
                sources.add(lock.source)
                words += ["--lock-from", lock.source]
            if lock.frequencies:
                words += ["--lock", frequency_text(lock)]
                continue
            line = f"{lock.node}: {lock.hands}" if lock.hands else lock.node or ""
            words += ["--lock-line", line] if lock.player is None else ["--lock-player", lock.player]
        return words if self.out is None else [*words, "--out", str(self.out)]

    def draw(self, solutions: list[Solution]) -> None:
        """Draw the plot that --plot requests."""
        if self.plot is not None and solutions:
            from regretless.plots.convergence import convergence

            save_figure(convergence(solutions), self.plot)


def read_locks(
    texts: Sequence[str], source: Path | None, player: str | None, lines: Sequence[str]
) -> tuple[AnyLock, ...]:
    """The locks given on the command line."""
    from regretless.cards.ranges import Range
    from regretless.holdem.spots.lines import parse_line
    from regretless.holdem.spots.locks import LockFrom, parse_lock, split_line

    if source is None:
        reason = "takes its strategy from another solution: name it with --lock-from"
        if player is not None:
            raise InvalidOption("lock-player", player, reason)
        if lines:
            raise InvalidOption("lock-line", lines[0], reason)
    typed = [parse_lock(text, "lock", None if source is None else str(source)) for text in texts]
    locks: list[AnyLock] = []
    if source is not None:
        if player is None and not lines and not any(isinstance(lock, LockFrom) for lock in typed):
            reason = "is named by --lock-from, but nothing is locked: add --lock-player, --lock-line or a frequency"
            raise InvalidFile(source, reason)
        locked_player = read_player(player, "lock-player")
        if locked_player is not None:
            locks.append(LockFrom(str(source), player=locked_player))
        for text in lines:
            node, hands = split_line(text)
            parse_line(node, "lock-line")
            Range.parse(hands, "lock-line")
            locks.append(LockFrom(str(source), node=node, hands=hands))
    return (*locks, *typed)


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
