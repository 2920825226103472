from __future__ import annotations

import pytest

from regretless.benchmark import GAMES, Timing, compare, hardware, ratio_table
from regretless.errors import InvalidOption


def test_ours_beside_openspiel() -> None:
    pytest.importorskip("pyspiel")
    (timing,) = compare(["kuhn"], ["numba", "numpy", "openspiel"])
    assert (timing.nodes, timing.information_sets, timing.missing) == (58, 12, {})
    assert timing.seconds["numba"] < timing.seconds["openspiel"]
    assert "kuhn" in ratio_table([timing])


def test_every_peer_game_is_ours() -> None:
    from regretless import games

    for name in GAMES:
        assert games.load(name).num_players() == 2


def test_a_missing_peer_leaves_a_dash() -> None:
    table = ratio_table([Timing("kuhn", 58, 12, {"numba": 1e-6}, {}), Timing("leduc", 9, 1, {"numpy": 1e-3}, {})])
    assert table.splitlines()[1].endswith("–")
    assert hardware()["cores"]


def test_unknown_names() -> None:
    with pytest.raises(InvalidOption, match="games: 'chess'"):
        list(compare(["chess"]))
    with pytest.raises(InvalidOption, match="contenders: 'pio'"):
        list(compare(["kuhn"], ["pio"]))
