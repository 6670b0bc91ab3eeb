"""Chapters 6 and 6b: whole tokenizers, cold (caches empty, loading not counted), again, with offsets."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import tiktoken
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from tests.benchmarks.harness import Row, compare, growth, python_sources
from tokenlab import Tokenizer, load_corpus
from tokenlab.pipeline.byte_alphabet import from_byte_alphabet

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
HALF = 0.5  # of the goal, where offsets are asked for as well


@cache
def english(size: int) -> str:
    """English: docstrings and comments of the standard library, without what is hardly prose."""
    lines = (line.strip(" #\t") for line in python_sources(12_000_000).splitlines())
    prose = [s for s in lines if len(s) > 40 and sum(c.isalpha() or c in " ,.'" for c in s) > 0.95 * len(s)]
    text = "\n".join(prose)
    return text[:size]


@cache
def mixed(size: int) -> str:
    """The course's multilingual corpus, repeated."""
    text = "\n".join(document.text for document in load_corpus("multilingual").documents)
    return (text * (size // len(text) + 1))[:size]


@cache
def byte_level() -> tuple[tokenizers.Tokenizer, str]:
    """A tokenizer of Llama 3's kind that the peer trains, and its file."""
    peer = tokenizers.Tokenizer(models.BPE(ignore_merges=True))
    split = pre_tokenizers.Split(tokenizers.Regex(LLAMA3), "isolated")
    rewrite = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    peer.pre_tokenizer = pre_tokenizers.Sequence([split, rewrite])
    peer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=32_000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    sources = python_sources(8_000_000)[4_000_000:]
    peer.train_from_iterator([sources[i : i + 10_000] for i in range(0, len(sources), 10_000)], trainer)
    return peer, peer.to_str()


@cache
def word_piece() -> tuple[tokenizers.Tokenizer, str]:
    """A tokenizer of BERT's kind that the peer trains, and its file."""
    peer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    peer.normalizer, peer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=20_000, special_tokens=["[UNK]"], show_progress=False)
    peer.train_from_iterator(python_sources(6_000_000)[4_000_000:].splitlines(), trainer)
    return peer, peer.to_str()


def cold(load: Callable[[str], Any], file: str, runs: int = 6) -> Callable[[], Any]:
    """Return what gives, for each run (one to compare, five to time), a tokenizer with empty caches."""
    return iter([load(file) for _ in range(runs)]).__next__


def ours_of(file: str) -> Tokenizer:
    return Tokenizer.from_bytes(file.encode())


def columns(encoding: Any) -> tuple[list[Any], ...]:
    """Read what was asked for, since either side might leave work until then."""
    return list(encoding.ids), list(encoding.tokens), list(encoding.offsets)


def against_peer(work: str, made: tuple[Any, str], text: str, goal: float) -> Iterator[Row]:
    file, load = made[1], tokenizers.Tokenizer.from_str
    ours, peer = cold(ours_of, file), cold(load, file)
    yield compare(
        f"{work}, IDs alone, cold",
        ours=lambda: ours().encode_ids(text),
        peer=lambda: peer().encode(text),
        at_least=goal,
        is_equal=lambda found, expected: found == expected.ids,
    )
    ours_too, peer_too = cold(ours_of, file), cold(load, file)
    yield compare(
        f"{work}, with offsets, cold",
        ours=lambda: columns(ours_too().encode(text)),
        peer=lambda: columns(peer_too().encode(text)),
        at_least=goal * HALF,
    )


def again(work: str, text: str) -> Row:
    ours = ours_of(byte_level()[1])
    names = ours.model.vocabulary.items()
    ranks = {data: token_id for name, token_id in names if (data := from_byte_alphabet(name)) is not None}
    peer = tiktoken.Encoding("peer", pat_str=LLAMA3, mergeable_ranks=ranks, special_tokens={})
    ours.encode_ids(text)
    return compare(
        f"{work}, the same text again",
        ours=lambda: ours.encode_ids(text),
        peer=lambda: peer.encode_ordinary(text),
        peer_name="tiktoken",
        at_least=0.9,
        rounds=21,  # so short that a busy machine shows
    )


PROCESS = Path("/proc/self/status")
MEMORY = """
import sys
from tests.benchmarks.bench_pipeline import peak, python_sources
file, text = open(sys.argv[1], "rb").read(), python_sources(10_000_000)
{load}
before = peak()
result = {encode}
print(peak() - before)
"""


def peak() -> int:
    """Return the highest memory in use so far, in kB, as Linux tells it.

    What `resource` tells may be the peak of the process that started this one.
    """
    return int(re.findall(r"VmHWM:\s+(\d+) kB", PROCESS.read_text("ascii"))[0])


def memory(file: str) -> Row:
    """Compare what encoding 10 MB adds to the highest memory in use, each in a process of its own."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        path.write_text(file, encoding="utf-8")

        def megabytes(load: str, encode: str) -> float:
            command = [sys.executable, "-c", MEMORY.format(load=load, encode=encode), str(path)]
            root = Path(__file__).parents[2]
            found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout
            return int(found) / 1000

        ours = megabytes(
            "from tokenlab import Tokenizer; t = Tokenizer.from_bytes(file)", "t.encode_ids(text)"
        )
        peer = megabytes(
            "import tokenizers; t = tokenizers.Tokenizer.from_buffer(file)", "t.encode(text).ids"
        )
    work = "peak memory while encoding 10 MB of code, one run each"
    return Row(work, "≤ 0.2 × tokenizers", ours / peer, ours * 5 <= peer, ours, peer, "tokenizers", unit="MB")


def one_word(made: tuple[Any, str], kind: str, letters: str) -> Row:
    """Compare a text of 10^6 characters without a space with one of 10^4."""
    text = "".join(Random(0).choices(letters, k=10**6))
    short, loaded = text[: 10**4], ours_of(made[1])
    if loaded.encode_ids(short) != made[0].encode(short).ids:
        raise AssertionError(f"{kind}: the outputs differ, so their times say nothing")
    return growth(
        f"encode 10^4 to 10^6 characters without a space, {kind}",
        small=lambda: replace(loaded).encode_ids(short),
        large=lambda: replace(loaded).encode_ids(text),
        at_most=300,
        times=100,
    )


def rows() -> Iterator[Row]:
    """Yield the rows of the pipeline."""
    made = byte_level()
    yield from against_peer("BPE, Llama 3's pattern, 1 MB of English", made, english(1_000_000), 2)
    yield from against_peer("BPE, Llama 3's pattern, 4 MB of code", made, python_sources(4_000_000), 3)
    yield from against_peer("BPE, Llama 3's pattern, multilingual mix", made, mixed(300_000), 1)
    yield from against_peer("WordPiece, 1 MB of English", word_piece(), english(1_000_000), 2.5)
    yield from against_peer("WordPiece, 1 MB of code", word_piece(), python_sources(1_000_000), 2.5)
    yield again("BPE, 1 MB of English", english(1_000_000))
    yield again("BPE, 4 MB of code", python_sources(4_000_000))
    yield one_word(made, "one letter", "a")
    yield one_word(made, "Latin letters", "abcdefghijklmnopqrstuvwxyz")
    yield one_word(made, "Chinese", "漢字仮名交文書語読")
    if PROCESS.exists():
        yield memory(made[1])
