"""Pre-tokenizers against the oracle, the dialect of their patterns, and the quick ways against the plain one."""

# ruff: noqa: E501 - tables of cases

import pickle
import re
from functools import partial

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from strategies import PATTERN, PRE_TOKENIZER, TEXT, oracle, ours

from tokenlab.errors import ComponentError, PatternError, PatternTimeoutError
from tokenlab.pipeline import pre_tokenizers
from tokenlab.pipeline.chunks import _KNOWN, is_known
from tokenlab.pipeline.dialect import branches, from_rust, rewrite_counted, translate
from tokenlab.pipeline.patterns import Pattern, find_regex, find_texts
from tokenlab.pipeline.text import WHITE_SPACE, AlignedText

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = LLAMA3.replace("{1,3}", "")
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)
O200K = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
SPACED = st.lists(
    st.one_of(
        st.sampled_from([" ", "\n", "\r\n", "\t", "/", "//", "!", "a", "B", "1", "é", "日", "\u3000", "'s", "'LL", "\x1c", "_"]),
        TEXT,
    ),
    max_size=12,
).map("".join)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(PRE_TOKENIZER, TEXT)
def test_every_pre_tokenizer_gives_the_oracles_pieces_and_offsets(spec, text):
    expected = oracle("pre_tokenizer", spec).pre_tokenize_str(text)
    assert ours("pre_tokenizer", spec).split(text) == [piece for piece in expected if piece[0]]


@settings(max_examples=200, deadline=None)
@given(PRE_TOKENIZER, SPACED)
def test_pieces_without_spans_are_the_same_pieces(spec, text):
    pre_tokenizer = ours("pre_tokenizer", spec)
    plain = [piece.text for piece in pre_tokenizer.pre_tokenize(AlignedText.of(text, origin=1))]
    assert pre_tokenizer.pieces(text) == plain
    cutter, table = pre_tokenizer.parted()
    assert [piece.translate(table) if table else piece for piece in cutter.pieces(text)] == plain


def known_pre_tokenizers():
    split = [
        pre_tokenizers.Split(Pattern(from_rust(p), regex=True), "Isolated")
        for p in (LLAMA3, QWEN, CL100K, O200K)
    ]
    rewrite = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
    deepseek = [
        r"\p{N}{1,3}",
        "[一-龥぀-ゟ゠-ヿ]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^"""
        + "\r\n"
        + r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+["
        + "\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    ]
    return [
        *split,
        *(pre_tokenizers.Sequence((each, rewrite)) for each in split),
        gpt2,
        pre_tokenizers.Sequence((pre_tokenizers.Digits(individual_digits=True), gpt2)),
        pre_tokenizers.Sequence((pre_tokenizers.Punctuation(), pre_tokenizers.Digits(), gpt2)),
        pre_tokenizers.Sequence(
            (*(pre_tokenizers.Split(Pattern(p, regex=True), "Isolated") for p in deepseek), rewrite)
        ),
        pre_tokenizers.Whitespace(),
        pre_tokenizers.BertPreTokenizer(),
        pre_tokenizers.Sequence((pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace())),
        pre_tokenizers.Metaspace(),
        pre_tokenizers.Metaspace(prepend_scheme="never"),
    ]


@given(st.sampled_from(pre_tokenizers.CUT_AT_WHITE_SPACE), SPACED)
def test_spaced_pieces_are_the_pieces_and_lose_nothing(kind, text):
    spaced = kind().spaced_pieces(text)
    assert "".join(spaced) == text
    assert [bare for piece in spaced if (bare := piece.lstrip(WHITE_SPACE))] == kind().pieces(text)


def split_by(*patterns):
    splits = tuple(pre_tokenizers.Split(Pattern(p, regex=True), "Isolated") for p in patterns)
    return splits[0] if len(splits) == 1 else pre_tokenizers.Sequence(splits)


# Patterns of known branches in any order; they are compiled in the test, for `regex` draws lots when it does.
BRANCHES = st.lists(st.sampled_from(sorted(_KNOWN)), max_size=5, unique=True)
LAST = st.sampled_from([[r"\s"], [r"\s+"], [r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"]])
ANY_ORDER = st.builds(lambda first, last: "|".join(first + last), BRANCHES, LAST)
CHUNKED = st.one_of(
    st.sampled_from([lambda each=each: each for each in known_pre_tokenizers()]),
    st.lists(ANY_ORDER, min_size=1, max_size=2).map(lambda found: partial(split_by, *found)),
    st.builds(
        lambda first, then: partial(split_by, first, then), BRANCHES.filter(bool).map("|".join), ANY_ORDER
    ),
)


@settings(max_examples=1000, deadline=None)
@given(CHUNKED, SPACED)
@example(partial(split_by, from_rust(CL100K)), "a\n ")  # \s+\z takes all of the white space at the end
@example(partial(split_by, r"\s+(?!\S)", from_rust(LLAMA3)), "!\nb")  # the line end is no piece of its own
@example(partial(split_by, "'s", from_rust(CL100K)), "a\n 's")  # where 's is cut off, \s+\z finds an end
def test_no_piece_crosses_a_chunk_and_none_looks_beyond_it(made, text):
    pre_tokenizer = made()
    chunker = pre_tokenizer.chunker()
    assume(chunker is not None)
    chunks = [chunk for block in chunker.blocks(text) for chunk in block]
    assert "".join(chunks) == text
    pieces = [
        piece.text
        for number, chunk in enumerate(chunks)
        for piece in pre_tokenizer.pre_tokenize(AlignedText.of(chunk, origin=number))
    ]
    assert pieces == [piece for piece, _ in pre_tokenizer.split(text)]


def test_the_pre_tokenizers_of_models_in_use_have_a_chunker():
    assert all(each.chunker() for each in known_pre_tokenizers())


@settings(max_examples=200, deadline=None)
@given(PRE_TOKENIZER, SPACED)
def test_every_chunker_on_offer_is_sound(spec, text):
    pre_tokenizer = ours("pre_tokenizer", spec)
    chunker = pre_tokenizer.chunker()
    if chunker is not None and not pre_tokenizer.looks_at_origin:
        chunks = [chunk for block in chunker.blocks(text) for chunk in block]
        assert [p for chunk in chunks for p in pre_tokenizer.pieces(chunk)] == pre_tokenizer.pieces(text)


@settings(max_examples=100, deadline=None)
@given(SPACED, st.integers(1, 9))
def test_blocks_of_any_size_join_to_the_text(text, size):
    for pre_tokenizer in known_pre_tokenizers()[:1] + known_pre_tokenizers()[-1:]:
        chunker = pre_tokenizer.chunker()
        whole = [chunk for block in chunker.blocks(text) for chunk in block]
        cut = [chunk for block in chunker.blocks(text, size) for chunk in block]
        assert "".join(cut) == text
        assert [p for c in cut for p in pre_tokenizer.pieces(c)] == [
            p for c in whole for p in pre_tokenizer.pieces(c)
        ]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(_KNOWN)), SPACED)
def test_known_branches_run_alike_in_re_and_regex(branch, text):
    import regex

    assert is_known(branch)
    expression = regex.compile(translate(branch), regex.VERSION1 | regex.MULTILINE)
    assert find_regex(branch, text) == [m.span() for m in expression.finditer(text)]
    ascii_text = text.encode("ascii", "ignore").decode()
    assert find_regex(branch, ascii_text) == [m.span() for m in expression.finditer(ascii_text)]


@settings(max_examples=300, deadline=None)
@given(PATTERN, st.sampled_from(pre_tokenizers.BEHAVIORS), st.booleans(), TEXT)
def test_every_way_to_split_gives_the_oracles_pieces(pattern, behavior, invert, text):
    spec = {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}
    assert ours("pre_tokenizer", spec).split(text) == oracle("pre_tokenizer", spec).pre_tokenize_str(text)


DIALECT = [
    (r"a{1,2}+", "aaaaa"), (r"^a", "a\na"), (r"a$", "a\na"), (r".", "\n\r\x85"), (r"(?m).", "\n"), (r"\R", "\r\n\n\x85"),
    (r"[[:alpha:]]+", "aé1"), (r"[a-z&&[^b]]+", "abc"), (r"[\w&&\d]+", "a1"), (r"\X", "e\u0301\r\n👨\u200d🔬"),
    (r"\h+", "abg"), (r"[\h]+", "abg"), (r"\Z", "a\n"), (r"\z", "a\n"), (r"\bb", "a b"), (r"(?x) a b ", "ab"),
    (r"[a[bc]]+", "abc["), (r"[]a]+", "]a"), (r"\p{^L}+", "a1"), (r"\P{L}+", "a1"), (r"(?<!a)b", "ab b"),
    (r"(?<=a|bc)d", "bcd"), (r"\x{41}", "A"), (r"\u0041", "A"), (r"\x41", "A"), (r"a|", "aab"), (r"|a", "aab"),
    (r"a*", "baac"), (r"(?=b)", "abb"), (r"\G", "aa"), (r"(?i:[A-Z])", "aA"), (r"a{,2}", "aaa"), (r"a{2}+", "aaaaa"),
    (r"\e", "\x1b"), (r"\Aa", "aa"), (r"[--a]+", "-."), (r"[a||b]+", "a|b"), (r"[!-~~]+", "~!"), (r"\p{Alpha}+", "aé"),
    (r"(a)(?:b)\1", "aba"), (r"(?>a+)b", "aab"), (r"a??", "aa"), (r"(?:ab){e}", "ab{e}ac"), ("a{", "a{"), ("}", "}"),
    ("[^[:alpha:]x]+", "ax1"), (r"[\w\-]+", "a-²"), (r"[^\w]+", "a-²"), (r"\W+", "a-²\u200d"), ("(a|b)+?c", "abac"),
    ("(?:(?:a|b){2}+)", "ababa"), ("a(?#x)b", "ab"), (r"\/", "/"), ("(?i:a(?-i:b))", "ABAb"), ("(?i:'s)", "he'ſ"),
    ("(?i:k)", "KkK"), ("(?i)σ", "σςΣ"), ("(?i)ß", "ßẞ"), (r"\p{N}{1,3}", "1234"), (r"\d+(?=\D|$)", "12a"),
    (r"a\b.", "a²a\u200da-aa"), (r"a\B.", "a²a\u200da-aa"), (r"[\b]", "a\b"),
]  # fmt: skip


@pytest.mark.parametrize("pattern, text", DIALECT)
def test_patterns_mean_what_oniguruma_means(pattern, text):
    spec = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    assert ours("pre_tokenizer", spec).split(text) == oracle("pre_tokenizer", spec).pre_tokenize_str(text)


@pytest.mark.parametrize(
    "pattern, text, here, there",
    [
        ("(?i:ss)", "ß", [], ["ß"]),  # several characters that fold to one
        ("(?i:fi)", "ﬁ", [], ["ﬁ"]),
        ("(?i:i)", "İ", ["İ"], []),
        (r"(?i:\p{Lu})", "aA", ["a", "A"], ["A"]),
    ],
)
def test_the_named_differences_of_the_dialect_are_all_there_is_to_say(pattern, text, here, there):
    spec = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True}
    assert [piece for piece, _ in ours("pre_tokenizer", spec).split(text)] == here
    assert [piece for piece, _ in oracle("pre_tokenizer", spec).pre_tokenize_str(text)] == there


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "[a",
        r"\pL",
        r"(?~ab)",
        r"\g<1>",
        r"(?P<a>b)",
        "*a",
        r"\k<n>",
        r"\x{110000}",
        "(?s).",
        "a" * 20_000,
        "(" * 5000,
    ],
)
def test_a_pattern_that_says_nothing_here_is_refused(pattern):
    with pytest.raises(PatternError) as caught:
        pre_tokenizers.Split(Pattern(pattern, regex=True), "Isolated")
    assert caught.value.reason


def test_a_search_without_end_is_ended():
    split = pre_tokenizers.Split(Pattern("(?:a|aa)+$", regex=True), "Isolated")
    with pytest.raises(PatternTimeoutError) as caught:
        split.split("a" * 80 + "b")
    assert caught.value.length == 81


@pytest.mark.parametrize(
    "pattern, expected",
    [
        (r"\p{N}{1,3}+", r"(?>\p{N}{1,3})"),
        (r"(?:ab){2}+c", r"(?>(?:ab){2})c"),
        (r"[^a{1}+]{2,}+", r"(?>[^a{1}+]{2,})"),
        (r"a{2}++", r"(?>a{2})+"),
        (r"\s++$|[$^]|^a", r"\s++\z|[$^]|\Aa"),
    ],
)
def test_rusts_patterns_are_put_into_onigurumas_words(pattern, expected):
    assert from_rust(pattern) == expected


def test_counted_repeats_of_oniguruma_repeat():
    assert rewrite_counted("a{1,2}+|(?:b|c){3}+", "(?:{})+") == "(?:a{1,2})+|(?:(?:b|c){3})+"


def test_branches_are_split_at_the_top_only():
    assert branches("a|(?:b|c)|[|]|d") == ["a", "(?:b|c)", "[|]", "d"]


def test_known_patterns_are_known():
    assert all(map(is_known, (LLAMA3, QWEN, O200K, from_rust(CL100K), pre_tokenizers.GPT2_PATTERN)))
    assert not is_known(r"\w+|\W+") and find_texts(r"\w+|\W+", "ab") is None


@pytest.mark.parametrize(
    "make, field",
    [
        (lambda: pre_tokenizers.Split(Pattern("a"), "isolated"), "behavior"),
        (lambda: pre_tokenizers.Punctuation("Merged"), "behavior"),
        (lambda: pre_tokenizers.Metaspace(prepend_scheme="sometimes"), "prepend_scheme"),
        (lambda: pre_tokenizers.Metaspace(replacement="__"), "replacement"),
    ],
)
def test_a_value_that_no_component_knows_is_refused_by_name(make, field):
    with pytest.raises(ComponentError, match=field):
        make()


@pytest.mark.parametrize(
    "behavior, pieces",
    [
        ("Removed", ["ab", "c"]),
        ("Isolated", ["-", "-", "ab", "-", "-", "c", "-"]),
        ("MergedWithPrevious", ["-", "-", "ab-", "-", "c-"]),
        ("MergedWithNext", ["-", "-ab", "-", "-c", "-"]),
        ("Contiguous", ["--", "ab", "--", "c", "-"]),
    ],
)
def test_what_becomes_of_a_match(behavior, pieces):
    split = pre_tokenizers.Split(Pattern("-"), behavior)
    assert [piece for piece, _ in split.split("--ab--c-")] == pieces


def test_only_the_first_fragment_gets_a_mark():
    first = pre_tokenizers.Metaspace(prepend_scheme="first")
    assert [p.text for p in first.pre_tokenize(AlignedText.of("a b"))] == ["▁a", "▁b"]
    assert [p.text for p in first.pre_tokenize(AlignedText.of("a b", origin=2))] == ["a", "▁b"]


@settings(max_examples=100, deadline=None)
@given(PRE_TOKENIZER)
def test_a_component_is_its_data(spec):
    component = ours("pre_tokenizer", spec)
    assert component == ours("pre_tokenizer", spec) and hash(component) == hash(ours("pre_tokenizer", spec))
    assert pickle.loads(pickle.dumps(component)) == component
    assert re.match(spec["type"], repr(component))
