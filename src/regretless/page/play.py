"""Whole hands against a game from the deal: the sessions of a server, their endpoints, and how long a flop will take.

The opponent's hand stays on the server until the hand is over. Sessions live in memory, and the one that was used least
recently is dropped if there are too many.
"""

from __future__ import annotations

import random
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated

from starlette.concurrency import run_in_threadpool

from regretless.engines import cuda_devices, thread_limit
from regretless.files.state import check_state_folder
from regretless.forms.memory import available_bytes
from regretless.forms.public import NodeKind
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.expected_time import expected_iterations, expected_seconds, iteration_speed
from regretless.holdem.games.game_spots import spot_at
from regretless.holdem.games.pricing import PricedSolution
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.page.endpoint import Conflict, Events, NotFound, Routes, TooMany
from regretless.page.flop_solves import FLOP_SOLVE, FlopSolve, FlopSolver
from regretless.page.folder import STATE, File
from regretless.page.hands import HAND, OUTCOME, feedback_schema
from regretless.page.library import Library
from regretless.page.nodes import SEAT
from regretless.page.play_session import PlaySession
from regretless.page.schema import Json, array, boolean, integer, nullable, number, obj, rounded, text
from regretless.solving.options import SolveOptions
from regretless.workers.flops import FlopTask

__all__ = ["PlayTable", "routes"]

MAX_SESSIONS = 50
MAX_LINES = 40  # whose flops are estimated
TARGET = 0.5  # percent of the pot
TYPICAL_FLOP = "Ks 7d 2c"  # three suits and no pair: as large as flops get
STORAGES = {"cpu": 32, "cuda": 16}  # bits; on a GPU, fewer are solved sooner


@dataclass(eq=False)
class _Seat:
    """A session, and the flop that it waits for."""

    session: PlaySession
    options: SolveOptions
    lock: threading.Lock = field(default_factory=threading.Lock)
    solve: FlopSolve | None = None  # changed in the event loop only, like the version that it belongs to
    version: int = 0


class PlayTable:
    """The sessions of a server."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.solver = FlopSolver(library, self._flop_files)
        self._seats: OrderedDict[str, _Seat] = OrderedDict()

    def add(self, seat: _Seat) -> None:
        """Add a session; the one that was used least recently is dropped if there are too many."""
        self._seats[seat.session.id] = seat
        while len(self._seats) > MAX_SESSIONS:
            dropped = self._seats.popitem(last=False)[1]
            if dropped.solve is not None:
                self.solver.stop(dropped.solve)

    def find(self, id_: str) -> _Seat:
        """The session with this id."""
        if id_ not in self._seats:
            raise NotFound(f"there is no session {id_[:40]!r}: start a new one")
        self._seats.move_to_end(id_)
        return self._seats[id_]

    def _flop_files(self) -> set[Path]:
        """The files of the flops that hands have come to."""
        return {file for seat in self._seats.values() for file in seat.session.flop_files}

    async def play(self, seat: _Seat, move: Callable[[PlaySession, PricedSolution], None]) -> Json:
        """Make a move, begin to solve the flop that the hand comes to, if any, and show the hand."""
        session, library = seat.session, self.library
        done = seat.solve if seat.solve is not None and seat.solve.state == "done" else None
        if done is not None:
            session.ended = done.task.path

        def work() -> tuple[Json, FlopTask | None]:
            with seat.lock, library.whole_game(session.file) as (solution, revision):
                if revision != session.revision:
                    raise Conflict(f"file: {session.file!r} has been solved further: start a new session", "file")
                move(session, solution)
                return session.as_json(solution), _task(seat, library)

        state, task = await run_in_threadpool(work)
        if state["version"] < seat.version:
            pass  # a later move has been answered already
        elif task is None:
            seat.solve = None
        elif seat.solve is None or seat.solve.task.path != task.path:
            seat.solve = self.solver.add(task, session.target)  # at once: another request would begin a second solve
        elif seat.solve is done:  # it was before this request looked for its solution
            seat.solve.state, seat.solve.message = "failed", "the solution of this flop was removed: solve it again"
        seat.version = max(seat.version, state["version"])
        return state | {"solve": None if seat.solve is None else self.solver.as_json(seat.solve)}


def _task(seat: _Seat, library: Library) -> FlopTask | None:
    """The flop that a session waits for."""
    session = seat.session
    if session.missing is None:
        return None
    return FlopTask(
        toml=session.missing.spot.to_toml(),
        folder=str(session.folders[0]),
        path=session.missing.line,
        safe_in=str(library.existing(session.file, ".rgl")) if session.safe else None,
        options=seat.options,
    )


# --- how long a flop takes -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _FlopLine:
    """A line before the flop after which somebody can act on it."""

    node: LineNode  # where the flop is dealt
    weight: float  # how likely it is played


def _flop_lines(solution: PricedSolution) -> list[_FlopLine]:
    """The lines to a flop, those that are played most first."""
    reader, lines = solution.reader, []
    for node in reader.before_cards():
        for action in range(len(reader.actions(node.index))):
            child = reader.act(node, action)
            dealt = int(reader.tree.first_child[child.index])
            if reader.tree.kind[child.index] == NodeKind.CHANCE and reader.tree.kind[dealt] == NodeKind.DECISION:
                lines.append(_FlopLine(child, reader.pairs(child)))
    return sorted(lines, key=lambda line: -line.weight)


def _solving_device(device: str, threads: int | None) -> str:
    """Where flops are solved, if a player asks for this device and these threads."""
    return "cuda" if device != "cpu" and threads is None and cuda_devices() > 0 else "cpu"


def _estimate_json(solution: PricedSolution, target: float, *, safe: bool, cores: int, speed: float | None) -> Json:
    """How long a flop takes after each line, and the memory of the largest; `speed` is None on a GPU."""
    lines, game, device = _flop_lines(solution), solution.rules, "cuda" if speed is None else "cpu"
    total = sum(line.weight for line in lines)
    entries = []
    for line in lines[:MAX_LINES]:
        steps = ", ".join(line.node.steps)
        spot = spot_at(game, solution.reader, f"{steps}, {TYPICAL_FLOP}", any_hand=True)
        size = estimate_spot(spot, threads=cores)
        seconds = None
        if speed is not None:
            solves = 2 if safe else 1
            seconds = solves * expected_seconds(size.entries, expected_iterations(spot, target), cores, speed)
        entries.append(
            {
                "line": steps,
                "share": rounded(line.weight / total) if total > 0 else None,
                "seconds": rounded(seconds),
                "memory_bytes": size.memory_bytes[STORAGES[device]],
                "file_bytes": size.file_bytes,
            }
        )
    return {
        "lines": entries,
        "omitted": max(0, len(lines) - MAX_LINES),
        "device": device,
        "threads": cores,
        "available_bytes": available_bytes(),
        "can_be_safe": solution.has_values,
        "stack": game.big_blinds,
    }


# --- endpoints -------------------------------------------------------------------------------------------------------

_TARGET = number("percent of the pot, of every flop", exclusiveMinimum=0, maximum=100)
_DEVICE = text(enum=["auto", "cpu", "cuda"])
_THREADS = nullable(integer("at most", minimum=1))
_SAFE = boolean("no hand of yours gains more on a flop than against the game's own solution there")
PLAY = obj(
    {
        "id": text(),
        "version": integer("rises with every change; an answer with a lower one is older"),
        "file": text(),
        "game": text(),
        "hand_number": integer(),
        "target": _TARGET,
        "safe": _SAFE,
        **HAND,
        "outcome": OUTCOME,
        "decisions": array(feedback_schema({}, "about a decision of this hand"), "oldest first"),
        "solve": nullable(FLOP_SOLVE),
        "score": obj(
            {
                "hands": integer("played to the end"),
                "won": number("big blinds"),
                "per_hundred": nullable(number("big blinds per hundred hands")),
                "adjusted": nullable(number("the same, all-ins replaced by their average over the cards to come")),
                "error": nullable(number("standard error of the adjusted score")),
                "decisions": integer("after the flop, where the solution knows EVs"),
                "lost": number("chips of EV that these lost"),
                "grades": obj({}, "of these decisions", open_=True),
            }
        ),
    }
)
_STATE = obj({"play": PLAY})
ESTIMATE = obj(
    {
        "lines": array(
            obj(
                {
                    "line": text(),
                    "share": nullable(number("of the hands that see a flop, as the solution plays both seats")),
                    "seconds": nullable(number("expected for its flop on idle cores; null on a GPU")),
                    "memory_bytes": integer("of its flop"),
                    "file_bytes": integer("of the solution of its flop"),
                }
            ),
            "that lead to a flop, those that are played most first",
        ),
        "omitted": integer(f"lines beyond the first {MAX_LINES}"),
        "device": text(),
        "threads": integer(),
        "available_bytes": integer(),
        "can_be_safe": boolean("whether the game knows what hands are worth on every flop"),
        "stack": number("of each player, in big blinds"),
    }
)

routes = Routes()


@routes.endpoint("POST", "/play", "Sit down at a whole game and be dealt a hand", _STATE, status=201)
async def begin(
    table: PlayTable,
    library: Library,
    solver: FlopSolver,
    file: File,
    player: Annotated[PlayerName | None, nullable(SEAT)] = None,
    target: Annotated[float, _TARGET] = TARGET,
    safe: Annotated[bool, _SAFE] = False,
    keep: Annotated[bool, boolean("keep the flops that are solved beside the game, in a folder game.flops")] = False,
    device: Annotated[str, _DEVICE] = "auto",
    threads: Annotated[int | None, _THREADS] = None,
    seed: Annotated[int | None, nullable(integer(minimum=0, maximum=2**53))] = None,
) -> Json:
    def sit_down() -> _Seat:
        with library.whole_game(file) as (solution, revision):
            storage = STORAGES[_solving_device(device, threads)]
            solution.check_resolving(safe=safe, target=target, storage=storage, device=device, threads=threads)
            options = SolveOptions(target=target, storage=storage, device=device, threads=threads)
            session = PlaySession(
                id=f"w{secrets.token_hex(8)}",
                file=file,
                revision=revision,
                seat=player,
                random=random.Random(seed),
                target=target,
                safe=safe,
                folders=_folders(library, file, keep=keep),
                big_blind=solution.rules.big_blind,
            )
            return _Seat(session, options)

    seat = await run_in_threadpool(sit_down)
    solver.prepare()
    state = await table.play(seat, lambda session, solution: session.deal(solution))
    table.add(seat)
    return {"play": state}


def _folders(library: Library, file: str, *, keep: bool) -> tuple[Path, Path]:
    """Where solutions of flops are, the folder for new ones first."""
    path = library.existing(file, ".rgl")
    own = library.folder / STATE / "play" / sha256(file.encode()).hexdigest()[:16]
    beside = path.parent / f"{path.stem}.flops"
    for folder in (own, beside):
        check_state_folder(folder, library.folder)
    return (beside, own) if keep else (own, beside)


@routes.endpoint("GET", "/play/estimate", "How long each flop of a whole game will take on this machine", ESTIMATE)
def estimate(
    library: Library,
    file: File,
    target: Annotated[float, _TARGET] = TARGET,
    safe: Annotated[bool, _SAFE] = False,
    device: Annotated[str, _DEVICE] = "auto",
    threads: Annotated[int | None, _THREADS] = None,
) -> Json:
    on_gpu = _solving_device(device, threads) == "cuda"
    speed = None if on_gpu else iteration_speed()  # takes a while, and nobody should wait for the file meanwhile
    with library.whole_game(file) as (solution, _):
        solution.check_resolving(safe=safe, target=target, device=device, threads=threads)
        return _estimate_json(solution, target, safe=safe, cores=thread_limit(threads), speed=speed)


@routes.endpoint("GET", "/play/{id}", "The hand being played; it continues once its flop is solved", _STATE)
async def state(table: PlayTable, id: str) -> Json:
    return {"play": await table.play(table.find(id), lambda session, solution: session.resume(solution))}


@routes.endpoint("POST", "/play/{id}/act", "Take an action", _STATE)
async def act(table: PlayTable, id: str, action: Annotated[str, text(longest=100)]) -> Json:
    return {"play": await table.play(table.find(id), lambda session, solution: session.act(solution, action))}


@routes.endpoint("POST", "/play/{id}/deal", "The next hand, also if the solve of a flop was stopped or failed", _STATE)
async def deal(table: PlayTable, id: str) -> Json:
    seat = table.find(id)
    give_up = seat.solve is not None and seat.solve.state in ("stopped", "failed")
    return {"play": await table.play(seat, lambda session, solution: session.deal(solution, give_up=give_up))}


@routes.endpoint("POST", "/play/{id}/stop", "Stop the solve of the flop that the hand waits for", _STATE)
async def stop(table: PlayTable, solver: FlopSolver, id: str) -> Json:
    seat = table.find(id)
    if seat.solve is None or seat.solve.is_over:
        raise Conflict("no flop is being solved for this hand")
    solver.stop(seat.solve)
    return {"play": await table.play(seat, lambda session, solution: session.resume(solution, changed=True))}


@routes.endpoint("POST", "/play/{id}/solve", "Solve the flop again after its solve was stopped or failed", _STATE)
async def solve(table: PlayTable, id: str) -> Json:
    seat = table.find(id)
    if seat.solve is None or seat.solve.state not in ("stopped", "failed"):
        raise Conflict("the hand does not wait for a flop whose solve was stopped or failed")
    seat.solve = None
    return {"play": await table.play(seat, lambda session, solution: session.resume(solution, changed=True))}


@routes.endpoint(
    "GET", "/play/{id}/events", "Follow the flop that the hand waits for: event solve", text(), streams=True
)
async def events(table: PlayTable, solver: FlopSolver, id: str) -> Events:
    if solver.is_crowded:
        raise TooMany("too many pages follow this server already")
    return Events(solver.events_of(table.find(id).solve))
