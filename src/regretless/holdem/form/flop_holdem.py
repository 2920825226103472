"""Flop hold'em (FHP), the two-round limit game of the Deep CFR paper (Brown, Lerer, Gross, Sandholm, 2019).

Blinds 50 and 100; raises of 100, at most three a round; a flop of three cards after the first round, and showdown after
the second with five cards each. Player 0 is the small blind and acts first before the flop, player 1 on it.

1,755 kinds of flops × 7 lines into the flop × 8 decisions each: 22,100 × 1,176 × 56 = 1.455 billion information sets,
solved and best-responded exactly.
"""

from __future__ import annotations

from regretless.cards.ranges import Range
from regretless.forms.betting import Branch, flatten
from regretless.forms.public import BettingTree, Kind, PublicForm
from regretless.holdem.form.runouts import compile_holdem

__all__ = ["BIG_BLIND", "compile_flop_holdem", "flop_holdem_tree"]

BIG_BLIND = 100
RAISE = 100
MOST_RAISES = 3  # a round; the blinds are none


def flop_holdem_tree() -> BettingTree:
    """Both rounds of betting.

    >>> tree = flop_holdem_tree()
    >>> int(((tree.kind == Kind.DECISION) & (tree.street == 1)).sum()), int((tree.kind == Kind.CHANCE).sum())
    (56, 7)
    """
    return flatten(_betting(0, (50, BIG_BLIND), 0, 0, first=True))


def compile_flop_holdem() -> PublicForm:
    """The whole game from the deal on; takes a few seconds."""
    everything = Range.parse("100%")
    return compile_holdem((), everything, everything, flop_holdem_tree(), deals=(3,), name="flop-holdem")


def _betting(street: int, paid: tuple[int, int], player: int, raises: int, *, first: bool) -> Branch:
    """The round from here on; `first` where the player opens the round, so that a call does not end it."""
    level = (max(paid), max(paid))
    children: dict[str, Branch] = {}
    if paid[player] < paid[1 - player]:
        children["fold"] = Branch(Kind.FOLD, paid, player)
    called = "call" if paid[player] < paid[1 - player] else "check"
    if first:
        children[called] = _betting(street, level, 1 - player, raises, first=False)
    elif street == 0:
        children[called] = Branch(Kind.CHANCE, level, children={"": _betting(1, level, 1, 0, first=True)})
    else:
        children[called] = Branch(Kind.SHOWDOWN, level)
    if raises < MOST_RAISES:
        owed = max(paid) + RAISE
        after = (owed, paid[1]) if player == 0 else (paid[0], owed)
        children[f"raise {owed}"] = _betting(street, after, 1 - player, raises + 1, first=False)
    return Branch(Kind.DECISION, paid, player, children)
