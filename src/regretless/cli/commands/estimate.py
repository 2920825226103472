"""`regretless estimate`: how large a spot or a game is and how much memory it takes, before anything is built."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich.text import Text

from regretless.cli.arguments.inputs import is_spot, print_errors, read_files, refuse_saved, spot_paths
from regretless.cli.arguments.options import Json, argument, option
from regretless.cli.terminal.consoles import fact_table, for_answers
from regretless.cli.terminal.json_output import print_json
from regretless.errors import Advice, InvalidOption, bytes_text
from regretless.printable import printable

if TYPE_CHECKING:
    from regretless.holdem.estimate import Estimate
    from regretless.holdem.fitting import Shrunk
    from regretless.holdem.games.game import HoldemGame
    from regretless.holdem.games.game_size import GameEstimate
    from regretless.holdem.games.real_cards import FlopsEstimate
    from regretless.holdem.spots.spot import Spot

    AnyEstimate: TypeAlias = Estimate | GameEstimate | FlopsEstimate

__all__ = ["estimate"]


def estimate(
    spots: Annotated[
        list[str],
        argument(
            "Files of spots or games, patterns such as 'spots/*.toml', or folders; or a game such as leduc.",
            "SPOT.toml|GAME",
        ),
    ],
    threads: Annotated[int | None, option("CPU threads for a spot, at most.", default="all cores")] = None,
    buckets: Annotated[
        str | None,
        option(
            "Buckets of hands per street of a game, such as flop=200,turn=200,river=lossless, or their file.",
            default="200",
            metavar="COUNTS",
        ),
    ] = None,
    flops: Annotated[
        str | None,
        option(
            "The flops of a game that is solved with real cards: [cyan]'subset(25)'[/cyan], all, properties or a list.",
            metavar="FLOPS",
        ),
    ] = None,
    shards: Annotated[
        int | None, option("With --flops: how many processes share the game; says what each takes.", default="none")
    ] = None,
    device: Annotated[
        str | None, option("With --flops: where it is solved, cpu or a GPU such as cuda or cuda:1.", default="cpu")
    ] = None,
    json_: Json = False,
) -> None:
    """Estimate the size of a spot or a game: nodes, hands and memory, with 32-bit and 16-bit storage.

    For a spot that does not fit in memory it proposes what to cut from the betting tree, and what each cut saves.

    \b
    [cyan]regretless estimate spot.toml[/cyan]
    [cyan]regretless estimate spots/[/cyan]
    [cyan]regretless estimate game.toml --flops 'subset(25)'[/cyan]   with real cards, and how many flops fit
    [cyan]regretless estimate game.toml --buckets flop=500,turn=500,river=500[/cyan]
    [cyan]regretless estimate 'push-fold(stack=10)'[/cyan]
    """
    from regretless.solving.kinds import Kind
    from regretless.solving.options import SolveOptions

    SolveOptions(threads=threads).check(Kind.SPOT)
    if len(spots) == 1 and not is_spot(spots[0]):
        refuse_saved("SPOT", spots[0], f"regretless show {spots[0]} says what it took")
        refused = {"threads": threads, "buckets": buckets, "flops": flops, "shards": shards, "device": device}
        for option_name, value in refused.items():
            if value is not None:
                raise InvalidOption(option_name, value, f"does not apply to {spots[0]}")
        _estimate_game(spots[0], as_json=json_)
        return
    if flops is not None and buckets is not None:
        raise InvalidOption("buckets", buckets, "cannot be combined with flops, on which real cards are dealt")
    SolveOptions(shards=shards).check(Kind.SPOT if flops is None else Kind.FLOPS)
    if device is not None:
        _check_device(device, flops)
    estimator = _Estimator(threads=threads, buckets=buckets, flops=flops, shards=shards, device=device or "cpu")
    paths, is_batch = spot_paths(tuple(spots))
    sizes, errors = read_files(paths, estimator.estimate)
    if errors and not is_batch:
        raise next(iter(errors.values()))
    if json_:
        answers = [
            {_kind(size): str(path), **size.as_json(), **_cuts_json(estimator.cuts.get(path))}
            for path, size in sizes.items()
        ]
        failures = [{"spot": str(path), "error": error.worded(Advice.as_option)} for path, error in errors.items()]
        print_json({"spots": answers, "errors": failures} if is_batch else answers[0])
    else:
        _print(sizes, estimator.cuts)
    if errors:
        raise typer.Exit(print_errors(errors))


def _check_device(device: str, flops: str | None) -> None:
    """Refuse a device that there is not, or that cannot be estimated."""
    from regretless.engines import devices

    if flops is None:
        raise InvalidOption("device", device, "is for a game on flops: give --flops too")
    kind = devices.device_type(device)
    if kind not in ("cpu", "cuda"):
        raise InvalidOption("device", device, "is not one of cpu, cuda")
    if kind == "cuda":
        devices.require_cuda(device)


class _Estimator:
    """Estimates spots and games from their files, with the options of the command."""

    def __init__(
        self, *, threads: int | None, buckets: str | None, flops: str | None, shards: int | None, device: str
    ) -> None:
        from regretless.engines import thread_limit
        from regretless.holdem.buckets.plan import BucketChoice
        from regretless.holdem.flops import read_flops

        self.threads, self.buckets, self.flops, self.shards = threads, buckets, flops, shards  # as typed
        self.device = device
        self.cores = thread_limit(threads)
        self.bucket_choice = None if buckets is None else BucketChoice.parse(buckets)
        self.selected_flops = None if flops is None else read_flops(flops)
        self.cuts: dict[Path, Shrunk] = {}  # of spots that do not fit in memory

    def estimate(self, path: Path) -> AnyEstimate:
        """The size of a spot or a game, by its file."""
        from regretless.holdem.games.game import HoldemGame, read_spot_or_game

        spot_or_game = read_spot_or_game(path)
        if isinstance(spot_or_game, HoldemGame):
            return self._estimate_whole_game(spot_or_game, path)
        for name, value in (("buckets", self.buckets), ("flops", self.flops)):
            if value is not None:
                raise InvalidOption(name, value, f"is for games, and {path} is a spot")
        return self._estimate_spot(spot_or_game, path)

    def _estimate_whole_game(self, game: HoldemGame, path: Path) -> GameEstimate | FlopsEstimate:
        if self.selected_flops is not None:
            from regretless.holdem.games.real_cards import estimate_flops  # loads numba

            return estimate_flops(game, self.selected_flops, threads=self.cores, shards=self.shards, device=self.device)
        if self.threads is not None:
            reason = f"is for spots and flops, and {path} is a game with buckets"
            raise InvalidOption("threads", self.threads, reason)
        from regretless.holdem.games.game_size import estimate_game

        return estimate_game(game, self.bucket_choice)

    def _estimate_spot(self, spot: Spot, path: Path) -> Estimate:
        from regretless.forms.memory import available_bytes
        from regretless.holdem.estimate import estimate_spot
        from regretless.holdem.fitting import shrink
        from regretless.holdem.locking import with_sources

        spot = with_sources(spot)
        size = estimate_spot(spot, threads=self.cores)
        free = available_bytes()
        if size.memory_bytes[32] > free:
            self.cuts[path] = shrink(spot, threads=self.cores, available=free)
        return size


def _estimate_game(name: str, *, as_json: bool) -> None:
    """The size of a game that is given by name."""
    from regretless.cli.terminal.progress import bar
    from regretless.games.registry import load
    from regretless.solving.game_problem import game_size

    game = load(name)
    with bar(game.name):
        size = game_size(game)
    if as_json:
        print_json({"game": game.name, **size.as_json()})
        return
    facts: list[tuple[str, str | Text]] = [
        ("nodes", Text(f"{size.nodes:,}", style="bold")),
        ("information sets", f"{size.information_sets:,}"),
        ("entries", f"{size.entries:,}   (actions of information sets)"),
        ("memory", _memory(size.memory_bytes)),
    ]
    console = for_answers()
    console.print(printable(game.name), style="bold", soft_wrap=True)
    console.print(fact_table(facts, style=""))


def _kind(size: AnyEstimate) -> str:
    from regretless.holdem.estimate import Estimate

    return "spot" if isinstance(size, Estimate) else "game"


def _cuts_json(shrunk: Shrunk | None) -> dict[str, object]:
    """What to cut from a spot that does not fit."""
    if shrunk is None:
        return {}
    cuts = [{"text": cut.text, "saves_bytes": cut.saves} for cut in shrunk.cuts]
    return {"cuts": cuts, "fits_with_cuts": shrunk.fits, "memory_bytes_with_cuts": shrunk.memory_bytes}


def _print(sizes: dict[Path, AnyEstimate], cuts: dict[Path, Shrunk]) -> None:
    from regretless.holdem.estimate import Estimate
    from regretless.holdem.games.game_size import GameEstimate

    console = for_answers()
    for path, size in sizes.items():
        if isinstance(size, Estimate):
            facts = _spot_facts(size)
        else:
            facts = _game_facts(size) if isinstance(size, GameEstimate) else _flops_facts(size)
        facts += _cut_facts(cuts.get(path))
        console.print(printable(str(path)), style="bold", soft_wrap=True)
        console.print(fact_table(facts, style=""))


def _spot_facts(size: Estimate) -> list[tuple[str, str | Text]]:
    runouts = " × ".join(f"{count:,}" for count in size.runouts)
    facts: list[tuple[str, str | Text]] = [
        ("nodes", _nodes(size.nodes, size.node_kinds)),
        ("betting tree", f"{size.betting_nodes:,} nodes; runouts by street {runouts}"),
        ("hands", f"oop {size.hands['oop']:,}, ip {size.hands['ip']:,}"),
        ("entries", f"{size.entries:,}   (actions of hands)"),
    ]
    return facts + [(f"memory, {bits} bits", _memory(needed)) for bits, needed in size.memory_bytes.items()]


def _cut_facts(shrunk: Shrunk | None) -> list[tuple[str, str | Text]]:
    if shrunk is None:
        return []
    lines = [cut.text + ("" if cut.saves is None else f", saves {bytes_text(cut.saves)}") for cut in shrunk.cuts]
    facts: list[tuple[str, str | Text]] = [("cuts" if not number else "", line) for number, line in enumerate(lines)]
    if not shrunk.fits or shrunk.memory_bytes is None:
        return [*facts, ("with all cuts", "does not fit either: start on a later street or with narrower ranges")]
    return [*facts, ("with these cuts", f"{bytes_text(shrunk.memory_bytes)} in 32 bits, which fits")]


def _by_street(counts: dict[str, int]) -> str:
    return ", ".join(f"{street} {count:,}" for street, count in counts.items())


def _flops_facts(size: FlopsEstimate) -> list[tuple[str, str | Text]]:
    facts: list[tuple[str, str | Text]] = [
        ("betting tree", f"{size.betting_nodes:,} nodes"),
        ("decisions", _by_street(size.decisions)),
        (
            "flops",
            Text(f"{size.flops:,}", style="bold").append(f"   (runouts: {_by_street(size.runouts)})", "not bold"),
        ),
        ("entries", f"{size.entries:,}   (actions of hands)"),
    ]
    for bits, needed in size.memory_bytes.items():
        facts.append((f"memory, {bits} bits", _memory(needed, size.available_bytes)))
        facts.append(("", f"flops that would fit: {size.flops_that_fit[bits]:,}"))
        if shards := size.shard_bytes.get(bits):
            facts.append(("", f"the largest of {len(shards):,} shards: {bytes_text(max(shards))}"))
    return facts


def _game_facts(size: GameEstimate) -> list[tuple[str, str | Text]]:
    slots = Text(f"{sum(size.action_slots.values()):,}", style="bold")
    facts: list[tuple[str, str | Text]] = [
        ("betting tree", _nodes(size.betting_nodes, size.node_kinds)),
        ("decisions", _by_street(size.decisions)),
        ("action slots", slots.append(f"   ({_by_street(size.action_slots)})", style="not bold")),
        ("buckets", _by_street(size.buckets)),
    ]
    facts += [(f"memory, {bits} bits", _memory(needed)) for bits, needed in size.memory_bytes.items()]
    facts += [("lossless", _by_street(size.lossless_buckets))]
    return facts + [(f"memory, {bits} bits", _memory(needed)) for bits, needed in size.lossless_bytes.items()]


def _nodes(count: int, kinds: dict[str, int]) -> Text:
    listed = ", ".join(f"{each:,} {name}" for name, each in kinds.items())
    return Text(f"{count:,}", style="bold").append(f"   ({listed})", style="not bold")


def _memory(needed: int, free: int | None = None) -> Text:
    """Bytes, and whether that is more than is free, by default on the CPU."""
    from regretless.forms.memory import available_bytes

    memory = Text(bytes_text(needed), style="bold")
    too_large = needed > (available_bytes() if free is None else free)
    return memory.append("   more than is free", style="not bold red") if too_large else memory
