"""A poker game in its public form as a problem to solve: Kuhn and Leduc, for any engine of the public form."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless import engines
from regretless.engines.contract import PublicEngine
from regretless.engines.registry import Kind as Form
from regretless.forms.public import Kind, PublicForm
from regretless.forms.public_poker import compile_public, invert_public
from regretless.forms.tree_hash import tree_hash
from regretless.games.game import Game
from regretless.solvers.game_problem import game_end
from regretless.solvers.game_solution import GameSolution
from regretless.solvers.problem import Problem
from regretless.solvers.record import Record
from regretless.solvers.request import Kind as ProblemKind
from regretless.solvers.request import Request

__all__ = ["PublicProblem", "public_size"]


class PublicProblem(Problem[PublicForm, PublicEngine]):
    """A game that `compile_public` supports, solved in the public form. Targets are in the game's units."""

    kind = ProblemKind.PUBLIC
    unit = "per game"
    variant = "plus"
    form_name = "public"
    threads: int | None = 1  # small games gain nothing from more; None is all cores
    forms = (Form.PUBLIC,)
    solution_type: type[GameSolution] = GameSolution

    def __init__(self, game: Game[Any]) -> None:
        self.rules = game
        self.name = game.name

    def end(self, iterations: int | None, target: float | None) -> tuple[int, float | None]:
        return game_end(iterations, target)

    def form(self) -> PublicForm:
        return compile_public(self.rules)

    def tree_hash(self, form: PublicForm) -> str:
        return tree_hash(form)

    def create(self, form: PublicForm, request: Request) -> PublicEngine:
        return engines.create(
            request.engine,
            form,
            device=request.device,
            threads=request.threads or self.threads,
            storage=request.settings.storage,
        )

    def checkpoint_bytes(self, form: PublicForm, engine: PublicEngine) -> int:
        return engine.kept_bytes

    def size(self, form: PublicForm) -> tuple[int, int]:
        return public_size(form)

    def solution(self, record: Record, form: PublicForm, engine: PublicEngine) -> GameSolution:
        return GameSolution(
            record=record,
            snapshot=engine.snapshot(copy=False),
            read_strategy=lambda: invert_public(self.rules, form, engine.strategy),
        )


def public_size(form: PublicForm) -> tuple[int, int]:
    """Public nodes, counting equivalent runouts once, and information sets of the game, counting every deal.

    >>> from regretless.games import Leduc
    >>> public_size(compile_public(Leduc()))
    (465, 936)
    """
    tree = form.tree
    nodes = information_sets = 0
    deals = np.ones(1, dtype=np.int64)  # that each runout of the street represents
    for number, street in enumerate(form.streets):
        here = tree.street == number
        deals = deals[street.parent] * np.diff(street.first_copy)
        nodes += int(np.count_nonzero(here)) * len(street.parent)
        for player in range(2):
            decisions = np.count_nonzero(here & (tree.kind == Kind.DECISION) & (tree.player == player))
            information_sets += int(decisions * (deals @ (~street.dead[player]).sum(axis=1)))
    return nodes, information_sets
