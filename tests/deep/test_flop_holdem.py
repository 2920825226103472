"""Trainings of flop hold'em, on five of its 1,755 flops: measuring on all of them takes minutes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import regretless as rl
from regretless.deep import flop_holdem
from regretless.deep.flop_holdem import TrainedFlopHoldem
from regretless.errors import InvalidGame, InvalidOption
from regretless.forms.public import NodeKind, PublicForm
from regretless.games import FlopHoldem
from regretless.holdem.flops import all_flops
from regretless.holdem.games.flop_holdem import compile_flop_holdem

QUICK: dict[str, Any] = {
    "preset": "fhp", "iterations": 2, "traversals": 20, "value_steps": 3, "policy_steps": 3, "batch": 32, "width": 8,
    "advantage_capacity": 5_000, "strategy_capacity": 5_000, "seed": 1, "device": "cpu", "threads": 1,
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def small_flop_holdem() -> Iterator[None]:
    """Flop hold'em on five of the 1,755 flops."""

    @cache
    def compiled(game: FlopHoldem) -> PublicForm:
        return compile_flop_holdem(game, {flop.cards: flop.weight for flop in all_flops()[:1500:300]})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flop_holdem, "compile_flop_holdem", compiled)
        yield


@pytest.fixture(scope="module", params=["deep", "single"])
def trained(request: pytest.FixtureRequest) -> TrainedFlopHoldem:
    found = rl.train("flop-holdem", algorithm=request.param, **QUICK)
    assert isinstance(found, TrainedFlopHoldem)
    return found


def test_it_is_measured_in_big_blinds(trained: TrainedFlopHoldem) -> None:
    assert trained.iterations == 2
    assert trained.exploitability_mbb == pytest.approx(1000 * trained.exploitability)
    answer = trained.as_json()
    assert {"exploitability_mbb", "root", "settings", "samples", "memory_fill"} <= set(answer)


def test_nodes_are_those_that_were_measured(trained: TrainedFlopHoldem) -> None:
    """Read node by node, and as the table that the engine evaluated."""
    from regretless.deep.holdem_evaluation import HoldemEvaluation
    from regretless.deep.holdem_world import HoldemWorld
    from regretless.deep.policies import policy_from

    form, world = flop_holdem.compile_flop_holdem(FlopHoldem()), HoldemWorld(FlopHoldem(), "cpu")
    policy = policy_from(trained.networks, world, trained.training.settings, iterations=2, where="")
    measured = HoldemEvaluation(world, form).strategy(policy)
    read = trained.reader.strategies
    nodes = np.flatnonzero(form.tree.kind == NodeKind.DECISION)
    for node in nodes[:: max(1, len(nodes) // 12)].tolist():
        street, player = int(form.tree.street[node]), int(form.tree.player[node])
        runout = len(form.streets[street].cards) - 1
        living = ~form.streets[street].dead[player][runout]
        np.testing.assert_allclose(read.strategy(node, runout)[:, living], measured(node, runout)[:, living], atol=2e-6)


def test_it_is_read_by_lines_and_by_states(trained: TrainedFlopHoldem) -> None:
    game = FlopHoldem()
    state = game.initial_state()
    for action in ("KhAh", "2c2d"):
        state = game.next_state(state, action)
    assert trained.strategy(state) == trained.strategy[game.info_set_key(state)]
    flop = flop_holdem.compile_flop_holdem(game).streets[1].cards[2]
    text = "".join(rl.cards.deck.card_text(int(card)) for card in flop)
    for action in ("call", "check", text):
        state = game.next_state(state, action)
    played = trained.node("call, check", [int(card) for card in flop])
    assert list(trained.strategy(state)) == list(played.actions)
    assert played.strategy.sum(axis=0) == pytest.approx(1.0)
    with pytest.raises(InvalidOption, match="state: "):
        trained.strategy(game.initial_state())


def test_a_file_reads_alike_and_resumes_to_the_bit(trained: TrainedFlopHoldem, tmp_path: Path) -> None:
    trained.save(tmp_path / "policy.rgl")
    loaded = rl.load(tmp_path / "policy.rgl")
    assert isinstance(loaded, TrainedFlopHoldem)
    assert loaded.strategy == trained.strategy
    assert loaded.as_json() == trained.as_json()
    with pytest.raises(InvalidOption, match="without its memories"):
        rl.train(resume=loaded, iterations=3)
    algorithm = trained.training.settings.algorithm
    half = rl.train("flop-holdem", algorithm=algorithm, **QUICK | {"iterations": 1})
    half.save(tmp_path / "half.rgl", resumable=True)
    resumed = rl.train(resume=tmp_path / "half.rgl", iterations=2)
    assert resumed.strategy == trained.strategy
    assert resumed.exploitability == trained.exploitability


def test_limit_holdem_cannot_be_measured() -> None:
    with pytest.raises(InvalidGame, match="limit-holdem is too large for an exact exploitability"):
        rl.train("limit-holdem")
