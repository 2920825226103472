"""From what the page asks to a request for the queue: everything is checked, and memory counted, before it waits."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from regretless.api import load, problem_of
from regretless.cards.deck import board_text
from regretless.engines import available_cores
from regretless.errors import InvalidOption
from regretless.files.atomic import check_writable
from regretless.games.registry import names
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.problem import SpotProblem
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import LockFrom, check_lock
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.toml_text import parse_toml
from regretless.page.answers.locks import read_lock
from regretless.page.answers.spot import read_spot
from regretless.page.endpoint import Conflict, Refusal
from regretless.page.library import Library
from regretless.page.solving.job import JobRequest
from regretless.page.solving.queue import OPTIONS
from regretless.solving.options import SolveOptions
from regretless.solving.request import make_request
from regretless.solving.solution import Solution

__all__ = ["SUBJECTS", "asked_request"]

SUBJECTS = ("spot", "toml", "game", "resume", "again")  # exactly one of these says what is solved


def asked_request(given: dict[str, Any], library: Library, taken: set[str]) -> JobRequest:
    """The request of a body of `POST /solves`; `taken` are names of files that other solves will write."""
    subjects = [name for name in SUBJECTS if given.get(name) is not None]
    if len(subjects) != 1:
        raise Refusal(f"give exactly one of {', '.join(SUBJECTS)}", subjects[1] if subjects else "spot")
    options = {name: given.get(name) for name in OPTIONS}
    if given["resume"] is not None:
        request = _resumed(given["resume"], options, library, taken)
    elif given["game"] is not None:
        request = _game(given, options, library, taken)
    else:
        request = _spot(given, options, library, taken)
    check_writable(library.path(request.file, ".rgl"))
    return request


def _spot(given: dict[str, Any], options: dict[str, Any], library: Library, taken: set[str]) -> JobRequest:
    again = given["again"]
    if again is not None:
        with library.spot(again) as (solution, _):
            spot = _locked_again(solution.spot, given, library)
        name = given["name"] or f"{Path(again).stem} locked"
    else:
        spot = read_spot(given["spot"] or parse_toml(given["toml"] or "", "toml"), library)
        name = given["name"] or spot.name or f"spot {board_text(spot.board).replace(' ', '')}"
    spot = replace(spot, name=name[:200])
    needed = _check_spot(spot, SolveOptions.read(options))
    return JobRequest(
        name=name,
        file=library.free_name(name, taken),
        toml=spot.to_toml(),
        again=again,
        options=options,
        needed_bytes=needed,
        **_about(spot),
    )


def _locked_again(spot: Spot, given: dict[str, Any], library: Library) -> Spot:
    kept = spot.locks if given["keep_locks"] else ()
    for lock in kept:
        if isinstance(lock, LockFrom) and not Path(lock.source).resolve().is_relative_to(library.folder):
            raise InvalidOption("keep_locks", True, "would read a solution outside the served folder")
    added = tuple(read_lock(lock, library) for lock in given["locks"] or ())
    tree = betting_tree(spot)
    for place, lock in enumerate(added):
        check_lock(tree, lock, f"locks[{place}]")
    return replace(spot, locks=(*kept, *added))


def _check_spot(spot: Spot, options: SolveOptions) -> int:
    """Refuse what cannot be solved, before it waits; returns the bytes that it needs."""
    problem = SpotProblem(spot, options)
    request = make_request(problem, options)
    problem.check_fits(request)
    threads = request.threads or available_cores()
    found = estimate_spot(problem.spot, threads=threads, predicts=request.predicts, size=problem.public_size())
    return found.memory_bytes[request.settings.storage or 32]


def _game(given: dict[str, Any], options: dict[str, Any], library: Library, taken: set[str]) -> JobRequest:
    game = given["game"]
    _check_game("game", game)
    asked = SolveOptions.read(options)
    problem = problem_of(game, asked)
    make_request(problem, asked)
    name = given["name"] or re.sub(r"[^\w-]+", "-", game).strip("-")
    file = library.free_name(name, taken)
    return JobRequest(name=name, file=file, game=game, options=options, unit=problem.unit)


def _check_game(field: str, game: str) -> None:
    """Refuse any game but one of the package: the file of one, or the name of another library's."""
    known = names()
    plain = game.partition("(")[0].strip().replace("-", "_")
    if plain not in {each.replace("-", "_") for each in known} or game.strip().lower().endswith(".efg"):
        raise InvalidOption(field, game, f"is not one of {', '.join(known)}")


def _resumed(file: str, options: dict[str, Any], library: Library, taken: set[str]) -> JobRequest:
    path = library.existing(file, ".rgl")
    if file in taken:
        raise Conflict(f"resume: {file} is being solved already", "resume")
    solution = load(path, to_resume=True)
    options = options | {"variant": None, "storage": None}
    request = JobRequest(name=solution.game, file=file, resume=file, options=options, unit="in the game's units")
    return _check_resume(request, solution)


def _check_resume(request: JobRequest, solution: Solution) -> JobRequest:
    """Refuse a solution that cannot be resumed here, or that has reached what is asked."""
    if solution.settings.buckets is not None:
        said = "was solved with buckets, whose tables may lie elsewhere: regretless solve --resume resumes it"
        raise InvalidOption("resume", request.file, said)
    options = SolveOptions.read({**request.options, "resume": solution})
    if not isinstance(solution, SpotSolution):
        _check_game("resume", solution.game)
        make_request(problem_of(None, options), options)
        return replace(request, game=solution.game)
    needed = _check_spot(solution.spot, replace(options, storage=solution.settings.storage or 32))
    return replace(request, unit="% of the pot", needed_bytes=needed, **_about(solution.spot))


def _about(spot: Spot) -> dict[str, Any]:
    return {"board": board_text(spot.board), "pot": spot.pot, "stack": spot.stack, "locks": len(spot.locks)}
