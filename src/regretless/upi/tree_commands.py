"""Commands that describe, build, solve and save a tree."""

from __future__ import annotations

from dataclasses import replace

from regretless.api import solve
from regretless.cards.deck import board_text, parse_board
from regretless.cards.ranges import Range
from regretless.engines import available_cores
from regretless.errors import RegretlessError
from regretless.forms.public import NodeKind
from regretless.holdem.spots.lines import CLOSE
from regretless.holdem.spots.sizes import exact, number_text
from regretless.holdem.spots.spot import Spot
from regretless.upi.session import Amounts, Session, StopAt
from regretless.upi.table import (
    CommandTable,
    read_amounts,
    read_number,
    read_player,
    read_solution_file,
    read_whole,
)

__all__ = ["TREE_COMMANDS"]

MEGABYTE = 2**20
ALGORITHMS = ("auto", "pio_cfr", "original_pio")

TREE_COMMANDS = CommandTable()


@TREE_COMMANDS.enter("", "load_all_nodes", "clear_cache")
def _nothing(session: Session, arguments: list[str]) -> None:
    """There is nothing to do."""


@TREE_COMMANDS.enter()
def bench(session: Session, arguments: list[str]) -> str:
    """Iterations per second of a river with every hand and two bet sizes."""
    fields = {"board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 300, "bets": {"bet": "50%, 100%"}}
    spot = Spot.from_mapping(fields | {"oop": {"range": "100%"}, "ip": {"range": "100%"}})
    solution = solve(spot, iterations=200, threads=session.threads, progress=False)
    return f"iterations per second: {1 / solution.record.seconds_per_iteration:.1f}"


# --- the tree --------------------------------------------------------------------------------------------------------


@TREE_COMMANDS.enter("CARD…")
def set_board(session: Session, arguments: list[str]) -> None:
    board = parse_board(" ".join(arguments))
    if len(board) not in (3, 4, 5):
        raise RegretlessError(f"board: {board_text(board)!r} must have 3, 4 or 5 cards")
    session.board = board


@TREE_COMMANDS.enter("OOP|IP RANGE…")
def set_range(session: Session, arguments: list[str]) -> None:
    player = read_player(arguments[0])
    session.ranges[player] = Range.parse(" ".join(arguments[1:]), f"{player}.range", warn=False)


@TREE_COMMANDS.enter("OOP IP START")
def set_pot(session: Session, arguments: list[str]) -> None:
    oop, ip, start = (read_number(text, "pot") for text in arguments)
    if oop or ip:
        raise RegretlessError("both players must have put in 0: add what they put in to START")
    if start <= 0:
        raise RegretlessError("START: must be above 0")
    session.pot = start


@TREE_COMMANDS.enter("CHIPS")
def set_eff_stack(session: Session, arguments: list[str]) -> None:
    stack = read_number(arguments[0], "CHIPS")
    if stack <= 0:
        raise RegretlessError("CHIPS: must be above 0")
    session.stack = stack


@TREE_COMMANDS.enter("FLOP TURN")
def set_isomorphism(session: Session, arguments: list[str]) -> None:
    if not {text.lower() for text in arguments} <= {"0", "1", "true", "false"}:
        raise RegretlessError("FLOP and TURN: must be 0 or 1")


@TREE_COMMANDS.enter("SHARE CAP [SHARE] [CAP]")
def set_rake(session: Session, arguments: list[str]) -> None:
    share, cap, *preflop = (read_number(text, "rake") for text in arguments)
    if any(preflop):
        raise RegretlessError("rake before the flop must be 0: trees begin on the flop or later")
    session.rules = replace(session.rules, rake=share, rake_cap=cap)


@TREE_COMMANDS.enter("AMOUNT…")
def add_line(session: Session, arguments: list[str]) -> None:
    _add(session, read_amounts(arguments))


@TREE_COMMANDS.enter("AMOUNT…")
def remove_line(session: Session, arguments: list[str]) -> None:
    """Without the line's last action: lines that go through it, or the check or call itself."""
    line = wager = read_amounts(arguments)
    while _is_passive(wager):
        wager = wager[:-1]
    _check_exists(session, wager)
    _drop(session, line)
    if _is_passive(line):
        session.removed[line] = None


@TREE_COMMANDS.enter("AMOUNT…")
def force_line(session: Session, arguments: list[str]) -> None:
    """Only this line's actions at its nodes; whoever faces a bet may still fold."""
    line = read_amounts(arguments)
    for length in range(len(line)):
        before, action = line[:length], line[: length + 1]
        for lines in (session.lines, session.removed):
            for other in [other for other in lines if len(other) > length and _begins(other, before)]:
                if not _begins(other, action):
                    del lines[other]
        passive = (*before, max(before[-2:], default=0.0))
        if not _begins(passive, action):
            session.removed[passive] = None
    _add(session, line)


def _begins(line: Amounts, start: Amounts) -> bool:
    """Whether a line begins with these amounts; they may have been rounded."""
    return len(line) >= len(start) and all(abs(one - other) < CLOSE for one, other in zip(line, start))


def _is_passive(line: Amounts) -> bool:
    """Whether a line ends with a check or a call."""
    return bool(line) and line[-1] < max(line[-3:-1], default=0.0) + CLOSE


def _add(session: Session, line: Amounts) -> None:
    """Add a line, whose checks and calls are possible again."""
    session.lines[line] = None
    for other in [other for other in session.removed if _begins(line, other)]:
        del session.removed[other]


def _check_exists(session: Session, line: Amounts) -> None:
    if line and not any(_begins(other, line) for other in session.lines):
        raise RegretlessError(f"no line begins with {' '.join(map(number_text, line))}")


def _drop(session: Session, line: Amounts) -> None:
    """Forget everything that begins with a line."""
    for lines in (session.lines, session.removed):
        for other in [other for other in lines if _begins(other, line)]:
            del lines[other]


@TREE_COMMANDS.enter("NODE|AMOUNT…")
def cut_line(session: Session, arguments: list[str]) -> None:
    """Nothing but checks, calls and folds after a line."""
    if arguments[0].startswith("r"):
        node = session.node(arguments[0])
        line: Amounts = ()
        index = node.index
        while index > 0:
            above = int(node.tree.parent[index])
            if node.tree.kind[above] == NodeKind.DECISION:
                line = (exact(float(node.tree.paid[index, node.tree.player[above]])), *line)
            index = above
    else:
        line = read_amounts(arguments)
    _check_exists(session, line)
    _drop(session, line)
    _add(session, line)


@TREE_COMMANDS.enter()
def clear_lines(session: Session, arguments: list[str]) -> None:
    session.clear_lines()


@TREE_COMMANDS.enter()
def build_tree(session: Session, arguments: list[str]) -> None:
    session.build()


@TREE_COMMANDS.enter()
def estimate_tree(session: Session, arguments: list[str]) -> str:
    size = session.estimate(session.describe())
    return f"estimated tree size: {-(-size.memory_bytes[32] // MEGABYTE)} MB"


@TREE_COMMANDS.enter()
def free_tree(session: Session, arguments: list[str]) -> None:
    session.forget()


@TREE_COMMANDS.enter()
def is_tree_present(session: Session, arguments: list[str]) -> str:
    return "false" if session.spot is None else "true"


@TREE_COMMANDS.enter("LINE…")
def add_info_line(session: Session, arguments: list[str]) -> None:
    session.notes.append(" ".join(arguments))


@TREE_COMMANDS.enter()
def reset_tree_info(session: Session, arguments: list[str]) -> None:
    session.notes = []


# --- solving ---------------------------------------------------------------------------------------------------------


@TREE_COMMANDS.enter("ACCURACY [chips|fraction]")
def set_accuracy(session: Session, arguments: list[str]) -> None:
    accuracy, unit = read_number(arguments[0], "ACCURACY"), arguments[1] if arguments[1:] else "chips"
    if unit not in ("chips", "fraction") or accuracy < 0:
        raise RegretlessError("ACCURACY is a number of at least 0, in chips or a fraction of the pot")
    session.accuracy, session.accuracy_is_fraction = accuracy, unit == "fraction"


@TREE_COMMANDS.enter("THREADS")
def set_threads(session: Session, arguments: list[str]) -> None:
    session.threads = min(read_whole(arguments[0], "THREADS"), available_cores()) or None


@TREE_COMMANDS.enter("NAME")
def set_algorithm(session: Session, arguments: list[str]) -> None:
    if arguments[0] not in ALGORITHMS:
        raise RegretlessError(f"algorithm: {arguments[0][:40]!r} is not one of {', '.join(ALGORITHMS)}")


@TREE_COMMANDS.enter("NUMBER…", "set_recalc_accuracy", "set_always_recalc", "set_info_freq")
def _ignore_numbers(session: Session, arguments: list[str]) -> None:
    """Every iteration computes the whole tree, and every measurement is reported."""
    for text in arguments:
        read_number(text, "NUMBER")


@TREE_COMMANDS.enter("[LIMIT] [seconds|steps]")
def go(session: Session, arguments: list[str]) -> None:
    stop = StopAt()
    if arguments:
        limit, unit = read_number(arguments[0], "LIMIT"), arguments[1] if arguments[1:] else "steps"
        if unit == "seconds" and limit > 0:
            stop.seconds = limit
        elif unit == "steps" and limit > 0:
            stop.iterations = max(read_whole(arguments[0], "LIMIT"), 1)
        else:
            raise RegretlessError("LIMIT is a number above 0, of seconds or steps")
    session.prepare(stop)


@TREE_COMMANDS.enter("NODE")
def solve_partial(session: Session, arguments: list[str]) -> None:
    session.node(arguments[0])
    session.prepare(StopAt())


@TREE_COMMANDS.enter()
def stop(session: Session, arguments: list[str]) -> None:
    session.stop()


@TREE_COMMANDS.enter()
def wait_for_solver(session: Session, arguments: list[str]) -> None:
    session.wait()


# --- files -----------------------------------------------------------------------------------------------------------


@TREE_COMMANDS.enter("FILE [full|no_rivers|no_turns]")
def dump_tree(session: Session, arguments: list[str]) -> None:
    """With everything that a later `go` needs, unless a smaller file is wanted."""
    how = arguments[1] if arguments[1:] else "full"
    if how not in ("full", "no_rivers", "no_turns"):
        raise RegretlessError(f"{how[:40]!r} is not one of full, no_rivers, no_turns")
    session.save(read_solution_file(arguments[0]), resumable=how == "full")


@TREE_COMMANDS.enter("FILE [full|fast|auto]")
def load_tree(session: Session, arguments: list[str]) -> None:
    session.read_file(read_solution_file(arguments[0]))
