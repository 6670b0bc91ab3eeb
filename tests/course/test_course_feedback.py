"""Reading what people type, and feedback that never raises."""

import json
import os
import subprocess
import sys
from collections import deque
from enum import IntEnum
from itertools import count

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenlab.course import check, check_function, feedback, hint, reveal
from tokenlab.course.feedback import judge
from tokenlab.course.model import find
from tokenlab.course.reading import KINDS, Unreadable, is_blank

E_E_A, TE = find("03-e-e-a"), find("03-te")


class Number(IntEnum):
    TWO_SIXTY = 260


READ = {
    "ids": [
        (
            (260, 34),
            [[260, 34], (260, 34), "260 34", "[260, 34]", "260,34", numpy.array([260, 34]), [260.0, "34"]],
        ),
        (
            (260,),
            [
                260,
                "260",
                numpy.int64(260),
                [Number.TWO_SIXTY],
                "0x104",
                iter([260]),
                deque([260]),
                range(260, 261),
            ],
        ),
        ((), [[], (), "[]", numpy.array([])]),
    ],
    "hex": [
        (
            b"\x20\xd0",
            [
                "20 d0",
                "20d0",
                "0x20 0xD0",
                "[20, d0]",
                [0x20, 0xD0],
                ["20", "d0"],
                b" \xd0",
                "b' \\x20\\xd0'",
            ],
        ),
        (b"", ["", b"", []]),
    ],
    "hex pieces": [
        (
            (b"\x20\xd0", b"\xb0"),
            [
                "20 d0 | b0",
                "20d0|b0",
                "20d0 b0",
                "20 d0, b0",
                "[20 d0] [b0]",
                "['20 d0', 'b0']",
                ["20 d0", "b0"],
                [["20", "d0"], ["b0"]],
                [[0x20, 0xD0], [0xB0]],
                (b"\x20\xd0", b"\xb0"),
                "0x20 0xd0 | 0xb0",
            ],
        ),
        ((b"\x20\xd0",), ["20d0", ["20 d0"], [b"\x20\xd0"]]),
        ((), [[], "", "[]"]),
    ],
    "text pieces": [
        (
            ("new", "e"),
            [["new", "e"], ("new", "e"), "new | e", "new|e", "['new', 'e']", numpy.array(["new", "e"])],
        )
    ],
    "text": [("ab", ["ab", "'ab'", '"ab"', "«ab»"]), ("", [""])],
    "number": [(3, [3, "3", 3.0, [3], "3.0", numpy.float64(3), "[3]"]), (0.5, [0.5, "0.5", "1/2", "0,5"])],
    "position": [(3, [3, "3", 3.0, (3,), numpy.int8(3)])],
}


@pytest.mark.parametrize(
    ("kind", "wanted", "typed"),
    [
        pytest.param(kind, wanted, typed, id=f"{kind}-{wanted!r}-{position}")
        for kind, rows in READ.items()
        for wanted, ways in rows
        for position, typed in enumerate(ways)
    ],
)
def test_what_people_type_is_read(kind, wanted, typed):
    read = KINDS[kind].read(typed, "text asked")
    assert read == wanted
    assert type(read) is type(wanted)


class Evil:
    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None

    def __repr__(self):
        raise RuntimeError

    def __iter__(self):
        raise SystemExit

    def __getattr__(self, name):
        raise RuntimeError


class Endless:
    def __iter__(self):
        return count()


class Stuck:
    def __iter__(self):
        while True:
            pass


ODD = [
    {1, 2},
    {1: 2},
    True,
    numpy.True_,
    [True],
    len,
    int,
    lambda: 1,
    [258, ...],
    [258, None],
    "[258, ...]",
    Evil(),
    [Evil()],
    Endless(),
    count(),
    1j,
    object(),
    10**5000,
    -(10**400),
    float("nan"),
    float("inf"),
    "1e999999999",
    "9" * 100_000,
    b"x" * 100_000,
    [1] * 100_000,
    numpy.zeros((300, 300)),
    [[[[[1]]]]],
    "\ud800",
    numpy.array([None, {}], dtype=object),
    ValueError("x"),
    memoryview(b"ab"),
]


@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("task", [E_E_A, TE, find("03-break-the-order")], ids=lambda task: task.id)
def test_odd_values_never_raise_and_are_never_right(task, value, capsys):
    message = judge(task, value)
    assert message.state in {"unreadable", "wrong"}
    assert len(message.text) < 3000
    check(task.id, value)
    assert capsys.readouterr().out.strip() == message.text


def test_an_answer_that_takes_forever_to_read_is_given_up():
    assert judge(TE, Stuck()).state == "unreadable"


@pytest.mark.parametrize("value", ODD[:9], ids=range(9))
def test_values_of_another_form_are_told_how_to_type_and_not_called_wrong(value):
    for task in (E_E_A, TE):
        message = judge(task, value)
        assert message.state == "unreadable"
        assert KINDS[task.kind].how in message.text


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(), st.lists)
)
@settings(max_examples=100, deadline=None)
def test_a_reader_returns_or_says_unreadable(value):
    for kind in KINDS.values():
        try:
            kind.read(value, " а")
        except Unreadable as error:
            assert str(error)


@pytest.mark.parametrize("value", [..., None, "...", " ... ", "…", [...], "[...]"], ids=str)
def test_dots_are_not_answered(value):
    assert is_blank(value)
    assert judge(TE, value).state == "blank"


@pytest.mark.parametrize("value", [[], "", 0, [0], "0", (), b""])
def test_what_is_false_to_python_may_still_be_an_answer(value):
    assert not is_blank(value)


def test_feedback_is_a_pure_function_of_question_and_answer():
    texts = {judge(E_E_A, "65 20 | 65 20 | d0 b0").text for _ in range(3)}
    assert len(texts) == 1


def test_consequence_comes_before_the_ways_to_arrive():
    text = judge(E_E_A, "65 20 | 65 20 | d0 b0").text
    assert text.index("Not quite.") < text.index("nothing is lost") < text.index("One way to arrive here")
    assert text.count("way to arrive here") == 3


@pytest.mark.parametrize(("text", "these"), [("on", "these 2 bytes"), ("n", "this byte")])
def test_two_encoders_that_agree_make_one_list(text, these):
    said = f"Both encoders make the same list of IDs from {these}; its length is 1."
    assert said in judge(find("03-break-the-order"), text).text


def test_a_look_alike_letter_is_named():
    cyrillic = judge(find("03-break-the-order"), "оn")
    said = "`о` is U+043E CYRILLIC SMALL LETTER O; it looks like `o`, which is U+006F LATIN SMALL LETTER O."
    assert said in cyrillic.text
    assert "`α` is U+03B1 GREEK SMALL LETTER ALPHA; it looks like `a`" in judge(find("02b-order"), "α").text
    assert "U+0430 CYRILLIC SMALL LETTER A" in judge(E_E_A, "20 | а0").text


def test_an_unknown_question_is_named_with_its_nearest(capsys):
    for function in (check, hint, reveal, check_function):
        function("03-ee-a")
        assert 'Did you mean "03-e-e-a"?' in capsys.readouterr().out
        function(3)
        assert "ID, in quotes" in capsys.readouterr().out


def test_the_wrong_kind_of_check_is_named(capsys):
    check("03-encode", 1)
    assert 'check_function("03-encode", encode_pieces)' in capsys.readouterr().out
    check_function("03-te", len)
    assert 'check("03-te", prediction)' in capsys.readouterr().out


def test_nothing_raises_even_where_a_table_has_a_fault(monkeypatch, capsys):
    def broken(task_id):
        raise ZeroDivisionError

    monkeypatch.setattr(feedback, "find", broken)
    for function in (check, hint, reveal, check_function):
        function("03-te")
        assert "Looking at it failed" in capsys.readouterr().out


def test_hints_have_three_rungs(capsys):
    for rung in (1, 2, 3):
        hint("03-te", rung)
        assert f"Hint {rung} of 3." in capsys.readouterr().out
    for rung in (0, 4, "x", None):
        hint("03-te", rung)
        assert "There are 3 hints" in capsys.readouterr().out


def test_reveal_shows_the_answer_with_its_derivation(capsys):
    reveal("03-e-e-a")
    shown = capsys.readouterr().out
    assert '"65 20 | 65 | 20 d0 | b0"' in shown
    assert "rank 7" in shown
    reveal("03-encode")
    assert "def encode_by_rank" in capsys.readouterr().out


def test_a_notebook_gets_html_and_equal_text_and_the_answer_only_in_a_working_copy(tmp_path):
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "from IPython.utils.capture import capture_output\n"
        "import json\n"
        "shell = InteractiveShell.instance()\n"
        "with capture_output() as seen:\n"
        "    result = shell.run_cell('from tokenlab.course import check; check(\"03-te\", [258])').result\n"
        "output = seen.outputs[0]\n"
        "print(json.dumps([result, sorted(output.data), output.metadata]))\n"
    )
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    for extra in ({}, {"TOKENLAB_WORKBOOK": str(tmp_path)}):
        run = subprocess.run(
            [sys.executable, "-c", code], env=environment | extra, capture_output=True, check=True
        )
        result, data, metadata = json.loads(run.stdout.splitlines()[-1])
        assert result is None
        assert data == ["text/html", "text/plain"]
        entry = {
            "id": "03-te",
            "state": "wrong",
            "answer": "[258]",
            "misconceptions": ["training-ids"],
            "sure": None,
        }
        assert metadata == ({"tokenlab": entry} if extra else {})


class Nameless(str):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize("task_id", [10**5000, Nameless("03-te"), [[10**5000]], "03-\ud800"], ids=range(4))
def test_no_id_is_odd_enough_to_raise(task_id, capsys):
    for function in (check, check_function, hint, reveal):
        function(task_id)
    assert capsys.readouterr().out.encode()


def test_a_question_needs_the_table_of_its_own_chapter_alone(monkeypatch):
    from tokenlab.course import model

    real = model.chapters
    monkeypatch.setattr(model, "chapters", lambda number="": real(number) if number else 1 / 0)
    assert find("03-te").id == "03-te"


@pytest.mark.parametrize("rung", [1.0, True, 10**5000, None], ids=range(4))
def test_a_rung_that_is_none_is_told_how_many_there_are(rung, capsys):
    hint("03-te", rung)
    assert capsys.readouterr().out.startswith("There are 3 hints")
