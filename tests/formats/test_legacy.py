"""The legacy `.txt` files: read, run by both rules, and written back."""

import base64
import json
import warnings
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenlab import Tokenizer
from tokenlab.errors import (
    InvalidArgumentError,
    LegacyTxtError,
    LegacyTxtWarning,
    LostAnswersError,
    TokenizerJsonError,
    TokenLabError,
)
from tokenlab.formats import legacy_pipeline, legacy_txt
from tokenlab.formats.header import Header
from tokenlab.pipeline import models

VECTORS = Path(__file__).parent.parent / "vectors/legacy"
FILES = {path.stem: path for path in sorted(VECTORS.glob("*.txt"))}
HEAD = "0 0 0\n\n"


def cases(name):
    return [json.loads(line) for line in (VECTORS / f"{name}.cases.jsonl").read_text("utf-8").splitlines()]


def read(text, **options):
    return Tokenizer.from_bytes(text.encode(), **options)


@pytest.mark.parametrize("name", FILES)
def test_the_reader_s_rule_gives_the_reader_s_answers(name):
    tokenizer = Tokenizer.from_file(FILES[name], rule="reader")
    for case in cases(name):
        assert tokenizer.encode_ids(case["text"]) == case["mnn_ids"]
        assert list(tokenizer.encode(case["text"]).ids) == case["mnn_ids"]
        decoded = tokenizer.decode(case["mnn_ids"], skip_special_tokens=False)
        assert decoded.encode().hex() == case["mnn_decoded_hex"]


@pytest.mark.parametrize(("name", "different"), [("bert", 3), ("tiktoken", 1), ("huggingface", 0)])
def test_by_the_field_s_rule_answers_differ_where_they_should(name, different):
    tokenizer = Tokenizer.from_file(FILES[name])
    assert sum(tokenizer.encode_ids(case["text"]) != case["mnn_ids"] for case in cases(name)) == different


def test_rank_order_is_what_tiktoken_does():
    file = legacy_txt.read_file(FILES["tiktoken"].read_bytes())
    ranks = {token: rank for rank, token in enumerate(file.tokens) if rank not in file.header.special}
    special = {file.tokens[i].decode(): i for i in file.header.special}
    oracle = tiktoken.Encoding(
        "x", pat_str=legacy_pipeline.CL100K, mergeable_ranks=ranks, special_tokens=special
    )
    ours = Tokenizer.from_file(FILES["tiktoken"])
    for case in [*cases("tiktoken"), {"text": "DON'T  stop\r\n\n 1234"}]:
        assert ours.encode_ids(case["text"]) == oracle.encode(case["text"], allowed_special="all")
    assert ours.encode_ids(" а") == [32, 262]


def test_a_blank_and_the_marker_spell_the_same_piece():
    blank, marker = (Tokenizer.from_file(FILES[name]) for name in ("sentencepiece-space", "sentencepiece"))
    for case in cases("sentencepiece"):
        assert blank.encode_ids(case["text"]) == marker.encode_ids(case["text"])
        assert blank.decode(case["mnn_ids"]) == marker.decode(case["mnn_ids"])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("rule", ["field", "reader"])
def test_what_was_read_is_written_back(name, rule):
    tokenizer = Tokenizer.from_file(FILES[name], rule=rule)
    assert legacy_pipeline.write(replace(tokenizer, chat_template="x")) == FILES[name].read_bytes()


SCORED = "430 0\n" + HEAD + "4\nPHVuaz4= 0 2\nYQ== {} 1\nYg== {} 1\nYWI= {} 1\n"


@pytest.mark.parametrize(
    ("scores", "algorithm"),
    [
        ((-1, -2, -3), "bpe"),
        ((0, 0, 0), "bpe"),
        ((0.0, -1.0, -2.0), "bpe"),
        ((-3, -2, -1), "unigram"),
        ((-1.5, -2.5, -3.5), "unigram"),
        ((-1, -1, -2), "unigram"),
    ],
)
def test_the_scores_tell_the_algorithm_and_the_model_says_it(scores, algorithm):
    kinds = {"bpe": models.BPE, "unigram": models.Unigram}
    text = SCORED.format(*scores)
    assert type(read(text).model) is kinds[algorithm]
    for given_algorithm, kind in kinds.items():
        assert type(read(text, algorithm=given_algorithm).model) is kind


def test_merges_go_by_score_and_unknown_text_by_its_bytes():
    rows = [
        "PHVuaz4= 0 2",
        "4paB -5 1",
        "YQ== -6 1",
        "Yg== -7 1",
        "YmI= -2 1",
        "YWI= -1 1",
        "PDB4QzM+ 0 6",
        "PDB4QTk+ 0 6",
    ]
    tokenizer = read("430 0\n" + HEAD + f"{len(rows)}\n" + "\n".join(rows) + "\n", algorithm="bpe")
    assert tokenizer.encode_ids("abb") == [1, 5, 3]
    assert tokenizer.encode_ids("é") == [1, 6, 7]
    assert tokenizer.encode_ids("日") == [1, 0]
    assert tokenizer.decode([1, 5, 6, 7]) == " abé"


def test_user_defined_pieces_are_cut_out_and_control_pieces_are_not_made_of_text():
    rows = ["PHVuaz4= 0 2", "4paB -5 1", "YQ== -6 1", "PHg+ 0 4", "PGE+ 0 3", "PA== -7 1", "Pg== -8 1"]
    tokenizer = read("430 0\n" + HEAD + f"{len(rows)}\n" + "\n".join(rows) + "\n", algorithm="unigram")
    assert tokenizer.encode_ids("a<x>a") == [1, 2, 3, 1, 2]
    assert tokenizer.encode_ids("<a>") == [1, 5, 2, 6]


def test_the_pattern_is_a_parameter():
    text = "430 3\n" + HEAD + "5 2\na\nb\nĠ\nab\nĠa\na b\nĠ a\n"
    assert read(text).encode_ids("ab a") == [3, 4]
    assert read(text, pattern=".").encode_ids("ab a") == [0, 1, 2, 0]
    assert read("430 1\n" + HEAD + "3\nYQ==\nYg==\nYWI=\n", pattern="a|b").encode_ids("ab") == [0, 1]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bert", {"rule": "other"}),
        ("bert", {"algorithm": "bpe"}),
        ("bert", {"pattern": "x"}),
        ("tiktoken", {"rule": "reader", "pattern": "x"}),
        ("sentencepiece", {"algorithm": "words"}),
        ("sentencepiece", {"algorithm": "bpe", "rule": "reader"}),
    ],
)
def test_an_option_without_use_is_refused(name, options):
    with pytest.raises(InvalidArgumentError):
        Tokenizer.from_file(FILES[name], **options)


def test_the_chat_template_lies_beside(tmp_path):
    path = tmp_path / "tokenizer.txt"
    path.write_bytes(FILES["bert"].read_bytes())
    assert Tokenizer.from_file(path).chat_template is None
    (tmp_path / "llm_config.json").write_text('{"jinja": {"chat_template": "{{ x }}"}}', "utf-8")
    assert Tokenizer.from_file(path).chat_template == "{{ x }}"
    (tmp_path / "llm_config.json").write_text('{"jinja": ', "utf-8")
    with pytest.raises(TokenizerJsonError, match=r"^llm_config\.json, line 1"):
        Tokenizer.from_file(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("430 1\n0 0 0\n\n2\nYQ==\n!!!!\n", 6),
        ("430 1\n0 0 0\n\n3\nYQ==\nYg==\n", 7),
        ("430 1\n0 0 0\n\nx\n", 4),
        ("430 2\n0 0 0\n\n1\n/w==\n", 5),
        ("430 3\n0 0 0\n\n2 1\na\nb\na c\n", 7),
        ("430 3\n0 0 0\n\n2 0\na\na\n", 6),
        ("430 0\n0 0 0\n\n1\nYQ== 1 9\n", 5),
        ("430 0\n0 0 0\n\n1\nYQ== nan 1\n", 5),
        ("430 0\n0 0 0\n\n2\nIA== -1 1\n4paB -2 1\n", 6),
        ("430 1\n1 0 0\n\n0\n", 3),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text, line):
    with pytest.raises(LegacyTxtError) as caught:
        read(text)
    assert caught.value.line == line


def test_what_does_no_harm_is_a_warning():
    with pytest.warns(LegacyTxtWarning, match="99"):
        assert read("430 1\n0 0 1\n99\n1\nYQ==\n").encode_ids("a") == [99, 0]
    with pytest.warns(LegacyTxtWarning, match="one more"):
        assert read("430 3\n0 0 0\n\n3 2\na\nb\nab\na b\n").encode_ids("ab") == [2]


def test_a_comment_is_counted_and_is_no_merge():
    assert read("430 3\n0 0 0\n\n3 2\na\nb\nab\n#version: 0.2\na b\n").encode_ids("ab") == [2]


def test_a_tokenizer_of_another_format_is_written_where_a_type_says_it():
    written = legacy_pipeline.write(replace(Tokenizer.from_file(FILES["bert"]), origin=None), strict=True)
    assert Tokenizer.from_bytes(written).fingerprint() == Tokenizer.from_file(FILES["bert"]).fingerprint()
    other = Tokenizer.from_file(VECTORS.parent / "mtok/wordpiece/tokenizer.json")
    with pytest.raises(LostAnswersError):
        legacy_pipeline.write(other, strict=True)


def test_only_a_byte_token_is_written_as_one():
    names = ["<unk>", "<0xC3>", "<0xa9>", "<0xZZ>", "a"]
    tokenizer = Tokenizer(models.Unigram(0, tuple((name, -1.0) for name in names), byte_fallback=True))
    with warnings.catch_warnings(action="ignore"):
        written = legacy_txt.read_file(legacy_pipeline.write(tokenizer))
    byte, normal = legacy_txt.BYTE, legacy_txt.NORMAL
    assert written.kinds == (legacy_txt.UNKNOWN, byte, byte, normal, normal)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40), st.integers(0, 3))
def test_any_bytes_behind_a_header(rest, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Tokenizer.from_bytes(b"430 %d\n0 0 0\n\n" % kind + rest)
        except TokenLabError as error:
            assert str(error)


def test_headers_keep_their_order():
    file = legacy_txt.LegacyFile(Header(1, (1, 0), (0,), ()), (b"<m", b"<m>x"))
    assert Tokenizer.from_bytes(legacy_txt.write_file(file)).encode_ids("<m<m>x") == [0, 1]
    file = replace(file, header=Header(1, (0, 1), (0,), ()))
    tokenizer = Tokenizer.from_bytes(legacy_txt.write_file(file))
    with pytest.raises(TokenLabError):
        tokenizer.encode_ids("<m>x")


def test_a_merge_line_of_many_words_takes_little_time_and_memory():
    words = b"a " * 200_000
    for token in (b"a", words.strip()):
        data = b"430 3\n0 0 0\n\n1 1\n" + token + b"\n" + words + b"\n"
        with pytest.raises(LegacyTxtError, match="line 6"):
            legacy_txt.read_file(data)


def test_a_word_that_ends_unknown_takes_a_time_that_grows_with_the_word():
    vocabulary = {"[UNK]": 0, "a": 1, "##a": 2, "##aab": 3}
    model = legacy_pipeline.MatchedWordPiece(max_input_chars_per_word=2**32 - 1, vocab=vocabulary)
    assert model.encode_ids("aaaab") == (1, 2, 3)
    assert model.tokenize("aaab?")[1:] == [(3, "##aab", 1, 4), (0, "[UNK]", 4, 5)]
    started = process_time()
    assert len(model.tokenize("a" * 20_000 + "?" * 20_000)) == 20_001
    assert process_time() - started < 5


def test_a_long_piece_is_cut_where_it_can_be_in_a_time_that_grows_with_it():
    pieces = ["▁", "a", "b", "ab", "ab" * 200_000]
    lines = [f"{base64.b64encode(piece.encode()).decode()} {-rank} 1" for rank, piece in enumerate(pieces)]
    started = process_time()
    tokenizer = read("430 0\n" + HEAD + "5\n" + "\n".join(lines) + "\n", rule="reader")
    assert process_time() - started < 5
    assert tokenizer.encode_ids("bab") == [0, 2, 3]
