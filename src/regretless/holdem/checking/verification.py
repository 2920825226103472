"""Independent check of a solved spot: suits not merged, in float64, without the engine's kernels (`unmerged`).

Rivers and turns are evaluated on every runout. A flop can be too, with 49 turns and 48 rivers each; by default n turns
are sampled, each with all its rivers. The value of a line out of the flop to a hand is a sum over turns t of values
x_t, estimated with the solution's own values y_t, stored for every turn, as a control variate:

    Σ_all y_t + (49 / n) · Σ_sampled (x_t − y_t)

Whatever the y_t are, the expectation is Σ x_t; if they are right, the variance is small. A best response on the turn
and river sees the cards, so its values there are exact for every sampled turn. On the flop it picks the largest of
several estimates, which is too large on average, so the estimate of exploitability is biased upwards, not downwards.

Sampled turns are spread over the ranks: cards in order of rank, suits shuffled, every 49/n-th from a random start. The
standard error is that of the jackknife over these turns, times √(1 − n / 49); it ignores the spreading, so it is too
large rather than too small.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless.cards.deck import DECK
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.history import FloatArray
from regretless.forms.memory import available_bytes
from regretless.forms.public import Kind, PublicForm
from regretless.holdem.checking.unmerged import BEST, MEAN, Betting, Unmerged
from regretless.holdem.reading.reading import Answers, SpotReader
from regretless.holdem.spots.question import PlayerName
from regretless.holdem.spots.spot import Spot
from regretless.seeds import check_seed
from regretless.solvers.record import Record
from regretless.solvers.verification import Verification

__all__ = ["TURNS", "SpotVerification", "verification_bytes", "verify_spot"]

TURNS = 12  # turns sampled on a flop
ALL_TURNS, ALL_RIVERS = DECK - 3, DECK - 4
TOLERANCES = {64: 1e-6, 32: 1e-6, 16: 1e-4}  # of the pot, by the bits that are kept of a probability
DEEP = 5.0  # pots; rounding grows with stacks that are deeper
FIXED_BYTES = 16 << 20  # small tables, and pieces of the file
ERRORS = 4.0  # how many standard errors a sample may be off

Pair = tuple[FloatArray, FloatArray]
Report = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class SpotVerification(Verification):
    """The result of an independent evaluation of a solved spot, in the spot's chips."""

    pot: float
    stack: float
    turns: int | None  # sampled; None if every runout was evaluated
    runouts: int  # evaluated
    all_runouts: int
    standard_error: float | None  # of the exploitability, in chips; None if every runout was evaluated
    probability_bits: int  # bits per stored probability of the evaluated strategies
    memory_bytes: int  # estimated

    @property
    def exact(self) -> bool:
        """Whether every runout was evaluated."""
        return self.standard_error is None

    @property
    def tolerance(self) -> float:
        scale = max(self.pot, self.stack / DEEP)
        return TOLERANCES[self.probability_bits] * scale + ERRORS * (self.standard_error or 0.0)

    @property
    def exploitability_pct_pot(self) -> float:
        return 100 * self.exploitability / self.pot

    @property
    def reported_pct_pot(self) -> float:
        return 100 * self.reported / self.pot

    @property
    def standard_error_pct_pot(self) -> float | None:
        return None if self.standard_error is None else 100 * self.standard_error / self.pot

    @property
    def ev(self) -> dict[PlayerName, float]:
        """Chips each player takes out of the hand, recomputed."""
        return {"oop": self.values[1], "ip": self.values[0]}

    @property
    def reported_ev(self) -> dict[PlayerName, float]:
        return {"oop": self.reported_values[1], "ip": self.reported_values[0]}

    def as_json(self) -> dict[str, Any]:
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
            "standard_error_pct_pot": self.standard_error_pct_pot,
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
    **unknown: Any,
) -> SpotVerification:
    """Recompute EVs and exploitability of a solved spot.

    A flop is evaluated on `turns` random turns, drawn with `seed`, or in full. `report` is called with the number of
    runouts done and the total.

    >>> from regretless import Spot, solve
    >>> fields = {"board": "Kh Qs Js 2c", "pot": 100, "stack": 200, "bets": {"bet": "50%"}}
    >>> spot = Spot.from_mapping(fields | {"oop": {"range": "AK, T9s"}, "ip": {"range": "QQ, KJs"}})
    >>> found = solve(spot, iterations=30).verify()
    >>> abs(found.exploitability_pct_pot - found.reported_pct_pot) < 0.001, found.runouts
    (True, 48)
    """
    for option, value in unknown.items():
        raise InvalidOption(option, value, "is not for hold'em spots")
    drawn = _drawn(reader.spot, full, turns, seed)
    form = reader.form
    needed = verification_bytes(form, drawn=0 if drawn is None else len(drawn))
    free = available_bytes() if available is None else available
    if needed > free:
        raise WouldNotFit(f"verifying {record.game}", needed=needed, available=free)
    began = time.perf_counter()
    unmerged = Unmerged(reader.spot, form, reader.answers)
    root = unmerged.root()
    cards = unmerged.cards_left(()) if unmerged.streets > 1 else []
    rivers = ALL_RIVERS if unmerged.streets == 3 else 1
    chosen = cards if drawn is None else drawn
    total = max(len(chosen), 1) * rivers
    done = 0

    def evaluated() -> None:
        nonlocal done
        done += 1
        report(done, total)

    if drawn is None:
        lines = unmerged.no_lines(root)
        for card in chosen:
            _add(lines, unmerged.after(root, card, evaluated))
        values, gained, error = *_result(unmerged, root, lines), None
    else:
        after = [unmerged.after(root, card, evaluated) for card in chosen]
        values, gained, error = _estimate(unmerged, root, reader.answers, after, chosen)
    return SpotVerification(
        game=record.game,
        exploitability=gained,
        reported=record.measured.exploitability,
        values=values,
        reported_values=record.measured.values,
        seconds=time.perf_counter() - began,
        pot=reader.spot.pot,
        stack=reader.spot.stack,
        turns=None if drawn is None else len(drawn),
        runouts=total,
        all_runouts=max(len(cards), 1) * rivers,
        standard_error=error,
        probability_bits=reader.answers.probability_bits,
        memory_bytes=needed,
    )


def verification_bytes(form: PublicForm, *, drawn: int = 0) -> int:
    """Approximate peak memory for evaluating a spot."""
    tree = form.tree
    hands = [len(each.weight) for each in form.hands]
    nodes = np.bincount(tree.street, minlength=len(form.streets))
    rows = int(nodes.sum()) * sum(hands) * 8  # reach, values twice, strategies, and temporaries
    matrices = hands[0] * hands[1] * 5
    lines = int(np.count_nonzero((tree.kind == Kind.CHANCE) & (tree.street == 0))) * sum(hands) * 4
    early = sum(len(street.parent) * int(count) for street, count in zip(form.streets[:-1], nodes, strict=False))
    boards = (1, ALL_RIVERS, ALL_TURNS * ALL_RIVERS // 2)[len(form.streets) - 1] * sum(hands)
    kept = 4 * early * sum(hands) if drawn else 0
    return 8 * (rows + matrices + lines * (1 + drawn)) + 4 * boards + kept + FIXED_BYTES


def _drawn(spot: Spot, full: bool, turns: int | None, seed: int | None) -> list[int] | None:
    """The sampled turn cards, or None if everything is evaluated."""
    if full or len(spot.streets) < 3:
        why = "applies to flops only: on a turn or river every runout is evaluated"
        if len(spot.streets) == 3:
            why = "cannot be combined with a full evaluation, which does not sample"
        for option, value in (("turns", turns), ("seed", seed)):
            if value is not None:
                raise InvalidOption(option, value, why)
        return None
    count = TURNS if turns is None else turns
    if not 2 <= count <= ALL_TURNS:
        raise InvalidOption("turns", count, f"must be from 2 to {ALL_TURNS}")
    seed = check_seed(seed or 0, bits=63)
    if count == ALL_TURNS:
        return None
    generator = np.random.default_rng(seed)
    left = np.array([card for card in range(DECK) if card not in spot.board])
    by_rank = left[np.lexsort((generator.random(len(left)), left // 4))]
    places = ((generator.random() + np.arange(count)) * ALL_TURNS / count).astype(np.int64)
    return [int(card) for card in by_rank[places]]


def _add(lines: Pair, values: Sequence[FloatArray], factor: float = 1.0) -> None:
    for player in range(2):
        lines[player][:] += factor * values[player]


def _result(unmerged: Unmerged, root: Betting, lines: Pair) -> tuple[tuple[float, float], float]:
    """Values of both players at the root, and the exploitability."""
    values = unmerged.finish(root, lines)
    mean, best = (
        [float(values[player][row, 0] @ unmerged.weight[player]) / unmerged.pairs for player in range(2)]
        for row in (MEAN, BEST)
    )
    return (mean[0], mean[1]), (best[0] - mean[0] + best[1] - mean[1]) / 2


# --- flops by sample -------------------------------------------------------------------------------------------------


def _estimate(
    unmerged: Unmerged, root: Betting, answers: Answers, after: list[Pair], chosen: list[int]
) -> tuple[tuple[float, float], float, float]:
    """Values, exploitability and its standard error from the sampled turns."""
    cards, count = unmerged.cards_left(()), len(chosen)
    everything, difference = unmerged.no_lines(root), unmerged.no_lines(root)
    for card in cards:
        kept = _kept(unmerged, root, answers, card)
        _add(everything, kept)
        if card in chosen:
            found = after[chosen.index(card)]
            _add(found, kept, -1.0)  # in place: x_t − y_t
            _add(difference, found)

    def estimated(without: Pair | None) -> tuple[tuple[float, float], float]:
        lines = unmerged.no_lines(root)
        _add(lines, everything)
        factor = len(cards) / (count if without is None else count - 1)
        _add(lines, difference, factor)
        if without is not None:
            _add(lines, without, -factor)
        return _result(unmerged, root, lines)

    values, gained = estimated(None)
    others = np.array([estimated(each)[1] for each in after])
    variance = (count - 1) / count * float(((others - others.mean()) ** 2).sum())
    return values, gained, float(np.sqrt(variance * (1 - count / len(cards))))


def _kept(unmerged: Unmerged, root: Betting, answers: Answers, card: int) -> Pair:
    """[2, lines out, H] the solution's own values y_t of the lines into the next street if a card comes."""
    solved = unmerged.solved((card,))
    probability = unmerged.deal_probability(0)
    nodes = unmerged.tree.first_child[unmerged.nodes[0][unmerged.lines_out(root)]]
    lines = unmerged.no_lines(root)
    for player in range(2):
        alive = (unmerged.cards[player] != card).all(axis=1)
        for line, node in enumerate(nodes):
            values = answers.values(player, int(node), solved.runout)[solved.hands[player]]
            lines[player][:, line] = np.where(alive, values * probability, 0.0)
    return lines
