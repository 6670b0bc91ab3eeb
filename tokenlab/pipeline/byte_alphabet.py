"""The byte alphabet: each of the 256 bytes as one printable character (chapter 6; the published GPT-2 way).

A vocabulary file wants text, and bytes are no text. So 188 bytes that print stand for themselves, and the
other 68 are written as U+0100 onward, in byte order: the space becomes Ġ, the line feed Ċ. SentencePiece's
way is another: a byte is a token of its own, spelled <0xC3>.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_THEMSELVES = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = [byte for byte in range(256) if byte not in _THEMSELVES]

BYTE_ALPHABET = "".join(chr(b) if b in _THEMSELVES else chr(0x100 + _OTHERS.index(b)) for b in range(256))
"""The 256 characters; byte b is written as character number b."""

BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The 256 byte tokens, as they are written."""

_BYTE_TOKEN = re.compile("<0x[0-9A-Fa-f]{2}>")
_TO_ALPHABET = dict(enumerate(BYTE_ALPHABET))
_FROM_ALPHABET = {ord(character): byte for byte, character in enumerate(BYTE_ALPHABET)}


@dataclass(frozen=True, slots=True)
class ByteLevelFields:
    """What the three components named ByteLevel store, whether it means anything to them or not."""

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


def to_byte_alphabet(data: bytes) -> str:
    """Write bytes as n characters of the byte alphabet, for n bytes.

    >>> to_byte_alphabet(" é".encode())
    'ĠÃ©'
    """
    return data.decode("latin-1").translate(_TO_ALPHABET)


def from_byte_alphabet(token: str) -> bytes | None:
    """Return the bytes that a token spells, or None when a character of it is not of the byte alphabet.

    >>> from_byte_alphabet("Ġa"), from_byte_alphabet("水")
    (b' a', None)
    """
    try:
        return bytes([_FROM_ALPHABET[ord(character)] for character in token])
    except KeyError:
        return None


def byte_of(token: str) -> int | None:
    """Return the byte that a token like <0xC3> stands for, in either case, or None for any other token.

    >>> byte_of("<0xC3>"), byte_of("<0xc3>"), byte_of("<0xZZ>")
    (195, 195, None)
    """
    return int(token[3:5], 16) if len(token) == 6 and _BYTE_TOKEN.match(token) else None
