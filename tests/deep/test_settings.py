"""Presets have the paper's numbers, and bad settings are refused by name."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields

import pytest

from regretless.deep.settings import PRESETS, TrainingSettings, preset_settings
from regretless.errors import InvalidOption, InvalidSettings, RegretlessError


def test_presets_have_the_numbers_of_the_paper() -> None:
    for name, steps, batch in (("fhp", 4_000, 10_000), ("hulh", 32_000, 20_000)):
        preset = PRESETS[name]
        assert (preset.iterations, preset.traversals) == (450, 10_000)
        assert (preset.advantage_capacity, preset.strategy_capacity) == (40_000_000, 40_000_000)
        assert (preset.value_steps, preset.policy_steps, preset.batch) == (steps, steps, batch)
        assert (preset.width, preset.learning_rate, preset.gradient_clip) == (64, 1e-3, 1.0)
        assert (preset.replacement, preset.weighting, preset.algorithm) == ("reservoir", "linear", "deep")
        assert preset.from_scratch
        assert not preset.decay
        assert not preset.merge_equal


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("iterations", 0),
        ("traversals", -1),
        ("traversals", 2.5),
        ("batch", True),
        ("advantage_capacity", "many"),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("gradient_clip", float("inf")),
        ("gradient_clip", False),
        ("merge_equal", 1),
        ("replacement", "newest"),
        ("weighting", None),
        ("algorithm", ["deep"]),
        ("memory_place", "disk"),
        ("precision", "float64"),
        ("momentum", 0.9),
    ],
)
def test_bad_settings_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InvalidSettings, match=f"^{name}: ") as caught:
        preset_settings("small", **{name: value})
    assert caught.value.option == name
    assert isinstance(caught.value, InvalidOption)
    assert isinstance(caught.value, RegretlessError)


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(InvalidSettings, match="preset: 'huge' is not one of small, fhp, fhp-ten-minutes, hulh"):
        preset_settings("huge")


def test_every_setting_has_a_default() -> None:
    assert TrainingSettings() == PRESETS["small"]
    assert len(fields(TrainingSettings)) > 10


def test_settings_load_without_pytorch() -> None:
    command = "import sys, regretless.deep.settings; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command]).returncode == 0
