"""Deep CFR as an engine of the loop: an iteration trains, an evaluation fits a policy and measures it exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

import numpy as np
import torch

from regretless.deep.deep_cfr import DeepCfr, IterationReport, estimate
from regretless.deep.policies import AnyPolicy, PolicyEvaluator
from regretless.deep.settings import TrainingSettings
from regretless.deep.trained_policy import TrainingSummary
from regretless.deep.worlds import AnyWorld
from regretless.engines import Evaluation, Snapshot, devices, torch_device
from regretless.errors import Advice, InvalidOption, WouldNotFit, bytes_text
from regretless.forms.history import HistoryForm
from regretless.forms.memory import available_bytes
from regretless.forms.public import PublicForm
from regretless.variants.variant import Schedule

__all__ = ["DeepEngine", "Watcher", "check_fits", "device_of"]

CAPACITIES = ("advantage_capacity", "strategy_capacity")  # settings; Single Deep CFR uses the first only


class Watcher(Protocol):
    """Follows a training."""

    def iterated(self, report: IterationReport) -> None:
        """An iteration is done."""

    def measured(self, iteration: int, evaluation: Evaluation) -> None:
        """The policy of an iteration was measured."""


class DeepEngine:
    """A training on one device. The schedule's weights are those of linear CFR, which the training applies itself."""

    name = "torch"
    tolerance = 1e-4

    def __init__(
        self,
        form: HistoryForm | PublicForm,
        core: DeepCfr,
        evaluator: PolicyEvaluator,
        *,
        threads: int | None = None,
        watchers: Sequence[Watcher] = (),
    ) -> None:
        self.form = form
        self.core = core
        self.threads = threads or torch.get_num_threads()
        self.evaluator = evaluator
        self._watchers = watchers
        self._policy: tuple[int, AnyPolicy] | None = None  # with its iteration
        self._evaluation: tuple[int, Evaluation] | None = None
        self._losses: tuple[float, ...] = ()

    @property
    def device(self) -> str:
        return self.core.world.device.type

    @property
    def memory_bytes(self) -> int:
        return self.core.memory_bytes

    @property
    def iteration(self) -> int:
        return self.core.iteration

    def advance(self, schedule: Schedule) -> None:
        with _threads(self.threads):
            for _ in schedule:
                report = self.core.iterate()
                self._losses = report.value_losses
                for watcher in self._watchers:
                    watcher.iterated(report)

    def policy(self) -> AnyPolicy:
        """The average strategy so far; fitted once per iteration."""
        if self._policy is None or self._policy[0] != self.iteration:
            with _threads(self.threads):
                self._policy = self.iteration, self.core.policy()
        return self._policy[1]

    def evaluate(self, strategy: AnyPolicy | None = None) -> Evaluation:
        """Exact values and best responses of a policy, by default of the training's own."""
        if strategy is not None:
            return self.evaluator.evaluate(strategy)
        if self._evaluation is None or self._evaluation[0] != self.iteration:
            policy = self.policy()
            with _threads(self.threads):
                self._evaluation = self.iteration, self.evaluator.evaluate(policy)
            for watcher in self._watchers:
                watcher.measured(self.iteration, self._evaluation[1])
        return self._evaluation[1]

    def training(self) -> TrainingSummary:
        """How far the training has come."""
        core, memory = self.core, self.core.strategy_memory
        advantages = core.advantage_memories
        return TrainingSummary(
            settings=core.settings,
            samples=sum(each.seen for each in advantages) + (memory.seen if memory else 0),
            advantage_samples=tuple(len(each) for each in advantages),
            strategy_samples=len(memory) if memory else 0,
            value_losses=self._losses,
        )

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """Memories, networks and counters; empty before the first iteration."""
        return Snapshot(self.iteration, self.core.snapshot() if self.iteration else {})

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot; raises ValueError if it does not fit, since it may come from anyone."""
        self._check(snapshot)
        try:
            self.core.restore(snapshot.arrays)
        except (InvalidOption, RuntimeError, TypeError) as error:
            raise ValueError(str(error)) from None

    def _check(self, snapshot: Snapshot) -> None:
        """Refuse arrays of another type, and numbers that a training cannot have stored."""
        arrays = snapshot.arrays
        if self.core.settings.algorithm == "single" and any(
            f"past.{p}" not in arrays for p in range(len(self.core.past_networks))
        ):
            raise ValueError("networks of earlier iterations are missing")
        for name, expected in self.core.snapshot().items():
            array = arrays[name]
            if array.dtype != expected.dtype or array.shape[1:] != expected.shape[1:]:
                raise ValueError(f"{name} has the wrong type or shape")
        iteration, seed = int(arrays["iteration"]), int(arrays["seed"])
        if iteration != snapshot.iteration or seed != self.core.seed:
            raise ValueError("the snapshot is of another iteration or seed")
        for name, array in arrays.items():
            kind = name.rpartition(".")[2]
            if kind == "observations" and not self.core.world.can_observe(torch.as_tensor(array)):
                raise ValueError(f"{name} has observations that do not exist")
            if kind == "iterations" and array.size and not 1 <= array.min() <= array.max() <= iteration:
                raise ValueError(f"{name} has samples of other iterations")
            if kind == "targets" and np.isinf(array).any():
                raise ValueError(f"{name} is not finite")
            if name.startswith("past.") and (array.dtype != np.float32 or len(array) != iteration):
                raise ValueError(f"{name} does not have one network per iteration")
            if name.startswith(("value.", "past.")) and not np.isfinite(array).all():
                raise ValueError(f"{name} is not finite")


def device_of(name: str) -> torch.device:
    """The device that a request names; "auto" is the CPU, where networks for enumerable games train fastest."""
    return torch_device("cpu" if name == "auto" else name, "float32")


def check_fits(what: str, world: AnyWorld, settings: TrainingSettings, *, extra: int = 0) -> None:
    """Raise `WouldNotFit` if a training takes more memory than its device has free; says what fits.

    `extra` is the memory of measuring, beside memories and networks.
    """
    on_gpu = world.device.type == "cuda" and settings.memory_place == "device"
    free = devices.cuda_free_bytes() if on_gpu else available_bytes()

    def needs(settings: TrainingSettings) -> int:
        return estimate(world, settings) + extra

    needed = needs(settings)
    if needed <= free:
        return
    hint, advice = "", []
    reduced = next((smaller for smaller in _smaller_memories(settings) if needs(smaller) <= free), None)
    if reduced is None:
        smallest = needs(replace(settings, advantage_capacity=1, strategy_capacity=1))
        hint = f"networks, batches and measuring need {bytes_text(smallest)}, even without memories"
    else:
        changed = [name for name in CAPACITIES if getattr(reduced, name) != getattr(settings, name)]
        smaller = [Advice(name, getattr(reduced, name), "") for name in changed]
        effect = f"needs {bytes_text(needs(reduced))}, which fits"
        command, keyword = " ".join(map(Advice.as_option, smaller)), ", ".join(map(Advice.as_keyword, smaller))
        advice.append(Advice("capacities", None, effect, command, keyword))
    if on_gpu and needed <= available_bytes():
        effect = "keeps the memories in the memory of the host, where they fit"
        advice.append(Advice("set", "memory_place=host", effect, keyword="memory_place='host'"))
    memory = "GPU memory" if on_gpu else "memory"
    raise WouldNotFit(f"training {what}", needed=needed, available=free, memory=memory, hint=hint, advice=advice)


def _smaller_memories(settings: TrainingSettings) -> Iterator[TrainingSettings]:
    """The same with smaller and smaller memories: both capacities are limited to the same round number."""
    used = CAPACITIES if settings.algorithm == "deep" else CAPACITIES[:1]
    largest = max(getattr(settings, name) for name in used)
    for maximum in (digit * 10**zeros for zeros in range(12, 2, -1) for digit in range(9, 0, -1)):
        if maximum < largest:
            yield replace(settings, **{name: min(getattr(settings, name), maximum) for name in used})


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """A context in which PyTorch computes in this many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
