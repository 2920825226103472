"""Two solutions of games in the terminal: values, exploitability, and the information sets that are played differently.

The difference at an information set is ½ Σ |difference of probabilities|: 0 if both play the same, 1 if they never
do the same. A file does not record how often a set is reached, so sets are not weighted by it.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from regretless.cli.terminal.consoles import for_answers
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import signed_text, unit_of
from regretless.cli.terminal.tables import plain_table
from regretless.cli.views.differences import difference_table, difference_text, heading
from regretless.cli.views.strategy_table import choose, read_keys
from regretless.errors import InvalidFile
from regretless.solving.game_solution import GameSolution

__all__ = ["compare_games"]

Solutions = tuple[GameSolution, GameSolution]


def compare_games(solutions: Solutions, *, keys: str | None, most: int | None, as_json: bool) -> None:
    """Compare two solved games."""
    first, second = solutions
    shared = {key: second.strategy[key] for key in first.strategy if key in second.strategy}
    if not shared:
        raise InvalidFile(second.path, f"has no information set in common with {first.path}")
    asked = read_keys(keys)
    chosen = choose(shared, asked, None)
    moved = {key: _moved(first.strategy[key], played) for key, played in chosen.items()}
    ranked = sorted(moved, key=lambda key: -moved[key]) if asked is None else list(moved)
    if asked is None:
        ranked = ranked[:most]
    only = [len(first.strategy) - len(shared), len(second.strategy) - len(shared)]
    if as_json:
        print_json(
            {
                "first": str(first.path),
                "second": str(second.path),
                "game": [first.game, second.game],
                "values": [list(pair) for pair in zip(first.values, second.values, strict=False)],
                "exploitability": [first.exploitability, second.exploitability],
                "shared": len(shared),
                "only_first": only[0],
                "only_second": only[1],
                "information_sets": {
                    key: {
                        "moved": moved[key],
                        "strategy": {
                            action: [first.strategy[key].get(action), second.strategy[key].get(action)]
                            for action in {**first.strategy[key], **second.strategy[key]}
                        },
                    }
                    for key in ranked
                },
            }
        )
        return
    _print(solutions, ranked, moved, only, shared=len(shared))


def _moved(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    return sum(abs(first.get(each, 0.0) - second.get(each, 0.0)) for each in {**first, **second}) / 2


def _print(solutions: Solutions, ranked: list[str], moved: dict[str, float], only: list[int], *, shared: int) -> None:
    first, second = solutions
    console = for_answers(fit=False)
    for letter, solution in zip("AB", solutions, strict=True):
        how = f"{solution.game} · {solution.variant} · {solution.iterations:,} iterations"
        console.print(heading(letter, solution, how))
    console.print()
    console.print(_overall(first, second))
    console.print()
    differing = sum(each > 0 for each in moved.values())
    if differing:
        console.print(_table(solutions, [key for key in ranked if moved[key] > 0], moved))
    console.print(f"{differing:,} of {shared:,} information sets are played differently", style="dim")
    for letter, count in zip("AB", only, strict=True):
        if count:
            console.print(f"{count:,} information sets are only in {letter}", style="yellow")


def _overall(first: GameSolution, second: GameSolution) -> Table:
    unit = unit_of(first.game)
    table = difference_table()
    for player, pair in enumerate(zip(first.values, second.values, strict=False)):
        apart = difference_text(pair[1] - pair[0], 5)
        table.add_row(f"value, player {player}", *map(signed_text, pair), apart, f"{unit} per game")
    pair = first.exploitability, second.exploitability
    table.add_row("exploitability", *(f"{max(each, 0.0):.3g}" for each in pair), "", f"{unit} per game")
    return table


def _table(solutions: Solutions, shown: list[str], moved: dict[str, float]) -> Table:
    table = plain_table(["information set", "action"], ["A", "B", "B − A", "differs"])
    for key in shown:
        first, second = (solution.strategy[key] for solution in solutions)
        for place, action in enumerate({**first, **second}):
            pair = first.get(action), second.get(action)
            cells = ["–" if share is None else f"{share:.1%}" for share in pair]
            apart = difference_text(100 * ((pair[1] or 0.0) - (pair[0] or 0.0)), 1)
            name, differs = (" · ".join(key.split("\n")), f"{moved[key]:.1%}") if place == 0 else ("", "")
            table.add_row(name, action, *cells, apart, differs)
    return table
