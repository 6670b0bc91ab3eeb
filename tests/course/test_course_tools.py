"""Working copies and their journal, the key, the notebooks run again, and the words of the command line."""

import datetime
import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tokenlab.__main__ import COMMANDS, main
from tokenlab.course import check, cli, notebooks, workbook
from tokenlab.course.model import Exercise, chapters

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for name in ("03_one.ipynb", "03b_two.ipynb"):
        (folder / name).write_text(f"course {name}", "utf-8")
    return folder


def prepare(source, target, fresh=()):
    return list(workbook.prepare(target, fresh, source))


def test_copies_are_made_and_never_overwritten(source, tmp_path):
    target = tmp_path / "deep" / "workbook"
    assert prepare(source, target) == []
    copy = target / "03_one.ipynb"
    assert copy.read_text("utf-8") == "course 03_one.ipynb"
    copy.write_text("mine", "utf-8")
    (source / "03_one.ipynb").write_text("course, newer", "utf-8")
    told = prepare(source, target)
    assert copy.read_text("utf-8") == "mine"
    assert told == ["03_one.ipynb: has changed in the course since you copied it (renew it with --fresh 03)"]


def test_what_only_the_learner_changed_is_not_called_a_change_of_the_course(source, tmp_path):
    prepare(source, tmp_path)
    (tmp_path / "03_one.ipynb").write_text("mine", "utf-8")
    assert prepare(source, tmp_path) == []


def test_a_notebook_that_the_teacher_handed_out_is_not_called_a_change_of_the_course(source, tmp_path):
    (tmp_path / "03_one.ipynb").write_text("another variant", "utf-8")
    for _ in range(2):
        assert prepare(source, tmp_path) == []
    assert (tmp_path / "03_one.ipynb").read_text("utf-8") == "another variant"


def test_renewing_keeps_the_old_copy_under_a_dated_name(source, tmp_path):
    prepare(source, tmp_path)
    day = datetime.date.today().isoformat()
    for text, old in (("first", f"03_one.{day}.ipynb"), ("second", f"03_one.{day}.2.ipynb")):
        (tmp_path / "03_one.ipynb").write_text(text, "utf-8")
        told = prepare(source, tmp_path, ["03"])
        assert told == [f"03_one.ipynb: renewed; your old copy is {old}"]
        assert (tmp_path / old).read_text("utf-8") == text
        assert (tmp_path / "03_one.ipynb").read_text("utf-8") == "course 03_one.ipynb"
    assert (tmp_path / "03b_two.ipynb").exists()


def test_an_unknown_chapter_changes_nothing(source, tmp_path):
    with pytest.raises(LookupError, match="'99'"):
        prepare(source, tmp_path / "workbook", ["99"])
    assert not list((tmp_path / "workbook").glob("*.ipynb"))


def test_the_journal_holds_each_distinct_answer_once_and_in_order(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(workbook.VARIABLE, str(tmp_path))
    for answer in ([258], [260], "[258]", ..., {1}, [260]):
        check("03-te", answer)
    check("03-te", [260], sure=True)
    lines = (tmp_path / "journal.jsonl").read_text("utf-8").splitlines()
    entries = [
        (e["id"], e["state"], e["answer"], e["misconceptions"], e["sure"]) for e in map(json.loads, lines)
    ]
    assert entries == [
        ("03-te", "wrong", "[258]", ["training-ids"], None),
        ("03-te", "right", "[260]", [], None),
        ("03-te", "right", "[260]", [], True),
    ]


@pytest.mark.parametrize("damage", [b"\xff\n", b'{"id": "03-te"', b"\0"])
def test_a_damaged_journal_is_continued_on_a_line_of_its_own(monkeypatch, tmp_path, capsys, damage):
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(damage)
    monkeypatch.setenv(workbook.VARIABLE, str(tmp_path))
    check("03-te", [260])
    check("03-te", [260])
    assert capsys.readouterr().out.startswith("Right.")
    damaged, line, end = journal.read_bytes().split(b"\n")
    assert (damaged, end) == (damage.rstrip(b"\n"), b"")
    assert json.loads(line)["state"] == "right"


@pytest.mark.parametrize("damage", ["{broken", "[]", "\udcff", None])
def test_with_a_damaged_record_of_copies_nothing_is_known_and_nothing_said(source, tmp_path, damage):
    target = tmp_path / "workbook"
    prepare(source, target)
    record = target / ".copied.json"
    record.unlink()
    if damage is not None:
        record.write_bytes(damage.encode("utf-8", "surrogateescape"))
    (target / "03_one.ipynb").write_text("mine", "utf-8")
    assert prepare(source, target) == []
    assert (target / "03_one.ipynb").read_text("utf-8") == "mine"


def test_without_a_working_copy_there_is_no_journal(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv(workbook.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    check("03-te", [258])
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_cannot_be_written_disturbs_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(workbook.VARIABLE, str(tmp_path / "gone"))
    check("03-te", [260])
    assert capsys.readouterr().out.startswith("Right.")


def test_the_key_holds_every_question_as_text_and_on_a_page(capsys, tmp_path):
    assert main(["course", "key"]) == 0
    text = capsys.readouterr().out
    assert main(["course", "key", "--html", str(tmp_path / "key.html")]) == 0
    page = (tmp_path / "key.html").read_text("utf-8")
    assert "<script" not in page
    shown = html.unescape(re.sub(r"<[^>]+>", "", page))
    for chapter in chapters():
        for task in chapter.tasks:
            assert task.id in text
            assert task.id in shown
            if isinstance(task, Exercise):
                assert all(wrong.__name__ in shown for wrong in task.wrong)
            else:
                assert all(wrong.belief in text for wrong in task.misconceptions)


def test_the_key_of_one_chapter_is_that_chapter_only(capsys):
    assert main(["course", "key", "03"]) == 0
    ids = re.findall(r"(?m)^(\w+-[\w-]+)\n-+$", capsys.readouterr().out)
    assert ids
    assert all(name.startswith("03-") for name in ids)


@pytest.mark.parametrize(
    ("words", "title"), [(["03"], "Key to 03: Rank-ordered encoding"), ([], "Key to the course")]
)
def test_the_page_of_a_key_is_named_after_what_is_on_it(tmp_path, words, title):
    page = tmp_path / "key.html"
    assert main(["course", "key", *words, "--html", str(page)]) == 0
    assert f"<title>{title}</title>" in page.read_text("utf-8")


SMALL = {
    "cells": [
        {"cell_type": "markdown", "id": "words", "metadata": {}, "source": "# A\n"},
        {
            "cell_type": "code",
            "id": "sum",
            "metadata": {},
            "source": "6 * 7",
            "execution_count": None,
            "outputs": [],
        },
    ],
    "metadata": {"language_info": {"name": "python", "version": "3.0.0"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def test_running_again_writes_once_and_then_changes_nothing(tmp_path):
    path = tmp_path / "99_x.ipynb"
    path.write_text(json.dumps(SMALL), "utf-8")
    assert [difference == "" for _, difference in notebooks.rerun([path], write=False)] == [False]
    assert json.loads(path.read_text("utf-8")) == SMALL
    assert [difference == "" for _, difference in notebooks.rerun([path])] == [False]
    written = nbformat.read(path, as_version=4)
    assert written.cells[1].outputs[0].data["text/plain"] == "42"
    assert written.cells[1].execution_count == 1
    assert written.metadata.language_info == {"name": "python"}
    assert written.cells[1].metadata == {}
    assert [difference for _, difference in notebooks.rerun([path])] == [""]


@pytest.mark.parametrize(
    ("difference", "code", "said"), [("", 0, "unchanged"), ("line 3: x", 1, "line 3: x")]
)
def test_checking_the_notebooks_ends_in_an_exit_code(monkeypatch, capsys, difference, code, said):
    written = []

    def rerun(paths, *, write):
        written.append(write)
        return ((path, difference) for path in paths)

    monkeypatch.setattr(notebooks, "rerun", rerun)
    assert main(["course", "run", "--check", "03"]) == code
    assert capsys.readouterr().out == f"03_rank_ordered_encoding.ipynb: {said}\n"
    assert main(["course", "run", "03"]) == 0
    assert written == [False, True]


def test_the_help_explains_every_word(capsys):
    with pytest.raises(SystemExit):
        main(["course", "--help"])
    assert COMMANDS["course"][1] in capsys.readouterr().out
    for function, words in cli.COMMANDS:
        assert function.__doc__
        assert all(settings["help"] for _, settings in words)


def test_a_cell_that_raises_is_named(tmp_path):
    path = tmp_path / "99_x.ipynb"
    path.write_text(json.dumps(SMALL).replace("6 * 7", "6 / 0"), "utf-8")
    with pytest.raises(RuntimeError, match="cell sum: ZeroDivisionError"):
        list(notebooks.rerun([path]))


def test_the_learners_copy_of_the_course_opens_blank(tmp_path, capsys):
    assert main(["course", "workbook", str(tmp_path)]) == 0
    assert {p.name for p in tmp_path.glob("*.ipynb")} == {
        p.name for p in (ROOT / "notebooks").glob("*.ipynb")
    }


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["cours"], 2, "found 'cours'"),
        (["course", "key", "99"], 2, "no chapter '99'"),
        (["course", "run", "99"], 2, "no chapter '99'"),
        (["course", "workbook", "W", "--fresh", "99"], 2, "no chapter '99'"),
        (["course", "key", "--html", "no/such/folder/x.html"], 1, "No such file"),
    ],
)
def test_errors_are_one_line_with_an_exit_code(words, code, expected, tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "tokenlab", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert run.returncode == code
    assert expected in run.stderr
    assert run.stderr.count("\n") == 1
    assert run.stdout == ""
