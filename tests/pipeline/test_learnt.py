"""What chapters 1 to 5 make runs in the oracle's engine, and gives the same IDs there."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from real_tokenizers import documents
from tokenizers import Tokenizer as OracleTokenizer

from tokenlab import BpeTokenizer, BpeTrainer, ClosedVocabulary, Tokenizer, Unigram, UnigramTrainer
from tokenlab.errors import ComponentError, InvalidArgumentError
from tokenlab.formats import huggingface
from tokenlab.pipeline.learnt import to_pipeline

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def oracle_of(tokenizer):
    return OracleTokenizer.from_str(huggingface.write(tokenizer).decode())


@pytest.fixture(scope="module")
def bpe():
    """Trained on whole texts; words may repeat bytes, so a prefix that does not is taken."""
    training = BpeTrainer(400).train([text[:3000] for text in documents()[:12]])
    spellings = [rule.token_bytes for rule in training.merges]
    distinct = next((i for i, made in enumerate(spellings) if made in spellings[:i]), len(spellings))
    return BpeTokenizer.from_merge_pairs([rule.pair for rule in training.merges[:distinct]])


@pytest.fixture(scope="module")
def bpe_pipeline(bpe):
    return to_pipeline(bpe), oracle_of(to_pipeline(bpe))


@settings(max_examples=60, deadline=None)
@given(text=st.one_of(TEXT, st.sampled_from(documents()).map(lambda text: text[500:900])))
def test_bpe_documents_and_contents_keep_their_ids(bpe, bpe_pipeline, text):
    assume("<BOS>" not in text and "<EOS>" not in text)
    pipeline, oracle = bpe_pipeline
    document, content = bpe.encode_utf8_document(text), bpe.encode_utf8(text)
    assert pipeline.encode_ids(text) == oracle.encode(text).ids == document
    assert pipeline.encode_ids(text, add_special_tokens=False) == content
    assert oracle.encode(text, add_special_tokens=False).ids == content
    assert pipeline.decode(document) == oracle.decode(document) == text


def test_two_merges_that_make_the_same_bytes_have_no_tokenizer_json():
    twice = BpeTokenizer.from_merge_pairs([(97, 98), (98, 99), (256, 99), (97, 257)])
    with pytest.raises(ComponentError, match="merge_rules"):
        to_pipeline(twice)


@pytest.fixture(scope="module")
def unigram():
    model = UnigramTrainer(300).train([text[:2000] for text in documents()[:8]]).model
    return model, to_pipeline(model), oracle_of(to_pipeline(model))


@settings(max_examples=60, deadline=None)
@given(text=st.one_of(TEXT, st.sampled_from(documents()).map(lambda text: text[500:900])))
def test_unigram_pieces_keep_their_order_as_ids(unigram, text):
    assume("<unk>" not in text)
    model, pipeline, oracle = unigram
    ids = {piece: token_id for token_id, piece in enumerate(model.log_probabilities, 1)}
    expected = [ids.get(piece, 0) for piece in model.segment(text)]
    assert pipeline.encode_ids(text) == oracle.encode(text).ids == expected
    assert pipeline.decode(expected) == oracle.decode(expected)


def test_unigram_with_its_own_price_and_bytes_keeps_them():
    scores = {"a": -1.0, "b": -2.0, **{f"<0x{byte:02X}>": -30.0 for byte in "é".encode()}}
    model = Unigram(scores, unknown_log_probability=-50.0, byte_fallback=True)
    pipeline = to_pipeline(model)
    assert (
        pipeline.encode("aéb").tokens
        == tuple(model.segment("aéb"))
        == tuple(oracle_of(pipeline).encode("aéb").tokens)
    )
    assert pipeline.decode(pipeline.encode_ids("aéb")) == "aéb"


@pytest.mark.parametrize(
    "model",
    [Unigram({"a": -1.0}, unknown_log_probability=-2.0), Unigram.from_costs({"a": 1.0})],
    ids=["cheaper", "not fused"],
)
def test_unknown_text_that_the_file_cannot_price_is_refused(model):
    with pytest.raises(ComponentError, match="unknown"):
        to_pipeline(model)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text("ab<UNK>\x1c", min_size=1, max_size=5), max_size=5),
    st.one_of(TEXT, st.text("ab \x1c\x85\u3000\u2028", max_size=12)),
)
def test_closed_words_keep_their_ids(words, text):
    vocabulary = ClosedVocabulary.fit([" ".join(words), "<UNK> a"])
    pipeline = to_pipeline(vocabulary)
    assert pipeline.encode_ids(text) == oracle_of(pipeline).encode(text).ids == vocabulary.encode(text)
    known = [token_id for token_id in vocabulary.encode(text) if token_id]
    assert pipeline.decode(known) == vocabulary.decode(known)


def test_anything_else_is_refused():
    with pytest.raises(InvalidArgumentError):
        to_pipeline("a tokenizer")


def test_a_saved_vocabulary_comes_back(tmp_path, bpe_pipeline):
    pipeline, _ = bpe_pipeline
    pipeline.save(tmp_path / "mine.json")
    assert Tokenizer.from_file(tmp_path / "mine.json") == pipeline
    assert json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))["model"]["type"] == "BPE"
