"""The learner's side: progress, where to go back, the glossary, recall, being sure, mystery boxes."""

import html
import itertools
import json
import re

import pytest
import rules

from tokenlab.course import check, glossary, lost, mystery, progress, recall, workbook
from tokenlab.course.feedback import Message
from tokenlab.course.learner import recalled
from tokenlab.course.model import chapters, draw, find
from tokenlab.course.mystery import CANDIDATES, Mystery, fewest_probes
from tokenlab.course.reading import KINDS

LINK = re.compile(r"\((\w+)\.ipynb#cell-id=([\w-]+)\)")


@pytest.fixture
def copy(monkeypatch, tmp_path):
    monkeypatch.setenv(workbook.VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def no_copy(monkeypatch):
    monkeypatch.delenv(workbook.VARIABLE, raising=False)


def answer_rightly(task_id):
    question = find(task_id)
    check(task_id, KINDS[question.kind].spell(question.answer()))


def cells_of(text):
    """The cells that a text links to, each of which has to be there."""
    found = LINK.findall(text)
    for name, cell_id in found:
        assert cell_id in {cell.id for cell in rules.cells(workbook.NOTEBOOKS / f"{name}.ipynb")}
    return found


def test_without_a_working_copy_progress_says_so(no_copy):
    assert progress().text.startswith("There is no journal here")


def test_progress_counts_what_is_right_and_leads_to_the_next_open_cell(copy, capsys):
    assert "not answered anything" in progress().text
    answer_rightly("03-space-a")
    answer_rightly("03-e-a@1")
    check("03-te", [258])
    text = progress().text
    tasks = [task.id for task in chapters("03")[0].tasks]
    still = [task for task in tasks if task not in ("03-space-a", "03-e-a")]
    assert f"03   2 of {len(tasks)}  open: {', '.join(still)}" in text
    assert "of" not in text.replace(f"2 of {len(tasks)}", "").split("Next:")[0].replace("so far", "")
    assert cells_of(text.split("Next:")[1]) == [("03_rank_ordered_encoding", "predict-a-a")]


def test_a_right_answer_stays_done_and_a_broken_journal_disturbs_nothing(copy, capsys):
    answer_rightly("03-te")
    check("03-te", [258])
    with (copy / "journal.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": 7}\nnull\n{"id"\n' + json.dumps({"id": "gone-question", "state": "right"}) + "\n")
    assert "03-te" not in progress().text.split("Next:")[0]


def test_lost_goes_back_to_the_teaching_cells_of_what_was_tried_in_vain(copy, capsys):
    assert "Which question is it?" in lost().text
    check("03-te", [258])
    check("03-e-a", "65 20 | d0 b0")
    answer_rightly("03-e-a")
    message = lost()
    assert message.text.startswith("`03-te`: go back to")
    chapter = "03_rank_ordered_encoding"
    assert cells_of(message.text) == [
        (chapter, "plus-two"),
        (chapter, "rules-table"),
        (chapter, "predict-te"),
    ]
    assert find("03-te").hints[1] in message.text
    other = find(f"03-te@{draw(find('03-te'), 1)}")
    assert f'`check("{other.id}", ...)`. {other.ask()}' in message.text
    assert cells_of(lost("03-te@2").text)[-1] == (chapter, "predict-te")
    assert lost("03-encode").text.startswith("`03-encode`: go back to")
    assert "There is no question" in lost("03-nothing").text


def test_the_glossary_links_every_concept_to_the_cell_that_introduces_it():
    text = glossary().text
    concepts = [(chapter, concept) for chapter in chapters() for concept in chapter.concepts]
    assert len(cells_of(text)) == len(concepts)
    for chapter, concept in concepts:
        assert f"`{concept.term}`: {concept.definition}" in text
        assert f"{chapter.notebook}.ipynb#cell-id={concept.cell})" in text
    assert glossary("FROZEN").text.count("ipynb") == 1
    assert "No term" in glossary("no such word").text
    assert glossary(5).text == 'Put the word in quotes: `glossary("frozen")`.'


def test_links_are_links_on_the_page_and_nothing_else_becomes_one():
    page = Message(
        "See [chapter 03, a-b](03_x.ipynb#cell-id=a-b). Not [x](javascript:alert(1)) <b>"
    ).to_html()
    assert '<a href="03_x.ipynb#cell-id=a-b">chapter 03, a-b</a>' in page
    assert page.count("<a ") == 1
    assert html.escape("<b>") in page


def test_each_chapter_recalls_two_earlier_questions_on_other_inputs():
    numbers = [c.number for c in chapters() if any(q.recall and not q.accepts for q in c.questions)]
    for at, number in enumerate(numbers):
        questions = recalled(number)
        assert len(questions) == min(at, 2)
        for question, earliest in zip(questions, (at - 1, 0), strict=False):
            source, _, variant = question.id.partition("@")
            assert earliest <= numbers.index(source.partition("-")[0]) < at
            assert question.pool[0] == find(source).pool[int(variant)] != find(source).pool[0]
            assert find(source).recall
        assert [q.id for q in recalled(number)] == [q.id for q in questions]
    assert len({recalled(number)[0].id for number in numbers[1:]}) == len(numbers) - 1


def test_recall_asks_then_judges_each_prediction(no_copy, capsys):
    first, second = recalled("05")
    recall("05")
    asked = capsys.readouterr().out
    assert first.ask() in asked
    assert second.ask() in asked
    assert "Right." not in asked
    recall("05", ..., KINDS[second.kind].spell(second.answer()))
    told = capsys.readouterr().out
    assert told.count("Right.") == 1
    assert first.ask() in told.split("Right.")[0]
    assert "nothing to recall" in recall("00").text


@pytest.mark.parametrize("number", ["5", "99", 5, "", None, []])
def test_recall_of_no_chapter_says_what_to_write(capsys, number):
    assert recall(number, ...).text.startswith('Put a chapter\'s number in quotes, as in `recall("05")`')
    assert capsys.readouterr().out == ""


def test_recall_does_not_give_its_answers_away(no_copy, capsys):
    for chapter in chapters()[1:]:
        recall(chapter.number)
        for question in recalled(chapter.number):
            asked = capsys.readouterr().out.replace(question.ask(), "")
            for pattern in rules.spellings(question, question.answer()):
                if question.kind not in ("number", "position"):  # a digit stands in every link
                    assert not re.search(pattern, asked), question.id


def test_neighbouring_draws_differ_and_zero_is_the_course():
    for chapter in chapters():
        for question in (t for t in chapter.questions if len(t.pool) > 1):
            drawn = [draw(question, seed) for seed in range(20)]
            assert drawn[0] == 0
            assert all(a != b for a, b in itertools.pairwise(drawn))
            assert set(drawn) <= set(range(len(question.pool)))


def told(capsys, *arguments, **options):
    check(*arguments, **options)
    return capsys.readouterr().out


def test_sure_and_wrong_gets_the_longest_explanation_and_never_the_answer(no_copy, capsys):
    for question in chapters("03")[0].questions:
        right = KINDS[question.kind].spell(question.answer())
        for wrong in question.misconceptions:
            answer = KINDS[question.kind].spell(question.answer_of(wrong.run))
            plain = told(capsys, question.id, answer)
            sure = told(capsys, question.id, answer, sure=True)
            assert sure.startswith(plain.rstrip("\n"))
            assert "You were sure." in sure
            assert cells_of(sure)
            assert len(sure) > len(told(capsys, question.id, answer, sure=False)) == len(plain)
            assert right not in sure
        assert told(capsys, question.id, right, sure=True) == told(capsys, question.id, right)


def test_every_two_boxes_can_be_told_apart():
    texts = ["".join(t) for n in range(1, 5) for t in itertools.product("abcd", repeat=n)]
    for one, other in itertools.combinations(CANDIDATES.values(), 2):
        assert any(one(text) != other(text) for text in texts)
    for algorithm in CANDIDATES.values():
        assert all("".join(algorithm(text)) == text for text in ["", *texts])
    assert {mystery(n)._name for n in range(6)} == set(CANDIDATES)


def test_published_cuts_of_the_boxes():
    # By hand: rank 0 merges b c, rank 1 a b, rank 2 c d, rank 3 bc a.
    assert CANDIDATES["by rank"]("abcd") == ["a", "bc", "d"]
    assert CANDIDATES["highest rank"]("abcd") == ["ab", "cd"]
    assert CANDIDATES["longest first"]("abca") == ["ab", "c", "a"]
    assert CANDIDATES["longest last"]("abca") == ["a", "bca"]
    assert CANDIDATES["cheapest"]("bca") == ["bc", "a"]  # 4 + 3 against 8


def test_a_guess_is_right_only_when_the_probes_have_shown_it():
    box = Mystery(1, "by rank")
    assert "Find a text on which they differ" in box.guess("by rank").text
    assert box("ab") == ["ab"]
    assert box.guess("letters").state == "wrong"
    assert box.guess("nonsense").state == "unreadable"
    assert "by rank" in repr(box)
    box("abcd")
    message = box.guess("by rank")
    assert message.state == "right"
    assert "Probes used: 2; enough: 1." in message.text
    assert {box.guess(name).state for name in set(CANDIDATES) - {"by rank"}} == {"wrong"}


def test_one_probe_can_be_enough_or_two_as_the_box_says():
    texts = ["".join(t) for n in range(1, 6) for t in itertools.product("abcd", repeat=n)]
    for name, algorithm in CANDIDATES.items():
        fits = {frozenset(n for n, f in CANDIDATES.items() if f(text) == algorithm(text)) for text in texts}
        assert fewest_probes(name) == (1 if {name} in fits else 2)
        assert any(one & other == {name} for one in fits for other in fits)
    assert {fewest_probes(name) for name in CANDIDATES} == {1, 2}


@pytest.mark.parametrize("number", ["3", 2.5, None])
def test_a_box_without_a_whole_number_is_refused(number):
    with pytest.raises(ValueError, match=r"whole number: mystery\(3\)"):
        mystery(number)


@pytest.mark.parametrize("probe", ["xyz", 7, "a" * 201, None])
def test_a_probe_that_is_none_is_refused_and_not_counted(probe):
    box = mystery(2)
    with pytest.raises(ValueError, match="letters a, b, c and d"):
        box(probe)
    assert "so far: 0" in repr(box)
