"""Chapter 06b, added tokens and offsets: its questions, and the wrong ideas behind the common wrong answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from tokenlab.course.chapters.ch03_rank_ordered_encoding import course_tokenizer
from tokenlab.course.chapters.ch06_tokenization_pipeline import listed, visible
from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question
from tokenlab.pipeline import models, normalizers, pre_tokenizers
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.encoding import Encoding
from tokenlab.pipeline.learnt import to_pipeline
from tokenlab.pipeline.tokenizer import Tokenizer

SPECIAL = AddedToken(7, "<s>", normalized=False, special=True)
WORD = AddedToken(8, "yesterday")


@cache
def small_tokenizer() -> Tokenizer:
    """Return the tokenizer of the first part: small letters, words, `<s>` and `yesterday` added."""
    return Tokenizer(
        models.WordLevel({"[UNK]": 0}, "[UNK]"),
        normalizers.Lowercase(),
        pre_tokenizers.Whitespace(),
        added_tokens=(SPECIAL, WORD),
    )


def _found(encoding: Encoding) -> int:
    return sum(token_id in (SPECIAL.id, WORD.id) for token_id in encoding.ids)


def _in_code(text: str) -> str:
    """Write a text as code, since a notebook would take `<s>` in its prose for HTML."""
    return f"`{text}`"


def _times(number: int) -> str:
    return ("nowhere", "once", "twice")[number] if number < 3 else f"{number} times"


# Added tokens first.


def first_pass(text: str) -> tuple[str, ...]:
    return tuple(piece for piece, *_ in small_tokenizer().explain(text).stages[0].pieces)


FIRST = Question(
    id="06b-first",
    kind="text pieces",
    prompt="Each ␣ below stands for one space. Into which parts is the text {input} cut by the search for `<s>`, before any other stage?",
    pool=("Hello  <s>world", "Good  <s>day", "one <s>two"),
    show=lambda text: _in_code(visible(text)),
    right=first_pass,
    misconceptions=(
        Misconception(
            "words-first", "cut at the spaces first, as a pre-tokenizer does", lambda text: text.split()
        ),
        Misconception(
            "takes-the-spaces",
            "let the added token take the spaces beside it",
            lambda text: re.findall(r"\s*<s>\s*|(?:(?!\s*<s>).)+", text),
        ),
        Misconception(
            "token-dropped", "take the added token out of the list as well", lambda text: text.split("<s>")
        ),
    ),
    why=lambda text: (
        f"Only `<s>` is looked for, and only it is taken: {listed(first_pass(text))}. The spaces stay with the text beside it, "
        "until a later stage sees them."
    ),
    consequence=lambda text, parts: (
        "Your parts hold the sign ␣. It stands for a space here: type real spaces."
        if "␣" in "".join(parts)
        else f"Joined, your parts give {visible(''.join(parts)) or 'nothing'}, and not the text: something has been lost before any stage ran."
        if "".join(parts) != text
        else "Joined, your parts give the text. But look at each border: what was searched for there?"
    ),
    hints=(
        "What is looked for in this pass, and what is not?",
        "A smaller case: `a<s>b` is cut into a, <s>, b. No stage has looked at spaces or capitals yet.",
        "Cut just before and just behind `<s>`, and nowhere else.",
    ),
    concepts=("added token",),
    cells=("first-parts", "first-result"),
)

PASSES = Question(
    id="06b-passes",
    kind="number",
    prompt="How many added tokens are found in {input}?",
    pool=("Yesterday <S> yesterday <s>", "YESTERDAY <S> <S> <s>", "<S> Yesterday yesterday"),
    show=_in_code,
    right=lambda text: _found(small_tokenizer().encode(text)),
    misconceptions=(
        Misconception(
            "raw-only",
            "look for both in the text as it was written",
            lambda text: len(re.findall("<s>|yesterday", text)),
        ),
        Misconception(
            "normalised-only",
            "look for both after the normaliser has run",
            lambda text: len(re.findall("<s>|yesterday", text.lower())),
        ),
    ),
    why=lambda text: (
        f"First pass, in the text as written: `<s>` is found {_times(text.count('<s>'))}; `<S>` is another string. "
        f"Second pass, in small letters: `yesterday` is found {_times(text.lower().count('yesterday'))}. "
        "In that pass nobody looks for `<s>` any more."
    ),
    consequence=lambda text, got: (
        "Count again, once for each of the two tokens: in which form of the text is it looked for?"
    ),
    hints=(
        "Which of the two is looked for before the normaliser, and which after it?",
        "A smaller case: in `<S> Sunday`, with `sunday` in the place of `yesterday`, one is found.",
        "Count `<s>` in the text as it stands. Then write the text in small letters, and count the word.",
    ),
    concepts=("two passes",),
    cells=("passes-rows", "passes-rule"),
    recall=False,
)

FORGE = Question(
    id="06b-forge",
    kind="number",
    prompt="How many added tokens are found in {input} with `parse_special_tokens=False`?",
    pool=("<s> yesterday <s>", "yesterday <s> <s> yesterday", "<s> yesterday"),
    show=_in_code,
    right=lambda text: _found(small_tokenizer().encode(text, parse_special_tokens=False)),
    misconceptions=(
        Misconception(
            "switch-ignored",
            "find every added token, as without the switch",
            lambda text: _found(small_tokenizer().encode(text)),
        ),
        Misconception("all-switched-off", "find no added token at all", lambda _: 0),
    ),
    why=lambda text: (
        f"`<s>` is special, so it is read as ordinary characters. `yesterday` is added, but not special: it is still found, "
        f"{_times(text.count('yesterday'))}."
    ),
    consequence=lambda text, got: (
        "A reader who types a control token would then forge it."
        if got > text.count("yesterday")
        else "Then the words that were added for a subject, names of medicines for example, would be lost with the control tokens."
    ),
    hints=(
        "Which of the two added tokens is special?",
        "The table above the question has the switch on and off. Which tokens are missing with it off?",
        "Leave out the special ones, and count the others.",
    ),
    concepts=("special token",),
    cells=("special-rows", "special-rule"),
    recall=False,
)


# Offsets.


Span = tuple[int, int]


@cache
def split_tokenizer() -> Tokenizer:
    """Return the eight rules of the course behind GPT-2's split."""
    return replace(to_pipeline(course_tokenizer()), pre_tokenizer=pre_tokenizers.ByteLevel(False))


def letters(text: str, normalizer: normalizers.Normalizer) -> Encoding:
    """Encode with one token for each character of the normalised text."""
    alphabet = dict.fromkeys(normalizer(text))
    model = models.BPE(vocab={character: number for number, character in enumerate(alphabet)})
    return Tokenizer(model, normalizer).encode(text)


def _asked(text: str) -> tuple[Encoding, int]:
    """Return the encoding of a question's text, and the number of the token that is asked about."""
    if "ﬁ" in text:
        encoding, token = letters(text, normalizers.NFKC()), "i"
    elif "\u0301" in text:
        encoding, token = letters(text, normalizers.NFC()), "t"
    else:
        return split_tokenizer().encode(text, add_special_tokens=False), -1
    return encoding, len(encoding.tokens) - 1 - encoding.tokens[::-1].index(token)


def span_asked(text: str) -> Span:
    encoding, place = _asked(text)
    return encoding.offsets[place]


def in_normalised(text: str) -> Span:
    encoding, place = _asked(text)
    if place < 0:  # no normaliser there
        return encoding.offsets[place]
    start = len("".join(encoding.tokens[:place]))
    return start, start + len(encoding.tokens[place])


def in_bytes(text: str) -> Span:
    encoding, place = _asked(text)
    start, end = encoding.byte_offsets[place]
    return (end - 1, end) if place < 0 else (start, end)  # the last token is one byte there


def part_is_empty(text: str) -> Span:
    encoding, place = _asked(text)
    start, end = encoding.offsets[place]
    return (end, end) if encoding.offsets.count((start, end)) > 1 or place < 0 else (start, end)


IN_NORMALISED = Misconception("in-normalised", "count in the normalised text", in_normalised)
IN_BYTES = Misconception("in-bytes", "count bytes, and not characters", in_bytes)
PART_IS_EMPTY = Misconception(
    "part-is-empty", "give an empty span to what is only a part of a character", part_is_empty
)


def _points(text: str) -> str:
    return " + ".join(c if c.isascii() else f"U+{ord(c):04X}" for c in text)


COMBINING = Question(
    id="06b-combining",
    kind="position",
    prompt="NFC makes one character of e and U+0301. At which offset does the token `t` begin, if the text is {input}?",
    pool=("e\u0301t", "xe\u0301t", "e\u0301e\u0301t"),
    show=_points,
    right=span_asked,
    form=lambda span: span[0],
    misconceptions=(IN_NORMALISED, IN_BYTES),
    why=lambda text: (
        f"The original has the characters {_points(text)}; counted from 0, the t is number {span_asked(text)[0]}. "
        "That NFC made one of two changes nothing: offsets point into what was written."
    ),
    consequence=lambda text, got: (
        f"There the original has {_points(text[got])}."
        if 0 <= got < len(text)
        else f"The original has only {len(text)} characters, and they are counted from 0."
    ),
    hints=(
        "In which text do offsets count: in the one that was written, or in the one that the normaliser made?",
        "A smaller case, from the table above: in Z, o, U+0308, e the token e begins behind both parts of the ö.",
        "Number the characters of the original from 0. The combining mark has a number of its own.",
    ),
    concepts=("offsets",),
    cells=("compose-offsets", "offsets-rule"),
)


LIGATURE = Question(
    id="06b-ligature",
    kind="numbers",
    prompt="NFKC turns the one character ﬁ (U+FB01) into f and i. Which offsets has the token `i` of {input}?",
    pool=("aﬁn", "naﬁn", "onﬁn"),
    right=span_asked,
    misconceptions=(IN_NORMALISED, IN_BYTES, PART_IS_EMPTY),
    why=lambda text: (
        f"The `i` came from the character ﬁ, and that is number {text.index('ﬁ')} of the original. Half a character has no "
        f"address of its own, so both `f` and `i` have the whole span: {list(span_asked(text))}."
    ),
    consequence=lambda text, got: _sliced(text, got),
    hints=(
        "Which character of the original did this `i` come from?",
        "The smaller case above: ½ became three characters, and each has the span of the whole ½.",
        "Number the characters of the original from 0 and find ﬁ. Its span ends one further.",
    ),
    concepts=("offsets", "whole characters"),
    cells=("expand-offsets", "expand-rule"),
)


def _sliced(text: str, got: tuple[int, ...]) -> str:
    if len(got) != 2:
        return "Offsets are two numbers: where the span begins, and where it ends."
    start, end = got
    if not 0 <= start <= end <= len(text):
        return f"The original has {len(text)} characters, so a span lies between 0 and {len(text)}."
    return f"From {start} to {end} the original has {text[start:end]!r}."


@cache
def _marked() -> pre_tokenizers.Metaspace:
    return pre_tokenizers.Metaspace()


def _second_offsets(text: str) -> tuple[int, int]:
    return _marked().split(text)[1][1]


MARKER = Question(
    id="06b-marker",
    kind="numbers",
    prompt="Metaspace puts a ▁ before {input} and turns its space into ▁. Which offsets has the second token, if each word is one token with its ▁?",
    pool=("to be", "new day", "we can"),
    right=_second_offsets,
    misconceptions=(
        Misconception(
            "counts-the-mark",
            "count the mark at the beginning as if it had been written",
            lambda text: (_second_offsets(text)[0] + 1, _second_offsets(text)[1] + 1),
        ),
        Misconception(
            "letters-only",
            "leave the space out of the token",
            lambda text: (_second_offsets(text)[0] + 1, _second_offsets(text)[1]),
        ),
    ),
    why=lambda text: (
        f"The first ▁ came from nothing that was written, so it takes no place. The second ▁ is the space, number {text.index(' ')} of "
        f"the original; the word ends with the text: {list(_second_offsets(text))}."
    ),
    consequence=_sliced,
    hints=(
        "There are two ▁. Which of them stands for something that was written?",
        "The smaller case above: in `a bee` the token `▁bee` begins at the space.",
        "Count in the original from 0. The second token begins with the space.",
    ),
    concepts=("inserted characters",),
    cells=("marker-offsets", "marker-rule"),
)


E_E_A = Question(
    id="06b-e-e-a",
    kind="numbers",
    prompt="Which offsets has the last token of {input}, behind the split of GPT-2 and with the eight rules?",
    pool=("e e а", "e e о", "e e и"),
    right=span_asked,
    misconceptions=(IN_BYTES, PART_IS_EMPTY),
    why=lambda text: (
        f"The last token is the second byte of {text[-1]} alone. It covers a part of that character, so it has the span of the whole "
        f"character, number {len(text) - 1}: {list(span_asked(text))}. The token before it, a space and the first byte, "
        "covers this character as well: two spans may overlap."
    ),
    consequence=_sliced,
    hints=(
        "In chapter 06 you found the tokens of this text. Which character does the last one belong to?",
        "The smaller case above: é is two tokens, and both have the span of the whole é.",
        "Number the characters, not the bytes, from 0. The last token belongs to the last character.",
    ),
    concepts=("offsets", "whole characters"),
    cells=("bytes-offsets", "bytes-rule"),
    recall=False,
)


# The exercises.

TABLE = (("ﬁ", "fi"), ("¡", ""), ("½", "1/2"))


def rewrite(text: str, table: tuple[tuple[str, str], ...]) -> list[tuple[str, int]]:
    """Replace characters by a table, and say for each new character which old one it came from.

    >>> rewrite("aﬁ", (("ﬁ", "fi"),))
    [('a', 0), ('f', 1), ('i', 1)]
    """
    known = dict(table)
    return [(new, place) for place, old in enumerate(text) for new in known.get(old, old)]


def _wrong_new_places(text: str, table: tuple[tuple[str, str], ...]) -> list[tuple[str, int]]:
    """Counts places in the new text."""
    return [(new, place) for place, (new, _) in enumerate(rewrite(text, table))]


def _wrong_first_only(text: str, table: tuple[tuple[str, str], ...]) -> list[tuple[str, int]]:
    """Keeps only the first of several new characters."""
    known = dict(table)
    return [(new, place) for place, old in enumerate(text) for new in known.get(old, old)[:1]]


def _wrong_keeps(text: str, table: tuple[tuple[str, str], ...]) -> list[tuple[str, int]]:
    """Keeps a character that the table takes out."""
    known: Mapping[str, str] = dict(table)
    return [(new, place) for place, old in enumerate(text) for new in known.get(old) or old]


def _wrong_bytes(text: str, table: tuple[tuple[str, str], ...]) -> list[tuple[str, int]]:
    """Counts places in bytes."""
    return [(new, len(text[:place].encode())) for new, place in rewrite(text, table)]


WRITE = Exercise(
    id="06b-rewrite",
    prompt="Write a normaliser that remembers where each character came from.",
    call="rewrite_text(text, table)",
    reference=rewrite,
    alphabet=("a", "ﬁ", "¡", "½"),
    arguments=lambda symbols: ("".join(symbols), TABLE),
    wrong=(_wrong_new_places, _wrong_first_only, _wrong_keeps, _wrong_bytes),
    hints=(
        "What does one old character become? How many pairs does it give?",
        "With the table of the example, a½ gives four pairs, and the last three have the same place.",
        "Go over `enumerate(text)`, look each character up in `dict(table)`, and add one pair for each new character.",
    ),
    concepts=("offsets", "whole characters"),
    cells=("align-by-hand", "expand-rule"),
)


def _same_span(wanted: int, text: str) -> bool:
    spans = split_tokenizer().encode(text[:200], add_special_tokens=False).offsets
    return any(spans.count(span) >= wanted for span in set(spans))


def _one_character(wanted: int) -> str:
    return next(text for text in "aé€🐝" if _same_span(wanted, text))


SHARED = Question(
    id="06b-one-span",
    kind="text",
    prompt="Find a text in which {input} have one and the same span.",
    pool=(3,),
    show=lambda wanted: f"{wanted} tokens of `behind_split`",
    right=_one_character,
    accepts=_same_span,
    misconceptions=(
        Misconception(
            "long-word", "take a long word: each of its letters has a span of its own", lambda _: "newest"
        ),
        Misconception("two-bytes", "take a letter of two bytes, which gives two such tokens", lambda _: "é"),
    ),
    why=lambda wanted: (
        f"`{_one_character(wanted)}` has {len(_one_character(wanted).encode())} bytes in UTF-8, and no rule merges them. "
        "So it is as many tokens, and each has the span of the whole character."
    ),
    consequence=lambda wanted, text: (
        f"The spans are {list(split_tokenizer().encode(text[:20], add_special_tokens=False).offsets)}."
    ),
    hints=(
        "When do two tokens have the same span?",
        "é has two bytes, and gives two tokens with one span.",
        "Look for a character of at least three bytes that no rule of the table touches.",
    ),
    concepts=("whole characters",),
    cells=("bytes-offsets", "bytes-rule"),
    recall=False,
)

CHAPTER = Chapter(
    notebook="06b_added_tokens_and_offsets",
    title="Added tokens and offsets",
    question="Where in my text did this token come from?",
    objectives=(
        "Why is an added token never cut into pieces?",
        "Which added tokens are looked for before the normaliser, and which after it?",
        "Can a text that somebody typed forge a control token?",
        "Into which text do offsets point, and what do they count?",
    ),
    concepts=(
        Concept(
            "added token",
            "first-result",
            "A token that is cut out of the text by its spelling, before any stage.",
        ),
        Concept(
            "two passes",
            "passes-rule",
            "Added tokens are searched in the raw text first, then in the normalised rest.",
        ),
        Concept(
            "special token",
            "special-rule",
            "An added token that controls the model; a text that was typed need not be able to make one.",
        ),
        Concept(
            "offsets",
            "offsets-rule",
            "Where a token's text begins and ends in the original, in characters from 0.",
        ),
        Concept(
            "whole characters",
            "expand-rule",
            "What came from a part of a character has the span of all of it.",
        ),
        Concept(
            "inserted characters",
            "marker-rule",
            "What a stage puts in stands for nothing that was written, and takes no place.",
        ),
    ),
    questions=(FIRST, PASSES, FORGE, COMBINING, LIGATURE, MARKER, E_E_A),
    exercises=(WRITE, SHARED),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "A search page marks the found word one letter too far right, but only in some languages. Where do you look?",
        "Which words of your own subject would you add as tokens, and what does that cost the model?",
        "Two tokens have the same span. How would you mark just one of them in a text?",
    ),
    likeliest="in-normalised",
    paper=("aﬁn", "to be", "e e а"),
)
