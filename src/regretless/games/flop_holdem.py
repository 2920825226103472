"""Flop hold'em, the two-round limit game of the Deep CFR paper (Brown, Lerer, Gross, Sandholm, 2019).

Its rules are those of `limit_holdem` with two rounds: bets and raises are of 100 chips, at most three per round, not
counting blinds, and the game ends after the betting on the flop, so a hand is exactly five cards.

With 22,100 flops × 1,176 hands × 56 decisions there are 1.455 billion information sets, so the rules cannot be
enumerated: the game is solved in its public form.
"""

from __future__ import annotations

from regretless.games.limit_betting import LimitBetting
from regretless.games.limit_holdem import LimitHoldemRules

__all__ = ["FlopHoldem"]


class FlopHoldem(LimitHoldemRules):
    """Flop hold'em.

    >>> game = FlopHoldem()
    >>> state = game.initial_state()
    >>> for action in ("KhAh", "2c2d", "call"):
    ...     state = game.next_state(state, action)
    >>> game.info_set_key(state), game.actions(state)
    ('2d2c:call', ('check', 'raise 200'))
    >>> for action in ("check", "3c4cAs", "check", "check"):
    ...     state = game.next_state(state, action)
    >>> state.line, game.utilities(state)
    (('call', 'check', '3c4cAs', 'check', 'check'), (1.0, -1.0))
    """

    name = "flop-holdem"
    betting = LimitBetting(posted=(50, LimitHoldemRules.big_blind), bets=(100, 100), raises=(3, 3), opens=(0, 1))
    cards_dealt = (3,)
