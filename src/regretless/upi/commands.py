"""The commands: what each takes, what it answers, and the table of all.

A handler is given the session and its arguments, and returns the text of the answer; most change something and answer
`COMMAND ok!`. What is wrong raises a `RegretlessError`, which is answered as `ERROR: ` and its sentence.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path

import numpy as np

from regretless.api import solve
from regretless.cards.deck import DECK, board_text, parse_board
from regretless.cards.equity import hand_equities
from regretless.cards.hands import HAND_CARDS, HAND_COUNT, blocked_by
from regretless.cards.ranges import Range
from regretless.engines import available_cores
from regretless.errors import RegretlessError
from regretless.forms.blockers import met
from regretless.forms.history import FloatArray
from regretless.forms.memory import available_bytes, resident_bytes
from regretless.forms.public import Hands, NodeKind
from regretless.holdem.form.suits import find_deal
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS, PlayerName
from regretless.upi.answers import (
    HAND_ORDER,
    all_hands,
    chips,
    from_row,
    node_text,
    number,
    results_text,
    row_text,
    table_text,
    tree_info,
)
from regretless.upi.node_ids import ROOT, TreeNode, action_lines, find_node
from regretless.upi.session import Amounts, Session, StopAt

__all__ = ["COMMANDS", "PROTOCOL", "Command", "Usage", "run"]

PROTOCOL = "3.0.0"  # the version of the protocol's documentation that this follows
CLOSED = "the .cfr format of PioSOLVER is closed: solutions are saved to and read from .rgl files"
MEGABYTE = 2**20
POSITIONS: dict[str, PlayerName] = {"OOP": "oop", "IP": "ip"}
HANDS = Hands(weight=np.ones(HAND_COUNT), cards=HAND_CARDS.astype(np.int64), same=np.arange(HAND_COUNT))
ALGORITHMS = ("auto", "pio_cfr", "original_pio")
Handler = Callable[[Session, list[str]], str | None]


class Usage(RegretlessError):
    """The arguments do not fit the command."""


@dataclass(frozen=True)
class Command:
    """One command."""

    name: str
    usage: str  # its arguments
    handler: Handler  # its answer; None is "COMMAND ok!"
    least: int  # arguments
    most: float

    def answer(self, session: Session, arguments: list[str]) -> str:
        if not self.least <= len(arguments) <= self.most:
            raise Usage(f"the usage is: {self.name} {self.usage}".rstrip())
        text = self.handler(session, arguments)
        return f"{self.name} ok!" if text is None else text


COMMANDS: dict[str, Command] = {}


def command(usage: str = "", *names: str) -> Callable[[Handler], Handler]:
    """Enter a handler into the table: `[ARGUMENT]` may be omitted, and of `ARGUMENT…` there may be any number."""

    def enter(handler: Handler) -> Handler:
        words = usage.split()
        most = math.inf if usage.endswith("…") else len(words)
        for name in names or (handler.__name__.strip("_"),):
            COMMANDS[name] = Command(name, usage, handler, sum(word[0] != "[" for word in words), most)
        return handler

    return enter


def run(session: Session, name: str, arguments: list[str]) -> str:
    """Carry out a command, and return its answer."""
    if name not in COMMANDS:
        close = get_close_matches(name, COMMANDS, n=1)
        raise Usage(f"unknown command {name[:40]!r}{f'; did you mean {close[0]}?' if close else ''}")
    return COMMANDS[name].answer(session, arguments)


# --- arguments -------------------------------------------------------------------------------------------------------


def _number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Usage(f"{what}: {text[:40]!r} is not a number")
    return value


def _whole(text: str, what: str) -> int:
    value = _number(text, what)
    if value != int(value) or value < 0:
        raise Usage(f"{what}: {text[:40]!r} is not a whole number of at least 0")
    return int(value)


def _player(text: str) -> PlayerName:
    if text.upper() not in POSITIONS:
        raise Usage(f"{text[:40]!r} is neither OOP nor IP")
    return POSITIONS[text.upper()]


def _row(texts: Sequence[str], what: str) -> FloatArray:
    """A number for each of our hands."""
    if len(texts) != HAND_COUNT:
        raise Usage(f"{what}: {len(texts):,} numbers, where {HAND_COUNT:,} are needed")
    return from_row([_number(text, what) for text in texts])


def _amounts(texts: Sequence[str]) -> Amounts:
    amounts = tuple(_number(word, "amount") for text in texts for word in text.split())
    if any(amount < 0 for amount in amounts):
        raise Usage("amount: is below 0")
    return amounts


def _solution_file(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".rgl":
        raise RegretlessError(CLOSED if path.suffix.lower() == ".cfr" else f"{text}: give a file that ends in .rgl")
    return path


# --- basics ----------------------------------------------------------------------------------------------------------


@command("", "is_ready", "load_all_nodes", "clear_cache")
def _nothing(session: Session, arguments: list[str]) -> None:
    """There is nothing to do."""


@command("[TEXT]…")
def echo(session: Session, arguments: list[str]) -> str:
    return " ".join(arguments)


@command()
def show_version(session: Session, arguments: list[str]) -> str:
    return PROTOCOL


@command()
def bench(session: Session, arguments: list[str]) -> str:
    """Iterations per second of a river with every hand and two bet sizes."""
    spot = Spot(board="Kh Qs Js 2c 3d", pot=100, stack=300, oop="100%", ip="100%", bets={"bet": "50%, 100%"})  # type: ignore[arg-type]
    solution = solve(spot, iterations=200, threads=session.threads, progress=False)
    return f"iterations per second: {1 / solution.record.seconds_per_iteration:.1f}"


# --- the tree --------------------------------------------------------------------------------------------------------


@command("CARD…")
def set_board(session: Session, arguments: list[str]) -> None:
    board = parse_board(" ".join(arguments))
    if len(board) not in (3, 4, 5):
        raise Usage(f"board: {board_text(board)!r} must have 3, 4 or 5 cards")
    session.board = board


@command("OOP|IP RANGE…")
def set_range(session: Session, arguments: list[str]) -> None:
    player = _player(arguments[0])
    session.ranges[player] = Range.parse(" ".join(arguments[1:]), f"{player}.range", warn=False)


@command("OOP IP START")
def set_pot(session: Session, arguments: list[str]) -> None:
    oop, ip, start = (_number(text, "pot") for text in arguments)
    if oop or ip:
        raise Usage("both players must have put in 0: add what they put in to START")
    if start <= 0:
        raise Usage("START: must be above 0")
    session.pot = start


@command("CHIPS")
def set_eff_stack(session: Session, arguments: list[str]) -> None:
    stack = _number(arguments[0], "CHIPS")
    if stack <= 0:
        raise Usage("CHIPS: must be above 0")
    session.stack = stack


@command("FLOP TURN")
def set_isomorphism(session: Session, arguments: list[str]) -> None:
    if not {text.lower() for text in arguments} <= {"0", "1", "true", "false"}:
        raise Usage("FLOP and TURN: must be 0 or 1")


@command("SHARE CAP [SHARE] [CAP]")
def set_rake(session: Session, arguments: list[str]) -> None:
    share, cap, *preflop = (_number(text, "rake") for text in arguments)
    if any(preflop):
        raise Usage("rake before the flop must be 0: trees begin on the flop or later")
    session.rules = replace(session.rules, rake=share, rake_cap=cap)


@command("AMOUNT…")
def add_line(session: Session, arguments: list[str]) -> None:
    session.lines[_amounts(arguments)] = None


@command("AMOUNT…")
def remove_line(session: Session, arguments: list[str]) -> None:
    """Without the line's last action: lines that go through it, or the check or call itself."""
    line = _amounts(arguments)
    _drop(session, line)
    if _is_passive(line):
        session.removed[line] = None


@command("AMOUNT…")
def force_line(session: Session, arguments: list[str]) -> None:
    """Only this line's actions at its nodes; whoever faces a bet may still fold."""
    line = _amounts(arguments)
    for length in range(len(line)):
        before, action = line[:length], line[length]
        for other in [other for other in session.lines if other[:length] == before and len(other) > length]:
            if other[length] != action:
                del session.lines[other]
        passive = (*before, max(before[-2:], default=0.0))
        if passive[-1] != action:
            session.removed[passive] = None
    session.lines[line] = None


def _is_passive(line: Amounts) -> bool:
    """Whether a line ends with a check or a call."""
    return bool(line) and line[-1] <= max(line[-3:-1], default=0.0)


def _drop(session: Session, line: Amounts) -> None:
    for other in [other for other in session.lines if other[: len(line)] == line]:
        del session.lines[other]


@command("NODE|AMOUNT…")
def cut_line(session: Session, arguments: list[str]) -> None:
    """Nothing but checks, calls and folds after a line."""
    if arguments[0].startswith("r"):
        node = session.node(arguments[0])
        line: Amounts = ()
        index = node.index
        while index > 0:
            above = int(node.tree.parent[index])
            if node.tree.kind[above] == NodeKind.DECISION:
                line = (float(node.tree.paid[index, node.tree.player[above]]), *line)
            index = above
    else:
        line = _amounts(arguments)
    if any(other[: len(line)] == line for other in session.lines):
        _drop(session, line)
        session.lines[line] = None


@command()
def clear_lines(session: Session, arguments: list[str]) -> None:
    session.lines, session.removed = {}, {}


@command()
def build_tree(session: Session, arguments: list[str]) -> None:
    session.build()


@command()
def estimate_tree(session: Session, arguments: list[str]) -> str:
    size = session.estimate(session.describe())
    return f"estimated tree size: {-(-size.memory_bytes[32] // MEGABYTE)} MB"


@command()
def free_tree(session: Session, arguments: list[str]) -> None:
    session.forget()


@command()
def is_tree_present(session: Session, arguments: list[str]) -> str:
    return "false" if session.spot is None else "true"


@command("LINE…")
def add_info_line(session: Session, arguments: list[str]) -> None:
    session.notes.append(" ".join(arguments))


@command()
def reset_tree_info(session: Session, arguments: list[str]) -> None:
    session.notes = []


# --- solving ---------------------------------------------------------------------------------------------------------


@command("ACCURACY [chips|fraction]")
def set_accuracy(session: Session, arguments: list[str]) -> None:
    accuracy, unit = _number(arguments[0], "ACCURACY"), arguments[1] if arguments[1:] else "chips"
    if unit not in ("chips", "fraction") or accuracy < 0:
        raise Usage("ACCURACY is a number of at least 0, in chips or a fraction of the pot")
    session.accuracy, session.accuracy_is_fraction = accuracy, unit == "fraction"


@command("THREADS")
def set_threads(session: Session, arguments: list[str]) -> None:
    session.threads = min(_whole(arguments[0], "THREADS"), available_cores()) or None


@command("NAME")
def set_algorithm(session: Session, arguments: list[str]) -> None:
    if arguments[0] not in ALGORITHMS:
        raise Usage(f"algorithm: {arguments[0][:40]!r} is not one of {', '.join(ALGORITHMS)}")


@command("NUMBER…", "set_recalc_accuracy", "set_always_recalc", "set_info_freq")
def _ignore_numbers(session: Session, arguments: list[str]) -> None:
    """Every iteration computes the whole tree, and every measurement is reported."""
    for text in arguments:
        _number(text, "NUMBER")


@command("[LIMIT] [seconds|steps]")
def go(session: Session, arguments: list[str]) -> None:
    stop = StopAt()
    if arguments:
        limit, unit = _number(arguments[0], "LIMIT"), arguments[1] if arguments[1:] else "steps"
        if unit == "seconds" and limit > 0:
            stop.seconds = limit
        elif unit == "steps" and limit > 0:
            stop.iterations = max(_whole(arguments[0], "LIMIT"), 1)
        else:
            raise Usage("LIMIT is a number above 0, of seconds or steps")
    session.prepare(stop)


@command("NODE")
def solve_partial(session: Session, arguments: list[str]) -> None:
    session.node(arguments[0])
    session.prepare(StopAt())


@command()
def stop(session: Session, arguments: list[str]) -> None:
    session.stop()


@command()
def wait_for_solver(session: Session, arguments: list[str]) -> None:
    session.wait()


# --- reading the tree ------------------------------------------------------------------------------------------------


@command()
def show_hand_order(session: Session, arguments: list[str]) -> str:
    return HAND_ORDER


@command("", "show_board", "show_board_no_iso")
def _board(session: Session, arguments: list[str]) -> str:
    board = session.board if session.spot is None else session.spot.board
    if board is None:
        raise RegretlessError("there is no board: send set_board first")
    return board_text(board)


@command()
def show_effective_stack(session: Session, arguments: list[str]) -> str:
    stack = session.stack if session.spot is None else session.spot.stack
    if stack is None:
        raise RegretlessError("there is no stack: send set_eff_stack first")
    return chips(stack)


@command()
def show_tree_info(session: Session, arguments: list[str]) -> str:
    return "\n".join(session.notes or tree_info(session.built))


def _node_text(session: Session, node: TreeNode, *, root: bool = False) -> str:
    return node_text(node, session.built, locked=not root and node.name in session.locks, root=root)


@command("NODE")
def show_node(session: Session, arguments: list[str]) -> str:
    return _node_text(session, session.node(arguments[0]), root=arguments[0] == "r")


@command("NODE")
def show_children(session: Session, arguments: list[str]) -> str:
    node = session.node(arguments[0])
    children = [node] if arguments[0] == "r" else node.children(session.built.board)
    return "\n\n".join(f"child {number}:\n{_node_text(session, child)}" for number, child in enumerate(children))


@command()
def show_all_lines(session: Session, arguments: list[str]) -> str:
    return "\n".join(line for line, _ in action_lines(session.tree))


@command()
def node_count(session: Session, arguments: list[str]) -> str:
    """Nodes with cards; equivalent runouts count once."""
    size = session.estimate(session.spot or session.describe())
    return "\n".join(f"{kind}: {count}" for kind, count in size.node_kinds.items())


@command()
def show_memory(session: Session, arguments: list[str]) -> str:
    return f"free memory: {available_bytes() // MEGABYTE} MB\nused memory: {resident_bytes() // MEGABYTE} MB"


# --- reading the solution --------------------------------------------------------------------------------------------


@command("OOP|IP [NODE]")
def show_range(session: Session, arguments: list[str]) -> str:
    player = _player(arguments[0])
    if len(arguments) == 1:
        if player not in session.ranges:
            raise RegretlessError(f"{arguments[0]} has no range: send set_range first")
        return row_text(session.ranges[player].weights)
    table = session.view(session.node(arguments[1])).hands[player]
    return row_text(all_hands(table.hand, table.weight))


@command("NODE")
def show_strategy(session: Session, arguments: list[str]) -> str:
    _, strategy = session.strategy(session.decision(arguments[0]))
    return "\n".join(map(row_text, strategy))


@command("NODE")
def show_strategy_pp(session: Session, arguments: list[str]) -> str:
    view = session.view(session.decision(arguments[0]))
    present = view.acting.weight > 0
    columns = [row[present] for row in view.strategy[::-1]]
    return table_text(view.acting.hand[present], columns, view.acting.equity[present])


def _player_and_node(session: Session, arguments: list[str]) -> tuple[PlayerName, TreeNode]:
    return _player(arguments[0]), session.node(arguments[1])


@command("OOP|IP NODE")
def calc_ev(session: Session, arguments: list[str]) -> str:
    player, node = _player_and_node(session, arguments)
    table = session.view(node).hands[player]
    paid = float(node.tree.paid[node.index, PLAYERS.index(player)])
    rows = all_hands(table.hand, table.ev - paid, math.nan), all_hands(table.hand, table.matchups)
    return "\n".join(map(row_text, rows))


@command("OOP|IP NODE")
def calc_ev_pp(session: Session, arguments: list[str]) -> str:
    player, node = _player_and_node(session, arguments)
    table = session.view(node).hands[player]
    paid = float(node.tree.paid[node.index, PLAYERS.index(player)])
    present = table.weight > 0
    ev = (table.ev - paid)[present]
    return table_text(table.hand[present], [ev, table.matchups[present]], ev)


@command("OOP|IP NODE")
def calc_eq_node(session: Session, arguments: list[str]) -> str:
    player, node = _player_and_node(session, arguments)
    view = session.view(node)
    table = view.hands[player]
    rows = all_hands(table.hand, table.equity, math.nan), all_hands(table.hand, table.matchups)
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


@command("OOP|IP")
def calc_eq(session: Session, arguments: list[str]) -> str:
    if session.board is None:
        raise RegretlessError("there is no board: send set_board first")
    return "\n".join(_range_equity(session, _player(arguments[0]), session.board)[:2])


@command("OOP|IP")
def calc_eq_preflop(session: Session, arguments: list[str]) -> str:
    return "\n".join(_range_equity(session, _player(arguments[0]), ()))


@command()
def calc_results(session: Session, arguments: list[str]) -> str:
    if session.solving is not None and session.measured is not None and session.solving.thread.is_alive():
        return results_text(0.0, session.measured)
    solution = session.current()
    return results_text(solution.seconds, solution.evaluation)


def _path(session: Session, text: str) -> tuple[SpotReader, list[LineNode]]:
    """The nodes on the way to a node, with the reach of every hand."""
    reader, node = session.current().reader, session.node(text)
    return reader, reader.path(", ".join(node.line))


@command("NODE")
def calc_line_freq(session: Session, arguments: list[str]) -> str:
    """How often the line is played if its cards are dealt."""
    reader, path = _path(session, arguments[0])
    share = 1.0
    for before, after in pairwise(path):
        if reader.tree.kind[before.index] != NodeKind.CHANCE:
            share *= reader.pairs(after) / (reader.pairs(before) or 1.0)
    return number(share)


@command("NODE")
def calc_global_freq(session: Session, arguments: list[str]) -> str:
    """How often the node is reached, of all hands that are played."""
    reader, path = _path(session, arguments[0])
    return number(_reached(reader, path[-1]) / reader.pairs(reader.root))


def _reached(reader: SpotReader, node: LineNode) -> float:
    """The weight of the pairs of hands that reach a node, times the probability of its cards."""
    unseen = DECK - 4 - len(reader.board)
    deals = math.prod(unseen - number for number in range(len(node.deal.cards)))
    return reader.pairs(node) / deals


@command("NODE")
def calc_matchups_line(session: Session, arguments: list[str]) -> str:
    reader, path = _path(session, arguments[0])
    return number(reader.pairs(path[-1]))


@command("[global|local]")
def show_all_freqs(session: Session, arguments: list[str]) -> str:
    """Frequencies of all lines over all cards: of all hands, or of those that reach the node before."""
    how = arguments[0] if arguments else "global"
    if how not in ("global", "local"):
        raise Usage(f"{how[:40]!r} is neither global nor local")
    reader = session.current().reader
    reached: defaultdict[int, float] = defaultdict(float)
    for node, deals in _weighted(reader):
        reached[node.index] += deals * _reached(reader, node)
    tree = reader.tree
    rows = []
    for line, index in action_lines(tree):
        above = int(tree.parent[index])
        while how == "local" and above > 0 and tree.kind[above] == NodeKind.CHANCE:
            above = int(tree.parent[above])
        whole = reached[0 if how == "global" or index == 0 else above]
        rows.append(f"{line} - {number(reached[index] / whole if whole else 0.0)}")
    return "\n".join(rows)


def _weighted(reader: SpotReader) -> Iterator[tuple[LineNode, int]]:
    """Every node, and how many deals it stands for: those that only suits tell apart are read once."""
    waiting = [(reader.root, 1)]
    while waiting:
        node, deals = waiting.pop()
        yield node, deals
        if TreeNode(reader.tree, node.index).kind is NodeKind.CHANCE:
            cards: dict[int, list[int]] = {}
            for card in reader.cards(node):
                cards.setdefault(find_deal(reader.form, reader.group, node.deal, card).runout, []).append(card)
            waiting += [(reader.deal(node, same[0]), deals * len(same)) for same in cards.values()]
        elif reader.tree.kind[node.index] == NodeKind.DECISION:
            waiting += [(reader.act(node, action), deals) for action in range(len(reader.actions(node.index)))]


# --- editing ---------------------------------------------------------------------------------------------------------


@command("NODE FREQUENCY…")
def set_strategy(session: Session, arguments: list[str]) -> None:
    node = session.decision(arguments[0])
    actions = len(list(node.actions()))
    numbers = arguments[1:]
    if len(numbers) != actions * HAND_COUNT:
        needed = f"{actions} actions × {HAND_COUNT:,} hands"
        raise Usage(f"{node.name}: {len(numbers):,} frequencies, where {needed} are needed")
    rows = [numbers[first : first + HAND_COUNT] for first in range(0, len(numbers), HAND_COUNT)]
    session.edit(node, np.array([_row(row, "frequency") for row in rows]))


@command("NODE")
def lock_node(session: Session, arguments: list[str]) -> None:
    session.lock(session.decision(arguments[0]))


@command("NODE FLAG…")
def combo_lock_node(session: Session, arguments: list[str]) -> None:
    node = session.decision(arguments[0])
    session.lock(node, _row(arguments[1:], "flag") > 0)


@command("NODE")
def unlock_node(session: Session, arguments: list[str]) -> None:
    session.unlock(session.decision(arguments[0]))


@command("OOP|IP")
def set_mes(session: Session, arguments: list[str]) -> None:
    session.play_best_response(_player(arguments[0]))


@command("OOP|IP PARTS flop|turn|river")
def round_up_to(session: Session, arguments: list[str]) -> None:
    """Frequencies of a player on the first street in multiples of 1 / PARTS, as near as possible."""
    player, parts, street = _player(arguments[0]), _whole(arguments[1], "PARTS"), arguments[2]
    first = session.built.streets[0]
    if not 1 <= parts <= 1000:
        raise Usage("PARTS: must be from 1 to 1,000")
    if street != first:
        raise Usage(f"{street[:40]!r}: only strategies on the first street, the {first}, can be rounded")
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


# --- files -----------------------------------------------------------------------------------------------------------


@command("FILE [full|no_rivers|no_turns]")
def dump_tree(session: Session, arguments: list[str]) -> None:
    """With everything that a later `go` needs, unless a smaller file is wanted."""
    how = arguments[1] if arguments[1:] else "full"
    if how not in ("full", "no_rivers", "no_turns"):
        raise Usage(f"{how[:40]!r} is not one of full, no_rivers, no_turns")
    session.save(_solution_file(arguments[0]), resumable=how == "full")


@command("FILE [full|fast|auto]")
def load_tree(session: Session, arguments: list[str]) -> None:
    session.read_file(_solution_file(arguments[0]))
