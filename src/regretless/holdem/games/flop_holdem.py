"""Flop hold'em solved from the deal: every hand of both players on every flop, without abstraction.

A solution is read by lines of play, `node("call, check, Qs Jh 2h, check")`; its `strategy` covers only the first round,
because the flop has 1.455 billion information sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from regretless.cards.deck import DECK
from regretless.cards.hands import HAND_COUNT
from regretless.cards.isomorphism import SUIT_PERMUTATIONS
from regretless.cards.ranges import Range
from regretless.engines import PublicEngine
from regretless.errors import InvalidOption
from regretless.files.container import Container
from regretless.forms.betting import flatten, limit_branches
from regretless.forms.public import PublicForm
from regretless.forms.public_size import PublicSize, size_of_branches
from regretless.games.flop_holdem import FlopHoldem
from regretless.holdem.flops import FLOP_CLASSES
from regretless.holdem.form.runouts import compile_holdem
from regretless.holdem.games.dealt_form import DealtFormProblem, DealtFormSolution, saved_averages
from regretless.holdem.games.reader import FlopHoldemReader
from regretless.reprs import brief
from regretless.solving.kinds import Kind
from regretless.solving.options import NO_OPTIONS, SolveOptions
from regretless.solving.record import Record

__all__ = ["FlopHoldemProblem", "FlopHoldemSolution", "compile_flop_holdem"]


def compile_flop_holdem(game: FlopHoldem, flops: Mapping[tuple[int, ...], float] | None = None) -> PublicForm:
    """The whole game from the deal on: payoffs in chips, values in big blinds. Takes a few seconds.

    With `flops` (`compile_holdem`), it estimates what a strategy is worth from a sample of flops; best responses know
    which flops may come, so they gain more than in the whole game.
    """
    everything = Range.parse("100%")
    tree = flatten(limit_branches(game.betting, game.move_name))
    form = compile_holdem((), everything, everything, tree, deals=(3,), flops=flops, name=game.name)
    return replace(form, unit=game.big_blind)


@dataclass(frozen=True, kw_only=True)
class FlopHoldemSolution(DealtFormSolution):
    """Flop hold'em, solved. Values are in big blinds, the small blind's first."""

    __repr__ = brief

    @cached_property
    def reader(self) -> FlopHoldemReader:
        """Finds nodes of the solution."""
        reader: FlopHoldemReader = self.make_reader()
        return reader

    @classmethod
    def read(cls, file: Container) -> Self:
        record = Record.read(file, players=2)
        snapshot, read = saved_averages(file, record, lambda: compile_flop_holdem(FlopHoldem()))
        return cls(record=record, make_reader=lambda: FlopHoldemReader(*read()), snapshot=snapshot, path=file.path)

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        return super().as_json(strategy=strategy) | {"big_blind": FlopHoldem.big_blind}


class FlopHoldemProblem(DealtFormProblem):
    """Flop hold'em."""

    kind = Kind.PUBLIC
    variant = "discounted"
    solution_type = FlopHoldemSolution

    def __init__(self, game: FlopHoldem, options: SolveOptions = NO_OPTIONS) -> None:
        self.rules, self.name = game, game.name
        if options.form == "history":
            raise InvalidOption("form", options.form, f"is not for {self.name}, whose rules are too large to enumerate")

    def dealt_size(self) -> PublicSize:
        return flop_holdem_size(self.rules)

    def form(self) -> PublicForm:
        return compile_flop_holdem(self.rules)

    def solution(self, record: Record, form: PublicForm, engine: PublicEngine) -> FlopHoldemSolution:
        return FlopHoldemSolution(
            record=record,
            make_reader=lambda: FlopHoldemReader(form, engine),
            snapshot=engine.snapshot(copy=False),
        )


def flop_holdem_size(game: FlopHoldem) -> PublicSize:
    """The size of the whole game."""
    betting = size_of_branches(limit_branches(game.betting, game.move_name), streets=2)
    return betting.with_cards(
        deck=DECK, hands=(HAND_COUNT, HAND_COUNT), permutations=len(SUIT_PERMUTATIONS), runouts=(1, FLOP_CLASSES)
    )
