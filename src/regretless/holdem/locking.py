"""Applies a spot's locks to an engine, reading the strategies that come from other solutions.

1. The node of a lock is found in the source by its line, the runout by the cards dealt, and hands by their cards, so
   the two spots may differ in ranges, and in sizes elsewhere.
2. A resumed solve does not need the source: the engine's own averages contain the locked strategies.
3. A player whose every decision is locked is never updated.
4. Frequencies are reached from the source's strategy, on each runout that the line allows, by the weights and EVs that
   the hands have there in the source (`range_mix`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from regretless import engines
from regretless.cards.deck import board_text
from regretless.cards.hands import HAND_COUNT, hand_text
from regretless.engines import PublicEngine, PublicStrategy
from regretless.errors import InvalidOption
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.walking import action_labels
from regretless.holdem.fitting import check_fits
from regretless.holdem.form.runouts import compile_spot, spot_hands
from regretless.holdem.form.suits import Deal, find_deal, renaming_text, spot_group
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.reading.spot_results import EngineResults
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locked_nodes import locked_nodes, locked_players
from regretless.holdem.spots.locks import (
    AnyLock,
    Lock,
    LockFrom,
    action_groups,
    lock_strategy,
)
from regretless.holdem.spots.range_mix import ev_lost, move_to_frequencies
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS
from regretless.reprs import brief
from regretless.solving.solution import restore_engine

__all__ = ["LockEffect", "apply_locks", "lock_effect", "with_sources", "with_strategies"]


@dataclass(frozen=True)
class LockEffect:
    """What a lock changes at a decision of a solution, before anybody adapts to it."""

    actions: tuple[str, ...]
    before: tuple[float, ...]  # how often each action is taken over the whole range
    after: tuple[float, ...]
    ev_lost: float  # chips, on average over the range, at this decision
    strategy: FloatArray  # [actions, H] with the lock, for the hands that the board leaves the player

    __repr__ = brief


def lock_effect(reader: SpotReader, lock: AnyLock, node: LineNode) -> LockEffect:
    """The effect of a lock at a decision; a lock with a source is taken to come from this solution itself."""
    before = reader.played(node)
    action_ev = reader.action_ev(node)
    if isinstance(lock, Lock):
        selected = lock.range.weights[before.hand] > 0
        strategy = np.where(selected, lock_strategy(lock, before.actions)[:, None], before.strategy)
    else:
        strategy = _source_strategy(reader, lock, node)
    after = replace(before, strategy=strategy).frequencies
    loss = ev_lost(before.strategy, strategy, action_ev, before.weight)
    return LockEffect(before.actions, before.frequencies, after, loss, strategy)


def _source_strategy(reader: SpotReader, lock: LockFrom, node: LineNode) -> FloatArray:
    """[actions, H] the strategy at a node of a lock's source with the lock's frequencies."""
    source = reader.played(node)
    if not lock.frequencies:
        return source.strategy
    selected = lock.range.weights[source.hand] > 0
    strategy = source.strategy.astype(np.float64, copy=True)
    groups = action_groups(lock, source.actions)
    strategy[:, selected] = move_to_frequencies(
        strategy[:, selected], reader.action_ev(node)[:, selected], source.weight[selected], groups
    )
    return strategy


def with_sources(spot: Spot) -> Spot:
    """The spot with the equivalent suits of its locks' sources, which decide what can be merged."""
    if not any(isinstance(lock, LockFrom) for lock in spot.locks):
        return spot
    locks = []
    for number, lock in enumerate(spot.locks):
        if isinstance(lock, LockFrom):
            group = _load(lock, spot, f"locks[{number}]").reader.group
            lock = replace(lock, suits=tuple(renaming_text(int(row)) for row in group))
        locks.append(lock)
    return replace(spot, locks=tuple(locks))


def _load(lock: LockFrom, spot: Spot, name: str) -> SpotSolution:
    solution = SpotSolution.load(lock.source)
    if solution.spot.board != spot.board:
        boards = f"is a solve of {board_text(solution.spot.board)}, not of {board_text(spot.board)}"
        raise InvalidOption(f"{name}.source", lock.source, boards)
    return solution


def apply_locks(engine: PublicEngine, spot: Spot, *, resumed: bool) -> None:
    """Apply the spot's locks; `resumed`: the engine continues an earlier solve of the same spot."""
    if not spot.locks:
        return
    form = engine.form
    hands = spot_hands(spot)
    sources: dict[LockFrom, _Source] = {}

    def read(lock: LockFrom, name: str, node: int, runout: int) -> FloatArray:
        if resumed:
            return engine.kept_strategy(node, runout)
        if lock not in sources:
            sources[lock] = _Source(lock, name, form, hands, _load(lock, spot, name))
        return sources[lock].kept_by(engine)(node, runout)

    rows = locked_nodes(form, spot.locks, hands, read)
    for player, number in locked_players(spot.locks).items():
        lock = spot.locks[number]
        assert isinstance(lock, LockFrom)
        engine.fix(player, partial(read, lock, f"locks[{number}]"))
    for row in rows:
        engine.lock(row.node, row.strategy, row.runout, row.hands)


def with_strategies(solution: SpotSolution, locks: Sequence[Lock]) -> SpotSolution:
    """The solution with other strategies at some decisions, evaluated; nobody adapts to them.

    In the best responses nothing is locked: neither these decisions nor those of the solution's own locks.
    """
    source, threads = solution.reader, solution.record.threads
    spot = replace(solution.spot, locks=(*solution.spot.locks, *locks))
    if solution.snapshot is not None and np.array_equal(spot_group(spot), source.group):
        form, predicts = source.form, solution.snapshot.predicts
        engine = engines.create("auto", form, storage=solution.settings.storage, threads=threads, predicts=predicts)
        restore_engine(engine, solution.snapshot, solution.where)
    else:  # these strategies tell suits apart that the solution does not, or it was read from a file without regrets
        check_fits(spot, threads=threads, can_shrink=False)
        form = compile_spot(spot)
        engine = engines.create("auto", form, threads=threads)
        for number, player in enumerate(PLAYERS):
            played = _Source(LockFrom(solution.where, player=player), "locks", form, spot_hands(spot), solution)
            engine.fix(number, played.kept_by(engine))
    apply_locks(engine, replace(spot, locks=tuple(locks)), resumed=False)
    engine.unlock()
    record = replace(solution.record, evaluation=engine.evaluate())
    reader = SpotReader(spot, form, EngineResults(engine))
    return SpotSolution(record=record, spot=spot, make_reader=lambda: reader)


class _Source:
    """Another solution, addressed with the nodes, runouts and hands of a form."""

    def __init__(
        self, lock: LockFrom, name: str, form: PublicForm, hands: tuple[IntArray, IntArray], solution: SpotSolution
    ) -> None:
        self.lock, self.field, self.form, self.hands = lock, f"{name}.source", form, hands
        self.reader = solution.reader
        self._deals: dict[tuple[int, int], Deal] = {(0, 0): Deal()}
        self._nodes: dict[int, int] = {0: 0}
        self._columns_of: dict[tuple[int, int, int], IntArray] = {}
        self._line_nodes: dict[tuple[int, int], LineNode] = {}

    def kept_by(self, engine: PublicEngine) -> PublicStrategy:
        """The source's strategies as an engine keeps them."""
        return lambda node, runout: engine.as_kept(self.strategy(node, runout))

    def strategy(self, node: int, runout: int) -> FloatArray:
        """[actions, H] the source's strategy at a node; uniform for hands that the lock does not cover."""
        tree = self.form.tree
        player, street = int(tree.player[node]), int(tree.street[node])
        source_node = self._node(node)
        labels = action_labels(tree, node)
        source_labels = self.reader.actions(source_node)
        if set(labels) != set(source_labels):
            line = self._line(node) or "the first decision"
            reason = f"has {', '.join(source_labels)} at {line}, where this spot has {', '.join(labels)}"
            raise InvalidOption(self.field, self.lock.source, reason)
        deal = self._deal(street, runout)
        strategy = self.reader.results.strategy(source_node, deal.runout)
        if self.lock.frequencies:
            strategy = strategy.astype(np.float64, copy=True)
            strategy[:, self.reader.solved_hands(player, deal)[1]] = _source_strategy(
                self.reader, self.lock, self._line_node(node, runout)
            )
        columns = self._columns(player, street, runout)
        ordered = strategy[[source_labels.index(label) for label in labels]][:, columns]
        return np.where(columns >= 0, ordered, 1.0 / len(labels))

    def _columns(self, player: int, street: int, runout: int) -> IntArray:
        """[H] position of each hand of a player in the source's strategies; -1 if the lock does not cover it."""
        key = player, street, runout
        if key not in self._columns_of:
            hands, solved = self.reader.solved_hands(player, self._deal(street, runout))
            column_of = np.full(HAND_COUNT, -1)
            column_of[hands] = solved
            columns = column_of[self.hands[player]]
            selected = self.lock.range.weights[self.hands[player]] > 0
            missing = np.flatnonzero((columns < 0) & selected & ~self.form.streets[street].dead[player][runout])
            if len(missing):
                more = f" and {len(missing) - 1} more hands" if len(missing) > 1 else ""
                hand = hand_text(int(self.hands[player][missing[0]]))
                reason = f"has no {hand}{more} in the range of {PLAYERS[player]}"
                raise InvalidOption(self.field, self.lock.source, reason)
            self._columns_of[key] = columns
        return self._columns_of[key]

    def _deal(self, street: int, runout: int) -> Deal:
        """The source's deal for the cards of a runout."""
        if (street, runout) not in self._deals:
            runouts = self.form.streets[street]
            before = self._deal(street - 1, int(runouts.parent[runout]))
            card = int(runouts.cards[runout, 0])
            self._deals[street, runout] = find_deal(self.reader.form, self.reader.group, before, card)
        return self._deals[street, runout]

    def _node(self, node: int) -> int:
        """The source's number of a betting node."""
        if node not in self._nodes:
            above, label = self._node(int(self.form.tree.parent[node])), self.form.tree.labels[node]
            labels = self.reader.actions(above)
            if label not in labels:
                raise InvalidOption(self.field, self.lock.source, f"has no line {self._line(node)!r}")
            self._nodes[node] = int(self.reader.form.tree.first_child[above]) + labels.index(label)
        return self._nodes[node]

    def _line_node(self, node: int, runout: int) -> LineNode:
        """The source's node, with the reach of every hand."""
        if (node, runout) not in self._line_nodes:
            tree, street = self.form.tree, self.form.streets[int(self.form.tree.street[node])]
            above = int(tree.parent[node])
            if node == 0:
                source_node = self.reader.root
            elif tree.kind[above] == NodeKind.CHANCE:
                before = self._line_node(above, int(street.parent[runout]))
                source_node = self.reader.deal(before, int(street.cards[runout, 0]))
            else:
                before = self._line_node(above, runout)
                source_node = self.reader.act(before, self.reader.actions(before.index).index(tree.labels[node]))
            self._line_nodes[node, runout] = source_node
        return self._line_nodes[node, runout]

    def _line(self, node: int) -> str:
        steps: list[str] = []
        while node > 0:
            steps.insert(0, self.form.tree.labels[node])
            node = int(self.form.tree.parent[node])
        return ", ".join(step for step in steps if step)
