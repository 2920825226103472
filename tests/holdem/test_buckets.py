"""Card abstraction: one bucket for isomorphic hands, one table for the same seed, refusals in one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from regretless.cards.deck import parse_board
from regretless.cards.features import maximum_points, situation_batch, strength_points
from regretless.cards.hands import HAND_CARDS, HAND_CLASS, blocked_by
from regretless.cards.isomorphism import CARD_MAPS, canonical_boards, hand_maps
from regretless.cards.situations import hand_situations
from regretless.errors import InvalidFile, InvalidOption, RegretlessError, WouldNotFit
from regretless.files import open_container, write_container
from regretless.holdem.buckets import NO_BUCKET, BucketPlan, Buckets, build_buckets
from regretless.holdem.buckets import build as building
from regretless.holdem.buckets.build import BuildProgress, BuildStopped
from regretless.holdem.buckets.division import Percentiles, check_fits, estimate_buckets, kmeans_features
from regretless.holdem.buckets.table import read_unfinished

FLOP = parse_board("Qs Jh 2h")
MONOTONE = parse_board("As 7s 6s")
PLAN = BucketPlan(turn=20, river=30, board=MONOTONE, sample=2000, seed=3)  # few boards, so that it is quick
PERCENTILES = BucketPlan(turn=20, river=300, board=MONOTONE, sample=20_000, method="percentile")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("buckets")


@pytest.fixture(scope="module")
def path(folder: Path) -> Path:
    build_buckets(PLAN, folder / "table.rgl", threads=1)
    return folder / "table.rgl"


@pytest.fixture(scope="module")
def table(path: Path) -> Buckets:
    return Buckets.load(path)


def boards_with(flop: tuple[int, ...], size: int, count: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    left = [card for card in range(52) if card not in flop]
    return np.array([[*flop, *random.choice(left, size - 3, replace=False)] for _ in range(count)])


@pytest.mark.parametrize(("street", "size"), [("turn", 4), ("river", 5)])
def test_isomorphic_hands_share_a_bucket(table, street, size):
    random = np.random.default_rng(size)
    boards = boards_with(MONOTONE, size, 50, seed=size)
    found = table.lookup(boards)
    for board, buckets in zip(boards, found, strict=True):
        renaming = random.integers(24)
        renamed = random.permutation(CARD_MAPS[renaming, board])
        np.testing.assert_array_equal(table.of(street, renamed)[hand_maps()[renaming]], buckets)


@pytest.mark.parametrize(("street", "size"), [("turn", 4), ("river", 5)])
def test_buckets_are_in_range_and_blocked_hands_are_marked(table, street, size):
    for board in boards_with(MONOTONE, size, 10, seed=9):
        buckets = table.of(street, board)
        assert buckets.shape == (1326,)
        assert buckets.dtype == np.uint16
        np.testing.assert_array_equal(buckets == NO_BUCKET, blocked_by(board))
        assert buckets[~blocked_by(board)].max() < table.count(street)


def test_every_bucket_is_used(table):
    for street in ("turn", "river"):
        assert len(np.unique(table.table(street))) == table.count(street)


def test_before_the_flop_buckets_are_the_classes(table):
    assert table.count("preflop") == 169
    np.testing.assert_array_equal(table.of("preflop", ()), HAND_CLASS)
    np.testing.assert_array_equal(table.lookup(np.empty((2, 0))), np.stack([HAND_CLASS] * 2))


@pytest.mark.parametrize("size", [3, 4, 5])
def test_a_table_of_all_boards_is_read_by_situation(size):
    """A table that is not built but computed: the bucket of a situation is its index modulo 60,000."""
    street = {3: "flop", 4: "turn", 5: "river"}[size]
    plan = BucketPlan(**{street: 60_000})
    situations = plan.boards(street).situations
    everything = Buckets(
        plan,
        lambda _: np.resize(np.arange(60_000, dtype=np.uint16), situations),
        lambda _: Percentiles(np.empty(0, np.int32)),
    )
    random = np.random.default_rng(size)
    boards = random.permuted(np.tile(np.arange(52), (30, 1)), axis=1)[:, :size]
    indices = hand_situations(boards)
    np.testing.assert_array_equal(everything.lookup(boards), np.where(indices >= 0, indices % 60_000, NO_BUCKET))


def test_each_hand_has_the_bucket_of_its_nearest_centroid(path, table):
    centroids = open_container(path).array("river.division").astype(int)
    rows = PLAN.boards("river").rows[5:8]
    taken = situation_batch(5, rows)
    distances = ((kmeans_features(taken)[:, None].astype(int) - centroids[None]) ** 2).sum(axis=2)
    for number, board in enumerate(canonical_boards(5).cards[rows]):
        chosen = taken.local[number] >= 0
        expected = distances[taken.local[number][chosen]].argmin(axis=1)
        np.testing.assert_array_equal(table.of("river", board)[chosen], expected)


def test_buckets_rise_with_strength(table):
    """Buckets are ordered by their centroids' strength, which blockers and the sample change a little."""
    for street, size in (("turn", 4), ("river", 5)):
        points = strength_points(situation_batch(size, PLAN.boards(street).rows)) / maximum_points(size)
        buckets = table.table(street)
        means = np.bincount(buckets, weights=points) / np.bincount(buckets)
        assert (np.diff(means) > -0.06).all()
        assert np.corrcoef(np.argsort(np.argsort(means)), np.arange(len(means)))[0, 1] > 0.98
        assert means[0] < 0.2
        assert means[-1] > 0.9


def test_percentiles_divide_deals_into_equal_shares_by_strength():
    table = build_buckets(PERCENTILES, threads=2)
    for street, size in (("turn", 4), ("river", 5)):
        boards = PERCENTILES.boards(street)
        taken = situation_batch(size, boards.rows)
        points, buckets = strength_points(taken), table.table(street)
        order = np.argsort(points, kind="stable")
        assert (np.diff(buckets[order].astype(int)) >= 0).all()
        shares = np.bincount(buckets, weights=taken.hands * np.repeat(boards.weights, np.diff(boards.starts)))
        assert len(shares) == table.count(street)
        assert shares.min() > 0
        if street == "turn":
            np.testing.assert_allclose(shares / shares.sum(), 1 / 20, atol=0.01)


# --- the same seed, the same table ------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_do_not_change_the_file(path, folder, threads):
    build_buckets(PLAN, folder / "threads.rgl", threads=threads)
    assert (folder / "threads.rgl").read_bytes() == path.read_bytes()


def test_pytorch_does_not_change_the_file(path, folder, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(building, "check_device", lambda device, plan: "cpu:0")  # to PyTorch, a CPU is a device
    build_buckets(PLAN, folder / "torch.rgl", threads=2)
    assert (folder / "torch.rgl").read_bytes() == path.read_bytes()


@pytest.mark.gpu
def test_a_gpu_does_not_change_the_file(path, folder):
    build_buckets(PLAN, folder / "gpu.rgl", threads=2, device="cuda")
    assert (folder / "gpu.rgl").read_bytes() == path.read_bytes()


def test_another_seed_gives_another_table(table):
    other = build_buckets(BucketPlan(turn=20, board=MONOTONE, sample=2000, seed=4), threads=1)
    assert not np.array_equal(other.table("turn"), table.table("turn"))


@pytest.mark.parametrize("stop_at", [0.05, 0.2, 0.35, 0.6, 0.95])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_build_continues_to_the_same_file(path, tmp_path, stop_at, threads):
    share = 0.0

    def report(progress: BuildProgress) -> None:
        nonlocal share
        share = progress.share

    with pytest.raises(BuildStopped) as stopped:
        build_buckets(PLAN, tmp_path / "t.rgl", threads=threads, report=report, interrupted=lambda: share >= stop_at)
    assert stopped.value.saved == (tmp_path / "t.rgl").exists()
    assert stopped.value.saved or stop_at < 0.1
    if stopped.value.saved:
        with pytest.raises(InvalidFile, match="contains an unfinished table of card buckets, not a table of card"):
            Buckets.load(tmp_path / "t.rgl")
    shares: list[float] = []
    build_buckets(PLAN, tmp_path / "t.rgl", threads=threads, report=lambda progress: shares.append(progress.share))
    assert (tmp_path / "t.rgl").read_bytes() == path.read_bytes()
    assert shares == sorted(shares)
    if stop_at > 0.5:
        assert shares[0] > 0.3  # it did not begin again


def test_an_interrupt_after_the_last_board_changes_nothing(path, tmp_path):
    share = 0.0

    def report(progress: BuildProgress) -> None:
        nonlocal share
        share = progress.share

    build_buckets(PLAN, tmp_path / "t.rgl", threads=1, report=report, interrupted=lambda: share == 1)
    assert share == 1
    assert (tmp_path / "t.rgl").read_bytes() == path.read_bytes()


def test_checkpoints_between_pieces_continue_to_the_same_file(path, tmp_path, monkeypatch):
    """As after SIGKILL: only what a checkpoint holds is left."""
    copies = []

    def keep(file, plan, tables, write=building.write_tables):
        write(file, plan, tables)
        copies.append(Path(file).read_bytes())

    monkeypatch.setattr(building, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(building, "write_tables", keep)
    build_buckets(PLAN, tmp_path / "t.rgl", threads=2)
    assert len(copies) > 5
    for copy in (copies[0], copies[len(copies) // 2], copies[-2]):
        (tmp_path / "left.rgl").write_bytes(copy)
        build_buckets(PLAN, tmp_path / "left.rgl", threads=2)
        assert (tmp_path / "left.rgl").read_bytes() == path.read_bytes()


def test_an_unfinished_file_of_another_plan_is_not_touched(tmp_path):
    with pytest.raises(BuildStopped):
        interrupt_late(tmp_path / "t.rgl")
    before = (tmp_path / "t.rgl").read_bytes()
    with pytest.raises(InvalidFile, match="holds an unfinished table with other settings"):
        build_buckets(BucketPlan(turn=21, board=MONOTONE, sample=2000), tmp_path / "t.rgl")
    assert (tmp_path / "t.rgl").read_bytes() == before
    assert read_unfinished(tmp_path / "t.rgl")[0] == PLAN


def interrupt_late(path: Path) -> None:
    share = 0.0

    def report(progress: BuildProgress) -> None:
        nonlocal share
        share = progress.share

    build_buckets(PLAN, path, threads=1, report=report, interrupted=lambda: share > 0.8)


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"flop": 0}, "flop: 0 must be from 1 to 65,535 buckets"),
        ({"river": 65_536}, "river: 65536 must be from 1 to 65,535 buckets"),
        ({"turn": 2.5}, "turn: 2.5 must be from 1 to 65,535 buckets"),
        ({"flop": 5, "method": "ward"}, "method: 'ward' is not one of kmeans, percentile"),
        ({"flop": 5, "sample": 10}, "sample: 10 must be from 1,000 to 10,000,000 deals"),
        ({"flop": 5, "seed": -1}, "seed: -1 must be from 0"),
        ({"flop": 5, "board": (1, 2)}, "board: '2d 2h' must be a flop"),
        ({}, "no street has buckets"),
    ],
)
def test_impossible_plans_are_refused(fields, reason):
    with pytest.raises(RegretlessError, match=reason):
        BucketPlan(**fields)


@pytest.mark.parametrize("method", ["kmeans", "percentile"])
def test_more_buckets_than_different_hands_are_refused(method):
    plan = BucketPlan(flop=2000, board=FLOP, sample=1000, method=method)
    with pytest.raises(InvalidOption, match=r"flop: 2000 must be at most \d+: the sample has no more different"):
        build_buckets(plan, threads=1)


def test_a_table_that_does_not_fit_is_refused_before_it_is_built():
    plan = BucketPlan(flop=200, turn=200, river=1000)
    found = estimate_buckets(plan, threads=2)
    assert found.situations == {"flop": 1_286_792, "turn": 13_960_050, "river": 123_156_254}
    assert found.file_bytes == 1_286_792 + 13_960_050 + 2 * 123_156_254
    with pytest.raises(WouldNotFit, match=r"the table needs \d+ MiB of memory, but only 95 MiB are free"):
        check_fits(plan, threads=2, available=10**8)


def test_boards_and_streets_without_buckets_are_refused(table):
    with pytest.raises(InvalidOption, match="street: 'flop' has no buckets; the table has preflop, turn, river"):
        table.of("flop", MONOTONE)
    with pytest.raises(InvalidOption, match="boards: 'Qs Jh 2h 3c' does not contain the table's flop, As 7s 6s"):
        table.of("turn", parse_board("Qs Jh 2h 3c"))
    with pytest.raises(InvalidOption, match="board: 'As 7s 6s 5s' is not a board of the river"):
        table.of("river", parse_board("As 7s 6s 5s"))
    with pytest.raises(InvalidOption, match="street: 'showdown' is not one of preflop, flop, turn, river"):
        table.of("showdown", MONOTONE)
    with pytest.raises(InvalidOption, match=r"boards: .*shape \(1, 2\)"):
        table.lookup([[1, 2]])
    with pytest.raises(InvalidOption, match="repeats a card"):
        table.lookup([[1, 2, 3, 3]])


def rewritten(path: Path, changed: Path, header: dict | None = None, arrays: dict | None = None) -> Path:
    """A copy of a file with other contents and valid checksums."""
    file = open_container(path)
    kept = {key: value for key, value in file.header.items() if key not in ("format", "kind")}
    contents = {name: file.array(name) for name in file.names}
    write_container(changed, file.kind, kept | (header or {}), contents | (arrays or {}))
    return changed


def test_damaged_files_are_refused(path, tmp_path):
    content = bytearray(path.read_bytes())
    content[-5] ^= 1  # in the table of the river
    (tmp_path / "flipped.rgl").write_bytes(content)
    flipped = Buckets.load(tmp_path / "flipped.rgl")
    with pytest.raises(InvalidFile, match="is damaged: river does not match its checksum"):
        flipped.table("river")
    (tmp_path / "short.rgl").write_bytes(content[:-100])
    with pytest.raises(InvalidFile, match="is truncated"):
        Buckets.load(tmp_path / "short.rgl")


def test_files_with_wrong_counts_are_refused(path, tmp_path):
    header = open_container(path).header
    streets = {street: dict(said) for street, said in header["streets"].items()}
    streets["turn"]["situations"] = 5
    with pytest.raises(InvalidFile, match=r"it has 5 situations on the turn, but there are [\d,]+$"):
        Buckets.load(rewritten(path, tmp_path / "a.rgl", {"streets": streets}))
    with pytest.raises(InvalidFile, match="turn has the wrong shape or type"):
        Buckets.load(rewritten(path, tmp_path / "b.rgl", arrays={"turn": np.zeros(5, dtype=np.uint8)}))
    streets = {street: dict(said) for street, said in header["streets"].items()}
    streets["turn"]["buckets"] = 19
    with pytest.raises(InvalidFile, match=r"turn.division has the wrong shape or type"):
        Buckets.load(rewritten(path, tmp_path / "c.rgl", {"streets": streets}))
    too_high = open_container(path).array("turn").copy()
    too_high[7] = 20
    with pytest.raises(InvalidFile, match="it has a bucket 20 of 20 on the turn"):
        Buckets.load(rewritten(path, tmp_path / "d.rgl", arrays={"turn": too_high})).of("turn", [*MONOTONE, 0])


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"version": 2}, "was written by another version"),
        ({"streets": {}}, "no street has buckets"),
        ({"streets": {"turn": 5}}, "streets.turn is not a table"),
        ({"board": "As"}, "must be a flop"),
        ({"method": "guess"}, "method is not one of kmeans, percentile"),
        ({"sample": 3}, "sample"),
    ],
)
def test_files_with_impossible_headers_are_refused(path, tmp_path, header, reason):
    with pytest.raises(InvalidFile, match=reason):
        Buckets.load(rewritten(path, tmp_path / "a.rgl", header))


OTHER = [None, True, 0, 1, -1, 2**63, 10**30, 1e308, 0.5, "", "x" * 5000, "As Ks", [], [[]], {}, {"turn": None}]


def test_crafted_headers_are_read_or_refused(path, tmp_path, monkeypatch):
    """Valid checksums, any value in any place: a file is loaded or refused in one sentence."""
    header = open_container(path).header
    crafted = [{key: value} for key in header if key not in ("format", "kind") for value in OTHER]
    for street, said in header["streets"].items():
        for key in said:
            crafted += [{"streets": header["streets"] | {street: said | {key: value}}} for value in OTHER]
    file = open_container(path)
    arrays = {name: file.array(name) for name in file.names}
    refused = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    for change in crafted:
        kept = {key: value for key, value in (header | change).items() if key not in ("format", "kind")}
        for kind, read in (("buckets", Buckets.load), ("buckets-checkpoint", read_unfinished)):
            write_container(tmp_path / "a.rgl", kind, kept, arrays)
            try:
                read(tmp_path / "a.rgl")
            except InvalidFile as error:
                refused.append(str(error))
    assert len(refused) > len(crafted)
    assert not any("\n" in sentence for sentence in refused)


def test_other_files_are_refused(tmp_path):
    write_container(tmp_path / "game.rgl", "solution", {}, {})
    with pytest.raises(InvalidFile, match="contains a solved game, not a table of card buckets"):
        Buckets.load(tmp_path / "game.rgl")
    with pytest.raises(InvalidFile, match="does not exist"):
        Buckets.load(tmp_path / "none.rgl")


def test_a_table_is_mapped_not_read(table):
    river = table.table("river")
    assert not river.flags.writeable
    assert not river.flags.owndata


@pytest.mark.slow
def test_every_flop():
    """The whole street: isomorphic hands on random flops, and no bucket empty."""
    table = build_buckets(BucketPlan(flop=200))
    assert len(np.unique(table.table("flop"))) == 200
    random = np.random.default_rng(0)
    for _ in range(200):
        board = random.choice(52, 3, replace=False)
        renaming = random.integers(24)
        renamed = table.of("flop", CARD_MAPS[renaming, board])[hand_maps()[renaming]]
        np.testing.assert_array_equal(renamed, table.of("flop", board))
    aces, seven_deuce = (HAND_CLASS == 0), (HAND_CARDS // 4 == [0, 5]).all(axis=1)
    dry = table.of("flop", parse_board("Kc 9d 4h")).astype(int)
    assert dry[aces & (dry != NO_BUCKET)].min() > dry[seven_deuce & (dry != NO_BUCKET)].max()
