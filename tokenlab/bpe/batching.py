"""Merging many short words at once, with numpy: a round merges one pair in every word (chapter 3).

In each word it is the leftmost pair of lowest rank: the rule of `tokenlab.bpe.merging`, for any table. Only
the order of work between words differs, and no word can see that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

NO_RANK = np.iinfo(np.int64).max
Array = np.ndarray[Any, Any]


def id_array(rows: Iterable[Iterable[int]]) -> Array:
    """Return all IDs in one row; OverflowError where 32 bits do not hold one.

    >>> id_array([[97, 98], [], b"a"]).tolist()
    [97, 98, 97]
    """
    ids = np.fromiter(chain.from_iterable(rows), np.uint64)
    if len(ids) and ids.max() > 0xFFFFFFFF:
        raise OverflowError("a number takes more than 32 bits")
    return ids


class BatchTable:
    """A rule table as sorted arrays, in which whole arrays of pairs are looked up.

    Args:
        rules: for each rank the (left ID, right ID, merged ID), all from 0 to 2^32 - 1.

    Raises:
        OverflowError: an ID or a rank that 32 bits do not hold.

    >>> BatchTable({0: (97, 98, 256)}).merge([[97, 98], [98], []])
    [[256], [98], []]
    """

    def __init__(self, rules: Mapping[int, tuple[int, int, int]]) -> None:
        table = id_array(rules.values()).reshape(-1, 3)[np.argsort(id_array([rules]))]
        keys = table[:, 0] << 32 | table[:, 1]
        order = np.argsort(keys)
        self.ranks = np.append(order, NO_RANK)
        self.keys = np.append(keys[order], np.iinfo(np.uint64).max)  # the last lies above every pair
        self.merged = table[:, 2]

    def rank_of(self, lefts: Array, rights: Array) -> Array:
        """Return the place of each pair in the order of ranks, or NO_RANK."""
        keys = lefts << 32 | rights
        found = np.searchsorted(self.keys, keys)
        return np.where(self.keys[found] == keys, self.ranks[found], NO_RANK)

    def merge(self, words: Sequence[Sequence[int]]) -> list[list[int]]:
        """Merge n words of any lengths; the rounds are as many as the longest word has merges.

        Args:
            words: IDs from 0 to 2^32 - 1.

        Raises:
            OverflowError: an ID that 32 bits do not hold.
        """
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        ids = id_array(words)
        word_of = np.repeat(np.arange(len(words)), sizes)
        ranks = np.full(len(ids), NO_RANK)
        inside = np.flatnonzero(word_of[1:] == word_of[:-1])
        ranks[inside] = self.rank_of(ids[inside], ids[inside + 1])
        done: list[list[int]] = [[] for _ in words]
        while len(ids):
            starts = np.flatnonzero(np.diff(word_of, prepend=-1))
            lowest = np.minimum.reduceat(ranks, starts)
            lengths = np.diff(starts, append=len(ids))
            is_done = lowest == NO_RANK
            if is_done.any():
                leaving = np.repeat(is_done, lengths)
                flat, start = ids[leaving].tolist(), 0
                for word, length in zip(
                    word_of[starts[is_done]].tolist(), lengths[is_done].tolist(), strict=True
                ):
                    done[word] = flat[start : start + length]
                    start += length
                ids, word_of, ranks = ids[~leaving], word_of[~leaving], ranks[~leaving]
                lowest, lengths = lowest[~is_done], lengths[~is_done]
            places = np.flatnonzero(ranks == np.repeat(lowest, lengths))
            places = places[np.diff(word_of[places], prepend=-1) != 0]  # the leftmost of each word
            ids[places] = self.merged[ranks[places]]
            ranks[places] = NO_RANK
            stays = np.ones(len(ids), bool)
            stays[places + 1] = False
            ids, word_of, ranks = ids[stays], word_of[stays], ranks[stays]
            places -= np.arange(len(places))
            for lefts in (places[places + 1 < len(ids)], places[places > 0] - 1):
                lefts = lefts[word_of[lefts] == word_of[lefts + 1]]
                ranks[lefts] = self.rank_of(ids[lefts], ids[lefts + 1])
        return done
