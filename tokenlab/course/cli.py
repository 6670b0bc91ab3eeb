"""`python -m tokenlab course`: the key, a class's hand-ins, the notebooks run again, the learner's copies."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tokenlab.course import contents, grading, handins, key, notebooks, teaching, workbook
from tokenlab.course.model import Chapter, chapters


def _chosen(name: str | None) -> list[Chapter]:
    chosen = [c for c in chapters() if name in (None, c.number, c.notebook)]
    if not chosen:
        raise LookupError(f"no chapter {name!r} (there: {', '.join(c.number for c in chapters())})")
    return chosen


def _show(parts: list[key.Section], page: Path | None) -> int:
    if page:
        page.write_text(key.to_page(parts), "utf-8", newline="\n")
    else:
        sys.stdout.write(key.to_text(parts))
    return 0


def _key(options: argparse.Namespace) -> int:
    return _show(list(key.sections(_chosen(options.chapter))), options.html)


def _teach(options: argparse.Namespace) -> int:
    return _show([part for c in _chosen(options.chapter) for part in teaching.sheet(c)], options.html)


def _blank(options: argparse.Namespace) -> int:
    for path in teaching.hand_out(options.path, options.variant):
        print(path.name)
    return 0


def _tally(options: argparse.Namespace) -> int:
    print(grading.tally(handins.read_folder(options.folder)))
    return 0


def _grade(options: argparse.Namespace) -> int:
    hand_ins = handins.read_folder(options.folder)
    if options.execute:
        grading.run_exercises(hand_ins)
    print(f"{grading.result(hand_ins)}\n\n{grading.summary(hand_ins)}")
    for path, text in ((options.csv, grading.to_csv), (options.html, grading.to_page)):
        if path:
            path.write_text(text(hand_ins), "utf-8", newline="\n")
    return 0


def _run(options: argparse.Namespace) -> int:
    changed = 0
    for path, difference in notebooks.rerun(notebooks.select(options.names), write=not options.check):
        print(f"{path.name}: {difference or 'unchanged'}", flush=True)
        changed += bool(difference)
    return int(options.check and changed > 0)


def _chapters(options: argparse.Namespace) -> int:
    if options.write:
        contents.write(options.write)
    else:
        print(contents.to_markdown())
    return 0


def _workbook(options: argparse.Namespace) -> int:
    for line in workbook.prepare(options.path, options.fresh):
        print(line)
    return 0


def parser() -> argparse.ArgumentParser:
    """Build the words of `python -m tokenlab course`."""
    top = argparse.ArgumentParser(prog="python -m tokenlab course", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("key", help="every question with its answer, misconceptions and hints")
    command.add_argument("chapter", nargs="?", help="a chapter's number, such as 03; all of them otherwise")
    command.add_argument("--html", type=Path, metavar="FILE", help="write one HTML page")
    command.set_defaults(run=_key)
    command = commands.add_parser("teach", help="a chapter's sheet for the teacher")
    command.add_argument("chapter", help="a chapter's number, such as 03")
    command.add_argument("--html", type=Path, metavar="FILE", help="write one HTML page")
    command.set_defaults(run=_teach)
    command = commands.add_parser("blank", help="copies of the notebooks to hand out")
    command.add_argument("path", type=Path, metavar="OUT", help="the folder to write them to")
    command.add_argument(
        "--variant", type=int, default=0, metavar="N", help="ask of other inputs; neighbouring N differ"
    )
    command.set_defaults(run=_blank)
    command = commands.add_parser("tally", help="first answers by misconception, for a vote in class")
    command.add_argument("folder", type=Path, help="the notebooks that were handed in")
    command.set_defaults(run=_tally)
    command = commands.add_parser("grade", help="a table learner by question; runs nobody's code")
    command.add_argument("folder", type=Path, help="the notebooks that were handed in")
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the table")
    command.add_argument("--html", type=Path, metavar="FILE", help="write the table and the first answers")
    command.add_argument(
        "--run", action="store_true", dest="execute", help="run the exercises, each in a limited process"
    )
    command.set_defaults(run=_grade)
    command = commands.add_parser("run", help="run the committed notebooks again and normalise them")
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="a chapter's number or a notebook; all otherwise"
    )
    command.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 where something would change"
    )
    command.set_defaults(run=_run)
    command = commands.add_parser("chapters", help="the table of contents")
    command.add_argument(
        "--write", type=Path, metavar="FILE", help="put it between the chapters markers of a file"
    )
    command.set_defaults(run=_chapters)
    command = commands.add_parser("workbook", help="make or renew a learner's copies of the notebooks")
    command.add_argument("path", type=Path)
    command.add_argument(
        "--fresh", action="append", default=[], metavar="CHAPTER", help="renew it; keep the old copy"
    )
    command.set_defaults(run=_workbook)
    return top


def main(argv: list[str]) -> int:
    """Run one command; return its exit code: 0 done, 1 not as it should be, 2 not understood."""
    options = parser().parse_args(argv)
    try:
        return int(options.run(options))
    except (LookupError, OSError, RuntimeError, ImportError, ValueError) as error:
        lines = (
            str(error.args[0] if isinstance(error, LookupError) and error.args else error)
            .strip()
            .splitlines()
        )
        print(f"course: {lines[-1] if lines else type(error).__name__}", file=sys.stderr)
        return 2 if isinstance(error, LookupError) else 1
