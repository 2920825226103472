"""Commands that read a tree and its solution, and that set and lock strategies."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from regretless.cards.deck import DECK, board_text
from regretless.cards.equity import hand_equities
from regretless.cards.hands import HAND_CARDS, HAND_COUNT, blocked_by
from regretless.errors import RegretlessError
from regretless.forms.blockers import met
from regretless.forms.history import FloatArray
from regretless.forms.memory import available_bytes, resident_bytes
from regretless.forms.public import Hands, NodeKind
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.spot_fields import PLAYERS, PlayerName
from regretless.upi.formatting import (
    HAND_ORDER,
    chips,
    node_text,
    number,
    results_text,
    row_text,
    spread_to_all_hands,
    table_text,
    tree_info,
)
from regretless.upi.node_ids import ROOT, TreeNode, action_lines, find_node
from regretless.upi.session import Session
from regretless.upi.table import (
    CommandTable,
    read_player,
    read_row,
    read_whole,
)

__all__ = ["NODE_COMMANDS"]

MEGABYTE = 2**20
HANDS = Hands(weight=np.ones(HAND_COUNT), cards=HAND_CARDS.astype(np.int64), same=np.arange(HAND_COUNT))

NODE_COMMANDS = CommandTable()


# --- the tree --------------------------------------------------------------------------------------------------------


@NODE_COMMANDS.enter()
def show_hand_order(session: Session, arguments: list[str]) -> str:
    return HAND_ORDER


@NODE_COMMANDS.enter("", "show_board", "show_board_no_iso")
def _board(session: Session, arguments: list[str]) -> str:
    board = session.board if session.spot is None else session.spot.board
    if board is None:
        raise RegretlessError("there is no board: send set_board first")
    return board_text(board)


@NODE_COMMANDS.enter()
def show_effective_stack(session: Session, arguments: list[str]) -> str:
    stack = session.stack if session.spot is None else session.spot.stack
    if stack is None:
        raise RegretlessError("there is no stack: send set_eff_stack first")
    return chips(stack)


@NODE_COMMANDS.enter()
def show_tree_info(session: Session, arguments: list[str]) -> str:
    return "\n".join(session.notes or tree_info(session.built))


def _node_text(session: Session, node: TreeNode, *, root: bool = False) -> str:
    return node_text(node, session.built, locked=not root and node.name in session.locks, root=root)


@NODE_COMMANDS.enter("NODE")
def show_node(session: Session, arguments: list[str]) -> str:
    return _node_text(session, session.node(arguments[0]), root=arguments[0] == "r")


@NODE_COMMANDS.enter("NODE")
def show_children(session: Session, arguments: list[str]) -> str:
    node = session.node(arguments[0])
    children = [node] if arguments[0] == "r" else node.children(session.built.board)
    return "\n\n".join(f"child {number}:\n{_node_text(session, child)}" for number, child in enumerate(children))


@NODE_COMMANDS.enter()
def show_all_lines(session: Session, arguments: list[str]) -> str:
    return "\n".join(line for line, _ in action_lines(session.tree))


@NODE_COMMANDS.enter()
def node_count(session: Session, arguments: list[str]) -> str:
    """Nodes with cards; equivalent runouts count once."""
    size = session.estimate(session.spot or session.describe())
    return "\n".join(f"{kind}: {count}" for kind, count in size.node_kinds.items())


@NODE_COMMANDS.enter()
def show_memory(session: Session, arguments: list[str]) -> str:
    return f"free memory: {available_bytes() // MEGABYTE} MB\nused memory: {resident_bytes() // MEGABYTE} MB"


# --- the solution ----------------------------------------------------------------------------------------------------


@NODE_COMMANDS.enter("OOP|IP [NODE]")
def show_range(session: Session, arguments: list[str]) -> str:
    player = read_player(arguments[0])
    if len(arguments) == 1:
        if player not in session.ranges:
            raise RegretlessError(f"{arguments[0]} has no range: send set_range first")
        return row_text(session.ranges[player].weights)
    table = session.view(session.node(arguments[1])).hands[player]
    return row_text(spread_to_all_hands(table.hand, table.weight))


@NODE_COMMANDS.enter("NODE")
def show_strategy(session: Session, arguments: list[str]) -> str:
    _, strategy = session.strategy(session.decision(arguments[0]))
    return "\n".join(map(row_text, strategy))


@NODE_COMMANDS.enter("NODE")
def show_strategy_pp(session: Session, arguments: list[str]) -> str:
    view = session.view(session.decision(arguments[0]))
    present = view.acting.weight > 0
    columns = [row[present] for row in view.strategy[::-1]]
    return table_text(view.acting.hand[present], columns, view.acting.equity[present])


def _player_and_node(session: Session, arguments: list[str]) -> tuple[PlayerName, TreeNode]:
    return read_player(arguments[0]), session.node(arguments[1])


@NODE_COMMANDS.enter("OOP|IP NODE")
def calc_ev(session: Session, arguments: list[str]) -> str:
    player, node = _player_and_node(session, arguments)
    table = session.view(node).hands[player]
    paid = float(node.tree.paid[node.index, PLAYERS.index(player)])
    rows = spread_to_all_hands(table.hand, table.ev - paid, math.nan), spread_to_all_hands(table.hand, table.matchups)
    return "\n".join(map(row_text, rows))


@NODE_COMMANDS.enter("OOP|IP NODE")
def calc_ev_pp(session: Session, arguments: list[str]) -> str:
    player, node = _player_and_node(session, arguments)
    table = session.view(node).hands[player]
    paid = float(node.tree.paid[node.index, PLAYERS.index(player)])
    present = table.weight > 0
    ev = (table.ev - paid)[present]
    return table_text(table.hand[present], [ev, table.matchups[present]], ev)


@NODE_COMMANDS.enter("OOP|IP NODE")
def calc_eq_node(session: Session, arguments: list[str]) -> str:
    player, node = _player_and_node(session, arguments)
    view = session.view(node)
    table = view.hands[player]
    rows = spread_to_all_hands(table.hand, table.equity, math.nan), spread_to_all_hands(table.hand, table.matchups)
    return "\n".join([*map(row_text, rows), number(view.equity(player))])


def _range_equity(session: Session, player: PlayerName, board: tuple[int, ...]) -> list[str]:
    """Equities and matchups of the ranges that were set, and the equity of the whole range."""
    if len(session.ranges) < 2:
        raise RegretlessError("equities need both ranges: send set_range OOP and set_range IP first")
    hero, villain = session.ranges[player], session.ranges["ip" if player == "oop" else "oop"]
    equities = hand_equities(hero, villain, board)
    live = np.where(blocked_by(board), 0.0, villain.weights) if board else villain.weights
    matchups = met(HANDS, HANDS, live[None], DECK)[0]
    matchups[np.isnan(equities)] = 0.0
    weight = np.where(np.isnan(equities), 0.0, hero.weights * matchups)
    return [row_text(equities), row_text(matchups), number(float(weight @ np.nan_to_num(equities) / weight.sum()))]


@NODE_COMMANDS.enter("OOP|IP")
def calc_eq(session: Session, arguments: list[str]) -> str:
    if session.board is None:
        raise RegretlessError("there is no board: send set_board first")
    return "\n".join(_range_equity(session, read_player(arguments[0]), session.board)[:2])


@NODE_COMMANDS.enter("OOP|IP")
def calc_eq_preflop(session: Session, arguments: list[str]) -> str:
    return "\n".join(_range_equity(session, read_player(arguments[0]), ()))


@NODE_COMMANDS.enter()
def calc_results(session: Session, arguments: list[str]) -> str:
    measured = session.measured
    if session.is_solving and measured is not None and measured.evaluation is not None:
        return results_text(measured.seconds, measured.evaluation)
    solution = session.current()
    return results_text(solution.seconds, solution.evaluation)


def _path(session: Session, text: str) -> tuple[SpotReader, list[LineNode]]:
    """The nodes on the way to a node, with the reach of every hand."""
    reader, node = session.current().reader, session.node(text)
    return reader, reader.path(", ".join(node.line))


@NODE_COMMANDS.enter("NODE")
def calc_line_freq(session: Session, arguments: list[str]) -> str:
    """How often the line is played if its cards are dealt."""
    reader, path = _path(session, arguments[0])
    share = 1.0
    for before, after in pairwise(path):
        if reader.tree.kind[before.index] != NodeKind.CHANCE:
            share *= reader.pairs(after) / (reader.pairs(before) or 1.0)
    return number(share)


@NODE_COMMANDS.enter("NODE")
def calc_global_freq(session: Session, arguments: list[str]) -> str:
    """How often the node is reached, of all hands that are played."""
    reader, path = _path(session, arguments[0])
    return number(_reached(reader, path[-1]) / reader.pairs(reader.root))


def _reached(reader: SpotReader, node: LineNode) -> float:
    """The weight of the pairs of hands that reach a node, times the probability of its cards."""
    unseen = DECK - 4 - len(reader.board)
    deals = math.prod(unseen - number for number in range(len(node.deal.cards)))
    return reader.pairs(node) / deals


@NODE_COMMANDS.enter("NODE")
def calc_matchups_line(session: Session, arguments: list[str]) -> str:
    reader, path = _path(session, arguments[0])
    return number(reader.pairs(path[-1]))


@NODE_COMMANDS.enter("[global|local]")
def show_all_freqs(session: Session, arguments: list[str]) -> str:
    """Frequencies of all lines over all cards: of all hands, or of those that reach the node before."""
    how = arguments[0] if arguments else "global"
    if how not in ("global", "local"):
        raise RegretlessError(f"{how[:40]!r} is neither global nor local")
    reader = session.current().reader
    tree, reached = reader.tree, _reached_nodes(reader)
    rows = []
    for line, index in action_lines(tree):
        above = int(tree.parent[index])
        while how == "local" and above > 0 and tree.kind[above] == NodeKind.CHANCE:
            above = int(tree.parent[above])
        whole = reached[0 if how == "global" or index == 0 else above]
        rows.append(f"{line} - {number(reached[index] / whole if whole else 0.0)}")
    return "\n".join(rows)


def _reached_nodes(reader: SpotReader) -> FloatArray:
    """[nodes] the weight of the pairs of hands that reach each betting node, over all cards; a card is equally likely
    to be any that the board and two hands leave. Deals that only suits tell apart are read once.
    """
    form, tree, deck = reader.form, reader.tree, DECK - 4 - len(reader.board)
    reached = np.zeros(len(tree.kind))
    ranges = form.hands[0].weight[None], form.hands[1].weight[None]
    waiting = [(0, ranges, np.ones(1))]  # betting node, reach [runouts, H] of both players, deals of each runout
    while waiting:
        node, (ip, oop), deals = waiting.pop()
        reached[node] = deals @ (ip * met(form.hands[0], form.hands[1], oop, DECK)).sum(axis=1)
        first, end = int(tree.first_child[node]), int(tree.first_child[node + 1])
        if tree.kind[node] == NodeKind.CHANCE:
            following = form.streets[int(tree.street[first])]
            dealt = [
                np.where(dead, 0.0, reach[following.parent])
                for reach, dead in zip((ip, oop), following.dead, strict=True)
            ]
            chance = np.diff(following.first_copy) / (deck - int(tree.street[node]))
            waiting.append((first, (dealt[0], dealt[1]), deals[following.parent] * chance))
        elif tree.kind[node] == NodeKind.DECISION:
            strategy = np.array([reader.results.strategy(node, runout) for runout in range(len(deals))])
            for action in range(end - first):
                played = strategy[:, action]
                reach = (ip * played, oop) if tree.player[node] == 0 else (ip, oop * played)
                waiting.append((first + action, reach, deals))
    return reached


# --- editing ---------------------------------------------------------------------------------------------------------


@NODE_COMMANDS.enter("NODE FREQUENCY…")
def set_strategy(session: Session, arguments: list[str]) -> None:
    node = session.decision(arguments[0])
    actions = len(list(node.actions()))
    numbers = arguments[1:]
    if len(numbers) != actions * HAND_COUNT:
        needed = f"{actions} actions × {HAND_COUNT:,} hands"
        raise RegretlessError(f"{node.name}: {len(numbers):,} frequencies, where {needed} are needed")
    rows = [numbers[first : first + HAND_COUNT] for first in range(0, len(numbers), HAND_COUNT)]
    session.edit(node, np.array([read_row(row, "frequency") for row in rows]))


@NODE_COMMANDS.enter("NODE")
def lock_node(session: Session, arguments: list[str]) -> None:
    session.lock(session.decision(arguments[0]))


@NODE_COMMANDS.enter("NODE FLAG…")
def combo_lock_node(session: Session, arguments: list[str]) -> None:
    node = session.decision(arguments[0])
    session.lock(node, read_row(arguments[1:], "flag") > 0)


@NODE_COMMANDS.enter("NODE")
def unlock_node(session: Session, arguments: list[str]) -> None:
    session.unlock(session.decision(arguments[0]))


@NODE_COMMANDS.enter("OOP|IP")
def set_mes(session: Session, arguments: list[str]) -> None:
    session.play_best_response(read_player(arguments[0]))


@NODE_COMMANDS.enter("OOP|IP PARTS flop|turn|river")
def round_up_to(session: Session, arguments: list[str]) -> None:
    """Frequencies of a player on the first street in multiples of 1 / PARTS, as near as possible."""
    player, parts, street = read_player(arguments[0]), read_whole(arguments[1], "PARTS"), arguments[2]
    first = session.built.streets[0]
    if not 1 <= parts <= 1000:
        raise RegretlessError("PARTS: must be from 1 to 1,000")
    if street != first:
        raise RegretlessError(f"{street[:40]!r}: only strategies on the first street, the {first}, can be rounded")
    waiting = [find_node(session.tree, session.built.board, ROOT)]
    decisions = []
    for node in waiting:  # grows during the loop
        if node.kind is NodeKind.DECISION:
            waiting += node.actions()
            if PLAYERS[node.player] == player:
                decisions.append(node)
    rounded = [(node, _rounded(session.strategy(node)[1], parts)) for node in decisions]
    for node, strategy in rounded:
        session.edit(node, strategy)


def _rounded(strategy: FloatArray, parts: int) -> FloatArray:
    """[actions, hands] in multiples of 1 / parts: each action gets its whole parts, and the largest rests one more."""
    scaled = strategy * parts
    whole = np.floor(scaled + 1e-9)
    rest = np.argsort(-(scaled - whole), axis=0, kind="stable").argsort(axis=0)
    missing = np.rint(scaled.sum(axis=0)) - whole.sum(axis=0)
    return np.asarray((whole + (rest < missing)) / parts)
