"""The parts of the CUDA engine where lists, rows or memory run out: each must give what an engine with plenty gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from tests.engines import cuda_host_device
from tests.engines.cuda.public.test_engine import NoKernels, assert_same, begin, form_of, needs_gcc, rows
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless.engines.cuda.device import Arena
from regretless.engines.cuda.public import plan as program
from regretless.engines.cuda.public import sizes, spot, walks, work
from regretless.engines.cuda.public.batch import CudaBatch, kind_of
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.cuda.public.hands import max_distinct
from regretless.engines.cuda.public.records import (
    ALIGNMENT,
    DECISION,
    ITEM,
    JOB,
    LINE,
    MIXTURE,
    OWN_HAND,
    PANEL,
    PIECE,
    POINTERS,
    RUNOUT,
    SEGMENTS,
    STAKE,
    TERMINAL,
    UNIT,
    offsets_of,
    pack,
)
from regretless.engines.layout import make_layout
from regretless.engines.numpy.public import PublicReference
from regretless.errors import InvalidGame
from regretless.forms.betting import Branch, flatten, poker_payoffs
from regretless.forms.public import DEAD, Hands, NodeKind, PublicForm, no_symmetry
from regretless.forms.public_size import size_of_form


@pytest.fixture(autouse=True)
def _no_plans() -> Iterator[None]:
    """Plans are remembered; here they differ in how many rows threads keep."""
    program._plans.clear()
    yield
    program._plans.clear()


def with_tree(form: PublicForm, root: Branch) -> PublicForm:
    tree = flatten(root, starting_pot=1.0)
    return replace(form, tree=tree, payoffs=poker_payoffs(tree, rake=0.03, rake_cap=1.5))


def many_actions(streets: int, sizes: int, deep: int) -> Branch:
    """A betting tree in which every first bet has `sizes` sizes, and `deep` raises follow."""

    def after(paid: tuple[float, float], player: int, street: int, depth: int) -> Branch:
        level = (max(paid), max(paid))
        children: dict[str, Branch] = {}
        if paid[player] < paid[1 - player]:
            children["fold"] = Branch(NodeKind.FOLD, paid, player)
        if depth == 0:
            children["check"] = after(paid, 1 - player, street, 1)
        elif street + 1 == streets:
            children["call"] = Branch(NodeKind.SHOWDOWN, level)
        else:
            children["call"] = Branch(NodeKind.CHANCE, level, children={"": after(level, street % 2, street + 1, 0)})
        for size in range(sizes if depth == 0 else 1 if depth < deep else 0):
            owed = max(paid) + 0.7 + size + 0.3 * depth
            raised = (owed, paid[1]) if player == 0 else (paid[0], owed)
            children[f"bet {size}"] = after(raised, 1 - player, street, depth + 1)
        return Branch(NodeKind.DECISION, paid, player, children)

    return after((1.0, 1.0), 0, 0, 0)


def busy_form(streets: int) -> PublicForm:
    """Decisions with five actions and more, lines with many rows, and different numbers of hands."""
    form = random_form(7, deck=7 if streets == 1 else 5, streets=streets, most_hands=10)
    return with_tree(form, many_actions(streets, 5 if streets == 1 else 4, 3 if streets == 1 else 1))


def lock_some(form: PublicForm, *engines: CudaPublicEngine | PublicReference) -> None:
    """Lock the root, and some hands at a decision of the last street."""
    last = len(form.streets) - 1
    nodes = np.flatnonzero((form.tree.kind == NodeKind.DECISION) & (form.tree.street == last))
    some = np.arange(len(form.hands[int(form.tree.player[nodes[-1]])].weight)) % 2 == 0
    for engine in engines:
        for node, runout, hands in ((0, 0, None), (int(nodes[-1]), len(form.streets[last].parent) - 1, some)):
            chosen = np.full(engine.strategy(node, runout).shape, 0.125)
            chosen[0] = 1.0 - 0.125 * (len(chosen) - 1)
            engine.lock(node, chosen, runout, hands)


def assert_equal(one: CudaPublicEngine, two: CudaPublicEngine) -> None:
    """All bits of both are the same."""
    assert one.evaluate() == two.evaluate()
    expected = two.snapshot().arrays
    for name, numbers in one.snapshot().arrays.items():
        np.testing.assert_array_equal(numbers, expected[name])
    for values, same in zip(one.values_before_last(1), two.values_before_last(1), strict=True):
        np.testing.assert_array_equal(values, same)


def solved(
    form: PublicForm, *, storage: int = 32, locks: bool = False, variant: str = "discounted"
) -> CudaPublicEngine:
    engine = CudaPublicEngine(form, device=HostDevice(), storage=storage)
    begin(form, engine)
    if locks:
        lock_some(form, engine)
    engine.advance(rows(4, 2, variant))
    return engine


@needs_gcc
@pytest.mark.parametrize("streets", [1, 2])
def test_lines_with_more_rows_than_threads_keep(streets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    form = busy_form(streets)
    assert np.diff(form.tree.first_child).max() > program.INLINE
    expected = solved(form, locks=True)
    plain = PublicReference(form)
    begin(form, plain)
    lock_some(form, plain)
    plain.advance(rows(4, 2))
    assert_same(expected, plain, 1e-5)
    for kept in (2, 1) if streets == 1 else (1,):
        monkeypatch.setattr(program, "MAX_CACHED_ROWS", kept)
        program._plans.clear()
        engine = solved(form, locks=True)
        assert engine.spot.plans[0].streets[-1]["own_rows"] > 0  # not all are kept
        assert_equal(engine, expected)


@needs_gcc
def test_terminals_in_64_bits_follow_the_reference_after_others_in_32() -> None:
    wide = with_tree(random_form(33, deck=6, streets=1, most_hands=10), many_actions(1, 30, 1))
    for form in (form_of("random-18-1"), wide):
        engine, plain = CudaPublicEngine(form, device=HostDevice()), PublicReference(form)
        assert engine.wide == (form is wide)
        begin(form, engine, plain)
        assert_same(engine, plain, 1e-5)


@needs_gcc
def test_sixteen_bits_with_more_rows_than_threads_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    form = busy_form(1)
    expected = solved(form, storage=16, locks=True)
    monkeypatch.setattr(program, "MAX_CACHED_ROWS", 2)
    program._plans.clear()
    assert_equal(solved(form, storage=16, locks=True), expected)


@needs_gcc
def test_more_actions_than_needs_are_noted() -> None:
    """Reach of actions beyond the 32nd is stored unasked, so that threads must have room for it."""
    actions = {
        f"to {k}": Branch(NodeKind.FOLD, (1.0 + 0.1 * k, 1.0), 1 - k % 2) for k in range(program.NEEDED_BITS + 4)
    }
    actions["show"] = Branch(NodeKind.SHOWDOWN, (2.0, 2.0))
    form = with_tree(form_of("random-18-1"), Branch(NodeKind.DECISION, (1.0, 1.0), 0, actions))
    engine, plain = CudaPublicEngine(form, device=HostDevice()), PublicReference(form)
    assert engine.spot.plans[0].cached_rows == (1 + len(actions) - program.NEEDED_BITS,)
    begin(form, engine, plain)
    for each in (engine, plain):
        each.advance(rows(4, 2))
    assert_same(engine, plain, 1e-5)


@needs_gcc
@pytest.mark.parametrize(
    ("streets", "storage", "variant", "locks"),
    [
        (1, 32, "predictive-plus", True),
        (1, 16, "discounted", False),
        (2, 32, "discounted", True),
        (2, 32, "predictive-plus", False),
    ],
)
def test_lines_walked_level_by_level_equal_lines_walked_by_a_thread(
    streets: int, storage: int, variant: str, locks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if a block has fewer threads than decisions, more than hands, and keeps fewer rows than there are.

    Without locks, one launch walks the first street up for one player and down for the other.
    """
    form = busy_form(streets)

    def solve(*, tasks: int, threads: int = 256, hands: int = 16, kept: int = 24, rows: int = 512) -> CudaPublicEngine:
        monkeypatch.setattr(work, "LEVEL_TASKS", tasks)
        monkeypatch.setattr(walks, "LEVEL_THREADS", threads)
        monkeypatch.setattr(walks, "TEAM_HANDS", hands)
        monkeypatch.setattr(program, "MAX_CACHED_ROWS", kept)
        monkeypatch.setattr(program, "LEVEL_ROWS", rows)
        program._plans.clear()
        engine = solved(form, storage=storage, locks=locks, variant=variant)
        assert all(
            each.work.by_levels == (tasks > 0) for each in (*engine._walks._waves[0], *engine._walks._earlier[1])
        )
        assert all(engine._walks._relays) == (tasks > 0 and not locks)
        return engine

    expected = solve(tasks=0)
    assert max(max(plan.longest) for plan in expected.spot.plans) > 5
    assert max(max(plan.reach_rows) for plan in expected.spot.plans) > 8
    assert_equal(solve(tasks=1 << 20), expected)
    assert_equal(solve(tasks=1 << 20, threads=32, hands=64), expected)
    assert_equal(solve(tasks=1 << 20, threads=32, hands=32, kept=2, rows=3), expected)


@needs_gcc
def test_values_do_not_replace_own_reach_that_is_still_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walked by threads, which update some averages on the way up, where values are kept beside reach."""
    form = with_tree(random_form(7, deck=7, streets=1, most_hands=10), many_actions(1, 3, 5))
    expected = solved(form)
    assert all((plan.lines["own_row"] < 0).all() for plan in expected.spot.plans)  # threads keep all rows
    monkeypatch.setattr(work, "LEVEL_TASKS", 0)
    assert_equal(solved(form), expected)


@pytest.mark.parametrize("own", [0, 1])
def test_levels_of_a_line_follow_its_decisions(own: int) -> None:
    form = with_tree(random_form(7, deck=5, streets=1, most_hands=10), many_actions(1, 2, 4))
    plan = program.make_plan(make_layout(form), own)
    found = {int(record["node"]): record for record in plan.decisions}

    def follow(node: int, above: tuple[int, int]) -> int:
        """The longest sequence of decisions from a node on; `above` are those of each player before it."""
        if node not in found:
            return 0
        player = int(form.tree.player[node])
        assert int(found[node]["depth"]) == above[player]
        below = (above[0] + (player == 0), above[1] + (player == 1))
        children = range(form.tree.first_child[node], form.tree.first_child[node + 1])
        height = max(follow(child, below) for child in children)
        assert int(found[node]["height"]) == height
        return height + 1

    levels = follow(0, (0, 0))
    assert plan.lines["levels"].tolist() == [levels]
    assert levels > 3


@pytest.mark.parametrize("streets", [1, 2])
def test_one_launch_walks_the_first_street_up_and_down_unless_locks_come_between(streets: int) -> None:
    launched: list[str] = []

    class Listening(NoKernels):
        def compile(self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...] = ()) -> dict:
            class Kernels(dict):
                def __missing__(self, name: str) -> Any:
                    return lambda *_: launched.append(name)

            return Kernels()

    form = busy_form(streets)
    engine = CudaPublicEngine(form, device=Listening())
    last = "last_" if streets == 1 else ""
    down, up, relay = f"levels_{last or 'learn_'}down", f"levels_{last or 'learn_'}up", f"levels_{last}relay"

    def first_street(iterations: int) -> list[str]:
        engine._prepare()
        walks = engine._walks
        launched.clear()
        walks._iterations(iterations, False, engine.learning)
        return [name for name in launched if name in (down, up, relay, "hold")]

    assert first_street(1) == [down, relay, up]
    assert first_street(3) == [down, *[relay] * 5, up]
    engine.lock(0, np.full(engine.strategy(0, 0).shape, 1 / len(engine.strategy(0, 0))), 0, None)
    between = [relay, up, "hold"] if form.tree.player[0] else [up, "hold", down, relay]
    assert first_street(2)[: len(between) + 1] == [down, *between]
    engine.unlock()
    engine.fix(0, engine.strategy)
    assert first_street(2) == [down, up, down, up]


def test_ways_up_take_turns_with_rows_that_both_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of one launch run in any order, which the emulated device does not show."""
    launched: list[np.ndarray] = []

    class Listening(NoKernels):
        def compile(self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...] = ()) -> dict:
            compiled = super().compile(source, flags)
            compiled["value_up"] = lambda grid, threads, shared, jobs, items, blocks, street, *_: launched.append(
                items.view(ITEM) if street == 1 else items[:0]
            )
            return compiled

    form = busy_form(2)
    monkeypatch.setattr(work, "LEVEL_TASKS", 0)
    for kept in (program.MAX_CACHED_ROWS, 2):
        monkeypatch.setattr(program, "MAX_CACHED_ROWS", kept)
        program._plans.clear()
        engine = CudaPublicEngine(form, device=Listening())
        launched.clear()
        engine._walks.evaluate(0)
        together = [items for items in launched if len(items)]
        assert len(together) == (1 if kept > 2 else 2)
        assert sum(map(len, together)) == 2 * len(form.streets[1].parent)
        if kept == 2:
            for items in together:
                assert len(np.unique(items["runout"])) == len(items)


def test_players_evaluated_at_once_write_apart_what_does_not_fit_in_shared_memory() -> None:
    """Blocks of one launch run at the same time, which the emulated device does not show."""
    launched: list[tuple[np.ndarray, ...]] = []

    class Listening(NoKernels):
        def compile(self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...] = ()) -> dict:
            compiled = super().compile(source, flags)
            compiled["terminals"] = lambda grid, threads, shared, jobs, *given: launched.append(given)
            return compiled

    form = random_form(10, deck=9, streets=1, most_hands=30)  # the first player's sums need more room
    engine = CudaPublicEngine(form, device=Listening(shared_bytes=8000))
    engine._walks.evaluate(0, 1)
    ((items, rooms, space, _),) = launched[:1]
    job = items.view(ITEM)["job"]
    assert set(job.tolist()) == {0, 1}
    size = rooms["block_bytes"][job % 2]
    begins = np.arange(len(job)) * size
    assert size.min() > 0
    assert (begins[1:] >= (begins + size)[:-1]).all()
    assert begins[-1] + size[-1] <= space.nbytes


@needs_gcc
def test_deals_that_do_not_fit_in_shared_memory_and_runouts_and_players_that_take_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = random_form(17, deck=7, streets=2, most_hands=21)
    expected = solved(form, locks=True)
    assert expected.layout.hands[0] != expected.layout.hands[1]
    pairs = zip(*(spot._slot_rows(expected.layout, plan) for plan in expected.spot.plans), strict=True)
    monkeypatch.setattr(spot, "_shapes", {})
    monkeypatch.setattr(walks, "MAX_TERMS", 1)
    monkeypatch.setattr(spot, "WAVE_BYTES", 4 * 4 * sum(map(max, pairs)) + 1)
    monkeypatch.setattr(spot, "APART_BYTES", 0)
    engine = solved(form, locks=True)
    assert engine.spot.slots == 4 < expected.spot.slots
    assert expected.spot.apart
    assert not engine.spot.apart
    assert_equal(engine, expected)


@needs_gcc
@pytest.mark.parametrize("streets", [1, 2])
def test_blocks_that_take_several_pieces_of_terminals(streets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    form = busy_form(streets)
    expected = solved(form, locks=True)
    monkeypatch.setattr(work, "ENOUGH_BLOCKS", 1)
    monkeypatch.setitem(cuda_host_device.ANY_THREADS, "terminals", 512)  # as on a device, where every team has one unit
    for width in (2, 4):
        monkeypatch.setattr(walks, "_widths", lambda terminals, width=width: [width])
        engine = solved(form, locks=True)
        (wave,) = engine._walks._waves_of[0]
        assert wave.together == 3
        pieces = engine.spot.plans[0].cut(width)[0].pieces
        assert len(pieces) > 3
        assert len(wave.pieces) == -(-len(pieces) // 3) * len(wave.items)
        assert_equal(engine, expected)


def test_folds_are_evaluated_with_showdowns() -> None:
    """All folds of the last street: own ones beside the showdown, the opponent's mixed with it."""
    form = with_tree(random_form(85, deck=6, streets=2, most_hands=10), many_actions(2, 2, 2))
    for plan in CudaPublicEngine(form, device=NoKernels()).spot.plans:
        last = form.tree.street == 1
        kinds = form.tree.kind[last]
        assert len(plan.terminals.records) == np.count_nonzero(kinds == NodeKind.SHOWDOWN)
        mixed, folds = (plan.terminals.records[name] >= 0 for name in ("mixture", "fold_value"))
        by_player = [
            np.count_nonzero(last & (form.tree.kind == NodeKind.FOLD) & (form.tree.player == player))
            for player in range(2)
        ]
        assert [np.count_nonzero(folds), np.count_nonzero(mixed)] == [by_player[plan.own], by_player[1 - plan.own]]
        assert not (mixed & folds).any()
        assert len(plan.mixtures) == np.count_nonzero(mixed)


def all_in(streets: int) -> Branch:
    """A betting tree in which the first player moves all-in or checks; only after checks do players decide again."""

    def dealt(paid: tuple[float, float], street: int, last: Branch) -> Branch:
        return (
            last if street == streets else Branch(NodeKind.CHANCE, paid, children={"": dealt(paid, street + 1, last)})
        )

    def after(street: int) -> Branch:
        push = {
            "fold": Branch(NodeKind.FOLD, (5.0, 1.0), 1),
            "call": dealt((5.0, 5.0), street, Branch(NodeKind.SHOWDOWN, (5.0, 5.0))),
        }
        check = Branch(NodeKind.SHOWDOWN, (1.0, 1.0))
        if street < streets:
            check = Branch(NodeKind.CHANCE, (1.0, 1.0), children={"": after(street + 1)})
        return Branch(
            NodeKind.DECISION, (1.0, 1.0), 0, {"check": check, "all-in": Branch(NodeKind.DECISION, (5.0, 1.0), 1, push)}
        )

    return after(1)


@needs_gcc
@pytest.mark.parametrize("streets", [2, 3])
def test_showdowns_after_an_all_in_read_the_reach_of_the_street_above(streets: int) -> None:
    form = with_tree(random_form(85, deck=6, streets=streets, most_hands=10), all_in(streets))
    engine, plain = CudaPublicEngine(form, device=HostDevice()), PublicReference(form)
    for plan in engine.spot.plans:
        assert (plan.streets["lines"] - plan.streets["walked"]).tolist() == [0] * (streets - 1) + [streets - 1]
    begin(form, engine, plain)
    for each in (engine, plain):
        each.advance(rows(4, 2))
    assert_same(engine, plain, 1e-5)


@needs_gcc
def test_a_batch_of_different_trees_whose_spots_end_in_any_order() -> None:
    """Different lines, hands, runouts and locks; all bits are as alone, even if one is read meanwhile."""
    forms = [
        form_of("random-85-2"),
        with_tree(random_form(10, deck=7, streets=2, most_hands=21), one_line()),
        with_tree(random_form(19, deck=5, streets=2, most_hands=4), many_actions(2, 1, 1)),
    ]
    device = HostDevice()
    with Arena(device) as arena:
        together = [CudaPublicEngine(form, device=device, tables=arena) for form in forms]
    alone = [CudaPublicEngine(form, device=HostDevice()) for form in forms]
    assert len({tuple(engine.layout.runouts) for engine in alone}) == 3
    assert len({tuple(engine.layout.hands) for engine in alone}) > 1
    assert len({len(engine.spot.plans[0].lines) for engine in alone}) > 1
    for engine, single in zip(together, alone, strict=True):
        begin(engine.form, engine, single)
    lock_some(forms[1], together[1], alone[1])
    lock_some(forms[2], together[2], alone[2])
    assert len({kind_of(engine) for engine in together}) == 1
    batch = CudaBatch(together, arena)
    given = [rows(4, 1), rows(7, 1), rows(4, 1)]
    active = {0, 1, 2}
    for retired in (2, 0):
        batch.advance([steps if number in active else None for number, steps in enumerate(given)])
        for number in active:
            alone[number].advance(given[number])
        together[1].fill_jobs()  # as reading it does
        batch.retire([retired])
        active.remove(retired)
    batch.advance([None, given[1], None])
    alone[1].advance(given[1])
    assert batch.evaluate([1]) == [alone[1].evaluate()]
    for engine, single in zip(together, alone, strict=True):
        assert_equal(engine, single)


def one_line() -> Branch:
    """A betting tree with one way to the next card, after which nobody can bet."""
    fold = Branch(NodeKind.FOLD, (1.0, 1.0), 1)
    last = Branch(NodeKind.DECISION, (1.0, 1.0), 1, {"fold": fold, "call": Branch(NodeKind.SHOWDOWN, (1.0, 1.0))})
    deal = Branch(NodeKind.CHANCE, (1.0, 1.0), children={"": last})
    return Branch(NodeKind.DECISION, (1.0, 1.0), 0, {"fold": Branch(NodeKind.FOLD, (1.0, 1.0), 0), "check": deal})


@needs_gcc
def test_a_batch_in_which_a_player_is_fixed() -> None:
    forms = [form_of("random-18-1"), form_of("random-40-1")]
    device = HostDevice()
    with Arena(device) as arena:
        together = [CudaPublicEngine(form, device=device, tables=arena) for form in forms]
    alone = [CudaPublicEngine(form, device=HostDevice()) for form in forms]
    for engine in (*together, *alone):
        begin(engine.form, engine)
        engine.fix(1, engine.strategy)
        assert engine.fixed == {1}
    batch = CudaBatch(together, arena)
    batch.advance([rows(4, 2)] * 2)
    found = batch.evaluate([0, 1])
    for number, engine in enumerate(alone):
        engine.advance(rows(4, 2))
        assert engine.evaluate() == found[number]
        assert_equal(together[number], engine)


def count_distinct(
    mine: np.ndarray, my_cards: np.ndarray, theirs: np.ndarray, their_cards: np.ndarray, deck: int
) -> tuple[int, int]:
    """The most sets of hands, or of hands with a card, that own hands beat and tie."""
    groups, pairs = [0], [0]
    for own, other in zip(mine.tolist(), theirs.tolist(), strict=True):
        living = [(level, set(held)) for level, held in zip(other, their_cards.tolist(), strict=True) if level >= 0]
        found: set[tuple[int, ...]] = set()
        for strength, held in zip(own, my_cards.tolist(), strict=True):
            for card in (deck, *held) if strength >= 0 else ():
                met = [level for level, cards in living if card == deck or card in cards]
                found.add((card, sum(level < strength for level in met), sum(level <= strength for level in met)))
        groups.append(sum(card == deck for card, *_ in found))
        pairs.append(sum(card < deck for card, *_ in found))
    return max(groups), max(pairs)


@pytest.mark.parametrize("deck", [1, 2, 7, 52, 63, 64, 65, 70])
def test_different_sums_are_counted(deck: int) -> None:
    random = np.random.default_rng(deck)
    for hands, levels, dead in ((0, 5, 0.5), (1, 1, 0.0), (9, 3, 0.3), (80, 200, 0.1), (80, 5, 1.0), (120, 7000, 0.5)):
        arrays: list[Any] = []
        for count in (hands, int(random.integers(hands + 1))):
            cards = np.sort(random.integers(0, deck + 1, size=(count, 2)), axis=1).astype(np.int16)
            strength = random.integers(0, levels, size=(4, count)).astype(np.int16)
            strength[random.random(strength.shape) < dead] = DEAD
            arrays += [strength, cards]
        assert max_distinct(*arrays, deck) == count_distinct(*arrays, deck=deck)
    nothing = np.zeros((0, 3), dtype=np.int16), np.zeros((3, 2), dtype=np.int16)
    assert max_distinct(*nothing, *nothing, deck) == (0, 0)


def test_tables_are_packed() -> None:
    tables: Any = [
        (np.arange(5, dtype=np.int16), [(0, "runouts"), (1, "regret")]),
        (np.zeros((0, 3)), [(1, "locked")]),
        (np.arange(24, dtype=np.float64).reshape(4, 6)[:, ::2], [(0, "terms")]),
        (np.ones(2, dtype=DECISION), [(0, "decisions"), (-1, "line_values_0")]),
        (np.arange(ALIGNMENT, dtype=np.uint8), []),
        (np.array(7, dtype=np.int64), [(1, "lock_index")]),
    ]
    packed = pack(tables)
    ends = [0]
    for begin_at, (table, _) in zip(packed.offsets.begins, tables, strict=True):
        if table.size == 0:
            assert begin_at == -1
            continue
        assert begin_at % ALIGNMENT == 0
        assert begin_at >= ends[-1]
        ends.append(begin_at + table.nbytes)
        assert packed.block[begin_at : ends[-1]].tobytes() == table.tobytes()
    assert len(packed.block) >= ends[-1]
    assert len(packed.block) == packed.offsets.size
    jobs = np.zeros(2, dtype=JOB)
    packed.offsets.pointers.point(jobs, 1000)
    pointed = {(own, name): int(jobs[own][name]) - 1000 for own in range(2) for name in POINTERS if jobs[own][name]}
    assert pointed == {
        field: begin_at
        for begin_at, (_, fields) in zip(packed.offsets.begins, tables, strict=True)
        for field in fields
        if begin_at >= 0 and field[0] >= 0
    }
    assert offsets_of((), ()).size == 0


def test_records_that_are_read_whole_have_no_gaps() -> None:
    whole = {DECISION: 64, LINE: 32, MIXTURE: 32, PANEL: 32, PIECE: 32, STAKE: 32}
    whole |= dict.fromkeys((ITEM, RUNOUT, OWN_HAND, TERMINAL, UNIT), 16)
    for record, size in whole.items():
        assert record.itemsize == size
        assert ALIGNMENT % min(size, 16) == 0


def test_pointers_of_a_job_are_the_words_they_are_said_to_be() -> None:
    assert JOB.fields is not None
    assert {name: 8 * word for name, word in POINTERS.items()} == {
        name: field[1] for name, field in JOB.fields.items() if field[0] == np.uint64
    }


def test_an_arena_shares_what_has_the_same_key() -> None:
    device = HostDevice()
    arena = Arena(device)
    made = []

    def make() -> np.ndarray:
        made.append(len(made))
        return np.full(3, len(made), dtype=np.int32)

    with arena:
        first, second, other = arena.once("a", make), arena.once("a", make), arena.once("b", make)
        assert made == [0, 1]
    np.testing.assert_array_equal(first, [1, 1, 1])
    assert device.address(first) == device.address(second) != device.address(other)
    assert device.address(arena.once("a", make)) == device.address(first)
    np.testing.assert_array_equal(arena.once("c", make), [3, 3, 3])
    assert made == [0, 1, 2]


def showdown_form(seed: int, deck: int, levels: int, counts: tuple[int, int]) -> PublicForm:
    """One street; a bet, or a showdown at once. Strengths below `levels`, some hands dead."""
    random = np.random.default_rng(seed)
    form = random_form(seed, deck=deck, streets=1, most_hands=2)
    every = np.array(list(combinations(range(deck), 2)))
    cards = [every[np.sort(random.choice(len(every), size=count, replace=False))] for count in counts]
    table = random.integers(0, levels, size=(deck, deck))
    blocked = random.random((deck, deck)) < 0.2
    dead = [blocked[held[:, 0], held[:, 1]][None] for held in cards]
    hands = []
    for own in range(2):
        place = {tuple(held): number for number, held in enumerate(cards[1 - own].tolist())}
        same = np.array([place.get(tuple(held), -1) for held in cards[own].tolist()], dtype=np.int16)
        hands.append(Hands(random.uniform(0.1, 1.0, counts[own]), cards[own].astype(np.int16), same))
    strong = [np.where(gone, DEAD, table[held[:, 0], held[:, 1]][None]) for held, gone in zip(cards, dead, strict=True)]
    alike = [np.arange(count, dtype=np.int16)[None] for count in counts]
    form = replace(
        form,
        hands=(hands[0], hands[1]),
        streets=(replace(form.streets[0], dead=(dead[0], dead[1])),),
        strength=(strong[0].astype(np.int16), strong[1].astype(np.int16)),
        permutations=(alike[0], alike[1]),
        symmetry=replace(form.symmetry, hands=(alike[0], alike[1])),
    )
    return with_tree(form, many_actions(1, 2, 1))


def slow_values(form: PublicForm, player: int) -> np.ndarray:
    """[H] what each hand wins by checking down, pair by pair."""
    mine, theirs = form.hands[player], form.hands[1 - player]
    node = int(np.flatnonzero(form.tree.kind == NodeKind.SHOWDOWN)[0])
    win, lose, tie = (each[node, player] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie))
    values = np.zeros(len(mine.weight))
    for hand, (held, strong) in enumerate(zip(mine.cards.tolist(), form.strength[player][0].tolist(), strict=True)):
        for other, (cards, strength) in enumerate(
            zip(theirs.cards.tolist(), form.strength[1 - player][0].tolist(), strict=True)
        ):
            if strong >= 0 and strength >= 0 and not set(held) & set(cards):
                pay = win if strong > strength else lose if strong < strength else tie
                values[hand] += pay * theirs.weight[other]
    return values


@needs_gcc
@pytest.mark.parametrize(
    ("seed", "deck", "levels", "counts"),
    [(1, 13, 500, (78, 70)), (2, 13, 60, (78, 78)), (3, 12, 3, (60, 5)), (4, 12, 1, (3, 66)), (5, 11, 9, (1, 55))],
)
def test_showdowns_equal_a_double_loop(seed: int, deck: int, levels: int, counts: tuple[int, int]) -> None:
    form = showdown_form(seed, deck, levels, counts)
    groups = max(len(np.unique(strong[strong >= 0])) for strong in form.strength)
    assert (groups > SEGMENTS) == (levels > SEGMENTS)
    engine = CudaPublicEngine(form, device=HostDevice())
    taken = engine.snapshot()
    for node in np.flatnonzero(form.tree.kind == NodeKind.DECISION).tolist():
        player = int(form.tree.player[node])
        children = range(*form.tree.first_child[node : node + 2])
        passive = next(k for k, child in enumerate(children) if form.tree.labels[child] in ("check", "call"))
        chosen = np.zeros((len(children), len(form.hands[player].weight)))
        chosen[passive] = 1.0
        engine.layout.write(taken.arrays[f"average.{player}"], node, 0, chosen)
    engine.restore(taken)
    for player in range(2):
        values = engine.root_values(player) * engine._met[player]
        np.testing.assert_allclose(values, slow_values(form, player), atol=2e-4)


def estimated(form: PublicForm, engine: CudaPublicEngine) -> int:
    return sizes.estimate(size_of_form(form), storage=engine.storage, predicts=engine.predicts)


@pytest.mark.parametrize("streets", [1, 2, 3])
def test_memory_of_random_forms_is_never_underestimated(streets: int) -> None:
    for seed in range(8 if streets < 3 else 2):
        most = 3 + 6 * seed
        form = random_form(seed, deck=(12, 9, 7)[streets - 1], streets=streets, most_hands=most, rake=0.03)
        for storage in (32, 16):
            for variant in ("discounted", "predictive-plus"):
                engine = CudaPublicEngine(form, device=NoKernels(), storage=storage)
                engine.advance(rows(1, 1, variant))
                engine.evaluate()
                if storage == 16:
                    before = engine.memory_bytes
                    for _ in range(2):  # walks in 32 bits of their own, which leave nothing behind
                        engine.evaluate(engine.strategy)
                    assert engine.memory_bytes == before
                assert engine.memory_bytes <= estimated(form, engine)


@pytest.mark.parametrize("slots", [1, 3, 7, 10])
def test_memory_of_waves_is_never_underestimated(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where players with different numbers of hands take turns with rows."""
    form = with_tree(random_form(25, deck=11, streets=2, most_hands=55), many_actions(2, 3, 3))
    hands = [len(held.weight) for held in form.hands]
    assert max(hands) > 3 * min(hands)
    whole = CudaPublicEngine(form, device=NoKernels())
    most = max(sum(spot._slot_rows(whole.layout, plan)) for plan in whole.spot.plans)
    monkeypatch.setattr(spot, "_shapes", {})
    for module in (spot, sizes):
        monkeypatch.setattr(module, "WAVE_BYTES", 4 * slots * most + 1)
        monkeypatch.setattr(module, "APART_BYTES", 0)
    engine = CudaPublicEngine(form, device=NoKernels())
    engine.evaluate()
    assert not engine.spot.apart
    assert engine.memory_bytes <= estimated(form, engine)


def test_memory_of_rows_that_are_only_just_apart_is_never_underestimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is estimated is more than what decides whether players take turns with rows."""
    form = with_tree(random_form(4, deck=9, streets=2, most_hands=36), many_actions(2, 3, 3))
    whole = CudaPublicEngine(form, device=NoKernels())
    rows_of = [spot._rows(plan, whole.spot.slots, spot._slot_rows(whole.layout, plan)) for plan in whole.spot.plans]
    in_turn = 4 * sum(max(one[1], two[1]) for one, two in zip(*rows_of, strict=True))
    monkeypatch.setattr(spot, "_shapes", {})
    for module in (spot, sizes):
        monkeypatch.setattr(module, "APART_BYTES", in_turn)
    engine = CudaPublicEngine(form, device=NoKernels())
    engine.evaluate()
    assert engine.spot.apart
    assert engine.memory_bytes <= estimated(form, engine)


def test_games_that_differ_only_in_their_deck_do_not_share_lists() -> None:
    form = random_form(3, deck=9, streets=1)
    more = replace(form, deck=30, symmetry=no_symmetry(30, form.hands))
    spots = [CudaPublicEngine(each, device=NoKernels()).spot for each in (form, more, form)]
    assert [each.jobs["deck"].tolist() for each in spots] == [[9, 9], [30, 30], [9, 9]]
    room = [(each.jobs["own_list"] - each.jobs["units"]).tolist() for each in spots]  # the units come first
    assert room[0] == room[2] != room[1]
    assert min(room[1]) >= (SEGMENTS + 30 + 1) * UNIT.itemsize


def test_rows_that_32_bits_cannot_number_are_refused() -> None:
    form = random_form(1, deck=9, streets=1)
    nodes = np.broadcast_to(form.tree.kind[:1], 2**31 // 16)  # takes no memory
    with pytest.raises(InvalidGame, match=r"betting nodes × hands: the cuda engine can count 2,147,483,647"):
        CudaPublicEngine(replace(form, tree=replace(form.tree, kind=nodes)), device=NoKernels())
