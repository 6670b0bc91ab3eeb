"""The binary `.mtok` container: read, written and explained by one declared layout (chapter 07).

After the `.mtok` document of MNN's LLM tokenizer, and what its programs have beyond it: the Strip normalizer
(tag 8) and the post-processor program at the end. This module knows the file; `mtok_meaning` knows what a
file means as a pipeline, and `mtok_conversion` how to say a pipeline in it.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter, lt
from pathlib import Path
from typing import Any

from tokenlab.errors import MtokError
from tokenlab.files import write_whole
from tokenlab.formats import header, layout
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
    Part,
    Record,
    Rows,
    Tagged,
    Text,
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
NORM_TABLE = Record(
    (
        Part("count", Count("entries"), "rows of the table"),
        Part(
            "entries",
            Rows(
                (
                    Part("code_point", Number("u32", highest=0x10FFFF), "the character"),
                    Part("form", STR, "what it becomes"),
                ),
                _ascending(itemgetter(0), "code point"),
            ),
            "one code point at a time",
        ),
    )
)
BERT_FLAGS = tuple(
    Part(name, FLAG, meaning)
    for name, meaning in (
        ("clean_text", "drop control characters"),
        ("handle_chinese_chars", "put spaces around CJK characters"),
        ("strip_accents", "decompose, then drop the marks"),
        ("lowercase", "lower case"),
    )
)


def _sequence(name: str, tagged: Callable[[], Tagged]) -> Record:
    return Record((Part("count", Count(name), "how many follow"), Part(name, Items(tagged), "in this order")))


NORMALIZER: Tagged = Tagged(
    "Normalizer",
    {
        0: ("none", Record()),
        1: ("NFKC without a table", Record()),
        2: ("Prepend", Record((Part("prepend", STR, "put before the text"),))),
        3: (
            "Replace",
            Record((Part("pattern", STR, "a literal string"), Part("content", STR, "what takes its place"))),
        ),
        4: ("Sequence", _sequence("normalizers", lambda: NORMALIZER)),
        5: ("BertNormalizer", Record(BERT_FLAGS)),
        6: ("NFKC with a table", Record((Part("table", NORM_TABLE, "the forms that differ"),))),
        7: (
            "BertNormalizer with an NFD table",
            Record((*BERT_FLAGS, Part("table", NORM_TABLE, "the forms that differ", when="strip_accents"))),
        ),
        8: ("Strip", Record((Part("left", FLAG, "strip the start"), Part("right", FLAG, "strip the end")))),
    },
)
REPLACEMENT = (
    Part("replacement", STR, "stands for a space"),
    Part("add_prefix_space", FLAG, "a space is put before the text"),
)
PRE_TOKENIZER: Tagged = Tagged(
    "PreTokenizer",
    {
        0: ("none", Record()),
        1: ("ByteLevel", Record((Part("use_regex", FLAG, "split as GPT-2 does"),))),
        2: ("Digits", Record((Part("individual_digits", FLAG, "each digit by itself"),))),
        3: ("Metaspace", Record(REPLACEMENT)),
        4: (
            "Split",
            Record(
                (
                    Part("pattern", STR, "a regular expression"),
                    Part("invert", FLAG, "the matches are what is kept"),
                    Part("behavior", Number("u8", highest=2), "0 Isolated, 1 Removed, 2 MergedWithPrevious"),
                )
            ),
        ),
        5: ("BertPreTokenizer", Record()),
        6: ("Sequence", _sequence("pretokenizers", lambda: PRE_TOKENIZER)),
    },
)
TOKEN, TOKEN_ID = Part("token", STR, "the token's text"), Part("id", U32, "the token's ID")
VOCABULARY_SIZE = Part("vocab_size", Count("vocabulary"), "rows of the vocabulary")
BY_TOKEN = _ascending(itemgetter(0), "the bytes of the token")
MODEL = Tagged(
    "Model",
    {
        0: (
            "BPE",
            Record(
                (
                    VOCABULARY_SIZE,
                    Part("byte_fallback", FLAG, "unknown characters become their bytes"),
                    Part("byte_level", FLAG, "the model itself maps bytes to the byte alphabet"),
                    Part("merge_count", Count("merges"), "rows of the merge table"),
                    Part(
                        "vocabulary",
                        Rows((TOKEN, TOKEN_ID), BY_TOKEN),
                        "sorted, so that it is searched by halves",
                    ),
                    Part(
                        "merges",
                        Rows(
                            (
                                Part("left_id", U32, "the left operand"),
                                Part("right_id", U32, "the right operand"),
                                Part("rank", U32, "its priority: lower is earlier"),
                            ),
                            _ascending(itemgetter(0, 1), "(left ID, right ID)"),
                        ),
                        "sorted, so that it is searched by halves",
                    ),
                )
            ),
        ),
        1: (
            "WordPiece",
            Record(
                (
                    VOCABULARY_SIZE,
                    Part("unk_token", STR, "stands for a word that has no pieces"),
                    Part("continuing_subword_prefix", STR, "before pieces inside a word"),
                    Part("max_input_chars_per_word", U32, "longer words are unknown"),
                    Part(
                        "vocabulary",
                        Rows((TOKEN, TOKEN_ID), BY_TOKEN),
                        "sorted, so that it is searched by halves",
                    ),
                )
            ),
        ),
        2: (
            "Unigram",
            Record(
                (
                    VOCABULARY_SIZE,
                    Part("unk_id", U32, "the ID of the unknown token"),
                    Part("byte_fallback", FLAG, "unknown characters become their bytes"),
                    Part(
                        "vocabulary",
                        Rows((TOKEN, TOKEN_ID, Part("score", F64, "its log-probability")), BY_TOKEN),
                        "sorted, so that it is searched by halves",
                    ),
                )
            ),
        ),
    },
)
DECODER: Tagged = Tagged(
    "Decoder",
    {
        0: ("ByteLevel", Record()),
        1: ("ByteFallback", Record()),
        2: ("Metaspace", Record(REPLACEMENT)),
        3: (
            "WordPiece",
            Record((Part("prefix", STR, "joined to the piece before"), Part("cleanup", FLAG, "tidy spaces"))),
        ),
        4: ("Fuse", Record()),
        5: (
            "Replace",
            Record((Part("pattern", STR, "a literal string"), Part("content", STR, "what takes its place"))),
        ),
        6: (
            "Strip",
            Record(
                (
                    Part("content", STR, "the character that is stripped"),
                    Part("start", U32, "how many at the start"),
                    Part("stop", U32, "how many at the end"),
                )
            ),
        ),
        7: ("Sequence", _sequence("decoders", lambda: DECODER)),
    },
)
ADDED_TOKENS = Record(
    (
        Part("count", Count("tokens"), "rows of added tokens"),
        Part(
            "tokens",
            Rows(
                (
                    TOKEN_ID,
                    Part("special", FLAG, "a control token"),
                    Part("lstrip", FLAG, "takes white space before it in"),
                    Part("rstrip", FLAG, "takes white space after it in"),
                    Part("content", STR, "the text that is matched"),
                )
            ),
            "matched before anything else",
        ),
    )
)
# The optional tail: a file may end after any of these groups.
CHAT = Record((Part("chat_template", Text(U32), "Jinja2"), Part("eos_token", STR, "the text of EOS")))
FLAGS = Record((Part("flags", FLAG, "bit 0: tidy spaces after decoding"),))
BOS = Record((Part("bos_token", STR, "the text of BOS"),))
STEP = Tagged(
    "Step",
    {
        0: ("sequence A", Record()),
        1: ("special token", Record((Part("id", U32, "the ID that is put here"),))),
    },
)
PROGRAM = Record(
    (
        Part("count", Count("steps", U16), "steps of the program"),
        Part("steps", Items(lambda: STEP), "what an encoding is made of"),
    )
)
OLDER_PROGRAM = Record(
    (
        Part("count", Count("ids", U16), "IDs after the text"),
        Part("ids", Rows((TOKEN_ID,)), "put after the text"),
    )
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


BODY = (("normalizer", NORMALIZER), ("pre_tokenizer", PRE_TOKENIZER), ("model", MODEL), ("decoder", DECODER))


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
    for name, tagged in BODY:
        enter(tagged.section)
        body[name] = tagged.read(cursor, name, "", {})
    enter("Added tokens")
    added = tuple(ADDED_TOKENS.read(cursor)["tokens"])
    tail: dict[str, Any] = {}
    for section, record in (("Chat template", CHAT), ("Flags", FLAGS), ("BOS token", BOS)):
        if not cursor.left:
            break
        enter(section)
        tail |= record.read(cursor)
    if cursor.left:
        enter("Post-processor")
        tail |= _read_program(cursor)
    return MtokFile(header, **body, added_tokens=added, **tail)


def _read_program(cursor: Cursor) -> dict[str, Any]:
    """The last group: a program where it parses as one to the end of the file, else the older list."""
    attempt = Cursor(cursor.data, cursor.offset)
    attempt.sections = list(cursor.sections)
    try:
        PROGRAM.read(attempt)
        fault = None if not attempt.left else "trailing bytes"
    except MtokError as error:
        fault = str(error)
    if fault is None:
        return {"steps": PROGRAM.read(cursor)["steps"]}
    older = U16.read(Cursor(cursor.data, cursor.offset), "count", "", {}) if cursor.left >= 2 else 0
    if cursor.left != 2 + 4 * older:
        PROGRAM.read(cursor)
        cursor.fail("end", "the end of the file", f"{cursor.left} more bytes")
    return {"appended": tuple(row[0] for row in OLDER_PROGRAM.read(cursor)["ids"])}


def write_file(file: MtokFile) -> bytes:
    """Give the bytes of a file.

    Raises:
        MtokError: where a value has no place in the format.
    """
    out = bytearray()
    write_header(out, file.header)
    for name, tagged in BODY:
        tagged.write(out, getattr(file, name), tagged.section)
    ADDED_TOKENS.write(out, {"tokens": file.added_tokens}, "Added tokens")
    tail = {part.name: getattr(file, part.name) for record in (CHAT, FLAGS, BOS) for part in record.parts}
    for section, record in (("Chat template", CHAT), ("Flags", FLAGS), ("BOS token", BOS)):
        if any(tail[part.name] is None for part in record.parts):
            return bytes(out)
        record.write(out, tail, section)
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
    rows: list[tuple[str, str, str, str, str, str]] = []
    for tagged in (NORMALIZER, PRE_TOKENIZER, MODEL, DECODER, STEP):
        rows += [(tagged.section, str(row[0]), *row[1:]) for row in layout.specification(tagged)]
    plain = (("Added tokens", ADDED_TOKENS), ("Chat template", CHAT), ("Flags", FLAGS), ("BOS token", BOS))
    for section, record in (*plain, ("Post-processor", PROGRAM), ("Post-processor, older", OLDER_PROGRAM)):
        rows += [(section, "", "", part.name, part.codec.spelt(), part.meaning) for part in record.parts]
    return rows


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
