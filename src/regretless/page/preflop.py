"""Solved games from the deal, before the flop: a chart of 169 classes per decision, and the spots that follow.

A chart has the mix of actions of each class, and how much of the class gets there. A line of play that leads to a flop
gives a spot: the ranges that both players arrive with, the pot and the stacks behind. The small blind has the button
and is in position after the flop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice

from regretless.errors import InvalidText
from regretless.forms.public import NodeKind
from regretless.games.push_fold import BIG_BLIND, FOLD, PUSH, SMALL_BLIND
from regretless.holdem.games.big_blinds import BigBlindSolution
from regretless.holdem.games.charts import CLOSE, SEATS, formation_after
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.pricing import PricedSolution
from regretless.holdem.games.push_fold import PushFoldSolution
from regretless.holdem.reading.line_reader import NodeStrategy
from regretless.holdem.spots.bet_tables import every_table, read_bets
from regretless.holdem.spots.spot_toml import SPOT_FILE
from regretless.page.endpoint import NotFound, Routes
from regretless.page.folder import File
from regretless.page.library import Library
from regretless.page.nodes import Line
from regretless.page.schema import Json, array, boolean, integer, nullable, number, obj, rounded, rounded_list, text

__all__ = ["routes"]

MAX_CHARTS = 300


@dataclass(frozen=True)
class _LineEnd:
    """Where a line before the flop leads, and what it has cost."""

    ends: str | None  # "fold", "showdown" or "flop"; None if somebody acts next
    paid: tuple[float, float]  # big blinds that the small blind and the big blind have put in


def _line_end(solution: BigBlindSolution, line: str) -> _LineEnd:
    if isinstance(solution, PushFoldSolution):
        return _push_fold_end(solution, line)
    assert isinstance(solution, PricedSolution)
    return _tree_end(solution, line)


def _push_fold_end(solution: PushFoldSolution, line: str) -> _LineEnd:
    ante, stack = solution.rules.ante, float(solution.rules.stack)
    small_blind, big_blind = SMALL_BLIND + ante, BIG_BLIND + ante
    if line == "":
        return _LineEnd(None, (small_blind, big_blind))
    if line == FOLD:
        return _LineEnd("fold", (small_blind, big_blind))
    if line == PUSH:
        return _LineEnd(None, (stack, big_blind))
    if line.endswith(FOLD):
        return _LineEnd("fold", (stack, big_blind))
    return _LineEnd("showdown", (stack, stack))


def _tree_end(solution: PricedSolution, line: str) -> _LineEnd:
    node, tree = solution.reader.find(line), solution.reader.tree
    big_blind = solution.rules.big_blind
    paid = (float(tree.paid[node.index, 0]) / big_blind, float(tree.paid[node.index, 1]) / big_blind)
    match NodeKind(int(tree.kind[node.index])):
        case NodeKind.DECISION:
            return _LineEnd(None, paid)
        case NodeKind.CHANCE:
            is_all_in = min(paid) >= _stack(solution) - CLOSE
            return _LineEnd("showdown" if is_all_in else "flop", paid)
        case kind:
            return _LineEnd(kind.name.lower(), paid)


def _stack(solution: BigBlindSolution) -> float:
    """What each player starts with, in big blinds."""
    if isinstance(solution, PushFoldSolution):
        return float(solution.rules.stack)
    assert isinstance(solution, PricedSolution)
    return float(solution.rules.stack / solution.rules.big_blind)


def _chart(solution: BigBlindSolution, chart: NodeStrategy) -> Json:
    end = _line_end(solution, chart.line)
    own = 0 if chart.player == "ip" else 1
    actions: list[Json] = []
    for name, frequency in zip(chart.actions, chart.frequencies, strict=True):
        line = f"{chart.line}, {name}" if chart.line else name
        after = _line_end(solution, line)
        is_raise = name.startswith(("raise", "all-in", "push", "bet"))
        actions.append(
            {
                "name": name,
                "frequency": rounded(frequency),
                "amount": rounded(after.paid[own]) if is_raise else None,
                "next": line,
                "ends": after.ends,
                "pot": rounded(sum(after.paid)),
            }
        )
    return {
        "line": chart.line,
        "player": chart.player,
        "seat": SEATS[chart.player],
        "pot": rounded(sum(end.paid)),
        "stack": rounded(_stack(solution) - end.paid[own]),
        "actions": actions,
        "classes": [rounded_list(row) for row in chart.grid()],
        "weights": rounded_list(chart.class_weights()),
    }


def _spot(solution: PricedSolution, line: str) -> Json:
    """The spot after a line, without a flop; amounts are in big blinds."""
    if _tree_end(solution, line).ends != "flop":
        raise InvalidText("line", line, None, "leads to no flop on which somebody can bet")
    formation = formation_after(solution.rules, solution.reader, solution.reader.find(line))
    if formation is None:
        raise InvalidText("line", line, None, "is never played: a player has no hand left")
    fields = formation.fields()
    return fields | {
        "bets": every_table(read_bets(fields["bets"], SPOT_FILE)),
        "rules": fields["rules"] | _rake(solution.rules),
    }


def _rake(game: HoldemGame) -> dict[str, float]:
    """The rake of a game, with its cap in big blinds."""
    rules = game.rules
    if rules.rake == 0:
        return {}
    if math.isinf(rules.rake_cap):
        return {"rake": rules.rake}
    return {"rake": rules.rake, "rake_cap": rules.rake_cap / game.big_blind}


# --- endpoints -------------------------------------------------------------------------------------------------------

_NUMBER = nullable(number())
ACTION = obj(
    {
        "name": text("as in a line: raise 5"),
        "frequency": nullable(number("over the whole range, 0 to 1")),
        "amount": nullable(number("what the player has put in after a raise, in big blinds")),
        "next": text("the line that continues with it"),
        "ends": nullable(text(enum=["fold", "showdown", "flop"])),
        "pot": number("after the action, in big blinds"),
    }
)
CHART = obj(
    {
        "line": text(),
        "player": text(enum=["oop", "ip"]),
        "seat": text(enum=["SB", "BB"]),
        "pot": number("big blinds"),
        "stack": number("what the player has left, in big blinds"),
        "actions": array(ACTION),
        "classes": array(
            array(_NUMBER), "of each of /meta's 169 classes: how often each action; null if none is there"
        ),
        "weights": array(_NUMBER, "share of each class that gets here"),
    }
)
PREFLOP = obj(
    {
        "file": text(),
        "revision": text(),
        "game": text(),
        "stack": number("of each player, in big blinds"),
        "values": nullable(array(number(), "of the small blind and the big blind, in big blinds per hand")),
        "exploitability": nullable(number("mbb/g: thousandths of a big blind per hand; null if not measured")),
        "iterations": number(),
        "charts": array(CHART, "decisions before the flop, the first one first"),
        "omitted": integer(f"how many more there are; at most {MAX_CHARTS} are sent"),
        "has_whole_hands": boolean("whether whole hands can be played against it"),
    }
)

routes = Routes()


@routes.endpoint("GET", "/preflop", "Every decision before the flop as a chart", PREFLOP)
def preflop(library: Library, file: File) -> Json:
    with library.preflop(file) as (solution, revision):
        remaining = solution.charts()
        charts = [_chart(solution, chart) for chart in islice(remaining, MAX_CHARTS)]
        measured = solution.is_measured
        return {
            "file": file,
            "revision": revision,
            "game": solution.game,
            "stack": _stack(solution),
            "values": [rounded(value) for value in solution.values] if measured else None,
            "exploitability": rounded(max(solution.exploitability_mbb, 0.0)) if measured else None,
            "iterations": solution.iterations,
            "charts": charts,
            "omitted": sum(1 for _ in remaining),
            "has_whole_hands": isinstance(solution, PricedSolution),
        }


@routes.endpoint(
    "GET",
    "/preflop/spot",
    "The spot after a line of play, without a flop: the ranges that arrive, pot and stack in big blinds",
    obj({"spot": {"type": "object"}}),
)
def preflop_spot(library: Library, file: File, line: Line = "") -> Json:
    with library.preflop(file) as (solution, _):
        if not isinstance(solution, PricedSolution):
            raise NotFound(f"file: {file!r} ends before the flop: nobody can bet after it", "file")
        return {"spot": _spot(solution, line)}
