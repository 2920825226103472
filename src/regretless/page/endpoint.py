"""One endpoint of the API: what it takes, what it answers, and how errors become JSON.

1. Query, path and body are read and checked against their schemas; the handler gets one mapping of values.
2. A plain handler runs in a thread, so that reading a file blocks nobody; an `async` one runs in the event loop. A
   handler that is a generator takes long: such requests take turns, in each of which one of them runs some pieces of
   its work, as long as anybody waits for the answer.
3. Every error a user can cause is answered with a status below 500 and

       {"error": {"code", "message", "field", "position"}}
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from regretless.errors import Advice, InvalidFile, RegretlessError, WouldNotFit
from regretless.holdem.field_errors import field_error
from regretless.page.schema import Mismatch, Schema, check

__all__ = [
    "BODY_LIMIT",
    "Conflict",
    "Endpoint",
    "Events",
    "Forbidden",
    "NotFound",
    "Refusal",
    "TooMany",
    "refusal_json",
]

BODY_LIMIT = 1 << 20  # bytes
TURN_SECONDS = 0.2  # of a request that takes long, until others have their turn


class Refusal(RegretlessError):
    """A request that is refused, with a status and a code."""

    status, code = 400, "malformed"

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class NotFound(Refusal):
    """Something that does not exist."""

    status, code = 404, "not-found"


class Conflict(Refusal):
    """Something that cannot be done in the present state."""

    status, code = 409, "conflict"


class TooMany(Refusal):
    """A queue that is full."""

    status, code = 429, "busy"


class Forbidden(Refusal):
    """A request from elsewhere, or for something elsewhere."""

    status, code = 403, "forbidden"


@dataclass(frozen=True)
class Events:
    """A stream of server-sent events: (name, JSON value), or None to keep the connection alive."""

    source: AsyncIterator[tuple[str, Any] | None]


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A method and a path of the API."""

    method: str
    path: str  # below the prefix, with parameters in braces
    summary: str
    handle: Callable[..., Any]  # called with the service and the checked values
    answer: Schema
    query: Mapping[str, Schema] = field(default_factory=dict)  # a parameter with a `default` may be omitted
    body: Schema | None = None
    status: int = 200
    streams: bool = False  # answers with events

    async def respond(self, request: Request) -> Response:
        """The answer to a request."""
        try:
            given = dict(request.path_params) | self._read_query(request)
            if self.body is not None:
                given |= await self._read_body(request)
            service = request.app.state.service
            if inspect.iscoroutinefunction(self.handle):
                answer = await self.handle(service, given)
            elif inspect.isgeneratorfunction(self.handle):
                answer = await _in_pieces(self.handle(service, given), request)
            else:
                answer = await run_in_threadpool(self.handle, service, given)
        except (RegretlessError, Mismatch) as error:
            said = error.worded(Advice.in_words) if isinstance(error, RegretlessError) else str(error)
            return _refused(error, request.app.state.service.library.without_folder(said))
        except ClientDisconnect:
            return Response(status_code=400)
        if isinstance(answer, Events):
            return StreamingResponse(_event_stream(answer), media_type="text/event-stream")
        return _json_response(answer, self.status)

    def _read_query(self, request: Request) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for name, value in request.query_params.multi_items():
            if name not in self.query:
                allowed = f"; allowed: {', '.join(self.query)}" if self.query else ""
                raise Mismatch(name[:80], f"is not a parameter of {self.path}{allowed}")
            if name in given:
                raise Mismatch(name, "is given twice")
            given[name] = _from_text(name, value, self.query[name])
        for name, schema in self.query.items():
            if name not in given:
                if "default" not in schema:
                    raise Mismatch(name, "is missing")
                given[name] = schema["default"]
            check(given[name], schema, name)
        return given

    async def _read_body(self, request: Request) -> dict[str, Any]:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            refusal = Refusal("the body must be JSON, with Content-Type: application/json")
            refusal.status, refusal.code = 415, "media-type"
            raise refusal
        return self.checked(await _read_all(request))

    def checked(self, content: bytes) -> dict[str, Any]:
        """The values of a body, with its defaults; raises if it is not JSON or does not match the schema."""
        assert self.body is not None
        value: dict[str, Any] = _parse(content)
        check(value, self.body)
        defaults = {name: schema["default"] for name, schema in self.body["properties"].items() if "default" in schema}
        return defaults | value


async def _in_pieces(work: Generator[None, None, Any], request: Request) -> Any:
    """The result of work that pauses after each piece; other such requests take their turns in between."""

    def run_pieces() -> tuple[bool, Any]:
        ends = time.monotonic() + TURN_SECONDS
        try:
            next(work)
            while time.monotonic() < ends:
                next(work)
        except StopIteration as done:
            return True, done.value
        return False, None

    try:
        while not await request.is_disconnected():
            async with request.app.state.service.turns:
                done, answer = await run_in_threadpool(run_pieces)
            if done:
                return answer
        raise ClientDisconnect
    finally:
        work.close()


async def _read_all(request: Request) -> bytes:
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > BODY_LIMIT:
            refusal = Refusal(f"the body has more than {BODY_LIMIT:,} bytes")
            refusal.status, refusal.code = 413, "too-large"
            raise refusal
    return bytes(content)


def _parse(content: bytes) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        value = json.loads(content.decode("utf-8"), parse_constant=refuse)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair cannot be written anywhere
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise Refusal(f"the body is not JSON: {reason}") from None
    return value


def _from_text(name: str, value: str, schema: Schema) -> Any:
    """A query parameter, read as its schema says."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if value == "" and "null" in kinds:
        return None
    if "integer" in kinds or "number" in kinds:
        try:
            return int(value) if "integer" in kinds else float(value)
        except ValueError:
            raise Mismatch(name, f"{value[:40]!r} is not a {'whole ' * ('integer' in kinds)}number") from None
    if "boolean" in kinds:
        if value not in ("true", "false"):
            raise Mismatch(name, "is neither true nor false")
        return value == "true"
    return value


# --- answers ---------------------------------------------------------------------------------------------------------


def _json_response(answer: object, status: int) -> Response:
    content = json.dumps(answer, allow_nan=False, separators=(",", ":")).encode()
    return Response(content, status, media_type="application/json")


def refusal_json(
    status: int, code: str, message: str, field: str | None = None, position: int | None = None
) -> Response:
    error = {"code": code, "message": message, "field": field, "position": position}
    return _json_response({"error": error}, status)


def _refused(error: RegretlessError | Mismatch, message: str) -> Response:
    if isinstance(error, Mismatch):
        return refusal_json(400, "malformed", message, error.field)
    if isinstance(error, Refusal):
        return refusal_json(error.status, error.code, message, error.field, getattr(error, "position", None))
    if isinstance(error, WouldNotFit):
        return refusal_json(422, "would-not-fit", message)
    if isinstance(error, InvalidFile):
        return refusal_json(422, "invalid", message)
    found = field_error(error)
    return refusal_json(422, "invalid", message, found.field or None, found.position)


async def _event_stream(events: Events) -> AsyncIterator[bytes]:
    async for event in events.source:
        if event is None:
            yield b": still here\n\n"
            continue
        name, value = event
        content = json.dumps(value, allow_nan=False, separators=(",", ":"))
        yield f"event: {name}\ndata: {content}\n\n".encode()
