"""What the page lists of each file: the facts that its beginning gives, without reading the solution."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from regretless.cards.deck import board_text
from regretless.errors import InvalidFile
from regretless.files.container import Container
from regretless.files.fields import Fields
from regretless.holdem.games.big_blinds import MILLI, UNIT
from regretless.holdem.solution import CHECKPOINT
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.toml_fields import parse_toml, read_toml_text
from regretless.page.naming import formation_label, range_names
from regretless.page.schema import Json
from regretless.solving.kinds import KINDS, ProblemKind, file_words, of_file

__all__ = ["CHARTED", "UNSHOWN", "FileSummary", "container_fields", "toml_fields"]

CHARTED = ("push-fold", "holdem-game")  # kinds of games with charts of play before the flop
UNSHOWN = {row.listed for row in KINDS.values() if row.noun}  # kinds of games that the page cannot show yet
MAX_SPOT_LENGTH = 2**23  # characters


@dataclass(frozen=True)
class FileSummary:
    """A file as the page lists it; None where something does not apply."""

    file: str
    kind: str  # as in `files.FILE_SUMMARY`; "toml" is a spot
    name: str
    bytes: int
    modified: float  # seconds since 1970
    revision: str
    board: str | None = None
    pot: float | None = None
    stack: float | None = None
    exploitability: float | None = None
    unit: str | None = None
    iterations: int | None = None
    locks: int | None = None
    resumable: bool = False
    note: str | None = None  # why it cannot be shown
    title: str | None = None  # what the spot is called
    formation: str | None = None  # of those that ship with the package
    ranges: Mapping[str, str] | None = None  # what each player's range is called


def toml_fields(path: Path) -> Json:
    """The fields of a summary that a TOML file gives; an unreadable one counts as a spot: opening it shows why."""
    try:
        is_spot = "board" in parse_toml(read_toml_text(path), path)
    except InvalidFile:
        is_spot = True
    return {"kind": "toml"} if is_spot else {"kind": "other", "note": "is not a spot: it has no board"}


def container_fields(file: Container, name: str) -> Json:
    """The fields of a summary that the header of a `.rgl` file gives; `name` is the file's in the served folder."""
    row = of_file(file.kind)
    if row is None:
        raise InvalidFile(file.path, f"contains {file_words(file.kind)}, not a solution")
    header = Fields(file.path, file.header)
    fields = {"iterations": header.whole("iterations"), "resumable": "regret.0" in file or "regret" in file}
    exploitability = header.number("exploitability", low=0.0) if "exploitability" in header else None
    if not row.is_spot:
        return fields | _game_fields(row, exploitability, name)
    kind = "checkpoint" if file.kind == CHECKPOINT else row.listed
    spot = Spot.parse(header.text("spot", longest=MAX_SPOT_LENGTH), warn=False)
    return fields | {"kind": kind} | _spot_fields(spot, exploitability)


def _game_fields(row: ProblemKind, exploitability: float | None, name: str) -> Json:
    fields: Json = {"kind": row.listed, "exploitability": exploitability, "unit": "in the game's units"}
    if row.listed in CHARTED:
        fields |= {"unit": UNIT, "exploitability": None if exploitability is None else MILLI * exploitability}
    if row.noun:
        command = f"regretless show {shlex.quote(name)} --line ''"
        fields["note"] = f"{row.noun}, which the page does not show yet: {command} reads it"
    return fields


def _spot_fields(spot: Spot, exploitability: float | None) -> Json:
    return {
        "board": board_text(spot.board),
        "pot": spot.pot,
        "stack": spot.stack,
        "exploitability": None if exploitability is None else 100 * exploitability / spot.pot,
        "unit": "% of the pot",
        "locks": len(spot.locks),
        "title": spot.name or None,
        "formation": formation_label(spot),
        "ranges": range_names(spot),
    }
