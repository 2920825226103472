"""Hold'em spots: board, ranges and bets in, strategies and values out."""

__all__: list[str] = []
