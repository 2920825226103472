"""`regretless bench`: times compared with other solvers."""

import json
from pathlib import Path

from regretless.cli import main
from regretless.engines.bandwidth import copy_bandwidth


def test_times_and_hardware_are_one_json_object(capsys) -> None:
    assert main(["bench", "games", "kuhn", "--contenders", "numba,numpy", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (kuhn,) = report["games"]
    assert kuhn["nodes"] == 58
    assert set(kuhn["seconds"]) == {"numba", "numpy"}
    assert all(seconds > 0 for seconds in kuhn["seconds"].values())
    assert report["hardware"]["cores"] >= 1


def test_unknown_games_and_contenders_are_named(capsys) -> None:
    assert main(["bench", "games", "chess"]) == 1
    assert "'chess' is not one of kuhn" in capsys.readouterr().err
    assert main(["bench", "games", "kuhn", "--contenders", "pio"]) == 1
    assert "'pio' is not one of numba" in capsys.readouterr().err


def test_what_cannot_be_done_is_refused_before_anything_is_timed(capsys, monkeypatch) -> None:
    def time_nothing(*arguments: object, **options: object) -> None:
        raise AssertionError("timed")

    monkeypatch.setattr("regretless.benchmark._compare_one", time_nothing)
    monkeypatch.setattr("regretless.holdem.timing.time_spots", time_nothing)
    for words, sentence in [
        (["games", "kuhn", "chess"], "games: 'chess' is not one of kuhn"),
        (["games", "--dtype", "int"], "dtype: 'int' is not one of float64, float32\n"),
        (["games", "--out", "nowhere/a.json"], "cannot be written: the folder nowhere does not exist\n"),
        (["postflop", "--out", "nowhere/a.json"], "cannot be written: the folder nowhere does not exist\n"),
    ]:
        assert main(["bench", *words]) == 1
        assert sentence in capsys.readouterr().err


def test_without_a_subject_it_lists_the_benchmarks(capsys) -> None:
    assert main(["bench"]) == 0
    assert "games" in capsys.readouterr().out


def test_spots_are_timed_beside_what_memory_allows(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("regretless.holdem.timing.copy_bandwidth", lambda device, threads: 1e9)
    monkeypatch.setattr("regretless.holdem.timing.ROUND_SECONDS", 0.001)
    spot = Path(__file__).parents[1] / "data" / "river_narrow.toml"
    words = ["bench", "postflop", str(spot), "--threads", "1", "--storage", "16", "--out", str(tmp_path / "times.json")]
    assert main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (timing,) = report["spots"]
    assert (timing["device"], timing["threads"], timing["storage"]) == ("cpu", 1, 16)
    assert timing["moved"] == 10 * timing["entries"] == 10 * 2068
    assert timing["floor"] == timing["moved"] / 1e9
    assert timing["times_floor"] == timing["seconds"] / timing["floor"] > 0
    assert json.loads((tmp_path / "times.json").read_text()) == report
    assert main(words) == 0
    assert "times the floor" in capsys.readouterr().out


def test_the_bandwidth_of_a_copy_is_plausible() -> None:
    assert 1e8 < copy_bandwidth(threads=2, numbers=1 << 20) < 1e13


def test_situations_per_second_of_every_street(capsys):
    assert main(["bench", "situations", "--deals", "1000", "--json"]) == 0
    speeds = json.loads(capsys.readouterr().out)
    assert {street: speed["situations"] for street, speed in speeds.items()} == {
        "preflop": 169, "flop": 1_286_792, "turn": 13_960_050, "river": 123_156_254,
    }  # fmt: skip
    assert all(speed[name] > 0 for speed in speeds.values() for name in ("index", "locate", "hands"))
    assert main(["bench", "situations", "--deals", "1000"]) == 0
    assert "123,156,254" in capsys.readouterr().out
    assert main(["bench", "situations", "--deals", "0"]) == 1
