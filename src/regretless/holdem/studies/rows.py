"""From a solution to the rows of the tables."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from regretless.cards.deck import board_text, card_text
from regretless.forms.public import NodeKind
from regretless.forms.public_size import size_of_form
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.reading.places import Place
from regretless.holdem.reading.reading import SpotReader
from regretless.holdem.reports.exports import long_rows
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.lines import find_action, parse_line
from regretless.holdem.spots.question import STREETS, PlayerName
from regretless.holdem.studies.plan import ANY, Keep, StudySpot
from regretless.holdem.studies.schema import column_of
from regretless.holdem.studies.textures import texture_of

__all__ = ["kept_places", "run_row", "spot_rows"]

_LEFT = {4: 45, 5: 44}  # cards that can come as the turn and the river, when both players hold two


def spot_rows(spot: StudySpot, solution: SpotSolution, keep: Keep) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of a spot in `summary` and `hands`."""
    reader = solution.reader
    summary: list[dict[str, Any]] = []
    hands: list[dict[str, Any]] = []
    whole = reader.pairs(reader.root)
    common = _common(spot) | {"matchups": whole}
    places = list(kept_places(reader, keep))
    reader.find_equities(places)
    for place in places:
        view = reader.view(place)
        reach = reader.pairs(place) / whole
        for count in range(4, 4 + len(place.deal.cards)):
            reach /= _LEFT[count]
        summary += _line_rows(common, view, place, reach)
        if keep.hands:
            named = {"spot": spot.id, "flop": spot.flop.text, "variation": spot.variation.number}
            hands += [{**named, **row} for row in long_rows(view)]
    return summary, hands


def run_row(spot: StudySpot, solution: SpotSolution, total_seconds: float) -> dict[str, Any]:
    """The row of a spot in `runs`, without the digests of its parts."""
    record = solution.record
    return {
        "spot": spot.id,
        "flop": spot.flop.text,
        "variation": spot.variation.number,
        **_varied(spot),
        "iterations": record.iterations,
        "exploitability": solution.exploitability,
        "exploitability_pct_pot": solution.exploitability_pct_pot,
        "reason": record.reason,
        "entries": size_of_form(solution.reader.form).entries,
        "seconds": record.seconds,
        "setup_seconds": record.setup_seconds,
        "total_seconds": total_seconds,
        "memory_bytes": record.memory_bytes,
        "engine": record.engine,
        "device": record.device,
        "threads": record.threads,
        "storage": record.settings.storage,
        "host": socket.gethostname(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def kept_places(reader: SpotReader, keep: Keep) -> Iterator[Place]:
    """The decisions that a study keeps: of the flop, down to a depth, or those of chosen lines."""
    if isinstance(keep.lines, tuple):
        seen = set()
        for line in keep.lines:
            for place in _of_line(reader, line):
                if place.steps not in seen:
                    seen.add(place.steps)
                    yield place
        return
    deepest = math.inf if keep.lines == "flop" else int(keep.lines)
    waiting = [reader.root]
    while waiting:
        place = waiting.pop()
        if reader.form.tree.kind[place.node] == NodeKind.DECISION:
            yield place
            if len(place.steps) < deepest:
                waiting += reversed(list(reader.children(place)))


def _of_line(reader: SpotReader, line: str) -> list[Place]:
    """Where a line leads: nowhere if it does not exist on this board, to several places if it has `any`."""
    places = [reader.root]
    for part in line.split(", ") if line else ():
        step = None if part == ANY else parse_line(part)[0]
        following = []
        for place in places:
            if reader.form.tree.kind[place.node] == NodeKind.CHANCE:
                cards = reader.cards(place)
                wanted = cards if step is None else [card for card in cards if card == step.card]
                following += [reader.deal(place, card) for card in wanted]
            elif step is not None and (action := find_action(step, reader.actions(place.node))) is not None:
                following.append(reader.act(place, action))
        places = following
    return [place for place in places if reader.form.tree.kind[place.node] == NodeKind.DECISION]


def _common(spot: StudySpot) -> dict[str, Any]:
    """The columns that all lines of a spot share."""
    asked = spot.spot
    return {
        "spot": spot.id,
        "flop": spot.flop.text,
        "variation": spot.variation.number,
        "weight": spot.flop.weight,
        "flops": spot.flop.flops,
        **asdict(texture_of(spot.flop.cards)),
        **_varied(spot),
        "pot": asked.pot,
        "stack": asked.stack,
        "rake": asked.rules.rake,
        "rake_cap": _number(asked.rules.rake_cap),
    }


def _varied(spot: StudySpot) -> dict[str, Any]:
    return {column_of(field): value for field, value in spot.variation.parameters.items()}


def _line_rows(common: dict[str, Any], view: NodeView, place: Place, reach: float) -> Iterator[dict[str, Any]]:
    """A row per action at a decision."""
    assert view.player is not None
    cards = [card_text(card) for card in place.deal.cards]
    of_player = {player: _of_player(view, player) for player in ("oop", "ip")}
    named = {
        **common,
        "line": view.line,
        "pattern": ", ".join(ANY if step in (*cards, board_text(place.deal.cards)) else step for step in place.steps),
        "street": STREETS[len(view.board) - 3],
        "turn": cards[0] if cards else None,
        "river": cards[1] if len(cards) > 1 else None,
        "player": view.player,
        **of_player[view.player],
        **{f"{player}_{name}": value for player, found in of_player.items() for name, value in found.items()},
        "node_pot": view.pot,
        "reach": reach,
    }
    worth = zip(view.actions, view.frequencies, view.action_means, view.action_combos, strict=True)
    for number, (action, frequency, mean, combos) in enumerate(worth):
        step = parse_line(action)[0]
        first = "check" in view.actions
        yield {
            **named,
            "place": number,
            "action": action,
            "kind": ("bet" if first else "raise") if step.verb == "all-in" else step.verb,
            "amount": step.amount,
            "frequency": _number(frequency),
            "action_ev": _number(mean),
            "combos": combos,
        }


def _of_player(view: NodeView, player: PlayerName) -> dict[str, float | None]:
    ev, equity = view.ev(player), view.equity(player)
    expected = equity * view.pot
    return {
        "ev": _number(ev),
        "equity": _number(equity),
        "eqr": _number(ev / expected if expected > 0 else math.nan),
    }


def _number(value: float) -> float | None:
    """Tables have no NaN and no infinity."""
    return value if math.isfinite(value) else None
