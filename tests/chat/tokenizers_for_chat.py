"""Tokenizers for the chat tests, of kinds that make forging easy in different ways."""

from __future__ import annotations

import string
from collections.abc import Sequence

from tokenlab.pipeline import models, normalizers, pre_tokenizers
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.byte_alphabet import BYTE_ALPHABET
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.tokenizer import Tokenizer

PLAIN = "\u2581" + string.printable + "éİß水🐌｜▁"


def added(contents: Sequence[str], first_id: int, **options: bool) -> tuple[AddedToken, ...]:
    return tuple(
        AddedToken(first_id + i, content, **{"special": True, "normalized": False, **options})
        for i, content in enumerate(contents)
    )


def byte_level(contents: Sequence[str], **options: bool) -> Tokenizer:
    """Bytes and a few merges, as in GPT-2: no character is unknown."""
    vocabulary = {character: i for i, character in enumerate(BYTE_ALPHABET)}
    merges = [("<", "|"), ("|", ">"), ("a", "a"), ("Ġ", "a"), ("[", "I"), ("i", "m"), ("e", "n"), ("en", "d")]
    for left, right in merges:
        vocabulary[left + right] = len(vocabulary)
    return Tokenizer(
        models.BPE(vocab=vocabulary, merges=tuple(merges)),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        added_tokens=added(contents, len(vocabulary), **options),
    )


def unigram(contents: Sequence[str], **options: bool) -> Tokenizer:
    """Control tokens are pieces of the model, which finds them in plain text, as in T5."""
    pieces = [("<unk>", 0.0), *((c, -5.0) for c in dict.fromkeys(PLAIN)), *((t, -1.0) for t in contents)]
    pieces = list(dict(pieces).items())
    ids = {piece: i for i, (piece, _) in enumerate(pieces)}
    return Tokenizer(
        models.Unigram(unk_id=0, vocab=tuple(pieces)),
        pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first", split_words=False),
        added_tokens=tuple(
            AddedToken(ids[content], content, **{"special": True, "normalized": False, **options})
            for content in contents
        ),
    )


def words(contents: Sequence[str], **options: bool) -> Tokenizer:
    """Whole words are looked up, control tokens among them."""
    vocabulary = {word: i for i, word in enumerate(["<unk>", "user", "assistant", "a", "x"])}
    for content in contents:
        vocabulary.setdefault(content, len(vocabulary))
    return Tokenizer(
        models.WordLevel(vocab=vocabulary, unk_token="<unk>"),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        added_tokens=tuple(
            AddedToken(vocabulary[content], content, **{"special": True, "normalized": False, **options})
            for content in contents
        ),
    )


def prepending(contents: Sequence[str], **options: bool) -> Tokenizer:
    """A normalizer that puts a mark before each fragment, as in Llama 2."""
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(["<unk>", *PLAIN]))}
    return Tokenizer(
        models.BPE(vocab=vocabulary, unk_token="<unk>", fuse_unk=True),
        normalizer=normalizers.Sequence((normalizers.Prepend("▁"), normalizers.Replace(Pattern(" "), "▁"))),
        added_tokens=added([c for c in contents if c != "<unk>"], len(vocabulary), **options),
    )


KINDS = {"byte_level": byte_level, "unigram": unigram, "words": words, "prepending": prepending}
