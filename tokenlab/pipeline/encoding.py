"""What encoding gives: parallel columns, one entry per token, and how they are cut, joined and padded.

Taught in chapter 6; follows the published walk through the four-stage pipeline (its section on
post-processing): first truncation, which leaves room for the special tokens, then the template, then padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import accumulate
from math import prod
from typing import Any

from tokenlab.checks import check_choice, check_count
from tokenlab.errors import PaddingLimitError, TruncationError

Span = tuple[int, int]
DIRECTIONS = ("Right", "Left")
MOST_PADDED = MOST_CUT_OFF = 1 << 22
MOST_COMBINED = 1 << 18


@dataclass(frozen=True, slots=True)
class Encoding:
    """The tokens of one text, or of a pair of texts, as parallel columns of equal length n.

    Args:
        ids: token IDs.
        tokens: their strings.
        offsets: (start, end) in code points of the original text (of the word, for pre-tokenised input).
        type_ids: which part of a pair a model shall take the token for.
        attention_mask: 0 for padding, 1 elsewhere.
        special_tokens_mask: 1 for what a post-processor or padding put in, 0 elsewhere.
        word_ids: the pre-token each token came from, counted from 0 in each part; None for what was put in.
        sequence_ids: the part (0 or 1) each token came from; None for what was put in.
        overflowing: what truncation cut off, as further encodings.
        texts: the original text of each part, as (part, text or words).

    >>> encoding = Encoding.from_tokens([5, 7], ["é", "a"], [(0, 1), (1, 2)], [0, 0], "éa")
    >>> encoding.byte_offsets
    ((0, 2), (2, 3))
    """

    ids: tuple[int, ...] = ()
    tokens: tuple[str, ...] = ()
    offsets: tuple[Span, ...] = ()
    type_ids: tuple[int, ...] = ()
    attention_mask: tuple[int, ...] = ()
    special_tokens_mask: tuple[int, ...] = ()
    word_ids: tuple[int | None, ...] = ()
    sequence_ids: tuple[int | None, ...] = ()
    overflowing: tuple[Encoding, ...] = ()
    texts: tuple[tuple[int, str | tuple[str, ...]], ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def from_tokens(
        cls,
        ids: Sequence[int],
        tokens: Sequence[str],
        offsets: Sequence[Span],
        word_ids: Sequence[int | None],
        text: str | Sequence[str] = "",
        sequence_id: int = 0,
    ) -> Encoding:
        """Return the encoding of one part, before any post-processing.

        Args:
            ids, tokens, offsets, word_ids: columns of equal length n.
            text: the original text, or its words when they were given apart.
            sequence_id: 0 for the first text, 1 for its pair.
        """
        count = len(ids)
        source = text if isinstance(text, str) else tuple(text)
        return cls(
            ids=tuple(ids),
            tokens=tuple(tokens),
            offsets=tuple(offsets),
            type_ids=(sequence_id,) * count,
            attention_mask=(1,) * count,
            special_tokens_mask=(0,) * count,
            word_ids=tuple(word_ids),
            sequence_ids=(sequence_id,) * count,
            texts=((sequence_id, source),),
        )

    @classmethod
    def inserted(
        cls, ids: Sequence[int], tokens: Sequence[str], type_id: int = 0, *, attention: int = 1
    ) -> Encoding:
        """Return tokens that stand for no text: special tokens of a template, or padding (attention 0)."""
        count = len(ids)
        return cls(
            ids=tuple(ids),
            tokens=tuple(tokens),
            offsets=((0, 0),) * count,
            type_ids=(type_id,) * count,
            attention_mask=(attention,) * count,
            special_tokens_mask=(1,) * count,
            word_ids=(None,) * count,
            sequence_ids=(None,) * count,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def byte_offsets(self) -> tuple[Span, ...]:
        """(start, end) of each token in UTF-8 bytes of the original text; (0, 0) for what was put in."""
        sources = dict(self.texts)
        starts: dict[str, list[int]] = {}

        def in_bytes(sequence_id: int | None, word_id: int | None, span: Span) -> Span:
            if sequence_id is None:
                return 0, 0
            source = sources[sequence_id]
            text = source if isinstance(source, str) else source[word_id or 0]
            if text not in starts:
                starts[text] = list(accumulate((len(c.encode()) for c in text), initial=0))
            return starts[text][span[0]], starts[text][span[1]]

        return tuple(map(in_bytes, self.sequence_ids, self.word_ids, self.offsets))


_COLUMNS = [each.name for each in fields(Encoding) if each.name not in ("overflowing", "texts")]


def _join(encodings: Sequence[Encoding]) -> Encoding:
    if len(encodings) == 1:
        return encodings[0]
    columns: dict[str, Any] = {
        name: tuple(value for encoding in encodings for value in getattr(encoding, name)) for name in _COLUMNS
    }
    return Encoding(**columns, texts=tuple(dict(text for e in encodings for text in e.texts).items()))


def merge(encodings: Iterable[Encoding]) -> Encoding:
    """Join encodings end to end, and each combination of their overflowing parts likewise.

    Args:
        encodings: in reading order.

    Returns:
        Their columns one after the other. Offsets keep pointing into each one's own text.

    Raises:
        TruncationError: more than 2^18 combinations, as a template that names a cut text often would make.

    >>> merge([Encoding.inserted([1], ["<s>"]), Encoding.from_tokens([9], ["a"], [(0, 1)], [0], "a")]).ids
    (1, 9)
    """
    choices = [(encoding, *encoding.overflowing) for encoding in encodings]
    if prod(map(len, choices)) > max(MOST_COMBINED, sum(map(len, choices))):
        raise TruncationError(f"more than {MOST_COMBINED} combinations of what truncation cut off")
    whole: list[Encoding] = []
    cut: list[list[Encoding]] = []
    for encoding, *rest in choices:
        if rest:
            # The order of the field: what was cut off before, with every choice of this one; then the whole,
            # with this one's cut-off parts.
            cut = [[*variant, choice] for variant in cut for choice in (encoding, *rest)]
            cut += [[*whole, choice] for choice in rest]
        else:
            for variant in cut:
                variant.append(encoding)
        whole.append(encoding)
    return replace(_join(whole), overflowing=tuple(map(_join, cut)))


@dataclass(frozen=True, slots=True)
class Truncation:
    """How long an encoding may be, and what happens to the rest.

    Args:
        direction: "Right" keeps the beginning, "Left" the end.
        max_length: in tokens, special ones included.
        strategy: "LongestFirst" shortens the longer part of a pair first; "OnlyFirst" and "OnlySecond" cut
            just that part.
        stride: how many tokens neighbouring overflowing pieces share.
    """

    direction: str = "Right"
    max_length: int = 512
    strategy: str = "LongestFirst"
    stride: int = 0

    def __post_init__(self) -> None:
        check_choice(self, "direction", DIRECTIONS)
        check_choice(self, "strategy", ("LongestFirst", "OnlyFirst", "OnlySecond"))
        for name in ("max_length", "stride"):
            check_count(name, getattr(self, name))


def truncate(encoding: Encoding, max_length: int, *, stride: int = 0, direction: str = "Right") -> Encoding:
    """Cut an encoding to at most `max_length` tokens; the rest becomes its `overflowing` pieces.

    Args:
        encoding: n tokens, without overflowing pieces yet.
        max_length: in tokens; 0 leaves nothing, with the whole as the one overflowing piece.
        stride: tokens shared by neighbouring pieces.
        direction: "Right" cuts at the end, "Left" at the beginning (pieces then run backwards).

    Raises:
        TruncationError: when `stride` is not smaller than `max_length`, so that no piece would move on; or
            when it is so near that the pieces would only fill the memory: more than 2^22 tokens in all, and
            more than 8 times those of the encoding.

    >>> letters = Encoding.from_tokens(range(5), "abcde", [(i, i + 1) for i in range(5)], [0] * 5, "abcde")
    >>> cut = truncate(letters, 3, stride=1)
    >>> cut.ids, [piece.ids for piece in cut.overflowing]
    ((0, 1, 2), [(2, 3, 4)])
    """
    length = len(encoding)
    if length <= max_length:
        return encoding
    if max_length == 0:
        return Encoding(overflowing=(encoding,), texts=encoding.texts)
    if stride >= max_length:
        detail = f"stride {stride} is not smaller than the {max_length} tokens that truncation leaves"
        raise TruncationError(detail, stride=stride, room=max_length)
    starts = range(0, length - stride, max_length - stride)
    if len(starts) * max_length > max(MOST_CUT_OFF, 8 * length):
        raise TruncationError(f"stride {stride}: {len(starts)} pieces of {max_length} tokens fill the memory")
    pieces: list[Encoding] = []
    for start in starts:
        stop = min(start + max_length, length)
        part = slice(length - stop, length - start) if direction == "Left" else slice(start, stop)
        columns = {name: getattr(encoding, name)[part] for name in _COLUMNS}
        pieces.append(Encoding(**columns, texts=encoding.texts))
    return replace(pieces[0], overflowing=tuple(pieces[1:]))


def truncate_pair(
    encoding: Encoding, pair: Encoding | None, truncation: Truncation, *, reserved: int = 0
) -> tuple[Encoding, Encoding | None]:
    """Cut one or two encodings so that they fit together.

    Args:
        encoding: the first text's tokens.
        pair: the second text's tokens, or None.
        truncation: the rule.
        reserved: how many special tokens will be put in afterwards.

    Returns:
        Both, cut; together with the reserved ones they hold at most `max_length` tokens.

    Raises:
        TruncationError: when the special tokens alone do not fit, when the one part that may be cut is too
            short or missing, or when the stride leaves no step.
    """
    room = truncation.max_length - reserved
    if room < 0:
        detail = f"max_length {truncation.max_length} has no room for the {reserved} special tokens"
        raise TruncationError(detail, room=room, reserved=reserved)
    first, second = len(encoding), len(pair) if pair is not None else 0
    excess = first + second - room
    if excess <= 0:
        return encoding, pair
    if room == 0:
        lengths = (0, 0)
    elif truncation.strategy == "LongestFirst":
        lengths = _longest_first(first, second, room)
    else:
        only_first = truncation.strategy == "OnlyFirst"
        available = first if only_first else second
        if available <= excess:
            detail = f"{excess} tokens must go, the text that may be cut has {available}"
            raise TruncationError(f"{truncation.strategy}: {detail}", room=room)
        lengths = (first - excess, second) if only_first else (first, second - excess)
    cut_to = partial(truncate, stride=truncation.stride, direction=truncation.direction)
    return cut_to(encoding, lengths[0]), None if pair is None else cut_to(pair, lengths[1])


def _longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    """Lengths that take from the longer of two until both fit, the odd token going to the longer.

    >>> _longest_first(8, 4, 7), _longest_first(4, 8, 7), _longest_first(2, 8, 7)
    ((4, 3), (3, 4), (2, 5))
    """
    shorter = min(first, second)
    longer = room - shorter
    if longer < shorter:
        shorter = room // 2
        longer = room - shorter
    return (longer, shorter) if first > second else (shorter, longer)


@dataclass(frozen=True, slots=True)
class Padding:
    """How encodings are filled up to equal length.

    Args:
        strategy: "BatchLongest", or a fixed length in tokens.
        direction: "Right" or "Left": the side that the padding goes to.
        pad_to_multiple_of: round the length up to a multiple of this; None or 0: do not.
        pad_id, pad_type_id, pad_token: what each padding token is.
    """

    strategy: str | int = "BatchLongest"
    direction: str = "Right"
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"

    def __post_init__(self) -> None:
        check_choice(self, "direction", DIRECTIONS)
        if isinstance(self.strategy, str):
            check_choice(self, "strategy", ("BatchLongest",))
        else:
            check_count("strategy", self.strategy)
        check_count("pad_to_multiple_of", self.pad_to_multiple_of or 0)


def pad_batch(encodings: Sequence[Encoding], padding: Padding) -> list[Encoding]:
    """Fill encodings, and their overflowing pieces, up to one length.

    Args:
        encodings: a batch; those already longer stay as they are.
        padding: the rule.

    Raises:
        PaddingLimitError: a length of more than 2^22 tokens, which no batch has and a file may ask for.

    >>> batch = [Encoding.inserted([1], ["a"]), Encoding.inserted([1, 1, 1], "aaa")]
    >>> [e.attention_mask for e in pad_batch(batch, Padding(direction="Left"))]
    [(0, 0, 1), (1, 1, 1)]
    """
    length = max(map(len, encodings), default=0) if isinstance(padding.strategy, str) else padding.strategy
    if padding.pad_to_multiple_of:
        length += -length % padding.pad_to_multiple_of
    if length > MOST_PADDED and length > max(map(len, encodings), default=0):
        raise PaddingLimitError(length=length, limit=MOST_PADDED)

    def pad(encoding: Encoding) -> Encoding:
        missing = max(0, length - len(encoding))
        filling = Encoding.inserted(
            (padding.pad_id,) * missing, (padding.pad_token,) * missing, padding.pad_type_id, attention=0
        )
        parts = (filling, encoding) if padding.direction == "Left" else (encoding, filling)
        return replace(_join(parts), overflowing=tuple(map(pad, encoding.overflowing)))

    return [pad(encoding) for encoding in encodings]
