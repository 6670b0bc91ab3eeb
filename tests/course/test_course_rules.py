"""The rules themselves: each one sees the fault that it is there for."""

import pytest
import rules

from tokenlab.course.model import Chapter, Misconception, Question


def question(**changes):
    fields = {
        "id": "99-x",
        "kind": "hex pieces",
        "prompt": "Cut {input}.",
        "pool": (" а", " б", " в"),
        "right": lambda text: [text.encode()[:2], text.encode()[2:]],
        "misconceptions": (
            Misconception("bytes", "cut everywhere", lambda text: [bytes([b]) for b in text.encode()]),
        ),
        "why": str,
        "consequence": lambda text, answer: "",
        "hints": ("", "", ""),
        "concepts": (),
        "cells": (),
    }
    return Question(**fields | changes)


def same(text):
    return [text.encode()[:2], text.encode()[2:]]


def other(text):
    return [text.encode()]


@pytest.mark.parametrize(
    "changes",
    [
        {"misconceptions": (Misconception("same", "", same),)},
        {"misconceptions": (Misconception("a", "", other), Misconception("b", "", other))},
        {"collisions": (frozenset({"bytes", "c"}),)},
        {"best": lambda text: [same(text), other(text)]},
    ],
    ids=["right", "undeclared", "no-collision", "tie"],
)
def test_discrimination_sees(changes):
    assert list(rules.discrimination(question())) == []
    assert list(rules.discrimination(question(**changes)))


def test_misconceptions_that_nothing_tells_apart_are_seen():
    twins = (Misconception("a", "", other), Misconception("b", "", other))
    chapter = Chapter("99_x", "", "", (), (), (question(misconceptions=twins),), ())
    assert list(rules.told_apart(chapter)) == ["99: no question tells ('a', 'b') apart"]


def test_misconceptions_that_no_question_catches_together_are_seen():
    a, b, c = (Misconception(name, "", lambda text, name=name: [name.encode()]) for name in "abc")
    questions = (question(misconceptions=(a, b)), question(misconceptions=(b, c)))
    assert any("all of" in line for line in rules.told_apart(Chapter("99_x", "", "", (), (), questions, ())))


@pytest.mark.parametrize(
    "text",
    [
        'of " а": 20 d0 | b0',
        '\' а\' gives ["20 d0", "b0"]',
        "20 d0 b0 become 258 (20 d0) and 178 (b0)",
        "(20, d0, b0) -> 20d0 b0",
        "0x20 0xd0 0xb0: 0x20 0xd0, 0xb0",
        "[32, 208, 176] → [[32, 208], [176]]",
        r"b'\x20\xd0\xb0' [b'\x20\xd0', b'\xb0']",
    ],
)
def test_a_spoiler_is_seen_in_any_spelling(text):
    assert rules.spoils(question(), text)


@pytest.mark.parametrize("text", ['" а" is 20 d0 b0', "20 d0 | b0", "[32, 208, 176]", '" а": 20 | d0 b0'])
def test_the_input_or_the_answer_alone_is_no_spoiler(text):
    assert not rules.spoils(question(), text)


@pytest.mark.parametrize(
    "text", ["' а' [258, 178]", "' а' 258 178", "' а' [256, 176]", "20 d0 b0: 258 (20 d0) and 178 (b0)"]
)
def test_an_id_list_is_seen_in_both_numberings(text):
    assert rules.spoils(question(kind="ids", right=lambda _: [258, 178]), text)


def test_a_hint_or_consequence_that_tells_is_seen():
    assert list(
        rules.leaks(
            question(
                hints=(
                    "",
                    "",
                    lambda text: f"it is {text.encode().hex(' ')[:5]} | {text.encode().hex(' ')[6:]}",
                )
            )
        )
    )
    assert list(
        rules.leaks(
            question(consequence=lambda text, _: f"not {text.encode()[:2].hex()} {text.encode()[2:].hex()}")
        )
    )


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ("There are 17 merges.", 1),
        ("There are 42 merges.", 0),
        ("`[17, 42]` is a list.", 1),
        ("In 2016, UTF-8 and GPT-2, chapter 12, rank 17, U+0430: 3 of them.", 0),
        ("A vocabulary of 1,042 pieces.", 0),
        ("About 4.2 bytes.", 1),
    ],
)
def test_numbers_that_no_cell_computes_are_seen(monkeypatch, source, faults):
    every = (rules.Cell("a", "markdown", source, ""), rules.Cell("b", "code", "6 * 7", "42 1042"))
    monkeypatch.setattr(rules, "cells", lambda path: every)
    assert len(list(rules.numbers_in_prose("99_x.ipynb"))) == faults


def book(*entries, **metadata):
    kernel = {"kernelspec": {"name": "python3"}, "language_info": {"name": "python"}}
    made = [{"metadata": {}, "outputs": [], "execution_count": None, **entry} for entry in entries]
    return {"metadata": {**kernel, **metadata}, "cells": made}


def code(source="1", count=1, id="one", outputs=()):
    return {
        "id": id,
        "cell_type": "code",
        "source": [source],
        "execution_count": count,
        "outputs": list(outputs),
    }


PICTURE = {
    "output_type": "display_data",
    "data": {"text/html": ["<img src='x'>"], "text/plain": ["a picture"]},
}
STDERR = {"output_type": "stream", "name": "stderr", "text": ["careful"]}


@pytest.mark.parametrize(
    "wrong",
    [
        book(code(), kernelspec={"name": "other"}),
        book(code(), language_info={"name": "python", "version": "3.12.1"}),
        book(code(count=2)),
        book(code(count=None)),
        book(code("x = 1\n" * 21)),
        book(code(id="0a1b2c3d")),
        book(code(id="Upper")),
        book(code("open('/home/me/x')")),
        book(code("%time 1")),
        book(code("1;")),
        book(code("import matplotlib.pyplot")),
        book(code(outputs=[PICTURE])),
        book(code(outputs=[STDERR])),
        book({"id": "prose", "cell_type": "markdown", "source": ["word " * 131]}, code()),
    ],
)
def test_house_rules_see(monkeypatch, wrong):
    monkeypatch.setattr(rules, "notebook", lambda path: wrong)
    rules.cells.cache_clear()
    try:
        assert list(rules.house("99_x.ipynb"))
    finally:
        rules.cells.cache_clear()


@pytest.mark.parametrize("source", ["## Two", "# One\n### Three", "# One\n# One again"])
def test_headings_out_of_order_are_seen(monkeypatch, source):
    monkeypatch.setattr(rules, "cells", lambda path: (rules.Cell("a", "markdown", source, ""),))
    assert list(rules.headings("99_x.ipynb"))
