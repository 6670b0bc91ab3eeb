"""The fingerprint: equal for equal answers, in every process and in every format that loses none of them."""

import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from tokenlab import Tokenizer
from tokenlab.errors import LostExtrasWarning
from tokenlab.formats import huggingface, mtok
from tokenlab.formats.mtok_meaning import NormTable
from tokenlab.pipeline import decoders, normalizers, pre_tokenizers
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.models import BPE

VECTORS = Path(__file__).parent.parent / "vectors"
SMALL = Tokenizer(BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=(("a", "b"),)))


def test_it_is_the_same_in_every_process():
    paths = sorted(map(str, VECTORS.glob("mtok/*/tokenizer.*"))) + sorted(
        map(str, VECTORS.glob("legacy/*.txt"))
    )
    code = (
        "import sys, tokenlab; print(*(tokenlab.Tokenizer.from_file(p).fingerprint() for p in sys.argv[1:]))"
    )
    paths = [path for path in paths if not path.endswith("config.json")]
    seen = set()
    for seed in ("0", "1", "2"):
        command = [sys.executable, "-W", "ignore", "-c", code, *paths]
        done = subprocess.run(
            command, capture_output=True, text=True, env={"PYTHONHASHSEED": seed}, check=True
        )
        seen.add(done.stdout)
    assert len(seen) == 1
    assert all(len(each) == 64 for each in seen.pop().split())


@pytest.mark.parametrize("name", ["byte-level-bpe", "byte-fallback-bpe", "wordpiece"])
def test_it_is_the_same_in_both_formats(name):
    of_json = Tokenizer.from_file(VECTORS / "mtok" / name / "tokenizer.json")
    of_mtok = Tokenizer.from_file(VECTORS / "mtok" / name / "tokenizer.mtok")
    assert of_json.fingerprint() == of_mtok.fingerprint()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert mtok.read(mtok.write(of_json, strict=True)).fingerprint() == of_json.fingerprint()
        assert (
            Tokenizer.from_bytes(huggingface.write(of_mtok, strict=True)).fingerprint()
            == of_mtok.fingerprint()
        )


def test_a_table_has_the_same_in_a_format_that_spells_it_out():
    of_mtok = Tokenizer.from_file(VECTORS / "mtok/unigram/tokenizer.mtok")
    assert isinstance(of_mtok.normalizer, NormTable)
    with pytest.warns(LostExtrasWarning):
        again = Tokenizer.from_bytes(huggingface.write(of_mtok, strict=True))
    assert isinstance(again.normalizer, normalizers.Sequence)
    assert again.fingerprint() == of_mtok.fingerprint()
    shorter = normalizers.Sequence(again.normalizer.normalizers[1:])
    assert replace(again, normalizer=shorter).fingerprint() != of_mtok.fingerprint()


def test_what_loses_answers_has_another_one():
    of_json = Tokenizer.from_file(VECTORS / "mtok/unigram/tokenizer.json")
    of_mtok = Tokenizer.from_file(VECTORS / "mtok/unigram/tokenizer.mtok")
    assert of_json.encode_ids("e\u0301") != of_mtok.encode_ids("e\u0301")
    assert of_json.fingerprint() != of_mtok.fingerprint()


@pytest.mark.parametrize(
    "changes",
    [
        {"model": BPE(vocab={"a": 0, "b": 1, "ab": 2})},
        {"model": BPE(vocab={"a": 1, "b": 0, "ab": 2}, merges=(("a", "b"),))},
        {"normalizer": normalizers.Lowercase()},
        {"pre_tokenizer": pre_tokenizers.WhitespaceSplit()},
        {"decoder": decoders.Fuse()},
        {"added_tokens": (AddedToken(3, "<s>", special=True),)},
        {"prefix_ids": (0,)},
        {"clean_up_tokenization_spaces": True},
    ],
)
def test_what_answers_otherwise_has_another_one(changes):
    assert replace(SMALL, **changes).fingerprint() != SMALL.fingerprint()


@pytest.mark.parametrize(
    "changes",
    [
        {"chat_template": "{{ x }}"},
        {"stop_ids": (1,)},
        {
            "model": BPE(
                unk_token=None, ignore_merges=True, vocab={"b": 1, "ab": 2, "a": 0}, merges=(("a", "b"),)
            )
        },
        {"origin": b"x"},
    ],
)
def test_what_no_answer_depends_on_is_not_in_it(changes):
    assert replace(SMALL, **changes).fingerprint() == SMALL.fingerprint()
