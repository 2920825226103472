"""A server on this machine for one folder, which keeps no slow connection open, and not too many.

uvicorn waits as long as it takes for a request to arrive and for an answer to be read, so a few hundred clients that
send or read a byte now and then would use up the server. Here

1. a request, head and body, must arrive within `ARRIVAL_SECONDS`, counted from the connection or its first byte;
2. an answer that does not fit in the buffers must be read within `READING_SECONDS`;
3. of more than `MAX_CONNECTIONS`, the one that has waited longest without a request in progress is closed.
"""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from html import escape
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from regretless.errors import InvalidOption
from regretless.files.state import lock_state, state_folder
from regretless.page.app import make_app
from regretless.page.folder import STATE

__all__ = ["FIRST_PORT", "BoundedProtocol", "serve"]

FIRST_PORT = 8040
PORTS = 20  # tried from there on, unless one is given
ARRIVAL_SECONDS = 30.0
READING_SECONDS = 120.0
MAX_CONNECTIONS = 256
GRACE = 2  # seconds for open requests when the server ends; solves then get the time they need to save


def serve(
    folder: Path,
    *,
    token: str | None,
    host: str = "127.0.0.1",
    other_hosts: Sequence[str] = (),
    port: int | None = None,
    solves: int = 1,
    show: bool = False,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve a folder until interrupted; `ready` is called with the address, and `show` opens it in a browser.

    Without a `token`, whoever can reach the address can use the page.
    """
    with ExitStack() as stack:
        stack.enter_context(_sole_server(folder))
        listening = stack.enter_context(_listen(host, port))
        address = f"http://{_shown_host(host)}:{listening.getsockname()[1]}/"
        if token is not None:
            address += f"?token={token}"
        app = make_app(folder, token=token, host=host, other_hosts=other_hosts, solves=solves)
        config = uvicorn.Config(
            app,
            http=BoundedProtocol,
            ws="none",
            log_level="error",  # below that it reports what strangers send
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE,
        )
        ready(address)
        if show:
            opened = address if token is None else stack.enter_context(_openable(address))
            threading.Thread(target=webbrowser.open, args=[opened], daemon=True).start()
        _Server(config, app.state.end_streams).run(sockets=[listening])


def _shown_host(host: str) -> str:
    """The host of the address that is shown: a name of this machine if it listens on all its addresses."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


@contextmanager
def _openable(address: str) -> Iterator[str]:
    """What to tell a browser to open.

    Where a browser is started with the address as its argument, every user of the machine could read the token in the
    list of processes. There it opens a file instead, which only this user can read, and which leads to the address.
    The file is in the home folder: browsers in a sandbox, such as Snap's, open no hidden or temporary files.
    """
    if sys.platform in ("darwin", "win32"):
        yield address
        return
    create = partial(NamedTemporaryFile, "w", prefix="regretless-", suffix=".html", encoding="utf-8")
    try:
        file = create(dir=Path.home())
    except (OSError, RuntimeError):  # it cannot be written, or nobody knows where it is
        file = create()
    with file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(address)}">')
        file.flush()
        yield Path(file.name).as_uri()


class _Server(uvicorn.Server):
    """A server that ends its streams first, as an open page would keep it waiting; SIGHUP ends it as SIGTERM does."""

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        number = getattr(signal, "SIGHUP", None)  # when its terminal is closed
        with super().capture_signals():
            ignored = number is None or signal.getsignal(number) == signal.SIG_IGN  # nohup
            if ignored or threading.current_thread() is not threading.main_thread():
                yield
                return
            assert number is not None
            before = signal.signal(number, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(number, before)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_streams()
        await super().shutdown(sockets)


@contextmanager
def _listen(host: str, port: int | None) -> Iterator[socket.socket]:
    """A socket on the port, or on the first that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = range(FIRST_PORT, FIRST_PORT + PORTS) if port is None else [port]
    for each in tried:
        # Naming the protocol lets asyncio switch off Nagle's algorithm, which costs 40 ms per answer.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, each))
            listening.listen(128)
        except OSError as error:
            listening.close()
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise InvalidOption("host", host, f"is not an address of this machine: {error.strerror}") from None
            if each == tried[-1]:
                reason = f"cannot be used on {host}: {error.strerror or error}"
                raise InvalidOption("port", each, reason) from None
            continue
        with listening:
            yield listening
        return


@contextmanager
def _sole_server(folder: Path) -> Iterator[None]:
    """Refuse to serve a folder that another process serves: the two would change each other's list of solves."""
    with ExitStack() as stack:
        try:
            lock = state_folder(folder / STATE, folder) / "server.lock"
            is_sole = stack.enter_context(lock_state(lock, folder, wait=False))
        except OSError:  # read-only: solutions can be browsed all the same
            is_sole = True
        if not is_sole:
            raise InvalidOption("FOLDER", str(folder), "is being served by another process")
        yield


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol with limits on slow connections and on their number."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.idle_since = self.loop.time()
        self._arriving: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request
        return cycle is None or cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_request()
        if len(self.connections) > MAX_CONNECTIONS:
            idle = [each for each in self.connections if isinstance(each, BoundedProtocol) and each.is_idle]
            oldest = min(idle, key=lambda each: each.idle_since)  # at worst this one
            self.connections.discard(oldest)
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_request()
        self.resume_writing()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._expect_request()
        else:  # it has arrived
            self._forget_request()

    def on_response_complete(self) -> None:
        self.idle_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reading is None:
            self._reading = self.loop.call_later(READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _expect_request(self) -> None:
        if self._arriving is None:
            self._arriving = self.loop.call_later(ARRIVAL_SECONDS, self.transport.abort)

    def _forget_request(self) -> None:
        if self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None
