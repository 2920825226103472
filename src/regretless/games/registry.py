"""Games by name: `load("leduc(ranks=6)")`, and the catalogue of games.

Three spellings are accepted:

    kuhn, leduc(ranks=6), leduc(bets=(2,4))    a game of this package; parameters by name, values as in Python
    openspiel:liars_dice(numdice=1)            an OpenSpiel game, in OpenSpiel's own spelling
    path/to/game.efg                           a Gambit file

Parameter values are literals (number, text, True, False, tuple): text from a user is never executed.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from regretless.errors import InvalidOption, InvalidText
from regretless.games.battleship import Battleship
from regretless.games.flop_holdem import FlopHoldem
from regretless.games.game import Game
from regretless.games.goofspiel import Goofspiel
from regretless.games.kuhn import Kuhn
from regretless.games.leduc import Leduc
from regretless.games.liars_dice import LiarsDice

__all__ = ["Entry", "catalogue", "load", "names"]

LONGEST_NAME = 1000  # characters; nobody types more, and the parser should not see more
OPENSPIEL = "openspiel:"
UNREADABLE = "the parameters cannot be read"


@dataclass(frozen=True)
class Entry:
    """A game in the catalogue."""

    name: str
    description: str
    players: str  # "2", "2 to 10"
    parameters: Mapping[str, object]  # name -> default, in the order of the constructor
    rules: type[Game[Any]]


def _entry(name: str, rules: type[Game[Any]], players: str, description: str) -> Entry:
    parameters = {key: parameter.default for key, parameter in inspect.signature(rules).parameters.items()}
    return Entry(name, description, players, MappingProxyType(parameters), rules)


_CATALOGUE = {
    entry.name.replace("-", "_"): entry
    for entry in (
        _entry("kuhn", Kuhn, "2 to 10", "One card each, one bet: poker small enough to solve on paper"),
        _entry("leduc", Leduc, "2", "One private card, one public card, two rounds of betting"),
        _entry("liars_dice", LiarsDice, "2", "Hidden dice and rising claims, until one player calls the other a liar"),
        _entry("goofspiel", Goofspiel, "2", "Secret bids with cards for prizes; only the winner is announced"),
        _entry("battleship", Battleship, "2", "Two hidden fleets on a small board, alternating shots"),
        _entry("flop-holdem", FlopHoldem, "2", "Limit hold'em that ends with the flop, in the public form only"),
    )
}


def catalogue() -> tuple[Entry, ...]:
    """Every game of the package, smallest first.

    >>> [entry.name for entry in catalogue()][:2]
    ['kuhn', 'leduc']
    >>> dict(catalogue()[0].parameters)
    {'players': 2}
    """
    return tuple(_CATALOGUE.values())


def names() -> tuple[str, ...]:
    """The names of `catalogue`."""
    return tuple(entry.name for entry in _CATALOGUE.values())


def load(text: str) -> Game[Any]:
    """The game that `text` names.

    >>> load("leduc(ranks=6, bets=(1, 2))").name
    'leduc(ranks=6,bets=(1,2))'
    >>> load("leduk")
    Traceback (most recent call last):
    regretless.errors.InvalidText: game: 'leduk': not a game of this package; did you mean leduc? (known: ...)
    """
    text = text.strip()
    if text.lower().startswith(OPENSPIEL):
        from regretless.games.openspiel import from_openspiel

        return from_openspiel(text[len(OPENSPIEL) :])
    if text.lower().endswith(".efg"):
        from regretless.games.gambit import read_efg

        return read_efg(text)
    if len(text) > LONGEST_NAME:
        raise InvalidText("game", text, None, f"longer than {LONGEST_NAME} characters")
    match = re.fullmatch(r"([^()]*)(\(.*\))?", text, re.DOTALL)
    if match is None:
        raise InvalidText("game", text, None, "must look like leduc or leduc(ranks=6)")
    entry = _find(match[1], text)
    parameters = _read_parameters(text, match.end(1), entry) if match[2] else {}
    return entry.rules(**parameters)


def _find(name: str, text: str) -> Entry:
    plain = re.sub(r"[\s-]+", "_", name.strip().lower().replace("'", ""))
    if entry := _CATALOGUE.get(plain):
        return entry
    close = difflib.get_close_matches(plain, _CATALOGUE, n=1)
    hint = f"; did you mean {_CATALOGUE[close[0]].name}?" if close else ""
    known = ", ".join(names())
    raise InvalidText(
        "game", text, None, f"not a game of this package{hint} (known: {known}, openspiel:NAME, FILE.efg)"
    )


def _read_parameters(text: str, start: int, entry: Entry) -> dict[str, object]:
    """Parameters from `(ranks=6, bets=(2,4))`, which begins at `start`."""
    example = f"{entry.name}({next(iter(entry.parameters), 'parameter')}=…)"
    values: dict[str, object] = {}
    for position, piece in _pieces(text, start):
        call = _parse_piece(text, position, piece)
        if call.args or call.keywords[0].arg is None:
            raise InvalidText("game", text, position, f"parameters must be given by name, like {example}")
        name = call.keywords[0].arg
        if name not in entry.parameters:
            close = difflib.get_close_matches(name, entry.parameters, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            allowed = ", ".join(entry.parameters)
            raise InvalidText(
                "game", text, position, f"{entry.name} has no parameter {name}; {hint}(its parameters: {allowed})"
            )
        if name in values:
            raise InvalidText("game", text, position, f"{name} is given twice")
        values[name] = _read_value(name, call.keywords[0].value, piece)
    return values


def _pieces(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Each parameter between the parentheses that begin at `start`, with its position from 1.

    >>> list(_pieces("leduc(ranks=6, bets=(1, 2),)", 5))
    [(7, 'ranks=6'), (16, 'bets=(1, 2)')]
    """
    pieces, begin, depth, quote = [], start + 1, 0, ""
    for at in range(start + 1, len(text)):
        character = text[at]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}" and at < len(text) - 1:
            depth -= 1
        if depth < 0:
            raise InvalidText("game", text, at + 1, UNREADABLE)
        if at == len(text) - 1 or (character == "," and depth == 0 and not quote):
            pieces.append((begin, text[begin:at]))
            begin = at + 1
    if not pieces[-1][1].strip():  # nothing between the parentheses, or nothing after the last comma
        pieces.pop()
    for begin, piece in pieces:
        yield begin + 1 + len(piece) - len(piece.lstrip()), piece.strip()


def _parse_piece(text: str, position: int, piece: str) -> ast.Call:
    """One parameter, parsed by Python; versions of Python disagree on error positions, so we compute our own."""
    try:
        call = ast.parse(f"f({piece})", mode="eval").body
    except SyntaxError:
        name, equals, value = piece.partition("=")
        if equals:
            position += len(name) + 1 + len(value) - len(value.lstrip())
        raise InvalidText("game", text, position, UNREADABLE) from None
    except (MemoryError, RecursionError, ValueError):
        raise InvalidText("game", text, None, UNREADABLE) from None
    if not isinstance(call, ast.Call) or len(call.args) + len(call.keywords) != 1:
        raise InvalidText("game", text, position, UNREADABLE)
    return call


def _read_value(option: str, node: ast.expr, piece: str) -> object:
    if isinstance(node, ast.Name):  # a bare word is text, except for true and false
        return {"true": True, "false": False}.get(node.id.lower(), node.id)
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        given = piece.partition("=")[2].strip()  # as typed: unparsing a deep expression would recurse
        raise InvalidOption(option, given, "must be a number, True, False, text or a tuple") from None
    return tuple(value) if isinstance(value, list) else value
