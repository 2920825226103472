"""Files of the folder: solutions and spots."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from regretless.files.atomic import replace_file
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import AnyLock, LockFrom, lock_text
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.toml_fields import parse_toml
from regretless.page.answers.schemas import FILE_SUMMARY
from regretless.page.answers.spot import read_spot, spot_fields, spot_toml
from regretless.page.endpoint import Conflict, Endpoint, Refusal
from regretless.page.endpoints.setup import SPOT
from regretless.page.library import Library
from regretless.page.schema import array, boolean, nullable, obj, text
from regretless.page.service import Service
from regretless.solving.solution import Solution

__all__ = ["ENDPOINTS", "FILE"]

FILE = text("path relative to the served folder, with slashes", longest=300)


def files(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    found, truncated = service.library.files()
    writing = service.queue.writing()
    listed = [asdict(each) | {"solve": writing.get(each.file)} for each in found]
    return {"folder": service.library.folder.name, "files": listed, "truncated": truncated}


def file(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    name = given["file"]
    summary = service.library.summary(name)
    answer = asdict(summary) | {"solve": service.queue.writing().get(name)}
    if summary.kind == "spot":
        with service.library.spot(name) as (solution, revision):
            return answer | _solution_json(solution) | _spot_json(solution, service.library) | {"revision": revision}
    if summary.kind == "game":
        with service.library.game(name) as (solved, revision):
            return answer | _solution_json(solved) | {"values": list(solved.values), "revision": revision}
    return answer


def _solution_json(solution: Solution) -> dict[str, Any]:
    record = solution.record
    return {
        "exploitability": solution.scale * max(solution.exploitability, 0.0),
        "exploitability_chips": max(solution.exploitability, 0.0),
        "target": None if solution.settings.target is None else solution.scale * solution.settings.target,
        "reason": solution.reason,
        "curve": [[point.iteration, point.seconds, max(point.exploitability, 0.0)] for point in solution.curve],
        "seconds": record.seconds,
        "memory_bytes": record.memory_bytes,
        "nodes": record.nodes,
        "variant": record.variant,
        "engine": record.engine,
        "device": record.device,
        "threads": record.threads,
    }


def _spot_json(solution: SpotSolution, library: Library) -> dict[str, Any]:
    return {
        "spot": spot_fields(solution.spot, library),
        "toml": spot_toml(solution.spot, library),
        "ev": dict(solution.ev),
        "equity": dict(solution.equity),
        "locks": [_lock_json(lock, library) for lock in solution.spot.locks],
    }


def _lock_json(lock: AnyLock, library: Library) -> dict[str, Any]:
    source = lock.source if isinstance(lock, LockFrom) else None
    return {
        "node": lock.node,
        "hands": lock.hands,
        "strategy": None if isinstance(lock, LockFrom) else dict(lock.strategy),
        "source": None if source is None else Path(source).name,
        "player": lock.player if isinstance(lock, LockFrom) else None,
        "text": library.without_folder(lock_text(lock)),
    }


def spot_file(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    path = service.library.existing(given["file"], ".toml")
    spot = Spot.read(path)
    shown = {"spot": spot_fields(spot, service.library), "toml": spot_toml(spot, service.library)}
    return {"file": given["file"]} | shown


def save_spot(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    path = service.library.path(given["file"], ".toml")
    if (given["spot"] is None) == (given["toml"] is None):
        raise Refusal("give either spot or toml", "spot")
    fields = given["spot"] if given["toml"] is None else parse_toml(given["toml"], "toml")
    content = read_spot(fields, service.library).to_toml() if given["toml"] is None else given["toml"]
    if given["toml"] is not None:
        read_spot(fields, service.library)  # refuse what could not be opened again
    if path.exists() and not given["replace"]:
        raise Conflict(f"file: {given['file']!r} exists already", "file")
    with replace_file(path) as temporary:
        temporary.write_text(content, encoding="utf-8")
    return {"file": given["file"]}


ANY = {"type": "object"}

ENDPOINTS = [
    Endpoint(
        method="GET",
        path="/files",
        summary="Solutions and spots of the folder, newest first",
        handle=files,
        answer=obj({"folder": text(), "files": array(FILE_SUMMARY), "truncated": boolean()}),
    ),
    Endpoint(
        method="GET",
        path="/file",
        summary="What is known about a file without reading its nodes",
        handle=file,
        query={"file": FILE},
        answer=FILE_SUMMARY,
    ),
    Endpoint(
        method="GET",
        path="/spots/file",
        summary="Open a spot file of the folder",
        handle=spot_file,
        query={"file": FILE},
        answer=obj({"file": text(), "spot": ANY, "toml": text()}),
    ),
    Endpoint(
        method="PUT",
        path="/spots/file",
        summary="Save a spot file in the folder",
        handle=save_spot,
        body=obj(
            {
                "file": FILE,
                "spot": nullable(SPOT) | {"default": None},
                "toml": nullable(text(longest=1 << 20, default=None)),
                "replace": boolean(default=False),
            },
            required=("file",),
        ),
        answer=obj({"file": text()}),
    ),
]
