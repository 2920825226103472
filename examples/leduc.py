"""Leduc poker: how fast variants of CFR converge.

python examples/leduc.py
"""

import regretless as rl

ITERATIONS = 500

for variant in ("vanilla", "linear", "plus", "discounted", "predictive-plus"):
    solution = rl.solve("leduc", variant=variant, iterations=ITERATIONS)
    print(f"{variant:<16}exploitability {solution.exploitability:.5f}, value {solution.values[0]:+.5f}")
