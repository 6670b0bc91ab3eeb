"""A closed vocabulary of whole words, and what it loses: where BPE sets out from (chapter 1).

Published source: the closed-word vocabulary in the course text on applying BPE: words between white space,
sorted, numbered from 1; every other word is 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tokenlab.checks import check_documents, check_text, check_token_ids, set_fields, unexpected
from tokenlab.errors import UnknownTokenIdError

UNKNOWN_WORD_ID = 0
UNKNOWN_WORD = "<UNK>"


@dataclass(frozen=True, slots=True)
class ClosedVocabulary:
    """A table of words, and nothing for the words that are not in it.

    Args:
        words: the words in the order of their IDs, which begin at 1.

    >>> vocabulary = ClosedVocabulary.fit(["low lower", "new newest"])
    >>> vocabulary.words
    ('low', 'lower', 'new', 'newest')
    >>> vocabulary.encode("new lowering"), vocabulary.decode([3, 0])
    ([3, 0], 'new <UNK>')
    """

    words: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        words = tuple(check_text(word, "word") for word in check_documents(self.words))
        ids = {word: token_id for token_id, word in enumerate(words, 1)}
        if len(ids) < len(words):
            raise unexpected("words", "each word once", words)
        set_fields(self, words=words, _ids=ids)

    @classmethod
    def fit(cls, documents: Iterable[str]) -> ClosedVocabulary:
        """Collect the distinct words of documents, in code point order.

        Args:
            documents: any number of texts, read once; words are what lies between white space (`str.split`).

        Raises:
            SingleDocumentError: one str in place of an iterable of them.
            InvalidArgumentError: a document that is no str.

        >>> ClosedVocabulary.fit([]).encode("low")
        [0]
        """
        texts = (check_text(document, "document") for document in check_documents(documents))
        return cls(tuple(sorted({word for text in texts for word in text.split()})))

    def encode(self, text: str) -> list[int]:
        """Return one ID for each word; a word the table has never seen is 0.

        >>> ClosedVocabulary(("low",)).encode("Low low.")
        [0, 0]
        """
        return [self._ids.get(word, UNKNOWN_WORD_ID) for word in check_text(text).split()]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the words joined by one space; of an unknown word and of the white space nothing is left.

        Raises:
            UnknownTokenIdError: an ID without a word, with its position.
            InvalidTokenIdError: something that is no ID, with its position.

        >>> ClosedVocabulary(("low",)).decode([1, 0])
        'low <UNK>'
        """
        table = (UNKNOWN_WORD, *self.words)
        checked = check_token_ids(ids)
        for position, token_id in enumerate(checked):
            if not 0 <= token_id < len(table):
                raise UnknownTokenIdError(position=position, token_id=token_id, vocabulary_size=len(table))
        return " ".join(table[token_id] for token_id in checked)
