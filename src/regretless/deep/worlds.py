"""Worlds: games whose states come in batches of tensors, so that thousands of traversals advance together.

A `World` samples chance by itself: `deal` and `act` return states where a player decides or the game is over. States
are opaque to the traversal, which only passes them back. An *observation* is what the player to move knows, as a few
small integers: memories store it, and the world's encoder turns it into features.

`HistoryWorld` makes a world of any game of the library, from its history form. A state is the number of a node. An
observation is the number of a row of features: information sets with equal features and equal legal actions (in Leduc,
those that only differ in suits) share it. An action's column in `legal` is the same wherever it has the same name, so
that the network can generalise over decisions; if a game has more names than `MAXIMUM_NAMES`, as some Gambit files do,
it is the action's position instead.

Features of information sets: Kuhn and Leduc have the ranks of the own and the public card, one-hot, and limit betting
as rounds × positions × (occurred, fraction of the pot), as in the paper. Suits decide nothing and are left out, so
information sets that only differ in suits have equal features. Every other game has the text of `info_set_key`: for
each position, one-hot over the characters that occur there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.deep.networks import ObservationEncoder, TableEncoder
from regretless.forms.compile import compile_history
from regretless.forms.history import TERMINAL, AnyArray, FloatArray, HistoryForm
from regretless.games.game import CHANCE, AnyGame
from regretless.games.kuhn import Kuhn
from regretless.games.leduc import Leduc
from regretless.games.limit_betting import LimitBetting, Move, Point

__all__ = [
    "MAXIMUM_NAMES", "TERMINAL", "AnyWorld", "Features", "HistoryWorld", "States", "World", "bet_features",
    "features_bytes", "features_of",
]  # fmt: skip

States = TypeVar("States")


class World(Protocol[States]):
    """A game on a device. n states at once, A actions, K integers per observation."""

    @property
    def name(self) -> str:
        """The game, as a user types it."""

    @property
    def device(self) -> torch.device: ...

    @property
    def players(self) -> int: ...

    @property
    def actions(self) -> int:
        """A: columns of `legal` and outputs of a network; an action has the same column in every decision."""

    @property
    def observation_size(self) -> int:
        """K."""

    @property
    def observation_dtype(self) -> torch.dtype:
        """The integers in which memories store observations."""

    @property
    def distinct_observations(self) -> int | None:
        """How many observations there are, if K is 1 and they are numbered 0, 1, …; otherwise None."""

    def deal(self, count: int, generator: torch.Generator) -> States:
        """`count` initial states, with the opening chance moves sampled."""

    def player(self, states: States) -> Tensor:
        """[n] int64: who decides, or `TERMINAL`."""

    def legal(self, states: States) -> Tensor:
        """[n, A] bool; where the game is over, undefined."""

    def observe(self, states: States) -> Tensor:
        """[n, K] of `observation_dtype`: what the player to move knows; where the game is over, undefined."""

    def act(self, states: States, action: Tensor, generator: torch.Generator) -> States:
        """The states after `action` [n] int64, with the chance moves that follow sampled."""

    def utility(self, states: States, player: int) -> Tensor:
        """[n] float32: the payoff of `player`; all states must be terminal."""

    def select(self, states: States, index: Tensor) -> States:
        """Rows `index` [m] int64 of the states; rows may repeat."""

    def can_observe(self, observations: Tensor) -> bool:
        """Whether all of these [n, K] could be observations: those of a file may be anything."""

    def encoder(self, width: int) -> ObservationEncoder:
        """A new encoder of observations, on the CPU, with parameters from PyTorch's global generator."""


AnyWorld = World[Any]  # whatever its states are: only the world itself looks into them

MAXIMUM_NAMES = 64  # of actions, each with its own output of the network


class HistoryWorld:
    """A compiled game on a device; states are [n] int64 nodes."""

    observation_size = 1
    observation_dtype = torch.int32

    def __init__(self, game: AnyGame, form: HistoryForm | None = None, device: torch.device | str = "cpu") -> None:
        form = compile_history(game) if form is None else form
        self.form = form
        self.name = form.name
        self.players = form.players
        self.device = torch.device(device)
        self.column = _columns(form)  # [Q]  of each pair
        self.actions = int(self.column.max(initial=-1)) + 1
        counts = np.diff(form.first_pair)
        legal = np.zeros((len(form.keys), self.actions), np.bool_)
        position = np.zeros((len(form.keys), self.actions), np.int64)
        sets = form.set_of_pair
        legal[sets, self.column] = True
        position[sets, self.column] = np.arange(len(sets)) - np.repeat(form.first_pair[:-1], counts)

        cards, bets = features_of(game, form)
        columns = [form.information_set_player[:, None], legal, cards] + ([] if bets is None else [bets])
        rows = np.concatenate(columns, axis=1, dtype=np.float32)
        _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        self.observation_of: NDArray[np.int64] = number.reshape(-1)  # [I]  number of each information set's observation
        self.distinct_observations = len(first)
        self._features = torch.as_tensor(cards[first]), None if bets is None else torch.as_tensor(bets[first])

        self._player = self._tensor(form.player.astype(np.int64))
        self._set = self._tensor(form.information_set.astype(np.int64))
        self._observation = self._tensor(self.observation_of.astype(np.int32))
        self._legal = self._tensor(legal)
        self._position = self._tensor(position)
        self._first_child = self._tensor(form.first_child.astype(np.int64))
        ends = np.zeros((len(form.parent), form.players), np.float32)
        ends[form.terminal] = form.payoff
        self._payoff = self._tensor(ends)
        chance_node, threshold, outcome = _chance_table(form)
        self._chance_node, self._threshold, self._outcome = map(self._tensor, (chance_node, threshold, outcome))

    def _tensor(self, values: AnyArray) -> Tensor:
        return torch.as_tensor(values, device=self.device)

    def deal(self, count: int, generator: torch.Generator) -> Tensor:
        return self._settle(torch.zeros(count, dtype=torch.int64, device=self.device), generator)

    def player(self, states: Tensor) -> Tensor:
        return self._player[states]

    def legal(self, states: Tensor) -> Tensor:
        return self._legal[self._set[states]]

    def observe(self, states: Tensor) -> Tensor:
        return self._observation[self._set[states]][:, None]

    def act(self, states: Tensor, action: Tensor, generator: torch.Generator) -> Tensor:
        return self._settle(self._first_child[states] + self._position[self._set[states], action], generator)

    def utility(self, states: Tensor, player: int) -> Tensor:
        return self._payoff[states, player]

    def select(self, states: Tensor, index: Tensor) -> Tensor:
        return states[index]

    def can_observe(self, observations: Tensor) -> bool:
        return bool(((observations >= 0) & (observations < self.distinct_observations)).all())

    def encoder(self, width: int) -> TableEncoder:
        cards, bets = self._features
        return TableEncoder(cards, bets, width)

    def information_sets(self) -> tuple[Tensor, Tensor]:
        """Observations [I, 1] and legal actions [I, A] of every information set."""
        return self._observation[:, None], self._legal

    def _settle(self, states: Tensor, generator: torch.Generator) -> Tensor:
        """Sample chance until every state is a decision or an end."""
        while True:
            rows = (self._player[states] == CHANCE).nonzero()[:, 0]
            if not len(rows):
                return states
            drawn = torch.rand(len(rows), dtype=torch.float64, device=self.device, generator=generator)
            index = torch.searchsorted(self._threshold, self._chance_node[states[rows]] + drawn, right=True)
            states = states.index_copy(0, rows, self._outcome[index])


def _columns(form: HistoryForm) -> NDArray[np.int64]:
    """[Q] the column of each pair: that of its action's name, or its position where there are too many names."""
    names = sorted({name for actions in form.actions for name in actions})
    if len(names) <= MAXIMUM_NAMES:
        number = {name: column for column, name in enumerate(names)}
        return np.array([number[name] for actions in form.actions for name in actions], np.int64)
    return np.array([column for actions in form.actions for column in range(len(actions))], np.int64)


def _chance_table(form: HistoryForm) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Chance as one sorted array: outcome j of the c-th chance node ends at c + (probabilities up to and with j).

    Returns [N] the number c of each chance node, the sorted ends, and the node that each outcome leads to. The first
    end above c + u, with u uniform in [0, 1), is then the outcome that u draws.
    """
    nodes = np.flatnonzero(form.player == CHANCE)
    number = np.zeros(len(form.parent))
    number[nodes] = np.arange(len(nodes))
    ends, outcomes = [np.zeros(0)], [np.zeros(0, np.int64)]
    for c, node in enumerate(nodes):
        children = np.arange(form.first_child[node], form.first_child[node + 1])
        children = children[form.chance[children] > 0.0]
        end = np.cumsum(form.chance[children])
        end[-1] = 1.0  # u must find an outcome, however the probabilities were rounded
        ends.append(c + end)
        outcomes.append(children)
    return number, np.concatenate(ends), np.concatenate(outcomes)


# --- features --------------------------------------------------------------------------------------------------------


class Features(NamedTuple):
    """Rows for every information set; numbers in [0, ∞), mostly 0 and 1."""

    cards: AnyArray  # [I, card features], or the text of a game that is not poker
    bets: NDArray[np.float32] | None  # [I, bet features]


def features_of(game: AnyGame, form: HistoryForm) -> Features:
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
    own = [card for card, _, _ in parts]
    histories = [history.partition("/") for _, _, history in parts]
    public = [rest.partition(":")[0] for _, _, rest in histories]
    lines = [first + rest.partition(":")[2] for first, _, rest in histories]
    cards = np.concatenate([_one_hot([card[:1] for card in column]) for column in (own, public) if any(column)], axis=1)
    longest_round = max(betting.raises) + 2  # a check, all the raises and a call
    sizes = {"rounds": len(betting.bets), "positions": longest_round}
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


def bet_features(betting: LimitBetting, moves: Sequence[Move], *, rounds: int, positions: int) -> NDArray[np.float32]:
    """[rounds · positions · 2] features of the betting so far.

    Position k of a round is its k-th action. `occurred` is 1 once the action was taken; `fraction` is the chips that it
    put in, relative to the pot before it: 0 for a check.

    >>> betting = LimitBetting(posted=(1, 1), bets=(2, 4), raises=(2, 2), opens=(0, 0))
    >>> bet_features(betting, [Move.CALL, Move.RAISE], rounds=2, positions=4).reshape(2, 4, 2).tolist()[0]
    [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    """
    features = np.zeros((rounds, positions, 2), np.float32)
    point: Point | None = betting.first()
    position = 0
    for move in moves:
        if point is None:
            raise ValueError(f"{move} after the end of the betting")
        features[point.round, position] = 1.0, _paid(betting, point, move) / sum(point.paid)
        following = betting.after(point, move)
        position = position + 1 if following is not None and following.round == point.round else 0
        point = following
    return features.reshape(-1)


def _paid(betting: LimitBetting, point: Point, move: Move) -> float:
    """Chips that a move puts in."""
    if move is Move.FOLD:
        return 0.0
    total = betting.raised_to(point) if move is Move.RAISE else max(point.paid)
    return total - point.paid[point.player]
