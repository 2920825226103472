"""The reference spots of tests/data as public forms, their betting trees built by a plain recursion over the rules."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regretless.cards.deck import parse_board
from regretless.cards.ranges import Range
from regretless.forms.betting import Branch, flatten, poker_payoffs
from regretless.forms.public import NodeKind, PublicForm
from regretless.holdem.form.runouts import compile_holdem

DATA = Path(__file__).parent.parent / "data"
STREETS = ("flop", "turn", "river")
IP, OOP = 0, 1


@dataclass(frozen=True)
class Point:
    street: int  # 3, 4 or 5 cards on the table
    paid: tuple[int, int]
    player: int
    base: int = 0  # chips each had paid when the street began
    last: int = 0  # the last bet or raise, beyond the call
    bets: int = 0  # bets and raises on this street
    acted: bool = False  # whether somebody checked
    donk: bool = False  # whether donk sizes apply


class TreeBuilder:
    def __init__(self, spot: dict[str, Any]) -> None:
        self.spot, self.pot, self.stack = spot, spot["pot"], spot["stack"]
        self.rules = spot.get("rules", {})

    def sizes(self, point: Point, kind: str) -> list[str]:
        bets = self.spot["bets"]
        tables = [bets, bets.get(STREETS[point.street - 3], {})]
        tables += [table.get("ip" if point.player == IP else "oop", {}) for table in tables]
        for table in reversed(tables):
            if kind in table:
                return [size.strip() for size in table[kind].split(",") if size.strip()]
        return []

    def amounts(self, point: Point) -> list[int]:
        """Total chips paid after each bet or raise that is possible here, ascending."""
        theirs = point.paid[1 - point.player]
        pot = self.pot + 2 * theirs
        left = self.stack - theirs  # beyond the call
        if left <= 0:
            return []
        kind = "raise" if point.bets else "bet"
        sizes = self.sizes(point, kind)
        if point.donk and kind == "bet" and self.sizes(point, "donk"):
            sizes = self.sizes(point, "donk")
        amounts: set[int] = set()
        for size in sizes:
            if size == "a":
                amounts.add(left)
            elif size.endswith("%"):
                amounts.add(int(pot * float(size[:-1]) / 100 + 0.5))
            elif size.endswith("x"):
                amounts.add(int((theirs - point.base) * float(size[:-1]) + 0.5) - (theirs - point.base))
            else:
                streets = int(size[:-1] or max(6 - point.street - point.bets, 1))
                fraction = ((2 * left / pot + 1) ** (1 / streets) - 1) / 2
                amounts.add(int(pot * fraction + 0.5))
        if left <= self.rules.get("add_allin", 0) * pot:
            amounts.add(left)
        minimum = max(point.last, 1)
        forced = set()
        for amount in amounts:
            amount = min(max(amount, minimum), left)
            if left - amount <= self.rules.get("force_allin", 0) * (pot + 2 * amount):
                amount = left
            forced.add(amount)
        return [theirs + amount for amount in self.merged(sorted(forced), pot)]

    def merged(self, amounts: list[int], pot: int) -> list[int]:
        threshold = self.rules.get("merge", 0)
        kept: list[int] = []
        for amount in reversed(amounts):
            if not threshold or not kept or amount / pot < (kept[-1] / pot - threshold) / (1 + threshold):
                kept.append(amount)
        return kept[::-1]

    def build(self, point: Point) -> Branch:
        player, paid = point.player, point.paid
        call = paid[1 - player] - paid[player]
        children: dict[str, Branch] = {}
        if call > 0:
            children["fold"] = Branch(NodeKind.FOLD, paid, player)
            children["call"] = self.street_over(point, (max(paid), max(paid)), donk=player == OOP)
        elif point.acted:
            children["check"] = self.street_over(point, paid, donk=False)
        else:
            children["check"] = self.build(Point(point.street, paid, 1 - player, point.base, acted=True))
        for amount in self.amounts(point):
            after = (amount, paid[1]) if player == IP else (paid[0], amount)
            following = Point(point.street, after, 1 - player, point.base, amount - max(paid), point.bets + 1)
            children[f"{'raise' if point.bets else 'bet'} {amount}"] = self.build(following)
        return Branch(NodeKind.DECISION, paid, player, children)

    def street_over(self, point: Point, paid: tuple[int, int], donk: bool) -> Branch:
        if point.street == 5:
            return Branch(NodeKind.SHOWDOWN, paid)
        if paid[0] >= self.stack:
            below = self.street_over(Point(point.street + 1, paid, OOP), paid, False)
        else:
            below = self.build(Point(point.street + 1, paid, OOP, paid[0], donk=donk))
        return Branch(NodeKind.CHANCE, paid, children={"": below})


def load_spot(name: str) -> tuple[PublicForm, dict[str, Any]]:
    """The form of a reference spot, and the independent solver's answer."""
    spot = tomllib.loads((DATA / f"{name}.toml").read_text())
    board = parse_board(spot["board"])
    root = TreeBuilder(spot).build(Point(len(board), (0, 0), OOP))
    tree = flatten(root, starting_pot=spot["pot"])
    rake = {name: value for name, value in spot.get("rules", {}).items() if name in ("rake", "rake_cap")}
    ip, oop = (Range.parse(spot[player]["range"]) for player in ("ip", "oop"))
    form = compile_holdem(board, ip, oop, tree, payoffs=poker_payoffs(tree, **rake), name=name)
    return form, json.loads((DATA / f"{name}.json").read_text())
