"""Solving subgames of a public form again, below a strategy that stays: plainly or safely.

The strategy above the subgames, the *trunk*, is locked; what is below is solved again, all subgames at once.

- **Plainly**: both players follow the trunk, so the subgames are solved with the ranges that arrive there. The result
  is an equilibrium against an opponent who brings that range. One who brings other hands may gain.
- **Safely**: each player's new strategy comes from a solve of its own. In it, the opponent may leave a subgame and get
  the value that his hand has there under the old strategy (`forms/gadgets.py`), so none of his hands gains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from regretless.engines import PublicEngine, Snapshot
from regretless.forms.gadgets import with_gadgets
from regretless.forms.history import AnyArray, FloatArray
from regretless.forms.public import PublicForm

__all__ = ["Resolver"]

Trunk = Mapping[int, FloatArray]  # decision above the subgames -> [runouts of its street, actions, H]
Alternatives = Mapping[int, FloatArray]  # root of a subgame -> [runouts of its street, H] values to leave with


@dataclass(frozen=True)
class Resolver:
    """Solves subgames of a form again: `create` makes an engine for a form, `solve` runs it until it is done.

    Kuhn has one public state to begin with, so there the only subgame is the whole game:

    >>> from functools import partial
    >>> from regretless.engines import create
    >>> from regretless.forms.public_poker import compile_public
    >>> from regretless.games import Kuhn
    >>> from regretless.variants import Plus, schedule
    >>> blueprint = create("numpy", compile_public(Kuhn()))
    >>> blueprint.advance(schedule(Plus(), 1, 3))
    >>> best = [blueprint.values_everywhere(player, best=True)[0, 0] for player in range(2)]
    >>> offered = tuple({0: values[None] / 2} for values in best)  # each hand faces two others
    >>> resolver = Resolver(partial(create, "numpy"), lambda engine: engine.advance(schedule(Plus(), 1, 200)))
    >>> engine = resolver.safely(blueprint.form, {}, offered)
    >>> round(blueprint.evaluate().exploitability, 3), round(engine.evaluate().exploitability, 3)
    (0.141, 0.081)
    """

    create: Callable[[PublicForm], PublicEngine]
    solve: Callable[[PublicEngine], None]

    def plainly(self, form: PublicForm, trunk: Trunk) -> PublicEngine:
        """An engine whose averages are the trunk and the subgames solved again, without locks."""
        engine = self.create(form)
        for node, rows in trunk.items():
            for runout, row in enumerate(rows):
                engine.lock(node, row, runout)
        self.solve(engine)
        engine.unlock()
        return engine

    def safely(self, form: PublicForm, trunk: Trunk, alternatives: tuple[Alternatives, Alternatives]) -> PublicEngine:
        """Like `plainly`, but safely; `alternatives[player]` are the values that this player may leave with."""
        averages = {player: self.average(player, form, trunk, alternatives[1 - player]) for player in range(2)}
        return self.combined(form, averages)

    def average(self, player: int, form: PublicForm, trunk: Trunk, alternatives: Alternatives) -> AnyArray:
        """A player's average, in the layout of engines, after a solve in which the opponent may leave the subgames.

        In the trunk the opponent plays at random half of the time, so that every hand reaches every subgame. What a
        best response gains in this solve is weighted by how often he gets to each subgame that way.
        """
        gadgets = with_gadgets(form, 1 - player, alternatives)
        engine = self.create(gadgets.form)
        for node, rows in trunk.items():
            of_player = int(form.tree.player[node]) == player
            for runout, row in enumerate(rows):
                engine.lock(int(gadgets.node[node]), row if of_player else (row + 1 / len(row)) / 2, runout)
        for (node, runout), row in gadgets.locks.items():
            engine.lock(node, row, runout)
        self.solve(engine)
        return engine.snapshot(copy=False).arrays[f"average.{player}"]

    def combined(self, form: PublicForm, averages: Mapping[int, AnyArray]) -> PublicEngine:
        """An engine of the form with these averages of each player. It has no regrets."""
        engine = self.create(form)
        arrays = dict(engine.snapshot(copy=False).arrays)
        for player, average in averages.items():
            arrays[f"average.{player}"] = np.asarray(average)
        engine.restore(Snapshot(0, arrays))
        return engine
