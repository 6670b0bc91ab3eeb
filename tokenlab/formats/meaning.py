"""What several formats say in different ways: programs of post-processors, words that nothing continues.

Chapter 07, where one format's records are said by those of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from tokenlab.pipeline import decoders, post_processors
from tokenlab.pipeline.encoding import Encoding
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.post_processors import SpecialToken, TemplatePiece
from tokenlab.pipeline.tokenizer import Tokenizer

TEXT = -1  # stands for the text in what a post-processor makes


def one_token(sequence_id: int = 0) -> Encoding:
    """Return a text of one token, with an ID that no token has."""
    return Encoding.from_tokens([TEXT], ["x"], [(0, 1)], [0], "x", sequence_id)


def program_of(post_processor: Any) -> list[int | None]:
    """Return what a post-processor makes of one text: None where the text stands, IDs elsewhere."""
    ids = [TEXT] if post_processor is None else post_processor.process(one_token()).ids
    return [None if token_id == TEXT else token_id for token_id in ids]


def post_processor_of(steps: Iterable[int | None], names: Callable[[int], str]) -> Any:
    """Return the template that a program is: None for the text, an ID for a special token.

    A program says nothing of pairs. What the field does is taken: what ends the first text ends the second,
    too; where nothing does, what begins the first begins the second.
    """
    steps = list(steps)
    if all(step is None for step in steps) and len(steps) < 2:
        return None
    specials = {step: names(step) or str(step) for step in steps if step is not None}

    def pieces(steps: Iterable[int | None], part: str = "A") -> list[TemplatePiece]:
        kind = "AB".index(part)
        return [
            TemplatePiece("Sequence", part, kind)
            if step is None
            else TemplatePiece("SpecialToken", specials[step], kind)
            for step in steps
        ]

    last = len(steps) - 1 - steps[::-1].index(None) if None in steps else len(steps) - 1
    second = steps if last == len(steps) - 1 else steps[last:]
    return post_processors.TemplateProcessing(
        tuple(pieces(steps)),
        (*pieces(steps), *pieces(second, "B")),
        {name: SpecialToken(name, (token_id,), (names(token_id),)) for token_id, name in specials.items()},
    )


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
