"""The network's shape, skips and normalisation."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from regretless.deep.networks import Network, TableEncoder, new_network
from regretless.deep.worlds import HistoryWorld
from regretless.games import Leduc

CPU = torch.device("cpu")
WORLD = HistoryWorld(Leduc())


def network(seed: int = 1, width: int = 64) -> Network:
    return new_network(WORLD.encoder, actions=WORLD.actions, width=width, seed=seed, device=CPU)


def shaken(made: Network) -> Network:
    """With a head that is not 0."""
    torch.nn.init.normal_(made.head.weight, generator=torch.Generator().manual_seed(1))
    return made


def test_an_untrained_network_gives_zero_and_depends_on_its_seed_only() -> None:
    before = torch.random.get_rng_state()
    first, second, third = network(1), network(1), network(2)
    assert torch.equal(torch.random.get_rng_state(), before)
    observations, _ = WORLD.information_sets()
    assert first(observations).shape == (936, 3)
    assert not first(observations).any()
    pairs = list(zip(first.parameters(), second.parameters(), third.parameters(), strict=True))
    assert all(torch.equal(one, other) for one, other, _ in pairs)
    assert not all(torch.equal(one, other) for one, _, other in pairs)


def test_a_new_network_leaves_the_generators_of_devices_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seeded: list[int] = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded.append)
    network(1)
    assert not seeded


def test_layers_skips_and_normalisation_are_as_described() -> None:
    made = shaken(network())
    observations, _ = WORLD.information_sets()
    encoder = made.encoder
    number = observations[:, 0].long()
    cards = encoder.cards[encoder.card_row[number]].float()
    for layer in (encoder.card_branch.first, encoder.card_branch.second, encoder.card_branch.third):
        cards = layer(cards).relu()
    bets = encoder.bet_branch.first(encoder.bets[encoder.bet_row[number]]).relu()
    bets = (encoder.bet_branch.second(bets) + bets).relu()
    hidden = torch.cat((cards, bets), dim=1)
    assert hidden.shape == (936, 128)
    hidden = made.trunk[0](hidden).relu()
    for layer in made.trunk[1:]:
        hidden = (layer(hidden) + hidden).relu()
    normalised = (hidden - hidden.mean(dim=1, keepdim=True)) / (
        hidden.var(dim=1, correction=0, keepdim=True) + 1e-5
    ).sqrt()
    assert torch.allclose(made(observations), made.head(normalised), atol=1e-4)


def test_a_few_observations_give_what_all_of_them_do() -> None:
    """The branches see whole tables where that is less work, and single rows elsewhere."""
    made = shaken(network())
    observations, _ = WORLD.information_sets()
    assert torch.allclose(made(observations)[:5], made(observations[:5]), atol=1e-6)


def test_every_parameter_has_a_gradient() -> None:
    made = shaken(network())
    observations, _ = WORLD.information_sets()
    made(observations).square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in made.parameters())


def test_a_game_without_bets_has_one_branch() -> None:
    encoder = TableEncoder(torch.eye(5), None, 8)
    assert encoder(torch.arange(5)[:, None]).shape == (5, 8)
    assert Network(encoder, 4, 8)(torch.arange(5)[:, None]).shape == (5, 4)
