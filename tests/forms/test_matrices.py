from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from regretless import games
from regretless.errors import MissingExtra
from regretless.forms import compile_history, matrices


@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "leduc", "goofspiel(cards=4)"])
def test_matrices_match_the_arrays(name: str) -> None:
    form = compile_history(games.load(name))
    of = matrices(form)
    nodes, pairs = len(form.parent), int(form.first_pair[-1])

    parent, child = of.tree.nonzero()
    np.testing.assert_array_equal(form.parent[child], parent)
    assert of.tree.nnz == nodes - 1
    assert len(of.levels) == len(form.level) - 2
    assert sum(level.nnz for level in of.levels) == nodes - 1
    for depth, level in enumerate(of.levels, start=1):
        above, below = (slice(*form.level[each : each + 2]) for each in (depth - 1, depth))
        assert abs(level - of.tree[above, below]).max() == 0

    pair, node = of.pair_nodes.nonzero()
    np.testing.assert_array_equal(form.pair[node], pair)
    assert of.pair_nodes.nnz == (form.pair >= 0).sum()
    assert of.pair_nodes.shape == (pairs, nodes)

    set_, pair = of.set_pairs.nonzero()
    assert (form.first_pair[set_] <= pair).all()
    assert (pair < form.first_pair[set_ + 1]).all()
    np.testing.assert_array_equal(of.set_pairs.sum(axis=1), np.diff(form.first_pair))

    node, player = of.node_movers.nonzero()
    np.testing.assert_array_equal(form.player[form.parent[node]], player)
    assert of.node_movers.nnz == (form.pair >= 0).sum()
    assert of.node_movers.shape == (nodes, form.players)


def test_without_scipy_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(name: str, *rest: Any, **options: Any) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return original(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"scipy is not installed: pip install .*\[exact\]"):
        matrices(compile_history(games.load("kuhn")))
