"""The application: the API, the page's own files, and the guard before both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from regretless.page.endpoint import Endpoint, refusal_json
from regretless.page.endpoints import browsing, files, practicing, setup, solving, studies
from regretless.page.guard import Guard
from regretless.page.library import Library
from regretless.page.openapi import openapi
from regretless.page.practice import PracticeTable
from regretless.page.service import Service
from regretless.page.solving.queue import SolveQueue
from regretless.page.studies import StudyShelf

__all__ = ["ENDPOINTS", "PREFIX", "STATIC", "make_app"]

PREFIX = "/api/v1"
STATIC = Path(__file__).parent / "static"
ENDPOINTS: list[Endpoint] = [
    *setup.ENDPOINTS, *files.ENDPOINTS, *solving.ENDPOINTS, *browsing.ENDPOINTS, *studies.ENDPOINTS,
    *practicing.ENDPOINTS,
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
    further names and addresses by which it is reached, and `solves` is how many solves may run at once.
    """
    library = Library(folder)
    queue = SolveQueue(library, limit=solves)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        queue.open()
        yield
        await queue.close()

    app = Starlette(
        routes=[
            Route(f"{PREFIX}/openapi.json", _describe, methods=["GET"]),
            *(Route(PREFIX + each.path, each.respond, methods=[each.method]) for each in ENDPOINTS),
            Mount("/static", StaticFiles(directory=STATIC, check_dir=False), name="static"),
            Route("/{path:path}", _page, methods=["GET"]),
        ],
        middleware=[Middleware(Guard, token=token, host=host, other_hosts=other_hosts)],
        exception_handlers={HTTPException: _http_error, Exception: _failure},
        lifespan=lifespan,
    )
    app.state.service = Service(library, queue, PracticeTable(), StudyShelf(library))
    return app


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
