"""Whole games with real cards on some flops: solving, reading, saving, resuming, and what the strategy is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

import regretless as rl
from regretless.cards.deck import parse_board
from regretless.cards.isomorphism import CARD_MAPS
from regretless.cards.ranges import Range
from regretless.engines import available_cores, create
from regretless.errors import InvalidFile, InvalidOption, MissingOption, WouldNotFit
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import NodeKind
from regretless.forms.public_size import size_of_form
from regretless.holdem.flops import ALL_FLOPS, read_flops
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import compile_holdem, holdem_hands, runout_boards
from regretless.holdem.form.suits import Deal
from regretless.holdem.games import dealt_form, real_cards
from regretless.holdem.games.flop_pricer import FlopTree, evaluate_game, flop_tree, values_by_class
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.real_cards import (
    RealCardsProblem,
    RealCardsReader,
    RealCardsSolution,
    compile_game,
    estimate_flops,
    game_size,
)
from regretless.holdem.games.resolving_pricer import Resolving
from regretless.holdem.reading.evaluation import Strategies
from regretless.holdem.reading.line_reader import LineNode
from regretless.solving.options import SolveOptions

FLOP = "7c 7d 7h"  # of all flops, the one with the fewest turns and rivers
GAME = HoldemGame.parse(
    """
    name = "no all-in before the flop"
    stack = 8
    small_blind = 0.5
    big_blind = 1
    preflop.open = "2x"
    preflop.raise_limp = ""
    preflop.3bet = ""
    bets.flop.bet = "50%"
    rules.add_allin = 0
    rules.force_allin = 0
    """
)


@pytest.fixture(scope="module")
def solution() -> RealCardsSolution:
    solution = rl.solve(GAME, flops=FLOP, iterations=6, storage=16, threads=1, device="cpu")
    assert isinstance(solution, RealCardsSolution)
    return solution


def test_it_is_a_solution_like_any_other(solution: RealCardsSolution) -> None:
    assert solution.values[0] == pytest.approx(-solution.values[1], abs=1e-3)
    assert 0 < solution.exploitability_mbb == 1000 * solution.exploitability
    answer = solution.as_json()
    assert answer["flop_weights"] == {"7s7h7d": 22100}
    assert (answer["flops"], answer["big_blind"], answer["root"]["actions"]) == (1, 1.0, ["fold", "call", "raise 2"])
    assert len(solution.strategy) == 169 * sum(1 for _ in solution.charts())
    assert sum(solution.strategy["AKs:"].values()) == pytest.approx(1)


def test_nodes_are_read_on_the_flops_that_were_solved(solution: RealCardsSolution) -> None:
    node = solution.node("call, check, 7h 7c 7s")  # another seven is missing: the same flop up to suits
    assert node.actions == ("check", "bet 1")
    assert len(node.hand) == 1176
    with pytest.raises(InvalidOption, match=r"'7h 7d 8h' was not solved, .*: solution.resolve\(line\)"):
        solution.node("call, check, 7h 7d 8h")


def test_a_file_holds_averages_and_if_it_is_resumable_the_rest(solution: RealCardsSolution, tmp_path: Path) -> None:
    solution.save(tmp_path / "read.rgl")
    solution.save(tmp_path / "resumed.rgl", resumable=True)
    assert (tmp_path / "read.rgl").stat().st_size < 0.7 * (tmp_path / "resumed.rgl").stat().st_size
    for name in ("read.rgl", "resumed.rgl"):
        loaded = rl.load(tmp_path / name)
        assert isinstance(loaded, RealCardsSolution)
        assert loaded.strategy == solution.strategy
        for line in ("call, check, 7c 7d 7h", "raise 2, call, 7d 7h 7s"):
            np.testing.assert_array_equal(loaded.node(line).strategy, solution.node(line).strategy)
    with pytest.raises(InvalidOption, match="is a finished solve without its regrets"):
        rl.solve(resume=tmp_path / "read.rgl", iterations=8)
    resumed = rl.solve(resume=tmp_path / "resumed.rgl", iterations=8)
    at_once = rl.solve(GAME, flops=FLOP, iterations=8, storage=16, threads=1, device="cpu", measure_every=6)
    assert (resumed.values, resumed.exploitability) == (at_once.values, at_once.exploitability)
    with pytest.raises(InvalidOption, match=r"cannot resume .* which was started with '7c 7d 7h'"):
        rl.solve(resume=tmp_path / "resumed.rgl", flops="subset(25)", iterations=9)


def test_an_interrupted_solve_is_resumed_to_the_same_bits(tmp_path: Path) -> None:
    """Stopped after three iterations, with a checkpoint; its file and that of a solve never stopped agree."""
    options = {"flops": FLOP, "iterations": 6, "measure_every": 3, "storage": 16, "threads": 1, "device": "cpu"}
    done = [0]
    stopped = rl.solve(
        GAME,
        checkpoint=tmp_path / "stopped.rgl",
        report=lambda progress: done.append(progress.iteration),
        interrupted=lambda: done[-1] >= 3,
        **options,
    )
    assert (stopped.reason, stopped.iterations) == ("interrupted", 3)
    resumed, at_once = rl.solve(resume=tmp_path / "stopped.rgl"), rl.solve(GAME, **options)
    assert (resumed.iterations, resumed.values, resumed.exploitability) == (6, at_once.values, at_once.exploitability)
    for solution in (resumed, at_once):
        assert solution.snapshot is not None
    for name, array in at_once.snapshot.arrays.items():
        np.testing.assert_array_equal(resumed.snapshot.arrays[name], array)


def test_only_solved_flops_are_dealt_as_often_as_they_come() -> None:
    form = compile_game(GAME, flops := read_flops("7c 7d 7h, Qs Jh 2h"))
    reader = RealCardsReader(form, cast(Strategies, None))
    random, known, chance = Random(3), {*parse_board("Qs Ah"), *parse_board("7c 2d")}, LineNode(0, Deal(), ())
    drawn = [tuple(reader.draw(chance, known, random)) for _ in range(2000)]
    assert not known & {card for flop in drawn for card in flop}
    renamed = [_renamed(flop.cards) for flop in flops]
    assert {*map(frozenset, drawn)} <= renamed[0] | renamed[1]
    left = [
        flop.weight * sum(not known & cards for cards in names) / flop.multiplicity
        for flop, names in zip(flops, renamed, strict=True)
    ]
    share = sum(frozenset(flop) in renamed[0] for flop in drawn) / len(drawn)
    assert share == pytest.approx(left[0] / sum(left), abs=0.03)


def _renamed(cards: tuple[int, ...]) -> set[frozenset[int]]:
    return {frozenset(int(row[card]) for card in cards) for row in CARD_MAPS}


def test_the_size_is_known_before_the_form_is_built() -> None:
    flops = read_flops("7c 7d 7h, Qs Jh 2h")
    assert size_of_form(compile_game(GAME, flops)).entries == game_size(GAME, flops).entries


def test_it_is_refused_before_anything_is_built_if_it_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (dealt_form, real_cards):
        monkeypatch.setattr(module, "available_bytes", lambda: 10**9)
    sentence = r"flop in 32 bits needs .* storage=16 takes about half as much; flops with at most 4 like these fits"
    with pytest.raises(WouldNotFit, match=sentence):
        rl.solve(GAME, flops="subset(25)", device="cpu")


def test_an_estimate_says_how_many_flops_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    flops = read_flops("7c 7d 7h, Qs Jh 2h, Ks 7d 2c")
    estimate = estimate_flops(GAME, flops)
    assert estimate.entries == game_size(GAME, flops).entries
    assert estimate.memory_bytes[16] < 0.7 * estimate.memory_bytes[32]
    monkeypatch.setattr(real_cards, "available_bytes", lambda: estimate.memory_bytes[16] + 1)
    again = estimate_flops(GAME, flops)
    assert (again.flops_that_fit[16], again.flops_that_fit[32]) == (3, 2)
    assert again.as_json()["memory_bytes"].keys() == {"32", "16"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"buckets": "flop=5,turn=5,river=5"}, "cannot be combined with flops, on which real cards are dealt"),
        ({"seed": 4}, "decides which runouts are drawn: give sample_runouts too"),
        ({"sampling": "external"}, "is for games: sample_runouts samples turns and rivers"),
        ({"flops": "subset(26)"}, "flops: 'subset\\(26\\)' is not one of the subsets: 25, 49, 95, 184"),
        ({"storage": 8}, "is not one of 32, 16 bits"),
    ],
)
def test_options_that_do_not_apply_are_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidOption, match=sentence):
        rl.solve(GAME, **{"flops": FLOP, "iterations": 1, **options})


def test_a_game_needs_flops_or_buckets() -> None:
    with pytest.raises(MissingOption, match="or flops, such as subset\\(25\\), to solve with real cards"):
        rl.solve(GAME, iterations=1)
    with pytest.raises(InvalidOption, match=r"flops: .* is for hold'em from the deal"):
        rl.solve("leduc", flops=FLOP, iterations=1)


def test_lists_and_numbers_are_flops_too() -> None:
    for flops, text in ((["7c 7d 7h", "AsKsQs"], "7c 7d 7h, AsKsQs"), (25, "25"), ("all", "all")):
        problem = RealCardsProblem(GAME, SolveOptions.read({"flops": flops}))
        assert problem.text == text
    assert [flop.text for flop in RealCardsProblem(GAME, SolveOptions(flops=["AsKsQs"])).flops] == ["AsKsQs"]


def test_a_damaged_file_is_refused(solution: RealCardsSolution, tmp_path: Path) -> None:
    path = tmp_path / "game.rgl"
    solution.save(path)
    content = path.read_bytes().replace(b'\\"flops\\":', b'\\"flopz\\":').replace(b'"flops":', b'"flopz":')
    path.write_bytes(content)
    with pytest.raises(InvalidFile):
        rl.load(path)


def test_its_exploitability_is_that_of_its_flops_one_by_one() -> None:
    """By another route: every flop in a form of its own, from strategies read card by card, hands in classes before.

    No line is all-in before the flop: pricing would compare hands on all boards there, not only on these flops.
    """
    texts = {"7h 7s 7d": "7c 7d 7h", "2c 2d 2s": "2c 2d 2h"}  # read on other suits than those that were solved
    solution = rl.solve(GAME, flops=list(texts.values()), iterations=3, threads=1, device="cpu")
    assert isinstance(solution, RealCardsSolution)
    reader, betting = solution.reader, betting_of(GAME)
    after_flop, everything = flop_tree(betting.tree), Range.parse("100%")
    lines = np.zeros((2, 2, len(after_flop.begins), 169))
    for text in texts:
        flop = parse_board(text)
        form = compile_holdem(
            flop, everything, everything, after_flop.tree, payoffs=after_flop.payoffs(betting.payoffs)
        )
        hands, boards = holdem_hands(flop, everything), runout_boards(form, flop)
        strategy = _strategy_by_cards(reader, after_flop, hands, boards)
        engine = create("numba", form, threads=1, storage=32)
        values = np.empty((2, 2, len(after_flop.begins), len(hands)))
        for own, best in product(range(2), (False, True)):
            engine.unlock()
            engine.fix(1 - own, strategy)
            if not best:
                engine.fix(own, strategy)
            values[own, int(best)] = engine.values_before_last(own, best=best)[0][0][after_flop.begin_rows]
        lines += ALL_FLOPS / len(texts) * values_by_class(values, hands)
    by_node = {node: lines[:, :, line] for line, node in enumerate(after_flop.chance)}
    evaluation = evaluate_game(betting.tree, betting.payoffs, reader.class_strategy, by_node, GAME.big_blind)
    assert evaluation.values == pytest.approx(solution.values, abs=2e-6)
    assert evaluation.exploitability == pytest.approx(solution.exploitability, abs=2e-6)


def _strategy_by_cards(
    reader: RealCardsReader, after_flop: FlopTree, hands: IntArray, boards: list[NDArray[np.uint8]]
) -> Callable[[int, int], FloatArray]:
    """[actions, H] at a node of a flop's betting on a runout, as the reader plays on these cards."""

    @cache
    def find(node: int, board: tuple[int, ...]) -> LineNode:
        """The node of the whole game with so many cards dealt, whatever was played before."""
        if not board:
            return LineNode(node, Deal(), (np.ones(1326), np.ones(1326)))
        chance = int(np.argmax(reader.tree.kind == NodeKind.CHANCE))
        before, dealt = (board[:-1], board[-1:]) if len(board) > 3 else ((), board)
        return replace(reader.deal(replace(find(node, before), index=chance), *dealt), index=node)

    def strategy(node: int, runout: int) -> FloatArray:
        original, on_flop = int(after_flop.node[node]), int(after_flop.tree.street[node])
        board = tuple(boards[on_flop][runout].tolist()) if reader.tree.street[original] > 0 else ()
        found = find(original, board)
        player = int(reader.tree.player[original])
        named, positions = reader.solved_hands(player, found.deal)
        rows = reader.strategy(found)
        full = np.full((len(rows), 1326), 1 / len(rows))
        full[:, named] = rows[:, positions]
        return full[:, hands]

    return strategy


@pytest.mark.slow
def test_on_its_own_flops_the_price_is_the_exploitability() -> None:
    """By another route: the flop solved by itself, hands in classes before it, values added up the betting tree.

    No line is all-in before the flop: a price would compare hands on all boards there, not only on this flop.
    """
    solution = rl.solve(GAME, flops=FLOP, target=3, storage=32, device="cpu")
    assert isinstance(solution, RealCardsSolution)
    price = solution.price(FLOP, resolve=Resolving(target=0.5), threads=available_cores())
    assert price is not None
    assert price.evaluation.values == pytest.approx(solution.values, abs=0.005)
    assert price.exploitability_mbb == pytest.approx(solution.exploitability_mbb, abs=1.0)
    with pytest.raises(InvalidOption, match="resolve: False must be chosen"):
        solution.price(FLOP, resolve=False)
