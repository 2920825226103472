"""Numbers formatted for people."""

from __future__ import annotations

__all__ = [
    "about_text", "cell_text", "chips_text", "count_text", "counted", "duration_text", "plain_zero", "share_text",
    "signed_text", "unit_of",
]  # fmt: skip

# Units of payoffs by game; all others are played for points.
UNITS = {"kuhn": "chips", "leduc": "chips"} | dict.fromkeys(("push-fold", "flop-holdem", "limit-holdem"), "big blinds")


def unit_of(game: str) -> str:
    """The unit of a game's payoffs.

    >>> unit_of("leduc(ranks=6)"), unit_of("goofspiel")
    ('chips', 'points')
    """
    return UNITS.get(game.partition("(")[0], "points")


def signed_text(number: float, decimals: int = 5) -> str:
    """A number with its sign.

    >>> signed_text(-0.0856064), signed_text(0.5, 1), signed_text(-0.001, 2)
    ('−0.08561', '+0.5', '0.00')
    """
    text = f"{number:+.{decimals}f}"
    return text.replace("-", "−") if float(text) else text[1:]


def plain_zero(text: str) -> str:
    """A number's text without the minus sign of a zero.

    >>> plain_zero("-0.00"), plain_zero("-0.01"), plain_zero("-0.0%")
    ('0.00', '-0.01', '0.0%')
    """
    return text if any(digit in text for digit in "123456789") else text.removeprefix("-")


def cell_text(number: float | None, how: str) -> str:
    """A number in this format, or a dash if it is undefined.

    >>> cell_text(0.25, ".1%"), cell_text(-0.001, ".2f"), cell_text(float("nan"), ".2f"), cell_text(None, ".2f")
    ('25.0%', '0.00', '–', '–')
    """
    return "–" if number is None or number != number else plain_zero(f"{number:{how}}")


def chips_text(chips: float) -> str:
    """Chips in full, without trailing zeros.

    >>> chips_text(1234567.0), chips_text(5.5), chips_text(0.1 + 0.2)
    ('1234567', '5.5', '0.3')
    """
    return f"{chips:.6f}".rstrip("0").removesuffix(".")


def duration_text(seconds: float) -> str:
    """A duration in a fitting unit.

    >>> [duration_text(seconds) for seconds in (2.5e-5, 0.0123, 3.21, 125.0, 7384.0)]
    ['25 µs', '12 ms', '3.2 s', '2 min 5 s', '2 h 3 min']
    >>> [duration_text(seconds) for seconds in (0.0009996, 0.9996, 59.96)]  # each rounds up to the next unit
    ['1 ms', '1.0 s', '1 min 0 s']
    """
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.3g} µs"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.2g} ms" if seconds < 0.0995 else f"{seconds * 1e3:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def about_text(seconds: float) -> str:
    """An estimated duration, rounded as coarsely as an estimate deserves.

    >>> [about_text(seconds) for seconds in (0.3, 7.6, 43.0, 93.0, 1234.0, 9200.0, 360_000.0)]
    ['1 s', '8 s', '45 s', '1.5 min', '21 min', '2.6 h', '100 h']
    """
    if seconds < 10:
        return f"{max(round(seconds), 1)} s"
    if seconds < 57.5:
        return f"{5 * round(seconds / 5)} s"
    if seconds < 600:
        return f"{round(seconds / 30) / 2:g} min"
    if seconds < 3570:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{round(hours, 1):g} h" if hours < 9.95 else f"{hours:.0f} h"


def counted(count: int, noun: str) -> str:
    """A count of things.

    >>> counted(1, "spot"), counted(1234, "spot")
    ('1 spot', '1,234 spots')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def share_text(share: float) -> str:
    """A share in percent, with a decimal if it is small.

    >>> share_text(0.42), share_text(0.034), share_text(0.00001)
    ('42%', '3.4%', '0.0%')
    """
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def count_text(count: float) -> str:
    """A count to three significant digits, with separators.

    >>> count_text(5483.2), count_text(0.5)
    ('5,480', '0.5')
    """
    return f"{float(f'{count:.3g}'):,.0f}" if count >= 10 else f"{count:.2g}"
