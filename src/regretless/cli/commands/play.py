"""`regretless play`: hands against a solved game or spot, in the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated

import typer

from regretless.cli.arguments.options import argument, flag, option
from regretless.cli.arguments.values import read_player
from regretless.cli.terminal.consoles import LiteralConsole, for_answers, note, print_error
from regretless.cli.terminal.interrupts import INTERRUPTED
from regretless.cli.terminal.numbers import duration_text
from regretless.errors import InvalidOption, InvalidText, RegretlessError
from regretless.seeds import check_seed

if TYPE_CHECKING:
    from regretless.cli.views.duel_view import Stakes
    from regretless.holdem.reading.line_reader import LineNode
    from regretless.holdem.reading.playing import Duel, Score
    from regretless.holdem.spots.spot import Spot
    from regretless.solving.loop import Progress
    from regretless.solving.solution import Solution

__all__ = ["play"]

WHOLE_GAMES = "Whole games"
TARGET = 0.5  # percent of the pot
QUIT, HELP = ("q", "quit", "exit"), "?"


class InputEnded(Exception):
    """The person stopped: end of the input, or `q`."""


def play(
    file: Annotated[Path, argument("A .rgl file of a solved hold'em game or spot.")],
    hands: Annotated[int | None, option("How many hands to play.", default="until you stop")] = None,
    player: Annotated[
        str | None, option("Your seat in every hand.", default="alternating, ip first", metavar="oop|ip")
    ] = None,
    seed: Annotated[int | None, option("Random seed for the cards and the opponent.", default="a new one")] = None,
    advice: Annotated[bool, flag("--advice", "After each action, show what the solution does with your hand.")] = False,
    resolve: Annotated[
        bool,
        flag(
            "--resolve",
            "Deal any flop, and solve it with the ranges that arrive there. Otherwise the game's own solution plays, "
            "and only flops that it was solved on are dealt.",
            WHOLE_GAMES,
        ),
    ] = False,
    safe: Annotated[
        bool,
        flag(
            "--safe",
            "With --resolve: so that no hand of yours gains more on a flop than against the game's own solution there; "
            "for games solved with buckets.",
            WHOLE_GAMES,
        ),
    ] = False,
    target: Annotated[
        float | None,
        option("With --resolve: exploitability of the flop, in % of the pot.", WHOLE_GAMES, default=f"{TARGET}"),
    ] = None,
    device: Annotated[str | None, option("With --resolve: auto, cpu or cuda.", WHOLE_GAMES, default="auto")] = None,
    threads: Annotated[
        int | None, option("With --resolve: CPU threads, at most.", WHOLE_GAMES, default="all cores")
    ] = None,
) -> None:
    """Play hands against a solution.

    Choose an action by its number or its name: [cyan]2[/cyan], [cyan]call[/cyan], [cyan]r 5[/cyan]. [cyan]?[/cyan]
    explains the choices and the score; [cyan]q[/cyan], Ctrl-C or the end of the input stops and prints it. In games
    from the deal, it is in big blinds per hundred hands; in spots, in chips per hundred hands above what the solution
    expects in your seat. The adjusted score replaces the result of an all-in with its average over all cards that could
    have come.

    \b
    [cyan]regretless play game.rgl[/cyan]
    [cyan]regretless play game.rgl --hands 100 --seed 7 --advice[/cyan]
    [cyan]regretless play spot.rgl --player oop[/cyan]
    [cyan]regretless play game.rgl --resolve[/cyan]   from the deal to the river, on any flop
    """
    from regretless.api import load
    from regretless.cli.views.duel_view import ADJUSTED, score_text
    from regretless.holdem.reading.playing import Score
    from regretless.holdem.spots.spot_fields import PLAYERS

    if hands is not None and hands < 1:
        raise InvalidOption("hands", hands, "must be at least 1")
    if seed is not None:
        check_seed(seed)
    seat = read_player(player)
    solution = load(file)
    if resolve:
        stakes = _resolving_stakes(solution, file, target, safe=safe, device=device, threads=threads)
    else:
        for name, value in {"safe": safe or None, "target": target, "device": device, "threads": threads}.items():
            if value is not None:
                raise InvalidOption(name, value, "is for flops that are solved while you play: add --resolve")
        stakes = _stakes(solution, file)
    random, console, score = Random(seed), for_answers(), Score(stakes.unit)
    code: int | None = None
    if sys.stdin.isatty():
        note("? explains the choices and the score, q stops")
    try:
        for number in count(1) if hands is None else range(1, hands + 1):
            person = (number - 1) % 2 if seat is None else PLAYERS.index(seat)
            _play_hand(console, stakes, person, random, number, score, advice=advice)
    except InputEnded:
        code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
        console = for_answers()  # an interrupted console would repeat its last output
        console.print()
    if code is not None:  # stopped within a hand: its end would have printed the score
        console.print(score_text(score), style="bold", soft_wrap=True)
    if len(score.results) > 1:
        note(ADJUSTED)
    if code is not None:
        raise typer.Exit(code)


def _stakes(solution: Solution, file: Path) -> Stakes:
    """What is played for in a solution."""
    from regretless.cli.views.duel_view import SEATS, Stakes
    from regretless.games.flop_holdem import FlopHoldem
    from regretless.holdem.games.flop_holdem import FlopHoldemSolution
    from regretless.holdem.games.pricing import PricedSolution
    from regretless.holdem.solution import SpotSolution

    blinds = "the small blind", "the big blind"
    if isinstance(solution, PricedSolution):
        return Stakes(solution.reader, solution.rules.stack, "bb", solution.rules.big_blind, blinds)
    if isinstance(solution, FlopHoldemSolution):
        return Stakes(solution.reader, None, "bb", FlopHoldem.big_blind, blinds)
    if isinstance(solution, SpotSolution):
        par = solution.ev["ip"], solution.ev["oop"]
        return Stakes(solution.reader, solution.spot.stack, "chips", 1.0, SEATS, par)
    raise InvalidOption("FILE", str(file), "is not a solved hold'em spot, flop hold'em or a solved game file")


def _resolving_stakes(
    solution: Solution, file: Path, target: float | None, *, safe: bool, device: str | None, threads: int | None
) -> Stakes:
    """What is played for in a whole game whose flops are solved when they are dealt."""
    from regretless.cli.terminal.progress import solve_bar
    from regretless.holdem.games.pricing import PricedSolution

    if not isinstance(solution, PricedSolution):
        raise InvalidOption("resolve", str(file), "is not a no-limit game from the deal, whose flops can be solved")
    percent = TARGET if target is None else target

    @contextmanager
    def watch(spot: Spot) -> Iterator[Callable[[Progress], None]]:
        def report(progress: Progress) -> None:
            measured = progress.exploitability
            show(replace(progress, exploitability=None if measured is None else 100 * measured / spot.pot))

        started = time.monotonic()
        with solve_bar(spot.name, percent, unit="% of the pot") as show:
            yield report
        note(f"solved {spot.name} in {duration_text(time.monotonic() - started)}")

    reader = solution.resolving_reader(safe=safe, watch=watch, target=percent, device=device or "auto", threads=threads)
    return replace(_stakes(solution, file), reader=reader)


def _play_hand(
    console: LiteralConsole, stakes: Stakes, person: int, random: Random, number: int, score: Score, *, advice: bool
) -> None:
    """Deal a hand, play it to the end and count it."""
    from regretless.cli.views import duel_view as view
    from regretless.holdem.reading.playing import Duel, draw_hands

    reader = stakes.reader
    duel = Duel(reader, draw_hands(reader, reader.root, random), person, random)
    if number > 1:
        console.print()
    console.print(view.hand_text(stakes, duel, number), soft_wrap=True)
    nodes = duel.play_on(reader.root)
    while True:
        for line in view.event_lines(duel, nodes):
            console.print(line, soft_wrap=True)
        node = nodes[-1]
        if not duel.is_persons_turn(node):
            break
        console.print(view.state_text(stakes, duel, node), soft_wrap=True)
        action = _ask(console, stakes, duel, node)
        if advice:
            console.print(view.advice_text(duel, node), style="dim", soft_wrap=True)
        nodes = duel.play_on(reader.act(node, action))
    outcome = duel.outcome(node)
    won, adjusted = duel.person_result(node)
    score.add((won - stakes.par[person]) / stakes.chips, (adjusted - stakes.par[person]) / stakes.chips)
    console.print(view.result_text(duel, outcome), soft_wrap=True)
    console.print(view.score_text(score), style="bold", soft_wrap=True)


def _ask(console: LiteralConsole, stakes: Stakes, duel: Duel, node: LineNode) -> int:
    """The number of the action that the person chooses; asks again until there is one."""
    from regretless.cli.views.duel_view import action_names, choices_text, help_lines

    actions = duel.reader.actions(node.index)
    console.print(choices_text(action_names(duel, node)), soft_wrap=True)
    while True:
        console.print("> ", end="")
        if console.is_closed:  # nobody reads the pipe any more
            raise InputEnded
        typed = sys.stdin.readline()
        if not sys.stdin.isatty():  # a terminal has shown what was typed
            console.print(typed.strip(), soft_wrap=True)
        if not typed or typed.strip().lower() in QUIT:
            raise InputEnded
        if typed.strip() == HELP:
            for line in help_lines(stakes):
                console.print(line, style="dim", soft_wrap=True)
            continue
        try:
            return _read_action(typed.strip(), actions)
        except RegretlessError as error:
            print_error(str(error))


def _read_action(text: str, actions: tuple[str, ...]) -> int:
    """Which action a text means, by number or by name."""
    from regretless.holdem.spots.lines import find_action, no_such_action, parse_line

    listed = f"choose from {', '.join(actions)}, q to stop, or ? for help"
    if text.isdecimal():
        digits = text.lstrip("0")
        if not 1 <= int(digits[:9] or 0) <= len(actions):
            raise InvalidText("action", text, None, f"is not from 1 to {len(actions)}; {listed}")
        return int(digits) - 1
    steps = parse_line(text, "action")
    if len(steps) != 1:
        raise InvalidText("action", text, None, f"is not one action; {listed}")
    action = find_action(steps[0], actions)
    if action is None:
        raise no_such_action("action", text, steps[0], actions)
    return action
