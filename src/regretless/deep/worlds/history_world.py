"""Any game of the library as a world, from its history form.

A state is the number of a node. An observation is the number of a row of features: information sets with equal features
and equal legal actions (in Leduc, those that only differ in suits) share it. An action's column in `legal` is the same
wherever it has the same name, so that the network can generalise over decisions; if a game has more names than
`MOST_NAMES`, as some Gambit files do, it is the action's position instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.deep.networks.encoder import TableEncoder
from regretless.deep.worlds.features import features_of
from regretless.forms.compile import compile_history
from regretless.forms.history import FloatArray, HistoryForm
from regretless.games.game import CHANCE, Game

__all__ = ["HistoryWorld"]

MOST_NAMES = 64  # of actions, each with its own output of the network


class HistoryWorld:
    """A compiled game on a device; states are [n] int64 nodes."""

    observation_size = 1
    observation_dtype = torch.int32

    def __init__(self, game: Game[Any], form: HistoryForm | None = None, device: torch.device | str = "cpu") -> None:
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
        sets = np.repeat(np.arange(len(counts)), counts)
        legal[sets, self.column] = True
        position[sets, self.column] = np.arange(len(sets)) - np.repeat(form.first_pair[:-1], counts)

        cards, bets = features_of(game, form)
        together = [form.information_set_player[:, None], legal, cards] + ([] if bets is None else [bets])
        rows = np.concatenate(together, axis=1, dtype=np.float32)
        _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        self.observation_of: NDArray[np.int64] = number.reshape(-1)  # [I]  number of each information set's observation
        self.distinct_observations = len(first)
        self._features = torch.as_tensor(cards[first]), None if bets is None else torch.as_tensor(bets[first])

        self._player = self._put(form.player.astype(np.int64))
        self._set = self._put(form.information_set.astype(np.int64))
        self._observation = self._put(self.observation_of.astype(np.int32))
        self._legal = self._put(legal)
        self._position = self._put(position)
        self._first_child = self._put(form.first_child.astype(np.int64))
        ends = np.zeros((len(form.parent), form.players), np.float32)
        ends[form.terminal] = form.payoff
        self._payoff = self._put(ends)
        chance_node, threshold, outcome = _chance_table(form)
        self._chance_node, self._threshold, self._outcome = map(self._put, (chance_node, threshold, outcome))

    def _put(self, values: NDArray[Any]) -> Tensor:
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
            place = torch.searchsorted(self._threshold, self._chance_node[states[rows]] + drawn, right=True)
            states = states.index_copy(0, rows, self._outcome[place])


def _columns(form: HistoryForm) -> NDArray[np.int64]:
    """[Q] the column of each pair: that of its action's name, or its position where there are too many names."""
    names = sorted({name for actions in form.actions for name in actions})
    if len(names) <= MOST_NAMES:
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
