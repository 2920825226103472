"""Practising against solutions: the sessions of a server, and their endpoints.

The opponent's hand stays on the server until the hand is over. Sessions live in memory; if there are too many, the one
that was used least recently is dropped. Each has only the line played so far, so a session survives a better solution
of its file.
"""

from __future__ import annotations

import random
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from regretless.holdem.spots.spot_fields import STREETS, PlayerName
from regretless.page.endpoint import NotFound, Routes
from regretless.page.folder import FILE
from regretless.page.hands import HAND, OUTCOME, feedback_schema
from regretless.page.library import Library
from regretless.page.mistakes import MISTAKE, MistakeList
from regretless.page.nodes import SEAT, Line
from regretless.page.practice_session import FACING, NoSuchDecision, PracticeSession
from regretless.page.schema import Json, array, boolean, integer, nullable, number, obj, text

__all__ = ["PracticeTable", "routes"]

MAX_SESSIONS = 200
MAX_FILES = 200  # that a session deals from


class PracticeTable:
    """The sessions of a server."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, tuple[PracticeSession, threading.Lock]] = OrderedDict()
        self._changing = threading.Lock()

    def add(self, session: PracticeSession) -> None:
        """Add a session; the one that was used least recently is dropped if there are too many."""
        with self._changing:
            self._sessions[session.id] = session, threading.Lock()
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)

    @contextmanager
    def session(self, id_: str) -> Iterator[PracticeSession]:
        """The session with this id, for this thread alone."""
        with self._changing:
            if id_ not in self._sessions:
                raise NotFound(f"there is no practice session {id_[:40]!r}: start a new one")
            self._sessions.move_to_end(id_)
            session, lock = self._sessions[id_]
        with lock:
            yield session


# --- endpoints -------------------------------------------------------------------------------------------------------

PRACTICE = obj(
    {
        "id": text(),
        "files": array(text(), "that hands are dealt from"),
        "single": boolean("one decision per hand"),
        "file": text("of this hand"),
        "hand_number": integer(),
        **HAND,
        "outcome": OUTCOME,
        "feedback": feedback_schema({"file": text()}, "about the last decision"),
        "score": obj(
            {
                "hands": integer(),
                "decisions": integer(),
                "lost": number(),
                "lost_per_decision": number(),
                "lost_pct_pot": number("per decision"),
                "best": integer(),
                "grades": obj({}, open_=True),
            }
        ),
    }
)
_STREETS = nullable(array(text(enum=list(STREETS)), "whose decisions are asked; all by default", maxItems=3))
_FACING = nullable(array(text(enum=list(FACING)), "kinds of decision that are asked; all by default", maxItems=2))
_STATE = obj({"practice": PRACTICE})

routes = Routes()


@routes.endpoint("POST", "/practice", "Sit down and be dealt a hand", _STATE, status=201)
def begin(
    table: PracticeTable,
    library: Library,
    files: Annotated[list[str], array(FILE, "solved spots to deal from", minItems=1, maxItems=MAX_FILES)],
    player: Annotated[PlayerName | None, nullable(SEAT)] = None,
    line: Line = "",
    seed: Annotated[int | None, nullable(integer(minimum=0, maximum=2**53))] = None,
    streets: Annotated[list[str] | None, _STREETS] = None,
    facing: Annotated[list[str] | None, _FACING] = None,
    single: Annotated[bool, boolean("ask one decision of each hand, and deal the next at once")] = False,
) -> Json:
    for file in files:
        if library.summary(file).kind != "spot":
            raise NotFound(f"file: {file!r} is not a solved spot", "files")
    session = PracticeSession(
        id=f"p{secrets.token_hex(8)}",
        files=tuple(files),
        seat=player,
        start=line,
        random=random.Random(seed),
        streets=frozenset(streets or STREETS),
        facing=frozenset(facing or FACING),
        single=single,
    )
    first_hand = _next_hand(session, library)
    table.add(session)
    return {"practice": first_hand}


def _next_hand(session: PracticeSession, library: Library) -> Json:
    """Deal from one of the files; one without a decision that the user wants is passed over while there are others."""
    while True:
        with library.spot(session.choose_file()) as (solution, _):
            try:
                session.deal(solution.reader)
            except NoSuchDecision:
                session.passed_over.add(session.file)
                if session.passed_over.issuperset(session.files):
                    session.passed_over.clear()  # the next deal tries them again
                    raise
                continue
            return session.as_json(solution.reader)


@routes.endpoint(
    "GET", "/practice/mistakes", "The mistakes that cost most, of all sessions", obj({"mistakes": array(MISTAKE)})
)
def list_mistakes(mistakes: MistakeList, most: Annotated[int, integer(minimum=1, maximum=500)] = 50) -> Json:
    return {"mistakes": mistakes.worst(most)}


@routes.endpoint("DELETE", "/practice/mistakes", "Forget all mistakes", obj({"mistakes": array(MISTAKE)}))
def forget_mistakes(mistakes: MistakeList) -> Json:
    mistakes.forget()
    return {"mistakes": mistakes.worst(1)}


@routes.endpoint("GET", "/practice/{id}", "The hand being played", _STATE)
def state(table: PracticeTable, library: Library, id: str) -> Json:
    with table.session(id) as session, library.spot(session.file) as (solution, _):
        return {"practice": session.as_json(solution.reader)}


@routes.endpoint("POST", "/practice/{id}/act", "Take an action and be judged", _STATE)
def act(
    table: PracticeTable,
    library: Library,
    mistakes: MistakeList,
    id: str,
    action: Annotated[str, text(longest=100)],
) -> Json:
    with table.session(id) as session:
        with library.spot(session.file) as (solution, _):
            session.act(solution.reader, action)
            played = session.as_json(solution.reader)
        if mistake := session.mistake():
            mistakes.add(mistake)
        return {"practice": _next_hand(session, library) if session.single else played}


@routes.endpoint("POST", "/practice/{id}/deal", "The next hand", _STATE)
def deal(table: PracticeTable, library: Library, id: str) -> Json:
    with table.session(id) as session:
        session.feedback = None
        return {"practice": _next_hand(session, library)}
