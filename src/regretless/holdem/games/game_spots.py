"""From a line of a game from the deal to the spot that it leads to, and its solution.

1. The line ends where cards are dealt: "raise 2, call, Ks 7d 2c". Both ranges are the reach of the hands there, pot
   and stack are what the line leaves, and bets and rules are those of the game: the spot has the game's betting.
2. The spot is solved on its own: plain re-solving. Against an opponent who brings the range that the solution expects,
   this is an equilibrium; one who arrives with other hands may gain from how the spot was set up. Or it is solved
   safely (`safe_spots`), so that no hand of the opponent gains more than in the game's solution.
3. With a folder, the solution is saved there under the name of its line, and read again while it fits the game.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Unpack

import numpy as np

from regretless.cards.hands import HAND_COUNT
from regretless.cards.ranges import Range
from regretless.errors import InvalidFile, InvalidText
from regretless.files.atomic import reason
from regretless.files.state import check_state, replace_state, state_folder
from regretless.forms.public import NodeKind
from regretless.forms.walking import action_labels, children
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import FLOP
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.reader import DealtReader
from regretless.holdem.games.safe_spots import Blueprint, solve_safely
from regretless.holdem.problem import solve_spot
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.lines import find_action, parse_line
from regretless.holdem.spots.sizes import exact
from regretless.holdem.spots.spot import MAX_NAME_LENGTH, MIN_WEIGHT, Spot
from regretless.holdem.spots.spot_fields import OOP, PLAYERS, STREETS, Bets, Lines
from regretless.solving.options import SpotKeywords

__all__ = ["FlopLine", "flop_line", "safely_named", "saved_spot", "solve_saved", "spot_at", "spot_file"]

MAX_FILE_NAME = 150  # characters, without the suffix
SAFE = ", safe"  # after the line, in the name of a spot that is solved safely


class FlopLine(NamedTuple):
    """A line of play, divided at its flop."""

    before_flop: str
    flop: tuple[int, ...]
    after_flop: str
    later_cards: tuple[int, ...]  # those that the line omits after the flop


def flop_line(game: HoldemGame, line: str, cards: Sequence[int] = ()) -> FlopLine | None:
    """Where a line meets its flop; None if it does not. `cards` are those that the line omits.

    >>> fields = {"stack": 20, "small_blind": 0.5, "big_blind": 1, "preflop": {"open": "2x"}, "bets": {"bet": "50%"}}
    >>> flop_line(HoldemGame.from_mapping(fields), "r2, c, Ks 7d 2c, x, c, 5h")
    FlopLine(before_flop='raise 2, call', flop=(47, 21, 0), after_flop='check, c, 5h', later_cards=())
    """
    tree, node, before = betting_of(game).tree, 0, []
    steps, undealt = list(parse_line(line, "line")), list(cards)
    while steps and tree.kind[node] == NodeKind.DECISION:
        action = find_action(steps.pop(0), action_labels(tree, node))
        if action is None:
            return None
        node = children(tree, node)[action]
        before.append(tree.labels[node])
    if tree.kind[node] != NodeKind.CHANCE:
        return None
    flop: list[int] = []
    while steps and len(flop) < FLOP and (card := steps[0].card) is not None:
        flop.append(card)
        steps.pop(0)
    if not flop:
        flop, undealt = undealt[:FLOP], undealt[FLOP:]
    if len(flop) < FLOP:
        return None
    return FlopLine(", ".join(before), tuple(flop), ", ".join(step.as_typed for step in steps), tuple(undealt))


def spot_at(
    game: HoldemGame, reader: DealtReader, line: str, cards: Sequence[int] = (), *, any_hand: bool = False
) -> Spot:
    """The spot that begins where a line's last cards are dealt; `cards` are those that the line omits.

    A line that a player never plays is refused, or with `any_hand`, the player may hold any hand there.
    """
    node, tree = reader.find(line, cards), reader.tree
    dealt = int(tree.parent[node.index])
    if not node.deal.cards:
        raise InvalidText("line", line, None, "deals no flop: a spot begins with 3, 4 or 5 cards on the board")
    if tree.kind[dealt] != NodeKind.CHANCE:
        raise InvalidText("line", line, None, "goes on after the last cards: a spot begins where they are dealt")
    if tree.kind[node.index] != NodeKind.DECISION:
        raise InvalidText("line", line, None, "nobody acts there")
    ip, oop = (_arriving(reader, node, player, line, any_hand) for player in range(2))
    paid = float(tree.paid[node.index, 0])
    actions = [step for step in node.steps if parse_line(step)[0].card is None]
    called = bool(tree.player[tree.parent[dealt]] == OOP and tree.labels[dealt] == "call")
    return Spot(
        board=node.deal.cards,
        pot=exact(tree.starting_pot + 2 * paid),
        stack=exact(game.stack - paid),
        oop=oop,
        ip=ip,
        bets=_bets(game.bets, len(node.deal.cards), called=called),
        rules=game.rules,
        lines=_lines(game.lines, actions),
        name=", ".join(node.steps)[-MAX_NAME_LENGTH:],
    )


def _arriving(reader: DealtReader, node: LineNode, player: int, line: str, any_hand: bool) -> Range:
    """The hands that a player brings to a node; if there are none, all hands or an error."""
    hands, positions = reader.solved_hands(player, node.deal)
    reach = node.reach[player][positions].clip(0.0, 1.0)
    weights = np.zeros(HAND_COUNT)
    weights[hands] = np.where(reach < MIN_WEIGHT, 0.0, reach)
    if any_hand and not weights.any():
        weights[hands] = 1.0
    if not weights.any():
        raise InvalidText("line", line, None, f"is never played by {PLAYERS[player]}")
    return Range(weights)


def _bets(bets: Bets, cards: int, *, called: bool) -> Bets:
    """The sizes of the game, from the street with so many cards on.

    Whoever is out of position after a call may lead with donk sizes. In a spot nobody has acted before, so there these
    are the sizes of the first bet.
    """
    street = STREETS[cards - FLOP]
    sizes = bets.of_street(street)
    if not called or sizes.oop.donk is None:
        return bets
    leading = replace(sizes, oop=replace(sizes.oop, bet=sizes.oop.donk))
    return replace(bets, **{street: leading})


def _lines(lines: Lines, actions: Sequence[str]) -> Lines:
    """The lines of a game, from where these actions lead."""
    below = Lines(**{name: _below(texts, actions) for name, texts in vars(lines).items()})
    return replace(below, only=("check",)) if lines.only and not below.only else below


def _below(lines: Sequence[str], actions: Sequence[str]) -> tuple[str, ...]:
    """The rest of the lines, added or removed by hand, that begin with these actions."""
    beginning = [parse_line(action)[0] for action in actions]
    below = []
    for line in lines:
        steps = parse_line(line)
        if len(steps) > len(beginning) and all(step.means(action) for step, action in zip(steps, beginning)):
            below.append(", ".join(step.as_typed for step in steps[len(beginning) :]))
    return tuple(below)


# --- solving and saving ----------------------------------------------------------------------------------------------


def solve_saved(
    spot: Spot, folder: Path | None, blueprint: Blueprint | None = None, **options: Unpack[SpotKeywords]
) -> SpotSolution:
    """Solve a spot, safely if a blueprint is given, or read its solution from a folder; a new one is saved there.

    A solve that was interrupted is not saved.
    """
    if blueprint is not None:
        spot = safely_named(spot)
    if folder is not None and (saved := saved_spot(spot, folder, options.get("target"))) is not None:
        return saved
    solution = solve_spot(spot, **options) if blueprint is None else solve_safely(spot, blueprint, **options)
    if folder is None or solution.reason == "interrupted":
        return solution
    path = spot_file(spot, folder)
    try:
        state_folder(folder, folder.parent)
    except OSError as error:
        raise InvalidFile(folder, f"cannot be created: {reason(error)}") from None
    with replace_state(path, folder.parent) as temporary:
        solution.save(temporary)
    return solution


def safely_named(spot: Spot) -> Spot:
    """A spot under the name that it has when it is solved safely."""
    return replace(spot, name=f"{spot.name}{SAFE}"[-MAX_NAME_LENGTH:])


def saved_spot(spot: Spot, folder: Path, target: float | None = None) -> SpotSolution | None:
    """The solution of a spot in a folder, if there is one; with a target in percent of the pot, one that reached it."""
    path = spot_file(spot, folder)
    check_state(path, folder.parent)
    if not path.exists():
        return None
    try:
        solution = SpotSolution.load(path)
    except InvalidFile:
        return None
    if solution.spot != spot:
        return None
    if target is None:
        return solution if solution.reason != "interrupted" else None
    # A safe solve aims at the opponent's gain, so reaching its own target counts as much as a low exploitability.
    goal, saved_goal = target / 100 * spot.pot, solution.settings.target
    reached_goal = solution.reason == "target" and saved_goal is not None and saved_goal <= goal
    return solution if reached_goal or solution.exploitability_pct_pot <= target else None


def spot_file(spot: Spot, folder: Path) -> Path:
    """Where the solution of a spot is in a folder, if it is saved."""
    return folder / (re.sub(r"[^\w.]+", "-", spot.name)[-MAX_FILE_NAME:] + ".rgl")
