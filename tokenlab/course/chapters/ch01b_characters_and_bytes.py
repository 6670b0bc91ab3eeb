"""Chapter 01b, characters and bytes: its questions, and the other things that people count or write.

The algorithms of the counting questions take a text and return how many units of some kind it has.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question
from tokenlab.pipeline.byte_alphabet import BYTE_ALPHABET, from_byte_alphabet, to_byte_alphabet
from tokenlab.pipeline.patterns import graphemes

JOINER = "\u200d"


def count_bytes(text: str) -> int:
    return len(text.encode())


def count_utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def count_graphemes(text: str) -> int:
    return len(graphemes(text))


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


GRAPHEMES = Misconception(
    "graphemes", "count what the eye sees: the graphemes, whatever is inside", count_graphemes
)
CODE_POINTS = Misconception("code-points", "count the code points, as `len` does", len)
UTF16 = Misconception(
    "utf-16-units", "count the units of UTF-16, as some other languages do in a string's length", count_utf16
)
NO_JOINERS = Misconception(
    "joiners-forgotten",
    "leave out the joiners: nothing is seen of them, yet they are code points with bytes of their own",
    lambda text: count_bytes(text.replace(JOINER, "")),
)
COMPOSED = Misconception(
    "composed-first",
    "take a letter and its accent for the one code point that looks the same",
    lambda text: count_bytes(_composed(text)),
)
ONE_CODE_POINT = Misconception(
    "one-code-point",
    "take each sign that the eye sees for a single code point",
    lambda text: sum(count_bytes(_composed(sign)[0]) for sign in graphemes(text)),
)
JOINERS_IMAGINED = Misconception(
    "joiners-imagined",
    "put a joiner between all parts of a sign, also where its parts are written one after the other",
    lambda text: sum(count_bytes(JOINER.join(sign.replace(JOINER, ""))) for sign in graphemes(text)),
)


# What is said about an answer.


def point(character: str) -> str:
    return f"U+{ord(character):04X}"


def spelt(text: str) -> str:
    """Write each code point with its bytes, one a line."""
    width = max(len(point(character)) for character in text)
    return "\n".join(f"    {point(character):{width}}  {character.encode().hex(' ')}" for character in text)


def why_bytes(text: str) -> str:
    return f"Code point by code point, with the bytes of each:\n\n{spelt(text)}\n\nTogether: {count_bytes(text)} bytes."


def count_consequence(text: str, answer: float) -> str:
    if answer < count_bytes(text):
        return "A reader who gets no more bytes than that has lost the end of the text: the last code points are not whole, or missing."
    return (
        "A reader who waits for so many bytes waits for something that never comes: the text is over before."
    )


def hex_consequence(text: str, data: bytes) -> str:
    try:
        read = data.decode()
    except UnicodeDecodeError as error:
        return f"Your bytes are not UTF-8: at byte {error.start}, counted from 0, no whole character begins."
    points = " ".join(map(point, read))
    return f"Read as UTF-8, your bytes give {points or 'nothing'}. The question has other code points."


def written_consequence(token: str, text: str) -> str:
    written = to_byte_alphabet(text.encode())
    return f"In the byte alphabet your text would be written `{written}`, not `{token}`."


# The questions.

HEX = Question(
    id="01b-hex",
    kind="hex",
    prompt="What are the UTF-8 bytes of the Cyrillic letters {input}?",
    pool=("ае", "ое", "оа", "ео"),
    right=lambda text: text.encode(),
    misconceptions=(
        Misconception(
            "latin-look-alikes",
            "take the letters for the Latin ones that look the same",
            lambda text: text.translate({0x430: "a", 0x435: "e", 0x43E: "o"}).encode(),
        ),
        Misconception(
            "digits-of-the-code-point",
            "write the digits of the code points down as bytes",
            lambda text: text.encode("utf-16-be"),
        ),
        Misconception(
            "one-byte-each",
            "give each letter one byte, the last two digits of its code point",
            lambda text: bytes(ord(character) & 0xFF for character in text),
        ),
        Misconception(
            "lead-byte-once",
            "write the first byte, `d0`, only once for both letters",
            lambda text: b"\xd0" + text.encode()[1::2],
        ),
        Misconception(
            "small-end-first",
            "write the two bytes of each letter in the other order",
            lambda text: b"".join(character.encode()[::-1] for character in text),
        ),
    ),
    why=lambda text: (
        "The eleven bits of each code point are cut in five and six; `110` and `10` are put before them:\n\n"
        + "\n".join(
            f"    {point(c)}  110 {ord(c) >> 6:05b}  10 {ord(c) & 63:06b}  {c.encode().hex(' ')}"
            for c in text
        )
    ),
    consequence=hex_consequence,
    hints=(
        "How many bytes does one Cyrillic letter take, and with which byte do the letters in the table begin?",
        "A smaller case: г is U+0433. Its bytes are `d0 b3`: the second byte goes up together with the code point.",
        "а is `d0 b0`. Count on from U+0430 to each code point, and go as many steps up in the second byte; in hex, 9 is followed by a.",
    ),
    concepts=("code point", "UTF-8"),
    cells=("two-bytes-by-hand", "cyrillic-rows"),
    show=lambda text: f'"{text}" ({" and ".join(map(point, text))})',
)

THUMB = Question(
    id="01b-thumb",
    kind="number",
    prompt="How many bytes does {input} take?",
    pool=("👍🏽", "👋🏿", "👩🏾"),
    right=count_bytes,
    misconceptions=(GRAPHEMES, CODE_POINTS, ONE_CODE_POINT, JOINERS_IMAGINED),
    why=why_bytes,
    consequence=count_consequence,
    hints=(
        "How many code points are in it? The list of emoji has one that is made in the same way.",
        "A smaller case: 🐝 is a single code point, and takes four bytes.",
        "A skin tone is a code point of its own, and as large as the other one.",
    ),
    concepts=("code point", "UTF-8", "grapheme"),
    cells=("one-to-four", "emoji-made-of-more"),
)

LENGTH = Question(
    id="01b-len",
    kind="number",
    prompt="What does Python's `len` give for {input}?",
    pool=("👍🏽e\u0301", "👋🏿u\u0308", "👩🏾o\u0302"),
    right=len,
    misconceptions=(
        Misconception("len-graphemes", "take `len` for a count of what the eye sees", count_graphemes),
        Misconception(
            "len-utf-16",
            "count as JavaScript or Java do: two for each code point above U+FFFF",
            count_utf16,
        ),
        Misconception("len-bytes", "take `len` of a text for its number of bytes", count_bytes),
        Misconception(
            "len-composed",
            "think that Python puts a letter and its accent together before it counts",
            lambda text: len(_composed(text)),
        ),
    ),
    why=lambda text: (
        f"`len` of a text counts its code points, {len(text)} here:\n\n{spelt(text)}\n\nThe eye sees {count_graphemes(text)}."
    ),
    consequence=lambda text, answer: (
        f"A list of the code points, `list(text)`, would then have {'more' if answer > len(text) else 'fewer'} entries than it has."
    ),
    hints=(
        "What does `len` count: graphemes, code points, units or bytes? Look at the table with the four counts.",
        "A smaller case: for n and U+0303 together, seen as ñ, `len` gives two.",
        "Write down the code points: of the emoji with its skin tone, then of the letter with its accent. Count them.",
    ),
    concepts=("code point", "grapheme"),
    cells=("four-counts", "two-ways"),
    show=lambda text: f'"{text}" (its last letter is {text[-2]} and {point(text[-1])})',
)

FAMILY = Question(
    id="01b-family",
    kind="number",
    prompt="How many bytes does the family {input} take?",
    pool=("👨\u200d👩\u200d👧", "👩\u200d👩\u200d👦", "👨\u200d👨\u200d👧"),
    right=count_bytes,
    misconceptions=(GRAPHEMES, CODE_POINTS, UTF16, ONE_CODE_POINT, NO_JOINERS),
    why=why_bytes,
    consequence=count_consequence,
    hints=(
        "Who is in the picture? And what holds them together?",
        "A smaller case: 👩\u200d🔬 is two emoji and one joiner: 4 + 3 + 4 = eleven bytes.",
        "Three people in a row, and a joiner between one and the next.",
    ),
    concepts=("joiner", "UTF-8"),
    cells=("emoji-made-of-more", "joiner-between"),
    recall="A family of three people, with a joiner (U+200D) between one and the next.",
    show=lambda text: f'"{text}"',
)

ALL = Question(
    id="01b-all",
    kind="number",
    prompt="How many bytes does {input} take?",
    pool=("e\u0301👩\u200d🚀", "o\u0301👨\u200d🌾", "a\u0301👩\u200d🔧"),
    right=count_bytes,
    misconceptions=(
        GRAPHEMES,
        CODE_POINTS,
        UTF16,
        ONE_CODE_POINT,
        NO_JOINERS,
        JOINERS_IMAGINED,
        COMPOSED,
    ),
    why=why_bytes,
    consequence=count_consequence,
    hints=(
        "The eye sees two signs. How many code points are they made of?",
        "A smaller case: n with U+0303 takes three bytes, one for the n and two for the accent.",
        "Add up: the letter, its accent, the person, the joiner, and what the person works with.",
    ),
    concepts=("code point", "joiner", "UTF-8"),
    cells=("two-ways", "joiner-between", "one-to-four"),
    show=lambda text: f'"{text}" (its first letter is {text[0]} and {point(text[1])})',
)


def from_alphabet(token: str) -> str:
    return (from_byte_alphabet(token) or b"").decode()


_BARE = {0xE9: "e", 0xC9: "E"}

ALPHABET = Question(
    id="01b-alphabet",
    kind="text",
    prompt="A vocabulary file holds the token `{input}`, written in the byte alphabet. Which text does it stand for?",
    pool=("Ã©Ġe", "eĠÃ©", "ÃīĠe"),
    right=from_alphabet,
    misconceptions=(
        Misconception("as-it-stands", "read the characters as they stand", lambda token: token),
        Misconception(
            "space-sign-only",
            "take Ġ for a space, and the other characters for themselves",
            lambda token: token.replace("Ġ", " "),
        ),
        Misconception(
            "space-sign-dropped",
            "take Ġ for a mark that is thrown away",
            lambda token: from_alphabet(token.replace("Ġ", "")),
        ),
        Misconception(
            "two-code-points",
            "write é with two code points: it looks the same, and has other bytes than the token",
            lambda token: unicodedata.normalize("NFD", from_alphabet(token)),
        ),
        Misconception(
            "accent-dropped", "let the accent go", lambda token: from_alphabet(token).translate(_BARE)
        ),
    ),
    why=lambda token: (
        "Each character stands for one byte:\n\n"
        + "\n".join(f"    {c}  {BYTE_ALPHABET.index(c):02x}" for c in token)
        + f"\n\nThese bytes, read as UTF-8, are the text `{from_alphabet(token)}`."
    ),
    consequence=written_consequence,
    hints=(
        "Which byte does each of these characters stand for? How many bytes are that?",
        "A smaller case: `ĠÃ±` stands for the bytes `20 c3 b1`, a space and ñ.",
        "Write down the bytes from the table of signs, and then see which of them belong together.",
    ),
    concepts=("byte alphabet",),
    cells=("alphabet-rows", "alphabet-there-and-back"),
    recall=False,
    show=str,
)


# The exercises.


def utf8_bytes(code_point: int) -> bytes:
    """Return the UTF-8 bytes of a code point, by the four patterns.

    >>> utf8_bytes(0x430).hex(" ")
    'd0 b0'
    """
    if code_point < 0x80:
        return bytes([code_point])
    if code_point < 0x800:
        return bytes([0xC0 | code_point >> 6, 0x80 | code_point & 0x3F])
    if code_point < 0x10000:
        return bytes([0xE0 | code_point >> 12, 0x80 | code_point >> 6 & 0x3F, 0x80 | code_point & 0x3F])
    first, second, third, last = (code_point >> shift & 0x3F for shift in (18, 12, 6, 0))
    return bytes([0xF0 | first, 0x80 | second, 0x80 | third, 0x80 | last])


def _code_point(digits: tuple[int, ...]) -> tuple[int]:
    """Turn hex digits into a code point that has a UTF-8 form: no half of a surrogate pair."""
    number = 0
    for digit in digits:
        number = (number * 16 + digit) % 0x110000
    return (number - 0x800 if 0xD800 <= number < 0xE000 else number,)


def _patterns(limits: tuple[int, int, int]) -> Callable[[int], bytes]:
    def encode(code_point: int) -> bytes:
        size = 1 + sum(code_point >= limit for limit in limits)
        if size == 1:
            return bytes([code_point & 0xFF])
        lead = (0, 0xC0, 0xE0, 0xF0)[size - 1] | code_point >> 6 * (size - 1)
        rest = (0x80 | code_point >> 6 * place & 0x3F for place in reversed(range(size - 1)))
        return bytes([lead & 0xFF, *rest])

    return encode


def _wrong_edge_of_one(code_point: int) -> bytes:
    """Gives U+0080 a single byte."""
    return _patterns((0x81, 0x800, 0x10000))(code_point)


def _wrong_edge_of_two(code_point: int) -> bytes:
    """Gives U+07FF three bytes."""
    return _patterns((0x80, 0x7FF, 0x10000))(code_point)


def _wrong_no_four(code_point: int) -> bytes:
    """Knows no pattern of four bytes."""
    return _patterns((0x80, 0x800, 0x110000))(code_point)


def _wrong_one_byte(code_point: int) -> bytes:
    """Gives one byte to all code points up to U+00FF."""
    return _patterns((0x100, 0x800, 0x10000))(code_point)


def _wrong_utf16(code_point: int) -> bytes:
    """Gives the code units of UTF-16."""
    return chr(code_point).encode("utf-16-be")


def _wrong_backwards(code_point: int) -> bytes:
    """Writes the last byte first."""
    return utf8_bytes(code_point)[::-1]


def _wrong_markers(code_point: int) -> bytes:
    """Forgets the marker of the bytes that follow."""
    first, *rest = utf8_bytes(code_point)
    return bytes([first, *(byte & 0x3F for byte in rest)])


UTF8 = Exercise(
    id="01b-utf8",
    prompt="Write UTF-8 by hand: a code point gives its bytes.",
    call="utf8_bytes(code_point)",
    reference=utf8_bytes,
    alphabet=(0, 1, 7, 8, 15),
    arguments=_code_point,
    wrong=(
        _wrong_edge_of_one,
        _wrong_edge_of_two,
        _wrong_no_four,
        _wrong_one_byte,
        _wrong_utf16,
        _wrong_backwards,
        _wrong_markers,
    ),
    hints=(
        "Which of the four patterns does the code point need? How many bits has it room for?",
        "For U+0430: `0x430 >> 6` is 16, the five bits on the left; `0x430 & 0x3f` is 48, the six on the right. Then `0xc0 | 16` and `0x80 | 48`.",
        "Each byte after the first is `0x80 |` six bits; the first has `0xc0`, `0xe0` or `0xf0` and what is left.",
    ),
    concepts=("UTF-8", "code point"),
    cells=("two-bytes-by-hand", "patterns"),
)


def printable_form(data: bytes) -> str:
    """Write bytes in the byte alphabet.

    >>> printable_form(b" a")
    'Ġa'
    """
    themselves = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in themselves]
    return "".join(chr(byte if byte in themselves else 0x100 + others.index(byte)) for byte in data)


def _wrong_all_moved(data: bytes) -> str:
    """Moves every byte up by 0x100."""
    return "".join(chr(0x100 + byte) for byte in data)


def _wrong_in_place(data: bytes) -> str:
    """Moves a byte that does not print up by 0x100, in place of counting along."""
    return "".join(
        character if ord(character) < 0x100 else chr(0x100 + byte)
        for byte, character in zip(data, printable_form(data), strict=True)
    )


def _wrong_latin1(data: bytes) -> str:
    """Takes each byte for the code point of its number."""
    return data.decode("latin-1")


def _wrong_space_only(data: bytes) -> str:
    """Changes nothing but the space."""
    return data.decode("latin-1").replace(" ", "Ġ")


def _wrong_soft_hyphen(data: bytes) -> str:
    """Lets the byte ad stand for itself."""
    others = [byte for byte in range(256) if not (0x21 <= byte < 0x7F or byte >= 0xA1)]
    return "".join(chr(0x100 + others.index(byte)) if byte in others else chr(byte) for byte in data)


PRINTABLE = Exercise(
    id="01b-printable",
    prompt="Build the byte alphabet: bytes give their printable form.",
    call="printable_form(data)",
    reference=printable_form,
    alphabet=(0x20, 0x61, 0x00, 0xFF, 0xAD, 0x7F, 0xA0),
    arguments=lambda symbols: (bytes(symbols),),
    wrong=(_wrong_all_moved, _wrong_in_place, _wrong_latin1, _wrong_space_only, _wrong_soft_hyphen),
    hints=(
        "Which bytes stand for themselves? How do you find the place of another byte among the others?",
        "The bytes 00 to 20 are the first 33 of the others, so the space, the last of them, is U+0100 and 32 more: U+0120, Ġ.",
        "Make the list of the other bytes, in order; a byte in it is written `chr(0x100 + others.index(byte))`.",
    ),
    concepts=("byte alphabet",),
    cells=("alphabet-rule", "alphabet-rows"),
    cases=3000,
)

CHAPTER = Chapter(
    notebook="01b_characters_and_bytes",
    title="Characters and bytes",
    question="What is a letter, to a computer?",
    objectives=(
        "What is the difference between a grapheme, a code point and a byte?",
        "How many bytes does UTF-8 give to a letter, to an emoji, to a family?",
        "Why do two texts that look alike differ?",
        "Why is nothing unknown to an alphabet of 256 bytes, and how is it written down?",
    ),
    concepts=(
        Concept(
            "code point", "code-point", "The number of a character in Unicode, written U+ and hex digits."
        ),
        Concept("UTF-8", "utf-8", "The rule that turns each code point into one to four bytes."),
        Concept("grapheme", "grapheme", "What a reader takes for one character; one or more code points."),
        Concept("joiner", "joiner", "U+200D, an invisible code point that joins its neighbours to one sign."),
        Concept(
            "byte alphabet",
            "alphabet-rule",
            "The 256 bytes, each written as one printable character; the space is Ġ.",
        ),
    ),
    questions=(HEX, THUMB, LENGTH, FAMILY, ALL, ALPHABET),
    exercises=(UTF8, PRINTABLE),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "A form allows twenty characters for a name. Twenty of what? Who is treated unfairly?",
        "Two files look alike on the screen and differ. How would you find out where?",
        "With bytes as pieces, nothing is unknown. Who pays the price, and how high is it?",
    ),
    likeliest="code-points",
    paper=("ае", "👍🏽", "👨\u200d👩\u200d👧"),
)
