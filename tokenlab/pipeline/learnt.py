"""Take it with you: what chapters 1 to 5 make, as a tokenizer of the pipeline (chapter 6).

The result gives the same IDs as its source, and `save` writes it as tokenizer.json, so that a vocabulary
learnt here runs in every program that reads that file.
"""

from __future__ import annotations

from functools import singledispatch

from tokenlab.bpe.layout import BOS_TOKEN_ID, EOS_TOKEN_ID
from tokenlab.bpe.tokenizer import BpeTokenizer
from tokenlab.checks import contradiction, unexpected
from tokenlab.pipeline import decoders, models, post_processors, pre_tokenizers
from tokenlab.pipeline.added_tokens import control_tokens
from tokenlab.pipeline.byte_alphabet import to_byte_alphabet
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.tokenizer import Tokenizer
from tokenlab.unigram.viterbi import UNKNOWN_PENALTY, Unigram
from tokenlab.words import UNKNOWN_WORD, UNKNOWN_WORD_ID, ClosedVocabulary

BOS, EOS, UNKNOWN = "<BOS>", "<EOS>", "<unk>"


@singledispatch
def to_pipeline(tokenizer: object) -> Tokenizer:
    """Return a tokenizer of the pipeline that gives the same IDs.

    Args:
        tokenizer: a BpeTokenizer (its documents are what the pipeline encodes with special tokens, its
            content without them), a Unigram (its pieces get the IDs 1, 2, ... in their order; 0 is unknown),
            or a ClosedVocabulary.

    Raises:
        ComponentError: what tokenizer.json cannot say: two merges that make the same bytes; unknown
            characters that are not fused, or cheaper than ten below the lowest score.
        InvalidArgumentError: any other object.

    >>> learnt = BpeTokenizer.from_merge_pairs([(32, 208), (208, 176)])
    >>> pipeline = to_pipeline(learnt)
    >>> pipeline.encode_ids(" а") == learnt.encode_utf8_document(" а"), pipeline.decode([0, 258, 178, 1])
    (True, ' а')
    """
    raise unexpected("tokenizer", "a BpeTokenizer, a Unigram or a ClosedVocabulary", tokenizer)


@to_pipeline.register
def _(tokenizer: BpeTokenizer) -> Tokenizer:
    layout = tokenizer.layout
    names = {
        token_id: to_byte_alphabet(tokenizer.token_bytes(token_id))
        for token_id in range(layout.vocabulary_size)
        if token_id not in (BOS_TOKEN_ID, EOS_TOKEN_ID)
    }
    controls = {BOS: BOS_TOKEN_ID, EOS: EOS_TOKEN_ID}
    vocabulary = dict(controls)
    for token_id, name in names.items():
        first = vocabulary.setdefault(name, token_id)
        if first != token_id:
            expected = "rules that make different bytes, as tokenizer.json knows tokens by their text"
            found = f"{tokenizer.token_bytes(token_id)!r} with the IDs {first} and {token_id}"
            raise contradiction(tokenizer, "merge_rules", expected, found)
    pairs = (rule.content_pair for rule in tokenizer.merge_rules)
    merges = tuple((names[left], names[right]) for left, right in pairs)
    plain = {"add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return Tokenizer(
        models.BPE(vocab=vocabulary, merges=merges),
        pre_tokenizer=pre_tokenizers.ByteLevel(**plain),
        post_processor=post_processors.TemplateProcessing(
            f"{BOS} $A {EOS}", f"{BOS} $A {EOS} {BOS}:1 $B:1 {EOS}:1", controls
        ),
        decoder=decoders.ByteLevel(**plain),
        added_tokens=control_tokens(controls),
    )


@to_pipeline.register
def _(tokenizer: Unigram) -> Tokenizer:
    pieces = [row for row in tokenizer.log_probabilities.items() if row[1] > float("-inf")]
    lowest = min((score for _, score in pieces), default=0.0)
    # In tokenizer.json an unknown character costs ten less than the lowest score, so the score of the
    # unknown token says what it shall cost, if that is lower than all others.
    price = tokenizer.unknown_log_probability
    score = lowest if price is None else price + UNKNOWN_PENALTY
    if score > lowest or not tokenizer.fuse_unknown or score == float("-inf"):
        expected = f"at most {lowest - UNKNOWN_PENALTY}, and unknown characters fused"
        found = f"{price}, " + ("fused" if tokenizer.fuse_unknown else "not fused")
        raise contradiction(tokenizer, "unknown_log_probability", expected, found)
    fuse: decoders.Decoder = decoders.Fuse()
    if tokenizer.byte_fallback:
        fuse = decoders.Sequence((decoders.ByteFallback(), fuse))
    return Tokenizer(
        models.Unigram(unk_id=0, vocab=((UNKNOWN, score), *pieces), byte_fallback=tokenizer.byte_fallback),
        decoder=fuse,
    )


@to_pipeline.register
def _(tokenizer: ClosedVocabulary) -> Tokenizer:
    unknown = UNKNOWN_WORD
    while unknown in tokenizer.words:
        unknown = f"<{unknown}>"
    vocabulary = {unknown: UNKNOWN_WORD_ID, **{word: i for i, word in enumerate(tokenizer.words, 1)}}
    # Python's white space is Unicode's and four separators of ASCII.
    return Tokenizer(
        models.WordLevel(vocabulary, unknown),
        pre_tokenizer=pre_tokenizers.Split(Pattern(r"[\s\x1c-\x1f]+", regex=True), "Removed"),
    )
