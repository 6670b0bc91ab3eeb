"""Post-processors against the oracle: every kind, with and without pair, truncation and special tokens."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_encoding import assert_same, encode, lengths, oracle, text_of
from tokenizers import Tokenizer as OracleTokenizer
from tokenizers import models as oracle_models
from tokenizers import pre_tokenizers as oracle_pre_tokenizers
from tokenizers import processors as oracle_processors

from tokenlab.errors import ComponentError, TruncationError
from tokenlab.formats.huggingface import TABLE, write_component
from tokenlab.pipeline.byte_alphabet import BYTE_ALPHABET
from tokenlab.pipeline.encoding import Encoding, Truncation
from tokenlab.pipeline.post_processors import (
    BertProcessing,
    ByteLevel,
    RobertaProcessing,
    Sequence,
    SpecialToken,
    TemplatePiece,
    TemplateProcessing,
    parse_template,
    post_process,
    trim_offsets,
)

special = st.tuples(st.sampled_from(["[CLS]", "[SEP]", "<s>"]), st.integers(90, 99))
flags = st.booleans()
types = st.integers(0, 3)
names = st.sampled_from(["[CLS]", "[SEP]", "many"])
SPECIAL_TOKENS = {"[CLS]": 97, "[SEP]": 98, "many": SpecialToken("many", (95, 96), ("m", "n"))}


@st.composite
def templates(draw):
    def around(sequences):
        pieces = []
        for sequence in [*sequences, None]:
            pieces += [
                TemplatePiece("SpecialToken", draw(names), draw(types))
                for _ in range(draw(st.integers(0, 2)))
            ]
            if sequence is not None:
                pieces.append(TemplatePiece("Sequence", sequence, draw(types)))
        return tuple(pieces)

    return TemplateProcessing(around("A"), around(draw(st.sampled_from(["AB", "BA"]))), SPECIAL_TOKENS)


simple = st.one_of(
    st.builds(ByteLevel, flags, flags, flags),
    st.builds(BertProcessing, special, special),
    st.builds(RobertaProcessing, special, special, flags, flags),
    templates(),
)
# A template fills places for texts, so no other one may come before it.
components = st.one_of(
    simple,
    st.lists(st.builds(ByteLevel, flags, flags, flags), max_size=2).flatmap(
        lambda trims: simple.map(lambda last: Sequence((*trims, last)))
    ),
)


def oracle_with(component):
    """The oracle's tokenizer with that component, through tokenizer.json."""
    document = json.loads(oracle().to_str())
    document["post_processor"] = write_component("post_processor", component)
    return OracleTokenizer.from_str(json.dumps(document))


@settings(max_examples=300, deadline=None)
@given(components, lengths, st.none() | lengths, st.none() | st.integers(0, 9), flags)
def test_agrees_with_the_oracle(component, first, second, max_length, add_special_tokens):
    tokenizer = oracle_with(component)
    is_pair = second is not None
    assert component.added_tokens(is_pair) == tokenizer.num_special_tokens_to_add(is_pair)
    truncation = None
    if max_length is not None:
        truncation = Truncation(max_length=max_length)
        tokenizer.enable_truncation(max_length)
    try:
        ours = post_process(
            encode(text_of(first)),
            encode(text_of(second, 5), 1) if is_pair else None,
            post_processor=component,
            truncation=truncation,
            add_special_tokens=add_special_tokens,
        )
    except TruncationError:
        assert max_length < component.added_tokens(is_pair)
        return
    theirs = tokenizer.encode(
        text_of(first), text_of(second, 5) if is_pair else None, add_special_tokens=add_special_tokens
    )
    assert_same(ours, theirs)
    assert list(ours.sequence_ids) == list(theirs.sequence_ids)


whole_parts = st.one_of(
    st.builds(BertProcessing, special, special), st.builds(RobertaProcessing, special, special, flags, flags)
)


@settings(max_examples=100, deadline=None)
@given(whole_parts, simple, lengths, st.none() | lengths, st.none() | st.integers(8, 12))
def test_tokens_put_in_twice_are_the_oracles(first, second, length, pair_length, max_length):
    tokenizer = oracle_with(Sequence((first, second)))
    texts = [text_of(length), *([] if pair_length is None else [text_of(pair_length, 5)])]
    truncation = None
    if max_length is not None:
        assume(max_length >= Sequence((first, second)).added_tokens(len(texts) > 1))  # less is an error
        truncation = Truncation(max_length=max_length)
        tokenizer.enable_truncation(max_length)
    ours = post_process(
        *[encode(text, number) for number, text in enumerate(texts)],
        *([None] if len(texts) < 2 else []),
        post_processor=Sequence((first, second)),
        truncation=truncation,
        add_special_tokens=True,
    )
    theirs = tokenizer.encode(*texts)
    assert len(ours.overflowing) == len(theirs.overflowing)
    for mine, expected in zip((ours, *ours.overflowing), (theirs, *theirs.overflowing), strict=True):
        # Not the mask: the oracle forgets there what the first of the two has put in.
        for column in ("ids", "tokens", "offsets", "type_ids", "word_ids"):
            assert list(getattr(mine, column)) == list(getattr(expected, column)), column
        assert [i for i, mark in zip(mine.ids, mine.special_tokens_mask, strict=True) if not mark] == [
            i for i, part in zip(mine.ids, mine.sequence_ids, strict=True) if part is not None
        ]


@settings(max_examples=200, deadline=None)
@given(st.text(" \u3000\xa0ab", max_size=8), flags, flags)
def test_trimmed_offsets_agree_with_the_oracle(text, add_prefix_space, roberta):
    kind = oracle_processors.RobertaProcessing(("s", 1), ("c", 2), True, add_prefix_space)
    plain = oracle_processors.ByteLevel(trim_offsets=True, add_prefix_space=add_prefix_space)
    tokenizer = OracleTokenizer(oracle_models.BPE(vocab=BYTES, merges=MERGES))
    tokenizer.pre_tokenizer = oracle_pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    raw = tokenizer.encode(text)
    tokenizer.post_processor = kind if roberta else plain
    theirs = tokenizer.encode(text, add_special_tokens=False)
    ours = trim_offsets(
        Encoding.from_tokens(raw.ids, raw.tokens, raw.offsets, raw.word_ids), add_prefix_space
    )
    assert list(ours.offsets) == theirs.offsets


BYTES = {character: byte for byte, character in enumerate(BYTE_ALPHABET)} | {"ĠĠ": 256, "Ġa": 257, "ĠĠĠ": 258}
MERGES = [("Ġ", "Ġ"), ("Ġ", "a"), ("ĠĠ", "Ġ")]


def test_the_short_form_of_a_template_says_the_same_as_the_oracles():
    for short in ("[CLS] $A [SEP]", "$A $B:1", "$0 $1", "$ $B:2 [SEP]:7", "$a:3", "$:1 $b", "a$b $A"):
        theirs = oracle_processors.TemplateProcessing(
            pair=f"{short} $A $B", special_tokens=[(name, 1) for name in ("[CLS]", "[SEP]", "a$b")]
        )
        pieces = json.loads(theirs.__getstate__())["pair"][: short.count(" ") + 1]
        ours = [{piece.kind: {"id": piece.id, "type_id": piece.type_id}} for piece in parse_template(short)]
        assert ours == pieces


@pytest.mark.parametrize("short", ["$C", "$A:", "$A:x", "$A1", "a:b:1", "[CLS] $Z:1"])
def test_a_wrong_place_in_a_template_is_refused(short):
    with pytest.raises(ComponentError):
        parse_template(short)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"single": "<zz> $A"}, "single"),
        ({"single": "$A $B"}, "single"),
        ({"pair": "$A <zz> $B"}, "pair"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(fields, field):
    with pytest.raises(ComponentError) as caught:
        TemplateProcessing(**fields)
    assert caught.value.field == field


def test_a_special_token_has_as_many_ids_as_strings():
    with pytest.raises(ComponentError):
        SpecialToken("x", (1, 2), ("x",))


def test_a_template_does_not_guess_what_the_parts_of_another_one_are():
    twice = Sequence(
        (TemplateProcessing("$A [SEP] [SEP]", special_tokens=SPECIAL_TOKENS), TemplateProcessing())
    )
    with pytest.raises(ComponentError):
        twice.process(encode("a"))


def test_every_kind_is_tested_here():
    tested = {ByteLevel, BertProcessing, RobertaProcessing, TemplateProcessing, Sequence}
    assert {row.component for row in TABLE["post_processor"].values()} == tested
