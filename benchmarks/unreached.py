"""How much of the last street the opponent never reaches: an upper bound on what skipping it could save.

python benchmarks/unreached.py [--spots river_wide,turn_example] [--threads 1]

1. After each iteration of the `postflop` variant, take both players' current strategies from their regrets.
2. Propagate a player's reach down the tree. A public state (betting node × runout) that no hand of the player reaches
   contributes nothing to a walk that updates the other player.
3. Count the entries into the last street (betting line × runout) and, unless the tree is too large for NumPy, all
   states there. Shares are averaged over both players and over a span of iterations.

On a river, the only entry is the root, which every hand reaches.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regretless.engines.layout import make_layout
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.engines.numpy.public import matched
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind
from regretless.holdem import Spot, compile_spot
from regretless.variants import PRESETS, schedule

DATA = Path(__file__).parent.parent / "tests" / "data"
SPANS = ((1, 10), (11, 50), (51, 100))  # iterations, inclusive
MAX_STATES = 50_000  # beyond this, only entries are counted
SMALLEST = np.finfo(np.float32).tiny  # the engine treats anything below as 0


@dataclass
class Count:
    """Public states, and how many of them no hand reaches."""

    states: int = 0
    unreached: int = 0

    def add(self, reach: FloatArray) -> None:
        self.states += len(reach)
        self.unreached += int((reach < SMALLEST).all(axis=1).sum())

    @property
    def share(self) -> float:
        return self.unreached / self.states


class Reach:
    """One player's reach down the tree under an engine's current strategy."""

    def __init__(self, engine: NumbaPublicEngine, player: int) -> None:
        self.engine = engine
        self.player = player
        self.regret = engine.snapshot(copy=False).arrays[f"regret.{player}"]
        self.layout = make_layout(engine.form)
        self.tree, self.streets = engine.form.tree, engine.form.streets
        self.last = len(self.streets) - 1
        below = int((self.tree.street == self.last).sum()) * len(self.streets[-1].parent)
        self.whole = below <= MAX_STATES
        self.entries, self.all_states = Count(), Count()
        weight = engine.form.hands[player].weight
        if self.last == 0:
            self.entries.add(weight[None])
        self._walk(0, weight[None])

    def _walk(self, node: int, reach: FloatArray) -> None:
        """`reach` is [runouts of the node's street, H]."""
        if self.tree.street[node] == self.last:
            self.all_states.add(reach)
        children = range(int(self.tree.first_child[node]), int(self.tree.first_child[node + 1]))
        if self.tree.kind[node] == NodeKind.CHANCE:
            street_number = int(self.tree.street[node]) + 1
            street = self.streets[street_number]
            dealt = reach[street.parent] * ~street.dead[self.player]
            if street_number == self.last:
                self.entries.add(dealt)
            if street_number < self.last or self.whole:
                self._walk(children[0], dealt)
        elif self.tree.kind[node] == NodeKind.DECISION and self.tree.player[node] == self.player:
            for child, play in zip(children, self._strategy(node), strict=True):
                self._walk(child, reach * play)
        else:
            for child in children:
                self._walk(child, reach)

    def _strategy(self, node: int) -> FloatArray:
        """[actions, runouts, H]"""
        return matched(self.layout.read(self.regret, node).transpose(1, 0, 2).astype(np.float64))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spots", default="river_wide,turn_example")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    variant = PRESETS["postflop"]
    print("| spot | iterations | entries unreached | states unreached |\n|---|---|--:|--:|")
    for name in options.spots.split(","):
        engine = NumbaPublicEngine(compile_spot(Spot.read(DATA / f"{name}.toml")), threads=options.threads)
        for first, last in SPANS:
            entries, states = [], []
            for iteration in range(first, last + 1):
                engine.advance(schedule(variant, iteration, 1))
                for player in range(2):
                    reach = Reach(engine, player)
                    entries.append(reach.entries.share)
                    if reach.whole:
                        states.append(reach.all_states.share)
            share = f"{np.mean(states):.1%}" if states else "–"
            print(f"| {name} | {first}–{last} | {np.mean(entries):.1%} | {share} |", flush=True)


if __name__ == "__main__":
    main()
