"""A small flop: what each turn card does to a bet, and what a locked decision costs.

python examples/flop.py
"""

import regretless as rl
from regretless.cards.deck import card_text
from regretless.holdem.spots.locks import Lock

spot = rl.Spot.parse("""
board = "Ks 7d 2c"
pot = 60
stack = 120
oop.range = "99, 77, KQs, KJs, QJs, JTs, T9s, A5s"
ip.range = "AA, 88, AKs, KQs, AQs, QJs, 76s"
bets.bet = "66%"
bets.raise = "a"
""")
solution = rl.solve(spot, target=0.5)
print(f"{solution.record.nodes:,} nodes, {solution.record.memory_bytes / 1e6:.0f} MB")

flop = solution.node("check")
for action, share in zip(flop.actions, flop.frequencies, strict=True):
    print(f"after a check, {flop.player} plays {action} {share:.0%} of the time")

# The turn after a bet and a call: how often is it bet again, by card?
report = solution.runouts("check, bet 40, call", then="check")
barrels = {
    runout.card: sum(share for action, share in runout.frequencies.items() if action != "check")
    for runout in report.runouts
}
best, worst = max(barrels, key=barrels.__getitem__), min(barrels, key=barrels.__getitem__)
for name, card in (("most", best), ("least", worst)):
    print(f"bets again {name} often on the {card_text(card)}: {barrels[card]:.0%}")

# The same spot against a player who never bets after a check
locked = rl.solve(spot, target=0.5, locks=[Lock("check", {"check": 1})])
print(f"without that bet, ip's EV is {locked.ev['ip']:.1f} instead of {solution.ev['ip']:.1f} chips")
