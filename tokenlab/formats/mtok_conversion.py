"""Saying a tokenizer in the records of a `.mtok` file, by meaning and not by name (chapter 07).

First asked is whether another record says the same thing; what then remains is a loss, named with its
component and with a text that shows it. Facts are those of the `.mtok` document.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from tokenlab.errors import (
    LostAnswersError,
    LostAnswersWarning,
    LostExtrasWarning,
    MtokError,
    MtokWarning,
    TokenLabError,
)
from tokenlab.formats.header import Header, recognises
from tokenlab.formats.layout import Entry
from tokenlab.formats.meaning import (
    never_a_prefix,
    one_token,
    post_processor_of,
    program_of,
    with_clean_up_spelled,
)
from tokenlab.formats.mtok import MTOK_TYPE, MtokFile, read_file, write_file
from tokenlab.formats.mtok_meaning import (
    BEHAVIORS,
    NORMAL_FORMS,
    NormTable,
    is_hidden,
    overlap,
    table_of,
    to_tokenizer,
)
from tokenlab.pipeline import decoders, models, normalizers, post_processors, pre_tokenizers
from tokenlab.pipeline.byte_alphabet import from_byte_alphabet, to_byte_alphabet
from tokenlab.pipeline.dialect import RUST_NOT_WORD, RUST_WORD
from tokenlab.pipeline.patterns import Pattern
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
    """One conversion: the tokenizer, what was lost so far, and whether tables are written out."""

    tokenizer: Tokenizer
    with_tables: bool = True
    answers: list[tuple[str, str, str | None]] = field(default_factory=list)
    extras: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lose(self, component: object, loss: str, example: str | None = None) -> None:
        """Note that some text's answers will differ."""
        name = component if isinstance(component, str) else type(component).__name__
        self.answers.append((name, loss, example))


def literal_of(pattern: Pattern) -> str | None:
    """Return the one text that a pattern matches, or None if there are several or none.

    >>> literal_of(Pattern(r"a\\.", regex=True)), literal_of(Pattern("a+", regex=True))
    ('a.', None)
    """
    if not pattern.regex:
        return pattern.text
    plain = re.fullmatch(r"(?:[^\\.^$*+?{}\[\]()|]|\\[^\w\s])+", pattern.text)
    return re.sub(r"\\(.)", r"\1", pattern.text) if plain else None


def _regex_of(pattern: Pattern) -> str:
    return pattern.text if pattern.regex else re.sub(r"([\\.^$*+?{}\[\]()|])", r"\\\1", pattern.text)


# --- Normalizers


def _normalizer(to: _Conversion, part: Any) -> Entry:
    if part is None:
        return Entry(0, {})
    if type(part) is normalizers.Sequence:
        parts = part.normalizers
        return Entry(
            4, {"normalizers": tuple(_step(to, each, parts[i + 1 :]) for i, each in enumerate(parts))}
        )
    return _step(to, part, ())


def _step(to: _Conversion, part: Any, after: tuple[Any, ...]) -> Entry:
    kind = type(part)
    if kind is normalizers.Sequence:
        return _normalizer(to, part)
    if kind.__name__ in NORMAL_FORMS:
        if "C" in kind.__name__:
            to.lose(part, "a table maps one code point at a time and cannot compose")
        elif not _marks_go(after):
            to.lose(part, "a table maps one code point at a time and cannot put marks in order")
        return Entry(6, {"table": {"entries": list(table_of(NORMAL_FORMS[kind.__name__]))}})
    if kind is normalizers.Lowercase:
        return Entry(5, {"clean_text": 0, "handle_chinese_chars": 0, "strip_accents": 0, "lowercase": 1})
    if kind is normalizers.StripAccents:
        return Entry(6, {"table": {"entries": list(table_of(part))}})
    if kind is NormTable:
        return Entry(6, {"table": {"entries": list(part.entries)}})
    if kind is normalizers.Precompiled:
        rows = table_of(part)
        if rows:
            to.lose(part, "a table maps one code point at a time, the character map whole graphemes")
        return Entry(6, {"table": {"entries": list(rows)}})
    if kind is normalizers.BertNormalizer:
        strip = part.lowercase if part.strip_accents is None else part.strip_accents
        flags: dict[str, Any] = {
            "clean_text": int(part.clean_text),
            "handle_chinese_chars": int(part.handle_chinese_chars),
            "strip_accents": int(strip),
            "lowercase": int(part.lowercase),
        }
        if not strip:
            return Entry(5, flags)
        nfd = table_of(NORMAL_FORMS["NFD"]) if to.with_tables else ()
        return Entry(7, {**flags, "table": {"entries": list(nfd)}})
    if kind is normalizers.Prepend:
        return Entry(2, {"prepend": part.prepend})
    if kind is normalizers.Strip:
        return Entry(8, {"left": int(part.strip_left), "right": int(part.strip_right)})
    if kind is normalizers.Replace and (literal := literal_of(part.pattern)) is not None:
        return Entry(3, {"pattern": literal, "content": part.content})
    to.lose(part, "no record says this")
    return Entry(0, {})


def _marks_go(after: tuple[Any, ...]) -> bool:
    """Whether all marks are left out later, so that their order is never seen."""
    kinds = [type(part) for part in after]
    while kinds[:1] == [normalizers.Lowercase]:
        kinds.pop(0)
    return kinds[:1] == [normalizers.StripAccents]


# --- Pre-tokenizers


def _split(pattern: str, behavior: str, invert: bool = False) -> Entry:
    return Entry(4, {"pattern": pattern, "invert": int(invert), "behavior": BEHAVIORS.index(behavior)})


def _split_by(to: _Conversion, part: Any, pattern: str, behavior: str, invert: bool) -> Entry:
    """Say any behavior by one of the three that the format has."""
    if behavior.startswith("Merged") and invert:  # merging a gap is merging a match the other way round
        behavior, invert = ({"MergedWithNext": "MergedWithPrevious"}.get(behavior, "MergedWithNext")), False
    if behavior in BEHAVIORS:
        return _split(pattern, behavior, invert)
    if any(start == end for probe in PROBES for start, end in Pattern(pattern, regex=True).find(probe)):
        to.lose(part, f"no record says {behavior} for a pattern that matches nothing")
    if behavior == "Contiguous":
        return _split(f"(?:{pattern})+", "Isolated")
    return _split(f"(?:{pattern})(?:(?!{pattern})(?m:.))*", "Isolated")


def _pre_tokenizer(to: _Conversion, part: Any) -> Entry:
    kind = type(part)
    if part is None:
        return Entry(0, {})
    if kind is pre_tokenizers.Sequence:
        return Entry(6, {"pretokenizers": tuple(_pre_tokenizer(to, each) for each in part.pretokenizers)})
    if kind is pre_tokenizers.ByteLevel:
        if part.add_prefix_space:
            to.lose(part, "add_prefix_space has no place")
        return Entry(1, {"use_regex": int(part.use_regex)})
    if kind is pre_tokenizers.Digits:
        return _split(r"\p{N}" if part.individual_digits else r"\p{N}+", "Isolated")
    if kind is pre_tokenizers.Metaspace:
        tokenizer = to.tokenizer
        if part.prepend_scheme == "first" and tokenizer.added_tokens:
            example = tokenizer.added_tokens[0].content + "a"
            to.lose(
                part, "prepend_scheme first has no place: every part between added tokens gets one", example
            )
        elif part.prepend_scheme == "first" and not _starts_with_the_text(tokenizer, part):
            to.lose(part, "prepend_scheme first has no place: what does not begin the text gets one, too")
        if not part.split_words and not _never_inside(tokenizer.model, part.replacement):
            to.lose(part, "split false has no place, and the vocabulary has words in one token", "a b")
        prefix = int(part.prepend_scheme != "never")
        return Entry(3, {"replacement": part.replacement, "add_prefix_space": prefix})
    if kind is pre_tokenizers.Split:
        return _split_by(to, part, _regex_of(part.pattern), part.behavior, part.invert)
    if kind is pre_tokenizers.Whitespace:
        return _split(rf"{RUST_WORD}+|{RUST_NOT_WORD[:-1]}\s]+", "Removed", invert=True)
    if kind is pre_tokenizers.WhitespaceSplit:
        return _split(r"\s+", "Removed")
    if kind is pre_tokenizers.Punctuation:
        return _split_by(to, part, PUNCTUATION, part.behavior, False)
    if kind is pre_tokenizers.BertPreTokenizer:
        return Entry(5, {})
    to.lose(part, "no record says this")
    return Entry(0, {})


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
        never, longest = never_a_prefix(model.vocabulary), 2**32 - 1
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
        raise MtokError(
            section="Model / vocabulary",
            offset=0,
            expected=f"{len(vocabulary)} tokens with the IDs below",
            found=found,
        )
    return sorted(vocabulary.items())


def _bpe(to: _Conversion, model: models.BPE, rows: list[tuple[str, int]]) -> Entry:
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if getattr(model, name):
            to.lose(model, f"{name} has no place")
    if model.unk_token is not None:
        if _knows_every_byte(to.tokenizer):
            to.extras.append(
                ("BPE", f"the name of the unknown token, {model.unk_token!r}, which never occurs")
            )
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
        return all(f"<0x{byte:02X}>" in known for byte in range(256))
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
        with suppress(TokenLabError):
            if list(by_merges.encode_ids(token)) == [token_id]:
                continue
        raw = from_byte_alphabet(token) if byte_level else token.encode()
        with suppress(TokenLabError, UnicodeDecodeError):
            text = (raw or b"").decode()
            if token_id in tokenizer.encode(text, add_special_tokens=False).ids:
                yield text


def _unigram(to: _Conversion, model: models.Unigram) -> Entry:
    if len(model.vocabulary) < len(model.vocab):
        piece = next(piece for i, (piece, _) in enumerate(model.vocab) if model.vocabulary[piece] != i)
        raise MtokError(section="Model / vocabulary", offset=0, expected="each piece once", found=repr(piece))
    unknown = model.unk_id
    if unknown is None:
        unknown = 0
        if not _knows_every_byte(to.tokenizer):
            to.lose(model, "there is no way to say that there is no unknown token: unknown text becomes ID 0")
    rows = sorted((piece, token_id, score) for token_id, (piece, score) in enumerate(model.vocab))
    return Entry(2, {"unk_id": unknown, "byte_fallback": int(model.byte_fallback), "vocabulary": rows})


# --- Decoders


def _decoder(to: _Conversion, part: Any) -> Entry:
    kind = type(part)
    texts = [*to.tokenizer.model.vocabulary, *(token.content for token in to.tokenizer.added_tokens)]
    if part is None:  # words with spaces between them, none of which continues another
        return Entry(3, {"prefix": never_a_prefix(texts), "cleanup": 0})
    if kind is decoders.Sequence:
        return Entry(7, {"decoders": tuple(_decoder(to, each) for each in part.decoders)})
    if kind in (decoders.ByteLevel, decoders.ByteFallback, decoders.Fuse):
        return Entry({decoders.ByteLevel: 0, decoders.ByteFallback: 1, decoders.Fuse: 4}[kind], {})
    if kind is decoders.Metaspace:
        return Entry(
            2, {"replacement": part.replacement, "add_prefix_space": int(part.prepend_scheme != "never")}
        )
    if kind is decoders.WordPiece:
        return Entry(3, {"prefix": part.prefix, "cleanup": int(part.cleanup)})
    if kind is decoders.Strip:
        return Entry(6, {"content": part.content, "start": part.start, "stop": part.stop})
    if kind is decoders.Replace and (literal := literal_of(part.pattern)) is not None:
        return Entry(5, {"pattern": literal, "content": part.content})
    if kind is decoders.BPEDecoder:
        ends = part.suffix
        if not all(
            text.count(ends) == text.endswith(ends) and (text.endswith(ends) or text[-1:] not in ("", " "))
            for text in texts
        ):
            to.lose(part, "tokens end in spaces, or have the suffix elsewhere than at their end")
        steps = (
            Entry(5, {"pattern": ends, "content": " "}),
            Entry(4, {}),
            Entry(6, {"content": " ", "start": 0, "stop": 1}),
        )
        return Entry(7, {"decoders": steps})
    to.lose(part, "no record says this")
    return Entry(4, {})


# --- Post-processors


def _program(to: _Conversion) -> list[int | None]:
    """Return what is made of one text: None where it stands, IDs elsewhere."""
    tokenizer = to.tokenizer
    part = tokenizer.post_processor
    if part is None:
        return [None]
    program = program_of(part)
    names = {**tokenizer.model.tokens_by_id, **{token.id: token.content for token in tokenizer.added_tokens}}
    again = post_processor_of(program, lambda token_id: names.get(token_id, "")) or post_processors.Sequence(
        ()
    )
    alone = part.process(one_token())
    pairs = [each.process(one_token(), one_token(1)) for each in (part, again)]
    columns = {(pair.ids, pair.type_ids) for pair in pairs}
    if any(alone.type_ids) or len(columns) > 1:
        to.extras.append(
            (type(part).__name__, "the template of a pair of texts, and the types of its tokens")
        )
    inner = part.processors if isinstance(part, post_processors.Sequence) else (part,)
    if any(getattr(each, "trim_offsets", False) for each in inner):
        to.extras.append((type(part).__name__, "trim_offsets: offsets keep the white space of a token"))
    texts = program.count(None)
    if len(program) - texts == 3 * texts:
        to.notes.append(
            "the program has three special tokens for each text, "
            "so the format's own reader may take it for the older list of IDs"
        )
    return program


# --- Added tokens


def _added_tokens(to: _Conversion) -> dict[str, Any]:
    tokenizer = to.tokenizer
    tokens = tokenizer.added_tokens
    for token in tokens:
        if token.single_word:
            to.lose("AddedToken", "single_word has no place", f"a{token.content}a")
        if token.normalized and not _stays(tokenizer.normalizer, token.content):
            to.lose("AddedToken", "normalized has no place, and the normalizer changes what is searched")
    first = [token.content for token in tokens if not token.normalized]
    second = [token.content for token in tokens if token.normalized]
    if first and second and overlap(first, second):
        to.lose("AddedToken", "normalized has no place, and tokens of the two searches lie over each other")
    rows = tuple(
        (token.id, int(token.special), int(token.lstrip), int(token.rstrip), token.content)
        for token in tokens
    )
    if tokenizer.control_ids:
        return {"added_tokens": rows, "special": tokenizer.control_ids}
    listed = [token for token in tokens if token.special and not (token.lstrip or token.rstrip)]
    if is_hidden(token.content for token in listed):
        listed.sort(key=lambda token: len(token.content), reverse=True)
    others = {token.id for token in tokens} - {token.id for token in listed}
    if overlap(
        (token.content for token in listed), (token.content for token in tokens if token.id in others)
    ):
        listed = []  # cut out in front of the others, they would hide one
    return {"added_tokens": rows, "special": tuple(token.id for token in listed)}


def _stays(part: Any, content: str) -> bool:
    """Whether searching for a content before this normalizer finds what searching after it does."""
    if isinstance(part, normalizers.Sequence):
        return all(_stays(each, content) for each in part.normalizers)
    if isinstance(part, normalizers.Replace) and (literal := literal_of(part.pattern)):
        return not set(literal + part.content) & set(content)
    return part is None


# --- The whole


def _convert(to: _Conversion) -> MtokFile:
    tokenizer = to.tokenizer
    body: dict[str, Any] = {
        "normalizer": _normalizer(to, tokenizer.normalizer),
        "pre_tokenizer": _pre_tokenizer(to, tokenizer.pre_tokenizer),
        "model": _model(to, tokenizer.model),
        "decoder": _decoder(to, tokenizer.decoder),
    }
    added = _added_tokens(to)
    program, prefix = _program(to), tokenizer.prefix_ids
    if prefix and any(step is not None for step in program):  # only one of the two is filled
        program = [each for step in program for each in ([*prefix, None] if step is None else [step])]
        prefix = ()
    steps = (
        ()
        if program == [None]
        else tuple(Entry(0, {}) if s is None else Entry(1, {"id": s}) for s in program)
    )
    for name in ("truncation", "padding"):
        if getattr(tokenizer, name) is not None:
            to.extras.append((name, "it has no place"))
    return MtokFile(
        Header(MTOK_TYPE, added.pop("special"), tokenizer.stop_ids, prefix),
        **body,
        **added,
        chat_template=tokenizer.chat_template or "",
        eos_token=tokenizer.eos_token or "",
        flags=int(tokenizer.clean_up_tokenization_spaces),
        bos_token=tokenizer.bos_token or "",
        steps=steps,
    )


def plain_file(tokenizer: Tokenizer) -> MtokFile | None:
    """Return what a tokenizer's answers depend on as a file, None where the format cannot say them.

    Left out are BERT's table, which comes with Python's version of Unicode, and what no answer depends on.
    """
    to = _Conversion(with_clean_up_spelled(tokenizer), with_tables=False)
    try:
        file = _convert(to)
    except MtokError:
        return None
    special = file.header.special if tokenizer.control_ids else tuple(sorted(file.header.special))
    prefix = tuple(Entry(1, {"id": token_id}) for token_id in file.header.prefix)
    answers: dict[str, Any] = {
        "header": Header(MTOK_TYPE, special),
        "added_tokens": tuple(sorted(file.added_tokens)),
    }
    beside: dict[str, Any] = {
        "chat_template": "",
        "bos_token": "",
        "eos_token": "",
        "steps": (*prefix, *(file.steps or ())),
    }
    return (
        None
        if to.answers or tokenizer.truncation or tokenizer.padding
        else replace(file, **answers, **beside)
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
        with suppress(MtokError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            file = read_file(tokenizer.origin)
            if to_tokenizer(file) == tokenizer:
                return file
    to = _Conversion(tokenizer)
    file = _convert(to)
    lost = tuple(
        LostAnswersWarning(
            component=component, loss=loss, example=_example(tokenizer, file) if text is None else text
        )
        for component, loss, text in to.answers
    )
    if lost and strict:
        raise LostAnswersError(losses="; ".join(map(str, lost)), warnings=lost)
    extras = [LostExtrasWarning(component=component, loss=loss) for component, loss in to.extras]
    for warning in (*lost, *extras, *map(MtokWarning, to.notes)):
        warnings.warn(warning, stacklevel=3)
    return file


def _example(tokenizer: Tokenizer, file: MtokFile) -> str | None:
    """Return a text whose answers differ, if one of a few does it."""
    with suppress(MtokError):
        converted = to_tokenizer(file)
        contents = [token.content for token in tokenizer.added_tokens[:8]]
        probes = [
            *PROBES,
            *(
                probe
                for text in contents
                for probe in (text, f"a{text}", f"{text}a", text.upper(), f" {text} ")
            ),
        ]
        return next((text for text in probes if _answers(tokenizer, text) != _answers(converted, text)), None)
    return None


def _answers(tokenizer: Tokenizer, text: str) -> Any:
    try:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        return ids, tokenizer.decode(ids)
    except TokenLabError as error:
        return type(error)


def write_bytes(tokenizer: Tokenizer, *, strict: bool = False) -> bytes:
    """Return a tokenizer as the bytes of a `.mtok` file; see `from_tokenizer`."""
    return write_file(from_tokenizer(tokenizer, strict=strict))
