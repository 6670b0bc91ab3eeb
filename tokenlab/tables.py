"""Tables for notebooks and terminals, and how text and bytes are spelt in tables and figures (all chapters).

A table is shown as HTML with a caption and header cells that name their scope, and as plain text with the
same cells. After the table techniques of the W3C Web Accessibility Initiative (H39 caption, H63 scope).
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokenlab.errors import TokenLabError

# Cyrillic and Greek letters that look like Latin ones, at least in small capitals.
LOOK_ALIKES = dict(
    zip(
        "аеорсухіѕјԁһвкмнтАВЕКМНОРСТУХЅІЈαινορυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "aeopcyxisjdhBkMHTABEKMHOPCTYXSIJaivopuABEZHIKMNOPTYX",
        strict=True,
    )
)


def printable(text: str) -> str:
    """Return text with every character that has no glyph written as its code point.

    Args:
        text: any string; control and format characters, odd spaces and lone surrogates may be in it.

    Returns:
        The string in which only printable characters and plain spaces are left as they are.

    >>> printable("a\\tb"), printable("é")
    ('a<U+0009>b', 'é')
    """
    return "".join(
        character if character.isprintable() and not _is_variation(character) else f"<U+{ord(character):04X}>"
        for character in text
    )


def _is_variation(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f"  # Python calls them printable, but nothing is seen of one


def text_columns(text: str) -> int:
    """Return the width of printable text in columns of a monospaced font.

    Args:
        text: printable characters (wide ones, as in Chinese, take two columns, combining marks none).

    Returns:
        The number of columns.

    >>> text_columns("ab"), text_columns("北京"), text_columns("e\\u0301")
    (2, 4, 1)
    """
    return sum(
        2 if unicodedata.east_asian_width(character) in "WF" else not unicodedata.combining(character)
        for character in text
    )


def _spelt(value: object) -> str:
    return value.hex(" ") if isinstance(value, bytes) else printable(str(value))


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text cells with a caption; the first cell of each row is the row's header.

    Made by `table`. A notebook shows it as HTML, a terminal as plain text with the same cells.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    monospaced: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()

    def __str__(self) -> str:
        widths = [max(map(text_columns, column)) for column in zip(self.header, *self.rows, strict=True)]
        ruled = [self.header, tuple("-" * width for width in widths), *self.rows]
        lines = ("  ".join(map(self._padded, self.header, row, widths)) for row in ruled)
        return "\n".join([self.caption, *(line.rstrip() for line in lines)])

    __repr__ = __str__

    def _padded(self, column: str, text: str, width: int) -> str:
        room = " " * (width - text_columns(text))
        return room + text if column in self.numeric else text + room

    def _repr_html_(self) -> str:
        head = "".join(self._cell("th", "col", column, column) for column in self.header)
        body = "".join(map(self._row, self.rows))
        caption = f'<caption style="text-align:left">{html.escape(self.caption)}</caption>'
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _row(self, row: tuple[str, ...]) -> str:
        cells = enumerate(zip(self.header, row, strict=True))
        shown = (self._cell("td" if n else "th", "" if n else "row", *cell) for n, cell in cells)
        return f"<tr>{''.join(shown)}</tr>"

    def _cell(self, tag: str, scope: str, column: str, text: str) -> str:
        style = f"text-align:{'right' if column in self.numeric else 'left'}"
        if column in self.monospaced and scope != "col":
            style += ";font-family:monospace;white-space:pre-wrap"
        scope = scope and f' scope="{scope}"'
        return f'<{tag}{scope} style="{style}">{html.escape(text)}</{tag}>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": str(self)}


def table(
    rows: Iterable[Sequence[object]] | Mapping[object, object],
    header: Sequence[str],
    caption: str,
    *,
    monospaced: Collection[str] = (),
) -> Table:
    """Lay out rows as a table whose HTML and plain text hold the same cells.

    Args:
        rows: m rows of n cells, or a mapping as rows of key and value. Bytes are written as hex,
            characters without a glyph as code points, everything else as `str` gives it.
        header: n different column names.
        caption: what the table shows, one line.
        monospaced: the columns that hold bytes, IDs or exact text.

    Returns:
        A `Table`; columns of nothing but `int` and `float` are set to the right.

    Raises:
        TokenLabError: a row has another length than the header.

    >>> print(table([(" ", b" ", 34)], ["character", "hex", "ID"], "A space", monospaced=["hex", "ID"]))
    A space
    character  hex  ID
    ---------  ---  --
               20   34
    """
    cells = [tuple(row) for row in (rows.items() if isinstance(rows, Mapping) else rows)]
    for position, row in enumerate(cells):
        if len(row) != len(header):
            expected = f"{len(header)} cells ({', '.join(header)})"
            raise TokenLabError(f"row {position}: expected {expected}, found {len(row)}", position=position)
    numeric = frozenset(
        name
        for name, *column in zip(header, *cells, strict=True)
        if column and all(isinstance(value, (int, float)) for value in column)
    )
    return Table(
        printable(caption),
        tuple(map(_spelt, header)),
        tuple(tuple(map(_spelt, row)) for row in cells),
        frozenset(map(_spelt, monospaced)),
        numeric,
    )
