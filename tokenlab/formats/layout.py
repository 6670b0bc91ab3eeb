"""A binary layout as data: one declaration reads a file, writes it, explains it and prints its specification.

Chapter 07. The parts are the primitive types of the `.mtok` document (little-endian numbers, strings with
their length in front), rows behind a count, and records chosen by a tag. Counts and lengths in a file are
claims: each is held against the bytes that are left before anything is reserved.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn, Protocol

from tokenlab.errors import MtokError

DEEPEST_NESTING = 32


@dataclass(frozen=True, slots=True)
class Field:
    """One primitive value of a file: where it stands, what it holds and what it means.

    `offset` and the length of `raw` are in bytes; `section` is the path to it: `Model / vocabulary [3]`.
    """

    section: str
    name: str
    offset: int
    raw: bytes
    value: Any
    meaning: str

    @property
    def length(self) -> int:
        """The number of bytes that the field takes."""
        return len(self.raw)


class Cursor:
    """A place in the bytes of a file that knows its section, and notes each field where a trace is wanted."""

    __slots__ = ("data", "offset", "sections", "trace")

    def __init__(self, data: bytes, offset: int = 0, trace: list[Field] | None = None) -> None:
        self.data, self.offset, self.trace = data, offset, trace
        self.sections: list[str] = []

    @property
    def left(self) -> int:
        """The number of bytes after this place."""
        return len(self.data) - self.offset

    def take(self, size: int, name: str) -> int:
        """Move past `size` bytes and return where they start."""
        start = self.offset
        if start + size > len(self.data):
            self.fail(name, f"{size} bytes", f"{self.left} before the end of the file")
        self.offset += size
        return start

    def note(self, name: str, start: int, value: Any, meaning: str) -> None:
        """Add the bytes from `start` up to here to the trace, if one is kept."""
        if self.trace is not None and self.offset > start:
            raw = self.data[start : self.offset]
            self.trace.append(Field(" / ".join(self.sections), name, start, raw, value, meaning))

    def fail(self, name: str, expected: str, found: str, offset: int | None = None) -> NoReturn:
        """Raise the one error of this format."""
        section = " / ".join([*self.sections, name])
        raise MtokError(
            section=section, offset=self.offset if offset is None else offset, expected=expected, found=found
        )


class Codec(Protocol):
    """What a part of a layout can do; `counts` carries the row counts of the record being read."""

    def read(self, cursor: Cursor, name: str, meaning: str, counts: dict[str, int]) -> Any:
        """Take the value at the cursor."""

    def write(self, out: bytearray, value: Any, name: str) -> None:
        """Append the bytes of a value, or refuse it."""

    def spelt(self) -> str:
        """The type as the specification writes it."""


def shortened(text: str) -> str:
    """Return at most 80 characters of what an error shows."""
    return text if len(text) < 80 else text[:77] + "..."


def refuse(out: bytearray, name: str, expected: str, found: object) -> NoReturn:
    """Say that a value has no place in the format, and where it would have stood."""
    raise MtokError(section=name, offset=len(out), expected=expected, found=shortened(repr(found)))


_PACKINGS = {
    kind: struct.Struct(f"<{code}") for kind, code in zip(("u8", "u16", "u32", "f64"), "BHId", strict=True)
}


@dataclass(frozen=True, slots=True)
class Number:
    """An unsigned integer of 1, 2 or 4 bytes (up to `highest`), or a finite f64."""

    kind: str
    highest: int | None = None

    @property
    def packing(self) -> struct.Struct:
        """How the bytes are read and made."""
        return _PACKINGS[self.kind]

    @property
    def rule(self) -> str:
        """What a value has to be, beyond fitting into the bytes."""
        return "a finite number" if self.kind == "f64" else f"at most {self.highest}"

    def keep_rule(self, values: Collection[Any]) -> bool:
        """Whether all values are what the rule says."""
        if self.kind == "f64":
            return all(map(math.isfinite, values))
        return self.highest is None or max(values) <= self.highest

    def spelt(self) -> str:
        return self.kind if self.highest is None else f"{self.kind}, {self.rule}"

    def read(self, cursor: Cursor, name: str, meaning: str, counts: dict[str, int]) -> Any:
        start = cursor.take(self.packing.size, name)
        (value,) = self.packing.unpack_from(cursor.data, start)
        if not self.keep_rule((value,)):
            cursor.fail(name, self.rule, str(value), start)
        cursor.note(name, start, value, meaning)
        return value

    def write(self, out: bytearray, value: Any, name: str) -> None:
        expected = self.rule
        try:
            if self.keep_rule((value,)):
                out += self.packing.pack(value)
                return
        except struct.error:
            expected = f"a {self.kind}"
        refuse(out, name, expected, value)


U8, U16, U32, F64 = Number("u8"), Number("u16"), Number("u32"), Number("f64")
FLAG = Number("u8", highest=1)


@dataclass(frozen=True, slots=True)
class Text:
    """UTF-8 behind its length in bytes."""

    size: Number = U16

    def spelt(self) -> str:
        return "str" if self.size is U16 else f"{self.size.kind} length, then that many bytes of UTF-8"

    def read(self, cursor: Cursor, name: str, meaning: str, counts: dict[str, int]) -> str:
        length = self.size.read(cursor, f"{name} length", "bytes of UTF-8 that follow", counts)
        start = cursor.take(length, name)
        raw = cursor.data[start : cursor.offset]
        try:
            value = raw.decode()
        except UnicodeDecodeError as error:
            cursor.fail(name, "UTF-8", f"byte {raw[error.start]:02x} ({error.reason})", start + error.start)
        cursor.note(name, start, value, meaning)
        return value

    def write(self, out: bytearray, value: Any, name: str) -> None:
        try:
            raw = value.encode()
        except UnicodeEncodeError as error:
            expected = f"text that UTF-8 can hold (character {error.start} is a lone surrogate)"
            refuse(out, name, expected, value)
        longest = (1 << 8 * self.size.packing.size) - 1
        if len(raw) > longest:
            refuse(out, name, f"at most {longest} bytes", f"{len(raw)} bytes: {value[:40]}")
        self.size.write(out, len(raw), name)
        out += raw


@dataclass(frozen=True, slots=True)
class Count:
    """The number of rows or items that stand further on in the same record, under the name `of`."""

    of: str
    size: Number = U32

    def spelt(self) -> str:
        return self.size.kind

    def read(self, cursor: Cursor, name: str, meaning: str, counts: dict[str, int]) -> int:
        counts[self.of] = count = self.size.read(cursor, name, meaning, counts)
        return int(count)

    def write(self, out: bytearray, value: Any, name: str) -> None:
        self.size.write(out, len(value), name)


@dataclass(frozen=True, slots=True)
class Part:
    """One named part of a record; with `when`, it stands there only where that earlier flag is 1."""

    name: str
    codec: Codec
    meaning: str
    when: str | None = None


Spec = tuple[Codec, str] | tuple[Codec, str, str]
"""What a declaration says of a part beside its name."""


def _parts(named: Mapping[str, Spec]) -> tuple[Part, ...]:
    return tuple(Part(name, *spec) for name, spec in named.items())


Check = Callable[[Sequence[Any]], tuple[int, str, str] | None]
"""Takes rows and returns the index of a bad one, what was expected and found; None where all are well."""


@lru_cache(maxsize=64)
def _shape(columns: tuple[Part, ...]) -> tuple[struct.Struct, struct.Struct]:
    """Return how rows of numbers with at most one text are read: up to that text, and after it."""
    codes = [""]
    for part in columns:
        number = part.codec.size if isinstance(part.codec, Text) else part.codec
        assert isinstance(number, Number)
        codes[-1] += number.packing.format[1:]
        if isinstance(part.codec, Text):
            codes.append("")
    before, after = codes if len(codes) == 2 else ("", *codes)
    return struct.Struct("<" + before), struct.Struct("<" + after)


@dataclass(frozen=True, slots=True)
class Rows:
    """As many rows as the count says, each the same columns: numbers, and at most one text.

    A row is a tuple; `check` looks at all of them.
    """

    columns: tuple[Part, ...]
    check: Check

    def spelt(self) -> str:
        return "rows of (" + ", ".join(f"{part.codec.spelt()} {part.name}" for part in self.columns) + ")"

    def read(self, cursor: Cursor, name: str, meaning: str, counts: dict[str, int]) -> list[Any]:
        count, start = counts[name], cursor.offset
        claimed = count * sum(packing.size for packing in _shape(self.columns))
        if claimed > cursor.left:
            expected = f"at least {claimed} bytes for {count} rows"
            cursor.fail(name, expected, f"{cursor.left} before the end of the file")
        rows = None if cursor.trace is not None else self._read_in_bulk(cursor, count)
        if rows is None:
            rows = [self._read_row(cursor, name, index) for index in range(count)]
        if fault := self.check(rows):
            index, expected, found = fault
            walk = Cursor(cursor.data, start)
            for before in range(index):
                self._read_row(walk, name, before)
            cursor.fail(f"{name} [{index}]", expected, found, walk.offset)
        return rows

    def _read_row(self, cursor: Cursor, name: str, index: int) -> tuple[Any, ...]:
        cursor.sections.append(f"{name} [{index}]")
        row = tuple(part.codec.read(cursor, part.name, part.meaning, {}) for part in self.columns)
        cursor.sections.pop()
        return row

    def _read_in_bulk(self, cursor: Cursor, count: int) -> list[Any] | None:
        """Read plain numbers and strings without a call for each; None, and no move, where a row is bad."""
        data, at, (head, tail) = cursor.data, cursor.offset, _shape(self.columns)
        if not count:
            return []
        if not head.size:  # numbers alone
            end = at + count * tail.size
            rows: list[Any] = list(tail.iter_unpack(data[at:end]))
            columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
        else:
            # A row's last numbers and the next row's first ones stand together, so one step reads both.
            joint = struct.Struct("<" + tail.format[1:] + head.format[1:])
            texts, links, step, size = [], [], joint.unpack_from, joint.size
            try:
                *first, length = head.unpack_from(data, at)
                at += head.size
                for _ in range(count - 1):
                    end = at + length
                    texts.append(data[at:end].decode())
                    link = step(data, end)
                    at, length = end + size, link[-1]
                    links.append(link)
                end = at + length
                texts.append(data[at:end].decode())
                last = tail.unpack_from(data, end)
            except (struct.error, UnicodeDecodeError):
                return None
            end += tail.size
            links.append((*last, *first, 0))
            numbers = list(zip(*links, strict=True))[:-1]
            before = [(*column[-1:], *column[:-1]) for column in numbers[len(last) :]]
            columns = [*before, texts, *numbers[: len(last)]]
            rows = list(zip(*columns, strict=True))
        numeric = ((part.codec, column) for part, column in zip(self.columns, columns, strict=True))
        if end > len(data) or any(isinstance(c, Number) and not c.keep_rule(column) for c, column in numeric):
            return None
        cursor.offset = end
        return rows

    def write(self, out: bytearray, value: Any, name: str) -> None:
        for index, row in enumerate(value):
            for part, cell in zip(self.columns, row, strict=True):
                part.codec.write(out, cell, f"{name} [{index}] / {part.name}")


@dataclass(frozen=True, slots=True)
class Record:
    """Named parts in a fixed order; its value is a dict of all but the counts."""

    label: str = ""
    parts: tuple[Part, ...] = ()

    def read(
        self, cursor: Cursor, name: str = "", meaning: str = "", counts: dict[str, int] | None = None
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        counts = {}
        for part in self.parts:
            if part.when is None or values[part.when]:
                value = part.codec.read(cursor, part.name, part.meaning, counts)
                if not isinstance(part.codec, Count):
                    values[part.name] = value
        return values

    def write(self, out: bytearray, value: Any, name: str = "") -> None:
        for part in self.parts:
            if part.when is None or value[part.when]:
                source = part.codec.of if isinstance(part.codec, Count) else part.name
                part.codec.write(out, value[source], f"{name} / {part.name}" if name else part.name)

    def spelt(self) -> str:
        return ", ".join(f"{part.codec.spelt()} {part.name}" for part in self.parts)

    def specification(self) -> Iterator[tuple[str, str, str]]:
        """Yield the name, the type and the meaning of each part; of none, where there is none."""
        for part in self.parts:
            condition = f" (only where {part.when} is 1)" if part.when else ""
            yield part.name, part.codec.spelt(), part.meaning + condition
        if not self.parts:
            yield "", "", ""


def record(label: str = "", /, **named: Spec) -> Record:
    """Declare a record: for each part its type, its meaning, and perhaps the flag that it depends on."""
    return Record(label, _parts(named))


def rows(check: Check = lambda rows: None, /, **named: Spec) -> Rows:
    """Declare rows by their columns."""
    return Rows(_parts(named), check)


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands behind a tag: which record, and the values of its parts."""

    tag: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tagged:
    """A one-byte tag that chooses the record behind it."""

    section: str
    records: Mapping[int, Record]

    def read(self, cursor: Cursor, name: str) -> Entry:
        """Take a tag and its record."""
        if len(cursor.sections) > DEEPEST_NESTING:
            cursor.fail(name, f"at most {DEEPEST_NESTING} nested sequences", "a deeper one")
        start = cursor.take(1, f"{name} tag")
        tag = cursor.data[start]
        if tag not in self.records:
            known = ", ".join(map(str, self.records))
            cursor.fail(f"{name} tag", f"one of {known}", str(tag), start)
        record = self.records[tag]
        cursor.note(f"{name} tag", start, tag, record.label)
        cursor.sections.append(record.label)
        values = record.read(cursor)
        cursor.sections.pop()
        return Entry(tag, values)

    def write(self, out: bytearray, value: Entry, name: str) -> None:
        """Append a tag and its record."""
        record = self.records[value.tag]
        out.append(value.tag)
        record.write(out, value.values, f"{name} / {record.label}")


@dataclass(frozen=True, slots=True)
class Items:
    """As many tagged records as the count says; `what` comes late, so that a sequence can hold itself."""

    what: Callable[[], Tagged]

    def spelt(self) -> str:
        return f"that many of {self.what().section}"

    def read(self, cursor: Cursor, name: str, meaning: str, counts: dict[str, int]) -> tuple[Entry, ...]:
        count = counts[name]
        if count > cursor.left:
            cursor.fail(name, f"at least {count} bytes", f"{cursor.left} before the end of the file")
        return tuple(self.what().read(cursor, f"{name} [{index}]") for index in range(count))

    def write(self, out: bytearray, value: Any, name: str) -> None:
        for index, entry in enumerate(value):
            self.what().write(out, entry, f"{name} [{index}]")
