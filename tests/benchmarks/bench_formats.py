"""Chapter 7: from a file on disk to the first encoding."""

from __future__ import annotations

import json
import random
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import tokenizers

from tests.benchmarks.harness import Row, compare
from tokenlab import Tokenizer
from tokenlab.formats import mtok
from tokenlab.pipeline.byte_alphabet import to_byte_alphabet

TOKENS, MERGES = 128_000, 280_147
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def document() -> str:
    """A tokenizer.json of Llama 3's form and size, its tokens drawn at random, each made by its merges."""
    draw = random.Random(1)
    names = [to_byte_alphabet(bytes([byte])) for byte in range(256)]
    vocabulary = {name: token_id for token_id, name in enumerate(names)}
    letters = list("etaoinshrdlucmfwypvbgkjqxzĠ")
    while len(names) < TOKENS:
        token, other = (
            names[draw.randrange(256 if len(names) > 256 else 33, len(names))],
            draw.choice(letters),
        )
        left, right = (token, other) if draw.random() < 0.7 else (other, token)
        if len(left + right) <= 16 and left + right not in vocabulary:
            vocabulary[left + right] = len(names)
            names.append(left + right)
    merges = []
    for name in names[256:]:
        merges += [
            [name[:cut], name[cut:]]
            for cut in range(1, len(name))
            if name[:cut] in vocabulary and name[cut:] in vocabulary
        ]
    split = {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False}
    as_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    parts = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, as_bytes]},
        "decoder": as_bytes,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": merges[:MERGES]},
    }
    return json.dumps({**dict.fromkeys(("truncation", "padding", "normalizer", "post_processor")), **parts})


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        as_json, as_mtok = Path(folder, "tokenizer.json"), Path(folder, "tokenizer.mtok")
        as_json.write_text(document(), "utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mtok.write(Tokenizer.from_file(as_json), as_mtok)
        merges = len(mtok.read_file(as_mtok.read_bytes()).model.values["merges"])
        yield compare(
            f"load {TOKENS:,} tokens and {merges:,} merges from .mtok, to the first encoding",
            ours=lambda: Tokenizer.from_file(as_mtok).encode_ids("the first encoding"),
            peer=lambda: tokenizers.Tokenizer.from_file(str(as_json)).encode("the first encoding").ids,
            at_least=1,
            is_open=True,
        )
