"""Pieces and IDs equal those of sentencepiece and tokenizers, for models that each trained on real text."""

import json
import sysconfig
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from tokenlab import Unigram, load_corpus

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@cache
def source_text():
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    return "".join(path.read_text(encoding="utf-8") for path in files[:60])


@cache
def lines():
    """More code than either model was trained on, and text with many unknown characters."""
    foreign = [
        line for document in load_corpus("multilingual").documents for line in document.text.splitlines()
    ]
    code = source_text()[:250_000].splitlines()
    return [line for line in code + foreign if line.strip()]


def ids_of(pieces, ids, unknown_id):
    return [ids.get(piece, unknown_id) for piece in pieces]


def single_precision_path(model, text):
    """The best path of a text without unknown characters, by the same rules but for the sums' precision."""
    best = [(np.float32(0), 0)]
    for end in range(1, len(text) + 1):
        starts = [
            start for start in range(max(0, end - 20), end) if text[start:end] in model.log_probabilities
        ]
        sums = [best[start][0] + np.float32(model.log_probabilities[text[start:end]]) for start in starts]
        best.append(max(zip(sums, starts, strict=True), key=lambda way: way[0]))
    ends = [len(text)]
    while ends[-1]:
        ends.append(best[ends[-1]][1])
    return [text[start:end] for start, end in pairwise(reversed(ends))]


@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("size", [700, 2000])
def test_sentencepiece(size, byte_fallback):
    """Equal, but for ties: SentencePiece sums in single precision, which decides a few of them otherwise."""
    written = BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(source_text()[:150_000].splitlines()),
        model_writer=written,
        model_type="unigram",
        vocab_size=size,
        byte_fallback=byte_fallback,
        character_coverage=1.0,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        num_threads=1,
        minloglevel=2,
    )
    peer = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    ids = {peer.id_to_piece(n): n for n in range(peer.get_piece_size()) if not peer.is_control(n)}
    del ids["<unk>"]  # no text spells it, as SentencePiece has it
    model = Unigram({piece: peer.get_score(n) for piece, n in ids.items()}, byte_fallback=byte_fallback)
    for line in lines():
        text = "▁" + line.replace(" ", "▁")
        pieces, theirs = model.segment(text), peer.encode(line)
        if ids_of(pieces, ids, peer.unk_id()) == theirs:
            assert byte_fallback or pieces == peer.encode(line, out_type=str)
        else:
            assert ids_of(single_precision_path(model, text), ids, peer.unk_id()) == theirs


@cache
def trained_by_tokenizers():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=2000, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(source_text()[:150_000].splitlines(), trainer)
    return json.loads(tokenizer.to_str())["model"]


@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("by_words", [False, True])
def test_tokenizers(by_words, byte_fallback):
    stored = trained_by_tokenizers()
    vocabulary = [*map(tuple, stored["vocab"]), *((name, 0.0) for name in BYTES * byte_fallback)]
    peer = Tokenizer(models.Unigram(vocabulary, stored["unk_id"], byte_fallback))
    if by_words:
        peer.pre_tokenizer = pre_tokenizers.Metaspace()
    ids = {piece: n for n, (piece, _) in enumerate(vocabulary)}
    model = Unigram(vocabulary, byte_fallback=byte_fallback)
    for line in lines():
        words = peer.pre_tokenizer.pre_tokenize_str(line) if by_words else [(line.replace(" ", "▁"), None)]
        pieces = [piece for word, _ in words for piece in model.segment(word)]
        encoding = peer.encode(line if by_words else words[0][0])
        assert ids_of(pieces, ids, stored["unk_id"]) == encoding.ids
        assert pieces == encoding.tokens
