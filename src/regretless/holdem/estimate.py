"""How large a spot is, and how much memory solving it takes, found without building anything that grows with it.

Public nodes are betting nodes × runouts, street by street. An *entry* is an action of a hand at a decision: what
regrets and averages are kept for. Subtrees that the betting tree repeats are counted once and multiplied, so the
estimate of a tree of a million nodes takes moments too.

Memory is that of solving and of what follows it: values before the last street, which every answer needs, and the
blocks in which strategies are written to a file.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.betting import Branch
from regretless.forms.history import IntArray
from regretless.forms.memory import available_bytes
from regretless.forms.public import Kind
from regretless.holdem.form.betting import betting_branches
from regretless.holdem.form.suits import count_runouts
from regretless.holdem.reading.probabilities import BLOCK_BYTES, probability_bits
from regretless.holdem.spots.spot import PLAYERS, Spot

__all__ = ["STORAGES", "Estimate", "check_fits", "estimate_spot"]

STORAGES = (32, 16)  # bits of a stored number

_LANES = 16  # hands are padded to a multiple of this
_BYTES = {32: 8.0, 16: 4.0}  # of an entry: its regret and its average
_TABLE_BYTES = 0.3  # of a hand on a runout: a bit for being alive, in both players' tables
_SHOWDOWN_BYTES = 18  # of a hand on a final runout: whose reach it meets
_THREAD_ROWS = 2  # rows that a thread keeps for a node: reach, and values
_MOST_BLOCKS = 64  # pieces that threads share, each with the values of the lines into the second street
_NODE_COPIES = 6  # in 32 bits, of a node's strategies while they are encoded for a file
_LARGEST_BUFFER = 320 * 1024  # bytes of rows of the last street, where it is cut into chunks


@dataclass(frozen=True)
class Estimate:
    """The size of a spot."""

    nodes: int  # public nodes, chance and terminals included, alike runouts counted once
    node_kinds: dict[str, int]  # "action", "chance", "fold", "showdown"
    betting_nodes: int  # of the betting tree, without cards
    runouts: tuple[int, ...]  # deals solved on each street
    hands: dict[str, int]  # "oop" and "ip": hands the board leaves in their ranges
    entries: int  # actions × hands over all decisions
    information_sets: int  # hands over all decisions
    solving_bytes: dict[int, int]  # by bits of storage: what the solver holds
    memory_bytes: dict[int, int]  # by bits of storage: with reading the answer and saving it, all that is needed

    def as_json(self) -> dict[str, Any]:
        """What `regretless estimate --json` prints."""
        answer = asdict(self)
        answer["runouts"] = list(self.runouts)
        for name in ("solving_bytes", "memory_bytes"):
            answer[name] = {str(bits): size for bits, size in answer[name].items()}
        return answer


def estimate_spot(spot: Spot, *, threads: int = 1) -> Estimate:
    """Nodes, hands, entries and bytes of a spot.

    >>> spot = Spot.from_mapping(
    ...     {
    ...         "board": "Kh Qs Js 2c 3d",
    ...         "pot": 100,
    ...         "stack": 200,
    ...         "oop": {"range": "AK"},
    ...         "ip": {"range": "QQ"},
    ...         "bets": {"bet": "50%, 100%, a", "raise": "2.5x, a"},
    ...         "rules": {"add_allin": 0, "force_allin": 0, "merge": 0},
    ...     }
    ... )
    >>> size = estimate_spot(spot)
    >>> size.nodes, size.hands, size.entries
    (45, {'oop': 12, 'ip': 3}, 330)
    """
    runouts = np.array(count_runouts(spot), dtype=object)  # Python's whole numbers: nothing overflows
    counts = _counts(betting_branches(spot), len(runouts))
    kinds = (counts[:, :4] * runouts[:, None]).sum(axis=0)
    hands = [_live_hands(spot.range_of(player), spot.board) for player in PLAYERS]
    padded = [-(-each // _LANES) * _LANES for each in hands]
    decisions = (counts[:, 4:6] * runouts[:, None]).sum(axis=0)
    actions = (counts[:, 6:8] * runouts[:, None]).sum(axis=0)
    tables = int(runouts.sum() * sum(padded) * _TABLE_BYTES + runouts[-1] * sum(padded) * _SHOWDOWN_BYTES)
    nodes_before, nodes_last = int(counts[:-1, :4].sum()), int(counts[-1, :4].sum())
    blocks = min(int(runouts[1]), _MOST_BLOCKS) if len(runouts) > 1 and threads > 1 else 0
    lines = int(counts[0, Kind.CHANCE]) * max(padded) * 8
    rows = nodes_before * sum(padded) * 4 + min(nodes_last * sum(padded) * 4, _LARGEST_BUFFER)
    working = threads * rows * _THREAD_ROWS + blocks * lines
    values = int((counts[:-1, :4].sum(axis=1) * runouts[:-1]).sum()) * sum(hands) * 4
    saving = values + _block_bytes(int((actions - decisions) @ hands), int(counts[-1, 4:6].sum()))
    solving = {bits: int(actions @ padded * _BYTES[bits]) + tables + working for bits in STORAGES}
    return Estimate(
        nodes=int(kinds.sum()),
        node_kinds=dict(zip(("action", "chance", "fold", "showdown"), map(int, kinds), strict=True)),
        betting_nodes=int(counts[:, :4].sum()),
        runouts=tuple(map(int, runouts)),
        hands={"oop": hands[1], "ip": hands[0]},
        entries=int(actions @ hands),
        information_sets=int(decisions @ hands),
        solving_bytes=solving,
        memory_bytes={bits: size + saving for bits, size in solving.items()},
    )


def check_fits(spot: Spot, *, storage: int = 32, threads: int = 1, available: int | None = None) -> Estimate:
    """The estimate, or `WouldNotFit` where it is more than the machine has free."""
    if storage not in STORAGES:
        raise InvalidOption("storage", storage, f"is not one of {', '.join(map(str, STORAGES))} bits")
    size = estimate_spot(spot, threads=threads)
    free = available_bytes() if available is None else available
    if size.memory_bytes[storage] > free:
        raise WouldNotFit(
            f"{spot.name or 'the spot'} in {storage} bits",
            needed=size.memory_bytes[storage],
            available=free,
            hint=_hint(size, storage, free),
        )
    return size


def _hint(size: Estimate, storage: int, free: int) -> str:
    """What would fit instead."""
    if storage != 16 and size.memory_bytes[16] <= free:
        return f"--storage 16 needs {size.memory_bytes[16] / 2**30:.1f} GiB, which fits"
    return "use fewer sizes or start on a later street"


def _block_bytes(kept: int, decisions: int) -> int:
    """The block of strategies that is being written, of `kept` numbers in all, and the node that is being encoded."""
    width = probability_bits(kept) // 8
    block = min(kept * width, BLOCK_BYTES)
    return block + block * _NODE_COPIES * 4 // width // max(decisions, 1)


def _live_hands(given: Range, board: tuple[int, ...]) -> int:
    return int(np.count_nonzero(given.remove(board).weights))


def _counts(root: Branch, streets: int) -> IntArray:
    """[streets, 8] betting nodes of each kind, decisions and actions of each player."""
    known: dict[int, IntArray] = {}

    def count(branch: Branch, street: int) -> IntArray:
        if id(branch) not in known:  # a shared branch always stands on one street
            total = np.zeros((streets, 8), dtype=np.int64)
            total[street, branch.kind] = 1
            if branch.kind is Kind.DECISION:
                total[street, 4 + branch.player] = 1
                total[street, 6 + branch.player] = len(branch.children)
            for child in branch.children.values():
                total += count(child, street + (branch.kind is Kind.CHANCE))
            known[id(branch)] = total
        return known[id(branch)]

    return count(root, 0).astype(object)  # Python's whole numbers: products with runouts and bytes do not overflow
