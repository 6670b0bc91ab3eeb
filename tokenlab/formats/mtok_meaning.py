"""What a `.mtok` file means: its records as components of the pipeline (chapter 07).

After the `.mtok` document. What the pipeline lacks is small: a table that maps one code point at a time.
"""

from __future__ import annotations

import unicodedata
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, NoReturn

from tokenlab.bpe.merging import SortedMergeTable
from tokenlab.checks import set_fields
from tokenlab.errors import MtokError, MtokWarning, TokenLabError
from tokenlab.formats.layout import FLAG, Count, Entry, Items, Part
from tokenlab.formats.meaning import collector_paused, literal_of, post_processor_of
from tokenlab.formats.mtok import BEHAVIORS, BODY, MODEL, MtokFile, explain_file, read_file, write_file
from tokenlab.pipeline import decoders, models, normalizers, pre_tokenizers
from tokenlab.pipeline.added_tokens import AddedToken, hidden_texts
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.text import AlignedText, CharacterTable, check_mapped_growth
from tokenlab.pipeline.tokenizer import Tokenizer

LARGE_TABLE = 50_000  # merges


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
    _longest: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        table = CharacterTable(str)
        table.update(self.entries)
        set_fields(self, _table=table, _longest=max((len(form) for _, form in self.entries), default=0))

    def __reduce__(self) -> tuple[Any, ...]:
        return NormTable, (self.entries,)

    def normalize(self, aligned: AlignedText) -> AlignedText:
        """Map each character by itself."""
        self._check_growth(aligned.text)
        return self._table.normalize(aligned)

    def rewrite(self, text: str) -> str:
        """Return the mapped text."""
        self._check_growth(text)
        return text.translate(self._table)

    def _check_growth(self, text: str) -> None:
        check_mapped_growth(text, len(text), self._table, self._longest)

    @classmethod
    def of_replacements(cls, part: Any) -> NormTable | None:
        """Return the table that `spelled_out` has turned into this sequence, None where it is another one."""
        steps: Sequence[Any] = part.normalizers if type(part) is normalizers.Sequence else ()
        if not all(isinstance(each, normalizers.Replace) and len(each.pattern.text) == 1 for each in steps):
            return None
        table = cls(tuple((ord(each.pattern.text), each.content) for each in steps))
        return table if steps and table.spelled_out() == part else None

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


def _bert(table: NormTable | None = None, **flags: bool) -> normalizers.Normalizer:
    clean, chinese, strip, lower = flags.values()
    if strip and table is not None and not _is_nfd(table.entries):
        before = normalizers.BertNormalizer(clean, chinese, False, False)
        marks = NormTable(table_of(without_marks))
        after = (normalizers.Lowercase(),) if lower else ()
        return normalizers.Sequence((before, table, marks, *after))
    # None says "as lowercase says", which is how nearly all files of the other format spell it.
    return normalizers.BertNormalizer(clean, chinese, None if strip == lower else strip, lower)


def _one_character(text: str) -> str:
    if len(text) != 1:
        raise TokenLabError(f"expected one character, found {text!r}")
    return text


class Way(NamedTuple):
    """How a part of a record and a field of a component say each other; None: the record cannot say it."""

    field: str
    read: Callable[[Any], Any] = lambda value: value
    write: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a record means.

    Args:
        component: the class of the component that it says.
        ways: by part, where the field has another name, or another form than a flag, a number or a text.
        make: what makes the component of its fields, where that is not the class.
    """

    component: type
    ways: Mapping[str, Way] = field(default_factory=dict)
    make: Callable[..., Any] | None = None

    def way(self, part: Part) -> Way:
        """Return how a part is said."""
        if part.name in self.ways:
            return self.ways[part.name]
        return Way(part.name, bool, int) if part.codec == FLAG else Way(part.name)


LITERAL = {"pattern": Way("pattern", Pattern, literal_of)}
SPLIT = {
    "pattern": Way("pattern", partial(Pattern, regex=True), attrgetter("text")),
    "behavior": Way("behavior", BEHAVIORS.__getitem__, BEHAVIORS.index),
}
METASPACE = {
    "replacement": Way("replacement", _one_character),
    "add_prefix_space": Way(
        "prepend_scheme", ("never", "always").__getitem__, lambda scheme: int(scheme != "never")
    ),
}
ROWS = Way("entries", lambda table: tuple(table["entries"]), lambda rows: {"entries": list(rows)})
NFD = Way("table", lambda table: NormTable(tuple(table["entries"])))
# kind -> tag -> meaning; a tag that is no key here says that there is no such component.
MEANINGS: dict[str, dict[int, Meaning]] = {
    "normalizer": {
        1: Meaning(normalizers.NFKC),
        2: Meaning(normalizers.Prepend),
        3: Meaning(normalizers.Replace, LITERAL),
        4: Meaning(normalizers.Sequence),
        5: Meaning(normalizers.BertNormalizer, make=_bert),
        6: Meaning(NormTable, {"table": ROWS}),
        7: Meaning(normalizers.BertNormalizer, {"table": NFD}, _bert),
        8: Meaning(
            normalizers.Strip,
            {"left": Way("strip_left", bool, int), "right": Way("strip_right", bool, int)},
        ),
    },
    "pre_tokenizer": {
        1: Meaning(pre_tokenizers.ByteLevel, make=partial(pre_tokenizers.ByteLevel, False)),
        2: Meaning(pre_tokenizers.Digits),
        3: Meaning(pre_tokenizers.Metaspace, METASPACE),
        4: Meaning(pre_tokenizers.Split, SPLIT),
        5: Meaning(pre_tokenizers.BertPreTokenizer),
        6: Meaning(pre_tokenizers.Sequence),
    },
    "decoder": {
        0: Meaning(decoders.ByteLevel),
        1: Meaning(decoders.ByteFallback),
        2: Meaning(decoders.Metaspace, METASPACE),
        3: Meaning(decoders.WordPiece),
        4: Meaning(decoders.Fuse),
        5: Meaning(decoders.Replace, LITERAL),
        6: Meaning(decoders.Strip, {"content": Way("content", _one_character)}),
        7: Meaning(decoders.Sequence),
    },
}


def component_of(kind: str, entry: Entry) -> Any:
    """Return the component that a record says, None where it says that there is none.

    >>> component_of("decoder", Entry(3, {"prefix": "##", "cleanup": 1}))
    WordPiece(prefix='##', cleanup=True)
    """
    meaning = MEANINGS[kind].get(entry.tag)
    if meaning is None:
        return None
    values = {}
    for part in BODY[kind].records[entry.tag].parts:
        if part.name in entry.values:
            field, read, _ = meaning.way(part)
            value = entry.values[part.name]
            if isinstance(part.codec, Items):
                inner = (component_of(kind, each) for each in value)
                value = tuple(each for each in inner if each is not None)
            values[field] = read(value)
    return (meaning.make or meaning.component)(**values)


def entry_of(kind: str, component: Any, inner: Callable[[Any, Any], Entry]) -> Entry | None:
    """Return the record that says a component, or None where none does.

    Args:
        kind: a key of MEANINGS.
        component: the component, None where there is none.
        inner: gives the record of one step of a sequence; the steps after it are its second argument.
    """
    if component is None:
        return Entry(0, {})
    for tag, meaning in MEANINGS[kind].items():
        if type(component) is meaning.component:
            values = {}
            for part in BODY[kind].records[tag].parts:
                if isinstance(part.codec, Count):
                    continue
                way = meaning.way(part)
                value = getattr(component, way.field)
                if isinstance(part.codec, Items):
                    value = tuple(inner(each, value[i:]) for i, each in enumerate(value, 1))
                values[part.name] = way.write(value)
            return None if None in values.values() else Entry(tag, values)
    return None


def _refuse(file: MtokFile, place: str, expected: str, found: str, number: int = 0) -> NoReturn:
    """Say what is wrong; `number` counts the fields whose path begins with the place."""
    fields = [
        field
        for field in explain_file(write_file(file))
        if f"{field.section} / {field.name}".startswith(place)
    ]
    offset = fields[number].offset if number < len(fields) else 0
    raise MtokError(section=place, offset=offset, expected=expected, found=found)


def _check_each(
    file: MtokFile, rows: str, name: str, values: Sequence[int], expected: str, limit: int = 1 << 32
) -> None:
    """Refuse the first of the values, one in each row, that is not below a limit or stands there again."""
    if len(set(values)) == len(values) and max(values, default=-1) < limit:
        return
    seen: set[int] = set()
    for index, value in enumerate(values):
        if value in seen or value >= limit:
            found = f"{value}, a second time" if value in seen else str(value)
            _refuse(file, f"{rows} [{index}] / {name}", expected, found)
        seen.add(value)


def _model(file: MtokFile) -> models.Model:
    label, values = MODEL.records[file.model.tag].label, file.model.values
    place, rows = f"Model / {label}", values["vocabulary"]
    ids = list(map(itemgetter(1), rows))
    _check_each(file, f"{place} / vocabulary", "id", ids, f"IDs below {len(ids)}, each once", len(ids))
    if label == "Unigram":
        if values["unk_id"] >= len(rows):
            _refuse(file, f"{place} / unk_id", f"an ID below {len(rows)}", str(values["unk_id"]))
        scores = tuple((token, score) for token, _, score in sorted(rows, key=itemgetter(1)))
        return models.Unigram(values["unk_id"], scores, bool(values["byte_fallback"]))
    vocabulary = dict(rows)
    if label == "WordPiece":
        return models.WordPiece(**{k: v for k, v in values.items() if k != "vocabulary"}, vocab=vocabulary)
    return _bpe(file, place, vocabulary, dict(zip(ids, vocabulary, strict=True)))


def _bpe(file: MtokFile, place: str, vocabulary: dict[str, int], names: dict[int, str]) -> models.BPE:
    merges, place = file.model.values["merges"], f"{place} / merges"
    third = "two tokens that make a third"

    def join(pair: tuple[int, int]) -> int:
        left, right = names[pair[0]], names[pair[1]]
        merged = vocabulary.get(left + right)
        if merged is None:
            raise MtokError(section=place, offset=0, expected=third, found=f"{left!r} + {right!r}")
        return merged

    _check_each(file, place, "rank", list(map(itemgetter(2), merges)), "each rank once")
    highest = max(max(map(itemgetter(side), merges), default=0) for side in (0, 1))
    if len(merges) < LARGE_TABLE or highest >= len(names):
        for index, (left, right, _) in enumerate(merges):
            row = f"{place} [{index}]"
            for side, token_id in (("left_id", left), ("right_id", right)):
                if token_id not in names:
                    _refuse(file, f"{row} / {side}", f"an ID below {len(names)}", str(token_id))
            if names[left] + names[right] not in vocabulary:
                _refuse(file, row, third, f"{names[left]!r} + {names[right]!r}")
    # That each join is a token is seen, in a large table, only where a pair is merged: looking takes long.
    table, fallback = SortedMergeTable(merges, join), bool(file.model.values["byte_fallback"])
    return models.BPE.from_table(vocabulary, names, table, byte_fallback=fallback)


def overlap(first: Iterable[str], second: Iterable[str]) -> bool:
    """Whether some text of one list and some text of the other can lie over each other."""
    one, other = set(first), set(second)
    return _runs_into(one, other) or _runs_into(other, one)


def _runs_into(texts: Iterable[str], others: Iterable[str]) -> bool:
    """Whether one of the others can begin at some place of a text."""
    shortest: list[str] = []  # sorted, without those that begin like another one, which would meet the same
    for other in sorted(filter(None, others)):
        if not (shortest and other.startswith(shortest[-1])):
            shortest.append(other)
    first_characters = {other[0] for other in shortest}
    for text in texts:
        for place, character in enumerate(text):
            if character in first_characters:
                rest = text[place:]
                here = bisect_left(shortest, rest)
                neighbours = shortest[max(0, here - 1) : here + 1]
                if any(rest.startswith(other) or other.startswith(rest) for other in neighbours):
                    return True
    return False


def _added_tokens(file: MtokFile, model: models.Model) -> dict[str, Any]:
    ids = [row[0] for row in file.added_tokens]
    _check_each(file, "Added tokens / tokens", "id", ids, "each ID once")
    tokens = {
        token_id: AddedToken(
            token_id, content, lstrip=bool(left), rstrip=bool(right), normalized=False, special=bool(special)
        )
        for token_id, special, left, right, content in file.added_tokens
    }
    names = {**model.tokens_by_id, **{token_id: token.content for token_id, token in tokens.items()}}
    for name in ("special", "stop"):
        for number, token_id in enumerate(getattr(file.header, name)):
            if token_id not in names:
                _refuse(file, f"Header / {name} ID", "the ID of a token", str(token_id), number)
    # The header's tokens are cut out as they are, before anything could strip white space beside them.
    control = {i: AddedToken(i, names[i], normalized=False, special=True) for i in file.header.special}
    texts = [token.content for token in control.values()]
    others = [token.content for token_id, token in tokens.items() if token_id not in control]
    # Where neither the order nor the place in front can be seen, these are added tokens like any other.
    matters = bool(hidden_texts(texts)) or overlap(texts, others)
    added = tuple((tokens | control).values())
    return {"added_tokens": added, "control_ids": tuple(control) if matters else ()}


def to_tokenizer(file: MtokFile, origin: bytes | None = None) -> Tokenizer:
    """Return the tokenizer that a file describes.

    Args:
        file: what `mtok.read_file` gives.
        origin: its bytes, if it is to be written back as it was.

    Raises:
        MtokError: parts that contradict each other: dangling or repeated IDs, patterns that do not compile.
    """
    section, program = "Model", _program(file)
    try:
        model = _model(file)
        parts: dict[str, Any] = {}
        for kind in MEANINGS:
            section = BODY[kind].section
            parts[kind] = component_of(kind, getattr(file, kind))
        if file.model.values.get("byte_level"):
            as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
            before = parts["pre_tokenizer"]
            parts["pre_tokenizer"] = pre_tokenizers.Sequence((before, as_bytes)) if before else as_bytes
        section = "Added tokens"
        parts |= _added_tokens(file, model)
        tokenizer = Tokenizer(
            model,
            **parts,
            post_processor=post_processor_of(program, model, parts["added_tokens"]),
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
    except TokenLabError as error:
        _refuse(file, section, "parts that fit each other", str(error))
    doubled = next((step for step in program if step in file.header.prefix), None)
    if doubled is not None:
        warning = MtokWarning(f"ID {doubled} is put in twice: by the header and by the program")
        warnings.warn(warning, stacklevel=3)
    return tokenizer


def _program(file: MtokFile) -> list[int | None]:
    if file.appended is not None:
        return [None, *file.appended]
    return [step.values["id"] if step.tag else None for step in file.steps or ()]


def read_bytes(data: bytes) -> Tokenizer:
    """Return the tokenizer in the bytes of a `.mtok` file."""
    with collector_paused(len(data)):
        return to_tokenizer(read_file(data), data)
