"""Added tokens: two passes, leftmost and longest, and what they take with them."""

from time import process_time

import pytest
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import NORMALIZER, TEXT, document, ours

from tokenlab import Tokenizer
from tokenlab.pipeline.added_tokens import (
    AddedToken,
    AddedTokenFinder,
    control_tokens,
    normalized_finder,
    raw_finder,
)

BPE = {"type": "BPE", "vocab": {"[UNK]": 0}, "merges": [], "unk_token": "[UNK]"}
CONTENTS = [
    "<s>",
    "</s>",
    " <s>",
    "a",
    "ab",
    "é",
    "THE",
    "the",
    " ",
    "  ",
    "▁",
    "it",
    "日",
    "e\u0301",
    "1",
    "\n",
    "'",
]
ADDED = st.lists(
    st.fixed_dictionaries(
        {
            "content": st.sampled_from(CONTENTS),
            **{flag: st.booleans() for flag in ("single_word", "lstrip", "rstrip", "normalized", "special")},
        }
    ),
    max_size=4,
    unique_by=lambda token: token["content"],
).map(lambda tokens: [{"id": number, **token} for number, token in enumerate(tokens, 1)])


def comparable(normalizer, added):
    """Whether the oracle's answer is defined: no two contents alike after normalising, and none empty."""
    contents = [normalizer(t["content"]) if normalizer else t["content"] for t in added if t["normalized"]]
    return "" not in contents and len(set(contents)) == len(contents)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.none(), NORMALIZER), ADDED, TEXT, st.booleans())
def test_added_tokens_are_found_as_the_oracle_finds_them(normalizer, added, text, parse):
    if normalizer and not comparable(ours("normalizer", normalizer), added):
        return
    data = document(normalizer=normalizer, added_tokens=added, model=BPE)
    oracle = tokenizers.Tokenizer.from_str(data.decode())
    oracle.encode_special_tokens = not parse
    try:
        expected = oracle.encode(text)
    except BaseException as error:  # it panics on a Replace between characters
        assert "panic" in repr(type(error)).lower()
        return
    found = Tokenizer.from_bytes(data).encode(text, parse_special_tokens=parse)
    assert list(found.ids) == expected.ids
    assert list(found.word_ids) == expected.word_ids
    if "NFC" not in str(normalizer) and "NFKC" not in str(normalizer):
        assert list(found.offsets) == expected.offsets
        assert [t for i, t in zip(found.ids, found.tokens, strict=True) if i] == [
            t for i, t in zip(expected.ids, expected.tokens, strict=True) if i
        ]


def spans(tokens, text, **options):
    contents = {token.content: token for token in tokens}
    return [(start, end, token.id) for start, end, token in AddedTokenFinder(contents).find(text, **options)]


@pytest.mark.parametrize(
    "tokens, text, expected",
    [
        ([AddedToken(1, "<a>"), AddedToken(2, "<a>b")], "x<a>b<a>", [(1, 5, 2), (5, 8, 1)]),  # longest
        ([AddedToken(1, "ab"), AddedToken(2, "bcd")], "abcd", [(0, 2, 1)]),  # leftmost before longest
        ([AddedToken(1, "ab", single_word=True)], "ab xab ab_ (ab) éab", [(0, 2, 1), (12, 14, 1)]),
        ([AddedToken(1, "<m>", lstrip=True)], "a  <m> b", [(1, 6, 1)]),
        ([AddedToken(1, "<m>", rstrip=True)], "a <m>\n\u3000b", [(2, 7, 1)]),
        ([AddedToken(1, "<m>", lstrip=True, rstrip=True)], "<m>  <m> b", [(0, 5, 1), (5, 9, 1)]),  # once only
        ([AddedToken(1, "")], "abc", []),
        ([], "abc", []),
    ],
)
def test_matches(tokens, text, expected):
    assert spans(tokens, text) == expected


def test_content_that_normalises_to_nothing_is_nowhere():
    finder = normalized_finder([AddedToken(1, "  "), AddedToken(2, " a")], str.strip)
    assert [(start, end, token.id) for start, end, token in finder.find("b a  ")] == [(2, 3, 2)]


def test_text_cannot_forge_a_special_token_when_told_so():
    tokens = [AddedToken(1, "<s>", special=True), AddedToken(2, "<tool>")]
    assert spans(tokens, "<s><tool>", parse_special=False) == [(3, 9, 2)]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=5, unique=True),
    st.text("abc", max_size=12),
)
@example(["ab", "abab", "b"], "ababab")
def test_the_search_is_leftmost_then_longest(contents, text):
    expected, position = [], 0
    while position < len(text):
        longest = max((c for c in contents if text.startswith(c, position)), key=len, default="")
        if longest:
            expected.append((position, position + len(longest), contents.index(longest)))
        position += len(longest) or 1
    assert spans([AddedToken(i, content) for i, content in enumerate(contents)], text) == expected


@pytest.mark.parametrize("first", "]^-\\[&~|.")
def test_any_character_may_begin_a_token(first):
    assert spans([AddedToken(1, first + "x")], f"a{first}x") == [(1, 3, 1)]


def test_a_forced_match_takes_its_white_space_but_text_beside_it_forges_nothing():
    end = AddedToken(1, "<e>", rstrip=True, special=True)
    found = list(AddedTokenFinder({"<e>": end}).find("<e><e>\n<e>", False, [(3, 6, end)]))
    assert found == [(3, 7, end)]


def test_white_space_that_takes_the_white_space_after_it_takes_little_time():
    finder = AddedTokenFinder({" ": AddedToken(1, " ", rstrip=True), "\t": AddedToken(2, "\t")})
    assert [match[:2] for match in finder.find("a   b")] == [(1, 4), (2, 4), (3, 4)]
    started = process_time()
    assert [match[:2] for match in finder.find(" " * 20_000)] == [(i, 20_000) for i in range(20_000)]
    assert len(list(finder.find(" \t" * 10_000))) == 20_000
    assert process_time() - started < 3


def test_long_control_tokens_are_compared_in_little_time():
    tokens = control_tokens({"a": 1, "ab": 2, "b" * 400_000: 3})
    started = process_time()
    finder = raw_finder(tokens, [1, 2, 3])
    assert process_time() - started < 3
    assert [match[2].id for match in finder.find("ab" + "b" * 400_000)] == [1, 3]
