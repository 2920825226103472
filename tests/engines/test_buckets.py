"""Partial vector CFR: unbiased, equal to a full traversal where it draws everything, and the same on every engine."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.random_public import random_form

from regretless import engines
from regretless.engines.contract import BucketedEngine, Snapshot
from regretless.engines.layout import make_layout
from regretless.engines.numpy.buckets import BucketedReference
from regretless.engines.numpy.public import PublicReference
from regretless.engines.priced import with_real_cards
from regretless.errors import WouldNotFit
from regretless.forms.bucketed import BucketedForm, bucketed_form, lossless
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.public_poker import compile_public
from regretless.games import Kuhn, Leduc
from regretless.variants import PRESETS, schedule

# Seeds of random forms with small trees, which the references walk quickly.
TWO_STREETS, THREE_STREETS = (3, 4, 8), (4, 7, 13)
LEDUC = -0.0856064240780  # the value to the first player, by linear program


def small_form(seed: int, streets: int) -> PublicForm:
    return random_form(seed, deck=9 - streets, streets=streets, most_hands=8, rake=0.05 * (seed % 3))


def random_buckets(form: PublicForm, seed: int, *, most: int = 4, count: int = 5) -> BucketedForm:
    """A form with random buckets on every street."""
    random = np.random.default_rng(seed)
    maps, numbers = [], []
    for held in form.hands:
        numbers.append([int(random.integers(1, most + 1)) for _ in form.streets])
        maps.append(
            tuple(
                random.integers(0, number, size=(len(street.parent), len(held.weight)))
                for number, street in zip(numbers[-1], form.streets, strict=True)
            )
        )
    return bucketed_form(form, (maps[0], maps[1]), buckets=numbers, count=count, seed=seed)


def all_runouts(form: PublicForm) -> int:
    """Different sequences of deals, in a form without equivalent ones."""
    return len(form.streets[-1].parent)


def decisions(form: PublicForm | BucketedForm) -> list[int]:
    return np.flatnonzero(form.tree.kind == NodeKind.DECISION).tolist()


def chance_of(form: PublicForm, street: int) -> float:
    """Probability of a runout, given hands that it does not block."""
    return float(np.prod([each.probability[0] for each in form.streets[: street + 1]]))


# --- against a full traversal ----------------------------------------------------------------------------------------


SMALL = [(seed, 2) for seed in TWO_STREETS] + [(seed, 3) for seed in THREE_STREETS]


@pytest.mark.parametrize(
    ("seed", "streets", "variant"),
    [(*case, variant) for case, variant in zip(SMALL, 2 * ["plus", "discounted", "predictive-plus"], strict=True)],
)
def test_drawing_every_runout_is_a_full_traversal(seed: int, streets: int, variant: str) -> None:
    """Without buckets and with every runout in the batch, regrets are those of the exact engine."""
    form = small_form(seed, streets)
    drawn = BucketedReference(bucketed_form(form, lossless(form), count=all_runouts(form), seed=seed))
    exact = PublicReference(form)
    steps = schedule(PRESETS[variant], first=1, count=3)
    drawn.advance(steps)
    exact.advance(steps)
    layout, found, wanted = make_layout(form), drawn.snapshot().arrays, exact.snapshot().arrays
    for node in decisions(form):
        player, street = int(form.tree.player[node]), int(form.tree.street[node])
        regret = layout.read(wanted[f"regret.{player}"], node)  # [R, actions, H]
        scale = chance_of(form, street) * form.hands[player].weight * ~form.streets[street].dead[player][:, None]
        mine = drawn.layout.rows(found[f"regret.{player}"], node).reshape(regret.shape[1], *regret.shape[::2])
        assert mine == pytest.approx((regret * scale).transpose(1, 0, 2), abs=1e-12)
        strategy = drawn.strategy(node).reshape(mine.shape)
        for runout in range(len(regret)):
            clear = (np.abs(mine[:, runout]) > 1e-9).any(axis=0)  # elsewhere rounding decides who plays uniformly
            assert strategy[:, runout][:, clear] == pytest.approx(exact.strategy(node, runout)[:, clear], abs=1e-9)


@pytest.mark.parametrize("seed", THREE_STREETS[1:])
def test_the_mean_over_batches_is_the_full_traversal(seed: int) -> None:
    """One iteration from uniform play: summed over the batches of a cycle, single runouts give the exact regrets."""
    form = small_form(seed, 3)
    everything = all_runouts(form)
    steps = schedule(PRESETS["vanilla"], first=1, count=1)
    whole = BucketedReference(bucketed_form(form, lossless(form), count=everything, seed=seed))
    whole.advance(steps)
    total = [np.zeros(numbers) for numbers in whole.layout.entries]
    source = bucketed_form(form, lossless(form), count=1, seed=seed)
    for iteration in range(1, everything + 1):
        single = BucketedReference(source)
        single.iteration = iteration - 1
        single.advance(steps)
        # The second player answers the first one's new strategy, which is noisy, so only the first one's are compared.
        total[0] += single.snapshot().arrays["regret.0"]
    assert total[0] / everything == pytest.approx(whole.snapshot().arrays["regret.0"], abs=1e-12)


@pytest.mark.parametrize("game", [Kuhn(), Leduc()], ids=str)
def test_a_game_without_buckets_is_solved(game: Kuhn | Leduc) -> None:
    form = compile_public(game)
    engine = BucketedReference(bucketed_form(form, lossless(form), count=2, seed=1))
    exact = PublicReference(form)

    def price() -> float:
        def strategy(node: int, runout: int) -> np.ndarray:
            hands = len(form.hands[0].weight)
            return engine.strategy(node)[:, runout * hands : (runout + 1) * hands]

        return exact.evaluate(strategy).exploitability

    engine.advance(schedule(PRESETS["linear"], first=1, count=10))
    early = price()
    engine.advance(schedule(PRESETS["linear"], first=11, count=140))
    assert price() < early / 4


@pytest.mark.parametrize("seed", THREE_STREETS)
def test_the_noise_of_a_batch_shrinks_with_the_square_root_of_its_runouts(seed: int) -> None:
    """Regrets of one iteration: with four times the runouts, the error is halved, or less than that."""
    form = small_form(seed, 3)
    steps = schedule(PRESETS["vanilla"], first=1, count=1)

    def regrets(count: int, draw: int) -> np.ndarray:
        engine = BucketedReference(bucketed_form(form, lossless(form), count=count, seed=draw))
        engine.advance(steps)
        return engine.snapshot().arrays["regret.0"]

    exact = regrets(all_runouts(form), 0)
    few, many = (np.mean([np.square(regrets(count, draw) - exact).mean() for draw in range(60)]) for count in (2, 8))
    assert 0 < many <= few / 4 * 1.15  # 60 draws give the mean square to within a tenth


def test_the_value_of_a_sampled_solve_is_the_exact_one_within_sampling_error() -> None:
    """On Leduc, the distance is below 1 / √samples, and sixteen times the samples divide it by at least four."""
    form = compile_public(Leduc())
    exact, maps, errors = PublicReference(form), lossless(form), {25: [], 400: []}
    for seed in range(2):
        engine = engines.create("numba", bucketed_form(form, maps, count=1, seed=seed))
        for samples in errors:
            engine.advance(schedule(PRESETS["linear"], first=engine.iteration + 1, count=samples - engine.iteration))
            found = exact.evaluate(with_real_cards(form, maps, engine.strategy))
            errors[samples].append((abs(found.values[0] - LEDUC), found.exploitability))
    early, late = (np.array(each) for each in errors.values())
    assert early[:, 0].max() < 1 / np.sqrt(25)
    assert late[:, 0].max() < 1 / np.sqrt(400)
    assert (late.mean(axis=0) < early.mean(axis=0) / 4).all()


# --- every engine against the reference ------------------------------------------------------------------------------


def engines_on(device: str) -> list[str]:
    """Engines of the bucketed form for a device, installed or not."""
    classes = {name: entry.classes.get(engines.FormKind.BUCKETED) for name, entry in engines.ENGINES.items()}
    return [name for name, build in classes.items() if build is not None and device in build.devices]


FAST = [name for name in engines_on("cpu") if name != "numpy" and name in engines.available()]


@pytest.fixture
def cuda_engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name not in engines.available():
        pytest.skip(f"{name} is not installed")
    return name


def in_32_bits(snapshot: Snapshot, names: object) -> Snapshot:
    arrays = {name: array.astype(np.float32) for name, array in snapshot.arrays.items() if name in names}
    return Snapshot(snapshot.iteration, arrays)


def assert_same_bits(engine: BucketedEngine, other: BucketedEngine) -> None:
    found, wanted = engine.snapshot(), other.snapshot()
    assert found.iteration == wanted.iteration
    assert found.arrays.keys() == wanted.arrays.keys()
    for kind in wanted.arrays:
        assert np.array_equal(found.arrays[kind], wanted.arrays[kind])


def assert_follows_the_reference(engine: BucketedEngine, variant: str) -> None:
    """Iteration by iteration from the same numbers, so that rounding where regrets are 0 does not decide.

    It may still decide within an iteration, since the second player responds to what the first has just learned: the
    second may differ if a number that the first matches its strategy to is above 0 in one engine only.
    """
    reference = BucketedReference(engine.form)
    agreed = 0
    for iteration in range(1, 7):
        steps = schedule(PRESETS[variant], first=iteration, count=1)
        engine.restore(in_32_bits(reference.snapshot(), engine.snapshot(copy=False).arrays))
        reference.advance(steps)
        engine.advance(steps)
        found, wanted = engine.snapshot().arrays, reference.snapshot().arrays
        matched = "matched.0" if "matched.0" in found else "regret.0"
        may_differ = bool(((found[matched] > 0) != (wanted[matched] > 0)).any())
        same = True
        for kind in found:
            scale = max(1.0, float(np.abs(wanted[kind]).max()))
            near = found[kind] == pytest.approx(wanted[kind], abs=engine.tolerance * scale)
            assert near or (may_differ and kind.endswith("1")), (iteration, kind)
            same &= near
        agreed += same
    assert agreed >= 5


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize(
    ("seed", "streets", "variant"),
    [(*case, variant) for case, variant in zip(SMALL, 2 * ["plus", "discounted", "predictive-plus"], strict=True)],
)
def test_every_engine_follows_the_reference(name: str, seed: int, streets: int, variant: str) -> None:
    form = random_buckets(small_form(seed, streets), seed)
    engine = engines.create(name, form, threads=2)
    if variant.startswith("predictive"):
        engine.advance(schedule(PRESETS[variant], first=1, count=1))  # from now on it stores predictions
    assert_follows_the_reference(engine, variant)


@pytest.mark.parametrize("name", FAST)
def test_regrets_too_small_to_invert_do_not_spread(name: str) -> None:
    """Where an opponent hardly ever plays, regrets are below the smallest normal number, and 1 / total is infinite."""
    form = random_buckets(small_form(4, 3), 4)
    reference, engine = BucketedReference(form), engines.create(name, form)
    start, random = reference.snapshot(), np.random.default_rng(4)
    for player in range(2):
        tiny = np.where(random.random(len(start.arrays[f"regret.{player}"])) < 0.5, np.float32(1e-40), 0.0)
        start.arrays[f"regret.{player}"][:] = start.arrays[f"matched.{player}"][:] = tiny
    reference.restore(start)
    engine.restore(in_32_bits(start, engine.snapshot(copy=False).arrays))
    steps = schedule(PRESETS["linear"], first=1, count=1)
    reference.advance(steps)
    engine.advance(steps)
    found, wanted = engine.snapshot().arrays, reference.snapshot().arrays
    assert all(np.isfinite(numbers).all() for numbers in found.values())
    for kind in ("regret.0", "average.0"):  # the second player answers the first one's, where rounding may decide
        assert found[kind] == pytest.approx(wanted[kind], abs=1e-4), kind


@pytest.mark.parametrize("name", FAST)
def test_threads_do_not_change_numbers(name: str) -> None:
    form = random_buckets(small_form(4, 3), 4)

    def learned(threads: int) -> BucketedEngine:
        engine = engines.create(name, form, threads=threads)
        engine.advance(schedule(PRESETS["linear"], first=1, count=5))
        return engine

    one, three = learned(1).snapshot().arrays, learned(3).snapshot().arrays
    for kind in one:
        assert np.array_equal(one[kind], three[kind])


@pytest.mark.parametrize("name", ["numpy", *FAST])
@pytest.mark.parametrize("variant", ["linear", "predictive-plus"])
def test_a_resumed_solve_ends_with_the_same_bits(name: str, variant: str) -> None:
    form = random_buckets(small_form(7, 3), 7)
    whole, first, second = (engines.create(name, form) for _ in range(3))
    whole.advance(schedule(PRESETS[variant], first=1, count=6))
    first.advance(schedule(PRESETS[variant], first=1, count=4))
    second.restore(first.snapshot())
    second.advance(schedule(PRESETS[variant], first=5, count=2))
    assert_same_bits(second, whole)


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("variant", ["linear", "predictive-plus"])
def test_estimates_are_what_engines_take(name: str, variant: str) -> None:
    form, predicts = random_buckets(small_form(4, 3), 4, count=7), variant != "linear"
    engine = engines.create(name, form, threads=2, predicts=predicts)
    engine.advance(schedule(PRESETS[variant], first=1, count=1))
    assert engines.estimate(name, engines.FormKind.BUCKETED, form, threads=2, predicts=predicts) == engine.memory_bytes


@pytest.mark.parametrize("name", ["numba", "cuda"])
def test_predictions_are_counted(name: str) -> None:
    form = random_buckets(small_form(4, 3), 4)
    plain, predicting = (
        engines.estimate(name, engines.FormKind.BUCKETED, form, predicts=predicts) for predicts in (False, True)
    )
    regrets = sum(BucketedReference(form).layout.entries)
    assert regrets > 0
    assert predicting - plain == 4 * regrets


@pytest.mark.parametrize("name", FAST)
def test_a_predictive_variant_that_does_not_fit_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form = random_buckets(small_form(4, 3), 4)
    needed = engines.estimate(name, engines.FormKind.BUCKETED, form, threads=1)
    monkeypatch.setattr("regretless.engines.memory.available_bytes", lambda: needed)
    engines.create(name, form, threads=1)
    with pytest.raises(WouldNotFit):
        engines.create(name, form, threads=1, predicts=True)


@pytest.mark.parametrize("name", ["numpy", *FAST])
def test_a_snapshot_of_another_form_is_refused(name: str) -> None:
    engine = engines.create(name, random_buckets(small_form(4, 2), 4))
    other = engines.create(name, random_buckets(small_form(8, 2), 8))
    with pytest.raises(ValueError, match="is needed"):
        engine.restore(other.snapshot())


# --- on a GPU --------------------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("cuda_engine", engines_on("cuda"), indirect=True)
@pytest.mark.parametrize(("seed", "streets"), SMALL)
def test_cuda_follows_the_reference(cuda_engine: str, seed: int, streets: int) -> None:
    form = random_buckets(small_form(seed, streets), seed)
    assert_follows_the_reference(engines.create(cuda_engine, form, device="cuda"), "linear")


@pytest.mark.gpu
@pytest.mark.parametrize("cuda_engine", engines_on("cuda"), indirect=True)
def test_cuda_finds_the_same_bits_twice(cuda_engine: str) -> None:
    form = random_buckets(small_form(7, 3), 7, count=64)

    def learned() -> dict[str, np.ndarray]:
        engine = engines.create(cuda_engine, form, device="cuda")
        engine.advance(schedule(PRESETS["linear"], first=1, count=20))
        return dict(engine.snapshot().arrays)

    first, second = learned(), learned()
    for kind in first:
        assert np.array_equal(first[kind], second[kind])


@pytest.mark.parametrize(
    ("name", "device", "memory"), [("numba", "cpu", "memory"), ("cuda", "cuda", "GPU memory"), ("cupy", "cuda", "GPU")]
)
def test_what_would_not_fit_is_refused_before_it_is_allocated(
    name: str, device: str, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regretless.engines.registry.find_spec", lambda library: library)
    monkeypatch.setattr("regretless.engines.memory.available_bytes", lambda: 10_000 if device == "cpu" else 2**40)
    monkeypatch.setattr("regretless.engines.devices.cuda_free_bytes", lambda *_: 10_000)
    monkeypatch.setattr("regretless.engines.devices.require_cuda", lambda device: None)
    with pytest.raises(
        WouldNotFit, match=f"in the (numba|cuda) engine needs .* of {memory}.*: sample_runouts can be set lower"
    ):
        engines.create(name, random_buckets(small_form(3, 2), 3, count=5000), device=device)
