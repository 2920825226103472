"""Push or fold: heads-up no-limit hold'em with short stacks, where the small blind is all-in or out before the flop.

1. Both players put in the ante. Player 0 posts a small blind of half a big blind, player 1 the big blind. Both hold
   `stack` big blinds before posting.
2. The small blind pushes all-in or folds. Facing a push, the big blind calls or folds.
3. After a call, five cards are dealt and the better hand wins both stacks; equal hands split.

Before the flop, hands that differ only in the names of their suits play alike, so a player is dealt one of 169 classes
of hands. What a call wins is the exact equity of one class against another, over every pair of hands that share no card
and every board (`cards.preflop_equities`). The likelihood of a pair of classes is its share of all such pairs
of hands. The big blind's class is drawn after a push: nothing depends on it before, and the tree is smaller.

Utilities are in big blinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from regretless.cards.hands import CLASS_NAMES
from regretless.cards.preflop_equities import class_equities
from regretless.errors import InvalidOption
from regretless.games._checks import check_positive
from regretless.games.game import CHANCE, Action, TwoPlayerGame
from regretless.spelling import spelled

__all__ = ["CALL", "FOLD", "PUSH", "PushFold", "PushFoldState"]

MAX_STACK = 1_000_000  # big blinds
SMALL_BLIND, BIG_BLIND = 0.5, 1.0

PUSH, CALL, FOLD = "push", "call", "fold"
FIRST_ACTIONS, ANSWERS = (FOLD, PUSH), (FOLD, CALL)


class PushFoldState(NamedTuple):
    """A history of push or fold. Classes are numbers of `CLASS_NAMES`, −1 until they are dealt."""

    small_blind: int
    big_blind: int
    line: tuple[Action, ...]


class PushFold(TwoPlayerGame[PushFoldState]):
    """Push or fold, for any stack and ante in big blinds.

    >>> game = PushFold(stack=8)
    >>> state = game.initial_state()
    >>> for action in ("AKs", "push", "22"):
    ...     state = game.next_state(state, action)
    >>> game.info_set_key(state), game.actions(state)
    ('22:push', ('fold', 'call'))
    >>> round(game.utility(game.next_state(state, "call"), player=0), 6)  # AKs has 49.89 % against 22
    -0.017069
    """

    def __init__(self, stack: float = 10, ante: float = 0) -> None:
        check_positive("stack", stack, "must be a number of big blinds")
        if ante != 0:
            check_positive("ante", ante, "must be a number of big blinds, at least 0")
        if not BIG_BLIND + ante < stack <= MAX_STACK:
            limit = f"more than the big blind and the ante, {BIG_BLIND + ante:g}, and at most {MAX_STACK:,}"
            raise InvalidOption("stack", stack, f"must be {limit}")
        self.stack, self.ante = stack, ante
        self.name = spelled("push-fold", PushFold, self)
        folded, won = SMALL_BLIND + ante, BIG_BLIND + ante
        self._folds = {(FOLD,): (-folded, folded), (PUSH, FOLD): (won, -won)}
        self._class_number = {name: number for number, name in enumerate(CLASS_NAMES)}

    def initial_state(self) -> PushFoldState:
        return PushFoldState(-1, -1, ())

    def is_terminal(self, state: PushFoldState) -> bool:
        return len(state.line) == 2 or state.line == (FOLD,)

    def player(self, state: PushFoldState) -> int:
        if state.line:
            return 1 if state.big_blind >= 0 else CHANCE
        return 0 if state.small_blind >= 0 else CHANCE

    def actions(self, state: PushFoldState) -> Sequence[Action]:
        if self.player(state) == CHANCE:
            return tuple(name for name, _ in self.chance_outcomes(state))
        return ANSWERS if state.line else FIRST_ACTIONS

    def chance_outcomes(self, state: PushFoldState) -> Sequence[tuple[Action, float]]:
        if state.line:
            return self._class_shares[state.small_blind]
        pairs = class_equities().pairs.sum(axis=1)
        return tuple(zip(CLASS_NAMES, (pairs / pairs.sum()).tolist(), strict=True))

    def next_state(self, state: PushFoldState, action: Action) -> PushFoldState:
        small_blind, big_blind, line = state
        if small_blind < 0:
            return PushFoldState(self._class_number[action], -1, line)
        if line and big_blind < 0:
            return PushFoldState(small_blind, self._class_number[action], line)
        return PushFoldState(small_blind, big_blind, (*line, action))

    def info_set_key(self, state: PushFoldState) -> str:
        hand = state.big_blind if state.line else state.small_blind
        return f"{CLASS_NAMES[hand]}:{PUSH if state.line else ''}"

    def utilities(self, state: PushFoldState) -> tuple[float, float]:
        folded = self._folds.get(state.line)
        if folded is not None:
            return folded
        won = self._call_values[state.small_blind][state.big_blind]
        return won, -won

    @cached_property
    def _class_shares(self) -> list[tuple[tuple[Action, float], ...]]:
        """The classes that the big blind may hold and their probabilities, by the class of the small blind."""
        pairs = class_equities().pairs
        shares = (pairs / pairs.sum(axis=1, keepdims=True)).tolist()
        return [tuple(zip(CLASS_NAMES, row, strict=True)) for row in shares]

    @cached_property
    def _call_values(self) -> list[list[float]]:
        """What the small blind wins after a call, by both classes."""
        won: list[list[float]] = (self.stack * (2 * class_equities().equity - 1)).tolist()
        return won
