"""Text that remembers where each of its characters came from."""

import pytest
from hypothesis import given
from strategies import TEXT

from tokenlab.errors import LoneSurrogateError
from tokenlab.pipeline.text import WHITE_SPACE, AlignedText, CharacterTable


@given(TEXT)
def test_every_character_of_the_original_stands_for_itself(text):
    aligned = AlignedText.of(text, origin=3)
    assert [aligned.span(i, i + 1) for i in range(len(text))] == [(i + 3, i + 4) for i in range(len(text))]


def test_a_slice_keeps_the_spans_of_the_original():
    part = AlignedText.of("abcdef").slice(2, 5).slice(1, 3)
    assert (part.text, part.origin, part.span(0, 2), part.span(1, 1)) == ("de", 3, (3, 5), (4, 4))


def test_what_is_inserted_before_everything_points_at_the_origin():
    text = AlignedText.of("xab").slice(1, 3).take("_ab", [-1, 0, 1])
    assert [text.span(i, i + 1) for i in range(3)] == [(1, 1), (1, 2), (2, 3)]


def test_a_table_gives_all_that_a_character_becomes_its_span():
    table = CharacterTable(lambda character: {"ﬁ": "fi", "x": ""}.get(character, character))
    mapped = table.normalize(AlignedText.of("aﬁxb"))
    assert mapped.text == "afib"
    assert [mapped.span(i, i + 1) for i in range(4)] == [(0, 1), (1, 2), (1, 2), (3, 4)]


def test_an_ascii_text_of_equal_length_keeps_its_spans():
    lower = CharacterTable(str.lower)
    mapped = lower.normalize(AlignedText.of("AbC"))
    assert (mapped.text, list(mapped.starts), list(mapped.ends)) == ("abc", [0, 1, 2], [1, 2, 3])


@pytest.mark.parametrize("text, position", [("ab\ud83d", 2), ("\udc00", 0), ("é\ud800\udc00", 1)])
def test_half_of_a_surrogate_pair_is_refused_with_its_position(text, position):
    with pytest.raises(LoneSurrogateError) as caught:
        AlignedText.of(text)
    assert caught.value.position == position


def test_white_space_is_unicodes_and_not_pythons():
    assert len(WHITE_SPACE) == len(set(WHITE_SPACE)) == 25
    assert all(character.isspace() for character in WHITE_SPACE)
    assert not set("\x1c\x1d\x1e\x1f\u200b\ufeff") & set(WHITE_SPACE)
