"""Bars and dots with their values beside them: growth, rates by language, training (chapters 1 to 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from tokenlab.figures.drawing import MARGIN, WIDTH, Box, Figure, Label, Shape, fit, render
from tokenlab.figures.palette import BLUE, ORANGE
from tokenlab.figures.wording import amount, listed
from tokenlab.tables import text_columns

ROW, MOST_ROWS = 28, 40
Panel = tuple[str, Sequence[float | None], bool]  # title, a value for each row, whether as dots


def bars_by_group(
    values: Mapping[str, float] | Mapping[str, Mapping[str, float]], what: str, *, unit: str = ""
) -> Figure:
    """Draw one bar for each group, or for each series in each group, with its value.

    Args:
        values: k groups, such as languages, each with a number of 0 or more, or with m named numbers.
        what: what the numbers are, such as "unknown words".
        unit: written after each number.

    Returns:
        A `Figure` of at most 40 bars; what is cut is counted in it.

    >>> bars_by_group({"English": 0.5, "Russian": 12.25}, "Unknown words", unit=" %")
    Unknown words: 0.5 % (English) and 12.2 % (Russian). The highest is Russian, the lowest English.
    """
    flat = {
        f"{group} {name}" if name else group: value
        for group, entry in values.items()
        for name, value in (entry.items() if isinstance(entry, Mapping) else [("", entry)])
    }
    high, low = ([key for key in flat if flat[key] == end(flat.values(), default=0)] for end in (max, min))
    verb = "is" if len(high) == 1 else "are"
    extremes = f"The highest {verb} {listed(high, 3)}, the lowest {listed(low, 3)}." if high != low else ""
    return _chart(list(flat), (what, list(flat.values()), False), conclusion=extremes, unit=unit)


def vocabulary_growth(
    merge_counts: Sequence[int], token_counts: Sequence[int], *, base_size: int = 258
) -> Figure:
    """Draw how many tokens a text takes as the vocabulary grows, and what each merge buys.

    Args:
        merge_counts: n numbers of merges, ascending.
        token_counts: the n numbers of tokens of one text, best one held out from training.
        base_size: the size of the vocabulary without merges.

    Returns:
        A `Figure` with a row for each number of merges, at most 40.

    >>> vocabulary_growth([0, 8, 64], [1000, 800, 688])
    Tokens of the text: 1,000 (0 merges, 258 IDs), 800 (8 merges, 266 IDs) and 688 (64 merges, 322 IDs). \
Saved by each merge since the row above: 25 (8 merges, 266 IDs) and 2 (64 merges, 322 IDs).
    """
    steps = pairwise(zip(merge_counts, token_counts, strict=True))
    saved = [(tokens - fewer) / (more - merges) for (merges, tokens), (more, fewer) in steps]
    rows = [f"{amount(merges, 'merge')}, {base_size + merges:,} IDs" for merges in merge_counts]
    bought = [None, *saved][: len(rows)]
    title = "Saved by each merge since the row above"
    return _chart(rows, ("Tokens of the text", token_counts, False), (title, bought, False))


def training_rounds(
    sizes: Sequence[int], log_likelihoods: Sequence[float], *, names: Sequence[str] | None = None
) -> Figure:
    """Draw the vocabulary and the log-likelihood of a Unigram training, round by round.

    Args:
        sizes: the number of pieces after each of n rounds.
        log_likelihoods: the log-likelihood of the corpus after each of them, in nats.
        names: what each round is called; by default its number, from 1.

    Returns:
        A `Figure` with a row for each round, at most 40.

    >>> training_rounds([100, 80], [-500.0, -510.5])
    Pieces in the vocabulary: 100 (round 1) and 80 (round 2). Log-likelihood (further right is better): \
-500.0 (round 1) and -510.5 (round 2).
    """
    rows = list(names or [f"round {place + 1}" for place in range(len(sizes))])
    title = "Log-likelihood (further right is better)"
    return _chart(rows, ("Pieces in the vocabulary", sizes, False), (title, log_likelihoods, True))


def _chart(rows: list[str], *panels: Panel, conclusion: str = "", unit: str = "") -> Figure:
    names = rows[:MOST_ROWS]
    left = MARGIN + min(240, 8 * max(map(text_columns, names), default=0)) + 12
    width = (WIDTH - MARGIN - left) / len(panels)
    shapes: list[Shape] = [
        Label(MARGIN, _row(place), *fit(name, 13, left - MARGIN - 8)) for place, name in enumerate(names)
    ]
    told = []
    for place, (title, values, dots) in enumerate(panels):
        spelt = [None if value is None else f"{_number(value)}{unit}" for value in values]
        x, room = left + place * width, width - 24 - 8 * max((len(text or "") for text in spelt), default=0)
        shapes.append(Label(x, MARGIN + 8, *fit(title, 13, width - 8), bold=True))
        for row, (text, end) in enumerate(zip(spelt[:MOST_ROWS], _lengths(values, dots), strict=False)):
            if text is None:
                continue
            if dots:
                shapes.append(Label(x + end * room, _row(row), "●", 15, "center"))
            else:
                fill, hatch = (ORANGE, "//") if place else (BLUE, "")
                shapes.append(Box(x, _row(row) - 9, max(end * room, 1), 18, fill=fill, hatch=hatch))
            shapes.append(Label(x + end * room + 9, _row(row), text, mono=True))
        pairs = [f"{text} ({row})" for row, text in zip(rows, spelt, strict=True) if text]
        told.append(f"{title}: {listed(pairs, MOST_ROWS) or 'nothing'}.")
    if len(rows) > MOST_ROWS:
        cut = amount(len(rows) - MOST_ROWS, "more row")
        shapes.append(Label(MARGIN, _row(MOST_ROWS), f"… {cut} not drawn"))
    return render(shapes, " ".join([*told, conclusion]).strip())


def _row(place: int) -> float:
    return MARGIN + 38 + ROW * place


def _lengths(values: Sequence[float | None], dots: bool) -> list[float]:
    """Return where each value ends between 0 and 1: bars begin at 0, dots spread from lowest to highest."""
    known = [value for value in values if value is not None]
    low = min(known, default=0) if dots else 0
    span = max(known, default=0) - low
    return [max(value - low, 0) / span if value is not None and span > 0 else 0.0 for value in values]


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"
