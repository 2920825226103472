"""The price of a strategy against a slow one that was written from the rules."""

from __future__ import annotations

import shutil
import sys
from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.engines.cuda_host_device import HostDevice
from tests.holdem.games.plain_price import PlainPricer

from regretless.cards.deck import parse_board
from regretless.cards.hands import CLASS_NAMES, HAND_CLASS
from regretless.cards.situations import hand_situations
from regretless.engines.bucket_strategies import BucketEvaluators
from regretless.engines.creation import bucket_evaluators
from regretless.engines.cuda.public.bucket_evaluator import CudaBucketEvaluators
from regretless.forms.public import NodeKind
from regretless.holdem.buckets.table import NO_BUCKET
from regretless.holdem.form.betting import betting_of
from regretless.holdem.games.boards import GameBuckets
from regretless.holdem.games.flop_pricer import FlopPricer, evaluate_game, flop_form, flop_tree
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.spots.spot_fields import StreetName

BUCKETS: dict[StreetName, int] = {"flop": 7, "turn": 5, "river": 6}
STREET_OF: dict[int, StreetName] = {3: "flop", 4: "turn", 5: "river"}
ALL_IN_OR_CHECK = {"stack": 3, "bets": {"bet": "a"}}
RAKED = {"stack": 6, "bets": {"flop": {"bet": "100%", "raise": "a"}}, "rules": {"rake": 0.05, "rake_cap": 0.2}}
TOLERANCE = 1e-5  # of the numba engine, relative to the stacks

slow, gpu = pytest.mark.slow, pytest.mark.gpu
needs_gcc = pytest.mark.skipif(
    shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers"
)


class HashedBuckets:
    """A card abstraction without sense, but which treats suits alike."""

    def __init__(self, seed: int) -> None:
        self.factor, self.shift = np.random.default_rng(seed).integers(1, 2**31, 2, dtype=np.uint64) | np.uint64(1)

    def count(self, street: StreetName) -> int:
        return BUCKETS[street]

    def lookup(self, boards: Any) -> NDArray[np.uint16]:
        found = hand_situations(boards)
        mixed = (found.astype(np.uint64) + self.shift) * self.factor % np.uint64(1_000_003)
        bucket = mixed % np.uint64(self.count(STREET_OF[boards.shape[1]]))
        return np.where(found < 0, NO_BUCKET, bucket).astype(np.uint16)


class Case:
    """A small game in which only some classes of hands limp or check behind, with a random strategy and buckets."""

    def __init__(self, seed: int, game: dict[str, Any]) -> None:
        random = np.random.default_rng(seed)
        blinds = {"small_blind": 0.5, "big_blind": 1, "preflop": {"limp": True, "open": "a", "raise_limp": "a"}}
        self.betting = betting_of(HoldemGame.from_mapping(blinds | game))
        self.tree, self.payoffs = self.betting.tree, self.betting.payoffs
        self.buckets = GameBuckets(HashedBuckets(seed), dict.fromkeys(BUCKETS, True))
        pairs, suited = (np.flatnonzero([name.endswith(end) for name in CLASS_NAMES]) for end in ("", "s"))
        pairs = pairs[[len(CLASS_NAMES[place]) == 2 for place in pairs]]
        self.taken = np.isin(np.arange(169), [*random.choice(pairs, 2), *random.choice(suited, 2)])
        self.given = flop_tree(self.tree)
        self.tables = {
            int(node): self._drawn(node, random) for node in np.flatnonzero(self.tree.kind == NodeKind.DECISION)
        }

    def _drawn(self, node: int, random: np.random.Generator) -> NDArray[np.float64]:
        tree = self.tree
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        rows = random.dirichlet(np.full(len(children), 0.7), (169, *BUCKETS.values())[tree.street[node]]).T
        for place, child in enumerate(children):
            leads_to_flop = child in self.given.chance or any(
                tree.parent[chance] == child for chance in self.given.chance
            )
            if leads_to_flop:
                rows[place, ~self.taken] = 0
        return np.asarray(rows / rows.sum(axis=0))

    def pricer(self, threads: int = 1, evaluators: BucketEvaluators | None = None) -> FlopPricer:
        return FlopPricer(
            self.given, self.payoffs, self.buckets, self.tables.__getitem__, threads=threads, evaluators=evaluators
        )

    def plain(self, flops: dict[tuple[int, ...], float], hands: NDArray[np.int64] | None = None) -> PlainPricer:
        every = np.arange(1326) if hands is None else hands
        weighted = list(flops.items())
        return PlainPricer(self.tree, self.payoffs, self.tables.__getitem__, self.buckets.of, weighted, every)

    def reach(self, chance: int, player: int) -> NDArray[np.float64]:
        """[1326] with which a player gets to a deal of the flop."""
        tree, found, node = self.tree, np.ones(1326), chance
        while node:
            above = int(tree.parent[node])
            if tree.player[above] == player:
                found = found * self.tables[above][node - int(tree.first_child[above])][HAND_CLASS]
            node = above
        return found


def some_hands(seed: int, classes: int) -> NDArray[np.int64]:
    """All hands of some classes."""
    chosen = np.random.default_rng(seed).choice(169, classes, replace=False)
    return np.flatnonzero(np.isin(HAND_CLASS, chosen))


@pytest.mark.parametrize(
    ("seed", "text", "game"),
    [
        (1, "Kc 8d 3h", ALL_IN_OR_CHECK),
        (2, "Qs Jh 2h", RAKED),
        (3, "7s 7h 7d", RAKED),
        *(pytest.param(seed, "As Ts 4s", RAKED, marks=slow) for seed in range(4, 8)),
        *(pytest.param(seed, "9s 9h 2h", ALL_IN_OR_CHECK, marks=slow) for seed in range(8, 12)),
    ],
)
def test_the_values_of_one_flop(seed: int, text: str, game: dict[str, Any]) -> None:
    """On every line into the flop, for both players, following the strategy and best-responding to it."""
    case, flop = Case(seed, game), tuple(parse_board(text))
    found = case.pricer(threads=2).values(flop)
    assert np.array_equal(found, case.pricer().values(flop))
    assert_plain_values(case, flop, found, some_hands(seed, 9))


@pytest.mark.parametrize("device", [pytest.param("emulated", marks=[slow, needs_gcc]), pytest.param("cuda", marks=gpu)])
def test_the_values_of_flops_on_a_gpu(device: str) -> None:
    """One after another, with the next one prepared meanwhile."""
    case, flops = Case(5, RAKED), [tuple(parse_board(text)) for text in ("7s 7h 7d", "As Ts 4s")]
    on = bucket_evaluators("cuda") if device == "cuda" else CudaBucketEvaluators(device=HostDevice())
    for flop, found in zip(flops, case.pricer(threads=2, evaluators=on).each(flops), strict=True):
        assert_plain_values(case, flop, found, some_hands(5, 9))
        assert found * comb(48, 3) == pytest.approx(case.pricer().values(flop) * comb(48, 3), abs=1e-4)


@pytest.mark.parametrize("device", [pytest.param("emulated", marks=[slow, needs_gcc]), pytest.param("cuda", marks=gpu)])
def test_two_strategies_with_other_buckets_on_a_gpu(device: str) -> None:
    """Each player has buckets of their own; the values are those of the CPU."""
    flop = tuple(parse_board("7s 7h 7d"))
    first, second = (Case(seed, RAKED).pricer() for seed in (5, 6))
    form, hands = flop_form(flop, first.betting.tree, first.payoffs)
    profile = first.played(form, flop, hands).against(second.played(form, flop, hands), form.tree)
    on = bucket_evaluators("cuda") if device == "cuda" else CudaBucketEvaluators(device=HostDevice())
    values = on.create(form).first_street_values(profile)
    assert values == pytest.approx(bucket_evaluators("cpu").create(form).first_street_values(profile), abs=1e-3)
    alone = bucket_evaluators("cpu").create(form).first_street_values(first.played(form, flop, hands))
    assert np.abs(values - alone).max() > 1


def assert_plain_values(
    case: Case, flop: tuple[int, ...], found: NDArray[np.float64], hands: NDArray[np.int64]
) -> None:
    plain = case.plain({}, hands)
    classes = np.unique(HAND_CLASS[hands])
    for line, chance in enumerate(case.given.chance):
        for own in range(2):
            others = np.flatnonzero(reach := case.reach(chance, 1 - own))
            start, board = int(case.tree.first_child[chance]), np.array([flop], dtype=np.uint8)
            values = plain.on_board(start, own, board, others, reach[others][None])[:, 0]  # [2, H]
            means = np.array([values[:, HAND_CLASS[hands] == each].mean(axis=1) for each in classes]).T
            assert np.abs(means).max() > 0.1
            assert found[own, :, line][:, classes] * comb(48, 3) == pytest.approx(means, abs=TOLERANCE * 6)
            assert (means[1] - means[0]).max() > 0.01  # a best response is something else


@pytest.mark.parametrize("seed", [21, pytest.param(22, marks=slow)])
def test_a_flop_stands_for_those_with_other_suits(seed: int) -> None:
    """Each hand of a class gets, summed over the four flops of a class, four times the mean of its class on one."""
    case, flop, hands = Case(seed, ALL_IN_OR_CHECK), tuple(parse_board("Ks 7s 6s")), some_hands(seed, 6)
    found = case.pricer().values(flop)
    plain = case.plain({flop: 4.0}, hands)
    for own in range(2):
        values = plain.after_flop(int(case.tree.first_child[case.given.chance[0]]), own, case.reach(4, 1 - own))
        assert 4 * found[own, :, 0][:, HAND_CLASS[hands]] == pytest.approx(values, abs=TOLERANCE * 3 * 4 / comb(48, 3))


@slow
@pytest.mark.parametrize("seed", [31, 32])
def test_the_whole_game(seed: int) -> None:
    """Two classes of flops, in a game with only these; every hand on its own from the deal on."""
    case = Case(seed, ALL_IN_OR_CHECK)
    flops = {tuple(parse_board("Ac Ad Ah")): 12_100.0, tuple(parse_board("9s 8s 7s")): 10_000.0}
    plain, pricer = case.plain(flops).price(), case.pricer(threads=2)
    total = sum(weight * pricer.values(flop) for flop, weight in flops.items())
    assert isinstance(total, np.ndarray)
    lines = {node: total[:, :, place] for place, node in enumerate(case.given.chance)}
    found = evaluate_game(case.tree, case.payoffs, case.tables.__getitem__, lines, 1.0)
    assert found.values == pytest.approx(plain.values, abs=TOLERANCE)
    assert found.best_response_values == pytest.approx(plain.best_response_values, abs=TOLERANCE)
    assert found.exploitability > 0.1
