r"""Chunks: stretches of text that encode alike wherever they stand, for a cache to hold (chapter 6).

Splitting by pattern is what takes the time. A cheap cut at white space is several times faster, and where
no piece ever crosses such a cut, and none looks beyond it, a chunk's tokens can be kept. That is so for
patterns made of the branches below, which are those of the models in use; each was checked for it, and each
runs in linear time:

- no match of a branch has a visible character before white space, unless that is \r or \n;
- nothing but (?!\S) looks ahead, and it finds the end of a chunk just as good as the white space there;
- \s*[\r\n]+ comes before \s+(?!\S), so that a piece of white space ends with the last line end in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from tokenlab.pipeline.dialect import branches
from tokenlab.pipeline.text import WHITE_SPACE

_CASED = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]%s[\p{Ll}\p{Lm}\p{Lo}\p{M}]%s"
_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_ORDINARY = {
    *["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"],
    _CONTRACTION,
    "'(?i:[sdmt]|ll|ve|re)",
    r" ?\p{L}+",
    r" ?\p{N}+",
    r"\p{N}",
    r"\p{N}+",
    r"\p{N}{1,3}",
    r"(?>\p{N}{1,3})",
    r"[^\r\n\p{L}\p{N}]?\p{L}+",
    *(_CASED % counts for counts in (("*", "+"), ("+", "*"))),
    *(_CASED % counts + _CONTRACTION + "?" for counts in (("*", "+"), ("+", "*"))),
    r" ?[^\s\p{L}\p{N}]+",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+""",
    "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+",
}
_WITH_LINE_ENDS = {
    r" ?[^\s\p{L}\p{N}]+[\r\n]*",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    " ?[\\p{P}\\p{S}]+[\r\n]*",
}
_LINE_ENDS = {r"\s*[\r\n]+", r"\s*[\r\n]", "\\s*[\r\n]+"}
_SPACES = {r"\s+", r"\s"}
_AT_AN_END = {r"\s+(?!\S)", r"\s+\z"}
_KNOWN = _ORDINARY | _WITH_LINE_ENDS | _LINE_ENDS | _SPACES | _AT_AN_END


class Chunker(NamedTuple):
    """How to cut text into chunks.

    Most texts need no pattern to be cut: a few replacements put a NUL at each cut, and `split` does the rest,
    which is quicker.
    """

    chunk: re.Pattern[str]
    ascii_chunk: re.Pattern[str]  # the same on ASCII text, and quicker
    edge: re.Pattern[str]  # where a chunk surely begins
    opening: str  # the characters that begin a chunk, unless one before them ends in a line end
    marks: tuple[tuple[str, str], ...]  # what to replace, one after the other, by what
    unmarked: tuple[str, ...]  # a text that holds one of these, or ends as chunks begin, takes the pattern

    def cut(self, text: str) -> list[str]:
        """Return the chunks of a text; joined, they are the text."""
        return list(chain.from_iterable(map(self._cut, self._stretches(text, 1 << 14))))

    def blocks(self, text: str, size: int = 1 << 16) -> Iterator[list[str]]:
        """Yield the chunks of a text, about `size` characters at a time; joined, they are the text."""
        return map(self.cut, self._stretches(text, size))

    def _stretches(self, text: str, size: int) -> Iterator[str]:
        start = 0
        while start < len(text):
            found = self.edge.search(text, start + size)
            end = found.start() if found else len(text)
            yield text[start:end]
            start = end

    def _cut(self, text: str) -> list[str]:
        # To look for one character first is quicker: most are not there at all.
        if text[-1] in self.opening or any(odd[-1] in text and odd in text for odd in self.unmarked):
            return (self.ascii_chunk if text.isascii() else self.chunk).findall(text)
        for old, new in self.marks:
            if old.strip("\0") in text:
                text = text.replace(old, new)
        return text.removeprefix("\0").split("\0")


def _chunker(form: str, marks: tuple[tuple[str, str], ...], *unmarked: str) -> Chunker:
    everywhere = form.replace(r"\S", f"[^{WHITE_SPACE}]").replace(r"\s", f"[{WHITE_SPACE}]")
    edge = re.compile(rf"(?<=[^{WHITE_SPACE}])(?![\r\n])[{WHITE_SPACE}]")
    odd = ("\0", *sorted({*WHITE_SPACE, *"\x1c\x1d\x1e\x1f"} - set(" \t\r\n")), *unmarked)
    return Chunker(re.compile(everywhere), re.compile(form, re.ASCII), edge, WHITE_SPACE, marks, odd)


def _marks_before(characters: str) -> tuple[tuple[str, str], ...]:
    return (*((each, "\0" + each) for each in characters), *((each + "\0", each) for each in characters))


WORDS = _chunker(r"\s*+\S++|\s+", _marks_before(" \t\r\n"))
"""A chunk is the visible characters up to white space, and the white space before them."""
LINES = _chunker(
    r"\s*+\S++(?:[\r\n]++/\S*+)*+(?:[\r\n]++(?:\s*(?:[\r\n]|\Z))?)?+|\s+",
    (("\n", "\n\0"), *_marks_before(" \t"), ("\0\n", "\n"), ("\0\r", "\r"), ("\0\0", "\0")),
    *(" \n", "\t\n", " \r", "\t\r", "\n/"),
)
"""The same, but line ends, up to the last of them, belong to the visible character before them."""


def before(characters: str) -> Chunker:
    """Return the chunker that cuts before each run of certain characters."""
    inside, outside = f"[{re.escape(characters)}]", f"[^{re.escape(characters)}]"
    chunk = re.compile(f"{inside}*{outside}++|{inside}+")
    edge = re.compile(f"(?<={outside}){inside}")
    return Chunker(chunk, chunk, edge, characters, _marks_before(characters), ("\0",))


@lru_cache(maxsize=256)
def is_known(pattern: str) -> bool:
    """Whether every branch of a pattern is one of those known here."""
    return _KNOWN.issuperset(branches(pattern))


@lru_cache(maxsize=256)
def chunker_of(pattern: str) -> Chunker | None:
    """Return how to cut text so that a pattern finds the same pieces in each chunk; None: not known."""
    found = branches(pattern)
    if not is_known(pattern) or _SPACES.isdisjoint(found):
        return None
    line_ends = [place for place, branch in enumerate(found) if branch in _LINE_ENDS]
    runs = [place for place, branch in enumerate(found) if branch in _SPACES or branch == r"\s+(?!\S)"]
    if line_ends:
        return LINES if line_ends[0] < runs[0] else None
    return WORDS if _WITH_LINE_ENDS.isdisjoint(found) else None


@lru_cache(maxsize=256)
def is_neutral(pattern: str) -> bool:
    """Whether a cut at white space changes nothing but the pieces that it cuts."""
    return _ORDINARY.issuperset(branches(pattern))
