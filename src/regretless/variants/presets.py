"""The variants by the names a user types, optionally with parameters: `discounted`, `discounted(gamma=3)`.

`postflop`, `turn` and `river` are the defaults for hold'em spots on the flop, turn and river. All three are discounted
CFR with α = 1.3 and γ = 5 and with regrets discounted one iteration late; they differ in β, how long negative regrets
are remembered, and larger trees need a larger β: with β = 0 an abandoned action returns too easily,
against an opponent whose response to it is stale, and the exploitability of a flop may double in the middle of
a solve. They were chosen by the geometric mean of iterations to 0.3 and 0.1 % of the pot over many spots, and tested
on as many fresh ones (benchmarks/holdem_variants.py, docs/performance.md). None needs to know its horizon, so they suit
solves that stop at a target.

The names of the literature (CFR+, DCFR, …) are read as well. MCCFR is not a variant: it samples the tree, which the
option `sampling` does, so `replace_mccfr` replaces it by that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, cast

from regretless.errors import Advice, InvalidOption
from regretless.spelling import did_you_mean, name_in, parameters_in
from regretless.variants.discounted import Discounted
from regretless.variants.plus import Plus
from regretless.variants.predictive import PredictiveDiscountedPlus, PredictivePlus
from regretless.variants.resetting import Resetting
from regretless.variants.scheduled import Scheduled
from regretless.variants.vanilla import Vanilla
from regretless.variants.variant import Variant

__all__ = ["ALIASES", "PRESETS", "read_variant", "replace_mccfr", "variant_text"]

PRESETS: dict[str, Variant] = {
    "vanilla": Vanilla(),
    "plus": Plus(),
    "linear": Discounted(alpha=1.0, beta=1.0, gamma=1.0),
    "discounted": Discounted(),
    "predictive-plus": PredictivePlus(),
    "predictive-discounted-plus": PredictiveDiscountedPlus(),
    "postflop": Discounted(alpha=1.3, beta=0.4, gamma=5.0, delay=1),
    "turn": Discounted(alpha=1.3, beta=0.25, gamma=5.0, delay=1),
    "river": Discounted(alpha=1.3, beta=0.0, gamma=5.0, delay=1),
}


ALIASES = {  # names of the literature, in lower case
    "cfr": "vanilla",
    "cfr+": "plus",
    "lcfr": "linear",
    "dcfr": "discounted",
    "hs-dcfr": "scheduled",
    "pcfr+": "predictive-plus",
    "pdcfr+": "predictive-discounted-plus",
}
SAMPLED = "mccfr"  # Monte Carlo CFR (Lanctot et al., NeurIPS 2009): CFR on a sampled tree

# Variants without a preset: the first is there for comparison, the second needs to know its horizon.
NO_PRESET: dict[str, type[Any]] = {"resetting": Resetting, "scheduled": Scheduled}


def read_variant(choice: str | Variant) -> Variant:
    """The variant of that name, with any parameters replaced; a variant object is returned unchanged.

    >>> read_variant("linear")
    Discounted(alpha=1.0, beta=1.0, gamma=1.0, delay=0)
    >>> read_variant("CFR+"), read_variant("dcfr(gamma=3)")
    (Plus(power=1.0, delay=0), Discounted(alpha=1.5, beta=0.0, gamma=3.0, delay=0))
    >>> read_variant("postflop(gamma=4)")
    Discounted(alpha=1.3, beta=0.4, gamma=4.0, delay=1)
    >>> read_variant("scheduled(horizon=1000)")
    Scheduled(horizon=1000, gamma=30.0)
    """
    if not isinstance(choice, str):
        if isinstance(choice, type) or not callable(getattr(choice, "weights", None)):
            raise InvalidOption("variant", choice, "must be a name, text such as 'discounted(gamma=3)', or a variant")
        return choice
    if choice in PRESETS:
        return PRESETS[choice]
    text = choice.strip()
    typed_name = name_in("variant", text, "discounted or discounted(gamma=3)")
    name = ALIASES.get(typed_name.strip().lower(), typed_name.strip())
    _check_name(name, choice)
    kind: type[Any] = NO_PRESET[name] if name in NO_PRESET else type(PRESETS[name])
    parameters = {field.name: field for field in fields(kind)}
    values = parameters_in("variant", text, len(typed_name), name, parameters)
    numbers = {key: _number(key, value, whole=parameters[key].type == "int") for key, value in values.items()}
    if name in PRESETS:
        return cast(Variant, replace(cast(Any, PRESETS[name]), **numbers))
    for key, parameter in parameters.items():
        if parameter.default is MISSING and key not in numbers:
            raise InvalidOption("variant", choice, f"needs {key}, like {name}({key}=1000)")
    return cast(Variant, kind(**numbers))


def _check_name(name: str, text: str) -> None:
    """Refuse a name that is no variant; `text` is what was typed."""
    if name.lower() == SAMPLED:
        raise InvalidOption("variant", text, "samples the tree", [Advice("sampling", "external", "does that")])
    if name not in PRESETS and name not in NO_PRESET:
        known = [*PRESETS, *NO_PRESET]
        hint = did_you_mean(name.lower().replace("_plus", "+"), [*known, *ALIASES, SAMPLED])
        raise InvalidOption("variant", text, f"is not one of {', '.join(known)}{hint}")


def replace_mccfr(options: Mapping[str, object]) -> dict[str, object]:
    """The options of a solve, with "mccfr" replaced by CFR with external sampling, or the sampling they name.

    >>> replace_mccfr({"variant": "mccfr", "iterations": 10})
    {'variant': 'vanilla', 'iterations': 10, 'sampling': 'external'}
    """
    variant = options.get("variant")
    if not isinstance(variant, str) or variant.strip().lower() != SAMPLED:
        return dict(options)
    if options.get("sampling") == "full":
        raise InvalidOption("sampling", "full", f"cannot be combined with variant {variant}, which samples the tree")
    return {**options, "variant": "vanilla", "sampling": options.get("sampling") or "external"}


def variant_text(variant: Variant) -> str:
    """The shortest text that `read_variant` reads as the same variant; for a variant of your own, its repr.

    >>> variant_text(Discounted(alpha=1, beta=1, gamma=1)), variant_text(Discounted(gamma=3))
    ('linear', 'discounted(gamma=3)')
    """
    texts = [
        _text_from_preset(name, variant, preset) for name, preset in PRESETS.items() if type(preset) is type(variant)
    ]
    texts += [_text_from_preset(name, variant, None) for name, kind in NO_PRESET.items() if kind is type(variant)]
    return min(texts, key=len, default=repr(variant))


def _text_from_preset(name: str, variant: Any, preset: Any) -> str:
    """A name and the parameters that differ from its preset or, without one, from the defaults."""
    changes = []
    for field in fields(variant):
        value = getattr(variant, field.name)
        if value != (field.default if preset is None else getattr(preset, field.name)):
            is_short = isinstance(value, float) and float(f"{value:g}") == value
            number = f"{value:g}" if is_short else repr(value)
            changes.append(f"{field.name}={number.replace('inf', '1e999')}")
    return f"{name}({','.join(changes)})" if changes else name


def _number(option: str, value: object, *, whole: bool) -> float:
    if type(value) is int and abs(value) < 2**53:
        return value if whole else float(value)
    if type(value) is float and not whole:
        return value
    raise InvalidOption(option, value, f"must be a {'whole ' if whole else ''}number")
