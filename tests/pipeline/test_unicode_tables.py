"""Every code point of Unicode 11, through every table that the pipeline looks into, against the oracle.

Python's tables, those of `regex` and those of `tokenizers` are of different versions of Unicode. The differences
that are left are named, code point by code point, in tests/vectors/unicode-differences.json: combining marks,
format characters and punctuation that came after Unicode 8, which `tokenizers` does not know as such.
"""

import json
from pathlib import Path

import pytest
from strategies import oracle, ours

VECTORS = Path(__file__).parents[1] / "vectors"
RANGES = json.loads((VECTORS / "unicode-11.json").read_text(encoding="utf-8"))["assigned"]
DIFFERENCES = json.loads((VECTORS / "unicode-differences.json").read_text(encoding="utf-8"))
CHARACTERS = [chr(code_point) for first, last in RANGES for code_point in range(first, last + 1)]

BERT = {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": False, "lowercase": False}
NORMALIZERS = {
    **{name: {"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")},
    "Strip": {"type": "Strip", "strip_left": True, "strip_right": True},
    "BertNormalizer.clean_text": {**BERT, "strip_accents": False, "clean_text": True},
    "BertNormalizer.handle_chinese_chars": {**BERT, "strip_accents": False, "handle_chinese_chars": True},
    "BertNormalizer.strip_accents": {**BERT, "strip_accents": True},
    "BertNormalizer.lowercase": {**BERT, "strip_accents": False, "lowercase": True},
}
PATTERNS = [
    r"\s", r"\S", r"\d", r"\w", r"\W", r"[\w]", r"[^\w]", r"\h", r".", r"\R",
    r"\p{L}", r"\p{N}", r"\p{P}", r"\p{S}", r"\p{M}", r"\p{Lu}", r"\p{Lm}", r"\p{Lo}", r"\p{Ll}", r"\p{Han}",
    r"[^\s\p{L}\p{N}]", r"[[:alpha:]]", r"[[:punct:]]", r"(?i:[a-z])", r"(?i:s)", r"(?i:k)",
]  # fmt: skip


def named(name: str) -> list[str]:
    return [chr(code) for first, last in DIFFERENCES.get(name, []) for code in range(first, last + 1)]


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalizers_differ_only_where_named(name):
    normalize, expected = ours("normalizer", NORMALIZERS[name]), oracle("normalizer", NORMALIZERS[name])
    different = [c for c in CHARACTERS if normalize(f"a{c}b") != expected.normalize_str(f"a{c}b")]
    assert different == named(name)


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
    split, expected = ours("pre_tokenizer", spec).split, oracle("pre_tokenizer", spec).pre_tokenize_str
    different = [c for c in CHARACTERS if split(f"a{c}b 1{c}1") != expected(f"a{c}b 1{c}1")]
    assert different == named(spec["type"])
