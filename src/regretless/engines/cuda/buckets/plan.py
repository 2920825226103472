"""The betting tree as the kernels walk it.

A *line* is one way to enter a street, with the subtree below it up to the next deal. Its *leaves* are showdowns, folds
and exits: chance nodes, each of which leads to a line of the next street. Nodes are numbered line by line, parents
first and siblings adjacent. Leaves are numbered within their street: all showdowns, then all folds, then all exits,
each in the order of lines, so that exit x leads to line x of the next street.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.bucket_tables import TableLayout
from regretless.forms.public import NodeKind
from regretless.variants.variant import Weights

__all__ = [
    "FACTORS", "LINE", "LOSE", "NODE", "SAME", "TIE", "WIN", "WIN_AT_ONCE", "CudaBucketPlan", "StreetPlan", "make_plan",
    "records_source",
]  # fmt: skip

LOSE, TIE, WIN, WIN_AT_ONCE, SAME, NONE = range(6)  # rows of `StreetPlan.pays`; `kernels/terminals.cu` applies them
FACTORS = 6

LEAVES = (NodeKind.SHOWDOWN, NodeKind.FOLD, NodeKind.CHANCE)  # in the order of their numbers

Int32 = NDArray[np.int32]

NODE = np.dtype(
    [
        ("table", np.int64),  # where a decision begins in the tables of its player
        ("player", np.int32),  # who acts; -1 at a leaf
        ("actions", np.int32),
        ("child", np.int32),  # the first one, numbered within the line
        ("leaf", np.int32),
    ],
    align=True,
)
LINE = np.dtype(  # for one player: players may differ in buckets
    [
        ("rows", np.int64),  # where its rows [node][bucket] begin
        ("leaf_rows", np.int64),  # where the rows of its street over leaves and buckets begin
        ("line_rows", np.int64),  # where its row [bucket] among all lines begins
        ("first", np.int32),  # its first node
        ("nodes", np.int32),
        ("buckets", np.int32),
        ("leaves", np.int32),  # of its street
    ],
    align=True,
)
C_TYPES = {"i4": "int", "i8": "long long"}


@dataclass(frozen=True)
class StreetPlan:
    """A street with L lines and E leaves."""

    lines: int
    counts: tuple[int, int, int]  # showdowns, folds, exits
    first: Int32  # [3, L + 1]  the leaves of each kind of a line are first[kind, line] : first[kind, line + 1]
    line_of_leaf: Int32  # [E]
    line_above: Int32  # [L]  the line of the street before that leads to each
    pays: NDArray[np.float64]  # [2, FACTORS, E] per player

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return sum(self.counts)

    @property
    def first_exit(self) -> int:
        """Number of the first leaf that is an exit."""
        return self.counts[0] + self.counts[1]


@dataclass(frozen=True)
class CudaBucketPlan:
    """The tree with its N nodes."""

    streets: list[StreetPlan]
    nodes: NDArray[np.void]  # [N] of NODE
    lines: tuple[NDArray[np.void], NDArray[np.void]]  # per player, all lines, of LINE
    row_numbers: tuple[int, int]  # per player: numbers in rows [node][bucket] of all nodes
    leaf_numbers: tuple[int, int]  # in rows over the leaves and buckets of all streets
    line_numbers: tuple[int, int]  # in rows [bucket] of all lines
    leaf_rows: tuple[tuple[int, ...], tuple[int, ...]]  # where those of a street begin
    line_rows: tuple[tuple[int, ...], tuple[int, ...]]


def records_source() -> str:
    """NODE, LINE and the numbers of a variant as C structs."""

    def struct(name: str, record: np.dtype[np.void]) -> str:
        assert record.names is not None
        fields = "".join(f" {C_TYPES[record[field].str[1:]]} {field};" for field in record.names)
        return f"struct {name} {{{fields} }};\n"

    weights = f"struct Weights {{ float {', '.join(Weights._fields)}; }};\n"
    return struct("Node", NODE) + struct("Line", LINE) + weights


class _PlayerRows(NamedTuple):
    """What `CudaBucketPlan` has per player, under the same names."""

    lines: NDArray[np.void]
    row_numbers: int
    leaf_numbers: int
    line_numbers: int
    leaf_rows: tuple[int, ...]
    line_rows: tuple[int, ...]


def make_plan(layout: TableLayout) -> CudaBucketPlan:
    """The plan of a form."""
    tree, buckets = layout.form.tree, layout.form.buckets
    kind, first_child = tree.kind.tolist(), tree.first_child.tolist()
    entries, above = [0], [-1]
    streets: list[StreetPlan] = []
    rows: list[tuple[int, ...]] = []  # of NODE
    sizes: list[list[int]] = []  # nodes of each line, per street
    while entries:
        leaves: list[list[tuple[int, int]]] = [[], [], []]  # (line, node) of each kind
        ends = np.zeros((3, len(entries) + 1), dtype=np.int64)
        numbered: list[tuple[int, int, int]] = []  # node, first child within the line, number among leaves of its kind
        sizes.append([])
        for line, entry in enumerate(entries):
            order = [entry]
            for node in order:  # grows during the loop
                if kind[node] == NodeKind.DECISION:
                    numbered.append((node, len(order), -1))
                    order.extend(range(first_child[node], first_child[node + 1]))
                else:
                    same_kind = leaves[LEAVES.index(kind[node])]
                    numbered.append((node, 0, len(same_kind)))
                    same_kind.append((line, node))
            sizes[-1].append(len(order))
            ends[:, line + 1] = [len(each) for each in leaves]
        counts = len(leaves[0]), len(leaves[1]), len(leaves[2])
        begins = np.cumsum([0, *counts])[:3]
        for node, child, number in numbered:
            leaf = -1 if number < 0 else number + int(begins[LEAVES.index(kind[node])])
            player = int(tree.player[node]) if number < 0 else -1
            rows.append((int(layout.begin[node]), player, int(layout.actions[node]), child, leaf))
        in_order = [leaf for of_kind in leaves for leaf in of_kind]
        streets.append(
            StreetPlan(
                lines=len(entries),
                counts=counts,
                first=(ends + begins[:, None]).astype(np.int32),
                line_of_leaf=np.array([line for line, _ in in_order], dtype=np.int32),
                line_above=np.array(above, dtype=np.int32),
                pays=np.stack([_pays(layout, [node for _, node in in_order], own) for own in range(2)]),
            )
        )
        above = [line for line, _ in leaves[2]]
        entries = [first_child[node] for _, node in leaves[2]]
    first, second = (_rows_of(streets, sizes, buckets[player]) for player in range(2))
    return CudaBucketPlan(
        streets=streets,
        nodes=np.array(rows, dtype=NODE),
        lines=(first.lines, second.lines),
        row_numbers=(first.row_numbers, second.row_numbers),
        leaf_numbers=(first.leaf_numbers, second.leaf_numbers),
        line_numbers=(first.line_numbers, second.line_numbers),
        leaf_rows=(first.leaf_rows, second.leaf_rows),
        line_rows=(first.line_rows, second.line_rows),
    )


def _rows_of(streets: list[StreetPlan], sizes: list[list[int]], buckets: tuple[int, ...]) -> _PlayerRows:
    """Where a player's rows are, given `sizes`, the nodes of each line by street, and buckets by street."""
    records: list[tuple[int, ...]] = []  # of LINE
    leaf_rows, line_rows = [0], [0]
    first = row = 0
    for street, count, nodes_of in zip(streets, buckets[: len(streets)], sizes, strict=True):
        for line, nodes in enumerate(nodes_of):
            records.append((row, leaf_rows[-1], line_rows[-1] + line * count, first, nodes, count, street.leaves))
            first += nodes
            row += nodes * count
        leaf_rows.append(leaf_rows[-1] + street.leaves * count)
        line_rows.append(line_rows[-1] + street.lines * count)
    return _PlayerRows(
        lines=np.array(records, dtype=LINE),
        row_numbers=row,
        leaf_numbers=leaf_rows[-1],
        line_numbers=line_rows[-1],
        leaf_rows=tuple(leaf_rows),
        line_rows=tuple(line_rows),
    )


def _pays(layout: TableLayout, nodes: list[int], own: int) -> NDArray[np.float64]:
    """[FACTORS, leaves] what the steps of a terminal multiply reach by."""
    form = layout.form
    win, lose, tie = (each[nodes, own] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie))
    pays = np.zeros((FACTORS, len(nodes)))
    pays[LOSE], pays[TIE], pays[WIN], pays[WIN_AT_ONCE], pays[SAME] = lose, tie - lose, win - tie, win - lose, tie
    folds = form.tree.kind[nodes] == NodeKind.FOLD
    paid = np.where(form.tree.player[nodes] == own, lose, win)
    pays[:, folds] = 0.0
    pays[LOSE, folds] = pays[SAME, folds] = paid[folds]
    return pays
