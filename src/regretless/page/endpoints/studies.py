"""Studies: which there are, their lines, a table of flops, and the spot behind a row."""

from __future__ import annotations

from typing import Any

from regretless.errors import RegretlessError
from regretless.page.answers.spot import spot_fields
from regretless.page.answers.study import (
    FLOPS,
    LINES,
    STUDY,
    STUDY_SUMMARY,
    flops_json,
    lines_json,
    plan_json,
    study_json,
)
from regretless.page.endpoint import Endpoint
from regretless.page.endpoints.browsing import LINE
from regretless.page.schema import array, integer, nullable, number, obj, text
from regretless.page.service import Service

__all__ = ["ENDPOINTS"]


def studies(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    found = []
    for name in service.library.studies():
        try:
            found.append(study_json(service.studies.open(name)) | {"note": None})
        except RegretlessError as error:
            found.append({"study": name, "name": name, "note": service.library.without_folder(str(error))})
    return {"studies": found}


def study(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    found = service.studies.open(given["study"])
    return study_json(found) | plan_json(service.studies.plan(found))


def lines(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    found = service.studies.open(given["study"])
    number = service.studies.variation(found, given["variation"]).number
    listed = lines_json(service.studies.lines(found, number)) if found.done else []
    return {"study": found.name, "revision": found.revision, "variation": number, "lines": listed}


def flops(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    found = service.studies.open(given["study"])
    number = service.studies.variation(found, given["variation"]).number
    report = service.studies.report(found, number, given["line"])
    return {"study": found.name, "revision": found.revision, "variation": number} | flops_json(report)


def spot(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    found = service.studies.open(given["study"])
    chosen = service.studies.spot(found, given["spot"])
    plan = service.studies.plan(found)
    name = service.studies.solve_name(found, chosen)
    return {
        "spot": chosen.id,
        "file": service.studies.solution_file(found, chosen),
        "request": {
            "spot": spot_fields(chosen.spot, service.library) | {"name": name},
            "name": name,
            "target": plan.target,
            "iterations": plan.iterations,
            "variant": plan.variant,
            "storage": plan.storage,
        },
    }


_STUDY = text('folder of the study, relative to the served one; "." is the served folder itself', longest=300)
_VARIATION = integer("number of the combination of varied values, from 1", minimum=1, maximum=1_000, default=1)

ENDPOINTS = [
    Endpoint(
        method="GET",
        path="/studies",
        summary="Studies of the folder",
        handle=studies,
        answer=obj({"studies": array(STUDY_SUMMARY)}),
    ),
    Endpoint(
        method="GET",
        path="/study",
        summary="How far a study is, and what varies in it",
        handle=study,
        query={"study": _STUDY},
        answer=STUDY,
    ),
    Endpoint(
        method="GET",
        path="/study/lines",
        summary="The lines of a study, with the mix of actions at each",
        handle=lines,
        query={"study": _STUDY, "variation": _VARIATION},
        answer=LINES,
    ),
    Endpoint(
        method="GET",
        path="/study/flops",
        summary="Frequencies, EV, equity and EQR at a line, flop by flop",
        handle=flops,
        query={"study": _STUDY, "variation": _VARIATION, "line": LINE},
        answer=FLOPS,
    ),
    Endpoint(
        method="GET",
        path="/study/spot",
        summary="The spot of a row: the file with its solution, or what to ask of /solves",
        handle=spot,
        query={"study": _STUDY, "spot": text("name of the spot in the tables: QsJh2h", longest=40)},
        answer=obj(
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
        ),
    ),
]
