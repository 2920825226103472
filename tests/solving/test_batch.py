"""A batch gives every game the answer it gets alone."""

import numpy as np
import pytest

import regretless as rl
from regretless.errors import InvalidGame, InvalidOption


def test_a_batch_equals_its_games_one_by_one() -> None:
    games = [f"leduc(ante={ante})" for ante in (1, 2, 3.5)]
    batch = rl.solve_batch(games, variant="discounted", iterations=50, threads=2)
    assert batch.games == ("leduc", *games[1:])  # the default is omitted
    for number, game in enumerate(games):
        alone = rl.solve(game, variant="discounted", iterations=50)
        assert batch.evaluation[number].exploitability == pytest.approx(alone.exploitability, abs=1e-12)
        assert batch.strategy(number)["Ks:"] == pytest.approx(alone.strategy["Ks:"], abs=1e-12)


def test_the_ante_matters() -> None:
    values = rl.solve_batch(["leduc", "leduc(ante=4)"], iterations=300).evaluation.values
    assert not np.isclose(values[0, 0], values[1, 0], atol=0.01)


def test_games_of_different_shape_are_no_batch() -> None:
    with pytest.raises(InvalidGame, match=r"game 1 of the batch, leduc\(ranks=4\), differs from the first, leduc, in"):
        rl.solve_batch(["leduc", "leduc(ranks=4)"])


def test_an_empty_batch_and_no_iterations_are_refused() -> None:
    with pytest.raises(InvalidOption, match="games"):
        rl.solve_batch([])
    with pytest.raises(InvalidOption, match="iterations"):
        rl.solve_batch(["kuhn"], iterations=0)
    with pytest.raises(InvalidOption, match="games: 'kuhn' must be a list of games"):
        rl.solve_batch("kuhn")


def test_variants_are_those_of_every_solve() -> None:
    named, given = (
        rl.solve_batch(["kuhn"], variant=variant, iterations=20) for variant in ("cfr+", rl.variants.Plus())
    )
    assert np.array_equal(named.average, given.average)
    with pytest.raises(InvalidOption, match=r"^variant: 'mccfr' samples the tree"):
        rl.solve_batch(["kuhn"], variant="mccfr")
    with pytest.raises(InvalidOption, match=r"^iterations: 0 must be at least 1"):
        rl.solve_batch(["kuhn"], iterations=0)
