"""A part of a form: runouts keep their order, their cards, and what follows them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.engines.random_public import random_form

from regretless.forms.parts import part_of
from regretless.forms.public_poker import compile_public
from regretless.games import Kuhn


@pytest.mark.parametrize("streets", [2, 3])
def test_parts_together_are_the_whole(streets: int) -> None:
    form = random_form(1, streets=streets, weighted=True)
    ends = [0, 2, 5, len(form.streets[1].parent)]
    parts = [part_of(form, first, last) for first, last in pairwise(ends)]
    for number in range(1, streets):
        whole, streets_of_parts = form.streets[number], [part.streets[number] for part in parts]
        for name in ("cards", "probability", "copies", "symmetry"):
            joined = np.concatenate([getattr(street, name) for street in streets_of_parts])
            np.testing.assert_array_equal(joined, getattr(whole, name))
        for part, street in zip(parts, streets_of_parts, strict=True):
            assert part.part is not None
            first, above = part.part.first[number], part.part.first[number - 1]
            rows = slice(first, first + len(street.parent))
            np.testing.assert_array_equal(street.parent + above, whole.parent[rows])
            np.testing.assert_array_equal(street.dead[1], whole.dead[1][rows])
            if number + 1 < streets:
                below = part.part.first[number + 1]
                ends_below = whole.first_child[rows.start : rows.stop + 1]
                np.testing.assert_array_equal(street.first_child + below, ends_below)
    for player in range(2):
        np.testing.assert_array_equal(np.concatenate([part.strength[player] for part in parts]), form.strength[player])
    assert all(part.part is not None and part.part.runouts[1] == ends[-1] for part in parts)


def test_only_a_whole_form_with_a_second_street_has_parts() -> None:
    form = random_form(1)
    for undivided in (part_of(form, 0, 1), compile_public(Kuhn())):
        with pytest.raises(ValueError, match="only a whole form with a second street has parts"):
            part_of(undivided, 0, 1)
