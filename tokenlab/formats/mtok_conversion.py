"""Saying a tokenizer in the records of a `.mtok` file, by meaning and not by name (chapter 07).

First asked is whether another record says the same thing; what then remains is a loss, named with its
component and with a text that shows it. Facts are those of the `.mtok` document.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, dropwhile
from typing import Any

from tokenlab import errors
from tokenlab.formats import meaning
from tokenlab.formats.header import Header, recognises
from tokenlab.formats.layout import Entry
from tokenlab.formats.mtok import BEHAVIORS, MTOK_TYPE, MtokFile, read_file, write_file
from tokenlab.formats.mtok_meaning import (
    NORMAL_FORMS,
    NormTable,
    entry_of,
    overlap,
    table_of,
    to_tokenizer,
)
from tokenlab.pipeline import decoders, models, normalizers, post_processors, pre_tokenizers
from tokenlab.pipeline.added_tokens import hidden_texts
from tokenlab.pipeline.byte_alphabet import BYTE_TOKENS, from_byte_alphabet, to_byte_alphabet
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.pre_tokenizers import RUST_WORDS
from tokenlab.pipeline.tokenizer import Tokenizer

PUNCTUATION = r"[\p{P}$+<=>^`|~]"
PROBES = (
    "a", "b", " a", "a ", "a b", "a  b", "A", "aB", "É", "e\u0301", "a\u0301\u0323",
    "ﬁ\u0301", "が", "١2", "a12",
    "a-b", "a.b", "x,y", "\n\n", "日本", "\u200d", "😀", "\U0010fffd", "a\U0010fffda",
    "hello world", "Hi, All!",
)  # fmt: skip


@dataclass
class _Conversion:
    """One conversion: the tokenizer, whether tables are written out, and what was lost so far."""

    tokenizer: Tokenizer
    with_tables: bool = True
    answers: list[tuple[str, str, str | None]] = field(default_factory=list)
    beside: list[errors.TokenLabWarning] = field(default_factory=list)

    def __post_init__(self) -> None:
        # What is tried here need not warn.
        self.tokenizer = replace(self.tokenizer, unknown_characters="error")

    def lose(self, component: object, loss: str, example: str | None = None) -> None:
        """Note that some text's answers will differ."""
        name = component if isinstance(component, str) else type(component).__name__
        self.answers.append((name, loss, example))

    def lose_extra(self, component: str, loss: str) -> None:
        """Note that something will differ that is no answer."""
        self.beside.append(errors.LostExtrasWarning(component=component, loss=loss))


def _entry(to: _Conversion, kind: str, part: Any, after: Sequence[Any] = ()) -> Entry:
    """Return the record that says a component, followed in its sequence by others; note what is lost."""
    said = SAID[type(part)](to, part, after) if type(part) in SAID else part
    if not to.with_tables:  # what another format spells out is the same table
        said = NormTable.of_replacements(said) or said
    if kind == "decoder" and part is None:  # words with spaces between them, none of which continues another
        said = decoders.WordPiece(meaning.never_a_prefix(_texts(to.tokenizer)), cleanup=False)
    entry = entry_of(kind, said, partial(_entry, to, kind))
    if entry is None:
        to.lose(part, "no record says this")
        return Entry({"decoder": 4}.get(kind, 0), {})
    if isinstance(said, normalizers.BertNormalizer) and said.strip_accents:
        nfd = table_of(NORMAL_FORMS["NFD"]) if to.with_tables else ()
        return Entry(7, {**entry.values, "table": {"entries": list(nfd)}})
    return entry


def _texts(tokenizer: Tokenizer) -> list[str]:
    return [*tokenizer.model.vocabulary, *(token.content for token in tokenizer.added_tokens)]


# --- Normalizers


def _normal_form(to: _Conversion, part: Any, after: Sequence[Any]) -> NormTable:
    name = type(part).__name__
    if "C" in name:
        to.lose(part, "a table maps one code point at a time and cannot compose")
    elif not _marks_go(after):
        to.lose(part, "a table maps one code point at a time and cannot put marks in order")
    return NormTable(table_of(NORMAL_FORMS[name]))


def _marks_go(after: Sequence[Any]) -> bool:
    """Whether all marks are left out later, so that their order is never seen."""
    kinds = dropwhile(lambda kind: kind is normalizers.Lowercase, map(type, after))
    return next(kinds, None) is normalizers.StripAccents


def _precompiled(to: _Conversion, part: Any, after: Any) -> NormTable:
    rows = table_of(part)
    if rows:
        to.lose(part, "a table maps one code point at a time, the character map whole graphemes")
    return NormTable(rows)


def _bert(to: _Conversion, part: normalizers.BertNormalizer, after: Any) -> Any:
    strip = part.lowercase if part.strip_accents is None else part.strip_accents
    return replace(part, strip_accents=strip)


# --- Pre-tokenizers


def _split(to: _Conversion, part: Any, pattern: str, behavior: str, invert: bool = False) -> Any:
    """Say any behavior by one of the three that the format has."""
    if behavior.startswith("Merged") and invert:  # merging a gap is merging a match the other way round
        behavior, invert = ({"MergedWithNext": "MergedWithPrevious"}.get(behavior, "MergedWithNext")), False
    if behavior not in BEHAVIORS:
        if any(start == end for probe in PROBES for start, end in Pattern(pattern, regex=True).find(probe)):
            to.lose(part, f"no record says {behavior} for a pattern that matches nothing")
        rest = "+" if behavior == "Contiguous" else f"(?:(?!{pattern})(?m:.))*"
        pattern, behavior, invert = f"(?:{pattern}){rest}", "Isolated", False
    return pre_tokenizers.Split(Pattern(pattern, regex=True), behavior, invert)


def _any_split(to: _Conversion, part: Any, after: Any) -> Any:
    text = part.pattern.text
    regex = text if part.pattern.regex else re.sub(r"([\\.^$*+?{}\[\]()|])", r"\\\1", text)
    return _split(to, part, regex, part.behavior, part.invert)


def _byte_level(to: _Conversion, part: Any, after: Any) -> Any:
    if part.add_prefix_space:
        to.lose(part, "add_prefix_space has no place")
    return part


def _metaspace(to: _Conversion, part: Any, after: Any) -> Any:
    tokenizer = to.tokenizer
    if part.prepend_scheme == "first" and tokenizer.added_tokens:
        loss = "prepend_scheme first has no place: every part between added tokens gets one"
        to.lose(part, loss, tokenizer.added_tokens[0].content + "a")
    elif part.prepend_scheme == "first" and not _starts_with_the_text(tokenizer, part):
        to.lose(part, "prepend_scheme first has no place: what does not begin the text gets one, too")
    if not part.split_words and not _never_inside(tokenizer.model, part.replacement):
        to.lose(part, "split false has no place, and the vocabulary has words in one token", "a b")
    return part


def _starts_with_the_text(tokenizer: Tokenizer, part: Any) -> bool:
    """Whether what a pre-tokenizer is given begins where the text does: nothing was cut or left out there."""
    before = tokenizer.normalizer
    while isinstance(before, normalizers.Sequence) and len(before.normalizers) == 1:
        before = before.normalizers[0]
    for each in before.normalizers if isinstance(before, normalizers.Sequence) else (before,):
        leaves_out = isinstance(each, normalizers.Replace) and not each.content
        keeps = each is None or type(each) in (
            normalizers.Lowercase,
            normalizers.Prepend,
            normalizers.Replace,
        )
        keeps |= type(each).__name__ in NORMAL_FORMS
        keeps |= isinstance(each, normalizers.Strip) and not each.strip_left
        if leaves_out or not keeps:
            return False
    first = tokenizer.pre_tokenizer
    while isinstance(first, pre_tokenizers.Sequence) and first.pretokenizers:
        first = first.pretokenizers[0]
    return first is part


def _never_inside(model: models.Model, mark: str) -> bool:
    """Whether a mark is a token, and in longer ones only at their start: cutting there is then not seen."""
    return mark in model.vocabulary and not any(mark in token[1:] for token in model.vocabulary)


# --- Models


def _model(to: _Conversion, model: models.Model) -> Entry:
    if type(model) not in (models.BPE, models.WordPiece, models.WordLevel, models.Unigram):
        to.lose(model, "no record says this")
    if isinstance(model, models.Unigram):
        return _unigram(to, model)
    rows = _rows(to, dict(model.vocabulary))
    if isinstance(model, models.BPE):
        return _bpe(to, model, rows)
    if isinstance(model, models.WordLevel):  # whole words only: nothing continues one
        never, longest = meaning.never_a_prefix(model.vocabulary), 2**32 - 1
    else:
        assert isinstance(model, models.WordPiece)
        never, longest = model.continuing_subword_prefix, model.max_input_chars_per_word
    parts = {"continuing_subword_prefix": never, "max_input_chars_per_word": longest}
    return Entry(1, {"unk_token": model.unk_token, **parts, "vocabulary": rows})


def _rows(to: _Conversion, vocabulary: dict[str, int]) -> list[tuple[str, int]]:
    """Return the rows, whose IDs must be those below their number; added tokens may go and fill holes."""
    if isinstance(to.tokenizer.model, models.BPE) and max(vocabulary.values(), default=-1) >= len(vocabulary):
        made = {left + right for left, right in to.tokenizer.model.merges}
        movable = {
            token.content: token.id
            for token in to.tokenizer.added_tokens
            if len(token.content) > 1 and token.content not in made
        }
        plain = {token: token_id for token, token_id in vocabulary.items() if movable.get(token) != token_id}
        end = max(plain.values(), default=-1) + 1
        vocabulary = plain | {token: token_id for token, token_id in movable.items() if token_id < end}
    missing = set(range(len(vocabulary))).difference(vocabulary.values())
    if missing:
        found = f"no token with ID {min(missing)}"
        expected = f"{len(vocabulary)} tokens with the IDs below"
        raise errors.MtokError(section="Model / vocabulary", offset=0, expected=expected, found=found)
    return sorted(vocabulary.items())


def _bpe(to: _Conversion, model: models.BPE, rows: list[tuple[str, int]]) -> Entry:
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if getattr(model, name):
            to.lose(model, f"{name} has no place")
    if model.unk_token is not None:
        if _knows_every_byte(to.tokenizer):
            to.lose_extra("BPE", f"the name of the unknown token, {model.unk_token!r}, which never occurs")
        else:
            to.lose(model, f"unk_token has no place: unknown characters do not become {model.unk_token!r}")
    if model.ignore_merges and (seen := next(_made_otherwise(to.tokenizer, model), None)) is not None:
        to.lose(model, "ignore_merges has no place, and merges make something else of a token", seen)
    ids = dict(rows)
    merges = sorted(
        (ids[left], ids[right], rank)
        for rank, (left, right) in enumerate(model.merges)
        if left + right in ids
    )
    flags = {"byte_fallback": int(model.byte_fallback), "byte_level": 0}
    return Entry(0, {**flags, "vocabulary": rows, "merges": merges})


def _is_byte_level(part: Any) -> bool:
    inner = part.pretokenizers[-1:] if isinstance(part, pre_tokenizers.Sequence) else ()
    return isinstance(part, pre_tokenizers.ByteLevel) or any(map(_is_byte_level, inner))


def _knows_every_byte(tokenizer: Tokenizer) -> bool:
    known = tokenizer.model.vocabulary
    if getattr(tokenizer.model, "byte_fallback", False):
        return all(token in known for token in BYTE_TOKENS)
    alphabet = all(to_byte_alphabet(bytes([byte])) in known for byte in range(256))
    return alphabet and _is_byte_level(tokenizer.pre_tokenizer)


def _made_otherwise(tokenizer: Tokenizer, model: models.BPE) -> Iterator[str]:
    """Yield texts that are one token because it is taken whole, where merges would end elsewhere."""
    by_merges = replace(model, ignore_merges=False)
    contents = {token.content for token in tokenizer.added_tokens}
    byte_level = _is_byte_level(tokenizer.pre_tokenizer)
    for token, token_id in model.vocabulary.items():
        if token in contents:
            continue
        with suppress(errors.TokenLabError):
            if list(by_merges.encode_ids(token)) == [token_id]:
                continue
        raw = from_byte_alphabet(token) if byte_level else token.encode()
        with suppress(errors.TokenLabError, UnicodeDecodeError):
            text = (raw or b"").decode()
            if token_id in tokenizer.encode(text, add_special_tokens=False).ids:
                yield text


def _unigram(to: _Conversion, model: models.Unigram) -> Entry:
    if len(model.vocabulary) < len(model.vocab):
        piece = next(piece for i, (piece, _) in enumerate(model.vocab) if model.vocabulary[piece] != i)
        expected = "each piece once"
        raise errors.MtokError(section="Model / vocabulary", offset=0, expected=expected, found=repr(piece))
    unknown = model.unk_id
    if unknown is None:
        unknown = 0
        if not _knows_every_byte(to.tokenizer):
            to.lose(model, "there is no way to say that there is no unknown token: unknown text becomes ID 0")
    rows = sorted((piece, token_id, score) for token_id, (piece, score) in enumerate(model.vocab))
    return Entry(2, {"unk_id": unknown, "byte_fallback": int(model.byte_fallback), "vocabulary": rows})


# --- Decoders


def _bpe_decoder(to: _Conversion, part: Any, after: Any) -> decoders.Sequence:
    ends, texts = part.suffix, _texts(to.tokenizer)
    if not all(
        text.count(ends) == text.endswith(ends) and (text.endswith(ends) or text[-1:] not in ("", " "))
        for text in texts
    ):
        to.lose(part, "tokens end in spaces, or have the suffix elsewhere than at their end")
    as_space = decoders.Replace(Pattern(ends), " ")
    return decoders.Sequence((as_space, decoders.Fuse(), decoders.Strip(" ", 0, 1)))


# What has no record of its own is said by other components that have one; losses are noted on the way.
SAID: dict[type, Callable[[_Conversion, Any, Sequence[Any]], Any]] = {
    normalizers.NFC: _normal_form,
    normalizers.NFD: _normal_form,
    normalizers.NFKC: _normal_form,
    normalizers.NFKD: _normal_form,
    normalizers.Lowercase: lambda to, part, after: normalizers.BertNormalizer(False, False, False, True),
    normalizers.StripAccents: lambda to, part, after: NormTable(table_of(part)),
    normalizers.Precompiled: _precompiled,
    normalizers.BertNormalizer: _bert,
    pre_tokenizers.ByteLevel: _byte_level,
    pre_tokenizers.Digits: lambda to, part, after: _split(
        to, part, r"\p{N}" if part.individual_digits else r"\p{N}+", "Isolated"
    ),
    pre_tokenizers.Metaspace: _metaspace,
    pre_tokenizers.Split: _any_split,
    pre_tokenizers.Whitespace: lambda to, part, after: _split(to, part, RUST_WORDS, "Removed", True),
    pre_tokenizers.WhitespaceSplit: lambda to, part, after: _split(to, part, r"\s+", "Removed"),
    pre_tokenizers.Punctuation: lambda to, part, after: _split(to, part, PUNCTUATION, part.behavior),
    decoders.BPEDecoder: _bpe_decoder,
}


# --- Post-processors


def _program(to: _Conversion) -> list[int | None]:
    """Return what is made of one text: None where it stands, IDs elsewhere."""
    tokenizer = to.tokenizer
    part = tokenizer.post_processor
    if part is None:
        return [None]
    program, name = meaning.program_of(part), type(part).__name__
    again = meaning.post_processor_of(program, tokenizer.model, tokenizer.added_tokens)
    ways = (part, again or post_processors.Sequence(()))
    pairs = [each.process(meaning.one_token(), meaning.one_token(1)) for each in ways]
    columns = {(pair.ids, pair.type_ids) for pair in pairs}
    if any(part.process(meaning.one_token()).type_ids) or len(columns) > 1:
        to.lose_extra(name, "the template of a pair of texts, and the types of its tokens")
    inner = part.processors if isinstance(part, post_processors.Sequence) else (part,)
    if any(getattr(each, "trim_offsets", False) for each in inner):
        to.lose_extra(name, "trim_offsets: offsets keep the white space of a token")
    texts = program.count(None)
    if len(program) - texts == 3 * texts:
        note = (
            "the program has three special tokens for each text, "
            "so the format's own reader may take it for the older list of IDs"
        )
        to.beside.append(errors.MtokWarning(note))
    return program


# --- Added tokens


def _added_tokens(to: _Conversion) -> tuple[tuple[tuple[int, int, int, int, str], ...], tuple[int, ...]]:
    """Return the rows of added tokens, and the IDs that the header lists."""
    tokenizer, tokens = to.tokenizer, to.tokenizer.added_tokens
    for token in tokens:
        if token.single_word:
            to.lose("AddedToken", "single_word has no place", f"a{token.content}a")
        if token.normalized and not _stays(tokenizer.normalizer, token.content):
            to.lose("AddedToken", "normalized has no place, and the normalizer changes what is searched")
    first, second = ([t.content for t in tokens if t.normalized == late] for late in (False, True))
    if overlap(first, second):
        to.lose("AddedToken", "normalized has no place, and tokens of the two searches lie over each other")
    rows = tuple((t.id, int(t.special), int(t.lstrip), int(t.rstrip), t.content) for t in tokens)
    if tokenizer.control_ids:
        return rows, tokenizer.control_ids
    listed = [token for token in tokens if token.special and not (token.lstrip or token.rstrip)]
    if hidden_texts(token.content for token in listed):
        listed.sort(key=lambda token: len(token.content), reverse=True)
    others = set(tokens).difference(listed)
    if overlap((token.content for token in listed), (token.content for token in others)):
        listed = []  # cut out in front of the others, they would hide one
    return rows, tuple(token.id for token in listed)


def _stays(part: Any, content: str) -> bool:
    """Whether searching for a content before this normalizer finds what searching after it does."""
    if isinstance(part, normalizers.Sequence):
        return all(_stays(each, content) for each in part.normalizers)
    if isinstance(part, normalizers.Replace) and (literal := meaning.literal_of(part.pattern)):
        return not set(literal + part.content) & set(content)
    return part is None


# --- The whole


def _convert(to: _Conversion) -> MtokFile:
    tokenizer = to.tokenizer
    body: dict[str, Any] = {
        "normalizer": _entry(to, "normalizer", tokenizer.normalizer),
        "pre_tokenizer": _entry(to, "pre_tokenizer", tokenizer.pre_tokenizer),
        "model": _model(to, tokenizer.model),
        "decoder": _entry(to, "decoder", tokenizer.decoder),
    }
    added, special = _added_tokens(to)
    program, prefix = _program(to), tokenizer.prefix_ids
    if prefix and any(step is not None for step in program):  # only one of the two is filled
        program, prefix = meaning.with_prefix(program, prefix), ()
    steps = (Entry(0, {}) if step is None else Entry(1, {"id": step}) for step in program)
    for name in ("truncation", "padding"):
        if getattr(tokenizer, name) is not None:
            to.lose_extra(name, "it has no place")
    return MtokFile(
        Header(MTOK_TYPE, special, tokenizer.stop_ids, prefix),
        **body,
        added_tokens=added,
        chat_template=tokenizer.chat_template or "",
        eos_token=tokenizer.eos_token or "",
        flags=int(tokenizer.clean_up_tokenization_spaces),
        bos_token=tokenizer.bos_token or "",
        steps=() if program == [None] else tuple(steps),
    )


def plain_file(tokenizer: Tokenizer) -> MtokFile | None:
    """Return what a tokenizer's answers depend on as a file, None where the format cannot say them.

    Left out are BERT's table, which comes with Python's version of Unicode, and what no answer depends on.
    """
    to = _Conversion(meaning.with_clean_up_spelled(tokenizer), with_tables=False)
    try:
        file = _convert(to)
    except errors.MtokError:
        return None
    if to.answers or tokenizer.truncation or tokenizer.padding:
        return None
    special = file.header.special if tokenizer.control_ids else tuple(sorted(file.header.special))
    prefix = tuple(Entry(1, {"id": token_id}) for token_id in file.header.prefix)
    return replace(
        file,
        header=Header(MTOK_TYPE, special),
        added_tokens=tuple(sorted(file.added_tokens)),
        chat_template="",
        bos_token="",
        eos_token="",
        steps=(*prefix, *(file.steps or ())),
    )


def from_tokenizer(tokenizer: Tokenizer, *, strict: bool = False) -> MtokFile:
    """Return the file that says a tokenizer.

    Args:
        tokenizer: any tokenizer of the pipeline; one read from such a file and not changed gives that back.
        strict: whether a loss of answers is an error.

    Raises:
        LostAnswersError: under `strict`, where some text's IDs or the text of some IDs would differ.
        MtokError: a vocabulary whose IDs are not those below its size, or that has a piece twice.

    Warns:
        LostAnswersWarning, LostExtrasWarning: for each loss.
        MtokWarning: for a program that the format's own reader may misread.
    """
    if tokenizer.origin is not None and recognises(tokenizer.origin):
        with suppress(errors.MtokError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            file = read_file(tokenizer.origin)
            if to_tokenizer(file) == tokenizer:
                return file
    to = _Conversion(tokenizer)
    file = _convert(to)
    lost = (
        errors.LostAnswersWarning(component=name, loss=loss, example=example or _example(to.tokenizer, file))
        for name, loss, example in to.answers
    )
    meaning.report_losses([*lost, *to.beside], strict=strict)
    return file


def _example(tokenizer: Tokenizer, file: MtokFile) -> str | None:
    """Return a text whose answers differ, if one of a few does it."""
    with suppress(errors.MtokError):
        converted = replace(to_tokenizer(file), unknown_characters="error")
        contents = [token.content for token in tokenizer.added_tokens[:8]]
        around = [(text, f"a{text}", f"{text}a", text.upper(), f" {text} ") for text in contents]
        probes = chain(PROBES, *around)
        return next((text for text in probes if _answers(tokenizer, text) != _answers(converted, text)), None)
    return None


def _answers(tokenizer: Tokenizer, text: str) -> Any:
    try:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        return ids, tokenizer.decode(ids)
    except errors.TokenLabError as error:
        return type(error)


def write_bytes(tokenizer: Tokenizer, *, strict: bool = False) -> bytes:
    """Return a tokenizer as the bytes of a `.mtok` file; see `from_tokenizer`."""
    return write_file(from_tokenizer(tokenizer, strict=strict))
