"""The Unigram model: the most probable way to cut a text into pieces, and every other way (chapter 5).

A piece has a log-probability, a segmentation has the sum of those of its pieces, and dynamic programming
finds the best one. Follows Kudo, "Subword Regularization" (2018), the tokenizer notes (costs), and what the
encoders of SentencePiece and Hugging Face tokenizers do.

Rules, where a choice was needed:

- Sums run from left to right in double precision. Where two ways to reach a position have equal sums, the one
  whose last piece starts first stays.
- A character that is no piece by itself can be crossed at the unknown price; where a one-character piece
  exists, no such edge does.
- A piece with log-probability -inf (probability zero) is as good as absent.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from math import exp, inf, log
from numbers import Real
from operator import itemgetter
from sys import float_info
from typing import Any, NamedTuple

from tokenlab import errors
from tokenlab.checks import check_count, check_text, encode_text, iterate, set_fields, unexpected

UNKNOWN_PENALTY = 10.0
LARGEST_SCORE = 1e290  # sums over any text that fits in memory stay finite
WORD_OPENERS = "▁ "
LONG_TEXT = 100  # code points; shorter texts are seldom worth looking for words
CLEAR_MARGIN = 1e-5

Span = tuple[int, int, bool]
"""Start, end (code points), and whether the model knows the piece between them."""

_Node = tuple[float | None, "dict[str, _Node] | None"]
_NOWHERE: _Node = (None, None)
_Ways = list[tuple[float, int, int]]
"""Ways to a position, the best one first: sum, start of the last piece, rank of the way there."""


class Edge(NamedTuple):
    """One piece at one place of a text: from `start` to `end`, in code points."""

    start: int
    end: int
    piece: str
    log_probability: float
    known: bool


@dataclass(frozen=True, slots=True)
class Segmentation:
    """One path through the lattice: its pieces, which joined are the text, and the sum of their scores."""

    pieces: tuple[str, ...]
    log_probability: float


@dataclass(frozen=True, slots=True)
class Lattice:
    """Every piece that can stand anywhere in a text, by start, then by length."""

    text: str
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One step of the dynamic programme: all ways to reach `position`, and the one that stays.

    `candidates` holds each edge that ends here with the best sum through it; `best` is None where none does.
    """

    position: int
    candidates: tuple[tuple[Edge, float], ...]
    best: Edge | None
    log_probability: float


@dataclass(frozen=True, slots=True)
class Unigram:
    """A vocabulary of pieces with log-probabilities, and what follows from it for a text.

    Args:
        log_probabilities: each piece's score in nats, at least one character a piece: a mapping, or
            (piece, score) pairs, where a repeated piece is an error. -inf takes a piece out; positive scores
            are allowed, since files of the field hold them.
        unknown_log_probability: price of one unknown character; None = 10 below the lowest score, -inf = not
            allowed.
        byte_fallback: `segment` writes unknown text as its UTF-8 bytes, `<0xC3>`, where the vocabulary has
            them all.
        fuse_unknown: `segment` joins neighbouring unknown characters.

    Raises: EmptyPieceError, DuplicatePieceError, ScoreError, LoneSurrogateError, and EmptyVocabularyError
        where the price of an unknown character is to be derived from no piece. Methods that take a text raise
        LoneSurrogateError, and NoSegmentationError where unknown characters have probability zero.

    >>> model = Unigram({"a": log(0.5), "b": log(0.3), "ab": log(0.2)})
    >>> model.segment("abab"), model.count_segmentations("abab")
    (['ab', 'ab'], 4)
    >>> round(exp(model.log_likelihood("ab")), 3)  # 0.5 * 0.3 + 0.2
    0.35
    """

    log_probabilities: Mapping[str, float] = field(hash=False)  # a dict has none; equal ones stay equal
    unknown_log_probability: float | None = field(default=None, kw_only=True)
    byte_fallback: bool = field(default=False, kw_only=True)
    fuse_unknown: bool = field(default=True, kw_only=True)
    _unknown: float = field(init=False, repr=False, compare=False)
    _root: dict[str, _Node] = field(init=False, repr=False, compare=False)
    _opener: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pieces = self.log_probabilities
        scores = _checked_scores(pieces.items() if isinstance(pieces, Mapping) else pieces)
        usable = {piece: score for piece, score in scores.items() if score > -inf}
        unknown = self.unknown_log_probability
        if unknown is None:
            if not usable:
                raise errors.EmptyVocabularyError()
            unknown = min(usable.values()) - UNKNOWN_PENALTY
        price, root = _checked_score("the price of an unknown character", unknown), _trie(usable)
        inner = set("".join(piece[1:] for piece in usable))
        cutting = [char for char in WORD_OPENERS if char in root and char not in inner]
        opener = cutting[0] if cutting and unknown > -inf else ""
        set_fields(self, log_probabilities=scores, _unknown=price, _root=root, _opener=opener)

    def __reduce__(self) -> tuple[Any, ...]:
        options = "unknown_log_probability", "byte_fallback", "fuse_unknown"
        return partial(Unigram, **{name: getattr(self, name) for name in options}), (self.log_probabilities,)

    @classmethod
    def from_costs(cls, costs: Mapping[str, float], unknown_cost: float = 20.0) -> Unigram:
        """The same model by costs, which are negative log-probabilities: the cheapest path is the best one.

        As in the tokenizer notes, each unknown character costs `unknown_cost` and stays a piece of its own.

        >>> model = Unigram.from_costs({"北": 3.0, "北京": 1.0, "大学": 1.0, "大": 2.0, "学": 2.0})
        >>> model.segment("北京大学")
        ['北京', '大学']
        """
        scores = {piece: _negated(cost) for piece, cost in costs.items()}
        return cls(scores, unknown_log_probability=_negated(unknown_cost), fuse_unknown=False)

    # The best path: a reference that reads like the formula, and a fast one.

    def table(self, text: str) -> tuple[Cell, ...]:
        """The dynamic programme cell by cell: the reference, in time n times the longest piece of all.

        >>> [cell.best.piece for cell in Unigram({"a": -1.0, "b": -1.0, "ab": -1.5}).table("ab")[1:]]
        ['a', 'ab']
        """
        encode_text(text)
        longest = max(map(len, self.log_probabilities), default=1)
        cells = [Cell(0, (), None, 0.0)]
        for end in range(1, len(text) + 1):
            arriving = (self._edge(text, start, end) for start in range(max(0, end - longest), end))
            candidates = tuple(
                (edge, cells[edge.start].log_probability + edge.log_probability)
                for edge in arriving
                if edge and cells[edge.start].log_probability > -inf
            )
            best, total = max(candidates, key=itemgetter(1), default=(None, -inf))
            cells.append(Cell(end, candidates, best, total))
        return tuple(cells)

    def best_spans(self, text: str) -> list[Span]:
        """The best path as (start, end, known) in code points, unknown characters one by one: the fast way.

        Time grows with the length of the text times the longest piece that can match there.

        >>> Unigram({"a": -1.0, "aa": -1.5}).best_spans("aaxx")
        [(0, 2, True), (2, 3, False), (3, 4, False)]
        """
        return self._best(text)[1]

    def segment(self, text: str) -> list[str]:
        """The pieces of the best path as an encoder emits them: unknown text fused, or written as bytes.

        >>> Unigram({"a": -1.0}).segment("axxa")
        ['a', 'xx', 'a']
        >>> Unigram({"a": -1.0, "<0xC3>": -5.0, "<0xA9>": -5.0}, byte_fallback=True).segment("aé")
        ['a', '<0xC3>', '<0xA9>']
        """
        spans = self.best_spans(text)
        if all(map(itemgetter(2), spans)):
            return [text[start:end] for start, end, _ in spans]
        pieces: list[str] = []
        for start, end, known in fuse_unknown(spans) if self.fuse_unknown else spans:
            piece = text[start:end]
            if not known and self.byte_fallback:
                names = [f"<0x{byte:02X}>" for byte in piece.encode()]
                if all(name in self.log_probabilities for name in names):
                    pieces += names
                    continue
            pieces.append(piece)
        return pieces

    def best(self, text: str) -> Segmentation:
        """The best path and its log-probability.

        >>> Unigram({"a": -1.0, "aa": -1.5}).best("aaa")
        Segmentation(pieces=('a', 'aa'), log_probability=-2.5)
        """
        total, spans = self._best(text)
        return Segmentation(tuple(text[start:end] for start, end, _ in spans), total)

    def _best(self, text: str) -> tuple[float, list[Span]]:
        encode_text(text)
        if self._opener and len(text) > LONG_TEXT:
            return self._best_by_words(text)
        return self._viterbi(text, 0.0)[:2]

    def _best_by_words(self, text: str) -> tuple[float, list[Span]]:
        """Where no piece reaches across, every path cuts, so a word's best path can be used again.

        Not, however, where it wins so narrowly that the rounding of the sum before the word may decide.
        """
        paths: dict[str, tuple[float, list[Span], list[float]]] = {}
        total, spans, at = 0.0, list[Span](), 0
        for word in re.findall(f"[^{self._opener}]+|{self._opener}[^{self._opener}]*", text):
            if word not in paths:
                _, path, safe = self._viterbi(word, 0.0, CLEAR_MARGIN)
                scores = self.log_probabilities
                prices = [scores[word[start:end]] if known else self._unknown for start, end, known in path]
                paths[word] = safe, path, prices
            safe_up_to, path, prices = paths[word]
            if abs(total) < safe_up_to:
                for price in prices:
                    total += price
            else:
                total, path, _ = self._viterbi(word, total)
            spans += [(at + start, at + end, known) for start, end, known in path]
            at += len(word)
        return total, spans

    def _viterbi(self, text: str, before: float, clear: float = 0.0) -> tuple[float, list[Span], float]:
        """The best sum on top of `before`, its path, and up to what size of `before` that path stays.

        The last is known only where every decision was by more than `clear`, else it is 0.
        """
        length, root, unknown = len(text), self._root.get, self._unknown
        best = [before] + [-inf] * length
        back = [0] * (length + 1)  # the start of the last piece, as its complement where that is unknown
        narrow = False
        for start in range(length):
            base = best[start]
            end = start + 1
            node = root(text[start])
            if node is None or node[0] is None:
                gain = base + unknown - best[end]
                narrow = narrow or -clear < gain < clear
                if gain > 0.0:
                    best[end] = base + unknown
                    back[end] = ~start
            while node is not None:
                score, children = node
                if score is not None:
                    gain = base + score - best[end]
                    if gain > -clear:
                        narrow = narrow or gain < clear
                        if gain > 0.0:
                            best[end] = base + score
                            back[end] = start
                if children is None or end == length:
                    break
                node = children.get(text[end])
                end += 1
        if best[length] == -inf:
            position = max(position for position in range(length) if best[position] > -inf)
            raise errors.NoSegmentationError(position=position, character=text[position])
        spans = []
        end = length
        while end:
            start = back[end]
            known = start >= 0
            spans.append((start if known else ~start, end, known))
            end = spans[-1][0]
        spans.reverse()
        # Each sum is off by at most half an epsilon of its size a piece, and two sums are compared.
        stable = (
            clear / (8 * float_info.epsilon * length) - max(map(abs, best)) if clear and not narrow else 0.0
        )
        return best[length], spans, stable

    # Every path.

    def lattice(self, text: str) -> Lattice:
        """Every edge that the text allows, by start, then by length.

        >>> [edge.piece for edge in Unigram({"a": -1.0, "ab": -1.5}).lattice("ab").edges]
        ['a', 'ab', 'b']
        """
        encode_text(text)
        edges = (
            Edge(start, end, text[start:end], score, known)
            for start in range(len(text))
            for end, score, known in self._outgoing(text, start)
        )
        return Lattice(text, tuple(edges))

    def count_segmentations(self, text: str) -> int:
        """How many paths the lattice has (one for the empty text).

        >>> Unigram({"a": -1.0, "aa": -1.5}).count_segmentations("aaaaa")
        8
        """
        encode_text(text)
        ways = [1] + [0] * len(text)
        for start in range(len(text)):
            for end, _, _ in self._outgoing(text, start):
                ways[end] += ways[start]
            ways[start] = 0  # the numbers get long: keep only those that are still needed
        return ways[-1]

    def n_best(self, text: str, n: int) -> list[Segmentation]:
        """The n most probable paths, best first; all of them where there are fewer.

        Among equals, at every position, the path whose last piece starts first comes first, then the one
        whose rest came first there: so the first is `best`. Time: the number of edges times n log n.

        Raises: InvalidArgumentError where n < 1.

        >>> [path.pieces for path in Unigram({"a": -1.0, "aa": -1.5}).n_best("aaa", 2)]
        [('a', 'aa'), ('aa', 'a')]
        """
        check_count("n", n, 1)
        encode_text(text)
        ways: list[_Ways] = [[(0.0, 0, 0)], *([] for _ in text)]
        for position in range(len(text) + 1):
            kept = ways[position] = sorted(ways[position], key=itemgetter(0), reverse=True)[:n]
            if kept and position < len(text):
                for end, score, _ in self._outgoing(text, position):
                    ways[end] += [(total + score, position, rank) for rank, (total, _, _) in enumerate(kept)]
        if not kept:
            self._viterbi(text, 0.0)  # raises, with the place
        return [Segmentation(_walk(text, ways, rank), total) for rank, (total, _, _) in enumerate(kept)]

    def log_likelihood(self, text: str) -> float:
        """The logarithm of the summed probability of all paths, in nats.

        >>> Unigram({"a": -1.0}).log_likelihood("aaa")
        -3.0
        """
        return self._suffix_sums(text)[0]

    def marginals(self, text: str) -> dict[tuple[int, int], float]:
        """For each edge (start, end), the probability that a path drawn by its probability takes it.

        >>> Unigram({"a": log(0.5), "aa": log(0.25)}).marginals("aa")
        {(0, 1): 0.5, (0, 2): 0.5, (1, 2): 0.5}
        """
        after = self._suffix_sums(text)
        passing = [1.0] + [0.0] * len(text)
        taken: dict[tuple[int, int], float] = {}
        for start in range(len(text)):
            for end, score, _ in self._outgoing(text, start):
                possible = after[start] > -inf
                share = passing[start] * exp(score + after[end] - after[start]) if possible else 0.0
                taken[start, end] = share
                passing[end] += share
        return taken

    def expected_counts(self, text: str) -> dict[str, float]:
        """How often each piece occurs, averaged over all paths by their probability: the E-step of training.

        Unknown characters are counted under their own text.

        >>> model = Unigram({"a": log(0.5), "b": log(0.3), "ab": log(0.2)})
        >>> {piece: round(count, 3) for piece, count in model.expected_counts("abab").items()}
        {'a': 0.857, 'ab': 1.143, 'b': 0.857}
        """
        counts: defaultdict[str, float] = defaultdict(float)
        for (start, end), share in self.marginals(text).items():
            counts[text[start:end]] += share
        return dict(counts)

    def sample(self, text: str, rng: random.Random, temperature: float = 1.0) -> Segmentation:
        """One path, drawn with probability proportional to exp(log-probability / temperature).

        Low temperatures keep to the best path, inf draws uniformly over all paths. (SentencePiece's alpha is
        1 / temperature.) One number is taken from `rng` for each piece.

        Raises: InvalidArgumentError where the temperature is below 1e-6 or NaN.

        >>> Unigram({"a": -1.0}).sample("aa", random.Random(0), 0.5)
        Segmentation(pieces=('a', 'a'), log_probability=-2.0)
        """
        if not isinstance(temperature, Real) or not temperature >= 1e-6:
            raise unexpected("temperature", "a number from 1e-6 to inf", temperature)
        after = self._suffix_sums(text, temperature)
        pieces = []
        start, total = 0, 0.0
        while start < len(text):
            left = rng.random()
            end, score = start, 0.0
            for candidate, candidate_score, _ in self._outgoing(text, start):
                if after[candidate] > -inf:
                    end, score = candidate, candidate_score
                    left -= exp(score / temperature + after[end] - after[start])
                    if left < 0.0:
                        break
            pieces.append(text[start:end])
            total += score
            start = end
        return Segmentation(tuple(pieces), total)

    def _suffix_sums(self, text: str, temperature: float = 1.0) -> list[float]:
        """For each of the n + 1 positions, the log of the summed probability of all ways on to the end."""
        encode_text(text)
        after = [-inf] * len(text) + [0.0]
        for start in reversed(range(len(text))):
            ways = [score / temperature + after[end] for end, score, _ in self._outgoing(text, start)]
            highest = max(ways, default=-inf)
            if highest > -inf:
                after[start] = highest + log(sum(exp(way - highest) for way in ways))
        if after[0] == -inf:
            self._viterbi(text, 0.0)  # raises, with the place
        return after

    # Edges.

    def _edge(self, text: str, start: int, end: int) -> Edge | None:
        piece = text[start:end]
        score = self.log_probabilities.get(piece, -inf)
        known = score > -inf
        if not known and len(piece) == 1:
            score = self._unknown
        return Edge(start, end, piece, score, known) if score > -inf else None

    def _outgoing(self, text: str, start: int) -> Iterator[tuple[int, float, bool]]:
        """(end, score, known) of each edge that leaves `start`, shortest first."""
        end = start + 1
        score, children = self._root.get(text[start], _NOWHERE)
        if score is not None:
            yield end, score, True
        elif self._unknown > -inf:
            yield end, self._unknown, False
        while children is not None and end < len(text):
            score, children = children.get(text[end], _NOWHERE)
            end += 1
            if score is not None:
                yield end, score, True


def fuse_unknown(spans: Iterable[Span]) -> Iterator[Span]:
    """Join neighbouring unknown spans into one.

    >>> list(fuse_unknown([(0, 1, False), (1, 2, False), (2, 3, True)]))
    [(0, 2, False), (2, 3, True)]
    """
    for known, run in groupby(spans, key=itemgetter(2)):
        if known:
            yield from run
        else:
            unknown = list(run)
            yield unknown[0][0], unknown[-1][1], False


def _walk(text: str, ways: list[_Ways], rank: int) -> tuple[str, ...]:
    pieces = []
    end = len(text)
    while end:
        _, start, rank = ways[end][rank]
        pieces.append(text[start:end])
        end = start
    return tuple(reversed(pieces))


def _trie(scores: Mapping[str, float]) -> dict[str, _Node]:
    root: dict[str, _Node] = {}
    for piece, score in scores.items():
        children = root
        for char in piece[:-1]:
            own, below = children.get(char, _NOWHERE)
            if below is None:
                below = {}
                children[char] = own, below
            children = below
        children[piece[-1]] = score, children.get(piece[-1], _NOWHERE)[1]
    return root


def _negated(cost: float) -> float:
    return -cost if isinstance(cost, Real) else cost


def _checked_score(what: str, score: float) -> float:
    if isinstance(score, Real) and (score == -inf or -LARGEST_SCORE <= score <= LARGEST_SCORE):
        return float(score)
    raise errors.ScoreError(what=what, score=score, limit=LARGEST_SCORE)


def _checked_scores(pieces: Iterable[tuple[str, float]]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for position, pair in enumerate(iterate(pieces, "pieces", "pairs of a piece and its score")):
        try:
            piece, score = pair
        except (TypeError, ValueError):
            raise unexpected(f"piece {position}", "a piece and its score", pair) from None
        if not check_text(piece, f"piece {position}"):
            raise errors.EmptyPieceError(position=position)
        if piece in scores:
            first = list(scores).index(piece)
            raise errors.DuplicatePieceError(position=position, piece=piece, first_position=first)
        encode_text(piece)
        scores[piece] = _checked_score(f"piece {piece!r}", score)
    return scores
