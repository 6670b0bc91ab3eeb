"""Reading what a learner types: one reader and one spelling per kind of answer. Nothing here knows a
question.

A reader takes any object and returns a plain, immutable value, or raises `Unreadable`, whose message says
how to type the answer. It looks only at types that it knows, so that no odd object can disturb it.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

LONGEST = 10_000  # items or characters
LARGEST = 2**64
GAP = "There is still a gap (`...`) in the answer."


class Unreadable(ValueError):
    """The answer is of another form than the question asks for."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of answer is typed, read, and spelled as Python source."""

    how: str
    reader: Callable[[Any, Any], Any]  # of (plain value, input of the question)
    spell: Callable[[Any], str]

    def read(self, value: Any, asked: Any) -> Any:
        """Return what a learner has typed as a plain, immutable value."""
        return self.reader(plain(value), asked)


def is_blank(value: Any) -> bool:
    """Tell whether nothing has been answered yet (identity with `...`, not truth: `[]` can be an answer)."""
    if type(value) in (list, tuple) and len(value) == 1:
        value = value[0]
    return value is ... or value is None or (type(value) is str and value.strip(" '\"[]()") in {"...", "…"})


def name_character(character: str, verb: str = " is") -> str:
    return f"`{character}`{verb} U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"


def plain(value: Any, depth: int = 0) -> Any:
    """Turn a value into str, bytes, int, float or nested lists of these."""
    kind = type(value)
    if value is ... or value is None:
        raise Unreadable(GAP)
    if kind is bool or kind.__name__ in {"bool_", "bool"}:
        raise Unreadable("`True` and `False` are no answer to this question.")
    if issubclass(kind, str | bytes | bytearray):
        if len(value) > LONGEST:
            raise Unreadable(f"The answer is longer than {LONGEST} characters.")
        return _whole_characters(str.__str__(value)) if issubclass(kind, str) else bytes(value)
    if issubclass(kind, int):
        return _bounded(int.__add__(value, 0))
    if issubclass(kind, float | Fraction):
        return _bounded(float.__add__(value, 0.0) if issubclass(kind, float) else value)
    if callable(value):
        raise Unreadable("This is a function, not its result: call it, with parentheses.")
    if issubclass(kind, Set | Mapping):
        raise Unreadable(f"A {kind.__name__} keeps no order that could be compared: type a list.")
    if kind.__module__ == "numpy":
        if value.size > LONGEST:
            raise Unreadable(f"The answer has more than {LONGEST} items.")
        return plain(value.tolist(), depth)
    if not hasattr(kind, "__iter__") or depth == 3:
        raise Unreadable(f"A value of type {kind.__name__} is no answer to this question.")
    items = list(itertools.islice(iter(value), LONGEST + 1))
    if len(items) > LONGEST:
        raise Unreadable(f"The answer has more than {LONGEST} items, or no end.")
    return [plain(item, depth + 1) for item in items]


def _whole_characters(text: str) -> str:
    half = next((c for c in text if "\ud800" <= c <= "\udfff"), None)
    if half is not None:
        raise Unreadable(f"U+{ord(half):04X} is half of a surrogate pair, which is no character.")
    return text


def _bounded(value: Any) -> int | float:
    if abs(value) >= LARGEST or not math.isfinite(value):
        raise Unreadable("The number is too large.")
    return int(value) if value == int(value) else float(value)


def _fraction(text: str) -> Fraction | float:
    return Fraction(text) if len(text) < 40 and "e" not in text.lower() else float(text)


def _number(value: Any, _: Any = None) -> int | float:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        text = value.strip(" '\"[]()")
        try:
            value = int(text, 16) if text.lower().startswith("0x") else _fraction(text.replace(",", ".", 1))
        except (ValueError, ZeroDivisionError):
            raise Unreadable(f"{_short(repr(value))} is not a number.") from None
    if not isinstance(value, int | float | Fraction):
        raise Unreadable("One number is asked for.")
    return _bounded(value)


def _whole(value: Any, _: Any = None) -> int:
    number = _number(value)
    if not isinstance(number, int):
        raise Unreadable(f"{number} is not a whole number.")
    return number


def _ids(value: Any, _: Any) -> tuple[int, ...]:
    if isinstance(value, bytes):
        raise Unreadable("These are bytes; IDs are asked for.")
    if isinstance(value, str):
        inside = value.strip(" '\"")
        if not inside:
            raise Unreadable("For an empty list type `[]`.")
        value = re.split(r"[\s,;]+", inside.strip("[]() ,;")) if inside.strip("[]() ,;") else []
        if any("..." in item for item in value):
            raise Unreadable(GAP)
    elif not isinstance(value, list):
        value = [value]
    if any(isinstance(item, list | bytes) for item in value):
        raise Unreadable("One flat list is asked for, without lists inside.")
    return tuple(map(_whole, value))


def _hex_groups(text: str) -> list[str]:
    for character in text:
        if not character.isascii() and not character.isspace():
            raise Unreadable(f"{name_character(character)}: hex digits are 0 to 9 and Latin a to f.")
    groups = re.sub(r"\\x|0x|[\[\](){}'\",;<>]|\bb(?=['\"])", " ", text.lower()).split()
    for group in groups:
        if "..." in group:
            raise Unreadable(GAP)
        if len(group) % 2 or not re.fullmatch("[0-9a-f]+", group):
            reason = "each byte has two digits, 0 to 9 and a to f"
            raise Unreadable(f"{_short(repr(group))} is not hex: {reason}.")
    return groups


def _bytes(value: Any, _: Any = None) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return bytes.fromhex("".join(_hex_groups(value)))
    if not isinstance(value, list):
        raise Unreadable("Put quotes around hex, so that Python does not read it as a decimal number.")
    parts = []
    for item in value:
        if isinstance(item, int) and not 0 <= item <= 255:
            raise Unreadable(f"{item} is no byte: bytes are 0 to 255.")
        parts.append(bytes([item]) if isinstance(item, int) else _bytes(item))
    return b"".join(parts)


def _hex_pieces(value: Any, _: Any) -> tuple[bytes, ...]:
    if isinstance(value, str):
        parts = re.split(r"[|,;]|\]\s*\[", value.strip().strip("[]()|,; ")) if re.search(r"\w", value) else []
        if len(parts) == 1:
            groups = _hex_groups(parts[0])
            if len(groups) > 1 and all(len(group) == 2 for group in groups):
                raise Unreadable("Where does one piece end? Put `|` between the pieces.")
            parts = groups
        value = parts
    elif isinstance(value, bytes):
        value = [value]
    elif not isinstance(value, list) or any(isinstance(item, int | float) for item in value):
        raise Unreadable("A list of numbers does not say where one piece ends.")
    pieces = tuple(map(_bytes, value))
    if b"" in pieces:
        raise Unreadable("A piece has at least one byte; one of these is empty.")
    return pieces


def _text_pieces(value: Any, asked: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        if "|" in value:
            value = re.split(r" \| |\|", value)
        elif re.match(r"\s*[\[(].*[\])]\s*$", value):
            value = [item[1:-1] for item in re.findall(r"'[^']*'|\"[^\"]*\"", value)]
        elif value.split() == [value] or (isinstance(asked, str) and asked.split() == [asked]):
            value = value.split()
        else:
            raise Unreadable("Spaces count here, so they cannot separate the pieces.")
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Unreadable("A piece is text, in quotes.")
    if "" in value:
        raise Unreadable("A piece has at least one character; one of these is empty.")
    return tuple(value)


def _text(value: Any, _: Any) -> str:
    if isinstance(value, bytes):
        raise Unreadable("These are bytes; text is asked for, in quotes without the b.")
    if not isinstance(value, str):
        raise Unreadable("Text is asked for, in quotes.")
    return value[1:-1] if re.fullmatch(r"'[^']*'|\"[^\"]*\"|“[^”]*”|«[^»]*»", value, re.S) else value


def _short(text: str, longest: int = 80) -> str:
    return text if len(text) <= longest else text[:longest] + " …"


def _spell_list(items: Iterable[object]) -> str:
    first = list(map(str, itertools.islice(items, 41)))
    return "[" + ", ".join(first[:40]) + (", …]" if len(first) > 40 else "]")


def _spell_bytes(data: bytes) -> str:
    return f'"{_short(data.hex(" "), 300)}"'


def _spell_text(text: str) -> str:
    text = _short(text, 300)
    return f'"{text}"' if text.isprintable() and not re.search(r'["\\]', text) else repr(text)


def _spell_hex_pieces(pieces: tuple[bytes, ...]) -> str:
    if len(pieces) < 2:
        return _spell_list(map(_spell_bytes, pieces))
    return f'"{" | ".join(piece.hex(" ") for piece in pieces[:40])}{" | …" if len(pieces) > 40 else ""}"'


def _spell_text_pieces(pieces: tuple[str, ...]) -> str:
    return _spell_list(map(_spell_text, pieces))


_AS_PIECES = 'the pieces in hex, with `|` between them: `"0a ff | 0b"`, or a list: `["0a ff", "0b"]`'
KINDS: dict[str, Kind] = {
    "ids": Kind("a list of IDs: `[12, 345]`; an empty one: `[]`", _ids, _spell_list),
    "numbers": Kind("a list of numbers: `[3, 12]`", _ids, _spell_list),
    "hex": Kind('bytes in hex, in quotes: `"0a ff"`', _bytes, _spell_bytes),
    "text": Kind('text, in quotes: `"abc"`', _text, _spell_text),
    "number": Kind("one number: `12` or `0.5`", _number, str),
    "position": Kind("one whole number, counted from 0: `3`", _whole, str),
    "hex pieces": Kind(_AS_PIECES, _hex_pieces, _spell_hex_pieces),
    "text pieces": Kind('a list of pieces, each in quotes: `["ab", "c"]`', _text_pieces, _spell_text_pieces),
}
