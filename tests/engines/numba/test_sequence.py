"""Solves on several threads, in forked processes and in concurrent threads: they work, or say why not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SETUP = """
import multiprocessing, os, threading
import regretless as rl
from regretless.engines.numba import sequence as numba_engine
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.forms.public_poker import compile_public
from regretless.games import Leduc
from regretless.variants import Plus, schedule

numba_engine.SHARED = 8  # a small game takes several threads, too

def solve():
    solution = rl.solve("battleship(width=2, height=2, shots=2)", iterations=300, engine="numba", threads=2)
    print(solution.threads, solution.exploitability, flush=True)

def in_a_child(work):
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join(300)
    if child.exitcode is None:
        child.kill()
    print("exit", child.exitcode)
"""
FORK = "solve(); in_a_child(solve)"
POOL = """
engine = NumbaPublicEngine(compile_public(Leduc()), threads=2)

def more():
    engine.advance(schedule(Plus(), first=6, count=5))
    print(engine.evaluate().exploitability, flush=True)

engine.advance(schedule(Plus(), first=1, count=5))
in_a_child(more)
more()
"""
SIDE_BY_SIDE = """
threads = [threading.Thread(target=solve) for _ in range(3)]
for each in threads: each.start()
for each in threads: each.join()
"""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def run(script: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", SETUP + script],
        capture_output=True, text=True, timeout=600, env={**os.environ, **environment},
    )  # fmt: skip
    assert "Terminating" not in done.stderr
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else [done.stderr.strip().split("\n")[-1]]


@needs_fork
@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_a_child_of_a_process_with_threads_solves_without_them(layer: str) -> None:
    before, after, end = run(FORK, NUMBA_THREADING_LAYER=layer)
    if "cannot load" in before:
        pytest.skip(f"numba has no {layer} here")
    assert end == "exit 0"
    assert (before.split()[0], after.split()[0]) == ("2", "1")
    assert before.split()[1] == after.split()[1]


@needs_fork
def test_an_engine_continues_in_a_forked_process() -> None:
    inside, end, outside = run(POOL)
    assert end == "exit 0"
    assert inside == outside


@pytest.mark.parametrize("layer", ["workqueue"])
def test_solves_side_by_side(layer: str) -> None:
    answers = run(SIDE_BY_SIDE, NUMBA_THREADING_LAYER=layer)
    assert len(answers) == 3
    assert len(set(answers)) == 1


def test_a_threading_layer_that_does_not_exist() -> None:
    (said,) = run("solve()", NUMBA_THREADING_LAYER="nosuch")
    assert said.endswith(
        "threads: 2 cannot be used: numba cannot load the threading layer 'nosuch' (NUMBA_THREADING_LAYER); use 1"
    )
