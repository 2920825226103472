"""What a solution is called: by its formation and its board."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from regretless.cards.deck import board_text
from regretless.cards.hands import HAND_COUNT
from regretless.cards.ranges import Range
from regretless.holdem.games.charts import chart_formations
from regretless.holdem.spots.formations import Formation, formations
from regretless.holdem.spots.spot_fields import PLAYERS, SpotFields

__all__ = ["formation_label", "range_names", "solve_names"]


def formation_label(spot: SpotFields) -> str | None:
    """The shipped formation whose ranges a spot has; None if there is none."""
    return _formations().get((_key(spot.oop), _key(spot.ip)))


def range_names(spot: SpotFields) -> dict[str, str]:
    """What each player's range is called: the position, or the seat of a shipped one, else the share of all hands."""
    names: dict[str, str] = {}
    for player, position in zip(PLAYERS, spot.positions, strict=True):
        hands = spot.range_of(player)
        names[player] = position or _seats().get(_key(hands)) or f"{100 * hands.combos / HAND_COUNT:.0f} %"
    return names


def solve_names(spot: SpotFields, typed_name: str | None) -> tuple[str, str]:
    """What a solve of a spot is called, and its file.

    A formation is solved on many boards, so the name of its file ends in the board. A typed name is used unchanged.
    """
    label = formation_label(spot)
    name = typed_name or spot.name or label or "spot"
    labels = (label, "spot", *(each.label for each in _shipped()))
    return name, f"{name} {board_text(spot.board).replace(' ', '')}" if name in labels else name


def _shipped() -> tuple[Formation, ...]:
    return (*formations(), *chart_formations())


def _key(hands: Range) -> bytes:
    return hands.weights.tobytes()


@cache
def _formations() -> MappingProxyType[tuple[bytes, bytes], str]:
    return MappingProxyType(
        {(_key(Range.parse(each.oop.range)), _key(Range.parse(each.ip.range))): each.label for each in _shipped()}
    )


@cache
def _seats() -> MappingProxyType[bytes, str]:
    seats = (seat for each in _shipped() for seat in (each.oop, each.ip))
    return MappingProxyType({_key(Range.parse(seat.range)): seat.name for seat in seats})
