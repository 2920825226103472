"""Which connections stay open: none that is slow, and not too many.

uvicorn waits as long as it takes for a request to arrive and for an answer to be read, so a few hundred clients that
send or read a byte now and then would use up the server. Here

1. a request, head and body, must arrive within `ARRIVAL_SECONDS`, counted from the connection or its first byte;
2. an answer that does not fit in the buffers must be read within `READING_SECONDS`;
3. of more than `MOST_CONNECTIONS`, the one that has waited longest without a request in progress is closed.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

__all__ = ["BoundedProtocol"]

ARRIVAL_SECONDS = 30.0
READING_SECONDS = 120.0
MOST_CONNECTIONS = 256


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol with these limits."""

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
        if len(self.connections) > MOST_CONNECTIONS:
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
