"""Whole hands of a game from the deal: the page's user takes one seat, the solution the other, and any flop comes.

1. Before the flop, the solution plays what it was solved to play.
2. When a flop is dealt on which somebody can act, the hand waits until that flop is solved with the ranges that arrive
   there. Solutions of flops are files: those beside the game (`game.flops`, as `regretless show --resolve` keeps them)
   are read too, and new ones go there or to the server's own folder.
3. After it, the strategy is that of the flop's solution, and so are the EVs that decisions are judged by.

A session has the line played so far, not the strategies, so it can be continued with every request; `version` says how
often it has changed, so that a page can tell an old answer from a new one.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regretless.holdem.games.game_spots import safely_named, saved_spot, spot_file
from regretless.holdem.games.pricing import PricedSolution
from regretless.holdem.games.resolving_reader import ResolvingReader
from regretless.holdem.reading.line_reader import LineNode, LineReader
from regretless.holdem.reading.playing import Duel, Score, draw_hands
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS, PlayerName
from regretless.page.endpoint import Conflict
from regretless.page.hands import GRADES, chosen_action, feedback_json, hand_json, judge, outcome_json
from regretless.page.schema import Json, rounded

__all__ = ["SEATS", "FlopMissing", "PlaySession"]

SEATS = {"ip": "SB", "oop": "BB"}
UNIT = "bb"


class FlopMissing(Exception):
    """A hand has come to a flop that nobody has solved."""

    def __init__(self, spot: Spot, line: str) -> None:
        super().__init__(line)
        self.spot, self.line = spot, line


@dataclass(kw_only=True)
class PlaySession:
    """A series of whole hands."""

    id: str
    file: str  # of the game
    revision: str  # of the file
    seat: PlayerName | None  # None: alternating, the small blind first
    random: random.Random
    target: float  # percent of the pot, of every flop
    safe: bool
    folders: Sequence[Path]  # with flops that are solved; new ones go to the first
    big_blind: float  # chips
    dealt: int = 0
    version: int = 0
    person: int = 0
    hands: tuple[int, int] = (0, 0)  # among the 1,326, in position first
    line: str = ""
    over: bool = True  # the hand
    ended: str = ""  # the line to a flop whose solve has ended, wherever: its solution is good enough
    missing: FlopMissing | None = None  # what the hand waits for
    decisions: list[Json] = field(default_factory=list)  # what is said about those of this hand
    score: Score = field(default_factory=lambda: Score(UNIT))
    grades: dict[str, int] = field(default_factory=lambda: dict.fromkeys(GRADES, 0))
    lost: float = 0.0  # chips, over the decisions that have a grade
    _flop: tuple[str, SpotSolution] | None = None  # the solution of this hand's flop, and the line there

    # --- play --------------------------------------------------------------------------------------------------------

    def reader(self, solution: PricedSolution) -> ResolvingReader:
        """A reader of the game whose flops are those that have been solved."""
        return ResolvingReader(solution.rules, solution.reader, self._solved)

    def _solved(self, spot: Spot, node: LineNode) -> SpotSolution:
        line = ", ".join(node.steps)
        if self._flop is not None and self._flop[0] == line:
            return self._flop[1]
        target = None if line == self.ended else self.target
        for folder in self.folders:
            saved = saved_spot(safely_named(spot) if self.safe else spot, folder, target)
            if saved is not None:
                self._flop = line, saved
                return saved
        raise FlopMissing(spot, line)

    @property
    def flop_files(self) -> list[Path]:
        """Where the solution of this hand's flop is, or will be once it is solved."""
        missing, flop = self.missing, self._flop
        spots = [] if missing is None else [safely_named(missing.spot) if self.safe else missing.spot]
        spots += [] if flop is None else [flop[1].spot]
        return [spot_file(spot, folder) for spot in spots for folder in self.folders]

    def deal(self, solution: PricedSolution, *, give_up: bool = False) -> None:
        """Deal the next hand, and play until the user must act or the hand is over.

        With `give_up`, a hand that waits for its flop is left, and does not count.
        """
        if not (self.over or (give_up and self.missing is not None)):
            waits = "its flop is being solved: wait for it, or stop that first"
            raise Conflict(f"the hand is not over: {'act first' if self.missing is None else waits}")
        reader = self.reader(solution)
        self.person = (self.dealt % 2) if self.seat is None else PLAYERS.index(self.seat)
        self.dealt += 1
        self.hands = draw_hands(reader, reader.root, self.random)
        self.line, self.over, self.missing, self.decisions, self._flop = "", False, None, [], None
        self._play_on(reader, None)

    def act(self, solution: PricedSolution, action: str) -> None:
        """Take an action, judge it, and play until the user must act again or the hand is over."""
        if self.missing is not None:
            raise Conflict("the flop is being solved: nobody can act yet")
        if self.over:
            raise Conflict("the hand is over: deal the next one")
        reader = self.reader(solution)
        node, duel = reader.find(self.line), self._duel(reader)
        chosen = chosen_action(action, reader.actions(node.index))
        self._judge(reader, duel, node, chosen)
        self._play_on(reader, reader.act(node, chosen))

    def resume(self, solution: PricedSolution, *, changed: bool = False) -> None:
        """Continue a hand that waited for its flop, if that is solved now; `changed` if its solve is another."""
        self.version += changed
        if self.missing is not None:
            self._play_on(self.reader(solution), None)

    def _play_on(self, reader: ResolvingReader, node: LineNode | None) -> None:
        """Let the solution act, from a node or from where the line ends, until the user must or a flop is missing."""
        duel = self._duel(reader)
        try:
            last = duel.play_on(reader.find(self.line) if node is None else node)[-1]
        except FlopMissing as missing:
            if self.missing is None:
                self.version += 1
            self.line, self.missing = missing.line, missing
            return
        self.line, self.missing = ", ".join(last.steps), None
        self.version += 1
        self.over = not duel.is_persons_turn(last)
        if self.over:
            won, adjusted = duel.person_result(last)
            self.score.add(won / self.big_blind, adjusted / self.big_blind)

    def _duel(self, reader: LineReader) -> Duel:
        return Duel(reader, self.hands, self.person, self.random)

    def _judge(self, reader: ResolvingReader, duel: Duel, node: LineNode, chosen: int) -> None:
        """Say what the solution does with the hand; after the flop also what the action costs."""
        judgement = strategy = None
        if node.deal.street == 0:
            strategy = duel.strategy(node)
        else:
            judgement = judge(*reader.in_spot(node), self.hands[self.person], chosen)
        if judgement is not None:
            self.grades[judgement.grade] += 1
            self.lost += judgement.lost
        feedback = feedback_json(duel, node, chosen, judgement, strategy=strategy, big_blind=self.big_blind)
        self.decisions.append(feedback)

    # --- what the user sees ------------------------------------------------------------------------------------------

    def as_json(self, solution: PricedSolution) -> Json:
        """The state of the session, without what the user must not know."""
        reader = solution.reader if self.missing is not None else self.reader(solution)
        path, duel = reader.path(self.line), self._duel(reader)
        may_act = self.missing is None and not self.over
        return {
            "id": self.id,
            "version": self.version,
            "file": self.file,
            "game": solution.game,
            "hand_number": self.dealt,
            "seats": SEATS,
            "big_blind": self.big_blind,
            "target": self.target,
            "safe": self.safe,
            **hand_json(duel, path, solution.rules.stack, may_act=may_act),
            "over": self.over,
            "outcome": outcome_json(duel, path[-1], unit=UNIT, chips=self.big_blind) if self.over else None,
            "decisions": self.decisions,
            "score": self._score_json(),
        }

    def _score_json(self) -> Json:
        score, hands = self.score, len(self.score.results)
        return {
            "hands": hands,
            "won": rounded(score.total),
            "per_hundred": rounded(score.per_hundred) if hands else None,
            "adjusted": rounded(score.adjusted_per_hundred) if hands else None,
            "error": rounded(score.standard_error) if hands > 1 else None,
            "decisions": sum(self.grades.values()),
            "lost": rounded(self.lost),
            "grades": dict(self.grades),
        }
