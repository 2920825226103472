"""Kuhn poker: three routes to one answer, the value −1/18.

python examples/kuhn.py
"""

import regretless as rl

readable = rl.VanillaCFR(rl.game("kuhn"))  # CFR as in the original paper, in plain Python
readable.train(2_000)
fast = rl.solve("kuhn", variant="plus", iterations=2_000)  # CFR+ on arrays
exact = rl.solve("kuhn", variant="lp")  # a linear program

print(f"value to the first player: {fast.values[0]:+.5f} by CFR+, {exact.values[0]:+.5f} exactly")
print(f"exploitability of CFR+: {fast.exploitability:.6f} chips")
# Kuhn has many equilibria: jacks are bet up to a third of the time, and kings three times as often as jacks
for name, strategy in (("CFR", readable.get_all_average_strategies()), ("CFR+", fast.strategy)):
    jack, king = strategy["0:"]["b"], strategy["2:"]["b"]
    print(f"{name}: the first player bets {jack:.1%} of jacks and {king:.1%} of kings")
