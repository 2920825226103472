"""What `regretless solve` or `train` was asked for: how to solve, and what to print, save and draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.cli.arguments.figures import check_figure, save_figure
from regretless.cli.arguments.outputs import check_out
from regretless.cli.solving.locks import lock_arguments
from regretless.errors import InvalidOption

if TYPE_CHECKING:
    from regretless.holdem.spots.locks import AnyLock
    from regretless.solving.options import SolveOptions
    from regretless.solving.solution import Solution

__all__ = ["SolveRequest"]


@dataclass(frozen=True, kw_only=True)
class SolveRequest:
    """The command line of a solve, the same for games, spots and batches of spots; None where an option is missing."""

    options: SolveOptions
    keep_option: str | None = None  # keep_regrets or keep_memories, if it is set
    as_json: bool
    print_strategy: bool  # whether to print the whole strategy
    out: Path | None
    resume: Path | None
    plot: Path | None
    ray: str | None = None  # the address of the Ray cluster that solves the shards
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
        """Refuse files that cannot be written, and options about saving if nothing is saved."""
        if self.destination is None:
            if self.options.save_every is not None:
                raise InvalidOption("save_every", self.options.save_every, "needs a file to save to: add --out")
            if self.keep_option is not None:
                raise InvalidOption(self.keep_option, True, "needs a file to save to: add --out")
        check_out(self.out, inputs, self.plot)
        if self.plot is not None:
            check_figure("plot", self.plot)

    def solving_arguments(self) -> list[str]:
        """The options for solving and saving, as command-line arguments."""
        words: list[str] = []
        for name, value in self.options.given():
            words.append(f"--{name.replace('_', '-')}")
            if value is not True:
                words.append(str(value))
        words += lock_arguments(self.locks)
        return words if self.out is None else [*words, "--out", str(self.out)]

    def draw(self, solutions: list[Solution]) -> None:
        """Draw the plot of --plot."""
        if self.plot is not None and solutions:
            from regretless.plots.convergence import convergence

            save_figure(convergence(solutions), self.plot)
