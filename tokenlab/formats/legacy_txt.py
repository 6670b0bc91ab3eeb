"""The four legacy `.txt` tokenizer formats: text behind the same three header lines as `.mtok` (chapter 07).

After the description of the older formats in the `.mtok` document. Type 0 is SentencePiece, 1 tiktoken, 2
BERT, 3 Hugging Face. This module knows the files; `legacy_pipeline` knows what they mean as a pipeline.
"""

from __future__ import annotations

import binascii
import math
import warnings
from dataclasses import dataclass
from typing import NoReturn

from tokenlab.errors import LegacyTxtError, LegacyTxtWarning, MtokError
from tokenlab.formats.header import Header, read_header, write_header
from tokenlab.formats.layout import Cursor, shortened
from tokenlab.pipeline.models import halves

SENTENCEPIECE, TIKTOKEN, BERT, HUGGING_FACE = range(4)
FIRST_TOKEN_LINE = 5  # after the header and the counts
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


@dataclass(frozen=True, slots=True)
class LegacyFile:
    """All that a legacy file says; the ID of a token is its place.

    `tokens` are bytes (types 0 to 2 store base64) or text (type 3); `scores` and `kinds` belong to type 0
    alone, `merges`, as pairs of token texts, to type 3.
    """

    header: Header
    tokens: tuple[bytes, ...] | tuple[str, ...]
    scores: tuple[float, ...] = ()
    kinds: tuple[int, ...] = ()
    merges: tuple[tuple[str, str], ...] = ()


def _fail(line: int, expected: str, found: str) -> NoReturn:
    raise LegacyTxtError(line=line, expected=expected, found=shortened(found))


class _Lines:
    """The lines after the header, numbered as an editor does. Only LF, or CR LF throughout, ends one."""

    def __init__(self, data: bytes, start: int) -> None:
        self.crlf = data[:start].endswith(b"\r\n")
        lines = data[start:].split(b"\r\n" if self.crlf else b"\n")
        if lines[-1] == b"":
            lines.pop()
        first = data.count(b"\n", 0, start) + 1
        self.left = list(enumerate(lines, first))
        self.end = first + len(lines)

    def take(self, count: int, what: str) -> list[tuple[int, bytes]]:
        """Take lines, each with its number."""
        if count > len(self.left):
            _fail(self.end, f"{count} lines of {what}", f"only {len(self.left)}")
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def counts(self, how_many: int) -> list[int]:
        """Take the line that says how many tokens follow, and how many merges."""
        if not self.left:
            _fail(self.end, "the number of tokens", "the end of the file")
        ((number, line),) = self.take(1, "counts")
        words = line.split(b" ")
        if len(words) != how_many or not all(word.isdigit() and len(word) <= 10 for word in words):
            _fail(number, f"{how_many} whole number(s)", repr(line))
        return [int(word) for word in words]


def _base64(word: bytes, line: int) -> bytes:
    try:
        token = binascii.a2b_base64(word, strict_mode=True)
    except binascii.Error as error:
        _fail(line, "base64", f"{word!r} ({error})")
    if not token:
        _fail(line, "a token of at least one byte", "an empty one")
    if (spelled := binascii.b2a_base64(token, newline=False)) != word:  # too much padding, or bits beside it
        _fail(line, "base64", f"{word!r}, which spells {spelled!r} otherwise")
    return token


def _text(raw: bytes, line: int) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        _fail(line, "UTF-8", f"byte {raw[error.start]:02x} at place {error.start} of the line")


def read_file(data: bytes) -> LegacyFile:
    """Read what a legacy file says.

    Raises:
        LegacyTxtError: with the line, what was expected and what was found.
    """
    cursor = Cursor(data)
    try:
        header = read_header(cursor, text=True)
    except MtokError as error:
        _fail(data.count(b"\n", 0, error.offset) + 1, error.expected, error.found)
    if header.type > HUGGING_FACE:
        _fail(1, "a type from 0 to 3", str(header.type))
    lines = _Lines(data, cursor.offset)
    if header.type == HUGGING_FACE:
        file = _read_hugging_face(header, lines)
    else:
        (count,) = lines.counts(1)
        rows = [_row(header.type, line, number) for number, line in lines.take(count, "tokens")]
        tokens, scores, kinds = zip(*rows, strict=True) if rows else ((), (), ())
        file = LegacyFile(header, tokens, *((scores, kinds) if header.type == SENTENCEPIECE else ()))
    for number, line in lines.left:
        _fail(number, "the end of the file", repr(line))
    seen: dict[object, int] = {}
    for token_id, token in enumerate(file.tokens):
        if seen.setdefault(token, token_id) != token_id:
            found = f"{token!r}, which has ID {seen[token]}"
            _fail(FIRST_TOKEN_LINE + token_id, "a token not listed before", found)
    for token_id in (*header.special, *header.stop, *header.prefix):
        if token_id >= len(file.tokens):
            warnings.warn(LegacyTxtWarning(f"the header lists ID {token_id}, which no row has"), stacklevel=3)
    return file


def _row(kind: int, line: bytes, number: int) -> tuple[bytes, float, int]:
    if kind != SENTENCEPIECE:
        return _base64(line, number), 0.0, NORMAL
    words = line.split(b" ")
    if len(words) != 3:
        _fail(number, "a token in base64, a score and a type", repr(line))
    try:
        # An int stays one: "0" and "0.0" are the same score, and each is written as it was.
        score = int(words[1]) if words[1].lstrip(b"-").isdigit() and len(words[1]) < 20 else float(words[1])
    except ValueError:
        score = math.nan
    if not math.isfinite(score) or b"_" in words[1]:
        _fail(number, "a finite score", repr(words[1]))
    if words[2] not in (b"1", b"2", b"3", b"4", b"5", b"6"):
        _fail(number, "a type from 1 to 6", repr(words[2]))
    return _base64(words[0], number), score, int(words[2])


def _read_hugging_face(header: Header, lines: _Lines) -> LegacyFile:
    token_count, merge_count = lines.counts(2)
    tokens = [_text(line, number) for number, line in lines.take(token_count, "tokens")]
    if not lines.crlf and tokens and all(token.endswith("\r") for token in tokens):
        _fail(FIRST_TOKEN_LINE, "the line ends of the header", repr(tokens[0]))
    known, lengths = set(tokens), sorted(set(map(len, tokens)))

    def joined(text: str) -> list[tuple[str, str]]:
        # A token may hold spaces, so every cut counts that leaves two tokens.
        found = halves(text, known, lengths, gap=1)
        return [(left, right) for left, right in found if text[len(left)] == " " and left + right in known]

    if merge_count == len(lines.left) + 1 > 1 and not joined(tokens[-1]):
        merge_count -= 1
        warnings.warn(LegacyTxtWarning("the number of merges is one more than there are"), stacklevel=4)
    merges = []
    for place, (number, line) in enumerate(lines.take(merge_count, "merges")):
        if place == 0 and line.startswith(b"#version"):
            continue
        fits = joined(_text(line, number))
        if len(fits) != 1:
            expected = "two tokens of the vocabulary whose join is one too"
            _fail(number, expected if not fits else "one way to cut the line in two tokens", repr(line))
        merges.append(fits[0])
    return LegacyFile(header, tuple(tokens), merges=tuple(merges))


def write_file(file: LegacyFile) -> bytes:
    """Give the bytes of a file.

    Raises:
        LegacyTxtError: where a token has no place in the format.
    """
    out = bytearray()
    write_header(out, file.header)
    if file.header.type == HUGGING_FACE:
        rows = [token.encode() for token in file.tokens if isinstance(token, str)]
        merges = [f"{left} {right}".encode() for left, right in file.merges]
        lines = [b"%d %d" % (len(rows), len(merges)), *rows, *merges]
    else:
        rows = [binascii.b2a_base64(t, newline=False) for t in file.tokens if isinstance(t, bytes)]
        if file.header.type == SENTENCEPIECE:
            scored = zip(rows, file.scores, file.kinds, strict=True)
            rows = [b"%b %b %d" % (row, repr(score).encode(), kind) for row, score, kind in scored]
        lines = [b"%d" % len(rows), *rows]
    for number, line in enumerate(lines, 4):
        if b"\n" in line or b"\r" in line or not line:
            _fail(number, "a token without line ends", repr(line))
    return bytes(out) + b"\n".join(lines) + b"\n"
