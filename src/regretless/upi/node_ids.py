"""Nodes and lines as the protocol names them, and as the rest of the package does.

A node is `r:0` and then actions and cards: `c` checks or calls, `f` folds, `b100` bets or raises until the player has
put in 100 chips since the root, `8h` is dealt. A line of the tree is the same without cards, as numbers: what each
player has put in after each action, the player out of position first.

>>> line_text((0, 30, 90, 90, 90, 150), streets=2, stack=200)
'check, bet 30, raise 90, call, check, bet 60'
>>> line_text((30, 20), streets=2, stack=200)
Traceback (most recent call last):
regretless.errors.RegretlessError: 30 20: 20 is less than the 30 chips of the other player
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regretless.cards.deck import CARD_PATTERN, card_text, parse_card
from regretless.errors import RegretlessError
from regretless.forms.public import BettingTree, NodeKind
from regretless.holdem.spots.lines import CLOSE
from regretless.holdem.spots.locks import Lock, follow
from regretless.holdem.spots.sizes import SLACK, exact, number_text

__all__ = ["ROOT", "TreeNode", "action_lines", "action_text", "find_node", "line_text", "locked_node"]

ROOT = "r:0"
_CARD = re.compile(CARD_PATTERN)
_BET = re.compile(r"b(\d+(?:\.\d*)?)")


@dataclass(frozen=True)
class TreeNode:
    """A node of the betting tree, and the cards dealt on the way."""

    tree: BettingTree
    index: int = 0
    cards: tuple[int, ...] = ()
    name: str = ROOT  # its node id
    line: tuple[str, ...] = ()  # its actions and cards, as the rest of the package reads them

    @property
    def kind(self) -> NodeKind:
        """The node's kind; an all-in that was called ends the hand, although cards are still to come."""
        below = self.index
        while self.tree.kind[below] == NodeKind.CHANCE:
            below = int(self.tree.first_child[below])
        if self.tree.kind[below] == NodeKind.SHOWDOWN:
            return NodeKind.SHOWDOWN
        return NodeKind(int(self.tree.kind[self.index]))

    @property
    def player(self) -> int:
        return int(self.tree.player[self.index])

    def actions(self) -> Iterator[TreeNode]:
        """The nodes after the actions of a decision: the largest bet first, then a check or a call, then a fold."""
        if self.kind is NodeKind.DECISION:
            first, end = (int(self.tree.first_child[node]) for node in (self.index, self.index + 1))
            for child in reversed(range(first, end)):
                name = f"{self.name}:{action_text(self.tree, child)}"
                yield TreeNode(self.tree, child, self.cards, name, (*self.line, self.tree.labels[child]))

    def dealt(self, card: int) -> TreeNode:
        """The node after a card."""
        text = card_text(card)
        child = int(self.tree.first_child[self.index])
        return TreeNode(self.tree, child, (*self.cards, card), f"{self.name}:{text}", (*self.line, text))

    def children(self, board: Sequence[int]) -> list[TreeNode]:
        """The nodes one step further; `board` is that of the root."""
        if self.kind is NodeKind.CHANCE:
            return [self.dealt(card) for card in range(52) if card not in (*board, *self.cards)]
        return list(self.actions())


def action_text(tree: BettingTree, child: int) -> str:
    """The last action of a node, as in its id."""
    verb = tree.labels[child].split()[0]
    if verb in ("check", "call", "fold"):
        return verb[0]
    return f"b{number_text(exact(float(tree.paid[child, tree.player[tree.parent[child]]])))}"


def find_node(tree: BettingTree, board: Sequence[int], text: str) -> TreeNode:
    """The node with this id; `board` is that of the root."""
    steps = text.split(":")
    if steps[0] != "r" or steps[1:2] not in ([], ["0"]):
        raise RegretlessError(f"{text!r} is no node: a node begins with {ROOT}")
    node = TreeNode(tree)
    for step in steps[2:]:
        children = node.actions() if node.kind is NodeKind.DECISION else iter(node.children(board))
        found = next((child for child in children if _is_step(step, child)), None)
        if found is None:
            raise RegretlessError(f"{text!r} is no node: {node.name} has no {step!r}")
        node = found
    return node


def locked_node(tree: BettingTree, board: Sequence[int], lock: Lock) -> TreeNode:
    """The node of a lock, which must name every card on the way."""
    index, steps = follow(tree, lock, "lock")
    cards = [step.card for step in steps if step is not None and step.card is not None]
    if len(cards) < len(steps):
        raise RegretlessError("it omits a card, so it applies at many nodes")
    names: list[str] = []
    while index > 0:
        dealt = tree.kind[tree.parent[index]] == NodeKind.CHANCE
        names.insert(0, card_text(cards.pop()) if dealt else action_text(tree, index))
        index = int(tree.parent[index])
    return find_node(tree, board, ":".join([ROOT, *names]))


def _is_step(step: str, child: TreeNode) -> bool:
    last = child.name.rpartition(":")[2]
    if (typed := _BET.fullmatch(step)) and (bet := _BET.fullmatch(last)):
        return abs(float(typed[1]) - float(bet[1])) < CLOSE
    return bool(_CARD.fullmatch(step) and _CARD.fullmatch(last) and parse_card(step) == child.cards[-1]) or step == last


def action_lines(tree: BettingTree) -> Iterator[tuple[str, int]]:
    """Every line of a tree as an id without cards, with its node: those before a card end where it is dealt."""
    waiting = [(ROOT, 0)]
    while waiting:
        line, index = waiting.pop()
        yield line, index
        node = TreeNode(tree, index)
        if node.kind is NodeKind.CHANCE:
            node = TreeNode(tree, int(tree.first_child[index]))
        waiting += [(f"{line}:{action_text(tree, child.index)}", child.index) for child in reversed([*node.actions()])]


def line_text(amounts: Sequence[float], *, streets: int, stack: float) -> str:
    """A line of amounts as the rest of the package writes it."""
    text = " ".join(map(number_text, amounts))
    paid = [0.0, 0.0]  # of the players out of position and in position
    before, player, street, steps = 0.0, 0, 0, list[str]()
    opened = False  # whether the street's first check was made, or a bet
    for amount in amounts:
        faced = max(paid)
        if street == streets or (before > 0 and stack - before <= SLACK):
            raise RegretlessError(f"{text}: goes on after the end of the hand")
        if amount > stack + CLOSE:
            raise RegretlessError(f"{text}: {number_text(amount)} is more than the stack of {number_text(stack)}")
        if amount < faced - CLOSE:
            raise RegretlessError(
                f"{text}: {number_text(amount)} is less than the {number_text(faced)} chips of the other player"
            )
        calls = amount <= faced + CLOSE
        if calls:
            steps.append("call" if paid[player] < faced - CLOSE else "check")
        else:
            steps.append(f"{'raise' if faced > before else 'bet'} {number_text(exact(amount - before))}")
        paid[player] = max(amount, faced)
        if calls and opened:
            street, before, player, opened = street + 1, faced, 0, False
        else:
            opened, player = True, 1 - player
    return ", ".join(steps)
