"""Normalizers against the oracle, and what each does to offsets."""

# ruff: noqa: E501 - tables of cases

import base64
import json
import pickle
import struct
import unicodedata
from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import NORMALIZER, TEXT, oracle, ours

from tokenlab.errors import CharacterMapError, GrowthLimitError, PatternError
from tokenlab.formats.mtok_meaning import NormTable
from tokenlab.pipeline import normalizers
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.text import AlignedText


def spans(normalizer, text):
    aligned = normalizer.normalize(AlignedText.of(text))
    return [(c, aligned.span(i, i + 1)) for i, c in enumerate(aligned.text)]


@settings(max_examples=200, deadline=None)
@given(NORMALIZER, TEXT)
def test_every_normalizer_gives_the_oracles_text(spec, text):
    normalizer = ours("normalizer", spec)
    assert normalizer(text) == oracle("normalizer", spec).normalize_str(text)


@settings(max_examples=200, deadline=None)
@given(NORMALIZER, TEXT)
def test_plain_and_aligned_text_are_normalised_alike(spec, text):
    normalizer = ours("normalizer", spec)
    aligned = normalizer.normalize(AlignedText.of(text))
    assert aligned.text == normalizer(text)
    assert len(aligned.starts) == len(aligned.ends) == len(aligned.text)
    assert all(
        0 <= start <= end <= len(text) for start, end in zip(aligned.starts, aligned.ends, strict=True)
    )


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]), TEXT)
@example("NFC", "a\u0323\u0301")
@example("NFC", "\u1100\u1161\u11a8\u11a8")
@example("NFD", "\u1e69\u0323")
def test_normal_forms_are_unicodes(form, text):
    normalizer = getattr(normalizers, form)()
    aligned = normalizer.normalize(AlignedText.of(text))
    assert aligned.text == normalizer(text) == unicodedata.normalize(form, text)
    assert list(aligned.starts) == sorted(aligned.starts)


@pytest.mark.parametrize(
    "normalizer, text, expected",
    [
        (normalizers.NFD(), "né", [("n", (0, 1)), ("e", (1, 2)), ("\u0301", (1, 2))]),
        (normalizers.NFC(), "ne\u0301!", [("n", (0, 1)), ("é", (1, 3)), ("!", (3, 4))]),
        (normalizers.NFKC(), "ﬁx", [("f", (0, 1)), ("i", (0, 1)), ("x", (1, 2))]),
        (normalizers.Lowercase(), "aİb", [("a", (0, 1)), ("i", (1, 2)), ("\u0307", (1, 2)), ("b", (2, 3))]),
        (normalizers.Lowercase(), "ΑΣ", [("α", (0, 1)), ("σ", (1, 2))]),
        (normalizers.StripAccents(), "e\u0301é", [("e", (0, 1)), ("é", (2, 3))]),
        (normalizers.Strip(), " a \n", [("a", (1, 2))]),
        (normalizers.Strip(strip_left=False), " a ", [(" ", (0, 1)), ("a", (1, 2))]),
        (normalizers.Prepend("▁"), "ab", [("▁", (0, 1)), ("a", (0, 1)), ("b", (1, 2))]),
        (normalizers.Replace(Pattern("ll"), "L"), "hello", [("h", (0, 1)), ("e", (1, 2)), ("L", (3, 4)), ("o", (4, 5))]),
        (normalizers.Replace(Pattern("^", regex=True), "_"), "a", [("_", (0, 0)), ("a", (0, 1))]),
        (normalizers.BertNormalizer(), "日É", [(" ", (0, 1)), ("日", (0, 1)), (" ", (0, 1)), ("e", (1, 2))]),
    ],
)  # fmt: skip
def test_offsets_follow_every_change(normalizer, text, expected):
    assert spans(normalizer, text) == expected


def test_prepend_leaves_an_empty_text_empty():
    assert normalizers.Prepend("▁")("") == ""


def test_many_prepends_are_one_after_the_other():
    normalizer = normalizers.Sequence(tuple(normalizers.Prepend(mark) for mark in "xyz" * 300))
    aligned = normalizer.normalize(AlignedText.of("ab" * 500))
    assert aligned.text == normalizer("ab" * 500) == "zyx" * 300 + "ab" * 500
    assert [aligned.span(i, i + 1) for i in (0, 899, 900, 901)] == [(0, 1), (0, 1), (0, 1), (1, 2)]


@pytest.mark.parametrize("lowercase", [False, True])
def test_berts_strip_accents_follows_lowercase_when_it_is_not_set(lowercase):
    follows = normalizers.BertNormalizer(strip_accents=None, lowercase=lowercase)
    assert follows("É") == normalizers.BertNormalizer(strip_accents=lowercase, lowercase=lowercase)("É")


# The character map: nmt_nfkc of a SentencePiece model, made here by hand: "ﬁ" -> "fi", "２" -> "2", U+0001 -> "".


def character_map(entries):
    """Return a precompiled map whose trie is laid out by brute force: one block of 256 units for each node."""
    texts, places = b"", {}
    for new in entries.values():
        places[new] = len(texts)
        texts += new.encode() + b"\0"
    nodes = {b"": 0}
    for old in entries:
        data = old.encode()
        for length in range(1, len(data) + 1):
            nodes.setdefault(data[:length], len(nodes))
    keys = {old.encode(): places[new] for old, new in entries.items()}
    units = [0] * (256 * (len(nodes) + 1))

    def offset_field(value):
        assert value < 1 << 21
        return value << 10

    # The root is unit 0; the children of node n lie in block n + 1, at block XOR byte.
    position = {b"": 0}
    for prefix in sorted(nodes, key=len):
        if prefix:
            position[prefix] = (256 * (nodes[prefix[:-1]] + 1)) ^ prefix[-1]
    for prefix, number in nodes.items():
        block = 256 * (number + 1)
        here = position[prefix]
        unit = (prefix[-1] if prefix else 0) | offset_field(here ^ block)
        if prefix in keys:
            unit |= 1 << 8
            units[block] = keys[prefix] | 1 << 31
        units[here] = unit
    trie = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(trie)) + trie + texts


MAP = character_map({"ﬁ": "fi", "２": "2", "\x01": "", "e\u0301": "é", "ab": "c", "㍿": "株式会社"})
PRECOMPILED = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(MAP).decode()}
MAPPED = st.lists(
    st.sampled_from(["ﬁ", "２", "\x01", "e", "e\u0301", "\u0301", "a", "b", "ab", "㍿", " ", "\r\n", "👨\u200d🔬", "é"])
).map("".join)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(MAPPED)
def test_a_character_map_gives_the_oracles_text(text):
    normalizer = ours("normalizer", PRECOMPILED)
    assert normalizer(text) == oracle("normalizer", PRECOMPILED).normalize_str(text)
    assert normalizer.normalize(AlignedText.of(text)).text == normalizer(text)


def test_a_character_map_keeps_offsets():
    assert spans(normalizers.Precompiled(MAP), "aﬁ\x01e\u0301") == [
        ("a", (0, 1)),
        ("f", (1, 2)),
        ("i", (1, 2)),
        ("é", (3, 4)),
    ]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(MAP) - 1), st.integers(1, 255), st.integers(0, len(MAP)))
def test_a_damaged_character_map_is_refused_or_harmless(place, flip, length):
    damaged = bytearray(MAP)
    damaged[place] ^= flip
    for data in (bytes(damaged), MAP[:length]):
        try:
            normalizers.Precompiled(data)("aﬁ２\x01e\u0301ab㍿")
        except CharacterMapError as error:
            assert error.offset >= 0


def test_a_regular_expression_that_cannot_be_used_is_refused():
    with pytest.raises(PatternError):
        normalizers.Replace(Pattern("(", regex=True), "")


@settings(max_examples=100, deadline=None)
@given(NORMALIZER)
def test_a_component_is_its_data(spec):
    first, second = ours("normalizer", spec), ours("normalizer", json.loads(json.dumps(spec)))
    assert first == second and hash(first) == hash(second)
    assert pickle.loads(pickle.dumps(first)) == first
    assert spec["type"] in repr(first)


def test_a_chain_of_growing_replacements_is_refused():
    bomb = normalizers.Sequence((normalizers.Replace(Pattern("a"), "a" * 1000),) * 12)
    for run in (bomb, lambda text: bomb.normalize(AlignedText.of(text))):
        with pytest.raises(GrowthLimitError):
            run("a")


@pytest.mark.parametrize("text", ["a" * 400, "é" * 400, "a\u0301" * 400, "a" + "\u0301" * 400])
@pytest.mark.parametrize("kind", [normalizers.Precompiled, NormTable])
def test_a_map_of_characters_to_long_texts_is_refused_where_it_would_fill_the_memory(kind, text):
    rows = dict.fromkeys("aé\u0301", "x" * 100_000)
    if kind is NormTable:
        normalizer = NormTable(tuple((ord(old), new) for old, new in rows.items()))
    else:
        normalizer = normalizers.Precompiled(character_map(rows))
    assert len(normalizer("aé")) == 200_000
    for run in (normalizer, lambda text: normalizer.normalize(AlignedText.of(text))):
        with pytest.raises(GrowthLimitError):
            run(text)


@pytest.mark.parametrize("form", [normalizers.NFC, normalizers.NFKD])
def test_marks_out_of_order_are_sorted_in_a_time_that_grows_with_the_text(form):
    started = process_time()
    assert form()("x" + "\u0301\u0323" * 60_000) == "x" + "\u0323" * 60_000 + "\u0301" * 60_000
    assert process_time() - started < 10  # Python's own sorting takes minutes
