"""A class's hand-ins: what was put in is what the table says, whatever state a notebook comes back in."""

import copy
import csv
import io
import json
import os
import re
import subprocess
import sys
import time

import pytest
import rules

from tokenlab.__main__ import main
from tokenlab.course import grading, handins
from tokenlab.course.model import Exercise, Question, chapters, find
from tokenlab.course.reading import KINDS
from tokenlab.course.sandbox import run_exercise
from tokenlab.course.workbook import asking_cells

CHAPTER = chapters("03")[0]
NAME = CHAPTER.notebook
BOOK = json.loads(rules.notebook_of(CHAPTER).read_text("utf-8"))
QUESTIONS = [task for task in CHAPTER.tasks if isinstance(task, Question)]
WRONG = sorted(CHAPTER.misconceptions.items())
WRITTEN = """
def encode_pieces(data, pairs):
    pieces = [bytes([byte]) for byte in data]
    for left, right in pairs:
        place = 0
        while place + 1 < len(pieces):
            if (pieces[place], pieces[place + 1]) == (left, right):
                pieces[place : place + 2] = [left + right]
            place += 1
    return pieces

check_function("03-encode", encode_pieces)
"""


def cell_of(book, task_id):
    return next(cell for cell in book["cells"] if cell["id"] == asking_cells(NAME)[task_id])


def put(book, task_id, answer):
    """Write a literal answer into the cell that asks."""
    cell_of(book, task_id)["source"] = f'prediction = {answer}\ncheck("{task_id}", prediction)'


def spelled(question, algorithm):
    return KINDS[question.kind].spell(question.answer_of(algorithm))


def answered(sources=None, **changes):
    """A copy of the chapter in which some cells, named by their task, hold another source."""
    book = copy.deepcopy(BOOK)
    for task_id, source in (sources or {}).items():
        cell_of(book, task_id)["source"] = source
    return book | changes


def save(folder, name, book):
    folder.mkdir(parents=True, exist_ok=True)
    text = book if isinstance(book, str) else json.dumps(book)
    (folder / name).write_text(text, "utf-8")


def read_one(tmp_path, book, name=f"{NAME}_anna.ipynb"):
    save(tmp_path, name, book)
    (hand_in,) = handins.read_folder(tmp_path)
    return hand_in


def test_a_class_of_thirty_is_graded_in_one_command_and_the_table_is_what_was_put_in(tmp_path, capsys):
    put_in = {}
    for number in range(30):
        book, expected = copy.deepcopy(BOOK), {task.id: {"not tried"} for task in CHAPTER.tasks}
        name = f"learner{number:02d}"
        if number < 10:
            for question in QUESTIONS:
                put(book, question.id, spelled(question, question.right))
                expected[question.id] = {"right"}
        elif number < 10 + len(WRONG):
            belief, _ = WRONG[number - 10]
            for question in QUESTIONS:
                wrong = {m.id: m.run for m in question.misconceptions}
                put(book, question.id, spelled(question, wrong.get(belief, question.right)))
                expected[question.id] = {belief} if belief in wrong else {"right"}
                expected[question.id] |= {
                    other
                    for group in question.collisions
                    if belief in wrong and belief in group
                    for other in group
                }
        elif number >= 28:
            book = json.dumps(book)[:5000] if number == 28 else "[" * 200_000
        save(tmp_path, f"{name}_{NAME}.ipynb", book)
        put_in[name] = expected
    start = time.monotonic()
    out = tmp_path / "out"
    out.mkdir()
    words = ["--csv", str(out / "table.csv"), "--html", str(out / "table.html")]
    assert main(["course", "grade", str(tmp_path), *words]) == 0
    assert time.monotonic() - start < 60
    assert (out / "table.csv").read_bytes().startswith(b"\xef\xbb\xbflearner,")  # for Excel
    rows = list(csv.DictReader(io.StringIO((out / "table.csv").read_text("utf-8-sig"))))
    assert {row["learner"] for row in rows} == set(put_in)
    for row in rows:
        for task_id, expected in put_in[row["learner"]].items():
            assert set(row[task_id].split("/")) == expected, (row["learner"], task_id)
    said = capsys.readouterr().out
    assert "learner28: learner28_03_rank_ordered_encoding.ipynb: damaged" in said
    assert "learner29: learner29_03_rank_ordered_encoding.ipynb: damaged" in said
    page = (out / "table.html").read_text("utf-8")
    assert "<script" not in page
    assert all(name in page for name in put_in)


def test_the_summary_names_the_commonest_misconception_of_the_first_answers(tmp_path, capsys):
    for name, answers in {
        "ann": ["[258]", "[260]"],
        "bob": ["[258]"],
        "cem": ["[2]"],
        "dia": ["[260]", "[258]"],
    }.items():
        save(tmp_path / name, f"{NAME}.ipynb", answered())
        lines = [
            {"id": "03-te", "state": "right", "answer": answer, "misconceptions": []} for answer in answers
        ]
        text = "\n".join(["no entry", "[1]", *map(json.dumps, lines)])
        (tmp_path / name / "journal.jsonl").write_text(text, "utf-8")
    hand_ins = handins.read_folder(tmp_path)
    counts = grading.first_answers(hand_ins, "03-te")
    assert counts == {"training-ids": 2, "right": 1, "rank-as-id": 1}
    assert next(grading.commonest(hand_ins))[:2] == ("training-ids", 2)
    verdicts = [grading.verdict(hand_in, "03-te") for hand_in in hand_ins]
    assert verdicts[0] == "right (first: training-ids)"
    assert verdicts[3] == "training-ids (first: right)"
    assert main(["course", "tally", str(tmp_path)]) == 0
    assert re.search(r"03-te +training-ids +2 +use the IDs", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("source", "verdict", "note"),
    [
        ('prediction = [260]  # from a friend\ncheck("03-te", prediction)', "right", "# from a friend"),
        ("[260]  # from a friend", "right", "the call of check is gone"),
        ('[258]\nprediction = ...\ncheck("03-te", prediction)', "training-ids", None),
        ('%%time\nprediction = [260]\n!ls\ncheck("03-te", prediction)', "right", None),
        ('check("03-te", [260], sure=True)', "right", None),
        ('check("03-te", prediction=[260])', "right", None),
        ('prediction = [260]\ncheck("03-tee", prediction)', "right", "its ID was changed to '03-tee'"),
        ('check("03-te@1", [264])', "right", None),
        ('prediction = 20 d0\ncheck("03-te", prediction)', "unreadable", "no Python (SyntaxError)"),
        ('check("03-te", ' + "-" * 15_000 + "1)", "unreadable", "no Python"),
        ('check("03-te", ' + "[" * 9_000 + "]" * 9_000 + ")", "unreadable", "no Python"),
        ('check("03-te", [260])' + " " * 20_000, "unreadable", "over 20 kB"),
        ('check("03-te", 9' + "9" * 6_000 + ")", "unreadable", None),
        ('check("03-te", {[]})', "unreadable (computed)", None),
        ('check("03-te", {1, 2})', "unreadable", None),
        ('check("03-te", "\\d")', "unreadable", None),
        ('check("03-te", open("never-written", "w"))', "unreadable (computed)", None),
        ('check("03-te")', "not tried", None),
        ("", "not tried", None),
        ('prediction = "..."\ncheck("03-te", prediction)', "not tried", None),
    ],
)
def test_what_stands_in_a_cell_is_read_and_what_is_odd_is_named(tmp_path, monkeypatch, source, verdict, note):
    monkeypatch.chdir(tmp_path)
    hand_in = read_one(tmp_path, answered({"03-te": source}))
    assert grading.verdict(hand_in, "03-te") == verdict
    assert note is None or any(note in found for found in hand_in.notes)
    assert grading.verdict(hand_in, "03-e-a") == "not tried"
    assert not (tmp_path / "never-written").exists()


def test_an_untouched_notebook_has_no_notes(tmp_path):
    for chapter in rules.course_chapters():
        save(tmp_path / "anna", f"{chapter.notebook}.ipynb", rules.notebook(rules.notebook_of(chapter)))
    (hand_in,) = handins.read_folder(tmp_path)
    assert hand_in.notes == []
    assert {grading.verdict(hand_in, task.id) for task in grading.tasks_of([hand_in])} == {"not tried"}


def test_a_computed_answer_is_taken_from_the_output_judged_again_and_marked(tmp_path):
    forged = {"id": "03-te", "state": "right", "answer": "[258]", "misconceptions": []}
    book = answered({"03-te": 'prediction = list(range(258, 259))\ncheck("03-te", prediction)'})
    output = {"output_type": "display_data", "data": {}, "metadata": {"tokenlab": forged}}
    cell_of(book, "03-te")["outputs"] = [{"metadata": 7}, {"metadata": {"tokenlab": "x"}}, output]
    hand_in = read_one(tmp_path, book)
    assert grading.verdict(hand_in, "03-te") == "training-ids (computed)"


def test_a_copied_cell_gives_a_first_and_a_last_answer(tmp_path):
    book = answered({"03-te": 'check("03-te", [258])'})
    again = copy.deepcopy(cell_of(book, "03-te")) | {"source": 'check("03-te", [260])', "id": "new"}
    book["cells"].append(again)
    hand_in = read_one(tmp_path, book)
    assert grading.verdict(hand_in, "03-te") == "right (first: training-ids)"
    assert any("03-te is answered again in a copied cell" in note for note in hand_in.notes)


def test_a_renamed_notebook_without_cell_ids_is_told_by_what_it_asks(tmp_path):
    book = answered({"03-te": 'check("03-te", [260])'})
    for cell in book["cells"]:
        del cell["id"]
    hand_in = read_one(tmp_path, book, "homework anna (2).ipynb")
    assert grading.verdict(hand_in, "03-te") == "right"
    assert hand_in.notes == [f"homework anna (2).ipynb: renamed; it is {NAME}"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        '{"cells": 3}',
        '{"cells": [1]}',
        '{"cells": [{"source": [1]}]}',
        '{"worksheets": []}',
        '{"a": ' * 5000,
        "\ufeff{}",
        "NaN",
    ],
)
def test_a_damaged_notebook_is_named_and_the_others_are_graded(tmp_path, text):
    save(tmp_path, f"{NAME}_bob.ipynb", text)
    save(tmp_path, f"{NAME}_zoe.ipynb", answered({"03-te": 'check("03-te", [260])'}))
    bob, zoe = handins.read_folder(tmp_path)
    assert bob.notes[0].startswith(f"{NAME}_bob.ipynb: damaged: ")
    assert grading.verdict(zoe, "03-te") == "right"


def test_what_the_system_has_put_beside_the_notebooks_is_no_hand_in(tmp_path):
    folder = tmp_path / ".class" / "week 3"  # hidden itself: that is the teacher's business
    for name in ("anna", "__MACOSX/anna", "anna/.ipynb_checkpoints", ".Trash/anna"):
        save(folder / name, f"{NAME}.ipynb", answered())
    save(folder / "anna", f"._{NAME}.ipynb", "no JSON")
    (hand_in,) = handins.read_folder(folder)
    assert (hand_in.learner, hand_in.notes) == ("anna", [])


def test_a_notebook_of_another_course_is_named(tmp_path):
    cells = [{"cell_type": "code", "source": ["1 + 1"]}]
    assert read_one(tmp_path, {"cells": cells}, "x.ipynb").notes == [
        "x.ipynb: asks no question of the course"
    ]


@pytest.mark.parametrize(("folder", "code"), [("gone", 1), ("empty", 2)])
def test_a_folder_without_notebooks_is_an_error(tmp_path, folder, code, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["course", "grade", str(tmp_path / folder)]) == code
    assert capsys.readouterr().err.count("\n") == 1


def test_no_cell_of_the_csv_is_a_formula(tmp_path):
    save(tmp_path, f"=cmd()_{NAME}.ipynb", answered())
    assert grading.to_csv(handins.read_folder(tmp_path)).splitlines()[1].startswith("'=cmd()")


def test_grading_runs_nobodys_code(tmp_path):
    mark = tmp_path / "mark"
    evil = f"open({str(mark)!r}, 'w')"
    book = answered(
        {"03-te": f'prediction = {evil}\ncheck("03-te", prediction)', "03-encode": evil + WRITTEN}
    )
    hand_in = read_one(tmp_path, book)
    grading.result([hand_in])
    assert not mark.exists()
    assert grading.verdict(hand_in, "03-encode") == "written"


def test_exercises_are_run_only_when_asked_and_with_the_definitions_above_them(tmp_path):
    book = answered({"03-encode": WRITTEN.replace("left + right", "joined(left, right)")})
    helper = {"cell_type": "code", "id": "mine", "outputs": [], "metadata": {}}
    helper["source"] = "import os\ndef joined(left, right):\n    return left + right"
    book["cells"].insert(2, helper)
    hand_in = read_one(tmp_path, book)
    assert grading.verdict(hand_in, "03-encode") == "written"
    assert main(["course", "grade", str(tmp_path), "--run", "--csv", str(tmp_path / "table.csv")]) == 0
    (row,) = csv.DictReader(io.StringIO((tmp_path / "table.csv").read_text("utf-8-sig")))
    assert row["03-encode"] == "right"


EXERCISE = next(task for task in CHAPTER.tasks if isinstance(task, Exercise))
HEAD = "def f(data, pairs):\n    "


@pytest.mark.parametrize(
    ("program", "state", "said"),
    [
        (HEAD + "return []", "wrong", "shortest input"),
        ("1 / 0", "wrong", "ZeroDivisionError"),
        ("raise SystemExit", "wrong", "SystemExit"),
        ("x = bytearray(10**10)", "wrong", "MemoryError"),
        ("open('{tmp}/left', 'w')", "wrong", "PermissionError"),
        ("import os; os.open('{tmp}/left', os.O_CREAT | os.O_WRONLY)", "wrong", "PermissionError"),
        ("import os; os.remove('{tmp}/kept')", "wrong", "PermissionError"),
        ("import os; os.fork()", "wrong", "PermissionError"),
        ("import subprocess; subprocess.run(['true'])", "wrong", "PermissionError"),
        ("import socket; socket.create_connection(('localhost', 9))", "wrong", "PermissionError"),
        ("open('big', 'wb').write(bytes(2**22))", "wrong", "OSError"),
        ("while True: pass", "stopped", "after 4 seconds"),
        ("import os; os._exit(3)", "stopped", "code 3"),
    ],
)
def test_an_exercise_runs_within_limits(tmp_path, program, state, said):
    kept = tmp_path / "kept"
    kept.write_text("x")
    got = run_exercise(EXERCISE.id, program.replace("{tmp}", str(tmp_path)), "f", seconds=4)
    assert (got[0], said in got[1]) == (state, True), got
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limits")
def test_a_limit_that_the_system_refuses_is_left_out(tmp_path):
    # As macOS answers for the limit of memory.
    program = """if True:
        import resource, sys
        from tokenlab.course import sandbox

        def refuse(kind, limits, setrlimit=resource.setrlimit):
            if kind == resource.RLIMIT_AS:
                raise ValueError("current limit exceeds maximum limit")
            setrlimit(kind, limits)

        resource.setrlimit = refuse
        sandbox.main(*sys.argv[1:])
    """
    job, result = tmp_path / "job.json", tmp_path / "result.json"
    job.write_text(json.dumps([EXERCISE.id, WRITTEN.partition("check_function")[0], "encode_pieces"]))
    command = [sys.executable, "-c", program, str(job), str(result)]
    subprocess.run(command, env={**os.environ, "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}, check=True)
    assert json.loads(result.read_text("utf-8"))[0] == "right"


def test_a_question_can_be_asked_of_another_input():
    assert find("03-te@1").pool[0] == find("03-te").pool[1]
    for wrong in ("03-te@9", "03-te@x", "03-te@-1", "03-encode@1"):
        with pytest.raises(LookupError, match="there is no"):
            find(wrong)
