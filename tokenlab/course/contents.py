"""The course's table of contents, as the README shows it (chapter 00 draws the same chapters as a map)."""

from __future__ import annotations

from pathlib import Path

from tokenlab.course.model import chapters
from tokenlab.files import write_between_markers


def to_markdown() -> str:
    """Return a table of the chapters: where each is, the question at its head, and how long it takes.

    >>> print(to_markdown().splitlines()[0])
    | Chapter | The question at its head | Predictions | Minutes |
    """
    rows = ["| Chapter | The question at its head | Predictions | Minutes |", "|---|---|--:|--:|"]
    for chapter in chapters():
        name = f"[{chapter.number} {chapter.title}](notebooks/{chapter.notebook}.ipynb)"
        minutes = sum(chapter.minutes.values())
        rows.append(f"| {name} | {chapter.question} | {len(chapter.questions)} | {minutes} |")
    return "\n".join(rows)


def write(path: Path) -> None:
    """Put the table between the `chapters` markers of a file."""
    write_between_markers(path, "chapters", to_markdown())
