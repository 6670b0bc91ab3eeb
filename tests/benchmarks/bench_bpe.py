"""Chapters 2 to 4: BPE training, one long word over a merge table, and what an import costs."""

from __future__ import annotations

import importlib.util
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any
from unittest import mock

import regex
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from tests.benchmarks.harness import Row, at_most_seconds, compare, growth, python_sources
from tokenlab import BpeTrainer
from tokenlab.bpe.merging import MergeTable
from tokenlab.pipeline.byte_alphabet import to_byte_alphabet

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
Merges = list[tuple[str, str]]


def our_merges(documents: Iterable[str], count: int, **options: Any) -> Merges:
    """Train, and spell the pairs; on ASCII text a byte is a character, so both sides spell alike."""
    rules = BpeTrainer(count, tie_break="ids", **options).train(documents).merges
    spelling = {byte: chr(byte) for byte in range(256)} | {r.token_id: r.token_bytes.decode() for r in rules}
    return [(spelling[rule.pair[0]], spelling[rule.pair[1]]) for rule in rules]


def peer_merges(documents: Iterable[str], count: int, split: Any = None) -> Merges:
    documents = list(documents)
    tokenizer = Tokenizer(models.BPE())
    if split:
        tokenizer.pre_tokenizer = split
    size = len(set().union(*documents)) + count
    tokenizer.train_from_iterator(documents, trainers.BpeTrainer(vocab_size=size, show_progress=False))
    return [(left, right) for left, right in json.loads(tokenizer.to_str())["model"]["merges"]]


def our_byte_level_merges(documents: Iterable[str], count: int) -> Merges:
    """Train over the byte alphabet as its characters sort, which is how the peer breaks ties."""
    find = regex.compile(GPT2).findall
    pieces: Counter[str] = Counter()
    for document in documents:
        pieces.update(find(document))
    words = {to_byte_alphabet(piece.encode()): number for piece, number in pieces.items()}
    training = BpeTrainer(count, tie_break="ids").train_words(words, alphabet="characters")
    tokens = [*(training.alphabet or ()), *(rule.token_bytes.decode() for rule in training.merges)]
    return [(tokens[rule.pair[0]], tokens[rule.pair[1]]) for rule in training.merges]


def training_rows() -> Iterator[Row]:
    text = python_sources(1_000_000)
    pieces = text.splitlines(keepends=True)
    find = regex.compile(GPT2).findall
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    split = pre_tokenizers.Split(Regex(GPT2), "isolated")
    for how, documents, at_least in (("one text", [text], 1.3), ("in lines", pieces, 1)):
        yield compare(
            f"train 4096 merges over GPT-2 pre-tokens, 1 MB code, {how}",
            ours=lambda documents=documents: our_byte_level_merges(documents, 4096),
            peer=lambda documents=documents: peer_merges(documents, 4096, byte_level),
            at_least=at_least,
        )
    yield compare(
        "the same, one text, the peer without its byte alphabet",
        ours=lambda: our_merges([text], 4096, pre_tokenizer=find),
        peer=lambda: peer_merges([text], 4096, split),
        at_least=1.3,
        is_open=True,
    )
    whole = text[:190_000]
    without_numpy = mock.patch("tokenlab.bpe.training.find_spec", lambda name: None)
    for how, at_least in (("numpy", 15), ("pure Python", 10)):

        def ours(how: str = how) -> Merges:
            if how == "numpy":
                return our_merges([whole], 256)
            with without_numpy:
                return our_merges([whole], 256)

        yield compare(
            f"train 256 merges over whole documents, 0.19 MB code, {how}",
            ours=ours,
            peer=lambda: peer_merges([whole], 256),
            at_least=at_least,
        )
    large = python_sources(1_900_000)
    yield growth(
        "train 256 merges over whole documents, 0.19 to 1.9 MB code",
        small=lambda: our_merges([whole], 256),
        large=lambda: our_merges([large], 256),
    )


def word_rows() -> Iterator[Row]:
    draw = random.Random(1)
    letters = "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=1_000_000))
    code = python_sources(1_000_000)
    tables = {
        "one letter": ("a" * 1_000_000, [("a" * 2**power, "a" * 2**power) for power in range(19)]),
        "random letters": (
            letters,
            [pair for pair, _ in Counter(pairwise(letters)).most_common(400)],
        ),
        "code": (code, our_merges([code[:200_000]], 1000)),
    }
    for name, (word, merges) in tables.items():
        symbols = sorted(set(word).union(*map("".join, merges)))
        vocabulary = {symbol: token_id for token_id, symbol in enumerate(symbols)}
        for left, right in merges:
            vocabulary.setdefault(left + right, len(vocabulary))
        rules = {
            (vocabulary[left], vocabulary[right]): (rank, vocabulary[left + right])
            for rank, (left, right) in enumerate(merges)
        }
        merge_table, ids = MergeTable(rules), [vocabulary[character] for character in word]
        peer = Tokenizer(models.BPE(vocabulary, merges, cache_capacity=0))
        yield compare(
            f"merge one word of 10^6 characters, {name}",
            ours=lambda merge=merge_table.merge, ids=ids: merge(ids),
            peer=lambda peer=peer, word=word: peer.encode(word).ids,
            at_least=0.5,
            rounds=9,
        )
        yield growth(
            f"merge one word of 10^5 to 10^6 characters, {name}",
            small=lambda merge=merge_table.merge, ids=ids[:100_000]: merge(ids),
            large=lambda merge=merge_table.merge, ids=ids: merge(ids),
            rounds=9,
        )


def batch_row() -> Row:
    """Merge the words of one half of the code by rules that the other half gave."""
    words = sorted(set(regex.findall(GPT2, python_sources(2_000_000))))
    rules = BpeTrainer(6000).train_words(dict.fromkeys(words[::2], 1)).merges
    merge_table = MergeTable({rule.pair: (rule.rank, rule.token_id) for rule in rules})
    unknown = [word.encode() for word in words[1::2]]
    return compare(
        "merge thousands of unknown words at once, with numpy",
        ours=lambda: merge_table.merge_many(unknown),
        peer=lambda: [merge_table.merge(word) for word in unknown],
        peer_name="one by one",
        at_least=1.5,
    )


def rows() -> Iterator[Row]:
    assert importlib.util.find_spec("numpy"), "the rows of whole documents compare numpy with pure Python"
    yield from training_rows()
    yield from word_rows()
    yield batch_row()
    yield at_most_seconds("import tokenlab", code="import tokenlab", baseline="pass", seconds=0.15)
