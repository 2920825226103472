"""The study file: a spot without a board, and over which flops and parameters it is solved.

    name = "BB against BTN"
    flops = "subset(49)"          which flops: see `flops`
    target = 0.5                  percent of the pot; or iterations = 200
    device = "auto"               auto, cpu or cuda
    pot = 55                      from here on as in a spot file, without `board`
    stack = 975
    [oop]
    range = "22-99, A2s+"
    [ip]
    range = "22+, A2s+"
    [bets]
    bet = "33%, 75%"

    [vary]                        optional: every combination of these values is solved
    stack = [475, 975]
    rules.rake = [0, 0.05]
    bets.flop.bet = ["33%", "75%"]

    [keep]                        optional: what is written besides a row per action and line
    lines = "flop"                every decision on the flop; a number: after at most that many actions; a list of
                                  lines, such as ["", "check", "check, check, any"], where `any` stands for every card
    hands = true                  a row per hand and action too
    solutions = true              whole .rgl files too

Two studies with the same `digest` have the same answers on the same flops, so a folder of one can be continued by the
other. The digest covers all of the above but the name, the device and the flops (of a subset, its weights).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from regretless.errors import InvalidOption, RegretlessError
from regretless.forms.history import IntArray
from regretless.forms.public import BettingTree, NodeKind
from regretless.forms.walking import action_labels
from regretless.holdem.estimate import STORAGES
from regretless.holdem.flops import Flop, flops_of_field
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.form.suits import suit_group
from regretless.holdem.problem import TARGET
from regretless.holdem.spots.lines import find_action, no_such_action, parse_line
from regretless.holdem.spots.locks import LockFrom
from regretless.holdem.spots.rounding import warn_of_rounding
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS, SpotFields, check_number
from regretless.holdem.spots.spot_toml import read_mapping, write_spot
from regretless.holdem.spots.toml_fields import parse_toml, read_toml_text
from regretless.solving.kinds import Kind
from regretless.solving.options import SolveOptions
from regretless.spelling import did_you_mean
from regretless.variants.presets import read_variant

__all__ = ["ANY", "Keep", "StudyPlan", "StudySpot", "Variation", "line_pattern"]

ANY = "any"  # in a line of `keep.lines`: every card that can be dealt
DEVICES = ("auto", "cpu", "cuda")
MAX_TARGET = 1e6  # percent of the pot
MAX_VARIATIONS = 1_000
MAX_LINES = 1_000
MAX_DEPTH = 100  # actions

_SPOT = ("pot", "stack", "oop", "ip", "tree", "bets", "rules", "lines", "locks", "name", "big_blind", "raiser")
_OPTIONS = ("target", "iterations", "variant", "storage", "device")  # of each solve
_STUDY = ("flops", *_OPTIONS, "vary", "keep")
_BOARD = "Qs Jh 2d"  # stands in for the flops while the fields are read


@dataclass(frozen=True)
class Keep:
    """What a study writes about each spot."""

    lines: str | int | tuple[str, ...] = "flop"
    hands: bool = False
    solutions: bool = False


@dataclass(frozen=True)
class Variation:
    """One combination of the values in `vary`."""

    number: int
    parameters: Mapping[str, object]  # by field: "rules.rake"
    fields: SpotFields


@dataclass(frozen=True)
class StudySpot:
    """One spot of a study."""

    id: str  # the flop and, if anything varies, the number of the variation: names its files
    flop: Flop
    variation: Variation

    @cached_property
    def spot(self) -> Spot:
        """The spot itself."""
        return Spot(**{**vars(self.variation.fields), "board": self.flop.cards, "name": self.id})


@dataclass(frozen=True, kw_only=True)
class StudyPlan:
    """What a study solves."""

    name: str
    flops: str | tuple[str, ...]
    variations: tuple[Variation, ...]
    options: SolveOptions  # of each solve; "auto" chooses the device where it runs
    keep: Keep
    toml: str = field(repr=False)  # as it was given

    @classmethod
    def parse(cls, text: str, source: str | Path = "study") -> StudyPlan:
        """Read the TOML of a study; an error is one sentence that names the field.

        >>> plan = StudyPlan.parse('''
        ... flops = "paired two-tone 2-high or 3-high"
        ... pot = 60
        ... stack = 100
        ... oop.range = "QQ, AK"
        ... ip.range = "JJ, KQ"
        ... bets.bet = "50%"
        ... vary.rules.rake = [0, 0.05]
        ... ''')
        >>> [spot.id for spot in plan.spots]
        ['3s2s2h-1', '3s2s2h-2', '3s3h2s-1', '3s3h2s-2']
        >>> plan.spots[1].spot.rules.rake
        0.05
        >>> StudyPlan.parse('board = "Qs Jh 2h"')
        Traceback (most recent call last):
        regretless.errors.RegretlessError: board: is not a field of a study, which has flops
        """
        table = parse_toml(text, source)
        _check_names(table)
        spot_fields = {key: value for key, value in table.items() if key in _SPOT}
        variations = tuple(_variations(spot_fields, table.get("vary", {}), source))
        plan = cls(
            name=str(spot_fields.get("name", "")) or (Path(source).stem if str(source).endswith(".toml") else ""),
            flops=_flops(table.get("flops", "all")),
            variations=variations,
            options=_options(table),
            keep=_keep(table.get("keep", {})),
            toml=text,
        )
        plan._check(source)
        return plan

    @classmethod
    def read(cls, path: str | Path) -> StudyPlan:
        """Read a study file; the study's name defaults to the file's."""
        return cls.parse(read_toml_text(path), path)

    @cached_property
    def group(self) -> IntArray:
        """Renamings of suits that change no range and no lock of any variation."""
        groups = []
        for variation in self.variations:
            fields = variation.fields
            alike = [lock.range for lock in fields.locks if lock.hands]
            fixed = [card for lock in fields.locks for card in lock.cards]
            groups.append(suit_group((), fields.ip, fields.oop, alike=alike, fixed=fixed))
        return np.asarray(reduce(np.intersect1d, groups))

    @cached_property
    def chosen(self) -> list[Flop]:
        """The flops that `flops` names."""
        return flops_of_field(self.flops, self.group)

    @cached_property
    def spots(self) -> list[StudySpot]:
        """Every spot: flop by flop, and for each flop every variation.

        Flops on which a range has no hand left, or no two hands can meet, are left out: they cannot be dealt.
        """
        ranges = {each.number: [each.fields.range_of(player) for player in PLAYERS] for each in self.variations}
        classes = {number: tuple(each.weights.tobytes() for each in both) for number, both in ranges.items()}
        distinct = {key: ranges[number] for number, key in classes.items()}  # most variations have the same ranges
        spots = []
        for flop in self.chosen:
            can_meet = {}
            for key, both in distinct.items():
                live = [each.remove(flop.cards) for each in both]
                can_meet[key] = all(each.weights.any() for each in live) and live[0].meets(live[1])
            for variation in self.variations:
                if can_meet[classes[variation.number]]:
                    name = flop.text if len(self.variations) == 1 else f"{flop.text}-{variation.number}"
                    spots.append(StudySpot(name, flop, variation))
        if not spots:  # an empty range has an error of its own
            Spot(**{**vars(self.variations[0].fields), "board": self.chosen[0].cards})
            raise InvalidOption("flops", self.flops, "has no flop that the ranges of every variation allow")
        return spots

    @property
    def impossible(self) -> int:
        """How many spots are left out because the ranges do not allow them."""
        return len(self.chosen) * len(self.variations) - len(self.spots)

    @property
    def varied(self) -> tuple[str, ...]:
        """The fields that vary."""
        return tuple(self.variations[0].parameters)

    @cached_property
    def digest(self) -> str:
        """What the answers depend on, besides the flops."""
        content = {
            "spots": [write_spot(replace(each.fields.unannotated(), board=())) for each in self.variations],
            "varied": [dict(each.parameters) for each in self.variations],
            "options": {name: value for name, value in self.options.given() if name != "device"},
            "keep": [self.keep.lines, self.keep.hands, self.keep.solutions],
            "weights": self.flops if isinstance(self.flops, str) and "subset" in self.flops.lower() else "flops",
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def _check(self, source: str | Path) -> None:
        """Build the tree of every variation, and find each line to keep in at least one."""
        first = {each.variation.number: each for each in reversed(self.spots)}
        trees = []
        for number, each in sorted(first.items()):
            trees.append(betting_tree(each.spot))
            warn_of_rounding(each.spot.table, f"{source}{f', variation {number}' if len(self.variations) > 1 else ''}")
        for position, line in enumerate(self.keep.lines if isinstance(self.keep.lines, tuple) else ()):
            errors = [_missing_step(tree, line, f"keep.lines[{position}]") for tree in trees]
            if errors[0] is not None and None not in errors:
                raise errors[0]


# --- reading ---------------------------------------------------------------------------------------------------------


def _check_names(table: Mapping[str, object]) -> None:
    for key in table:
        if key == "board":
            raise RegretlessError("board: is not a field of a study, which has flops")
        if key not in _SPOT + _STUDY:
            hint = did_you_mean(key, _SPOT + _STUDY, f"it has {', '.join(_STUDY + _SPOT)}", cutoff=0.5)
            raise RegretlessError(f"{key}: is not a field of a study{hint}")


def _flops(value: object) -> str | tuple[str, ...]:
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, str):
        raise InvalidOption("flops", value, 'must be "all", "subset(49)", properties or a list of flops')
    return value


def _options(table: Mapping[str, object]) -> SolveOptions:
    """When each solve ends, and what it runs on."""
    defaults = {"storage": STORAGES[0], "device": DEVICES[0]}
    options = SolveOptions.read(defaults | {name: table[name] for name in _OPTIONS if name in table})
    options.check(Kind.SPOT)
    if options.target is not None:
        check_number("target", options.target, at_most=MAX_TARGET)
    if options.variant is not None:
        if not isinstance(options.variant, str):
            raise InvalidOption("variant", options.variant, "must be a text in quotes")
        read_variant(options.variant)
    if options.device not in DEVICES:
        raise InvalidOption("device", options.device, f"is not one of {', '.join(DEVICES)}")
    target = TARGET if options.target is None and options.iterations is None else options.target
    return replace(options, target=None if target is None else float(target))


def _keep(table: object) -> Keep:
    if not isinstance(table, Mapping):
        raise InvalidOption("keep", table, "must be a table: [keep]")
    for key in table:
        if key not in ("lines", "hands", "solutions"):
            raise RegretlessError(f"keep.{key}: is not a field of [keep]; it has lines, hands, solutions")
    for name in ("hands", "solutions"):
        if not isinstance(table.get(name, False), bool):
            raise InvalidOption(f"keep.{name}", table[name], "must be true or false")
    lines = table.get("lines", "flop")
    if isinstance(lines, list):
        if not lines or len(lines) > MAX_LINES:
            raise InvalidOption("keep.lines", f"a list of {len(lines):,}", f"must have 1 to {MAX_LINES:,} lines")
        lines = tuple(line_pattern(line, f"keep.lines[{number}]") for number, line in enumerate(lines))
    elif isinstance(lines, bool) or not (lines == "flop" or (isinstance(lines, int) and 0 <= lines <= MAX_DEPTH)):
        raise InvalidOption("keep.lines", lines, f'must be "flop", a number from 0 to {MAX_DEPTH}, or a list of lines')
    return Keep(lines, table.get("hands", False), table.get("solutions", False))


def line_pattern(text: object, field: str) -> str:
    """A line as the tables have it, in which `any` stands for every card; errors name the field."""
    if not isinstance(text, str):
        raise InvalidOption(field, text, "must be a text in quotes")
    if not text.strip():
        return ""
    parts: list[str] = []
    for part in map(str.strip, text.split(",")):
        parts.extend([ANY] if part.lower() == ANY else map(str, parse_line(part, field)))
    return ", ".join(parts)


def _variations(fields: dict[str, object], vary: object, source: str | Path) -> Iterator[Variation]:
    """Every combination of the values, the last field varying fastest."""
    if not isinstance(vary, Mapping):
        raise InvalidOption("vary", vary, "must be a table: [vary]")
    values = dict(_leaves(vary))
    count = prod(map(len, values.values()))
    if count > MAX_VARIATIONS:
        raise RegretlessError(f"vary: has {count:,} combinations; at most {MAX_VARIATIONS:,} are allowed")
    for number, chosen in enumerate(product(*values.values()), 1):
        varied: dict[str, object] = deepcopy(fields)
        for name, value in zip(values, chosen, strict=True):
            _set(varied, name, value)
        spot_fields = read_mapping({**varied, "board": _BOARD}, source)
        for position, lock in enumerate(spot_fields.locks):
            if isinstance(lock, LockFrom):
                reason = "is a solution of one board, and a study has many"
                raise InvalidOption(f"locks[{position}].source", lock.source, reason)
        yield Variation(number, dict(zip(values, chosen, strict=True)), spot_fields)


def _leaves(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, list[object]]]:
    """The lists of values of a table and its subtables, by dotted name."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{name}.")
        elif not isinstance(value, list) or not value or not all(isinstance(each, int | float | str) for each in value):
            raise InvalidOption(f"vary.{name}", value, "must be a list of numbers or texts")
        elif name.partition(".")[0] not in ("pot", "stack", "oop", "ip", "bets", "rules"):
            raise InvalidOption(f"vary.{name}", value, "cannot vary: pot, stack, oop, ip, bets and rules can")
        elif len(set(map(repr, value))) < len(value):
            raise InvalidOption(f"vary.{name}", value, "repeats a value")
        else:
            yield name, value


def _set(fields: dict[str, Any], name: str, value: object) -> None:
    *tables, last = name.split(".")
    for each in tables:
        fields = fields.setdefault(each, {})
        if not isinstance(fields, dict):
            raise InvalidOption(f"vary.{name}", value, f"lies in {each}, which is not a table")
    fields[last] = value


def _missing_step(tree: BettingTree, line: str, name: str) -> RegretlessError | None:
    """What a line has that the tree does not; cards are not checked, since they depend on the flop."""
    node, position = 0, 1
    for part in line.split(", ") if line else ():
        part_position, position = position, position + len(part) + len(", ")
        if tree.kind[node] == NodeKind.CHANCE:
            if part != ANY and parse_line(part, name)[0].card is None:
                return InvalidOption(name, line, f"needs a card before {part!r}; {ANY!r} means every card")
            node = int(tree.first_child[node])
            continue
        labels = action_labels(tree, node)
        if part == ANY:
            return InvalidOption(name, line, f"has {ANY!r} where no card is dealt")
        action = find_action(step := parse_line(part, name)[0], labels)
        if action is None:
            return no_such_action(name, line, step._replace(position=part_position), labels)
        node = int(tree.first_child[node]) + action
    if tree.kind[node] != NodeKind.DECISION:
        return InvalidOption(name, line, "ends where nobody acts")
    return None
