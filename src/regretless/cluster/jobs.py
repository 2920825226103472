"""What is handed out to workers, and what comes back. Everything is text and numbers: we unpickle nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

__all__ = ["Ended", "Executor", "Job", "Lost", "Outcome", "Slot"]


@dataclass(frozen=True)
class Job:
    """Spots to solve together: one on a CPU, many on a GPU."""

    toml: str  # of the study
    folder: str  # of the study, where it can be seen
    token: str  # in the folder's `run.token`, by which a worker recognises the folder
    spots: tuple[str, ...]
    device: str  # "cpu" or "cuda"
    threads: int | None
    memory_bytes: int  # that the largest of them needs

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Job:
        return cls(**{**fields, "spots": tuple(fields["spots"])})


@dataclass(frozen=True)
class Outcome:
    """How one spot ended."""

    spot: str
    error: str | None = None  # None: solved
    exit_code: int = 0
    hopeless: bool = False  # whether every other spot would fail too: a full disk, no device
    files: Mapping[str, bytes] = field(default_factory=dict)  # to be written by the driver, if the folder is not shared

    def as_json(self) -> dict[str, Any]:
        """Without the files."""
        return {"spot": self.spot, "error": self.error, "exit_code": self.exit_code, "hopeless": self.hopeless}


@dataclass(frozen=True)
class Ended:
    """A spot has ended, or, without an outcome, the whole job."""

    job: Job
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Lost:
    """A worker has died during a job; spots that had not ended are to be solved again."""

    job: Job
    reason: str
    is_suspect: bool = True  # whether this job may be the cause; if not, the loss does not count against its spots


@dataclass(frozen=True)
class Slot:
    """A place where a job can run."""

    device: str
    threads: int | None
    spots: int  # how many spots the job may have


class Executor(Protocol):
    """Runs jobs somewhere."""

    def most_memory(self) -> int:
        """Bytes that one job may take at most."""
        ...

    def free(self) -> Sequence[Slot]:
        """Slots that are free now."""
        ...

    def submit(self, slot: Slot, job: Job) -> None: ...

    def wait(self, seconds: float) -> Sequence[Ended | Lost]:
        """What has happened since the last call; waits at most `seconds` for the first event."""
        ...

    def close(self) -> None:
        """End everything that runs, at once."""
        ...
