"""Heads-up no-limit hold'em from the deal, solved with real cards on a set of flops: problem, reader, solution.

The flops, each standing for its class and with its weight, are the only ones that are dealt; every turn and river
follows. Nothing is abstracted, so exploitability in that game is exact, and measured while it is solved. `price`
evaluates the strategy before the flop on other flops.

    all                  1,755 flops, more than any machine holds for all but the smallest trees
    subset(25)           25 flops whose weighted means come close to those of all
    paired two-tone      properties
    Qs Jh 2h, AhKd2c     these flops, weighted by how many each stands for
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import comb
from random import Random
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from regretless import engines
from regretless.cards.deck import DECK, board_text
from regretless.cards.hands import HAND_COUNT, blocked_by
from regretless.cards.isomorphism import CARD_MAPS, SUIT_PERMUTATIONS, unchanged_by
from regretless.cards.ranges import Range
from regretless.engines import Choice, PublicEngine, ShardedEngine, StoredStrategies, available_cores, devices
from regretless.errors import (
    Advice,
    InvalidFile,
    InvalidOption,
    InvalidText,
    MissingOption,
    RegretlessError,
    WouldNotFit,
)
from regretless.files.container import Container
from regretless.files.fields import Fields
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.memory import available_bytes
from regretless.forms.public import Part, PublicForm
from regretless.forms.public_size import PublicSize
from regretless.holdem.estimate import STORAGES
from regretless.holdem.flops import Flop, read_flops
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import FLOP, compile_holdem
from regretless.holdem.form.suits import Deal, count_deals
from regretless.holdem.games.dealt_form import DealtFormProblem, DealtFormSolution, saved_averages
from regretless.holdem.games.flop_pricer import FlopTree
from regretless.holdem.games.game import HoldemGame, read_saved_game
from regretless.holdem.games.head_to_head import SolvedFlops
from regretless.holdem.games.pricing import Price, PricedSolution, Resolving
from regretless.holdem.games.reader import DealtFormReader
from regretless.holdem.games.shards import ShardTask, shard_devices, start_sharded
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.solution import sampled_fields
from regretless.reprs import brief
from regretless.solving.kinds import Kind
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Request
from regretless.solving.record import Record, Settings
from regretless.solving.solution import Contents, Solution
from regretless.variants.presets import PRESETS
from regretless.variants.variant import stores_predictions

__all__ = [
    "FlopsEstimate", "RealCardsProblem", "RealCardsReader", "RealCardsSolution", "compile_game", "estimate_flops",
]  # fmt: skip

CONTEXT_BYTES = 600_000_000  # of GPU memory that CUDA takes for each process of a shard
LIVE_HANDS = comb(DECK - 5, 2)  # that a river leaves
UNSOLVED = -1  # the runout of a deal on a flop that was not solved
RESOLVE = Advice("resolve", None, "solves it with the ranges that arrive there", keyword="solution.resolve(line)")


def compile_game(game: HoldemGame, flops: Sequence[Flop], part: tuple[int, int] | None = None) -> PublicForm:
    """The game on these flops: payoffs in chips, values in big blinds.

    With `part`, only the flops first:last, in the order of the form: the same as `part_of`, without compiling the rest.
    """
    betting, everything = betting_of(game), Range.parse("100%")
    chosen = flops if part is None else _in_order(flops)[slice(*part)]
    form = compile_holdem(
        (),
        everything,
        everything,
        betting.tree,
        payoffs=betting.payoffs,
        deals=(3, 1, 1),
        flops={flop.cards: flop.weight for flop in chosen},
        flops_weight=sum(flop.weight for flop in flops),
        name=game.name or "hold'em",
    )
    if part is None:
        return replace(form, unit=game.big_blind)
    before = game_size(game, _in_order(flops)[: part[0]]).runouts.tolist()
    whole = game_size(game, flops).runouts.tolist()
    return replace(form, unit=game.big_blind, part=Part((0, *before[1:]), tuple(whole)))


def _in_order(flops: Sequence[Flop]) -> list[Flop]:
    """Flops in the order of the form."""
    return sorted(flops, key=lambda flop: flop.cards)


def game_size(game: HoldemGame, flops: Sequence[Flop]) -> PublicSize:
    """The size of the form of `compile_game`, or of its trunk if there are no flops."""
    boards = [(flop.cards, unchanged_by(flop.cards)) for flop in flops]
    turns, rivers = count_deals(boards, streets=2)
    return betting_of(game).size.with_cards(
        deck=DECK,
        hands=(HAND_COUNT, HAND_COUNT),
        permutations=len(SUIT_PERMUTATIONS),
        runouts=(1, len(flops), turns, rivers),
        live=(LIVE_HANDS, LIVE_HANDS),
    )


def part_bytes(
    game: HoldemGame,
    flops: Sequence[Flop],
    shards: int,
    *,
    threads: int,
    storage: int,
    predicts: bool,
    device: str = "cpu",
) -> list[int]:
    """Bytes of the engines of the trunk and of every shard, with `threads` in total."""
    parts = [_in_order(flops)[first:last] for first, last in engines.shard_ranges(len(flops), shards)]
    options = {"threads": max(1, threads // shards), "storage": storage, "predicts": predicts, "is_part": True}
    sizes = [game_size(game, part) for part in ([], *parts)]
    return [engines.estimate(_engine_on(device), engines.FormKind.PUBLIC, size, **options) or 0 for size in sizes]


def _engine_on(device: str) -> str:
    """The engine whose memory counts."""
    return "numba" if device == "cpu" else "cuda"


@dataclass(frozen=True)
class FlopsEstimate:
    """The size of a game on some flops, solved with real cards."""

    device: str
    available_bytes: int  # memory that is free there
    flops: int
    betting_nodes: int  # of the betting tree, without cards
    decisions: dict[str, int]  # by street: of the betting tree
    runouts: dict[str, int]  # by street: deals that are solved
    entries: int  # actions × hands over all decisions
    information_sets: int  # hands over all decisions
    memory_bytes: dict[int, int]  # by bits of storage
    flops_that_fit: dict[int, int]  # by bits of storage: in the memory that is free, if they are like these
    shard_bytes: dict[int, list[int]]  # by bits of storage: memory of each shard; empty if it is not solved in shards

    def as_json(self) -> dict[str, Any]:
        """What `regretless estimate --flops … --json` prints."""
        fields = asdict(self)
        for name in ("memory_bytes", "flops_that_fit", "shard_bytes"):
            fields[name] = {str(bits): size for bits, size in fields[name].items()}
        return fields


def estimate_flops(
    game: HoldemGame, flops: Sequence[Flop], *, threads: int = 1, shards: int | None = None, device: str = "cpu"
) -> FlopsEstimate:
    """Nodes, entries and bytes of a game on these flops, and how many of them would fit on "cpu", "cuda", "cuda:1", …

    >>> fields = {"stack": 20, "small_blind": 0.5, "big_blind": 1, "preflop": {"open": "2x"}, "bets": {"bet": "50%"}}
    >>> estimate = estimate_flops(HoldemGame.from_mapping(fields), read_flops("7c 7d 7h, Ks 7d 2c"))
    >>> estimate.flops, estimate.runouts
    (2, {'preflop': 1, 'flop': 2, 'turn': 74, 'river': 3096})
    """
    size, twice, engine = game_size(game, flops), game_size(game, [*flops, *flops]), _engine_on(device)
    free = available_bytes() if device == "cpu" else devices.cuda_free_bytes(device)
    predicts = stores_predictions(PRESETS[RealCardsProblem.variant])
    memory_bytes: dict[int, int] = {}
    flops_that_fit: dict[int, int] = {}
    shard_bytes: dict[int, list[int]] = {}
    for bits in STORAGES:
        options = {"storage": bits, "threads": threads, "predicts": predicts}
        needed = engines.estimate(engine, engines.FormKind.PUBLIC, size, **options) or 0
        needed_twice = engines.estimate(engine, engines.FormKind.PUBLIC, twice, **options) or 0
        bytes_per_flop = (needed_twice - needed) / len(flops)
        memory_bytes[bits] = needed
        flops_that_fit[bits] = max(0, int(len(flops) + (free - needed) / bytes_per_flop))
        if shards is not None:
            parts = part_bytes(game, flops, shards, threads=threads, storage=bits, predicts=predicts, device=device)
            shard_bytes[bits] = parts[1:]
    return FlopsEstimate(
        device=device,
        available_bytes=free,
        flops=len(flops),
        betting_nodes=int(size.nodes.sum()),
        decisions=dict(zip(game.streets, map(int, size.decisions.sum(axis=1)), strict=True)),
        runouts=dict(zip(game.streets, map(int, size.runouts), strict=True)),
        entries=size.entries,
        information_sets=size.information_sets,
        memory_bytes=memory_bytes,
        flops_that_fit=flops_that_fit,
        shard_bytes=shard_bytes,
    )


class RealCardsReader(DealtFormReader):
    """Finds nodes of a game that was solved on some flops. On others it deals cards, but knows no strategy."""

    def deal(self, node: LineNode, *cards: int) -> LineNode:
        if node.deal.runout != UNSOLVED:
            try:
                return super().deal(node, *cards)
            except InvalidText:
                if node.deal.street > 0:
                    raise
        deal = Deal(node.deal.street + 1, UNSOLVED, (*node.deal.cards, *cards))
        live = ~self.dead(0, deal)
        child = int(self.tree.first_child[node.index])
        return LineNode(child, deal, (node.reach[0] * live, node.reach[1] * live), (*node.steps, board_text(cards)))

    def draw(self, node: LineNode, known: Set[int], random: Random) -> Sequence[int]:
        """Of flops, one of those that were solved, as often as it is dealt in the game that was solved."""
        if node.deal.street > 0:
            return super().draw(node, known, random)
        dealt, probability = self._dealable
        weight = probability * ~np.isin(dealt, list(known)).any(axis=1)
        if not weight.any():
            return super().draw(node, known, random)  # both hands together block every flop
        flop: list[int] = dealt[random.choices(range(len(dealt)), weights=weight.tolist())[0]].tolist()
        return flop

    @cached_property
    def _dealable(self) -> tuple[IntArray, FloatArray]:
        """[flops, 3] the cards of every flop of the game, whatever its suits are called, and [flops] how likely."""
        flops = self.form.streets[1]
        runout = np.repeat(np.arange(len(flops.parent)), np.diff(flops.first_copy))
        cards = np.take_along_axis(CARD_MAPS[self.group[flops.copies]], flops.cards[runout].astype(np.int64), axis=1)
        return cards.astype(np.int64), flops.probability[runout]

    def dead(self, player: int, deal: Deal) -> NDArray[np.bool_]:
        return blocked_by(deal.cards) if deal.runout == UNSOLVED else super().dead(player, deal)

    def strategy(self, node: LineNode) -> FloatArray:
        if node.deal.runout == UNSOLVED:
            reason = "was not solved, nor was a flop that differs from it only in the names of suits"
            raise InvalidOption("board", board_text(node.deal.cards[:FLOP]), reason, (RESOLVE,))
        return super().strategy(node)


@dataclass(frozen=True, kw_only=True)
class RealCardsSolution(DealtFormSolution, PricedSolution):
    """A game from the deal, solved on some flops. `strategy` is that before the flop; `node` reads any line on them."""

    rules: HoldemGame
    how_to_check: ClassVar[str] = ": regretless price evaluates what it does before the flop, on any flops"

    __repr__ = brief

    @property
    def subject(self) -> HoldemGame:
        return self.rules

    @cached_property
    def flops(self) -> tuple[Flop, ...]:
        """The flops that were solved, with their weights."""
        return tuple(read_flops(self.settings.flops or ""))

    def covers(self, flop: Sequence[int]) -> bool:
        (representative,) = read_flops([board_text(flop)])
        return representative.cards in {each.cards for each in self.flops}

    def flop_player(self, betting: FlopTree, threads: int) -> SolvedFlops:
        assert self.snapshot is not None
        return SolvedFlops(betting, StoredStrategies(self.reader.form, self.snapshot))

    def price(
        self, flops: str | int | Sequence[str] | None = None, *, resolve: Resolving | bool = True, **options: Any
    ) -> Price | None:
        """The price on flops that were not solved: each is solved again; options as in `PricedSolution.price`."""
        if not resolve:
            reason = "must be chosen: this strategy covers only the flops it was solved on, where its price is known"
            raise InvalidOption("resolve", resolve, reason)
        if isinstance(resolve, Resolving) and resolve.safe:
            reason = "needs the values of hands on every flop, which only a game solved with buckets has"
            raise InvalidOption("safe", True, reason)
        return super().price(flops, resolve=resolve, **options)

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        return super().as_json(strategy=strategy) | {
            "big_blind": self.rules.big_blind,
            "flops": len(self.flops),
            "flop_weights": {flop.text: flop.weight for flop in self.flops},
            **sampled_fields(self.settings),
        }

    def _contents(self, resumable: bool) -> Contents:
        contents = super()._contents(resumable)
        return Contents(contents.header | {"rules": self.rules.to_toml()}, contents.arrays)

    @classmethod
    def read(cls, file: Container) -> Self:
        record = Record.read(file, players=2)
        game = read_saved_game(Fields(file.path, file.header))
        try:
            flops = read_flops(record.settings.flops or "")
        except RegretlessError as error:
            raise InvalidFile(file.path, f"is damaged: {error}") from None
        snapshot, read = saved_averages(file, record, lambda: compile_game(game, flops))
        return cls(
            record=record, make_reader=lambda: RealCardsReader(*read()), snapshot=snapshot, path=file.path, rules=game
        )


class RealCardsProblem(DealtFormProblem):
    """A game from the deal on some flops, with real cards."""

    kind = Kind.FLOPS
    variant = "postflop"
    first_sampled = 2  # every flop is walked
    solution_type = RealCardsSolution
    default_target = 5.0  # mbb/g
    default_iterations = max_iterations = 10_000

    def __init__(self, game: HoldemGame, options: SolveOptions) -> None:
        """The game on the flops in the options, or the one that is resumed."""
        self.game, earlier = game, options.resume
        text = flops_text(options.flops)
        if isinstance(earlier, RealCardsSolution):
            earlier.check_resumes(game)
            self.game, text = earlier.rules, earlier.settings.flops
        elif isinstance(earlier, Solution):
            raise InvalidOption("resume", earlier.where, "is not a solve of a game from the deal on some flops")
        if text is None:
            raise MissingOption("flops", "say which: subset(25), or a list of flops")
        self.text, self.flops = text, read_flops(text)
        self.name = self.game.name or "hold'em"

    def normalise_options(self, options: SolveOptions) -> SolveOptions:
        return replace(options, flops=flops_text(options.flops))

    def fill_settings(self, settings: Settings) -> Settings:
        return replace(super().fill_settings(settings), flops=self.text)

    def if_too_large(self, threads: int) -> tuple[Advice, ...]:
        fitting = estimate_flops(self.game, self.flops, threads=threads).flops_that_fit[16]
        fewer = (Advice("flops", None, f"with at most {fitting} like these fits in 16 bits"),) if fitting else ()
        return (*fewer, Advice("buckets", None, "take much less"))

    def dealt_size(self) -> PublicSize:
        return game_size(self.game, self.flops)

    def memory_bytes(self, *, shards: int | None = None, **options: Any) -> int:
        if shards is None:
            return super().memory_bytes(**options)
        return sum(part_bytes(self.game, self.flops, shards, **options))

    def choose(self, request: Request) -> Choice:
        if request.shards is None:
            return super().choose(request)
        if request.settings.sample_runouts is not None:
            raise InvalidOption("shards", request.shards, "cannot be combined with sample_runouts")
        choice = Choice(request.engine, request.device)
        if not choice.on_gpu:
            return Choice(request.engine, "cpu" if request.device == "auto" else request.device)
        engine = engines.fastest(engines.FormKind.PUBLIC, "cuda") if request.engine == "auto" else request.engine
        return Choice(engine, "cuda" if request.device == "auto" else request.device)

    def check_fits_gpu(self, request: Request) -> None:
        """Raise `WouldNotFit` if the memory of a GPU that the request is for is known to be too small."""
        if request.shards is None:
            super().check_fits_gpu(request)
            return
        storage = request.settings.storage or STORAGES[0]
        device = request.choice.device
        devices.require_cuda(device)
        trunk, *parts = part_bytes(
            self.game, self.flops, request.shards, threads=1, storage=storage, predicts=request.predicts, device=device
        )
        needed = Counter({devices.cuda_number(device): trunk})
        for each, size in zip(shard_devices(device, request.shards), parts, strict=True):
            needed[devices.cuda_number(each)] += size + CONTEXT_BYTES
        for number, size in needed.items():
            if size > (free := devices.cuda_free_bytes(f"cuda:{number}")):
                what, memory = f"{self.name} in {storage} bits", f"memory of GPU {number}"
                advice = [Advice("storage", 16, "takes about half as much")] if storage == 32 else []
                raise WouldNotFit(what, needed=size, available=free, memory=memory, advice=advice)

    def create(self, form: PublicForm, request: Request) -> PublicEngine:
        if request.shards is None:
            return super().create(form, request)
        # As much of an engine of the public form as a solve needs.
        return cast("PublicEngine", start_sharded(form, self.shard_task(request), request.shards))

    def shard_task(self, request: Request) -> ShardTask:
        """What the shards of a request have in common."""
        folder = tempfile.gettempdir() if request.checkpoint is None else request.checkpoint.absolute().parent
        return ShardTask(
            game=self.game.to_toml(),
            flops=self.text,
            folder=str(folder),
            engine=request.choice.engine,
            device=request.choice.device,
            threads=request.threads or available_cores(),
            storage=request.settings.storage,
            predicts=request.predicts,
        )

    def form(self) -> PublicForm:
        return compile_game(self.game, self.flops)

    def solution(self, record: Record, form: PublicForm, engine: PublicEngine) -> RealCardsSolution:
        snapshot = engine.snapshot(copy=False)
        # Shards end with their engine; what they learned is in the snapshot.
        strategies = StoredStrategies(form, snapshot) if isinstance(engine, ShardedEngine) else engine
        return RealCardsSolution(
            record=record,
            make_reader=lambda: RealCardsReader(form, strategies),
            snapshot=snapshot,
            rules=self.game,
        )


def flops_text(flops: object) -> str | None:
    """The text of the option `flops`, which may also be a number of flops or a list of them."""
    if isinstance(flops, list | tuple) and all(isinstance(flop, str) for flop in flops):
        return ", ".join(flops)
    return flops if flops is None else str(flops)
