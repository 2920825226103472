"""Features that describe the hands of a street, as rows of whole numbers: the input of card abstraction.

strength    how strong a hand is on average, and how strong it becomes: a histogram over all runouts
opponents   how strong a hand is on the river against each of eight clusters of opposing hands
"""
