"""How games are run on a CUDA device, chosen without one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from regretless.engines.batched import batched_terms, replace_payoffs
from regretless.engines.cuda.sequence import launch
from regretless.engines.cuda.sequence.launch import DeviceLimits, LaunchPlan, plan_launch
from regretless.engines.sequence_layout import terms_of
from regretless.errors import InvalidGame, InvalidOption
from regretless.forms import compile_history, compile_sequence
from regretless.forms.history import HistoryForm
from regretless.games.registry import load

H200 = DeviceLimits(processors=132, shared_bytes=219 * 1024)


@cache
def history(name: str) -> HistoryForm:
    return compile_history(load(name))


def plan(name: str, limits: DeviceLimits = H200, **options: object) -> LaunchPlan:
    return plan_launch(*terms_of(compile_sequence(history(name))), limits, **options)


def plan_batch(name: str, games: int, **options: object) -> LaunchPlan:
    form = history(name)
    payoffs = [form.payoff * (1.0 + game) for game in range(games)]
    return plan_launch(*batched_terms([replace_payoffs(form, payoff) for payoff in payoffs]), H200, **options)


@pytest.mark.parametrize(
    ("name", "blocks", "threads", "carried"),
    [("kuhn", 1, 256, True), ("leduc", 1, 1024, True), ("goofspiel(cards=5)", 8, 1024, False)],
)
def test_the_size_of_a_game_decides_by_default(name, blocks, threads, carried):
    chosen = plan(name)
    assert (chosen.mode, chosen.game.blocks, chosen.block_threads) == ("persistent", blocks, threads)
    assert chosen.carried == carried


def test_a_game_has_no_more_blocks_than_the_device_processors():
    assert plan("goofspiel(cards=5)", DeviceLimits(4, 219 * 1024)).game.blocks == 4


def test_a_game_is_carried_only_where_it_fits():
    needed = plan("leduc").game.table_bytes + plan("leduc").game.carried_bytes
    assert plan("leduc", DeviceLimits(132, needed)).carried
    assert not plan("leduc", DeviceLimits(132, needed - 1)).carried
    assert not plan("leduc", carried=False).carried
    with pytest.raises(InvalidOption, match=r"^carried: True needs one block and a game that fits"):
        plan("leduc", DeviceLimits(132, needed - 1), carried=True)
    with pytest.raises(InvalidOption, match=r"^carried: True needs one block"):
        plan("leduc", blocks=2, carried=True)


def test_payoffs_that_stream_from_memory_are_left_to_a_graph(monkeypatch):
    monkeypatch.setattr(launch, "PERSISTENT_UP_TO", 100)
    assert plan("kuhn").mode == "persistent"
    chosen = plan("leduc")
    assert (chosen.mode, chosen.game.blocks, chosen.carried) == ("graph", 1, False)
    assert plan("leduc", mode="persistent").mode == "persistent"
    assert plan("leduc", blocks=3).game.blocks == 3
    assert plan_batch("leduc", 2).mode == "persistent"


def test_a_game_too_deep_for_a_block_is_left_to_a_graph(monkeypatch):
    monkeypatch.setattr(launch, "MAX_LEVELS", 1)
    assert plan("leduc").mode == "graph"
    for options in ({"mode": "persistent"}, {"blocks": 1}, {"carried": True}):
        with pytest.raises(InvalidGame, match="take at most 1"):
            plan("leduc", **options)
    with pytest.raises(InvalidGame, match="take at most 1"):  # a graph would solve its first game only
        plan_batch("leduc", 2)


@pytest.mark.parametrize(("name", "value"), [("blocks", 2), ("block_threads", 512), ("carried", False)])
def test_a_graph_refuses_options_that_it_cannot_use(name, value):
    with pytest.raises(InvalidOption, match=rf"^{name}: {value} is only for the persistent mode"):
        plan("kuhn", mode="graph", **{name: value})


def test_a_batch_has_a_block_for_each_game():
    few, many = plan_batch("leduc", 2), plan_batch("leduc", 264)
    assert (few.game.games, few.game.blocks, few.block_threads) == (2, 1, 1024)
    assert (many.game.games, many.game.blocks, many.block_threads) == (264, 1, 256)
    with pytest.raises(InvalidOption, match=r"^mode: 'graph' runs a single game"):
        plan_batch("kuhn", 2, mode="graph")


def test_unknown_modes_and_types_of_numbers():
    with pytest.raises(InvalidOption, match=r"^mode: 'slow' must be one of auto, persistent, graph"):
        plan("kuhn", mode="slow")
    with pytest.raises(InvalidOption, match=r"^dtype: 'float16' must be float32 or float64"):
        plan("kuhn", dtype="float16")


def test_a_plan_as_text():
    assert str(plan("kuhn")) == "persistent 1x256 lanes 2/4+2/4 top 0+0 carried"
    assert str(plan("kuhn", mode="graph")).startswith("graph 1x256 lanes ")
    random = np.random.default_rng(1)
    form = history("leduc(ranks=6)")
    changed = compile_sequence(replace_payoffs(form, random.normal(size=form.payoff.shape)))
    assert str(plan_launch(*terms_of(changed), H200)).endswith(" unpacked")
