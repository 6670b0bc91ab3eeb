"""Added tokens: cut out of the text before all else (chapter 6b; Hugging Face's AddedVocabulary).

The search has two passes. Tokens with normalized=False are looked for in the raw text. What is left is
normalised, fragment by fragment, and searched for the others, whose own content is normalised for that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tokenlab.pipeline.dialect import RUST_WORD
from tokenlab.pipeline.patterns import find_regex
from tokenlab.pipeline.text import WHITE_SPACE, AlignedText


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that no model makes: its text is cut out of the input, in one piece.

    Args:
        id: its token ID.
        content: its text.
        single_word: only where no word character touches it.
        lstrip, rstrip: take the white space on its left, on its right, into the match.
        normalized: search the normalised text (for the normalised content), not the raw text.
        special: a control token: left out of decoded text, not read from text that may not forge it.
    """

    id: int
    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = True
    special: bool = False


def control_tokens(ids: Mapping[str, int]) -> tuple[AddedToken, ...]:
    """Return the special tokens of some texts and IDs, which are looked for in the raw text."""
    return tuple(AddedToken(token_id, text, normalized=False, special=True) for text, token_id in ids.items())


Match = tuple[int, int, AddedToken]


class Fragment(NamedTuple):
    """A part of the input, and the added token that it is, if it is one."""

    text: AlignedText
    token: AddedToken | None = None


class AddedTokenFinder:
    """Looks for added tokens: leftmost first, then longest.

    Args:
        contents: what to look for, and the token that it stands for; of equal contents the last one counts.

    >>> finder = AddedTokenFinder({"<a>": AddedToken(1, "<a>"), "<a>b": AddedToken(2, "<a>b")})
    >>> [(start, end, token.id) for start, end, token in finder.find("x<a>b")]
    [(1, 5, 2)]
    """

    def __init__(self, contents: Mapping[str, AddedToken]) -> None:
        self._tokens = {content: token for content, token in contents.items() if content}
        self._lengths: dict[str, list[int]] = {}
        for content in sorted(self._tokens, key=len, reverse=True):
            lengths = self._lengths.setdefault(content[0], [])
            if len(content) not in lengths[-1:]:
                lengths.append(len(content))
        self._first = re.compile(f"[{''.join(map(re.escape, self._lengths))}]") if self._lengths else None

    def find(self, text: str, parse_special: bool = True, forced: Iterable[Match] = ()) -> Iterator[Match]:
        """Yield start, end and token of each match that counts, the white space it takes in included.

        Args:
            text: where to look, n code points.
            parse_special: False: special tokens in the text are ordinary characters.
            forced: matches that are there by authority, not by their text; found ones lie between them.
        """
        position = 0
        taken = reached = 0  # where the last match ends; the furthest that any does
        for forced_match in (*forced, None):
            stop = forced_match[0] if forced_match else len(text)
            for start, end, token in self._matches(text, position, stop):
                if token.special and not parse_special:
                    continue
                if token.single_word and (_is_word(text[start - 1 : start]) or _is_word(text[end : end + 1])):
                    continue
                start, end = _widen(text, start, end, token, taken, reached)
                if start < end:
                    yield start, end, token
                    taken, reached = end, max(end, reached)
            if forced_match:
                start, position, token = forced_match
                start, taken = _widen(text, start, position, token, taken, reached)
                yield start, taken, token
                reached = max(taken, reached)

    def _matches(self, text: str, position: int, stop: int) -> Iterator[Match]:
        while self._first and (found := self._first.search(text, position, stop)):
            start = position = found.start()
            for length in self._lengths[found[0]]:
                token = self._tokens.get(text[start : start + length])
                if token and start + length <= stop:
                    position = start + length
                    yield start, position, token
                    break
            else:
                position += 1

    def split(
        self, fragment: AlignedText, parse_special: bool = True, forced: Iterable[Match] = ()
    ) -> list[Fragment]:
        """Cut a fragment at the matches that `find` gives; empty parts are left out."""
        parts, done = [], 0
        for start, end, token in self.find(fragment.text, parse_special, forced):
            if done < start:
                parts.append(Fragment(fragment.slice(done, start)))
            parts.append(Fragment(fragment.slice(start, end), token))
            done = end
        if done < len(fragment.text):
            parts.append(Fragment(fragment.slice(done, len(fragment.text))))
        return parts


def _widen(text: str, start: int, end: int, token: AddedToken, taken: int, reached: int) -> tuple[int, int]:
    """Take the white space beside a match into it, where the token says so.

    On the left, not what the match before took; on the right that, too (so "   " may be three matches, each
    to its end). From a match to what an earlier one has reached, all is white space.
    """
    if token.lstrip:
        while start > taken and text[start - 1] in WHITE_SPACE:
            start -= 1
        start = max(start, taken)
    if token.rstrip:
        end = max(end, reached)
        while end < len(text) and text[end] in WHITE_SPACE:
            end += 1
    return start, end


def _is_word(character: str) -> bool:
    return bool(character) and bool(find_regex(RUST_WORD, character))


def hidden_texts(listed: Iterable[str]) -> set[str]:
    """Return the texts that are never found where, of two that begin alike, the one listed first counts.

    >>> hidden_texts(["<a>", "<a>b", "<c>d", "<c>"])
    {'<a>b'}
    """
    hidden: set[str] = set()
    seen: set[str] = set()
    lengths: set[int] = set()  # of what was seen
    for text in listed:
        if any(0 < length < len(text) and text[:length] in seen for length in lengths):
            hidden.add(text)
        seen.add(text)
        lengths.add(len(text))
    return hidden


class _ControlFirstFinder(AddedTokenFinder):
    """Cuts at some tokens first, and at the others in what lies between."""

    def __init__(self, control: Mapping[str, AddedToken], others: Mapping[str, AddedToken]) -> None:
        super().__init__(others)
        hidden = hidden_texts(control)
        self._control = AddedTokenFinder({t: token for t, token in control.items() if t not in hidden})

    def find(self, text: str, parse_special: bool = True, forced: Iterable[Match] = ()) -> Iterator[Match]:
        return super().find(text, parse_special, tuple(self._control.find(text, parse_special, forced)))


def raw_finder(tokens: Iterable[AddedToken], control_ids: Iterable[int] = ()) -> AddedTokenFinder:
    """Return the finder of the first pass: tokens that are looked for in the raw text.

    Args:
        tokens: all added tokens.
        control_ids: those that are cut out ahead of the others, of two that begin alike the one listed first.
    """
    by_id = {token.id: token for token in tokens}
    others = {token.content: token for token in by_id.values() if not token.normalized}
    control = {by_id[token_id].content: by_id[token_id] for token_id in control_ids}
    return _ControlFirstFinder(control, others) if control else AddedTokenFinder(others)


def normalized_finder(
    tokens: Iterable[AddedToken], normalizer: Callable[[str], str] | None
) -> AddedTokenFinder:
    """Return the finder of the second pass; of two tokens alike when normalised, the later one counts.

    Content that normalises to nothing is not looked for (Hugging Face then cuts between all characters).
    """
    by_kind = sorted((token for token in tokens if token.normalized), key=lambda token: not token.special)
    return AddedTokenFinder({normalizer(t.content) if normalizer else t.content: t for t in by_kind})
