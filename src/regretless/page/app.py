"""The application: the API and its OpenAPI description, the page's own files, and the guard before both."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from regretless import __version__
from regretless.page import (
    arranging,
    comparing,
    files,
    games,
    locks,
    nodes,
    play,
    practice,
    preflop,
    setup,
    solves,
    spots,
    studies,
    study_starting,
)
from regretless.page.endpoint import Endpoint, refusal_json
from regretless.page.flop_solves import FlopSolver
from regretless.page.guard import Guard
from regretless.page.library import Library
from regretless.page.mistakes import MistakeList
from regretless.page.queue import SolveQueue
from regretless.page.schema import Json, Schema
from regretless.page.study_runs import StudyRuns
from regretless.page.study_shelf import StudyShelf

__all__ = ["ENDPOINTS", "PREFIX", "STATIC", "make_app", "openapi"]

PREFIX = "/api/v1"
STATIC = Path(__file__).parent / "static"
ENDPOINTS: list[Endpoint] = [
    *setup.routes, *spots.routes, *files.routes, *arranging.routes, *solves.routes, *nodes.routes, *comparing.routes,
    *locks.routes, *games.routes,
    *studies.routes, *study_starting.routes, *practice.routes, *preflop.routes, *play.routes,
]  # fmt: skip


def make_app(
    folder: Path,
    *,
    token: str | None,
    host: str = "127.0.0.1",
    other_hosts: Sequence[str] = (),
    solves: int = 1,
) -> Starlette:
    """The application for a folder.

    Requests need the `token`, unless it is None. `host` is the address the server is bound to, `other_hosts` are
    further names and addresses that reach it, and `solves` is how many solves may run at once.
    """
    library = Library(folder)
    queue = SolveQueue(library, limit=solves)
    deleted = arranging.DeletedFiles(library)
    runs = StudyRuns(library)
    table = play.PlayTable(library)
    flops = table.solver

    def end_streams() -> None:
        queue.end_streams()
        flops.end_streams()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        queue.open()
        deleted.empty()
        yield
        await asyncio.gather(queue.close(), runs.close(), flops.close())
        deleted.empty()

    app = Starlette(
        routes=[
            Route(f"{PREFIX}/openapi.json", _describe, methods=["GET"]),
            *(Route(PREFIX + each.path, each.respond, methods=[each.method]) for each in ENDPOINTS),
            Mount("/static", GZipMiddleware(StaticFiles(directory=STATIC, check_dir=False)), name="static"),
            Route("/{path:path}", _page, methods=["GET"]),
        ],
        middleware=[Middleware(Guard, token=token, host=host, other_hosts=other_hosts)],
        exception_handlers={HTTPException: _http_error, Exception: _failure},
        lifespan=lifespan,
    )
    app.state.parts = {
        Library: library, SolveQueue: queue, practice.PracticeTable: practice.PracticeTable(),
        StudyShelf: StudyShelf(library), arranging.FileNotes: arranging.FileNotes(library),
        arranging.DeletedFiles: deleted, StudyRuns: runs, MistakeList: MistakeList(library.folder),
        FlopSolver: flops, play.PlayTable: table,
    }  # fmt: skip
    app.state.without_folder = library.without_folder
    app.state.end_streams = end_streams
    app.state.turns = asyncio.Semaphore()  # of requests that take long
    return app


# --- description -----------------------------------------------------------------------------------------------------

ERROR: Schema = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "field", "position"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string", "description": "one sentence"},
                "field": {"type": ["string", "null"]},
                "position": {"type": ["integer", "null"]},
            },
        }
    },
}


def openapi(endpoints: Sequence[Endpoint], prefix: str) -> Json:
    """The description of these endpoints, in OpenAPI 3.1."""
    paths: dict[str, Json] = {}
    for endpoint in endpoints:
        paths.setdefault(prefix + endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Regretless",
            "version": __version__,
            "description": "Set up, solve, browse, lock and practise hold'em spots. Errors are one sentence each.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token in the address that `regretless serve` prints. The page has it as a "
                    "cookie. Requests without it are answered with 403, unless the server runs with --no-token.",
                }
            },
        },
    }


def _operation(endpoint: Endpoint) -> Json:
    media = "text/event-stream" if endpoint.streams else "application/json"
    refused = {
        "description": "refused",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    operation: Json = {
        "summary": endpoint.summary,
        "operationId": re.sub(r"\W+", "_", f"{endpoint.method.lower()}{endpoint.path}").strip("_"),
        "parameters": [_parameter(name, "path", {"type": "string"}) for name in endpoint.path_parameters]
        + [_parameter(name, "query", schema) for name, schema in endpoint.query.items()],
        "responses": {
            str(endpoint.status): {"description": "done", "content": {media: {"schema": endpoint.answer}}},
            "4XX": refused,
        },
    }
    if endpoint.body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": endpoint.body}}}
    return operation


def _parameter(name: str, where: str, schema: Schema) -> Json:
    required = where == "path" or "default" not in schema
    return {"name": name, "in": where, "required": required, "schema": schema}


# --- requests outside the API ----------------------------------------------------------------------------------------


async def _describe(request: Request) -> Response:
    return JSONResponse(openapi(ENDPOINTS, PREFIX))


async def _page(request: Request) -> Response:
    """The page, at any address that its script may show."""
    path = request.path_params["path"]
    if path.startswith("api/") or "." in path:
        return refusal_json(404, "not-found", "there is nothing at this address")
    return FileResponse(STATIC / "index.html")


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return refusal_json(405, "not-allowed", f"{request.method} is not possible at this address")
    if error.status_code == 404:
        return refusal_json(404, "not-found", "there is nothing at this address")
    return refusal_json(error.status_code, "malformed", str(error.detail))


async def _failure(request: Request, error: Exception) -> Response:
    return refusal_json(500, "failed", "the server made a mistake; its terminal shows where")
