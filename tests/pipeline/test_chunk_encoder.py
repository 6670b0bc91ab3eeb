"""The fast way by chunks equals the plain way, piece by piece: also where many chunks are learnt at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenlab.pipeline import chunk_encoder, models, normalizers
from tokenlab.pipeline import pre_tokenizers as pre
from tokenlab.pipeline.byte_alphabet import to_byte_alphabet
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.tokenizer import Tokenizer

LINES = r" ?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
BYTES = {to_byte_alphabet(bytes([byte])): byte for byte in range(256)}
BPE = models.BPE(
    vocab={**BYTES, "ab": 256, "Ġa": 257, "Ġab": 258, "Ã©": 259},
    merges=(("a", "b"), ("Ġ", "ab"), ("Ġ", "a"), ("Ã", "©")),
)
SCORES = (("<unk>", 0.0), ("▁", -2.0), ("a", -3.0), ("b", -3.1), ("ab", -3.5), ("▁a", -3.0))
UNIGRAM = models.Unigram(0, SCORES)
PIECES = models.WordPiece(vocab={"[UNK]": 0, "a": 1, "##b": 2, "ab": 3, ".": 4, "é": 5})
SPLIT = pre.Split(Pattern(LINES, regex=True), "Isolated")
REWRITE = pre.ByteLevel(add_prefix_space=False, use_regex=False)


def tokenizer(*pre_tokenizers: pre.PreTokenizer, model: models.Model = BPE) -> Tokenizer:
    return Tokenizer(
        model, pre_tokenizer=pre.Sequence(pre_tokenizers) if pre_tokenizers[1:] else pre_tokenizers[0]
    )


TOKENIZERS = {
    "lines": tokenizer(SPLIT, REWRITE),
    "GPT-2": tokenizer(pre.ByteLevel(add_prefix_space=False)),
    "decomposed": replace(tokenizer(SPLIT, REWRITE), normalizer=normalizers.NFKD()),
    "words": tokenizer(pre.WhitespaceSplit(), REWRITE),
    "words, decomposed": replace(tokenizer(pre.WhitespaceSplit(), REWRITE), normalizer=normalizers.NFKD()),
    "words of lines": tokenizer(SPLIT, pre.WhitespaceSplit(), REWRITE),
    "a gap at the end": tokenizer(pre.WhitespaceSplit(), pre.Punctuation("Removed"), REWRITE),
    "WordPiece": tokenizer(pre.BertPreTokenizer(), model=PIECES),
    "Metaspace": tokenizer(pre.Metaspace(), model=UNIGRAM),
    "Metaspace, decomposed": replace(tokenizer(pre.Metaspace(), model=UNIGRAM), normalizer=normalizers.NFD()),
    "Metaspace of words": tokenizer(pre.WhitespaceSplit(), pre.Metaspace(), model=UNIGRAM),
}
PARTS = ["a", "b", "ab", " ab", "12345", ".", "'s", "x/", "/", " ", "  ", "\t", "\n", "\r\n\n", " \n"]
TEXTS = st.lists(
    st.sampled_from([*PARTS, "é", "e\u0301", "ﬁ", "日本", "🙂", "▁", "\u3000", "\x85"]), max_size=40
)


@pytest.mark.parametrize("name", TOKENIZERS)
@given(texts=st.lists(TEXTS.map("".join), min_size=1, max_size=3), block=st.sampled_from([3, 1 << 19]))
@settings(max_examples=60, deadline=None)
def test_by_chunks_is_as_piece_by_piece(name, texts, block):
    plain = replace(TOKENIZERS[name])
    object.__setattr__(plain, "_chunks", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk_encoder, "_WORTH_IT", 1)
        patch.setattr(chunk_encoder, "_BLOCK", block)
        by_chunks = replace(TOKENIZERS[name])
        for text in texts:
            expected = plain.encode(text)
            assert by_chunks.encode(text) == expected
            assert by_chunks.encode_ids(text) == list(expected.ids)
