"""Open exercises: every way in which a function can be wrong, and its smallest counterexample."""

import re
import sys
import threading
import time
from collections import Counter

import numpy
import pytest

from tokenlab.course import exercises
from tokenlab.course.exercises import examine, shortest_first
from tokenlab.course.limits import limited
from tokenlab.course.model import Exercise, find


def double(symbols):
    """Double each symbol.

    >>> double((1,))
    [2]
    """
    return [2 * symbol for symbol in symbols]


EXERCISE = Exercise(
    id="99-double",
    prompt="Double each.",
    call="double(symbols)",
    reference=double,
    alphabet=(1, 2, 3),
    wrong=(),
    hints=("", "", ""),
    concepts=(),
    cells=(),
    cases=100,
)


def told(function):
    message = examine(EXERCISE, function)
    return message.state, message.text


def test_inputs_come_shortest_first_and_end():
    inputs = [symbols for (symbols,) in shortest_first(EXERCISE)]
    assert inputs[:6] == [(), (1,), (2,), (3,), (1, 1), (1, 2)]
    assert len(inputs) == 100


@pytest.mark.parametrize(
    "right",
    [
        lambda symbols: [s + s for s in symbols],
        lambda symbols: tuple(2 * s for s in symbols),
        lambda symbols: 2 * numpy.array(symbols, dtype=int),
        lambda *symbols: [2 * s for s in symbols[0]],
    ],
)
def test_a_right_function_is_accepted_whatever_sequence_it_returns(right):
    assert told(right) == (
        "right",
        "Right. Your function agrees with the library on the 100 shortest inputs, and on longer random ones.",
    )


def test_the_counterexample_is_the_smallest_and_got_and_wanted_stand_side_by_side():
    state, text = told(lambda symbols: [s + s for s in symbols if s != 2])
    assert state == "wrong"
    assert "double((2,))" in text
    assert "    got     []\n    wanted  [4]" in text


def test_a_fault_that_only_long_inputs_show_is_found_and_shrunk():
    text = told(lambda symbols: double(symbols) if len(symbols) < 9 else [])[1]
    assert "double((1, 1, 1, 1, 1, 1, 1, 1, 1))" in text


def remembering(seen=[]):  # noqa: B006
    def own(symbols, seen=seen):
        seen.extend(symbols)
        return [2 * s for s in seen]

    return own


def test_a_function_that_remembers_is_named():
    assert "remember earlier calls" in told(remembering([]))[1]


def test_a_function_that_fails_only_the_second_time_is_named():
    calls = Counter()

    def own(symbols):
        calls[symbols] += 1
        return double(symbols) if len(symbols) < 2 or calls[symbols] > 1 else []

    assert "remember earlier calls" in told(own)[1]


def test_an_exception_is_shown_at_the_line_of_the_learner():
    def own(symbols):
        return [2 // (s - 2) for s in symbols]

    text = told(lambda symbols: own(symbols) if 2 in symbols else double(symbols))[1]
    assert "ZeroDivisionError" in text
    assert "of your cell: return [2 // (s - 2) for s in symbols]" in text


def test_a_function_that_does_not_return_is_stopped(monkeypatch):
    monkeypatch.setattr(exercises, "SECONDS", 0.2)

    def own(symbols):
        while symbols:
            pass
        return []

    started = time.monotonic()
    state, text = told(own)
    assert state == "wrong"
    assert "did not return within 0.2 seconds" in text
    assert time.monotonic() - started < 5


def test_only_what_there_was_time_to_try_is_said(monkeypatch):
    def slow(symbols):
        time.sleep(0.01)
        return double(symbols)

    monkeypatch.setattr(exercises, "PATIENCE", 0.2)
    state, text = told(slow)
    tried = int(re.search(r"on the (\d+) shortest inputs; there was no time for more", text)[1])
    assert (state, 1 < tried <= 20) == ("right", True)
    monkeypatch.setattr(exercises, "PATIENCE", -1)
    said = "Right. Your function agrees with the library on the shortest input; there was no time for more."
    assert told(slow) == ("right", said)
    assert told(lambda symbols: [0])[0] == "wrong"


def test_without_hypothesis_no_random_input_is_claimed(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    assert told(lambda symbols: [2 * s for s in symbols])[1].endswith("on the 100 shortest inputs.")


def test_a_function_that_catches_everything_is_stopped_too():
    caught = []

    def stubborn():
        while len(caught) < 3:
            try:
                while True:
                    pass
            except BaseException as error:
                caught.append(error)

    assert limited(stubborn, (), 0.2) == ("late", None)
    assert len(caught) == 3


def test_the_limit_leaves_nothing_behind():
    for _ in range(200):
        assert limited(int, ("7",), 0.001)[0] in {"returned", "late"}
    time.sleep(0.05)
    assert sum(range(10_000)) == 49_995_000


def test_without_threads_there_is_no_limit_and_that_is_said(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert limited(int, ("7",)) == ("returned", 7)
    assert "There is no time limit" in told(lambda symbols: [2 * s for s in symbols])[1]


def test_prints_are_captured_and_shown_for_the_counterexample(capsys):
    def own(symbols):
        print("look:", symbols)
        return [2 * s for s in symbols if s != 3]

    text = told(own)[1]
    assert "It printed:\n\n    look: (3,)" in text
    assert capsys.readouterr().out == ""


def yields(symbols):
    yield from symbols


def changes(symbols):
    symbols[0] = 2
    return symbols


class Unspeakable(BaseException):
    def __str__(self):
        raise SystemExit


def raises_its_own(symbols):
    raise Unspeakable


@pytest.mark.parametrize(
    ("function", "state", "words"),
    [
        (lambda symbols: ..., "blank", "Replace `return ...`"),
        (..., "blank", "Not tried yet."),
        (lambda symbols: None, "wrong", "is there a return?"),
        ([2], "unreadable", "without parentheses"),
        (double((1,)), "unreadable", "without parentheses"),
        (double, "unreadable", "library's own function"),
        (yields, "wrong", "return the finished `list`."),
        (changes, "wrong", "make a list of it first"),
        (lambda: 1, "wrong", "called as double(symbols)"),
        (lambda symbols: {}, "wrong", "of type `list`; yours is of type `dict`."),
        (
            lambda symbols: dict.fromkeys(symbols).values(),
            "wrong",
            "of type `list`; yours is of type `dict_values`.",
        ),
        (lambda symbols: 10**5000, "wrong", "it cannot be shown"),
        (lambda symbols: exit(), "wrong", "SystemExit"),
        (raises_its_own, "wrong", "It raised Unspeakable\n"),
        (lambda symbols: (lambda f: f(f))(lambda f: f(f)), "wrong", "RecursionError"),
    ],
)
def test_every_other_way_is_named(function, state, words):
    found, text = told(function)
    assert (found, words in text) == (state, True), text


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            lambda ids, pieces: b"".join(pieces[i] or b"" for i in ids),
            "is of type `int`; yours is of type `bytes`.",
        ),
        (lambda ids, pieces: [pieces[i] for i in ids], "is of type `bytes`; yours is of type `list`."),
        (lambda ids, pieces: iter(ids), "return the finished `bytes`."),
    ],
)
def test_what_kind_of_answer_is_meant_is_said_for_the_input_that_is_shown(function, words):
    text = examine(find("04-decode-strictly"), function).text
    assert words in text
    assert " a bytes" not in text and "A bytes" not in text


class Odd:
    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None

    def __repr__(self):
        raise RuntimeError


def test_a_result_that_cannot_be_looked_at_does_not_raise():
    state, text = told(lambda symbols: Odd())
    assert state == "wrong"
    assert "wanted" in text


def test_a_function_that_is_traced_after_a_limit_still_starts():
    def endless():
        while True:
            pass

    for function, wanted in ((int, ("returned", 0)), (endless, ("late", None))):
        assert limited(function, (), 0.2) == wanted
        before = sys.gettrace()
        sys.settrace(lambda *_: None)
        try:
            assert (lambda: 3)() == 3
        finally:
            sys.settrace(before)
