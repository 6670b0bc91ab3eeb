"""The tokenizer: the stages in their fixed order (chapters 6 and 6b; Hugging Face's pipeline).

Added tokens out, normalise, pre-tokenise, model; then truncate, post-process, pad. Decoding goes the other
way.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from tokenlab.checks import check_documents, contradiction, iterate
from tokenlab.errors import (
    ComponentError,
    MissingTokenError,
    UnknownCharacterError,
    UnknownCharacterWarning,
    UnknownFormatError,
)
from tokenlab.files import write_whole
from tokenlab.pipeline import decoders, models, normalizers, post_processors, pre_tokenizers
from tokenlab.pipeline.added_tokens import (
    AddedToken,
    AddedTokenFinder,
    Fragment,
    Match,
    normalized_finder,
    raw_finder,
)
from tokenlab.pipeline.chunk_encoder import ChunkEncoder, Columns
from tokenlab.pipeline.contract import Contract, contract_of
from tokenlab.pipeline.encoding import Encoding, Padding, Span, Truncation, merge, pad_batch
from tokenlab.pipeline.text import AlignedText

Input = str | Sequence[str]
"""A text, or with `is_pretokenized` its words."""


class Codec(Protocol):
    """A file format: `CODECS` lists one for each, and `tokenlab.formats` fills that list."""

    name: str
    suffixes: tuple[str, ...]

    def recognises(self, data: bytes) -> bool:
        """Whether the bytes look like this format."""

    def read(self, data: bytes, *, folder: Path | None = None) -> Tokenizer:
        """Return the tokenizer that the bytes describe; in `folder` lie files beside (None: none)."""

    def write(self, tokenizer: Tokenizer, *, strict: bool) -> bytes:
        """Return the tokenizer as bytes; strict: a loss of answers is an error, not a warning."""

    def plain_form(self, tokenizer: Tokenizer) -> object | None:
        """Return data equal for tokenizers that answer alike, None where the format cannot say them."""


CODECS: list[Codec] = []
_SEARCHED = "added tokens of the normalised text"  # the name of the stage before the pre-tokenizer


@dataclass(frozen=True, slots=True)
class ControlToken:
    """A control token that the caller puts in by name: the authorised way, which no text can forge."""

    content: str


class Stage(NamedTuple):
    """What a stage of the pipeline made: its name, and (text, span, ID) of each piece (ID None: not yet)."""

    name: str
    pieces: tuple[tuple[str, Span, int | None], ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Every stage's state for one text."""

    text: str
    stages: tuple[Stage, ...]

    def __str__(self) -> str:
        lines = [f"text: {self.text!r}"]
        for stage in self.stages:
            lines.append(f"{stage.name}:")
            for text, (start, end), token_id in stage.pieces:
                lines.append(f"  {text!r} {start}..{end}" + ("" if token_id is None else f" ID {token_id}"))
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer: components, added tokens, and what a model's files say beside them.

    Args:
        model: the one stage that must be there.
        normalizer, pre_tokenizer, post_processor, decoder: the others, None where absent.
        added_tokens: in the order of the file.
        truncation, padding: applied by every encoding, None: not at all.
        chat_template: the model's Jinja template.
        bos_token, eos_token: their texts, for templates.
        stop_ids: the IDs that end generation.
        prefix_ids: IDs put before the text, ahead of the post-processor (`.mtok` files have this).
        clean_up_tokenization_spaces: whether decoding takes spaces before punctuation out.
        control_ids: IDs of added tokens that are cut out ahead of all others; of two that begin alike the one
            listed first (headers of `.mtok` and legacy files say this).
        unknown_characters: what to do with a character for which a BPE has neither a token nor an unk_token:
            "warn" leaves it out as the field does, but says so and keeps the offsets right; "error" refuses.
        origin: the file that a reader made this of, so that it is written back byte for byte.

    >>> from tokenlab.pipeline.models import WordLevel
    >>> words = Tokenizer(WordLevel({"a": 0, "b": 1}), pre_tokenizer=pre_tokenizers.Whitespace())
    >>> words.encode("a  b").offsets, words.decode([0, 1])
    (((0, 1), (3, 4)), 'a b')
    """

    model: models.Model
    normalizer: normalizers.Normalizer | None = None
    pre_tokenizer: pre_tokenizers.PreTokenizer | None = None
    post_processor: post_processors.PostProcessor | None = None
    decoder: decoders.Decoder | None = None
    added_tokens: tuple[AddedToken, ...] = ()
    truncation: Truncation | None = None
    padding: Padding | None = None
    chat_template: str | None = None
    bos_token: str | None = None
    eos_token: str | None = None
    stop_ids: tuple[int, ...] = ()
    prefix_ids: tuple[int, ...] = ()
    clean_up_tokenization_spaces: bool = False
    control_ids: tuple[int, ...] = ()
    unknown_characters: Literal["warn", "error"] = field(default="warn", compare=False)
    origin: bytes | None = field(default=None, repr=False, compare=False)
    _raw: AddedTokenFinder = field(init=False, repr=False, compare=False)
    _normalized: AddedTokenFinder = field(init=False, repr=False, compare=False)
    _chunks: ChunkEncoder | None = field(init=False, repr=False, compare=False)
    _unforgeable: list[Tokenizer] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        _check_ids(self.model, self.added_tokens)
        for token_id in {*self.control_ids}.difference(token.id for token in self.added_tokens):
            raise contradiction(self, "control_ids", "IDs of added tokens", repr(token_id))
        chunker = self.pre_tokenizer.chunker() if self.pre_tokenizer else None
        derived = {
            "_raw": raw_finder(self.added_tokens, self.control_ids),
            "_normalized": normalized_finder(self.added_tokens, self.normalizer),
            "_chunks": chunker and ChunkEncoder(self.pre_tokenizer, self.model, chunker),  # type: ignore[arg-type]
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, each.name) for each in fields(self) if each.init)

    # --- Encoding

    def encode(
        self,
        text: Input,
        pair: Input | None = None,
        *,
        add_special_tokens: bool = True,
        is_pretokenized: bool = False,
        parse_special_tokens: bool = True,
    ) -> Encoding:
        """Return the tokens of a text, or of two.

        Args:
            text, pair: a text each; with `is_pretokenized` the words of one.
            add_special_tokens: whether the post-processor (and `prefix_ids`) put special tokens in.
            is_pretokenized: whether words are given; each one still passes through every stage.
            parse_special_tokens: False reads special tokens in the text as ordinary characters.

        Raises:
            LoneSurrogateError: half of a UTF-16 pair in a text, with its position.
            UnknownCharacterError: a character that the model has nothing for, with its position.
            TruncationError, PatternTimeoutError: as their names say.

        Warns:
            UnknownCharacterWarning: the same, where `unknown_characters` lets it be left out.
        """
        options = add_special_tokens, is_pretokenized, parse_special_tokens
        return self._padded([self._encode_pair(text, pair, *options)])[0]

    def encode_batch(
        self,
        texts: Iterable[Input | tuple[Input, Input]],
        *,
        add_special_tokens: bool = True,
        is_pretokenized: bool = False,
        parse_special_tokens: bool = True,
    ) -> list[Encoding]:
        """Return the encodings of several texts, padded together; a tuple of two is a pair of texts."""
        options = add_special_tokens, is_pretokenized, parse_special_tokens
        encodings = []
        for each in check_documents(texts):
            is_pair = (
                isinstance(each, tuple) and len(each) == 2 and is_pretokenized != isinstance(each[0], str)
            )
            text, pair = each if is_pair else (each, None)
            encodings.append(self._encode_pair(text, pair, *options))
        return self._padded(encodings)

    def encode_ids(
        self, text: str, *, add_special_tokens: bool = True, parse_special_tokens: bool = True
    ) -> list[int]:
        """Return the IDs of `encode`, the fast way: no offsets. Arguments and errors are the same."""
        encode = partial(
            self.encode, add_special_tokens=add_special_tokens, parse_special_tokens=parse_special_tokens
        )
        if self.truncation is not None or self.padding is not None:
            return list(encode(text).ids)
        ids: list[int] = []
        try:
            for fragment, token in self._raw.split(AlignedText.of(text), parse_special_tokens):
                if token:
                    ids.append(token.id)
                else:
                    self._add_fragment_ids(ids, fragment, parse_special_tokens)
        except UnknownCharacterError:  # its place in the text is not known here
            return list(encode(text).ids)
        if not add_special_tokens:
            return ids
        frame = self._post_process(Encoding.from_tokens([-1], [""], [(0, 0)], [0]), None, True).ids
        return ids if frame == (-1,) else [i for mark in frame for i in (ids if mark == -1 else [mark])]

    def _add_fragment_ids(self, ids: list[int], fragment: AlignedText, parse_special: bool) -> None:
        at_start = fragment.origin == 0 and self._looks_at_origin
        if self.normalizer is not None:
            if at_start:
                fragment = self.normalizer.normalize(fragment)
            else:
                fragment = AlignedText.of(self.normalizer(fragment.text), origin=1)
        for part, token in self._normalized.split(fragment, parse_special):
            if token:
                ids.append(token.id)
            elif self.pre_tokenizer is None:
                ids += self.model.encode_ids(part.text)
            elif self._chunks is None or (at_start and part.origin == 0):
                ids += self.model.encode_pieces(piece.text for piece in self.pre_tokenizer.pre_tokenize(part))
            else:
                self._chunks.add_ids(ids, part.text)

    @property
    def _looks_at_origin(self) -> bool:
        return self.pre_tokenizer is not None and self.pre_tokenizer.looks_at_origin

    def encode_parts(
        self, parts: Iterable[str | ControlToken | AddedToken], *, add_special_tokens: bool = False
    ) -> Encoding:
        """Return the tokens of text fragments and authorised control tokens, which are kept apart.

        Special tokens are never made of a fragment, neither by looking for them nor, as `encode` may, by a
        model whose vocabulary spells one. Neighbouring fragments are one text, however it was cut; so where
        none spells a special token, the result is that of the joined text.

        Args:
            parts: ordinary text, or the control token itself.
            add_special_tokens: whether the post-processor puts special tokens in as well.

        Raises:
            MissingTokenError: a control token that is no added token of this tokenizer.
        """
        by_content = {token.content: token for token in self.added_tokens}
        contents: list[str] = []
        forced: list[Match] = []
        length = 0
        for part in parts:
            content = part if isinstance(part, str) else part.content
            if not isinstance(part, str):
                if content not in by_content:
                    raise MissingTokenError(component="added_tokens", token=content, role="a control token")
                forced.append((length, length + len(content), by_content[content]))
            contents.append(content)
            length += len(content)
        text = "".join(contents)
        columns = self._columns(text, False, forced)
        unknown = self.model.unknown_id
        special = {each.id: each.content for each in self.added_tokens if each.special and each.id != unknown}
        authorised = sum(token.id in special for _, _, token in forced)
        if sum(map(special.__contains__, columns.ids)) > authorised:
            if not self._unforgeable:
                model = self.model.without(set(special.values()))
                self._unforgeable.append(replace(self, model=model))
            columns = self._unforgeable[0]._columns(text, False, forced)
        encoding = Encoding.from_tokens(*columns, text)
        return self._padded([self._post_process(encoding, None, add_special_tokens)])[0]

    def _encode_pair(
        self, text: Input, pair: Input | None, add_special: bool, is_pretokenized: bool, parse_special: bool
    ) -> Encoding:
        def encode_one(source: Input, sequence_id: int) -> Encoding:
            columns = Columns([], [], [], [])
            words = iterate(source, "text", "a sequence of words") if is_pretokenized else [source]
            for number, word in enumerate(words):
                part = self._columns(word, parse_special)
                columns.extend(part, number if is_pretokenized else None)
            return Encoding.from_tokens(*columns, source, sequence_id)

        second = None if pair is None else encode_one(pair, 1)
        return self._post_process(encode_one(text, 0), second, add_special)

    def _columns(self, text: str, parse_special: bool, forced: Sequence[Match] = ()) -> Columns:
        if self._chunks is not None and not self._looks_at_origin:
            columns, word = Columns([], [], [], []), 0
            stages = self._stages(text, parse_special, forced)
            fragments = next(fragments for name, fragments in stages if name == _SEARCHED)
            try:
                for fragment in fragments:
                    if fragment.token:
                        word = self._add_columns(columns, [fragment], word)
                    else:
                        word = self._chunks.add_columns(columns, fragment.text, word)
                return columns
            except UnknownCharacterError:  # its place in the text is not known there
                pass
        *_, (_, fragments) = self._stages(text, parse_special, forced)
        columns = Columns([], [], [], [])
        self._add_columns(columns, fragments, 0)
        return columns

    def _stages(
        self, text: str, parse_special: bool, forced: Sequence[Match] = ()
    ) -> Iterator[tuple[str, list[Fragment]]]:
        """Yield the name of each stage before the model, and the fragments that it leaves."""
        fragments = self._raw.split(AlignedText.of(text), parse_special, forced)
        yield "added tokens of the raw text", fragments
        if self.normalizer is not None:
            normalize = self.normalizer.normalize
            fragments = [each if each.token else Fragment(normalize(each.text)) for each in fragments]
        yield "normalizer", fragments
        search = partial(self._normalized.split, parse_special=parse_special)
        fragments = [part for each in fragments for part in ([each] if each.token else search(each.text))]
        yield _SEARCHED, fragments
        if self.pre_tokenizer is not None:
            cut = self.pre_tokenizer.pre_tokenize
            fragments = [
                part
                for each in fragments
                for part in ([each] if each.token else map(Fragment, cut(each.text)))
            ]
        yield "pre-tokenizer", fragments

    def _add_columns(self, columns: Columns, fragments: list[Fragment], word: int) -> int:
        """Add the tokens of pieces, numbered from `word`; return the number after the last."""
        unknown: list[UnknownCharacterError] = []
        for number, (piece, added) in enumerate(fragments, word):
            if added:
                columns.add([models.Token(added.id, piece.text, 0, len(piece.text))], piece, number)
                continue
            try:
                columns.add(self.model.tokenize(piece.text), piece, number)
            except UnknownCharacterError as error:
                position = piece.span(error.position, error.position + 1)[0]
                unknown.append(UnknownCharacterError(**{**error.facts, "position": position}))
                if self.unknown_characters == "error" or not isinstance(self.model, models.BPE):
                    raise unknown[-1] from None
                columns.add(self.model.tokenize_known(piece.text), piece, number)
        if unknown:
            warnings.warn(UnknownCharacterWarning(unknown[0], len(unknown)), stacklevel=2)
        return word + len(fragments)

    def _post_process(self, encoding: Encoding, pair: Encoding | None, add_special: bool) -> Encoding:
        if self.prefix_ids and add_special:
            prefix = Encoding.inserted(
                self.prefix_ids, [self._token(token_id) for token_id in self.prefix_ids]
            )
            encoding = merge([prefix, encoding])
        return post_processors.post_process(
            encoding,
            pair,
            post_processor=self.post_processor,
            truncation=self.truncation,
            add_special_tokens=add_special,
        )

    def _padded(self, encodings: list[Encoding]) -> list[Encoding]:
        return encodings if self.padding is None else pad_batch(encodings, self.padding)

    # --- Decoding

    def decode(
        self,
        ids: Iterable[int],
        *,
        skip_special_tokens: bool = True,
        unknown_ids: Literal["error", "skip"] = "error",
    ) -> str:
        """Return the text of token IDs.

        Args:
            ids: token IDs.
            skip_special_tokens: whether special added tokens are left out.
            unknown_ids: "error", or "skip" for the lenient way.

        Raises:
            UnknownTokenIdError: an ID that no token has, with its position.
        """
        text = self._id_decoder().decode(
            ids, skip_special_tokens=skip_special_tokens, unknown_ids=unknown_ids
        )
        return decoders.clean_up_spaces(text) if self.clean_up_tokenization_spaces else text

    def decode_stream(self, skip_special_tokens: bool = True) -> decoders.DecodeStream:
        """Return a decoder to push IDs into, one at a time; it gives text as soon as that is certain."""
        return decoders.DecodeStream(self._id_decoder(), skip_special_tokens)

    def _id_decoder(self) -> decoders.IdDecoder:
        # As in the field, a token that is searched for in normalised text also comes back normalised.
        added = {
            token.id: replace(token, content=self.normalizer(token.content))
            if token.normalized and self.normalizer
            else token
            for token in self.added_tokens
        }
        return decoders.IdDecoder(self.model.tokens_by_id, added, self.decoder)

    # --- What it is

    @property
    def vocabulary(self) -> dict[str, int]:
        """Every token and its ID, added tokens included."""
        return {**self.model.vocabulary, **{token.content: token.id for token in self.added_tokens}}

    def _token(self, token_id: int) -> str:
        added = {token.id: token.content for token in self.added_tokens}
        return added.get(token_id) or self.model.tokens_by_id.get(token_id, "")

    def explain(self, text: str, *, parse_special_tokens: bool = True) -> Explanation:
        """Return every stage's state for one text, as data that prints as text.

        >>> from tokenlab.pipeline.models import WordLevel
        >>> tokenizer = Tokenizer(WordLevel({"a": 0}), normalizers.Lowercase(), pre_tokenizers.Whitespace())
        >>> print(tokenizer.explain("A a"))  # doctest: +ELLIPSIS
        text: 'A a'
        added tokens of the raw text:
          'A a' 0..3
        normalizer:
          'a a' 0..3
        ...
        model:
          'a' 0..1 ID 0
          'a' 2..3 ID 0
        post-processor:
          'a' 0..1 ID 0
          'a' 2..3 ID 0
        """
        stages = []
        fragments: list[Fragment] = []
        for name, fragments in self._stages(text, parse_special_tokens):
            pieces = [(each.text, each.token.id if each.token else None) for each in fragments]
            stages.append(Stage(name, tuple((t.text, t.span(0, len(t.text)), i) for t, i in pieces)))
        columns = Columns([], [], [], [])
        self._add_columns(columns, fragments, 0)
        encoding = Encoding.from_tokens(*columns, text)
        for name, made in ("model", encoding), ("post-processor", self._post_process(encoding, None, True)):
            stages.append(Stage(name, tuple(zip(made.tokens, made.offsets, made.ids, strict=True))))
        return Explanation(text, tuple(stages))

    def contract(self) -> Contract:
        """Return what this tokenizer promises about special tokens: six questions, answered as data."""
        return contract_of(self)

    def fingerprint(self) -> str:
        """Return a SHA-256 (hexadecimal) of all that the IDs and the text of a single text depend on.

        It is the same in every process, and for a tokenizer in any of its formats, where nothing was lost:
        what one format says by other components is hashed as that. Not part of it are pairs, type IDs and
        offsets.
        """
        plain = next((plain for codec in CODECS if (plain := codec.plain_form(self)) is not None), self)
        return hashlib.sha256(canonical(plain).encode("utf-8", "surrogatepass")).hexdigest()

    # --- Files

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> Tokenizer:
        """Return the tokenizer in a file of any known format, told by its content; see `from_bytes`.

        Files beside it that belong to the format (for tokenizer.json: tokenizer_config.json) are read, too.
        """
        place = Path(path)
        return cls.from_bytes(place.read_bytes(), folder=place.parent, **options)

    @classmethod
    def from_bytes(cls, data: bytes, **options: Any) -> Tokenizer:
        """Return the tokenizer that the bytes of a file describe.

        Args:
            data: tokenizer.json, `.mtok` or a legacy `.txt`, told by its content.
            options: what that format's reader can be told.

        Raises:
            UnknownFormatError: no known format begins like this.
            TokenLabError: each format's own error, which says where the file is wrong.
        """
        for codec in CODECS:
            if codec.recognises(data):
                return codec.read(data, **options)
        raise UnknownFormatError(known=", ".join(codec.name for codec in CODECS), found=repr(data[:16]))

    def save(self, path: str | os.PathLike[str], *, strict: bool = False) -> None:
        """Write the tokenizer to a file, in the format of its suffix, as a whole or not at all.

        Args:
            path: where to; ".json" or ".mtok".
            strict: a loss of answers is an error, not a warning.

        Raises:
            UnknownFormatError: no format has this suffix.
        """
        target = Path(path)
        for codec in CODECS:
            if target.suffix.lower() in codec.suffixes:
                data = codec.write(self, strict=strict)
                break
        else:
            known = ", ".join(suffix for codec in CODECS for suffix in codec.suffixes)
            raise UnknownFormatError(known=known, found=repr(target.suffix))
        write_whole(target, data)

    @classmethod
    def from_tiktoken(
        cls,
        mergeable_ranks: Mapping[bytes, int],
        pattern: str,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Tokenizer:
        r"""Return the tokenizer that tiktoken builds from the same three things.

        Text that the pattern does not match is encoded as well, where tiktoken drops it.

        Args:
            mergeable_ranks: token to rank, which is its ID too.
            pattern: how to pre-tokenise, in the dialect of Rust's fancy-regex.
            special_tokens: text to ID.

        >>> ranks = {bytes([b]): b for b in range(256)} | {b"ab": 256}
        >>> Tokenizer.from_tiktoken(ranks, r"\w+|\W+").encode_ids("ab b")
        [256, 32, 98]
        """
        from tokenlab.pipeline.tiktoken import from_tiktoken

        return from_tiktoken(mergeable_ranks, pattern, special_tokens or {})


def _check_ids(model: models.Model, added_tokens: Iterable[AddedToken]) -> None:
    """Refuse two tokens with one ID, and one token with two."""
    refuse = partial(
        ComponentError,
        component="Tokenizer",
        field="added_tokens",
        expected="one ID for each token and one token for each ID",
    )
    ids: dict[str, int] = {}
    tokens: dict[int, str] = {}
    for added in added_tokens:
        token = tokens.setdefault(added.id, model.tokens_by_id.get(added.id, added.content))
        if token != added.content:
            raise refuse(found=f"ID {added.id} for {added.content!r}, which {token!r} has")
        known = ids.setdefault(added.content, model.vocabulary.get(added.content, added.id))
        if known != added.id:
            raise refuse(found=f"IDs {known} and {added.id} for {added.content!r}")


def canonical(value: object) -> str:
    """Return a text that says a component with all its data, also what its repr leaves out."""
    if hasattr(value, "__dataclass_fields__"):
        kept = [each.name for each in fields(value) if each.init and each.compare]  # type: ignore[arg-type]
        data = ",".join(f"{name}={canonical(getattr(value, name))}" for name in kept)
        return f"{type(value).__name__}({data})"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key!r}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return "(" + ",".join(map(canonical, value)) + ")"
    return repr(value)
