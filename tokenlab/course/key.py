"""The teacher's key: every question, its answer with the derivation, its misconceptions and its hints."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from tokenlab.course.feedback import Message, answer_to, hint_for
from tokenlab.course.model import Chapter, Exercise, Question, Task
from tokenlab.course.reading import KINDS

Section = tuple[int, str, str]  # level of heading, heading, text


def sections(chapters: Sequence[Chapter]) -> Iterator[Section]:
    """Yield the key's headings and texts in order, computed from the tables."""
    for chapter in chapters:
        yield 1, f"Key to {chapter.number}: {chapter.title}", chapter.question
        for task in chapter.tasks:
            asked = task.ask() if isinstance(task, Question) else f"{task.prompt}\n\n    {task.call}"
            yield 2, task.id, asked
            yield 3, "Answer", answer_to(task).text
            yield 3, "Wrong ways", "\n\n".join(_wrong_ways(task)) or "None is listed."
            hints = (hint_for(task, n).text.partition("\n\nOne step further")[0] for n in (1, 2, 3))
            yield 3, "Hints", "\n\n".join(hints)


def _wrong_ways(task: Task) -> Iterator[str]:
    if isinstance(task, Exercise):
        for function in task.wrong:
            yield f"{function.__name__}: {(function.__doc__ or '').strip()}"
    else:
        for wrong in task.misconceptions:
            yield f"`{KINDS[task.kind].spell(task.answer_of(wrong.run))}` ({wrong.id}): {wrong.belief}."


def to_text(parts: Sequence[Section]) -> str:
    """Write a key or a sheet as plain text, headings underlined."""
    return "\n".join(f"{head}\n{'=-.'[level - 1] * len(head)}\n\n{text}\n" for level, head, text in parts)


def to_page(parts: Sequence[Section]) -> str:
    """Write a key or a sheet as one HTML page without scripts, fit for printing."""
    chapters = [head for level, head, _ in parts if level == 1]
    body = "\n".join(
        f"<h{n}>{html.escape(head)}</h{n}>\n{Message(text).to_html()}" for n, head, text in parts
    )
    style = "body { max-width: 46em; margin: 2em auto; padding: 0 1em; font: 1em/1.5 sans-serif }"
    return page(chapters[0] if len(chapters) == 1 else "Key to the course", style, body)


def page(title: str, style: str, body: str) -> str:
    """Write one HTML page without scripts, for light and dark screens."""
    style = f":root {{ color-scheme: light dark }} {style}"
    head = f'<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n<style>{style}</style>'
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'
