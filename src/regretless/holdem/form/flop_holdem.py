"""Flop hold'em as a public form: 1,755 flops distinct up to suits, and every hand of both players."""

from __future__ import annotations

from dataclasses import replace

from regretless.cards.ranges import Range
from regretless.forms.betting import flatten, limit_branches
from regretless.forms.public import PublicForm
from regretless.games.flop_holdem import FlopHoldem
from regretless.holdem.form.runouts import compile_holdem

__all__ = ["compile_flop_holdem"]


def compile_flop_holdem(game: FlopHoldem) -> PublicForm:
    """The whole game from the deal on: payoffs in chips, values in big blinds. Takes a few seconds."""
    everything = Range.parse("100%")
    tree = flatten(limit_branches(game.betting, game.move_name))
    form = compile_holdem((), everything, everything, tree, deals=(3,), name=game.name)
    return replace(form, unit=game.big_blind)
