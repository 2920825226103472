"""Which rule reaches 0.5, 0.3 and 0.1 % of the pot soonest on hold'em, spot by spot.

python benchmarks/postflop_rules.py [--spots river_narrow,turn_example] [--rules discounted,postflop] [--out FILE]

Exploitability is measured every 5 iterations up to 100, then every 10. Iterations do not depend on what else a machine
does; seconds are iterations × the time of one, timed once for each spot (the median, rules in turn), apart for rules
that predict, which move a third array through memory. Time spent measuring is left out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from regretless.engines import benchmark
from regretless.engines.public_engine import PublicEngine
from regretless.forms.public import PublicForm
from regretless.postflop import Spot, compile_spot
from regretless.rules import (
    Discounted,
    Plus,
    PredictiveDiscountedPlus,
    PredictivePlus,
    Resetting,
    Rule,
    Scheduled,
    preset,
    schedule,
)

DATA = Path(__file__).parent.parent / "tests" / "data"
OUT = Path(__file__).parent / "results" / "postflop_rules.json"
TARGETS = (0.5, 0.3, 0.1)  # percent of the pot
MOST = {5: 1000, 4: 400, 3: 200}  # iterations at most, by cards on the board
TIMED = {5: 200, 4: 10, 3: 1}  # iterations in one timing
ROUNDS = 7
SPOTS = ("river_narrow", "river_wide", "river_rake", "turn_example", "turn_paired_donk")

RULES: dict[str, Rule] = {
    "postflop": preset("postflop"),
    "discounted": Discounted(),
    "discounted, γ = 3": Discounted(gamma=3),
    "discounted, γ = 4": Discounted(gamma=4),
    "discounted, γ = 5": Discounted(gamma=5),
    "resetting": Resetting(),
    "linear": Discounted(alpha=1, beta=1, gamma=1),
    "HS-DCFR(30), n = 100": Scheduled(horizon=100),
    "HS-DCFR(30), n = 200": Scheduled(horizon=200),
    "HS-DCFR(30), n = 400": Scheduled(horizon=400),
    "plus": Plus(),
    "plus, quadratic": Plus(power=2),
    "predictive-plus": PredictivePlus(),
    "predictive-discounted-plus": PredictiveDiscountedPlus(),
}


def predicts(rule: Rule) -> bool:
    return rule.weights(2).prediction != 0


def milliseconds(form: PublicForm, threads: int, batch: int, rounds: int) -> dict[bool, float]:
    """The median time of an iteration, of rules that do not predict and of those that do."""
    engines = {False: PublicEngine(form, threads=threads), True: PublicEngine(form, threads=threads)}
    rules: dict[bool, Rule] = {False: Discounted(), True: PredictivePlus()}
    taken: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(rounds + 1):
        for kind, engine in engines.items():
            rows = schedule(rules[kind], engine.iteration + 1, batch)
            began = time.perf_counter()
            engine.advance(rows)
            taken[kind].append((time.perf_counter() - began) / batch * 1e3)
    return {kind: float(np.median(times[1:])) for kind, times in taken.items()}


def trace(form: PublicForm, pot: float, rule: Rule, threads: int, most: int) -> dict[str, Any]:
    """Exploitability in percent of the pot until the last target is met, and the iterations to each target."""
    engine = PublicEngine(form, threads=threads)
    met: dict[str, int] = {}
    points: list[tuple[int, float]] = []
    wall = 0.0
    while engine.iteration < most and len(met) < len(TARGETS):
        rows = schedule(rule, engine.iteration + 1, 5 if engine.iteration < 100 else 10)
        began = time.perf_counter()
        engine.advance(rows)
        wall += time.perf_counter() - began
        percent = engine.evaluate().exploitability / pot * 100
        points.append((engine.iteration, round(percent, 5)))
        for target in TARGETS:
            if percent <= target:
                met.setdefault(str(target), engine.iteration)
    return {"iterations": met, "wall_seconds": round(wall, 4), "trace": points}


def seconds(spot: dict[str, Any], name: str, target: float) -> float:
    """Until a target is met, or until the cap where it is not."""
    each = spot["milliseconds_predicting" if predicts(RULES[name]) else "milliseconds"] / 1e3
    return float(each * spot["rules"][name]["iterations"].get(str(target), spot["most"]))


def ratios(spots: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Geometric means of seconds against `discounted`, over the spots that every rule was run on.

    Where a rule missed targets, its figure is a lower bound.
    """
    shared = [spot for spot in spots.values() if set(RULES) <= set(spot["rules"])]
    if not shared:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for name in RULES:
        logs = {
            target: [math.log(seconds(spot, name, target) / seconds(spot, "discounted", target)) for spot in shared]
            for target in TARGETS
        }
        found[name] = {str(target): round(math.exp(np.mean(each)), 3) for target, each in logs.items()}
        found[name]["all"] = round(math.exp(np.mean(list(logs.values()))), 3)
        found[name]["missed"] = sum(len(TARGETS) - len(spot["rules"][name]["iterations"]) for spot in shared)
    return found


def show(results: dict[str, Any]) -> None:
    spots = results["spots"]
    print("| rule | " + " | ".join(spots) + " | seconds against `discounted` |")
    print("|---|" + "--:|" * (len(spots) + 1))
    order = sorted(RULES, key=lambda name: results["ratios"].get(name, {"all": math.inf})["all"])
    for name in order:
        cells = []
        for spot in spots.values():
            met = spot["rules"].get(name, {}).get("iterations")
            missing = f"> {spot['most']}" if met is not None else "–"
            cells.append("–" if met is None else " / ".join(str(met.get(str(t), missing)) for t in TARGETS))
        ratio = results["ratios"].get(name)
        mean = "–" if ratio is None else ("> " if ratio["missed"] else "") + f"{ratio['all']:.2f}"
        print(f"| {name} | " + " | ".join(cells) + f" | {mean} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spots", default=",".join(SPOTS))
    parser.add_argument("--rules", default="", help="separated by semicolons; all where not given")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a JSON file; spots that are in it already are kept")
    options = parser.parse_args()
    chosen = options.rules.split(";") if options.rules else list(RULES)
    found: dict[str, Any] = {}
    if options.out and options.out.exists():
        found = json.loads(options.out.read_text(encoding="utf-8"))["spots"]
    for name in options.spots.split(","):
        spot = Spot.read(DATA / f"{name}.toml")
        form = compile_spot(spot)
        cards = len(spot.board)
        cost = milliseconds(form, options.threads, TIMED[cards], ROUNDS if cards > 3 else 3)
        runs = {}
        for rule in chosen:
            run = trace(form, spot.pot, RULES[rule], options.threads, MOST[cards])
            runs[rule] = run
            print(name, rule, run["iterations"], f"{run['wall_seconds']:.2f} s", flush=True)
        found[name] = {
            "threads": options.threads,
            "milliseconds": round(cost[False], 4),
            "milliseconds_predicting": round(cost[True], 4),
            "most": MOST[cards],
            "rules": runs,
        }
        for rule, run in runs.items():
            met = map(float, run["iterations"])
            run["seconds"] = {str(target): round(seconds(found[name], rule, target), 6) for target in met}
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes")
    results = {"hardware": {**benchmark.hardware(), "date": date}, "spots": found, "ratios": ratios(found)}
    show(results)
    if options.out:
        options.out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
