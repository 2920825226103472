"""Small solves on a GPU, which `make test-sanitizer` runs under NVIDIA's `compute-sanitizer` (memcheck and racecheck).

A river, a flop and three turns (one with rake, one with a lock), in 32 and 16 bits, each walked line by line and level
by level; then several spots in one batch. Everything is tiny: racecheck makes kernels hundreds of times slower.
"""

from __future__ import annotations

from dataclasses import replace

from tests.holdem.spots_of_every_kind import spot

import regretless as rl
from regretless.engines.cuda.public import work
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.locking import apply_locks
from regretless.holdem.spots.locks import Lock
from regretless.variants import PRESETS, schedule

RANGES = "AhKh, QsQd, 8s7s, AcTc, 9h9c", "AsKd, JsJd, 5h4h, QcTd"
SHORT = {"stack": 100, "bets": {"bet": "a"}}
SPOTS = {
    "river": spot("Kh 8d 3c 2h 9s", *RANGES),
    "turn": spot("Kh 8d 3c 2h", *RANGES, **SHORT),
    "turn, rake": spot("Kh 8d 3c 2h", *RANGES, **SHORT, rules={"rake": 0.05, "rake_cap": 3}),
    "turn, a lock": replace(spot("Kh 8d 3c 2h", *RANGES, **SHORT), locks=(Lock("", {"check": 1}),)),
    "flop": spot("Kh 8d 3c", "AhKh, QsQd", "AsKd, 5h4h", **SHORT),
}
ITERATIONS = 3


def main() -> None:
    for name, given in SPOTS.items():
        form = compile_spot(given)
        for storage in (32, 16):
            answers = []
            for tasks in (0, 1 << 40):
                work.LEVEL_TASKS = tasks
                engine = CudaPublicEngine(form, storage=storage)
                apply_locks(engine, given, resumed=False)
                engine.advance(schedule(PRESETS["postflop"], 1, ITERATIONS))
                answers.append(engine.evaluate())
            assert answers[0] == answers[1], f"{name} in {storage} bits depends on how it is walked"
            print(f"{name}, {storage} bits: exploitability {answers[0].exploitability:.3f} chips", flush=True)
    batch = [SPOTS[name] for name in ("river", "turn", "turn, rake")]
    for storage in (32, 16):
        for solution in rl.solve_many(batch, device="cuda", storage=storage, iterations=ITERATIONS):
            print(f"in a batch, {storage} bits: exploitability {solution.exploitability:.3f} chips", flush=True)


if __name__ == "__main__":
    main()
