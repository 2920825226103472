"""Whole hands against a game whose flops are solved when they are dealt."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.holdem.games.test_head_to_head import FLOP, on_flops

from regretless.cards.deck import parse_board
from regretless.cards.hands import HAND_CARDS, hand_index
from regretless.errors import InvalidOption
from regretless.holdem.games.real_cards import RealCardsSolution
from regretless.holdem.games.resolving_reader import ResolvingReader
from regretless.holdem.reading.playing import Duel, draw_hands
from regretless.holdem.solution import SpotSolution

SOLVING: dict[str, Any] = {"iterations": 2, "threads": 1, "storage": 16, "device": "cpu"}
TO_FLOP = "raise 2, call, 2c 2d 2h"  # not the flop that was solved
LINES = ("", "check, check, 5h, check, check, 9c", "check, check, 5h, check, check, 9c, bet 2")


@pytest.fixture(scope="module")
def game() -> RealCardsSolution:
    return on_flops(FLOP, 3)


@pytest.fixture(scope="module")
def reader(game: RealCardsSolution) -> ResolvingReader:
    return game.resolving_reader(**SOLVING)


@pytest.fixture(scope="module")
def spot(game: RealCardsSolution) -> SpotSolution:
    return game.resolve(TO_FLOP, **SOLVING)


@pytest.mark.parametrize("line", LINES)
def test_after_the_flop_it_plays_what_the_spot_plays(reader: ResolvingReader, spot: SpotSolution, line: str) -> None:
    in_spot, in_game = spot.reader.find(line), reader.find(", ".join(filter(None, (TO_FLOP, line))))
    assert reader.actions(in_game.index) == spot.reader.actions(in_spot.index)
    hands, positions = spot.reader.solved_hands(int(reader.tree.player[in_game.index]), in_spot.deal)
    expected = spot.reader.strategy(in_spot)[:, positions]
    assert (reader.strategy(in_game)[:, hands] == expected).all()
    for player in range(2):
        hands, positions = spot.reader.solved_hands(player, in_spot.deal)
        assert in_game.reach[player][hands] == pytest.approx(in_spot.reach[player][positions], abs=1e-7)


def test_before_the_flop_it_plays_the_game(reader: ResolvingReader, game: RealCardsSolution) -> None:
    assert reader.preflop() == game.reader.preflop()


def test_a_flop_is_solved_once_and_only_if_somebody_acts_on_it(game: RealCardsSolution) -> None:
    solved: list[str] = []
    reader = game.resolving_reader(watch=lambda spot: _note(solved, spot.name), **SOLVING)
    for line in LINES:
        reader.strategy(reader.find(f"{TO_FLOP}, {line}".rstrip(", ")))
    assert solved == [TO_FLOP]
    reader.find("call, check, 2c 2d 2h")
    assert solved == [TO_FLOP, "call, check, 2c 2d 2h"]


def test_flops_are_kept_in_a_folder_unless_their_solve_was_interrupted(game: RealCardsSolution, tmp_path: Path) -> None:
    solved: list[str] = []

    def reader(**options: Any) -> ResolvingReader:
        watch = {"watch": lambda spot: _note(solved, spot.name)}
        return game.resolving_reader(folder=tmp_path / "flops", **watch, **(SOLVING | options))

    reader(interrupted=lambda: True).find(TO_FLOP)
    assert not (tmp_path / "flops").exists()
    first = reader()
    saved = first.strategy(first.find(TO_FLOP))
    (file,) = (tmp_path / "flops").iterdir()
    written = file.stat().st_mtime_ns
    again = reader()
    assert again.strategy(again.find(TO_FLOP)) == pytest.approx(saved, abs=1e-4)
    assert file.stat().st_mtime_ns == written


def _note(names: list[str], name: str) -> Any:
    names.append(name)
    return nullcontext()


def test_results_of_whole_hands_count_from_the_deal(reader: ResolvingReader, spot: SpotSolution) -> None:
    """In the spot, they count from the flop: each player has put half of its pot in before."""
    hands = (hand_index(*parse_board("As Kd")), hand_index(*parse_board("7s 7h")))
    line = LINES[-1]
    for last in ("call", "fold"):
        in_game, in_spot = reader.find(f"{TO_FLOP}, {line}, {last}"), spot.reader.find(f"{line}, {last}")
        won = Duel(reader, hands, 0, Random(0)).outcome(in_game).payoffs
        after_flop = Duel(spot.reader, hands, 0, Random(0)).outcome(in_spot).payoffs
        assert won == pytest.approx([chips - spot.spot.pot / 2 for chips in after_flop], abs=1e-9)
        assert sum(won) == pytest.approx(0, abs=1e-9)


def test_whole_hands_are_played_on_any_flop(reader: ResolvingReader) -> None:
    random = Random(4)
    flops = set()
    for number in range(4):
        duel = Duel(reader, draw_hands(reader, reader.root, random), number % 2, random)
        nodes = duel.play_on(reader.root)
        while duel.is_persons_turn(nodes[-1]):
            nodes = duel.play_on(reader.act(nodes[-1], 1))
        flops.add(nodes[-1].deal.cards[:3])
        assert sum(duel.outcome(nodes[-1]).payoffs) == pytest.approx(0, abs=1e-9)
        dead = {int(card) for hand in duel.hands for card in HAND_CARDS[hand]}
        assert not dead & set(nodes[-1].deal.cards)
    assert len(flops) > 1


def test_a_hand_that_is_not_expected_plays_anything(game: RealCardsSolution, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person may raise with a hand that the solution always folds, or take a line that it never takes."""
    hand = hand_index(*parse_board("As Kd"))
    strategy = game.reader.strategy

    def never_raised(node: Any) -> Any:
        played = strategy(node).copy()
        if node.index == 0:
            played[-1, slice(None) if everything else hand] = 0.0
        return played

    monkeypatch.setattr(game.reader, "strategy", never_raised)
    for everything in (False, True):
        reader = game.resolving_reader(**SOLVING)
        node = reader.find(f"{TO_FLOP}, {LINES[1]}, check")
        played = reader.strategy(node)[:, hand]
        assert np.allclose(played.sum(), 1)
        assert everything or (played == 0.5).all()


def test_safe_play_needs_values_on_every_flop(game: RealCardsSolution) -> None:
    with pytest.raises(InvalidOption, match="safe: True needs the values of hands on every flop"):
        game.resolving_reader(safe=True)
