"""A solved game in the terminal: values, exploitability, what it took, and the strategy.

A strategy is a table with one row per information set: the probability of each action, and a bar in their colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from textwrap import wrap
from typing import TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regretless.cards.deck import board_text
from regretless.cli.terminal.consoles import fact_table, for_answers, has_color, page_columns, plain_table
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import (
    cell_text,
    count_text,
    duration_text,
    share_text,
    signed_text,
    unit_of,
)
from regretless.cli.views.spot_view import WIDE, grid_legend, grid_lines, wrap_legend
from regretless.colors import game_action_colors
from regretless.deep.trained_policy import TrainedPolicy
from regretless.errors import InvalidOption, bytes_text
from regretless.holdem.games.big_blinds import BigBlindSolution
from regretless.holdem.games.pricing import PricedSolution
from regretless.holdem.games.push_fold import PushFoldSolution
from regretless.holdem.games.real_cards import RealCardsSolution
from regretless.holdem.games.whole_game import NoLimitSolution
from regretless.holdem.reading.grids import make_chart
from regretless.holdem.reading.line_reader import NodeStrategy
from regretless.printable import printable
from regretless.solving.game_solution import GameSolution

__all__ = ["choose", "payoff_unit", "print_game", "read_keys", "show_game", "show_line", "strategy_table"]

SMALL = 30  # information sets; a table of up to this many is shown whole
FIRST = 12  # rows shown of a larger table
OTHERS = 3  # lines suggested for --line
FLOPS = 4  # listed of those that a game was solved on

ROUNDED_TO_ZERO = 5e-4  # a share below which .1% shows 0.0%
RARELY = 0.005  # a share below which an action is left out of a list of words
BAR = 24  # characters
MAX_COLUMNS = 4  # with more actions, a row lists those it plays
Strategy = Mapping[str, Mapping[str, float]]
AtSet = TypeVar("AtSet")


def show_game(solution: GameSolution, keys_text: str | None, *, whole: bool, file: str, as_json: bool) -> None:
    """Show a game: its figures, and the information sets named in a text; without it, all of them or the first few."""
    keys = read_keys(keys_text)
    if not as_json:
        print_game(solution, whole=whole, keys=keys, file=file)
        return
    result = solution.as_json(strategy=whole)
    if keys is not None:
        result["strategy"] = {key: dict(mix) for key, mix in choose(solution.strategy, keys, None).items()}
    print_json(result)


def show_line(node: NodeStrategy, *, by_hand: bool, as_json: bool) -> None:
    """Show what the player does at a node of a game from the deal, by classes of hands or hand by hand."""
    result = node.as_json(hands=by_hand)
    if as_json:
        print_json(result)
        return
    console = for_answers()
    if by_hand:
        _print_heading(console, node)
        console.print(strategy_table(result["hands"], color=has_color(console), rows="hand"))
    else:
        _print_chart(console, node)


def _print_heading(console: Console, node: NodeStrategy) -> None:
    """The line, who acts, and how often each action is taken; on a terminal, broken between words."""
    shares = zip(node.actions, node.frequencies, strict=True)
    mix = ", ".join(f"{action} {cell_text(share, '.1%')}" for action, share in shares)
    heading = f"{node.line or 'the first decision'}: {node.player} acts: {mix}"
    for part in wrap(heading, console.width, subsequent_indent="  ", break_on_hyphens=False):
        console.print(part, soft_wrap=True)


def _print_chart(console: Console, node: NodeStrategy) -> None:
    """How often each action is taken, and the 13 × 13 chart of classes."""
    color, columns = has_color(console), page_columns(console)
    chart = make_chart(node)
    _print_heading(console, node)
    for line in wrap_legend(grid_legend(chart, color=color, wide=columns >= WIDE), columns):
        console.print(line)
    for line in grid_lines(chart, color=color, wide=columns >= WIDE):
        console.print(line, no_wrap=True, soft_wrap=True)


def print_game(
    solution: GameSolution, *, whole: bool = False, keys: Sequence[str] | None = None, file: str | None = None
) -> None:
    """Print the summary and the strategy: all of it if it is small or `whole`, the first decisions otherwise.

    Of hold'em from the deal, charts are printed instead of the first decisions.
    """
    console = for_answers()
    if isinstance(solution, BigBlindSolution) and not whole and keys is None:
        _print_summary(console, solution)
        for line in solution.lines:
            console.print()
            _print_chart(console, solution.node(line))
        if isinstance(solution, PricedSolution):
            others = [repr(node.line) for node in islice(solution.charts(), 1 + OTHERS) if node.line]
            console.print(Text(f"--line shows other decisions: {', '.join(others)}, …", style="dim"), soft_wrap=True)
        return
    limit = None if whole or solution.record.information_sets <= SMALL else FIRST
    selection = choose(solution.strategy, keys, limit)
    _print_summary(console, solution)
    console.print()
    console.print(strategy_table(selection, color=has_color(console)))
    hidden = len(solution.strategy) - len(selection)
    if hidden and keys is None:
        more = f"regretless show {file} --strategy" if file else "--strategy shows them"
        console.print(Text(f"… and {hidden:,} more information sets: {more}", style="dim"))


def _print_summary(console: Console, solution: GameSolution) -> None:
    console.print(Text(printable(solution.game), style="bold"), Text(_how(solution), style="dim"), soft_wrap=True)
    console.print()
    console.print(fact_table(_facts(solution)))


def _how(solution: GameSolution) -> str:
    if solution.reason == "exact":
        return "exact, by linear program"
    sampled = "" if solution.settings.sampling == "full" else f", {solution.settings.sampling} sampling"
    sampled += ", public form" if solution.settings.form == "public" else ""
    threads = f", {solution.threads} threads" if solution.threads > 1 else ""
    machine = f"{solution.engine} on {solution.device}{threads}"
    return f"{solution.variant}{sampled} · {solution.iterations:,} iterations · {machine}"


def _facts(solution: GameSolution) -> list[tuple[str, str | Text]]:
    record, unit = solution.record, payoff_unit(solution)
    facts = _price(solution, unit) if solution.is_measured else []
    facts.append(
        ("time", f"{duration_text(solution.seconds)} solving, {duration_text(record.setup_seconds)} setting up")
    )
    if isinstance(solution, PushFoldSolution):
        ante = f", ante {solution.rules.ante:g}" if solution.rules.ante else ""
        facts.insert(0, ("stack", f"{solution.rules.stack:g} big blinds{ante}"))
        facts.insert(-1, ("range", f"{solution.pushed:.2%} of hands are pushed, {solution.called:.2%} call a push"))
    if record.seconds_per_iteration > 0:
        speed = count_text(1 / record.seconds_per_iteration)
        facts.append(("speed", f"{speed} iterations/s, {duration_text(record.seconds_per_iteration)} each"))
    if isinstance(solution, TrainedPolicy):
        facts.append(("samples", _samples(solution)))
    if isinstance(solution, NoLimitSolution):
        facts = _boards(solution) + facts
    if isinstance(solution, RealCardsSolution):
        facts = _flops(solution) + facts
    facts += [
        ("memory", bytes_text(record.memory_bytes)),
        ("tree", f"{record.nodes:,} nodes, {record.information_sets:,} information sets"),
    ]
    if (note := _note(solution)) is not None:
        facts.append(("", Text(note, style="yellow")))
    return facts


def payoff_unit(solution: GameSolution) -> str:
    """The unit of a game's payoffs."""
    return "big blinds" if isinstance(solution, BigBlindSolution) else unit_of(solution.game)


def _price(solution: GameSolution, unit: str) -> list[tuple[str, str | Text]]:
    """The values of the strategies, and how exploitable they are."""
    values = "   ".join(f"player {player} {signed_text(value)}" for player, value in enumerate(solution.values))
    exploitability = Text(f"{max(solution.exploitability, 0.0):.3g}", style="bold").append(
        f" {unit} per game   (NashConv / {len(solution.values)})", style="not bold"
    )
    facts: list[tuple[str, str | Text]] = [("exploitability", exploitability)]
    if solution.scale != 1:  # also in the customary unit, such as mbb/g
        scaled = solution.scale * max(solution.exploitability, 0.0)
        facts.append(("", f"{scaled:.3g} {solution.unit.removeprefix('in ')}"))
    facts.append(("NashConv", f"{max(solution.nash_conv, 0.0):.3g} {unit} per game"))
    facts.append(("value", f"{values}   ({unit} per game)"))
    return facts


def _boards(solution: NoLimitSolution) -> list[tuple[str, str | Text]]:
    """The stack of a game from the deal, its buckets, and the boards it was solved on."""
    count, each = solution.settings.sample_runouts or 0, solution.record.seconds_per_iteration
    speed = f", {count_text(count / each)} per second" if each > 0 else ""
    facts: list[tuple[str, str | Text]] = [("stack", f"{solution.rules.big_blinds:g} big blinds")]
    if solution.settings.buckets is not None:
        facts.append(("buckets", printable(solution.settings.buckets)))
    facts.append(("boards", f"{solution.boards:,} drawn, {count} per iteration{speed}"))
    return facts


def _flops(solution: RealCardsSolution) -> list[tuple[str, str | Text]]:
    """The stack of a game from the deal, and the flops it was solved on."""
    names = [board_text(flop.cards) for flop in solution.flops[:FLOPS]]
    hidden = len(solution.flops) - len(names)
    listed = ", ".join(names) + (f", … and {hidden:,} more" if hidden else "")
    return [
        ("stack", f"{solution.rules.big_blinds:g} big blinds"),
        ("flops", f"{len(solution.flops):,}, with real cards: {listed}"),
    ]


def _samples(solution: TrainedPolicy) -> str:
    """How many samples a training run drew, and how full its memories are."""
    training = solution.training
    memories = ", ".join(map(share_text, training.fill))
    return f"{training.samples:,} drawn; memories {memories} full"


def _note(solution: GameSolution) -> str | None:
    target = solution.settings.target
    if target is not None and solution.reason == "iterations":
        return f"the target of {solution.scale * target:g} was not reached"
    if solution.is_measured and len(solution.values) > 2:
        return "with more than two players, CFR need not approach an equilibrium: NashConv says how close it came"
    if not solution.zero_sum:
        return "payoffs do not sum to 0, so CFR need not approach an equilibrium: NashConv says how close it came"
    return None


def read_keys(text: str | None) -> list[str] | None:
    """Information sets from `0:,1:,2:`.

    >>> read_keys("0:,1:pb"), read_keys(None)
    (['0:', '1:pb'], None)
    """
    return None if text is None else [key.strip() for key in text.split(",") if key.strip()]


def choose(strategy: Mapping[str, AtSet], keys: Sequence[str] | None, limit: int | None) -> dict[str, AtSet]:
    """The information sets with these keys; without keys, the first `limit`, or all."""
    if keys is None:
        return dict(islice(strategy.items(), limit))
    for key in keys:
        if key not in strategy:
            known = ", ".join(islice(strategy, 6)) + (", …" if len(strategy) > 6 else "")
            raise InvalidOption("information-sets", key, f"is not an information set of this game ({known})")
    return {key: strategy[key] for key in keys}


def strategy_table(strategy: Strategy, *, color: bool, rows: str = "information set") -> Table:
    """A row for each information set; `rows` says what they are. Without colour, letters of actions make the bars."""
    strategy = {
        printable(key, lines=True): {printable(action): share for action, share in mix.items()}
        for key, mix in strategy.items()
    }
    colors = game_action_colors(action for mix in strategy.values() for action in mix)
    actions = list(colors)
    table = plain_table()
    table.add_column(rows, no_wrap=True, overflow="ellipsis", min_width=len(rows))
    columns = actions if len(actions) <= MAX_COLUMNS else []
    for action in columns:
        table.add_column(Text(action, style=colors[action]), justify="right", no_wrap=True, min_width=6)
    table.add_column("strategy", no_wrap=True, overflow="ellipsis")
    for key, mix in strategy.items():
        cells = [_share_cell(mix.get(action)) for action in columns]
        summary = _bar(mix, colors, color=color) if columns else _words(mix, colors)
        table.add_row(Text(" · ".join(key.split("\n"))), *cells, summary)
    return table


def _share_cell(share: float | None) -> Text:
    """How often an action is taken, dim if that would be shown as 0.0%; empty if it cannot be taken."""
    if share is None:
        return Text("")
    return Text(f"{share:.1%}", style="" if share >= ROUNDED_TO_ZERO else "dim")


def _bar(mix: Mapping[str, float], colors: Mapping[str, str], *, color: bool) -> Text:
    """A bar of `BAR` characters, divided among the actions."""
    text = Text()
    total = 0.0
    for action in colors:
        total += mix.get(action, 0.0)
        length = round(total * BAR) - len(text)
        text.append(("█" if color else action[:1] or "?") * length, style=colors[action] if color else "")
    return text


def _words(mix: Mapping[str, float], colors: Mapping[str, str]) -> Text:
    """The actions taken at least once in two hundred times, most frequent first."""
    text = Text()
    for action, probability in sorted(mix.items(), key=lambda item: -item[1]):
        if probability >= RARELY:
            text.append("  " if text else "").append(action, style=colors[action]).append(f" {probability:.1%}")
    return text
