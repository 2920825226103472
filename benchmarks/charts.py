"""Write the charts that ship with the package from whole games that were solved and priced.

    python benchmarks/whole_game.py benchmarks/spots/GAME.toml --device cuda --out benchmarks/results/RESULTS.json
    python benchmarks/charts.py --out src/regretless/holdem/games/charts.toml

The first command is run once for each game of `GAMES`. A weight in a range is a whole percentage of the hands.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from regretless.cards.hands import CLASS_NAMES, HAND_CLASS
from regretless.cards.ranges import FORMATS
from regretless.holdem.games.game import HoldemGame

HERE = Path(__file__).parent
GAMES = {  # big blinds -> game file, results
    10: ("heads_up_10bb", "h200_whole_game_10bb"),
    15: ("heads_up_15bb", "h200_whole_game_15bb"),
    20: ("tutorial_20bb", "h200_whole_game_20bb"),
    30: ("heads_up_30bb", "h200_whole_game_30bb"),
    50: ("heads_up_50bb", "h200_whole_game_50bb"),
    100: ("open_100bb", "h200_whole_game_100bb"),
}
WEIGHT_DECIMALS = 2
ENOUGH = 50  # flops to extrapolate from


def decisions(strategy: dict[str, dict[str, float]]) -> dict[str, dict[str, str]]:
    """Line -> action -> the hands that take it, without the first action of a line."""
    lines: dict[str, list[str]] = {}
    for information_set in strategy:
        line = information_set.partition(":")[2]
        lines.setdefault(line, list(strategy[information_set])[1:])
    return {line: {action: range_text(strategy, line, action) for action in actions} for line, actions in lines.items()}


def range_text(strategy: dict[str, dict[str, float]], line: str, action: str) -> str:
    classes = np.array([strategy[f"{name}:{line}"][action] for name in CLASS_NAMES])
    return FORMATS["short"](classes.round(WEIGHT_DECIMALS).clip(0.0, 1.0)[HAND_CLASS])


def chart_toml(key: str, game: HoldemGame, results: dict[str, Any]) -> str:
    solved, price = results["solve"], results["prices"][-1]
    everywhere = price.get("over_all_flops_mbb") if price["flops_priced"] >= ENOUGH else None
    rows = [
        "[[chart]]",
        f'key = "{key}"',
        f"flops = {solved['flops']}",
        f"exploitability_mbb = {solved['exploitability_mbb']:.2f}",
        f"priced_flops = {price['flops_priced']}",
        f"price_mbb = {price['exploitability_mbb']:.1f}",
        *([] if everywhere is None else [f"price_all_mbb = {everywhere:.1f}"]),
        f"game = '''\n{game.to_toml().strip()}\n'''",
    ]
    for line, actions in decisions(results["preflop"]).items():
        rows += [f'[chart.decisions."{line}"]', *(f'"{action}" = "{hands}"' for action, hands in actions.items())]
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    out: Path = parser.parse_args().out
    texts = [
        "# What both players do before the flop. `charts.py` explains the fields, `benchmarks/charts.py` wrote them.\n"
    ]
    for stack, (game, results) in GAMES.items():
        read = json.loads((HERE / "results" / f"{results}.json").read_text(encoding="utf-8"))
        texts.append(chart_toml(f"{stack}bb", HoldemGame.read(HERE / "spots" / f"{game}.toml"), read))
        print(f"{stack}bb", len(texts[-1]))
    out.write_text("\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
