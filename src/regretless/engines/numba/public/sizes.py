"""How much memory the compiled engine takes for a form of a given size, known before anything is built.

Each function counts the arrays of the module it names, as that module allocates them. Three things are not known
exactly: how the last street is divided into chunks (estimated by an average), which hands are equivalent, and which of
them share their showdown sums (both estimated by the maximum).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.engines.formats import number_format
from regretless.engines.layout import LANES, MAX_BLOCKS, padded
from regretless.engines.learned import describe, total_bytes
from regretless.engines.numba.public.records import CHUNK, EXTENT, FOUR, LINE, NODE, RECORD, RUNOUT, STREET
from regretless.forms.public import NodeKind
from regretless.forms.public_size import PublicSize

__all__ = [
    "CHUNK_BYTES",
    "SLOT_GAP",
    "bucket_evaluation_bytes",
    "estimate",
    "evaluation_bytes",
    "learned_bytes",
    "team_members",
    "tile_rows",
]

CHUNK_BYTES = 320 * 1024  # rows of a chunk; with its regrets and averages it should fit in the L2 cache
SLOT_GAP = 16 * 1024  # bytes between rows of different threads: processors prefetch beyond the end of what is read

SUBGROUPS = {1: 1, 2: 2, 3: 2, 4: 5, 6: 6, 8: 10, 12: 10, 24: 30}  # at most, by number of suit permutations in a group


def estimate(
    size: PublicSize,
    *,
    storage: int = 32,
    threads: int = 1,
    predicts: bool = False,
    wide_tiles: bool = False,
    is_part: bool = False,
    samples: bool = False,
) -> int:
    """Bytes of an engine, `NumbaPublicEngine.memory_bytes`.

    `predicts`: the variant keeps predictions beside the regrets; `wide_tiles`: terminals need 64-bit numbers;
    `is_part`: it is a shard, or the trunk; `samples`: its iterations walk a table of drawn runouts, at most of all.
    """
    stored = learned_bytes(size, storage=storage, predicts=predicts)
    tables = sum(_plan(size, wide_tiles) + _tables(size, own) + _showdowns(size, own) for own in range(2))
    members = team_members(size, threads)
    drawn = int(size.runouts.sum()) * RUNOUT.itemsize if samples else 0
    return stored + tables + drawn + _blocks(size, members, is_part) + _scratch(size, wide_tiles, _slots(size, members))


def learned_bytes(size: PublicSize, *, storage: int = 32, predicts: bool = False) -> int:
    """Bytes of regrets and averages, and of predictions if the variant keeps them: what a snapshot takes."""
    number = number_format(storage)
    return total_bytes(describe(_entries(size, size.runouts), number.regret, number.average, predicts=predicts))


def team_members(size: PublicSize, threads: int) -> int:
    """How many of these threads can share the second street; a form of one street is walked by one."""
    return max(1, min(threads, int(size.runouts[1]))) if len(size.runouts) > 1 else 1


def _slots(size: PublicSize, members: int) -> int:
    """Slots that `jobs.divide` needs, at most."""
    divides = len(size.runouts) == 3 and _chunks(size) > 1 and size.runouts[1] <= MAX_BLOCKS
    return members + (min(2 * members - 1, int(size.runouts[1])) if divides and members > 1 else 0)


def evaluation_bytes(size: PublicSize, *, wide_tiles: bool = False) -> int:
    """Temporary bytes for evaluating a strategy that is handed in: those of `RunoutWalk` and `StreamedStrategy`."""
    runouts = [1, *(-(-size.runouts[1:] // max(size.runouts[1], 1)) if len(size.runouts) > 1 else ())]
    return 4 * _scratch(size, wide_tiles) + 4 * sum(_entries(size, np.array(runouts, dtype=object)))


def bucket_evaluation_bytes(size: PublicSize, *, probabilities: int, threads: int = 1, wide_tiles: bool = False) -> int:
    """Bytes of a `BucketEvaluator` at work, with this many probabilities in its strategy."""
    hands, lines, members = _hands(size), size.lines, team_members(size, threads)
    tables = sum(_plan(size, wide_tiles) + _tables(size, own) + _showdowns(size, own) for own in range(2))
    columns = 2 * 4 * int(size.runouts.sum()) * sum(hands)  # the maps of the strategy, and as kernels read them
    below = 2 * 8 * sum(lines[:2]) * max(hands) * (2 * members + 2)  # runouts that wait to be added
    # A best response has its own values. Among the first street's rows, those for later streets are never touched.
    rows = 2 * _scratch(size, wide_tiles) * (members + 1)
    return tables + columns + 4 * probabilities + below + rows


def tile_rows(hands: int, deck: int) -> dict[str, int]:
    """Maximum rows of each array of `Tile`, so that its size does not depend on strengths."""
    of_a_card = -(-min(hands, deck) // FOUR) * FOUR
    return {
        "reach": hands + 1,
        "cards": deck + 1,
        "sums": hands + 2,
        "events": of_a_card + 2,
        "parts": 2 * hands + 1,
        "base": hands + 1,
    }


def _hands(size: PublicSize) -> list[int]:
    return [padded(hands) for hands in size.hands]


def _entries(size: PublicSize, runouts: Any) -> list[int]:
    """Stored numbers of each player, given the number of runouts of each street."""
    return [int(runouts @ size.actions[:, player]) * _hands(size)[player] for player in range(2)]


def _plan(size: PublicSize, wide_tiles: bool) -> int:
    """`plan.py`, for the walks of one player."""
    nodes, lines = int(size.nodes.sum()), sum(size.lines)
    chunks = len(size.runouts) - 1 + _chunks(size)
    pay = 8 if wide_tiles else 4
    folds = sum(-(-int(count) // LANES) for count in size.nodes[:, NodeKind.FOLD])
    showdowns = -(-int(size.nodes[-1, NodeKind.SHOWDOWN]) // LANES)
    tiles = LANES * (folds * (8 + pay) + showdowns * (8 + 3 * pay))
    records = nodes * NODE.itemsize + lines * LINE.itemsize + chunks * CHUNK.itemsize
    return records + len(size.runouts) * STREET.itemsize + (nodes - lines) * 4 + tiles + 3 * 8


def _tables(size: PublicSize, own: int) -> int:
    """`tables.py`, for the walks of one player, without the lists for showdowns."""
    runouts, (own_hands, other_hands) = int(size.runouts.sum()), (_hands(size)[own], _hands(size)[1 - own])
    alike = min(SUBGROUPS.get(size.permutations, max(SUBGROUPS.values())), runouts + 1)
    by_runout = RUNOUT.itemsize + 2 * size.permutations + (own_hands + other_hands) // LANES * 2
    by_symmetry = own_hands * (2 + 4) + size.deck
    return (
        runouts * by_runout
        + alike * by_symmetry
        + (2 * size.permutations + 6) * own_hands
        + size.deck
        + 2 * _card_hands(size, 1 - own)
    )


def _card_hands(size: PublicSize, player: int) -> int:
    """Numbers in lists of the hands with each card, padded to fours; at most, if the cards are not known."""
    if size.holders[player]:
        return FOUR * sum(-(-count // FOUR) for count in size.holders[player])
    entries = 2 * size.hands[player]
    cards = min(size.deck, entries)
    return FOUR * (cards + (entries - cards) // FOUR)


def _showdowns(size: PublicSize, own: int) -> int:
    """`tables.make_showdowns`, for the walks of one player."""
    sums = -(-size.hands[1 - own] // FOUR) * FOUR
    pairs, groups = 2 * size.hands[own], size.hands[own]
    numbers = sums + _card_hands(size, 1 - own) + 2 * pairs + 2 * groups + RECORD * _hands(size)[own]
    return int(size.runouts[-1]) * (EXTENT.itemsize + 2 * size.deck + 2 * numbers)


def _blocks(size: PublicSize, members: int, is_part: bool) -> int:
    """`jobs.make_blocks`, for both players."""
    hands = _hands(size)
    count = min(int(size.runouts[1]), MAX_BLOCKS) if len(size.runouts) > 1 else 0
    lines = sum(size.lines[:2]) * max(hands) if count else 0
    ends = 2 * 4 * (count + 1 + _chunks(size)) + sum(hands) * (4 + 4 + 3 * 8)
    return ends + (count if members > 1 or is_part else min(count, 2)) * lines * 8


def _scratch(size: PublicSize, wide_tiles: bool, slots: int = 1) -> int:
    """`jobs.make_scratch`."""
    hands, lines = _hands(size), size.lines
    share = _chunk_nodes(size) / max(_last_nodes(size), 1)
    opponent, value = [], []
    for own in range(2):
        other_rows = [lines[street] + int(size.actions[street, 1 - own]) for street in range(len(lines))]
        own_rows = lines[-1] + int(size.actions[-1, own])
        leaves = _last_nodes(size) - int(size.nodes[-1, NodeKind.DECISION])
        before = int(size.nodes[:-1].sum())
        opponent.append((1 + sum(other_rows[:-1]) + round(other_rows[-1] * share)) * hands[1 - own])
        value.append((1 + before + round(max(own_rows, leaves) * share)) * hands[own])
    tile = tile_rows(max(hands), size.deck)
    tile_bytes = LANES * sum(tile.values()) * (8 if wide_tiles else 4)
    rows = 4 * (max(opponent) + max(value)) + 8 * sum(lines) * max(hands) + tile_bytes
    gaps = (3 + len(tile)) * SLOT_GAP if slots > 1 else 0
    return slots * (rows + gaps)


def _last_nodes(size: PublicSize) -> int:
    """Betting nodes of the last street."""
    return int(size.nodes[-1].sum())


def _chunks(size: PublicSize) -> int:
    """Approximate number of chunks of the last street."""
    return -(-_last_nodes(size) // max(_chunk_nodes(size), 1))


def _chunk_nodes(size: PublicSize) -> int:
    """Approximate number of betting nodes in the largest chunk of the last street."""
    row_bytes = 4 * sum(_hands(size))
    return min(_last_nodes(size), max(size.longest_line, CHUNK_BYTES // row_bytes))
