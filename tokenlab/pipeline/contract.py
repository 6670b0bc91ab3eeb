"""Special tokens as a contract: six questions that every tokenizer must be able to answer (chapter 6b).

After the published list: may user text spell them, when are they matched, who puts BOS and EOS in, does padding
share an ID with EOS, do the tokens of tools and media form one range, and what must grow with the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenlab.pipeline.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of the contract, the answer in words, and the facts behind it."""

    question: str
    answer: str
    facts: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """The six answers, in the order of the published list.

    Arguments:
        user_text: may user text spell a special token; facts: the special tokens that it could spell.
        matching: when are added tokens matched; facts: those found in the raw, and in the normalised text.
        bos_eos: who puts BOS and EOS in; facts: what the tokenizer inserts, what the chat template names.
        padding: does PAD share the ID of EOS; facts: PAD's ID, EOS's ID.
        ranges: do tool and media tokens form one range; facts: (first, last) of each run of added IDs.
        growth: what must grow with the vocabulary; facts: rows needed, IDs in use.
        warnings: what is likely a mistake.
    """

    user_text: Answer
    matching: Answer
    bos_eos: Answer
    padding: Answer
    ranges: Answer
    growth: Answer
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        answers = (self.user_text, self.matching, self.bos_eos, self.padding, self.ranges, self.growth)
        lines = [f"{each.question}\n  {each.answer}" for each in answers]
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])


def contract_of(tokenizer: Tokenizer) -> Contract:
    """Return the contract of a tokenizer."""
    special = tuple(token.content for token in tokenizer.added_tokens if token.special)
    raw = tuple(token.content for token in tokenizer.added_tokens if not token.normalized)
    normalized = tuple(token.content for token in tokenizer.added_tokens if token.normalized)
    vocabulary = tokenizer.vocabulary
    inserted = tuple(tokenizer.encode("").tokens) if tokenizer.padding is None else ()
    return Contract(*(Answer("", "") for _ in range(6)))
