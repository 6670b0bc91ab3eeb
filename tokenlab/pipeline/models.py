"""Models: the stage that turns a piece of text into tokens (chapter 6).

Component names and fields are those of tokenizer.json. BPE runs the merge engine of chapter 3 and Unigram the
Viterbi of chapter 5; WordPiece and WordLevel are lookups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, NamedTuple, NoReturn

from tokenlab.bpe.merging import MergeTable, Observer
from tokenlab.errors import ComponentError, MissingTokenError, NoSegmentationError, UnknownCharacterError
from tokenlab.unigram import viterbi

HIGHEST_ID = 2**32 - 1


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

    def _set_vocabulary(self, vocabulary: Mapping[str, int], tokens_by_id: Mapping[int, str]) -> None:
        _set(self, vocabulary=vocabulary, tokens_by_id=tokens_by_id, _cache=PieceCache(self._ids))

    def _ids(self, piece: str) -> Iterable[int]:
        return [token.id for token in self.tokenize(piece)]

    def _unknown(self, token: str) -> int:
        """Return the ID of the unknown token."""
        token_id = self.vocabulary.get(token)
        if token_id is None:
            raise MissingTokenError(component=type(self).__name__, token=token, role="the unknown token")
        return token_id

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, each.name) for each in fields(self) if each.init)


def _set(component: object, **values: object) -> None:
    for name, value in values.items():
        object.__setattr__(component, name, value)


def _by_id(component: str, vocabulary: Mapping[str, int]) -> dict[int, str]:
    """Turn a vocabulary round; refuse IDs that are none, or that two tokens share."""
    refuse = partial(ComponentError, component=component, field="vocab")
    if not set(map(type, vocabulary.values())) <= {int}:
        token, value = next((t, i) for t, i in vocabulary.items() if type(i) is not int)
        raise refuse(expected="a whole number as ID", found=f"{value!r} for {token!r}")
    for token_id in (min(vocabulary.values(), default=0), max(vocabulary.values(), default=0)):
        if not 0 <= token_id <= HIGHEST_ID:
            raise refuse(expected=f"IDs from 0 to {HIGHEST_ID}", found=str(token_id))
    tokens_by_id = {token_id: token for token, token_id in vocabulary.items()}
    if len(tokens_by_id) < len(vocabulary):
        token, token_id = next((t, i) for t, i in vocabulary.items() if tokens_by_id[i] != t)
        raise refuse(
            expected="one token for each ID",
            found=f"{token!r} and {tokens_by_id[token_id]!r} with ID {token_id}",
        )
    return tokens_by_id


class MergePairs(Sequence[tuple[str, str]]):
    """The merges of a table by rank, as pairs of tokens: a tuple that is made when it is first looked at."""

    __slots__ = ("_pairs", "_source")

    def __init__(self, table: MergeTable, names: Mapping[int, str]) -> None:
        self._source = table, names
        self._pairs: tuple[tuple[str, str], ...] | None = None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The tuple."""
        if self._pairs is None:
            table, names = self._source
            self._pairs = tuple((names[left], names[right]) for left, right in table.pairs)
        return self._pairs

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
        unk_token: the token for a character that the vocabulary lacks; None: such a character is an error.
        continuing_subword_prefix: put before each character but a piece's first one.
        end_of_word_suffix: put after a piece's last character.
        fuse_unk: whether neighbouring unknown characters become one token.
        byte_fallback: whether an unknown character becomes tokens like <0xC3>, where all its bytes have one.
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
            raise ComponentError(
                component="BPE",
                field="dropout",
                expected="null or 0 (random merges)",
                found=str(self.dropout),
            )
        vocabulary = dict(self.vocab)
        # Of a repeated pair the last rank counts.
        merges = tuple(dict.fromkeys(map(tuple, reversed(self.merges))))[::-1]
        cut = len((self.continuing_subword_prefix or "").encode())
        try:
            made = [left + (right.encode()[cut:].decode() if cut else right) for left, right in merges]
            rules = {
                (vocabulary[left], vocabulary[right]): (rank, vocabulary[merged])
                for rank, ((left, right), merged) in enumerate(zip(merges, made, strict=True))
            }
        except (KeyError, UnicodeDecodeError):
            self._refuse_merge(vocabulary, cut)
        _set(self, vocab=vocabulary, merges=merges, _table=MergeTable(rules))
        self._set_vocabulary(vocabulary, _by_id("BPE", vocabulary))

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
        _set(model, **{each.name: each.default for each in fields(cls) if each.init})
        _set(model, byte_fallback=byte_fallback, vocab=vocab, merges=MergePairs(table, names), _table=table)
        model._set_vocabulary(vocab, names)
        return model

    def _refuse_merge(self, vocabulary: Mapping[str, int], cut: int) -> NoReturn:
        place, (left, right) = next(
            (place, (left, right))
            for place, (left, right) in enumerate(self.merges)
            if not {left, right, (left.encode() + right.encode()[cut:]).decode(errors="replace")}
            <= vocabulary.keys()
        )
        raise ComponentError(
            component="BPE",
            field=f"merges[{place}]",
            expected="two tokens of the vocabulary that make a third",
            found=f"{left!r} + {right!r}",
        )

    def tokenize(self, piece: str) -> list[Token]:
        """Return the tokens of a piece, each with the code points it covers."""
        if self.ignore_merges and piece in self.vocabulary:
            return [Token(self.vocabulary[piece], piece, 0, len(piece))]
        symbols, spans = self._symbols(piece)
        return self._tokens(piece, symbols, spans, self._table.merge(symbols))

    def tokenize_many(self, pieces: Sequence[str]) -> list[list[Token]]:
        """Return the tokens of each of n pieces, merged all at once."""
        whole = self.vocabulary if self.ignore_merges else {}
        started = [self._symbols(piece) for piece in pieces if piece not in whole]
        rest = zip(started, self._table.merge_many([symbols for symbols, _ in started]), strict=True)
        return [
            self.tokenize(piece) if piece in whole else self._tokens(piece, *(made := next(rest))[0], made[1])
            for piece in pieces
        ]

    def _tokens(
        self, piece: str, symbols: list[int], spans: list[tuple[int, int]] | None, merged: list[int]
    ) -> list[Token]:
        names = self.tokens_by_id
        tokens = []
        if spans is None:  # every symbol is one character, so a token covers as many as it has
            start = 0
            for token_id in merged:
                end = min(start + len(names[token_id]), len(piece))
                tokens.append(Token(token_id, names[token_id], start, end))
                start = end
            return tokens
        # A token is spelled by its symbols, all but the first without the prefix: count until all are there.
        cut = len((self.continuing_subword_prefix or "").encode())
        lengths = [len(names[symbol].encode()) for symbol in symbols]
        first = 0
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
        if self.ignore_merges and piece in self.vocabulary:
            return (self.vocabulary[piece],)
        return self._table.merge(self._symbols(piece)[0])

    def encode_many(self, pieces: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the token IDs of each of n pieces, merged all at once."""
        whole = self.vocabulary if self.ignore_merges else {}
        words = [self._symbols(piece)[0] for piece in pieces if piece not in whole]
        merged = iter(self._table.merge_many(words))
        return [(whole[piece],) if piece in whole else tuple(next(merged)) for piece in pieces]

    def observe_merges(self, piece: str, observe: Observer) -> list[int]:
        """Return the IDs that the merges make of a piece; for `observe` see `MergeTable.merge`."""
        return self._table.merge(self._symbols(piece)[0], observe)

    def _symbols(self, piece: str) -> tuple[list[int], list[tuple[int, int]] | None]:
        """Return what merging starts from, and the span of each symbol (None: one character each)."""
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
                    raise UnknownCharacterError(
                        position=place, character=character, piece=piece[:40], missing="unk_token"
                    )
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


def _byte_ids(text: str, vocabulary: Mapping[str, int]) -> list[int] | None:
    """Return the IDs of <0xC3> and so on for the UTF-8 bytes of a text, or None where one has none."""
    ids = [vocabulary.get(f"<0x{byte:02X}>") for byte in text.encode()]
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
        vocabulary = dict(self.vocab)
        _set(self, vocab=vocabulary, _longest=max(map(len, vocabulary), default=0))
        self._set_vocabulary(vocabulary, _by_id("WordPiece", vocabulary))

    def tokenize(self, piece: str) -> list[Token]:
        """Return the tokens of a word, each with the code points it covers."""
        if len(piece) <= self.max_input_chars_per_word:
            tokens = self._spell(piece)
            if tokens is not None:
                return tokens
        return [Token(self._unknown(self.unk_token), self.unk_token, 0, len(piece))]

    def _spell(self, word: str) -> list[Token] | None:
        tokens: list[Token] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                name = prefix + word[start:end]
                token_id = self.vocabulary.get(name)
                if token_id is not None:
                    break
            else:
                return None
            tokens.append(Token(token_id, name, start, end))
            start, prefix = end, self.continuing_subword_prefix
        return tokens


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
        vocabulary = dict(self.vocab)
        _set(self, vocab=vocabulary)
        self._set_vocabulary(vocabulary, _by_id("WordLevel", vocabulary))

    def tokenize(self, piece: str) -> list[Token]:
        """Return the one token of a piece."""
        token_id = self.vocabulary.get(piece)
        if token_id is not None:
            return [Token(token_id, piece, 0, len(piece))]
        return [Token(self._unknown(self.unk_token), self.unk_token, 0, len(piece))]


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
            raise ComponentError(
                component="Unigram",
                field="unk_id",
                expected=f"null or an ID below {len(vocab)}",
                found=str(self.unk_id),
            )
        scores = {piece: score for piece, score in vocab if piece}
        # Without a token for it, unknown text may not be on the path at all.
        price = min((score for _, score in vocab), default=0.0) - viterbi.UNKNOWN_PENALTY
        nothing_for_unknown = self.unk_id is None and not self.byte_fallback
        engine = viterbi.Unigram(
            scores, unknown_log_probability=float("-inf") if nothing_for_unknown else price
        )
        _set(self, vocab=vocab, _engine=engine)
        pieces = [piece for piece, _ in vocab]
        self._set_vocabulary({piece: i for i, piece in enumerate(pieces)}, dict(enumerate(pieces)))

    def tokenize(self, piece: str) -> list[Token]:
        """Return the tokens of a piece, each with the code points it covers."""
        tokens = []
        for start, end in self._spans(piece):
            text = piece[start:end]
            token_id = self.vocabulary.get(text)
            bytes_ = _byte_ids(text, self.vocabulary) if token_id is None and self.byte_fallback else None
            if bytes_ is not None:
                tokens += [Token(byte_id, self.tokens_by_id[byte_id], start, end) for byte_id in bytes_]
                continue
            if token_id is None:
                token_id = self.unk_id
            if token_id is None:
                self._refuse(piece, start)
            else:
                tokens.append(Token(token_id, text, start, end))
        return tokens

    def _spans(self, piece: str) -> Sequence[tuple[int, int]]:
        try:
            path = self._engine.best_spans(piece)
        except NoSegmentationError as error:
            self._refuse(piece, error.position)
        if self.unk_id is None:
            return [(start, end) for start, end, _ in path]
        spans: list[tuple[int, int]] = []
        previous_is_unknown = False
        for start, end, known in path:
            # Where the text spells the unknown token, the field takes that for unknown text, too.
            unknown = not known or self.vocabulary[piece[start:end]] == self.unk_id
            if unknown and previous_is_unknown:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
            previous_is_unknown = unknown
        return spans

    def _refuse(self, piece: str, position: int) -> NoReturn:
        raise UnknownCharacterError(
            position=position, character=piece[position], piece=piece[:40], missing="unk_id"
        )
