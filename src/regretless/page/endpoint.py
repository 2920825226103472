"""Endpoints of the API: what each takes and answers, and how errors become JSON.

A handler is a function whose parameters are those of its endpoint, with their types, schemas and defaults:

    @routes.endpoint("GET", "/node", "Everything known at a node of a solved spot", NODE)
    def node(library: Library, file: File, line: Line = "") -> Json: ...

where `File = Annotated[str, text(longest=300)]`. Those of a GET are in the query, those of a POST in the body. A
parameter without a schema, such as `library`, is the part of the server with that type.

1. Query, path and body are read and checked against the schemas, and become the handler's arguments.
2. A plain handler runs in a thread, so that reading a file blocks nobody; an `async` one runs in the event loop. A
   handler that is a generator takes long: such requests take turns. In its turn a request runs some pieces of its
   work, as long as anybody waits for the answer.
3. Every error a user can cause is answered with a status below 500 and

       {"error": {"code", "message", "field", "position"}}
"""

from __future__ import annotations

import inspect
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from regretless.errors import Advice, InvalidFile, RegretlessError, WouldNotFit
from regretless.holdem.field_errors import field_error
from regretless.page.schema import Json, Mismatch, Schema, check, obj

__all__ = [
    "BODY_LIMIT", "Conflict", "Endpoint", "Events", "Forbidden", "NotFound", "RefusedRequest", "Routes", "TooMany",
    "checked_body", "refusal_json",
]  # fmt: skip

BODY_LIMIT = 1 << 20  # bytes
TURN_SECONDS = 0.2  # of a request that takes long, until others have their turn


class RefusedRequest(RegretlessError):
    """A request that is refused, with a status and a code."""

    status, code = 400, "malformed"

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class NotFound(RefusedRequest):
    """Something that does not exist."""

    status, code = 404, "not-found"


class Conflict(RefusedRequest):
    """Something that cannot be done in the present state."""

    status, code = 409, "conflict"


class TooMany(RefusedRequest):
    """A queue that is full."""

    status, code = 429, "busy"


class Forbidden(RefusedRequest):
    """A request from elsewhere, or for something elsewhere."""

    status, code = 403, "forbidden"


@dataclass(frozen=True)
class Events:
    """A stream of server-sent events: (name, JSON value), or None to keep the connection alive."""

    source: AsyncIterator[tuple[str, object] | None]


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A method and a path of the API."""

    method: str
    path: str  # below the prefix, with parameters in braces
    summary: str
    handle: Callable[..., Any]  # called with parts of the server and the checked values, by name
    parts: Mapping[str, type]
    answer: Schema
    query: Mapping[str, Schema]  # a parameter with a `default` may be omitted
    body: Schema | None
    status: int
    streams: bool  # answers with events

    @property
    def path_parameters(self) -> list[str]:
        return _path_parameters(self.path)

    async def respond(self, request: Request) -> Response:
        """The answer to a request."""
        try:
            values = dict(request.path_params) | self._read_query(request)
            if self.body is not None:
                values |= await self._read_body(request)
            values |= {name: request.app.state.parts[kind] for name, kind in self.parts.items()}
            if inspect.iscoroutinefunction(self.handle):
                answer = await self.handle(**values)
            elif inspect.isgeneratorfunction(self.handle):
                answer = await _in_pieces(self.handle(**values), request)
            else:
                answer = await run_in_threadpool(self.handle, **values)
        except (RegretlessError, Mismatch) as error:
            sentence = error.worded(Advice.in_words) if isinstance(error, RegretlessError) else str(error)
            return _refusal(error, request.app.state.without_folder(sentence))
        except ClientDisconnect:
            return Response(status_code=400)
        if isinstance(answer, Events):
            return StreamingResponse(_event_stream(answer), media_type="text/event-stream")
        return _json_response(answer, self.status)

    def _read_query(self, request: Request) -> Json:
        values: Json = {}
        for name, value in request.query_params.multi_items():
            if name not in self.query:
                allowed = f"; allowed: {', '.join(self.query)}" if self.query else ""
                raise Mismatch(name[:80], f"is not a parameter of {self.path}{allowed}")
            if name in values:
                raise Mismatch(name, "is given twice")
            values[name] = _from_text(name, value, self.query[name])
        for name, schema in self.query.items():
            if name not in values:
                if "default" not in schema:
                    raise Mismatch(name, "is missing")
                values[name] = schema["default"]
            check(values[name], schema, name)
        return values

    async def _read_body(self, request: Request) -> Json:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            refusal = RefusedRequest("the body must be JSON, with Content-Type: application/json")
            refusal.status, refusal.code = 415, "media-type"
            raise refusal
        assert self.body is not None
        return checked_body(await _read_all(request), self.body)


def checked_body(content: bytes, schema: Schema) -> Json:
    """The values of a body, with its defaults; raises if it is not JSON or does not match the schema."""
    body: Json = _parse(content)
    check(body, schema)
    defaults = {name: field["default"] for name, field in schema["properties"].items() if "default" in field}
    return defaults | body


Handler = TypeVar("Handler", bound=Callable[..., Any])


class Routes(list[Endpoint]):
    """The endpoints of a module, each made from its handler."""

    def endpoint(
        self,
        method: str,
        path: str,
        summary: str,
        answer: Schema,
        *,
        status: int = 200,
        body: Schema | None = None,
        streams: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Decorates a handler; without a `body`, its parameters say what that contains."""

        def add(handle: Handler) -> Handler:
            parts, schemas = _parameters(handle, leave_out=_path_parameters(path))
            has_body = method in ("POST", "PUT")
            self.append(
                Endpoint(
                    method=method,
                    path=path,
                    summary=summary,
                    handle=handle,
                    parts=parts,
                    answer=answer,
                    query={} if has_body else schemas,
                    body=(body or _object(schemas)) if has_body else None,
                    status=status,
                    streams=streams,
                )
            )
            return handle

        return add


def _parameters(handle: Callable[..., Any], leave_out: Sequence[str]) -> tuple[dict[str, type], dict[str, Schema]]:
    """The types of the parts of the server that a handler takes, and the schemas of its other parameters."""
    hints = get_type_hints(handle, include_extras=True)
    parts: dict[str, type] = {}
    schemas: dict[str, Schema] = {}
    for each in inspect.signature(handle).parameters.values():
        hint = hints[each.name]
        if each.name in leave_out or each.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        if get_origin(hint) is not Annotated:
            parts[each.name] = hint
            continue
        schemas[each.name] = get_args(hint)[1]
        if each.default is not inspect.Parameter.empty:
            schemas[each.name] = schemas[each.name] | {"default": each.default}
    return parts, schemas


def _object(schemas: Mapping[str, Schema]) -> Schema:
    return obj(schemas, required=tuple(name for name, schema in schemas.items() if "default" not in schema))


def _path_parameters(path: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", path)


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
            async with request.app.state.turns:
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
            refusal = RefusedRequest(f"the body has more than {BODY_LIMIT:,} bytes")
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
        raise RefusedRequest(f"the body is not JSON: {reason}") from None
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
            expected = "a whole number" if "integer" in kinds else "a number"
            raise Mismatch(name, f"{value[:40]!r} is not {expected}") from None
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


def _refusal(error: RegretlessError | Mismatch, message: str) -> Response:
    if isinstance(error, Mismatch):
        return refusal_json(400, "malformed", message, error.field)
    if isinstance(error, RefusedRequest):
        return refusal_json(error.status, error.code, message, error.field, getattr(error, "position", None))
    if isinstance(error, WouldNotFit):
        return refusal_json(422, "would-not-fit", message)
    if isinstance(error, InvalidFile):
        return refusal_json(422, "invalid", message)
    located = field_error(error)
    return refusal_json(422, "invalid", message, located.field or None, located.position)


async def _event_stream(events: Events) -> AsyncIterator[bytes]:
    async for event in events.source:
        if event is None:
            yield b": still here\n\n"
            continue
        name, value = event
        content = json.dumps(value, allow_nan=False, separators=(",", ":"))
        yield f"event: {name}\ndata: {content}\n\n".encode()
