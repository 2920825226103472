"""Files of games from the deal: every field, its default, what is refused, and how large the examples are."""

from __future__ import annotations

import tomllib
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import regretless as rl
from regretless.errors import InvalidFile, InvalidOption, RegretlessError, RoundedSizes
from regretless.holdem.buckets.build import build_buckets
from regretless.holdem.buckets.plan import BucketChoice, BucketPlan
from regretless.holdem.form.betting import betting_of, betting_tree
from regretless.holdem.games.game import HoldemGame, read_spot_or_game
from regretless.holdem.games.game_size import LOSSLESS, estimate_game
from regretless.holdem.spots.sizes import parse_sizes
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import Rules

EXAMPLES = Path(__file__).parents[3] / "examples"
FIELDS: dict[str, Any] = {"stack": 200, "small_blind": 1, "big_blind": 2, "preflop": {"open": "2.5x"}}


def sizes(text: str) -> Any:
    return parse_sizes(text, raises=True)


def test_defaults() -> None:
    game = HoldemGame.from_mapping(FIELDS)
    assert (game.ante, game.limp, game.name, game.big_blinds) == (0, True, "", 100)
    assert game.rules == Rules(min_bet=2, chip=0.02)
    assert game.streets == ("preflop", "flop", "turn", "river")
    for player in (game.preflop.ip, game.preflop.oop):
        assert [player.raise_number(number) for number in (1, 2, 3, 9)] == [sizes("2.5x")] * 4
    assert game.preflop.max_raises is None
    assert game.bets.flop.oop.bet == ()


def test_every_raise_before_the_flop_has_its_own_sizes() -> None:
    preflop = {"open": "2x", "raise_limp": "3x", "3bet": "4x", "5bet": "a", "oop": {"3bet": "5x", "6bet": ""}}
    game = HoldemGame.from_mapping(FIELDS | {"preflop": preflop | {"ip": {"open": "2.2x"}, "max_raises": 5}})
    assert [sizes_text(game, "ip", number) for number in range(1, 7)] == ["2.2x", "4x", "4x", "a", "a", "a"]
    assert [sizes_text(game, "oop", number) for number in range(1, 7)] == ["3x", "5x", "5x", "a", "", ""]
    assert game.preflop.max_raises == 5


def sizes_text(game: HoldemGame, player: str, number: int) -> str:
    return ", ".join(map(str, getattr(game.preflop, player).raise_number(number)))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"stack": 2}, "stack: 2.0 must be more than the big blind and the ante, 2"),
        ({"stack": 4000}, "stack: 4000.0 is more than 1,000 big blinds, too deep"),
        ({"stack": "deep"}, "stack: 'deep' must be a number"),
        ({"small_blind": 3}, "small_blind: 3.0 is more than the big blind, 2"),
        ({"small_blind": 0}, "small_blind: 0 must be above 0"),
        ({"big_blind": -2}, "big_blind: -2 must be above 0"),
        ({"ante": -1}, "ante: -1 must be at least 0"),
        ({"antes": 1}, "antes: is not a field of a game; did you mean ante?"),
        ({"open": "3x"}, "open: is not a field of a game; it belongs in [preflop]"),
        ({"preflop": 3}, "preflop: 3 must be a table: [preflop]"),
        ({"preflop": {"bet": "3x"}}, "preflop.bet: is not a field of [preflop]; it belongs in [bets]"),
        ({"preflop": {"open": "3y"}}, "preflop.open: '3y' at position 1: '3y' is not a size such as"),
        ({"preflop": {"3bet": 3}}, "preflop.3bet: 3 must be a text in quotes"),
        ({"preflop": {"oop": {"open": "3x"}}}, "preflop.oop.open: '3x' is not allowed: only the small blind opens"),
        (
            {"preflop": {"ip": {"raise_limp": "3x"}}},
            "preflop.ip.raise_limp: '3x' is not allowed: only the big blind raises a limp",
        ),
        ({"preflop": {"ip": {"10bet": "3x"}}}, "preflop.ip.10bet: is not a field of [preflop.ip]; did you mean"),
        ({"preflop": {"limp": "no"}}, "preflop.limp: 'no' must be true or false"),
        ({"preflop": {"limp": False}}, "preflop.limp: False leaves the small blind nothing but a fold"),
        (
            {"small_blind": 2, "preflop": {"limp": False, "open": "3x"}},
            "preflop.limp: False is not possible: with equal",
        ),
        ({"preflop": {"max_raises": -1}}, "preflop.max_raises: -1 must be a whole number, at least 0"),
        ({"bets": {"river": {"bet": "2x"}}}, "bets.river.bet: '2x' at position 1: '2x' multiplies the bet faced"),
        ({"rules": {"rake": 2}}, "rules.rake: 2.0 must be from 0 to 1"),
        ({"name": "x" * 300}, "name: 'xxx"),
        ({"lines": {"add": ["As"]}}, "lines.add[0]: 'As' at position 1: the betting tree has no cards"),
    ],
)
def test_wrong_fields_are_named(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(RegretlessError) as raised:
        betting_of(HoldemGame.from_mapping(FIELDS | changed))
    assert str(raised.value).startswith(says)


@pytest.mark.parametrize("missing", ["stack", "small_blind", "big_blind", "preflop"])
def test_missing_fields(missing: str) -> None:
    with pytest.raises(RegretlessError, match=f"^{missing}: is missing from the game$"):
        HoldemGame.from_mapping({name: value for name, value in FIELDS.items() if name != missing})


def test_a_raise_that_hardly_grows_is_refused() -> None:
    with pytest.raises(RegretlessError, match=r"^preflop: allows more than 40 raises on one street; set max_raises$"):
        betting_of(
            HoldemGame.from_mapping(
                FIELDS | {"stack": 2000, "rules": {"force_allin": 0, "add_allin": 0}} | {"preflop": {"open": "1.01x"}}
            )
        )


def test_a_tree_that_explodes_is_refused_with_a_remedy() -> None:
    preflop = {"open": "2x, 2.5x, 3x, 3.5x, 4x", "3bet": "2x, 3x, 4x"}
    bets = {"bet": "20%, 40%, 70%, 120%", "raise": "40%, 90%"}
    with pytest.raises(RegretlessError) as raised:
        betting_of(HoldemGame.from_mapping(FIELDS | {"preflop": preflop, "bets": bets}))
    assert "remove some of the 5 raise sizes before the flop" in str(raised.value)


def test_rounding_is_reported() -> None:
    with pytest.warns(RoundedSizes, match=r"^rules.chip: a raise of 2.2x facing 2 is 4.4 and becomes 4 in chips of 2"):
        HoldemGame.from_mapping(FIELDS | {"preflop": {"open": "2.2x"}, "rules": {"chip": 2}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HoldemGame.from_mapping(FIELDS | {"bets": {"bet": "33%"}})  # of a limped pot: the big blind, as at any table


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"ante": 0.25, "name": 'a "name"', "preflop": {"open": "2.2x, a", "limp": False}},
        {"preflop": {"open": "2x", "3bet": "", "max_raises": 3, "oop": {"3bet": "3x", "4bet": "a", "raise_limp": ""}}},
        {"bets": {"bet": "33%, e", "flop": {"donk": ""}, "river": {"ip": {"raise": "a"}}}, "rules": {"min_bet": 1}},
        {"rules": {"rake": 0.05, "rake_cap": 3, "chip": 0.02}, "lines": {"add": ["raise 9"], "remove": ["call"]}},
    ],
)
def test_written_games_read_back(changed: dict[str, Any]) -> None:
    game = HoldemGame.from_mapping(FIELDS | changed)
    again = HoldemGame.parse(game.to_toml())
    assert again == game
    assert again.name == game.name
    assert replace(again, stack=100) != game


@pytest.mark.parametrize(("name", "big_blinds", "slots"), [("20bb", 20, 22_393), ("100bb", 100, 20_453)])
def test_examples(name: str, big_blinds: float, slots: int) -> None:
    path = EXAMPLES / f"heads_up_{name}.toml"
    game = read_spot_or_game(path)
    assert isinstance(game, HoldemGame)
    found = estimate_game(game, BucketChoice.parse("flop=200,turn=300,river=1000"))
    assert game.big_blinds == big_blinds
    assert sum(found.action_slots.values()) == slots >= 20_000
    assert found.betting_nodes == len(betting_of(game).tree.kind) == sum(found.node_kinds.values())
    assert found.buckets == {"preflop": 169, "flop": 200, "turn": 300, "river": 1000}
    expected = sum(count * found.buckets[street] for street, count in found.action_slots.items())
    assert found.entries == expected
    assert found.memory_bytes == {32: 8 * expected}, "no other storage can be asked for"
    assert found.lossless_entries == sum(count * LOSSLESS[street] for street, count in found.action_slots.items())


def test_an_estimate_says_which_streets_are_lossless(tmp_path: Path) -> None:
    game = HoldemGame.read(EXAMPLES / "heads_up_20bb.toml")
    assert estimate_game(game).buckets == {"preflop": 169, "flop": 200, "turn": 200, "river": 200}
    wanted = dict(LOSSLESS) | {"flop": 7}
    assert estimate_game(game, BucketChoice.parse("flop=7,turn=lossless,river=lossless")).buckets == wanted
    build_buckets(BucketPlan(flop=7, board=(0, 1, 2), sample=1000), tmp_path / "tables.rgl", threads=1)
    file = str(tmp_path / "tables.rgl")
    assert estimate_game(game, BucketChoice.parse(f"{file},turn=lossless,river=lossless")).buckets == wanted
    with pytest.raises(InvalidFile, match="has no buckets for the turn: add turn=lossless"):
        estimate_game(game, BucketChoice.parse(file))
    with pytest.raises(InvalidOption, match="does not say how many buckets the turn has: add turn=NUMBER"):
        estimate_game(game, BucketChoice.parse("flop=7,river=5"))


def test_a_game_is_not_a_spot() -> None:
    path = EXAMPLES / "heads_up_20bb.toml"
    with pytest.raises(RegretlessError) as raised:
        Spot.read(path)
    says = "is a game from the deal, not a spot: solve one such game at a time, with buckets"
    assert str(raised.value) == f"{path}: {says}"
    for game in (path, HoldemGame.read(path)):
        with pytest.raises(RegretlessError, match="buckets: is missing"):
            rl.solve(game)


def test_a_study_is_not_a_spot(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("flops = 'all'\npot = 60\n", encoding="utf-8")
    with pytest.raises(RegretlessError) as raised:
        Spot.read(path)
    assert str(raised.value) == f"{path}: is a study, which has many flops: regretless study estimates and solves it"


# --- spot or game ----------------------------------------------------------------------------------------------------


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


def test_a_game_is_given_by_its_lines() -> None:
    fields = {"stack": 20, "small_blind": 0.5, "big_blind": 1, "preflop": {}}
    game = HoldemGame.from_mapping(fields | {"lines": {"only": ["raise 3, raise 9, call, bet 5", "call, raise 4"]}})
    tree = betting_tree(game)
    assert tree.labels[1 : int(tree.first_child[1])] == ("fold", "call", "raise 3")
    assert HoldemGame.parse(game.to_toml()) == game
    with pytest.raises(RegretlessError, match="no bet sizes beside it"):
        HoldemGame.from_mapping(fields | {"preflop": {"open": "3x"}, "lines": {"only": ["raise 3"]}})
