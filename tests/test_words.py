"""The closed vocabulary of words, and the progress bar."""

from __future__ import annotations

import io

import pytest

from tokenlab import UNKNOWN_WORD_ID, ClosedVocabulary, progress_bar
from tokenlab.errors import (
    InvalidArgumentError,
    InvalidTokenIdError,
    SingleDocumentError,
    UnknownTokenIdError,
)

PUBLISHED = ClosedVocabulary.fit(["low lower", "new newest"])


def test_the_published_example_loses_an_unseen_word() -> None:
    assert PUBLISHED.words == ("low", "lower", "new", "newest")
    assert PUBLISHED.encode("lowering") == [UNKNOWN_WORD_ID] == [0]
    assert PUBLISHED.decode([0]) == "<UNK>"
    assert PUBLISHED.encode("low lower new newest") == [1, 2, 3, 4]


def test_ids_follow_the_sorted_order_not_the_first_sight() -> None:
    assert ClosedVocabulary.fit(["new low"]).encode("new low") == [2, 1]
    assert ClosedVocabulary.fit(["б a", "Б 🦀 ！"]).words == ("a", "Б", "б", "！", "🦀")


def test_case_punctuation_and_white_space() -> None:
    assert PUBLISHED.encode("Low low.") == [0, 0]
    assert PUBLISHED.decode(PUBLISHED.encode("low \t\r\n  new")) == "low new"
    assert PUBLISHED.encode(" \n") == []
    assert PUBLISHED.decode([]) == ""


def test_empty_documents_give_an_empty_vocabulary() -> None:
    assert ClosedVocabulary.fit([]) == ClosedVocabulary.fit(iter(["", "  "])) == ClosedVocabulary(())
    assert ClosedVocabulary.fit([]).encode("a b") == [0, 0]


def test_one_text_in_place_of_documents_is_named() -> None:
    with pytest.raises(SingleDocumentError, match=r"write \[document\]"):
        ClosedVocabulary.fit("low lower")


@pytest.mark.parametrize("ids", [[5], [1, -1], [True], [1.0], "1", None])
def test_bad_ids(ids: object) -> None:
    with pytest.raises((UnknownTokenIdError, InvalidTokenIdError, InvalidArgumentError)):
        PUBLISHED.decode(ids)  # type: ignore[arg-type]


def test_position_of_an_unknown_id() -> None:
    with pytest.raises(UnknownTokenIdError) as caught:
        PUBLISHED.decode([1, 5])
    assert (caught.value.position, caught.value.token_id, caught.value.vocabulary_size) == (1, 5, 5)


@pytest.mark.parametrize("bad", [b"low", 1, None])
def test_only_text_is_read(bad: object) -> None:
    with pytest.raises(InvalidArgumentError):
        ClosedVocabulary.fit([bad])  # type: ignore[list-item]
    with pytest.raises(InvalidArgumentError):
        PUBLISHED.encode(bad)  # type: ignore[arg-type]


def test_a_word_stands_once() -> None:
    with pytest.raises(InvalidArgumentError):
        ClosedVocabulary(("low", "low"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_once_a_percent_and_ends_its_line() -> None:
    terminal = Terminal()
    show = progress_bar("merges", terminal)
    for done in range(1, 1001):
        show(done, 1000)
    drawn = terminal.getvalue()
    assert drawn.count("\r") == 101
    assert drawn.endswith("[####################] 1000/1000\n")


def test_progress_is_silent_when_piped() -> None:
    pipe = io.StringIO()
    progress_bar(stream=pipe)(1, 1)
    assert pipe.getvalue() == ""
