"""Chapters 5 and 5b: Unigram encoding by the model alone, and training."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from tests.benchmarks.harness import Row, compare, growth, python_sources
from tokenlab import Unigram, UnigramTrainer

WORDS = "▁[^▁]*"


def marked(text: str) -> list[str]:
    """Lines in which ▁ opens every word."""
    return ["▁" + line.replace(" ", "▁") for line in text.splitlines() if line]


def prose(size: int) -> str:
    """English: the help texts that come with Python."""
    from pydoc_data.topics import topics

    text = "\n".join(topics[name] for name in sorted(topics))
    return text[:size]


def train_peer(lines: list[str], size: int) -> list[list[Any]]:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(WORDS), "isolated")
    trainer = trainers.UnigramTrainer(vocab_size=size + 1, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(lines, trainer)
    vocabulary: list[list[Any]] = json.loads(tokenizer.to_str())["model"]["vocab"]
    return vocabulary


@cache
def vocabulary() -> dict[str, float]:
    return dict(train_peer(marked(prose(300_000)), 8000))


def encoding_rows() -> Iterator[Row]:
    scores = vocabulary()
    stored = list(scores.items())
    words = [word for line in marked(prose(500_000)) for word in re.findall(WORDS, line)]

    def ours_by_words() -> list[str]:
        segment, seen = Unigram.segment, dict[str, list[str]]()
        pieces: list[str] = []
        for word in words:
            found = seen.get(word)
            if found is None:
                found = seen[word] = segment(model, word)
            pieces += found
        return pieces

    unused = [models.Unigram(stored, 0, False) for _ in range(12)]  # with empty caches

    def peer_by_words() -> list[str]:
        tokenize = unused.pop().tokenize
        return [token.value for word in words for token in tokenize(word)]

    model = Unigram(scores)
    yield compare(
        "Unigram model alone, cold, English word by word, 0.5 MB",
        ours=ours_by_words,
        peer=peer_by_words,
        at_least=0.5,
    )
    text = "".join(words)
    yield compare(
        "Unigram model alone, English as one text, 0.5 MB",
        ours=lambda: model.segment(text),
        peer=lambda: [token.value for token in unused.pop().tokenize(text)],
        at_least=0.5,
        is_open=True,
    )
    yield growth(
        "Unigram: n best of 10, text of 10 kB against 1 kB",
        small=lambda: model.n_best(text[:1_000], 10),
        large=lambda: model.n_best(text[:10_000], 10),
        at_most=15,
    )
    yield growth(
        "Unigram: one text without spaces, 1 MB against 0.1 MB",
        small=lambda: model.best_spans("a" * 100_000),
        large=lambda: model.best_spans("a" * 1_000_000),
    )


def training_rows() -> Iterator[Row]:
    text = python_sources(280_000)
    lines, size = marked(text), 4000
    trainer = UnigramTrainer(size, pre_tokenizer=re.compile(WORDS).findall)
    yield compare(
        "train Unigram, 0.28 MB of code, 4000 pieces",
        ours=lambda: trainer.train(lines).pieces,
        peer=lambda: train_peer(lines, size),
        at_least=0.33,
        is_equal=lambda ours, peer: len(ours) == len(peer) - 1,  # the peer counts its unknown token
    )


def rows() -> Iterator[Row]:
    yield from encoding_rows()
    yield from training_rows()
