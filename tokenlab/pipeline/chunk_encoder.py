"""Encoding by chunks: the fast way through pre-tokenizer and model (chapter 6).

Each chunk's tokens are kept in a cache, and so are those of each word inside of one. That it equals the plain
way, piece by piece, is what `chunks` promises and the tests check. New chunks of a long text are learnt all
at once, in loops that the interpreter runs inside of one call.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate, chain, compress, count, pairwise, repeat
from operator import itemgetter, sub
from typing import Any, NamedTuple

from tokenlab.pipeline.chunks import Chunker
from tokenlab.pipeline.encoding import Span
from tokenlab.pipeline.models import Model, PieceCache, Token
from tokenlab.pipeline.pre_tokenizers import PreTokenizer
from tokenlab.pipeline.text import WHITE_SPACE, AlignedText

_KEPT_CHUNKS = 1 << 17
_BLOCK = 1 << 20  # characters
_WORTH_IT = 2000  # chunks
_NO_ID = -1

Row = tuple[tuple[int, ...], tuple[str, ...], tuple[int, ...], tuple[int, ...]]
"""What a word becomes: IDs, tokens, moves, steps; rows can be put end to end as they are.

For each token there are two moves, in characters: from where the token before ends (the first one: from where
the row begins) to where it starts, and on to where it ends. Its step is 1 where a new word begins, else 0.
What no token covers at the end of a row is a token without an ID, taken out at last."""


def _row(found: Sequence[tuple[int, str, int, int]], steps: tuple[int, ...], start: int, end: int) -> Row:
    """Return the row of the tokens found from `start` to `end`."""
    if not found or found[-1][3] != end:
        found, steps = [*found, (_NO_ID, "", end, end)], (*steps, 0)
    if len(found) == 1:
        token_id, token, first, last = found[0]
        return (token_id,), (token,), (first - start, last - first), steps
    ids, tokens, starts, ends = zip(*found, strict=True)
    moves = zip(map(sub, starts, (start, *ends)), map(sub, ends, starts), strict=False)
    return ids, tokens, tuple(chain.from_iterable(moves)), steps


@lru_cache(maxsize=256)
def _steps(tokens: int) -> tuple[int, ...]:
    return (1, *repeat(0, tokens - 1)) if tokens else ()


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

    Args:
        pre_tokenizer, model: the two stages.
        chunker: how text is cut for this pre-tokenizer.
    """

    def __init__(self, pre_tokenizer: PreTokenizer, model: Model, chunker: Chunker) -> None:
        self._pre_tokenizer, self._model, self._chunker = pre_tokenizer, model, chunker
        self._cutter, self._table = pre_tokenizer.parted()
        self._drops_space = self._cutter.only_cuts and not self._cutter.pieces(" ")
        self._word_ids = PieceCache(self._ids_of_word)
        self._word_rows: Any = PieceCache(self._row_of_word)  # type: ignore[arg-type]
        self._chunk_ids = PieceCache(self._ids_of_chunk, _KEPT_CHUNKS)
        self._chunk_rows: Any = PieceCache(self._rows_of_chunk, _KEPT_CHUNKS)  # type: ignore[arg-type]

    def add_ids(self, ids: list[int], text: str) -> None:
        """Add the IDs of a text.

        Raises:
            UnknownCharacterError: with a position that counts from some chunk's start.
        """
        with _collector_paused():
            for chunks in self._chunker.blocks(text, _BLOCK):
                ids.extend(chain.from_iterable(self._look_up(self._chunk_ids, chunks, self._learn_ids)))

    def add_columns(self, columns: Columns, text: AlignedText, word: int) -> int:
        """Add the tokens of a text, whose words are numbered from `word`; return the number after the last.

        Raises:
            UnknownCharacterError: with a position that counts from some chunk's start.
        """
        with _collector_paused():
            return self._add_columns(columns, text, word)

    def _add_columns(self, columns: Columns, text: AlignedText, word: int) -> int:
        starts, ends = text.starts, text.ends
        place = starts.start if isinstance(starts, range) else 0  # in a range all stand for themselves
        for chunks in self._chunker.blocks(text.text, _BLOCK):
            rows = list(chain.from_iterable(self._look_up(self._chunk_rows, chunks, self._learn_rows)))
            ids, tokens, moves, steps = (chain.from_iterable(map(itemgetter(n), rows)) for n in range(4))
            places = accumulate(moves, initial=place)
            next(places)
            spans = list(zip(places, places, strict=False))
            numbers = list(accumulate(steps, initial=word - 1))
            place, word = spans[-1][1], numbers[-1] + 1
            if not isinstance(starts, range):
                spans = [
                    (starts[start], ends[end - 1]) if start < end else text.span(start, end)
                    for start, end in spans
                ]
            made: list[Any] = [list(ids), tokens, spans, numbers[1:]]
            if _NO_ID in made[0]:
                is_token = [token_id != _NO_ID for token_id in made[0]]
                made = [compress(column, is_token) for column in made]
            growing: tuple[list[Any], ...] = columns
            for column, new in zip(growing, made, strict=True):
                column.extend(new)
        return word

    def _look_up(self, kept: Any, chunks: list[str], learn: Callable[[list[str]], None]) -> list[Any]:
        """Return what is kept of each chunk, after learning the new ones, all at once where they are many."""
        found = list(map(kept.get, chunks)) if kept else [None]
        if all(found):
            return found
        new = [chunk for chunk in set(chunks).difference(kept) if len(chunk) <= 100]
        if len(new) >= _WORTH_IT and self._cutter.only_cuts:
            for is_ascii in (True, False):  # apart, since patterns are quicker on ASCII
                if some := [chunk for chunk in new if chunk.isascii() == is_ascii]:
                    learn(some)
        return list(map(kept.__getitem__, chunks))

    # --- Many new chunks at once

    def _learn_ids(self, chunks: list[str]) -> None:
        chunks, words, ends = self._cut(chunks)
        new = list(filter(self._bare, set(words).difference(self._word_ids)))
        self._word_ids.keep(new, self._model.encode_many(list(map(self._spelled, new))))
        of_words = list(map(self._word_ids.__getitem__, words))
        ids = tuple(chain.from_iterable(of_words))
        places = list(accumulate(map(len, of_words), initial=0))
        self._chunk_ids.keep(chunks, [ids[places[first] : places[end]] for first, end in pairwise(ends)])

    def _learn_rows(self, chunks: list[str]) -> None:
        chunks, words, ends = self._cut(chunks)
        new = list(filter(self._bare, set(words).difference(self._word_rows)))
        found = self._model.tokenize_many(list(map(self._spelled, new)))
        self._word_rows.keep(new, list(map(self._row_of_word, new, found)))
        rows = tuple(map(self._word_rows.__getitem__, words))
        self._chunk_rows.keep(chunks, [rows[first:end] for first, end in pairwise(ends)])

    def _cut(self, chunks: list[str]) -> tuple[list[str], list[str], list[int]]:
        """Cut many chunks in one go; return chunks, all words, and where in these each chunk begins and ends.

        A text is put together from the chunks and cut. Where two have grown together in it, that is a chunk
        like any other, and the two are left to be looked at one by one. So are all where a word, with the
        space that was dropped before it, begins in one chunk and ends in another.
        """
        line = next((chunk for chunk in chunks if chunk[-1] in "\r\n"), "")
        text = "".join([chunk if chunk[0] in self._chunker.opening else line + chunk for chunk in chunks])
        chunks, words = self._chunker.cut(text), self._words(text)
        borders = set(accumulate(map(len, chunks)))
        ends = [0, *compress(count(1), map(borders.__contains__, accumulate(map(len, words))))]
        return (chunks, words, ends) if len(ends) == len(chunks) + 1 else ([], words, [])

    # --- One word, one chunk

    def _words(self, text: str) -> list[str]:
        return self._cutter.spaced_pieces(text) if self._drops_space else self._cutter.pieces(text)

    def _bare(self, word: str) -> str:
        return word.lstrip(WHITE_SPACE) if self._drops_space else word

    def _spelled(self, word: str) -> str:
        """Return a word as the model sees it."""
        return self._bare(word) if self._table is None else self._bare(word).translate(self._table)

    def _ids_of_word(self, word: str) -> Iterable[int]:
        spelled = self._spelled(word)
        return self._model.encode_ids(spelled) if spelled else ()

    def _row_of_word(self, word: str, found: Sequence[Token] | None = None) -> Row:
        bare = self._bare(word)
        tokens: Any = found or (self._model.tokenize(self._spelled(word)) if bare else ())
        if self._table is not None and not bare.isascii():  # one character may be several in the table
            of = [place for place, character in enumerate(bare) for _ in self._table[ord(character)]]
            tokens = [(each.id, each.token, of[each.start], of[each.end - 1] + 1) for each in tokens]
        return _row(tokens, _steps(len(tokens)), len(bare) - len(word), len(bare))

    def _ids_of_chunk(self, chunk: str) -> Iterable[int]:
        return chain.from_iterable(map(self._word_ids.__getitem__, self._words(chunk)))

    def _rows_of_chunk(self, chunk: str) -> Iterable[Row]:
        if self._cutter.only_cuts:
            return map(self._word_rows.__getitem__, self._words(chunk))
        tokens: list[tuple[int, str, int, int]] = []
        steps: tuple[int, ...] = ()
        for piece in self._pre_tokenizer.pre_tokenize(AlignedText.of(chunk, origin=1)):
            found = self._model.tokenize(piece.text)
            tokens += [(each.id, each.token, *piece.span(each.start, each.end)) for each in found]
            steps += _steps(len(found))
        return [_row(tokens, steps, 1, 1 + len(chunk))]
