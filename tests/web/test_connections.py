"""Connections: slow ones are closed, too many are not kept, and requests that are in time are answered."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn
from tests.web.serving import Server

from regretless.web import connections
from regretless.web.connections import BoundedProtocol

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
LARGE = 64 * 2**20  # bytes; more than the buffers of both ends


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Reads the body; a path of /large is answered with many bytes, /later after a second."""
    assert scope["type"] == "http"
    if scope["path"] == "/later":
        await asyncio.sleep(1)
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * (LARGE if scope["path"] == "/large" else 2)})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(connections, "ARRIVAL_SECONDS", 0.4)
    monkeypatch.setattr(connections, "READING_SECONDS", 0.4)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    config = uvicorn.Config(application, http=BoundedProtocol, ws="none", lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        running = threading.Thread(target=server.run, args=[[listening]])
        running.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        running.join()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def closed_after(connection: socket.socket, trickle: Callable[[int], bytes] | None = None) -> float:
    """Seconds until the server closes the connection, which is sent a piece every 0.05 s."""
    began, number = time.monotonic(), 0
    connection.settimeout(0.05)
    while time.monotonic() < began + 20:
        with contextlib.suppress(TimeoutError):
            try:
                if not connection.recv(1):
                    break
            except ConnectionError:
                break
        if trickle is not None:
            with contextlib.suppress(ConnectionError):
                connection.sendall(trickle(number))
        number += 1
    return time.monotonic() - began


def answer(connection: socket.socket, sent: bytes) -> bytes:
    connection.sendall(sent)
    found = b""
    while not found.endswith((b"0\r\n\r\n", b"xx")):
        piece = connection.recv(1000)
        assert piece, found
        found += piece
    return found


@pytest.mark.parametrize(
    ("first", "trickle"),
    [
        (b"", None),
        (b"", lambda number: HEAD[number : number + 1]),
        (HEAD, lambda number: b"X-%d: y\r\n" % number),
        (POST, lambda number: b"x"),
        (POST, None),
    ],
    ids=["nothing", "first line", "header", "body", "no body"],
)
def test_a_request_that_arrives_too_slowly_is_not_waited_for(port: int, first: bytes, trickle: Any) -> None:
    with connect(port) as connection:
        connection.sendall(first)
        assert 0.3 < closed_after(connection, trickle) < 5


def test_the_second_request_of_a_connection_has_a_deadline_too(port: int) -> None:
    with connect(port) as connection:
        for _ in range(2):
            assert b"200 OK" in answer(connection, HEAD + b"\r\n")
        assert b"200 OK" in answer(connection, POST + b"x" * 1000)
        assert 0.3 < closed_after(connection, lambda number: HEAD[number : number + 1]) < 4  # uvicorn's own: 5 s


def test_a_pipelined_request_whose_body_never_comes_is_not_waited_for(port: int) -> None:
    with connect(port) as connection:
        assert b"200 OK" in answer(connection, HEAD + b"\r\n" + POST)
        assert closed_after(connection) < 4


def test_an_answer_that_is_not_read_is_not_kept(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(HEAD.replace(b"/ ", b"/large ") + b"\r\n")
        time.sleep(1.5)
        received = 0
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(2**20):
                received += len(piece)
        assert received < LARGE


def test_an_answer_may_take_longer_than_its_request(port: int) -> None:
    with connect(port) as connection:
        assert b"200 OK" in answer(connection, HEAD.replace(b"/ ", b"/later ") + b"\r\n")


def test_new_connections_replace_those_that_wait_longest(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ARRIVAL_SECONDS", 60)
    with contextlib.ExitStack() as stack:
        busy = stack.enter_context(connect(port))
        busy.sendall(HEAD.replace(b"/ ", b"/later ") + b"\r\n")
        time.sleep(0.2)  # until its request is being answered
        waiting = [stack.enter_context(connect(port)) for _ in range(60)]
        last = stack.enter_context(connect(port))
        assert b"200 OK" in answer(last, HEAD + b"\r\n")
        assert b"200 OK" in answer(busy, b"")
        is_open = []
        for connection in waiting:
            connection.settimeout(0.01)
            try:
                is_open.append(connection.recv(1) != b"")
            except TimeoutError:
                is_open.append(True)
            except ConnectionError:
                is_open.append(False)
        assert is_open == [False] * 42 + [True] * 18


def test_a_server_uses_these_limits_and_reports_nothing_that_strangers_send(
    start_server: Callable[[], Server],
) -> None:
    server = start_server()
    port = server.client.base_url.port
    assert port is not None
    waiting = [connect(port) for _ in range(connections.MOST_CONNECTIONS + 10)]
    for connection, sent in zip(
        waiting[-2:], (b"\x16\x03\x01garbage\r\n\r\n", HEAD + b"Upgrade: websocket\r\n"), strict=True
    ):
        connection.sendall(sent)
    assert server.client.get("/api/v1/files").status_code == 200
    assert closed_after(waiting[0]) < 5
    for connection in waiting:
        connection.close()
    server.process.terminate()
    assert server.process.wait(timeout=60) == 0
    assert server.process.stderr is not None
    assert server.process.stderr.read() == ""
