"""Averages are encoded for files in compiled code: bit by bit as the plain version does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.engines.random_public import random_form

from regretless.engines.encoding import StrategyEncoder
from regretless.engines.layout import make_layout
from regretless.engines.shares import decode_shares, encode_shares
from regretless.forms.public import NodeKind, PublicForm


def places(form: PublicForm) -> tuple[NDArray[np.int64], list[int]]:
    """Where each decision begins in a row of its street, with a gap after each; and the numbers per row."""
    tree, begin, sizes = form.tree, np.zeros(len(form.tree.kind), dtype=np.int64), [0] * len(form.streets)
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        street, actions = int(tree.street[node]), int(tree.first_child[node + 1] - tree.first_child[node])
        begin[node] = sizes[street]
        sizes[street] += (actions - 1) * len(form.hands[int(tree.player[node])].weight) + 3
    return begin, sizes


def sums(random: np.random.Generator, size: int, dtype: Any) -> NDArray[Any]:
    """Sums of strategies over nine orders of magnitude, a third of them 0."""
    found = 10.0 ** random.uniform(-9, 0, size) * (random.random(size) < 2 / 3)
    if dtype == np.uint16:
        return np.rint(65535 * found).astype(np.uint16)
    return found.astype(dtype)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    streets=st.integers(1, 2),
    hands=st.integers(2, 36),
    stored=st.sampled_from([np.float32, np.uint16, np.float64]),
    kept=st.sampled_from([np.float32, np.uint16]),
)
def test_it_equals_the_plain_encoding(seed: int, streets: int, hands: int, stored: Any, kept: Any) -> None:
    form = random_form(seed, streets=streets, rake=0.0, most_hands=hands)
    random, layout, (begin, sizes) = np.random.default_rng(seed), make_layout(form), places(form)
    averages = [sums(random, int(layout.entries[player]), stored) for player in range(2)]
    encoder = StrategyEncoder(form, begin)
    for street, size in enumerate(sizes):
        runouts = slice(0, int(layout.runouts[street]) // 2 + 1)
        rows = np.full((runouts.stop, size), 7, dtype=kept)
        expected = rows.copy()
        encoder.encode(
            street, [layout.street_rows(averages[player], player, street)[runouts] for player in range(2)], rows
        )
        for player in range(2):
            for node in layout.decisions(player, street):
                taken = layout.read(averages[player], node, runouts).astype(np.float32)
                total = taken.sum(axis=1, keepdims=True)
                uniform = np.full(taken.shape, 1 / taken.shape[1], dtype=np.float32)
                code = encode_shares(np.divide(taken, total, out=uniform, where=total > 0), 8 * rows.itemsize)
                expected[:, begin[node] : begin[node] + code[0].size] = code.reshape(len(code), -1)
        assert rows.tobytes() == expected.tobytes()  # the gaps are left alone, and 0 has a sign


@pytest.mark.parametrize("kept", [np.float32, np.uint16])
def test_pure_and_unplayed_hands(kept: Any) -> None:
    """A hand that takes one action keeps it exactly; one without sums plays uniformly."""
    form = random_form(3, streets=1, rake=0.0, most_hands=5)
    layout, (begin, [size]) = make_layout(form), places(form)
    averages = [np.zeros(int(entries), dtype=np.float32) for entries in layout.entries]
    rows = np.zeros((1, size), dtype=kept)
    node = layout.decisions(0, 0)[0]
    hands, actions = len(form.hands[0].weight), int(form.tree.first_child[node + 1] - form.tree.first_child[node])
    pure = np.zeros((actions, hands))
    pure[-1, 0] = 3.0
    layout.write(averages[0], node, 0, pure)
    StrategyEncoder(form, begin).encode(
        0, [each[None, : layout.runout_size[p, 0]] for p, each in enumerate(averages)], rows
    )
    found = decode_shares(rows[0, begin[node] : begin[node] + (actions - 1) * hands].reshape(actions - 1, hands))
    assert found[:, 0].tolist() == [0.0] * (actions - 1) + [1.0]
    np.testing.assert_allclose(found[:, 1:], 1 / actions, atol=3e-5)
