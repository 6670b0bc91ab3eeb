"""A binary layout as data: one declaration reads a file, writes it, explains it and prints its specification.

Chapter 07. The parts are the primitive types of the `.mtok` document (little-endian numbers, strings with
their length in front), rows behind a count, and records chosen by a tag. Counts and lengths in a file are
claims: each is held against the bytes that are left before anything is reserved.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
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

    @property
    def smallest(self) -> int:
        """The fewest bytes that a value can take."""


def refuse(out: bytearray, name: str, expected: str, found: object) -> NoReturn:
    """Say that a value has no place in the format, and where it would have stood."""
    shown = repr(found)
    raise MtokError(
        section=name,
        offset=len(out),
        expected=expected,
        found=shown if len(shown) < 80 else shown[:77] + "...",
    )


_PACKINGS = {
    kind: struct.Struct(f"<{code}") for kind, code in (("u8", "B"), ("u16", "H"), ("u32", "I"), ("f64", "d"))
}


@dataclass(frozen=True, slots=True)
class Number:
    """An unsigned integer of 1, 2 or 4 bytes (up to `highest`), or a finite f64."""

    kind: str
    highest: int | None = None

    @property
    def code(self) -> str:
        return _PACKINGS[self.kind].format[1:]

    @property
    def smallest(self) -> int:
        return _PACKINGS[self.kind].size

    def spelt(self) -> str:
        return self.kind if self.highest is None else f"{self.kind}, at most {self.highest}"

    def fault(self, value: Any) -> str | None:
        """What is wrong with a value that fits the bytes, if anything."""
        if self.kind == "f64" and not abs(value) < float("inf"):
            return "a finite number"
        if self.highest is not None and value > self.highest:
            return f"at most {self.highest}"
        return None

    def read(self, cursor: Cursor, name: str, meaning: str, counts: dict[str, int]) -> Any:
        packing, start = _PACKINGS[self.kind], cursor.offset
        cursor.take(packing.size, name)
        (value,) = packing.unpack_from(cursor.data, start)
        if (self.highest is not None or self.kind == "f64") and (expected := self.fault(value)):
            cursor.fail(name, expected, str(value), start)
        if cursor.trace is not None:
            cursor.note(name, start, value, meaning)
        return value

    def write(self, out: bytearray, value: Any, name: str) -> None:
        if (expected := self.fault(value)) is None:
            try:
                out += _PACKINGS[self.kind].pack(value)
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

    @property
    def smallest(self) -> int:
        return self.size.smallest

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
            refuse(
                out, name, f"text that UTF-8 can hold (character {error.start} is a lone surrogate)", value
            )
        if len(raw) >= 1 << 8 * self.size.smallest:
            refuse(
                out,
                name,
                f"at most {(1 << 8 * self.size.smallest) - 1} bytes",
                f"{len(raw)} bytes: {value[:40]}",
            )
        self.size.write(out, len(raw), name)
        out += raw


@dataclass(frozen=True, slots=True)
class Count:
    """The number of rows or items that stand further on in the same record, under the name `of`."""

    of: str
    size: Number = U32

    @property
    def smallest(self) -> int:
        return self.size.smallest

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


def _fit(part: Part, column: Sequence[Any]) -> bool:
    """Whether all values of a column are what its type allows."""
    if not isinstance(part.codec, Number):
        return True
    if part.codec.kind == "f64":
        return all(map(math.isfinite, column))
    return part.codec.highest is None or max(column) <= part.codec.highest


@lru_cache(maxsize=64)
def _shape(columns: tuple[Part, ...]) -> tuple[struct.Struct, struct.Struct, struct.Struct | None] | None:
    """Return how rows of numbers with at most one text are read: before it, after it, and both as one."""
    codes, texts = ["", ""], 0
    for part in columns:
        if isinstance(part.codec, Text):
            codes[0] += codes.pop() + part.codec.size.code
            codes.append("")
            texts += 1
        elif isinstance(part.codec, Number):
            codes[1] += part.codec.code
        else:
            return None
    if texts > 1:
        return None
    before, after = codes
    joint = struct.Struct("<" + after + before) if texts else None
    return struct.Struct("<" + before), struct.Struct("<" + after), joint


@dataclass(frozen=True, slots=True)
class Rows:
    """As many rows as the count says, each the same columns; `check` finds the first row that breaks a rule.

    A row is a tuple. `check` takes the rows and returns the index of a bad one, what was expected and found.
    """

    columns: tuple[Part, ...]
    check: Callable[[Sequence[Any]], tuple[int, str, str] | None] = lambda rows: None

    @property
    def smallest(self) -> int:
        return 0

    def spelt(self) -> str:
        return "rows of (" + ", ".join(f"{part.codec.spelt()} {part.name}" for part in self.columns) + ")"

    def read(self, cursor: Cursor, name: str, meaning: str, counts: dict[str, int]) -> list[Any]:
        count, start = counts[name], cursor.offset
        claimed = count * sum(part.codec.smallest for part in self.columns)
        if claimed > cursor.left:
            cursor.fail(
                name,
                f"at least {claimed} bytes for {count} rows",
                f"{cursor.left} before the end of the file",
            )
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
        shape = _shape(self.columns)
        if shape is None or not count:
            return None if count else []
        data, at, (head, tail, joint) = cursor.data, cursor.offset, shape
        if joint is None:  # numbers alone
            rows = list(tail.iter_unpack(data[at : at + count * tail.size]))
            if not all(map(_fit, self.columns, zip(*rows, strict=True))):
                return None
            cursor.offset += count * tail.size
            return rows
        # A row's last numbers and the next row's first ones stand together, so one step reads both.
        texts, links = [], []
        try:
            *first, length = head.unpack_from(data, at)
            at += head.size
            step, size = joint.unpack_from, joint.size
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
        links.append((*last, *first, 0))
        columns = list(zip(*links, strict=True))[:-1]
        before = [(*column[-1:], *column[:-1]) for column in columns[len(last) :]]
        ordered = [*before, texts, *columns[: len(last)]]
        if end + tail.size > len(data) or not all(map(_fit, self.columns, ordered)):
            return None
        cursor.offset = end + tail.size
        return list(zip(*ordered, strict=True))

    def write(self, out: bytearray, value: Any, name: str) -> None:
        for index, row in enumerate(value):
            for part, cell in zip(self.columns, row, strict=True):
                part.codec.write(out, cell, f"{name} [{index}] / {part.name}")


@dataclass(frozen=True, slots=True)
class Record:
    """Named parts in a fixed order; its value is a dict of all but the counts."""

    parts: tuple[Part, ...] = ()

    @property
    def smallest(self) -> int:
        return sum(part.codec.smallest for part in self.parts if part.when is None)

    def read(
        self, cursor: Cursor, name: str = "", meaning: str = "", counts: dict[str, int] | None = None
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        counts = {}
        for part in self.parts:
            if part.when is None or values[part.when]:
                values[part.name] = part.codec.read(cursor, part.name, part.meaning, counts)
        return {
            part.name: values[part.name]
            for part in self.parts
            if part.name in values and not isinstance(part.codec, Count)
        }

    def write(self, out: bytearray, value: Any, name: str = "") -> None:
        for part in self.parts:
            if part.when is None or value[part.when]:
                source = part.codec.of if isinstance(part.codec, Count) else part.name
                part.codec.write(out, value[source], f"{name} / {part.name}" if name else part.name)

    def spelt(self) -> str:
        return ", ".join(f"{part.codec.spelt()} {part.name}" for part in self.parts) or "nothing"


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands behind a tag: which record, and the values of its parts."""

    tag: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tagged:
    """A one-byte tag that chooses the record behind it; `records` maps a tag to its name and its record."""

    section: str
    records: Mapping[int, tuple[str, Record]]

    smallest = 1

    def spelt(self) -> str:
        return self.section

    def read(self, cursor: Cursor, name: str, meaning: str, counts: dict[str, int]) -> Entry:
        if len(cursor.sections) > DEEPEST_NESTING:
            cursor.fail(name, f"at most {DEEPEST_NESTING} nested sequences", "a deeper one")
        start = cursor.take(1, f"{name} tag")
        tag = cursor.data[start]
        if tag not in self.records:
            known = ", ".join(map(str, self.records))
            cursor.fail(f"{name} tag", f"one of {known}", str(tag), start)
        label, record = self.records[tag]
        cursor.note(f"{name} tag", start, tag, label)
        cursor.sections.append(label)
        values = record.read(cursor)
        cursor.sections.pop()
        return Entry(tag, values)

    def write(self, out: bytearray, value: Any, name: str) -> None:
        label, record = self.records[value.tag]
        out.append(value.tag)
        record.write(out, value.values, f"{name} / {label}")


@dataclass(frozen=True, slots=True)
class Items:
    """As many tagged records as the count says; `what` comes late, so that a sequence can hold itself."""

    what: Callable[[], Tagged]

    smallest = 0

    def spelt(self) -> str:
        return f"that many of {self.what().section}"

    def read(self, cursor: Cursor, name: str, meaning: str, counts: dict[str, int]) -> tuple[Entry, ...]:
        if counts[name] > cursor.left:
            cursor.fail(name, f"at least {counts[name]} bytes", f"{cursor.left} before the end of the file")
        return tuple(
            self.what().read(cursor, f"{name} [{index}]", meaning, {}) for index in range(counts[name])
        )

    def write(self, out: bytearray, value: Any, name: str) -> None:
        for index, entry in enumerate(value):
            self.what().write(out, entry, f"{name} [{index}]")


def specification(tagged: Tagged) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield the rows of a specification: tag, record, part, type and meaning, from the declaration itself."""
    for tag, (label, record) in tagged.records.items():
        if not record.parts:
            yield tag, label, "", "", ""
        for part in record.parts:
            condition = f" (only where {part.when} is 1)" if part.when else ""
            yield tag, label, part.name, part.codec.spelt(), part.meaning + condition
