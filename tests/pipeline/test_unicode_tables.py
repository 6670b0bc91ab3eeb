"""The code points of Unicode 11, through every table that the pipeline looks into, against the oracle.

Python's tables, those of `regex` and those of `tokenizers` are of different versions of Unicode. The differences
that are left are named, code point by code point, in tests/vectors/unicode-differences.json: combining marks,
format characters and punctuation that came after Unicode 8, which `tokenizers` does not know as such.
"""

# ruff: noqa: E501 - tables of cases

import json
from pathlib import Path

import pytest
from strategies import oracle, ours

VECTORS = Path(__file__).parents[1] / "vectors"
RANGES = json.loads((VECTORS / "unicode-11.json").read_text(encoding="utf-8"))["assigned"]
DIFFERENCES = json.loads((VECTORS / "unicode-differences.json").read_text(encoding="utf-8"))
CHARACTERS = [  # of the long ranges, ideographs and Hangul, both ends and every 29th
    chr(code_point)
    for first, last in RANGES
    for code_point in range(first, last + 1)
    if last - first < 4000 or code_point % 29 == 0 or min(code_point - first, last - code_point) < 300
]

BERT = {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": False, "lowercase": False}
NORMALIZERS = {
    **{name: {"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")},
    "BertNormalizer.clean_text": {**BERT, "strip_accents": False, "clean_text": True},
    "BertNormalizer.handle_chinese_chars": {**BERT, "strip_accents": False, "handle_chinese_chars": True},
    "BertNormalizer.strip_accents": {**BERT, "strip_accents": True},
    "BertNormalizer.lowercase": {**BERT, "strip_accents": False, "lowercase": True},
}
BETWEEN = "q|zq"  # what no character becomes
PATTERNS = [
    r"\s", r"\S", r"\d", r"\w", r"\W", r"[\w]", r"[^\w]", r"\h", r".", r"\R",
    r"\p{L}", r"\p{N}", r"\p{P}", r"\p{S}", r"\p{M}", r"\p{Lu}", r"\p{Lm}", r"\p{Lo}", r"\p{Ll}", r"\p{Han}",
    r"[^\s\p{L}\p{N}]", r"[[:alpha:]]", r"[[:punct:]]", r"[[:^alnum:]]", r"[[:digit:]]", r"[[:word:]]",
    r"\p{Word}", r"[\P{Word}]", r"\p{^XDigit}", r"(?i:[a-z])", r"(?i:s)", r"(?i:k)",
]  # fmt: skip


def named(name: str) -> list[str]:
    return [chr(code) for first, last in DIFFERENCES.get(name, []) for code in range(first, last + 1)]


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalizers_differ_only_where_named(name):
    normalize, expected = ours("normalizer", NORMALIZERS[name]), oracle("normalizer", NORMALIZERS[name])
    parts = [f"a{c}b" for c in CHARACTERS]
    text = BETWEEN.join(parts)
    here, there = normalize(text).split(BETWEEN), expected.normalize_str(text).split(BETWEEN)
    pairs = zip(parts, here, there, strict=True)
    assert [part[1] for part, here, there in pairs if here != there] == named(name)


def test_strip_takes_the_white_space_that_the_oracle_takes():
    spec = {"type": "Strip", "strip_left": True, "strip_right": True}
    normalize, expected = ours("normalizer", spec), oracle("normalizer", spec)
    assert [c for c in CHARACTERS if normalize(c) != expected.normalize_str(c)] == []


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_match_the_characters_that_the_oracle_matches(pattern):
    spec = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True}
    text = "".join(CHARACTERS)
    found = {c for piece, _ in ours("pre_tokenizer", spec).split(text) for c in piece}
    expected = {c for piece, _ in oracle("pre_tokenizer", spec).pre_tokenize_str(text) for c in piece}
    assert sorted(found ^ expected) == named(pattern)


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "Whitespace"},
        {"type": "WhitespaceSplit"},
        {"type": "BertPreTokenizer"},
        {"type": "Digits", "individual_digits": True},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    ],
    ids=lambda spec: spec["type"],
)
def test_pre_tokenizers_differ_only_where_named(spec):
    text = "\n".join(f"a{c}b 1{c}1" for c in CHARACTERS)  # 8 characters for each
    here, there = (
        ours("pre_tokenizer", spec).split(text),
        oracle("pre_tokenizer", spec).pre_tokenize_str(text),
    )
    different = {CHARACTERS[start // 8] for _, (start, _) in set(here) ^ set(there)}
    assert sorted(different) == named(spec["type"])
