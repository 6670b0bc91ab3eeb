"""The Viterbi lattice with its best path (chapter 5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from tokenlab.errors import TokenLabError
from tokenlab.figures.drawing import MARGIN, WIDTH, Box, Figure, Label, Line, Shape, lanes, render
from tokenlab.figures.palette import BLUE, GREY, MUTED, ORANGE
from tokenlab.figures.wording import amount, glyph, listed, quoted, quotes, visible

Edge = tuple[int, int, str, float]
LEFT = 110
CHARACTERS, LANES = 12, 9


def lattice(
    text: str, edges: Sequence[Edge], best: Sequence[str], *, node_costs: Sequence[float] | None = None
) -> Figure:
    """Draw every piece over the characters that it covers, and the best path in a row of its own.

    Args:
        text: n characters; the nodes are the n + 1 places between them.
        edges: (start, end, piece, cost) of each piece that may stand there.
        best: the pieces of the best path, in order.
        node_costs: the cost of the cheapest way to each of the n + 1 nodes, to be written under it.

    Returns:
        A `Figure` of at most 12 characters; what is cut is counted in it.

    Raises:
        TokenLabError: an edge leaves the text, or the best path takes a step that is no edge.

    >>> lattice("ab", [(0, 1, "a", 2.0), (1, 2, "b", 2.0), (0, 2, "ab", 3.0)], ["ab"])
    The lattice of 'ab' has 3 edges and 2 paths. The best path is 'ab' (3), cost 3. \
The other edges: 'a' (2) at 0 and 'b' (2) at 1.
    """
    costs = {(start, piece): cost for start, _, piece, cost in edges}
    starts = [0, *accumulate(map(len, best))]
    path = list(zip(starts, best, strict=False))
    for start, end, piece, _ in edges:
        if not 0 <= start < end <= len(text):
            raise TokenLabError(f"the edge {piece!r} from {start} to {end} leaves the text", position=start)
    for start, piece in path:
        if (start, piece) not in costs:
            raise TokenLabError(f"the best path takes {piece!r} at {start}: no such edge", position=start)
    others = sorted((edge for edge in edges if (edge[0], edge[2]) not in path), key=lambda edge: edge[:3])
    drawn = [edge for edge in others if edge[1] <= CHARACTERS]
    levels = lanes([edge[:2] for edge in drawn])
    shown = min(len(text), CHARACTERS)
    cell = min(100, (WIDTH - MARGIN - 16 - LEFT) / max(shown, 1))
    bottom = MARGIN + 136 + 50 * min(max(levels, default=-1) + 1, LANES)

    shapes: list[Shape] = []
    for node in range(shown + 1):
        x = LEFT + cell * node
        shapes += [
            Line(x, MARGIN + 30, x, bottom, dashed=True, width=0.8),
            Box(x - 13, MARGIN, 26, 24, str(node), fill=GREY),
        ]
        if node_costs is not None:
            shapes.append(Label(x, bottom + 12, _cost(node_costs[node]), 13, "center", mono=True, bold=True))
    for place, character in enumerate(text[:shown]):
        x = LEFT + cell * (place + 0.5)
        shapes.append(Label(x, MARGIN + 46, glyph(character), 18, "center", mono=True))
    for start, piece in path:
        if start + len(piece) <= CHARACTERS:
            shapes.append(_edge(cell, start, piece, costs[start, piece], MARGIN + 66, best=True))
    for level, (start, _, piece, cost) in zip(levels, drawn, strict=True):
        if level < LANES:
            shapes.append(_edge(cell, start, piece, cost, MARGIN + 130 + 50 * level, best=False))
    names = [(12, "nodes"), (46, "characters"), (88, "✓ best path"), (150, "other edges" if others else "")]
    shapes += [Label(MARGIN, MARGIN + y, name, bold=y == 88) for y, name in names]
    if node_costs is not None:
        shapes.append(Label(MARGIN, bottom + 12, "cost to here"))
    hidden = len(others) - sum(level < LANES for level in levels)
    if hidden or len(text) > shown:
        more = f"{amount(len(text) - shown, 'more character')} and {amount(hidden, 'more edge')}"
        shapes.append(Label(MARGIN, bottom + 34, f"… {more} not drawn", color=MUTED))
    total = _cost(sum(costs[step] for step in path))
    steps = listed([f"{quotes(piece)} ({_cost(costs[start, piece])})" for start, piece in path])
    rest = listed([f"{quotes(piece)} ({_cost(cost)}) at {start}" for start, _, piece, cost in others])
    size = f"{amount(len(edges), 'edge')} and {amount(_paths(len(text), edges), 'path')}"
    sentence = f"The lattice of {quoted(text)} has {size}. The best path is {steps or 'empty'}, cost {total}."
    return render(shapes, sentence + f" The other edges: {rest}." * bool(rest))


def _edge(cell: float, start: int, piece: str, cost: float, y: float, *, best: bool) -> Box:
    width = cell * len(piece) - 6
    fill, border = (ORANGE, 4) if best else (BLUE, 1)
    return Box(LEFT + cell * start + 3, y, width, 42, visible(piece), _cost(cost), fill, border)


def _cost(cost: float) -> str:
    return f"{cost:.4g}"


def _paths(length: int, edges: Sequence[Edge]) -> int:
    """Count the ways from the first node to the last."""
    ways = [1] + [0] * length
    for start, end, _, _ in sorted(edges, key=lambda edge: edge[:2]):
        ways[end] += ways[start]
    return ways[length]
