from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from regretless import games
from regretless.errors import InvalidFile, RegretlessError
from regretless.games import CHANCE
from regretless.games.gambit import Limits, parse_efg, read_efg, to_efg, write_efg

# As Gambit itself writes it: Myerson's card game (1991), with payoffs along the path (the ante) and at the end.
CARD_GAME = r"""EFG 2 R "A simple card game, \"Myerson (1991)\"" { "Fred" "Alice" }
"Fred antes one, sees his card,
and raises or folds."

c "" 1 "(0,1)" { "Red" 1/2 "Black" .5 } 1 "Ante" { -1, 1.0 }
p "" 1 1 "(1,1)" { "Raise" "Fold" } 0
p "" 2 1 "(2,1)" { "Meet" "Pass" } 0
t "" 2 "Win Big" { 3, -3 }
t "" 3 "Win" { 2, -2 }
t "" 0
p "" 1 2 "(1,2)" { "Raise" "Fold" } 0
p "" 2 1 "(2,1)" { "Meet" "Pass" } 0   // the same set: Alice does not see the card
t "" 4 "Lose Big" { -1/1 1e0 }
t "" 3 "Win"
t "" 0 ""
"""

THREE_PLAYERS = """EFG 2 D "" { "A", "B", "C" }
p "" 3 7 "" { "" "" } 0
p "" 1 1 { "x" "x" } 5 { 1 2 3 }
t "" 0
t "" 5
p "" 1 2 "two" { "y" } 0
t "" 6 "" { 0 0 .25 }
"""


def test_a_file_as_gambit_writes_it():
    game = parse_efg(CARD_GAME)
    assert game.title == 'A simple card game, "Myerson (1991)"'
    assert game.comment.startswith("Fred antes one")
    assert game.player_names == ("Fred", "Alice")
    assert game.zero_sum
    assert game.chance_outcomes(0) == (("Red", 0.5), ("Black", 0.5))
    red = game.next_state(0, "Red")
    assert game.info_set_key(red) == "(1,1)"
    met = game.next_state(game.next_state(red, "Raise"), "Meet")
    assert game.utilities(met) == (2.0, -2.0)
    assert game.utilities(game.next_state(red, "Fold")) == (-1.0, 1.0)
    black = game.next_state(0, "Black")
    assert game.utilities(game.next_state(game.next_state(black, "Raise"), "Meet")) == (-2.0, 2.0)


def test_three_players_general_sum_and_poor_labels():
    game = parse_efg(THREE_PLAYERS)
    assert game.num_players() == 3
    assert not game.zero_sum
    assert game.player(0) == 2
    assert game.actions(0) == ("#1", "#2")
    assert [game.info_set_key(node) for node in (0, 1, 4)] == ["3.7", "1.1", "1.2 two"]
    assert game.actions(1) == ("x #1", "x #2")
    assert game.utilities(2) == (1.0, 2.0, 3.0)
    assert game.utilities(3) == (2.0, 4.0, 6.0)
    assert game.utilities(5) == (0.0, 0.0, 0.25)


def everything(game, walk):
    """Everything a game says about each state, by the actions that lead there."""
    nodes = Counter()
    for node in walk(game):
        if node.player is None:
            nodes[node.depth, round(node.reach, 12), game.utilities(node.state), node.recall] += 1
        elif node.player == CHANCE:
            nodes[tuple(game.chance_outcomes(node.state))] += 1
        else:
            nodes[node.player, game.info_set_key(node.state), tuple(game.actions(node.state)), node.recall] += 1
    return nodes


@pytest.mark.parametrize(
    "text",
    ["kuhn", "kuhn(players=3)", "leduc", "leduc(merge_suits=True)", "liars_dice(sides=3)", "goofspiel(cards=3)"]
    + ["battleship(width=2,loss_multiplier=3)", "openspiel:goofspiel(imp_info=True,num_cards=3)"],
)
def test_written_and_read_back(text, walk, tmp_path):
    game = games.load(text)
    path = tmp_path / "game.efg"
    write_efg(game, path)
    again = games.load(str(path))
    assert again.name == str(path)
    assert again.zero_sum == game.zero_sum
    assert everything(again, walk) == everything(game, walk)
    assert to_efg(again, title=game.name) == to_efg(game)


def test_openspiel_reads_written_files(walk):
    pyspiel = pytest.importorskip("pyspiel")
    ours = games.load("leduc")
    theirs = games.from_openspiel(pyspiel.load_efg_game(to_efg(ours)))
    payoffs = [
        Counter(game.utilities(node.state) if node.player is None else None for node in walk(game))
        for game in (ours, theirs)
    ]
    assert payoffs[0] == payoffs[1]


def test_openspiels_own_files_are_read(walk):
    pyspiel = pytest.importorskip("pyspiel")
    for text in (pyspiel.get_kuhn_poker_efg_data(), pyspiel.get_sample_efg_data()):
        ours, theirs = parse_efg(text), games.from_openspiel(pyspiel.load_efg_game(text))
        found = [
            Counter(
                (node.depth, round(node.reach, 9), game.utilities(node.state))
                for node in walk(game)
                if node.player is None
            )
            for game in (ours, theirs)
        ]
        assert found[0] == found[1]


HEAD = 'EFG 2 R "" { "A" "B" }\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1, column 1: a Gambit extensive game begins with EFG 2 R"),
        ("NFG 1 R", "line 1, column 1: a Gambit"),
        ("EFG 1 R", "line 1, column 5: only version 2"),
        ("EFG 2 X", "line 1, column 7: expected R or D"),
        ('EFG 2 R "open', "line 1, column 9: this double quote is never closed"),
        ('EFG 2 R "" { }', "at least one player"),
        ('EFG 2 R "" ' + "{" + '"x"' * 101 + "}", "more than 100 players"),
        (HEAD, "line 2, column 1: the file ends before the tree does"),
        (HEAD + "x", "line 2, column 1: a node begins with c, p or t, found x"),
        (HEAD + "\n  @", "line 3, column 3: unexpected character '@'"),
        (HEAD + 'p "" 3 1 { "a" } 0', "player 3 moves"),
        (HEAD + 'p "" 1 1 0', "so its actions must follow"),
        (HEAD + 'p "" 1 1 { } 0', "at least one action"),
        (HEAD + 'p "" 1 1 { "a" "b" } 0\nt "" 0', "the file ends before the tree does"),
        (HEAD + 't "" 0\nt "" 0', "line 3, column 1: the tree is complete, but t follows"),
        (HEAD + 't "" 1', "outcome 1 is new"),
        (HEAD + 't "" 1 { 1 }', "1 payoffs for 2 players"),
        (HEAD + 't "" 1 { 1 2 3 }', "more payoffs than there are players (2)"),
        (HEAD + 't "" 0 { 1 2 }', "outcome 0"),
        (HEAD + 't "" 1 { 1/0 2 }', "divides by 0"),
        (HEAD + 't "" 1 { 1e999 2 }', "too large"),
        (HEAD + 't "" 1 { ' + "9" * 200 + " 2 }", "a number"),
        (HEAD + 't "" -1 { 1 2 }', "whole number of at least 0"),
        (HEAD + 't "" 1.5 { 1 2 }', "whole number of at least 0"),
        (HEAD + 'c "" 1 { "a" 1/2 "b" 1/3 } 0', "sum to 0.833333, not 1"),
        (HEAD + 'c "" 1 { "a" 3/2 "b" -1/2 } 0', "is negative"),
        (HEAD + 'c "" 1 { "a" } 0', "its probability"),
        (HEAD + 'p "" 1 1 { "a" "b" } 0 t "" 1 {1 2} t "" 1 {1 3}', "different payoffs"),
        (HEAD + 'p "" 1 1 { "a" "b" } 0 p "" 1 2 {"c" "d"} 0 t "" 0 t "" 0 p "" 1 2 0', "recall is not perfect"),
        (HEAD + 'p "" 1 1 { "a" "b" } 0 p "" 1 1 0', "recall is not perfect"),
        (HEAD + 'p "" 1 1 { "a" } 0 p "" 2 1 {"c"} 0 p "" 2 1 {"c" "d"} 0', "different actions"),
        (HEAD + 'p "" 1 1 { "a" } 1 {1e308 0} t "" 1', "overflows"),
    ],
)
def test_damage_is_named(text, says):
    with pytest.raises(InvalidFile) as raised:
        parse_efg(text, name="bad.efg")
    assert says in str(raised.value)
    assert str(raised.value).startswith("bad.efg: line ")
    assert "\n" not in str(raised.value)


def test_limits():
    chain = 'EFG 2 R "" { "A" }' + 'p""1 1{"a"}0 ' + "".join(f'p""1 {n}{{"a"}}0 ' for n in range(2, 200)) + 't""0'
    assert parse_efg(chain).num_players() == 1
    with pytest.raises(InvalidFile, match="more than 100 moves on one path"):
        parse_efg(chain, limits=Limits(depth=100))
    with pytest.raises(InvalidFile, match="more than 150 nodes"):
        parse_efg(chain, limits=Limits(nodes=150))
    with pytest.raises(InvalidFile, match="larger than 100 bytes"):
        parse_efg(chain, limits=Limits(bytes=100))
    paid = 'EFG 2 R "" { "A" }' + "".join(f'p""1 {n}{{"a"}}1{{2}} ' for n in range(1, 50)) + 't""1'
    assert parse_efg(paid).utilities(49) == (100.0,)
    with pytest.raises(InvalidFile, match="more than 20 payoffs"):
        parse_efg(paid, limits=Limits(payoffs=20))
    with pytest.raises(RegretlessError, match="more than 50 nodes"):
        to_efg(games.Kuhn(), limits=Limits(nodes=50))


def test_deep_trees_are_read():
    deep = 'EFG 2 R "" { "A" }' + "".join(f'p""1 {n}{{"a"}}0 ' for n in range(1, 20_000)) + 't""1{1}'
    assert parse_efg(deep).is_terminal(19_999)


def test_blanks_and_remarks_are_never_taken_back():
    # A tokenizer that backtracks reads part of the remark as a word, or takes time exponential in the blanks.
    with pytest.raises(InvalidFile, match="line 3, column 41: unexpected character '@'"):
        parse_efg(HEAD + "// p or t\n" + " " * 40 + "@")
    with pytest.raises(InvalidFile, match="never closed"):
        parse_efg(HEAD + '"' + "\\x" * 100_000)


def test_files(tmp_path):
    with pytest.raises(InvalidFile, match="is not a regular file"):
        read_efg(tmp_path)
    with pytest.raises(InvalidFile, match="does not exist"):
        read_efg(tmp_path / "nowhere.efg")
    with pytest.raises(InvalidFile, match="cannot be written"):
        write_efg(games.Kuhn(), tmp_path)
    old = tmp_path / "old.efg"
    old.write_bytes('EFG 2 R "Nash’s é" { "A" }\nt "" 0'.replace("’", "'").encode("latin-1"))
    assert read_efg(old).title == "Nash's é"
    marked = tmp_path / "marked.efg"
    marked.write_bytes(b"\xef\xbb\xbf" + b'EFG 2 R "" { "A" }\r\nt "" 0\r\n')
    assert read_efg(marked).is_terminal(0)
    with pytest.raises(InvalidFile, match="larger than 10 bytes"):
        read_efg(marked, limits=Limits(bytes=10))
    with pytest.raises(InvalidFile):
        read_efg("a\0b.efg")


KUHN = to_efg(games.Kuhn())
PIECES = st.sampled_from([*'"\\{},/01-.ecpt\n\0é٣', "99999999999999999999", "//", "#", "  ", "1e9"])


def survives(text):
    """It is refused in one line, or is a game that reads the same once it is written."""
    game, refusal = None, ""
    try:
        game = parse_efg(text, name="bad.efg")
    except InvalidFile as error:
        refusal = str(error)
    if game is None:
        assert refusal.startswith("bad.efg: ")
        assert "\n" not in refusal
        return
    written = to_efg(game)
    again = parse_efg(written)
    assert again.zero_sum == game.zero_sum
    assert to_efg(again, title=game.name) == written


@settings(max_examples=300)
@given(
    source=st.sampled_from([CARD_GAME, THREE_PLAYERS, KUHN]),
    edits=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.lists(PIECES, max_size=3)), max_size=4),
    end=st.floats(0, 1),
)
@example(source=KUHN, edits=[], end=1.0)
def test_a_damaged_file_is_refused_or_read(source, edits, end):
    text = source[: round(end * len(source))]
    for place, removed, added in edits:
        start = int(place * len(text))
        text = text[:start] + "".join(added) + text[start + removed :]
    survives(text)


@given(st.text())
def test_any_text_is_refused_or_read(text):
    survives(text)
    survives(HEAD + text)
