"""Models: the stage that turns a piece of text into tokens (chapter 6).

Component names and fields are those of tokenizer.json. BPE runs the merge engine of chapter 3 and Unigram the
Viterbi of chapter 5; WordPiece and WordLevel are lookups.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import inf
from operator import add
from typing import Any, AnyStr, NamedTuple, NoReturn

from tokenlab.bpe.merging import MergeTable, Observer
from tokenlab.checks import contradiction, set_fields
from tokenlab.errors import MissingTokenError, NoSegmentationError, UnknownCharacterError
from tokenlab.pipeline.byte_alphabet import BYTE_TOKENS
from tokenlab.unigram import viterbi

HIGHEST_ID = 2**32 - 1
Symbols = tuple[list[int], list[tuple[int, int]] | None]
"""What merging starts from, and the span of each symbol (None: one character each)."""


class Token(NamedTuple):
    """A token, and the code points of the piece that it covers: whole ones, also where it is part of one."""

    id: int
    token: str
    start: int
    end: int


class PieceCache(dict[str, tuple[int, ...]]):
    """The IDs of pieces seen before: at most two generations of `capacity` pieces.

    A full generation becomes the older one, and what is used again moves over: so the cache stays small
    without ever forgetting everything at once.

    >>> cache = PieceCache(lambda piece: [ord(character) for character in piece], capacity=1)
    >>> cache["ab"], cache["c"], len(cache)
    ((97, 98), (99,), 1)
    """

    __slots__ = ("_capacity", "_compute", "_older")

    def __init__(self, compute: Callable[[str], Iterable[int]], capacity: int = 1 << 16) -> None:
        self._compute = compute
        self._capacity = capacity
        self._older: dict[str, tuple[int, ...]] = {}

    def __missing__(self, piece: str) -> tuple[int, ...]:
        ids = self._older.get(piece)
        if ids is None:
            ids = tuple(self._compute(piece))
        self.keep([piece], [ids])
        return ids

    def keep(self, pieces: Sequence[str], ids: Sequence[tuple[int, ...]]) -> None:
        """Take in what others have computed; a piece over 100 characters hardly comes again."""
        if len(self) + len(pieces) > self._capacity and self:
            self._older = dict(self)
            self.clear()
        self.update(row for row in zip(pieces, ids, strict=True) if len(row[0]) <= 100)


@dataclass(frozen=True, slots=True)
class Model:
    """The third stage: a piece to tokens."""

    vocabulary: Mapping[str, int] = field(init=False, repr=False, compare=False)
    tokens_by_id: Mapping[int, str] = field(init=False, repr=False, compare=False)
    _cache: PieceCache = field(init=False, repr=False, compare=False)

    @property
    def unknown_id(self) -> int | None:
        """The ID of the token for what is unknown, None where there is none."""
        name: Any = getattr(self, "unk_token", None)
        return self.vocabulary.get(name)

    def without(self, tokens: Container[str]) -> Model:
        """Return the same model, except that it makes none of some tokens out of text."""
        known = {token: token_id for token, token_id in self.vocabulary.items() if token not in tokens}
        return replace(self, vocab=known)  # type: ignore[call-arg] # every model has one

    def tokenize(self, piece: str) -> list[Token]:
        """Return the tokens of a piece, each with the code points it covers.

        Raises:
            UnknownCharacterError, MissingTokenError: when text is unknown and the model has nothing for that.
        """
        raise NotImplementedError

    def encode_ids(self, piece: str) -> tuple[int, ...]:
        """Return the token IDs of a piece: `tokenize` without the spans, and from a cache where it can."""
        return self._cache[piece]

    def encode_pieces(self, pieces: Iterable[str]) -> list[int]:
        """Return the token IDs of n pieces, one after the other."""
        cache = self._cache
        return [token_id for piece in pieces for token_id in cache[piece]]

    def encode_many(self, pieces: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the token IDs of each of n pieces, which are new to the cache and need not be kept in it."""
        return [tuple(self._ids(piece)) for piece in pieces]

    def tokenize_many(self, pieces: Sequence[str]) -> list[list[Token]]:
        """Return the tokens of each of n pieces."""
        return list(map(self.tokenize, pieces))

    def _take(self, vocab: Mapping[str, int]) -> None:
        """Keep a copy of a vocabulary and its reverse; refuse IDs that are none, or that two tokens share."""
        vocabulary = dict(vocab)
        if not set(map(type, vocabulary.values())) <= {int}:
            token, value = next((t, i) for t, i in vocabulary.items() if type(i) is not int)
            raise contradiction(self, "vocab", "a whole number as ID", f"{value!r} for {token!r}")
        for token_id in (min(vocabulary.values(), default=0), max(vocabulary.values(), default=0)):
            if not 0 <= token_id <= HIGHEST_ID:
                raise contradiction(self, "vocab", f"IDs from 0 to {HIGHEST_ID}", str(token_id))
        names = {token_id: token for token, token_id in vocabulary.items()}
        if len(names) < len(vocabulary):
            token, token_id = next((t, i) for t, i in vocabulary.items() if names[i] != t)
            found = f"{token!r} and {names[token_id]!r} with ID {token_id}"
            raise contradiction(self, "vocab", "one token for each ID", found)
        cache = PieceCache(self._ids)
        set_fields(self, vocab=vocabulary, vocabulary=vocabulary, tokens_by_id=names, _cache=cache)

    def _ids(self, piece: str) -> Iterable[int]:
        return [token.id for token in self.tokenize(piece)]

    def _unknown(self, token: str) -> int:
        """Return the ID of the unknown token."""
        token_id = self.vocabulary.get(token)
        if token_id is None:
            raise MissingTokenError(component=type(self).__name__, token=token, role="the unknown token")
        return token_id

    def _whole(self, piece: str, token: str) -> Token:
        """Return the one token, itself or the unknown one, that stands for a piece."""
        return Token(self._unknown(token), token, 0, len(piece))

    def _refuse(self, piece: str, place: int, missing: str) -> NoReturn:
        raise UnknownCharacterError(position=place, character=piece[place], piece=piece[:40], missing=missing)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, each.name) for each in fields(self) if each.init)


class MergePairs(Sequence[tuple[str, str]]):
    """The merges of a table by rank, as pairs of tokens: a tuple that is made when it is first looked at."""

    def __init__(self, table: MergeTable, names: Mapping[int, str]) -> None:
        self._table, self._names = table, names

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The tuple."""
        names = self._names
        return tuple((names[left], names[right]) for left, right in self._table.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: Any) -> Any:
        return self.pairs[index]

    def __eq__(self, other: object) -> bool:
        return self.pairs == (other.pairs if isinstance(other, MergePairs) else other)

    def __hash__(self) -> int:
        return hash(self.pairs)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.pairs,)


@dataclass(frozen=True, slots=True)
class BPE(Model):
    """Byte-pair encoding: start from characters, merge by rank.

    Args:
        dropout: None or 0; random merges are not implemented.
        unk_token: the token for a character that the vocabulary lacks; None: such a character is an error
            (in a tokenizer, what its `unknown_characters` says).
        continuing_subword_prefix: put before each character but a piece's first one.
        end_of_word_suffix: put after a piece's last character.
        fuse_unk: whether neighbouring unknown characters become one token.
        byte_fallback: whether an unknown character becomes tokens like <0xC3>, where all its bytes have one.
            Bytes of its prefix or suffix cover it, too (Hugging Face: what follows, even past the end).
        ignore_merges: whether a piece that is a token is taken whole, whatever the merges say.
        vocab: token to ID; may have holes, and tokens that no merge makes.
        merges: (left, right) by rank; where a pair is repeated, the last one counts.

    Raises:
        ComponentError: for a dropout, for two tokens with one ID, for a merge of tokens that are not there.

    >>> bpe = BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=(("a", "b"),))
    >>> bpe.encode_ids("abb"), bpe.tokenize("ab")
    ((2, 1), [Token(id=2, token='ab', start=0, end=2)])
    """

    dropout: float | None = None
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False
    vocab: Mapping[str, int] = field(default_factory=dict, repr=False, hash=False)
    merges: Sequence[tuple[str, str]] = field(default=(), repr=False)
    _table: MergeTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.dropout:
            raise contradiction(self, "dropout", "null or 0 (random merges)", str(self.dropout))
        self._take(self.vocab)
        vocabulary = self.vocabulary
        # Of a repeated pair the last rank counts.
        merges = tuple(dict.fromkeys(map(tuple, reversed(self.merges))))[::-1]
        join = self._join if self.continuing_subword_prefix else add
        try:
            rules = {
                (vocabulary[left], vocabulary[right]): (rank, vocabulary[join(left, right)])
                for rank, (left, right) in enumerate(merges)
            }
        except KeyError:
            known = vocabulary.keys()
            place, (left, right) = next(
                (place, pair)
                for place, pair in enumerate(self.merges)
                if not known >= {*pair, self._join(*pair)}
            )
            expected = "two tokens of the vocabulary that make a third"
            raise contradiction(self, f"merges[{place}]", expected, f"{left!r} + {right!r}") from None
        set_fields(self, merges=merges, _table=MergeTable(rules))

    def _join(self, left: str, right: str) -> str:
        cut = len((self.continuing_subword_prefix or "").encode())
        return left + right.encode()[cut:].decode(errors="replace")

    @classmethod
    def from_table(
        cls, vocab: dict[str, int], names: Mapping[int, str], table: MergeTable, *, byte_fallback: bool
    ) -> BPE:
        """Return the model of a merge table, which a file may hold ready made; nothing is checked again.

        Args:
            vocab: token to ID.
            names: ID to token.
            table: of these IDs.
            byte_fallback: as of the model.
        """
        model = object.__new__(cls)
        merges, cache = MergePairs(table, names), PieceCache(model._ids)
        set_fields(model, **{each.name: each.default for each in fields(cls) if each.init})
        set_fields(model, byte_fallback=byte_fallback, vocab=vocab, merges=merges)
        set_fields(model, vocabulary=vocab, tokens_by_id=names, _table=table, _cache=cache)
        return model

    def without(self, tokens: Container[str]) -> BPE:
        """Return the same model, except that it makes none of some tokens out of text."""
        vocab = {token: token_id for token, token_id in self.vocab.items() if token not in tokens}
        merges = [pair for pair in self.merges if vocab.keys() >= {*pair, self._join(*pair)}]
        return replace(self, vocab=vocab, merges=merges)

    def tokenize(self, piece: str) -> list[Token]:
        """Return the tokens of a piece, each with the code points it covers."""
        symbols, spans = self._symbols(piece)
        return self._tokens(piece, symbols, spans, self._table.merge(symbols))

    def tokenize_known(self, piece: str) -> list[Token]:
        """Return the tokens of a piece as the field makes them without `unk_token`: what is unknown vanishes.

        >>> BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=(("a", "b"),)).tokenize_known("a?ba")
        [Token(id=2, token='ab', start=0, end=3), Token(id=0, token='a', start=3, end=4)]
        """
        symbols, spans = self._characters(piece, leave_out=True)
        return self._tokens(piece, symbols, spans, self._table.merge(symbols))

    def tokenize_many(self, pieces: Sequence[str]) -> list[list[Token]]:
        """Return the tokens of each of n pieces, merged all at once."""
        symbols, spans = zip(*map(self._symbols, pieces), strict=True) if pieces else ((), ())
        return list(map(self._tokens, pieces, symbols, spans, self._table.merge_many(symbols)))

    def _tokens(
        self, piece: str, symbols: list[int], spans: list[tuple[int, int]] | None, merged: list[int]
    ) -> list[Token]:
        names = self.tokens_by_id
        tokens = []
        first = 0
        if spans is None:  # every symbol is one character, so a token covers as many as it has
            for token_id in merged:
                last = min(first + len(names[token_id]), len(piece))
                tokens.append(Token(token_id, names[token_id], first, last))
                first = last
            return tokens
        # A token is spelled by its symbols, all but the first without the prefix: count until all are there.
        cut = len((self.continuing_subword_prefix or "").encode())
        lengths = [len(names[symbol].encode()) for symbol in symbols]
        for token_id in merged:
            missing = len(names[token_id].encode()) - lengths[first]
            last = first
            while missing > 0:
                last += 1
                missing -= lengths[last] - cut
            tokens.append(Token(token_id, names[token_id], spans[first][0], spans[last][1]))
            first = last + 1
        return tokens

    def _ids(self, piece: str) -> Iterable[int]:
        return self._table.merge(self._symbols(piece)[0])

    def encode_many(self, pieces: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the token IDs of each of n pieces, merged all at once."""
        return list(map(tuple, self._table.merge_many([self._symbols(piece)[0] for piece in pieces])))

    def observe_merges(self, piece: str, observe: Observer) -> list[int]:
        """Return the IDs that the merges make of a piece; for `observe` see `MergeTable.merge`."""
        return self._table.merge(self._characters(piece)[0], observe)

    def _symbols(self, piece: str) -> Symbols:
        """Return what merging starts from: characters, or the piece if it is to be taken whole."""
        if self.ignore_merges and piece in self.vocabulary:
            return [self.vocabulary[piece]], [(0, len(piece))]
        return self._characters(piece)

    def _characters(self, piece: str, *, leave_out: bool = False) -> Symbols:
        if not (self.continuing_subword_prefix or self.end_of_word_suffix):
            try:
                return [self.vocabulary[character] for character in piece], None
            except KeyError:
                pass
        prefix, suffix = self.continuing_subword_prefix or "", self.end_of_word_suffix or ""
        symbols: list[int] = []
        spans: list[tuple[int, int]] = []
        previous_is_unknown = False
        for place, character in enumerate(piece):
            name = (prefix if place else "") + character + (suffix if place == len(piece) - 1 else "")
            found = self._known(name)
            unknown = found is None
            if found is None:
                if self.unk_token is None:
                    if leave_out:
                        continue
                    self._refuse(piece, place, "unk_token")
                found = [self._unknown(self.unk_token)]
            if unknown and previous_is_unknown and self.fuse_unk:
                spans[-1] = (spans[-1][0], place + 1)
            else:
                symbols += found
                spans += [(place, place + 1)] * len(found)
            previous_is_unknown = unknown
        return symbols, spans

    def _known(self, name: str) -> list[int] | None:
        token_id = self.vocabulary.get(name)
        if token_id is not None:
            return [token_id]
        return _byte_ids(name, self.vocabulary) if self.byte_fallback else None


def halves(
    token: AnyStr, known: Container[AnyStr], lengths: Sequence[int], gap: int = 0
) -> list[tuple[AnyStr, AnyStr]]:
    """Return each way to cut a token in two known ones, that with the shortest left one first.

    Args:
        token: n characters or bytes.
        known: what both parts must be; the empty text is a part like any other, if it is one of them.
        lengths: of the known ones, ascending, each once: no other cut is tried.
        gap: how many characters lie between the two parts.

    >>> halves("aaa", {"a", "aa"}, [1, 2])
    [('a', 'aa'), ('aa', 'a')]
    """
    return [
        (left, right)
        for cut in lengths[: bisect_right(lengths, len(token) - gap)]
        if (left := token[:cut]) in known and (right := token[cut + gap :]) in known
    ]


def _byte_ids(text: str, vocabulary: Mapping[str, int]) -> list[int] | None:
    """Return the IDs of <0xC3> and so on for the UTF-8 bytes of a text, or None where one has none."""
    ids = [vocabulary.get(BYTE_TOKENS[byte]) for byte in text.encode()]
    known = [token_id for token_id in ids if token_id is not None]
    return known if len(known) == len(ids) else None


@dataclass(frozen=True, slots=True)
class WordPiece(Model):
    """Longest match first; a word that cannot be spelled to its end becomes the unknown token, whole.

    Args:
        unk_token: that token.
        continuing_subword_prefix: marks, in the vocabulary, a piece that does not begin its word.
        max_input_chars_per_word: a word of more characters (not bytes) is unknown.
        vocab: token to ID.

    >>> WordPiece(vocab={"[UNK]": 0, "sun": 1, "##ny": 2}).encode_ids("sunny")
    (1, 2)
    """

    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100
    vocab: Mapping[str, int] = field(default_factory=dict, repr=False, hash=False)
    _longest: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._take(self.vocab)
        set_fields(self, _longest=max(map(len, self.vocab), default=0))

    def tokenize(self, piece: str) -> list[Token]:
        """Return the tokens of a word, each with the code points it covers."""
        if len(piece) <= self.max_input_chars_per_word:
            tokens, end = self._spell(piece)
            if end == len(piece):
                return tokens
        return [self._whole(piece, self.unk_token)]

    def _spell(self, word: str) -> tuple[list[Token], int]:
        """Return the tokens of as much of a word as they spell, and where that ends."""
        tokens: list[Token] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                name = prefix + word[start:end]
                token_id = self.vocabulary.get(name)
                if token_id is not None:
                    break
            else:
                break
            tokens.append(Token(token_id, name, start, end))
            start, prefix = end, self.continuing_subword_prefix
        return tokens, start


@dataclass(frozen=True, slots=True)
class WordLevel(Model):
    """A piece is a token, or unknown.

    Args:
        vocab: token to ID.
        unk_token: the token for a piece that the vocabulary lacks.

    >>> WordLevel(vocab={"<unk>": 0, "sun": 1}).encode_ids("moon")
    (0,)
    """

    vocab: Mapping[str, int] = field(default_factory=dict, repr=False, hash=False)
    unk_token: str = "<unk>"

    def __post_init__(self) -> None:
        self._take(self.vocab)

    def tokenize(self, piece: str) -> list[Token]:
        """Return the one token of a piece."""
        return [self._whole(piece, piece if piece in self.vocabulary else self.unk_token)]


@dataclass(frozen=True, slots=True)
class Unigram(Model):
    """The most probable pieces; runs of unknown characters become one token.

    Args:
        unk_id: the ID of the token for what is unknown; None: unknown text is an error.
        vocab: (piece, score) by ID; where a piece is repeated, the last one counts.
        byte_fallback: whether unknown text becomes tokens like <0xC3>, where all its bytes have one.

    Raises:
        ComponentError: when unk_id is no ID of the vocabulary.

    >>> Unigram(unk_id=0, vocab=(("<unk>", 0.0), ("a", -1.0))).tokenize("axya")[1]
    Token(id=0, token='xy', start=1, end=3)
    """

    unk_id: int | None = None
    vocab: tuple[tuple[str, float], ...] = field(default=(), repr=False)
    byte_fallback: bool = False
    _engine: viterbi.Unigram = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        vocab = tuple((piece, score) for piece, score in self.vocab)
        if self.unk_id is not None and not 0 <= self.unk_id < len(vocab):
            raise contradiction(self, "unk_id", f"null or an ID below {len(vocab)}", str(self.unk_id))
        scores = {piece: score for piece, score in vocab if piece}
        # Without a token for it, unknown text may not be on the path at all.
        price = min((score for _, score in vocab), default=0.0) - viterbi.UNKNOWN_PENALTY
        if self.unk_id is None and not self.byte_fallback:
            price = -inf
        engine = viterbi.Unigram(scores, unknown_log_probability=price)
        names = dict(enumerate(piece for piece, _ in vocab))
        ids = {piece: token_id for token_id, piece in names.items()}
        set_fields(self, vocab=vocab, vocabulary=ids, tokens_by_id=names, _engine=engine)
        set_fields(self, _cache=PieceCache(self._ids))

    @property
    def unknown_id(self) -> int | None:
        """The ID of the token for what is unknown, None where there is none."""
        return self.unk_id

    def without(self, tokens: Container[str]) -> Unigram:
        """Return the same model, except that it makes none of some tokens out of text."""
        rest = tuple(("" if piece in tokens else piece, score) for piece, score in self.vocab)
        model = replace(self, vocab=rest)
        set_fields(model, tokens_by_id=self.tokens_by_id)
        return model

    def tokenize(self, piece: str) -> list[Token]:
        """Return the tokens of a piece, each with the code points it covers."""
        try:
            spans: Iterable[viterbi.Span] = self._engine.best_spans(piece)
        except NoSegmentationError as error:
            self._refuse(piece, error.position, "unk_id")
        if self.unk_id is not None:
            # Where the text spells the unknown token, the field takes that for unknown text, too.
            unknown, ids = self.unk_id, self.vocabulary
            spans = viterbi.fuse_unknown(
                (start, end, known and ids[piece[start:end]] != unknown) for start, end, known in spans
            )
        tokens = []
        for start, end, _ in spans:
            text = piece[start:end]
            token_id = self.vocabulary.get(text)
            bytes_ = _byte_ids(text, self.vocabulary) if token_id is None and self.byte_fallback else None
            if bytes_ is not None:
                tokens += [Token(byte_id, self.tokens_by_id[byte_id], start, end) for byte_id in bytes_]
                continue
            if token_id is None:
                token_id = self.unk_id
            if token_id is None:
                self._refuse(piece, start, "unk_id")
            tokens.append(Token(token_id, text, start, end))
        return tokens
