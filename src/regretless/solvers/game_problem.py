"""A general game as a problem to solve: compiled into the history form, for any engine of general games."""

from __future__ import annotations

from typing import Any

from regretless import engines
from regretless.engines.contract import GameEngine, Sampling, Updates
from regretless.engines.registry import Kind as Form
from regretless.forms.compile import compile_history, invert
from regretless.forms.history import HistoryForm
from regretless.forms.tree_hash import tree_hash
from regretless.games.game import Game
from regretless.games.registry import as_game, load
from regretless.solvers.exact import ExactEngine
from regretless.solvers.game_solution import GameSolution
from regretless.solvers.problem import Problem
from regretless.solvers.record import Record
from regretless.solvers.request import Kind, Request
from regretless.solvers.solve import solve

__all__ = ["GameProblem", "game_end", "solve_game"]

ITERATIONS = 1000
ITERATIONS_TO_TARGET = 1_000_000  # limit if only a target is given


def solve_game(game: Game[Any] | str, **options: Any) -> GameSolution:
    """Solve a game, given as rules or by name; options as in `rl.solve`.

    >>> solution = solve_game("kuhn", variant="plus", iterations=1000)
    >>> round(solution.values[0], 3), solution.exploitability < 1e-4
    (-0.056, True)
    >>> half = solve_game("kuhn", variant="plus", iterations=500)
    >>> solve_game("kuhn", iterations=1000, resume=half).strategy == solution.strategy
    True
    """
    solution = solve(GameProblem(game), options)
    assert isinstance(solution, GameSolution)
    return solution


def game_end(iterations: int | None, target: float | None) -> tuple[int, float | None]:
    """Iterations and target for a request to solve a game."""
    if iterations is None:
        iterations = ITERATIONS if target is None else ITERATIONS_TO_TARGET
    return iterations, target


class GameProblem(Problem[HistoryForm, GameEngine | ExactEngine]):
    """A game, given as rules or by name."""

    kind = Kind.GAME
    unit = "per game"
    variant = "plus"
    forms = (Form.SEQUENCE, Form.HISTORY, Form.SAMPLING)
    solution_type = GameSolution

    def __init__(self, game: object) -> None:
        self.rules = load(game) if isinstance(game, str) else as_game(game)
        self.name = self.rules.name

    def end(self, iterations: int | None, target: float | None) -> tuple[int, float | None]:
        return game_end(iterations, target)

    def form(self) -> HistoryForm:
        return compile_history(self.rules)

    def tree_hash(self, form: HistoryForm) -> str:
        return tree_hash(form)

    def create(self, form: HistoryForm, request: Request) -> GameEngine | ExactEngine:
        """The requested engine, or the best for the game, the machine and the kind of sampling."""
        if request.variant is None:
            return ExactEngine(form)
        settings = request.settings
        return engines.create(
            request.engine,
            form,
            game=self.rules,
            updates=Updates(settings.updates),
            sampling=Sampling(settings.sampling),
            device=request.device,
            threads=request.threads,
            seed=settings.seed,
            batch_size=settings.batch_size,
        )

    def checkpoint_bytes(self, form: HistoryForm, engine: GameEngine | ExactEngine) -> int:
        return 4 * 8 * int(form.first_pair[-1])

    def size(self, form: HistoryForm) -> tuple[int, int]:
        return len(form.parent), len(form.keys)

    def solution(self, record: Record, form: HistoryForm, engine: GameEngine | ExactEngine) -> GameSolution:
        average = engine.average_strategy()
        return GameSolution(
            record=record,
            snapshot=engine.snapshot(),
            zero_sum=form.zero_sum,
            read_strategy=lambda: invert(form, average),
        )
