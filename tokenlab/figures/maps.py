"""Maps: the bytes of a file by section (chapter 7), and the notebooks of the course (chapter 0)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from string import ascii_uppercase
from typing import TYPE_CHECKING

from tokenlab.figures.drawing import MARGIN, WIDTH, Box, Figure, Label, Line, Shape, fit, render
from tokenlab.figures.palette import BLUE, GREEN, GREY, MUTED, ORANGE, PAPER
from tokenlab.figures.wording import amount

if TYPE_CHECKING:
    from tokenlab.formats.layout import Field

LINE, LINES = 16, 3  # bytes in a line, lines of a section
HEX = MARGIN + 264  # where the bytes stand, right of the names
SECTIONS = len(ascii_uppercase)
PATTERNS = [(BLUE, ""), (ORANGE, "//"), (GREEN, ".."), (GREY, "xx"), (PAPER, "--"), (BLUE, "\\")]


def byte_map(data: bytes, fields: Iterable[Field], *, depth: int = 1) -> Figure:
    """Draw a file as a strip of lettered sections, and the first bytes of each of them.

    Args:
        data: the n bytes of the file.
        fields: what `formats.mtok.explain` says of it, in the order of the file.
        depth: how much of a field's path names its section: 1 for `Model`, 2 for `Model / BPE`.

    Returns:
        A `Figure` of at most 26 sections and 48 bytes of each; what is cut is counted in it.

    >>> from tokenlab.formats.layout import Field
    >>> byte_map(b"430", [Field("Header", "magic", 0, b"430", 430, "the number that marks the format")])
    The file has 3 bytes in 1 section: A, Header, 3 bytes from 0. Every byte belongs to a section.
    """
    sections = []
    for name, group in groupby(fields, lambda field: " / ".join(field.section.split(" / ")[:depth])):
        parts = list(group)
        sections.append((name, parts[0].offset, parts[-1].offset + parts[-1].length))
    shapes: list[Shape] = []
    listing: list[str] = []
    shown = sections[:SECTIONS]
    total = sum(end - start for _, start, end in shown)
    x: float = MARGIN
    y: float = MARGIN + 60
    for place, (name, start, end) in enumerate(shown):
        letter, (fill, hatch) = ascii_uppercase[place], PATTERNS[place % len(PATTERNS)]
        size = f"{amount(end - start, 'byte')} from {start:,}"
        listing.append(f"{letter}, {name}, {size}")
        width = 14 + (WIDTH - 2 * MARGIN - 14 * len(shown)) * (end - start) / max(total, 1)
        shapes += [
            Box(x, MARGIN, width, 26, fill=fill, hatch=hatch),
            Label(x + width / 2, MARGIN + 38, letter, 13, "center", mono=True, bold=True),
            Box(MARGIN, y, 16, 34, fill=fill, hatch=hatch),
            Label(MARGIN + 24, y + 9, *fit(f"{letter}  {name}", 14, 236), bold=True),
            Label(MARGIN + 46, y + 27, size, 12, color=MUTED),
        ]
        x, first = x + width, y
        for line in range(start, min(end, start + LINE * LINES), LINE):
            row = data[line : min(end, line + LINE)]
            seen = "".join(chr(byte) if 32 < byte < 127 else "·" for byte in row)
            shapes.append(Label(HEX, y + 9, row.hex(" "), mono=True))
            shapes.append(Label(HEX + 390, y + 9, seen, mono=True, color=MUTED))
            y += 20
        if end - start > LINE * LINES:
            words = f"… {amount(end - start - LINE * LINES, 'more byte')}"
            shapes.append(Label(HEX, y + 9, words, 12, color=MUTED))
            y += 20
        y = max(y + 8, first + 48)
    if more := len(sections) - len(shown):
        listing.append(amount(more, "more section"))
    if more or not sections:
        words = f"… {listing[-1]} not drawn" if more else "no sections"
        shapes.append(Label(MARGIN, y + 9, words))
    covered = reached = 0
    for _, start, end in sorted(sections, key=lambda section: section[1]):
        covered += max(end - max(start, reached), 0)
        reached = max(end, reached)
    outside = len(data) - covered
    rest = "Every byte belongs to a section." if not outside else f"{amount(outside, 'byte')} in no section."
    have = f"The file has {amount(len(data), 'byte')} in {amount(len(sections), 'section')}"
    return render(shapes, f"{have}{': ' * bool(listing)}{'; '.join(listing)}. {rest}")


def chapter_map(chapters: Sequence[tuple[str, str]], *, here: str = "") -> Figure:
    """Draw the notebooks in their order with the question that each answers.

    Args:
        chapters: (name, question) of each notebook; a letter after the number marks a second idea.
        here: the name of the notebook that the reader is in.

    Returns:
        A `Figure` with a row for each notebook.

    >>> chapter_map([("00_start", "How?"), ("00b_toolbox", "With what?")], here="00b_toolbox")
    2 notebooks. 00_start: How? 00b_toolbox (you are here): With what?
    """
    shapes: list[Shape] = []
    bottom: float = MARGIN
    told = [f"{amount(len(chapters), 'notebook')}."]
    for place, (name, question) in enumerate(chapters):
        y, second, current = MARGIN + 42 * place, name[2:3].isalpha(), name == here
        x = MARGIN + 40 * second
        fill, border, mark = (ORANGE, 4, "► you are here: ") if current else (BLUE, 1, "")
        shapes += [
            Box(x, y, 300 - 40 * second, 32, name, fill=fill, border=border),
            Label(MARGIN + 316, y + 16, mark + question, bold=current),
        ]
        if second:
            shapes.append(Line(MARGIN + 20, y + 16, x - 1, y + 16, arrow=True))
        else:
            if place:
                shapes.append(Line(MARGIN + 20, bottom, MARGIN + 20, y - 1, arrow=True))
            bottom = y + 32
        told.append(f"{name}{' (you are here)' * current}: {question}")
    return render(shapes, " ".join(told))
