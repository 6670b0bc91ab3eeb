"""Encoding by chunks: the fast way through pre-tokenizer and model (chapter 6).

Each chunk's tokens are kept in a cache, and so are those of each word inside of one. That it equals the plain
way, piece by piece, is what `chunks` promises and the tests check.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate, chain
from typing import Any, NamedTuple

from tokenlab.pipeline.chunks import Chunker
from tokenlab.pipeline.encoding import Span
from tokenlab.pipeline.models import Model, PieceCache, Token
from tokenlab.pipeline.pre_tokenizers import PreTokenizer
from tokenlab.pipeline.text import AlignedText

_KEPT_CHUNKS = 1 << 17
_BLOCK = 1 << 19  # characters
_WORTH_IT = 2000  # chunks


Row = tuple[tuple[int, ...], tuple[str, ...], tuple[Span, ...], tuple[int | None, ...], int]
"""IDs, tokens, spans, the number of each one's word, and the count of words: of a chunk, from its start."""


def _row(tokens: list[Token]) -> Row:
    """Return the row of one word."""
    ids = tuple([token.id for token in tokens])
    spans = tuple([(token.start, token.end) for token in tokens])
    return ids, tuple([token.token for token in tokens]), spans, (0,) * len(ids), 1


def _look_up(kept: Any, chunks: list[str], learn: Callable[[list[str]], None]) -> list[Any]:
    """Return what is kept of each chunk, after learning the new ones, all at once where they are many."""
    found = list(map(kept.get, chunks))
    if all(found):
        return found
    new = [chunk for chunk in set(chunks) if chunk not in kept and len(chunk) <= 100]
    if len(new) >= _WORTH_IT:
        learn(new)
    return list(map(kept.__getitem__, chunks))


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the collector from looking again and again through mere tuples: a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Columns(NamedTuple):
    """The tokens of one text, as columns that grow."""

    ids: list[int]
    tokens: list[str]
    offsets: list[Span]
    word_ids: list[int | None]

    def add(self, found: Iterable[Token], piece: AlignedText, word: int) -> None:
        """Add the tokens of a piece, which is number `word`."""
        for token_id, token, start, end in found:
            self.ids.append(token_id)
            self.tokens.append(token)
            self.offsets.append(piece.span(start, end))
            self.word_ids.append(word)

    def extend(self, others: Columns, word: int | None) -> None:
        """Add other columns; with `word`, as the tokens of that word."""
        self.ids.extend(others.ids)
        self.tokens.extend(others.tokens)
        self.offsets.extend(others.offsets)
        self.word_ids.extend(others.word_ids if word is None else [word] * len(others.ids))


class ChunkEncoder:
    """Pre-tokenizer and model, with what they made of earlier chunks.

    Arguments:
        pre_tokenizer, model: the two stages.
        chunker: how text is cut for this pre-tokenizer.
    """

    def __init__(self, pre_tokenizer: PreTokenizer, model: Model, chunker: Chunker) -> None:
        self._pre_tokenizer, self._model, self._blocks = pre_tokenizer, model, chunker.blocks
        self._cutter, table = pre_tokenizer.parted()
        self._only_cuts = self._cutter.only_cuts

        def rewrite(word: str) -> str:
            return word if table is None else word.translate(table)

        self._rewrite = rewrite
        self._word_ids = PieceCache(lambda word: model.encode_ids(rewrite(word)))
        self._word_rows: Any = PieceCache(lambda word: _row(model.tokenize(rewrite(word))))  # type: ignore[arg-type, return-value]
        self._chunk_ids = PieceCache(lambda chunk: self._joined_ids(self._cutter.pieces(chunk)), _KEPT_CHUNKS)
        self._chunk_rows: Any = PieceCache(self._row_of_chunk)  # type: ignore[arg-type]

    def add_ids(self, ids: list[int], text: str) -> None:
        """Add the IDs of a text.

        Raises:
            UnknownCharacterError: with a position that counts from some chunk's start.
        """
        with _collector_paused():
            for chunks in self._blocks(text, _BLOCK):
                ids.extend(chain.from_iterable(_look_up(self._chunk_ids, chunks, self._learn_ids)))

    def add_columns(self, columns: Columns, text: AlignedText, word: int) -> int:
        """Add the tokens of a text, whose words are numbered from `word`; return the number after the last.

        Raises:
            UnknownCharacterError: with a position that counts from some chunk's start.
        """
        with _collector_paused():
            return self._add_columns(columns, text, word)

    def _add_columns(self, columns: Columns, text: AlignedText, word: int) -> int:
        starts, ends, place = text.starts, text.ends, 0
        for chunks in self._blocks(text.text, _BLOCK):
            rows = _look_up(self._chunk_rows, chunks, self._learn_rows)
            ids, tokens, spans, numbers, counts = zip(*rows, strict=True)
            places = list(accumulate(map(len, chunks), initial=place))
            words = list(accumulate(counts, initial=word))
            place, word = places.pop(), words.pop()
            columns.ids.extend(chain.from_iterable(ids))
            columns.tokens.extend(chain.from_iterable(tokens))
            columns.word_ids.extend([at + n for at, each in zip(words, numbers, strict=True) for n in each])
            if isinstance(starts, range):  # every character stands for itself
                shift = text.origin
                at_spans = zip([shift + at for at in places], spans, strict=True)
                columns.offsets.extend(
                    [(at + start, at + end) for at, each in at_spans for start, end in each]
                )
            else:
                at_spans = zip(places, spans, strict=True)
                columns.offsets.extend(
                    [(starts[at + start], ends[at + end - 1]) for at, each in at_spans for start, end in each]
                )
        return word

    def _learn_ids(self, chunks: list[str]) -> None:
        cut, words = self._new_words(chunks, self._word_ids)
        self._word_ids.keep(words, self._model.encode_many(list(map(self._rewrite, words))))
        self._chunk_ids.keep(list(cut), [tuple(self._joined_ids(each)) for each in cut.values()])

    def _learn_rows(self, chunks: list[str]) -> None:
        chunks = [chunk for chunk in chunks if chunk.isascii()] if self._only_cuts else []
        cut, words = self._new_words(chunks, self._word_rows)
        found = self._model.tokenize_many(list(map(self._rewrite, words)))
        self._word_rows.keep(words, list(map(_row, found)))
        self._chunk_rows.keep(list(cut), [self._joined_row(*each) for each in cut.items()])

    def _new_words(self, chunks: list[str], kept: Any) -> tuple[dict[str, list[str]], list[str]]:
        """Return the words of each chunk, and those of them that are not kept yet."""
        cut = {chunk: self._cutter.pieces(chunk) for chunk in chunks}
        return cut, [word for word in set(chain.from_iterable(cut.values())) if word not in kept]

    def _joined_ids(self, words: list[str]) -> Iterable[int]:
        ids = self._word_ids
        return ids[words[0]] if len(words) == 1 else chain.from_iterable(map(ids.__getitem__, words))

    def _row_of_chunk(self, chunk: str) -> Row:
        if not (chunk.isascii() and self._only_cuts):
            pieces = self._pre_tokenizer.pre_tokenize(AlignedText.of(chunk, origin=1))
            columns = Columns([], [], [], [])
            for number, piece in enumerate(pieces):
                columns.add(self._model.tokenize(piece.text), piece, number)
            spans = tuple([(start - 1, end - 1) for start, end in columns.offsets])
            return tuple(columns.ids), tuple(columns.tokens), spans, tuple(columns.word_ids), len(pieces)
        return self._joined_row(chunk, self._cutter.pieces(chunk))

    def _joined_row(self, chunk: str, words: list[str]) -> Row:
        rows: list[Row] = [self._word_rows[word] for word in words]
        if len(rows) == 1 and words[0] == chunk:
            return rows[0]
        places, place = [], 0
        for word in words:  # between words is nothing, or white space that they do not have
            places.append(place := chunk.index(word, place))
            place += len(word)
        return (
            tuple(chain.from_iterable([row[0] for row in rows])),
            tuple(chain.from_iterable([row[1] for row in rows])),
            tuple(
                [
                    (at + start, at + end)
                    for row, at in zip(rows, places, strict=True)
                    for start, end in row[2]
                ]
            ),
            tuple([number for number, row in enumerate(rows) for _ in row[0]]),
            len(rows),
        )
