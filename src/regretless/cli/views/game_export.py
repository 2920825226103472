"""The strategy of a solved or trained game as CSV, JSON or Parquet: a row per information set and action."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from regretless.cli.terminal.consoles import note
from regretless.cli.terminal.json_output import strict_json
from regretless.forms.history import Strategy
from regretless.holdem.reading.columns import pyarrow
from regretless.solvers.game_solution import GameSolution
from regretless.storage.atomic import replace_file

__all__ = ["export_game"]

COLUMNS = ("information_set", "action", "probability")


def export_game(solution: GameSolution, kind: str, out: Path | None) -> None:
    """Write the whole strategy to a file, or to stdout."""
    if out is None:
        _write(solution.strategy, kind, sys.stdout)
        return
    with replace_file(out) as temporary:
        if kind == "parquet":
            arrow, parquet = pyarrow()
            parquet.write_table(arrow.Table.from_pylist(list(_rows(solution.strategy))), temporary)
        else:
            with open(temporary, "w", encoding="utf-8", newline="") as opened:
                _write(solution.strategy, kind, opened)
    note(f"saved {len(solution.strategy):,} information sets to {out}")


def _write(strategy: Strategy, kind: str, target: IO[str]) -> None:
    if kind == "json":
        target.write(strict_json(strategy) + "\n")
        return
    writer = csv.DictWriter(target, COLUMNS)
    writer.writeheader()
    writer.writerows(_rows(strategy))


def _rows(strategy: Strategy) -> Iterator[dict[str, Any]]:
    for key, played in strategy.items():
        for action, probability in played.items():
            yield dict(zip(COLUMNS, (key, action, probability), strict=True))
