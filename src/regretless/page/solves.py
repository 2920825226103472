"""Solves: started, stopped, resumed, followed. Everything is checked, and memory counted, before a solve waits."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from starlette.concurrency import run_in_threadpool

from regretless.api import load, problem_of
from regretless.cards.deck import board_text
from regretless.engines import available_cores
from regretless.errors import InvalidOption, RegretlessError
from regretless.files.atomic import check_writable
from regretless.games.registry import names
from regretless.holdem.estimate import STORAGES, estimate_spot
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.problem import SpotProblem
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import AnyLock, LockFrom, check_lock
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.toml_fields import parse_toml
from regretless.page.endpoint import Conflict, Events, RefusedRequest, Routes, TooMany, checked_body
from regretless.page.folder import FILE
from regretless.page.jobs import SOLVE, JobRequest, SolveJob, curve_json
from regretless.page.library import Library
from regretless.page.locks import LOCK, read_lock
from regretless.page.naming import solve_names
from regretless.page.queue import RESUMED, SolveQueue
from regretless.page.schema import Json, Schema, array, boolean, integer, nullable, number, obj, text
from regretless.page.spots import SPOT, read_spot
from regretless.solving.options import SolveOptions
from regretless.solving.request import make_request
from regretless.solving.solution import Solution

__all__ = ["OPTIONS", "routes"]

MAX_NAME_LENGTH = 120  # characters
SUBJECTS = ("spot", "toml", "game", "resume", "again")  # exactly one of these says what is solved

_TARGET = nullable(number("percent of the pot; for a game, its units", exclusiveMinimum=0, maximum=100, default=None))
_ITERATIONS = nullable(integer(minimum=1, maximum=10**9, default=None))
OPTIONS: dict[str, Schema] = {  # the fields of `SolveOptions` that the page offers, and what it accepts for each
    "target": _TARGET,
    "iterations": _ITERATIONS,
    "variant": nullable(text(longest=200, default=None)),
    "device": text(enum=["auto", "cpu", "cuda", "mps"], default="auto"),
    "threads": nullable(integer("at most", minimum=1, default=None)),
    "storage": nullable(integer(enum=sorted(STORAGES), default=None)),
}
BODY = obj(
    {
        "spot": nullable(SPOT) | {"default": None},
        "toml": nullable(text(longest=1 << 20, default=None)),
        "game": nullable(text(longest=200, default=None)),
        "resume": nullable(FILE | {"default": None}),
        "again": nullable(FILE | {"default": None}),
        "locks": nullable(array(LOCK, maxItems=2000)) | {"default": None},
        "keep_locks": boolean("with `again`: keep the locks of that file too", default=True),
        "drop_locks": array(
            integer(minimum=0), "with `again`: positions of locks of that file that are not kept", default=[]
        ),
        "name": nullable(text(longest=MAX_NAME_LENGTH, default=None)),
        **OPTIONS,
    },
    required=(),
)
_SOLVE = obj({"solve": SOLVE})

routes = Routes()


@routes.endpoint(
    "POST",
    "/solves",
    "Solve a spot or a game, resume a file, or solve again with locks",
    _SOLVE,
    status=201,
    body=BODY,
)
async def start(library: Library, queue: SolveQueue, **body: Any) -> Json:
    writing = set(queue.writing())
    request = await run_in_threadpool(_request, body, library, writing)
    if request.file in queue.writing():  # another request took the name meanwhile
        request = await run_in_threadpool(_request, body, library, set(queue.writing()))
    return {"solve": queue.as_json(queue.add(request))}


@routes.endpoint(
    "GET",
    "/solves",
    "All solves, newest first",
    obj({"solves": array(SOLVE), "running": integer(), "limit": integer()}),
)
async def solves(queue: SolveQueue) -> Json:
    running = sum(job.state in ("starting", "running", "stopping") for job in queue.jobs.values())
    return {"solves": queue.all_as_json(), "running": running, "limit": queue.limit}


@routes.endpoint("GET", "/solves/{id}", "One solve with its curve", _SOLVE)
async def solve(library: Library, queue: SolveQueue, id: str) -> Json:
    job = queue.get(id)
    await _read_curve(library, job)
    return {"solve": queue.as_json(job)}


@routes.endpoint("POST", "/solves/{id}/stop", "Stop and save", _SOLVE)
async def stop(queue: SolveQueue, id: str) -> Json:
    return {"solve": queue.as_json(queue.stop(id))}


@routes.endpoint("POST", "/solves/{id}/resume", "Continue, perhaps to a finer target", _SOLVE)
async def resume(
    library: Library,
    queue: SolveQueue,
    id: str,
    target: Annotated[float | None, _TARGET] = None,
    iterations: Annotated[int | None, _ITERATIONS] = None,
) -> Json:
    job = queue.get(id)
    request = job.request
    if job.is_over:
        options = request.options
        if target is not None or iterations is not None:
            options = options | {"target": target, "iterations": iterations}
        request = await run_in_threadpool(_renewed, job, options, library, set(queue.writing()))
    return {"solve": queue.as_json(queue.resume(job.id, request))}


@routes.endpoint("DELETE", "/solves/{id}", "Take a solve off the list; its file stays", obj({"id": text()}))
async def forget(queue: SolveQueue, id: str) -> Json:
    queue.remove(id)
    return {"id": id}


@routes.endpoint(
    "GET", "/solves/{id}/events", "Follow a solve: events solve, progress, point, saved", text(), streams=True
)
async def events_of(library: Library, queue: SolveQueue, id: str) -> Events:
    job = queue.get(id)
    await _read_curve(library, job)
    _check_streams(queue)
    return Events(queue.events_of(job))


@routes.endpoint("GET", "/events", "Follow the list of solves: event solves", text(), streams=True)
async def events(queue: SolveQueue) -> Events:
    _check_streams(queue)
    return Events(queue.events())


def _check_streams(queue: SolveQueue) -> None:
    if queue.is_crowded:
        raise TooMany("too many pages follow this server already")


async def _read_curve(library: Library, job: SolveJob) -> None:
    """Read the curve of a solve that an earlier server ran: it is in its file."""
    if job.curve or not job.saved or not job.is_over:
        return

    def read() -> list[list[float]]:
        return curve_json(load(library.existing(job.request.file, ".rgl")))

    with suppress(RegretlessError):  # the file was deleted or is damaged: opening it says so
        job.curve = await run_in_threadpool(read)


# --- requests --------------------------------------------------------------------------------------------------------


def _renewed(job: SolveJob, options: Json, library: Library, writing: set[str]) -> JobRequest:
    """The request of a solve that is over, checked like a new one: the list of solves may come from somebody else."""
    before = job.request
    body = {name: value for name, value in options.items() if value is not None}
    if job.saved or before.resume is not None:
        body["resume"] = before.file if job.saved else before.resume
    elif before.game is not None:
        body |= {"game": before.game, "name": before.name[:MAX_NAME_LENGTH]}
    else:
        body |= {"toml": before.toml, "name": before.name[:MAX_NAME_LENGTH]}
    body = checked_body(json.dumps(body).encode(), BODY)
    request = _request(body, library, writing)
    options = request.options | {name: body[name] for name in RESUMED}
    return replace(request, name=before.name, again=before.again, options=options)


def _request(body: Json, library: Library, writing: set[str]) -> JobRequest:
    """The request of a body of `POST /solves`; `writing` are files that other solves will write."""
    subjects = [name for name in SUBJECTS if body.get(name) is not None]
    if len(subjects) != 1:
        raise RefusedRequest(f"give exactly one of {', '.join(SUBJECTS)}", subjects[1] if subjects else "spot")
    options = {name: body.get(name) for name in OPTIONS}
    if body["resume"] is not None:
        request = _resumed(body["resume"], options, library, writing)
    elif body["game"] is not None:
        request = _game(body, options, library, writing)
    else:
        request = _spot(body, options, library, writing)
    check_writable(library.path(request.file, ".rgl"))
    return request


def _spot(body: Json, options: Json, library: Library, writing: set[str]) -> JobRequest:
    again = body["again"]
    if again is not None:
        with library.spot(again) as (solution, _):
            spot = _locked_again(solution.spot, body, library)
        name = file = body["name"] or f"{Path(again).stem} locked"
    else:
        spot = read_spot(body["spot"] or parse_toml(body["toml"] or "", "toml"), library)
        name, file = solve_names(spot, body["name"])
    spot = replace(spot, name=name[:200])
    needed = _check_spot(spot, SolveOptions.read(options))
    return JobRequest(
        name=name,
        file=library.free_name(file, writing),
        toml=spot.to_toml(),
        again=again,
        options=options,
        needed_bytes=needed,
        **_about(spot),
    )


def _locked_again(spot: Spot, body: Json, library: Library) -> Spot:
    """A solved spot with the locks of a request, after those of its own that the request keeps."""
    earlier: tuple[AnyLock, ...] = ()
    if body["keep_locks"]:
        earlier = tuple(lock for position, lock in enumerate(spot.locks) if position not in body["drop_locks"])
    for lock in earlier:
        if isinstance(lock, LockFrom) and not Path(lock.source).resolve().is_relative_to(library.folder):
            raise InvalidOption("keep_locks", True, "would read a solution outside the served folder")
    added = tuple(read_lock(lock, library) for lock in body["locks"] or ())
    tree = betting_tree(spot)
    for index, lock in enumerate(added):
        check_lock(tree, lock, f"locks[{index}]")
    return replace(spot, locks=(*earlier, *added))


def _check_spot(spot: Spot, options: SolveOptions) -> int:
    """Refuse what cannot be solved, before it waits; returns the bytes that it needs."""
    problem = SpotProblem(spot, options)
    request = make_request(problem, options)
    problem.check_fits(request)
    threads = request.threads or available_cores()
    size = estimate_spot(problem.spot, threads=threads, predicts=request.predicts, size=problem.public_size())
    return size.memory_bytes[request.settings.storage or 32]


def _game(body: Json, options: Json, library: Library, writing: set[str]) -> JobRequest:
    game = body["game"]
    _check_game("game", game)
    solve_options = SolveOptions.read(options)
    problem = problem_of(game, solve_options)
    make_request(problem, solve_options)
    name = body["name"] or re.sub(r"[^\w-]+", "-", game).strip("-")
    file = library.free_name(name, writing)
    return JobRequest(name=name, file=file, game=game, options=options, unit=problem.unit)


def _check_game(field: str, game: str) -> None:
    """Refuse any game but one of the package: the file of one, or the name of another library's."""
    allowed = names()
    plain = game.partition("(")[0].strip().replace("-", "_")
    if plain not in {each.replace("-", "_") for each in allowed} or game.strip().lower().endswith(".efg"):
        raise InvalidOption(field, game, f"is not one of {', '.join(allowed)}")


def _resumed(file: str, options: Json, library: Library, writing: set[str]) -> JobRequest:
    path = library.existing(file, ".rgl")
    if file in writing:
        raise Conflict(f"resume: {file} is being solved already", "resume")
    solution = load(path)
    options = options | dict.fromkeys(RESUMED)
    request = JobRequest(name=solution.game, file=file, resume=file, options=options, unit="in the game's units")
    return _check_resume(request, solution)


def _check_resume(request: JobRequest, solution: Solution) -> JobRequest:
    """Refuse a solution that cannot be resumed here, or that has reached its end."""
    if solution.settings.buckets is not None:
        reason = "was solved with buckets, whose tables may lie elsewhere: regretless solve --resume resumes it"
        raise InvalidOption("resume", request.file, reason)
    options = SolveOptions.read({**request.options, "resume": solution})
    if not isinstance(solution, SpotSolution):
        _check_game("resume", solution.game)
        make_request(problem_of(None, options), options)
        return replace(request, game=solution.game)
    needed = _check_spot(solution.spot, replace(options, storage=solution.settings.storage or 32))
    return replace(request, unit="% of the pot", needed_bytes=needed, **_about(solution.spot))


def _about(spot: Spot) -> Json:
    """The fields of a `JobRequest` that describe a spot."""
    return {"board": board_text(spot.board), "pot": spot.pot, "stack": spot.stack, "locks": len(spot.locks)}
