"""Chapter 03b, canonical or not: its questions, and the wrong counts and decoders behind the common wrong answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, product

from tokenlab.course.chapters.ch03_rank_ordered_encoding import course_pairs, course_tokenizer, trace
from tokenlab.course.feedback import compare_bytes
from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question, quoted
from tokenlab.errors import InvalidUtf8Error

Ids = tuple[int, ...]


def encode(data: bytes | str) -> Ids:
    content = data.encode() if isinstance(data, str) else data
    return tuple(course_tokenizer().encode_content(content))


def decode(ids: Sequence[int]) -> bytes:
    return course_tokenizer().decode_content(ids)


def one_id_a_byte(data: bytes | str) -> Ids:
    return tuple(2 + byte for byte in (data.encode() if isinstance(data, str) else data))


def unshifted(ids: Sequence[int]) -> Ids:
    return tuple(token_id - 2 for token_id in ids)


def as_list(ids: Sequence[int]) -> str:
    return str(list(ids))


def known_bytes(token_id: int) -> bytes | None:
    tokenizer = course_tokenizer()
    known = 2 <= token_id < tokenizer.layout.vocabulary_size
    return tokenizer.token_bytes(token_id) if known else None


def compare_ids(data: bytes, ids: Sequence[int]) -> str:
    """Say what a list of IDs stands for: the consequence of a wrong list."""
    pieces = [known_bytes(token_id) for token_id in ids]
    known = [piece for piece in pieces if piece is not None]
    if len(known) < len(pieces):
        return (
            f"In the library's numbering, ID {ids[pieces.index(None)]} stands for no piece of bytes at all."
        )
    return compare_bytes(data, b"".join(known))


# There and back.

TRAINING_IDS = Misconception(
    "training-ids",
    "use the IDs of the training, without adding 2",
    lambda value: unshifted(encode(value)),
)

CRAB = Question(
    id="03b-crab",
    kind="ids",
    prompt="Which IDs does the encoder give for {input}?",
    pool=("🦀", "🐟", "🌳"),
    right=encode,
    misconceptions=(
        TRAINING_IDS,
        Misconception(
            "unknown",
            "give what training never saw the number 0, as the closed table of words did",
            lambda _: (0,),
        ),
        Misconception(
            "a-new-id",
            "give the new character the next free ID, as if the frozen table could grow",
            lambda _: (course_tokenizer().layout.vocabulary_size,),
        ),
    ),
    why=lambda text: (
        f"No rule fits a pair of the bytes `{text.encode().hex(' ')}`, so each byte keeps a piece of its own, and its ID is the "
        f"byte plus 2: {as_list(encode(text))}. Decoding gives {text} back."
    ),
    consequence=lambda text, ids: compare_ids(text.encode(), ids),
    hints=(
        "How many bytes are there, and does any rule of the table fit two neighbours of them?",
        "A smaller case: the letter b is the byte `62`, in decimal 98. No rule takes it, and its ID is 100.",
        "One ID for each byte: write the byte in decimal, and add 2.",
    ),
    concepts=("round trip", "library IDs"),
    cells=("there-and-back", "03:plus-two"),
    recall="The tokenizer is that of chapter 03: eight rules, and the ID of a byte is its value plus 2.",
)

DECODE = Question(
    id="03b-decode",
    kind="hex",
    prompt="To which bytes do the IDs {input} decode?",
    pool=((34, 259), (34, 262), (103, 34, 259)),
    show=as_list,
    right=decode,
    misconceptions=(
        Misconception(
            "no-shift",
            "read the IDs as those of the training, where a byte is its own number",
            lambda ids: decode([token_id + 2 for token_id in ids]),
        ),
        Misconception(
            "no-shift-of-bytes",
            "find the merged pieces in the table, but take the ID of a single byte for the byte itself, without taking 2 away",
            lambda ids: b"".join(bytes([n]) if n < 256 else decode([n]) for n in ids),
        ),
        Misconception(
            "hex-of-id",
            "write the IDs themselves in hex, as if an ID were bytes",
            lambda ids: b"".join(token_id.to_bytes(1 + token_id // 256) for token_id in ids),
        ),
        Misconception(
            "first-byte-only",
            "take one byte for each ID, although a merged piece has more",
            lambda ids: b"".join(decode([token_id])[:1] for token_id in ids),
        ),
    ),
    why=lambda ids: (
        "Each ID gives its bytes, and they are joined in order:\n\n"
        + "\n".join(f"    {token_id:>3}   {decode([token_id]).hex(' ')}" for token_id in ids)
        + f"\n\nTogether: `{decode(ids).hex(' ')}`. Nothing was asked about who wrote these IDs."
    ),
    consequence=lambda ids, data: (
        f"The encoder would write your bytes `{data[:60].hex(' ')}` as {as_list(encode(data)[:60])}. Do these decode as the question's IDs do?"
    ),
    hints=(
        "Which of these IDs stands for a single byte, and which for a merged piece?",
        "A smaller case: `[100, 265]` is the byte `62`, since 100 is 98 plus 2, and then the piece of rank 7, `65 20`. Joined: `62 65 20`.",
        "IDs from 2 to 257 are bytes: take 2 away, and write the rest in hex. IDs from 258 on stand in the table.",
    ),
    concepts=("library IDs",),
    cells=("decode-by-hand", "rules-table"),
    recall="The tokenizer is that of chapter 03: eight rules, and the ID of a byte is its value plus 2.",
    shown_in=("two-ways-tape",),
)

REENCODE = Question(
    id="03b-reencode",
    kind="ids",
    prompt="Decode {input} to bytes, then encode these bytes. Which IDs come out?",
    pool=((34, 259), (34, 262), (103, 34, 259)),
    show=as_list,
    right=lambda ids: encode(decode(ids)),
    misconceptions=(
        Misconception("identity", "take it that the way back leads to the list that you came from", tuple),
        Misconception(
            "bytes-only",
            "stop at one ID for each byte, before any rule",
            lambda ids: one_id_a_byte(decode(ids)),
        ),
        Misconception(
            "training-ids-again",
            "use the IDs of the training, without adding 2",
            lambda ids: unshifted(encode(decode(ids))),
        ),
    ),
    why=lambda ids: (
        f"Decoding gives the bytes `{decode(ids).hex(' ')}`. They do not remember how they were cut, so the encoder starts "
        f"from single bytes:\n\n{trace(decode(ids).decode())}\n\nAs IDs: {as_list(encode(decode(ids)))}, which is another list than {as_list(ids)}."
    ),
    consequence=lambda ids, got: (
        f"{compare_ids(decode(ids), got)} What would the encoder of chapter 03 make of `{decode(ids).hex(' ')}`, rank by rank?"
    ),
    hints=(
        "Can bytes remember which list they came from?",
        "A smaller case: `[103, 34]` decodes to `65 20`. Encoding these bytes, rank 7 fires, and one ID is left: `[265]`.",
        "Forget the IDs. Write down the bytes, and apply the rules of the table, lowest rank first.",
    ),
    concepts=("round trip", "rank order"),
    cells=("there-and-back", "rules-table"),
    recall="The tokenizer is that of chapter 03: eight rules, and the ID of a byte is its value plus 2.",
)


def is_another_way(text: str, ids: Ids) -> bool:
    pieces = [known_bytes(token_id) for token_id in ids]
    return None not in pieces and decode(ids) == text.encode() and ids != encode(text)


def _not_canonical(text: str, ids: Ids) -> str:
    said = compare_ids(text.encode(), ids)
    return (
        f"{said} But this list is just what the encoder writes: it is the canonical one."
        if ids == encode(text)
        else said
    )


NONCANONICAL = Question(
    id="03b-noncanonical",
    kind="ids",
    prompt="Give a list of IDs that is not canonical for the text {input}.",
    pool=("e о", "e и", "e е"),
    right=one_id_a_byte,
    accepts=is_another_way,
    misconceptions=(
        Misconception(
            "canonical", "encode the text: what the encoder writes is canonical by its name", encode
        ),
        Misconception(
            "training-ids-of-bytes",
            "write the bytes themselves as IDs, without adding 2",
            lambda text: unshifted(one_id_a_byte(text)),
        ),
        Misconception(
            "another-order",
            "put the right IDs into another order; but joined in that order they are other bytes",
            lambda text: encode(text)[::-1],
        ),
    ),
    why=lambda text: (
        f"It decodes to `{text.encode().hex(' ')}`, the bytes of the text, and it is not what the encoder writes. There are "
        f"{course_tokenizer().count_encodings(text.encode()) - 1} such lists; one of them has an ID for each byte: {as_list(one_id_a_byte(text))}."
    ),
    consequence=_not_canonical,
    hints=(
        "Which pieces of the table occur in these bytes? The encoder takes one of them first; what if another had been taken?",
        "A smaller case: the canonical list of `bee ` is `[100, 103, 265]`. Open the last piece into its two bytes, and you have `[100, 103, 103, 34]`, which decodes alike.",
        "One ID for each byte always decodes rightly: each byte in decimal, plus 2. Is that list the encoder's own here?",
    ),
    concepts=("canonical",),
    cells=("what-canonical-means", "is-canonical"),
)


# Counting.


def count_lists(data: bytes) -> int:
    return course_tokenizer().count_encodings(data)


def _places(data: bytes) -> int:
    """Return the number of places at which a rule fits two bytes."""
    return sum((data[i : i + 1], data[i + 1 : i + 2]) in course_pairs() for i in range(len(data)))


EVERY_CUT = Misconception(
    "every-cut",
    "count every way to cut the bytes, whether the pieces are in the table or not",
    lambda data: 2 ** (len(data) - 1),
)
ONLY_CANONICAL = Misconception("only-canonical", "count the encoder's own list only", lambda _: 1)
ONE_A_RULE = Misconception(
    "one-a-place",
    "count one list for each place where a rule fits, and forget the bytes by themselves",
    _places,
)
NO_OVERLAPS = Misconception(
    "no-overlaps",
    "let each place choose freely whether it is merged, although two places that share a byte cannot both be",
    lambda data: 2 ** _places(data),
)
ONE_MERGE = Misconception(
    "at-most-one-merge",
    "allow one merge at a time: the single bytes, and one more list for each place",
    lambda data: 1 + _places(data),
)
NOTHING_ACROSS = Misconception(
    "nothing-across",
    "leave out the piece of a space and half a letter, and double the count for each piece that is left",
    lambda data: 2 ** (_places(data) - data.count(b"\x20\xd0")),
)


def _unknown_stretch(data: bytes) -> bytes:
    """Return the first two neighbours, else the first three, that are no piece together."""
    known = {a + b for a, b in course_pairs()}
    stretches = (data[i : i + n] for n in (2, 3) for i in range(len(data) - n + 1))
    return next(stretch for stretch in stretches if stretch not in known)


def _count_consequence(data: bytes, number: float) -> str:
    if number < 1 or number != int(number):
        return "A count of lists is a whole number, and the encoder's own list is always there."
    if number < count_lists(data):
        return (
            f"Your count leaves lists out. Did you count the single bytes, {as_list(one_id_a_byte(data))}, and the encoder's own, {as_list(encode(data))}? "
            "Every list in between counts too, if each of its pieces is in the table."
        )
    return (
        f"That is more than there are: somewhere you have cut a piece that is not in the table, or used a byte twice. "
        f"The bytes `{_unknown_stretch(data).hex(' ')}` together, for one, have no ID."
    )


def staircase(data: bytes) -> str:
    """Write the count step by step."""
    known = {a + b for a, b in course_pairs()}
    width = max(len("before any byte"), len(f"up to {data.hex(' ')}"))
    ways, lines = [1], [f"    {'before any byte':<{width}}  1"]
    for end in range(1, len(data) + 1):
        two = data[max(0, end - 2) : end]
        steps = [ways[-1]] + ([ways[-2]] if two in known else [])
        ways.append(sum(steps))
        lines.append(
            f"    {'up to ' + data[:end].hex(' '):<{width}}  {' + '.join(map(str, steps))} = {ways[-1]}"
        )
    return "\n".join(lines)


def _count_why(data: bytes) -> str:
    return (
        "Climb byte by byte. A list ends in a single byte, or in a merged piece if the last two bytes are one:\n\n"
        f"{staircase(data)}\n\nExactly one of these lists is canonical: {as_list(encode(data))}."
    )


COUNT_SMALL = Question(
    id="03b-count-small",
    kind="number",
    prompt="How many lists of IDs decode to the bytes {input}?",
    pool=(" а".encode(), " о".encode(), " и".encode()),
    right=count_lists,
    misconceptions=(EVERY_CUT, ONLY_CANONICAL, ONE_A_RULE, NO_OVERLAPS),
    collisions=(frozenset({"every-cut", "no-overlaps"}),),
    why=_count_why,
    consequence=_count_consequence,
    hints=(
        "Which stretches of these bytes are pieces of the table? Write them all down, the single bytes too.",
        "A smaller case: `65 20` has two lists, the two single bytes and the piece `65 20`. The bytes `62 65` have one.",
        "How can the last piece look: a single byte, or a merged piece of two? Count the ways to what is before it, and add.",
    ),
    concepts=("counting staircase",),
    cells=("staircase-small", "rules-table"),
    recall="The tokenizer is that of chapter 03: eight rules, and the ID of a byte is its value plus 2.",
    shown_in=("canonical-tape", "two-ways-tape"),  # "3" is the number of bytes there
)

COUNT_THREAD = Question(
    id="03b-count-thread",
    kind="number",
    prompt="How many lists of IDs decode to the bytes of {input}?",
    pool=("e e а".encode(), "e e о".encode(), "e e и".encode()),
    show=lambda data: quoted(data.decode()),
    right=count_lists,
    misconceptions=(EVERY_CUT, ONLY_CANONICAL, ONE_A_RULE, NO_OVERLAPS, ONE_MERGE, NOTHING_ACROSS),
    why=_count_why,
    consequence=_count_consequence,
    hints=(
        "At how many places does a rule fit? Which of these places share a byte?",
        "A smaller case, the first four bytes `65 20 65 20`: the ways are 1, 2, 2, 4. Go on from there.",
        "At each byte: the ways to the place before it, plus, if the last two bytes are a piece, the ways to two places before it.",
    ),
    concepts=("counting staircase",),
    cells=("staircase-small", "rules-table"),
    recall="The tokenizer is that of chapter 03: eight rules, and the ID of a byte is its value plus 2.",
)


# Bytes that are no text.


def refused_byte(ids: Sequence[int]) -> bytes:
    """Return the first byte that strict UTF-8 refuses; none where the bytes are text."""
    try:
        course_tokenizer().decode_content_utf8(ids)
    except InvalidUtf8Error as error:
        return decode(ids)[error.position : error.position + 1]
    return b""


def _which_consequence(ids: Sequence[int], got: bytes) -> str:
    if not got:
        return (
            "Then all of these bytes would be text. Can a text in UTF-8 have a byte that no character uses?"
        )
    if len(got) > 1 or got not in decode(ids):
        return "One byte is asked for, and it is one of those that the IDs decode to. Which bytes are these?"
    return "If reading stopped only there, all the bytes before it would be text. Is the byte before it the beginning or the whole of a character?"


WHICH_BYTE = Question(
    id="03b-which-byte",
    kind="hex",
    prompt='Decode {input}. Which byte is the first that strict UTF-8 refuses? Write it in hex, or `""` if the bytes are text.',
    pool=((257, 256), (100, 257, 103), (265, 194, 103)),
    show=as_list,
    right=refused_byte,
    misconceptions=(
        Misconception("valid-ids-are-text", "take it that valid IDs always stand for text", lambda _: b""),
        Misconception("at-the-end", "read to the end, and blame the last byte", lambda ids: decode(ids)[-1:]),
    ),
    why=lambda ids: (
        f"The IDs are valid, and decode to the bytes `{decode(ids).hex(' ')}`, which come back exactly as they were. But they are no text: strict UTF-8 stops at "
        f"`{refused_byte(ids).hex()}`. A tokenizer of bytes promises bytes; whether they are text is another question."
    ),
    consequence=_which_consequence,
    hints=(
        "Which bytes do these IDs stand for, and with which bytes can a character of UTF-8 begin?",
        "A smaller case: `[178]` is the byte `b0`. It is the second half of a letter and cannot begin one, so strict UTF-8 stops right there.",
        "Read from the left. At the first byte that is neither a whole character nor the right next byte of one, strict UTF-8 stops.",
    ),
    concepts=("strict UTF-8",),
    cells=("strict-utf8", "strict-utf8-table"),
    recall="The tokenizer is that of chapter 03: eight rules, and the ID of a byte is its value plus 2.",
)


# The exercises.

PIECES = (b"a", b"b", b"ab", b"ba", b"aba")


def count_ways(data: bytes, pieces: tuple[bytes, ...]) -> int:
    """Count the lists of pieces that join to the data.

    >>> count_ways(b"ab", (b"a", b"b", b"ab"))
    2
    """
    ways = [1]
    for end in range(1, len(data) + 1):
        ways.append(sum(ways[end - len(piece)] for piece in pieces if data[:end].endswith(piece)))
    return ways[-1]


def _spots(data: bytes, pieces: Sequence[bytes]) -> int:
    return sum(data[i:].startswith(piece) for piece in pieces if len(piece) > 1 for i in range(len(data)))


def _wrong_every_cut(data: bytes, pieces: Sequence[bytes]) -> int:
    """Counts every way to cut, in the table or not."""
    return int(2 ** max(0, len(data) - 1))


def _wrong_free_choice(data: bytes, pieces: Sequence[bytes]) -> int:
    """Lets overlapping pieces be taken together."""
    return int(2 ** _spots(data, pieces))


def _wrong_one_merge(data: bytes, pieces: Sequence[bytes]) -> int:
    """Allows one longer piece in a list."""
    return 1 + _spots(data, pieces)


def _wrong_empty(data: bytes, pieces: Sequence[bytes]) -> int:
    """Finds no list for no bytes, where the empty list is one."""
    return count_ways(data, tuple(pieces)) if data else 0


def _wrong_two_bytes(data: bytes, pieces: Sequence[bytes]) -> int:
    """Knows pieces of one and two bytes only."""
    return count_ways(data, tuple(piece for piece in pieces if len(piece) < 3))


def _wrong_starts_anew(data: bytes, pieces: Sequence[bytes]) -> int:
    """Counts one list up to a byte that no piece holds, where there is none."""
    ways = [1]
    for end in range(1, len(data) + 1):
        ways.append(sum(ways[end - len(piece)] for piece in pieces if data[:end].endswith(piece)) or 1)
    return ways[-1]


def _wrong_one(data: bytes, pieces: Sequence[bytes]) -> int:
    """Counts one list only."""
    return 1


COUNT = Exercise(
    id="03b-count-ways",
    prompt="Count the lists of pieces that join to the given bytes.",
    call="count_ways(data, pieces)",
    reference=count_ways,
    alphabet=tuple(b"abc"),  # no piece holds a c, so some data have no list
    arguments=lambda symbols: (bytes(symbols), PIECES),
    wrong=(
        _wrong_every_cut,
        _wrong_free_choice,
        _wrong_one_merge,
        _wrong_empty,
        _wrong_two_bytes,
        _wrong_starts_anew,
        _wrong_one,
    ),
    hints=(
        "How many lists join to no bytes at all?",
        "For `ab` with the pieces a, b and ab: one way to nothing, one way to `a`, and two to `ab`, since it ends in `b` or in `ab`.",
        "Keep a list of ways, one number for each place. At each place, add the ways to where each piece that ends here has begun.",
    ),
    concepts=("counting staircase",),
    cells=("staircase-small", "staircase-rule"),
    cases=500,
)


def fewest_tokens(data: bytes) -> int:
    """Return the length of the shortest list of IDs that decodes to the data."""
    known = {a + b for a, b in course_pairs()}
    best = [0]
    for end in range(1, len(data) + 1):
        steps = [1] if end == 1 or data[end - 2 : end] not in known else [1, 2]
        best.append(1 + min(best[end - step] for step in steps))
    return best[-1]


def _wasted(text: str) -> int:
    return len(encode(text)) - fewest_tokens(text.encode())


def shortest_wasteful(_: object) -> str:
    letters = sorted({letter for a, b in course_pairs() for letter in (a + b).decode("utf-8", "ignore")})
    texts = ("".join(some) for length in count() for some in product(letters, repeat=length))
    return next(text for text in texts if _wasted(text))


def beats_the_tokenizer(table: str, text: str) -> bool:
    shortest = shortest_wasteful(table)
    return len(text) == len(shortest) and _wasted(text) > 0


def _beat_consequence(table: str, text: str) -> str:
    if len(text) > 200:
        return "That is far longer than it has to be."
    if _wasted(text):
        return f"The encoder gives {len(encode(text))} IDs here, and {fewest_tokens(text.encode())} would do. So this text beats it; but there is a shorter one."
    return f"Number of IDs that the encoder gives here: {len(encode(text))}. No list that decodes to these bytes is shorter."


BEAT = Question(
    id="03b-beat",
    kind="text",
    prompt="Find a text, as short as can be, on which the encoder under {input} gives more IDs than are needed.",
    pool=("the eight rules",),
    show=str,
    right=shortest_wasteful,
    accepts=beats_the_tokenizer,
    misconceptions=(
        Misconception(
            "overlap-of-two",
            "let two rules meet; but whichever of two gets the byte, one piece and one byte are left",
            lambda _: " а",
        ),
        Misconception(
            "no-merge-at-all",
            "take a text that no rule fits; it is long, but no other list of it is shorter",
            lambda _: "zzz",
        ),
    ),
    why=lambda table: (
        f"On `{shortest_wasteful(table)}`, for one, the encoder gives {len(encode(shortest_wasteful(table)))} IDs:\n\n{trace(shortest_wasteful(table))}\n\n"
        f"{fewest_tokens(shortest_wasteful(table).encode())} would do: the merge in the middle has the lowest rank, and it takes from both its neighbours the byte that they need. "
        "Lowest rank first is a rule about order, and it never promised the fewest tokens."
    ),
    consequence=_beat_consequence,
    hints=(
        "How many rules have to fit, so that taking one of them spoils more than it gains?",
        "A smaller case, with letters: rank 0 merges b c, rank 1 merges a b, rank 2 merges c d. Of a b c d the encoder makes a | bc | d, and ab | cd would be shorter.",
        "Rank 0 is the piece `20 d0`. Which piece of the table ends in `20`, and which begin with `d0`?",
    ),
    concepts=("canonical", "rank order"),
    cells=("what-canonical-means", "not-the-shortest"),
    recall=False,
)

CHAPTER = Chapter(
    notebook="03b_canonical_or_not",
    title="Canonical or not",
    question="Is there more than one way to write it?",
    objectives=(
        "What does a tokenizer of bytes promise about the way there and back, and what not?",
        "How can you tell a canonical list of IDs from another that decodes alike?",
        "How many lists of IDs decode to the same bytes, and how do you count them without writing them?",
        "When do valid IDs stand for no text?",
    ),
    concepts=(
        Concept("round trip", "there-and-back", "Encoding, then decoding: every byte comes back as it was."),
        Concept(
            "canonical",
            "what-canonical-means",
            "The one list of IDs that the encoder itself writes for some bytes.",
        ),
        Concept(
            "counting staircase",
            "staircase-rule",
            "Counting the ways to each place from the ways to the places before it.",
        ),
        Concept(
            "strict UTF-8",
            "strict-utf8",
            "Reading bytes as text, and stopping at the first byte that does not fit.",
        ),
    ),
    questions=(CRAB, DECODE, REENCODE, NONCANONICAL, COUNT_SMALL, COUNT_THREAD, WHICH_BYTE),
    exercises=(COUNT, BEAT),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "A program decodes IDs, changes nothing, and encodes again. What can have changed, and who would notice?",
        "Should a decoder refuse lists that are not canonical? What would you lose, and what would you gain?",
        "A model writes half a letter and stops. What should a program show?",
    ),
    likeliest="identity",
    paper=("e о", "e e а"),
)
