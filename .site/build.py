"""Build the course as web pages: `build.py SITE` (from the notebooks as they are committed)."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tokenlab.course import contents
from tokenlab.course.model import chapters

HERE = Path(__file__).resolve().parent
NOTEBOOKS = HERE.parent / "notebooks"


def index() -> str:
    """The first page: the table of the chapters, and the order in which one reads them."""
    table = contents.to_markdown().replace("](notebooks/", "](")
    order = "\n".join(chapter.notebook for chapter in chapters())
    about = "These pages are for reading. Predictions are checked in the notebooks themselves."
    return f"# How tokenizers really work\n\n{about}\n\n{table}\n\n```{{toctree}}\n:hidden:\n\n{order}\n```\n"


def prepare(source: Path) -> None:
    """Copy the notebooks; a link to a cell becomes a link to its page, since pages know no cells."""
    for path in NOTEBOOKS.glob("*.ipynb"):
        text = re.sub(r"(\]\(\w+\.ipynb)#[\w=-]+\)", r"\1)", path.read_text("utf-8"))
        (source / path.name).write_text(text, "utf-8")
    (source / "index.md").write_text(index(), "utf-8")


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        source, built = Path(name, "source"), Path(name, "built", "site")  # MyST-NB writes beside its site
        source.mkdir()
        prepare(source)
        words = ["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE)]
        code = subprocess.call(
            [sys.executable, *words, "-d", str(Path(name, "doctrees")), str(source), str(built)]
        )
        if code:
            sys.exit(code)
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(built, site)
    print(site / "index.html")


if __name__ == "__main__":
    main()
