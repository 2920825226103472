"""Trained policies: read by state, saved, loaded, damaged on purpose, and judged by OpenSpiel."""

from __future__ import annotations

import json
import pickle  # noqa: TID251 (only what this test pickles itself)
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import regretless as rl
from regretless.deep.trained_policy import RESUMED, TrainedPolicy
from regretless.errors import InvalidFile, InvalidGame, InvalidOption, RegretlessError
from regretless.files.container import open_container, write_container
from regretless.games.kuhn import Kuhn

Options = dict[str, Any]


@pytest.fixture
def file(trained: TrainedPolicy, tmp_path: Path) -> Path:
    path = tmp_path / "trained.rgl"
    trained.save(path, resumable=True)
    return path


def test_a_state_is_answered_by_its_information_set(trained: TrainedPolicy) -> None:
    game = Kuhn()
    for state in game.initial_states():
        played = trained.strategy(state)
        assert played == trained.strategy[game.info_set_key(state)]
        assert sum(played.values()) == pytest.approx(1.0)
    assert len(trained.strategy) == 12


def test_only_decisions_are_answered(trained: TrainedPolicy) -> None:
    for state in (Kuhn().initial_state(), "nonsense", None):
        with pytest.raises(InvalidOption, match="state: "):
            trained.strategy(state)


def test_a_loaded_policy_is_the_saved_one_to_the_bit(trained: TrainedPolicy, file: Path) -> None:
    loaded = rl.load(file)
    assert isinstance(loaded, TrainedPolicy)
    assert loaded.strategy == trained.strategy
    assert loaded.as_json(strategy=True) == trained.as_json(strategy=True)
    assert loaded.training == trained.training
    assert set(loaded.networks) == set(trained.networks)
    assert all(np.array_equal(loaded.networks[name], trained.networks[name]) for name in trained.networks)


def test_a_pickled_policy_is_the_same(trained: TrainedPolicy) -> None:
    copied = pickle.loads(pickle.dumps(trained))
    assert isinstance(copied, TrainedPolicy)
    assert copied.strategy == trained.strategy
    assert copied.training == trained.training


def test_the_saved_networks_play_the_saved_strategy(trained: TrainedPolicy, file: Path) -> None:
    loaded = TrainedPolicy.load(file)
    assert loaded.network_strategy() == trained.strategy
    assert open_container(file).header["architecture"] == {
        name: list(array.shape) for name, array in trained.networks.items()
    }


def test_a_policy_alone_cannot_be_resumed(trained: TrainedPolicy, tmp_path: Path) -> None:
    trained.save(tmp_path / "policy.rgl")
    with pytest.raises(InvalidOption, match=r"policy\.rgl' is a policy without its memories, which a resume needs: "):
        rl.train(resume=tmp_path / "policy.rgl", iterations=9)
    assert (tmp_path / "policy.rgl").stat().st_size < 100_000


def test_openspiel_finds_the_same_exploitability(quick: Options) -> None:
    exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability").exploitability
    found = rl.train("openspiel:kuhn_poker", **quick)
    policy = found.to_openspiel()
    assert exploitability(policy.game, policy) == pytest.approx(found.exploitability, abs=1e-9)
    with pytest.raises(InvalidGame, match="kuhn is not a game of OpenSpiel"):
        rl.train("kuhn", **quick).to_openspiel()


def test_a_game_of_your_own_is_trained_and_saved(quick: Options, tmp_path: Path) -> None:
    mine = Kuhn()
    mine.name = "mine"
    found = rl.train(mine, **quick)
    assert found.strategy(mine.initial_states()[0]) == found.strategy["0:"]
    found.save(tmp_path / "mine.rgl", resumable=True)
    loaded = rl.load(tmp_path / "mine.rgl")
    assert isinstance(loaded, TrainedPolicy)
    assert loaded.strategy == found.strategy
    with pytest.raises(InvalidOption, match="game: 'mine' is not a registered game"):
        loaded.strategy(mine.initial_states()[0])
    longer = rl.train(mine, resume=loaded, iterations=5)
    assert longer.iterations == 5


# --- files from strangers --------------------------------------------------------------------------------------------


def test_flipped_bytes_are_noticed(file: Path) -> None:
    whole = file.read_bytes()
    random = np.random.default_rng(0)
    places = [*range(0, 200, 7), *random.integers(0, len(whole), 60).tolist()]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        file.write_bytes(damaged)
        with pytest.raises(RegretlessError) as caught:
            read_all(file)
        assert "\n" not in str(caught.value)


def test_truncated_files_are_noticed(file: Path) -> None:
    whole = file.read_bytes()
    for length in (0, 1, 7, 8, 100, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(InvalidFile):
            read_all(file)


def read_all(path: Path) -> None:
    loaded = rl.load(path)
    assert isinstance(loaded, TrainedPolicy)
    assert loaded.snapshot is not None
    for arrays in (loaded.networks, loaded.snapshot.arrays):
        for name in arrays:
            arrays[name]


def rewrite(path: Path, *, header: dict[str, Any] | None = None, arrays: dict[str, Any] | None = None) -> None:
    """The same file with other contents and valid checks, as somebody who knows the format could make it."""
    file = open_container(path)
    kept = {name: file.array(name) for name in file.names} | (arrays or {})
    write_container(
        path,
        file.kind,
        {**{name: value for name, value in file.header.items() if name not in ("format", "kind")}, **(header or {})},
        {name: array for name, array in kept.items() if array is not None},
    )


def changed(path: Path, *keys: str, value: Any) -> dict[str, Any]:
    """A header with one value changed."""
    header: dict[str, Any] = json.loads(json.dumps(open_container(path).header))
    table = header
    for key in keys[:-1]:
        table = table[key]
    table[keys[-1]] = value
    return {keys[0]: header[keys[0]]}


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("training",), None),
        (("training", "settings"), "small"),
        (("training", "settings", "width"), -1),
        (("training", "settings", "width"), 10**30),
        (("training", "settings", "algorithm"), "none"),
        (("training", "settings", "learning_rate"), "fast"),
        (("training", "samples"), -1),
        (("training", "advantage_samples"), [1.0]),
        (("training", "strategy_samples"), None),
        (("training", "value_losses"), ["x"]),
        (("zero_sum",), 3),
        (("information_sets",), 13),
    ],
    ids=str,
)
def test_headers_that_contradict_themselves_are_refused(file: Path, keys: tuple[str, ...], value: Any) -> None:
    rewrite(file, header=changed(file, *keys, value=value))
    with pytest.raises(RegretlessError) as caught:
        rl.train(resume=rl.load(file), iterations=5)
    assert "\n" not in str(caught.value)


def test_arrays_that_do_not_fit_are_refused(file: Path) -> None:
    whole = file.read_bytes()
    arrays = open_container(file)
    resumed = [name for name in arrays.names if name.startswith(RESUMED)]
    assert len(resumed) > 8
    for name in resumed:
        array = arrays.array(name)
        wrong: list[Any] = [None, array.astype(np.float16), np.zeros((3, 5), array.dtype)]
        if name.endswith("observations"):
            wrong += [np.full_like(array, 10_000), np.full_like(array, -1)]
        if name.endswith("iterations"):
            wrong.append(np.full_like(array, 77))
        if array.dtype == np.float32:
            wrong.append(np.full_like(array, np.inf))
        for other in wrong:
            file.write_bytes(whole)
            rewrite(file, arrays={name: other})
            with pytest.raises(RegretlessError) as caught:
                rl.train(resume=file, iterations=5)
            assert "\n" not in str(caught.value)


def test_networks_that_do_not_fit_are_refused(file: Path) -> None:
    name = next(name for name in open_container(file).names if name.endswith("head.bias"))
    whole = file.read_bytes()
    for other in (None, np.zeros(3, np.float32), np.zeros((4, 4, 4, 4), np.float32)):
        file.write_bytes(whole)
        rewrite(file, arrays={name: other})
        with pytest.raises(InvalidFile, match="has networks whose shapes do not fit its game and settings"):
            TrainedPolicy.load(file).network_strategy()
    rewrite(file, arrays={name: open_container(file).array("history")})
    with pytest.raises(InvalidFile, match="is damaged"):
        rl.load(file)


def test_a_huge_shape_is_refused_before_memory_is_taken(file: Path) -> None:
    whole = file.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    table = json.loads(whole[8 : 8 + length])
    name = next(name for name in table if name.endswith("head.bias"))
    table[name]["shape"] = [2**40]
    text = json.dumps(table).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + whole[8 + length :])
    with pytest.raises(InvalidFile, match="is damaged"):
        rl.load(file)


def test_other_files_are_not_taken_for_policies(tmp_path: Path) -> None:
    rl.solve("kuhn", iterations=5).save(tmp_path / "solved.rgl")
    with pytest.raises(InvalidFile, match="contains a solved game, not a trained policy"):
        TrainedPolicy.load(tmp_path / "solved.rgl")
