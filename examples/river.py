"""A river: solve it, see what it plays, and check it by an independent route.

python examples/river.py
"""

import regretless as rl

spot = rl.Spot.parse("""
board = "Kh Qs Js 2c 3d"
pot = 100
stack = 200
oop.range = "AK, KQs, QJs, T9s, 99-77, 22"
ip.range = "AA-QQ, AK, KQ, JTs, T9s, 55"
bets.bet = "50%"
bets.raise = "2.5x"
""")
solution = rl.solve(spot, target=0.1)  # until best responses gain at most 0.1 % of the pot
print(f"exploitability {solution.exploitability_pct_pot:.2f} % of the pot after {solution.iterations} iterations")
for player in ("oop", "ip"):
    print(f"{player}: EV {solution.ev[player]:.1f} chips, equity {solution.equity[player]:.0%}")

node = solution.node("check")  # the player in position, after a check
for action, share, combos in zip(node.actions, node.frequencies, node.action_combos, strict=True):
    print(f"{node.player} plays {action} {share:.0%} of the time, with {combos:.1f} combos")

# How often the player in position bets each hand, most often first
bets = {row["hand"]: row["strategy"]["bet 50"] for row in node.rows("ip")}
print("bets most:", ", ".join(sorted(bets, key=lambda hand: -bets[hand])[:5]))

check = solution.verify()  # every runout, in 64-bit arithmetic, without the kernels that solved it
print(f"verified: {check.exploitability_pct_pot:.2f} % of the pot, {'agrees' if check.agrees else 'differs'}")
