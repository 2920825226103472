"""Text such as `leduc(ranks=6)` or `discounted(gamma=3)`: a name, and parameters by name with values as in Python.

Values are literals (number, text, True, False, tuple): text from a user is never executed.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from regretless.errors import InvalidOption, InvalidText

__all__ = ["did_you_mean", "listed", "name_in", "parameters_in", "spelled"]

MAX_LENGTH = 1000  # characters; nobody types more, and the parser should not see more
UNREADABLE = "the parameters cannot be read"


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "", *, cutoff: float = 0.6) -> str:
    """The end of a sentence that refuses a word: the closest of the known ones, in any case, or else other advice.

    >>> did_you_mean("Iteratons", ["iterations", "target"]), did_you_mean("plus", ["target"], "it has target")
    ('; did you mean iterations?', '; it has target')
    """
    names = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), names, n=1, cutoff=cutoff)
    advice = f"did you mean {names[close[0]]}?" if close else otherwise
    return f"; {advice}" if advice else ""


def listed(texts: Sequence[str]) -> str:
    """Texts as a sentence lists them.

    >>> listed(["flop", "turn", "river"]), listed(["turn"])
    ('flop, turn and river', 'turn')
    """
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def spelled(name: str, function: Callable[..., object], result: object) -> str:
    """Text of the call that returned an object, with the parameters that it keeps and that differ from the defaults.

    >>> from types import SimpleNamespace
    >>> [spelled("sorted", sorted, SimpleNamespace(reverse=value)) for value in (False, 1, (1, 2), "as is")]
    ['sorted', 'sorted(reverse=1)', 'sorted(reverse=(1,2))', "sorted(reverse='as is')"]
    """
    parameters = inspect.signature(function).parameters
    arguments = [
        f"{key}={value!r}" if isinstance(value, str) else f"{key}={value!r}".replace(" ", "")
        for key, parameter in parameters.items()
        if (value := getattr(result, key, parameter.default)) != parameter.default
    ]
    return f"{name}({','.join(arguments)})" if arguments else name


def name_in(field: str, text: str, examples: str) -> str:
    """The name before the parentheses, if there are any; `field` names the text in errors."""
    if len(text) > MAX_LENGTH:
        raise InvalidText(field, text, None, f"longer than {MAX_LENGTH} characters")
    match = re.fullmatch(r"([^()]*)(\(.*\))?", text, re.DOTALL)
    if match is None:
        raise InvalidText(field, text, None, f"must look like {examples}")
    return match[1]


def parameters_in(field: str, text: str, start: int, name: str, parameters: Mapping[str, object]) -> dict[str, object]:
    """The parameters in the parentheses that begin at `start`, if there are any.

    `parameters` are the parameters of `name`.

    >>> parameters_in("game", "leduc(ranks=6, bets=(2,4))", 5, "leduc", {"ranks": 3, "bets": (2, 4)})
    {'ranks': 6, 'bets': (2, 4)}
    """
    example = f"{name}({next(iter(parameters), 'parameter')}=…)"
    values: dict[str, object] = {}
    for position, piece in _pieces(field, text, start) if start < len(text) else ():
        call = _parse_piece(field, text, position, piece)
        if call.args or call.keywords[0].arg is None:
            raise InvalidText(field, text, position, f"parameters must be given by name, like {example}")
        key = call.keywords[0].arg
        if key not in parameters:
            hint = did_you_mean(key, parameters)
            allowed = f"(its parameters: {', '.join(parameters)})" if parameters else "(it has none)"
            raise InvalidText(field, text, position, f"{name} has no parameter {key}{hint} {allowed}")
        if key in values:
            raise InvalidText(field, text, position, f"{key} is given twice")
        values[key] = _read_value(key, call.keywords[0].value, piece)
    return values


def _pieces(field: str, text: str, start: int) -> Iterator[tuple[int, str]]:
    """Each parameter between the parentheses that begin at `start`, with its position from 1."""
    pieces, begin, depth, quote = [], start + 1, 0, ""
    for index in range(start + 1, len(text)):
        character = text[index]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}" and index < len(text) - 1:
            depth -= 1
        if depth < 0:
            raise InvalidText(field, text, index + 1, UNREADABLE)
        if index == len(text) - 1 or (character == "," and depth == 0 and not quote):
            pieces.append((begin, text[begin:index]))
            begin = index + 1
    if not pieces[-1][1].strip():  # nothing between the parentheses, or nothing after the last comma
        pieces.pop()
    for begin, piece in pieces:
        yield begin + 1 + len(piece) - len(piece.lstrip()), piece.strip()


def _parse_piece(field: str, text: str, position: int, piece: str) -> ast.Call:
    """One parameter, parsed by Python; versions of Python disagree on error positions, so we compute our own."""
    try:
        call = ast.parse(f"f({piece})", mode="eval").body
    except SyntaxError:
        name, equals, value = piece.partition("=")
        if equals:
            position += len(name) + 1 + len(value) - len(value.lstrip())
        raise InvalidText(field, text, position, UNREADABLE) from None
    except (MemoryError, RecursionError, ValueError):
        raise InvalidText(field, text, None, UNREADABLE) from None
    if not isinstance(call, ast.Call) or len(call.args) + len(call.keywords) != 1:
        raise InvalidText(field, text, position, UNREADABLE)
    return call


def _read_value(option: str, node: ast.expr, piece: str) -> object:
    if isinstance(node, ast.Name):  # a bare word is text, except for true and false
        return {"true": True, "false": False}.get(node.id.lower(), node.id)
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        typed = piece.partition("=")[2].strip()  # unparsing a deep expression would recurse
        raise InvalidOption(option, typed, "must be a number, True, False, text or a tuple") from None
    return tuple(value) if isinstance(value, list) else value
