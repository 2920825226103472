"""Strategies in files: rare actions are as precise as frequent ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.engines.shares import decode_shares, encode_shares
from regretless.files.container import open_container
from regretless.holdem.problem import solve_spot
from regretless.holdem.reading import encoded_strategies
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot

RARE: dict[str, Any] = {
    "board": "Kh Qs Js 2c 3d",
    "pot": 100,
    "stack": 900,
    "oop": {"range": "AK, KQs, QJs, T9s, 99-77, 22, A5s-A2s"},
    "ip": {"range": "AA-QQ, AK, KQ, JTs, T9s, 55, 98s"},
    "bets": {"bet": "30%, 150%", "raise": "2.5x, a"},
}


@pytest.mark.parametrize(("bits", "relative"), [(32, 1e-6), (16, 0.003)])
def test_small_probabilities_keep_their_digits(bits: int, relative: float) -> None:
    random = np.random.default_rng(bits)
    for actions in (1, 2, 3, 6):
        strategy = 10.0 ** random.uniform(-6, 0, (actions, 500))
        strategy /= strategy.sum(axis=0)
        kept = encode_shares(strategy, bits)
        assert (kept.shape, kept.itemsize) == ((actions - 1, 500), bits // 8)
        np.testing.assert_allclose(decode_shares(kept), strategy, rtol=actions * relative)
        np.testing.assert_allclose(decode_shares(kept).sum(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize("bits", [32, 16])
def test_pure_strategies_are_kept_exactly(bits: int) -> None:
    pure = np.eye(4)
    np.testing.assert_array_equal(decode_shares(encode_shares(pure, bits)), pure)
    half = np.array([[0.5, 0.0], [0.5, 0.5], [0.0, 0.5]])
    np.testing.assert_array_equal(decode_shares(encode_shares(half, bits)), half)


@pytest.mark.parametrize("bits", [32, 16])
def test_decoding_and_encoding_again_changes_nothing(bits: int) -> None:
    """Shares just above ½ round to ½, which must not have two encodings."""
    random = np.random.default_rng(bits)
    share = 0.5 + 10.0 ** random.uniform(-9, -1, 500)
    drawn = [10.0 ** random.uniform(-9, 0, (actions, 5000)) for actions in (2, 3, 6)]
    for strategy in (np.stack([share, 1 - share]), *(each * (random.random(each.shape) < 0.8) for each in drawn)):
        total = strategy.sum(axis=0)
        kept = encode_shares((strategy[:, total > 0] / total[total > 0]).astype(np.float32), bits)
        assert encode_shares(decode_shares(kept), bits).tobytes() == kept.tobytes()


@pytest.mark.parametrize(("most", "bits", "tolerance"), [(encoded_strategies.MAX_IN_32_BITS, 32, 1e-5), (0, 16, 1e-3)])
def test_a_file_gives_every_hand_its_ev_on_rare_lines(
    most: int, bits: int, tolerance: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoded_strategies, "MAX_IN_32_BITS", most)
    solution = solve_spot(Spot.from_mapping(RARE), iterations=1000, threads=1)
    path = tmp_path / "spot.rgl"
    solution.save(path)
    loaded = SpotSolution.load(path)
    assert loaded.probability_bits == open_container(path).header["probability_bits"] == bits
    waiting, rarest = [solution.reader.root], 1.0
    while waiting:
        place = waiting.pop()
        waiting += solution.reader.children(place)
        view, again = solution.reader.view(place), loaded.reader.view(loaded.reader.find(", ".join(place.steps)))
        for player in ("oop", "ip"):
            mine, theirs = view.hands[player], again.hands[player]
            rarest = min(rarest, float(mine.matchups.max()))
            met = mine.matchups > 1e-15
            np.testing.assert_allclose(theirs.ev[met], mine.ev[met], atol=tolerance * view.pot, err_msg=view.line)
    assert rarest < 1e-6
