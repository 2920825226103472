"""From the fields of a spot to TOML, with as few specific tables as possible; and the tables that games share."""

from __future__ import annotations

import json
from dataclasses import asdict

from regretless.cards.deck import board_text
from regretless.holdem.spots.locks import AnyLock, LockFrom
from regretless.holdem.spots.question import STREETS, Bets, Lines, PlayerSizes, Question, Rules, StreetSizes
from regretless.holdem.spots.sizes import number_text, sizes_text

__all__ = ["quoted", "write_bets", "write_lines", "write_rules", "write_spot"]


def write_spot(spot: Question) -> str:
    """TOML that reads back to the same spot."""
    lines = [
        f'board = "{board_text(spot.board)}"',
        f"pot = {number_text(spot.pot)}",
        f"stack = {number_text(spot.stack)}",
    ]
    if spot.name:
        lines.append(f"name = {quoted(spot.name)}")
    lines += ["", "[oop]", f'range = "{spot.oop}"', "", "[ip]", f'range = "{spot.ip}"']
    lines += write_bets(spot.bets)
    lines += write_rules(spot.rules)
    lines += write_lines(spot.lines)
    for lock in spot.locks:
        lines += ["", "[[locks]]", *_lock(lock)]
    return "\n".join(lines) + "\n"


def _lock(lock: AnyLock) -> list[str]:
    lines = [] if lock.node is None else [f"node = {quoted(lock.node)}"]
    if isinstance(lock, LockFrom):
        lines += [f"source = {quoted(lock.source)}"]
        lines += [] if lock.player is None else [f"player = {quoted(lock.player)}"]
        lines += [f"suits = [{', '.join(map(quoted, lock.suits))}]"] if lock.suits else []
    else:
        shares = ", ".join(f"{quoted(name)} = {number_text(share)}" for name, share in lock.strategy.items())
        lines += [f"strategy = {{ {shares} }}"]
    return [*lines, f"hands = {quoted(lock.hands)}"] if lock.hands else lines


def quoted(text: str) -> str:
    """A text as TOML."""
    return json.dumps(text, ensure_ascii=False)  # basic strings in TOML use the same escapes as JSON


def write_bets(bets: Bets) -> list[str]:
    """The tables of bets: sizes that apply everywhere in [bets], others in the table of their street."""
    sizes = {(street, player): _sizes(bets.of(street, player)) for street in STREETS for player in ("oop", "ip")}
    alike = all(each == sizes["flop", "oop"] for each in sizes.values())
    one_cap = len({bets.of_street(street).max_raises for street in STREETS}) == 1
    lines = _table("[bets]", (sizes["flop", "oop"] if alike else []) + (_cap(bets.flop) if one_cap else []))
    for street in STREETS:
        here = bets.of_street(street)
        donk = [] if here.oop.donk is None else [f'donk = "{sizes_text(here.oop.donk)}"']
        cap = [] if one_cap else _cap(here)
        oop, ip = sizes[street, "oop"], sizes[street, "ip"]
        if alike or oop == ip:
            lines += _table(f"[bets.{street}]", ([] if alike else oop) + cap + donk)
        else:
            lines += _table(f"[bets.{street}]", cap)
            lines += _table(f"[bets.{street}.oop]", oop + donk) + _table(f"[bets.{street}.ip]", ip)
    return lines


def _table(name: str, lines: list[str]) -> list[str]:
    return ["", name, *lines] if lines else []


def _sizes(sizes: PlayerSizes) -> list[str]:
    lines = [f'bet = "{sizes_text(sizes.bet)}"', f'raise = "{sizes_text(sizes.raise_)}"']
    if sizes.reraise:
        texts = [f'"{sizes_text(each)}"' for each in sizes.reraise]
        lines.append(f"reraise = {texts[0] if len(texts) == 1 else '[' + ', '.join(texts) + ']'}")
    return lines


def _cap(street: StreetSizes) -> list[str]:
    return [] if street.max_raises is None else [f"max_raises = {street.max_raises}"]


def write_rules(rules: Rules, **others: float) -> list[str]:
    """The table of rules that differ from the defaults; `others` replace those of `Rules`."""
    defaults = asdict(Rules()) | others
    changed = [f"{key} = {number_text(value)}" for key, value in asdict(rules).items() if value != defaults[key]]
    return ["", "[rules]", *changed] if changed else []


def write_lines(lines: Lines) -> list[str]:
    """The table of lines added or removed by hand."""
    given = [
        f"{key} = [{', '.join(map(quoted, texts))}]"
        for key, texts in (("add", lines.add), ("remove", lines.remove))
        if texts
    ]
    return ["", "[lines]", *given] if given else []
