"""Locks: fixed decisions, around which the rest is solved.

A lock fixes the strategy of a node, for all hands or some; both players then play optimally around it, and
exploitability counts only what can be gained elsewhere. A line without a card applies on every runout.

>>> Lock(node="check", strategy={"check": 1.0})  # in position always checks behind
Lock(node='check', strategy={'check': 1.0}, hands='')

The strategy may also be that of another solution, at a node or at every decision of a player:

>>> LockFrom(source="other.rgl", player="oop")
LockFrom(source='other.rgl', player='oop', node=None, hands='', frequencies={})

or that strategy moved to other frequencies of the range, hands that lose least first (`range_mix` says how):

>>> LockFrom(source="other.rgl", node="check", frequencies={"bets": 0.6}).frequencies  # all sizes together
{'bets': 0.6}

A lock that distinguishes suits reduces symmetry: the remaining renamings preserve the locked hands, the cards in the
line, and the strategy of the other solution.

As a line of text, "LINE: HANDS = ACTION PROBABILITY, ACTION PROBABILITY, …":

    check: bet 50                          after a check, always bet 50, with every hand
    check: AA, KK = bet 50                 only with these hands
    check: AA, KK = bet 50 70%, check 0.3  probabilities in percent or from 0 to 1
    check: bet 50 70%, check               one action without a number takes the rest
    : check                                the first decision
    check: bets 60%                        of the range, all sizes together; each hand as near as possible to what
                                           another solution plays
    check: AA, KK = bet 50 60% in total    the same for one size, and of these hands

HANDS is a range; without it, a lock applies to every hand. Spot files use the same text in `locks = ["…"]`, except for
frequencies, which need the other solution beside them. Probabilities that add up to nearly 1 are scaled to 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, InvalidText, RegretlessError
from regretless.forms.history import FloatArray
from regretless.forms.public import BettingTree, NodeKind
from regretless.forms.walking import action_labels
from regretless.holdem.spots.lines import LineStep, find_action, no_such_action, parse_line
from regretless.holdem.spots.range_mix import ActionGroup
from regretless.holdem.spots.sizes import number_text
from regretless.holdem.spots.toml_fields import player_in
from regretless.reprs import brief

__all__ = [
    "BETS", "AnyLock", "Lock", "LockFrom", "action_groups", "check_lock", "follow", "frequency_text",
    "lock_strategy", "lock_text", "parse_lock", "parse_strategy", "split_line",
]  # fmt: skip

NEARLY_ONE = 0.011  # how far from 1 a sum of rounded probabilities may be: 33 %, 33 % and 33 %
BETS = "bets"  # every bet, raise and all-in together, in frequencies
IN_TOTAL = "in total"

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
    frequencies: Mapping[str, float] = field(default_factory=dict)  # at a node: how often these hands take an action,
    # or "bets"; {}: as often as in the source
    suits: tuple[str, ...] = field(default=(), compare=False, repr=False)  # images of c, d, h, s: the renamings
    # that preserve the source's strategy. Filled in when the source is read; (): not read yet

    __repr__ = brief

    def __post_init__(self) -> None:
        if (self.player is None) == (self.node is None):
            raise InvalidOption("locks.source", self.source, "needs either a player or a node")
        if self.player is not None:
            player_in(self.player, "locks.player")
        if self.player is not None and self.hands:
            raise InvalidOption("locks.hands", self.hands, "selects hands at a node, but this lock is for a player")
        if self.player is not None and self.frequencies:
            reason = "are those of a node, but this lock is for a player"
            raise InvalidOption("locks.frequencies", dict(self.frequencies), reason)

    def __hash__(self) -> int:
        return hash((self.source, self.player, self.node, self.hands, tuple(self.frequencies.items())))


AnyLock = Lock | LockFrom


def check_lock(tree: BettingTree, lock: AnyLock, name: str) -> int:
    """Check a lock against a betting tree, before anything larger is built, and find its node; `name` is the field.

    The lock of all decisions of a player is at the root.
    """
    return 0 if isinstance(lock, LockFrom) and lock.player is not None else follow(tree, lock, name)[0]


def follow(tree: BettingTree, lock: AnyLock, name: str) -> tuple[int, list[LineStep | None]]:
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
            labels = action_labels(tree, node)
            action = find_action(step, labels)
            if action is None:
                raise no_such_action(field, text, step, labels)
            node = int(tree.first_child[node]) + action
    if tree.kind[node] != NodeKind.DECISION:
        raise InvalidText(field, text, None, "nobody acts there")
    if isinstance(lock, Lock):
        lock_strategy(lock, action_labels(tree, node), name)
    elif lock.frequencies:
        action_groups(lock, action_labels(tree, node), name)
    return node, cards


def lock_strategy(lock: Lock, labels: Sequence[str], name: str = "lock") -> FloatArray:
    """[actions] the mix of a lock at a decision with these actions; `name` is the field."""
    strategy = np.zeros(len(labels))
    for action_name, probability in lock.strategy.items():
        strategy[_action_index(action_name, labels, f"{name}.strategy")] += probability
        _check_probability(f"{name}.strategy", action_name, probability)
    total = float(strategy.sum())
    if abs(total - 1) > NEARLY_ONE:
        raise InvalidOption(
            f"{name}.strategy", float(f"{total:.6g}"), "is the sum of the probabilities, which must be 1"
        )
    return np.asarray(strategy / total)


def action_groups(lock: LockFrom, labels: Sequence[str], name: str = "lock") -> list[ActionGroup]:
    """The frequencies of a lock at a decision with these actions; the actions that it does not name take the rest."""
    field, groups, others = f"{name}.frequencies", [], list(range(len(labels)))
    for action_name, frequency in lock.frequencies.items():
        _check_probability(field, action_name, frequency)
        if action_name == BETS:
            actions = [action for action, label in enumerate(labels) if label.startswith(("bet", "raise", "all-in"))]
            if not actions:
                raise InvalidText(field, BETS, None, f"cannot be made there; choose from {', '.join(labels)}")
        else:
            actions = [_action_index(action_name, labels, field)]
        if not set(actions) <= set(others):
            raise InvalidText(field, action_name, None, "is counted twice")
        others = [action for action in others if action not in actions]
        groups.append(ActionGroup(tuple(actions), frequency))
    total = sum(group.frequency for group in groups)
    if total > 1 + NEARLY_ONE or (not others and total < 1 - NEARLY_ONE):
        raise InvalidOption(
            field, float(f"{total:.6g}"), f"is their sum, which must be {'at most ' if others else ''}1"
        )
    if others and total <= 1:
        return [*groups, ActionGroup(tuple(others), 1 - total)]
    groups = [ActionGroup(group.actions, group.frequency / total) for group in groups]
    return [*groups, ActionGroup(tuple(others), 0.0)] if others else groups


def _action_index(text: str, labels: Sequence[str], field: str) -> int:
    steps = parse_line(text, field)
    action = find_action(steps[0], labels) if len(steps) == 1 else None
    if action is None:
        raise InvalidText(field, text, None, f"is not an action there; choose from {', '.join(labels)}")
    return action


def _check_probability(field: str, action: str, probability: float) -> None:
    if not 0 <= probability <= 1:
        raise InvalidOption(field, probability, f"(of {action}) must be from 0 to 1")


def parse_lock(text: str, field: str = "lock", source: str | None = None) -> AnyLock:
    """Read a lock; `field` names the text in errors. Frequencies are reached from the strategy of `source`.

    >>> parse_lock("check: AA, KK = bet 50 70%, check")
    Lock(node='check', strategy={'bet 50': 0.7, 'check': 0.3}, hands='AA, KK')
    >>> parse_lock("check: bets 60%", source="other.rgl")
    LockFrom(source='other.rgl', player=None, node='check', hands='', frequencies={'bets': 0.6})
    >>> parse_lock("check bet 50")
    Traceback (most recent call last):
    regretless.errors.InvalidText: lock: 'check bet 50': has no ':' after the line; ': check' is the first decision
    """
    if ":" not in text:
        raise InvalidText(field, text, None, "has no ':' after the line; ': check' is the first decision")
    node, rest = split_line(text)
    hands, equals, strategy = rest.rpartition("=")
    if equals and not hands.strip():
        raise InvalidText(field, text, text.index("=") + 1, "no hands before '='")
    mix = strategy.strip().removesuffix(IN_TOTAL)
    shares = parse_strategy(mix, field, whole=text)
    lock: AnyLock
    if mix == strategy.strip() and BETS not in shares:
        lock = Lock(node, shares, hands.strip())
    elif source is None:
        raise InvalidText(
            field, text, None, "is a frequency, which starts from the strategy of another solution: name that, too"
        )
    else:
        lock = LockFrom(source, node=node, hands=hands.strip(), frequencies=shares)
    _ = lock.steps, lock.range  # which refuses a wrong line or range
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
    whole = text if whole is None else whole
    shares: dict[str, float] = {}
    bare: list[str] = []  # actions without a number
    for part in text.split(","):
        action, probability = _action(part.strip(), whole, field)
        if action in shares or action in bare:
            raise InvalidText(field, whole, None, f"names {action!r} twice")
        if probability is None:
            bare.append(action)
        else:
            shares[action] = probability
    total = sum(shares.values())
    if len(bare) > 1:
        raise InvalidText(field, whole, None, f"{' and '.join(map(repr, bare))} need probabilities")
    if total > 1 + NEARLY_ONE:
        raise InvalidText(field, whole, None, "adds up to more than 1")
    return shares | {action: max(0.0, round(1.0 - total, 12)) for action in bare}


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
    if text == BETS:
        return True
    try:
        steps = parse_line(text)
    except RegretlessError:
        return False
    return len(steps) == 1 and steps[0].card is None


def lock_text(lock: AnyLock) -> str:
    """A lock as text; unless it comes from another solution, `parse_lock` reads it back.

    >>> lock_text(Lock("check", {"bet 50": 0.7, "check": 0.3}, "AA")), lock_text(LockFrom("other.rgl", player="oop"))
    ('check: AA = bet 50 0.7, check 0.3', 'every decision of oop as in other.rgl')
    >>> lock_text(LockFrom("other.rgl", node="check", frequencies={"bet 50": 0.6}))
    'check: bet 50 0.6 in total, from other.rgl'
    """
    if isinstance(lock, Lock):
        return _with_mix(lock, lock.strategy)
    if lock.frequencies:
        return f"{frequency_text(lock)}, from {lock.source}"
    decisions = (
        f"{lock.node}: {lock.hands or 'every hand'}" if lock.player is None else f"every decision of {lock.player}"
    )
    return f"{decisions} as in {lock.source}"


def frequency_text(lock: LockFrom) -> str:
    """The text of a lock to frequencies, which `parse_lock` reads back, given its source."""
    return f"{_with_mix(lock, lock.frequencies)} {IN_TOTAL}"


def _with_mix(lock: AnyLock, mix: Mapping[str, float]) -> str:
    shares = ", ".join(f"{action} {number_text(share)}" for action, share in mix.items())
    return f"{lock.node}: {lock.hands} = {shares}" if lock.hands else f"{lock.node}: {shares}"
