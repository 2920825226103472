"""The public form of a spot."""

from __future__ import annotations

from regretless.forms.public import PublicForm
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.form.runouts import compile_holdem
from regretless.holdem.form.suits import spot_group
from regretless.holdem.spots.spot import Spot

__all__ = ["compile_spot"]


def compile_spot(spot: Spot) -> PublicForm:
    """The public form of a spot: betting tree × runouts × hands."""
    rules = spot.rules
    return compile_holdem(
        spot.board,
        spot.ip,
        spot.oop,
        betting_tree(spot),
        rake=rules.rake,
        rake_cap=rules.rake_cap,
        group=spot_group(spot),
        name=spot.name or "spot",
    )
