"""Patterns of tokenizer files: written for Oniguruma, run here by the package `regex` (chapter 6).

Pattern text comes from files, so it is untrusted: its length is limited, and each search runs against a clock.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a Split or a Replace looks for: a literal text, or a regular expression.

    Arguments:
        text: the literal, or the regular expression in Oniguruma's dialect.
        regex: which of the two it is; tokenizer.json says {"String": text} or {"Regex": text}.
    """

    text: str
    regex: bool = False
