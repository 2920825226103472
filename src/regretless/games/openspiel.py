"""Adapter for OpenSpiel games, with conversion of strategies in both directions.

A state wraps OpenSpiel's own state and moves with its `child`; only texts are translated:

    information set    the player's number, a colon, and OpenSpiel's information state string
    action             OpenSpiel's `action_to_string`, with the action's number where two are the same

OpenSpiel's own transformation makes simultaneous-move games turn-based. Perfect recall can only be checked by walking
the whole game, so compiling it does.

Lanctot et al.: OpenSpiel: A Framework for Reinforcement Learning in Games. arXiv 1908.09453, 2019.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from regretless.errors import InvalidGame, InvalidText, MissingExtra
from regretless.games.game import CHANCE, Action, Game
from regretless.spelling import did_you_mean

__all__ = [
    "LibraryGame", "OpenSpielGame", "OpenSpielState", "from_openspiel", "from_tabular_policy", "to_tabular_policy",
]  # fmt: skip

MAX_NAME_LENGTH = 1000  # characters
MAX_DEPTH = 10  # nesting of games as parameters of games
_READS_A_FILE = re.compile(r"(\w*(?:file|filename|path|folder|root|dir|directory))\s*=", re.IGNORECASE)

_LegalActions = tuple[tuple[Action, ...], dict[Action, int], list[int]]

TERMINAL = -4  # returned by OpenSpiel's `current_player` where the game is over


def _library() -> Any:
    try:
        import pyspiel
    except ImportError:
        raise MissingExtra("open_spiel", "interop") from None
    return pyspiel


class LibraryGame(Protocol):
    """A `pyspiel.Game`, as far as its type matters here."""

    def new_initial_state(self) -> Any: ...

    def num_players(self) -> int: ...


class OpenSpielState:
    """A history of an OpenSpiel game; histories with the same moves are equal."""

    __slots__ = ("key", "moves", "player", "raw")

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.player: int = raw.current_player()
        self.key: str | None = None  # of the information set, once known
        self.moves: dict[Action, int] | None = None  # numbers of the legal actions, once known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenSpielState) and bool(self.raw.history() == other.raw.history())

    def __hash__(self) -> int:
        return hash(tuple(self.raw.history()))

    def __repr__(self) -> str:
        return f"OpenSpielState({self.raw.history()})"


class OpenSpielGame(Game[OpenSpielState]):
    """An OpenSpiel game, created by `from_openspiel`. `raw` is OpenSpiel's own game, made turn-based if necessary."""

    def __init__(self, raw: Any, name: str) -> None:
        pyspiel = _library()
        kind = raw.get_type()
        dynamics, chance, utility = kind.dynamics, kind.chance_mode, kind.utility
        if dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            raw = pyspiel.convert_to_turn_based(raw)
            kind = raw.get_type()
        elif dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
            raise InvalidGame(f"{name}: a mean-field game has no tree of histories")
        if chance == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
            raise InvalidGame(f"{name}: OpenSpiel only samples its chance moves and gives no probabilities for them")
        if not kind.provides_information_state_string:
            raise InvalidGame(f"{name}: OpenSpiel provides no information state string, so recall is not perfect")
        self.raw = raw
        self.name = name
        self.zero_sum = utility == pyspiel.GameType.Utility.ZERO_SUM
        self._players: int = raw.num_players()
        # By key: the texts of the actions, and their numbers by text and in OpenSpiel's order. Sets share equal ones.
        self._sets: dict[str, _LegalActions] = {}
        self._shared: dict[tuple[tuple[Action, ...], tuple[int, ...]], _LegalActions] = {}

    def num_players(self) -> int:
        return self._players

    def initial_state(self) -> OpenSpielState:
        return OpenSpielState(self.raw.new_initial_state())

    def is_terminal(self, state: OpenSpielState) -> bool:
        return state.player == TERMINAL

    def player(self, state: OpenSpielState) -> int:
        return state.player

    def actions(self, state: OpenSpielState) -> Sequence[Action]:
        if state.player == CHANCE:
            return [outcome for outcome, _ in self.chance_outcomes(state)]
        key = state.key or self.info_set_key(state)
        numbers = state.raw.legal_actions()
        actions = self._sets.get(key)
        if actions is None or actions[2] != numbers:
            moves = _action_texts(state.raw, numbers)
            texts = tuple(moves)
            actions = self._shared.setdefault((texts, tuple(numbers)), (texts, moves, numbers))
            self._sets.setdefault(key, actions)
        state.moves = actions[1]
        return actions[0]

    def chance_outcomes(self, state: OpenSpielState) -> Sequence[tuple[Action, float]]:
        outcomes = state.raw.chance_outcomes()
        state.moves = _action_texts(state.raw, [number for number, _ in outcomes])
        return [(text, probability) for text, (_, probability) in zip(state.moves, outcomes)]

    def next_state(self, state: OpenSpielState, action: Action) -> OpenSpielState:
        moves = state.moves
        if moves is None:
            self.actions(state)
            moves = state.moves
            assert moves is not None
        return OpenSpielState(state.raw.child(moves[action]))

    def info_set_key(self, state: OpenSpielState) -> str:
        state.key = key = f"{state.player}:{state.raw.information_state_string()}"
        return key

    def utility(self, state: OpenSpielState, player: int) -> float:
        return float(state.raw.player_return(player))

    def utilities(self, state: OpenSpielState) -> tuple[float, ...]:
        return tuple(state.raw.returns())

    def action_numbers(self, state: OpenSpielState) -> dict[Action, int]:
        """OpenSpiel's number of each action here."""
        self.actions(state)
        assert state.moves is not None
        return dict(state.moves)


def _action_texts(raw: Any, numbers: list[int]) -> dict[Action, int]:
    moves = {sys.intern(raw.action_to_string(number)): number for number in numbers}  # many sets have the same texts
    if len(moves) < len(numbers):
        moves = {f"{raw.action_to_string(number)} #{number}": number for number in numbers}
    return moves


def from_openspiel(game: Any) -> OpenSpielGame:
    """The OpenSpiel game of this name, or this `pyspiel.Game`.

    >>> game = from_openspiel("kuhn_poker")
    >>> state = game.initial_states()[0]
    >>> game.player(state), game.actions(state), game.info_set_key(state)
    (0, ('Pass', 'Bet'), '0:0')
    """
    if not isinstance(game, str):
        return OpenSpielGame(game, f"openspiel:{game}")
    pyspiel = _library()
    _check_text(game)
    short = game.split("(", 1)[0].strip()
    registered = pyspiel.registered_names()
    if short not in registered:
        registered = _with_python_games()
    if short not in registered:
        hint = did_you_mean(short, registered)
        raise InvalidText("game", f"openspiel:{game}", None, f"OpenSpiel has no game {short!r}{hint}")
    try:
        return OpenSpielGame(pyspiel.load_game(game), f"openspiel:{game}")
    except (pyspiel.SpielError, RuntimeError, ValueError, IndexError, OverflowError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InvalidText("game", f"openspiel:{game}", None, f"OpenSpiel says: {reason}") from None


def _check_text(game: str) -> None:
    """Refuse text that would make OpenSpiel read arbitrary files or parse forever."""
    name = f"openspiel:{game}"
    if len(game) > MAX_NAME_LENGTH:
        raise InvalidText("game", name, None, f"longer than {MAX_NAME_LENGTH} characters")
    if match := _READS_A_FILE.search(game):
        reason = f"{match[1]} is not allowed: it could read any file"
        hint = "; give the .efg file itself" if "efg_game" in game else ""
        raise InvalidText("game", name, len("openspiel:") + match.start(1) + 1, reason + hint)
    depth = 0
    for position, letter in enumerate(game):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth > MAX_DEPTH:
            raise InvalidText("game", name, len("openspiel:") + position + 1, f"is nested more than {MAX_DEPTH} deep")


def _with_python_games() -> list[str]:
    """OpenSpiel's game names, including its games written in Python, which register on import."""
    with contextlib.suppress(ImportError):  # they need libraries that OpenSpiel itself does not
        import open_spiel.python.games  # noqa: F401
    names: list[str] = _library().registered_names()
    return names


def to_tabular_policy(game: OpenSpielGame, strategy: Mapping[str, Mapping[str, float]]) -> Any:
    """`strategy` as OpenSpiel's `TabularPolicy` for `game.raw`; missing information sets play uniformly.

    >>> from open_spiel.python.algorithms.exploitability import nash_conv
    >>> game = from_openspiel("kuhn_poker")
    >>> print(f"{nash_conv(game.raw, to_tabular_policy(game, {})):.6f}")
    0.916667
    """
    from open_spiel.python.policy import TabularPolicy

    policy = TabularPolicy(game.raw)
    for raw in policy.states:
        state = OpenSpielState(raw)
        key = game.info_set_key(state)
        if key in strategy:
            row = policy.policy_for_key(raw.information_state_string())
            row[:] = 0.0
            moves = game.action_numbers(state)
            for action, probability in strategy[key].items():
                if action not in moves:
                    raise InvalidGame(f"{game.name}: {action!r} is not an action of the information set {key!r}")
                row[moves[action]] = probability
    return policy


def from_tabular_policy(game: OpenSpielGame, policy: Any) -> dict[str, dict[str, float]]:
    """Any OpenSpiel policy as a strategy, information set -> action -> probability; walks the whole game.

    >>> import pyspiel
    >>> game = from_openspiel("kuhn_poker")
    >>> from_tabular_policy(game, pyspiel.UniformRandomPolicy(game.raw))["0:2pb"]
    {'Pass': 0.5, 'Bet': 0.5}
    """
    strategy: dict[str, dict[str, float]] = {}
    pending = [game.initial_state()]
    while pending:
        state = pending.pop()
        if state.player == TERMINAL:
            continue
        moves = game.action_numbers(state)
        if state.player != CHANCE:
            key = game.info_set_key(state)
            if key not in strategy:
                chosen = policy.action_probabilities(state.raw)
                strategy[key] = {action: float(chosen.get(number, 0.0)) for action, number in moves.items()}
        pending.extend(OpenSpielState(state.raw.child(number)) for number in moves.values())
    return strategy
