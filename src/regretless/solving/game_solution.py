"""The solution of a general game, and its `.rgl` file.

A file is self-contained: it has the strategy with the names of information sets and actions, so that it can be read
without the game, and the arrays to resume from, which fit only a game with the same tree hash.

| array                                | shape            | holds                                                  |
|--------------------------------------|------------------|--------------------------------------------------------|
| solution                             | [pairs]          | the average strategy                                   |
| regret, average, strategy            | [pairs]          | state of the solve; absent for the linear program      |
| sampler                              | [any]            | state of a sampling engine, if one was used            |
| regret.P, average.P, matched.P       | [engine's]       | the same for a solve in the public form, by player P   |
| first_pair                           | [sets + 1]       | pairs of each information set                          |
| keys, key_ends; actions, action_ends | [bytes], [texts] | names of information sets and of actions               |
| history                              | [points, 3]      | iteration, seconds, exploitability                     |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from regretless.engines import Snapshot
from regretless.errors import InvalidFile, InvalidGame, InvalidOption
from regretless.files.container import Container, StoredArrays
from regretless.files.fields import Fields
from regretless.files.tensor_file import DAMAGED
from regretless.forms.compile import impossible_sets
from regretless.forms.history import AnyArray, FloatArray, Strategy
from regretless.games.game import AnyGame
from regretless.games.registry import load
from regretless.reprs import brief
from regretless.solving.head_to_head import HeadToHead, seats_of_game
from regretless.solving.record import Record
from regretless.solving.solution import Contents, Solution
from regretless.solving.solution_html import strategy_html
from regretless.solving.verification import Verification, rules_and_form, verify_game

__all__ = ["LEARNED", "GameSolution", "packed_strategy", "public_snapshot", "unpacked_strategy"]

LEARNED = tuple(f"{name}.{player}" for name in ("regret", "average", "matched") for player in range(2))


@dataclass(frozen=True, kw_only=True)
class GameSolution(Solution):
    """The average strategy of a game, its exploitability, and how it was found."""

    zero_sum: bool = True  # whether the payoffs of every terminal sum to 0
    solved_game: AnyGame | None = field(default=None, repr=False)  # its rules; None if it was read from a file

    __repr__ = brief

    @property
    def subject(self) -> object:
        return self.game if self.solved_game is None else self.solved_game

    @cached_property
    def strategy(self) -> Strategy:
        """Information set -> action -> probability."""
        strategy: Strategy = self.reader
        return strategy

    def verify(self, *, game: AnyGame | None = None, **options: Any) -> Verification:
        """Recompute values and exploitability from the rules of the game; options as in `verify_game`.

        The rules are those that were solved. A solution read from a file has none: a registered game is loaded by its
        name, and `game` gives the rules of any other.
        """
        return verify_game(self.record, self.strategy, game=self.solved_game if game is None else game, **options)

    def against(self, other: Solution, *, game: AnyGame | None = None, **options: Any) -> HeadToHead:
        """Exact values against another solution of the same game, each in both seats; the rules are as in `verify`.

        >>> from regretless import solve
        >>> better, worse = solve("kuhn", iterations=1000), solve("kuhn", iterations=5)
        >>> result = better.against(worse)
        >>> result.edge > 0, result.edge == -worse.against(better).edge, better.against(better).edge
        (True, True, 0.0)
        """
        for option, value in options.items():
            raise InvalidOption(option, value, "is for hold'em: a game is always evaluated in full")
        if not isinstance(other, GameSolution):
            return super().against(other)
        known = [rules for rules in (game, self.solved_game, other.solved_game) if rules is not None]
        rules, form = rules_and_form(self.record, known[0] if known else None)
        rules_and_form(other.record, rules)
        return self.head_to_head(seats_of_game(form, self.strategy, other.strategy))

    def to_openspiel(self) -> Any:
        """The strategy as OpenSpiel's `TabularPolicy`, if this is one of its games.

        >>> from open_spiel.python.algorithms.exploitability import exploitability
        >>> from regretless import solve
        >>> solution = solve("openspiel:kuhn_poker", iterations=100)
        >>> policy = solution.to_openspiel()
        >>> bool(abs(exploitability(policy.game, policy) - solution.exploitability) < 1e-9)
        True
        """
        from regretless.games.openspiel import OpenSpielGame, to_tabular_policy

        rules = load(self.game)
        if not isinstance(rules, OpenSpielGame):
            raise InvalidGame(f"{self.game} is not a game of OpenSpiel, which could play 'openspiel:leduc_poker'")
        return to_tabular_policy(rules, self.strategy)

    def _contents(self, resumable: bool) -> Contents:
        """The strategy and, if it is resumable, the state of the solve.

        >>> import tempfile
        >>> from regretless import solve
        >>> solution = solve("kuhn", iterations=100)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     solution.save(f"{folder}/kuhn.rgl")
        ...     loaded = GameSolution.load(f"{folder}/kuhn.rgl")
        >>> loaded.exploitability == solution.exploitability, loaded.strategy == solution.strategy
        (True, True)
        """
        header: dict[str, object] = {"zero_sum": self.zero_sum}
        arrays = packed_strategy(self.strategy)
        if self.snapshot is not None:
            if self.settings.form == "public":
                header["weight"] = self.snapshot.weight
            if resumable:
                arrays |= self.snapshot.arrays
        return Contents(header, arrays)

    @classmethod
    def read(cls, file: Container) -> Self:
        record = Record.read(file)
        try:
            strategy = unpacked_strategy(file, record.information_sets)
            snapshot = public_snapshot(file, record.iterations) or _snapshot(file, record.iterations)
        except (ValueError, KeyError):
            raise InvalidFile(file.path, DAMAGED) from None
        header = Fields(file.path, file.header)
        return cls(
            record=record,
            snapshot=snapshot,
            path=file.path,
            zero_sum=header.flag("zero_sum") if "zero_sum" in header else True,
            make_reader=lambda: strategy,
        )

    def _repr_html_(self) -> str:
        """The solution in a notebook: figures and the first information sets."""
        return super()._repr_html_() + strategy_html(self.strategy)

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        result = super().as_json()
        if strategy:
            result["strategy"] = {key: dict(actions) for key, actions in self.strategy.items()}
        return result


def packed_strategy(strategy: Strategy) -> dict[str, AnyArray]:
    """The arrays of a file that hold a strategy and its names."""
    counts = [len(actions) for actions in strategy.values()]
    keys, key_ends = _pack_texts(strategy)
    actions, action_ends = _pack_texts(action for actions in strategy.values() for action in actions)
    return {
        "solution": np.array([number for actions in strategy.values() for number in actions.values()], np.float64),
        "first_pair": np.cumsum([0, *counts], dtype=np.int64),
        "keys": keys,
        "key_ends": key_ends,
        "actions": actions,
        "action_ends": action_ends,
    }


def unpacked_strategy(file: Container, information_sets: int) -> Strategy:
    """The strategy of a file; raises ValueError if its arrays contradict each other."""
    probabilities = _numbers(file, "solution")
    keys = _unpack_texts(file.array("keys"), file.array("key_ends"))
    actions = _unpack_texts(file.array("actions"), file.array("action_ends"))
    first_pair = file.array("first_pair")
    if first_pair.shape != (information_sets + 1,) or first_pair.dtype != np.int64 or len(set(keys)) != len(keys):
        raise ValueError("every information set needs a unique name and a slice of pairs")
    bounds = first_pair.tolist()
    fits = len(keys) == information_sets and len(actions) == len(probabilities) == bounds[-1]
    rises = bounds[0] == 0 and all(start < end for start, end in pairwise(bounds))
    if not fits or not rises or len(impossible_sets(probabilities, first_pair)):
        raise ValueError("information sets, actions and probabilities do not match")
    numbers = probabilities.tolist()
    strategy = {
        key: dict(zip(actions[start:end], numbers[start:end], strict=True))
        for key, (start, end) in zip(keys, pairwise(bounds), strict=True)
    }
    if sum(map(len, strategy.values())) != len(numbers):
        raise ValueError("an information set names an action twice")
    return strategy


def _pack_texts(texts: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Letters [UTF-8 bytes], all texts concatenated, and where each ends [texts].

    >>> letters, ends = _pack_texts(["Ks:", "", "é"])
    >>> ends.tolist(), _unpack_texts(letters, ends)
    ([3, 3, 5], ['Ks:', '', 'é'])
    """
    encoded = [text.encode() for text in texts]
    letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return letters, np.cumsum([len(text) for text in encoded], dtype=np.int64)


def _unpack_texts(letters: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    """The inverse of `_pack_texts`; raises ValueError if the arrays do not match."""
    if letters.dtype != np.uint8 or letters.ndim != 1 or ends.dtype != np.int64 or ends.ndim != 1:
        raise ValueError("texts must be bytes and the ends of texts")
    bounds = [0, *ends.tolist()]
    if bounds[-1] != len(letters) or any(start > end for start, end in pairwise(bounds)):
        raise ValueError("ends must rise to the number of letters")
    joined = letters.tobytes()
    return [joined[start:end].decode() for start, end in pairwise(bounds)]


def public_snapshot(file: Container, iterations: int) -> Snapshot | None:
    """The state of a solve of the public form, each array read on demand; None if it is absent."""
    if "regret.0" not in file:
        return None
    weight = Fields(file.path, file.header).number("weight", low=0.0)
    return Snapshot(iterations, StoredArrays(file, LEARNED), weight)


def _snapshot(file: Container, iterations: int) -> Snapshot | None:
    if "regret" not in file:
        return None
    pairs = file.entry("solution").shape
    arrays = {name: _numbers(file, name, pairs) for name in ("regret", "average", "strategy")}
    if arrays["average"].min(initial=0.0) < 0 or len(impossible_sets(arrays["strategy"], file.array("first_pair"))):
        raise ValueError("sums of strategies are below 0, or a strategy does not sum to 1")
    if "sampler" in file:
        arrays["sampler"] = _sampler(_numbers(file, "sampler"))
    return Snapshot(iterations, arrays)


def _sampler(numbers: FloatArray) -> FloatArray:
    """State of the random numbers: seed, count and two scales; or the 625 integers of Python's own generator."""
    whole = numbers[:2] if numbers.size == 4 else numbers
    sound = bool((whole == np.floor(whole)).all() and (whole >= 0).all() and (whole < 2.0**53).all())
    if numbers.size == 4:
        sound = sound and bool((numbers[2:] > 0).all())
    elif numbers.size == 625:
        sound = sound and bool((numbers < 2.0**32).all()) and numbers[-1] <= 624
    if not sound or numbers.size not in (4, 625):
        raise ValueError("the sampler's state is invalid")
    return numbers


def _numbers(file: Container, name: str, shape: tuple[int, ...] | None = None) -> FloatArray:
    """An array of finite numbers, of that shape or with a single axis."""
    array = file.array(name)
    fits = array.ndim == 1 if shape is None else array.shape == shape
    if not fits or array.dtype != np.float64 or not np.isfinite(array).all():
        raise ValueError("an array has the wrong shape, type or content")
    return cast(FloatArray, array)
