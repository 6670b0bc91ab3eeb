"""Pictures as lists of shapes, and the one place where matplotlib turns them into SVG (all chapters).

A picture is made of boxes, labels and lines, plain data in CSS pixels with y growing downward. Text stays
text in the SVG, so that the browser brings fonts for scripts that matplotlib has none for.
"""

from __future__ import annotations

import base64
import html
import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tokenlab.figures.palette import INK, PAPER
from tokenlab.tables import printable, text_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 840  # fits beside JupyterLab's file browser on a window of 1280 pixels
MARGIN = 14
SMALLEST = 9.0
POINTS = 0.75  # in a pixel: matplotlib counts the sizes of letters and lines in them

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "tokenlab",
    "font.sans-serif": ["DejaVu Sans"],
    "font.monospace": ["DejaVu Sans Mono"],
    "text.parse_math": False,
    "hatch.linewidth": 0.6,
}


@dataclass(frozen=True, slots=True, repr=False)
class Figure:
    """A picture and the one computed sentence that says what it shows.

    The sentence is the picture's text alternative, its caption and its plain-text form. Where matplotlib is
    not installed (in a browser without a network), it stands alone, and the SVG is empty.
    """

    svg: str
    sentence: str

    def __repr__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        source = base64.b64encode(self.svg.encode()).decode()
        words = html.escape(self.sentence)
        if not self.svg:
            return (
                f"<figure>(no picture: matplotlib is not installed)<figcaption>{words}</figcaption></figure>"
            )
        shown = f'src="data:image/svg+xml;base64,{source}" style="max-width:100%;height:auto"'
        return f'<figure><img alt="{words}" {shown}><figcaption>{words}</figcaption></figure>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": self.sentence}


@dataclass(frozen=True, slots=True)
class Label:
    """One line of text at a point: y is its middle, x its start, middle or end."""

    x: float
    y: float
    text: str
    size: float = 13
    align: Literal["left", "center", "right"] = "left"
    mono: bool = False
    bold: bool = False
    color: str = INK

    @property
    def bottom(self) -> float:
        return self.y + self.size

    def draw(self, axes: Axes) -> None:
        text = printable(self.text)  # XML holds no control characters
        family, weight = "monospace" if self.mono else "sans-serif", "bold" if self.bold else "normal"
        font = {"fontsize": self.size * POINTS, "family": family, "weight": weight, "color": self.color}
        axes.text(self.x, self.y, text, font, ha=self.align, va="center_baseline")


@dataclass(frozen=True, slots=True)
class Box:
    """A frame with a line of text, and a smaller one below; what is too wide is set smaller, then cut."""

    x: float
    y: float
    width: float
    height: float
    text: str = ""
    below: str = ""
    fill: str = PAPER
    border: float = 1
    dashed: bool = False
    hatch: str = ""

    @property
    def bottom(self) -> float:
        return self.y + self.height

    def draw(self, axes: Axes) -> None:
        from matplotlib.patches import Rectangle

        look: dict[str, Any] = {"facecolor": self.fill, "edgecolor": INK, "clip_on": False}
        look |= {"linewidth": self.border * POINTS, "linestyle": "--" if self.dashed else "-"}
        look |= {"hatch": self.hatch or None}
        axes.add_artist(Rectangle((self.x, self.y), self.width, self.height, **look))
        rows = [(self.text, 15.0, 0.36 if self.below else 0.52), (self.below, 12.0, 0.74)]
        for text, size, place in rows:
            if text:
                x, y = self.x + self.width / 2, self.y + place * self.height
                Label(x, y, *fit(text, size, self.width - 4), "center", mono=True).draw(axes)


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line, with a head at its end if it is an arrow."""

    x: float
    y: float
    to_x: float
    to_y: float
    arrow: bool = False
    dashed: bool = False
    width: float = 1.2

    @property
    def bottom(self) -> float:
        return max(self.y, self.to_y)

    def draw(self, axes: Axes) -> None:
        from matplotlib.patches import FancyArrowPatch

        look: dict[str, Any] = {"arrowstyle": "-|>" if self.arrow else "-", "mutation_scale": 9}
        look |= {"linewidth": self.width * POINTS, "linestyle": (0, (4, 3)) if self.dashed else "-"}
        look |= {"shrinkA": 0, "shrinkB": 0, "color": INK, "clip_on": False}
        axes.add_artist(FancyArrowPatch((self.x, self.y), (self.to_x, self.to_y), **look))


Shape = Box | Label | Line


def render(shapes: Sequence[Shape], sentence: str) -> Figure:
    """Draw shapes, in their order, on an opaque light ground.

    Args:
        shapes: the picture; its height follows from the lowest one.
        sentence: what a sighted reader takes from the picture.

    Returns:
        A `Figure` whose bytes depend on nothing but the arguments and matplotlib's version.

    >>> render([Box(10, 10, 40, 30, "20")], "One byte, 20.").sentence
    'One byte, 20.'
    """
    seen = re.sub("[^\u2068\u2069]+", lambda part: printable(part[0]), sentence)
    try:
        import matplotlib.style
        from matplotlib.figure import Figure as Page
    except ModuleNotFoundError:
        return Figure("", seen)

    height = max((shape.bottom for shape in shapes), default=0) + MARGIN
    stream = io.StringIO()
    with matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
        # The browser draws the text, not matplotlib: a glyph that its own fonts lack is no fault here.
        warnings.filterwarnings("ignore", r"Glyph \d+", UserWarning)
        page = Page(figsize=(WIDTH / 96, height / 96), facecolor=PAPER)
        axes = page.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0, WIDTH), ylim=(height, 0))
        axes.set_axis_off()
        for shape in shapes:
            shape.draw(axes)
        page.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return Figure(stream.getvalue(), seen)


def fit(text: str, size: float, room: float) -> tuple[str, float]:
    """Return the text, cut if it must be, and the size at which it fits into room pixels.

    >>> fit("20 d0", 15, 100), fit("abcdefgh", 15, 30)
    (('20 d0', 15), ('abcd…', 9.0))
    """
    needed = 0.61 * text_columns(text)  # a column of DejaVu Sans Mono, in heights of its letters
    if needed * SMALLEST <= room:
        return text, min(size, room / needed)
    while text and 0.61 * text_columns(text + "…") * SMALLEST > room:
        text = text[:-1]
    return text + "…", SMALLEST


def lanes(spans: Sequence[tuple[float, float]]) -> list[int]:
    """Return for each span the lowest lane in which it touches no span before it, so that nothing overlaps.

    >>> lanes([(0, 2), (1, 3), (2, 4)])
    [0, 1, 0]
    """
    ends: list[float] = []
    chosen = []
    for start, end in spans:
        lane = next((lane for lane, taken in enumerate(ends) if taken <= start), len(ends))
        ends[lane : lane + 1] = [end]
        chosen.append(lane)
    return chosen
