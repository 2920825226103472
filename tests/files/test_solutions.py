"""A saved solution reads back the same, and resuming from a file equals a solve that was never stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless import Solution, load, solve
from regretless.errors import InvalidFile, InvalidOption


def assert_same_arrays(one: Solution, other: Solution) -> None:
    assert one.snapshot is not None
    assert other.snapshot is not None
    assert one.snapshot.iteration == other.snapshot.iteration
    assert one.snapshot.arrays.keys() == other.snapshot.arrays.keys()
    for name, array in one.snapshot.arrays.items():
        assert np.array_equal(array, other.snapshot.arrays[name]), name


def test_everything_comes_back(kuhn: Any, kuhn_file: Path) -> None:
    loaded: Any = load(kuhn_file)
    assert loaded.record == kuhn.record
    assert loaded.zero_sum == kuhn.zero_sum
    assert loaded.strategy == kuhn.strategy
    assert list(loaded.strategy) == list(kuhn.strategy)  # in the same order
    assert loaded.as_json(strategy=True) == kuhn.as_json(strategy=True)
    assert_same_arrays(loaded, kuhn)


def test_an_exact_solution_has_nothing_to_resume(tmp_path: Path) -> None:
    exact = solve("kuhn", variant="lp")
    exact.save(tmp_path / "exact.rgl")
    loaded: Any = load(tmp_path / "exact.rgl")
    assert loaded.snapshot is None
    assert loaded.strategy == exact.strategy
    assert loaded.exploitability == exact.exploitability < 1e-9
    with pytest.raises(InvalidOption, match="nothing to resume"):
        solve("kuhn", variant="plus", resume=loaded)


@pytest.mark.parametrize(
    "options",
    [
        {"variant": "vanilla", "engine": "reference"},
        {"variant": "predictive-plus", "engine": "reference", "updates": "simultaneous"},
        {"variant": "vanilla", "engine": "reference", "sampling": "chance", "seed": 5},
        {"variant": "discounted", "engine": "numpy"},
        {"variant": "predictive-discounted-plus", "engine": "numba"},
        {"variant": "vanilla", "engine": "numba", "sampling": "external", "seed": 5},
        {"variant": "vanilla", "engine": "numba", "sampling": "outcome", "seed": 5},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_a_resume_is_the_solve_that_was_never_stopped(options: dict[str, Any], tmp_path: Path) -> None:
    whole = solve("kuhn", iterations=90, **options)
    solve("kuhn", iterations=37, **options).save(tmp_path / "part.rgl")
    resumed = solve("kuhn", iterations=90, resume=load(tmp_path / "part.rgl"), **options)
    assert_same_arrays(whole, resumed)
    assert resumed.strategy == whole.strategy
    assert resumed.evaluation == whole.evaluation
    points = {point.iteration: point.exploitability for point in resumed.history}
    assert all(points[point.iteration] == point.exploitability for point in whole.history)
    assert [point.seconds for point in resumed.history] == sorted(point.seconds for point in resumed.history)


def test_arrays_of_another_tree_are_refused(kuhn_file: Path) -> None:
    with pytest.raises(InvalidFile, match="a different tree from that of leduc"):
        solve("leduc", variant="discounted", iterations=100, resume=load(kuhn_file))


def test_another_variant_cannot_resume(kuhn_file: Path) -> None:
    with pytest.raises(InvalidOption, match="was started with 'discounted'"):
        solve("kuhn", variant="plus", iterations=100, resume=load(kuhn_file))


def test_texts_of_any_language_come_back(kuhn: Any, tmp_path: Path) -> None:
    strategy = {"♠K:": {"чек": 0.25, "": 0.75}, "\x00\n": {"one\x1ftwo": 1.0}}
    odd = replace(kuhn, record=replace(kuhn.record, information_sets=2), snapshot=None, make_reader=lambda: strategy)
    odd.save(tmp_path / "odd.rgl")
    loaded: Any = load(tmp_path / "odd.rgl")
    assert loaded.strategy == strategy


def test_batches_of_deals_resume_on_any_number_of_cores() -> None:
    pytest.importorskip("torch")
    options = {"engine": "torch", "sampling": "chance", "batch_size": 7}
    half = solve("kuhn", iterations=20, **options)
    assert solve(resume=half, iterations=40).strategy == solve("kuhn", iterations=40, **options).strategy
