"""The ID layout, version 1: BOS 0, EOS 1, bytes 2 to 257, merges from 258 on (chapters 3 and 4).

Published source: the ID scheme of the course text on applying BPE. IDs are 32-bit; training IDs (byte b is b,
merge r is 256 + r) are moved up by two, so that the two controls come first.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenlab.checks import check_count, unexpected
from tokenlab.errors import LayoutOverflowError, UnknownRankError

TOKENIZER_LAYOUT_VERSION = 1
BOS_TOKEN_ID = 0
EOS_TOKEN_ID = 1
CONTENT_ID_OFFSET = 2
BYTE_TOKEN_COUNT = 256
FIRST_BYTE_TOKEN_ID = CONTENT_ID_OFFSET
LAST_BYTE_TOKEN_ID = FIRST_BYTE_TOKEN_ID + BYTE_TOKEN_COUNT - 1
FIRST_MERGE_TOKEN_ID = LAST_BYTE_TOKEN_ID + 1
HIGHEST_TOKEN_ID = 2**32 - 1


@dataclass(frozen=True, slots=True)
class TokenizerLayout:
    """Which IDs a tokenizer of so many merges has; it holds no table.

    Args:
        merge_count: the number of merge ranks, up to 2^32 - 258.

    Raises:
        LayoutOverflowError: more merges than 32-bit IDs can number.
        InvalidArgumentError: a merge count that is no int from 0 on.

    >>> layout = TokenizerLayout(8)
    >>> layout.vocabulary_size, layout.byte_token_id(0x62), layout.merge_token_id(7)
    (266, 100, 265)
    >>> TokenizerLayout(2**32 - 258).vocabulary_size == 2**32
    True
    """

    merge_count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "merge_count", check_count("merge_count", self.merge_count))
        if self.vocabulary_size - 1 > HIGHEST_TOKEN_ID:
            raise LayoutOverflowError(
                merge_count=self.merge_count, highest_id=self.vocabulary_size - 1, limit=HIGHEST_TOKEN_ID
            )

    @property
    def version(self) -> int:
        """The version of the layout, which files can state."""
        return TOKENIZER_LAYOUT_VERSION

    @property
    def vocabulary_size(self) -> int:
        """The number of all IDs, controls included."""
        return FIRST_MERGE_TOKEN_ID + self.merge_count

    def byte_token_id(self, byte: int) -> int:
        """Return the content ID of a byte, 0 to 255.

        Raises:
            InvalidArgumentError: no int, or outside of 0 to 255.

        >>> TokenizerLayout(0).byte_token_id(0xFF)
        257
        """
        checked = check_count("byte", byte)
        if checked >= BYTE_TOKEN_COUNT:
            raise unexpected("byte", "an int from 0 to 255", byte)
        return FIRST_BYTE_TOKEN_ID + checked

    def merge_token_id(self, rank: int) -> int:
        """Return the content ID of a merge rank, counted from 0.

        Raises:
            UnknownRankError: a rank that the layout does not have.
            InvalidArgumentError: a rank that is no int from 0 on.

        >>> TokenizerLayout(1).merge_token_id(0)
        258
        """
        checked = check_count("rank", rank)
        if checked >= self.merge_count:
            raise UnknownRankError(rank=checked, merge_count=self.merge_count)
        return FIRST_MERGE_TOKEN_ID + checked
