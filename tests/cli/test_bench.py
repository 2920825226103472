"""`regretless bench`: times compared with other solvers."""

import json

from regretless.cli import main


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


def test_without_a_subject_it_lists_the_benchmarks(capsys) -> None:
    assert main(["bench"]) == 0
    assert "games" in capsys.readouterr().out
