"""The pictures of the README, taken in JupyterLab: `python -m tests.screenshots` (writes into `.github/`)."""

import tempfile
from pathlib import Path

from tests.lab import Notebook, browser, command, enter, open_copy, serving
from tokenlab.course.model import find
from tokenlab.course.reading import KINDS

FOLDER = Path(__file__).resolve().parents[1] / ".github"

# Picture, notebook, and the cells that it shows, from the first one's top to the last one's bottom.
FIGURES = (
    ("merge-ladder", "03_rank_ordered_encoding.ipynb", "ladder-intro", "ladder"),
    ("lattice", "05_unigram_viterbi.ipynb", "figure-to-remember", "figure-to-remember"),
    ("file-map", "07_mtok_format.ipynb", "byte-map", "byte-map"),
)


def wrong_prediction(notebook: Notebook) -> None:
    """Answer as one who merges whatever stands leftmost."""
    question = find("03-e-a")
    wrong = KINDS[question.kind].spell(question.answer_of(question.misconceptions[1].run))
    notebook.type_into("predict-e-a", f'prediction = {wrong}\ncheck("03-e-a", prediction)')


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        with browser(1100, 1500) as page, serving(open_copy(home), home) as (address, token):
            enter(page, address, token)
            command(page, "application:toggle-left-area")
            for picture, path, first, last in FIGURES:
                notebook = Notebook(page, path)
                notebook.run_all()
                notebook.photograph(FOLDER / f"{picture}.png", first, last)
                if picture == "merge-ladder":
                    wrong_prediction(notebook)
                    notebook.photograph(FOLDER / "wrong-prediction.png", "ask-e-a", "predict-e-a")
                notebook.close()


if __name__ == "__main__":
    main()
