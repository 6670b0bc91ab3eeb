"""The token tape: bytes under their characters and over their tokens (chapters 1b to 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Any

from tokenlab.checks import encode_text
from tokenlab.figures.drawing import MARGIN, Box, Figure, Label, Line, Shape, render
from tokenlab.figures.palette import BLUE, GREY, ORANGE
from tokenlab.figures.wording import amount, glyph, hexed, listed, quoted

CELL = 40  # the width of a byte, in pixels
LEFT = 126  # where the first byte stands, right of the names of the rows
SHOWN = 17  # bytes in a row; more would have to be scrolled to


def token_tape(
    content: bytes | str,
    ids: Sequence[int],
    token_bytes: Callable[[int], bytes],
    *,
    controls: Mapping[int, str] | None = None,
) -> Figure:
    """Draw bytes under their characters and over their tokens, and under these the bytes that decoding gives.

    Args:
        content: what was encoded; text stands for its UTF-8 bytes, and bytes need not be text.
        ids: its n token IDs; they may be wrong, the picture then shows where the bytes differ.
        token_bytes: gives the bytes of a token ID.
        controls: names of IDs that stand for no bytes, such as `{0: "BOS", 1: "EOS"}`.

    Returns:
        A `Figure` of at most 17 columns; what is cut is counted in it.

    Raises:
        LoneSurrogateError: the text has no UTF-8 form.

    >>> token_tape(" а", [258, 178], {258: b" \\xd0", 178: b"\\xb0"}.__getitem__)
    The 3 bytes 20 d0 b0 of ' а' (а is U+0430) become 2 tokens: 258 (20 d0) and 178 (b0). Decoding gives \
the same 3 bytes. 1 token border lies inside a character: а.
    """
    data = content if isinstance(content, bytes) else encode_text(content)
    controls = controls or {}
    names = [controls.get(token_id, str(token_id)) for token_id in ids]
    spelt = [b"" if token_id in controls else token_bytes(token_id) for token_id in ids]
    decoded = b"".join(spelt)
    tokens, columns = layout(spelt)
    characters = list(_characters(data))
    torn = _torn(characters, spelt) if data == decoded else {}

    shapes: list[Shape] = [Label(MARGIN, y, name, bold="↓" in name) for y, name in _TAPE_ROWS]
    for character, start, end in takewhile(lambda entry: entry[1] < len(columns), characters):
        first, last = columns[start], columns[min(end, len(columns)) - 1]
        seen, code = _character_lines(character)
        fill, hatch = (BLUE, "") if character else (GREY, "//")
        shapes.append(byte_box(first, last - first + 1, 14, 46, seen, code, fill, hatch=hatch))
    for y, row, other in ((60, data, decoded), (218, decoded, data)):
        cells = list(zip(row, columns, strict=False))
        for place, (byte, column) in enumerate(cells):
            hatch = "" if other[place : place + 1] == row[place : place + 1] else "//"
            shapes.append(byte_box(column, 1, y, 30, f"{byte:02x}", hatch=hatch))
        if cells:
            first, last = cells[0][1], cells[-1][1]
            shapes.append(byte_box(first, last - first + 1, y, 30, fill="none", border=3.5))
        if len(row) > len(columns):
            shapes.append(Label(LEFT + CELL * (columns[-1] + 1) + 6, y + 15, "…", 16))
    for (column, width), name, own in zip(tokens, names, spelt, strict=False):
        box = byte_box(column, width, 128, 50, name, own.hex(" "), ORANGE if own else GREY, 2, dashed=not own)
        edges, middle = (box.x, box.x + box.width), box.x + box.width / 2
        shapes.append(box)
        if own:
            shapes += [Line(edge, y, edge, y + 40, width=2) for edge in edges for y in (89, 178)]
            shapes += [Line(middle, y, middle, y + 24, arrow=True) for y in (97, 186)]
    for border in torn:
        if border < len(columns):
            x = LEFT + CELL * columns[border]
            shapes += [Line(x, 61, x, 128, dashed=True, width=3), Label(x, 8, "▼", 12, "center")]

    hidden = max(len(data), len(decoded)) - len(columns)
    words = [_match(data, decoded)]
    words += ["▼ and a dashed line: a token border inside a character"] if torn else []
    words += [f"… {amount(hidden, 'more byte')} not drawn"] if hidden > 0 else []
    shapes += [Label(LEFT, 268 + 20 * place, line, bold=not place) for place, line in enumerate(words)]
    return render(shapes, _tape_sentence(content, data, decoded, list(zip(names, spelt, strict=True)), torn))


_TAPE_ROWS = (
    *((37, "characters"), (75, "bytes (hex)"), (109, "encode ↓"), (145, "token IDs")),
    *((163, "and their bytes"), (198, "decode ↓"), (233, "bytes (hex)")),
)


def _tape_sentence(
    content: bytes | str, data: bytes, decoded: bytes, tokens: list[tuple[str, bytes]], torn: dict[int, str]
) -> str:
    try:
        what = f" of {quoted(data.decode())}" if data else ""
    except UnicodeDecodeError as error:
        what = f" (no UTF-8 text: byte {error.start} does not fit)"
    spelt = listed([f"{name} ({hexed(own)})" if own else name for name, own in tokens])
    become = "becomes" if len(data) == 1 else "become"
    same, other = f"the same {amount(len(data), 'byte')}", f"{counted(decoded)}: {_match(data, decoded)[2:]}"
    parts = [
        f"The {counted(data)}{what} {become} {amount(len(tokens), 'token')}{': ' * bool(tokens)}{spelt}.",
        f"Decoding gives {same if data == decoded else other}.",
    ]
    if torn:
        lie, inside = ("lies", "a character") if len(torn) == 1 else ("lie", "characters")
        where = listed(list(dict.fromkeys(torn.values())))
        parts.append(f"{amount(len(torn), 'token border')} {lie} inside {inside}: {where}.")
    return " ".join(parts)


def _match(data: bytes, decoded: bytes) -> str:
    if not data and not decoded:
        return "✓ no bytes above, no bytes below"
    if data == decoded:
        return f"✓ both frames hold the same {amount(len(data), 'byte')}"
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(data, decoded, strict=False)))
    return f"✗ the two rows of bytes first differ at byte {same}"


def _characters(data: bytes) -> Iterator[tuple[str | None, int, int]]:
    """Yield each character with its span in bytes; a byte that is no part of one is None."""
    start = 0
    for character in data.decode("utf-8", "surrogateescape"):
        stray = "\udc80" <= character <= "\udcff"
        end = start + (1 if stray else len(character.encode()))
        yield None if stray else character, start, end
        start = end


def _character_lines(character: str | None) -> tuple[str, str]:
    """Return what stands in a character's box: it, and its code point where eyes cannot tell."""
    if character is None:
        return "none", ""
    if not character.isprintable():
        return "U+", f"{ord(character):04X}"
    return glyph(character), f"U+{ord(character):04X}" if ord(character) > 127 else ""


def _torn(characters: list[tuple[str | None, int, int]], spelt: list[bytes]) -> dict[int, str]:
    """Return, for each token border inside a character, its place in bytes and the character."""
    borders = set(accumulate(map(len, spelt)))
    return {
        border: glyph(character)
        for character, start, end in characters
        if character
        for border in range(start + 1, end)
        if border in borders
    }


def layout(spelt: Sequence[bytes]) -> tuple[list[tuple[int, int]], list[int]]:
    """Return (column, width) of each token that is drawn, and the column of each byte that is."""
    tokens: list[tuple[int, int]] = []
    columns: list[int] = []
    column = 0
    for own in spelt:
        width = len(own) or 1
        if tokens and column + width > SHOWN:
            return tokens, columns
        tokens.append((column, min(width, SHOWN)))
        columns += range(column, min(column + len(own), SHOWN))
        column += width
    return tokens, columns + list(range(column, SHOWN))  # room for bytes that no token stands for


def byte_box(column: int, width: int, y: float, height: float, *args: Any, **options: Any) -> Box:
    return Box(LEFT + CELL * column, y, CELL * min(width, SHOWN - column), height, *args, **options)


def counted(data: bytes) -> str:
    return f"{amount(len(data), 'byte')} {hexed(data)}".strip()
