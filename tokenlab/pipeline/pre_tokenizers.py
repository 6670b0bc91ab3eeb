"""Pre-tokenizers: the second stage, text to pieces (chapter 6; component names and fields of tokenizer.json)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.text import AlignedText


class PreTokenizer:
    """The second stage: text to pieces, none of which a token will cross."""

    __slots__ = ()

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        """Return the pieces of the text, none of them empty."""
        raise NotImplementedError

    def split(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        """Return the pieces of the text and, in code points of `text`, the span of each."""
        return [(piece.text, piece.span(0, len(piece.text))) for piece in self.pre_tokenize(AlignedText.of(text))]


@dataclass(frozen=True, slots=True)
class ByteLevel(PreTokenizer):
    """GPT-2's: split by its pattern, then write each byte as a printable character."""

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


@dataclass(frozen=True, slots=True)
class Whitespace(PreTokenizer):
    r"""Keep runs of word characters and runs of other visible ones: `\w+|[^\w\s]+`."""


@dataclass(frozen=True, slots=True)
class WhitespaceSplit(PreTokenizer):
    """Cut at white space and leave it out."""


@dataclass(frozen=True, slots=True)
class Punctuation(PreTokenizer):
    """Cut at each punctuation character."""

    behavior: str = "Isolated"


@dataclass(frozen=True, slots=True)
class Digits(PreTokenizer):
    """Cut numbers from the rest, each digit by itself or in runs."""

    individual_digits: bool = False


@dataclass(frozen=True, slots=True)
class Metaspace(PreTokenizer):
    """SentencePiece's: a space is a visible character, and words begin with it.

    Arguments:
        replacement: the one character that stands for a space.
        prepend_scheme: "first", "always" or "never": whether text that does not begin with it gets one.
        split_words: whether to cut before each one; tokenizer.json says "split", which is a method here.
    """

    replacement: str = "▁"
    prepend_scheme: str = "always"
    split_words: bool = field(default=True, metadata={"json": "split"})


@dataclass(frozen=True, slots=True)
class Split(PreTokenizer):
    """Cut at each match of a pattern.

    Arguments:
        pattern: what to look for.
        behavior: what becomes of a match: "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext" or
            "Contiguous".
        invert: whether what lies between the matches counts as the matches.
    """

    pattern: Pattern
    behavior: str
    invert: bool = False


@dataclass(frozen=True, slots=True)
class BertPreTokenizer(PreTokenizer):
    """Cut at white space, which is left out, and at each punctuation character."""


@dataclass(frozen=True, slots=True)
class Sequence(PreTokenizer):
    """Several pre-tokenizers, each cutting the pieces of the one before."""

    pretokenizers: tuple[PreTokenizer, ...] = ()
