"""tokenizer.json: what its own package writes is read and written alike, and what is wrong is refused."""

import contextlib
import json
import re
from dataclasses import fields
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken as OracleAddedToken
from tokenizers import Regex
from tokenizers import Tokenizer as OracleTokenizer
from tokenizers import decoders as oracle_decoders
from tokenizers import models as oracle_models
from tokenizers import normalizers as oracle_normalizers
from tokenizers import pre_tokenizers as oracle_pre_tokenizers
from tokenizers import processors as oracle_processors

import tokenlab
from tokenlab import Tokenizer
from tokenlab.errors import (
    LostAnswersError,
    LostAnswersWarning,
    LostExtrasWarning,
    TokenizerJsonError,
    TokenLabError,
    UnknownCharacterWarning,
    UnknownFormatError,
)
from tokenlab.formats import huggingface
from tokenlab.formats.huggingface import TABLE, read_document, write_document
from tokenlab.pipeline import models
from tokenlab.pipeline.added_tokens import AddedToken

VOCAB = {"a": 0, "b": 1, "ab": 2, "[UNK]": 3, "<unk>": 4}
BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
# The smallest character map: a trie of one empty unit, and no texts.
CHARACTER_MAP = bytes([4, 0, 0, 0, 0, 0, 0, 0])


def every_component():
    """Each component of the pipeline, with each of its options at each value, as the package makes it."""
    flags = (False, True)
    n, p, m = oracle_normalizers, oracle_pre_tokenizers, oracle_models
    d, post = oracle_decoders, oracle_processors
    yield from (
        ("normalizer", each)
        for each in [
            *(kind() for kind in (n.NFC, n.NFD, n.NFKC, n.NFKD, n.Lowercase, n.StripAccents)),
            *(n.Strip(left, right) for left in flags for right in flags),
            n.Strip(),
            n.Prepend(),
            n.Prepend("xy"),
            n.Replace("a", "b"),
            n.Replace(Regex(r"\s+"), ""),
            n.BertNormalizer(),
            *(
                n.BertNormalizer(**{option: False})
                for option in ("clean_text", "handle_chinese_chars", "lowercase")
            ),
            *(n.BertNormalizer(strip_accents=value) for value in (None, True, False)),
            n.Precompiled(CHARACTER_MAP),
            n.Sequence([]),
            n.Sequence([n.NFC(), n.Sequence([n.Lowercase()])]),
        ]
    )
    yield from (
        ("pre_tokenizer", each)
        for each in [
            *(
                kind()
                for kind in (
                    p.ByteLevel,
                    p.Whitespace,
                    p.WhitespaceSplit,
                    p.Punctuation,
                    p.Digits,
                    p.Metaspace,
                )
            ),
            p.BertPreTokenizer(),
            *(p.ByteLevel(space, trim, rule) for space in flags for trim in flags for rule in flags),
            *(p.Punctuation(behavior) for behavior in BEHAVIORS),
            *(p.Digits(flag) for flag in flags),
            *(p.Metaspace("_", scheme, split) for scheme in ("first", "always", "never") for split in flags),
            *(p.Split("a", behavior, invert) for behavior in BEHAVIORS for invert in flags),
            p.Split(Regex(r"\p{L}+"), "isolated"),
            p.Sequence([]),
            p.Sequence([p.Whitespace(), p.Sequence([p.Digits()])]),
        ]
    )
    yield from (
        ("model", each)
        for each in [
            m.BPE(),
            m.BPE(VOCAB, [("a", "b")]),
            m.BPE(VOCAB, [("a", "b")], unk_token="<unk>"),
            *(
                m.BPE(VOCAB, [], **{option: True})
                for option in ("fuse_unk", "byte_fallback", "ignore_merges")
            ),
            m.BPE({"a": 0, "##b": 1, "ab": 2}, [("a", "##b")], continuing_subword_prefix="##"),
            m.BPE({"a": 0, "b</w>": 7, "ab</w>": 3}, [("a", "b</w>")], end_of_word_suffix="</w>"),
            m.BPE(
                {"a": 0, "b": 1, "ab": 2}, [("a", "b")], continuing_subword_prefix="", end_of_word_suffix=""
            ),
            m.BPE(VOCAB, [("a", "b"), ("a", "b")], dropout=0.0),
            m.WordPiece(),
            m.WordPiece(VOCAB, unk_token="<unk>", max_input_chars_per_word=7, continuing_subword_prefix="_"),
            m.WordLevel(),
            m.WordLevel(VOCAB, unk_token="[UNK]"),
            m.Unigram(),
            m.Unigram([("a", -1.5), ("b", 0.0), ("c", -2.5e-7), ("a", 3.0)]),
            m.Unigram([("a", -1.0), ("<unk>", 0.0)], 1, byte_fallback=True),
        ]
    )
    yield from (
        ("post_processor", each)
        for each in [
            post.BertProcessing(("[SEP]", 2), ("[CLS]", 1)),
            *(post.RobertaProcessing(("</s>", 2), ("<s>", 0), t, a) for t in flags for a in flags),
            *(post.ByteLevel(trim_offsets=t, add_prefix_space=a) for t in flags for a in flags),
            post.TemplateProcessing(),
            post.TemplateProcessing(
                "[CLS] $A [SEP]", "[CLS]:1 $B:2 $A [SEP]:1", [("[SEP]", 2), ("[CLS]", 1)]
            ),
            post.TemplateProcessing("$0 x", "$A $B", [{"id": "x", "ids": [1, 2], "tokens": ["y", "z"]}]),
            post.Sequence([]),
            post.Sequence([post.ByteLevel(), post.BertProcessing(("[SEP]", 2), ("[CLS]", 1))]),
        ]
    )
    yield from (
        ("decoder", each)
        for each in [
            *(
                kind()
                for kind in (d.ByteLevel, d.ByteFallback, d.Metaspace, d.WordPiece, d.BPEDecoder, d.Fuse)
            ),
            *(d.Metaspace("_", scheme, split) for scheme in ("first", "always", "never") for split in flags),
            *(d.WordPiece(prefix, cleanup) for prefix in ("##", "") for cleanup in flags),
            d.BPEDecoder("@@"),
            d.Replace("a", "b"),
            d.Replace(Regex("a+"), ""),
            d.Strip(),
            d.Strip("x", 1, 2),
            d.Sequence([]),
            d.Sequence([d.Fuse(), d.Sequence([d.ByteFallback()])]),
        ]
    )


EVERY_COMPONENT = [(kind, json.loads(component.__getstate__())) for kind, component in every_component()]


def document(**parts):
    bare = json.loads(OracleTokenizer(oracle_models.WordLevel(VOCAB, "[UNK]")).to_str())
    return {**bare, **parts}


def written_by_us(file):
    return json.loads(huggingface.write(Tokenizer.from_bytes(json.dumps(file).encode())))


def written_by_the_oracle(file):
    return json.loads(OracleTokenizer.from_str(json.dumps(file)).to_str())


def in_order(value):
    """A document as nested pairs, so that the order of its keys counts."""
    return json.dumps(value)


@pytest.mark.parametrize(("kind", "spec"), EVERY_COMPONENT, ids=lambda value: json.dumps(value)[:60])
def test_every_component_is_read_and_written_as_the_oracle_writes_it(kind, spec):
    file = document(**{kind: spec})
    assert in_order(written_by_us(file)) == in_order(written_by_the_oracle(file))


def test_every_row_of_the_table_is_among_them():
    assert {(kind, spec["type"]) for kind, spec in EVERY_COMPONENT} == {
        (kind, tag) for kind, rows in TABLE.items() for tag in rows
    }


@pytest.mark.parametrize(("kind", "tag"), [(kind, tag) for kind, rows in TABLE.items() for tag in rows])
def test_every_field_of_every_component_has_its_place_in_the_file(kind, tag):
    row = TABLE[kind][tag]
    held = {each.name for each in fields(row.component) if each.init}
    assert {row.names.get(name, name) for name in row.forms} == held


@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@pytest.mark.parametrize("direction", ["left", "right"])
def test_truncation_is_written_as_the_oracle_writes_it(strategy, direction):
    tokenizer = OracleTokenizer(oracle_models.WordLevel(VOCAB, "[UNK]"))
    tokenizer.enable_truncation(7, stride=2, strategy=strategy, direction=direction)
    file = json.loads(tokenizer.to_str())
    assert in_order(written_by_us(file)) == in_order(file)


@pytest.mark.parametrize("length", [None, 0, 9])
@pytest.mark.parametrize("multiple", [None, 8])
@pytest.mark.parametrize("direction", ["left", "right"])
def test_padding_is_written_as_the_oracle_writes_it(length, multiple, direction):
    tokenizer = OracleTokenizer(oracle_models.WordLevel(VOCAB, "[UNK]"))
    tokenizer.enable_padding(
        direction=direction,
        pad_id=3,
        pad_type_id=1,
        pad_token="x",
        length=length,
        pad_to_multiple_of=multiple,
    )
    file = json.loads(tokenizer.to_str())
    assert in_order(written_by_us(file)) == in_order(file)


def test_added_tokens_are_written_as_the_oracle_writes_them():
    tokenizer = OracleTokenizer(oracle_models.WordLevel(VOCAB, "[UNK]"))
    tokenizer.add_special_tokens(["[UNK]", OracleAddedToken("<s>", lstrip=True, normalized=True)])
    tokenizer.add_tokens(
        [OracleAddedToken("x", single_word=True), OracleAddedToken("y z", rstrip=True, normalized=False)]
    )
    file = json.loads(tokenizer.to_str())
    file["added_tokens"].reverse()
    assert in_order(written_by_us(file)) == in_order(written_by_the_oracle(json.loads(tokenizer.to_str())))


# Older spellings: what the package reads, with what it makes of them.

OLDER = [
    ("model", {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}),
    ("model", {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["#version: 0.2", "a b", "a b"]}),
    ("model", {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], "fuse_unk": None}),
    (
        "model",
        {
            "unk_token": "a",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 9,
            "vocab": {"a": 0},
        },
    ),
    ("model", {"vocab": {"a": 0}, "unk_token": "a"}),
    ("model", {"vocab": [["a", -1.0]], "unk_id": 0}),
    ("model", {"type": "Unigram", "vocab": [["a", -1]]}),
    ("normalizer", {"strip_left": True, "strip_right": False}),
    ("normalizer", {"prepend": "x"}),
    ("normalizer", {"pattern": {"String": "a"}, "content": "b"}),
    ("normalizer", {"clean_text": True, "handle_chinese_chars": True, "lowercase": True}),
    ("normalizer", {"normalizers": [{"type": "NFC"}]}),
    ("pre_tokenizer", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}),
    ("pre_tokenizer", {"type": "Punctuation"}),
    ("pre_tokenizer", {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}),
    ("pre_tokenizer", {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True}),
    ("pre_tokenizer", {"type": "Metaspace", "replacement": "▁", "split": None}),
    (
        "pre_tokenizer",
        {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False, "prepend_scheme": "never"},
    ),
    ("post_processor", {"sep": ["a", 0], "cls": ["b", 1]}),
    ("post_processor", {"sep": ["a", 0], "cls": ["b", 1], "trim_offsets": True, "add_prefix_space": False}),
    (
        "post_processor",
        {"single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": [], "special_tokens": {}},
    ),
    ("decoder", {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}),
    ("decoder", {"prefix": "##", "cleanup": False}),
    ("decoder", {"suffix": "</w>"}),
    ("decoder", {"pattern": {"Regex": "a"}, "content": ""}),
    ("decoder", {"content": "a", "start": 1, "stop": 0}),
    ("truncation", {"max_length": 3, "strategy": "OnlyFirst", "stride": 0}),
    (
        "padding",
        {"strategy": "BatchLongest", "direction": "Left", "pad_id": 0, "pad_type_id": 0, "pad_token": "x"},
    ),
]


@pytest.mark.parametrize(("kind", "spec"), OLDER, ids=lambda value: json.dumps(value)[:60])
def test_older_spellings_mean_what_they_mean_to_the_oracle(kind, spec):
    file = document(**{kind: spec})
    assert in_order(written_by_us(file)) == in_order(written_by_the_oracle(file))


def test_the_oldest_metaspace_without_prefix_means_never():
    # The package itself refuses this spelling today, as it takes the missing scheme for "always".
    spec = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False}
    assert written_by_us(document(pre_tokenizer=spec))["pre_tokenizer"]["prepend_scheme"] == "never"


@pytest.mark.parametrize(
    "absent", ["version", "truncation", "padding", "added_tokens", "normalizer", "decoder"]
)
def test_absent_parts_are_absent(absent):
    file = document()
    whole = written_by_us(file)
    del file[absent]
    assert written_by_us(file) == whole


# What is refused, and at which path.

NESTED = {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Whitespce"}]}
BPE = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
DEEP = {"type": "NFC"}
for _ in range(40):
    DEEP = {"type": "Sequence", "normalizers": [DEEP]}
REFUSED = [
    ({"pre_tokenizer": NESTED}, "pre_tokenizer.pretokenizers[1].type"),
    ({"pre_tokenizer": {"type": "UnicodeScripts"}}, "pre_tokenizer.type"),
    ({"pre_tokenizer": {"behavior": "Removed"}}, "pre_tokenizer.type"),
    ({"pre_tokenizer": {"type": ["Whitespace"]}}, "pre_tokenizer.type"),
    ({"pre_tokenizer": "Whitespace"}, "pre_tokenizer"),
    ({"pre_tokenizer": {"type": "Whitespace", "extra": 1}}, "pre_tokenizer.extra"),
    ({"pre_tokenizer": {"type": "Digits"}}, "pre_tokenizer.individual_digits"),
    ({"pre_tokenizer": {"type": "Digits", "individual_digits": 1}}, "pre_tokenizer.individual_digits"),
    ({"pre_tokenizer": {"type": "Punctuation", "behavior": "isolated"}}, "pre_tokenizer.behavior"),
    ({"pre_tokenizer": {"type": "Metaspace", "replacement": "ab"}}, "pre_tokenizer.replacement"),
    (
        {
            "pre_tokenizer": {
                "type": "Metaspace",
                "replacement": "a",
                "prepend_scheme": "first",
                "add_prefix_space": False,
            }
        },
        "pre_tokenizer.prepend_scheme",
    ),
    ({"normalizer": {"type": "Replace", "pattern": "a", "content": ""}}, "normalizer.pattern"),
    ({"normalizer": {"type": "Replace", "pattern": {"Regex": 1}, "content": ""}}, "normalizer.pattern.Regex"),
    ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}}, "normalizer.precompiled_charsmap"),
    ({"model": None}, "model"),
    ({"model": {**BPE, "dropout": 0.1}}, "model.dropout"),
    ({"model": {**BPE, "dropout": "no"}}, "model.dropout"),
    ({"model": {**BPE, "fuse_unk": "yes"}}, "model.fuse_unk"),
    ({"model": {**BPE, "vocab": {"a": 0.0}}}, "model.vocab.a"),
    ({"model": {**BPE, "vocab": {"a": True}}}, "model.vocab.a"),
    ({"model": {**BPE, "vocab": [["a", 0]]}}, "model.vocab"),
    ({"model": {**BPE, "vocab": {"a": 0, "b": 0, "ab": 1}}}, "model"),
    ({"model": {**BPE, "vocab": {"a": -1, "b": 0, "ab": 1}}}, "model"),
    ({"model": {**BPE, "merges": [["a", "b"], ["b", "a"]]}}, "model"),
    ({"model": {**BPE, "merges": [["a", "b"], "a b"]}}, "model.merges[1]"),
    ({"model": {**BPE, "merges": ["a b", ["a", "b"]]}}, "model.merges[1]"),
    ({"model": {**BPE, "merges": ["a b c"]}}, "model.merges[0]"),
    ({"model": {**BPE, "merges": ["ab"]}}, "model.merges[0]"),
    ({"model": {**BPE, "merges": [["a"]]}}, "model.merges[0]"),
    ({"model": {**BPE, "merges": "a b"}}, "model.merges"),
    ({"model": {"type": "Unigram", "vocab": [["a", "b"]]}}, "model.vocab[0][1]"),
    ({"model": {"type": "Unigram", "vocab": [["a"]]}}, "model.vocab[0]"),
    ({"model": {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": 1}}, "model"),
    ({"model": {"type": "WordPiece", "vocab": {}, "unk_token": "a"}}, "model.continuing_subword_prefix"),
    (
        {
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"Piece": {}}],
                "pair": [],
                "special_tokens": {},
            }
        },
        "post_processor.single[0]",
    ),
    (
        {
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "x", "type_id": 0}}],
                "pair": [],
                "special_tokens": {},
            }
        },
        "post_processor",
    ),
    (
        {
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [],
                "pair": [],
                "special_tokens": {"x": {"id": "x", "ids": [1, 2], "tokens": ["x"]}},
            }
        },
        "post_processor.special_tokens.x",
    ),
    (
        {"post_processor": {"type": "BertProcessing", "sep": ["a", "b"], "cls": ["a", 1]}},
        "post_processor.sep[1]",
    ),
    (
        {"decoder": {"type": "CTC", "pad_token": "", "word_delimiter_token": "", "cleanup": True}},
        "decoder.type",
    ),
    ({"truncation": {"max_length": -1, "strategy": "LongestFirst", "stride": 0}}, "truncation.max_length"),
    ({"truncation": {"max_length": 1, "strategy": "longest_first", "stride": 0}}, "truncation.strategy"),
    ({"padding": {"strategy": {"Fixed": "9"}}}, "padding.strategy.Fixed"),
    ({"padding": {"strategy": "Longest"}}, "padding.strategy"),
    ({"added_tokens": {}}, "added_tokens"),
    ({"added_tokens": [{"id": 9, "content": "x"}]}, "added_tokens[0].single_word"),
    ({"added_tokens": ["x"]}, "added_tokens[0]"),
    ({"version": "2.0"}, "version"),
    ({"version": 1.0}, "version"),
    ({"extra": 1}, "extra"),
    ({"normalizer": DEEP}, "normalizer" + ".normalizers[0]" * 33),
]


@pytest.mark.parametrize(("parts", "path"), REFUSED, ids=lambda value: json.dumps(value)[:70])
def test_what_does_not_fit_is_refused_with_its_path(parts, path):
    with pytest.raises(TokenizerJsonError) as caught:
        Tokenizer.from_bytes(json.dumps(document(**parts)).encode())
    assert caught.value.path == path
    assert str(caught.value).startswith(path)
    assert len(str(caught.value)) < 600


MODEL = '"model": {"type": "Unigram", "unk_id": null, "vocab": [["a", %s]]}'


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b"\xef\xbb\xbf{}", "byte 0"),
        (b'{"a": "\xff"}', "byte 7"),
        (b'{"a": ', "line 1 column 7"),
        (b'{"a": 1}\n{}', "line 2 column 1"),
        (b"{}", "model"),
        (("{" + MODEL % "NaN" + "}").encode(), "the document"),
        (("{" + MODEL % "-Infinity" + "}").encode(), "the document"),
        (("{" + MODEL % "-1e999" + "}").encode(), "model.vocab[0][1]"),
        (("{" + MODEL % ("1" * 5000) + "}").encode(), "the document"),
        (b'{"model": {"type": "BPE"}, "model": null}', "model"),
        (b'{"model": {"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []}}', "a"),
        (b'{"model": {"type": "BPE", "vocab": {"\\ud800": 0}, "merges": []}}', "the document"),
        (b'{"a": ' + b"[" * 100_000, "the document"),
        (b'{"a": ' * 100_000, "the document"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_no_document_is_refused_with_its_place(data, path):
    with pytest.raises(TokenizerJsonError) as caught:
        Tokenizer.from_bytes(data)
    assert caught.value.path == path


def test_a_key_that_stands_twice_among_many_is_found_at_once():
    rows = ", ".join(f'"{number}": 0' for number in [*range(40_000), 39_999])
    started = process_time()
    with pytest.raises(TokenizerJsonError) as caught:
        huggingface.parse_json(f"{{{rows}}}".encode())
    assert caught.value.path == "39999"
    assert process_time() - started < 2


def test_a_pair_of_surrogates_is_a_character():
    data = json.dumps(document(model={"type": "WordLevel", "vocab": {"🐌": 0}, "unk_token": "🐌"})).encode()
    assert rb"\ud83d\udc0c" in data
    assert Tokenizer.from_bytes(data).encode("🐌").ids == (0,)


@pytest.mark.parametrize("data", [b"", b"tokenizer", b"[]", b"\x00\x01"])
def test_what_looks_like_no_tokenizer_is_refused(data):
    with pytest.raises(UnknownFormatError):
        Tokenizer.from_bytes(data)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damage_is_read_or_refused_and_never_anything_else(data):
    file = data.draw(
        st.sampled_from([document(), *(document(**{kind: spec}) for kind, spec in EVERY_COMPONENT)])
    )
    raw = bytearray(json.dumps(file).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place] = data.draw(st.sampled_from(b'{}[]":,0-9 aenrtu\\\xff\x00'))
    with contextlib.suppress(TokenLabError, UnknownCharacterWarning):
        Tokenizer.from_bytes(bytes(raw)).encode("ab")


# Files beside.


def _folder(tmp_path, **files):
    (tmp_path / "tokenizer.json").write_text(json.dumps(document()), encoding="utf-8")
    for name, content in files.items():
        (tmp_path / name.replace("__", ".")).write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
        )
    return tmp_path / "tokenizer.json"


def test_what_lies_beside_is_read(tmp_path):
    path = _folder(
        tmp_path,
        tokenizer_config__json={
            "bos_token": {"content": "a", "lstrip": False},
            "eos_token": "b",
            "chat_template": "{{ messages }}",
            "model_max_length": 10**30,
        },
        generation_config__json={"eos_token_id": [2, 1]},
    )
    tokenizer = Tokenizer.from_file(path)
    assert (tokenizer.bos_token, tokenizer.eos_token) == ("a", "b")
    assert tokenizer.chat_template == "{{ messages }}"
    assert tokenizer.stop_ids == (1, 2)


def test_of_several_templates_the_default_one_counts_and_a_file_of_its_own_before_all(tmp_path):
    templates = [{"name": "rag", "template": "r"}, {"name": "default", "template": "d"}]
    path = _folder(tmp_path, tokenizer_config__json={"chat_template": templates})
    assert Tokenizer.from_file(path).chat_template == "d"
    (tmp_path / "chat_template.jinja").write_text("own", encoding="utf-8")
    assert Tokenizer.from_file(path).chat_template == "own"


def test_a_template_that_is_no_text_is_refused_by_its_name(tmp_path):
    path = _folder(tmp_path)
    (tmp_path / "chat_template.jinja").write_bytes(b"a\xff")
    with pytest.raises(TokenizerJsonError) as caught:
        Tokenizer.from_file(path)
    assert caught.value.path == "chat_template.jinja, byte 1"


def test_without_files_beside_nothing_is_known(tmp_path):
    tokenizer = Tokenizer.from_file(_folder(tmp_path))
    assert (tokenizer.bos_token, tokenizer.eos_token, tokenizer.chat_template) == (None, None, None)
    assert tokenizer.stop_ids == ()


@pytest.mark.parametrize("config", ["[]", '{"eos_token": 3}', '{"chat_template": {}}', "{", "\ufeff{}"])
def test_a_wrong_file_beside_is_refused_by_its_name(tmp_path, config):
    path = _folder(tmp_path, tokenizer_config__json=config)
    with pytest.raises(TokenizerJsonError) as caught:
        Tokenizer.from_file(path)
    assert "tokenizer_config.json" in str(caught.value)


# Writing.


def test_a_saved_file_is_read_back_equal(tmp_path):
    tokenizer = Tokenizer.from_bytes(json.dumps(document(normalizer={"type": "NFC"})).encode())
    tokenizer.save(tmp_path / "t.json")
    assert Tokenizer.from_file(tmp_path / "t.json") == tokenizer
    text = (tmp_path / "t.json").read_text(encoding="utf-8")
    assert text == OracleTokenizer.from_str(text).to_str(pretty=True)


def test_what_has_no_place_in_the_file_is_warned_about_and_strictly_refused():
    words = models.WordLevel({"a": 0}, "a")
    with pytest.warns(LostExtrasWarning, match="chat_template"):
        huggingface.write(Tokenizer(words, chat_template="x"), strict=True)
    ordered = Tokenizer(words, added_tokens=(AddedToken(1, "b"),), control_ids=(1,))
    with pytest.warns(LostAnswersWarning, match="control_ids"):
        huggingface.write(ordered)
    with pytest.raises(LostAnswersError, match="control_ids"):
        huggingface.write(ordered, strict=True)


def test_ids_in_front_are_written_as_a_template():
    in_front = Tokenizer(models.WordLevel({"a": 0, "<s>": 1}, "a"), prefix_ids=(1,))
    back = Tokenizer.from_bytes(huggingface.write(in_front, strict=True))
    assert back.encode("a").ids == in_front.encode("a").ids == (1, 0)


def test_a_component_of_ones_own_is_refused_in_writing():
    class Mine(models.WordLevel):
        pass

    with pytest.raises(TokenizerJsonError):
        huggingface.write(tokenlab.Tokenizer(Mine({"a": 0}, "a")))


def test_the_document_is_read_and_written_whole():
    parts = read_document(json.dumps(document()).encode())
    assert json.loads(write_document(parts)) == document()
    assert re.match(rb'\{\n  "version": "1.0"', write_document(parts))
