"""Chapter 03, rank-ordered encoding: its questions, and the wrong encoders behind the common wrong answers.

An encoder here takes bytes and returns pieces of bytes, so that what it does can be read in hex.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, count, pairwise, product

from tokenlab.bpe.merging import merge_lowest_rank, merge_rank_by_rank
from tokenlab.bpe.tokenizer import BpeTokenizer
from tokenlab.bpe.training import BpeTrainer
from tokenlab.corpus import load_corpus
from tokenlab.course.feedback import compare_bytes
from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question

Pieces = tuple[bytes, ...]
Encoder = Callable[[bytes, Sequence[tuple[bytes, bytes]]], list[bytes]]


@cache
def course_tokenizer() -> BpeTokenizer:
    return BpeTokenizer.from_training(BpeTrainer(8).train(load_corpus("tiny").train.texts))


def course_pairs() -> list[tuple[bytes, bytes]]:
    """Return the pairs of the eight rules, as bytes, by rank."""
    tokenizer = course_tokenizer()
    return [
        (tokenizer.token_bytes(a), tokenizer.token_bytes(b))
        for a, b in (r.content_pair for r in tokenizer.merge_rules)
    ]


def encode(text: str) -> Pieces:
    """Encode as the library does."""
    tokenizer = course_tokenizer()
    return tuple(map(tokenizer.token_bytes, tokenizer.encode_utf8(text)))


# The wrong encoders.


def _single(data: bytes) -> Pieces:
    return tuple(data[i : i + 1] for i in range(len(data)))


def _merge(pieces: Sequence[bytes], pair: tuple[bytes, bytes], at_most: int | None = None) -> Pieces:
    merged, rest = list[bytes](), list(pieces)
    while rest:
        if tuple(rest[:2]) == pair and at_most != 0:
            merged.append(b"".join(pair))
            del rest[:2]
            at_most = None if at_most is None else at_most - 1
        else:
            merged.append(rest.pop(0))
    return tuple(merged)


def _wrong_leftmost(data: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    """Merges the leftmost pair that has any rule."""
    pieces = list(_single(data))
    while found := [i for i, pair in enumerate(pairwise(pieces)) if pair in pairs]:
        pieces[found[0] : found[0] + 2] = [pieces[found[0]] + pieces[found[0] + 1]]
    return pieces


def _wrong_reversed(data: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    """Applies the highest rank first."""
    return encode_by_rank(data, tuple(reversed(pairs)))


def _wrong_once(data: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    """Applies each rule at its first place only."""
    pieces = _single(data)
    for pair in pairs:
        pieces = _merge(pieces, pair, at_most=1)
    return list(pieces)


def _wrong_first_rule(data: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    """Stops after the first rule that fires."""
    for pair in pairs:
        if len(pieces := _merge(_single(data), pair)) < len(data):
            return list(pieces)
    return list(_single(data))


def _on_text(encoder: Encoder) -> Callable[[str], Pieces]:
    """Return the encoder of texts that has the course's rules."""
    return lambda text: tuple(encoder(text.encode(), course_pairs()))


leftmost_first = _on_text(_wrong_leftmost)


def commonest_first(text: str) -> Pieces:
    pieces, pairs = _single(text.encode()), course_pairs()
    while counts := Counter(pair for pair in pairwise(pieces) if pair in pairs):
        pieces = _merge(pieces, min(counts, key=lambda pair: (-counts[pair], pairs.index(pair))))
    return pieces


def inside_characters(text: str) -> Pieces:
    return tuple(chain.from_iterable(map(encode, text)))


REVERSED = Misconception(
    "highest-rank-first", "take the ranks from the highest down to rank 0", _on_text(_wrong_reversed)
)
LEFTMOST = Misconception(
    "leftmost-first",
    "read from left to right and merge the first pair that has any rule (with these rules: take the longest known piece)",
    leftmost_first,
)
RECOUNT = Misconception(
    "commonest-first",
    "count the pairs of the new text again and merge the commonest first, as training does",
    commonest_first,
)
CHARACTERS = Misconception(
    "inside-characters",
    "merge only inside a character, as if a token could not cross its edge",
    inside_characters,
)
ONCE = Misconception("once-each", "use each rule at its first place only", _on_text(_wrong_once))
FIRST_RULE = Misconception(
    "first-rule-only", "stop after the first rule that fires", _on_text(_wrong_first_rule)
)


# What is said about an answer.


def spell(pieces: Iterable[bytes]) -> str:
    return " | ".join(piece.hex(" ") for piece in pieces)


def trace(text: str) -> str:
    """Write the encoding of a text rule by rule."""
    tokenizer = course_tokenizer()
    observed = tokenizer.encode_content_with_trace(text.encode())
    lines = [f"    start   {spell(map(tokenizer.token_bytes, observed.initial_tokens))}"]
    for step in observed.applications:
        lines.append(f"    rank {step.rank}  {spell(map(tokenizer.token_bytes, step.after))}")
    return "\n".join(lines)


def why(text: str) -> str:
    steps = course_tokenizer().encode_content_with_trace(text.encode()).applications
    if not steps:
        return f"No pair of these bytes has a rule, so each byte stays a piece of its own:\n\n{trace(text)}"
    return (
        f"Rule by rule, lowest rank first:\n\n{trace(text)}\n\nAfter that, no pair that is left has a rule."
    )


def consequence(text: str, pieces: Pieces) -> str:
    joined, known = b"".join(pieces), {a + b for a, b in course_pairs()}
    said = compare_bytes(text.encode(), joined)
    unknown = [piece for piece in pieces if len(piece) > 1 and piece not in known]
    if unknown:
        return f"{said} But the table has no piece `{unknown[0].hex(' ')}`: no rule makes it."
    if joined == text.encode():
        return f"{said} Every piece is in the table too. But the encoder writes these bytes in another way, so a model trained on what it writes has never seen yours."
    return said


def id_consequence(text: str, ids: tuple[int, ...]) -> str:
    tokenizer = course_tokenizer()
    unknown = [token_id for token_id in ids if not 2 <= token_id < tokenizer.layout.vocabulary_size]
    if unknown:
        return f"In the library's numbering, ID {unknown[0]} stands for no piece of text at all."
    return consequence(text, tuple(map(tokenizer.token_bytes, ids)))


# The questions.

ASK_PIECES = "Which pieces does the encoder make of {input}? Write them in hex, with `|` between the pieces."

GIVEN = (  # with these, the questions can be asked again in another chapter
    "The course's eight rules are given (chapter 02b). In hex, the space is 20, Latin e is 65, "
    "Cyrillic а is d0 b0, е is d0 b5, и is d0 b8, о is d0 be."
)

SPACE_A = Question(
    id="03-space-a",
    kind="hex pieces",
    prompt=ASK_PIECES,
    pool=(" а", " о", " е", " и"),
    right=encode,
    misconceptions=(REVERSED, CHARACTERS),
    collisions=(frozenset({"highest-rank-first", "inside-characters"}),),
    why=why,
    consequence=consequence,
    hints=(
        "Two rules fit these bytes, and they overlap: both want the byte `d0`. Which of the two has the lower rank?",
        lambda text: (
            "A smaller case, with letters: rank 0 merges x y, rank 1 merges y z. Of x y z, rank 0 leaves xy | z: the y is gone before rank 1 has its turn."
        ),
        "The rule for `20 d0` has rank 0. Apply it first, then see which pairs are left.",
    ),
    concepts=("rank order",),
    cells=("rules-table", "apply-on-paper"),
    recall=GIVEN,
)

OTHER_ORDER = Question(
    id="03-rank-1-first",
    kind="hex pieces",
    prompt="Suppose somebody applied rank 1 before rank 0. Which pieces would {input} give then?",
    pool=(" а", "а а", " аа"),
    right=lambda text: _rank_1_first(text),
    misconceptions=(
        Misconception("as-usual", "apply rank 0 first all the same, as the real encoder does", encode),
        Misconception(
            "both-rules",
            "let both rules use the byte `d0`, although the first merge has used it up",
            lambda text: _both(text),
        ),
    ),
    why=lambda text: (
        "Rank 1 takes `d0 b0` wherever it stands; after that no `20 d0` is left for rank 0. The pieces are "
        f"`{spell(_rank_1_first(text))}`. The real encoder keeps the order of the ranks: `{spell(encode(text))}`."
    ),
    consequence=lambda text, pieces: compare_bytes(text.encode(), b"".join(pieces)),
    hints=(
        "Which bytes does the rule of rank 1 want? Are they all there at the start?",
        "A smaller case, with letters: rank 0 merges x y, rank 1 merges y z. If rank 1 comes first, x y z gives x | yz.",
        "Rank 1 merges `d0 b0`. Then look at what stands to its left: is there still a pair that rank 0 wants?",
    ),
    concepts=("rank order",),
    cells=("rules-table", "overlap"),
    recall=False,
)


def _rank_1_first(text: str) -> Pieces:
    pairs = course_pairs()
    return _merge(_merge(_single(text.encode()), pairs[1]), pairs[0])


def _both(text: str) -> Pieces:
    """Let overlapping rules use one byte twice."""
    data, known = text.encode(), {a + b for a, b in course_pairs()[:2]}
    return tuple(data[i : i + 2] for i in range(len(data) - 1) if data[i : i + 2] in known)


E_A = Question(
    id="03-e-a",
    kind="hex pieces",
    prompt=ASK_PIECES,
    pool=("e а", "e о", "e и"),
    right=encode,
    misconceptions=(REVERSED, LEFTMOST, CHARACTERS),
    collisions=(frozenset({"highest-rank-first", "leftmost-first"}),),
    why=why,
    consequence=consequence,
    hints=(
        "The space can be merged to its left or to its right. Which of these two rules has the lower rank?",
        "A smaller case, with letters: rank 0 merges y z, rank 7 merges x y. Of x y z, rank 0 leaves x | yz, although x y stands further left.",
        "Write the four bytes, go through the ranks from 0 up, and at each ask: does this pair stand there now?",
    ),
    concepts=("rank order",),
    cells=("rules-table", "left-is-no-reason"),
    recall=GIVEN,
)

A_A = Question(
    id="03-a-a",
    kind="hex pieces",
    prompt=ASK_PIECES,
    pool=("а а", "о о", "и и"),
    right=encode,
    misconceptions=(REVERSED, RECOUNT, CHARACTERS, FIRST_RULE),
    collisions=(frozenset({"highest-rank-first", "commonest-first", "inside-characters"}),),
    why=why,
    consequence=consequence,
    hints=(
        "One pair stands here twice. Does the encoder ask how often a pair stands in the new text?",
        "A smaller case, with letters: rank 0 merges x y, rank 1 merges y z. Of y z x y z, rank 0 comes first although y z stands twice: y | z | xy | z, and then rank 1: yz | xy | z.",
        "Begin with rank 0, wherever it fits, and only then look for the next rank that fits what is left.",
    ),
    concepts=("frozen table", "rank order"),
    cells=("counts-nothing", "rules-table"),
    recall=GIVEN,
)


def _ids(pieces: Pieces) -> tuple[int, ...]:
    tokenizer = course_tokenizer()
    ids = {
        tokenizer.token_bytes(token_id): token_id for token_id in range(2, tokenizer.layout.vocabulary_size)
    }
    return tuple(ids[piece] for piece in pieces)


TE = Question(
    id="03-te",
    kind="ids",
    prompt="Which IDs does the library's encoder give for {input}?",
    pool=("т", "р", "т т", "рт"),
    right=lambda text: _ids(encode(text)),
    misconceptions=(
        Misconception(
            "training-ids",
            "use the IDs of the training, without adding 2",
            lambda text: [token_id - 2 for token_id in _ids(encode(text))],
        ),
        Misconception(
            "lower-ranks-needed",
            "let a rule fire only when the rules before it have fired too",
            lambda text: _ids(_while_firing(text)),
        ),
        Misconception(
            "rank-as-id",
            "write the rank itself as the ID of a merged piece",
            lambda text: [
                max(token_id - 258, 0) if token_id >= 258 else token_id for token_id in _ids(encode(text))
            ],
        ),
    ),
    why=lambda text: (
        f"{why(text)}\n\nThe library numbers a byte b as 2 + b, and the piece of rank r as 258 + r: {list(_ids(encode(text)))}."
    ),
    consequence=id_consequence,
    hints=(
        "Which rank makes a piece of these two bytes? Must another rule fire before it?",
        "A smaller case: for the text `e ` rank 7 alone fires. The table above has its training ID; the library's ID is that plus 2.",
        "The piece of rank r has the training ID 256 + r, and the library adds 2.",
    ),
    concepts=("library IDs", "rank order"),
    cells=("plus-two", "rules-table"),
    recall="The tokenizer is that of chapter 03: eight rules, and the ID of a byte is its value plus 2.",
)


def _while_firing(text: str) -> Pieces:
    pieces = _single(text.encode())
    for pair in course_pairs():
        if (after := _merge(pieces, pair)) == pieces:
            break
        pieces = after
    return pieces


E_E_A = Question(
    id="03-e-e-a",
    kind="hex pieces",
    prompt=ASK_PIECES,
    pool=("e e а", "e e о", "e e и"),
    right=encode,
    misconceptions=(REVERSED, LEFTMOST, RECOUNT, CHARACTERS, FIRST_RULE),
    collisions=(frozenset({"highest-rank-first", "leftmost-first", "commonest-first"}),),
    why=why,
    consequence=consequence,
    hints=(
        "There are two spaces. Which rules want each of them?",
        "A smaller case, with letters: rank 0 merges y z, rank 7 merges x y. Of x y x y z, rank 0 takes the second y; the first y is still free for rank 7.",
        "Rank 0 takes the space before the Cyrillic letter. Which space is left, and what stands before it?",
    ),
    concepts=("rank order",),
    cells=("left-is-no-reason", "counts-nothing"),
    recall=GIVEN,
)

E_A_AA = Question(
    id="03-e-a-aa",
    kind="hex pieces",
    prompt=ASK_PIECES,
    pool=("e а аа", "e о оо", "e и ии"),
    right=encode,
    misconceptions=(REVERSED, LEFTMOST, RECOUNT, CHARACTERS, ONCE, FIRST_RULE),
    collisions=(frozenset({"highest-rank-first", "commonest-first"}),),
    why=why,
    consequence=consequence,
    hints=(
        "At how many places does rank 0 fit? Does a rule stop after its first place?",
        "A smaller case, with letters: rank 0 merges x y, rank 1 merges y z. Of x y z x y z y z, rank 0 fires at two places, and rank 1 still finds one.",
        "Rank 0 first, at all its places. Then cross out what it has used, and go on with rank 1.",
    ),
    concepts=("rank order", "all places", "token border"),
    cells=("all-its-places", "left-is-no-reason"),
    recall=GIVEN,
)


# The exercises.


def encode_by_rank(data: bytes, pairs: tuple[tuple[bytes, bytes], ...]) -> list[bytes]:
    """Return the pieces of `data` under rules given as pairs of bytes, lowest rank first.

    >>> encode_by_rank(b"abc", ((b"b", b"c"), (b"a", b"b")))
    [b'a', b'bc']
    """
    pieces = [bytes([byte]) for byte in data]
    for left, right in pairs:
        place = 0
        while place + 1 < len(pieces):
            if pieces[place] == left and pieces[place + 1] == right:
                pieces[place : place + 2] = [left + right]
            place += 1
    return pieces


PAIRS = ((b"b", b"c"), (b"a", b"b"), (b"bc", b"c"), (b"a", b"a"))


def _wrong_from_the_right(data: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    """Goes from right to left inside one rank."""
    pieces = list(_single(data))
    for left, right in pairs:
        at = len(pieces) - 2
        while at >= 0:
            if (pieces[at], pieces[at + 1]) == (left, right):
                pieces[at : at + 2] = [left + right]
                at -= 1
            at -= 1
    return pieces


def _wrong_stops_at_a_gap(data: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    """Stops at the first rule that does not fire."""
    pieces = _single(data)
    for pair in pairs:
        if (after := _merge(pieces, pair)) == pieces:
            break
        pieces = after
    return list(pieces)


def _wrong_drops_the_last(data: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    """Loses a last byte that no rule takes."""
    pieces = encode_by_rank(data, tuple(pairs))
    return pieces[:-1] if len(pieces) > 1 and len(pieces[-1]) == 1 else pieces


ENCODE = Exercise(
    id="03-encode",
    prompt="Write the encoder: bytes and a list of pairs, lowest rank first, give the pieces.",
    call="encode_pieces(data, pairs)",
    reference=encode_by_rank,
    alphabet=tuple(b"abc"),
    arguments=lambda symbols: (bytes(symbols), PAIRS),
    wrong=(
        _wrong_leftmost,
        _wrong_reversed,
        _wrong_once,
        _wrong_from_the_right,
        _wrong_first_rule,
        _wrong_stops_at_a_gap,
        _wrong_drops_the_last,
    ),
    hints=(
        "What does one pass for one pair do? Write that first, on a list of pieces.",
        "For the pair (a, a), the pieces a a a become aa | a: go from left to right, and step over what you have merged.",
        "Start with one piece for each byte; then, for each pair in the order given, make one pass from left to right.",
    ),
    concepts=("rank order", "all places"),
    cells=("all-its-places", "places-result"),
)


def _in_a_bad_order(
    encoder: Callable[[Sequence[int], dict[tuple[int, int], tuple[int, int]]], list[int]], text: str
) -> list[int]:
    return encoder(text.encode(), BAD_ORDER)


# Rank 0 needs the piece 256, which only rank 1 makes.
BAD_ORDER = {(256, ord("n")): (0, 257), (ord("o"), ord("n")): (1, 256)}


def encoders_differ(_: object, text: str) -> bool:
    return _in_a_bad_order(merge_rank_by_rank, text) != _in_a_bad_order(merge_lowest_rank, text)


def shortest_difference(_: object) -> str:
    texts = ("".join(letters) for length in count() for letters in product("on", repeat=length))
    return next(text for text in texts if encoders_differ(None, text))


def _same_list(_: object, text: str) -> str:
    these = "this byte" if len(text.encode()) == 1 else f"these {len(text.encode())} bytes"
    length = len(_in_a_bad_order(merge_rank_by_rank, text))
    return f"Both encoders make the same list of IDs from {these}; its length is {length}."


BREAK = Question(
    id="03-break-the-order",
    kind="text",
    prompt="Find a text on which these two encoders differ under {input}.",
    pool=("the order (on, n), (o, n)",),
    show=str,
    right=shortest_difference,
    accepts=encoders_differ,
    misconceptions=(
        Misconception(
            "first-pair-only",
            "look for a text on which the rule (o, n) fires: on that alone both encoders agree",
            lambda _: "on",
        ),
    ),
    why=lambda order: (
        f"On `{shortest_difference(order)}`, the shortest such text, one pass per rank meets rank 0 before any piece `on` is there: nothing "
        "fires. Rank 1 then makes `on`, and the pass for rank 0 is over. The encoder that always takes the lowest rank "
        "present goes back to rank 0. Training cannot make such a table, since a rule's pieces are there before the rule."
    ),
    consequence=_same_list,
    hints=(
        "When can rank 0 fire at all? What has to happen first?",
        "In the example of the chapter, `abc` told the two apart: one rule made the piece that the other needs.",
        "The text has to let rank 1 make `on`, right before the letter that rank 0 wants next to it.",
    ),
    concepts=("operands first",),
    cells=("orders-that-differ", "three-agree"),
    recall=False,
)

CHAPTER = Chapter(
    notebook="03_rank_ordered_encoding",
    title="Rank-ordered encoding",
    question="What does a frozen table of ranks do to new text?",
    objectives=(
        "Which merge comes first on a text that training never saw, and which never comes?",
        "What does the encoder not do: count, learn, normalise, change case, split?",
        "Why may a token begin or end in the middle of a character?",
        "When do three ways to apply the same table give the same pieces?",
    ),
    concepts=(
        Concept("frozen table", "counts-nothing", "A table of merges that encoding reads and never changes."),
        Concept(
            "rank order",
            "what-a-rank-is",
            "The lowest rank is applied first, whatever stands further left or more often.",
        ),
        Concept(
            "all places",
            "all-its-places",
            "A rule merges its pair at every place, from left to right, without overlaps.",
        ),
        Concept(
            "token border", "border-inside", "The place where one token ends; it can lie inside a character."
        ),
        Concept(
            "library IDs", "plus-two", "The library's number for a piece: its number in training, plus 2."
        ),
        Concept(
            "operands first",
            "operands-first",
            "Each rule's two pieces are bytes, or made by rules of lower rank.",
        ),
    ),
    questions=(SPACE_A, OTHER_ORDER, E_A, A_A, TE, E_E_A, E_A_AA),
    exercises=(ENCODE, BREAK),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "A colleague re-counts pairs on every new text, to compress it better. What would a model make of the IDs?",
        "Half a letter can be a token. Who is hurt by that, and who is helped?",
        "Two programs call themselves BPE and disagree. Which three questions would you ask?",
    ),
    likeliest="leftmost-first",
    paper=("e а", "а а", "e e а", "e а аа"),
)
