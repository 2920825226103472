"""Features of the information sets of a game, for `TableEncoder`.

Kuhn and Leduc have the ranks of the own and the public card, one-hot, and limit betting (`bet_features`); suits decide
nothing and are left out, so information sets that only differ in suits have equal features. Every other game has the
text of `info_set_key`: for each position, one-hot over the characters that occur there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.deep.worlds.bet_features import bet_features, longest_round
from regretless.forms.history import HistoryForm
from regretless.games.game import Game
from regretless.games.kuhn import Kuhn
from regretless.games.leduc import Leduc
from regretless.games.limit_betting import LimitBetting, Move, Point

__all__ = ["Features", "features_bytes", "features_of"]


class Features(NamedTuple):
    """Rows for every information set; numbers in [0, ∞), mostly 0 and 1."""

    cards: NDArray[Any]  # [I, card features], or the text of a game that is not poker
    bets: NDArray[np.float32] | None  # [I, bet features]


def features_of(game: Game[Any], form: HistoryForm) -> Features:
    """Features of every information set of a compiled game."""
    if isinstance(game, Kuhn | Leduc) and game.betting is not None:
        return _poker_features(game, game.betting, form.keys)
    return Features(_text_features(form.keys), None)


def features_bytes(form: HistoryForm) -> int:
    """Bytes that features of a game's texts take while they are made: as they are, and three times as float32.

    >>> from regretless.forms.compile import compile_history
    >>> features_bytes(compile_history(Kuhn()))  # 12 information sets of at most 4 characters, 7 columns
    1092
    """
    longest = max(map(len, form.keys), default=0)
    columns = sum(len({key[position : position + 1] for key in form.keys} - {""}) for position in range(longest))
    return len(form.keys) * columns * (1 + 3 * 4)


def _poker_features(game: Kuhn | Leduc, betting: LimitBetting, keys: Sequence[str]) -> Features:
    """A key is `card:history`; in Leduc, `history` may be `first/card:second`."""
    parts = [key.partition(":") for key in keys]
    held = [card for card, _, _ in parts]
    histories = [history.partition("/") for _, _, history in parts]
    public = [rest.partition(":")[0] for _, _, rest in histories]
    lines = [first + rest.partition(":")[2] for first, _, rest in histories]
    cards = np.concatenate(
        [_one_hot([card[:1] for card in column]) for column in (held, public) if any(column)], axis=1
    )
    sizes = {"rounds": len(betting.bets), "positions": longest_round(betting)}
    bets = np.stack([bet_features(betting, _moves(game, betting, line), **sizes) for line in lines])
    return Features(cards, bets)


def _moves(game: Kuhn | Leduc, betting: LimitBetting, line: str) -> list[Move]:
    """The betting moves that a history of actions spells."""
    moves: list[Move] = []
    point: Point | None = betting.first()
    for action in line:
        assert point is not None
        move = next(move for move in betting.moves(point) if game.move_name(point, move) == action)
        moves.append(move)
        point = betting.after(point, move)
    return moves


def _text_features(keys: Sequence[str]) -> NDArray[np.uint8]:
    longest = max(map(len, keys), default=0)
    columns = [_one_hot([key[position : position + 1] for key in keys]) for position in range(longest)]
    return np.concatenate(columns, axis=1)


def _one_hot(symbols: Sequence[str]) -> NDArray[np.uint8]:
    """[symbols, distinct symbols] one-hot; an empty symbol has no column."""
    column = {symbol: number for number, symbol in enumerate(sorted(set(symbols) - {""}))}
    hot = np.zeros((len(symbols), len(column)), np.uint8)
    for row, symbol in enumerate(symbols):
        if symbol:
            hot[row, column[symbol]] = 1
    return hot
