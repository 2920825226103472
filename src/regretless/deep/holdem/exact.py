"""Exact exploitability of what was learned on flop hold'em: a policy at every information set, handed to an engine.

1. On the 1,755 flops that are distinct up to suits, hands that a renaming of suits exchanges are one situation: 169
   before the flop and 1,286,792 on it. The policy is evaluated once per situation and betting decision, 72 million
   times in all, in large batches, and equivalent hands get the same numbers by construction.
2. The engine of the public form reads the strategy of a betting node on a flop for all hands at once, and computes
   values and best responses as it does for a tabular solution: there is no second best-response code.

The average of Single Deep CFR's networks weighs each by its own probability of getting to a decision:

    σ̄(I, a) = Σ_t w_t π_t(I) σ_t(I, a) / Σ_t w_t π_t(I),    π_t(I) = product of σ_t over the player's earlier actions.

`NetworkAverage` keeps these sums, so a network is added to the average once, when it has been trained.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless import engines
from regretless.deep.holdem.betting import ACTIONS, action_columns
from regretless.deep.holdem.situations import Situations, find_situations
from regretless.deep.holdem.world import HoldemWorld
from regretless.deep.policies import AdvantagePolicy, MixturePolicy, Policy
from regretless.engines import Evaluation, PublicEngine
from regretless.errors import WouldNotFit
from regretless.forms.history import FloatArray
from regretless.forms.memory import available_bytes
from regretless.forms.public import NodeKind, PublicForm

__all__ = ["HoldemEvaluation", "NetworkAverage", "TabulatedStrategy"]

ROWS = {"cpu": 2**12, "cuda": 2**20}  # situations per call of a policy; on a CPU, few enough for its caches


class TabulatedStrategy:
    """A strategy by situation, as engines read it: `(node, runout) -> [actions, H]`, or all runouts at once."""

    def __init__(self, form: PublicForm, situations: tuple[Situations, ...], tables: Mapping[int, Tensor]) -> None:
        """`tables` has [M, actions] for every decision."""
        self.form, self.situations, self.tables = form, situations, tables
        self._on_host: dict[int, FloatArray] = {}  # the same tables, once they have been read runout by runout

    def __call__(self, node: int, runout: int) -> FloatArray:
        if node not in self._on_host:
            self._on_host[node] = self.tables[node].cpu().numpy()
        row = self._situations(node).row[int(self.form.tree.player[node])]
        found: FloatArray = self._on_host[node][row[runout]].T
        return found

    def stacked(self, node: int) -> NDArray[np.float32]:
        """[runouts, actions, H] at a betting node."""
        table = self.tables[node]
        row = torch.from_numpy(self._situations(node).row[int(self.form.tree.player[node])]).to(table.device)
        found: NDArray[np.float32] = table.float().t()[:, row].transpose(0, 1).cpu().numpy()
        return found

    def _situations(self, node: int) -> Situations:
        return self.situations[int(self.form.tree.street[node])]


class HoldemEvaluation:
    """Evaluates policies of a hold'em world whose public form is small enough: flop hold'em."""

    def __init__(self, world: HoldemWorld, form: PublicForm, *, engine: PublicEngine | None = None) -> None:
        """`form` has the betting of the world, and any hands; `engine` is one of this form, chosen if None."""
        self.world, self.form = world, form
        self._engine = engine
        self.situations = find_situations(form, world.device)
        tree = form.tree
        column = action_columns(tree).tolist()
        self.columns = {  # of the actions of every decision, in the order of its children
            int(node): column[tree.first_child[node] : tree.first_child[node + 1]]
            for node in np.flatnonzero(tree.kind == NodeKind.DECISION)
        }

    @cached_property
    def engine(self) -> PublicEngine:
        """The engine that evaluates: on the world's device if one works there, otherwise on the CPU."""
        device = engines.device_if_able(engines.FormKind.PUBLIC, self.world.device.type)
        return self._engine or engines.create("auto", self.form, device=device)

    def evaluate(self, policy: Policy | MixturePolicy) -> Evaluation:
        """Values and best responses, in the form's unit: big blinds."""
        return self.engine.evaluate(self.strategy(policy))

    def strategy(self, policy: Policy | MixturePolicy) -> TabulatedStrategy:
        """The policy at every information set."""
        if isinstance(policy, MixturePolicy):
            average = NetworkAverage(self)
            for player, networks in enumerate(policy.networks):
                for weight, network in zip(policy.weights, networks, strict=True):
                    average.add(player, AdvantagePolicy(network), weight)
            return average.strategy()
        self.check_fits(ACTIONS)
        tables = {node: self.probabilities(policy, node)[:, columns] for node, columns in self.columns.items()}
        return TabulatedStrategy(self.form, self.situations, tables)

    def check_fits(self, numbers: int) -> None:
        """Raise `WouldNotFit` if there is no room for so many numbers per situation of every decision."""
        streets = self.form.tree.street[list(self.columns)].tolist()
        needed = 4 * numbers * sum(len(self.situations[street].cards) for street in streets)
        free = available_bytes()
        if self.world.device.type == "cuda":
            cached = torch.cuda.memory_reserved(self.world.device) - torch.cuda.memory_allocated(self.world.device)
            free = torch.cuda.mem_get_info(self.world.device)[0] + cached
        if needed > free:
            raise WouldNotFit(f"the strategy of {self.form.name}", needed=needed, available=free)

    def probabilities(self, policy: Policy, node: int) -> Tensor:
        """[M, 3] what a policy does in every situation at a decision."""
        cards = self.situations[int(self.form.tree.street[node])].cards
        betting = self.world.betting
        found = torch.empty(len(cards), ACTIONS, device=cards.device)
        rows = ROWS.get(cards.device.type, 2**16)
        for first in range(0, len(cards), rows):
            part = cards[first : first + rows]
            decision = betting.decision[node].expand(len(part), 1)
            legal = betting.legal[node].expand(len(part), ACTIONS)
            found[first : first + rows] = policy.probabilities(torch.cat([part, decision], dim=1), legal)
        return found


class NetworkAverage:
    """The average strategy of many networks, each weighed by how likely its own play leads to a decision."""

    def __init__(self, evaluation: HoldemEvaluation) -> None:
        self.evaluation = evaluation
        tree = evaluation.form.tree
        evaluation.check_fits(2 * ACTIONS)  # the sums, and a player's reach while one is added
        self.sums = {  # [M, 3] by decision: Σ w_t π_t σ_t
            node: torch.zeros(len(self._situations(node).cards), ACTIONS, device=evaluation.world.device)
            for node in evaluation.columns
        }
        # For every decision, the player's own last decision before it and what was done there; None: the first.
        self._before: dict[int, tuple[int, int] | None] = {}
        for node in evaluation.columns:
            child, above = node, int(tree.parent[node])
            while above >= 0 and (tree.kind[above] != NodeKind.DECISION or tree.player[above] != tree.player[node]):
                child, above = above, int(tree.parent[above])
            done = None if above < 0 else evaluation.columns[above][child - int(tree.first_child[above])]
            self._before[node] = None if done is None else (above, done)

    def _situations(self, node: int) -> Situations:
        return self.evaluation.situations[int(self.evaluation.form.tree.street[node])]

    def add(self, player: int, policy: Policy, weight: float) -> None:
        """Add one iteration's strategy of a player."""
        evaluation, tree = self.evaluation, self.evaluation.form.tree
        played: dict[int, Tensor] = {}  # [M, 3] the player's reach after each action
        for node in evaluation.columns:  # parents first
            if tree.player[node] == player:
                reached = evaluation.probabilities(policy, node)
                if (before := self._before[node]) is not None:
                    reach = played[before[0]][:, before[1]]
                    for street in range(int(tree.street[before[0]]), int(tree.street[node])):
                        earlier = evaluation.situations[street + 1].earlier
                        assert earlier is not None
                        reach = reach[earlier]
                    reached *= reach[:, None]
                played[node] = reached
                self.sums[node].add_(reached, alpha=weight)

    def strategy(self) -> TabulatedStrategy:
        """The average so far; uniform where no network's own play leads."""
        tables = {}
        for node, columns in self.evaluation.columns.items():
            sums = self.sums[node][:, columns]
            total = sums.sum(dim=1, keepdim=True)
            tables[node] = torch.where(total > 0, sums / total, 1.0 / len(columns))
        return TabulatedStrategy(self.evaluation.form, self.evaluation.situations, tables)
