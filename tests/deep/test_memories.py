"""Reservoirs: uniform inclusion, batches as one by one, weights, snapshots."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from regretless.deep.memories import Memory, Samples, sample_bytes
from regretless.errors import EmptyMemory, InvalidOption

CPU = torch.device("cpu")
SHAPE = {"observation_size": 1, "observation_dtype": torch.int32, "actions": 2}


def memory(capacity: int, **options: object) -> Memory:
    return Memory("the memory", capacity, device=CPU, **SHAPE, **options)  # type: ignore[arg-type]


def samples(first: int, count: int) -> Samples:
    numbers = torch.arange(first, first + count)
    return Samples(numbers[:, None].int(), torch.stack((numbers, -numbers), dim=1).float())


def held(full: Memory) -> list[int]:
    return full.snapshot()["observations"][:, 0].tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("pieces", [[60], [7, 3, 1, 39, 10], [30, 30]], ids=str)
def test_every_sample_is_kept_with_the_same_probability(pieces: list[int]) -> None:
    """Chi-square over 1,000 runs, 10 of 60 samples kept in each; however they were cut into batches."""
    capacity, stream, runs = 10, sum(pieces), 1_000
    kept = np.zeros(stream)
    drawing = torch.Generator().manual_seed(5)
    for _ in range(runs):
        reservoir = memory(capacity)
        first = 0
        for count in pieces:
            reservoir.add(samples(first, count), 1, drawing)
            first += count
        assert len(reservoir) == capacity
        numbers = held(reservoir)
        assert len(set(numbers)) == capacity
        kept[numbers] += 1
    expected = runs * capacity / stream
    # Inclusions within a run exclude each other, which makes the statistic smaller by the factor (n − k) / n.
    statistic = ((kept - expected) ** 2 / expected).sum() / (1.0 - capacity / stream)
    assert statistic < 59 + 4.0 * (2 * 59) ** 0.5
    assert statistic > 59 - 4.0 * (2 * 59) ** 0.5


def test_a_batch_is_inserted_as_one_by_one() -> None:
    """With the same draws; several samples of the batch hit one slot, and the last one stays."""
    together = memory(4)
    together.add(samples(0, 200), 3, torch.Generator().manual_seed(1))
    drawn = torch.rand(200, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).tolist()
    slots: dict[int, int] = {}
    for number in range(200):
        slot = number if number < 4 else int(drawn[number] * (number + 1))
        if slot < 4:
            slots[slot] = number
    assert held(together) == [slots[slot] for slot in range(4)]
    assert together.seen == 200
    targets = together.snapshot()["targets"]
    assert targets[:, 0].tolist() == held(together)


def test_capacity_is_never_exceeded_and_nothing_is_lost_before() -> None:
    reservoir = memory(50)
    drawing = torch.Generator().manual_seed(2)
    for first in range(0, 40, 8):
        reservoir.add(samples(first, 8), 1, drawing)
    assert held(reservoir) == list(range(40))
    reservoir.add(samples(40, 1_000), 2, drawing)
    assert len(reservoir) == 50
    assert reservoir.seen == 1_040
    assert reservoir.memory_bytes == 50 * sample_bytes(**SHAPE)
    reservoir.add(samples(0, 0), 3, drawing)
    assert reservoir.seen == 1_040


def test_a_window_keeps_the_latest() -> None:
    window = memory(10, replacement="window")
    drawing = torch.Generator().manual_seed(3)
    window.add(samples(0, 25), 1, drawing)
    assert sorted(held(window)) == list(range(15, 25))
    window.add(samples(25, 4), 2, drawing)
    assert sorted(held(window)) == list(range(19, 29))


def test_weights_are_linear_in_the_iteration_and_average_about_one() -> None:
    reservoir = memory(1_000)
    for iteration in range(1, 11):
        reservoir.add(samples(iteration * 100, 100), iteration, torch.Generator().manual_seed(iteration))
    rows = reservoir.draw(5_000, torch.Generator().manual_seed(0))
    batch = reservoir.read(rows, iteration=10)
    iterations = batch.observations[:, 0] // 100
    assert torch.allclose(batch.weights, iterations * 2.0 / 10)
    assert 1.0 < batch.weights.mean() < 1.2
    assert reservoir.read(rows, iteration=10, weighting="uniform").weights.unique().tolist() == [1.0]


def test_rows_are_drawn_uniformly() -> None:
    reservoir = memory(100)
    reservoir.add(samples(0, 20), 1, torch.Generator().manual_seed(0))
    drawn = np.bincount(reservoir.draw(20_000, torch.Generator().manual_seed(1)).numpy(), minlength=20)
    assert len(drawn) == 20
    statistic = ((drawn - 1_000) ** 2 / 1_000).sum()
    assert 2.0 < statistic < 19 + 4.0 * (2 * 19) ** 0.5


def test_merged_samples_have_the_same_loss_gradient() -> None:
    reservoir = memory(500)
    drawing = torch.Generator().manual_seed(4)
    for iteration in (1, 2, 3):
        number = torch.randint(0, 6, (150, 1), generator=drawing)
        targets = torch.randn((150, 2), generator=drawing).masked_fill(number % 3 == torch.tensor([[0, 1]]), torch.nan)
        reservoir.add(Samples(number.int(), targets), iteration, drawing)
    everything = reservoir.read(slice(0, 450), iteration=3)
    merged = reservoir.merged(8, iteration=3)
    assert merged.observations[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    gradients = []
    for batch in (everything, merged):
        output = torch.zeros((8, 2), requires_grad=True)
        legal = ~batch.targets.isnan()
        error = ((output[batch.observations[:, 0].long()] - batch.targets.nan_to_num()).square() * legal).sum(dim=1)
        (error * batch.weights).sum().backward()
        gradients.append(output.grad / batch.weights.sum())
    assert torch.allclose(*gradients, atol=1e-5)
    assert gradients[0].abs().max() > 0.01


def test_an_empty_memory_says_so() -> None:
    with pytest.raises(EmptyMemory, match="the memory holds no samples yet"):
        memory(5).draw(1, torch.Generator().manual_seed(0))
    with pytest.raises(EmptyMemory):
        memory(5).merged(3, iteration=1)


def test_a_snapshot_of_another_shape_is_refused() -> None:
    reservoir, other = memory(5), memory(50)
    other.add(samples(0, 20), 1, torch.Generator().manual_seed(0))
    arrays = other.snapshot()
    with pytest.raises(InvalidOption, match=r"does not fit the memory, which needs \(5, 1\)"):
        reservoir.restore(arrays)
    other.restore(arrays)
    assert held(other) == list(range(20))
    assert len(arrays["targets"]) == 20
