"""Truncation, padding and joining against the oracle, and the columns of an Encoding."""

import dataclasses
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as OracleTokenizer
from tokenizers import models as oracle_models
from tokenizers import pre_tokenizers as oracle_pre_tokenizers

from tokenlab.errors import ComponentError, InvalidArgumentError, PaddingLimitError, TruncationError
from tokenlab.pipeline.encoding import (
    Encoding,
    Padding,
    Truncation,
    merge,
    pad_batch,
    truncate,
    truncate_pair,
)
from tokenlab.pipeline.post_processors import post_process

LETTERS = "abcdefghijkl"
COLUMNS = ("ids", "tokens", "offsets", "type_ids", "attention_mask", "special_tokens_mask", "word_ids")


def oracle():
    tokenizer = OracleTokenizer(oracle_models.WordLevel({c: i for i, c in enumerate(LETTERS)}, unk_token="a"))
    tokenizer.pre_tokenizer = oracle_pre_tokenizers.WhitespaceSplit()
    return tokenizer


def text_of(length, start=0):
    return " ".join(LETTERS[(start + i) % len(LETTERS)] for i in range(length))


def encode(text, sequence_id=0):
    """The same words as the oracle's, as one part."""
    words = text.split()
    return Encoding.from_tokens(
        [LETTERS.index(word) for word in words],
        words,
        [(2 * i, 2 * i + 1) for i in range(len(words))],
        list(range(len(words))),
        text,
        sequence_id,
    )


def assert_same(ours, theirs, columns=COLUMNS):
    for column in columns:
        assert list(getattr(ours, column)) == list(getattr(theirs, column)), column
    assert len(ours.overflowing) == len(theirs.overflowing)
    for our_piece, their_piece in zip(ours.overflowing, theirs.overflowing, strict=True):
        for column in columns:
            assert list(getattr(our_piece, column)) == list(getattr(their_piece, column)), column


truncations = st.builds(
    Truncation,
    direction=st.sampled_from(["Left", "Right"]),
    max_length=st.integers(0, 9),
    strategy=st.sampled_from(["LongestFirst", "OnlyFirst", "OnlySecond"]),
    stride=st.integers(0, 4),
)
lengths = st.integers(0, 11)
ORACLE_STRATEGIES = {"LongestFirst": "longest_first", "OnlyFirst": "only_first", "OnlySecond": "only_second"}


@settings(max_examples=300, deadline=None)
@given(truncations, lengths, st.none() | lengths)
def test_truncation_agrees_with_the_oracle(truncation, first, second):
    pair = None if second is None else encode(text_of(second, 5), 1)
    tokenizer = oracle()
    tokenizer.enable_truncation(
        truncation.max_length,
        stride=0,
        strategy=ORACLE_STRATEGIES[truncation.strategy],
        direction=truncation.direction.lower(),
    )
    try:
        ours = post_process(
            encode(text_of(first)), pair, post_processor=None, truncation=truncation, add_special_tokens=True
        )
    except TruncationError as error:
        if truncation.stride and truncation.stride >= error.room:
            return  # the oracle panics
        with pytest.raises(Exception, match="Truncation error"):
            tokenizer.encode(text_of(first), None if second is None else text_of(second, 5))
        return
    tokenizer.enable_truncation(
        truncation.max_length,
        stride=min(truncation.stride, max(0, truncation.max_length - 1)),
        strategy=ORACLE_STRATEGIES[truncation.strategy],
        direction=truncation.direction.lower(),
    )
    assert_same(ours, tokenizer.encode(text_of(first), None if second is None else text_of(second, 5)))


@pytest.mark.parametrize("stride", [3, 4])
def test_a_stride_that_leaves_no_step_is_refused(stride):
    with pytest.raises(TruncationError) as caught:
        truncate(encode(text_of(5)), 3, stride=stride)
    assert (caught.value.stride, caught.value.room) == (stride, 3)


def test_special_tokens_that_do_not_fit_are_refused():
    with pytest.raises(TruncationError) as caught:
        truncate_pair(encode("a"), None, Truncation(max_length=1), reserved=2)
    assert caught.value.reserved == 2


def test_every_token_comes_back_once_without_stride():
    for direction in ("Left", "Right"):
        cut = truncate(encode(text_of(11)), 4, direction=direction)
        pieces = [cut, *cut.overflowing]
        in_order = pieces[::-1] if direction == "Left" else pieces
        assert [token for piece in in_order for token in piece.tokens] == text_of(11).split()


paddings = st.builds(
    Padding,
    strategy=st.just("BatchLongest") | st.integers(0, 9),
    direction=st.sampled_from(["Left", "Right"]),
    pad_to_multiple_of=st.none() | st.integers(0, 5),
    pad_id=st.integers(0, 20),
    pad_type_id=st.integers(0, 3),
    pad_token=st.sampled_from(["[PAD]", ""]),
)


@settings(max_examples=150, deadline=None)
@given(paddings, st.lists(lengths, min_size=1, max_size=4), st.none() | st.integers(1, 6))
def test_padding_agrees_with_the_oracle(padding, batch, max_length):
    tokenizer = oracle()
    truncation = None
    if max_length is not None:
        tokenizer.enable_truncation(max_length)
        truncation = Truncation(max_length=max_length)
    tokenizer.enable_padding(
        direction=padding.direction.lower(),
        pad_id=padding.pad_id,
        pad_type_id=padding.pad_type_id,
        pad_token=padding.pad_token,
        length=None if isinstance(padding.strategy, str) else padding.strategy,
        pad_to_multiple_of=padding.pad_to_multiple_of,
    )
    texts = [text_of(length) for length in batch]
    whole = [
        post_process(encode(text), None, post_processor=None, truncation=truncation, add_special_tokens=True)
        for text in texts
    ]
    ours = pad_batch(whole, padding)
    for our_encoding, their_encoding in zip(ours, tokenizer.encode_batch(texts), strict=True):
        assert_same(our_encoding, their_encoding)
        assert [None if padded else 0 for padded in map((0).__eq__, our_encoding.attention_mask)] == list(
            our_encoding.sequence_ids
        )


def test_merging_keeps_parts_and_joins_every_choice_of_overflow():
    first = truncate(encode("a b"), 1)
    second = truncate(encode("c d", 1), 1)
    merged = merge([first, second])
    assert merged.tokens == ("a", "c")
    assert merged.sequence_ids == (0, 1)
    assert [piece.tokens for piece in merged.overflowing] == [("b", "c"), ("b", "d"), ("a", "d")]


def test_a_template_that_only_fills_the_memory_with_combinations_is_refused():
    parts = [truncate(encode("a b"), 1)] * 40
    with pytest.raises(TruncationError, match="combinations"):
        merge(parts)
    assert len(merge(parts[:5]).overflowing) == 2**5 - 1


def test_merging_many_takes_no_time_of_their_square():
    from time import process_time

    special = Encoding.inserted([1], ["</s>"])
    start = process_time()
    merged = merge([encode("a"), *[special] * 40_000, truncate(encode("c d", 1), 1)])
    assert (len(merged), merged.overflowing[0].tokens[-1]) == (40_002, "d")
    assert process_time() - start < 2  # a new list of all parts at each: 5 and more


def test_byte_offsets_count_utf8_bytes_of_each_ones_own_text():
    first = Encoding.from_tokens([1, 2], ["é", "🐌"], [(0, 1), (1, 2)], [0, 1], "é🐌")
    second = Encoding.from_tokens([3], ["x"], [(1, 2)], [0], "字x", sequence_id=1)
    special = Encoding.inserted([9], ["</s>"])
    assert merge([first, special, second]).byte_offsets == ((0, 2), (2, 6), (0, 0), (3, 4))


def test_byte_offsets_of_words_count_in_the_word():
    encoding = Encoding.from_tokens([1, 2], ["é", "x"], [(0, 1), (1, 2)], [0, 1], ["é", "字x"])
    assert encoding.byte_offsets == ((0, 2), (3, 4))


def test_an_encoding_is_frozen_and_pickles():
    encoding = truncate(encode(text_of(5)), 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        encoding.ids = ()
    assert pickle.loads(pickle.dumps(encoding)) == encoding
    assert pickle.loads(pickle.dumps(encoding)).byte_offsets == encoding.byte_offsets


@pytest.mark.parametrize("padding", [Padding(strategy=2**32 - 1), Padding(pad_to_multiple_of=2**32 - 1)])
def test_a_padding_that_only_fills_the_memory_is_refused(padding):
    with pytest.raises(PaddingLimitError):
        pad_batch([Encoding.inserted([1], ["a"])], padding)


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (Truncation, {"strategy": "longest_first"}),
        (Truncation, {"direction": "left"}),
        (Truncation, {"stride": -1}),
        (Truncation, {"max_length": "5"}),
        (Padding, {"direction": "left"}),
        (Padding, {"strategy": "longest"}),
        (Padding, {"strategy": -1}),
        (Padding, {"pad_to_multiple_of": -8}),
    ],
)
def test_a_rule_that_says_nothing_known_is_refused(rule, values):
    with pytest.raises((ComponentError, InvalidArgumentError), match=next(iter(values))):
        rule(**values)


def test_pieces_that_only_fill_the_memory_are_refused():
    encoding = Encoding.inserted([1] * 10_000, ["a"] * 10_000)
    with pytest.raises(TruncationError, match="fill the memory"):
        truncate(encoding, 5000, stride=4999)
