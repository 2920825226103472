"""The command: `regretless solve leduc`, `regretless plot`, `regretless range`, …

One file for each subcommand. They import what they need when they run, so that `regretless --help` answers at once.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Without `arguments` it is the command of this process: it takes those of the process, and Ctrl-C and SIGTERM are its
    own until the process ends.
    """
    if arguments is not None:
        from regretless.cli.app import main as run

        return run(arguments)
    from regretless.cli.terminal.interrupts import INTERRUPTED, ignore_from_now_on, watch

    watch()  # before anything that takes time is imported
    try:
        from regretless.cli.app import main as run

        try:
            return run()
        finally:
            ignore_from_now_on()
    except KeyboardInterrupt:  # in the moments around the command itself, which has its own answer
        return INTERRUPTED
