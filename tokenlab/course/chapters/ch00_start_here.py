"""Chapter 00, start here: three small predictions, on which the course's own tools are learnt."""

from __future__ import annotations

from tokenlab.course.model import Chapter, Concept, Misconception, Question


def utf8(text: str) -> list[int]:
    """Give the bytes of a text as numbers."""
    return list(text.encode())


CHARACTERS = Misconception("counts-characters", "count the characters: not every character is one byte", len)
LETTERS = Misconception(
    "skips-spaces",
    "leave the spaces out: a space is a character with a byte of its own",
    lambda text: len(text.replace(" ", "").encode()),
)
WORDS = Misconception("counts-words", "count the words", lambda text: len(text.split()))
TWO_EACH = Misconception("two-bytes-each", "give every character two bytes", lambda text: 2 * len(text))
NO_SPACE = Misconception(
    "no-space-byte",
    "leave out the space: it is a byte like the others",
    lambda text: text.replace(" ", "").encode(),
)
BACKWARDS = Misconception(
    "backwards", "write the bytes from the last to the first", lambda text: text.encode()[::-1]
)


def _rows(text: str) -> str:
    return "\n".join(f"    U+{ord(character):04X}  {character.encode().hex(' ')}" for character in text)


def _count_why(text: str) -> str:
    return f"Each character with its bytes in UTF-8:\n\n{_rows(text)}\n\nTogether that is {len(text.encode())} bytes."


def _count_consequence(text: str, answer: float) -> str:
    if answer < len(text.encode()):
        return "With so few bytes the text would break off before its last letter is whole."
    return "With so many bytes some would be left over after the last letter."


BYTES = Question(
    id="00-bytes",
    kind="number",
    prompt="How many bytes does UTF-8 take for {input}? The last letter is Cyrillic.",
    pool=("e e а", "n n и", "aa e д"),
    right=lambda text: len(text.encode()),
    misconceptions=(CHARACTERS, LETTERS, WORDS, TWO_EACH),
    why=_count_why,
    consequence=_count_consequence,
    hints=(
        "Which of these characters are in the table above, and how many bytes has each of them there?",
        'The text "и и" has two Cyrillic letters of two bytes and a space of one byte: five bytes.',
        "A Latin letter or a space takes one byte, a Cyrillic letter two. Add them up.",
    ),
    concepts=("byte",),
    cells=("some-bytes",),
)
HEX = Question(
    id="00-hex",
    kind="hex",
    prompt="What are the bytes of {input}, in hex?",
    pool=("e t", "t e", "ee t"),
    right=lambda text: text.encode(),
    misconceptions=(NO_SPACE, BACKWARDS),
    why=lambda text: f"Character by character:\n\n{_rows(text)}",
    consequence=lambda text, data: f"As text your bytes read {data.decode(errors='replace')!r}.",
    hints=(
        "Look each character up in the table: which column is the hex one?",
        'The text "tt" is `74 74`.',
        "Write the hex number of each character from left to right, the space too.",
    ),
    concepts=("byte", "hex"),
    cells=("some-bytes", "hex-means"),
    recall="In hex, e is 65, t is 74 and the space 20.",
)


def _pieces(text: str) -> list[str]:
    return text.split(" | ")


def _pieces_why(text: str) -> str:
    rows = "\n".join(f"    {place}. {piece}" for place, piece in enumerate(_pieces(text), 1))
    return f"Every piece is one token, and every token has one ID, however many bytes it holds:\n\n{rows}"


IDS = Question(
    id="00-ids",
    kind="number",
    prompt="A tokenizer has cut a text into the pieces {input}. How many IDs does the model read?",
    pool=("65 | 20 d0 | b8 | 20", "d0 b8 | 20 74 65", "74 | 65 | 20 d0 | b8 20 74"),
    right=lambda text: len(_pieces(text)),
    misconceptions=(
        Misconception(
            "one-for-each-byte",
            "give every byte an ID of its own",
            lambda text: len(text.replace("|", "").split()),
        ),
        Misconception("one-for-the-text", "give the whole text one ID", lambda text: 1),
    ),
    why=_pieces_why,
    consequence=lambda text, answer: (
        "Then some piece would have more than one number."
        if answer > len(_pieces(text))
        else "Then some piece would have no number, and could not come back."
    ),
    hints=(
        "What is a token, in the sentence above the picture? And what is an ID?",
        'The pieces "74 65 | 20" are two tokens, though they hold three bytes.',
        "Count what stands between the bars.",
    ),
    concepts=("token", "ID"),
    cells=("what-is-a-token", "road"),
)

CHAPTER = Chapter(
    notebook="00_start_here",
    title="Start here",
    question="How do I use this course?",
    objectives=(
        "How do I predict, check, ask for a hint, and see the answer?",
        "Which way does a text go from letters to numbers and back?",
    ),
    concepts=(
        Concept(
            "byte",
            "what-is-a-byte",
            "A whole number from 0 to 255, eight yes-or-no switches; text is stored as bytes.",
        ),
        Concept(
            "hex",
            "hex-means",
            "A number written with sixteen digits, 0 to 9 and a to f; a byte is two of them.",
        ),
        Concept("token", "what-is-a-token", "A piece of text or bytes that has a number of its own."),
        Concept("ID", "what-is-a-token", "The number of a token: all that a language model sees."),
    ),
    questions=(BYTES, HEX, IDS),
    exercises=(),
    minutes={"tour": 10},
    discussion=("Which of today's predictions did you get wrong, and what did the feedback tell you?",),
    likeliest="counts-characters",
    paper=("e e а",),
)
