"""Pre-tokenizers: the second stage, text to pieces (chapter 6; component names and fields of tokenizer.json).

No token ever crosses the edge of a piece. Pieces know their original spans; empty ones are left out.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from tokenlab.checks import check_choice, contradiction
from tokenlab.pipeline.byte_alphabet import ByteLevelFields, to_byte_alphabet
from tokenlab.pipeline.chunks import WORDS, Chunker, before, chunker_of, is_neutral
from tokenlab.pipeline.dialect import RUST_NOT_WORD, RUST_WORD
from tokenlab.pipeline.normalizers import prepend
from tokenlab.pipeline.patterns import Pattern, find_regex, find_texts
from tokenlab.pipeline.text import WHITE_SPACE, AlignedText, CharacterTable

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
PREPEND_SCHEMES = ("first", "always", "never")

Span = tuple[int, int]


class PreTokenizer:
    """The second stage: text to pieces, none of which a token will cross."""

    __slots__ = ()

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        """Return the pieces of the text, none of them empty."""
        raise NotImplementedError

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of a text that does not begin the input, without their spans."""
        return [piece.text for piece in self.pre_tokenize(AlignedText.of(text, origin=1))]

    def spaced_pieces(self, text: str) -> list[str]:
        """Return the pieces, each with what is left out before it, and what is left out at the end."""
        spaced, start = [], 0
        for piece in self.pieces(text):
            end = text.index(piece, start) + len(piece)
            spaced.append(text[start:end])
            start = end
        return [*spaced, text[start:]] if start < len(text) else spaced

    def parted(self) -> tuple[PreTokenizer, CharacterTable | None]:
        """Return what cuts, and the table by which all pieces are rewritten at the end, if there is one."""
        return self, None

    def chunker(self) -> Chunker | None:
        """Return how text can be cut beforehand without a change to the pieces, None: not at all."""
        return WORDS if isinstance(self, CUT_AT_WHITE_SPACE) else None

    @property
    def looks_at_origin(self) -> bool:
        """Whether text is treated otherwise where the input begins."""
        return False

    @property
    def only_cuts(self) -> bool:
        """Whether pieces of ASCII text are its stretches, not rewritten, all but white space."""
        keeps = getattr(self, "behavior", "Removed") != "Removed"
        return keeps or isinstance(self, (Digits, *CUT_AT_WHITE_SPACE))

    def split(self, text: str) -> list[tuple[str, Span]]:
        """Return the pieces of the text and, in code points of `text`, the span of each."""
        return [
            (piece.text, piece.span(0, len(piece.text))) for piece in self.pre_tokenize(AlignedText.of(text))
        ]


def cut(length: int, matches: Iterable[Span], behavior: str, *, invert: bool = False) -> list[Span]:
    """Return the spans that a text of `length` characters is cut into at the matches (chapter 6).

    Args:
        length: code points of the text.
        matches: spans from left to right, not overlapping.
        behavior: one of BEHAVIORS: what becomes of a match.
        invert: take what lies between the matches for the matches.

    >>> [cut(8, [(0, 1), (1, 2), (4, 5), (5, 6), (7, 8)], behavior) for behavior in BEHAVIORS[2:4]]
    [[(0, 1), (1, 2), (2, 5), (5, 6), (6, 8)], [(0, 1), (1, 4), (4, 5), (5, 7), (7, 8)]]
    """
    parts: list[tuple[int, int, bool]] = []
    done = 0
    for start, end in matches:
        if done < start:
            parts.append((done, start, invert))
        parts.append((start, end, not invert))
        done = end
    if done < length:
        parts.append((done, length, invert))
    if behavior == "Removed":
        return [(start, end) for start, end, is_match in parts if not is_match]
    if behavior == "Isolated":
        return [(start, end) for start, end, _ in parts]
    if behavior == "MergedWithNext":
        parts.reverse()
    spans: list[Span] = []
    previous = False
    for start, end, is_match in parts:
        merges = is_match == previous if behavior == "Contiguous" else is_match and not previous
        if merges and spans:
            spans[-1] = min(start, spans[-1][0]), max(end, spans[-1][1])
        else:
            spans.append((start, end))
        previous = is_match
    return spans[::-1] if behavior == "MergedWithNext" else spans


def _pieces(aligned: AlignedText, spans: Iterable[Span]) -> list[AlignedText]:
    return [aligned.slice(start, end) for start, end in spans if start < end]


# --- By pattern


@dataclass(frozen=True, slots=True)
class Split(PreTokenizer):
    """Cut at each match of a pattern.

    Args:
        pattern: what to look for.
        behavior: what becomes of a match: "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext" or
            "Contiguous".
        invert: whether what lies between the matches counts as the matches.

    >>> [piece for piece, _ in Split(Pattern("-"), "MergedWithPrevious").split("--ab--c-")]
    ['-', '-', 'ab-', '-', 'c-']
    """

    pattern: Pattern
    behavior: str
    invert: bool = False

    def __post_init__(self) -> None:
        check_choice(self, "behavior", BEHAVIORS)

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        matches = self.pattern.find(aligned.text)
        return _pieces(aligned, cut(len(aligned.text), matches, self.behavior, invert=self.invert))

    def pieces(self, text: str) -> list[str]:
        found = find_texts(self.pattern.text, text) if self._isolates else None
        return PreTokenizer.pieces(self, text) if found is None else found

    def chunker(self) -> Chunker | None:
        return chunker_of(self.pattern.text) if self._isolates else None

    @property
    def _isolates(self) -> bool:
        return self.pattern.regex and self.behavior == "Isolated" and not self.invert


@dataclass(frozen=True, slots=True)
class ByteLevel(ByteLevelFields, PreTokenizer):
    """GPT-2's: split by its pattern, then write each byte of UTF-8 as one printable character.

    Args:
        add_prefix_space: put a space before a text that has none there.
        trim_offsets: (for the post-processor of this name) leave white space out of the offsets.
        use_regex: split by GPT-2's pattern; False where another pre-tokenizer has split already.

    >>> ByteLevel(add_prefix_space=False).split("é a")
    [('Ã©', (0, 1)), ('Ġa', (1, 3))]
    """

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        if self.add_prefix_space and not aligned.text.startswith(" "):
            aligned = prepend(aligned, " ")
        pieces = self._cutter.pre_tokenize(aligned)
        return [TO_BYTE_ALPHABET.normalize(piece) for piece in pieces]

    def pieces(self, text: str) -> list[str]:
        if self.add_prefix_space and text and not text.startswith(" "):
            text = " " + text
        return list(map(TO_BYTE_ALPHABET, self._cutter.pieces(text)))

    def parted(self) -> tuple[PreTokenizer, CharacterTable | None]:
        if self.add_prefix_space:
            return self, None
        return self._cutter, TO_BYTE_ALPHABET

    @property
    def _cutter(self) -> PreTokenizer:
        return _gpt2() if self.use_regex else Sequence()

    def chunker(self) -> Chunker | None:
        return WORDS if self.use_regex and not self.add_prefix_space else None


@lru_cache
def _gpt2() -> Split:
    return Split(Pattern(GPT2_PATTERN, regex=True), "Isolated")


TO_BYTE_ALPHABET = CharacterTable(lambda character: to_byte_alphabet(character.encode()))


@dataclass(frozen=True, slots=True)
class Metaspace(PreTokenizer):
    """SentencePiece's: a space is a visible character, and words begin with it.

    Args:
        replacement: the one character that stands for a space.
        prepend_scheme: whether text that does not begin with it gets one: "always", "never", or only the
            "first" fragment of the input. (Older files: add_prefix_space true is "always", false "never".)
        split_words: whether to cut before each one; tokenizer.json says "split", which is a method here.

    >>> Metaspace().split("a  b")
    [('▁a', (0, 1)), ('▁', (1, 2)), ('▁b', (2, 4))]
    """

    replacement: str = "▁"
    prepend_scheme: str = "always"
    split_words: bool = field(default=True, metadata={"json": "split"})

    def __post_init__(self) -> None:
        check_choice(self, "prepend_scheme", PREPEND_SCHEMES)
        if len(self.replacement) != 1:
            raise contradiction(self, "replacement", "one character", repr(self.replacement))

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        mark = self.replacement
        aligned = aligned._replace(text=aligned.text.replace(" ", mark))
        wanted = self.prepend_scheme == "always" or (self.prepend_scheme == "first" and aligned.origin == 0)
        if wanted and not aligned.text.startswith(mark):
            aligned = prepend(aligned, mark)
        if not self.split_words:
            return [aligned] if aligned.text else []
        return _pieces(aligned, cut(len(aligned.text), Pattern(mark).find(aligned.text), "MergedWithNext"))

    def chunker(self) -> Chunker | None:
        return before(" " + self.replacement) if self.split_words else None

    @property
    def looks_at_origin(self) -> bool:
        return self.prepend_scheme == "first"


# --- By kind of character

_VISIBLE = re.compile(f"[^{WHITE_SPACE}]+")
_ASCII_BERT = re.compile(r"[!-/:-@\[-`{-~]|[^\s!-/:-@\[-`{-~]+", re.ASCII)
_SPACED_BERT = re.compile(rf"\s*+(?:{_ASCII_BERT.pattern})|\s+", re.ASCII)
RUST_WORDS = rf"{RUST_WORD}+|{RUST_NOT_WORD[:-1]}\s]+"


def _kind(character: str) -> str:
    """Return N for a number of any kind (also ², ¼, Ⅷ), P for punctuation and ASCII's symbols, else -."""
    kind = "P" if character in string.punctuation else unicodedata.category(character)[0]
    return kind if kind in "NP" else "-"


_KINDS = CharacterTable(_kind)


def _cut_at(aligned: AlignedText, kind: str, behavior: str) -> list[AlignedText]:
    matches = Pattern(kind).find(aligned.text.translate(_KINDS))
    return _pieces(aligned, cut(len(aligned.text), matches, behavior))


@dataclass(frozen=True, slots=True)
class Whitespace(PreTokenizer):
    r"""Keep runs of word characters and runs of other visible ones: `\w+|[^\w\s]+`.

    >>> [piece for piece, _ in Whitespace().split("don't stop!")]
    ['don', "'", 't', 'stop', '!']
    """

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        return _pieces(aligned, find_regex(RUST_WORDS, aligned.text))


@dataclass(frozen=True, slots=True)
class WhitespaceSplit(PreTokenizer):
    """Cut at white space, which is left out."""

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        return _pieces(aligned, [found.span() for found in _VISIBLE.finditer(aligned.text)])

    def pieces(self, text: str) -> list[str]:
        return _VISIBLE.findall(text)


@dataclass(frozen=True, slots=True)
class Punctuation(PreTokenizer):
    """Cut at each punctuation character; `behavior` as in Split."""

    behavior: str = "Isolated"

    def __post_init__(self) -> None:
        check_choice(self, "behavior", BEHAVIORS)

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        return _cut_at(aligned, "P", self.behavior)


@dataclass(frozen=True, slots=True)
class Digits(PreTokenizer):
    """Cut numbers from the rest.

    >>> [piece for piece, _ in Digits().split("a12b")], [piece for piece, _ in Digits(True).split("a12b")]
    (['a', '12', 'b'], ['a', '1', '2', 'b'])
    """

    individual_digits: bool = False

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        return _cut_at(aligned, "N", "Isolated" if self.individual_digits else "Contiguous")


@dataclass(frozen=True, slots=True)
class BertPreTokenizer(PreTokenizer):
    """Cut at white space, which is left out, and at each punctuation character.

    >>> [piece for piece, _ in BertPreTokenizer().split("it's 5$")]
    ['it', "'", 's', '5', '$']
    """

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        words = WhitespaceSplit().pre_tokenize(aligned)
        return [piece for word in words for piece in Punctuation().pre_tokenize(word)]

    def pieces(self, text: str) -> list[str]:
        return _ASCII_BERT.findall(text) if text.isascii() else PreTokenizer.pieces(self, text)

    def spaced_pieces(self, text: str) -> list[str]:
        return _SPACED_BERT.findall(text) if text.isascii() else PreTokenizer.spaced_pieces(self, text)


CUT_AT_WHITE_SPACE = Whitespace, WhitespaceSplit, BertPreTokenizer


@dataclass(frozen=True, slots=True)
class Sequence(PreTokenizer):
    """Several pre-tokenizers, each cutting the pieces of the one before."""

    pretokenizers: tuple[PreTokenizer, ...] = ()

    def pre_tokenize(self, aligned: AlignedText) -> list[AlignedText]:
        pieces = [aligned] if aligned.text else []
        for pre_tokenizer in self.pretokenizers:
            pieces = [part for piece in pieces for part in pre_tokenizer.pre_tokenize(piece)]
        return pieces

    def pieces(self, text: str) -> list[str]:
        pieces = [text] if text else []
        for pre_tokenizer in self.pretokenizers:
            pieces = [part for piece in pieces for part in pre_tokenizer.pieces(piece)]
        return pieces

    def parted(self) -> tuple[PreTokenizer, CharacterTable | None]:
        if not self.pretokenizers:
            return self, None
        *cutters, last = self.pretokenizers
        cutter, table = last.parted()
        if cutter != Sequence():
            cutters.append(cutter)
        return cutters[0] if len(cutters) == 1 else Sequence(tuple(cutters)), table

    def chunker(self) -> Chunker | None:
        """The chunker of the first one that cuts at white space, when those before do no more than cut.

        All later ones see the same pieces then. A pattern that asks for the end of the text finds one more
        wherever an earlier one has cut.
        """
        for place, pre_tokenizer in enumerate(self.pretokenizers):
            if not _is_neutral(pre_tokenizer):
                sees_ends = isinstance(pre_tokenizer, Split) and r"\z" in pre_tokenizer.pattern.text
                if isinstance(pre_tokenizer, Metaspace) or (sees_ends and place):
                    return None
                return pre_tokenizer.chunker()
        return None

    @property
    def looks_at_origin(self) -> bool:
        return any(pre_tokenizer.looks_at_origin for pre_tokenizer in self.pretokenizers)

    @property
    def only_cuts(self) -> bool:
        return all(pre_tokenizer.only_cuts for pre_tokenizer in self.pretokenizers)


def _is_neutral(pre_tokenizer: PreTokenizer) -> bool:
    """Whether a cut at white space changes nothing but the pieces that it cuts."""
    match pre_tokenizer:
        case Split(Pattern(pattern, True), "Isolated", False):
            return is_neutral(pattern)
        case Digits() | Punctuation("Isolated"):
            return True
    return False
