"""Predict, then check: the verdict on an answer, hints, and the answer with its derivation.

What is said is a pure function of the question and the answer, so a notebook's outputs can be compared.
"""

from __future__ import annotations

import ast
import html
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tokenlab.course.limits import limited
from tokenlab.course.model import Exercise, Question, Task, Text, UnknownTask, chapter_of, find, link
from tokenlab.course.reading import KINDS, Unreadable, is_blank, name_character
from tokenlab.course.workbook import keep
from tokenlab.tables import LOOK_ALIKES

_COLOURS = {"right": "#2e7d32", "wrong": "#b45309", "": "#5b7083"}  # 3 : 1 or more on white and on black
_VERDICTS = ("Right", "Not quite", "Not answered yet", "I cannot read this", "Not yet", "Not tried yet")
_LINK = re.compile(r"\[([^\[\]]+)\]\((\w+\.ipynb(?:#[\w=-]+)?)\)")


@dataclass(frozen=True, slots=True)
class Message:
    """Feedback, as text and as HTML that says the same.

    Paragraphs are separated by blank lines; lines that begin with four spaces stand as they are.
    """

    text: str
    state: str = ""  # right, wrong, unreadable, blank, or nothing
    reasons: tuple[str, ...] = ()  # IDs of the misconceptions that give this answer
    answer: str = ""  # as read, spelled in one way

    def to_html(self) -> str:
        body = "".join(map(_block_to_html, self.text.split("\n\n")))
        colour = _COLOURS.get(self.state, _COLOURS[""])
        return f'<div style="border-left: 4px solid {colour}; padding: 0.1em 0 0.1em 0.9em">{body}</div>'

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return {"text/plain": self.text, "text/html": self.to_html()}


def _block_to_html(block: str) -> str:
    if block.startswith("    "):
        lines = html.escape(block.replace("\n    ", "\n")[4:])
        return f'<pre style="margin: 0.5em 0; white-space: pre-wrap; font-family: monospace">{lines}</pre>'
    marked = re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(block))
    marked = _LINK.sub(r'<a href="\2">\1</a>', marked)
    first, stop, rest = marked.partition(".")
    if stop and first in _VERDICTS:
        first = f"<strong>{first}</strong>"
    return f'<p style="margin: 0.5em 0">{first}{stop}{rest}</p>'


def compare_bytes(data: bytes, got: bytes) -> str:
    """Say what bytes an answer stands for, and where they first differ from the input: a consequence.

    >>> compare_bytes(b"ab", b"ac")
    'Your answer stands for the bytes `61 63`; the input has `62` at byte 1, yours `63`.'
    """
    if data == got:
        return f"Your answer stands for the bytes `{got.hex(' ')}`, those of the input: nothing is lost."
    at = next((i for i, (left, right) in enumerate(zip(data, got, strict=False)) if left != right), None)
    start = f"Your answer stands for the bytes `{got[:60].hex(' ')}`; "
    if at is None:
        return start + f"the input has {len(data)} bytes, yours {len(got)}."
    return start + f"the input has `{data[at]:02x}` at byte {at}, yours `{got[at]:02x}`."


def judge(question: Question, value: object, variant: int = 0) -> Message:
    """Say how an answer relates to the question: blank, unreadable, right or wrong."""
    how = f"Type {KINDS[question.kind].how}."
    if is_blank(value):
        text = "Not answered yet. Replace the dots by your prediction, then run the cell again."
        return Message(f"{text} {how}", "blank")
    outcome, answer = limited(question.read, (value, variant))
    if outcome != "returned":
        reason = answer if isinstance(answer, Unreadable) else "Looking at the answer failed."
        return Message(f"I cannot read this. {reason}\n\n{how}", "unreadable")
    asked, spelled = question.pool[variant], KINDS[question.kind].spell(answer)
    if question.is_right(answer, variant):
        return Message(f"Right. `{spelled}`\n\n{question.why(asked)}", "right", answer=spelled)
    wrong = {m: question.answer_of(m.run, variant) for m in question.misconceptions}
    reasons = [m for m, given in wrong.items() if question.agree(given, answer)]
    blocks = [f"Not quite. I read your answer as `{spelled}`.", question.consequence(asked, answer)]
    blocks += [f"{'Another' if i else 'One'} way to arrive here: {m.belief}." for i, m in enumerate(reasons)]
    blocks += _look_alikes(question, answer, variant)
    blocks.append(f'Look again, or ask for a hint: `hint("{question.id}")`.')
    return Message("\n\n".join(blocks), "wrong", tuple(m.id for m in reasons), spelled)


def _look_alikes(question: Question, answer: Any, variant: int) -> list[str]:
    """Name each letter of a text answer that only looks like one of the question's."""
    typed = "".join(answer) if question.kind.startswith("text") else ""
    known = f"{question.pool[variant]}{question.answer(variant)}" if typed else ""
    shapes = {letter: LOOK_ALIKES.get(letter, letter) for letter in {*typed, *known}}
    strange = sorted(set(typed) - set(known))
    twins = {a: b for a in strange for b in sorted(set(known)) if shapes[a] == shapes[b]}
    return [
        f"{name_character(a)}; it looks like {name_character(b, ', which is')}." for a, b in twins.items()
    ]


def text_of(text: Text, task: Task, variant: int = 0) -> str:
    """Return a hint's text, computed from the input where it is a function."""
    return text if isinstance(text, str) else text(task.pool[variant] if isinstance(task, Question) else None)


def _when_sure(question: Question, message: Message) -> Message:
    """Add to a wrong answer what somebody needs who was sure of it."""
    taught = ", ".join(link(chapter_of(question), cell) for cell in question.cells)
    blocks = [
        "You were sure. What one is sure of and has to change is remembered best, so take a minute here.",
        f"A question back: {text_of(question.hints[0], question)}",
        text_of(question.hints[1], question),
        f"It is taught here: {taught}. Predict once more before you look.",
    ]
    return replace(message, text="\n\n".join([message.text, *blocks]))


def hint_for(task: Task, rung: int = 1) -> Message:
    last = len(task.hints)
    if type(rung) is not int or not 1 <= rung <= last:
        return Message(f'There are {last} hints: `hint("{task.id}", 1)` to `hint("{task.id}", {last})`.')
    more = f'\n\nOne step further: `hint("{task.id}", {rung + 1})`.' if rung < last else ""
    return Message(f"Hint {rung} of {last}. {text_of(task.hints[rung - 1], task)}{more}")


def answer_to(task: Task, variant: int = 0) -> Message:
    if isinstance(task, Exercise):
        return Message(f"One way to write it:\n\n{_source(task.reference)}")
    kept = " (one of many right answers)" if task.accepts else ""
    spelled = KINDS[task.kind].spell(task.answer(variant))
    return Message(f"The answer{kept}: `{spelled}`.\n\n{task.why(task.pool[variant])}")


def _source(function: Any) -> str:
    """Return a function's source, without its docstring, indented as a block."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if isinstance(definition, ast.FunctionDef) and ast.get_docstring(definition):
        del definition.body[0]
    return textwrap.indent(ast.unparse(definition), "    ")


def respond(task_id: object, feedback: Callable[[Any], Message], sure: bool | None = None) -> None:
    """Display the feedback on a task, whatever happens; in a working copy, keep the answer in its journal."""
    fact = None
    try:
        task = find(task_id)
        message = feedback(task)
        fact = keep(task.id, message, sure)
    except UnknownTask as error:
        message = Message(str(error))
    except Exception:  # an object made to disturb: never the learner's notebook
        message = Message("I cannot read this. Looking at it failed.", "unreadable")
    metadata = {"tokenlab": fact} if fact else None
    # Half of a surrogate pair, as a function may print one, can be neither displayed nor saved.
    message = replace(message, text=message.text.encode("utf-8", "backslashreplace").decode())
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        from IPython.display import display

        display(message, metadata=metadata)  # type: ignore[no-untyped-call]
    else:
        print(message.text)


def check(question_id: str, prediction: object = ..., *, sure: bool | None = None) -> None:
    """Compare a prediction with what the library computes, and say what follows from it.

    With `sure=True` a wrong prediction gets the longest explanation: that is when it is remembered best.
    """

    def feedback(task: Task) -> Message:
        if isinstance(task, Question):
            message = judge(task, prediction)
            return _when_sure(task, message) if sure and message.state == "wrong" else message
        return Message(f'"{task.id}" is an exercise: `check_function("{task.id}", {task.name})`.')

    respond(question_id, feedback, sure)


def hint(question_id: str, rung: int = 1) -> None:
    """Show a hint: 1 asks a question back, 2 works a smaller case, 3 gives the decisive step."""
    respond(question_id, lambda task: hint_for(task, rung))


def reveal(question_id: str) -> None:
    """Show the answer with its derivation."""
    respond(question_id, answer_to)
