"""The studies of the served folder for the page: how far each is, the rows of a line, and the spot behind a row."""

from __future__ import annotations

import math
from typing import Annotated

from regretless.errors import RegretlessError
from regretless.holdem.spots.spot_fields import PLAYERS
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.queries import StudyLine
from regretless.holdem.studies.reports import ReportRow, StudyReport
from regretless.holdem.studies.rows import TABLES
from regretless.page.endpoint import NotFound, Routes
from regretless.page.library import Library
from regretless.page.nodes import Line
from regretless.page.schema import Json, Schema, array, boolean, integer, nullable, number, obj, rounded, text
from regretless.page.spots import spot_fields
from regretless.page.study_runs import RUN, StudyRuns
from regretless.page.study_shelf import GROUPS, OpenStudy, StudyShelf

__all__ = ["StudyName", "routes"]

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
    columns: dict[str, list[str] | list[float | None]] = {
        name: [str(row.group[index] or "") for row in rows] for index, name in enumerate(GROUPS)
    }
    columns["weight"] = [_weight(row) for row in rows]
    for name in MEANS:
        columns[name] = [rounded(getattr(row, name)) for row in rows]
    return {
        "line": report.line,
        "player": str(report.player or ""),
        "actions": [str(action or "") for action in report.actions],
        "kinds": [str(kind or "") for kind in report.kinds.values()],
        "columns": columns,
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
    """The weight in full precision: the page takes means over rows, also at lines that are hardly ever played."""
    return float(row.weight) if math.isfinite(row.weight) else None


def _plain(value: object) -> str | float | None:
    """A value of a varied field: a number or a text."""
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
    **{name: array(text()) for name in GROUPS},
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
    starting = [name for name in runs.runs if name not in folders]
    for name in folders + starting:
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
    study_spot, options = shelf.spot(opened, spot), shelf.plan(opened).options
    name = shelf.solve_name(opened, study_spot)
    return {
        "spot": study_spot.id,
        "file": shelf.solution_file(opened, study_spot),
        "request": {
            "spot": spot_fields(study_spot.spot, library) | {"name": name},
            "name": name,
            "target": options.target,
            "iterations": options.iterations,
            "variant": options.variant,
            "storage": options.storage,
        },
    }
