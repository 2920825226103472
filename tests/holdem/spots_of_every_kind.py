"""Spots of three streets: rake, unequal ranges, monotone, paired and rainbow boards, ranges that block each other."""

from __future__ import annotations

from typing import Any

from tests.holdem.reference_spots import DATA

from regretless.holdem.spots.spot import Spot


def spot(board: str, oop: str, ip: str, **rest: Any) -> Spot:
    given = {"pot": 100, "stack": 250, "bets": {"bet": "75%", "raise": "a"}} | rest
    return Spot.from_mapping({"board": board, "oop": {"range": oop}, "ip": {"range": ip}, **given})


ALL_IN = {"stack": 100, "bets": {"bet": "a"}}
RAKE = {"rules": {"rake": 0.05, "rake_cap": 3}}
SPOTS = {
    "river": Spot.read(DATA / "river_narrow.toml"),
    "river, rake": Spot.read(DATA / "river_rake.toml"),
    "river, all hands": Spot.read(DATA / "river_wide.toml"),
    "river, monotone": spot("Kh 8h 3h 2h 9h", "AK, QQ-22, A5s", "JJ-44, A4s, T9s:0.3", **RAKE),
    "river, nearly all blocked": spot("9d Qs Qd As Ad", "Ah4d", "AhJs, AhKh, 7c5c:0.0001"),
    "turn": Spot.read(DATA / "turn_example.toml"),
    "turn, paired": Spot.read(DATA / "turn_paired_donk.toml"),
    "turn, three of a kind": spot("7c 7s 4d 7h", "JTs-J3s, AKo", "QQ, A9:0.2, JTo", **RAKE),
    "turn, unequal ranges": spot("Kh 8d 3c 2h", "AA", "22+, A2s+, K9s+, QTs+, JTs, ATo+, KJo+"),
    "flop, monotone": spot("Kh 8h 3h", "QQ, A5s, KJ", "JJ, A4s:0.5, T9s", **ALL_IN),
    "flop, paired": spot("8s 8h 3h", "AK, 99", "QQ, 76s, A8s", **ALL_IN, **RAKE),
    "flop, rainbow": spot("Qs Jh 2d", "AKs, 22", "AA, KQs:0.5, T9s", **ALL_IN),
}
LARGE = Spot.read(DATA / "flop_3bet.toml")
