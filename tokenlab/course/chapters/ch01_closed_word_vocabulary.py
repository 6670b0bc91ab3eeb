"""Chapter 01, closed word vocabulary: its questions, and the wrong tables behind the common wrong answers.

A case is documents to fit on and a text. An algorithm returns the IDs of the text and what comes back.
"""

from __future__ import annotations

import re
from itertools import count, product
from typing import NamedTuple

from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question
from tokenlab.words import UNKNOWN_WORD, UNKNOWN_WORD_ID, ClosedVocabulary

Case = tuple[tuple[str, ...], str]
FOUR_WORDS = ("low lower", "new newest")
FOUR = ClosedVocabulary.fit(FOUR_WORDS)


class Outcome(NamedTuple):
    ids: list[int]
    back: str


def closed(case: Case) -> Outcome:
    """Fit, encode and decode as the library does."""
    documents, text = case
    return _through(ClosedVocabulary.fit(documents), text)


def _through(vocabulary: ClosedVocabulary, text: str) -> Outcome:
    ids = vocabulary.encode(text)
    return Outcome(ids, vocabulary.decode(ids))


# The wrong tables.


def longest_prefix(case: Case) -> Outcome:
    vocabulary = ClosedVocabulary.fit(case[0])
    prefixes = [
        max(filter(word.startswith, vocabulary.words), key=len, default=word) for word in case[1].split()
    ]
    return _through(vocabulary, " ".join(prefixes))


def first_seen(case: Case) -> Outcome:
    words = dict.fromkeys(" ".join(case[0]).split())
    return _through(ClosedVocabulary(tuple(words)), case[1])


def from_zero(case: Case) -> Outcome:
    ids = [max(token_id - 1, 0) for token_id in closed(case).ids]
    return Outcome(ids, closed(case).back)


def tidied(case: Case) -> Outcome:
    return closed((case[0], re.sub(r"[^\w\s]", "", case[1].lower())))


def without_unknown(case: Case) -> Outcome:
    vocabulary = ClosedVocabulary.fit(case[0])
    return _through(vocabulary, " ".join(word for word in case[1].split() if word in vocabulary.words))


def growing(case: Case) -> Outcome:
    words = dict.fromkeys((*ClosedVocabulary.fit(case[0]).words, *case[1].split()))
    return _through(ClosedVocabulary(tuple(words)), case[1])


def keeping_spaces(case: Case) -> Outcome:
    known = ClosedVocabulary.fit(case[0])
    words = case[1].split(" ")  # an extra space gives an empty word
    ids = [known.words.index(word) + 1 if word in known.words else UNKNOWN_WORD_ID for word in words]
    return Outcome(ids, " ".join(word if word in ("", *known.words) else UNKNOWN_WORD for word in words))


PREFIX = Misconception("longest-prefix", "take the longest known word that it begins with", longest_prefix)
FIRST_SEEN = Misconception("first-seen", "number the words in the order in which they were seen", first_seen)
FROM_ZERO = Misconception("from-zero", "number the known words from 0, as Python numbers a list", from_zero)
TIDIED = Misconception(
    "tidied", "make the letters small and take the punctuation away before looking a word up", tidied
)
SKIPPED = Misconception("skipped", "leave out the words that the table does not know", without_unknown)
GROWING = Misconception("growing", "give a new word the next free ID, as if encoding still learnt", growing)
SPACES_KEPT = Misconception("spaces-kept", "keep each further space as a thing of its own", keeping_spaces)


# What is said about an answer.


def why(case: Case) -> str:
    vocabulary = ClosedVocabulary.fit(case[0])
    table = ", ".join(f"{word} {token_id}" for token_id, word in enumerate(vocabulary.words, 1))
    words = case[1].split()
    width = max(map(len, words))
    rows = [
        f"    {word:{width}}  {token_id}{'' if token_id else '  (not in the table)'}"
        for word, token_id in zip(words, vocabulary.encode(case[1]), strict=True)
    ]
    return f"The table, sorted and numbered from 1: {table}. The text, word by word:\n\n" + "\n".join(rows)


def why_back(case: Case) -> str:
    return f"{why(case)}\n\nDecoding puts one space between the words: `{closed(case).back}`."


def id_consequence(case: Case, ids: tuple[int, ...]) -> str:
    vocabulary, words = ClosedVocabulary.fit(case[0]), case[1].split()
    if any(not 0 <= token_id <= len(vocabulary.words) for token_id in ids):
        return f"The table holds no more than these words: {', '.join(vocabulary.words)}. One of your IDs stands for none of them."
    if len(ids) < len(words):
        return "Your list is shorter than the text: nobody could say later that a word stood there."
    if len(ids) > len(words):
        return "Your list is longer than the text: an ID without a word stands in it."
    return f"Your IDs come back as the text `{vocabulary.decode(ids)}`."


def text_consequence(case: Case, text: str) -> str:
    vocabulary = ClosedVocabulary.fit(case[0])
    strange = [word for word in text.split() if word not in (*vocabulary.words, UNKNOWN_WORD)]
    if any(word.strip("<[]>").upper() == "UNK" for word in strange):
        return f"The marker of this table is spelled `{UNKNOWN_WORD}`."
    if strange:
        return f"Decoding has nothing but IDs. Where would it take `{strange[0]}` from? No entry of the table holds it."
    if len(text.split()) < len(case[1].split()):
        return "Your text has fewer words than the one that was encoded, yet each word had got an ID."
    ids = vocabulary.encode(text)
    if vocabulary.decode(ids) != text:
        return "Decoding puts one space between two words, and no white space anywhere else."
    return f"Your text is what decoding makes of the IDs {ids}."


def _text(case: Case) -> str:
    return f'"{case[1].replace("  ", "␣␣")}"'


# The questions.

LOWERING = Question(
    id="01-lowering",
    kind="ids",
    prompt="Which IDs does the table give for {input}?",
    pool=((FOUR_WORDS, "lowering"), (FOUR_WORDS, "newer"), (FOUR_WORDS, "lowest")),
    right=closed,
    misconceptions=(PREFIX, SKIPPED, GROWING),
    why=lambda case: (
        f"{why(case)}\n\nIt comes back as `{closed(case).back}`: every letter of `{case[1]}` is lost."
    ),
    consequence=id_consequence,
    hints=(
        "Does this word stand in the table, letter for letter?",
        "A smaller case: in a table that holds only `sun`, the word `sunny` is looked up as a whole. It is not there.",
        "A word that is not in the table gets the ID that is kept for the unknown.",
    ),
    concepts=("closed vocabulary", "unknown word"),
    cells=("look-up", "unknown-id"),
    recall=False,
    form=lambda outcome: outcome.ids,
    show=_text,
)

NEW_LOW = Question(
    id="01-new-low",
    kind="ids",
    prompt="Fit a table on {input}, then encode the same text with it. Which IDs come out?",
    pool=((("new low",), "new low"), (("tea milk",), "tea milk"), (("sea by",), "sea by")),
    right=closed,
    misconceptions=(FIRST_SEEN, FROM_ZERO),
    why=why,
    consequence=id_consequence,
    hints=(
        "In which order do the words stand in the table? And what is the ID of the first?",
        'A smaller case: on "red blue green" the table is blue, green, red.',
        "Sort the two words, number them from 1, and only then go through the text.",
    ),
    concepts=("closed vocabulary",),
    cells=("number-words", "sorted-order"),
    form=lambda outcome: outcome.ids,
    show=_text,
)

LOW_LOW = Question(
    id="01-low-low",
    kind="ids",
    prompt="A table holds one word, `low`, with the ID 1. Which IDs does it give for {input}?",
    pool=((("low",), "Low low."), (("low",), "low, LOW"), (("low",), "Low, low!")),
    right=closed,
    misconceptions=(TIDIED, PREFIX, SKIPPED, GROWING),
    why=why,
    consequence=id_consequence,
    hints=(
        "Where does `split()` cut, and what stays with the word?",
        "A smaller case: for the table, `sun` and `sun;` are as different as `sun` and `moon`.",
        "Write down the two words as `split()` gives them. Is either of them the word in the table, letter for letter?",
    ),
    concepts=("closed vocabulary", "white space"),
    cells=("cut-at-white-space", "exactly-alike"),
    form=lambda outcome: outcome.ids,
    show=_text,
)

SPACES = Question(
    id="01-spaces",
    kind="number",
    prompt="Encode {input} with the four-word table and decode again. How many spaces does the text have that comes back?",
    pool=((FOUR_WORDS, "low  new"), (FOUR_WORDS, "new   low"), (FOUR_WORDS, "newest    lower")),
    right=closed,
    misconceptions=(SPACES_KEPT,),
    why=why_back,
    consequence=lambda case, answer: (
        "The IDs are all that decoding gets. Which of them would say how wide the gap was?"
        if answer
        else "Then the words would stand glued together, and nobody could cut them again."
    ),
    hints=(
        "How many IDs are there, and does any of them stand for a space?",
        "A smaller case: `lower` with a space before it gives one ID. The space at its left is in no ID.",
        "Decoding gets the IDs of the words and puts the same thing between any two of them.",
    ),
    concepts=("white space", "round trip"),
    cells=("cut-at-white-space", "decode-by-hand"),
    recall="The table holds four words: `low`, `lower`, `new`, `newest`.",
    form=lambda outcome: outcome.back.count(" "),
    show=lambda case: f'"{case[1].replace(" ", "␣")}"',
)

COME_BACK = Question(
    id="01-come-back",
    kind="text",
    prompt="Encode {input} with the four-word table and decode again. Which text comes back?",
    pool=(
        (FOUR_WORDS, "newest lowly low."),
        (FOUR_WORDS, "lower newly new!"),
        (FOUR_WORDS, "low lowest new,"),
    ),
    right=closed,
    misconceptions=(PREFIX, TIDIED, SKIPPED, GROWING),
    why=why_back,
    consequence=text_consequence,
    hints=(
        "Which of the three words stand in the table exactly as they are written?",
        f"A smaller case: `new newt` comes back as `{FOUR.decode(FOUR.encode('new newt'))}`.",
        f"Go word by word: a word of the table comes back as itself, everything else as `{UNKNOWN_WORD}`.",
    ),
    concepts=("round trip", "unknown word"),
    cells=("decode-by-hand", "exactly-alike"),
    recall=f"The table holds four words: `low`, `lower`, `new`, `newest`; its marker is `{UNKNOWN_WORD}`.",
    form=lambda outcome: outcome.back,
    show=_text,
)


def unknown_letters(text: str) -> int:
    letters = set("".join(FOUR.words))
    return sum(letter not in letters for letter in text)


def _letter_rows(text: str) -> str:
    letters = ClosedVocabulary(tuple(sorted(set("".join(FOUR.words)))))
    rows = [f"    {letter}  {letters.encode(letter)[0] or '0  (not in the table)'}" for letter in text]
    return "\n".join(rows)


LETTERS = Question(
    id="01-letters",
    kind="number",
    prompt="How many letters of {input} are not in the table of characters?",
    pool=("sleeping", "lowland", "drowning"),
    right=unknown_letters,
    misconceptions=(
        Misconception("never-unknown", "think that a single letter is never unknown", lambda text: 0),
        Misconception(
            "one-for-the-word",
            "count the word, which is unknown as a whole, and not its letters",
            lambda _: 1,
        ),
        Misconception("all-letters", "count every letter of an unknown word as unknown", len),
    ),
    why=lambda text: f"Letter by letter, with the table of characters:\n\n{_letter_rows(text)}",
    consequence=lambda text, answer: (
        "Then some letter that stands in low, lower, new or newest would not be in the table."
        if answer > unknown_letters(text)
        else "Then every other letter of this word would have to stand in low, lower, new or newest."
    ),
    hints=(
        "Which letters did the four words bring into the table?",
        "A smaller case: of `winter` only the i is missing: no word of the four has an i.",
        "Go through the word and cross out each letter that stands in low, lower, new or newest. Count what is left.",
    ),
    concepts=("characters", "unknown word"),
    cells=("letters-by-hand",),
    recall=False,
)

ALL = Question(
    id="01-all",
    kind="ids",
    prompt="Fit a table on {input}. Which IDs come out?",
    pool=(
        (("new low lower",), "Low  new lowering"),
        (("tea sea seat",), "Sea  tea seating"),
        (("wind sun sunny",), "Sun  wind sunnier"),
    ),
    right=closed,
    misconceptions=(PREFIX, FIRST_SEEN, FROM_ZERO, TIDIED, SKIPPED, GROWING, SPACES_KEPT),
    why=why,
    consequence=id_consequence,
    hints=(
        "Make the table first: which words, in which order, from which number on?",
        'A smaller case: fitted on "red blue", the text "Red␣␣red" has two words, and only the second is in the table.',
        "Cut the text at white space, look each word up as it stands, and keep the ID of the unknown for the rest.",
    ),
    concepts=("closed vocabulary", "unknown word", "white space"),
    cells=("number-words", "cut-at-white-space", "exactly-alike"),
    form=lambda outcome: outcome.ids,
    show=lambda case: f'"{" ".join(case[0])}", then encode {_text(case)}',
)


# The exercises.

DOCUMENTS = ("b a", "ab b")


def encode_words(documents: tuple[str, ...], text: str) -> list[int]:
    """Return the IDs of a text in the closed vocabulary of documents.

    >>> encode_words(("b a", "ab b"), "b c")
    [3, 0]
    """
    words = sorted({word for document in documents for word in document.split()})
    ids = {word: number for number, word in enumerate(words, 1)}
    return [ids.get(word, 0) for word in text.split()]


def _wrong_prefix(documents: tuple[str, ...], text: str) -> list[int]:
    """Takes the longest known prefix."""
    return longest_prefix((documents, text)).ids


def _wrong_first_seen(documents: tuple[str, ...], text: str) -> list[int]:
    """Numbers words as they are seen."""
    return first_seen((documents, text)).ids


def _wrong_from_zero(documents: tuple[str, ...], text: str) -> list[int]:
    """Numbers from 0."""
    return from_zero((documents, text)).ids


def _wrong_small_letters(documents: tuple[str, ...], text: str) -> list[int]:
    """Makes the letters small."""
    return encode_words(documents, text.lower())


def _wrong_skips(documents: tuple[str, ...], text: str) -> list[int]:
    """Leaves unknown words out."""
    return without_unknown((documents, text)).ids


def _wrong_single_spaces(documents: tuple[str, ...], text: str) -> list[int]:
    """Cuts at each single space."""
    return keeping_spaces((documents, text)).ids


def _wrong_spaces_only(documents: tuple[str, ...], text: str) -> list[int]:
    """Knows no white space but the space."""
    words = [word for word in text.split(" ") if word]
    return [encode_words(documents, word)[0] if word.split() == [word] else 0 for word in words]


def _wrong_repeated(documents: tuple[str, ...], text: str) -> list[int]:
    """Numbers a word once more where it stands once more."""
    ids = {word: number for number, word in enumerate(sorted(" ".join(documents).split()), 1)}
    return [ids.get(word, 0) for word in text.split()]


ENCODE = Exercise(
    id="01-encode",
    prompt="Write the whole closed vocabulary: documents and a text give the IDs of the text.",
    call="encode_words(documents, text)",
    reference=encode_words,
    alphabet=("a", "b", " ", "A", "\n"),
    arguments=lambda symbols: (DOCUMENTS, "".join(symbols)),
    wrong=(
        _wrong_prefix,
        _wrong_first_seen,
        _wrong_from_zero,
        _wrong_small_letters,
        _wrong_skips,
        _wrong_single_spaces,
        _wrong_spaces_only,
        _wrong_repeated,
    ),
    hints=(
        "Which two things have to be made before the text is looked at?",
        'For the documents "b a" and "ab b" the table is a, ab, b; the text "b b c" has three words.',
        "Collect the words of all documents in a set, sort it, number it from 1; then look up each word of `text.split()`.",
    ),
    concepts=("closed vocabulary", "unknown word"),
    cells=("number-words", "look-up"),
)


def lost_without_unknown(_: object, text: str) -> bool:
    ids = FOUR.encode(text)
    return UNKNOWN_WORD_ID not in ids and FOUR.decode(ids) != text


def shortest_loss(_: object) -> str:
    texts = ("".join(signs) for length in count() for signs in product(("low", "new", " "), repeat=length))
    return next(text for text in texts if text.strip() and lost_without_unknown(None, text))


BREAK = Question(
    id="01-no-way-back",
    kind="text",
    prompt="Find a text that does not come back as it was from {input}, although the table knows every word of it.",
    pool=("the table of four words",),
    show=str,
    right=shortest_loss,
    accepts=lost_without_unknown,
    misconceptions=(
        Misconception("unknown-word", "use a word that the table does not know", lambda _: "low lowering"),
        Misconception("one-space", "use known words with one space between", lambda _: "low new"),
    ),
    why=lambda _: (
        f"`{shortest_loss(None)!r}` is such a text: all its words are in the table, and it comes back as "
        f"`{FOUR.decode(FOUR.encode(shortest_loss(None)))!r}`. White space before, after and between the words is in no ID."
    ),
    consequence=lambda _, text: (
        "The table does not know every word of it, so the loss is no surprise."
        if UNKNOWN_WORD_ID in FOUR.encode(text)
        else "This text comes back as it was."
    ),
    hints=(
        "What, apart from words, is in a text?",
        "A line break between two words counts as white space too. What comes back in its place?",
        "Take words of the table, and write the white space in another way than decoding does.",
    ),
    concepts=("white space", "round trip"),
    cells=("cut-at-white-space", "decode-by-hand"),
    recall=False,
)

CHAPTER = Chapter(
    notebook="01_closed_word_vocabulary",
    title="A closed table of words",
    question="What happens to a word the table has never seen?",
    objectives=(
        "How does a table of words give IDs, and what is 0 kept for?",
        "What of a text is lost when it goes through such a table?",
        "Why are more words unknown in one language than in another?",
        "What do characters cost, in place of words, and what do they save?",
    ),
    concepts=(
        Concept("white space", "white-space", "Spaces, tabs and line breaks: what words are cut at."),
        Concept(
            "closed vocabulary",
            "closed",
            "A table of words that is fitted once and never grows; each word has an ID, from 1.",
        ),
        Concept("unknown word", "unknown-id", "A word that is not in the table; all of them share the ID 0."),
        Concept("round trip", "round-trip", "Encoding a text and decoding its IDs again."),
        Concept(
            "characters",
            "characters",
            "Single letters and signs in place of words: a short table, long lists.",
        ),
    ),
    questions=(NEW_LOW, LOWERING, LOW_LOW, SPACES, COME_BACK, LETTERS, ALL),
    exercises=(ENCODE, BREAK),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "A model reads only IDs. What can it say about a text in which every second word is 0?",
        "Whose words are unknown most often? Think of names, dialects, new words, other languages.",
        "Suppose the table held every word that was ever printed. What would still go wrong?",
    ),
    likeliest="longest-prefix",
    paper=("new low", "lowering", "Low low.", "newest lowly low."),
)
