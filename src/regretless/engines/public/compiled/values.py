"""What an engine of the public form has found: strategies of a node on all runouts, values before the last street.

A walk keeps the rows of values of the street it is on, so those of a runout of the second street are there to be read
when a walk over that runout alone is done, and those of the first street when the whole walk is. The last street's,
by far the most, can be worked out again from one runout's strategies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.compiled.buffers import aligned
from regretless.engines.public.compiled.engine import PublicEngine
from regretless.engines.public.compiled.iterate import BEGIN, BLOCKS, FINISH, iterate
from regretless.engines.public.compiled.plan import LANES
from regretless.engines.public.compiled.walk import MEAN

__all__ = ["early_values", "node_strategies"]

Float32 = NDArray[np.float32]


def early_values(engine: PublicEngine, player: int) -> list[Float32]:
    """For each street before the last, [runouts, nodes of the tree on that street, H], times the reach met.

    Both play their average strategies. Nodes of a street stand in the order of the tree.
    """
    form, plan = engine.form, engine.plans[player]
    streets = len(form.streets) - 1
    if streets == 0:
        return []
    nodes = [np.flatnonzero(form.tree.street == street) for street in range(streets)]
    value_at = np.zeros(len(form.tree.street), dtype=np.int64)
    value_at[plan.nodes["node"]] = plan.nodes["value_at"]
    hands = np.arange(len(form.hands[player].weight))
    rows = [value_at[members][:, None] + hands for members in nodes]
    kept = [
        np.empty((len(form.streets[street].parent), len(nodes[street]), len(hands)), dtype=np.float32)
        for street in range(streets)
    ]
    main = engine._scratch[0]
    if streets == 1:
        engine._walk(player, MEAN)
    else:
        runouts = len(form.streets[1].parent)
        usual = engine._blocks[player]
        lines = aligned(usual.size, np.float64)
        weights = np.zeros((1, 9), dtype=np.float32)

        def part(which: int, first: int, last: int) -> None:
            """A part of the walk, with the runouts `first : last` of the second street as its blocks."""
            blocks = usual._replace(
                runout=np.arange(1 + first, 2 + last, dtype=np.int32),  # runout 0 is that of the first street
                counter=np.zeros(1, dtype=np.int64),
                lines=lines,
            )
            job = engine._job(player, MEAN)._replace(blocks=blocks)
            iterate(weights, player, player + 1, which, MEAN, engine._predicts, job, job, main, main)

        part(BEGIN, 0, runouts)
        for runout in range(runouts):
            part(BLOCKS, runout, runout + 1)
            kept[1][runout] = main.value[rows[1]] / engine.units[player]
        part(FINISH, 0, runouts)
    kept[0][0] = main.value[rows[0]] / engine.units[player]
    return kept


def node_strategies(engine: PublicEngine, node: int, chosen: slice = slice(None)) -> NDArray[np.float32]:
    """[runouts of its street that are chosen, actions, H] average strategy at a betting node."""
    tree = engine.form.tree
    player = int(tree.player[node])
    plan = engine.plans[player]
    entry = plan.nodes[np.flatnonzero(plan.nodes["node"] == node)[0]]
    street = plan.streets[int(tree.street[node])]
    runouts = len(engine.form.streets[int(tree.street[node])].parent)
    actions, size = int(entry["actions"]), int(street["own_size"])
    rows = engine._average[player][int(street["own_at"]) : int(street["own_at"]) + runouts * size].reshape(
        runouts, size
    )[chosen]
    runouts = len(rows)
    block = int(entry["block"])
    stored = rows[:, block : block + actions * plan.own_hands].reshape(runouts, -1, actions, LANES)
    sums = stored.transpose(0, 2, 1, 3).reshape(runouts, actions, plan.own_hands).astype(np.float32)
    sums = sums[:, :, : len(engine.form.hands[player].weight)]
    total = sums.sum(axis=1, keepdims=True)
    even = np.full(sums.shape, 1 / actions, dtype=np.float32)
    strategies: Float32 = np.divide(sums, total, out=even, where=total > 0)
    return strategies
