"""The validation list: what has to hold for every tokenizer, tried on one (chapter 9).

Follows the published list for tokenizers by hand: round trip, determinism, ties, special tokens, one hash for
training and serving, length by slice; with byte map and offsets beside them. `python -m tokenlab check FILE`
prints it.

The line between a fault and a property: a stage may lose text if losing it is its job. That is a normalizer
that changes the text, a pre-tokenizer that drops white space, a marker put in front (whether or not decoding
takes it away), a model that has an unknown token, and a decoding that tidies spaces or joins by them. What
such a stage changed is reported as "by design". All text that passed unchanged has to come back exactly.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from types import NoneType
from typing import Any, Literal, NamedTuple

from tokenlab import lengths
from tokenlab.bpe.merging import merge_reference
from tokenlab.errors import TokenLabError, UnknownCharacterError
from tokenlab.formats import CODECS, Encoding, Tokenizer
from tokenlab.pipeline import decoders, models
from tokenlab.pipeline.byte_alphabet import BYTE_ALPHABET, BYTE_TOKENS, from_byte_alphabet
from tokenlab.pipeline.decoders import clean_up_spaces
from tokenlab.unigram.viterbi import Unigram

Verdict = Literal["pass", "fail", "by design"]
Seen = tuple[Verdict, str, str]
Remake = Callable[[], Tokenizer]

UTF8_BYTES = [*range(0xC0), *range(0xC2, 0xF5)]  # the others occur in no UTF-8 text
HASH_SEEDS = "0", "1"
HASHED = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder", "added_tokens", "prefix_ids")
SPACING = (NoneType, decoders.WordPiece, decoders.BPEDecoder)  # words come out with a space between
MOST_RULES = 300
KINDS_OF_PROBES = {
    "white space": " \t\n\r\v\f\u00a0\u2003\u2028\u3000a",
    "controls": "\0\1\x1b\x7f\x85\u200b\u200f\u202e\ufeff\ufffda",
    "emoji": "🦀👍🏽👩‍👧🇫🇷☕️❤\u200d\ufe0f",
}


class Finding(NamedTuple):
    """One row of the report: the check, its verdict, what was seen, and an example ("" for none)."""

    name: str
    verdict: Verdict
    seen: str
    example: str


def probe_texts(seed: int = 0, count: int = 12) -> list[str]:
    """Return odd texts: of each kind `count` random ones, and some that have caught tokenizers before."""
    rng = random.Random(seed)
    scalars = [*range(0xD800), *range(0xE000, 0x110000)]
    texts = [
        "",
        " ",
        "  a   b  ",
        "e e а",
        "\r\n\n",
        "\0",
        "don't 'LL",
        "x" * 300,
        "aaaaa",
        "a\u0301é",
        "ﬁ ２",
    ]
    for alphabet in (scalars, scalars[:0x3000], *(list(map(ord, kind)) for kind in KINDS_OF_PROBES.values())):
        texts += ["".join(map(chr, rng.choices(alphabet, k=rng.randint(1, 24)))) for _ in range(count)]
    return texts


def _own_texts(tokenizer: Tokenizer, seed: int, count: int = 60) -> list[str]:
    """Texts that random characters never make: two or three tokens of the vocabulary side by side."""
    rng, ids = random.Random(seed), sorted(tokenizer.model.vocabulary.values())
    with suppress(Exception):  # a decoder that raises is found by the round trip
        return [tokenizer.decode(rng.choices(ids, k=rng.randint(2, 3))) for _ in range(count if ids else 0)]
    return []


def validate(
    tokenizer: Tokenizer,
    remake: Remake | None = None,
    *,
    seed: int = 0,
    slices: Mapping[str, Sequence[str]] | None = None,
) -> list[Finding]:
    """Try everything on the list, and return what was found, in the order of the list.

    Args:
        tokenizer: the tokenizer to try.
        remake: makes it again in another process, such as `partial(Tokenizer.from_bytes, data)`; it is
            pickled. None: the tokenizer itself is.
        seed: of the random texts.
        slices: the texts to measure length on, by name; None: `course_slices()`.
    """
    plain = _plain(tokenizer)
    probes = [*probe_texts(seed), *_own_texts(plain, seed)]
    slices = lengths.course_slices() if slices is None else slices
    long_texts = [text for texts in slices.values() for text in texts]
    others = cache(partial(_other_processes, remake or plain, probes))
    checks: dict[str, Callable[[], Seen]] = {
        "round trip": lambda: _round_trip(plain, [*probes, *long_texts]),
        "byte map": lambda: _byte_map(plain, probes),
        "ties and overlaps": lambda: _ties(plain),
        "special flags": lambda: _special_flags(plain),
        "no forged tokens": lambda: _forged(plain),
        "offsets": lambda: _offsets(plain, [*probes, *long_texts]),
        "determinism": lambda: _determinism(plain, probes, others()),
        "fingerprint": lambda: _fingerprint(plain, probes, others()),
        **{f"length: {name}": partial(_length, plain, texts) for name, texts in slices.items()},
    }
    return [Finding(name, *_tried(run)) for name, run in checks.items()]


def as_text(findings: Iterable[Finding]) -> Iterator[str]:
    """Write findings as lines: verdict, name, what was seen; an example below."""
    for each in findings:
        yield f"{each.verdict:<10} {each.name}: {each.seen}"
        if each.example:
            yield f"{'':<10}   {each.example}"


def _tried(run: Callable[[], Seen]) -> Seen:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except Exception as error:  # a report goes on, whatever a broken tokenizer does
        return "fail", f"the check ended in {type(error).__name__}", " ".join(str(error).split())[:200]


# --- What the checks stand on


def _plain(tokenizer: Tokenizer) -> Tokenizer:
    return replace(tokenizer, truncation=None, padding=None, unknown_characters="error")


def _pieces(tokenizer: Tokenizer, text: str) -> list[tuple[str, str]]:
    """What is given to the model: each piece, and the part of the text that it stands for."""
    explanation = tokenizer.explain(text, parse_special_tokens=False)
    stages = {stage.name: stage.pieces for stage in explanation.stages}
    return [(piece, text[start:end]) for piece, (start, end), _ in stages["pre-tokenizer"]]


def _encoded(tokenizer: Tokenizer, texts: Iterable[str]) -> Iterator[tuple[str, Encoding | None]]:
    """Yield each text with its encoding, None where the model has nothing for a character."""
    for text in texts:
        try:
            yield text, lengths.encode_plain(tokenizer, text)
        except UnknownCharacterError:
            yield text, None


def _is_kept(tokenizer: Tokenizer, text: str, encoding: Encoding, back: str) -> bool:
    """Whether every stage let the text pass, so that it has to come back; see the module's line."""
    joined = "".join(piece for piece, _ in _pieces(tokenizer, text))
    if lengths.is_byte_level(tokenizer):
        joined = (from_byte_alphabet(joined) or b"").decode(errors="replace")
    spaced = joined.replace("▁", " ")
    is_marked = "▁" not in text and (spaced == f" {text}" or (spaced == text and joined[:1] != "▁"))
    is_tidied = tokenizer.clean_up_tokenization_spaces and clean_up_spaces(text) != text
    is_marker_shown = joined[:1] == "▁" and back == f" {text}"
    joins_by_spaces = not lengths.is_byte_level(tokenizer) and isinstance(tokenizer.decoder, SPACING)
    is_spaced = joins_by_spaces and len(encoding.ids) > 1
    is_changed = is_tidied or is_spaced or is_marker_shown or lengths.unknown_id(tokenizer) in encoding.ids
    return (joined == text or is_marked) and not is_changed


def _other_processes(remake: Remake | Tokenizer, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Each answer of a process of its own, one for each hash seed."""
    sent, answers = pickle.dumps((remake, texts)), []
    for seed in HASH_SEEDS:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", "import tokenlab.validation as v; v._answer()"],
            input=sent,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            timeout=300,
        )
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise TokenLabError(f"another process could not answer: {' '.join(last)}")
        answers.append(json.loads(done.stdout))
    return answers


def _answer() -> None:
    """Answer as another process: what was pickled comes in, IDs and fingerprint go out."""
    remake, texts = pickle.load(sys.stdin.buffer)
    tokenizer = _plain(remake if isinstance(remake, Tokenizer) else remake())
    sys.stdout.write(json.dumps({"ids": _all_ids(tokenizer, texts), "fingerprint": tokenizer.fingerprint()}))


def _all_ids(tokenizer: Tokenizer, texts: Iterable[str]) -> list[list[int] | str]:
    answers: list[list[int] | str] = []
    for text in texts:
        try:
            answers.append(tokenizer.encode_ids(text))
        except UnknownCharacterError as error:
            answers.append(str(error))
    return answers


# --- The checks


def _round_trip(tokenizer: Tokenizer, texts: Sequence[str]) -> Seen:
    changed = []
    for text, encoding in _encoded(tokenizer, texts):
        if encoding is None:
            changed.append(f"{text[:40]!r} is refused")
            continue
        back = lengths.decode_all(tokenizer, encoding)
        if back != text and _is_kept(tokenizer, text, encoding, back):
            return "fail", "a text that every stage let pass came back changed", f"{text!r} as {back!r}"
        if back != text:
            changed.append(f"{text[:40]!r} as {back[:40]!r}")
    if changed:
        seen = f"{len(changed)} of {len(texts)} texts changed or refused, by a stage whose job that is"
        return "by design", seen, changed[0]
    return "pass", f"{len(texts)} texts came back exactly", ""


def _byte_map(tokenizer: Tokenizer, texts: Sequence[str]) -> Seen:
    known: Mapping[str, int] = tokenizer.model.vocabulary
    if not lengths.is_byte_level(tokenizer):
        if not getattr(tokenizer.model, "byte_fallback", False):
            return "by design", "there is none: the model works on characters", ""
        missing = [BYTE_TOKENS[byte] for byte in UTF8_BYTES if BYTE_TOKENS[byte] not in known]
    else:
        missing = [repr(BYTE_ALPHABET[byte]) for byte in UTF8_BYTES if BYTE_ALPHABET[byte] not in known]
        for text in texts if tokenizer.normalizer is None else ():
            for piece, part in _pieces(tokenizer, text):
                data = from_byte_alphabet(piece)
                if data is None or data.lstrip() != part.encode().lstrip():
                    return "fail", "a piece is not the bytes of its text", f"{part!r} became {piece!r}"
    if missing:
        return "fail", f"{len(missing)} bytes have no token", ", ".join(missing[:8])
    return "pass", "every byte of UTF-8 has a token", ""


def _ties(tokenizer: Tokenizer) -> Seen:
    model: Any = tokenizer.model
    if isinstance(model, models.BPE):
        cases, expected = _bpe_cases(model)
    elif isinstance(model, models.Unigram):
        names = [piece for i, (piece, _) in enumerate(model.vocab) if i != model.unk_id][:MOST_RULES]
        cases = [left + right for left, right in pairwise(names) if not (left + right).startswith("<0x")]
        unigram = Unigram({p: s for i, (p, s) in enumerate(model.vocab) if i != model.unk_id})
        expected = lambda text: [model.vocabulary[piece] for piece in unigram.segment(text)]  # noqa: E731
    else:
        return "by design", "a look-up by the longest match has no ties", ""
    for text in cases:
        ids = expected(text)
        for way in (list(model.encode_ids(text)), [token.id for token in model.tokenize(text)]):
            if way != ids:
                return "fail", "another choice than the stated rule's", f"{text!r}: {way}, expected {ids}"
    return "pass", f"{len(cases)} texts with several ways to go, cut by the stated rule", ""


def _bpe_cases(model: models.BPE) -> tuple[list[str], Callable[[str], list[int]]]:
    """Texts on which two rules or two places compete, and what the readable encoder makes of them."""
    if model.continuing_subword_prefix or model.end_of_word_suffix:  # a symbol is more than its character
        return [], lambda text: []
    ids, first = model.vocabulary, list(model.merges)[:MOST_RULES]
    rules = {(ids[a], ids[b]): (rank, ids[a + b]) for rank, (a, b) in enumerate(model.merges)}
    after = dict(reversed(first))
    cases = [left * times for left, right in first if left == right for times in (3, 4, 5)]
    cases += [left + right + end for left, right in first for end in ("", after.get(right, ""))]
    fit = [text for text in cases if ids.keys() >= set(text) and not (model.ignore_merges and text in ids)]
    return fit, lambda text: merge_reference([ids[character] for character in text], rules)


def _special_flags(tokenizer: Tokenizer) -> Seen:
    empty = tokenizer.encode("")
    inserted = {i for i, mask in zip(empty.ids, empty.special_tokens_mask, strict=True) if mask}
    known = tokenizer.vocabulary
    named = {known[name] for name in (tokenizer.bos_token, tokenizer.eos_token) if name in known}
    controls = inserted.union(named, tokenizer.control_ids, tokenizer.stop_ids, tokenizer.prefix_ids)
    special = {token.id: token.content for token in tokenizer.added_tokens if token.special}
    names = {token_id: token for token, token_id in known.items()}
    for token_id in sorted(controls - special.keys()):
        return "fail", "a control token is not flagged as special", f"ID {token_id}, {names.get(token_id)!r}"
    for token_id, content in special.items():
        if tokenizer.decode([token_id]):
            return "fail", "a special token is not skipped in decoding", f"ID {token_id}, {content!r}"
    return "pass", f"{len(special)} special tokens, {len(controls)} of them control the model", ""


def _forged(tokenizer: Tokenizer) -> Seen:
    ways: dict[str, Callable[[str], Encoding]] = {
        "encode(parse_special_tokens=False)": partial(lengths.encode_plain, tokenizer),
        "encode_parts": lambda text: tokenizer.encode_parts([text]),
    }
    unknown = lengths.unknown_id(tokenizer)
    special = [each for each in tokenizer.added_tokens if each.special and each.id != unknown]
    for token in special:
        for text in (token.content, f"a {token.content}", f"{token.content * 2} a", f"\n{token.content}\n"):
            for name, encode in ways.items():
                with suppress(UnknownCharacterError):
                    if token.id in encode(text).ids:
                        seen = f"plain text makes the token {token.content!r}, ID {token.id}"
                        return "fail", seen, f"{name} of {text!r}"
    return "pass", f"plain text makes none of {len(special)} special tokens", ""


def _offsets(tokenizer: Tokenizer, texts: Sequence[str]) -> Seen:
    compared, unknown = 0, lengths.unknown_id(tokenizer)
    for text, encoding in _encoded(tokenizer, texts):
        previous = 0
        rows = zip(encoding.ids, encoding.tokens, encoding.offsets, strict=True) if encoding else ()
        for token_id, token, (start, end) in rows:
            where = f"{token!r} at {start}..{end} of {text[:60]!r}"
            if not previous <= start <= end <= len(text):
                return "fail", "offsets go back or leave the text", where
            previous = start
            if token_id != unknown and not _is_consistent(tokenizer, token, text, start, end):
                return "fail", "a token is not in its part of the text", where
            compared += 1
    return "pass", f"{compared:,} tokens lie in order, each in its part of the text", ""


def _is_consistent(tokenizer: Tokenizer, token: str, text: str, start: int, end: int) -> bool:
    if tokenizer.normalizer is not None:  # marks compose and change places: take all
        while 0 < start < len(text) and unicodedata.combining(text[start]):
            start -= 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
    part = text[start:end]
    prefix = getattr(tokenizer.model, "continuing_subword_prefix", None) or ""
    data = lengths.token_bytes(tokenizer, token.removeprefix(prefix) if token != prefix else token)
    forms = [part] if tokenizer.normalizer is None else [part, tokenizer.normalizer(part)]
    return any(
        wanted.strip() in form.encode()
        for form in [*forms, *(form.replace(" ", "▁") for form in forms), *("▁" + form for form in forms)]
        for wanted in (data, data.replace("▁".encode(), b" "))
    )


def _determinism(tokenizer: Tokenizer, texts: Sequence[str], others: list[dict[str, Any]]) -> Seen:
    here = _all_ids(tokenizer, texts)
    for text, ids in zip(texts, here, strict=True):
        if not isinstance(ids, str) and list(tokenizer.encode(text).ids) != ids:
            return "fail", "encode and encode_ids differ", f"{text!r}"
    for seed, other in zip(HASH_SEEDS, others, strict=True):
        for text, ids, answer in zip(texts, here, other["ids"], strict=True):
            if ids != answer:
                seen = f"other IDs in another process (hash seed {seed})"
                return "fail", seen, f"{text!r}: {ids}, {answer}"
    return "pass", f"{len(others)} other processes gave the same IDs for {len(texts)} texts", ""


def _fingerprint(tokenizer: Tokenizer, texts: Sequence[str], others: list[dict[str, Any]]) -> Seen:
    here, saved = tokenizer.fingerprint(), []
    for seed, other in zip(HASH_SEEDS, others, strict=True):
        if other["fingerprint"] != here:
            seen = f"another one in another process (hash seed {seed})"
            return "fail", seen, f"{here}, {other['fingerprint']}"
    for codec in CODECS:
        try:
            data = codec.write(tokenizer, strict=True)
        except TokenLabError:  # this format cannot say all that it would have to
            continue
        again = Tokenizer.from_bytes(data)
        is_same = all(getattr(again, part) == getattr(tokenizer, part) for part in HASHED)
        if is_same and again.fingerprint() != here:
            return "fail", f"another one after saving as {codec.name}", f"{here}, {again.fingerprint()}"
        if _all_ids(again, texts) != _all_ids(tokenizer, texts):
            return "fail", f"other IDs after saving as {codec.name}", ""
        saved.append(codec.name + ("" if again.fingerprint() == here else " (same IDs, other components)"))
    kept = f"and after saving as {', '.join(saved)}" if saved else "; no format holds this tokenizer"
    return "pass", f"{here[:16]}… here, in {len(others)} other processes {kept}", ""


def _length(tokenizer: Tokenizer, texts: Sequence[str]) -> Seen:
    try:
        found = lengths.measure(tokenizer, texts)
    except UnknownCharacterError as error:
        return "by design", "the texts of this slice are refused", str(error)
    parts = [
        f"{found.per_character:.2f} tokens a character",
        f"{found.per_byte:.2f} a byte",
        f"{found.byte_share:.0%} of them bytes of a character",
    ]
    if found.unknown:
        parts.append(f"{found.unknown / found.tokens:.0%} unknown")
    return "by design", ", ".join(parts), ""
