"""The logic of the CUDA kernels on a CPU: every CUDA thread is a fiber, scheduled at random (`cuda_on_host.cpp`).

`test_engine.py` tests the rest: memory ordering between blocks, launches, graphs.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from regretless.engines.batched import batched_terms, replace_payoffs
from regretless.engines.contract import Updates
from regretless.engines.cuda.sequence.game import (
    FIELDS,
    LEVELS,
    SIZES,
    STATE,
    TOGETHER,
    CudaGame,
    kernel_source,
    prepare,
)
from regretless.engines.numpy.sequence import NumpySequenceEngine
from regretless.engines.sequence_layout import Terms, lay_out, terms_of
from regretless.forms import SequenceForm, compile_history, compile_sequence
from regretless.games.registry import load
from regretless.variants import Plus, PredictivePlus, schedule

HERE = Path(__file__).parents[2]
THREADS = 64

needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers"
)


@cache
def form(name: str) -> SequenceForm:
    return compile_sequence(compile_history(load(name)))


@pytest.fixture(scope="module")
def compile_kernels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    kernels = folder / "kernels.cu"
    kernels.write_text(kernel_source(TOGETHER, LEVELS), encoding="utf-8")

    @cache
    def build(options: tuple[str, ...]) -> ctypes.CDLL:
        library = folder / f"kernels{abs(hash(options))}.so"
        command = ["g++", "-std=c++20", "-O0", "-w", "-shared", "-fPIC", "-U_FORTIFY_SOURCE", *options]
        files = [f'-DKERNELS="{kernels}"', str(HERE / "cuda_on_host.cpp"), "-o", str(library)]
        subprocess.run([*command, *files], check=True, timeout=600)
        return ctypes.CDLL(str(library))

    return build


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class HostGame:
    """A small `CudaSequenceSolve`: the same arrays and kernels, without a device."""

    def __init__(self, game: CudaGame, library: ctypes.CDLL) -> None:
        self.game, self.library = game, library
        self.state = [game.starting_state(player) for player in range(2)]
        rows = [
            [player.arrays[name].ctypes.data for name in FIELDS]
            + [state[name].ctypes.data for name in STATE]
            + [player.sizes[name] for name in SIZES]
            for player, state in zip(game.players, self.state)
        ]
        self.players = np.array(rows, dtype=np.uint64)
        self.arrived = np.zeros(game.games, dtype=np.uint32)

    def solve(self, weights: np.ndarray, *, simultaneous: bool, carried: bool = False) -> None:
        game, weights = self.game, np.ascontiguousarray(weights)
        shared = game.table_bytes + (game.carried_bytes if carried else 0)
        self.arrived[:] = 0
        self.library.run_solve(
            game.blocks * game.games, THREADS, ctypes.c_size_t(shared), 1, pointer(self.players), pointer(weights),
            len(weights), int(simultaneous), game.blocks, int(carried), pointer(self.arrived),
        )  # fmt: skip

    def evaluate(self) -> tuple[np.ndarray, np.ndarray]:
        game = self.game
        self.arrived[:] = 0
        self.library.run_evaluate(
            game.blocks * game.games, THREADS, ctypes.c_size_t(game.table_bytes), 2, pointer(self.players), 1,
            game.blocks, pointer(self.arrived),
        )  # fmt: skip
        values, best = [], []
        for player, state in zip(game.players, self.state):
            values.append((state["other_plan"][:, : player.layout.sequences] * state["product"]).sum(axis=1))
            best.append(state["product"][:, 0] + state["set_value"][:, player.layout.roots].sum(axis=1))
        return np.array(values), np.array(best)

    def step_by_step(self, weights: np.ndarray, *, simultaneous: bool) -> None:
        """The launches that a graph consists of."""
        weights = np.ascontiguousarray(weights)
        for iteration in range(len(weights)):
            following = np.array([iteration], dtype=np.int32)
            for players in [(0, 1)] if simultaneous else [(0,), (1,)]:
                for player in players:
                    self.library.run_level_rows(2, THREADS, pointer(self.players), player, 0)
                for player in players:
                    bounds = self.game.players[player].layout.level[1].tolist()
                    for begin, end in reversed(list(pairwise(bounds))):
                        self.library.run_level_up(
                            2, THREADS, pointer(self.players), player, begin, end, pointer(weights), pointer(following)
                        )
                for player in players:
                    layout = self.game.players[player].layout
                    bounds = layout.first[layout.level[1]].tolist()
                    for begin, end in pairwise(bounds):
                        self.library.run_level_down(2, THREADS, pointer(self.players), player, begin, end, 0)

    def pairs(self, name: str, game: int = 0) -> np.ndarray:
        array = np.zeros(sum(player.layout.sequences - 1 for player in self.game.players))
        for player, state in zip(self.game.players, self.state):
            array[player.layout.pair[1:]] = state[name][game, 1 : player.layout.sequences]
        return array


def assert_follows(host: HostGame, expected: NumpySequenceEngine, tolerance: float, game: int = 0) -> None:
    snapshot = expected.snapshot()
    for name in ("regret", "average", "strategy"):
        np.testing.assert_allclose(host.pairs(name, game), snapshot.arrays[name], rtol=tolerance, atol=tolerance)


@needs_compiler
@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize(
    ("name", "blocks", "carried"),
    [("kuhn", 1, False), ("kuhn", 1, True), ("kuhn", 3, False), ("leduc", 1, True), ("leduc", 12, False),
     ("goofspiel(cards=4)", 5, False)],
)  # fmt: skip
def test_a_schedule_in_one_launch(name, blocks, carried, updates, compile_kernels):
    trees, terms = terms_of(form(name))
    game = prepare(trees, terms, blocks=blocks, dtype="float64", threads=256)
    assert blocks < 3 or all(player.layout.top_sets > 0 for player in game.players)  # else nothing of the top is tested
    host = HostGame(game, compile_kernels(game.options))
    expected = NumpySequenceEngine(form(name), updates=updates)
    weights = schedule(Plus(), first=1, count=2)
    host.solve(weights, simultaneous=updates is Updates.SIMULTANEOUS, carried=carried)
    expected.advance(weights)
    assert_follows(host, expected, 1e-10)
    values, best = host.evaluate()
    evaluation = expected.evaluate()
    np.testing.assert_allclose(values[:, 0], evaluation.values, atol=1e-10)
    np.testing.assert_allclose(best[:, 0], evaluation.best_response_values, atol=1e-10)


@needs_compiler
@pytest.mark.parametrize("updates", Updates)
def test_the_steps_of_a_graph(updates, compile_kernels):
    trees, terms = terms_of(form("leduc"))
    game = prepare(trees, terms, blocks=1, dtype="float64", threads=256)
    host = HostGame(game, compile_kernels(game.options))
    expected = NumpySequenceEngine(form("leduc"), updates=updates)
    weights = schedule(PredictivePlus(), first=1, count=2)
    host.step_by_step(weights, simultaneous=updates is Updates.SIMULTANEOUS)
    expected.advance(weights)
    assert_follows(host, expected, 1e-10)


@needs_compiler
def test_payoffs_of_too_many_values_and_sets_of_too_many_actions(compile_kernels):
    trees, terms = terms_of(form("kuhn"))
    random = np.random.default_rng(3)
    history = form("kuhn").history
    changed = compile_sequence(replace_payoffs(history, random.normal(size=history.payoff.shape)))
    trees, terms = terms_of(changed)
    game = prepare(trees, terms, blocks=1, dtype="float64", threads=256)
    unpacked = prepare_unpacked(trees, terms)
    assert game.packed
    assert not unpacked.packed
    host = HostGame(
        unpacked, compile_kernels((*unpacked.options[:2], "-DLANES_0=1", "-DLANES_1=1", *unpacked.options[4:]))
    )
    expected = NumpySequenceEngine(changed)
    weights = schedule(Plus(), first=1, count=5)
    host.solve(weights, simultaneous=False)
    expected.advance(weights)
    assert_follows(host, expected, 1e-10)


def prepare_unpacked(trees, terms) -> CudaGame:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("regretless.engines.cuda.sequence.game.MAX_VALUES", 1)
        return prepare(trees, terms, blocks=1, dtype="float64", threads=256)


@needs_compiler
def test_a_batch_has_a_block_for_each_game(compile_kernels):
    history = form("kuhn").history
    games = [replace_payoffs(history, history.payoff * scale + [0.1 * scale, 0.0]) for scale in (1.0, 2.0, 5.0)]
    trees, terms = batched_terms(games)
    game = prepare(trees, terms, blocks=1, dtype="float64", threads=256)
    host = HostGame(game, compile_kernels(game.options))
    weights = schedule(Plus(), first=1, count=5)
    host.solve(weights, simultaneous=False, carried=True)
    values, _ = host.evaluate()
    for number, variant in enumerate(games):
        expected = NumpySequenceEngine(compile_sequence(variant))
        expected.advance(weights)
        assert_follows(host, expected, 1e-10, game=number)
        np.testing.assert_allclose(values[:, number], expected.evaluate().values, atol=1e-10)


@pytest.mark.parametrize("blocks", [1, 2, 7, 40])
@pytest.mark.parametrize("name", ["kuhn", "leduc", "liars_dice(sides=4)", "goofspiel(cards=4)"])
def test_a_layout_orders_the_same_tree(name, blocks):
    _, terms = terms_of(form(name))
    for tree, term in zip(form(name).trees, terms):
        layout = lay_out(tree, np.diff(term.start), blocks=blocks)
        assert sorted(layout.sequence) == list(range(len(tree.pair)))
        np.testing.assert_array_equal(layout.number[layout.sequence], np.arange(layout.sequences))
        np.testing.assert_array_equal(layout.pair, np.asarray(tree.pair)[layout.sequence])
        # Above each sequence is what was above it in the form.
        owner = np.repeat(np.arange(len(tree.parent_sequence)), np.diff(tree.first_sequence))
        above = np.asarray(tree.parent_sequence)[owner[layout.sequence[1:] - 1]]
        np.testing.assert_array_equal(layout.sequence[layout.parent[1:]], above)
        for s in range(layout.sequences):
            begin, end = layout.children[s]
            below = layout.top_child[begin:end] if s < layout.top_sequences else np.arange(begin, end)
            firsts = layout.first[below]
            assert (layout.parent[firsts] == s).all()
        assert layout.level[0, 0] == 0
        assert layout.level[-1, -1] == layout.sets
        for part in range(1, blocks + 1):  # a part reaches outside itself only into the top
            inside = np.flatnonzero(layout.block_of[1:] == part) + 1
            assert np.isin(layout.block_of[layout.parent[inside]], [0, part]).all()


def test_terms_of_many_players_are_terminals():
    history = compile_history(load("kuhn(players=3)"))
    _, terms = terms_of(history)
    assert all(isinstance(term, Terms) and len(term.columns) == 2 for term in terms)
    assert [len(term.value) for term in terms] == [312, 312, 312]
