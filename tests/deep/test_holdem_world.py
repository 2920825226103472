"""Batches of limit hold'em against its rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from regretless.cards.deck import card_text
from regretless.deep.holdem_cards import ABSENT, canonical_cards
from regretless.deep.holdem_world import HoldemStates, HoldemWorld, deal_cards
from regretless.deep.worlds import TERMINAL
from regretless.games import CHANCE, FlopHoldem, LimitHoldem
from regretless.games.limit_holdem import LimitHoldemRules

GAMES = [pytest.param(FlopHoldem(), id="flop"), pytest.param(LimitHoldem(), id="limit")]


def text(cards: Any) -> str:
    return "".join(card_text(int(card)) for card in cards)


def started(game: LimitHoldemRules, cards: list[int]) -> Any:
    state = game.initial_state()
    for hand in (cards[:2], cards[2:4]):
        state = game.next_state(state, text(hand))
    return state


@pytest.mark.parametrize("game", GAMES)
def test_states_follow_the_rules(game: LimitHoldemRules) -> None:
    """300 random games: who acts, what is legal, what is seen and what is paid."""
    count, size = 300, 4 + sum(game.cards_dealt)
    world = HoldemWorld(game, "cpu")
    states = world.deal(count, torch.Generator().manual_seed(3))
    dealt = deal_cards(count, size, torch.Generator().manual_seed(3)).tolist()
    ruled = [started(game, cards) for cards in dealt]
    random = np.random.default_rng(1)
    drawing = torch.Generator().manual_seed(0)
    finished = 0
    while True:
        over = [game.is_terminal(state) for state in ruled]
        mover, legal, seen = world.player(states), world.legal(states), world.observe(states)
        assert (mover == TERMINAL).tolist() == over
        done = torch.tensor(over).nonzero()[:, 0]
        for player in range(2):
            paid = world.utility(world.select(states, done), player).tolist()
            assert paid == [game.utilities(ruled[row])[player] for row in done.tolist()]
        finished += len(done)
        going = [row for row, ended in enumerate(over) if not ended]
        if not going:
            break
        actions = []
        for row in going:
            state, cards = ruled[row], dealt[row]
            assert int(mover[row]) == game.player(state)
            names = ["raise" if name.startswith("raise") else name for name in game.actions(state)]
            columns = [{"fold": 0, "check": 1, "call": 1, "raise": 2}[name] for name in names]
            assert legal[row].nonzero()[:, 0].tolist() == columns
            known = [*state.hands[game.player(state)], *state.board]
            known += [ABSENT] * (7 - len(known))
            assert seen[row, :7].tolist() == canonical_cards(torch.tensor([known]))[0].tolist()
            weights = np.where(np.array(names) == "fold", 0.1, 1.0)
            chosen = int(random.choice(len(names), p=weights / weights.sum()))
            actions.append(columns[chosen])
            state = game.next_state(state, game.actions(state)[chosen])
            while not game.is_terminal(state) and game.player(state) == CHANCE:
                shown = 4 + len(state.board)
                more = 1 if state.board else 3
                state = game.next_state(state, text(cards[shown : shown + more]))
            ruled[row] = state
        ruled, dealt = [ruled[row] for row in going], [dealt[row] for row in going]
        states = world.act(world.select(states, torch.tensor(going)), torch.tensor(actions), drawing)
    assert finished == count


@pytest.mark.parametrize("game", GAMES)
def test_a_decision_is_known_by_its_bet_features(game: LimitHoldemRules) -> None:
    """No two decisions of a player have the same features, and nothing lies outside 0..1.5 pots."""
    betting = HoldemWorld(game, "cpu").betting
    assert betting.features.shape == (len(betting.node), 48)
    player = betting.player[betting.node].float()[:, None]
    assert len(torch.unique(torch.cat([betting.features, player], dim=1), dim=0)) == len(betting.node)
    assert 0 <= float(betting.features.min()) < float(betting.features.max()) <= 1.5


def test_features_of_a_line() -> None:
    """Small blind calls, big blind raises, call; on the flop a check: fractions of the pot before each action."""
    world = HoldemWorld(FlopHoldem(), "cpu")
    states, drawing = world.deal(1, torch.Generator().manual_seed(0)), torch.Generator()
    for action in (1, 2, 1, 1):
        states = world.act(states, torch.tensor([action]), drawing)
    features = world.betting.features[int(world.observe(states)[0, 7])].reshape(4, 6, 2)
    assert features[0, :4].tolist() == pytest.approx(torch.tensor([[1, 50 / 150], [1, 0.5], [1, 100 / 300], [0, 0]]))
    assert features[1, :2].tolist() == [[1, 0], [0, 0]]
    assert not features[2:].any()


def test_cards_are_dealt_without_replacement_and_equally_often() -> None:
    count = 60_000
    cards = deal_cards(count, 9, torch.Generator().manual_seed(1)).long()
    assert (cards.sort(dim=1).values.diff(dim=1) > 0).all()
    for place in range(9):
        found = torch.bincount(cards[:, place], minlength=52)
        chi_square = float(((found - count / 52) ** 2 / (count / 52)).sum())
        assert chi_square < 51 + 5 * (2 * 51) ** 0.5
    pairs = torch.bincount(cards[:, 0] * 52 + cards[:, 8], minlength=52 * 52).reshape(52, 52)
    expected = count / (52 * 51)
    off = ~torch.eye(52, dtype=torch.bool)
    assert float(((pairs[off] - expected) ** 2 / expected).sum()) < 52 * 51 + 5 * (2 * 52 * 51) ** 0.5


def test_equal_seeds_deal_equal_cards() -> None:
    world = HoldemWorld(LimitHoldem(), "cpu")
    first, second = (world.deal(50, torch.Generator().manual_seed(7)) for _ in range(2))
    assert torch.equal(first.seen, second.seen)
    assert torch.equal(first.winner, second.winner)


@pytest.mark.gpu
@pytest.mark.parametrize("game", GAMES)
def test_states_on_a_gpu(game: LimitHoldemRules) -> None:
    """The same deals played on both devices; and what a GPU deals is a deal."""
    worlds = [HoldemWorld(game, device) for device in ("cpu", "cuda")]
    here = worlds[0].deal(1000, torch.Generator().manual_seed(1))
    there = HoldemStates(*(tensor.cuda() for tensor in here))
    random = np.random.default_rng(0)
    while True:
        both = [(world.player(states), world.legal(states)) for world, states in zip(worlds, (here, there))]
        for one, other in zip(*both):
            assert torch.equal(one, other.cpu())
        going = (both[0][0] != TERMINAL).nonzero()[:, 0]
        over = (both[0][0] == TERMINAL).nonzero()[:, 0]
        paid = [
            worlds[0].utility(worlds[0].select(here, over), 1),
            worlds[1].utility(worlds[1].select(there, over.cuda()), 1),
        ]
        assert torch.equal(paid[0], paid[1].cpu())
        if not len(going):
            break
        here, there = worlds[0].select(here, going), worlds[1].select(there, going.cuda())
        assert torch.equal(worlds[0].observe(here), worlds[1].observe(there).cpu())
        legal = worlds[0].legal(here).numpy()
        action = torch.from_numpy((random.random(legal.shape) * legal).argmax(axis=1))
        here = worlds[0].act(here, action, torch.Generator())
        there = worlds[1].act(there, action.cuda(), torch.Generator("cuda"))
    cards = deal_cards(10_000, 9, torch.Generator("cuda").manual_seed(1)).cpu()
    assert (cards.sort(dim=1).values.diff(dim=1) > 0).all()
    dealt = worlds[1].deal(10_000, torch.Generator("cuda").manual_seed(1))
    assert torch.equal(canonical_cards(dealt.seen[:, 0, 1].cpu()), dealt.seen[:, 0, 1].cpu())
