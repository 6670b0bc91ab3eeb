"""Marked text to token IDs: control tokens come from the template alone.

Chapter 08, after the tokenizer notes: text and control tokens are to reach the tokenizer apart, instead of
being joined into one string that is parsed afterwards. Control tokens are the *special* added tokens. Other
added tokens (<tool_call>, <think> in many models) are ordinary vocabulary, found in whatever text holds them.
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


class MarkedEncoder:
    """Encodes marked text with one tokenizer, whose special added tokens are the control tokens.

    Args:
        tokenizer: its truncation and padding are left out.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        if tokenizer.truncation or tokenizer.padding:
            tokenizer = replace(tokenizer, truncation=None, padding=None)
        self._tokenizer = tokenizer
        special = [token for token in tokenizer.added_tokens if token.special and token.content]
        self._by_id = {token.id: token for token in special}
        self._by_content = {token.content: token for token in special}
        first = {token_id: place for place, token_id in enumerate(tokenizer.control_ids)}
        special.sort(key=lambda token: (first.get(token.id, len(first)), -len(token.content)))
        self._pattern = re.compile("|".join(re.escape(token.content) for token in special) or r"(?!)")
        self._unknown = getattr(tokenizer.model, "unk_token", None), getattr(tokenizer.model, "unk_id", None)

    def encode(self, marked: MarkedText, add_special_tokens: bool = False) -> list[int]:
        """Return the IDs of marked text, in which no data has become a control token.

        Where data spells none, these are the IDs of parsing the whole text as usual. Otherwise the template's
        own are put in by authority, and all else is encoded with the parsing of special tokens off. Where the
        model's unknown token is special and data spells it, the text is cut inside of it.

        Raises:
            UntraceableTextError: nobody can say who wrote a control token.
            ControlTokenInTextError: that unknown token has one character, so nothing can be cut.
        """
        written = self.written(marked)
        text = str.__str__(marked)
        encoding = self._tokenizer.encode(text, add_special_tokens=add_special_tokens)
        if not _differing(written, self._found(encoding, text)):
            return list(encoding.ids)
        parts: list[str | AddedToken] = []
        end = 0
        for control in written:
            parts += text[end : control.start], control.token
            end = control.end
        parts.append(text[end:])
        encoding = self._tokenizer.encode_parts(parts, add_special_tokens=add_special_tokens)
        forged = _differing(written, self._found(encoding, text))
        if not forged:
            return list(encoding.ids)
        for control in forged:
            if control.end - control.start < 2:
                raise ControlTokenInTextError(token_id=control.token.id, token=control.token.content)
        cuts = [0, *(control.start + 1 for control in forged), len(text)]
        ids = [token_id for start, end in pairwise(cuts) for token_id in self.encode(marked[start:end])]
        inserted = encoding.special_tokens_mask
        before, behind = inserted.index(0), len(inserted) - inserted[::-1].index(0)
        return [*encoding.ids[:before], *ids, *encoding.ids[behind:]]

    def written(self, marked: MarkedText) -> list[Control]:
        """Return the control tokens that the template wrote: leftmost, then longest, in runs without data.

        Raises:
            UntraceableTextError: one of them holds a character that cannot be traced.
        """
        text = str.__str__(marked)
        controls = []
        for run in re.finditer(rb"[^d]+", marked.marks):
            for found in self._pattern.finditer(text, run.start(), run.end()):
                token, start, end = self._by_content[found[0]], found.start(), found.end()
                beside = text[max(0, start - 1) : start] + text[end : end + 1]
                if token.single_word and re.search(r"\w", beside):
                    continue
                if UNTRACEABLE in marked.marks[start:end]:
                    raise UntraceableTextError(position=start, token=token.content)
                controls.append(Control(token, start, end))
        return controls

    def _found(self, encoding: Encoding, text: str) -> list[Control]:
        """The control tokens of an encoding, but for those that a post-processor inserted.

        A model's own unknown token counts only where the text spells it; elsewhere it says that a character
        is unknown.
        """
        controls = []
        columns = zip(encoding.ids, encoding.offsets, encoding.special_tokens_mask, strict=True)
        for token_id, (start, end), inserted in columns:
            if token_id in self._by_id and not inserted:
                token = self._by_id[token_id]
                is_unknown = token.content == self._unknown[0] or token_id == self._unknown[1]
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
