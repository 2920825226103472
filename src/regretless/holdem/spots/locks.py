"""Locks: fixed decisions, around which the rest is solved.

A lock fixes the strategy of a node, for all hands or some; both players then play optimally around it, and
exploitability counts only what can be gained elsewhere. A line without a card applies on every runout.

>>> Lock(node="check", strategy={"check": 1.0})  # in position always checks behind
Lock(node='check', strategy={'check': 1.0}, hands='')

The strategy may also be that of another solution, at a node or at every decision of a player:

>>> LockFrom(source="other.rgl", player="oop")
LockFrom(source='other.rgl', player='oop', node=None, hands='')

A lock that distinguishes suits reduces symmetry: the remaining renamings preserve the locked hands, the cards in the
line, and the strategy of the other solution.

As a line of text, "LINE: HANDS = ACTION PROBABILITY, ACTION PROBABILITY, …":

    check: bet 50                          after a check, always bet 50, with every hand
    check: AA, KK = bet 50                 only with these hands
    check: AA, KK = bet 50 70%, check 0.3  probabilities in percent or from 0 to 1
    check: bet 50 70%, check               one action without a number takes the rest
    : check                                the first decision

HANDS is a range; without it, a lock applies to every hand. Spot files use the same text in `locks = ["…"]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, InvalidText, RegretlessError
from regretless.forms.history import FloatArray
from regretless.forms.public import BettingTree, NodeKind, PublicForm
from regretless.holdem.spots.lines import LineStep, find_action, no_such_action, parse_line
from regretless.holdem.spots.sizes import number_text
from regretless.reprs import brief

__all__ = [
    "AnyLock", "Lock", "LockFrom", "LockedHands", "LockedNode", "check_lock", "lock_text", "locked_nodes",
    "locked_players", "parse_lock", "parse_strategy", "split_line",
]  # fmt: skip

CLOSE_TO_ONE = 1e-6

_NUMBER = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(%?)")


class _AtNode:
    """The texts of a lock, parsed."""

    node: str | None  # line of play; None if the lock is for a player
    hands: str

    @cached_property
    def steps(self) -> tuple[LineStep, ...]:
        return parse_line(self.node or "", "locks.node")

    @property
    def cards(self) -> tuple[int, ...]:
        """Cards that the line names."""
        return tuple(step.card for step in self.steps if step.card is not None)

    @property
    def range(self) -> Range:
        return Range.parse(self.hands or "100%", "locks.hands")


@dataclass(frozen=True)
class Lock(_AtNode):
    """A node locked to a strategy."""

    node: str  # line of play that leads there; "" is the first decision
    strategy: Mapping[str, float]  # probability of each action; omitted actions are never taken
    hands: str = ""  # the hands it applies to, as a range; "": all. Weights do not matter

    __repr__ = brief

    def __hash__(self) -> int:
        return hash((self.node, tuple(self.strategy.items()), self.hands))


@dataclass(frozen=True)
class LockFrom(_AtNode):
    """Decisions locked to another solution's strategy: all of a player's, or one node."""

    source: str  # its .rgl file; once a solve has begun, its own file contains the strategy
    player: Literal["ip", "oop"] | None = None  # every decision of this player
    node: str | None = None  # or the node that this line leads to
    hands: str = ""  # at a node: the hands it applies to, as a range; "": all
    suits: tuple[str, ...] = field(default=(), compare=False, repr=False)  # images of c, d, h, s: the renamings
    # that preserve the source's strategy. Filled in when the source is read; (): not read yet

    __repr__ = brief

    def __post_init__(self) -> None:
        if (self.player is None) == (self.node is None):
            raise InvalidOption("locks.source", self.source, "needs either a player or a node")
        if self.player not in (None, "ip", "oop"):
            raise InvalidOption("locks.player", self.player, "is neither oop nor ip")
        if self.player is not None and self.hands:
            raise InvalidOption("locks.hands", self.hands, "selects hands at a node, but this lock is for a player")


AnyLock = Lock | LockFrom
ReadSource = Callable[[LockFrom, str, int, int], FloatArray]  # lock, field, node, runout -> [actions, H]


@dataclass(frozen=True)
class LockedNode:
    """A lock at a betting node and runout of a form."""

    node: int
    runout: int
    strategy: FloatArray  # [actions, H]
    hands: NDArray[np.bool_]  # [H] of the player who acts

    __repr__ = brief


def locked_players(locks: Sequence[AnyLock]) -> dict[int, int]:
    """Players whose every decision is locked, and the last lock that does so."""
    return {
        0 if lock.player == "ip" else 1: position
        for position, lock in enumerate(locks)
        if isinstance(lock, LockFrom) and lock.player is not None
    }


def locked_nodes(
    form: PublicForm, locks: Sequence[AnyLock], hand_numbers: tuple[NDArray[np.int64], ...], read_source: ReadSource
) -> list[LockedNode]:
    """Where locks of nodes apply, later ones overriding earlier ones.

    `hand_numbers`: which of the 1,326 hands each hand of the form is. Locks of whole players are not included, nor are
    those that a later lock of the player overrides.
    """
    locked: dict[tuple[int, int], LockedNode] = {}
    overridden = locked_players(locks)
    for position, lock in enumerate(locks):
        if isinstance(lock, LockFrom) and lock.player is not None:
            continue
        name = f"locks[{position}]"
        node, runouts = _find(form, lock, name)
        player = int(form.tree.player[node])
        chosen = lock.range.weights[hand_numbers[player]] > 0
        if not chosen.any():
            raise InvalidText(f"{name}.hands", lock.hands, None, "contains no hand of the player who acts there")
        fixed = None if isinstance(lock, LockFrom) else _strategy(lock, _labels(form.tree, node), name)[:, None]
        if position < overridden.get(player, -1):
            continue
        for runout in runouts:
            strategy = fixed if fixed is not None else read_source(lock, name, node, runout)  # type: ignore[arg-type]
            before = locked.get((node, runout))
            played = np.where(chosen, strategy, 0.0 if before is None else before.strategy)
            hands = chosen if before is None else chosen | before.hands
            locked[node, runout] = LockedNode(node, runout, played, hands)
    return list(locked.values())


class LockedHands:
    """Which hands are locked at each betting node and runout of a form; needs no strategies, so a file is enough."""

    def __init__(self, form: PublicForm, locks: Sequence[AnyLock], hand_numbers: tuple[NDArray[np.int64], ...]) -> None:
        self.form = form
        self.players = locked_players(locks)
        self._nodes: list[tuple[int, int, frozenset[int], NDArray[np.bool_]]] = []  # lock, node, runouts, hands
        for position, lock in enumerate(locks):
            if not isinstance(lock, LockFrom) or lock.player is None:
                node, runouts = _find(form, lock, f"locks[{position}]")
                chosen = lock.range.weights[hand_numbers[int(form.tree.player[node])]] > 0
                self._nodes.append((position, node, frozenset(runouts), chosen))

    def applying(self, node: int, runout: int) -> list[int]:
        """Positions, among the spot's locks, of those that apply at a decision."""
        whole = self.players.get(int(self.form.tree.player[node]))
        positions = [position for position, locked, runouts, _ in self._nodes if locked == node and runout in runouts]
        return positions if whole is None else sorted({whole, *positions})

    def hands(self, node: int, runout: int) -> NDArray[np.bool_]:
        """[H] of the acting player: whether the hand is locked."""
        player = int(self.form.tree.player[node])
        is_locked = np.full(len(self.form.hands[player].weight), player in self.players, dtype=np.bool_)
        for _, locked_node, runouts, chosen in self._nodes:
            if locked_node == node and runout in runouts:
                is_locked |= chosen
        return is_locked


def check_lock(tree: BettingTree, lock: AnyLock, name: str) -> int:
    """Check a lock against a betting tree, before anything larger is built, and find its node; `name` is the field.

    The lock of all decisions of a player is at the root.
    """
    return 0 if isinstance(lock, LockFrom) and lock.player is not None else _follow(tree, lock, name)[0]


def _labels(tree: BettingTree, node: int) -> tuple[str, ...]:
    return tree.labels[int(tree.first_child[node]) : int(tree.first_child[node + 1])]


def _follow(tree: BettingTree, lock: AnyLock, name: str) -> tuple[int, list[LineStep | None]]:
    """The decision that a lock's line leads to, and the cards dealt on the way: None where the line omits one."""
    field, text = f"{name}.node", lock.node or ""
    node = 0
    cards: list[LineStep | None] = []
    for step in (*lock.steps, None):
        if step is not None and step.card is not None:
            if tree.kind[node] != NodeKind.CHANCE:
                raise InvalidText(field, text, step.position, "no card is dealt here")
            cards.append(step)
            node = int(tree.first_child[node])
            continue
        while tree.kind[node] == NodeKind.CHANCE:
            cards.append(None)
            node = int(tree.first_child[node])
        if step is not None:
            labels = _labels(tree, node)
            action = find_action(step, labels)
            if action is None:
                raise no_such_action(field, text, step, labels)
            node = int(tree.first_child[node]) + action
    if tree.kind[node] != NodeKind.DECISION:
        raise InvalidText(field, text, None, "nobody acts there")
    if isinstance(lock, Lock):
        _strategy(lock, _labels(tree, node), name)
    return node, cards


def _find(form: PublicForm, lock: AnyLock, name: str) -> tuple[int, list[int]]:
    """The betting node that a line leads to, and the runouts of its street that the line allows."""
    node, cards = _follow(form.tree, lock, name)
    runouts = [0]
    for street, step in enumerate(cards):
        first, following = form.streets[street].first_child, form.streets[street + 1]
        below = [child for runout in runouts for child in range(first[runout], first[runout + 1])]
        runouts = [child for child in below if step is None or following.cards[child, 0] == step.card]
        if step is not None and not runouts:
            raise InvalidText(f"{name}.node", lock.node or "", step.position, f"{step} cannot be dealt here")
    return node, runouts


def _strategy(lock: Lock, labels: Sequence[str], name: str) -> FloatArray:
    strategy = np.zeros(len(labels))
    for action_name, probability in lock.strategy.items():
        steps = parse_line(action_name, f"{name}.strategy")
        action = find_action(steps[0], labels) if len(steps) == 1 else None
        if action is None:
            raise InvalidText(
                f"{name}.strategy", action_name, None, f"is not an action there; choose from {', '.join(labels)}"
            )
        if not 0 <= probability <= 1:
            raise InvalidOption(f"{name}.strategy", probability, f"(of {action_name}) must be from 0 to 1")
        strategy[action] += probability
    if abs(strategy.sum() - 1) > CLOSE_TO_ONE:
        raise InvalidOption(
            f"{name}.strategy", float(strategy.sum()), "is the sum of the probabilities, which must be 1"
        )
    return np.asarray(strategy / strategy.sum())


def parse_lock(text: str, field: str = "lock") -> Lock:
    """Read a lock; `field` names the text in errors.

    >>> parse_lock("check: AA, KK = bet 50 70%, check")
    Lock(node='check', strategy={'bet 50': 0.7, 'check': 0.3}, hands='AA, KK')
    >>> parse_lock("check bet 50")
    Traceback (most recent call last):
    regretless.errors.InvalidText: lock: 'check bet 50': has no ':' after the line; ': check' is the first decision
    """
    if ":" not in text:
        raise InvalidText(field, text, None, "has no ':' after the line; ': check' is the first decision")
    node, rest = split_line(text)
    hands, equals, played = rest.rpartition("=")
    if equals and not hands.strip():
        raise InvalidText(field, text, text.index("=") + 1, "no hands before '='")
    lock = Lock(node, parse_strategy(played, field, whole=text), hands.strip())
    _ = lock.steps, lock.range
    return lock


def split_line(text: str) -> tuple[str, str]:
    """The line of a lock, and the text after its colon.

    >>> split_line("check, bet 50: AA"), split_line("check")
    (('check, bet 50', 'AA'), ('check', ''))
    """
    node, _, rest = text.partition(":")
    return node.strip(), rest.strip()


def parse_strategy(text: str, field: str, whole: str | None = None) -> dict[str, float]:
    """Probabilities of actions; `whole` is the text shown in errors."""
    shown = text if whole is None else whole
    shares: dict[str, float] = {}
    without: list[str] = []
    for part in text.split(","):
        action, probability = _action(part.strip(), shown, field)
        if action in shares or action in without:
            raise InvalidText(field, shown, None, f"names {action!r} twice")
        if probability is None:
            without.append(action)
        else:
            shares[action] = probability
    total = sum(shares.values())
    if len(without) > 1 or total > 1 + CLOSE_TO_ONE:
        reason = (
            f"{' and '.join(map(repr, without))} need probabilities" if len(without) > 1 else "adds up to more than 1"
        )
        raise InvalidText(field, shown, None, reason)
    return shares | {action: round(1.0 - total, 12) for action in without}


def _action(part: str, text: str, field: str) -> tuple[str, float | None]:
    """An action and its probability, if it has one: `bet 50` is only an action, `bet 50 0.7` has a probability."""
    head, _, last = part.rpartition(" ")
    number = _NUMBER.fullmatch(last)
    if head.strip() and number is not None and _is_action(head):
        share = float(number[1]) / (100 if number[2] else 1)
        if share <= 1:
            return head.strip(), share
        if not _is_action(part):
            raise InvalidText(field, text, None, f"{last!r} is not a probability such as 0.7 or 70%")
    if not part or not _is_action(part):
        raise InvalidText(field, text, None, f"{part!r} is not an action with a probability, such as 'bet 50 70%'")
    return part, None


def _is_action(text: str) -> bool:
    try:
        steps = parse_line(text)
    except RegretlessError:
        return False
    return len(steps) == 1 and steps[0].card is None


def lock_text(lock: AnyLock) -> str:
    """A lock as text; unless it comes from another solution, `parse_lock` reads it back.

    >>> lock_text(Lock("check", {"bet 50": 0.7, "check": 0.3}, "AA")), lock_text(LockFrom("other.rgl", player="oop"))
    ('check: AA = bet 50 0.7, check 0.3', 'every decision of oop as in other.rgl')
    """
    if isinstance(lock, LockFrom):
        decisions = (
            f"{lock.node}: {lock.hands or 'every hand'}" if lock.player is None else f"every decision of {lock.player}"
        )
        return f"{decisions} as in {lock.source}"
    played = ", ".join(f"{action} {number_text(share)}" for action, share in lock.strategy.items())
    return f"{lock.node}: {lock.hands} = {played}" if lock.hands else f"{lock.node}: {played}"
