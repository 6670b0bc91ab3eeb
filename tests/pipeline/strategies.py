"""Generated text and generated tokenizer.json components, and how the oracle runs one.

Text holds code points that Unicode 11 has and that Python, `regex` and `tokenizers` know alike; where their
tables differ, `test_unicode_tables.py` names the difference.
"""

# ruff: noqa: E501 - tables of cases

import json
from typing import Any

import tokenizers
from hypothesis import strategies as st

from tokenlab.formats.huggingface import read_document

MODEL = {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}

LETTERS = "aAbzéÀßſİıµΣσςжЖ日本語あアㄱ가각ไทयकشםﬁǆ"
MARKS = "\u0301\u0323\u0308\u0338\u0345\u05c1\u0e33\u093c\u0327\u20dd\u1161\u11a8"
SPACES = " \t\n\r\v\f\x85\xa0\u1680\u2003\u2028\u202f\u3000"
OTHERS = "01٣²¼Ⅷ.,!?'\"-_(<|>)$+«»“。、▁Ġ\x00\x01\x1d\x7f\ufeff\ufffd\u200b\u200d\u200f😀👨🔬🇩🇪𝔘㍿\U00020000\U0002b825\uf900"
CHARACTERS = st.one_of(*map(st.sampled_from, (LETTERS, MARKS, SPACES, OTHERS, " ab1.")))
WORDS = st.sampled_from(
    ["the", " the", "it's", "IT'LL", "he'ſ", "e\u0301", "\r\n", "  ", "\n\n", " \n ", "123", "4567", "가각",
     "\u1100\u1161\u11a8", "👨\u200d🔬", "ΑΣ", "ﬁn", "<s>", "</s>", " <s> ", "hello", "▁", "don't", "a b", "日本"]
)  # fmt: skip
TEXT = st.lists(st.one_of(CHARACTERS, WORDS), max_size=12).map("".join)

FLAG = st.booleans()
REGEX = st.sampled_from(
    [r"\s+", r"\w+", r"\d", r"[^\s\w]+", r"\p{L}+", r"\p{N}{1,3}", r"(?i:'s|'ll)", r" ?\p{L}+|\s+(?!\S)|\s+", r"a|b*",
     r"[\r\n]+", r".", r"(?<=a).", r"\W", r"\p{N}{2}+", r"^.", r".$", r"x*", r"[[:punct:]]", r"[a-z&&[^b]]+",
     r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]
)  # fmt: skip
PATTERN = st.one_of(
    st.sampled_from([" ", "a", "▁", ".", "ab", "  ", "\n", "é", ""]).map(lambda text: {"String": text}),
    REGEX.map(lambda text: {"Regex": text}),
)
BEHAVIOR = st.sampled_from(["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"])
CONTENT = st.sampled_from(["", " ", "▁", "xy", "é", "_"])


def _component(tag: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(tag), **fields})


_NORMALIZER = st.one_of(
    *map(_component, ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")),
    _component("Strip", strip_left=FLAG, strip_right=FLAG),
    _component("Prepend", prepend=st.sampled_from(["▁", " ", "ab"])),
    _component("Replace", pattern=PATTERN, content=CONTENT),
    _component(
        "BertNormalizer",
        clean_text=FLAG,
        handle_chinese_chars=FLAG,
        strip_accents=st.one_of(st.none(), FLAG),
        lowercase=FLAG,
    ),
)
NORMALIZER = st.one_of(_NORMALIZER, _component("Sequence", normalizers=st.lists(_NORMALIZER, max_size=3)))
_PRE_TOKENIZER = st.one_of(
    *map(_component, ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")),
    _component("ByteLevel", add_prefix_space=FLAG, trim_offsets=FLAG, use_regex=FLAG),
    _component("Punctuation", behavior=BEHAVIOR),
    _component("Digits", individual_digits=FLAG),
    _component(
        "Metaspace",
        replacement=st.sampled_from("▁_a"),
        prepend_scheme=st.sampled_from(["first", "always", "never"]),
        split=FLAG,
    ),
    _component("Split", pattern=PATTERN, behavior=BEHAVIOR, invert=FLAG),
)
PRE_TOKENIZER = st.one_of(
    _PRE_TOKENIZER, _component("Sequence", pretokenizers=st.lists(_PRE_TOKENIZER, max_size=3))
)


def document(**parts: Any) -> bytes:
    """Return a tokenizer.json with these parts, the others absent."""
    absent = dict.fromkeys(
        ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    )
    return json.dumps({"version": "1.0", "added_tokens": [], "model": MODEL, **absent, **parts}).encode()


def ours(kind: str, spec: dict[str, Any]) -> Any:
    """Return our component of a specification."""
    return read_document(document(**{kind: spec}))[kind]


def oracle(kind: str, spec: dict[str, Any]) -> Any:
    """Return the oracle's component of a specification."""
    return getattr(tokenizers.Tokenizer.from_str(document(**{kind: spec}).decode()), kind)
