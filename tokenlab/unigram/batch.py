"""Substrings and lattices of many words at once, as arrays: what makes training fast (chapter 5b).

All words lie behind one another on one line of nodes, a word of n characters on n + 1 of them, so node
numbers tell words apart. Every word's edges into its k-th node are handled together: as many array operations
as the longest word has characters. What is computed is what `Unigram` computes for one text: expected counts,
where ways are combined by `logaddexp`, and the pieces of the best path, where the maximum combines them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

CODE_POINTS = 0x110000


class Line:
    """Words on one line of nodes: for each node its place in the word; for each word its frequency."""

    def __init__(self, words: Mapping[str, int]) -> None:
        sizes = np.array([len(word) + 1 for word in words], dtype=np.int64)
        self.text = "".join(word + "\0" for word in words)
        self.last = np.cumsum(sizes) - 1
        self.frequency = np.array(list(words.values()), dtype=np.float64)
        self.weight = np.repeat(self.frequency, sizes)
        self.place = np.arange(len(self.text)) - np.repeat(self.last + 1 - sizes, sizes)

    def frequent_substrings(self, longest: int, minimum: int) -> Occurrences:
        """All characters, and the substrings of at most `longest` that occur at least `minimum` times.

        A substring that the same character always follows is left out: the longer one says as much.
        """
        codes = np.frombuffer(self.text.encode("utf-32-le"), dtype="<u4").astype(np.int64)
        codes[self.last] = -1
        start = np.flatnonzero(codes >= 0)
        label = codes[start]
        levels: list[tuple[Any, Any, Any, Any]] = []
        for length in range(1, longest + 1):
            if not len(start):
                break
            keys, label = np.unique(label, return_inverse=True)
            count = np.bincount(label, self.weight[start])
            if length > 2:
                _, _, shorter_count, shorter_kept = levels[-1]
                shorter = keys // CODE_POINTS
                shorter_kept[shorter[count == shorter_count[shorter]]] = False
            often = count >= minimum
            levels.append((start, label, count, often | (length == 1)))
            following = codes[start + length]
            goes_on = often[label] & (following >= 0)
            start, label = start[goes_on], label[goes_on] * CODE_POINTS + following[goes_on]
        return self._numbered(levels)

    def _numbered(self, levels: list[tuple[Ints, Ints, Floats, Flags]]) -> Occurrences:
        found = Occurrences([], np.zeros(0), *np.zeros((3, 0), dtype=np.int64))
        for length, (start, label, count, kept) in enumerate(levels, start=1):
            first = start[np.unique(label, return_index=True)[1][kept]].tolist()
            number = np.cumsum(kept) - 1 + len(found.pieces)
            occurs = kept[label]
            found = Occurrences(
                found.pieces + [self.text[node : node + length] for node in first],
                np.append(found.counts, count[kept]),
                np.append(found.lengths, np.full(len(first), length)),
                np.append(found.start, start[occurs]),
                np.append(found.piece, number[label[occurs]]),
            )
        return found


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Pieces (shorter first, then by code points), and the start node and the piece of each occurrence."""

    pieces: list[str]
    counts: Floats
    lengths: Ints
    start: Ints
    piece: Ints

    def most_frequent(self, size: int) -> Occurrences:
        """All characters and the most frequent of the others, `size` in all; the shorter among equals."""
        order = np.lexsort((-self.counts, self.lengths > 1))
        chosen = np.sort(order[: max(size, int((self.lengths == 1).sum()))])
        number = np.full(len(self.pieces), -1)
        number[chosen] = np.arange(len(chosen))
        kept = number[self.piece] >= 0
        pieces = [self.pieces[place] for place in chosen.tolist()]
        counts, lengths = self.counts[chosen], self.lengths[chosen]
        return Occurrences(pieces, counts, lengths, self.start[kept], number[self.piece[kept]])


class Lattices:
    """The edges of many lattices, in the order of the programme: by place of the end, the end, the start."""

    def __init__(self, start: Ints, end: Ints, piece: Ints, place: Ints) -> None:
        self.start, self.end, self.piece, self.place = start, end, piece, place
        self.first = np.flatnonzero(np.diff(end, prepend=-1))  # where the edges into a new node begin
        self.node = end[self.first]
        places = place[self.node]
        steps = np.searchsorted(places, np.arange(1, (places[-1] if len(places) else 0) + 2))
        self.steps = list(pairwise(steps.tolist()))
        self.border = np.append(self.first, len(end)).tolist()

    @classmethod
    def sort(cls, start: Ints, end: Ints, piece: Ints, place: Ints) -> Lattices:
        """Bring edges into order; `place` gives each node's position in its lattice."""
        order = np.lexsort((start, end, place[end]))
        return cls(start[order], end[order], piece[order], place)

    def only(self, alive: Flags) -> Lattices:
        """The same lattices with the edges of the pieces that are alive."""
        kept = alive[self.piece]
        return Lattices(self.start[kept], self.end[kept], self.piece[kept], self.place)

    def sums(self, scores: Floats) -> tuple[Floats, Floats]:
        """For each node the log of its summed ways, and for each edge its part in those of its end."""
        total, through = self._forward(scores, np.logaddexp)
        return total, np.exp(through - total[self.end])

    def best(self, scores: Floats) -> tuple[Floats, Floats]:
        """For each node its best sum, and for each edge 1.0 where it, first among equals, made that sum."""
        total, through = self._forward(scores, np.maximum)
        reached = np.flatnonzero(through == total[self.end])
        chosen = np.zeros(len(through))
        chosen[reached[np.flatnonzero(np.diff(self.end[reached], prepend=-1))]] = 1.0
        return total, chosen

    def _forward(self, scores: Floats, combine: np.ufunc) -> tuple[Floats, Floats]:
        total = np.zeros(len(self.place))
        through = scores[self.piece]
        for low, high in self.steps:
            left, right = self.border[low], self.border[high]
            through[left:right] += total[self.start[left:right]]
            total[self.node[low:high]] = combine.reduceat(through[left:right], self.first[low:high] - left)
        return total, through

    def flow(self, last: Ints, weight: Floats, shares: Floats) -> Floats:
        """How much of the weight put in at the last nodes passes each edge, on the way back to the first."""
        passing = np.zeros(len(self.place))
        passing[last] = weight
        flow = shares.copy()
        for low, high in reversed(self.steps):
            left, right = self.border[low], self.border[high]
            flow[left:right] *= passing[self.end[left:right]]
            np.add.at(passing, self.start[left:right], flow[left:right])
        return flow

    def counts(self, last: Ints, weight: Floats, shares: Floats, pieces: int) -> Floats:
        """How much of the flow each of so many pieces carries."""
        return np.bincount(self.piece, self.flow(last, weight, shares), pieces).astype(np.float64)


class Candidates:
    """The pieces that are still in the running, their scores, and the lattices of the words they make."""

    def __init__(self, words: Mapping[str, int], longest: int, seeds: int) -> None:
        self.line = Line(words)
        found = self.line.frequent_substrings(longest, minimum=2)
        self.most = len(found.pieces)
        self.all = found.most_frequent(seeds)
        self.single = self.all.lengths == 1
        self.fewest = int(self.single.sum())
        weights = self.all.counts * self.all.lengths
        self.scores = np.log(weights / weights.sum())
        self.expected = np.zeros(len(weights))
        self.alive = np.full(len(weights), True)
        end = self.all.start + self.all.lengths[self.all.piece]
        self.lattices = Lattices.sort(self.all.start, end, self.all.piece, self.line.place)

    @property
    def size(self) -> int:
        return int(self.alive.sum())

    def pieces(self) -> list[tuple[str, float]]:
        return [
            (self.all.pieces[number], float(self.scores[number])) for number in np.flatnonzero(self.alive)
        ]

    def expect(self) -> float:
        """The E-step: expected counts over all words. Returns the log-likelihood."""
        total, shares = self.lattices.sums(self.scores)
        self.expected = self.lattices.counts(self.line.last, self.line.frequency, shares, len(self.scores))
        return float(self.line.frequency @ total[self.line.last])

    def maximise(self, form: str, minimum: float) -> None:
        """The M-step: the logarithm of count / total, or its digamma form."""
        logarithm = digamma if form == "digamma" else np.log
        counts = np.maximum(self.expected, minimum)
        self.scores = logarithm(counts) - logarithm(counts[self.alive].sum())

    def drop_rare(self, minimum: float, fewest: int) -> list[str]:
        """Drop what is expected less often than `minimum`, but leave at least `fewest` pieces."""
        enough = int((self.alive & (self.single | (self.expected >= minimum))).sum())
        return self.keep_highest(self.expected, max(enough, fewest))

    def keep_highest(self, value: Floats, size: int) -> list[str]:
        """Keep the characters and, up to `size` pieces in all, those of highest value; tell the others."""
        rest = np.flatnonzero(self.alive & ~self.single)
        gone = rest[np.argsort(-value[rest].astype(np.float32), kind="stable")[max(0, size - self.fewest) :]]
        if len(gone):
            self.alive[gone] = False
            self.lattices = self.lattices.only(self.alive)
        return [self.all.pieces[number] for number in np.sort(gone)]

    def losses(self) -> Floats:
        """For each piece, the likelihood that the best segmentations lose when others take its place."""
        _, chosen = self.lattices.best(self.scores)
        counts = self.lattices.counts(self.line.last, self.line.frequency, chosen, len(self.scores))
        total = counts.sum()
        numbers = np.flatnonzero(self.alive & ~self.single & (counts > 0))
        losses = np.full(len(self.scores), -np.inf)
        if len(numbers):
            lattices, last, owner = self._within(numbers)
            instead, chosen = lattices.best(self.scores)
            used = lattices.flow(last, np.ones(len(last)), chosen) > 0
            owner, piece = owner[used], lattices.piece[used]
            own = counts[numbers]
            parts = np.bincount(owner, minlength=len(numbers))
            replaced = np.bincount(owner, np.log(counts[piece] + own[owner]), len(numbers))
            loss = own * (np.log(own / total) - replaced + parts * np.log(total + own * (parts - 1)))
            losses[numbers] = np.where(instead[last] > self.scores[numbers], -np.inf, loss)
        return losses

    def _within(self, numbers: Ints) -> tuple[Lattices, Ints, Ints]:
        """A lattice for each of some pieces, of all edges within it but itself.

        Returns: the lattices, the last node of each, and for each edge the index of the piece it is part of.
        """
        order = np.argsort(self.lattices.start, kind="stable")
        start, end, piece = (
            array[order] for array in (self.lattices.start, self.lattices.end, self.lattices.piece)
        )
        _, first = np.unique(piece, return_index=True)
        begin = np.zeros(len(self.scores), dtype=np.int64)
        begin[piece[first]] = start[first]
        begin, size = begin[numbers], self.all.lengths[numbers]
        low, high = np.searchsorted(start, begin), np.searchsorted(start, begin + size)
        owner = np.repeat(np.arange(len(numbers)), high - low)
        edge = np.arange(len(owner)) + np.repeat(high - np.cumsum(high - low), high - low)
        inside = (end[edge] <= (begin + size)[owner]) & (piece[edge] != numbers[owner])
        owner, edge = owner[inside], edge[inside]
        last = np.cumsum(size + 1) - 1
        place = np.arange(last[-1] + 1) - np.repeat(last - size, size + 1)
        shift = (last - size - begin)[owner]
        lattices = Lattices.sort(start[edge] + shift, end[edge] + shift, piece[edge], place)
        return lattices, last, np.searchsorted(last, lattices.end)


def digamma(x: Floats) -> Floats:
    """The derivative of log gamma, for x > 0: shifted up by six, then its asymptotic series."""
    shift = sum(1.0 / (x + step) for step in range(6))
    y = x + 6.0
    z = 1.0 / (y * y)
    return np.log(y) - 0.5 / y - z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z / 240))) - shift
