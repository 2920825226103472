"""Files with the right checksums, but with numbers and names that no solve produces: refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import regretless as rl
from regretless.cli import main
from regretless.errors import InvalidFile
from regretless.files import open_container, write_container
from regretless.holdem.games.game import HoldemGame

Arrays = dict[str, NDArray[Any]]
Change = Callable[[dict[str, Any], Arrays], None]

SPOT = {
    "board": "Kh Qs Js 2c",
    "pot": 100,
    "stack": 100,
    "oop": {"range": "AA,KK:0.5"},
    "ip": {"range": "QQ,AK"},
    "bets": {"bet": "50%"},
}
SHORT = {"stack": 10, "small_blind": 0.5, "big_blind": 1, "preflop": {"open": "a", "limp": False}}

SOLVES: dict[str, Callable[[], Any]] = {
    "leduc": lambda: rl.solve("leduc", iterations=3),
    "sampled": lambda: rl.solve("kuhn", iterations=3, sampling="external"),
    "public": lambda: rl.solve("kuhn", form="public", iterations=3),
    "push-fold": lambda: rl.solve("push-fold", iterations=3),
    "buckets": lambda: rl.solve(
        rl.Spot.from_mapping(SPOT), buckets="river=10,method=percentile", iterations=3, threads=1
    ),
    "spot": lambda: rl.solve(rl.Spot.from_mapping(SPOT), iterations=3, threads=1),
    "game": lambda: rl.solve(HoldemGame.from_mapping(SHORT), iterations=3, threads=1),
    "trained": lambda: rl.train("kuhn", iterations=1, traversals=20, value_steps=2, policy_steps=2),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("originals")

    def original(name: str) -> Path:
        path = folder / f"{name}.rgl"
        if not path.exists():
            SOLVES[name]().save(path, resumable=True)
        return path

    return original


def craft(original: Path, path: Path, change: Change) -> None:
    """A copy of a file with other contents and the right checksums."""
    file = open_container(original)
    header = {name: value for name, value in file.header.items() if name != "format"}
    arrays = {name: np.array(file.array(name)) for name in file.names}
    change(header, arrays)
    write_container(path, header.pop("kind"), header, arrays)


def spread(name: str) -> Change:
    """Probabilities, or their sums, of 1.057 and −0.057 where there were others."""

    def change(header: dict[str, Any], arrays: Arrays) -> None:
        numbers = arrays[name].ravel()
        numbers[: len(numbers) // 2 * 2] = np.tile([1.057, -0.057], len(numbers) // 2)

    return change


def too_large(header: dict[str, Any], arrays: Arrays) -> None:
    arrays["solution"][:] = 0.7


def renamed(name: str) -> Change:
    """The first letter of all names, of information sets or of actions, is another."""

    def change(header: dict[str, Any], arrays: Arrays) -> None:
        arrays[name][0] = ord("Z")

    return change


def all_named_alike(header: dict[str, Any], arrays: Arrays) -> None:
    arrays["actions"][:] = ord("a")


def a_best_response_below_the_values(header: dict[str, Any], arrays: Arrays) -> None:
    header["best_response_values"] = [value - 1.0 for value in header["values"]]


def a_better_exploitability(header: dict[str, Any], arrays: Arrays) -> None:
    header["exploitability"] /= 2


def look(path: Path) -> None:
    """What a person does with a file."""
    solution: Any = rl.load(path)
    if isinstance(solution, rl.SpotSolution):
        assert all(0 <= share <= 1 for share in solution.root.frequencies)
    else:
        assert all(0 <= number <= 1.001 for played in solution.strategy.values() for number in played.values())
    solution.as_json(strategy=True)
    if type(solution).node is not rl.Solution.node:
        solution.node("")
    if type(solution) is rl.GameSolution:
        solution.verify()
        if solution.snapshot is not None:
            rl.solve(resume=solution, iterations=solution.iterations + 1)


CASES: list[tuple[str, Change]] = [
    *((name, too_large) for name in ("leduc", "sampled", "public", "push-fold", "trained")),
    *((name, spread("solution")) for name in ("leduc", "public", "push-fold", "trained")),
    *((name, renamed(names)) for name in ("leduc", "public", "push-fold") for names in ("keys", "actions")),
    ("leduc", all_named_alike),
    ("leduc", spread("average")),
    ("sampled", spread("average")),
    ("leduc", spread("strategy")),
    *((name, spread(average)) for name in ("buckets", "game") for average in ("average.0", "average.1")),
    *((name, a_best_response_below_the_values) for name in ("leduc", "push-fold", "buckets", "trained")),
    *((name, a_better_exploitability) for name in ("leduc", "push-fold", "buckets", "trained")),
]


@pytest.mark.parametrize(("name", "change"), CASES, ids=lambda each: getattr(each, "__qualname__", each)[:40])
def test_contents_that_no_solve_produces_are_refused(
    name: str, change: Change, files: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "trained" and find_spec("torch") is None:
        pytest.skip("training needs PyTorch")
    path = tmp_path / "crafted.rgl"
    craft(files(name), path, lambda header, arrays: None)
    look(path)  # unchanged, it is read
    craft(files(name), path, change)
    with pytest.raises(InvalidFile) as caught:
        look(path)
    assert "\n" not in str(caught.value)
    assert main(["verify", str(path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("name", ["leduc", "push-fold", "spot"])
def test_wrong_values_are_noticed(
    name: str, files: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def shift(header: dict[str, Any], arrays: Arrays) -> None:
        for field in ("values", "best_response_values"):
            header[field] = [header[field][0] + 0.1, header[field][1] - 0.1]

    path = tmp_path / "crafted.rgl"
    craft(files(name), path, shift)
    assert main(["verify", str(path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "the recomputed values differ from what the solve reported"


def test_a_public_solve_is_not_resumed_from_sums_below_0(files: Callable[[str], Path], tmp_path: Path) -> None:
    craft(files("public"), tmp_path / "public.rgl", spread("average.0"))
    solution = rl.load(tmp_path / "public.rgl")  # whose strategy is stored besides
    with pytest.raises(InvalidFile, match=r"is damaged: average\.0 contains sums of probabilities below 0"):
        rl.solve(resume=solution, iterations=solution.iterations + 1)


def test_a_whole_game_is_not_priced_or_shown_from_sums_below_0(files: Callable[[str], Path], tmp_path: Path) -> None:
    craft(files("game"), tmp_path / "game.rgl", spread("average.0"))
    solution: Any = rl.load(tmp_path / "game.rgl")
    with pytest.raises(InvalidFile, match=r"is damaged: average\.0 contains sums of probabilities below 0"):
        solution.price()
    with pytest.raises(InvalidFile, match=r"is damaged: average\.0 contains sums of probabilities below 0"):
        solution.node("")
