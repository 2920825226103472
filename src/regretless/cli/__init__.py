"""The command: `regretless solve leduc`, `regretless plot`, `regretless range`, …

One file for each subcommand. They import what they need when they run, so that `regretless --help` answers at once.
"""

from regretless.cli.app import main

__all__ = ["main"]
