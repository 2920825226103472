"""Solutions of games as `.rgl` files.

A file is complete in itself: it holds the strategy with the texts of information sets and actions, so that it can be
read without the game, and the arrays that a resume starts from, which go back only into a game with the same tree hash.

| array                               | shape           | holds                                                  |
|-------------------------------------|-----------------|--------------------------------------------------------|
| solution                            | [pairs]         | the average strategy                                   |
| regret, average, strategy           | [pairs]         | where the solve stands; absent where nothing iterates  |
| sampler                             | [any]           | where a sampling engine stands, if one was used        |
| first_pair                          | [sets + 1]      | pairs of each information set                          |
| keys, key_ends; actions, action_ends | [bytes], [texts] | texts of information sets, and of pairs                |
| history                             | [points, 3]     | iteration, seconds, exploitability                     |
"""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from regretless import __version__
from regretless.engines.engine import Evaluation, Snapshot
from regretless.errors import InvalidFile
from regretless.forms.history import FloatArray, Strategy
from regretless.rules.presets import PRESETS
from regretless.solvers.loop import Measurement
from regretless.solvers.solution import Reason, Settings, Solution
from regretless.storage.container import read_container, write_container
from regretless.storage.tensor_file import DAMAGED
from regretless.storage.texts import pack_texts, unpack_texts

__all__ = ["load_solution", "save_solution"]

KIND = "solution"
PLAIN = {  # fields of a solution that the header holds as they are
    "game": str,
    "variant": str,
    "engine": str,
    "device": str,
    "threads": int,
    "iterations": int,
    "reason": str,
    "seconds": float,
    "setup_seconds": float,
    "seconds_per_iteration": float,
    "memory_bytes": int,
    "nodes": int,
    "information_sets": int,
    "tree_hash": str,
}


def save_solution(path: str | Path, solution: Solution) -> None:
    """Write a solution, with everything that a resume needs.

    >>> import tempfile
    >>> from regretless import solve
    >>> solution = solve("kuhn", iterations=100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_solution(f"{folder}/kuhn.rgl", solution)
    ...     loaded = load_solution(f"{folder}/kuhn.rgl")
    >>> loaded.exploitability == solution.exploitability, loaded.strategy == solution.strategy
    (True, True)
    """
    header = {name: getattr(solution, name) for name in PLAIN}
    header |= {
        "written_by": __version__,
        "rule": repr(PRESETS[solution.variant]) if solution.variant in PRESETS else solution.variant,
        "values": list(solution.values),
        "best_response_values": list(solution.evaluation.best_response_values),
        "exploitability": solution.exploitability,
        "zero_sum": solution.zero_sum,
        "settings": asdict(solution.settings),
    }
    write_container(path, KIND, header, _arrays(solution))


def load_solution(path: str | Path) -> Solution:
    """Read a solution back; a file that is missing, damaged or something else raises `InvalidFile`."""
    header, arrays = read_container(path, KIND)
    try:
        return _solution(header, arrays)
    except (ValueError, TypeError, KeyError, OverflowError):
        raise InvalidFile(path, DAMAGED) from None


def _arrays(solution: Solution) -> dict[str, NDArray[Any]]:
    strategy = solution.strategy
    counts = [len(actions) for actions in strategy.values()]
    keys, key_ends = pack_texts(strategy)
    actions, action_ends = pack_texts(action for actions in strategy.values() for action in actions)
    arrays: dict[str, NDArray[Any]] = {
        "solution": np.array([number for actions in strategy.values() for number in actions.values()], np.float64),
        "first_pair": np.cumsum([0, *counts], dtype=np.int64),
        "keys": keys,
        "key_ends": key_ends,
        "actions": actions,
        "action_ends": action_ends,
        "history": np.array(
            [(point.iteration, point.seconds, point.exploitability) for point in solution.history], np.float64
        ).reshape(-1, 3),
    }
    if (snapshot := solution.snapshot) is not None:
        arrays |= {"regret": snapshot.regret, "average": snapshot.average, "strategy": snapshot.strategy}
        if snapshot.sampler is not None:
            arrays["sampler"] = snapshot.sampler
    return arrays


def _solution(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Solution:
    """The solution that a file describes; raises ValueError, TypeError or KeyError where it contradicts itself."""
    plain = {name: _as(kind, header[name]) for name, kind in PLAIN.items()}
    if plain["reason"] not in get_args(Reason):
        raise ValueError("no such reason to end")
    evaluation = Evaluation(
        values=tuple(_as(float, value) for value in header["values"]),
        best_response_values=tuple(_as(float, value) for value in header["best_response_values"]),
    )
    if len(evaluation.values) != len(evaluation.best_response_values) or not evaluation.values:
        raise ValueError("values of other players than best responses")
    pairs = arrays["solution"].size
    snapshot = None
    if "regret" in arrays:
        snapshot = Snapshot(
            iteration=plain["iterations"],
            regret=_numbers(arrays["regret"], pairs),
            average=_numbers(arrays["average"], pairs),
            strategy=_numbers(arrays["strategy"], pairs),
            sampler=_numbers(arrays["sampler"], arrays["sampler"].size) if "sampler" in arrays else None,
        )
    history = arrays["history"]
    if history.ndim != 2 or history.shape[1] != 3:
        raise ValueError("history must have three columns")
    strategy = _strategy(arrays, plain["information_sets"])
    return Solution(
        **plain,
        evaluation=evaluation,
        history=tuple(Measurement(int(point[0]), point[1], point[2]) for point in history.tolist()),
        zero_sum=_as(bool, header.get("zero_sum", True)),
        settings=_settings(header["settings"]),
        snapshot=snapshot,
        read_strategy=lambda: strategy,
    )


def _settings(given: dict[str, Any]) -> Settings:
    def optional(kind: type, name: str) -> Any:
        return None if given[name] is None else _as(kind, given[name])

    return Settings(
        iterations=_as(int, given["iterations"]),
        target=optional(float, "target"),
        measure_every=optional(int, "measure_every"),
        updates=_as(str, given["updates"]),
        sampling=_as(str, given["sampling"]),
        batch_size=optional(int, "batch_size"),
        seed=_as(int, given["seed"]),
    )


def _strategy(arrays: dict[str, NDArray[Any]], information_sets: int) -> Strategy:
    probabilities = _numbers(arrays["solution"], arrays["solution"].size)
    keys = unpack_texts(arrays["keys"], arrays["key_ends"])
    actions = unpack_texts(arrays["actions"], arrays["action_ends"])
    places = arrays["first_pair"].tolist()
    fits = len(keys) == information_sets == len(places) - 1 and len(actions) == len(probabilities) == places[-1]
    if not fits or places[0] != 0 or np.any((probabilities < 0) | (probabilities > 1 + 1e-6)):
        raise ValueError("information sets, actions and probabilities must fit each other")
    numbers = probabilities.tolist()
    return {
        key: dict(zip(actions[start:end], numbers[start:end], strict=True))
        for key, (start, end) in zip(keys, pairwise(places), strict=True)
    }


def _numbers(array: NDArray[Any], count: int) -> FloatArray:
    if array.shape != (count,) or array.dtype != np.float64 or not np.isfinite(array).all():
        raise ValueError("an array has another shape, type or content than it should")
    return cast(FloatArray, array)


def _as(kind: type, value: Any) -> Any:
    """A value of the header, if it is what it should be."""
    if kind is float and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    if type(value) is not kind or kind is float:
        raise TypeError(f"{value!r} is not a {kind.__name__}")
    return value
