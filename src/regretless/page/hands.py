"""A hand that is played on the page: what its player sees, how a decision is judged, and how the hand ended.

A decision is judged by the solution's EV of every action with the hand:

       lost = max_a EV(a) − EV(chosen)

where the solution knows EVs: in spots, also in those that a flop of a whole game leads to.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regretless.cards.deck import card_text
from regretless.cards.hands import HAND_CARDS, hand_text
from regretless.errors import InvalidText
from regretless.forms.history import FloatArray
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.playing import Duel
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.lines import find_action, no_such_action, parse_line
from regretless.holdem.spots.spot_fields import PLAYERS, stacks_behind
from regretless.page.nodes import ACTION, CHIPS, EV_UNIT, TILE, action_list, strip_json
from regretless.page.schema import Json, array, boolean, nullable, number, obj, rounded, text

__all__ = [
    "GOOD_GRADES", "GRADES", "HAND", "OUTCOME", "Judgement", "chosen_action", "feedback_json", "feedback_schema",
    "hand_json", "judge", "outcome_json",
]  # fmt: skip

GRADES = ("best", "fine", "inaccuracy", "mistake", "blunder")
GOOD_GRADES = ("best", "fine")
MAX_LOSSES = (0.1, 0.5, 1.5, 5.0)  # EV lost in percent of the pot, at most, for each grade but the last
PLAYED = 0.05  # an action that the solution takes this often is at least fine


# --- what the player sees --------------------------------------------------------------------------------------------


def hand_json(duel: Duel, path: list[LineNode], stack: float, *, may_act: bool) -> Json:
    """A hand where a path leads, without what its player must not know; `stack` is that where play begins."""
    reader, node = duel.reader, path[-1]
    paid = reader.tree.paid[node.index]
    return {
        "player": PLAYERS[duel.person],
        "hand": hand_text(duel.hands[duel.person]),
        "hole": _cards(duel.hands[duel.person]),
        "board": [card_text(card) for card in duel.board(node)],
        "line": ", ".join(node.steps),
        "pot": reader.tree.starting_pot + float(paid.sum()),
        "stacks": stacks_behind(stack, paid),
        "to_call": float(abs(paid[0] - paid[1])) if may_act else 0.0,
        "strip": strip_json(reader, path, stack, frequencies=False),
        "actions": action_list(reader, node) if may_act else [],
    }


def outcome_json(duel: Duel, node: LineNode, *, unit: str = "chips", chips: float = 1.0) -> Json:
    """Who won how much, and the opponent's hand if it is shown; the text counts units of so many chips."""
    outcome, own = duel.outcome(node), duel.person
    won = outcome.payoffs[own]
    if outcome.folded is not None:
        gained = f"Your opponent folds: you win {round(won / chips, 2):g} {unit}"
        return {
            "end": "fold",
            "opponent": None,
            "won": rounded(won),
            "text": "You fold" if outcome.folded == own else gained,
        }
    ahead = outcome.strength[own] - outcome.strength[1 - own]
    amount = f" {round(abs(won) / chips, 2):g} {unit}" if won else ""
    result = "You split the pot" if ahead == 0 else f"You {'win' if ahead > 0 else 'lose'}{amount}"
    return {
        "end": "showdown",
        "opponent": _cards(duel.hands[1 - own]),
        "won": rounded(won),
        "text": f"{result} at showdown",
    }


def _cards(hand: int) -> list[str]:
    low, high = HAND_CARDS[hand]
    return [card_text(int(high)), card_text(int(low))]


# --- decisions -------------------------------------------------------------------------------------------------------


def chosen_action(action: str, labels: Sequence[str]) -> int:
    """The number of the action that a text names."""
    steps = parse_line(action, "action")
    if len(steps) != 1:
        raise InvalidText("action", action, None, f"is not one action; choose from {', '.join(labels)}")
    chosen = find_action(steps[0], labels)
    if chosen is None:
        raise no_such_action("action", action, steps[0], labels)
    return chosen


@dataclass(frozen=True)
class Judgement:
    """What an action with a hand costs."""

    strategy: FloatArray  # [actions] how often the solution takes each
    ev: FloatArray  # [actions] chips; NaN if no opposing hand is possible
    lost: float  # chips
    lost_pct: float  # percent of the pot
    grade: str  # one of `GRADES`

    @property
    def best(self) -> int | None:
        """The action with the highest EV, if any is known."""
        return int(np.nanargmax(self.ev)) if np.isfinite(self.ev).any() else None


def judge(reader: SpotReader, node: LineNode, hand: int, chosen: int) -> Judgement | None:
    """What an action with a hand, a number among the 1,326, costs; None if the solution never has that hand here."""
    view = reader.view(node)
    columns = np.flatnonzero(view.acting.hand == hand)
    if len(columns) == 0:
        return None
    ev, strategy = view.action_ev[:, columns[0]], view.strategy[:, columns[0]]
    lost = max(0.0, float(ev.max() - ev[chosen])) if np.isfinite(ev).all() else 0.0
    lost_pct = 100 * lost / view.pot
    return Judgement(strategy, ev, lost, lost_pct, _grade(lost_pct, float(strategy[chosen])))


def _grade(lost_pct: float, frequency: float) -> str:
    """The grade of an action by the EV it loses, in percent of the pot, and by how often the solution takes it."""
    grade = GRADES[bisect_left(MAX_LOSSES, lost_pct)]
    return "fine" if frequency >= PLAYED and grade not in GOOD_GRADES else grade


def feedback_json(
    duel: Duel,
    node: LineNode,
    chosen: int,
    judgement: Judgement | None,
    *,
    strategy: FloatArray | None = None,
    big_blind: float | None,
) -> Json:
    """What is said about a decision; `strategy` is that of the hand where no EV is known, None if neither is."""
    labels = duel.reader.actions(node.index)
    mix = strategy if judgement is None else judgement.strategy
    best = None if judgement is None else judgement.best
    return {
        "board": [card_text(card) for card in duel.board(node)],
        "line": ", ".join(node.steps),
        "big_blind": big_blind,
        "pot": duel.reader.tree.starting_pot + float(duel.reader.tree.paid[node.index].sum()),
        "hand": hand_text(duel.hands[duel.person]),
        "actions": action_list(duel.reader, node),
        "chosen": labels[chosen],
        "best": None if best is None else labels[best],
        "ev": None if judgement is None else _by_action(labels, judgement.ev),
        "strategy": None if mix is None else _by_action(labels, mix),
        "lost": None if judgement is None else rounded(judgement.lost),
        "lost_pct_pot": None if judgement is None else rounded(judgement.lost_pct),
        "grade": None if judgement is None else judgement.grade,
    }


def _by_action(labels: Sequence[str], row: FloatArray) -> Json:
    return {name: rounded(value) for name, value in zip(labels, row, strict=True)}


# --- schemas ---------------------------------------------------------------------------------------------------------

HAND = {
    "player": text(enum=["oop", "ip"]),
    "seats": obj({"oop": text(), "ip": text()}, "what the players are called: their positions, if known"),
    "big_blind": nullable(number("chips, if known")),
    "hand": text(),
    "hole": array(text()),
    "board": array(text()),
    "line": text(),
    "pot": number(),
    "stacks": CHIPS,
    "to_call": number(),
    "strip": array(TILE, "without frequencies"),
    "actions": array(ACTION, "empty when the hand is over"),
    "over": boolean(),
}
OUTCOME = nullable(obj({"end": text(), "opponent": nullable(array(text())), "won": number("chips"), "text": text()}))


def feedback_schema(more: Json, description: str) -> Json:
    """What is said about a decision; `more` are fields of its own."""
    return nullable(
        obj(
            {
                **more,
                "board": array(text()),
                "line": text(),
                "big_blind": nullable(number("chips, if known")),
                "pot": number("chips"),
                "hand": text(),
                "actions": array(ACTION),
                "chosen": text(),
                "best": nullable(text()),
                "ev": nullable(obj({}, f"{EV_UNIT} by action; null if not known", open_=True)),
                "strategy": nullable(obj({}, "probability by action; null for a hand never played so", open_=True)),
                "lost": nullable(number(EV_UNIT)),
                "lost_pct_pot": nullable(number()),
                "grade": nullable(text(enum=list(GRADES))),
            },
            description,
        )
    )
