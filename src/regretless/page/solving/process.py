"""The process of one solve as the server sees it: started, followed, told to stop, its end explained."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regretless.errors import InvalidFile
from regretless.files.state import create_state, read_state

__all__ = ["End", "WorkerProcess"]

LARGEST_LOG = 2**20  # bytes that are read of it


@dataclass(frozen=True)
class End:
    """How a process ended: with an error, or with what it says about the solve."""

    error: str | None = None
    crashed: bool = False  # whether it ended without saying why
    state: str = "failed"
    reason: str = ""
    iteration: int = 0
    seconds: float = 0.0
    exploitability: float | None = None


class WorkerProcess:
    """A `worker`; its stderr goes to a log file below the folder `root`."""

    def __init__(self, log: Path, root: Path) -> None:
        self.log, self.root = log, root
        self.end = End()
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def start(self, asked: dict[str, Any]) -> None:
        """Start the process and hand it its request."""
        with create_state(self.log, self.root) as errors:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "regretless.page.solving.worker"),  # -P: no modules of the current folder
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # Ctrl-C in a terminal is for the server
            )
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError):
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            await self._process.stdin.drain()

    def stop(self) -> None:
        """Tell the process to save and end."""
        if self._process is not None and self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(b"stop\n")

    def kill(self) -> None:
        """End the process at once; nothing that it has not saved is worth waiting for."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """What the process tells until it has ended; then `end` is known."""
        assert self._process is not None
        assert self._process.stdout is not None
        last: dict[str, Any] = {}
        async for line in self._process.stdout:
            event: dict[str, Any] = json.loads(line)
            if event["event"] in ("end", "error"):
                last = event
            else:
                yield event
        code = await self._process.wait()
        if not last:
            self.end = End(self._crash(code), crashed=True)
        elif last["event"] == "error":
            self.end = End(last["message"])
        else:
            self.end = End(**{name: value for name, value in last.items() if name != "event"})

    def _crash(self, code: int) -> str:
        if code >= 0:
            with contextlib.suppress(InvalidFile):
                content = read_state(self.log, self.root, most=LARGEST_LOG).decode("utf-8", errors="replace")
                if lines := content.strip().splitlines():
                    return f"the process ended with code {code}: {lines[-1][:200]}"
            return f"the process ended with code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        perhaps = ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
        return f"the process was ended by {name}{perhaps}"
