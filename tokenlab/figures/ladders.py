"""The merge ladder: an encoding rule by rule (chapters 2 and 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, count
from typing import TYPE_CHECKING

from tokenlab.figures.drawing import MARGIN, Figure, Label, Line, Shape, fit, render
from tokenlab.figures.palette import BLUE, ORANGE
from tokenlab.figures.tapes import CELL, LEFT, SHOWN, byte_box, counted, layout
from tokenlab.figures.wording import amount, hexed, listed

if TYPE_CHECKING:
    from tokenlab.bpe.tokenizer import EncodingTrace, MergeApplication

RUNG, RUNGS = 92, 12  # from one rung to the next in pixels, and how many are drawn


def merge_ladder(
    trace: EncodingTrace, token_bytes: Callable[[int], bytes], *, show_ids: bool = True
) -> Figure:
    """Draw an encoding rule by rule: each rung holds the pieces, and the pair that is merged next is framed.

    Args:
        trace: what `encode_content_with_trace` returns.
        token_bytes: gives the bytes of a token ID of the trace.
        show_ids: whether the IDs stand under the bytes, and in the sentence.

    Returns:
        A `Figure` of at most 12 rules and 17 bytes a rung; what is cut is counted in it.

    >>> from types import SimpleNamespace as Made
    >>> step = Made(rank=0, replacements=1, before=[34, 210, 178], after=[258, 178])
    >>> trace = Made(initial_tokens=step.before, applications=[step], content_tokens=step.after)
    >>> merge_ladder(trace, {34: b" ", 210: b"\\xd0", 178: b"\\xb0", 258: b" \\xd0"}.__getitem__)
    The 3 bytes 20 d0 b0 start as 3 pieces. Rank 0 merges 20 + d0 at 1 place: 2 pieces. \
The result is 258 (20 d0) and 178 (b0).
    """
    data = b"".join(map(token_bytes, trace.initial_tokens))
    shapes = list(_rung(trace.initial_tokens, token_bytes, MARGIN, show_ids))
    start = "starts" if len(data) == 1 else "start"
    told = [f"The {counted(data)} {start} as {amount(len(trace.initial_tokens), 'piece')}."]
    for y, step in zip(count(MARGIN, RUNG), trace.applications[:RUNGS]):
        places = _merged_places(step)
        left, right = map(token_bytes, step.before[places[0] : places[0] + 2]) if places else (b"", b"")
        pair = f"{hexed(left)} + {hexed(right)}"
        at = amount(step.replacements, "place")
        told.append(f"Rank {step.rank} merges {pair} at {at}: {amount(len(step.after), 'piece')}.")
        shapes += [
            Label(MARGIN, y + 56, f"rank {step.rank}, {step.replacements:,}×", bold=True),
            Label(MARGIN, y + 74, *fit(f"↓ {pair}", 13, LEFT - MARGIN - 6), mono=True),
            *_rung(step.after, token_bytes, y + RUNG, show_ids),
        ]
        ends = [0, *accumulate(len(token_bytes(token_id)) for token_id in step.before[: SHOWN + 1])]
        for place in (place for place in places if place + 2 < len(ends) and ends[place + 2] <= SHOWN):
            column, width = ends[place], ends[place + 2] - ends[place]
            middle = LEFT + CELL * (column + width / 2)
            shapes += [
                byte_box(column, width, y, 44, fill="none", border=4),
                Line(middle, y + 46, middle, y + RUNG - 2, arrow=True, width=2),
                byte_box(column, width, y + RUNG, 44, fill="none", border=2.5),
            ]
    beyond = (len(trace.applications) - RUNGS, "more rule"), (len(data) - SHOWN, "more byte")
    cut = [amount(more, thing) for more, thing in beyond if more > 0]
    if cut:
        told.append(f"Not drawn: {' and '.join(cut)}.")
        shapes.append(Label(LEFT, max(shape.bottom for shape in shapes) + 16, f"… {told[-1]}"))
    final = [(str(token_id), hexed(token_bytes(token_id))) for token_id in trace.content_tokens]
    result = [f"{name} ({own})" if show_ids else own for name, own in final]
    told.append(f"The result is {listed(result) or 'empty'}.")
    return render(shapes, " ".join(told))


def _rung(
    ids: Sequence[int], token_bytes: Callable[[int], bytes], y: float, show_ids: bool
) -> Iterator[Shape]:
    yield Label(MARGIN, y + 22, amount(len(ids), "piece"))
    spelt = [token_bytes(token_id) for token_id in ids[:SHOWN]]
    for (column, width), own, token_id in zip(layout(spelt)[0], spelt, ids, strict=False):
        fill = BLUE if len(own) == 1 else ORANGE
        yield byte_box(column, width, y, 44, own.hex(" "), str(token_id) if show_ids else "", fill)


def _merged_places(step: MergeApplication) -> list[int]:
    places, at = [], 0
    for token_id in step.after:
        kept = step.before[at] == token_id
        if not kept:
            places.append(at)
        at += 1 if kept else 2
    return places
