r"""The dialect of tokenizer files' patterns, Oniguruma's, put into words for the package `regex` (chapter 6).

The two differ in places, so a pattern is translated, and what has no translation is refused. Known to
differ, and tested: under (?i), Oniguruma lets ß match ss and never lets i match İ; \p{Lu} under (?i)
matches a here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

from tokenlab.errors import PatternError

_NUMBERS = "²³¹¼½¾"  # Oniguruma's \w has these as well, except inside of a class
_WORD = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}" + _NUMBERS + "]"
# Rust's word characters: with the joiners, and without those numbers.
RUST_WORD = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}]"
RUST_NOT_WORD = "[^" + RUST_WORD[1:]


def _boundary(word: str) -> str:
    return rf"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"


def _no_boundary(word: str) -> str:
    return rf"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"


_ESCAPES = {
    "w": _WORD,
    "W": "[^" + _WORD[1:],
    "b": _boundary(_WORD),
    "B": _no_boundary(_WORD),
    "h": "[0-9A-Fa-f]",
    "H": "[^0-9A-Fa-f]",
    "Z": r"(?=\n?\Z)",
    "z": r"\Z",
    "e": r"\x1b",
}
_NAMED = {"word": "w", "xdigit": "h"}  # properties that say the same as an escape
_BRACKETS = {  # where the two mean other characters by a POSIX bracket
    "alnum": r"\p{Alphabetic}\p{Nd}",
    "digit": r"\p{Nd}",
    "punct": r"\p{P}\p{S}",
    "word": _WORD[1:-1].replace(_NUMBERS, ""),
}
_LINE_START = r"(?:^(?!(?<=\n)\Z))"  # not behind the last line's end
_SAME = frozenset("pPsSdDRXAGKnrtfvaux")
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
        elif depth and token[:2] == "[:" and (members := _BRACKETS.get(token[2:-2].lstrip("^"))):
            out.append(f"[{'^' * (token[2] == '^')}{members}]")
        elif depth:
            out.append("\\" + token if token in "|~" else token)
        elif token == "^":
            out.append(_LINE_START)
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
    boundaries = {r"\b": _boundary(RUST_WORD), r"\B": _no_boundary(RUST_WORD)}
    meanings = {r"\w": RUST_WORD, r"\W": RUST_NOT_WORD, "(?s)": "(?m)", "(?s:": "(?m:"}
    out, depth = [], 0
    for token in _tokens(rewrite_counted(pattern, "(?>{})")):
        depth += _opens_class(token, depth)
        anchor = None if depth else {"$": r"\z", "^": r"\A", **boundaries}.get(token)
        out.append(anchor or meanings.get(token, token))
    return "".join(out)


def rewrite_counted(pattern: str, template: str) -> str:
    """Return the pattern with each X{n,m}+ as the template says: Oniguruma repeats, others are possessive.

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


def branches(pattern: str) -> list[str]:
    r"""Return a pattern's alternatives, without possessive signs (no known branch needs them).

    >>> branches(r" ?[|]++|(?i:'s|'t)")
    [' ?[|]+', "(?i:'s|'t)"]
    """
    found, groups, depth = [""], 0, 0
    for token in _tokens(pattern):
        depth += _opens_class(token, depth)
        if not depth:
            groups += (token[0] == "(" and not token.endswith(")")) - (token == ")")
        if token == "|" and not depth and not groups:
            found.append("")
        elif not (token == "+" and not depth and found[-1][-1:] in ("?", "*", "+")):
            found[-1] += token
    return found


def to_ascii(pattern: str, members: Callable[[str], str]) -> str:
    r"""Return a pattern that matches the same ASCII text, for the standard library's `re`.

    Args:
        pattern: made of known branches.
        members: the ASCII characters that an escape such as \p{L} stands for.
    """
    out: list[str] = []
    depth = 0
    for token in _tokens(pattern):
        depth += _opens_class(token, depth)
        if token == r"\z":
            token = r"\Z"
        elif token[0] == "\\" and token[1] in "pPsSdDwW":
            token = re.escape(members(token)) if depth else f"[{re.escape(members(token))}]"
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
    if named := re.fullmatch(r"\\[pP]\{(\^?)(word|xdigit)\}", token, re.IGNORECASE):
        kind = _NAMED[named[2].lower()]
        if (token[1] == "P") != bool(named[1]):
            kind = kind.upper()
    elif kind in ("p", "P") and len(token) == 2:
        raise PatternError(pattern=pattern, reason=f"{token} without a property in braces")
    if token.startswith(r"\x{"):
        code_point = int(token[3:-1], 16)
        if code_point > sys.maxunicode:
            raise PatternError(pattern=pattern, reason=f"{token} is no character")
        return re.escape(chr(code_point))
    if token == r"\b" and in_class:  # a backspace there
        return token
    if kind in _ESCAPES:
        return _ESCAPES[kind].replace(_NUMBERS, "") if in_class else _ESCAPES[kind]
    if kind.isascii() and kind.isalpha() and kind not in _SAME:
        raise PatternError(pattern=pattern, reason=f"{token} is not supported")
    return token
