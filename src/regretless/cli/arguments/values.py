"""The values of options that are text with a grammar of their own: variants, cards, players and ranges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from regretless.errors import InvalidOption

if TYPE_CHECKING:
    from regretless.cards.ranges import Range
    from regretless.holdem.spots.spot_fields import PlayerName

__all__ = ["read_cards", "read_player", "read_range", "read_variants", "with_parameters"]


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
        except InvalidOption as error:
            reason = error.reason if error.option == "variant" else str(error)  # else of a parameter
            raise InvalidOption("variants", name, reason, error.advice) from None
    if not names:
        raise InvalidOption("variants", text, "must name at least one variant")
    return names


def with_parameters(variant: str | None, parameters: Mapping[str, float]) -> str | None:
    """The text of a variant with these parameters replaced.

    >>> with_parameters("postflop", {"gamma": 4.0}), with_parameters("plus", {})
    ('postflop(gamma=4)', 'plus')
    >>> with_parameters("plus", {"gamma": 4.0})
    Traceback (most recent call last):
    regretless.errors.InvalidOption: variant: 'plus' has no parameter gamma
    """
    from regretless.solving.options import EXACT
    from regretless.variants.presets import read_variant, variant_text

    if not parameters:
        return variant
    first = next(iter(parameters))
    if variant is None:
        raise InvalidOption(first, parameters[first], "needs a variant with this parameter: add --variant")
    if variant == EXACT:
        raise InvalidOption("variant", variant, f"has no parameter {first}")
    unchanged = read_variant(variant)
    for name, value in parameters.items():
        if not hasattr(unchanged, name):
            raise InvalidOption("variant", variant, f"has no parameter {name}")
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
