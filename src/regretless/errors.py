"""Error types: every error that a user can cause is a `RegretlessError` whose message is one clear sentence.

    RegretlessError              exit code 1
    ├── InvalidOption            an option has a value that is not allowed
    │   └── InvalidSettings      a setting of a training run has a value that is not allowed
    ├── InvalidText              text (a range, a card, a game's name) cannot be parsed; says where
    ├── InvalidGame              the rules of a game contradict themselves
    ├── InvalidFile              a file is missing, damaged or of the wrong kind
    ├── EmptyMemory              a network was to be fitted before any samples were drawn
    ├── MissingExtra             an optional library is not installed
    ├── WouldNotFit              exit code 3: needs more memory than is free; raised before anything is allocated
    └── DeviceFailed             exit code 4: a GPU failed; what was saved before is unharmed

The command prints `str(error)` and exits with `error.exit_code`; a library user catches the type.

Input that is valid but suspicious raises a warning through Python's `warnings`:

    RegretlessWarning            a `UserWarning`; the command prints it as one line on stderr and continues
    ├── OverlappingTerms         terms of a range give a hand different weights
    ├── RoundedSizes             rounding to chips or the minimum bet moves a size far from the one requested
    ├── RebuiltFile              a file was damaged and has been rebuilt; nothing is lost
    └── UnreadableSolve          a solve of an earlier server cannot be read and is not listed
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from regretless.printable import printable

__all__ = [
    "Advice", "DeviceFailed", "EmptyMemory", "InvalidFile", "InvalidGame", "InvalidOption", "InvalidSettings",
    "InvalidText", "MissingExtra", "MissingOption", "OverlappingTerms", "RebuiltFile", "RegretlessError",
    "RegretlessWarning", "RoundedSizes", "UnreadableSolve", "WouldNotFit", "bytes_text",
]  # fmt: skip

_MAX_QUOTE_LENGTH = 60  # characters of user text quoted in a message
_MAX_MESSAGE_LENGTH = 1000  # characters


class RegretlessError(Exception):
    """Base of every error that a user can cause. The message is always one line of bounded length.

    >>> print(RegretlessError("no field a" + chr(10) + "b"))
    no field a\\nb
    """

    exit_code = 1

    def __init__(self, message: str, advice: Sequence[Advice] = (), hint: str = "") -> None:
        self._problem, self.advice, self._hint = message, tuple(advice), hint
        super().__init__(self.worded(Advice.as_keyword))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled with its message, which the constructors of subclasses would not accept as their argument."""
        return _unpickled, (type(self), *self.args), self.__dict__

    def worded(self, spell: Callable[[Advice], str]) -> str:
        """The message, with the settings that it advises, if any, spelled by `spell`: by default, as in Python."""
        helps = [self._hint] if self._hint else []
        helps += [f"{spell(each)} {each.effect}".rstrip() for each in self.advice]
        return _one_line(f"{self._problem}: {'; '.join(helps)}" if helps else self._problem)


class InvalidOption(RegretlessError):
    """An option has a value that is not allowed.

    >>> print(InvalidOption("iterations", -5, "must be at least 1"))
    iterations: -5 must be at least 1
    """

    def __init__(self, option: str, value: object, reason: str, advice: Sequence[Advice] = ()) -> None:
        super().__init__(f"{option}: {_shown(value)} {reason}", advice)
        self.option = option
        self.value = value
        self.reason = reason


class MissingOption(InvalidOption):
    """An option that is needed was not given.

    >>> print(MissingOption("spot", "give a spot, or a solve to resume"))
    spot: is missing: give a spot, or a solve to resume
    """

    def __init__(self, option: str, hint: str) -> None:
        RegretlessError.__init__(self, f"{option}: is missing: {hint}")
        self.option = option
        self.value = None
        self.reason = f"is missing: {hint}"


class InvalidSettings(InvalidOption):
    """A setting of a training run has a value that is not allowed.

    >>> print(InvalidSettings("width", 0, "must be at least 1"))
    width: 0 must be at least 1
    """


def _shown(value: object) -> str:
    """A value as shown in a message."""
    if isinstance(value, int) and abs(value) >= 10**_MAX_QUOTE_LENGTH:  # Python refuses to print very long ones
        return f"a number of {int(value.bit_length() * 0.30103):,} digits"
    written = reprlib.repr(value) if isinstance(value, Mapping | list | tuple | set) else repr(value)
    return written if len(written) <= 2 * _MAX_QUOTE_LENGTH else f"{written[:_MAX_QUOTE_LENGTH]}..."


class InvalidText(RegretlessError):
    """Text that cannot be parsed; `position` counts characters from 1. Long text is quoted around that position.

    >>> print(InvalidText("range", "AKx", 3, "'x' is neither s, o nor a suit"))
    range: 'AKx' at position 3: 'x' is neither s, o nor a suit
    >>> print(InvalidText("range", "22, " * 50 + "AKx", 203, "'x' is neither s, o nor a suit"))
    range: '..., 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, AKx' at position 203: ...
    """

    def __init__(self, field: str, text: str, position: int | None, reason: str) -> None:
        where = "" if position is None else f" at position {position}"
        super().__init__(f"{field}: {_quoted(text, position or 1)!r}{where}: {reason}")
        self.field = field
        self.position = position


def _quoted(text: str, position: int) -> str:
    """At most 60 characters of a text, including the one at `position`."""
    if len(text) <= _MAX_QUOTE_LENGTH:
        return text
    room = _MAX_QUOTE_LENGTH - 3
    if position <= room - 10:
        return text[:room] + "..."
    start = max(0, min(position - room // 2, len(text) - room))
    return "..." + text[start : start + room] + ("..." if start + room < len(text) else "")


class InvalidGame(RegretlessError):
    """The rules of a game contradict themselves; for example, chance does not sum to 1."""


class InvalidFile(RegretlessError):
    """A file that is missing, damaged or of the wrong kind."""

    def __init__(self, path: object, reason: str, advice: Sequence[Advice] = ()) -> None:
        super().__init__(f"{path}: {reason}", advice)
        self.path = path


class EmptyMemory(RegretlessError):
    """A network was to be fitted to a memory that holds no samples yet.

    >>> print(EmptyMemory("the strategy memory"))
    the strategy memory holds no samples yet: run at least one iteration first
    """

    def __init__(self, memory: str) -> None:
        super().__init__(f"{memory} holds no samples yet: run at least one iteration first")


class MissingExtra(RegretlessError):
    """An optional library is not installed; the message gives the command that installs it.

    >>> print(MissingExtra("matplotlib", "plot"))
    matplotlib is not installed: pip install ...[plot]...
    """

    def __init__(self, library: str, extra: str) -> None:
        from regretless.installing import install_command

        super().__init__(f"{library} is not installed: {install_command(extra)}")


class Advice(NamedTuple):
    """A setting that would help, and what it would do. Each interface spells settings in its own way.

    >>> advice = Advice("sample_runouts", 8, "needs less")
    >>> advice.as_option(), advice.as_keyword(), advice.in_words()
    ('--sample-runouts 8', 'sample_runouts=8', 'sample runouts 8')
    """

    setting: str  # "storage"
    value: str | int | None  # None: without one
    effect: str  # "takes half as much"
    command: str = ""  # what to type instead of the option and its value
    keyword: str = ""  # what to write in Python instead of the setting and its value

    def as_option(self) -> str:
        """The setting as the command spells it."""
        return self.command or f"--{self.setting.replace('_', '-')}{self._value}"

    def as_keyword(self) -> str:
        """The setting as Python spells it."""
        value = "" if self.value is None else f"={self.value!r}"
        return self.keyword or f"{self.setting}{value}"

    def in_words(self) -> str:
        """The setting as a page shows it, where there is a menu and no command."""
        return f"{self.setting.replace('_', ' ')}{self._value}"

    @property
    def _value(self) -> str:
        return "" if self.value is None else f" {self.value}"


class WouldNotFit(RegretlessError):
    """A request needs more memory than is free; raised before allocating. `hint` and `advice` say what would fit.

    `partial`: `needed` is only what is known so far.

    >>> sizes = {"needed": 3 * 10**9, "available": 2 * 10**9}
    >>> print(WouldNotFit("leduc(ranks=60)", **sizes))
    leduc(ranks=60) needs 3.0 GB of memory, but only 2.0 GB are free
    >>> print(WouldNotFit("leduc(ranks=60)", **sizes, partial=True))
    leduc(ranks=60) needs at least 3.0 GB of memory, but only 2.0 GB are free
    >>> print(WouldNotFit("leduc", needed=3 * 10**6, available=2 * 10**6))
    leduc needs 3.0 MB of memory, but only 2.0 MB are free
    >>> error = WouldNotFit("the flop", **sizes, advice=[Advice("storage", 16, "needs 1.5 GB, which fits")])
    >>> print(error)
    the flop needs 3.0 GB of memory, but only 2.0 GB are free: storage=16 needs 1.5 GB, which fits
    >>> error.worded(Advice.as_option)
    'the flop needs 3.0 GB of memory, but only 2.0 GB are free: --storage 16 needs 1.5 GB, which fits'
    """

    exit_code = 3

    def __init__(
        self,
        what: str,
        *,
        needed: int,
        available: int,
        hint: str = "",
        advice: Sequence[Advice] = (),
        memory: str = "memory",
        partial: bool = False,
    ) -> None:
        size = f"at least {bytes_text(needed)}" if partial else bytes_text(needed)
        sizes = f"needs {size} of {memory}, but only {bytes_text(available)} are free"
        super().__init__(f"{what} {sizes}", advice, hint)
        self.needed = needed
        self.available = available


class DeviceFailed(RegretlessError):
    """A GPU failed while it was in use. Checkpoints that were written before are unharmed and can be resumed.

    >>> error = DeviceFailed("the GPU is full", advice=[Advice("device", "cpu", "takes none of its memory")])
    >>> print(error)
    the GPU is full: device='cpu' takes none of its memory
    >>> error.worded(Advice.as_option)
    'the GPU is full: --device cpu takes none of its memory'
    """

    exit_code = 4


class RegretlessWarning(UserWarning):
    """Base of every warning about a request; the request is still carried out as written."""


class OverlappingTerms(RegretlessWarning):
    """Terms of a range give a hand different weights; the later term wins."""


class RoundedSizes(RegretlessWarning):
    """Rounding to whole chips or the minimum bet moves a bet size far from the one requested."""


class RebuiltFile(RegretlessWarning):
    """A file was damaged and has been rebuilt from what is known otherwise; nothing is lost."""


class UnreadableSolve(RegretlessWarning):
    """A solve that an earlier server listed cannot be read, and is left off the list."""


def _unpickled(kind: type[RegretlessError], message: str) -> RegretlessError:
    return kind.__new__(kind, message)


def bytes_text(count: int) -> str:
    """An amount of memory or the size of a file, as everything that people read names it.

    >>> bytes_text(3_200_000_000), bytes_text(134_217_728), bytes_text(2000), bytes_text(17)
    ('3.2 GB', '134 MB', '2.0 KB', '17 bytes')
    """
    size, units = float(count), ["bytes", "KB", "MB", "GB", "TB"]
    while size >= 999.5 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.0f} {units[0]}" if size >= 99.95 or units[0] == "bytes" else f"{size:.1f} {units[0]}"


def _one_line(message: str) -> str:
    """A message on one line of bounded length."""
    if len(message) > _MAX_MESSAGE_LENGTH:  # the beginning says where, the end what is allowed
        half = _MAX_MESSAGE_LENGTH // 2
        message = f"{message[:half]} … {message[-half:]}"
    return printable(message)
