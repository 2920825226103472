"""`regretless games`."""

from __future__ import annotations


def test_games(run) -> None:
    result = run("games")
    assert result.code == 0
    for words in ("kuhn", "leduc", "liars_dice", "ranks=3", "openspiel:NAME", "FILE.efg"):
        assert words in result.out
    listed = run("games", "--json").json
    assert [entry["name"] for entry in listed][:2] == ["kuhn", "leduc"]
    assert listed[0] == {
        "name": "kuhn",
        "description": listed[0]["description"],
        "players": "2 to 10",
        "parameters": {"players": 2},
    }
