"""What texts cost: tokens per character and per byte, by language, code and emoji (chapter 9).

Follows the published validation list for tokenizers, which asks for length by slice. Where text is lost,
lengths say nothing; so each is measured with its round trip.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tokenlab.corpus import load_corpus
from tokenlab.formats import Encoding, Tokenizer
from tokenlab.pipeline import pre_tokenizers
from tokenlab.pipeline.byte_alphabet import byte_of, from_byte_alphabet

LANGUAGES = {
    "en": "English",
    "ru": "Russian",
    "zh-Hans": "Chinese",
    "ja": "Japanese",
    "ar": "Arabic",
    "hi": "Hindi",
    "ko": "Korean",
    "tr": "Turkish",
    "zxx": "code",
    "mul": "emoji",
}


class Length(NamedTuple):
    """What the texts of one slice cost.

    `byte_tokens` are tokens that stand for part of a character, or are written as <0xC3>; `exact` says
    whether every text came back as it was.
    """

    characters: int
    bytes: int
    tokens: int
    byte_tokens: int
    unknown: int
    exact: bool

    @property
    def per_character(self) -> float:
        return self.tokens / self.characters

    @property
    def per_byte(self) -> float:
        return self.tokens / self.bytes

    @property
    def byte_share(self) -> float:
        return self.byte_tokens / max(1, self.tokens)


def course_slices() -> dict[str, list[str]]:
    """Return the texts to measure on: one passage in eight languages, code, emoji.

    >>> list(course_slices())[:2]
    ['English', 'Russian']
    """
    test = [each for each in load_corpus("multilingual").test if each.kind != "prose"]
    return {name: [each.text for each in test if each.language == tag] for tag, name in LANGUAGES.items()}


def measure(tokenizer: Tokenizer, texts: Iterable[str]) -> Length:
    """Return what texts cost with a tokenizer, special tokens not counted.

    >>> from tokenlab import BpeTokenizer, to_pipeline
    >>> measure(to_pipeline(BpeTokenizer.from_merge_pairs([(32, 208)])), ["e а"])
    Length(characters=3, bytes=4, tokens=3, byte_tokens=2, unknown=0, exact=True)
    """
    texts, unknown = list(texts), unknown_id(tokenizer)
    made = [encode_plain(tokenizer, text) for text in texts]
    tokens = [token for each in made for token in each.tokens]
    return Length(
        sum(map(len, texts)),
        sum(len(text.encode()) for text in texts),
        len(tokens),
        sum(_is_byte(tokenizer, token) for token in tokens),
        sum(each.ids.count(unknown) for each in made if unknown is not None),
        all(decode_all(tokenizer, each) == text for each, text in zip(made, texts, strict=True)),
    )


def encode_plain(tokenizer: Tokenizer, text: str) -> Encoding:
    """Return the encoding of a text as plain text: no special token put in or read out."""
    return tokenizer.encode(text, add_special_tokens=False, parse_special_tokens=False)


def decode_all(tokenizer: Tokenizer, encoding: Encoding) -> str:
    """Return the text of an encoding, special tokens kept."""
    return tokenizer.decode(encoding.ids, skip_special_tokens=False)


def unknown_id(tokenizer: Tokenizer) -> int | None:
    """Return the ID that stands for what the model does not know, None where it has none."""
    return tokenizer.model.unknown_id


def is_byte_level(tokenizer: Tokenizer) -> bool:
    """Tell whether the pre-tokenizer writes text in the byte alphabet."""

    def found(part: object) -> bool:
        inside = getattr(part, "pretokenizers", ())
        return isinstance(part, pre_tokenizers.ByteLevel) or any(map(found, inside))

    return found(tokenizer.pre_tokenizer)


def token_bytes(tokenizer: Tokenizer, token: str) -> bytes:
    """Return the bytes that a token stands for."""
    byte = byte_of(token)
    if byte is not None:
        return bytes([byte])
    data = from_byte_alphabet(token) if is_byte_level(tokenizer) else None
    return token.encode() if data is None else data


def _is_byte(tokenizer: Tokenizer, token: str) -> bool:
    try:
        token_bytes(tokenizer, token).decode()
    except UnicodeDecodeError:
        return True
    return byte_of(token) is not None
