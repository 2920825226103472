"""The lines of play that the tables of a study have, and the mix of actions at each, over all flops.

Flops weigh as in `reports`: the weight of the flop times the probability of the line there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regretless.holdem.studies.folder import StudyFolder
from regretless.holdem.studies.tables import run_sql

__all__ = ["StudyLine", "study_lines"]


@dataclass(frozen=True)
class StudyLine:
    """A line of play, with `any` for every card."""

    line: str
    player: str  # who acts
    street: str
    spots: int
    pot: float | None  # chips at the decision
    frequencies: Mapping[str, float | None]  # by action; None if the line is never played


def study_lines(folder: StudyFolder, *, variation: int, most: int) -> list[StudyLine]:
    """The lines of one variation, at most `most`, shortest first."""
    found = run_sql(
        folder,
        """SELECT pattern, action, min(place) AS place, min(player) AS player, min(street) AS street,
           min(node_pot) AS pot, count(DISTINCT spot) AS spots, sum(weight * reach * frequency) AS taken,
           sum(weight * reach) FILTER (place = 0) AS w
           FROM summary WHERE variation = $variation AND pattern IN (
               SELECT DISTINCT pattern FROM summary WHERE variation = $variation
               ORDER BY len(string_split(pattern, ', ')), pattern LIMIT $most)
           GROUP BY pattern, action ORDER BY len(string_split(pattern, ', ')), pattern, place, action""",
        {"variation": variation, "most": most},
    ).to_pylist()
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        lines.setdefault(row["pattern"], []).append(row)
    return [_line(line, rows) for line, rows in lines.items()]


def _line(line: str, rows: list[dict[str, Any]]) -> StudyLine:
    first, weight = rows[0], sum(row["w"] or 0.0 for row in rows)
    return StudyLine(
        line=line,
        player=first["player"],
        street=first["street"],
        spots=max(row["spots"] for row in rows),
        pot=first["pot"],
        frequencies={row["action"]: (row["taken"] or 0.0) / weight if weight else None for row in rows},
    )
