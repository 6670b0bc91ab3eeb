"""One tree of exceptions: every error says what was expected, what was found and where.

A class states its message once, as a template; whoever raises it gives only the facts, which stay readable
as attributes of the exception.
"""

from __future__ import annotations

from functools import partial
from typing import Any


class TokenLabError(ValueError):
    """The root of every error that this library raises on purpose.

    >>> error = UnknownTokenIdError(position=3, token_id=999, vocabulary_size=266)
    >>> error.position, str(error)
    (3, 'position 3: token ID 999 is not in the vocabulary (expected 0 <= ID < 266)')
    """

    message = "{detail}"

    def __init__(self, detail: str = "", **facts: Any) -> None:
        self.facts = {"detail": detail, **facts}
        self.__dict__.update(facts)
        shown = {name: _spelt(fact) for name, fact in self.facts.items()}
        super().__init__(detail or self.message.format_map(shown))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.facts), ()


def _spelt(fact: Any) -> Any:
    """Return a fact as a message shows it: Python refuses to write out an int of thousands of digits."""
    is_huge = isinstance(fact, int) and fact.bit_length() > 1024
    return f"(an int of {fact.bit_length()} bits)" if is_huge else fact


class TokenLabWarning(UserWarning):
    """The root of every warning that this library gives."""


# What many errors say alike: the place in what was given, and what does not match there.
AT = "position {position}: "
MISMATCH = ": expected {expected}, found {found}"


class PositionedError(TokenLabError):
    """Something wrong at a place in what was given: an index into IDs, rules, bytes or characters."""

    position: int


class TokenError(PositionedError):
    """A token ID that is wrong where it stands."""

    token_id: int


class MismatchError(TokenLabError):
    """Something else than what was expected."""

    expected: str
    found: str


# The course corpora.


class CorpusError(TokenLabError):
    """The root of what can be wrong with the course data."""


class MissingCorpusFileError(CorpusError):
    """A file of the course data that cannot be read."""

    message = (
        "{path}: cannot be read ({reason}); expected it in data/ of a clone, installed with pip install -e"
    )
    path: str
    reason: str


class CorpusManifestError(CorpusError):
    """A manifest that is not what the loader can use."""

    message = "manifest.json, {place}: expected {expected}, found {found}"
    place: str
    expected: str
    found: str


class CorpusHashError(CorpusError):
    """A file of the course data that is not the one in the manifest."""

    message = "{path}: the file has been changed: expected the SHA-256 {expected}, found {found}"
    path: str
    expected: str
    found: str


class CorpusLineEndingError(CorpusError):
    """A file of the course data whose line endings were changed by the checkout."""

    message = "{path}: expected line ends LF, found CRLF; .gitattributes keeps LF, so check it out again"
    path: str


class UnknownCorpusNameError(CorpusError):
    """A corpus, split, language or kind that is not there."""

    message = "{what} {name!r} is not in {place} (expected one of {known})"
    what: str
    name: str
    place: str
    known: list[str]


# Chapters 1 to 4: arguments, merge tables, ID layout, documents.


class InvalidArgumentError(MismatchError):
    """An argument of a kind, or with a value, that cannot be meant."""

    message = "{name}" + MISMATCH
    name: str


class SingleDocumentError(TokenLabError):
    """One text where several documents are expected; its letters would each be taken for a document."""

    message = "documents: expected an iterable of documents, found one {found}; write [document]"
    found: str


class InvalidTokenIdError(PositionedError):
    """Something that is no token ID at all: a float, a bool, a str, None."""

    message = AT + "expected an int as token ID, found {found}"
    found: str


class UnknownRankError(TokenLabError):
    """A merge rank that the layout does not have."""

    message = "rank {rank} is not in the layout (expected a rank below {merge_count})"
    rank: int
    merge_count: int


class RepeatedRankError(TokenLabError):
    """A merge table gives one rank to two pairs."""

    message = "the pair {pair} has rank {rank}, which the pair {first_pair} already has"
    rank: int
    pair: tuple[int, int]
    first_pair: tuple[int, int]


class TokenBytesLimitError(PositionedError):
    """Merge rules whose tokens, written out, would take more memory than is allowed."""

    message = "rule {position}: the tokens would take {size} bytes (expected at most {limit})"
    size: int
    limit: int


class TooManySymbolsError(TokenLabError):
    """More symbols than training over words can name by characters."""

    message = "training over words names at most {limit} symbols, and needs one more"
    limit: int


class LayoutOverflowError(TokenLabError):
    """More merges than 32-bit IDs can number."""

    message = "{merge_count} merges need IDs up to {highest_id}; the layout ends at {limit} (2^32 - 1)"
    merge_count: int


class UndefinedOperandError(TokenError):
    """A merge rule uses an ID that no byte and no earlier rule defines."""

    message = "rule {position}: operand {token_id} is not defined yet (expected a training ID below {limit})"


class RepeatedPairError(PositionedError):
    """A merge table gives one pair two ranks."""

    message = "rule {position}: the pair {pair} already has rank {first_rank}"
    pair: tuple[int, int]
    first_rank: int


class UnknownTokenIdError(TokenError):
    """An ID that the vocabulary does not hold."""

    message = AT + "token ID {token_id} is not in the vocabulary (expected 0 <= ID < {vocabulary_size})"


class ControlTokenInContentError(TokenError):
    """BOS or EOS where only content may stand."""

    message = AT + "control token ID {token_id} in content (expected a byte or merge ID)"


class DocumentTooShortError(PositionedError):
    """A document without room for its two controls."""

    message = "a document has at least 2 IDs, BOS and EOS; found {length}"
    length: int


class ExpectedBosError(TokenError):
    """A document that does not begin with BOS."""

    message = AT + "expected BOS (ID {expected}), found ID {token_id}"


class ExpectedEosError(TokenError):
    """A document that does not end with EOS."""

    message = AT + "expected EOS (ID {expected}), found ID {token_id}"


class InteriorControlTokenError(TokenError):
    """BOS or EOS inside a document."""

    message = AT + "control token ID {token_id} inside the document (only its ends may hold one)"


class InvalidUtf8Error(PositionedError):
    """Bytes that are no UTF-8 text."""

    message = "byte {position}: the bytes are not valid UTF-8 text ({reason})"
    reason: str


class LoneSurrogateError(PositionedError):
    """Text with half of a UTF-16 pair, which UTF-8 cannot hold."""

    message = (
        "character {position}: U+{code_point:04X} is a lone surrogate, "
        "which is no character and has no UTF-8 form"
    )
    code_point: int


# Chapter 5: the Unigram model and its training.


class EmptyPieceError(PositionedError):
    """A piece without characters, which no text could ever be cut into."""

    message = "piece {position}: a piece has at least one character, found the empty string"


class DuplicatePieceError(PositionedError):
    """A vocabulary that holds one piece twice."""

    message = "piece {position}: {piece!r} has a score already (piece {first_position})"
    first_position: int
    piece: str


class ScoreError(TokenLabError):
    """A score that no log-probability can be: NaN, +inf, no number, or so large that sums overflow."""

    message = "{what}: expected a log-probability (-inf, or finite and within ±{limit:g}), found {score!r}"
    what: str
    score: float
    limit: float


class EmptyVocabularyError(TokenLabError):
    """No usable piece, so there is no lowest score to derive the price of an unknown character from."""

    message = "no piece has a probability above zero; give unknown_log_probability a value"


class NoSegmentationError(PositionedError):
    """A text that no sequence of pieces makes, where unknown characters have probability zero."""

    message = (
        "character {position}: no piece leads on from {character!r}, and unknown characters have no price"
    )
    character: str


class VocabularySizeError(TokenLabError):
    """A vocabulary size that a text cannot be trained to."""

    message = (
        "vocabulary_size: this text gives from {fewest} (its characters) to {most} pieces "
        "(with what occurs twice); found {vocabulary_size}"
    )
    vocabulary_size: int
    fewest: int
    most: int


# Chapter 6: the text side of the pipeline (patterns, normalizers, the tokenizer itself).


class PatternError(TokenLabError):
    """A regular expression that cannot be used."""

    message = "pattern {pattern!r}: {reason}"
    pattern: str
    reason: str


class PatternTimeoutError(TokenLabError):
    """A regular expression that runs without end on some text."""

    message = "pattern {pattern!r}: no end after {seconds:.3g} s on a text of {length} characters"
    pattern: str
    seconds: float
    length: int


class CharacterMapError(MismatchError):
    """A precompiled character map that leads out of itself."""

    message = "character map, byte {offset}" + MISMATCH
    offset: int


class UnknownFormatError(TokenLabError):
    """A file of no known format."""

    message = "expected a tokenizer file ({known}), found {found}"
    known: str
    found: str


# Chapter 6: the token side of the pipeline (models, post-processors, truncation, decoding).


class TruncationError(TokenLabError):
    """A truncation that cannot be met."""


class PaddingLimitError(TokenLabError):
    """A padding so long that it could only fill the memory."""

    message = "padding to {length} tokens passes the limit of {limit}"
    length: int
    limit: int


class GrowthLimitError(TokenLabError):
    """Replacements so long that a chain of them could only fill the memory."""

    message = "replacements of {grown} characters in a text of {length} pass the limit of {limit}"
    length: int
    grown: int
    limit: int


class UnknownCharacterError(PositionedError):
    """A character that neither the vocabulary nor an unknown token can stand for."""

    message = (
        "{piece!r}, character {position}: {character!r} is not in the vocabulary, and there is no {missing}"
    )
    character: str
    piece: str
    missing: str


class UnknownCharacterWarning(TokenLabWarning):
    """Characters left out, since a BPE has no token for them and no `unk_token`."""

    def __init__(self, first: UnknownCharacterError, pieces: int) -> None:
        self.first, self.pieces = first, pieces
        super().__init__(f"left out of {pieces} piece(s) of the text what is unknown; first: {first}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.first, self.pieces)


class MissingTokenError(TokenLabError):
    """A token that a component needs and the vocabulary lacks."""

    message = "{component}: the vocabulary has no token {token!r}, which is needed as {role}"
    component: str
    token: str
    role: str


class ComponentError(MismatchError):
    """A component whose fields contradict each other."""

    message = "{component}.{field}" + MISMATCH
    component: str
    field: str


# Chapter 7: the file formats.


class TokenizerJsonError(MismatchError):
    """A tokenizer.json, or a file beside it, that does not say what it should."""

    message = "{path}" + MISMATCH
    path: str


class LostInConversionWarning(TokenLabWarning):
    """Something of a tokenizer has no place in the file that it was written to.

    Attributes `component` (what cannot say itself there), `loss` (what will differ) and `example` (a text
    that shows it, None where none was found) are set where the conversion knows them.
    """

    component: str
    loss: str
    example: str | None

    def __init__(
        self, detail: str = "", *, component: str = "", loss: str = "", example: str | None = None
    ) -> None:
        self.component, self.loss, self.example = component, loss, example
        shown = f", for example for the text {example!r}" if example is not None else ""
        super().__init__(detail or f"{component}: {loss}{shown}")


class LostAnswersWarning(LostInConversionWarning):
    """Some text's IDs, or the text of some IDs, will differ."""


class LostExtrasWarning(LostInConversionWarning):
    """What differs is neither the IDs nor the text of one text: pairs, type IDs, trimmed offsets, names."""


class LostAnswersError(TokenLabError):
    """A conversion, asked to be strict, that would change some text's IDs or the text of some IDs."""

    message = "{losses}"
    losses: str
    warnings: tuple[LostAnswersWarning, ...]


class MtokError(MismatchError):
    """A binary tokenizer file that is not what its format says, or a value that the format cannot hold."""

    message = "{section}, offset {offset}" + MISMATCH
    section: str
    offset: int


class MtokWarning(TokenLabWarning):
    """Something in a `.mtok` file that other readers may take otherwise."""


class LegacyTxtError(MismatchError):
    """A legacy text file that is not what its format says."""

    message = "line {line}" + MISMATCH
    line: int


class LegacyTxtWarning(TokenLabWarning):
    """Something in a legacy text file that is wrong and does no harm."""


# Chapter 8: chat templates.


class ChatTemplateError(TokenLabError):
    """A template that is not well formed, or that could not be rendered."""

    message = ": {reason}"
    line: int | None
    reason: str

    def __init__(self, detail: str = "", *, line: int | None = None, **facts: Any) -> None:
        self.message = ("the template" if line is None else "line {line} of the template") + self.message
        super().__init__(detail, line=line, **facts)


class TemplateLimitError(ChatTemplateError):
    """A template that asks for more than `TemplateLimits` allows."""

    message = ": more than {limit}={allowed}"
    limit: str
    allowed: float


class ChatInputError(MismatchError):
    """Messages, tools, documents or settings that no template can be given."""

    message = "{where}" + MISMATCH
    where: str


class UntraceableTextError(PositionedError):
    """A control token of which nobody can say whether the template or the data wrote it."""

    message = (
        "character {position}: {token!r} in the rendered text holds characters that the template computed "
        "from data in a way that cannot be followed (or from a number), so nobody can say who wrote it"
    )
    token: str


class ControlTokenInTextError(TokenLabError):
    """A tokenizer whose model makes a control token out of ordinary characters."""

    message = (
        "token ID {token_id} ({token!r}) is a control token, "
        "and this tokenizer's model makes it from plain text"
    )
    token_id: int
    token: str


class DoubledBosWarning(TokenLabWarning):
    """Both the template and the tokenizer insert BOS."""

    def __init__(self, token_id: int) -> None:
        self.token_id = token_id
        super().__init__(
            f"two BOS (ID {token_id}) begin the text: the template writes one, the tokenizer inserts one"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.token_id,)
