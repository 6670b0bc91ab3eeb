"""Every notebook can be heard as well as seen: what its pictures, tables, headings and colours keep.

After the Web Content Accessibility Guidelines (WCAG 2.2, level AA). Contrast as a browser draws it, in light
and dark, is measured in `test_browser.py`.
"""

import base64
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise, product

import pytest

from tokenlab.course.feedback import _COLOURS
from tokenlab.course.workbook import NOTEBOOKS
from tokenlab.figures.drawing import Box, render
from tokenlab.figures.palette import BLUE, ORANGE

PATHS = [pytest.param(path, id=path.stem) for path in sorted(NOTEBOOKS.glob("*.ipynb"))]
SVG = "{http://www.w3.org/2000/svg}"
TEXT_CONTRAST, SHAPE_CONTRAST = 4.5, 3.0  # criteria 1.4.3 and 1.4.11
POINTS_BY_COLOUR = re.compile(
    r"\b(?:in|the|an?|each|every|all|these|those|light|dark)\s+(?:red|green|blue|orange|yellow|gr[ea]y|purple|pink)\b"
    r"|\bcolou?r\w*",
    re.IGNORECASE,
)


def cells(path):
    return json.loads(path.read_text("utf-8"))["cells"]


def outputs(path):
    """(cell, plain text, HTML as a tree) of each output that has HTML."""
    for cell in cells(path):
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "text/html" in data:
                closed = re.sub(r"<img ([^<>]*)>", r"<img \1/>", "".join(data["text/html"]))
                tree = ElementTree.fromstring(f"<div>{closed}</div>")
                yield cell["id"], "".join(data.get("text/plain", ())), tree


def pictures(path):
    """(cell, SVG as a tree) of each figure."""
    for cell, _, tree in outputs(path):
        for image in tree.iter("img"):
            kind, _, data = image.get("src").partition(",")
            assert kind == "data:image/svg+xml;base64"
            yield cell, ElementTree.fromstring(base64.b64decode(data))


def style_of(element):
    pairs = (part.partition(":")[::2] for part in element.get("style", "").split(";") if part.strip())
    return {name.strip(): value.strip() for name, value in pairs}


def luminance(colour):
    """Relative luminance of #rrggbb, as WCAG defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, bright = sorted(map(luminance, (one, other)))
    return (bright + 0.05) / (dark + 0.05)


def test_contrast_is_computed_as_the_guidelines_do():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # a grey known to fall just short
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("path", PATHS)
def test_a_picture_is_said_in_one_sentence_as_alternative_caption_and_plain_text(path):
    for cell, plain, tree in outputs(path):
        for figure in tree.iter("figure"):
            image, caption = figure
            assert image.tag == "img", cell
            assert len(image.get("alt", "").split()) > 4, cell
            assert image.get("alt") == caption.text == plain, cell
        assert len(list(tree.iter("img"))) == len(list(tree.iter("figure"))), cell
    assert [cell["id"] for cell in cells(path) if "![" in "".join(cell["source"])] == []


@pytest.mark.parametrize("path", PATHS)
def test_a_table_has_a_caption_and_header_cells_that_name_their_scope(path):
    for cell, plain, tree in outputs(path):
        for table in tree.iter("table"):
            caption, head, body = table
            assert (caption.tag, head.tag, body.tag) == ("caption", "thead", "tbody"), cell
            assert caption.text.strip(), cell
            assert [(name.tag, name.get("scope")) for name in head.find("tr")] == [("th", "col")] * len(
                head.find("tr")
            ), cell
            assert all((row[0].tag, row[0].get("scope")) == ("th", "row") for row in body), cell
            assert plain.startswith(caption.text), cell


@pytest.mark.parametrize("path", PATHS)
def test_an_output_sets_no_colour_of_text_that_a_theme_could_swallow(path):
    for cell, _, tree in outputs(path):
        for element in tree.iter():
            style = style_of(element)
            colour, ground = style.get("color"), style.get("background-color", style.get("background"))
            if colour or ground:
                assert colour, (cell, style)
                assert ground, (cell, style)
                assert contrast(colour, ground) >= TEXT_CONTRAST, (cell, style)


@pytest.mark.parametrize("path", PATHS)
def test_the_text_of_a_picture_stands_out_from_every_ground_in_it(path):
    for cell, picture in pictures(path):
        texts = {style_of(text)["fill"] for text in picture.iter(f"{SVG}text")}
        grounds = {box.ground for box in boxes(picture) if box.ground}
        assert texts, cell
        assert grounds, cell
        worst = min(contrast(*pair) for pair in product(texts, grounds))
        assert worst >= TEXT_CONTRAST, (cell, worst)


class Rectangle:
    """A box of a picture: its grounds, whatever else sets it off, and whether text stands in it."""

    def __init__(self, path, patterns, texts):
        style = style_of(path)
        numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", path.get("d"))]
        left, right = min(numbers[::2]), max(numbers[::2])
        top, bottom = min(numbers[1::2]), max(numbers[1::2])
        fill = style.get("fill", "#000000")
        colour, hatch = patterns.get(fill, (fill, ""))
        self.ground = None if fill == "none" else colour
        self.marks = (style.get("stroke-width"), style.get("stroke-dasharray"), hatch)
        self.has_text = any(left <= x <= right and top <= y <= bottom for x, y in texts)


def boxes(picture):
    patterns = {
        f"url(#{one.get('id')})": (one.find(f"{SVG}rect").get("fill"), one.find(f"{SVG}path").get("d"))
        for one in picture.iter(f"{SVG}pattern")
    }
    texts = [(float(one.get("x")), float(one.get("y"))) for one in picture.iter(f"{SVG}text")]
    groups = [g for g in picture.iter(f"{SVG}g") if g.get("id", "").startswith("patch_")]
    paths = [path for group in groups for path in group.iter(f"{SVG}path")]
    corners = [re.sub(r"[^A-Za-z]", "", path.get("d")).upper() for path in paths]
    return [
        Rectangle(path, patterns, texts)
        for path, drawn in zip(paths, corners, strict=True)
        if drawn == "MLLLZ" and "stroke" in style_of(path)
    ]


def by_colour_alone(drawn):
    """Marks (border, hatch) that empty boxes of different grounds share."""
    seen = {(box.marks, box.ground) for box in drawn if box.ground and not box.has_text}
    marks = [marks for marks, _ in seen]
    return [one for one in set(marks) if marks.count(one) > 1]


def test_boxes_that_differ_by_colour_alone_are_found():
    left, right = Box(0, 0, 40, 40, fill=BLUE), Box(50, 0, 40, 40, fill=ORANGE)
    for second in (right, replace(right, border=3), replace(right, hatch="//"), replace(right, text="a")):
        picture = ElementTree.fromstring(render([left, second], "Two boxes.").svg)
        assert len(boxes(picture)) == 2
        assert bool(by_colour_alone(boxes(picture))) is (second is right)


@pytest.mark.parametrize("path", PATHS)
def test_no_two_boxes_of_a_picture_differ_by_colour_alone(path):
    for cell, picture in pictures(path):
        assert by_colour_alone(boxes(picture)) == [], cell


@pytest.mark.parametrize("path", PATHS)
def test_no_sentence_needs_a_colour_to_be_seen(path):
    for cell in cells(path):
        if cell["cell_type"] == "markdown":
            prose = re.sub(r"`[^`]*`", "", "".join(cell["source"]))
            assert POINTS_BY_COLOUR.findall(prose) == [], cell["id"]
    for cell, _, tree in outputs(path):
        for image in tree.iter("img"):
            assert POINTS_BY_COLOUR.findall(image.get("alt")) == [], cell


@pytest.mark.parametrize("path", PATHS)
def test_headings_are_in_order_and_said_once(path):
    prose = "\n".join(
        re.sub(r"(?s)```.*?```", "", "".join(c["source"]))
        for c in cells(path)
        if c["cell_type"] == "markdown"
    )
    levels = [len(marks) for marks in re.findall(r"(?m)^(#{1,6}) \S", prose)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


@pytest.mark.parametrize("path", PATHS)
def test_prose_holds_no_tag_that_a_browser_would_swallow(path):
    for cell in cells(path):
        if cell["cell_type"] == "markdown":
            prose = re.sub(r"(?s)```.*?```|`[^`]*`", "", "".join(cell["source"]))
            assert re.findall(r"</?[A-Za-z][^>]*>", prose) == [], cell["id"]


@pytest.mark.parametrize("path", PATHS)
def test_a_link_says_where_it_leads(path):
    for cell in cells(path):
        if cell["cell_type"] == "markdown":
            links = re.findall(r"(?<!!)\[([^]]*)\]\(", "".join(cell["source"]))
            assert [link for link in links if link.strip().lower() in ("", "here", "link", "this")] == [], (
                cell["id"]
            )


@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_the_border_of_feedback_is_seen_on_light_and_dark(ground):
    assert all(contrast(colour, ground) >= SHAPE_CONTRAST for colour in _COLOURS.values())
