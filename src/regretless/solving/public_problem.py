"""Problems solved in the public form, on any engine of it: their common part, and games such as Kuhn and Leduc."""

from __future__ import annotations

import numpy as np

from regretless import engines
from regretless.engines import Choice, FormKind, PublicEngine, RunoutSampling, choose_public, devices, fastest
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.public_poker import compile_public, invert_public
from regretless.forms.public_size import PublicSize
from regretless.games.game import AnyGame
from regretless.solving.game_solution import GameSolution
from regretless.solving.kinds import Kind
from regretless.solving.options import NO_OPTIONS, SolveOptions
from regretless.solving.problem import Problem, Request
from regretless.solving.record import Record

__all__ = ["PublicFormProblem", "PublicGameProblem", "count_nodes_and_sets"]

DEFAULT_STORAGE = 32  # bits per number


class PublicFormProblem(Problem[PublicForm, PublicEngine]):
    """A problem solved in the public form."""

    form_name = "public"
    threads: int | None = None  # by default; None is as many as shorten the solve
    forms = (FormKind.PUBLIC,)
    first_sampled = 1  # the first street whose runouts an iteration may draw

    def public_size(self) -> PublicSize | None:
        """The size of the form, if it is known before the form is built and may decide where it is solved."""
        return None

    def choose(self, request: Request) -> Choice:
        if (count := request.settings.sample_runouts) is not None:
            engine = engines.engine_name(request.engine)
            engines.check_samples_runouts(engine, request.device, count)
            return Choice(engine, "cpu")
        size = self.public_size()
        if size is None:
            return super().choose(request)
        return choose_public(
            size,
            engine=request.engine,
            device=request.device,
            threads=request.threads,
            storage=request.settings.storage or DEFAULT_STORAGE,
            predicts=request.predicts,
        )

    def check_fits_gpu(self, request: Request) -> None:
        """Raise `WouldNotFit` if the memory of the GPU that the request is for is known to be too small."""
        choice, size = request.choice, self.public_size()
        if size is None:
            return
        device = "cuda" if choice.device == "auto" else choice.device
        devices.require_cuda(device)
        name = fastest(FormKind.PUBLIC, "cuda") if choice.engine == "auto" else choice.engine
        options = {"storage": request.settings.storage or DEFAULT_STORAGE, "predicts": request.predicts}
        engines.check_fits(name, FormKind.PUBLIC, size, device=device, what=self.name, **options)

    def create(self, form: PublicForm, request: Request) -> PublicEngine:
        choice = request.choice
        settings = request.settings
        runouts = None
        if settings.sample_runouts is not None:
            assert request.variant is not None
            runouts = RunoutSampling(
                variant=request.variant, first=self.first_sampled, count=settings.sample_runouts, seed=settings.seed
            )
        return engines.create(
            choice.engine,
            form,
            device=choice.device,
            threads=request.threads or self.threads,
            storage=settings.storage,
            predicts=request.predicts,
            runouts=runouts,
        )

    def checkpoint_bytes(self, form: PublicForm, engine: PublicEngine) -> int:
        return engine.kept_bytes


class PublicGameProblem(PublicFormProblem):
    """A game that `compile_public` supports. Targets are in the game's units."""

    kind = Kind.PUBLIC
    threads: int | None = 1  # small games gain nothing from more
    solution_type: type[GameSolution] = GameSolution

    def __init__(self, game: AnyGame, options: SolveOptions = NO_OPTIONS) -> None:
        self.rules = game
        self.name = game.name

    def form(self) -> PublicForm:
        return compile_public(self.rules)

    def size(self, form: PublicForm) -> tuple[int, int]:
        return count_nodes_and_sets(form)

    def solution(self, record: Record, form: PublicForm, engine: PublicEngine) -> GameSolution:
        return GameSolution(
            record=record,
            snapshot=engine.snapshot(copy=False),
            make_reader=lambda: invert_public(self.rules, form, engine.strategy),
            solved_game=self.rules,
        )


def count_nodes_and_sets(form: PublicForm) -> tuple[int, int]:
    """Public nodes, counting equivalent runouts once, and information sets of the game, counting every deal.

    >>> from regretless.games import Leduc
    >>> count_nodes_and_sets(compile_public(Leduc()))
    (465, 936)
    """
    tree = form.tree
    nodes = information_sets = 0
    deals = np.ones(1, dtype=np.int64)  # that each runout of the street represents
    for number, street in enumerate(form.streets):
        on_street = tree.street == number
        deals = deals[street.parent] * np.diff(street.first_copy)
        nodes += int(np.count_nonzero(on_street)) * len(street.parent)
        for player in range(2):
            decisions = np.count_nonzero(on_street & (tree.kind == NodeKind.DECISION) & (tree.player == player))
            information_sets += int(decisions * (deals @ (~street.dead[player]).sum(axis=1)))
    return nodes, information_sets
