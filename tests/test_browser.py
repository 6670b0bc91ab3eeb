"""A learner in a real browser: JupyterLab, chapter 03, a wrong answer, then the right one."""

import pytest
from lab import Notebook, browser, open_copy, serving

from tokenlab.course.model import find

QUESTION = "03-e-e-a"
CELL = "predict-e-e-a"


def spelled(question, algorithm):
    """An answer as a learner types it: pieces in hex with bars between."""
    return " | ".join(piece.hex(" ") for piece in question.answer_of(algorithm))


@pytest.fixture
def notebook(tmp_path):
    with browser() as page, serving(open_copy(tmp_path), tmp_path) as (address, token):
        yield Notebook(page, address, token, "03_rank_ordered_encoding.ipynb")


def test_a_wrong_prediction_is_told_why_and_the_right_one_is_accepted(notebook):
    question = find(QUESTION)
    misconception = next(
        one for one in question.misconceptions if not question.is_right(question.answer_of(one.run))
    )

    notebook.run_all()
    errors = [
        output
        for cell in notebook.cells()
        for output in cell.get("outputs", ())
        if output["output_type"] == "error"
    ]
    assert not errors
    assert notebook.output(CELL).startswith("Not answered yet.")

    wrong = f'prediction = "{spelled(question, misconception.run)}"\ncheck("{QUESTION}", prediction)'
    notebook.type_into(CELL, wrong)
    assert notebook.output(CELL).startswith("Not quite.")
    assert f"way to arrive here: {misconception.belief}" in notebook.output(CELL)
    assert notebook.drawn(CELL).startswith("Not quite.")

    right = f'prediction = "{spelled(question, question.right)}"\ncheck("{QUESTION}", prediction)'
    notebook.type_into(CELL, right)
    assert notebook.output(CELL).startswith("Right.")
    assert notebook.drawn(CELL).startswith("Right.")
