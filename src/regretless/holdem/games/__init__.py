"""Hold'em from the deal, and hold'em with buckets.

game            stacks, blinds and bets of a game, and its TOML file      game_size   how large it is
push_fold, flop_holdem                                                    small games, solved exactly
bucketed        what spots and games with buckets have in common          bucketed_spot   such a spot
boards          boards drawn for an iteration; the bucketed form of a game
whole_game      a game with buckets: problem and solution                 reader      from a line to the strategy there
price           the values of one flop with real cards                    pricing     the price over many flops
"""
