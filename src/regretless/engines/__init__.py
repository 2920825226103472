"""CFR on arrays: the array kernels of every form behind one façade. Other layers import `regretless.engines` only.

Start with `numpy/public.py`: vector CFR on a hold'em spot in 200 lines of NumPy. `numpy/` has such a reference for
every form, and all other engines must equal them: `numba/` on a CPU, `cuda/` on an NVIDIA GPU, `torch/` for general
games on either and on MPS. `contract.py` says what an engine does, `registry.py` lists them, `creation.py` creates
them; the other modules here are what backends share.

What needs numba or PyTorch, or only a CPU needs, is loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from regretless.engines import devices
from regretless.engines.batched import BatchedEngine, BatchedEvaluation, check_one_shape, replace_payoffs
from regretless.engines.bucket_strategies import BucketEvaluators, BucketStrategy, EvaluationStopped, StrategyTables
from regretless.engines.bucket_tables import BucketTables, TableLayout
from regretless.engines.choice import Choice, choose_public
from regretless.engines.contract import (
    LEARNED,
    Arriving,
    BatchMember,
    BucketedEngine,
    Engine,
    EngineBatch,
    Evaluation,
    GameEngine,
    Mode,
    PartEngine,
    PublicEngine,
    PublicStrategy,
    Sampling,
    SharedDevice,
    Snapshot,
    Updates,
)
from regretless.engines.creation import (
    bucket_evaluator_beside,
    bucket_evaluators,
    check_samples_runouts,
    create,
    create_part,
    kernels_are_compiled,
    share,
)
from regretless.engines.devices import available_cores, cuda_devices, require_cuda, thread_limit
from regretless.engines.formats import NUMBER_FORMATS, number_format
from regretless.engines.memory import check_fits, estimate
from regretless.engines.priced import PricedEngine, with_real_cards
from regretless.engines.registry import (
    ENGINES,
    Build,
    EngineEntry,
    FormKind,
    available,
    device_if_able,
    engine_if_able,
    engine_name,
    fastest,
    is_installed,
    register,
    require,
)
from regretless.engines.sampled import RunoutSampling
from regretless.engines.sharded import (
    PartRows,
    Shard,
    ShardedEngine,
    ShardEngine,
    ShardLost,
    ShardWalk,
    Shelf,
    shard_ranges,
)
from regretless.engines.shares import decode_shares, encode_shares
from regretless.engines.stored import StoredStrategies
from regretless.engines.threads import in_order, one_ahead

if TYPE_CHECKING:
    from regretless.engines.encoding import StrategyEncoder
    from regretless.engines.numba.clustering import CentroidLookup, CentroidSample, TooFewRows, find_centroids
    from regretless.engines.numba.public.bucket_evaluator import NumbaBucketEvaluators
    from regretless.engines.numba.public.engine import StrategyEvaluator
    from regretless.engines.numba.public.sizes import learned_bytes
    from regretless.engines.torch.clustering import TorchCentroidLookup, TorchCentroidSample
    from regretless.engines.torch.sequence import torch_device

__all__ = [
    "ENGINES",
    "LEARNED",
    "NUMBER_FORMATS",
    "Arriving",
    "BatchMember",
    "BatchedEngine",
    "BatchedEvaluation",
    "BucketEvaluators",
    "BucketStrategy",
    "BucketTables",
    "BucketedEngine",
    "Build",
    "CentroidLookup",
    "CentroidSample",
    "Choice",
    "Engine",
    "EngineBatch",
    "EngineEntry",
    "Evaluation",
    "EvaluationStopped",
    "FormKind",
    "GameEngine",
    "Mode",
    "NumbaBucketEvaluators",
    "PartEngine",
    "PartRows",
    "PricedEngine",
    "PublicEngine",
    "PublicStrategy",
    "RunoutSampling",
    "Sampling",
    "Shard",
    "ShardEngine",
    "ShardLost",
    "ShardWalk",
    "ShardedEngine",
    "SharedDevice",
    "Shelf",
    "Snapshot",
    "StoredStrategies",
    "StrategyEncoder",
    "StrategyEvaluator",
    "StrategyTables",
    "TableLayout",
    "TooFewRows",
    "TorchCentroidLookup",
    "TorchCentroidSample",
    "Updates",
    "available",
    "available_cores",
    "bucket_evaluator_beside",
    "bucket_evaluators",
    "check_fits",
    "check_one_shape",
    "check_samples_runouts",
    "choose_public",
    "create",
    "create_part",
    "cuda_devices",
    "decode_shares",
    "device_if_able",
    "devices",
    "encode_shares",
    "engine_if_able",
    "engine_name",
    "estimate",
    "fastest",
    "find_centroids",
    "in_order",
    "is_installed",
    "kernels_are_compiled",
    "learned_bytes",
    "number_format",
    "one_ahead",
    "register",
    "replace_payoffs",
    "require",
    "require_cuda",
    "shard_ranges",
    "share",
    "thread_limit",
    "torch_device",
    "with_real_cards",
]  # fmt: skip

_LOADED_ON_USE = {
    "CentroidSample": "numba.clustering",
    "NumbaBucketEvaluators": "numba.public.bucket_evaluator",
    "CentroidLookup": "numba.clustering",
    "StrategyEncoder": "encoding",
    "StrategyEvaluator": "numba.public.engine",
    "TooFewRows": "numba.clustering",
    "TorchCentroidSample": "torch.clustering",
    "TorchCentroidLookup": "torch.clustering",
    "find_centroids": "numba.clustering",
    "learned_bytes": "numba.public.sizes",
    "torch_device": "torch.sequence",
}


def __getattr__(name: str) -> Any:
    if name not in _LOADED_ON_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LOADED_ON_USE[name]}"), name)
