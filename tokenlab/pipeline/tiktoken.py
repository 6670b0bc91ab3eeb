"""A tokenizer from tiktoken's three parts: ranks, pattern, special tokens (chapter 6)."""

from __future__ import annotations

from collections.abc import Mapping

from tokenlab.pipeline import decoders, models, pre_tokenizers
from tokenlab.pipeline.added_tokens import control_tokens
from tokenlab.pipeline.byte_alphabet import to_byte_alphabet
from tokenlab.pipeline.dialect import from_rust
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.tokenizer import Tokenizer


def from_tiktoken(ranks: Mapping[bytes, int], pattern: str, special_tokens: Mapping[str, int]) -> Tokenizer:
    """Return the tokenizer that tiktoken builds from the same three things; see `Tokenizer.from_tiktoken`.

    tiktoken joins any two tokens whose joined bytes have a rank, lowest rank first. So a token's merges are
    all the ways to cut it into two tokens; a word that is a token is taken whole.
    """
    names = {token: to_byte_alphabet(token) for token in ranks}
    known = ranks.keys() - {b""}
    lengths = sorted(set(map(len, known)))
    merges = [
        (names[left], names[right])
        for token in sorted(ranks, key=ranks.__getitem__)
        for left, right in models.halves(token, known, lengths)
    ]
    vocab = {names[token]: rank for token, rank in ranks.items()}
    split = pre_tokenizers.Split(Pattern(from_rust(pattern), regex=True), "Isolated")
    write_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return Tokenizer(
        models.BPE(ignore_merges=True, vocab=vocab, merges=merges),
        pre_tokenizer=pre_tokenizers.Sequence((split, write_bytes)),
        decoder=decoders.ByteLevel(),
        unknown_characters="error",
        added_tokens=control_tokens(special_tokens),
    )
