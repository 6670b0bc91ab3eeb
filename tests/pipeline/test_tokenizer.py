"""The tokenizer as a whole: its ways of encoding agree, text forges nothing, errors say where, files are safe."""

# ruff: noqa: E501 - tables of cases

import pickle
import subprocess
import sys
from dataclasses import replace

import pytest
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import NORMALIZER, PRE_TOKENIZER, TEXT, document
from test_added_tokens import ADDED, BPE
from test_pre_tokenizers import CHUNKED, CL100K, LLAMA3, O200K, SPACED

from tokenlab import ControlToken, Tokenizer
from tokenlab.errors import (
    ComponentError,
    DoubledBosWarning,
    InvalidArgumentError,
    LoneSurrogateError,
    MissingTokenError,
    SingleDocumentError,
    TokenLabError,
    UnknownCharacterError,
    UnknownCharacterWarning,
    UnknownFormatError,
)
from tokenlab.pipeline import decoders, models, normalizers, pre_tokenizers
from tokenlab.pipeline import tokenizer as module
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.encoding import Truncation
from tokenlab.pipeline.post_processors import BertProcessing

BYTES = {bytes([byte]): byte for byte in range(256)}
CORPUS = (
    "the cat sat on the mat, the cat's hat; 12345 don't stop!\n\nif x == 10:\n    return x  # näive 日本語 ☃\n"
    * 3
)


def trained(pattern=LLAMA3, size=400):
    """Return a byte-level tokenizer that the oracle trains, in both libraries."""
    oracle = tokenizers.Tokenizer(tokenizers.models.BPE(ignore_merges=True))
    oracle.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    oracle.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|im_start|>", "<|im_end|>"],
        show_progress=False,
    )
    oracle.train_from_iterator([CORPUS], trainer)
    return Tokenizer.from_bytes(oracle.to_str().encode()), oracle


TRAINED, ORACLE = trained()
WORDS = st.lists(
    st.one_of(SPACED, st.sampled_from([*CORPUS.split(), CORPUS[:60], "<|im_start|>", "<|im_end|>"])),
    max_size=10,
).map("".join)


@settings(max_examples=200, deadline=None)
@given(WORDS, st.booleans(), st.booleans())
def test_every_way_to_encode_agrees_with_the_oracle(text, add, parse):
    ORACLE.encode_special_tokens = not parse
    expected = ORACLE.encode(text, add_special_tokens=add)
    options = {"add_special_tokens": add, "parse_special_tokens": parse}
    found = TRAINED.encode(text, **options)
    assert list(found.ids) == expected.ids == TRAINED.encode_ids(text, **options)
    assert (list(found.tokens), list(found.offsets)) == (expected.tokens, expected.offsets)
    assert list(found.word_ids) == expected.word_ids


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.none(), NORMALIZER), st.one_of(st.none(), PRE_TOKENIZER), ADDED, TEXT, st.booleans())
def test_the_fast_ways_equal_the_plain_one(normalizer, pre_tokenizer, added, text, parse):
    data = document(normalizer=normalizer, pre_tokenizer=pre_tokenizer, added_tokens=added, model=BPE)
    tokenizer = Tokenizer.from_bytes(data)
    plain = replace(tokenizer)
    object.__setattr__(plain, "_chunks", None)
    encoding = tokenizer.encode(text, parse_special_tokens=parse)
    assert encoding == plain.encode(text, parse_special_tokens=parse)
    assert tokenizer.encode_ids(text, parse_special_tokens=parse) == list(encoding.ids)
    if parse:
        *_, last = tokenizer.explain(text).stages
        assert [(piece, span, token_id) for piece, span, token_id in last.pieces] == list(
            zip(encoding.tokens, encoding.offsets, encoding.ids, strict=True)
        )


@settings(max_examples=200, deadline=None)
@given(CHUNKED, SPACED)
def test_chunks_change_nothing(made, text):
    model = models.BPE(vocab={"[UNK]": 0, **{c: i for i, c in enumerate("abĠ's▁", 1)}}, unk_token="[UNK]")
    tokenizer = Tokenizer(model, pre_tokenizer=made())
    plain = replace(tokenizer)
    object.__setattr__(plain, "_chunks", None)
    for _ in range(2):  # from the cache, too
        assert tokenizer.encode(text) == plain.encode(text)
        assert tokenizer.encode_ids(text) == list(plain.encode(text).ids)


def test_what_a_stage_rewrote_is_cut_again():
    stages = pre_tokenizers.ByteLevel(add_prefix_space=False), pre_tokenizers.Digits()
    model = models.WordLevel({"a": 0, "Ġb": 1, "1": 2})
    tokenizer = Tokenizer(model, pre_tokenizer=pre_tokenizers.Sequence(stages))
    assert tokenizer.encode("a b1").tokens == ("a", "Ġb", "1")
    assert tokenizer.encode("a b1").offsets == ((0, 1), (1, 3), (3, 4))


def test_ids_come_framed_as_the_post_processor_says():
    vocabulary = {"a": 0, "[CLS]": 1, "[SEP]": 2}
    tokenizer = Tokenizer(
        models.WordLevel(vocabulary), post_processor=BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    )
    assert tokenizer.encode_ids("a") == [1, 0, 2] == list(tokenizer.encode("a").ids)
    assert tokenizer.encode_ids("a", add_special_tokens=False) == [0]
    assert replace(tokenizer, prefix_ids=(2, 2)).encode_ids("a") == [1, 2, 2, 0, 2]
    short = replace(tokenizer, truncation=Truncation(max_length=2))
    assert short.encode_ids("a") == list(short.encode("a").ids) == [1, 2]


# Parts


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(WORDS, st.sampled_from([ControlToken("<|im_start|>"), ControlToken("<|im_end|>")])))
)
def test_parts_encode_like_their_text_where_nothing_is_forged(parts):
    spelled = ["<|im" in part for part in parts if isinstance(part, str)]
    if any(spelled):
        encoding = TRAINED.encode_parts(parts)
        controls = [TRAINED.vocabulary[p.content] for p in parts if isinstance(p, ControlToken)]
        assert [i for i in encoding.ids if i in TRAINED.vocabulary.values() and i < 2] == controls
        return
    text = "".join(part if isinstance(part, str) else part.content for part in parts)
    if text.count("<|im") == len(parts) - len(spelled):
        assert TRAINED.encode_parts(parts) == TRAINED.encode(text, add_special_tokens=False)


def test_parts_take_the_white_space_that_their_tokens_take():
    end = AddedToken(1, "<end>", rstrip=True, normalized=False, special=True)
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "?": 2}, "?"), added_tokens=(end,))
    assert tokenizer.encode_parts(["a", end, "\n", "a"]).ids == tokenizer.encode("a<end>\na").ids == (0, 1, 0)
    assert tokenizer.encode_parts(["a", "<end>"]).ids == (2,)


SPELT = ("<unk>", "<s>", "<", "s", ">", "a", "<s")
IDS = {token: token_id for token_id, token in enumerate(SPELT)}
SPELLING_MODELS = [
    models.Unigram(0, tuple((piece, -1.0) for piece in SPELT)),
    models.Unigram(0, (("<unk>", 0.0), ("<s>", 0.0), ("a", -1.0))),
    models.WordLevel(IDS, "<unk>"),
    models.WordPiece("<unk>", "", vocab=IDS),
    models.BPE(vocab=IDS, unk_token="<unk>", ignore_merges=True),
    models.BPE(vocab=IDS, unk_token="<unk>", merges=(("<", "s"), ("<s", ">"))),
]


@pytest.mark.parametrize("model", SPELLING_MODELS)
def test_text_parts_give_no_control_token_that_the_model_can_spell(model):
    special = [AddedToken(IDS[token], token, normalized=False, special=True) for token in ("<unk>", "<s>")]
    tokenizer = Tokenizer(model, added_tokens=tuple(special))
    assert 1 in tokenizer.encode("<s>", parse_special_tokens=False).ids or model == SPELLING_MODELS[1]
    for parts in (["<s>"], ["<", "s>"], ["a<s>a"], ["<s><s>"]):
        encoding = tokenizer.encode_parts(parts)
        assert 1 not in encoding.ids and encoding.offsets[-1][1] == len("".join(parts))
    assert tokenizer.encode_parts(["<s>", ControlToken("<s>"), "a<s>"]).ids.count(1) == 1
    assert tokenizer.encode_parts(["?"]).ids == (0,)


def test_a_control_token_that_is_none_is_refused():
    with pytest.raises(MissingTokenError, match="<none>"):
        TRAINED.encode_parts([ControlToken("<none>")])


# Words given, pairs, batches


@settings(max_examples=100, deadline=None)
@given(st.lists(WORDS.filter(bool), max_size=4), st.lists(WORDS.filter(bool), min_size=1, max_size=3))
def test_words_pass_through_every_stage_and_keep_their_numbers(words, pair):
    ORACLE.encode_special_tokens = False
    expected = ORACLE.encode(words, pair, is_pretokenized=True)
    found = TRAINED.encode(words, pair, is_pretokenized=True)
    assert (list(found.ids), list(found.offsets)) == (expected.ids, expected.offsets)
    assert (list(found.word_ids), list(found.type_ids)) == (expected.word_ids, expected.type_ids)


def test_a_batch_is_its_encodings():
    assert TRAINED.encode_batch(["a cat", ("the", "mat"), ""]) == [
        TRAINED.encode("a cat"),
        TRAINED.encode("the", "mat"),
        TRAINED.encode(""),
    ]
    words = [["a", "cat"], (["the"], ["mat", "sat"])]
    assert TRAINED.encode_batch(words, is_pretokenized=True)[1] == TRAINED.encode(
        ["the"], ["mat", "sat"], is_pretokenized=True
    )


# Edges


@pytest.mark.parametrize("text", ["", " ", "\n \t", "\0", "a\0b", "\u3000"])
def test_the_edges_encode_like_the_oracle(text):
    ORACLE.encode_special_tokens = False
    assert TRAINED.encode_ids(text) == ORACLE.encode(text).ids
    assert TRAINED.decode(TRAINED.encode_ids(text)) == text


@pytest.mark.parametrize("way", ["encode", "encode_ids", "explain"])
def test_a_lone_surrogate_is_refused_with_its_position(way):
    with pytest.raises(LoneSurrogateError) as caught:
        getattr(TRAINED, way)("ab\ud800c")
    assert caught.value.position == 2


@pytest.mark.parametrize("way", ["encode", "encode_ids"])
@pytest.mark.parametrize("pre_tokenizer", [None, pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()])
def test_an_unknown_character_is_named_with_its_place_in_the_original(way, pre_tokenizer):
    model = models.BPE(vocab={"a": 0, "b": 1, " ": 2, ".": 3})
    tokenizer = Tokenizer(model, normalizers.NFD(), pre_tokenizer, unknown_characters="error")
    with pytest.raises(UnknownCharacterError) as caught:
        getattr(tokenizer, way)("ab a.b aé")
    assert (caught.value.position, caught.value.character) == (8, "e")


@pytest.mark.parametrize("way", ["encode", "encode_ids"])
@pytest.mark.parametrize("pre_tokenizer", [None, pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()])
def test_what_a_bpe_without_unknown_token_leaves_out_is_said_and_shifts_nothing(way, pre_tokenizer):
    model = models.BPE(vocab={"a": 0, "b": 1, " ": 2, ".": 3, "ab": 4}, merges=(("a", "b"),))
    tokenizer = Tokenizer(model, pre_tokenizer=pre_tokenizer)
    with pytest.warns(UnknownCharacterWarning, match="'q'") as caught:
        got = getattr(tokenizer, way)("a.qb aqb")
    assert caught.list[0].message.first.position == 2
    blank = [] if isinstance(pre_tokenizer, pre_tokenizers.Whitespace) else [2]
    assert list(got if way == "encode_ids" else got.ids) == [0, 3, 1, *blank, 4]
    if way == "encode":
        assert got.offsets[:3] == ((0, 1), (1, 2), (3, 4)) and got.offsets[-1] == (5, 8)


@pytest.mark.parametrize("given", [None, 5, b"ab", ["a", "b"]])
@pytest.mark.parametrize("way", ["encode", "encode_ids"])
def test_what_is_no_text_is_refused_and_not_spelled_out(way, given):
    with pytest.raises(InvalidArgumentError, match="text: expected a str"):
        getattr(TRAINED, way)(given)


def test_words_are_several_texts():
    for words in ("ab", ["a", None]):
        with pytest.raises(InvalidArgumentError, match="text"):
            TRAINED.encode(words, is_pretokenized=True)


@pytest.mark.parametrize(
    "component",
    [normalizers.NFC(), normalizers.Lowercase(), normalizers.BertNormalizer(), normalizers.Prepend()],
)
def test_a_component_alone_refuses_half_a_pair_too(component):
    with pytest.raises(LoneSurrogateError) as caught:
        component("ab\ud800")
    assert caught.value.position == 2
    with pytest.raises(LoneSurrogateError):
        decoders.ByteLevel().decode(["ab\ud800"])


def test_a_unigram_without_unknown_id_refuses_what_it_does_not_know():
    with pytest.raises(UnknownCharacterError):
        Tokenizer(models.Unigram(vocab=(("a", -1.0),))).encode("ab")


@pytest.mark.parametrize(
    "added",
    [
        (AddedToken(0, "x"),),
        (AddedToken(5, "a"),),
        (AddedToken(5, "x"), AddedToken(5, "y")),
        (AddedToken(5, "x"), AddedToken(6, "x")),
    ],
)
def test_one_id_has_one_token(added):
    with pytest.raises(ComponentError, match="added_tokens"):
        Tokenizer(models.WordLevel({"a": 0}), added_tokens=added)


def test_an_added_token_may_be_in_the_vocabulary_and_leave_a_gap():
    tokenizer = Tokenizer(
        models.WordLevel({"a": 0, "b": 1}), added_tokens=(AddedToken(1, "b"), AddedToken(9, "x"))
    )
    assert (tokenizer.encode_ids("bx"), tokenizer.vocabulary) == ([1, 9], {"a": 0, "b": 1, "x": 9})


# What a tokenizer is


def test_a_tokenizer_is_its_data():
    copy = pickle.loads(pickle.dumps(TRAINED))
    assert copy == TRAINED and hash(copy) == hash(TRAINED) and copy.fingerprint() == TRAINED.fingerprint()
    assert copy.encode_ids(CORPUS) == TRAINED.encode_ids(CORPUS)
    other = replace(TRAINED, normalizer=normalizers.NFC())
    assert other != TRAINED and other.fingerprint() != TRAINED.fingerprint()


def test_a_fingerprint_does_not_depend_on_the_process():
    code = "from tests.pipeline.test_tokenizer import small; print(small().fingerprint())"
    code = (
        "from tokenlab import Tokenizer; from tokenlab.pipeline import models;"
        "print(Tokenizer(models.WordLevel({'b': 1, 'a': 0})).fingerprint())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert printed == {Tokenizer(models.WordLevel({"a": 0, "b": 1})).fingerprint() + "\n"}


def test_an_explanation_prints_each_stage():
    lines = str(TRAINED.explain("a cat<|im_end|>")).splitlines()
    assert lines[0] == "text: 'a cat<|im_end|>'"
    assert [line for line in lines if not line.startswith((" ", "text"))] == [
        "added tokens of the raw text:",
        "normalizer:",
        "added tokens of the normalised text:",
        "pre-tokenizer:",
        "model:",
        "post-processor:",
    ]
    assert "  '<|im_end|>' 5..15 ID 1" in lines


# Files


def test_a_file_is_told_by_its_content(tmp_path):
    TRAINED.save(tmp_path / "t.json")
    (tmp_path / "t.json").rename(tmp_path / "unnamed")
    assert Tokenizer.from_file(tmp_path / "unnamed") == TRAINED


def test_unknown_formats_are_refused(tmp_path):
    with pytest.raises(UnknownFormatError):
        Tokenizer.from_bytes(b"\x89PNG")
    with pytest.raises(UnknownFormatError):
        TRAINED.save(tmp_path / "t.png")
    assert not list(tmp_path.iterdir())


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "t.json"
    target.write_text("before")

    def refuse(*_):
        raise OSError("no space left")

    monkeypatch.setattr(module.os, "replace", refuse)
    with pytest.raises(OSError):
        TRAINED.save(target)
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"] and target.read_text() == "before"


# tiktoken


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.text("ab é", min_size=1, max_size=3).map(str.encode), max_size=12, unique=True),
    st.sampled_from([r"\w+|\W+", LLAMA3, CL100K, O200K]),
    st.lists(st.one_of(SPACED, st.text("ab é")), max_size=4).map("".join),
)
def test_a_tokenizer_from_tiktoken_gives_its_ids(tokens, pattern, text):
    ranks = {
        **BYTES,
        **{t: 256 + i for i, t in enumerate(sorted((t for t in tokens if len(t) > 1), key=len))},
    }
    special = {"<|e|>": 1000, "<|end|>": 1001}
    peer = tiktoken.Encoding("test", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    tokenizer = Tokenizer.from_tiktoken(ranks, pattern, special)
    assert tokenizer.encode_ids(text) == peer.encode(text, allowed_special="all")
    plain = tokenizer.encode_ids(text, parse_special_tokens=False)
    assert plain == peer.encode(text, disallowed_special=())
    assert tokenizer.decode(plain) == text


def test_a_long_token_takes_no_time_of_its_square():
    from time import process_time

    ranks = {**BYTES, b"aa": 256, b"a" * 3_000_000: 257}
    start = process_time()
    assert Tokenizer.from_tiktoken(ranks, r"\w+|\W+").encode_ids("aaa") == [256, 97]
    assert process_time() - start < 20  # trying each cut: an hour


def test_a_word_that_is_a_token_is_taken_whole():
    ranks = {**BYTES, b"yz": 256, b"xy": 257, b"xyzw": 258}
    assert Tokenizer.from_tiktoken(ranks, r"\w+|\W+").encode_ids("xyzw") == [258]
    with_special = Tokenizer.from_tiktoken(ranks, r"\w+|\W+", {"<|e|>": 300})
    assert with_special.encode_ids("x<|e|>") == [120, 300]
    assert with_special.encode_ids("x<|e|>", parse_special_tokens=False) == [120, *b"<|e|>"]


# Growth: no text is quadratic


@pytest.mark.parametrize("unit", ["a", "漢字仮名交じり文", "xqzjw", " ", "\n", "!"])
def test_a_long_text_without_a_space_costs_no_more_for_each_character(unit):
    from time import process_time

    def seconds(length):
        text = (unit * length)[:length]
        times = []
        for _ in range(3):
            fresh = replace(TRAINED)
            start = process_time()
            fresh.encode_ids(text)
            times.append(process_time() - start)
        return min(times)

    short, long = seconds(5_000), seconds(100_000)
    assert long / 100_000 <= 6 * short / 5_000


@settings(max_examples=20, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=10))
def test_new_words_learnt_all_at_once_encode_alike(texts):
    from tokenlab.pipeline import chunk_encoder

    text = " ".join(f"{word}{number}x" for word in texts for number in range(40))
    plain = replace(TRAINED)
    object.__setattr__(plain, "_chunks", None)
    at_once = replace(TRAINED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk_encoder, "_WORTH_IT", 1)
        assert at_once.encode(text) == plain.encode(text)
        assert at_once.encode_ids(text) == list(plain.encode(text).ids)


def test_what_cannot_be_meant_is_refused_by_name():
    tokenizer = Tokenizer(models.WordLevel({"a": 0}), pre_tokenizer=pre_tokenizers.Whitespace())
    with pytest.raises(ComponentError, match="control_ids: expected IDs of added tokens, found 5"):
        replace(tokenizer, control_ids=(5,))
    with pytest.raises(SingleDocumentError):
        tokenizer.encode_batch("a b")
    with pytest.raises(InvalidArgumentError, match="a sequence of words, found None"):
        tokenizer.encode(None, is_pretokenized=True)


def test_errors_and_warnings_can_be_pickled():
    first = UnknownCharacterError(position=1, character="x", piece="x", missing="unk_token")
    for each in (TokenLabError(), first, UnknownCharacterWarning(first, 2), DoubledBosWarning(1)):
        twin = pickle.loads(pickle.dumps(each))
        assert (type(twin), str(twin)) == (type(each), str(each))
