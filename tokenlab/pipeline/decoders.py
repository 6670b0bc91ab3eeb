"""Decoders: tokens back to text, whole or as a stream (chapter 6).

Component names and fields are those of tokenizer.json; follows the published walk through the pipeline, which
calls decoding the inverse of the main line: IDs to tokens, special ones left out, then the chain of decoders.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Sequence_
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from tokenlab.checks import check_choice, check_token_ids
from tokenlab.errors import UnknownTokenIdError
from tokenlab.pipeline import normalizers
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.byte_alphabet import ByteLevelFields, byte_of, from_byte_alphabet, to_byte_alphabet
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.pre_tokenizers import PREPEND_SCHEMES
from tokenlab.pipeline.text import check_characters

UNDECODABLE = "\ufffd"


class Decoder:
    """Tokens back to text."""

    __slots__ = ()

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Return tokens nearer to text; joined without anything between them, they are the text so far."""
        raise NotImplementedError

    def decode(self, tokens: Sequence_[str]) -> str:
        """Return the text of n tokens."""
        return "".join(self.decode_chain(list(tokens)))

    def as_written(self, content: str) -> str:
        """Return what to give the decoder for an added token, so that its content comes out unchanged."""
        return content


@dataclass(frozen=True, slots=True)
class ByteLevel(ByteLevelFields, Decoder):
    """The byte alphabet back to bytes, and these to text; U+FFFD for each maximal part that is no UTF-8.

    A token with a character that is not of the alphabet counts as text already. The three fields have no
    meaning here; the three components named ByteLevel share them.

    >>> ByteLevel().decode(["Ã", "©", "Ġa", "âĤ"])
    'é a\ufffd'
    """

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Return one text."""
        found = [(from_byte_alphabet(token), token) for token in tokens]
        parts = (check_characters(token).encode() if piece is None else piece for piece, token in found)
        data = b"".join(parts)
        return [data.decode(errors="replace")]

    def as_written(self, content: str) -> str:
        """Return the content in the byte alphabet: é is a letter of it, and would come out as a byte."""
        return to_byte_alphabet(content.encode())


@dataclass(frozen=True, slots=True)
class ByteFallback(Decoder):
    """Tokens like <0xC3> back to characters; when a run of them is no UTF-8, U+FFFD for each one.

    >>> ByteFallback().decode(["<0xC3>", "<0xA9>", "a", "<0xC3>", "<0x28>"])
    'éa\ufffd\ufffd'
    """

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Return the tokens, each run of byte tokens as its characters."""
        result: list[str] = []
        for is_byte, run in groupby(tokens, key=lambda token: byte_of(token) is not None):
            if not is_byte:
                result += run
                continue
            data = bytes(byte for token in run if (byte := byte_of(token)) is not None)
            try:
                result.append(data.decode())
            except UnicodeDecodeError:
                result += UNDECODABLE * len(data)
        return result


@dataclass(frozen=True, slots=True)
class Metaspace(Decoder):
    """The visible space back to a space; in the first token it goes, unless the scheme puts none there.

    Args:
        replacement: the one character that stands for a space.
        prepend_scheme: "first", "always" or "never".
        split: no meaning here; shared with the pre-tokenizer of this name.
    """

    replacement: str = "▁"
    prepend_scheme: str = "always"
    split: bool = True

    def __post_init__(self) -> None:
        check_choice(self, "prepend_scheme", PREPEND_SCHEMES)

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Return the tokens with spaces."""
        first = " " if self.prepend_scheme == "never" else ""
        return [token.replace(self.replacement, " " if i else first) for i, token in enumerate(tokens)]


CLEANUP = {
    **{f" {mark}": mark for mark in ".?!,"},
    " ' ": "'",
    **{f" {ending}": ending for ending in ("n't", "'m", "'s", "'ve", "'re")},
}


def clean_up_spaces(text: str) -> str:
    """Take out the spaces before punctuation and in English contractions, as the field does after decoding.

    >>> clean_up_spaces("I 'm here , you are n't !")
    "I'm here, you aren't!"
    """
    for dirty, clean in CLEANUP.items():
        text = text.replace(dirty, clean)
    return text


@dataclass(frozen=True, slots=True)
class WordPiece(Decoder):
    """Pieces of words back to words with spaces between them.

    Args:
        prefix: what marks a piece that continues a word.
        cleanup: whether spaces before punctuation and in English contractions go again, token by token.

    >>> WordPiece().decode(["token", "##iz", "##er", "!"])
    'tokenizer!'
    """

    prefix: str = "##"
    cleanup: bool = True

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Return the tokens, each with the space that belongs before it."""
        result = []
        for index, token in enumerate(tokens):
            if index:
                token = token.removeprefix(self.prefix) if token.startswith(self.prefix) else " " + token
            if self.cleanup:
                token = clean_up_spaces(token).replace(" do not", " don't")
            result.append(token)
        return result


@dataclass(frozen=True, slots=True)
class BPEDecoder(Decoder):
    """The mark at the end of a word back to a space; after the last word it goes.

    >>> BPEDecoder().decode(["a", "b</w>", "c</w>"])
    'ab c'
    """

    suffix: str = "</w>"

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Return the tokens with spaces."""
        last = len(tokens) - 1
        return [token.replace(self.suffix, "" if i == last else " ") for i, token in enumerate(tokens)]


@dataclass(frozen=True, slots=True)
class Fuse(Decoder):
    """All tokens as one, so that what follows sees the whole text."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Return one text."""
        return ["".join(tokens)]


@dataclass(frozen=True, slots=True)
class Replace(Decoder):
    """Put `content` in the place of each match, token by token."""

    pattern: Pattern
    content: str

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Return the changed tokens."""
        return list(map(normalizers.Replace(self.pattern, self.content), tokens))


@dataclass(frozen=True, slots=True)
class Strip(Decoder):
    """Take a character off both ends of each token.

    Args:
        content: the one character.
        start, stop: how many of it at most, at the beginning and at the end.

    >>> Strip(" ", 1, 0).decode(["  a ", " b"])
    ' a b'
    """

    content: str = " "
    start: int = 0
    stop: int = 0

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Return the shortened tokens."""
        return [self._strip(token) for token in tokens]

    def _strip(self, token: str) -> str:
        leading = len(token) - len(token.lstrip(self.content))
        token = token[min(leading, self.start) :]
        trailing = len(token) - len(token.rstrip(self.content))
        return token[: len(token) - min(trailing, self.stop)]


@dataclass(frozen=True, slots=True)
class Sequence(Decoder):
    """Several decoders, one after the other."""

    decoders: tuple[Decoder, ...] = ()

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Return the tokens after the last of them."""
        for decoder in self.decoders:
            tokens = decoder.decode_chain(tokens)
        return tokens

    def as_written(self, content: str) -> str:
        """Return the content as the decoders want it."""
        for decoder in reversed(self.decoders):
            content = decoder.as_written(content)
        return content


Unknown = Literal["error", "skip"]
"""What to do with an ID that no token has."""


@dataclass(frozen=True, slots=True)
class IdDecoder:
    """From IDs to text: which token each ID is, and the decoder that reads them.

    Args:
        vocabulary: the model's tokens by ID.
        added: the added tokens by ID; they are asked first.
        decoder: None joins the tokens with spaces.

    >>> IdDecoder({0: "a", 1: "b"}, {9: AddedToken(9, "<s>", special=True)}, Fuse()).decode([9, 0, 1])
    'ab'
    """

    vocabulary: Mapping[int, str]
    added: Mapping[int, AddedToken]
    decoder: Decoder | None

    def tokens(
        self, ids: Iterable[int], skip_special_tokens: bool, unknown_ids: Unknown = "error", position: int = 0
    ) -> list[str]:
        """Return the tokens that the decoder is to read.

        Args:
            ids: token IDs.
            skip_special_tokens: whether to leave out added tokens that are special.
            unknown_ids: what to do with an ID that no token has.
            position: where `ids` begins, for errors.

        Raises:
            UnknownTokenIdError: for an ID that no token has.
        """
        result = []
        for place, token_id in enumerate(check_token_ids(ids), position):
            added = self.added.get(token_id)
            if added is not None:
                if not (added.special and skip_special_tokens):
                    result.append(self.decoder.as_written(added.content) if self.decoder else added.content)
            elif (token := self.vocabulary.get(token_id)) is not None:
                result.append(token)
            elif unknown_ids != "skip":
                detail = f"position {place}: no token has ID {token_id}"
                raise UnknownTokenIdError(detail, position=place, token_id=token_id)
        return result

    def decode(
        self, ids: Iterable[int], *, skip_special_tokens: bool = True, unknown_ids: Unknown = "error"
    ) -> str:
        """Return the text of IDs; see `tokens` for the arguments and errors."""
        return self.text(self.tokens(ids, skip_special_tokens, unknown_ids))

    def text(self, tokens: Sequence_[str]) -> str:
        """Return the text of tokens; without a decoder, the tokens with spaces between them."""
        return " ".join(tokens) if self.decoder is None else self.decoder.decode(tokens)


_LONGEST_WINDOW = 64
"""Tokens that a stream looks back on at most; an unfinished character needs 4 of them."""


@dataclass(slots=True)
class DecodeStream:
    """Decoding one ID at a time: text comes as soon as it ends with a whole character.

    What `push` and at last `flush` give is, joined, what decoding all the IDs at once gives. (Not where bytes
    of ByteFallback follow a whole character and prove bad: decoding at once marks that character bad, too.)

    Args:
        source: from IDs to tokens, and the decoder.
        skip_special_tokens: whether to leave out added tokens that are special.

    >>> stream = DecodeStream(IdDecoder({0: "k", 1: "Ã", 2: "©"}, {}, ByteLevel()))
    >>> [stream.push(token_id) for token_id in (0, 1, 2, 1)], stream.flush()
    (['k', None, 'é', None], '\ufffd')
    """

    source: IdDecoder
    skip_special_tokens: bool = True
    position: int = field(default=0, init=False)
    _context: list[str] = field(default_factory=list, init=False)
    _fresh: list[str] = field(default_factory=list, init=False)
    _given: str = field(default="", init=False)

    def push(self, token_id: int) -> str | None:
        """Return the text that the next ID completes, or None when it completes none.

        Raises:
            UnknownTokenIdError: for an ID that no token has; the stream goes on as if it had not come.
        """
        tokens = self.source.tokens([token_id], self.skip_special_tokens, position=self.position)
        self.position += 1
        if not tokens:
            return None
        self._fresh += tokens
        text = self._text()
        # An unfinished character shows as one U+FFFD, or with ByteFallback as one for each of 1 to 3 bytes.
        unfinished = min(3, len(text) - len(text.rstrip(UNDECODABLE)))
        if unfinished and len(self._context) + len(self._fresh) <= _LONGEST_WINDOW:
            return None
        complete = text[: len(text) - unfinished]
        chunk = complete[len(self._given) :]
        # A decoder treats the first token of a text differently, so what was given last stays before it.
        tokens = (self._context + self._fresh)[-_LONGEST_WINDOW // 2 :] if unfinished else self._fresh
        self._look_back(tokens, unfinished)
        return chunk or None

    def flush(self) -> str:
        """Return the rest, with U+FFFD for what stayed unfinished; the stream is then as new."""
        rest = self._text()[len(self._given) :]
        self._context, self._fresh, self._given, self.position = [], [], "", 0
        return rest

    def _text(self) -> str:
        text = self.source.text(self._context + self._fresh)
        if not text.startswith(self._given):
            # The bytes of a character given before have become part of a bad run: go on without them.
            self._context, self._given = [], ""
            text = self.source.text(self._fresh)
        return text

    def _look_back(self, tokens: list[str], unfinished: int) -> None:
        text = self.source.text(tokens)
        self._context, self._fresh, self._given = tokens, [], text[: len(text) - unfinished]
