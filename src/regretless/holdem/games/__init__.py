"""Hold'em from the deal, and hold'em with buckets. In the order the data flows:

game          stacks, blinds and bets of a game, and its TOML file
game_size     how large it is, before anything is built
boards        the bucketed form of a game, on boards drawn anew in every iteration
bucketed      what problems with buckets have in common
whole_game    a game with buckets        flop_holdem, push_fold    games solved without any, exactly
bucketed_spot a spot with buckets
reader        from a line of play to the strategy there: with buckets, or of a public form from the deal
big_blinds    what all solutions of games from the deal have in common
flop_pricer   what a best response with real cards gains, flop by flop
pricing       over many flops, in a folder that survives a stop

A game takes the steps of every solve (`solving.problem`): its problem compiles a form and creates an engine, its
solution asks a reader. A new way of solving games from the deal is a form, a problem, and a reader beside these.
"""
