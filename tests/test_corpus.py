"""The corpus loader: what it reads, and what it says about damaged data."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tokenlab
from tokenlab import load_corpus
from tokenlab.corpus import DATA_DIRECTORY
from tokenlab.errors import (
    CorpusError,
    CorpusHashError,
    CorpusLineEndingError,
    CorpusManifestError,
    MissingCorpusFileError,
    UnknownCorpusNameError,
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    shutil.copy(DATA_DIRECTORY / "manifest.json", tmp_path)
    shutil.copytree(DATA_DIRECTORY / "tiny", tmp_path / "tiny")
    return tmp_path


def write_manifest(directory: Path, **changes: object) -> None:
    """Replace the manifest by one with a single tiny file, some of its fields changed (None: left out)."""
    entry = json.loads((DATA_DIRECTORY / "manifest.json").read_bytes())["tiny"][0] | changes
    entry = {key: value for key, value in entry.items() if value is not None}
    (directory / "manifest.json").write_text(json.dumps({"tiny": [entry]}), encoding="utf-8")


def test_the_splits_partition_the_documents_in_order() -> None:
    for name in ("tiny", "multilingual"):
        corpus = load_corpus(name)
        parts = [*corpus.train, *corpus.validation, *corpus.test]
        assert sorted(d.id for d in parts) == sorted(d.id for d in corpus)
        assert len({d.id for d in corpus}) == len(corpus) == len(corpus.texts)
        assert corpus.train.documents == tuple(d for d in corpus if d.split == "train")


def test_a_selection_is_a_corpus_again() -> None:
    corpus = load_corpus("tiny").train.by_language("ru").by_kind("prose")
    assert corpus.name == "tiny"
    assert {(d.language, d.split, d.kind) for d in corpus} == {("ru", "train", "prose")}
    assert corpus.texts == tuple(d.text for d in corpus.documents)


def test_a_file_of_lines_loses_nothing_but_its_line_ends() -> None:
    for language in ("en", "ru"):
        lines = load_corpus("tiny").test.by_language(language).texts
        data = (DATA_DIRECTORY / f"tiny/test.{language}.txt").read_bytes()
        assert "".join(line + "\n" for line in lines).encode() == data


def test_a_file_of_one_document_is_its_text() -> None:
    for document in load_corpus("multilingual"):
        assert document.text.encode() == (DATA_DIRECTORY / document.id).read_bytes()


def test_the_corpus_is_found_from_any_working_directory(tmp_path: Path) -> None:
    code = "import tokenlab; print(len(tokenlab.load_corpus('tiny').train))"
    environment = os.environ | {"PYTHONPATH": str(Path(tokenlab.__file__).parent.parent)}
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert result.stdout == f"{len(load_corpus('tiny').train)}\n", result.stderr


def test_unknown_names_are_told_what_there_is() -> None:
    with pytest.raises(
        UnknownCorpusNameError, match=r"corpus 'huge' is not in .* \['multilingual', 'tiny'\]"
    ):
        load_corpus("huge")
    with pytest.raises(
        UnknownCorpusNameError, match=r"language 'xx' is not in corpus 'tiny' .* \['en', 'ru'\]"
    ):
        load_corpus("tiny").by_language("xx")
    with pytest.raises(UnknownCorpusNameError, match=r"kind 'poem' is not in corpus 'tiny' .* \['prose'\]"):
        load_corpus("tiny").by_kind("poem")
    with pytest.raises(UnknownCorpusNameError, match=r"split 'test' is not in corpus 'tiny' .* \['train'\]"):
        _ = load_corpus("tiny").train.test


def test_a_changed_byte_is_named(data: Path) -> None:
    path = data / "tiny/train.ru.txt"
    path.write_bytes(path.read_bytes().replace("чай".encode(), "май".encode(), 1))
    with pytest.raises(CorpusHashError, match=r"^tiny/train\.ru\.txt: ") as caught:
        load_corpus("tiny", directory=data)
    assert caught.value.path == "tiny/train.ru.txt"
    assert len(caught.value.expected) == len(caught.value.found) == 64
    assert caught.value.expected != caught.value.found


def test_a_checkout_with_crlf_is_named(data: Path) -> None:
    path = data / "tiny/train.en.txt"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(CorpusLineEndingError, match=r"tiny/train.en.txt: expected line ends LF, found CRLF"):
        load_corpus("tiny", directory=data)


def test_a_missing_file_is_named(data: Path) -> None:
    (data / "tiny/test.en.txt").unlink()
    with pytest.raises(MissingCorpusFileError, match=r"test\.en\.txt: cannot be read"):
        load_corpus("tiny", directory=data)


def test_a_package_without_its_data_says_how_to_install(tmp_path: Path) -> None:
    with pytest.raises(MissingCorpusFileError, match=r"manifest\.json: cannot be read .* pip install -e"):
        load_corpus("tiny", directory=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"", "the file"),
        (b"{", "the file"),
        (b"\xff\xfe\x00", "the file"),
        (b"[" * 100_000, "the file"),
        (b"[]", "the file"),
        (b'{"tiny": {}}', "the file"),
        (b'{"tiny": ["tiny/train.en.txt"]}', r"tiny\[0\]"),
    ],
)
def test_a_malformed_manifest_is_named(data: Path, content: bytes, place: str) -> None:
    (data / "manifest.json").write_bytes(content)
    with pytest.raises(CorpusManifestError, match=rf"manifest\.json, {place}: expected .*, found "):
        load_corpus("tiny", directory=data)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"sha256": None},
            r"tiny\[0\]: expected an object with path, language, split, kind, document_per, sha256",
        ),
        ({"colour": "red"}, r"tiny\[0\]: expected an object with path"),
        ({"language": 7}, r"tiny\[0\]\.language: expected a BCP 47 tag, found 7"),
        ({"split": "training"}, r"split: expected train, validation or test, found 'training'"),
        ({"document_per": "page"}, r"document_per: expected file or line, found 'page'"),
        ({"path": "../secret.txt"}, r"path: expected a path inside the folder, found '\.\./secret\.txt'"),
        ({"path": "/etc/hostname"}, r"path: expected a path inside the folder"),
        ({"path": "C:\\secret.txt"}, r"path: expected a path inside the folder"),
        ({"path": "tiny/../../secret.txt"}, r"path: expected a path inside the folder"),
        ({"path": "tiny/\0.txt"}, r"path: expected a path inside the folder"),
        ({"path": ""}, r"path: expected a path inside the folder, found ''"),
        ({"sha256": "12ab"}, r"sha256: expected 64 hexadecimal digits, found '12ab'"),
    ],
)
def test_a_malformed_entry_is_named(data: Path, changes: dict[str, object], message: str) -> None:
    write_manifest(data, **changes)
    with pytest.raises(CorpusManifestError, match=message):
        load_corpus("tiny", directory=data)


def test_a_path_to_a_folder_is_named(data: Path) -> None:
    write_manifest(data, path="tiny")
    with pytest.raises(MissingCorpusFileError, match=r"tiny: cannot be read"):
        load_corpus("tiny", directory=data)


def test_a_file_that_is_no_text_is_named(data: Path) -> None:
    (data / "tiny/binary").write_bytes(b"ab\xff")
    write_manifest(data, path="tiny/binary", sha256=hashlib.sha256(b"ab\xff").hexdigest())
    with pytest.raises(CorpusManifestError, match=r"tiny/binary: expected UTF-8, found .* position 2"):
        load_corpus("tiny", directory=data)


def test_every_error_of_the_loader_is_a_corpus_error() -> None:
    kinds = (CorpusHashError, CorpusLineEndingError, CorpusManifestError, MissingCorpusFileError)
    assert all(issubclass(kind, CorpusError) for kind in (*kinds, UnknownCorpusNameError))
    assert issubclass(CorpusError, tokenlab.TokenLabError)
