"""A server on this machine for one folder."""

from __future__ import annotations

import errno
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import uvicorn

from regretless.errors import InvalidOption
from regretless.storage.state import lock_state, state_folder
from regretless.web.app import make_app
from regretless.web.guard import is_loopback
from regretless.web.library import STATE

__all__ = ["FIRST_PORT", "serve"]

FIRST_PORT = 8040
PORTS = 20  # tried from there on, unless one is given
GRACE = 2  # seconds for open requests when the server ends; solves then get the time they need to save


def serve(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    solves: int = 1,
    show: bool = False,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve a folder until interrupted; `ready` is told the address, and `show` opens it in a browser."""
    with ExitStack() as stack:
        stack.enter_context(_sole_server(folder))
        listening = stack.enter_context(_listen(host, port))
        shown = host if is_loopback(host) else socket.gethostname()
        address = f"http://{shown}:{listening.getsockname()[1]}/"
        app = make_app(folder, host=host, solves=solves)
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE,
        )
        ready(address)
        if show:
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        _Server(config, app.state.service.queue.end_streams).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that ends its streams first: an open page would keep it waiting."""

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

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
