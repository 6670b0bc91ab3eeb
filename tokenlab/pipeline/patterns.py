r"""Patterns of tokenizer files: written for Oniguruma, run here by the package `regex` (chapter 6).

The two dialects differ in places, so a pattern is translated, and what has no translation is refused. Pattern text
comes from files and is untrusted: its length is limited, and every search runs against a clock. Known to differ,
and tested: under (?i), Oniguruma lets ß match ss and never lets i match İ; \p{Lu} under (?i) matches a here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tokenlab.errors import PatternError, PatternTimeoutError

LONGEST_PATTERN = 1 << 14  # characters
SECONDS = 2.0  # for each search, and on top of it:
SECONDS_PER_CHARACTER = 1e-5

_NUMBERS = "²³¹¼½¾"  # Oniguruma's \w has these as well, except inside of a class
_WORD = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}" + _NUMBERS + "]"
# Rust's word characters: with the joiners, and without those numbers.
RUST_WORD = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}]"
RUST_NOT_WORD = "[^" + RUST_WORD[1:]
_ESCAPES = {
    "w": _WORD,
    "W": "[^" + _WORD[1:],
    "h": "[0-9A-Fa-f]",
    "H": "[^0-9A-Fa-f]",
    "Z": r"(?=\n?\Z)",
    "z": r"\Z",
    "e": r"\x1b",
}
_SAME = frozenset("pPsSdDRXbBAGKnrtfvaux")
_TOKEN = re.compile(
    r"""\\[pP]\{\^?[\w\ -]+\}    # a property
      | \\x\{[0-9A-Fa-f]{1,6}\}
      | \\.                      # any other escape
      | \[:\^?\w+:\]             # a POSIX bracket
      | \[\^?\]?                 # a class begins, maybe with the character ]
      | \(\?(?:[imsx-]+[:)] | \#[^)]*\) | <?[=!] | [:>] | <[A-Za-z_]\w*>)?
      | \{\d*,?\d*\}[?+]?        # a counted repeat
      | .""",
    re.VERBOSE | re.DOTALL,
)
_COUNTED = re.compile(r"\{(?:\d+,?\d*|,\d+)\}[?+]?")


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a Split or a Replace looks for: a literal text, or a regular expression.

    Arguments:
        text: the literal, or the regular expression in Oniguruma's dialect.
        regex: which of the two it is; tokenizer.json says {"String": text} or {"Regex": text}.

    Raises:
        PatternError: the expression is too long, malformed, or says what `regex` has no words for.

    >>> Pattern("l+", regex=True).find("hello well")
    [(2, 4), (8, 10)]
    """

    text: str
    regex: bool = False

    def __post_init__(self) -> None:
        if self.regex:
            compiled(self.text)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of the matches in `text`, in code points, from left to right.

        Raises:
            PatternTimeoutError: the search backtracks without end.
        """
        if self.regex or not self.text:
            return find_regex(self.text, text)
        return [found.span() for found in re.finditer(re.escape(self.text), text)]


def find_regex(pattern: str, text: str) -> list[tuple[int, int]]:
    """Return the spans of the matches of Oniguruma's `pattern`, within a time that grows with the text.

    As in Oniguruma's binding, no match is found in an empty text, and none that is empty right after another one.
    """
    expression = compiled(pattern)
    seconds = SECONDS + SECONDS_PER_CHARACTER * len(text)
    try:
        spans = [found.span() for found in expression.finditer(text, timeout=seconds)]
        if all(start < end for start, end in spans):
            return spans
        return list(_with_empty_matches(expression, text, seconds)) if text else []
    except TimeoutError:
        raise PatternTimeoutError(pattern=pattern, seconds=seconds, length=len(text)) from None


def _with_empty_matches(expression: Any, text: str, seconds: float) -> Iterator[tuple[int, int]]:
    position, last = 0, -1
    while position <= len(text) and (found := expression.search(text, position, timeout=seconds)):
        start, end = found.span()
        if start == end == last:
            position += 1
        else:
            yield start, end
            position = last = end


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """Return Oniguruma's pattern as a compiled expression of the package `regex`."""
    import regex

    if len(pattern) > LONGEST_PATTERN:
        reason = f"{len(pattern)} characters long (at most {LONGEST_PATTERN})"
        raise PatternError(pattern=pattern[:40] + "…", reason=reason)
    try:
        return regex.compile("(?-f)" + translate(pattern), regex.VERSION1 | regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError) as error:
        raise PatternError(pattern=pattern, reason=str(error)) from None


def graphemes(text: str) -> list[str]:
    """Return the grapheme clusters of a text: what a reader takes for one character."""
    import regex

    found: list[str] = regex.findall(r"\X", text)
    return found


def translate(pattern: str) -> str:
    r"""Return Oniguruma's pattern in the dialect of `regex` (version 1, multi-line).

    >>> translate(r"\h{1,3}+")
    '(?:[0-9A-Fa-f]{1,3})+'
    """
    out: list[str] = []
    depth = 0  # of classes
    for token in _tokens(rewrite_counted(pattern, "(?:{})+")):
        depth += _opens_class(token, depth)
        if token[0] == "\\":
            out.append(_escape(token, pattern, in_class=depth > 0))
        elif depth:
            out.append("\\" + token if token in "|~" else token)
        elif token.startswith("(?"):
            if token == "(?" or re.match(r"\(\?[imx-]*s", token):
                raise PatternError(pattern=pattern, reason="a kind of group that is not supported")
            out.append(token.replace("m", "s") if token[2] in "imx-" else token)
        else:
            out.append("\\" + token if token[0] == "{" and not _COUNTED.fullmatch(token) else token)
    return "".join(out)


def from_rust(pattern: str) -> str:
    r"""Return a pattern of tiktoken, which is in the dialect of Rust's fancy-regex, in Oniguruma's dialect.

    >>> from_rust(r"\p{N}{1,3}+|\s++$")
    '(?>\\p{N}{1,3})|\\s++\\z'
    """
    meanings = {r"\w": RUST_WORD, r"\W": RUST_NOT_WORD, "(?s)": "(?m)", "(?s:": "(?m:"}
    out, depth = [], 0
    for token in _tokens(rewrite_counted(pattern, "(?>{})")):
        depth += _opens_class(token, depth)
        anchor = None if depth else {"$": r"\z", "^": r"\A"}.get(token)
        out.append(anchor or meanings.get(token, token))
    return "".join(out)


def rewrite_counted(pattern: str, template: str) -> str:
    """Return the pattern with every X{n,m}+ as the template says: in Oniguruma it repeats, elsewhere it is possessive.

    >>> rewrite_counted("[0-9]{1,3}+a", "(?>{})")
    '(?>[0-9]{1,3})a'
    """
    out: list[str] = []
    groups: list[int] = []  # where the open groups begin
    atom, depth = 0, 0  # where the last atom begins; depth of classes
    for token in _tokens(pattern):
        if not depth and token[0] == "[":
            atom = len(out)
        depth += _opens_class(token, depth)
        if depth or token == "]":
            pass
        elif token[0] == "(" and not token.endswith(")"):
            groups.append(len(out))
        elif token == ")":
            atom = groups.pop() if groups else len(out)
        elif token[0] == "{" and token[-1] == "+":
            out[atom:] = [template.format("".join([*out[atom:], token[:-1]]))]
            continue
        elif token[0] not in "*+?{":
            atom = len(out)
        out.append(token)
    return "".join(out)


def _tokens(pattern: str) -> list[str]:
    return [found[0] for found in _TOKEN.finditer(pattern)]


def _opens_class(token: str, depth: int) -> int:
    """Return how a token changes the depth of classes: 1, 0 or -1."""
    if token[0] == "[" and token[1:2] != ":":
        return 1
    return -1 if token == "]" and depth else 0


def _escape(token: str, pattern: str, *, in_class: bool) -> str:
    kind = token[1:2]
    if kind in ("p", "P") and len(token) == 2:
        raise PatternError(pattern=pattern, reason=f"{token} without a property in braces")
    if token.startswith(r"\x{"):
        return re.escape(chr(int(token[3:-1], 16)))
    if kind in _ESCAPES:
        return _ESCAPES[kind].replace(_NUMBERS, "") if in_class else _ESCAPES[kind]
    if kind.isascii() and kind.isalpha() and kind not in _SAME:
        raise PatternError(pattern=pattern, reason=f"{token} is not supported")
    return token
