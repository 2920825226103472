"""A spot as TOML, read and written: every field, and which table wins when several set it.

    board = "Qs Jh 2h"            3, 4 or 5 cards
    pot = 180                     chips in the pot, above 0
    stack = 910                   chips behind, the smaller of the two stacks, above 0
    name = "3-bet pot"            optional, shown in output
    big_blind = 10                optional: chips; amounts are then shown in big blinds too
    raiser = "ip"                 optional: who raised last before the flop, oop or ip

    [oop]                         the player out of position, who acts first
    range = "88+, A8s+, KQo:0.5"
    name = "BB"                   optional: shown instead of OOP
    [ip]
    range = "99-22, AJs-A2s"

    tree = "usual"                instead of [bets], above the tables: small, usual or fine (`trees`)
    [bets]                        both players, every street
    bet = "50%"                   where nobody has bet; "" or absent: no bets
    raise = "2.5x"                facing a bet, and facing a raise without `reraise`; "" or absent: no raises
    reraise = "a"                 facing a raise; ["3x", "a"]: the second raise, the third and later; absent: as raise
    max_raises = 3                raises per street by both players, not counting the first bet; absent: no cap
    [bets.oop]                    one player on every street
    [bets.river]                  one street, both players
    donk = "33%"                  out of position, leading into the previous street's bettor; absent: as bet; "": never
    [bets.river.oop]              one street and one player

    [rules]                       the fields of `spot_fields.Rules`
    rake = 0.05

    [lines]
    only = ["bet 94, raise 300"]  instead of [bets]: the bets and raises that these lines name, and no others
    add = ["bet 94, raise 300"]   besides the sizes of [bets]
    remove = ["check, bet 94"]

    [[locks]]                     a locked decision; any number of these
    node = "check, bet 94"        line of play; without cards it applies on every runout
    strategy = { fold = 0.5, call = 0.5 }
    hands = "KK, QQ"              only these hands; absent: all

    [[locks]]                     decisions locked to another solution
    source = "other.rgl"          its file, relative to the folder of this one
    player = "oop"                every decision of a player; or `node`, with `hands` to lock only some, and
                                  frequencies = { bets = 0.6 } to move the range to other frequencies

    A lock may also be a text, locks = ["check, bet 94: KK, QQ = fold 50%, call 50%"]: see `locks`.

For each of bet, raise, reraise, donk and max_raises, the most specific table that sets it wins: street and player, then
street, then player, then all. Any other key is refused, and the error suggests the one that was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, cast

from regretless.cards.deck import SUITS, board_text, parse_board
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, RegretlessError
from regretless.holdem.spots.bet_tables import HOMES, quoted, read_bets, read_betting, read_rules, write_betting
from regretless.holdem.spots.lines import parse_line
from regretless.holdem.spots.locks import AnyLock, Lock, LockFrom, parse_lock, parse_strategy
from regretless.holdem.spots.sizes import number_text
from regretless.holdem.spots.spot_fields import PLAYERS, Bets, Rules, SpotFields
from regretless.holdem.spots.toml_fields import (
    FileKind,
    check_at_most,
    number_in,
    player_in,
    table_in,
    text_in,
    texts_in,
)
from regretless.holdem.spots.trees import preset_tree

__all__ = ["FIELDS", "SPOT_FILE", "is_game_table", "read_keywords", "read_mapping", "write_spot"]

MAX_LOCKS = 10_000
MAX_POSITION_LENGTH = 20  # characters

TOP_FIELDS = ("board", "pot", "stack", "tree", "name", "big_blind", "raiser")
FIELDS = (*TOP_FIELDS, "oop", "ip", *HOMES, "locks")
SPOT_FILE = FileKind("a spot", {"": TOP_FIELDS, **HOMES})
GAME_FIELDS = {"small_blind", "big_blind", "preflop"}  # of a game from the deal; a spot may name its big blind too


def read_mapping(table: Mapping[str, object], path: str | Path | None = None, *, warn: bool = True) -> SpotFields:
    """The fields of mappings nested like the TOML.

    `path`, the file they were read from, appears in errors and warnings and gives the default name; relative sources of
    locks start at its folder. `warn`: whether to warn about terms of a range that overlap.

    >>> read_mapping({"board": "Qs Jh 2h", "stak": 910})
    Traceback (most recent call last):
    regretless.errors.RegretlessError: stak: is not a field of a spot; did you mean stack?
    """
    source = "" if path is None else str(path)
    subject = f"{source}: is" if source else "this is"
    if is_game_table(table):
        raise RegretlessError(
            f"{subject} a game from the deal, not a spot: solve one such game at a time, with buckets"
        )
    if "board" not in table and "flops" in table:
        raise RegretlessError(f"{subject} a study, which has many flops: regretless study estimates and solves it")
    SPOT_FILE.check_known(table, FIELDS, "")
    for required in ("board", "pot", "stack", "oop", "ip", "bets"):
        if required not in table and not (required == "bets" and ("tree" in table or _has_only(table))):
            raise SPOT_FILE.missing(required)
    pot, stack = number_in(table["pot"], "pot"), number_in(table["stack"], "stack")
    (oop, oop_name), (ip, ip_name) = (_player(table[player], player, source, warn=warn) for player in ("oop", "ip"))
    bets, rules = table.get("bets", {}), table_in(table.get("rules", {}), "rules")
    raiser = None if table.get("raiser") is None else player_in(table["raiser"], "raiser")
    if "tree" in table:
        if "bets" in table:
            raise InvalidOption("tree", table["tree"], "is given beside [bets]: give one of them")
        tree = preset_tree(text_in(table["tree"], "tree"), pot=pot, stack=stack, raiser=raiser)
        bets, rules = tree["bets"], tree["rules"] | rules
    return SpotFields(
        board=parse_board(text_in(table["board"], "board")),
        pot=pot,
        stack=stack,
        oop=oop,
        ip=ip,
        **read_betting({**table, "bets": bets, "rules": rules}, SPOT_FILE),
        locks=tuple(_locks(table.get("locks", []), Path(source).parent if source else None)),
        name=text_in(table.get("name", Path(source).stem), "name"),
        positions=(ip_name, oop_name),
        raiser=raiser,
        big_blind=number_in(table["big_blind"], "big_blind") if "big_blind" in table else None,
    )


def _has_only(table: Mapping[str, object]) -> bool:
    """Whether a file gives its tree by its lines, not by sizes."""
    lines = table.get("lines")
    return isinstance(lines, Mapping) and "only" in lines


def is_game_table(table: Mapping[str, object]) -> bool:
    """Whether a file with these tables describes a game from the deal rather than a spot."""
    if "board" in table:
        return False
    fields = GAME_FIELDS & table.keys()
    is_spot_with_big_blind = fields == {"big_blind"} and "pot" in table
    return bool(fields) and not is_spot_with_big_blind


def read_keywords(fields: Mapping[str, object]) -> dict[str, Any]:
    """The fields that may be given as in a file: cards and ranges as text, bets and rules as mappings."""
    values: dict[str, Any] = {"board": _board(fields["board"])}
    positions = dict(zip(PLAYERS, cast("tuple[str, str]", fields["positions"]), strict=True))
    for player in PLAYERS:
        if isinstance(value := fields[player], str):
            values[player] = _player({"range": value}, player)[0]
        elif not isinstance(value, Range):
            table = _mapping(value, player, "text such as 'QQ+, AKs'")
            values[player], name = _player(table, player)
            positions[player] = name or positions[player]
    values["positions"] = (positions["ip"], positions["oop"])
    if not isinstance(bets := fields["bets"], Bets):
        values["bets"] = read_bets(_mapping(bets, "bets", "a dictionary such as {'bet': '50%'}"), SPOT_FILE)
    if not isinstance(rules := fields["rules"], Rules):
        values["rules"] = read_rules(_mapping(rules, "rules", "a dictionary such as {'add_allin': 1.5}"), SPOT_FILE)
    return values


def _mapping(value: object, field: str, example: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidOption(field, value, f"must be {example}")
    return value


def _board(value: object) -> tuple[int, ...]:
    if isinstance(value, str):
        return parse_board(value)
    if isinstance(value, Sequence) and all(isinstance(card, Integral) and 0 <= int(card) < 52 for card in value):
        return tuple(map(int, value))
    raise InvalidOption("board", value, "must be cards, such as 'Kh Qs Js', or their numbers from 0 to 51")


def _player(value: object, player: str, source: str = "", *, warn: bool = True) -> tuple[Range, str]:
    """A player's range and position."""
    table = table_in(value, player)
    SPOT_FILE.check_known(table, ("range", "name"), player)
    if "range" not in table:
        raise SPOT_FILE.missing(f"{player}.range")
    name = text_in(table.get("name", ""), f"{player}.name")
    if len(name) > MAX_POSITION_LENGTH or not name.isprintable():
        raise InvalidOption(f"{player}.name", name, f"must have at most {MAX_POSITION_LENGTH} printable characters")
    field = f"{player}.range"
    return Range.parse(text_in(table["range"], field), field, source, warn=warn), name


def _locks(value: object, folder: Path | None) -> Iterator[AnyLock]:
    if not isinstance(value, list | tuple):
        raise InvalidOption("locks", value, "must be tables, [[locks]], or a list of texts")
    check_at_most(value, MAX_LOCKS, "locks")
    for number, item in enumerate(value):
        field = f"locks[{number}]"
        if isinstance(item, str):
            yield parse_lock(item, field)
            continue
        table = table_in(item, field)
        yield _lock_from(table, field, folder) if "source" in table else _lock_at_node(table, field)


def _lock_at_node(table: Mapping[str, object], field: str) -> Lock:
    """A lock with a strategy of its own."""
    SPOT_FILE.check_known(table, ("node", "hands", "strategy"), field)
    for required in ("node", "strategy"):
        if required not in table:
            raise SPOT_FILE.missing(f"{field}.{required}")
    node, hands = _node_and_hands(table, field)
    strategy = table["strategy"]
    if isinstance(strategy, str):
        shares = parse_strategy(strategy, f"{field}.strategy")
    else:
        shares = _numbers(strategy, f"{field}.strategy")
    return Lock(node or "", shares, hands)


def _numbers(value: object, field: str) -> dict[str, float]:
    """A table of numbers."""
    return {name: number_in(number, field) for name, number in table_in(value, field).items()}


def _lock_from(table: Mapping[str, object], field: str, folder: Path | None) -> LockFrom:
    """A lock from another solution; a relative path starts at the folder of the spot file."""
    SPOT_FILE.check_known(table, ("source", "player", "node", "hands", "frequencies", "suits"), field)
    source = text_in(table["source"], f"{field}.source")
    node, hands = _node_and_hands(table, field)
    player = player_in(table["player"], f"{field}.player") if "player" in table else None
    if (player is None) == (node is None):
        raise InvalidOption(f"{field}.source", source, "needs either player or node beside it")
    if player is not None and hands:
        raise InvalidOption(f"{field}.hands", hands, "selects hands at a node, but this lock is for a player")
    frequencies = _numbers(table.get("frequencies", {}), f"{field}.frequencies")
    if player is not None and frequencies:
        raise InvalidOption(f"{field}.frequencies", frequencies, "are those of a node, but this lock is for a player")
    suits = tuple(texts_in(table.get("suits", []), f"{field}.suits"))
    for renaming in suits:
        if sorted(renaming) != sorted(SUITS):
            raise InvalidOption(f"{field}.suits", renaming, f"is not a permutation of the suits {SUITS}")
    path = source if folder is None or Path(source).is_absolute() else str(folder / source)
    return LockFrom(path, player=player, node=node, hands=hands, frequencies=frequencies, suits=suits)


def _node_and_hands(table: Mapping[str, object], field: str) -> tuple[str | None, str]:
    node = text_in(table["node"], f"{field}.node") if "node" in table else None
    hands = text_in(table.get("hands", ""), f"{field}.hands")
    parse_line(node or "", f"{field}.node")
    Range.parse(hands, f"{field}.hands")
    return node, hands


def write_spot(spot: SpotFields) -> str:
    """TOML that reads back to the same spot."""
    lines = [
        f'board = "{board_text(spot.board)}"',
        f"pot = {number_text(spot.pot)}",
        f"stack = {number_text(spot.stack)}",
    ]
    if spot.name:
        lines.append(f"name = {quoted(spot.name)}")
    if spot.big_blind is not None:
        lines.append(f"big_blind = {number_text(spot.big_blind)}")
    if spot.raiser is not None:
        lines.append(f'raiser = "{spot.raiser}"')
    for player in ("oop", "ip"):
        hands, position = spot.range_of(player), spot.positions[PLAYERS.index(player)]
        lines += ["", f"[{player}]", f"range = {quoted(hands.typed or str(hands))}"]
        if position:
            lines.append(f"name = {quoted(position)}")
    lines += write_betting(spot.bets, spot.rules, spot.lines)
    for lock in spot.locks:
        lines += ["", "[[locks]]", *_write_lock(lock)]
    return "\n".join(lines) + "\n"


def _write_lock(lock: AnyLock) -> list[str]:
    """The fields of a lock, one per line."""
    lines = [] if lock.node is None else [f"node = {quoted(lock.node)}"]
    if isinstance(lock, LockFrom):
        lines.append(f"source = {quoted(lock.source)}")
        if lock.player is not None:
            lines.append(f"player = {quoted(lock.player)}")
        if lock.frequencies:
            lines.append(f"frequencies = {{ {_shares(lock.frequencies)} }}")
        if lock.suits:
            lines.append(f"suits = [{', '.join(map(quoted, lock.suits))}]")
    else:
        lines.append(f"strategy = {{ {_shares(lock.strategy)} }}")
    if lock.hands:
        lines.append(f"hands = {quoted(lock.hands)}")
    return lines


def _shares(mix: Mapping[str, float]) -> str:
    return ", ".join(f"{quoted(name)} = {number_text(share)}" for name, share in mix.items())
