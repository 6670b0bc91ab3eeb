"""Added tokens: cut out of the text before anything else sees it (chapter 6b; Hugging Face's AddedVocabulary)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that no model makes: its text is cut out of the input, in one piece.

    Arguments:
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
