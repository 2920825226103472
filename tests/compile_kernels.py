"""Compiles the kernels of the public form for all test processes: python -m tests.compile_kernels

That takes up to a minute, and `make test` does it while it lints. Otherwise each test process would compile its own.
"""

from __future__ import annotations

from tests.holdem.spots_of_every_kind import SPOTS

import regretless as rl


def main() -> None:
    for name in ("river, monotone", "river, nearly all blocked"):  # terminals in 32 and in 64 bits
        for storage in (32, 16):
            rl.solve(SPOTS[name], iterations=1, threads=1, storage=storage, engine="numba")


if __name__ == "__main__":
    main()
