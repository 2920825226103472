"""Tables of buckets: one bucket for isomorphic hands, files that are read or refused with one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tests.holdem.buckets.plans import MONOTONE

from regretless.cards.deck import parse_board
from regretless.cards.hands import HAND_CLASS, blocked_by
from regretless.cards.isomorphism import CARD_MAPS, hand_maps
from regretless.cards.situations import hand_situations
from regretless.errors import InvalidFile, InvalidOption
from regretless.files import open_container, write_container
from regretless.holdem.buckets import NO_BUCKET, BucketPlan, Buckets
from regretless.holdem.buckets.division import Percentiles
from regretless.holdem.buckets.table import read_unfinished


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
