"""Tables: HTML and plain text hold the same cells, and nothing in a cell can break either."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenlab.errors import TokenLabError
from tokenlab.tables import Table, printable, table, text_columns


class Cells(HTMLParser):
    """Collects (tag, scope, text) of the caption and of each cell."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None, str]] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("caption", "th", "td"):
            self.found.append((tag, dict(attributes).get("scope"), ""))

    def handle_data(self, text: str) -> None:
        tag, scope, before = self.found[-1]
        self.found[-1] = (tag, scope, before + text)


SMALL = table(
    [("b", b"b", 100), ("а", "а".encode(), 210), ("<b> & co", b"", 7)],
    ["character", "bytes (hex)", "ID"],
    "Three <rows>",
    monospaced=["bytes (hex)"],
)


def test_html_has_a_caption_and_header_cells_with_their_scope() -> None:
    found = Cells(SMALL._repr_html_()).found
    assert found[0] == ("caption", None, "Three <rows>")
    assert [cell for cell in found if cell[1] == "col"] == [
        ("th", "col", name) for name in ("character", "bytes (hex)", "ID")
    ]
    assert [text for tag, scope, text in found if scope == "row"] == ["b", "а", "<b> & co"]
    assert [text for tag, _, text in found if tag == "td"] == ["62", "100", "d0 b0", "210", "", "7"]


def test_plain_text_is_aligned_and_shown_where_html_is_not() -> None:
    assert str(SMALL) == (
        "Three <rows>\n"
        "character  bytes (hex)   ID\n"
        "---------  -----------  ---\n"
        "b          62           100\n"
        "а          d0 b0        210\n"
        "<b> & co                  7"
    )
    assert SMALL._repr_mimebundle_() == {"text/html": SMALL._repr_html_(), "text/plain": str(SMALL)}


def test_wide_characters_take_two_columns_so_that_the_next_column_stays_straight() -> None:
    lines = str(table([("北京", "x"), ("ab", "y")], ["piece", "next"], "Widths")).splitlines()
    assert {text_columns(line[: line.index(mark)]) for line, mark in zip(lines[3:], "xy", strict=True)} == {7}


@given(st.lists(st.tuples(st.text(), st.binary(max_size=4)), max_size=4))
def test_both_forms_hold_the_same_cells_whatever_is_in_them(rows: list[tuple[str, bytes]]) -> None:
    made = table(rows, ["text", "bytes"], "Any\ncell")
    html = [text for _, _, text in Cells(made._repr_html_()).found]
    assert html == [made.caption, *made.header, *(cell for row in made.rows for cell in row)]
    lines = str(made).split("\n")
    assert len(lines) == 3 + len(rows)
    for line, row in zip(lines[3:], made.rows, strict=True):
        assert line.replace(" ", "") == "".join(row).replace(" ", "")
    assert all(character.isprintable() for text in html for character in text)


def test_characters_without_a_glyph_are_written_as_code_points() -> None:
    assert printable("a\x00\ud800\u200d b") == "a<U+0000><U+D800><U+200D> b"


def test_a_mapping_is_a_table_of_two_columns() -> None:
    assert table({"English": 0.5}, ["language", "rate"], "Rates").rows == (("English", "0.5"),)


def test_a_row_of_another_length_is_refused_with_its_position() -> None:
    with pytest.raises(TokenLabError, match="row 1: expected 2 cells \\(a, b\\), found 1") as caught:
        table([("1", "2"), ("3",)], ["a", "b"], "")
    assert caught.value.position == 1


def test_an_empty_table_is_its_caption_and_header() -> None:
    assert str(Table("Nothing", ("a", "b"), ())) == "Nothing\na  b\n-  -"
