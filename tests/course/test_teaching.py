"""The teacher's sheet, copies to hand out, marks for nbgrader, and a class without a network."""

import hashlib
import html
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import nbformat
import pytest
import rules

from tokenlab.__main__ import main
from tokenlab.course import grading, handins, notebooks
from tokenlab.course.model import Question, chapters, draw, find
from tokenlab.course.reading import KINDS
from tokenlab.course.workbook import asking_cells

ROOT = Path(__file__).resolve().parents[2]
PATHS = [pytest.param(path, id=path.stem) for path in rules.paths()]

# The published schema of nbgrader's cell metadata, version 3: names, types and limits.
SCHEMA_3 = {
    "type": "object",
    "properties": {
        "schema_version": {"const": 3},
        **{name: {"type": "boolean"} for name in ("grade", "locked", "solution", "task")},
        "grade_id": {"type": "string", "pattern": r"^[a-zA-Z0-9_\-]+$"},
        "points": {"type": "number", "minimum": 0},
        "checksum": {"type": "string", "minLength": 32, "maxLength": 32},
        "cell_type": {"enum": ["raw", "code", "markdown"]},
    },
    "required": ["schema_version", "grade", "locked", "solution"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("chapter", [pytest.param(c, id=c.number) for c in rules.course_chapters()])
def test_the_sheet_holds_what_a_lesson_needs(chapter, capsys, tmp_path):
    assert main(["course", "teach", chapter.number]) == 0
    text = capsys.readouterr().out
    for part in (*chapter.objectives, *chapter.discussion, chapter.question):
        assert part in text
    assert f"{sum(chapter.minutes.values()):3d} min  in all" in text
    assert text.count("    1. ____") == len(chapter.paper)
    if chapter.likeliest:
        belief = chapter.misconceptions[chapter.likeliest].belief
        assert f"{chapter.likeliest}: {belief}." in text
    for question in chapter.questions:
        assert f"`{question.id}` {question.ask()}" in text
    page = tmp_path / "sheet.html"
    assert main(["course", "teach", chapter.number, "--html", str(page)]) == 0
    text = page.read_text("utf-8")
    assert "<script" not in text
    assert f"<title>Teaching {chapter.number}: {html.escape(chapter.title)}</title>" in text


def test_the_sheet_of_a_chapter_that_is_not_there(capsys):
    assert main(["course", "teach", "99"]) == 2
    assert "no chapter '99'" in capsys.readouterr().err


def test_blank_copies_are_the_course_itself_and_nothing_is_overwritten(tmp_path, capsys):
    assert main(["course", "blank", str(tmp_path / "out")]) == 0
    for path in rules.paths():
        copied = json.loads((tmp_path / "out" / path.name).read_text("utf-8"))
        assert copied == rules.notebook(path)
    (tmp_path / "out" / rules.paths()[-1].name).write_text("mine")
    (tmp_path / "out" / rules.paths()[0].name).unlink()
    assert main(["course", "blank", str(tmp_path / "out")]) == 1
    assert (tmp_path / "out" / rules.paths()[-1].name).read_text() == "mine"
    assert not (tmp_path / "out" / rules.paths()[0].name).exists()


def test_a_variant_asks_every_drawn_question_of_its_own_input_and_can_be_graded(tmp_path, capsys):
    assert main(["course", "blank", "--variant", "7", str(tmp_path)]) == 0
    asked = {}
    for chapter in rules.course_chapters():
        path = tmp_path / f"{chapter.notebook}.ipynb"
        book = json.loads(path.read_text("utf-8"))
        nbformat.validate(book)
        cells = {cell["id"]: (at, cell) for at, cell in enumerate(book["cells"])}
        for task_id, cell_id in asking_cells(chapter.notebook).items():
            at, cell = cells[cell_id]
            source = "".join(cell["source"])
            task = find(task_id)
            variant = draw(task, 7) if isinstance(task, Question) else 0
            if not variant:
                assert f'"{task_id}"' in source
                continue
            asked[task_id] = find(f"{task_id}@{variant}")
            assert f'check("{task_id}@{variant}"' in source
            above = "".join("".join(c["source"]) for c in book["cells"][max(0, at - 2) : at])
            assert f"In this copy, answer this instead: {asked[task_id].ask()}" in above
            answer = KINDS[task.kind].spell(asked[task_id].answer())
            cell["source"] = f"prediction = {answer}\n" + source.partition("\n")[2]
        path.write_text(json.dumps(book), "utf-8")
    assert len(asked) > 40
    (tmp_path / "anna").mkdir()
    for path in tmp_path.glob("*.ipynb"):
        path.rename(tmp_path / "anna" / path.name)
    (hand_in,) = handins.read_folder(tmp_path)
    assert hand_in.notes == []
    for task in grading.tasks_of([hand_in]):
        assert grading.verdict(hand_in, task.id) == ("right" if task.id in asked else "not tried"), task.id


def test_neighbours_get_other_inputs():
    differing = [
        question.id
        for chapter in chapters()
        for question in chapter.questions
        if len(question.pool) > 1 and draw(question, 3) == draw(question, 4)
    ]
    assert differing == []


def marks_of(book):
    return [cell["metadata"]["nbgrader"] for cell in book["cells"] if "nbgrader" in cell["metadata"]]


@pytest.mark.parametrize("path", PATHS)
def test_cells_that_ask_something_are_marked_for_nbgrader(path):
    book = rules.notebook(path)
    marks = marks_of(book)
    for mark in marks:
        jsonschema.validate(mark, SCHEMA_3)
        assert (mark["grade"], mark["solution"], mark["locked"], mark["task"]) == (True, True, False, False)
        assert mark["points"] > 0
    assert [mark["grade_id"] for mark in marks] == list(asking_cells(path.stem))
    try:
        from nbgrader.nbgraderformat.v3 import MetadataValidatorV3
    except ImportError:  # it brings a database and a second notebook server: CI alone installs it
        assert "TOKENLAB_REQUIRE_NBGRADER" not in os.environ
        return
    MetadataValidatorV3().validate_nb(nbformat.from_dict(book))


def test_running_a_notebook_marks_it_and_keeps_its_tags():
    cell = nbformat.v4.new_code_cell('prediction = ...\ncheck("03-te@1", prediction)')
    cell.metadata = {"tags": ["a"], "editor": 1, "nbgrader": {"old": True}}
    plain = nbformat.v4.new_code_cell("check_all()", metadata={"nbgrader": {"old": True}})
    book = notebooks.normalise(nbformat.v4.new_notebook(cells=[cell, plain]))
    assert set(book.cells[0].metadata) == {"nbgrader", "tags"}
    assert book.cells[0].metadata["nbgrader"]["grade_id"] == "03-te"
    assert book.cells[1].metadata == {}


def run_py(*words, folder=ROOT, **surroundings):
    return subprocess.run(
        [sys.executable, str(folder / "run.py"), *words],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | surroundings,
    )


@pytest.mark.parametrize("words", [[], ["a", "b"], ["--dest"]])
def test_wheels_needs_one_folder(words):
    run = run_py("wheels", *words)
    assert run.returncode == 1
    assert "wheels needs a folder" in run.stderr


BACKEND = """
from zipfile import ZipFile
def build_editable(folder, config_settings=None, metadata_directory=None):
    wheel = "small-1-py3-none-any.whl"
    with ZipFile(folder + "/" + wheel, "w") as file:
        file.writestr("small-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: small\\nVersion: 1\\n")
        file.writestr("small-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        file.writestr("small-1.dist-info/RECORD", "")
    return wheel
"""


def wheel(folder, name, code):
    """A package of one module that says something when it is run."""
    path = folder / f"{name}-1-py3-none-any.whl"
    about = f"{name}-1.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}/__main__.py", code)
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_folder_of_wheels_is_enough_where_there_is_no_network(tmp_path):
    """run.py itself, on a small project whose lock holds one package: a stand-in for pytest."""
    project, shop = tmp_path / "project", tmp_path / "shop"
    project.mkdir()
    shop.mkdir()
    digest = wheel(shop, "pytest", "print('installed from a folder')")
    shutil.copy(ROOT / "run.py", project)
    (project / "backend.py").write_text(BACKEND)
    (project / "requirements.txt").write_text(f"pytest==1 --hash=sha256:{digest}\n")
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    wheels = tmp_path / "my wheels"  # pip splits a path at its spaces, an address has none
    fetched = run_py("wheels", str(wheels), folder=project, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(shop))
    assert fetched.returncode == 0, fetched.stderr
    assert [path.name for path in wheels.iterdir()] == ["pytest-1-py3-none-any.whl"]
    address = wheels.resolve().as_uri()
    assert f"PIP_FIND_LINKS={address}, then" in fetched.stdout
    assert not (project / ".venv").exists()
    shutil.rmtree(shop)
    used = run_py("test", folder=project, PIP_NO_INDEX="1", PIP_FIND_LINKS=address)
    assert used.stdout.splitlines()[-1] == "installed from a folder", used.stderr
