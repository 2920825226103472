"""One reader for the `.toml` files of hold'em."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from regretless.errors import InvalidFile, RegretlessError
from regretless.holdem.games.game import HoldemGame, read_spot_or_game
from regretless.holdem.spots.spot import Spot

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_each_kind_is_read_as_its_own_reader_reads_it() -> None:
    assert read_spot_or_game(EXAMPLES / "turn.toml") == Spot.read(EXAMPLES / "turn.toml")
    game = read_spot_or_game(EXAMPLES / "heads_up_20bb.toml")
    assert game == HoldemGame.read(EXAMPLES / "heads_up_20bb.toml")
    assert game.name == HoldemGame.read(EXAMPLES / "heads_up_20bb.toml").name


@pytest.mark.parametrize("name", ["turn.toml", "heads_up_20bb.toml"])
def test_the_file_is_parsed_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    parse = tomllib.loads

    def parse_and_count(text: str) -> dict[str, object]:
        texts.append(text)
        return parse(text)

    monkeypatch.setattr(tomllib, "loads", parse_and_count)
    read_spot_or_game(EXAMPLES / name)
    assert texts == [(EXAMPLES / name).read_text("utf-8")]


def test_errors_name_the_file_or_the_field(tmp_path: Path) -> None:
    for text, sentence in [
        ("board = ", "is not TOML"),
        ("stack = 200\nbig_blind = 2", "small_blind: is missing from the game"),
        ("stack = 200", "board: is missing from the spot"),
        ('flops = "all"\nstack = 200', "study.toml: is a study, which has many flops"),
    ]:
        path = tmp_path / "study.toml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(RegretlessError, match=sentence):
            read_spot_or_game(path)
    with pytest.raises(InvalidFile, match="does not exist"):
        read_spot_or_game(tmp_path / "absent.toml")
