"""A hand against a solution in the terminal: the deal, what happens, the actions to choose from, and the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.text import Text

from regretless.cards.evaluator import category
from regretless.cards.hands import HAND_CARDS
from regretless.cli.terminal.numbers import chips_text, counted
from regretless.cli.views.labels import tree_actions
from regretless.cli.views.spot_view import cards_text
from regretless.forms.public import NodeKind
from regretless.holdem.reading.line_reader import LineNode, LineReader
from regretless.holdem.reading.playing import Duel, HandResult, Score

__all__ = [
    "ADJUSTED", "Stakes", "action_names", "advice_text", "choices_text", "event_lines", "hand_text", "help_lines",
    "result_text", "score_text", "state_text",
]  # fmt: skip

SEATS = ("in position", "out of position")
ADJUSTED = (
    "all-in adjusted: a hand that ends all-in counts as its average over all cards that could have come, which takes "
    "that luck out; ± is one standard error"
)


@dataclass(frozen=True)
class Stakes:
    """What is played for: a solution's reader, the stacks, and how results are counted."""

    reader: LineReader
    stack: float | None  # chips of each player where play begins; None where stacks never run out
    unit: str  # of results, such as "bb"
    chips: float  # per unit
    seats: tuple[str, str]  # names of the seats, in position first
    par: tuple[float, float] = (0.0, 0.0)  # chips expected in each seat; results are measured from it


def score_text(score: Score) -> str:
    """The total, and per hundred hands with the standard error of the adjusted results.

    >>> score = Score("bb")
    >>> score_text(score)
    'no hand was finished'
    >>> score.add(1.5, 1.5)
    >>> score_text(score)
    'after 1 hand: +1.5 bb, +150.0 bb/100'
    >>> score.add(-10, -2)
    >>> score_text(score)
    'after 2 hands: -8.5 bb, -425.0 bb/100; all-in adjusted -25.0 ± 175.0 bb/100'
    """
    count, unit = len(score.results), score.unit
    if count == 0:
        return "no hand was finished"
    text = f"after {counted(count, 'hand')}: {signed_amount(score.total, unit)}, {score.per_hundred:+.1f} {unit}/100"
    if count > 1:
        text += f"; all-in adjusted {score.adjusted_per_hundred:+.1f} ± {score.standard_error:.1f} {unit}/100"
    return text


def signed_amount(amount: float, unit: str) -> str:
    """An amount with its sign.

    >>> signed_amount(2.5, "bb"), signed_amount(-0.333333, "bb"), signed_amount(-0.0001, "chips")
    ('+2.5 bb', '-0.333 bb', '0 chips')
    """
    rounded = round(amount, 3) + 0.0  # -0.0 becomes 0.0
    return f"{'+' if rounded > 0 else ''}{chips_text(rounded)} {unit}"


def hand_text(stakes: Stakes, duel: Duel, number: int) -> Text:
    """The heading of a hand: which one, where the person sits, and the cards they hold."""
    line = Text(f"hand {number:,}: ", style="bold").append(f"you are {stakes.seats[duel.person]}, with ")
    return line.append_text(_hole(duel.hands[duel.person]))


def state_text(stakes: Stakes, duel: Duel, node: LineNode) -> Text:
    """Board, pot and stacks where the person must act."""
    tree = duel.reader.tree
    paid = tree.paid[node.index]
    board = duel.board(node)
    line = Text("  ").append_text(cards_text(board)).append("  " if board else "")
    line.append(f"pot {chips_text(tree.starting_pot + float(paid.sum()))}", style="bold")
    if stakes.stack is not None:
        mine, other = (chips_text(stakes.stack - float(paid[player])) for player in (duel.person, 1 - duel.person))
        line.append(f", you have {mine}, the opponent {other}", style="dim")
    to_call = float(paid[1 - duel.person] - paid[duel.person])
    return line.append(f", {chips_text(to_call)} to call" if to_call > 0 else "")


def action_names(duel: Duel, node: LineNode) -> list[str]:
    """What the actions of a node are called: before the flop by their chips, later by their size too."""
    actions = duel.reader.actions(node.index)
    tree = duel.reader.tree
    return tree_actions(tree, node.index, tree.starting_pot, actions) if duel.board(node) else list(actions)


def choices_text(actions: Sequence[str]) -> str:
    """The actions with the numbers that choose them.

    >>> choices_text(["check", "bet 5"])
    '  1 check   2 bet 5'
    """
    return "  " + "   ".join(f"{number} {action}" for number, action in enumerate(actions, start=1))


def help_lines(stakes: Stakes) -> list[str]:
    """What `?` prints: how to act, and what the score means."""
    if any(stakes.par):
        zero = "what the solution expects in your seat: 0 is to do as well as the solution"
    else:
        zero = "the start of the hand: 0 is to break even"
    return [
        "  an action is its number or its name: 2, call, r 5; q stops and prints the score",
        f"  the score is in {stakes.unit}, and per hundred hands, measured from {zero}",
        f"  {ADJUSTED}",
    ]


def event_lines(duel: Duel, nodes: Sequence[LineNode]) -> list[Text]:
    """What happened from one node to the next: actions, but those that the person chose, and the cards dealt."""
    tree = duel.reader.tree
    lines = []
    for before, after in pairwise(nodes):
        if tree.kind[before.index] == NodeKind.CHANCE:
            dealt = after.deal.cards[len(before.deal.cards) :]
            lines.append(Text("  the board brings ").append_text(cards_text(dealt)))
        else:
            who = "you can only " if tree.player[before.index] == duel.person else "the opponent plays "
            lines.append(Text(f"  {who}").append(tree.labels[after.index], style="bold"))
    return lines


def advice_text(duel: Duel, node: LineNode) -> str:
    """What the solution does with the person's hand."""
    mix = zip(duel.reader.actions(node.index), duel.strategy(node), strict=True)
    return "  the solution: " + ", ".join(f"{action} {share:.0%}" for action, share in mix)


def result_text(duel: Duel, outcome: HandResult) -> Text:
    """How a hand ended, and what the person won or lost in chips."""
    mine, other = duel.person, 1 - duel.person
    if outcome.folded is not None:
        line = Text("  you fold, " if outcome.folded == mine else "  ")
    else:
        line = Text("  the opponent shows ").append_text(_hole(duel.hands[other]))
        line.append(f": {category(outcome.strength[other])} against your {category(outcome.strength[mine])}, ")
    return line.append(_won_text(outcome.payoffs[mine], outcome.payoffs[other]), style="bold")


def _won_text(chips: float, others: float) -> str:
    if chips == 0:  # in a spot, the opponent may win the starting pot
        return "nobody wins" if others == 0 else "you win nothing"
    amount = chips_text(abs(round(chips, 3)))
    return f"you win {amount}" if chips > 0 else f"you lose {amount}"


def _hole(hand: int) -> Text:
    low, high = (int(card) for card in HAND_CARDS[hand])
    return cards_text((high, low))
