"""Which engine samples, by name, device and the size of a batch."""

from __future__ import annotations

from importlib.util import find_spec

from regretless.engines.contract import GameEngine, Sampling, Updates
from regretless.errors import InvalidOption, MissingExtra
from regretless.forms.history import HistoryForm

__all__ = ["create_sampling"]


def create_sampling(
    name: str,
    form: HistoryForm,
    *,
    sampling: Sampling,
    updates: Updates = Updates.ALTERNATING,
    dtype: str | None = None,
    device: str = "auto",
    threads: int | None = None,
    seed: int = 0,
    batch_size: int | None = None,
) -> GameEngine:
    """Compiled walks ("numba") on a CPU, batches of deals ("torch") elsewhere or where PyTorch is asked for.

    `batch_size` is how many deals are drawn between two updates of a player; without it one, or 1,024 in PyTorch.

    >>> from regretless.forms import compile_history
    >>> from regretless.games import Kuhn
    >>> create_sampling("auto", compile_history(Kuhn()), sampling=Sampling.EXTERNAL).name
    'numba'
    """
    if updates is not Updates.ALTERNATING:
        raise InvalidOption(
            "updates", str(updates), "cannot be combined with sampling, which updates the players in turn"
        )
    if name == "auto":
        name = "numba" if device in ("auto", "cpu") else "torch"
    if name == "numba":
        return _walks(form, sampling, dtype, device, threads, seed, batch_size)
    if name == "torch":
        return _batches(form, sampling, dtype, device, seed, batch_size)
    raise InvalidOption("engine", name, "does not sample: take numba, or torch for batches")


def _walks(
    form: HistoryForm,
    sampling: Sampling,
    dtype: str | None,
    device: str,
    threads: int | None,
    seed: int,
    batch_size: int | None,
) -> GameEngine:
    from regretless.engines.sampling.walks import SamplingEngine

    if device not in ("auto", "cpu"):
        raise InvalidOption("device", device, "is not for sampling with numba, which runs on cpu: take torch")
    if dtype not in (None, "float64"):
        raise InvalidOption("dtype", dtype, "is not for sampling with numba, which knows float64")
    if threads not in (None, 1):
        raise InvalidOption("threads", threads, "must be 1 where walks are sampled")
    return SamplingEngine(form, sampling=sampling, seed=seed, batch_size=1 if batch_size is None else batch_size)


def _batches(
    form: HistoryForm, sampling: Sampling, dtype: str | None, device: str, seed: int, batch_size: int | None
) -> GameEngine:
    if find_spec("torch") is None:
        raise MissingExtra("torch", "torch")
    from regretless.engines.sampling.batch import BatchSamplingEngine

    if sampling is not Sampling.CHANCE:
        raise InvalidOption("sampling", str(sampling), "is not for the torch engine, which samples chance: take numba")
    return BatchSamplingEngine(
        form,
        batch_size=1024 if batch_size is None else batch_size,
        seed=seed,
        device="cpu" if device == "auto" else device,
        dtype=dtype or "float32",
    )
