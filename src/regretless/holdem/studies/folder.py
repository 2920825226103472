"""The folder of a study, which is also its state: one part per spot, each complete or absent.

    study.json                what is studied, and the version of the schema: see `manifest`
    summary/QsJh2h.parquet    rows of one spot
    hands/QsJh2h.parquet      only with `keep.hands`
    solutions/QsJh2h.rgl      only with `keep.solutions`
    runs/QsJh2h.parquet       one row, written last
    summary.parquet …         the parts of each table in one file, for speed; merged.json says of which parts
    run.lock                  locked while a run is in progress: see `cluster/run`

Every file is written under a temporary name, flushed to disk and renamed. A spot is done if its part of `runs` exists
and the other files are as that part says (digests of tables, size of the solution). So a process may be killed at any
moment: what it left is either done or not counted, and a rerun solves it again. Whoever reads parts checks the same, so
a part that was copied from another spot or another study is noticed.

The parts are the truth. The merged files only save opening thousands of small ones; if parts have been added or
removed since (names, sizes), they are not used. A run that will change parts removes merged.json first.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from regretless.errors import InvalidFile, RebuiltFile
from regretless.files.atomic import reason
from regretless.files.fields import DamagedFields, Fields
from regretless.files.state import check_state, check_state_folder, open_state, replace_state, state_folder
from regretless.holdem.reading.columns import pyarrow
from regretless.holdem.solution import SpotSolution
from regretless.holdem.studies.manifest import MANIFEST, PART, PARTS, Manifest, check_folder
from regretless.holdem.studies.plan import StudyPlan, StudySpot
from regretless.holdem.studies.rows import TABLES, arrow_schema, run_row, spot_rows

if TYPE_CHECKING:
    from pyarrow import Schema, Table
    from pyarrow.dataset import Dataset
    from pyarrow.parquet import ParquetFile

__all__ = ["AGAIN", "GrowingFolder", "SpotRows", "StudyFolder"]

MERGED = "merged.json"
SUFFIXES = (".rgl", ".parquet")  # of the files in `PARTS`
MAX_MERGED = 2**20  # bytes of merged.json
MAX_PART = 2**30  # bytes of the rows of a part
MERGED_ROWS = 100_000  # rows per group of a merged file
REMEMBERED_ROWS = 500_000  # that a `GrowingFolder` keeps: about 100 MB
AGAIN = "running the study again solves this spot again"
_FORMAT = {"compression": "zstd", "write_page_checksum": True}


@dataclass(frozen=True)
class SpotRows:
    """The rows of a solved spot."""

    run: Mapping[str, object]  # without the digests of the other parts
    summary: Sequence[Mapping[str, object]]
    hands: Sequence[Mapping[str, object]] | None  # None: not kept


class _Merged(NamedTuple):
    """What the merged files were made from."""

    parts: str | None  # the folder's fingerprint then; None if there are no merged files
    sha256: Mapping[str, object]  # digest of each file, by table


@dataclass(frozen=True)
class StudyFolder:
    """A folder with a study in it."""

    path: Path
    manifest: Manifest

    @cached_property
    def plan(self) -> StudyPlan:
        """What is studied, without warnings: the run has shown them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return StudyPlan.parse(self.manifest.toml, self.path / MANIFEST)

    # --- opening -----------------------------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The study in a folder; raises `InvalidFile` if there is none that can be read."""
        folder, again = Path(path), f"regretless study run STUDY.toml --out {path}"
        if not (folder / MANIFEST).is_file():
            if folder.is_file():
                raise InvalidFile(path, "is a file, not the folder of a study")
            what = "is not the folder of a study" if folder.is_dir() else "does not exist"
            raise InvalidFile(path, f"{what}: {again}")
        _check_files(folder)
        try:
            return cls(folder, Manifest.read(folder))
        except DamagedFields as error:
            reason = f"is damaged; to rebuild it and keep every solved spot: {again}"
            raise InvalidFile(folder / MANIFEST, reason) from error

    @classmethod
    def prepare(cls, path: str | Path, plan: StudyPlan) -> StudyFolder:
        """The folder for a plan: a new one, or one with the same study, to which flops may have been added."""
        folder, wrong = Path(path), check_folder(path, plan)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            state_folder(folder / "summary", folder)
            state_folder(folder / "runs", folder)
            if plan.keep.hands:
                state_folder(folder / "hands", folder)
            if plan.keep.solutions:
                state_folder(folder / "solutions", folder)
        except OSError as error:
            raise InvalidFile(path, f"cannot be created: {reason(error)}") from None
        Manifest.of(plan).write(folder)
        if wrong is not None:
            message = f"{folder / MANIFEST}: {wrong} and has been rebuilt; solved spots are kept"
            warnings.warn(RebuiltFile(message), stacklevel=2)
        return cls.open(folder)

    # --- parts -------------------------------------------------------------------------------------------------------

    def part(self, table: str, spot: str) -> Path:
        """The file of a spot in a table, or its solution."""
        return self.path / table / f"{spot}.{'rgl' if table == 'solutions' else 'parquet'}"

    def written(self) -> set[str]:
        """Spots with a part of `runs`."""
        return {Path(name).stem for name, _ in self._run_files()}

    def _run_files(self) -> list[tuple[str, int]]:
        """Names and sizes of the parts of `runs`."""
        folder = self.path / "runs"
        try:
            with os.scandir(folder) as entries:
                files = ((each.name, each.stat(follow_symlinks=False)) for each in entries if PART.fullmatch(each.name))
                return sorted((name, status.st_size) for name, status in files)
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
        try:
            tables = ("summary", "hands") if plan.keep.hands else ("summary",)
            run = self._check(spot, "runs", *tables)
            return not plan.keep.solutions or self.part("solutions", spot).lstat().st_size == run["solution_bytes"]
        except (OSError, InvalidFile):
            return False

    def _check(self, spot: str, *tables: str) -> dict[str, object]:
        """The row of a spot in `runs`; raises `InvalidFile` if its part of one of these tables is not its own.

        Unless `runs` is among them, only the columns that this takes are read.
        """
        arrow, _ = pyarrow()
        path, digests = self.part("runs", spot), {table: f"{table}_sha256" for table in tables if table != "runs"}
        try:
            (row,) = self._rows("runs", spot, None if "runs" in tables else ["spot", *digests.values()]).to_pylist()
            whole = row["spot"] == spot
            for table, digest in digests.items():
                if whole:
                    path = self.part(table, spot)
                    whole = _sha256(path, self.path, MAX_PART) == row[digest]
        except FileNotFoundError:
            raise InvalidFile(path, f"is missing: {AGAIN}") from None
        except (OSError, ValueError, arrow.ArrowException):
            whole = False
        if not whole:
            raise InvalidFile(path, f"is damaged, or was copied from another spot: {AGAIN}")
        return dict(row)

    def read(self, spot: StudySpot, solution: SpotSolution, plan: StudyPlan, total_seconds: float) -> SpotRows:
        """The rows of a solved spot; the solution itself is saved here, if the study keeps it."""
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
        parquet.write_table(arrow.Table.from_pylist(rows, schema=self._schema(table)), sink, **_FORMAT)
        content = sink.getvalue().to_pybytes()
        with replace_state(self.part(table, spot), self.path) as temporary:
            temporary.write_bytes(content)
        return hashlib.sha256(content).hexdigest()

    def _rows(self, table: str, spot: str, columns: Sequence[str] | None = None) -> Table:
        """A part as a `pyarrow.Table`; its checksums are verified, and the names of its columns, which have none."""
        path = self.part(table, spot)
        with self._opened(path) as file:
            schema, rows = file.schema_arrow, file.read(columns=columns)
        if not schema.equals(self._schema(table)):
            raise InvalidFile(path, "is damaged: its columns are not those of the table")
        if (schema.metadata or {}).get(b"study") != self.manifest.digest.encode():
            raise InvalidFile(path, f"was copied from another study: {AGAIN}")
        return rows

    def _opened(self, path: Path) -> ParquetFile:
        """A part as a `pyarrow.parquet.ParquetFile` that verifies checksums."""
        _, parquet = pyarrow()
        check_state(path, self.path)
        file = parquet.ParquetFile(path, page_checksum_verification=True)
        groups = (file.metadata.row_group(group) for group in range(file.metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > MAX_PART:
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

    def _schema(self, table: str) -> Schema:
        return arrow_schema(pyarrow()[0], table, self.manifest.varied, {"study": self.manifest.digest})

    # --- tables ------------------------------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The tables that the study has."""
        return tuple(table for table in TABLES if table != "hands" or (self.path / table).is_dir())

    def dataset(self, table: str) -> Dataset:
        """A table as a `pyarrow.dataset.Dataset`: the merged file if it is up to date, else the parts."""
        pyarrow()
        from pyarrow import dataset

        checked = dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
        options = {
            "format": dataset.ParquetFileFormat(default_fragment_scan_options=checked),
            "schema": self._schema(table),
        }
        if (merged := self.merged_file(table)) is not None:
            return dataset.dataset(merged, **options)
        spots = sorted(self.written())
        for spot in spots:
            self._check(spot, table)
        return dataset.dataset([str(self.part(table, spot)) for spot in spots], **options)

    def merged_file(self, table: str) -> Path | None:
        """The merged file of a table, if it is up to date; raises `InvalidFile` if it is damaged."""
        merged, path = self._merged(), self._merged_path(table)
        if merged.parts != self.fingerprint() or not path.exists():
            return None
        stat = path.lstat()
        largest = self._largest_merged(table)
        if _known_sha256(path, self.path, largest, stat.st_size, stat.st_mtime_ns) != merged.sha256.get(table):
            raise InvalidFile(path, "is damaged: running the study again repairs it")
        return path

    def merge(self) -> None:
        """Merge the parts of every table into one file, in the order of the spots' names, unless that is done."""
        merged = self._merged()
        if merged.parts == (fingerprint := self.fingerprint()) and merged.sha256 == self._digests():
            return
        for table in self.tables:
            self._merge(table, sorted(self.written()))
        with replace_state(self.path / MERGED, self.path) as temporary:
            temporary.write_text(json.dumps({"parts": fingerprint, "sha256": self._digests()}) + "\n", encoding="utf-8")

    def _merge(self, table: str, spots: Iterable[str]) -> None:
        arrow, parquet = pyarrow()

        def parts() -> Iterator[Table]:
            waiting: list[Table] = []
            for spot in spots:
                waiting.append(self._rows(table, spot))
                if sum(map(len, waiting)) >= MERGED_ROWS:
                    yield arrow.concat_tables(waiting)
                    waiting = []
            if waiting:
                yield arrow.concat_tables(waiting)

        with (
            replace_state(self._merged_path(table), self.path) as temporary,
            parquet.ParquetWriter(temporary, self._schema(table), **_FORMAT) as writer,
        ):
            for rows in parts():
                writer.write_table(rows, row_group_size=MERGED_ROWS)

    def _merged_path(self, table: str) -> Path:
        return self.path / f"{table}.parquet"

    def _merged(self) -> _Merged:
        """What merged.json says."""
        path = self.path / MERGED
        try:
            fields = Fields.read(path, self.path, largest=MAX_MERGED)
            return _Merged(fields.text("parts"), Fields(path, fields.value("sha256"), "sha256.").table)
        except InvalidFile:  # missing or damaged: the parts are read instead
            return _Merged(None, {})

    def _digests(self) -> dict[str, str] | None:
        try:
            return {
                table: _sha256(self._merged_path(table), self.path, self._largest_merged(table))
                for table in self.tables
            }
        except (OSError, InvalidFile):
            return None

    def _largest_merged(self, table: str) -> int:
        """Bytes that a merged file cannot exceed: it is smaller than its parts together."""
        try:
            with os.scandir(folder := self.path / table) as entries:
                return 2**20 + 2 * sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
        except OSError as error:
            raise InvalidFile(folder, f"cannot be read: {reason(error)}") from None

    def fingerprint(self) -> str:
        """Names and sizes of the parts of `runs`: not their times, which a copy of the folder does not keep."""
        return hashlib.sha256(json.dumps(self._run_files()).encode()).hexdigest()

    def forget_merged(self) -> None:
        """Read parts from now on: they are about to change."""
        (self.path / MERGED).unlink(missing_ok=True)


@dataclass(frozen=True)
class GrowingFolder(StudyFolder):
    """A folder that reads each part of `summary` once, for a study that is looked at while it is being solved.

    Only `columns` can be queried. One thread at a time.
    """

    columns: tuple[str, ...] = ()
    _parts: dict[str, tuple[list[tuple[int, int]], Table]] = field(
        default_factory=dict, repr=False
    )  # times and sizes of files, rows

    def dataset(self, table: str) -> Dataset:
        if table != "summary" or self.merged_file(table) is not None:
            self._parts.clear()
            return super().dataset(table)
        spots = sorted(self.written())
        parts = [self._part(spot) for spot in spots]
        if not parts or sum(map(len, parts)) > REMEMBERED_ROWS:
            self._parts.clear()
            return super().dataset(table)
        for removed in self._parts.keys() - set(spots):
            del self._parts[removed]
        arrow, _ = pyarrow()
        from pyarrow import dataset

        return dataset.dataset(arrow.concat_tables(parts).combine_chunks())

    def _part(self, spot: str) -> Table:
        arrow, _ = pyarrow()
        path = self.part("summary", spot)
        try:
            files = [self.part(table, spot).lstat() for table in ("runs", "summary")]
            stamp = [(file.st_mtime_ns, file.st_size) for file in files]
            if spot not in self._parts or self._parts[spot][0] != stamp:
                self._check(spot, "summary")
                schema = arrow.schema([self._schema("summary").field(name) for name in self.columns])
                rows = self._opened(path).read(columns=list(self.columns), use_threads=False)
                self._parts[spot] = stamp, rows.select(list(self.columns)).cast(schema)
        except FileNotFoundError:
            raise InvalidFile(path, f"is missing: {AGAIN}") from None
        except (OSError, ValueError, KeyError, arrow.ArrowException):
            raise InvalidFile(path, f"is damaged: {AGAIN}") from None
        return self._parts[spot][1]


def _check_files(folder: Path) -> None:
    """Refuse a folder in which a link, a pipe or the like stands for a file of a study."""
    for name in (MERGED, *(f"{table}.parquet" for table in TABLES)):
        check_state(folder / name, folder)
    for name in PARTS:
        check_state_folder(folder / name, folder)
        try:
            with suppress(FileNotFoundError), os.scandir(folder / name) as entries:
                for entry in entries:
                    if entry.name.endswith(SUFFIXES) and not entry.is_file(follow_symlinks=False):
                        check_state(folder / name / entry.name, folder)
        except OSError as error:
            raise InvalidFile(folder / name, f"cannot be read: {reason(error)}") from None


def _sha256(path: Path, root: Path, largest: int) -> str:
    with open(open_state(path, root, os.O_RDONLY), "rb") as file:
        if os.fstat(file.fileno()).st_size > largest:
            raise InvalidFile(path, "is damaged: it is too large")
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=64)
def _known_sha256(path: Path, root: Path, largest: int, size: int, time: int) -> str:
    """The digest of a file, computed once as long as its size and time stay the same."""
    return _sha256(path, root, largest)
