"""`python -m tokenlab course`: the key, the notebooks run again, the learner's copies."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tokenlab.course import key, notebooks, workbook
from tokenlab.course.model import chapters


def _key(options: argparse.Namespace) -> int:
    chosen = [c for c in chapters() if options.chapter in (None, c.number, c.notebook)]
    if not chosen:
        raise LookupError(
            f"no chapter {options.chapter!r} (there: {', '.join(c.number for c in chapters())})"
        )
    parts = list(key.sections(chosen))
    if options.html:
        options.html.write_text(key.to_page(parts), "utf-8", newline="\n")
    else:
        sys.stdout.write(key.to_text(parts))
    return 0


def _run(options: argparse.Namespace) -> int:
    changed = 0
    for path, difference in notebooks.rerun(notebooks.select(options.names), write=not options.check):
        print(f"{path.name}: {difference or 'unchanged'}", flush=True)
        changed += bool(difference)
    return int(options.check and changed > 0)


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
    command = commands.add_parser("run", help="run the committed notebooks again and normalise them")
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="a chapter's number or a notebook; all otherwise"
    )
    command.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 where something would change"
    )
    command.set_defaults(run=_run)
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
