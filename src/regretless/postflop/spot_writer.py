"""Spot -> TOML, with no table finer than it has to be."""

from __future__ import annotations

import json
from dataclasses import asdict

from regretless.cards.deck import board_text
from regretless.postflop.sizes import number_text, sizes_text
from regretless.postflop.spot import STREETS, Bets, Lines, PlayerSizes, Rules, Spot

__all__ = ["write_spot"]


def write_spot(spot: Spot) -> str:
    """TOML that reads back to the same spot.

    >>> spot = Spot.from_mapping(
    ...     {
    ...         "board": "Kh Qs Js 2c 3d",
    ...         "pot": 100,
    ...         "stack": 200,
    ...         "oop": {"range": "AKs,AKo"},
    ...         "ip": {"range": "QQ"},
    ...         "bets": {"bet": "50%,a", "river": {"donk": "33%"}},
    ...         "rules": {"merge": 0},
    ...     }
    ... )
    >>> print(write_spot(spot))
    board = "Kh Qs Js 2c 3d"
    pot = 100
    stack = 200
    <BLANKLINE>
    [oop]
    range = "AK"
    <BLANKLINE>
    [ip]
    range = "QQ"
    <BLANKLINE>
    [bets]
    bet = "50%, a"
    raise = ""
    <BLANKLINE>
    [bets.river]
    donk = "33%"
    <BLANKLINE>
    [rules]
    merge = 0
    <BLANKLINE>
    """
    lines = [
        f'board = "{board_text(spot.board)}"',
        f"pot = {number_text(spot.pot)}",
        f"stack = {number_text(spot.stack)}",
    ]
    if spot.name:
        lines.append(f"name = {_quoted(spot.name)}")
    lines += ["", "[oop]", f'range = "{spot.oop}"', "", "[ip]", f'range = "{spot.ip}"']
    lines += _bets(spot.bets)
    lines += _rules(spot.rules)
    lines += _lines(spot.lines)
    for lock in spot.locks:
        shares = ", ".join(f"{_quoted(name)} = {number_text(share)}" for name, share in lock.strategy.items())
        lines += ["", "[[locks]]", f"node = {_quoted(lock.node)}", f"strategy = {{ {shares} }}"]
        lines += [f"hands = {_quoted(lock.hands)}"] if lock.hands else []
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a basic string of TOML escapes as JSON does


def _bets(bets: Bets) -> list[str]:
    players = {(street, player): bets.of(street, player) for street in STREETS for player in ("oop", "ip")}
    common = {(sizes.bet, sizes.raise_) for sizes in players.values()}
    lines = []
    if len(common) == 1:
        lines += ["", "[bets]", *_sizes(bets.flop.oop)]
    for street in STREETS:
        oop, ip = getattr(bets, street).oop, getattr(bets, street).ip
        donk = [] if oop.donk is None else [f'donk = "{sizes_text(oop.donk)}"']
        if len(common) == 1:
            lines += ["", f"[bets.{street}]", *donk] if donk else []
        elif (oop.bet, oop.raise_) == (ip.bet, ip.raise_):
            lines += ["", f"[bets.{street}]", *_sizes(oop), *donk]
        else:
            lines += ["", f"[bets.{street}.oop]", *_sizes(oop), *donk, "", f"[bets.{street}.ip]", *_sizes(ip)]
    return lines


def _sizes(sizes: PlayerSizes) -> list[str]:
    return [f'bet = "{sizes_text(sizes.bet)}"', f'raise = "{sizes_text(sizes.raise_)}"']


def _rules(rules: Rules) -> list[str]:
    defaults = asdict(Rules())
    changed = [f"{key} = {number_text(value)}" for key, value in asdict(rules).items() if value != defaults[key]]
    return ["", "[rules]", *changed] if changed else []


def _lines(lines: Lines) -> list[str]:
    given = [
        f"{key} = [{', '.join(map(_quoted, texts))}]"
        for key, texts in (("add", lines.add), ("remove", lines.remove))
        if texts
    ]
    return ["", "[lines]", *given] if given else []
