"""The colours players know: fold blue, check and call green, bets from amber to violet as they grow; suits in four."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["SUIT_COLORS", "blend", "game_action_colors", "on_scale", "spot_action_colors"]

FOLD_COLOR, CALL_COLOR = "#4f8fd0", "#4caf6d"
BETS = ("#f2b134", "#ee7f2d", "#d94343", "#9b5fc0")  # small to large
FOLD_WORDS = {"f", "fold"}
CALL_WORDS = {"c", "call", "check", "k", "p", "pass"}
SUIT_COLORS = {"c": "green", "d": "blue", "h": "red", "s": "default"}  # names of terminal colours


def game_action_colors(actions: Iterable[str]) -> dict[str, str]:
    """A colour for each action of a game: folds first, then calls, then bets from small to large.

    Anything that is neither a fold nor a call is coloured as a bet, in the order given.

    >>> game_action_colors(["c", "r", "f"])
    {'f': '#4f8fd0', 'c': '#4caf6d', 'r': '#f2b134'}
    """
    distinct = list(dict.fromkeys(actions))
    folds = [action for action in distinct if action.lower() in FOLD_WORDS]
    calls = [action for action in distinct if action.lower() in CALL_WORDS]
    bets = [action for action in distinct if action not in (*folds, *calls)]
    colors = dict.fromkeys(folds, FOLD_COLOR) | dict.fromkeys(calls, CALL_COLOR)
    return colors | {bet: on_scale(BETS, _share(index, len(bets), 0.0)) for index, bet in enumerate(bets)}


def spot_action_colors(actions: Sequence[str]) -> dict[str, str]:
    """A colour for each action of a node: bets from amber to red as they grow, all-in violet.

    >>> list(spot_action_colors(["fold", "call", "raise 250", "raise 400", "all-in 900"]).values())
    ['#4f8fd0', '#4caf6d', '#f2b134', '#d94343', '#9b5fc0']
    """
    bets = [action for action in actions if action.split()[0] in ("bet", "raise")]
    colors = {}
    for action in actions:
        verb = action.split()[0]
        if action in bets:
            colors[action] = on_scale(BETS[:-1], _share(bets.index(action), len(bets), 0.5))
        elif verb in FOLD_WORDS:
            colors[action] = FOLD_COLOR
        elif verb in CALL_WORDS:
            colors[action] = CALL_COLOR
        else:
            colors[action] = BETS[-1]
    return colors


def _share(index: int, count: int, alone: float) -> float:
    """The position of one of several on a scale from 0 to 1; `alone`: of one without others."""
    return index / (count - 1) if count > 1 else alone


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
