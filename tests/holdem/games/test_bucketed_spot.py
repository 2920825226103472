"""Spots with buckets and sampled runouts: priced with real cards, saved, read, resumed and refused like other spots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import regretless as rl
from regretless.cli.app import app
from regretless.engines import FormKind
from regretless.errors import InvalidFile, InvalidOption, InvalidText, WouldNotFit
from regretless.holdem.buckets.build import build_buckets
from regretless.holdem.buckets.plan import BucketPlan
from regretless.holdem.form.runouts import compile_spot, spot_hands
from regretless.holdem.games import bucketed_spot
from regretless.holdem.games.bucketed_spot import BucketedSpotSolution
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot

RANGES = {"oop": {"range": "AKs, QJs, T9s, 99"}, "ip": {"range": "AA, KQs, JTs, 55"}}
TURN = Spot.from_mapping(RANGES | {"board": "Kh Qs Js 2c", "pot": 100, "stack": 200, "bets": {"bet": "100%"}})
FLOP = Spot.from_mapping(RANGES | {"board": "Kh Qs Js", "pot": 100, "stack": 100, "bets": {"bet": "a"}})


@pytest.fixture(scope="module")
def solved() -> BucketedSpotSolution:
    found = rl.solve(TURN, buckets="river=10,method=percentile", iterations=40, seed=3, threads=1)
    assert isinstance(found, BucketedSpotSolution)
    return found


def test_lossless_buckets_find_the_exact_value() -> None:
    """The error of a sampled solve shrinks as more runouts are drawn; the price is exact whatever was drawn."""
    exact = rl.solve(TURN, target=0.02, threads=1)
    few, many = (
        rl.solve(TURN, buckets="river=lossless", sample_runouts=8, iterations=count, threads=1) for count in (25, 400)
    )
    assert isinstance(many, BucketedSpotSolution)
    assert many.exploitability_pct_pot < few.exploitability_pct_pot / 2.5
    assert many.exploitability_pct_pot < 0.5
    assert many.ev["oop"] == pytest.approx(exact.ev["oop"], abs=0.1)


def test_memory_of_lossless_buckets_is_counted_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucketed_spot, "available_bytes", lambda: 10**6)
    monkeypatch.setattr(bucketed_spot, "compile_spot", None)  # must not be reached
    with pytest.raises(WouldNotFit, match=r"spot without buckets needs .*: buckets with numbers take much less"):
        rl.solve(FLOP, buckets="turn=lossless,river=lossless", sample_runouts=4, threads=1)


def test_buckets_are_for_one_spot_without_locks() -> None:
    locks = Lock("check", {"check": 1.0})
    for spot, options in ((replace(TURN, locks=(locks,)), {}), (TURN, {"locks": [locks]})):
        with pytest.raises(InvalidOption, match="cannot be combined with buckets"):
            rl.solve(spot, buckets="river=5", **options)
    with pytest.raises(InvalidOption, match="buckets: 'river=5' is for one spot at a time"):
        rl.solve_many([TURN], buckets="river=5")  # type: ignore[call-arg]
    exact = rl.solve(TURN, iterations=2, threads=1)
    with pytest.raises(InvalidOption, match=r"buckets: 'river=5' cannot resume .*, which was started without"):
        rl.solve(resume=exact, buckets="river=5")


def test_the_price_is_the_independent_evaluation(solved: BucketedSpotSolution) -> None:
    """Real cards, every runout, no merged suits, float64: the same number."""
    checked = solved.verify()
    assert checked.exploitability == pytest.approx(solved.exploitability, abs=1e-3)
    assert solved.exploitability_pct_pot > 0.5  # ten buckets cost something


def test_predictions_are_counted_before_they_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[bool] = []

    def check(name: str, kind: FormKind, form: object, *, predicts: bool, **options: Any) -> None:
        assert kind is FormKind.BUCKETED
        counted.append(predicts)

    monkeypatch.setattr("regretless.engines.creation.check_fits", check)
    for variant in ("linear", "predictive-plus", "predictive-discounted-plus"):
        rl.solve(TURN, buckets="river=lossless", variant=variant, iterations=1, threads=1)
    assert counted == [False, True, True]


def test_a_flop_is_solved() -> None:
    answer = rl.solve(
        FLOP, buckets="turn=20,river=20,method=percentile", sample_runouts=16, iterations=60, threads=1
    ).as_json()
    assert answer["buckets"] == "turn=20,river=20,method=percentile"
    assert answer["sample_runouts"] == 16
    assert len(answer["history"]) == 1  # measured at the end only
    assert answer["exploitability_pct_pot"] == pytest.approx(6.5, abs=0.75)  # 6.0 to 6.5 with three seeds
    assert sum(answer["ev"].values()) == pytest.approx(100, abs=1e-3)


def test_more_buckets_are_less_exploitable() -> None:
    prices = [
        rl.solve(TURN, buckets=f"river={count},method=percentile", iterations=150, threads=1).exploitability_pct_pot
        for count in (2, 40)
    ]
    assert prices[1] < prices[0]


@pytest.mark.parametrize("resumable", [False, True])
def test_a_file_reads_the_same(solved: BucketedSpotSolution, tmp_path: Path, resumable: bool) -> None:
    solved.save(tmp_path / "spot.rgl", resumable=resumable)
    read = rl.load(tmp_path / "spot.rgl")
    assert isinstance(read, BucketedSpotSolution)
    assert read.as_json() == solved.as_json()
    for line in ("", "check", "check, check, 7d", "bet 100, call, 7d, check"):
        assert np.array_equal(read.node(line).strategy, solved.node(line).strategy)
        assert read.node(line).ev("oop") == solved.node(line).ev("oop")


def test_a_resumed_solve_ends_with_the_same_bits(tmp_path: Path) -> None:
    options: dict[str, Any] = {"buckets": "river=10,method=percentile", "sample_runouts": 4, "threads": 1}
    whole = rl.solve(TURN, iterations=30, **options)
    seen = [0]
    stopped = rl.solve(
        TURN,
        iterations=30,
        checkpoint=tmp_path / "spot.rgl",
        report=lambda progress: seen.append(progress.iteration),
        interrupted=lambda: seen[-1] >= 7,
        **options,
    )
    assert 7 <= stopped.iterations < 30
    resumed = rl.solve(resume=tmp_path / "spot.rgl")
    assert resumed.iterations == 30
    assert resumed.snapshot is not None
    assert whole.snapshot is not None
    for name, array in whole.snapshot.arrays.items():
        assert np.array_equal(array, resumed.snapshot.arrays[name])
    assert resumed.exploitability == whole.exploitability
    for option, value in (("buckets", "river=11"), ("sample_runouts", 5), ("seed", 2)):
        with pytest.raises(InvalidOption, match=f"^{option}: .* cannot resume"):
            rl.solve(resume=tmp_path / "spot.rgl", **{option: value})


def test_a_damaged_map_is_refused(solved: BucketedSpotSolution, tmp_path: Path) -> None:
    worse = replace(solved, maps=tuple(tuple(map_ + 10 for map_ in each) for each in solved.maps))
    worse.save(tmp_path / "spot.rgl")
    with pytest.raises(InvalidFile, match="buckets that do not exist"):
        rl.load(tmp_path / "spot.rgl")


def test_tables_of_a_file_are_used(tmp_path: Path) -> None:
    board = TURN.board[:3]
    tables = build_buckets(BucketPlan(river=10, board=board, sample=2000), tmp_path / "tables.rgl", threads=1)
    found: Any = rl.solve(TURN, buckets=str(tmp_path / "tables.rgl"), iterations=5, threads=1)
    assert found.buckets == ((17, 10), (16, 10))
    final = compile_spot(TURN).streets[1]
    for runout, (card,) in enumerate(final.cards.tolist()):
        live = ~final.dead[0][runout]
        wanted = tables.of("river", (*TURN.board, card))[spot_hands(TURN)[0]]
        assert np.array_equal(found.maps[0][1][runout][live], wanted[live])
    with pytest.raises(InvalidFile, match="does not exist"):
        rl.solve(TURN, buckets="missing.rgl")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "names no street"),
        ("turn", "is not like turn=500"),
        ("turn=0", "neither lossless nor"),
        ("turn=70000", "neither lossless nor"),
        pytest.param(f"turn={'9' * 5000}", "neither lossless nor", id="more digits than Python converts"),
        ("turn=-5", "is not like turn=500"),
        ("turn=5,turn=6", "given twice"),
        ("preflop=5", "is not one of flop, turn, river, method"),
        ("turn=5,method=magic", "is not one of kmeans, percentile"),
        ("method=percentile", "names no street"),
        ("tables.rgl,river=50", "position 18: river=50 cannot be combined with a file"),
        ("tables.rgl,method=kmeans", "cannot be combined with a file"),
        ("tables.rgl,river", "is not like turn=500"),
    ],
)
def test_bad_buckets_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidText, match=reason):
        rl.solve(TURN, buckets=text)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"buckets": "flop=50"}, "buckets: 'flop=50' names the flop, which is before this spot"),
        ({"buckets": "river=50", "storage": 16}, "storage: 16 is not for spots with buckets"),
        ({"buckets": "river=50", "sample_runouts": 0}, "sample_runouts: 0 must be at least 1"),
        ({"buckets": "river=50", "engine": "matrix"}, "engine: 'matrix' cannot solve a spot with buckets"),
    ],
)
def test_other_options_are_refused_by_name(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidOption, match=reason.replace("(", r"\(")):
        rl.solve(TURN, **options)


def test_a_street_that_is_left_out_is_refused() -> None:
    for text in ("turn=5", "flop=5,turn=5,method=percentile"):
        with pytest.raises(InvalidOption) as refused:
            rl.solve(FLOP, buckets=text)
        reason = "does not say how many buckets the river has: add river=NUMBER or river=lossless"
        assert str(refused.value) == f"buckets: {text!r} {reason}"
    found: Any = rl.solve(FLOP, buckets="turn=5,river=lossless,method=percentile", iterations=2, threads=1)
    assert found.settings.buckets == "turn=5,river=lossless,method=percentile"
    assert [counts[1] for counts in found.buckets] == [5, 5]
    assert all(counts[2] > 10_000 for counts in found.buckets)


def test_a_file_that_lacks_a_street_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "tables.rgl")
    build_buckets(BucketPlan(turn=5, board=FLOP.board, sample=1000, method="percentile"), path, threads=1)
    with pytest.raises(InvalidFile, match=r"tables.rgl: has no buckets for the river: add river=lossless if that is"):
        rl.solve(FLOP, buckets=path)
    found: Any = rl.solve(FLOP, buckets=f"{path},river=lossless", iterations=2, threads=1)
    assert found.settings.buckets == f"{path},river=lossless"
    assert found.buckets[0][1] == 5


def test_a_file_of_another_flop_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "tables.rgl")
    plan = BucketPlan(river=5, board=(0, 1, 2), sample=1000, method="percentile")
    build_buckets(plan, path, threads=1)
    with pytest.raises(InvalidFile, match=r"tables.rgl: does not fit this spot: .* does not contain the table's flop"):
        rl.solve(TURN, buckets=path)


def test_a_file_is_shown_and_exported(solved: BucketedSpotSolution, tmp_path: Path) -> None:
    solved.save(tmp_path / "spot.rgl")
    runner = CliRunner()
    shown = runner.invoke(app, ["show", str(tmp_path / "spot.rgl"), "--json"])
    assert shown.exit_code == 0, shown.output
    exported = runner.invoke(app, ["export", str(tmp_path / "spot.rgl"), "--line", "check"])
    assert exported.exit_code == 0, exported.output
    assert exported.output.count("\n") > 10
