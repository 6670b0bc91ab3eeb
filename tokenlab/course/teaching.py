"""A teacher's sheet for a chapter, and the copies of the notebooks that are handed out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenlab.course.key import Section
from tokenlab.course.learner import recalled
from tokenlab.course.model import Chapter, Question, chapters, quoted, redrawn
from tokenlab.course.reading import KINDS
from tokenlab.course.workbook import NOTEBOOKS, asking_cells

RUNGS = 4  # blank lines of a ladder


def sheet(chapter: Chapter) -> Iterator[Section]:
    """Yield the headings and texts of a chapter's sheet, computed from its table."""
    yield 1, f"Teaching {chapter.number}: {chapter.title}", chapter.question
    yield 2, "By the end, each learner can answer", "\n\n".join(chapter.objectives)
    minutes = "\n".join(f"    {n:3d} min  {what}" for what, n in chapter.minutes.items())
    yield 2, "Minutes", f"{minutes}\n    {sum(chapter.minutes.values()):3d} min  in all"
    asked = "\n\n".join(question.ask_again() for question in recalled(chapter.number))
    yield 2, "To recall, from earlier chapters", asked or "Nothing: this is where the course begins."
    yield 2, "To predict, in pairs", "\n\n".join(f"`{q.id}` {q.ask()}" for q in chapter.questions)
    yield 2, "To discuss", "\n\n".join(chapter.discussion)
    yield 2, "The likeliest misconception", "\n\n".join(_likeliest(chapter))
    yield 2, "Sheet for paper: write the text at the top, one step on each rung", _ladders(chapter)


def _likeliest(chapter: Chapter) -> Iterator[str]:
    wrong = chapter.misconceptions[chapter.likeliest]
    yield f"{wrong.id}: {wrong.belief}."
    for question in chapter.questions:
        if any(m.id == wrong.id for m in question.misconceptions):
            spell = KINDS[question.kind].spell
            seen = spell(question.answer_of(wrong.run))
            yield f"On `{question.id}` it gives `{seen}`; right is `{spell(question.answer())}`."


def _ladders(chapter: Chapter) -> str:
    ladders = []
    for item in chapter.paper:
        top = quoted(item) if isinstance(item, str | bytes) else str(item)
        data = item.encode() if isinstance(item, str) else b""
        byte_row = f"\n\n    {' | '.join(f'{byte:02x}' for byte in data)}" if 0 < len(data) <= 16 else ""
        rungs = "\n".join(f"    {n}. {'_' * 56}" for n in range(1, RUNGS + 1))
        ladders.append(f"{top}{byte_row}\n\n{rungs}")
    return "\n\n".join(ladders)


def hand_out(folder: Path, seed: int = 0) -> Iterator[Path]:
    """Write copies of the notebooks, their questions asked of other inputs for another seed.

    FileExistsError, before anything is written, where one is there already.
    """
    notebooks = sorted(NOTEBOOKS.glob("*.ipynb"))
    for path in notebooks:
        if (folder / path.name).exists():
            raise FileExistsError(f"{folder / path.name} is there already; nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    tables = {chapter.notebook: chapter for chapter in chapters()}
    for path in notebooks:
        book = json.loads(path.read_text("utf-8"))
        if path.stem in tables and seed:
            _vary(book["cells"], tables[path.stem], seed)
        copy = folder / path.name
        copy.write_text(json.dumps(book, ensure_ascii=False, indent=1) + "\n", "utf-8", newline="\n")
        yield copy


def _vary(cells: list[dict[str, Any]], chapter: Chapter, seed: int) -> None:
    """Ask each question of the input that the seed draws: below the course's own wording, and in its cell."""
    places = {cell["id"]: at for at, cell in enumerate(cells)}
    for task_id, cell_id in asking_cells(chapter.notebook).items():
        task = next((t for t in chapter.tasks if t.id == task_id), None)
        if not isinstance(task, Question) or (varied := redrawn(task, seed)) is task:
            continue
        at = places[cell_id]
        source = "".join(cells[at]["source"])
        pattern = rf"""(["']){re.escape(task_id)}\1"""
        cells[at]["source"] = re.sub(pattern, f'"{varied.id}"', source).splitlines(keepends=True)
        cells[at]["outputs"], cells[at]["execution_count"] = [], None
        words = f"\n\n**Your own input.** In this copy, answer this instead: {varied.ask()}"
        above = next(c for c in reversed(cells[:at]) if c["cell_type"] == "markdown")
        above["source"] = ("".join(above["source"]) + words).splitlines(keepends=True)
