"""Marked text to token IDs: control tokens come from the template alone.

Chapter 08, after source 003: text and control tokens are to reach the tokenizer apart, instead of being
joined into one string that is parsed afterwards. Control tokens are the *special* added tokens. Other added
tokens (<tool_call>, <think> in many models) are ordinary vocabulary, found in whatever text holds them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tokenlab.chat.marked import UNTRACEABLE, MarkedText
from tokenlab.errors import ControlTokenInTextError, UntraceableTextError

if TYPE_CHECKING:
    from tokenlab.pipeline.added_tokens import AddedToken
    from tokenlab.pipeline.encoding import Encoding
    from tokenlab.pipeline.tokenizer import Tokenizer


class Control(NamedTuple):
    """A control token and the span in the text, in code points, that it stands for."""

    token: AddedToken
    start: int
    end: int


def encode_marked(tokenizer: Tokenizer, marked: MarkedText, add_special_tokens: bool = False) -> list[int]:
    """Return the IDs of marked text, in which no data has become a control token.

    Where data spells none, these are the IDs of parsing the whole text as usual. Otherwise the template's own
    are put in by authority, and all else is encoded with the parsing of special tokens off. A model whose
    vocabulary holds a control token may still make it from plain characters; then the text is cut inside.

    Raises:
        UntraceableTextError: nobody can say who wrote a control token.
        ControlTokenInTextError: a control token of one character, which the model makes from plain text.
    """
    if tokenizer.truncation or tokenizer.padding:
        tokenizer = replace(tokenizer, truncation=None, padding=None)
    written = written_controls(tokenizer, marked)
    text = str.__str__(marked)
    encoding = tokenizer.encode(text, add_special_tokens=add_special_tokens)
    if not _differing(written, _controls_in(encoding, tokenizer, text)):
        return list(encoding.ids)
    edges = [0, *(edge for control in written for edge in (control.start, control.end)), len(text)]
    between = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    parts = [part for pair in zip(between, [c.token for c in written], strict=False) for part in pair]
    encoding = tokenizer.encode_parts([*parts, between[-1]], add_special_tokens=add_special_tokens)
    forged = _differing(written, _controls_in(encoding, tokenizer, text))
    if not forged:
        return list(encoding.ids)
    for control in forged:
        if control.end - control.start < 2:
            raise ControlTokenInTextError(token_id=control.token.id, token=control.token.content)
    cuts = [0, *(control.start + 1 for control in forged), len(text)]
    ids = [i for start, end in pairwise(cuts) for i in encode_marked(tokenizer, marked[start:end])]
    inserted = encoding.special_tokens_mask
    return [
        *encoding.ids[: inserted.index(0)],
        *ids,
        *encoding.ids[len(inserted) - inserted[::-1].index(0) :],
    ]


def written_controls(tokenizer: Tokenizer, marked: MarkedText) -> list[Control]:
    """Return the control tokens that the template wrote: leftmost, then longest, in runs without data.

    Raises:
        UntraceableTextError: one of them holds a character that cannot be traced.
    """
    special = {token.content: token for token in tokenizer.added_tokens if token.special and token.content}
    first = {token_id: place for place, token_id in enumerate(tokenizer.control_ids)}
    order = sorted(special, key=lambda content: (first.get(special[content].id, len(first)), -len(content)))
    pattern = re.compile("|".join(map(re.escape, order)) or r"(?!)")
    text = str.__str__(marked)
    controls = []
    for run in re.finditer(rb"[^d]+", marked.marks):
        for found in pattern.finditer(text, run.start(), run.end()):
            token, start, end = special[found[0]], found.start(), found.end()
            if token.single_word and re.search(r"\w", text[max(0, start - 1) : start] + text[end : end + 1]):
                continue
            if UNTRACEABLE in marked.marks[start:end]:
                raise UntraceableTextError(position=start, token=token.content)
            controls.append(Control(token, start, end))
    return controls


def _controls_in(encoding: Encoding, tokenizer: Tokenizer, text: str) -> list[Control]:
    """The control tokens of an encoding, but for those that a post-processor inserted.

    A model's own unknown token counts only where the text spells it; elsewhere it says that a character is
    unknown.
    """
    special = {token.id: token for token in tokenizer.added_tokens if token.special}
    unknown = getattr(tokenizer.model, "unk_token", None)
    unknown_id = getattr(tokenizer.model, "unk_id", None)
    controls = []
    for token_id, (start, end), inserted in zip(
        encoding.ids, encoding.offsets, encoding.special_tokens_mask, strict=True
    ):
        if token_id in special and not inserted:
            token = special[token_id]
            is_unknown = token_id == unknown_id or token.content == unknown
            if not is_unknown or text[start:end].strip() == token.content:
                controls.append(Control(token, start, end))
    return controls


def _differing(written: Sequence[Control], found: Sequence[Control]) -> list[Control]:
    """What was found beside the written control tokens, and those of them that were not found."""
    waiting = list(reversed(written))
    others = []
    for control in found:
        due = waiting[-1] if waiting else None
        if due and due.token.id == control.token.id and control.start <= due.start and due.end <= control.end:
            waiting.pop()
        else:
            others.append(control)
    return others + waiting
