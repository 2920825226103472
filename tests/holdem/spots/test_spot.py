from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regretless.errors import InvalidFile, RegretlessError
from regretless.holdem.spots.sizes import AllIn, LastBetMultiple, PotShare
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import Bets, Lines, PlayerSizes, Rules, StreetSizes


def refusal(fields: dict[str, Any]) -> str:
    with pytest.raises(RegretlessError) as caught:
        Spot.from_mapping(fields)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_reference_spots_come_back(reference: tuple[Spot, dict[str, Any]]) -> None:
    spot, _ = reference
    assert Spot.parse(spot.to_toml()) == spot
    assert Spot.parse(spot.to_toml()).name == spot.name


def test_a_spot_is_written_with_few_tables() -> None:
    fields = {"board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 200, "oop": {"range": "AKs,AKo"}, "ip": {"range": "QQ"}}
    bets = {"bet": "50%,a", "river": {"donk": "33%"}}
    assert Spot.from_mapping(fields | {"bets": bets, "rules": {"merge": 0}}).to_toml() == (
        'board = "Kh Qs Js 2c 3d"\npot = 100\nstack = 200\n'
        '\n[oop]\nrange = "AKs,AKo"\n'
        '\n[ip]\nrange = "QQ"\n'
        '\n[bets]\nbet = "50%, a"\nraise = ""\n'
        '\n[bets.river]\ndonk = "33%"\n'
        "\n[rules]\nmerge = 0\n"
    )


def test_the_finest_table_wins(fields: dict[str, Any]) -> None:
    fields["bets"] = {
        "bet": "10%",
        "raise": "3x",
        "ip": {"bet": "20%"},
        "turn": {"bet": "30%", "donk": ""},
        "river": {"bet": "40%", "donk": "33%", "oop": {"bet": "50%, a"}},
    }
    bets = Spot.from_mapping(fields).bets
    assert bets.flop.oop.bet == (PotShare(0.1),)
    assert bets.flop.ip.bet == (PotShare(0.2),)
    assert bets.turn.ip.bet == (PotShare(0.3),)
    assert bets.river.oop.bet == (PotShare(0.5), AllIn())
    assert bets.river.ip.bet == (PotShare(0.4),)
    assert (bets.flop.oop.donk, bets.turn.oop.donk, bets.river.oop.donk) == (None, (), (PotShare(0.33),))
    assert all(
        len(bets.of(street, player).raise_) == 1 for street in ("flop", "turn", "river") for player in ("ip", "oop")
    )


def test_raises_by_number_and_caps_come_from_the_finest_table_too(fields: dict[str, Any]) -> None:
    fields["bets"] = {
        "bet": "50%",
        "raise": "3x",
        "reraise": "a",
        "max_raises": 3,
        "oop": {"reraise": "60%"},
        "turn": {"max_raises": 0, "reraise": ""},
        "river": {"ip": {"reraise": ["2x, 3x", "a"]}},
    }
    bets = Spot.from_mapping(fields).bets
    assert (bets.flop.max_raises, bets.turn.max_raises, bets.river.max_raises) == (3, 0, 3)
    assert (bets.flop.ip.reraise, bets.flop.oop.reraise) == (((AllIn(),),), ((PotShare(0.6),),))
    assert (bets.turn.ip.reraise, bets.turn.oop.reraise) == (((),), ((),))
    assert bets.river.ip.reraise == ((LastBetMultiple(2.0), LastBetMultiple(3.0)), (AllIn(),))
    assert Spot.from_mapping(fields | {"bets": {"bet": "50%"}}).bets.flop.max_raises is None


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"bets": {"raise": ["2x", "a"]}}, "bets.raise", "must be a text"),
        ({"bets": {"reraise": 3}}, "bets.reraise", "must be a text in quotes, or a list of texts"),
        ({"bets": {"reraise": []}}, "bets.reraise", "must be a text in quotes, or a list of texts"),
        ({"bets": {"river": {"reraise": ["2x", 5]}}}, "bets.river.reraise[1]", "must be a text"),
        ({"bets": {"river": {"reraise": ["2x", "5"]}}}, "bets.river.reraise[1]", "has no unit"),
        ({"bets": {"max_raises": -1}}, "bets.max_raises", "must be a whole number, at least 0"),
        ({"bets": {"max_raises": 1.5}}, "bets.max_raises", "must be a whole number"),
        ({"bets": {"max_raises": True}}, "bets.max_raises", "must be a whole number"),
        ({"bets": {"river": {"max_raises": "2"}}}, "bets.river.max_raises", "must be a whole number"),
        ({"bets": {"oop": {"max_raises": 2}}}, "bets.oop.max_raises", "raises of both players together"),
        ({"bets": {"river": {"ip": {"max_raises": 2}}}}, "bets.river.ip.max_raises", "both players"),
        ({"bets": {"max_raise": 2}}, "bets.max_raise", "did you mean max_raises?"),
        ({"board": "Kh Qs Js 2c Kh"}, "board", "Kh appears twice"),
        ({"board": "Kh Qs"}, "board", "has 2 cards"),
        ({"board": "Kh Qs Js 2c 3d 4d"}, "board", "at most 5"),
        ({"board": "Kh Qs Xs"}, "board", "'X' is not a rank"),
        ({"board": 5}, "board", "must be a text"),
        ({"pot": 0}, "pot", "must be above 0"),
        ({"pot": -5}, "pot", "must be above 0"),
        ({"pot": "100"}, "pot", "must be a number"),
        ({"pot": True}, "pot", "must be a number"),
        ({"pot": float("nan")}, "pot", "must be a number"),
        ({"stack": 0}, "stack", "must be above 0"),
        ({"stack": float("inf")}, "stack", "must be a number"),
        ({"oop": {"range": "KhQs, Js2c"}}, "oop.range", "is entirely blocked by the board"),
        ({"oop": {"range": ""}}, "oop.range", "is empty"),
        ({"oop": {"range": "AKx"}}, "oop.range", "position 3"),
        ({"oop": {}}, "oop.range", "is missing"),
        ({"oop": {"rang": "AA"}}, "oop.rang", "did you mean range?"),
        ({"oop": "AA"}, "oop", "must be a table"),
        ({"oop": {"range": "AhAd"}, "ip": {"range": "AhAc"}}, "ip.range", "always shares a card"),
        ({"bets": {"bet": "0.5"}}, "bets.bet", "has no unit"),
        ({"bets": {"bet": 50}}, "bets.bet", "must be a text"),
        ({"bets": {"river": {"oop": {"bet": "5%, 2x"}}}}, "bets.river.oop.bet", "position 5"),
        ({"bets": {"rivr": {"bet": "50%"}}}, "bets.rivr", "did you mean river?"),
        ({"bets": {"river": {"ip": {"donk": "50%"}}}}, "bets.river.ip.donk", "out of position"),
        ({"bets": {"river": {"turn": {}}}}, "bets.river.turn", "is not a field"),
        ({"rules": {"ad_allin": 1}}, "rules.ad_allin", "did you mean add_allin?"),
        ({"rules": {"rake": 5}}, "rules.rake", "0.05 is 5 %"),
        ({"rules": {"rake": -0.1}}, "rules.rake", "at least 0"),
        ({"rules": {"merge": -1}}, "rules.merge", "at least 0"),
        ({"rules": {"chip": 0}}, "rules.chip", "above 0"),
        ({"rules": {"rake_cap": -1}}, "rules.rake_cap", "at least 0"),
        ({"lines": {"add": "check"}}, "lines.add", "list of texts"),
        ({"stak": 10}, "stak", "did you mean stack?"),
        ({"zzz": 10}, "zzz", "is not a field of a spot"),
    ],
)
def test_a_bad_spot_is_one_sentence_that_names_the_field(
    fields: dict[str, Any], change: dict[str, Any], field: str, reason: str
) -> None:
    message = refusal(fields | change)
    assert message.startswith(f"{field}: ")
    assert reason in message


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"chip": 0.1}, "chip: is not a field of a spot; it belongs in [rules]"),
        ({"bet": "50%"}, "bet: is not a field of a spot; it belongs in [bets]"),
        ({"bet": {"bet": "50%"}}, "bet: is not a field of a spot; did you mean bets?"),
        ({"rules": {"stack": 3}}, "rules.stack: is not a field of [rules]; it belongs above the tables"),
    ],
)
def test_a_field_of_another_table_is_sent_there(fields: dict[str, Any], change: dict[str, Any], told: str) -> None:
    assert refusal(fields | change) == told


@pytest.mark.parametrize("field", ["board", "pot", "stack", "oop", "ip", "bets"])
def test_a_missing_field_is_named(fields: dict[str, Any], field: str) -> None:
    del fields[field]
    assert refusal(fields) == f"{field}: is missing from the spot"


def test_files(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="does not exist"):
        Spot.read(tmp_path / "none.toml")
    (tmp_path / "old.rgl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidFile, match="is a saved solution, not a spot file"):
        Spot.read(tmp_path / "old.rgl")
    (tmp_path / "bad.toml").write_text("board = ")
    with pytest.raises(InvalidFile, match="is not TOML"):
        Spot.read(tmp_path / "bad.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidFile, match="is not text"):
        Spot.read(tmp_path / "binary.toml")


sizes = st.lists(
    st.one_of(
        st.integers(1, 400).map(lambda percent: f"{percent}%"),
        st.floats(0.1, 50, allow_nan=False).map(lambda chips: f"{chips:.2f}c"),
        st.sampled_from(["e", "2e", "3e150%", "a"]),
    ),
    max_size=3,
).map(", ".join)


reraises = st.one_of(
    st.just({}), st.fixed_dictionaries({"reraise": st.one_of(sizes, st.lists(sizes, min_size=1, max_size=3))})
)
caps = st.one_of(st.just({}), st.fixed_dictionaries({"max_raises": st.integers(0, 4)}))


@st.composite
def spots(draw: st.DrawFn) -> dict[str, Any]:
    streets = {
        street: {player: {"bet": draw(sizes), "raise": draw(sizes)} | draw(reraises) for player in ("oop", "ip")}
        for street in draw(st.sets(st.sampled_from(["flop", "turn", "river"])))
    }
    for street in streets:
        streets[street] |= draw(caps)
    if "river" in streets and draw(st.booleans()):
        streets["river"]["oop"]["donk"] = draw(sizes)
    return {
        "board": draw(st.sampled_from(["Qs Jh 2h", "Qs Jh 2h 3c", "Qs Jh 2h 3c 3d"])),
        "pot": (pot := draw(st.floats(0.5, 1e6))),
        "stack": draw(st.integers(1, min(10**6, int(1_000 * pot)))),  # deeper stacks are refused
        "name": draw(st.sampled_from(["", 'a "quoted" one', "naïve"])),
        "oop": {"range": draw(st.sampled_from(["AA", "22+, A5s:0.25", "100%", "AhKh:0.123"]))},
        "ip": {"range": draw(st.sampled_from(["KK", "K2s+, 98o", "100%"]))},
        "bets": {"bet": draw(sizes), "raise": draw(sizes)} | draw(reraises) | draw(caps) | streets,
        "rules": draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "add_allin": st.floats(0, 10),
                    "rake": st.floats(0, 1),
                    "rake_cap": st.one_of(st.floats(0, 1e5), st.just(float("inf"))),
                    "chip": st.sampled_from([0.01, 1, 5]),
                },
            )
        ),
        "lines": draw(st.sampled_from([{}, {"add": ["check, bet 5"], "remove": ["all-in"]}])),
    }


@pytest.mark.filterwarnings("ignore::regretless.errors.RoundedSizes")
@settings(max_examples=60)
@given(spots())
def test_any_spot_comes_back(fields: dict[str, Any]) -> None:
    spot = Spot.from_mapping(fields)
    again = Spot.parse(spot.to_toml())
    assert again == spot
    assert again.name == spot.name


def test_python_objects_are_checked_too() -> None:
    with pytest.raises(RegretlessError, match="multiplies the bet faced"):
        PlayerSizes(bet=(LastBetMultiple(2.0),))
    with pytest.raises(RegretlessError, match="max_raises: -1 must be a whole number"):
        Bets.alike(max_raises=-1)
    with pytest.raises(RegretlessError, match="out of position"):
        StreetSizes(ip=PlayerSizes(donk=()))
    assert Bets.alike(bet=(AllIn(),)).of("turn", "ip").bet == (AllIn(),)
    assert Rules().rake_cap == float("inf")
    assert Lines() == Lines(add=(), remove=())
