"""A progress bar for training: the library itself draws nothing and only reports (chapter 2)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO


def progress_bar(label: str = "merges", stream: TextIO | None = None) -> Callable[[int, int], None]:
    """Make a `progress` function that draws a bar in a terminal or a notebook, and is silent when piped.

    Args:
        label: what is counted.
        stream: where to draw; None is the standard error at the time of drawing.

    Returns:
        A function of (done, total), to be called after each step; it draws once per percent.

    >>> from io import StringIO
    >>> progress_bar(stream=StringIO())(1, 2)  # no terminal: nothing is drawn
    """
    last_drawn = -1

    def show(done: int, total: int) -> None:
        nonlocal last_drawn
        target = sys.stderr if stream is None else stream
        percent = 100 * done // total if total else 100
        if percent != last_drawn and (target.isatty() or type(target).__module__.startswith("ipykernel")):
            last_drawn = percent
            bar = "#" * (percent // 5)
            target.write(f"\r{label} [{bar:<20}] {done}/{total}" + ("\n" if percent == 100 else ""))
            target.flush()

    return show
