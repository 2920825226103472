from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.errors import InvalidFile, InvalidOption
from regretless.files.container import open_container, write_container
from regretless.holdem.form import tree_size
from regretless.holdem.form.betting import forget_betting
from regretless.holdem.problem import solve_spot
from regretless.holdem.reading.spot_results import EngineResults
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot

RoomFor = Callable[[int], AbstractContextManager[None]]


@pytest.mark.parametrize("name", ["river", "turn", "flop"])
def test_a_file_reads_as_the_solve_did(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    solution: SpotSolution = request.getfixturevalue(name)
    solution.save(tmp_path / "spot.rgl")
    loaded = SpotSolution.load(tmp_path / "spot.rgl")
    assert loaded.spot == solution.spot
    assert loaded.history == solution.history
    assert loaded.exploitability == solution.exploitability
    lines = {
        "river": ["", "check, bet 50"],
        "turn": ["", "check, check, 9d"],
        "flop": ["", "check", "check, check, 7d", "check, check, 7d, check, check, 8s"],
    }
    for line in lines[name]:
        mine, theirs = loaded.node(line), solution.node(line)
        assert mine.actions == theirs.actions
        np.testing.assert_allclose(mine.strategy, theirs.strategy, atol=5e-7)
        for player in ("oop", "ip"):
            np.testing.assert_allclose(mine.hands[player].weight, theirs.hands[player].weight, atol=1e-6)
            np.testing.assert_allclose(mine.hands[player].equity, theirs.hands[player].equity, atol=1e-6)
            assert mine.ev(player) == pytest.approx(theirs.ev(player), abs=1e-5)
    # A file read from a file is the same file.
    loaded.save(tmp_path / "again.rgl")
    again = SpotSolution.load(tmp_path / "again.rgl")
    for line in lines[name]:
        np.testing.assert_allclose(again.node(line).strategy, loaded.node(line).strategy, atol=1e-7)


def test_caps_and_sizes_of_raises_are_kept(fields: dict[str, Any], tmp_path: Path) -> None:
    bets = {"bet": "50%", "raise": "2x", "reraise": ["3x", "a"], "river": {"max_raises": 2}}
    spot = Spot.from_mapping(fields | {"stack": 900, "bets": bets})
    solution = solve_spot(spot, iterations=5, threads=1)
    solution.save(tmp_path / "spot.rgl")
    loaded = SpotSolution.load(tmp_path / "spot.rgl")
    assert loaded.spot == spot
    assert loaded.node("bet 50, raise 100").actions == ("fold", "call", "raise 300")
    assert loaded.node("bet 50, raise 100, raise 300").actions == ("fold", "call")


def learned(solution: SpotSolution) -> list[np.ndarray]:
    answers = solution.reader.results
    assert isinstance(answers, EngineResults)
    snapshot = answers.engine.snapshot()
    return list(snapshot.arrays.values())


@pytest.mark.parametrize(
    ("variant", "storage"), [("discounted", 32), ("predictive-plus", 32), ("postflop", 16), ("predictive-plus", 16)]
)
@pytest.mark.parametrize("stop", [1, 13, 40])
def test_a_resumed_solve_is_bit_for_bit_the_uninterrupted_one(
    fields: dict[str, Any], tmp_path: Path, stop: int, variant: str, storage: int
) -> None:
    spot = Spot.from_mapping(fields)
    whole = solve_spot(spot, iterations=60, variant=variant, storage=storage)
    pieces = 0

    def interrupted() -> bool:
        nonlocal pieces
        pieces += 1
        return pieces > stop

    path = tmp_path / "spot.rgl"
    part = solve_spot(spot, iterations=60, variant=variant, storage=storage, checkpoint=path, interrupted=interrupted)
    assert part.reason == "interrupted"
    assert part.iterations < 60
    resumed = solve_spot(resume=path)
    assert resumed.iterations == 60
    for mine, theirs in zip(learned(resumed), learned(whole), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert [(p.iteration, p.exploitability) for p in resumed.history] == [
        (p.iteration, p.exploitability) for p in whole.history
    ]


def test_a_finished_solve_saved_with_regrets_can_be_resumed(fields: dict[str, Any], tmp_path: Path) -> None:
    spot = Spot.from_mapping(fields)
    first = solve_spot(spot, iterations=20)
    first.save(tmp_path / "all.rgl", resumable=True)
    assert solve_spot(resume=tmp_path / "all.rgl", iterations=50).iterations == 50
    for mine, theirs in zip(
        learned(solve_spot(resume=tmp_path / "all.rgl", iterations=50)),
        learned(solve_spot(spot, iterations=50)),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, theirs)
    first.save(tmp_path / "small.rgl")
    with pytest.raises(InvalidOption, match=r"small\.rgl' is a finished solve without its regrets"):
        solve_spot(resume=tmp_path / "small.rgl")
    with pytest.raises(InvalidFile, match="regrets"):
        SpotSolution.load(tmp_path / "small.rgl").save(tmp_path / "x.rgl", resumable=True)


def test_checkpoints_are_written_on_the_way(fields: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "spot.rgl"
    solve_spot(Spot.from_mapping(fields), iterations=50, checkpoint=path, save_every=1e-9)
    assert solve_spot(resume=path, iterations=60).iterations == 60
    standing = SpotSolution.load(path)  # of the last checkpoint
    assert standing.reason == "interrupted"
    assert (
        standing.root.frequencies
        == solve_spot(Spot.from_mapping(fields), iterations=standing.iterations).root.frequencies
    )


def test_a_checkpoint_of_the_last_iteration_is_resumed_to_its_end(fields: dict[str, Any], tmp_path: Path) -> None:
    """As earlier versions wrote one if it was due just then; now, a solve that ends writes its answer alone."""
    path = tmp_path / "spot.rgl"
    whole = solve_spot(Spot.from_mapping(fields), iterations=20, checkpoint=path, save_every=1e-9)
    assert SpotSolution.load(path).iterations < 20
    whole.checkpoint(path)
    file = open_container(path)
    header = {name: value for name, value in file.header.items() if name not in ("format", "kind")}
    arrays = {name: file.array(name) for name in file.names}
    write_container(path, file.kind, header | {"reason": "interrupted"}, arrays)
    assert (SpotSolution.load(path).iterations, SpotSolution.load(path).reason) == (20, "interrupted")
    resumed = solve_spot(resume=path)
    assert (resumed.reason, resumed.evaluation) == ("iterations", whole.evaluation)
    assert [point.iteration for point in resumed.history] == [point.iteration for point in whole.history]
    with pytest.raises(InvalidOption, match="is already reached"):
        solve_spot(resume=path, iterations=20)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda arrays: arrays.pop("regret.0"), "contains no regrets"),
        (lambda arrays: arrays.pop("average.1"), "incompatible layout"),
        (lambda arrays: arrays.update({"regret.1": arrays["regret.1"][:-1]}), "incompatible layout"),
        (lambda arrays: arrays.update({"average.0": arrays["average.0"].astype(np.float64)}), "incompatible layout"),
    ],
)
def test_a_checkpoint_that_contradicts_its_spot(
    change: Callable[[dict[str, Any]], object], reason: str, river: SpotSolution, tmp_path: Path
) -> None:
    path = tmp_path / "spot.rgl"
    river.checkpoint(path)
    file = open_container(path)
    arrays = {name: file.array(name) for name in file.names}
    change(arrays)
    header = {name: value for name, value in file.header.items() if name not in ("format", "kind")}
    write_container(path, file.kind, header, arrays)
    with pytest.raises(InvalidFile, match=reason):
        SpotSolution.load(path).node("")


def test_a_damaged_file_is_one_sentence_and_never_a_wrong_answer(turn: SpotSolution, tmp_path: Path) -> None:
    path = tmp_path / "spot.rgl"
    turn.save(path)
    content = path.read_bytes()
    lines = ("", "check, check", "check, check, 9d")
    right = [SpotSolution.load(path).node(line).ev("oop") for line in lines]
    random.seed(0)
    told = 0
    for _ in range(60):
        damaged = bytearray(content)
        place = random.choice([random.randrange(4000), random.randrange(len(content))])
        damaged[place] ^= 1 << random.randrange(8)
        path.write_bytes(damaged)
        try:
            loaded = SpotSolution.load(path)
            found = [loaded.node(line).ev("oop") for line in lines]
        except InvalidFile as error:
            told += "\n" not in str(error)
        else:
            assert found == right
    assert told > 40
    for length in (0, 5, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(InvalidFile):
            SpotSolution.load(path).node("check, check, As")


def test_other_files_are_refused(tmp_path: Path, river: SpotSolution) -> None:
    from regretless import solve

    solve("kuhn", iterations=10).save(tmp_path / "kuhn.rgl")
    with pytest.raises(InvalidFile, match="contains a solved game, not a solved hold'em spot"):
        SpotSolution.load(tmp_path / "kuhn.rgl")
    with pytest.raises(InvalidFile, match="does not exist"):
        SpotSolution.load(tmp_path / "none.rgl")
    with pytest.raises(InvalidFile, match="does not exist"):
        river.save(tmp_path / "no" / "folder.rgl")


def test_a_folder_without_permission(river: SpotSolution, fields: dict[str, Any], read_only_folder: Path) -> None:
    with pytest.raises(InvalidFile, match="cannot be written: permission denied"):
        river.save(read_only_folder / "spot.rgl")
    told: list[InvalidFile | None] = []
    path = read_only_folder / "checkpoint.rgl"
    solution = solve_spot(
        Spot.from_mapping(fields), iterations=20, checkpoint=path, save_every=1e-9, checkpointed=told.append
    )
    assert solution.iterations == 20
    assert {str(problem) for problem in told} == {f"{path}: cannot be written: permission denied"}
    assert list(read_only_folder.iterdir()) == []


@pytest.mark.parametrize("limit", [0, 1, 5_000, 50_000])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    turn: SpotSolution, tmp_path: Path, limit: int, room_for: RoomFor
) -> None:
    path = tmp_path / "spot.rgl"
    turn.save(path, resumable=True)
    before = path.read_bytes()
    assert len(before) > limit
    for name in ("spot.rgl", "new.rgl"):
        with room_for(limit), pytest.raises(InvalidFile, match=f"{name}: cannot be written: file too large$"):
            turn.save(tmp_path / name, resumable=True)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_fills_up_at_the_last_step(
    turn: SpotSolution, tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "spot.rgl"
    path.write_text("what was there before", encoding="utf-8")
    monkeypatch.setattr(os, step, full)
    with pytest.raises(InvalidFile, match="cannot be written: no space left on device"):
        turn.save(path)
    monkeypatch.undo()
    assert path.read_text(encoding="utf-8") == "what was there before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_solve_outlives_checkpoints_that_cannot_be_written(
    fields: dict[str, Any], tmp_path: Path, room_for: RoomFor
) -> None:
    spot = Spot.from_mapping(fields)
    whole = solve_spot(spot, iterations=50)
    path = tmp_path / "spot.rgl"
    solve_spot(spot, iterations=10, checkpoint=path, save_every=1e-9)
    before = path.read_bytes()
    told: list[InvalidFile | None] = []
    options: dict[str, Any] = {"iterations": 50, "checkpoint": path, "save_every": 1e-9}
    with room_for(10_000):
        solution = solve_spot(spot, **options, checkpointed=told.append)
        with pytest.warns(UserWarning, match="cannot be written: file too large"):
            solve_spot(spot, **options, interrupted=lambda: True)
    assert solution.values == whole.values
    assert {str(problem) for problem in told} == {f"{path}: cannot be written: file too large"}
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before
    told.clear()
    solve_spot(spot, **options, checkpointed=told.append)
    assert set(told) == {None}
    assert path.read_bytes() != before


def test_a_file_whose_spot_explodes_is_refused(
    river: SpotSolution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    river.save(tmp_path / "spot.rgl", resumable=True)
    monkeypatch.setattr(tree_size, "MAX_NODES", 5)
    forget_betting()
    for read in (SpotSolution.load, lambda path: solve_spot(resume=path)):
        with pytest.raises(InvalidFile, match=r"contains a spot that cannot be read: bets: .* more than 5 nodes"):
            read(tmp_path / "spot.rgl")


def test_a_file_cut_short_while_open_is_an_error(turn: SpotSolution, tmp_path: Path) -> None:
    turn.save(tmp_path / "spot.rgl")
    loaded = SpotSolution.load(tmp_path / "spot.rgl")
    os.truncate(tmp_path / "spot.rgl", 20_000)
    with pytest.raises(InvalidFile, match="was truncated while it was open"):
        loaded.node("check, check, 9d")
