"""Every table of questions: answers that tell misconceptions apart, feedback that fits, nothing given
away."""

import ast
import html
import re

import pytest
import rules

from tokenlab.course.exercises import examine
from tokenlab.course.feedback import hint_for, judge
from tokenlab.course.model import Exercise, Question, chapters
from tokenlab.course.reading import KINDS

CHAPTERS = [pytest.param(chapter, id=chapter.number) for chapter in chapters()]
TASKS = [task for chapter in chapters() for task in chapter.tasks]
QUESTIONS = [pytest.param(task, id=task.id) for task in TASKS if isinstance(task, Question)]
EXERCISES = [pytest.param(task, id=task.id) for task in TASKS if isinstance(task, Exercise)]
WRONG_FUNCTIONS = [
    pytest.param(task, wrong, id=f"{task.id}-{wrong.__name__}")
    for task in TASKS
    if isinstance(task, Exercise)
    for wrong in task.wrong
]


def typed(question, answer):
    """An answer as a learner would type it."""
    return ast.literal_eval(KINDS[question.kind].spell(answer))


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_misconception_differs_from_the_right_answer_for_every_input(question):
    assert list(rules.discrimination(question)) == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_some_question_catches_all_misconceptions_and_every_pair_is_told_apart(chapter):
    assert list(rules.told_apart(chapter)) == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_hints_and_consequences_do_not_hold_the_answer(question):
    assert list(rules.leaks(question)) == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_gets_the_feedback_that_belongs_to_it(question):
    assert judge(question, ...).state == judge(question, "...").state == "blank"
    unreadable = judge(question, {1, 2})
    assert unreadable.state == "unreadable"
    assert KINDS[question.kind].how in unreadable.text
    for variant in rules.variants(question):
        right = judge(question, typed(question, question.answer(variant)), variant)
        assert right.state == "right", right.text
        assert right.text.startswith("Right.")
        for wrong in question.misconceptions:
            message = judge(question, typed(question, question.answer_of(wrong.run, variant)), variant)
            assert message.state == "wrong"
            assert wrong.id in message.reasons
            assert message.text.startswith("Not quite.")
            assert message.text.index(wrong.belief) > message.text.index("\n\n")


STRANGE = {
    "ids": [[], [-1], [0], [1], [255], [10**9], [300] * 50],
    "numbers": [[], [-1], [0], [255, 10**9], [300] * 50],
    "hex": [b"", b"\xff" * 50],
    "text": ["", " ", "\0", "🦀" * 50, "zzz"],
    "number": [-1, 0, 10**9, 0.25],
    "position": [-1, 0, 10**9],
    "hex pieces": [[], [b"\xff"], [b"\0" * 50, b"\x20"]],
    "text pieces": [[], ["🦀"], ["\0", "zzz"]],
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_strange_but_readable_answers_have_a_consequence_too(question):
    for variant in rules.variants(question):
        for answer in STRANGE[question.kind]:
            message = judge(question, answer, variant)
            assert message.state in {"right", "wrong"}
            assert len(message.text) < 3000


@pytest.mark.parametrize("question", QUESTIONS)
def test_feedback_says_the_same_as_text_and_as_html(question):
    messages = [
        judge(question, ...),
        judge(question, {1}),
        judge(question, typed(question, question.answer())),
    ]
    messages += [judge(question, typed(question, question.answer_of(m.run))) for m in question.misconceptions]
    for message in messages + [hint_for(question, n) for n in (1, 2, 3)]:
        shown = html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(p|pre)>", " ", message.to_html())))
        assert shown.split() == message.text.replace("`", "").split()
        assert "`" not in re.sub(r"<pre.*?</pre>", "", message.to_html(), flags=re.DOTALL)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_reference_is_accepted_under_another_name(exercise):
    def own(*arguments):
        return exercise.reference(*arguments)

    own.__module__ = "__main__"
    assert examine(exercise, own).state == "right"
    assert examine(exercise, exercise.reference).state == "unreadable"


@pytest.mark.parametrize(("exercise", "wrong"), WRONG_FUNCTIONS)
def test_every_wrong_function_is_refuted(exercise, wrong):
    message = examine(exercise, wrong)
    assert message.state == "wrong", message.text
    assert "wanted" in message.text
    assert wrong.__doc__


@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_stub_counts_as_not_tried(exercise):
    assert examine(exercise, lambda *_: ...).state == "blank"


def test_ids_are_unique_and_begin_with_their_chapter():
    ids = [task.id for task in TASKS]
    assert len(ids) == len(set(ids))
    assert all(task.id.startswith(f"{chapter.number}-") for chapter in chapters() for task in chapter.tasks)
