"""How a training runs: iterations, samples, memories, networks and optimiser, and the presets that name them.

| preset            | T   | K       | memories    | SGD steps | batch  | Adam  | for                                   |
|-------------------|-----|---------|-------------|-----------|--------|-------|---------------------------------------|
| `small`           | 100 | 3,000   | 1,000,000   | 200       | 2,048  | 0.003 | games that a laptop enumerates: Leduc |
| `fhp`             | 450 | 10,000  | 40,000,000  | 4,000     | 10,000 | 0.001 | flop hold'em, as in the paper         |
| `fhp-ten-minutes` | 150 | 300,000 | 100,000,000 | 1,500     | 32,768 | 0.001 | flop hold'em, ten minutes on a GPU    |
| `hulh`            | 450 | 10,000  | 40,000,000  | 32,000    | 20,000 | 0.001 | limit hold'em, as in the paper        |

`small` was chosen on Kuhn and Leduc. They have few observations, so a step takes the gradient of the whole memory
(`fitting.py`), without noise. That allows three times the paper's learning rate, which falls to 0 so that the last step
cannot spoil the fit, and needs a twentieth of the steps. Such close fits pay only with enough samples, and batched
traversals are cheap: on Leduc, 3,000 per iteration leave much less exploitability than 1,000, and 10,000 a little less
still. The policy network is fitted once per measurement, so it gets ten times the steps.

`fhp-ten-minutes` has more samples and larger batches in fewer iterations, because both are cheap on a GPU;
`benchmarks/deep_holdem.py` says why, and how far it gets.

This module loads without PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Literal, get_args

from regretless.errors import InvalidSettings

__all__ = [
    "PRESETS", "SETTINGS", "SYNONYMS", "Algorithm", "MemoryPlace", "Precision", "Replacement", "TrainingSettings",
    "Weighting", "preset_settings",
]  # fmt: skip

Algorithm = Literal["deep", "single"]
Weighting = Literal["linear", "uniform"]
Replacement = Literal["reservoir", "window"]
MemoryPlace = Literal["device", "host"]
Precision = Literal["float32", "tf32", "bfloat16"]

CHOICES: Mapping[str, tuple[str, ...]] = {
    "algorithm": get_args(Algorithm),
    "weighting": get_args(Weighting),
    "replacement": get_args(Replacement),
    "memory_place": get_args(MemoryPlace),
    "precision": get_args(Precision),
}

MAX_COUNT = 10**12
MAX_WIDTH = 2**16  # units per layer


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Everything that shapes a training apart from the game, the seed and the device."""

    iterations: int = 100  # T, at least 1; each one updates both players in turn
    traversals: int = 3_000  # K per player and iteration, at least 1
    traversals_at_once: int = 10_000  # at least 1; how many advance together, which limits the memory they take

    advantage_capacity: int = 1_000_000  # samples per player, at least 1; once full, `replacement` applies
    strategy_capacity: int = 1_000_000  # samples of both players together, at least 1; unused by Single Deep CFR
    replacement: Replacement = "reservoir"  # "window" keeps the latest samples: an ablation, which converges worse
    memory_place: MemoryPlace = "device"  # "host": pinned memory of the host, for memories larger than the device's

    value_steps: int = 200  # optimiser steps for each value network, at least 1
    policy_steps: int = 2_000  # optimiser steps for the policy network, at least 1
    batch: int = 2_048  # samples per step, at least 1
    merge_equal: bool = True  # whether a step may take the whole memory: see `fitting`
    from_scratch: bool = True  # False starts from the last iteration's value network: an ablation
    weighting: Weighting = "linear"  # a sample of iteration t weighs t · 2/T; "uniform" weighs all alike: an ablation
    algorithm: Algorithm = "deep"  # "single": Single Deep CFR, which keeps every value network and fits no policy

    width: int = 64  # units per layer, at least 1
    learning_rate: float = 3e-3  # of Adam, above 0
    decay: bool = True  # whether the learning rate falls linearly to 0 over the second half of the steps
    gradient_clip: float = 1.0  # largest norm of a gradient, above 0
    precision: Precision = "float32"  # of matrix products on a CUDA device; on a CPU always float32

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in CHOICES:
                if value not in CHOICES[field.name]:
                    raise InvalidSettings(field.name, value, f"is not one of {', '.join(CHOICES[field.name])}")
            elif isinstance(field.default, bool):
                if not isinstance(value, bool):
                    raise InvalidSettings(field.name, value, "must be true or false")
            elif isinstance(field.default, int):
                if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                    raise InvalidSettings(field.name, value, "must be a whole number of at least 1")
                if value > (maximum := MAX_WIDTH if field.name == "width" else MAX_COUNT):
                    raise InvalidSettings(field.name, value, f"must be at most {maximum:,}")
            elif not isinstance(value, int | float) or isinstance(value, bool) or not 0.0 < value < math.inf:
                raise InvalidSettings(field.name, value, "must be a finite number above 0")

    def changed(self, changes: Mapping[str, object]) -> TrainingSettings:
        """The same with other values of some fields, which are checked."""
        for name, value in changes.items():
            if name not in SETTINGS:
                meant = f"; did you mean {SYNONYMS[name]}?" if name in SYNONYMS else f" (known: {', '.join(SETTINGS)})"
                raise InvalidSettings(name, value, f"is not a setting{meant}")
        return replace(self, **changes)  # type: ignore[arg-type]  # `__post_init__` checks the types


SETTINGS = tuple(field.name for field in fields(TrainingSettings))

_PAPER = TrainingSettings(
    iterations=450,
    traversals=10_000,
    advantage_capacity=40_000_000,
    strategy_capacity=40_000_000,
    value_steps=4_000,
    policy_steps=4_000,
    batch=10_000,
    merge_equal=False,
    learning_rate=1e-3,
    decay=False,
)

PRESETS: Mapping[str, TrainingSettings] = MappingProxyType(
    {
        "small": TrainingSettings(),
        "fhp": _PAPER,
        "fhp-ten-minutes": replace(
            _PAPER,
            iterations=150,
            traversals=300_000,
            traversals_at_once=300_000,
            advantage_capacity=100_000_000,
            strategy_capacity=100_000_000,
            value_steps=1_500,
            policy_steps=10_000,
            batch=32_768,
            decay=True,
            precision="tf32",
        ),
        "hulh": replace(_PAPER, value_steps=32_000, policy_steps=32_000, batch=20_000),
    }
)

SYNONYMS = {  # what other libraries call settings
    "lr": "learning_rate",
    "hidden_dim": "width",
    "hidden_size": "width",
    "memory_capacity": "advantage_capacity",
    "num_iterations": "iterations",
    "num_traversals": "traversals",
}


def preset_settings(preset: object = "small", **changes: object) -> TrainingSettings:
    """A preset, with some fields changed.

    >>> preset_settings("fhp", iterations=20).traversals
    10000
    >>> preset_settings("small", width=0)
    Traceback (most recent call last):
    regretless.errors.InvalidSettings: width: 0 must be a whole number of at least 1
    """
    if not isinstance(preset, str) or preset not in PRESETS:
        raise InvalidSettings("preset", preset, f"is not one of {', '.join(PRESETS)}")
    return PRESETS[preset].changed(changes)
