"""Text on its way: the road to IDs and back, the stages of a pipeline, offsets (chapters 0 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from tokenlab.checks import encode_text
from tokenlab.figures.drawing import MARGIN, WIDTH, Box, Figure, Label, Line, Shape, lanes, render
from tokenlab.figures.palette import BLUE, GREY, MUTED, ORANGE
from tokenlab.figures.wording import amount, glyph, hexed, listed, quoted, quotes, visible
from tokenlab.tables import text_columns

Span = tuple[int, int]
STEP = 86  # from one row of pieces to the next, in pixels
CHARACTERS = 16


def pipeline_stages(stages: Sequence[tuple[str, Sequence[str]]]) -> Figure:
    """Draw the pieces of a text after each stage, one row a stage.

    Args:
        stages: n pairs of what was done and the pieces that there are then.

    Returns:
        A `Figure`; pieces that do not fit into a row are counted at its end.

    >>> pipeline_stages([("text", ["Hi you"]), ("split at spaces", ["Hi", "you"])])
    Text: 'Hi you'. Split at spaces: 'Hi' and 'you'.
    """
    told = [
        f"{name[:1].upper()}{name[1:]}: {listed([*map(quotes, pieces)]) or 'nothing'}."
        for name, pieces in stages
    ]
    return render(list(_rows((name, map(visible, pieces)) for name, pieces in stages)), " ".join(told))


def road_map(text: str, ids: Sequence[int], token_bytes: Callable[[int], bytes]) -> Figure:
    """Draw the whole road: text, its bytes, their token IDs, the bytes again and the text again.

    Args:
        text: a short text.
        ids: its token IDs.
        token_bytes: gives the bytes of a token ID.

    Returns:
        A `Figure` of five rows.

    >>> road_map("e ", [265], {265: b"e "}.__getitem__)
    The text 'e ' is 2 bytes in UTF-8: 65 20. The tokenizer encodes them as 1 token ID: 265. \
Decoding puts the bytes 65 20 together again: the same text.
    """
    spelt = [token_bytes(token_id) for token_id in ids]
    data, decoded = encode_text(text), b"".join(spelt)
    same = data == decoded
    rows: list[tuple[str, Iterable[str]]] = [
        ("text, in characters", map(glyph, text)),
        ("to bytes, by UTF-8 (hex)", (f"{byte:02x}" for byte in data)),
        ("to token IDs, by the tokenizer", map(str, ids)),
        ("back to bytes, each ID to its own", (own.hex(" ") for own in spelt)),
        ("back to text, by UTF-8", map(glyph, text) if same else ["other bytes"]),
    ]
    end = "the same text" if same else "other bytes than those of the text"
    mark = Label(MARGIN, MARGIN + 5 * STEP, f"{'✓' if same else '✗'} {end}", bold=True)
    sentence = (
        f"The text {quoted(text)} is {amount(len(data), 'byte')} in UTF-8: {hexed(data)}. "
        f"The tokenizer encodes them as {amount(len(ids), 'token ID')}: {listed([*map(str, ids)])}. "
        f"Decoding puts the bytes {hexed(decoded)} together again: {end}."
    )
    return render([*_rows(rows), mark], sentence)


def offsets_map(
    original: str, normalized: str, spans: Sequence[Span], tokens: Sequence[str], offsets: Sequence[Span]
) -> Figure:
    """Draw which original characters each normalised character and each token came from.

    Args:
        original: the text as it was given, n code points.
        normalized: the text after normalisation, m code points.
        spans: for each of its characters (start, end) in code points of the original.
        tokens: k tokens.
        offsets: for each of them (start, end) in code points of the original; empty where it came from none.

    Returns:
        A `Figure` of at most 16 original characters; what is cut is counted in it.

    >>> offsets_map("ﬁn", "fin", [(0, 1), (0, 1), (1, 2)], ["fi", "n"], [(0, 1), (1, 2)])
    The original 'ﬁn' has 2 characters, its normalised form 'fin' 3. 2 tokens: 'fi' from [0:1] 'ﬁ' and \
'n' from [1:2] 'n'.
    """
    kept = [place for place, (_, end) in enumerate(spans) if end <= CHARACTERS and place < CHARACTERS + 4]
    spanned = [place for place, (start, end) in enumerate(offsets) if start < end <= CHARACTERS]
    levels = lanes([offsets[place] for place in spanned])
    top = MARGIN + 26 * (max(levels, default=0) + 1)
    left = MARGIN + 96
    cell = min(46, (WIDTH - MARGIN - left) / max(len(kept), min(len(original), CHARACTERS), 1))
    names = ((top - 15, "token no."), (top + 22, "original"), (top + 112, "normalised"))
    shapes: list[Shape] = [Label(MARGIN, y, name) for y, name in names]
    for level, place in zip(levels, spanned, strict=True):
        start, end = offsets[place]
        x, width = left + cell * start, cell * (end - start)
        shapes.append(Box(x + 2, top - 26 * (level + 1), width - 4, 22, str(place + 1), fill=ORANGE))
    for place, character in enumerate(original[:CHARACTERS]):
        shapes.append(Box(left + cell * place, top, cell, 44, glyph(character), str(place), BLUE))
    for place in kept:
        (start, end), x = spans[place], left + cell * place
        border = 3 if normalized[place] != original[start:end] else 1
        shapes.append(Box(x, top + 94, cell, 36, glyph(normalized[place]), fill=GREY, border=border))
        shapes.append(Line(x + cell / 2, top + 93, left + cell * (start + end) / 2, top + 46, arrow=True))
    shapes.append(Label(left, top + 144, "thick frame: changed or put in", 12, color=MUTED))
    shapes.append(Label(MARGIN, top + 172, "tokens: number, text, [start:end] in the original", bold=True))
    spelt = [f"[{start}:{end}]" if start < end else "none" for start, end in offsets]
    numbered = (f"{place} {visible(token)}" for place, token in enumerate(tokens, 1))
    shapes += _boxes(list(zip(numbered, spelt, strict=True)), top + 188, 46)
    if len(original) > CHARACTERS:
        more = amount(len(original) - CHARACTERS, "more character")
        shapes.append(Label(left, top + 250, f"… {more} of the original not drawn"))
    origins = [
        f"{quotes(token)} from {span}" + f" {quotes(original[start:end])}" * (start < end)
        for token, span, (start, end) in zip(tokens, spelt, offsets, strict=True)
    ]
    sentence = (
        f"The original {quoted(original)} has {amount(len(original), 'character')}, "
        f"its normalised form {quoted(normalized)} {len(normalized):,}. "
        f"{amount(len(tokens), 'token')}: {listed(origins) or 'none'}."
    )
    return render(shapes, sentence)


def _rows(rows: Iterable[tuple[str, Iterable[str]]]) -> Iterator[Shape]:
    """Yield rows of boxes under their names; a row that is too long ends in a count of what is left."""
    for place, (name, pieces) in enumerate(rows):
        y = MARGIN + STEP * place
        yield Label(MARGIN, y + 10, f"{'↓ ' * bool(place)}{name}", bold=True)
        yield from _boxes([(piece, "") for piece in pieces], y + 26, 40)


def _boxes(pieces: Sequence[tuple[str, str]], y: float, height: float) -> Iterator[Shape]:
    x: float = MARGIN
    for place, (text, below) in enumerate(pieces):
        width = max(34, 16 + 9.2 * text_columns(text), 16 + 7.4 * text_columns(below))
        room = WIDTH - MARGIN - 90 * (place < len(pieces) - 1)
        if x + width > room and place:
            yield Label(x + 4, y + height / 2, f"… {len(pieces) - place:,} more")
            return
        yield Box(x, y, min(width, room - x), height, text, below, ORANGE if place % 2 else BLUE)
        x += width
