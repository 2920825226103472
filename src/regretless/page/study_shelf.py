"""The studies of the served folder, as they are read for the page.

What is read is cached until a part of the study is added or replaced. Of a study that is still running, only the parts
that are new since the last look are read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from regretless.errors import InvalidFile, InvalidOption, RegretlessError
from regretless.files.atomic import reason
from regretless.files.container import open_container
from regretless.files.fields import Fields
from regretless.holdem.spots.spot import Spot
from regretless.holdem.studies.folder import GrowingFolder, StudyFolder
from regretless.holdem.studies.plan import StudyPlan, StudySpot, Variation
from regretless.holdem.studies.queries import StudyLine, study_lines
from regretless.holdem.studies.reports import StudyReport, study_report
from regretless.page.endpoint import NotFound
from regretless.page.folder import SERVED_FOLDER, plain_name
from regretless.page.library import Library

__all__ = ["GROUPS", "OpenStudy", "StudyShelf"]

MAX_CACHED_REPORTS = 12
MAX_CACHED_PLANS = 4
MAX_CACHED_FOLDERS = 2
MAX_LINES = 1_000
MAX_SPOT_LENGTH = 2**23  # characters
MAX_TITLE_LENGTH = 40  # characters of a study's title in the names of its solves
# What a report groups the spots by: a row for each of them.
GROUPS = ("spot", "flop", "ranks", "high", "middle", "low", "pairing", "suits", "connectedness", "texture")
COLUMNS = (  # of the study's tables, that reports need
    *GROUPS, "variation", "weight", "reach", "line", "pattern", "street", "player", "place", "action", "kind",
    "frequency", "oop_ev", "ip_ev", "oop_equity", "ip_equity", "node_pot",
)  # fmt: skip

Result = TypeVar("Result")
Cache = OrderedDict[tuple[object, ...], Any]  # the most recently used last


@dataclass(frozen=True)
class OpenStudy:
    """A study as it is at this moment."""

    name: str  # its folder, as the page names it
    folder: StudyFolder
    done: int  # spots that are solved
    revision: str  # changes whenever a spot is added or solved again

    @property
    def title(self) -> str:
        return self.folder.manifest.name or self.folder.path.name


class StudyShelf:
    """Reads studies, and caches what was read last."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._reports: Cache = OrderedDict()
        self._plans: Cache = OrderedDict()
        self._folders: Cache = OrderedDict()
        self._changing = threading.Lock()
        self._reading = threading.Lock()  # tables are read by one request at a time

    def open(self, name: str) -> OpenStudy:
        """The study of a folder; an error is one sentence."""
        path = self.library.study(name)
        opened = replace(GrowingFolder.open(path), columns=COLUMNS)
        manifest = opened.manifest
        key = name, manifest.name, manifest.digest, manifest.toml, manifest.spots
        folder = self._cached(self._folders, MAX_CACHED_FOLDERS, key, lambda: opened)
        try:
            changed = (folder.path / "runs").stat().st_mtime_ns  # tells a part from another one of its size
            return OpenStudy(name, folder, len(folder.written()), f"{folder.fingerprint()[:16]}-{changed:x}")
        except OSError as error:
            raise InvalidFile(path, f"cannot be read: {reason(error)}") from None

    def plan(self, study: OpenStudy) -> StudyPlan:
        """The plan of a study: its spots, their variations and options."""
        return self._cached(
            self._plans, MAX_CACHED_PLANS, (study.name, study.folder.manifest.toml), lambda: study.folder.plan
        )

    def variation(self, study: OpenStudy, number: int) -> Variation:
        """One combination of the varied values."""
        variations = self.plan(study).variations
        if number > len(variations):
            raise InvalidOption(
                "variation", number, f"is more than {len(variations)}, the number of combinations in the study"
            )
        return variations[number - 1]

    def lines(self, study: OpenStudy, variation: int) -> list[StudyLine]:
        """The lines that the study has, with the mix of actions at each."""
        read = partial(study_lines, study.folder, variation=variation, limit=MAX_LINES)
        with self._reading:
            return self._cached(self._reports, MAX_CACHED_REPORTS, (study.name, study.revision, variation), read)

    def report(self, study: OpenStudy, variation: int, line: str) -> StudyReport:
        """A row per flop at a line, and all of them together."""
        read = partial(study_report, study.folder, line=line, by=GROUPS, variation=variation)
        with self._reading:
            return self._cached(self._reports, MAX_CACHED_REPORTS, (study.name, study.revision, variation, line), read)

    def spot(self, study: OpenStudy, id_: str) -> StudySpot:
        """A spot of the study by its name in the tables."""
        plan = self.plan(study)
        by_id = self._cached(
            self._plans,
            MAX_CACHED_PLANS,
            (study.name, study.folder.manifest.toml, "spots"),
            lambda: {spot.id: spot for spot in plan.spots},
        )
        if id_ not in by_id:
            raise NotFound(f"spot: {id_[:80]!r} is not in the study", "spot")
        return by_id[id_]

    def solve_name(self, study: OpenStudy, spot: StudySpot) -> str:
        """The name under which the page solves a spot."""
        return f"{study.title[:MAX_TITLE_LENGTH]} {spot.id}"

    def solution_file(self, study: OpenStudy, spot: StudySpot) -> str | None:
        """The file with the whole solution: the study's own, or one that was solved from the page."""
        own = f"solutions/{spot.id}.rgl" if study.name == SERVED_FOLDER else f"{study.name}/solutions/{spot.id}.rgl"
        if self.library.path(own, ".rgl").is_file():
            return own
        solved = f"{plain_name(self.solve_name(study, spot))}.rgl"
        return solved if self._has(solved, spot.spot) else None

    def _has(self, file: str, spot: Spot) -> bool:
        """Whether a file is the solution of a spot, whatever the spot is called."""
        path = self.library.path(file, ".rgl")
        if not path.is_file() or self.library.summary(file).kind != "spot":
            return False
        try:
            header = Fields(path, open_container(path).header)
            solved = Spot.parse(header.text("spot", longest=MAX_SPOT_LENGTH), warn=False)
        except RegretlessError:
            return False
        return replace(solved, name="").to_toml() == replace(spot, name="").to_toml()

    def _cached(self, cache: Cache, size: int, key: tuple[object, ...], read: Callable[[], Result]) -> Result:
        """What `read` returns, from the cache if it has the key; the least recently used entry makes room."""
        with self._changing:
            if key in cache:
                cache.move_to_end(key)
                result: Result = cache[key]
                return result
        result = read()
        with self._changing:
            cache[key] = result
            while len(cache) > size:
                cache.popitem(last=False)
        return result
