"""Both ends of the pipe between a supervisor and a worker process.

The supervisor starts `python -m MODULE` and writes lines to its stdin; the worker answers with lines of JSON on what
was its stdout. Whatever a library prints there goes to stderr, which is a log file. If stdin ends, the supervisor has
hung up or died, and the worker ends itself: no process is left behind. A worker that dies is explained by its exit code
or signal, and the last line of its log.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from regretless.forms.memory import available_bytes

if sys.platform != "win32":
    import resource

__all__ = ["Channel", "Message", "WorkerProcess", "limit_memory"]

Message = dict[str, Any]

LOG_TAIL = 4_000  # bytes of the log searched for its last line
MAX_LINE_LENGTH = 200  # characters shown of that line
OOM_SCORE = "800"  # of 1000: how readily Linux ends a process when memory runs out


class WorkerProcess:
    """A worker, as its supervisor sees it.

    A thread calls `on_message` with every message, and then `on_exit` with why the process ended: "ended with code 1".
    """

    def __init__(
        self, module: str, log: BinaryIO, on_message: Callable[[Message], None], on_exit: Callable[[str], None]
    ) -> None:
        self._log, self._on_message, self._on_exit = log, on_message, on_exit
        self._process = subprocess.Popen(
            (sys.executable, "-P", "-m", module),  # -P: no modules of the current folder
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C in a terminal is for the supervisor
        )
        threading.Thread(target=self._follow, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, line: str) -> None:
        """Write a line to the worker; one that has just died gets nothing, and `on_exit` is called."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # ValueError: stdin is closed
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def hang_up(self) -> None:
        """Close the worker's stdin, which ends it."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def kill(self) -> None:
        """End the process at once, whatever it is doing."""
        self._process.kill()

    def wait(self, seconds: float) -> None:
        """Wait until the process has ended, and kill it if it takes longer than this."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _follow(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:  # the worker died while writing it
                continue
            self._on_message(message)
        code = self._process.wait()
        reason = _exit_reason(code, self._log)
        self._log.close()
        self._on_exit(reason)


def _exit_reason(code: int, log: BinaryIO) -> str:
    """Why a process ended, as far as is known: what follows "the process"."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        memory = ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
        return f"was ended by {name}{memory}"
    log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_TAIL))
    lines = log.read(LOG_TAIL).decode("utf-8", errors="replace").strip().splitlines()
    last = f": {lines[-1][:MAX_LINE_LENGTH]}" if lines else ""
    return f"ended with code {code}{last}"


class Channel:
    """The worker's end of the pipe."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # whatever a library prints must not mix with the messages
        self._sending = threading.Lock()

    def send(self, message: Message) -> None:
        """Send a message, from any thread."""
        with self._sending, suppress(BrokenPipeError, ValueError):  # the supervisor has died: stdin ends too
            self._stream.write(json.dumps(message, allow_nan=False) + "\n")
            self._stream.flush()

    def listen(self, on_line: Callable[[str], None], on_hang_up: Callable[[], None]) -> None:
        """Let a thread call `on_line` with every further line of the supervisor, and `on_hang_up` when stdin ends."""

        def read() -> None:
            for line in sys.stdin:
                on_line(line)
            on_hang_up()

        threading.Thread(target=read, daemon=True).start()


def limit_memory(share: float) -> None:
    """Let this process fail by itself if it takes more than a share of the free memory, without harming others.

    What it has already is not counted. Each call measures what is free then.
    """
    if sys.platform != "linux":
        return
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[5])  # of memory that it may write, used or not
        limit = pages * resource.getpagesize() + int(share * available_bytes())
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
        # If memory runs out all the same, the kernel ends this process first.
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE)
