"""The studies of the served folder: what is solved so far, the rows of a line, and the spot behind a row.

Answers are kept until a part of the study is added or replaced. Of a study that is still running, only the parts that
are new since the last look are read.
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
from regretless.page.library import HERE, Library, plain_name

__all__ = ["COLUMNS", "OpenStudy", "StudyShelf"]

KEPT_ANSWERS = 12
KEPT_PLANS = 4
MOST_LINES = 1_000
KEPT_FOLDERS = 2
COLUMNS = ("spot", "flop", "ranks", "high", "middle", "low", "pairing", "suits", "connectedness", "texture")
READ = (
    *COLUMNS, "variation", "weight", "reach", "line", "pattern", "street", "player", "place", "action", "kind",
    "frequency", "oop_ev", "ip_ev", "oop_equity", "ip_equity", "node_pot",
)  # fmt: skip

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class OpenStudy:
    """A study as it is at this moment."""

    name: str  # its folder, as the page names it
    folder: StudyFolder
    done: int  # spots
    revision: str  # changes whenever a spot is added or solved again

    @property
    def title(self) -> str:
        return self.folder.manifest.name or self.folder.path.name


class StudyShelf:
    """Reads studies, and keeps the answers that were read last."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._answers: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._plans: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._folders: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._changing = threading.Lock()
        self._reading = threading.Lock()  # tables are read by one request at a time

    def open(self, name: str) -> OpenStudy:
        """The study of a folder; an error is one sentence."""
        path = self.library.study(name)
        opened = replace(GrowingFolder.open(path), columns=READ)
        said = opened.manifest
        key = name, said.name, said.digest, said.toml, said.spots
        folder = self._kept(self._folders, KEPT_FOLDERS, key, lambda: opened)
        try:
            changed = (folder.path / "runs").stat().st_mtime_ns  # also if a part is replaced by one of its size
            return OpenStudy(name, folder, len(folder.written()), f"{folder.fingerprint()[:16]}-{changed:x}")
        except OSError as error:
            raise InvalidFile(path, f"cannot be read: {reason(error)}") from None

    def plan(self, study: OpenStudy) -> StudyPlan:
        """What is studied."""
        return self._kept(self._plans, KEPT_PLANS, (study.name, study.folder.manifest.toml), lambda: study.folder.plan)

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
        read = partial(study_lines, study.folder, variation=variation, limit=MOST_LINES)
        with self._reading:
            return self._kept(self._answers, KEPT_ANSWERS, (study.name, study.revision, variation), read)

    def report(self, study: OpenStudy, variation: int, line: str) -> StudyReport:
        """A row per flop at a line, and all of them together."""
        read = partial(study_report, study.folder, line=line, by=COLUMNS, variation=variation)
        with self._reading:
            return self._kept(self._answers, KEPT_ANSWERS, (study.name, study.revision, variation, line), read)

    def spot(self, study: OpenStudy, id_: str) -> StudySpot:
        """A spot of the study by its name in the tables."""
        plan = self.plan(study)
        by_id = self._kept(
            self._plans,
            KEPT_PLANS,
            (study.name, study.folder.manifest.toml, "spots"),
            lambda: {spot.id: spot for spot in plan.spots},
        )
        if id_ not in by_id:
            raise NotFound(f"spot: {id_[:80]!r} is not in the study", "spot")
        return by_id[id_]

    def solve_name(self, study: OpenStudy, spot: StudySpot) -> str:
        """The name under which the page solves a spot."""
        return f"{study.title[:40]} {spot.id}"

    def solution_file(self, study: OpenStudy, spot: StudySpot) -> str | None:
        """The file with the whole solution: the study's own, or one that was solved from the page."""
        kept = f"solutions/{spot.id}.rgl" if study.name == HERE else f"{study.name}/solutions/{spot.id}.rgl"
        if self.library.path(kept, ".rgl").is_file():
            return kept
        solved = f"{plain_name(self.solve_name(study, spot))}.rgl"
        return solved if self._has(solved, spot.spot) else None

    def _has(self, file: str, spot: Spot) -> bool:
        """Whether a file is the solution of a spot, whatever the spot is called."""
        path = self.library.path(file, ".rgl")
        if not path.is_file() or self.library.summary(file).kind != "spot":
            return False
        try:
            header = Fields(path, open_container(path).header)
            found = Spot.parse(header.text("spot", longest=2**23), warn=False)
        except RegretlessError:
            return False
        return replace(found, name="").to_toml() == replace(spot, name="").to_toml()

    def _kept(
        self, shelf: OrderedDict[tuple[Any, ...], Any], most: int, key: tuple[Any, ...], read: Callable[[], Kept]
    ) -> Kept:
        with self._changing:
            if key in shelf:
                shelf.move_to_end(key)
                found: Kept = shelf[key]
                return found
        answer = read()
        with self._changing:
            shelf[key] = answer
            while len(shelf) > most:
                shelf.popitem(last=False)
        return answer
