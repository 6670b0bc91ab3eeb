"""What the legacy `.txt` files mean as pipelines, by the field's rules or by their own reader's (chapter 07).

After the older formats of the `.mtok` document. The files hold tokens, scores and merges, and leave the rest
to whoever reads them: a split pattern is a parameter, and where the format's reader does otherwise than the
model was trained for, `rule="reader"` gives its answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from tokenlab.errors import InvalidArgumentError, LegacyTxtError, LostAnswersWarning, TokenLabError
from tokenlab.formats import header, huggingface, legacy_txt
from tokenlab.formats.legacy_txt import FIRST_TOKEN_LINE, LegacyFile
from tokenlab.formats.meaning import report_losses
from tokenlab.formats.mtok_meaning import NormTable
from tokenlab.pipeline import decoders, models, normalizers, pre_tokenizers
from tokenlab.pipeline.added_tokens import AddedToken, hidden_texts
from tokenlab.pipeline.byte_alphabet import byte_of, to_byte_alphabet
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.tiktoken import from_tiktoken
from tokenlab.pipeline.tokenizer import Tokenizer

MARKER = "▁"
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
"""GPT-4's split pattern, in tiktoken's dialect."""
QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""The split pattern that the reader of type 3 names."""
# The same over bytes, each one a letter of the byte alphabet: Ġ is a space, č and Ċ are CR and LF.
QWEN_OVER_BYTES = (
    "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|[^čĊA-Za-z0-9]?[A-Za-z]+|[0-9]"
    "|Ġ?[^ĠĉĊċČčA-Za-z0-9]+[čĊ]*|[ĠĉĊċČč]*[čĊ]+|[ĠĉĊċČč]+(?![^ĠĉĊċČč])|[ĠĉĊċČč]+"
)
BERT_WORDS = r"[A-Za-z0-9]+|[^\s\x00-\x7f]|[^\sA-Za-z0-9]"
UNBOUNDED = 2**32 - 1


@dataclass(frozen=True, slots=True)
class MatchedWordPiece(models.WordPiece):
    """Word pieces as the reader of type 2 takes them: what matched stays, and the rest is unknown."""

    def tokenize(self, piece: str) -> list[models.Token]:
        """Return the tokens of a word, the unknown one only for what no token spells."""
        tokens, end = self._spell(piece)
        if end < len(piece):
            tokens.append(models.Token(self._unknown(self.unk_token), self.unk_token, end, len(piece)))
        return tokens


def algorithm_of(file: LegacyFile) -> str:
    """Return "bpe" or "unigram", by the scores of the normal pieces of a file of type 0.

    Priorities are whole numbers that only fall from one piece to the next, or all zero; all others are
    log-probabilities.
    """
    scores = [score for score, kind in zip(file.scores, file.kinds, strict=True) if kind == legacy_txt.NORMAL]
    whole = all(float(score).is_integer() for score in scores)
    falling = all(late < early for early, late in pairwise(scores))
    return "bpe" if not any(scores) or (whole and falling) else "unigram"


def to_tokenizer(
    file: LegacyFile, *, rule: str = "field", pattern: str | None = None, algorithm: str | None = None
) -> Tokenizer:
    """Return the tokenizer that a legacy file describes.

    Args:
        file: what `legacy_txt.read_file` gives.
        rule: "field", as such a model was trained, or "reader", as the format's own reader does.
        pattern: how to split (types 1 and 3 by the field's rule); None: GPT-4's for type 1 (tiktoken's
            dialect), Qwen's for type 3 (Oniguruma's).
        algorithm: "bpe" or "unigram" (type 0 by the field's rule); None: by the scores, see `algorithm_of`.
            The result's model says which it is.

    Raises:
        InvalidArgumentError: for another rule or algorithm, or one that the type has no use for.
        LegacyTxtError: for tokens that are no text, and for parts that contradict each other.
    """
    kind = file.header.type
    _check("rule", rule, ("field", "reader"))
    if algorithm is not None:
        takes_it = kind == legacy_txt.SENTENCEPIECE and rule == "field"
        _check("algorithm", algorithm, ("bpe", "unigram") if takes_it else (None,))
    if pattern is not None and (kind in (legacy_txt.SENTENCEPIECE, legacy_txt.BERT) or rule == "reader"):
        _check("pattern", pattern, (None,))
    listed = [token_id for token_id in dict.fromkeys(file.header.special) if token_id < len(file.tokens)]
    special = {_text(file, token_id): token_id for token_id in listed}
    makers: dict[int, Callable[..., Tokenizer]] = {
        legacy_txt.SENTENCEPIECE: partial(_sentencepiece, algorithm=algorithm),
        legacy_txt.TIKTOKEN: partial(_tiktoken, pattern=pattern, special=special),
        legacy_txt.BERT: _bert,
        legacy_txt.HUGGING_FACE: partial(_hugging_face, pattern=pattern),
    }
    try:
        tokenizer = makers[kind](file, rule == "reader")
        added = {token.id: token for token in tokenizer.added_tokens}
        added |= {i: AddedToken(i, text, normalized=False, special=True) for text, i in special.items()}
        return replace(
            tokenizer,
            added_tokens=tuple(added.values()),
            control_ids=tuple(special.values()) if hidden_texts(special) else (),
            stop_ids=file.header.stop,
            prefix_ids=file.header.prefix,
            unknown_characters="error",
        )
    except LegacyTxtError:
        raise
    except TokenLabError as error:
        raise LegacyTxtError(line=4, expected="tokens that fit each other", found=str(error)) from error


def _check(name: str, value: str, allowed: tuple[str | None, ...]) -> None:
    if value not in allowed:
        expected = " or ".join("nothing, for this type and rule" if a is None else f'"{a}"' for a in allowed)
        raise InvalidArgumentError(name=name, expected=expected, found=repr(value))


def _text(file: LegacyFile, token_id: int) -> str:
    token = file.tokens[token_id]
    try:
        return token.decode() if isinstance(token, bytes) else token
    except UnicodeDecodeError as error:
        line, expected = FIRST_TOKEN_LINE + token_id, "a token that is UTF-8"
        raise LegacyTxtError(line=line, expected=expected, found=repr(token)) from error


def _texts(file: LegacyFile) -> list[str]:
    return [_text(file, token_id) for token_id in range(len(file.tokens))]


def _sentencepiece(file: LegacyFile, by_reader: bool, algorithm: str | None) -> Tokenizer:
    texts, kinds = _texts(file), file.kinds
    usable = [i for i, kind in enumerate(kinds) if kind in (legacy_txt.NORMAL, legacy_txt.USER_DEFINED)]
    if not by_reader:  # a blank is how some exporters write the marker
        for i in usable:
            texts[i] = texts[i].replace(" ", MARKER)
    spelled: dict[str, int] = {}
    for token_id, text in enumerate(texts):
        if spelled.setdefault(text, token_id) != token_id:
            line, found = FIRST_TOKEN_LINE + token_id, f"{text!r}, which has ID {spelled[text]}"
            raise LegacyTxtError(line=line, expected="a piece not spelled before", found=found)
    unknown = next((token_id for token_id, kind in enumerate(kinds) if kind == legacy_txt.UNKNOWN), None)
    model: models.Model
    if by_reader or (algorithm or algorithm_of(file)) == "bpe":
        pieces = sorted(usable, key=lambda i: -file.scores[i])
        known = {texts[i] for i in usable} - {""}
        lengths = sorted(set(map(len, known)))
        merges = tuple(pair for i in pieces for pair in models.halves(texts[i], known, lengths))
        name = None if unknown is None else texts[unknown]
        model = models.BPE(unk_token=name, fuse_unk=True, byte_fallback=True, vocab=spelled, merges=merges)
    else:
        # What is no piece of text must lose against any way to spell the same text.
        lowest = min((file.scores[i] for i in usable), default=0.0)
        scores = [lowest - 20.0 * len(text) for text in texts]
        for i in usable:
            scores[i] = float(file.scores[i])
        model = models.Unigram(unknown, tuple(zip(texts, scores, strict=True)), byte_fallback=True)
    back = decoders.Replace(Pattern(MARKER), " ")
    bytes_back = () if by_reader else (decoders.ByteFallback(),)
    user_defined = [i for i, kind in enumerate(kinds) if kind == legacy_txt.USER_DEFINED]
    return Tokenizer(
        model,
        normalizers.Sequence((normalizers.Prepend(MARKER), normalizers.Replace(Pattern(" "), MARKER))),
        decoder=decoders.Sequence((back, *bytes_back, decoders.Fuse())),
        added_tokens=tuple(AddedToken(i, texts[i], normalized=False) for i in user_defined),
    )


def _tiktoken(file: LegacyFile, by_reader: bool, pattern: str | None, special: dict[str, int]) -> Tokenizer:
    ranks = {token: rank for rank, token in enumerate(file.tokens) if isinstance(token, bytes)}
    for token_id in special.values():
        del ranks[file.tokens[token_id]]  # type: ignore[arg-type]
    if not by_reader:
        return from_tiktoken(ranks, CL100K if pattern is None else pattern, special)
    # The longest token that the rest begins with, without any pieces: word pieces that nothing marks.
    return Tokenizer(
        models.WordPiece("", "", UNBOUNDED, {to_byte_alphabet(token): rank for token, rank in ranks.items()}),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        decoder=decoders.ByteLevel(),
    )


def _bert(file: LegacyFile, by_reader: bool) -> Tokenizer:
    vocabulary = {text: token_id for token_id, text in enumerate(_texts(file))}
    if not by_reader:
        return Tokenizer(
            models.WordPiece(vocab=vocabulary),
            normalizers.BertNormalizer(),
            pre_tokenizers.BertPreTokenizer(),
            decoder=decoders.WordPiece(),
        )
    capitals = tuple((code_point, chr(code_point).lower()) for code_point in range(ord("A"), ord("Z") + 1))
    return Tokenizer(
        MatchedWordPiece(max_input_chars_per_word=UNBOUNDED, vocab=vocabulary),
        NormTable(capitals),
        pre_tokenizers.Split(Pattern(BERT_WORDS, regex=True), "Removed", invert=True),
        decoder=decoders.Fuse(),
    )


def _hugging_face(file: LegacyFile, by_reader: bool, pattern: str | None) -> Tokenizer:
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    rule = QWEN_OVER_BYTES if by_reader else QWEN if pattern is None else pattern
    split = pre_tokenizers.Split(Pattern(rule, regex=True), "Isolated")
    parts = (as_bytes, split) if by_reader else (split, as_bytes)
    vocabulary = {text: token_id for token_id, text in enumerate(_texts(file))}
    return Tokenizer(
        models.BPE(vocab=vocabulary, merges=file.merges),
        pre_tokenizer=pre_tokenizers.Sequence(parts),
        decoder=decoders.ByteLevel(),
    )


# The codec: this module is one entry of the pipeline's table of formats.

name = "legacy .txt"
suffixes: tuple[str, ...] = (".txt",)


def recognises(data: bytes) -> bool:
    """Whether the bytes begin with the magic number and a type from 0 to 3."""
    return header.recognises(data) and data[4:5] in tuple(b"%d" % kind for kind in range(4))


def read(data: bytes, *, folder: Path | None = None, **options: Any) -> Tokenizer:
    """Return the tokenizer in a legacy file.

    Args:
        data: the file.
        folder: where it lies: llm_config.json there may hold the chat template, as jinja.chat_template.
        options: see `to_tokenizer`.
    """
    tokenizer = replace(to_tokenizer(legacy_txt.read_file(data), **options), origin=data)
    if folder is None:
        return tokenizer
    document = huggingface.read_if_there(folder, "llm_config.json", huggingface.parse_json, None)
    beside = document.get("jinja") if isinstance(document, dict) else None
    template = beside.get("chat_template") if isinstance(beside, dict) else None
    return replace(tokenizer, chat_template=template if isinstance(template, str) else None)


def write(tokenizer: Tokenizer, *, strict: bool = False) -> bytes:
    """Return a tokenizer as a legacy file: type 3 for byte-level BPE, 2 for WordPiece, 0 for marked pieces.

    Raises:
        LostAnswersError: under `strict`, where reading the file (by the field's rule) would answer otherwise.
        LegacyTxtError: where no type fits the model, or a token has no place in it.

    Warns:
        LostAnswersWarning: the same without `strict`.
    """
    if tokenizer.origin is not None and recognises(tokenizer.origin):
        # The file holds no pattern and no chat template, so these may be any.
        held: dict[str, Any] = {"pre_tokenizer": None, "chat_template": None}
        ways: Any = {"rule": "field"}, {"rule": "reader"}, {"algorithm": "bpe"}, {"algorithm": "unigram"}
        for options in ways:
            with suppress(TokenLabError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if replace(read(tokenizer.origin, **options), **held) == replace(tokenizer, **held):
                    return tokenizer.origin
    data = legacy_txt.write_file(_file_of(tokenizer))
    if read(data).fingerprint() != tokenizer.fingerprint():
        loss = "a legacy file holds tokens, scores and merges alone"
        report_losses([LostAnswersWarning(component="Tokenizer", loss=loss)], strict=strict)
    return data


def _file_of(tokenizer: Tokenizer) -> LegacyFile:
    model, vocabulary = tokenizer.model, tokenizer.vocabulary
    texts = {token_id: text for text, token_id in vocabulary.items()}
    special = tuple(token.id for token in tokenizer.added_tokens if token.special)
    head = partial(header.Header, special=special, stop=tokenizer.stop_ids, prefix=tokenizer.prefix_ids)
    if sorted(texts) != list(range(len(texts))):
        expected = "tokens with the IDs below their number"
        raise LegacyTxtError(line=4, expected=expected, found="IDs with holes")
    tokens = [texts[token_id] for token_id in range(len(texts))]
    as_bytes = tuple(text.encode() for text in tokens)
    if isinstance(model, models.WordPiece):
        return LegacyFile(head(legacy_txt.BERT), as_bytes)
    if isinstance(model, models.BPE) and isinstance(tokenizer.decoder, decoders.ByteLevel):
        return LegacyFile(head(legacy_txt.HUGGING_FACE), tuple(tokens), merges=tuple(model.merges))
    if isinstance(model, models.Unigram):
        scores = dict(model.vocab)
        unknown = None if model.unk_id is None else model.vocab[model.unk_id][0]
    elif isinstance(model, models.BPE):
        ranked = reversed(list(enumerate(model.merges)))
        scores = {left + right: float(-rank) for rank, (left, right) in ranked}
        unknown = model.unk_token
    else:
        raise LegacyTxtError(line=1, expected="BPE, Unigram or WordPiece", found=type(model).__name__)
    kinds = tuple(_kind(text, unknown, token_id in special) for token_id, text in enumerate(tokens))
    last = min(scores.values(), default=0.0)
    absent = (last - 1 if kind == legacy_txt.NORMAL else 0.0 for kind in kinds)
    return LegacyFile(head(legacy_txt.SENTENCEPIECE), as_bytes, tuple(map(scores.get, tokens, absent)), kinds)


def _kind(text: str, unknown: str | None, special: bool) -> int:
    if text == unknown:
        return legacy_txt.UNKNOWN
    is_byte = byte_of(text) is not None
    return legacy_txt.BYTE if is_byte else legacy_txt.CONTROL if special else legacy_txt.NORMAL


def plain_form(tokenizer: Tokenizer) -> None:
    """Return None: this format leaves much of a tokenizer open."""
