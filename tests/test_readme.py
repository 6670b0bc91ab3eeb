"""The README: what is generated is up to date, commands and example are right, links lead somewhere."""

import doctest
import re
from pathlib import Path

import pytest

from tokenlab.course import contents
from tokenlab.files import write_between_markers

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text("utf-8")


def test_the_chapter_table_is_up_to_date(tmp_path):
    copy = tmp_path / "README.md"
    copy.write_text(TEXT, "utf-8")
    contents.write(copy)
    assert copy.read_text("utf-8") == TEXT, "run: python -m tokenlab course chapters --write README.md"


def test_it_marks_the_command_of_the_course_and_the_command_of_the_tests():
    blocks = re.findall(r"<!-- command -->\n\n {4}(.*)\n\n<!-- /command -->", TEXT)
    assert blocks == ["python3 run.py lab", "python3 run.py test"]


def test_every_link_to_a_file_leads_to_one():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_every_picture_is_said_in_words_and_used():
    pictures = re.findall(r"!\[([^]]*)\]", TEXT)
    assert pictures
    assert all(len(words.split()) > 10 for words in pictures)
    assert [p.name for p in (ROOT / ".github").glob("*.png") if f".github/{p.name}" not in TEXT] == []


def test_the_example_gives_what_it_says():
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert (failed, tried > 0) == (0, True)


@pytest.mark.parametrize("text", ["", "<!-- part -->", "<!-- /part --><!-- part -->"])
def test_a_file_without_its_markers_is_left_alone(tmp_path, text):
    file = tmp_path / "file.md"
    file.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"file\.md: expected <!-- part -->"):
        write_between_markers(file, "part", "new")
    assert file.read_text("utf-8") == text
