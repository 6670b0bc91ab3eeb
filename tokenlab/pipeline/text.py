"""Text that remembers where each of its characters came from (chapters 6 and 6b; Hugging Face's pipeline).

Every normalizer changes text, and every offset must still point into what the user wrote. So the text carries,
for each of its characters, the span of original characters that it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tokenlab.errors import LoneSurrogateError

WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""Unicode's White_Space, as the inside of a character class: `str.isspace` counts U+001C to U+001F as well."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_encodable(text: str) -> None:
    """Raise LoneSurrogateError where `text` holds half of a UTF-16 pair, which UTF-8 cannot hold."""
    if not text.isascii() and (found := _SURROGATE.search(text)):
        raise LoneSurrogateError(position=found.start(), code_point=ord(found[0]))


@dataclass(frozen=True, slots=True, eq=False)
class AlignedText:
    """Text as it is now, with the original span of each of its characters.

    Arguments:
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
        """Return text in which every character stands for itself, the first one being number `origin`."""
        stop = origin + len(text)
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

        Arguments:
            text: n new characters.
            first: for each, the number of an old character, -1 for "before all of them".
            last: the same for where the span ends; by default `first`.
        """
        starts = [self.starts[i] if i >= 0 else self.origin for i in first]
        ends = [self.ends[i] if i >= 0 else self.origin for i in (first if last is None else last)]
        return AlignedText(text, starts, ends, self.origin)
