"""A spot of a game from the deal, solved safely: no hand of the opponent gains more than in the game's solution.

Each player's strategy comes from a solve of its own (`solving/resolving.py`, `forms/gadgets.py`):

1. The opponent's range has every hand that the board leaves, also those that never arrive. Any weights above 0 give the
   same guarantee; (1 + w) / 2, with w his range, keeps the renamings of suits that the spot has.
2. A best response to the game's solution from the spot on says what each hand may leave with.
3. The gadget game is solved until a best response gains no more than the target. With rake, which makes a game more
   than a division of chips, the guarantee of step 2 in `forms/gadgets.py` holds only up to what the rake changes.

The solution of the spot has the strategies of both solves. Its exploitability is that against the ranges that arrive,
as for every spot: it is higher than that of plain re-solving, which minimises it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Unpack

import numpy as np

from regretless.cards.hands import HAND_COUNT, blocked_by
from regretless.cards.ranges import Range
from regretless.engines import Evaluation, PublicEngine, StrategyEvaluator
from regretless.errors import InvalidOption
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.normalise import normalise_columns
from regretless.forms.public import BettingTree, PublicForm
from regretless.forms.walking import children
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import SpotParts, compile_spot, spot_hands
from regretless.holdem.form.suits import Deal, spot_group
from regretless.holdem.games.reader import DealtReader
from regretless.holdem.problem import SpotProblem
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.solving.loop import Outcome, run
from regretless.solving.options import SolveOptions, SpotKeywords
from regretless.solving.problem import Request
from regretless.solving.record import Measurement
from regretless.solving.request import make_request
from regretless.solving.resolving import Resolver
from regretless.solving.solve import Hooks, Recorder

__all__ = ["Blueprint", "solve_safely"]

REFUSED = ("resume", "locks", "checkpoint", "save_every")
BOARDS = 4096  # whose deals stay in memory: more than a flop has runouts
NO_REACH = (np.zeros(HAND_COUNT), np.zeros(HAND_COUNT))


@dataclass(frozen=True)
class Blueprint:
    """The solution of a game, from the node on at which a spot begins."""

    reader: DealtReader
    start: LineNode

    def read(self, form: PublicForm, hands: tuple[IntArray, IntArray]) -> _Strategy:
        """The same strategy in a form of the spot; `hands` are the numbers of its hands among the 1,326."""
        return _Strategy(self, form, hands)


class _Strategy:
    """[actions, H] at a node of a spot's form on a runout, as the solution of the game plays there."""

    def __init__(self, blueprint: Blueprint, form: PublicForm, hands: tuple[IntArray, IntArray]) -> None:
        self.reader, self.start, self.form, self.hands = blueprint.reader, blueprint.start, form, hands
        self.node = _same_nodes(blueprint.reader.tree, blueprint.start.index, form.tree)
        self._deal = lru_cache(BOARDS)(self._find_deal)

    def __call__(self, node: int, runout: int) -> FloatArray:
        player, street = int(self.form.tree.player[node]), int(self.form.tree.street[node])
        deal = self._deal(street, runout)
        rows = self.reader.strategy(LineNode(self.node[node], deal, NO_REACH))
        return normalise_columns(rows[:, self.reader.read_by(deal, player)[self.hands[player]]])  # blocked hands: any

    def _find_deal(self, street: int, runout: int) -> Deal:
        """The deal of the game that is a runout of the spot."""
        if street == 0:
            return self.start.deal
        dealt = self.form.streets[street]
        before = self._deal(street - 1, int(dealt.parent[runout]))
        tree = self.form.tree
        chance = int(tree.parent[np.argmax(tree.street == street)])  # one of those that deal this street
        node = LineNode(self.node[chance], before, NO_REACH)
        return self.reader.deal(node, *dealt.cards[runout].tolist()).deal


def _same_nodes(game: BettingTree, start: int, spot: BettingTree) -> list[int]:
    """The node of the game that is each node of a spot, whose betting is the game's from a node on."""
    nodes = [start]
    for node in nodes:  # grows during the loop: breadth first, as the spot is numbered
        nodes += children(game, node)
    if len(nodes) != len(spot.kind) or (game.kind[nodes] != spot.kind).any():
        raise InvalidOption("safe", True, "needs the betting of the game, which this spot does not have")
    return nodes


def solve_safely(spot: Spot, blueprint: Blueprint, **keywords: Unpack[SpotKeywords]) -> SpotSolution:
    """Solve the spot at which a blueprint begins; a target is what a best response may gain, in % of the pot.

    Options are those of `solve_spot`, without locks, checkpoints and resuming.
    """
    for name in REFUSED:
        if keywords.get(name) is not None:
            raise InvalidOption(name, keywords.get(name), "cannot be combined with safe re-solving")
    options = SolveOptions.read(keywords)
    group, began = spot_group(spot), time.perf_counter()
    outcomes: list[Outcome] = []
    averages = {}
    for player, wide in enumerate((_every_hand(spot, "oop"), _every_hand(spot, "ip"))):
        request = make_request(SpotProblem(wide, options), options)
        request.problem.check_fits(request)
        parts = SpotParts(betting_of(wide), group, spot_hands(wide))
        form = compile_spot(wide, parts)
        strategy = blueprint.read(form, parts.hand_numbers)
        alternatives = StrategyEvaluator(form).root_values(1 - player, strategy, best=True)
        resolver = _resolver(request, Hooks.of(options), outcomes)
        averages[player] = resolver.average(player, form, {}, {0: alternatives[None]})
    request = make_request(SpotProblem(spot, options), options)
    form = request.problem.form()
    engine = _resolver(request, Hooks.of(options), outcomes).combined(form, averages)
    outcome = _joint_outcome(outcomes, engine.evaluate())
    setup = time.perf_counter() - began - outcome.seconds
    recorder = Recorder(request, form, engine, request.problem.tree_hash(form), setup_seconds=setup)
    solution = recorder.solution(outcome)
    assert isinstance(solution, SpotSolution)
    return replace(solution, snapshot=None)  # without regrets, there is nothing to resume


def _joint_outcome(outcomes: Sequence[Outcome], evaluation: Evaluation) -> Outcome:
    """The outcome of several solves as one; an interrupt of any, or a missed target, is one of all."""
    iterations = max(outcome.iterations for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    reasons = {outcome.reason for outcome in outcomes}
    return Outcome(
        reason=next(reason for reason in ("interrupted", "iterations", "target") if reason in reasons),
        iterations=iterations,
        evaluation=evaluation,
        history=(Measurement(iterations, seconds, evaluation.exploitability),),
        seconds=seconds,
        seconds_per_iteration=sum(outcome.seconds_per_iteration for outcome in outcomes),
    )


def _every_hand(spot: Spot, player: PlayerName) -> Spot:
    """The spot in which a player holds all hands that the board leaves, those that arrive with more weight."""
    arriving = spot.ip if player == "ip" else spot.oop
    hands = Range(np.where(blocked_by(spot.board), 0.0, (1.0 + arriving.weights) / 2))
    return replace(spot, ip=hands) if player == "ip" else replace(spot, oop=hands)


def _resolver(request: Request, hooks: Hooks, outcomes: list[Outcome]) -> Resolver:
    """Solves with the options of a request, and adds the outcome of each solve to `outcomes`."""

    def create(form: PublicForm) -> PublicEngine:
        engine: PublicEngine = request.problem.create(form, request)
        return engine

    def solve(engine: PublicEngine) -> None:
        assert request.variant is not None
        report, interrupted = hooks.report, hooks.interrupted
        outcomes.append(run(engine, request.variant, request.stop, report=report, interrupted=interrupted))

    return Resolver(create, solve)
