"""Exact exploitability of policies on flop hold'em, against the rules and against tabular solutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")


from regretless.cards.deck import parse_board
from regretless.cards.ranges import Range
from regretless.deep import holdem_evaluation
from regretless.deep.holdem_cards import ABSENT, canonical_cards
from regretless.deep.holdem_evaluation import HoldemEvaluation, NetworkAverage, TabulatedStrategy
from regretless.deep.holdem_world import MOVES, HoldemWorld
from regretless.deep.networks import Network, new_network, regret_matching
from regretless.deep.policies import AdvantagePolicy, MixturePolicy, NetworkPolicy, Policy
from regretless.deep.traversal import traverse
from regretless.engines.contract import Evaluation
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.engines.numpy.public import PublicReference
from regretless.errors import WouldNotFit
from regretless.forms.betting import flatten, limit_branches
from regretless.forms.public import PublicForm
from regretless.games import CHANCE, FlopHoldem
from regretless.games.limit_betting import Move
from regretless.holdem.flops import all_flops
from regretless.holdem.form.runouts import compile_holdem
from regretless.holdem.games.flop_holdem import compile_flop_holdem
from regretless.solving.readable.best_response import evaluate as evaluate_by_rules
from regretless.variants import PRESETS, schedule

# No two of these share a card. The first hand on the first flop and the second on the second differ only in suits.
HANDS = (("AhKh", "AsKs", "7c7d"), ("QhQs", "KcKd", "6s5s"))
FLOPS = ("8h9hTh", "8s9sTs", "2c3d4c")


class FewCards(FlopHoldem):
    """Flop hold'em in which only some hands and flops are dealt, each equally often: small enough to be enumerated."""

    name = "few-cards"
    public_only = False

    def actions(self, state: Any) -> Sequence[str]:
        if self.player(state) != CHANCE:
            return super().actions(state)
        return HANDS[len(state.hands)] if len(state.hands) < 2 else FLOPS


@pytest.fixture(scope="module")
def few_cards() -> PublicForm:
    """The same game in the public form; equivalent flops are not merged."""
    game = FewCards()
    tree = flatten(limit_branches(game.betting, game.move_name))
    ip, oop = (Range.parse(", ".join(hands)) for hands in HANDS)
    flops = {tuple(sorted(parse_board(flop), reverse=True)): 1.0 for flop in FLOPS}
    form = compile_holdem((), ip, oop, tree, deals=(3,), flops=flops, group=np.arange(1), name=game.name)
    before, after = form.streets
    probability = np.full(len(FLOPS), 1 / len(FLOPS))  # the hands block none of them
    return replace(form, streets=(before, replace(after, probability=probability)), unit=game.big_blind)


@pytest.fixture(scope="module")
def world() -> HoldemWorld:
    return HoldemWorld(FlopHoldem(), "cpu")


def random_network(world: HoldemWorld, seed: int) -> Network:
    """A network whose strategies differ from situation to situation."""
    network = new_network(world.encoder, actions=world.actions, width=16, seed=seed, device=world.device)
    torch.manual_seed(seed)
    torch.nn.init.normal_(network.head.weight)
    return network


def by_rules(world: HoldemWorld, policy: Policy) -> dict[str, dict[str, float]]:
    """The policy at every information set of `FewCards`, found by playing through the rules."""
    game, found = FewCards(), {}
    waiting: list[tuple[Any, int]] = [(game.initial_state(), 0)]
    while waiting:
        state, node = waiting.pop()
        if game.is_terminal(state):
            continue
        if game.player(state) == CHANCE:
            waiting += [(game.next_state(state, outcome), node) for outcome in game.actions(state)]
            continue
        moves = game.betting.moves(state.point)
        columns = [MOVES.index(move) for move in moves]
        known = [*state.hands[game.player(state)], *state.board, *[ABSENT] * (5 - len(state.board))]
        cards = canonical_cards(torch.tensor([known], dtype=torch.int16))
        seen = torch.cat([cards, world.betting.decision[node].reshape(1, 1)], dim=1)
        legal = torch.zeros(1, 3, dtype=torch.bool)
        legal[0, columns] = True
        probabilities = policy.probabilities(seen, legal)[0, columns].double()
        probabilities /= probabilities.sum()
        found[game.info_set_key(state)] = dict(zip(game.actions(state), probabilities.tolist(), strict=True))
        for column, action in zip(columns, game.actions(state), strict=True):
            waiting.append((game.next_state(state, action), int(world.betting.child[node, column])))
    return found


def assert_close(found: Evaluation, expected: Evaluation, tolerance: float) -> None:
    assert found.values == pytest.approx(expected.values, abs=tolerance)
    assert found.best_response_values == pytest.approx(expected.best_response_values, abs=tolerance)


@pytest.mark.parametrize("make_policy", [NetworkPolicy, AdvantagePolicy])
def test_a_policy_is_worth_what_the_rules_say(few_cards: PublicForm, world: HoldemWorld, make_policy: Any) -> None:
    policy = make_policy(random_network(world, 1))
    evaluation = HoldemEvaluation(world, few_cards, engine=PublicReference(few_cards))
    expected = evaluate_by_rules(FewCards(), by_rules(world, policy))
    assert expected.exploitability > 0.1
    assert_close(evaluation.evaluate(policy), expected, 1e-6)
    assert_close(HoldemEvaluation(world, few_cards).evaluate(policy), expected, 1e-5)  # the engine that is chosen


def test_equivalent_hands_play_alike_to_the_bit(few_cards: PublicForm, world: HoldemWorld) -> None:
    evaluation = HoldemEvaluation(world, few_cards)
    strategy = evaluation.strategy(NetworkPolicy(random_network(world, 1)))
    place = {tuple(sorted(parse_board(flop))): row for row, flop in enumerate(FLOPS)}
    row_of = [place[tuple(sorted(cards))] for cards in few_cards.streets[1].cards.tolist()]
    first, second = row_of.index(0), row_of.index(1)
    hand_of = {tuple(cards): number for number, cards in enumerate(few_cards.hands[0].cards.tolist())}
    hearts, spades = (hand_of[tuple(sorted(parse_board(hand)))] for hand in HANDS[0][:2])
    node = next(node for node in evaluation.columns if few_cards.tree.player[node] == 0 and few_cards.tree.street[node])
    np.testing.assert_array_equal(strategy(node, first)[:, hearts], strategy(node, second)[:, spades])
    assert (strategy(node, first)[:, hearts] != strategy(node, first)[:, spades]).any()
    for node in evaluation.columns:
        stacked = strategy.stacked(node)
        for runout in range(len(stacked)):
            np.testing.assert_array_equal(stacked[runout], strategy(node, runout))


def test_an_average_is_worth_the_mean_of_its_networks(few_cards: PublicForm, world: HoldemWorld) -> None:
    """Drawing a network per game and playing the average strategy are worth the same against any opponent."""
    evaluation = HoldemEvaluation(world, few_cards, engine=PublicReference(few_cards))
    networks, weights = [random_network(world, seed) for seed in (2, 3, 4)], [1.0, 2.0, 3.0]
    opponent = evaluation.strategy(NetworkPolicy(random_network(world, 5)))

    def value(player: int, strategy: TabulatedStrategy) -> float:
        tables = {
            node: (strategy if few_cards.tree.player[node] == player else opponent).tables[node]
            for node in evaluation.columns
        }
        return evaluation.engine.evaluate(TabulatedStrategy(few_cards, evaluation.situations, tables)).values[player]

    average = evaluation.strategy(MixturePolicy([networks, networks], weights))
    for player in range(2):
        alone = [value(player, evaluation.strategy(AdvantagePolicy(network))) for network in networks]
        assert np.ptp(alone) > 0.05
        assert value(player, average) == pytest.approx(np.average(alone, weights=weights), abs=1e-6)
    uniform = NetworkAverage(evaluation).strategy()
    assert all((table == 1 / table.shape[1]).all() for table in uniform.tables.values())


def test_a_tabular_solution_is_as_exploitable_as_its_engine_says(world: HoldemWorld) -> None:
    """Flops merged by suits, of which some hands are equivalent: averages become tables by situation and come back."""
    game = FlopHoldem()
    tree = flatten(limit_branches(game.betting, game.move_name))
    flops = {flop.cards: flop.weight for flop in all_flops()[::25]}
    ip, oop = Range.parse("AA, T9s"), Range.parse("KK, 54s")
    form = compile_holdem((), ip, oop, tree, deals=(3,), flops=flops, name=game.name)
    form = replace(form, unit=game.big_blind)
    engine = NumbaPublicEngine(form, threads=1)
    engine.advance(schedule(PRESETS["discounted"], 1, 6))
    evaluation = HoldemEvaluation(world, form, engine=engine)
    tables = {}
    for node, columns in evaluation.columns.items():
        street, player = int(tree.street[node]), int(tree.player[node])
        situations = evaluation.situations[street]
        table = np.full((len(situations.cards), len(columns)), np.nan)
        for runout in range(len(form.streets[street].parent)):
            alive = ~form.streets[street].dead[player][runout]
            table[situations.row[player][runout][alive]] = engine.strategy(node, runout)[:, alive].T
        tables[node] = torch.from_numpy(np.nan_to_num(table, nan=1 / len(columns)))
    expected = engine.evaluate()
    assert expected.exploitability > 1e-3
    assert_close(engine.evaluate(TabulatedStrategy(form, evaluation.situations, tables)), expected, 2e-6)


def test_a_strategy_that_does_not_fit_is_refused(
    few_cards: PublicForm, world: HoldemWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = HoldemEvaluation(world, few_cards)
    needed = (
        4 * 3 * sum(len(evaluation.situations[int(few_cards.tree.street[node])].cards) for node in evaluation.columns)
    )
    policy = NetworkPolicy(random_network(world, 1))
    monkeypatch.setattr(holdem_evaluation, "available_bytes", lambda: needed)
    assert len(evaluation.strategy(policy).tables) == 64
    monkeypatch.setattr(holdem_evaluation, "available_bytes", lambda: needed - 1)
    with pytest.raises(WouldNotFit, match="the strategy of few-cards needs"):
        evaluation.strategy(policy)


def test_columns_are_the_moves_of_the_rules(world: HoldemWorld, few_cards: PublicForm) -> None:
    game, evaluation = FlopHoldem(), HoldemEvaluation(world, few_cards)
    for node, columns in evaluation.columns.items():
        labels = few_cards.tree.labels[few_cards.tree.first_child[node] : few_cards.tree.first_child[node + 1]]
        names = {Move.FOLD: "fold", Move.CALL: "c", Move.RAISE: "raise"}  # call and check
        assert all(label.startswith(names[MOVES[column]]) for label, column in zip(labels, columns, strict=True))
    assert len(evaluation.columns) == 64
    assert game.betting.raises == (3, 3)


def by_strength(observations: torch.Tensor) -> torch.Tensor:
    """Advantages of a player who raises with high and paired cards; those of the blinds differ."""
    cards = observations[:, :5].float()
    pairs = (observations[:, 1:5] // 4 == observations[:, :1] // 4).any(dim=1) & (observations[:, 1] >= 0)
    strength = cards[:, :2].sum(dim=1) / 100 + pairs
    caution = 1 + (observations[:, 7] % 3) / 3
    return torch.stack([1 / (0.2 + strength), caution, strength**2], dim=1)


@pytest.mark.slow
def test_the_whole_game_is_worth_what_sampled_games_are(world: HoldemWorld) -> None:
    """One policy at every information set, and in 400,000 games that the world deals and pays. Takes a minute."""
    exact_value = HoldemEvaluation(world, compile_flop_holdem(FlopHoldem())).evaluate(Matching(by_strength)).values
    drawing = torch.Generator().manual_seed(1)
    for player in range(2):
        found = torch.cat([traverse(world, [by_strength] * 2, player, 20_000, drawing).values for _ in range(20)])
        error = float(found.std()) / len(found) ** 0.5
        assert error < 0.01
        assert float(found.mean()) == pytest.approx(exact_value[player], abs=4 * error)
    assert abs(exact_value[0]) > 0.1


class Matching:
    """Regret matching on any function that gives advantages."""

    def __init__(self, advantages: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.advantages = advantages

    def probabilities(self, observations: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        return regret_matching(self.advantages(observations), legal)


@pytest.mark.gpu
def test_a_gpu_finds_the_same(few_cards: PublicForm, world: HoldemWorld) -> None:
    network = random_network(world, 1)
    expected = HoldemEvaluation(world, few_cards, engine=PublicReference(few_cards)).evaluate(NetworkPolicy(network))
    there = HoldemEvaluation(HoldemWorld(FlopHoldem(), "cuda"), few_cards)
    assert there.engine.device == "cuda"
    assert_close(there.evaluate(NetworkPolicy(network.cuda())), expected, 1e-4)
    network.cpu()
