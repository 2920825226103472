"""Games by name: `load("leduc(ranks=6)")`, and the catalogue of games.

Three spellings are accepted:

    kuhn, leduc(ranks=6), leduc(bets=(2,4))    a game of this package; parameters by name, values as in Python
    openspiel:liars_dice(numdice=1)            an OpenSpiel game, in OpenSpiel's own spelling
    path/to/game.efg                           a Gambit file

Parameter values are literals (number, text, True, False, tuple): text from a user is never executed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from regretless.errors import InvalidOption, InvalidText
from regretless.games.battleship import Battleship
from regretless.games.flop_holdem import FlopHoldem
from regretless.games.game import AnyGame, Game
from regretless.games.goofspiel import Goofspiel
from regretless.games.kuhn import Kuhn
from regretless.games.leduc import Leduc
from regretless.games.liars_dice import LiarsDice
from regretless.games.limit_holdem import LimitHoldem
from regretless.games.push_fold import PushFold
from regretless.spelling import did_you_mean, name_in, parameters_in

__all__ = ["GameEntry", "as_game", "catalogue", "is_public_only", "load", "names"]

OPENSPIEL = "openspiel:"
MAX_REPR_LENGTH = 60  # characters of an object in an error; beyond, its class is named


@dataclass(frozen=True)
class GameEntry:
    """A game in the catalogue."""

    name: str
    description: str
    players: str  # "2", "2 to 10"
    parameters: Mapping[str, object]  # name -> default, in the order of the constructor
    rules: type[AnyGame]


def _entry(name: str, rules: type[AnyGame], players: str, description: str) -> GameEntry:
    parameters = {key: parameter.default for key, parameter in inspect.signature(rules).parameters.items()}
    return GameEntry(name, description, players, MappingProxyType(parameters), rules)


_CATALOGUE = {
    entry.name.replace("-", "_"): entry
    for entry in (
        _entry("kuhn", Kuhn, "2 to 10", "One card each, one bet: poker small enough to solve on paper"),
        _entry("leduc", Leduc, "2", "One private card, one public card, two rounds of betting"),
        _entry("liars_dice", LiarsDice, "2", "Hidden dice and rising claims, until one player calls the other a liar"),
        _entry("goofspiel", Goofspiel, "2", "Secret bids with cards for prizes; only the winner is announced"),
        _entry("battleship", Battleship, "2", "Two hidden fleets on a small board, alternating shots"),
        _entry("push-fold", PushFold, "2", "Heads-up hold'em with short stacks: all-in or fold; in big blinds"),
        _entry("flop-holdem", FlopHoldem, "2", "Limit hold'em that ends with the flop, in the public form only"),
        _entry("limit-holdem", LimitHoldem, "2", "Heads-up limit hold'em, for networks trained from Python"),
    )
}


def catalogue() -> tuple[GameEntry, ...]:
    """Every game of the package that can be solved by name, smallest first."""
    return tuple(entry for entry in _CATALOGUE.values() if entry.rules.solvable)


def names() -> tuple[str, ...]:
    """The names of `catalogue`."""
    return tuple(entry.name for entry in catalogue())


def load(text: str) -> AnyGame:
    """The game that `text` names.

    >>> load("leduc(ranks=6, bets=(1, 2))").name
    'leduc(ranks=6,bets=(1,2))'
    >>> load("leduk")
    Traceback (most recent call last):
    regretless.errors.InvalidText: game: 'leduk': not a game of this package; did you mean leduc? (known: ...)
    """
    if not isinstance(text, str):
        raise InvalidOption("game", text, "is not the name of a game")
    text = text.strip()
    if text.lower().startswith(OPENSPIEL):
        from regretless.games.openspiel import from_openspiel

        return from_openspiel(text[len(OPENSPIEL) :])
    if text.lower().endswith(".efg"):
        from regretless.games.gambit import read_efg

        return read_efg(text)
    name = name_in("game", text, "leduc or leduc(ranks=6)")
    entry = _find(name, text)
    return entry.rules(**parameters_in("game", text, len(name), entry.name, entry.parameters))


def as_game(game: object) -> AnyGame:
    """Rules as they are, those of the game that a text names, or those of an OpenSpiel game.

    >>> as_game("leduc(ranks=4)").name
    'leduc(ranks=4)'
    >>> as_game(42)
    Traceback (most recent call last):
    regretless.errors.InvalidOption: game: 42 is neither a game, the name of one, nor a game of OpenSpiel
    """
    if isinstance(game, Game):
        return game
    if isinstance(game, str):
        return load(game)
    if isinstance(game, type) and issubclass(game, Game):
        raise InvalidOption("game", game.__name__, f"is a class, not a game: pass an object, {game.__name__}(…)")
    if any(base.__module__.partition(".")[0] == "pyspiel" for base in type(game).__mro__):
        from regretless.games.openspiel import from_openspiel

        return from_openspiel(game)
    value = game if len(repr(game)) <= MAX_REPR_LENGTH else type(game).__name__
    raise InvalidOption("game", value, "is neither a game, the name of one, nor a game of OpenSpiel")


def is_public_only(text: str) -> bool:
    """Whether a text names a game that only has a public form.

    >>> is_public_only("flop-holdem"), is_public_only("leduc(ranks=6)")
    (True, False)
    """
    entry = _CATALOGUE.get(_plain(text.partition("(")[0]))
    return entry is not None and entry.rules.public_only


def _plain(name: str) -> str:
    """A name however it is spelled: Liar's Dice, liars-dice."""
    return re.sub(r"[\s-]+", "_", name.strip().lower().replace("'", ""))


def _find(name: str, text: str) -> GameEntry:
    plain = _plain(name)
    if entry := _CATALOGUE.get(plain):
        return entry
    hint, known = did_you_mean(plain, names()), ", ".join(names())
    raise InvalidText(
        "game", text, None, f"not a game of this package{hint} (known: {known}, openspiel:NAME, FILE.efg)"
    )
