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

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from regretless import __version__
from regretless.engines.contract import LEARNED, Snapshot
from regretless.errors import InvalidFile
from regretless.forms.history import FloatArray, Strategy
from regretless.solvers.loop import Measurement
from regretless.solvers.solution import Solution
from regretless.storage.container import read_container, write_container
from regretless.storage.headers import SolutionHeader
from regretless.storage.tensor_file import DAMAGED
from regretless.storage.texts import pack_texts, unpack_texts
from regretless.variants.presets import PRESETS

__all__ = ["load_solution", "save_solution"]

KIND = "solution"
PLAIN = (
    "game", "variant", "engine", "device", "threads", "iterations", "reason", "seconds", "setup_seconds",
    "seconds_per_iteration", "memory_bytes", "nodes", "information_sets", "tree_hash",
)  # fmt: skip


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
        return _solution(path, header, arrays)
    except (ValueError, KeyError):
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
    return arrays | dict(solution.snapshot.arrays if solution.snapshot is not None else {})


def _solution(path: str | Path, given: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Solution:
    """The solution that a file describes; raises ValueError or KeyError where its arrays contradict each other."""
    header = SolutionHeader.read(path, given)
    pairs = arrays["solution"].size
    snapshot = None
    if "regret" in arrays:
        learned = {name: _numbers(arrays[name], pairs) for name in LEARNED}
        if "sampler" in arrays:
            learned["sampler"] = _sampler(arrays["sampler"])
        snapshot = Snapshot(header.iterations, learned)
    strategy = _strategy(arrays, header.information_sets)
    return Solution(
        **header.common,
        history=_history(arrays["history"]),
        snapshot=snapshot,
        read_strategy=lambda: strategy,
    )


def _sampler(array: NDArray[Any]) -> FloatArray:
    """Where random numbers stand: seed, count and two scales; or the 625 whole numbers of Python's own generator."""
    numbers = _numbers(array, array.size)
    whole = numbers[:2] if numbers.size == 4 else numbers
    sound = bool((whole == np.floor(whole)).all() and (whole >= 0).all() and (whole < 2.0**53).all())
    if numbers.size == 4:
        sound = sound and bool((numbers[2:] > 0).all())
    elif numbers.size == 625:
        sound = sound and bool((numbers < 2.0**32).all()) and numbers[-1] <= 624
    if not sound or numbers.size not in (4, 625):
        raise ValueError("the sampler's state is none")
    return numbers


def _history(points: NDArray[Any]) -> tuple[Measurement, ...]:
    if points.ndim != 2 or points.shape[1] != 3 or points.dtype != np.float64 or not np.isfinite(points).all():
        raise ValueError("history must have three columns of numbers")
    return tuple(Measurement(int(point[0]), point[1], point[2]) for point in points.tolist())


def _strategy(arrays: dict[str, NDArray[Any]], information_sets: int) -> Strategy:
    probabilities = _numbers(arrays["solution"], arrays["solution"].size)
    keys = unpack_texts(arrays["keys"], arrays["key_ends"])
    actions = unpack_texts(arrays["actions"], arrays["action_ends"])
    first_pair = arrays["first_pair"]
    if first_pair.shape != (information_sets + 1,) or first_pair.dtype != np.int64 or len(set(keys)) != len(keys):
        raise ValueError("every information set has a name of its own and a slice of pairs")
    places = first_pair.tolist()
    fits = len(keys) == information_sets and len(actions) == len(probabilities) == places[-1]
    rises = places[0] == 0 and all(start < end for start, end in pairwise(places))
    if not fits or not rises or np.any((probabilities < 0) | (probabilities > 1 + 1e-6)):
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
