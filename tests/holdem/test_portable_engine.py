"""What is particular to the PyTorch engine: blocks, memory, refusals. `test_engines_agree.py` has its answers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from regretless.engines.contract import Updates
from regretless.engines.creation import create
from regretless.engines.public.portable import sizes
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.public_size import size_of_form
from regretless.holdem.form.runouts import compile_spot
from regretless.variants import PRESETS, schedule

pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parent))
from spots_of_every_kind import LARGE, SPOTS

slow, gpu = pytest.mark.slow, pytest.mark.gpu
DEVICES = ["cpu", pytest.param("cuda", marks=gpu)]
TOLERANCE = 1e-5  # of the pot


@pytest.mark.parametrize("device", DEVICES)
def test_blocks_of_any_size_give_the_same_values(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form = compile_spot(SPOTS["turn, three of a kind"])
    whole = create("torch", form, device=device)
    monkeypatch.setitem(sizes.BLOCK_BYTES, device, whole.memory_bytes // 20)
    pieces = create("torch", form, device=device)
    assert pieces.memory_bytes < whole.memory_bytes
    whole.advance(schedule(PRESETS["discounted"], 1, 12))
    pieces.restore(whole.snapshot())
    for engine in (whole, pieces):
        engine.advance(schedule(PRESETS["discounted"], 13, 2))
    one, two = whole.evaluate(), pieces.evaluate(pieces.strategy)
    np.testing.assert_allclose(two.values, one.values, rtol=1e-6)
    np.testing.assert_allclose(two.best_response_values, one.best_response_values, rtol=1e-6)


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("name", [*SPOTS, "flop, large"])
def test_the_estimate_is_at_least_the_memory_and_little_more(name: str, storage: int) -> None:
    """Where ranges are narrow, how often each card occurs matters, which the estimate does not know."""
    form = compile_spot(SPOTS.get(name, LARGE))
    engine = create("torch", form, storage=storage)
    wide = "blocked" in name
    said = sizes.estimate(size_of_form(form), storage=storage, wide=wide)
    assert engine.memory_bytes <= said <= 1.02 * engine.memory_bytes + sizes.BLOCK_BYTES["cpu"]
    if form.tree.kind.size < 100:
        engine.advance(schedule(PRESETS["predictive-plus"], 1, 1))
        said = sizes.estimate(size_of_form(form), storage=storage, predicts=True, wide=wide)
        assert engine.memory_bytes <= said <= 1.02 * engine.memory_bytes + sizes.BLOCK_BYTES["cpu"]


def test_what_it_cannot_do_is_refused_with_a_sentence() -> None:
    form = compile_spot(SPOTS["river"])
    with pytest.raises(InvalidOption, match=r"^storage: 8 is not one of 32, 16 bits"):
        create("torch", form, storage=8)
    with pytest.raises(InvalidOption, match=r"^dtype: 'float64' is not for the torch engine on the public form"):
        create("torch", form, dtype="float64")
    with pytest.raises(InvalidOption, match=r"^updates: 'simultaneous' cannot be combined with the torch engine"):
        create("torch", form, updates=Updates.SIMULTANEOUS)
    if sys.platform != "darwin":
        with pytest.raises(InvalidOption, match=r"^device: 'mps' is not available"):
            create("torch", form, device="mps")


def test_too_little_memory_on_a_device_is_refused_with_what_would_fit() -> None:
    size = size_of_form(compile_spot(SPOTS["turn"]))
    least = sizes.estimate(size, storage=16, device="cuda")
    sizes.check_fits(size, storage=16, predicts=False, wide=False, free=least)
    with pytest.raises(WouldNotFit, match=r"in 32 bits on the CUDA device needs .*: storage=16 needs .* which fits"):
        sizes.check_fits(size, storage=32, predicts=False, wide=False, free=least)
    with pytest.raises(WouldNotFit, match=r"in 16 bits .*: device='cpu' uses the memory of the machine"):
        sizes.check_fits(size, storage=16, predicts=False, wide=False, free=least - 1)


def test_room_for_predictions_is_needed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a spot with 64-bit sums, which only the engine itself knows of."""
    torch = pytest.importorskip("torch")
    form = compile_spot(SPOTS["river, nearly all blocked"])
    with_them, without = (
        sizes.estimate(size_of_form(form), device="cuda", predicts=predicts, wide=True) for predicts in (True, False)
    )
    assert without < with_them - 1
    monkeypatch.setattr("regretless.engines.devices.require_cuda", lambda: None)
    monkeypatch.setattr("regretless.engines.devices.cuda_free_bytes", lambda: with_them - 1)
    monkeypatch.setattr("regretless.engines.public.portable.engine.torch_device", lambda *_: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (with_them - 1, 2**40))
    with pytest.raises(WouldNotFit, match="in 32 bits on the CUDA device") as caught:
        create("torch", form, device="cuda", predicts=True)
    assert caught.value.needed == with_them


def test_sums_of_bags_are_the_same_one_column_after_another() -> None:
    torch = pytest.importorskip("torch")
    terminals = pytest.importorskip("regretless.engines.public.portable.terminals")
    bags, sums = torch.randint(0, 50, (20, 4), dtype=torch.int32), torch.rand((50, 7), dtype=torch.float64)
    signs = torch.tensor([1.0, -1.0, -1.0, 1.0], dtype=torch.float64).repeat(20, 1)
    torch.testing.assert_close(terminals.sum_bags_by_column(bags, sums, signs), terminals.sum_bags(bags, sums, signs))
