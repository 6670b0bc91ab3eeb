"""The learner's own copies of the notebooks, and the journal of the answers given in them.

A copy is never overwritten. The journal is kept only where the environment variable TOKENLAB_WORKBOOK names
the folder of the copies; elsewhere nothing is written and nothing is said.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenlab.files import write_whole

if TYPE_CHECKING:
    from tokenlab.course.feedback import Message

VARIABLE = "TOKENLAB_WORKBOOK"
JOURNAL = "journal.jsonl"
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
ASKS = re.compile(r"""\bcheck(?:_function)?\(\s*["']([^"']+)["']""")


def select(names: Iterable[str], folder: Path = NOTEBOOKS) -> list[Path]:
    """Return the notebooks with these chapter numbers or names, all of them where none is given.

    LookupError where a name fits none.
    """
    every = sorted(folder.glob("*.ipynb"))
    chosen = []
    for name in names:
        fitting = [path for path in every if Path(name).name in (path.name, path.stem, _number(path))]
        if not fitting:
            there = ", ".join(map(_number, every))
            raise LookupError(f"no chapter {name!r} in {folder.name}/ (there: {there})")
        chosen += fitting
    return chosen or every


def prepare(target: Path, fresh: Collection[str] = (), source: Path = NOTEBOOKS) -> Iterator[str]:
    """Copy the notebooks that `target` has not yet, and yield what the learner should know, line by line.

    `fresh` names chapters ("03") or notebooks to renew; the old copy is kept beside, under a dated name.
    LookupError where there is no such chapter.
    """
    renewed = select(fresh, source) if fresh else []
    target.mkdir(parents=True, exist_ok=True)
    record = target / ".copied.json"
    copied = _read_record(record)
    for notebook in select([], source):
        copy, version = target / notebook.name, _version(notebook)
        if copy.exists() and notebook in renewed:
            old = _dated(copy)
            copy.rename(old)
            yield f"{copy.name}: renewed; your old copy is {old.name}"
        if not copy.exists():
            shutil.copyfile(notebook, copy)
            copied[copy.name] = version
        elif copied.get(copy.name, version) != version != _version(copy):
            renew = f"renew it with --fresh {_number(notebook)}"
            yield f"{copy.name}: has changed in the course since you copied it ({renew})"
    write_whole(record, json.dumps(copied, indent=1, sort_keys=True).encode())


def _read_record(record: Path) -> dict[str, str]:
    """Return which version of each notebook was copied; nothing where the record is missing or damaged."""
    try:
        copied = json.loads(record.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return copied if isinstance(copied, dict) else {}


def _version(notebook: Path) -> str:
    return hashlib.sha256(notebook.read_bytes()).hexdigest()


def _number(notebook: Path) -> str:
    return notebook.stem.partition("_")[0]


def _dated(copy: Path) -> Path:
    dated = f"{copy.stem}.{datetime.date.today().isoformat()}"
    names = chain([dated], (f"{dated}.{n}" for n in count(2)))
    return next(old for name in names if not (old := copy.with_name(f"{name}.ipynb")).exists())


def keep(task_id: str, message: Message, sure: bool | None = None) -> dict[str, Any] | None:
    """Append an answer to the journal, once, and return what was kept; None outside a working copy."""
    folder = os.environ.get(VARIABLE)
    if not folder or message.state not in {"right", "wrong"}:
        return None
    answer = {"answer": message.answer, "misconceptions": list(message.reasons)}
    is_sure = sure if isinstance(sure, bool) else None
    entry = {"id": task_id, "state": message.state, **answer, "sure": is_sure}
    line = json.dumps(entry, ensure_ascii=False).encode()
    journal = Path(folder) / JOURNAL
    with contextlib.suppress(OSError):  # a full disk or a folder that is gone disturbs no lesson
        kept = journal.read_bytes() if journal.exists() else b""  # bytes: a damaged journal is no text
        if line not in kept.splitlines():
            with journal.open("ab") as file:
                file.write(line + b"\n" if kept[-1:] in (b"", b"\n") else b"\n" + line + b"\n")
    return entry


def journal() -> list[dict[str, Any]] | None:
    """Return the answers kept so far, in order; None outside a working copy."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return None
    path = Path(folder) / JOURNAL
    try:
        return list(entries(path.read_text("utf-8", errors="replace")))
    except OSError:
        return []


def entries(text: str) -> Iterator[dict[str, Any]]:
    """Yield the entries of a journal, without the lines that are none."""
    for line in text.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            entry = json.loads(line) if len(line) <= 20_000 else None
            if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                yield entry


@cache
def asking_sources(notebook: str) -> dict[str, tuple[str, str]]:
    """Return the ID and the source of the cell that asks each task of a committed notebook."""
    path = NOTEBOOKS / f"{notebook}.ipynb"
    cells = json.loads(path.read_text("utf-8"))["cells"] if path.exists() else []
    code = ((cell["id"], "".join(cell["source"])) for cell in cells if cell["cell_type"] == "code")
    return {asked[1]: (cell_id, source) for cell_id, source in code if (asked := ASKS.search(source))}


def asking_cells(notebook: str) -> dict[str, str]:
    """Return the ID of the cell that asks each task of a committed notebook, by the task's ID."""
    return {task_id: cell_id for task_id, (cell_id, _) in asking_sources(notebook).items()}
