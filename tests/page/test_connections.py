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
from tests.page.serving import Server

from regretless.page import serve
from regretless.page.serve import BoundedProtocol

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
LARGE = 64 * 2**20  # bytes; more than the buffers of both ends
ARRIVAL_SECONDS = 1.0  # long enough for requests that are sent at once, even on a busy machine
started, ended = threading.Event(), threading.Event()  # of the last request to /later or /large


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Reads the body; a path of /large is answered with many bytes, /later after more than `ARRIVAL_SECONDS`."""
    assert scope["type"] == "http"
    started.set()
    if scope["path"] == "/later":
        await asyncio.sleep(1.5 * ARRIVAL_SECONDS)
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    is_large = scope["path"] == "/large"
    await send({"type": "http.response.body", "body": b"x" * (LARGE if is_large else 2), "more_body": is_large})
    if is_large:
        await send({"type": "http.response.body"})  # waits until the rest is read, or the connection is closed
    ended.set()


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(serve, "ARRIVAL_SECONDS", ARRIVAL_SECONDS)
    monkeypatch.setattr(serve, "READING_SECONDS", 0.4)
    monkeypatch.setattr(serve, "MAX_CONNECTIONS", 20)
    started.clear()
    ended.clear()
    options: dict[str, Any] = {"ws": "none", "lifespan": "off", "log_level": "error", "timeout_keep_alive": 60}
    server = uvicorn.Server(uvicorn.Config(application, http=BoundedProtocol, **options))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        running = threading.Thread(target=server.run, args=[[listening]])
        running.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        running.join()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def is_closed(connection: socket.socket, trickle: Callable[[int], bytes] | None = None) -> bool:
    """Whether the server closes the connection, which is sent a piece every 0.05 s, within 20 seconds."""
    ends, number = time.monotonic() + 20, 0
    connection.settimeout(0.05)
    while time.monotonic() < ends:
        with contextlib.suppress(TimeoutError):
            try:
                if not connection.recv(1):
                    return True
            except ConnectionError:
                return True
        if trickle is not None:
            with contextlib.suppress(ConnectionError):
                connection.sendall(trickle(number))
        number += 1
    return False


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
    began = time.monotonic()
    with connect(port) as connection:
        connection.sendall(first)
        assert is_closed(connection, trickle)
        assert time.monotonic() - began > 0.9 * ARRIVAL_SECONDS


def test_the_second_request_of_a_connection_has_a_deadline_too(port: int) -> None:
    with connect(port) as connection:
        for _ in range(2):
            assert b"200 OK" in answer(connection, HEAD + b"\r\n")
        assert b"200 OK" in answer(connection, POST + b"x" * 1000)
        assert is_closed(connection, lambda number: HEAD[number : number + 1])


def test_a_pipelined_request_whose_body_never_comes_is_not_waited_for(port: int) -> None:
    with connect(port) as connection:
        assert b"200 OK" in answer(connection, HEAD + b"\r\n" + POST)
        assert is_closed(connection)


def test_an_answer_that_is_not_read_is_not_kept(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(HEAD.replace(b"/ ", b"/large ") + b"\r\n")
        assert ended.wait(20)  # its connection was closed
        received = 0
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(2**20):
                received += len(piece)
        assert received < LARGE


def test_an_answer_may_take_longer_than_its_request(port: int) -> None:
    with connect(port) as connection:
        assert b"200 OK" in answer(connection, HEAD.replace(b"/ ", b"/later ") + b"\r\n")


def test_new_connections_replace_those_that_wait_longest(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "ARRIVAL_SECONDS", 60)
    with contextlib.ExitStack() as stack:
        busy = stack.enter_context(connect(port))
        busy.sendall(HEAD.replace(b"/ ", b"/later ") + b"\r\n")
        assert started.wait(20)
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
    waiting = [connect(port) for _ in range(serve.MAX_CONNECTIONS + 10)]
    for connection, sent in zip(
        waiting[-2:], (b"\x16\x03\x01garbage\r\n\r\n", HEAD + b"Upgrade: websocket\r\n"), strict=True
    ):
        connection.sendall(sent)
    assert server.client.get("/api/v1/files").status_code == 200
    assert is_closed(waiting[0])
    for connection in waiting:
        connection.close()
    server.process.terminate()
    assert server.process.wait(timeout=60) == 0
    assert server.process.stderr is not None
    assert server.process.stderr.read() == ""
