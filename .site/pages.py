"""Finish a built page for those who hear it: the language of foreign words, captions, header cells."""

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, NavigableString
from bs4.element import Comment, Doctype, Tag

from tokenlab import load_corpus

KANA = re.compile("[\u3040-\u30ff]")
SCRIPTS = {  # language -> the letters by which it is known here
    "ru": "\u0400-\u052f",
    "ar": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc",
    "hi": "\u0900-\u097f",
    "ko": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3",
    "zh": "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff",  # and ja, told apart below
}
BETWEEN = r"""[^\w\n"'`(){}\[\]<>|=]{1,3}"""  # what may stand between the words of one run
BLOCKS = {"p", "li", "dd", "td", "th", "div", "caption", "figcaption", "blockquote", "pre"}
UNSPOKEN = {"script", "style", "title", "svg"}


def runs_of(word: str) -> str:
    """A pattern for words of one language with what stands between them."""
    return f"(?:{word})(?:{BETWEEN}(?:{word}))*"


def turkish_word() -> str:
    """A pattern for the words of the Turkish texts: their script is that of English."""
    texts = load_corpus("multilingual").by_language("tr").texts
    words = {word for text in texts for word in re.findall(r"[^\W\d_]+", text)}
    return rf"\b(?:{'|'.join(sorted(words, key=len, reverse=True))})\b"


FOREIGN = re.compile(
    "|".join(f"(?P<{language}>{runs_of(f'[{letters}]+')})" for language, letters in SCRIPTS.items())
    + f"|(?P<tr>{runs_of(turkish_word())})"
)


def foreign_runs(text: str, japanese: str = "") -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, language) of each run of foreign words.

    A run in Chinese characters alone is Japanese where it is a part of `japanese`; a run of words that the
    Turkish texts share with English is Turkish only if a letter beyond ASCII is in it.
    """
    for found in FOREIGN.finditer(text):
        language = str(found.lastgroup)
        if language == "tr" and found[0].isascii():
            continue
        if language == "zh" and (KANA.search(found[0]) or found[0] in japanese):
            language = "ja"
        yield found.start(), found.end(), language


def mark_languages(page: BeautifulSoup) -> None:
    """Name the language of each foreign run, on its element if it is all that this one says."""
    strings = [
        string
        for string in page.find_all(string=True)
        if not isinstance(string, Comment | Doctype) and UNSPOKEN.isdisjoint(p.name for p in string.parents)
    ]
    japanese = "\n".join(
        string[start:end]
        for string in strings
        for start, end, language in foreign_runs(string)
        if language == "ja"
    )
    for string in strings:
        runs = list(foreign_runs(string, japanese))
        if not runs:
            continue
        parent, ((start, end, language), *more) = string.parent, runs
        rest = string[:start] + string[end:]
        if not more and len(parent.contents) == 1 and not any(map(str.isalnum, rest)):
            parent["lang"] = language
            if language == "ar" and parent.name in BLOCKS:
                parent["dir"] = "rtl"
            continue
        parts: list[NavigableString | Tag] = []
        done = 0
        for start, end, language in runs:
            span = page.new_tag("span", lang=language)
            span.string = string[start:end]
            parts += [NavigableString(string[done:start]), span]
            done = end
        string.replace_with(*parts, NavigableString(string[done:]))


def complete_tables(page: BeautifulSoup) -> None:
    """Give a table of the prose what the course's own have: a caption, and the scope of its header cells."""
    for table in page.find_all("table"):
        if table.caption is None:
            caption = page.new_tag("caption")
            caption.string = next(table.find_previous(re.compile("^h[1-6]$")).stripped_strings)
            table.insert(0, caption)
        for header in table.find_all("th", scope=None):
            header["scope"] = "col" if header.find_parent("thead") else "row"


def finish(text: str) -> str:
    """Return an HTML page with these marks in it."""
    page = BeautifulSoup(text, "html.parser")
    complete_tables(page)
    mark_languages(page)
    return str(page)
