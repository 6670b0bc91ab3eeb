"""What a `.mtok` file means: its records as components of the pipeline (chapter 07).

After the `.mtok` document. What the pipeline lacks is small: a table that maps one code point at a time.
"""

from __future__ import annotations

import gc
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, NoReturn

from tokenlab.bpe.merging import SortedMergeTable
from tokenlab.errors import MtokError, MtokWarning, TokenLabError
from tokenlab.formats.layout import Entry
from tokenlab.formats.meaning import post_processor_of
from tokenlab.formats.mtok import BODY, MODEL, MtokFile, explain_file, read_file, write_file
from tokenlab.pipeline import decoders, models, normalizers, pre_tokenizers
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.text import AlignedText, CharacterTable
from tokenlab.pipeline.tokenizer import Tokenizer

BEHAVIORS = ("Isolated", "Removed", "MergedWithPrevious")
LARGE_TABLE = 50_000  # merges
LARGE_FILE = 1 << 20  # bytes: from here on, pausing the garbage collector pays


@dataclass(frozen=True, slots=True)
class NormTable(normalizers.Normalizer):
    """A table that maps one code point at a time: no form that composes fits into one.

    Args:
        entries: (code point, what it becomes), ascending.

    >>> table = NormTable(((0xE4, "ae"), (0xFB01, "fi")))
    >>> table("ﬁä"), table.normalize(AlignedText.of("ﬁä")).span(0, 2)
    ('fiae', (0, 1))
    """

    entries: tuple[tuple[int, str], ...] = field(repr=False)
    _table: CharacterTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        table = CharacterTable(str)
        table.update(self.entries)
        object.__setattr__(self, "_table", table)

    def __reduce__(self) -> tuple[Any, ...]:
        return NormTable, (self.entries,)

    def normalize(self, aligned: AlignedText) -> AlignedText:
        """Map each character by itself."""
        return self._table.normalize(aligned)

    def __call__(self, text: str) -> str:
        """Return the mapped text."""
        return text.translate(self._table)

    def spelled_out(self) -> normalizers.Sequence | None:
        """Return the same as Replace components, or None where one row's outcome would be another's input."""
        keys = {chr(code_point) for code_point, _ in self.entries}
        if any(keys.intersection(form) for _, form in self.entries):
            return None
        return normalizers.Sequence(
            tuple(normalizers.Replace(Pattern(chr(code_point)), form) for code_point, form in self.entries)
        )


@lru_cache(maxsize=8)
def table_of(form: Callable[[str], str]) -> tuple[tuple[int, str], ...]:
    """Return the rows of a table for a map of single characters: those that become something else."""
    characters = (chr(code_point) for code_point in range(0x110000) if not 0xD800 <= code_point < 0xE000)
    return tuple((ord(character), new) for character in characters if (new := form(character)) != character)


NORMAL_FORMS = {form: partial(unicodedata.normalize, form) for form in ("NFC", "NFD", "NFKC", "NFKD")}
ROWS_OF_NFD = 13232  # in Unicode 14; later versions add to them, and change none


def _is_nfd(entries: Iterable[tuple[int, str]]) -> bool:
    """Whether a table is NFD's, of this Python's Unicode version or of another one."""
    known = [(chr(key), form) for key, form in entries if unicodedata.category(chr(key)) != "Cn"]
    return len(known) >= ROWS_OF_NFD and all(unicodedata.normalize("NFD", old) == new for old, new in known)


def without_marks(character: str) -> str:
    """Map a nonspacing mark to nothing, as BERT does after decomposing."""
    return "" if unicodedata.category(character) == "Mn" else character


class _FaultError(Exception):
    """What is wrong, and in which field of the file: its offset is looked up where the bytes are at hand."""

    def __init__(self, place: str, expected: str, found: str, number: int = 0) -> None:
        super().__init__(place, expected, found, number)


def _bert(table: Mapping[str, Any] | None = None, **flags: int) -> normalizers.Normalizer:
    clean, chinese, strip, lower = (bool(flag) for flag in flags.values())
    if strip and table is not None and not _is_nfd(table["entries"]):
        before = normalizers.BertNormalizer(clean, chinese, False, False)
        marks = NormTable(table_of(without_marks))
        after = (normalizers.Lowercase(),) if lower else ()
        return normalizers.Sequence((before, NormTable(tuple(table["entries"])), marks, *after))
    # None says "as lowercase says", which is how nearly all files of the other format spell it.
    return normalizers.BertNormalizer(clean, chinese, None if strip == lower else strip, lower)


def _one_character(text: str) -> str:
    if len(text) != 1:
        raise TokenLabError(f"expected one character, found {text!r}")
    return text


def _metaspace(kind: Any, replacement: str, add_prefix_space: int) -> Any:
    return kind(_one_character(replacement), "always" if add_prefix_space else "never")


def _sequence(kind: str, component: Any, **parts: tuple[Entry, ...]) -> Any:
    (entries,) = parts.values()
    return component(tuple(part for part in map(partial(_component, kind), entries) if part is not None))


COMPONENTS: dict[str, dict[int, Callable[..., Any]]] = {
    "normalizer": {
        0: lambda: None,
        1: normalizers.NFKC,
        2: normalizers.Prepend,
        3: lambda pattern, content: normalizers.Replace(Pattern(pattern), content),
        4: partial(_sequence, "normalizer", normalizers.Sequence),
        5: _bert,
        6: lambda table: NormTable(tuple(table["entries"])),
        7: _bert,
        8: lambda left, right: normalizers.Strip(bool(left), bool(right)),
    },
    "pre_tokenizer": {
        0: lambda: None,
        1: lambda use_regex: pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=bool(use_regex)),
        2: lambda individual_digits: pre_tokenizers.Digits(bool(individual_digits)),
        3: partial(_metaspace, pre_tokenizers.Metaspace),
        4: lambda pattern, invert, behavior: pre_tokenizers.Split(
            Pattern(pattern, regex=True), BEHAVIORS[behavior], bool(invert)
        ),
        5: pre_tokenizers.BertPreTokenizer,
        6: partial(_sequence, "pre_tokenizer", pre_tokenizers.Sequence),
    },
    "decoder": {
        0: decoders.ByteLevel,
        1: decoders.ByteFallback,
        2: partial(_metaspace, decoders.Metaspace),
        3: lambda prefix, cleanup: decoders.WordPiece(prefix, bool(cleanup)),
        4: decoders.Fuse,
        5: lambda pattern, content: decoders.Replace(Pattern(pattern), content),
        6: lambda content, start, stop: decoders.Strip(_one_character(content), start, stop),
        7: partial(_sequence, "decoder", decoders.Sequence),
    },
}


def _component(kind: str, entry: Entry) -> Any:
    return COMPONENTS[kind][entry.tag](**entry.values)


def _model(entry: Entry) -> models.Model:
    label, values = MODEL.records[entry.tag][0], entry.values
    place = f"Model / {label}"
    rows = values["vocabulary"]
    ids = list(map(itemgetter(1), rows))
    if len(set(ids)) < len(ids) or max(ids, default=0) >= max(len(ids), 1):
        seen: set[int] = set()
        for index, token_id in enumerate(ids):
            if token_id in seen or token_id >= len(ids):
                found = f"{token_id}, a second time" if token_id in seen else str(token_id)
                raise _FaultError(
                    f"{place} / vocabulary [{index}] / id", f"IDs below {len(ids)}, each once", found
                )
            seen.add(token_id)
    if label == "Unigram":
        if values["unk_id"] >= len(rows):
            raise _FaultError(f"{place} / unk_id", f"an ID below {len(rows)}", str(values["unk_id"]))
        scores = tuple((token, score) for token, _, score in sorted(rows, key=itemgetter(1)))
        return models.Unigram(values["unk_id"], scores, bool(values["byte_fallback"]))
    vocabulary = dict(rows)
    if label == "WordPiece":
        names = ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word")
        return models.WordPiece(**{name: values[name] for name in names}, vocab=vocabulary)
    return _bpe(place, vocabulary, dict(zip(ids, vocabulary, strict=True)), values)


def _bpe(
    place: str, vocabulary: dict[str, int], names: dict[int, str], values: Mapping[str, Any]
) -> models.BPE:
    merges = values["merges"]

    def join(pair: tuple[int, int]) -> int:
        merged = vocabulary.get(names[pair[0]] + names[pair[1]])
        if merged is None:
            found = f"{names[pair[0]]!r} + {names[pair[1]]!r}"
            raise MtokError(
                section=f"{place} / merges", offset=0, expected="two tokens that make a third", found=found
            )
        return merged

    ranks = set(map(itemgetter(2), merges))
    highest = max(max(map(itemgetter(side), merges), default=0) for side in (0, 1))
    if len(merges) < LARGE_TABLE or highest >= len(names) or len(ranks) < len(merges):
        seen: set[int] = set()
        for index, (left, right, rank) in enumerate(merges):
            for side, token_id in (("left_id", left), ("right_id", right)):
                if token_id not in names:
                    where = f"{place} / merges [{index}] / {side}"
                    raise _FaultError(where, f"an ID below {len(names)}", str(token_id))
            if names[left] + names[right] not in vocabulary:
                found = f"{names[left]!r} + {names[right]!r}"
                raise _FaultError(f"{place} / merges [{index}]", "two tokens that make a third", found)
            if rank in seen:
                where = f"{place} / merges [{index}] / rank"
                raise _FaultError(where, "each rank once", f"{rank}, a second time")
            seen.add(rank)
    # That each join is a token is seen, in a large table, only where a pair is merged: looking takes long.
    table = SortedMergeTable(merges, join)
    return models.BPE.from_table(vocabulary, names, table, byte_fallback=bool(values["byte_fallback"]))


def overlap(first: Iterable[str], second: Iterable[str]) -> bool:
    """Whether some text of one list and some text of the other can lie over each other."""
    one, other = set(first), set(second)
    starts = [
        {text[:length] for text in texts for length in range(1, len(text) + 1)} for texts in (one, other)
    ]

    def runs_into(texts: set[str], starts: set[str], whole: set[str]) -> bool:
        longest = max(map(len, whole), default=0)
        return any(
            text[place:] in starts
            or any(text[place : place + size] in whole for size in range(1, longest + 1))
            for text in texts
            for place in range(len(text))
        )

    return runs_into(one, starts[1], other) or runs_into(other, starts[0], one)


def is_hidden(listed: Iterable[str]) -> bool:
    """Whether one of the texts begins like another that is listed before it."""
    seen: set[str] = set()
    for text in listed:
        if any(text[:length] in seen for length in range(1, len(text))):
            return True
        seen.add(text)
    return False


def _added_tokens(file: MtokFile, model: models.Model) -> dict[str, Any]:
    tokens: dict[int, AddedToken] = {}
    for index, (token_id, special, left, right, content) in enumerate(file.added_tokens):
        if token_id in tokens:
            raise _FaultError(
                f"Added tokens / tokens [{index}] / id", "each ID once", f"{token_id}, a second time"
            )
        flags = {"lstrip": bool(left), "rstrip": bool(right), "special": bool(special), "normalized": False}
        tokens[token_id] = AddedToken(token_id, content, **flags)
    control = tuple(dict.fromkeys(file.header.special))
    for place, token_id in enumerate(file.header.special):
        text = model.tokens_by_id.get(token_id) if token_id not in tokens else tokens[token_id].content
        if text is None:
            raise _FaultError("Header / special ID", "the ID of a token", str(token_id), place)
        # The header's tokens are cut out as they are, before anything could strip white space beside them.
        tokens[token_id] = AddedToken(token_id, text, normalized=False, special=True)
    for place, token_id in enumerate(file.header.stop):
        if token_id not in tokens and token_id not in model.tokens_by_id:
            raise _FaultError("Header / stop ID", "the ID of a token", str(token_id), place)
    texts = [tokens[token_id].content for token_id in control]
    others = [token.content for token_id, token in tokens.items() if token_id not in set(control)]
    # Where neither the order nor the place in front can be seen, these are added tokens like any other.
    matters = is_hidden(texts) or overlap(texts, others)
    return {"added_tokens": tuple(tokens.values()), "control_ids": control if matters else ()}


def to_tokenizer(file: MtokFile, origin: bytes | None = None) -> Tokenizer:
    """Return the tokenizer that a file describes.

    Args:
        file: what `mtok.read_file` gives.
        origin: its bytes, if it is to be written back as it was.

    Raises:
        MtokError: parts that contradict each other: dangling or repeated IDs, patterns that do not compile.
    """
    section = "Model"
    try:
        model = _model(file.model)
        parts: dict[str, Any] = {}
        for kind, tagged in BODY:
            if kind in COMPONENTS:
                section = tagged.section
                parts[kind] = _component(kind, getattr(file, kind))
        if file.model.tag == 0 and file.model.values["byte_level"]:
            as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
            before = parts["pre_tokenizer"]
            parts["pre_tokenizer"] = pre_tokenizers.Sequence((before, as_bytes)) if before else as_bytes
        section = "Added tokens"
        parts |= _added_tokens(file, model)
        added = {token.id: token.content for token in parts["added_tokens"]}
        names = {**model.tokens_by_id, **added} if file.steps or file.appended else {}
        parts["post_processor"] = post_processor_of(_program(file), lambda token_id: names.get(token_id, ""))
        tokenizer = Tokenizer(
            model,
            **parts,
            chat_template=file.chat_template or None,
            bos_token=file.bos_token or None,
            eos_token=file.eos_token or None,
            stop_ids=file.header.stop,
            prefix_ids=file.header.prefix,
            clean_up_tokenization_spaces=bool(file.flags),
            origin=origin,
        )
    except MtokError:
        raise
    except _FaultError as fault:
        place, expected, found, number = fault.args
        _refuse(file, place, expected, found, number)
    except TokenLabError as error:
        _refuse(file, section, "parts that fit each other", str(error))
    doubled = next((step for step in _program(file) if step in file.header.prefix and step is not None), None)
    if doubled is not None:
        warnings.warn(
            MtokWarning(f"ID {doubled} is put in twice: by the header and by the program"), stacklevel=3
        )
    return tokenizer


def _program(file: MtokFile) -> list[int | None]:
    if file.appended is not None:
        return [None, *file.appended]
    return [step.values["id"] if step.tag else None for step in file.steps or ()]


def _refuse(file: MtokFile, place: str, expected: str, found: str, number: int = 0) -> NoReturn:
    fields = [
        field
        for field in explain_file(write_file(file))
        if f"{field.section} / {field.name}".startswith(place)
    ]
    offset = fields[number].offset if number < len(fields) else 0
    raise MtokError(section=place, offset=offset, expected=expected, found=found)


@contextmanager
def _collector_paused(size: int) -> Iterator[None]:
    """Millions of new tuples, none of them garbage, would be walked over and over."""
    pause = size >= LARGE_FILE and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()


def read_bytes(data: bytes) -> Tokenizer:
    """Return the tokenizer in the bytes of a `.mtok` file."""
    with _collector_paused(len(data)):
        return to_tokenizer(read_file(data), data)
