"""Figures: the sentence says what the picture shows, and the picture is safe, bounded and always the same."""

import base64
import html
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenlab import figures
from tokenlab.bpe.tokenizer import BpeTokenizer
from tokenlab.errors import LoneSurrogateError, TokenLabError
from tokenlab.figures import palette
from tokenlab.figures.drawing import Box, fit, lanes, render
from tokenlab.figures.wording import glyph, listed, quoted, quotes
from tokenlab.formats.layout import Field

TOKENIZER = BpeTokenizer.from_merge_pairs(
    [(32, 208), (208, 176), (209, 130), (208, 181), (208, 190), (208, 184), (209, 128), (101, 32)]
)
CONTROLS = {0: "BOS", 1: "EOS"}
LANGUAGES = ["English", "Русский", "中文", "العربية"]


def tape(content: bytes | str) -> figures.Figure:
    data = content.encode() if isinstance(content, str) else content
    return figures.token_tape(content, TOKENIZER.encode_content(data), TOKENIZER.token_bytes)


def ladder(content: bytes, *, show_ids: bool = True) -> figures.Figure:
    trace = TOKENIZER.encode_content_with_trace(content)
    return figures.merge_ladder(trace, TOKENIZER.token_bytes, show_ids=show_ids)


def every_edge(text: str) -> list[tuple[int, int, str, float]]:
    return [
        (start, end, text[start:end], float(end - start))
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
    ]


def fields(*parts: tuple[str, bytes]) -> list[Field]:
    made, offset = [], 0
    for section, raw in parts:
        made.append(Field(section, "part", offset, raw, raw, ""))
        offset += len(raw)
    return made


CONTENTS = {
    "empty": b"",
    "one": b"a",
    "thread": "e e а".encode(),
    "malformed": b"\xff\xfe",
    "controls": b"a\x00\n<&>",
    "scripts": "é北京🦀ع".encode(),
    "long": "дети ".encode() * 9,
}
FILE = fields(("Header", b"430 4\n"), ("Model", b"\x00" * 5_000), ("Model / BPE", b"<\xff"))
GALLERY = {
    **{f"tape-{name}": tape(content) for name, content in CONTENTS.items()},
    **{f"ladder-{name}": ladder(content) for name, content in CONTENTS.items()},
    "bars": figures.bars_by_group({name: float(len(name)) for name in LANGUAGES}, "Unknown words", unit=" %"),
    "bars-of-series": figures.bars_by_group({"a": {"x": 1.5, "y": 0.0}, "b": {"x": 3}}, "Tokens <per> word"),
    "bars-none": figures.bars_by_group({}, "Nothing"),
    "bars-zero": figures.bars_by_group({"a": 0, "b": 0}, "Zeros"),
    "bars-many": figures.bars_by_group({f"group {n}": n for n in range(99)}, "Many"),
    "growth": figures.vocabulary_growth([0, 8, 64], [1000, 800, 688]),
    "growth-none": figures.vocabulary_growth([], []),
    "rounds": figures.training_rounds([100, 80], [-500.0, -510.5], names=["seed", "EM\x00"]),
    "lattice": figures.lattice("北京大", every_edge("北京大"), ["北京", "大"], node_costs=[0, 1, 2, 3]),
    "lattice-empty": figures.lattice("", [], []),
    "lattice-long": figures.lattice("ab " * 9, every_edge("ab " * 9), ["ab " * 9]),
    "stages": figures.pipeline_stages([("text", ["e\n  é"]), ("split", ["e"] * 99), ("none", [])]),
    "road": figures.road_map("e а", TOKENIZER.encode_utf8("e а"), TOKENIZER.token_bytes),
    "road-empty": figures.road_map("", [], TOKENIZER.token_bytes),
    "road-other": figures.road_map("а", [100], TOKENIZER.token_bytes),
    "offsets": figures.offsets_map("ﬁn", "fin", [(0, 1), (0, 1), (1, 2)], ["fi", "n"], [(0, 1), (1, 2)]),
    "offsets-long": figures.offsets_map(
        "x\x00" * 99, "x" * 99, [(n, n + 2) for n in range(99)], ["x"] * 99, [(n, n + 2) for n in range(99)]
    ),
    "offsets-empty": figures.offsets_map("", "", [], ["[CLS]"], [(0, 0)]),
    "bytes": figures.byte_map(b"".join(field.raw for field in FILE), FILE, depth=2),
    "bytes-empty": figures.byte_map(b"", []),
    "bytes-many": figures.byte_map(b"a" * 99, fields(*((f"part {n}", b"a") for n in range(99)))),
    "chapters": figures.chapter_map([("00_start", "How?"), ("00b_tools", "<What>?")], here="00_start"),
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
    assert figure.sentence.endswith((".", "?"))
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
    figure = figures.token_tape("", [0, 1], TOKENIZER.token_bytes, controls=CONTROLS)
    assert figure.sentence == "The 0 bytes become 2 tokens: BOS and EOS. Decoding gives the same 0 bytes."
    assert {"BOS", "EOS"} <= set(words(figure))


@pytest.mark.parametrize(
    ("ids", "place"),
    [([258, 179], 2), ([258], 2), ([258, 178, 34], 3), ([], 0)],
    ids=["other", "short", "long", "none"],
)
def test_ids_that_decode_to_other_bytes_are_shown_to_differ(ids: list[int], place: int) -> None:
    figure = figures.token_tape(" а", ids, TOKENIZER.token_bytes)
    assert f"the two rows of bytes first differ at byte {place}." in figure.sentence
    assert f"✗ the two rows of bytes first differ at byte {place}" in words(figure)


def test_bytes_that_are_no_text_are_said_to_be_none() -> None:
    assert "(no UTF-8 text: byte 1 does not fit)" in tape(b"a\xff").sentence
    assert words(tape(b"a\xff")).count("none") == 1


def test_text_without_a_utf8_form_is_refused_with_its_position() -> None:
    with pytest.raises(LoneSurrogateError) as caught:
        figures.token_tape("a\ud800", [], TOKENIZER.token_bytes)
    assert caught.value.position == 1


def test_the_ladder_tells_each_rule_with_its_pair_and_what_is_left() -> None:
    assert ladder("e e а".encode()).sentence == (
        "The 6 bytes 65 20 65 20 d0 b0 start as 6 pieces. Rank 0 merges 20 + d0 at 1 place: 5 pieces. "
        "Rank 7 merges 65 + 20 at 1 place: 4 pieces. "
        "The result is 265 (65 20), 103 (65), 258 (20 d0) and 178 (b0)."
    )


def test_the_ladder_can_leave_ids_out() -> None:
    figure = ladder(" а".encode(), show_ids=False)
    assert figure.sentence.endswith("The result is 20 d0 and b0.")
    assert not {"34", "210", "178", "258"} & set(words(figure))


def test_long_content_is_cut_and_the_cut_is_counted() -> None:
    content = "e e а ".encode() * 15_000
    figure = tape(content)
    assert "… 104,983 more bytes not drawn" in words(figure)
    assert "The 105,000 bytes" in figure.sentence
    assert len(figure.svg) < 100_000 and len(figure.sentence) < 700
    assert "Not drawn: 104,983 more bytes." in ladder(content[:700] * 150).sentence


def test_bars_are_as_long_as_their_values_and_carry_them() -> None:
    figure = GALLERY["bars-of-series"]
    assert figure.sentence == (
        "Tokens <per> word: 1.5 (a x), 0 (a y) and 3 (b x). The highest is b x, the lowest a y."
    )
    assert {"a x", "1.5", "0", "3"} <= set(words(figure))
    tied = figures.bars_by_group({"a": 1, "b": 1, "c": 0.5}, "Ties")
    assert tied.sentence.endswith("The highest are a and b, the lowest c.")
    left, right = zip(*re.findall(r'd="M ([\d.]+) [\d.]+ \nL ([\d.]+) ', figure.svg)[1:], strict=True)
    lengths = [float(end) - float(start) for start, end in zip(left, right, strict=True)]
    assert lengths[0] / lengths[2] == pytest.approx(0.5) and lengths[1] < 1


def test_too_many_bars_are_cut_and_counted() -> None:
    assert "… 59 more rows not drawn" in words(GALLERY["bars-many"])
    one_more = figures.bars_by_group({str(n): n for n in range(41)}, "Values")
    assert "… 1 more row not drawn" in words(one_more)
    assert "39 (group 39) and 59 more." in GALLERY["bars-many"].sentence
    assert "The highest is group 98, the lowest group 0." in GALLERY["bars-many"].sentence


def test_growth_says_what_each_merge_buys() -> None:
    sentence = figures.vocabulary_growth([0, 8, 64], [1000, 800, 688]).sentence
    assert sentence.endswith("25 (8 merges, 266 IDs) and 2 (64 merges, 322 IDs).")  # 200 / 8 and 112 / 56


def test_rounds_spread_from_the_worst_to_the_best() -> None:
    assert "-500.0 (seed) and -510.5 (EM<U+0000>)" in GALLERY["rounds"].sentence
    assert words(GALLERY["rounds"]).count("●") == 2


def test_the_lattice_counts_its_paths_and_names_the_best() -> None:
    figure = figures.lattice("abc", every_edge("abc"), ["ab", "c"])
    assert figure.sentence == (
        "The lattice of 'abc' has 6 edges and 4 paths. The best path is 'ab' (2) and 'c' (1), cost 3. "
        "The other edges: 'a' (1) at 0, 'abc' (3) at 0, 'b' (1) at 1 and 'bc' (2) at 1."
    )
    assert "✓ best path" in words(figure)
    assert sorted(word for word in words(figure) if set(word) <= set("abc")) == [
        "a",
        "a",
        "ab",
        "abc",
        "b",
        "b",
        "bc",
        "c",
        "c",
    ]


@pytest.mark.parametrize(
    ("edges", "best", "place"),
    [([(0, 1, "a", 1.0)], ["b"], 0), ([(0, 1, "a", 1.0)], ["a", "b"], 1), ([(1, 3, "bc", 1.0)], [], 1)],
    ids=["no such piece", "no such place", "outside"],
)
def test_a_path_or_an_edge_that_does_not_fit_is_refused(
    edges: list[tuple[int, int, str, float]], best: list[str], place: int
) -> None:
    with pytest.raises(TokenLabError) as caught:
        figures.lattice("ab", edges, best)
    assert caught.value.position == place


def test_the_lattice_cut_short_says_how_much_is_missing() -> None:
    missing = next(word for word in words(GALLERY["lattice-long"]) if "not drawn" in word)
    assert missing.startswith("… 15 more characters and ")
    drawn = len(re.findall(r"stroke-width: 0.75; stroke-linejoin: miter", GALLERY["lattice-long"].svg)) - 13
    assert f"and {27 * 28 // 2 - 1 - drawn} more edges" in missing


def test_stages_show_every_piece_or_count_the_rest() -> None:
    sentence = GALLERY["stages"].sentence
    assert sentence.startswith("Text: 'e<U+000A>␣␣é'. Split: 'e', ")
    assert sentence.endswith("and 89 more. None: nothing.")
    drawn = words(GALLERY["stages"])
    assert f"… {99 - drawn.count('e')} more" in drawn


def test_the_road_ends_where_it_began_or_says_that_it_does_not() -> None:
    assert GALLERY["road"].sentence == (
        "The text 'e а' (а is U+0430) is 4 bytes in UTF-8: 65 20 d0 b0. The tokenizer encodes them as "
        "3 token IDs: 103, 258 and 178. Decoding puts the bytes 65 20 d0 b0 together again: the same text."
    )
    assert "✓ the same text" in words(GALLERY["road"])
    assert "✗ other bytes than those of the text" in words(GALLERY["road-other"])


def test_offsets_name_the_original_of_each_token() -> None:
    figure = figures.offsets_map("é", "▁é", [(0, 0), (0, 1)], ["▁", "é", "</s>"], [(0, 0), (0, 1), (0, 0)])
    assert figure.sentence.endswith("3 tokens: '▁' from none, 'é' from [0:1] 'é' and '</s>' from none.")
    assert {"1 ▁", "2 é", "3 </s>", "[0:1]", "none"} <= set(words(figure))


def test_every_byte_of_a_file_is_counted_to_its_section() -> None:
    assert GALLERY["bytes"].sentence == (
        "The file has 5,008 bytes in 3 sections: A, Header, 6 bytes from 0; B, Model, 5,000 bytes from 6; "
        "C, Model / BPE, 2 bytes from 5,006. Every byte belongs to a section."
    )
    assert {"34 33 30 20 34 0a", "430·4·", "… 4,952 more bytes", "3c ff"} <= set(words(GALLERY["bytes"]))
    assert figures.byte_map(b"430 4\nxy", FILE[:1]).sentence.endswith("2 bytes in no section.")
    assert "… 73 more sections not drawn" in words(GALLERY["bytes-many"])


def test_the_chapter_map_marks_where_the_reader_is() -> None:
    assert GALLERY["chapters"].sentence == "2 notebooks. 00_start (you are here): How? 00b_tools: <What>?"
    assert "► you are here: How?" in words(GALLERY["chapters"])


def test_all_text_stands_out_from_every_ground_even_in_grey() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    used = set(re.findall(r"fill: (#\w{6})", "".join(figure.svg for figure in GALLERY.values())))
    letters = {palette.INK, palette.MUTED}
    assert letters < used
    for ground in used - letters:
        for letter in letters:
            assert (luminance(ground) + 0.05) / (luminance(letter) + 0.05) >= 4.5


def test_spans_in_one_lane_do_not_overlap() -> None:
    spans = [(0, 4), (1, 2), (2, 6), (4, 5), (5, 7)]
    chosen = lanes(spans)
    for place, (start, _) in enumerate(spans):
        before = [end for lane, (_, end) in zip(chosen[:place], spans, strict=False) if lane == chosen[place]]
        assert all(end <= start for end in before)
    assert max(chosen) == 1


def test_spaces_that_html_would_swallow_are_shown() -> None:
    assert quotes("a  b c") == "'a␣␣b c'"


@given(st.binary(max_size=24))
@settings(max_examples=12, deadline=None)
def test_any_bytes_can_be_drawn(content: bytes) -> None:
    for figure in (tape(content), ladder(content)):
        ElementTree.fromstring(figure.svg)


def test_two_processes_with_other_hash_seeds_and_backends_draw_the_same_bytes() -> None:
    program = (
        "import hashlib, sys; from tokenlab import figures;"
        "made = [figures.token_tape('<а>', [62, 210, 178, 64], lambda n: bytes([n - 2])),"
        " figures.bars_by_group({'a': {'x': 1, 'y': 2}, 'b': {'x': 3}}, 'what'),"
        " figures.lattice('ab', [(0, 2, 'ab', 1.0), (0, 1, 'a', 1.0), (1, 2, 'b', 1.0)], ['ab'])];"
        "assert 'matplotlib.pyplot' not in sys.modules;"
        "print(hashlib.sha256(''.join(f.svg + f.sentence for f in made).encode()).hexdigest())"
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
    assert quoted("Tԁ") == "'Tԁ' (ԁ is U+0501)"


def test_text_is_made_smaller_before_it_is_cut() -> None:
    assert fit("abc", 15, 100) == ("abc", 15)
    text, size = fit("abcdef", 15, 40)
    assert text == "abcdef" and 9 <= size < 15
    assert fit("abcdefghij", 15, 40) == ("abcdef…", 9.0)


def test_lists_are_read_out_with_and_and_cut_with_a_count() -> None:
    lengths = [listed(list("abcd"[:n]), limit=3) for n in range(5)]
    assert lengths == ["", "a", "a and b", "a, b and c", "a, b, c and 1 more"]


def test_without_matplotlib_the_sentence_stands_alone(monkeypatch) -> None:
    for name in ("matplotlib", "matplotlib.style", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    figure = render([Box(10, 10, 40, 30, "20")], "One byte, <20>.")
    assert (figure.svg, figure.sentence) == ("", "One byte, <20>.")
    assert "<img" not in figure._repr_html_()
    assert "<figcaption>One byte, &lt;20&gt;.</figcaption>" in figure._repr_html_()
    assert "matplotlib is not installed" in figure._repr_html_()
