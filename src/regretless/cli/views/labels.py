"""What players and their actions are called in everything the command prints.

An action is named as players say it, with its chips beside it: `bet 33% (30)` is a third of the pot. A raise is
measured beyond the call, against the pot after the call. Lines of play, JSON and the columns of files name an action by
its chips alone, `bet 30`; --line takes both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from regretless.forms.public import BettingTree
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.printable import printable

__all__ = ["ROLES", "PlayerNames", "action_text", "player_names", "tree_actions", "view_actions"]

PlayerNames = Mapping[PlayerName, str]

ROLES: PlayerNames = MappingProxyType({"oop": "oop", "ip": "ip"})
_WAGER = re.compile(r"(?:bet|raise|all-in) ([\d.]+)")
CLOSE = 1e-9  # chips


def player_names(spot: Spot) -> PlayerNames:
    """What the players of a spot are called in every view: BB and BTN if the spot says so, otherwise oop and ip.

    >>> fields = {"board": "Kh Qs Js", "pot": 60, "stack": 200, "ip": "QQ", "bets": {"bet": "33%"}}
    >>> player_names(Spot(oop={"range": "AK", "name": "BB"}, **fields))
    {'oop': 'BB', 'ip': 'ip'}
    """
    ip, oop = (printable(position) for position in spot.positions)
    return {"oop": oop or "oop", "ip": ip or "ip"}


def action_text(action: str, *, beyond_call: float, pot_after_call: float) -> str:
    """An action with its size in percent of the pot, and its chips beside it.

    >>> action_text("bet 30", beyond_call=30, pot_after_call=90), action_text("check", beyond_call=0, pot_after_call=90)
    ('bet 33% (30)', 'check')
    """
    verb, _, chips = action.partition(" ")
    if not chips or pot_after_call <= 0:
        return action
    return f"{verb} {beyond_call / pot_after_call:.0%} ({chips})"


def view_actions(view: NodeView) -> dict[str, str]:
    """What each action of a node is called."""
    if view.kind != "decision" or view.player is None:
        return {}
    other: PlayerName = "ip" if view.player == "oop" else "oop"
    to_call = view.stacks[view.player] - view.stacks[other]
    wagers = _WAGER.findall(view.line) if to_call > CLOSE else []  # the last one is to be called
    called = float(wagers[-1]) if wagers else 0.0
    amounts = [float(match[1]) if (match := _WAGER.fullmatch(action)) else 0.0 for action in view.actions]
    return {
        action: action_text(action, beyond_call=amount - called, pot_after_call=view.pot + to_call)
        for action, amount in zip(view.actions, amounts, strict=True)
    }


def tree_actions(tree: BettingTree, node: int, starting_pot: float, actions: Sequence[str]) -> list[str]:
    """What each action of a node of a betting tree is called; a card keeps its label."""
    if tree.player[node] < 0:
        return list(actions)
    player, first = int(tree.player[node]), int(tree.first_child[node])
    called = float(tree.paid[node, 1 - player])
    pot_after_call = starting_pot + 2 * called
    return [
        action_text(
            action, beyond_call=float(tree.paid[first + number, player]) - called, pot_after_call=pot_after_call
        )
        for number, action in enumerate(actions)
    ]
