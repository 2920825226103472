"""What can be solved: one row per kind, with its problem, its solution and the files that hold it.

A row is found by what a person gives (`api.problem_of`) or by the kind that a file's header states (`of_file`), so a
new kind of problem is one row here. Classes are named as "module:class" and imported when they are needed: Leduc loads
no hold'em module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import Any

__all__ = ["KINDS", "Kind", "ProblemKind", "file_words", "of_file"]


class Kind(StrEnum):
    """Kinds of problem that differ in the options they take."""

    GAME = "game"
    EXACT = "exact"  # a game, by linear program
    PUBLIC = "public"  # a game, in its public form
    SPOT = "spot"
    TRAINING = "training"  # a game, by networks
    BUCKETED = "bucketed"  # a spot, with buckets and sampled runouts
    DEALT = "dealt"  # hold'em from the deal, with buckets and sampled boards


@dataclass(frozen=True, kw_only=True)
class ProblemKind:
    """One kind of thing that can be solved."""

    options: Kind  # which options it takes
    problem: str  # a class of problems
    solution: str  # a class of solutions
    files: Mapping[str, str] = field(default_factory=dict)  # the kinds of its files, and what messages call them
    is_spot: bool = False  # whether its files hold a spot, whose nodes can be browsed

    @property
    def problem_class(self) -> Any:
        return _imported(self.problem)

    @property
    def solution_class(self) -> Any:
        return _imported(self.solution)


KINDS: Mapping[str, ProblemKind] = {
    "game": ProblemKind(
        options=Kind.GAME,
        problem="solving.game_problem:GameProblem",
        solution="solving.game_solution:GameSolution",
        files={"solution": "a solved game"},
    ),
    "public game": ProblemKind(
        options=Kind.PUBLIC,
        problem="solving.public_problem:PublicProblem",
        solution="solving.game_solution:GameSolution",
    ),
    "push-fold": ProblemKind(
        options=Kind.GAME,
        problem="holdem.games.push_fold:PushFoldProblem",
        solution="holdem.games.push_fold:PushFoldSolution",
        files={"push-fold": "a solved game of push or fold"},
    ),
    "flop-holdem": ProblemKind(
        options=Kind.PUBLIC,
        problem="holdem.games.flop_holdem:FlopHoldemProblem",
        solution="holdem.games.flop_holdem:FlopHoldemSolution",
        files={"flop-holdem": "a solved game of flop hold'em"},
    ),
    "spot": ProblemKind(
        options=Kind.SPOT,
        problem="holdem.problem:SpotProblem",
        solution="holdem.solution:SpotSolution",
        files={
            "spot-solution": "a solved hold'em spot",
            "spot-checkpoint": "an interrupted solve of a hold'em spot",
        },
        is_spot=True,
    ),
    "spot with buckets": ProblemKind(
        options=Kind.BUCKETED,
        problem="holdem.games.bucketed_spot:BucketedSpotProblem",
        solution="holdem.games.bucketed_spot:BucketedSpotSolution",
        files={"spot-buckets": "a hold'em spot solved with buckets"},
        is_spot=True,
    ),
    "whole game": ProblemKind(
        options=Kind.DEALT,
        problem="holdem.games.whole_game:NoLimitProblem",
        solution="holdem.games.whole_game:NoLimitSolution",
        files={"holdem-game": "a solved game of hold'em from the deal"},
    ),
    "training": ProblemKind(
        options=Kind.TRAINING,
        problem="deep.training.problem:EnumeratedTraining",
        solution="deep.training.trained_policy:TrainedPolicy",
        files={"trained-policy": "a trained policy"},
    ),
    "training of flop-holdem": ProblemKind(
        options=Kind.TRAINING,
        problem="deep.training.flop_holdem:FlopHoldemTraining",
        solution="deep.training.flop_holdem:TrainedFlopHoldem",
        files={"trained-flop-holdem": "a trained policy of flop hold'em"},
    ),
}

_OTHER_FILES = {  # that hold no solution
    "buckets": "a table of card buckets",
    "buckets-checkpoint": "an unfinished table of card buckets",
    "flop-price": "the values of one flop",
}


def of_file(kind: str) -> ProblemKind | None:
    """The row of the files of this kind; None if they hold no solution.

    >>> of_file("spot-checkpoint").solution
    'holdem.solution:SpotSolution'
    """
    return next((row for row in KINDS.values() if kind in row.files), None)


def file_words(kind: str) -> str:
    """What a kind of file holds, for messages.

    >>> file_words("spot-checkpoint"), file_words("recipe")
    ("an interrupted solve of a hold'em spot", 'a recipe')
    """
    row = of_file(kind)
    return _OTHER_FILES.get(kind, f"a {kind[:40]}") if row is None else row.files[kind]


def _imported(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"regretless.{module}"), attribute)
