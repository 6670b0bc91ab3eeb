"""Training: what EM promises, the stated rules, and quality beside SentencePiece's trainer."""

import math
import random
import re
import sysconfig
from collections import Counter
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenlab import Unigram, UnigramTrainer
from tokenlab.errors import InvalidArgumentError, LoneSurrogateError, SingleDocumentError, VocabularySizeError
from tokenlab.unigram.batch import Candidates, digamma

words = st.dictionaries(st.text("ab北", min_size=1, max_size=7), st.integers(1, 5), min_size=1, max_size=6)


def marked_words(line):
    """The pieces between which SentencePiece's default rules let no piece reach: a space opens a word."""
    return re.findall("▁[^▁]*", "▁" + line.replace(" ", "▁"))


def source_lines(first, last):
    """Lines of the standard library's own files, by the places of the files in the alphabet."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    texts = (path.read_text(encoding="utf-8") for path in files)
    joined = "".join(text for text in texts if text.isascii())
    return [line for line in joined[first:last].splitlines() if line.strip()]


def model_of(pool):
    return Unigram(dict(pool.pieces()))


@given(words)
def test_the_seeds_are_the_characters_and_what_occurs_twice(counted):
    pool = Candidates(dict(sorted(counted.items())), longest=4, seeds=10_000)
    occurring = Counter()
    for word, count in counted.items():
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + 4) + 1):
                occurring[word[start:end]] += count
    found = dict(zip(pool.all.pieces, pool.all.counts.tolist(), strict=True))
    for piece, count in occurring.items():
        always = [longer for longer in occurring if longer[:-1] == piece and occurring[longer] == count]
        assert (piece in found) == (len(piece) == 1 or (count >= 2 and not always))
        assert found.get(piece, count) == count
    assert set(found) <= set(occurring)


@settings(max_examples=50)
@given(words)
def test_the_batch_equals_the_model_on_each_word(counted):
    """E-step and best paths over arrays, against `Unigram` word by word."""
    pool = Candidates(dict(sorted(counted.items())), longest=4, seeds=10_000)
    model = model_of(pool)
    likelihood = pool.expect()
    expected, best = Counter(), Counter()
    for word, count in counted.items():
        for piece, share in model.expected_counts(word).items():
            expected[piece] += count * share
        for piece in model.segment(word):
            best[piece] += count
    assert likelihood == pytest.approx(sum(n * model.log_likelihood(word) for word, n in counted.items()))
    assert dict(zip(pool.all.pieces, pool.expected.tolist(), strict=True)) == pytest.approx(expected)
    chosen = pool.lattices.best(pool.scores)[1]
    counts = pool.lattices.counts(pool.line.last, pool.line.frequency, chosen, len(pool.scores))
    # Sums in another order may decide a tie otherwise, so compare what the paths are worth.
    worth = sum(count * score for count, score in zip(counts.tolist(), pool.scores.tolist(), strict=True))
    assert worth == pytest.approx(sum(n * model.log_probabilities[piece] for piece, n in best.items()))


@settings(max_examples=50)
@given(words)
def test_em_never_lowers_the_likelihood(counted):
    pool = Candidates(dict(sorted(counted.items())), longest=4, seeds=10_000)
    likelihoods = []
    for _ in range(6):
        likelihoods.append(pool.expect())
        pool.maximise("maximum_likelihood", 1e-300)
    for before, after in pairwise(likelihoods):
        assert after >= before - 1e-9 * abs(before)


@settings(max_examples=50)
@given(words)
def test_the_loss_of_a_piece_is_that_of_its_best_replacement(counted):
    pool = Candidates(dict(sorted(counted.items())), longest=4, seeds=10_000)
    chosen = pool.lattices.best(pool.scores)[1]
    counts = pool.lattices.counts(pool.line.last, pool.line.frequency, chosen, len(pool.scores))
    number = {piece: n for n, piece in enumerate(pool.all.pieces)}
    scores, total = dict(pool.pieces()), counts.sum()
    for piece, loss in zip(pool.all.pieces, pool.losses().tolist(), strict=True):
        own = counts[number[piece]]
        if len(piece) == 1 or not own:
            assert loss == -math.inf
            continue
        instead = Unigram({other: score for other, score in scores.items() if other != piece}).best(piece)
        if instead.log_probability > scores[piece]:
            assert loss == -math.inf
            continue
        without = total + own * (len(instead.pieces) - 1)
        replaced = sum(math.log((counts[number[part]] + own) / without) for part in instead.pieces)
        ways = Unigram({other: score for other, score in scores.items() if other != piece}).n_best(piece, 2)
        if len(ways) == 1 or ways[1].log_probability < instead.log_probability - 1e-9:
            assert loss == pytest.approx(own * (math.log(own / total) - replaced))


def test_digamma_has_its_known_values():
    """psi(1) = -gamma, psi(1/2) = -gamma - 2 log 2, and psi(x + 1) = psi(x) + 1/x."""
    gamma = 0.5772156649015329
    assert digamma(np.array([1.0, 0.5])) == pytest.approx([-gamma, -gamma - 2 * math.log(2)], abs=1e-9)
    x = np.array([0.01, 0.3, 2.0, 50.0, 1e6])
    assert digamma(x + 1) == pytest.approx(digamma(x) + 1 / x, abs=1e-9)


@given(st.lists(st.text("abc ", max_size=12), max_size=6), st.integers(1, 30))
def test_the_size_is_met_exactly_or_refused_with_the_reason(documents, size):
    characters = set("".join(documents))
    try:
        training = UnigramTrainer(size).train(documents)
    except VocabularySizeError as error:
        assert error.fewest == len(characters)
        assert not error.fewest <= size <= error.most
        return
    assert len(training.pieces) == len(training.log_probabilities) == size
    assert characters <= set(training.log_probabilities)
    assert all(math.isfinite(score) for _, score in training.pieces)
    assert all("".join(training.model.segment(document)) == document for document in documents)


def test_the_bounds_that_an_error_names_can_be_trained():
    documents = ["low lower lowest", "new newer newest", "wide wider widest"]
    with pytest.raises(VocabularySizeError) as error:
        UnigramTrainer(1000).train(documents)
    for size in (error.value.fewest, error.value.most):
        assert len(UnigramTrainer(size).train(documents).pieces) == size


def test_the_rounds_account_for_every_piece():
    documents = source_lines(0, 20_000)
    progress = []
    trainer = UnigramTrainer(
        200, pre_tokenizer=marked_words, progress=lambda done, all_: progress.append((done, all_))
    )
    training = trainer.train(documents)
    sizes = [round_.size for round_ in training.rounds]
    after = [round_.size - len(round_.rare) - len(round_.pruned) for round_ in training.rounds]
    assert after == [*sizes[1:], 200]
    dropped = [piece for round_ in training.rounds for piece in round_.rare + round_.pruned]
    assert len(set(dropped)) == len(dropped)
    assert not set(dropped) & set(training.log_probabilities)
    assert sizes[0] == 1000  # five candidates for each piece
    assert all(len(round_.log_likelihoods) == 2 for round_ in training.rounds)
    assert [done for done, _ in progress] == [sizes[0] - size for size in after]
    assert {all_ for _, all_ in progress} == {800}


def test_the_order_of_documents_changes_nothing():
    documents = source_lines(0, 20_000)
    shuffled = random.Random(3).sample(documents, len(documents))
    trainer = UnigramTrainer(300, pre_tokenizer=marked_words)
    assert trainer.train(iter(documents)) == trainer.train(shuffled)


def test_no_piece_crosses_a_document_or_a_word():
    documents = ["ab", "ab", "ab"] * 5
    assert "ba" not in UnigramTrainer(3).train(documents).log_probabilities
    training = UnigramTrainer(4, pre_tokenizer=str.split).train(["ab c ab c ab c"] * 5)
    assert set(training.log_probabilities) == {"a", "b", "c", "ab"}


def test_a_document_of_one_long_word_is_trained_in_parts():
    training = UnigramTrainer(4).train(["ab" * 30_000])
    assert {"a", "b"} < set(training.log_probabilities)


def test_the_m_step_divides_and_its_digamma_form_takes_from_the_rare():
    counted = Counter(word for line in source_lines(0, 20_000) for word in marked_words(line))
    pool = Candidates(dict(sorted(counted.items())), longest=8, seeds=10_000)
    pool.expect()
    share = pool.expected / pool.expected.sum()
    pool.maximise("maximum_likelihood", 1e-300)
    assert np.exp(pool.scores) == pytest.approx(share)
    pool.maximise("digamma", 1e-300)
    order = np.argsort(share)
    order = order[share[order] > 1e-6]
    discounts = np.exp(pool.scores[order]) / share[order]
    assert (np.diff(discounts) >= -1e-9).all()
    assert discounts[0] < 0.1 < 0.99 < discounts[-1] < 1


@pytest.mark.parametrize(
    "options",
    [
        {"vocabulary_size": 0},
        {"vocabulary_size": 2.5},
        {"vocabulary_size": True},
        {"vocabulary_size": "5"},
        {"max_piece_length": 0},
        {"seed_factor": 0.5},
        {"seed_factor": math.nan},
        {"sub_iterations": 0},
        {"shrinking_factor": 1.0},
        {"shrinking_factor": math.nan},
        {"shrinking_factor": "0.5"},
        {"m_step": "log"},
        {"minimum_count": 0.0},
    ],
)
def test_options_without_sense_are_refused_by_name(options):
    with pytest.raises(InvalidArgumentError, match=next(iter(options))):
        UnigramTrainer(**{"vocabulary_size": 10, **options})


def test_documents_are_str():
    with pytest.raises(SingleDocumentError):
        UnigramTrainer(3).train("abab")
    with pytest.raises(InvalidArgumentError, match="document 1"):
        UnigramTrainer(3).train(["abab", b"abab"])
    with pytest.raises(LoneSurrogateError):
        UnigramTrainer(3).train(["ab\ud800"])
    with pytest.raises(VocabularySizeError):
        UnigramTrainer(1).train([])


@pytest.mark.parametrize("size", [1000, 4000])
def test_held_out_text_takes_no_more_tokens_than_with_sentencepiece(size):
    """Like with like: words open with ▁, nothing else is cut or normalised, every character is a piece.

    SentencePiece's other rules (no piece across scripts or into digits) are off, since here they would be the
    pre-tokenizer's. Its three control tokens come on top of the size.
    """
    train, held_out = source_lines(0, 280_000), source_lines(1_000_000, 1_200_000)
    ours = UnigramTrainer(size, pre_tokenizer=marked_words).train(train).log_probabilities
    written = BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(train),
        model_writer=written,
        model_type="unigram",
        vocab_size=size + 3,
        character_coverage=1.0,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        split_by_unicode_script=False,
        split_by_number=False,
        num_threads=1,
        minloglevel=2,
    )
    peer = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    theirs = {peer.id_to_piece(n): peer.get_score(n) for n in range(3, peer.get_piece_size())}
    assert len(ours) == len(theirs) == size
    price = min(*ours.values(), *theirs.values()) - 10
    counted = Counter(word for line in held_out for word in marked_words(line))
    tokens, likelihood = [], []
    for scores in (ours, theirs):
        model = Unigram(scores, unknown_log_probability=price)
        tokens.append(sum(count * len(model.best_spans(word)) for word, count in counted.items()))
        likelihood.append(sum(count * model.log_likelihood(word) for word, count in counted.items()))
    assert tokens[0] <= 1.01 * tokens[1]
    assert likelihood[0] >= 1.01 * likelihood[1]  # both are negative
