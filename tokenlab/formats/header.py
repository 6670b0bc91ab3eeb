"""The three text lines that open a `.mtok` file and each of the legacy `.txt` files (chapter 07).

Line 1 is the magic number 430 and the type; line 2 counts the special, stop and prefix IDs; line 3 lists
them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tokenlab.formats.layout import Cursor, refuse

MAGIC = b"430"
TYPES = {0: "SentencePiece", 1: "tiktoken", 2: "BERT", 3: "Hugging Face", 4: "pipeline (.mtok)"}
LISTS = ("special", "stop", "prefix")
_DIGITS = re.compile(rb"[0-9]{1,11}")


@dataclass(frozen=True, slots=True)
class Header:
    """The type of a file and the IDs that its header lists.

    `special` are control tokens, `stop` end a generation, `prefix` stand before every encoding. `padding` is
    the white space that some exporters leave at the end of line 3: it means nothing, and is kept so that a
    file is written as it was.
    """

    type: int
    special: tuple[int, ...] = ()
    stop: tuple[int, ...] = ()
    prefix: tuple[int, ...] = ()
    padding: str = ""


def recognises(data: bytes) -> bool:
    """Whether the bytes begin with this header's magic number.

    >>> recognises(b"430 4\\n"), recognises(b"{}")
    (True, False)
    """
    return data[:4] == MAGIC + b" "


def read_header(cursor: Cursor, *, text: bool) -> Header:
    """Take the three lines; a text file (`text`) may end them with CR LF, a binary one may not."""
    cursor.sections.append("Header")
    start = cursor.take(min(4, cursor.left), "magic")
    if not recognises(cursor.data[start:]):
        cursor.fail("magic", "430 and a space", repr(cursor.data[start : start + 4]), start)
    cursor.offset = start + 3
    cursor.note("magic", start, 430, "the number that marks the format")
    _separator(cursor, b" ")
    kind = _number(cursor, "type", "what kind of tokenizer follows")
    if kind not in TYPES:
        cursor.fail("type", f"a type from 0 to {max(TYPES)}", str(kind), cursor.offset - 1)
    _line_end(cursor, text)
    counts: dict[str, int] = {}
    for name in LISTS:
        if counts:
            _separator(cursor, b" ")
        counts[name] = _number(cursor, f"{name} count", f"how many {name} IDs line 3 lists")
    _line_end(cursor, text)
    lists: dict[str, tuple[int, ...]] = {}
    for name, count in counts.items():
        if count > cursor.left:
            cursor.fail(f"{name} IDs", f"{count} numbers", f"{cursor.left} bytes before the end of the file")
        ids: list[int] = []
        for _ in range(count):
            if ids or any(lists.values()):
                _separator(cursor, b" ")
            ids.append(_number(cursor, f"{name} ID", f"a {name} ID"))
        lists[name] = tuple(ids)
    start = cursor.offset
    while cursor.data[cursor.offset : cursor.offset + 1] in (b" ", b"\t"):
        cursor.offset += 1
    padding = cursor.data[start : cursor.offset].decode()
    cursor.note("padding", start, padding, "white space that means nothing")
    _line_end(cursor, text)
    cursor.sections.pop()
    return Header(kind, **lists, padding=padding)


def write_header(out: bytearray, header: Header) -> None:
    """Append the three lines."""
    lists = [getattr(header, name) for name in LISTS]
    ids = [token_id for each in lists for token_id in each]
    for token_id in ids:
        if not 0 <= token_id < 1 << 32:
            refuse(out, "Header", "an ID of 32 bits", token_id)
    out += b"%b %d\n" % (MAGIC, header.type)
    out += " ".join(str(len(each)) for each in lists).encode() + b"\n"
    out += (" ".join(map(str, ids)) + header.padding).encode() + b"\n"


def _number(cursor: Cursor, name: str, meaning: str) -> int:
    start = cursor.offset
    match = _DIGITS.match(cursor.data, start)
    digits = match[0] if match else b""
    # Leading zeros would not survive a round trip, and a value over 32 bits is no ID.
    if not digits or str(int(digits)).encode() != digits or int(digits) >= 1 << 32:
        found = repr(cursor.data[start : start + 12]) if start < len(cursor.data) else "the end of the file"
        cursor.fail(name, "a whole number below 2^32", found, start)
    cursor.offset += len(digits)
    cursor.note(name, start, int(digits), meaning)
    return int(digits)


def _separator(cursor: Cursor, wanted: bytes) -> None:
    start = cursor.offset
    found = cursor.data[start : start + len(wanted)]
    if found != wanted:
        cursor.fail("separator", repr(wanted), repr(found) if found else "the end of the file", start)
    cursor.offset += len(wanted)
    cursor.note("line end" if wanted.endswith(b"\n") else "space", start, wanted.decode(), "separator")


def _line_end(cursor: Cursor, text: bool) -> None:
    _separator(cursor, b"\r\n" if text and cursor.data[cursor.offset : cursor.offset + 1] == b"\r" else b"\n")
