"""Text that knows, for each of its characters, who wrote it: the template, or the data it was given.

Chapter 08, after the tokenizer notes (a contract between ordinary text and the control channel). A chat
template is a program on strings: it trims, slices, splits and joins what the messages hold. `MarkedText` goes
through all of that and keeps its marks, so that at the end one can say which characters may form a control
token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from types import MethodType
from typing import Any, SupportsIndex

from tokenlab.chat.limits import CONTAINERS, budget

TEMPLATE = b"t"  # the template wrote it: may form control tokens
DATA = b"d"  # a message, document, tool or variable holds it: never forms one
PAIRS_PER_STEP = 100  # comparing two characters is so much faster than making one
UNTRACEABLE = b"?"  # a mixture that went through an operation that cannot be followed, or a number


class MarkedText(str):
    """A `str` with one mark for each code point, kept by everything that a template may do with a string.

    Args:
        text: any text, n code points.
        marks: n bytes, each of them TEMPLATE, DATA or UNTRACEABLE.

    >>> content = MarkedText(" <|end|> ", DATA * 9)
    >>> text = MarkedText("A:", TEMPLATE * 2) + content.strip()
    >>> str(text), text.marks
    ('A:<|end|>', b'ttddddddd')
    """

    __slots__ = ("marks",)
    marks: bytes

    def __new__(cls, text: str, marks: bytes) -> MarkedText:
        made = super().__new__(cls, text)
        made.marks = marks
        budget().spend(len(marks))
        return made

    def __str__(self) -> str:
        return self

    def __getitem__(self, key: SupportsIndex | slice) -> MarkedText:
        piece = super().__getitem__(key)
        return MarkedText(piece, self.marks[key] if isinstance(key, slice) else bytes([self.marks[key]]))

    def __iter__(self) -> Iterator[MarkedText]:
        return (self[i] for i in range(len(self)))

    def __add__(self, other: str) -> MarkedText:
        return joined((self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: str) -> MarkedText:
        return joined((other, self)) if isinstance(other, str) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> MarkedText:
        budget().afford(len(self) * max(0, count.__index__()))
        return MarkedText(super().__mul__(count), self.marks * count.__index__())

    __rmul__ = __mul__

    def __mod__(self, values: Any) -> MarkedText:
        return percent(self, values)

    def join(self, parts: Iterable[str]) -> MarkedText:
        return joined(parts, self)

    def lstrip(self, chars: str | None = None) -> MarkedText:
        _afford_pairs(self, chars)
        return self[len(self) - len(super().lstrip(chars)) :]

    def rstrip(self, chars: str | None = None) -> MarkedText:
        _afford_pairs(self, chars)
        return self[: len(super().rstrip(chars))]

    def strip(self, chars: str | None = None) -> MarkedText:
        return self.lstrip(chars).rstrip(chars)

    def rfind(self, sub: str, *bounds: Any) -> int:
        _afford_pairs(self, sub)
        return super().rfind(sub, *bounds)

    def rindex(self, sub: str, *bounds: Any) -> int:
        _afford_pairs(self, sub)
        return super().rindex(sub, *bounds)

    def removeprefix(self, prefix: str) -> MarkedText:
        return self[len(prefix) :] if self.startswith(prefix) else self

    def removesuffix(self, suffix: str) -> MarkedText:
        return self[: len(self) - len(suffix)] if self.endswith(suffix) else self

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[Any]:
        return self._located(super().split(sep, maxsplit), sep)

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[Any]:
        _afford_pairs(self, sep)
        return self._located(super().rsplit(sep, maxsplit), sep)

    def splitlines(self, keepends: bool = False) -> list[Any]:
        return self._located(super().splitlines(keepends), None)

    def partition(self, sep: str) -> tuple[Any, Any, Any]:
        head, middle, tail = self._located(super().partition(sep), "")
        return head, middle, tail

    def rpartition(self, sep: str) -> tuple[Any, Any, Any]:
        _afford_pairs(self, sep)
        head, middle, tail = self._located(super().rpartition(sep), "")
        return head, middle, tail

    def replace(self, old: str, new: str, count: SupportsIndex = -1) -> MarkedText:
        if old:
            budget().afford(len(self) + self.count(old) * (len(new) - len(old)))
            return joined(self.split(old, count), new)
        budget().afford(len(self) + (len(self) + 1) * len(new))
        return opaque(lambda: str.replace(self, old, new, count), self, new)

    def _located(self, pieces: Iterable[str], gap: str | None) -> list[MarkedText]:
        """Find pieces that follow each other, `gap` apart; None: white space, which no piece starts with."""
        found, start = [], 0
        for piece in pieces:
            if gap is None:
                start = self.find(piece, start)
            found.append(self[start : start + len(piece)])
            start += len(piece) + len(gap or "")
        return found


def _recasing(change: Callable[[str], str]) -> Callable[[MarkedText], MarkedText]:
    """A letter may become several (ß, SS); such a text is followed letter by letter."""

    def recased(self: MarkedText) -> MarkedText:
        text = change(self)
        if len(text) == len(self):
            return MarkedText(text, self.marks)
        marks = letter_by_letter(self, change)
        return MarkedText(text, marks) if len(marks) == len(text) else opaque(lambda: text, self)

    return recased


def _padding(pad: Callable[..., str]) -> Callable[..., MarkedText]:
    def padded(self: MarkedText, width: int, fillchar: str = " ") -> MarkedText:
        budget().afford(width)
        text = pad(self, width, fillchar)
        frame = pad("x" * len(self), width)
        left = len(frame) - len(frame.lstrip())
        # Blanks nobody wrote: the template asks for them.
        fill = fillchar.marks if isinstance(fillchar, MarkedText) else TEMPLATE
        return MarkedText(text, fill * left + self.marks + fill * (len(text) - left - len(self)))

    return padded


for _make, _names in (
    (_recasing, ("upper", "lower", "title", "capitalize", "swapcase", "casefold")),
    (_padding, ("center", "ljust", "rjust")),
):
    for _name in _names:
        setattr(MarkedText, _name, _make(getattr(str, _name)))


def marks_of(text: str) -> bytes:
    """Return the marks of a text: UNTRACEABLE for a plain `str`, whose writer nobody recorded."""
    return text.marks if isinstance(text, MarkedText) else UNTRACEABLE * len(text)


def letter_by_letter(text: str, change: Callable[[str], str]) -> bytes:
    """Return the marks of a text of which each letter is changed, into none, one or several.

    >>> letter_by_letter(MarkedText("aß", b"td"), str.upper)
    b'tdd'
    """
    letters = zip(str.__iter__(text), marks_of(text), strict=True)
    return b"".join(bytes([writer]) * len(change(letter)) for letter, writer in letters)


def mark(value: Any, writer: bytes) -> Any:
    """Return a copy of a JSON-like value in which every string, keys included, is marked with its writer.

    >>> mark({"role": ["user"]}, DATA)["role"][0].marks
    b'dddd'
    """
    if isinstance(value, str):
        return MarkedText(str.__str__(value), writer * len(value))
    if isinstance(value, dict):
        return {mark(key, writer): mark(item, writer) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(mark(item, writer) for item in value)
    return value


def strings_in(value: Any, sort_keys: bool = False) -> Iterator[str]:
    """Yield the strings that a value holds at any depth, in the order in which it is written out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, CONTAINERS):
        if isinstance(value, dict):
            value = chain.from_iterable(sorted(value.items()) if sort_keys else value.items())
        for item in value:
            yield from strings_in(item, sort_keys)
    elif isinstance(value, MethodType):  # written out, it shows the text whose method it is
        yield from strings_in(value.__self__)


def joined(parts: Iterable[str], separator: str = "") -> MarkedText:
    """Return `separator.join(parts)`, each character with the mark it had.

    >>> joined(["x", MarkedText("y", DATA)]).marks
    b'?d'
    """
    kept, length = [], -len(separator)
    for part in parts:
        kept.append(part)
        length += len(separator) + len(part)
        budget().afford(length)
    return MarkedText(str.join(separator, kept), marks_of(separator).join(map(marks_of, kept)))


def opaque(make: Callable[[], str], *sources: Any) -> MarkedText:
    """Return the text that `make` makes of sources in a way that no mark survives.

    Where one writer wrote all the sources, that writer wrote the result. Else the result is UNTRACEABLE, and
    encoding refuses a control token that would need one of its characters.
    """
    budget().weigh(sources)
    writers = {writer for text in strings_in(sources) for writer in set(marks_of(text))}
    text = make()
    return MarkedText(text, (bytes(writers) if len(writers) == 1 else UNTRACEABLE) * len(text))


def quoted(written: str, strings: Iterable[str], quote: Callable[[str], str], *sources: Any) -> MarkedText:
    """Return the text that was written for sources, with the marks of each string that is quoted in it.

    Args:
        written: JSON, or Python's notation.
        strings: what is quoted in it, in order. Nothing else in it holds quotation marks, so each is found.
        quote: how a string is quoted.

    >>> quoted("['a', 5]", [MarkedText("a", DATA)], repr, "").marks
    b'?ddd????'
    """
    marks = bytearray(opaque(lambda: written, *sources).marks)
    end = 0
    for string in strings:
        form = quote(string)
        start = written.find(form, end)
        end = start + len(form)
        writers = marks_of(string)
        if len(set(writers)) == 1:
            marks[start:end] = writers[:1] * len(form)
        elif writers:
            inside = letter_by_letter(string, lambda letter: quote(letter)[1:-1])
            if len(inside) == len(form) - 2:
                marks[start + 1 : end - 1] = inside
    return MarkedText(written, bytes(marks))


_CONVERSION = re.compile(
    r"%(?:\((?P<key>[^()]*)\))?(?P<shape>[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?)[hlL]?(?P<kind>.)", re.S
)


def percent(form: MarkedText, values: Any) -> MarkedText:
    """Return `form % values`; what a plain `%s` or `%(key)s` puts in keeps its marks.

    >>> (MarkedText("<%s>", TEMPLATE * 4) % MarkedText("a", DATA)).marks
    b'tdt'
    """
    result = joined(_converted(form, values))
    text = str.__mod__(form, values)
    return result if result == text else opaque(lambda: text, form, values)


def _converted(form: MarkedText, values: Any) -> Iterator[str]:
    """Yield the literal parts of a form and, between them, what its conversions put in."""
    rest = iter(values if isinstance(values, tuple) else (values,))
    end = 0
    for found in _CONVERSION.finditer(form):
        yield form[end : found.start()]
        end = found.end()
        key, shape, kind = found.group("key", "shape", "kind")
        if kind == "%":
            yield form[found.start() : found.start() + 1]
            continue
        stars = [next(rest, 0) for _ in range(shape.count("*"))]
        afford_numbers(shape, *stars)
        value = values[key] if key is not None and isinstance(values, dict) else next(rest, None)
        is_plain = kind == "s" and not shape
        yield inserted(value, is_plain, partial(str.__mod__, f"%{shape}{kind}", (*stars, value)))
    yield form[end:]


def inserted(value: Any, is_plain: bool, make: Callable[[], str]) -> MarkedText:
    """Return what a form puts in for a value: a text as it is where no more is asked, else what is made."""
    return joined([value]) if is_plain and isinstance(value, str) else opaque(make, value)


def afford_numbers(spec: str, *others: Any) -> None:
    """Refuse a width or a precision, in a form or beside it, that asks for too much."""
    widths = [int(number[:12]) for number in re.findall(r"\d+", spec)]
    budget().afford(max([*widths, *(n for n in others if isinstance(n, int))], default=0))


def _afford_pairs(text: str, other: Any) -> None:
    """Refuse what Python may do by holding each character of one text against each of another."""
    if isinstance(other, str):
        budget().afford(len(text) * len(other) // PAIRS_PER_STEP)
