"""Normalizers: the first stage, text to text (chapter 6; component names and fields of tokenizer.json).

A normalizer is called with plain text, or, where offsets are wanted, with AlignedText. Both say the same.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, repeat
from typing import Protocol

from tokenlab.pipeline.character_map import CharacterMap
from tokenlab.pipeline.patterns import Pattern, compiled
from tokenlab.pipeline.text import WHITE_SPACE, AlignedText, CharacterTable, check_characters, check_growth

_LONGEST_RUN = 500  # combining marks in a row; Python takes time quadratic in them


class Normalizer(Protocol):
    """The first stage: text to text."""

    __slots__ = ()

    def normalize(self, aligned: AlignedText) -> AlignedText:
        """Return the normalised text, each character knowing its original span."""
        raise NotImplementedError

    def __call__(self, text: str) -> str:
        """Return the normalised text.

        Raises:
            LoneSurrogateError: half of a UTF-16 pair, with its position.
        """
        return self.rewrite(check_characters(text))

    def rewrite(self, text: str) -> str:
        """Return the normalised text of one that is known to hold no half pairs."""
        return self.normalize(AlignedText.of(text)).text


# --- Unicode's normal forms


@dataclass(frozen=True, slots=True)
class _NormalForm(Normalizer):
    def rewrite(self, text: str) -> str:
        if len(text) > _LONGEST_RUN and compiled(rf"\p{{M}}{{{_LONGEST_RUN}}}").search(text):
            return Normalizer.rewrite(self, text)
        return unicodedata.normalize(type(self).__name__, text)  # type: ignore[arg-type]

    def normalize(self, aligned: AlignedText) -> AlignedText:
        form = type(self).__name__
        if unicodedata.is_normalized(form, aligned.text):  # type: ignore[arg-type]
            return aligned
        parts: list[str] = []
        first: list[int] = []
        last: list[int] = []
        old = 0
        for found in _SEGMENT.finditer(aligned.text):
            plain, segment = found.groups()
            parts.append(plain)
            first += range(old, old + len(plain))
            last += range(old, old + len(plain))
            old += len(plain)
            characters = _decompose(segment, form.replace("C", "D"))
            for character, consumed in _compose(characters) if form.endswith("C") else characters:
                parts.append(character)
                first.append(old if consumed else old - 1)
                old += consumed
                last.append(old - 1)
        return aligned.take("".join(parts), first, last)


# ASCII that nothing touches; then an ASCII character with marks on it, perhaps, and all up to the next ASCII.
_SEGMENT = re.compile(r"((?:[\x00-\x7F](?![^\x00-\x7F]))*)([\x00-\x7F]?[^\x00-\x7F]*)")


def _decompose(text: str, form: str) -> list[tuple[str, int]]:
    """Return the decomposed characters in canonical order; each consumes 0 or 1 of the old ones."""
    table = _DECOMPOSITIONS[form]
    characters = [(part, int(i == 0)) for character in text for i, part in enumerate(table[ord(character)])]
    classes = [unicodedata.combining(character) for character, _ in characters]
    start = 0
    for end in [i for i, order in enumerate(classes) if order == 0] + [len(classes)]:
        if end - start > 1:  # the marks between two starters: by their class, otherwise as they came
            order = sorted(range(start, end), key=classes.__getitem__)
            characters[start:end] = [characters[i] for i in order]
        start = end + 1
    return characters


def _compose(characters: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Join each starter with the marks after it that are not blocked, and what they consume."""
    composed: list[tuple[str, int]] = []
    starter, blocking = -1, -1  # where the last starter is; the combining class of what stands after it
    for character, consumed in characters:
        order = unicodedata.combining(character)
        if starter >= 0 and blocking < order:
            pair = unicodedata.normalize("NFC", composed[starter][0] + character)
            if len(pair) == 1:
                composed[starter] = pair, composed[starter][1] + consumed
                continue
        composed.append((character, consumed))
        if order == 0:
            starter, blocking = len(composed) - 1, -1
        else:
            blocking = order
    return composed


class NFC(_NormalForm):
    """Unicode's canonical composition: e + U+0301 becomes é, which covers both (Hugging Face: only the e)."""

    __slots__ = ()


class NFD(_NormalForm):
    """Unicode's canonical decomposition: é becomes e + U+0301."""

    __slots__ = ()


class NFKC(_NormalForm):
    """Compatibility decomposition, then composition: ﬁ becomes fi."""

    __slots__ = ()


class NFKD(_NormalForm):
    """Compatibility decomposition: ﬁ becomes fi, é becomes e + U+0301."""

    __slots__ = ()


# --- Characters one by one

_DECOMPOSITIONS = {
    "NFD": CharacterTable(lambda character: unicodedata.normalize("NFD", character)),
    "NFKD": CharacterTable(lambda character: unicodedata.normalize("NFKD", character)),
}
_LOWER = CharacterTable(str.lower)
_WITHOUT_MARKS = CharacterTable(lambda c: "" if unicodedata.category(c)[0] == "M" else c)
_WITHOUT_NONSPACING_MARKS = CharacterTable(lambda c: "" if unicodedata.category(c) == "Mn" else c)


@dataclass(frozen=True, slots=True)
class Lowercase(Normalizer):
    """Each character by its own lower case, without regard to its neighbours (so no final sigma)."""

    def normalize(self, aligned: AlignedText) -> AlignedText:
        return _LOWER.normalize(aligned)

    def rewrite(self, text: str) -> str:
        return _LOWER(text) if "Σ" in text else text.lower()


@dataclass(frozen=True, slots=True)
class StripAccents(Normalizer):
    """Leave combining marks out; a precomposed é has none, so NFD usually comes first."""

    def normalize(self, aligned: AlignedText) -> AlignedText:
        return _WITHOUT_MARKS.normalize(aligned)

    def rewrite(self, text: str) -> str:
        return _WITHOUT_MARKS(text)


def _clean(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if character in "\0\ufffd" or unicodedata.category(character)[0] == "C":
        return ""
    return " " if character in WHITE_SPACE else character


# The fifth CJK extension begins at U+2B820; BERT's list, and so every vocabulary made with it, says U+2B920.
_CHINESE = re.compile(
    "[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f]"
)
_CLEAN = CharacterTable(_clean)
_CHINESE_APART = CharacterTable(lambda c: f" {c} " if _CHINESE.match(c) else c)


@dataclass(frozen=True, slots=True)
class BertNormalizer(Normalizer):
    """BERT's cleaning.

    Args:
        clean_text: leave control characters out, and write every white space as a space.
        handle_chinese_chars: put a space on each side of every Chinese character.
        strip_accents: decompose and leave nonspacing marks out; None: as `lowercase` says.
        lowercase: write in lower case.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    def normalize(self, aligned: AlignedText) -> AlignedText:
        steps, table = _bert_steps(self)
        mapped = table.normalize(aligned)
        return mapped if self._is_done(mapped.text) else steps.normalize(aligned)

    def rewrite(self, text: str) -> str:
        steps, table = _bert_steps(self)
        mapped = table(text)
        return mapped if self._is_done(mapped) else steps(text)

    @property
    def _strips(self) -> bool:
        return self.lowercase if self.strip_accents is None else self.strip_accents

    def _is_done(self, mapped: str) -> bool:
        """Whether no marks are left whose order decomposing may have changed."""
        return not self._strips or not any(map(unicodedata.combining, set(mapped)))


@lru_cache(maxsize=16)
def _bert_steps(bert: BertNormalizer) -> tuple[Sequence, CharacterTable]:
    """Return the steps, and what each character becomes by itself in all of them."""
    steps: list[tuple[bool, tuple[Normalizer, ...]]] = [
        (bert.clean_text, (_CLEAN,)),
        (bert.handle_chinese_chars, (_CHINESE_APART,)),
        (bert._strips, (NFD(), _WITHOUT_NONSPACING_MARKS)),
        (bert.lowercase, (_LOWER,)),
    ]
    chosen = Sequence(tuple(step for is_on, group in steps if is_on for step in group))
    return chosen, CharacterTable(chosen)


# --- Strings


@dataclass(frozen=True, slots=True)
class Strip(Normalizer):
    """Leave white space out at the two ends."""

    strip_left: bool = True
    strip_right: bool = True

    def normalize(self, aligned: AlignedText) -> AlignedText:
        start, end = 0, len(aligned.text)
        if self.strip_left:
            start = end - len(aligned.text.lstrip(WHITE_SPACE))
        if self.strip_right:
            end = max(start, len(aligned.text.rstrip(WHITE_SPACE)))
        return aligned.slice(start, end)._replace(origin=aligned.origin)


@dataclass(frozen=True, slots=True)
class Prepend(Normalizer):
    """Put a text before every fragment that is not empty, with the span of its first character."""

    prepend: str = "▁"

    def normalize(self, aligned: AlignedText) -> AlignedText:
        return prepend(aligned, self.prepend)

    def rewrite(self, text: str) -> str:
        return self.prepend + text if text else text


def prepend(aligned: AlignedText, addition: str) -> AlignedText:
    """Return the text with an addition before it, unless there is none to add to."""
    if not aligned.text:
        return aligned
    starts, ends = ([column[0]] * len(addition) + list(column) for column in (aligned.starts, aligned.ends))
    return AlignedText(addition + aligned.text, starts, ends, aligned.origin)


@dataclass(frozen=True, slots=True)
class Replace(Normalizer):
    """Put `content` in the place of each match; it has the span of the last character it replaces."""

    pattern: Pattern
    content: str

    def normalize(self, aligned: AlignedText) -> AlignedText:
        matches = self.pattern.find(aligned.text)
        if not matches:
            return aligned
        check_growth(len(aligned.text), len(matches) * len(self.content))
        parts: list[str] = []
        sources: list[int] = []
        done = 0
        for start, end in matches:
            parts += aligned.text[done:start], self.content
            sources += chain(range(done, start), repeat(end - 1, len(self.content)))
            done = end
        sources += range(done, len(aligned.text))
        return aligned.take("".join(parts) + aligned.text[done:], sources)

    def rewrite(self, text: str) -> str:
        if self.pattern.regex or not self.pattern.text:
            return self.normalize(AlignedText.of(text)).text
        check_growth(len(text), text.count(self.pattern.text) * len(self.content))
        return text.replace(self.pattern.text, self.content)


_character_map = lru_cache(maxsize=16)(CharacterMap)


@dataclass(frozen=True, slots=True)
class Precompiled(Normalizer):
    """SentencePiece's character map: a double-array trie, then the texts it points to.

    A grapheme of fewer than 6 bytes is looked up as a whole, and where it *begins* with something that the
    map knows, all of it is replaced (so "ﬁ" + U+0301 loses its accent); any other is looked up character by
    character. That is what the models of this kind were used with.

    Args:
        precompiled_charsmap: u32 size of the trie in bytes, the trie (u32 units), NUL-ended UTF-8 texts.
    """

    precompiled_charsmap: bytes = field(repr=False)

    def __post_init__(self) -> None:
        _character_map(self.precompiled_charsmap)

    def normalize(self, aligned: AlignedText) -> AlignedText:
        return _character_map(self.precompiled_charsmap).normalize(aligned)

    def rewrite(self, text: str) -> str:
        return _character_map(self.precompiled_charsmap)(text)


@dataclass(frozen=True, slots=True)
class Sequence(Normalizer):
    """Several normalizers, one after the other."""

    normalizers: tuple[Normalizer, ...] = ()

    def normalize(self, aligned: AlignedText) -> AlignedText:
        for normalizer in self.normalizers:
            aligned = normalizer.normalize(aligned)
        return aligned

    def rewrite(self, text: str) -> str:
        for normalizer in self.normalizers:
            text = normalizer.rewrite(text)
        return text
