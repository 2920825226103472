"""One player's walk through a bundle of lines, runout after runout: reach down, values up, sums per bucket.

With P the opponent's reach summed over a part of their hands and S[c] the same over those of them with card c, an own
hand with cards c and d meets P − S[c] − S[d], plus the reach of the hand with the same two cards if it is in that part:
it was subtracted twice. Going through the opponent's hands from the weakest to the strongest, these sums give

    W   met by the own hand and weaker        E   weaker or equally strong        V   all

and the value of a showdown is (win − tie) · W + (tie − lose) · E + lose · V, that of a fold its payoff times V. Sixteen
rows of reach are transposed into a tile [hands, 16] and summed side by side, in 64 bits where blockers leave so little
of a range that 32-bit differences would cancel.

Regrets are found in buckets. Where the player acts, c[a, k] = Σ w · v_a over the hands of bucket k and all runouts, and
the new regret is c[a, k] − Σ_a' σ[a', k] · c[a', k], because σ is the same for all hands of a bucket.

A bundle belongs to one thread, which goes through the runouts in order: sums do not depend on the number of threads.
Indices that come from buckets are unsigned, because numba checks whether a signed one counts from the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import inlined, kernel
from regretless.engines.layout import LANES
from regretless.engines.numba.buckets.boards import Boards
from regretless.engines.numba.buckets.plan import LEAF, OWN, BundlePlan
from regretless.engines.numba.public.kernels.lanes import add_product, load, store, transpose, zeros
from regretless.engines.numba.update import StepWeights, next_average, next_regret, step_weights, to_match
from regretless.forms.history import AnyArray

__all__ = ["BundleScratch", "Entries", "LearnedTables", "walk_bundles"]

Float32 = NDArray[np.float32]
Tile = AnyArray  # 32 or 64 bits

ZERO, ONE = np.float32(0.0), np.float32(1.0)
WINS, TIES, LOSES, FOLDS = 0, LANES, 2 * LANES, 3 * LANES  # where each begins in the payoffs of a tile


class LearnedTables(NamedTuple):
    """What both players learned, the updating one first."""

    regret: Float32
    average: Float32
    matched: Float32  # what the own strategy is matched to: the regrets, unless the variant predicts
    other: Float32  # the same for the opponent


class Entries(NamedTuple):
    """What enters and leaves the lines of a street: L lines, R runouts of the street before, W hands."""

    other: Float32  # [L, R, W]  reach of the opponent's hands
    own: Float32  # [L, R, W]    reach of the own hands
    value: Float32  # [L, R, W]  values of the own hands, summed over the runouts that follow each


class BundleScratch(NamedTuple):
    """Working memory of a thread, enough for the largest bundle; rows have W numbers and are flat."""

    other: Float32  # [rows · W]   the last position of a row stays 0
    own: Float32  # [rows · W]
    value: Float32  # [nodes · W]
    reach: Tile  # [W · 16]        a tile of the opponent's reach; its last position stays 0
    shown: Tile  # [W · 16]        values of the showdowns of a tile
    folded: Tile  # [W · 16]       values of its folds
    by_card: Tile  # [(deck + 1) · 16]
    pays: Tile  # [4 · 16]
    block: Float32  # [16 · 16]    a piece of a tile, transposed
    starts: NDArray[np.int32]  # [16]   where the rows of a tile begin
    steps: NDArray[np.int32]  # [16]    0, 16, 32, …
    strategy: Float32  # [action-buckets of a bundle]
    action_value: Float32  # the same: c[a, k]
    bucket_reach: Float32  # [buckets of own decisions of a bundle]  own reach


@kernel
def walk_bundles(
    bundles: NDArray[np.int64],
    learns: bool,  # whether values are wanted; otherwise only the reach at the exits
    own: int,
    buckets: NDArray[np.int64],  # [2] on the street: own and opponent's
    plan: BundlePlan,
    boards: Boards,
    entries: Entries,
    exits: Entries,  # entries of the next street
    tables: LearnedTables,
    scratch: BundleScratch,
    row: np.void,  # of a schedule
) -> None:
    """Walk some bundles of a street for the updating player, and update their tables if values are wanted."""
    weights = step_weights(row, tables.regret)
    for bundle in bundles:
        begin, end = plan.first_node[bundle], plan.first_node[bundle + 1]
        _match(begin, end, buckets, plan, tables, scratch)
        if learns:
            _clear(bundle, begin, end, buckets[0], plan, entries, scratch)
        for runout in range(boards.hand.shape[1]):
            above = runout if entries.own.shape[1] > 1 else 0
            _reach_at_entries(bundle, begin, runout, above, own, plan, boards, entries, scratch)
            _reach(begin, end, runout, own, buckets, plan, boards, scratch)
            if not learns:
                _reach_at_exits(bundle, begin, runout, own, plan, boards, exits, scratch)
                continue
            for tile in range(plan.first_tile[bundle], plan.first_tile[bundle + 1]):
                _terminals(tile, runout, own, plan, boards, scratch)
            _values_at_exits(bundle, runout, own, plan, boards, exits, scratch)
            _values(begin, end, runout, own, buckets[0] + 1, plan, boards, scratch)
            _add_to_entries(bundle, runout, above, own, plan, boards, entries, scratch)
        if learns:
            for node in range(begin, end):
                if plan.acts[node] == OWN:
                    _update(node, buckets[0], plan, tables, scratch, weights)


# --- once per bundle -------------------------------------------------------------------------------------------------


@inlined
def _match(
    begin: int, end: int, buckets: NDArray[np.int64], plan: BundlePlan, tables: LearnedTables, scratch: BundleScratch
) -> None:
    """The strategies of both players in a bundle: regret matching. The last bucket of each is for dead hands."""
    strategy = scratch.strategy
    for node in range(begin, end):
        if plan.acts[node] == LEAF:
            continue
        is_own = plan.acts[node] == OWN
        count, actions = buckets[0 if is_own else 1], plan.actions[node]
        table_at, strategy_at = plan.table[node], plan.strategy_at[node]
        sums = tables.matched if is_own else tables.other
        uniform = np.float32(1.0 / actions)
        for bucket in range(count):
            total = ZERO
            for action in range(actions):
                total += max(sums[table_at + action * count + bucket], ZERO)
            divisor, rest = (total, ZERO) if total > ZERO else (ONE, uniform)  # 1 / total may be infinite
            for action in range(actions):
                probability = max(sums[table_at + action * count + bucket], ZERO) / divisor + rest
                strategy[strategy_at + action * (count + 1) + bucket] = probability
        for action in range(actions):
            strategy[strategy_at + action * (count + 1) + count] = ZERO


@inlined
def _clear(
    bundle: int, begin: int, end: int, count: int, plan: BundlePlan, entries: Entries, scratch: BundleScratch
) -> None:
    for number in range(plan.first_entry[bundle], plan.first_entry[bundle + 1]):
        entries.value[plan.entry_line[number]] = ZERO
    for node in range(begin, end):
        if plan.acts[node] == OWN:
            begin_at, reach_at = plan.strategy_at[node], plan.reach_at[node]
            scratch.action_value[begin_at : begin_at + plan.actions[node] * (count + 1)] = ZERO
            scratch.bucket_reach[reach_at : reach_at + count + 1] = ZERO


@inlined
def _update(
    node: int, count: int, plan: BundlePlan, tables: LearnedTables, scratch: BundleScratch, weights: StepWeights
) -> None:
    """The variant's numbers, in the order of `variants/variant.py`."""
    actions, table_at = plan.actions[node], plan.table[node]
    strategy_at, reach_at = plan.strategy_at[node], plan.reach_at[node]
    for bucket in range(count):
        mean = ZERO
        for action in range(actions):
            index = strategy_at + action * (count + 1) + bucket
            mean += scratch.strategy[index] * scratch.action_value[index]
        for action in range(actions):
            index, entry = strategy_at + action * (count + 1) + bucket, table_at + action * count + bucket
            new = scratch.action_value[index] - mean
            regret = next_regret(tables.regret[entry], new, weights)
            added = weights.average_weight * scratch.bucket_reach[reach_at + bucket] * scratch.strategy[index]
            tables.average[entry] = next_average(tables.average[entry], added, weights)
            tables.matched[entry] = to_match(regret, new, weights)
            tables.regret[entry] = regret  # the same memory as the line above if nothing is predicted


# --- once per runout: reach ------------------------------------------------------------------------------------------


@inlined
def _reach_at_entries(
    bundle: int,
    begin: int,
    runout: int,
    above: int,
    own: int,
    plan: BundlePlan,
    boards: Boards,
    entries: Entries,
    scratch: BundleScratch,
) -> None:
    """Reach at the first nodes of the lines."""
    weight, width = boards.weight[runout], boards.hand.shape[2]
    for number in range(plan.first_entry[bundle], plan.first_entry[bundle + 1]):
        line, node = plan.entry_line[number], begin + plan.entry_node[number]
        row = plan.other_row[node] * width
        for position in range(boards.live[1 - own, runout]):
            hand = boards.hand[1 - own, runout, position]
            scratch.other[row + position] = weight * entries.other[line, above, hand]
        row = plan.own_row[node] * width
        for position in range(boards.live[own, runout]):
            scratch.own[row + position] = weight * entries.own[line, above, boards.hand[own, runout, position]]


@inlined
def _reach(
    begin: int,
    end: int,
    runout: int,
    own: int,
    buckets: NDArray[np.int64],
    plan: BundlePlan,
    boards: Boards,
    scratch: BundleScratch,
) -> None:
    """Reach at every node, both players'."""
    width = boards.hand.shape[2]
    for node in range(begin, end):
        if plan.acts[node] == LEAF:
            continue
        is_own = plan.acts[node] == OWN
        player = own if is_own else 1 - own
        rows, rows_of = (scratch.own, plan.own_row) if is_own else (scratch.other, plan.other_row)
        before, stride = rows_of[node] * width, buckets[0 if is_own else 1] + 1
        for action in range(plan.actions[node]):
            child_row = rows_of[begin + plan.first_child[node] + action]
            if child_row >= 0:
                after, strategy_at = child_row * width, np.uint64(plan.strategy_at[node] + action * stride)
                bucket = boards.bucket[player, runout]
                for position in range(boards.live[player, runout]):
                    probability = scratch.strategy[strategy_at + np.uint64(bucket[position])]
                    rows[after + position] = rows[before + position] * probability


@inlined
def _reach_at_exits(
    bundle: int,
    begin: int,
    runout: int,
    own: int,
    plan: BundlePlan,
    boards: Boards,
    exits: Entries,
    scratch: BundleScratch,
) -> None:
    """Reach where the street ends; that of blocked hands is 0."""
    width = boards.hand.shape[2]
    for number in range(plan.first_exit[bundle], plan.first_exit[bundle + 1]):
        node, line = begin + plan.exit_node[number], plan.exit_line[number]
        exits.other[line, runout] = ZERO
        exits.own[line, runout] = ZERO
        for position in range(boards.live[1 - own, runout]):
            reach = scratch.other[plan.other_row[node] * width + position]
            exits.other[line, runout, boards.hand[1 - own, runout, position]] = reach
        for position in range(boards.live[own, runout]):
            reach = scratch.own[plan.own_row[node] * width + position]
            exits.own[line, runout, boards.hand[own, runout, position]] = reach


# --- once per runout: values -----------------------------------------------------------------------------------------


@inlined
def _terminals(tile: int, runout: int, own: int, plan: BundlePlan, boards: Boards, scratch: BundleScratch) -> None:
    """The values of the terminals of a tile."""
    width, shows = boards.hand.shape[2], plan.shows[tile] > 0
    for lane in range(LANES):
        scratch.starts[lane] = plan.lane_row[tile, lane] * width
        for kind in range(4):
            scratch.pays[kind * LANES + lane] = plan.pays[tile, kind, lane]
    for position in range(0, boards.live[1 - own, runout], LANES):
        transpose(scratch.other, scratch.starts, 0, position, scratch.reach, position * LANES)
    nothing = zeros(scratch.reach)
    store(scratch.reach, (width - 1) * LANES, nothing)
    for card in range(scratch.by_card.size // LANES):
        store(scratch.by_card, card * LANES, nothing)
    if shows:
        _showdowns(runout, own, boards, scratch)
    else:
        _folds(runout, own, boards, scratch)
    for position in range(0, boards.live[own, runout], LANES):
        if shows:
            _store_tile(scratch.shown, position, width, plan.show_node[tile], scratch)
        _store_tile(scratch.folded, position, width, plan.fold_node[tile], scratch)


@inlined
def _showdowns(runout: int, own: int, boards: Boards, scratch: BundleScratch) -> None:
    """Sums in order of strength, and the values of showdowns and folds."""
    reach, by_card, pays = scratch.reach, scratch.by_card, scratch.pays
    wins, ties, loses, folds = load(pays, WINS), load(pays, TIES), load(pays, LOSES), load(pays, FOLDS)
    total = zeros(reach)
    passed, start = 0, 0
    for group in range(boards.groups[own, runout]):
        end, weaker = boards.group_end[own, runout, group], boards.weaker[own, runout, group]
        for position in range(passed, weaker):
            total = total + _add(position, runout, 1 - own, boards, reach, by_card)
        for position in range(start, end):
            met = total - _blocked(position, runout, own, boards, by_card)
            store(scratch.shown, position * LANES, wins * met)
        passed = boards.equal[own, runout, group]
        for position in range(weaker, passed):
            total = total + _add(position, runout, 1 - own, boards, reach, by_card)
        for position in range(start, end):
            same = load(reach, boards.same[own, runout, position] * LANES)
            met = total - _blocked(position, runout, own, boards, by_card) + same
            store(scratch.shown, position * LANES, add_product(load(scratch.shown, position * LANES), ties, met))
        start = end
    for position in range(passed, boards.live[1 - own, runout]):
        total = total + _add(position, runout, 1 - own, boards, reach, by_card)
    for position in range(boards.live[own, runout]):
        same = load(reach, boards.same[own, runout, position] * LANES)
        met = total - _blocked(position, runout, own, boards, by_card) + same
        store(scratch.shown, position * LANES, add_product(load(scratch.shown, position * LANES), loses, met))
        store(scratch.folded, position * LANES, folds * met)


@inlined
def _folds(runout: int, own: int, boards: Boards, scratch: BundleScratch) -> None:
    """The values of folds."""
    reach, by_card = scratch.reach, scratch.by_card
    folds, total = load(scratch.pays, FOLDS), zeros(reach)
    for position in range(boards.live[1 - own, runout]):
        total = total + _add(position, runout, 1 - own, boards, reach, by_card)
    for position in range(boards.live[own, runout]):
        same = load(reach, boards.same[own, runout, position] * LANES)
        met = total - _blocked(position, runout, own, boards, by_card) + same
        store(scratch.folded, position * LANES, folds * met)


@inlined
def _add(position: int, runout: int, player: int, boards: Boards, reach: Tile, by_card: Tile) -> Any:
    """Add one of the opponent's hands to the sums by card; returns its reach."""
    hand_reach = load(reach, position * LANES)
    first = boards.cards[player, runout, position, 0] * LANES
    second = boards.cards[player, runout, position, 1] * LANES
    store(by_card, first, load(by_card, first) + hand_reach)
    if second < by_card.size - LANES:  # a one-card hand has no second card to block
        store(by_card, second, load(by_card, second) + hand_reach)
    return hand_reach


@inlined
def _blocked(position: int, runout: int, player: int, boards: Boards, by_card: Tile) -> Any:
    """Reach of the hands that share a card with an own hand."""
    first = boards.cards[player, runout, position, 0] * LANES
    second = boards.cards[player, runout, position, 1] * LANES
    return load(by_card, first) + load(by_card, second)


@inlined
def _store_tile(tile: Tile, position: int, width: int, nodes: NDArray[np.int32], scratch: BundleScratch) -> None:
    """Sixteen positions of a tile as pieces of rows of values."""
    transpose(tile, scratch.steps, 0, position * LANES, scratch.block, 0)
    for lane in range(LANES):
        if nodes[lane] >= 0:
            store(scratch.value, nodes[lane] * width + position, load(scratch.block, lane * LANES))


@inlined
def _values_at_exits(
    bundle: int, runout: int, own: int, plan: BundlePlan, boards: Boards, exits: Entries, scratch: BundleScratch
) -> None:
    """Values where the street ends, from the lines of the next."""
    for number in range(plan.first_exit[bundle], plan.first_exit[bundle + 1]):
        line, row = plan.exit_line[number], plan.exit_node[number] * boards.hand.shape[2]
        for position in range(boards.live[own, runout]):
            scratch.value[row + position] = exits.value[line, runout, boards.hand[own, runout, position]]


@inlined
def _values(
    begin: int, end: int, runout: int, own: int, stride: int, plan: BundlePlan, boards: Boards, scratch: BundleScratch
) -> None:
    """Values of decisions from those of their children, and the sums per bucket where the player acts."""
    width, live, value = boards.hand.shape[2], boards.live[own, runout], scratch.value
    bucket, range_weight = boards.bucket[own, runout], boards.range_weight[own, runout]
    for node in range(end - 1, begin - 1, -1):
        if plan.acts[node] == LEAF:
            continue
        row, child = (node - begin) * width, plan.first_child[node] * width
        if plan.acts[node] == OWN:
            for position in range(live):
                value[row + position] = ZERO
            for action in range(plan.actions[node]):
                begin_at, below = np.uint64(plan.strategy_at[node] + action * stride), child + action * width
                for position in range(live):
                    index, child_value = begin_at + np.uint64(bucket[position]), value[below + position]
                    value[row + position] += scratch.strategy[index] * child_value
                    scratch.action_value[index] += range_weight[position] * child_value
            reach_at, reach = np.uint64(plan.reach_at[node]), plan.own_row[node] * width
            for position in range(live):
                scratch.bucket_reach[reach_at + np.uint64(bucket[position])] += scratch.own[reach + position]
        else:
            for position in range(0, live, LANES):
                total = load(value, child + position)
                for action in range(1, plan.actions[node]):
                    total = total + load(value, child + action * width + position)
                store(value, row + position, total)


@inlined
def _add_to_entries(
    bundle: int,
    runout: int,
    above: int,
    own: int,
    plan: BundlePlan,
    boards: Boards,
    entries: Entries,
    scratch: BundleScratch,
) -> None:
    """Add the values of the first nodes of the lines to those of the street before, where the lines begin."""
    for number in range(plan.first_entry[bundle], plan.first_entry[bundle + 1]):
        line, row = plan.entry_line[number], plan.entry_node[number] * boards.hand.shape[2]
        for position in range(boards.live[own, runout]):
            entries.value[line, above, boards.hand[own, runout, position]] += scratch.value[row + position]
