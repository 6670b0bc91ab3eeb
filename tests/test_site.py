"""The course as web pages, and run by a browser alone: complete, offline, and spoken as well as seen."""

import functools
import http.server
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from lab import TOO_FAINT, Notebook, asked, browser, complaints, spelled

from tokenlab import load_corpus
from tokenlab.course.model import find

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / ".site"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ENTRY = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)
HEADING = re.compile("^h[1-6]$")
SPOKEN = {  # how Unicode's names of letters begin -> the languages that may hold them here
    "CYRILLIC": {"ru"},
    "ARABIC": {"ar"},
    "DEVANAGARI": {"hi"},
    "HANGUL": {"ko"},
    "CJK": {"zh", "ja"},
    "HIRAGANA": {"ja"},
    "KATAKANA": {"ja"},
    "LATIN": {"en", "tr"},
}


def need(condition, reason):
    """Skip, unless this machine is bound to test the site: then a skip is a failure."""
    if not condition:
        if os.environ.get("TOKENLAB_REQUIRE_SITE"):
            pytest.fail(f"the site is required here: {reason}")
        pytest.skip(f"{reason}: `run.py site` installs it")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    for module in ("sphinx", "myst_nb", "furo", "jupyterlite_core", "jupyterlite_pyodide_kernel"):
        need(importlib.util.find_spec(module), f"{module} is not installed")
    folder = tmp_path_factory.mktemp("web")
    words = [sys.executable, SITE / "build.py", folder / "site"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(folder.iterdir()) == [folder / "site"]
    return folder / "site"


@pytest.fixture(scope="module")
def parsed(site):
    """Page -> its elements."""
    from bs4 import BeautifulSoup

    return {path.stem: BeautifulSoup(path.read_text("utf-8"), "html.parser") for path in site.glob("*.html")}


@pytest.fixture(scope="module")
def pages():
    """The module that finishes a page."""
    need(importlib.util.find_spec("bs4"), "bs4 is not installed")
    spec = importlib.util.spec_from_file_location("pages", SITE / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def address(site):
    """The address at which a server of plain files gives the site."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    handler.func.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def page(site):
    """A page of a browser that reaches this machine alone."""
    with browser(options=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]) as page:
        yield page


def locked(path):
    """Package -> its versions (one for each range of Python) in a lock."""
    found = {}
    for name, version in ENTRY.findall(path.read_text("utf-8")):
        found.setdefault(name, set()).add(version)
    return found


def test_its_lock_is_hashed_and_changes_no_package_of_the_course():
    text = (SITE / "requirements.txt").read_text("utf-8")
    assert all("--hash=sha256:" in entry for entry in text.replace("\\\n", " ").splitlines())
    assert "://" not in text
    site, course = locked(SITE / "requirements.txt"), locked(ROOT / "requirements.txt")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert set(project["dependency-groups"]["site"]) <= site.keys()
    assert {name: site[name] for name in site.keys() & course.keys() if not site[name] <= course[name]} == {}


def test_every_chapter_is_there_with_its_pictures_and_tables(site):
    for notebook in NOTEBOOKS:
        page = (site / f"{notebook.stem}.html").read_text("utf-8")
        sent = notebook.read_text("utf-8")
        assert page.count("<figure><img alt=") == sent.count("<figure><img alt="), notebook.stem
        assert page.count("<caption") >= sent.count("<caption"), notebook.stem
        assert f'href="{notebook.stem}.html"' in (site / "index.html").read_text("utf-8")


def test_it_leaves_jupyterlab_as_it_was(site):
    assert not Path(sys.prefix, "share", "jupyter", "labextensions", "@jupyterlite").exists()


def test_every_picture_is_said_in_words(parsed):
    assert [
        name for name, page in parsed.items() for image in page.find_all("img") if not image.get("alt")
    ] == []


def test_headings_are_in_order(parsed):
    for name in ["index", *(notebook.stem for notebook in NOTEBOOKS)]:
        levels = [int(heading.name[1]) for heading in parsed[name].find_all(HEADING)]
        assert levels[0] == 1, name
        assert levels.count(1) == 1, name
        assert all(below <= above + 1 for above, below in pairwise(levels)), name


def test_every_table_has_a_caption_and_header_cells_that_name_their_scope(parsed):
    tables = [(name, table) for name, page in parsed.items() for table in page.find_all("table")]
    assert len(tables) > len(NOTEBOOKS)
    for name, table in tables:
        assert table.caption.get_text(strip=True), name
        assert table.find_all("th"), name
        assert all(header.get("scope") in ("col", "row") for header in table.find_all("th")), name


def script(letter):
    return unicodedata.name(letter, "?").split()[0].split("-")[0]


def spoken(page):
    """(language, text) of each string that is read aloud."""
    for string in page.find_all(string=True):
        read = type(string).__name__ == "NavigableString"  # no comment, script or style
        if read and string.strip() and "title" not in [parent.name for parent in string.parents]:
            yield next(parent["lang"] for parent in string.parents if parent.get("lang")), str(string)


def test_every_word_of_a_foreign_script_has_its_language(parsed):
    seen = set()
    for name, page in parsed.items():
        for language, text in spoken(page):
            wrong = {letter for letter in text if language not in SPOKEN.get(script(letter), {language})}
            assert not wrong, (name, language, text)
            seen.add(language)
    assert {"en", "ru", "zh", "ja"} <= seen


@pytest.mark.parametrize("language", ["ru", "zh-Hans", "ja", "ar", "hi", "ko", "tr"])
def test_a_passage_of_the_corpus_is_said_in_its_own_language(pages, language):
    (document,) = (one for one in load_corpus("multilingual").by_language(language) if "parallel" in one.id)
    runs = list(pages.foreign_runs(document.text))
    assert {found for _, _, found in runs} == {language.partition("-")[0]}
    covered = {place for start, end, _ in runs for place in range(start, end)}
    left = [sign for place, sign in enumerate(document.text) if place not in covered and sign.isalpha()]
    assert left == []


def test_a_run_is_marked_where_it_stands(pages):
    marks = {
        "<p>Say кот, он here.</p>": '<p>Say <span lang="ru">кот, он</span> here.</p>',
        "<td>кот.</td>": '<td lang="ru">кот.</td>',
        "<p>مرحبا بالعالم.</p>": '<p dir="rtl" lang="ar">مرحبا بالعالم.</p>',
        "<p>a مرحبا</p>": '<p>a <span lang="ar">مرحبا</span></p>',
        "<p>海は</p><p>海</p><p>山</p>": '<p lang="ja">海は</p><p lang="ja">海</p><p lang="zh">山</p>',
        "<script>'кот'</script><title>кот</title>": "<script>'кот'</script><title>кот</title>",
        "<p>Bir at on a bed &amp; no</p>": "<p>Bir at on a bed &amp; no</p>",
    }
    assert {text: pages.finish(text) for text in marks} == marks


def test_a_table_of_the_prose_gets_a_caption(pages):
    text = "<h2>Pages<a>¶</a></h2><table><thead><tr><th>a</th></tr></thead></table>"
    assert '<table><caption>Pages</caption><thead><tr><th scope="col">a</th>' in pages.finish(text)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_stands_out(page, address, theme):
    for name in ["index", *(notebook.stem for notebook in NOTEBOOKS)]:
        page.goto(f"{address}/{name}.html")
        page.evaluate("theme => { document.body.dataset.theme = theme; }", theme)
        assert page.evaluate(f"() => ({TOO_FAINT})([document.body], 4.5)") == [], name


@pytest.fixture(scope="module")
def lite(page, address):
    """JupyterLab, run by the browser; and every address that was asked for."""
    need(shutil.which("npm"), "npm is not installed")
    asked_for = []
    page.context.on("request", lambda request: asked_for.append(request.url))
    page.goto(f"{address}/lite/lab/index.html")
    page.wait_for_function("() => window.jupyterapp", timeout=90_000)
    page.evaluate("() => window.jupyterapp.restored")
    return asked_for


def test_chapter_03_runs_in_a_browser_offline(page, address, lite):
    question = find("03-e-e-a")
    notebook = Notebook(page, "03_rank_ordered_encoding.ipynb")
    notebook.run_all()
    assert list(complaints(notebook.cells())) == []
    assert notebook.output("three-agree").endswith("all three agree: True\n")
    (ladder,) = (cell["outputs"] for cell in notebook.cells() if cell["id"] == "ladder")
    assert "(no picture: matplotlib is not installed)" in "".join(ladder[0]["data"]["text/html"])
    notebook.type_into("predict-e-e-a", asked(question, spelled(question, question.right)))
    assert notebook.output("predict-e-e-a").startswith("Right.")
    notebook.close()
    own = (address, "data:", "blob:")
    assert [url for url in lite if not url.startswith(own)] == []
    assert any(url.endswith("/pyodide.asm.wasm") for url in lite)


@pytest.mark.parametrize("name", ["00_start_here", "04_document_layout"])
def test_a_chapter_that_needs_the_standard_library_alone_runs_there(page, lite, name):
    notebook = Notebook(page, f"{name}.ipynb")
    notebook.run_all()
    assert list(complaints(notebook.cells())) == []
    notebook.close()
