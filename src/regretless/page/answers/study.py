"""Studies as JSON: what is solved, the lines, and a line's rows column by column."""

from __future__ import annotations

import math
from typing import Any

from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.queries import StudyLine
from regretless.holdem.studies.reports import ReportRow, StudyReport
from regretless.page.answers.numbers import rounded
from regretless.page.schema import Schema, array, boolean, integer, nullable, number, obj, text
from regretless.page.studies import COLUMNS, OpenStudy

__all__ = ["FLOPS", "LINES", "STUDY", "STUDY_SUMMARY", "flops_json", "lines_json", "plan_json", "study_json"]

MEANS = {
    "oop_ev": "chips",
    "ip_ev": "chips",
    "oop_equity": "0 to 1",
    "ip_equity": "0 to 1",
    "oop_eqr": "equity realised",
    "ip_eqr": "equity realised",
}


def study_json(study: OpenStudy) -> dict[str, Any]:
    """A study, without reading its tables."""
    return {
        "study": study.name,
        "name": study.title,
        "spots": study.folder.manifest.spots,
        "done": study.done,
        "revision": study.revision,
    }


def plan_json(plan: StudyPlan) -> dict[str, Any]:
    """What varies, and what is kept."""
    return {
        "varied": list(plan.varied),
        "variations": [[_plain(value) for value in each.parameters.values()] for each in plan.variations],
        "keeps_solutions": plan.keep.solutions,
    }


def lines_json(lines: list[StudyLine]) -> list[dict[str, Any]]:
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


def flops_json(report: StudyReport) -> dict[str, Any]:
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


def _total(row: ReportRow, actions: tuple[str, ...]) -> dict[str, Any]:
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


_NUMBER = nullable(number())
STUDY_SUMMARY = obj(
    {
        "study": text('folder relative to the served one; "." is the served folder itself'),
        "name": text(),
        "spots": integer("in the whole study"),
        "done": integer("spots that are solved"),
        "revision": text("changes whenever a spot is added or solved again"),
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
    **{name: array(_NUMBER, unit) for name, unit in MEANS.items()},
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
