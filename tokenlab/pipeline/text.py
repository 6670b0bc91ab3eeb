"""Text that remembers where its characters came from (chapters 6 and 6b; Hugging Face's pipeline).

Every normalizer changes text, and every offset must still point into what the user wrote. So the text
carries, for each of its characters, the span of original characters that it stands for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import NamedTuple

from tokenlab.checks import check_text
from tokenlab.errors import GrowthLimitError, LoneSurrogateError

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space; `str.isspace` and `str.strip` count U+001C to U+001F as well."""

MOST_PUT_IN = 1 << 24  # characters that one normalizer may put in, or eight times the text

_ASCII_OR_NOT = re.compile(r"[\x00-\x7F]+|[^\x00-\x7F]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_characters(text: str) -> str:
    """Return the text, which must be a str without halves of UTF-16 pairs."""
    if not check_text(text).isascii() and (found := _SURROGATE.search(text)):
        raise LoneSurrogateError(position=found.start(), code_point=ord(found[0]))
    return text


def check_growth(length: int, put_in: int) -> None:
    """Refuse replacements that a chain of, from a hostile file, would fill the memory with."""
    if put_in > max(MOST_PUT_IN, 8 * length):
        raise GrowthLimitError(length=length, grown=put_in, limit=max(MOST_PUT_IN, 8 * length))


def check_mapped_growth(
    parts: Sequence[str], length: int, mapping: Callable[[str], str], longest: int
) -> None:
    """Refuse the same of a text of `length` characters whose parts are mapped one by one.

    Nothing is counted where it would do no harm if all became as long as the longest one: that of the whole
    mapping, for a character, or that of the parts which are there.
    """
    limit = max(MOST_PUT_IN, 8 * length)
    if length * longest <= limit:
        return
    if not any(len(mapping(part)) * len(parts) > limit for part in set(parts)):
        return
    put_in = 0
    for part, times in Counter(parts).items():
        put_in += times * len(mapping(part))
        check_growth(length, put_in)


class AlignedText(NamedTuple):  # a tuple, since one is made for every piece: three times as quick to make
    """Text as it is now, with the original span of each of its characters.

    Args:
        text: n code points.
        starts, ends: for each of the n characters, where its original span starts and ends (code points).
        origin: where the original of this text starts: what is inserted before everything points here.

    >>> AlignedText.of("né").take("ne\\u0301", [0, 1, 1]).span(2, 3)
    (1, 2)
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    origin: int = 0

    @classmethod
    def of(cls, text: str, origin: int = 0) -> AlignedText:
        """Return text in which every character stands for itself, the first one being number `origin`.

        Raises:
            InvalidArgumentError: what is no str.
            LoneSurrogateError: half of a UTF-16 pair, which UTF-8 cannot hold.
        """
        stop = origin + len(check_characters(text))
        return cls(text, range(origin, stop), range(origin + 1, stop + 1), origin)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original span of the characters from `start` to `end` (exclusive)."""
        if start < end:
            return self.starts[start], self.ends[end - 1]
        here = self.ends[start - 1] if start else self.origin
        return here, here

    def slice(self, start: int, end: int) -> AlignedText:
        """Return the characters from `start` to `end` (exclusive) as a text of their own."""
        return AlignedText(
            self.text[start:end], self.starts[start:end], self.ends[start:end], self.span(start, end)[0]
        )

    def take(self, text: str, first: Sequence[int], last: Sequence[int] | None = None) -> AlignedText:
        """Return new text, each character with the span of the old ones numbered `first` to `last`.

        Args:
            text: n new characters.
            first: for each, the number of an old character, -1 for "before all of them".
            last: the same for where the span ends; by default `first`.
        """
        starts = [self.starts[i] if i >= 0 else self.origin for i in first]
        ends = [self.ends[i] if i >= 0 else self.origin for i in (first if last is None else last)]
        return AlignedText(text, starts, ends, self.origin)


class CharacterTable(dict[int, str]):
    """What each character becomes, computed when first asked for: made for `str.translate`."""

    def __init__(self, mapping: Callable[[str], str]) -> None:
        self.mapping = mapping

    def __missing__(self, code_point: int) -> str:
        self[code_point] = result = self.mapping(chr(code_point))
        return result

    def __call__(self, text: str) -> str:
        """Return the text with each character mapped by itself."""
        return text.translate(self)

    rewrite = __call__  # it is a step of a normalizer, too

    def normalize(self, aligned: AlignedText) -> AlignedText:
        """Map each character by itself; whatever it becomes has its span."""
        text = self(aligned.text)
        if text == aligned.text:
            return aligned
        sources: list[int] = []
        for found in _ASCII_OR_NOT.finditer(aligned.text):
            places = range(*found.span())
            if found[0].isascii() and len(self(found[0])) == len(found[0]):
                sources += places  # no ASCII character becomes several
            else:
                lengths = [len(self[ord(character)]) for character in found[0]]
                sources += chain.from_iterable(map(repeat, places, lengths))
        if len(sources) == len(aligned.text) and sources == list(range(len(sources))):
            return aligned._replace(text=text)
        return aligned.take(text, sources)
