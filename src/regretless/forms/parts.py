"""A part of a public form: some runouts of the second street with everything below them, or none, which is the *trunk*.

What follows a runout of the second street (a flop, in a game from the deal) depends on the others only through the
reach that arrives there. So a game can be solved in parts: the trunk has the first street, and every *shard* some
runouts of the second. Each is a form of its own, in which runouts and hands keep their order.

>>> from regretless.forms.public_poker import compile_public
>>> from regretless.games import Leduc
>>> form = compile_public(Leduc())
>>> trunk, shard = part_of(form, 0, 0), part_of(form, 1, 3)
>>> [[len(street.parent) for street in each.streets] for each in (form, trunk, shard)]
[[1, 6], [1, 0], [1, 2]]
>>> shard.part
Part(first=(0, 1), runouts=(1, 6))
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regretless.forms.history import IntArray
from regretless.forms.public import Part, PublicForm, Street

__all__ = ["part_of"]


def part_of(form: PublicForm, first: int, last: int) -> PublicForm:
    """The form with only the runouts first:last of the second street; it shares arrays with the whole."""
    if form.part is not None or len(form.streets) < 2:
        raise ValueError("only a whole form with a second street has parts")
    ranges = [(0, 1), (first, last)]
    for street in form.streets[1:-1]:
        begin, end = ranges[-1]
        ranges.append((int(street.first_child[begin]), int(street.first_child[end])))
    begins = [begin for begin, _ in ranges]
    streets = []
    for number, (street, ends) in enumerate(zip(form.streets, ranges, strict=True)):
        first_child = np.zeros(ends[1] - ends[0] + 1, dtype=np.int32)
        if number == 0:
            first_child[:] = 0, last - first
        elif number + 1 < len(ranges):
            first_child[:] = street.first_child[ends[0] : ends[1] + 1] - begins[number + 1]
        streets.append(_rows(street, *ends, above=begins[number - 1] if number else 0, first_child=first_child))
    begin, end = ranges[-1]
    strength = form.strength[0][begin:end]
    return replace(
        form,
        streets=tuple(streets),
        strength=(strength, strength if form.strength[1] is form.strength[0] else form.strength[1][begin:end]),
        part=Part(tuple(begins), tuple(len(street.parent) for street in form.streets)),
    )


def _rows(street: Street, first: int, last: int, *, above: int, first_child: IntArray) -> Street:
    """The runouts first:last of a street, whose parents are counted from `above`."""
    begin, end = street.first_copy[[first, last]].tolist()
    dead = street.dead[0][first:last]
    return Street(
        cards=street.cards[first:last],
        parent=street.parent[first:last] - np.int32(above),
        first_child=first_child,
        probability=street.probability[first:last],
        first_copy=street.first_copy[first : last + 1] - np.int32(begin),
        copies=street.copies[begin:end],
        symmetry=street.symmetry[first:last],
        dead=(dead, dead if street.dead[1] is street.dead[0] else street.dead[1][first:last]),
    )
