"""Spots at lines of games from the deal: the betting of the game, the ranges that arrive, and saved solutions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regretless.cards.deck import parse_board
from regretless.engines import Snapshot, StoredStrategies
from regretless.engines.layout import make_layout
from regretless.errors import InvalidFile, InvalidText
from regretless.forms.public import BettingTree, NodeKind
from regretless.holdem.flops import read_flops
from regretless.holdem.form.betting import betting_of
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.game_spots import FlopLine, flop_line, saved_spot, solve_saved, spot_at
from regretless.holdem.games.real_cards import RealCardsReader, compile_game

FLOP = "7c 7d 7h"
GAME = HoldemGame.parse(
    """
    stack = 30
    small_blind = 1
    big_blind = 2
    ante = 0.5
    preflop.open = "3x"
    preflop.3bet = "a"
    bets.bet = "50%"
    bets.raise = "a"
    bets.flop.oop.donk = "33%"
    bets.turn.oop.donk = "e"
    rules.add_allin = 0
    rules.rake = 0.05
    rules.rake_cap = 1
    lines.add = ["raise 6, call, check, bet 9, call, check, bet 5", "call, check, bet 4, c, b7"]
    lines.remove = ["raise 6, call, bet 4.3, all-in"]
    """
)


@pytest.fixture(scope="module")
def reader() -> RealCardsReader:
    """A solution whose averages are random numbers."""
    form = compile_game(GAME, read_flops(FLOP))
    random = np.random.default_rng(1)
    sums = [random.random(entries, dtype=np.float32) for entries in make_layout(form).entries]
    arrays = {f"average.{player}": sums[player] for player in range(2)}
    return RealCardsReader(form, StoredStrategies(form, Snapshot(1, arrays)))


def children_of(tree: BettingTree, node: int) -> range:
    return range(int(tree.first_child[node]), int(tree.first_child[node + 1]))


def same_betting(game: BettingTree, start: int, spot: BettingTree) -> int:
    """Compare the tree of a spot with that of the game from a node on; returns how many nodes were compared."""
    waiting, before = [(start, 0)], game.paid[start, 0]
    for node, other in waiting:  # grows during the loop
        assert game.kind[node] == spot.kind[other]
        assert game.paid[node] == pytest.approx(spot.paid[other] + before)
        assert game.street[node] - game.street[start] == spot.street[other]
        if game.kind[node] == NodeKind.DECISION:
            assert game.player[node] == spot.player[other]
        children, others = (
            range(int(t.first_child[n]), int(t.first_child[n + 1])) for t, n in ((game, node), (spot, other))
        )
        assert [game.labels[child] for child in children] == [spot.labels[child] for child in others]
        waiting += zip(children, others, strict=True)
    return len(waiting)


@pytest.mark.parametrize(
    ("line", "first"),
    [
        (f"call, check, {FLOP}", ("check", "bet 2.5")),
        (f"raise 6, call, {FLOP}", ("check", "bet 4.3")),  # who called before the flop may lead with donk sizes
        (f"raise 6, call, {FLOP}, check, bet 6.5, call, 2c", None),
        (f"raise 6, call, {FLOP}, check, check, 2c", None),
        (f"call, check, {FLOP}, bet 4, call, 2c, check, check, 2d", None),
    ],
)
def test_a_spot_has_the_betting_of_the_game(reader: RealCardsReader, line: str, first: tuple[str, ...] | None) -> None:
    spot, node = spot_at(GAME, reader, line), reader.find(line)
    assert same_betting(reader.tree, node.index, betting_of(spot).tree) > 5
    if first is not None:
        assert reader.actions(node.index)[: len(first)] == first


def test_pot_and_stack_are_what_the_line_leaves(reader: RealCardsReader) -> None:
    spot = spot_at(GAME, reader, f"raise 6, call, {FLOP}")
    assert (spot.pot, spot.stack) == (13.0, 23.5)  # both paid 6 and the ante
    assert spot.pot / 2 + spot.stack == GAME.stack
    assert spot.board == parse_board(FLOP)
    assert (spot.rules, spot.name) == (GAME.rules, f"raise 6, call, {FLOP}")


def test_ranges_are_the_reach_of_the_hands(reader: RealCardsReader) -> None:
    spot = spot_at(GAME, reader, "raise 6, call", parse_board("Ks 7d 2c"))  # a flop that was not solved
    blocked = parse_board("Ks 7d 2c")
    opening = reader.played(reader.find(""))
    calling = reader.played(reader.find("raise 6"))
    for hands, played, action in ((spot.ip, opening, "raise 6"), (spot.oop, calling, "call")):
        expected = np.zeros(1326)
        expected[played.hand] = played.strategy[played.actions.index(action)]
        np.testing.assert_array_equal(hands.remove(blocked).weights, hands.weights)
        live = hands.weights > 0
        np.testing.assert_allclose(hands.weights[live], expected[live], rtol=1e-12)
        assert live.sum() == 1176


def test_ranges_on_later_streets_follow_the_solution(reader: RealCardsReader) -> None:
    line = f"call, check, {FLOP}, bet 2.5, call, 2c"
    spot, node = spot_at(GAME, reader, line), reader.find(line)
    assert spot.oop.combos == pytest.approx(node.reach[1].sum())
    before = spot_at(GAME, reader, f"call, check, {FLOP}")
    assert spot.oop.combos < before.oop.combos


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("raise 6, call", "nobody acts there|deals no flop"),
        ("raise 6", "deals no flop: a spot begins with 3, 4 or 5 cards"),
        (f"raise 6, call, {FLOP}, check", "goes on after the last cards"),
        ("raise 6, all-in, call, 7c 7d 7h", "nobody acts there"),
        ("raise 6, call, 7c 7d 8h, check", "was not solved, nor was"),
    ],
)
def test_lines_that_begin_no_spot_are_refused(reader: RealCardsReader, line: str, sentence: str) -> None:
    with pytest.raises(Exception, match=sentence):
        spot_at(GAME, reader, line)


def test_a_range_that_never_gets_there_is_refused() -> None:
    form = compile_game(GAME, read_flops(FLOP))
    layout = make_layout(form)
    sums = [np.zeros(entries, dtype=np.float32) for entries in layout.entries]
    rows = np.zeros((3, 1326), dtype=np.float32)
    rows[0] = 1  # always folds
    layout.write(sums[0], 0, 0, rows)
    arrays = {f"average.{player}": sums[player] for player in range(2)}
    reader = RealCardsReader(form, StoredStrategies(form, Snapshot(1, arrays)))
    with pytest.raises(InvalidText, match="is never played by ip"):
        spot_at(GAME, reader, f"raise 6, call, {FLOP}")


@pytest.mark.parametrize(
    ("line", "cards", "divided"),
    [
        ("r6, c, Ks 7d 2c, x, c", "", ("raise 6, call", "Ks 7d 2c", "check, c", "")),
        ("raise 6, call, check", "Ks 7d 2c 5h", ("raise 6, call", "Ks 7d 2c", "check", "5h")),
        ("raise 6, call", "Ks 7d 2c", ("raise 6, call", "Ks 7d 2c", "", "")),
        ("raise 6, call, Ks, 7d, 2c", "5h", ("raise 6, call", "Ks 7d 2c", "", "5h")),
        ("raise 6", "", None),
        ("raise 6, call", "", None),
        ("raise 7, call, Ks 7d 2c", "", None),
        ("raise 6, fold", "", None),
    ],
)
def test_a_line_is_divided_at_its_flop(line: str, cards: str, divided: tuple[str, str, str, str] | None) -> None:
    result = flop_line(GAME, line, parse_board(cards) if cards else ())
    if divided is None:
        assert result is None
    else:
        before, flop, then, rest = divided
        assert result == FlopLine(before, parse_board(flop), then, parse_board(rest) if rest else ())


def test_a_solution_is_saved_and_read_while_it_fits(reader: RealCardsReader, tmp_path: Path) -> None:
    spot = spot_at(GAME, reader, f"call, check, {FLOP}, check, check, 2c, check, check, 2d")
    folder = tmp_path / "game.flops"
    first = solve_saved(spot, folder, iterations=20)
    assert [path.name for path in folder.iterdir()] == ["call-check-7c-7d-7h-check-check-2c-check-check-2d.rgl"]
    again = solve_saved(spot, folder)
    assert again.iterations == 20
    assert again.root.frequencies == pytest.approx(first.root.frequencies, abs=1e-6)
    other = spot_at(GAME, reader, f"call, check, {FLOP}, bet 2.5, call, 2c, check, check, 2d")
    assert saved_spot(other, folder) is None
    precise = solve_saved(spot, folder, target=0.01)
    assert precise.exploitability_pct_pot <= 0.01 < first.exploitability_pct_pot
    assert saved_spot(spot, folder, 0.01) is not None
    (folder / "link.rgl").symlink_to(tmp_path)
    file = next(path for path in folder.iterdir() if not path.is_symlink())
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidFile, match="is a link"):
        solve_saved(spot, folder)
