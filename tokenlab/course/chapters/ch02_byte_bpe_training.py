"""Chapter 02, byte BPE training: its questions, and the wrong trainers behind the common wrong answers.

A trainer here takes words with their counts and returns what it did, merge by merge, so that one training
answers every question: a count, a merge, a vocabulary. Chapter 02b takes the same trainers to documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise

from tokenlab.bpe.training import BpeTrainer
from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question

Pieces = tuple[str, ...]
Pair = tuple[str, str]
Words = tuple[tuple[str, int], ...]  # each word or document, and how often it occurs
Cut = list[tuple[Pieces, int]]

MERGES = 3


@dataclass(frozen=True, slots=True)
class Step:
    """One merge: its pair, the count that chose it, what it replaced, and what there is after it."""

    pair: Pieces
    piece: str
    count: int
    replacements: int
    words: tuple[tuple[Pieces, int], ...]
    vocabulary: Pieces


@dataclass(frozen=True, slots=True)
class Trained:
    """The first counts, and the merges."""

    counts: Counter[Pair]
    steps: tuple[Step, ...]
    unused: int = 0  # bytes that no word holds: over bytes they are in the vocabulary too

    def pieces(self, merges: int) -> Pieces:
        return tuple(step.piece for step in self.steps[:merges])

    def vocabulary(self, merges: int) -> Pieces:
        return tuple(chain.from_iterable(step.vocabulary for step in self.steps[merges - 1 : merges]))


# Counting, choosing and replacing: the right ways, which are exercises, and the wrong ones.


def count_pairs(words: Iterable[tuple[Sequence[str], int]]) -> Counter[Pair]:
    """Count every pair of neighbours in (word, count) entries, as often as its word occurs.

    >>> count_pairs([("aaa", 2), ("ab", 5)])[("a", "a")]
    4
    """
    counts: Counter[Pair] = Counter()
    for word, count in words:
        for pair in pairwise(word):
            counts[pair] += count
    return counts


def merge_pair(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Replace a pair by one piece, from left to right, without overlaps.

    >>> merge_pair(["a", "a", "a"], ("a", "a"))
    ['aa', 'a']
    """
    merged = []
    place = 0
    while place < len(pieces):
        if tuple(pieces[place : place + 2]) == pair:
            merged.append(pieces[place] + pieces[place + 1])
            place += 2
        else:
            merged.append(pieces[place])
            place += 1
    return merged


def smallest_of_the_commonest(counts: Counter[Pair]) -> Pair:
    return min(counts, key=lambda pair: (-counts[pair], pair))


def _without_weights(words: Cut) -> Counter[Pair]:
    return count_pairs((pieces, 1) for pieces, _ in words)


def _in_one_word(words: Cut) -> Counter[Pair]:
    counts: Counter[Pair] = Counter()
    for pieces, count in words:
        for pair in pairwise(pieces):
            counts[pair] = max(counts[pair], count)
    return counts


def _without_overlaps(words: Cut) -> Counter[Pair]:
    counts: Counter[Pair] = Counter()
    for pieces, count in words:
        for pair in set(pairwise(pieces)):
            counts[pair] += count * (len(pieces) - len(merge_pair(pieces, pair)))
    return counts


def replay(
    words: Words,
    *,
    count: Callable[[Cut], Counter[Pair]] = count_pairs,
    choose: Callable[[Counter[Pair]], Pair | None] = smallest_of_the_commonest,
    replace: Callable[[Pieces, Pair], Sequence[str]] = merge_pair,
) -> Trained:
    """Make the first merges of a training, with one of its parts exchanged."""
    cut: Cut = [(tuple(word), times) for word, times in words]
    vocabulary = tuple(sorted(set(chain.from_iterable(word for word, _ in words))))
    first = count(cut)
    steps: list[Step] = []
    while len(steps) < MERGES and (counts := count(cut)) and (pair := choose(counts)):
        after = [(tuple(replace(pieces, pair)), times) for pieces, times in cut]
        marks = list(zip(cut, after, strict=True))
        replaced = sum(Counter(a[0])["".join(pair)] - Counter(b[0])["".join(pair)] for b, a in marks)
        cut, vocabulary = after, (*vocabulary, "".join(pair))
        steps.append(Step(pair, "".join(pair), counts[pair], replaced, tuple(cut), vocabulary))
    return Trained(first, tuple(steps), 256 - len(set("".join(word for word, _ in words).encode())))


def learn(words: Words) -> Trained:
    """Train with the library, over characters."""
    counts: Counter[str] = Counter()
    for word, times in words:
        counts[word] += times
    training = BpeTrainer(MERGES).train_words(counts, alphabet="characters")
    pieces = [*(training.alphabet or ()), *(rule.token_bytes.decode() for rule in training.merges)]
    pairs = iter([(pieces[left], pieces[right]) for left, right in (rule.pair for rule in training.merges)])
    return replay(words, choose=lambda _: next(pairs, None))


def _stale(words: Words) -> Trained:
    """Go down the first list of counts."""
    pairs = iter(sorted((counts := count_pairs(words)), key=lambda pair: (-counts[pair], pair)))
    return replay(words, choose=lambda _: next(pairs, None))


def _whole_words(words: Words) -> Trained:
    vocabulary = tuple(sorted(set(chain.from_iterable(word for word, _ in words))))
    steps: list[Step] = []
    for word, times in sorted(words, key=lambda entry: (-entry[1], entry[0]))[:MERGES]:
        vocabulary = (*vocabulary, word)
        steps.append(Step((word,), word, times, 0, (), vocabulary))
    return Trained(count_pairs(words), tuple(steps))


def _parts_deleted(words: Words) -> Trained:
    trained = learn(words)
    gone, steps = set[str](), list[Step]()
    for step in trained.steps:
        gone |= set(step.pair)
        kept = tuple(piece for piece in step.vocabulary if piece not in gone)
        steps.append(replace(step, vocabulary=kept))
    return replace(trained, steps=tuple(steps))


def _unused_left_out(words: Words) -> Trained:
    trained = learn(words)
    used, steps = set[str](), list[Step]()
    for step in trained.steps:
        used |= set(step.piece)
        kept = tuple(piece for piece in step.vocabulary if len(piece) > 1 or piece in used)
        steps.append(replace(step, vocabulary=kept))
    return Trained(trained.counts, tuple(steps))


NO_WEIGHTS = Misconception(
    "weights-ignored",
    "count each word once, however often it occurs",
    lambda words: replay(words, count=_without_weights),
)
ONE_WORD = Misconception(
    "one-word-only",
    "give a pair the count of the commonest word that holds it, without adding the other words",
    lambda words: replay(words, count=_in_one_word),
)
STALE = Misconception(
    "counted-once",
    "count once at the start and go down that list, without counting again after a merge",
    _stale,
)
WHOLE_WORDS = Misconception(
    "commonest-word", "merge the commonest word at once, in place of the commonest pair", _whole_words
)
DELETED = Misconception(
    "parts-deleted",
    "take the two parts out of the vocabulary when their merge comes in",
    _parts_deleted,
)
UNUSED_LEFT_OUT = Misconception(
    "unused-left-out",
    "take in only the letters that a merge has used, and leave out the rest of the alphabet",
    _unused_left_out,
)
NO_OVERLAPS = Misconception(
    "counts-without-overlaps",
    "count only places that do not overlap, as if counting were replacing",
    lambda words: replay(words, count=_without_overlaps),
)


# What is said about an answer.


def spell(words: Words) -> str:
    return ", ".join(f"`{word}` {times}" for word, times in words)


def names(words: Words) -> str:
    return ", ".join(word for word, times in words for _ in range(times))


def listed(words: Words) -> str:
    return ", ".join(f"`{word}`" for word, times in words for _ in range(times))


def _pair(pair: Sequence[str]) -> str:
    return f"({', '.join(pair)})"


def ladder(words: Words, merges: int) -> str:
    """Write the first merges of a training: the highest counts, then the words as they are cut."""
    lines, cut = list[str](), [(tuple(word), times) for word, times in words]
    for number, step in enumerate(learn(words).steps[:merges], start=1):
        counts = count_pairs(cut)
        best = sorted(counts, key=lambda pair: (-counts[pair], pair))[:3]
        lines.append(
            f"    merge {number}  highest counts: {', '.join(f'{_pair(p)} {counts[p]}' for p in best)}"
        )
        cut = list(step.words)
        lines.append(f"    {'':7}  then: {', '.join(' '.join(pieces) for pieces, _ in cut)}")
    return "\n".join(lines)


def _why_count(pair: Pair) -> Callable[[Words], str]:
    def why(words: Words) -> str:
        parts = [(word, list(pairwise(word)).count(pair), times) for word, times in words]
        lines = [
            f"    {word:6} {places} x {times} = {places * times}" for word, places, times in parts if places
        ]
        joined = "\n".join(lines)
        total = sum(places * times for _, places, times in parts)
        return f"{_pair(pair)} stands in these words, places times count:\n\n{joined}\n\nTogether {total}."

    return why


def _why_piece(merge: int) -> Callable[[Words], str]:
    return lambda words: (
        f"Count, take the pair with the highest count, merge it, and count again:\n\n{ladder(words, merge)}"
    )


def _count_consequence(pair: Pair) -> Callable[[Words, float], str]:
    return lambda words, count: (
        f"Then u would stand right before g {count} times, in all copies of all words together. Training "
        f"meets {'more' if count < learn(words).counts[pair] else 'fewer'} such places."
    )


def _piece_consequence(merge: int) -> Callable[[Words, str], str]:
    def consequence(words: Words, piece: str) -> str:
        before: Iterable[tuple[Pieces, int]] = ((tuple(word), times) for word, times in words)
        if merge > 1:
            before = learn(words).steps[merge - 2].words
        found = {"".join(pair): count for pair, count in count_pairs(before).items()}
        if piece in found:
            return f"At that moment the pair that makes `{piece}` has the count {found[piece]}. Another pair has more."
        return f"At that moment no two neighbours together make `{piece}`, so one merge cannot make it."

    return consequence


def _vocabulary_consequence(words: Words, pieces: Pieces) -> str:
    letters = sorted(set(chain.from_iterable(word for word, _ in words)))
    lost = [letter for letter in letters if letter not in pieces]
    if lost:
        return f"Your vocabulary has no `{lost[0]}`. A new word that holds this letter alone could not be written any more."
    steps = learn(words).steps
    merged = [piece for piece in pieces if len(piece) > 1]
    if merged[:1] == [steps[0].piece]:
        return "The first of your merges is the one that training makes. Look at the words after it, and at their counts."
    return f"The pair that training merges first has the count {steps[0].count}. What is the count of yours?"


# The questions.

HUG: Words = (("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5))
PAIR_ASKED = ("u", "g")

COUNT = Question(
    id="02-count-u-g",
    kind="number",
    prompt="The words and their counts: {input}. What is the count of the pair (u, g)?",
    pool=(HUG, (("mug", 7), ("bug", 4), ("gum", 9), ("bugs", 2)), (("rug", 3), ("tug", 6), ("huge", 8))),
    right=learn,
    form=lambda trained: trained.counts[PAIR_ASKED],
    misconceptions=(NO_WEIGHTS, ONE_WORD),
    why=_why_count(PAIR_ASKED),
    consequence=_count_consequence(PAIR_ASKED),
    hints=(
        "Which words hold a u with a g right after it? How often does each of them occur?",
        "A smaller case: with cat 1, car 2 and act 4, the pair (c, a) stands in cat and in car, so its count is 1 + 2.",
        "Mark the words that hold u g, then add up the numbers behind them. The g may stand in the middle of a word.",
    ),
    concepts=("pair count", "weighted words"),
    cells=("count-weighted",),
    show=spell,
)

FIRST = Question(
    id="02-first-merge",
    kind="text",
    prompt="Words and counts: {input}. Which new piece does the first merge make?",
    pool=(
        HUG,
        (("rug", 4), ("rag", 9), ("lug", 6), ("lugs", 3)),
        (("cap", 8), ("tap", 5), ("cup", 9), ("taps", 2)),
    ),
    right=learn,
    form=lambda trained: "".join(trained.pieces(1)),
    misconceptions=(WHOLE_WORDS, ONE_WORD),
    why=_why_piece(1),
    consequence=_piece_consequence(1),
    hints=(
        "Training looks at pairs of neighbours. Which pairs are there, and which of them stands in several words?",
        "A smaller case: with cat 3 and car 2, (c, a) has the count 5, (a, t) has 3 and (a, r) has 2. The first merge makes ca.",
        "Write one line for each pair, with its count over all words. The highest count wins, however common a single word is.",
    ),
    concepts=("merge", "pair count"),
    cells=("choose-and-merge", "rule-of-the-chapter"),
    show=spell,
)

SECOND = Question(
    id="02-second-merge",
    kind="text",
    prompt="Go on with {input}, after that first merge. Which new piece does the second merge make?",
    pool=(
        HUG,
        (("hat", 9), ("cat", 5), ("ham", 11), ("yam", 4), ("hats", 4)),
        (("dip", 7), ("did", 9), ("wig", 4), ("tip", 3), ("din", 12)),
    ),
    right=learn,
    form=lambda trained: "".join(trained.pieces(2)[1:]),
    misconceptions=(STALE, NO_WEIGHTS),
    why=_why_piece(2),
    consequence=_piece_consequence(2),
    hints=(
        "Some letters have found a partner in the first merge. Which pairs lost places because of that?",
        "A smaller case: in ab ab abc, once (a, b) is merged, no (b, c) is left: its b is inside the new piece.",
        "Write all words again with the new piece, then count every pair from the beginning.",
    ),
    concepts=("counting again",),
    cells=("counts-after", "counting-again"),
    recall=False,
    show=spell,
)

OVERLAPS = Question(
    id="02-count-overlaps",
    kind="number",
    prompt='The single word "{input}" occurs once. What is the count of the pair (a, a)?',
    pool=((("aaaaa", 1),), (("aaaaaaa", 1),), (("aaaaaa", 1),)),
    right=learn,
    form=lambda trained: trained.counts["a", "a"],
    misconceptions=(NO_OVERLAPS,),
    why=lambda words: (
        f"Every place where one a has an a after it counts: {len(words[0][0])} letters have "
        f"{len(words[0][0]) - 1} such places. That two places share a letter does not matter for counting."
    ),
    consequence=lambda words, count: (
        f"With {count} you have another number than there are places where an a has an a to its right. Try each letter in turn."
    ),
    hints=(
        "Put a finger on each letter in turn. Does it have an a to its right?",
        "A smaller case: the word xxx has two places of (x, x): the first x with the second, and the second with the third.",
        "Slide a window that is two letters wide, one letter at a time, and count where it can stand.",
    ),
    concepts=("pair count",),
    cells=("window", "window-slides"),
    show=names,
)


def tokenize(word: str) -> list[str]:
    """Cut a word with the first three merges of the hug words, over characters."""
    return BpeTrainer(MERGES).train_words(dict(HUG), alphabet="characters").tokenize_word(word)


def _no_merges(word: str) -> list[str]:
    known = set(chain.from_iterable(known for known, _ in HUG))
    return [letter if letter in known else "[UNK]" for letter in word]


def _what_is_missing(word: str, pieces: Pieces) -> str:
    if "[UNK]" not in pieces:
        return "The token [UNK] does not appear: how would a reader learn that something is missing?"
    if "".join(pieces) == "".join(tokenize(word)):
        return "Every letter has its place. Were the three merges made wherever they can be, and no others?"
    return "Compare the letters that are in the alphabet: each of them should still be there."


UNKNOWN = Question(
    id="02-unknown-letter",
    kind="text pieces",
    prompt="Make three merges of the hug words, over characters: the two that you know, then h with the first new piece. Into which tokens is {input} cut?",
    pool=("thug", "mugs", "chug", "rug"),
    right=tokenize,
    misconceptions=(
        Misconception(
            "word-unknown", "make the whole word unknown, as a vocabulary of words would", lambda _: ["[UNK]"]
        ),
        Misconception(
            "unknown-dropped",
            "leave out the letter that is not in the alphabet",
            lambda word: [piece for piece in tokenize(word) if piece != "[UNK]"],
        ),
        Misconception(
            "unknown-stops-merging", "merge nothing in a word that holds an unknown letter", _no_merges
        ),
    ),
    why=lambda word: (
        f"The alphabet is the letters of the hug words: {' '.join(sorted(set(chain.from_iterable(w for w, _ in HUG))))}. "
        f"A letter outside it becomes [UNK]; the letters beside it merge as always: {' | '.join(tokenize(word))}."
    ),
    consequence=lambda word, pieces: (
        f"Your tokens join to `{''.join(pieces)}`, the word was `{word}`. {_what_is_missing(word, pieces)}"
    ),
    hints=(
        "Which letters of this word also stand in the hug words, and which does not?",
        'A smaller case: with the alphabet a, b and the piece ab, the word xab becomes [UNK] | ab. Type it as `["[UNK]", "ab"]`.',
        "Replace the strange letter by [UNK]. Then make the merges in their order on what stands beside it.",
    ),
    concepts=("unknown letter",),
    cells=("new-words", "unknown-letter"),
    recall=False,
)

SIZE = Question(
    id="02-vocabulary-size",
    kind="number",
    prompt="Training runs over bytes, on the words {input}, and makes three merges. How many pieces are in the vocabulary then?",
    pool=(
        (("is", 9), ("my", 7), ("no", 5)),
        (("up", 8), ("at", 6), ("so", 3)),
        (("we", 9), ("do", 5), ("it", 2)),
    ),
    right=learn,
    form=lambda trained: trained.unused + len(trained.vocabulary(MERGES)),
    misconceptions=(DELETED, UNUSED_LEFT_OUT),
    why=lambda words: (
        f"There are 256 bytes before the first merge, whether a word uses them or not. Each of the {MERGES} merges adds one piece "
        f"({', '.join(learn(words).pieces(MERGES))}) and takes none away: 256 + {MERGES}."
    ),
    consequence=lambda _, size: (
        "Then there would be more different bytes than pieces. A text made of a byte without a piece could not be written."
        if size < 256
        else "Count again: the bytes that were there before, and what each merge adds."
    ),
    hints=(
        "How many different bytes are there? Is any of them gone after a merge?",
        "A smaller case: over the characters a and b, one merge of (a, b) gives the vocabulary a, b, ab.",
        "Begin with the number of bytes, and let every merge add the same number of pieces.",
    ),
    concepts=("vocabulary", "training ID"),
    cells=("byte-alphabet", "training-ids", "nothing-leaves"),
    show=spell,
)

VOCABULARY = Question(
    id="02-whole-vocabulary",
    kind="text pieces",
    prompt="Train over characters, on {input}, with two merges. Which pieces are in the vocabulary then: first the letters from a to z, then the merged ones in their order?",
    pool=(
        (("ham", 9), ("hmm", 8), ("hmmm", 4), ("hams", 2)),
        (("zip", 3), ("pip", 2), ("pizza", 4), ("fizzz", 6)),
        (("hah", 7), ("hats", 6), ("tattt", 5)),
    ),
    right=learn,
    form=lambda trained: trained.vocabulary(2),
    misconceptions=(NO_WEIGHTS, ONE_WORD, STALE, WHOLE_WORDS, DELETED, UNUSED_LEFT_OUT, NO_OVERLAPS),
    why=lambda words: (
        f"Merge by merge:\n\n{ladder(words, 2)}\n\nThe letters stay, and each merge adds one piece: "
        f"{', '.join(learn(words).vocabulary(2))}."
    ),
    consequence=_vocabulary_consequence,
    hints=(
        "Make one line for each pair, with its count. Does a word that occurs nine times count once?",
        "A smaller case: with xxx 2 and xy 3, (x, x) has two places in xxx, so 4; (x, y) has 3. The vocabulary becomes x, y, xx.",
        "Merge the highest pair, write all words again, and count from the beginning before the second merge.",
    ),
    concepts=("vocabulary", "pair count", "counting again", "merge"),
    cells=("counts-after", "nothing-leaves", "window-slides"),
    show=spell,
)


# The exercises.


def _wrong_no_weights(words: Sequence[tuple[str, int]]) -> Counter[Pair]:
    """Counts each word once."""
    return count_pairs((word, 1) for word, _ in words)


def _wrong_last_word(words: Sequence[tuple[str, int]]) -> Counter[Pair]:
    """Keeps the count of the last word that holds the pair."""
    return Counter({pair: count for word, count in words for pair in pairwise(word)})


def _wrong_once_a_word(words: Sequence[tuple[str, int]]) -> Counter[Pair]:
    """Counts a pair once in each word, however many places it has there."""
    counts: Counter[Pair] = Counter()
    for word, count in words:
        for pair in set(pairwise(word)):
            counts[pair] += count
    return counts


def _wrong_no_overlaps(words: Sequence[tuple[str, int]]) -> Counter[Pair]:
    """Skips a place that overlaps the one before."""
    return _without_overlaps([(tuple(word), count) for word, count in words])


def _wrong_sorted(words: Sequence[tuple[str, int]]) -> Counter[Pair]:
    """Counts (a, b) and (b, a) as one."""
    counts: Counter[Pair] = Counter()
    for word, count in words:
        for left, right in pairwise(word):
            counts[min(left, right), max(left, right)] += count
    return counts


def _wrong_across(words: Sequence[tuple[str, int]]) -> Counter[Pair]:
    """Joins the words into one long text."""
    return count_pairs([("".join(word * count for word, count in words), 1)])


COUNT_PAIRS = Exercise(
    id="02-count-pairs",
    prompt="Count the pairs of words that have counts.",
    call="pair_counts(words)",
    reference=count_pairs,
    alphabet=(("ab", 2), ("aaa", 3), ("bab", 1), ("b", 4)),
    wrong=(
        _wrong_no_weights,
        _wrong_last_word,
        _wrong_once_a_word,
        _wrong_no_overlaps,
        _wrong_sorted,
        _wrong_across,
    ),
    hints=(
        "For one word, how do you reach every letter together with the one after it?",
        "`pairwise` of a word gives its pairs, in order; a Counter begins every new key at 0.",
        "Two loops: over the words, and over the pairs of each; add the word's count at every place.",
    ),
    concepts=("pair count", "weighted words"),
    cells=("count-weighted", "window-slides"),
)


def _wrong_from_the_right(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Goes from right to left."""
    backwards = merge_pair([piece[::-1] for piece in reversed(pieces)], (pair[1][::-1], pair[0][::-1]))
    return [piece[::-1] for piece in reversed(backwards)]


def _wrong_first_place(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merges only the first place."""
    places = (place for place, found in enumerate(pairwise(pieces)) if found == pair)
    at = next(places, len(pieces))
    return [*pieces[:at], *("".join(pair) for _ in pieces[at : at + 1]), *pieces[at + 2 :]]


def merge_overlapping(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Makes a piece at every place, also at those that overlap."""
    taken = [found == pair for found in pairwise(pieces)]
    starts, ends = [*taken, False], [False, *taken]
    return list(
        chain.from_iterable(
            ["".join(pair)] if start else [] if end else [piece]
            for piece, start, end in zip(pieces, starts, ends, strict=False)
        )
    )


def _wrong_by_text(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merges by the joined text, whatever the borders of the pieces were."""
    if "".join(pair) in pieces and pair not in pairwise(pieces):
        return list("".join(pieces))
    return merge_pair(pieces, pair)


def _wrong_repeats(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Looks at the new piece again, and lets it swallow more of the same."""
    merged: list[str] = []
    for piece in pieces:
        if merged and piece == pair[1] and merged[-1] in (pair[0], "".join(pair)):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


PAIRS_TO_MERGE: dict[str, Pair] = {"a": ("a", "a"), "b": ("a", "b"), "ab": ("ab", "a")}

MERGE_PAIR = Exercise(
    id="02-merge-pair",
    prompt="Merge one pair in a list of pieces.",
    call="merge_pair(pieces, pair)",
    reference=merge_pair,
    alphabet=("a", "b", "ab"),
    arguments=lambda symbols: (tuple(symbols[1:]), PAIRS_TO_MERGE[next(islice(symbols, 1), "a")]),
    wrong=(_wrong_from_the_right, _wrong_first_place, merge_overlapping, _wrong_by_text, _wrong_repeats),
    hints=(
        "Go through the pieces with a place number. What do you do where the pair stands, and what elsewhere?",
        "With the pair (a, a), the pieces a a a give aa and a: after a merge, go on two places further.",
        "A while loop: if the piece here and the next one are the pair, append the two as one and step by 2; else append the piece and step by 1.",
    ),
    concepts=("merge",),
    cells=("choose-and-merge", "merge-by-hand"),
)

CHAPTER = Chapter(
    notebook="02_byte_bpe_training",
    title="Byte BPE training",
    question="Which pair is merged first, and why?",
    objectives=(
        "Which pair of a small set of counted words is merged first, and which next?",
        "Why does training count again after every merge?",
        "What happens to a letter that training never saw, over characters and over bytes?",
        "How many pieces does a vocabulary hold, and what does one more merge buy?",
    ),
    concepts=(
        Concept(
            "pair count",
            "window-slides",
            "How often two pieces stand side by side, in this order; places may overlap.",
        ),
        Concept(
            "weighted words", "weights", "Words with the number of times they occur; a pair counts as often."
        ),
        Concept("merge", "rule-of-the-chapter", "Making one piece of the pair with the highest count."),
        Concept(
            "counting again", "counting-again", "After a merge all pairs are counted anew, on the new pieces."
        ),
        Concept(
            "unknown letter", "unknown-letter", "A character outside the training alphabet; it becomes [UNK]."
        ),
        Concept("vocabulary", "nothing-leaves", "The alphabet and all merged pieces; nothing leaves it."),
        Concept(
            "training ID",
            "training-ids",
            "The number of a piece in training: byte b is b, merge r is 256 + r.",
        ),
    ),
    questions=(COUNT, FIRST, SECOND, OVERLAPS, UNKNOWN, SIZE, VOCABULARY),
    exercises=(COUNT_PAIRS, MERGE_PAIR),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "The pieces of BPE are often no words and no syllables. Does a model need them to be?",
        "Each merge buys less than the one before. When would you stop, and what would you have to know?",
        "Two languages share one vocabulary, and one has ten times more text. Whose pairs are merged?",
    ),
    likeliest="counted-once",
    paper=(spell(HUG), spell(VOCABULARY.pool[0])),
)
