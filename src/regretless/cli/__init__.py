"""The command: `regretless solve leduc`, `regretless plot`, `regretless range`, …

One module per subcommand. Each imports what it needs when it runs, so `regretless --help` answers at once.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Without `arguments` it runs as this process's command: it reads `sys.argv`, and handles Ctrl-C and SIGTERM until the
    process ends.
    """
    if arguments is not None:
        from regretless.cli.app import main as run

        return run(arguments)
    from regretless.cli.terminal.interrupts import INTERRUPTED, ignore_from_now_on, watch

    watch()  # before slow imports
    try:
        from regretless.cli.app import main as run

        try:
            return run()
        finally:
            ignore_from_now_on()
            if "duckdb" not in sys.modules:  # DuckDB complains at exit about objects that were not freed
                gc.freeze()  # saves 0.3 s or more: Python would search everything loaded for garbage as it exits
    except KeyboardInterrupt:  # before or after the command, which handles interrupts itself
        return INTERRUPTED
