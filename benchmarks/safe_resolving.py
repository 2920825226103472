"""What solving subgames again does to exploitability: plainly and safely, on Leduc, exactly.

python benchmarks/safe_resolving.py [--iterations 2000]

1. A strategy of Leduc is the blueprint: of CFR after few or many iterations, at random, or an equilibrium with noise.
2. All subgames after the public card are solved again, with the first round as it is: plainly, with the ranges that
   arrive there, and safely, as `regretless/solving/resolving.py` says.
3. Each line has the exact exploitability of the whole strategy before and after, in chips.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import cache

import numpy as np

from regretless.engines import PublicEngine, create
from regretless.engines.contract import PublicStrategy
from regretless.engines.numpy.public import PublicReference
from regretless.forms.blockers import met
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind
from regretless.forms.public_poker import compile_public
from regretless.games import Leduc
from regretless.solving.resolving import Resolver
from regretless.variants import PRESETS, schedule

FORM = compile_public(Leduc())
TREE, HANDS = FORM.tree, len(FORM.hands[0].weight)
DECISIONS = np.flatnonzero(TREE.kind == NodeKind.DECISION).tolist()
TRUNK = [node for node in DECISIONS if TREE.street[node] == 0]
ROOTS = [node for node in DECISIONS if TREE.street[node] == 1 and TREE.street[TREE.parent[node]] == 0]


def solved(iterations: int, variant: str) -> PublicStrategy:
    engine = create("numba", FORM, threads=1)
    engine.advance(schedule(PRESETS[variant], 1, iterations))
    return cache(engine.strategy)


def drawn(seed: int) -> PublicStrategy:
    """Every hand's mix at random."""

    def strategy(node: int, runout: int) -> FloatArray:
        actions = int(TREE.first_child[node + 1] - TREE.first_child[node])
        return np.random.default_rng((seed, node, runout)).dirichlet(np.ones(actions), size=HANDS).T

    return cache(strategy)


def noisy(share: float, seed: int) -> PublicStrategy:
    exact, noise = solved(1000, "plus"), drawn(seed)
    return cache(lambda node, runout: (1 - share) * exact(node, runout) + share * noise(node, runout))


def blueprints() -> Iterator[tuple[str, PublicStrategy]]:
    for count in (1, 2, 5, 10, 20, 50, 200, 1000):
        yield f"CFR, {count:,} iterations", solved(count, "vanilla")
    for count in (50, 100, 300, 1000):
        yield f"CFR+, {count:,} iterations", solved(count, "plus")
    for seed in range(4):
        yield f"random {seed}", drawn(seed)
    for share in (0.02, 0.05, 0.1, 0.3):
        yield f"equilibrium, {share:.0%} noise", noisy(share, seed=9)


def alternatives(blueprint: PublicStrategy, player: int) -> dict[int, FloatArray]:
    """[runouts, H] what a best response gains below each root, per opposing hand that a hand can face."""
    best = PublicReference(FORM).values_everywhere(player, blueprint, best=True)
    reach = np.ones((len(TREE.kind), HANDS))  # of the other player
    for node in range(1, len(TREE.kind)):  # parents come first
        parent = int(TREE.parent[node])
        reach[node] = reach[parent]
        if parent in TRUNK and TREE.player[parent] != player:
            reach[node] *= blueprint(parent, 0)[node - int(TREE.first_child[parent])]
    alive = ~FORM.streets[1].dead[1 - player]

    def of(root: int) -> FloatArray:
        values = np.array([best[root, runout] for runout in range(len(alive))])
        faced = met(FORM.hands[player], FORM.hands[1 - player], reach[root] * alive, FORM.deck)
        return np.divide(values, faced, out=np.zeros_like(values), where=faced > 0)

    return {root: of(root) for root in ROOTS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=2000, help="of each solve of the subgames")
    iterations = parser.parse_args().iterations

    def solve(engine: PublicEngine) -> None:
        engine.advance(schedule(PRESETS["predictive-plus"], 1, iterations))

    resolver = Resolver(lambda form: create("numba", form, threads=1), solve)
    print("| blueprint | its exploitability | plain | safe |")
    print("|---|--:|--:|--:|")
    for name, blueprint in blueprints():
        trunk = {node: blueprint(node, 0)[None] for node in TRUNK}
        offered = alternatives(blueprint, 0), alternatives(blueprint, 1)
        engines = resolver.plainly(FORM, trunk), resolver.safely(FORM, trunk, offered)
        before, *after = (
            PublicReference(FORM).evaluate(each).exploitability
            for each in (blueprint, *(engine.strategy for engine in engines))
        )
        print(f"| {name} | {before:.4f} | " + " | ".join(f"{each:.4f}" for each in after) + " |", flush=True)


if __name__ == "__main__":
    main()
