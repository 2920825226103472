"""Canonical suits, strengths and the encoder of hold'em cards, each against its definition."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from regretless.cards.evaluator import evaluate
from regretless.cards.hands import HAND_CARDS
from regretless.cards.isomorphism import CARD_MAPS, canonical_boards, canonical_situation
from regretless.deep.holdem_cards import ABSENT, FLOP, GROUPS, HOLE, CardsAndBets, Strengths, canonical_cards
from regretless.deep.holdem_world import HoldemWorld
from regretless.games import LimitHoldem

DEALT = (2, 5, 6, 7)  # cards before the flop, on it, on the turn, on the river


def situations(count: int, dealt: int, seed: int = 0) -> torch.Tensor:
    """Random cards; every second row has few ranks, so that suits are often exchangeable."""
    drawn = np.random.default_rng(seed).random((count, 52))
    drawn[::2, 12:] += 1  # only deuces, threes and fours
    cards = np.argsort(drawn, axis=1)[:, :7].astype(np.int16)
    cards[:, dealt:] = ABSENT
    return torch.from_numpy(cards)


def renamed(cards: torch.Tensor, row: int) -> torch.Tensor:
    images = torch.from_numpy(CARD_MAPS[row].astype(np.int16))
    return torch.where(cards >= 0, images[cards.clamp(min=0).long()], cards)


def by_trying_all(cards: torch.Tensor) -> torch.Tensor:
    """The largest of the 24 renamings: the flop decides first, then hole cards, turn and river."""
    images = torch.stack([renamed(cards, row) for row in range(24)])
    for group in (HOLE, FLOP):
        images[:, :, group] = images[:, :, group].sort(dim=2, descending=True).values
    order = [2, 3, 4, 0, 1, 5, 6]
    number = torch.zeros(images.shape[:2], dtype=torch.int64)
    for column in order:
        number = number * 64 + images[:, :, column].long() + 1
    return images[number.argmax(dim=0), torch.arange(len(cards))]


@pytest.mark.parametrize("dealt", DEALT)
def test_the_form_is_the_largest_of_all_renamings(dealt: int) -> None:
    cards = situations(2000, dealt)
    assert torch.equal(canonical_cards(cards), by_trying_all(cards))


@pytest.mark.parametrize("dealt", DEALT)
def test_neither_suits_nor_the_order_of_cards_matter(dealt: int) -> None:
    cards = situations(500, dealt, seed=1)
    expected = canonical_cards(cards)
    random = np.random.default_rng(2)
    for row in range(24):
        changed = renamed(cards, row)
        changed[:, HOLE] = changed[:, HOLE][:, random.permutation(2)]
        changed[:, FLOP] = changed[:, FLOP][:, random.permutation(3)]
        assert torch.equal(canonical_cards(changed), expected)


def test_the_turn_and_the_river_are_not_exchangeable() -> None:
    cards = torch.tensor([[0, 5, 10, 15, 20, 24, 28], [0, 5, 10, 15, 20, 28, 24]])
    first, second = canonical_cards(cards)
    assert not torch.equal(first, second)


def test_the_flop_has_the_form_of_the_library() -> None:
    for row in situations(300, 5, seed=3):
        hand, flop = canonical_situation(row[:2].tolist(), row[2:5].tolist())
        assert canonical_cards(row[None])[0].tolist() == [*hand, *flop, ABSENT, ABSENT]


def test_hands_before_the_flop() -> None:
    cards = torch.full((1326, 7), ABSENT)
    cards[:, HOLE] = torch.from_numpy(HAND_CARDS.astype(np.int64))
    assert len(torch.unique(canonical_cards(cards), dim=0)) == 169


def test_hands_on_the_flop() -> None:
    """One number per situation: 1,286,792 of them, counting each flop once."""
    flops = torch.from_numpy(canonical_boards(3).cards.astype(np.int16))
    cards = torch.full((len(flops), 1326, 7), ABSENT, dtype=torch.int16)
    cards[:, :, HOLE] = torch.from_numpy(HAND_CARDS.astype(np.int16))
    cards[:, :, FLOP] = flops[:, None]
    held = cards[:, :, HOLE, None] == cards[:, :, None, FLOP]
    found = canonical_cards(cards[~held.flatten(2).any(dim=2)]).long()
    number = torch.zeros(len(found), dtype=torch.int64)
    for column in range(5):
        number = number * 64 + found[:, column]
    assert len(torch.unique(number)) == 1_286_792


@pytest.mark.gpu
@pytest.mark.parametrize("dealt", DEALT)
def test_a_gpu_finds_the_same_suits(dealt: int) -> None:
    cards = situations(200_000, dealt)
    assert torch.equal(canonical_cards(cards.cuda()).cpu(), canonical_cards(cards))


# --- strengths -------------------------------------------------------------------------------------------------------


def hands(count: int, size: int) -> np.ndarray:
    """Random cards; a third of them from two suits, where flushes and straight flushes are common."""
    drawn = np.random.default_rng(size).random((count, 52))
    drawn[::3, np.arange(52) % 4 > 1] += 1
    return np.argsort(drawn, axis=1)[:, :size].astype(np.uint8)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_every_hand_is_as_strong_as_the_evaluator_says(size: int) -> None:
    cards = hands(60_000, size)
    expected = evaluate(cards)
    assert len(np.unique(expected)) > 2500  # of 7,462
    np.testing.assert_array_equal(Strengths("cpu").of(torch.from_numpy(cards)).numpy(), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("size", [5, 7])
def test_a_gpu_finds_the_same_strengths(size: int) -> None:
    cards = hands(500_000, size)
    strengths = Strengths("cuda").of(torch.from_numpy(cards).cuda())
    np.testing.assert_array_equal(strengths.cpu().numpy(), evaluate(cards))


# --- the encoder -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world() -> HoldemWorld:
    return HoldemWorld(LimitHoldem(), "cpu")


def observations(world: HoldemWorld) -> torch.Tensor:
    """What players see in every round: hands with 2, 5, 6 and 7 cards, at some decision of that round."""
    states = world.deal(400, torch.Generator().manual_seed(1))
    rounds = torch.arange(400) % 4
    nodes = [int((world.betting.round[world.betting.node] == number).nonzero()[-1]) for number in range(4)]
    decision = torch.tensor(nodes)[rounds].to(torch.int16)
    return torch.cat([states.seen[torch.arange(400), rounds % 2, rounds], decision[:, None]], dim=1)


def plainly(encoder: CardsAndBets, seen: torch.Tensor) -> torch.Tensor:
    """Embeddings of rank, suit and card, summed within groups and concatenated; then the layers."""
    cards = seen[:, :7].long()
    dealt = cards.clamp(min=0)
    each = encoder.rank(dealt // 4) + encoder.suit(dealt % 4) + encoder.card(dealt)
    each = each * (cards >= 0)[:, :, None]
    grouped = torch.cat([each[:, group].sum(dim=1) for group in GROUPS], dim=1)
    return torch.cat([encoder.card_branch(grouped), encoder.bet_branch(encoder.bets[seen[:, 7].long()])], dim=1)


def test_features_and_gradients_are_those_of_the_definition(world: HoldemWorld) -> None:
    torch.manual_seed(0)
    encoder, seen = world.encoder(16).double(), observations(world)
    found, expected = encoder(seen), plainly(encoder, seen)
    assert found.shape == (400, encoder.out_features) == (400, 32)
    torch.testing.assert_close(found, expected)
    target = torch.rand_like(found)
    ours = torch.autograd.grad((found * target).sum(), list(encoder.parameters()))
    theirs = torch.autograd.grad((expected * target).sum(), list(encoder.parameters()))
    for one, other in zip(ours, theirs, strict=True):
        assert one.abs().sum() > 0
        torch.testing.assert_close(one, other)


def test_a_card_that_is_not_dealt_adds_nothing(world: HoldemWorld) -> None:
    encoder = world.encoder(8)
    assert not encoder.embeddings()[0].any()
    assert encoder.embeddings()[1:].abs().sum(dim=1).min() > 0
