"""What spots and whole games with buckets have in common: the choice of buckets, and strategies read from a file.

Both are solved in the bucketed form, on runouts or boards drawn anew in every iteration, and take the same steps; a
problem says which buckets, a solution how its nodes are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np

from regretless.engines import BucketedEngine, FormKind, PricedEngine, Snapshot, TableLayout, engine_if_able
from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import AnyArray, FloatArray
from regretless.forms.normalise import normalise_columns
from regretless.forms.public import NodeKind
from regretless.holdem.buckets.plan import BucketChoice
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Machine, Problem
from regretless.solving.record import Settings
from regretless.solving.solution import Solution

__all__ = ["AVERAGES", "BucketedProblem", "SavedTables", "bucketed_sets", "snapshot_strategy"]

AVERAGES = ("average.0", "average.1")  # arrays of a snapshot
SAMPLE_RUNOUTS = 16  # per iteration

EngineType = TypeVar("EngineType", bound=BucketedEngine | PricedEngine)


class BucketedProblem(Problem[BucketedForm, EngineType]):
    """A problem solved with buckets, on sampled runouts."""

    form_name = "public"
    forms = (FormKind.BUCKETED,)
    choice: BucketChoice | None  # None if no buckets are needed

    def __init__(self, options: SolveOptions, earlier: Settings | None) -> None:
        """`earlier` are the settings of a solve that is resumed."""
        if earlier is None:
            self.choice = self.choose_buckets(options.buckets)
            self.count = SAMPLE_RUNOUTS if options.sample_runouts is None else options.sample_runouts
            self.seed = options.seed or 0
        else:
            assert earlier.sample_runouts is not None
            self.choice = None if earlier.buckets is None else BucketChoice.parse(earlier.buckets)
            self.count, self.seed = earlier.sample_runouts, earlier.seed

    def choose_buckets(self, text: str | None) -> BucketChoice | None:
        """The buckets that users ask for; raises `InvalidOption` if they do not fit the problem."""
        raise NotImplementedError

    def normalise_options(self, options: SolveOptions) -> SolveOptions:
        if not isinstance(options.buckets, str):
            return options
        return replace(options, buckets=str(BucketChoice.parse(options.buckets)))

    def fill_settings(self, settings: Settings) -> Settings:
        buckets = None if self.choice is None else str(self.choice)
        return replace(super().fill_settings(settings), buckets=buckets, sample_runouts=self.count)

    def checkpoint_bytes(self, form: BucketedForm, engine: EngineType) -> int:
        return engine.kept_bytes

    def machine(self, earlier: Solution) -> Machine:
        """The engine and device of the earlier solve: they change the last bits of numbers, unlike threads."""
        return Machine(engine=engine_if_able(earlier.engine, self.forms), device=earlier.device)


class SavedTables:
    """Tables per bucket in the file of a solution: it is read from averages, and resumed if regrets are among them."""

    snapshot: Snapshot | None

    @property
    def is_resumable(self) -> bool:
        """Whether it has what a resume needs."""
        return self.snapshot is not None and "regret.0" in self.snapshot.arrays

    def saved_tables(self, resumable: bool) -> dict[str, AnyArray]:
        """The arrays to save: averages and, if it is to be resumed, what else was learned."""
        assert self.snapshot is not None
        return {name: self.snapshot.arrays[name] for name in self.snapshot.arrays if resumable or name in AVERAGES}


def bucketed_sets(form: BucketedForm) -> int:
    """Decisions × buckets: the information sets of a bucketed form."""
    tree = form.tree
    acts = tree.kind == NodeKind.DECISION
    return int(np.array(form.buckets)[tree.player[acts], tree.street[acts]].sum())


def snapshot_strategy(layout: TableLayout, snapshot: Snapshot) -> Callable[[int], FloatArray]:
    """[actions, K] the average strategy at a node, from a snapshot; uniform where nothing was accumulated."""
    tree = layout.form.tree
    averages = cache(lambda player: snapshot.arrays[AVERAGES[player]])  # a file is read whole at each access

    def strategy(node: int) -> FloatArray:
        return normalise_columns(layout.rows(averages(int(tree.player[node])), node))

    return strategy
