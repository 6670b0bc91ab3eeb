"""Chapter 07, the `.mtok` file: its questions, and the wrong readings behind the common wrong answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any

from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question
from tokenlab.errors import MtokError
from tokenlab.formats import mtok
from tokenlab.formats.header import Header
from tokenlab.formats.layout import U16, Cursor, Entry
from tokenlab.formats.mtok_meaning import NORMAL_FORMS, NormTable, table_of

# Numbers and strings. A wrong reading takes the bytes of a number, or the text of a `str`.


def stored(text: str) -> bytes:
    """Write a text as the format does: its length in bytes, then the bytes."""
    out = bytearray()
    mtok.STR.write(out, text, "str")
    return bytes(out)


def number(data: bytes) -> int:
    return int(U16.read(Cursor(data), "number", "", {}))


def _counting(length_of: Callable[[str], int]) -> Callable[[str | bytes], bytes | int]:
    """Write a text with another number for its length; a number alone is read as it should be."""
    return lambda value: number(value) if isinstance(value, bytes) else _with_length(length_of(value), value)


def _with_length(length: int, text: str) -> bytes:
    return length.to_bytes(2, "little") + text.encode()


def _big_endian(value: str | bytes) -> bytes | int:
    if isinstance(value, bytes):
        return int.from_bytes(value, "big")
    return len(value.encode()).to_bytes(2, "big") + value.encode()


def _one_byte(value: str | bytes) -> bytes | int:
    return value[0] if isinstance(value, bytes) else bytes([len(value.encode())]) + value.encode()


def _text_alone(value: str | bytes) -> bytes | int:
    return number(value) if isinstance(value, bytes) else value.encode()


CHARACTERS = Misconception("characters", "count the characters", _counting(len))
UTF_16 = Misconception(
    "two-bytes-each",
    "take every character for two bytes, as UTF-16 does for most",
    _counting(lambda text: len(text.encode("utf-16-le"))),
)
COUNTS_ITSELF = Misconception(
    "counts-itself",
    "let the length count its own two bytes, too",
    _counting(lambda text: len(text.encode()) + 2),
)
BIG_ENDIAN = Misconception("big-endian", "put the high byte first, as we write decimal numbers", _big_endian)
ONE_BYTE = Misconception("one-byte", "take the first byte alone for the number", _one_byte)
NO_LENGTH = Misconception("no-length", "write the text alone, without its length before it", _text_alone)


def _why_stored(text: str) -> str:
    data = text.encode()
    return (
        f"UTF-8 spells it `{data.hex(' ')}`: {len(data)} bytes. A u16 holds that number, low byte first, as "
        f"`{stored(text)[:2].hex(' ')}`; the bytes of the text follow."
    )


def _length_consequence(text: str, length: float) -> str:
    data = text.encode()
    if length > len(data):
        return (
            "A reader would take as many bytes as you say. It would run past the end of this text, and swallow "
            "the start of what comes next."
        )
    if not 0 <= length == int(length):
        return "A reader takes that many bytes, so it can only be a whole number, 0 or more."
    rest = data[int(length) :].hex(" ")
    return (
        f"A reader would take only `{data[: int(length)].hex(' ')}` for the text, and read `{rest}` as "
        "the next field."
    )


LENGTH = Question(
    id="07-length",
    kind="number",
    prompt="Which number stands in the length of the `str` {input}?",
    pool=("北京", "大学", "北京大学"),
    right=stored,
    form=lambda data: number(data[:2]),
    misconceptions=(CHARACTERS, UTF_16, COUNTS_ITSELF),
    why=_why_stored,
    consequence=_length_consequence,
    hints=(
        "What does a reader that knows nothing about letters have to know, to find the end of the text?",
        "A smaller case: `é` is one character and two bytes in UTF-8. Its length field says 2.",
        "Each of these characters takes three bytes in UTF-8. The length counts the bytes of the text alone.",
    ),
    concepts=("str",),
    cells=("some-strings",),
)


def _number_consequence(data: bytes, answer: float) -> str:
    if not 0 <= answer < 1 << 16 or answer != int(answer):
        return f"A u16 holds whole numbers from 0 to {(1 << 16) - 1}; yours is none of these."
    return (
        f"The format would write your number as `{int(answer).to_bytes(2, 'little').hex(' ')}`; the file has "
        f"`{data.hex(' ')}`."
    )


NUMBER = Question(
    id="07-u16",
    kind="number",
    prompt="The two bytes {input} are a u16. Which number do they hold?",
    pool=(b"\x2c\x01", b"\x10\x02", b"\xe8\x03"),
    show=lambda data: f"`{data.hex(' ')}`",
    right=number,
    misconceptions=(BIG_ENDIAN, ONE_BYTE),
    why=lambda data: (
        f"The low byte comes first: `{data[0]:02x}` is {data[0]}, and `{data[1]:02x}` counts 256s. "
        f"{data[0]} + {data[1]} × 256 = {number(data)}."
    ),
    consequence=_number_consequence,
    hints=(
        "Which of the two bytes counts ones, and which counts 256s?",
        "A smaller case: the bytes `02 01` hold 2 + 1 × 256.",
        "Turn each byte into a decimal number. Then multiply the second by 256, and add the first.",
    ),
    concepts=("little-endian",),
    cells=("low-byte-first",),
)


def _stored_consequence(text: str, data: bytes) -> str:
    """Read an answer as the format does."""
    if len(data) < 2:
        return "A reader takes two bytes for the length first, and these are not even two."
    length, rest = int.from_bytes(data[:2], "little"), data[2:]
    if length > len(rest):
        return f"A reader would take the length to be {length}, and find too few bytes after it: {len(rest)}."
    if length < len(rest):
        return (
            f"A reader would take the length to be {length}, and leave {len(rest) - length} of your bytes "
            "for the next field."
        )
    return f"A reader would find {length} bytes, `{rest.hex(' ')}`. They are not those of `{text}` in UTF-8."


STORED = Question(
    id="07-str-bytes",
    kind="hex",
    prompt="Which bytes does the file hold for the `str` {input}, its length included? Write them in hex.",
    pool=("学", "北", "京"),
    show=lambda text: f'"{text}" (`{text.encode().hex(" ")}` in UTF-8)',
    right=stored,
    misconceptions=(CHARACTERS, UTF_16, COUNTS_ITSELF, BIG_ENDIAN, ONE_BYTE, NO_LENGTH),
    why=_why_stored,
    consequence=_stored_consequence,
    hints=(
        "Two things stand one after the other. What is the first, and how many bytes does it take?",
        "A smaller case: the `str` `é` is `02 00 c3 a9`.",
        "Count the bytes of the text; write that number as a u16, low byte first; then the bytes of the text.",
    ),
    concepts=("str", "little-endian"),
    cells=("some-strings", "low-byte-first"),
)

# The order of the rows.


def _rows(text: str) -> list[str]:
    return text.split(" ")


def by_bytes(text: str) -> list[str]:
    return sorted(_rows(text), key=str.encode)


def _utf_16_order(text: str) -> list[str]:
    return sorted(_rows(text), key=lambda token: token.encode("utf-16-be"))


def _dictionary_order(text: str) -> list[str]:
    return sorted(_rows(text), key=lambda token: (token.lower().encode(), token))


def _shortest_first(text: str) -> list[str]:
    return sorted(_rows(text), key=lambda token: (len(token.encode()), token.encode()))


def _order_consequence(text: str, rows: tuple[str, ...]) -> str:
    if sorted(rows) != sorted(_rows(text)):
        missing = sorted(set(_rows(text)) - set(rows))
        told = f": {' '.join(missing)} is missing" if missing else ""
        return f"These are not the rows of the question, each once{told}. (Copy them; some look alike.)"
    for first, second in pairwise(rows):
        if first.encode() > second.encode():
            return (
                f"You put `{first}` (bytes `{first.encode().hex(' ')}`) before `{second}` (bytes "
                f"`{second.encode().hex(' ')}`). The reader would refuse the file at that row."
            )
    return "The reader would accept this order."


ORDER = Question(
    id="07-order",
    kind="text pieces",
    prompt="In which order do these five rows stand in the file: {input}? Copy them into a list.",
    pool=("🦀 ！ ab b Z", "👍 ～ no o Z", "🙂 ｗ el m T"),
    show=lambda text: f"`{text}`",
    right=by_bytes,
    misconceptions=(
        Misconception(
            "utf-16-order",
            "compare units of UTF-16, in which an emoji begins with a small one (d83d, d83e)",
            _utf_16_order,
        ),
        Misconception(
            "dictionary-order", "sort as a dictionary does, without regard to case", _dictionary_order
        ),
        Misconception("shortest-first", "put shorter tokens before longer ones", _shortest_first),
        Misconception("as-listed", "leave the rows as they are listed", _rows),
    ),
    why=lambda text: (
        "The bytes decide, one after the other:\n\n"
        + "\n".join(f"    {token.encode().hex(' '):12} {token}" for token in by_bytes(text))
    ),
    consequence=_order_consequence,
    hints=(
        "What is compared: letters, lengths, or bytes?",
        "A smaller case: of `é` (bytes c3 a9), `zz` (7a 7a) and `B` (42), `B` is first and `é` last.",
        "Write each row's first byte in hex, then sort these. Capitals are 41 to 5a, small letters 61 to 7a; "
        "in UTF-8, three-byte characters begin with e0 to ef, four-byte ones with f0 and up.",
    ),
    concepts=("sorted rows",),
    cells=("order-of-bytes", "order-rule"),
)

# Searching by halves.


def looked_at(tokens: tuple[str, ...], wanted: str) -> list[int]:
    """Return the places of the rows that a search by halves looks at, in order.

    >>> looked_at(("a", "b", "c"), "c")
    [1, 2]
    """
    low, high, places = 0, len(tokens), []
    while low < high:
        middle = (low + high) // 2
        places.append(middle)
        if tokens[middle] == wanted:
            break
        if tokens[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return places


Search = tuple[str, str]  # the rows, one letter each, and the one that is wanted


def _halves(search: Search) -> list[str]:
    rows, wanted = search
    return [rows[place] for place in looked_at(tuple(rows), wanted)]


def _from_the_top(search: Search) -> list[str]:
    rows, wanted = search
    return list(rows[: rows.index(wanted) + 1])


def _halve_once(search: Search) -> list[str]:
    rows, wanted = search
    middle = len(rows) // 2
    start = middle + 1 if rows[middle] < wanted else 0
    return [rows[middle], *rows[start : rows.index(wanted) + 1]]


def _from_the_end(search: Search) -> list[str]:
    rows, wanted = search
    middle = len(rows) // 2
    near = rows[middle + 1 :][::-1] if rows[middle] < wanted else rows[:middle][::-1]
    return [rows[middle], *near[: near.index(wanted) + 1]]


def _halves_consequence(search: Search, rows: tuple[str, ...]) -> str:
    known, wanted = search
    if any(row not in known for row in rows):
        return "One of these is no row of the table."
    if not rows or rows[-1] != wanted:
        return f"Your search ends before it has looked at `{wanted}`, so it cannot know that it is there."
    return (
        f"Your search finds `{wanted}` in {len(rows)} step(s), but some step of it does not take the middle "
        "of the rows that are still possible."
    )


HALVES = Question(
    id="07-halves",
    kind="text pieces",
    prompt="A search by halves looks for {input}. Which rows does it look at, from first to last?",
    pool=(("abcdefg", "e"), ("abcdefg", "c"), ("klmnopq", "o")),
    show=lambda search: f"`{search[1]}` in the rows `{' '.join(search[0])}`",
    right=_halves,
    misconceptions=(
        Misconception("from-the-top", "go through the rows from the top", _from_the_top),
        Misconception("halve-once", "take the middle once, then go on row by row", _halve_once),
        Misconception(
            "from-the-end",
            "take the middle once, then go row by row through that half from its far end",
            _from_the_end,
        ),
    ),
    why=lambda search: (
        f"It looks at {', '.join(f'`{row}`' for row in _halves(search))}. Each time it takes the middle of "
        "the rows that are still possible, and drops the half in which the token cannot be."
    ),
    consequence=_halves_consequence,
    hints=(
        "Which row is in the middle? Is the wanted one before or after it?",
        "A smaller case: for `c` in the rows `a b c`, the middle is `b`. After it only `c` is left.",
        "Take the middle of all seven. Keep the three rows on the side that is right, and take their middle.",
    ),
    concepts=("search by halves",),
    cells=("search-traced", "halves-rule"),
)

# The optional tail.

GROUPS = ("chat template", "flags", "BOS", "program")


@cache
def file_with(groups: tuple[str, ...]) -> bytes:
    """Return a small WordPiece file whose tail holds the first groups."""
    rows = [("##er", 2), ("[UNK]", 0), ("low", 1)]
    model = {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    tail: dict[str, dict[str, Any]] = {
        "chat template": {"chat_template": "{{ messages }}", "eos_token": "low"},
        "flags": {"flags": 0},
        "BOS": {"bos_token": "low"},
        "program": {"steps": (Entry(1, {"id": 1}), Entry(0, {}))},
    }
    parts = {name: value for group in groups for name, value in tail[group].items()}
    return mtok.write_file(
        mtok.MtokFile(
            Header(mtok.MTOK_TYPE),
            Entry(0, {}),
            Entry(5, {}),
            Entry(1, {**model, "vocabulary": rows}),
            Entry(3, {"prefix": "##", "cleanup": 0}),
            **parts,
        )
    )


def accepted_ends(groups: tuple[str, ...]) -> list[int]:
    """Return the lengths at which the file, cut there, is still a whole one."""
    data = file_with(groups)
    return [size for size in range(len(data)) if is_whole(data[:size])]


def is_whole(data: bytes) -> bool:
    try:
        mtok.read_file(data)
    except MtokError:
        return False
    return True


def _tail_fields(groups: tuple[str, ...]) -> int:
    body = len(file_with(()))
    return sum(field.offset >= body for field in mtok.explain(file_with(groups)))


def _why_tail(groups: tuple[str, ...]) -> str:
    data, starts = file_with(groups), {start: name for name, start, _ in mtok.sections(file_with(groups))}
    lines = [f"    cut before {starts[size]}: {size} bytes" for size in accepted_ends(groups)]
    return (
        f"Here every shorter form of such a file, of {len(data)} bytes, was tried. The accepted ones:\n\n"
        + "\n".join(lines)
        + "\n\nA group stands there as a whole or not at all, and none can be left out in the middle."
    )


def _tail_consequence(groups: tuple[str, ...], answer: float) -> str:
    if answer < 1:
        return (
            "Then every file would need a tail. But the reader accepts a file that ends after its added "
            "tokens, and that is one of the shorter files."
        )
    if answer < len(accepted_ends(groups)):
        return "Then some file would be refused although it ends exactly where a group ends."
    return "Then the reader would accept a file that breaks off inside a group, or one that is not shorter."


TAIL = Question(
    id="07-tail",
    kind="number",
    prompt=(
        "The tail of a file holds {input}, and nothing else. Bytes are cut off its end. "
        "How many different shorter files does the reader accept?"
    ),
    pool=(GROUPS[:3], GROUPS[:2], GROUPS),
    show=", ".join,
    right=accepted_ends,
    form=lambda found: found if isinstance(found, int) else len(found),
    misconceptions=(
        Misconception("needs-every-byte", "take a file that was cut for damaged in any case", lambda _: 0),
        Misconception("all-or-nothing", "let the tail stand there as a whole or not at all", lambda _: 1),
        Misconception(
            "every-field", "let a file end after any field, as if each were optional", _tail_fields
        ),
        Misconception("the-whole-too", "count the whole file, too", lambda groups: len(groups) + 1),
    ),
    why=_why_tail,
    consequence=_tail_consequence,
    hints=(
        "Where may a file end? Write down all the places.",
        "A smaller case: where the tail holds one group, one shorter file is accepted, the one without it.",
        "A file may end after the added tokens, or after any group. Which of these places are before its end?",
    ),
    concepts=("optional tail",),
    cells=("tail-rule", "cut-one-group"),
)

# The table of normal forms.


def by_table(text: str, form: str = "NFKC") -> str:
    return NormTable(table_of(NORMAL_FORMS[form]))(text)


def code_points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text)


def _table_consequence(text: str, answer: float) -> str:
    if answer < len(text):
        return (
            f"{len(text)} code points went in. With fewer coming out, some row would have had to take two of "
            "them at once, or to drop one."
        )
    if answer == len(text):
        return "Then no row would give more than one code point. The first of these has a row that does."
    if answer < len(by_table(text)):
        return "Then two code points would have become one; but a row of the table is for a single one."
    return "Then some code point would give more than its row says, although it has none or a shorter one."


NORM_TABLE = Question(
    id="07-norm-table",
    kind="number",
    prompt=("A NormTable for NFKC is applied to the code points {input}. How many code points come out?"),
    pool=("ﬃéa\u0301", "ﬄño\u0308", "ﬃüe\u0302"),
    show=code_points,
    right=by_table,
    form=len,
    misconceptions=(
        Misconception(
            "composes",
            "do what NFKC does to a whole text: a letter and its mark become one",
            partial(unicodedata.normalize, "NFKC"),
        ),
        Misconception("one-to-one", "let every code point become exactly one other", lambda text: text),
        Misconception(
            "decomposes",
            "take accented letters apart, too, as NFKD does",
            partial(unicodedata.normalize, "NFKD"),
        ),
    ),
    why=lambda text: (
        f"Each code point is looked up by itself:\n\n{_rows_used(text)}\n\nReal NFKC sees neighbours: it would "
        f"give {code_points(unicodedata.normalize('NFKC', text))}, the letter and its mark as one."
    ),
    consequence=_table_consequence,
    hints=(
        "How many code points does one row of the table look at?",
        "A smaller case: `ﬁ` (U+FB01) has a row and becomes f and i. é (U+00E9) has none and stays.",
        "U+FB03 and U+FB04 are ligatures of three letters. Count what each code point becomes, one by one.",
    ),
    concepts=("NormTable",),
    cells=("norm-rows", "norm-rule"),
)


def _rows_used(text: str) -> str:
    return "\n".join(f"    {code_points(c)} becomes {code_points(by_table(c))}" for c in text)


# The exercises.


def read_strings(data: bytes) -> list[str]:
    """Return the texts of bytes that are `str` after `str` and nothing else.

    >>> read_strings(bytes.fromhex("02 00 c3 a9 00 00"))
    ['é', '']
    """
    texts, place = [], 0
    while place < len(data):
        length = data[place] + 256 * data[place + 1]
        place += 2
        texts.append(data[place : place + length].decode())
        place += length
    return texts


def _read_with(length_of: Callable[[bytes], int], data: bytes, size: int = 2) -> list[str]:
    texts, place = [], 0
    while place < len(data):
        length = length_of(data[place:])
        texts.append(data[place + size : place + size + length].decode(errors="replace"))
        place += size + length
    return texts


def _wrong_big_endian(data: bytes) -> list[str]:
    """Takes the high byte first."""
    return _read_with(lambda rest: int.from_bytes(rest[:2], "big"), data)


def _wrong_one_byte(data: bytes) -> list[str]:
    """Takes only the first byte of the length."""
    return _read_with(lambda rest: rest[0], data)


def _wrong_only_first(data: bytes) -> list[str]:
    """Returns after the first text."""
    return read_strings(data)[:1]


def _wrong_drops_empty(data: bytes) -> list[str]:
    """Leaves out empty texts."""
    return [text for text in read_strings(data) if text]


def _wrong_counts_itself(data: bytes) -> list[str]:
    """Takes the two bytes of the length for part of it."""
    return _read_with(lambda rest: max(int.from_bytes(rest[:2], "little") - 2, 0), data)


def _wrong_characters(data: bytes) -> list[str]:
    """Counts the length in characters."""
    text, texts = data.decode(errors="replace"), []
    while text:
        length = ord(text[0]) + 256 * ord(text[1:2] or "\0")
        texts.append(text[2 : 2 + length])
        text = text[2 + length :]
    return texts


def _joined(texts: tuple[str, ...]) -> tuple[bytes]:
    return (b"".join(map(stored, texts)),)


def _shortened(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) < 200 else f"{shown[:90]} ... {shown[-20:]}"


READ = Exercise(
    id="07-read-strings",
    prompt="Write a reader: bytes that hold `str` after `str` give the list of texts.",
    call="read_strings(data)",
    reference=read_strings,
    alphabet=("a", "é", "学", "", "x" * 258),
    arguments=_joined,
    show=_shortened,
    wrong=(
        _wrong_big_endian,
        _wrong_one_byte,
        _wrong_only_first,
        _wrong_drops_empty,
        _wrong_counts_itself,
        _wrong_characters,
    ),
    hints=(
        "Where does the first text begin, and where does it end? Where does the second one begin?",
        "For `01 00 61 02 00 c3 a9`, the first length stands at 0, its text at 2, and the second length at 3.",
        "Keep one variable with the place that you have reached. Read two bytes for the length, step over them, "
        "take that many bytes, decode them, step over them, and go on until the end.",
    ),
    concepts=("str", "little-endian"),
    cells=("some-strings", "low-byte-first"),
)


def _wrong_linear(tokens: Sequence[str], wanted: str) -> list[int]:
    """Goes through the rows from the top."""
    end = next((place for place, token in enumerate(tokens) if token >= wanted), len(tokens) - 1)
    return list(range(end + 1))


def _search(tokens: Sequence[str], wanted: str, *, up: int = 0, above: int = 0, below: int = 1) -> list[int]:
    low, high, places = 0, len(tokens), list[int]()
    while low < high and len(places) <= len(tokens):
        middle = min((low + high + up) // 2, len(tokens) - 1)
        places.append(middle)
        if tokens[middle] == wanted:
            break
        low, high = (middle + below, high) if tokens[middle] < wanted else (low, middle - above)
    return places


def _wrong_upper_middle(tokens: Sequence[str], wanted: str) -> list[int]:
    """Rounds the middle up, and so looks at a row again."""
    return _search(tokens, wanted, up=1)


def _wrong_skips_one(tokens: Sequence[str], wanted: str) -> list[int]:
    """Drops one row too many where the token stands before the middle."""
    return _search(tokens, wanted, above=1)


def _wrong_keeps_the_middle(tokens: Sequence[str], wanted: str) -> list[int]:
    """Keeps the middle among the rows that are still possible."""
    return _search(tokens, wanted, below=0)


def _wrong_goes_on(tokens: Sequence[str], wanted: str) -> list[int]:
    """Does not stop when the row is found."""
    low, high, places = 0, len(tokens), list[int]()
    while low < high:
        middle = (low + high) // 2
        places.append(middle)
        low, high = (middle + 1, high) if tokens[middle] < wanted else (low, middle)
    return places


FIND = Exercise(
    id="07-find",
    prompt="Write the search: sorted tokens and the wanted one give the places that a search by halves looks at.",
    call="places_looked_at(tokens, wanted)",
    reference=looked_at,
    alphabet=("a", "b", "c", "d", "e"),
    arguments=lambda symbols: (tuple(sorted(set(symbols[1:]))), symbols[0] if symbols else "a"),
    wrong=(_wrong_linear, _wrong_upper_middle, _wrong_skips_one, _wrong_keeps_the_middle, _wrong_goes_on),
    hints=(
        "Which rows are still possible at the start? Which two numbers say so?",
        "For `c` in the rows `a b c`: low 0 and high 3 give the middle 1. It is too small, so low becomes 2.",
        "While low < high: middle = (low + high) // 2; note it; stop if it is the wanted one; else low = middle + 1, "
        "or high = middle.",
    ),
    concepts=("search by halves", "sorted rows"),
    cells=("search-traced", "halves-rule"),
)

CHAPTER = Chapter(
    notebook="07_mtok_format",
    title="The .mtok format",
    question="What is in the file?",
    objectives=(
        "Which bytes does a number take in the file, and which a text?",
        "Which sections stand in a `.mtok` file, in which order, and which of them may be missing?",
        "Why are the rows sorted, and what does a search by halves cost?",
        "What can a table of normal forms not do, and what else is lost in a conversion?",
    ),
    concepts=(
        Concept(
            "little-endian", "low-byte-first", "A number's low byte stands first: 2 + 1 × 256 is `02 01`."
        ),
        Concept("str", "str-rule", "A text in the file: its length in bytes as a u16, then its UTF-8."),
        Concept(
            "optional tail",
            "tail-rule",
            "Groups after the added tokens; a file may end before them or after any of them.",
        ),
        Concept("sorted rows", "order-rule", "The rows of a table ascend by the bytes of what is looked up."),
        Concept(
            "search by halves",
            "halves-rule",
            "Look at the middle row and drop the half in which the wanted one cannot be.",
        ),
        Concept(
            "NormTable", "norm-rule", "A table of normal forms in the file, for one code point at a time."
        ),
    ),
    questions=(NUMBER, LENGTH, STORED, TAIL, ORDER, HALVES, NORM_TABLE),
    exercises=(READ, FIND),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "A binary file is quick to load, a text file can be read by eye. Which would you give to a colleague?",
        "A damaged file is refused as a whole. When would you rather have a reader that carries on?",
        "The file holds Unicode's forms as they were on the day of the export. What happens in ten years?",
    ),
    likeliest="composes",
    paper=("学", "é", "low", "новый"),
)
