"""The source of the CUDA kernels, joined from the files of `kernels/`, one subject each."""

from __future__ import annotations

from importlib import resources

__all__ = ["COMMON", "LEVELS", "TOGETHER", "kernel_source"]

COMMON = ("player", "groups", "steps")
TOGETHER = "together"  # a whole schedule in one launch
LEVELS = "levels"  # one launch for each step and level


def kernel_source(*ways: str) -> str:
    """What both ways of running share, and those asked for; compiling only one of them takes half as long.

    >>> "solve(" in kernel_source(TOGETHER), "level_up(" in kernel_source(TOGETHER)
    (True, False)
    """
    folder = resources.files("regretless.engines.sequence.cuda").joinpath("kernels")
    return "\n".join(folder.joinpath(f"{name}.cu").read_text(encoding="utf-8") for name in (*COMMON, *ways))
