"""Figures: the sentence says what the picture shows, and the picture is safe, bounded and always the same."""

import base64
import html
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenlab import figures
from tokenlab.errors import LoneSurrogateError
from tokenlab.figures.drawing import Box, fit, glyph, listed, quoted, render

RULES = [(34, 210), (210, 178), (211, 132), (210, 183), (210, 192), (210, 186), (211, 130), (103, 34)]
SPELLING = {byte + 2: bytes([byte]) for byte in range(256)}
for _rank, (_left, _right) in enumerate(RULES):
    SPELLING[258 + _rank] = SPELLING[_left] + SPELLING[_right]
CONTROLS = {0: "BOS", 1: "EOS"}


def traced(content: bytes) -> SimpleNamespace:
    """One pass per rank over the eight rules of the course, observed."""
    tokens = initial = [byte + 2 for byte in content]
    applications = []
    for rank, pair in enumerate(RULES):
        after: list[int] = []
        at = 0
        while at < len(tokens):
            merges = tuple(tokens[at : at + 2]) == pair
            after.append(258 + rank if merges else tokens[at])
            at += 2 if merges else 1
        if len(after) < len(tokens):
            count = len(tokens) - len(after)
            applications.append(SimpleNamespace(rank=rank, replacements=count, before=tokens, after=after))
        tokens = after
    return SimpleNamespace(initial_tokens=initial, applications=applications, content_tokens=tokens)


def tape(content: bytes | str) -> figures.Figure:
    data = content.encode() if isinstance(content, str) else content
    return figures.token_tape(content, traced(data).content_tokens, SPELLING.__getitem__)


def ladder(content: bytes) -> figures.Figure:
    return figures.merge_ladder(traced(content), SPELLING.__getitem__)


CONTENTS = {
    "empty": b"",
    "one": b"a",
    "thread": "e e а".encode(),
    "malformed": b"\xff\xfe",
    "controls": b"a\x00\n<&>",
    "scripts": "é北京🦀ع".encode(),
    "long": "дети ".encode() * 9,
}
GALLERY = {
    **{f"tape-{name}": tape(content) for name, content in CONTENTS.items()},
    **{f"ladder-{name}": ladder(content) for name, content in CONTENTS.items()},
}


def words(figure: figures.Figure) -> list[str]:
    """The texts in the picture."""
    root = ElementTree.fromstring(figure.svg)
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", GALLERY)
def test_the_same_sentence_is_alternative_caption_and_plain_text(name: str) -> None:
    figure = GALLERY[name]
    shown = re.fullmatch(
        r'<figure><img alt="([^"<>]*)" src="data:image/svg\+xml;base64,([\w+/=]+)" style="[\w:;%-]+">'
        r"<figcaption>([^<>]*)</figcaption></figure>",
        figure._repr_mimebundle_()["text/html"],
    )
    assert shown
    assert figure.sentence == html.unescape(shown[1]) == html.unescape(shown[3]) == repr(figure)
    assert figure._repr_mimebundle_()["text/plain"] == figure.sentence
    assert base64.b64decode(shown[2]).decode() == figure.svg
    assert figure.sentence.endswith(".")
    assert figure.sentence.translate({0x2068: "", 0x2069: ""}).isprintable()  # but for the marks of direction


@pytest.mark.parametrize("name", GALLERY)
def test_the_picture_is_well_formed_undated_and_no_wider_than_a_notebook(name: str) -> None:
    figure = GALLERY[name]
    root = ElementTree.fromstring(figure.svg)
    assert float(root.attrib["width"].removesuffix("pt")) * 96 / 72 <= 840
    assert float(root.attrib["height"].removesuffix("pt")) * 96 / 72 <= 1400
    assert not re.search(r"\bdate\b|20\d\d-\d\d-\d\d", figure.svg)
    assert "'DejaVu Sans', sans-serif" in figure.svg


@pytest.mark.parametrize("name", GALLERY)
def test_no_text_is_smaller_than_nine_pixels(name: str) -> None:
    sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", GALLERY[name].svg)]
    assert sizes and min(sizes) * 96 / 72 >= 9


def test_the_tape_of_the_course_says_what_the_source_says() -> None:
    assert tape(" а").sentence == (
        "The 3 bytes 20 d0 b0 of ' а' (а is U+0430) become 2 tokens: 258 (20 d0) and 178 (b0). "
        "Decoding gives the same 3 bytes. 1 token border lies inside a character: а."
    )
    drawn = words(tape(" а"))
    assert {"258", "178", "20 d0", "а", "U+0430", "␣", "✓ both frames hold the same 3 bytes"} <= set(drawn)
    assert drawn.count("d0") == 2


def test_controls_stand_in_the_tape_by_name_and_without_bytes() -> None:
    figure = figures.token_tape("", [0, 1], SPELLING.__getitem__, controls=CONTROLS)
    assert figure.sentence == "The 0 bytes become 2 tokens: BOS and EOS. Decoding gives the same 0 bytes."
    assert {"BOS", "EOS"} <= set(words(figure))


@pytest.mark.parametrize(
    ("ids", "place"),
    [([258, 179], 2), ([258], 2), ([258, 178, 34], 3), ([], 0)],
    ids=["other", "short", "long", "none"],
)
def test_ids_that_decode_to_other_bytes_are_shown_to_differ(ids: list[int], place: int) -> None:
    figure = figures.token_tape(" а", ids, SPELLING.__getitem__)
    assert f"the two rows of bytes first differ at byte {place}." in figure.sentence
    assert f"✗ the two rows of bytes first differ at byte {place}" in words(figure)


def test_bytes_that_are_no_text_are_said_to_be_none() -> None:
    assert "(no UTF-8 text: byte 1 does not fit)" in tape(b"a\xff").sentence
    assert words(tape(b"a\xff")).count("none") == 1


def test_text_without_a_utf8_form_is_refused_with_its_position() -> None:
    with pytest.raises(LoneSurrogateError) as caught:
        figures.token_tape("a\ud800", [], SPELLING.__getitem__)
    assert caught.value.position == 1


def test_the_ladder_tells_each_rule_with_its_pair_and_what_is_left() -> None:
    assert ladder("e e а".encode()).sentence == (
        "The 6 bytes 65 20 65 20 d0 b0 start as 6 pieces. Rank 0 merges 20 + d0 at 1 place: 5 pieces. "
        "Rank 7 merges 65 + 20 at 1 place: 4 pieces. "
        "The result is 265 (65 20), 103 (65), 258 (20 d0) and 178 (b0)."
    )


def test_the_ladder_can_leave_ids_out() -> None:
    figure = figures.merge_ladder(traced(" а".encode()), SPELLING.__getitem__, show_ids=False)
    assert figure.sentence.endswith("The result is 20 d0 and b0.")
    assert not {"34", "210", "178", "258"} & set(words(figure))


def test_long_content_is_cut_and_the_cut_is_counted() -> None:
    content = "e e а ".encode() * 15_000
    assert any("104,98" in text and "not drawn" in text for text in words(tape(content)))
    assert "The 105,000 bytes" in tape(content).sentence
    assert len(tape(content).svg) < 100_000 and len(tape(content).sentence) < 700
    assert "Not drawn: 104,983 more bytes." in ladder(content).sentence


@given(st.binary(max_size=24))
@settings(max_examples=20, deadline=None)
def test_any_bytes_can_be_drawn(content: bytes) -> None:
    for figure in (tape(content), ladder(content)):
        ElementTree.fromstring(figure.svg)


def test_two_processes_with_other_hash_seeds_and_backends_draw_the_same_bytes() -> None:
    program = (
        "from tests.test_figures import GALLERY; import hashlib, sys;"
        "assert 'matplotlib.pyplot' not in sys.modules;"
        "print(hashlib.sha256(''.join(f.svg + f.sentence for f in GALLERY.values()).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "MPLBACKEND": backend},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed, backend in (("1", "agg"), ("2", "pdf"))
    }
    assert len(digests) == 1


def test_drawing_leaves_matplotlib_as_it_was() -> None:
    import matplotlib

    drawn = tape(" а").svg
    with matplotlib.rc_context({"font.size": 31, "text.parse_math": True}):
        before = dict(matplotlib.rcParams)
        assert tape(" а").svg == drawn
        assert dict(matplotlib.rcParams) == before


def test_text_with_dollar_signs_is_no_formula() -> None:
    assert "$a$" in words(render([Box(0, 0, 90, 40, "$a$")], "."))


@pytest.mark.parametrize(
    ("character", "seen"),
    [
        (" ", "␣"),
        ("а", "а"),
        ("\x00", "U+0000"),
        ("\u200d", "U+200D"),
        ("\u0301", "◌\u0301"),
        ("\ud800", "U+D800"),
        ("\ufe0f", "U+FE0F"),
        ("\xa0", "U+00A0"),
        ("<", "<"),
    ],
)
def test_every_character_has_a_form_that_can_be_seen(character: str, seen: str) -> None:
    assert glyph(character) == seen


def test_only_letters_with_a_double_are_named_by_code_point() -> None:
    assert quoted("Taб") == "'Taб'"
    assert quoted("Tа") == "'Tа' (а is U+0430)"


def test_text_is_made_smaller_before_it_is_cut() -> None:
    assert fit("abc", 15, 100) == ("abc", 15)
    text, size = fit("abcdef", 15, 40)
    assert text == "abcdef" and 9 <= size < 15
    assert fit("abcdefghij", 15, 40) == ("abcdef…", 9.0)


def test_lists_are_read_out_with_and_and_cut_with_a_count() -> None:
    lengths = [listed(list("abcd"[:n]), limit=3) for n in range(5)]
    assert lengths == ["", "a", "a and b", "a, b and c", "a, b, c and 1 more"]
