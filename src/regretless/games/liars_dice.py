"""Liar's dice: players roll in secret and raise a claim about all dice until one calls the other a liar.

1. Both roll `dice` dice of `sides` sides in secret.
2. Player 0 starts. A bid `2x5` claims at least two fives among all dice; the highest face is wild and counts as any.
   A bid must be higher: a larger quantity with any face, or the same quantity with a higher face.
3. Instead of bidding, a player may call the last bid (`liar`). The bidder wins 1 if the claim holds, else the caller.

Bids are numbered by quantity, then face. They only rise, so a line is a set of bids: a game with B bids has 2^B − 1
lines, and two six-sided dice each give 2^24.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regretless.games._checks import check_between
from regretless.games.game import CHANCE, Action, TwoPlayerGame
from regretless.spelling import spelled

__all__ = ["LiarsDice", "LiarsDiceState"]

CALL: Action = "liar"
NO_BID = -1
OVER = -2  # `LiarsDiceState.turn` where the game is over


class LiarsDiceState(NamedTuple):
    """A history of liar's dice."""

    rolls: tuple[int, ...]  # faces from 1, player 0's dice first, in the order rolled
    history: str  # bids and the call: "1x2 1x5 liar"
    turn: int  # who moves: 0, 1, CHANCE or OVER
    bid: int  # number of the last bid, or NO_BID


class LiarsDice(TwoPlayerGame[LiarsDiceState]):
    """Liar's dice for two players.

    >>> game = LiarsDice(sides=4)
    >>> state = LiarsDiceState(rolls=(2, 4), history="1x2 2x2", turn=0, bid=5)
    >>> game.info_set_key(state), game.actions(state)
    ('2:1x2 2x2', ('2x3', '2x4', 'liar'))
    >>> game.utilities(game.next_state(state, "liar"))  # the four is wild, so there are two twos
    (-1.0, 1.0)
    """

    def __init__(self, dice: int = 1, sides: int = 6) -> None:
        check_between("dice", dice, 1, 5)
        check_between("sides", sides, 2, 20)
        self.dice, self.sides = dice, sides
        self.name = spelled("liars_dice", LiarsDice, self)
        self._claims = [(quantity, face) for quantity in range(1, 2 * dice + 1) for face in range(1, sides + 1)]
        bids = tuple(f"{quantity}x{face}" for quantity, face in self._claims)
        self._number = {bid: number for number, bid in enumerate(bids)}
        # By last bid; NO_BID is −1, so its row comes last.
        self._actions = [(*bids[number + 1 :], CALL) for number in range(len(bids))] + [bids]
        self._outcomes = tuple((str(face), 1.0 / sides) for face in range(1, sides + 1))
        self._faces = tuple(face for face, _ in self._outcomes)
        self._hands: dict[tuple[int, ...], tuple[str, str]] = {}  # filled on demand
        self._true_bids: dict[tuple[int, ...], tuple[bool, ...]] = {}  # by roll; filled on demand

    def initial_state(self) -> LiarsDiceState:
        return LiarsDiceState((), "", CHANCE, NO_BID)

    def is_terminal(self, state: LiarsDiceState) -> bool:
        return state.turn == OVER

    def player(self, state: LiarsDiceState) -> int:
        return state.turn

    def actions(self, state: LiarsDiceState) -> Sequence[Action]:
        return self._faces if state.turn == CHANCE else self._actions[state.bid]

    def chance_outcomes(self, state: LiarsDiceState) -> Sequence[tuple[Action, float]]:
        return self._outcomes

    def next_state(self, state: LiarsDiceState, action: Action) -> LiarsDiceState:
        rolls, history, turn, bid = state
        if turn == CHANCE:
            rolls = (*rolls, int(action))
            return LiarsDiceState(rolls, "", CHANCE if len(rolls) < 2 * self.dice else 0, NO_BID)
        if action == CALL:
            return LiarsDiceState(rolls, f"{history} liar", OVER, bid)
        return LiarsDiceState(rolls, f"{history} {action}" if history else action, 1 - turn, self._number[action])

    def info_set_key(self, state: LiarsDiceState) -> str:
        rolls, history, turn, _ = state
        hands = self._hands.get(rolls)
        if hands is None:
            first, second = sorted(rolls[: self.dice]), sorted(rolls[self.dice :])
            hands = self._hands[rolls] = (",".join(map(str, first)), ",".join(map(str, second)))
        return f"{hands[turn]}:{history}"

    def utilities(self, state: LiarsDiceState) -> tuple[float, float]:
        rolls, history, _, bid = state
        true_bids = self._true_bids.get(rolls)
        if true_bids is None:
            wild = rolls.count(self.sides)
            counts = [rolls.count(face) + wild for face in range(self.sides)] + [wild]
            true_bids = self._true_bids[rolls] = tuple(counts[face] >= quantity for quantity, face in self._claims)
        caller = history.count(" ") & 1
        return (1.0, -1.0) if true_bids[bid] == (caller == 1) else (-1.0, 1.0)
