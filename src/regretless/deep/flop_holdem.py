"""Training a policy for flop hold'em, and reading it: by lines of play, hand by hand, as its solutions are read.

A node's strategy is computed by the networks when it is first read. Of Single Deep CFR's value networks it is the
average,

    σ̄(I, a) = Σ_t w_t π_t(I) σ_t(I, a) / Σ_t w_t π_t(I),    π_t(I) = product of σ_t over the player's earlier actions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from regretless.cards.hands import hand_text
from regretless.deep.problem import TrainingProblem
from regretless.deep.trained_policy import PolicyStrategy, TrainedPolicy, read_fields
from regretless.engines import FormKind, device_if_able, devices, estimate, fastest
from regretless.errors import InvalidFile, InvalidOption
from regretless.files.container import Container
from regretless.forms.history import AnyArray, FloatArray, Strategy
from regretless.forms.normalise import normalise_columns
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.public_size import size_of_form
from regretless.forms.tree_hash import tree_hash
from regretless.games.flop_holdem import FlopHoldem
from regretless.games.game import CHANCE
from regretless.games.limit_holdem import HoldemState
from regretless.holdem.games.big_blinds import MILLI, UNIT
from regretless.holdem.games.flop_holdem import FlopHoldemSolution, compile_flop_holdem
from regretless.holdem.games.reader import FlopHoldemReader
from regretless.reprs import brief
from regretless.solving.problem import Request
from regretless.solving.public_problem import count_nodes_and_sets
from regretless.solving.record import Record

if TYPE_CHECKING:
    from regretless.deep.engine import DeepEngine
    from regretless.deep.holdem_world import HoldemWorld
    from regretless.deep.policies import AnyPolicy, Policy

__all__ = ["FlopHoldemTraining", "PolicyNodes", "TrainedFlopHoldem"]

_CARDS = re.compile(r"([2-9TJQKA][cdhs])+")


class PolicyNodes:
    """A policy at single nodes of a form, as readers ask for them."""

    def __init__(self, world: HoldemWorld, form: PublicForm, policy: AnyPolicy) -> None:
        self.world, self.form, self.policy = world, form, policy
        self.strategy = cache(self._strategy)

    def _strategy(self, node: int, runout: int = 0) -> FloatArray:
        """[actions, H] at a betting node on a runout of its street; uniform for hands that the runout blocks."""
        from regretless.deep.policies import AdvantagePolicy, MixturePolicy

        if not isinstance(self.policy, MixturePolicy):
            return self._played(self.policy, node, runout)
        player = int(self.form.tree.player[node])
        total: FloatArray | None = None
        for weight, network in zip(self.policy.weights, self.policy.networks[player], strict=True):
            each = AdvantagePolicy(network)
            played = weight * self._reach(each, node, runout) * self._played(each, node, runout)
            total = played if total is None else total + played
        assert total is not None
        return normalise_columns(total)

    def _reach(self, policy: Policy, node: int, runout: int) -> FloatArray:
        """[H] the product of the player's own probabilities on the way to a node."""
        tree, player = self.form.tree, self.form.tree.player[node]
        street, reach = int(tree.street[node]), np.ones(len(self.form.hands[player].weight))
        while (above := int(tree.parent[node])) >= 0:
            if tree.kind[above] == NodeKind.DECISION and tree.player[above] == player:
                above_runout = runout if tree.street[above] == street else 0
                reach *= self._played(policy, above, above_runout)[node - int(tree.first_child[above])]
            node = above
        return reach

    def _played(self, policy: Policy, node: int, runout: int) -> FloatArray:
        """[actions, H] what one policy does; uniform for hands that the runout blocks."""
        import torch

        from regretless.deep.holdem_cards import ABSENT, CARDS, FLOP, HOLE, canonical_cards
        from regretless.deep.holdem_world import action_columns

        tree, betting = self.form.tree, self.world.betting
        street, player = int(tree.street[node]), int(tree.player[node])
        board = self.form.streets[street].cards[runout].astype(np.int16)
        hands = self.form.hands[player].cards
        cards = np.full((len(hands), CARDS), ABSENT, np.int16)
        cards[:, HOLE], cards[:, FLOP.start : FLOP.start + len(board)] = hands, board
        blocked = self.form.streets[street].dead[player][runout]
        columns = action_columns(tree)[tree.first_child[node] : tree.first_child[node + 1]]
        played = np.full((len(hands), len(columns)), 1.0 / len(columns))
        seen = canonical_cards(torch.as_tensor(cards[~blocked], device=self.world.device))
        observations = torch.cat([seen, betting.decision[node].expand(len(seen), 1)], dim=1)
        legal = betting.legal[node].expand(len(seen), self.world.actions)
        played[~blocked] = policy.probabilities(observations, legal).cpu().numpy()[:, columns]
        return played.T


class FlopHoldemStrategy(PolicyStrategy):
    """The first round by the names of information sets; any decision by a state of the game."""

    def __init__(self, table: Strategy, reader: FlopHoldemReader) -> None:
        super().__init__(table, FlopHoldem.name, FlopHoldem())
        self._reader = reader

    def __call__(self, state: object) -> dict[str, float]:
        rules = self.rules
        try:
            if not isinstance(state, HoldemState):
                raise TypeError(f"{state!r} is not a HoldemState")
            decides = not rules.is_terminal(state) and rules.player(state) != CHANCE
            line = ", ".join(word for word in state.line if not _CARDS.fullmatch(word))
            hand = rules.info_set_key(state).partition(":")[0] if decides else ""
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise InvalidOption("state", state, f"is not a state of {rules.name}") from None
        if not decides:
            raise InvalidOption("state", state, "is not a decision of a player")
        played = self._reader.played(self._reader.find(line, state.board))
        column = [hand_text(int(each)) for each in played.hand].index(hand)
        return dict(zip(played.actions, played.strategy[:, column].tolist(), strict=True))


@dataclass(frozen=True, kw_only=True)
class TrainedFlopHoldem(TrainedPolicy, FlopHoldemSolution):
    """A policy for flop hold'em that networks learned. Values are in big blinds, the small blind's first."""

    __repr__ = brief

    @cached_property
    def strategy(self) -> FlopHoldemStrategy:
        """The first round by information set; `strategy(state)` takes a state of the game, of any round."""
        return FlopHoldemStrategy(self.reader.preflop(), self.reader)

    def network_strategy(self) -> Strategy:
        return self.reader.preflop()

    def table(self) -> dict[str, AnyArray]:
        return {}

    @classmethod
    def read(cls, file: Container) -> Self:
        path = file.path
        fields = read_fields(file, Record.read(file, players=2))

        def make_reader() -> FlopHoldemReader:
            from regretless.deep.holdem_world import HoldemWorld
            from regretless.deep.policies import policy_from

            record, training = fields["record"], fields["training"]
            form = compile_flop_holdem(FlopHoldem())
            if tree_hash(form) != record.tree_hash:
                raise InvalidFile(path, f"belongs to a different tree from that of {FlopHoldem.name}")
            world = HoldemWorld(FlopHoldem(), "cpu")
            policy = policy_from(fields["networks"], world, training.settings, iterations=record.iterations, where=path)
            return FlopHoldemReader(form, PolicyNodes(world, form, policy))

        return cls(make_reader=make_reader, **fields)


class FlopHoldemTraining(TrainingProblem[PublicForm]):
    """Flop hold'em. Targets are in mbb/g."""

    unit = UNIT
    scale = MILLI
    form_name = "public"
    solution_type = TrainedFlopHoldem
    rules: FlopHoldem

    def form(self) -> PublicForm:
        return compile_flop_holdem(self.rules)

    def create(self, form: PublicForm, request: Request) -> DeepEngine:
        from regretless.deep.deep_cfr import DeepCfr
        from regretless.deep.engine import DeepEngine, check_fits, device_of
        from regretless.deep.holdem_evaluation import HoldemEvaluation
        from regretless.deep.holdem_world import HoldemWorld

        gpu = request.device == "auto" and devices.cuda_devices() > 0
        world = HoldemWorld(self.rules, device_of("cuda" if gpu else request.device))
        threads = request.threads or devices.available_cores()
        # Measuring takes an engine, and more memory than a small training: count it before hours of training.
        device = device_if_able(FormKind.PUBLIC, world.device.type)
        engine, size = fastest(FormKind.PUBLIC, device), size_of_form(form)
        measuring = estimate(engine, FormKind.PUBLIC, size, storage=32, threads=threads) or 0
        settings = self.settings_for(request)
        check_fits(self.name, world, settings, extra=measuring)
        evaluator = HoldemEvaluation(world, form)
        evaluator.check_fits(2 * world.actions)
        core = DeepCfr(world, settings, seed=request.settings.seed)
        return DeepEngine(form, core, evaluator, threads=threads, watchers=self.watchers)

    def size(self, form: PublicForm) -> tuple[int, int]:
        return count_nodes_and_sets(form)

    def solution(self, record: Record, form: PublicForm, engine: DeepEngine) -> TrainedFlopHoldem:
        from regretless.deep.holdem_evaluation import HoldemEvaluation

        assert isinstance(engine.evaluator, HoldemEvaluation)
        nodes = PolicyNodes(engine.evaluator.world, form, engine.policy())
        return TrainedFlopHoldem(make_reader=lambda: FlopHoldemReader(form, nodes), **self.fields(record, form, engine))
