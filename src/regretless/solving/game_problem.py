"""A general game as a problem to solve: compiled into the history form, for any engine of general games; its size."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Unpack

from regretless import engines
from regretless.engines import FormKind, GameEngine, Sampling, Updates
from regretless.forms.compile import compile_history, invert
from regretless.forms.history import HistoryForm
from regretless.games.game import AnyGame
from regretless.games.registry import as_game
from regretless.solving.game_solution import GameSolution
from regretless.solving.kinds import Kind
from regretless.solving.options import NO_OPTIONS, GameKeywords, SolveOptions
from regretless.solving.problem import Problem, Request
from regretless.solving.readable.linear_program import ExactEngine
from regretless.solving.record import Record
from regretless.solving.solve import solve_problem

__all__ = ["GameProblem", "GameSize", "game_size", "solve_game"]


def solve_game(game: AnyGame | str, **keywords: Unpack[GameKeywords]) -> GameSolution:
    """Solve a game, given as rules or by name; keywords as in `rl.solve`.

    >>> solution = solve_game("kuhn", variant="plus", iterations=1000)
    >>> round(solution.values[0], 3), solution.exploitability < 1e-4
    (-0.056, True)
    >>> half = solve_game("kuhn", variant="plus", iterations=500)
    >>> solve_game("kuhn", iterations=1000, resume=half).strategy == solution.strategy
    True
    """
    solution = solve_problem(GameProblem(game), SolveOptions.read(keywords))
    assert isinstance(solution, GameSolution)
    return solution


class GameProblem(Problem[HistoryForm, GameEngine | ExactEngine]):
    """A game, given as rules or by name."""

    kind = Kind.GAME
    forms = (FormKind.SEQUENCE, FormKind.HISTORY, FormKind.SAMPLING)
    solution_type: type[GameSolution] = GameSolution

    def __init__(self, game: object, options: SolveOptions = NO_OPTIONS) -> None:
        self.rules = as_game(game)
        self.name = self.rules.name

    def form(self) -> HistoryForm:
        return compile_history(self.rules)

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
        return self.solution_type(
            record=record,
            snapshot=engine.snapshot(),
            zero_sum=form.zero_sum,
            make_reader=lambda: invert(form, average),
            solved_game=self.rules,
        )


@dataclass(frozen=True)
class GameSize:
    """The size of a game."""

    nodes: int  # histories
    information_sets: int
    entries: int  # actions over all information sets
    memory_bytes: int  # of a solve by the engine that is chosen by default

    def as_json(self) -> dict[str, object]:
        """What `regretless estimate --json` prints."""
        return asdict(self)


def game_size(game: AnyGame) -> GameSize:
    """The size of a game, which is compiled to measure it; one that does not fit in memory raises `WouldNotFit`.

    >>> from regretless.games import Leduc
    >>> size = game_size(Leduc())
    >>> size.nodes, size.information_sets, size.entries
    (9457, 936, 2184)
    """
    form = compile_history(game)
    return GameSize(
        nodes=len(form.parent),
        information_sets=len(form.keys),
        entries=int(form.first_pair[-1]),
        memory_bytes=engines.create("auto", form).memory_bytes,
    )
