"""Learning merge rules by counting pairs: a readable trainer and two fast ones that agree (chapter 2).

Published sources: the byte BPE training of the tokenizer notes, and the weighted words `hug pug pun bun
hugs`. The rule in all three: every adjacent pair counts, overlapping ones too (`aaaa` has three a+a), each
document or word by itself; the pair counted most is merged, from left to right without overlaps; ties fall
by a stated order.

An engine here is a generator of (pair, count). Between two of its steps the trainer appends the new token's
bytes to `symbols`, so that the engine knows the new ID; and who stops asking has not paid for one merge too
many.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from importlib.util import find_spec
from itertools import pairwise
from operator import add
from typing import Any, Generic, Literal, TypeVar

from tokenlab.bpe.merging import MergeTable, Pair, replace_pair
from tokenlab.checks import (
    check_count,
    check_documents,
    check_text,
    decode_text,
    encode_text,
    iterate,
    unexpected,
)
from tokenlab.errors import TokenBytesLimitError, TooManySymbolsError

BYTE_SYMBOLS = tuple(bytes([byte]) for byte in range(256))
TOKEN_BYTES_LIMIT = 2**28
# Whole documents of this many bytes in all repay the import of numpy and its cost per merge (measured).
NUMPY_PAYS_FROM = 2**16

Engine = Iterator[tuple[Pair, int]]
TieKey = Callable[[Pair], Any]
Progress = Callable[[int, int], None]
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class MergeRule:
    """One learned rule, in training IDs: byte b is b, merge r is 256 + r.

    >>> BpeTrainer(1).train([b"abab"]).merges
    (MergeRule(rank=0, pair=(97, 98), token_id=256, count=2, token_bytes=b'ab'),)
    """

    rank: int
    pair: Pair
    token_id: int
    count: int | None
    token_bytes: bytes


@dataclass(frozen=True, slots=True)
class BpeTraining:
    """The rules of one training, in rank order, and whether there were as many as asked for.

    `alphabet` is None where the symbols are the 256 bytes; else it holds the characters, by training ID.

    >>> training = BpeTrainer(5).train(["abc"])
    >>> len(training.merges), training.requested_merge_count, training.stopped_early
    (2, 5, True)
    """

    merges: tuple[MergeRule, ...]
    requested_merge_count: int
    alphabet: tuple[str, ...] | None = None

    @property
    def stopped_early(self) -> bool:
        """True where pairs ran out, or none was frequent enough, before the requested number of merges."""
        return len(self.merges) < self.requested_merge_count

    def tokenize_word(self, word: str, unknown_token: str = "[UNK]") -> list[str]:
        """Cut a word into the tokens of a training over characters; a character it never saw is unknown.

        Raises:
            InvalidArgumentError: a training over bytes, which knows every word (see `BpeTokenizer`), or a
                word that is no str.

        >>> counts = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
        >>> training = BpeTrainer(3).train_words(counts, alphabet="characters")
        >>> [training.tokenize_word(word) for word in ("bug", "mug", "thug")]
        [['b', 'ug'], ['[UNK]', 'ug'], ['[UNK]', 'hug']]
        """
        if self.alphabet is None:
            raise unexpected("alphabet", "a training with alphabet='characters'", "bytes")
        id_of = {character: token_id for token_id, character in enumerate(self.alphabet)}
        tokens = [*self.alphabet, *(rule.token_bytes.decode() for rule in self.merges)]
        unknown_id = len(tokens)
        tokens.append(unknown_token)
        table = MergeTable({rule.pair: (rule.rank, rule.token_id) for rule in self.merges})
        ids = (id_of.get(character, unknown_id) for character in check_text(word, "word"))
        return [tokens[token_id] for token_id in table.merge(ids)]


@dataclass(frozen=True, slots=True)
class BpeTrainer:
    """Learns merge rules from documents or from counted words.

    Args:
        merge_count: the number of merges to learn; fewer where the pairs run out.
        tie_break: among equal counts, "bytes" takes the smaller (left bytes, right bytes), "ids" the smaller
            (left ID, right ID). Where different tokens have the same bytes, the smaller IDs decide.
        min_frequency: the lowest count that is still merged, at least 1.
        pre_tokenizer: cuts a text into pieces that no pair crosses, or None for whole documents.
        progress: called as `progress(done, total)` after each merge; where training stops early, at last with
            `total` equal to what was done.

    Raises:
        InvalidArgumentError: a value that cannot be meant, such as a negative count.

    >>> [rule.token_bytes for rule in BpeTrainer(2).train(["abab", "abc"]).merges]
    [b'ab', b'abab']
    """

    merge_count: int
    tie_break: Literal["bytes", "ids"] = "bytes"
    min_frequency: int = 1
    pre_tokenizer: Callable[[str], Iterable[str]] | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "merge_count", check_count("merge_count", self.merge_count))
        object.__setattr__(self, "min_frequency", check_count("min_frequency", self.min_frequency, 1))
        if self.tie_break not in ("bytes", "ids"):
            raise unexpected("tie_break", "'bytes' or 'ids'", self.tie_break)
        for name in ("pre_tokenizer", "progress"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise unexpected(name, "a function or None", getattr(self, name))

    @classmethod
    def for_vocabulary_size(cls, size: int, **options: Any) -> BpeTrainer:
        """Make a trainer whose tokenizer has at most `size` IDs: 258 of layout version 1, and the merges.

        >>> BpeTrainer.for_vocabulary_size(266).merge_count
        8
        """
        return cls(check_count("size", size, 258) - 258, **options)

    def train(self, documents: Iterable[bytes | str]) -> BpeTraining:
        """Learn from documents, each a barrier that no pair crosses.

        Args:
            documents: texts, or bytes; read once, so a generator is enough. With a pre-tokenizer, bytes must
                be UTF-8, and only the distinct pieces are kept in memory.

        Returns:
            The rules. With a pre-tokenizer they are counted over distinct pieces; without one over whole
            documents, by numpy from 64 KiB on.

        Raises:
            SingleDocumentError: one text in place of an iterable of them.
            LoneSurrogateError, InvalidUtf8Error: a document that cannot be encoded, or decoded for the
                pre-tokenizer, with the position inside the document.

        >>> [rule.pair for rule in BpeTrainer(1).train(document for document in ("aba", "cd", "cd")).merges]
        [(99, 100)]
        """
        if self.pre_tokenizer is not None:
            pieces: Counter[str] = Counter()
            for document in check_documents(documents):
                found = self.pre_tokenizer(decode_text(document_bytes(document)))
                expected = "a function that returns an iterable of pieces"
                pieces.update(iterate(found, "pre_tokenizer", expected))
            return self.train_words(pieces)
        contents = [document_bytes(document) for document in check_documents(documents)]
        if sum(map(len, contents)) >= NUMPY_PAYS_FROM and find_spec("numpy"):
            return self._learn(partial(merges_in_documents, contents))
        words = Counter(content.decode("latin-1") for content in contents)
        return self._learn(partial(merges_in_words, words))

    def train_words(
        self, counts: Mapping[str, int], alphabet: Literal["bytes", "characters"] = "bytes"
    ) -> BpeTraining:
        """Learn from words that are counted already.

        Args:
            counts: how often each word occurs, from 0 on.
            alphabet: whether a word is a sequence of UTF-8 bytes, or of characters (then the sorted
                characters of all words have the first training IDs).

        Raises:
            InvalidArgumentError: a word that is no str, or a count that is no int from 0 on.
            LoneSurrogateError: a word without a UTF-8 form, with the position in the word.

        >>> counts = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
        >>> training = BpeTrainer(3).train_words(counts, alphabet="characters")
        >>> [(rule.token_bytes.decode(), rule.count) for rule in training.merges]
        [('ug', 20), ('un', 16), ('hug', 15)]
        """
        if not isinstance(counts, Mapping):
            raise unexpected("counts", "a mapping from word to count", counts)
        encoded = {encode_text(word, "word"): check_count("count", count) for word, count in counts.items()}
        if alphabet == "bytes":
            words = {word.decode("latin-1"): count for word, count in encoded.items()}
            return self._learn(partial(merges_in_words, words))
        if alphabet != "characters":
            raise unexpected("alphabet", "'bytes' or 'characters'", alphabet)
        characters = sorted({character for word, count in counts.items() if count for character in word})
        names = {ord(character): token_id for token_id, character in enumerate(characters)}
        words = {word.translate(names): count for word, count in counts.items() if count}
        return self._learn(partial(merges_in_words, words), tuple(characters))

    def _learn(
        self, engine: Callable[[list[bytes], TieKey], Engine], alphabet: tuple[str, ...] | None = None
    ) -> BpeTraining:
        symbols = list(BYTE_SYMBOLS) if alphabet is None else [character.encode() for character in alphabet]

        def tie_key(pair: Pair) -> Any:
            return pair if self.tie_break == "ids" else (symbols[pair[0]], symbols[pair[1]], pair)

        rules: list[MergeRule] = []
        size = 0
        found = engine(symbols, tie_key)
        for rank, (pair, count) in zip(range(self.merge_count), found):  # noqa: B905 - the range may end first
            if count < self.min_frequency:
                break
            size = append_symbol(symbols, pair, rank, size)
            rules.append(MergeRule(rank, pair, len(symbols) - 1, count, symbols[-1]))
            if self.progress:
                self.progress(len(rules), self.merge_count)
        if self.progress and len(rules) < self.merge_count:
            self.progress(len(rules), len(rules))
        return BpeTraining(tuple(rules), self.merge_count, alphabet)


def append_symbol(symbols: list[bytes], pair: Pair, rank: int, size: int) -> int:
    """Append the bytes of a merged pair, and return how many bytes all merged tokens take by now.

    Raises:
        TokenBytesLimitError: more than 256 MiB, as thirty rules that double one token would need.

    >>> symbols = list(BYTE_SYMBOLS)
    >>> append_symbol(symbols, (97, 98), rank=0, size=0), symbols[256]
    (2, b'ab')
    """
    left, right = symbols[pair[0]], symbols[pair[1]]
    size += len(left) + len(right)
    if size > TOKEN_BYTES_LIMIT:
        raise TokenBytesLimitError(position=rank, size=size, limit=TOKEN_BYTES_LIMIT)
    symbols.append(left + right)
    return size


def document_bytes(document: bytes | str) -> bytes:
    """Return the bytes of one document, the UTF-8 ones of a text.

    >>> document_bytes("а")
    b'\\xd0\\xb0'
    """
    if isinstance(document, bytes | bytearray | memoryview):
        return bytes(document)
    if not isinstance(document, str):
        raise unexpected("document", "a str or bytes", document)
    return encode_text(document)


def count_pairs(sequences: Iterable[tuple[Sequence[int], int]]) -> Counter[Pair]:
    """Count every adjacent pair, overlapping ones too, as often as its sequence occurs.

    >>> count_pairs([([97, 97, 97, 97], 1)])
    Counter({(97, 97): 3})
    """
    counts: Counter[Pair] = Counter()
    for ids, count in sequences:
        for pair in pairwise(ids):
            counts[pair] += count
    return counts


def merges_by_recounting(
    sequences: Iterable[tuple[Sequence[int], int]], symbols: Sequence[bytes], tie_key: TieKey
) -> Engine:
    """Count all pairs anew after each merge: the readable engine.

    Args:
        sequences: (IDs, how often this sequence occurs).
        symbols: the bytes of each training ID; the caller appends those of a yielded pair.
        tie_key: orders pairs of equal count, smallest first.

    >>> symbols = list(BYTE_SYMBOLS)
    >>> next(merges_by_recounting([(b"aaaa", 1)], symbols, lambda pair: pair))
    ((97, 97), 3)
    """
    while counts := +count_pairs(sequences):
        pair = min(counts, key=lambda pair: (-counts[pair], tie_key(pair)))
        yield pair, counts[pair]
        sequences = [(replace_pair(ids, pair, len(symbols) - 1)[0], count) for ids, count in sequences]


class PairQueue(Generic[Key]):
    """Pairs by falling count; how ties fall is asked only when the turn of their count comes.

    A count only falls once its pair exists, so a pair can stand too early in the queue, never too late.

    >>> counts = {"ab": 2, "ba": 2, "bb": 3}
    >>> queue = PairQueue(lambda pair: pair, counts)
    >>> for pair in counts:
    ...     queue.put(pair, counts[pair])
    >>> counts["bb"] = 1
    >>> [queue.pop() for _ in range(4)]
    ['ab', 'ba', 'bb', None]
    """

    def __init__(self, tie_key: Callable[[Key], Any], counts: Mapping[Key, int]) -> None:
        self._tie_key = tie_key
        self._counts = counts
        self._waiting: dict[int, list[Key]] = {}
        self._levels: list[int] = []
        self._level = 0
        self._ready: list[tuple[Any, Key]] = []

    def put(self, pair: Key, count: int) -> None:
        """Let a pair wait for the turn of its count; 0 never comes."""
        if count in self._waiting:
            self._waiting[count].append(pair)
        elif count:
            self._waiting[count] = [pair]
            heappush(self._levels, -count)

    def pop(self) -> Key | None:
        """Return the pair of the highest count, by its tie key among equals; None when there is none."""
        while True:
            for pair in self._waiting.pop(self._level, ()):
                heappush(self._ready, (self._tie_key(pair), pair))
            if self._ready:
                _, pair = heappop(self._ready)
                if self._counts[pair] == self._level:
                    return pair
                self.put(pair, self._counts[pair])
            elif self._levels:
                self._level = -heappop(self._levels)
            else:
                return None


def merges_in_words(word_counts: Mapping[str, int], symbols: Sequence[bytes], tie_key: TieKey) -> Engine:
    """Count once, then only what a merge changes: the fast engine over distinct words.

    A word is a str whose characters are training IDs: `split` finds a pair and `join` merges it at C's speed.

    Args:
        word_counts: how often each word occurs; chr(ID) stands for an ID.
        symbols, tie_key: as in `merges_by_recounting`.

    Raises:
        TooManySymbolsError: more symbols than Python has characters, 1,114,112.
    """
    words = list(word_counts)
    count_of = list(word_counts.values()).__getitem__
    pair_counts: dict[str, int] = {}
    places: dict[str, list[int]] = defaultdict(list)  # a word stands there as often as it has the pair
    queue = PairQueue[str](lambda pair: tie_key((ord(pair[0]), ord(pair[1]))), pair_counts)

    def enter(pair: str, where: list[int]) -> int:
        places[pair] = where
        pair_counts[pair] = count = sum(map(count_of, where))
        queue.put(pair, count)
        return count

    for place, word in enumerate(words):
        for pair in map(add, word, word[1:]):
            places[pair].append(place)
    for pair, where in places.items():
        enter(pair, where)
    while pair := queue.pop():
        left, right = pair[0], pair[1]
        yield (ord(left), ord(right)), pair_counts[pair]
        if len(symbols) > 0x110000:
            raise TooManySymbolsError(limit=0x110000)
        merged = chr(len(symbols) - 1)
        befores: defaultdict[str, list[int]] = defaultdict(list)
        afters: defaultdict[str, list[int]] = defaultdict(list)
        side_by_side: list[int] = []
        for place in set(places.pop(pair)):
            parts = words[place].split(pair)
            if len(parts) == 1:
                continue  # an earlier merge took the pair out of this word
            words[place] = merged.join(parts)
            if parts[0]:
                befores[parts[0][-1]].append(place)
            if parts[-1]:
                afters[parts[-1][0]].append(place)
            if len(parts) > 2:
                for part in parts[1:-1]:
                    if part:
                        afters[part[0]].append(place)
                        befores[part[-1]].append(place)
                    else:
                        side_by_side.append(place)
        for before, where in befores.items():
            pair_counts[before + left] -= enter(before + merged, where)
        for after, where in afters.items():
            pair_counts[right + after] -= enter(merged + after, where)
        if side_by_side:
            pair_counts[right + left] -= enter(merged + merged, side_by_side)
        pair_counts[pair] = 0


def merges_in_documents(documents: Sequence[bytes], symbols: Sequence[bytes], tie_key: TieKey) -> Engine:
    """Count once, then only what a merge changes: the fast engine over whole documents, with numpy.

    All documents lie in one linked list of arrays; each pair knows its places, in ascending order.

    Args:
        documents: any number of documents, of any length.
        symbols, tie_key: as in `merges_by_recounting`.
    """
    import numpy as np

    border, removed = -1, -2
    ends = np.cumsum([len(document) + 1 for document in documents], dtype=np.int64) - 1
    tokens = np.frombuffer(b"".join(document + b"\0" for document in documents), np.uint8).astype(np.int32)
    tokens[ends] = border
    length = len(tokens)
    place_type = np.int32 if length < 2**31 else np.int64
    following = np.arange(1, length + 1, dtype=place_type)
    preceding = np.arange(-1, length - 1, dtype=place_type)  # the first one's is the last border
    places: dict[int, Any] = {}
    counts: dict[int, int] = {}
    queue = PairQueue[int](lambda key: tie_key((key >> 32, key & 0xFFFFFFFF)), counts)

    def enter(lefts: Any, rights: Any, where: Any) -> None:
        keys = lefts.astype(np.int64) << 32 | rights
        order = np.argsort(keys, kind="stable")
        keys, where = keys[order], where[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        for key, part in zip(keys[starts].tolist(), np.split(where, starts[1:]), strict=False):
            places[key], counts[key] = part, len(part)
            queue.put(key, len(part))

    inside = np.flatnonzero((tokens[:-1] != border) & (tokens[1:] != border)).astype(place_type)
    enter(tokens[inside], tokens[inside + 1], inside)
    while (key := queue.pop()) is not None:
        left, right = key >> 32, key & 0xFFFFFFFF
        yield (left, right), counts[key]
        merged = len(symbols) - 1
        where = places.pop(key)
        where = where[tokens[where] == left]
        where = where[tokens[following[where]] == right]
        if left == right:  # in a run such as aaaa, every other place
            order = np.arange(len(where))
            run_starts = np.r_[True, following[where[:-1]] != where[1:]]
            where = where[(order - np.maximum.accumulate(np.where(run_starts, order, 0))) % 2 == 0]
        gone = following[where]
        after = following[gone]
        tokens[where], tokens[gone] = merged, removed
        following[where], preceding[after] = after, where
        before = preceding[where]
        befores, afters = tokens[before], tokens[after]
        has_before, has_after = befores >= 0, (afters >= 0) & (afters != merged)
        old_before = befores[has_before & (befores != merged)].astype(np.int64) << 32 | left
        old_after = right << 32 | afters[has_after].astype(np.int64)
        old_keys, old_counts = np.unique(np.concatenate([old_before, old_after]), return_counts=True)
        for old_key, old_count in zip(old_keys.tolist(), old_counts.tolist(), strict=True):
            counts[old_key] -= old_count
        if side_by_side := int(np.count_nonzero(afters == merged)):
            counts[right << 32 | left] -= side_by_side
        counts[key] = 0
        enter(
            np.concatenate([befores[has_before], np.full(np.count_nonzero(has_after), merged)]),
            np.concatenate([np.full(np.count_nonzero(has_before), merged), afters[has_after]]),
            np.concatenate([before[has_before], where[has_after]]),
        )
