"""From the fields of a game from the deal to TOML."""

from __future__ import annotations

from regretless.holdem.games.game_reader import CHIPS, OPEN, RAISE_LIMP, RERAISES, GameFields
from regretless.holdem.spots.bet_tables import quoted, write_bets, write_lines, write_rules
from regretless.holdem.spots.sizes import number_text, sizes_text
from regretless.holdem.spots.spot_fields import PlayerSizes

__all__ = ["write_game"]


def write_game(game: GameFields) -> str:
    """TOML that reads back to the same game."""
    lines = [f"{name} = {number_text(getattr(game, name))}" for name in ("stack", "small_blind", "big_blind", "ante")]
    if game.name:
        lines.append(f"name = {quoted(game.name)}")
    lines += ["", "[preflop]", f"limp = {str(game.limp).lower()}"]
    if game.preflop.max_raises is not None:
        lines.append(f"max_raises = {game.preflop.max_raises}")
    lines += ["", "[preflop.ip]", *_sizes(OPEN, game.preflop.ip)]
    lines += ["", "[preflop.oop]", *_sizes(RAISE_LIMP, game.preflop.oop)]
    lines += write_bets(game.bets)
    lines += write_rules(game.rules, min_bet=game.big_blind, chip=game.big_blind / CHIPS)
    lines += write_lines(game.lines)
    return "\n".join(lines) + "\n"


def _sizes(first: str, sizes: PlayerSizes) -> list[str]:
    """The first raise and the re-raises, each as it applies."""
    named = {first: sizes.raise_} | {key: sizes.raise_number(place + 2) for place, key in enumerate(RERAISES)}
    last = 1 + max(len(sizes.reraise), 1)  # later ones are as the last
    return [f'{key} = "{sizes_text(each)}"' for key, each in list(named.items())[:last]]
