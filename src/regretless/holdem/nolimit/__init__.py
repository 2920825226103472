"""Heads-up no-limit hold'em from the deal, solved with card buckets on boards drawn at random.

boards      boards drawn for an iteration, and the bucket of every hand on them
form        the bucketed form of a game
problem     a game on the path from request to solution
reader      from a line of play to the strategy there
solution    the answer, which saves and loads itself
price       the values of one flop with real cards, and the exploitability of the game from those of many
pricing     which flops, in what order, and the estimate so far   (price_folder: the flops that are done)
"""
