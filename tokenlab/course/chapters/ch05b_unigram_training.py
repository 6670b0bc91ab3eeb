"""Chapter 05b, Unigram training: its questions on expected counts, new probabilities and pruning.

The two tokenizers of the comparison are trained here once, as the notebook trains them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import log

from tokenlab.bpe.training import BpeTrainer, BpeTraining
from tokenlab.corpus import load_corpus
from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question
from tokenlab.unigram.training import SURPLUS, UnigramTrainer
from tokenlab.unigram.viterbi import Unigram

SIZE = 400
KEPT = 0.75  # the trainer's shrinking factor
CHANCES = {"a": 0.6, "b": 0.25, "ab": 0.05}
Row = tuple[str, int, int, int]
"""A piece, how often it is expected, its cost, and the cost of the cheapest way to do without it."""


def split_words(text: str) -> list[str]:
    """Cut a text into words, each with the space before it."""
    return re.findall(r" ?[^ \n]+| |\n", text)


# Expected counts.


def _model() -> Unigram:
    return Unigram({piece: log(chance) for piece, chance in CHANCES.items()})


def expected(text: str) -> float:
    return round(_model().expected_counts(text)["ab"], 6)


def _equal_shares(text: str) -> float:
    paths = [path.pieces for path in _model().n_best(text, 1000)]
    return sum(path.count("ab") for path in paths) / len(paths)


def _why_expected(text: str) -> str:
    shares = {
        span: share for span, share in _model().marginals(text).items() if text[span[0] : span[1]] == "ab"
    }
    parts = " + ".join(f"{share:g}" for share in (round(share, 6) for share in shares.values()))
    return (
        "At one place, the path of two letters has the probability 0.6 × 0.25 = 0.15, the one piece 0.05: "
        f"a share of one in four. Added over all places where it can stand: {parts} = {expected(text):g}."
    )


EXPECTED = Question(
    id="05b-expected",
    kind="number",
    prompt='How often is the piece "ab" expected in {input}?',
    pool=("ababab", "abab", "abaab"),
    show=lambda text: f'"{text}" (a 0.6, b 0.25, ab 0.05)',
    right=expected,
    misconceptions=(
        Misconception(
            "best-path-only",
            "count the pieces of the best path, and nothing else",
            lambda text: _model().segment(text).count("ab"),
        ),
        Misconception(
            "every-place", "count every place where the piece can stand", lambda text: text.count("ab")
        ),
        Misconception("equal-shares", "give every path the same share", _equal_shares),
        Misconception(
            "one-place",
            "find the share at one place, and forget the other places",
            lambda text: expected("ab"),
        ),
    ),
    tolerance=0.001,
    why=_why_expected,
    consequence=lambda text, answer: (
        f"The piece can stand at {text.count('ab')} of the places, so a count cannot lie outside of 0 to that."
        if not 0 <= answer <= text.count("ab")
        else "The counts have to fit the shares of the paths: at one place, those with `ab` and those with a and b add up to one."
    ),
    hints=(
        "At one place where `ab` stands: what are the two ways to cut it, and what is the probability of each?",
        "A smaller case: if two ways have the probabilities 0.3 and 0.1, the second has a quarter of the total.",
        "Find the share of `ab` at one place, then add it up over all the places where it can stand.",
    ),
    concepts=("expected count",),
    cells=("shares-of-hugs", "e-step"),
)


# New probabilities.


def _counts(text: str) -> dict[str, int]:
    return {piece: int(number) for piece, number in (pair.split() for pair in text.split(", "))}


def _last_over(total: float, text: str) -> float:
    return round(list(_counts(text).values())[-1] / total, 6)


M_STEP = Question(
    id="05b-m-step",
    kind="number",
    prompt="What is the new probability of the last piece, when the expected counts are {input}?",
    pool=("h 5, u 3, hu 2", "h 6, u 8, hu 6", "h 9, u 7, hu 4"),
    show=str,
    right=lambda text: _last_over(sum(_counts(text).values()), text),
    misconceptions=(
        Misconception(
            "per-character",
            "divide by the number of characters, where pieces are counted",
            lambda text: _last_over(sum(len(piece) * n for piece, n in _counts(text).items()), text),
        ),
        Misconception(
            "by-the-highest",
            "divide by the highest count",
            lambda text: _last_over(max(_counts(text).values()), text),
        ),
        Misconception(
            "by-the-others",
            "divide by the counts of the other pieces only",
            lambda text: _last_over(sum(list(_counts(text).values())[:-1]), text),
        ),
    ),
    tolerance=0.001,
    why=lambda text: (
        f"All counts together are {sum(_counts(text).values())}. The last piece has "
        f"{list(_counts(text).values())[-1]} of them: {_last_over(sum(_counts(text).values()), text):g}."
    ),
    consequence=lambda text, answer: (
        "A probability lies between 0 and 1."
        if not 0 <= answer <= 1
        else "Divide all the counts in your way and add up: the probabilities of all pieces have to make exactly 1."
    ),
    hints=(
        "What do the probabilities of all pieces have to add up to?",
        "A smaller case: with the counts x 3 and y 1, the piece y gets a quarter.",
        "Divide the count of the piece by the sum of all counts, its own included.",
    ),
    concepts=("M-step",),
    cells=("new-probabilities", "m-step"),
)


# Pruning.


def loss(row: Row) -> int:
    _, count, own, without = row
    return count * (without - own)


def first_to_go(rows: Sequence[Row]) -> str:
    """Return the piece that is missed least; among equals, the first.

    >>> first_to_go((("the", 60, 3, 4), ("est", 10, 5, 7)))
    'est'
    """
    return min(rows, key=loss)[0]


def _table(rows: Sequence[Row]) -> str:
    return "; ".join(
        f"{piece} {count} times, cost {own}, without it {without}" for piece, count, own, without in rows
    )


ROWS = (("zoo", 3, 8, 18), ("est", 10, 5, 7), ("the", 60, 3, 4), ("qua", 4, 9, 17))

FIRST = Question(
    id="05b-first-to-go",
    kind="text",
    prompt="Which piece is pruned first? {input}.",
    pool=(
        ROWS,
        (("oak", 2, 8, 19), ("ing", 9, 5, 7), ("and", 40, 2, 3), ("sky", 5, 9, 15)),
        (("her", 50, 3, 4), ("xyz", 4, 9, 19), ("ist", 12, 5, 7), ("fox", 3, 7, 17)),
    ),
    show=_table,
    right=first_to_go,
    misconceptions=(
        Misconception("rarest", "drop the rarest piece", lambda rows: min(rows, key=lambda row: row[1])[0]),
        Misconception(
            "dearest", "drop the piece of the highest cost", lambda rows: max(rows, key=lambda row: row[2])[0]
        ),
        Misconception(
            "smallest-difference",
            "look at one occurrence only, and forget how often it comes",
            lambda rows: min(rows, key=lambda row: row[3] - row[2])[0],
        ),
    ),
    why=lambda rows: (
        "Count times what one occurrence gets dearer:\n\n"
        + "\n".join(f"    {row[0]}: {row[1]} × ({row[3]} - {row[2]}) = {loss(row)}" for row in rows)
        + "\n\nThe lowest loss goes first."
    ),
    consequence=lambda rows, answer: next(
        (
            f"Without `{row[0]}` the text gets {loss(row)} dearer. Another piece is missed less."
            for row in rows
            if row[0] == answer
        ),
        "That is none of these pieces.",
    ),
    hints=(
        "What does the text cost more, all in all, when a piece is gone?",
        "A smaller case: a piece that comes 5 times and saves 2 each time is missed by 10; one that comes once and saves 9, by 9.",
        "For each piece: (cost without it - its cost) × how often it comes. The lowest goes.",
    ),
    concepts=("loss",),
    cells=("loss-table", "loss-rule"),
    shown_in=("ask-first-to-go",),  # the piece is chosen from those that are asked about
)

KEPT_PIECES = Question(
    id="05b-kept",
    kind="number",
    prompt="How many pieces can never be pruned when the training text is {input}?",
    pool=("e e а", "e а а", "но но"),
    right=lambda text: len(set(text)),
    misconceptions=(
        Misconception("bytes", "keep bytes, as byte BPE does", lambda text: len(set(text.encode()))),
        Misconception("letters", "leave the space out", lambda text: len(set(text) - {" "})),
        Misconception("positions", "count a character at each of its places", len),
    ),
    why=lambda text: (
        "The different characters are "
        + ", ".join(f"U+{ord(character):04X}" for character in sorted(set(text)))
        + f": {len(set(text))} pieces. Without one of them, some text could not be cut at all."
    ),
    consequence=lambda text, answer: (
        "With so few, a character of this text would be unknown."
        if answer < len(set(text))
        else "One can do with fewer, and still every character of this text is a piece."
    ),
    hints=(
        "Without which pieces could some text of these characters not be cut?",
        "A smaller case: for the text `oo!` there are two, o and the exclamation mark.",
        "Count the different characters. A space is one too.",
    ),
    concepts=("kept characters",),
    cells=("too-small", "kept-rule"),
)


def left_after(sizes: tuple[int, int]) -> int:
    size, target = sizes
    return max(int(target * SURPLUS), int(size * KEPT))


ROUND = Question(
    id="05b-round",
    kind="number",
    prompt="A round begins with {input}, and no piece is rare. How many pieces are left after it?",
    pool=((60, 20), (100, 30), (120, 50)),
    show=lambda sizes: f"{sizes[0]} pieces, the target is {sizes[1]}",
    right=left_after,
    misconceptions=(
        Misconception(
            "quarter-stays", "let a quarter stay, where a quarter goes", lambda sizes: sizes[0] // 4
        ),
        Misconception("at-once", "go down to the target at once", lambda sizes: sizes[1]),
    ),
    why=lambda sizes: (
        f"Three quarters of {sizes[0]} are {int(sizes[0] * KEPT)}, which is still above the target. "
        "Then the probabilities are estimated again, and the next round prunes."
    ),
    consequence=lambda sizes, answer: (
        "So many were dropped in one round that the losses would no longer be true: each was found as if the others stayed."
        if answer < left_after(sizes)
        else "A round that drops fewer takes longer to reach the target."
    ),
    hints=(
        "Which part of the pieces does one round drop?",
        "A smaller case: of eight pieces, two go and six stay, if the target is lower than that.",
        "Take three quarters of the pieces.",
    ),
    concepts=("pruning round",),
    cells=("rounds-table", "rounds-rule"),
)


# The exercises.


def _wrong_rarest(rows: Sequence[Row]) -> str:
    """Drops the rarest piece."""
    return min(rows, key=lambda row: row[1])[0]


def _wrong_dearest(rows: Sequence[Row]) -> str:
    """Drops the piece of the highest cost."""
    return max(rows, key=lambda row: row[2])[0]


def _wrong_difference(rows: Sequence[Row]) -> str:
    """Forgets how often a piece comes."""
    return min(rows, key=lambda row: row[3] - row[2])[0]


def _wrong_highest(rows: Sequence[Row]) -> str:
    """Drops the piece that is missed most."""
    return max(rows, key=loss)[0]


def _wrong_last(rows: Sequence[Row]) -> str:
    """Takes the last of equal losses."""
    return min(reversed(rows), key=loss)[0]


def _wrong_total(rows: Sequence[Row]) -> str:
    """Uses what the piece costs, not what it saves."""
    return min(rows, key=lambda row: row[1] * row[2])[0]


WRITE = Exercise(
    id="05b-prune",
    prompt="Write the choice of the pruning round: which piece is missed least?",
    call="first_to_go(rows)",
    reference=first_to_go,
    alphabet=(*ROWS, ("ab", 5, 4, 8), ("cd", 2, 6, 7)),
    arguments=lambda rows: ((("abc", 7, 6, 10), *rows),),
    wrong=(_wrong_rarest, _wrong_dearest, _wrong_difference, _wrong_highest, _wrong_last, _wrong_total),
    hints=(
        "What is the loss of one row? Write that as a line of its own.",
        'For `("est", 10, 5, 7)` the loss is 10 × (7 - 5).',
        "Go through the rows, keep the lowest loss so far and its piece, and replace them only by a lower one.",
    ),
    concepts=("loss",),
    cells=("loss-table", "loss-rule"),
    cases=500,
)


@cache
def _trained() -> tuple[Unigram, BpeTraining]:
    train = load_corpus("multilingual").train.by_language("en").by_kind("prose").texts
    counts = Counter(word for text in train for word in split_words(text))
    characters = set("".join(counts))
    unigram = UnigramTrainer(SIZE, pre_tokenizer=split_words).train(train).model
    return unigram, BpeTrainer(SIZE - len(characters)).train_words(counts, alphabet="characters")


def _lengths(text: str) -> tuple[int, int]:
    """How many tokens a text takes in the Unigram model and in BPE."""
    unigram, bpe = _trained()
    words = split_words(text)
    return (
        sum(len(unigram.segment(word)) for word in words),
        sum(len(bpe.tokenize_word(word)) for word in words),
    )


def unigram_is_shorter(_: object, text: str) -> bool:
    if not 0 < len(text) <= 200 or set(text) - set("".join(_trained()[0].log_probabilities)):
        return False
    unigram, bpe = _lengths(text)
    return unigram < bpe


def _shorter_word(_: object) -> str:
    words = split_words(load_corpus("multilingual").validation.by_language("en").texts[0])
    return max(
        (word for word in set(words) if unigram_is_shorter(None, word)), key=lambda word: (len(word), word)
    )


def _beat_consequence(_: object, text: str) -> str:
    if not 0 < len(text) <= 200:
        return "The text has to have 1 to 200 characters."
    if unknown := sorted(set(text) - set("".join(_trained()[0].log_probabilities))):
        return f"U+{ord(unknown[0]):04X} is in neither vocabulary: stay with the characters of the training text."
    unigram, bpe = _lengths(text)
    return f"Unigram cuts this text into {unigram} token{'s' * (unigram != 1)}, BPE into {bpe}."


BEAT = Question(
    id="05b-beat-bpe",
    kind="text",
    prompt="Find a text that takes fewer tokens in {input}.",
    pool=("this Unigram model than in this BPE",),
    show=str,
    right=_shorter_word,
    accepts=unigram_is_shorter,
    misconceptions=(
        Misconception("common-word", "try the commonest word: both have it as one piece", lambda _: " the"),
    ),
    why=lambda _: (
        f'One such text is "{_shorter_word(None)}": {_beat_consequence(None, _shorter_word(None))} '
        "BPE keeps small pieces as steps to larger ones; Unigram can hold a long piece without its parts."
    ),
    consequence=_beat_consequence,
    hints=(
        "Which pieces does Unigram have that BPE lacks? What is their length?",
        "Print the longest pieces of the Unigram model: `training.pieces` holds them all.",
        "Take a long piece of the Unigram model that BPE does not have. The piece itself is a text.",
    ),
    concepts=("loss",),
    cells=("own-pieces", "tokens-and-cost"),
    recall=False,
)

CHAPTER = Chapter(
    notebook="05b_unigram_training",
    title="Unigram training",
    question="Where do the probabilities come from?",
    objectives=(
        "How can one count pieces in a text that nobody has cut yet?",
        "Why are all paths counted, and not only the best one?",
        "Which pieces does a pruning round drop, and which never?",
        "Is the tokenizer with the fewest tokens the one of the highest probability?",
    ),
    concepts=(
        Concept(
            "expected count", "e-step", "How often a piece comes, averaged over all paths by their shares."
        ),
        Concept(
            "M-step", "m-step", "The new probability of a piece: its expected count divided by all of them."
        ),
        Concept(
            "loss", "loss-rule", "What the text costs more without a piece: its count times what it saves."
        ),
        Concept("kept characters", "kept-rule", "Every character of the training text stays a piece."),
        Concept(
            "pruning round",
            "rounds-rule",
            "EM, then a quarter of the pieces goes, those with the lowest loss.",
        ),
    ),
    questions=(EXPECTED, M_STEP, FIRST, KEPT_PIECES, ROUND),
    exercises=(WRITE, BEAT),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "Counting needs cuts, cutting needs probabilities, and these need counts. Why does going round end well?",
        "BPE grows a vocabulary, Unigram shrinks one. What can each of them never find?",
        "One tokenizer makes fewer tokens, the other has the higher probability. Which would you take, and for what?",
    ),
    likeliest="best-path-only",
    paper=ROWS,
)
