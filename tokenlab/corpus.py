"""The course corpora: documents, their splits, and a hash of each file (used from chapter 1 on).

The texts lie in `data/`, beside the package in a clone. Its manifest names the corpus and the split of each
file and gives its SHA-256, so that a changed byte is noticed before it changes a result.
Language tags follow BCP 47 (RFC 5646): `zxx` marks a file without natural language, such as code.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tokenlab import errors

DATA_DIRECTORY = Path(__file__).resolve().parent.parent / "data"

# What the manifest says of each file: the pattern of every field, and how an error names it.
_FILE_FIELDS = {
    "path": (r"\w[\w.-]*(/\w[\w.-]*)*", "a path inside the folder"),
    "language": (r"[a-z]{2,3}(-[A-Z][a-z]{3})?", "a BCP 47 tag"),
    "split": (r"train|validation|test", "train, validation or test"),
    "kind": (r"[a-z]+", "a word"),
    "document_per": (r"file|line", "file or line"),
    "sha256": (r"[0-9a-f]{64}", "64 hexadecimal digits"),
}


@dataclass(frozen=True, slots=True)
class Document:
    """One text of a corpus: a barrier that no pair of a trainer crosses."""

    id: str
    language: str
    split: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents in the order of the manifest; a selection from a corpus is a corpus again."""

    name: str
    documents: tuple[Document, ...]

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each document: what a trainer takes."""
        return tuple(document.text for document in self.documents)

    @property
    def train(self) -> Corpus:
        """The documents to train on."""
        return self._select("split", "train")

    @property
    def validation(self) -> Corpus:
        """The documents to choose settings by."""
        return self._select("split", "validation")

    @property
    def test(self) -> Corpus:
        """The documents to measure on, once."""
        return self._select("split", "test")

    def by_language(self, language: str) -> Corpus:
        """Return the documents of one language.

        `language` is a BCP 47 tag, spelt as in the manifest. Raises `UnknownCorpusNameError` if no document
        has it.

        >>> load_corpus("tiny").train.by_language("en").documents[0].text
        'The library is by the sea.'
        """
        return self._select("language", language)

    def by_kind(self, kind: str) -> Corpus:
        """Return the documents of one kind: prose, parallel, code or emoji.

        Raises `UnknownCorpusNameError` if no document is of that kind.
        """
        return self._select("kind", kind)

    def _select(self, field: Literal["split", "language", "kind"], value: str) -> Corpus:
        found = tuple(document for document in self.documents if getattr(document, field) == value)
        if not found:
            known = sorted({getattr(document, field) for document in self.documents})
            place = f"corpus {self.name!r}"
            raise errors.UnknownCorpusNameError(what=field, name=value, place=place, known=known)
        return Corpus(self.name, found)


def load_corpus(name: str, *, directory: Path = DATA_DIRECTORY) -> Corpus:
    """Read a corpus of the course, and check every file of it against its hash.

    `name` is `"tiny"` (a few dozen sentences) or `"multilingual"` (prose, one passage in eight languages,
    code, emoji); `directory` is the folder that holds `manifest.json`. Returns the corpus with its documents
    in the order of the manifest. Raises `UnknownCorpusNameError`, `MissingCorpusFileError`,
    `CorpusManifestError`, `CorpusHashError` or `CorpusLineEndingError`, all of them `CorpusError`.

    >>> corpus = load_corpus("tiny")
    >>> len(corpus.train), corpus.test.documents[0].id
    (44, 'tiny/test.en.txt:1')
    """
    directory = Path(directory)
    corpora = _read_manifest(directory)
    if name not in corpora:
        known = sorted(corpora)
        raise errors.UnknownCorpusNameError(what="corpus", name=name, place="manifest.json", known=known)
    documents = [document for file in corpora[name] for document in _read_documents(directory, file)]
    return Corpus(name, tuple(documents))


def _read_manifest(directory: Path) -> dict[str, list[dict[str, str]]]:
    data = _read_bytes(directory / "manifest.json")
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _bad_manifest("the file", "JSON in UTF-8", error) from error
    if not isinstance(manifest, dict) or not all(isinstance(files, list) for files in manifest.values()):
        raise _bad_manifest("the file", "an object of lists", _shorten(manifest))
    for name, files in manifest.items():
        for position, entry in enumerate(files):
            _check_entry(f"{name}[{position}]", entry)
    return manifest


def _check_entry(place: str, entry: Any) -> None:
    if not isinstance(entry, dict) or entry.keys() != _FILE_FIELDS.keys():
        raise _bad_manifest(place, f"an object with {', '.join(_FILE_FIELDS)}", _shorten(entry))
    for key, (pattern, expected) in _FILE_FIELDS.items():
        if not (isinstance(entry[key], str) and re.fullmatch(pattern, entry[key])):
            raise _bad_manifest(f"{place}.{key}", expected, _shorten(entry[key]))


def _bad_manifest(place: str, expected: str, found: object) -> errors.CorpusManifestError:
    return errors.CorpusManifestError(place=place, expected=expected, found=str(found))


def _read_documents(directory: Path, file: dict[str, str]) -> list[Document]:
    path, expected = file["path"], file["sha256"]
    data = _read_bytes(directory / path)
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        if hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest() == expected:
            raise errors.CorpusLineEndingError(path=path)
        raise errors.CorpusHashError(path=path, expected=expected, found=found)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _bad_manifest(path, "UTF-8", error) from error
    texts = {path: text}
    if file["document_per"] == "line":
        lines = text.removesuffix("\n").split("\n")
        texts = {f"{path}:{number}": line for number, line in enumerate(lines, start=1)}
    return [Document(id, file["language"], file["split"], file["kind"], text) for id, text in texts.items()]


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise errors.MissingCorpusFileError(path=str(path), reason=error.strerror) from error


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
