"""`MarkedText` is a `str` that does what `str` does, and its marks go with the characters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenlab.chat.marked import (
    DATA,
    TEMPLATE,
    UNTRACEABLE,
    MarkedText,
    joined,
    mark,
    marks_of,
    opaque,
    percent,
    quoted,
)

LETTERS = st.text("ab <|>\n\tßİΣé", max_size=9)
MARKED = LETTERS.flatmap(
    lambda text: st.binary(min_size=len(text), max_size=len(text)).map(
        lambda raw: MarkedText(text, bytes(b"td"[byte & 1] for byte in raw))
    )
)

# Operations that only choose and order characters: with characters that say who wrote them (written by the
# template: a to m, by data: n to z), the marks of the result can be read off its letters.
CHOOSING = [
    lambda s, t: s.strip(),
    lambda s, t: s.lstrip("an"),
    lambda s, t: s.rstrip("zm "),
    lambda s, t: s.removeprefix(t[:1]),
    lambda s, t: s.removesuffix(t[-1:]),
    lambda s, t: s[1:-1],
    lambda s, t: s[::-1],
    lambda s, t: s[::2],
    lambda s, t: s[0] if s else s,
    lambda s, t: s[-1] if s else s,
    lambda s, t: s + t,
    lambda s, t: s * 2,
    lambda s, t: 2 * s,
    lambda s, t: s.replace("a", t),
    lambda s, t: s.replace("nz", t, 1),
    lambda s, t: s.join([t, s, t]),
    lambda s, t: list(s),
    lambda s, t: s.split(),
    lambda s, t: s.split("a"),
    lambda s, t: s.split("n", 1),
    lambda s, t: s.split(None, 1),
    lambda s, t: s.rsplit("z", 1),
    lambda s, t: s.rsplit(None, 1),
    lambda s, t: s.splitlines(),
    lambda s, t: s.splitlines(True),
    lambda s, t: s.partition("m"),
    lambda s, t: s.rpartition("z"),
    lambda s, t: sorted(s),
    lambda s, t: list(reversed(s)),
]
SIGNED = st.text("amnz \n", max_size=8)


def signed(text: str) -> MarkedText:
    """A text whose letters say who wrote them; white space: the template."""
    return MarkedText(text, b"".join(DATA if "n" <= letter <= "z" else TEMPLATE for letter in text))


@pytest.mark.parametrize("operation", CHOOSING)
@given(text=SIGNED, other=SIGNED)
@settings(max_examples=60, deadline=None)
def test_marks_go_with_their_characters(operation: Any, text: str, other: str) -> None:
    made, expected = operation(signed(text), signed(other)), operation(text, other)
    assert made == expected
    for part in made if isinstance(made, (list, tuple)) else [made]:
        assert isinstance(part, MarkedText)
        assert part.marks == signed(part).marks


SAME_AS_STR = [
    *("upper", "lower", "title", "capitalize", "swapcase", "casefold", "strip", "split", "splitlines"),
    *("isdigit", "isspace", "isupper", "islower", "isalpha"),
]


@pytest.mark.parametrize("method", SAME_AS_STR)
@given(text=MARKED)
@settings(max_examples=60, deadline=None)
def test_methods_give_what_str_gives(method: str, text: MarkedText) -> None:
    made, expected = getattr(text, method)(), getattr(str.__str__(text), method)()
    assert made == expected
    if isinstance(made, str):
        assert len(marks_of(made)) == len(made)


@given(text=MARKED)
def test_changing_case_letter_by_letter_keeps_the_marks(text: MarkedText) -> None:
    expected = b"".join(text.marks[i : i + 1] * len(c.upper()) for i, c in enumerate(str.__str__(text)))
    assert text.upper().marks == expected


@given(text=MARKED, width=st.integers(0, 14))
def test_padding_keeps_the_text_in_its_place(text: MarkedText, width: int) -> None:
    for method in ("center", "ljust", "rjust"):
        made = getattr(text, method)(width, "*")
        plain = getattr(str.__str__(text), method)(width, "*")
        assert made == plain
        start = plain.find(str.__str__(text))
        assert made.marks[start : start + len(text)] == text.marks or not text


@given(text=MARKED, other=MARKED, number=st.integers(-9, 999))
def test_percent_formatting_is_that_of_str(text: MarkedText, other: MarkedText, number: int) -> None:
    form = MarkedText("<%s|%05d|%-4s|%%|%r>", TEMPLATE * 20)
    made = percent(form, (text, number, other, text))
    assert made == "<%s|%05d|%-4s|%%|%r>" % (text, number, other, text)  # noqa: UP031
    assert made.marks[1 : 1 + len(text)] == text.marks
    assert (
        percent(MarkedText("%(a)s%(b)d", TEMPLATE * 10), {"a": text, "b": 5}).marks[: len(text)] == text.marks
    )


@pytest.mark.parametrize("form", ["%", "%s %s", "%d", "%z", "%(a)s", "%*d", "%.1000s%"])
@pytest.mark.parametrize("values", ["x", ("x",), ("x", "y"), {"a": "x"}, (3, 4), ()])
def test_percent_formatting_fails_where_str_does(form: str, values: Any) -> None:
    try:
        expected = form % values
    except (TypeError, ValueError, KeyError):
        with pytest.raises((TypeError, ValueError, KeyError)):
            percent(MarkedText(form, TEMPLATE * len(form)), values)
    else:
        assert percent(MarkedText(form, TEMPLATE * len(form)), values) == expected


@given(text=MARKED, other=MARKED)
def test_quoted_strings_keep_their_marks(text: MarkedText, other: MarkedText) -> None:
    for quote in (repr, json.dumps):
        value = [text, 5, {"k": other}, None]
        made = quoted(quote(value), [text, "k", other], quote, value)
        assert str.__str__(made) == quote(value)
        start = quote([text]).find(quote(text))
        for mark_of_letter, letter in zip(text.marks[:1], str.__str__(text)[:1], strict=True):
            width = len(quote(letter)) - 2
            assert made.marks[start + 1 : start + 1 + width] == bytes([mark_of_letter]) * width


def test_what_cannot_be_followed_belongs_to_its_one_writer_or_to_nobody() -> None:
    data, template = mark("a", DATA), mark("b", TEMPLATE)
    assert opaque(lambda: "xy", data, [data]).marks == DATA * 2
    assert opaque(lambda: "xy", {"k": template}).marks == UNTRACEABLE * 2
    assert opaque(lambda: "xy", [template]).marks == TEMPLATE * 2
    assert opaque(lambda: "xy", data, template).marks == UNTRACEABLE * 2
    assert opaque(lambda: "xy", 5).marks == UNTRACEABLE * 2


def test_a_text_is_found_by_its_characters_whoever_wrote_them() -> None:
    assert {mark("role", TEMPLATE): 1}[mark("role", DATA)] == 1
    assert mark("role", DATA) == "role" and "ol" in mark("role", DATA)
    assert joined([mark("a", DATA), "b"], mark("-", TEMPLATE)).marks == b"dt?"
