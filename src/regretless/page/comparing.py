"""Two solved spots compared: where they differ most, and how at a node."""

from __future__ import annotations

from collections.abc import Generator
from typing import Annotated, Any

from regretless.holdem.comparison import compare_in_pieces, compare_nodes
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.spots.spot_fields import PLAYERS, PlayerName
from regretless.page.endpoint import Routes
from regretless.page.folder import File
from regretless.page.library import Library
from regretless.page.nodes import SEAT, Line
from regretless.page.schema import Json, array, boolean, integer, nullable, number, obj, rounded, text

__all__ = ["routes"]

MAX_SEARCH_SECONDS = 3.0
_PAIR = array(nullable(number()), "of the first and the second solution")

routes = Routes()

COMPARISON = obj(
    {
        "changed": array(text("field of the spot")),
        "ev": obj({"oop": _PAIR, "ip": _PAIR}),
        "equity": obj({"oop": _PAIR, "ip": _PAIR}),
        "exploitability_pct_pot": _PAIR,
        "nodes": array(
            obj(
                {
                    "line": text(),
                    "player": text(),
                    "deals": integer("equivalent deals counted here"),
                    "reached": _PAIR,
                    "moved": number("share of play that differs, 0 to 1"),
                    "frequencies": obj({}, "before and after by action", open_=True),
                    "ev": obj({"oop": _PAIR, "ip": _PAIR}),
                }
            )
        ),
        "visited": integer("decisions compared"),
        "complete": boolean(
            "whether the nodes listed are those that differ most; the search is cut short if it is long"
        ),
        "only_first": array(text()),
        "only_second": array(text()),
    }
)


@routes.endpoint("GET", "/compare", "Where two solutions on one board differ", COMPARISON)
def compare(
    library: Library, first: File, second: File, most: Annotated[int, integer(minimum=1, maximum=200)] = 20
) -> Generator[None, None, Json]:
    with library.both(first, second) as solutions:
        comparison = yield from compare_in_pieces(*solutions, most=most, seconds=MAX_SEARCH_SECONDS)
        answer: Json = _without_nan(comparison.as_json())
        return answer


@routes.endpoint("GET", "/compare/node", "How two solutions differ at a node, hand by hand", {"type": "object"})
def compare_node(
    library: Library, first: File, second: File, *, line: Line = "", player: Annotated[PlayerName, SEAT]
) -> Generator[None, None, Json]:
    with library.both(first, second) as (one, other):
        yield
        views = one.node(line), other.node(line)
        frequencies = [_frequencies(view) for view in views]
        actions = list(frequencies[0] | frequencies[1])
        return {
            "line": views[0].line,
            "player": player,
            "actions": actions,
            "frequencies": {action: [rounded(each.get(action)) for each in frequencies] for action in actions},
            "ev": {seat: [rounded(view.ev(seat)) for view in views] for seat in PLAYERS},
            "hands": [_without_nan(hand.as_json()) for hand in compare_nodes(*views, player)],
        }


def _frequencies(view: NodeView) -> dict[str, float]:
    """How often each action is taken; none if nobody acts."""
    return dict(zip(view.actions, view.frequencies, strict=True)) if view.kind == "decision" else {}


def _without_nan(value: Any) -> Any:
    """The same JSON with null for NaN."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return rounded(value) if isinstance(value, float) else value
