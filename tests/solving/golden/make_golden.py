"""Write the golden files of this folder: `make golden`.

openspiel_traces.json   exploitability of OpenSpiel's solvers on Kuhn and Leduc at several iterations
rules.json              answers of the readable reference for every preset after 1, 10 and 1,000 iterations
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from regretless.forms.compile import compile_history
from regretless.games.registry import load
from regretless.solving import Reference
from regretless.variants import PRESETS, schedule

HERE = Path(__file__).parent
OPENSPIEL_NAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker"}
TRACED = [1, 2, 3, 5, 10, 20, 50, 100, 1000]
SNAPPED = [1, 10, 1000]
STRATEGY_SHOWN = 24  # probabilities kept of each strategy; the exploitability depends on all of them


def openspiel_trace(game: str, variant: str, iterations: list[int]) -> list[float]:
    """Exploitability of OpenSpiel's average policy: its C++ for CFR and CFR+, its Python for the discounted ones."""
    import pyspiel
    from open_spiel.python.algorithms import discounted_cfr, exploitability

    rules = pyspiel.load_game(OPENSPIEL_NAMES[game])
    compiled = {"vanilla": pyspiel.CFRSolver, "plus": pyspiel.CFRPlusSolver}
    interpreted = {"linear": discounted_cfr.LCFRSolver, "discounted": discounted_cfr.DCFRSolver}
    solver = (compiled | interpreted)[variant](rules)
    measure = pyspiel.exploitability if variant in compiled else exploitability.exploitability
    trace = []
    for iteration in range(1, iterations[-1] + 1):
        solver.evaluate_and_update_policy()
        if iteration in iterations:
            trace.append(measure(rules, solver.average_policy()))
    return trace


def reference(game: str) -> Reference:
    rules = load(game)
    return Reference(rules, compile_history(rules))


def snapshots(engine: Any, variant: str, iterations: list[int]) -> list[dict[str, Any]]:
    """An engine's answers after these iterations."""
    answers = []
    for iteration in iterations:
        engine.advance(schedule(PRESETS[variant], engine.iteration + 1, iteration - engine.iteration))
        evaluation = engine.evaluate()
        answers.append(
            {
                "iteration": iteration,
                "exploitability": evaluation.exploitability,
                "values": list(evaluation.values),
                "strategy": engine.average_strategy()[:STRATEGY_SHOWN].tolist(),
            }
        )
    return answers


def write(name: str, content: dict[str, Any]) -> None:
    (HERE / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print("wrote", name)


def main() -> None:
    from importlib.metadata import version

    traces = {
        game: {
            variant: openspiel_trace(game, variant, TRACED) for variant in ("vanilla", "plus", "linear", "discounted")
        }
        for game in OPENSPIEL_NAMES
    }
    write(
        "openspiel_traces.json",
        {"source": f"OpenSpiel {version('open_spiel')}, alternating updates", "iterations": TRACED, "traces": traces},
    )
    rules = {
        game: {variant: snapshots(reference(game), variant, SNAPPED) for variant in PRESETS} for game in OPENSPIEL_NAMES
    }
    write("rules.json", {"source": "the reference engine, alternating updates", "games": rules})


if __name__ == "__main__":
    main()
