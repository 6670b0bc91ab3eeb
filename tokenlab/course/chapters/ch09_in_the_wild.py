"""Chapter 09, in the wild: its questions, and the wrong ways to compare tokenizers behind wrong answers.

The tokenizers that the notebook compares are trained by `trained`, so that questions and cells mean the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import log
from typing import Any

from tokenlab.bpe.tokenizer import BpeTokenizer
from tokenlab.bpe.training import BpeTrainer
from tokenlab.corpus import load_corpus
from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question, quoted
from tokenlab.formats import Tokenizer, mtok, to_pipeline
from tokenlab.lengths import measure
from tokenlab.pipeline import decoders, models, normalizers, pre_tokenizers
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.byte_alphabet import from_byte_alphabet
from tokenlab.pipeline.patterns import Pattern, find_regex

MOST_MERGES = 2000
GLUING_PATTERN = pre_tokenizers.GPT2_PATTERN.replace(r"\s+(?!\S)|", "")


def split(text: str, pattern: str = pre_tokenizers.GPT2_PATTERN) -> list[str]:
    """Cut a text by a pattern, by default that of GPT-2.

    >>> split("to  be"), split("to  be", GLUING_PATTERN)
    (['to', ' ', ' be'], ['to', '  ', 'be'])
    """
    return [text[start:end] for start, end in find_regex(pattern, text)]


@cache
def _merges() -> tuple[tuple[int, int], ...]:
    documents = load_corpus("multilingual").train.texts
    return tuple(rule.pair for rule in BpeTrainer(MOST_MERGES, pre_tokenizer=split).train(documents).merges)


@cache
def trained(merge_count: int) -> Tokenizer:
    """Return byte-level BPE with the first merges that the train split of the multilingual corpus gives.

    >>> len(trained(100).vocabulary)
    358
    """
    learnt = to_pipeline(BpeTokenizer.from_merge_pairs(_merges()[:merge_count]))
    return replace(learnt, pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False))


# Tokens per byte.

Spent = tuple[str, int]  # a text, and the number of its tokens


def _bytes(text: str) -> int:
    return len(text.encode())


def _spent(value: Spent) -> str:
    return f'"{value[0]}" becomes {value[1]} tokens'


PER_BYTE = Question(
    id="09-per-byte",
    kind="number",
    prompt="The text {input}. How many tokens is that per byte?",
    pool=(("погода", 3), ("дом", 2), ("ключ", 2)),
    right=lambda value: value[1] / _bytes(value[0]),
    misconceptions=(
        Misconception(
            "per-character",
            "divide by the number of characters",
            lambda value: value[1] / len(value[0]),
        ),
        Misconception(
            "upside-down",
            "count the bytes for each token, not the tokens for each byte",
            lambda value: _bytes(value[0]) / value[1],
        ),
        Misconception(
            "characters-upside-down",
            "count the characters for each token",
            lambda value: len(value[0]) / value[1],
        ),
    ),
    why=lambda value: (
        f"The text has {len(value[0])} characters and {_bytes(value[0])} bytes, because each of these letters "
        f"takes two. {value[1]} tokens for {_bytes(value[0])} bytes: {value[1] / _bytes(value[0]):.3g}."
    ),
    consequence=lambda value, answer: (
        f"At {answer:.3g} tokens for each byte, this text would take {answer * _bytes(value[0]):.3g} tokens."
    ),
    hints=(
        "How many bytes does a Cyrillic letter take in UTF-8?",
        "The text `да` has 2 characters and 4 bytes. As one token, it costs one divided by four.",
        "Count the bytes of the text, and divide the number of tokens by it.",
    ),
    concepts=("tokens per byte",),
    cells=("two-measures", "per-byte-rule"),
    tolerance=0.005,
    show=_spent,
)

# The byte share.


@cache
def one_rule() -> Tokenizer:
    """Return byte-level BPE with one merge, d0 b0: of Cyrillic it knows the letter а, U+0430, as one token."""
    return to_pipeline(BpeTokenizer.from_merge_pairs([(0xD0, 0xB0)]))


def _one_rule_tokens(text: str) -> list[str]:
    return list(one_rule().encode(text, add_special_tokens=False).tokens)


def _torn_characters(text: str) -> int:
    return sum(len(character.encode()) > 1 and character != "а" for character in text)


SHARE = Question(
    id="09-byte-share",
    kind="number",
    prompt="A byte-level tokenizer has one rule, d0 b0. What is the byte share of {input} with it?",
    pool=("а б", "т аа", "кот а"),
    right=lambda text: measure(one_rule(), [text]).byte_share,
    misconceptions=(
        Misconception(
            "one-byte-tokens",
            "count every token of one byte: a space is a whole character",
            lambda text: (
                sum(len(token) == 1 for token in _one_rule_tokens(text)) / len(_one_rule_tokens(text))
            ),
        ),
        Misconception(
            "torn-characters",
            "count characters: the share is one of tokens, and a torn character makes two",
            lambda text: _torn_characters(text) / len(text),
        ),
        Misconception(
            "of-the-bytes",
            "divide by the bytes of the text, not by its tokens",
            lambda text: measure(one_rule(), [text]).byte_tokens / _bytes(text),
        ),
    ),
    why=lambda text: (
        "The tokens, in hex:\n\n    "
        + " | ".join(one_rule_hex(text))
        + f"\n\n{measure(one_rule(), [text]).byte_tokens} of {len(_one_rule_tokens(text))} are only a part of a character."
    ),
    consequence=lambda text, answer: (
        f"With your share, {answer * len(_one_rule_tokens(text)):.3g} of the {len(_one_rule_tokens(text))} tokens would be parts of a character."
    ),
    hints=(
        "Which of the tokens is, alone, no character?",
        "With the same rule, the text `аж` gives d0 b0 | d0 | b6. Two tokens of three are parts of a character.",
        "Write the tokens down, the space as well. Count the parts, and divide by the number of all tokens.",
    ),
    concepts=("byte share",),
    cells=("torn-letters", "byte-share-rule"),
    tolerance=0.005,
)


def one_rule_hex(text: str) -> list[str]:
    """Return the tokens of the one-rule tokenizer in hex.

    >>> one_rule_hex("аж")
    ['d0 b0', 'd0', 'b6']
    """
    names = {token_id: token for token, token_id in one_rule().vocabulary.items()}
    ids = one_rule().encode_ids(text, add_special_tokens=False)
    decoded = [from_byte_alphabet(names[token_id]) or b"" for token_id in ids]
    return [data.hex(" ") for data in decoded]


# Loss per token and loss per byte.

Loss = tuple[float, float]  # nats per token, bytes per token


def _models(values: Sequence[Loss]) -> str:
    rows = (
        f"- {i}: {nats} nats per token, {size} bytes per token" for i, (nats, size) in enumerate(values, 1)
    )
    return "\n\n" + "\n".join(rows)


def _best(values: Sequence[Loss], price: Callable[[Loss], float]) -> int:
    return 1 + min(range(len(values)), key=lambda i: price(values[i]))


def _priced(price: Callable[[Loss], float], inverse: float = 1) -> Callable[[Any], float]:
    """Answer both questions by one price: the number of the best of several models, or the price of one."""
    return lambda value: _best(value, price) if isinstance(value[0], tuple) else price(value) * inverse


PER_TOKEN = Misconception(
    "per-token",
    "compare the loss per token, as if all tokens were equally long",
    _priced(lambda loss: loss[0], 1 / log(2)),
)
LONGEST = Misconception(
    "longest-tokens",
    "look at the length of the tokens alone, and not at what they cost",
    _priced(lambda loss: -loss[1], -1),
)

COMPRESSES = Question(
    id="09-compresses-best",
    kind="number",
    prompt="Three models read the same text. Which one compresses it best?{input}",
    pool=(
        ((2.0, 4), (1.5, 2), (3.2, 5)),
        ((1.2, 1.5), (2.4, 4), (3.6, 4.5)),
        ((4.0, 5), (1.9, 2), (2.4, 4)),
        ((0.9, 1), (3.0, 4), (1.8, 3)),
    ),
    right=lambda values: _best(values, lambda loss: loss[0] / loss[1]),
    misconceptions=(PER_TOKEN, LONGEST),
    why=lambda values: (
        "The loss of each, divided by the bytes that a token covers:\n\n"
        + "\n".join(
            f"    {i}: {nats} / {size} = {nats / size:.3g} nats per byte"
            for i, (nats, size) in enumerate(values, 1)
        )
    ),
    consequence=lambda values, answer: (
        f"For a text of a thousand bytes, that model needs {1000 / values[answer - 1][1]:,.0f} tokens "
        f"and {1000 * values[answer - 1][0] / values[answer - 1][1]:,.0f} nats in all; another needs fewer nats."
        if answer in range(1, len(values) + 1)
        else "The models are numbered as in the list."
    ),
    hints=(
        "All three read the same text. What is the same for all of them, the number of tokens or of bytes?",
        "A model with 6 nats at 8 bytes pays 0.75 for a byte; one with 5 nats at 5 bytes pays a whole nat.",
        "Divide each loss by the bytes per token. The smallest is the best.",
    ),
    concepts=("loss per byte",),
    cells=("two-models", "loss-rule"),
    show=_models,
    shown_in=("ask-compresses",),
)

BITS = Question(
    id="09-bits-per-byte",
    kind="number",
    prompt="A model's loss is {input}. How many bits per byte are that?",
    pool=((2.0, 4), (1.5, 2), (3.0, 4)),
    right=lambda loss: loss[0] / loss[1] / log(2),
    misconceptions=(
        PER_TOKEN,
        LONGEST,
        Misconception("still-nats", "stay with nats", _priced(lambda loss: loss[0] / loss[1])),
        Misconception(
            "times-ln-2",
            "multiply by the logarithm of two: a bit is smaller than a nat, so there are more bits",
            _priced(lambda loss: loss[0] / loss[1], log(2)),
        ),
    ),
    why=lambda loss: (
        f"{loss[0]} nats / {loss[1]} bytes = {loss[0] / loss[1]:.3g} nats per byte. One bit is {log(2):.3f} nats, "
        f"so that is {loss[0] / loss[1]:.3g} / {log(2):.3f} = {loss[0] / loss[1] / log(2):.3g} bits per byte."
    ),
    consequence=lambda loss, answer: (
        f"A text of a thousand bytes would take {1000 * answer:,.0f} bits: {1000 * answer / 8000:.0%} of the eight thousand bits that it has."
    ),
    hints=(
        "Two things have to change: the unit of information, and what it is counted for.",
        "A loss of 1.4 nats per token at 1 byte per token is about 2.02 bits per byte: 1.4 divided by 0.693.",
        "Divide by the bytes per token, and then by the natural logarithm of two, 0.693.",
    ),
    concepts=("loss per byte", "bits per byte"),
    cells=("bits-rule",),
    tolerance=0.006,
    show=lambda loss: f"{loss[0]} nats per token, at {loss[1]} bytes per token",
)

# Glued spaces.

Texts = tuple[str, ...]


def _which(test: Callable[[str], bool]) -> Callable[[Texts], list[int]]:
    return lambda texts: [i for i, text in enumerate(texts) if test(text)]


def _runs(text: str) -> list[tuple[str, bool, bool]]:
    """Each run of white space, whether anything stands before it, and whether anything follows."""
    found = [(start, end) for start, end in find_regex(r"\s+", text)]
    return [(text[start:end], start > 0, end < len(text)) for start, end in found]


GLUED = Question(
    id="09-glued",
    kind="numbers",
    prompt="Which of these texts does the gluing pattern cut into other pieces than GPT-2's?{input}",
    pool=(
        ("a b", "a  b", "a\n", "a \nb", "  a", "a  "),
        ("  e", "e\nt", "e  t", "t  ", "e\n t", "e t"),
        ("x y\n", "\n x", "x   ", "x  y", "x\n\ny", "x"),
    ),
    right=_which(lambda text: split(text) != split(text, GLUING_PATTERN)),
    misconceptions=(
        Misconception(
            "every-run",
            "name every text with two signs of white space in a row, whatever follows",
            _which(lambda text: any(len(run) > 1 for run, _, _ in _runs(text))),
        ),
        Misconception(
            "spaces-only",
            "take only the space for white space, not the line break",
            _which(
                lambda text: any(len(run) > 1 and after for run, _, after in _runs(text) if run.isprintable())
            ),
        ),
        Misconception(
            "inside-only",
            "look only between two words, not at the start of the text",
            _which(lambda text: any(len(run) > 1 and before and after for run, before, after in _runs(text))),
        ),
        Misconception(
            "every-gap",
            "name every text with white space before a letter, although one sign alone has no other to stick to",
            _which(lambda text: any(after for _, _, after in _runs(text))),
        ),
    ),
    why=lambda texts: (
        "The pieces of both, GPT-2's first:\n\n"
        + "\n".join(f"    {i}: {split(text)}  {split(text, GLUING_PATTERN)}" for i, text in enumerate(texts))
    ),
    consequence=lambda texts, answer: (
        "With yours, some text counts as cut differently that both cut alike, or the other way round."
        if all(0 <= i < len(texts) for i in answer)
        else f"The texts are numbered from 0 to {len(texts) - 1}."
    ),
    hints=(
        "What did the missing part of the pattern do: for which white space, and before what?",
        "`to  be` is cut differently, `to be` is not, and `be` with two spaces at its end is not.",
        "Look for two or more signs of white space in a row, line breaks as well, with a letter behind them.",
    ),
    concepts=("glued spaces",),
    cells=("06:split-rows", "glued", "glued-rule"),
    show=lambda texts: (
        "\n\n" + "\n".join(f"- {i}: `{text.replace(' ', '␣')!r}`" for i, text in enumerate(texts))
    ),
)

# The spelling of the space.


def legacy(words: Sequence[str], marker: str) -> Tokenizer:
    """Return a tokenizer of bytes and of whole words, which the file writes with a marker in front.

    The reader puts ▁ before a text and for each space, so it finds the words only where the file has ▁ too.

    >>> [len(legacy(["sea"], marker).encode_ids("sea")) for marker in "▁ "]
    [1, 6]
    """
    names = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *(marker + word for word in words)]
    vocabulary = [(name, -1.0 if name.startswith(marker) else -9.0) for name in names]
    chain = (
        decoders.Replace(Pattern("▁"), " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
        decoders.Strip(" ", 1, 0),
    )
    return Tokenizer(
        models.Unigram(unk_id=0, vocab=tuple(vocabulary), byte_fallback=True),
        normalizer=normalizers.Sequence((normalizers.Prepend("▁"), normalizers.Replace(Pattern(" "), "▁"))),
        decoder=decoders.Sequence(chain),
    )


SPELLING = Question(
    id="09-space-spelling",
    kind="number",
    prompt="The file writes the word {input} with a plain space in front. Into how many tokens does the reader, which looks for ▁, cut that word?",
    pool=("волна", "ветер", "мир", "рыба"),
    right=lambda word: len(legacy([word], " ").encode_ids(word)),
    misconceptions=(
        Misconception(
            "still-found",
            "let the reader find the word: to a computer, ▁ and the space are two characters",
            lambda word: len(legacy([word], "▁").encode_ids(word)),
        ),
        Misconception(
            "marker-is-one-byte",
            "count one byte for ▁, as for a space",
            lambda word: 1 + _bytes(word),
        ),
        Misconception("no-marker", "forget the marker in front", _bytes),
        Misconception(
            "one-token-a-character",
            "count characters: without a piece of its own, each becomes its bytes",
            lambda word: 1 + len(word),
        ),
    ),
    why=lambda word: (
        "The reader looks for ▁ and the word, and finds nothing. So everything falls back to bytes:\n\n    "
        + " ".join(legacy([word], " ").encode(word).tokens)
        + f"\n\nThree bytes for ▁, and two for each of the {len(word)} letters."
    ),
    consequence=lambda word, answer: (
        f"Then the {1 + len(word)} characters that are looked up, ▁ in front, would have {answer} tokens between them."
    ),
    hints=(
        "Which pieces of this vocabulary fit, if the word itself does not?",
        'The word "sea" became six tokens: three bytes of ▁, and one for each Latin letter.',
        "Count three bytes for ▁, and for each Cyrillic letter as many bytes as UTF-8 takes.",
    ),
    concepts=("spelling of the space",),
    cells=("space-spelling", "space-spelling-rule"),
)

# The fingerprint.

CHANGES: dict[str, Callable[[Tokenizer], Tokenizer]] = {
    "it is saved as `.mtok` and read again": lambda t: _saved(t),
    "its chat template is replaced": lambda t: replace(t, chat_template="{{ messages }}"),
    "two rules change places": lambda t: replace(t, model=_with_swapped_rules(t.model)),
    "NFC is put in front": lambda t: replace(t, normalizer=normalizers.NFC()),
    "a token is added": lambda t: replace(
        t, added_tokens=(*t.added_tokens, AddedToken(len(t.vocabulary), "<tool>", normalized=False))
    ),
}


def _saved(tokenizer: Tokenizer) -> Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the template of pairs has no place in the file
        return Tokenizer.from_bytes(mtok.write(tokenizer))


def _with_swapped_rules(model: models.Model) -> models.Model:
    assert isinstance(model, models.BPE)
    first, second, *others = model.merges
    return models.BPE(vocab=model.vocab, merges=(second, first, *others))


def _changed(test: Callable[[Tokenizer, Tokenizer], bool]) -> Callable[[Texts], list[int]]:
    original = trained(100)
    return lambda names: [i for i, name in enumerate(names) if test(original, CHANGES[name](original))]


def _same_fingerprint(original: Tokenizer, other: Tokenizer) -> bool:
    return original.fingerprint() == other.fingerprint()


_NAMES = tuple(CHANGES)

FINGERPRINT = Question(
    id="09-fingerprint",
    kind="numbers",
    prompt="Five times one thing is done to a tokenizer. After which of these is its fingerprint still the same?{input}",
    pool=(_NAMES, _NAMES[::-1], (*_NAMES[2:], *_NAMES[:2])),
    right=lambda names: _changed(_same_fingerprint)(names),
    misconceptions=(
        Misconception(
            "hash-of-the-file",
            "take it for a hash of the file: each of these changes the bytes of the file",
            lambda names: [],
        ),
        Misconception(
            "same-vocabulary",
            "compare the vocabulary alone: rules and normalisers decide about IDs, too",
            lambda names: _changed(lambda one, other: one.vocabulary == other.vocabulary)(names),
        ),
        Misconception(
            "everything-counts",
            "let everything count that a tokenizer holds, whatever IDs depend on",
            lambda names: _changed(
                lambda one, other: _same_fingerprint(one, other) and one.chat_template == other.chat_template
            )(names),
        ),
    ),
    why=lambda names: (
        "The first digits of each, and before them those of the original:\n\n"
        + f"    {trained(100).fingerprint()[:12]}\n"
        + "\n".join(f"    {i}: {CHANGES[n](trained(100)).fingerprint()[:12]}" for i, n in enumerate(names))
    ),
    consequence=lambda names, answer: (
        "With yours, two tokenizers that answer alike would have two fingerprints, or two that differ would have one."
        if all(0 <= i < len(names) for i in answer)
        else f"The five are numbered from 0 to {len(names) - 1}."
    ),
    hints=(
        "After which of them can some text get other IDs, or some IDs another text?",
        "The order of the rows in a file changes no answer. The order of the rules does.",
        "Go through the list, and look for a text whose IDs change. A template writes text; the tokenizer reads it.",
    ),
    concepts=("validation list",),
    cells=("07:fingerprint", "check-result"),
    show=lambda names: "\n\n" + "\n".join(f"- {i}: {name}" for i, name in enumerate(names)),
)

# Exercises.


def _is_whole(token: bytes) -> bool:
    try:
        return bool(token.decode()) or True
    except UnicodeDecodeError:
        return False


def cost(tokens: tuple[bytes, ...]) -> tuple[int, int, int]:
    """Return how many bytes, tokens, and parts of a character a list of tokens has.

    >>> cost((b"a", b"\\xd0", b"\\xb0"))
    (3, 3, 2)
    """
    return sum(map(len, tokens)), len(tokens), sum(not _is_whole(token) for token in tokens)


def _wrong_one_byte(tokens: tuple[bytes, ...]) -> tuple[int, int, int]:
    """Counts every token of one byte as a part."""
    return *cost(tokens)[:2], sum(len(token) == 1 for token in tokens)


def _wrong_beyond_ascii(tokens: tuple[bytes, ...]) -> tuple[int, int, int]:
    """Counts every token with a byte beyond ASCII as a part."""
    return *cost(tokens)[:2], sum(not token.isascii() for token in tokens)


def _wrong_one_byte_beyond_ascii(tokens: tuple[bytes, ...]) -> tuple[int, int, int]:
    """Takes only single bytes for parts, and not longer tokens that end inside a character."""
    return *cost(tokens)[:2], sum(len(token) == 1 and not token.isascii() for token in tokens)


def _wrong_characters(tokens: tuple[bytes, ...]) -> tuple[int, int, int]:
    """Counts characters where bytes are asked for."""
    return len(b"".join(tokens).decode(errors="replace")), *cost(tokens)[1:]


def _wrong_different(tokens: tuple[bytes, ...]) -> tuple[int, int, int]:
    """Counts each different token once."""
    return len(b"".join(tokens)), len(set(tokens)), cost(tokens)[2]


COST = Exercise(
    id="09-cost",
    prompt="Count what a list of tokens costs: its bytes, its tokens, and those that are parts of a character.",
    call="cost(tokens)",
    reference=cost,
    alphabet=(b"a", b"\xd0", b"\xb0", b" \xd0", "а".encode()),
    wrong=(
        _wrong_one_byte,
        _wrong_beyond_ascii,
        _wrong_one_byte_beyond_ascii,
        _wrong_characters,
        _wrong_different,
    ),
    hints=(
        "How can you find out whether some bytes are whole characters? Python can try it for you.",
        "`(b'a', b'\\xd0', b'\\xb0')` gives `(3, 3, 2)`; `(b' \\xd0', b'\\xb0')` gives `(3, 2, 2)`.",
        "Try `token.decode()` for each token; UnicodeDecodeError says that it is a part.",
    ),
    concepts=("byte share", "tokens per byte"),
    cells=("byte-share-rule", "two-measures"),
)


def per_character(text: str) -> float:
    """Return the tokens per character of a text, with the largest BPE of the chapter; 0 for an empty text."""
    return measure(trained(MOST_MERGES), [text]).per_character if text else 0.0


EXPENSIVE = Question(
    id="09-expensive",
    kind="text",
    prompt="Find a text that needs at least {input} tokens per character with the largest BPE of this chapter.",
    pool=(3, 2.5, 2.8),
    right=lambda limit: "ᚠ",
    accepts=lambda limit, text: per_character(text) >= limit,
    misconceptions=(
        Misconception(
            "rare-word",
            "take a rare word: an ASCII letter never takes more than one token",
            lambda limit: "xyzzyx",
        ),
        Misconception(
            "a-mark", "take an accent: it takes two bytes, so two tokens at the most", lambda limit: "ǵ"
        ),
        Misconception(
            "long-text",
            "take a long text: the measure is one for each character",
            lambda limit: "the sea " * 20,
        ),
    ),
    why=lambda limit: (
        "A character takes as many tokens as it has bytes, if no rule joins any of them. "
        f"`ᚠ` has {_bytes('ᚠ')} bytes and takes {per_character('ᚠ'):.3g} tokens."
    ),
    consequence=lambda limit, text: f"Your text takes {per_character(text):.3g} tokens per character.",
    hints=(
        "What is the highest number of tokens that one character can take?",
        "A letter of the train split takes few tokens. Which writing has the tokenizer never met?",
        "Look at the table of languages: choose a character of the most expensive row, or one with more bytes.",
    ),
    concepts=("tokens per byte",),
    cells=("per-character-table", "two-measures"),
    show=quoted,
    recall=False,
)

CHAPTER = Chapter(
    notebook="09_in_the_wild",
    title="In the wild",
    question="What does my text cost?",
    objectives=(
        "What does a text cost, per character and per byte, and in which languages is it dear?",
        "Why can two models not be compared by their loss per token?",
        "Which faults do real tokenizers have, and how are they noticed?",
        "What has to hold for every tokenizer, and how is it tried?",
    ),
    concepts=(
        Concept(
            "tokens per byte",
            "per-byte-rule",
            "The number of tokens divided by the number of bytes: it does not favour any writing.",
        ),
        Concept(
            "byte share",
            "byte-share-rule",
            "The share of tokens that are bytes of a character and not whole characters.",
        ),
        Concept(
            "loss per byte",
            "loss-rule",
            "The loss per token divided by the bytes per token: what models with different tokenizers share.",
        ),
        Concept(
            "bits per byte", "bits-rule", "The loss per byte in bits: nats divided by the logarithm of two."
        ),
        Concept(
            "glued spaces",
            "glued-rule",
            "A split that keeps a run of white space together, where training gave its last sign to the word.",
        ),
        Concept(
            "spelling of the space",
            "space-spelling-rule",
            "How a file writes the start of a word: with ▁, U+2581, or with a space.",
        ),
        Concept(
            "validation list",
            "check-result",
            "What has to hold for every tokenizer, tried one by one: python -m tokenlab check.",
        ),
    ),
    questions=(PER_BYTE, SHARE, COMPRESSES, BITS, GLUED, SPELLING, FINGERPRINT),
    exercises=(COST, EXPENSIVE),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "A service is paid by the token. Who pays more for the same story, and what could be done about it?",
        "A paper compares two models by their loss per token. Which number do you ask the authors for?",
        "Your company changes the tokenizer of a running service. Which of the checks would you run first?",
    ),
    likeliest="per-token",
    paper=("погода", "а б", "a  b"),
)
