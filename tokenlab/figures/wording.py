"""How text, bytes and numbers are spelt in pictures and in the sentences of them (all chapters)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from tokenlab.tables import LOOK_ALIKES, printable


def hexed(data: bytes) -> str:
    """Return bytes in hex for a sentence, cut after twelve.

    >>> hexed(b" a"), hexed(b"a" * 13)
    ('20 61', '61 61 61 61 61 61 61 61 61 61 61 61 …')
    """
    return data[:12].hex(" ") + " …" * (len(data) > 12)


def glyph(character: str) -> str:
    """Return a form in which one character can be seen: a space as ␣, a mark on ◌, no glyph as a code point.

    >>> glyph(" "), glyph("а"), glyph("\\n")
    ('␣', 'а', 'U+000A')
    """
    if character == " ":
        return "␣"
    seen = character if printable(character) == character else printable(character)[1:-1]
    return "◌" + seen if len(seen) == 1 and unicodedata.combining(character) else seen


def visible(text: str) -> str:
    """Return a form of text in which its spaces are seen.

    >>> visible("e e\\n")
    'e␣e<U+000A>'
    """
    return printable(text).replace(" ", "␣")


def quotes(text: str, limit: int = 24) -> str:
    """Return text in quotes for a sentence, cut after limit characters.

    >>> quotes("e\\n"), quotes("x" * 30)
    ("'e<U+000A>'", "'xxxxxxxxxxxxxxxxxxxxxxxx…'")
    """
    seen = printable(text[:limit]).replace("  ", "␣␣")  # HTML would show two spaces as one
    if any(unicodedata.bidirectional(character) in ("R", "AL") for character in seen):
        seen = f"\u2068{seen}\u2069"  # keeps right-to-left letters from reordering the numbers beside them
    return f"'{seen}{'…' * (len(text) > limit)}'"


def quoted(text: str, limit: int = 24) -> str:
    """Return text in quotes, with the code points of letters that look like others.

    >>> quoted("e а"), quoted("é"), quoted("перо с рукой")
    ("'e а' (а is U+0430)", "'é' (é is U+00E9)", "'перо с рукой' (Cyrillic letters)")
    """
    alike = [character for character in dict.fromkeys(text[:limit]) if _has_a_double(character)]
    named = ", ".join(f"{glyph(character)} is U+{ord(character):04X}" for character in alike)
    if len(alike) > 4:
        scripts = dict.fromkeys(unicodedata.name(character).split()[0].capitalize() for character in alike)
        named = f"{listed(list(scripts))} letters"
    return quotes(text, limit) + f" ({named})" * bool(named)


def _has_a_double(character: str) -> bool:
    """Tell whether a character looks like a Latin letter that it is not, or may be spelt in two ways."""
    composed = unicodedata.normalize("NFD", character) != character or unicodedata.combining(character)
    return bool(composed) or character in LOOK_ALIKES


def amount(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun.

    >>> amount(1, "byte"), amount(1500, "byte"), amount(0, "ID")
    ('1 byte', '1,500 bytes', '0 IDs')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def listed(items: Sequence[str], limit: int = 10) -> str:
    """Return items as they are read out, cut with a count of what is left.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], limit=2)
    ('a, b and c', 'a, b and 1 more')
    """
    shown = [*items[:limit], *([f"{len(items) - limit:,} more"] if len(items) > limit else [])]
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)
