"""One solve as the server sees it, and as it is kept on disk across restarts.

    queued → starting → running → (stopping →) stopped | done | failed

A stopped, done or failed solve whose file can be resumed goes back to `queued`. What is kept is the request and the
last state; the curve of a finished solve is in its file.
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from regretless.errors import InvalidFile
from regretless.storage.atomic import replace_file

__all__ = ["ENDED", "Job", "JobRequest", "kept_jobs", "new_id"]

ENDED = ("stopped", "done", "failed")
LARGEST_KEPT = 4 * 2**20  # bytes of a kept job


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """What is solved, and how."""

    name: str
    file: str  # in the served folder
    toml: str | None = None  # of a spot
    game: str | None = None
    resume: str | None = None  # file in the served folder to continue from
    again: str | None = None  # file whose spot is solved again with other locks
    options: dict[str, Any] = field(default_factory=dict)  # of `rl.solve`; None: not given
    board: str | None = None
    pot: float | None = None
    stack: float | None = None
    locks: int = 0
    unit: str = "% of the pot"
    needed_bytes: int = 0  # memory


@dataclass
class Job:
    """A solve and its state. Changed in the event loop only."""

    id: str
    request: JobRequest
    created: float
    state: str = "queued"
    message: str | None = None
    started: float | None = None
    ended: float | None = None
    iteration: int = 0
    iterations: int | None = None
    target: float | None = None
    seconds: float = 0.0
    exploitability: float | None = None
    seconds_left: float | None = None
    share: float = 0.0
    memory_bytes: int = 0
    device: str | None = None  # where it runs or ran
    threads: int | None = None
    saved: bool = False  # whether the file holds what was solved
    curve: list[list[float]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return self.state in ENDED

    def as_json(self, *, place: int | None, revision: str | None, pid: int | None, curve: bool) -> dict[str, Any]:
        """The object that the API calls a solve."""
        request = self.request
        there = revision is not None and self.saved
        answer = {
            "id": self.id,
            "name": request.name,
            "what": "game" if request.game is not None else "spot",
            "file": request.file,
            "state": self.state,
            "place": place,
            "pid": pid,
            "message": self.message,
            "created": self.created,
            "started": self.started,
            "ended": self.ended,
            "board": request.board,
            "pot": request.pot,
            "stack": request.stack,
            "locks": request.locks,
            "again": request.again,
            "target": self.target,
            "iterations": self.iterations,
            "device": self.device or request.options.get("device") or "auto",
            "threads": self.threads or request.options.get("threads"),
            "storage": request.options.get("storage"),
            "unit": request.unit,
            "memory_bytes": self.memory_bytes or request.needed_bytes,
            "iteration": self.iteration,
            "seconds": self.seconds,
            "exploitability": self.exploitability,
            "seconds_left": self.seconds_left,
            "share": self.share,
            "readable": there,
            "resumable": self.is_over and (there or not self.saved),
            "revision": revision if there else None,
        }
        return answer | {"curve": self.curve} if curve else answer

    # --- on disk -----------------------------------------------------------------------------------------------------

    def keep(self, folder: Path) -> None:
        """Write the job to the folder of kept jobs; a full disk must not end a solve."""
        kept = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("request", "curve")}
        try:
            with replace_file(folder / f"{self.id}.json") as temporary:
                temporary.write_text(json.dumps(kept | {"request": asdict(self.request)}), encoding="utf-8")
        except InvalidFile as error:
            self.message = self.message or str(error)


def new_id() -> str:
    """An id that sorts by time."""
    return time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(3)


def kept_jobs(folder: Path) -> list[Job]:
    """The jobs of earlier servers, oldest first; those that were under way have stopped. Damaged ones are left out."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            if path.stat().st_size > LARGEST_KEPT:
                continue
            kept = json.loads(path.read_text(encoding="utf-8"))
            job = Job(**(kept | {"request": JobRequest(**kept["request"])}))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            continue
        if job.id != path.stem or not isinstance(job.state, str):
            continue
        if not job.is_over:
            began = job.state != "queued"
            job.message = f"the server ended {'during the solve' if began else 'before the solve began'}: resume it"
            job.state, job.ended, job.seconds_left = "stopped", time.time(), None
        found.append(job)
    return found
