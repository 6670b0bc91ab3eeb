"""The validation list: it passes on good tokenizers, and fails on eight that were broken on purpose.

Where a file can hold the fault, the broken tokenizer is a file; else a class.
"""

import json
import uuid
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import pytest
from test_command_line import run

from tokenlab import BpeTokenizer, BpeTrainer, ClosedVocabulary, Tokenizer, load_corpus, to_pipeline
from tokenlab.lengths import LANGUAGES, course_slices, measure, unknown_id
from tokenlab.pipeline import models, pre_tokenizers
from tokenlab.pipeline.byte_alphabet import from_byte_alphabet
from tokenlab.validation import probe_texts, validate

VECTORS = Path(__file__).parent / "vectors"
SLICES = {"mixed": ["e e а, 北京 🦀\n", "def f():\n    return 'é'\n", "don't  stop"]}


@cache
def course(merges=8):
    return to_pipeline(BpeTokenizer.from_training(BpeTrainer(merges).train(load_corpus("tiny").train.texts)))


@cache
def overlapping():
    """Merges of a letter with itself, so that ties and overlaps occur."""
    pairs = [(97, 97), (256, 97), (97, 98), (98, 98)]
    return to_pipeline(BpeTokenizer.from_merge_pairs(pairs))


def document(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    return json.loads(path.read_text("utf-8"))


def failed(tokenizer, remake=None):
    return {each.name for each in validate(tokenizer, remake, slices=SLICES) if each.verdict == "fail"}


# Good ones.


GOLDEN = ["mtok/byte-fallback-bpe", "mtok/byte-level-bpe", "mtok/wordpiece"]


@pytest.mark.parametrize("name", [f"{name}/tokenizer.{end}" for name in GOLDEN for end in ("json", "mtok")])
def test_golden_files_pass(name):
    data = (VECTORS / name).read_bytes()
    assert failed(Tokenizer.from_bytes(data), partial(Tokenizer.from_bytes, data)) == set()


def test_a_golden_unigram_lets_text_forge_its_control_tokens_and_nothing_else_fails():
    """Its <s> is an ordinary piece of the vocabulary with a score, so plain text reaches it."""
    data = (VECTORS / "mtok/unigram/tokenizer.mtok").read_bytes()
    tokenizer = Tokenizer.from_bytes(data)
    forged = tokenizer.encode("<s>", parse_special_tokens=False).ids
    assert (
        tokenizer.vocabulary["<s>"] in forged
        and tokenizer.vocabulary["<s>"] not in tokenizer.encode_parts(["<s>"]).ids
    )
    assert failed(tokenizer, partial(Tokenizer.from_bytes, data)) == {"no forged tokens"}


@pytest.mark.parametrize("tokenizer", [course(), overlapping()], ids=["eight merges", "overlaps"])
def test_the_courses_tokenizers_pass_and_lose_nothing(tokenizer):
    findings = validate(tokenizer, slices=SLICES)
    verdicts = {each.verdict for each in findings if not each.name.startswith("length")}
    assert (len(findings), verdicts) == (9, {"pass"})


def test_one_that_splits_as_gpt2_passes():
    split = replace(course(), pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False))
    assert failed(split) == set()


def test_what_a_stage_is_there_to_lose_is_a_property():
    words = to_pipeline(ClosedVocabulary.fit(["low lower", "new"]))
    verdicts = {each.name: each for each in validate(words, slices=SLICES)}
    assert verdicts["round trip"].verdict == "by design"
    assert failed(words) == set()
    assert "unknown" in verdicts["length: mixed"].seen


# Eight broken ones.


@dataclass(frozen=True, slots=True)
class RightmostBPE(models.BPE):
    """Tie rule: among equal places the last."""

    def tokenize(self, piece):
        turned = (
            models.BPE.tokenize(self, piece[::-1])
            if set(piece) <= {"a"}
            else models.BPE.tokenize(self, piece)
        )
        if set(piece) > {"a"} or not piece:
            return turned
        ends = [(len(piece) - token.end, len(piece) - token.start) for token in turned]
        return [replace_span(t, *span) for t, span in zip(turned[::-1], ends[::-1], strict=True)]

    def _ids(self, piece):
        return [token.id for token in self.tokenize(piece)]


def replace_span(token, start, end):
    return token._replace(start=start, end=end)


@dataclass(frozen=True, slots=True)
class HashOrderBPE(models.BPE):
    """Hash order: what a set happens to give first decides whether merges are applied."""

    def _ids(self, piece):
        is_merged = next(iter({piece, "left", "right", "up", "down"})) == piece
        return models.BPE._ids(self, piece) if is_merged else [self.vocabulary[c] for c in piece]

    def tokenize(self, piece):
        ids = self._ids(piece)
        return [models.Token(i, self.tokens_by_id[i], 0, len(piece)) for i in ids]


@dataclass(frozen=True, slots=True)
class ShiftedByteLevel(pre_tokenizers.ByteLevel):
    """Byte map: byte b is written as character b of Unicode, as if all of them printed."""

    def pre_tokenize(self, aligned):
        level = pre_tokenizers.ByteLevel(False, False, False)
        return [
            replace(p, text=from_byte_alphabet(p.text).decode("latin-1")) for p in level.pre_tokenize(aligned)
        ]

    def chunker(self):
        return None


class CountedOffsets(Tokenizer):
    """Offsets: counted in bytes, not in characters."""

    def encode(self, text, pair=None, **options):
        encoding = Tokenizer.encode(self, text, pair, **options)
        before = [len(text[:i].encode()) for i in range(len(text) + 1)] if isinstance(text, str) else []
        return replace(encoding, offsets=tuple((before[a], before[b]) for a, b in encoding.offsets))


class RandomFingerprint(Tokenizer):
    """Fingerprint: another one at each call."""

    def fingerprint(self):
        return uuid.uuid4().hex


class UnsavedFingerprint(Tokenizer):
    """Fingerprint: the same everywhere, but another one than that of the saved file."""

    def fingerprint(self):
        return f"v2:{Tokenizer.fingerprint(self)}"


def with_class(kind, tokenizer):
    return tokenizer.__reduce__()[1] and kind(*tokenizer.__reduce__()[1])


def with_model(kind, tokenizer):
    return replace(tokenizer, model=kind(vocab=tokenizer.model.vocab, merges=tokenizer.model.merges))


OBJECTS = [
    ("byte map", lambda: replace(course(), pre_tokenizer=ShiftedByteLevel(False, False, False))),
    ("ties and overlaps", lambda: with_model(RightmostBPE, overlapping())),
    ("determinism", lambda: with_model(HashOrderBPE, course())),
    ("offsets", lambda: with_class(CountedOffsets, course())),
    ("fingerprint", lambda: with_class(RandomFingerprint, course())),
    ("fingerprint", lambda: with_class(UnsavedFingerprint, course())),
]


@pytest.mark.parametrize(
    ("check", "broken"), OBJECTS, ids=[f"{i}-{name}" for i, (name, _) in enumerate(OBJECTS)]
)
def test_a_broken_class_fails_the_check_of_its_fault(check, broken):
    assert check in failed(broken())


def without_a_byte(file):
    """Byte map: the line feed has no token."""
    del file["model"]["vocab"]["Ċ"]


def without_the_flag(file):
    """Special flag: EOS is an added token like any other."""
    file["added_tokens"][1]["special"] = False


def with_a_lossy_decoder(file):
    """Round trip: decoding takes a space away."""
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    file["decoder"] = {"type": "Sequence", "decoders": [file["decoder"], strip]}


def with_a_reachable_control_token(file):
    """Forged token: a piece that is in the vocabulary is taken whole, and <EOS> is in the vocabulary."""
    file["model"]["ignore_merges"] = True


FILES = [
    ("byte map", without_a_byte),
    ("special flags", without_the_flag),
    ("round trip", with_a_lossy_decoder),
    ("no forged tokens", with_a_reachable_control_token),
]


@pytest.mark.parametrize(("check", "broken"), FILES, ids=[name for name, _ in FILES])
def test_a_broken_file_fails_the_check_of_its_fault(check, broken, tmp_path):
    file = document(course(), tmp_path)
    good = Tokenizer.from_bytes(json.dumps(file).encode())
    assert failed(good) == set()
    broken(file)
    data = json.dumps(file).encode()
    assert check in failed(Tokenizer.from_bytes(data), partial(Tokenizer.from_bytes, data))


def test_a_tokenizer_that_raises_is_a_finding_and_the_report_goes_on():
    class Raising(Tokenizer):  # a local class cannot be pickled, either
        def encode(self, *args, **options):
            raise IndexError("gone")

    findings = {each.name: each for each in validate(with_class(Raising, course()), slices=SLICES)}
    assert findings["round trip"].example == "gone"
    assert findings["determinism"].verdict == "fail"
    assert findings["byte map"].verdict == "pass"


# The command.


def test_the_command_prints_the_report_and_fails_where_a_check_fails(tmp_path):
    out, _ = run("check", VECTORS / "mtok/byte-level-bpe/tokenizer.mtok")
    assert out.count("\npass ") + out.startswith("pass ") == 8
    assert all(f"length: {name}" in out for name in LANGUAGES.values())
    file = document(course(), tmp_path)
    without_the_flag(file)
    (tmp_path / "broken").write_text(json.dumps(file), "utf-8")
    out, _ = run("check", tmp_path / "broken", code=1)
    assert "fail       special flags: a control token is not flagged as special\n" in out
    assert "ID 1, '<EOS>'" in out


# What is measured.


def test_lengths_are_counted():
    found = measure(to_pipeline(BpeTokenizer.from_merge_pairs([(208, 176)])), ["e а", "б"])
    assert (found.characters, found.bytes, found.tokens, found.byte_tokens) == (4, 6, 5, 2)
    assert found.exact


def test_byte_fallback_counts_as_bytes_and_unknown_as_unknown():
    fallback = Tokenizer.from_file(VECTORS / "mtok/byte-fallback-bpe/tokenizer.json")
    found = measure(fallback, ["🦀"])
    assert (found.tokens, found.byte_tokens) == (5, 4)
    words = to_pipeline(ClosedVocabulary.fit(["low new"]))
    assert measure(words, ["low lowest"]).unknown == 1
    assert not measure(words, ["low lowest"]).exact
    assert unknown_id(words) == 0


def test_probes_are_seeded_and_differ_by_seed():
    assert probe_texts(1) == probe_texts(1) != probe_texts(2)


def test_slices_hold_the_same_passage_in_eight_languages_code_and_emoji():
    assert list(course_slices()) == list(LANGUAGES.values())
    assert all(texts and all(texts) for texts in course_slices().values())
