"""The scripts in `benchmarks/`: what they say and what they write, not what they measure."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from regretless.engines import memory

SCRIPTS = Path(__file__).parent.parent / "benchmarks"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for the names of annotations
    spec.loader.exec_module(module)
    return module


def test_a_training_that_does_not_fit_names_an_option_of_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = tmp_path / "short.toml"
    game.write_text('stack = 6\nsmall_blind = 0.5\nbig_blind = 1\npreflop = { limp = false, open = "a" }\n', "utf-8")
    script = load("no_limit")
    asked = ["--buckets", "flop=2,turn=2,river=2", "--device", "cpu", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["no_limit.py", "train", str(game), *asked])
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**10)
    with pytest.raises(SystemExit) as refused:
        script.main()
    named = re.findall(r"--[\w-]+", str(refused.value))
    assert named, refused.value
    monkeypatch.setattr(sys, "argv", ["no_limit.py", "--help"])
    with pytest.raises(SystemExit):
        script.main()
    assert set(named) <= set(re.findall(r"--[\w-]+", capsys.readouterr().out))


def test_measuring_flop_subsets_on_one_formation_keeps_the_other_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = load("flop_subsets")
    results = Path(shutil.copy(script.ERRORS, tmp_path))
    before = json.loads(results.read_text("utf-8"))
    monkeypatch.setattr(script, "ERRORS", results)
    np.save(tmp_path / "srp-btn-bb.npy", np.full((len(script.all_flops()), len(script.RESULTS)), 0.25))
    script.measure(tmp_path, ["srp-btn-bb"])
    after = json.loads(results.read_text("utf-8"))
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        if old["formation"] == "srp-btn-bb":
            assert (new["formation"], new["flops"]) == (old["formation"], old["flops"])
            assert set(new["all_flops"].values()) == {0.25}
        else:
            assert new == old
    results.unlink()
    script.measure(tmp_path, ["srp-btn-bb"])
    assert {row["formation"] for row in json.loads(results.read_text("utf-8"))} == {"srp-btn-bb"}
