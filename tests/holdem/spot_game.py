"""A spot as an extensive-form game, history by history: slow, but enough for the readable best response.

Chance deals a pair of hands, then each card. Strategies come from the reader, which finds runouts in its own way. A
locked decision is a chance move, so that no best response can change it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from regretless.cards.deck import board_text
from regretless.cards.evaluator import evaluate
from regretless.cards.hands import HAND_CARDS, hand_text
from regretless.forms.public import NodeKind
from regretless.games.game import CHANCE, Game
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.solution import SpotSolution


class State(NamedTuple):
    hands: tuple[int, ...]  # of ip and oop, among the 1,326
    dealt: tuple[int, ...]
    node: int


class SpotGame(Game[State]):
    def __init__(self, solution: SpotSolution, locked: dict[str, set[str]] | None = None) -> None:
        """`locked`: for each line, without cards, the hands whose decision is locked there."""
        self.name = "spot"
        self.spot, self.reader = solution.spot, solution.reader
        self.tree = self.reader.form.tree
        self.locked = locked or {}
        held = self.reader.hand_numbers
        weights = {
            (int(first), int(second)): self.spot.ip.weights[first] * self.spot.oop.weights[second]
            for first in held[0]
            for second in held[1]
            if not set(HAND_CARDS[first]) & set(HAND_CARDS[second])
        }
        total = sum(weights.values())
        self.pairs = {f"{first} {second}": weight / total for (first, second), weight in weights.items()}
        self.strategy: dict[str, dict[str, float]] = {}
        self.free: dict[str, dict[str, float]] = {}  # without locked decisions, which are moves of chance here
        self._read(self.reader.root)

    def _read(self, place: LineNode) -> None:
        view = self.reader.view(place)
        if view.kind == "decision":
            player = int(self.tree.player[place.index])
            met = self._met(player, place.deal.cards)
            for column, hand in enumerate(view.acting.hand):
                if int(hand) in met:
                    key = self._key(player, int(hand), place.deal.cards, place.index)
                    self.strategy[key] = dict(zip(view.actions, view.strategy[:, column].tolist(), strict=True))
                    if hand_text(int(hand)) not in self.locked.get(self._line(place.index), set()):
                        self.free[key] = self.strategy[key]
        for child in self.reader.children(place):
            self._read(child)

    def _met(self, player: int, dealt: tuple[int, ...]) -> set[int]:
        """The hands of a player that some opposing hand can face on these cards: others are never dealt."""
        pairs = [tuple(map(int, pair.split())) for pair in self.pairs]
        return {
            pair[player] for pair in pairs if not {int(card) for hand in pair for card in HAND_CARDS[hand]} & set(dealt)
        }

    def _key(self, player: int, hand: int, dealt: tuple[int, ...], node: int) -> str:
        return f"{player} {hand_text(hand)} {board_text(dealt)} {node}"

    def num_players(self) -> int:
        return 2

    def initial_state(self) -> State:
        return State((), (), 0)

    def is_terminal(self, state: State) -> bool:
        return bool(state.hands) and self.tree.kind[state.node] in (NodeKind.FOLD, NodeKind.SHOWDOWN)

    def player(self, state: State) -> int:
        if not state.hands or self.tree.kind[state.node] == NodeKind.CHANCE or self._is_locked(state):
            return CHANCE
        return int(self.tree.player[state.node])

    def _is_locked(self, state: State) -> bool:
        hand = hand_text(state.hands[int(self.tree.player[state.node])])
        return hand in self.locked.get(self._line(state.node), set())

    def _line(self, node: int) -> str:
        words = []
        while node > 0:
            words.append(self.tree.labels[node])
            node = int(self.tree.parent[node])
        return ", ".join(word for word in reversed(words) if word)

    def chance_outcomes(self, state: State) -> list[tuple[str, float]]:
        if not state.hands:
            return list(self.pairs.items())
        if self.tree.kind[state.node] == NodeKind.CHANCE:
            gone = {*self.spot.board, *state.dealt, *(int(card) for hand in state.hands for card in HAND_CARDS[hand])}
            left = [card for card in range(52) if card not in gone]
            return [(str(card), 1 / len(left)) for card in left]
        return list(self.strategy[self.info_set_key(state)].items())

    def actions(self, state: State) -> list[str]:
        if self.player(state) == CHANCE:
            return [action for action, _ in self.chance_outcomes(state)]
        first, last = (int(self.tree.first_child[state.node + step]) for step in range(2))
        return list(self.tree.labels[first:last])

    def next_state(self, state: State, action: str) -> State:
        if not state.hands:
            return state._replace(hands=tuple(map(int, action.split())))
        first, last = (int(self.tree.first_child[state.node + step]) for step in range(2))
        if self.tree.kind[state.node] == NodeKind.CHANCE:
            return state._replace(dealt=(*state.dealt, int(action)), node=first)
        return state._replace(node=first + self.tree.labels[first:last].index(action))

    def utility(self, state: State, player: int) -> float:
        paid, pot = self.tree.paid[state.node], self.spot.pot
        rake = min(self.spot.rules.rake * (pot + 2 * paid.min()), self.spot.rules.rake_cap)
        total = pot + paid.sum() - rake
        if self.tree.kind[state.node] == NodeKind.FOLD:
            share = 0.0 if self.tree.player[state.node] == player else 1.0
        else:
            first, second = self._strengths(state.hands, state.dealt)
            share = (first > second) + (first == second) / 2
            share = share if player == 0 else 1 - share
        return float(share * total - paid[player])

    @cache  # noqa: B019  a game lives as long as its test
    def _strengths(self, hands: tuple[int, ...], dealt: tuple[int, ...]) -> list[int]:
        cards = [(*self.spot.board, *dealt, *HAND_CARDS[hand]) for hand in hands]
        return evaluate(np.array(cards, dtype=np.uint8)).tolist()

    def info_set_key(self, state: State) -> str:
        player = int(self.tree.player[state.node])
        return self._key(player, state.hands[player], state.dealt, state.node)
