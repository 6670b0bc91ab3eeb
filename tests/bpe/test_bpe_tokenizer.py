"""The byte BPE tokenizer: published values, round trips, and an error of its own for each fault."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_tables import COURSE_PAIRS, contents, ordered_pairs

from tokenlab import BpeTokenizer, BpeTrainer, TokenizerLayout, TokenLabError, errors, trace_report
from tokenlab.bpe.merging import merge_rank_by_rank

COURSE = BpeTokenizer.from_merge_pairs(COURSE_PAIRS)
VECTOR = Path(__file__).parents[1] / "vectors" / "apply-bpe-tokenizer-v1.txt"


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (" а", [258, 178]),
        ("bee ", [100, 103, 265]),
        ("🦀", [242, 161, 168, 130]),
        ("т", [260]),
        ("e а", [103, 258, 178]),
        ("а а", [259, 258, 178]),
        ("e e а", [265, 103, 258, 178]),
        ("", []),
        ("<BOS>", [62, 68, 81, 85, 64]),
    ],
)
def test_published_and_hand_derived_ids(text: str, ids: list[int]) -> None:
    assert COURSE.encode_utf8(text) == ids
    assert COURSE.encode_utf8_document(text) == COURSE.encode_document(text.encode()) == [0, *ids, 1]
    assert COURSE.decode_content_utf8(ids) == COURSE.decode_document_utf8([0, *ids, 1]) == text


def test_two_ways_to_write_the_same_bytes() -> None:
    assert COURSE.decode_content([34, 259]) == COURSE.decode_content([258, 178]) == b" \xd0\xb0"
    assert not COURSE.is_canonical([34, 259])
    assert COURSE.is_canonical([258, 178])
    assert COURSE.is_canonical([])


def test_bytes_that_are_no_text() -> None:
    ids = COURSE.encode_content(b"\xff\xfe")
    assert ids == [257, 256]
    assert COURSE.decode_content(ids) == b"\xff\xfe"
    with pytest.raises(errors.InvalidUtf8Error) as caught:
        COURSE.decode_content_utf8(ids)
    assert caught.value.position == 0
    with pytest.raises(errors.InvalidUtf8Error) as caught:
        COURSE.decode_document_utf8([0, 103, 265, 257, 1])
    assert caught.value.position == 3  # bytes, not IDs: 65, 65 20, ff


@given(contents, ordered_pairs())
def test_round_trip_of_any_bytes_and_canonical_encodings(
    content: bytes, pairs: list[tuple[int, int]]
) -> None:
    tokenizer = BpeTokenizer.from_merge_pairs(pairs)
    ids = tokenizer.encode_content(content)
    assert tokenizer.decode_content(ids) == content
    assert tokenizer.is_canonical(ids)
    assert tokenizer.decode_document(tokenizer.encode_document(content)) == content
    in_training_ids = {pair: (rank, 256 + rank) for rank, pair in enumerate(pairs)}
    assert [token_id - 2 for token_id in ids] == merge_rank_by_rank(content, in_training_ids)


@given(st.text())
def test_round_trip_of_any_text(text: str) -> None:
    assert COURSE.decode_document_utf8(COURSE.encode_utf8_document(text)) == text


@given(contents | st.binary(min_size=200, max_size=400), ordered_pairs())
def test_a_trace_leads_from_bytes_to_the_encoding(content: bytes, pairs: list[tuple[int, int]]) -> None:
    tokenizer = BpeTokenizer.from_merge_pairs(pairs)
    trace = tokenizer.encode_content_with_trace(content)
    assert trace.initial_tokens == tuple(byte + 2 for byte in content)
    assert list(trace.content_tokens) == tokenizer.encode_content(content)
    states = [trace.initial_tokens, *(step.after for step in trace.applications)]
    assert states[-1] == trace.content_tokens
    ranks = [step.rank for step in trace.applications]
    assert ranks == sorted(set(ranks))
    for before, step in zip(states, trace.applications, strict=False):
        rule = tokenizer.merge_rules[step.rank]
        assert step.before == before
        assert len(step.before) - len(step.after) == step.replacements > 0
        assert tokenizer.decode_content(step.after) == content
        assert (
            step.after.count(rule.content_token_id) - before.count(rule.content_token_id) == step.replacements
        )


def test_trace_of_a_rule_that_fires_twice() -> None:
    trace = BpeTokenizer.from_merge_pairs([(97, 97), (256, 256)]).encode_content_with_trace(b"aaaaa")
    assert [(step.rank, step.replacements, step.after) for step in trace.applications] == [
        (0, 2, (258, 258, 99)),
        (1, 1, (259, 99)),
    ]


def all_encodings(tokenizer: BpeTokenizer, content: bytes) -> int:
    ids = range(2, tokenizer.layout.vocabulary_size)
    lengths = range(len(content) + 1)
    return sum(
        tokenizer.decode_content(sequence) == content
        for length in lengths
        for sequence in product([i for i in ids if tokenizer.token_bytes(i) in content], repeat=length)
    )


def test_encodings_of_a_space_and_a_letter() -> None:
    assert COURSE.count_encodings(b" \xd0\xb0") == 3  # 20 d0 b0, 20d0 b0, 20 d0b0
    assert COURSE.count_encodings(b"") == 1


@given(st.text(alphabet="ab", max_size=4).map(str.encode), ordered_pairs(b"ab"))
def test_encodings_are_counted_as_by_trying_all(content: bytes, pairs: list[tuple[int, int]]) -> None:
    tokenizer = BpeTokenizer.from_merge_pairs(pairs[:3])
    assert tokenizer.count_encodings(content) == all_encodings(tokenizer, content)


def test_encodings_of_a_long_run_are_fibonacci_numbers() -> None:
    tokenizer = BpeTokenizer.from_merge_pairs([(97, 97)])
    before, now = 1, 1
    for _ in range(4999):
        before, now = now, before + now
    assert tokenizer.count_encodings(b"a" * 5000) == now


def test_a_tokenizer_from_a_training_equals_one_from_its_pairs() -> None:
    result = BpeTrainer(6).train(["абаб abab", "ab"])
    trained = BpeTokenizer.from_training(result)
    assert trained == BpeTokenizer.from_merge_pairs([rule.pair for rule in result.merges])
    assert [rule.count for rule in trained.merge_rules] == [rule.count for rule in result.merges]
    assert pickle.loads(pickle.dumps(trained)).encode_utf8("абаб") == trained.encode_utf8("абаб")
    assert hash(trained) == hash(BpeTokenizer.from_training(result))


def test_ids_may_come_from_numpy_or_a_generator() -> None:
    assert COURSE.decode_content(numpy.array([258, 178])) == b" \xd0\xb0"
    assert COURSE.decode_document(token_id for token_id in (0, 258, 178, 1)) == b" \xd0\xb0"
    assert COURSE.token_bytes(numpy.uint8(100)) == b"b"


class ManyPairs(Sequence[tuple[int, int]]):
    """A table too large for 32 bits, of which no row is ever made."""

    def __len__(self) -> int:
        return 2**32 - 257

    def __getitem__(self, index: object) -> tuple[int, int]:  # type: ignore[override]
        raise AssertionError("the size has to be checked first")


def rule_error(pairs: object) -> Callable[[], object]:
    return lambda: BpeTokenizer.from_merge_pairs(pairs)  # type: ignore[arg-type]


FAULTS: list[tuple[str, Callable[[], object], type[TokenLabError], dict[str, object]]] = [
    ("too many rules", rule_error(ManyPairs()), errors.LayoutOverflowError, {"merge_count": 2**32 - 257}),
    (
        "operand is the rule itself",
        rule_error([(97, 98), (97, 257)]),
        errors.UndefinedOperandError,
        {"position": 1},
    ),
    ("operand never defined", rule_error([(2**40, 97)]), errors.UndefinedOperandError, {"token_id": 2**40}),
    (
        "negative operand",
        rule_error([(97, -1)]),
        errors.UndefinedOperandError,
        {"position": 0, "token_id": -1},
    ),
    (
        "pair twice",
        rule_error([(97, 98), (1, 2), (97, 98)]),
        errors.RepeatedPairError,
        {"position": 2, "first_rank": 0},
    ),
    ("pair of three", rule_error([(97, 98, 99)]), errors.InvalidArgumentError, {}),
    ("pair of letters", rule_error([("a", "b")]), errors.InvalidTokenIdError, {"position": 0}),
    ("pair as text", rule_error(["ab"]), errors.InvalidArgumentError, {}),
    ("pair as bytes", rule_error([b"ab"]), errors.InvalidArgumentError, {}),
    ("table as text", rule_error("ab"), errors.InvalidArgumentError, {}),
    ("table as number", rule_error(8), errors.InvalidArgumentError, {}),
    ("no training", lambda: BpeTokenizer.from_training([(97, 98)]), errors.InvalidArgumentError, {}),
    ("bool operand", rule_error([(True, 97)]), errors.InvalidTokenIdError, {"position": 0}),
    (
        "unknown ID",
        lambda: COURSE.decode_content([100, 266]),
        errors.UnknownTokenIdError,
        {"position": 1, "token_id": 266},
    ),
    (
        "negative ID",
        lambda: COURSE.decode_content([-1]),
        errors.UnknownTokenIdError,
        {"position": 0, "token_id": -1},
    ),
    ("huge ID", lambda: COURSE.decode_document([0, 2**70, 1]), errors.UnknownTokenIdError, {"position": 1}),
    (
        "EOS in content",
        lambda: COURSE.decode_content([100, 1]),
        errors.ControlTokenInContentError,
        {"position": 1, "token_id": 1},
    ),
    (
        "control before unknown",
        lambda: COURSE.decode_content([999, 0]),
        errors.ControlTokenInContentError,
        {"position": 1},
    ),
    (
        "empty document",
        lambda: COURSE.decode_document([]),
        errors.DocumentTooShortError,
        {"length": 0, "position": 0},
    ),
    (
        "only BOS",
        lambda: COURSE.decode_document([0]),
        errors.DocumentTooShortError,
        {"length": 1, "position": 1},
    ),
    (
        "no BOS",
        lambda: COURSE.decode_document([100, 0, 1]),
        errors.ExpectedBosError,
        {"position": 0, "token_id": 100},
    ),
    (
        "no EOS",
        lambda: COURSE.decode_document([0, 1, 100]),
        errors.ExpectedEosError,
        {"position": 2, "token_id": 100},
    ),
    (
        "BOS inside",
        lambda: COURSE.decode_document([0, 100, 0, 1]),
        errors.InteriorControlTokenError,
        {"position": 2, "token_id": 0},
    ),
    (
        "EOS inside",
        lambda: COURSE.decode_document([0, 1, 1]),
        errors.InteriorControlTokenError,
        {"position": 1, "token_id": 1},
    ),
    (
        "unknown in document",
        lambda: COURSE.decode_document([0, 100, 266, 1]),
        errors.UnknownTokenIdError,
        {"position": 2},
    ),
    (
        "controls only as bytes",
        lambda: COURSE.token_bytes(0),
        errors.ControlTokenInContentError,
        {"token_id": 0},
    ),
    (
        "surrogate",
        lambda: COURSE.encode_utf8("aб\udfff"),
        errors.LoneSurrogateError,
        {"position": 2, "code_point": 0xDFFF},
    ),
    (
        "surrogate in document",
        lambda: COURSE.encode_utf8_document("\ud83e\udd80"),
        errors.LoneSurrogateError,
        {"position": 0},
    ),
    ("text as bytes", lambda: COURSE.encode_content("a"), errors.InvalidArgumentError, {"name": "content"}),
    ("list as bytes", lambda: COURSE.encode_content([97]), errors.InvalidArgumentError, {}),
    ("bytes as text", lambda: COURSE.encode_utf8(b"a"), errors.InvalidArgumentError, {"name": "text"}),
    ("None as text", lambda: COURSE.encode_utf8(None), errors.InvalidArgumentError, {}),
    ("count of text", lambda: COURSE.count_encodings("a"), errors.InvalidArgumentError, {}),
    ("name of two lines", lambda: trace_report(COURSE, {"a\nb": b""}), errors.InvalidArgumentError, {}),
    ("name of nothing", lambda: trace_report(COURSE, {"": b""}), errors.InvalidArgumentError, {}),
    ("case of text", lambda: trace_report(COURSE, {"a": "text"}), errors.InvalidArgumentError, {}),
]


@pytest.mark.parametrize(
    ("call", "error", "facts"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS]
)
def test_each_fault_has_its_error(
    call: Callable[[], object], error: type[TokenLabError], facts: dict[str, object]
) -> None:
    with pytest.raises(TokenLabError) as caught:
        call()
    assert type(caught.value) is error
    assert {name: getattr(caught.value, name) for name in facts} == facts
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("found", [True, 100.0, "d", None, b"d", [100], numpy.bool_(True), numpy.float64(3)])
@pytest.mark.parametrize("call", [COURSE.decode_content, COURSE.decode_document, COURSE.is_canonical])
def test_what_is_no_id_is_named_with_its_position(call: Callable[[object], object], found: object) -> None:
    with pytest.raises(errors.InvalidTokenIdError) as caught:
        call([0, found, 1])
    assert caught.value.position == 1


@pytest.mark.parametrize("ids", ["258", b"ab", 258, None, {258: 1}, {258}])
def test_what_is_no_sequence_of_ids_is_refused(ids: object) -> None:
    with pytest.raises(errors.InvalidArgumentError):
        COURSE.decode_content(ids)  # type: ignore[arg-type]


def test_rules_that_double_are_refused_before_they_fill_the_memory() -> None:
    def doubling() -> Iterator[tuple[int, int]]:
        yield 97, 97
        for rank in range(60):
            yield 256 + rank, 256 + rank

    with pytest.raises(errors.TokenBytesLimitError) as caught:
        BpeTokenizer.from_merge_pairs(doubling())
    assert caught.value.position == 27


def test_trace_report_equals_the_published_block() -> None:
    report = trace_report(COURSE, {"ascii-bee": b"bee ", "cyrillic-a": " а".encode()})
    assert report.encode() == VECTOR.read_bytes()


def test_trace_report_without_rules_content_or_cases() -> None:
    bare = BpeTokenizer.from_merge_pairs([])
    assert trace_report(bare, {"empty": b""}).splitlines()[1:-1] == [
        "LAYOUT version=1 bos=0 eos=1 content_offset=2 byte_count=256 merge_count=0 vocabulary_size=258",
        "CASE id=empty input_hex=",
        "INITIAL case=empty tokens=",
        "APPLIED case=empty ranks=",
        "CONTENT case=empty tokens=",
        "DOCUMENT case=empty tokens=0,1",
        "DECODED case=empty bytes_hex=",
    ]
    assert len(trace_report(bare, {}).splitlines()) == 3


HUGE = 10**5000  # Python refuses to write out so many digits


def test_errors_about_huge_numbers_still_say_where():
    tokenizer = BpeTokenizer.from_merge_pairs([])
    with pytest.raises(errors.UnknownTokenIdError) as found:
        tokenizer.decode_content([2, HUGE])
    assert (found.value.position, found.value.token_id) == (1, HUGE)
    with pytest.raises(errors.LayoutOverflowError):
        TokenizerLayout(HUGE)
    with pytest.raises(errors.InvalidArgumentError):
        tokenizer.encode_content(HUGE)
    with pytest.raises(errors.InvalidArgumentError):
        BpeTokenizer.from_merge_pairs([(97, 98), (HUGE,)])


def test_what_only_seems_iterable_is_refused():
    class NoDimensions:
        def __iter__(self):
            raise TypeError("iteration over a 0-d array")

        def __len__(self):
            raise TypeError("len() of unsized object")

    for function in (BpeTokenizer.from_merge_pairs, BpeTokenizer.from_merge_pairs([]).decode_content):
        with pytest.raises(errors.InvalidArgumentError):
            function(NoDimensions())


def test_a_report_needs_a_tokenizer_and_a_mapping():
    with pytest.raises(errors.InvalidArgumentError, match="tokenizer"):
        trace_report(None, {})
    with pytest.raises(errors.InvalidArgumentError, match="cases"):
        trace_report(BpeTokenizer.from_merge_pairs([]), [("name", b"content")])
