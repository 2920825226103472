"""Endpoints are made from the signatures of their functions, and requests are read as these say."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Annotated, Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from regretless.errors import InvalidOption
from regretless.page.endpoint import BODY_LIMIT, Conflict, Routes
from regretless.page.schema import Json, boolean, integer, nullable, number, text

ANYTHING: Json = {"type": "object"}
routes = Routes()


class Counter:
    """A part of the server."""

    def __init__(self) -> None:
        self.calls = 0


@routes.endpoint("GET", "/added/{id}", "A sum", ANYTHING)
def added(
    counter: Counter,
    id: str,
    one: Annotated[int, integer(minimum=0)],
    other: Annotated[float | None, nullable(number())] = None,
    negative: Annotated[bool, boolean()] = False,
) -> Json:
    counter.calls += 1
    total = one + (other or 0.0)
    return {"id": id, "sum": -total if negative else total, "calls": counter.calls}


@routes.endpoint("POST", "/added", "A name", ANYTHING, status=201)
async def named(counter: Counter, name: Annotated[str, text(longest=5)], more: Annotated[int, integer()] = 1) -> Json:
    if name == "taken":
        raise Conflict("name: is taken", "name")
    if name == "wrong":
        raise InvalidOption("name", name, "is in /served/folder")
    return {"name": name, "more": more}


@routes.endpoint("GET", "/slow", "Work in pieces", ANYTHING)
def slow(count: Annotated[int, integer()]) -> Generator[None, None, Json]:
    for _ in range(count):
        yield
    return {"done": count}


@pytest.fixture
def client() -> TestClient:
    app = Starlette(routes=[Route(each.path, each.respond, methods=[each.method]) for each in routes])
    app.state.parts = {Counter: Counter()}
    app.state.without_folder = lambda sentence: sentence.replace("/served/", "")
    app.state.turns = asyncio.Semaphore()
    return TestClient(app)


def test_a_signature_describes_its_endpoint() -> None:
    get, post, _ = routes
    assert (get.parts, get.path_parameters, get.body) == ({"counter": Counter}, ["id"], None)
    assert get.query == {
        "one": {"type": "integer", "minimum": 0},
        "other": {"type": ["number", "null"], "default": None},
        "negative": {"type": "boolean", "default": False},
    }
    assert post.query == {}
    assert post.body == {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 5}, "more": {"type": "integer", "default": 1}},
        "required": ["name"],
        "additionalProperties": False,
    }


def test_a_query_is_read_as_its_types_say(client: TestClient) -> None:
    assert client.get("/added/x?one=2&other=0.5&negative=true").json() == {"id": "x", "sum": -2.5, "calls": 1}
    assert client.get("/added/y?one=2&other=").json() == {"id": "y", "sum": 2, "calls": 2}
    for query, sentence in (
        ("", "one: is missing"),
        ("one=1&one=2", "one: is given twice"),
        ("one=x", "one: 'x' is not a whole number"),
        ("one=1&other=x", "other: 'x' is not a number"),
        ("one=1&negative=yes", "negative: is neither true nor false"),
        ("one=-1", "one: -1 is less than 0"),
        ("one=1&counter=1", "counter: is not a parameter of /added/{id}; allowed: one, other, negative"),
    ):
        answer = client.get(f"/added/x?{query}")
        assert (answer.status_code, answer.json()["error"]["message"]) == (400, sentence)


def test_a_body_is_read_and_errors_have_their_status(client: TestClient) -> None:
    answer = client.post("/added", json={"name": "abc"})
    assert (answer.status_code, answer.json()) == (201, {"name": "abc", "more": 1})
    body: Any
    for body, status, code, sentence in (
        ({"name": "abcdef"}, 400, "malformed", "name: has 6 characters; it must have at most 5"),
        ({"name": "a", "counter": 1}, 400, "malformed", "counter: is not known here; allowed: name, more"),
        ([], 400, "malformed", "must be an object"),
        ({"name": "taken"}, 409, "conflict", "name: is taken"),
        ({"name": "wrong"}, 422, "invalid", "name: 'wrong' is in folder"),
    ):
        answer = client.post("/added", json=body)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["message"]) == (status, code, sentence)
    headers = {"content-type": "application/json"}
    for content, status, sentence in (
        (b'{"name": NaN}', 400, "the body is not JSON: NaN is not JSON"),
        (b'{"name": "\\ud800"}', 400, "the body is not JSON: "),
        (b"[" * 100_000, 400, "the body is not JSON: nested too deeply"),
        (b" " * (BODY_LIMIT + 1), 413, f"the body has more than {BODY_LIMIT:,} bytes"),
    ):
        answer = client.post("/added", content=content, headers=headers)
        assert answer.status_code == status
        assert answer.json()["error"]["message"].startswith(sentence)
    assert client.post("/added", content=b"{}", headers={"content-type": "text/plain"}).status_code == 415


def test_work_in_pieces_is_answered_when_it_is_done(client: TestClient) -> None:
    assert client.get("/slow?count=1000").json() == {"done": 1000}
