"""SQL over the tables of a study, by DuckDB in memory.

The tables are registered as Arrow data sets, from which DuckDB reads only the columns and rows that a query needs.
Then DuckDB's access to files and the network is switched off and its settings are locked, so a query can neither read
nor write anything else. A query must be one SELECT.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regretless.errors import InvalidFile, InvalidOption, InvalidText, MissingExtra
from regretless.holdem.reading.columns import pyarrow
from regretless.holdem.studies.folder import StudyFolder

__all__ = ["run_sql"]


def run_sql(folder: StudyFolder, sql: str, parameters: Mapping[str, Any] | None = None) -> Any:
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
        for table in (each for each in folder.tables if each in sql.lower()):
            connection.register(table, folder.dataset(table))
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        try:
            found = connection.sql(sql, params=dict(parameters or {})).to_arrow_table()
        except (arrow.ArrowException, OSError, duckdb.IOException) as error:  # while a part is read
            raise _damaged(folder, error) from None
        except duckdb.Error as error:
            if "parquet" in str(error).lower():
                raise _damaged(folder, error) from None
            raise InvalidText("sql", sql, None, _sentence(error)) from None
    return found


def _damaged(folder: StudyFolder, error: Exception) -> InvalidFile:
    reason = "has a damaged part: running the study again solves its spot again"
    return InvalidFile(folder.path, f"{reason} ({_sentence(error)})")


def _sentence(error: Exception) -> str:
    """The first line of an error."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
