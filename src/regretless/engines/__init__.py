"""CFR on arrays: one contract, one registry, and for each form a plain reference that every other engine must equal."""

from regretless.engines.contract import Engine, Evaluation, GameEngine, PublicEngine, Sampling, Snapshot, Updates
from regretless.engines.creation import create, share
from regretless.engines.memory import check_public_fits, estimate
from regretless.engines.registry import ENGINES, Build, Entry, Kind, available, register
from regretless.engines.sequence.batched import BatchedEngine, BatchedEvaluation, replace_payoffs

__all__ = [
    "ENGINES", "BatchedEngine", "BatchedEvaluation", "Build", "Engine", "Entry", "Evaluation", "GameEngine", "Kind",
    "PublicEngine", "Sampling", "Snapshot", "Updates", "available", "check_public_fits", "create", "estimate",
    "register", "replace_payoffs", "share",
]  # fmt: skip
