"""A class's hand-ins as one table, and which misconception to talk about tomorrow."""

from __future__ import annotations

import csv
import html
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tokenlab.course.handins import Answer, HandIn
from tokenlab.course.key import page
from tokenlab.course.model import Question, Task, chapters
from tokenlab.course.sandbox import run_exercise
from tokenlab.tables import Table, table

NOT_TRIED = "not tried"


def tasks_of(hand_ins: Sequence[HandIn]) -> list[Task]:
    """Return the tasks of the chapters that anybody handed in, in the order of the course."""
    names = {name for hand_in in hand_ins for name in hand_in.notebooks}
    names |= {answer.task.partition("-")[0] for hand_in in hand_ins for answer in hand_in.answers}
    return [task for c in chapters() if names & {c.notebook, c.number} for task in c.tasks]


def _beliefs(task: Task) -> dict[str, str]:
    return {m.id: m.belief for m in task.misconceptions} if isinstance(task, Question) else {}


def answers_to(hand_in: HandIn, task_id: str) -> list[Answer]:
    """Return a learner's answers to a task, first to last, without blank cells."""
    return [a for a in hand_in.answers if a.task == task_id and a.state != "blank"]


def verdict(hand_in: HandIn, task_id: str) -> str:
    """Say how a task ended for a learner, and how it began where that differs."""
    given = list(map(str, answers_to(hand_in, task_id)))
    if not given:
        return NOT_TRIED
    return given[-1] if given[0] == given[-1] else f"{given[-1]} (first: {given[0]})"


def run_exercises(hand_ins: Sequence[HandIn]) -> None:
    """Run the exercises that were handed in, each in a process of its own, and put in what came out."""
    for hand_in in hand_ins:
        for place, answer in enumerate(hand_in.answers):
            if answer.program:
                state, said = run_exercise(answer.task, answer.program, answer.function)
                hand_in.answers[place] = replace(answer, state=state, computed=False)
                if state != "right":
                    hand_in.notes.append(f"{answer.task}: {' '.join(said.split())[:200]}")


def result(hand_ins: Sequence[HandIn]) -> Table:
    """Return the table learner x task."""
    tasks = [task.id for task in tasks_of(hand_ins)]
    rows = [(h.learner, *(verdict(h, task) for task in tasks)) for h in hand_ins]
    return table(rows, ["learner", *tasks], f"{len(hand_ins)} hand-ins")


def first_answers(hand_ins: Sequence[HandIn], task_id: str) -> Counter[str]:
    """Count the first answers to a task: right, each misconception that fits, or none of these.

    An answer to which two misconceptions lead counts for both.
    """
    counts: Counter[str] = Counter()
    for hand_in in hand_ins:
        given = answers_to(hand_in, task_id)
        counts.update(given[0].reasons or (given[0].state,) if given else (NOT_TRIED,))
    return counts


def tally(hand_ins: Sequence[HandIn]) -> Table:
    """Return the first answers by question, the commonest first: what a class votes on."""
    rows = []
    for task in tasks_of(hand_ins):
        beliefs, counts = _beliefs(task), first_answers(hand_ins, task.id)
        ordered = sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))
        rows += [(task.id, name, n, beliefs.get(name, "")) for name, n in ordered]
    header = ["question", "first answer", "learners", "what one believes then"]
    return table(rows, header, f"First answers of {len(hand_ins)} hand-ins")


def commonest(hand_ins: Sequence[HandIn]) -> Iterator[tuple[str, int, str, list[str]]]:
    """Yield (misconception, learners, belief, questions), the one that most learners had first."""
    met: dict[tuple[str, str, str], tuple[set[str], dict[str, None]]] = {}
    for task in tasks_of(hand_ins):
        beliefs = _beliefs(task)
        for hand_in in hand_ins:
            for name in [r for a in answers_to(hand_in, task.id)[:1] for r in a.reasons]:
                key = task.id.partition("-")[0], name, beliefs[name]
                learners, questions = met.setdefault(key, (set(), {}))
                learners.add(hand_in.learner)
                questions[task.id] = None
    for (_, name, belief), (learners, questions) in sorted(met.items(), key=lambda m: (-len(m[1][0]), m[0])):
        yield name, len(learners), belief, list(questions)


def summary(hand_ins: Sequence[HandIn]) -> str:
    """Say what to explain tomorrow, and what was odd about the hand-ins."""
    lines = [
        f"{n} of {len(hand_ins)}: {name} ({', '.join(questions)}): {belief}."
        for name, n, belief, questions in list(commonest(hand_ins))[:5]
    ]
    found = ["To explain tomorrow, by first answers:", *(lines or ["nothing: no misconception was seen."])]
    notes = [f"{hand_in.learner}: {note}" for hand_in in hand_ins for note in hand_in.notes]
    return "\n".join(found + (["", "To look at:", *notes] if notes else []))


def to_csv(hand_ins: Sequence[HandIn]) -> str:
    """Write the table as CSV; no cell of it is a formula to a spreadsheet."""
    results, out = result(hand_ins), io.StringIO()
    rows = [results.header, *results.rows]
    csv.writer(out, lineterminator="\n").writerows(
        [f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell for cell in row] for row in rows
    )
    return out.getvalue()


def to_page(hand_ins: Sequence[HandIn]) -> str:
    """Write the table, the first answers and the summary as one HTML page without scripts."""
    style = "body { margin: 2em; font: 1em/1.5 sans-serif } table { border-collapse: collapse } "
    style += "td, th { padding: 0.2em 0.6em; border: 1px solid }"
    tables = (part._repr_html_() for part in (result(hand_ins), tally(hand_ins)))
    said = f"<pre>{html.escape(summary(hand_ins))}</pre>"
    return page("Hand-ins", style, "\n".join(["<h1>Hand-ins</h1>", said, *tables]))
