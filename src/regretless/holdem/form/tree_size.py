"""Limits on the size of a betting tree, checked while it is built, so that a tree that explodes is refused at once.

MAX_NODES      betting nodes, without cards. Each takes at least a row of numbers per runout and hand: a million take
                4 GB on a river with wide ranges, and terabytes on a flop.
MAX_DECISIONS  distinct decisions, which determine the cost of building: about 40 µs each. Trees repeat their parts:
                a tree of a million nodes has about 25,000 distinct decisions.
"""

from __future__ import annotations

from regretless.errors import RegretlessError
from regretless.forms.betting import Branch
from regretless.forms.public import NodeKind
from regretless.holdem.spots.spot_fields import PLAYERS, BettingTable, StreetName
from regretless.spelling import listed

__all__ = ["MAX_DECISIONS", "MAX_NODES", "TreeSize"]

MAX_NODES = 1_000_000
MAX_DECISIONS = 40_000


class TreeSize:
    """Nodes and decisions of a tree so far; raises as soon as there are too many."""

    def __init__(self, table: BettingTable) -> None:
        self.table = table
        self.decisions = 0
        self.nodes: dict[int, int] = {}  # by id of a decision, all of which stay alive meanwhile: nodes of its subtree

    def begin_decision(self) -> None:
        """Count a decision that is about to be built."""
        self.decisions += 1
        if self.decisions > MAX_DECISIONS:
            raise self._too_large(f"{MAX_DECISIONS:,} different decisions")

    def end_decision(self, branch: Branch) -> None:
        """Count the nodes of a decision whose children are complete."""
        nodes = 1 + sum(map(self._nodes, branch.children.values()))
        if nodes > MAX_NODES:
            raise self._too_large(f"{MAX_NODES:,} nodes")
        self.nodes[id(branch)] = nodes

    def _nodes(self, branch: Branch) -> int:
        above = 0  # chance nodes: one, or several after an all-in
        while branch.kind is NodeKind.CHANCE:
            above += 1
            branch = branch.children[""]
        return above + self.nodes.get(id(branch), 1)

    def _too_large(self, limit: str) -> RegretlessError:
        return RegretlessError(
            f"bets: the betting tree has more than {limit}, not counting cards: {_remedy(self.table)}"
        )


def _remedy(table: BettingTable) -> str:
    """What to remove: the longest lists of sizes, by kind and street; and whether a cap on raises would help."""
    lists_by_length: dict[tuple[int, str], list[str]] = {}  # number of sizes and kind -> streets
    for street in table.streets:
        for kind, longest in _longest_lists(table, street).items():
            if longest > 1:
                lists_by_length.setdefault((longest, kind), []).append(street)
    cap = (
        ", or cap the raises with max_raises" if any(_raises_freely(table, street) for street in table.streets) else ""
    )
    if not lists_by_length:
        return f"remove lines from [lines], or make the stack smaller in proportion to the pot{cap}"
    longest_first = sorted(lists_by_length.items(), key=lambda item: -item[0][0])[:3]
    lists = [f"the {count} {kind} sizes {_where(streets)}" for (count, kind), streets in longest_first]
    return f"remove some of {listed(lists)}{cap}"


def _longest_lists(table: BettingTable, street: StreetName) -> dict[str, int]:
    """The larger number of sizes that either player has on a street, by kind."""
    sizes = [table.of(street, player) for player in PLAYERS]
    return {
        "raise": max(len(each.raise_) for each in sizes),
        "reraise": max((len(list_) for each in sizes for list_ in each.reraise), default=0),
        "bet": max(len(each.bet) for each in sizes),
        "donk": max(len(each.donk or ()) for each in sizes),
    }


def _raises_freely(table: BettingTable, street: StreetName) -> bool:
    raises = any(table.of(street, player).raise_ for player in PLAYERS)
    return raises and table.of_street(street).max_raises is None


def _where(streets: list[str]) -> str:
    """The streets as a sentence names them.

    >>> _where(["flop", "turn"]), _where(["preflop", "river"])
    ('on the flop and turn', 'before the flop and on the river')
    """
    before = ["before the flop"] if "preflop" in streets else []
    after = [street for street in streets if street != "preflop"]
    return " and ".join([*before, f"on the {listed(after)}"] if after else before)
