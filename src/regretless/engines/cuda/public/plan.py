"""The betting tree as the kernels walk it, for the walks that update one player ("own"; the other is the opponent).

A *line* is one way to enter a street, with the subtree below it up to the next deal. A walk writes *rows*, each of one
number per hand:

- reach: one row for the first node of a line, and one for every action of the player whose reach it is. Own reach has a
  row only where something reads it. A line that is nothing but a showdown has none: it reads the row of the chance node
  above. (There, hands that the deal has blocked still have reach, but no list of hands contains them.)
- values: one row for every node.

On the last street, own reach and the values of decisions are read only by the thread or block that wrote them. If they
are few, it caches them in shared memory and nothing is written to device memory; rows that exist only there are
numbered −1, −2, … Before the last street, rows are cached and also written.

A decision whose player can fold or call into a showdown leads to two terminals with the same opposing reach, or nearly:
the two are evaluated together, as one terminal with a fold (`_find_fold_pairs`). Terminals of the last street are cut
into pieces of a few dozen, one for each block (`terminals.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regretless.engines.cuda.device import Records
from regretless.engines.cuda.public.live import StoredLayout
from regretless.engines.cuda.public.records import (
    DECISION,
    LEAF,
    LINE,
    MIXTURE,
    NOTHING,
    PAYS,
    STAKE,
    STREET,
    TERMINAL,
    Packed,
    pack,
)
from regretless.engines.cuda.public.terminals import Cut, LastTerminals, Panels
from regretless.engines.layout import Layout
from regretless.forms.public import NodeKind
from regretless.forms.walking import middle_of, terminal_pays, walking_order
from regretless.reprs import brief

__all__ = ["CudaWalkPlan", "make_plan"]

Int32 = NDArray[np.int32]

NEEDED_BITS = 32  # actions for which a decision says whether their reach is read; that of others is always stored
REMEMBERED_PLANS = 32
MAX_CACHED_ROWS = 24  # of a line, by the thread that walks it
LEVEL_ROWS = 512  # rows of reach that a block caches at most, if it walks a line level by level
INLINE = 4  # children whose rows are in the record of a decision; those of others are in `children`


@dataclass(frozen=True, eq=False)
class CudaWalkPlan:
    """The walks of one player: S streets, L lines."""

    streets: Records  #   [S]  STREET
    lines: Records  #     [L]  LINE
    decisions: Records  # DECISION, in walking order
    cached_rows: tuple[int, ...]  # [S]  the most rows of a line that a thread caches
    reach_rows: tuple[int, ...]  # [S]  the most rows of either player's reach in a line that a block caches
    longest: tuple[int, ...]  # [S]  the most decisions of a line
    line_order: Int32  #  [L]  the lines of each street, counted in it: long ones first, those of a shape together
    mixtures: Records  #  MIXTURE
    children: Int32  #    rows of values of their children
    leaves: Records  #    [folds and chance nodes before the last street]  LEAF, street by street
    leaf_first: tuple[int, ...]  # [S]  where those of a street begin; on the last street, how many there are
    terminals: LastTerminals
    earlier_rows: tuple[int, int, int]  # numbers in opponent's rows, own rows and values before the last street
    line_values: int  # numbers in values of lines before the last street
    own: int  # the player
    middle: float | None  # what a tie pays, if it pays the same everywhere (`middle_of`)
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

    def panels(self, hands: int, max_bytes: int) -> tuple[Panels, Packed]:
        """Terminals in panels of at most `max_bytes`, if the opponent has `hands` hands, and as tables."""
        key = hands, max_bytes
        if key not in self._panels:
            panels = self.terminals.panels(hands, max_bytes)
            tables = [(panels.panels, "panels"), (panels.stakes, "stakes")]
            self._panels[key] = panels, pack([(table, [(self.own, name)]) for table, name in tables])
        return self._panels[key]


_plans: dict[tuple[object, ...], CudaWalkPlan] = {}  # the latest, since spots of a batch often have the same betting


def make_plan(layout: Layout, own: int, stored: StoredLayout | None = None) -> CudaWalkPlan:
    """Lay out a form; nothing here grows with the runouts. `stored`: where numbers are on the device."""
    stored = StoredLayout(layout, None) if stored is None else stored
    tree, payoffs = layout.form.tree, layout.form.payoffs
    arrays = (tree.kind, tree.player, tree.street, tree.first_child, payoffs.win, payoffs.lose, payoffs.tie)
    sizes = *stored.hands.reshape(-1).tolist(), stored.live is None, *layout.runouts.tolist()
    key = (own, layout.form.part, *sizes, *(array.tobytes() for array in arrays))
    if key not in _plans:
        while len(_plans) >= REMEMBERED_PLANS:
            del _plans[next(iter(_plans))]
        _plans[key] = _Planner(layout, own, stored).plan()
    return _plans[key]


def _maxima(numbers: list[int], of_street: list[list[int]]) -> tuple[int, ...]:
    """The largest number of a line on each street."""
    return tuple(max((numbers[line] for line in each), default=0) for each in of_street)


class _Planner:
    """Numbers nodes in walking order: node i is `order[i]` of the form, `line_first[l]` the first node of line l."""

    def __init__(self, layout: Layout, own: int, stored: StoredLayout) -> None:
        tree, self.stored = layout.form.tree, stored
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
        self.cached_rows = [0] * len(self.line_street)  # of each line, by a thread that walks it alone,
        self.reach_rows = [0] * len(self.line_street)  # and by a block that walks it level by level
        self.leaves: list[tuple[int, int, int, float]] = []
        self.fold_of, self.mixed_folds = self._find_fold_pairs()
        self.paired_folds = set(self.fold_of.values())
        self.mixtures: list[tuple[float, ...]] = []
        self.terminals: list[tuple[int, int, int, int]] = []
        self.pays: list[tuple[float, ...]] = []
        self.middle = middle_of(layout.form, own)
        self.terminal_pays = terminal_pays(tree, layout.form.payoffs, own)
        self.stakes: list[tuple[float, ...]] = []

    def plan(self) -> CudaWalkPlan:
        """Number the rows, street by street."""
        layout, own = self.layout, self.own
        stored, hands = self.stored, (int(layout.hands[1 - own]), int(layout.hands[own]))
        last = len(layout.form.streets) - 1
        streets, lines = np.zeros(last + 1, dtype=STREET), np.zeros(len(self.line_street), dtype=LINE)
        leaf_first: list[int] = []
        orders: list[Int32] = []
        of_street: list[list[int]] = []
        shift = layout.part_shift(own)
        opponent_begin = own_begin = value_begin = line_begin = first_runout = 0
        for street, record in enumerate(streets):
            runouts, members = int(layout.runouts[street]), np.flatnonzero(self.line_street == street)
            record["first_runout"], record["first_line"] = first_runout, members[0] if len(members) else 0
            record["lines"], record["line_begin"] = len(members), line_begin
            record["walked"] = sum(not self._is_direct(line) for line in members.tolist())
            record["decided"] = sum(self.actor[self.line_first[line]] >= 0 for line in members.tolist())
            for who, player in (("own", own), ("other", 1 - own)):
                record[f"{who}_begin"] = stored.street_at[player, street]
                record[f"{who}_size"] = stored.runout_size[player, street]
                record[f"{who}_hands"] = stored.hands[player, street]
            record["has_places"] = stored.has_places(street)
            record["rounding_begin"] = layout.street_at[own, street] + shift[street]
            record["rounding_size"] = layout.runout_size[own, street]
            leaf_first.append(len(self.leaves))
            record["opponent_begin"], record["own_rows_begin"] = opponent_begin, own_begin
            record["value_begin"] = value_begin if street < last else 0  # those of the last street are elsewhere
            orders.append(self._order(members))
            of_street.append(members.tolist())
            record["opponent_rows"], record["own_rows"], record["value_rows"] = self._street(members.tolist(), lines)
            first_runout += runouts
            if street < last:
                line_begin += runouts * len(members) * hands[1]
                opponent_begin += runouts * int(record["opponent_rows"]) * hands[0]
                own_begin += runouts * int(record["own_rows"]) * hands[1]
                value_begin += runouts * int(record["value_rows"]) * hands[1]
        return CudaWalkPlan(
            streets=streets,
            lines=lines,
            decisions=np.array(self.decisions, dtype=DECISION),
            cached_rows=_maxima(self.cached_rows, of_street),
            reach_rows=_maxima(self.reach_rows, of_street),
            longest=_maxima((lines["last_decision"] - lines["first_decision"]).tolist(), of_street),
            line_order=np.concatenate(orders),
            mixtures=np.array(self.mixtures, dtype=MIXTURE),
            children=np.array(self.child_rows, dtype=np.int32),
            leaves=np.array(self.leaves, dtype=LEAF),
            leaf_first=tuple(leaf_first),
            terminals=LastTerminals(
                np.array(self.terminals, dtype=TERMINAL),
                np.array(self.pays).reshape(-1, len(PAYS)).T,
                np.array(self.stakes, dtype=STAKE),
            ),
            earlier_rows=(opponent_begin, own_begin, value_begin),
            line_values=line_begin,
            own=own,
            middle=self.middle,
        )

    def _order(self, members: NDArray[np.int64]) -> Int32:
        """The lines of a street in the order in which threads take them."""

        def shape(number: int) -> tuple[bool, int, list[tuple[int, int]]]:
            line = members[number]
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
            cached, before = self._is_cached(nodes, slots), tuple(used)
            own_used = [0] if cached else used[1:]
            direct = self._is_direct(line)
            self.reach_row[0][entry] = ~self.reach_row[0][above] if direct else used[0]
            self.reach_row[1][entry] = ~own_used[0] if cached else own_used[0]
            used[0] += not direct
            own_used[0] += 1
            decided = [node for node in nodes if self.kind[node] == NodeKind.DECISION]
            cached_row = slots if cached else {node: row for row, node in enumerate(decided[:MAX_CACHED_ROWS])}
            value_row = {node: node - start for node in nodes} | {node: ~row for node, row in cached_row.items()}
            value_row |= {node: NOTHING for node in nodes if node in self.mixed_folds}
            cached_reach = min(self._own_rows(nodes), MAX_CACHED_ROWS)
            self.cached_rows[line] = max(max(cached_row.values(), default=-1) + 1, cached_reach)
            levels = self._levels(nodes)
            record["levels"] = max((height + 1 for _, height in levels.values()), default=0)
            record["opponent_row"], record["own_row"] = self.reach_row[0][entry], self.reach_row[1][entry]
            record["root"], record["first_decision"] = value_row[entry], len(self.decisions)
            for node in nodes:
                if self.kind[node] == NodeKind.DECISION:
                    own_row = -1 if cached else node - start
                    self._decision(node, value_row, own_row, cached_row.get(node, -1), levels[node], used, own_used)
                else:
                    self._leaf(node, start)
            record["last_decision"] = len(self.decisions)
            if not cached:
                used[1] = own_used[0]
            self.reach_rows[line] = min(max(used[0] - before[0], self._own_rows(nodes)), LEVEL_ROWS)
        return used[0], used[1], sum(self.line_first[line + 1] - self.line_first[line] for line in members)

    def _is_direct(self, line: int) -> bool:
        """Whether a line is nothing but a showdown, which then reads the reach of the chance node above it."""
        return self.line_above[line] >= 0 and self.kind[self.line_first[line]] == NodeKind.SHOWDOWN

    def _line_of(self, node: int) -> int:
        """The line, counted in its street, that is nothing but this terminal; -1 if there is none."""
        line = int(np.searchsorted(self.line_first, node))
        if self.line_first[line] != node:
            return -1
        return line - int(np.flatnonzero(self.line_street == self.line_street[line])[0])

    def _is_cached(self, nodes: range, slots: dict[int, int]) -> bool:
        """Whether a line's own reach and the values of its decisions are only in the cache of a thread."""
        if self.tree.street[self.order[nodes[0]]] + 1 < len(self.layout.form.streets):
            return False
        return max(self._own_rows(nodes), 1 + max(slots.values(), default=-1)) <= MAX_CACHED_ROWS

    def _value_slots(self, nodes: range) -> dict[int, int]:
        """The cached rows in which a thread that walks up stores the values of a line's decisions.

        Rows are shared with the own reach that the thread cached on the way down. It reads that again, on the way up,
        at own decisions below which nothing reads own reach, because it updates their averages only then. So a value
        must not be stored in such a row before the decision that still reads it has been walked.
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
            occupied = {*slots.values(), *(row for row, reader in first_reader.items() if reader < node)}
            slots[node] = next(slot for slot in range(2 * len(occupied) + 1) if slot not in occupied)
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
        own_row: int,
        cached_row: int,
        levels: tuple[int, int],
        used: list[int],
        own_used: list[int],
    ) -> None:
        below, mine, cached = self.children[node], self.actor[node] == self.own, own_row < 0
        rows_below = [value_row[child] for child in below]
        rows, others = self.reach_row[mine], self.reach_row[not mine]
        numbers = own_used if mine else used
        needed = self._needed(node)
        bits = sum(1 << action for action, need in enumerate(needed[:NEEDED_BITS]) if need)
        child_reach = ~numbers[0] if mine and cached else numbers[0]
        self.decisions.append(
            (
                int(self.stored.block[self.order[node]]),
                len(below),
                int(mine),
                rows[node],
                child_reach,
                len(self.child_rows),
                own_row,
                self.order[node],
                int(np.uint32(bits).astype(np.int32)) if mine else self._mixture(node),
                cached_row,
                *(rows_below + [0] * INLINE)[:INLINE],
                *levels,
                int(self.stored.before[self.order[node]]),
            )
        )
        self.child_rows += rows_below
        for child, need in zip(below, needed, strict=True):
            others[child] = others[node]
            if need:
                rows[child] = ~numbers[0] if mine and cached else numbers[0]
                numbers[0] += 1

    def _mixture(self, node: int) -> int:
        """The mixture of an opponent's decision, or -1."""
        below = self.children[node]
        fold = next((child for child in below if child in self.mixed_folds), None)
        if fold is None:
            return -1
        call = next(child for child in below if self.fold_of.get(child) == fold)
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
        elif node not in self.paired_folds:
            self._terminal(node, start, self.fold_of.get(node))

    def _terminal(self, node: int, start: int, fold: int | None) -> None:
        """A terminal of the last street; `fold` is the fold that is evaluated with it."""
        weaker, equal, everyone = self._pay(node)
        mixture, fold_value, own_fold = -1, -1, 0.0
        if fold is not None and fold in self.mixed_folds:
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
        """Half of the difference between winning and losing: what a win pays more than a tie that lies midway."""
        weaker, equal, _ = self._pay(showdown)
        return (weaker + equal) / 2

    def _pay(self, node: int) -> tuple[float, float, float]:
        """What the own player gets per reach of weaker hands, of weaker or equal ones, and of all hands."""
        weaker, equal, everyone = self.terminal_pays[:, self.order[node]].tolist()
        return weaker, equal, everyone

    def _find_fold_pairs(self) -> tuple[dict[int, int], set[int]]:
        """For showdowns of the last street, a fold after the same decision; and which of these folds are mixed.

        After an own decision, both terminals have the same opposing reach, and the fold has a value of its own. After
        the opponent's, nothing needs the two values apart, so the reach of the fold is *mixed* with that of the call.
        """
        fold_of: dict[int, int] = {}
        mixed_folds: set[int] = set()
        for node, below in enumerate(self.children):
            if self.tree.street[self.order[node]] + 1 < len(self.layout.form.streets):
                continue
            folds, showdowns = (
                [k for k in below if self.kind[k] == kind] for kind in (NodeKind.FOLD, NodeKind.SHOWDOWN)
            )
            if folds and showdowns:
                fold_of[showdowns[0]] = folds[0]
                if self.actor[node] != self.own:
                    mixed_folds.add(folds[0])
        return fold_of, mixed_folds

    def _find_needs(self) -> list[bool]:
        """Whether anything at or below a node reads the own reach: an own decision, or a chance node."""
        needs: list[bool] = [False] * len(self.order)
        for node in reversed(range(len(self.order))):
            reads = self.actor[node] == self.own or self.kind[node] == NodeKind.CHANCE
            needs[node] = reads or any(needs[child] for child in self.children[node])
        return needs
