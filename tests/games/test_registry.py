import sys

import pytest

from regretless import games
from regretless.errors import InvalidFile, InvalidOption, InvalidText, MissingExtra
from regretless.games.registry import names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("kuhn", "kuhn"),
        (" Kuhn ( players = 2 ) ", "kuhn"),
        ("leduc(ranks=6)", "leduc(ranks=6)"),
        ("leduc(suits=2, ranks=6, bets=[1, 2])", "leduc(ranks=6,bets=(1,2))"),
        ("leduc(merge_suits=true)", "leduc(merge_suits=True)"),
        ("Liar's dice(sides=4)", "liars_dice(sides=4)"),
        ("liars-dice", "liars_dice"),
        ("goofspiel(order=ascending)", "goofspiel(order='ascending')"),
        ("goofspiel(order='ascending')", "goofspiel(order='ascending')"),
        ("battleship(ships=(1,),loss_multiplier=2)", "battleship(ships=(1,),loss_multiplier=2.0)"),
    ],
)
def test_spellings(text, name):
    assert games.load(text).name == name
    assert games.load(name).name == name


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("leduk", InvalidText, "did you mean leduc?"),
        ("", InvalidText, "known: kuhn, leduc, liars_dice, goofspiel, battleship"),
        ("chess", InvalidText, "openspiel:NAME"),
        ("leduc(rank=6)", InvalidText, "position 7: leduc has no parameter rank; did you mean ranks?"),
        ("leduc(colour=6)", InvalidText, "its parameters: ranks, suits, bets, raises, merge_suits"),
        ("leduc(6)", InvalidText, "by name"),
        ("leduc(**{'ranks': 6})", InvalidText, "by name"),
        ("leduc(ranks=6,ranks=7)", InvalidText, "ranks is given twice"),
        ("leduc(ranks=6", InvalidText, "must look like"),
        ("leduc(ranks=,)", InvalidText, "position 13"),  # ours: versions of Python disagree on positions
        ("leduc(ranks=6, suits=)", InvalidText, "position 22"),
        ("leduc(ranks=6,,)", InvalidText, "position 15"),
        ("leduc(ranks=6 7)", InvalidText, "position 13"),
        ("leduc(ranks 6)", InvalidText, "position 7"),
        ("leduc(ranks=6, bets=(2,4,)", InvalidText, "position 21"),
        ("leduc(ranks='6)", InvalidText, "position 13"),
        ("leduc(ranks=6)(suits=2)", InvalidText, "position 14"),
        ("leduc(ranks=6)+kuhn(players=2)", InvalidText, "cannot be read"),
        ("leduc(ranks=" + "(" * 400 + ")" * 400 + ")", InvalidText, "cannot be read"),
        ("leduc(ranks=" + "9" * 2000 + ")", InvalidText, "longer than"),
        ("leduc(ranks=__import__('os').getpid())", InvalidOption, "ranks"),
        ("leduc(ranks=lambda: 3)", InvalidOption, "ranks"),
        ("leduc(ranks=99)", InvalidOption, "ranks: 99 must be a whole number from 1 to 13"),
        ("leduc(ranks=True)", InvalidOption, "ranks"),
        ("leduc(ranks=1)", InvalidOption, "three cards"),
        ("leduc(bets=(2,4,8))", InvalidOption, "bets"),
        ("leduc(bets=(2,0))", InvalidOption, "bets"),
        ("leduc(merge_suits=1)", InvalidOption, "merge_suits"),
        ("leduc(players=3)", InvalidOption, "players"),
        ("kuhn(players=1)", InvalidOption, "players"),
        ("goofspiel(order=random)", InvalidOption, "descending or ascending"),
        ("goofspiel(payoff=3)", InvalidOption, "payoff"),
        ("battleship(ships=(4,))", InvalidOption, "ships"),
        ("battleship(ships=2)", InvalidOption, "ships"),
        ("battleship(ships=(3,3,3))", InvalidOption, "do not fit"),
        ("battleship(values=(1,2))", InvalidOption, "each of the 1 ships"),
        ("battleship(loss_multiplier=1e999)", InvalidOption, "loss_multiplier"),
        ("battleship(repeat_shots=0)", InvalidOption, "repeat_shots"),
        ("nowhere.efg", InvalidFile, "does not exist"),
    ],
)
def test_mistakes_are_named(text, error, says):
    with pytest.raises(error) as raised:
        games.load(text)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_is_listed_can_be_solved():
    assert all(entry.rules.solvable for entry in games.catalogue())
    assert "limit-holdem" not in names()
    with pytest.raises(InvalidText) as raised:
        games.load("chess")
    assert "limit-holdem" not in str(raised.value)
    assert games.load("limit-holdem").name == "limit-holdem"  # its rules, for networks trained from Python


def test_catalogue():
    for entry in games.catalogue():
        game = games.load(entry.name)
        assert type(game) is entry.rules
        assert game.name == entry.name
        assert entry.description
        assert entry.players
        for parameter, default in entry.parameters.items():
            assert games.load(f"{entry.name}({parameter}={default!r})").name == entry.name


def test_openspiel_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)  # as if not installed
    with pytest.raises(MissingExtra, match=r"pip install .*\[interop\]"):
        games.load("openspiel:kuhn_poker")


def test_exports():
    for name in games.__all__:
        assert getattr(games, name) is not None
    with pytest.raises(AttributeError):
        games.nothing  # noqa: B018


DEEP = [
    "-" * 900 + "1",
    "1" + "+1" * 450,
    "a" + ".a" * 400,
    "~" * 900 + "1",
    "(" * 450 + ")" * 450,
    "[" * 450,
    "9" * 980,
]


@pytest.mark.parametrize("value", DEEP, ids=lambda value: value[:5])
def test_deep_and_long_parameters_are_refused(value: str) -> None:
    with pytest.raises((InvalidText, InvalidOption)) as caught:
        games.load(f"leduc(ranks={value})")
    assert len(str(caught.value)) < 400
