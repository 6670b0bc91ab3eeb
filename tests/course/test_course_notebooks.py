"""Every notebook: the house rules, the rhythm, no spoilers, and a run with all answers right."""

import nbformat
import pytest
import rules

from tokenlab.course.model import Exercise
from tokenlab.course.notebooks import execute, to_text
from tokenlab.course.reading import KINDS

PATHS = [pytest.param(path, id=path.stem) for path in rules.paths()]
CHAPTERS = [pytest.param(chapter, id=chapter.number) for chapter in rules.course_chapters()]
FULL = [c for c in CHAPTERS if c.values[0].notebook not in rules.FREE_FORM]
QUESTIONS = [
    pytest.param(chapter, task, id=task.id)
    for chapter in rules.course_chapters()
    for task in chapter.tasks
    if not isinstance(task, Exercise)
]


@pytest.mark.parametrize("path", PATHS)
def test_house_rules(path):
    assert list(rules.house(path)) == []


@pytest.mark.parametrize("path", PATHS)
def test_headings_are_in_order(path):
    assert list(rules.headings(path)) == []


@pytest.mark.parametrize("path", PATHS)
def test_every_number_in_prose_is_computed_beside_it(path):
    assert list(rules.numbers_in_prose(path)) == []


@pytest.mark.parametrize("path", PATHS)
def test_the_file_is_as_the_course_writes_it(path):
    assert to_text(nbformat.read(path, as_version=4)) == path.read_text("utf-8")


@pytest.mark.parametrize("path", PATHS)
def test_every_notebook_but_the_free_ones_has_a_table(path):
    assert path.stem in {*rules.FREE_FORM, *(c.notebook for c in rules.course_chapters())}


@pytest.mark.parametrize("chapter", FULL)
def test_rhythm(chapter):
    assert list(rules.rhythm(chapter)) == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_concepts_are_asked_and_questions_are_taught_before(chapter):
    assert list(rules.teaching(chapter)) == []


@pytest.mark.parametrize(("chapter", "question"), QUESTIONS)
def test_no_cell_gives_an_answer_away(chapter, question):
    assert list(rules.spoilers(chapter, question)) == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_committed_predictions_are_blank_and_accepted_when_right(chapter):
    path = rules.notebook_of(chapter)
    book = nbformat.read(path, as_version=4)
    own = {rules.own_cell(chapter, task): task for task in chapter.tasks}
    assert None not in own, "every task has its own cell"
    for index, task in own.items():
        told = rules.cells(path)[index].outputs
        assert "Not answered yet." in told or "Not tried yet." in told, f"{task.id} is committed blank"
        book.cells[index].source += "\n" + answered(task)
    execute(book)
    for index, task in own.items():
        outputs = [o for o in book.cells[index].outputs if "data" in o]
        assert outputs[-1]["data"]["text/plain"].startswith("Right."), (task.id, outputs[-1])


def answered(task):
    """Source that gives the right answer to a question or exercise."""
    if isinstance(task, Exercise):
        home, name = task.reference.__module__, task.reference.__name__
        call = f'lambda *given: __import__("importlib").import_module("{home}").{name}(*given)'
        return f'check_function("{task.id}", {call})'
    return f'check("{task.id}", {KINDS[task.kind].spell(task.answer())})'
