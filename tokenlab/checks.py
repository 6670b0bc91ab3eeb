"""What callers give, checked once: documents, counts, token IDs, strict UTF-8 both ways (chapters 1 to 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from operator import index
from reprlib import repr as short_repr
from typing import Any

from tokenlab.errors import (
    ComponentError,
    InvalidArgumentError,
    InvalidTokenIdError,
    InvalidUtf8Error,
    LoneSurrogateError,
    SingleDocumentError,
)

Bytes = bytes | bytearray | memoryview


def unexpected(name: str, expected: str, found: object) -> InvalidArgumentError:
    """Make the error for an argument that is not what it should be.

    >>> str(unexpected("merge_count", "an int from 0 on", -1))
    'merge_count: expected an int from 0 on, found -1'
    """
    return InvalidArgumentError(name=name, expected=expected, found=brief(found))


def contradiction(component: object, field: str, expected: str, found: str) -> ComponentError:
    """Make the error for a component, or one named so, with a field that cannot be meant.

    >>> str(contradiction("BPE", "dropout", "null or 0", "0.5"))
    'BPE.dropout: expected null or 0, found 0.5'
    """
    name = component if isinstance(component, str) else type(component).__name__
    return ComponentError(component=name, field=field, expected=expected, found=found)


def check_choice(component: object, field: str, allowed: Sequence[str]) -> None:
    """Refuse a component with a field whose text is none of those allowed.

    >>> from tokenlab.pipeline.encoding import Padding
    >>> Padding(direction="left")
    Traceback (most recent call last):
    tokenlab.errors.ComponentError: Padding.direction: expected Right or Left, found 'left'
    """
    if (value := getattr(component, field)) not in allowed:
        raise contradiction(component, field, " or ".join(allowed), brief(value))


def set_fields(component: object, **values: object) -> None:
    """Set fields of a frozen dataclass, while it is being made."""
    for name, value in values.items():
        object.__setattr__(component, name, value)


def brief(value: object) -> str:
    """Return a short spelling of any value at all.

    >>> brief("e"), brief([10**5000])
    ("'e'", 'a list')
    """
    try:
        return short_repr(value)
    except Exception:  # an int of more digits than Python writes out, or an object that cannot be shown
        return f"a {type(value).__name__}"


def iterate(values: Any, name: str, expected: str) -> Iterator[Any]:
    """Return an iterator over `values`, which must have one (an array without dimensions has none).

    That of a text, of bytes or of a mapping is never what was meant: letters, numbers, keys.

    >>> list(iterate((97, 98), "pair", "two training IDs"))
    [97, 98]
    """
    try:
        if isinstance(values, str | Bytes | Mapping):
            raise TypeError
        return iter(values)
    except TypeError:
        raise unexpected(name, expected, values) from None


def check_count(name: str, value: Any, minimum: int = 0) -> int:
    """Return `value` as a plain int that is at least `minimum`.

    >>> check_count("merge_count", 8)
    8
    """
    try:
        count = index(value)
    except TypeError:
        count = minimum - 1
    if isinstance(value, bool) or count < minimum:
        raise unexpected(name, f"an int from {minimum} on", value)
    return count


def check_documents(documents: Any) -> Iterator[Any]:
    """Return an iterator over several documents; one text by itself is refused.

    >>> list(check_documents(["low lower", "new"]))
    ['low lower', 'new']
    """
    if isinstance(documents, str | Bytes):
        raise SingleDocumentError(found=type(documents).__name__)
    return iterate(documents, "documents", "an iterable of documents")


def check_text(text: Any, name: str = "text") -> str:
    """Return `text`, which must be a str.

    >>> check_text("e")
    'e'
    """
    if not isinstance(text, str):
        raise unexpected(name, "a str", text)
    return text


def check_token_ids(ids: Any) -> list[int]:
    """Return the IDs as a list of plain ints; whether a vocabulary holds them is not asked here.

    >>> check_token_ids((258, 178))
    [258, 178]
    """
    expected = "a sequence of token IDs"
    if isinstance(ids, Set):
        raise unexpected("ids", expected, ids)
    checked = list(iterate(ids, "ids", expected))
    if set(map(type, checked)) <= {int}:
        return checked
    for position, token_id in enumerate(checked):
        try:
            if isinstance(token_id, bool):
                raise TypeError
            checked[position] = index(token_id)
        except TypeError:
            raise InvalidTokenIdError(position=position, found=brief(token_id)) from None
    return checked


def encode_text(text: Any, name: str = "text") -> bytes:
    """Return the UTF-8 bytes of a str; a lone surrogate has none.

    >>> encode_text(" а").hex(" ")
    '20 d0 b0'
    """
    try:
        return check_text(text, name).encode()
    except UnicodeEncodeError as error:
        raise LoneSurrogateError(position=error.start, code_point=ord(text[error.start])) from None


def decode_text(data: bytes) -> str:
    """Return the text that the bytes are the UTF-8 of; nothing is replaced.

    >>> decode_text(b" \\xd0\\xb0")
    ' а'
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidUtf8Error(position=error.start, reason=error.reason) from None
