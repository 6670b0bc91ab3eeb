"""BPE training: the rule, the engines that agree on it, and what stops it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_tables import documents
from tokenizers import Tokenizer, models, trainers

from tokenlab import BpeTokenizer, BpeTrainer, BpeTraining, TokenLabError
from tokenlab.bpe import training
from tokenlab.errors import (
    InvalidArgumentError,
    InvalidUtf8Error,
    LoneSurrogateError,
    SingleDocumentError,
    TokenBytesLimitError,
    TooManySymbolsError,
)

HUG_WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


def recount(trainer: BpeTrainer, contents: list[bytes]) -> BpeTraining:
    """Train by the readable engine."""
    return trainer._learn(partial(training.merges_by_recounting, [(content, 1) for content in contents]))


def spelled(result: BpeTraining) -> list[tuple[bytes, bytes]]:
    symbols = [*training.BYTE_SYMBOLS, *(rule.token_bytes for rule in result.merges)]
    return [(symbols[rule.pair[0]], symbols[rule.pair[1]]) for rule in result.merges]


trainers_of_any_kind = st.builds(
    BpeTrainer,
    st.integers(0, 12),
    tie_break=st.sampled_from(["bytes", "ids"]),
    min_frequency=st.integers(1, 3),
)


@given(trainers_of_any_kind, documents)
def test_training_over_strings_equals_recounting(trainer: BpeTrainer, contents: list[bytes]) -> None:
    assert trainer.train(contents) == recount(trainer, contents)


@given(trainers_of_any_kind, documents)
def test_training_over_arrays_equals_recounting(trainer: BpeTrainer, contents: list[bytes]) -> None:
    with mock.patch.object(training, "NUMPY_PAYS_FROM", 0):
        assert trainer.train(contents) == recount(trainer, contents)


@given(
    trainers_of_any_kind, st.dictionaries(st.text(alphabet="abа", max_size=8), st.integers(0, 4), max_size=6)
)
def test_counted_words_equal_their_repetition_as_documents(
    trainer: BpeTrainer, counts: dict[str, int]
) -> None:
    repeated = [word.encode() for word, count in counts.items() for _ in range(count)]
    assert trainer.train_words(counts) == recount(trainer, repeated)


@settings(max_examples=60)
@given(st.integers(0, 12), st.lists(st.text(alphabet="abc", max_size=14), max_size=6))
def test_ids_tie_break_equals_the_trainer_of_tokenizers(count: int, texts: list[str]) -> None:
    peer = Tokenizer(models.BPE())
    size = len(set("".join(texts))) + count
    peer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, show_progress=False))
    merges = [
        tuple(token.encode() for token in pair) for pair in json.loads(peer.to_str())["model"]["merges"]
    ]
    assert spelled(BpeTrainer(count, tie_break="ids").train(texts)) == merges


def test_arrays_and_strings_agree_on_a_text_above_the_threshold() -> None:
    text = "".join(f"line {number}: ёлка, ёлка and {number * number} aaaa\n" for number in range(2500))
    assert len(text.encode()) > training.NUMPY_PAYS_FROM
    with_arrays = BpeTrainer(120).train([text, text[::-1]])
    with mock.patch.object(training, "find_spec", lambda name: None):
        assert BpeTrainer(120).train([text, text[::-1]]) == with_arrays


def test_hug_words_of_the_published_example() -> None:
    result = BpeTrainer(3).train_words(HUG_WORDS, alphabet="characters")
    assert result.alphabet == ("b", "g", "h", "n", "p", "s", "u")
    assert [(rule.token_bytes, rule.count) for rule in result.merges] == [
        (b"ug", 20),
        (b"un", 16),
        (b"hug", 15),
    ]
    assert [rule.token_id for rule in result.merges] == [7, 8, 9]
    cut = {word: result.tokenize_word(word) for word in ("bug", "mug", "thug", "hugs", "")}
    assert cut == {
        "bug": ["b", "ug"],
        "mug": ["[UNK]", "ug"],
        "thug": ["[UNK]", "hug"],
        "hugs": ["hug", "s"],
        "": [],
    }
    assert result.tokenize_word("mm", unknown_token="?") == ["?", "?"]


def test_characters_outside_of_ascii_and_absent_words() -> None:
    result = BpeTrainer(1).train_words({"北京": 2, "🦀": 0}, alphabet="characters")
    assert result.alphabet == ("京", "北")
    assert result.merges[0].pair == (1, 0)
    assert result.merges[0].token_bytes == "北京".encode()


def test_overlapping_pairs_count_and_replacement_does_not_overlap() -> None:
    first = BpeTrainer(1).train([b"aaaaa"]).merges[0]
    assert (first.pair, first.count) == ((97, 97), 4)
    assert [rule.count for rule in BpeTrainer(2).train([b"aaaaa"]).merges] == [4, 1]
    assert BpeTrainer(3, min_frequency=1).train([b"aaa"]).merges[1].pair == (256, 97)


def test_a_document_is_a_barrier_and_order_does_not_matter() -> None:
    assert BpeTrainer(1).train([b"aba", b"cd", b"cd"]).merges[0].token_bytes == b"cd"
    assert BpeTrainer(9).train([b"q", b"q"]).merges == ()
    results = {BpeTrainer(3).train(order) for order in permutations(["to", "ot", "zz", "ot"])}
    assert len(results) == 1


def test_ties_fall_by_bytes_or_by_ids() -> None:
    # Counts 2: (aa, b) by bytes is the smaller pair against (b, c); its left ID, 256, is the larger one.
    contents = [b"aab", b"aab", b"aa", b"bc", b"bc"]
    assert [rule.token_bytes for rule in BpeTrainer(2, tie_break="bytes").train(contents).merges] == [
        b"aa",
        b"aab",
    ]
    assert [rule.token_bytes for rule in BpeTrainer(2, tie_break="ids").train(contents).merges] == [
        b"aa",
        b"bc",
    ]


def test_stopping_early_is_said() -> None:
    enough, short = BpeTrainer(2).train([b"abc"]), BpeTrainer(3).train([b"abc"])
    assert (enough.stopped_early, len(enough.merges)) == (False, 2)
    assert (short.stopped_early, len(short.merges), short.requested_merge_count) == (True, 2, 3)
    assert BpeTrainer(5, min_frequency=2).train([b"abc"]).merges == ()
    assert not BpeTrainer(0).train([b"abab"]).stopped_early
    assert BpeTrainer(10**30).train([]).stopped_early


def test_vocabulary_size_counts_controls_bytes_and_merges() -> None:
    trainer = BpeTrainer.for_vocabulary_size(260, tie_break="ids")
    assert (trainer.merge_count, trainer.tie_break) == (2, "ids")
    assert BpeTokenizer.from_training(trainer.train([b"ababab"])).layout.vocabulary_size == 260
    with pytest.raises(InvalidArgumentError, match="from 258"):
        BpeTrainer.for_vocabulary_size(257)


def test_documents_are_read_once_and_may_be_bytes_or_text() -> None:
    def stream() -> Iterator[Any]:
        yield from ("абаб", "абаб".encode(), bytearray("абаб".encode()), memoryview("абаб".encode()), b"", "")

    assert BpeTrainer(4).train(stream()) == BpeTrainer(4).train(["абаб"] * 4)


def test_a_pre_tokenizer_sets_barriers_inside_documents() -> None:
    trainer = BpeTrainer(9, pre_tokenizer=str.split)
    result = trainer.train(["ab ab", b"ab"])
    assert [(rule.token_bytes, rule.count) for rule in result.merges] == [(b"ab", 3)]


def test_progress_is_reported_up_to_the_end() -> None:
    calls: list[tuple[int, int]] = []
    BpeTrainer(2, progress=lambda done, total: calls.append((done, total))).train([b"abc"])
    assert calls == [(1, 2), (2, 2)]
    calls.clear()
    BpeTrainer(5, progress=lambda done, total: calls.append((done, total))).train([b"abc"])
    assert calls == [(1, 5), (2, 5), (2, 2)]


ODD_CONTENTS = [b"", b"a", bytes(range(256)), b"\0\0\0", b"\xef\xbb\xbfa\r\na\r\n", b"\xff\xfe\xff\xfe"]


@pytest.mark.parametrize("content", ODD_CONTENTS)
def test_any_bytes_train(content: bytes) -> None:
    result = BpeTrainer(4).train([content])
    assert result == recount(BpeTrainer(4), [content])
    tokenizer = BpeTokenizer.from_training(result)
    assert tokenizer.decode_content(tokenizer.encode_content(content)) == content


def test_symbols_pass_through_the_surrogate_range() -> None:
    """ID 0xD800 and on are characters that no text holds, but Python's strings do."""
    symbols = [b"x"] * 0xD7FF
    words = {"ab" * 3: 1}
    pairs = []
    for pair, count in training.merges_in_words(words, symbols, lambda pair: pair):
        pairs.append((pair, count))
        symbols.append(b"x")
    assert pairs == [((97, 98), 3), ((0xD7FF, 0xD7FF), 2), ((0xD800, 0xD7FF), 1)]


def test_symbols_end_where_characters_end() -> None:
    symbols = [b"x"] * 0x110000
    engine = training.merges_in_words({"ab" * 3: 1}, symbols, lambda pair: pair)
    next(engine)
    symbols.append(b"x")
    with pytest.raises(TooManySymbolsError):
        next(engine)


def test_tokens_that_would_fill_the_memory_are_refused() -> None:
    with mock.patch.object(training, "TOKEN_BYTES_LIMIT", 13), pytest.raises(TokenBytesLimitError) as caught:
        BpeTrainer(9).train([b"a" * 64])
    assert (caught.value.position, caught.value.size) == (2, 14)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: BpeTrainer(-1), InvalidArgumentError),
        (lambda: BpeTrainer(1.0), InvalidArgumentError),
        (lambda: BpeTrainer(True), InvalidArgumentError),
        (lambda: BpeTrainer("8"), InvalidArgumentError),
        (lambda: BpeTrainer(8, min_frequency=0), InvalidArgumentError),
        (lambda: BpeTrainer(8, tie_break="first"), InvalidArgumentError),
        (lambda: BpeTrainer(8, pre_tokenizer="words"), InvalidArgumentError),
        (lambda: BpeTrainer(8).train("one text"), SingleDocumentError),
        (lambda: BpeTrainer(8).train(b"one text"), SingleDocumentError),
        (lambda: BpeTrainer(8).train(None), InvalidArgumentError),
        (lambda: BpeTrainer(8).train([1, 2]), InvalidArgumentError),
        (lambda: BpeTrainer(8, pre_tokenizer=lambda text: [1]).train(["a"]), InvalidArgumentError),
        (lambda: BpeTrainer(8).train_words({"a": -1}), InvalidArgumentError),
        (lambda: BpeTrainer(8).train_words({"a": 0.5}), InvalidArgumentError),
        (lambda: BpeTrainer(8).train_words({b"a": 1}), InvalidArgumentError),
        (lambda: BpeTrainer(8).train_words(["a"]), InvalidArgumentError),
        (lambda: BpeTrainer(8).train_words({"a": 1}, alphabet="letters"), InvalidArgumentError),
        (lambda: BpeTrainer(8).train_words({"\ud800": 1}, alphabet="characters"), LoneSurrogateError),
        (lambda: BpeTrainer(8).train([b"ab"]).tokenize_word("ab"), InvalidArgumentError),
    ],
)
def test_what_cannot_be_meant_is_refused(call: Callable[[], object], error: type[TokenLabError]) -> None:
    with pytest.raises(TokenLabError) as caught:
        call()
    assert type(caught.value) is error
    assert len(str(caught.value)) < 200


def test_positions_of_bad_text_count_inside_the_document() -> None:
    with pytest.raises(LoneSurrogateError) as surrogate:
        BpeTrainer(1).train(["fine", "ab\ud800"])
    assert (surrogate.value.position, surrogate.value.code_point) == (2, 0xD800)
    with pytest.raises(InvalidUtf8Error) as invalid:
        BpeTrainer(1, pre_tokenizer=str.split).train([b"a b\xff"])
    assert invalid.value.position == 3


def test_counts_beyond_64_bits_are_exact() -> None:
    rule = BpeTrainer(1).train_words({"abab": 10**30, "ab": 1}).merges[0]
    assert (rule.token_bytes, rule.count) == (b"ab", 2 * 10**30 + 1)


def test_two_hash_seeds_give_the_same_rules() -> None:
    code = (
        "from tokenlab import BpeTrainer\n"
        "text = [word * 3 for word in 'to ot oto tot ёлка ежа жёлудь'.split()]\n"
        "print(BpeTrainer(40, pre_tokenizer=str.split).train(text).merges)\n"
        "print(BpeTrainer(40).train_words(dict.fromkeys(text, 2), alphabet='characters'))\n"
    )
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    outputs = [subprocess.check_output([sys.executable, "-c", code], env=env) for env in environments]
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"MergeRule") > 40


@pytest.mark.parametrize("found", [None, "ab", {"ab": 3}, 5])
def test_a_pre_tokenizer_that_returns_no_pieces_is_refused(found):
    with pytest.raises(InvalidArgumentError, match="pre_tokenizer"):
        BpeTrainer(1, pre_tokenizer=lambda text: found).train(["ab"])


@pytest.mark.parametrize("word", [None, b"ab", ["a", "b"]])
def test_a_word_to_cut_is_a_str(word):
    with pytest.raises(InvalidArgumentError, match="word"):
        BpeTrainer(1).train_words({"ab": 1}, alphabet="characters").tokenize_word(word)
