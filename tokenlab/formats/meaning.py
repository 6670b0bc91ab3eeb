"""What several formats share: programs of post-processors, literal patterns, losses, reading in bulk.

Chapter 07, where one format's records are said by those of another.
"""

from __future__ import annotations

import gc
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tokenlab.errors import LostAnswersError, LostAnswersWarning, TokenLabWarning
from tokenlab.pipeline import decoders, post_processors
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.encoding import Encoding
from tokenlab.pipeline.models import Model
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.post_processors import SpecialToken, TemplatePiece
from tokenlab.pipeline.tokenizer import Tokenizer

LARGE_FILE = 1 << 20  # bytes: from here on, pausing the garbage collector pays
TEXT = -1  # stands for the text in what a post-processor makes


def one_token(sequence_id: int = 0) -> Encoding:
    """Return a text of one token, with an ID that no token has."""
    return Encoding.from_tokens([TEXT], ["x"], [(0, 1)], [0], "x", sequence_id)


def program_of(post_processor: Any) -> list[int | None]:
    """Return what a post-processor makes of one text: None where the text stands, IDs elsewhere."""
    ids = [TEXT] if post_processor is None else post_processor.process(one_token()).ids
    return [None if token_id == TEXT else token_id for token_id in ids]


def with_prefix(program: Iterable[int | None], prefix: Iterable[int]) -> list[int | None]:
    """Return a program that puts IDs in front of each text, too.

    >>> with_prefix([None, 2], [0, 1])
    [0, 1, None, 2]
    """
    return [each for step in program for each in ([*prefix, None] if step is None else [step])]


def post_processor_of(
    steps: Iterable[int | None], model: Model, added_tokens: Iterable[AddedToken]
) -> post_processors.TemplateProcessing | None:
    """Return the template that a program is: None for the text, an ID for a special token.

    A program says nothing of pairs. What the field does is taken: what ends the first text ends the second,
    too; where nothing does, what begins the first begins the second. The tokens are named as in the model
    and the added tokens.
    """
    steps = list(steps)
    if steps in ([], [None]):
        return None
    added = {token.id: token.content for token in added_tokens}
    specials = {}
    for step in steps:
        if step is not None:
            token = added.get(step, model.tokens_by_id.get(step, ""))
            specials[step] = SpecialToken(token or str(step), (step,), (token,))

    def pieces(steps: Iterable[int | None], part: str = "A") -> tuple[TemplatePiece, ...]:
        kind = "AB".index(part)
        return tuple(
            TemplatePiece("Sequence", part, kind)
            if step is None
            else TemplatePiece("SpecialToken", specials[step].id, kind)
            for step in steps
        )

    last = len(steps) - 1 - steps[::-1].index(None) if None in steps else len(steps) - 1
    second = steps if last == len(steps) - 1 else steps[last:]
    single = pieces(steps)
    by_name = {special.id: special for special in specials.values()}
    return post_processors.TemplateProcessing(single, (*single, *pieces(second, "B")), by_name)


def literal_of(pattern: Pattern) -> str | None:
    """Return the one text that a pattern matches, or None if there are several or none.

    >>> literal_of(Pattern(r"a\\.", regex=True)), literal_of(Pattern("a+", regex=True))
    ('a.', None)
    """
    if not pattern.regex:
        return pattern.text
    plain = re.fullmatch(r"(?:[^\\.^$*+?{}\[\]()|]|\\[^\w\s])+", pattern.text)
    return re.sub(r"\\(.)", r"\1", pattern.text) if plain else None


def never_a_prefix(texts: Iterable[str]) -> str:
    """Return a text that none of the texts begins with.

    >>> never_a_prefix(["a", chr(0)]) == chr(0) * 2
    True
    """
    texts = list(texts)
    prefix = "\0"
    while any(text.startswith(prefix) for text in texts):
        prefix += "\0"
    return prefix


def with_clean_up_spelled(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer whose clean-up after decoding, if it has one, is said by decoders."""
    if not tokenizer.clean_up_tokenization_spaces:
        return tokenizer
    before = tokenizer.decoder or decoders.WordPiece(never_a_prefix(tokenizer.vocabulary), cleanup=False)
    tidy = (decoders.Replace(Pattern(dirty), clean) for dirty, clean in decoders.CLEANUP.items())
    whole = decoders.Sequence((before, decoders.Fuse(), *tidy))
    return replace(tokenizer, decoder=whole, clean_up_tokenization_spaces=False)


def report_losses(losses: Sequence[TokenLabWarning], *, strict: bool) -> None:
    """Warn of each loss; under `strict` a loss of answers is an error, with all of them.

    Raises:
        LostAnswersError: under `strict`.
    """
    answers = tuple(loss for loss in losses if isinstance(loss, LostAnswersWarning))
    if answers and strict:
        raise LostAnswersError(losses="; ".join(map(str, answers)), warnings=answers)
    for loss in losses:
        warnings.warn(loss, stacklevel=4)


@contextmanager
def collector_paused(size: int) -> Iterator[None]:
    """Pause the garbage collector for a file of many bytes.

    Millions of new tuples, none of them garbage, would be walked over and over.
    """
    pause = size >= LARGE_FILE and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()
