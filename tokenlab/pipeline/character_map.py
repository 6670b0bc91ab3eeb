"""SentencePiece's precompiled character map (chapter 6; the darts-clone double array inside it).

A double array is a trie in one array of 32-bit units: from a node, byte b leads to the unit at (node XOR
b), if that unit's label says b. The map is untrusted: every step is checked against the array's length.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from functools import lru_cache

from tokenlab.errors import CharacterMapError
from tokenlab.pipeline.patterns import graphemes
from tokenlab.pipeline.text import AlignedText, CharacterTable, check_mapped_growth

_LONGEST_GRAPHEME = 5  # bytes: a longer one is looked up character by character


class CharacterMap:
    """The map, read from bytes: which texts it knows, and what each becomes.

    Raises:
        CharacterMapError: no room for the trie, or a step that leads out of it.
    """

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:4], "little")
        if len(data) < 8 or size < 4 or size % 4 or size > len(data) - 4:
            raise CharacterMapError(
                offset=0, expected=f"a trie of 4 to {len(data) - 4} bytes", found=str(size)
            )
        self._units = array("I", data[4 : 4 + size])
        if sys.byteorder == "big":
            self._units.byteswap()
        self._texts = data[4 + size :]
        self._longest = max(map(len, self._texts.decode(errors="replace").split("\0")))
        self._replacement = lru_cache(1 << 14)(self._map_grapheme)
        self._ascii = CharacterTable(lambda character: self._replacement(character)[0])

    def lookup(self, text: str) -> str | None:
        """Return what the shortest known beginning of `text` becomes, None where none is known."""
        node = _offset(self._unit(0))
        for byte in text.encode():
            if not byte:
                return None
            node ^= byte
            unit = self._unit(node)
            if unit & 0x800000FF != byte:
                return None
            node ^= _offset(unit)
            if unit >> 8 & 1:
                return self._text(self._unit(node) & 0x7FFFFFFF)
        return None

    def normalize(self, aligned: AlignedText) -> AlignedText:
        """Map each grapheme, or else its characters; in both, new character i has the span of old one i.

        Where there are more new characters than old ones, the rest have the span of the last old one.
        """
        parts: list[str] = []
        sources: list[int] = []
        start = 0
        found = graphemes(aligned.text)
        self._check_growth(found, len(aligned.text))
        for grapheme in found:
            new, places = self._replacement(grapheme)
            parts.append(new)
            sources += [start + place for place in places]
            start += len(grapheme)
        text = "".join(parts)
        return aligned if text == aligned.text else aligned.take(text, sources)

    def __call__(self, text: str) -> str:
        """Return the mapped text."""
        if text.isascii() and "\r\n" not in text:  # the one grapheme of two ASCII characters
            self._check_growth(text, len(text))
            return text.translate(self._ascii)
        found = graphemes(text)
        self._check_growth(found, len(text))
        return "".join([self._replacement(grapheme)[0] for grapheme in found])

    def _check_growth(self, parts: Sequence[str], length: int) -> None:
        check_mapped_growth(parts, length, lambda part: self._replacement(part)[0], self._longest)

    def _map_grapheme(self, grapheme: str) -> tuple[str, list[int]]:
        whole = self.lookup(grapheme) if len(grapheme.encode()) <= _LONGEST_GRAPHEME else None
        if whole is not None:
            return whole, [min(i, len(grapheme) - 1) for i in range(len(whole))]
        check_mapped_growth(grapheme, len(grapheme), lambda c: self.lookup(c) or "", self._longest)
        parts = [self.lookup(character) for character in grapheme]
        new = [old if part is None else part for old, part in zip(grapheme, parts, strict=True)]
        return "".join(new), [place for place, part in enumerate(new) for _ in part]

    def _unit(self, node: int) -> int:
        if node >= len(self._units):
            raise CharacterMapError(
                offset=4 + 4 * node, expected=f"a trie unit below {len(self._units)}", found=str(node)
            )
        return self._units[node]

    def _text(self, start: int) -> str:
        end = self._texts.find(b"\0", start)
        try:
            if end < 0:
                raise ValueError
            return self._texts[start:end].decode()
        except ValueError:
            found = self._texts[start : start + 16]
            raise CharacterMapError(
                offset=start, expected="UTF-8 text ended by NUL", found=repr(found)
            ) from None


def _offset(unit: int) -> int:
    return unit >> 10 << ((unit & 0x200) >> 6)
