"""From the rules of a game to its history form, and from arrays over pairs back to strategies.

1. Walk the game depth first with an explicit stack, so that few states are alive at once and Python's recursion limit
   does not apply. Each node adds one number to the buffer of its depth: its information set, CHANCE or TERMINAL.
   Nodes of one depth are visited in breadth-first order, so nothing needs sorting.
2. Join the buffers, which gives breadth-first order. Children are numbered in the order of their parents, so
   `first_child`, `parent` and `pair` follow from the numbers of children by cumulative sums.
3. Renumber information sets by first appearance in that order.
4. Check the arrays: payoffs are finite and sum to 0 where the game says so, and recall is perfect.

How large a game is, only the walk tells. Many times per second it compares the memory that is still free with what the
nodes so far will need in steps 2 and 3 and in an engine, and refuses the game once that is more. What states, keys and
a game's own caches take needs no estimate: it shows in the memory that is free.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from regretless.errors import InvalidGame, InvalidOption, WouldNotFit
from regretless.forms.history import TERMINAL, AnyArray, FloatArray, HistoryForm, IntArray, Strategy
from regretless.forms.memory import available_bytes, resident_bytes
from regretless.games.game import CHANCE, AnyGame

__all__ = [
    "Enumeration", "action_probabilities", "check_strategy", "compile_history", "impossible_sets", "invert",
    "last_pairs", "report_enumeration", "strategy_array", "uniform_array", "unknown_information_set",
]  # fmt: skip

BYTES_PER_NODE = 100  # of a two-player game: arrays of the form, temporaries, and what the leanest engine adds
BYTES_PER_INFORMATION_SET = 250  # the same, for a set with few actions
MAX_DEPTH = 100_000  # moves on one path; a longer game is assumed never to end
CHECK_SECONDS = 0.1  # between checks of the memory that is free
REPORT_AFTER = 1.0  # seconds; shorter walks are not reported
RESERVE = 1 / 8  # share of the initially free memory to leave free: between two checks, states may take much
LIBRARIES = 64 * 2**20  # bytes to leave free for what engines load afterwards, such as numba's compiler
MAX_PAYOFF = 1e20  # regrets sum payoffs over iterations, and the float32 maximum is 3e38
SUM_TOLERANCE = 1e-6  # allowed error in the sums of chance probabilities and of payoffs
STRATEGY_TOLERANCE = 1e-5  # the same for the probabilities of a strategy, which may have been computed in 32 bits
ROUNDED_BELOW_0 = 1e-9  # how far below 0 a probability may be: a linear program may return −1e−12


class Enumeration(NamedTuple):
    """How far the walk over a game is."""

    nodes: int
    memory_bytes: int  # allocated so far
    seconds: float


_report: ContextVar[Callable[[Enumeration], None] | None] = ContextVar("report", default=None)


@contextmanager
def report_enumeration(report: Callable[[Enumeration], None]) -> Iterator[None]:
    """Within this context, `report` is called many times per second while a game takes longer to compile."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def compile_history(game: AnyGame, *, limit: int | None = None) -> HistoryForm:
    """Compile the rules of a game into arrays.

    `limit` is the largest number of nodes accepted; by default, as many as fit in free memory.

    >>> from regretless.games import Kuhn
    >>> form = compile_history(Kuhn())
    >>> len(form.parent), len(form.keys), form.level.tolist()
    (58, 12, [0, 1, 4, 10, 22, 46, 58])
    """
    if limit is not None and limit < 1:
        raise InvalidOption("limit", limit, "must be at least 1")
    if not game.solvable:
        raise InvalidGame(
            f"{game.name}: is too large to solve: networks can be trained on it from Python, without measuring "
            "(regretless.deep.deep_cfr.DeepCfr)"
        )
    if game.public_only:
        raise InvalidGame(f"{game.name}: is too large to enumerate: solve it in the public form")
    walk = _HistoryWalk(game, limit)
    walk.run()
    form = _assemble(game, walk)
    _check_payoffs(form, game)
    _check_recall(form)
    return form


class _HistoryWalk:
    """The walk and its results: one buffer per depth, and the information sets by key."""

    def __init__(self, game: AnyGame, limit: int | None) -> None:
        self.game = game
        self.limit = limit
        self.report = _report.get()
        self.began = time.monotonic()
        self.reserve = round(RESERVE * available_bytes()) + LIBRARIES
        self.resident_at_start = resident_bytes()
        self.players = game.num_players()
        self.codes: list[array[int]] = []  # by depth: information set, CHANCE or TERMINAL of each node
        self.outcomes: list[array[int]] = []  # by depth: number of outcomes of each chance node
        self.probabilities: list[array[float]] = []  # by depth: probabilities of those outcomes, concatenated
        self.payoffs: list[array[float]] = []  # by depth: payoffs of each terminal, concatenated
        self.sets: dict[str, int] = {}
        self.set_player: list[int] = []
        self.set_actions: list[tuple[str, ...]] = []
        self.action_lists: dict[tuple[str, ...], tuple[str, ...]] = {}  # one copy of each list of actions

    def run(self) -> None:
        game, players = self.game, self.players
        is_terminal, player_of, actions_of = game.is_terminal, game.player, game.actions
        next_state, key_of, utilities = game.next_state, game.info_set_key, game.utilities
        sets, set_player, set_actions = self.sets, self.set_player, self.set_actions
        nodes, max_nodes = 0, float("inf") if self.limit is None else self.limit
        clock, next_check = time.monotonic, self.began + CHECK_SECONDS
        pending: list[
            list[tuple[Hashable, Sequence[str]]]
        ] = []  # by depth: states whose children are not yet visited, last first
        siblings = [game.initial_state()]
        while True:
            depth = len(pending)
            if depth == len(self.codes):
                self._open_depth()
            codes, payoffs = self.codes[depth], self.payoffs[depth]
            nodes += len(siblings)
            if nodes > max_nodes:
                raise InvalidGame(f"{game.name} has more nodes than the limit of {self.limit:,}")
            if clock() >= next_check:
                self._check_memory(nodes)
                next_check = clock() + CHECK_SECONDS
            moving: list[tuple[Hashable, Sequence[str]]] = []
            for state in siblings:
                if is_terminal(state):
                    codes.append(TERMINAL)
                    payoffs.extend(utilities(state))
                    continue
                player = player_of(state)
                if player == CHANCE:
                    codes.append(CHANCE)
                    moving.append((state, self._chance(state, depth)))
                    continue
                key = key_of(state)
                actions = actions_of(state)
                number = sets.get(key)
                if number is None:
                    number = self._new_set(key, player, actions)
                elif set_player[number] != player:
                    raise InvalidGame(
                        f"{game.name}: the key {key!r} names an information set of player {set_player[number]} "
                        f"and one of player {player}"
                    )
                elif actions is not set_actions[number] and tuple(actions) != set_actions[number]:
                    raise InvalidGame(
                        f"{game.name}: the information set {key!r} has the actions {set_actions[number]} "
                        f"in one history and {tuple(actions)} in another"
                    )
                codes.append(number)
                moving.append((state, actions))
            moving.reverse()
            pending.append(moving)
            while pending and not pending[-1]:
                pending.pop()
            if not pending:
                break
            state, actions = pending[-1].pop()
            siblings = [next_state(state, action) for action in actions]
        assert sum(map(len, self.payoffs)) == players * sum(codes.count(TERMINAL) for codes in self.codes)

    def _open_depth(self) -> None:
        if len(self.codes) > MAX_DEPTH:
            raise InvalidGame(f"{self.game.name} has not ended after {MAX_DEPTH:,} moves")
        self.codes.append(array("i"))
        self.outcomes.append(array("i"))
        self.probabilities.append(array("d"))
        self.payoffs.append(array("d"))

    def _chance(self, state: Hashable, depth: int) -> list[str]:
        outcomes = self.game.chance_outcomes(state)
        probabilities = [probability for _, probability in outcomes]
        total = sum(probabilities)
        if not (abs(total - 1.0) <= SUM_TOLERANCE and min(probabilities) >= 0.0):
            raise InvalidGame(
                f"{self.game.name}: the chance probabilities at {state!r} are {probabilities} and sum to {total:.12g}; "
                "they must be at least 0 and sum to 1"
            )
        self.outcomes[depth].append(len(outcomes))
        self.probabilities[depth].extend(probabilities)
        return [outcome for outcome, _ in outcomes]

    def _new_set(self, key: str, player: int, actions: Sequence[str]) -> int:
        if not 0 <= player < self.players:
            raise InvalidGame(
                f"{self.game.name}: player {player} moves at {key!r}, but there are only {self.players} players"
            )
        actions = tuple(actions)
        for what, value in [("information set", key), *(("action", action) for action in actions)]:
            if not isinstance(value, str):
                raise InvalidGame(f"{self.game.name}: the {what} {value!r} must be text, such as {str(value)!r}")
        if not actions or len(set(actions)) < len(actions):
            raise InvalidGame(
                f"{self.game.name}: the information set {key!r} has the actions {actions}; "
                "there must be at least one, and no duplicates"
            )
        number = len(self.sets)
        self.sets[key] = number
        self.set_player.append(player)
        self.set_actions.append(self.action_lists.setdefault(actions, actions))
        return number

    def _check_memory(self, nodes: int) -> None:
        """Report how far the walk is, and refuse the game if what is still to be allocated does not fit."""
        allocated = max(0, resident_bytes() - self.resident_at_start)
        seconds = time.monotonic() - self.began
        if self.report is not None and seconds >= REPORT_AFTER:
            self.report(Enumeration(nodes, allocated, seconds))
        needed = nodes * (BYTES_PER_NODE + 8 * max(0, self.players - 2)) + len(self.sets) * BYTES_PER_INFORMATION_SET
        left = available_bytes() - self.reserve
        if needed > left:
            what = f"{self.game.name} (more than {nodes:,} nodes, {len(self.codes) - 1:,} moves deep)"
            raise WouldNotFit(what, needed=allocated + needed, available=max(0, allocated + left), partial=True)


def _assemble(game: AnyGame, walk: _HistoryWalk) -> HistoryForm:
    """Steps 2 and 3."""
    code: IntArray = _join(walk.codes, np.intc).astype(np.int32, copy=False)
    nodes = len(code)
    moves = np.flatnonzero(code >= 0)
    terminal = np.flatnonzero(code == TERMINAL).astype(np.int32)

    order = _first_appearances(code, len(walk.sets))
    renumbered = np.empty(len(order), np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    keys = list(walk.sets)
    set_player = np.array(walk.set_player, np.int8)[order] if len(order) else np.zeros(0, np.int8)
    actions = tuple(walk.set_actions[old] for old in order)
    first_pair = np.zeros(len(order) + 1, np.int32)
    np.cumsum([len(names) for names in actions], out=first_pair[1:])

    information_set = np.full(nodes, -1, np.int32)
    information_set[moves] = renumbered[code[moves]]
    player = code.clip(max=0).astype(np.int8)
    player[moves] = set_player[information_set[moves]]

    children = np.zeros(nodes, np.int32)
    children[moves] = np.diff(first_pair)[information_set[moves]]
    children[code == CHANCE] = _join(walk.outcomes, np.intc)
    first_child = np.ones(nodes + 1, np.int32)
    np.cumsum(children, out=first_child[1:])
    first_child[1:] += 1
    parent = np.full(nodes, -1, np.int32)
    parent[1:] = np.repeat(np.arange(nodes, dtype=np.int32), children)
    pair = np.full(nodes, -1, np.int32)
    chance = np.ones(nodes)
    if nodes > 1:
        above = parent[1:]
        position = np.arange(1, nodes, dtype=np.int32) - first_child[above]
        pair[1:] = np.where(code[above] >= 0, first_pair[information_set[above]] + position, -1)
        chance[1:][code[above] == CHANCE] = _join(walk.probabilities, np.double)

    payoff: FloatArray = _join(walk.payoffs, np.double).reshape(len(terminal), walk.players)
    return HistoryForm(
        name=game.name,
        players=walk.players,
        zero_sum=bool((np.abs(payoff.sum(axis=1)) <= SUM_TOLERANCE).all()),
        parent=parent,
        player=player,
        information_set=information_set,
        pair=pair,
        chance=chance,
        first_child=first_child,
        level=np.cumsum([0] + [len(codes) for codes in walk.codes if len(codes)]),
        terminal=terminal,
        payoff=payoff,
        information_set_player=set_player,
        first_pair=first_pair,
        keys=tuple(keys[old] for old in order),
        actions=actions,
    )


def _join(buffers: Sequence[array[Any]], dtype: type) -> AnyArray:
    """Buffers of all depths, one after another."""
    parts: list[AnyArray] = [np.frombuffer(buffer, dtype=dtype) for buffer in buffers if len(buffer)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def _first_appearances(code: IntArray, sets: int) -> IntArray:
    """Information sets in the order in which they first appear among the nodes."""
    moves = np.flatnonzero(code >= 0)[::-1]
    first_node = np.zeros(sets, np.int64)
    first_node[code[moves]] = moves  # backwards, so that each set's first node is written last
    return np.argsort(first_node, kind="stable")


def _check_payoffs(form: HistoryForm, game: AnyGame) -> None:
    if not np.isfinite(form.payoff).all():
        worst = form.payoff[~np.isfinite(form.payoff).all(axis=1)][0]
        raise InvalidGame(f"{form.name}: a terminal pays {tuple(worst.tolist())}, but payoffs must be finite")
    if np.abs(form.payoff).max(initial=0.0) > MAX_PAYOFF:
        worst = form.payoff[np.abs(form.payoff).max(axis=1).argmax()]
        raise InvalidGame(
            f"{form.name}: a terminal pays {tuple(worst.tolist())}, but sums of payoffs above {MAX_PAYOFF:g} "
            "overflow: choose a larger unit"
        )
    if game.zero_sum and not form.zero_sum:
        worst = form.payoff[np.abs(form.payoff.sum(axis=1)).argmax()]
        raise InvalidGame(
            f"{form.name} claims to be zero-sum, but a terminal pays {tuple(worst.tolist())}: "
            "set zero_sum = False in the game if that is intended"
        )


def last_pairs(form: HistoryForm, player: int) -> IntArray:
    """[N] `player`'s last pair on the path to each node; −1 where they have not moved yet."""
    last = np.full(len(form.parent), -1, np.int32)
    moved = np.zeros(len(form.parent), np.bool_)
    moved[1:] = form.player[form.parent[1:]] == player
    for depth in range(1, len(form.level) - 1):
        nodes = slice(form.level[depth], form.level[depth + 1])
        last[nodes] = np.where(moved[nodes], form.pair[nodes], last[form.parent[nodes]])
    return last


def _check_recall(form: HistoryForm) -> None:
    """Perfect recall: all nodes of an information set follow the same last move of its player."""
    for player in range(form.players):
        nodes = np.flatnonzero(form.player == player)
        if not len(nodes):
            continue
        last = last_pairs(form, player)[nodes]
        sets = form.information_set[nodes]
        expected = np.zeros(len(form.keys), np.int32)
        expected[sets[::-1]] = last[::-1]
        wrong = np.flatnonzero(expected[sets] != last)
        if len(wrong):
            raise InvalidGame(
                f"{form.name}: recall is not perfect: histories of the information set {form.keys[sets[wrong[0]]]!r} "
                f"follow different moves of player {player}"
            )


def uniform_array(form: HistoryForm) -> FloatArray:
    """The uniform strategy as an array over pairs."""
    counts = np.diff(form.first_pair)
    return np.repeat(1.0 / counts, counts)


def invert(form: HistoryForm, strategy: FloatArray) -> dict[str, dict[str, float]]:
    """Read an array over pairs back as information set -> action -> number."""
    _check_length(form, strategy)
    numbers = strategy.tolist()
    first = form.first_pair.tolist()
    return {
        key: dict(zip(actions, numbers[start : start + len(actions)]))
        for key, actions, start in zip(form.keys, form.actions, first)
    }


def strategy_array(form: HistoryForm, strategy: Strategy) -> FloatArray:
    """A strategy by information set and action as an array over pairs: the inverse of `invert`.

    An information set that the strategy leaves out plays uniformly; an action that it leaves out is never played.
    """
    result = uniform_array(form)
    number_of = {key: number for number, key in enumerate(form.keys)}
    for key, probabilities in strategy.items():
        number = number_of.get(key)
        if number is None:
            raise unknown_information_set(key, form.name)
        actions = form.actions[number]
        start = form.first_pair[number]
        _check_table(probabilities, key)
        complete = dict.fromkeys(actions, 0.0) | dict(probabilities)
        result[start : start + len(actions)] = action_probabilities(complete, key, actions)
    return result


def action_probabilities(probabilities: Mapping[str, float], key: str, actions: Sequence[str]) -> list[float]:
    """What a strategy plays in an information set, in the order of its actions; an impossible one is refused.

    >>> action_probabilities({"bet": 0.25, "check": 0.75}, "K:", ["check", "bet"])
    [0.75, 0.25]
    """
    _check_table(probabilities, key)
    for action in probabilities:
        if action not in actions:
            raise InvalidOption("strategy", action, f"is not an action of {key!r}: {', '.join(map(str, actions))}")
    for action in actions:
        if action not in probabilities:
            raise InvalidOption("strategy", dict(probabilities), f"at {key!r} has no probability for {action!r}")
    numbers = [probabilities[action] for action in actions]
    if not all(isinstance(number, Real) for number in numbers) or not _is_distribution(numbers):
        raise _impossible(dict(probabilities), key)
    return [float(number) for number in numbers]


def _check_table(probabilities: object, key: str) -> None:
    if not isinstance(probabilities, Mapping):
        raise InvalidOption("strategy", probabilities, f"at {key!r} must be a table of probabilities by action")


def check_strategy(form: HistoryForm, strategy: FloatArray) -> FloatArray:
    """An array over pairs, or an error that names the information set where it is not a strategy."""
    strategy = np.asarray(strategy, dtype=np.float64)
    _check_length(form, strategy)
    for number in impossible_sets(strategy, form.first_pair)[:1].tolist():
        pairs = strategy[form.first_pair[number] : form.first_pair[number + 1]].tolist()
        raise _impossible(dict(zip(form.actions[number], pairs, strict=True)), form.keys[number])
    return strategy


def impossible_sets(strategy: FloatArray, first_pair: IntArray) -> IntArray:
    """Numbers of the information sets whose probabilities in an array over pairs are below 0 or do not sum to 1."""
    if not len(strategy):
        return np.empty(0, dtype=np.int64)
    totals, smallest = (fold.reduceat(strategy, first_pair[:-1]) for fold in (np.add, np.minimum))
    possible = (np.abs(totals - 1.0) <= STRATEGY_TOLERANCE) & (smallest >= -ROUNDED_BELOW_0)  # False for NaN
    return np.flatnonzero(~possible)


def unknown_information_set(key: str, game: str) -> InvalidOption:
    """The error for a key that a game does not have."""
    return InvalidOption("strategy", key, f"is not an information set of {game}")


def _check_length(form: HistoryForm, strategy: FloatArray) -> None:
    if strategy.shape != (form.first_pair[-1],):
        raise InvalidOption("strategy", strategy.shape, f"must be one number for each of {form.first_pair[-1]} pairs")


def _is_distribution(numbers: Sequence[float]) -> bool:
    # 2, as any limit above 1, keeps whole numbers too large for a float out of the sum. False if any is not a number.
    within = all(-ROUNDED_BELOW_0 <= number <= 2.0 for number in numbers)
    return within and abs(sum(numbers) - 1.0) <= STRATEGY_TOLERANCE


def _impossible(probabilities: Mapping[str, float], key: str) -> InvalidOption:
    return InvalidOption("strategy", probabilities, f"at {key!r} must hold numbers of at least 0 that sum to 1")
