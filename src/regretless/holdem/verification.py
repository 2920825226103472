"""Independent check of a solved spot: suits not merged, in float64, without the engine's kernels (`unmerged`).

Rivers and turns are evaluated on every runout, and so are flops, with 49 turns and 48 rivers each, unless that would
take minutes. Then, or on request, only some turns are evaluated, each with all its rivers. What the others would add
is not estimated: all of a strategy's losses may come from one turn card, of which a sample without that card shows no
sign. What is computed instead is a lower bound. A player who follows the strategy except on the evaluated turns
T, where they best-respond, gains

    G_i = Σ_{t ∈ T} Σ_h r_i[h] · (best_t[h] − mean_t[h]) / pairs        r_i: own reach of the lines out of the flop

and a best response gains at least that, so the exploitability is at least (G_0 + G_1) / 2, whatever the turns are. If
a solve reports less, its figure is wrong; if not, the figure is neither confirmed nor refuted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from regretless.cards.deck import DECK
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.memory import available_bytes
from regretless.forms.public import NodeKind, PublicForm
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.holdem.unmerged import BEST, MEAN, RIVERS, Unmerged, batch_size, runout_bytes
from regretless.seeds import check_seed
from regretless.solving.record import Record
from regretless.solving.verification import Verification

__all__ = ["TURNS", "SpotVerification", "full_seconds", "verification_bytes", "verify_spot"]

TURNS = DECK - 3  # after each flop
PATIENCE = 120.0  # seconds; a flop that would take longer is evaluated on some turn cards only
SAMPLED_TURNS = 12  # how many
TOLERANCES = {64: 1e-6, 32: 1e-6, 16: 1e-4}  # of the pot, by the bits per stored probability
DEEP = 5.0  # pots; rounding grows with stacks that are deeper
FIXED_BYTES = 16 << 20  # small tables, and pieces of the file

Report = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class SpotVerification(Verification):
    """The result of an independent evaluation of a solved spot, in the spot's chips.

    If only some turns were evaluated, `exploitability` is a lower bound, and there are no values.
    """

    pot: float
    stack: float
    turns: int | None  # evaluated; None if every runout was
    runouts: int  # evaluated
    all_runouts: int
    probability_bits: int  # bits per stored probability of the evaluated strategies
    memory_bytes: int  # estimated

    @property
    def exact(self) -> bool:
        """Whether every runout was evaluated."""
        return self.turns is None

    @property
    def agrees(self) -> bool | None:
        """Whether the file's figures are right, apart from rounding; None if the evaluated turns do not tell."""
        if self.exact:
            return super().agrees
        return False if self.exploitability > self.reported + self.tolerance else None

    @property
    def tolerance(self) -> float:
        return TOLERANCES[self.probability_bits] * max(self.pot, self.stack / DEEP)

    @property
    def exploitability_pct_pot(self) -> float:
        return 100 * self.exploitability / self.pot

    @property
    def reported_pct_pot(self) -> float:
        return 100 * self.reported / self.pot

    @property
    def ev(self) -> dict[PlayerName, float] | None:
        """Chips each player takes out of the hand, recomputed; None if only some turns were evaluated."""
        return {"oop": self.values[1], "ip": self.values[0]} if self.exact else None

    @property
    def reported_ev(self) -> dict[PlayerName, float]:
        return {"oop": self.reported_values[1], "ip": self.reported_values[0]}

    def as_json(self) -> dict[str, object]:
        """The object that `regretless verify --json` prints."""
        return super().as_json() | {
            "exploitability_pct_pot": self.exploitability_pct_pot,
            "reported_pct_pot": self.reported_pct_pot,
            "pot": self.pot,
            "ev": self.ev,
            "reported_ev": self.reported_ev,
            "exact": self.exact,
            "turns": self.turns,
            "runouts": self.runouts,
            "all_runouts": self.all_runouts,
            "probability_bits": self.probability_bits,
            "memory_bytes": self.memory_bytes,
        }


def verify_spot(
    record: Record,
    reader: SpotReader,
    *,
    full: bool = False,
    turns: int | None = None,
    seed: int | None = None,
    report: Report = lambda done, total: None,
    available: int | None = None,
    **unknown: object,
) -> SpotVerification:
    """Recompute EVs and exploitability of a solved spot.

    Every runout is evaluated, except on a flop if `turns` asks for a number of random turns, drawn with `seed`, or if
    all would take minutes and `full` does not ask for them. `report` is called with the number of runouts done and the
    total.

    >>> from regretless import Spot, solve
    >>> fields = {"board": "Kh Qs Js 2c", "pot": 100, "stack": 200, "bets": {"bet": "50%"}}
    >>> spot = Spot.from_mapping(fields | {"oop": {"range": "AK, T9s"}, "ip": {"range": "QQ, KJs"}})
    >>> check = solve(spot, iterations=30).verify()
    >>> abs(check.exploitability_pct_pot - check.reported_pct_pot) < 0.001, check.runouts
    (True, 48)
    """
    for option, value in unknown.items():
        raise InvalidOption(option, value, "is not for hold'em spots")
    form = reader.form
    sampled = _sample_turns(reader.spot, form, full, turns, seed)
    needed = verification_bytes(form)
    free = available_bytes() if available is None else available
    if needed > free:
        raise WouldNotFit(f"verifying {record.game}", needed=needed, available=free)
    began = time.perf_counter()
    unmerged = Unmerged(reader.spot, form, reader.results)
    rivers = RIVERS if unmerged.streets == 3 else 1
    cards = unmerged.cards_left(()) if unmerged.streets > 1 else []
    chosen = cards if sampled is None else sampled
    total = max(len(chosen), 1) * rivers
    done = 0

    def evaluated(runouts: int) -> None:
        nonlocal done
        done += runouts
        report(done, total)

    values, exploitability = _evaluate(unmerged, chosen, evaluated, exact=sampled is None)
    return SpotVerification(
        game=record.game,
        exploitability=exploitability,
        reported=record.measured.exploitability,
        values=values,
        reported_values=record.measured.values,
        seconds=time.perf_counter() - began,
        pot=reader.spot.pot,
        stack=reader.spot.stack,
        turns=None if sampled is None else len(sampled),
        runouts=total,
        all_runouts=max(len(cards), 1) * rivers,
        probability_bits=reader.results.probability_bits,
        memory_bytes=needed,
    )


def full_seconds(form: PublicForm) -> float:
    """Approximate time for evaluating every runout of a flop on one core; slower cores may take twice as long."""
    hands = [len(each.weight) for each in form.hands]
    river = form.tree.kind[form.tree.street == len(form.streets) - 1]
    folds, showdowns = np.count_nonzero(river == NodeKind.FOLD), np.count_nonzero(river == NodeKind.SHOWDOWN)
    products = hands[0] * hands[1] * (4 * showdowns + 2 * folds)
    return float(TURNS * RIVERS * (1e-5 * len(river) + 3.5e-8 * len(river) * sum(hands) + 1.2e-10 * products))


def verification_bytes(form: PublicForm) -> int:
    """Approximate peak memory for evaluating a spot."""
    hands = [len(each.weight) for each in form.hands]
    early = int(np.count_nonzero(form.tree.street < len(form.streets) - 1)) * sum(hands) * 8  # as in `runout_bytes`
    boards = (1, RIVERS, TURNS * RIVERS // 2)[len(form.streets) - 1] * sum(hands)
    return 8 * (early + hands[0] * hands[1]) + batch_size(form) * runout_bytes(form) + 4 * boards + FIXED_BYTES


def _sample_turns(spot: Spot, form: PublicForm, full: bool, turns: int | None, seed: int | None) -> list[int] | None:
    """The turn cards to evaluate, or None for all."""
    if full or len(spot.streets) < 3:
        reason = "applies to flops only: on a turn or river every runout is evaluated"
        if len(spot.streets) == 3:
            reason = "cannot be combined with a full evaluation, which does not sample"
        for option, value in (("turns", turns), ("seed", seed)):
            if value is not None:
                raise InvalidOption(option, value, reason)
        return None
    if turns is not None and not 1 <= turns <= TURNS:
        raise InvalidOption("turns", turns, f"must be from 1 to {TURNS}")
    generator = np.random.default_rng(check_seed(seed or 0, bits=63))
    if turns is None:
        turns = TURNS if full_seconds(form) <= PATIENCE else SAMPLED_TURNS
    if turns == TURNS:
        return None
    deck = np.array([card for card in range(DECK) if card not in spot.board])
    return sorted(generator.choice(deck, turns, replace=False).tolist())


def _evaluate(
    unmerged: Unmerged, cards: list[int], evaluated: Callable[[int], None], *, exact: bool
) -> tuple[tuple[float, ...], float]:
    """Values at the root and the exploitability; if `cards` are not all that may come next, none and a lower bound."""
    root = unmerged.root()
    lines = unmerged.after(root, cards, evaluated)
    if exact:
        ends = [values[:, 0, 0] @ weight for values, weight in zip(unmerged.finish(root, lines), unmerged.weight)]
    else:
        out = unmerged.lines_out(0)
        ends = [(values * reach[0, out]).sum(axis=(1, 2)) for values, reach in zip(lines, root.reach)]
    gains = [float(values[BEST] - values[MEAN]) / unmerged.pairs for values in ends]
    mean = tuple(float(values[MEAN]) / unmerged.pairs for values in ends) if exact else ()
    return mean, sum(gains) / 2
