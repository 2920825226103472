"""The columns of tables of hands: what each means, and tables of rows as Arrow and pandas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from regretless.errors import MissingExtra

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyarrow import Field, Schema, Table

__all__ = ["DEFINITIONS", "arrow_schema", "arrow_table", "pandas_table", "pyarrow"]

DEFINITIONS: Mapping[str, str] = MappingProxyType(
    {
        "line": "the line of play that leads to the node, cards included",
        "board": "the cards on the table",
        "pot": "chips in the middle, this street's bets included",
        "player": "whose hand it is: oop or ip",
        "hand": "the two cards held",
        "weight": "how likely the player is to have the hand here, from 0 to 1: its weight in the range times the "
        "probability that it takes this line; the opponent's cards are not taken into account",
        "matchups": "sum of the weights of the opposing hands that share no card with it; means over hands weight "
        "each hand by weight x matchups",
        "equity": "share of the pot at showdown with no more betting, from 0 to 1; empty where no opposing "
        "hand is possible",
        "ev": "chips won from here on, less chips put in from here on: a fold is 0; empty where no opposing "
        "hand is possible",
        "eqr": "equity realised: ev / (equity x pot)",
        "locked": "true where a lock gave the hand's strategy here",
        "action": "an action of the node",
        "frequency": "probability that the hand takes the action, from 0 to 1",
        "action_ev": "ev of the hand if it takes the action, in chips",
    }
)
_TEXTS = {"line", "board", "player", "hand", "action"}


def pyarrow() -> tuple[ModuleType, ModuleType]:
    """PyArrow and its Parquet module."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "report") from None
    return arrow, parquet


def arrow_schema(arrow: ModuleType, names: Iterable[str]) -> Schema:
    """Columns with their types, and their meanings as metadata."""

    def field(name: str) -> Field:
        kind = arrow.string() if name in _TEXTS else arrow.bool_() if name == "locked" else arrow.float64()
        return arrow.field(name, kind, metadata={"definition": DEFINITIONS[name]} if name in DEFINITIONS else None)

    return arrow.schema([field(name) for name in names])


def arrow_table(rows: Sequence[Mapping[str, object]]) -> Table:
    """Rows with the same columns as a `pyarrow.Table`."""
    arrow, _ = pyarrow()
    return arrow.Table.from_pylist(rows, schema=arrow_schema(arrow, list(rows[0]) if rows else []))


def pandas_table(rows: Sequence[Mapping[str, object]]) -> DataFrame:
    """Rows with the same columns as a `pandas.DataFrame`."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("pandas", "report") from None
    return pandas.DataFrame(rows)
