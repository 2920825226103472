"""The folder of a study, which is also its state: the study, the parts of its spots, and merged tables.

    study.json                what is studied, and the version of the schema: see `manifest`
    summary/QsJh2h.parquet …  one file per spot and table: see `parts`
    summary.parquet …         the parts of each table in one file, for speed; merged.json says of which parts
    run.lock                  locked while a run is in progress: see `cluster/run`

The parts are the truth. The merged files only save opening thousands of small ones; if parts have been added or
removed since (names, sizes), they are not used. A run that will change parts removes merged.json first.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from regretless.errors import InvalidFile, RebuiltFile
from regretless.files.atomic import reason
from regretless.files.fields import DamagedFields, Fields
from regretless.files.state import check_state, check_state_folder, replace_state, state_folder
from regretless.holdem.reading.columns import pyarrow
from regretless.holdem.studies.manifest import MANIFEST, PARTS, Manifest, check_folder
from regretless.holdem.studies.parts import AGAIN, FORMAT, StudyParts, sha256
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.rows import TABLES

if TYPE_CHECKING:
    from pyarrow import Table
    from pyarrow.dataset import Dataset

__all__ = ["GrowingFolder", "StudyFolder"]

MERGED = "merged.json"
SUFFIXES = (".rgl", ".parquet")  # of the files in `PARTS`
MAX_MERGED = 2**20  # bytes of merged.json
MERGED_SLACK = 2**20  # bytes of a merged file beyond twice those of its parts
MERGED_ROWS = 100_000  # rows per group of a merged file
REMEMBERED_ROWS = 500_000  # that a `GrowingFolder` keeps: about 100 MB


class _MergedRecord(NamedTuple):
    """What the merged files were made from."""

    parts: str | None  # the folder's fingerprint then; None if there are no merged files
    sha256: Mapping[str, object]  # digest of each file, by table


@dataclass(frozen=True)
class StudyFolder(StudyParts):
    """A folder with a study in it."""

    @cached_property
    def plan(self) -> StudyPlan:
        """What is studied, without warnings: the run has shown them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return StudyPlan.parse(self.manifest.toml, self.path / MANIFEST)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The study in a folder; raises `InvalidFile` if there is none that can be read."""
        folder = Path(path)
        command = f"regretless study run STUDY.toml --out {path}"
        if not (folder / MANIFEST).is_file():
            if folder.is_file():
                raise InvalidFile(path, "is a file, not the folder of a study")
            problem = "is not the folder of a study" if folder.is_dir() else "does not exist"
            raise InvalidFile(path, f"{problem}: {command}")
        _check_files(folder)
        try:
            return cls(folder, Manifest.read(folder))
        except DamagedFields as error:
            advice = f"is damaged; to rebuild it and keep every solved spot: {command}"
            raise InvalidFile(folder / MANIFEST, advice) from error

    @classmethod
    def prepare(cls, path: str | Path, plan: StudyPlan) -> StudyFolder:
        """The folder for a plan: a new one, or one with the same study, to which flops may have been added."""
        folder = Path(path)
        damage = check_folder(path, plan)
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
        if damage is not None:
            message = f"{folder / MANIFEST}: {damage} and has been rebuilt; solved spots are kept"
            warnings.warn(RebuiltFile(message), stacklevel=2)
        return cls.open(folder)

    # --- tables ------------------------------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The tables that the study has."""
        return tuple(table for table in TABLES if table != "hands" or (self.path / table).is_dir())

    def dataset(self, table: str) -> Dataset:
        """A table as a `pyarrow.dataset.Dataset`: the merged file if it is up to date, else the parts."""
        pyarrow()  # refuses if it is not installed
        from pyarrow import dataset

        checked = dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
        options = {
            "format": dataset.ParquetFileFormat(default_fragment_scan_options=checked),
            "schema": self.schema(table),
        }
        if (merged := self.merged_file(table)) is not None:
            return dataset.dataset(merged, **options)
        spots = sorted(self.written())
        for spot in spots:
            self.check(spot, table)
        return dataset.dataset([str(self.part(table, spot)) for spot in spots], **options)

    def merged_file(self, table: str) -> Path | None:
        """The merged file of a table, if it is up to date; raises `InvalidFile` if it is damaged."""
        merged, path = self._read_record(), self._merged_path(table)
        if merged.parts != self.fingerprint() or not path.exists():
            return None
        stat = path.lstat()
        largest = self._largest_merged(table)
        if _known_sha256(path, self.path, largest, stat.st_size, stat.st_mtime_ns) != merged.sha256.get(table):
            raise InvalidFile(path, "is damaged: running the study again repairs it")
        return path

    def merge(self) -> None:
        """Merge the parts of every table into one file, in the order of the spots' names, unless that is done."""
        merged = self._read_record()
        if merged.parts == (fingerprint := self.fingerprint()) and merged.sha256 == self._digests():
            return
        for table in self.tables:
            self._write_merged(table, sorted(self.written()))
        with replace_state(self.path / MERGED, self.path) as temporary:
            temporary.write_text(json.dumps({"parts": fingerprint, "sha256": self._digests()}) + "\n", encoding="utf-8")

    def _write_merged(self, table: str, spots: Iterable[str]) -> None:
        _, parquet = pyarrow()
        with (
            replace_state(self._merged_path(table), self.path) as temporary,
            parquet.ParquetWriter(temporary, self.schema(table), **FORMAT) as writer,
        ):
            for rows in self._row_groups(table, spots):
                writer.write_table(rows, row_group_size=MERGED_ROWS)

    def _row_groups(self, table: str, spots: Iterable[str]) -> Iterator[Table]:
        """The rows of many spots in tables of at least `MERGED_ROWS` rows."""
        arrow, _ = pyarrow()
        waiting: list[Table] = []
        for spot in spots:
            waiting.append(self.rows(table, spot))
            if sum(map(len, waiting)) >= MERGED_ROWS:
                yield arrow.concat_tables(waiting)
                waiting = []
        if waiting:
            yield arrow.concat_tables(waiting)

    def _merged_path(self, table: str) -> Path:
        return self.path / f"{table}.parquet"

    def _read_record(self) -> _MergedRecord:
        """What merged.json says."""
        path = self.path / MERGED
        try:
            fields = Fields.read(path, self.path, largest=MAX_MERGED)
            return _MergedRecord(fields.text("parts"), Fields(path, fields.value("sha256"), "sha256").table)
        except InvalidFile:  # missing or damaged: the parts are read instead
            return _MergedRecord(None, {})

    def _digests(self) -> dict[str, str] | None:
        try:
            return {
                table: sha256(self._merged_path(table), self.path, self._largest_merged(table)) for table in self.tables
            }
        except (OSError, InvalidFile):
            return None

    def _largest_merged(self, table: str) -> int:
        """Limit on the bytes read of a merged file: generous, since it should be smaller than its parts together."""
        try:
            with os.scandir(folder := self.path / table) as entries:
                return MERGED_SLACK + 2 * sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
        except OSError as error:
            raise InvalidFile(folder, f"cannot be read: {reason(error)}") from None

    def forget_merged(self) -> None:
        """Delete merged.json, so that readers use the parts, which are about to change."""
        (self.path / MERGED).unlink(missing_ok=True)


class _ReadPart(NamedTuple):
    """A part that has been read."""

    stamp: list[tuple[int, int]]  # times and sizes of its files
    rows: Table


@dataclass(frozen=True)
class GrowingFolder(StudyFolder):
    """A folder that reads each part of `summary` once, for browsing a study while it is being solved.

    Only `columns` can be queried. One thread at a time.
    """

    columns: tuple[str, ...] = ()
    _parts: dict[str, _ReadPart] = field(default_factory=dict, repr=False)

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
            if spot not in self._parts or self._parts[spot].stamp != stamp:
                self.check(spot, "summary")
                schema = arrow.schema([self.schema("summary").field(name) for name in self.columns])
                rows = self.open_part(path).read(columns=list(self.columns), use_threads=False)
                self._parts[spot] = _ReadPart(stamp, rows.select(list(self.columns)).cast(schema))
        except FileNotFoundError:
            raise InvalidFile(path, f"is missing: {AGAIN}") from None
        except (OSError, ValueError, KeyError, arrow.ArrowException):
            raise InvalidFile(path, f"is damaged: {AGAIN}") from None
        return self._parts[spot].rows


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


@lru_cache(maxsize=64)
def _known_sha256(path: Path, root: Path, largest: int, size: int, time: int) -> str:
    """The digest of a file, computed once as long as its size and time stay the same."""
    return sha256(path, root, largest)
