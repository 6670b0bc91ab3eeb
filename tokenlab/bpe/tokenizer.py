"""The frozen byte BPE tokenizer: strict encoding and decoding, traces, and documents (chapters 3 and 4).

Published source: the course text on applying a BPE tokenizer. Encoding counts nothing, learns nothing,
normalises nothing and splits no words; decoding gives back every byte of what was encoded. The reverse does
not hold: several ID sequences can decode to the same bytes, and only the encoder's own is canonical.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass, field

from tokenlab import errors
from tokenlab.bpe.layout import (
    BOS_TOKEN_ID,
    BYTE_TOKEN_COUNT,
    CONTENT_ID_OFFSET,
    EOS_TOKEN_ID,
    FIRST_BYTE_TOKEN_ID,
    TokenizerLayout,
)
from tokenlab.bpe.merging import MergeTable, Pair
from tokenlab.bpe.training import BYTE_SYMBOLS, BpeTraining, MergeRule, append_symbol
from tokenlab.checks import Bytes, check_token_ids, decode_text, encode_text, iterate, set_fields, unexpected

CONTROL_TOKEN_IDS = frozenset({BOS_TOKEN_ID, EOS_TOKEN_ID})


@dataclass(frozen=True, slots=True)
class ContentMergeRule(MergeRule):
    """A rule of a tokenizer: a learned rule that also knows its IDs in layout version 1.

    `count` is None where the rule came without one, and does not make two rules differ.

    >>> rule = BpeTokenizer.from_merge_pairs([(32, 208)]).merge_rules[0]
    >>> rule.pair, rule.token_id, rule.content_pair, rule.content_token_id
    ((32, 208), 256, (34, 210), 258)
    """

    count: int | None = field(compare=False)

    @property
    def content_pair(self) -> Pair:
        """The operands as content IDs."""
        return self.pair[0] + CONTENT_ID_OFFSET, self.pair[1] + CONTENT_ID_OFFSET

    @property
    def content_token_id(self) -> int:
        """The merged token as a content ID."""
        return self.token_id + CONTENT_ID_OFFSET


@dataclass(frozen=True, slots=True)
class MergeApplication:
    """One rule that fired: its rank, how often, and the content IDs before and after."""

    rank: int
    replacements: int
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EncodingTrace:
    """An encoding step by step: one content ID per byte, each rule that fired, the content IDs at the end.

    >>> tokenizer = BpeTokenizer.from_merge_pairs([(32, 208), (208, 176)])
    >>> trace = tokenizer.encode_content_with_trace(b" \\xd0\\xb0")
    >>> trace.initial_tokens, trace.content_tokens
    ((34, 210, 178), (258, 178))
    >>> trace.applications
    (MergeApplication(rank=0, replacements=1, before=(34, 210, 178), after=(258, 178)),)
    """

    initial_tokens: tuple[int, ...]
    applications: tuple[MergeApplication, ...]
    content_tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BpeTokenizer:
    """A byte BPE tokenizer of ID layout version 1; made by `from_training` or `from_merge_pairs`.

    >>> tokenizer = BpeTokenizer.from_merge_pairs([(32, 208), (208, 176)])
    >>> tokenizer.encode_utf8(" а"), tokenizer.encode_utf8_document(" а")
    ([258, 178], [0, 258, 178, 1])
    >>> tokenizer.decode_content([34, 259]).hex(" "), tokenizer.is_canonical([34, 259])
    ('20 d0 b0', False)
    """

    merge_rules: tuple[ContentMergeRule, ...]
    layout: TokenizerLayout = field(init=False, compare=False)
    _table: MergeTable = field(init=False, repr=False, compare=False)
    _bytes_by_id: tuple[bytes, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rules = self.merge_rules
        table = MergeTable({rule.content_pair: (rule.rank, rule.content_token_id) for rule in rules})
        contents = (b"",) * FIRST_BYTE_TOKEN_ID + BYTE_SYMBOLS + tuple(rule.token_bytes for rule in rules)
        set_fields(self, layout=TokenizerLayout(len(rules)), _table=table, _bytes_by_id=contents)

    @classmethod
    def from_training(cls, training: BpeTraining) -> BpeTokenizer:
        """Freeze the rules of a training, which are consistent already.

        Raises:
            LayoutOverflowError: more rules than 32-bit IDs can number.
            InvalidArgumentError: no BpeTraining, or one over characters, which have no byte IDs.

        >>> BpeTokenizer.from_training(BpeTraining((), 0)).encode_content(b"a")
        [99]
        """
        if not isinstance(training, BpeTraining) or training.alphabet is not None:
            raise unexpected("training", "a BpeTraining over bytes", training)
        TokenizerLayout(len(training.merges))
        return cls(
            tuple(
                ContentMergeRule(rule.rank, rule.pair, rule.token_id, rule.count, rule.token_bytes)
                for rule in training.merges
            )
        )

    @classmethod
    def from_merge_pairs(cls, pairs: Iterable[Pair]) -> BpeTokenizer:
        """Make a tokenizer from a bare table of pairs, and check all that a training would have ensured.

        Args:
            pairs: (left, right) in training IDs, in rank order: byte b is b, merge r is 256 + r.

        Raises:
            LayoutOverflowError: more pairs than 32-bit IDs can number; found before anything is allocated.
            UndefinedOperandError: an operand that neither a byte nor an earlier rule defines.
            RepeatedPairError: one pair at two ranks.
            TokenBytesLimitError: tokens that would take more than 256 MiB.
            InvalidArgumentError, InvalidTokenIdError: something that is no pair of IDs.

        >>> BpeTokenizer.from_merge_pairs([(97, 98), (256, 256)]).encode_content(b"ababab")
        [259, 258]
        """
        table = iterate(pairs, "pairs", "a sequence of (left, right) training IDs")
        if isinstance(pairs, Sized):
            TokenizerLayout(len(pairs))
        symbols, size = list(BYTE_SYMBOLS), 0
        first_ranks: dict[Pair, int] = {}
        rules = []
        for rank, given in enumerate(table):
            ids = check_token_ids(given)
            if len(ids) != 2:
                raise unexpected(f"rule {rank}", "a (left, right) pair of training IDs", given)
            pair = ids[0], ids[1]
            for operand in pair:
                if not 0 <= operand < len(symbols):
                    raise errors.UndefinedOperandError(position=rank, token_id=operand, limit=len(symbols))
            if (first_rank := first_ranks.setdefault(pair, rank)) != rank:
                raise errors.RepeatedPairError(position=rank, pair=pair, first_rank=first_rank)
            size = append_symbol(symbols, pair, rank, size)
            rules.append(ContentMergeRule(rank, pair, len(symbols) - 1, None, symbols[-1]))
        return cls(tuple(rules))

    def encode_content(self, content: bytes) -> list[int]:
        """Return the canonical content IDs of any bytes, text or not.

        Args:
            content: n bytes; time is n log n.

        >>> BpeTokenizer.from_merge_pairs([]).encode_content(b"\\xff\\xfe")
        [257, 256]
        """
        return self._table.merge(_initial_tokens(content))

    def encode_utf8(self, text: str) -> list[int]:
        """Return the canonical content IDs of the UTF-8 bytes of a text.

        Raises:
            LoneSurrogateError: half of a UTF-16 pair, with its character position.

        >>> BpeTokenizer.from_merge_pairs([]).encode_utf8("🦀")
        [242, 161, 168, 130]
        """
        return self.encode_content(encode_text(text))

    def encode_content_with_trace(self, content: bytes) -> EncodingTrace:
        """Encode, and record the content IDs before and after each rule that fires.

        Args:
            content: n bytes; the trace takes n times the number of rules that fire, in time and memory.

        >>> BpeTokenizer.from_merge_pairs([(97, 97)]).encode_content_with_trace(b"aaa").content_tokens
        (258, 99)
        """
        initial = tuple(_initial_tokens(content))
        applications: list[MergeApplication] = []

        def observe(rank: int, replacements: int, after: list[int]) -> None:
            before = applications[-1].after if applications else initial
            applications.append(MergeApplication(rank, replacements, before, tuple(after)))

        content_tokens = self._table.merge(initial, observe)
        return EncodingTrace(initial, tuple(applications), tuple(content_tokens))

    def decode_content(self, ids: Iterable[int]) -> bytes:
        """Return the bytes that content IDs stand for, canonical or not.

        Raises:
            ControlTokenInContentError: BOS or EOS, with its position; looked for before anything else.
            UnknownTokenIdError: an ID outside of the vocabulary, with its position.
            InvalidTokenIdError: something that is no ID (a bool, a float, None), with its position.

        >>> BpeTokenizer.from_merge_pairs([]).decode_content([100, 100])
        b'bb'
        """
        return self._join(check_token_ids(ids), 0, errors.ControlTokenInContentError)

    def decode_content_utf8(self, ids: Iterable[int]) -> str:
        """Return the text that content IDs stand for; nothing is replaced.

        Raises:
            InvalidUtf8Error: bytes that are no text, with the position of the first bad byte.
            TokenLabError: whatever `decode_content` raises.

        >>> BpeTokenizer.from_merge_pairs([]).decode_content_utf8([210, 178])
        'а'
        """
        return decode_text(self.decode_content(ids))

    def encode_document(self, content: bytes) -> list[int]:
        """Return BOS, the content IDs, EOS; the controls come after all merging and take no part in it.

        >>> BpeTokenizer.from_merge_pairs([]).encode_document(b"")
        [0, 1]
        """
        return [BOS_TOKEN_ID, *self.encode_content(content), EOS_TOKEN_ID]

    def encode_utf8_document(self, text: str) -> list[int]:
        """Return the document of a text's UTF-8 bytes; raises as `encode_utf8`.

        >>> BpeTokenizer.from_merge_pairs([]).encode_utf8_document("e")
        [0, 103, 1]
        """
        return self.encode_document(encode_text(text))

    def decode_document(self, ids: Iterable[int]) -> bytes:
        """Return the content bytes of one document; positions in errors count from the document's start.

        Raises:
            DocumentTooShortError: fewer than two IDs.
            ExpectedBosError, ExpectedEosError: another ID at an end.
            InteriorControlTokenError: BOS or EOS between the ends.
            UnknownTokenIdError, InvalidTokenIdError: as in `decode_content`; checked after the controls.

        >>> BpeTokenizer.from_merge_pairs([]).decode_document([0, 100, 1])
        b'b'
        """
        checked = check_token_ids(ids)
        last = len(checked) - 1
        if last < 1:
            raise errors.DocumentTooShortError(length=len(checked), position=len(checked))
        if checked[0] != BOS_TOKEN_ID:
            raise errors.ExpectedBosError(position=0, token_id=checked[0], expected=BOS_TOKEN_ID)
        if checked[last] != EOS_TOKEN_ID:
            raise errors.ExpectedEosError(position=last, token_id=checked[last], expected=EOS_TOKEN_ID)
        return self._join(checked[1:last], 1, errors.InteriorControlTokenError)

    def decode_document_utf8(self, ids: Iterable[int]) -> str:
        """Return the text of one document; raises as `decode_document` and `decode_content_utf8`.

        >>> BpeTokenizer.from_merge_pairs([]).decode_document_utf8([0, 1])
        ''
        """
        return decode_text(self.decode_document(ids))

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of one content ID; raises as `decode_content`.

        >>> BpeTokenizer.from_merge_pairs([(101, 32)]).token_bytes(258)
        b'e '
        """
        return self.decode_content([token_id])

    def is_canonical(self, ids: Iterable[int]) -> bool:
        """Say whether content IDs are what their bytes encode to; raises as `decode_content`.

        >>> BpeTokenizer.from_merge_pairs([(101, 32)]).is_canonical([103, 34])
        False
        """
        checked = check_token_ids(ids)
        return self.encode_content(self.decode_content(checked)) == checked

    def count_encodings(self, content: bytes) -> int:
        """Count the sequences of content IDs that decode to the given bytes.

        Dynamic programming: the ways to reach a byte position are the sum, over the tokens that end there, of
        the ways to reach their starts.

        Args:
            content: n bytes; time grows with n times the number of different token lengths.

        >>> BpeTokenizer.from_merge_pairs([(32, 208), (208, 176)]).count_encodings(b" \\xd0\\xb0")
        3
        """
        content = _check_content(content)
        multiplicity = Counter(self._bytes_by_id[FIRST_BYTE_TOKEN_ID:])
        lengths = sorted({len(token) for token in multiplicity})
        ways = [1] + [0] * len(content)
        for end in range(1, len(content) + 1):
            for length in lengths:
                if length > end:
                    break
                ways[end] += ways[end - length] * multiplicity[content[end - length : end]]
            if end >= lengths[-1]:
                ways[end - lengths[-1]] = 0  # out of reach, and it may be a number of many digits
        return ways[-1]

    def _join(self, ids: list[int], first_position: int, control_error: type[errors.TokenLabError]) -> bytes:
        size = self.layout.vocabulary_size
        for position, token_id in enumerate(ids, first_position):
            if token_id in CONTROL_TOKEN_IDS:
                raise control_error(position=position, token_id=token_id)
        for position, token_id in enumerate(ids, first_position):
            if not 0 <= token_id < size:
                raise errors.UnknownTokenIdError(position=position, token_id=token_id, vocabulary_size=size)
        return b"".join(map(self._bytes_by_id.__getitem__, ids))


def _check_content(content: bytes) -> bytes:
    if not isinstance(content, Bytes):
        raise unexpected("content", "bytes (for a text, use encode_utf8)", content)
    return bytes(content)


def _initial_tokens(content: bytes) -> list[int]:
    return [FIRST_BYTE_TOKEN_ID + byte for byte in _check_content(content)]


def trace_report(tokenizer: BpeTokenizer, cases: Mapping[str, bytes]) -> str:
    """Return the text block `apply-bpe-tokenizer-v1`: the layout, each rule, each case there and back.

    Args:
        tokenizer: any tokenizer, with or without rules.
        cases: the bytes of each named case; a name is one line without white space at its ends.

    Raises:
        InvalidArgumentError: a name that would break the lines of the block, content that is no bytes, or
            something that is no tokenizer or no mapping.

    >>> report = trace_report(BpeTokenizer.from_merge_pairs([(101, 32)]), {"bee": b"bee "})
    >>> print(report.splitlines()[5])
    APPLIED case=bee ranks=0
    """
    if not isinstance(tokenizer, BpeTokenizer):
        raise unexpected("tokenizer", "a BpeTokenizer", tokenizer)
    if not isinstance(cases, Mapping):
        raise unexpected("cases", "a mapping from name to bytes", cases)
    layout = tokenizer.layout
    lines = [
        "TRACE apply-bpe-tokenizer-v1 BEGIN",
        f"LAYOUT version={layout.version} bos={BOS_TOKEN_ID} eos={EOS_TOKEN_ID}"
        f" content_offset={CONTENT_ID_OFFSET} byte_count={BYTE_TOKEN_COUNT}"
        f" merge_count={layout.merge_count} vocabulary_size={layout.vocabulary_size}",
    ]
    for rule in tokenizer.merge_rules:
        lines.append(
            f"RULE rank={rule.rank}"
            f" training_pair={_listed(rule.pair)} training_token={rule.token_id}"
            f" content_pair={_listed(rule.content_pair)} content_token={rule.content_token_id}"
            f" bytes_hex={_hex(rule.token_bytes)}"
        )
    for name, content in cases.items():
        if not isinstance(name, str) or name.splitlines() != [name.strip()]:
            raise unexpected("case", "a name of one line", name)
        trace = tokenizer.encode_content_with_trace(content)
        lines += [
            f"CASE id={name} input_hex={_hex(content)}",
            f"INITIAL case={name} tokens={_listed(trace.initial_tokens)}",
            f"APPLIED case={name} ranks={_listed(step.rank for step in trace.applications)}",
            f"CONTENT case={name} tokens={_listed(trace.content_tokens)}",
            f"DOCUMENT case={name} tokens={_listed(tokenizer.encode_document(content))}",
            *(
                f"PIECE case={name} index={i} token={t} bytes_hex={_hex(tokenizer.token_bytes(t))}"
                for i, t in enumerate(trace.content_tokens)
            ),
            f"DECODED case={name} bytes_hex={_hex(tokenizer.decode_content(trace.content_tokens))}",
        ]
    lines.append("TRACE apply-bpe-tokenizer-v1 END")
    return "\n".join(lines) + "\n"


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _hex(data: bytes) -> str:
    return bytes(data).hex(",")
