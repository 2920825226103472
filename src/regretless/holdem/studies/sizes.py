"""Spots, memory, hours and bytes on disk of a study, before anything is solved.

Memory is each spot's own estimate. Time is that of `expected_time`, spot by spot, over the cores of this machine; it
says how many hours, no more. Bytes on disk are counted from the rows of the tables and the entries of solutions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from regretless.engines import available_cores, choose_public, require_cuda
from regretless.forms.public import NodeKind
from regretless.forms.public_size import PublicSize
from regretless.holdem.estimate import STORAGES, estimate_spot, spot_size
from regretless.holdem.expected_time import expected_iterations, expected_seconds, iteration_speed
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.problem import spot_predicts
from regretless.holdem.studies.plan import ANY, StudyPlan, StudySpot

__all__ = ["StudySize", "study_size"]

PART_BYTES = 22_000  # of the parts of a spot without any rows: mostly the names and statistics of columns
ROW_BYTES = {"summary": 130, "hands": 14}  # compressed
GPU_SPEED = 100  # cores that an H200 replaces: 2.4 ms per iteration against 0.38 s on `flop_3bet`, less the reading


@dataclass(frozen=True)
class StudySize:
    """How much work a study is."""

    spots: int
    impossible: int  # left out: the ranges do not allow them
    lines: int  # kept per spot, about
    entries: int  # of all spots
    memory_bytes: int  # of the largest spot
    device: str  # that this machine would use: "cpu" or "cuda"
    cores: int
    seconds: float  # on this machine, about
    disk_bytes: int  # about
    needs: Mapping[str, int] = field(repr=False)  # bytes of memory by spot

    def as_json(self) -> dict[str, object]:
        """What `regretless study estimate --json` prints."""
        result = {name: value for name, value in vars(self).items() if name != "needs"}
        return result | {"hours": self.seconds / 3600}


def study_size(plan: StudyPlan, *, device: str | None = None) -> StudySize:
    """The size of a study; `device` replaces that of the plan."""
    needs, seconds, entries, disk = {}, 0.0, 0, 0
    largest: PublicSize | None = None
    kept_lines = {each.number: (0, 0) for each in plan.variations}
    options, storage = plan.options, plan.options.storage or STORAGES[0]
    predicts = spot_predicts(plan.spots[0].spot, options.variant)
    for spot in plan.spots:
        size = spot_size(spot.spot)
        estimate = estimate_spot(spot.spot, predicts=predicts, size=size)
        if kept_lines[spot.variation.number] == (0, 0):
            kept_lines[spot.variation.number] = _kept_lines(plan, spot)
        needs[spot.id] = estimate.memory_bytes[storage]
        iterations = options.iterations
        if options.target is not None:
            expected = expected_iterations(spot.spot, options.target)
            iterations = expected if iterations is None else min(iterations, expected)
        assert iterations is not None
        seconds += expected_seconds(estimate.entries, iterations, 1, iteration_speed())
        entries += estimate.entries
        rows = kept_lines[spot.variation.number][1]
        disk += PART_BYTES + rows * ROW_BYTES["summary"]
        if plan.keep.hands:
            disk += rows * sum(estimate.hands.values()) // 2 * ROW_BYTES["hands"]
        if plan.keep.solutions:
            disk += estimate.file_bytes
        largest = size if largest is None or size.entries > largest.entries else largest
    assert largest is not None
    preferred = device or options.device or "auto"
    choice = choose_public(largest, device=preferred, storage=storage, predicts=predicts, entries=entries)
    if choice.on_gpu:
        require_cuda()
    cores = available_cores()
    return StudySize(
        spots=len(plan.spots),
        impossible=plan.impossible,
        lines=max(lines for lines, _ in kept_lines.values()),
        entries=entries,
        memory_bytes=max(needs.values()),
        device="cuda" if choice.on_gpu else "cpu",
        cores=cores,
        seconds=seconds / (GPU_SPEED if choice.on_gpu else min(cores, len(plan.spots))),
        disk_bytes=disk,
        needs=needs,
    )


def _kept_lines(plan: StudyPlan, spot: StudySpot) -> tuple[int, int]:
    """How many lines are kept of a spot, and how many actions they have."""
    tree = betting_tree(spot.spot)
    actions = np.diff(tree.first_child)
    if isinstance(plan.keep.lines, tuple):
        lines = sum((52 - 3) ** line.split(", ").count(ANY) for line in plan.keep.lines)
        return lines, 3 * lines
    depth = np.zeros(len(tree.kind), dtype=np.int64)
    for node in range(1, len(tree.kind)):
        depth[node] = depth[tree.parent[node]] + 1
    chosen = (tree.kind == NodeKind.DECISION) & (tree.street == 0)
    if isinstance(plan.keep.lines, int):
        chosen &= depth <= plan.keep.lines
    return int(chosen.sum()), int(actions[chosen].sum())
