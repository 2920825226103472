"""The scripts in `benchmarks/`: what they say and what they write, not what they measure."""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.holdem.quick_tables import SPEC, fake_tables

from regretless import games
from regretless.engines import memory
from regretless.errors import InvalidOption
from regretless.holdem.flops import read_flops
from regretless.holdem.games import whole_game
from regretless.holdem.games.game import HoldemGame
from regretless.variants import PRESETS, schedule

SCRIPTS = Path(__file__).parent.parent / "benchmarks"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for the names of annotations
    sys.path.insert(0, str(SCRIPTS))  # scripts import each other by name
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SCRIPTS))
    return module


def test_a_training_that_does_not_fit_names_an_option_of_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = tmp_path / "short.toml"
    game.write_text('stack = 6\nsmall_blind = 0.5\nbig_blind = 1\npreflop = { limp = false, open = "a" }\n', "utf-8")
    script = load("no_limit")
    asked = ["--buckets", "flop=2,turn=2,river=2", "--device", "cpu", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["no_limit.py", "train", str(game), *asked])
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**10)
    with pytest.raises(SystemExit) as refused:
        script.main()
    named = re.findall(r"--[\w-]+", str(refused.value))
    assert named, refused.value
    monkeypatch.setattr(sys, "argv", ["no_limit.py", "--help"])
    with pytest.raises(SystemExit):
        script.main()
    assert set(named) <= set(re.findall(r"--[\w-]+", capsys.readouterr().out))


def test_measuring_flop_subsets_on_one_formation_keeps_the_other_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = load("flop_subsets")
    results = Path(shutil.copy(script.ERRORS, tmp_path))
    before = json.loads(results.read_text("utf-8"))
    monkeypatch.setattr(script, "ERRORS", results)
    np.save(tmp_path / "srp-btn-bb.npy", np.full((len(script.all_flops()), len(script.RESULTS)), 0.25))
    script.measure(tmp_path, ["srp-btn-bb"])
    after = json.loads(results.read_text("utf-8"))
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        if old["formation"] == "srp-btn-bb":
            assert (new["formation"], new["flops"]) == (old["formation"], old["flops"])
            assert set(new["all_flops"].values()) == {0.25}
        else:
            assert new == old
    results.unlink()
    script.measure(tmp_path, ["srp-btn-bb"])
    assert {row["formation"] for row in json.loads(results.read_text("utf-8"))} == {"srp-btn-bb"}


# --- games.py --------------------------------------------------------------------------------------------------------


def test_ours_beside_openspiel() -> None:
    pytest.importorskip("pyspiel")
    script = load("games")
    (timing,) = script.compare(["kuhn"], ["numba", "numpy", "openspiel"])
    assert (timing.nodes, timing.information_sets, timing.missing) == (58, 12, {})
    assert timing.seconds["numba"] < timing.seconds["openspiel"]


def test_every_peer_game_is_ours() -> None:
    for name in load("games").GAMES:
        assert games.load(name).num_players() == 2


def test_ratios_of_times_and_a_dash_for_a_missing_peer() -> None:
    script = load("games")
    timing = script.Timing("kuhn", 58, 12, {"numba": 1e-6, "openspiel": 24e-6}, {})
    assert script.ratio_table([timing]).splitlines() == [
        "game  nodes       numba        openspiel",
        "kuhn     58  0.00100 ms  0.0240 ms (24×)",
    ]
    missing = script.Timing("leduc", 9, 1, {"numpy": 1e-3}, {})
    assert script.ratio_table([timing, missing]).splitlines()[2].split() == ["leduc", "9", "–", "–", "1.00", "ms"]


def test_times_and_hardware_are_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    load("games").main(["kuhn", "--contenders", "numba,numpy", "--json"])
    report = json.loads(capsys.readouterr().out)
    (kuhn,) = report["games"]
    assert kuhn["nodes"] == 58
    assert set(kuhn["seconds"]) == {"numba", "numpy"}
    assert all(seconds > 0 for seconds in kuhn["seconds"].values())
    assert report["hardware"]["cores"] >= 1


def test_what_cannot_be_done_is_refused_before_anything_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    def time_nothing(*arguments: object, **options: object) -> None:
        raise AssertionError("timed")

    by_game, by_spot = load("games"), load("floor")
    monkeypatch.setattr(by_game, "_compare_one", time_nothing)
    monkeypatch.setattr(by_spot, "time_spots", time_nothing)
    for script, words, sentence in [
        (by_game, ["kuhn", "chess"], "games: 'chess' is not one of kuhn"),
        (by_game, ["kuhn", "--contenders", "pio"], "contenders: 'pio' is not one of numba"),
        (by_game, ["--dtype", "int"], "dtype: 'int' is not one of float64, float32"),
        (by_game, ["--out", "nowhere/a.json"], "cannot be written: the folder nowhere does not exist"),
        (by_spot, ["--out", "nowhere/a.json"], "cannot be written: the folder nowhere does not exist"),
    ]:
        with pytest.raises(SystemExit, match=sentence):
            script.main(words)


# --- floor.py, machine.py --------------------------------------------------------------------------------------------


def test_spots_are_timed_beside_what_memory_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = load("floor")
    monkeypatch.setattr(script, "copy_bandwidth", lambda device, threads: 1e9)
    monkeypatch.setattr(script, "ROUND_SECONDS", 0.001)
    spot = SCRIPTS.parent / "tests" / "data" / "river_narrow.toml"
    words = [str(spot), "--threads", "1", "--storage", "16", "--out", str(tmp_path / "times.json")]
    script.main([*words, "--json"])
    report = json.loads(capsys.readouterr().out)
    (timing,) = report["spots"]
    assert (timing["device"], timing["threads"], timing["storage"]) == ("cpu", 1, 16)
    assert timing["moved"] == 10 * timing["entries"] == 10 * 2068
    assert timing["floor"] == timing["moved"] / 1e9
    assert timing["times_floor"] == timing["seconds"] / timing["floor"] > 0
    assert json.loads((tmp_path / "times.json").read_text()) == report


def test_timings_as_a_table() -> None:
    script = load("floor")
    timing = script.SpotTiming("turn", "numba", "cpu", 2, 32, 1_000_000, 0.002, 20_000_000, 20e9)
    assert script.timing_table([timing]).splitlines() == [
        "spot  engine  device  threads  bits  entries  ms per iteration  MB moved  GB/s  copy GB/s  times the floor",
        "turn  numba   cpu     2        32    1000000  2.000             20.0      10.0  20.0       2.00",
    ]


def test_the_bandwidth_of_a_copy_is_plausible() -> None:
    assert 1e8 < load("machine").copy_bandwidth(threads=2, numbers=1 << 20) < 1e13


# --- situations.py ---------------------------------------------------------------------------------------------------


def test_situations_per_second_of_every_street(capsys: pytest.CaptureFixture[str]) -> None:
    script = load("situations")
    script.main(["--deals", "1000", "--json"])
    speeds = json.loads(capsys.readouterr().out)
    assert {street: speed["situations"] for street, speed in speeds.items()} == {
        "preflop": 169, "flop": 1_286_792, "turn": 13_960_050, "river": 123_156_254,
    }  # fmt: skip
    assert all(speed[name] > 0 for speed in speeds.values() for name in ("index", "locate", "hands"))
    script.main(["--deals", "1000"])
    assert "123,156,254" in capsys.readouterr().out
    with pytest.raises(InvalidOption, match="deals: 0 must be from 1 to"):
        script.measure_speed(3, deals=0)


@pytest.mark.slow
@pytest.mark.parametrize("board_cards", [0, 3, 4, 5])
def test_ten_million_situations_per_second(board_cards: int) -> None:
    assert load("situations").measure_speed(board_cards).index > 10e6


def test_boards_per_second_of_a_whole_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = tmp_path / "short.toml"
    game.write_text('stack = 6\nsmall_blind = 0.5\nbig_blind = 1\npreflop = { limp = false, open = "2x" }\n', "utf-8")
    script = load("no_limit")
    monkeypatch.setattr(script, "ROUNDS", 1)
    monkeypatch.setattr(whole_game, "build_buckets", fake_tables)
    asked = ["--buckets", SPEC, "--sample-runouts", "2", "--threads", "1"]
    monkeypatch.setattr(sys, "argv", ["no_limit.py", "speed", str(game), *asked, "--device", "cpu"])
    script.main()
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (row["runouts"], row["engine"]) == (2, "numba")
    assert row["boards_per_second"] == pytest.approx(2 / (row["ms_per_iteration"] / 1e3))


def test_a_spot_with_buckets_is_priced_with_real_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    script = load("bucketed")
    spot = Path(__file__).parent / "data" / "turn_paired_donk.toml"
    given = argparse.Namespace(spot=spot, threads=1, sample_runouts=4, engine="numba", device="cpu")
    engine, _ = script.make_engine(given, "river=5,method=percentile")
    uniform = engine.evaluate().exploitability
    engine.advance(schedule(PRESETS["linear"], 1, 20))
    assert 0 < engine.evaluate().exploitability < uniform / 2


# All-in or not, on every street: few decisions.
ALL_IN_OR_NOT = """stack = 4
small_blind = 0.5
big_blind = 1
preflop = { limp = false, open = "2x", 3bet = "" }
bets.flop = { bet = "", raise = "" }
bets.turn = { bet = "", raise = "" }
bets.river = { bet = "a", raise = "" }
"""


def test_river_values_that_buckets_compare_add_up_to_those_of_the_turn(tmp_path: Path) -> None:
    (tmp_path / "game.toml").write_text(ALL_IN_OR_NOT, "utf-8")
    script = load("bucket_features")
    warm_up = script.WarmUp.on(HoldemGame.read(tmp_path / "game.toml"), read_flops("7s 7h 7d")[0], 3, 1)
    form, river, turn = warm_up.form, warm_up.form.streets[2], 0
    runouts = np.flatnonzero(river.parent == turn)
    first = warm_up.decisions[2][0]  # where the river's betting begins
    deal = form.tree.parent[first]
    for player, values in enumerate(warm_up._river_values(slice(runouts[0], runouts[-1] + 1))):
        summed = sum(
            river.probability[runout] * of_runout[form.permutations[player][copy]]
            for runout, of_runout in zip(runouts, values[0], strict=True)
            for copy in river.copies[river.first_copy[runout] : river.first_copy[runout + 1]]
        )
        expected = warm_up._values[player][1][turn, np.flatnonzero(form.tree.street == 1).tolist().index(deal)]
        assert np.abs(expected).max() > 1
        np.testing.assert_allclose(summed, expected, atol=1e-3)


def test_features_of_buckets_are_compared_by_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "game.toml").write_text(ALL_IN_OR_NOT, "utf-8")
    script = load("bucket_features")
    asked = ["--flops", "7s 7h 7d", "--features", "equity,regret", "--warm-up", "2", "--iterations", "20"]
    asked += ["--buckets", "1,1,1 9,9,9", "--threads", "1", "--out", str(tmp_path / "results.json")]
    monkeypatch.setattr(sys, "argv", ["bucket_features.py", str(tmp_path / "game.toml"), *asked])
    script.main()
    rows = json.loads((tmp_path / "results.json").read_text("utf-8"))["rows"]
    price = {(row["features"], row["buckets"]): row["mbb"] for row in rows}
    assert price["equity", "1,1,1"] == price["regret", "1,1,1"]  # one bucket is one bucket
    assert 0 < price["equity", "9,9,9"] < price["equity", "1,1,1"]
    assert 0 < price["regret", "9,9,9"] < price["regret", "1,1,1"]
