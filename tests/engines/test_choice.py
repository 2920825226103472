"""Which engine and device "auto" chooses, on simulated machines."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from regretless import engines
from regretless.engines import FormKind, choice, creation, devices, registry
from regretless.errors import InvalidOption, MissingExtra
from regretless.forms import HistoryForm, SequenceForm, compile_history, compile_sequence
from regretless.forms.public_poker import compile_public
from regretless.forms.public_size import PublicSize, size_of_form
from regretless.games.registry import load
from regretless.solving.game_problem import GameProblem

LEDUC = 12_026  # its size


@cache
def sequence(name: str) -> SequenceForm:
    return compile_sequence(compile_history(load(name)))


@cache
def history(name: str) -> HistoryForm:
    return compile_history(load(name))


@pytest.fixture
def machine(monkeypatch):
    """Pretend that these libraries and this many CUDA devices are installed, and that Leduc is a large game."""

    def pretend(*libraries: str, cuda: int) -> None:
        monkeypatch.setattr(registry, "find_spec", lambda name: name if name in libraries else None)
        monkeypatch.setattr(devices, "cuda_devices", lambda: cuda)
        monkeypatch.setattr(devices, "GPU_FROM", {"cuda": LEDUC, "torch": LEDUC})

    return pretend


def test_sizes():
    assert devices.game_size(sequence("leduc")) == LEDUC
    assert devices.game_size(history("kuhn(players=3)")) > devices.game_size(history("kuhn"))


@pytest.mark.parametrize(
    ("libraries", "cuda", "name", "chosen"),
    [
        (("numba", "cupy", "torch"), 1, "leduc", ("cuda", "cuda")),
        (("numba", "cupy", "torch"), 8, "kuhn", ("numba", "cpu")),
        (("numba", "cupy", "torch"), 0, "leduc", ("numba", "cpu")),
        (("numba", "torch"), 1, "leduc", ("torch", "cuda")),
        (("numba", "torch"), 0, "leduc", ("numba", "cpu")),
        (("numba",), 1, "leduc", ("numba", "cpu")),
        ((), 1, "leduc", ("numpy", "cpu")),
    ],
)
def test_auto_sends_a_large_game_to_a_gpu(machine, libraries, cuda, name, chosen):
    machine(*libraries, cuda=cuda)
    assert creation._choose_by_size(sequence(name), threads=None) == chosen


def test_torch_pays_off_later_than_cupy():
    assert devices.GPU_FROM["torch"] > devices.GPU_FROM["cuda"] > LEDUC


def test_threads_keep_a_game_on_the_cpu(machine):
    machine("numba", "cupy", cuda=1)
    assert creation._choose_by_size(sequence("leduc"), threads=4) == ("numba", "cpu")


def test_many_players_are_left_to_torch(machine, monkeypatch):
    form = history("kuhn(players=3)")
    machine("numba", "cupy", "torch", cuda=1)
    monkeypatch.setattr(devices, "GPU_FROM", {"cuda": 1, "torch": 1})
    assert creation._choose_by_size(form, threads=None) == ("torch", "cuda")
    assert registry.fastest(FormKind.HISTORY, "cuda") == "torch"


def test_a_requested_device_uses_an_installed_library(machine):
    machine("numba", "cupy", "torch", cuda=1)
    assert registry.fastest(FormKind.SEQUENCE, "cuda") == "cuda"
    assert registry.fastest(FormKind.SEQUENCE, "cpu") == "numba"
    machine("numba", "torch", cuda=1)
    assert registry.fastest(FormKind.SEQUENCE, "cuda") == "torch"
    assert registry.fastest(FormKind.SEQUENCE, "mps") == "torch"
    machine("numba", cuda=1)
    with pytest.raises(MissingExtra, match=r"^cupy is not installed: pip install .*\[gpu\]"):
        registry.fastest(FormKind.SEQUENCE, "cuda")
    with pytest.raises(MissingExtra, match=r"^torch is not installed"):
        registry.fastest(FormKind.HISTORY, "cuda")


@pytest.mark.parametrize("name", ["auto", "cuda", "torch"])
def test_a_missing_cuda_device_gives_one_sentence(machine, name):
    machine("numba", "cupy", "torch", cuda=0)
    with pytest.raises(InvalidOption, match=r"^device: 'cuda' is not available: the NVIDIA driver finds no device"):
        engines.create(name, sequence("kuhn"), device="cuda")


def test_the_gpu_of_a_mac(machine, monkeypatch):
    monkeypatch.setattr(devices, "has_mps", lambda: True)
    machine("numba", "torch", cuda=0)
    assert creation._choose_by_size(sequence("leduc"), threads=None) == ("torch", "mps")
    assert creation._choose_by_size(sequence("leduc"), threads=4) == ("numba", "cpu")
    assert creation._choose_by_size(sequence("kuhn"), threads=None) == ("numba", "cpu")
    machine("numba", cuda=0)
    assert creation._choose_by_size(sequence("leduc"), threads=None) == ("numba", "cpu")


def test_the_second_cuda_device(machine, monkeypatch):
    machine("numba", "cupy", "torch", cuda=2)
    built = {}

    class Cupy:
        def __init__(self, form: SequenceForm, **options: object) -> None:
            built.update(options)

    monkeypatch.setattr(registry, "import_module", lambda name: type("module", (), {"CudaSequenceEngine": Cupy}))
    engines.create("auto", history("leduc"), device="cuda:1")
    assert built["device"] == "cuda:1"
    GameProblem.check_machine("auto", "cuda:1")
    with pytest.raises(InvalidOption, match=r"^device: 'cuda:2' is not available: the last CUDA device is cuda:1"):
        engines.create("auto", history("leduc"), device="cuda:2")
    with pytest.raises(InvalidOption, match=r"^device: 'cuda:2' is not available: the last CUDA device is cuda:1"):
        engines.BatchedEngine([history("leduc")], device="cuda:2")
    with pytest.raises(InvalidOption, match=r"^device: 'cuda:one' is not one of auto, cpu, cuda, mps"):
        GameProblem.check_machine("auto", "cuda:one")
    assert choice.Choice(device="cuda:1").on_gpu


def test_an_unknown_device():
    with pytest.raises(InvalidOption, match="device: 'abacus' is not one of auto, cpu, cuda, mps"):
        engines.create("auto", sequence("kuhn"), device="abacus")


def test_auto_computes_in_float64_whatever_the_device(machine, monkeypatch):
    machine("numba", "cupy", "torch", cuda=1)
    built = {}

    class Cupy:
        def __init__(self, form: SequenceForm, **options: object) -> None:
            built.update(options)

    monkeypatch.setattr(registry, "import_module", lambda name: type("module", (), {"CudaSequenceEngine": Cupy}))
    engines.create("auto", history("leduc"))
    assert (built["device"], built["dtype"]) == ("cuda", "float64")
    engines.create("auto", history("leduc"), device="cuda")
    assert (built["device"], built["dtype"]) == ("cuda", "float32")


def test_looking_for_a_gpu_imports_no_library():
    look = (
        "import sys; from regretless.engines import devices, registry; devices.cuda_devices(); registry.available();"
        "sys.exit('torch' in sys.modules or 'cupy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", look], check=True)


class SlowDriver:
    """A driver with one device, which starts when it is told to."""

    def __init__(self):
        self.entered, self.started = threading.Event(), threading.Event()

    def cuInit(self, flags):
        self.entered.set()
        assert self.started.wait(600)
        return 0

    def cuDevicePrimaryCtxRetain(self, context, device):
        context._obj.value = 7
        return 0

    def cuMemGetInfo_v2(self, free, total):
        free._obj.value = 5 * 2**30
        return 0

    def cuCtxPushCurrent_v2(self, context):
        return 0 if context.value == 7 else 1

    def cuDeviceGet(self, device, number):
        return number

    def cuCtxPopCurrent_v2(self, context):
        return 0


def test_cuda_starts_without_being_waited_for(monkeypatch):
    driver = SlowDriver()
    monkeypatch.setattr(devices, "_driver", lambda: driver)
    devices.start_cuda()
    assert driver.entered.wait(600)
    driver.started.set()
    assert devices.cuda_free_bytes() == 5 * 2**30


def test_a_machine_without_a_driver_has_no_free_memory(monkeypatch):
    monkeypatch.setattr(devices, "_driver", lambda: None)
    devices.start_cuda()
    assert devices.cuda_free_bytes() == 0


@pytest.mark.parametrize(("entries", "runouts", "cores"), [(10**9, (1,), 1), (10**9, (1, 48), 16), (10**5, (1, 48), 2)])
def test_cores_for_a_public_form(monkeypatch, entries, runouts, cores):
    """A single street uses one, a large form all of them, a small one a few; whoever asks for more gets more."""
    monkeypatch.setattr(devices, "available_cores", lambda: 16)
    monkeypatch.setattr(PublicSize, "entries", entries)
    form = compile_public(load("leduc"))
    size = replace(size_of_form(form), runouts=np.array(runouts, dtype=object))
    assert devices.useful_cores(size) == cores
    assert engines.create("numba", form, threads=3).threads == 3


def test_a_small_public_form_uses_one_core(monkeypatch):
    monkeypatch.setattr(devices, "available_cores", lambda: 16)
    assert engines.create("numba", compile_public(load("leduc"))).threads == 1
