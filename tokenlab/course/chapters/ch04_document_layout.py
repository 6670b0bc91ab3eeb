"""Chapter 04, document layout: its questions, and the wrong layouts and readers behind the common wrong answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from tokenlab.bpe.tokenizer import trace_report
from tokenlab.course.chapters.ch03_rank_ordered_encoding import course_tokenizer
from tokenlab.course.chapters.ch03b_canonical_or_not import Ids, as_list, compare_ids, encode, known_bytes
from tokenlab.course.feedback import compare_bytes
from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question, quoted
from tokenlab.errors import TokenLabError


@cache
def standard_trace(kind: str) -> str:
    """Return lines of the standard text block: those of its rules, or those of its cases."""
    report = trace_report(course_tokenizer(), {"ascii-bee": b"bee ", "cyrillic-a": " а".encode()})
    lines = report.splitlines()
    first_case = next(at for at, line in enumerate(lines) if line.startswith("CASE"))
    return "\n".join(
        f"    {line}" for line in (lines[:first_case] if kind == "rules" else lines[first_case:])
    )


def document(text: str) -> Ids:
    return tuple(course_tokenizer().encode_utf8_document(text))


# The layout.

Places = tuple[str, int, int]  # a letter, a training ID, a rank


def _places(value: Places) -> str:
    letter, training_id, rank = value
    return f'the byte of "{letter}", the training ID {training_id}, the merge of rank {rank}'


def _layout_ids(value: Places) -> Ids:
    letter, training_id, rank = value
    layout = course_tokenizer().layout
    return layout.byte_token_id(ord(letter)), training_id + 2, layout.merge_token_id(rank)


def _shift_consequence(_: Places, ids: Ids) -> str:
    if len(ids) != 3:
        return "Three numbers are asked for, in one list."
    found = []
    for token_id in ids:
        piece = known_bytes(token_id)
        here = "is a control" if token_id in (0, 1) else "is not in the table of the eight rules"
        found.append(f"ID {token_id} " + (here if piece is None else f"is the piece `{piece.hex(' ')}`"))
    return "In layout version 1, " + "; ".join(found) + "."


SHIFT = Question(
    id="04-shift",
    kind="ids",
    prompt="Write as IDs of layout version 1, in this order: {input}.",
    pool=(("?", 257, 7), ("!", 260, 5), ("A", 259, 6)),
    show=_places,
    right=_layout_ids,
    misconceptions=(
        Misconception(
            "not-shifted",
            "keep the numbers of the training: no room for the controls",
            lambda v: (ord(v[0]), v[1], 256 + v[2]),
        ),
        Misconception(
            "ranks-from-one",
            "count the ranks from one, although they begin at 0",
            lambda v: (ord(v[0]) + 2, v[1] + 2, 259 + v[2]),
        ),
        Misconception(
            "two-on-a-rank",
            "add 2 to the rank too, as if it were a training ID",
            lambda v: (ord(v[0]) + 2, v[1] + 2, v[2] + 2),
        ),
        Misconception(
            "training-id-as-rank",
            "add 258 to the training ID, as if it were a rank",
            lambda v: (ord(v[0]) + 2, 258 + v[1], 258 + v[2]),
        ),
        Misconception(
            "training-id-kept",
            "take the training ID for an ID as it stands",
            lambda v: (ord(v[0]) + 2, v[1], 258 + v[2]),
        ),
        Misconception(
            "bytes-not-shifted",
            "move the merged pieces up, and let the bytes keep their own values",
            lambda v: (ord(v[0]), v[1] + 2, 258 + v[2]),
        ),
    ),
    why=lambda v: (
        f"The byte of `{v[0]}` is `{ord(v[0]):02x}`, in decimal {ord(v[0])}, and gets 2 more. A training ID gets 2 more as well. Rank r is 258 + r: "
        f"{as_list(_layout_ids(v))}. The standard text block of this tokenizer says the same of each rule:\n\n{standard_trace('rules')}"
    ),
    consequence=_shift_consequence,
    hints=(
        "Which IDs are taken already before the first byte comes?",
        "A smaller case: the byte of `b` is 98 in decimal, and its ID is 100. The merge of rank 0 has the training ID 256, and its ID is 258.",
        "Add 2 to a byte and to a training ID. For a rank, add it to the first merged ID, 258.",
    ),
    concepts=("layout",),
    cells=("layout-by-hand", "layout-table"),
    recall="The byte of `!` is 33, that of `A` is 65.",
)


# Content and documents.

EMPTY_CONTENT = Question(
    id="04-empty-content",
    kind="ids",
    prompt="Which IDs does `encode_utf8` give for {input}, as content? Type a list.",
    pool=("", "b", "o"),
    right=encode,
    misconceptions=(
        Misconception(
            "adds-controls", "put BOS and EOS around it, which is done to documents only", document
        ),
        Misconception(
            "something-for-nothing",
            "expect at least one ID, such as 0, because a list has to hold something",
            lambda _: (0,),
        ),
    ),
    why=lambda text: (
        f"Content is one ID for each byte, then the merges. {quoted(text)} has {len(text.encode()) or 'no'} byte{'s' * (len(text) != 1)}: {as_list(encode(text))}. "
        "The controls are put around a document later."
    ),
    consequence=lambda text, ids: compare_ids(text.encode(), ids),
    hints=(
        "How many bytes does the text have?",
        "There is no smaller case. A larger one is `x`, a single byte of value 120, whose content is `[122]`.",
        "Content holds an ID for each byte, fewer after merging, and nothing else.",
    ),
    concepts=("content",),
    cells=("content-and-document", "wrap-by-hand"),
    recall="An ID of a byte is its value plus 2. The letter b is the byte 98, o is the byte 111.",
)


def _read_document(text: str, ids: Ids) -> str:
    try:
        data = course_tokenizer().decode_document(ids)
    except TokenLabError as error:
        return f"`decode_document` refuses this list: {error}."
    return compare_bytes(text.encode(), data)


EMPTY_DOCUMENT = Question(
    id="04-empty-document",
    kind="ids",
    prompt="Which IDs does `encode_utf8_document` give for {input}?",
    pool=("", "b", "o"),
    right=document,
    misconceptions=(
        Misconception("no-controls", "leave the controls out, as in content", encode),
        Misconception(
            "end-only", "mark the end only, as if a document began by itself", lambda text: document(text)[1:]
        ),
        Misconception(
            "swapped", "take 1 for the beginning and 0 for the end", lambda text: (1, *encode(text), 0)
        ),
    ),
    why=lambda text: (
        f"BOS, the content, EOS: {as_list(document(text))}. So even a document without text is seen as one document. In the standard text block, "
        f"the two ends stand in the lines DOCUMENT, and in no other:\n\n{standard_trace('cases')}"
    ),
    consequence=_read_document,
    hints=(
        "What does a document have that content does not?",
        "There is no smaller case. A larger one is `x`, whose document is `[0, 122, 1]`.",
        "Write BOS, then the content that you have just predicted, then EOS.",
    ),
    concepts=("document", "control token"),
    cells=("wrap-by-hand", "content-and-document"),
    recall="An ID of a byte is its value plus 2. The letter b is the byte 98, o is the byte 111.",
    shown_in=("demonstration-content",),
)

TYPED_CONTROL = Question(
    id="04-typed-control",
    kind="number",
    prompt="A user types {input}. How many IDs does it have as content?",
    show=lambda text: f"`{text}`",  # in quotes alone, a browser takes it for a tag
    pool=("<BOS>", "<EOS>", "</s>"),
    right=lambda text: len(encode(text)),
    misconceptions=(
        Misconception("parsed-as-control", "take the characters for the control that they name", lambda _: 1),
        Misconception(
            "with-the-ends", "count the two controls of a document too", lambda text: len(document(text))
        ),
    ),
    why=lambda text: (
        f"They are characters like any others, and no rule fits them: {as_list(encode(text))}. None of these is 0 or 1."
    ),
    consequence=lambda text, number: (
        "If that were so, anybody could begin or end your documents by typing a few characters."
        if number == 1
        else "Try to name the byte that each of your IDs stands for."
    ),
    hints=(
        "Can the encoder tell a name from other characters?",
        "A smaller case: `<b` has the bytes `3c 62`, and the content `[62, 100]`.",
        "Each byte gets an ID, and then the rules are tried. Does any rule fit here?",
    ),
    concepts=("control token", "content"),
    cells=("no-text-is-a-control", "never-merge-code"),
    recall=False,
)


# Strict decoding.


def _fault(read: Callable[[Sequence[int]], bytes], ids: Sequence[int]) -> int:
    """Return the position of the error that reading raises."""
    try:
        read(ids)
    except TokenLabError as error:
        return int(error.facts["position"])
    return len(ids)


def _at(ids: Sequence[int], position: float) -> str:
    if position not in range(len(ids)):
        return "There is no ID at that position. Positions are counted from 0."
    token_id = ids[int(position)]
    said = (
        "is a control; ask whether it may stand there"
        if token_id < 2
        else "is a piece of content, and may stand there"
    )
    return f"At position {position}, counted from 0, stands ID {token_id}. It {said}."


def document_fault(ids: Sequence[int]) -> int:
    return _fault(course_tokenizer().decode_document, ids)


def content_fault(ids: Sequence[int]) -> int:
    return _fault(course_tokenizer().decode_content, ids)


DOCUMENT_FAULT = Question(
    id="04-document-fault",
    kind="position",
    prompt="At which position does `decode_document` find the first fault of {input}?",
    pool=((0, 100, 0, 1), (0, 100, 103, 1, 1), (0, 34, 0, 100, 1)),
    show=as_list,
    right=document_fault,
    misconceptions=(
        Misconception(
            "counted-in-content", "count from the first ID after BOS", lambda ids: document_fault(ids) - 1
        ),
        Misconception("position-from-one", "count positions from one", lambda ids: document_fault(ids) + 1),
        Misconception(
            "any-control", "take every control for a fault, and stop at the very first one", lambda _: 0
        ),
    ),
    why=lambda ids: (
        f"Both ends are as they should be. Between them ID {ids[document_fault(ids)]} stands at position {document_fault(ids)} "
        "of the document, counted from 0 and from its BOS, and a control may not stand there."
    ),
    consequence=_at,
    hints=(
        "Which positions of a document may hold a control, and which control at each?",
        "A smaller case: in `[0, 1, 1]` the ends are right, and the fault is at position 1, the control in the middle.",
        "The first ID must be BOS and the last EOS. If they are, look between them, and count from the document's start, from 0.",
    ),
    concepts=("strict decoding", "document"),
    cells=("document-errors", "document-order"),
    recall="The tokenizer is that of chapter 03: eight rules, and the ID of a byte is its value plus 2.",
    shown_in=("demonstration-errors",),
)

CONTENT_FAULT = Question(
    id="04-content-fault",
    kind="position",
    prompt="At which position does `decode_content` find the first fault of {input}?",
    pool=((100, 1), (100, 103, 0), (34, 100, 100, 1)),
    show=as_list,
    right=content_fault,
    misconceptions=(
        Misconception("content-from-one", "count positions from one", lambda ids: content_fault(ids) + 1),
        Misconception("expects-bos", "expect BOS in front, as in a document", lambda _: 0),
    ),
    why=lambda ids: (
        f"Content holds no controls at all, not even at its end. ID {ids[content_fault(ids)]} stands at position {content_fault(ids)}, counted from 0."
    ),
    consequence=_at,
    hints=(
        "May content begin or end with a control?",
        "A smaller case: in `[0]`, read as content, the fault is at position 0.",
        "Go from left to right, count from 0, and stop at the first ID that is a control, BOS or EOS.",
    ),
    concepts=("strict decoding", "content"),
    cells=("content-errors", "document-order"),
    recall="The tokenizer is that of chapter 03: eight rules, and the ID of a byte is its value plus 2.",
    shown_in=("ask-content-fault", "demonstration-errors"),  # the input itself holds the number
)


# Pairs.


def pairs_inside(texts: Sequence[str]) -> int:
    return sum(len(document(text)) - 1 for text in texts)


def _pairs_why(texts: Sequence[str]) -> str:
    lines = [f"    {as_list(document(text))}   {len(document(text)) - 1}" for text in texts]
    return (
        "In each document, every ID but BOS is a target once:\n\n"
        + "\n".join(lines)
        + f"\n\nTogether {pairs_inside(texts)}. The last target of each document is EOS, and the next BOS is nobody's target."
    )


PAIRS = Question(
    id="04-pairs",
    kind="number",
    prompt="How many pairs of input and target do the documents {input} give together?",
    pool=(("e e а", ""), ("e e о", "b"), ("e и", "bee ")),
    show=lambda texts: " and ".join(map(quoted, texts)),
    right=pairs_inside,
    misconceptions=(
        Misconception(
            "across-documents",
            "join the documents into one stream, and predict the next BOS from the last EOS",
            lambda texts: sum(len(document(text)) for text in texts) - 1,
        ),
        Misconception(
            "content-only",
            "build pairs from the content alone, without BOS and EOS",
            lambda texts: sum(max(0, len(encode(text)) - 1) for text in texts),
        ),
        Misconception(
            "no-first-context",
            "leave BOS out, so that nothing predicts the first ID of the content",
            lambda texts: sum(len(encode(text)) for text in texts),
        ),
        Misconception(
            "every-id-a-target",
            "count every ID as a target, BOS too",
            lambda texts: sum(len(document(text)) for text in texts),
        ),
    ),
    why=_pairs_why,
    consequence=lambda texts, number: (
        "Then some ID would be predicted across the border of a document, or from nothing at all."
        if number > pairs_inside(texts)
        else "Then some ID is never predicted. Does the model learn how each document begins, and when to stop, even after a short one?"
    ),
    hints=(
        "Which IDs of a document are predicted, and which one is not?",
        "A smaller case: the document of `b` is `[0, 100, 1]`. Its pairs are 0 → 100 and 100 → 1.",
        "Encode each text as a document. Count its IDs, and take one away. Then add the documents.",
    ),
    concepts=("input-target pair", "document"),
    cells=("pairs-in-one-document", "pairs-rule", "03:left-is-no-reason"),
    recall="The course's eight rules are given (chapter 02b).",
)


# The exercises.

PIECES = (None, None, b"a", b"b", b"ab", b"\xff")


def decode_strictly(ids: Sequence[int], pieces: Sequence[bytes | None]) -> bytes | int:
    """Return the bytes of content IDs, or the position of the first ID that is no content.

    >>> decode_strictly([2, 4], PIECES), decode_strictly([2, 1], PIECES)
    (b'aab', 1)
    """
    data = b""
    for position, token_id in enumerate(ids):
        piece = pieces[token_id] if 0 <= token_id < len(pieces) else None
        if piece is None:
            return position
        data += piece
    return data


def _content(token_id: int, pieces: Sequence[bytes | None]) -> bytes | None:
    return pieces[token_id] if 0 <= token_id < len(pieces) else None


def _wrong_negative(ids: Sequence[int], pieces: Sequence[bytes | None]) -> bytes | int:
    """Lets a negative ID count from the end of the table."""
    return decode_strictly([token_id % len(pieces) if token_id < 0 else token_id for token_id in ids], pieces)


def _wrong_skips_controls(ids: Sequence[int], pieces: Sequence[bytes | None]) -> bytes | int:
    """Drops controls in silence."""
    return decode_strictly([token_id for token_id in ids if token_id not in (0, 1)], pieces)


def _wrong_skips_all(ids: Sequence[int], pieces: Sequence[bytes | None]) -> bytes | int:
    """Drops every ID that is no content."""
    return b"".join(_content(token_id, pieces) or b"" for token_id in ids)


def _wrong_from_one(ids: Sequence[int], pieces: Sequence[bytes | None]) -> bytes | int:
    """Counts positions from one."""
    found = decode_strictly(ids, pieces)
    return found + 1 if isinstance(found, int) else found


def _wrong_bytes_counted(ids: Sequence[int], pieces: Sequence[bytes | None]) -> bytes | int:
    """Counts the position in bytes, not in IDs."""
    found = decode_strictly(ids, pieces)
    return sum(len(_content(i, pieces) or b"") for i in ids[:found]) if isinstance(found, int) else found


def _wrong_last(ids: Sequence[int], pieces: Sequence[bytes | None]) -> bytes | int:
    """Names the last fault, not the first."""
    faults = [at for at, token_id in enumerate(ids) if _content(token_id, pieces) is None]
    return faults[-1] if faults else decode_strictly(ids, pieces)


def _wrong_so_far(ids: Sequence[int], pieces: Sequence[bytes | None]) -> bytes | int:
    """Returns what it has read before the fault."""
    found = decode_strictly(ids, pieces)
    return decode_strictly(ids[:found], pieces) if isinstance(found, int) else found


DECODE = Exercise(
    id="04-decode-strictly",
    prompt="Decode content, or say at which position the first fault is.",
    call="decode_strictly(ids, pieces)",
    reference=decode_strictly,
    alphabet=(2, 4, 1, 0, -1, 6),
    arguments=lambda symbols: (symbols, PIECES),
    wrong=(
        _wrong_negative,
        _wrong_skips_controls,
        _wrong_skips_all,
        _wrong_from_one,
        _wrong_bytes_counted,
        _wrong_last,
        _wrong_so_far,
    ),
    hints=(
        "In which three ways can a number fail to be a content ID?",
        "With the table of the exercise, `(2, 4)` gives `b'aab'`, and `(2, 1)` gives 1, since a control stands there.",
        "For each position: is the ID between 0 and the length of the table, and is its entry not None? Python's `pieces[-1]` is no error; check first.",
    ),
    concepts=("strict decoding", "content"),
    cells=("content-errors", "content-and-document"),
    cases=1000,
)


def unwrap(document: Sequence[int]) -> list[int] | int:
    """Return the content IDs of a document, or the position of its fault.

    >>> unwrap([0, 7, 1]), unwrap([0, 7]), unwrap([0, 1, 1])
    ([7], 1, 1)
    """
    last = len(document) - 1
    if last < 1:
        return len(document)
    if document[0] != 0:
        return 0
    if document[last] != 1:
        return last
    for position in range(1, last):
        if document[position] in (0, 1):
            return position
    return list(document[1:last])


def _wrong_no_inside(document: Sequence[int]) -> list[int] | int:
    """Does not look between the ends."""
    found = unwrap(document)
    inside = isinstance(found, int) and 0 < found < len(document) - 1
    return list(document[1:-1]) if inside else found


def _wrong_strips(document: Sequence[int]) -> list[int] | int:
    """Takes all controls out, wherever they stand."""
    return [token_id for token_id in document if token_id not in (0, 1)]


def _wrong_trusts(document: Sequence[int]) -> list[int] | int:
    """Cuts off the ends without looking at them."""
    return list(document[1:-1])


def _wrong_inner_position(document: Sequence[int]) -> list[int] | int:
    """Counts the position inside from the first content ID."""
    found = unwrap(document)
    return found - 1 if isinstance(found, int) and 0 < found < len(document) - 1 else found


def _wrong_one_id(document: Sequence[int]) -> list[int] | int:
    """Takes a single ID for a document."""
    return [] if len(document) == 1 else unwrap(document)


def _wrong_left_to_right(document: Sequence[int]) -> list[int] | int:
    """Looks inside before it looks at the end."""
    inside = [at for at in range(1, len(document) - 1) if document[at] in (0, 1)]
    return inside[0] if inside and document[0] == 0 else unwrap(document)


UNWRAP = Exercise(
    id="04-unwrap",
    prompt="Take the controls off a document, or say at which position its fault is.",
    call="unwrap(document)",
    reference=unwrap,
    alphabet=(0, 1, 7),
    wrong=(
        _wrong_no_inside,
        _wrong_strips,
        _wrong_trusts,
        _wrong_inner_position,
        _wrong_one_id,
        _wrong_left_to_right,
    ),
    hints=(
        "In which order does the library check a document?",
        "`(0, 7, 1)` gives `[7]`, `(0, 7)` gives 1, since the last ID is not EOS, and `(0, 1, 1)` gives 1, since a control stands inside.",
        "Length first; then the first ID, then the last, and only then what lies between. Return the content as a list.",
    ),
    concepts=("strict decoding", "document"),
    cells=("document-errors", "document-order"),
    cases=1000,
)

CHAPTER = Chapter(
    notebook="04_document_layout",
    title="Document layout",
    question="Where does text stop and control begin?",
    objectives=(
        "Which ID does a byte have, which a merge of a given rank, and which numbers stand for no bytes?",
        "Why can no text, and no merge, ever make a control token?",
        "What does strict decoding refuse, in which order, and at which position?",
        "Which pairs of input and target does a document give, and which pairs are never made?",
    ),
    concepts=(
        Concept(
            "layout", "layout-by-hand", "Which numbers stand for controls, for bytes and for merged pieces."
        ),
        Concept("control token", "what-a-control-is", "An ID that stands for no bytes, such as BOS and EOS."),
        Concept(
            "content", "what-a-control-is", "The IDs that stand for the bytes of a text, without controls."
        ),
        Concept("document", "document-shape", "BOS, the content of one text, EOS."),
        Concept(
            "strict decoding",
            "what-strict-is",
            "Refusing every fault with its position, and repairing nothing.",
        ),
        Concept(
            "input-target pair",
            "pairs-rule",
            "What has been read so far, and the ID that comes next in the same document.",
        ),
    ),
    questions=(SHIFT, EMPTY_CONTENT, EMPTY_DOCUMENT, TYPED_CONTROL, DOCUMENT_FAULT, CONTENT_FAULT, PAIRS),
    exercises=(DECODE, UNWRAP),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "A colleague wants decoding to skip IDs that it does not know. Which faults would never be found then?",
        "Should a PAD share its ID with EOS? What would a model learn about endings?",
        "Two documents are joined to save space. Which pair is made that nobody wrote?",
    ),
    likeliest="adds-controls",
    paper=("bee ", "e e а"),
)
