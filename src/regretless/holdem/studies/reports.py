"""Grouped means over the flops of a study, at one line of play.

With w = weight of the flop × probability of the line there, summed over the flops (and cards) of a group:

    frequency of an action    Σ w · frequency / Σ w
    EV, equity                Σ w · x / Σ w
    EQR                       Σ w · EV / Σ w · equity · pot

At the first decision the line has probability 1, and w is the weight of the flop.

Sums are over the spots that are solved. `Coverage` says how many of the study's they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from regretless.cards.deck import RANKS, SUITS
from regretless.errors import InvalidFile, InvalidOption, InvalidText, RegretlessError
from regretless.holdem.flops import CONNECTEDNESS, PAIRINGS, SUIT_KINDS, FlopFilter
from regretless.holdem.studies.folder import StudyFolder
from regretless.holdem.studies.plan import line_pattern
from regretless.holdem.studies.queries import run_sql
from regretless.holdem.studies.rows import TABLES, column_of

__all__ = ["Coverage", "ReportRow", "StudyReport", "study_coverage", "study_report"]

_CARDS = [rank + suit for rank in reversed(RANKS) for suit in reversed(SUITS)]
_ORDERS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("high", "middle", "low"), RANKS[::-1]),
    "pairing": PAIRINGS,
    "suits": SUIT_KINDS,
    "connectedness": CONNECTEDNESS,
    "texture": (*SUIT_KINDS, *(f"paired {suits}" for suits in SUIT_KINDS), "trips"),
    "turn": _CARDS,
    "river": _CARDS,
}
_MEANS = ("oop_ev", "ip_ev", "oop_equity", "ip_equity")
_NUMBERS = (*_MEANS, "oop_eqr", "ip_eqr", "weight", "spots")


@dataclass(frozen=True)
class Coverage:
    """How much of a study, or of the flops and variation that were chosen, is solved.

    >>> print(Coverage(17, 18, 17 / 18))
    incomplete: 17 of 18 spots are solved, with 94.4% of the weight; shares and means are over these
    """

    solved: int
    spots: int  # of the plan
    weight: float | None  # share of the weight of all flops that the solved ones have; None: the plan cannot be read

    @property
    def is_complete(self) -> bool:
        return self.solved >= self.spots

    def as_json(self) -> dict[str, object]:
        return {**vars(self), "complete": self.is_complete}

    def __str__(self) -> str:
        if self.is_complete:
            return f"all {self.spots:,} spots are solved"
        rounded = None if self.weight is None else min(round(self.weight, 3), 0.999)  # only a complete study has 100%
        weight = "" if rounded is None else f", with {rounded:.1%} of the weight"
        return (
            f"incomplete: {self.solved:,} of {self.spots:,} spots are solved{weight}; shares and means are over these"
        )


@dataclass(frozen=True)
class ReportRow:
    """One group of flops; means are NaN if the line is never played there."""

    group: tuple[object, ...]  # values of the columns that it is grouped by
    spots: int
    weight: float  # Σ w
    share: float  # of the weight of all groups
    frequencies: Mapping[str, float]  # by action
    oop_ev: float  # chips
    ip_ev: float
    oop_equity: float
    ip_equity: float
    oop_eqr: float
    ip_eqr: float


@dataclass(frozen=True)
class StudyReport:
    """Groups of flops, and all of them together."""

    line: str
    player: str  # who acts
    by: tuple[str, ...]
    actions: tuple[str, ...]
    kinds: Mapping[str, str] = field(repr=False)  # by action: check, bet, raise, call, fold
    rows: tuple[ReportRow, ...] = field(repr=False)
    total: ReportRow
    coverage: Coverage  # of the flops that were chosen: `rows` and `total` are over those that are solved

    def as_json(self) -> dict[str, object]:
        """What `regretless study report --json` prints."""

        def row(each: ReportRow) -> dict[str, object]:
            named = dict(zip(self.by, each.group, strict=False))
            numbers = {name: value for name, value in vars(each).items() if name not in ("group", "frequencies")}
            return named | numbers | {"frequencies": dict(each.frequencies)}

        return {
            "line": self.line,
            "player": self.player,
            "by": list(self.by),
            "actions": list(self.actions),
            "rows": [row(each) for each in self.rows],
            "total": row(self.total),
            "coverage": self.coverage.as_json(),
        }

    def flat_rows(self) -> list[dict[str, object]]:
        """A row per group with a column per action, for CSV and Parquet; the coverage is in every row."""
        rows = []
        for each in self.rows:
            row: dict[str, object] = dict(zip(self.by, each.group, strict=True))
            row |= {name: value for name, value in vars(each).items() if name not in ("group", "frequencies")}
            row |= {f"frequency of {action}": each.frequencies[action] for action in self.actions}
            rows.append(row | {"solved_spots": self.coverage.solved, "planned_spots": self.coverage.spots})
        return rows


def study_report(
    folder: StudyFolder,
    *,
    line: str = "",
    by: Sequence[str] = ("texture",),
    sort: str | None = None,
    where: str = "",
    variation: int | None = None,
) -> StudyReport:
    """Means by group at a line of play, sorted by group or, largest first, by `sort`.

    `sort` is an action ("bet 30"), a kind of action ("bet"), or one of oop_ev, ip_ev, oop_equity, ip_equity, oop_eqr,
    ip_eqr, weight and spots. `where` are properties of flops: "paired two-tone". `variation` is the number of one
    combination of varied values; by default, means are over all of them.
    """
    columns = tuple(_column(folder, name) for name in by)
    line = line_pattern(line, "line")
    coverage = study_coverage(folder, where=where, variation=variation)
    condition = f"(line = $line OR pattern = $line){_where(where)}"
    parameters: dict[str, object] = {"line": line}
    if variation is not None:
        condition += " AND variation = $variation"
        parameters["variation"] = variation
    grouped = "".join(f'"{name}", ' for name in columns)
    sums = ", ".join(f"sum(w * {name}) FILTER (place = 0) AS {name}" for name in _MEANS)
    actions = run_sql(  # numbers that all actions of a decision share are summed over the first one only (place = 0)
        folder,
        f"""SELECT {grouped} action, min(kind) AS kind, min(place) AS place, sum(w * frequency) AS played,
            count(DISTINCT spot) FILTER (place = 0) AS spots, min(player) AS player,
            sum(w) FILTER (place = 0) AS w, {sums},
            sum(w * oop_equity * node_pot) FILTER (place = 0) AS oop_expected,
            sum(w * ip_equity * node_pot) FILTER (place = 0) AS ip_expected
            FROM (SELECT *, weight * reach AS w FROM summary WHERE {condition}) GROUP BY {grouped} action""",
        parameters,
    ).to_pylist()
    if not actions:
        raise _no_rows(folder, line, where, coverage)
    order: dict[str, str] = {}
    for each in sorted(actions, key=lambda row: (row["place"], row["action"])):
        order.setdefault(each["action"], each["kind"])
    added = ("spots", "w", *_MEANS, "oop_expected", "ip_expected")
    nodes: dict[tuple[object, ...], dict[str, float]] = {}
    weight_by_action: dict[tuple[object, ...], dict[str, float]] = {}
    for each in actions:
        key = tuple(each[name] for name in columns)
        weight_by_action.setdefault(key, {})[each["action"]] = each["played"] or 0.0
        node = nodes.setdefault(key, dict.fromkeys(added, 0))
        for name in added:
            node[name] += each[name] or 0
    whole = sum(node["w"] for node in nodes.values())
    rows = [_row(node, key, weight_by_action[key], order, whole) for key, node in nodes.items()]
    everything = {name: sum(node[name] for node in nodes.values()) for name in added}
    total_by_action = {action: sum(each.get(action, 0.0) for each in weight_by_action.values()) for action in order}
    return StudyReport(
        line=line,
        player=actions[0]["player"],
        by=columns,
        actions=tuple(order),
        kinds=order,
        rows=tuple(sorted(rows, key=_sorting(sort, columns, order))),
        total=_row(everything, (), total_by_action, order, whole),
        coverage=coverage,
    )


def study_coverage(folder: StudyFolder, *, where: str = "", variation: int | None = None) -> Coverage:
    """How much is solved of the flops and the variation that are chosen, by default all; refuses foreign spots."""
    solved = folder.written()
    try:
        plan = folder.plan
    except RegretlessError:  # the file is in an older form
        return Coverage(len(solved), folder.manifest.spots, None)
    if foreign := sorted(solved - {spot.id for spot in plan.spots}):
        raise InvalidFile(
            folder.part("runs", foreign[0]), "is the file of a spot that the study does not have: remove it"
        )
    flop_filter = FlopFilter(where, "where") if where.strip() else None
    chosen = [
        spot
        for spot in plan.spots
        if variation in (None, spot.variation.number) and (flop_filter is None or flop_filter.takes(spot.flop.cards))
    ]
    weights = {spot.id: spot.flop.weight for spot in chosen}
    done = [weight for spot, weight in weights.items() if spot in solved]
    return Coverage(len(done), len(chosen), sum(done) / sum(weights.values()) if weights else None)


def _row(
    sums: Mapping[str, float],
    group: tuple[object, ...],
    weight_by_action: Mapping[str, float],
    actions: Mapping[str, str],
    whole: float,
) -> ReportRow:
    weight = sums["w"]

    def ratio(amount: float | None, total: float | None) -> float:
        return amount / total if total and amount is not None else math.nan

    return ReportRow(
        group=group,
        spots=int(sums["spots"]),
        weight=weight,
        share=ratio(weight, whole),
        frequencies={action: ratio(weight_by_action.get(action, 0.0), weight) for action in actions},
        **{name: ratio(sums[name], weight) for name in _MEANS},
        oop_eqr=ratio(sums["oop_ev"], sums["oop_expected"]),
        ip_eqr=ratio(sums["ip_ev"], sums["ip_expected"]),
    )


def _column(folder: StudyFolder, name: str) -> str:
    allowed = [column for column, (kind, _) in TABLES["summary"].items() if kind != "number"]
    allowed += ["pot", "stack", "rake", *(column_of(field) for field in folder.manifest.varied)]
    chosen = column_of(name.strip())
    if chosen not in allowed:
        close = get_close_matches(chosen, allowed, n=1, cutoff=0.5)
        meant = f"did you mean {close[0]!r}?" if close else "texture, pairing, suits, connectedness, high or flop are"
        raise InvalidOption("by", name, f"is not a column to group by; {meant}")
    return chosen


def _where(text: str) -> str:
    """Properties of flops as SQL; their words are known, so none needs quoting."""
    if not text.strip():
        return ""
    columns = {**dict.fromkeys(PAIRINGS, "pairing"), **dict.fromkeys(SUIT_KINDS, "suits")}
    columns |= dict.fromkeys(CONNECTEDNESS, "connectedness")

    def one(word: str) -> str:
        return f"{columns[word]} = '{word}'" if word in columns else f"high = '{word[0]}'"

    def every(terms: Sequence[frozenset[str]]) -> str:
        return " AND ".join(f"({' OR '.join(one(word) for word in sorted(term))})" for term in terms)

    return f" AND ({' OR '.join(map(every, FlopFilter(text, 'where').alternatives))})"


def _no_rows(folder: StudyFolder, line: str, where: str, coverage: Coverage) -> InvalidText:
    if where and coverage.spots and not coverage.solved:
        return InvalidText("where", where, None, "matches no flop that is solved yet")
    patterns = run_sql(
        folder, "SELECT DISTINCT pattern FROM summary ORDER BY length(pattern), pattern LIMIT 12"
    ).to_pylist()
    lines = ", ".join(repr(each["pattern"]) for each in patterns)
    if any(each["pattern"] == line for each in patterns) and where:
        return InvalidText("where", where, None, "matches no flop in the study")
    return InvalidText("line", line, None, f"is not in the study, which has {lines or 'no spot yet'}")


def _sorting(sort: str | None, columns: Sequence[str], kinds: Mapping[str, str]) -> Callable[[ReportRow], Any]:
    def by_group(row: ReportRow) -> tuple[object, ...]:
        keys: list[Any] = []
        for name, value in zip(columns, row.group, strict=True):
            order = _ORDERS.get(name, ())
            keys.append((value is None, order.index(value) if value in order else value))
        return tuple(keys)

    if sort is None or sort in columns:
        return by_group
    if sort in _NUMBERS:
        return lambda row: (_falling(getattr(row, sort)), by_group(row))
    chosen = [action for action, kind in kinds.items() if sort in (action, kind)]
    if not chosen:
        allowed = ", ".join(dict.fromkeys([*kinds.values(), *kinds, *_NUMBERS]))
        raise InvalidOption("sort", sort, f"is not one of {allowed}")
    return lambda row: (_falling(sum(row.frequencies[action] for action in chosen)), by_group(row))


def _falling(value: float) -> float:
    return math.inf if math.isnan(value) else -value
