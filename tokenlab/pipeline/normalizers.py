"""Normalizers: the first stage, text to text (chapter 6; component names and fields of tokenizer.json).

A normalizer is called with plain text, or with AlignedText where offsets are wanted. Both say the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.text import AlignedText


class Normalizer:
    """The first stage: text to text."""

    __slots__ = ()

    def normalize(self, aligned: AlignedText) -> AlignedText:
        """Return the normalised text, each character knowing its original span."""
        raise NotImplementedError

    def __call__(self, text: str) -> str:
        """Return the normalised text."""
        return self.normalize(AlignedText.of(text)).text


@dataclass(frozen=True, slots=True)
class NFC(Normalizer):
    """Unicode's canonical composition: e + U+0301 becomes é."""


@dataclass(frozen=True, slots=True)
class NFD(Normalizer):
    """Unicode's canonical decomposition: é becomes e + U+0301."""


@dataclass(frozen=True, slots=True)
class NFKC(Normalizer):
    """Compatibility decomposition, then composition: ﬁ becomes fi."""


@dataclass(frozen=True, slots=True)
class NFKD(Normalizer):
    """Compatibility decomposition: ﬁ becomes fi, é becomes e + U+0301."""


@dataclass(frozen=True, slots=True)
class Lowercase(Normalizer):
    """Each character by its own lower case, without regard to its neighbours (no final sigma)."""


@dataclass(frozen=True, slots=True)
class StripAccents(Normalizer):
    """Leave combining marks out; a precomposed é has none, so NFD usually comes first."""


@dataclass(frozen=True, slots=True)
class Strip(Normalizer):
    """Leave white space out at the two ends."""

    strip_left: bool = True
    strip_right: bool = True


@dataclass(frozen=True, slots=True)
class Prepend(Normalizer):
    """Put a text before every fragment that is not empty."""

    prepend: str = "▁"


@dataclass(frozen=True, slots=True)
class Replace(Normalizer):
    """Put `content` in the place of each match."""

    pattern: Pattern
    content: str


@dataclass(frozen=True, slots=True)
class BertNormalizer(Normalizer):
    """BERT's cleaning: controls out, spaces round Chinese characters, accents out, lower case."""

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True


@dataclass(frozen=True, slots=True)
class Precompiled(Normalizer):
    """SentencePiece's character map: a double-array trie, then the texts it points to.

    Arguments:
        precompiled_charsmap: u32 size of the trie in bytes, the trie (u32 units), NUL-ended UTF-8 texts.
    """

    precompiled_charsmap: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Sequence(Normalizer):
    """Several normalizers, one after the other."""

    normalizers: tuple[Normalizer, ...] = ()
