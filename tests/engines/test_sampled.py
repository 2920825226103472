"""Engines that walk only some runouts per iteration: unbiased, equal to each other, resumed to the bit, convergent."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from unittest.mock import patch

import numpy as np
import pytest
from tests.engines.random_public import random_form

from regretless.engines.contract import PublicEngine, Snapshot
from regretless.engines.creation import create
from regretless.engines.layout import make_layout
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.engines.numba.public.sizes import estimate
from regretless.engines.numpy.public import PublicReference
from regretless.engines.registry import ENGINES, FormKind
from regretless.engines.sampled import RunoutSampling
from regretless.errors import InvalidOption
from regretless.forms import compile_history, sampled
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.public_poker import compile_public
from regretless.forms.public_size import size_of_form
from regretless.forms.sampled import SampledRunouts
from regretless.games import Kuhn, Leduc
from regretless.variants import Plus, schedule
from regretless.variants.presets import PRESETS

ABLE = [name for name, entry in ENGINES.items() if (build := entry.classes.get(FormKind.PUBLIC)) and build.runouts]
VANILLA = PRESETS["vanilla"]


def sampling(variant: str, *, first: int = 1, count: int = 2, seed: int = 0) -> RunoutSampling:
    return RunoutSampling(variant=PRESETS[variant], first=first, count=count, seed=seed)


def random_state(form: PublicForm, seed: int, iteration: int) -> Snapshot:
    """Regrets and averages in which no two actions tie."""
    random, snapshot = np.random.default_rng(seed), PublicReference(form).snapshot()
    for player in range(2):
        regret, average = snapshot.arrays[f"regret.{player}"], snapshot.arrays[f"average.{player}"]
        regret[:] = random.normal(size=regret.shape).astype(np.float32)
        average[:] = random.uniform(0.1, 1.0, size=average.shape)
        snapshot.arrays[f"matched.{player}"][:] = regret
    return replace(snapshot, iteration=iteration)


def single(snapshot: Snapshot) -> Snapshot:
    """In 32 bits, without predictions, as the numba engine stores it."""
    arrays = {name: array.astype(np.float32) for name, array in snapshot.arrays.items() if "matched" not in name}
    return replace(snapshot, arrays=arrays)


def learned(engine: PublicEngine, state: Snapshot) -> dict[tuple[int, int], FloatArray]:
    """By decision and runout: what one iteration of CFR as first published adds to the regrets."""
    layout, result = make_layout(engine.form), {}
    engine.restore(state)
    engine.advance(schedule(VANILLA, state.iteration + 1, 1))
    after = engine.snapshot().arrays
    for node in np.flatnonzero(engine.form.tree.kind == NodeKind.DECISION).tolist():
        name = f"regret.{engine.form.tree.player[node]}"
        difference = layout.read(after[name], node) - layout.read(state.arrays[name], node)
        result |= {(node, runout): rows for runout, rows in enumerate(difference)}
    return result


@pytest.mark.parametrize("rest", [0, 1])
def test_the_mean_update_over_all_samples_is_the_full_one(rest: int) -> None:
    """By enumeration of all orders of 4 deals, cut into batches of 2, and of 3 into batches of 2 and 1.

    Player 1 is fixed, so that both updates are made against the same strategies. Where runouts are drawn, a decision
    learns the full update times the share of samples that draw it; before, the full update itself.
    """
    form = random_form(4, deck=5, streets=2, most_hands=8)
    deals = len(form.streets[1].parent)
    count = 3 - rest
    state = random_state(form, 1, iteration=rest)
    full = PublicReference(form)
    full.fix(1, full.strategy)
    expected = learned(full, state)
    total = {place: np.zeros_like(rows) for place, rows in expected.items()}
    engine = PublicReference(form, runouts=sampling("vanilla", count=count))
    engine.fix(1, full.strategy)
    orders = list(permutations(range(deals)))
    for order in orders:
        with patch.object(sampled, "deal_order", return_value=list(order)):
            for place, rows in learned(engine, state).items():
                total[place] += rows / len(orders)
    batches = -(-deals // count)
    bounds = [batch * deals // batches for batch in range(batches + 1)]
    batch = rest % batches
    share = (bounds[batch + 1] - bounds[batch]) / deals
    assert 0 < share < 1
    own = [place for place in expected if form.tree.player[place[0]] == 0]
    assert any(np.abs(expected[place]).max() > 0.1 for place in own)
    for place in own:
        factor = share if form.tree.street[place[0]] else 1.0
        np.testing.assert_allclose(total[place], factor * expected[place], atol=1e-9)


@pytest.mark.parametrize(("count", "first"), [(1, 1), (3, 1), (9, 1), (2, 2), (50, 1)])
@pytest.mark.parametrize("variant", ["plus", "linear"])
def test_numba_takes_the_steps_of_numpy(variant: str, count: int, first: int) -> None:
    """From the same state, on threads too; after a later iteration, so that every runout has been visited before."""
    form = random_form(count, deck=6, streets=3, rake=0.03, most_hands=10, weighted=True)
    layout, state = make_layout(form), random_state(form, count, iteration=60)
    plain = PublicReference(form, runouts=sampling(variant, first=first, count=count, seed=count))
    plain.restore(state)
    for threads in (1, 3):
        fast = NumbaPublicEngine(form, threads=threads, runouts=sampling(variant, first=first, count=count, seed=count))
        fast.restore(single(state))
        fast.advance(schedule(PRESETS[variant], 61, 1))
        if threads == 1:
            plain.advance(schedule(PRESETS[variant], 61, 1))
        found, expected = fast.snapshot().arrays, plain.snapshot().arrays
        draw = SampledRunouts(form, first=first, count=count, seed=count).draw(61)
        changed = False
        for node in np.flatnonzero(form.tree.kind == NodeKind.DECISION).tolist():
            player, street = int(form.tree.player[node]), int(form.tree.street[node])
            alive = ~form.streets[street].dead[player]
            for name in (f"regret.{player}", f"average.{player}"):
                one, two, before = (layout.read(arrays[name], node) for arrays in (found, expected, state.arrays))
                one, two, before = (each.transpose(1, 0, 2) for each in (one, two, before))
                np.testing.assert_allclose(one[:, alive], two[:, alive], atol=2e-4, rtol=2e-4)
                others = np.setdiff1d(np.arange(len(alive)), draw[street].runout)
                np.testing.assert_array_equal(one[:, others], before[:, others].astype(np.float32))
                drawn = draw[street].runout
                changed |= bool((one[:, drawn] != before[:, drawn].astype(np.float32)).any()) and street == 2
        assert changed


@pytest.mark.parametrize("variant", ["plus", "postflop", "predictive-plus"])
@pytest.mark.parametrize("storage", [32, 16])
def test_threads_change_nothing(variant: str, storage: int) -> None:
    form = random_form(8, deck=7, streets=3, most_hands=9, weighted=True)
    for count in (2, 10):
        runs = []
        for threads in (1, 3):
            engine = NumbaPublicEngine(
                form, threads=threads, storage=storage, runouts=sampling(variant, count=count, seed=4)
            )
            engine.advance(schedule(PRESETS[variant], 1, 25))
            runs.append(engine.evaluate())
        assert runs[0] == runs[1]


@pytest.mark.parametrize("name", ABLE)
@pytest.mark.parametrize("variant", ["postflop", "predictive-plus"])
def test_a_restored_engine_continues_bit_identically(name: str, variant: str) -> None:
    form = compile_public(Leduc())
    runouts = sampling(variant, count=2, seed=3)
    straight, first, second = (create(name, form, runouts=runouts) for _ in range(3))
    straight.advance(schedule(PRESETS[variant], 1, 25))
    first.advance(schedule(PRESETS[variant], 1, 11))
    first.evaluate()  # walks all runouts, and changes nothing
    second.restore(first.snapshot())
    second.advance(schedule(PRESETS[variant], 12, 14))
    for array, numbers in straight.snapshot().arrays.items():
        np.testing.assert_array_equal(second.snapshot().arrays[array], numbers)


@pytest.mark.parametrize("variant", ["plus", "discounted", "vanilla", "predictive-plus"])
def test_leduc_is_solved(variant: str) -> None:
    engine = create("numba", compile_public(Leduc()), runouts=sampling(variant, count=2))
    exploitable = []
    for first, count in ((1, 300), (301, 12_000)):
        engine.advance(schedule(PRESETS[variant], first, count))
        exploitable.append(engine.evaluate().exploitability)
    assert exploitable[1] < exploitable[0] / 4
    assert exploitable[1] < 0.02
    assert engine.evaluate().values[0] == pytest.approx(-0.0856064, abs=2e-3)


def test_engines_agree_after_many_iterations() -> None:
    form = compile_public(Leduc())
    engines = [create(name, form, runouts=sampling("plus", count=2)) for name in ABLE]
    for engine in engines:
        engine.advance(schedule(Plus(), 1, 20))
    one, two = (engine.evaluate().exploitability for engine in engines)
    assert one == pytest.approx(two, abs=5e-7)


def test_all_runouts_at_once_are_a_full_walk() -> None:
    form = random_form(8, deck=7, streets=3, most_hands=9, weighted=True)
    full, every = (NumbaPublicEngine(form, runouts=each) for each in (None, sampling("linear", count=10**6)))
    for engine in (full, every):
        engine.advance(schedule(PRESETS["linear"], 1, 12))
    for array, numbers in full.snapshot().arrays.items():
        np.testing.assert_array_equal(every.snapshot().arrays[array], numbers)


@pytest.mark.parametrize("count", [1, 5, 1000])
def test_memory_is_counted(count: int) -> None:
    form = random_form(8, deck=8, streets=3, most_hands=16)
    engine = NumbaPublicEngine(form, threads=2, runouts=sampling("linear", count=count))
    without = NumbaPublicEngine(form, threads=2).memory_bytes
    counted = estimate(size_of_form(form), threads=2, samples=True) - estimate(size_of_form(form), threads=2)
    assert 0 < engine.memory_bytes - without <= counted
    assert (engine.memory_bytes - without == counted) == (count == 1000)


def test_locks_hold_on_drawn_runouts() -> None:
    form = compile_public(Leduc())
    engine = create("numba", form, runouts=sampling("discounted", count=2))
    node = int(np.flatnonzero((form.tree.kind == NodeKind.DECISION) & (form.tree.street == 1))[0])
    chosen = np.zeros_like(engine.strategy(node, 3))
    chosen[0] = 1.0
    engine.lock(node, chosen, 3)
    engine.advance(schedule(PRESETS["discounted"], 1, 60))
    np.testing.assert_array_equal(engine.strategy(node, 3), chosen)
    assert (engine.strategy(node, 2) != chosen).any()


@pytest.mark.parametrize(("name", "device"), [("cuda", "auto"), ("auto", "cuda")])
def test_engines_that_cannot_are_refused(name: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.engines.creation.fastest", lambda kind, device: "cuda")
    monkeypatch.setattr("regretless.engines.creation.require", lambda name: None)
    with pytest.raises(
        InvalidOption, match=r"sample_runouts: 2 cannot be combined with .*: use numba or numpy, on the"
    ):
        create(name, compile_public(Leduc()), device=device, runouts=sampling("plus"))
    with pytest.raises(InvalidOption, match="sample_runouts: 2 is not for the numba engine"):
        create("numba", compile_history(Kuhn()), runouts=sampling("plus"))
