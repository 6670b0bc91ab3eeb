"""Special tokens as a contract: six questions that every tokenizer must be able to answer (chapter 08).

After the published list of the tokenizer notes: may user text spell them, when are they matched, who puts BOS
and EOS in, does padding share an ID with EOS, do the tokens of tools and media form one range, what must grow
with the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from tokenlab.errors import TokenLabError

if TYPE_CHECKING:
    from tokenlab.pipeline.tokenizer import Tokenizer

_MEDIA = re.compile(r"tool|function|python|image|audio|video|vision|media|speech", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of the contract, the answer in words, and the facts behind it."""

    question: str
    answer: str
    facts: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """The six answers, in the order of the published list.

    Args:
        user_text: may user text spell a special token; facts: those that encoding reads out of plain text.
        matching: when are added tokens matched; facts: those found in the raw, and in the normalised text.
        bos_eos: who puts BOS and EOS in; facts: what the tokenizer inserts, what the chat template names.
        padding: does PAD share the ID of EOS; facts: PAD's ID, EOS's ID (None: there is none).
        ranges: do tool and media tokens form one range; facts: (first, last) of each run of their IDs.
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

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The six answers."""
        return tuple(getattr(self, each.name) for each in fields(self) if each.name != "warnings")

    def __str__(self) -> str:
        lines = [f"{each.question}\n  {each.answer}" for each in self.answers]
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])


def contract_of(tokenizer: Tokenizer) -> Contract:
    """Return the contract of a tokenizer.

    >>> from tokenlab import BpeTokenizer, to_pipeline
    >>> contract = to_pipeline(BpeTokenizer.from_merge_pairs([])).contract()
    >>> contract.user_text.facts, contract.bos_eos.facts[0], contract.growth.facts
    (('<BOS>', '<EOS>'), ('<BOS>', '<EOS>'), (258, 258))
    """
    plain = replace(tokenizer, truncation=None, padding=None, unknown_characters="error")
    added = plain.added_tokens
    special = {token.content: token.id for token in added if token.special}
    spelt = tuple(content for content, token_id in special.items() if token_id in _ids(plain, content))
    is_made_anyway = any(special[content] in _ids(plain, content, parse_special=False) for content in spelt)
    safe = "encode_parts" if is_made_anyway else "parse_special_tokens=False or encode_parts"
    empty = plain.encode("")
    inserted = tuple(t for t, mask in zip(empty.tokens, empty.special_tokens_mask, strict=True) if mask)
    ids = {**plain.model.vocabulary, **{token.content: token.id for token in added}}
    named = _named_by_template(plain)
    pad, eos = _padding_id(tokenizer), ids.get(plain.eos_token or "")
    runs = _runs(token.id for token in added if _MEDIA.search(token.content))
    rows = max(ids.values(), default=-1) + 1
    raw = tuple(token.content for token in added if not token.normalized)
    normalized = tuple(token.content for token in added if token.normalized)

    warnings = []
    if plain.bos_token in inserted and plain.bos_token in named:
        warnings.append(
            f"tokenizer and template both write {plain.bos_token}: encode what it renders without them"
        )
    if pad is not None and pad == eos:
        warnings.append(f"PAD and EOS share ID {pad}: whoever masks the padding masks the ends of texts, too")
    return Contract(
        Answer(
            "May user text spell a special token?",
            f"It can: {_listed(spelt)}, unless encoded with {safe}."
            if spelt
            else "It cannot: no special token is read out of plain text.",
            spelt,
        ),
        Answer(
            "When are added tokens matched?",
            f"Before pre-tokenisation. In the raw text: {_listed(raw)}. "
            f"In the normalised text: {_listed(normalized)}.",
            (raw, normalized),
        ),
        Answer(
            "Who puts BOS and EOS in?",
            f"The tokenizer inserts {_listed(inserted)}; the chat template names {_listed(named)}.",
            (inserted, named),
        ),
        Answer(
            "Does PAD share the ID of EOS?",
            _shared(pad, eos),
            (pad, eos),
        ),
        Answer(
            "Do tool and media tokens form one range of IDs?",
            "There are none."
            if not runs
            else f"{'Yes' if len(runs) == 1 else 'No'}: {_listed(f'{a} to {b}' for a, b in runs)}.",
            runs,
        ),
        Answer(
            "What must grow with the vocabulary?",
            f"Embedding and output head: {rows} rows now, for {len(set(ids.values()))} IDs; "
            "new rows best start as the mean of the old ones.",
            (rows, len(set(ids.values()))),
        ),
        tuple(warnings),
    )


def _ids(tokenizer: Tokenizer, text: str, *, parse_special: bool = True) -> list[int]:
    """The IDs of a text without what is inserted; none where the model does not know its characters."""
    try:
        return tokenizer.encode_ids(text, add_special_tokens=False, parse_special_tokens=parse_special)
    except TokenLabError:
        return []


def _named_by_template(tokenizer: Tokenizer) -> tuple[str, ...]:
    """BOS and EOS, as far as the chat template writes them, by name or by their text."""
    template = tokenizer.chat_template or ""
    tokens = {"bos_token": tokenizer.bos_token, "eos_token": tokenizer.eos_token}
    return tuple(text for name, text in tokens.items() if text and (name in template or text in template))


def _padding_id(tokenizer: Tokenizer) -> int | None:
    if tokenizer.padding is not None:
        return tokenizer.padding.pad_id
    return next((t.id for t in tokenizer.added_tokens if t.content.strip("<>[]|").lower() == "pad"), None)


def _shared(pad: int | None, eos: int | None) -> str:
    if pad is None:
        return "There is no PAD."
    known = f"EOS is {eos}" if eos is not None else "no EOS is named"
    return f"{'Yes' if pad == eos else 'No'}: PAD is {pad}, {known}."


def _runs(ids: Iterable[int]) -> tuple[tuple[int, int], ...]:
    runs: list[tuple[int, int]] = []
    for token_id in sorted(ids):
        if runs and token_id == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], token_id
        else:
            runs.append((token_id, token_id))
    return tuple(runs)


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "") or "none"
