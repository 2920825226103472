"""The tables of a study, their columns and what each means. `VERSION` changes whenever a column does.

    summary   a row per spot, line and action
    hands     a row per spot, line, hand of the acting player and action; only with `keep.hands`
    runs      a row per spot: how it was solved. Only here do two runs of a study differ.

Each field that varies adds a column to `summary` and `runs`, named like the field with dots replaced by underscores
(`rules_rake`), unless it is `pot` or `stack`, which are columns anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from regretless.holdem.reading.columns import DEFINITIONS

__all__ = ["TABLES", "VERSION", "arrow_schema", "column_of"]

VERSION = 1

_SPOT = {
    "spot": ("text", "name of the spot: its flop and, if anything varies, the number of the variation"),
    "flop": ("text", "the flop that was solved: QsJh2h"),
    "variation": ("whole", "number of the combination of varied values, from 1"),
}
_SUMMARY = {
    **_SPOT,
    "weight": ("number", "weight of the flop in means; the weights of all flops, or of a subset, sum to 22,100"),
    "flops": ("whole", "how many flops it stands for, which differ only in the names of suits"),
    "ranks": ("text", "ranks of the flop, highest first: QJ2"),
    "high": ("text", "highest rank"),
    "middle": ("text", "middle rank"),
    "low": ("text", "lowest rank"),
    "pairing": ("text", "unpaired, paired or trips"),
    "suits": ("text", "rainbow, two-tone or monotone"),
    "connectedness": ("text", "connected (three ranks in a row), gapped (a straight is possible) or disconnected"),
    "broadways": ("whole", "cards of the flop from ten to ace"),
    "texture": ("text", "suits, with pairing if the flop is paired: two-tone, paired rainbow, trips"),
    "pot": ("number", "chips in the pot at the start"),
    "stack": ("number", "chips behind at the start"),
    "rake": ("number", "share of the final pot taken as rake"),
    "rake_cap": ("number", "most chips taken as rake; empty: no cap"),
    "line": ("text", "line of play that leads to the decision, cards included; empty at the first decision"),
    "pattern": ("text", "the line with `any` for every card"),
    "street": ("text", "flop, turn or river"),
    "turn": ("text", "the turn card, if it has been dealt"),
    "river": ("text", "the river card, if it has been dealt"),
    "player": ("text", "who acts: oop or ip"),
    "place": ("whole", "number of the action at its decision, from 0; `where place = 0` leaves a row per line"),
    "action": ("text", "the action: check, bet 30, all-in 100 …"),
    "kind": ("text", "check, bet, raise, call or fold; an all-in is a bet or a raise"),
    "amount": ("number", "the player's chips on this street after a bet or raise"),
    "frequency": ("number", "how often the acting player takes the action, over the whole range, from 0 to 1"),
    "action_ev": ("number", "EV of the action over the hands that take it, in chips; empty if none does"),
    "combos": ("number", "combos that take the action"),
    "ev": ("number", "EV of the acting player in chips: won from here on, less put in from here on"),
    "equity": ("number", "equity of the acting player, from 0 to 1"),
    "eqr": ("number", "equity realised by the acting player: ev / (equity x node_pot)"),
    "oop_ev": ("number", "EV of the player out of position, in chips"),
    "ip_ev": ("number", "EV of the player in position, in chips"),
    "oop_equity": ("number", "equity of the player out of position"),
    "ip_equity": ("number", "equity of the player in position"),
    "oop_eqr": ("number", "equity realised by the player out of position"),
    "ip_eqr": ("number", "equity realised by the player in position"),
    "node_pot": ("number", "chips in the pot at the decision, this street's bets included"),
    "reach": ("number", "probability of the line, cards included, given the flop"),
    "matchups": ("number", "total weight of all pairs of hands on this flop: how often the ranges are dealt on it"),
}  # fmt: skip
_HAND_KINDS = {"locked": "flag", "line": "text", "player": "text", "hand": "text", "action": "text"}
_HANDS = {
    **_SPOT,
    **{
        name: (_HAND_KINDS.get(name, "number"), text)
        for name, text in DEFINITIONS.items()
        if name not in ("board", "pot")
    },
}
_RUNS = {
    **_SPOT,
    "iterations": ("whole", "iterations done"),
    "exploitability": ("number", "in chips: the mean of what each player gains by a best response"),
    "exploitability_pct_pot": ("number", "the same in percent of the starting pot"),
    "reason": ("text", "why the solve ended: target or iterations"),
    "entries": ("whole", "actions of hands over all decisions"),
    "seconds": ("number", "solving, including measurements"),
    "setup_seconds": ("number", "compiling the spot and the engine"),
    "total_seconds": (
        "number",
        "from start to end of the solve; of spots solved together, since the one before it ended",
    ),
    "memory_bytes": ("whole", "memory of the engine"),
    "engine": ("text", "the engine"),
    "device": ("text", "cpu or cuda"),
    "threads": ("whole", "CPU threads"),
    "storage": ("whole", "bits per stored number"),
    "host": ("text", "name of the machine"),
    "finished": ("text", "when, in UTC"),
    "summary_sha256": ("text", "digest of the spot's part of `summary`"),
    "hands_sha256": ("text", "digest of its part of `hands`; empty if not kept"),
    "solution_bytes": ("whole", "size of its .rgl file; empty if not kept"),
}
TABLES: Mapping[str, Mapping[str, tuple[str, str]]] = MappingProxyType(
    {"summary": _SUMMARY, "hands": _HANDS, "runs": _RUNS}
)


def column_of(field: str) -> str:
    """The column of a field that varies.

    >>> column_of("rules.rake")
    'rules_rake'
    """
    return field.replace(".", "_")


def arrow_schema(arrow: Any, table: str, varied: Mapping[str, Any], metadata: Mapping[str, str]) -> Any:
    """The columns of a table with their types; `varied` has a value of each field that varies."""
    types = {"text": arrow.string(), "whole": arrow.int64(), "number": arrow.float64(), "flag": arrow.bool_()}
    columns: list[tuple[str, str, str]] = [(name, kind, text) for name, (kind, text) in TABLES[table].items()]
    columns += [(name, kind, "value of a field that varies") for name, kind in _extra(table, varied)]
    fields = [arrow.field(name, types[kind], metadata={"definition": text}) for name, kind, text in columns]
    return arrow.schema(fields, metadata={"schema": str(VERSION), **metadata})


def _extra(table: str, varied: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for field, value in varied.items():
        if table != "hands" and column_of(field) not in TABLES[table]:
            yield column_of(field), "text" if isinstance(value, str) else "number"
