"""A solved game in the terminal."""

from __future__ import annotations


def test_show_chosen_information_sets(run) -> None:
    run("solve", "leduc", "--iterations", "5", "--out", "leduc.rgl")
    result = run("show", "leduc.rgl", "--information-sets", "Ks:,Ks:r")
    assert result.code == 0
    assert "\nKs:r " in result.out
    assert "Js:" not in result.out
    assert list(run("show", "leduc.rgl", "--information-sets", "Ks:", "--json").json["strategy"]) == ["Ks:"]
    assert "'Xs:' is not an information set" in run("show", "leduc.rgl", "--information-sets", "Xs:").err
