"""Practice: hands against a solved spot."""

from __future__ import annotations

from typing import Any

from regretless.page.answers.schemas import PRACTICE
from regretless.page.endpoint import Endpoint
from regretless.page.endpoints.browsing import LINE
from regretless.page.endpoints.files import FILE
from regretless.page.schema import integer, nullable, obj, text
from regretless.page.service import Service

__all__ = ["ENDPOINTS"]


def begin(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    session = service.table.open(given["file"], given["player"], given["line"], given["seed"])
    with service.library.spot(session.file) as (solution, _):
        session.deal(solution.reader)
        answer = session.as_json(solution.reader)
    service.table.keep(session)
    return {"practice": answer}


def state(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    with service.table.session(given["id"]) as session, service.library.spot(session.file) as (solution, _):
        return {"practice": session.as_json(solution.reader)}


def act(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    with service.table.session(given["id"]) as session, service.library.spot(session.file) as (solution, _):
        session.act(solution.reader, given["action"])
        return {"practice": session.as_json(solution.reader)}


def deal(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    with service.table.session(given["id"]) as session, service.library.spot(session.file) as (solution, _):
        session.deal(solution.reader)
        return {"practice": session.as_json(solution.reader)}


_STATE = obj({"practice": PRACTICE})

ENDPOINTS = [
    Endpoint(
        method="POST",
        path="/practice",
        summary="Sit down and be dealt a hand",
        handle=begin,
        body=obj(
            {
                "file": FILE,
                "player": nullable(text(enum=["oop", "ip"])) | {"default": None},
                "line": LINE,
                "seed": nullable(integer(minimum=0, maximum=2**53, default=None)),
            },
            required=("file",),
        ),
        answer=_STATE,
        status=201,
    ),
    Endpoint(method="GET", path="/practice/{id}", summary="The hand being played", handle=state, answer=_STATE),
    Endpoint(
        method="POST",
        path="/practice/{id}/act",
        summary="Take an action and be judged",
        handle=act,
        body=obj({"action": text(longest=100)}),
        answer=_STATE,
    ),
    Endpoint(
        method="POST",
        path="/practice/{id}/deal",
        summary="The next hand",
        handle=deal,
        body=obj({}),
        answer=_STATE,
    ),
]
