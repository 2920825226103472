"""What can be solved: one row per kind, with how it is recognised, its problem, its solution and its files.

A row is found by what a person gives (`kind_of`: rules, a spot, a whole game, with the options that choose among the
kinds of one subject), by the fields of a TOML file (`kind_of_table`), by the kind that the header of a file states
(`of_file`), or by its class of solutions (`of_solution`). A new kind of problem is one row here. Classes are named as
"module:class" and imported when they are needed: Leduc loads no hold'em module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

from regretless.errors import InvalidFile
from regretless.files.container import Container, open_container

__all__ = [
    "KINDS", "Kind", "ProblemKind", "file_words", "is_subject", "kind_of", "kind_of_table", "of_file", "of_solution",
    "open_file",
]  # fmt: skip


class Kind(StrEnum):
    """Kinds of problem that differ in the options they take."""

    GAME = "game"
    EXACT = "exact"  # a game, by linear program
    PUBLIC = "public"  # a game, in its public form
    SPOT = "spot"
    TRAINING = "training"  # a game, by networks
    BUCKETED = "bucketed"  # a spot with buckets, on sampled runouts
    DEALT = "dealt"  # hold'em from the deal, with buckets and sampled boards
    FLOPS = "flops"  # hold'em from the deal, with real cards on some flops


@dataclass(frozen=True, kw_only=True)
class ProblemKind:
    """One kind of thing that can be solved."""

    options: Kind  # which options it takes
    subject: str  # the class of what is solved
    chosen_by: tuple[str, ...] = ()  # options, or option=value: without any, a solve of the subject is of another kind
    command: str = "solve"  # the subcommand that solves it
    toml: str = ""  # whether the fields of a TOML file describe its subject
    problem: str  # a class of problems
    solution: str  # a class of solutions
    files: Mapping[str, str] = field(default_factory=dict)  # the kinds of its files, and what messages call them
    checkpoint: str = ""  # the kind of its checkpoints, if they hold only what a resume needs
    keeps_regrets: bool = True  # whether `save` writes a file that can be resumed, by default
    listed: str = "game"  # what a list of files calls one
    noun: str = ""  # what it is, where a list of files says that the page cannot show it

    @property
    def problem_class(self) -> Any:
        return _import(self.problem)

    @property
    def solution_class(self) -> Any:
        return _import(self.solution)

    @property
    def subject_class(self) -> Any:
        return _import(self.subject)

    @property
    def is_spot(self) -> bool:
        """Whether its files hold a spot, whose nodes can be browsed."""
        return self.subject == _SPOT

    def is_about(self, subject: object) -> bool:
        """Whether this is what is solved; compared by name, so that no module is imported for a subject of another."""
        names = (f"{each.__module__}:{each.__qualname__}" for each in type(subject).__mro__)
        return f"{_PACKAGE}.{self.subject}" in names

    def fits(self, subject: object, option: Callable[[str], object]) -> bool:
        """Whether a solve of the subject is of this kind; `option` gives the value of an option by its name."""
        if not self.is_about(subject):
            return False
        return not self.chosen_by or any(_is_set(text, option) for text in self.chosen_by)


def _is_set(text: str, option: Callable[[str], object]) -> bool:
    """Whether an option is set (`flops`) or has a value (`variant=lp`)."""
    name, _, value = text.partition("=")
    return option(name) == value if value else option(name) is not None


_PACKAGE = "regretless"
_GAME = "games.game:Game"
_SPOT = "holdem.spots.spot:Spot"
_WHOLE_GAME = "holdem.games.game:HoldemGame"
_FLOP_HOLDEM = "games.flop_holdem:FlopHoldem"

KINDS: Mapping[str, ProblemKind] = {  # the first that fits
    "push-fold": ProblemKind(
        options=Kind.GAME,
        subject="games.push_fold:PushFold",
        problem="holdem.games.push_fold:PushFoldProblem",
        solution="holdem.games.push_fold:PushFoldSolution",
        files={"push-fold": "a solved game of push or fold"},
        listed="push-fold",
    ),
    "flop-holdem": ProblemKind(
        options=Kind.PUBLIC,
        subject=_FLOP_HOLDEM,
        problem="holdem.games.flop_holdem:FlopHoldemProblem",
        solution="holdem.games.flop_holdem:FlopHoldemSolution",
        files={"flop-holdem": "a solved game of flop hold'em"},
        listed="flop-holdem",
        noun="flop hold'em",
    ),
    "exact game": ProblemKind(
        options=Kind.EXACT,
        subject=_GAME,
        chosen_by=("variant=lp",),
        problem="solving.game_problem:GameProblem",
        solution="solving.game_solution:GameSolution",
    ),
    "public game": ProblemKind(
        options=Kind.PUBLIC,
        subject=_GAME,
        chosen_by=("form=public",),
        problem="solving.public_problem:PublicGameProblem",
        solution="solving.game_solution:GameSolution",
    ),
    "game": ProblemKind(
        options=Kind.GAME,
        subject=_GAME,
        problem="solving.game_problem:GameProblem",
        solution="solving.game_solution:GameSolution",
        files={"solution": "a solved game"},
    ),
    "whole game on flops": ProblemKind(
        options=Kind.FLOPS,
        subject=_WHOLE_GAME,
        chosen_by=("flops",),
        problem="holdem.games.real_cards:RealCardsProblem",
        solution="holdem.games.real_cards:RealCardsSolution",
        files={"holdem-flops": "a solved game of hold'em from the deal on some flops"},
        keeps_regrets=False,  # they are large
        listed="holdem-game",
    ),
    "whole game": ProblemKind(
        options=Kind.DEALT,
        subject=_WHOLE_GAME,
        toml="holdem.spots.spot_toml:is_game_table",
        problem="holdem.games.whole_game:NoLimitProblem",
        solution="holdem.games.whole_game:NoLimitSolution",
        files={"holdem-game": "a solved game of hold'em from the deal"},
        listed="holdem-game",
    ),
    "spot with buckets": ProblemKind(
        options=Kind.BUCKETED,
        subject=_SPOT,
        chosen_by=("buckets",),
        problem="holdem.games.bucketed_spot:BucketedSpotProblem",
        solution="holdem.games.bucketed_spot:BucketedSpotSolution",
        files={"spot-buckets": "a hold'em spot solved with buckets"},
        keeps_regrets=False,  # they are large
        listed="spot",
    ),
    "spot": ProblemKind(
        options=Kind.SPOT,
        subject=_SPOT,
        problem="holdem.problem:SpotProblem",
        solution="holdem.solution:SpotSolution",
        files={
            "spot-solution": "a solved hold'em spot",
            "spot-checkpoint": "an interrupted solve of a hold'em spot",
        },
        checkpoint="spot-checkpoint",
        keeps_regrets=False,
        listed="spot",
    ),
    "training of flop-holdem": ProblemKind(
        options=Kind.TRAINING,
        subject=_FLOP_HOLDEM,
        command="train",
        problem="deep.flop_holdem:FlopHoldemTraining",
        solution="deep.flop_holdem:TrainedFlopHoldem",
        files={"trained-flop-holdem": "a trained policy of flop hold'em"},
        keeps_regrets=False,  # its memories are large
        listed="flop-holdem",
        noun="flop hold'em",
    ),
    "training": ProblemKind(
        options=Kind.TRAINING,
        subject=_GAME,
        command="train",
        problem="deep.problem:EnumeratedTraining",
        solution="deep.trained_policy:TrainedPolicy",
        files={"trained-policy": "a trained policy"},
        keeps_regrets=False,
    ),
}

_OTHER_FILES = {  # that hold no solution
    "buckets": "a table of card buckets",
    "buckets-checkpoint": "an unfinished table of card buckets",
    "flop-price": "the values of one flop",
}


def kind_of(
    subject: object, option: Callable[[str], object] = lambda name: None, *, command: str = "solve"
) -> ProblemKind:
    """The row of a solve, or training, of rules, a spot or a whole game.

    >>> from regretless.games import Kuhn
    >>> kind_of(Kuhn()).problem, kind_of(Kuhn(), {"form": "public"}.get).problem
    ('solving.game_problem:GameProblem', 'solving.public_problem:PublicGameProblem')
    """
    return next(row for row in KINDS.values() if row.command == command and row.fits(subject, option))


def is_subject(what: object) -> bool:
    """Whether this is an object that can be solved, such as rules or a spot, rather than its name or its path."""
    return any(row.is_about(what) for row in KINDS.values())


def kind_of_table(table: Mapping[str, object]) -> ProblemKind:
    """The row of what a TOML file with these fields describes; a spot if it is no other.

    >>> kind_of_table({"stack": 20, "small_blind": 1, "big_blind": 2}).subject, kind_of_table({}).subject
    ('holdem.games.game:HoldemGame', 'holdem.spots.spot:Spot')
    """
    return next((row for row in KINDS.values() if row.toml and _import(row.toml)(table)), KINDS["spot"])


def of_file(kind: str) -> ProblemKind | None:
    """The row of the files of this kind; None if they hold no solution.

    >>> of_file("spot-checkpoint").solution
    'holdem.solution:SpotSolution'
    """
    return next((row for row in KINDS.values() if kind in row.files), None)


def of_solution(solution: type) -> ProblemKind:
    """The row of a class of solutions.

    >>> from regretless.solving.game_solution import GameSolution
    >>> of_solution(GameSolution).files
    {'solution': 'a solved game'}
    """
    name = f"{solution.__module__}:{solution.__qualname__}".removeprefix(f"{_PACKAGE}.")
    return next(row for row in KINDS.values() if row.solution == name and row.files)


def file_words(kind: str) -> str:
    """What a kind of file holds, for messages.

    >>> file_words("spot-checkpoint"), file_words("recipe")
    ("an interrupted solve of a hold'em spot", 'a recipe')
    """
    row = of_file(kind)
    return _OTHER_FILES.get(kind, f"a {kind[:40]}") if row is None else row.files[kind]


def open_file(path: str | Path, *kinds: str) -> Container:
    """Open a file of one of these kinds; arrays are read on demand."""
    file = open_container(path)
    if file.kind not in kinds:
        raise InvalidFile(file.path, f"contains {file_words(file.kind)}, not {file_words(kinds[0])}")
    return file


def _import(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"{_PACKAGE}.{module}"), attribute)
