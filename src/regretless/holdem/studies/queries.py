"""SQL over the tables of a study, by DuckDB in memory.

DuckDB reads the merged file of a table itself, and only the columns and row groups that a query needs; it does not
verify checksums, so the file's digest is checked first. Parts that are not merged yet are registered as an Arrow data
set, which verifies them. Then DuckDB's access to files and the network is switched off except for the merged files, and
its settings are locked, so a query can neither read nor write anything else. A query must be one SELECT.

`study_lines` has the lines of play that the tables have, and the mix of actions at each, over all flops. Flops weigh as
in `reports`: the weight of the flop times the probability of the line there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regretless.errors import InvalidFile, InvalidOption, InvalidText, MissingExtra
from regretless.holdem.reading.columns import pyarrow
from regretless.holdem.studies.folder import StudyFolder
from regretless.holdem.studies.parts import AGAIN

if TYPE_CHECKING:
    from pyarrow import Table
    from pyarrow.dataset import Dataset

__all__ = ["StudyLine", "run_sql", "study_lines"]

_PATTERN = "*?[{"  # characters by which DuckDB takes a path for several


def run_sql(folder: StudyFolder, sql: str, parameters: Mapping[str, object] | None = None) -> Table:
    """The answer of a query as a `pyarrow.Table`; `$name` in the query stands for a parameter."""
    arrow, _ = pyarrow()
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "report") from None
    with duckdb.connect(":memory:") as connection:
        try:
            statements = connection.extract_statements(sql)
        except duckdb.Error as error:
            raise InvalidText("sql", sql, None, _sentence(error)) from None
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise InvalidOption("sql", sql, "must be one SELECT: a study is only read")
        parts: dict[str, Dataset] = {}
        files: dict[str, str] = {}
        for name in (each for each in folder.tables if each in sql.lower()):
            merged = folder.merged_file(name)
            if merged is None or set(_PATTERN) & set(str(merged.resolve())):
                connection.register(name, parts.setdefault(name, folder.dataset(name)))
            else:
                files[name] = _quoted(str(merged.resolve()))
        connection.execute(f"SET allowed_paths = [{', '.join(files.values())}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        for name, file in files.items():
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet({file})")
        try:
            result = connection.sql(sql, params=dict(parameters or {})).to_arrow_table()
        except (arrow.ArrowException, OSError, duckdb.Error) as error:
            _refuse_damaged(parts.values())  # DuckDB has no error of its own for them
            raise InvalidText("sql", sql, None, _sentence(error)) from None
    return result


def _refuse_damaged(tables: Iterable[Dataset]) -> None:
    """Raise `InvalidFile` if a part of one of these data sets cannot be read."""
    arrow, _ = pyarrow()
    for table in tables:
        for part in table.get_fragments():
            try:
                for _ in part.to_batches(schema=table.schema):
                    pass
            except (arrow.ArrowException, OSError):
                raise InvalidFile(part.path, f"is damaged: {AGAIN}") from None


def _quoted(text: str) -> str:
    """Text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def _sentence(error: Exception) -> str:
    """The first line of an error."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]


@dataclass(frozen=True)
class StudyLine:
    """A line of play, with `any` for every card."""

    line: str
    player: str  # who acts
    street: str
    spots: int
    pot: float | None  # chips at the decision
    frequencies: Mapping[str, float | None]  # by action; None if the line is never played


def study_lines(folder: StudyFolder, *, variation: int, limit: int) -> list[StudyLine]:
    """The lines of one variation, at most `limit`, shortest first."""
    rows = run_sql(
        folder,
        """SELECT pattern, action, min(place) AS place, min(player) AS player, min(street) AS street,
           min(node_pot) AS pot, count(DISTINCT spot) AS spots, sum(weight * reach * frequency) AS played,
           sum(weight * reach) FILTER (place = 0) AS line_weight
           FROM summary WHERE variation = $variation AND pattern IN (
               SELECT DISTINCT pattern FROM summary WHERE variation = $variation
               ORDER BY len(string_split(pattern, ', ')), pattern LIMIT $limit)
           GROUP BY pattern, action ORDER BY len(string_split(pattern, ', ')), pattern, place, action""",
        {"variation": variation, "limit": limit},
    ).to_pylist()
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(row["pattern"], []).append(row)
    return [_line(line, line_rows) for line, line_rows in lines.items()]


def _line(line: str, rows: list[dict[str, Any]]) -> StudyLine:
    first, weight = rows[0], sum(row["line_weight"] or 0.0 for row in rows)
    return StudyLine(
        line=line,
        player=first["player"],
        street=first["street"],
        spots=max(row["spots"] for row in rows),
        pot=first["pot"],
        frequencies={row["action"]: (row["played"] or 0.0) / weight if weight else None for row in rows},
    )
