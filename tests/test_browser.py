"""Where a learner sits: every notebook run in JupyterLab, in a real browser, one server and page for all."""

from contextlib import contextmanager

import pytest
from lab import Notebook, asked, browser, command, complaints, enter, open_copy, serving, spelled

from tokenlab.course.model import chapters, find
from tokenlab.course.workbook import NOTEBOOKS

NAMES = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))
THEMES = ("JupyterLab Light", "JupyterLab Dark")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with browser() as page, serving(open_copy(home), home) as (address, token):
        enter(page, address, token)
        yield page


@pytest.fixture
def opened(page):
    """Open a notebook; it is closed, unsaved, after the test."""
    books = []

    def open_notebook(name):
        books.append(Notebook(page, name))
        return books[-1]

    yield open_notebook
    for book in books:
        book.close()


@contextmanager
def enlarged(page):
    """The same window at a zoom of 200 %, which halves its pixels, with the file browser folded away."""
    command(page, "application:toggle-left-area")
    page.set_viewport_size({"width": 640, "height": 450})
    yield
    page.set_viewport_size({"width": 1280, "height": 900})
    command(page, "application:toggle-left-area")


def counted(cells, mark):
    """How often a tag stands in the HTML that the kernel sent."""
    htmls = [o.get("data", {}).get("text/html", "") for cell in cells for o in cell.get("outputs", ())]
    return sum("".join(text).count(mark) for text in htmls)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_can_be_read(page, opened, name):
    notebook = opened(name)
    notebook.run_all()
    cells = notebook.cells()
    assert list(complaints(cells)) == []
    assert notebook.pictures() == [True] * counted(cells, "<img")
    assert notebook.tables() == [True] * counted(cells, "<table")
    assert notebook.too_wide() == []
    for theme in THEMES:
        command(page, "apputils:change-theme", theme=theme)
        page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
        assert notebook.too_faint() == [], theme
    with enlarged(page):
        assert notebook.too_wide(tables=False) == []
        assert all(notebook.pictures())


def test_what_cannot_be_read_is_found(opened):
    bad = (
        '<p style="color: #777; background: #fff">faint</p><img src="data:image/png;base64,AA">'
        '<div style="width: 3000px">wide</div><table><tr><td>no caption</td></tr></table>'
    )
    notebook = opened("00_start_here.ipynb")
    notebook.type_into("first-cell", f"from IPython.display import HTML\nHTML({bad!r})")
    assert "faint" in [text for text, *_ in notebook.too_faint()]
    assert "first-cell" in [cell for cell, *_ in notebook.too_wide()]
    assert notebook.pictures()[0] is False
    assert notebook.tables()[0] is False
    notebook.type_into("first-cell", "import warnings\nwarnings.warn('odd')\n1 / 0")
    found = "\n".join(complaints(notebook.cells()))
    assert "first-cell: division by zero" in found
    assert "odd" in found


def test_the_keyboard_alone_suffices(page, opened):
    question = chapters("00")[0].questions[0]
    notebook = opened("00_start_here.ipynb")
    own = next(cell["id"] for cell in notebook.cells() if f'check("{question.id}"' in cell["source"])
    page.keyboard.press("Escape")
    for _ in notebook.cells():
        if notebook.active() == own:
            break
        page.keyboard.press("Shift+Enter")
    notebook.wait_until_idle()
    for key in ("ArrowUp", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    assert notebook.active() == own
    page.keyboard.press("Enter")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(asked(question, spelled(question, question.right)))
    page.keyboard.press("Shift+Enter")
    notebook.wait_until_idle()
    assert notebook.output(own).startswith("Right.")


def test_a_wrong_prediction_is_told_why_and_the_right_one_is_accepted(opened):
    question, cell = find("03-e-e-a"), "predict-e-e-a"
    misconception = next(
        one for one in question.misconceptions if not question.is_right(question.answer_of(one.run))
    )
    notebook = opened("03_rank_ordered_encoding.ipynb")
    notebook.run_all()
    assert notebook.output(cell).startswith("Not answered yet.")

    notebook.type_into(cell, asked(question, spelled(question, misconception.run)))
    assert notebook.output(cell).startswith("Not quite.")
    assert f"way to arrive here: {misconception.belief}" in notebook.output(cell)
    assert notebook.drawn(cell).startswith("Not quite.")

    notebook.type_into(cell, asked(question, spelled(question, question.right)))
    assert notebook.output(cell).startswith("Right.")
    assert notebook.drawn(cell).startswith("Right.")
