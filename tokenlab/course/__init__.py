"""Predict, then check: the machinery of the course, and how to write a chapter for it (every chapter).

In a notebook: `from tokenlab.course import check, check_function, hint, reveal`. Each displays its feedback
and returns None; none of them raises. For the learner there are `progress()`, `lost()`, `glossary()`,
`recall("05")` and `mystery(3)` besides; for the teacher, the words of `python -m tokenlab course`. Wherever
an ID is asked for, "03-te@2" is the question "03-te", asked of the input 2 of its pool.

**A chapter is two files**: `notebooks/<number>_<name>.ipynb` and its table
`tokenlab/course/chapters/ch<number>_<name>.py`, which defines `CHAPTER` (`tokenlab.course.model.Chapter`).
The model to follow is chapter 03. Tables are data; what they need to compute stands beside them as small
functions.

**A question** (`Question`) has an ID that begins with the chapter's number ("03-e-e-a"), a kind (a key of
`tokenlab.course.reading.KINDS`: "ids", "numbers", "hex", "text", "number", "position", "hex pieces", "text
pieces"), and a prompt that may hold `{input}` and stands word for word in a text cell of the notebook, at
most two cells above the question's own cell. Its `pool` holds at least three inputs; the first is asked.
Answers are never typed in: the right one is `form(right(input))`, and that of each `Misconception(id,
belief, run)` is `form(run(input))`. Share Misconception objects between questions. List on a question those
that go wrong on it, for every input of the pool; where two of them give the same answer, declare that in
`collisions=(frozenset({"left", "reversed"}),)`. `belief` completes the sentence "One way to arrive here:
…". With `accepts(input, answer)` many answers may be right (`right` then gives one of them). Where the
answer is an optimum, `best(input)` lists every optimum, so that a tie is found.

`why(input)` derives the answer from a trace made at that moment; it is shown with a right answer and by
`reveal`. `consequence(input, answer)` says what the learner's answer would mean (what it decodes to, what
it costs), and never holds the right answer; `tokenlab.course.feedback.compare_bytes(data, got)` helps.
`hints` are three: a question back, a smaller case, the decisive step; each is text, or a function of the
input. In these texts, blank lines separate paragraphs, `backticks` mark code, and lines that begin with
four spaces stand as they are.

`concepts` names terms that a `Concept(term, cell, definition)` of this or an earlier chapter introduces;
`cells` names the cells that teach what is asked ("02:cell-id" for a cell of chapter 02). They must come
earlier than the question. `shown_in` names the cells that hold a question's input and answer on purpose.

**An exercise** is an `Exercise`, or a `Question` with `accepts` ("find an input on which …"). An Exercise
lists its `reference` function, an `alphabet` of a few symbols, `arguments(symbols) -> (arguments of one
call)` (tuples or bytes, so that nothing can be changed in place; `(symbols,)` by default) and `wrong`
functions, each with a one-line docstring, that the check has to refute.

**A notebook's cells** have IDs that are short slugs, given by the author. A prediction is one code cell (it
starts as `"..."` where hex is asked):

    prediction = ...
    check("03-te", prediction)

A function to write ends in `return ...`, and `check_function("03-encode", encode_pieces)` closes the same
cell. Numbers of two digits and more in prose must stand in the source or output of a code cell at most
three cells away. Write the notebook without outputs, then run `python -m tokenlab course run 03` and commit
what it wrote. The rules that all notebooks and tables keep are in `tests/course/rules.py`; `python -m
pytest tests/course -k 03` tries those of one chapter.
"""

from tokenlab.course.exercises import check_function
from tokenlab.course.feedback import check, hint, reveal
from tokenlab.course.learner import glossary, lost, progress, recall
from tokenlab.course.mystery import mystery

__all__ = ["check", "check_function", "glossary", "hint", "lost", "mystery", "progress", "recall", "reveal"]
