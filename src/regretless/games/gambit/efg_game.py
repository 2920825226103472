"""Games in Gambit's `.efg` files, read and written without Gambit (Savani & Turocy, gambit-project.org).

Reading: any number of players, any payoffs, at any node; perfect recall is checked. An information set's key is its
label in the file if all labels are unique; otherwise `player.number` and the label. `efg_parser` describes the
format. Errors give the line and column.

Writing: any game. Keys become labels, so that reading a written file gives the same keys; numbers are written as
fractions where that is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from regretless.errors import InvalidFile, InvalidGame
from regretless.games.gambit.efg_parser import TERMINAL, EfgTree, Limits, parse
from regretless.games.game import CHANCE, Action, AnyGame, Game

__all__ = ["EfgGame", "Limits", "parse_efg", "read_efg", "to_efg", "write_efg"]

ZERO_SUM_TOLERANCE = 1e-9
MAX_DENOMINATOR = 1_000_000  # of a fraction in a written file


class EfgGame(Game[int]):
    """A game read from a Gambit file; a state is the number of a node in file order."""

    def __init__(self, tree: EfgTree, name: str) -> None:
        self.name = name
        self.title = tree.title
        self.comment = tree.comment
        self.player_names = tree.players
        self._player, self._set, self._children, self._payoff = tree.player, tree.set, tree.children, tree.payoff
        self._actions = [efg_set.actions for efg_set in tree.sets]
        self._index = [{action: index for index, action in enumerate(actions)} for actions in self._actions]
        self._outcomes = [tuple(zip(efg_set.actions, efg_set.probabilities)) for efg_set in tree.sets]
        self._keys = _keys(tree)
        self.zero_sum = all(
            abs(sum(payoff)) <= ZERO_SUM_TOLERANCE
            for player, payoff in zip(self._player, self._payoff)
            if player == TERMINAL
        )

    def num_players(self) -> int:
        return len(self.player_names)

    def initial_state(self) -> int:
        return 0

    def is_terminal(self, state: int) -> bool:
        return self._player[state] == TERMINAL

    def player(self, state: int) -> int:
        return self._player[state]

    def actions(self, state: int) -> Sequence[Action]:
        return self._actions[self._set[state]]

    def chance_outcomes(self, state: int) -> Sequence[tuple[Action, float]]:
        return self._outcomes[self._set[state]]

    def next_state(self, state: int, action: Action) -> int:
        return self._children[state][self._index[self._set[state]][action]]

    def info_set_key(self, state: int) -> str:
        return self._keys[self._set[state]]

    def utility(self, state: int, player: int) -> float:
        return self._payoff[state][player]

    def utilities(self, state: int) -> tuple[float, ...]:
        return self._payoff[state]


def _keys(tree: EfgTree) -> list[str]:
    labels = [efg_set.label for efg_set in tree.sets if efg_set.player != CHANCE]
    if all(labels) and len(set(labels)) == len(labels):
        return [efg_set.label for efg_set in tree.sets]
    return [f"{efg_set.player + 1}.{efg_set.number} {efg_set.label}".strip() for efg_set in tree.sets]


def read_efg(path: str | Path, *, limits: Limits = Limits()) -> EfgGame:  # noqa: B008 - frozen
    """The game in a Gambit file."""
    try:
        if not Path(path).exists():
            raise InvalidFile(path, "does not exist")
        if not Path(path).is_file():
            raise InvalidFile(path, "is not a regular file")
        with open(path, "rb") as file:
            content = file.read(limits.bytes + 1)
    except (OSError, ValueError) as error:
        raise InvalidFile(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > limits.bytes:
        raise InvalidFile(path, f"is larger than {limits.bytes:,} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # files from before Gambit wrote UTF-8
    return EfgGame(parse(text, path, limits), str(path))


def parse_efg(text: str, *, name: str = "efg", limits: Limits = Limits()) -> EfgGame:  # noqa: B008 - frozen
    """The game described by the text of a Gambit file.

    >>> game = parse_efg('''EFG 2 R "Matching pennies" { "Even" "Odd" }
    ... p "" 1 1 "even" { "heads" "tails" } 0
    ... p "" 2 1 "odd" { "heads" "tails" } 0
    ... t "" 1 "match" { 1, -1 }
    ... t "" 2 "no match" { -1, 1 }
    ... p "" 2 1 0
    ... t "" 2
    ... t "" 1''')
    >>> game.zero_sum, game.info_set_key(1), game.utilities(2)
    (True, 'odd', (1.0, -1.0))
    """
    if len(text) > limits.bytes:
        raise InvalidFile(name, f"is larger than {limits.bytes:,} bytes")
    return EfgGame(parse(text, name, limits), name)


def write_efg(game: AnyGame, path: str | Path, *, title: str | None = None) -> None:
    """Write a game as a Gambit file."""
    text = to_efg(game, title=title)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidFile(path, f"cannot be written: {error.strerror or error}") from None


def to_efg(game: AnyGame, *, title: str | None = None, limits: Limits = Limits()) -> str:  # noqa: B008 - frozen
    """A game as the text of a Gambit file, up to `limits.nodes` nodes.

    >>> from regretless.games import Kuhn
    >>> lines = to_efg(Kuhn()).splitlines()
    >>> lines[0]
    'EFG 2 R "kuhn" { "Player 1" "Player 2" }'
    >>> lines[5]
    'p "" 1 1 "0:" { "p" "b" } 0'
    """
    names = getattr(game, "player_names", None) or [f"Player {player + 1}" for player in range(game.num_players())]
    lines = [f"EFG 2 R {_quote(title or game.name)} {{ {' '.join(map(_quote, names))} }}", '""', ""]
    header_lines = len(lines)
    writer = _NodeWriter(players=len(names))
    pending = [game.initial_state()]
    while pending:
        state = pending.pop()
        if len(lines) - header_lines >= limits.nodes:
            raise InvalidGame(f"{game.name}: more than {limits.nodes:,} nodes, too many for a file")
        if game.is_terminal(state):
            lines.append(writer.terminal(game.utilities(state)))
            continue
        player = game.player(state)
        if player == CHANCE:
            outcomes = game.chance_outcomes(state)
            actions = [action for action, _ in outcomes]
            lines.append(writer.chance(outcomes))
        else:
            actions = list(game.actions(state))
            lines.append(writer.move(player, game.info_set_key(state), actions))
        pending.extend(game.next_state(state, action) for action in reversed(actions))
    return "\n".join(lines) + "\n"


class _NodeWriter:
    """Writes nodes as lines, and numbers chance moves, information sets and outcomes by first appearance."""

    def __init__(self, players: int) -> None:
        self._chance_moves = 0
        self._numbers: list[dict[str, int]] = [{} for _ in range(players)]  # of information sets, by key
        self._moves: dict[tuple[int, str], str] = {}  # by player and key: the set and its actions, as written
        self._outcomes: dict[tuple[float, ...], str] = {}  # by payoffs, as written

    def terminal(self, payoffs: tuple[float, ...]) -> str:
        if payoffs not in self._outcomes:
            self._outcomes[payoffs] = f'{len(self._outcomes) + 1} "" {{ {", ".join(map(_number, payoffs))} }}'
        return f't "" {self._outcomes[payoffs]}'

    def chance(self, outcomes: Sequence[tuple[Action, float]]) -> str:
        self._chance_moves += 1
        chances = " ".join(f"{_quote(action)} {_number(probability)}" for action, probability in outcomes)
        return f'c "" {self._chance_moves} "" {{ {chances} }} 0'

    def move(self, player: int, key: str, actions: Sequence[Action]) -> str:
        if (player, key) not in self._moves:
            number = self._numbers[player].setdefault(key, len(self._numbers[player]) + 1)
            names = " ".join(map(_quote, actions))
            self._moves[player, key] = f"{player + 1} {number} {_quote(key)} {{ {names} }} 0"
        return f'p "" {self._moves[player, key]}'


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _number(value: float) -> str:
    """A fraction if it reads back as the same number, else all digits."""
    near = Fraction(value).limit_denominator(MAX_DENOMINATOR)
    return str(near) if float(near) == value else repr(value)
