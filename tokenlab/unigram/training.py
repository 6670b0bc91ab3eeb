"""Training a Unigram vocabulary: seed, estimate by EM, prune what is missed least (chapter 5b).

Follows Kudo, "Subword Regularization" (2018), and the published trainer of SentencePiece: seeds are frequent
substrings weighted by count times length; the M-step takes the digamma of expected counts; pieces expected
less than half a time are dropped; then, a quarter in a round, those whose loss costs least likelihood.
Unlike there, only the most frequent substrings are seeds, five for each piece asked for: the rare ones fit
the training text and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Literal, get_args

from tokenlab.checks import check_count, check_documents, encode_text, unexpected
from tokenlab.errors import VocabularySizeError
from tokenlab.unigram.viterbi import Unigram

MStep = Literal["digamma", "maximum_likelihood"]

SURPLUS = 1.1  # pruning by loss stops at so many times the target; the lowest scores go last
LONGEST_LATTICE = 1000


@dataclass(frozen=True, slots=True)
class TrainingRound:
    """One round: pieces at its start, the log-likelihood before each EM iteration, and what was dropped.

    `rare` fell below the minimum expected count; `pruned` was missed least, in the last round: scored lowest.
    """

    size: int
    log_likelihoods: tuple[float, ...]
    rare: tuple[str, ...]
    pruned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnigramTraining:
    """What training made: (piece, log-probability), highest first, and the rounds that led there."""

    pieces: tuple[tuple[str, float], ...]
    rounds: tuple[TrainingRound, ...]

    @property
    def log_probabilities(self) -> dict[str, float]:
        """The pieces as a mapping, in the same order."""
        return dict(self.pieces)

    @property
    def model(self) -> Unigram:
        """The trained model."""
        return Unigram(self.log_probabilities)


@dataclass(frozen=True, slots=True)
class UnigramTrainer:
    """Trains a vocabulary of exactly `vocabulary_size` pieces, in which every character of the text is one.

    Args:
        vocabulary_size: pieces in all; control tokens are not counted.
        pre_tokenizer: cuts a document into words that no piece crosses; None = the document is one word.
            Words are trained on in parts of at most 1000 characters.
        max_piece_length: in code points.
        seed_factor: the most frequent substrings are candidates, so many times the vocabulary size.
        sub_iterations: EM iterations in a round.
        shrinking_factor: the part of the pieces that stays when a round prunes.
        m_step: "digamma" (it takes from the rare) or "maximum_likelihood" (count / total).
        minimum_count: pieces below this expected count are dropped, and what must stay is reckoned at it.
        progress: called with (pieces dropped, pieces to drop).

    The order of the documents changes nothing. Where counts, losses or scores agree to single precision, the
    longer piece goes first, then the later in code point order.

    Raises: InvalidArgumentError.

    >>> training = UnigramTrainer(3).train(["abab", "abab"])
    >>> sorted(training.log_probabilities), training.model.segment("ababab")
    (['a', 'abab', 'b'], ['a', 'b', 'abab'])
    """

    vocabulary_size: int
    pre_tokenizer: Callable[[str], Iterable[str]] | None = field(default=None, kw_only=True)
    max_piece_length: int = field(default=16, kw_only=True)
    seed_factor: float = field(default=5.0, kw_only=True)
    sub_iterations: int = field(default=2, kw_only=True)
    shrinking_factor: float = field(default=0.75, kw_only=True)
    m_step: MStep = field(default="digamma", kw_only=True)
    minimum_count: float = field(default=0.5, kw_only=True)
    progress: Callable[[int, int], None] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("vocabulary_size", "max_piece_length", "sub_iterations"):
            check_count(name, getattr(self, name), 1)
        numbers: tuple[tuple[str, str, Callable[[float], bool]], ...] = (
            ("seed_factor", "a number of at least 1", lambda value: 1.0 <= value < inf),
            ("shrinking_factor", "a number between 0 and 1", lambda value: 0.0 < value < 1.0),
            ("minimum_count", "a number above 0", lambda value: 0.0 < value < inf),
        )
        for name, expected, is_right in numbers:
            value = getattr(self, name)
            if not isinstance(value, int | float) or not is_right(value):
                raise unexpected(name, expected, value)
        if self.m_step not in get_args(MStep):
            raise unexpected("m_step", "'digamma' or 'maximum_likelihood'", self.m_step)

    def train(self, documents: Iterable[str]) -> UnigramTraining:
        """Train on documents, each of which is a barrier that no piece crosses; they are read once.

        Raises: VocabularySizeError where the text has more characters than that, or too few substrings that
            occur twice; LoneSurrogateError; InvalidArgumentError where a document is no str.
        """
        from tokenlab.unigram.batch import Candidates  # numpy, which only training needs

        seeds = int(self.vocabulary_size * self.seed_factor)
        pool = Candidates(self._words(documents), self.max_piece_length, seeds)
        if not pool.fewest <= self.vocabulary_size <= pool.most:
            raise VocabularySizeError(
                vocabulary_size=self.vocabulary_size, fewest=pool.fewest, most=pool.most
            )
        to_drop = pool.size - self.vocabulary_size
        surplus = int(self.vocabulary_size * SURPLUS)
        rounds: list[TrainingRound] = []
        while not rounds or pool.size > self.vocabulary_size:
            size = pool.size
            likelihoods, rare = [], []
            for _ in range(self.sub_iterations):
                likelihoods.append(pool.expect())
                rare += pool.drop_rare(self.minimum_count, self.vocabulary_size)
                pool.maximise(self.m_step, self.minimum_count)
            if pool.size > surplus:
                pruned = pool.keep_highest(
                    pool.losses(), max(surplus, int(pool.size * self.shrinking_factor))
                )
            else:
                pruned = pool.keep_highest(pool.scores, self.vocabulary_size)
            rounds.append(TrainingRound(size, tuple(likelihoods), tuple(rare), tuple(pruned)))
            if self.progress:
                self.progress(to_drop - (pool.size - self.vocabulary_size), to_drop)
        pieces = sorted(pool.pieces(), key=lambda scored: (-scored[1], scored[0]))
        return UnigramTraining(tuple(pieces), tuple(rounds))

    def _words(self, documents: Iterable[str]) -> dict[str, int]:
        words: Counter[str] = Counter()
        for position, document in enumerate(check_documents(documents)):
            encode_text(document, f"document {position}")
            for word in self.pre_tokenizer(document) if self.pre_tokenizer else (document,):
                words.update(
                    word[start : start + LONGEST_LATTICE] for start in range(0, len(word), LONGEST_LATTICE)
                )
        return dict(sorted(words.items()))
