"""The values of options that are text with a grammar of their own: variants, cards, players and ranges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from regretless.errors import Advice, InvalidOption, RegretlessError

if TYPE_CHECKING:
    from regretless.cards.ranges import Range
    from regretless.holdem.spots.spot_fields import PlayerName

__all__ = ["read_cards", "read_player", "read_range", "read_variants", "variant_with"]


def read_variants(text: str) -> list[str]:
    """The variants of --variants, each with or without parameters.

    >>> read_variants("plus, discounted(alpha=1, gamma=3),")
    ['plus', 'discounted(alpha=1, gamma=3)']
    """
    from regretless.solving.options import EXACT
    from regretless.variants.presets import read_variant

    comma_outside_parentheses = r",(?![^(]*\))"
    names = [name.strip() for name in re.split(comma_outside_parentheses, text) if name.strip()]
    for name in names:
        try:
            read_variant("plus" if name == EXACT else name)
        except RegretlessError as error:
            reason = error.worded(Advice.as_option).removeprefix(f"variant: {name!r} ")
            raise InvalidOption("variants", name, reason) from None
    if not names:
        raise InvalidOption("variants", text, "must name at least one variant")
    return names


def variant_with(variant: str | None, parameters: Mapping[str, float]) -> str | None:
    """The text of a variant with these parameters replaced.

    >>> variant_with("postflop", {"gamma": 4.0}), variant_with("plus", {})
    ('postflop(gamma=4)', 'plus')
    >>> variant_with("plus", {"gamma": 4.0})
    Traceback (most recent call last):
    regretless.errors.InvalidOption: gamma: 4.0 is not a parameter of plus
    """
    from regretless.solving.options import EXACT
    from regretless.variants.presets import read_variant, variant_text

    if not parameters:
        return variant
    unchanged = None if variant is None or variant == EXACT else read_variant(variant)
    for name, value in parameters.items():
        if variant is None:
            raise InvalidOption(name, value, "is a parameter of a variant: name it with --variant")
        if not hasattr(unchanged, name):
            raise InvalidOption(name, value, f"is not a parameter of {variant}")
        if re.search(rf"\b{name}\s*=", variant):
            raise InvalidOption(name, value, f"is also set by --variant {variant}: set it once")
    return variant_text(replace(cast(Any, unchanged), **parameters))


def read_cards(text: str | None) -> tuple[int, ...]:
    """The cards of --board.

    >>> read_cards("Th 2c"), read_cards(None)
    ((34, 0), ())
    """
    from regretless.cards.deck import parse_board

    return () if text is None else parse_board(text)


def read_player(text: str | None, option: str = "player") -> PlayerName | None:
    """The player that an option names; None without the option."""
    from regretless.holdem.spots.toml_fields import player_in

    return None if text is None else player_in(text, option)


def read_range(text: str | None) -> Range | None:
    """The hands that --hands selects; None: all of them."""
    from regretless.cards.ranges import Range

    if text is None or not text.strip():
        return None
    return Range.parse(text, "hands")
