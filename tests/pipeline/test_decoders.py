"""Decoders against the oracle, component by component; decoding IDs; streams against decoding at once."""

from itertools import pairwise

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from strategies import CONTENT, FLAG, PATTERN, document, oracle, ours
from tokenizers import Tokenizer as OracleTokenizer
from tokenizers import pre_tokenizers as oracle_pre_tokenizers

from tokenlab import Tokenizer
from tokenlab.errors import InvalidArgumentError, InvalidTokenIdError, UnknownTokenIdError
from tokenlab.formats.huggingface import TABLE
from tokenlab.pipeline import decoders
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.byte_alphabet import BYTE_ALPHABET, from_byte_alphabet, to_byte_alphabet

TOKENS = st.one_of(
    st.sampled_from(
        ["<0xE2>", "<0x82>", "<0xAC>", "<0xc3>", "<0x41>", "<0xF0>", "<0xGG>", "<0xE2>x", "<unk>"]
    ),
    st.sampled_from(
        ["##ing", "un##", "a</w>", "</w>", "▁the", "▁▁", "▁", " a ", "  ", "'m", " do not", "n't"]
    ),
    st.sampled_from(["Ġ", "âĤ", "¬", "Ã", "©", "ð", "Ł", "字", "é", "\ufffd", "", ".", "ſ"]),
    st.text("ab▁ Ġ_é<0xE2>字\n", max_size=5),
)


def _spec(tag, **fields):
    return st.fixed_dictionaries({"type": st.just(tag), **fields})


STRIP = _spec("Strip", content=st.sampled_from(" ▁a"), start=st.integers(0, 3), stop=st.integers(0, 3))
SIMPLE = st.one_of(
    _spec("ByteLevel", add_prefix_space=FLAG, trim_offsets=FLAG, use_regex=FLAG),
    *map(_spec, ("ByteFallback", "Fuse")),
    _spec(
        "Metaspace",
        replacement=st.sampled_from("▁_a"),
        prepend_scheme=st.sampled_from(["first", "always", "never"]),
        split=FLAG,
    ),
    _spec("WordPiece", prefix=st.sampled_from(["##", "", "▁"]), cleanup=FLAG),
    _spec("BPEDecoder", suffix=st.sampled_from(["</w>", "", "a"])),
    _spec("Replace", pattern=PATTERN, content=CONTENT),
    STRIP,
)
DECODER = st.one_of(SIMPLE, _spec("Sequence", decoders=st.lists(SIMPLE, max_size=4)))


@settings(max_examples=400, deadline=None)
@given(DECODER, st.lists(TOKENS, max_size=8))
def test_agrees_with_the_oracle(spec, tokens):
    try:
        expected = oracle("decoder", spec).decode(tokens)
    except BaseException as panic:
        # Its Strip panics at a token that is shorter than what it takes.
        assert type(panic).__name__ == "PanicException" and "Strip" in str(spec)
        return
    assert ours("decoder", spec).decode(tokens) == expected


def test_every_kind_is_tested_here():
    tested = {"ByteLevel", "ByteFallback", "Fuse", "Metaspace", "WordPiece", "BPEDecoder", "Replace", "Strip"}
    assert set(TABLE["decoder"]) == tested | {"Sequence"}


def test_strip_takes_no_character_twice():
    assert decoders.Strip(" ", 1, 1).decode([" "]) == ""
    assert decoders.Strip(" ", 1, 1).decode(["   "]) == " "


@given(st.binary())
def test_the_byte_alphabet_is_a_bijection(data):
    spelled = to_byte_alphabet(data)
    assert len(spelled) == len(data)
    assert from_byte_alphabet(spelled) == data


def test_the_byte_alphabet_is_the_published_one():
    alphabet = set(BYTE_ALPHABET)
    assert alphabet == set(oracle_pre_tokenizers.ByteLevel.alphabet())
    assert len(alphabet) == 256
    assert sum(ord(character) < 256 for character in alphabet) == 188
    others = [byte for byte in range(256) if ord(BYTE_ALPHABET[byte]) != byte]
    assert [ord(BYTE_ALPHABET[byte]) for byte in others] == list(range(256, 256 + 68))


VOCABULARY = [
    *BYTE_ALPHABET,
    "Ġa",
    "âĤ¬",
    "ðŁ",
    "ĲĮ",
    *(f"<0x{byte:02X}>" for byte in range(256)),
    "▁a",
    "▁",
    "##b",
]
ADDED = [("<s>", True), ("<n>", False), ("<｜x▁y｜>", True), ("日", False)]


def _file(decoder):
    model = {"type": "WordLevel", "vocab": {token: i for i, token in enumerate(VOCABULARY)}, "unk_token": "▁"}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": len(VOCABULARY) + i, "content": content, **flags, "special": special}
        for i, (content, special) in enumerate(ADDED)
    ]
    return document(model=model, added_tokens=added, decoder=decoder)


ids = st.lists(
    st.one_of(
        st.integers(0, len(VOCABULARY) + len(ADDED) - 1),
        st.sampled_from(
            [VOCABULARY.index(token) for token in ("â", "Ĥ", "¬", "<0xE2>", "<0x82>", "<0xAC>", "▁a")]
        ),
    ),
    max_size=12,
)
REAL_DECODERS = st.sampled_from(
    [
        None,
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        {"type": "BPEDecoder", "suffix": "a"},
        {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
    ]
)


@settings(max_examples=200, deadline=None)
@given(REAL_DECODERS, ids, FLAG)
def test_decoding_ids_agrees_with_the_oracle(decoder, token_ids, skip):
    file = _file(decoder)
    text = Tokenizer.from_bytes(file).decode(token_ids, skip_special_tokens=skip)
    assert text == OracleTokenizer.from_str(file.decode()).decode(token_ids, skip_special_tokens=skip)


def _bytes_prove_bad_late(tokens):
    """Whether bytes may follow a whole character's: there decoding at once changes what was given."""
    return any(a.startswith("<0x") and b.startswith("<0x") for a, b in pairwise(tokens))


@settings(max_examples=300, deadline=None)
@given(REAL_DECODERS, ids, FLAG)
def test_a_stream_gives_what_decoding_at_once_gives(decoder, token_ids, skip):
    tokenizer = Tokenizer.from_bytes(_file(decoder))
    stream = tokenizer.decode_stream(skip_special_tokens=skip)
    chunks = [stream.push(token_id) for token_id in token_ids]
    assert all(chunk is None or chunk for chunk in chunks)
    text = "".join(filter(None, chunks)) + stream.flush()
    by_bytes = decoder is not None and decoder["type"] == "Sequence"
    tokens = [VOCABULARY[i] for i in token_ids if i < len(VOCABULARY)]
    if by_bytes and _bytes_prove_bad_late(tokens):
        reject()
    assert text == tokenizer.decode(token_ids, skip_special_tokens=skip)
    assert stream.flush() == ""


def test_a_stream_of_bytes_gives_each_character_when_it_is_whole():
    tokenizer = Tokenizer.from_bytes(_file({"type": "ByteFallback"}))
    stream = tokenizer.decode_stream()
    pushed = [stream.push(tokenizer.vocabulary[f"<0x{byte:02X}>"]) for byte in "é🐌€".encode()]
    assert pushed == [None, "é", None, None, None, "🐌", None, None, "€"]


def test_a_stream_goes_on_after_bytes_that_are_no_character():
    tokenizer = Tokenizer.from_bytes(_file({"type": "ByteFallback"}))
    stream = tokenizer.decode_stream()
    spelled = ["<0xC3>", "<0xA9>", "<0xE2>", "a", "<0xE2>", "<0x82>", "<0xAC>"]
    chunks = [stream.push(tokenizer.vocabulary[token]) for token in spelled]
    assert chunks == [None, "é", None, "\ufffda", None, None, "€"]


@pytest.mark.parametrize(
    "decoder",
    [
        {"type": "ByteFallback"},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
    ],
)
def test_a_stream_of_nothing_but_bad_bytes_stays_small(decoder):
    tokenizer = Tokenizer.from_bytes(_file(decoder))
    stream = tokenizer.decode_stream()
    token = tokenizer.vocabulary["<0xE2>" if decoder["type"] == "ByteFallback" else "â"]
    given_out = sum(len(stream.push(token) or "") for _ in range(5000)) + len(stream.flush())
    assert given_out == 5000
    assert len(stream._context) + len(stream._fresh) <= 64


@pytest.mark.parametrize("token_id", [len(VOCABULARY) + len(ADDED), -1, 10**9])
def test_an_id_that_no_token_has_is_refused_by_its_place(token_id):
    tokenizer = Tokenizer.from_bytes(_file(None))
    with pytest.raises(UnknownTokenIdError) as caught:
        tokenizer.decode([0, token_id])
    assert (caught.value.position, caught.value.token_id) == (1, token_id)
    assert tokenizer.decode([0, token_id, 0], unknown_ids="skip") == tokenizer.decode([0, 0])
    stream = tokenizer.decode_stream()
    stream.push(0)
    with pytest.raises(UnknownTokenIdError) as caught:
        stream.push(token_id)
    assert caught.value.position == 1


def test_added_tokens_come_back_as_written_where_their_letters_are_of_the_byte_alphabet():
    source = decoders.IdDecoder({0: "Ġa"}, {1: AddedToken(1, "café Ġ")}, decoders.ByteLevel())
    assert source.decode([0, 1, 0]) == " acafé Ġ a"


def test_added_tokens_are_asked_before_the_models_vocabulary():
    source = decoders.IdDecoder({0: "model"}, {0: AddedToken(0, "added", special=True)}, None)
    assert source.decode([0], skip_special_tokens=False) == "added"
    assert source.decode([0]) == ""


@pytest.mark.parametrize("ids", [5, {0, 1}, [[0]], [True], [0.0], "01"])
def test_what_is_no_sequence_of_ids_is_refused(ids):
    with pytest.raises((InvalidArgumentError, InvalidTokenIdError)):
        decoders.IdDecoder({0: "a", 1: "b"}, {}, None).decode(ids)


def test_a_flushed_stream_counts_anew():
    stream = decoders.DecodeStream(decoders.IdDecoder({0: "a"}, {}, None))
    stream.push(0)
    stream.flush()
    with pytest.raises(UnknownTokenIdError, match="position 0"):
        stream.push(1)
