"""Chapter 06, the pipeline: its questions, and the wrong pipelines behind the common wrong answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain, count, product

from tokenlab.bpe.tokenizer import BpeTokenizer
from tokenlab.course.chapters.ch03_rank_ordered_encoding import consequence as of_pieces
from tokenlab.course.chapters.ch03_rank_ordered_encoding import course_tokenizer, encode, spell
from tokenlab.course.feedback import compare_bytes
from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question
from tokenlab.pipeline import models, post_processors, pre_tokenizers
from tokenlab.pipeline.byte_alphabet import BYTE_ALPHABET, from_byte_alphabet, to_byte_alphabet
from tokenlab.pipeline.encoding import Encoding, Truncation

Words = tuple[str, ...]


def visible(text: str) -> str:
    """Write a text with a sign for each space, since spaces are easily miscounted."""
    return text.replace(" ", "␣")


def listed(pieces: Sequence[str]) -> str:
    return " | ".join(map(visible, pieces))


# The split of GPT-2.


def gpt2_split(text: str) -> Words:
    """Cut as GPT-2 does, with the pieces as text."""
    return tuple(text[start:end] for _, (start, end) in pre_tokenizers.ByteLevel(False).split(text))


@cache
def _copied_pattern() -> object:
    import regex

    end = r"'(?:[stmd]|re|ve|ll)"
    return regex.compile(
        rf"(?P<kept> *(?:{end}|\p{{L}}+|\p{{N}}+|(?:(?!{end})[^\s\p{{L}}\p{{N}}])+))| *(?P<blank>[^\S ]+)|(?P<rest> +)"
    )


def copied_split(text: str) -> Words:
    """Cut as a published copy of that split does: each word takes all the spaces before it.

    >>> copied_split("a b"), copied_split("  ")
    (('a', ' b'), ('  ',))
    """
    found = _copied_pattern().finditer(text)  # type: ignore[attr-defined]
    return tuple(match["kept"] or match["blank"] or match["rest"] for match in found)


def _space_ends(text: str) -> Words:
    pieces = list[str]()
    for piece in copied_split(text[::-1]):
        pieces.insert(0, piece[::-1])
    return tuple(pieces)


def _split_consequence(text: str, pieces: Words) -> str:
    joined = "".join(pieces)
    if "␣" in joined:
        return "Your pieces hold the sign ␣. It stands for a space here: type real spaces."
    if joined != text:
        return f"Joined, your pieces give {visible(joined) or 'nothing'}, and not {visible(text)}: the split must not lose or add a character."
    return "Joined, your pieces give the text again, so nothing is lost. But the model was trained on pieces that are cut in another way, and gets other tokens here."


SPLIT = Question(
    id="06-split",
    kind="text pieces",
    prompt="Each ␣ below stands for one space. Into which pieces does the split of GPT-2 cut the text {input}?",
    pool=("a  b", "on  it", "x   y"),
    show=visible,
    right=gpt2_split,
    misconceptions=(
        Misconception("run-glued", "let a word take all the spaces before it", copied_split),
        Misconception(
            "space-ends-a-word", "leave the spaces with the word that stands before them", _space_ends
        ),
        Misconception(
            "spaces-dropped",
            "cut at the spaces and drop them, as `str.split` does",
            lambda text: text.split(),
        ),
    ),
    why=lambda text: (
        "A word takes one space at most, the last one before it. The spaces before that one are a piece of their own: "
        f"{listed(gpt2_split(text))}."
    ),
    consequence=_split_consequence,
    hints=(
        "How many spaces may a word take along? What becomes of the others?",
        "A smaller case: three spaces before a word, as in the table above, give one piece of spaces and one word with a space.",
        "Give the last space to the word after it. What is left of the run is a piece, between the two words.",
    ),
    concepts=("pre-tokenizer", "split of GPT-2"),
    cells=("split-rows", "split-result"),
)


# The order of the stages.


def _straight(text: str) -> str:
    return text.replace("\u2019", "'")


def _normalised_last(text: str) -> Words:
    return tuple(map(_straight, gpt2_split(text)))


SWAPPED = Question(
    id="06-swapped",
    kind="text pieces",
    prompt=(
        "The normaliser turns the curly ’ (U+2019) into the straight ' (U+0027). Somebody runs the stages in the wrong order: "
        "first the split of GPT-2, then the normaliser on each piece. Which pieces come out of {input}?"
    ),
    pool=("it’s", "we’re", "I’ll"),
    right=_normalised_last,
    misconceptions=(
        Misconception(
            "right-order",
            "normalise first all the same, as the real pipeline does",
            lambda t: gpt2_split(_straight(t)),
        ),
        Misconception("never-normalised", "leave the curly sign as it is", gpt2_split),
        Misconception(
            "kept-whole",
            "take the word as one piece, because no space stands in it",
            lambda t: (_straight(t),),
        ),
    ),
    why=lambda text: (
        f"The split sees the curly sign, which begins no English ending, so it cuts {listed(gpt2_split(text))}. "
        f"The normaliser comes too late to mend that: {listed(_normalised_last(text))}. "
        f"In the right order the pieces are {listed(gpt2_split(_straight(text)))}."
    ),
    consequence=lambda text, pieces: (
        "Joined, your pieces still hold the curly sign: the normaliser did run, only later."
        if "\u2019" in "".join(pieces)
        else f"Joined, your pieces give {''.join(pieces)!r}. Now ask which sign the split saw when it cut."
    ),
    hints=(
        "Which of the two signs does the split see?",
        "The smaller case above: the split does not know `'S` as an ending, so it makes two pieces of it.",
        "Cut first: letters, a sign that is no letter, letters. Then replace the sign in its piece.",
    ),
    concepts=("order of the stages", "normaliser"),
    cells=("swap-by-hand", "swap-result"),
)


# The byte alphabet.

ALPHABET = Question(
    id="06-alphabet",
    kind="text",
    prompt="How does the byte alphabet write the text {input}? Copy the signs from the table.",
    pool=("Ġ", "Ċ", "ġ"),
    show=lambda text: f"{text} (U+{ord(text):04X}, in UTF-8 `{text.encode().hex(' ')}`)",
    right=lambda text: to_byte_alphabet(text.encode()),
    misconceptions=(
        Misconception(
            "stays-itself", "take the letter for a sign of the alphabet that is there already", lambda t: t
        ),
        Misconception(
            "taken-as-the-space",
            "take the letter back to the byte that it is the sign of, and write that byte's character",
            lambda t: (from_byte_alphabet(t) or b"").decode(),
        ),
        Misconception(
            "all-shifted",
            "write every byte as U+0100 plus its number, those that print as well",
            lambda t: "".join(chr(0x100 + byte) for byte in t.encode()),
        ),
    ),
    why=lambda text: (
        "Each byte becomes one sign: "
        + ", ".join(f"`{byte:02x}` is {BYTE_ALPHABET[byte]}" for byte in text.encode())
        + f". So the text is written {to_byte_alphabet(text.encode())}. A text may hold the letter {text}, and it is "
        "never mistaken for the byte whose sign looks the same."
    ),
    consequence=lambda text, got: (
        "Not every character of your answer is a sign of the byte alphabet."
        if (data := from_byte_alphabet(got)) is None
        else f"Your signs stand for the bytes `{data.hex(' ')}`. The text has other bytes."
    ),
    hints=(
        "How many bytes has this letter? How many signs must there be?",
        "A smaller case: é has the bytes `c3 a9`, and is written Ã©, one sign for each byte.",
        "Take the bytes one by one. The first hex digit gives the row of the table, the second the column.",
    ),
    concepts=("byte mapping",),
    cells=("alphabet-table", "alphabet-loses-nothing"),
    recall=False,
)


# WordPiece.

Word = tuple[str, Words]  # a word, and the pieces that the vocabulary holds


def wordpiece(word: str, pieces: Sequence[str]) -> list[str]:
    """Cut one word: the longest piece that fits, from the left; [UNK] for the whole word if one part fails.

    >>> wordpiece("hugs", ["hug", "##s"]), wordpiece("hugsy", ["hug", "##s"])
    (['hug', '##s'], ['[UNK]'])
    """
    found, start = list[str](), 0
    while start < len(word):
        ends = range(len(word), start, -1)
        fitting = ("##" * (start > 0) + word[start:end] for end in ends)
        piece = next((each for each in fitting if each in pieces), None)
        if piece is None:
            return ["[UNK]"]
        found.append(piece)
        start += len(piece.removeprefix("##") if start else piece)
    return found


def _model_pieces(question: Word) -> Words:
    word, pieces = question
    vocabulary = {piece: number for number, piece in enumerate(("[UNK]", *pieces))}
    return tuple(token.token for token in models.WordPiece(vocab=vocabulary).tokenize(word))


def backtracking(word: str, pieces: Sequence[str], start: int = 0) -> list[str] | None:
    """Go back and try a shorter piece where the longest one leads nowhere."""
    if start == len(word):
        return []
    for end in range(len(word), start, -1):
        piece = "##" * (start > 0) + word[start:end]
        if piece in pieces and (rest := backtracking(word, pieces, end)) is not None:
            return [piece, *rest]
    return None


def _keeps_parts(word: str, pieces: Sequence[str]) -> list[str]:
    """Keeps what was found, and adds [UNK] for the rest of the word."""
    for end in range(len(word), 0, -1):
        found = wordpiece(word[:end], pieces)
        if found != ["[UNK]"]:
            return found + ["[UNK]"] * (end < len(word))
    return ["[UNK]"] * bool(word)


def _letters_unknown(word: str, pieces: Sequence[str]) -> list[str]:
    found = _keeps_parts(word, pieces)
    known = sum(len(piece.removeprefix("##")) for piece in found if piece != "[UNK]")
    return [piece for piece in found if piece != "[UNK]"] + [f"##{letter}" for letter in word[known:]]


WORDPIECE = Question(
    id="06-wordpiece",
    kind="text pieces",
    prompt="Which tokens does WordPiece make of {input}?",
    pool=(
        ("abc", ("a", "ab", "##bc")),
        ("new", ("n", "ne", "##ew")),
        ("lows", ("lo", "low", "##ws")),
    ),
    show=lambda question: (
        f"the word `{question[0]}`, if {', '.join(f'`{piece}`' for piece in question[1])} are all the pieces of text that the vocabulary holds"
    ),
    right=_model_pieces,
    misconceptions=(
        Misconception(
            "goes-back",
            "go back and take a shorter first piece, so that the rest fits",
            lambda q: backtracking(*q) or ["[UNK]"],
        ),
        Misconception(
            "keeps-parts",
            "keep the part that was found, and call only the rest unknown",
            lambda q: _keeps_parts(*q),
        ),
        Misconception(
            "falls-back-to-letters",
            "make a token of each letter that is left, although the vocabulary has none for it",
            lambda q: _letters_unknown(*q),
        ),
    ),
    why=lambda question: (
        f"From the left, the longest piece that fits is taken: `{_keeps_parts(*question)[0]}`. After it, no piece with ## fits "
        "what is left. WordPiece never takes a choice back, so the whole word becomes "
        f"{listed(_model_pieces(question))}."
    ),
    consequence=lambda question, pieces: (
        f"The vocabulary has no token `{strange[0]}`."
        if (strange := [piece for piece in pieces if piece not in ("[UNK]", *question[1])])
        else "Each of these tokens is in the vocabulary. Now check two things: was each choice, from the left, the longest one? And what becomes of a word of which a part fits nothing?"
    ),
    hints=(
        "Which piece comes first? Is there a longer one that fits as well?",
        "The smaller case above: with `hug` and `##s` alone, `hugsy` gets stuck at the y. What became of the `hug` that had been found?",
        "Take the longest first piece. If the rest does not fit, nothing is taken back, and nothing is kept.",
    ),
    concepts=("WordPiece",),
    cells=("wordpiece-steps", "wordpiece-rule"),
)


# The eight rules behind a split.


def encode_split(text: str) -> tuple[bytes, ...]:
    """Encode with the eight rules of the course, never across a border of GPT-2's split."""
    return tuple(chain.from_iterable(map(encode, gpt2_split(text))))


E_E_A = Question(
    id="06-e-e-a",
    kind="hex pieces",
    prompt=(
        "Now the split of GPT-2 comes first, and then the same eight rules. Which tokens are made of {input}? "
        "Write their bytes in hex, with `|` between the tokens."
    ),
    pool=("e e а", "e e о", "e e и"),
    right=encode_split,
    misconceptions=(
        Misconception("no-borders", "merge across the split, as the encoder of chapter 03 does", encode),
        Misconception(
            "pieces-are-tokens",
            "stop after the split, as if its pieces were the tokens",
            lambda text: tuple(piece.encode() for piece in gpt2_split(text)),
        ),
        Misconception(
            "spaces-alone",
            "make the space a piece of its own, which no rule can reach",
            lambda text: tuple(
                chain.from_iterable(encode(part) for part in text.replace(" ", "| |").split("|"))
            ),
        ),
    ),
    why=lambda text: (
        f"The split gives {listed(gpt2_split(text))}. The model gets one piece at a time, and sees nothing beside it:\n\n"
        + "\n".join(f"    {visible(piece):4} {spell(encode(piece))}" for piece in gpt2_split(text))
        + f"\n\nTogether: `{spell(encode_split(text))}`."
    ),
    consequence=lambda text, pieces: (
        of_pieces(text, pieces)
        if any(len(p) > 1 and p not in _known() for p in pieces)
        else compare_bytes(text.encode(), b"".join(pieces))
    ),
    hints=(
        "Into which pieces does the split cut this text? With which piece does each space go?",
        "A smaller case: `bee be` is cut before the space. The rule for `65 20` wants an e with the space after it, and finds the border between them.",
        "Write the three pieces one under the other. Then use the eight rules on each one alone.",
    ),
    concepts=("model", "split of GPT-2"),
    cells=("rules-again", "borders-hold"),
    recall=False,
)


def _known() -> set[bytes]:
    tokenizer: BpeTokenizer = course_tokenizer()
    return {tokenizer.token_bytes(token_id) for token_id in range(2, tokenizer.layout.vocabulary_size)}


# Templates.

BERT = post_processors.TemplateProcessing(
    "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", {"[CLS]": 101, "[SEP]": 102}
)


def _part(length: int, sequence_id: int = 0) -> Encoding:
    return Encoding.from_tokens(
        range(length),
        ["x"] * length,
        [(i, i + 1) for i in range(length)],
        range(length),
        "x" * length,
        sequence_id,
    )


def _types(lengths: tuple[int, int]) -> list[int]:
    first, second = lengths
    return list(BERT.process(_part(first), _part(second, 1)).type_ids)


TYPES = Question(
    id="06-types",
    kind="numbers",
    prompt="The template of the pair is as above. Which type IDs come out for {input}?",
    pool=((2, 1), (1, 2), (3, 1)),
    show=lambda lengths: f"a text A of {lengths[0]} and a text B of {lengths[1]}, counted in tokens",
    right=_types,
    misconceptions=(
        Misconception(
            "separator-opens",
            "let the first [SEP] belong to the text after it",
            lambda n: [0] * (1 + n[0]) + [1] * (2 + n[1]),
        ),
        Misconception(
            "controls-are-zero",
            "give type 0 to every control token",
            lambda n: [0] * (2 + n[0]) + [1] * n[1] + [0],
        ),
        Misconception(
            "texts-only", "leave the control tokens out of the list", lambda n: [0] * n[0] + [1] * n[1]
        ),
    ),
    why=lambda n: (
        "Read the template from left to right. What carries `:1` has type 1, all else has type 0:\n\n"
        f"    [CLS] {'A ' * n[0]}[SEP] {'B ' * n[1]}[SEP]\n\nSo the type IDs are {_types(n)}."
    ),
    consequence=lambda n, got: (
        f"Your list has {len(got)} numbers; with its control tokens the encoding has {sum(n) + 3} tokens."
        if len(got) != sum(n) + 3
        else "Your list has as many numbers as there are tokens. But at some place the type is not the one that the template writes there."
    ),
    hints=(
        "How many tokens are there in all, with the control tokens?",
        "In the table above, look at the last [SEP]: which type does it have, and where does the template say so?",
        "Write the template out, one token after the other, and put a 1 under each part that carries `:1`.",
    ),
    concepts=("template",),
    cells=("template-single",),
    recall=False,
)


def _kept(question: tuple[int, int]) -> int:
    tokens, max_length = question
    encoding = post_processors.post_process(
        _part(tokens),
        None,
        post_processor=BERT,
        truncation=Truncation(max_length=max_length),
        add_special_tokens=True,
    )
    return encoding.special_tokens_mask.count(0)


ROOM = Question(
    id="06-room",
    kind="number",
    prompt="The template puts [CLS] before the text and [SEP] after it. How many tokens of the text are kept, if there are {input}?",
    pool=((5, 4), (9, 6), (12, 8)),
    show=lambda question: f"{question[0]} tokens of text, and max_length is {question[1]}",
    right=_kept,
    misconceptions=(
        Misconception(
            "truncates-first",
            "cut the text to the maximum, and put the control tokens on top",
            lambda q: q[1],
        ),
        Misconception("room-for-one", "leave room for [SEP] only", lambda q: q[1] - 1),
    ),
    why=lambda q: (
        f"max_length counts every token, control tokens too. The template needs {BERT.added_tokens(False)} places, so "
        f"{q[1]} - {BERT.added_tokens(False)} = {_kept(q)} are left for the text."
    ),
    consequence=lambda q, kept: (
        f"With [CLS] and [SEP] the encoding would have {kept + 2} tokens; max_length is {q[1]}."
        if kept + 2 > q[1]
        else "With [CLS] and [SEP] the encoding would be shorter than it may be: a token of the text is lost without need."
    ),
    hints=(
        "Does max_length count the control tokens?",
        "A smaller case: with max_length 3, one place is left between [CLS] and [SEP].",
        "Take the places of the control tokens away from max_length first.",
    ),
    concepts=("room first",),
    cells=("room-rows", "room-rule"),
)


# The exercises.

PIECES = ("a", "b", "ab", "##b", "##a", "##bc", "##ca")


def _wrong_backtracks(word: str, pieces: Sequence[str]) -> list[str]:
    """Goes back to a shorter piece where the longest one leads nowhere."""
    return backtracking(word, pieces) or (["[UNK]"] if word else [])


def _wrong_shortest(word: str, pieces: Sequence[str]) -> list[str]:
    """Takes the shortest piece that fits."""
    found, start = list[str](), 0
    while start < len(word):
        fitting = ("##" * (start > 0) + word[start:end] for end in range(start + 1, len(word) + 1))
        piece = next((each for each in fitting if each in pieces), None)
        if piece is None:
            return ["[UNK]"]
        found.append(piece)
        start += len(piece.removeprefix("##"))
    return found


def _wrong_no_mark(word: str, pieces: Sequence[str]) -> list[str]:
    """Forgets the ## in front of every piece but the first."""
    return [piece.removeprefix("##") for piece in wordpiece(word, pieces)]


def _wrong_empty(word: str, pieces: Sequence[str]) -> list[str]:
    """Gives [UNK] for the empty word."""
    return wordpiece(word, pieces) or ["[UNK]"]


WRITE = Exercise(
    id="06-write-wordpiece",
    prompt="Write WordPiece for one word.",
    call="wordpiece_of(word, pieces)",
    reference=wordpiece,
    alphabet=tuple("abc"),
    arguments=lambda symbols: ("".join(symbols), PIECES),
    wrong=(_wrong_backtracks, _wrong_shortest, _wrong_no_mark, _wrong_empty, _keeps_parts),
    hints=(
        "What is the longest piece with which the word begins? How would you look for it?",
        "With the pieces a, ab and ##b, the word `abb` gives ab, ##b: look for `abb`, `ab`, `a`, in this order; then for `##b`.",
        "Keep a place `start`. Try every end from the end of the word down to `start + 1`. If none fits, return ['[UNK]'].",
    ),
    concepts=("WordPiece",),
    cells=("wordpiece-steps", "wordpiece-rule"),
)


def splits_differ(longest: int, text: str) -> bool:
    return len(text) <= longest and copied_split(text) != gpt2_split(text)


def _first_difference(longest: int) -> str:
    texts = ("".join(signs) for length in count() for signs in product("a \n", repeat=length))
    return next(text for text in texts if splits_differ(longest, text))


BREAK = Question(
    id="06-break-the-copy",
    kind="text",
    prompt="Find a text of {input} that the copy and the split of GPT-2 cut in different ways.",
    pool=(3,),
    show=lambda longest: f"at most {longest} characters",
    right=_first_difference,
    accepts=splits_differ,
    misconceptions=(
        Misconception("one-space", "put one space before a word: on that, the two agree", lambda _: " a"),
        Misconception(
            "spaces-at-the-end",
            "let the spaces stand at the end, where both keep them together",
            lambda _: "a  ",
        ),
    ),
    why=lambda longest: (
        f"One such text is {_first_difference(longest)!r}: GPT-2 gives {list(gpt2_split(_first_difference(longest)))}, "
        f"the copy {list(copied_split(_first_difference(longest)))}. Before a line break the copy even loses the space, and no "
        f"decoder can bring it back. Before a word, {'  a'!r} gives {list(gpt2_split('  a'))} and {list(copied_split('  a'))}."
    ),
    consequence=lambda longest, text: (
        f"This text has {len(text)} characters; {longest} are the most."
        if len(text) > longest
        else f"Both cut it in the same way: {listed(gpt2_split(text)) or 'no piece at all'}."
    ),
    hints=(
        "How many spaces does a word of the copy take? How many does one of GPT-2?",
        "One space before a word, and spaces at the very end, are cut alike. What is left to try?",
        "Put more than one space in front of something that is no space.",
    ),
    concepts=("split of GPT-2",),
    cells=("copy-pattern", "split-rows"),
    recall=False,
)

CHAPTER = Chapter(
    notebook="06_tokenization_pipeline",
    title="The tokenization pipeline",
    question="Why four stages and not one function?",
    objectives=(
        "What does each of the four stages do, and what is left to the decoder?",
        "What breaks when two stages change places?",
        "Why is the byte mapping of GPT-2 no normalisation?",
        "How many tokens of a text are kept under a maximum length?",
    ),
    concepts=(
        Concept(
            "normaliser", "stages-listed", "The stage that rewrites the text; it may forget differences."
        ),
        Concept(
            "pre-tokenizer",
            "stages-listed",
            "The stage that cuts the text into pieces that no token crosses.",
        ),
        Concept("model", "stages-listed", "The stage that turns each piece into tokens of the vocabulary."),
        Concept(
            "order of the stages", "swap-result", "Each stage relies on what the one before it has done."
        ),
        Concept(
            "split of GPT-2",
            "split-rule",
            "A pattern by which a word takes one space at most, the last before it.",
        ),
        Concept(
            "byte mapping",
            "not-normalising",
            "Bytes written in the byte alphabet: one sign each, nothing lost.",
        ),
        Concept(
            "WordPiece",
            "wordpiece-rule",
            "Longest piece first, from the left; if one part fails, all is [UNK].",
        ),
        Concept(
            "template",
            "template-single",
            "A pattern that says where control tokens stand, and which type each part has.",
        ),
        Concept(
            "room first",
            "room-rule",
            "Truncation leaves room for the control tokens before it cuts the text.",
        ),
    ),
    questions=(SPLIT, SWAPPED, ALPHABET, WORDPIECE, E_E_A, TYPES, ROOM),
    exercises=(WRITE, BREAK),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "A normaliser that lower-cases makes the vocabulary smaller. What can a model no longer do?",
        "Your editor indents code by spaces. Which of the two splits would you rather pay for?",
        "Which stage would you change for Chinese, which has no spaces?",
    ),
    likeliest="run-glued",
    paper=("a  b", "it’s", "e e а"),
)
