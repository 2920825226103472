"""A network: Deep CFR learns Kuhn poker, and its exploitability is computed exactly. It needs `pip install '.[torch]'`.

python examples/network.py
"""

import regretless as rl

trained = rl.train("kuhn", preset="small", iterations=6, traversals=200, value_steps=50, policy_steps=300, seed=7)
print(f"exploitability {trained.exploitability:.3f} chips; uniform play is exploitable for 0.458")
print("with a king facing a bet:", {action: round(share, 2) for action, share in trained.strategy["2:b"].items()})
