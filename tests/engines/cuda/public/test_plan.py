"""The plan of a walk: rows that are cached or not, levels, and terminals that are evaluated together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.engines.cuda.public.solves import (
    NoKernels,
    all_in,
    assert_equal,
    assert_same,
    begin,
    busy_form,
    form_of,
    lock_some,
    many_actions,
    needs_gcc,
    rows,
    solved,
    with_tree,
)
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless.engines.cuda.public import plan as plans
from regretless.engines.cuda.public import work
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.layout import make_layout
from regretless.engines.numpy.public import PublicReference
from regretless.forms.betting import Branch
from regretless.forms.public import NodeKind


@pytest.fixture(autouse=True)
def _no_plans() -> Iterator[None]:
    """Plans are remembered; here they differ in how many rows threads keep."""
    plans._plans.clear()
    yield
    plans._plans.clear()


@needs_gcc
@pytest.mark.parametrize("streets", [1, 2])
def test_lines_with_more_rows_than_threads_keep(streets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    form = busy_form(streets)
    assert np.diff(form.tree.first_child).max() > plans.INLINE
    expected = solved(form, locks=True)
    plain = PublicReference(form)
    begin(form, plain)
    lock_some(form, plain)
    plain.advance(rows(4, 2))
    assert_same(expected, plain, 1e-5)
    for kept in (2, 1) if streets == 1 else (1,):
        monkeypatch.setattr(plans, "MAX_CACHED_ROWS", kept)
        plans._plans.clear()
        engine = solved(form, locks=True)
        assert engine.spot.plans[0].streets[-1]["own_rows"] > 0  # not all are kept
        assert_equal(engine, expected)


@needs_gcc
def test_sixteen_bits_with_more_rows_than_threads_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    form = busy_form(1)
    expected = solved(form, storage=16, locks=True)
    monkeypatch.setattr(plans, "MAX_CACHED_ROWS", 2)
    plans._plans.clear()
    assert_equal(solved(form, storage=16, locks=True), expected)


@needs_gcc
def test_more_actions_than_needs_are_noted() -> None:
    """Reach of actions beyond the 32nd is stored unasked, so that threads must have room for it."""
    actions = {f"to {k}": Branch(NodeKind.FOLD, (1.0 + 0.1 * k, 1.0), 1 - k % 2) for k in range(plans.NEEDED_BITS + 4)}
    actions["show"] = Branch(NodeKind.SHOWDOWN, (2.0, 2.0))
    form = with_tree(form_of("random-18-1"), Branch(NodeKind.DECISION, (1.0, 1.0), 0, actions))
    engine, plain = CudaPublicEngine(form, device=HostDevice()), PublicReference(form)
    assert engine.spot.plans[0].cached_rows == (1 + len(actions) - plans.NEEDED_BITS,)
    begin(form, engine, plain)
    for each in (engine, plain):
        each.advance(rows(4, 2))
    assert_same(engine, plain, 1e-5)


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
    plan = plans.make_plan(make_layout(form), own)
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
