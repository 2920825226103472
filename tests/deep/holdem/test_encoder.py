"""The encoder of cards and bets against its definition."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from regretless.deep.holdem.canonical import GROUPS  # noqa: E402
from regretless.deep.holdem.encoder import CardsAndBets  # noqa: E402
from regretless.deep.holdem.world import HoldemWorld  # noqa: E402
from regretless.games import LimitHoldem  # noqa: E402


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
