"""The shape of a chapter's table: concepts, questions, misconceptions, exercises. Data; nothing here judges.

Used by every chapter. A table lives in `tokenlab/course/chapters/ch<number>_<name>.py` as `CHAPTER`.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from zlib import crc32

from tokenlab.course.reading import KINDS

Text = str | Callable[[Any], str]  # fixed, or computed from the question's input


def quoted(value: object) -> str:
    """Write a question's input so that nothing in it is invisible.

    >>> quoted(" а"), quoted(b"\\x20\\xd0")
    ('" а"', '20 d0')
    """
    if isinstance(value, bytes):
        return value.hex(" ") or "(no bytes)"
    is_plain = isinstance(value, str) and '"' not in value and value.isprintable()
    return f'"{value}"' if is_plain else repr(value)


@dataclass(frozen=True, slots=True)
class Concept:
    """A term, the cell that introduces it, and one sentence for the glossary."""

    term: str
    cell: str
    definition: str


@dataclass(frozen=True, slots=True)
class Misconception:
    """A wrong algorithm, and the belief behind it: a phrase that completes "One way to arrive here: …"."""

    id: str
    belief: str
    run: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A prediction. Right and wrong answers are `form(algorithm(input))`, computed each time they are
    needed."""

    id: str
    kind: str
    prompt: str  # may hold {input}
    pool: tuple[Any, ...]  # inputs; the first one is asked in the notebook
    right: Callable[[Any], Any]
    misconceptions: tuple[Misconception, ...]
    why: Callable[[Any], str]  # derivation, from a trace of the input
    consequence: Callable[[Any, Any], str]  # of (input, wrong answer); never holds the right answer
    hints: tuple[Text, Text, Text]  # a question back, a smaller case, the decisive step
    concepts: tuple[str, ...]
    cells: tuple[str, ...]  # cells that teach what is asked; "02:count-pairs" names one of another chapter
    form: Callable[[Any], Any] = lambda value: value  # from what an algorithm returns to what is asked
    show: Callable[[Any], str] = quoted
    accepts: Callable[[Any, Any], bool] | None = None  # (input, answer): many answers are right
    best: Callable[[Any], Sequence[Any]] | None = None  # every optimum, so that a tie can be found
    tolerance: float = 0.0
    collisions: tuple[frozenset[str], ...] = ()  # misconceptions that agree here on purpose
    shown_in: tuple[str, ...] = ()  # cells that hold input and answer on purpose
    recall: bool | str = (
        True  # may be asked again at the head of a later chapter; a text says what is given there
    )

    def ask(self, variant: int = 0) -> str:
        return self.prompt.replace("{input}", self.show(self.pool[variant]))

    def ask_again(self) -> str:
        return f"{self.recall} {self.ask()}" if isinstance(self.recall, str) else self.ask()

    def read(self, value: Any, variant: int = 0) -> Any:
        return KINDS[self.kind].read(value, self.pool[variant])

    def answer(self, variant: int = 0) -> Any:
        return self.answer_of(self.right, variant)

    def answer_of(self, algorithm: Callable[[Any], Any], variant: int = 0) -> Any:
        return self.read(self.form(algorithm(self.pool[variant])), variant)

    def is_right(self, answer: Any, variant: int = 0) -> bool:
        if self.accepts is not None:
            return self.accepts(self.pool[variant], answer)
        return self.agree(answer, self.answer(variant))

    def agree(self, left: Any, right: Any) -> bool:
        return abs(left - right) <= self.tolerance if self.tolerance else bool(left == right)


@dataclass(frozen=True, slots=True)
class Exercise:
    """A function to write. `arguments` turns a sequence over the alphabet into the arguments of one call."""

    id: str
    prompt: str
    call: str  # how it is called: "encode(data)"
    reference: Callable[..., Any]
    alphabet: tuple[Any, ...]
    wrong: tuple[Callable[..., Any], ...]
    hints: tuple[Text, Text, Text]
    concepts: tuple[str, ...]
    cells: tuple[str, ...]
    arguments: Callable[[tuple[Any, ...]], tuple[Any, ...]] = lambda symbols: (symbols,)
    show: Callable[[Any], str] = repr
    cases: int = 2000  # inputs tried, shortest first, before random ones

    @property
    def name(self) -> str:
        """The function's name."""
        return self.call.partition("(")[0]


Task = Exercise | Question


@dataclass(frozen=True, slots=True)
class Chapter:
    """One notebook's table; the last fields are for teachers."""

    notebook: str  # file name without .ipynb; begins with the chapter's number
    title: str
    question: str  # at its head
    objectives: tuple[str, ...]  # as questions
    concepts: tuple[Concept, ...]
    questions: tuple[Question, ...]
    exercises: tuple[Task, ...]
    minutes: Mapping[str, int] = field(default_factory=dict)
    discussion: tuple[str, ...] = ()
    likeliest: str = ""  # the misconception to expect
    paper: tuple[Any, ...] = ()  # inputs for a sheet with blank ladders

    @property
    def number(self) -> str:
        return self.notebook.partition("_")[0]

    @property
    def tasks(self) -> tuple[Task, ...]:
        return self.questions + self.exercises

    @property
    def misconceptions(self) -> dict[str, Misconception]:
        return {m.id: m for t in self.tasks if isinstance(t, Question) for m in t.misconceptions}


@cache
def chapters(number: str = "") -> tuple[Chapter, ...]:
    """Return the tables of the chapters, in the order of the notebooks: all of them, or those of one number.

    >>> [chapter.title for chapter in chapters("03")]
    ['Rank-ordered encoding']
    """
    from tokenlab.course import chapters as package

    start = f"ch{number}_" if number else "ch"
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = (f"{package.__name__}.{name}" for name in names if name.startswith(start))
    return tuple(importlib.import_module(module).CHAPTER for module in modules)


class UnknownTask(LookupError):
    """No question and no exercise has this ID; the message names the nearest."""


def find(task_id: object) -> Task:
    """Return the question or exercise with this ID; UnknownTask where there is none.

    "03-te@2" is the question "03-te", asked of the input 2 of its pool.
    """
    if not isinstance(task_id, str):
        how = 'check("03-space-a", prediction)'
        raise UnknownTask(f"The first argument is the question's ID, in quotes: {how}.")
    task_id, _, variant = task_id[:100].partition("@")
    for number in (task_id.partition("-")[0], ""):
        tasks = {task.id: task for chapter in chapters(number) for task in chapter.tasks}
        if (task := tasks.get(task_id)) is None:
            continue
        size = len(task.pool) if isinstance(task, Question) else 1
        if variant and variant not in map(str, range(size)):
            raise UnknownTask(f'"{task.id}" has the variants 0 to {size - 1}; there is no "@{variant}".')
        return at_variant(task, int(variant or 0)) if isinstance(task, Question) else task
    near = difflib.get_close_matches(task_id, tasks, n=1, cutoff=0)
    raise UnknownTask(f'There is no question "{task_id}". ' + (f'Did you mean "{near[0]}"?' if near else ""))


def at_variant(question: Question, variant: int) -> Question:
    """Return a question as it is asked of another input of its pool, under an ID that says so.

    >>> at_variant(find("03-te"), 1).id
    '03-te@1'
    """
    pool = question.pool[variant:] + question.pool[:variant]
    return replace(question, id=f"{question.id}@{variant}", pool=pool) if variant else question


def draw(question: Question, seed: int) -> int:
    """Choose an input of a question's pool; 0 gives the one in the notebook, and neighbouring seeds differ.

    >>> [draw(find("03-te"), seed) for seed in range(3)] == [0, 0, 0]
    False
    """
    size = len(question.pool)
    return seed * (1 + crc32(question.id.encode()) % (size - 1)) % size if size > 1 else 0


def redrawn(question: Question, seed: int) -> Question:
    """Return a question as it is asked of the input that a seed draws."""
    return at_variant(question, draw(question, seed))


def link(chapter: Chapter, cell: str) -> str:
    """Write a link to a cell ("id", or "02:id" for one of another chapter), as messages show it."""
    number, _, cell_id = cell.rpartition(":")
    home = chapters(number)[0] if number else chapter
    return f"[chapter {home.number}, {cell_id}]({home.notebook}.ipynb#cell-id={cell_id})"


def chapter_of(task: Task) -> Chapter:
    return chapters(task.id.partition("-")[0])[0]
