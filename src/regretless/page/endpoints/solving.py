"""Solves: start, stop, resume, follow."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

from starlette.concurrency import run_in_threadpool

from regretless.api import load
from regretless.errors import RegretlessError
from regretless.page.answers.schemas import SOLVE
from regretless.page.endpoint import Endpoint, Events, TooMany
from regretless.page.endpoints.browsing import LOCK
from regretless.page.endpoints.files import FILE
from regretless.page.endpoints.setup import SPOT
from regretless.page.schema import Schema, array, boolean, integer, nullable, number, obj, text
from regretless.page.service import Service
from regretless.page.solving.asking import asked_request
from regretless.page.solving.job import Job, JobRequest

__all__ = ["ENDPOINTS"]

LONGEST_NAME = 120  # characters
_TARGET = nullable(number("percent of the pot; for a game, its units", exclusiveMinimum=0, maximum=100, default=None))
_ITERATIONS = nullable(integer(minimum=1, maximum=10**9, default=None))


async def start(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    taken = set(service.queue.writing())
    request = await run_in_threadpool(asked_request, given, service.library, taken)
    if request.file in service.queue.writing():  # another request took the name meanwhile
        request = await run_in_threadpool(asked_request, given, service.library, set(service.queue.writing()))
    job = service.queue.add(request)
    return {"solve": service.queue.as_json(job)}


async def solves(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    running = sum(job.state in ("starting", "running", "stopping") for job in service.queue.jobs.values())
    return {"solves": service.queue.listed(), "running": running, "limit": service.queue.limit}


async def solve(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    job = service.queue.get(given["id"])
    await _read_curve(service, job)
    return {"solve": service.queue.as_json(job)}


async def stop(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    return {"solve": service.queue.as_json(service.queue.stop(given["id"]))}


async def resume(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    job = service.queue.get(given["id"])
    request = job.request
    if job.is_over:
        ends = {"target": given["target"], "iterations": given["iterations"]}
        request = await run_in_threadpool(_renewed_request, service, job, ends)
    return {"solve": service.queue.as_json(service.queue.resume(job.id, request))}


def _renewed_request(service: Service, job: Job, ends: dict[str, Any]) -> JobRequest:
    """The request of a solve that is over, checked like a new one: the list of solves may come from somebody else."""
    before = job.request
    options = before.options | (ends if any(value is not None for value in ends.values()) else {})
    body = {name: value for name, value in options.items() if value is not None}
    if job.saved or before.resume is not None:
        body["resume"] = before.file if job.saved else before.resume
    elif before.game is not None:
        body |= {"game": before.game, "name": before.name[:LONGEST_NAME]}
    else:
        body |= {"toml": before.toml, "name": before.name[:LONGEST_NAME]}
    given = START.checked(json.dumps(body).encode())
    found = asked_request(given, service.library, set(service.queue.writing()))
    chosen = {name: given[name] for name in ("variant", "storage")}  # which a resumed file has decided
    return replace(found, name=before.name, again=before.again, options=found.options | chosen)


async def forget(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    service.queue.remove(given["id"])
    return {"id": given["id"]}


async def events_of(service: Service, given: dict[str, Any]) -> Events:
    job = service.queue.get(given["id"])
    await _read_curve(service, job)
    _check_streams(service)
    return Events(service.queue.events_of(job))


async def events(service: Service, given: dict[str, Any]) -> Events:
    _check_streams(service)
    return Events(service.queue.events())


def _check_streams(service: Service) -> None:
    if service.queue.is_crowded:
        raise TooMany("too many pages follow this server already")


async def _read_curve(service: Service, job: Job) -> None:
    """The curve of a solve that an earlier server ran is in its file."""
    if job.curve or not job.saved or not job.is_over:
        return

    def read() -> list[list[float]]:
        found = load(service.library.existing(job.request.file, ".rgl"))
        return [[point.iteration, point.seconds, max(point.exploitability, 0.0)] for point in found.curve]

    with suppress(RegretlessError):  # the file has gone or is damaged: opening it says so
        job.curve = await run_in_threadpool(read)


_SOLVE: Schema = obj({"solve": SOLVE})

START = Endpoint(
    method="POST",
    path="/solves",
    summary="Solve a spot or a game, resume a file, or solve again with locks",
    handle=start,
    body=obj(
        {
            "spot": nullable(SPOT) | {"default": None},
            "toml": nullable(text(longest=1 << 20, default=None)),
            "game": nullable(text(longest=200, default=None)),
            "resume": nullable(FILE | {"default": None}),
            "again": nullable(FILE | {"default": None}),
            "locks": nullable(array(LOCK, maxItems=2000)) | {"default": None},
            "keep_locks": boolean("with `again`: keep the locks of that file too", default=True),
            "name": nullable(text(longest=LONGEST_NAME, default=None)),
            "target": _TARGET,
            "iterations": _ITERATIONS,
            "variant": nullable(text(longest=200, default=None)),
            "device": text(enum=["auto", "cpu", "cuda", "mps"], default="auto"),
            "threads": nullable(integer("at most", minimum=1, default=None)),
            "storage": nullable(integer(enum=[16, 32], default=None)),
        },
        required=(),
    ),
    answer=_SOLVE,
    status=201,
)

ENDPOINTS = [
    START,
    Endpoint(
        method="GET",
        path="/solves",
        summary="All solves, newest first",
        handle=solves,
        answer=obj({"solves": array(SOLVE), "running": integer(), "limit": integer()}),
    ),
    Endpoint(method="GET", path="/solves/{id}", summary="One solve with its curve", handle=solve, answer=_SOLVE),
    Endpoint(
        method="POST", path="/solves/{id}/stop", summary="Stop and save", handle=stop, body=obj({}), answer=_SOLVE
    ),
    Endpoint(
        method="POST",
        path="/solves/{id}/resume",
        summary="Continue, perhaps to a finer target",
        handle=resume,
        body=obj({"target": _TARGET, "iterations": _ITERATIONS}, required=()),
        answer=_SOLVE,
    ),
    Endpoint(
        method="DELETE",
        path="/solves/{id}",
        summary="Take a solve off the list; its file stays",
        handle=forget,
        answer=obj({"id": text()}),
    ),
    Endpoint(
        method="GET",
        path="/solves/{id}/events",
        summary="Follow a solve: events solve, progress, point, saved",
        handle=events_of,
        answer=text(),
        streams=True,
    ),
    Endpoint(
        method="GET",
        path="/events",
        summary="Follow the list of solves: event solves",
        handle=events,
        answer=text(),
        streams=True,
    ),
]
