"""Battleship on a small board: two hidden fleets, alternating shots (Farina et al., 2019, use it as a benchmark).

1. Taking turns, player 0 first, the players place their ships on their own boards: `a1-a2` covers a1 and a2 (rows are
   letters, columns numbers). A placement that leaves no room for later ships is not legal.
2. Taking turns, each fires `shots` shots, such as `b3`. The shooter learns miss (`.`), hit (`x`) or sunk (`#`); the
   other sees where the shot fell. `repeat_shots` says whether a player may fire at the same cell twice.
3. The game ends when a fleet is sunk or all shots are fired. Sinking a ship earns its entry in `values` (default 1) and
   costs its owner `loss_multiplier` times as much; unless that is 1, the game is general-sum.

Farina, Ling, Fang, Sandholm: Correlation in Extensive-Form Games. NeurIPS 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regretless.errors import InvalidOption
from regretless.games._checks import check_between, check_flag, check_positive, check_tuple
from regretless.games.game import Action, TwoPlayerGame
from regretless.spelling import spelled

__all__ = ["Battleship", "BattleshipState"]

Fleet = tuple[int, ...]  # one set of cells per ship, as bits


class BattleshipState(NamedTuple):
    """A history of battleship. Cells are bits, row by row."""

    turns: int  # moves so far; even when player 0 moves
    over: bool
    first_fleet: Fleet  # ships player 0 has placed so far
    second_fleet: Fleet
    first_afloat: int  # cells of player 0's fleet that have not been hit
    second_afloat: int
    first_fired: int  # cells player 0 has fired at
    second_fired: int
    first_seen: str  # what player 0 knows
    second_seen: str


class Battleship(TwoPlayerGame[BattleshipState]):
    """Battleship for two players.

    >>> game = Battleship(height=2, width=2, ships=(2,), shots=2)
    >>> state = game.initial_state()
    >>> game.actions(state)
    ('a1-a2', 'b1-b2', 'a1-b1', 'a2-b2')
    >>> for action in ("a1-a2", "b1-b2", "b1", "a1"):
    ...     state = game.next_state(state, action)
    >>> game.info_set_key(state)
    '0: a1-a2 b1x (a1)'
    """

    def __init__(
        self,
        height: int = 2,
        width: int = 3,
        ships: tuple[int, ...] = (2,),
        shots: int = 2,
        values: tuple[float, ...] = (),
        loss_multiplier: float = 1.0,
        repeat_shots: bool = True,
    ) -> None:
        check_between("height", height, 1, 9)
        check_between("width", width, 1, 9)
        check_between("shots", shots, 1, 81)
        reason = "must be one to five whole numbers above 0, like (2,) or (2,3)"
        check_tuple("ships", ships, range(1, 6), reason, whole=True)
        check_tuple("values", values, range(6), "must be numbers above 0, like (1,2)")
        if values and len(values) != len(ships):
            raise InvalidOption("values", values, f"must be one number for each of the {len(ships)} ships")
        check_positive("loss_multiplier", loss_multiplier, "must be a number above 0")
        check_flag("repeat_shots", repeat_shots)
        self.height, self.width, self.ships, self.shots = height, width, ships, shots
        self.values, self.loss_multiplier, self.repeat_shots = values, float(loss_multiplier), repeat_shots
        self.zero_sum = self.loss_multiplier == 1.0
        self.name = spelled("battleship", Battleship, self)
        self._cells = {
            f"{'abcdefghi'[row]}{column + 1}": 1 << (row * width + column)
            for row in range(height)
            for column in range(width)
        }
        self._cell_names = tuple(self._cells)
        self._placements = [self._placements_of(length) for length in ships]
        self._ship_values = values or (1.0,) * len(ships)
        self._allowed: dict[Fleet, tuple[Action, ...]] = {}  # placements, by the fleet so far; filled on demand
        self._targets: dict[Fleet, dict[Action, tuple[int, int]]] = {}  # filled on demand
        self._payoffs: dict[tuple[Fleet, Fleet, int, int], tuple[float, float]] = {}  # filled on demand
        self._placing_turns = 2 * len(ships)  # turns in which ships are placed
        self._last_turn = self._placing_turns + 2 * shots
        if not self._allowed_placements(()):
            raise InvalidOption("ships", ships, f"do not fit on a board of {height} by {width}")

    def initial_state(self) -> BattleshipState:
        return BattleshipState(0, False, (), (), 0, 0, 0, 0, "0:", "1:")

    def is_terminal(self, state: BattleshipState) -> bool:
        return state.over

    def player(self, state: BattleshipState) -> int:
        return state.turns & 1

    def actions(self, state: BattleshipState) -> Sequence[Action]:
        mover = state.turns & 1
        if state.turns < self._placing_turns:
            return self._allowed_placements(state.second_fleet if mover else state.first_fleet)
        if self.repeat_shots:
            return self._cell_names
        fired = state.second_fired if mover else state.first_fired
        return [shot for shot, cell in self._cells.items() if not cell & fired]

    def next_state(self, state: BattleshipState, action: Action) -> BattleshipState:
        turns, _, fleet0, fleet1, afloat0, afloat1, fired0, fired1, seen0, seen1 = state
        mover = turns & 1
        turns += 1
        if turns <= self._placing_turns:
            placed = self._placements[(turns - 1) // 2][action]
            if mover:
                fleet1, afloat1, seen1 = (*fleet1, placed), afloat1 | placed, f"{seen1} {action}"
            else:
                fleet0, afloat0, seen0 = (*fleet0, placed), afloat0 | placed, f"{seen0} {action}"
            return BattleshipState(turns, False, fleet0, fleet1, afloat0, afloat1, 0, 0, seen0, seen1)
        if mover:
            cell, ship = self._targets_on(fleet0)[action]
            fired1 |= cell
            remaining = afloat0 = afloat0 & ~cell
            seen0 = f"{seen0} ({action})"
            seen1 = f"{seen1} {action}{_result(ship, remaining)}"
        else:
            cell, ship = self._targets_on(fleet1)[action]
            fired0 |= cell
            remaining = afloat1 = afloat1 & ~cell
            seen0 = f"{seen0} {action}{_result(ship, remaining)}"
            seen1 = f"{seen1} ({action})"
        over = not remaining or turns == self._last_turn
        return BattleshipState(turns, over, fleet0, fleet1, afloat0, afloat1, fired0, fired1, seen0, seen1)

    def info_set_key(self, state: BattleshipState) -> str:
        return state.second_seen if state.turns & 1 else state.first_seen

    def utilities(self, state: BattleshipState) -> tuple[float, float]:
        _, _, fleet0, fleet1, afloat0, afloat1, *_ = state
        ending = (fleet0, fleet1, afloat0, afloat1)
        payoffs = self._payoffs.get(ending)
        if payoffs is None:
            first, second = self._lost_value(fleet0, afloat0), self._lost_value(fleet1, afloat1)
            payoffs = (second - self.loss_multiplier * first, first - self.loss_multiplier * second)
            self._payoffs[ending] = payoffs
        return payoffs

    def _lost_value(self, fleet: Fleet, afloat: int) -> float:
        return sum([value for ship, value in zip(fleet, self._ship_values) if not ship & afloat], 0.0)

    def _targets_on(self, fleet: Fleet) -> dict[Action, tuple[int, int]]:
        """For each shot: its cell, and the ship of this fleet there, or 0."""
        targets = self._targets.get(fleet)
        if targets is None:
            targets = self._targets[fleet] = {
                shot: (cell, sum(ship for ship in fleet if ship & cell)) for shot, cell in self._cells.items()
            }
        return targets

    def _placements_of(self, length: int) -> dict[Action, int]:
        """Every placement of a ship of this length, horizontal first, with the cells it covers."""
        cells = list(self._cells.items())
        placements: dict[Action, int] = {}
        steps = [(1, self.width - length, self.height - 1)]
        if length > 1:  # a ship of one cell would be placed twice
            steps.append((self.width, self.width - 1, self.height - length))
        for step, last_column, last_row in steps:
            for start in range(len(cells)):
                if start % self.width <= last_column and start // self.width <= last_row:
                    covered = [cells[start + step * offset] for offset in range(length)]
                    text = covered[0][0] if length == 1 else f"{covered[0][0]}-{covered[-1][0]}"
                    placements[text] = sum(cell for _, cell in covered)
        return placements

    def _allowed_placements(self, fleet: Fleet) -> tuple[Action, ...]:
        """Where the next ship may go: on free cells, with room left for the ships after it."""
        allowed = self._allowed.get(fleet)
        if allowed is None:
            occupied = sum(fleet)
            allowed = self._allowed[fleet] = tuple(
                text
                for text, ship in self._placements[len(fleet)].items()
                if not ship & occupied and self._rest_fits(len(fleet) + 1, occupied | ship)
            )
        return allowed

    def _rest_fits(self, first: int, occupied: int) -> bool:
        if first == len(self.ships):
            return True
        return any(
            not ship & occupied and self._rest_fits(first + 1, occupied | ship)
            for ship in self._placements[first].values()
        )


def _result(ship: int, afloat: int) -> str:
    """What a shooter learns about a shot at this ship, or at 0 for none, given the cells that are still afloat."""
    if not ship:
        return "."
    return "x" if ship & afloat else "#"
