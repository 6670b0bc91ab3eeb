"""What all notebooks and all tables of questions keep, as functions that return complaints."""

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, pairwise
from pathlib import Path

from tokenlab.course.feedback import text_of
from tokenlab.course.learner import recalled
from tokenlab.course.model import Exercise, Question, chapters
from tokenlab.course.reading import KINDS
from tokenlab.course.workbook import NOTEBOOKS

FREE_FORM = ("00_start_here", "00b_toolbox")  # neither a rhythm nor predictions are asked of these


@dataclass(frozen=True)
class Cell:
    id: str
    kind: str
    source: str
    outputs: str  # text, HTML without pictures, and messages
    count: object = None


@cache
def notebook(path):
    return json.loads(Path(path).read_text("utf-8"))


@cache
def cells(path):
    return tuple(
        Cell(c["id"], c["cell_type"], "".join(c["source"]), _outputs(c), c.get("execution_count"))
        for c in notebook(path)["cells"]
    )


def _outputs(cell):
    parts = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        parts.append("".join(output.get("text", ())))
        parts += ["".join(data.get(kind, ())) for kind in ("text/plain", "text/html")]
    return re.sub(r"data:image/[^\"']*", "", "\n".join(parts))


def paths():
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def course_chapters():
    """The chapters whose notebook is there."""
    return [chapter for chapter in chapters() if notebook_of(chapter).exists()]


def notebook_of(chapter):
    return NOTEBOOKS / f"{chapter.notebook}.ipynb"


def variants(task):
    return range(len(task.pool)) if isinstance(task, Question) else ()


# Tables.


def families(chapter):
    """Sets of misconceptions that meet on some question, directly or through others."""
    found = []
    for group in (
        frozenset(m.id for m in q.misconceptions) for q in chapter.tasks if isinstance(q, Question)
    ):
        touching = [family for family in found if family & group]
        found = [family for family in found if not family & group] + [group.union(*touching)]
    return [family for family in found if family]


def discrimination(question):
    """Complaints about right answer x misconceptions x inputs of the pool."""
    for variant in variants(question):
        where = f"{question.id}, input {question.show(question.pool[variant])}"
        answers = {m.id: question.answer_of(m.run, variant) for m in question.misconceptions}
        for name, answer in answers.items():
            if question.is_right(answer, variant):
                yield f"{where}: {name} gives a right answer"
        declared = {pair for group in question.collisions for pair in map(frozenset, combinations(group, 2))}
        met = {
            frozenset(p) for p in combinations(answers, 2) if question.agree(*(answers[name] for name in p))
        }
        yield from (f"{where}: undeclared collision {sorted(pair)}" for pair in met - declared)
        yield from (f"{where}: declared collision {sorted(pair)} is none" for pair in declared - met)
        if not question.is_right(question.answer(variant), variant):
            yield f"{where}: the right answer is not accepted"
        if question.best is not None:
            optima = {
                repr(question.read(question.form(answer), variant))
                for answer in question.best(question.pool[variant])
            }
            if len(optima) != 1:
                yield f"{where}: {len(optima)} optima"


def told_apart(chapter):
    """Complaints about misconceptions that no question of the chapter tells apart, or none catches
    together."""
    for family in families(chapter):
        asked = [
            q for q in chapter.tasks if isinstance(q, Question) and family & {m.id for m in q.misconceptions}
        ]
        if not any(family <= {m.id for m in q.misconceptions} for q in asked):
            yield f"{chapter.number}: no question on which all of {sorted(family)} go wrong"
        known = chapter.misconceptions
        for pair in combinations(sorted(family), 2):
            if not any(_differ(q, *(known[name] for name in pair)) for q in asked):
                yield f"{chapter.number}: no question tells {pair} apart"


def _differ(question, one, other):
    listed = {m.id for m in question.misconceptions}
    if not listed & {one.id, other.id}:
        return False
    return not question.agree(question.answer_of(one.run), question.answer_of(other.run))


# Spoilers.

_WORDS = r"\b(?:and|then|b(?=['\"])|\d{1,7}(?= ?\())"
_JOINT = rf"(?:\s*(?:[|,;·+\[\](){{}}<>/\"'→]|\\?x|0x|{_WORDS})\s*)+"  # between pieces written as "20 d0"
_WIDE = r"\s*(?:[|/→]|['\")\]}]+\s*[,;]?\s*[\[({'\"]+)\s*"  # between pieces written as "20, d0"


def _hex_pieces(pieces):
    """Patterns of pieces whose borders can be told from the borders between bytes."""
    if len(pieces) < 2:
        return [" ?".join(f"{byte:02x}" for byte in piece) for piece in pieces]
    spaced = _JOINT.join(r" ?(?:0x|\\x)?".join(f"{byte:02x}" for byte in piece) for piece in pieces)
    commas = _WIDE.join(", ?(?:0x)?".join(f"{byte:02x}" for byte in piece) for piece in pieces)
    numbers = _WIDE.join(", ?".join(map(str, piece)) for piece in pieces)
    tight = r"[\s|,;\[\](){}'\"]+".join(piece.hex() for piece in pieces)
    return [rf"(?<![0-9a-f]){pattern}(?![0-9a-f])" for pattern in (spaced, commas, numbers, tight)]


def _spelled_ids(ids):
    return r"(?:[\s|,;·\[\](){}'\"→]|\band\b|\((?:[0-9a-f]{2} ?)+\))+".join(map(str, ids))


def spellings(question, answer):
    """Patterns of the ways in which an answer can be written."""
    if question.kind in ("ids", "numbers"):
        found = [_spelled_ids(answer)] if answer else []
        if question.kind == "ids" and any(token_id > 255 for token_id in answer):
            found += [_spelled_ids([token_id - 2 for token_id in answer])]
        return [rf"(?<!\d){p}(?!\d)" for p in found]
    if question.kind == "hex pieces":
        return _hex_pieces(answer)
    if question.kind == "hex":
        return (
            [r"[ ,]*(?:0x|\\x)?".join(f"{b:02x}" for b in answer), r"[ ,]+".join(map(str, answer))]
            if answer
            else []
        )
    if question.kind == "text pieces":
        return (
            [r"(?:['\"]?\s*[|,+·]\s*['\"]?|\s+)".join(re.escape(piece) for piece in answer)] if answer else []
        )
    if question.kind == "text":
        return [rf"(?<!\w){re.escape(answer)}(?!\w)"] if answer.strip() else []
    return [rf"(?<![\w.]){re.escape(str(answer))}(?![\w.]*\d)"]


def input_spellings(question, value):
    if isinstance(value, bytes):
        return (
            [r"[ ,]*(?:0x|\\x)?".join(f"{b:02x}" for b in value), r"[ ,]+".join(map(str, value))]
            if value
            else []
        )
    if isinstance(value, str) and value:
        return [rf"(?<!\w){re.escape(value)}(?!\w)", *input_spellings(question, value.encode())]
    return [re.escape(question.show(value))]


_PATTERNS = {}  # by identity; the question is kept beside them, so that no other one can share it


def patterns(question):
    """The spellings of what a question asks, and of its answer, compiled once."""
    if id(question) not in _PATTERNS:
        asked = input_spellings(question, question.pool[0])
        answer = spellings(question, question.answer())
        found = [[re.compile(p.lower()) for p in each] for each in (asked, answer)]
        _PATTERNS[id(question)] = question, *found
    return _PATTERNS[id(question)][1:]


@cache
def plain(text):
    return unicodedata.normalize("NFC", text).lower()


def spoils(question, text):
    """Whether a text holds the asked input (in any spelling) together with the answer."""
    asked, answer = patterns(question)
    text = plain(text)
    return any(p.search(text) for p in asked) and any(p.search(text) for p in answer)


def cells_so_far(chapter):
    """(chapter, index, cell) of this and all earlier chapters."""
    for other in course_chapters():
        if other.notebook <= chapter.notebook:
            for index, cell in enumerate(cells(notebook_of(other))):
                yield other, index, cell


def own_cell(chapter, task):
    """Where a task is asked; None where no cell or several ask it."""
    mark = re.compile(rf"check(_function)?\(\s*[\"']{re.escape(task.id)}[\"']")
    found = [
        i
        for i, cell in enumerate(cells(notebook_of(chapter)))
        if cell.kind == "code" and mark.search(cell.source)
    ]
    return found[0] if len(found) == 1 else None


def spoilers(chapter, question):
    own = own_cell(chapter, question)
    for other, index, cell in cells_so_far(chapter):
        name = cell.id if other is chapter else f"{other.number}:{cell.id}"
        if (other is chapter and index == own) or name in question.shown_in:
            continue
        if spoils(question, f"{cell.source}\n{cell.outputs}"):
            yield f"{question.id}: cell {name} shows its input with its answer"


def leaks(question):
    """Hints and consequences that hold the answer."""
    if question.accepts is not None:
        return
    for variant in variants(question):
        patterns = [p.lower() for p in spellings(question, question.answer(variant))]
        texts = {f"hint {n}": text_of(hint, question, variant) for n, hint in enumerate(question.hints, 1)}
        for wrong in question.misconceptions:
            answer = question.answer_of(wrong.run, variant)
            texts[f"consequence of {wrong.id}"] = question.consequence(question.pool[variant], answer)
        for name, text in texts.items():
            if any(re.search(pattern, text.lower()) for pattern in patterns):
                asked = question.show(question.pool[variant])
                yield f"{question.id}, input {asked}: the {name} holds the answer"


# Concepts, questions, teaching cells.


def _position(chapter, name):
    """(notebook, index) of a cell named "id" or "02:id"; None where there is none."""
    number, _, cell_id = name.rpartition(":")
    for other in course_chapters():
        if other.number == (number or chapter.number):
            for index, cell in enumerate(cells(notebook_of(other))):
                if cell.id == cell_id:
                    return other.notebook, index
    return None


def teaching(chapter):
    """Complaints about concepts, questions and the cells that teach them."""
    earlier = [c for c in chapters() if c.notebook <= chapter.notebook]
    concepts = {concept.term: (c, concept) for c in earlier for concept in c.concepts}
    used = set(chain.from_iterable(task.concepts for task in chapter.tasks))
    yield from (
        f"{chapter.number}: no question on {c.term!r}" for c in chapter.concepts if c.term not in used
    )
    for concept in chapter.concepts:
        if _position(chapter, concept.cell) is None:
            yield f"{chapter.number}: no cell {concept.cell!r}, which introduces {concept.term!r}"
    for task in chapter.tasks:
        own = own_cell(chapter, task)
        if own is None:
            yield f"{task.id}: exactly one cell has to ask it"
            continue
        if not task.cells or not task.concepts:
            yield f"{task.id}: names no concept or no teaching cell"
        taught = [(name, _position(chapter, name)) for name in task.cells]
        for term in task.concepts:
            if term not in concepts:
                yield f"{task.id}: unknown concept {term!r}"
            else:
                taught.append(
                    (concepts[term][1].cell, _position(*(concepts[term][0], concepts[term][1].cell)))
                )
        for name, position in taught:
            if position is None:
                yield f"{task.id}: no cell {name!r}"
            elif position >= (chapter.notebook, own):
                yield f"{task.id}: is asked before its teaching cell {name!r}"
        if isinstance(task, Question):
            prompt = " ".join(task.ask().split())
            above = cells(notebook_of(chapter))[max(0, own - 2) : own]
            if not any(prompt in " ".join(cell.source.split()) for cell in above if cell.kind == "markdown"):
                yield f"{task.id}: its prompt does not stand above its cell: {prompt}"


# House rules.

_NUMBER = re.compile(r"(?<![\w.#-])\d[\d\u202f,]*(?:\.\d+)?(?![\w%]*\w)")
_EXCEPT = re.compile(
    r"`[^`]*`|UTF-(?:8|16|32)|ISO[- ]\d+(?:-\d+)?|GPT-\d|U\+[0-9A-Fa-f]{4,6}|\b(?:19|20)\d\d\b"
    r"|Python \d[.\d]*|chapters?\s+\d+b?(?:(?:, | and | to )\d+b?)*"
    r"|(?:version|rank|ranks|Figure|hint|step)\s+\d+|\d+[- ]minutes?|^\s*\d+\.\s"
    r"|\]\([^)]*\)|<[^>]+>|\b\d+b?_\w+|\$[^$]*\$",
    re.IGNORECASE | re.MULTILINE,
)


def numbers_in_prose(path):
    """Numbers of two digits and more in prose, and every number in backticks, that no cell nearby
    computes."""
    every = cells(path)
    for index, cell in enumerate(every):
        if cell.kind != "markdown":
            continue
        near = every[max(0, index - 3) : index + 4]
        known = "\n".join(f"{c.source}\n{c.outputs}" for c in near if c.kind == "code")
        asked = "\n".join(_forms(q, q.pool[0]) for q in _questions(path))
        quoted = [
            n
            for code in re.findall(r"`([^`]*)`", cell.source)
            for n in re.findall(r"(?<![\w.-])\d{2,}(?![\w.-])", code)
        ]
        plain = [n for n in _NUMBER.findall(_EXCEPT.sub(" ", cell.source)) if len(re.sub(r"\D", "", n)) > 1]
        for number in dict.fromkeys([*plain, *quoted]):
            digits = number.replace("\u202f", "").rstrip(",")
            ways = {digits, digits.replace(",", "")}
            if not any(
                re.search(rf"(?<![\d.]){re.escape(way)}(?!\d|\.\d)", text)
                for way in ways
                for text in (known, asked)
            ):
                yield f"{cell.id}: {number} is computed in no cell nearby"


def _forms(question, value):
    data = value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else b""
    return f"{question.show(value)} {data.hex(' ')}"


def _questions(path):
    return [
        t for c in chapters() if c.notebook == Path(path).stem for t in c.tasks if isinstance(t, Question)
    ]


def headings(path):
    """Complaints about headings that jump, and about a chapter without exactly one title."""
    levels = []
    for cell in cells(path):
        if cell.kind == "markdown":
            text = re.sub(r"(?s)```.*?```", "", cell.source)
            levels += [(len(marks), cell.id) for marks in re.findall(r"(?m)^(#{1,6}) ", text)]
    if [level for level, _ in levels].count(1) != 1 or levels[0][0] != 1:
        yield "exactly one first-level heading, at the top"
    for (above, _), (below, where) in pairwise(levels):
        if below > above + 1:
            yield f"{where}: heading of level {below} under one of level {above}"


def house(path):
    """Complaints about the form of a notebook."""
    raw, every = notebook(path), cells(path)
    if raw["metadata"].get("kernelspec", {}).get("name") != "python3":
        yield "the kernel is python3"
    if set(raw["metadata"]) - {"kernelspec", "language_info"} or set(
        raw["metadata"].get("language_info", {})
    ) != {"name"}:
        yield "metadata holds more than the kernel: run `python -m tokenlab course run`"
    counts = [cell.count for cell in every if cell.kind == "code"]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts run from 1 to {len(counts)}; found {counts}"
    for cell in every:
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", cell.id) or re.fullmatch(r"[0-9a-f]{8}", cell.id):
            yield f"{cell.id}: a cell's ID is a readable slug"
        if not lines:
            yield f"{cell.id}: an empty cell"
        if cell.kind == "code" and len(lines) > 20:
            yield f"{cell.id}: {len(lines)} lines of code; 20 is the most"
        if cell.kind == "markdown" and len(cell.source.split()) > 130:
            yield f"{cell.id}: {len(cell.source.split())} words; 130 is the most"
        if re.search(
            r"(?<![\w.:/])/(?:home|root|work|tmp|usr|Users|opt|mnt)/|[A-Z]:\\\\", cell.source + cell.outputs
        ):
            yield f"{cell.id}: an absolute path"
        if cell.kind == "code":
            yield from (f"{cell.id}: {what}" for what in _habits(cell))
    for cell, entry in zip(every, raw["cells"], strict=True):
        for output in entry.get("outputs", ()):
            yield from (f"{cell.id}: {what}" for what in _output_faults(output))


def _habits(cell):
    last = cell.source.rstrip().splitlines()[-1:] or [""]
    if last[0].endswith(";"):
        yield "a trailing semicolon"
    for pattern, what in (
        (r"^\s*(?:import|from) matplotlib", "draws by itself; figures come from tokenlab.figures"),
        (r"^\s*[%!]", "a magic or a shell command"),
        (r"\binput\(", "input() raises under validation"),
        (
            r"\b(?:urlopen|requests|time\.time|perf_counter|monotonic|datetime\.now)\b",
            "a download or a clock",
        ),
        (r"\bclear_output\b", "clear_output"),
    ):
        if re.search(pattern, cell.source, re.MULTILINE):
            yield what


def _output_faults(output):
    data = output.get("data", {})
    html = "".join(data.get("text/html", ()))
    if output["output_type"] == "error" or output.get("name") == "stderr":
        yield "an error or a warning in an output"
    if "image/png" in data or "image/svg+xml" in data:
        yield "a bare picture: it has no text alternative"
    for image in re.findall(r"<img\b[^>]*>", html):
        alt = re.search(r'alt="([^"]*)"', image)
        if not alt or len(alt[1]) < 15:
            yield "a picture without a text alternative"
    if "<table" in html and ("<caption" not in html or "<th" not in html):
        yield "a table without a caption or header cells"
    if html and not "".join(data.get("text/plain", ())).strip(" <>"):
        yield "HTML without plain text"
    if re.search(
        r" at 0x[0-9a-f]{6,}", html + "".join(data.get("text/plain", ())) + "".join(output.get("text", ()))
    ):
        yield "an object's address"


def rhythm(chapter):
    """Complaints about a chapter's size and shape."""
    every = cells(notebook_of(chapter))
    code = [cell for cell in every if cell.kind == "code"]
    prose = [cell for cell in every if cell.kind == "markdown"]
    asked_again = [cell.id for cell in every[:5] if f'recall("{chapter.number}", ' in cell.source]
    if recalled(chapter.number) and asked_again != ["recall"]:
        yield "no cell `recall` at its head, which asks earlier chapters' questions again"
    if not 40 <= len(every) - len(asked_again) <= 70:
        yield f"{len(every)} cells; 40 to 70 are the measure"
    if not 0.35 <= len(code) / len(every) <= 0.65:
        yield f"{len(code)} of {len(every)} cells are code; about half should be"
    lines = sorted(len([line for line in cell.source.splitlines() if line.strip()]) for cell in code)
    words = sorted(len(cell.source.split()) for cell in prose)
    if not 1 <= lines[len(lines) // 2] <= 5:
        yield f"code cells have a median of {lines[len(lines) // 2]} lines; 2 to 4 are the measure"
    if not 15 <= words[len(words) // 2] <= 45:
        yield f"prose cells have a median of {words[len(words) // 2]} words; 20 to 35 are the measure"
    if not 5 <= len(chapter.questions) <= 7:
        yield f"{len(chapter.questions)} predictions; 5 to 7 are the measure"
    if len(chapter.exercises) != 2:
        yield f"{len(chapter.exercises)} exercises; two are the measure"
    if chapter.question not in "\n".join(cell.source for cell in every[:3]):
        yield f"its question does not stand at its head: {chapter.question}"
    if not any("<img" in cell.outputs for cell in code):
        yield "no figure"
    for task in chapter.tasks:
        if not task.id.startswith(f"{chapter.number}-"):
            yield f"{task.id}: an ID begins with the chapter's number"
        if isinstance(task, Question) and len(task.pool) < 3 and task.accepts is None:
            yield f"{task.id}: {len(task.pool)} inputs in the pool; three are the least"
        if isinstance(task, Question) and task.kind not in KINDS:
            yield f"{task.id}: unknown kind {task.kind!r}"
        if isinstance(task, Exercise) and len(task.wrong) < 3:
            yield f"{task.id}: {len(task.wrong)} wrong functions; three are the least"
    for name, what in (("objectives", 3), ("discussion", 3), ("minutes", 1), ("paper", 1)):
        if len(getattr(chapter, name)) < what:
            yield f"{name}: at least {what}"
    if chapter.likeliest not in chapter.misconceptions:
        yield f"likeliest: {chapter.likeliest!r} is no misconception of the chapter"
