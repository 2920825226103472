"""`regretless range` and `regretless equity`."""

from __future__ import annotations

import pytest


def test_range(run) -> None:
    result = run("range", "AKs,AKo,", "AA,KK,QQ,", "76s:0.5")
    assert result.code == 0
    assert "QQ+,AK,76s:0.5" in result.out
    assert "36 combos, 2.7% of all hands" in result.out
    assert "50%" in result.out
    answer = run("range", "76s+", "--json").json
    assert (answer["combos"], answer["range"]) == (32, "76s+")
    assert len(answer["grid"]) == len(answer["grid"][0]) == 13
    assert run("range", "100%", "--json").json["combos"] == 1326
    assert run("range", "").out.startswith("(no hand)")


def test_range_in_the_formats_of_other_programs(run) -> None:
    written = run("range", "QQ+, AKs:0.5", "--format", "gto+")
    assert written.out == "AA-QQ,[50.0]AKs[/50.0]\n"
    weights = run("range", written.out, "--format", "weights").out
    assert len(weights.split()) == 1326
    assert run("range", weights, "--format", "short").out == "QQ+,AKs:0.5\n"
    assert run("range", "A♠K♠", "--format", "weights", "--json").json["range"].count("1") == 1


def test_ranges_of_a_chart(run) -> None:
    answer = run("range", "--chart", "20bb", "--line", "raise 2", "--json").json
    assert (answer["chart"], answer["line"], answer["flops"], answer["priced_flops"]) == ("20bb", "raise 2", 25, 50)
    assert list(answer["ranges"]) == ["BB: fold", "BB: call", "BB: all-in 20"]
    call = answer["ranges"]["BB: call"]["range"]
    texts = dict(
        line.split("\t")
        for line in run("range", "--chart", "20bb", "--line", "r2", "--format", "short").out.splitlines()
    )
    assert texts["BB: call"] == call
    shown = run("range", "--chart", "20bb", "--line", "raise 2, call").out
    assert shown.startswith("heads-up with 20 big blinds, raise 2, call\n")
    assert call in shown.replace("\n", "")
    for arguments, message in (
        ([], "range: is missing: give one, such as '22+, A2s+', or a --chart"),
        (["AA", "--line", "call"], "line: 'call' is a line of a chart: add --chart"),
        (["AA", "--chart", "20bb"], "range: 'AA' cannot be combined with --chart"),
        (["--chart", "7bb"], "chart: '7bb' is not one of 10bb, 15bb, 20bb, 30bb, 50bb, 100bb"),
        (["--chart", "20bb", "--line", "raise 3"], "choose from fold, call, raise 2, all-in 20"),
    ):
        refused = run("range", *arguments)
        assert (refused.code, refused.out) == (1, "")
        assert message in refused.err


def test_equity(run) -> None:
    answer = run("equity", "AA", "KK", "--json").json
    assert answer["equity"][0] == pytest.approx(0.8195, abs=1e-4)
    assert sum(answer["equity"]) == pytest.approx(1)
    assert (answer["method"], answer["standard_error"]) == ("exact", 0)
    result = run("equity", "AhKh", "QcQd", "--board", "Qs Jh 2h")
    assert "32.93%" in result.out
    assert "Q♠ J♥ 2♥" in result.out
    sampled = run("equity", "AA", "KK", "--samples", "2000", "--seed", "3", "--json")
    assert sampled.json == run("equity", "AA", "KK", "--samples", "2000", "--seed", "3", "--json").json
    assert abs(sampled.json["equity"][0] - 0.8195) < 5 * sampled.json["standard_error"]
