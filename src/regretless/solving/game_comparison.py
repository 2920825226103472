"""Two solved games, information set by information set.

The difference at an information set is ½ Σ |difference of probabilities|: 0 if both play the same, 1 if they never do
the same. A file does not record how often a set is reached, so sets are not weighted by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from regretless.errors import InvalidFile
from regretless.solving.game_solution import GameSolution

__all__ = ["GameComparison", "Pair", "SetDifference", "compare_games", "distance", "paired"]

Pair = tuple[float | None, float | None]  # of the first and second solution; None where it does not exist


@dataclass(frozen=True)
class SetDifference:
    """How two solutions differ at an information set."""

    moved: float
    strategy: dict[str, Pair]  # by action


@dataclass(frozen=True)
class GameComparison:
    """Two solutions of a game, or of two that have information sets in common."""

    game: tuple[str, str]
    values: tuple[tuple[float, float], ...]  # by player; empty unless both were measured
    exploitability: Pair
    shared: int  # information sets
    only_first: int
    only_second: int
    differing: int  # shared ones that are played differently
    information_sets: dict[str, SetDifference]

    def as_json(self) -> dict[str, object]:
        """What `regretless compare --json` prints besides the names of the files."""
        return {name: value for name, value in asdict(self).items() if name != "differing"}


def compare_games(first: GameSolution, second: GameSolution) -> GameComparison:
    """All information sets of both, in the order of the first."""
    both = {key: paired(mix, second.strategy[key]) for key, mix in first.strategy.items() if key in second.strategy}
    if not both:
        raise InvalidFile(second.path, f"has no information set in common with {first.path}")
    differences = {key: SetDifference(distance(pairs), pairs) for key, pairs in both.items()}
    are_measured = first.is_measured and second.is_measured
    return GameComparison(
        game=(first.game, second.game),
        # Different games can have information sets in common, but not as many players.
        values=tuple(zip(first.values, second.values, strict=False)) if are_measured else (),
        exploitability=(_exploitability(first), _exploitability(second)),
        shared=len(both),
        only_first=len(first.strategy) - len(both),
        only_second=len(second.strategy) - len(both),
        differing=sum(each.moved > 0 for each in differences.values()),
        information_sets=differences,
    )


def _exploitability(solution: GameSolution) -> float | None:
    return solution.exploitability if solution.is_measured else None


def paired(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, Pair]:
    """The numbers of both by name.

    >>> paired({"fold": 0.2, "call": 0.8}, {"call": 0.5, "raise": 0.5})
    {'fold': (0.2, None), 'call': (0.8, 0.5), 'raise': (None, 0.5)}
    """
    return {name: (first.get(name), second.get(name)) for name in {**first, **second}}


def distance(pairs: Mapping[str, Pair]) -> float:
    """½ Σ |difference of probabilities|; an action that one does not have, it never takes."""
    return sum(abs((first or 0.0) - (second or 0.0)) for first, second in pairs.values()) / 2
