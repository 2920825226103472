"""The colours players know: fold blue, check and call green, bets from amber to violet as they grow; suits in four."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["SUIT_COLORS", "action_colors", "blend", "on_scale", "spot_colors"]

FOLD_COLOR, CALL_COLOR = "#4f8fd0", "#4caf6d"
BETS = ("#f2b134", "#ee7f2d", "#d94343", "#9b5fc0")  # small to large
FOLD_WORDS = {"f", "fold"}
CALL_WORDS = {"c", "call", "check", "k", "p", "pass"}
SUIT_COLORS = {"c": "green", "d": "blue", "h": "red", "s": "default"}


def action_colors(actions: Iterable[str]) -> dict[str, str]:
    """A colour for each action of a game: folds first, then calls, then bets from small to large.

    Anything that is neither a fold nor a call is coloured as a bet, in the order given.

    >>> action_colors(["c", "r", "f"])
    {'f': '#4f8fd0', 'c': '#4caf6d', 'r': '#f2b134'}
    """
    distinct = list(dict.fromkeys(actions))
    colors = {action: _color(action.lower()) for action in distinct}
    bets = [action for action in distinct if colors[action] is None]
    order = [FOLD_COLOR, CALL_COLOR, None]
    return {
        action: colors[action] or on_scale(BETS, bets.index(action) / max(len(bets) - 1, 1))
        for action in sorted(distinct, key=lambda action: order.index(colors[action]))
    }


def spot_colors(actions: Sequence[str]) -> dict[str, str]:
    """A colour for each action of a node: bets from amber to red as they grow, all-in violet.

    >>> list(spot_colors(["fold", "call", "raise 250", "raise 400", "all-in 900"]).values())
    ['#4f8fd0', '#4caf6d', '#f2b134', '#d94343', '#9b5fc0']
    """
    bets = [action for action in actions if action.split()[0] in ("bet", "raise")]
    colors = {}
    for action in actions:
        if action in bets:
            colors[action] = on_scale(BETS[:-1], bets.index(action) / (len(bets) - 1) if len(bets) > 1 else 0.5)
        else:
            colors[action] = _color(action.split()[0]) or BETS[-1]
    return colors


def _color(verb: str) -> str | None:
    """The colour of a fold or a call; None for bets."""
    return FOLD_COLOR if verb in FOLD_WORDS else CALL_COLOR if verb in CALL_WORDS else None


def blend(start: str, end: str, share: float) -> str:
    """The colour a share of the way from one to another.

    >>> blend("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = [(int(start[i : i + 2], 16), int(end[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in pairs)


def on_scale(colors: tuple[str, ...], share: float) -> str:
    """The colour at a position, 0 to 1, along a scale of several.

    >>> on_scale(("#000000", "#ffffff", "#ff0000"), 0.5)
    '#ffffff'
    """
    position = share * (len(colors) - 1)
    lower = min(int(position), len(colors) - 2)
    return blend(colors[lower], colors[lower + 1], position - lower)
