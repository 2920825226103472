"""Files of the folder: solutions and spots, listed, described, opened and saved."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from regretless.files.atomic import replace_file
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import AnyLock, LockFrom, lock_text
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.toml_fields import parse_toml
from regretless.page.arranging import FileNotes
from regretless.page.endpoint import Conflict, RefusedRequest, Routes
from regretless.page.folder import File
from regretless.page.jobs import curve_json
from regretless.page.library import Library
from regretless.page.queue import SolveQueue
from regretless.page.schema import Json, anything, array, boolean, integer, nullable, number, obj, text
from regretless.page.spots import SPOT, read_spot, spot_fields, spot_toml
from regretless.solving.kinds import KINDS
from regretless.solving.solution import Solution

__all__ = ["routes"]

_NUMBER = nullable(number())
_TEXT = nullable(text())
KIND_NAMES = [*dict.fromkeys(row.listed for row in KINDS.values()), "checkpoint", "toml", "other", "unreadable"]
FILE_SUMMARY = obj(
    {
        "file": text(),
        "kind": text(enum=KIND_NAMES),
        "name": text(),
        "bytes": integer(),
        "modified": number("seconds since 1970"),
        "revision": text(),
        "board": _TEXT,
        "pot": _NUMBER,
        "stack": _NUMBER,
        "exploitability": _NUMBER,
        "unit": _TEXT,
        "iterations": nullable(integer()),
        "locks": anything("how many; of one file, the locks themselves"),
        "resumable": boolean(),
        "note": nullable(text("why it cannot be shown")),
        "title": _TEXT,
        "formation": nullable(text("of those that ship with the package")),
        "ranges": nullable(obj({"oop": text(), "ip": text()}, "what each player's range is called")),
        "notes": text("what the reader wrote about it"),
        "solve": nullable(text("the solve that writes it")),
    },
    open_=True,
)

routes = Routes()


@routes.endpoint(
    "GET",
    "/files",
    "Solutions and spots of the folder, newest first",
    obj({"folder": text(), "files": array(FILE_SUMMARY), "truncated": boolean()}),
)
def files(library: Library, queue: SolveQueue, notes: FileNotes) -> Json:
    summaries, truncated = library.files()
    writing, written = queue.writing(), notes.read()
    listed = [
        asdict(each) | {"solve": writing.get(each.file), "notes": written.get(each.file, "")} for each in summaries
    ]
    return {"folder": library.folder.name, "files": listed, "truncated": truncated}


@routes.endpoint("GET", "/file", "What is known about a file without reading its nodes", FILE_SUMMARY)
def file(library: Library, queue: SolveQueue, notes: FileNotes, file: File) -> Json:
    summary = library.summary(file)
    answer = asdict(summary) | {"solve": queue.writing().get(file), "notes": notes.read().get(file, "")}
    if summary.kind == "spot":
        with library.spot(file) as (solution, revision):
            return answer | _solution_json(solution) | _spot_json(solution, library) | {"revision": revision}
    if summary.kind == "game":
        with library.game(file) as (solved, revision):
            return answer | _solution_json(solved) | {"values": list(solved.values), "revision": revision}
    return answer


def _solution_json(solution: Solution) -> Json:
    record, target = solution.record, solution.settings.target
    return {
        "exploitability": solution.scale * max(solution.exploitability, 0.0),
        "exploitability_chips": max(solution.exploitability, 0.0),
        "target": None if target is None else float(f"{solution.scale * target:.12g}"),
        "reason": solution.reason,
        "curve": curve_json(solution),
        "seconds": record.seconds,
        "memory_bytes": record.memory_bytes,
        "nodes": record.nodes,
        "variant": record.variant,
        "engine": record.engine,
        "device": record.device,
        "threads": record.threads,
        "storage": solution.settings.storage or 32,
    }


def _spot_json(solution: SpotSolution, library: Library) -> Json:
    return {
        "spot": spot_fields(solution.spot, library),
        "toml": spot_toml(solution.spot, library),
        "ev": dict(solution.ev),
        "equity": dict(solution.equity),
        "locks": [_lock_json(lock, library) for lock in solution.spot.locks],
    }


def _lock_json(lock: AnyLock, library: Library) -> Json:
    source = lock.source if isinstance(lock, LockFrom) else None
    return {
        "node": lock.node,
        "hands": lock.hands,
        "strategy": None if isinstance(lock, LockFrom) else dict(lock.strategy),
        "source": None if source is None else Path(source).name,
        "player": lock.player if isinstance(lock, LockFrom) else None,
        "frequencies": dict(lock.frequencies) if isinstance(lock, LockFrom) else {},
        "text": library.without_folder(lock_text(lock)),
    }


@routes.endpoint(
    "GET",
    "/spots/file",
    "Open a spot file of the folder",
    obj({"file": text(), "spot": {"type": "object"}, "toml": text()}),
)
def spot_file(library: Library, file: File) -> Json:
    spot = Spot.read(library.existing(file, ".toml"))
    return {"file": file, "spot": spot_fields(spot, library), "toml": spot_toml(spot, library)}


@routes.endpoint("PUT", "/spots/file", "Save a spot file in the folder", obj({"file": text()}))
def save_spot(
    library: Library,
    file: File,
    spot: Annotated[Json | None, nullable(SPOT)] = None,
    toml: Annotated[str | None, nullable(text(longest=1 << 20))] = None,
    replace: Annotated[bool, boolean()] = False,
) -> Json:
    path = library.path(file, ".toml")
    if toml is not None and spot is None:
        read_spot(parse_toml(toml, "toml"), library)  # refuse what could not be opened again
        content = toml
    elif spot is not None and toml is None:
        content = read_spot(spot, library).to_toml()
    else:
        raise RefusedRequest("give either spot or toml", "spot")
    if path.exists() and not replace:
        raise Conflict(f"file: {file!r} exists already", "file")
    with replace_file(path) as temporary:
        temporary.write_text(content, encoding="utf-8")
    return {"file": file}
