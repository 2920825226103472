"""From the bets that a spot or a game allows to its betting tree, without cards.

At a decision, with `pot` the pot after calling and all chips counted on this street:

1. The candidates are the sizes of this street and player: donk sizes if the player out of position leads after calling
   on the previous street, raise sizes facing a bet, reraise sizes facing a raise, otherwise bet sizes. Amounts are
   rounded to whole chips, except all-in. If the street has reached its maximum number of raises, there are none.
2. All-in is added if the stack beyond the call is at most add_allin · pot.
3. A candidate is at least the smallest bet, or the last bet or raise on top of the call, rounded up to whole chips, and
   at most all-in. It becomes all-in if at most force_allin · (new pot) would remain once it is called.
4. From the largest down, a candidate is dropped unless its share of the pot is below (share of the next larger − merge)
   / (1 + merge).
5. Lines added or removed by hand come last. Nobody can raise an all-in.

A tree may also be given by its lines: then the bets and raises are those that the lines name, to the chip, and steps 1
to 4 do not apply. A check, a call or a fold is possible wherever it is legal, whether or not a line names it.

A game from the deal begins with posted blinds, which count as the first bet: the player in position, the small blind,
raises, folds or calls (limps), and after a limp the big blind may still raise. Everything else is as on later streets.

Amounts are rounded to whole chips, thresholds are not. Decisions with the same chips and the same possible
continuations share a subtree, which is built once, so the cost of a tree depends on its distinct parts, not on its
nodes. A tree too large to solve is refused while it is built (`tree_size`). Trees do not depend on cards: spots that
differ only in board or ranges share one.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import NamedTuple, Protocol

from regretless.errors import InvalidText, RegretlessError
from regretless.forms.betting import Branch, flatten, poker_payoffs
from regretless.forms.public import BettingTree, NodeKind, Payoffs
from regretless.forms.public_size import BettingSize, size_of_branches
from regretless.holdem.form.tree_size import TreeSize
from regretless.holdem.spots.lines import LineStep, no_such_action, parse_line
from regretless.holdem.spots.sizes import (
    SLACK,
    Decision,
    Size,
    at_most,
    exact,
    number_text,
    whole_chips,
    whole_chips_above,
)
from regretless.holdem.spots.spot_fields import IP, OOP, PLAYERS, BettingTable, Lines

__all__ = ["Betting", "HasTable", "betting_of", "betting_tree", "forget_betting"]

MAX_BETS = 40  # per street; more means a raise size that hardly grows
RECENT_DECISIONS = 10_000  # of all trees in memory; each takes about 3 kB
ROUNDING = 1e-12  # relative error of a share of the pot


class HasTable(Protocol):
    """A spot, or a game from the deal."""

    @property
    def table(self) -> BettingTable: ...


def betting_tree(game: HasTable) -> BettingTree:
    """The betting tree of a spot or a game as arrays.

    >>> from regretless.holdem.spots.spot import Spot
    >>> fields = {"board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 200, "oop": {"range": "AK"}, "ip": {"range": "QQ"}}
    >>> tree = betting_tree(
    ...     Spot.from_mapping(fields | {"bets": {"bet": "50%", "raise": "a"}, "rules": {"add_allin": 0}})
    ... )
    >>> [tree.labels[child] for child in range(tree.first_child[0], tree.first_child[1])], len(tree.kind)
    (['check', 'bet 50'], 15)
    """
    return betting_of(game).tree


def betting_of(game: HasTable) -> Betting:
    """The betting of a spot or a game. Those with equal tables share it, if it is not large."""
    table = game.table
    try:
        betting = _recent.find(table)
    except TypeError:  # not hashable: someone's sizes are in a list
        return _Builder(table).betting()
    if betting is None:
        betting = _Builder(table).betting()
        _recent.add(table, betting)
    return betting


class Betting:
    """The betting of a table, without cards; read-only. A large tree is laid out in arrays only when needed."""

    def __init__(self, table: BettingTable, root: Branch, decisions: int) -> None:
        self.root = root  # equal subtrees are shared
        self.decisions = decisions  # distinct subtrees with a decision
        self._table = table

    @cached_property
    def size(self) -> BettingSize:
        return size_of_branches(self.root, len(self._table.streets), starting_pot=self._table.pot, **self._rake)

    @cached_property
    def tree(self) -> BettingTree:
        return flatten(self.root, starting_pot=self._table.pot)

    @cached_property
    def payoffs(self) -> Payoffs:
        """Chips at each terminal. A hand that ends before the flop is not raked."""
        return poker_payoffs(self.tree, first_raked=int(self._table.blinds is not None), **self._rake)

    @property
    def _rake(self) -> dict[str, float]:
        return {"rake": self._table.rules.rake, "rake_cap": self._table.rules.rake_cap}


class _RecentBetting:
    """The betting of recent spots and games, up to `RECENT_DECISIONS` decisions in total."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[Hashable, Betting] = OrderedDict()  # the latest last
        self._decisions = 0
        self._lock = Lock()

    def find(self, key: Hashable) -> Betting | None:
        with self._lock:
            betting = self._by_key.get(key)
            if betting is not None:
                self._by_key.move_to_end(key)
            return betting

    def add(self, key: Hashable, betting: Betting) -> None:
        with self._lock:
            if betting.decisions > RECENT_DECISIONS or key in self._by_key:
                return
            self._by_key[key] = betting
            self._decisions += betting.decisions
            while self._decisions > RECENT_DECISIONS:
                self._decisions -= self._by_key.popitem(last=False)[1].decisions

    def clear(self) -> None:
        with self._lock:
            self._by_key.clear()
            self._decisions = 0


_recent = _RecentBetting()


def forget_betting() -> None:
    """Build every tree anew from now on."""
    _recent.clear()


@dataclass(frozen=True)
class _Edit:
    """A line given by hand, or the rest of it below a node."""

    field: str  # "lines.add[0]"
    text: str  # the whole line
    steps: tuple[LineStep, ...]
    removes: bool


class _State(NamedTuple):
    """The betting so far, as far as it affects what can follow."""

    street: int = 0  # counted from the first
    player: int = OOP
    before: float = 0.0  # chips each player put in on earlier streets
    bets: tuple[float, float] = (0.0, 0.0)  # chips of ip and oop on this street
    wagers: int = 0  # bets and raises on this street, and the blinds
    called: bool = False  # whether oop's call ended the previous street, and nobody has acted since
    blind: bool = False  # whether the other player has only posted, and may still act after a call

    @property
    def paid(self) -> tuple[float, float]:
        return self.before + self.bets[IP], self.before + self.bets[OOP]

    @property
    def faces(self) -> bool:
        """Whether the player faces a bet."""
        return self.bets[self.player] < max(self.bets)


class _Candidates(NamedTuple):
    """The sizes that apply at a decision, and the field that they come from."""

    sizes: tuple[Size, ...]
    field: str  # "donk"


class _Builder:
    """Builds the tree of a table from the root down, each distinct subtree once."""

    def __init__(self, table: BettingTable) -> None:
        self.table = table
        self.size = TreeSize(table)
        self.built: dict[tuple[_State, tuple[_Edit, ...]], Branch] = {}

    def betting(self) -> Betting:
        first = _State(before=self.table.ante)
        if self.table.blinds is not None:
            first = first._replace(player=IP, bets=self.table.blinds, wagers=1, blind=True)
        return Betting(self.table, self.branch(first, _edits(self.table.lines)), self.size.decisions)

    def branch(self, state: _State, edits: tuple[_Edit, ...]) -> Branch:
        key = state, edits
        if key not in self.built:
            self.size.begin_decision()
            self.built[key] = self._decision(state, edits)
            self.size.end_decision(self.built[key])
        return self.built[key]

    def _decision(self, state: _State, edits: tuple[_Edit, ...]) -> Branch:
        wagers = self._wagers(state)
        actions = [LineStep("fold"), LineStep("call")] if state.faces else [LineStep("check")]
        if state.blind and state.faces and not self.table.limp:
            actions.remove(LineStep("call"))
        actions += wagers
        if edits:
            actions = self._apply_edits(state, actions, edits)
        children = {
            str(action): self._after(state, action, _below(edits, action) if edits else ()) for action in actions
        }
        return Branch(NodeKind.DECISION, state.paid, state.player, children)

    def _after(self, state: _State, action: LineStep, edits: tuple[_Edit, ...]) -> Branch:
        if action.verb == "fold":
            return _end(Branch(NodeKind.FOLD, state.paid, state.player), edits)
        if action.verb in ("call", "check") and state.blind:  # a limp, free if the blinds are equal
            posted = max(state.bets)
            limped = _State(state.street, 1 - state.player, state.before, (posted, posted), state.wagers)
            return self.branch(limped, edits)
        if action.verb == "check" and state.player == OOP and max(state.bets) == 0:
            return self.branch(_State(state.street, IP, state.before), edits)
        if action.verb in ("call", "check"):
            return self._next_street(state, edits)
        assert action.amount is not None
        bets = (action.amount, state.bets[OOP]) if state.player == IP else (state.bets[IP], action.amount)
        return self.branch(_State(state.street, 1 - state.player, state.before, bets, state.wagers + 1), edits)

    def _next_street(self, state: _State, edits: tuple[_Edit, ...]) -> Branch:
        before = state.before + max(state.bets)
        paid = before, before
        if state.street == len(self.table.streets) - 1:
            return _end(Branch(NodeKind.SHOWDOWN, paid), edits)
        if self.table.stack - before <= SLACK:  # all-in: only the remaining cards
            branch = _end(Branch(NodeKind.SHOWDOWN, paid), edits)
            for _ in range(state.street, len(self.table.streets) - 1):
                branch = Branch(NodeKind.CHANCE, paid, children={"": branch})
            return branch
        called = state.player == OOP and state.faces
        following = _State(street=state.street + 1, before=before, called=called)
        return Branch(NodeKind.CHANCE, paid, children={"": self.branch(following, edits)})

    # --- amounts -----------------------------------------------------------------------------------------------------

    def _decision_at(self, state: _State) -> Decision:
        faced = max(state.bets)
        return Decision(
            pot=self.table.pot + 2 * (state.before + faced),
            bet_faced=faced,
            stack=exact(self.table.stack - state.before - faced),
            raises=max(state.wagers - 1, 0),
            streets=len(self.table.streets) - state.street,
        )

    def _wagers(self, state: _State) -> list[LineStep]:
        """Steps 1 to 4: bets or raises, smallest first."""
        if self.table.lines.only:
            return []
        decision = self._decision_at(state)
        if decision.stack <= SLACK:
            return []
        street, player = self.table.streets[state.street], PLAYERS[state.player]
        max_raises = self.table.of_street(street).max_raises
        if state.wagers and max_raises is not None and decision.raises >= max_raises:
            return []
        candidates = self._candidates(state, decision)
        amounts = self._merge(self._allowed_amounts(state, decision, candidates.sizes), decision)
        if amounts and amounts != [decision.all_in] and state.wagers >= MAX_BETS:
            field = street if street == "preflop" else f"bets.{street}.{player}.{candidates.field}"
            raise RegretlessError(f"{field}: allows more than {MAX_BETS} raises on one street; set max_raises")
        return [_wager(amount, decision) for amount in amounts]

    def _candidates(self, state: _State, decision: Decision) -> _Candidates:
        """The sizes of step 1."""
        sizes = self.table.of(self.table.streets[state.street], PLAYERS[state.player])
        if state.wagers:
            field = "reraise" if decision.raises and sizes.reraise else "raise"
            return _Candidates(sizes.raise_number(decision.raises + 1), field)
        if state.called and sizes.donk is not None:
            return _Candidates(sizes.donk, "donk")
        return _Candidates(sizes.bet, "bet")

    def _allowed_amounts(self, state: _State, decision: Decision, sizes: Sequence[Size]) -> list[float]:
        """Steps 1 to 3: different amounts in chips, smallest first."""
        rules = self.table.rules
        amounts = []
        for size in sizes:
            amount = size.amount(decision)
            is_all_in = amount > decision.all_in - SLACK
            amounts.append(decision.all_in if is_all_in else whole_chips(amount, rules.chip))
        if at_most(decision.stack, decision.pot * rules.add_allin):
            amounts.append(decision.all_in)
        smallest = whole_chips_above(self._smallest(state, decision), rules.chip)
        return sorted({self._force(min(max(amount, smallest), decision.all_in), decision) for amount in amounts})

    def _smallest(self, state: _State, decision: Decision) -> float:
        """The smallest bet, or a raise by the size of the last bet or raise."""
        before = state.bets[state.player] if state.wagers > 1 else 0.0  # the bet that the last raise raised
        return min(max(2 * decision.bet_faced - before, self.table.rules.min_bet), decision.all_in)

    def _force(self, amount: float, decision: Decision) -> float:
        """The amount, or all-in if little would remain once it is called."""
        new_pot = decision.pot + 2 * (amount - decision.bet_faced)
        is_forced = at_most(decision.all_in - amount, new_pot * self.table.rules.force_allin)
        return decision.all_in if is_forced else amount

    def _merge(self, amounts: list[float], decision: Decision) -> list[float]:
        """Step 4: the amounts that are far enough from the next larger one."""
        merge = self.table.rules.merge
        distinct: list[float] = []
        larger = math.inf
        for amount in reversed(amounts):
            share = (amount - decision.bet_faced) / decision.pot
            if share < (larger - merge) / (1 + merge) * (1 - ROUNDING):
                distinct.insert(0, amount)
                larger = share
        return distinct

    # --- lines by hand -----------------------------------------------------------------------------------------------

    def _apply_edits(self, state: _State, actions: list[LineStep], edits: tuple[_Edit, ...]) -> list[LineStep]:
        """Step 5 at one node."""
        for edit in edits:
            step = edit.steps[0]
            position = next((index for index, action in enumerate(actions) if step.means(action)), None)
            if position is None and not edit.removes and step.verb in ("bet", "raise", "all-in"):
                wager = self._wager_by_hand(state, step, edit)
                actions = sorted([*actions, wager], key=lambda action: action.amount or 0.0)
            elif position is None:
                raise no_such_action(edit.field, edit.text, step, [str(action) for action in actions])
            elif edit.removes and len(edit.steps) == 1:
                actions = [action for index, action in enumerate(actions) if index != position]
        if not actions:
            raise InvalidText(edits[-1].field, edits[-1].text, None, "removes the last action of a decision")
        return actions

    def _wager_by_hand(self, state: _State, step: LineStep, edit: _Edit) -> LineStep:
        """The bet or raise that an added line names, if it is possible."""
        decision = self._decision_at(state)
        amount = decision.all_in if step.amount is None else step.amount
        smallest = self._smallest(state, decision)
        if decision.stack <= SLACK:
            raise InvalidText(edit.field, edit.text, step.position, "the other player is all-in: call or fold")
        if state.wagers >= MAX_BETS:
            raise InvalidText(edit.field, edit.text, step.position, f"is more than {MAX_BETS} raises on one street")
        if not smallest - SLACK <= amount <= decision.all_in + SLACK:
            allowed = f"{number_text(smallest)} to {number_text(decision.all_in)}"
            raise InvalidText(edit.field, edit.text, step.position, f"the amount must be from {allowed}")
        if step.verb != "all-in" and (step.verb == "raise") != (decision.bet_faced > 0):
            raise InvalidText(edit.field, edit.text, step.position, "a bet opens the betting, a raise answers a bet")
        return _wager(amount, decision)


def _edits(lines: Lines) -> tuple[_Edit, ...]:
    """The lines added or removed by hand."""
    edits = []
    for kind, texts in vars(lines).items():
        for number, text in enumerate(texts):
            field = f"lines.{kind}[{number}]"
            steps = parse_line(text, field)
            if not steps:
                raise InvalidText(field, text, None, "names no action")
            for step in steps:
                if step.card is not None:
                    reason = "the betting tree has no cards; name only actions"
                    raise InvalidText(field, text, step.position, reason)
            edits.append(_Edit(field, text, steps, removes=kind == "remove"))
    return tuple(edits)


def _below(edits: tuple[_Edit, ...], action: LineStep) -> tuple[_Edit, ...]:
    """The rest of the lines added or removed by hand, after an action."""
    return tuple(
        replace(edit, steps=edit.steps[1:]) for edit in edits if len(edit.steps) > 1 and edit.steps[0].means(action)
    )


def _end(branch: Branch, edits: tuple[_Edit, ...]) -> Branch:
    """A branch where nobody acts any more, so that no line by hand may continue."""
    for edit in edits:
        raise InvalidText(edit.field, edit.text, edit.steps[0].position, "nobody acts after this")
    return branch


def _wager(amount: float, decision: Decision) -> LineStep:
    if amount >= decision.all_in - SLACK:
        return LineStep("all-in", decision.all_in)
    return LineStep("raise" if decision.bet_faced > 0 else "bet", amount)
