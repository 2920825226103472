"""The source of the CUDA kernels: the files of `kernels/`, one subject each, and the columns of a schedule."""

from __future__ import annotations

from importlib import resources

from regretless.variants.variant import Weights

__all__ = ["LEVELS", "TOGETHER", "kernel_source", "weights_source"]

COMMON = ("groups", "steps")
TOGETHER = "together"  # a whole schedule in one launch
LEVELS = "levels"  # one launch for each step and level


def kernel_source(*ways: str) -> str:
    """The source shared by both ways of running plus those requested; compiling only one takes half as long."""
    folder = resources.files("regretless.engines.sequence.cuda").joinpath("kernels")
    player, *others = (folder.joinpath(f"{name}.cu").read_text(encoding="utf-8") for name in ("player", *COMMON, *ways))
    return "\n".join([player, weights_source(), *others])


def weights_source() -> str:
    """A row of a schedule and the same in the engine's number format, with the fields of `Weights`."""
    fields = Weights._fields
    return f"""
struct Row {{ double {", ".join(fields)}; }};
struct Weights {{ real {", ".join(fields)}; }};
const int COLUMNS = {len(fields)};

__device__ __forceinline__ Weights weights_of(const Row& row) {{
    return {{{", ".join(f"(real)row.{field}" for field in fields)}}};
}}
"""
