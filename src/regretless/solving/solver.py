"""A solver as an object that continues where it stopped: the class most people try first."""

from __future__ import annotations

from regretless import engines
from regretless.engines import GameEngine, Sampling
from regretless.errors import InvalidOption
from regretless.forms.compile import compile_history, invert
from regretless.forms.history import Strategy
from regretless.games.game import AnyGame
from regretless.games.registry import as_game
from regretless.solving.kinds import Kind
from regretless.solving.loop import Progress, Stop, run
from regretless.solving.options import SolveOptions
from regretless.solving.readable.reference import Reference
from regretless.variants.presets import read_variant
from regretless.variants.variant import Variant

__all__ = ["Solver"]


class Solver:
    """Solve a game step by step, on any device.

    `batch_size` is how many deals are walked at once. A game with at most that many deals is walked in full, which is
    exact; on a larger game, each iteration samples `batch_size` deals, which is unbiased. With `batch_size=1`, the
    readable recursion walks all deals one after another. With `variant="mccfr"`, each iteration samples externally.

    >>> from regretless.games import Kuhn
    >>> solver = Solver(Kuhn(), variant="plus")
    >>> strategy = solver.solve(iterations=1000, verbose=False)
    >>> round(strategy["2:b"]["b"], 2), solver.exploitability() < 1e-4  # the king always calls
    (1.0, True)
    """

    def __init__(
        self, game: AnyGame | str, variant: str | Variant = "vanilla", device: str = "auto", batch_size: int = 1024
    ) -> None:
        if batch_size == 1 and device not in ("auto", "cpu"):
            raise InvalidOption("device", device, "is not for batch_size=1, the readable recursion on the CPU")
        self.game = as_game(game)
        options = SolveOptions.read({"variant": variant, "device": device, "batch_size": batch_size})
        options.check(Kind.GAME)
        if options.variant is None:
            raise InvalidOption("variant", None, "must be a name or a variant")
        self.rule = read_variant(options.variant)
        sampling = Sampling(options.sampling or Sampling.FULL)
        if batch_size == 1 and sampling is not Sampling.FULL:
            raise InvalidOption("batch_size", 1, f"is the readable recursion, which has no {sampling} sampling")
        self.form = compile_history(self.game)
        self.engine: GameEngine
        if batch_size == 1:
            self.engine = Reference(self.game, self.form)
        elif sampling is not Sampling.FULL:
            self.engine = engines.create("auto", self.form, device=device, sampling=sampling)
        elif len(self.game.deals()) <= batch_size:
            self.engine = engines.create("auto", self.form, device=device)
        else:
            self.engine = engines.create(
                "auto", self.form, device=device, sampling=Sampling.CHANCE, batch_size=batch_size
            )

    def solve(self, iterations: int, verbose: bool = True, log_interval: int = 1000) -> Strategy:
        """Run this many more iterations and return the average strategy; `verbose` prints the exploitability."""
        SolveOptions(iterations=iterations).check(Kind.GAME)
        if log_interval < 1:
            raise InvalidOption("log_interval", log_interval, "must be at least 1")

        def report(progress: Progress) -> None:
            measured = progress.iteration % log_interval == 0 or progress.iteration == progress.iterations
            if measured:  # reports between measurements repeat the last one
                print(f"Iteration {progress.iteration}: exploitability = {progress.exploitability:.6f}")

        stop = Stop(iterations=self.engine.iteration + iterations, measure_every=log_interval)
        run(self.engine, self.rule, stop, report=report if verbose else None)
        return self.get_strategy()

    def get_strategy(self) -> Strategy:
        """The average strategy: information set -> action -> probability."""
        return invert(self.form, self.engine.average_strategy())

    def exploitability(self) -> float:
        """NashConv / players of the average strategy."""
        return self.engine.evaluate().exploitability
