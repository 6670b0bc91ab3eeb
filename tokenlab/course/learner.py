"""What a learner can ask for at any time: how far am I, where to go back, what a word means, what was that?

Each function returns a message, which a notebook shows when the call is a cell's last line. Only `recall`
shows its questions itself, as `check` does, since the answers to them are kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from zlib import crc32

from tokenlab.course.feedback import Message, judge, respond, text_of
from tokenlab.course.model import Question, Task, UnknownTask, chapter_of, chapters, find, link, redrawn
from tokenlab.course.reading import KINDS
from tokenlab.course.workbook import asking_cells, journal


def _done() -> tuple[set[str], list[str]]:
    """Return the tasks answered rightly, and all tasks answered, in order."""
    kept = [(e["id"].partition("@")[0], e.get("state")) for e in journal() or ()]
    return {task for task, state in kept if state == "right"}, [task for task, _ in kept]


def _where(task: Task) -> str:
    chapter = chapter_of(task)
    return link(chapter, asking_cells(chapter.notebook).get(task.id.partition("@")[0], "title"))


def progress() -> Message:
    """Say what is done, what is open, and which cell comes next.

    Returns:
        A message; outside a working copy it says that nothing is kept there.
    """
    if journal() is None:
        kept = "answers are kept in the copies that `run.py lab` opens"
        return Message(f"There is no journal here, so I cannot know: {kept}.")
    done, answered = _done()
    rows, order = [], []
    for chapter in chapters():
        tasks = [task.id for task in chapter.tasks]
        still = [task for task in tasks if task not in done]
        order += tasks
        if set(tasks) & set(answered):
            open_ = f"  open: {', '.join(still)}" if still else "  all done"
            rows.append(f"    {chapter.number:<3}  {len(tasks) - len(still)} of {len(tasks)}{open_}")
    begun = "Your chapters so far:\n\n" + "\n".join(rows) if rows else "You have not answered anything yet."
    # Next is the first open task after the last one done, so that nobody is sent back to the start.
    last = max((place for place, task in enumerate(order) if task in done), default=-1)
    following = next((task for task in order[last + 1 :] + order if task not in done), None)
    onward = f"Next: {_where(find(following))}, `{following}`." if following else "You have done it all."
    return Message(f"{begun}\n\n{onward}")


def lost(task_id: str = "") -> Message:
    """Say which cells to go back to for a question, and show a smaller case.

    Args:
        task_id: a question's or exercise's ID; where none is given, the last one that was tried in vain.
    """
    done, answered = _done()
    tried = [task for task in answered if task not in done]
    if not task_id and not tried:
        return Message('Which question is it? Put its ID in quotes: `lost("03-space-a")`.')
    try:
        task = find(task_id or tried[-1])
    except UnknownTask as error:
        return Message(str(error))
    chapter = chapter_of(task)
    cells = ", ".join(link(chapter, cell) for cell in task.cells)
    return Message(
        f"`{task.id}`: go back to {cells}, and read on from there.\n\n{text_of(task.hints[1], task)}\n\n"
        f"Then try again: {_where(task)}.{_another(task)}"
    )


def _another(task: Task) -> str:
    """Offer the same question on another input."""
    task = find(task.id.partition("@")[0])
    if not isinstance(task, Question) or (other := redrawn(task, 1)) is task:
        return ""
    return f' The same on another input: `check("{other.id}", ...)`. {other.ask()}'


def glossary(word: str = "") -> Message:
    """Explain the course's terms, each with the cell that introduces it.

    Args:
        word: only terms that hold it, in any case; all terms where it is empty.

    >>> print(glossary("operands first"))
    `operands first`: Each rule's two pieces are bytes, or made by rules of lower rank. \
[chapter 03, operands-first](03_rank_ordered_encoding.ipynb#cell-id=operands-first)
    """
    if not isinstance(word, str):
        return Message('Put the word in quotes: `glossary("frozen")`.')
    terms = [
        (concept.term.casefold(), f"`{concept.term}`: {concept.definition} {link(chapter, concept.cell)}")
        for chapter in chapters()
        for concept in chapter.concepts
    ]
    chosen = [said for term, said in sorted(terms, key=itemgetter(0)) if word.casefold() in term]
    return Message("\n\n".join(chosen) or f'No term of the course holds "{word}".')


def recalled(number: str) -> list[Question]:
    """Draw two questions for the head of a chapter: one of the chapter before it, one of those before that.

    Both are asked of another input than in their own chapter; each chapter has its own two, always the same.
    """
    earlier: list[list[Question]] = []
    for chapter in itertools.takewhile(lambda chapter: chapter.number != number, chapters()):
        fit = [q for q in chapter.questions if q.recall and len(q.pool) > 1 and q.accepts is None]
        earlier += [fit] if fit else []
    found = []
    for group in (earlier[-1:], earlier[:-1]):
        questions = itertools.chain.from_iterable(group)
        found += sorted(questions, key=lambda q: crc32(f"{number} {q.id}".encode()))[:1]
    return [redrawn(question, 1) for question in found]


def recall(number: str, *predictions: object) -> Message | None:
    """Ask again what earlier chapters have taught, and check the predictions that are given.

    Args:
        number: the chapter at whose head the questions stand, such as "05".
        predictions: one for each question, in order; `...` for one not answered yet.

    Returns:
        A message where there is nothing to ask: no such chapter, or none before it.
    """
    numbers = [chapter.number for chapter in chapters()]
    if number not in numbers:
        return Message(f'Put a chapter\'s number in quotes, as in `recall("05")`: {", ".join(numbers)}.')
    questions = recalled(number)
    if not questions:
        return Message(f"There is nothing to recall before chapter {number}.")
    given: Sequence[object] = [*predictions, ..., ...]
    for question, prediction in zip(questions, given, strict=False):
        respond(question.id, lambda task, value=prediction: _asked_again(task, value))  # type: ignore[misc]
    return None


def _asked_again(task: Task, value: object) -> Message:
    assert isinstance(task, Question)
    message, chapter = judge(task, value), chapter_of(task)
    asked = f"Recall, `{task.id}`: {task.ask_again()}\n\nIt was taught here: {link(chapter, task.cells[0])}."
    if message.state == "blank":
        return Message(f"{asked} Type {KINDS[task.kind].how}.", "blank")
    return replace(message, text=f"{asked}\n\n{message.text}")
