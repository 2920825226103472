"""Commands that the user may run next, quoted for a shell, such as the one that resumes an interrupted solve."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.cli.terminal.consoles import for_people

if TYPE_CHECKING:
    from regretless.solving.solution import Solution

__all__ = ["command_line", "print_commands", "print_unfinished", "resume_command"]


def command_line(*words: str, **options: object) -> str:
    """A `regretless` command; options that are None or False are left out, and those that are True take no value.

    >>> command_line("price", "a game.rgl", resolve=True, safe=False, flops=None, threads=2)
    "regretless price 'a game.rgl' --resolve --threads 2"
    """
    line = ["regretless", *words]
    for name, value in options.items():
        if value is None or value is False:
            continue
        line.append(f"--{name}")
        if value is not True:
            line.append(str(value))
    return shlex.join(line)


def resume_command(path: Path, command: str = "solve", **options: object) -> str:
    """The command that resumes a saved solve, with `options` as in `command_line`.

    >>> resume_command(Path("leduc.rgl"), shards=2)
    'regretless solve --resume leduc.rgl --shards 2'
    """
    return command_line(command, resume=path, **options)


def print_commands(sentence: str, *commands: str) -> None:
    """Print a sentence on stderr, and below it the commands it announces."""
    people = for_people()
    people.print(sentence)
    for command in commands:
        people.print(f"  {command}", style="cyan", soft_wrap=True)


def print_unfinished(solution: Solution, path: Path, **options: object) -> None:
    """Print how far an interrupted solve got, and the command that resumes it."""
    done, total = solution.iterations, solution.settings.iterations
    command = resume_command(path, solution.problem_kind.command, **options)
    print_commands(f"interrupted after {done:,} of {total:,} iterations; resume it with", command)
