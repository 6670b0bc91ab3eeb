"""Returned notebooks, read as data: which answers stand in them. Nothing in them is run or believed.

A prediction is read by literal parsing; one that was computed, from the answer that `check` left in the
output's metadata, and it is judged again. What is odd about a hand-in is said in a note.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mode
from typing import Any

from tokenlab.course.feedback import judge
from tokenlab.course.limits import limited
from tokenlab.course.model import Chapter, Exercise, Question, UnknownTask, chapter_of, chapters, find
from tokenlab.course.workbook import ASKS, JOURNAL, asking_cells, asking_sources, entries

LONGEST_CELL = 20_000  # bytes
LONGEST_FILE = 20_000_000
_PARSER_ERRORS = (SyntaxError, ValueError, TypeError, OverflowError, MemoryError, RecursionError)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to a task, in the order in which it was given."""

    task: str  # without its variant
    state: str  # right, wrong, unreadable, blank; "written" for an exercise that nobody has run
    reasons: tuple[str, ...] = ()
    computed: bool = False  # read from an output, not from the source
    program: str = ""  # an exercise: the source that defines the function
    function: str = ""

    def __str__(self) -> str:
        verdict = "not tried" if self.state == "blank" else "/".join(self.reasons) or self.state
        return f"{verdict} (computed)" if self.computed else verdict


@dataclass(slots=True)
class HandIn:
    """What one learner has returned."""

    learner: str
    answers: list[Answer] = field(default_factory=list)
    notebooks: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


class Damaged(ValueError):
    """The file is no notebook that could be read."""


def read_folder(folder: Path) -> list[HandIn]:
    """Read all notebooks below a folder, by learner: one folder each, or one file each, named after them.

    FileNotFoundError where there is no such folder, LookupError where there is no notebook in it.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder")
    paths = sorted(p for p in folder.rglob("*.ipynb") if not _hidden(p.relative_to(folder)))
    if not paths:
        raise LookupError(f"{folder.name}: there is no notebook in it")
    found: dict[str, HandIn] = {}
    for path in paths:
        learner = _learner(path.relative_to(folder))
        if learner not in found:
            found[learner] = HandIn(learner, _from_journal(path.parent) if path.parent != folder else [])
        read_notebook(path, found[learner])
    return list(found.values())


def _hidden(path: Path) -> bool:
    """Tell whether nobody wrote a file: JupyterLab's checkpoints, and what macOS adds to an archive."""
    return any(part.startswith(".") or part == "__MACOSX" for part in path.parts)


def _learner(path: Path) -> str:
    if len(path.parts) > 1:
        return path.parts[0]
    names = [path.stem.replace(chapter.notebook, "") for chapter in chapters()]
    return min(names, key=len).strip(" _-.") or path.stem


def _from_journal(folder: Path) -> list[Answer]:
    """Read the answers of a working copy's journal; they come before those in the notebooks."""
    path = folder / JOURNAL
    if not path.is_file() or path.stat().st_size > LONGEST_FILE:
        return []
    kept = entries(path.read_text("utf-8", errors="replace"))
    answers = (_recorded(entry) for entry in kept)
    return [replace(answer, computed=False) for answer in answers if answer is not None]


def _recorded(entry: Mapping[str, Any]) -> Answer | None:
    """Judge again an answer that `check` has recorded; of an exercise only its state is known."""
    try:
        task = find(entry.get("id"))
        if isinstance(task, Exercise):
            state = entry.get("state")
            return Answer(task.id, state, computed=True) if state in ("right", "wrong") else None
        return _judged(task, _literal(_parse(str(entry.get("answer"))).body[0].value), computed=True)  # type: ignore[attr-defined]
    except (UnknownTask, IndexError, AttributeError, *_PARSER_ERRORS):
        return None


def read_notebook(path: Path, hand_in: HandIn) -> None:
    """Add what stands in a notebook to a hand-in."""
    hand_in.notes += [f"{path.name}: {note}" for note in _add(path, hand_in)]


def _add(path: Path, hand_in: HandIn) -> Iterator[str]:
    """Add a notebook's answers to a hand-in, and yield what is odd about it."""
    try:
        cells = list(_code_cells(path))
    except Damaged as error:
        yield f"damaged: {error}"
        return
    chapter = _chapter(path, [source for _, source, _ in cells])
    if chapter is None:
        yield "asks no question of the course"
        return
    hand_in.notebooks.add(chapter.notebook)
    if chapter.notebook not in path.stem:
        yield f"renamed; it is {chapter.notebook}"
    by_cell = {cell: task for task, cell in asking_cells(chapter.notebook).items()}
    before: list[ast.stmt] = []
    seen: list[str] = []
    for cell_id, source, recorded in cells:
        answer, notes = _read_cell(source, by_cell.get(cell_id, ""), recorded, before)
        yield from notes
        if answer is not None:
            if answer.task in seen:
                yield f"{answer.task} is answered again in a copied cell"
            seen.append(answer.task)
            hand_in.answers.append(answer)
        elif not notes:
            before += _definitions(source)


def _code_cells(path: Path) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield (ID, source, what `check` has recorded) of each code cell."""
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise Damaged(f"larger than {LONGEST_FILE} bytes")
        book = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (RecursionError, MemoryError, OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Damaged(f"not JSON ({type(error).__name__})") from None
    if not isinstance(book, dict) or not isinstance(book.get("cells"), list):
        raise Damaged("JSON, but no notebook of format 4")
    for number, cell in enumerate(book["cells"]):
        source = cell.get("source") if isinstance(cell, dict) else None
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "".join(source)
        if not isinstance(source, str):
            raise Damaged(f"cell {number} has no source")
        if cell.get("cell_type") == "code":
            yield str(cell.get("id", "")), source, list(_records(cell))


def _records(cell: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        match output:
            case {"metadata": {"tokenlab": dict(record)}}:
                yield record


def _chapter(path: Path, sources: list[str]) -> Chapter | None:
    """Tell which chapter a notebook holds: by what it asks, else by its name."""
    asked = (a.partition("-")[0] for source in sources for a in ASKS.findall(source[:LONGEST_CELL]))
    known = {chapter.number: chapter for chapter in chapters()}
    if numbers := sorted(number for number in asked if number in known):
        return known[mode(numbers)]
    return next((chapter for chapter in known.values() if chapter.notebook in path.stem), None)


def _read_cell(
    source: str, own: str, recorded: list[dict[str, Any]], before: list[ast.stmt]
) -> tuple[Answer | None, list[str]]:
    """Read one cell; `own` is the task that the course asks in the cell of this ID, "" for none.

    `before` holds the definitions above it, which an exercise may need.
    """
    found = ASKS.search(source[:LONGEST_CELL])
    asked, notes = found[1] if found else own, list[str]()
    if not asked:
        return None, []
    try:
        task = find(asked)
    except UnknownTask:
        if not own:
            return None, [f"asks {asked[:40]!r}, which is no question"]
        notes.append(f"{own}: its ID was changed to {asked[:40]!r}")
        task = find(own)
    base = task.id.partition("@")[0]
    if len(source.encode("utf-8", "replace")) > LONGEST_CELL:
        return Answer(base, "unreadable"), [*notes, f"{base}: its cell is over 20 kB"]
    if not found:
        notes.append(f"{base}: the call of check is gone")
    try:
        tree = _parse(source)
        _, committed = asking_sources(chapter_of(task).notebook).get(base, ("", ""))
        comments = set(_comments(source)) - set(_comments(committed))
        notes += [f"{base}: with a comment: {comment[:80]}" for comment in sorted(comments)]
        records = [a for r in recorded if r.get("id") == asked and (a := _recorded(r)) is not None]
        if isinstance(task, Exercise):
            return _exercise(task, tree, records, before), notes
        return _prediction(task, tree, records), notes
    except _PARSER_ERRORS as error:
        return Answer(base, "unreadable"), [*notes, f"{base}: no Python ({type(error).__name__})"]


def _prediction(question: Question, tree: ast.Module, records: list[Answer]) -> Answer:
    try:
        return _judged(question, _literal(_answer_node(tree)))
    except _PARSER_ERRORS:
        return records[-1] if records else Answer(question.id.partition("@")[0], "unreadable", computed=True)


def _definitions(source: str) -> list[ast.stmt]:
    """Return the imports, functions, classes and constants of a cell."""
    wanted = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    try:
        body = _parse(source).body if len(source) <= LONGEST_CELL else []
    except _PARSER_ERRORS:
        return []
    return [s for s in body if isinstance(s, wanted)]


def _parse(source: str) -> ast.Module:
    """Parse a cell without its magics."""
    lines = ("" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse("\n".join(lines))


def _literal(node: ast.expr | None) -> Any:
    return ... if node is None else ast.literal_eval(node)


def _call(tree: ast.Module) -> ast.Call | None:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    asking = (c for c in calls if isinstance(c.func, ast.Name) and c.func.id in ("check", "check_function"))
    return next(asking, None)


def _given(tree: ast.Module) -> ast.expr | None:
    if (call := _call(tree)) is None:
        return None
    named = [word.value for word in call.keywords if word.arg in ("prediction", "function")]
    return next(iter(call.args[1:2] or named), None)


def _answer_node(tree: ast.Module) -> ast.expr | None:
    """Find the expression that is the answer: in the call, in what its name was given, or pasted bare."""
    named: dict[str, ast.expr] = {}
    pasted: ast.expr | None = None
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            named |= {t.id: statement.value for t in statement.targets if isinstance(t, ast.Name)}
        elif isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Call):
            pasted = statement.value
    given = _given(tree)
    if isinstance(given, ast.Name):
        given = named.get(given.id, given)
    elif given is None and named:
        given = list(named.values())[-1]
    blank = given is None or (isinstance(given, ast.Constant) and given.value in (..., "..."))
    return pasted if blank and pasted is not None else given


def _exercise(task: Exercise, tree: ast.Module, records: list[Answer], before: list[ast.stmt]) -> Answer:
    """Say whether a function was written, and keep the source that defines it."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not any(ast.unparse(f.body[-1]) != "return ..." or _lines(f) > 1 for f in functions):
        return Answer(task.id, "blank")
    given, call = _given(tree), _call(tree)
    name = given.id if isinstance(given, ast.Name) else functions[-1].name
    own = [s for s in tree.body if not (isinstance(s, ast.Expr) and s.value is call)]
    state = records[-1].state if records else "written"
    program = ast.unparse(ast.Module([*before, *own], []))
    return Answer(task.id, state, computed=bool(records), program=program, function=name)


def _lines(function: ast.FunctionDef) -> int:
    return len(function.body) - (ast.get_docstring(function) is not None)


def _comments(source: str) -> list[str]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, *_PARSER_ERRORS):
        return []
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


_verdicts: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {}


def _judged(question: Question, value: Any, *, computed: bool = False) -> Answer:
    """Judge an answer, once for all learners who give it."""
    key = question.id, repr(value)
    if key not in _verdicts:
        outcome, message = limited(judge, (question, value), 5.0)
        _verdicts[key] = (message.state, message.reasons) if outcome == "returned" else ("unreadable", ())
    return Answer(question.id.partition("@")[0], *_verdicts[key], computed=computed)
