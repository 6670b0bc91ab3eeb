"""The texts of the course corpora: what each has to fulfil for the chapters to hold."""

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from tokenlab import Document, load_corpus
from tokenlab.corpus import DATA_DIRECTORY

PARALLEL_LANGUAGES = ["ar", "en", "hi", "ja", "ko", "ru", "tr", "zh-Hans"]
EIGHT_PAIRS = [(32, 208), (208, 176), (209, 130), (208, 181), (208, 190), (208, 184), (209, 128), (101, 32)]
MULTILINGUAL = load_corpus("multilingual")
PROSE = MULTILINGUAL.by_kind("prose")


def pair_counts(documents: list[list[int]]) -> Counter[tuple[int, int]]:
    """Count neighbours, overlapping ones too, inside each document."""
    counts: Counter[tuple[int, int]] = Counter()
    for document in documents:
        for position in range(len(document) - 1):
            counts[document[position], document[position + 1]] += 1
    return counts


def merge(document: list[int], pair: tuple[int, int], token: int) -> list[int]:
    merged: list[int] = []
    for symbol in document:
        merged.append(symbol)
        if tuple(merged[-2:]) == pair:
            merged[-2:] = [token]
    return merged


def test_eight_merges_of_the_tiny_train_split_come_in_the_known_order_with_a_margin() -> None:
    documents = [list(text.encode()) for text in load_corpus("tiny").train.texts]
    previous = None
    for rank, expected in enumerate(EIGHT_PAIRS):
        (pair, count), (rival, rival_count) = pair_counts(documents).most_common(2)
        assert pair == expected
        assert count - rival_count >= 2, f"rank {rank}: {rival} is too close"
        assert previous is None or previous - count >= 2
        previous = count
        documents = [merge(document, pair, 256 + rank) for document in documents]


def test_the_tiny_corpus_fits_on_a_screen() -> None:
    corpus = load_corpus("tiny")
    assert 24 <= len(corpus.train) <= 48
    assert max(len(text) for text in corpus.texts) <= 60
    assert {(d.language, d.split) for d in corpus} == {
        (language, split) for language in ("en", "ru") for split in ("train", "validation", "test")
    }


def test_no_sentence_of_the_tiny_corpus_stands_twice() -> None:
    texts = load_corpus("tiny").texts
    assert len(set(texts)) == len(texts)


def test_there_is_enough_prose_and_in_every_split() -> None:
    english, russian = PROSE.by_language("en"), PROSE.by_language("ru")
    assert sum(len(text.encode()) for text in english.texts) >= 20_000
    assert sum(len(text) for text in russian.texts) >= 20_000
    for corpus in (english, russian):
        total = sum(len(text) for text in corpus.texts)
        for part in (corpus.validation, corpus.test):
            assert len(part) >= 2
            assert 0.08 * total <= sum(len(text) for text in part.texts) <= 0.25 * total


def sentences(text: str) -> list[str]:
    parts = re.split(r"(?<=[.!?…:;])[»”\"’)]*\s+|\n+", text)
    return [re.sub(r"\W+", " ", part).casefold().strip() for part in parts]


def test_no_sentence_of_the_prose_stands_twice() -> None:
    counts = Counter(s for text in PROSE.texts for s in sentences(text) if len(s) > 25)
    assert len(counts) > 500
    assert [s for s, count in counts.items() if count > 1] == []


def test_no_stretch_of_sixty_characters_stands_twice() -> None:
    seen: dict[str, str] = {}
    for document in MULTILINGUAL:
        if document.kind != "code":
            text = " ".join(document.text.split())
            for start in range(len(text) - 59):
                window = text[start : start + 60]
                assert window not in seen, f"{window!r} in {document.id} and {seen[window]}"
                seen[window] = document.id


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_prose_is_in_the_script_of_its_language(language: str) -> None:
    script = {"en": "LATIN", "ru": "CYRILLIC"}[language]
    for document in PROSE.by_language(language):
        letters = [c for c in document.text if c.isalpha()]
        share = sum(unicodedata.name(c).startswith(script) for c in letters) / len(letters)
        assert share > 0.97, document.id
        for word in re.findall(r"\w+", document.text):
            scripts = {unicodedata.name(c).split()[0] for c in word if c.isalpha()}
            assert len(scripts) <= 1, f"{word} in {document.id} mixes {scripts}"


def parallel() -> dict[str, Document]:
    return {d.language: d for d in MULTILINGUAL.by_kind("parallel")}


def test_the_parallel_passage_is_told_alike_in_eight_languages() -> None:
    passage = parallel()
    assert sorted(passage) == PARALLEL_LANGUAGES
    assert 1_000 <= len(passage["en"].text.encode()) <= 2_000
    end = {"hi": r"[।!?]", "zh-Hans": r"[。！？]", "ja": r"[。！？]", "ar": r"[.!؟]"}
    shapes = {}
    for language, document in passage.items():
        paragraphs = document.text.removesuffix("\n").split("\n")
        shapes[language] = [len(re.findall(end.get(language, r"[.!?]"), line)) for line in paragraphs]
    assert set(map(tuple, shapes.values())) == {tuple(shapes["en"])}, shapes
    assert min(shapes["en"]) >= 1


def test_the_parallel_passage_is_never_trained_on() -> None:
    assert {d.split for d in parallel().values()} == {"test"}


def test_there_is_code_in_several_languages_with_tabs_and_comments() -> None:
    code = MULTILINGUAL.by_kind("code")
    assert {Path(d.id).suffix for d in code} >= {".py", ".js", ".c", ".json", ".sql", ".sh"}
    assert 3_000 <= sum(len(text.encode()) for text in code.texts) <= 6_000
    assert any("\n\t" in text for text in code.texts)
    assert any("\n\n" in text for text in code.texts)
    for document in code:
        if document.id.endswith(".py"):
            compile(document.text, document.id, "exec")


@pytest.mark.parametrize(
    "sequence",
    [
        "\U0001f44d\U0001f3fd",  # a thumb with a skin tone
        "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",  # a family, joined
        "\U0001f1e8\U0001f1ed",  # a flag of two regional indicators
        "1\ufe0f\u20e3",  # a keycap
        "\u2764\ufe0f",  # a heart with a variation selector
    ],
)
def test_the_emoji_hold_each_sort_of_sequence(sequence: str) -> None:
    assert any(sequence in text for text in MULTILINGUAL.by_kind("emoji").texts)


def test_every_file_is_normalised_text_in_utf8_with_lf() -> None:
    listed = {d.id.split(":")[0] for name in ("tiny", "multilingual") for d in load_corpus(name)}
    for name in ("tiny", "multilingual"):
        found = {
            p.relative_to(DATA_DIRECTORY).as_posix()
            for p in (DATA_DIRECTORY / name).rglob("*")
            if p.is_file()
        }
        assert found == {path for path in listed if path.startswith(f"{name}/")}
    for path in sorted(listed):
        text = (DATA_DIRECTORY / path).read_bytes().decode()
        assert unicodedata.is_normalized("NFC", text), path
        assert text.endswith("\n") and not text.endswith("\n\n"), path
        assert not re.search(r"[ \t]$", text, re.MULTILINE), path
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\ufeff\u00a0\u00ad\u2028]", text), path
