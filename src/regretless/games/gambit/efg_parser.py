"""Parser for Gambit files (EFG 2 R): text to a tree stored in lists, without recursion, so any depth is safe.

    EFG 2 R "title" { "player" … } "comment"
    c "node" set "set" { "action" probability … } outcome "outcome" { payoff, … }      chance
    p "node" player set "set" { "action" … } outcome "outcome" { payoff, … }           a player
    t "node" outcome "outcome" { payoff, … }                                           the end

Nodes come in prefix order: each node is followed by its children, one per action. The actions of an information set
and the payoffs of an outcome may be omitted after their first appearance. Any node may have payoffs; a player gets
their sum along the path. Outcome 0 pays nothing.

A token is text in double quotes (a backslash escapes the next character), a number (`2`, `-.5`, `1e-3`, `1/3`), a
word, a brace or a comma. Whitespace is ignored; `//` and `#` begin a comment that runs to the end of the line.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NoReturn

from regretless.errors import InvalidFile
from regretless.games.game import CHANCE

__all__ = ["TERMINAL", "EfgSet", "EfgTree", "Limits", "parse"]

TERMINAL = -2  # in `EfgTree.player`
PROBABILITY_TOLERANCE = 1e-4  # how far from 1 probabilities in a file may sum; they are then divided by the sum
NO_CHILDREN: list[int] = []  # shared by all terminals, never changed
NEGLIGIBLE = 1e-12  # sums this close to 1 are not normalised
MAX_NUMBER_LENGTH = 100  # characters
MAX_INTEGER_DIGITS = 18  # always fits in 64 bits
MAX_SHOWN_LENGTH = 40  # characters of a token in a message
END = "end"  # kind of the token after the last one

_TOKEN = re.compile(
    r"""(?:\s++|//[^\n]*+|\#[^\n]*+)*+  # whitespace and comments; possessive, to prevent backtracking
      (?: (?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+")
      | (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?:/\d+)?)
      | (?P<word>[A-Za-z]+)
      | (?P<mark>[{},])
      | (?P<end>\Z))""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_BLANK = re.compile(r"(?:\s++|//[^\n]*+|#[^\n]*+)*+", re.ASCII)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class Limits:
    """Limits on an untrusted file."""

    bytes: int = 256 * 2**20
    nodes: int = 5_000_000
    depth: int = 100_000  # moves on one path
    players: int = 100
    payoffs: int = 20_000_000  # numbers stored for payoffs summed along a path


@dataclass(frozen=True)
class EfgSet:
    """An information set, or a chance move."""

    player: int
    number: int  # as in the file
    label: str  # as in the file
    names: tuple[str, ...]  # as in the file
    actions: tuple[str, ...]  # the names, made unique
    probabilities: tuple[float, ...]  # of a chance move; empty for a player's move


@dataclass
class EfgTree:
    """A game as in its file; lists are over nodes in file order."""

    title: str = ""
    comment: str = ""
    players: tuple[str, ...] = ()
    player: list[int] = field(default_factory=list)  # CHANCE, TERMINAL or the player's number from 0
    set: list[int] = field(default_factory=list)  # index into `sets`; −1 at a terminal
    children: list[list[int]] = field(default_factory=list)
    payoff: list[tuple[float, ...]] = field(default_factory=list)  # along the path, including this node's outcome
    sets: list[EfgSet] = field(default_factory=list)


def parse(source: str, path: object, limits: Limits) -> EfgTree:
    """The tree that `source` describes; `path` names it in errors."""
    return _Parser(_Tokens(source, path), limits).run()


class _Parser:
    def __init__(self, tokens: _Tokens, limits: Limits) -> None:
        self.tokens = tokens
        self.limits = limits
        self.tree = EfgTree()
        self.set_index: dict[tuple[int, int], int] = {}  # player, number -> index into `tree.sets`
        self.outcomes: dict[int, tuple[float, ...]] = {}
        self.summed = 0  # numbers stored for payoffs summed along a path
        self.memory: dict[int, tuple[int, int]] = {}  # set -> its player's last set and action, equal at all its nodes

    def run(self) -> EfgTree:
        tokens, tree = self.tokens, self.tree
        self._prologue()
        no_payoff = (0.0,) * len(tree.players)
        no_memory = ((-1, -1),) * len(tree.players)
        # Nodes with children still to come: the node, and each player's last set and action before it.
        above: list[tuple[int, tuple[tuple[int, int], ...]]] = []
        while True:
            node = len(tree.player)
            if node >= self.limits.nodes:
                tokens.fail(f"more than {self.limits.nodes:,} nodes")
            payoff, memory = no_payoff, no_memory
            if above:
                parent, memory = above[-1]
                payoff = tree.payoff[parent]
                mover = tree.player[parent]
                if mover >= 0:
                    last = (tree.set[parent], len(tree.children[parent]))
                    memory = (*memory[:mover], last, *memory[mover + 1 :])
                tree.children[parent].append(node)
            self._node(payoff, memory)
            if tree.set[node] >= 0:
                if len(above) == self.limits.depth:
                    tokens.fail(f"more than {self.limits.depth:,} moves on one path")
                above.append((node, memory))
            while above and len(tree.children[above[-1][0]]) == len(tree.sets[tree.set[above[-1][0]]].actions):
                above.pop()
            if not above:
                break
        if tokens.kind != END:
            tokens.fail(f"the tree is complete, but {tokens.describe()} follows")
        return tree

    def _prologue(self) -> None:
        tokens, tree = self.tokens, self.tree
        if not tokens.accept("EFG"):
            tokens.fail("a Gambit extensive game begins with EFG 2 R")
        if tokens.value != "2":
            tokens.fail(f"only version 2 of the format is supported, found {tokens.describe()}")
        tokens.take()
        if tokens.value not in ("R", "D"):
            tokens.fail(f"expected R or D after EFG 2, found {tokens.describe()}")
        tokens.take()
        tree.title = tokens.text("the title")
        tokens.expect("{", "before the players' names")
        names: list[str] = []
        while not tokens.accept("}"):
            if len(names) == self.limits.players:
                tokens.fail(f"more than {self.limits.players} players")
            names.append(tokens.text("a player's name"))
            tokens.accept(",")
        if not names:
            tokens.fail("a game needs at least one player")
        tree.players = tuple(names)
        if tokens.kind == "text":
            tree.comment = tokens.text("the comment")

    def _node(self, payoff: tuple[float, ...], memory: tuple[tuple[int, int], ...]) -> None:
        """Read one node; `payoff` and `memory` belong to the path to it."""
        tokens, tree = self.tokens, self.tree
        kind = tokens.value
        if tokens.kind == END:
            tokens.fail("the file ends before the tree does")
        if kind not in ("c", "p", "t"):
            tokens.fail(f"a node begins with c, p or t, found {tokens.describe()}")
        tokens.take()
        if tokens.kind == "text":
            tokens.take()  # the node's own label
        player, set_index = TERMINAL, -1
        if kind == "c":
            player = CHANCE
            set_index = self._set(player)
        elif kind == "p":
            player = tokens.integer("the player's number") - 1
            if not 0 <= player < len(tree.players):
                tokens.fail(f"player {player + 1} moves here, but there are only {len(tree.players)} players")
            set_index = self._set(player)
            if self.memory.setdefault(set_index, memory[player]) != memory[player]:
                tokens.fail(
                    f"recall is not perfect: in information set {tree.sets[set_index].number}, player {player + 1} "
                    "forgets an earlier move"
                )
        outcome = self._outcome()
        tree.player.append(player)
        tree.set.append(set_index)
        tree.children.append([] if set_index >= 0 else NO_CHILDREN)
        tree.payoff.append(self._sum(payoff, outcome))

    def _sum(self, payoff: tuple[float, ...], outcome: tuple[float, ...] | None) -> tuple[float, ...]:
        """Payoffs along a path, including the outcome at its end."""
        if outcome is None:
            return payoff
        if not any(payoff):
            return outcome  # most files pay only at terminals: one tuple per outcome
        self.summed += len(payoff)
        if self.summed > self.limits.payoffs:
            self.tokens.fail(f"more than {self.limits.payoffs:,} payoffs to sum along paths")
        total = tuple(before + now for before, now in zip(payoff, outcome))
        if not all(map(math.isfinite, total)):
            self.tokens.fail("the sum of payoffs along this path overflows")
        return total

    def _set(self, player: int) -> int:
        """Read an information set or chance move: number, label and actions (optional after the first time)."""
        tokens, tree = self.tokens, self.tree
        number = tokens.integer("the number of an information set")
        label = tokens.text("a label") if tokens.kind == "text" else ""
        index = self.set_index.get((player, number))
        if tokens.value != "{" or tokens.kind == "text":
            if index is None:
                tokens.fail(f"information set {number} is new, so its actions must follow in braces")
            return index
        names, probabilities = self._actions(player)
        if index is None:
            index = self.set_index[player, number] = len(tree.sets)
            actions = _unique(names)
            tree.sets.append(EfgSet(player, number, label, tuple(names), actions, probabilities))
            return index
        earlier = tree.sets[index]
        if earlier.names != tuple(names) or earlier.probabilities != probabilities:
            tokens.fail(f"information set {number} had different actions or probabilities before")
        return index

    def _actions(self, player: int) -> tuple[list[str], tuple[float, ...]]:
        tokens = self.tokens
        tokens.expect("{", "before the actions")
        names: list[str] = []
        probabilities: list[float] = []
        while not tokens.accept("}"):
            names.append(tokens.text("an action"))
            if player == CHANCE:
                probabilities.append(tokens.number("its probability"))
                if probabilities[-1] < 0:
                    tokens.fail("the preceding probability is negative")
            tokens.accept(",")
        if not names:
            tokens.fail("a move needs at least one action")
        if player == CHANCE:
            total = sum(probabilities)
            if abs(total - 1.0) > PROBABILITY_TOLERANCE:
                tokens.fail(f"the preceding probabilities sum to {total:.6g}, not 1")
            if abs(total - 1.0) > NEGLIGIBLE:
                probabilities = [probability / total for probability in probabilities]
        return names, tuple(probabilities)

    def _outcome(self) -> tuple[float, ...] | None:
        tokens, players = self.tokens, len(self.tree.players)
        number = tokens.integer("the number of an outcome")
        if tokens.kind == "text":
            tokens.take()  # the outcome's label
        if tokens.kind == "text" or not tokens.accept("{"):
            if number and number not in self.outcomes:
                tokens.fail(f"outcome {number} is new, so its payoffs must follow in braces")
            return self.outcomes.get(number)
        payoffs: list[float] = []
        while not tokens.accept("}"):
            if len(payoffs) == players:
                tokens.fail(f"outcome {number} has more payoffs than there are players ({players})")
            payoffs.append(tokens.number("a payoff"))
            tokens.accept(",")
        if len(payoffs) < players:
            tokens.fail(f"outcome {number} has {len(payoffs)} payoffs for {players} players")
        if number == 0:
            tokens.fail("outcome 0 means no payoffs, but payoffs are given")
        if self.outcomes.setdefault(number, tuple(payoffs)) != tuple(payoffs):
            tokens.fail(f"outcome {number} had different payoffs before")
        return self.outcomes[number]


def _unique(names: list[str]) -> tuple[str, ...]:
    """Unique names for actions: numbered if any is empty or repeated."""
    if len(set(names)) == len(names) and all(names):
        return tuple(names)
    return tuple(f"{name} #{number}".strip() for number, name in enumerate(names, start=1))


class _Tokens:
    """A cursor over the tokens of a file: `kind` and `value` describe the next one."""

    def __init__(self, source: str, path: object) -> None:
        self.source = source
        self.path = path
        self.kind = ""
        self.value = ""
        self._start = 0
        self._after = 0
        self._move_to(0)

    def fail(self, reason: str) -> NoReturn:
        """Refuse the file, pointing at the next token."""
        line = self.source.count("\n", 0, self._start) + 1
        column = self._start - self.source.rfind("\n", 0, self._start)
        raise InvalidFile(self.path, f"line {line}, column {column}: {reason}")

    def take(self) -> str:
        """Return the next token and move past it."""
        value = self.value
        self._move_to(self._after)
        return value

    def accept(self, mark: str) -> bool:
        """Move past `mark` if it is next."""
        if self.value == mark and self.kind != "text":
            self._move_to(self._after)
            return True
        return False

    def expect(self, mark: str, where: str) -> None:
        """Move past `mark`, which must be next."""
        if not self.accept(mark):
            self.fail(f"expected {mark!r} {where}, found {self.describe()}")

    def text(self, what: str) -> str:
        """Move past a text in double quotes and return what is between them."""
        if self.kind != "text":
            self.fail(f"expected {what} in double quotes, found {self.describe()}")
        inside = self.take()[1:-1]
        return _ESCAPE.sub(r"\1", inside) if "\\" in inside else inside

    def integer(self, what: str) -> int:
        """Move past a whole number of at least 0 and return it."""
        if self.kind != "number" or len(self.value) > MAX_INTEGER_DIGITS or not self.value.isdecimal():
            self.fail(f"expected {what}, a whole number of at least 0, found {self.describe()}")
        return int(self.take())

    def number(self, what: str) -> float:
        """Move past a number, possibly a fraction, and return it."""
        if self.kind != "number" or len(self.value) > MAX_NUMBER_LENGTH:
            self.fail(f"expected {what}, a number, found {self.describe()}")
        above, _, below = self.value.partition("/")
        try:
            if not below:
                value = float(above)
            elif above.lstrip("+-").isdecimal():
                value = int(above) / int(below)  # integers, so that it is rounded only once
            else:
                value = float(above) / int(below)
        except ZeroDivisionError:
            self.fail(f"{what} {self.value} divides by 0")
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            self.fail(f"{what} {self.describe()} is too large")
        self.take()
        return value

    def describe(self) -> str:
        """The next token as messages show it."""
        if self.kind == END:
            return "the end of the file"
        text = self.value if len(self.value) <= MAX_SHOWN_LENGTH else self.value[: MAX_SHOWN_LENGTH - 3] + "..."
        return " ".join(text.split())

    def _move_to(self, position: int) -> None:
        match = _TOKEN.match(self.source, position)
        if match is None:
            blank = _BLANK.match(self.source, position)
            self._start = blank.end() if blank else position
            if self.source[self._start] == '"':
                self.fail("this double quote is never closed")
            self.fail(f"unexpected character {self.source[self._start]!r}")
        self.kind = kind = match.lastgroup or END
        self.value = match[kind]
        self._start, self._after = match.span(kind)
