"""One solve as the server sees it, and as it is saved across restarts.

    queued → starting → running → (stopping →) stopped | done | failed

A stopped, done or failed solve whose file can be resumed goes back to `queued`. The request and the last state are
saved; the curve of a finished solve is in its file. The list may come from somebody else: what is read is checked
against `SAVED_JOB`, and its requests, when they are resumed, like requests from the network (`solves`).
"""

from __future__ import annotations

import json
import re
import secrets
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from regretless.errors import InvalidFile
from regretless.files.fields import Fields
from regretless.files.state import replace_state
from regretless.page.schema import Json, Mismatch, array, boolean, check, integer, nullable, number, obj, text
from regretless.solving.solution import Solution

__all__ = ["CURVE", "MAX_SOLVES", "SOLVE", "JobRequest", "SolveJob", "curve_json", "new_id", "saved_jobs"]

ENDED = ("stopped", "done", "failed")
STATES = ("queued", "starting", "running", "stopping", *ENDED)
MAX_SOLVES = 500  # solves on the list
MAX_JOB_BYTES = 4 * 2**20  # bytes of a saved job
MAX_LIST_BYTES = 64 * 2**20  # bytes of all of them


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """What is solved, and how."""

    name: str
    file: str  # in the served folder
    toml: str | None = None  # of a spot
    game: str | None = None
    resume: str | None = None  # file in the served folder to continue from
    again: str | None = None  # file whose spot is solved again with other locks
    options: Json = field(default_factory=dict)  # those of `solves.OPTIONS`; None leaves one open
    board: str | None = None
    pot: float | None = None
    stack: float | None = None
    locks: int = 0
    unit: str = "% of the pot"
    needed_bytes: int = 0  # memory


@dataclass
class SolveJob:
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

    def as_json(self, *, position: int | None, revision: str | None, pid: int | None, curve: bool) -> Json:
        """The object that the API calls a solve; `position` is that in the queue."""
        request = self.request
        is_readable = revision is not None and self.saved
        answer = {
            "id": self.id,
            "name": request.name,
            "what": "game" if request.game is not None else "spot",
            "file": request.file,
            "state": self.state,
            "place": position,
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
            "readable": is_readable,
            "resumable": self.is_over and (is_readable or not self.saved),
            "revision": revision if is_readable else None,
        }
        return answer | {"curve": self.curve} if curve else answer

    # --- on disk -----------------------------------------------------------------------------------------------------

    def save(self, folder: Path, root: Path) -> None:
        """Write the job to the folder of saved jobs, below `root`; a full disk must not end a solve."""
        state = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("request", "curve")}
        try:
            with replace_state(folder / f"{self.id}.json", root) as temporary:
                temporary.write_text(json.dumps(state | {"request": asdict(self.request)}), encoding="utf-8")
        except InvalidFile as error:
            self.message = self.message or str(error)


def curve_json(solution: Solution) -> list[list[float]]:
    """How the exploitability of a solution fell, as in `CURVE`."""
    return [[point.iteration, point.seconds, max(point.exploitability, 0.0)] for point in solution.curve]


def new_id() -> str:
    """An id that sorts by time."""
    return time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(3)


def saved_jobs(folder: Path, root: Path) -> tuple[list[SolveJob], list[InvalidFile]]:
    """The jobs of earlier servers, oldest first, and the errors of those that cannot be read.

    If there are too many, the newest are read. Those that were under way have stopped.
    """
    jobs: list[SolveJob] = []
    errors: list[InvalidFile] = []
    size = 0
    for path in sorted(folder.glob("*.json"), reverse=True)[:MAX_SOLVES]:
        try:
            saved = Fields.read(path, root, largest=min(MAX_JOB_BYTES, MAX_LIST_BYTES - size))
            size += path.stat().st_size
            jobs.insert(0, _read(path, saved))
        except InvalidFile as error:
            errors.append(error)
    return jobs, errors


def _read(path: Path, saved: Fields) -> SolveJob:
    """A job from the fields of its file; one that was under way has stopped."""
    try:
        check(saved.table, SAVED_JOB)
    except Mismatch as error:
        raise InvalidFile(path, f"is damaged: {error}") from None
    if saved.table["id"] != path.stem or not _ID.fullmatch(path.stem):
        raise saved.wrong("id", "is not the name of the file")
    job = SolveJob(**{**saved.table, "request": JobRequest(**saved.table["request"])})
    if not job.is_over:
        when = "before the solve began" if job.state == "queued" else "during the solve"
        job.message = f"the server ended {when}: resume it"
        job.state, job.ended, job.seconds_left = "stopped", time.time(), None
    return job


# --- schemas ---------------------------------------------------------------------------------------------------------

_ID = re.compile(r"[\w-]{1,64}")
_NUMBER = number(minimum=0, maximum=2**53)
_WHOLE = integer(minimum=0, maximum=2**53)
_NAME = text(longest=1_000)
_TEXT = nullable(text())
CURVE = array(array(number()), "iteration, seconds, exploitability")
SAVED_JOB = obj(
    {
        "id": _NAME,
        "request": obj(
            {
                "name": _NAME,
                "file": _NAME,
                "toml": nullable(text(longest=2**20)),
                "game": nullable(_NAME),
                "resume": nullable(_NAME),
                "again": nullable(_NAME),
                "options": {"type": "object"},
                "board": nullable(_NAME),
                "pot": nullable(_NUMBER),
                "stack": nullable(_NUMBER),
                "locks": _WHOLE,
                "unit": _NAME,
                "needed_bytes": _WHOLE,
            },
            required=("name", "file"),
        ),
        "created": _NUMBER,
        "state": text(enum=list(STATES)),
        "message": _TEXT,
        "started": nullable(_NUMBER),
        "ended": nullable(_NUMBER),
        "iteration": _WHOLE,
        "iterations": nullable(_WHOLE),
        "target": nullable(_NUMBER),
        "seconds": _NUMBER,
        "exploitability": nullable(_NUMBER),
        "seconds_left": nullable(_NUMBER),
        "share": _NUMBER,
        "memory_bytes": _WHOLE,
        "device": nullable(_NAME),
        "threads": nullable(_WHOLE),
        "saved": boolean(),
    },
    "a job as it is saved",
    required=("id", "request", "created"),
)
_ANY_NUMBER = nullable(number())
SOLVE = obj(
    {
        "id": text(),
        "name": text(),
        "what": text(enum=["spot", "game"]),
        "file": text("where the solution is saved"),
        "state": text(enum=list(STATES)),
        "place": nullable(integer("in the queue")),
        "pid": nullable(integer("of its process")),
        "message": nullable(text("one sentence: what it does or waits for, or why it failed")),
        "created": number("seconds since 1970"),
        "started": _ANY_NUMBER,
        "ended": _ANY_NUMBER,
        "board": _TEXT,
        "pot": _ANY_NUMBER,
        "stack": _ANY_NUMBER,
        "locks": integer(),
        "again": nullable(text("the file whose spot is solved again")),
        "target": _ANY_NUMBER,
        "iterations": nullable(integer("at which it ends at the latest")),
        "device": text(),
        "threads": nullable(integer()),
        "storage": nullable(integer()),
        "unit": text("of exploitability and target"),
        "memory_bytes": integer(),
        "iteration": integer(),
        "seconds": number(),
        "exploitability": _ANY_NUMBER,
        "seconds_left": _ANY_NUMBER,
        "share": number("of the way, 0 to 1"),
        "readable": boolean("whether its file can be browsed"),
        "resumable": boolean(),
        "revision": _TEXT,
        "curve": CURVE,
    },
    required=("id", "state", "file"),
)
