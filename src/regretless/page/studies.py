"""The studies of the served folder: what is solved so far, the rows of a line, and the spot behind a row.

What is read is kept until a part of the study is added or replaced. Of a study that is still running, only the parts
that are new since the last look are read.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, TypeVar

from regretless.errors import InvalidFile, InvalidOption, RegretlessError
from regretless.files.atomic import reason
from regretless.files.container import open_container
from regretless.files.fields import Fields
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS
from regretless.holdem.studies.folder import GrowingFolder, StudyFolder
from regretless.holdem.studies.plan import StudyPlan, StudySpot, Variation
from regretless.holdem.studies.queries import StudyLine, study_lines
from regretless.holdem.studies.reports import ReportRow, StudyReport, study_report
from regretless.holdem.studies.rows import TABLES
from regretless.page.endpoint import NotFound, Routes
from regretless.page.folder import SERVED_FOLDER, plain_name
from regretless.page.library import Library
from regretless.page.nodes import Line
from regretless.page.schema import Json, Schema, array, boolean, integer, nullable, number, obj, rounded, text
from regretless.page.spots import spot_fields
from regretless.page.study_runs import RUN, StudyRuns

__all__ = ["OpenStudy", "StudyName", "StudyShelf", "routes"]

MAX_CACHED_REPORTS = 12
MAX_CACHED_PLANS = 4
MAX_LINES = 1_000
MAX_CACHED_FOLDERS = 2
COLUMNS = ("spot", "flop", "ranks", "high", "middle", "low", "pairing", "suits", "connectedness", "texture")
READ = (
    *COLUMNS, "variation", "weight", "reach", "line", "pattern", "street", "player", "place", "action", "kind",
    "frequency", "oop_ev", "ip_ev", "oop_equity", "ip_equity", "node_pot",
)  # fmt: skip

Read = TypeVar("Read")


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


Shelf = OrderedDict[tuple[object, ...], Any]  # the most recently used last


class StudyShelf:
    """Reads studies, and keeps what was read last."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._reports: Shelf = OrderedDict()
        self._plans: Shelf = OrderedDict()
        self._folders: Shelf = OrderedDict()
        self._changing = threading.Lock()
        self._reading = threading.Lock()  # tables are read by one request at a time

    def open(self, name: str) -> OpenStudy:
        """The study of a folder; an error is one sentence."""
        path = self.library.study(name)
        opened = replace(GrowingFolder.open(path), columns=READ)
        manifest = opened.manifest
        key = name, manifest.name, manifest.digest, manifest.toml, manifest.spots
        folder = self._kept(self._folders, MAX_CACHED_FOLDERS, key, lambda: opened)
        try:
            changed = (folder.path / "runs").stat().st_mtime_ns  # also if a part is replaced by one of its size
            return OpenStudy(name, folder, len(folder.written()), f"{folder.fingerprint()[:16]}-{changed:x}")
        except OSError as error:
            raise InvalidFile(path, f"cannot be read: {reason(error)}") from None

    def plan(self, study: OpenStudy) -> StudyPlan:
        """What is studied."""
        return self._kept(
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
            return self._kept(self._reports, MAX_CACHED_REPORTS, (study.name, study.revision, variation), read)

    def report(self, study: OpenStudy, variation: int, line: str) -> StudyReport:
        """A row per flop at a line, and all of them together."""
        read = partial(study_report, study.folder, line=line, by=COLUMNS, variation=variation)
        with self._reading:
            return self._kept(self._reports, MAX_CACHED_REPORTS, (study.name, study.revision, variation, line), read)

    def spot(self, study: OpenStudy, id_: str) -> StudySpot:
        """A spot of the study by its name in the tables."""
        plan = self.plan(study)
        by_id = self._kept(
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
        return f"{study.title[:40]} {spot.id}"

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
            solved = Spot.parse(header.text("spot", longest=2**23), warn=False)
        except RegretlessError:
            return False
        return replace(solved, name="").to_toml() == replace(spot, name="").to_toml()

    def _kept(self, shelf: Shelf, most: int, key: tuple[object, ...], read: Callable[[], Read]) -> Read:
        with self._changing:
            if key in shelf:
                shelf.move_to_end(key)
                result: Read = shelf[key]
                return result
        result = read()
        with self._changing:
            shelf[key] = result
            while len(shelf) > most:
                shelf.popitem(last=False)
        return result


# --- as JSON ---------------------------------------------------------------------------------------------------------

MEANS = ("oop_ev", "ip_ev", "oop_equity", "ip_equity", "oop_eqr", "ip_eqr")  # over the hands of a line


def _study_json(study: OpenStudy) -> Json:
    """A study, without reading its tables."""
    return {
        "study": study.name,
        "name": study.title,
        "spots": study.folder.manifest.spots,
        "done": study.done,
        "revision": study.revision,
    }


def _plan_json(plan: StudyPlan) -> Json:
    """What the players are called, what varies, and what is kept."""
    fields = plan.variations[0].fields
    return {
        "seats": {player: fields.position_of(player) for player in PLAYERS},
        "varied": list(plan.varied),
        "variations": [[_plain(value) for value in each.parameters.values()] for each in plan.variations],
        "keeps_solutions": plan.keep.solutions,
    }


def _lines_json(lines: list[StudyLine]) -> list[Json]:
    return [
        {
            "line": each.line,
            "player": str(each.player or ""),
            "street": str(each.street or ""),
            "spots": each.spots,
            "pot": rounded(each.pot),
            "actions": [
                {"name": str(action or ""), "frequency": rounded(frequency)}
                for action, frequency in each.frequencies.items()
            ],
        }
        for each in lines
    ]


def _flops_json(report: StudyReport) -> Json:
    """The rows of a report as columns."""
    rows = report.rows
    named = zip(*(row.group for row in rows), strict=True)
    columns = {name: [str(value or "") for value in values] for name, values in zip(COLUMNS, named, strict=True)}
    return {
        "line": report.line,
        "player": str(report.player or ""),
        "actions": [str(action or "") for action in report.actions],
        "kinds": [str(kind or "") for kind in report.kinds.values()],
        "columns": columns
        | {"weight": [_weight(row) for row in rows]}
        | {name: [rounded(getattr(row, name)) for row in rows] for name in MEANS},
        "frequencies": [[rounded(row.frequencies[action]) for row in rows] for action in report.actions],
        "total": _total(report.total, report.actions),
        "coverage": report.coverage.as_json(),
    }


def _total(row: ReportRow, actions: tuple[str, ...]) -> Json:
    return {
        "spots": row.spots,
        "weight": _weight(row),
        "frequencies": [rounded(row.frequencies[action]) for action in actions],
        **{name: rounded(getattr(row, name)) for name in MEANS},
    }


def _weight(row: ReportRow) -> float | None:
    """With all its digits: the page takes means over rows, also at lines that are hardly ever played."""
    return float(row.weight) if math.isfinite(row.weight) else None


def _plain(value: object) -> str | float | None:
    return rounded(value) if isinstance(value, int | float) else str(value)


# --- endpoints -------------------------------------------------------------------------------------------------------

_NUMBER = nullable(number())
STUDY_SUMMARY = obj(
    {
        "study": text('folder relative to the served one; "." is the served folder itself'),
        "name": text(),
        "spots": integer("in the whole study"),
        "done": integer("spots that are solved"),
        "revision": text("changes whenever a spot is added or solved again"),
        "run": nullable(RUN),
        "note": nullable(text("why it cannot be read")),
    },
    required=("study", "name", "note"),
)
STUDY = obj(
    {
        "study": text(),
        "name": text(),
        "spots": integer("in the whole study"),
        "done": integer("spots that are solved"),
        "revision": text(),
        "run": nullable(RUN),
        "seats": obj({"oop": text(), "ip": text()}, "what the players are called: their positions, if known"),
        "varied": array(text("field of the spot")),
        "variations": array(array({"type": ["string", "number", "null"]}), "the values of the varied fields"),
        "keeps_solutions": boolean("whether whole solutions are kept"),
    }
)
LINES = obj(
    {
        "study": text(),
        "revision": text(),
        "variation": integer(),
        "lines": array(
            obj(
                {
                    "line": text("with `any` for every card"),
                    "player": text("who acts"),
                    "street": text(),
                    "spots": integer(),
                    "pot": _NUMBER,
                    "actions": array(obj({"name": text(), "frequency": _NUMBER}), "over all flops"),
                }
            )
        ),
    }
)
_ROWS: dict[str, Schema] = {
    **{name: array(text()) for name in COLUMNS},
    "weight": array(_NUMBER, "of the flop, times the probability of the line there"),
    **{name: array(_NUMBER, TABLES["summary"][name][1]) for name in MEANS},
}
FLOPS = obj(
    {
        "study": text(),
        "revision": text(),
        "variation": integer(),
        "line": text(),
        "player": text("who acts"),
        "actions": array(text()),
        "kinds": array(text(), "check, bet, raise, call or fold, by action"),
        "columns": obj(_ROWS, "each with an entry per spot"),
        "frequencies": array(array(_NUMBER), "by action, then by spot"),
        "total": obj(
            {
                "spots": integer(),
                "weight": _NUMBER,
                "frequencies": array(_NUMBER, "by action"),
                **dict.fromkeys(MEANS, _NUMBER),
            },
            "all spots together",
        ),
        "coverage": obj(
            {
                "solved": integer("spots of this variation that are solved: the table and its total are over these"),
                "spots": integer("of this variation in the whole study"),
                "weight": nullable(number("share of the weight that the solved ones have")),
                "complete": boolean(),
            }
        ),
    }
)
_SPOT = obj(
    {
        "spot": text(),
        "file": nullable(text("its whole solution, if there is one")),
        "request": obj(
            {
                "spot": {"type": "object"},
                "name": text(),
                "target": nullable(number()),
                "iterations": nullable(integer()),
                "variant": nullable(text()),
                "storage": integer(),
            },
            "the body of POST /solves that solves it as the study did",
        ),
    }
)
StudyName = Annotated[
    str, text('folder of the study, relative to the served one; "." is the served folder itself', longest=300)
]
VariationNumber = Annotated[
    int, integer("number of the combination of varied values, from 1", minimum=1, maximum=1_000)
]

routes = Routes()


@routes.endpoint("GET", "/studies", "Studies of the folder", obj({"studies": array(STUDY_SUMMARY)}))
def studies(library: Library, shelf: StudyShelf, runs: StudyRuns) -> Json:
    listed: list[Json] = []
    folders = library.studies()
    for name in (*folders, *(name for name in runs.runs if name not in folders)):
        try:
            listed.append(_opened_json(shelf, runs, name) | {"note": None})
        except RegretlessError as error:
            listed.append({"study": name, "name": name, "note": library.without_folder(str(error))})
    return {"studies": listed}


def _opened_json(shelf: StudyShelf, runs: StudyRuns, name: str) -> Json:
    """A study and its run; one that has just been started has no folder yet."""
    run = runs.state_of(name)
    try:
        return _study_json(shelf.open(name)) | {"run": run}
    except NotFound:
        if run is None:
            raise
        return {"study": name, "name": name.split("/")[-1], "spots": 0, "done": 0, "revision": "", "run": run}


@routes.endpoint("GET", "/study", "How far a study is, and what varies in it", STUDY)
def one_study(shelf: StudyShelf, runs: StudyRuns, study: StudyName) -> Json:
    progress = _opened_json(shelf, runs, study)
    plan = shelf.plan(shelf.open(study)) if progress["spots"] else StudyPlan.parse(runs.runs[study].toml)
    return progress | _plan_json(plan)


@routes.endpoint("GET", "/study/lines", "The lines of a study, with the mix of actions at each", LINES)
def lines(shelf: StudyShelf, study: StudyName, variation: VariationNumber = 1) -> Json:
    opened = shelf.open(study)
    number = shelf.variation(opened, variation).number
    listed = _lines_json(shelf.lines(opened, number)) if opened.done else []
    return {"study": opened.name, "revision": opened.revision, "variation": number, "lines": listed}


@routes.endpoint("GET", "/study/flops", "Frequencies, EV, equity and EQR at a line, flop by flop", FLOPS)
def flops(shelf: StudyShelf, study: StudyName, variation: VariationNumber = 1, line: Line = "") -> Json:
    opened = shelf.open(study)
    number = shelf.variation(opened, variation).number
    report = shelf.report(opened, number, line)
    return {"study": opened.name, "revision": opened.revision, "variation": number} | _flops_json(report)


@routes.endpoint(
    "GET", "/study/spot", "The spot of a row: the file with its solution, or what to ask of /solves", _SPOT
)
def one_spot(
    library: Library,
    shelf: StudyShelf,
    study: StudyName,
    spot: Annotated[str, text("name of the spot in the tables: QsJh2h", longest=40)],
) -> Json:
    opened = shelf.open(study)
    chosen, plan = shelf.spot(opened, spot), shelf.plan(opened)
    name = shelf.solve_name(opened, chosen)
    return {
        "spot": chosen.id,
        "file": shelf.solution_file(opened, chosen),
        "request": {
            "spot": spot_fields(chosen.spot, library) | {"name": name},
            "name": name,
            **{name: getattr(plan.options, name) for name in ("target", "iterations", "variant", "storage")},
        },
    }
