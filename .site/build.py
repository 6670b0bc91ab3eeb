"""Build the course as web pages: `build.py SITE` (from the notebooks as they are committed)."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lite
import pages

from tokenlab.course import contents
from tokenlab.course.model import chapters

HERE = Path(__file__).resolve().parent
NOTEBOOKS = HERE.parent / "notebooks"
INDEX = """# How tokenizers really work

These pages are for reading. Predictions are checked in the notebooks themselves.
{lite}
## Chapters

{table}

```{{toctree}}
:hidden:

{order}
```
"""
LITE = """
You can also <a href="lite/lab/index.html?path=00_start_here.ipynb">run the course in this browser</a>, with
nothing to install: a notebook is ready after up to a minute, and what you write stays in this browser.
A picture is replaced by its description there until you run `import matplotlib` in a notebook, and some
chapters need `import regex` or the like; such an import needs a network, all else does not.
"""


def index(runs_in_browser: bool) -> str:
    """The first page: the table of the chapters, and the order in which one reads them."""
    table = contents.to_markdown().replace("](notebooks/", "](")
    order = "\n".join(chapter.notebook for chapter in chapters())
    return INDEX.format(table=table, order=order, lite=LITE if runs_in_browser else "")


def prepare(source: Path, runs_in_browser: bool) -> None:
    """Copy the notebooks; a link to a cell becomes a link to its page, since pages know no cells."""
    for path in NOTEBOOKS.glob("*.ipynb"):
        text = re.sub(r"(\]\(\w+\.ipynb)#[\w=-]+\)", r"\1)", path.read_text("utf-8"))
        (source / path.name).write_text(text, "utf-8")
    (source / "index.md").write_text(index(runs_in_browser), "utf-8")


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    npm = shutil.which("npm")
    with tempfile.TemporaryDirectory() as name:
        source, built = Path(name, "source"), Path(name, "built", "site")  # MyST-NB writes beside its site
        source.mkdir()
        prepare(source, bool(npm))
        words = ["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE)]
        code = subprocess.call(
            [sys.executable, *words, "-d", str(Path(name, "doctrees")), str(source), str(built)]
        )
        if code:
            sys.exit(code)
        for page in built.glob("*.html"):
            page.write_text(pages.finish(page.read_text("utf-8")), "utf-8")
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(built, site)
    if npm:
        lite.build(npm, site / "lite")
    else:
        print("site/lite, the course that runs in a browser, is left out: that needs npm")
    print(site / "index.html")


if __name__ == "__main__":
    main()
