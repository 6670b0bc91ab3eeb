"""The binary `.mtok` container: read, written and explained by one declared layout (chapter 07).

After the `.mtok` document of MNN's LLM tokenizer, and what its programs have beyond it: the Strip normalizer
(tag 8) and the post-processor program at the end. This module knows the file; `mtok_meaning` knows what a
file means as a pipeline, and `mtok_conversion` how to say a pipeline in it.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter, lt
from pathlib import Path
from typing import Any

from tokenlab.errors import MtokError
from tokenlab.files import write_whole
from tokenlab.formats import header
from tokenlab.formats.header import Header, read_header, write_header
from tokenlab.formats.layout import (
    F64,
    FLAG,
    U16,
    U32,
    Count,
    Cursor,
    Entry,
    Field,
    Items,
    Number,
    Record,
    Spec,
    Tagged,
    Text,
    record,
    rows,
)
from tokenlab.pipeline.tokenizer import Tokenizer

MTOK_TYPE = 4
UNICODE_VERSION = unicodedata.unidata_version
"""The version of the tables that a conversion writes; a table that is read stays as it is."""
STR = Text()


def _ascending(key: Any, what: str) -> Any:
    """A check that rows rise strictly by a key."""

    def check(rows: Sequence[Any]) -> tuple[int, str, str] | None:
        keys = list(map(key, rows))
        if all(map(lt, keys, islice(keys, 1, None))):
            return None
        index = list(map(lt, keys, keys[1:])).index(False) + 1
        found = "the same again" if keys[index] == keys[index - 1] else "a smaller one"
        return index, f"rows that ascend by {what}", found

    return check


# Comparing str compares code points, which is the order of their UTF-8 bytes.
BY_TOKEN = _ascending(itemgetter(0), "the bytes of the token")
BY_PAIR = _ascending(itemgetter(0, 1), "(left ID, right ID)")
BY_CODE_POINT = _ascending(itemgetter(0), "code point")
SORTED = "sorted, so that it is searched by halves"

# Parts that several records share: the type, and what it means.
BERT: dict[str, Spec] = {
    "clean_text": (FLAG, "drop control characters"),
    "handle_chinese_chars": (FLAG, "put spaces around CJK characters"),
    "strip_accents": (FLAG, "decompose, then drop the marks"),
    "lowercase": (FLAG, "lower case"),
}
REPLACE: dict[str, Spec] = {
    "pattern": (STR, "a literal string"),
    "content": (STR, "what takes its place"),
}
METASPACE: dict[str, Spec] = {
    "replacement": (STR, "stands for a space"),
    "add_prefix_space": (FLAG, "a space is put before the text"),
}
NORM_TABLE = record(
    count=(Count("entries"), "rows of the table"),
    entries=(
        rows(
            BY_CODE_POINT,
            code_point=(Number("u32", highest=0x10FFFF), "the character"),
            form=(STR, "what it becomes"),
        ),
        "one code point at a time",
    ),
)
FORMS = (NORM_TABLE, "the forms that differ")
SIZE = (Count("vocabulary"), "rows of the vocabulary")
TOKEN: dict[str, Spec] = {"token": (STR, "the token's text"), "id": (U32, "the token's ID")}
FALLBACK = (FLAG, "unknown characters become their bytes")
BEHAVIORS = ("Isolated", "Removed", "MergedWithPrevious")


def _sequence(name: str, tagged: Callable[[], Tagged]) -> Record:
    items: Spec = (Items(tagged), "in this order")
    return record("Sequence", count=(Count(name), "how many follow"), **{name: items})


NORMALIZER: Tagged = Tagged(
    "Normalizer",
    {
        0: record("none"),
        1: record("NFKC without a table"),
        2: record("Prepend", prepend=(STR, "put before the text")),
        3: record("Replace", **REPLACE),
        4: _sequence("normalizers", lambda: NORMALIZER),
        5: record("BertNormalizer", **BERT),
        6: record("NFKC with a table", table=FORMS),
        7: record("BertNormalizer with an NFD table", **BERT, table=(*FORMS, "strip_accents")),
        8: record("Strip", left=(FLAG, "strip the start"), right=(FLAG, "strip the end")),
    },
)
PRE_TOKENIZER: Tagged = Tagged(
    "PreTokenizer",
    {
        0: record("none"),
        1: record("ByteLevel", use_regex=(FLAG, "split as GPT-2 does")),
        2: record("Digits", individual_digits=(FLAG, "each digit by itself")),
        3: record("Metaspace", **METASPACE),
        4: record(
            "Split",
            pattern=(STR, "a regular expression"),
            invert=(FLAG, "the matches are what is kept"),
            behavior=(Number("u8", highest=2), ", ".join(f"{i} {name}" for i, name in enumerate(BEHAVIORS))),
        ),
        5: record("BertPreTokenizer"),
        6: _sequence("pretokenizers", lambda: PRE_TOKENIZER),
    },
)
MODEL = Tagged(
    "Model",
    {
        0: record(
            "BPE",
            vocab_size=SIZE,
            byte_fallback=FALLBACK,
            byte_level=(FLAG, "the model itself maps bytes to the byte alphabet"),
            merge_count=(Count("merges"), "rows of the merge table"),
            vocabulary=(rows(BY_TOKEN, **TOKEN), SORTED),
            merges=(
                rows(
                    BY_PAIR,
                    left_id=(U32, "the left operand"),
                    right_id=(U32, "the right operand"),
                    rank=(U32, "its priority: lower is earlier"),
                ),
                SORTED,
            ),
        ),
        1: record(
            "WordPiece",
            vocab_size=SIZE,
            unk_token=(STR, "stands for a word that has no pieces"),
            continuing_subword_prefix=(STR, "before pieces inside a word"),
            max_input_chars_per_word=(U32, "longer words are unknown"),
            vocabulary=(rows(BY_TOKEN, **TOKEN), SORTED),
        ),
        2: record(
            "Unigram",
            vocab_size=SIZE,
            unk_id=(U32, "the ID of the unknown token"),
            byte_fallback=FALLBACK,
            vocabulary=(rows(BY_TOKEN, **TOKEN, score=(F64, "its log-probability")), SORTED),
        ),
    },
)
DECODER: Tagged = Tagged(
    "Decoder",
    {
        0: record("ByteLevel"),
        1: record("ByteFallback"),
        2: record("Metaspace", **METASPACE),
        3: record("WordPiece", prefix=(STR, "joined to the piece before"), cleanup=(FLAG, "tidy spaces")),
        4: record("Fuse"),
        5: record("Replace", **REPLACE),
        6: record(
            "Strip",
            content=(STR, "the character that is stripped"),
            start=(U32, "how many at the start"),
            stop=(U32, "how many at the end"),
        ),
        7: _sequence("decoders", lambda: DECODER),
    },
)
BODY = {"normalizer": NORMALIZER, "pre_tokenizer": PRE_TOKENIZER, "model": MODEL, "decoder": DECODER}
ADDED_TOKENS = record(
    count=(Count("tokens"), "rows of added tokens"),
    tokens=(
        rows(
            id=TOKEN["id"],
            special=(FLAG, "a control token"),
            lstrip=(FLAG, "takes white space before it in"),
            rstrip=(FLAG, "takes white space after it in"),
            content=(STR, "the text that is matched"),
        ),
        "matched before anything else",
    ),
)
# The optional tail: a file may end before any of these groups, and before the program behind them.
TAIL = {
    "Chat template": record(chat_template=(Text(U32), "Jinja2"), eos_token=(STR, "the text of EOS")),
    "Flags": record(flags=(FLAG, "bit 0: tidy spaces after decoding")),
    "BOS token": record(bos_token=(STR, "the text of BOS")),
}
STEP = Tagged(
    "Step", {0: record("sequence A"), 1: record("special token", id=(U32, "the ID that is put here"))}
)
PROGRAM = record(
    count=(Count("steps", U16), "steps of the program"),
    steps=(Items(lambda: STEP), "what an encoding is made of"),
)
OLDER_PROGRAM = record(
    count=(Count("ids", U16), "IDs after the text"), ids=(rows(id=TOKEN["id"]), "put after the text")
)


@dataclass(frozen=True, slots=True)
class MtokFile:
    """All that a `.mtok` file says, part by part, so that it can be written back byte for byte.

    The tail's parts are None where the file ends before them. `steps` is the post-processor program (entries
    of tag 0, the text, or tag 1, a special token's ID) or, in the older variant, `appended` the bare IDs
    after the text.
    """

    header: Header
    normalizer: Entry
    pre_tokenizer: Entry
    model: Entry
    decoder: Entry
    added_tokens: tuple[tuple[int, int, int, int, str], ...] = ()
    chat_template: str | None = None
    eos_token: str | None = None
    flags: int | None = None
    bos_token: str | None = None
    steps: tuple[Entry, ...] | None = None
    appended: tuple[int, ...] | None = None


def read_file(
    data: bytes, trace: list[Field] | None = None, starts: list[tuple[str, int]] | None = None
) -> MtokFile:
    """Read what a `.mtok` file says.

    Args:
        data: the whole file.
        trace: a list that gets every primitive field, in file order; together they are the file.
        starts: a list that gets the name and the offset of each section.

    Raises:
        MtokError: with section, offset, what was expected and what was found.
    """
    cursor = Cursor(data, trace=trace)

    def enter(section: str) -> None:
        cursor.sections = [section]
        if starts is not None:
            starts.append((section, cursor.offset))

    enter("Header")
    cursor.sections = []
    header = read_header(cursor, text=False)
    if header.type != MTOK_TYPE:
        cursor.fail("Header / type", f"{MTOK_TYPE}, a pipeline", str(header.type), 4)
    body: dict[str, Any] = {}
    for name, tagged in BODY.items():
        enter(tagged.section)
        body[name] = tagged.read(cursor, name)
    enter("Added tokens")
    added = tuple(ADDED_TOKENS.read(cursor)["tokens"])
    tail: dict[str, Any] = {}
    for section, group in TAIL.items():
        if not cursor.left:
            break
        enter(section)
        tail |= group.read(cursor)
    if cursor.left:
        enter("Post-processor")
        tail |= _read_program(cursor)
    return MtokFile(header, **body, added_tokens=added, **tail)


def _read_program(cursor: Cursor) -> dict[str, Any]:
    """The last group: a program where it parses as one to the end of the file, else the older list."""

    def is_all(record: Record) -> bool:
        attempt = Cursor(cursor.data, cursor.offset)
        with suppress(MtokError):
            record.read(attempt)
            return not attempt.left
        return False

    if is_all(OLDER_PROGRAM) and not is_all(PROGRAM):
        return {"appended": tuple(token_id for (token_id,) in OLDER_PROGRAM.read(cursor)["ids"])}
    program = PROGRAM.read(cursor)
    if cursor.left:
        cursor.fail("end", "the end of the file", f"{cursor.left} more bytes")
    return program


def write_file(file: MtokFile) -> bytes:
    """Give the bytes of a file.

    Raises:
        MtokError: where a value has no place in the format.
    """
    out = bytearray()
    write_header(out, file.header)
    for name, tagged in BODY.items():
        tagged.write(out, getattr(file, name), tagged.section)
    ADDED_TOKENS.write(out, {"tokens": file.added_tokens}, "Added tokens")
    for section, group in TAIL.items():
        held = {part.name: getattr(file, part.name) for part in group.parts}
        if None in held.values():
            return bytes(out)
        group.write(out, held, section)
    if file.steps is not None:
        PROGRAM.write(out, {"steps": file.steps}, "Post-processor")
    elif file.appended is not None:
        OLDER_PROGRAM.write(out, {"ids": [(token_id,) for token_id in file.appended]}, "Post-processor")
    return bytes(out)


def explain_file(data: bytes) -> list[Field]:
    """Account for every byte of a `.mtok` file: each belongs to exactly one named field, in file order."""
    trace: list[Field] = []
    read_file(data, trace)
    return trace


def sections(data: bytes) -> list[tuple[str, int, int]]:
    """Return the name, the start and the end (in bytes) of each section of a `.mtok` file."""
    starts: list[tuple[str, int]] = []
    read_file(data, starts=starts)
    ends = [start for _, start in starts[1:]] + [len(data)]
    return [(section, start, end) for (section, start), end in zip(starts, ends, strict=True)]


def specification() -> list[tuple[str, str, str, str, str, str]]:
    """Return the document's tables from the declaration: section, tag, record, part, type, meaning."""
    groups = {"Added tokens": ADDED_TOKENS, **TAIL}
    groups |= {"Post-processor": PROGRAM, "Post-processor, older": OLDER_PROGRAM}
    tagged = [(each.section, *row) for each in (*BODY.values(), STEP) for row in each.records.items()]
    plain = [(section, "", group) for section, group in groups.items()]
    return [
        (section, str(tag), each.label, *row)
        for section, tag, each in (*tagged, *plain)
        for row in each.specification()
    ]


# The codec: this module is one entry of the pipeline's table of formats.

name = ".mtok"
suffixes: tuple[str, ...] = (".mtok",)
Source = bytes | str | os.PathLike[str]


def recognises(data: bytes) -> bool:
    """Whether the bytes begin with the magic number and are of no older type."""
    return header.recognises(data) and data[4:5] not in b"0123"


def read(source: Source, *, folder: Path | None = None) -> Tokenizer:
    """Return the tokenizer in a `.mtok` file.

    Args:
        source: the file's bytes, or its path.
        folder: of no use here; the file holds all that belongs to it.

    Raises:
        MtokError: with section, offset, what was expected and what was found.
    """
    from tokenlab.formats.mtok_meaning import read_bytes

    return read_bytes(_bytes(source))


def write(tokenizer: Tokenizer, path: str | os.PathLike[str] | None = None, *, strict: bool = False) -> bytes:
    """Return a tokenizer as the bytes of a `.mtok` file, and write them where a path is given.

    Args:
        tokenizer: any tokenizer of the pipeline; one read from such a file and not changed gives that back.
        path: where to; the file is written as a whole or not at all.
        strict: whether a loss of answers is an error.

    Raises:
        LostAnswersError: under `strict`, where some text's IDs or the text of some IDs would differ.
        MtokError: for a value that the format cannot hold.

    Warns:
        LostAnswersWarning, LostExtrasWarning: for each thing that the format has no place for.
    """
    from tokenlab.formats.mtok_conversion import write_bytes

    data = write_bytes(tokenizer, strict=strict)
    if path is not None:
        write_whole(path, data)
    return data


def plain_form(tokenizer: Tokenizer) -> MtokFile | None:
    """Return what this format says of a tokenizer, None where that would be less than its answers."""
    from tokenlab.formats.mtok_conversion import plain_file

    return plain_file(tokenizer)


def explain(source: Source) -> list[Field]:
    """Account for every byte of a file, given as bytes or as a path: each is in one named field, in order."""
    return explain_file(_bytes(source))


def _bytes(source: Source) -> bytes:
    return bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else Path(source).read_bytes()
