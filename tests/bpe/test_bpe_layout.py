"""ID layout version 1: the published numbers and the ends of every range."""

from __future__ import annotations

import pytest

import tokenlab
from tokenlab import TokenizerLayout
from tokenlab.errors import InvalidArgumentError, LayoutOverflowError, UnknownRankError


def test_published_constants() -> None:
    assert (tokenlab.TOKENIZER_LAYOUT_VERSION, tokenlab.BOS_TOKEN_ID, tokenlab.EOS_TOKEN_ID) == (1, 0, 1)
    assert tokenlab.CONTENT_ID_OFFSET == tokenlab.FIRST_BYTE_TOKEN_ID == 2
    assert (tokenlab.LAST_BYTE_TOKEN_ID, tokenlab.FIRST_MERGE_TOKEN_ID) == (257, 258)


def test_ids_of_the_published_example() -> None:
    layout = TokenizerLayout(8)
    assert (layout.version, layout.merge_count, layout.vocabulary_size) == (1, 8, 266)
    assert (layout.byte_token_id(0), layout.byte_token_id(0x3F), layout.byte_token_id(255)) == (2, 65, 257)
    assert (layout.merge_token_id(0), layout.merge_token_id(1), layout.merge_token_id(7)) == (258, 259, 265)


def test_layout_ends_with_32_bits() -> None:
    largest = TokenizerLayout(2**32 - 258)
    assert largest.merge_token_id(2**32 - 259) == 2**32 - 1
    with pytest.raises(LayoutOverflowError) as caught:
        TokenizerLayout(2**32 - 257)
    assert (caught.value.merge_count, caught.value.highest_id) == (2**32 - 257, 2**32)


@pytest.mark.parametrize("merge_count", [-1, True, 1.0, "8", None, [8]])
def test_merge_counts_that_are_none(merge_count: object) -> None:
    with pytest.raises(InvalidArgumentError):
        TokenizerLayout(merge_count)  # type: ignore[arg-type]


@pytest.mark.parametrize("byte", [-1, 256, 1.0, "a", b"a", True, None])
def test_bytes_out_of_range(byte: object) -> None:
    with pytest.raises(InvalidArgumentError):
        TokenizerLayout(8).byte_token_id(byte)  # type: ignore[arg-type]


def test_ranks_that_it_has_not() -> None:
    with pytest.raises(UnknownRankError) as caught:
        TokenizerLayout(8).merge_token_id(8)
    assert (caught.value.rank, caught.value.merge_count) == (8, 8)
    with pytest.raises(UnknownRankError):
        TokenizerLayout(0).merge_token_id(0)
    with pytest.raises(InvalidArgumentError):
        TokenizerLayout(8).merge_token_id(-1)


class SmallInt:
    """An int of eight bits, as numpy has them: sums beyond 255 begin again at 0."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value

    def __radd__(self, other):
        return (other + self.value) % 256


def test_ids_of_small_ints_do_not_wrap_around():
    layout = TokenizerLayout(256)
    assert layout.byte_token_id(SmallInt(254)) == 256
    assert layout.merge_token_id(SmallInt(255)) == 513
