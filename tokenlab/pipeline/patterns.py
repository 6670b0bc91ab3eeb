r"""Patterns of tokenizer files (chapter 6): what a Split or a Replace looks for.

They come from files and are untrusted: their length is limited, and every search runs against a clock. The
ones of the models in use, known to run in linear time, are spared the clock, and on ASCII text run in the
quicker `re`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tokenlab.errors import PatternError, PatternTimeoutError
from tokenlab.pipeline.chunks import is_known
from tokenlab.pipeline.dialect import to_ascii, translate

LONGEST_PATTERN = 1 << 14  # characters
SECONDS = 2.0  # for each search, and on top of it:
SECONDS_PER_CHARACTER = 1e-5


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a Split or a Replace looks for: a literal text, or a regular expression.

    Args:
        text: the literal, or the regular expression in Oniguruma's dialect.
        regex: which of the two it is; tokenizer.json says {"String": text} or {"Regex": text}.

    Raises:
        PatternError: the expression is too long, malformed, or says what `regex` has no words for.

    >>> Pattern("l+", regex=True).find("hello well")
    [(2, 4), (8, 10)]
    """

    text: str
    regex: bool = False

    def __post_init__(self) -> None:
        if self.regex:
            compiled(self.text)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of the matches in `text`, in code points, from left to right.

        Raises:
            PatternTimeoutError: the search backtracks without end.
        """
        if self.regex or not self.text:
            return find_regex(self.text, text)
        if self.text not in text:
            return []
        return [found.span() for found in re.finditer(re.escape(self.text), text)]


def find_regex(pattern: str, text: str) -> list[tuple[int, int]]:
    """Return the spans of the matches of Oniguruma's `pattern`, within a time that grows with the text.

    As in Oniguruma's binding, no match is found in an empty text, and none that is empty right after
    another one.
    """
    if known := _known(pattern):
        return [found.span() for found in known[text.isascii()].finditer(text)]
    expression = compiled(pattern)
    seconds = SECONDS + SECONDS_PER_CHARACTER * len(text)
    try:
        spans = [found.span() for found in expression.finditer(text, timeout=seconds)]
        if all(start < end for start, end in spans):
            return spans
        return list(_with_empty_matches(expression, text, seconds)) if text else []
    except TimeoutError:
        raise PatternTimeoutError(pattern=pattern, seconds=seconds, length=len(text)) from None


def find_texts(pattern: str, text: str) -> list[str] | None:
    """Return the pieces that a known pattern isolates, or None where it takes `find_regex` to tell."""
    known = _known(pattern)
    pieces: list[str] = known[text.isascii()].findall(text) if known else []
    return pieces if sum(map(len, pieces)) == len(text) else None


@lru_cache(maxsize=64)
def _known(pattern: str) -> tuple[Any, re.Pattern[str]] | None:
    """Return a known pattern's expressions for any text and for ASCII text, None for any other pattern."""
    if not is_known(pattern):
        return None

    def members(escape: str) -> str:
        return "".join(filter(compiled(escape).fullmatch, map(chr, range(128))))

    return compiled(pattern), re.compile(to_ascii(pattern, members), re.ASCII)


def _with_empty_matches(expression: Any, text: str, seconds: float) -> Iterator[tuple[int, int]]:
    position, last = 0, -1
    while position <= len(text) and (found := expression.search(text, position, timeout=seconds)):
        start, end = found.span()
        if start == end == last:
            position += 1
        else:
            yield start, end
            position = last = end


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """Return Oniguruma's pattern as a compiled expression of the package `regex`."""
    import regex

    if len(pattern) > LONGEST_PATTERN:
        reason = f"{len(pattern)} characters long (at most {LONGEST_PATTERN})"
        raise PatternError(pattern=pattern[:40] + "…", reason=reason)
    try:
        return regex.compile("(?-f)" + translate(pattern), regex.VERSION1 | regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError) as error:
        raise PatternError(pattern=pattern, reason=str(error)) from None


def graphemes(text: str) -> list[str]:
    """Return the grapheme clusters of a text: what a reader takes for one character."""
    import regex

    found: list[str] = regex.findall(r"\X", text)
    return found
