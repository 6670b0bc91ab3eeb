"""Chapter 02b, ties, borders and splits: its questions, and the wrong trainers behind the wrong answers.

The trainers are those of chapter 02; a document is a word that occurs once, and its borders are barriers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count, pairwise, product

from tokenlab.course.chapters.ch02_byte_bpe_training import (
    NO_OVERLAPS,
    Cut,
    Pair,
    Pieces,
    Trained,
    Words,
    count_pairs,
    ladder,
    learn,
    listed,
    merge_overlapping,
    names,
    replay,
    smallest_of_the_commonest,
)
from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question


def documents(*texts: str) -> Words:
    return tuple((text, 1) for text in texts)


# The wrong trainers.


def from_the_right(pieces: Pieces, pair: Pair) -> list[str]:
    merged, rest = list[str](), list(pieces)
    while rest:
        if tuple(rest[-2:]) == pair:
            merged.append("".join(pair))
            del rest[-2:]
        else:
            merged.append(rest.pop())
    return merged[::-1]


def _in_any_order(words: Cut) -> Counter[Pair]:
    counts: Counter[Pair] = Counter()
    for (left, right), times in count_pairs(words).items():
        counts[min(left, right), max(left, right)] += times
    return counts


def _replace_in_any_order(pieces: Pieces, pair: Pair) -> list[str]:
    merged, rest = list[str](), list(pieces)
    while rest:
        if len(rest) > 1 and (min(rest[:2]), max(rest[:2])) == pair:
            merged.append("".join(pair))
            del rest[:2]
        else:
            merged.append(rest.pop(0))
    return merged


def first_seen(counts: Counter[Pair]) -> Pair:
    return max(counts, key=counts.__getitem__)


def _joined(words: Words) -> Trained:
    return learn(documents("".join(word * times for word, times in words)))


OVERLAPPING = Misconception(
    "replaces-overlaps",
    "replace at every place that was counted, also where two places share a letter",
    lambda words: replay(words, replace=merge_overlapping),
)
FROM_THE_RIGHT = Misconception(
    "from-the-right",
    "go from right to left when replacing",
    lambda words: replay(words, replace=from_the_right),
)
UNORDERED = Misconception(
    "order-ignored",
    "take a pair and its mirror image for one, such as (x, y) and (y, x)",
    lambda words: replay(words, count=_in_any_order, replace=_replace_in_any_order),
)
JOINED = Misconception(
    "documents-joined", "join the documents, so that pairs arise where two of them touch", _joined
)
FIRST_SEEN = Misconception(
    "first-seen",
    "among equal counts take the pair that is seen first",
    lambda words: replay(words, choose=first_seen),
)
ALL_SPLITS = Misconception(
    "all-splits-counted",
    "count the pairs of the validation documents too",
    lambda splits: learn(tuple(chain.from_iterable(splits))),
)


# What is said about an answer.


def _why(
    merges: int, ties: str = ", and among equal ones the pair that comes first in the alphabet"
) -> Callable[[Words], str]:
    return lambda words: (
        f"Count inside each document, take the highest count{ties}:\n\n{ladder(words, merges)}"
    )


def _used_up(words: Words, number: float) -> str:
    letters = len(words[0][0])
    used = f"{number} replacement{'' if number == 1 else 's'} would use up {2 * number:g}"
    if 2 * number > letters:
        return f"{used} letters; there are {letters}."
    return f"{used} of the {letters} letters. Would the pass stop there?"


def _consequence(words: Words, piece: str) -> str:
    counts = {"".join(pair): times for pair, times in count_pairs(words).items()}
    if piece not in counts:
        return f"No document holds `{piece}`. A rule for it would be spent on something that does not occur."
    rival = "more" if counts[piece] < max(counts.values()) else "as many that comes earlier in the alphabet"
    return (
        f"Inside the documents, the pair that makes `{piece}` has the count {counts[piece]}. "
        f"Is there a pair with {rival}?"
    )


def _cut_consequence(words: Words, pieces: Pieces) -> str:
    asked = words[0][0]
    if "".join(pieces) != asked:
        return (
            f"Your pieces join to `{''.join(pieces)}`, which has {len(''.join(pieces))} letters; "
            f"the word has {len(asked)}. A merge moves borders, it adds and removes no letter."
        )
    if any(len(piece) > 2 for piece in pieces):
        return f"One merge joins two pieces at each place. `{max(pieces, key=len)}` would be more than two in one."
    if ("a", "a") in pairwise(pieces):
        return "In your pieces an a still stands right before an a. The pass would have merged them."
    return "Your pieces join to the word, so no letter is lost. But the pass has a direction. Would one that begins at the other end cut it like this too?"


def _pieces_consequence(words: Words, pieces: Pieces) -> str:
    if len(pieces) != 2:
        return "Two merges make two pieces."
    if pieces[:1] == learn(words).pieces(1):
        return "Your first merge is the one that training makes. Write the documents after it, and count again inside each."
    return _consequence(words, pieces[0])


# The questions.

RUNS = (documents("aaaaa"), documents("aaaaaaa"), documents("aaaaaaaaa"))

REPLACEMENTS = Question(
    id="02b-replacements",
    kind="number",
    prompt='In "{input}", how many replacements does the merge of (a, a) make?',
    pool=RUNS,
    right=learn,
    form=lambda trained: trained.steps[0].replacements,
    misconceptions=(OVERLAPPING,),
    why=lambda words: (
        f"The pair is counted {learn(words).counts['a', 'a']} times, but a letter can go into one new piece only: "
        f"{' | '.join(learn(words).steps[0].words[0][0])}. That is {learn(words).steps[0].replacements}."
    ),
    consequence=_used_up,
    hints=(
        "How many letters does one replacement use up? How many are there?",
        "A smaller case: in xxxx the pair (x, x) is counted three times, and replaced twice: xx | xx.",
        "Cross out two letters at a time, from the left, until fewer than two are left.",
    ),
    concepts=("no overlaps",),
    cells=("counted-and-replaced", "used-up"),
    show=names,
)

ODD_RUN = Question(
    id="02b-merge-aaa",
    kind="text pieces",
    prompt='Into which pieces does the merge of (a, a) cut "{input}"?',
    pool=(documents("aaa"), *RUNS[:2]),
    right=learn,
    form=lambda trained: trained.steps[0].words[0][0],
    misconceptions=(OVERLAPPING, FROM_THE_RIGHT),
    why=lambda words: (
        "The pass goes from left to right, and steps over what it has merged: "
        f"{' | '.join(learn(words).steps[0].words[0][0])}. What remains at the end stays as it is."
    ),
    consequence=_cut_consequence,
    hints=(
        "At which end does the pass begin?",
        "A smaller case: in yxx the pair (x, x) stands once, so the answer is y | xx. In xxx there are two places, and the pass meets one of them first.",
        "Begin at the left end. Merge the first two letters, step over them, and look at what is left.",
    ),
    concepts=("no overlaps",),
    cells=("counted-and-replaced", "used-up"),
    show=names,
)

ASK_FIRST = "The documents are {input}. Which piece does the first merge make?"

ORDER = Question(
    id="02b-order",
    kind="text",
    prompt=ASK_FIRST,
    pool=(documents("aba", "cd", "cd"), documents("ebe", "fg", "fg"), documents("dad", "ik", "ik")),
    right=learn,
    form=lambda trained: "".join(trained.pieces(1)),
    misconceptions=(UNORDERED,),
    why=_why(1, ties=""),  # the tie rule comes later
    consequence=_consequence,
    hints=(
        "Which pairs stand in the first document? Are any two of them the same?",
        "A smaller case: in xyx the pairs are (x, y) and (y, x), each with the count 1. They are different pairs.",
        "Write every pair of the three documents on a line, with its order, and look for one that stands there twice.",
    ),
    concepts=("order of a pair",),
    cells=("two-orders", "order-result"),
    shown_in=("ask-order",),  # the answer is one of the documents
    show=listed,
)

BARRIER = Question(
    id="02b-barrier",
    kind="text",
    prompt="Four documents: {input}. Which piece does the first merge make?",
    pool=(
        documents("to", "ot", "to", "ot"),
        documents("yo", "oy", "yo", "oy"),
        documents("us", "su", "us", "su"),
    ),
    right=learn,
    form=lambda trained: "".join(trained.pieces(1)),
    misconceptions=(JOINED, FIRST_SEEN),
    why=_why(1),
    consequence=_consequence,
    hints=(
        "Inside which document does the pair stand that you have in mind? And how often is each pair there?",
        "A smaller case: the documents xy and zx hold the pairs (x, y) and (z, x). No document holds (y, z).",
        "Count inside each document alone. If two pairs have equal counts, the one that comes first in the alphabet wins.",
    ),
    concepts=("document barrier", "tie rule"),
    cells=("barrier-counts", "barrier-result", "tie-rule"),
    shown_in=("ask-barrier",),  # the answer is one of the documents
    show=listed,
)

TIES = Question(
    id="02b-tie",
    kind="text",
    prompt="The two documents are {input}. Which piece does the first merge make?",
    pool=(documents("zz", "aa"), documents("xx", "bb"), documents("uv", "gh")),
    right=learn,
    form=lambda trained: "".join(trained.pieces(1)),
    misconceptions=(FIRST_SEEN,),
    why=_why(1),
    consequence=_consequence,
    hints=(
        "Do the counts decide here? If not, what does?",
        "A smaller case: the documents yx and xy hold (y, x) and (x, y), each once. The one whose left piece comes first in the alphabet is (x, y).",
        "The counts are equal. Compare the left pieces, as in a dictionary.",
    ),
    concepts=("tie rule",),
    cells=("tie-rule",),
    shown_in=("ask-tie",),  # the answer is one of the documents
    show=listed,
)

Splits = tuple[Words, Words]

SPLITS = Question(
    id="02b-splits",
    kind="text",
    prompt="There are {input}. Which piece does the first merge of training make?",
    pool=(
        (documents("no", "no", "it"), documents("it", "it")),
        (documents("up", "up", "my"), documents("my", "my")),
        (documents("we", "we", "as"), documents("as", "as", "as")),
    ),
    right=lambda splits: learn(splits[0]),
    form=lambda trained: "".join(trained.pieces(1)),
    misconceptions=(ALL_SPLITS,),
    why=lambda splits: f"Only the training documents are counted:\n\n{ladder(splits[0], 1)}",
    consequence=lambda splits, piece: (
        "Your merge would be chosen with the help of documents that are kept aside to measure on. Then the measurement would "
        "say how well you know these documents, and nothing about new ones."
        if piece in "".join(text for text, _ in splits[1])
        else _consequence(splits[0], piece)
    ),
    hints=(
        "What are the validation documents for?",
        "A smaller case: to train on xy xy, to validate on zz zz zz: the pair (x, y) is merged, for training never sees (z, z).",
        "Cover the validation documents with your hand, then count.",
    ),
    concepts=("splits",),
    cells=("splits-named", "splits-rule"),
    shown_in=("ask-splits",),  # the answer is one of the documents
    show=lambda splits: (
        f"training documents {listed(splits[0])} and validation documents {listed(splits[1])}"
    ),
)

CAPSTONE = Question(
    id="02b-two-merges",
    kind="text pieces",
    prompt="The documents are {input}, over characters. Which two pieces do the first two merges make?",
    pool=(documents("ca", "bbba"), documents("cca", "bbba"), documents("cbbba", "ca")),
    right=learn,
    form=lambda trained: trained.pieces(2),
    misconceptions=(NO_OVERLAPS, OVERLAPPING, FROM_THE_RIGHT, UNORDERED, JOINED, FIRST_SEEN),
    why=_why(2),
    consequence=_pieces_consequence,
    hints=(
        "How often does (b, b) stand in the second document? Does anything stand across the two?",
        "A smaller case: the documents zx and yyy. First (y, y), which stands twice, and y y y becomes yy | y. Then (yy, y) and (z, x) have one each, and yy comes before z.",
        "After the first merge all counts are equal. Which of the left pieces comes first in a dictionary?",
    ),
    concepts=("no overlaps", "order of a pair", "document barrier", "tie rule"),
    cells=("used-up", "order-result", "barrier-result", "tie-rule"),
    show=listed,
)


# The exercises.


def train_three(documents: Iterable[str]) -> list[Pair]:
    """Learn up to three merges from documents, over characters.

    >>> train_three(["aab", "aab", "b"])
    [('a', 'a'), ('aa', 'b')]
    """
    cut = [list(document) for document in documents]
    merges: list[Pair] = []
    while len(merges) < 3:
        counts = Counter(pair for pieces in cut for pair in pairwise(pieces))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for pieces in cut:
            place = 0
            while place + 1 < len(pieces):
                if (pieces[place], pieces[place + 1]) == best:
                    pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
                place += 1
    return merges


def _pairs_of(trained: Trained) -> list[Pair]:
    return [(step.pair[0], step.pair[1]) for step in trained.steps]


def _wrong_joined(documents: Sequence[str]) -> list[Pair]:
    """Joins the documents before it counts."""
    return train_three(["".join(documents)])


def _wrong_first_seen(documents: Sequence[str]) -> list[Pair]:
    """Lets the first of equal counts win."""
    return _pairs_of(replay(tuple((text, 1) for text in documents), choose=first_seen))


def _wrong_last_of_the_equal(documents: Sequence[str]) -> list[Pair]:
    """Takes the last pair of the alphabet among equal counts."""
    return _pairs_of(
        replay(
            tuple((text, 1) for text in documents),
            choose=lambda counts: max(counts, key=lambda pair: (counts[pair], pair)),
        )
    )


def _wrong_no_overlaps(documents: Sequence[str]) -> list[Pair]:
    """Counts only places that do not overlap."""
    return _pairs_of(NO_OVERLAPS.run(tuple((text, 1) for text in documents)))


def _wrong_counted_once(documents: Sequence[str]) -> list[Pair]:
    """Counts once, and takes the three highest."""
    counts = count_pairs((text, 1) for text in documents)
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:3]


def _wrong_from_the_right(documents: Sequence[str]) -> list[Pair]:
    """Replaces from right to left."""
    return _pairs_of(FROM_THE_RIGHT.run(tuple((text, 1) for text in documents)))


def _wrong_twice_at_least(documents: Sequence[str]) -> list[Pair]:
    """Stops as soon as no pair stands twice."""

    def choose(counts: Counter[Pair]) -> Pair | None:
        best = smallest_of_the_commonest(counts)
        return best if counts[best] > 1 else None

    return _pairs_of(replay(tuple((text, 1) for text in documents), choose=choose))


TRAIN_THREE = Exercise(
    id="02b-train-three",
    prompt="Learn three merges from documents.",
    call="train_three(documents)",
    reference=train_three,
    alphabet=("ab", "ba", "aaa", "bbab", "c"),
    wrong=(
        _wrong_joined,
        _wrong_first_seen,
        _wrong_last_of_the_equal,
        _wrong_no_overlaps,
        _wrong_counted_once,
        _wrong_from_the_right,
        _wrong_twice_at_least,
    ),
    hints=(
        "You have written both parts in chapter 02: counting, and merging one pair. What is left to do?",
        'For the documents "ab", "ab" the answer is `[("a", "b")]`: after one merge each document is one piece, and no pair is left.',
        "Cut each document into a list of letters. Three times: count inside each list, stop if nothing is counted, take `min` by the key (-count, pair), merge it in every list.",
    ),
    concepts=("document barrier", "tie rule", "no overlaps", "stopping"),
    cells=("used-up", "barrier-result", "tie-rule", "stops-early"),
)


def first_merges_differ(_: object, text: str) -> bool:
    """Tell whether counting without overlaps changes the first merge of a text."""
    words = documents(text)
    return bool(learn(words).pieces(1) != NO_OVERLAPS.run(words).pieces(1))


def shortest_difference(_: object) -> str:
    texts = ("".join(letters) for length in count() for letters in product("ab", repeat=length))
    return next(text for text in texts if first_merges_differ(None, text))


def _how_it_goes(text: str) -> str:
    true, wrong = learn(documents(text)).steps[:1], NO_OVERLAPS.run(documents(text)).steps[:1]
    if not true:
        return "A text of fewer than two letters has no pair, so neither trainer merges anything."
    return (
        f"Both trainers merge ({', '.join(wrong[0].pair)}) first: one with the count {true[0].count}, "
        f"the other with {wrong[0].count}."
    )


BREAK = Question(
    id="02b-break-the-count",
    kind="text",
    prompt="Find a text on which the two trainers, one that counts {input}, choose different first merges.",
    pool=("every place and one that skips overlaps",),
    show=str,
    right=shortest_difference,
    accepts=first_merges_differ,
    misconceptions=(
        Misconception(
            "run-alone",
            "use a run of one letter alone: its pair has no rival, so a lower count changes nothing",
            lambda _: "aaaa",
        ),
    ),
    why=lambda _: (
        f"One of the shortest is `{shortest_difference(None)}`. With every place counted, the first merge is "
        f"({', '.join(learn(documents(shortest_difference(None))).steps[0].pair)}); when overlaps are skipped, it is "
        f"({', '.join(NO_OVERLAPS.run(documents(shortest_difference(None))).steps[0].pair)}). A run of letters loses counts, "
        "and a rival that was behind it comes first."
    ),
    consequence=lambda _, text: f"{_how_it_goes(text)} The choice is the same.",
    hints=(
        "On which kind of text do the two counts differ at all?",
        "In xxx one trainer counts (x, x) twice, the other once. Which other pair must stand there, so that this matters?",
        "Put a run of three beside another letter, so that two pairs become equal for the trainer that skips. Then the alphabet decides.",
    ),
    concepts=("no overlaps", "tie rule"),
    cells=("counted-and-replaced", "tie-rule"),
    recall=False,
)

CHAPTER = Chapter(
    notebook="02b_ties_borders_and_splits",
    title="Ties, borders and splits",
    question="When is training fair, and the same tomorrow?",
    objectives=(
        "How often is a pair counted in a run of one letter, and how often replaced?",
        "Which pair is merged when two have the same count, and why must that be a rule?",
        "Where may no pair be counted: between documents, across the borders of a pre-tokenizer, outside the training part?",
        "In which ways does training end?",
    ),
    concepts=(
        Concept(
            "no overlaps",
            "used-up",
            "Replacing goes from left to right and uses every piece once; counting does not.",
        ),
        Concept(
            "order of a pair",
            "order-result",
            "A pair has a left and a right piece; its mirror image is another.",
        ),
        Concept("document barrier", "barrier-result", "No pair is counted or merged across two documents."),
        Concept(
            "tie rule",
            "tie-rule",
            "Among equal counts the pair with the smaller left, then right, bytes wins.",
        ),
        Concept(
            "splits",
            "splits-named",
            "The parts of a corpus: train to learn, validation to choose, test to measure.",
        ),
        Concept(
            "stopping",
            "stops-early",
            "Training ends by number, by size, by frequency, or when pairs run out.",
        ),
    ),
    questions=(REPLACEMENTS, ODD_RUN, ORDER, TIES, BARRIER, CAPSTONE, SPLITS),
    exercises=(TRAIN_THREE, BREAK),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "Two teams train on the same files and get different vocabularies. Which questions do you ask them?",
        "Somebody trains the tokenizer on the test set too, because it is only the tokenizer. Is that fair?",
        "Should a piece be allowed to reach across a space? What would be gained, and what lost?",
    ),
    likeliest="first-seen",
    paper=("ca, bbba", "to, ot, to, ot"),
)
