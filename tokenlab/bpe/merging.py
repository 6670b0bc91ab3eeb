"""Applying a frozen table of merge rules: three readable encoders that agree, and a fast one (chapter 3).

A rule says that the pair (left ID, right ID) has a rank and becomes the merged ID. Published sources: the
course text on applying BPE (one pass per rank, left to right), and the encoders of GPT-2 and of the tokenizer
notes (lowest rank first). The shared rule here is *lowest rank, leftmost, one at a time*.

>>> rules = {(32, 208): (0, 256), (208, 176): (1, 257)}
>>> list(" а".encode())
[32, 208, 176]
>>> merge_reference(" а".encode(), rules), MergeTable(rules).merge(" а".encode())
([256, 176], [256, 176])
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

from tokenlab.errors import RepeatedRankError

Pair = tuple[int, int]
Rules = Mapping[Pair, tuple[int, int]]
Observer = Callable[[int, int, list[int]], None]

# Up to this length, finding the minimum of a list at C speed beats a heap and a linked list (measured).
SHORT_WORD_LENGTH = 160
NO_RANK = 1 << 62
# A sorted table is searched for so many words, each so long at most; then building dictionaries pays.
SEARCHED_WORDS, SEARCHED_LENGTH = 64, 32
# From this many words on, none longer than this, whole arrays are twice as fast as word by word (measured).
BATCH_PAYS_FROM = 256
BATCH_WORD_LENGTH = 100


def replace_pair(ids: Sequence[int], pair: Pair, merged: int) -> tuple[list[int], int]:
    """Replace a pair from left to right, without overlaps.

    Args:
        ids: the symbols, any number of them.
        pair: the (left ID, right ID) to replace.
        merged: the ID that takes the pair's place.

    Returns:
        The new symbols, and the number of replacements.

    >>> replace_pair([97, 97, 97], (97, 97), 256)
    ([256, 97], 1)
    """
    replaced: list[int] = []
    place = 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == pair:
            replaced.append(merged)
            place += 2
        else:
            replaced.append(ids[place])
            place += 1
    return replaced, len(ids) - len(replaced)


def merge_rank_by_rank(ids: Sequence[int], rules: Rules) -> list[int]:
    """Encode with one pass per rank: rank 0 everywhere, then rank 1 everywhere, and so on.

    Equals `merge_reference` where each rule's operands are defined by earlier rules.

    >>> merge_rank_by_rank([32, 208, 176], {(32, 208): (0, 256), (208, 176): (1, 257)})
    [256, 176]
    """
    for pair, (_, merged) in sorted(rules.items(), key=lambda rule: rule[1]):
        ids, _ = replace_pair(ids, pair, merged)
    return list(ids)


def merge_lowest_rank(ids: Sequence[int], rules: Rules) -> list[int]:
    """Encode by the lowest rank that is present, at all its places, until no pair has a rule.

    Equals `merge_reference` where each rule's operands are defined by earlier rules.

    >>> merge_lowest_rank([32, 208, 176], {(32, 208): (0, 256), (208, 176): (1, 257)})
    [256, 176]
    """
    while present := [pair for pair in pairwise(ids) if pair in rules]:
        pair = min(present, key=lambda pair: rules[pair])
        ids, _ = replace_pair(ids, pair, rules[pair][1])
    return list(ids)


def merge_reference(ids: Sequence[int], rules: Rules) -> list[int]:
    """Encode by the lowest rank, at its leftmost place, one merge at a time: the rule of this library.

    Args:
        ids: the symbols, any number of them.
        rules: (left ID, right ID) to (rank, merged ID); any table, in any order.

    Returns:
        The symbols when no pair has a rule any more.

    >>> a, b, ab, aba = 0, 1, 2, 3
    >>> merge_reference([a, b, a, b], {(ab, a): (0, aba), (a, b): (1, ab)})
    [3, 1]
    """
    ids = list(ids)
    while ranked := [(rules[pair][0], place) for place, pair in enumerate(pairwise(ids)) if pair in rules]:
        _, place = min(ranked)
        ids[place : place + 2] = [rules[ids[place], ids[place + 1]][1]]
    return ids


class MergeTable:
    """The fast encoder over any rule table; equals `merge_reference` on every input.

    Args:
        rules: (left ID, right ID) to (rank, merged ID); operands may be defined after their use.

    Raises:
        RepeatedRankError: where two pairs share one rank.

    >>> a, b, ab, aba = 0, 1, 2, 3
    >>> MergeTable({(ab, a): (0, aba), (a, b): (1, ab)}).merge([a, b, a, b])
    [3, 1]
    """

    __slots__ = ("_batch", "_by_rank", "_ranks")

    def __init__(self, rules: Rules) -> None:
        self._ranks = {pair: rank for pair, (rank, _) in rules.items()}
        self._by_rank = {rank: (*pair, merged) for pair, (rank, merged) in rules.items()}
        self._batch: Any = None
        if len(self._by_rank) < len(self._ranks):
            seen: dict[int, Pair] = {}
            for pair, rank in self._ranks.items():
                if (first := seen.setdefault(rank, pair)) != pair:
                    raise RepeatedRankError(rank=rank, pair=pair, first_pair=first)

    @property
    def pairs(self) -> list[Pair]:
        """The pairs, by rank."""
        return [self._by_rank[rank][:2] for rank in sorted(self._by_rank)]

    def merge(self, ids: Iterable[int], observe: Observer | None = None) -> list[int]:
        """Apply the rules to one word, in time n log n for n symbols.

        Args:
            ids: the word's symbols, n of them.
            observe: called as `observe(rank, replacements, ids)` after each run of merges of one rank.

        Returns:
            The symbols when no pair has a rule any more.
        """
        tokens = list(ids)
        if observe is None and len(tokens) <= SHORT_WORD_LENGTH:
            return self._merge_short(tokens)
        return self._merge_long(tokens, observe)

    def merge_many(self, words: Sequence[Sequence[int]]) -> list[list[int]]:
        """Apply the rules to each of n words; with numpy, where there are enough of them, all at once.

        Args:
            words: each word's symbols.

        >>> MergeTable({(97, 98): (0, 256)}).merge_many([b"ab", b"b", b""])
        [[256], [98], []]
        """
        short = [word for word in words if len(word) <= BATCH_WORD_LENGTH]
        if len(short) < BATCH_PAYS_FROM or not find_spec("numpy"):
            return [self.merge(word) for word in words]
        from tokenlab.bpe.batching import BatchTable

        try:
            if self._batch is None:
                self._batch = BatchTable(self._by_rank)
            batch = iter(self._batch.merge(short))
        except OverflowError:  # IDs that no array of 32 bits holds
            return [self.merge(word) for word in words]
        return [next(batch) if len(word) <= BATCH_WORD_LENGTH else self.merge(word) for word in words]

    def _merge_short(self, tokens: list[int]) -> list[int]:
        rank_of, by_rank = self._ranks.get, self._by_rank
        ranks = [rank_of(pair, NO_RANK) for pair in zip(tokens, tokens[1:])]  # noqa: B905, RUF007 - the fastest form
        while ranks and (rank := min(ranks)) != NO_RANK:
            place = ranks.index(rank)
            tokens[place : place + 2] = [by_rank[rank][2]]
            del ranks[place]
            if place:
                ranks[place - 1] = rank_of((tokens[place - 1], tokens[place]), NO_RANK)
            if place < len(ranks):
                ranks[place] = rank_of((tokens[place], tokens[place + 1]), NO_RANK)
        return tokens

    def _merge_long(self, ids: list[int], observe: Observer | None) -> list[int]:
        """Keep the places of each rank in a bucket, the ranks in a heap, and the symbols in a linked list."""
        rank_of: Any = self._ranks.get
        length = len(ids)
        tokens: list[int | None] = [*ids, None]  # the last is a border: no rule has None
        right, left = list(range(1, length + 2)), list(range(-1, length))
        buckets: dict[int, list[int]] = defaultdict(list)
        for place, rank in enumerate(map(rank_of, zip(ids, ids[1:]))):  # noqa: B905, RUF007
            if rank is not None:
                buckets[rank].append(place)
        waiting = list(buckets)
        heapify(waiting)
        # A merge may create a pair of lower rank, which must go first. What it interrupted lies here: these
        # places are right of all that come up meanwhile, so they need no sorting again.
        interrupted: list[tuple[int, list[int]]] = []
        while waiting or interrupted:
            if interrupted and not (waiting and waiting[0] <= interrupted[-1][0]):
                rank, places = interrupted.pop()
            else:
                rank = heappop(waiting)
                places = buckets.pop(rank)
                places.sort(reverse=True)
            first, second, merged = self._by_rank[rank]
            replacements = 0
            lower_rank_born = False
            while places and not lower_rank_born:
                place = places.pop()
                gone = right[place]
                if tokens[place] != first or tokens[gone] != second:
                    continue  # an earlier merge took one of the two
                replacements += 1
                tokens[place], tokens[gone] = merged, None
                after = right[place] = right[gone]
                left[after] = place
                new_rank = rank_of((merged, tokens[after]))
                if new_rank is not None:
                    if new_rank in buckets:
                        buckets[new_rank].append(place)
                    elif new_rank == rank:
                        places.append(place)
                    else:
                        buckets[new_rank] = [place]
                        heappush(waiting, new_rank)
                        lower_rank_born = new_rank < rank
                before = left[place]
                new_rank = rank_of((tokens[before], merged))
                if new_rank is not None:
                    if new_rank in buckets:
                        buckets[new_rank].append(before)
                    elif new_rank == rank:
                        places.append(before)
                    else:
                        buckets[new_rank] = [before]
                        heappush(waiting, new_rank)
                        lower_rank_born |= new_rank < rank
            if places:
                interrupted.append((rank, places))
            if observe is not None and replacements:
                observe(rank, replacements, [token for token in tokens if token is not None])
        return [token for token in tokens if token is not None]


class SortedMergeTable(MergeTable):
    """The same over rows sorted by pair: the first words are searched by halves, as a file may store them.

    So a large table is of use at once; its dictionaries are built when it turns out to be used much.

    Args:
        rows: (left ID, right ID, rank), ascending, each pair and each rank once.
        join: the merged ID of a pair.

    >>> SortedMergeTable([(0, 1, 1), (2, 0, 0)], {(0, 1): 2, (2, 0): 3}.__getitem__).merge([0, 1, 0, 1])
    [3, 1]
    """

    __slots__ = ("_built", "_join", "_rows", "_words")

    def __init__(self, rows: Sequence[tuple[int, int, int]], join: Callable[[Pair], int]) -> None:
        self._rows, self._join, self._words = rows, join, 0
        self._built: MergeTable | None = None

    def _whole(self) -> MergeTable:
        if self._built is None:
            rules = {(left, right): (rank, self._join((left, right))) for left, right, rank in self._rows}
            self._built = MergeTable(rules)
        return self._built

    @property
    def pairs(self) -> list[Pair]:
        """The pairs, by rank."""
        return [row[:2] for row in sorted(self._rows, key=lambda row: row[2])]

    def merge(self, ids: Iterable[int], observe: Observer | None = None) -> list[int]:
        """Apply the rules to one word; see `MergeTable.merge`."""
        tokens = list(ids)
        is_new = self._built is None and self._words < SEARCHED_WORDS
        if is_new and observe is None and len(tokens) <= SEARCHED_LENGTH:
            self._words += 1
            while ranks := [rank for place in range(len(tokens) - 1) if (rank := self._rank(tokens, place))]:
                _, place = min(ranks)
                tokens[place : place + 2] = [self._join((tokens[place], tokens[place + 1]))]
            return tokens
        return self._whole().merge(tokens, observe)

    def merge_many(self, words: Sequence[Sequence[int]]) -> list[list[int]]:
        """Apply the rules to each of n words; see `MergeTable.merge_many`."""
        return self._whole().merge_many(words)

    def _rank(self, tokens: list[int], place: int) -> tuple[int, int] | None:
        pair = (tokens[place], tokens[place + 1])
        index = bisect_left(self._rows, pair)
        row = self._rows[index] if index < len(self._rows) else None
        return (row[2], place) if row is not None and row[:2] == pair else None
