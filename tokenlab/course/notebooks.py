"""Run the course's notebooks again, and keep in them only what does not change from one machine to
another."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tokenlab.course.workbook import ASKS, VARIABLE

_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def execute(notebook: Any) -> Any:
    """Run all cells of a notebook in a fresh kernel, in place; return the notebook, normalised.

    RuntimeError, with the cell's ID and the last line of its error, where a cell raises.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    left_out = {VARIABLE, "MPLBACKEND", "PYTHONWARNINGS"}
    env = {key: os.environ[key] for key in os.environ.keys() - left_out}
    env |= {"PYTHONHASHSEED": "0", "PYDEVD_DISABLE_FILE_VALIDATION": "1", "TOKENIZERS_PARALLELISM": "false"}
    settings: Any = {
        "timeout": 120,
        "kernel_name": "python3",
        "record_timing": False,
        "coalesce_streams": True,
    }
    with tempfile.TemporaryDirectory() as home:
        env["IPYTHONDIR"] = home
        try:
            NotebookClient(notebook, **settings).execute(env=env, cwd=home, stderr=subprocess.DEVNULL)
        except CellExecutionError as error:
            failed = (c for c in notebook.cells for o in c.get("outputs", ()) if o.output_type == "error")
            raise RuntimeError(f"cell {next(failed).id}: {error.ename}: {error.evalue}") from error
    return normalise(notebook)


def for_nbgrader(source: str) -> dict[str, Any]:
    """Return the metadata (nbgrader's schema 3) of a cell that asks something; nothing for other cells.

    It is a cell to be answered and to be graded: nbgrader leaves in it what the learner wrote.
    """
    asked = ASKS.search(source)
    if not asked:
        return {}
    marks = {"grade": True, "grade_id": asked[1].partition("@")[0], "locked": False, "points": 1}
    return {"nbgrader": marks | {"schema_version": 3, "solution": True, "task": False}}


def normalise(notebook: Any) -> Any:
    """Drop what depends on the machine, the moment or the editor: kernel details, timings, display
    metadata; and mark the cells that ask something for nbgrader."""
    notebook.metadata = type(notebook)({"kernelspec": _KERNEL, "language_info": {"name": "python"}})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        kept = {key: cell.metadata[key] for key in cell.metadata if key == "tags"}
        marks = for_nbgrader(cell.source) if cell.cell_type == "code" else {}
        cell.metadata = type(notebook)(marks | kept)
        for output in cell.get("outputs", ()):
            if "metadata" in output:
                output.metadata = type(notebook)()
    return notebook


def to_text(notebook: Any) -> str:
    import nbformat

    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"  # type: ignore[no-untyped-call]


def rerun(paths: Iterable[Path], *, write: bool = True) -> Iterator[tuple[Path, str]]:
    """Execute notebooks; yield each one's path and what has changed ("" where nothing has), and write it
    unless told not to.

    The bytes of pictures are not compared, since they follow the drawing library's version.
    """
    import nbformat

    for path in paths:
        before = path.read_text("utf-8")
        notebook = execute(nbformat.reads(before, as_version=4))  # type: ignore[no-untyped-call]
        after = to_text(notebook)
        if write and after != before:
            path.write_text(after, "utf-8", newline="\n")
        yield path, _difference(_without_pictures(before), _without_pictures(after))


def _without_pictures(text: str) -> str:
    return re.sub(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+", "data:image/svg+xml", text)


def _difference(before: str, after: str) -> str:
    if before == after:
        return ""
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    changed = ((n, new) for n, (old, new) in enumerate(pairs, 1) if old != new)
    line, new = next(changed, (min(before.count("\n"), after.count("\n")) + 1, "(its end)"))
    return f"line {line}: {new.strip()[:120]}"
