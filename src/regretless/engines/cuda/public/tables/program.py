"""The betting tree as kernels walk it, for the walks that update one player.

Every street has a row of reach for the first node of every line and for every action of the player it belongs to (of
the own player: if anything reads it), and a row of values for every node. A line that is a showdown alone has no row of
reach: it reads that of the chance node above, where hands that have become impossible do no harm, because no list of
hands has them. On the last street, own reach and the values of decisions are read only by the thread or block that
wrote them, so if they are few, it keeps them: such rows are numbered −1, −2, … Before the last street, rows are kept
too, and written as well. Terminals of the last street are evaluated in pieces, a few dozen at a time; a fold beside a
showdown, which calling leads to instead, is evaluated with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regretless.engines.cuda.public.tables.packing import Packed, pack
from regretless.engines.cuda.public.tables.records import (
    DECISION,
    LEAF,
    LINE,
    MIXTURE,
    NOTHING,
    PAYS,
    STAKE,
    STREET,
    TERMINAL,
)
from regretless.engines.cuda.public.tables.terminals import Cut, Panels, Terminals
from regretless.engines.layout import Layout
from regretless.forms.public import NodeKind
from regretless.forms.walking import middle_of, walking_order
from regretless.reprs import brief

__all__ = ["Plan", "make_plan"]

Records = NDArray[np.void]
Int32 = NDArray[np.int32]

NEEDED_BITS = 32  # actions whose need is noted; any others are stored without asking
KEPT_PLANS = 32
KEPT = 24  # rows of a line that a thread keeps at most, in shared memory
LEVEL_ROWS = 512  # rows of reach that a block keeps at most, if it walks a line level by level
INLINE = 4  # children that a decision itself names


@dataclass(frozen=True, eq=False)
class Plan:
    """The walks of one player: S streets, L lines."""

    streets: Records  #   [S]  STREET
    lines: Records  #     [L]  LINE
    decisions: Records  # DECISION, in walking order
    kept: tuple[int, ...]  # [S]  the most rows that a thread keeps
    reach_rows: tuple[int, ...]  # [S]  the most rows of either player's reach in a line that a block keeps
    longest: tuple[int, ...]  # [S]  the most decisions of a line
    line_order: Int32  #  [L]  the lines of each street, counted in it: long ones first, those of a shape together
    mixtures: Records  #  MIXTURE
    children: Int32  #    rows of values of their children
    leaves: Records  #    [folds and chance nodes before the last street]  LEAF, street by street
    leaf_first: tuple[int, ...]  # [S]  where those of a street begin; on the last street, how many there are
    terminals: Terminals
    earlier_rows: tuple[int, int, int]  # numbers in opponent's rows, own rows and values before the last street
    line_values: int  # numbers in values of lines
    own: int  # the player
    middle: float | None  # what a tie is worth, if `middle_of` finds it
    _cuts: dict[int, tuple[Cut, Packed]] = field(default_factory=dict)
    _panels: dict[tuple[int, int], tuple[Panels, Packed]] = field(default_factory=dict)

    __repr__ = brief

    @cached_property
    def packed(self) -> Packed:
        """The tables of the plan, which all spots with it share."""
        names = ("streets", "lines", "decisions", "leaves", "line_order", "mixtures", "children")
        tables = [(getattr(self, name), [(self.own, name)]) for name in names]
        return pack(tables)

    def cut(self, width: int) -> tuple[Cut, Packed]:
        """Terminals in pieces of at most `width`, and as tables; cached, since many spots need the same."""
        if width not in self._cuts:
            cut = self.terminals.cut(width)
            records = self.terminals.records[cut.order]
            tables = [(cut.pieces, "pieces"), (records, "terminals"), (cut.pays, "pays")]
            self._cuts[width] = cut, pack([(table, [(self.own, name)]) for table, name in tables])
        return self._cuts[width]

    def panels(self, hands: int, most_bytes: int) -> tuple[Panels, Packed]:
        """Terminals in panels of at most `most_bytes`, if the opponent has `hands` hands, and as tables."""
        key = hands, most_bytes
        if key not in self._panels:
            panels = self.terminals.panels(hands, most_bytes)
            tables = [(panels.panels, "panels"), (panels.stakes, "stakes")]
            self._panels[key] = panels, pack([(table, [(self.own, name)]) for table, name in tables])
        return self._panels[key]


_plans: dict[tuple[object, ...], Plan] = {}  # the latest, since spots of a batch often have the same betting


def make_plan(layout: Layout, own: int) -> Plan:
    """Lay out a form; nothing here grows with the runouts."""
    tree, payoffs = layout.form.tree, layout.form.payoffs
    arrays = (tree.kind, tree.player, tree.street, tree.first_child, payoffs.win, payoffs.lose, payoffs.tie)
    key = (own, *layout.hands.tolist(), *layout.runouts.tolist(), *(array.tobytes() for array in arrays))
    if key not in _plans:
        while len(_plans) >= KEPT_PLANS:
            del _plans[next(iter(_plans))]
        _plans[key] = _Planner(layout, own).plan()
    return _plans[key]


def _most(numbers: list[int], of_street: list[list[int]]) -> tuple[int, ...]:
    """The largest number of a line on each street."""
    return tuple(max((numbers[line] for line in each), default=0) for each in of_street)


class _Planner:
    """The betting tree in walking order: node i is `order[i]` of the form, `line_first[l]` the first node of line l."""

    def __init__(self, layout: Layout, own: int) -> None:
        tree = layout.form.tree
        self.tree, self.layout, self.own = tree, layout, own
        order = walking_order(tree)
        self.order: list[int] = order.node.tolist()
        self.kind: list[int] = order.kind.tolist()
        self.actor: list[int] = order.actor.tolist()
        self.children = order.children
        self.line_first: list[int] = order.line_start.tolist()
        self.line_above: list[int] = order.line_above.tolist()
        self.line_below = {chance: line for line, chance in enumerate(self.line_above) if chance >= 0}
        self.line_street = order.line_street
        self.reach_row = ([0] * len(self.order), [0] * len(self.order))  # of the opponent's and of the own reach
        self.needs = self._find_needs()
        self.decisions: list[tuple[int, ...]] = []
        self.child_rows: list[int] = []
        self.kept = [0] * len(self.line_street)  # rows that threads keep of each line,
        self.reach_rows = [0] * len(self.line_street)  # and that blocks keep
        self.leaves: list[tuple[int, int, int, float]] = []
        self.beside, self.mixed = self._find_beside()
        self.included = set(self.beside.values())
        self.mixtures: list[tuple[float, ...]] = []
        self.terminals: list[tuple[int, int, int, int]] = []
        self.pays: list[tuple[float, ...]] = []
        self.middle = middle_of(layout.form, own)
        self.stakes: list[tuple[float, ...]] = []

    def plan(self) -> Plan:
        """Number the rows, street by street."""
        layout, own = self.layout, self.own
        hands = int(layout.hands[1 - own]), int(layout.hands[own])
        last = len(layout.form.streets) - 1
        streets, lines = np.zeros(last + 1, dtype=STREET), np.zeros(len(self.line_street), dtype=LINE)
        leaf_first: list[int] = []
        orders: list[Int32] = []
        of_street: list[list[int]] = []
        opponent_at = own_at = value_at = line_at = first_runout = 0
        for street, record in enumerate(streets):
            runouts, members = int(layout.runouts[street]), np.flatnonzero(self.line_street == street)
            record["first_runout"], record["first_line"] = first_runout, members[0] if len(members) else 0
            record["lines"], record["line_at"] = len(members), line_at
            record["walked"] = sum(not self._is_direct(line) for line in members.tolist())
            record["decided"] = sum(self.actor[self.line_first[line]] >= 0 for line in members.tolist())
            for who, player in (("own", own), ("other", 1 - own)):
                record[f"{who}_at"] = layout.street_at[player, street]
                record[f"{who}_size"] = layout.runout_size[player, street]
            leaf_first.append(len(self.leaves))
            record["opponent_at"], record["own_at_rows"] = opponent_at, own_at
            record["value_at"] = value_at if street < last else 0  # those of the last street are elsewhere
            orders.append(self._order(members))
            of_street.append(members.tolist())
            record["opponent_rows"], record["own_rows"], record["value_rows"] = self._street(members.tolist(), lines)
            first_runout += runouts
            line_at += runouts * len(members) * hands[1]
            if street < last:
                opponent_at += runouts * int(record["opponent_rows"]) * hands[0]
                own_at += runouts * int(record["own_rows"]) * hands[1]
                value_at += runouts * int(record["value_rows"]) * hands[1]
        return Plan(
            streets=streets,
            lines=lines,
            decisions=np.array(self.decisions, dtype=DECISION),
            kept=_most(self.kept, of_street),
            reach_rows=_most(self.reach_rows, of_street),
            longest=_most((lines["last_decision"] - lines["first_decision"]).tolist(), of_street),
            line_order=np.concatenate(orders),
            mixtures=np.array(self.mixtures, dtype=MIXTURE),
            children=np.array(self.child_rows, dtype=np.int32),
            leaves=np.array(self.leaves, dtype=LEAF),
            leaf_first=tuple(leaf_first),
            terminals=Terminals(
                np.array(self.terminals, dtype=TERMINAL),
                np.array(self.pays).reshape(-1, len(PAYS)).T,
                np.array(self.stakes, dtype=STAKE),
            ),
            earlier_rows=(opponent_at, own_at, value_at),
            line_values=line_at,
            own=own,
            middle=self.middle,
        )

    def _order(self, members: NDArray[np.int64]) -> Int32:
        """The lines of a street in the order in which threads take them."""

        def shape(place: int) -> tuple[bool, int, list[tuple[int, int]]]:
            line = members[place]
            decisions = [
                (self.actor[node], len(self.children[node]))
                for node in range(self.line_first[line], self.line_first[line + 1])
                if self.kind[node] == NodeKind.DECISION
            ]
            return self._is_direct(line), -len(decisions), decisions

        return np.array(sorted(range(len(members)), key=shape), dtype=np.int32)

    def _street(self, members: list[int], lines: Records) -> tuple[int, int, int]:
        """Records of a street's lines; returns the opponent's rows, own rows and values of a runout."""
        used = [0, 0]
        start = self.line_first[members[0]] if members else 0
        for line in members:
            entry, record, above = self.line_first[line], lines[line], self.line_above[line]
            if above >= 0:
                record["above_opponent"], record["above_own"] = self.reach_row[0][above], self.reach_row[1][above]
            nodes = range(entry, self.line_first[line + 1])
            slots = self._value_slots(nodes)
            keeps, before = self._keeps(nodes, slots), tuple(used)
            own_used = [0] if keeps else used[1:]
            direct = self._is_direct(line)
            self.reach_row[0][entry] = ~self.reach_row[0][above] if direct else used[0]
            self.reach_row[1][entry] = ~own_used[0] if keeps else own_used[0]
            used[0] += not direct
            own_used[0] += 1
            decided = [node for node in nodes if self.kind[node] == NodeKind.DECISION]
            kept = slots if keeps else {node: index for index, node in enumerate(decided) if index < KEPT}
            value_row = {node: node - start for node in nodes} | {node: ~index for node, index in kept.items()}
            value_row |= {node: NOTHING for node in nodes if node in self.mixed}
            self.kept[line] = max(max(kept.values(), default=-1) + 1, min(self._own_rows(nodes), KEPT))
            levels = self._levels(nodes)
            record["levels"] = max((height + 1 for _, height in levels.values()), default=0)
            record["opponent_row"], record["own_row"] = self.reach_row[0][entry], self.reach_row[1][entry]
            record["root"], record["first_decision"] = value_row[entry], len(self.decisions)
            for node in nodes:
                if self.kind[node] == NodeKind.DECISION:
                    place = -1 if keeps else node - start
                    self._decision(node, value_row, place, kept.get(node, -1), levels[node], used, own_used)
                else:
                    self._leaf(node, start)
            record["last_decision"] = len(self.decisions)
            if not keeps:
                used[1] = own_used[0]
            self.reach_rows[line] = min(max(used[0] - before[0], self._own_rows(nodes)), LEVEL_ROWS)
        return used[0], used[1], sum(self.line_first[line + 1] - self.line_first[line] for line in members)

    def _is_direct(self, line: int) -> bool:
        """Whether a line is a showdown alone, which reads the reach of the chance node above it."""
        return self.line_above[line] >= 0 and self.kind[self.line_first[line]] == NodeKind.SHOWDOWN

    def _line_of(self, node: int) -> int:
        """The line, counted in its street, that is this terminal alone; or -1."""
        line = int(np.searchsorted(self.line_first, node))
        if self.line_first[line] != node:
            return -1
        return line - int(np.flatnonzero(self.line_street == self.line_street[line])[0])

    def _keeps(self, nodes: range, slots: dict[int, int]) -> bool:
        """Whether only a thread has a line's own reach and the values of its decisions."""
        if self.tree.street[self.order[nodes[0]]] + 1 < len(self.layout.form.streets):
            return False
        return max(self._own_rows(nodes), 1 + max(slots.values(), default=-1)) <= KEPT

    def _value_slots(self, nodes: range) -> dict[int, int]:
        """Where a thread that walks up keeps the values of a line's decisions: not where it still needs own reach.

        It does at own decisions that nothing below needs reach of, whose averages it updates on the way up.
        """
        decided = [node for node in nodes if self.kind[node] == NodeKind.DECISION]
        row, rows = {nodes[0]: 0}, 1
        first_reader: dict[int, int] = {}
        for node in decided:
            mine = self.actor[node] == self.own
            needed = self._needed(node)
            if mine and not any(needed):
                first_reader.setdefault(row[node], node)
            for child, need in zip(self.children[node], needed, strict=True):
                row[child] = rows if mine and need else row[node]
                rows += mine and need
        slots: dict[int, int] = {}
        for node in reversed(decided):
            taken = {*slots.values(), *(row for row, reader in first_reader.items() if reader < node)}
            slots[node] = next(slot for slot in range(2 * len(taken) + 1) if slot not in taken)
        return slots

    def _levels(self, nodes: range) -> dict[int, tuple[int, int]]:
        """The depth and height of each decision of a line, as in `DECISION`."""
        above = {nodes[0]: (0, 0)}
        heights: dict[int, int] = {}
        for node in nodes:
            for child in self.children[node]:
                first, second = above[node]
                above[child] = (first + 1, second) if self.actor[node] == 0 else (first, second + 1)
        for node in reversed(nodes):
            if self.kind[node] == NodeKind.DECISION:
                heights[node] = max(
                    (1 + heights[child] for child in self.children[node] if child in heights), default=0
                )
        return {node: (above[node][self.actor[node]], height) for node, height in heights.items()}

    def _own_rows(self, nodes: range) -> int:
        """Rows of own reach of a line."""
        return 1 + sum(sum(self._needed(node)) for node in nodes if self.actor[node] == self.own)

    def _needed(self, node: int) -> list[bool]:
        """Whether each child of a decision has a row of the actor's reach."""
        mine = self.actor[node] == self.own
        return [
            not mine or self.needs[child] or action >= NEEDED_BITS for action, child in enumerate(self.children[node])
        ]

    def _decision(
        self,
        node: int,
        value_row: dict[int, int],
        place: int,
        kept: int,
        levels: tuple[int, int],
        used: list[int],
        own_used: list[int],
    ) -> None:
        below, mine, keeps = self.children[node], self.actor[node] == self.own, place < 0
        rows_below = [value_row[child] for child in below]
        rows, others = self.reach_row[mine], self.reach_row[not mine]
        numbers = own_used if mine else used
        needed = self._needed(node)
        bits = sum(1 << action for action, need in enumerate(needed[:NEEDED_BITS]) if need)
        to = ~numbers[0] if mine and keeps else numbers[0]
        self.decisions.append(
            (
                int(self.layout.block[self.order[node]]),
                len(below),
                int(mine),
                rows[node],
                to,
                len(self.child_rows),
                place,
                self.order[node],
                int(np.uint32(bits).astype(np.int32)) if mine else self._mixture(node),
                kept,
                *(rows_below + [0] * INLINE)[:INLINE],
                *levels,
            )
        )
        self.child_rows += rows_below
        for child, need in zip(below, needed, strict=True):
            others[child] = others[node]
            if need:
                rows[child] = ~numbers[0] if mine and keeps else numbers[0]
                numbers[0] += 1

    def _mixture(self, node: int) -> int:
        """The mixture of an opponent's decision, or -1."""
        below = self.children[node]
        fold = next((child for child in below if child in self.mixed), None)
        if fold is None:
            return -1
        call = next(child for child in below if self.beside.get(child) == fold)
        lose = self._pay(call)[2]
        pay = self._pay(fold)[2]
        share = 0.0 if self.middle is None else (pay - self.middle) / self._stake(call)
        self.mixtures.append((below.index(fold), below.index(call), pay, lose, share, 0, 0, 0))
        return len(self.mixtures) - 1

    def _leaf(self, node: int, start: int) -> None:
        reach, street = self.reach_row[0][node], int(self.tree.street[self.order[node]])
        if node in self.line_below:
            first = int(np.flatnonzero(self.line_street == street + 1)[0])
            self.leaves.append((reach, node - start, self.line_below[node] - first, 0.0))
        elif street + 1 < len(self.layout.form.streets):
            self.leaves.append((reach, node - start, -1, self._pay(node)[2]))
        elif node not in self.included:
            self._terminal(node, start, self.beside.get(node))

    def _terminal(self, node: int, start: int, fold: int | None) -> None:
        """A terminal of the last street, with a fold beside it or without."""
        weaker, equal, everyone = self._pay(node)
        mixture, fold_value, own_fold = -1, -1, 0.0
        if fold is not None and fold in self.mixed:
            mixture, everyone = self.reach_row[0][fold], 1.0
        elif fold is not None:
            fold_value, own_fold = fold - start, self._pay(fold)[2]
        reach, value = self.reach_row[0][node], node - start
        self.terminals.append((reach, value, mixture, fold_value))
        self.pays.append((weaker, equal, everyone, own_fold))
        middle = self.middle or 0.0
        if self.kind[node] == NodeKind.FOLD:
            self.stakes.append((reach, -1, -1, value, 0.0, everyone - middle, -1, 0))
            return
        line = self._line_of(node)
        self.stakes.append((reach, mixture, value, fold_value, self._stake(node), own_fold - middle, line, 0))

    def _stake(self, showdown: int) -> float:
        """What winning is worth to the own player, less a tie, if that is midway."""
        weaker, equal, _ = self._pay(showdown)
        return (weaker + equal) / 2

    def _pay(self, node: int) -> tuple[float, float, float]:
        """What reach of weaker hands, of weaker or equal ones, and of all is worth to the own player."""
        payoffs, at, own = self.layout.form.payoffs, self.order[node], self.own
        win, lose, tie = (float(each[at, own]) for each in (payoffs.win, payoffs.lose, payoffs.tie))
        if self.kind[node] == NodeKind.FOLD:
            return 0.0, 0.0, lose if self.tree.player[at] == own else win
        return win - tie, tie - lose, lose

    def _find_beside(self) -> tuple[dict[int, int], set[int]]:
        """For showdowns of the last street, a fold after the same decision; and which folds the opponent decides."""
        found: dict[int, int] = {}
        mixed: set[int] = set()
        for node, below in enumerate(self.children):
            if self.tree.street[self.order[node]] + 1 < len(self.layout.form.streets):
                continue
            folds, showdowns = (
                [k for k in below if self.kind[k] == kind] for kind in (NodeKind.FOLD, NodeKind.SHOWDOWN)
            )
            if folds and showdowns:
                found[showdowns[0]] = folds[0]
                mixed |= set(folds[:1]) if self.actor[node] != self.own else set()
        return found, mixed

    def _find_needs(self) -> list[bool]:
        """Whether anything at or below a node reads the own reach: an own decision, or a chance node."""
        needs: list[bool] = [False] * len(self.order)
        for node in reversed(range(len(self.order))):
            reads = self.actor[node] == self.own or self.kind[node] == NodeKind.CHANCE
            needs[node] = reads or any(needs[child] for child in self.children[node])
        return needs
