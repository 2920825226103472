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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from regretless.cards.deck import RANKS, SUITS
from regretless.errors import InvalidFile, InvalidOption, InvalidText, RegretlessError
from regretless.holdem.flops import CONNECTEDNESS, PAIRINGS, SUIT_KINDS, FlopFilter
from regretless.holdem.studies.folder import StudyFolder
from regretless.holdem.studies.plan import line_pattern
from regretless.holdem.studies.queries import run_sql
from regretless.holdem.studies.rows import TABLES, column_of
from regretless.spelling import did_you_mean

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
_SUMS = ("spots", "w", *_MEANS, "oop_equity_chips", "ip_equity_chips")  # of a group of spots


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
        return {
            "line": self.line,
            "player": self.player,
            "by": list(self.by),
            "actions": list(self.actions),
            "rows": [self._row_fields(row) | {"frequencies": dict(row.frequencies)} for row in self.rows],
            "total": self._row_fields(self.total) | {"frequencies": dict(self.total.frequencies)},
            "coverage": self.coverage.as_json(),
        }

    def flat_rows(self) -> list[dict[str, object]]:
        """A row per group with a column per action, for CSV and Parquet; the coverage is in every row."""
        rows = []
        coverage = {"solved_spots": self.coverage.solved, "planned_spots": self.coverage.spots}
        for row in self.rows:
            frequencies = {f"frequency of {action}": row.frequencies[action] for action in self.actions}
            rows.append(self._row_fields(row) | frequencies | coverage)
        return rows

    def _row_fields(self, row: ReportRow) -> dict[str, object]:
        """The columns that a row is grouped by, which the total does not have, and its numbers."""
        group = dict(zip(self.by, row.group, strict=False))
        numbers = {name: value for name, value in vars(row).items() if name not in ("group", "frequencies")}
        return group | numbers


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
    ip_eqr, weight and spots; or a column of `by`, which then comes before the others. `where` are properties of flops:
    "paired two-tone". `variation` is the number of one combination of varied values; by default, means are over all of
    them.
    """
    columns = tuple(_column(folder, name) for name in by)
    line = line_pattern(line, "line")
    coverage = study_coverage(folder, where=where, variation=variation)
    action_rows = _sums_by_action(folder, columns, line, where, variation)
    if not action_rows:
        raise _no_rows(folder, line, where, coverage)
    kinds: dict[str, str] = {}  # by action, in the order of the actions
    for row in sorted(action_rows, key=lambda row: (row["place"], row["action"])):
        kinds.setdefault(row["action"], row["kind"])
    groups: dict[tuple[object, ...], _GroupSums] = {}
    for row in action_rows:
        groups.setdefault(tuple(row[name] for name in columns), _GroupSums()).add(row)
    total = _GroupSums.together(groups.values(), kinds)
    weight = total.sums["w"]
    rows = [_row(sums, group, kinds, weight) for group, sums in groups.items()]
    return StudyReport(
        line=line,
        player=action_rows[0]["player"],
        by=columns,
        actions=tuple(kinds),
        kinds=kinds,
        rows=tuple(sorted(rows, key=_sorting(sort, columns, kinds))),
        total=_row(total, (), kinds, weight),
        coverage=coverage,
    )


def _sums_by_action(
    folder: StudyFolder, columns: Sequence[str], line: str, where: str, variation: int | None
) -> list[dict[str, Any]]:
    """A row per group of spots and action.

    Columns that are equal for all actions of a decision are summed over its first action (place 0) only.
    """
    condition = f"(line = $line OR pattern = $line){_where(where)}"
    parameters: dict[str, object] = {"line": line}
    if variation is not None:
        condition += " AND variation = $variation"
        parameters["variation"] = variation
    group = "".join(f'"{name}", ' for name in columns)
    sums = ", ".join(f"sum(w * {name}) FILTER (place = 0) AS {name}" for name in _MEANS)
    rows: list[dict[str, Any]] = run_sql(
        folder,
        f"""SELECT {group} action, min(kind) AS kind, min(place) AS place, sum(w * frequency) AS action_weight,
            count(DISTINCT spot) FILTER (place = 0) AS spots, min(player) AS player,
            sum(w) FILTER (place = 0) AS w, {sums},
            sum(w * oop_equity * node_pot) FILTER (place = 0) AS oop_equity_chips,
            sum(w * ip_equity * node_pot) FILTER (place = 0) AS ip_equity_chips
            FROM (SELECT *, weight * reach AS w FROM summary WHERE {condition}) GROUP BY {group} action""",
        parameters,
    ).to_pylist()
    return rows


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
        if variation in (None, spot.variation.number) and (flop_filter is None or flop_filter.matches(spot.flop.cards))
    ]
    weights = {spot.id: spot.flop.weight for spot in chosen}
    done = [weight for spot, weight in weights.items() if spot in solved]
    return Coverage(len(done), len(chosen), sum(done) / sum(weights.values()) if weights else None)


class _GroupSums:
    """The sums of a group of spots."""

    def __init__(self) -> None:
        self.sums: dict[str, float] = dict.fromkeys(_SUMS, 0)
        self.action_weights: dict[str, float] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the row of one action."""
        self.action_weights[row["action"]] = row["action_weight"] or 0.0
        for name in _SUMS:
            self.sums[name] += row[name] or 0

    @classmethod
    def together(cls, groups: Collection[_GroupSums], actions: Iterable[str]) -> _GroupSums:
        """The sums of several groups."""
        total = cls()
        for name in _SUMS:
            total.sums[name] = sum(group.sums[name] for group in groups)
        for action in actions:
            total.action_weights[action] = sum(group.action_weights.get(action, 0.0) for group in groups)
        return total


def _row(group_sums: _GroupSums, group: tuple[object, ...], actions: Iterable[str], total_weight: float) -> ReportRow:
    sums, weight = group_sums.sums, group_sums.sums["w"]
    return ReportRow(
        group=group,
        spots=int(sums["spots"]),
        weight=weight,
        share=_ratio(weight, total_weight),
        frequencies={action: _ratio(group_sums.action_weights.get(action, 0.0), weight) for action in actions},
        **{name: _ratio(sums[name], weight) for name in _MEANS},
        oop_eqr=_ratio(sums["oop_ev"], sums["oop_equity_chips"]),
        ip_eqr=_ratio(sums["ip_ev"], sums["ip_equity_chips"]),
    )


def _ratio(amount: float, total: float) -> float:
    return amount / total if total else math.nan


def _column(folder: StudyFolder, name: str) -> str:
    allowed = [column for column, (kind, _) in TABLES["summary"].items() if kind != "number"]
    allowed += ["pot", "stack", "rake", *(column_of(field) for field in folder.manifest.varied)]
    chosen = column_of(name.strip())
    if chosen not in allowed:
        advice = did_you_mean(chosen, allowed, "texture, pairing, suits, connectedness, high or flop are", cutoff=0.5)
        raise InvalidOption("by", name, f"is not a column to group by{advice}")
    return chosen


def _where(text: str) -> str:
    """Properties of flops as SQL; their words are known, so none needs quoting."""
    if not text.strip():
        return ""
    alternatives = []
    for terms in FlopFilter(text, "where").alternatives:
        conditions = [f"({' OR '.join(map(_word_condition, sorted(term)))})" for term in terms]
        alternatives.append(" AND ".join(conditions))
    return f" AND ({' OR '.join(alternatives)})"


def _word_condition(word: str) -> str:
    """A property of flops as SQL: `pairing = 'paired'`."""
    for column, words in (("pairing", PAIRINGS), ("suits", SUIT_KINDS), ("connectedness", CONNECTEDNESS)):
        if word in words:
            return f"{column} = '{word}'"
    return f"high = '{word[0]}'"  # A-high


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
        group = dict(zip(columns, row.group, strict=True))
        for name in sorted(columns, key=lambda name: name != sort):  # the one to sort by first
            value, order = group[name], _ORDERS.get(name, ())
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
