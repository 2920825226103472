"""What `import regretless as rl` offers above all layers: one `solve` for games and for hold'em spots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from regretless.games.game import Game
from regretless.solvers.solution import Solution
from regretless.solvers.solve import solve as solve_game

if TYPE_CHECKING:
    from regretless.postflop.solution import SpotSolution
    from regretless.postflop.spot import Spot

__all__ = ["solve"]


@overload
def solve(what: Spot, **options: Any) -> SpotSolution: ...


@overload
def solve(what: Game[Any] | str, **options: Any) -> Solution: ...


def solve(what: Spot | Game[Any] | str, **options: Any) -> Solution:
    """Solve a game, by its rules or by name, or a hold'em spot, as an object or as a `.toml` file.

    Options are those of `solvers.solve` for a game and of `postflop.solve_spot` for a spot; a target is in the game's
    units, or in percent of the pot.

    >>> round(solve("kuhn", variant="plus", iterations=1000).values[0], 3)
    -0.056
    >>> from regretless.postflop import Spot
    >>> spot = Spot.from_mapping(
    ...     {
    ...         "board": "Kh Qs Js 2c 3d",
    ...         "pot": 100,
    ...         "stack": 200,
    ...         "oop": {"range": "AK"},
    ...         "ip": {"range": "QQ, JT"},
    ...         "bets": {"bet": "50%"},
    ...     }
    ... )
    >>> solve(spot, target=0.1).exploitability_pct_pot <= 0.1
    True
    """
    if isinstance(what, Game) or (isinstance(what, str) and not what.endswith(".toml")):
        return solve_game(what, **options)
    from regretless.postflop.solve import solve_spot
    from regretless.postflop.spot import Spot

    return solve_spot(Spot.read(what) if isinstance(what, str) else what, **options)
