"""What is cut from a tree so that it fits: enough, no more than needed, and what hurts least first."""

from __future__ import annotations

import pytest

from regretless.errors import WouldNotFit
from regretless.holdem import Spot
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.fitting import check_fits, shrink
from regretless.holdem.form import tree_size

WIDE = "22+, A2s+, K9s+, QTs+, JTs, T9s, 98s, 87s, ATo+, KQo"


@pytest.fixture
def large() -> Spot:
    """Every size for everybody, with donk bets and without a cap."""
    bets = {"bet": "33%, 75%, 150%", "raise": "2.5x, a"}
    return Spot(board="Ks 7d 2c", pot=5.5, stack=97.5, oop=WIDE, ip=WIDE, bets=bets, rules={"chip": 0.01})  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [20e9, 4e9, 1e9, 0.3e9])
def test_cuts_make_a_spot_fit_and_each_is_needed(large: Spot, limit: float) -> None:
    shrunk = shrink(large, available=int(limit))
    before, after = (estimate_spot(spot).memory_bytes[32] for spot in (large, shrunk.spot))
    assert shrunk.fits
    assert shrunk.memory_bytes == after <= limit < before
    assert before - sum(cut.saves or 0 for cut in shrunk.cuts) == after
    assert all(cut.saves and cut.saves > 0 for cut in shrunk.cuts)


def test_what_hurts_least_goes_first(large: Spot) -> None:
    assert [cut.text for cut in shrink(large, available=int(200e9)).cuts] == []
    needed = estimate_spot(large).memory_bytes[32]
    (first,) = shrink(large, available=needed - 1).cuts
    assert first.text == "no donk bets"
    small = shrink(large, available=10**6)
    assert not small.fits
    assert small.memory_bytes is not None
    assert {str(size) for size in small.spot.bets.flop.ip.bet} == {"33%"}
    assert {str(size) for size in small.spot.bets.river.ip.bet} == {"75%"}
    assert small.spot.bets.river.max_raises == 0


def test_a_spot_that_fits_stays_as_it_is(large: Spot) -> None:
    shrunk = shrink(large, available=10**15)
    assert (shrunk.spot, shrunk.cuts, shrunk.fits) == (large, (), True)


def test_a_tree_too_large_to_count_is_cut_too(large: Spot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_size, "MAX_NODES", 3_000)
    rules = large.rules.__class__(chip=0.005)  # another table, which no earlier test has built
    shrunk = shrink(Spot(**{**vars(large), "rules": rules}), available=10**9)
    assert shrunk.fits
    assert shrunk.cuts[0].saves is None


def test_a_refusal_names_the_cuts_and_a_spot_with_them_is_solved(large: Spot) -> None:
    with pytest.raises(WouldNotFit, match=r"it fits with no donk bets, .* and no .*, in ") as caught:
        check_fits(large, available=10**9)
    for cut in shrink(large, available=10**9).cuts:
        assert cut.text in str(caught.value)
    with pytest.raises(WouldNotFit, match="start on a later street or with narrower ranges"):
        check_fits(large, available=10**6)
    with pytest.raises(WouldNotFit) as caught:
        check_fits(large, available=10**9, can_shrink=False)
    assert "fits with" not in str(caught.value)


def test_a_cut_names_the_player_if_the_other_keeps_the_size() -> None:
    on_river = {"ip": {"bet": "33%, 75%"}, "oop": {"bet": "33%"}}
    bets = {"bet": "50%", "donk": "", "river": on_river}
    spot = Spot(board="Qs Jh 2d", pot=10, stack=100, oop="22+", ip="22+", bets=bets)  # type: ignore[arg-type]
    shrunk = shrink(spot, available=estimate_spot(spot).memory_bytes[32] - 1)
    assert [cut.text for cut in shrunk.cuts] == ["no bet of 33% on the river by ip"]
    river = shrunk.spot.bets.river
    assert (str(river.ip.bet[0]), len(river.ip.bet), str(river.oop.bet[0])) == ("75%", 1, "33%")


def test_cuts_that_save_nothing_are_not_proposed() -> None:
    bets = {"river": {"bet": "75%, a", "oop": {"donk": "33%"}}}
    spot = Spot(board="Qs Jh 2d 3c 4c", pot=10, stack=100, oop="22+", ip="22+", bets=bets)  # type: ignore[arg-type]
    shrunk = shrink(spot, available=1)
    assert not shrunk.fits
    assert [cut.text for cut in shrunk.cuts] == ["no bet of a on the river"]
