"""`study.json`, which says what is studied; and which folders a study may be written to.

Everything in it follows from the file of the study, and each part of `runs` has the digest of the study that it belongs
to. So a manifest that is damaged or missing is rebuilt when the study is run again, if a part proves that the folder
is its own. Without such a part there is nothing to lose, and nothing is overwritten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from regretless.errors import InvalidFile
from regretless.files.atomic import is_temporary
from regretless.files.fields import DamagedFields, Fields
from regretless.files.state import check_state, replace_state
from regretless.holdem.reading.columns import pyarrow
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.rows import TABLES, VERSION

__all__ = ["LOCK", "MANIFEST", "PART", "PARTS", "Manifest", "check_folder"]

LOCK = "run.lock"  # locked by the process that runs the study
MANIFEST = "study.json"
PART = re.compile(r"(\w[\w-]*)\.parquet")  # the file of a spot in a table
MAX_BYTES = 16 * 2**20  # bytes
PARTS = ("solutions", *TABLES)  # folders with a file per spot


@dataclass(frozen=True)
class Manifest:
    """What is studied."""

    name: str
    digest: str  # of the plan
    spots: int  # in the whole study
    varied: Mapping[str, object]  # a value of each field that varies
    toml: str  # as it was given

    @classmethod
    def of(cls, plan: StudyPlan) -> Self:
        """The manifest of a plan."""
        return cls(plan.name, plan.digest, len(plan.spots), dict(plan.variations[0].parameters), plan.toml)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The manifest in a folder; raises `DamagedFields` if it is damaged, and otherwise `InvalidFile`."""
        fields = Fields.read(folder / MANIFEST, folder, largest=MAX_BYTES)
        if (version := fields.whole("schema")) != VERSION:
            newer = "a newer" if version > VERSION else "an older"
            reason = f"was written by {newer} version of Regretless, with tables of schema {version}; this one has"
            raise InvalidFile(folder, f"{reason} {VERSION}: use another folder")
        varied = fields.value("varied")
        if not isinstance(varied, dict):
            raise fields.wrong("varied", "is not a table")
        return cls(
            name=fields.text("name"),
            digest=fields.text("digest"),
            spots=fields.whole("spots"),
            varied=varied,
            toml=fields.text("toml", longest=MAX_BYTES),
        )

    def write(self, folder: Path) -> None:
        """Write it to a folder."""
        with replace_state(folder / MANIFEST, folder) as temporary:
            temporary.write_text(json.dumps({"schema": VERSION, **vars(self)}, indent=1) + "\n", encoding="utf-8")


def check_folder(path: str | Path, plan: StudyPlan) -> str | None:
    """Refuse a folder with anything but this study; says what is wrong with a manifest that is to be rebuilt."""
    folder, digest, wrong = Path(path), plan.digest, None
    unused = not folder.is_dir() or _is_unused(folder)  # looked at first: another process may write the manifest now
    if (folder / MANIFEST).exists():
        try:
            digest = Manifest.read(folder).digest
        except DamagedFields:
            wrong = "was damaged"
    elif folder.is_file():
        raise InvalidFile(path, "is a file, not a folder")
    elif not unused:
        wrong = "was missing"
    if wrong is not None:
        digests = set(_digests_of_parts(folder))
        if not digests and wrong == "was damaged":
            reason = "is damaged, and no solved spot beside it tells what was studied; use another folder"
            raise InvalidFile(folder / MANIFEST, reason)
        if not digests:
            raise InvalidFile(path, "is neither empty nor the folder of a study; use another folder")
        digest = digests.pop() if len(digests) == 1 else ""
    if digest != plan.digest:
        raise InvalidFile(path, "holds another study: the file has changed since; use another folder")
    strangers = sorted({spot for spot, _ in _parts(folder)} - {spot.id for spot in plan.spots})
    if strangers:
        more = f" and {len(strangers) - 1} more" if len(strangers) > 1 else ""
        raise InvalidFile(path, f"has {strangers[0]}{more}, which the study no longer has; use another folder")
    return wrong


def _is_unused(folder: Path) -> bool:
    """Whether a folder has nothing but what a run creates before its manifest: one has just begun, or was killed."""
    return all(
        path.name == LOCK or is_temporary(path.name) or (path.name in PARTS and not any(path.glob("*")))
        for path in folder.iterdir()
    )


def _parts(folder: Path) -> Iterator[tuple[str, Path]]:
    """Spots with a part of `runs`, and that part."""
    for path in (folder / "runs").glob("*.parquet"):
        if match := PART.fullmatch(path.name):
            yield match[1], path


def _digests_of_parts(folder: Path) -> Iterator[str]:
    """The digest of the study of each part that can be read: others are solved again. Empty in another schema."""
    arrow, parquet = pyarrow()
    for _, path in _parts(folder):
        check_state(path, folder)
        with suppress(OSError, ValueError, arrow.ArrowException):
            metadata = parquet.read_schema(path).metadata or {}
            yield metadata.get(b"study", b"").decode() if metadata.get(b"schema") == str(VERSION).encode() else ""
