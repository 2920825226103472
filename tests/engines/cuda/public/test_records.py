"""The records that host and kernels share, and tables of them in one block."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.engines.cuda.public.records import (
    ALIGNMENT,
    DECISION,
    ITEM,
    JOB,
    LINE,
    MIXTURE,
    OWN_HAND,
    PANEL,
    PIECE,
    POINTERS,
    RUNOUT,
    STAKE,
    TERMINAL,
    UNIT,
    offsets_of,
    pack,
)


def test_tables_are_packed() -> None:
    tables: Any = [
        (np.arange(5, dtype=np.int16), [(0, "runouts"), (1, "regret")]),
        (np.zeros((0, 3)), [(1, "locked")]),
        (np.arange(24, dtype=np.float64).reshape(4, 6)[:, ::2], [(0, "terms")]),
        (np.ones(2, dtype=DECISION), [(0, "decisions"), (-1, "line_values_0")]),
        (np.arange(ALIGNMENT, dtype=np.uint8), []),
        (np.array(7, dtype=np.int64), [(1, "lock_index")]),
    ]
    packed = pack(tables)
    ends = [0]
    for begin_at, (table, _) in zip(packed.offsets.begins, tables, strict=True):
        if table.size == 0:
            assert begin_at == -1
            continue
        assert begin_at % ALIGNMENT == 0
        assert begin_at >= ends[-1]
        ends.append(begin_at + table.nbytes)
        assert packed.block[begin_at : ends[-1]].tobytes() == table.tobytes()
    assert len(packed.block) >= ends[-1]
    assert len(packed.block) == packed.offsets.size
    jobs = np.zeros(2, dtype=JOB)
    packed.offsets.pointers.point(jobs, 1000)
    pointed = {(own, name): int(jobs[own][name]) - 1000 for own in range(2) for name in POINTERS if jobs[own][name]}
    assert pointed == {
        field: begin_at
        for begin_at, (_, fields) in zip(packed.offsets.begins, tables, strict=True)
        for field in fields
        if begin_at >= 0 and field[0] >= 0
    }
    assert offsets_of((), ()).size == 0


def test_records_that_are_read_whole_have_no_gaps() -> None:
    whole = {DECISION: 64, LINE: 32, MIXTURE: 32, PANEL: 32, PIECE: 32, STAKE: 32}
    whole |= dict.fromkeys((ITEM, RUNOUT, OWN_HAND, TERMINAL, UNIT), 16)
    for record, size in whole.items():
        assert record.itemsize == size
        assert ALIGNMENT % min(size, 16) == 0


def test_pointers_of_a_job_are_the_words_they_are_said_to_be() -> None:
    assert JOB.fields is not None
    assert {name: 8 * word for name, word in POINTERS.items()} == {
        name: field[1] for name, field in JOB.fields.items() if field[0] == np.uint64
    }
