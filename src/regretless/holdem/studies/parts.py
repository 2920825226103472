"""The parts of a study: one file per spot and table, each complete or absent.

    summary/QsJh2h.parquet    rows of one spot
    hands/QsJh2h.parquet      only with `keep.hands`
    solutions/QsJh2h.rgl      only with `keep.solutions`
    runs/QsJh2h.parquet       one row, written last

Every file is written under a temporary name, flushed to disk and renamed. A spot is done if its part of `runs` exists
and the other files match the digests and the size in that part. So a process may be killed at any moment: what it left
is either done or not counted, and a rerun solves it again. Readers check the same, so a part that was copied from
another spot or another study is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.errors import InvalidFile
from regretless.files.atomic import reason
from regretless.files.state import check_state, open_state, replace_state
from regretless.holdem.reading.columns import pyarrow
from regretless.holdem.solution import SpotSolution
from regretless.holdem.studies.manifest import PART, Manifest
from regretless.holdem.studies.plan import StudyPlan, StudySpot
from regretless.holdem.studies.rows import arrow_schema, run_row, spot_rows

if TYPE_CHECKING:
    from pyarrow import Schema, Table
    from pyarrow.parquet import ParquetFile

__all__ = ["AGAIN", "FORMAT", "SpotRows", "StudyParts", "sha256"]

MAX_PART = 2**30  # bytes of the rows of a part
AGAIN = "running the study again solves this spot again"
FORMAT = {"compression": "zstd", "write_page_checksum": True}


@dataclass(frozen=True)
class SpotRows:
    """The rows of a solved spot."""

    run: Mapping[str, object]  # without the digests of the other parts
    summary: Sequence[Mapping[str, object]]
    hands: Sequence[Mapping[str, object]] | None  # None: not kept


@dataclass(frozen=True)
class StudyParts:
    """The files of a study's spots, in a folder."""

    path: Path
    manifest: Manifest

    def part(self, table: str, spot: str) -> Path:
        """The file of a spot in a table, or its solution."""
        return self.path / table / f"{spot}.{'rgl' if table == 'solutions' else 'parquet'}"

    def written(self) -> set[str]:
        """The spots that have a part of `runs`."""
        return {Path(name).stem for name, _ in self._run_files()}

    def _run_files(self) -> list[tuple[str, int]]:
        """Names and sizes of the parts of `runs`."""
        folder = self.path / "runs"
        try:
            with os.scandir(folder) as entries:
                parts = [entry for entry in entries if PART.fullmatch(entry.name)]
                return sorted((entry.name, entry.stat(follow_symlinks=False).st_size) for entry in parts)
        except OSError as error:
            raise InvalidFile(folder, f"cannot be read: {reason(error)}") from None

    def done(self, plan: StudyPlan) -> set[str]:
        """Spots that are done and undamaged; the part of `runs` of any other is removed."""
        spots = self.written()
        for spot in sorted(spots):
            if not self._is_whole(spot, plan):
                self.part("runs", spot).unlink(missing_ok=True)
                spots.discard(spot)
        return spots

    def _is_whole(self, spot: str, plan: StudyPlan) -> bool:
        tables = ("runs", "summary", "hands") if plan.keep.hands else ("runs", "summary")
        try:
            run = self.check(spot, *tables)
            return not plan.keep.solutions or self.part("solutions", spot).lstat().st_size == run["solution_bytes"]
        except (OSError, InvalidFile):
            return False

    def check(self, spot: str, *tables: str) -> dict[str, object]:
        """The row of a spot in `runs`; raises `InvalidFile` if one of these tables has a part that is not the spot's.

        The row is complete only if `runs` is one of the tables; otherwise only the columns that are checked are read.
        """
        arrow, _ = pyarrow()
        path, damaged = self.part("runs", spot), f"is damaged, or was copied from another spot: {AGAIN}"
        digests = {table: f"{table}_sha256" for table in tables if table != "runs"}
        columns = None if "runs" in tables else ["spot", *digests.values()]
        try:
            (row,) = self.rows("runs", spot, columns).to_pylist()
            if row["spot"] != spot:
                raise InvalidFile(path, damaged)
            for table, digest in digests.items():
                path = self.part(table, spot)
                if sha256(path, self.path, MAX_PART) != row[digest]:
                    raise InvalidFile(path, damaged)
        except FileNotFoundError:
            raise InvalidFile(path, f"is missing: {AGAIN}") from None
        except (OSError, ValueError, arrow.ArrowException):
            raise InvalidFile(path, damaged) from None
        return dict(row)

    def read(self, spot: StudySpot, solution: SpotSolution, plan: StudyPlan, total_seconds: float) -> SpotRows:
        """The rows of a solved spot; the solution itself is saved, if the study keeps it."""
        run = run_row(spot, solution, total_seconds) | {"hands_sha256": None, "solution_bytes": None}
        if plan.keep.solutions:
            check_state(path := self.part("solutions", spot.id), self.path)
            solution.save(path)
            run["solution_bytes"] = path.stat().st_size
        summary, hands = spot_rows(spot, solution, plan.keep)
        return SpotRows(run, summary, hands if plan.keep.hands else None)

    def write(self, spot: str, rows: SpotRows) -> None:
        """Write the parts of a spot, that of `runs` last."""
        digests = {"summary_sha256": self._write("summary", spot, rows.summary)}
        if rows.hands is not None:
            digests["hands_sha256"] = self._write("hands", spot, rows.hands)
        self._write("runs", spot, [{**rows.run, **digests}])

    def _write(self, table: str, spot: str, rows: Sequence[Mapping[str, object]]) -> str:
        arrow, parquet = pyarrow()
        sink = arrow.BufferOutputStream()
        parquet.write_table(arrow.Table.from_pylist(rows, schema=self.schema(table)), sink, **FORMAT)
        content = sink.getvalue().to_pybytes()
        with replace_state(self.part(table, spot), self.path) as temporary:
            temporary.write_bytes(content)
        return hashlib.sha256(content).hexdigest()

    def rows(self, table: str, spot: str, columns: Sequence[str] | None = None) -> Table:
        """A part as a `pyarrow.Table`, after checking its checksums and its columns, whose names have no checksum."""
        path = self.part(table, spot)
        with self.open_part(path) as file:
            schema, rows = file.schema_arrow, file.read(columns=columns)
        if not schema.equals(self.schema(table)):
            raise InvalidFile(path, "is damaged: its columns are not those of the table")
        if (schema.metadata or {}).get(b"study") != self.manifest.digest.encode():
            raise InvalidFile(path, f"was copied from another study: {AGAIN}")
        return rows

    def open_part(self, path: Path) -> ParquetFile:
        """A part as a `pyarrow.parquet.ParquetFile` that verifies checksums."""
        _, parquet = pyarrow()
        check_state(path, self.path)
        file = parquet.ParquetFile(path, page_checksum_verification=True)
        metadata = file.metadata
        if sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)) > MAX_PART:
            raise InvalidFile(path, "is damaged: it is too large")
        return file

    def files(self, spot: str) -> dict[str, bytes]:
        """The files of a spot by relative name, that of `runs` last: what a worker without this folder sends."""
        paths = [self.part(table, spot) for table in ("solutions", "summary", "hands", "runs")]
        return {path.relative_to(self.path).as_posix(): path.read_bytes() for path in paths if path.exists()}

    def receive(self, spot: str, files: Mapping[str, bytes]) -> None:
        """Write the files of a spot that another machine solved."""
        for table in ("solutions", "summary", "hands", "runs"):
            path = self.part(table, spot)
            if (content := files.get(path.relative_to(self.path).as_posix())) is not None:
                with replace_state(path, self.path) as temporary:
                    temporary.write_bytes(content)

    def schema(self, table: str) -> Schema:
        """The columns of a table, as a `pyarrow.Schema` with the study's digest."""
        return arrow_schema(pyarrow()[0], table, self.manifest.varied, {"study": self.manifest.digest})

    def fingerprint(self) -> str:
        """Names and sizes of the parts of `runs`: not their times, which a copy of the folder does not keep."""
        return hashlib.sha256(json.dumps(self._run_files()).encode()).hexdigest()


def sha256(path: Path, root: Path, largest: int) -> str:
    """The digest of a file in the folder `root`; refuses one of more than `largest` bytes."""
    with open(open_state(path, root, os.O_RDONLY), "rb") as file:
        if os.fstat(file.fileno()).st_size > largest:
            raise InvalidFile(path, "is damaged: it is too large")
        return hashlib.file_digest(file, "sha256").hexdigest()
