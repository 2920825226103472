"""The options of `regretless solve`, the same for games, spots and batches of spots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.cli.arguments.locks import add_locks
from regretless.cli.arguments.outputs import check_figure, check_out, save_figure
from regretless.errors import InvalidOption

if TYPE_CHECKING:
    from regretless.holdem.spots.locks import AnyLock
    from regretless.holdem.spots.spot import Spot
    from regretless.solving.options import SolveOptions
    from regretless.solving.solution import Solution

__all__ = ["SolveRequest"]


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
    locks: tuple[AnyLock, ...] = ()  # added to each spot's own

    @property
    def destination(self) -> Path | None:
        """The file that the command line names for the solution."""
        return self.out or self.resume

    def check_files(self, inputs: Iterable[Path]) -> None:
        """Refuse files that the answers cannot be written to, and options about a file that there is not."""
        if self.destination is None:
            if self.options.save_every is not None:
                raise InvalidOption("save_every", self.options.save_every, "needs a file to save to: add --out")
            if self.keeps is not None:
                raise InvalidOption(self.keeps, True, "needs a file to save to: add --out")
        check_out(self.out, inputs, self.plot)
        if self.plot is not None:
            check_figure("plot", self.plot)

    def locked(self, spot: Spot) -> Spot:
        """The spot with the locks of the command line."""
        return add_locks(spot, self.locks)

    def solving_arguments(self) -> list[str]:
        """The options for solving and saving, as command-line arguments."""
        from regretless.holdem.spots.locks import LockFrom, frequency_text, lock_text

        words: list[str] = []
        for name, value in self.options.given():
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
        for lock in self.locks:
            if not isinstance(lock, LockFrom):
                words += ["--lock", lock_text(lock)]
                continue
            if lock.source not in words:
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
